//! Names that are the same on every machine and in every version.

/// A name that is made of parts, one after the other: FNV-1a in 128 bits. Parts cannot run into each other.
#[derive(Debug, Clone)]
pub struct StableName(u128);

impl Default for StableName {
    fn default() -> Self {
        StableName(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl StableName {
    /// Adds a part.
    pub fn add(&mut self, part: &str) {
        const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
        // 0xFF is no byte of UTF-8: a border.
        for byte in part.bytes().chain([0xFF]) {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(PRIME);
        }
    }

    /// The name, in hexadecimal digits.
    pub fn finish(&self) -> String {
        format!("{:032x}", self.0)
    }
}

/// The name of these parts.
pub fn stable_name(parts: &[&str]) -> String {
    let mut name = StableName::default();
    parts.iter().for_each(|part| name.add(part));
    name.finish()
}
