//! Where a copy goes, and how it gets its name there.

use std::io;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use tempfile::PersistError;

use super::name::Name;
use super::unfinished::Unfinished;
use super::{FOLDER, folder_of, is_automatic, make_folder};
use crate::storage::{Result, StorageError, open};

/// Where a copy goes.
pub(super) struct Place {
    pub(super) folder: PathBuf,
    /// The file; none where it is named after the store and the time.
    file: Option<PathBuf>,
    /// Whether the file may be written over.
    may_replace: bool,
    store: PathBuf,
    at: DateTime<Utc>,
    occasion: Option<String>,
}

impl Place {
    fn beside(real: &Path, at: DateTime<Utc>) -> Self {
        Place {
            folder: folder_of(real).join(FOLDER),
            file: None,
            may_replace: false,
            store: real.to_path_buf(),
            at,
            occasion: None,
        }
    }

    /// For a copy that nobody has asked for.
    pub(super) fn kept(real: &Path, occasion: &str, at: DateTime<Utc>) -> Result<Self> {
        let mut place = Place::beside(real, at);
        place.occasion = Some(occasion.to_owned());
        make_folder(&place.folder)?;
        Ok(place)
    }

    pub(super) fn asked_for(real: &Path, to: Option<&Path>, at: DateTime<Utc>) -> Result<Self> {
        let mut place = Place::beside(real, at);
        match to {
            None => make_folder(&place.folder)?,
            Some(folder) if folder.is_dir() => place.folder = folder.to_path_buf(),
            Some(file) => {
                place.may_replace = is_automatic(real, file);
                if file.symlink_metadata().is_ok() && !place.may_replace {
                    return Err(StorageError::Exists {
                        path: file.to_path_buf(),
                    });
                }
                place.folder = folder_of(file).to_path_buf();
                place.file = Some(file.to_path_buf());
            }
        }
        Ok(place)
    }

    /// Gives a copy its name; one that is taken already is not taken from what has it.
    pub(super) fn take(&self, copy: Unfinished) -> Result<PathBuf> {
        let mut number = 1;
        let mut file = copy.file;
        loop {
            let path = self.file.clone().unwrap_or_else(|| self.name(number));
            let named = if self.may_replace {
                file.persist(&path)
            } else {
                file.persist_noclobber(&path)
            };
            let Err(PersistError { error, file: again }) = named else {
                open::sync_folder(&self.folder);
                return Ok(path);
            };
            match (error.kind(), &self.file) {
                (io::ErrorKind::AlreadyExists, None) => {
                    file = again;
                    number += 1;
                }
                (io::ErrorKind::AlreadyExists, Some(_)) => {
                    return Err(StorageError::Exists { path });
                }
                _ => return Err(StorageError::from_io(&path, error)),
            }
        }
    }

    fn name(&self, number: u32) -> PathBuf {
        let name = Name {
            at: self.at,
            number,
            occasion: self.occasion.clone(),
        };
        let store = self.store.file_name().unwrap_or_default();
        self.folder.join(name.written(store))
    }
}
