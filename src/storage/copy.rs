//! Copies of a store: kept beside it before something happens to all of it, and in memory for what is only tried.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OpenFlags};

use super::foreign::Foreign;
use super::{Location, Result, StorageError, Store, Transaction, migrate, open};

/// How the name of a copy begins that is not yet whole.
const UNFINISHED: &str = ".aizo-backup-";
/// How it ends when it is.
const KEPT: &str = ".bak";
/// So many copies of one occasion stay.
const MOST_KEPT: usize = 10;

impl Transaction<'_> {
    /// Keeps the store beside itself as it was when the transaction began. `occasion` stands in the name of the copy; of the
    /// same occasion the newest ones stay. Nothing comes back for a store in memory.
    ///
    /// # Errors
    /// A copy that cannot be written.
    pub fn keep_copy(&self, occasion: &str) -> Result<Option<PathBuf>> {
        if self.connection().path().is_none_or(str::is_empty) {
            return Ok(None);
        }
        let real = std::fs::canonicalize(self.path()).map_err(|cause| StorageError::Io {
            path: self.path().to_path_buf(),
            cause,
        })?;
        let kept = keep_beside(self.path(), &real, occasion, self.now())?;
        drop_old(&real, occasion);
        Ok(Some(kept))
    }
}

impl Store {
    /// A copy of a store in memory, for what is only tried; an empty one where there is no store.
    ///
    /// # Errors
    /// As [`Store::open_for_reading`].
    pub fn rehearsal(location: &Location, now: DateTime<Utc>) -> Result<Store> {
        let Some(store) = Store::open_for_reading(location, now)? else {
            return Store::in_memory(now);
        };
        let copy = in_memory(&store.connection, &location.path, now)?;
        if store.confirm() {
            return Ok(copy);
        }
        match Store::open_shared(location, now)? {
            Some(store) => in_memory(&store.connection, &location.path, now),
            None => Store::in_memory(now),
        }
    }

    /// A copy in memory of a store that is not ours to touch: nothing is written, neither to the file nor beside it.
    ///
    /// # Errors
    /// A file that cannot be read, holds something else, or is of a later version.
    pub fn taken_from(path: &Path, now: DateTime<Utc>) -> Result<Store> {
        let file = Foreign::open(path)?;
        in_memory(file.connection(), path, now)
    }
}

fn in_memory(source: &Connection, path: &Path, now: DateTime<Utc>) -> Result<Store> {
    let sqlite = |error| StorageError::from_sqlite(path, error);
    let mut connection = open::copy_to_memory(source).map_err(sqlite)?;
    migrate::bring_up_to_date(&mut connection, path, now, migrate::Backup::None)?;
    connection
        .pragma_update(None, "foreign_keys", true)
        .map_err(sqlite)?;
    Ok(Store::of(connection, path))
}

/// Keeps the file as it was beside the store, while the write lock is held. SQLite itself gives the bytes, over
/// a second connection that sees what was committed: reading the file by other means would drop this process's
/// locks on it.
pub(super) fn keep_beside(
    path: &Path,
    real: &Path,
    occasion: &str,
    now: DateTime<Utc>,
) -> Result<PathBuf> {
    let io = |cause: io::Error| match cause.kind() {
        io::ErrorKind::StorageFull => StorageError::Full {
            path: path.to_path_buf(),
        },
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            StorageError::ReadOnly {
                path: path.to_path_buf(),
            }
        }
        _ => StorageError::Io {
            path: path.to_path_buf(),
            cause,
        },
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let bytes = Connection::open_with_flags(real, flags)
        .and_then(|mut committed| committed.serialize("main").map(|data| data.to_vec()))
        .map_err(|error| StorageError::from_sqlite(path, error))?;
    let folder = folder_of(real);
    // A start that was killed here has left its copy behind, whole or in part. Nobody else is at it: the lock is
    // ours.
    for entry in std::fs::read_dir(folder).map_err(io)?.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_as_long = || {
            entry
                .metadata()
                .is_ok_and(|it| it.len() == bytes.len() as u64)
        };
        if name.starts_with(UNFINISHED) {
            let _gone_is_fine = std::fs::remove_file(entry.path());
        } else if name.ends_with(KEPT)
            && is_as_long()
            && std::fs::read(entry.path()).is_ok_and(|old| old == bytes)
        {
            return Ok(entry.path());
        }
    }
    let mut file = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .tempfile_in(folder)
        .map_err(io)?;
    file.write_all(&bytes).map_err(io)?;
    file.as_file().sync_all().map_err(io)?;
    let mut file = file;
    let mut attempt = 1;
    loop {
        let kept = name_of(real, occasion, now, attempt);
        match file.persist_noclobber(&kept) {
            Ok(_) => {
                open::sync_folder(folder);
                return Ok(kept);
            }
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                file = error.file;
                attempt += 1;
            }
            Err(error) => return Err(io(error.error)),
        }
    }
}

fn folder_of(real: &Path) -> &Path {
    real.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// `preferences.db.schema7-20261130T090000Z.bak`, with a number when there is one already.
fn name_of(real: &Path, occasion: &str, now: DateTime<Utc>, attempt: u32) -> PathBuf {
    let mut name = real.as_os_str().to_owned();
    name.push(format!(".{occasion}-{}", now.format("%Y%m%dT%H%M%SZ")));
    if attempt > 1 {
        name.push(format!("-{attempt}"));
    }
    name.push(KEPT);
    PathBuf::from(name)
}

/// Removes the oldest copies of an occasion. That one stays is no reason to fail.
fn drop_old(real: &Path, occasion: &str) {
    let Some(name) = real.file_name() else {
        return;
    };
    let prefix = format!("{}.{occasion}-", name.to_string_lossy());
    let Ok(entries) = std::fs::read_dir(folder_of(real)) else {
        return;
    };
    let mut kept: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with(&prefix) && name.ends_with(KEPT)
        })
        .map(|entry| entry.path())
        .collect();
    kept.sort();
    for old in kept.iter().rev().skip(MOST_KEPT) {
        let _stays_as_it_is = std::fs::remove_file(old);
    }
}
