//! Reads a stream line by line in bounded memory: a line that is too long is skipped and told.

use std::io::{self, Read};

use memchr::memchr;

/// The longest line that is kept, in bytes. A typed message with several pictures fits; the results of tools that
/// are longer hold nothing that a person said.
pub(crate) const LONGEST_LINE: usize = 32 << 20;
/// How much is asked of the stream at once.
const CHUNK: usize = 256 << 10;

/// A line of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// Its bytes without the end of line; empty where it was too long.
    pub(crate) bytes: &'a [u8],
    /// Which line of the file it is, from 1.
    pub(crate) number: u64,
    /// The position of its first byte.
    pub(crate) start: u64,
    /// Whether an end of line follows.
    pub(crate) ended: bool,
    /// Whether it was longer than what is kept.
    pub(crate) too_long: bool,
}

impl Line<'_> {
    /// Where it is, as a turn and a problem name it.
    pub(crate) fn place(&self) -> String {
        format!("line {}", self.number)
    }
}

/// The lines of a stream.
pub(crate) struct Lines<R> {
    stream: R,
    buffer: Vec<u8>,
    /// What of the buffer is waiting to be handed out.
    from: usize,
    to: usize,
    /// The position in the file of `buffer[from]`.
    position: u64,
    number: u64,
    longest: usize,
    ended: bool,
}

impl<R: Read> Lines<R> {
    /// The lines of a stream that stands at `position` in its file, after `number` lines.
    pub(crate) fn resume(stream: R, position: u64, number: u64) -> Self {
        Lines {
            stream,
            buffer: vec![0; CHUNK],
            from: 0,
            to: 0,
            position,
            number,
            longest: LONGEST_LINE,
            ended: false,
        }
    }

    /// The lines of a stream from its beginning.
    pub(crate) fn new(stream: R) -> Self {
        Lines::resume(stream, 0, 0)
    }

    /// Position and number of lines at which the reading stands.
    pub(crate) fn stand(&self) -> (u64, u64) {
        (self.position, self.number)
    }

    /// The position after the last line that was handed out.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// The next line.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut searched = 0;
        loop {
            let waiting = &self.buffer[self.from + searched..self.to];
            if let Some(at) = memchr(b'\n', waiting) {
                let too_long = searched + at > self.longest;
                let mut line = self.hand_out(searched + at, true, too_long);
                if too_long {
                    line.bytes = &[];
                }
                return Ok(Some(line));
            }
            searched = self.to - self.from;
            if searched > self.longest {
                return self.skip_long().map(Some);
            }
            if !self.fill()? {
                let rest = self.to - self.from;
                return Ok((rest > 0).then(|| self.hand_out(rest, false, false)));
            }
        }
    }

    /// Hands out the next `length` bytes of the buffer as a line.
    fn hand_out(&mut self, length: usize, ended: bool, too_long: bool) -> Line<'_> {
        let (from, start) = (self.from, self.position);
        let whole = length + usize::from(ended);
        self.from += whole;
        self.position += whole as u64;
        self.number += 1;
        let bytes = &self.buffer[from..from + length];
        Line {
            bytes: bytes.strip_suffix(b"\r").unwrap_or(bytes),
            number: self.number,
            start,
            ended,
            too_long,
        }
    }

    /// Passes over a line of which the buffer holds only the beginning.
    fn skip_long(&mut self) -> io::Result<Line<'_>> {
        let start = self.position;
        loop {
            let waiting = &self.buffer[self.from..self.to];
            if let Some(at) = memchr(b'\n', waiting) {
                let mut line = self.hand_out(at, true, true);
                line.bytes = &[];
                return Ok(Line { start, ..line });
            }
            self.position += waiting.len() as u64;
            (self.from, self.to) = (0, 0);
            self.buffer.truncate(CHUNK);
            self.buffer.shrink_to_fit();
            if !self.fill()? {
                let line = self.hand_out(0, false, true);
                return Ok(Line { start, ..line });
            }
        }
    }

    /// Reads more of the stream behind what is waiting; false at its end.
    fn fill(&mut self) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        if self.from > 0 {
            self.buffer.copy_within(self.from..self.to, 0);
            self.to -= self.from;
            self.from = 0;
            // A long line made it large; the next ones are short again.
            if self.buffer.len() > 4 * CHUNK && self.to < CHUNK {
                self.buffer.truncate(CHUNK);
                self.buffer.shrink_to_fit();
            }
        }
        if self.to == self.buffer.len() {
            let doubled = (self.buffer.len() * 2).min(self.longest + CHUNK);
            self.buffer.resize(doubled.max(self.to + CHUNK), 0);
        }
        loop {
            match self.stream.read(&mut self.buffer[self.to..]) {
                Ok(0) => {
                    self.ended = true;
                    return Ok(false);
                }
                Ok(count) => {
                    self.to += count;
                    return Ok(true);
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

    type Seen = (String, u64, u64, bool, bool);

    fn all(text: &str, longest: usize) -> Vec<Seen> {
        let mut lines = Lines::new(text.as_bytes());
        lines.longest = longest;
        let mut seen = Vec::new();
        while let Some(line) = lines.next().expect("memory can be read") {
            let text = String::from_utf8_lossy(line.bytes).into_owned();
            seen.push((text, line.number, line.start, line.ended, line.too_long));
        }
        assert_eq!(lines.position(), text.len() as u64);
        seen
    }

    #[test]
    fn lines_end_with_or_without_a_return_and_the_last_may_not_end() {
        let seen = all("a\r\n\nbc", 100);
        let expected: Vec<Seen> = vec![
            ("a".into(), 1, 0, true, false),
            (String::new(), 2, 3, true, false),
            ("bc".into(), 3, 4, false, false),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over_and_counted() {
        let long = "x".repeat(3 * CHUNK);
        let text = format!("a\n{long}\nb\n{long}");
        let seen = all(&text, CHUNK);
        assert_eq!(seen[1], (String::new(), 2, 2, true, true));
        assert_eq!(seen[2], ("b".into(), 3, 3 + long.len() as u64, true, false));
        assert!(!seen[3].3 && seen[3].4);
    }
}
