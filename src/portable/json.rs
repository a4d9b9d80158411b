//! Takes a document of JSON apart without reading all of it at once, so that one damaged part does not spoil the others, and
//! each can be named by its line.

use std::ops::Range;

use memchr::memchr2;

/// A value in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    /// Where it is; to the end of the document where it is cut.
    pub(super) range: Range<usize>,
    /// Whether its end is there.
    pub(super) is_whole: bool,
}

/// What stands between values, and makes no difference.
fn is_between(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b',' | 0)
}

fn skip(bytes: &[u8], mut at: usize, passes: impl Fn(u8) -> bool) -> usize {
    while bytes.get(at).is_some_and(|&byte| passes(byte)) {
        at += 1;
    }
    at
}

/// The value that begins at a place.
fn value(bytes: &[u8], start: usize) -> Part {
    let end = match bytes[start] {
        b'"' => text_end(bytes, start),
        b'{' | b'[' => nested_end(bytes, start),
        // A number or a word; what is no value is passed over the same way.
        _ => Some(skip(bytes, start + 1, |byte| {
            !is_between(byte) && !matches!(byte, b'{' | b'}' | b'[' | b']' | b'"' | b':')
        })),
    };
    Part {
        range: start..end.unwrap_or(bytes.len()),
        is_whole: end.is_some(),
    }
}

/// Behind the closing quotation mark.
fn text_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// Behind the closing brace or bracket.
fn nested_end(bytes: &[u8], start: usize) -> Option<usize> {
    let (mut at, mut depth) = (start, 0_usize);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = text_end(bytes, at)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// The values that stand one after the other: in a document, or in the list that the document is.
pub(super) fn values(bytes: &[u8]) -> impl Iterator<Item = Part> {
    let start = skip(bytes, 0, is_between);
    let inside = if bytes.get(start) == Some(&b'[') {
        start + 1..value(bytes, start).range.end
    } else {
        start..bytes.len()
    };
    sequence(bytes, inside)
}

/// The values of a list.
pub(super) fn elements(bytes: &[u8], list: &Range<usize>) -> impl Iterator<Item = Part> {
    sequence(bytes, list.start + 1..list.end)
}

fn sequence(bytes: &[u8], inside: Range<usize>) -> impl Iterator<Item = Part> {
    let bytes = &bytes[..inside.end];
    let mut at = inside.start;
    std::iter::from_fn(move || {
        at = skip(bytes, at, |byte| {
            is_between(byte) || matches!(byte, b']' | b'}' | b':')
        });
        if at >= bytes.len() {
            return None;
        }
        let part = value(bytes, at);
        at = part.range.end;
        Some(part)
    })
}

/// The members of an object: their names, as they are written, and their values. No record has more than a thousand.
pub(super) fn members<'b>(bytes: &'b [u8], object: &Range<usize>) -> Vec<(&'b [u8], Part)> {
    const MOST: usize = 1_000;
    let inside = &bytes[..object.end];
    let mut at = object.start + 1;
    let member = || {
        at = skip(inside, at, is_between);
        if inside.get(at) != Some(&b'"') {
            return None;
        }
        let name_end = text_end(inside, at)?;
        let name = &inside[at + 1..name_end - 1];
        at = skip(inside, name_end, is_between);
        if inside.get(at) != Some(&b':') {
            return None;
        }
        at = skip(inside, at + 1, is_between);
        if at >= inside.len() {
            return None;
        }
        let part = value(inside, at);
        at = part.range.end;
        Some((name, part))
    };
    std::iter::from_fn(member).take(MOST).collect()
}

/// The line on which a place is, counted on from where it was counted last.
#[derive(Debug)]
pub(super) struct LineCount<'b> {
    bytes: &'b [u8],
    at: usize,
    line: u64,
}

impl<'b> LineCount<'b> {
    /// Counts in a document whose first line has this number.
    pub(super) fn from(bytes: &'b [u8], line: u64) -> Self {
        LineCount { bytes, at: 0, line }
    }

    /// The line of a place behind the last one.
    pub(super) fn of(&mut self, place: usize) -> u64 {
        if place > self.at {
            let between = &self.bytes[self.at..place.min(self.bytes.len())];
            self.line += memchr::memchr_iter(b'\n', between).count() as u64;
            self.at = place;
        }
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(bytes: &[u8], parts: impl IntoIterator<Item = Part>) -> Vec<String> {
        let text = |part: Part| {
            let text = String::from_utf8_lossy(&bytes[part.range.clone()]).into_owned();
            format!("{text}{}", if part.is_whole { "" } else { " (cut)" })
        };
        parts.into_iter().map(text).collect()
    }

    #[test]
    fn a_document_is_taken_apart_without_being_misled_by_texts() {
        let cases: [(&str, &[&str]); 8] = [
            (
                r#"[{"a":"}]{\""},{"b":[{}]}]"#,
                &[r#"{"a":"}]{\""}"#, r#"{"b":[{}]}"#],
            ),
            ("{\"a\":1}\n{\"b\":2}", &["{\"a\":1}", "{\"b\":2}"]),
            (r#"["x", 2, null]"#, &[r#""x""#, "2", "null"]),
            ("[]", &[]),
            ("", &[]),
            (r#"[{},{"a":"#, &["{}", r#"{"a": (cut)"#]),
            (r#"{"a":1}}{"b":2}"#, &[r#"{"a":1}"#, r#"{"b":2}"#]),
            ("\0\0{}\0", &["{}"]),
        ];
        for (text, expected) in cases {
            let bytes = text.as_bytes();
            assert_eq!(texts(bytes, values(bytes)), expected, "{text}");
        }
    }

    #[test]
    fn members_are_found_with_what_they_hold() {
        let text = br#" {"a": [1, {"b": 2}], "c" : "x, \"y\"", "d":null} "#;
        let whole = values(text).next().expect("an object");
        let found = members(text, &whole.range);
        let names: Vec<&[u8]> = found.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, [b"a", b"c", b"d"]);
        let parts: Vec<Part> = found.into_iter().map(|(_, part)| part).collect();
        assert_eq!(
            texts(text, parts.clone()),
            [r#"[1, {"b": 2}]"#, r#""x, \"y\"""#, "null"]
        );
        assert_eq!(
            texts(text, elements(text, &parts[0].range)),
            ["1", r#"{"b": 2}"#]
        );
    }

    #[test]
    fn lines_are_counted_on() {
        let mut lines = LineCount::from(b"a\nb\n\nc", 1);
        assert_eq!([0, 2, 5, 5].map(|place| lines.of(place)), [1, 2, 4, 4]);
    }

    #[test]
    fn nothing_of_it_trips_over_what_is_no_json() {
        for text in [
            "}", "]", ":", "\"", "\\", "{\"a\"", "{\"a\":", "{\"\\", "[[[[", "a:b,c",
        ] {
            for part in values(text.as_bytes()) {
                members(text.as_bytes(), &part.range);
                elements(text.as_bytes(), &part.range).for_each(drop);
            }
        }
    }
}
