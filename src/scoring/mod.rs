//! The formulas: decay, effective weight, smoothing. Pure functions; `now` is a value.
//!
//! ```text
//! d(t) = φ + (1 − φ)·e^(−λt),  λ = ln 2 / half-life     t = days since last_seen, never below 0
//! α    = (10 − s) / 10
//! w    = s · d(t)^α
//! s'   = 0.4·s_old + 0.6·s_incoming                     on re-observation
//! ```
//!
//! A strong preference fades slowly (s = 10 not at all), a weak one fast; s = 0 weighs nothing at any
//! age. Nothing here deletes anything.

use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;
use thiserror::Error;

use crate::model::{Preference, Score, Values, values_of};

/// How fast things fade, and how far.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Decay {
    /// Days after which the fading part of `d` has halved: 0.01 to 36,500.
    pub half_life_days: f64,
    /// The value φ that `d` never falls below: 0 or more, below 1.
    pub floor: f64,
}

/// Says why a decay setting is refused.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum DecayError {
    /// A half-life out of range.
    #[error("a half-life is a number of days from 0.01 to 36500, not {0}")]
    HalfLife(f64),
    /// A floor out of range.
    #[error("a floor is a number from 0 to below 1, not {0}")]
    Floor(f64),
}

impl Default for Decay {
    fn default() -> Self {
        Decay {
            half_life_days: 30.0,
            floor: 0.1,
        }
    }
}

impl Decay {
    /// Checks both settings.
    ///
    /// # Errors
    /// The first one that is out of range or no number.
    pub fn new(half_life_days: f64, floor: f64) -> Result<Self, DecayError> {
        if !(0.01..=36_500.0).contains(&half_life_days) {
            return Err(DecayError::HalfLife(half_life_days));
        }
        if !(0.0..1.0).contains(&floor) {
            return Err(DecayError::Floor(floor));
        }
        Ok(Decay {
            half_life_days,
            floor,
        })
    }

    /// The settings as a journal line holds them.
    pub(crate) fn values(&self) -> Values {
        values_of(self)
    }

    /// The decay coefficient `d(t)` after `age_days`, between the floor and 1. A negative age counts
    /// as 0, an infinite one gives the floor.
    pub fn coefficient(&self, age_days: f64) -> f64 {
        let age = age_days.max(0.0);
        let lambda = std::f64::consts::LN_2 / self.half_life_days;
        self.floor + (1.0 - self.floor) * (-lambda * age).exp()
    }
}

/// The exponent `α = (10 − s) / 10`: 1 for a score of 0, 0 for a score of 10.
pub fn exponent(score: Score) -> f64 {
    (10.0 - score.value()) / 10.0
}

/// The effective weight `w = s · d^α` for a decay coefficient `d`; between 0 and `s`.
pub fn weight(score: Score, coefficient: f64) -> f64 {
    score.value() * coefficient.powf(exponent(score))
}

/// The like that is as far from the middle as a score: 8 for 2 and for 8.
pub fn mirrored(score: Score) -> Score {
    let opposite = Score::clamped(Score::MAX.value() - score.value());
    if opposite > score { opposite } else { score }
}

/// How strongly an entry is felt, like or dislike: both ends of the scale alike, so that a habit is the weakest of one
/// age. It orders what holds for every task, where the weight would put every dislike last.
pub fn strength(score: Score, coefficient: f64) -> f64 {
    weight(mirrored(score), coefficient)
}

/// The score after the same thing was observed again: `0.4·old + 0.6·incoming`, always between the two.
pub fn smooth(old: Score, incoming: Score) -> Score {
    // Ten decimals: 5.4 and 7.2 give 6.48 and not 6.4799999999999995.
    const DECIMALS: f64 = 1e10;
    let (low, high) = if old <= incoming {
        (old, incoming)
    } else {
        (incoming, old)
    };
    let mixed = 0.4 * old.value() + 0.6 * incoming.value();
    let mixed = (mixed * DECIMALS).round() / DECIMALS;
    Score::clamped(mixed.clamp(low.value(), high.value()))
}

/// The age of an entry in days: from `last_seen`, else from `added_at`, 0 when that lies in the
/// future; infinite when neither can be read, so that the weight falls to its floor.
pub fn age_days(preference: &Preference, now: DateTime<Utc>) -> f64 {
    preference
        .last_seen
        .moment()
        .or_else(|| preference.added_at.moment())
        .map_or(f64::INFINITY, |seen| days_between(seen, now))
}

/// Days from one moment to a later one, 0 when it is not later.
pub fn days_between(from: DateTime<Utc>, to: DateTime<Utc>) -> f64 {
    const MILLIS_PER_DAY: f64 = 86_400_000.0;
    // Milliseconds: chrono's nanoseconds overflow after 292 years, and no weight needs them.
    ((to - from).num_milliseconds() as f64 / MILLIS_PER_DAY).max(0.0)
}

/// What an entry weighs at one moment, and how that came about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weight {
    /// `α`.
    pub exponent: f64,
    /// `d(t)`.
    pub coefficient: f64,
    /// `w`.
    pub effective: f64,
}

/// Weighs an entry at `now`.
pub fn weigh(preference: &Preference, decay: &Decay, now: DateTime<Utc>) -> Weight {
    let coefficient = decay.coefficient(age_days(preference, now));
    Weight {
        exponent: exponent(preference.base_score),
        coefficient,
        effective: weight(preference.base_score, coefficient),
    }
}

/// What an entry will weigh at so many moments, evenly spread from `now` to a `span` later, if nobody touches it.
pub fn fade(
    preference: &Preference,
    decay: &Decay,
    now: DateTime<Utc>,
    span: TimeDelta,
    moments: i32,
) -> Vec<f64> {
    let steps = (moments - 1).max(1);
    (0..moments)
        .map(|moment| weigh(preference, decay, now + span * moment / steps).effective)
        .collect()
}

#[cfg(test)]
mod tests;
