//! What becomes of something learned from a conversation: as when it is typed, but for three things. It was said at its
//! own time, which may be before what is stored was confirmed. A newer explicit statement that says the opposite is a
//! change of mind and replaces the score. And what is inferred changes nothing that a person decided.

use chrono::{DateTime, Utc};

use super::{Merge, Observation, Outcome, observe, union};
use crate::model::{
    Band, Change, EntryValues, Evidence, Op, Preference, Score, Stamp, item_key, join_keywords,
};

/// Which side of indifference a score is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Against,
    Between,
    For,
}

pub(super) fn side(score: Score) -> Side {
    if score.value() <= Band::Aversion.range().1 {
        Side::Against
    } else if score.value() >= Band::Style.range().0 {
        Side::For
    } else {
        Side::Between
    }
}

/// Something learned, and when it was said.
#[derive(Debug, Clone, PartialEq)]
pub struct Lesson {
    /// What was said.
    pub seen: Observation,
    /// The evidence it rests on.
    pub evidence: Evidence,
    /// When it was said; the time of the reading where nothing tells.
    pub said_at: DateTime<Utc>,
    /// Whether the person said it outright.
    pub explicit: bool,
    /// Why it has to wait for a person, if it has to.
    pub waits: Option<&'static str>,
}

/// Decides what becomes of a lesson, given the entry that it is about, if there is one, and when somebody last spoke
/// about that entry.
pub fn learn(
    existing: Option<&Preference>,
    spoken_of: Option<DateTime<Utc>>,
    lesson: &Lesson,
    mut new_uid: impl FnMut() -> String,
) -> Merge {
    let mut seen = lesson.seen.clone();
    seen.evidence = Some(lesson.evidence.clone());
    let stands = existing.map(|entry| entry.base_score);
    if let Some(why) = lesson.waits {
        return seen.pending(new_uid(), &lesson.evidence, why, stands);
    }
    let Some(entry) = existing else {
        return observe(None, &seen, lesson.said_at, new_uid);
    };
    let score = seen.score.unwrap_or(entry.base_score);
    let (old, new) = (side(entry.base_score), side(score));
    let opposite = matches!(
        (old, new),
        (Side::For, Side::Against) | (Side::Against, Side::For)
    );
    if entry.base_score.is_hard_limit() && new != Side::Against {
        let why = against_the_limit(&entry.item, &seen.item);
        return seen.pending(new_uid(), &lesson.evidence, &why, stands);
    }
    let is_older = spoken_of.is_some_and(|spoken| lesson.said_at < spoken);
    let becomes_limit = score.is_hard_limit() && !entry.base_score.is_hard_limit();
    if opposite || becomes_limit {
        if is_older {
            // What was said later stands; this is history.
            return noted(entry, lesson);
        }
        if !lesson.explicit {
            let why = "would turn round what is stored, and was not said outright";
            return seen.pending(new_uid(), &lesson.evidence, why, stands);
        }
    }
    if opposite && !score.is_hard_limit() {
        return replaced(entry, &seen, lesson, score);
    }
    let at = entry
        .last_seen
        .moment()
        .map_or(lesson.said_at, |last| last.max(lesson.said_at));
    observe(Some(entry), &seen, at, new_uid)
}

/// Why it waits that something is said in favor of what a limit forbids; with the limit, where it has another name.
pub fn against_the_limit(limit: &str, item: &str) -> String {
    if item_key(limit) == item_key(item) {
        return "speaks against a hard limit".to_owned();
    }
    format!("speaks against the hard limit “{limit}”")
}

/// The evidence alone.
fn noted(entry: &Preference, lesson: &Lesson) -> Merge {
    Merge {
        outcome: Outcome::Kept,
        score: Some(entry.base_score),
        change: Change::set_entry(
            Op::Keep,
            &entry.uid,
            lesson.seen.origin,
            &EntryValues::default(),
        )
        .with_evidence(lesson.evidence.clone()),
    }
}

/// A change of mind: the new score as it is.
fn replaced(entry: &Preference, seen: &Observation, lesson: &Lesson, score: Score) -> Merge {
    let values = EntryValues {
        reason: (!seen.reason.is_empty()).then(|| seen.reason.clone()),
        keywords: union(&entry.keywords, &seen.keywords).map(|all| join_keywords(&all)),
        base_score: Some(score.value()),
        last_seen: Some(Stamp::at(lesson.said_at)),
        ..EntryValues::default()
    };
    Merge {
        outcome: Outcome::Replaced,
        score: Some(score),
        change: Change::set_entry(Op::Update, &entry.uid, seen.origin, &values)
            .with_evidence(lesson.evidence.clone()),
    }
}
