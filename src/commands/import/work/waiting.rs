//! What waits for a person. The same is proposed once, whatever became of it.

use std::borrow::Cow;

use super::{Outcome, Work, reply};
use crate::model::{
    Change, Evidence, Origin, Preference, ProposalValues, Score, Subject, item_key, join_keywords,
    join_patterns, stable_name,
};
use crate::portable::{Entry, Format};

pub(in crate::commands::import) const REJECTED: &str = "it was rejected in aizo review";
pub(in crate::commands::import) const FORGOTTEN: &str = "it was forgotten here before";

/// What tells two things that wait apart.
pub(super) type WaitsAs = (String, Option<String>);

pub(super) fn waits_as(item: &str, score: Option<f64>) -> WaitsAs {
    (item_key(item), score.map(|score| score.to_string()))
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

/// Why something waits, as the reply says it.
pub(super) fn waits_for(why: &str, was_forgotten: bool) -> String {
    match was_forgotten {
        true => format!("{why}; {FORGOTTEN}"),
        false => why.to_owned(),
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
        let (uid, was_forgotten) = self.proposal_name(&seen)?;
        if !is_stored && self.known.get(&uid) == Some(&true) {
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
        let change = Change::propose(uid, &values);
        self.propose(line, &entry.item, &waits_for(&why, was_forgotten), &change)
    }

    /// Says of what the store has seen before that nothing of it is new.
    pub(super) fn seen_before(
        &mut self,
        line: u64,
        item: &str,
        seen: &Evidence,
    ) -> anyhow::Result<()> {
        let (uid, _) = self.proposal_name(seen)?;
        if self.known.get(&uid) == Some(&true) {
            self.rejected(line, item)
        } else {
            self.unchanged(line, item)
        }
    }

    /// What names the proposal of an observation, and whether it was forgotten before.
    fn proposal_name(&self, seen: &Evidence) -> anyhow::Result<(String, bool)> {
        self.free_proposal(stable_name(&["proposal", &seen.uid]))
    }

    /// The name that a proposal gets which was to have this one, and whether it was forgotten before.
    pub(super) fn free_proposal(&self, uid: String) -> anyhow::Result<(String, bool)> {
        let subject = Subject::Proposal(uid);
        let free = self.transaction.view().free_name(subject.clone())?;
        Ok((free.uid().to_owned(), free != subject))
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
