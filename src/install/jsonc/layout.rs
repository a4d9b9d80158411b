//! How a file is laid out, and where in it a value is put or taken out, so that it looks as if the person had done it.

use std::ops::Range;

use serde_json::Value;

use super::super::edit::Edit;

/// How a file is laid out.
pub(super) struct Style {
    /// The line end.
    pub newline: &'static str,
    /// One step of indentation.
    pub unit: String,
    /// Whether everything stands in one line.
    pub one_line: bool,
    /// Whether there is no space after colons and commas either.
    pub tight: bool,
}

impl Style {
    /// Writes a value whose first line is indented by `indent` already.
    pub fn write(&self, value: &Value, indent: &str, out: &mut String) {
        let inner = format!("{indent}{}", self.unit);
        match value {
            Value::Object(members) if !members.is_empty() && !self.one_line => {
                out.push('{');
                for (index, (name, value)) in members.iter().enumerate() {
                    self.begin(index, &inner, out);
                    out.push_str(&Value::from(name.as_str()).to_string());
                    out.push_str(": ");
                    self.write(value, &inner, out);
                }
                self.end(indent, '}', out);
            }
            Value::Array(values)
                if !self.one_line && values.iter().any(|one| one.is_object() || one.is_array()) =>
            {
                out.push('[');
                for (index, value) in values.iter().enumerate() {
                    self.begin(index, &inner, out);
                    self.write(value, &inner, out);
                }
                self.end(indent, ']', out);
            }
            Value::Object(members) => {
                out.push('{');
                for (index, (name, value)) in members.iter().enumerate() {
                    self.separate(index, out);
                    out.push_str(&Value::from(name.as_str()).to_string());
                    out.push_str(self.colon());
                    self.write(value, indent, out);
                }
                out.push('}');
            }
            Value::Array(values) => {
                out.push('[');
                for (index, value) in values.iter().enumerate() {
                    self.separate(index, out);
                    self.write(value, indent, out);
                }
                out.push(']');
            }
            scalar => out.push_str(&scalar.to_string()),
        }
    }

    fn begin(&self, index: usize, indent: &str, out: &mut String) {
        if index > 0 {
            out.push(',');
        }
        out.push_str(self.newline);
        out.push_str(indent);
    }

    fn end(&self, indent: &str, close: char, out: &mut String) {
        out.push_str(self.newline);
        out.push_str(indent);
        out.push(close);
    }

    fn separate(&self, index: usize, out: &mut String) {
        if index > 0 {
            out.push_str(if self.tight { "," } else { ", " });
        }
    }

    fn colon(&self) -> &'static str {
        if self.tight { ":" } else { ": " }
    }

    /// The same within a line.
    fn in_a_line(&self) -> Style {
        Style {
            unit: self.unit.clone(),
            one_line: true,
            ..*self
        }
    }

    fn child(&self, name: Option<&str>, value: &Value, indent: &str) -> String {
        let mut out = String::new();
        if let Some(name) = name {
            out.push_str(&Value::from(name).to_string());
            out.push_str(self.colon());
        }
        self.write(value, indent, &mut out);
        out
    }
}

/// An object or an array by its places in the text.
pub(super) struct Container {
    /// The byte of its opening bracket.
    pub open: usize,
    /// The byte of its closing bracket.
    pub close: usize,
    /// Its members or elements.
    pub children: Vec<Range<usize>>,
}

impl Container {
    /// The change that puts a value after the last one.
    pub fn add(&self, text: &str, style: &Style, name: Option<&str>, value: &Value) -> Edit {
        let base = indentation_of_line(text, self.open);
        let (Some(first), Some(last)) = (self.children.first(), self.children.last()) else {
            return self.fill(text, style, base, name, value);
        };
        // A comment in the line of the last one belongs to it.
        let tail = Tail::of(text, last.end, self.close);
        let old = &text[last.end..tail.end];
        let mut added = String::new();
        if !tail.has_comma {
            added.push(',');
        }
        added.push_str(old);
        let over_lines = text[self.open..first.start].contains('\n');
        if over_lines || old.contains("//") {
            let own = indentation(text, first.start);
            let indent = if over_lines && !own.is_empty() {
                own.to_owned()
            } else {
                format!("{base}{}", style.unit)
            };
            added.push_str(style.newline);
            added.push_str(&indent);
            added.push_str(&style.child(name, value, &indent));
        } else {
            if !style.tight {
                added.push(' ');
            }
            added.push_str(&style.in_a_line().child(name, value, base));
        }
        if tail.has_comma {
            added.push(',');
        }
        Edit {
            at: last.end,
            removed: old.to_owned(),
            added,
        }
    }

    /// Fills an empty one.
    fn fill(
        &self,
        text: &str,
        style: &Style,
        base: &str,
        name: Option<&str>,
        value: &Value,
    ) -> Edit {
        let inner = &text[self.open + 1..self.close];
        let kept = inner.trim_end().len();
        let at = self.open + 1 + kept;
        let added = if style.one_line && kept == 0 {
            style.child(name, value, base)
        } else {
            let indent = format!("{base}{}", style.unit);
            let child = style.child(name, value, &indent);
            format!("{0}{indent}{child}{0}{base}", style.newline)
        };
        Edit {
            at,
            removed: text[at..self.close].to_owned(),
            added,
        }
    }

    /// The text without one of its children.
    pub fn without(&self, text: &str, index: usize) -> String {
        let child = &self.children[index];
        let before = match index.checked_sub(1) {
            Some(before) => self.children[before].end,
            None => self.open + 1,
        };
        let after = self.children.get(index + 1);
        let until = after.map_or(self.close, |next| next.start);
        let mut start = text[..child.start].trim_end().len().max(before);
        // The end of a line ends a comment: it stays where nothing else ends the line.
        let in_comment = trivia(text, before, child.start)
            .into_iter()
            .any(|(_, span)| {
                let comment = text[span.clone()].trim_end();
                comment.starts_with("//") && span.start + comment.len() == start
            });
        let rest = text[child.end..].trim_start_matches([' ', '\t', ',']);
        if in_comment && !rest.starts_with(['\n', '\r']) {
            start += text[start..].find('\n').map_or(0, |end| end + 1);
        }
        let own = start..child.end;
        let mut cuts = vec![own];
        if let Some(comma) = comma(text, child.end, until) {
            cuts.push(comma..comma + 1);
        } else if index > 0
            && let Some(comma) = comma(text, before, child.start)
        {
            cuts.insert(0, comma..comma + 1);
        }
        if self.children.len() == 1 && !in_comment && text[child.end..self.close].trim().is_empty()
        {
            cuts.push(child.end..self.close);
        }
        let mut shorter = String::with_capacity(text.len());
        let mut from = 0;
        for cut in cuts {
            if cut.start >= from {
                shorter.push_str(&text[from..cut.start]);
            }
            from = cut.end.max(from);
        }
        shorter.push_str(&text[from..]);
        shorter
    }
}

/// What stands between the last child and the end of its container.
struct Tail {
    /// Where what belongs to the last child ends.
    end: usize,
    has_comma: bool,
}

impl Tail {
    fn of(text: &str, from: usize, to: usize) -> Self {
        let mut tail = Tail {
            end: from,
            has_comma: false,
        };
        let mut same_line = true;
        for (kind, span) in trivia(text, from, to) {
            match kind {
                Trivia::Newline => same_line = false,
                Trivia::Comma => {
                    tail.has_comma = true;
                    tail.end = span.end;
                }
                Trivia::Comment if same_line => tail.end = span.end,
                Trivia::Comment => {}
            }
        }
        tail
    }
}

fn comma(text: &str, from: usize, to: usize) -> Option<usize> {
    trivia(text, from, to)
        .into_iter()
        .find(|(kind, _)| matches!(kind, Trivia::Comma))
        .map(|(_, span)| span.start)
}

enum Trivia {
    Newline,
    Comma,
    Comment,
}

/// What stands between two values, white space within a line aside.
fn trivia(text: &str, from: usize, to: usize) -> Vec<(Trivia, Range<usize>)> {
    let mut found = Vec::new();
    let mut at = from;
    while at < to {
        let rest = &text[at..to];
        let length = if rest.starts_with("//") {
            let line = rest.find('\n').unwrap_or(rest.len());
            rest[..line].trim_end_matches('\r').len()
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else {
            rest.chars().next().map_or(1, char::len_utf8)
        };
        let kind = match rest.as_bytes()[0] {
            b'/' => Some(Trivia::Comment),
            b',' => Some(Trivia::Comma),
            b'\n' => Some(Trivia::Newline),
            _ => None,
        };
        if let Some(kind) = kind {
            found.push((kind, at..at + length));
        }
        at += length;
    }
    found
}

/// The white space before a byte, where nothing else stands before it in its line.
pub(super) fn indentation(text: &str, at: usize) -> &str {
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let before = &text[line..at];
    if before.trim().is_empty() { before } else { "" }
}

/// The white space at the beginning of a byte's line.
fn indentation_of_line(text: &str, at: usize) -> &str {
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let before = &text[line..at];
    &before[..before.len() - before.trim_start_matches([' ', '\t']).len()]
}
