//! The base score and the bands that name its ranges.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A base score: a finite number from 0 (never) to 10 (always).
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Score(f64);

/// Says why a number is not a score.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("a score is a number from 0 to 10, not {given}")]
pub struct ScoreError {
    given: String,
}

impl Score {
    /// The lowest score: never.
    pub const MIN: Score = Score(0.0);
    /// The highest score: always; it does not fade.
    pub const MAX: Score = Score(10.0);
    /// The score of an `add` that names none.
    pub const DEFAULT: Score = Score(9.0);

    /// Takes a number from 0 to 10.
    ///
    /// # Errors
    /// Anything outside that range, and NaN.
    pub fn new(value: f64) -> Result<Self, ScoreError> {
        if (0.0..=10.0).contains(&value) {
            // Adding zero turns -0.0 into 0.0, which prints as people expect.
            Ok(Score(value + 0.0))
        } else {
            Err(ScoreError {
                given: value.to_string(),
            })
        }
    }

    /// Reads a stored number that another program may have written: what lies outside is moved to
    /// the nearer end, NaN becomes the documented column default of 5.
    pub fn clamped(value: f64) -> Self {
        if value.is_nan() {
            Score(5.0)
        } else {
            Score(value.clamp(0.0, 10.0) + 0.0)
        }
    }

    /// The number itself.
    pub fn value(self) -> f64 {
        self.0
    }

    /// Whether an entry with this score is a hard limit, that is, in the taboo band.
    pub fn is_hard_limit(self) -> bool {
        self.0 <= Band::TABOO_UPPER
    }

    /// The one name of this score, also where two bands overlap.
    pub fn band(self) -> Band {
        Band::of(self)
    }
}

impl fmt::Display for Score {
    /// At most two decimals, at least one: `9.0`, `7.8`, `1.55`. More only where two would be a score of another band:
    /// `1.5001` is no hard limit.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:.2}", self.0);
        let text = text.strip_suffix('0').unwrap_or(&text);
        let is_in_band = |text: &str| {
            text.parse()
                .is_ok_and(|shown| Score(shown).band() == self.band())
        };
        if is_in_band(text) {
            return f.pad(text);
        }
        let longer = (3..=17).map(|decimals| format!("{:.decimals$}", self.0));
        let exact = self.0.to_string();
        f.pad(
            &longer
                .into_iter()
                .find(|text| is_in_band(text))
                .unwrap_or(exact),
        )
    }
}

impl FromStr for Score {
    type Err = ScoreError;

    fn from_str(text: &str) -> Result<Self, ScoreError> {
        let given = || ScoreError {
            given: format!("`{text}`"),
        };
        let value: f64 = text.trim().parse().map_err(|_| given())?;
        Score::new(value).map_err(|_| given())
    }
}

/// The name of a score range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Band {
    /// 0 to 1.5: a hard limit.
    Taboo,
    /// Above 1.5, up to 4: disliked.
    Aversion,
    /// 4 to 6.5: simply what the user does.
    Habit,
    /// 6.5 to 10: how the user likes things done.
    Style,
    /// 7 to 10: liked.
    Preference,
}

impl Band {
    /// Every band, lowest first.
    pub const ALL: [Band; 5] = [
        Band::Taboo,
        Band::Aversion,
        Band::Habit,
        Band::Style,
        Band::Preference,
    ];

    const TABOO_UPPER: f64 = 1.5;

    /// The names that `--type` takes for this band, the band's own first.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Band::Taboo => &["taboo", "limit", "hard"],
            Band::Aversion => &["aversion", "dislike", "hate"],
            Band::Habit => &["habit", "neutral"],
            Band::Style => &["style"],
            Band::Preference => &["preference", "pref", "like", "love"],
        }
    }

    /// The band's own name.
    pub fn name(self) -> &'static str {
        self.names()[0]
    }

    /// The ends of the range. Both belong to it, but for aversion's lower one: exactly 1.5 is a
    /// hard limit and nothing else.
    pub fn range(self) -> (f64, f64) {
        match self {
            Band::Taboo => (0.0, Self::TABOO_UPPER),
            Band::Aversion => (Self::TABOO_UPPER, 4.0),
            Band::Habit => (4.0, 6.5),
            Band::Style => (6.5, 10.0),
            Band::Preference => (7.0, 10.0),
        }
    }

    /// Whether the closed range holds this score; a boundary value is in both of its bands.
    pub fn contains(self, score: Score) -> bool {
        let (low, high) = self.range();
        let above = if self == Band::Aversion {
            score.0 > low
        } else {
            score.0 >= low
        };
        above && score.0 <= high
    }

    /// The single name used in output: [0, 1.5] taboo, (1.5, 4) aversion, [4, 6.5) habit,
    /// [6.5, 7) style, [7, 10] preference.
    pub fn of(score: Score) -> Band {
        match score.0 {
            s if s <= Self::TABOO_UPPER => Band::Taboo,
            s if s < 4.0 => Band::Aversion,
            s if s < 6.5 => Band::Habit,
            s if s < 7.0 => Band::Style,
            _ => Band::Preference,
        }
    }
}

impl fmt::Display for Band {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Band {
    type Err = String;

    /// Takes a band's name or one of its other names, in any case, also in the plural.
    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = text.trim().to_lowercase();
        Band::ALL
            .into_iter()
            .find(|band| {
                band.names().iter().any(|&name| {
                    wanted == name || wanted.strip_suffix('s').is_some_and(|w| w == name)
                })
            })
            .ok_or_else(|| {
                let names: Vec<_> = Band::ALL.iter().map(|band| band.name()).collect();
                format!("`{text}` is not a type; one of {}", names.join(", "))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn score(value: f64) -> Score {
        Score::new(value).expect("the test gives a valid score")
    }

    #[rstest]
    #[case(0.0, "taboo", &["taboo"])]
    #[case(1.5, "taboo", &["taboo"])]
    #[case(1.500001, "aversion", &["aversion"])]
    #[case(4.0, "habit", &["aversion", "habit"])]
    #[case(6.5, "style", &["habit", "style"])]
    #[case(6.9, "style", &["style"])]
    #[case(7.0, "preference", &["style", "preference"])]
    #[case(10.0, "preference", &["style", "preference"])]
    fn a_boundary_answers_to_both_names(
        #[case] value: f64,
        #[case] name: &str,
        #[case] bands: &[&str],
    ) {
        let s = score(value);
        assert_eq!(s.band().name(), name);
        let found: Vec<_> = Band::ALL
            .into_iter()
            .filter(|band| band.contains(s))
            .map(Band::name)
            .collect();
        assert_eq!(found, bands);
    }

    #[rstest]
    #[case("limit", Band::Taboo)]
    #[case("HARD", Band::Taboo)]
    #[case("dislikes", Band::Aversion)]
    #[case("neutral", Band::Habit)]
    #[case("love", Band::Preference)]
    fn other_names_are_accepted(#[case] text: &str, #[case] band: Band) {
        assert_eq!(text.parse(), Ok(band));
    }

    #[rstest]
    #[case("NaN")]
    #[case("-0.1")]
    #[case("10.01")]
    #[case("inf")]
    #[case("")]
    #[case("nine")]
    fn what_is_not_a_score_is_refused(#[case] text: &str) {
        assert!(text.parse::<Score>().is_err());
    }

    #[test]
    fn a_score_prints_one_or_two_decimals() {
        assert_eq!(score(9.0).to_string(), "9.0");
        assert_eq!(score(1.55).to_string(), "1.55");
        // Rounded, these would be scores of another band.
        assert_eq!(score(1.500_000_000_1).to_string(), "1.5000000001");
        assert_eq!(score(3.999).to_string(), "3.999");
        assert_eq!(score(6.9999).to_string(), "6.9999");
        assert_eq!(
            score(1.5f64.next_up()).to_string(),
            1.5f64.next_up().to_string()
        );
        assert_eq!(score(-0.0).to_string(), "0.0");
    }
}
