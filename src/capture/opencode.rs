//! OpenCode: the tables of both versions in its database, and the tree of JSON files that came before.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::moment::When;
use super::outbox::{Outbox, Said};
use super::problem::ProblemKind;
use super::shape::{Flag, Lenient, Text};
use super::{Note, digest, json};
use crate::model::{Stamp, TurnKind};
use crate::storage::StorageError;
use crate::storage::foreign::Foreign;

#[derive(Deserialize, Default)]
#[serde(default)]
struct Message {
    id: Text,
    role: Text,
    time: Lenient<Time>,
    /// The text of a message of the second version.
    text: Text,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Part {
    id: Text,
    #[serde(rename = "type")]
    kind: Text,
    text: Text,
    synthetic: Flag,
    ignored: Flag,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Time {
    created: When,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Session {
    id: Text,
    #[serde(rename = "parentID")]
    parent: Text,
    revert: Lenient<Revert>,
}

/// Up to where a person went back.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Revert {
    #[serde(rename = "messageID")]
    message: Text,
}

impl Message {
    fn at(&self) -> Option<Stamp> {
        self.time.as_ref()?.created.0.clone()
    }
}

/// A message whose parts are being collected.
#[derive(Default)]
struct Open {
    session: String,
    id: String,
    role: String,
    at: Option<Stamp>,
    texts: Vec<String>,
}

impl Open {
    fn add(&mut self, part: Part) {
        if part.kind.is("text") && !part.synthetic.0 && !part.ignored.0 {
            self.texts.extend(part.text.some());
        }
    }

    fn hand_out(self, out: &mut Outbox<'_>) {
        let text = self.texts.join("\n");
        match self.role.as_str() {
            "assistant" => out.answered(&text),
            "user" => {
                out.say(Said {
                    id: Some(self.id.clone()),
                    text,
                    kind: TurnKind::Typed,
                    at: self.at,
                    session: self.session,
                    place: self.id,
                });
            }
            _ => {}
        }
    }
}

/// Whether a database is one of OpenCode's.
pub(super) fn is_opencode(database: &Foreign) -> Result<bool, StorageError> {
    if database.columns("session")?.is_empty() {
        return Ok(false);
    }
    let has = |table| database.columns(table).map(|columns| !columns.is_empty());
    Ok(has("message")? || has("session_message")?)
}

/// Reads the tables that are there.
pub(super) fn read_database(database: &Foreign, out: &mut Outbox<'_>) -> Result<(), StorageError> {
    let sessions = database.columns("session")?;
    let has = |column: &str| sessions.iter().any(|name| name == column);
    // Subagents have conversations of their own, under the one that they work for.
    let own = if has("parent_id") {
        "s.parent_id IS NULL"
    } else {
        "1"
    };
    let revert = if has("revert") { "s.revert" } else { "NULL" };
    let mut moved = HashSet::new();
    if !database.columns("session_message")?.is_empty() {
        read_second(database, own, &mut moved, out)?;
    }
    let parts = database.columns("part")?;
    if !database.columns("message")?.is_empty() && !parts.is_empty() {
        read_first(database, own, revert, &moved, out)?;
    }
    Ok(())
}

/// The second version: a row per message.
fn read_second(
    database: &Foreign,
    own: &str,
    moved: &mut HashSet<u64>,
    out: &mut Outbox<'_>,
) -> Result<(), StorageError> {
    let query = format!(
        "SELECT m.id, m.session_id, m.type, m.data FROM session_message m \
         JOIN session s ON s.id = m.session_id \
         WHERE {own} AND m.type IN ('user', 'assistant') ORDER BY m.session_id, m.id"
    );
    let mut session = String::new();
    database.rows(&query, &[], |row| {
        let (Some(id), Some(of), Some(kind)) = (row[0].text(), row[1].text(), row[2].text()) else {
            return;
        };
        if of != session {
            out.forget_answer();
            session.clone_from(&of);
        }
        let data = row[3].bytes().unwrap_or_default();
        let mut messages: Vec<Message> = Vec::new();
        json::records(data, &id, &mut out.problems, |message| {
            messages.push(message)
        });
        for message in messages {
            let text = message.text.as_str();
            if kind == "user" {
                moved.insert(mark(&of, text));
            }
            let open = Open {
                session: of.clone(),
                id: id.clone(),
                role: kind.clone(),
                at: message.at(),
                texts: vec![text.to_owned()],
            };
            open.hand_out(out);
        }
    })
}

/// The first version: a row per message and a row per part of it.
fn read_first(
    database: &Foreign,
    own: &str,
    revert: &str,
    moved: &HashSet<u64>,
    out: &mut Outbox<'_>,
) -> Result<(), StorageError> {
    let query = format!(
        "SELECT p.message_id, m.session_id, m.data, p.data, {revert} FROM part p \
         JOIN message m ON m.id = p.message_id JOIN session s ON s.id = m.session_id \
         WHERE {own} AND instr(p.data, '\"text\"') ORDER BY m.session_id, p.message_id, p.id"
    );
    let mut open = Open::default();
    let hand_out = |open: Open, out: &mut Outbox<'_>| {
        if !moved.contains(&mark(&open.session, &open.texts.join("\n"))) {
            open.hand_out(out);
        }
    };
    database.rows(&query, &[], |row| {
        let (Some(id), Some(session)) = (row[0].text(), row[1].text()) else {
            return;
        };
        if was_reverted(&id, row[4].bytes()) {
            return;
        }
        if open.id != id {
            let done = std::mem::take(&mut open);
            let goes_on = done.session == session;
            hand_out(done, out);
            if !goes_on {
                out.forget_answer();
            }
            open.session = session;
            let data = row[2].bytes().unwrap_or_default();
            json::records(data, &id, &mut out.problems, |message: Message| {
                open.at = message.at();
                open.role = message.role.0.unwrap_or_default();
            });
            open.id.clone_from(&id);
        }
        let data = row[3].bytes().unwrap_or_default();
        json::records(data, &id, &mut out.problems, |part: Part| open.add(part));
    })?;
    hand_out(open, out);
    Ok(())
}

/// Whether a message lies behind the point to which its author went back. Ids grow with time.
fn was_reverted(id: &str, revert: Option<&[u8]>) -> bool {
    revert
        .and_then(json::first::<Revert>)
        .and_then(|revert| revert.message.some())
        .is_some_and(|from| id >= from.as_str())
}

/// Marks a message that both versions may hold, under different ids.
fn mark(session: &str, text: &str) -> u64 {
    digest::short(format!("{session}\n{text}").as_bytes())
}

/// Reads one conversation of the tree of files, from its `storage/session/<project>/ses_*.json`.
pub(super) fn read_tree(session_file: &Path, bytes: &[u8], out: &mut Outbox<'_>) -> Option<Note> {
    let session: Session = json::first(bytes)?;
    if session.parent.0.is_some() {
        return Some(Note::Subagent);
    }
    let storage = session_file.parent()?.parent()?.parent()?;
    let id = session.id.some()?;
    let revert = session.revert.0.and_then(|revert| revert.message.some());
    for (file, message) in records::<Message>(&messages_of(session_file, &id)?, out) {
        let message_id = message.id.0.clone().unwrap_or_else(|| stem(&file));
        if revert.as_ref().is_some_and(|from| message_id >= *from) {
            continue;
        }
        let mut open = Open {
            session: id.clone(),
            at: message.at(),
            id: message_id,
            role: message.role.0.unwrap_or_default(),
            texts: Vec::new(),
        };
        let parts = storage.join("part").join(&open.id);
        let mut parts = records::<Part>(&parts, out);
        parts.sort_by(|(_, one), (_, other)| one.id.as_str().cmp(other.id.as_str()));
        for (_, part) in parts {
            open.add(part);
        }
        open.hand_out(out);
    }
    None
}

/// The folder of the messages of a conversation in the tree of files.
pub(super) fn messages_of(session_file: &Path, session: &str) -> Option<PathBuf> {
    let storage = session_file.parent()?.parent()?.parent()?;
    Some(storage.join("message").join(session))
}

/// The same, for a file that lies where a conversation lies in that tree, without reading it.
pub(super) fn messages_of_file(file: &Path) -> Option<PathBuf> {
    let id = file
        .file_stem()?
        .to_str()
        .filter(|id| id.starts_with("ses_"))?;
    messages_of(file, id)
}

/// The records of a folder, a file each, in the order of their names.
fn records<T: serde::de::DeserializeOwned>(
    folder: &Path,
    out: &mut Outbox<'_>,
) -> Vec<(PathBuf, T)> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect();
    files.sort();
    let mut found = Vec::new();
    for file in files {
        let place = stem(&file);
        match fs::read(&file) {
            Ok(bytes) => json::records(&bytes, &place, &mut out.problems, |record| {
                found.push((file.clone(), record));
            }),
            Err(_) => out.problems.met(ProblemKind::Damaged, &place),
        }
    }
    found
}

fn stem(file: &Path) -> String {
    file.file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default()
}
