//! The store: one SQLite file with its rows and its journal. The only place that names rusqlite.
//!
//! Everything that alters the store is a [`Change`](crate::model::Change) applied in a
//! [`Transaction`], which writes the rows, the evidence and the journal lines together. Reading never
//! writes; `open.rs` tells how a file is opened without touching it.

mod adopt;
mod analysed;
mod backup;
mod copy;
mod fault;
pub mod foreign;
mod forget;
mod index;
mod inspect;
mod journal;
mod listing;
mod log;
mod migrate;
mod open;
mod portable;
mod read;
mod receive;
mod related;
mod replay;
mod restore;
mod search;
mod secrets;
mod shown;
mod standing;
mod state;
mod undo;
mod write;

use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{DateTime, Utc};
use rusqlite::Connection;
use rusqlite::config::DbConfig;

pub use analysed::{AnalysedSession, TaughtBefore};
pub use backup::Backup;
pub use fault::StorageError;
pub use forget::{Memory, Mention, Names, Owed, Record, Rewritten, StaysForgotten, copy_speaks_of};
pub use listing::Listing;
pub use migrate::SCHEMA_VERSION;
pub use open::make_private_folder;
pub use read::{KeywordCount, Source, Totals, View};
pub use receive::{More, Rebuilt, Received};
pub use restore::{Restored, Staged};
pub use state::{Difference, Differing, How};
pub use undo::{Left, Undoing, Undone};
pub use write::{Applied, Transaction};

/// The result of everything that a store does.
pub type Result<T> = std::result::Result<T, StorageError>;

/// Where a store is, and how long to wait for its lock.
#[derive(Debug, Clone)]
pub struct Location {
    /// The file.
    pub path: PathBuf,
    /// How long a writer waits for another one.
    pub patience: Duration,
}

/// An open store.
pub struct Store {
    connection: Connection,
    path: PathBuf,
    /// What the file looked like, where it is read without locks.
    fingerprint: Option<open::Fingerprint>,
    /// Why a copy is read instead of the file itself.
    copied_because: Option<String>,
    /// Where the file is kept as it was before it was brought up to date just now.
    kept_as: Option<PathBuf>,
    /// Whether it has just been found that the file can have no log where it lies.
    lost_log: bool,
}

impl Store {
    /// A store that is read and written as it is.
    fn of(connection: Connection, path: &Path) -> Self {
        Store {
            connection,
            path: path.to_path_buf(),
            fingerprint: None,
            copied_because: None,
            kept_as: None,
            lost_log: false,
        }
    }

    /// Whether there is something to open at a path: a file that is not empty and may be a store.
    ///
    /// # Errors
    /// A path that holds something else, or cannot be read.
    pub fn exists(path: &Path) -> Result<bool> {
        open::exists(path)
    }

    /// Fails where a store that is there may not be written, or what SQLite keeps beside it.
    ///
    /// # Errors
    /// As told.
    pub fn write_access(path: &Path) -> Result<()> {
        open::write_access(path)
    }

    /// Something else whenever anybody may have changed the store at a path, without opening it.
    pub fn stamp(path: &Path) -> String {
        open::stamp(path)
    }

    /// Opens a store to read it. Nothing is there yet: nothing comes back, and nothing is made.
    ///
    /// # Errors
    /// A path that holds something else, or cannot be read.
    pub fn open_for_reading(location: &Location, now: DateTime<Utc>) -> Result<Option<Store>> {
        open::for_reading(location, now, open::Sharing::Quiet)
    }

    /// Opens a store to read it with SQLite's own locks: for when [`Store::confirm`] has failed.
    ///
    /// # Errors
    /// As [`Store::open_for_reading`].
    pub fn open_shared(location: &Location, now: DateTime<Utc>) -> Result<Option<Store>> {
        open::for_reading(location, now, open::Sharing::Locked)
    }

    /// Opens a store to write it, makes it when it is not there, and brings an older one up to date.
    ///
    /// # Errors
    /// A path that holds something else, or cannot be written.
    pub fn open_for_writing(location: &Location, now: DateTime<Utc>) -> Result<Store> {
        open::for_writing(location, now)
    }

    /// Makes a store in memory, for tests and replays.
    ///
    /// # Errors
    /// Only what SQLite reports.
    pub fn in_memory(now: DateTime<Utc>) -> Result<Store> {
        open::in_memory(now)
    }

    /// What can be read.
    pub fn view(&self) -> View<'_> {
        View::new(&self.connection, &self.path)
    }

    /// Runs `read` on one state of the store.
    ///
    /// # Errors
    /// What `read` reports, and what SQLite reports.
    pub fn snapshot<T, E: From<StorageError>>(
        &self,
        read: impl FnOnce(&View<'_>) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let transaction = self
            .connection
            .unchecked_transaction()
            .map_err(|error| StorageError::from_sqlite(&self.path, error))?;
        let answer = read(&View::new(&transaction, &self.path))?;
        Ok(answer)
    }

    /// Leaves the file to the end of the process, which closes it at once: taking the connection apart is a twentieth of a
    /// recall. Only for a store that was read.
    pub fn leave_open(self) {
        std::mem::forget(self);
    }

    /// Runs `write` in one transaction; all of it is stored, or, when it fails, nothing.
    ///
    /// What another program wrote meanwhile is adopted into the journal first.
    ///
    /// # Errors
    /// What `write` reports, a lock that does not come free, a file that cannot be written.
    pub fn write<T, E: From<StorageError>>(
        &mut self,
        now: DateTime<Utc>,
        write: impl FnOnce(&mut Transaction<'_>) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let mut transaction = Transaction::begin(&mut self.connection, &self.path, now)?;
        let answer = write(&mut transaction)?;
        transaction.commit()?;
        Ok(answer)
    }

    /// Lets what is written from now on wait for the disk no longer than for the system: a power cut may take it back, and
    /// nothing that was there before. Only for what belongs to this device, such as what was shown in a conversation.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn relax(&self) -> Result<()> {
        self.connection
            .pragma_update(None, "synchronous", "NORMAL")
            .and_then(|()| {
                // The log is written back by the next one who changes something.
                let no_checkpoint = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
                self.connection.set_db_config(no_checkpoint, true)
            })
            .map(|_| ())
            .map_err(|error| StorageError::from_sqlite(&self.path, error))
    }

    /// Holds on to one state of the store until it is dropped.
    fn begin_reading(&self) -> Result<()> {
        self.connection
            .execute_batch("BEGIN")
            .map_err(|error| StorageError::from_sqlite(&self.path, error))
    }

    /// Whether what was read is one state of the file: always true, but where the file was read without
    /// locks and somebody has begun to write it meanwhile.
    pub fn confirm(&self) -> bool {
        self.fingerprint
            .as_ref()
            .is_none_or(open::Fingerprint::still_holds)
    }

    /// Why a copy of the file is read instead of the file, where that is so.
    pub fn copied_because(&self) -> Option<&str> {
        self.copied_because.as_deref()
    }

    /// Where the file as it was is kept, where it was brought up to date just now.
    pub fn kept_as(&self) -> Option<&Path> {
        self.kept_as.as_deref()
    }

    /// Whether it was found just now that the file can have no log where it lies, so that who reads and who writes wait for
    /// each other.
    pub fn has_lost_its_log(&self) -> bool {
        self.lost_log
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
