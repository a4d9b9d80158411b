//! Pretty-printed JSON whose text is harmless on a terminal too.

use std::io::{self, Write};

use serde::ser::{Serialize, SerializeSeq, Serializer as _};
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

use crate::model::{is_hidden, is_plain};

/// Writes one JSON value and a line end. Characters that JSON allows but a terminal obeys (C1 controls,
/// bidirectional marks, zero-width characters) are written as escapes, which read back the same.
///
/// # Errors
/// What the stream reports.
pub fn to_json<T: Serialize + ?Sized>(value: &T, out: &mut dyn Write) -> io::Result<()> {
    write(value, PrettyFormatter::new(), out)
}

/// Writes one JSON value on one line, as harmless.
///
/// # Errors
/// What the stream reports.
pub fn to_json_line<T: Serialize + ?Sized>(value: &T, out: &mut dyn Write) -> io::Result<()> {
    write(value, CompactFormatter, out)
}

/// Writes a pretty-printed array whose elements come one after the other.
pub struct ArrayWriter<'o>(
    serde_json::Serializer<&'o mut dyn Write, Harmless<PrettyFormatter<'static>>>,
);

impl<'o> ArrayWriter<'o> {
    /// An array on a stream.
    pub fn new(out: &'o mut dyn Write) -> Self {
        ArrayWriter(serde_json::Serializer::with_formatter(
            out,
            Harmless(PrettyFormatter::new()),
        ))
    }

    /// Writes every part that `parts` gives, and ends the array and the line.
    ///
    /// # Errors
    /// What the stream or a part reports.
    pub fn write<T: Serialize>(
        mut self,
        parts: impl Iterator<Item = io::Result<Vec<T>>>,
    ) -> io::Result<()> {
        let mut sequence = self.0.serialize_seq(None).map_err(as_io)?;
        for part in parts {
            for element in part? {
                sequence.serialize_element(&element).map_err(as_io)?;
            }
        }
        sequence.end().map_err(as_io)?;
        writeln!(self.0.into_inner())
    }
}

/// A closed pipe must stay recognisable.
fn as_io(error: serde_json::Error) -> io::Error {
    error.io_error_kind().map_or_else(
        || io::Error::other(error.to_string()),
        |kind| io::Error::new(kind, error.to_string()),
    )
}

fn write<T: Serialize + ?Sized>(
    value: &T,
    layout: impl Formatter,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(&mut *out, Harmless(layout));
    value.serialize(&mut serializer).map_err(as_io)?;
    writeln!(out)
}

/// The usual layout, with more characters escaped.
struct Harmless<F>(F);

impl<F: Formatter> Formatter for Harmless<F> {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        if is_plain(fragment) {
            return writer.write_all(fragment.as_bytes());
        }
        let mut rest = fragment;
        while let Some(at) = rest.find(is_hidden) {
            writer.write_all(&rest.as_bytes()[..at])?;
            let mut after = rest[at..].chars();
            let mut units = [0; 2];
            if let Some(c) = after.next() {
                for unit in c.encode_utf16(&mut units) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            }
            rest = after.as_str();
        }
        writer.write_all(rest.as_bytes())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_written_raw() {
        let text = "a\u{1b}[31m\u{9b}31m\u{202e}b\u{e0041}中 👩‍💻";
        let mut out = Vec::new();
        to_json(&[text], &mut out).expect("a vector takes everything");
        let written = String::from_utf8(out).expect("JSON is UTF-8");
        assert!(
            written
                .chars()
                .all(|c| c == '\n' || !c.is_control() && !is_hidden(c))
        );
        let back: Vec<String> = serde_json::from_str(&written).expect("it is JSON");
        assert_eq!(back, [text]);
    }
}
