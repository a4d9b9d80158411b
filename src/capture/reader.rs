//! The readers of formats with a record per line, under one name; and what is common to reading lines.

use std::io::{self, Read};

use serde::{Deserialize, Serialize};

use super::cursor::Stop;
use super::host::Host;
use super::lines::{Line, Lines};
use super::outbox::Outbox;
use super::problem::ProblemKind;
use super::{Note, claude_code, codex, copilot, cursor_agent, gemini, openclaw};

/// A reader of lines, with all that it remembers.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum LineReader {
    ClaudeCode(Box<claude_code::Reader>),
    Codex(Box<codex::Reader>),
    OpenClaw(Box<openclaw::Reader>),
    Gemini(gemini::Reader),
    Copilot(copilot::Reader),
    Cursor(cursor_agent::Reader),
}

impl LineReader {
    /// The reader of a host; none where the host does not write lines.
    pub(super) fn of(host: Host) -> Option<Self> {
        Some(match host {
            Host::ClaudeCode => Self::ClaudeCode(Box::new(claude_code::Reader::new())),
            Host::Codex => Self::Codex(Box::new(codex::Reader::new())),
            Host::OpenClaw => Self::OpenClaw(Box::new(openclaw::Reader::new())),
            Host::Gemini => Self::Gemini(gemini::Reader::new()),
            Host::Copilot => Self::Copilot(copilot::Reader::new()),
            Host::Cursor => Self::Cursor(cursor_agent::Reader::new()),
            Host::OpenCode | Host::ChatGpt | Host::ClaudeAi | Host::Text => return None,
        })
    }

    /// Makes a reader that a cursor carried ready to go on.
    pub(super) fn wake(&mut self) {
        match self {
            Self::ClaudeCode(reader) => reader.wake(),
            Self::OpenClaw(reader) => reader.wake(),
            _ => {}
        }
    }

    /// Why the file holds no conversation of a person, where that is so.
    pub(super) fn note(&self) -> Option<Note> {
        match self {
            Self::Codex(reader) => reader.note,
            Self::OpenClaw(reader) => reader.note,
            Self::Gemini(reader) => reader.note,
            _ => None,
        }
    }

    /// Tells the reader that the file holds no conversation of a person.
    pub(super) fn set_note(&mut self, note: Note) {
        if let Self::OpenClaw(reader) = self {
            reader.note = Some(note);
        }
    }

    fn line(&mut self, line: &Line<'_>, out: &mut Outbox<'_>) {
        match self {
            Self::ClaudeCode(reader) => reader.line(line, out),
            Self::Codex(reader) => reader.line(line, out),
            Self::OpenClaw(reader) => reader.line(line, out),
            Self::Gemini(reader) => reader.line(line, out),
            Self::Copilot(reader) => reader.line(line, out),
            Self::Cursor(reader) => reader.line(line, out),
        }
    }

    fn finish(&mut self, out: &mut Outbox<'_>) {
        if let Self::Codex(reader) = self {
            reader.finish(out);
        }
    }

    /// What a cursor carries along.
    fn carried(&self) -> serde_json::Value {
        let carried = match self {
            Self::ClaudeCode(reader) => {
                serde_json::to_value(Self::ClaudeCode(Box::new(reader.carried())))
            }
            Self::OpenClaw(reader) => {
                serde_json::to_value(Self::OpenClaw(Box::new(reader.carried())))
            }
            Self::Gemini(reader) => serde_json::to_value(Self::Gemini(reader.carried())),
            other => serde_json::to_value(other),
        };
        // A state that cannot be written is one that cannot be read: the file is read anew.
        carried.unwrap_or_default()
    }

    /// Reads all lines, and says where it stopped: before a last line that does not end.
    pub(super) fn read<R: Read>(
        &mut self,
        lines: &mut Lines<R>,
        out: &mut Outbox<'_>,
    ) -> io::Result<Stop> {
        let mut stand = lines.stand();
        while let Some(line) = lines.next()? {
            if !line.ended {
                return Ok(self.read_unended(&line, stand, out));
            }
            if line.too_long {
                out.problems.met(ProblemKind::TooLong, line.place());
            } else if !line.bytes.trim_ascii().is_empty() {
                self.line(&line, out);
            }
            stand = lines.stand();
            out.is_at(stand.0);
        }
        self.finish(out);
        Ok(self.stop(stand, out))
    }

    /// Reads a last line that does not end: its host may still be writing it, so a cursor stays before it.
    fn read_unended(&mut self, line: &Line<'_>, stand: (u64, u64), out: &mut Outbox<'_>) -> Stop {
        self.finish(out);
        let stop = self.stop(stand, out);
        if line.too_long {
            out.problems.met(ProblemKind::TooLong, line.place());
        } else if is_whole(line.bytes) {
            self.line(line, out);
            self.finish(out);
        } else if !line.bytes.trim_ascii().is_empty() {
            out.problems.met(ProblemKind::CutLine, line.place());
        }
        stop
    }

    fn stop(&self, (offset, line): (u64, u64), out: &mut Outbox<'_>) -> Stop {
        Stop {
            offset,
            line,
            state: self.carried(),
            answer: out.last_answer(),
        }
    }
}

/// Whether a last line without an end is a whole record all the same, as in files that nobody ends.
fn is_whole(bytes: &[u8]) -> bool {
    super::json::first::<serde::de::IgnoredAny>(bytes).is_some()
        && bytes.trim_ascii_end().last() == Some(&b'}')
}
