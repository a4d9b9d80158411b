//! Takes changes back. An undo is a change itself: it writes the values before, and a journal line that
//! names the batch it takes back, and can be taken back in turn.

use std::collections::HashSet;

use super::journal::Draft;
use super::read::Source;
use super::{Result, StorageError, Transaction, View};
use crate::model::{JournalLine, Op, Score, Subject, Values, item_key};

/// One record that an undo brought back.
#[derive(Debug, Clone, PartialEq)]
pub struct Undone {
    /// The line that was taken back.
    pub line: JournalLine,
    /// The record's number in this file; none when it exists no more.
    pub id: Option<i64>,
}

/// A line that an undo could not take back.
#[derive(Debug, Clone, PartialEq)]
pub struct Left {
    /// The line.
    pub line: JournalLine,
    /// Why it stands.
    pub why: String,
}

/// What came of an undo.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Undoing {
    /// What was taken back.
    pub done: Vec<Undone>,
    /// What was not.
    pub left: Vec<Left>,
}

/// What stands of a line that was forgotten.
const FORGOTTEN: &str = "what it changed was forgotten";

/// Why what was taken back is there all the same.
const STANDS: &str = "another device has said it too, and that stands";

/// The condition that something is left of a line: it was not forgotten.
const SAYS_SOMETHING: &str =
    "(coalesce(values_before, '{}') != '{}' OR coalesce(values_after, '{}') != '{}'
     OR evidence_added != '[]' OR evidence_removed != '[]')";

/// When an entry was seen last, and how often: an undo of what made the entry does not mind.
const CLOCK: [&str; 2] = ["last_seen", "touch_count"];

impl View<'_> {
    /// The batches that other batches have taken back, all that is left of them, where those still stand.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn undone_batches(&self) -> Result<HashSet<String>> {
        let records = self.undone_records()?;
        let mut undone: HashSet<String> = records.iter().map(|(batch, _)| batch.clone()).collect();
        let mut read = || -> rusqlite::Result<()> {
            let mut statement = self.connection().prepare_cached(&format!(
                "SELECT DISTINCT batch, uid FROM journal
                 WHERE batch IN (SELECT undoes FROM journal WHERE undoes IS NOT NULL) AND {SAYS_SOMETHING}"
            ))?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let record: (String, String) = (row.get(0)?, row.get(1)?);
                if !records.contains(&record) {
                    undone.remove(&record.0);
                }
            }
            Ok(())
        };
        self.sqlite_result(read())?;
        Ok(undone)
    }

    /// What was taken back and not brought back: batches, and the names of the records in them.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn undone_records(&self) -> Result<HashSet<(String, String)>> {
        let lines: Vec<[String; 3]> = self.sqlite_result(
            self.connection()
                .prepare_cached(
                    "SELECT batch, undoes, uid FROM journal WHERE undoes IS NOT NULL ORDER BY hlc DESC",
                )
                .and_then(|mut statement| {
                    statement
                        .query_map([], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]))?
                        .collect()
                }),
        )?;
        let mut undone: HashSet<(String, String)> = HashSet::new();
        // Newest first: an undo that was itself undone no longer counts.
        for [batch, target, uid] in lines {
            let own = (batch, uid);
            if !undone.contains(&own) {
                undone.insert((target, own.1));
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
            let mut statement = self.connection().prepare_cached(&format!(
                "SELECT batch FROM journal
                 WHERE device = (SELECT value FROM schema_meta WHERE key = 'device')
                 GROUP BY batch
                 HAVING sum(undoes IS NOT NULL OR op IN ('baseline', 'adopt')) = 0
                    AND sum(CASE op WHEN 'forget' THEN origin = 'user' ELSE {SAYS_SOMETHING} END) > 0
                 ORDER BY max(hlc) DESC"
            ))?;
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

fn cannot_undo(line: &JournalLine, why: &str) -> StorageError {
    StorageError::CannotUndo {
        number: line.seq,
        op: line.op.name().to_owned(),
        why: why.to_owned(),
    }
}

/// Whether nothing is left of a line that was one.
fn is_blank(line: &JournalLine) -> bool {
    let is_empty = |values: &Option<Values>| values.as_ref().is_none_or(Values::is_empty);
    is_empty(&line.before)
        && is_empty(&line.after)
        && line.added.is_empty()
        && line.removed.is_empty()
}

impl Transaction<'_> {
    /// Takes back the newest `count` batches, newest first.
    ///
    /// # Errors
    /// Nothing to undo; a later change in the way.
    pub fn undo_last(&mut self, count: usize) -> Result<Undoing> {
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
    pub fn undo(&mut self, number: i64) -> Result<Undoing> {
        let line = self
            .view()
            .journal_where("seq = ?1", [number])?
            .pop()
            .ok_or(StorageError::NoChange { number })?;
        if self.view().undone_batches()?.contains(&line.batch) {
            return Err(cannot_undo(&line, "it is undone already"));
        }
        self.undo_batches(&[line.batch])
    }

    fn undo_batches(&mut self, batches: &[String]) -> Result<Undoing> {
        let undone = self.view().undone_records()?;
        let mut undoing = Undoing::default();
        for batch in batches {
            let mut lines = self.view().journal_where("batch = ?1", [batch])?;
            lines.retain(|line| !undone.contains(&record_of(line)));
            if let Some(line) = lines.iter().find(|line| why_not(line.op).is_some()) {
                return Err(cannot_undo(line, why_not(line.op).unwrap_or_default()));
            }
            let blank = lines
                .extract_if(.., |line| is_blank(line))
                .map(|line| Left {
                    line,
                    why: FORGOTTEN.to_owned(),
                });
            undoing.left.extend(blank);
            if let (true, Some(left)) = (lines.is_empty(), undoing.left.last()) {
                return Err(cannot_undo(&left.line, FORGOTTEN));
            }
            let is_own = |other: &JournalLine| batches.contains(&other.batch);
            for line in &lines {
                self.refuse_later_change(line, &is_own, &undone)?;
            }
            for line in lines.into_iter().rev() {
                self.refuse_other_values(&line)?;
                let id = self.take_back(Draft::inverse(&line))?;
                undoing.done.push(Undone { line, id });
            }
        }
        self.settle_undo(undoing)
    }

    /// Writes the line that takes another one back, and its rows; gives the record's number, where it is there then. A
    /// record that goes by another name, or that others have kept, follows when all lines are folded.
    fn take_back(&mut self, mut draft: Draft) -> Result<Option<i64>> {
        let id = self.view().number_of(&draft.subject)?;
        let has_rows = match draft.before {
            Some(_) => self.view().local_id(&draft.subject)?.is_some(),
            None => id.is_none(),
        };
        if has_rows {
            if draft.before.is_none() && draft.local_id.is_none() {
                // A line of another device does not know the number that the record had here.
                draft.local_id = self.free_number_of(&draft.subject)?;
            }
            let stays = draft.after.is_some();
            let id = self.execute(draft)?.id;
            return Ok(stays.then_some(id));
        }
        self.note(draft)?;
        Ok(id)
    }

    /// What others have changed at the same time counts again as well. What is as the line had left it stands, which is told;
    /// where it was something else before, the score that it has now is told.
    fn settle_undo(&mut self, mut undoing: Undoing) -> Result<Undoing> {
        if !self.view().is_synced()? {
            return Ok(undoing);
        }
        let (difference, _) = self.refold()?;
        self.keep_beside(difference)?;
        let mut done: Vec<Undone> = Vec::new();
        // A record is as it was before the oldest of its lines.
        let mut known: HashSet<Subject> = HashSet::new();
        for mut one in undoing.done.into_iter().rev() {
            let subject = one.line.subject.clone();
            one.id = self.view().number_of(&subject)?;
            let is_oldest = known.insert(subject.clone());
            let mut now = None;
            let is_undone = match (&one.line.before, one.id) {
                (None, id) => id.is_none(),
                (Some(_), None) => false,
                (Some(before), Some(id)) => {
                    let stored = self.values(&subject, id)?;
                    let left = one.line.after.as_ref();
                    let is_back = before.iter().all(|(field, value)| {
                        let stands = stored.get(field);
                        CLOCK.contains(&field.as_str())
                            || stands == Some(value)
                            || left.is_none_or(|left| left.get(field) != stands)
                    });
                    now = stored.get("base_score").filter(|_| is_oldest).cloned();
                    is_back
                }
            };
            let told = one.line.before.as_mut();
            if let (Some(told), Some(now)) = (told.and_then(|it| it.get_mut("base_score")), now) {
                *told = now;
            }
            if is_undone || !is_oldest {
                done.push(one);
            } else {
                undoing.left.push(Left {
                    line: one.line,
                    why: STANDS.to_owned(),
                });
            }
        }
        done.reverse();
        undoing.done = done;
        Ok(undoing)
    }

    /// Takes back what one conversation wrote, as one batch: all of it that belongs to one record, or nothing of that.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn undo_session(&mut self, session: &str) -> Result<Undoing> {
        let undone = self.view().undone_records()?;
        let mut lines = self.view().journal_of(&Source {
            session: Some(session),
            ..Source::default()
        })?;
        lines.retain(|line| !undone.contains(&record_of(line)) && why_not(line.op).is_none());
        let mut own: HashSet<i64> = lines.iter().map(|line| line.seq).collect();
        let mut records: Vec<Vec<JournalLine>> = Vec::new();
        for line in lines {
            match records.iter_mut().find(|of| of[0].subject == line.subject) {
                Some(of) => of.push(line),
                None => records.push(vec![line]),
            }
        }
        let mut undoing = Undoing::default();
        let mut free = Vec::new();
        for lines in records {
            match self.in_the_way(&lines, &own, &undone)? {
                Some(left) => undoing.left.push(left),
                None => free.push(lines),
            }
        }
        // What stays counts as done.
        own.clear();
        own.extend(free.iter().flatten().map(|line| line.seq));
        for lines in free {
            self.undo_record(lines, &own, &mut undoing.done)?;
        }
        self.settle_undo(undoing)
    }

    /// The line among those of one record, the newest first, that cannot be taken back, if there is one. That an entry was
    /// used since is nothing in the way.
    fn in_the_way(
        &self,
        lines: &[JournalLine],
        own: &HashSet<i64>,
        undone: &HashSet<(String, String)>,
    ) -> Result<Option<Left>> {
        let Some(stored) = self.standing(&lines[0].subject)? else {
            // Nothing of it stands.
            return Ok(None);
        };
        let forbids = |values: &Values| {
            let score = values.get("base_score").and_then(serde_json::Value::as_f64);
            score.is_some_and(|score| Score::clamped(score).is_hard_limit())
        };
        // A hard limit goes only with the words that made it one.
        let forbade = lines.iter().any(|line| line.after.iter().any(forbids));
        if forbids(&stored) && !forbade {
            return Ok(Some(Left {
                line: lines[0].clone(),
                why: self.has_changed(&lines[0])?.to_string(),
            }));
        }
        let is_own = |other: &JournalLine| {
            own.contains(&other.seq) || matches!(other.op, Op::Touch | Op::Apply)
        };
        let mut known: HashSet<&str> = HashSet::from(CLOCK);
        for line in lines {
            let mut looked = self.refuse_later_change(line, &is_own, undone);
            let after = line.after.iter().flatten();
            for (field, value) in after.filter(|_| line.before.is_some()) {
                if known.insert(field) && stored.get(field) != Some(value) && looked.is_ok() {
                    looked = Err(self.has_changed(line)?);
                }
            }
            let looked = looked.and_then(|()| self.refuse_taken_item(line));
            match looked {
                Ok(()) => {}
                Err(error) if error.is_about_undoing() => {
                    return Ok(Some(Left {
                        line: line.clone(),
                        why: error.to_string(),
                    }));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Takes back lines of one record, the newest first. A record that is there because of them goes as it is now.
    fn undo_record(
        &mut self,
        lines: Vec<JournalLine>,
        own: &HashSet<i64>,
        done: &mut Vec<Undone>,
    ) -> Result<()> {
        let subject = lines[0].subject.clone();
        let made = lines.iter().position(|line| line.before.is_none());
        let from = made.unwrap_or(0);
        let observed: HashSet<String> = lines
            .iter()
            .flat_map(|line| &line.added)
            .map(|observed| observed.uid.clone())
            .collect();
        for line in lines.into_iter().skip(from) {
            let Some(id) = self.view().number_of(&subject)? else {
                return Ok(());
            };
            let stored = self.values(&subject, id)?;
            let mut draft = Draft::inverse(&line);
            match (&mut draft.before, &mut draft.after) {
                (Some(before), Some(after)) => {
                    for field in CLOCK {
                        if before.get(field) != stored.get(field) {
                            before.shift_remove(field);
                            after.shift_remove(field);
                        }
                    }
                }
                (before, _) => {
                    *before = Some(stored);
                    if matches!(subject, Subject::Entry(_)) {
                        draft.removed = self.view().evidence(id)?;
                        if self.view().is_synced()? {
                            // What others have observed may stand.
                            draft.removed.retain(|one| observed.contains(&one.uid));
                        }
                    }
                }
            }
            // What else a command has done to the record stands.
            let batch = self.view().journal_where("batch = ?1", [&line.batch])?;
            let mut of_record = batch.iter().filter(|other| other.subject == subject);
            let is_all = draft.after.is_none() || of_record.all(|line| own.contains(&line.seq));
            draft.undoes = draft.undoes.filter(|_| is_all);
            let id = self.take_back(draft)?;
            done.push(Undone { line, id });
        }
        Ok(())
    }

    /// The values that a record holds now, also where it goes by another name.
    fn standing(&self, subject: &Subject) -> Result<Option<Values>> {
        let id = self.view().number_of(subject)?;
        id.map(|id| self.values(subject, id)).transpose()
    }

    /// Refuses when a record does not hold what a line says it left, or an item that would come back has a
    /// successor.
    fn refuse_other_values(&self, line: &JournalLine) -> Result<()> {
        let stored = self.standing(&line.subject)?;
        let same = match (&line.after, &stored) {
            (None, None) => true,
            // Others have made it as well, and kept it.
            (None, Some(_)) if line.op == Op::Undo && self.view().is_synced()? => return Ok(()),
            (Some(after), Some(stored)) => after
                .iter()
                .all(|(field, value)| stored.get(field) == Some(value)),
            _ => false,
        };
        if !same {
            return Err(self.has_changed(line)?);
        }
        self.refuse_taken_item(line)
    }

    fn has_changed(&self, line: &JournalLine) -> Result<StorageError> {
        let label = self.label_of(&line.subject)?;
        // What came from another device since can be taken back by its number.
        let undone = self.view().undone_records()?;
        let mut later = self.view().journal_where(
            "kind = ?1 AND uid = ?2 AND seq > ?3",
            rusqlite::params![line.subject.kind(), line.subject.uid(), line.seq],
        )?;
        later.retain(|other| {
            let is_other = other.batch != line.batch;
            let can_be =
                is_other && why_not(other.op).is_none() && !is_blank(other) && overlap(line, other);
            can_be && !undone.contains(&record_of(other))
        });
        Ok(match later.into_iter().max_by_key(|other| other.seq) {
            Some(other) => StorageError::LaterChange {
                number: line.seq,
                later: other.seq,
                op: other.op.name().to_owned(),
                item: label,
            },
            None => cannot_undo(line, &format!("“{label}” has changed since")),
        })
    }

    /// Refuses when an item that would come back has a successor.
    fn refuse_taken_item(&self, line: &JournalLine) -> Result<()> {
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
        is_own: &dyn Fn(&JournalLine) -> bool,
        undone: &HashSet<(String, String)>,
    ) -> Result<()> {
        let later = self.view().journal_where(
            "kind = ?1 AND uid = ?2 AND seq > ?3",
            rusqlite::params![line.subject.kind(), line.subject.uid(), line.seq],
        )?;
        for other in later {
            let own = other.batch == line.batch || is_own(&other);
            // What another device did meanwhile shows in what is stored, if it counts.
            let elsewhere = other.device != self.device;
            // Of what was forgotten nothing is in the way.
            let own = own || other.op == Op::Forget || is_blank(&other);
            if own || elsewhere || undone.contains(&record_of(&other)) || !overlap(line, &other) {
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

/// The batch and the record of a line.
fn record_of(line: &JournalLine) -> (String, String) {
    (line.batch.clone(), line.subject.uid().to_owned())
}

/// Whether two lines of one record share a field; one that came or went has all of them.
fn overlap(a: &JournalLine, b: &JournalLine) -> bool {
    match (a.fields(), b.fields()) {
        (Some(a), Some(b)) => a.iter().any(|field| b.contains(field)),
        _ => true,
    }
}
