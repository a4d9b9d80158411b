//! Quotes, and what stands behind a `$`: variables, `$(…)`, characters that a backslash says.

use std::ops::Range;

use super::{Change, Elements, LONGEST_VARIABLE, Mark, Open, Reader, Variable, Word};
use crate::model::beginning;

impl Reader<'_> {
    /// Reads `'…'`. A quote that nobody closes is an apostrophe.
    pub(super) fn single(&mut self, word: &mut Open) {
        let start = self.at;
        let inner = start + 1;
        match self.text[inner..].find('\'') {
            Some(length) => {
                word.text.push_str(&self.text[inner..inner + length]);
                self.at = inner + length + 1;
                word.is_quoted = true;
                word.reach(start..self.at);
            }
            None => {
                self.at = inner;
                word.push('\'', start..inner);
            }
        }
    }

    /// Reads `"…"`, in which substitutions are run.
    pub(super) fn double(&mut self, word: &mut Open) {
        let start = self.at;
        if !closes(&self.text[start + 1..]) {
            self.at += 1;
            word.push('"', start..start + 1);
            return;
        }
        self.at += 1;
        word.is_quoted = true;
        while let Some(c) = self.next() {
            let at = self.at;
            match c {
                '"' => {
                    self.at += 1;
                    break;
                }
                '\\' => {
                    self.at += 1;
                    match self.next() {
                        _ if self.skip_line_end() => {}
                        Some(escaped) => {
                            if !matches!(escaped, '$' | '`' | '"' | '\\') {
                                word.text.push('\\');
                            }
                            word.text.push(escaped);
                            self.at += escaped.len_utf8();
                        }
                        None => word.text.push('\\'),
                    }
                }
                '$' => self.dollar(word, true),
                '`' if self.may_nest() => {
                    self.at += 1;
                    self.output(Some('`'), word, true, false);
                }
                c => {
                    self.at += c.len_utf8();
                    word.text.push(c);
                }
            }
            debug_assert!(self.at > at);
        }
        word.reach(start..self.at);
    }

    /// Reads `$name`, `${…}`, `$(…)`, `$'…'`, `$"…"`.
    pub(super) fn dollar(&mut self, word: &mut Open, is_quoted: bool) {
        let start = self.at;
        if self.starts_with("$(") && self.may_nest() {
            self.at += 2;
            self.output(Some(')'), word, is_quoted, false);
        } else if self.starts_with("${") {
            let rest = &self.text[start..];
            let near = beginning(rest, LONGEST_VARIABLE);
            let length = closing(near);
            // What ends farther away, or never, is not told from what follows.
            self.is_whole &= length.is_some() || near.len() == rest.len();
            let first = || rest.find('}').map_or(rest.len(), |at| at + 1);
            let whole = &rest[..length.unwrap_or_else(first)];
            self.at += whole.len();
            match self.variable(whole, start, is_quoted) {
                Some(variable) => word.mark(Mark::Variable(variable)),
                None => self.substitutions(start + 2..self.at),
            }
            word.text.push_str(whole);
            word.is_dynamic = true;
        } else if self.starts_with("$'") && !is_quoted {
            self.at += 1;
            word.reach(start..self.at);
            self.escaped(word);
        } else if self.starts_with("$\"") && !is_quoted {
            self.at += 1;
            word.reach(start..self.at);
            self.double(word);
        } else {
            self.at += 1;
            let rest = &self.text[self.at..];
            let length = name_length(rest);
            if length > 0 {
                let name = &rest[..length];
                word.mark(Mark::Variable(Variable {
                    length: length + 1,
                    name: name.to_owned(),
                    is_name: false,
                    elements: elements_of(name),
                    change: None,
                    is_quoted,
                }));
                word.is_dynamic = true;
                self.at += length;
            }
            word.text.push_str(&self.text[start..self.at]);
        }
        word.reach(start..self.at);
    }

    /// What a `${…}` that begins at a place stands for; none where that is not followed.
    pub(super) fn variable(
        &mut self,
        whole: &str,
        start: usize,
        is_quoted: bool,
    ) -> Option<Variable> {
        let braced = Braced::read(whole)?;
        let end = start + whole.len() - 1;
        let operand = end - braced.operand.len()..end;
        self.substitutions(start + 2..operand.start);
        let change = match braced.sign {
            "" | ":?" | "?" => None,
            ":-" | "-" | ":=" | "=" if self.may_nest() => Some(Change::Default {
                word: self.operand(operand.clone()),
                sets: braced.sign.ends_with('='),
            }),
            ":+" | "+" if self.may_nest() => Some(Change::Instead(self.operand(operand.clone()))),
            sign => Some(Change::Sign(sign, braced.operand.to_owned())),
        };
        if !matches!(change, Some(Change::Default { .. } | Change::Instead(_))) {
            self.substitutions(operand);
        }
        Some(Variable {
            length: whole.len(),
            name: braced.name.to_owned(),
            is_name: braced.is_name,
            elements: braced.elements,
            change: change.map(Box::new),
            is_quoted,
        })
    }

    /// Reads a part of a `${…}` as a word.
    pub(super) fn operand(&mut self, part: Range<usize>) -> Word {
        let (text, at) = (self.text, self.at);
        self.text = &text[..part.end];
        self.at = part.start;
        self.depth += 1;
        let mut word = Open::default();
        while let Some(c) = self.next() {
            let start = self.at;
            let after = start + c.len_utf8();
            match c {
                '\\' => self.backslash(&mut word),
                '\'' => self.single(&mut word),
                '"' => self.double(&mut word),
                '$' => self.dollar(&mut word, false),
                '`' if self.text[after..].contains('`') && self.may_nest() => {
                    self.at = after;
                    self.output(Some('`'), &mut word, false, false);
                }
                c => {
                    self.at = after;
                    word.push(c, start..after);
                }
            }
        }
        self.depth -= 1;
        (self.text, self.at) = (text, at);
        Word {
            text: word.text,
            range: part,
            is_dynamic: word.is_dynamic,
            marks: word.marks,
            elements: None,
        }
    }

    /// Reads `'…'` behind a `$`, in which a backslash says which character is meant.
    pub(super) fn escaped(&mut self, word: &mut Open) {
        let start = self.at;
        let inner = &self.text[start + 1..];
        let mut is_escaped = false;
        let length = inner.find(|c| {
            let is_end = c == '\'' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            is_end
        });
        let Some(length) = length else {
            return self.single(word);
        };
        word.text.push_str(&unescaped(&inner[..length]));
        word.is_quoted = true;
        self.at = start + length + 2;
        word.reach(start..self.at);
    }
}

/// The length of a variable's name.
fn name_length(text: &str) -> usize {
    match text.bytes().next() {
        Some(b'@' | b'*' | b'?' | b'#' | b'!' | b'$' | b'0'..=b'9') => 1,
        _ => text
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            .count(),
    }
}

/// Where `${…}` ends.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => {
                is_escaped = false;
                continue;
            }
            b'{' => depth += 1,
            b'}' if depth == 1 => return Some(at + 1),
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        is_escaped = byte == b'\\';
    }
    None
}

/// The elements that a name means by itself.
fn elements_of(name: &str) -> Elements {
    match name {
        "@" | "*" => Elements::All,
        _ => Elements::One(0),
    }
}

/// What may stand behind a name in `${…}`, the longer signs first.
const SIGNS: [&str; 20] = [
    ":-", ":=", ":+", ":?", "##", "%%", "//", "^^", ",,", "-", "=", "+", "?", "#", "%", "/", "^",
    ",", ":", "@",
];

/// A `${…}` as it is written.
struct Braced<'t> {
    name: &'t str,
    is_name: bool,
    elements: Elements,
    sign: &'static str,
    operand: &'t str,
}

impl<'t> Braced<'t> {
    fn read(whole: &'t str) -> Option<Self> {
        let inner = whole.strip_prefix("${")?.strip_suffix('}')?;
        let named = inner.strip_prefix('!').filter(|name| !name.is_empty());
        let inner = named.unwrap_or(inner);
        let digits = inner.bytes().take_while(u8::is_ascii_digit).count();
        let (name, mut rest) = inner.split_at(digits.max(name_length(inner)));
        let mut elements = elements_of(name);
        if let Some((index, behind)) = rest
            .strip_prefix('[')
            .and_then(|behind| behind.split_once(']'))
        {
            rest = behind;
            elements = match index {
                "@" | "*" => Elements::All,
                index => index.parse().map_or(Elements::Any, Elements::One),
            };
        }
        let sign = match rest {
            "" => "",
            rest => SIGNS.into_iter().find(|sign| rest.starts_with(sign))?,
        };
        (!name.is_empty()).then(|| Braced {
            name,
            is_name: named.is_some(),
            elements,
            sign,
            operand: &rest[sign.len()..],
        })
    }
}

/// A text in which a backslash says which character is meant, as `$'…'` and `printf` have it.
pub fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(c) = rest.chars().next() else {
            plain.push('\\');
            break;
        };
        rest = &rest[c.len_utf8()..];
        let number = |rest: &str, base: u32, most: usize| {
            let digits = rest.bytes().take(most);
            let length = digits
                .take_while(|byte| char::from(*byte).is_digit(base))
                .count();
            let number = u32::from_str_radix(&rest[..length], base).ok();
            (number.and_then(char::from_u32), length)
        };
        let (meant, length) = match c {
            'n' => (Some('\n'), 0),
            't' => (Some('\t'), 0),
            'r' => (Some('\r'), 0),
            'a' => (Some('\u{7}'), 0),
            'b' => (Some('\u{8}'), 0),
            'e' | 'E' => (Some('\u{1b}'), 0),
            'f' => (Some('\u{c}'), 0),
            'v' => (Some('\u{b}'), 0),
            'x' => number(rest, 16, 2),
            'u' => number(rest, 16, 4),
            'U' => number(rest, 16, 8),
            '0'..='7' => {
                let all = &text[text.len() - rest.len() - 1..];
                let (meant, length) = number(all, 8, if c == '0' { 4 } else { 3 });
                (meant, length.saturating_sub(1))
            }
            '\\' | '\'' | '"' | '?' => (Some(c), 0),
            _ => (None, 0),
        };
        match meant {
            Some(meant) => plain.push(meant),
            None => plain.extend(['\\', c]),
        }
        rest = &rest[length..];
    }
    plain.push_str(rest);
    plain
}

/// Whether a double quote is closed.
fn closes(rest: &str) -> bool {
    let mut escaped = false;
    rest.bytes().any(|byte| {
        let is_end = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        is_end
    })
}
