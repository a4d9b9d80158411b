//! Claude Code: one JSON record per line, a tree by `parentUuid`.
//!
//! Most of a file is what tools returned. Such lines are not parsed: a search for a few words tells that nobody
//! typed them, and only their place in the tree is taken. The words stand in quotation marks, which are escaped
//! inside of texts, so that no text is mistaken for a mark.

use memchr::memmem::{self, Finder};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::json::{self, Member};
use super::lines::Line;
use super::moment::When;
use super::outbox::{Outbox, Said};
use super::shape::{Content, Flag, Lenient, Text};
use super::tags;
use super::tree::{Edge, Tree};
use crate::model::TurnKind;

/// Elements that the program puts into a person's message.
const ADDED: [&str; 5] = [
    "system-reminder",
    "ide_selection",
    "ide_opened_file",
    "ide_diagnostics",
    "user-prompt-submit-hook",
];

/// How messages begin that nobody typed to the agent.
const NOT_TYPED: [&str; 11] = [
    "<local-command-stdout",
    "<local-command-stderr",
    "<local-command-caveat",
    "<bash-input",
    "<bash-stdout",
    "<bash-stderr",
    "<task-notification",
    "<agent-message",
    "Caveat:",
    "[Request interrupted by user",
    "This session is being continued from a previous conversation",
];
/// The same, where another session speaks.
const ANOTHER_SESSION: &str = "Another Claude session sent";

/// Reads the lines of one file.
#[derive(Serialize, Deserialize)]
pub(super) struct Reader {
    tree: Tree,
    session: String,
    #[serde(skip)]
    marks: Marks,
}

/// What is searched for in lines.
struct Marks {
    user: Finder<'static>,
    assistant: Finder<'static>,
    queued: Finder<'static>,
    tool_result: Finder<'static>,
    tool_outcome: Finder<'static>,
    answers: Finder<'static>,
    sidechain: Finder<'static>,
    glued: Finder<'static>,
    text: Finder<'static>,
    spaced_text: Finder<'static>,
    uuid: Finder<'static>,
    parent: Finder<'static>,
}

impl Default for Marks {
    fn default() -> Self {
        Marks {
            user: Finder::new("\"user\""),
            assistant: Finder::new("\"assistant\""),
            queued: Finder::new("\"queued_command\""),
            tool_result: Finder::new("\"type\":\"tool_result\""),
            tool_outcome: Finder::new("\"toolUseResult\":"),
            answers: Finder::new("\"answers\""),
            sidechain: Finder::new("\"isSidechain\":true"),
            glued: Finder::new("}{\""),
            text: Finder::new("\"type\":\"text\""),
            spaced_text: Finder::new("\"type\": \"text\""),
            uuid: Finder::new("\"uuid\""),
            parent: Finder::new("\"parentUuid\""),
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Record {
    #[serde(rename = "type")]
    kind: Text,
    uuid: Text,
    parent_uuid: Text,
    timestamp: When,
    session_id: Text,
    is_sidechain: Flag,
    is_meta: Flag,
    is_compact_summary: Flag,
    is_visible_in_transcript_only: Flag,
    tool_use_result: Option<Value>,
    origin: Lenient<Origin>,
    message: Lenient<Message>,
    attachment: Lenient<Attachment>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Origin {
    kind: Text,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Message {
    role: Text,
    model: Text,
    content: Content,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Attachment {
    #[serde(rename = "type")]
    kind: Text,
    command_mode: Text,
    prompt: Content,
    is_meta: Flag,
    origin: Lenient<Origin>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Link {
    uuid: Text,
    parent_uuid: Text,
    is_sidechain: Flag,
}

impl Reader {
    pub(super) fn new() -> Self {
        Reader {
            tree: Tree::default(),
            session: String::new(),
            marks: Marks::default(),
        }
    }

    /// What a cursor carries along.
    pub(super) fn carried(&self) -> Self {
        Reader {
            tree: self.tree.carried(),
            session: self.session.clone(),
            marks: Marks::default(),
        }
    }

    pub(super) fn wake(&mut self) {
        self.tree.wake();
    }

    pub(super) fn line(&mut self, line: &Line<'_>, out: &mut Outbox<'_>) {
        let bytes = line.bytes;
        if !json::looks_whole(bytes) || self.marks.glued.find(bytes).is_some() {
            return self.parse(line, out);
        }
        if self.may_be_typed(bytes) {
            return self.parse(line, out);
        }
        self.link(bytes, line, out);
        if self.marks.assistant.find(bytes).is_some()
            && (self.marks.text.find(bytes).is_some()
                || self.marks.spaced_text.find(bytes).is_some())
            && self.marks.sidechain.find(bytes).is_none()
        {
            out.answered_by(bytes, assistant_text);
        }
    }

    /// Whether a line can hold anything that a person said. Wrong only on the side of yes.
    fn may_be_typed(&self, bytes: &[u8]) -> bool {
        let marks = &self.marks;
        if marks.user.find(bytes).is_some() {
            let of_a_tool =
                marks.tool_result.find(bytes).is_some() || marks.tool_outcome.find(bytes).is_some();
            let no_choice = of_a_tool && marks.answers.find(bytes).is_none();
            return !no_choice && marks.sidechain.find(bytes).is_none();
        }
        marks.queued.find(bytes).is_some()
    }

    /// Takes the place in the tree of a record that is not parsed.
    fn link(&mut self, bytes: &[u8], line: &Line<'_>, out: &mut Outbox<'_>) {
        let marks = &self.marks;
        let edge = match (
            json::member(bytes, &marks.uuid),
            json::member(bytes, &marks.parent),
        ) {
            (Member::Missing, _) => return,
            (Member::Text(id), Member::Text(parent)) => Edge::new(id, Some(parent)),
            (Member::Text(id), Member::Missing) => Edge::new(id, None),
            _ => {
                let mut links: Vec<Link> = Vec::new();
                json::records(bytes, line.place(), &mut out.problems, |link| {
                    links.push(link)
                });
                for link in links.iter().filter(|link| !link.is_sidechain.0) {
                    if let Some(edge) = edge(&link.uuid, &link.parent_uuid) {
                        self.tree.record(edge);
                    }
                }
                return;
            }
        };
        if marks.sidechain.find(bytes).is_none() {
            self.tree.record(edge);
        }
    }

    fn parse(&mut self, line: &Line<'_>, out: &mut Outbox<'_>) {
        let mut records: Vec<Record> = Vec::new();
        json::records(line.bytes, line.place(), &mut out.problems, |record| {
            records.push(record);
        });
        for record in records {
            self.record(record, line, out);
        }
    }

    fn record(&mut self, record: Record, line: &Line<'_>, out: &mut Outbox<'_>) {
        if record.is_sidechain.0 {
            return;
        }
        let edge = edge(&record.uuid, &record.parent_uuid);
        if edge.is_some_and(|edge| self.tree.has_turn(edge)) {
            return;
        }
        if let Some(session) = record.session_id.0.as_ref().filter(|id| !id.is_empty()) {
            self.session.clone_from(session);
        }
        let (typed, said) = match record.kind.as_str() {
            "user" => {
                let choices = choices(&record);
                if choices.is_empty() {
                    let text = typed_text(&record).map(|text| (text, TurnKind::Typed));
                    (true, Vec::from_iter(text))
                } else {
                    (false, choices)
                }
            }
            "attachment" => {
                let text = queued_text(&record).map(|text| (text, TurnKind::Typed));
                (false, Vec::from_iter(text))
            }
            "assistant" => {
                if let Some(text) = spoken(&record) {
                    out.answered(&text);
                }
                (false, Vec::new())
            }
            _ => (false, Vec::new()),
        };
        if said.is_empty() {
            if let Some(edge) = edge {
                self.tree.record(edge);
            }
            return;
        }
        for key in edge.map_or_else(Vec::new, |edge| self.tree.turn(edge, typed)) {
            out.withdraw(key);
            // So was the answer to it.
            out.forget_answer();
        }
        let several = said.len() > 1;
        let mut keys = Vec::new();
        for (number, (text, kind)) in said.into_iter().enumerate() {
            let id = record.uuid.0.clone().filter(|id| !id.is_empty()).map(|id| {
                if several {
                    format!("{id}#{}", number + 1)
                } else {
                    id
                }
            });
            keys.extend(out.say(Said {
                id,
                text,
                kind,
                at: record.timestamp.0.clone(),
                session: self.session.clone(),
                place: line.place(),
            }));
        }
        if edge.is_some() {
            self.tree.said(keys);
        }
    }
}

fn edge(uuid: &Text, parent: &Text) -> Option<Edge> {
    let uuid = uuid.0.as_ref().filter(|id| !id.is_empty())?;
    Some(Edge::new(
        uuid.as_bytes(),
        parent.0.as_ref().map(String::as_bytes),
    ))
}

/// What a person typed at the prompt.
fn typed_text(record: &Record) -> Option<String> {
    let of_a_program = record.is_meta.0
        || record.is_compact_summary.0
        || record.is_visible_in_transcript_only.0
        || record.tool_use_result.is_some()
        || !is_human(&record.origin);
    let message = record.message.as_ref()?;
    let of_another = message.role.0.as_ref().is_some_and(|role| role != "user");
    if of_a_program || of_another || message.content.has("tool_result") {
        return None;
    }
    typed_part(&message.content)
}

/// What a person typed while the agent worked.
fn queued_text(record: &Record) -> Option<String> {
    let attachment = record.attachment.as_ref()?;
    let typed = attachment.kind.is("queued_command")
        && attachment.command_mode.is("prompt")
        && !attachment.is_meta.0
        && !record.is_meta.0
        && is_human(&attachment.origin)
        && is_human(&record.origin);
    if typed {
        typed_part(&attachment.prompt)
    } else {
        None
    }
}

fn is_human(origin: &Lenient<Origin>) -> bool {
    let kind = origin.as_ref().and_then(|origin| origin.kind.0.as_deref());
    kind.is_none_or(|kind| kind == "human")
}

fn typed_part(content: &Content) -> Option<String> {
    let parts: Vec<String> = content.texts(&["text"]).filter_map(own_words).collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

/// A text without what the program added to it; nothing where nobody typed it to the agent.
fn own_words(text: &str) -> Option<String> {
    let mut text = text.to_owned();
    for name in ADDED {
        if memmem::find(text.as_bytes(), name.as_bytes()).is_some() {
            tags::cut_element(&mut text, name);
        }
    }
    let words = text.trim();
    if words.starts_with("<command-name>") || words.starts_with("<command-message>") {
        const OPEN: &str = "<command-args>";
        let from = words.find(OPEN)? + OPEN.len();
        let to = words.rfind("</command-args>").unwrap_or(words.len());
        let arguments = words.get(from..to)?.trim();
        return (!arguments.is_empty()).then(|| arguments.to_owned());
    }
    let dropped = words.is_empty()
        || words.starts_with(ANOTHER_SESSION)
        || NOT_TYPED.iter().any(|start| words.starts_with(start));
    (!dropped).then(|| words.to_owned())
}

/// The options that a person chose when the agent asked.
fn choices(record: &Record) -> Vec<(String, TurnKind)> {
    let answers = record
        .tool_use_result
        .as_ref()
        .and_then(|outcome| outcome.get("answers"))
        .and_then(Value::as_object);
    let text = |answer: &Value| match answer {
        Value::String(text) => text.clone(),
        Value::Array(several) => {
            let texts: Vec<&str> = several.iter().filter_map(Value::as_str).collect();
            texts.join(", ")
        }
        _ => String::new(),
    };
    answers
        .into_iter()
        .flatten()
        .map(|(question, answer)| {
            let question = question.clone();
            (text(answer), TurnKind::Choice { question })
        })
        .filter(|(answer, _)| !answer.trim().is_empty())
        .collect()
}

/// What the agent said to the person in a record that was not parsed before.
fn assistant_text(bytes: &[u8]) -> Option<String> {
    spoken(&json::first::<Record>(bytes)?)
}

fn spoken(record: &Record) -> Option<String> {
    let message = record.message.as_ref()?;
    let speaks =
        record.kind.is("assistant") && !record.is_sidechain.0 && !message.model.is("<synthetic>");
    let text = message.content.joined(&["text"]);
    (speaks && !text.trim().is_empty()).then_some(text)
}
