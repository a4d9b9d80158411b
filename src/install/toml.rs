//! One table in a settings file in TOML: finds it, adds it at the end, takes it out. The rest stays byte for byte.

use std::fmt::Write;
use std::ops::Range;

use toml_parser::Source;
use toml_parser::parser::{Event, EventKind, parse_document};

use super::edit::{Edit, Fault, MARK, newline};

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
    /// Where the table stands: from its head to the end of its last value. More than one where it has tables of its own.
    spans: Vec<Range<usize>>,
    /// The table around it, where it is written in a line: the place of its closing bracket, and whether something is in it.
    in_a_line: Option<(usize, bool)>,
    /// The table around it is something else.
    in_the_way: Option<usize>,
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
    let same = seen.pairs.len() == table.pairs.len()
        && table.pairs.iter().all(|(name, value)| {
            seen.pairs
                .iter()
                .any(|(path, text)| path.as_slice() == [*name] && bare(text) == bare(value))
        });
    Ok(if same {
        Found::Same
    } else {
        let raw: Vec<&str> = seen.spans.iter().map(|span| &text[span.clone()]).collect();
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
    if let Some((close, is_filled)) = seen.in_a_line {
        let pairs: Vec<String> = table
            .pairs
            .iter()
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        let kept = text[..close].trim_end().len();
        let comma = if !is_filled || text[..kept].ends_with(',') {
            ""
        } else {
            ","
        };
        return Ok(Edit {
            at: kept,
            removed: text[kept..close].to_owned(),
            added: format!("{comma} {inner} = {{ {} }} ", pairs.join(", ")),
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

/// Takes a table out, where it stands under a head of its own.
///
/// # Errors
/// As [`check`].
pub fn remove(text: &str, table: &Table) -> Result<String, Fault> {
    let mut text = text.to_owned();
    while let Some(span) = look(&text, table)?.spans.pop() {
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

fn events(text: &str) -> Result<(usize, Vec<Event>), Fault> {
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
    for event in &events {
        let Some(raw) = source.get(event) else {
            continue;
        };
        match event.kind() {
            EventKind::Scalar => {
                let _its_kind = raw.decode_scalar(&mut (), &mut fault);
            }
            EventKind::SimpleKey => raw.decode_key(&mut (), &mut fault),
            _ => {}
        }
    }
    match fault {
        None => Ok((mark, events)),
        Some(fault) => {
            let span = fault.unexpected().or(fault.context());
            let at = span.map_or(0, |span| span.start());
            Err(Fault::at(text.as_bytes(), mark + at, fault.description()))
        }
    }
}

fn look(text: &str, table: &Table) -> Result<Seen, Fault> {
    let (mark, events) = events(text)?;
    let [outer, inner] = table.path;
    let mut seen = Seen::default();
    let mut head: Vec<String> = Vec::new();
    let mut keys: Vec<String> = Vec::new();
    let mut depth = 0_usize;
    let (mut in_head, mut is_ours) = (false, false);
    // The value that is being read, at the outermost level.
    let mut value: Option<(Vec<String>, Range<usize>)> = None;
    for event in &events {
        let span = mark + event.span().start()..mark + event.span().end();
        match event.kind() {
            EventKind::StdTableOpen | EventKind::ArrayTableOpen => {
                finish(&mut value, &mut seen, text, table);
                head.clear();
                (in_head, is_ours) = (true, false);
                seen.spans.push(span);
            }
            EventKind::StdTableClose | EventKind::ArrayTableClose => {
                in_head = false;
                is_ours = head.len() >= 2 && head[0] == outer && head[1] == inner;
                if !is_ours {
                    seen.spans.pop();
                } else if let Some(last) = seen.spans.last_mut() {
                    last.end = span.end;
                }
                if head == [outer] && event.kind() == EventKind::ArrayTableClose {
                    seen.in_the_way = Some(span.start);
                }
            }
            EventKind::SimpleKey if in_head => head.push(bare(&text[span])),
            EventKind::SimpleKey if depth == 0 => {
                if keys.is_empty() {
                    finish(&mut value, &mut seen, text, table);
                }
                keys.push(bare(&text[span]));
            }
            // A key within a table that is written in a line.
            EventKind::SimpleKey if depth == 1 => {
                if let Some((path, _)) = &value
                    && *path == [outer]
                {
                    if bare(&text[span]) == inner {
                        seen.pairs.push((vec![inner.to_owned()], String::new()));
                    }
                    if let Some((_, is_filled)) = &mut seen.in_a_line {
                        *is_filled = true;
                    }
                }
            }
            EventKind::InlineTableOpen | EventKind::ArrayOpen | EventKind::Scalar => {
                if depth == 0 {
                    let path = [head.as_slice(), keys.as_slice()].concat();
                    keys.clear();
                    if path == [outer] {
                        if event.kind() == EventKind::InlineTableOpen {
                            seen.in_a_line = Some((span.end, false));
                        } else {
                            seen.in_the_way = Some(span.start);
                        }
                    }
                    value = Some((path, span));
                }
                if event.kind() != EventKind::Scalar {
                    depth += 1;
                }
            }
            EventKind::InlineTableClose | EventKind::ArrayClose => {
                depth = depth.saturating_sub(1);
                if depth == 0
                    && let Some((path, whole)) = &mut value
                {
                    whole.end = span.end;
                    if let Some((close, _)) = &mut seen.in_a_line
                        && *path == [outer]
                    {
                        *close = span.start;
                    }
                }
            }
            _ => {}
        }
        if is_ours && let (Some((_, whole)), Some(last)) = (&value, seen.spans.last_mut()) {
            last.end = last.end.max(whole.end);
        }
    }
    finish(&mut value, &mut seen, text, table);
    Ok(seen)
}

/// Notes a value that belongs to the table.
fn finish(
    value: &mut Option<(Vec<String>, Range<usize>)>,
    seen: &mut Seen,
    text: &str,
    table: &Table,
) {
    if let Some((path, span)) = value.take()
        && path.len() >= 2
        && path[..2] == table.path
    {
        seen.pairs.push((path[2..].to_vec(), text[span].to_owned()));
    }
}

/// A key without its quotes.
fn bare(key: &str) -> String {
    key.trim_matches(['"', '\'']).to_owned()
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
