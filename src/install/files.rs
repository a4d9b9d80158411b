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
                let made = folders_for(&self.target)?;
                replace(&self.target, bytes)
                    .map_err(|error| failure("cannot write", &self.target, &error))?;
                Ok(made)
            }
            None => fs::remove_file(&self.target)
                .map(|()| Vec::new())
                .map_err(|error| failure("cannot remove", &self.target, &error)),
        }
    }
}

/// Makes the folders that a file needs.
///
/// # Errors
/// What the file system reports.
pub fn folders_for(file: &Path) -> Result<Vec<PathBuf>, Failure> {
    let Some(folder) = file.parent() else {
        return Ok(Vec::new());
    };
    let mut missing: Vec<PathBuf> = folder
        .ancestors()
        .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
        .map(Path::to_path_buf)
        .collect();
    missing.reverse();
    fs::create_dir_all(folder).map_err(|error| failure("cannot make", folder, &error))?;
    Ok(missing)
}

/// Puts bytes into a file at once, with the rights that it had.
///
/// # Errors
/// What the file system reports.
pub fn replace(target: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = target.parent().unwrap_or(Path::new("."));
    let before = fs::metadata(target).ok();
    let mut builder = tempfile::Builder::new();
    builder.prefix(".aizo-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As a new file would have it: the mask of the process applies.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    if let Some(before) = before {
        file.as_file().set_permissions(before.permissions())?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            // Only the administrator can give a file away, and only then it may be needed.
            let _own_file =
                std::os::unix::fs::fchown(file.as_file(), Some(before.uid()), Some(before.gid()));
        }
    }
    file.as_file().sync_all()?;
    file.persist(target).map_err(|error| error.error)?;
    Ok(())
}

/// Closes a file or folder to everybody else. Where that cannot be done, it is as the others there.
pub fn for_the_person(path: &Path, mode: u32) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let _as_the_others = std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _the_folder_decides = (path, mode);
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
