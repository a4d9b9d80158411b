//! What a file is, by its beginning.

use super::json::{self, Part};
use super::markdown::MARK;
use super::piece::ReadError;
use crate::capture;

/// What `import` knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// What aizo export writes
    Aizo,
    /// A list of entries: {"entries": […]}, as aizo 0.3.0 took it
    Entries,
    /// Memories of mem0
    Mem0,
    /// The graph of MCP's reference memory server
    McpMemory,
    /// Saved memories or custom instructions of ChatGPT
    Chatgpt,
    /// CLAUDE.md, AGENTS.md, .cursorrules or another list of rules
    Rules,
    /// An aizo store
    Store,
}

impl Format {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Aizo => "aizo",
            Format::Entries => "entries",
            Format::Mem0 => "mem0",
            Format::McpMemory => "mcp-memory",
            Format::Chatgpt => "chatgpt",
            Format::Rules => "rules",
            Format::Store => "store",
        }
    }

    /// How people are told.
    pub fn describe(self) -> &'static str {
        match self {
            Format::Aizo => "an export of aizo",
            Format::Entries => "a list of entries",
            Format::Mem0 => "memories of mem0",
            Format::McpMemory => "a graph of MCP's memory server",
            Format::Chatgpt => "memories of ChatGPT",
            Format::Rules => "a list of rules",
            Format::Store => "an aizo store",
        }
    }
}

/// How a file is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// A record on each line.
    Lines,
    /// JSON of any layout.
    Document,
    /// Text.
    Text,
    /// A database.
    Database,
}

/// What the beginning of a file tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// How it is laid out.
    pub layout: Layout,
    /// What the caller says that it is.
    pub(super) wanted: Option<Format>,
    /// Whether it looks like a conversation.
    pub(super) is_conversation: bool,
}

/// Looks at the beginning of a file.
///
/// # Errors
/// It is no text.
pub fn look(head: &[u8], wanted: Option<Format>) -> Result<Look, ReadError> {
    if head.starts_with(b"SQLite format 3\0") {
        return Ok(Look {
            layout: Layout::Database,
            wanted,
            is_conversation: false,
        });
    }
    if head.starts_with(&[0xFF, 0xFE]) || head.starts_with(&[0xFE, 0xFF]) {
        return Err(ReadError::Utf16);
    }
    let text = without_mark(head);
    let first = text.iter().find(|byte| !is_blank(**byte));
    if text.trim_ascii_start().starts_with(MARK.as_bytes()) {
        return Err(ReadError::Page);
    }
    let layout = match first {
        _ if wanted == Some(Format::Rules) => Layout::Text,
        Some(b'{') if is_lines(text) => Layout::Lines,
        Some(b'{' | b'[') if !is_link(text) => Layout::Document,
        // A model's answer may think aloud before the list of entries, and put a fence around it.
        Some(_) if has_entries(text) => Layout::Document,
        _ if !is_text(text) => return Err(ReadError::NotText),
        _ => Layout::Text,
    };
    Ok(Look {
        layout,
        wanted,
        is_conversation: is_conversation(head),
    })
}

/// Whether nearly all of it is what people write; a letter of an older encoding now and then does no harm.
fn is_text(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let odd = |c: &char| *c == '\u{fffd}' || c.is_control() && !c.is_whitespace();
    let count = text.chars().filter(odd).count();
    count * 20 <= text.chars().count()
}

pub(super) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

pub(super) fn is_blank(byte: u8) -> bool {
    byte == 0 || byte.is_ascii_whitespace()
}

/// Whether a record ends with its line: more may follow on the next.
fn is_lines(text: &[u8]) -> bool {
    let mut lines = text
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.iter().all(|&b| is_blank(b)));
    let Some(first) = lines.next() else {
        return false;
    };
    let mut parts = json::values(first);
    let is_record = |part: Part| part.is_whole && part.range.len() > 2;
    parts.next().is_some_and(is_record) && parts.next().is_none()
}

/// Whether what begins with a bracket is prose: a link, a box, a date.
fn is_link(text: &[u8]) -> bool {
    let at = text.iter().position(|byte| !is_blank(*byte)).unwrap_or(0);
    let rest = text[at..].strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
    rest.is_some_and(|rest| !matches!(rest.first(), None | Some(b'{' | b'[' | b']' | b'"')))
}

/// Whether a list of entries begins somewhere in a text, and not only the talk of one.
fn has_entries(text: &[u8]) -> bool {
    const NAME: &[u8] = b"\"entries\"";
    let begins = |at: usize| {
        let before = text[..at].trim_ascii_end();
        let mut behind = text[at + NAME.len()..].iter();
        let mut next = || behind.find(|byte| !byte.is_ascii_whitespace());
        before.ends_with(b"{")
            && [b':', b'['].iter().all(|sign| next() == Some(sign))
            && matches!(next(), Some(b'{' | b']'))
    };
    memchr::memmem::find_iter(text, NAME).any(begins)
}

fn is_conversation(head: &[u8]) -> bool {
    let mut stream = head;
    capture::read_stream(&mut stream, None, &mut |_| {}).is_ok_and(|reading| reading.host.is_some())
}
