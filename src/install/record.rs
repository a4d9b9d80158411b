//! What aizo has changed in which file, so that it can be taken back: kept in `~/.aizo/installed.json`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::edit::Edit;
use super::recipe::Part;

/// All that was changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The form of this file.
    pub version: u32,
    /// The folders that were made, each after the one around it.
    #[serde(default)]
    pub folders: Vec<PathBuf>,
    /// The files by their paths.
    pub files: BTreeMap<PathBuf, FileRecord>,
}

/// What was changed in one file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// For whom: `user`, or the project's folder.
    pub scope: String,
    /// Whether the file was there before.
    pub existed: bool,
    /// The hosts that it serves.
    pub agents: Vec<String>,
    /// The changes, in their order.
    #[serde(default)]
    pub edits: Vec<Change>,
    /// What the text is known by that was written, where the file is aizo's alone.
    #[serde(default)]
    pub whole: Option<String>,
    /// A copy of the file as it was.
    #[serde(default)]
    pub backup: Option<PathBuf>,
}

/// One change, and for which host it was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The host.
    pub agent: String,
    /// What it is.
    pub part: Part,
    /// The change.
    #[serde(flatten)]
    pub edit: Edit,
}

impl FileRecord {
    /// Whether aizo has put this text into the file, white space aside: a host may have laid it out anew.
    pub(super) fn has_added(&self, text: &str) -> bool {
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        let wanted = bare(text);
        self.edits
            .iter()
            .any(|change| bare(&change.edit.added).contains(&wanted))
    }
}

impl Record {
    /// The files that serve a host.
    pub fn files_of(&self, agent: &str, scope: &str) -> Vec<PathBuf> {
        self.files
            .iter()
            .filter(|(_, file)| file.scope == scope && file.agents.iter().any(|one| one == agent))
            .map(|(path, _)| path.clone())
            .collect()
    }
}
