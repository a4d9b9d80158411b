//! A copy that is being made: filled from a store, looked at again, and put under its name; and what is left of those that
//! never were.

use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::backup::StepResult;
use rusqlite::{Connection, ErrorCode, OpenFlags, ffi};
use tempfile::NamedTempFile;

use super::folder_of;
use crate::files;
use crate::storage::open::{self, immutable_uri};
use crate::storage::{Result, StorageError, Totals, View};

/// How the name of a copy begins that is not yet whole.
const UNFINISHED: &str = ".aizo-backup-";

/// The tables that are counted in a store and in its copy.
const COUNTED: [&str; 6] = [
    "preferences",
    "preference_scenarios",
    "evidence",
    "proposals",
    "sessions",
    "journal",
];

/// A copy that has no name of its own yet. It is locked, so that nobody takes it for one that was left.
pub struct Unfinished {
    pub(super) file: NamedTempFile,
}

impl Unfinished {
    pub(super) fn empty(folder: &Path) -> Result<Self> {
        sweep(folder);
        let mut builder = tempfile::Builder::new();
        builder.prefix(UNFINISHED);
        let make = || builder.tempfile_in(folder);
        let file = if cfg!(unix) {
            files::claimed(make)
        } else {
            make()
        };
        let file = file.map_err(|cause| StorageError::from_io(folder, cause))?;
        Ok(Unfinished { file })
    }

    /// Copies one state of a store into a folder, and compares what can be counted.
    pub fn of(source: &Connection, store: &Path, folder: &Path) -> Result<Self> {
        let mut copy = Unfinished::empty(folder)?;
        copy.fill(source)
            .map_err(|error| fault(store, copy.file.path(), error))?;
        copy.settle()
            .map_err(|cause| StorageError::from_io(folder, cause))?;
        Ok(copy)
    }

    fn fill(&mut self, source: &Connection) -> rusqlite::Result<()> {
        let state = source.unchecked_transaction()?;
        // A damaged store is copied as it is.
        let before = counts(source).ok();
        {
            let mut target = connect(self.file.path())?;
            let backup = rusqlite::backup::Backup::new(source, &mut target)?;
            to_the_end(&backup)?;
        }
        drop(state);
        let after = self.open().and_then(|copy| counts(&copy));
        match before {
            Some(before) if after.as_ref().ok() != Some(&before) => Err(after
                .err()
                .unwrap_or_else(|| damage("the copy holds something else"))),
            _ => Ok(()),
        }
    }

    /// Makes it a file that stands alone, and sees to it that it is on the disk.
    fn settle(&mut self) -> io::Result<()> {
        // Where the store has a log, the copy says so too, and whoever opens it would make one.
        const VERSIONS: u64 = 18;
        let file = self.file.as_file_mut();
        file.seek(SeekFrom::Start(VERSIONS))?;
        file.write_all(&[1, 1])?;
        file.sync_all()
    }

    /// Opens it without leaving anything beside it.
    fn open(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI;
        Connection::open_with_flags(immutable_uri(self.file.path()), flags)
    }

    pub(super) fn length(&self) -> Result<u64> {
        let metadata = self.file.as_file().metadata();
        metadata
            .map(|metadata| metadata.len())
            .map_err(|cause| StorageError::from_io(self.file.path(), cause))
    }

    /// Opens it again and looks at all of it.
    pub(super) fn must_be_sound(&self, store: &Path) -> Result<Totals> {
        let copy = self
            .open()
            .map_err(|error| StorageError::from_sqlite(store, error))?;
        must_be_sound(&copy, store)?;
        View::new(&copy, store).totals()
    }

    /// Puts it in the place of a file.
    pub fn take_the_place_of(self, path: &Path) -> Result<()> {
        self.file
            .persist(path)
            .map_err(|error| StorageError::from_io(path, error.error))?;
        open::sync_folder(folder_of(path));
        Ok(())
    }
}

/// Opens a file that nobody else knows, to be filled. SQLite locks nothing: the file is locked already.
fn connect(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let target = if cfg!(unix) {
        Connection::open_with_flags_and_vfs(file, flags, "unix-none")?
    } else {
        Connection::open_with_flags(file, flags)?
    };
    target.execute_batch(
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF",
    )?;
    Ok(target)
}

/// Runs a copy to its end. A file without a log may be held by somebody who writes.
pub fn to_the_end(backup: &rusqlite::backup::Backup<'_, '_>) -> rusqlite::Result<()> {
    step(backup, -1, Duration::from_secs(10))
}

/// Copies some pages, or with -1 all; without any it takes the lock of the target.
pub fn step(
    backup: &rusqlite::backup::Backup<'_, '_>,
    pages: i32,
    patience: Duration,
) -> rusqlite::Result<()> {
    const PAUSE: Duration = Duration::from_millis(5);
    let begun = Instant::now();
    loop {
        match backup.step(pages)? {
            StepResult::Busy | StepResult::Locked if begun.elapsed() > patience => {
                let busy = ffi::Error::new(ffi::SQLITE_BUSY);
                return Err(rusqlite::Error::SqliteFailure(busy, None));
            }
            StepResult::Busy | StepResult::Locked => std::thread::sleep(PAUSE),
            _ => return Ok(()),
        }
    }
}

/// What `integrity_check` finds, at most so many.
pub fn problems(connection: &Connection, most: usize) -> rusqlite::Result<Vec<String>> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let mut statement = connection.prepare(&format!("PRAGMA integrity_check({most})"))?;
    let found: Vec<String> = statement
        .query_map([], |row| crate::storage::read::text(row, 0))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(found.into_iter().filter(|line| line != "ok").collect())
}

/// Fails where SQLite finds a database damaged.
pub fn must_be_sound(connection: &Connection, path: &Path) -> Result<()> {
    let found = problems(connection, 1);
    let found = found.map_err(|error| StorageError::from_sqlite(path, error))?;
    match found.into_iter().next() {
        None => Ok(()),
        Some(detail) => Err(StorageError::Damaged {
            path: path.to_path_buf(),
            detail,
        }),
    }
}

/// How many rows each table has.
fn counts(connection: &Connection) -> rusqlite::Result<Vec<(&'static str, i64)>> {
    let mut counts = Vec::new();
    for table in COUNTED {
        let exists: bool = connection.query_row(
            "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1",
            [table],
            |row| row.get(0),
        )?;
        if exists {
            let sql = format!("SELECT count(*) FROM {table}");
            counts.push((table, connection.query_row(&sql, [], |row| row.get(0))?));
        }
    }
    Ok(counts)
}

fn damage(what: &str) -> rusqlite::Error {
    let corrupt = ffi::Error::new(ffi::SQLITE_CORRUPT);
    rusqlite::Error::SqliteFailure(corrupt, Some(what.to_owned()))
}

/// What went wrong with a copy: writing it, or reading the store.
fn fault(store: &Path, copy: &Path, error: rusqlite::Error) -> StorageError {
    let is_about_writing = matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DiskFull | ErrorCode::ReadOnly | ErrorCode::PermissionDenied)
    );
    let path = if is_about_writing {
        folder_of(copy)
    } else {
        store
    };
    StorageError::from_sqlite(path, error)
}

/// Copies in a folder that nobody is writing any more.
pub(super) fn unfinished(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = folder.read_dir() else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(UNFINISHED))
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .map(|entry| entry.path())
        .filter(|path| is_left(path))
        .collect()
}

/// Whether nobody holds a file. Where files are not locked so, one that is written cannot be removed.
fn is_left(file: &Path) -> bool {
    if cfg!(unix) {
        files::is_left(file)
    } else {
        file.is_file()
    }
}

/// Removes what runs that were ended have left in a folder.
pub fn sweep(folder: &Path) {
    for left in unfinished(folder) {
        let _the_next_run_may = files::remove_left(&left);
    }
}
