//! Hashes that are the same on every machine and in every version: they stand in keys and cursors.

/// FNV-1a in 64 bits: for what is compared within one file.
pub(super) fn short(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

pub(super) use crate::model::stable_name as long;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hashes_are_the_documented_ones_and_parts_have_borders() {
        assert_eq!(short(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_ne!(long(&["ab", "c"]), long(&["a", "bc"]));
    }
}
