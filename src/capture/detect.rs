//! Tells by its content what a file is. Its name is never asked.

use std::io::{self, Read};

use serde::{Deserialize, Deserializer, de::IgnoredAny};

use super::elements::{Elements, State};
use super::host::Host;
use super::lines::Lines;
use super::shape::{Lenient, Text};
use super::text::{Style, Watch};
use super::{cursor_agent, json};

/// How many records are looked at.
const RECORDS: usize = 20;
/// How far a text is searched for its second speaker, in lines and bytes.
const TEXT_LINES: u64 = 20_000;
const TEXT_BYTES: u64 = 4 << 20;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Format {
    pub(super) host: Host,
    pub(super) form: Form,
}

/// How a file is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A record per line.
    Lines,
    /// Objects of any layout, in an array or not.
    Document,
    /// Text with signs for who speaks.
    Text(Style),
    /// Cursor's text.
    CursorText,
}

/// That a member is there, whatever it holds.
#[derive(Debug, Default, Clone, Copy)]
struct Present(bool);

impl<'de> Deserialize<'de> for Present {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Present(true))
    }
}

/// The members that tell formats apart.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Shape {
    #[serde(rename = "type")]
    kind: Text,
    payload: Present,
    role: Text,
    content: Present,
    message: Lenient<Inner>,
    id: Text,
    instructions: Present,
    version: Present,
    #[serde(rename = "sessionId")]
    session_id: Present,
    #[serde(rename = "projectHash")]
    project_hash: Present,
    #[serde(rename = "projectID")]
    project_id: Present,
    data: Present,
    uuid: Present,
    #[serde(rename = "leafUuid")]
    leaf_uuid: Present,
    mapping: Present,
    chat_messages: Present,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Inner {
    content: Present,
}

/// One line of the table: what a record has, and what the file then is.
type Rule = (fn(&Shape) -> bool, Host, Form);

/// The first rule that any of the first records fulfils decides.
const RULES: [Rule; 9] = [
    (is_codex, Host::Codex, Form::Lines),
    (
        |shape| shape.kind.is("session") && shape.version.0,
        Host::OpenClaw,
        Form::Lines,
    ),
    (
        |shape| shape.session_id.0 && shape.project_hash.0,
        Host::Gemini,
        Form::Lines,
    ),
    (
        |shape| (shape.kind.is("session.start") || shape.kind.is("user.message")) && shape.data.0,
        Host::Copilot,
        Form::Lines,
    ),
    (
        |shape| {
            let message = shape.message.as_ref();
            shape.kind.0.is_none()
                && shape.role.0.is_some()
                && message.is_some_and(|message| message.content.0)
        },
        Host::Cursor,
        Form::Lines,
    ),
    (
        |shape| shape.kind.0.is_some() && (shape.uuid.0 || shape.session_id.0 || shape.leaf_uuid.0),
        Host::ClaudeCode,
        Form::Lines,
    ),
    (|shape| shape.mapping.0, Host::ChatGpt, Form::Document),
    (
        |shape| shape.chat_messages.0,
        Host::ClaudeAi,
        Form::Document,
    ),
    (
        |shape| shape.id.as_str().starts_with("ses_") && shape.project_id.0,
        Host::OpenCode,
        Form::Document,
    ),
];

fn is_codex(shape: &Shape) -> bool {
    let has_kind = shape.kind.0.is_some();
    shape.kind.is("session_meta")
        || has_kind && shape.payload.0
        || (!has_kind || shape.kind.is("message")) && shape.role.0.is_some() && shape.content.0
        || !has_kind && shape.id.0.is_some() && shape.instructions.0
}

fn by_rules(shapes: &[Shape]) -> Option<Format> {
    RULES
        .iter()
        .find(|(fits, ..)| shapes.iter().any(fits))
        .map(|&(_, host, form)| Format { host, form })
}

/// What a look at a file found.
pub(super) struct Look {
    /// What it is.
    pub(super) format: Option<Format>,
    /// Whether the answer would be the same with more of the file.
    pub(super) is_final: bool,
    /// The first byte that is not blank.
    first: Option<u8>,
}

/// Looks at a file that `open` begins to read anew each time.
pub(super) fn detect<'r>(
    open: &mut dyn FnMut() -> io::Result<Box<dyn Read + 'r>>,
    wanted: Option<Host>,
) -> io::Result<Look> {
    // The whole of an export may be one line, longer than any that is kept.
    let beginning = beginning(open()?)?;
    let mut look = Look {
        format: None,
        is_final: true,
        first: beginning.first().copied(),
    };
    let is_list = look.first == Some(b'[') && !is_a_sentence(&beginning);
    if !is_list || wanted == Some(Host::Text) {
        detect_lines(open()?, wanted, &mut look)?;
    }
    let undecided = look.format.is_none() && matches!(look.first, Some(b'{' | b'['));
    if undecided && wanted != Some(Host::Text) {
        look.format = detect_document(open()?)?;
        look.is_final = look.format.is_some();
    }
    if let Some(host) = wanted
        && look.format.is_none_or(|format| format.host != host)
    {
        look.format = as_told(host, &look);
        look.is_final = look.format.is_some();
    }
    Ok(look)
}

/// The format of a file whose host was named by the one who called.
fn as_told(host: Host, look: &Look) -> Option<Format> {
    let form = match host {
        Host::ChatGpt | Host::ClaudeAi => Form::Document,
        Host::Text | Host::OpenCode => return None,
        Host::Cursor if look.first != Some(b'{') => Form::CursorText,
        _ => Form::Lines,
    };
    look.first?;
    Some(Format { host, form })
}

/// The first bytes of a file that are not blank.
fn beginning(stream: Box<dyn Read + '_>) -> io::Result<Vec<u8>> {
    const LENGTH: u64 = 4096;
    let mut bytes = Vec::new();
    Read::take(stream, LENGTH).read_to_end(&mut bytes)?;
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    let start = bytes.iter().position(|byte| !is_blank(*byte));
    Ok(start.map_or_else(Vec::new, |start| bytes[start..].to_vec()))
}

fn is_blank(byte: u8) -> bool {
    byte == 0 || byte.is_ascii_whitespace()
}

fn detect_lines(
    stream: Box<dyn Read + '_>,
    wanted: Option<Host>,
    look: &mut Look,
) -> io::Result<()> {
    let mut lines = Lines::new(stream);
    let mut shapes: Vec<Shape> = Vec::new();
    let (mut written, mut speakers) = (0usize, [false; 2]);
    let mut watch = Watch::default();
    while let Some(line) = lines.next()? {
        let bytes = line
            .bytes
            .strip_prefix(b"\xEF\xBB\xBF")
            .unwrap_or(line.bytes);
        let Some(first) = bytes.iter().find(|byte| !is_blank(**byte)) else {
            continue;
        };
        look.first = look.first.or(Some(*first));
        written += 1;
        let may_be_lines = written <= 2 * RECORDS && shapes.len() < RECORDS;
        if may_be_lines && matches!(first, b'{' | b'0'..=b'9') && bytes.contains(&b'{') {
            shapes.extend(json::first::<Shape>(bytes));
        }
        // Prose may quote a record or two.
        let done = shapes.len() == RECORDS || written == 2 * RECORDS;
        if done && shapes.len() * 2 >= written {
            look.format = by_rules(&shapes);
            if look.format.is_some() && wanted != Some(Host::Text) {
                return Ok(());
            }
        }
        if bytes.len() < 100_000 {
            let text = String::from_utf8_lossy(bytes);
            if let Some(user) = cursor_agent::speaker(&text) {
                speakers[usize::from(user)] = true;
            }
            let style = watch.line(&text);
            if speakers == [true; 2] && wanted != Some(Host::Text) {
                look.format = Some(Format {
                    host: Host::Cursor,
                    form: Form::CursorText,
                });
                return Ok(());
            }
            // Cursor's signs are those of plain text too; its own are met first by a line alone.
            if let Some(style) = style {
                look.format = Some(Format {
                    host: Host::Text,
                    form: Form::Text(style),
                });
                return Ok(());
            }
        }
        let binary = written == 1 && bytes.contains(&0) && !bytes.contains(&b'{');
        let far = line.number > TEXT_LINES || line.start > TEXT_BYTES;
        if binary || far && (shapes.is_empty() || !may_be_lines) {
            break;
        }
    }
    if shapes.len() * 2 >= written && look.format.is_none() {
        look.format = by_rules(&shapes);
    }
    look.is_final = look.format.is_some();
    Ok(())
}

/// Whether what begins with a bracket is prose all the same: `[12:03] …`.
fn is_a_sentence(bytes: &[u8]) -> bool {
    let rest = bytes[1..].trim_ascii_start();
    !matches!(rest.first(), None | Some(b'{' | b'[' | b']' | b'"'))
}

fn detect_document(stream: Box<dyn Read + '_>) -> io::Result<Option<Format>> {
    let mut elements = Elements::new(stream);
    let mut shapes = Vec::new();
    while let Some(element) = elements.next()? {
        if element.state == State::Whole {
            shapes.extend(json::first::<Shape>(element.bytes));
        }
        if element.number as usize >= RECORDS || by_rules(&shapes).is_some() {
            break;
        }
    }
    let format = by_rules(&shapes);
    // Records of lines that stand in an array or over several lines are read as objects.
    Ok(format
        .filter(|format| {
            matches!(
                format.host,
                Host::ChatGpt | Host::ClaudeAi | Host::Gemini | Host::OpenCode
            )
        })
        .map(|format| Format {
            form: Form::Document,
            ..format
        }))
}
