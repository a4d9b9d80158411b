//! Takes changes back. An undo is a change itself: it writes the values before, and a journal line that
//! names the batch it takes back, and can be taken back in turn.

use std::collections::HashSet;

use super::journal::{Draft, JournalLine};
use super::{Result, StorageError, Transaction, View};
use crate::model::{Op, Subject};

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
    pub fn undone_batches(&self) -> Result<HashSet<String>> {
        let lines = self.journal_where("undoes IS NOT NULL", [])?;
        let mut undone: HashSet<String> = HashSet::new();
        // Newest first: an undo that was itself undone no longer counts.
        for line in lines.into_iter().rev() {
            if !undone.contains(&line.batch)
                && let Some(target) = line.undoes
            {
                undone.insert(target);
            }
        }
        Ok(undone)
    }

    /// The newest `count` batches that still stand and that a person made, newest first.
    fn newest_batches(&self, count: usize) -> Result<Vec<String>> {
        let undone = self.undone_batches()?;
        let mut found: Vec<String> = Vec::new();
        let mut below = i64::MAX;
        while found.len() < count {
            let lines = self.journal_where(
                "seq IN (SELECT seq FROM journal WHERE seq < ?1 ORDER BY seq DESC LIMIT 256)",
                [below],
            )?;
            let Some(first) = lines.first() else { break };
            below = first.seq;
            for line in lines.iter().rev() {
                let stands = line.undoes.is_none() && !undone.contains(&line.batch);
                if stands
                    && why_not(line.op).is_none()
                    && !found.contains(&line.batch)
                    && found.len() < count
                {
                    found.push(line.batch.clone());
                }
            }
        }
        Ok(found)
    }
}

/// Why a kind of change cannot be taken back.
fn why_not(op: Op) -> Option<&'static str> {
    match op {
        Op::Baseline => Some("it was there when the journal began"),
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
                let applied = self.execute(Draft::inverse(&line))?;
                let id = line.before.is_some().then_some(applied.id);
                done.push(Undone { line, id });
            }
        }
        Ok(done)
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
        let own = &line.batch;
        let in_the_way = later.into_iter().find(|other| {
            other.batch != *own
                && other.undoes.is_none()
                && !batches.contains(&other.batch)
                && !undone.contains(&other.batch)
                && overlap(line, other)
        });
        match in_the_way {
            None => Ok(()),
            Some(other) => Err(StorageError::LaterChange {
                number: line.seq,
                later: other.seq,
                op: other.op.name().to_owned(),
                item: self.label_of(&line.subject)?,
            }),
        }
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
