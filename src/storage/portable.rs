//! A store as the rows of aizo's own format, and rows of another store as they were taken over: with their names, times and
//! observations, and the journal where there is none yet.

use std::borrow::Cow;
use std::collections::HashSet;

use chrono::{DateTime, Utc};
use rusqlite::OptionalExtension;

use super::adopt::HIGHEST_ID;
use super::journal::{COLUMNS, read_line};
use super::{Applied, Result, StorageError, Transaction, View};
use crate::model::{Effect, Hlc, JournalLine, Preference, is_device_name};
use crate::portable::{Change, Entry, Proposal, Row};
use crate::redact::redact;

impl View<'_> {
    /// Hands every entry, all that waits and the settings to `each`: entries by the time of their adding, then by name, which is
    /// the same order in every store that holds them.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn each_row(&self, mut each: impl FnMut(Row)) -> Result<()> {
        let mut order: Vec<(String, String, i64)> = Vec::new();
        self.each_preference(|stored| {
            let entry = (stored.id, Entry::of(stored, Vec::new()));
            order.push((entry.1.added_at.0, entry.1.uid, entry.0));
        })?;
        order.sort_unstable();
        for (_, _, id) in order {
            if let Some(stored) = self.entry(id)? {
                let entry = Entry::of(without_secrets(stored), self.evidence(id)?);
                each(Row::Entry(Box::new(entry)));
            }
        }
        let mut waiting = self.proposals()?;
        waiting.sort_by(|a, b| (&a.proposed_at.0, &a.uid).cmp(&(&b.proposed_at.0, &b.uid)));
        for one in waiting {
            each(Row::Proposal(Box::new(Proposal {
                uid: one.uid,
                item: one.item,
                reason: one.reason,
                keywords: one.keywords,
                scenarios: one.scenarios,
                score: one.score,
                source: one.source,
                origin: one.origin,
                proposed_at: one.proposed_at,
                why: one.why,
                patterns: one.patterns,
                evidence: one.evidence,
            })));
        }
        each(Row::Settings(self.decay()?.into()));
        Ok(())
    }

    /// Hands every line of the journal to `each`, oldest first. Which conversations were analysed belongs to this device and is
    /// left out.
    ///
    /// # Errors
    /// A line that this version cannot read, and what SQLite reports.
    pub fn each_change(&self, mut each: impl FnMut(Change)) -> Result<()> {
        let mut unreadable = None;
        let mut read = || -> rusqlite::Result<()> {
            let sql = format!("SELECT {COLUMNS} FROM journal WHERE kind != 'session' ORDER BY seq");
            let mut statement = self.connection().prepare(&sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                match read_line(row)? {
                    Ok(line) => each(change(line)),
                    Err(fault) => {
                        unreadable = Some(fault);
                        return Ok(());
                    }
                }
            }
            Ok(())
        };
        self.sqlite_result(read())?;
        match unreadable {
            Some((seq, detail)) => Err(self.journal_fault(seq, detail)),
            None => Ok(()),
        }
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
        self.exists("SELECT EXISTS (SELECT 1 FROM evidence WHERE uid = ?1)", uid)
    }

    /// The names of all proposals that wait or were decided. What was taken back or cleared counts as never proposed.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn known_proposals(&self) -> Result<HashSet<String>> {
        let undone = self.undone_batches()?;
        let mut known = HashSet::new();
        let mut read = || -> rusqlite::Result<()> {
            let mut statement = self.connection().prepare(
                "SELECT uid, batch, op FROM journal WHERE kind = 'proposal' ORDER BY seq",
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
                        known.remove(&uid);
                    }
                    "undo" => {}
                    _ => {
                        known.insert(uid);
                    }
                }
            }
            Ok(())
        };
        self.sqlite_result(read())?;
        Ok(known)
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

    fn exists(&self, sql: &str, name: &str) -> Result<bool> {
        self.sqlite_result(
            self.connection()
                .prepare_cached(sql)
                .and_then(|mut statement| statement.query_row([name], |row| row.get(0))),
        )
    }

    /// Whether nothing was ever stored.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn is_untouched(&self) -> Result<bool> {
        let totals = self.totals()?;
        Ok(totals.entries == 0 && totals.proposals == 0 && totals.changes == 0)
    }
}

impl Transaction<'_> {
    /// Applies a change whose texts were in a store of aizo's before, whatever today's rules for typed ones say of them.
    ///
    /// # Errors
    /// An item that another entry has, what SQLite reports.
    pub fn restore(&mut self, change: &crate::model::Change) -> Result<Applied> {
        match &change.effect {
            Effect::Delete => self.apply(change),
            _ => self.apply_stored(change),
        }
    }

    /// Writes the lines of another journal into this empty one, as they are, and the rows that they make.
    ///
    /// # Errors
    /// A line that this version cannot read or that is no line of a journal: then nothing may be kept.
    pub fn take_over(&mut self, changes: &[Change]) -> Result<()> {
        let lines: std::result::Result<Vec<JournalLine>, String> = changes
            .iter()
            .map(|change| line(change, self.now()))
            .collect();
        let fault = |detail: String| self.view().journal_fault(0, detail);
        self.receive_journal(&lines.map_err(fault)?)
    }
}

/// An entry as the next write would leave it, where another program has written secrets into it.
fn without_secrets(mut stored: Preference) -> Preference {
    let clean = |text: &mut String| {
        if let Cow::Owned(clean) = redact(text).text {
            *text = clean;
        }
    };
    clean(&mut stored.item);
    clean(&mut stored.reason);
    clean(&mut stored.source);
    stored.keywords.iter_mut().for_each(clean);
    stored.scenarios.iter_mut().for_each(clean);
    stored
        .patterns
        .retain(|pattern| redact(pattern).found.is_empty());
    stored
}

fn change(line: JournalLine) -> Change {
    Change {
        batch: line.batch,
        at: line.at,
        hlc: line.hlc,
        device: line.device,
        op: line.op.name().to_owned(),
        kind: line.subject.kind().to_owned(),
        uid: line.subject.uid().to_owned(),
        origin: line.origin,
        before: line.before,
        after: line.after,
        evidence_added: line.added,
        evidence_removed: line.removed,
        undoes: line.undoes,
        seen: line.seen,
        id: line.local_id,
    }
}

/// A change as a line that may enter a journal.
fn line(change: &Change, now: DateTime<Utc>) -> std::result::Result<JournalLine, String> {
    let (op, subject) = change.parts()?;
    let line = JournalLine {
        seq: 0,
        batch: change.batch.clone(),
        at: change.at.clone(),
        hlc: change.hlc.clone(),
        device: change.device.clone(),
        op,
        subject,
        origin: change.origin,
        before: change.before.clone(),
        after: change.after.clone(),
        added: change.evidence_added.clone(),
        removed: change.evidence_removed.clone(),
        undoes: change.undoes.clone(),
        seen: change.seen.clone(),
        local_id: change.id.filter(|id| (1..HIGHEST_ID).contains(id)),
    };
    line.check()?;
    let hlc: Hlc = line.hlc.parse()?;
    if !is_device_name(&line.device) || hlc.is_out_of_reach(now) {
        return Err("no device has written it".to_owned());
    }
    Ok(line)
}

impl View<'_> {
    fn journal_fault(&self, seq: i64, detail: String) -> StorageError {
        StorageError::Journal {
            path: self.path().to_path_buf(),
            seq,
            detail,
        }
    }
}
