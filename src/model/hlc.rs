//! A hybrid logical clock, so that changes made on several devices have one order.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Utc};

/// A hybrid logical time (Kulkarni et al., "Logical Physical Clocks", 2014): milliseconds since 1970
/// in the upper 48 bits, a counter in the lower 16. It never runs backwards, also when the wall clock
/// does, and stays near it otherwise. Written as 16 hexadecimal digits, which sort as the times do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Hlc(u64);

impl Hlc {
    /// The next time after `self` on a device whose wall clock says `now`.
    ///
    /// A clock that was wrong by a year is followed and not refused: the counter carries on from the
    /// later time until the wall clock has caught up.
    #[must_use]
    pub fn next(self, now: DateTime<Utc>) -> Self {
        let millis = u64::try_from(now.timestamp_millis()).unwrap_or(0) & 0xFFFF_FFFF_FFFF;
        Hlc((millis << 16).max(self.0.saturating_add(1)))
    }
}

impl fmt::Display for Hlc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for Hlc {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u64::from_str_radix(text, 16).map(Hlc)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_never_runs_backwards() {
        let late = "2026-11-30T12:00:00Z".parse().expect("a time");
        let early = "2025-11-30T12:00:00Z".parse().expect("a time");
        let first = Hlc::default().next(late);
        let second = first.next(early);
        let third = second.next(late);
        assert!(first < second && second < third);
        assert_eq!(first.to_string().parse(), Ok(first));
        assert!(first.to_string() < second.to_string());
    }
}
