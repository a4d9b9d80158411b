//! aizo's own copies of a store: each one forgets what the store has forgotten. A copy is read into memory, where it
//! forgets, and takes its own place at once; a run that was ended leaves it as it was.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use rusqlite::{Connection, params};

use super::find::ALL;
use super::names::Names;
use crate::merge::Thing;
use crate::merge::forgotten::Forgotten;
use crate::model::{Hlc, JournalLine, Op, Origin, Subject, item_key};
use crate::storage::foreign::Foreign;
use crate::storage::journal::Draft;
use crate::storage::migrate::{self, Version};
use crate::storage::{Result, StorageError, Store, Transaction, View, index, open, read};

/// How the name of a copy begins that is not yet whole.
const UNFINISHED: &str = ".aizo-backup-";
/// How it ends when it is.
const KEPT: &str = ".bak";
/// The folder beside the store where copies are kept.
const FOLDER: &str = "backups";

/// What became of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    /// The file.
    pub path: PathBuf,
    /// Whether it held something that was forgotten.
    pub is_changed: bool,
    /// Why it could not be looked at or written; it is as it was.
    pub failed: Option<String>,
}

/// What a store knows of what it has forgotten.
pub(super) struct Memory {
    lines: Vec<JournalLine>,
    names: Names,
    /// The reasons that entries have in place of those that were forgotten, by the keys of the items that they ever had.
    reasons: HashMap<String, String>,
}

impl Memory {
    pub(super) fn of(view: &View<'_>) -> Result<Self> {
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
            lines,
            reasons,
        })
    }
}

/// Every copy of a store that aizo has made by itself, or where it makes them when it is asked for one: in the folder for
/// them, and beside the store, where they lay before there was one.
pub(super) fn all(real: &Path) -> Vec<PathBuf> {
    let Some(name) = real.file_name() else {
        return Vec::new();
    };
    let beginning = format!("{}.", name.to_string_lossy());
    let mut copies = Vec::new();
    for folder in folders(real) {
        copies.extend(files(&folder).filter(|file| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(&beginning) && name.ends_with(KEPT)
        }));
    }
    copies.sort();
    copies
}

/// Removes copies that were never finished.
pub(super) fn sweep(real: &Path) {
    for folder in folders(real) {
        for file in files(&folder) {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            // Who still writes one holds it.
            let is_left = || File::open(&file).is_ok_and(|file| file.try_lock().is_ok());
            if name.starts_with(UNFINISHED) && is_left() {
                let _the_next_run_may = fs::remove_file(&file);
            }
        }
    }
}

fn folders(real: &Path) -> [PathBuf; 2] {
    let beside = folder_of(real).to_path_buf();
    [beside.join(FOLDER), beside]
}

fn folder_of(file: &Path) -> &Path {
    file.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

fn files(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .map(|entry| entry.path())
}

/// Lets a copy forget what a store has forgotten.
pub(super) fn rewrite(path: PathBuf, memory: &Memory, now: DateTime<Utc>) -> Rewritten {
    let result = rewritten(&path, memory, now);
    let is_changed = matches!(result, Ok(true));
    let failed = result.err().map(|error| error.to_string());
    Rewritten {
        path,
        is_changed,
        failed,
    }
}

fn rewritten(path: &Path, memory: &Memory, now: DateTime<Utc>) -> Result<bool> {
    let sqlite = |error| StorageError::from_sqlite(path, error);
    let mut connection = open::copy_to_memory(Foreign::open(path)?.connection()).map_err(sqlite)?;
    let mut connection = match migrate::version_of(&connection, path)? {
        Version::Empty => return Ok(false),
        Version::Older(_) if !has_journal(&connection).map_err(sqlite)? => {
            if !forget_rows(&connection, memory).map_err(sqlite)? {
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
    replace(path, &mut connection)?;
    Ok(true)
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

/// Removes the rows of a store of the time before there was a journal, and takes the reasons out of others.
fn forget_rows(connection: &Connection, memory: &Memory) -> rusqlite::Result<bool> {
    let rows: Vec<(i64, String)> = connection
        .prepare("SELECT id, item FROM preferences")?
        .query_map([], |row| Ok((row.get(0)?, read::text(row, 1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let (gone, stay): (Vec<_>, Vec<_>) = rows
        .into_iter()
        .partition(|(_, item)| memory.names.forgotten_at(item).is_some());
    let mut is_any = !gone.is_empty();
    for (id, item) in stay {
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
    for (id, _) in &gone {
        if has_scenarios {
            connection.execute(
                "DELETE FROM preference_scenarios WHERE preference_id = ?1",
                [id],
            )?;
        }
        connection.execute("DELETE FROM preferences WHERE id = ?1", [id])?;
    }
    Ok(is_any)
}

/// Puts what is in memory in the place of a file.
fn replace(path: &Path, connection: &mut Connection) -> Result<()> {
    let io = |cause: io::Error| StorageError::Io {
        path: path.to_path_buf(),
        cause,
    };
    let bytes = connection
        .serialize("main")
        .map_err(|error| StorageError::from_sqlite(path, error))?;
    let folder = folder_of(path);
    let mut file = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .tempfile_in(folder)
        .map_err(io)?;
    let _as_far_as_it_goes = file.as_file().try_lock();
    file.write_all(&bytes)
        .and_then(|()| file.as_file().sync_all())
        .map_err(io)?;
    // What somebody who opened it has left there belongs to the old one.
    for ending in ["-wal", "-shm", "-journal"] {
        let _none_is_fine = fs::remove_file(open::beside(path, ending));
    }
    file.persist(path).map_err(|error| io(error.error))?;
    open::sync_folder(folder);
    Ok(())
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
        for line in &memory.lines {
            if !self.view().knows_change(&line.device, &line.hlc)? {
                self.insert_line(line)?;
                let time: Hlc = line.hlc.parse().unwrap_or_default();
                self.hlc = self.hlc.max(time);
            }
        }
        for subject in by_name.iter().flat_map(|record| &record.names) {
            if !forgotten.has(subject) {
                self.note(Draft::forget(subject.clone(), Origin::User, None))?;
            }
        }
        self.settle_forgetting()?;
        Ok(true)
    }
}
