//! One run at a time: what is recorded is read, changed and written while nobody else does so.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::swap::{Readers, folders_for};
use crate::error::{Failure, Kind};

/// How often a run asks whether the one before it has ended, and how long it waits in between.
const TRIES: u32 = 1000;
const PAUSE: Duration = Duration::from_millis(20);

/// The right to change what is recorded. It leaves nothing behind.
pub struct Lock {
    path: PathBuf,
    _held: File,
    /// The folders that were made for it, each after the one around it; they go with it where nothing else is in them.
    pub folders: Vec<PathBuf>,
}

impl Lock {
    /// Waits until nobody else has the right.
    ///
    /// # Errors
    /// Somebody keeps it, or the file system does not let us.
    pub fn take(path: &Path) -> Result<Self, Failure> {
        let message = || format!("another aizo holds {}", path.display());
        Self::within(path, TRIES)?.ok_or_else(|| {
            Failure::new(Kind::Locked, message()).hint("wait until it has ended, then say it again")
        })
    }

    /// Takes the right where nobody else has it.
    ///
    /// # Errors
    /// The file system does not let us.
    pub fn try_take(path: &Path) -> Result<Option<Self>, Failure> {
        Self::within(path, 1)
    }

    fn within(path: &Path, tries: u32) -> Result<Option<Self>, Failure> {
        let mut folders = Vec::new();
        for _ in 0..tries {
            folders.extend(folders_for(path, Readers::Owner)?);
            let file = match open(path) {
                Ok(file) => file,
                // Whoever had it has just taken the folder away.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => {
                    undo(&folders);
                    return Err(cannot(path, &error));
                }
            };
            match file.try_lock() {
                Ok(()) if is_at(&file, path) => {}
                // It was taken away while we waited.
                Ok(()) => continue,
                Err(TryLockError::WouldBlock) => {
                    std::thread::sleep(PAUSE);
                    continue;
                }
                // Not every file system has locks; it goes without.
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
                Err(TryLockError::Error(error)) => return Err(cannot(path, &error)),
            }
            return Ok(Some(Lock {
                path: path.to_path_buf(),
                _held: file,
                folders,
            }));
        }
        Ok(None)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _the_next_one_may = fs::remove_file(&self.path);
        undo(&self.folders);
    }
}

fn undo(folders: &[PathBuf]) {
    for folder in folders.iter().rev() {
        let _something_is_in_it = fs::remove_dir(folder);
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Whether the file that is held is the one that others find.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let name = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
        matches!((file.metadata(), fs::metadata(path)), (Ok(held), Ok(found)) if name(held.clone()) == name(found.clone()))
    }
    #[cfg(not(unix))]
    {
        file.metadata().is_ok() && path.exists()
    }
}

fn cannot(path: &Path, error: &io::Error) -> Failure {
    let kind = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Kind::ReadOnly,
        _ => Kind::Io,
    };
    Failure::new(kind, format!("cannot lock {}: {error}", path.display()))
}
