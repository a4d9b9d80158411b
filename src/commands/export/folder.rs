//! The folder of an index: one file for each entry that the index names, and none for others.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use super::reply::File;
use crate::commands::Context;
use crate::error::{Failure, Kind};
use crate::export::{entry_text, file_name, is_ours, looks_like_ours};
use crate::files::Found;
use crate::recall::Hit;

/// The folder, and how the index names it.
pub(super) struct Folder {
    path: PathBuf,
    link: String,
}

impl Folder {
    pub(super) fn new(path: PathBuf, index: &Path) -> Self {
        let from = index.parent().unwrap_or(Path::new("/"));
        Folder {
            link: relative(from, &path),
            path,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn link(&self) -> String {
        self.link.clone()
    }

    /// Whether there is a file that an earlier run has written.
    pub(super) fn holds_ours(&self) -> Result<bool, Failure> {
        for path in self.existing()? {
            if Found::at(&path)?.bytes.is_some_and(|bytes| is_ours(&bytes)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The files as they should be: those of the entries, and away with what is left of others. What somebody else has written
    /// or changed stays.
    pub(super) fn plan<'h>(
        &self,
        hits: impl Iterator<Item = &'h Hit>,
        context: &Context,
    ) -> Result<Vec<File>, Failure> {
        let mut files = Vec::new();
        let mut seen = HashSet::new();
        for hit in hits {
            let path = self.path.join(file_name(&hit.preference));
            let text = entry_text(&hit.preference);
            seen.insert(path.clone());
            files.extend(self.file(path, Some(text), context)?);
        }
        for path in self.existing()? {
            if !seen.contains(&path) {
                files.extend(self.file(path, None, context)?);
            }
        }
        Ok(files)
    }

    fn file(
        &self,
        path: PathBuf,
        text: Option<String>,
        context: &Context,
    ) -> Result<Option<File>, Failure> {
        let found = Found::at(&path)?;
        if found.bytes.as_deref().is_some_and(|bytes| !is_ours(bytes)) {
            context.note(format!(
                "{} holds something of your own and was left as it is",
                path.display()
            ));
            return Ok(None);
        }
        Ok(Some(File::planned(
            path,
            found,
            text.map(String::into_bytes),
        )))
    }

    /// What may be of an earlier run.
    fn existing(&self) -> Result<Vec<PathBuf>, Failure> {
        let entries = match std::fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => {
                let message = format!("cannot read {}: {error}", self.path.display());
                return Err(Failure::new(Kind::Io, message));
            }
        };
        let mut paths: Vec<PathBuf> = entries
            .filter_map(Result::ok)
            .filter(|entry| entry.file_name().to_str().is_some_and(looks_like_ours))
            .map(|entry| entry.path())
            .collect();
        paths.sort();
        Ok(paths)
    }
}

/// The way from one folder to another, with slashes.
fn relative(from: &Path, to: &Path) -> String {
    let parts = |path: &Path| -> Vec<String> {
        path.components()
            .filter(|part| *part != Component::CurDir)
            .map(|part| part.as_os_str().to_string_lossy().into_owned())
            .collect()
    };
    let (from, to) = (parts(from), parts(to));
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    // Another disk, or a folder above that nobody can tell from here.
    if common == 0 || from[common..].iter().any(|part| part == "..") {
        return to.join("/").replacen("//", "/", 1);
    }
    let up = std::iter::repeat_n("..", from.len() - common);
    let down = to[common..].iter().map(String::as_str);
    up.chain(down).collect::<Vec<_>>().join("/")
}
