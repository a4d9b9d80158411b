//! Cursor: messages as lines of JSON, or as text under lines that say `user:` and `assistant:`.

use std::io::{self, Read};

use serde::{Deserialize, Serialize};

use super::json;
use super::lines::{Line, Lines};
use super::moment::When;
use super::outbox::{Outbox, Said};
use super::problem::ProblemKind;
use super::shape::{Content, Lenient, Text};
use crate::model::{Stamp, TurnKind};

const OPEN: &str = "<user_query>";
const CLOSE: &str = "</user_query>";

/// The longest message of the text form that is kept, in bytes.
const LONGEST_MESSAGE: usize = 4 << 20;

/// Reads the lines of one file.
#[derive(Serialize, Deserialize, Clone)]
pub(super) struct Reader {}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Record {
    role: Text,
    id: Text,
    timestamp: When,
    message: Lenient<Message>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Message {
    content: Content,
}

impl Reader {
    pub(super) fn new() -> Self {
        Reader {}
    }

    pub(super) fn line(&mut self, line: &Line<'_>, out: &mut Outbox<'_>) {
        let mut records: Vec<Record> = Vec::new();
        json::records(line.bytes, line.place(), &mut out.problems, |record| {
            records.push(record);
        });
        for record in records {
            let text = record
                .message
                .as_ref()
                .map(|message| message.content.joined(&["text"]))
                .unwrap_or_default();
            match record.role.as_str() {
                "assistant" => out.answered(&text),
                "user" => say(&text, record.id.0, record.timestamp.0, line.place(), out),
                _ => {}
            }
        }
    }
}

fn say(text: &str, id: Option<String>, at: Option<Stamp>, place: String, out: &mut Outbox<'_>) {
    out.say(Said {
        id,
        text: own_words(text),
        kind: TurnKind::Typed,
        at,
        session: String::new(),
        place,
    });
}

/// What a person typed. A message without a query is theirs where it does not begin with an element.
fn own_words(text: &str) -> String {
    let mut queries = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find(OPEN) {
        let inside = &rest[open + OPEN.len()..];
        let end = inside.find(CLOSE);
        queries.push(inside[..end.unwrap_or(inside.len())].trim());
        rest = end.map_or("", |end| &inside[end + CLOSE.len()..]);
    }
    if queries.is_empty() && !text.trim_start().starts_with('<') {
        return text.trim().to_owned();
    }
    queries.join("\n")
}

/// Reads the text form.
pub(super) fn read_text(stream: &mut dyn Read, out: &mut Outbox<'_>) -> io::Result<u64> {
    let mut lines = Lines::new(stream);
    let mut message: Option<(bool, String, String)> = None;
    while let Some(line) = lines.next()? {
        if line.too_long {
            out.problems.met(ProblemKind::TooLong, line.place());
            continue;
        }
        let text = String::from_utf8_lossy(line.bytes);
        let in_query = message
            .as_ref()
            .is_some_and(|(user, text, _)| *user && text.rfind(OPEN) > text.rfind(CLOSE));
        match speaker(&text) {
            Some(user) if !in_query => {
                if let Some(message) = message.take() {
                    hand_out(message, out);
                }
                message = Some((user, String::new(), line.place()));
            }
            _ => {
                if let Some((_, kept, _)) = &mut message
                    && kept.len() < LONGEST_MESSAGE
                {
                    kept.push_str(&text);
                    kept.push('\n');
                }
            }
        }
    }
    if let Some(message) = message {
        hand_out(message, out);
    }
    Ok(lines.position())
}

/// Whether a line begins a message, and whether a person's.
pub(super) fn speaker(line: &str) -> Option<bool> {
    match line.trim_end() {
        "user:" => Some(true),
        "assistant:" => Some(false),
        _ => None,
    }
}

fn hand_out((user, text, place): (bool, String, String), out: &mut Outbox<'_>) {
    if user {
        say(&text, None, None, place, out);
    } else {
        out.answered(&text);
    }
}
