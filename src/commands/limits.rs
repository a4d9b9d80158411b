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
        if !lesson.is_in_favor() {
            return None;
        }
        let (id, _) = self.about(&lesson.seen.item, "").next()?;
        Some(id)
    }

    /// The limits that hold for an item or that a text names between “ and ”, and what they say.
    pub(super) fn about<'l>(
        &'l self,
        item: &'l str,
        text: &'l str,
    ) -> impl Iterator<Item = (i64, &'l str)> {
        let detectors = Detector::named_by(item);
        let concerns = move |limit: &str| {
            merge::is_spoken_of(item, limit)
                || merge::is_same_thing(item, limit)
                || !detectors.is_empty()
                    && Detector::named_by(limit)
                        .iter()
                        .any(|named| detectors.contains(named))
        };
        self.0
            .iter()
            .filter(move |(_, limit)| concerns(limit) || text.contains(&format!("“{limit}”")))
            .map(|(id, limit)| (*id, limit.as_str()))
    }
}
