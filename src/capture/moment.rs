//! The moments that hosts write: RFC 3339 text, seconds or milliseconds.

use chrono::{DateTime, NaiveDateTime, Utc};
use serde::{Deserialize, Deserializer};

use super::shape::{Number, Text};
use crate::model::Stamp;

/// A moment in a record; nothing where there is none that can be read.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct When(pub(crate) Option<Stamp>);

impl<'de> Deserialize<'de> for When {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (Text(text), number) = super::shape::text_and_number(deserializer)?;
        Ok(When(
            text.as_deref()
                .and_then(of_text)
                .or_else(|| of_number(number)),
        ))
    }
}

/// A moment written as text, with its zone or in UTC.
pub(crate) fn of_text(text: &str) -> Option<Stamp> {
    let text = text.trim();
    if let Ok(moment) = DateTime::parse_from_rfc3339(text) {
        return Some(Stamp::at(moment.with_timezone(&Utc)));
    }
    let text = text
        .trim_end_matches(['Z', ' '])
        .trim_end_matches("UTC")
        .trim();
    [
        "%Y-%m-%d %H:%M:%S%.f",
        "%Y-%m-%dT%H:%M:%S%.f",
        "%Y-%m-%d %H:%M",
    ]
    .iter()
    .find_map(|form| NaiveDateTime::parse_from_str(text, form).ok())
    .map(|moment| Stamp::at(moment.and_utc()))
}

/// A moment written as a number: seconds, or milliseconds where it would lie thousands of years ahead.
pub(crate) fn of_number(number: Number) -> Option<Stamp> {
    const FIRST_IN_MILLISECONDS: f64 = 100_000_000_000.0;
    let number = number
        .0
        .filter(|number| number.is_finite() && *number > 0.0)?;
    let milliseconds = if number < FIRST_IN_MILLISECONDS {
        number * 1000.0
    } else {
        number
    };
    DateTime::from_timestamp_millis(milliseconds.round() as i64).map(Stamp::at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_milliseconds_and_text_are_told_apart() {
        let at = |json| serde_json::from_str::<When>(json).expect("any value").0;
        let day = Some(Stamp("2026-11-02T09:00:00+00:00".to_owned()));
        assert_eq!(at("1793610000.0"), day);
        assert_eq!(at("1793610000000"), day);
        assert_eq!(at("\"2026-11-02T10:00:00+01:00\""), day);
        assert_eq!(at("\"2026-11-02 09:00:00Z\""), day);
        assert_eq!(at("null"), None);
        assert_eq!(at("{}"), None);
    }
}
