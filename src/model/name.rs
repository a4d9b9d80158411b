//! Names that are the same on every machine and in every version.

/// FNV-1a in 128 bits over parts that cannot run into each other, as hexadecimal digits.
pub fn stable_name(parts: &[&str]) -> String {
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    for part in parts {
        // 0xFF is no byte of UTF-8: a border.
        for byte in part.bytes().chain([0xFF]) {
            hash = (hash ^ u128::from(byte)).wrapping_mul(PRIME);
        }
    }
    format!("{hash:032x}")
}
