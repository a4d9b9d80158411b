//! What aizo has changed in which file, so that it can be taken back: kept in `~/.aizo/installed.json`.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::edit::Edit;
use super::recipe::Part;
use crate::files::{object, path};

/// The form of the record that this version writes.
const VERSION: u64 = 1;

/// All that was changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// The folders that were made, each after the one around it.
    pub folders: Vec<PathBuf>,
    /// The files.
    pub files: Vec<FileRecord>,
}

/// What was changed in one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileRecord {
    /// The file.
    pub path: PathBuf,
    /// For whom: `user`, or the project's folder.
    pub scope: String,
    /// Whether the file was there before.
    pub existed: bool,
    /// The hosts that it serves.
    pub agents: Vec<String>,
    /// The changes, in their order.
    pub edits: Vec<Change>,
    /// What the text is known by that was written, where the file is aizo's alone.
    pub whole: Option<String>,
    /// What was recorded before, for as long as the file is being written.
    pub earlier: Earlier,
    /// A copy of the file as it was.
    pub backup: Option<PathBuf>,
}

/// What was recorded of a file before a run that has not ended: the file may still be as it was then.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Earlier {
    /// The changes.
    pub edits: Vec<Change>,
    /// What the text is known by.
    pub wholes: Vec<String>,
}

/// One change, and for which host it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The host.
    pub agent: String,
    /// What it is.
    pub part: Part,
    /// The members that lead to it.
    pub place: String,
    /// The places of those members that were made for it.
    pub made: Vec<String>,
    /// The change.
    pub edit: Edit,
}

impl FileRecord {
    fn changes(&self) -> impl Iterator<Item = &Change> {
        self.edits.iter().chain(&self.earlier.edits)
    }

    /// Whether aizo has put this text into the file, white space aside: a host may have laid it out anew.
    pub(super) fn has_added(&self, text: &str) -> bool {
        let wanted = bare(text);
        self.changes()
            .any(|change| bare(&change.edit.added).contains(&wanted))
    }

    /// Whether aizo has put this text at a place. The same text may have stood at another before.
    pub(super) fn has_added_at(&self, place: &str, text: &str) -> bool {
        let wanted = bare(text);
        self.changes()
            .any(|change| change.place == place && bare(&change.edit.added).contains(&wanted))
    }

    /// Whether aizo has put something at a place: what stands there now is its own, whoever has changed it since.
    pub(super) fn has_changed(&self, place: &str) -> bool {
        self.changes().any(|change| change.place == place)
    }

    /// Whether aizo has made the object or list at a place: it goes when nothing is left in it.
    pub(super) fn has_made(&self, place: &str) -> bool {
        self.changes()
            .any(|change| change.made.iter().any(|made| made == place))
    }

    /// Whether aizo has written the text that is known by this, and nobody has changed it since.
    pub(super) fn has_written(&self, mark: &str) -> bool {
        let mut marks = self.whole.iter().chain(&self.earlier.wholes);
        marks.any(|known| known == mark)
    }

    /// Whether the file serves a host.
    pub fn serves(&self, agent: &str) -> bool {
        self.agents.iter().any(|one| one == agent)
    }

    /// The same with what was recorded before, until the file is written.
    #[must_use]
    pub fn after(self, before: Option<&FileRecord>) -> Self {
        let Some(before) = before else {
            return self;
        };
        let wholes = before.whole.iter().chain(&before.earlier.wholes);
        FileRecord {
            earlier: Earlier {
                edits: before.changes().cloned().collect(),
                wholes: wholes.cloned().collect(),
            },
            ..self
        }
    }
}

fn bare(text: &str) -> String {
    text.split_whitespace().collect()
}

impl Record {
    /// What is recorded of a file.
    pub fn file(&self, path: &Path) -> Option<&FileRecord> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The files that serve a host.
    pub fn files_of(&self, agent: &str, scope: &str) -> Vec<PathBuf> {
        self.files
            .iter()
            .filter(|file| file.scope == scope && file.serves(agent))
            .map(|file| file.path.clone())
            .collect()
    }

    /// The record as it is written.
    pub fn text(&self) -> String {
        let files = self.files.iter().map(|file| {
            let earlier = object([
                ("edits", edits(&file.earlier.edits)),
                ("wholes", file.earlier.wholes.iter().cloned().collect()),
            ]);
            object([
                ("path", path(&file.path)),
                ("scope", file.scope.as_str().into()),
                ("existed", file.existed.into()),
                ("agents", file.agents.iter().cloned().collect()),
                ("edits", edits(&file.edits)),
                ("whole", file.whole.clone().into()),
                ("earlier", earlier),
                ("backup", file.backup.as_deref().map(path).into()),
            ])
        });
        let all = object([
            ("version", VERSION.into()),
            (
                "folders",
                self.folders.iter().map(|one| path(one)).collect(),
            ),
            ("files", files.collect()),
        ]);
        format!("{all:#}\n")
    }

    /// Reads a record.
    ///
    /// # Errors
    /// It is no record, or one of a later version.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let all: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        match all["version"].as_u64() {
            Some(VERSION) => Ok(Record {
                folders: texts(&all["folders"]).map(PathBuf::from).collect(),
                files: list(&all["files"]).map(file).collect(),
            }),
            Some(_) => Err("a later aizo wrote it".to_owned()),
            None => Err("it is no record".to_owned()),
        }
    }
}

fn edits(changes: &[Change]) -> Value {
    let edits = changes.iter().map(|change| {
        object([
            ("agent", change.agent.as_str().into()),
            ("part", change.part.name().into()),
            ("place", change.place.as_str().into()),
            ("made", change.made.iter().cloned().collect()),
            ("at", change.edit.at.into()),
            ("removed", change.edit.removed.as_str().into()),
            ("added", change.edit.added.as_str().into()),
        ])
    });
    edits.collect()
}

fn file(value: &Value) -> FileRecord {
    let optional = |name: &str| value[name].as_str().map(str::to_owned);
    FileRecord {
        path: text(&value["path"]).into(),
        scope: text(&value["scope"]),
        existed: value["existed"].as_bool().unwrap_or(true),
        agents: texts(&value["agents"]).collect(),
        edits: list(&value["edits"]).map(change).collect(),
        whole: optional("whole"),
        earlier: Earlier {
            edits: list(&value["earlier"]["edits"]).map(change).collect(),
            wholes: texts(&value["earlier"]["wholes"]).collect(),
        },
        backup: optional("backup").map(PathBuf::from),
    }
}

fn change(value: &Value) -> Change {
    let part = text(&value["part"]);
    let parts = [Part::Hooks, Part::Mcp, Part::Skill];
    Change {
        agent: text(&value["agent"]),
        part: parts
            .into_iter()
            .find(|one| one.name() == part)
            .unwrap_or(Part::Hooks),
        place: text(&value["place"]),
        made: texts(&value["made"]).collect(),
        edit: Edit {
            at: value["at"]
                .as_u64()
                .and_then(|at| usize::try_from(at).ok())
                .unwrap_or_default(),
            removed: text(&value["removed"]),
            added: text(&value["added"]),
        },
    }
}

fn list(value: &Value) -> std::slice::Iter<'_, Value> {
    value
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
        .iter()
}

fn texts(value: &Value) -> impl Iterator<Item = String> + '_ {
    list(value).map(text)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_read() {
        let record = Record {
            folders: vec!["/a".into()],
            files: vec![FileRecord {
                path: "/a/b".into(),
                scope: "user".into(),
                existed: true,
                agents: vec!["codex".into()],
                edits: vec![Change {
                    agent: "codex".into(),
                    part: Part::Mcp,
                    place: "mcp_servers.aizo".into(),
                    made: vec!["mcp_servers".into()],
                    edit: Edit {
                        at: 3,
                        removed: "\r\n".into(),
                        added: "\u{feff}x\"".into(),
                    },
                }],
                whole: None,
                earlier: Earlier {
                    edits: Vec::new(),
                    wholes: vec!["0f".into()],
                },
                backup: Some("/a/c".into()),
            }],
        };
        assert_eq!(Record::parse(record.text().as_bytes()), Ok(record));
        assert!(Record::parse(b"{\"version\": 2}").is_err());
        assert!(Record::parse(b"[]").is_err());
    }
}
