//! OpenClaw and pi: a session record, then a tree of records by `parentId`; as lines or as rows of a database.

use serde::{Deserialize, Serialize};

use super::lines::Line;
use super::moment::When;
use super::outbox::{Outbox, Said};
use super::shape::{Content, Lenient, Text};
use super::tree::{Edge, Tree};
use super::{Note, json};
use crate::model::TurnKind;

/// Reads the records of one file, or of one conversation in a database.
#[derive(Serialize, Deserialize)]
pub(super) struct Reader {
    tree: Tree,
    pub(super) session: String,
    /// Why the file holds no conversation of a person.
    pub(super) note: Option<Note>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Record {
    #[serde(rename = "type")]
    kind: Text,
    id: Text,
    parent_id: Text,
    timestamp: When,
    session_key: Text,
    message: Lenient<Message>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Message {
    role: Text,
    content: Content,
    timestamp: When,
}

impl Reader {
    pub(super) fn new() -> Self {
        Reader {
            tree: Tree::default(),
            session: String::new(),
            note: None,
        }
    }

    pub(super) fn carried(&self) -> Self {
        Reader {
            tree: self.tree.carried(),
            session: self.session.clone(),
            note: self.note,
        }
    }

    pub(super) fn wake(&mut self) {
        self.tree.wake();
    }

    pub(super) fn line(&mut self, line: &Line<'_>, out: &mut Outbox<'_>) {
        self.read(line.bytes, &line.place(), out);
    }

    /// Reads one record, or several on one line.
    pub(super) fn read(&mut self, bytes: &[u8], place: &str, out: &mut Outbox<'_>) {
        let mut records: Vec<Record> = Vec::new();
        json::records(bytes, place, &mut out.problems, |record| {
            records.push(record)
        });
        for record in records {
            self.record(record, place, out);
        }
    }

    fn record(&mut self, record: Record, place: &str, out: &mut Outbox<'_>) {
        if record.kind.is("session") {
            self.session = record.id.0.unwrap_or_default();
            if is_automatic(record.session_key.as_str()) {
                self.note = Some(Note::NoConversation);
            }
            return;
        }
        if self.note.is_some() {
            return;
        }
        let id = record.id.some();
        let edge = id.as_ref().map(|id| {
            Edge::new(
                id.as_bytes(),
                record.parent_id.0.as_ref().map(String::as_bytes),
            )
        });
        if edge.is_some_and(|edge| self.tree.has_turn(edge)) {
            return;
        }
        let message = record.message.0.unwrap_or_default();
        let mut words: Vec<String> = Vec::new();
        if record.kind.is("message") {
            match message.role.as_str() {
                "assistant" => out.answered(&message.content.joined(&["text"])),
                "user" => {
                    words = message
                        .content
                        .texts(&["text"])
                        .filter_map(own_words)
                        .collect()
                }
                _ => {}
            }
        }
        if words.is_empty() {
            if let Some(edge) = edge {
                self.tree.record(edge);
            }
            return;
        }
        for key in edge.map_or_else(Vec::new, |edge| self.tree.turn(edge, true)) {
            out.withdraw(key);
            // So was the answer to it.
            out.forget_answer();
        }
        let key = out.say(Said {
            // Short ids are unique within their conversation only.
            id: id.map(|id| format!("{}/{id}", self.session)),
            text: words.join("\n"),
            kind: TurnKind::Typed,
            at: record.timestamp.0.or(message.timestamp.0),
            session: self.session.clone(),
            place: place.to_owned(),
        });
        if edge.is_some() {
            self.tree.said(Vec::from_iter(key));
        }
    }
}

/// Whether a conversation's key says that a clock or a hook began it.
pub(super) fn is_automatic(key: &str) -> bool {
    let mut parts = key.split(':');
    // The last part is a name, not a kind.
    parts.next_back();
    parts.any(|part| part == "cron" || part == "hook")
}

/// A text without the envelope that it arrived in; nothing where nobody typed it.
fn own_words(text: &str) -> Option<String> {
    let mut rest = text.trim_start();
    while let Some(behind) = without_metadata(rest).or_else(|| without_time(rest)) {
        rest = behind.trim_start();
    }
    let heartbeat = rest.starts_with("Read HEARTBEAT.md") || rest.contains("reply HEARTBEAT_OK");
    if heartbeat || rest.starts_with("[cron:") {
        return None;
    }
    let lines: Vec<&str> = rest
        .lines()
        .filter(|line| !line.starts_with("System: [") && !line.starts_with("[message_id:"))
        .collect();
    let words = lines.join("\n");
    (!words.trim().is_empty()).then_some(words)
}

/// What follows `Sender (untrusted metadata):` and the fenced JSON under it.
fn without_metadata(text: &str) -> Option<&str> {
    let (heading, rest) = text.split_once('\n')?;
    let heading = heading.trim_end();
    if !(heading.contains("(untrusted") && heading.ends_with("):")) {
        return None;
    }
    let rest = rest.trim_start().strip_prefix("```")?;
    let end = rest.find("\n```")? + "\n```".len();
    Some(&rest[end..])
}

/// What follows `[Thu 2026-11-05 22:03 GMT+9] `.
fn without_time(text: &str) -> Option<&str> {
    let (inside, rest) = text.strip_prefix('[')?.split_once(']')?;
    let is_date = |word: &str| {
        word.len() == 10
            && word.bytes().enumerate().all(|(at, byte)| match at {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            })
    };
    let is_time = |word: &str| word.contains(':') && word.as_bytes()[0].is_ascii_digit();
    let words: Vec<&str> = inside.split_whitespace().collect();
    let fits = !inside.contains('\n')
        && words
            .windows(2)
            .any(|pair| is_date(pair[0]) && is_time(pair[1]));
    fits.then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_envelope_is_stripped_and_what_programs_wrote_is_dropped() {
        for (text, words) in [
            (
                "Sender (untrusted metadata):\n```json\n{\"id\": 1}\n```\n\n[Thu 2026-11-05 22:03 GMT+9] Use pnpm.",
                Some("Use pnpm."),
            ),
            (
                "[Thu 2026-11-05 22:03 GMT+9] [draft] Use pnpm.",
                Some("[draft] Use pnpm."),
            ),
            (
                "System: [2026-11-05] restarted\nUse pnpm.",
                Some("Use pnpm."),
            ),
            (
                "Read HEARTBEAT.md if it exists. If nothing needs attention, reply HEARTBEAT_OK.",
                None,
            ),
            ("[cron:1 nightly] Summarise.", None),
            ("System: [x] y", None),
        ] {
            assert_eq!(own_words(text).as_deref(), words, "{text}");
        }
        assert!(is_automatic("agent:main:cron:nightly") && is_automatic("hook:mail"));
        assert!(!is_automatic("agent:main:main") && !is_automatic("agent:main:hook"));
    }
}
