//! Takes changes back. An undo is a change itself: it writes the values before, and a journal line that
//! names the batch it takes back, and can be taken back in turn.

use std::collections::HashSet;

use super::journal::Draft;
use super::{Result, StorageError, Transaction, View};
use crate::model::{JournalLine, Op, Subject, item_key};

/// One record that an undo brought back.
#[derive(Debug, Clone, PartialEq)]
pub struct Undone {
    /// The line that was taken back.
    pub line: JournalLine,
    /// The record's number in this file; none when it exists no more.
    pub id: Option<i64>,
}

impl View<'_> {
    /// The batches that another batch has taken back, where that one still stands.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn undone_batches(&self) -> Result<HashSet<String>> {
        let pairs: Vec<(String, String)> = self.sqlite_result(
            self.connection()
                .prepare_cached(
                    "SELECT batch, undoes FROM journal WHERE undoes IS NOT NULL
                     GROUP BY batch, undoes ORDER BY max(hlc) DESC",
                )
                .and_then(|mut statement| {
                    statement
                        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                        .collect()
                }),
        )?;
        let mut undone: HashSet<String> = HashSet::new();
        // Newest first: an undo that was itself undone no longer counts.
        for (batch, target) in pairs {
            if !undone.contains(&batch) {
                undone.insert(target);
            }
        }
        Ok(undone)
    }

    /// The newest `count` batches of this device that still stand and that a person or an agent made, newest first.
    fn newest_batches(&self, count: usize) -> Result<Vec<String>> {
        let undone = self.undone_batches()?;
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let mut left = count;
        let mut found: Vec<String> = Vec::new();
        let read = || -> rusqlite::Result<Vec<String>> {
            let mut statement = self.connection().prepare_cached(
                "SELECT batch FROM journal
                 WHERE device = (SELECT value FROM schema_meta WHERE key = 'device')
                 GROUP BY batch
                 HAVING sum(undoes IS NOT NULL OR op IN ('baseline', 'adopt')) = 0
                 ORDER BY max(hlc) DESC",
            )?;
            let mut rows = statement.query([])?;
            while let (Some(row), true) = (rows.next()?, left > 0) {
                let batch: String = row.get(0)?;
                if !undone.contains(&batch) {
                    found.push(batch);
                    left -= 1;
                }
            }
            Ok(found)
        };
        self.sqlite_result(read())
    }
}

/// Why a kind of change cannot be taken back.
fn why_not(op: Op) -> Option<&'static str> {
    match op {
        Op::Baseline => Some("it was there when the journal began"),
        Op::Forget => Some("what was forgotten is gone for good"),
        _ => None,
    }
}

impl Transaction<'_> {
    /// Takes back the newest `count` batches, newest first.
    ///
    /// # Errors
    /// Nothing to undo; a later change in the way.
    pub fn undo_last(&mut self, count: usize) -> Result<Vec<Undone>> {
        let batches = self.view().newest_batches(count)?;
        if batches.is_empty() {
            return Err(StorageError::NothingToUndo);
        }
        self.undo_batches(&batches)
    }

    /// Takes back the batch that holds the journal line `number`.
    ///
    /// # Errors
    /// No such line; one that cannot be undone or is undone already; a later change in the way.
    pub fn undo(&mut self, number: i64) -> Result<Vec<Undone>> {
        let line = self
            .view()
            .journal_where("seq = ?1", [number])?
            .pop()
            .ok_or(StorageError::NoChange { number })?;
        if self.view().undone_batches()?.contains(&line.batch) {
            return Err(StorageError::CannotUndo {
                number,
                op: line.op.name().to_owned(),
                why: "it is undone already".to_owned(),
            });
        }
        self.undo_batches(&[line.batch])
    }

    fn undo_batches(&mut self, batches: &[String]) -> Result<Vec<Undone>> {
        let undone = self.view().undone_batches()?;
        let mut done = Vec::new();
        for batch in batches {
            let lines = self.view().journal_where("batch = ?1", [batch])?;
            for line in &lines {
                if let Some(why) = why_not(line.op) {
                    return Err(StorageError::CannotUndo {
                        number: line.seq,
                        op: line.op.name().to_owned(),
                        why: why.to_owned(),
                    });
                }
                self.refuse_later_change(line, batches, &undone)?;
            }
            for line in lines.into_iter().rev() {
                self.refuse_other_values(&line)?;
                let applied = self.execute(Draft::inverse(&line))?;
                let id = line.before.is_some().then_some(applied.id);
                done.push(Undone { line, id });
            }
        }
        if self.view().is_synced()? {
            // What others have changed at the same time counts again as well.
            self.refold()?;
            for one in done.iter_mut().filter(|one| one.id.is_some()) {
                one.id = self.view().number_of(&one.line.subject)?;
            }
        }
        Ok(done)
    }

    /// Refuses when a record does not hold what a line says it left, or an item that would come back has a
    /// successor.
    fn refuse_other_values(&self, line: &JournalLine) -> Result<()> {
        let stored = self.stored(&line.subject)?;
        let same = match (&line.after, &stored) {
            (None, None) => true,
            (Some(after), Some(stored)) => after
                .iter()
                .all(|(field, value)| stored.get(field) == Some(value)),
            _ => false,
        };
        if !same {
            return Err(StorageError::CannotUndo {
                number: line.seq,
                op: line.op.name().to_owned(),
                why: format!("“{}” has changed since", self.label_of(&line.subject)?),
            });
        }
        let item = line
            .before
            .as_ref()
            .and_then(|values| values.get("item")?.as_str());
        if let (Subject::Entry(uid), Some(item)) = (&line.subject, item)
            && let Some(other) = self.view().entry_by_key(&item_key(item))?
            && other.uid != *uid
        {
            return Err(StorageError::InTheWay {
                number: line.seq,
                item: item.to_owned(),
                id: other.id,
                other: other.item,
            });
        }
        Ok(())
    }

    /// Refuses when a later change that still stands touched the same fields of the same record.
    fn refuse_later_change(
        &self,
        line: &JournalLine,
        batches: &[String],
        undone: &HashSet<String>,
    ) -> Result<()> {
        let later = self.view().journal_where(
            "kind = ?1 AND uid = ?2 AND seq > ?3",
            rusqlite::params![line.subject.kind(), line.subject.uid(), line.seq],
        )?;
        for other in later {
            let own = other.batch == line.batch || batches.contains(&other.batch);
            // What another device did meanwhile shows in what is stored, if it counts.
            let elsewhere = other.device != self.device;
            if own || elsewhere || undone.contains(&other.batch) || !overlap(line, &other) {
                continue;
            }
            // An undo of something that came later still leaves the record as this line had left it.
            if let Some(target) = &other.undoes
                && self
                    .view()
                    .first_of_batch(target)?
                    .is_some_and(|first| first > line.seq)
            {
                continue;
            }
            return Err(StorageError::LaterChange {
                number: line.seq,
                later: other.seq,
                op: other.op.name().to_owned(),
                item: self.label_of(&line.subject)?,
            });
        }
        Ok(())
    }

    fn label_of(&self, subject: &Subject) -> Result<String> {
        Ok(self
            .view()
            .item_of(subject)?
            .unwrap_or_else(|| subject.to_string()))
    }
}

/// Whether two lines of one record share a field; one that came or went has all of them.
fn overlap(a: &JournalLine, b: &JournalLine) -> bool {
    match (a.fields(), b.fields()) {
        (Some(a), Some(b)) => a.iter().any(|field| b.contains(field)),
        _ => true,
    }
}
