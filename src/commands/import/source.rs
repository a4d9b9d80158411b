//! What is imported, as often as it is read: a file where it is, or a copy of what comes once.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::commands::Context;
use crate::commands::input::is_plain_file;
use crate::error::{Failure, Kind};
use crate::present::Progress;
use crate::{present, settings};

/// As much as tells what a file is.
const HEAD: u64 = 64 << 10;

/// The most that is copied of what can be read only once: it may have no end.
const MOST: u64 = 1 << 30;

/// A file, or what came on standard input.
pub(super) struct Source {
    /// The file, where there is one.
    path: Option<PathBuf>,
    /// What can be read only once.
    copy: Option<NamedTempFile>,
}

impl Source {
    /// Finds what is to be read.
    ///
    /// # Errors
    /// Nothing is named, nothing is there, or it cannot be read.
    pub(super) fn of(file: Option<&Path>) -> Result<Self, Failure> {
        let Some(file) = file.filter(|file| *file != Path::new("-")) else {
            if file.is_none() && !present::is_stdin_piped() {
                return Err(Failure::usage("nothing to import was named")
                    .hint("aizo import FILE, or a profile on standard input"));
            }
            let copy = copied(&mut io::stdin().lock(), MOST)
                .map_err(|error| failure("standard input", &error))?;
            return Ok(Source {
                path: None,
                copy: Some(copy),
            });
        };
        let path = settings::expand(file, dirs::home_dir().as_deref());
        let name = path.display().to_string();
        let fault = |error: io::Error| failure(&name, &error);
        if path.is_dir() {
            let message = format!("{name} is a folder");
            return Err(Failure::new(Kind::Io, message).hint("name the file in it"));
        }
        if !is_plain_file(&path).map_err(fault)? {
            let message = format!("{name} is no file with an end");
            return Err(Failure::new(Kind::Io, message)
                .hint("what a pipe holds is read from standard input: aizo import - < FILE"));
        }
        File::open(&path).map_err(fault)?;
        Ok(Source {
            path: Some(path),
            copy: None,
        })
    }

    /// How people are told.
    pub(super) fn name(&self) -> String {
        match &self.path {
            Some(path) => path.display().to_string(),
            None => "standard input".to_owned(),
        }
    }

    /// A file with it.
    pub(super) fn path(&self) -> PathBuf {
        match (&self.copy, &self.path) {
            (Some(copy), _) => copy.path().to_path_buf(),
            (None, Some(path)) => path.clone(),
            (None, None) => PathBuf::new(),
        }
    }

    /// Begins to read it.
    pub(super) fn open(&self) -> io::Result<File> {
        let mut file = File::open(self.path())?;
        file.seek(SeekFrom::Start(0))?;
        Ok(file)
    }

    /// Begins to read it, with a bar for a person who waits.
    pub(super) fn open_shown(&self, context: &Context) -> io::Result<impl Read> {
        let file = self.open()?;
        let size = file.metadata()?.len();
        Ok(Progress::new(size, !context.is_quiet()).reading(file))
    }

    /// Its beginning.
    pub(super) fn head(&self) -> Result<Vec<u8>, Failure> {
        let mut head = Vec::new();
        self.open()
            .and_then(|file| file.take(HEAD).read_to_end(&mut head))
            .map_err(|error| failure(&self.name(), &error))?;
        Ok(head)
    }
}

/// A file of the owner's alone with all that comes, which is at most so much.
fn copied(stream: &mut dyn Read, most: u64) -> io::Result<NamedTempFile> {
    let mut copy = NamedTempFile::new()?;
    if io::copy(&mut stream.take(most + 1), &mut copy)? > most {
        let message = format!(
            "more than {} MiB came, and nothing was imported; a file of that size is read where it is",
            most >> 20
        );
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(copy)
}

fn failure(name: &str, error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::NotFound {
        return Failure::new(Kind::NotFound, format!("there is no file {name}"));
    }
    Failure::new(Kind::Io, format!("cannot read {name}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_not_copied_for_ever() {
        let most = 3 << 20;
        let error = copied(&mut io::repeat(b'a'), most).expect_err("it is too much");
        assert!(error.to_string().contains("more than 3 MiB"), "{error}");
        assert!(copied(&mut io::repeat(b'a').take(most), most).is_ok());
    }
}
