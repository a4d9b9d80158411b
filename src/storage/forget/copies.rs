//! aizo's own copies of a store: each one forgets what the store has forgotten. A copy is read into memory, where it
//! forgets, and takes its own place at once; a run that was ended leaves it as it was.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use rusqlite::{Connection, params};

use super::find::{ALL, Record};
use super::names::Names;
use super::{Owed, WORDLESS, write_anew};
use crate::merge::Thing;
use crate::merge::forgotten::Forgotten;
use crate::model::{Hlc, JournalLine, Op, Origin, Score, Subject, item_key};
use crate::storage::backup::{Unfinished, folder_of};
use crate::storage::foreign::Foreign;
use crate::storage::journal::Draft;
use crate::storage::migrate::{self, Version};
use crate::storage::write::new_uid;
use crate::storage::{Result, StorageError, Store, Transaction, View, index, open, read};

/// What became of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    /// The file.
    pub path: PathBuf,
    /// Whether it held something that was forgotten.
    pub is_changed: bool,
    /// Why it could not be looked at or written; it is as it was.
    pub failed: Option<String>,
    /// Whether that may be otherwise the next time.
    pub is_owed: bool,
}

/// A record of a copy that was forgotten in the store.
#[derive(Debug, Clone, PartialEq)]
pub struct StaysForgotten {
    /// The item that it has there.
    pub item: String,
    /// Whether it is a hard limit there.
    pub is_hard_limit: bool,
}

/// What a store knows of what it has forgotten.
#[derive(Debug, Default)]
pub struct Memory {
    lines: Vec<JournalLine>,
    names: Names,
    owed: BTreeSet<Owed>,
    /// The reasons that entries have in place of those that were forgotten, by the keys of the items that they ever had.
    reasons: HashMap<String, String>,
}

impl Memory {
    /// What there is to know.
    ///
    /// # Errors
    /// A line that this version cannot read, and what SQLite reports.
    pub fn of(view: &View<'_>) -> Result<Self> {
        let lines = view.journal_where("op = ?1", [Op::Forget.name()])?;
        let reason =
            |line: &JournalLine| Some(line.after.as_ref()?.get("reason")?.as_str()?.to_owned());
        let by_subject: HashMap<&Subject, String> = lines
            .iter()
            .filter(|line| matches!(line.subject, Subject::Entry(_)))
            .filter_map(|line| Some((&line.subject, reason(line)?)))
            .collect();
        let mut reasons = HashMap::new();
        if !by_subject.is_empty() {
            for record in view.records()? {
                let reason = record.names.iter().find_map(|name| by_subject.get(name));
                let items = record.items.iter().map(|item| item_key(item));
                reasons.extend(items.filter_map(|key| Some((key, reason?.clone()))));
            }
        }
        Ok(Memory {
            names: view.forgotten_names()?,
            owed: view.owed()?,
            lines,
            reasons,
        })
    }

    /// Whether nothing was forgotten since: what [`View::forgettings`] tells is as it was.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn is_of(&self, view: &View<'_>) -> Result<bool> {
        let last = self.lines.iter().map(|line| line.seq).max();
        Ok(view.forgettings()? == last.unwrap_or(0))
    }
}

/// Lets a copy forget what a store has forgotten.
pub(super) fn rewrite(path: PathBuf, memory: &Memory, now: DateTime<Utc>) -> Rewritten {
    let result = rewritten(&path, memory, now);
    Rewritten {
        path,
        is_changed: matches!(result, Ok(true)),
        is_owed: result.as_ref().is_err_and(may_pass),
        failed: result.err().map(|error| error.to_string()),
    }
}

/// Whether what went wrong with a copy is not its own fault.
fn may_pass(error: &StorageError) -> bool {
    !error.is_damage()
        && !matches!(
            error,
            StorageError::Foreign { .. } | StorageError::Newer { .. }
        )
}

fn rewritten(path: &Path, memory: &Memory, now: DateTime<Utc>) -> Result<bool> {
    let sqlite = |error| StorageError::from_sqlite(path, error);
    let mut connection = open::copy_to_memory(Foreign::open(path)?.connection()).map_err(sqlite)?;
    let connection = match migrate::version_of(&connection, path)? {
        Version::Empty => return Ok(false),
        Version::Older(_) if !has_journal(&connection).map_err(sqlite)? => {
            let (_, is_changed) = forget_rows(&connection, memory).map_err(sqlite)?;
            if !is_changed {
                return Ok(false);
            }
            connection.execute_batch("VACUUM").map_err(sqlite)?;
            connection
        }
        _ => {
            migrate::bring_up_to_date(&mut connection, path, now, migrate::Backup::None)?;
            index::bring_up_to_date(&mut connection, path)?;
            let mut store = Store::of(connection, path);
            if !store.write(now, |transaction| transaction.follow(memory))? {
                return Ok(false);
            }
            store.write_anew()?;
            store.connection
        }
    };
    let copy = Unfinished::of(&connection, path, folder_of(path))?;
    // What somebody who opened it has left there belongs to the old one.
    for ending in ["-wal", "-shm", "-journal"] {
        let _none_is_fine = fs::remove_file(open::beside(path, ending));
    }
    copy.take_the_place_of(path)?;
    Ok(true)
}

/// Lets a store forget that is about to be put in the place of the one that remembers, and gives it the memory: what is owed
/// there is owed by it. `bring_up_to_date` is for what it has no journal before.
pub(in crate::storage) fn follow_in(
    connection: &mut Connection,
    path: &Path,
    memory: &Memory,
    now: DateTime<Utc>,
    bring_up_to_date: impl FnOnce(&mut Connection) -> Result<()>,
) -> Result<Vec<StaysForgotten>> {
    let sqlite = |error| StorageError::from_sqlite(path, error);
    let mut stay = Vec::new();
    if !has_journal(connection).map_err(sqlite)? {
        (stay, _) = forget_rows(connection, memory).map_err(sqlite)?;
    }
    bring_up_to_date(connection)?;
    if memory.lines.is_empty() && memory.names.is_empty() {
        return Ok(stay);
    }
    let mut transaction = Transaction::begin(connection, path, now)?;
    let of_journal = transaction.forgotten_in(memory)?;
    stay.extend(of_journal.iter().map(|record| StaysForgotten {
        item: record.item.clone(),
        is_hard_limit: record.is_hard_limit(),
    }));
    if !transaction.follow(memory)? {
        transaction.remember(memory)?;
    }
    transaction.take_names(&memory.names)?;
    transaction.owe(&memory.owed.iter().copied().collect::<Vec<_>>())?;
    transaction.commit()?;
    write_anew(connection).map_err(sqlite)?;
    Ok(stay)
}

/// Whether a copy that has forgotten still speaks of items elsewhere: in what was said of other entries, or in their items.
///
/// # Errors
/// What SQLite reports.
pub fn copy_speaks_of(path: &Path, items: &[&str]) -> Result<bool> {
    let sqlite = |error| StorageError::from_sqlite(path, error);
    let connection = open::copy_to_memory(Foreign::open(path)?.connection()).map_err(sqlite)?;
    if has_journal(&connection).map_err(sqlite)? {
        let store = Store::of(connection, path);
        return Ok(!store.view().mentions_of(items, false)?.is_empty());
    }
    let things: Vec<Thing> = items.iter().map(|item| Thing::of(item)).collect();
    let texts: Vec<String> = connection
        .prepare("SELECT item || char(10) || reason || char(10) || keywords FROM preferences")
        .and_then(|mut statement| statement.query_map([], |row| read::text(row, 0))?.collect())
        .map_err(sqlite)?;
    let mut lines = texts.iter().flat_map(|text| text.lines());
    Ok(lines.any(|line| things.iter().any(|thing| thing.is_spoken_of_in(line))))
}

/// Whether a store is of the time since there is a journal.
fn has_journal(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row(
        "SELECT count(*) > 0 FROM sqlite_schema WHERE name = 'journal'",
        [],
        |row| row.get(0),
    )
}

/// Removes the rows of a store of the time before there was a journal, and takes the reasons out of others. Gives the rows, and
/// whether there was anything.
fn forget_rows(
    connection: &Connection,
    memory: &Memory,
) -> rusqlite::Result<(Vec<StaysForgotten>, bool)> {
    let rows: Vec<(i64, String, bool)> = connection
        .prepare("SELECT id, item, base_score FROM preferences")?
        .query_map([], |row| {
            let score: Option<f64> = row.get(2).ok();
            let is_hard_limit = score.is_some_and(|score| Score::clamped(score).is_hard_limit());
            Ok((row.get(0)?, read::text(row, 1)?, is_hard_limit))
        })?
        .collect::<rusqlite::Result<_>>()?;
    let (gone, stay): (Vec<_>, Vec<_>) = rows
        .into_iter()
        .partition(|(_, item, _)| memory.names.forgotten_at(item).is_some());
    let mut is_any = !gone.is_empty();
    for (id, item, _) in stay {
        if let Some(reason) = memory.reasons.get(&item_key(&item)) {
            let changed = connection.execute(
                "UPDATE preferences SET reason = ?2 WHERE id = ?1 AND reason IS NOT ?2",
                params![id, reason],
            )?;
            is_any |= changed > 0;
        }
    }
    let has_scenarios: bool = connection.query_row(
        "SELECT count(*) > 0 FROM sqlite_schema WHERE name = 'preference_scenarios'",
        [],
        |row| row.get(0),
    )?;
    for (id, ..) in &gone {
        if has_scenarios {
            connection.execute(
                "DELETE FROM preference_scenarios WHERE preference_id = ?1",
                [id],
            )?;
        }
        connection.execute("DELETE FROM preferences WHERE id = ?1", [id])?;
    }
    let gone = gone
        .into_iter()
        .map(|(_, item, is_hard_limit)| StaysForgotten {
            item,
            is_hard_limit,
        });
    Ok((gone.collect(), is_any))
}

impl Transaction<'_> {
    /// Forgets in a copy what its store has forgotten; tells whether there was anything.
    fn follow(&mut self, memory: &Memory) -> Result<bool> {
        let forgotten = Forgotten::of(&memory.lines);
        let mut by_name = self.view().records()?;
        // Under another name than it had in the store.
        by_name.retain(|record| record.was_forgotten(&memory.names));
        let mut is_any = !by_name.is_empty();
        self.view().each_line(ALL, [], |line| {
            is_any |= forgotten.blank(line.clone()) != line;
        })?;
        if !is_any {
            return Ok(false);
        }
        self.remember(memory)?;
        for subject in by_name.iter().flat_map(|record| &record.names) {
            if !forgotten.has(subject) {
                self.note(Draft::forget(subject.clone(), Origin::User, None))?;
            }
        }
        self.settle_forgetting()?;
        Ok(true)
    }

    /// The records of which the journal has something that was forgotten in the store that remembers.
    fn forgotten_in(&self, memory: &Memory) -> Result<Vec<Record>> {
        let forgotten = Forgotten::of(&memory.lines);
        let mut records = self.view().records()?;
        records.retain(|record| {
            let is_forgotten = record.names.iter().any(|name| forgotten.has(name));
            !record.items.is_empty() && (is_forgotten || record.was_forgotten(&memory.names))
        });
        Ok(records)
    }

    /// Notes what the store that remembers says was forgotten. The lines are of this device and of a batch of their own, at the time
    /// that they have: a line of another device would say that all that it has written before is known here.
    fn remember(&mut self, memory: &Memory) -> Result<()> {
        let batch = new_uid();
        for line in &memory.lines {
            if self.view().knows_change(&line.device, &line.hlc)? {
                continue;
            }
            self.insert_line(&JournalLine {
                device: self.device.clone(),
                batch: batch.clone(),
                ..line.clone()
            })?;
            let time: Hlc = line.hlc.parse().unwrap_or_default();
            self.hlc = self.hlc.max(time);
        }
        if !Forgotten::of(&memory.lines).observations().is_empty() {
            self.set_meta(WORDLESS, "1")?;
        }
        Ok(())
    }
}
