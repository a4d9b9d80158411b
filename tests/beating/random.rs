//! Numbers that come again: from a seed that is printed when something fails.

use super::minutes;

/// The variable that names the seed.
const SEED: &str = "AIZO_BEATING_SEED";

/// A source of numbers.
pub struct Random(u64);

/// The seed: the one that is asked for, in a long run a new one each time, else always the same.
pub fn seed() -> u64 {
    if let Ok(text) = std::env::var(SEED) {
        return text
            .parse()
            .unwrap_or_else(|_| panic!("{SEED} is a number, not `{text}`"));
    }
    match minutes() {
        Some(_) => std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |since| since.as_secs()),
        None => 20_261_130,
    }
}

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// SplitMix64.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below another one; 0 where there is none.
    pub fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() >> 33).expect("31 bits") % most.max(1)
    }

    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    pub fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }
}
