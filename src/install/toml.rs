//! One table in a settings file in TOML: finds it, adds it at the end, takes it out. The rest stays byte for byte.

use std::fmt::Write;
use std::ops::Range;

use toml_parser::Source;
use toml_parser::parser::{Event, EventKind, parse_document};

use super::edit::Edit;
use crate::files::{Fault, MARK, newline};

/// A table within another, such as `[mcp_servers.aizo]`, and its keys with their values as TOML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Its names.
    pub path: [&'static str; 2],
    /// Its keys and their values.
    pub pairs: Vec<(&'static str, String)>,
}

impl Table {
    /// aizo's table among the servers.
    pub fn of_servers(pairs: Vec<(&'static str, String)>) -> Self {
        Table {
            path: ["mcp_servers", "aizo"],
            pairs,
        }
    }
}

/// What a file says about a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// Exactly this.
    Same,
    /// Something else; with its text.
    Other(String),
}

/// What stands in a file, as far as it concerns one table.
#[derive(Default)]
struct Seen {
    /// The keys of the table and the texts of their values.
    pairs: Vec<(Vec<String>, String)>,
    /// Where the table stands: from its head to the end of its last value. More than one where it has tables of its own, or is
    /// written key by key.
    spans: Vec<Range<usize>>,
    /// The table around it, where it is written in a line.
    in_a_line: Option<InALine>,
    /// The table around it is something else.
    in_the_way: Option<usize>,
}

/// A table that is written in a line.
struct InALine {
    /// The byte of its closing bracket.
    close: usize,
    /// Its keys, each with its place and its value's.
    entries: Vec<Entry>,
    /// Whether a key comes next.
    is_before_key: bool,
}

struct Entry {
    path: Vec<String>,
    span: Range<usize>,
    value: Range<usize>,
}

impl InALine {
    /// The entries of the table that is looked for.
    fn ours<'s>(&'s self, table: &Table) -> impl Iterator<Item = usize> + 's {
        let inner = table.path[1];
        (0..self.entries.len()).filter(move |&at| self.entries[at].path[0] == inner)
    }

    /// What goes with an entry: it and its comma.
    fn cut(&self, at: usize) -> Range<usize> {
        let span = self.entries[at].span.clone();
        if let Some(next) = self.entries.get(at + 1) {
            return span.start..next.span.start;
        }
        match at.checked_sub(1) {
            Some(before) => self.entries[before].span.end..span.end,
            None => span,
        }
    }
}

/// A value at the outermost level: its keys, its place with them, and its own.
struct Pair {
    path: Vec<String>,
    from: usize,
    value: Range<usize>,
    under_own_head: bool,
}

/// Whether the file can be read.
///
/// # Errors
/// What cannot be read in it, and in which line.
pub fn check(text: &str) -> Result<(), Fault> {
    events(text).map(|_| ())
}

/// What a file says about a table.
///
/// # Errors
/// As [`check`].
pub fn find(text: &str, table: &Table) -> Result<Found, Fault> {
    let seen = look(text, table)?;
    if seen.pairs.is_empty() && seen.spans.is_empty() {
        return Ok(Found::Nothing);
    }
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    let in_a_line = format!("{{{}}}", in_a_line(table));
    let is_in_a_line =
        |(path, text): &(Vec<String>, String)| path.is_empty() && bare(text) == bare(&in_a_line);
    let same = matches!(seen.pairs.as_slice(), [one] if is_in_a_line(one))
        || seen.pairs.len() == table.pairs.len()
            && table.pairs.iter().all(|(name, value)| {
                seen.pairs
                    .iter()
                    .any(|(path, text)| path.as_slice() == [*name] && bare(text) == bare(value))
            });
    Ok(if same {
        Found::Same
    } else {
        let mut raw: Vec<&str> = seen.spans.iter().map(|span| &text[span.clone()]).collect();
        if let Some(line) = &seen.in_a_line {
            let entries = line.ours(table).map(|at| &line.entries[at]);
            raw.extend(entries.map(|entry| &text[entry.span.clone()]));
        }
        Found::Other(raw.join("\n"))
    })
}

/// Adds a table that is not there.
///
/// # Errors
/// As [`check`]; and something else is in the way.
pub fn insert(text: &str, table: &Table) -> Result<Edit, Fault> {
    let seen = look(text, table)?;
    let [outer, inner] = table.path;
    if let Some(at) = seen.in_the_way {
        let message = format!("`{outer}` is not a table");
        return Err(Fault::at(text.as_bytes(), at, message));
    }
    if let Some(InALine { close, entries, .. }) = seen.in_a_line {
        let kept = text[..close].trim_end().len();
        let comma = if entries.is_empty() || text[..kept].ends_with(',') {
            ""
        } else {
            ","
        };
        return Ok(Edit {
            at: kept,
            removed: text[kept..close].to_owned(),
            added: format!("{comma} {inner} = {{ {} }} ", in_a_line(table)),
        });
    }
    let newline = newline(text);
    let mut added = String::new();
    if !text.trim_start_matches(MARK).is_empty() {
        if !text.ends_with('\n') {
            added.push_str(newline);
        }
        added.push_str(newline);
    }
    let _a_string_takes_all = write!(added, "[{outer}.{inner}]{newline}");
    for (name, value) in &table.pairs {
        let _a_string_takes_all = write!(added, "{name} = {value}{newline}");
    }
    Ok(Edit {
        at: text.len(),
        removed: String::new(),
        added,
    })
}

/// The keys of a table and their values, in a line.
fn in_a_line(table: &Table) -> String {
    let pairs: Vec<String> = table
        .pairs
        .iter()
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    pairs.join(", ")
}

/// Takes a table out.
///
/// # Errors
/// As [`check`].
pub fn remove(text: &str, table: &Table) -> Result<String, Fault> {
    let mut text = text.to_owned();
    loop {
        let mut seen = look(&text, table)?;
        if let Some(line) = &seen.in_a_line
            && let Some(at) = line.ours(table).last()
        {
            text.replace_range(line.cut(at), "");
            continue;
        }
        let Some(span) = seen.spans.pop() else {
            break;
        };
        let end = text[span.end..]
            .find('\n')
            .map_or(text.len(), |end| span.end + end + 1);
        // The blank line before it was put there with it.
        let start = match text[..span.start].strip_suffix("\n") {
            Some(before) if before.ends_with('\n') => before.len(),
            Some(before) if before.ends_with("\n\r") => before.len() - 1,
            _ => span.start,
        };
        text.replace_range(start..end, "");
    }
    Ok(text)
}

/// What stands in a text, the keys without their quotes and as what they mean.
fn events(text: &str) -> Result<(usize, Vec<(Event, String)>), Fault> {
    let mark = if text.starts_with(MARK) {
        MARK.len()
    } else {
        0
    };
    let source = Source::new(&text[mark..]);
    let tokens = source.lex().into_vec();
    let mut events = Vec::new();
    let mut fault = None;
    {
        let mut guard = toml_parser::parser::RecursionGuard::new(&mut events, 100);
        parse_document(&tokens, &mut guard, &mut fault);
    }
    // The parser leaves it to us to look into texts and numbers.
    let mut named = Vec::with_capacity(events.len());
    for event in events {
        let mut name = String::new();
        if let Some(raw) = source.get(event) {
            match event.kind() {
                EventKind::Scalar => {
                    let _its_kind = raw.decode_scalar(&mut (), &mut fault);
                }
                EventKind::SimpleKey => raw.decode_key(&mut name, &mut fault),
                _ => {}
            }
        }
        named.push((event, name));
    }
    match fault {
        None => Ok((mark, named)),
        Some(fault) => {
            let span = fault.unexpected().or(fault.context());
            let at = span.map_or(0, |span| span.start());
            Err(Fault::at(text.as_bytes(), mark + at, fault.description()))
        }
    }
}

fn look(text: &str, table: &Table) -> Result<Seen, Fault> {
    let (mark, events) = events(text)?;
    let mut reader = Reader::new(text, table);
    for (event, name) in events {
        let span = mark + event.span().start()..mark + event.span().end();
        reader.read(event.kind(), name, span);
    }
    Ok(reader.seen())
}

/// Reads a file event by event, for one table.
struct Reader<'r> {
    text: &'r str,
    table: &'r Table,
    seen: Seen,
    /// The names of the table whose head was read last.
    head: Vec<String>,
    in_head: bool,
    /// Whether that is the table that is looked for, or one within it.
    is_ours: bool,
    /// The keys of the value that comes next, at the outermost level, and where they begin.
    keys: Vec<String>,
    from: usize,
    /// The value that is being read.
    value: Option<Pair>,
    /// How many tables and lists are open within it.
    depth: usize,
}

impl<'r> Reader<'r> {
    fn new(text: &'r str, table: &'r Table) -> Self {
        Reader {
            text,
            table,
            seen: Seen::default(),
            head: Vec::new(),
            in_head: false,
            is_ours: false,
            keys: Vec::new(),
            from: 0,
            value: None,
            depth: 0,
        }
    }

    fn read(&mut self, kind: EventKind, name: String, span: Range<usize>) {
        match kind {
            EventKind::StdTableOpen | EventKind::ArrayTableOpen => self.open_head(span),
            EventKind::StdTableClose => self.close_head(span, false),
            EventKind::ArrayTableClose => self.close_head(span, true),
            EventKind::SimpleKey if self.in_head => self.head.push(name),
            EventKind::SimpleKey if self.depth == 0 => self.key(name, span.start),
            EventKind::SimpleKey if self.depth == 1 => self.key_in_a_line(name, span),
            EventKind::ValueSep if self.depth == 1 => {
                if let Some(line) = self.line() {
                    line.is_before_key = true;
                }
            }
            EventKind::Scalar => self.begin_value(kind, span),
            EventKind::InlineTableOpen | EventKind::ArrayOpen => {
                self.begin_value(kind, span);
                self.depth += 1;
            }
            EventKind::InlineTableClose | EventKind::ArrayClose => self.end_value(span),
            _ => {}
        }
        if self.is_ours
            && let (Some(pair), Some(last)) = (&self.value, self.seen.spans.last_mut())
        {
            last.end = last.end.max(pair.value.end);
        }
    }

    fn open_head(&mut self, span: Range<usize>) {
        self.finish();
        self.head.clear();
        (self.in_head, self.is_ours) = (true, false);
        self.seen.spans.push(span);
    }

    fn close_head(&mut self, span: Range<usize>, is_array: bool) {
        let [outer, inner] = self.table.path;
        let head = &self.head;
        self.in_head = false;
        self.is_ours = head.len() >= 2 && head[0] == outer && head[1] == inner;
        if !self.is_ours {
            self.seen.spans.pop();
        } else if let Some(last) = self.seen.spans.last_mut() {
            last.end = span.end;
        }
        if is_array && *head == [outer] {
            self.seen.in_the_way = Some(span.start);
        }
    }

    fn key(&mut self, name: String, start: usize) {
        if self.keys.is_empty() {
            self.finish();
            self.from = start;
        }
        self.keys.push(name);
    }

    fn key_in_a_line(&mut self, name: String, span: Range<usize>) {
        let Some(line) = self.line() else {
            return;
        };
        if std::mem::take(&mut line.is_before_key) {
            line.entries.push(Entry {
                path: vec![name],
                span: span.clone(),
                value: span,
            });
        } else if let Some(entry) = line.entries.last_mut() {
            entry.path.push(name);
        }
    }

    fn begin_value(&mut self, kind: EventKind, span: Range<usize>) {
        if self.depth == 1
            && let Some(entry) = self.line().and_then(|line| line.entries.last_mut())
        {
            entry.span.end = span.end;
            entry.value = span;
            return;
        }
        if self.depth > 0 {
            return;
        }
        let path = [self.head.as_slice(), self.keys.as_slice()].concat();
        self.keys.clear();
        if path == [self.table.path[0]] {
            if kind == EventKind::InlineTableOpen {
                self.seen.in_a_line = Some(InALine {
                    close: span.end,
                    entries: Vec::new(),
                    is_before_key: true,
                });
            } else {
                self.seen.in_the_way = Some(span.start);
            }
        }
        self.value = Some(Pair {
            path,
            from: self.from,
            value: span,
            under_own_head: self.is_ours,
        });
    }

    fn end_value(&mut self, span: Range<usize>) {
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 1
            && let Some(entry) = self.line().and_then(|line| line.entries.last_mut())
        {
            entry.span.end = span.end;
            entry.value.end = span.end;
        }
        if self.depth == 0 {
            if let Some(line) = self.line() {
                line.close = span.start;
            }
            if let Some(pair) = &mut self.value {
                pair.value.end = span.end;
            }
        }
    }

    /// The table around the one that is looked for, while it is being read and is written in a line.
    fn line(&mut self) -> Option<&mut InALine> {
        let outer = self.table.path[0];
        let is_read = self.value.as_ref().is_some_and(|pair| pair.path == [outer]);
        self.seen.in_a_line.as_mut().filter(|_| is_read)
    }

    /// Notes a value that belongs to the table.
    fn finish(&mut self) {
        if let Some(pair) = self.value.take()
            && pair.path.len() >= 2
            && pair.path[..2] == self.table.path
        {
            if !pair.under_own_head {
                self.seen.spans.push(pair.from..pair.value.end);
            }
            let text = self.text[pair.value].to_owned();
            self.seen.pairs.push((pair.path[2..].to_vec(), text));
        }
    }

    /// What was seen, once all is read.
    fn seen(mut self) -> Seen {
        self.finish();
        if let Some(line) = &self.seen.in_a_line {
            for at in line.ours(self.table) {
                let entry = &line.entries[at];
                let text = self.text[entry.value.clone()].to_owned();
                self.seen.pairs.push((entry.path[1..].to_vec(), text));
            }
        }
        self.seen
    }
}

/// A text as TOML writes it.
pub fn quoted(text: &str) -> String {
    if text.contains(['\'', '\n', '\r']) || !text.contains(['\\', '"']) {
        // What JSON escapes, TOML escapes in the same way.
        serde_json::Value::from(text).to_string()
    } else {
        format!("'{text}'")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        Table::of_servers(vec![
            ("command", "\"aizo\"".to_owned()),
            ("args", "[\"mcp\"]".to_owned()),
        ])
    }

    #[test]
    fn a_table_is_found_and_taken_out_however_it_is_written() {
        for (text, left) in [
            (
                "[mcp_servers.aizo]\ncommand = \"aizo\"\nargs = [\"mcp\"]\n",
                "",
            ),
            (
                "[\"mcp_servers\".\"ai\\u007ao\"]\ncommand = \"aizo\"\n'args' = [\"mcp\"]\n",
                "",
            ),
            (
                "a = 1\n[\"mcp\\u005fservers\"]\naizo = {command=\"aizo\",args=[\"mcp\"]}\nb = 1\n",
                "a = 1\n[\"mcp\\u005fservers\"]\nb = 1\n",
            ),
            (
                "mcp_servers.'aizo'.command = \"aizo\"\nmcp_servers.aizo.args = [ \"mcp\" ]\nb = 1\n",
                "b = 1\n",
            ),
            (
                "mcp_servers = {a={x=1},\"aizo\"={command=\"aizo\",args=[\"mcp\"]},b=[1,2]}\n",
                "mcp_servers = {a={x=1},b=[1,2]}\n",
            ),
            (
                "mcp_servers = { a = 1 , aizo = { command = \"aizo\" , args = [ \"mcp\" ] } }\n",
                "mcp_servers = { a = 1 }\n",
            ),
            (
                "\"mcp\\u005fservers\" = { aizo.command = \"aizo\", aizo.args = [\"mcp\"], c = 1 }\n",
                "\"mcp\\u005fservers\" = { c = 1 }\n",
            ),
        ] {
            assert_eq!(find(text, &table()), Ok(Found::Same), "{text}");
            let removed = remove(text, &table()).expect("it can be read");
            assert_eq!(removed, left);
            assert_eq!(find(&removed, &table()), Ok(Found::Nothing), "{text}");
        }
    }

    #[test]
    fn another_key_that_only_looks_like_it_is_another() {
        for text in [
            "['\"mcp_servers\"'.aizo]\na = 1\n",
            "['mcp_servers'.'ai\\u007ao']\na = 1\n",
            "mcp_servers = { b = { aizo = 1 } }\n",
        ] {
            assert_eq!(find(text, &table()), Ok(Found::Nothing), "{text}");
            assert_eq!(remove(text, &table()).as_deref(), Ok(text));
        }
    }
}
