//! A file as it was found: links are followed, and nothing is written over what has changed meanwhile.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::swap::{NewFile, Readers, folders_for};
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
        NewFile::beside(&nearest.join("new"), Readers::Owner)
            .map(drop)
            .map_err(|error| failure("cannot write", &self.target, &error))
    }

    /// Writes the file, and makes the folders that it needs; or removes it.
    ///
    /// # Errors
    /// What the file system reports, and that somebody else has written meanwhile.
    pub fn write(&self, bytes: Option<&[u8]>) -> Result<(), Failure> {
        self.must_be_as_found()?;
        let Some(bytes) = bytes else {
            return fs::remove_file(&self.target)
                .map_err(|error| failure("cannot remove", &self.target, &error));
        };
        let made = folders_for(&self.target, Readers::AsBefore)?;
        let written = NewFile::holding(&self.target, bytes, Readers::AsBefore)
            .map_err(|error| failure("cannot write", &self.target, &error))
            .and_then(|new| self.give_way(new));
        if written.is_err() {
            for folder in made.iter().rev() {
                let _something_is_in_it = fs::remove_dir(folder);
            }
        }
        written
    }

    /// Lets a new file take the place of this one. It is compared at the last moment: until the bytes of the new one are on
    /// the disk, a host may have written.
    fn give_way(&self, new: NewFile) -> Result<(), Failure> {
        self.must_be_as_found()?;
        new.take_the_place_of(&self.target)
            .map_err(|error| failure("cannot write", &self.target, &error))
    }

    fn must_be_as_found(&self) -> Result<(), Failure> {
        if Found::at(&self.target)?.bytes == self.bytes {
            return Ok(());
        }
        let message = format!("{} was changed meanwhile", self.target.display());
        Err(Failure::new(Kind::Conflict, message).hint("say it again"))
    }
}

/// Where a path leads through links, if that is elsewhere than its names say from `base` on. A file that is not there yet
/// counts too.
pub fn leads_to(path: &Path, base: &Path) -> Option<PathBuf> {
    let place = real(&target(path));
    let goes_up = |rest: &Path| rest.components().any(|part| part == Component::ParentDir);
    let (folder, rest) = match path.strip_prefix(base) {
        Ok(rest) if !goes_up(rest) => (base, rest),
        _ => (path.parent()?, Path::new(path.file_name()?)),
    };
    (place != real(folder).join(rest)).then_some(place)
}

/// A path without links, as far as it is there.
pub fn real(path: &Path) -> PathBuf {
    let known = path
        .ancestors()
        .find_map(|there| Some((there.canonicalize().ok()?, path.strip_prefix(there).ok()?)));
    match known {
        Some((there, rest)) if rest.as_os_str().is_empty() => there,
        Some((there, rest)) => there.join(rest),
        None => path.to_path_buf(),
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

pub(super) fn failure(what: &str, path: &Path, error: &io::Error) -> Failure {
    let kind = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Kind::ReadOnly,
        io::ErrorKind::StorageFull => Kind::DiskFull,
        _ => Kind::Io,
    };
    Failure::new(kind, format!("{what} {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_host_writes_while_the_new_file_is_made_is_not_lost() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("settings.json");
        fs::write(&path, "{}").expect("written");
        let found = Found::at(&path).expect("it can be read");
        let new = NewFile::holding(&path, b"{\"aizo\": 1}", Readers::AsBefore).expect("room");
        fs::write(&path, "{\"host\": 1}").expect("written");
        let kind = found.give_way(new).map_err(|failure| failure.kind);
        assert_eq!(kind, Err(Kind::Conflict));
        assert_eq!(fs::read(&path).expect("there"), b"{\"host\": 1}");
        assert_eq!(folder.path().read_dir().expect("there").count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_seen_wherever_it_stands_in_a_path() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().expect("a folder");
        let base = folder.path().join("base");
        let away = folder.path().join("away");
        fs::create_dir_all(base.join("sub")).expect("a folder");
        fs::create_dir(&away).expect("a folder");
        symlink(&away, base.join("folder")).expect("a link");
        symlink("../away/new", base.join("file")).expect("a link");
        symlink(&base, folder.path().join("alias")).expect("a link");
        let away = real(&away);
        for (path, place) in [
            ("base/plain", None),
            ("base/sub/plain", None),
            ("base/sub/../plain", None),
            ("base/folder/x/y", Some(away.join("x/y"))),
            ("base/file", Some(away.join("new"))),
            // What leads to the folder itself is nobody's trick.
            ("alias/plain", None),
        ] {
            let base = folder.path().join(path.split('/').next().expect("a name"));
            assert_eq!(leads_to(&folder.path().join(path), &base), place, "{path}");
        }
    }
}
