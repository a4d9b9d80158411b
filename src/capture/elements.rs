//! Takes a large JSON document apart while it is read: the elements of its array, or the objects it consists of.

use std::io::{self, Read};

use memchr::memchr2;

/// The longest element that is kept, in bytes.
pub(super) const LONGEST_ELEMENT: usize = 128 << 20;
const CHUNK: usize = 256 << 10;

/// The objects of a document.
pub(super) struct Elements<R> {
    stream: R,
    buffer: Vec<u8>,
    from: usize,
    to: usize,
    position: u64,
    /// The element that is being read.
    element: Vec<u8>,
    count: u64,
    /// Whether the document is one array.
    in_array: bool,
}

/// What an element turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Whole,
    /// Longer than what is kept.
    TooLong,
    /// The document ends in it.
    Cut,
}

/// An object of the document.
pub(super) struct Element<'a> {
    pub(super) bytes: &'a [u8],
    /// Which one it is, from 1.
    pub(super) number: u64,
    pub(super) state: State,
}

impl<R: Read> Elements<R> {
    pub(super) fn new(stream: R) -> Self {
        Elements {
            stream,
            buffer: vec![0; CHUNK],
            from: 0,
            to: 0,
            position: 0,
            element: Vec::new(),
            count: 0,
            in_array: false,
        }
    }

    /// The position behind what was read.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// The next object.
    pub(super) fn next(&mut self) -> io::Result<Option<Element<'_>>> {
        self.element.clear();
        // A large element is the exception: its memory is given back.
        self.element.shrink_to(CHUNK);
        if !self.find_start()? {
            return Ok(None);
        }
        self.count += 1;
        let state = self.collect()?;
        Ok(Some(Element {
            bytes: if state == State::TooLong {
                &[]
            } else {
                &self.element
            },
            number: self.count,
            state,
        }))
    }

    /// Passes over what stands between objects; false at the end.
    fn find_start(&mut self) -> io::Result<bool> {
        loop {
            while self.from < self.to {
                match self.buffer[self.from] {
                    b'{' => return Ok(true),
                    b'[' if !self.in_array && self.count == 0 => self.in_array = true,
                    _ => {}
                }
                self.from += 1;
            }
            if !self.fill()? {
                return Ok(false);
            }
        }
    }

    /// Reads up to the brace that closes the object.
    fn collect(&mut self) -> io::Result<State> {
        let (mut depth, mut in_text, mut escaped) = (0u32, false, false);
        let mut too_long = false;
        loop {
            let start = self.from;
            let mut at = start;
            let mut done = false;
            while at < self.to {
                if in_text && !escaped {
                    match memchr2(b'"', b'\\', &self.buffer[at..self.to]) {
                        Some(found) => at += found,
                        None => {
                            at = self.to;
                            break;
                        }
                    }
                }
                let byte = self.buffer[at];
                at += 1;
                if escaped {
                    escaped = false;
                } else if in_text {
                    match byte {
                        b'\\' => escaped = true,
                        _ => in_text = false,
                    }
                } else {
                    match byte {
                        b'"' => in_text = true,
                        b'{' | b'[' => depth += 1,
                        b'}' | b']' => {
                            depth = depth.saturating_sub(1);
                            if depth == 0 {
                                done = true;
                                break;
                            }
                        }
                        _ => {}
                    }
                }
            }
            too_long |= self.element.len() + (at - start) > LONGEST_ELEMENT;
            if too_long {
                self.element = Vec::new();
            } else {
                self.element.extend_from_slice(&self.buffer[start..at]);
            }
            self.from = at;
            if done {
                return Ok(if too_long {
                    State::TooLong
                } else {
                    State::Whole
                });
            }
            if !self.fill()? {
                return Ok(State::Cut);
            }
        }
    }

    fn fill(&mut self) -> io::Result<bool> {
        (self.from, self.to) = (0, 0);
        loop {
            match self.stream.read(&mut self.buffer) {
                Ok(count) => {
                    self.to = count;
                    self.position += count as u64;
                    return Ok(count > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<(String, State)> {
        let mut elements = Elements::new(text.as_bytes());
        let mut seen = Vec::new();
        while let Some(element) = elements.next().expect("memory can be read") {
            let text = String::from_utf8_lossy(element.bytes).into_owned();
            seen.push((text, element.state));
        }
        seen
    }

    #[test]
    fn a_document_is_taken_apart_without_being_misled_by_texts() {
        let cases: [(&str, &[&str]); 4] = [
            (
                r#"[{"a":"}]{\""},{"b":[{}]}]"#,
                &[r#"{"a":"}]{\""}"#, r#"{"b":[{}]}"#],
            ),
            ("{\n \"a\": 1\n}\n", &["{\n \"a\": 1\n}"]),
            ("{}\n{}", &["{}", "{}"]),
            ("[]", &[]),
        ];
        for (text, expected) in cases {
            let found = all(text);
            assert!(found.iter().all(|(_, state)| *state == State::Whole));
            let found: Vec<&str> = found.iter().map(|(text, _)| text.as_str()).collect();
            assert_eq!(found, expected);
        }
        assert_eq!(all(r#"[{},{"a":"#)[1].1, State::Cut);
    }
}
