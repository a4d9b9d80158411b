//! A file is there as it was or as it will be and never in between: the new one is made beside it and takes its place at once.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::claim::{claimed, is_left, remove_left};
use super::found::failure;
use crate::error::Failure;

/// Who may read what is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Those who could before; of a new file, whom the mask of the process lets.
    AsBefore,
    /// The person alone.
    Owner,
}

/// The folders that a file needs and that are missing, each after the one around it.
pub fn missing_folders(file: &Path) -> Vec<PathBuf> {
    let mut missing: Vec<PathBuf> = file
        .ancestors()
        .skip(1)
        .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
        .map(Path::to_path_buf)
        .collect();
    missing.reverse();
    missing
}

/// Makes the folders that a file needs, and gives those that were missing.
///
/// # Errors
/// What the file system reports.
pub fn folders_for(file: &Path, readers: Readers) -> Result<Vec<PathBuf>, Failure> {
    let Some(folder) = file.parent() else {
        return Ok(Vec::new());
    };
    let missing = missing_folders(file);
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    if readers == Readers::Owner {
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    }
    #[cfg(not(unix))]
    let _the_folder_around_decides = readers;
    builder
        .create(folder)
        .map_err(|error| failure("cannot make", folder, &error))?;
    Ok(missing)
}

/// How the files are called that become others at once.
const NEW: &str = ".aizo-";
const NEW_END: &str = ".tmp";

/// A new file beside another, locked for as long as it is being written.
#[derive(Debug)]
pub(super) struct NewFile(tempfile::NamedTempFile);

impl NewFile {
    /// An empty one. Its rights are those that it will have, from the first byte on: nobody reads in it what nobody may read
    /// there.
    pub(super) fn beside(target: &Path, readers: Readers) -> io::Result<Self> {
        let folder = target.parent().unwrap_or(Path::new("."));
        let before = fs::metadata(target).ok();
        let mut builder = tempfile::Builder::new();
        builder.prefix(NEW).suffix(NEW_END);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let is_new = before.is_none() && readers == Readers::AsBefore;
            builder.permissions(fs::Permissions::from_mode(if is_new {
                0o666
            } else {
                0o600
            }));
        }
        let file = claimed(|| builder.tempfile_in(folder))?;
        if let Some(before) = before.filter(|_| readers == Readers::AsBefore) {
            file.as_file()
                .set_permissions(rights(file.as_file(), &before))?;
        }
        Ok(NewFile(file))
    }

    /// One with these bytes, which are on the disk.
    pub(super) fn holding(target: &Path, bytes: &[u8], readers: Readers) -> io::Result<Self> {
        let mut new = NewFile::beside(target, readers)?;
        new.0.write_all(bytes)?;
        new.0.as_file().sync_all()?;
        Ok(new)
    }

    pub(super) fn take_the_place_of(self, target: &Path) -> io::Result<()> {
        self.0.persist(target).map_err(|error| error.error)?;
        Ok(())
    }
}

/// The rights of the file that was there, whose owner and group the new one gets as far as they can be given.
#[cfg(unix)]
fn rights(file: &fs::File, before: &fs::Metadata) -> fs::Permissions {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let mut rights = before.permissions();
    // Only the administrator can give a file away, and only then it may be needed.
    let has_group = fchown(file, Some(before.uid()), Some(before.gid()))
        .or_else(|_| fchown(file, None, Some(before.gid())))
        .is_ok();
    if !has_group {
        rights.set_mode(without_group(rights.mode()));
    }
    rights
}

#[cfg(not(unix))]
fn rights(_file: &fs::File, before: &fs::Metadata) -> fs::Permissions {
    before.permissions()
}

/// The rights of a file in another group than before: the new group gets none, and everybody else none that the old one did
/// not have, since its members are among them now.
#[cfg(unix)]
fn without_group(mode: u32) -> u32 {
    let group = (mode >> 3) & 0o7;
    (mode & !0o077) | (mode & group)
}

/// Puts bytes into a file at once.
///
/// # Errors
/// What the file system reports.
pub fn replace(target: &Path, bytes: &[u8], readers: Readers) -> io::Result<()> {
    NewFile::holding(target, bytes, readers)?.take_the_place_of(target)
}

/// Removes what runs that were ended in the midst have left beside a file.
pub fn sweep(target: &Path) {
    for left in target.parent().map(leftovers).unwrap_or_default() {
        let _the_next_run_may = remove_left(&left);
    }
}

/// What runs that were ended in the midst have left in a folder.
pub fn leftovers(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = folder.read_dir() else {
        return Vec::new();
    };
    let is_named = |name: &str| {
        let random = name
            .strip_prefix(NEW)
            .and_then(|name| name.strip_suffix(NEW_END));
        random.is_some_and(|random| {
            random.len() == 6 && random.chars().all(|c| c.is_ascii_alphanumeric())
        })
    };
    entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(is_named))
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .map(|entry| entry.path())
        // Who is still writing holds the lock.
        .filter(|path| is_left(path))
        .collect()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn nobody_may_do_more_where_the_group_could_not_be_kept() {
        for (before, after) in [
            (0o600, 0o600),
            (0o660, 0o600),
            (0o664, 0o604),
            (0o644, 0o604),
            (0o604, 0o600),
            (0o646, 0o604),
        ] {
            assert_eq!(without_group(before), after, "{before:o}");
        }
    }
}
