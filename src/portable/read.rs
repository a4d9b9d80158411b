//! What a file is, by its content, and what stands in it. Lines are read one by one; a document is taken apart in memory. What is
//! broken is named by its line, and the rest is read.

use std::io::{self, Read};

use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;

use super::foreign::{Instructions, Listed, Memory, Node};
use super::json::{self, LineCount, Part};
use super::profile::{End, FORMAT, Header, Row, Sum, VERSION};
use super::rules;
use crate::capture::lines::Lines;
use crate::capture::{self, Problem, ProblemKind, Problems};
use crate::model::Stamp;

/// The longest document that is taken apart, in bytes; lines have no such end.
pub const LONGEST_DOCUMENT: u64 = 128 << 20;
/// The longest list of rules.
const LONGEST_TEXT: u64 = 16 << 20;

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
    wanted: Option<Format>,
    /// Whether it looks like a conversation.
    is_conversation: bool,
}

/// Whose words a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Voice {
    /// The person's own.
    ThePerson,
    /// Somebody else's about the person.
    AboutThePerson,
}

/// A text that may say what a person prefers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The text.
    pub text: String,
    /// Whose words it is.
    pub voice: Voice,
    /// When it was written down.
    pub at: Option<Stamp>,
    /// The heading that it stands under, where that speaks against it.
    pub under: Option<Heading>,
}

/// A heading that speaks against what stands under it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heading {
    /// "Never", "Don't", "Forbidden".
    Never,
    /// "Avoid".
    Avoid,
}

impl Told {
    pub(super) fn new(text: String, voice: Voice) -> Self {
        Told {
            text,
            voice,
            at: None,
            under: None,
        }
    }
}

/// An entry of a foreign list.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The label.
    pub item: String,
    /// Why it matters.
    pub reason: String,
    /// The score, where it has one.
    pub score: Option<f64>,
    /// Further words.
    pub keywords: Vec<String>,
    /// Kinds of task.
    pub scenarios: Vec<String>,
    /// What breaks it for certain.
    pub patterns: Vec<String>,
}

/// What stands in a place of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// A row of aizo's own format.
    Row(Row),
    /// An entry of a foreign list.
    Statement(Statement),
    /// A text.
    Told(Told),
    /// Something that is no preference, and why.
    Other(&'static str),
    /// Something that cannot be read, and why.
    Bad(String),
}

/// A piece and its line.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The line, from 1.
    pub line: u64,
    /// What stands there.
    pub piece: Piece,
}

/// Whether what a file says of the origin of its entries holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// It is another program's.
    Foreign,
    /// It was made for others to read, so that it may be anybody's.
    Published,
    /// It is as aizo wrote it.
    Whole,
    /// It is not, and why.
    Broken(&'static str),
}

/// How a file was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// What it is.
    pub format: Format,
    /// Whether what it says of itself holds.
    pub trust: Trust,
    /// How many changes stand in it.
    pub changes: usize,
    /// What makes this file the one that it is, where it is aizo's own.
    pub checksum: Option<String>,
    /// What was wrong with it and was survived.
    pub problems: Vec<Problem>,
}

/// Why a file cannot be read at all.
#[derive(Debug, Error)]
pub enum ReadError {
    /// Two bytes a character.
    #[error("it is UTF-16")]
    Utf16,
    /// No text.
    #[error("it is no text")]
    NotText,
    /// Too long for a document.
    #[error("it has more than {} MiB", most >> 20)]
    TooLong {
        /// The most, in bytes.
        most: u64,
    },
    /// A later aizo wrote it.
    #[error("a later aizo wrote it (format {found}; this one knows up to {VERSION})")]
    Newer {
        /// Its version.
        found: i64,
    },
    /// A conversation.
    #[error("it is a conversation")]
    Conversation,
    /// Nothing in it is known.
    #[error("nothing in it is anything that aizo can import")]
    Unknown,
    /// It cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
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

fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

fn is_blank(byte: u8) -> bool {
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
    let parts = json::values(first);
    parts.len() == 1 && parts[0].is_whole && parts[0].range.len() > 2
}

/// Whether what begins with a bracket is prose: a link, a box, a date.
fn is_link(text: &[u8]) -> bool {
    let at = text.iter().position(|byte| !is_blank(*byte)).unwrap_or(0);
    let rest = text[at..].strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
    rest.is_some_and(|rest| !matches!(rest.first(), None | Some(b'{' | b'[' | b']' | b'"')))
}

/// Whether a list of entries begins somewhere in a text.
fn has_entries(text: &[u8]) -> bool {
    memchr::memmem::find_iter(text, b"\"entries\"")
        .any(|at| text[..at].trim_ascii_end().last() == Some(&b'{'))
}

fn is_conversation(head: &[u8]) -> bool {
    let mut stream = head;
    capture::read_stream(&mut stream, None, &mut |_| {}).is_ok_and(|reading| reading.host.is_some())
}

/// Reads a file, and hands every piece of it to `sink`.
///
/// # Errors
/// A stream that fails, and a file in which nothing is known.
pub fn read(
    stream: &mut dyn Read,
    look: Look,
    sink: &mut dyn FnMut(Found),
) -> Result<Reading, ReadError> {
    let mut records = Records::new(look.wanted, sink);
    match look.layout {
        Layout::Lines => records.lines(stream)?,
        Layout::Document => records.document(&all_of(stream, LONGEST_DOCUMENT)?)?,
        Layout::Text => {
            if look.is_conversation && look.wanted.is_none() {
                return Err(ReadError::Conversation);
            }
            records.text(&all_of(stream, LONGEST_TEXT)?);
        }
        Layout::Database => return Err(ReadError::Unknown),
    }
    match records.finish() {
        Err(ReadError::Unknown) if look.is_conversation => Err(ReadError::Conversation),
        read => read,
    }
}

fn all_of(stream: &mut dyn Read, most: u64) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    stream.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(ReadError::TooLong { most });
    }
    Ok(bytes)
}

/// Reads the records of a file.
struct Records<'s> {
    wanted: Option<Format>,
    format: Option<Format>,
    sink: &'s mut dyn FnMut(Found),
    problems: Problems,
    header: Option<Header>,
    sum: Sum,
    end: Option<End>,
    /// Whether something stands where nothing may, or cannot be read.
    is_disturbed: bool,
    bad_line: Option<u64>,
    understood: usize,
}

/// The members of an object, by their names as they are written.
struct Members<'b>(Vec<(&'b [u8], Part)>);

impl Members<'_> {
    fn get(&self, name: &str) -> Option<&Part> {
        let (_, part) = self.0.iter().find(|(known, _)| *known == name.as_bytes())?;
        Some(part)
    }

    fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    fn list(&self, bytes: &[u8], name: &str) -> Option<&Part> {
        self.get(name)
            .filter(|part| bytes[part.range.start] == b'[')
    }
}

impl<'s> Records<'s> {
    fn new(wanted: Option<Format>, sink: &'s mut dyn FnMut(Found)) -> Self {
        Records {
            wanted,
            format: None,
            sink,
            problems: Problems::default(),
            header: None,
            sum: Sum::default(),
            end: None,
            is_disturbed: false,
            bad_line: None,
            understood: 0,
        }
    }

    fn found(&mut self, format: Format, line: u64, piece: Piece) {
        self.format.get_or_insert(format);
        self.understood += 1;
        (self.sink)(Found { line, piece });
    }

    /// What cannot be read is named once a line.
    fn bad(&mut self, line: u64, why: impl Into<String>) {
        self.is_disturbed = true;
        if self.bad_line.replace(line) == Some(line) {
            return;
        }
        (self.sink)(Found {
            line,
            piece: Piece::Bad(why.into()),
        });
    }

    fn lines(&mut self, stream: &mut dyn Read) -> Result<(), ReadError> {
        let mut lines = Lines::new(stream);
        while let Some(line) = lines.next()? {
            let mut bytes = line.bytes;
            if line.number == 1 && without_mark(bytes).len() < bytes.len() {
                bytes = without_mark(bytes);
                self.problems.met(ProblemKind::ByteOrderMark, "line 1");
            }
            if line.too_long {
                self.bad(line.number, "it is too long to be read");
            } else if !bytes.iter().all(|&byte| is_blank(byte)) {
                self.values(bytes, line.number)?;
            } else if bytes.contains(&0) {
                self.problems.met(ProblemKind::ZeroBytes, line.place());
            }
        }
        Ok(())
    }

    fn document(&mut self, bytes: &[u8]) -> Result<(), ReadError> {
        let mut bytes = bytes;
        if without_mark(bytes).len() < bytes.len() {
            bytes = without_mark(bytes);
            self.problems.met(ProblemKind::ByteOrderMark, "line 1");
        }
        let first = bytes.iter().find(|byte| !is_blank(**byte));
        let line = if matches!(first, Some(b'{' | b'[')) {
            1
        } else {
            // What a model thinks aloud may hold drafts of its answer.
            let thought = memchr::memmem::rfind(bytes, b"</think>").unwrap_or(0);
            let start = bytes[thought..].iter().position(|&byte| byte == b'{');
            let start = thought + start.unwrap_or(bytes.len() - thought);
            let line = LineCount::from(bytes, 1).of(start);
            let end = bytes
                .iter()
                .rposition(|&byte| byte == b'}')
                .map_or(start, |at| at + 1);
            bytes = &bytes[start..end.max(start)];
            line
        };
        self.values(bytes, line)
    }

    /// Reads the values that stand in a line or document.
    fn values(&mut self, bytes: &[u8], line: u64) -> Result<(), ReadError> {
        let mut lines = LineCount::from(bytes, line);
        let values = json::values(bytes);
        if bytes.contains(&0) {
            self.problems
                .met(ProblemKind::ZeroBytes, format!("line {line}"));
        }
        if values.is_empty() {
            self.bad(line, "it is no JSON");
        }
        for part in values {
            let line = lines.of(part.range.start);
            match bytes[part.range.start] {
                _ if !part.is_whole => {
                    // What is whole of it is read.
                    self.object(bytes, &part, line)?;
                    self.bad(line, "it ends in the middle");
                }
                b'{' => self.object(bytes, &part, line)?,
                b'"' => match self.parse::<String>(&bytes[part.range], line) {
                    Ok(text) => {
                        let told = Told::new(text, Voice::AboutThePerson);
                        self.told(Format::Chatgpt, line, told);
                    }
                    Err(why) => self.bad(line, why),
                },
                _ => self.bad(line, "it is no record"),
            }
        }
        Ok(())
    }

    fn object(&mut self, bytes: &[u8], part: &Part, line: u64) -> Result<(), ReadError> {
        if bytes[part.range.start] != b'{' {
            return Ok(());
        }
        let members = Members(json::members(bytes, &part.range));
        let is_ours = members
            .get("format")
            .is_some_and(|part| bytes[part.range.clone()] == *format!("\"{FORMAT}\"").as_bytes());
        if is_ours {
            return self.profile(bytes, part, &members, line);
        }
        if self.header.is_some() {
            if part.is_whole {
                self.row(&bytes[part.range.clone()], line);
            }
            return Ok(());
        }
        let lists = ["entries", "results", "memories", "entities", "relations"];
        let lists = lists.map(|name| members.list(bytes, name).map(|list| (name, list)));
        if lists.iter().any(Option::is_some) {
            for (name, list) in lists.into_iter().flatten() {
                self.list(bytes, name, list, line)?;
            }
            return Ok(());
        }
        if part.is_whole {
            self.record(&bytes[part.range.clone()], &members, line);
        }
        Ok(())
    }

    /// The elements of a list that a document consists of.
    fn list(&mut self, bytes: &[u8], name: &str, list: &Part, line: u64) -> Result<(), ReadError> {
        let mut lines = LineCount::from(bytes, line);
        for part in json::elements(bytes, &list.range) {
            let line = lines.of(part.range.start);
            if !part.is_whole {
                continue;
            }
            let record = &bytes[part.range.clone()];
            if bytes[part.range.start] != b'{' {
                self.bad(line, "it is no record");
            } else if name == "entries" {
                self.listed(record, line);
            } else {
                let members = Members(json::members(record, &(0..record.len())));
                self.record(record, &members, line);
            }
        }
        Ok(())
    }

    /// One record of another program.
    fn record(&mut self, bytes: &[u8], members: &Members<'_>, line: u64) {
        let is_memory = members.has("memory") || self.wanted == Some(Format::Mem0);
        let says = members.has("content") || members.has("text");
        if members.has("observations") || members.has("relationType") {
            match self.parse::<Node>(bytes, line) {
                Ok(node) => self.node(node, line),
                Err(why) => self.bad(line, why),
            }
        } else if members.has("item") {
            self.listed(bytes, line);
        } else if Instructions::NAMES.iter().any(|name| members.has(name)) {
            match self.parse::<Instructions>(bytes, line) {
                Ok(instructions) => {
                    for text in instructions.texts() {
                        for (_, told) in rules::rules(&text) {
                            self.told(Format::Chatgpt, line, told);
                        }
                    }
                }
                Err(why) => self.bad(line, why),
            }
        } else if is_memory || says && !members.has("role") {
            let format = if is_memory {
                Format::Mem0
            } else {
                Format::Chatgpt
            };
            match self.parse::<Memory>(bytes, line).map(Memory::told) {
                Ok(Some(told)) => self.told(format, line, told),
                Ok(None) => self.bad(line, "a memory without a text"),
                Err(why) => self.bad(line, why),
            }
        } else {
            self.bad(line, "it is nothing that aizo can import");
        }
    }

    fn node(&mut self, node: Node, line: u64) {
        let told = node.told();
        if told.is_empty() {
            let why = "it says nothing about the user";
            self.found(Format::McpMemory, line, Piece::Other(why));
        }
        for told in told {
            self.told(Format::McpMemory, line, told);
        }
    }

    fn told(&mut self, format: Format, line: u64, told: Told) {
        if told.text.trim().is_empty() {
            self.bad(line, "it is empty");
        } else {
            self.found(self.wanted.unwrap_or(format), line, Piece::Told(told));
        }
    }

    fn listed(&mut self, bytes: &[u8], line: u64) {
        match self.parse::<Listed>(bytes, line) {
            Ok(listed) => {
                let piece = Piece::Statement(Statement::from(listed));
                self.found(Format::Entries, line, piece);
            }
            Err(why) => self.bad(line, why),
        }
    }

    /// The header of aizo's own format, and its rows, where they stand in the same object.
    fn profile(
        &mut self,
        bytes: &[u8],
        part: &Part,
        members: &Members<'_>,
        line: u64,
    ) -> Result<(), ReadError> {
        if self.header.is_some() {
            self.bad(line, "a second header");
            return Ok(());
        }
        let version = members
            .get("version")
            .map(|part| &bytes[part.range.clone()]);
        let version = version.and_then(|text| serde_json::from_slice::<i64>(text).ok());
        if let Some(found) = version.filter(|version| *version > VERSION) {
            return Err(ReadError::Newer { found });
        }
        let own: Vec<u8> = header_of(bytes, members);
        match self.parse::<Header>(&own, line) {
            Ok(header) => {
                self.sum.begin(&header);
                self.header = Some(header);
                self.format = Some(Format::Aizo);
                self.understood += 1;
            }
            Err(why) => {
                self.bad(line, why);
                return Ok(());
            }
        }
        let lists = [
            ("entries", "entry"),
            ("proposals", "proposal"),
            ("settings", "settings"),
            ("history", "change"),
        ];
        for (name, kind) in lists {
            let Some(rows) = members.get(name) else {
                continue;
            };
            let mut lines = LineCount::from(bytes, line);
            let rows = match bytes[rows.range.start] {
                b'[' => json::elements(bytes, &rows.range),
                _ => vec![rows.clone()],
            };
            for row in rows.into_iter().filter(|row| row.is_whole) {
                let line = lines.of(row.range.start);
                let value = self.parse::<Value>(&bytes[row.range], line);
                self.row_of(kind, value, line);
            }
        }
        if let Some(end) = members.get("end").filter(|end| end.is_whole) {
            self.end = self.parse::<End>(&bytes[end.range.clone()], line).ok();
        }
        self.is_disturbed |= !part.is_whole;
        Ok(())
    }

    /// A row that says its type.
    fn row(&mut self, bytes: &[u8], line: u64) {
        let value = self.parse::<Value>(bytes, line);
        let kind = value
            .as_ref()
            .ok()
            .and_then(|value| value.get("type")?.as_str());
        let kind = kind.unwrap_or_default().to_owned();
        if kind == "end" {
            match value.map(serde_json::from_value::<End>) {
                Ok(Ok(end)) if self.end.is_none() => self.end = Some(end),
                _ => self.bad(line, "it is no end, or a second one"),
            }
            return;
        }
        self.row_of(&kind, value, line);
    }

    fn row_of(&mut self, kind: &str, value: Result<Value, String>, line: u64) {
        self.is_disturbed |= self.end.is_some();
        match value.and_then(|value| Row::read(kind, value)) {
            Ok(row) => {
                self.sum.row(&row);
                self.found(Format::Aizo, line, Piece::Row(row));
            }
            Err(why) => self.bad(line, why),
        }
    }

    fn text(&mut self, bytes: &[u8]) {
        let bytes = if without_mark(bytes).len() < bytes.len() {
            self.problems.met(ProblemKind::ByteOrderMark, "line 1");
            without_mark(bytes)
        } else {
            bytes
        };
        let text = String::from_utf8_lossy(bytes);
        if matches!(text, std::borrow::Cow::Owned(_)) {
            let at = text.find('\u{fffd}').unwrap_or(0);
            let line = text[..at].matches('\n').count() + 1;
            self.problems
                .met(ProblemKind::BadUtf8, format!("line {line}"));
        }
        let about = rules::is_about_the_person(&text);
        let format = self.wanted.unwrap_or(if about {
            Format::Chatgpt
        } else {
            Format::Rules
        });
        let found = if about || format == Format::Mem0 {
            rules::memories(&text)
        } else {
            rules::rules(&text)
        };
        for (line, told) in found {
            self.told(format, line, told);
        }
    }

    /// Parses a record; what can be put right is put right and counted.
    fn parse<T: DeserializeOwned>(&mut self, bytes: &[u8], line: u64) -> Result<T, String> {
        let error = match serde_json::from_slice(bytes) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        let mut found = None;
        let mut problems = Problems::default();
        capture::json::records(bytes, format!("line {line}"), &mut problems, |value| {
            found.get_or_insert(value);
        });
        let problems = problems.into_vec();
        match found {
            Some(value) => {
                for problem in problems {
                    self.problems.met(problem.kind, &problem.first_place);
                }
                Ok(value)
            }
            None => Err(reason(&error)),
        }
    }

    fn finish(self) -> Result<Reading, ReadError> {
        let Some(format) = self.format.filter(|_| self.understood > 0) else {
            return Err(ReadError::Unknown);
        };
        let sum = self.sum.end();
        let trust = match &self.header {
            None => Trust::Foreign,
            Some(header) if header.redacted => Trust::Published,
            Some(_) => match &self.end {
                None => Trust::Broken("its end is missing"),
                Some(end) if *end != sum || self.is_disturbed => {
                    Trust::Broken("it was changed after aizo had written it")
                }
                Some(_) => Trust::Whole,
            },
        };
        Ok(Reading {
            format,
            trust,
            changes: sum.changes,
            checksum: self.header.is_some().then_some(sum.checksum),
            problems: self.problems.into_vec(),
        })
    }
}

/// The members of a header without the rows beside them.
fn header_of(bytes: &[u8], members: &Members<'_>) -> Vec<u8> {
    let names = ["format", "version", "aizo", "redacted"];
    let parts: Vec<String> = names
        .iter()
        .filter_map(|name| {
            let part = members.get(name)?;
            let value = String::from_utf8_lossy(&bytes[part.range.clone()]);
            Some(format!("\"{name}\":{value}"))
        })
        .collect();
    format!("{{{}}}", parts.join(",")).into_bytes()
}

/// What the parser says, without the place: every record is parsed by itself.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ")
        .next()
        .unwrap_or_default()
        .to_owned()
}
