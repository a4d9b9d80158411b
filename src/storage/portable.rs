//! A store as the rows of aizo's own format, and what an import asks of it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use rusqlite::OptionalExtension;
use serde_json::Value;

use super::{Result, View};
use crate::model::{EntryValues, Preference, Proposal, Values, values_of};
use crate::portable::{self, Entry, Row};
use crate::redact::redact;

impl View<'_> {
    /// Every entry, all that waits and the settings: entries by the time of their adding, then by name, which is the same
    /// order in every store that holds them.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn rows(&self) -> Result<Vec<Row>> {
        let mut behind = self.all_evidence()?;
        let mut entries: Vec<Entry> = Vec::new();
        self.each_preference(|stored| {
            let evidence = behind.remove(&stored.id).unwrap_or_default();
            entries.push(without_secrets(Entry::of(stored, evidence).cleaned()));
        })?;
        entries.sort_by(|a, b| (&a.added_at.0, &a.uid).cmp(&(&b.added_at.0, &b.uid)));
        let waiting = self.proposals()?.into_iter();
        let mut waiting: Vec<portable::Proposal> = waiting.map(proposal).collect();
        waiting.sort_by(|a, b| (&a.proposed_at.0, &a.uid).cmp(&(&b.proposed_at.0, &b.uid)));
        let settings = Row::Settings(self.decay()?.into());
        let entries = entries.into_iter().map(|entry| Row::Entry(Box::new(entry)));
        let waiting = waiting.into_iter().map(|one| Row::Proposal(Box::new(one)));
        Ok(entries.chain(waiting).chain([settings]).collect())
    }

    /// The preference that has this name on every device.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn entry_by_uid(&self, uid: &str) -> Result<Option<Preference>> {
        let id: Option<i64> = self.sqlite_result(
            self.connection()
                .prepare_cached("SELECT id FROM preferences WHERE uid = ?1")
                .and_then(|mut statement| statement.query_row([uid], |row| row.get(0)).optional()),
        )?;
        match id {
            Some(id) => self.entry(id),
            None => Ok(None),
        }
    }

    /// Whether an observation of this name stands behind any entry.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn has_evidence(&self, uid: &str) -> Result<bool> {
        self.sqlite_result(
            self.connection()
                .prepare_cached("SELECT EXISTS (SELECT 1 FROM evidence WHERE uid = ?1)")
                .and_then(|mut statement| statement.query_row([uid], |row| row.get(0))),
        )
    }

    /// The names of all proposals that wait or were decided, and whether a person has rejected them. What was taken back or
    /// cleared counts as never proposed; what was forgotten has another name since.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn known_proposals(&self) -> Result<HashMap<String, bool>> {
        let undone = self.undone_batches()?;
        let mut known = HashMap::new();
        let mut decided = HashSet::new();
        let mut read = || -> rusqlite::Result<()> {
            let mut statement = self.connection().prepare(
                "SELECT uid, batch, op FROM journal WHERE kind = 'proposal' ORDER BY hlc",
            )?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let (uid, batch, op): (String, String, String) =
                    (row.get(0)?, row.get(1)?, row.get(2)?);
                if undone.contains(&batch) {
                    continue;
                }
                match op.as_str() {
                    "clear" => {
                        // Who cleared it need not have known that it was decided.
                        if !decided.contains(&uid) {
                            known.remove(&uid);
                        }
                    }
                    "undo" => {}
                    "accept" | "reject" => {
                        known.insert(uid.clone(), op == "reject");
                        decided.insert(uid);
                    }
                    _ => {
                        known.entry(uid).or_insert(false);
                    }
                }
            }
            Ok(())
        };
        self.sqlite_result(read())?;
        Ok(known)
    }

    /// Whether an entry once had just these values, and be it now.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn was_once(&self, uid: &str, values: &EntryValues) -> Result<bool> {
        let wanted = values_of(values);
        let mut lines = self.journal_where("kind = 'entry' AND uid = ?1", [uid])?;
        lines.sort_by(|a, b| a.hlc.cmp(&b.hlc));
        let mut stood = Values::new();
        for line in lines {
            match line.after {
                Some(after) => stood.extend(after),
                None => stood.clear(),
            }
            if is_same(&wanted, &stood) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether nothing was ever stored.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn is_untouched(&self) -> Result<bool> {
        let totals = self.totals()?;
        Ok(totals.entries == 0 && totals.proposals == 0 && totals.changes == 0)
    }

    /// Whether the journal has a line that was written at that logical time on that device.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn knows_change(&self, device: &str, hlc: &str) -> Result<bool> {
        self.sqlite_result(
            self.connection()
                .prepare_cached(
                    "SELECT EXISTS (SELECT 1 FROM journal WHERE hlc = ?1 AND device = ?2)",
                )
                .and_then(|mut statement| statement.query_row([hlc, device], |row| row.get(0))),
        )
    }
}

/// Whether two entries have the same values. What no column holds is nothing.
fn is_same(a: &Values, b: &Values) -> bool {
    let holds = |all: &Values, field: &str, value: &Value| match all.get(field) {
        None => value.is_null(),
        Some(other) => match (other.as_f64(), value.as_f64()) {
            (Some(other), Some(value)) => other == value,
            _ => other == value,
        },
    };
    a.iter().all(|(field, value)| holds(b, field, value))
        && b.iter().all(|(field, value)| holds(a, field, value))
}

/// An entry as the next write would leave it, where another program has written secrets into it.
fn without_secrets(mut entry: Entry) -> Entry {
    let clean = |text: &mut String| {
        if let Cow::Owned(clean) = redact(text).text {
            *text = clean;
        }
    };
    clean(&mut entry.item);
    clean(&mut entry.reason);
    clean(&mut entry.source);
    entry.keywords.iter_mut().for_each(clean);
    entry.scenarios.iter_mut().for_each(clean);
    entry
        .patterns
        .retain(|pattern| redact(pattern).found.is_empty());
    entry
}

fn proposal(waiting: Proposal) -> portable::Proposal {
    let proposal = portable::Proposal {
        uid: waiting.uid,
        item: waiting.item,
        reason: waiting.reason,
        keywords: waiting.keywords,
        scenarios: waiting.scenarios,
        score: waiting.score,
        source: waiting.source,
        origin: waiting.origin,
        proposed_at: waiting.proposed_at,
        why: waiting.why,
        patterns: waiting.patterns,
        evidence: waiting.evidence,
    };
    proposal.cleaned()
}
