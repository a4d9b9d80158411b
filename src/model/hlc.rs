//! A hybrid logical clock, so that changes made on several devices have one order.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, TimeDelta, Utc};

/// A hundred years, so that also a device whose clock has begun anew in 1970 reads what others write.
const REACH_DAYS: i64 = 36_525;

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

    /// What the wall clock said, or would have.
    pub fn moment(self) -> Option<DateTime<Utc>> {
        let millis = i64::try_from(self.0 >> 16).ok()?;
        DateTime::from_timestamp_millis(millis)
    }

    /// Whether this is later than any clock would say that is merely wrong. Who followed such a time would soon have none
    /// after it.
    pub fn is_out_of_reach(self, now: DateTime<Utc>) -> bool {
        let reach = now + TimeDelta::days(REACH_DAYS);
        self > Hlc::default().next(reach)
    }
}

impl fmt::Display for Hlc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for Hlc {
    type Err = String;

    /// Takes exactly what is written: any other spelling would sort elsewhere.
    fn from_str(text: &str) -> Result<Self, String> {
        u64::from_str_radix(text, 16)
            .ok()
            .map(Hlc)
            .filter(|hlc| hlc.to_string() == text)
            .ok_or_else(|| format!("`{text}` is not a time of a hybrid logical clock"))
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
        assert_eq!(first.moment(), Some(late));
    }

    #[test]
    fn only_one_spelling_is_a_time() {
        assert_eq!("0193000000000001".parse(), Ok(Hlc(0x0193_0000_0000_0001)));
        for text in [
            "",
            "1",
            "0193000000000ABC",
            "+193000000000001",
            "00193000000000001",
        ] {
            assert!(text.parse::<Hlc>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_clock_may_be_wrong_by_years_but_not_by_ages() {
        let now: DateTime<Utc> = "2026-11-30T12:00:00Z".parse().expect("a time");
        let at = |days| Hlc::default().next(now + TimeDelta::days(days));
        assert!(!at(366).is_out_of_reach(now));
        assert!(!at(366).is_out_of_reach(DateTime::UNIX_EPOCH));
        assert!(at(40_000).is_out_of_reach(now));
        assert!(Hlc(u64::MAX).is_out_of_reach(now));
    }
}
