//! Gemini CLI: messages as lines, with control lines that take some back; older, one JSON document.

use serde::{Deserialize, Serialize};

use super::lines::Line;
use super::moment::When;
use super::outbox::{Outbox, Said};
use super::shape::{Content, Lenient, Text};
use super::{Note, digest, json, tags};
use crate::model::TurnKind;

/// How many messages a cursor carries along.
const MOST_CARRIED: usize = 1024;

/// Reads the lines of one file.
#[derive(Serialize, Deserialize, Clone)]
pub(super) struct Reader {
    session: String,
    /// The messages that stand, in their order.
    messages: Vec<Known>,
    /// Why the file holds no conversation of a person.
    pub(super) note: Option<Note>,
}

/// A message that was read.
#[derive(Serialize, Deserialize, Clone)]
struct Known {
    id: u64,
    /// The turn that it became.
    key: Option<String>,
    text: u64,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Record {
    id: Text,
    #[serde(rename = "type")]
    kind: Text,
    timestamp: When,
    content: Content,
    #[serde(rename = "displayContent")]
    display: Option<Content>,
    #[serde(rename = "sessionId")]
    session: Text,
    #[serde(rename = "kind")]
    of: Text,
    #[serde(rename = "$rewindTo")]
    rewind_to: Text,
    #[serde(rename = "$set")]
    set: Lenient<Set>,
    messages: Option<Vec<Lenient<Record>>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Set {
    messages: Option<Vec<Lenient<Record>>>,
}

impl Reader {
    pub(super) fn new() -> Self {
        Reader {
            session: String::new(),
            messages: Vec::new(),
            note: None,
        }
    }

    pub(super) fn carried(&self) -> Self {
        let mut carried = self.clone();
        let surplus = carried.messages.len().saturating_sub(MOST_CARRIED);
        carried.messages.drain(..surplus);
        carried
    }

    pub(super) fn line(&mut self, line: &Line<'_>, out: &mut Outbox<'_>) {
        let place = line.place();
        self.read(line.bytes, &place, out);
    }

    /// Reads a line, or a whole document.
    pub(super) fn read(&mut self, bytes: &[u8], place: &str, out: &mut Outbox<'_>) {
        let mut records: Vec<Record> = Vec::new();
        json::records(bytes, place, &mut out.problems, |record| {
            records.push(record)
        });
        for record in records {
            self.record(record, place, out);
        }
    }

    fn record(&mut self, mut record: Record, place: &str, out: &mut Outbox<'_>) {
        if self.note.is_some() {
            return;
        }
        if let Some(id) = std::mem::take(&mut record.rewind_to).some() {
            let id = digest::short(id.as_bytes());
            let from = self.messages.iter().position(|known| known.id == id);
            for known in self.messages.drain(from.unwrap_or(0)..) {
                if let Some(key) = known.key {
                    out.withdraw(key);
                }
            }
            out.forget_answer();
            return;
        }
        if let Some(messages) = record.set.0.take().and_then(|set| set.messages) {
            self.replace_all(messages, place, out);
            return;
        }
        if let Some(session) = std::mem::take(&mut record.session).some() {
            self.session = session;
            if record.of.is("subagent") {
                self.note = Some(Note::Subagent);
                return;
            }
            for (number, message) in record.messages.into_iter().flatten().enumerate() {
                if let Some(message) = message.0 {
                    self.message(message, &format!("message {}", number + 1), out);
                }
            }
            return;
        }
        self.message(record, place, out);
    }

    /// What is no longer in the list is withdrawn.
    fn replace_all(&mut self, messages: Vec<Lenient<Record>>, place: &str, out: &mut Outbox<'_>) {
        let messages: Vec<Record> = messages.into_iter().filter_map(|one| one.0).collect();
        let ids: Vec<u64> = messages
            .iter()
            .map(|message| digest::short(message.id.as_str().as_bytes()))
            .collect();
        let before = std::mem::take(&mut self.messages);
        for known in before {
            if ids.contains(&known.id) {
                self.messages.push(known);
            } else if let Some(key) = known.key {
                out.withdraw(key);
            }
        }
        self.messages
            .sort_by_key(|known| ids.iter().position(|id| *id == known.id));
        for message in messages {
            self.message(message, place, out);
        }
    }

    fn message(&mut self, record: Record, place: &str, out: &mut Outbox<'_>) {
        if record.kind.is("gemini") {
            out.answered(&record.content.joined(&["text"]));
        }
        let text = if record.kind.is("user") {
            own_words(&record)
        } else {
            String::new()
        };
        let id = digest::short(record.id.as_str().as_bytes());
        let text_hash = digest::short(text.as_bytes());
        let known = self
            .messages
            .iter()
            .position(|known| known.id == id && record.id.0.is_some());
        if let Some(at) = known {
            if self.messages[at].text == text_hash {
                return;
            }
            if let Some(key) = self.messages[at].key.take() {
                out.withdraw(key);
            }
        }
        let key = if text.is_empty() {
            None
        } else {
            out.say(Said {
                id: record.id.0,
                text,
                kind: TurnKind::Typed,
                at: record.timestamp.0,
                session: self.session.clone(),
                place: place.to_owned(),
            })
        };
        let message = Known {
            id,
            key,
            text: text_hash,
        };
        match known {
            Some(at) => self.messages[at] = message,
            None => self.messages.push(message),
        }
    }
}

/// What a person typed, without the files that they referred to.
fn own_words(record: &Record) -> String {
    let shown = record.display.as_ref().map(|shown| shown.joined(&["text"]));
    let mut text = shown
        .filter(|text| !text.trim().is_empty())
        .unwrap_or_else(|| record.content.joined(&["text"]));
    for name in ["hook_context", "session_context"] {
        tags::cut_element(&mut text, name);
    }
    text.trim().to_owned()
}
