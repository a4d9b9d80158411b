//! Names that are the same on every machine and in every version, and one that tells nothing of what it is made of.

use sha2::{Digest, Sha256};

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

/// The name of these parts for whoever knows the salt; to everybody else it tells nothing of them.
pub fn hidden_name(salt: &str, parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in std::iter::once(&salt).chain(parts) {
        hash.update(part.as_bytes());
        // No byte of UTF-8: a border.
        hash.update([0xFF]);
    }
    let bytes = hash.finalize();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hidden_name_depends_on_the_salt_and_on_the_borders_of_its_parts() {
        let name = hidden_name("salt", &["ab", "c"]);
        assert_eq!(name, hidden_name("salt", &["ab", "c"]));
        assert_eq!(name.len(), 64);
        assert_ne!(name, hidden_name("other", &["ab", "c"]));
        assert_ne!(name, hidden_name("salt", &["a", "bc"]));
    }
}
