//! The hard limits in force, to be asked whether something speaks against one of them in other words: "force-push is fine"
//! against "force-push to main".

use crate::check::Detector;
use crate::merge::{self, Lesson};
use crate::model::Score;

/// Hard limits by a number of their own.
#[derive(Default)]
pub(super) struct Limits(Vec<(i64, String)>);

impl Limits {
    /// Adds an entry, if it is one.
    pub(super) fn add(&mut self, id: i64, item: &str, score: Score) {
        if score.is_hard_limit() {
            self.0.push((id, item.to_owned()));
        }
    }

    /// The limit that a lesson speaks against.
    pub(super) fn loosened_by(&self, lesson: &Lesson) -> Option<i64> {
        let (id, _) = self
            .about(&lesson.seen.item)
            .filter(|_| lesson.is_in_favor())?;
        Some(id)
    }

    /// The first limit that holds for an item, and what it says.
    pub(super) fn about(&self, item: &str) -> Option<(i64, &str)> {
        let detectors = Detector::named_by(item);
        let concerns = |limit: &str| {
            merge::is_spoken_of(item, limit)
                || !detectors.is_empty()
                    && Detector::named_by(limit)
                        .iter()
                        .any(|named| detectors.contains(named))
        };
        let found = self.0.iter().find(|(_, limit)| concerns(limit));
        found.map(|(id, limit)| (*id, limit.as_str()))
    }
}
