//! Hashes that are the same on every machine and in every version: they stand in keys and cursors.

/// FNV-1a in 64 bits: for what is compared within one file.
pub(super) fn short(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// FNV-1a in 128 bits over parts that cannot run into each other, as hexadecimal digits: for keys of turns.
pub(super) fn long(parts: &[&str]) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hashes_are_the_documented_ones_and_parts_have_borders() {
        assert_eq!(short(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_ne!(long(&["ab", "c"]), long(&["a", "bc"]));
    }
}
