//! Writes to the store, and says what has followed from it beside what the command itself replies.

use super::{Context, Wrapped};
use crate::model::{Score, quoted};
use crate::storage::{Difference, Differing, How, Store, Transaction};

/// So many are named; hard limits always are.
const MOST: usize = 20;

impl Context {
    /// Writes in one transaction.
    pub(super) fn write_to<T>(
        &self,
        store: &mut Store,
        write: impl FnOnce(&mut Transaction<'_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        self.note_about(store);
        let mut beside = Difference::default();
        let answer = store
            .write(self.settings.now, |transaction| {
                for entry in transaction.repaired() {
                    self.note(format!(
                        "the score of “{}” (id {}) was no number; it is {} ({}) now: aizo update {} --score N",
                        entry.item,
                        entry.id,
                        entry.base_score,
                        entry.band(),
                        entry.id,
                    ));
                }
                let answer = write(transaction).map_err(Wrapped)?;
                beside = transaction.take_beside();
                Ok(answer)
            })
            .map_err(|wrapped: Wrapped| wrapped.0)?;
        told(&beside).into_iter().for_each(|line| self.note(line));
        Ok(answer)
    }
}

/// What has changed beside the records that a command names, because the changes of all devices together make it so: each hard
/// limit that is none any more, then the rest.
fn told(beside: &Difference) -> Vec<String> {
    let (lost, others): (Vec<_>, Vec<_>) =
        beside.entries.iter().partition(|one| one.loses_a_limit());
    let mut told: Vec<String> = lost.into_iter().map(lost_limit).collect();
    let mut names: Vec<String> = others.into_iter().map(changed).collect();
    let waiting = beside.proposals.iter();
    names.extend(waiting.map(|one| format!("“{}” in aizo review", one.item)));
    if beside.decay {
        names.push("how fast things fade".to_owned());
    }
    if !names.is_empty() {
        let more = names.len().saturating_sub(MOST);
        names.truncate(MOST);
        if more > 0 {
            names.push(format!("{more} more"));
        }
        told.push(format!("also changed: {}", names.join(", ")));
    }
    told
}

fn lost_limit(one: &Differing) -> String {
    let score = one.before.map_or(Score::MIN, Score::clamped);
    format!(
        "hard limit lost: “{}” ({score}); to make it one again: aizo add {} REASON --score {score}",
        one.item,
        quoted(&one.item)
    )
}

fn changed(one: &Differing) -> String {
    let score = one.after.or(one.before).map_or(Score::MIN, Score::clamped);
    let item = &one.item;
    match one.how {
        How::Added => format!("“{item}” ({score}) is there"),
        How::Changed => format!("“{item}” ({score})"),
        How::Removed => format!("“{item}” ({score}) is gone"),
    }
}
