//! What waits for a person. The same is proposed once, whatever became of it.

use std::borrow::Cow;

use super::{Outcome, Work, reply};
use crate::model::{
    Change, Evidence, Origin, Preference, ProposalValues, Score, item_key, join_keywords,
    join_patterns, stable_name,
};
use crate::portable::{Entry, Format};

pub(in crate::commands::import) const REJECTED: &str = "it was rejected in aizo review";

/// What tells two things that wait apart.
pub(super) type WaitsAs = (String, Option<String>);

pub(super) fn waits_as(item: &str, score: Option<f64>) -> WaitsAs {
    (item_key(item), score.map(|score| score.to_string()))
}

/// What names the proposal of an observation.
fn proposal_name(seen: &Evidence) -> String {
    stable_name(&["proposal", &seen.uid])
}

/// Why something waits that has no other reason.
pub(super) fn why_of(format: Format) -> &'static str {
    match format {
        Format::Mem0 => "read from memories of mem0",
        Format::McpMemory => "read from the memory of an MCP server",
        Format::Chatgpt => "read from what ChatGPT keeps",
        Format::Rules => "read from a list of rules",
        Format::Entries => "read from a list of entries",
        Format::Aizo | Format::Store => "everything was to wait",
    }
}

/// Something that is to wait.
pub(super) struct Waiting {
    pub entry: Preference,
    pub score: Option<f64>,
    pub seen: Evidence,
    pub why: Cow<'static, str>,
}

impl Waiting {
    /// An entry with its score.
    pub(super) fn of(entry: &Entry, seen: Evidence, why: impl Into<Cow<'static, str>>) -> Self {
        Waiting {
            score: Some(entry.base_score),
            entry: entry.preference(),
            seen,
            why: why.into(),
        }
    }
}

impl Work<'_, '_> {
    /// Lets something wait that is not known yet and that the store does not say already.
    pub(super) fn wait(&mut self, line: u64, waiting: Waiting) -> anyhow::Result<()> {
        let Waiting {
            entry,
            score,
            seen,
            why,
        } = waiting;
        let key = item_key(&entry.item);
        let stored = self.transaction.view().entry_by_key(&key)?;
        let is_stored = stored
            .is_some_and(|stored| score.is_none_or(|score| stored.base_score.value() == score));
        let uid = proposal_name(&seen);
        if !is_stored && self.was_rejected(&seen) {
            return self.rejected(line, &entry.item);
        }
        let is_known = !self.seen.insert(seen.uid.clone())
            || self.known.insert(uid.clone(), false).is_some()
            || !self.waiting.insert(waits_as(&entry.item, score));
        if is_known || is_stored {
            return self.unchanged(line, &entry.item);
        }
        if score.is_some_and(|score| Score::clamped(score).is_hard_limit()) {
            self.limits_waiting.push(entry.item.clone());
        }
        let values = ProposalValues {
            item: entry.item.clone(),
            reason: entry.reason,
            keywords: join_keywords(&entry.keywords),
            scenarios: join_keywords(&entry.scenarios),
            score,
            source: entry.source,
            origin: Origin::Import,
            proposed_at: seen.at.clone(),
            why: why.clone().into_owned(),
            evidence: serde_json::to_string(&seen)?,
            pattern: join_patterns(&entry.patterns),
        };
        self.propose(line, &entry.item, &why, &Change::propose(uid, &values))
    }

    /// Says of what the store has seen before that nothing of it is new.
    pub(super) fn seen_before(
        &mut self,
        line: u64,
        item: &str,
        seen: &Evidence,
    ) -> anyhow::Result<()> {
        if self.was_rejected(seen) {
            self.rejected(line, item)
        } else {
            self.unchanged(line, item)
        }
    }

    fn was_rejected(&self, seen: &Evidence) -> bool {
        self.known.get(&proposal_name(seen)) == Some(&true)
    }

    /// What a person has rejected is not proposed to them again, and that is said.
    pub(super) fn rejected(&mut self, line: u64, item: &str) -> anyhow::Result<()> {
        self.rows.push(reply::Row {
            why: Some(REJECTED.to_owned()),
            ..reply::Row::named(line, Outcome::Unchanged, item)
        });
        Ok(())
    }

    pub(super) fn propose(
        &mut self,
        line: u64,
        item: &str,
        why: &str,
        change: &Change,
    ) -> anyhow::Result<()> {
        self.keep_copy()?;
        let applied = self.transaction.apply(change)?;
        self.rows.push(reply::Row {
            proposal: Some(applied.id),
            why: Some(why.to_owned()),
            ..reply::Row::named(line, Outcome::Pending, item)
        });
        Ok(())
    }
}
