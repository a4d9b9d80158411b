//! Files that are being written, and those that an ended run has left: who writes holds the lock, and who finds nobody holding it
//! may remove the file.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

/// So often a file is made anew that was swept between its making and its locking.
const TRIES: usize = 16;

/// Makes a file that nobody takes for one that was left: it is locked, and it stands under its name.
///
/// # Errors
/// What the file system reports.
pub fn claimed(make: impl Fn() -> io::Result<NamedTempFile>) -> io::Result<NamedTempFile> {
    for _ in 1..TRIES {
        let file = make()?;
        match file.as_file().try_lock() {
            Ok(()) if stands(&file) => return Ok(file),
            // Somebody is about to sweep it, or has.
            Ok(()) | Err(TryLockError::WouldBlock) => {}
            // Where nothing can be locked, nothing is swept.
            Err(TryLockError::Error(_)) => return Ok(file),
        }
    }
    make()
}

/// Whether the name still leads to the file.
#[cfg(unix)]
fn stands(file: &NamedTempFile) -> bool {
    use std::os::unix::fs::MetadataExt;
    let named = fs::symlink_metadata(file.path());
    let opened = file.as_file().metadata();
    let id = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    matches!((named.map(id), opened.map(id)), (Ok(named), Ok(opened)) if named == opened)
}

#[cfg(not(unix))]
fn stands(file: &NamedTempFile) -> bool {
    file.path().exists()
}

/// Whether nobody holds a file.
pub fn is_left(file: &Path) -> bool {
    File::open(file).is_ok_and(|file| file.try_lock().is_ok())
}

/// Removes a file that nobody holds, and holds it meanwhile: whoever has just made it sees that it is taken from them.
///
/// # Errors
/// Somebody holds it, and what the file system reports.
pub fn remove_left(path: &Path) -> io::Result<()> {
    let held = File::open(path)?;
    if cfg!(unix) {
        held.try_lock()?;
    }
    fs::remove_file(path)
}

#[cfg(all(test, unix))]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn a_file_that_is_swept_before_it_is_locked_is_made_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let is_first = AtomicBool::new(true);
        let file = claimed(|| {
            let file = NamedTempFile::new_in(folder.path())?;
            if is_first.swap(false, Ordering::Relaxed) {
                remove_left(file.path())?;
            }
            Ok(file)
        })
        .expect("it is made");
        assert!(file.path().exists());
        assert!(remove_left(file.path()).is_err(), "it is held");
    }

    #[test]
    fn who_sweeps_takes_nothing_from_who_writes() {
        let folder = tempfile::tempdir().expect("a folder");
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    for entry in fs::read_dir(folder.path()).expect("it reads").flatten() {
                        let _held = remove_left(&entry.path());
                    }
                }
            });
            for _ in 0..300 {
                let file = claimed(|| NamedTempFile::new_in(folder.path())).expect("it is made");
                assert!(file.path().exists());
                file.close().expect("it was there to the end");
            }
            is_over.store(true, Ordering::Relaxed);
        });
    }
}
