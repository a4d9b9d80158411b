//! The one place that reads and writes other programs' settings: links are followed, a file is there as it was or as it will be
//! and never in between, and nothing is written over what has changed meanwhile.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{Failure, Kind};

/// Longer files are no settings.
const LONGEST: u64 = 64 * 1024 * 1024;

/// A file as it was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// The file that is written, where the path is a link.
    pub target: PathBuf,
    /// What is in it; nothing where there is none.
    pub bytes: Option<Vec<u8>>,
}

impl Found {
    /// Reads a file.
    ///
    /// # Errors
    /// It is there and cannot be read, or is no file.
    pub fn at(path: &Path) -> Result<Self, Failure> {
        let target = target(path);
        match fs::metadata(&target) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Found {
                    target,
                    bytes: None,
                });
            }
            Err(error) => return Err(failure("cannot read", path, &error)),
            Ok(metadata) if !metadata.is_file() => {
                let message = format!("{} is not a file", path.display());
                return Err(Failure::new(Kind::Io, message));
            }
            Ok(metadata) if metadata.len() > LONGEST => {
                let message = format!("{} is too long for a settings file", path.display());
                return Err(Failure::new(Kind::Io, message));
            }
            Ok(_) => {}
        }
        let bytes = fs::read(&target).map_err(|error| failure("cannot read", path, &error))?;
        Ok(Found {
            target,
            bytes: Some(bytes),
        })
    }

    /// Makes sure that the file may be written: a file that its owner has closed stays closed.
    ///
    /// # Errors
    /// It may not.
    pub fn may_be_written(&self) -> Result<(), Failure> {
        let closed =
            fs::metadata(&self.target).is_ok_and(|metadata| metadata.permissions().readonly());
        if closed {
            let message = format!(
                "{} is read-only; it was left as it is",
                self.target.display()
            );
            return Err(Failure::new(Kind::ReadOnly, message).hint("make it writable first"));
        }
        Ok(())
    }

    /// Makes sure that there is a folder in which the file can be written, without leaving anything there.
    ///
    /// # Errors
    /// There is none.
    pub fn has_room(&self) -> Result<(), Failure> {
        let mut folders = self.target.ancestors().skip(1);
        let nearest = folders.find(|folder| folder.symlink_metadata().is_ok());
        let nearest = nearest.unwrap_or(Path::new("."));
        if !nearest.is_dir() {
            let message = format!(
                "cannot write {}: {} is not a folder",
                self.target.display(),
                nearest.display()
            );
            return Err(Failure::new(Kind::Io, message));
        }
        beside(&nearest.join("new"), Readers::Owner)
            .map(drop)
            .map_err(|error| failure("cannot write", &self.target, &error))
    }

    /// Writes the file, or removes it. The folders that were made for it come back, each after the one around it.
    ///
    /// # Errors
    /// What the file system reports, and that somebody else has written meanwhile.
    pub fn write(&self, bytes: Option<&[u8]>) -> Result<Vec<PathBuf>, Failure> {
        if Found::at(&self.target)?.bytes != self.bytes {
            let message = format!("{} was changed meanwhile", self.target.display());
            return Err(Failure::new(Kind::Conflict, message).hint("say it again"));
        }
        match bytes {
            Some(bytes) => {
                let made = folders_for(&self.target, Readers::AsBefore)?;
                if let Err(error) = replace(&self.target, bytes, Readers::AsBefore) {
                    for folder in made.iter().rev() {
                        let _something_is_in_it = fs::remove_dir(folder);
                    }
                    return Err(failure("cannot write", &self.target, &error));
                }
                Ok(made)
            }
            None => fs::remove_file(&self.target)
                .map(|()| Vec::new())
                .map_err(|error| failure("cannot remove", &self.target, &error)),
        }
    }
}

/// Who may read what is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Those who could before; of a new file, whom the mask of the process lets.
    AsBefore,
    /// The person alone.
    Owner,
}

/// Makes the folders that a file needs, and gives those that were missing.
///
/// # Errors
/// What the file system reports.
pub fn folders_for(file: &Path, readers: Readers) -> Result<Vec<PathBuf>, Failure> {
    let Some(folder) = file.parent() else {
        return Ok(Vec::new());
    };
    let mut missing: Vec<PathBuf> = folder
        .ancestors()
        .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
        .map(Path::to_path_buf)
        .collect();
    missing.reverse();
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

/// A new file beside another, locked for as long as it is being written. Its rights are those that it will have, from the
/// first byte on: nobody reads in it what nobody may read there.
fn beside(target: &Path, readers: Readers) -> io::Result<tempfile::NamedTempFile> {
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
    let file = builder.tempfile_in(folder)?;
    // Where nothing can be locked, nothing is swept.
    let _as_far_as_it_goes = file.as_file().try_lock();
    if let Some(before) = before.filter(|_| readers == Readers::AsBefore) {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            // Only the administrator can give a file away, and only then it may be needed.
            let _own_file =
                std::os::unix::fs::fchown(file.as_file(), Some(before.uid()), Some(before.gid()));
        }
        file.as_file().set_permissions(before.permissions())?;
    }
    Ok(file)
}

/// Puts bytes into a file at once.
///
/// # Errors
/// What the file system reports.
pub fn replace(target: &Path, bytes: &[u8], readers: Readers) -> io::Result<()> {
    let mut file = beside(target, readers)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(target).map_err(|error| error.error)?;
    Ok(())
}

/// Removes what runs that were ended in the midst have left beside a file.
pub fn sweep(target: &Path) {
    let Some(entries) = target.parent().and_then(|folder| folder.read_dir().ok()) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let random = name
            .to_str()
            .and_then(|name| name.strip_prefix(NEW)?.strip_suffix(NEW_END));
        let is_named = random.is_some_and(|random| {
            random.len() == 6 && random.chars().all(|c| c.is_ascii_alphanumeric())
        });
        if !is_named || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        // Who is still writing holds the lock.
        let is_left = fs::File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok());
        if is_left {
            let _the_next_run_may = fs::remove_file(entry.path());
        }
    }
}

/// The file behind a link, also where it is not there yet.
fn target(path: &Path) -> PathBuf {
    let mut target = path.to_path_buf();
    for _ in 0..40 {
        let Ok(next) = fs::read_link(&target) else {
            break;
        };
        target = target.parent().unwrap_or(Path::new("")).join(next);
    }
    target
}

fn failure(what: &str, path: &Path, error: &io::Error) -> Failure {
    let kind = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Kind::ReadOnly,
        io::ErrorKind::StorageFull => Kind::DiskFull,
        _ => Kind::Io,
    };
    Failure::new(kind, format!("{what} {}: {error}", path.display()))
}
