//! What can go wrong with a store, sorted once, each naming the path and what to try.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::log;
use crate::model::{ChangeError, quoted};

/// What went wrong with a store.
#[derive(Debug, Error)]
pub enum StorageError {
    /// The path is a folder.
    #[error("{} is a folder, not a store", path.display())]
    Folder {
        /// The path.
        path: PathBuf,
    },
    /// The file is something else.
    #[error("{} is not a database", path.display())]
    NotADatabase {
        /// The path.
        path: PathBuf,
    },
    /// A database of another program.
    #[error("{} is a database of another program ({why})", path.display())]
    Foreign {
        /// The path.
        path: PathBuf,
        /// How that shows.
        why: String,
    },
    /// A store of a later version.
    #[error("{} has schema {found}; this aizo {} knows up to {known}", path.display(), env!("CARGO_PKG_VERSION"))]
    Newer {
        /// The path.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest schema of this program.
        known: i64,
    },
    /// A file that is read without locks was written meanwhile.
    #[error("{} was written while it was read", path.display())]
    Changed {
        /// The path.
        path: PathBuf,
    },
    /// Another process holds the lock for too long.
    #[error("{} is locked by another process", path.display())]
    Locked {
        /// The path.
        path: PathBuf,
    },
    /// The file or its folder cannot be written.
    #[error("cannot write {}: the file or its folder is read-only", path.display())]
    ReadOnly {
        /// The path.
        path: PathBuf,
    },
    /// A file that SQLite keeps beside the store cannot be written.
    #[error("cannot write {}: {} beside it may not be written", path.display(), file.display())]
    Beside {
        /// The path.
        path: PathBuf,
        /// The file in the way.
        file: PathBuf,
    },
    /// A file that is not to be written over.
    #[error("{} is there already; it was left as it is", path.display())]
    Exists {
        /// The path.
        path: PathBuf,
    },
    /// SQLite's log needs memory that processes share through a file, and there is none where the store lies.
    #[error("cannot share memory between processes where {} lies", path.display())]
    Unshared {
        /// The path.
        path: PathBuf,
    },
    /// No space is left.
    #[error("cannot write {}: no space is left on its disk", path.display())]
    Full {
        /// The path.
        path: PathBuf,
    },
    /// The file is damaged.
    #[error("{} is damaged: {detail}", path.display())]
    Damaged {
        /// The path.
        path: PathBuf,
        /// What SQLite said.
        detail: String,
    },
    /// The file or folder cannot be reached.
    #[error("cannot open {}: {cause}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// Anything else that SQLite reports.
    #[error("{}: {detail}", path.display())]
    Sqlite {
        /// The path.
        path: PathBuf,
        /// What SQLite said.
        detail: String,
    },
    /// A value that may not enter the store.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// Another entry has the item already.
    #[error("“{item}” is already the item of entry {id} (“{other}”)")]
    ItemTaken {
        /// The item that was wanted.
        item: String,
        /// The entry that has it.
        id: i64,
        /// How that entry spells it.
        other: String,
    },
    /// There is no such change in the journal.
    #[error("there is no change {number}")]
    NoChange {
        /// The number that was given.
        number: i64,
    },
    /// The journal has nothing that could be taken back.
    #[error("there is nothing to undo")]
    NothingToUndo,
    /// A change that cannot be taken back.
    #[error("change {number} ({op}) cannot be undone: {why}")]
    CannotUndo {
        /// Its number.
        number: i64,
        /// What it did.
        op: String,
        /// Why not.
        why: String,
    },
    /// A later change stands in the way of an undo.
    #[error(
        "change {number} cannot be undone: change {later} ({op}) touched the same fields of “{item}” later"
    )]
    LaterChange {
        /// The change to be taken back.
        number: i64,
        /// The later one.
        later: i64,
        /// What the later one did.
        op: String,
        /// The entry.
        item: String,
    },
    /// What an undo would bring back has a successor.
    #[error("change {number} cannot be undone: “{item}” has a successor, entry {id} (“{other}”)")]
    InTheWay {
        /// The change to be taken back.
        number: i64,
        /// The item.
        item: String,
        /// The entry that has it now.
        id: i64,
        /// How that entry spells it.
        other: String,
    },
    /// A journal line of a later version.
    #[error("{}: journal line {seq} cannot be read: {detail}", path.display())]
    Journal {
        /// The path.
        path: PathBuf,
        /// The line.
        seq: i64,
        /// What is wrong with it.
        detail: String,
    },
}

impl StorageError {
    /// What the user can try, where there is something.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            StorageError::Folder { .. } => "name a file: --db FILE, or AIZO_DB_PATH".into(),
            StorageError::NotADatabase { .. } => {
                "if it was a store, aizo doctor names the copy to put back; else name another file with --db FILE or AIZO_DB_PATH".into()
            }
            StorageError::Foreign { .. } => {
                "name another file with --db FILE or AIZO_DB_PATH; this one was not changed".into()
            }
            StorageError::Newer { .. } => "update aizo: cargo install aizo".into(),
            StorageError::Changed { .. } => "run the command again".into(),
            StorageError::Locked { .. } => "try again when the other process is done".into(),
            StorageError::ReadOnly { path } => format!(
                "make {} and its folder writable, or name another store with --db FILE",
                path.display()
            ),
            StorageError::Beside { file, .. } => format!(
                "another user has left it: let its owner run aizo, or change the owner of {}",
                file.display()
            ),
            StorageError::Full { .. } => {
                "free some space and try again; nothing was changed".into()
            }
            StorageError::Unshared { .. } => {
                "name a store on a disk of this machine: --db FILE, or AIZO_DB_PATH".into()
            }
            StorageError::Exists { .. } => "name another file, or a folder".into(),
            StorageError::Damaged { .. } => {
                "aizo doctor names the copy to put back; aizo restore FILE puts it in its place".into()
            }
            StorageError::Io { .. } => {
                "check that the folder exists and may be read, or name another store with --db FILE"
                    .into()
            }
            StorageError::ItemTaken { other, .. } => {
                format!(
                    "choose another name, or remove the other one: aizo remove {}",
                    quoted(other)
                )
            }
            StorageError::NoChange { .. } => "aizo history lists the changes".into(),
            StorageError::LaterChange { later, .. } => {
                format!("undo that one first: aizo undo {later}")
            }
            StorageError::CannotUndo { op, .. } if op == "forget" => {
                "an earlier change is taken back by its number: aizo history".into()
            }
            StorageError::Journal { .. } => "update aizo: cargo install aizo".into(),
            _ => return None,
        };
        Some(text)
    }

    /// Whether a change stands because it cannot be taken back.
    pub(super) fn is_about_undoing(&self) -> bool {
        matches!(
            self,
            StorageError::CannotUndo { .. }
                | StorageError::LaterChange { .. }
                | StorageError::InTheWay { .. }
        )
    }

    /// Whether the file is there and cannot be read as what it should be.
    pub(crate) fn is_damage(&self) -> bool {
        matches!(
            self,
            StorageError::Damaged { .. }
                | StorageError::NotADatabase { .. }
                | StorageError::Sqlite { .. }
                | StorageError::Journal { .. }
        )
    }

    /// Whether SQLite makes nothing of the file.
    pub(super) fn is_no_database(&self) -> bool {
        matches!(
            self,
            StorageError::Damaged { .. } | StorageError::NotADatabase { .. }
        )
    }

    /// Whether the store could not be written but may still be read.
    pub(crate) fn is_about_writing(&self) -> bool {
        matches!(
            self,
            StorageError::Locked { .. }
                | StorageError::ReadOnly { .. }
                | StorageError::Beside { .. }
                | StorageError::Unshared { .. }
                | StorageError::Full { .. }
                | StorageError::Io { .. }
        )
    }

    /// Sorts what the system reports about the file at `path`.
    pub(crate) fn from_io(path: &Path, cause: io::Error) -> Self {
        let path = path.to_path_buf();
        match cause.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                StorageError::ReadOnly { path }
            }
            io::ErrorKind::StorageFull => StorageError::Full { path },
            _ => StorageError::Io { path, cause },
        }
    }

    /// Sorts what SQLite reports about the file at `path`.
    pub(crate) fn from_sqlite(path: &Path, error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        let path = path.to_path_buf();
        let code = error.sqlite_error_code();
        let detail = error.to_string();
        if log::is_unshared(&error) {
            return StorageError::Unshared { path };
        }
        match code {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                StorageError::Locked { path }
            }
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                StorageError::ReadOnly { path }
            }
            Some(ErrorCode::DiskFull) => StorageError::Full { path },
            Some(ErrorCode::NotADatabase) => StorageError::NotADatabase { path },
            Some(ErrorCode::DatabaseCorrupt) => StorageError::Damaged { path, detail },
            Some(ErrorCode::CannotOpen) if path.exists() => StorageError::ReadOnly { path },
            Some(ErrorCode::CannotOpen) => StorageError::Io {
                path,
                cause: io::Error::other(detail),
            },
            _ => StorageError::Sqlite { path, detail },
        }
    }
}
