//! OpenClaw's database: the records of all conversations in the table `transcript_events`.

use std::collections::HashSet;
use std::io::Read;
use std::path::Path;

use serde_json::Value;

use super::lines::LONGEST_LINE;
use super::openclaw::{Reader, is_automatic};
use super::outbox::Outbox;
use super::problem::ProblemKind;
use super::unpack::{Container, Damage, unpack};
use crate::storage::StorageError;
use crate::storage::foreign::Foreign;

/// Whether a database is one of OpenClaw's.
pub(super) fn is_openclaw(database: &Foreign) -> Result<bool, StorageError> {
    Ok(!database.columns("transcript_events")?.is_empty())
}

/// Reads all conversations.
pub(super) fn read_database(database: &Foreign, out: &mut Outbox<'_>) -> Result<(), StorageError> {
    let columns = database.columns("transcript_events")?;
    let first_of = |names: &[&'static str]| {
        let has = |name: &&&str| columns.iter().any(|column| column == **name);
        names.iter().find(has).copied()
    };
    let session = first_of(&["session_id", "session_key", "session"]).unwrap_or("NULL");
    let order = first_of(&["seq", "sequence", "id"]).unwrap_or("rowid");
    let json = first_of(&["event_json"]).unwrap_or("NULL");
    let zstd = first_of(&["event_zstd"]).unwrap_or("NULL");
    let key = first_of(&["session_key"]).unwrap_or("NULL");
    let automatic = automatic_sessions(database)?;
    let query = format!(
        "SELECT {session}, {json}, {zstd}, {key}, {order} FROM transcript_events ORDER BY 1, {order}"
    );
    let mut current: Option<(String, Reader)> = None;
    database.rows(&query, &[], |row| {
        let of = row[0].text().unwrap_or_default();
        let key = row[3].text().unwrap_or_default();
        if automatic.contains(&of) || is_automatic(&key) || is_automatic(&of) {
            return;
        }
        let place = match row[4].integer() {
            Some(number) => format!("{of} event {number}"),
            None => of.clone(),
        };
        if current.as_ref().is_none_or(|(session, _)| *session != of) {
            out.forget_answer();
            let mut reader = Reader::new();
            reader.session.clone_from(&of);
            current = Some((of, reader));
        }
        let Some((_, reader)) = &mut current else {
            return;
        };
        if let Some(bytes) = row[1].bytes().filter(|bytes| !bytes.is_empty()) {
            reader.read(bytes, &place, out);
        } else if let Some(packed) = row[2].bytes() {
            let damage = Damage::default();
            let mut bytes = Vec::new();
            let unpacked = unpack(packed, Container::of(packed), &damage)
                .take(LONGEST_LINE as u64 + 1)
                .read_to_end(&mut bytes);
            if unpacked.is_err() || damage.is_met() {
                out.problems.met(ProblemKind::Damaged, &place);
            } else if bytes.len() > LONGEST_LINE {
                out.problems.met(ProblemKind::TooLong, &place);
            } else {
                reader.read(&bytes, &place, out);
            }
        }
    })
}

/// The conversations that a clock or a hook began, by the tables that know their keys.
fn automatic_sessions(database: &Foreign) -> Result<HashSet<String>, StorageError> {
    let mut automatic = HashSet::new();
    for table in ["sessions", "session_entries", "session"] {
        let columns = database.columns(table)?;
        let has = |name: &str| columns.iter().any(|column| column == name);
        if has("session_id") && has("session_key") {
            let query = format!("SELECT session_id, session_key FROM {table}");
            database.rows(&query, &[], |row| {
                if row[1].text().is_some_and(|key| is_automatic(&key)) {
                    automatic.extend(row[0].text());
                }
            })?;
        }
    }
    Ok(automatic)
}

/// Whether the list beside a file says that a clock or a hook began the conversation.
pub(super) fn is_listed_as_automatic(file: &Path) -> bool {
    const LONGEST_LIST: u64 = 16 << 20;
    let list = file.with_file_name("sessions.json");
    let short = std::fs::metadata(&list).is_ok_and(|found| found.len() <= LONGEST_LIST);
    let Some(stem) = file.file_stem().filter(|_| short) else {
        return false;
    };
    let id = stem.to_string_lossy();
    let Ok(bytes) = std::fs::read(&list) else {
        return false;
    };
    let list: Option<serde_json::Map<String, Value>> = serde_json::from_slice(&bytes).ok();
    list.into_iter().flatten().any(|(key, entry)| {
        is_automatic(&key) && entry.get("sessionId").and_then(Value::as_str) == Some(&*id)
    })
}
