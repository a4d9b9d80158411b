//! A stored preference, and one that waits for a person.

use super::{Band, Evidence, Origin, Score, Stamp};

/// One thing the user likes or dislikes, as it stands in the store.
#[derive(Debug, Clone, PartialEq)]
pub struct Preference {
    /// The number of the entry in this file.
    pub id: i64,
    /// Names the entry on every device; empty while a row of another program waits for adoption.
    pub uid: String,
    /// The short label.
    pub item: String,
    /// Why it matters.
    pub reason: String,
    /// Further words it is found by.
    pub keywords: Vec<String>,
    /// Kinds of task it belongs to, sorted.
    pub scenarios: Vec<String>,
    /// What was stored; the effective weight is computed from it when asked.
    pub base_score: Score,
    /// The free label of where it came from.
    pub source: String,
    /// Who stands behind it.
    pub origin: Origin,
    /// When it was first stored.
    pub added_at: Stamp,
    /// When it was last confirmed.
    pub last_seen: Stamp,
    /// How often it was applied or touched.
    pub touch_count: i64,
    /// What breaks it for certain: regular expressions, and the names of detectors with an `@` before them.
    pub patterns: Vec<String>,
}

impl Preference {
    /// Whether the entry is in the taboo band.
    pub fn is_hard_limit(&self) -> bool {
        self.base_score.is_hard_limit()
    }

    /// The one name of the entry's score.
    pub fn band(&self) -> Band {
        self.base_score.band()
    }
}

/// A change that waits in review until a person says yes or no.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// The number of the proposal in this file.
    pub id: i64,
    /// Names the proposal on every device.
    pub uid: String,
    /// The label of the entry it is about.
    pub item: String,
    /// Why it matters.
    pub reason: String,
    /// Further words it would be found by.
    pub keywords: Vec<String>,
    /// Kinds of task it would belong to.
    pub scenarios: Vec<String>,
    /// What would break it for certain.
    pub patterns: Vec<String>,
    /// The score it asks for; none leaves a stored score as it is.
    pub score: Option<f64>,
    /// The free label of where it came from.
    pub source: String,
    /// Who proposes it.
    pub origin: Origin,
    /// When it was proposed.
    pub proposed_at: Stamp,
    /// Why it waits.
    pub why: String,
    /// The observation it rests on.
    pub evidence: Option<Evidence>,
}
