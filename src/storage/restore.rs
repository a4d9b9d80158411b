//! Puts a copy in the place of a store: page by page into the file itself, under its lock and in one transaction, so that who
//! reads it goes on with the state that they began with, who writes waits, and a run that is ended has changed nothing.
//!
//! A file that is too damaged for SQLite to lock is put aside instead, and a new one takes its place.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{DateTime, Utc};
use rusqlite::backup::Backup;
use rusqlite::{Connection, FileControl, OpenFlags};

use super::backup::{
    Unfinished, committed, drop_old, folder_of, keep, keep_file, must_be_sound, step, to_the_end,
};
use super::foreign::Foreign;
use super::forget::{Memory, StaysForgotten, follow_in};
use super::open::{self, beside};
use super::{Location, Result, StorageError, View, index, migrate};

/// What stands in the name of the copy that is kept of what was there.
const OCCASION: &str = "before-restore";

/// A copy that is about to be put back: checked and brought up to date, in a file without a name that is gone with it. The
/// file that it was read from is not touched.
pub struct Staged {
    connection: Connection,
    path: PathBuf,
    brought_from: Option<i64>,
    stays_forgotten: Vec<StaysForgotten>,
}

/// How a restore ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// Where what was there is kept.
    pub kept: Option<PathBuf>,
    /// Whether the file was too damaged to be written, and another one stands there now.
    pub put_aside: bool,
}

/// The store that gives way.
struct Live<'l> {
    connection: Connection,
    location: &'l Location,
    real: PathBuf,
    /// Whether it is a store that can be read.
    is_sound: bool,
    /// Whether readers and a writer get along in it.
    has_log: bool,
    page_size: i64,
}

impl Staged {
    /// Takes a copy from a file, and lets it forget what the store has forgotten that gives way.
    ///
    /// # Errors
    /// A file that cannot be read, is damaged, holds no store, or one of a later version.
    pub fn from(path: &Path, memory: &Memory, now: DateTime<Utc>) -> Result<Self> {
        let sqlite = |error| StorageError::from_sqlite(path, error);
        let source = Foreign::open(path)?;
        // SQLite's own way to name a file that nobody finds.
        let mut connection = Connection::open("").map_err(sqlite)?;
        copy(source.connection(), &mut connection).map_err(sqlite)?;
        open::configure(&connection, Duration::ZERO).map_err(sqlite)?;
        must_be_sound(&connection, path)?;
        take_out_what_runs(&connection).map_err(sqlite)?;
        let brought_from = match migrate::version_of(&connection, path)? {
            migrate::Version::Current => None,
            migrate::Version::Older(number) => Some(number),
            migrate::Version::Empty => {
                return Err(StorageError::Foreign {
                    path: path.to_path_buf(),
                    why: "it has no tables".to_owned(),
                });
            }
        };
        let stays_forgotten = follow_in(&mut connection, path, memory, now, |connection| {
            migrate::bring_up_to_date(connection, path, now, migrate::Backup::None)?;
            connection.execute_batch(migrate::INDEXES).map_err(sqlite)?;
            index::bring_up_to_date(connection, path)
        })?;
        Ok(Staged {
            connection,
            path: path.to_path_buf(),
            brought_from,
            stays_forgotten,
        })
    }

    /// The records of the file that the store has forgotten, and which do not come back.
    pub fn stays_forgotten(&self) -> &[StaysForgotten] {
        &self.stays_forgotten
    }

    /// What can be read in it.
    pub fn view(&self) -> View<'_> {
        View::new(&self.connection, &self.path)
    }

    /// The schema that the file has, where it is an earlier one.
    pub fn brought_from(&self) -> Option<i64> {
        self.brought_from
    }

    /// Puts it in the place of a store, of which a copy is kept. `agree` is asked before, while nobody else can write, about
    /// what is there, as far as it can be read.
    ///
    /// # Errors
    /// What `agree` says, a lock that does not come free, a file that cannot be written.
    pub fn replace<E: From<StorageError>>(
        mut self,
        location: &Location,
        now: DateTime<Utc>,
        agree: impl FnOnce(Option<&View<'_>>) -> std::result::Result<(), E>,
    ) -> std::result::Result<Restored, E> {
        let Some(mut live) = Live::open(location, now)? else {
            agree(None)?;
            return Ok(self.put_aside(location, now)?);
        };
        self.fit(&live)?;
        let sqlite = |error| StorageError::from_sqlite(&location.path, error);
        let before = Before::of(&live, now);
        if !before.has_log {
            keep_writers_out(&live.connection).map_err(sqlite)?;
        }
        let replacement = Backup::new(&self.connection, &mut live.connection).map_err(sqlite)?;
        let kept;
        if before.has_log {
            step(&replacement, 0, location.patience).map_err(sqlite)?;
            kept = before.look(agree)?;
        } else {
            // Without a log nobody could read what is locked for the replacement itself.
            kept = before.look(agree)?;
            step(&replacement, 0, location.patience).map_err(sqlite)?;
        }
        to_the_end(&replacement).map_err(sqlite)?;
        drop(replacement);
        let spared = [Some(self.path.as_path()), kept.as_deref()];
        let spared: Vec<&Path> = spared.into_iter().flatten().collect();
        drop_old(&before.real, &spared);
        Ok(Restored {
            kept,
            put_aside: false,
        })
    }

    /// Gives it pages of the size that the store has. A file without a log gets a copy that says that it has none.
    fn fit(&mut self, live: &Live<'_>) -> Result<()> {
        let sqlite = |error| StorageError::from_sqlite(&live.location.path, error);
        let size: i64 = self
            .connection
            .pragma_query_value(None, "page_size", |row| row.get(0))
            .map_err(sqlite)?;
        if size == live.page_size && live.has_log {
            return Ok(());
        }
        self.connection
            .pragma_update(None, "page_size", live.page_size)
            .and_then(|()| self.connection.execute_batch("VACUUM"))
            .map_err(sqlite)
    }

    /// Puts a new file in the place of one that SQLite cannot even lock.
    fn put_aside(self, location: &Location, now: DateTime<Utc>) -> Result<Restored> {
        let real = open::real(&location.path);
        let new = Unfinished::of(&self.connection, &self.path, folder_of(&real))?;
        let kept = keep_file(&real, OCCASION, now)?;
        for ending in ["-wal", "-shm", "-journal"] {
            // They belong to the other one.
            let _none_is_fine = fs::remove_file(beside(&real, ending));
        }
        new.take_the_place_of(&real)?;
        drop_old(&real, &[&self.path, &kept]);
        Ok(Restored {
            kept: Some(kept),
            put_aside: true,
        })
    }
}

/// What is looked at before a store gives way.
struct Before<'l> {
    location: &'l Location,
    real: PathBuf,
    is_sound: bool,
    has_log: bool,
    now: DateTime<Utc>,
}

impl<'l> Before<'l> {
    fn of(live: &Live<'l>, now: DateTime<Utc>) -> Self {
        Before {
            location: live.location,
            real: live.real.clone(),
            is_sound: live.is_sound,
            has_log: live.has_log,
            now,
        }
    }

    /// Asks whether what is there may go, and keeps a copy of it.
    fn look<E: From<StorageError>>(
        &self,
        agree: impl FnOnce(Option<&View<'_>>) -> std::result::Result<(), E>,
    ) -> std::result::Result<Option<PathBuf>, E> {
        let path = &self.location.path;
        if self.is_sound {
            let connection = committed(path, &self.real)?;
            let view = View::new(&connection, path);
            agree(Some(&view))?;
            if view.is_untouched().unwrap_or(false) {
                return Ok(None);
            }
        } else {
            agree(None)?;
        }
        Ok(Some(keep(path, &self.real, OCCASION, self.now)?))
    }
}

impl<'l> Live<'l> {
    /// Opens the store that is to give way, or makes it. Nothing comes back where SQLite cannot lock what is there.
    fn open(location: &'l Location, now: DateTime<Utc>) -> Result<Option<Self>> {
        let (connection, is_sound) = match open::for_writing(location, now) {
            Ok(store) => (store.connection, true),
            Err(error) if error.is_damage() => match open_damaged(location) {
                Ok(connection) => (connection, false),
                Err(error) => match StorageError::from_sqlite(&location.path, error) {
                    error if error.is_no_database() => return Ok(None),
                    error => return Err(error),
                },
            },
            Err(error) => return Err(error),
        };
        let sqlite = |error| StorageError::from_sqlite(&location.path, error);
        let mode: String = connection
            .pragma_query_value(None, "journal_mode", |row| row.get(0))
            .map_err(sqlite)?;
        let page_size = connection
            .pragma_query_value(None, "page_size", |row| row.get(0))
            .map_err(sqlite)?;
        Ok(Some(Live {
            connection,
            real: open::real(&location.path),
            location,
            is_sound,
            has_log: mode == "wal",
            page_size,
        }))
    }
}

/// Opens a file whose content cannot be read as a store, as far as it can be locked.
fn open_damaged(location: &Location) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(open::real(&location.path), flags)?;
    open::configure(&connection, location.patience)?;
    // This reads the schema: what is no database shows itself here.
    connection.pragma_update(None, "synchronous", "FULL")?;
    let mut persist = 1;
    connection.file_control::<&str>(None, FileControl::PersistWal(&mut persist))?;
    connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK")?;
    Ok(connection)
}

/// Lets nobody write any more, until the connection is closed; others may read. A connection keeps its lock in this mode, and a
/// replacement begins without a transaction.
fn keep_writers_out(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK")
}

/// Takes out what the file would do by itself from then on: a copy may come from anybody, and only aizo's own triggers belong
/// into a store, which are made anew.
pub(super) fn take_out_what_runs(connection: &Connection) -> rusqlite::Result<()> {
    let found: Vec<(String, String)> = connection
        .prepare("SELECT type, name FROM sqlite_schema WHERE type IN ('trigger', 'view')")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (kind, name) in found {
        let name = name.replace('"', "\"\"");
        connection.execute_batch(&format!("DROP {kind} IF EXISTS \"{name}\""))?;
    }
    Ok(())
}

fn copy(source: &Connection, target: &mut Connection) -> rusqlite::Result<()> {
    to_the_end(&Backup::new(source, target)?)
}

#[cfg(test)]
mod tests {
    use rusqlite::ErrorCode;

    use super::*;
    use crate::model::{Change, EntryValues, Op, Origin, Stamp};
    use crate::storage::Store;

    /// A store with one entry.
    fn store(path: &Path, now: DateTime<Utc>) -> Location {
        let location = Location {
            path: path.to_path_buf(),
            patience: Duration::from_secs(5),
        };
        let values = EntryValues {
            item: Some("tabs".to_owned()),
            reason: Some("because".to_owned()),
            base_score: Some(8.0),
            source: Some("manual".to_owned()),
            origin: Some(Origin::User),
            added_at: Some(Stamp::at(now)),
            last_seen: Some(Stamp::at(now)),
            touch_count: Some(0),
            ..EntryValues::default()
        };
        let mut store = Store::open_for_writing(&location, now).expect("it opens");
        store
            .write(now, |transaction| {
                let uid = transaction.new_uid();
                let change = Change::create_entry(Op::Add, uid, Origin::User, &values);
                transaction.apply(&change).map(drop)
            })
            .expect("it writes");
        location
    }

    #[test]
    fn without_a_log_nobody_writes_between_the_look_and_the_replacement() {
        let folder = tempfile::tempdir().expect("a folder");
        let now = "2026-11-30T12:00:00Z".parse().expect("a time");
        let copy = store(&folder.path().join("copy.db"), now);
        let live = store(&folder.path().join("preferences.db"), now);
        // Whoever reads it keeps it from getting a log again.
        let reader = Connection::open(&live.path).expect("it opens");
        reader
            .pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))
            .and_then(|()| reader.execute_batch("BEGIN; SELECT count(*) FROM preferences"))
            .expect("it reads");
        let staged = Staged::from(&copy.path, &Memory::default(), now).expect("it is sound");
        let mut tried = None;
        let restored = staged.replace(&live, now, |view| {
            assert!(view.is_some(), "it can be read meanwhile");
            let other = Connection::open(&live.path).expect("it opens");
            other
                .busy_timeout(Duration::ZERO)
                .expect("it does not wait");
            tried = Some(other.execute("UPDATE preferences SET reason = 'late'", []));
            reader.execute_batch("COMMIT").expect("it has read");
            Ok::<(), StorageError>(())
        });
        let kept = restored.expect("it is restored").kept.expect("it is kept");
        let error = tried.expect("it was asked").expect_err("nobody writes");
        assert_eq!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy));
        // Afterwards it is anybody's again.
        let other = Connection::open(&live.path).expect("it opens");
        let changed = other.execute("UPDATE preferences SET reason = 'late'", []);
        assert_eq!(changed, Ok(1));
        assert!(kept.exists());
    }
}
