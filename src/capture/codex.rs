//! Codex CLI: rollout files of all eras.
//!
//! What a person typed stands in a file up to three times: as the event `user_message`, as a completed item, and as
//! a message to the model, which also has what the program added. One source is read per file; which one a file has
//! is known when the first event comes, so the first messages wait for it.

use std::collections::VecDeque;

use memchr::memmem::Finder;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::lines::Line;
use super::moment::When;
use super::outbox::{Outbox, Said};
use super::shape::{Content, Lenient, Number, Text};
use super::{Note, digest, json};
use crate::model::{Answer, Stamp, TurnKind};

/// How texts begin that the program added.
const ADDED: [&str; 13] = [
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<multi_agent_mode>",
    "<apps_instructions>",
    "<turn_aborted>",
    "# AGENTS.md",
    "You are `/root",
    "<skill>",
    "<hook_prompt",
    "<user_shell_command>",
    "<image",
];

/// What stands before a person's words where an editor sends what is open in it.
const REQUEST: &str = "## My request for Codex:";

/// How many messages wait for the first event.
const MOST_WAITING: usize = 16;
/// How many turns are remembered for when they are rolled back.
const MOST_REMEMBERED: usize = 512;

/// Where in a file a person's words are taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Source {
    Undecided,
    Events,
    Items,
    Messages,
}

/// A message that waits until the source is known.
struct Waiting {
    text: String,
    at: Option<Stamp>,
    place: String,
    answer: Option<Answer>,
}

/// Reads the lines of one file.
#[derive(Serialize, Deserialize)]
pub(super) struct Reader {
    source: Source,
    session: String,
    /// The conversation that this one grew out of: turns have the same key in both.
    root: String,
    has_meta: bool,
    /// The key of the latest turn, which the next one is made from.
    chain: String,
    /// The latest turns, in their order; nothing where one had nothing to hand out.
    turns: VecDeque<Option<String>>,
    /// The hash of the latest message's text, where messages are the source: its words have no place in a cursor.
    last_message: u64,
    /// Why the file holds no conversation of a person.
    pub(super) note: Option<Note>,
    #[serde(skip)]
    waiting: Vec<Waiting>,
    #[serde(skip)]
    marks: Marks,
}

struct Marks(Vec<Finder<'static>>);

impl Default for Marks {
    fn default() -> Self {
        let words = [
            "\"user_message\"",
            "\"UserMessage\"",
            "\"user\"",
            "\"session_meta\"",
            "\"thread_rolled_back\"",
            "\"agent_message\"",
            "\"assistant\"",
            "\"instructions\"",
        ];
        Marks(words.iter().map(|word| Finder::new(*word)).collect())
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Record {
    #[serde(rename = "type")]
    kind: Text,
    timestamp: When,
    payload: Lenient<Payload>,
    // The oldest era has the parts of the payload here.
    id: Text,
    role: Text,
    content: Content,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Payload {
    #[serde(rename = "type")]
    kind: Text,
    id: Text,
    role: Text,
    content: Content,
    message: Text,
    item: Lenient<Item>,
    num_turns: Number,
    history_mode: Text,
    forked_from_id: Text,
    source: Option<Value>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Item {
    #[serde(rename = "type")]
    kind: Text,
    content: Content,
}

impl Reader {
    pub(super) fn new() -> Self {
        Reader {
            source: Source::Undecided,
            session: String::new(),
            root: String::new(),
            has_meta: false,
            chain: String::new(),
            turns: VecDeque::new(),
            last_message: 0,
            note: None,
            waiting: Vec::new(),
            marks: Marks::default(),
        }
    }

    pub(super) fn line(&mut self, line: &Line<'_>, out: &mut Outbox<'_>) {
        let bytes = line.bytes;
        let wanted =
            !json::looks_whole(bytes) || self.marks.0.iter().any(|mark| mark.find(bytes).is_some());
        if !wanted || self.note.is_some() {
            return;
        }
        let mut records: Vec<Record> = Vec::new();
        json::records(bytes, line.place(), &mut out.problems, |record| {
            records.push(record);
        });
        for record in records {
            self.record(record, line, out);
        }
    }

    /// At the end of the file messages wait no longer.
    pub(super) fn finish(&mut self, out: &mut Outbox<'_>) {
        if self.source == Source::Undecided && !self.waiting.is_empty() {
            self.source = Source::Messages;
            for waiting in std::mem::take(&mut self.waiting) {
                self.last_message = digest::short(waiting.text.as_bytes());
                self.say(waiting, out);
            }
        }
    }

    fn record(&mut self, record: Record, line: &Line<'_>, out: &mut Outbox<'_>) {
        let at = record.timestamp.0;
        let Some(payload) = record.payload.0 else {
            if record.role.0.is_some() {
                self.message(record.role.as_str(), &record.content, at, line, out);
            } else if let Some(id) = record.id.some()
                && self.session.is_empty()
            {
                self.session.clone_from(&id);
                self.root = id;
            }
            return;
        };
        match (record.kind.as_str(), payload.kind.as_str()) {
            ("session_meta", _) => self.meta(payload),
            ("event_msg", "user_message") => self.event(payload.message.as_str(), at, line, out),
            ("event_msg", "item_completed") => {
                let Some(item) = payload.item.as_ref() else {
                    return;
                };
                if self.source == Source::Items && item.kind.is("UserMessage") {
                    let texts: Vec<&str> = item.content.texts(&["text", "input_text"]).collect();
                    self.take(&texts, at, line, out);
                }
            }
            ("event_msg", "agent_message") => out.answered(payload.message.as_str()),
            ("event_msg", "thread_rolled_back") => {
                self.roll_back(payload.num_turns.0.unwrap_or(0.0) as usize, out);
            }
            ("response_item", "message") => {
                self.message(payload.role.as_str(), &payload.content, at, line, out);
            }
            _ => {}
        }
    }

    fn meta(&mut self, meta: Payload) {
        if !self.has_meta {
            self.has_meta = true;
            self.session = meta.id.0.clone().unwrap_or_default();
            if meta.history_mode.is("paginated") {
                self.source = Source::Items;
            }
            self.note = match &meta.source {
                Some(Value::Object(source)) if source.contains_key("subagent") => {
                    Some(Note::Subagent)
                }
                Some(Value::String(source)) if source == "subagent" => Some(Note::Subagent),
                Some(Value::String(source)) if source == "exec" => Some(Note::NoConversation),
                _ => None,
            };
        }
        // A fork begins with the records of what it was forked from, their beginning among them.
        if self.turns.is_empty() && self.waiting.is_empty() {
            let origin = meta.forked_from_id.some().or(meta.id.some());
            self.root = origin.unwrap_or_default();
        }
    }

    fn event(&mut self, text: &str, at: Option<Stamp>, line: &Line<'_>, out: &mut Outbox<'_>) {
        match self.source {
            Source::Items => return,
            Source::Messages => {
                // The file was read between a message and its event.
                let known = own_words(&[text])
                    .is_some_and(|text| digest::short(text.as_bytes()) == self.last_message);
                self.source = Source::Events;
                if known {
                    return;
                }
            }
            Source::Undecided => {
                self.waiting.clear();
                self.source = Source::Events;
            }
            Source::Events => {}
        }
        self.take(&[text], at, line, out);
    }

    fn message(
        &mut self,
        role: &str,
        content: &Content,
        at: Option<Stamp>,
        line: &Line<'_>,
        out: &mut Outbox<'_>,
    ) {
        match role {
            "assistant" => out.answered(&content.joined(&["output_text", "text"])),
            "user" if matches!(self.source, Source::Undecided | Source::Messages) => {
                let texts: Vec<&str> = content.texts(&["input_text", "text"]).collect();
                let Some(text) = own_words(&texts) else {
                    return;
                };
                if self.source == Source::Messages {
                    self.last_message = digest::short(text.as_bytes());
                }
                let waiting = Waiting {
                    text,
                    at,
                    place: line.place(),
                    answer: out.last_answer(),
                };
                if self.source == Source::Messages {
                    self.say(waiting, out);
                } else {
                    self.waiting.push(waiting);
                    if self.waiting.len() > MOST_WAITING {
                        self.finish(out);
                    }
                }
            }
            _ => {}
        }
    }

    fn take(&mut self, texts: &[&str], at: Option<Stamp>, line: &Line<'_>, out: &mut Outbox<'_>) {
        if let Some(text) = own_words(texts) {
            let waiting = Waiting {
                text,
                at,
                place: line.place(),
                answer: out.last_answer(),
            };
            self.say(waiting, out);
        }
    }

    /// Hands out a turn. Records have no ids and a fork writes them with new times, so the key is made from the
    /// first conversation and all that was said up to here.
    fn say(&mut self, turn: Waiting, out: &mut Outbox<'_>) {
        let root = if self.root.is_empty() {
            &out.fallback_session
        } else {
            &self.root
        };
        let above = if self.chain.is_empty() {
            root
        } else {
            &self.chain
        };
        let key = digest::long(&["user", above, &turn.text]);
        self.chain.clone_from(&key);
        let said = Said {
            id: Some(key),
            text: turn.text,
            kind: TurnKind::Typed,
            at: turn.at,
            session: self.session.clone(),
            place: turn.place,
        };
        let key = out.say_after(said, turn.answer);
        if self.turns.len() == MOST_REMEMBERED {
            self.turns.pop_front();
        }
        self.turns.push_back(key);
    }

    fn roll_back(&mut self, count: usize, out: &mut Outbox<'_>) {
        for _ in 0..count {
            if self.waiting.pop().is_some() {
                continue;
            }
            match self.turns.pop_back() {
                Some(Some(key)) => out.withdraw(key),
                Some(None) => {}
                None => return,
            }
        }
    }
}

/// What a person wrote in these blocks; nothing where a program wrote them all.
fn own_words(texts: &[&str]) -> Option<String> {
    let words: Vec<&str> = texts
        .iter()
        .map(|text| text.trim())
        .map(|text| match text.find(REQUEST) {
            Some(at) => text[at + REQUEST.len()..].trim(),
            None => text,
        })
        .filter(|text| !text.is_empty() && *text != "</image>")
        .filter(|text| !ADDED.iter().any(|start| text.starts_with(start)))
        .collect();
    (!words.is_empty()).then(|| words.join("\n"))
}
