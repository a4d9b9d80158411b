//! Reads what people said to agents out of the transcripts that hosts keep, and out of exports and notes of chats.
//!
//! A file is read in one pass and in bounded memory, whatever its size: each turn goes to a closure as it is found.
//! What is broken in a file is survived, counted and named; what a program wrote is left out, and so is what the
//! person marked private, took back, or got from aizo itself.
//!
//! | file | does |
//! |---|---|
//! | `host.rs` | the table of hosts |
//! | `walk.rs`, `discover.rs` | which files there are |
//! | `unpack.rs`, `archive.rs`, `lines.rs`, `elements.rs` | a file → its lines or objects, in bounded memory |
//! | `detect.rs` | what a file is, by its content |
//! | `claude_code.rs` … `text.rs` | one host each: whose words a record holds |
//! | `json.rs`, `shape.rs`, `moment.rs`, `problem.rs` | records that are damaged or unlike what was expected |
//! | `tree.rs` | what was taken back by going back |
//! | `tags.rs`, `marker.rs`, `outbox.rs` | what is cut away before a turn is handed out |
//! | `hook/` | what hosts send at their events, and how they are answered |
//! | `reader.rs`, `cursor.rs`, `file.rs` | reading a file, and going on where the last run stopped |

mod archive;
mod chatgpt;
mod claude_ai;
mod claude_code;
mod codex;
mod copilot;
mod cursor;
mod cursor_agent;
mod detect;
mod digest;
mod discover;
mod elements;
mod error;
mod file;
mod gemini;
pub mod hook;
mod host;
pub(crate) mod json;
pub(crate) mod lines;
pub mod marker;
pub(crate) mod moment;
mod openclaw;
mod openclaw_database;
mod opencode;
mod outbox;
mod problem;
mod reader;
pub(crate) mod shape;
mod tags;
mod text;
mod tree;
mod unpack;
mod walk;

use serde::{Deserialize, Serialize};

pub use cursor::Cursor;
pub use discover::{History, Surroundings, histories};
pub use error::CaptureError;
pub use file::{read_file, read_stream};
pub use host::Host;
pub(crate) use problem::Problems;
pub use problem::{Problem, ProblemKind};
pub use walk::files;

use crate::model::Turn;

/// What is found while a file is read.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A person said something.
    Turn(Turn),
    /// A turn was taken back by its author: it was handed out before, in this reading or in the one that the cursor
    /// comes from. A turn with the same key may follow, which replaces it.
    Withdrawn {
        /// The key of the turn.
        key: String,
    },
    /// So much more was read, told now and then: for who waits.
    Read {
        /// The bytes since the last time, as they were unpacked.
        bytes: u64,
    },
}

/// Why a file that could be read had nothing to hand out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Note {
    /// Nothing tells that it is a transcript.
    NotATranscript,
    /// It looks as it did when the cursor was made, so it was not opened.
    Unchanged,
    /// It tells what an agent said to another one.
    Subagent,
    /// A program, a clock or a hook spoke, and no person.
    NoConversation,
}

/// How the reading of one file went.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Whose file it is; none where it is no transcript.
    pub host: Option<Host>,
    /// How many turns were handed out.
    pub turns: u64,
    /// How many turns were withdrawn.
    pub withdrawn: u64,
    /// How many conversations had turns.
    pub sessions: u64,
    /// How many bytes were read, after unpacking.
    pub bytes: u64,
    /// Whether the reading went on where the cursor stood.
    pub continued: bool,
    /// What was wrong with the file and was survived.
    pub problems: Vec<Problem>,
    /// Where to go on next time; none for a stream.
    pub cursor: Option<Cursor>,
    /// Why there was nothing to hand out, where that is so.
    pub note: Option<Note>,
}

impl Reading {
    fn nothing(note: Note) -> Self {
        Reading {
            host: None,
            turns: 0,
            withdrawn: 0,
            sessions: 0,
            bytes: 0,
            continued: false,
            problems: Vec::new(),
            cursor: None,
            note: Some(note),
        }
    }
}
