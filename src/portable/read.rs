//! Reads what stands in a file. Lines are read one by one; a document is taken apart in memory. What is broken is named by its
//! line, and the rest is read.

use std::borrow::Cow;
use std::io::Read;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::foreign::{Instructions, Listed, Memory, Node};
use super::format::{Format, Layout, Look, is_blank, without_mark};
use super::json::{self, LineCount, Part};
use super::piece::{Found, Piece, ReadError, Reading, Statement, Told, Trust, Voice};
use super::profile::{End, FORMAT, Header, Row, Sum, VERSION};
use super::rules;
use crate::capture::lines::Lines;
use crate::capture::{self, ProblemKind, Problems};

/// The longest document that is taken apart, in bytes; lines have no such end.
const LONGEST_DOCUMENT: u64 = 128 << 20;
/// The longest list of rules.
const LONGEST_TEXT: u64 = 16 << 20;
/// The longest record.
const LONGEST_RECORD: usize = 16 << 20;
/// The longest text about a person: a longer one is a document of its own.
const LONGEST_TOLD: usize = 64 << 10;

const TOO_LONG: &str = "it is too long to be read";

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
        if self.wanted == Some(Format::Aizo) && format != Format::Aizo {
            self.bad(line, "it is no row of an export of aizo");
            return;
        }
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
                self.bad(line.number, TOO_LONG);
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
        let mut values = json::values(bytes).peekable();
        if bytes.contains(&0) {
            self.problems
                .met(ProblemKind::ZeroBytes, format!("line {line}"));
        }
        if values.peek().is_none() {
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
        } else if members.has("item") && self.is_row(bytes, members) {
            self.row(bytes, line);
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

    /// Whether a record is a row of an export that has lost its header.
    fn is_row(&self, bytes: &[u8], members: &Members<'_>) -> bool {
        let kind = members.get("type").map(|part| &bytes[part.range.clone()]);
        let kinds: [&[u8]; 2] = [b"\"entry\"", b"\"proposal\""];
        kind.is_some_and(|kind| kinds.contains(&kind))
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
        } else if told.text.len() > LONGEST_TOLD {
            self.bad(line, TOO_LONG);
        } else {
            let wanted = self.wanted.filter(|wanted| *wanted != Format::Aizo);
            self.found(wanted.unwrap_or(format), line, Piece::Told(told));
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
            let mut row = |part: Part| {
                if part.is_whole {
                    let line = lines.of(part.range.start);
                    let value = self.parse::<Value>(&bytes[part.range], line);
                    self.row_of(kind, value, line);
                }
            };
            if bytes[rows.range.start] == b'[' {
                json::elements(bytes, &rows.range).for_each(row);
            } else {
                row(rows.clone());
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
        if matches!(text, Cow::Owned(_)) {
            let at = text.find('\u{fffd}').unwrap_or(0);
            let line = text[..at].matches('\n').count() + 1;
            self.problems
                .met(ProblemKind::BadUtf8, format!("line {line}"));
        }
        let about = rules::is_about_the_person(&text);
        let by_content = if about {
            Format::Chatgpt
        } else {
            Format::Rules
        };
        let format = self.wanted.filter(|wanted| *wanted != Format::Aizo);
        let format = format.unwrap_or(by_content);
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
        if bytes.len() > LONGEST_RECORD {
            return Err(TOO_LONG.to_owned());
        }
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
        let is_as_summed = !self.is_disturbed && self.end.as_ref() == Some(&sum);
        let trust = match &self.header {
            None if format == Format::Aizo => Trust::Broken("its header is missing"),
            None => Trust::Foreign,
            Some(header) if header.redacted => Trust::Published,
            Some(_) => match &self.end {
                None => Trust::Broken("its end is missing"),
                Some(_) if is_as_summed => Trust::Whole,
                Some(_) => Trust::Broken("it was changed after aizo had written it"),
            },
        };
        Ok(Reading {
            format,
            trust,
            is_intact: self.header.is_some() && is_as_summed,
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
