//! Which files lie under the paths that were given.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::CaptureError;

/// Folders in which no person speaks: what subagents did, what tools returned, what Git keeps.
const SKIPPED: [&str; 4] = ["subagents", "tool-results", ".git", "node_modules"];

/// All files under these paths, a file once. The order is the one of the paths, within a folder of the names.
/// A folder that cannot be read stands in the list itself, so that reading it tells why.
///
/// # Errors
/// A path that was given and is not there.
pub fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, CaptureError> {
    let mut walk = Walk::default();
    for path in paths {
        let metadata = fs::metadata(path).map_err(|cause| match cause.kind() {
            io::ErrorKind::NotFound => CaptureError::Missing { path: path.clone() },
            _ => CaptureError::unreadable(path, cause),
        })?;
        if metadata.is_dir() {
            walk.folder(path);
        } else {
            walk.file(path.clone());
        }
    }
    Ok(walk.files)
}

#[derive(Default)]
struct Walk {
    files: Vec<PathBuf>,
    /// What was met, with all links followed: a link may lead back up.
    seen: HashSet<PathBuf>,
}

impl Walk {
    fn is_new(&mut self, path: &Path) -> bool {
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        self.seen.insert(real)
    }

    fn file(&mut self, path: PathBuf) {
        if self.is_new(&path) {
            self.files.push(path);
        }
    }

    fn folder(&mut self, folder: &Path) {
        if !self.is_new(folder) {
            return;
        }
        let Ok(entries) = fs::read_dir(folder) else {
            self.files.push(folder.to_path_buf());
            return;
        };
        let mut names: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect();
        names.sort();
        let all: HashSet<PathBuf> = names.iter().cloned().collect();
        let has_database = all.iter().any(|path| is_opencode_database(path));
        let is_opencode_tree = ["session", "message", "part"]
            .iter()
            .all(|name| all.contains(&folder.join(name)));
        for path in names {
            // A link to nowhere is no file.
            let Ok(metadata) = fs::metadata(&path) else {
                continue;
            };
            if metadata.is_file() {
                if !lies_beside(&path, &all) {
                    self.file(path);
                }
            } else if metadata.is_dir() {
                let name = path
                    .file_name()
                    .and_then(|name| name.to_str())
                    .unwrap_or_default();
                // The tree of files may remain after the move into the database.
                let moved = has_database && name == "storage";
                let other_part = is_opencode_tree && name != "session";
                if !SKIPPED.contains(&name) && !moved && !other_part {
                    self.folder(&path);
                }
            }
        }
    }
}

fn is_opencode_database(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with("opencode") && name.ends_with(".db"))
}

/// Whether a file only belongs to another one in its folder: a database's log, a packed copy of a plain file.
fn lies_beside(path: &Path, all: &HashSet<PathBuf>) -> bool {
    let Some(text) = path.to_str() else {
        return false;
    };
    ["-wal", "-shm", "-journal", ".zst", ".gz"]
        .iter()
        .filter_map(|ending| text.strip_suffix(ending))
        .any(|base| all.contains(Path::new(base)))
}
