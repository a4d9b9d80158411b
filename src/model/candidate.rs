//! A preference that was found in what a person said, before anything is decided about it.

use serde::{Deserialize, Serialize};

/// What kind of statement a candidate was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// "Always …", "from now on …".
    Always,
    /// "Never …", "don't ever …": an explicit ban.
    Never,
    /// "I love …", "I prefer …".
    Like,
    /// "I hate …", "I don't like …".
    Dislike,
    /// Praise of the last answer that names the thing.
    Praise,
    /// Complaint about it.
    Complaint,
    /// "No, use …", "I said …".
    Correction,
    /// "I usually …".
    Habit,
    /// "Let's go with …", "we decided on …".
    Decision,
    /// "Remember that I …".
    Remember,
    /// A standing instruction without a cue word: "Use snake_case for Python".
    Imperative,
}

impl Kind {
    /// The word used in evidence and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Always => "always",
            Kind::Never => "never",
            Kind::Like => "like",
            Kind::Dislike => "dislike",
            Kind::Praise => "praise",
            Kind::Complaint => "complaint",
            Kind::Correction => "correction",
            Kind::Habit => "habit",
            Kind::Decision => "decision",
            Kind::Remember => "remember",
            Kind::Imperative => "imperative",
        }
    }
}

/// A preference found in a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The short label, in the person's own words.
    pub item: String,
    /// The sentence it was read from, word for word as it stands in the turn.
    pub quote: String,
    /// 0 to 10.
    pub score: f64,
    /// Further words it is found by.
    pub keywords: Vec<String>,
    /// Kinds of task it belongs to.
    pub scenarios: Vec<String>,
    /// How sure the reader is, 0 to 1.
    pub confidence: f64,
    /// Whether that is sure enough to be learned; else a person is asked.
    pub sure: bool,
    /// What kind of statement it was.
    pub kind: Kind,
    /// What led to it: cue words, layout, the model's name.
    pub cues: Vec<String>,
    /// Whether the person said it outright, so that it speaks with the person's own authority; else it is inferred.
    pub explicit: bool,
    /// Whether the person forbids the thing, with a word like "don't" or "never", and does not only dislike it.
    pub forbids: bool,
}
