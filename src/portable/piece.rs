//! What stands in a file that is imported, and how the file was.

use std::io;

use thiserror::Error;

use super::format::Format;
use super::profile::{Row, VERSION};
use crate::capture::Problem;
use crate::model::Stamp;

/// Whose words a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Voice {
    /// The person's own.
    ThePerson,
    /// Somebody else's about the person.
    AboutThePerson,
}

/// A text that may say what a person prefers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The text.
    pub text: String,
    /// Whose words it is.
    pub voice: Voice,
    /// When it was written down.
    pub at: Option<Stamp>,
    /// The heading that it stands under, where that speaks against it.
    pub under: Option<Heading>,
    /// Whether it is a paragraph beside a list: a rule only where it says so.
    pub is_prose: bool,
}

/// A heading that speaks against what stands under it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heading {
    /// "Never", "Don't", "Forbidden".
    Never,
    /// "Avoid".
    Avoid,
}

impl Told {
    pub(super) fn new(text: String, voice: Voice) -> Self {
        Told {
            text,
            voice,
            at: None,
            under: None,
            is_prose: false,
        }
    }
}

/// An entry of a foreign list.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The label.
    pub item: String,
    /// Why it matters.
    pub reason: String,
    /// The score, where it has one.
    pub score: Option<f64>,
    /// Further words.
    pub keywords: Vec<String>,
    /// Kinds of task.
    pub scenarios: Vec<String>,
    /// What breaks it for certain.
    pub patterns: Vec<String>,
}

/// What stands in a place of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// A row of aizo's own format.
    Row(Row),
    /// An entry of a foreign list.
    Statement(Statement),
    /// A text.
    Told(Told),
    /// Something that is no preference, and why.
    Other(&'static str),
    /// Something that cannot be read, and why.
    Bad(String),
}

/// A piece and its line.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The line, from 1.
    pub line: u64,
    /// What stands there.
    pub piece: Piece,
}

/// Whether what a file says of the origin of its entries holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// It is another program's.
    Foreign,
    /// It was made for others to read, so that it may be anybody's.
    Published,
    /// It is as aizo wrote it.
    Whole,
    /// It is not, and why.
    Broken(&'static str),
}

/// How a file was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// What it is.
    pub format: Format,
    /// Whether what it says of itself holds.
    pub trust: Trust,
    /// Whether it is aizo's own and as it was written, whoever wrote it.
    pub is_intact: bool,
    /// How many changes stand in it.
    pub changes: usize,
    /// What makes this file the one that it is, where it is aizo's own.
    pub checksum: Option<String>,
    /// What was wrong with it and was survived.
    pub problems: Vec<Problem>,
}

/// Why a file cannot be read at all.
#[derive(Debug, Error)]
pub enum ReadError {
    /// Two bytes a character.
    #[error("it is UTF-16")]
    Utf16,
    /// No text.
    #[error("it is no text")]
    NotText,
    /// Too long for a document.
    #[error("it has more than {} MiB", most >> 20)]
    TooLong {
        /// The most, in bytes.
        most: u64,
    },
    /// A later aizo wrote it.
    #[error("a later aizo wrote it (format {found}; this one knows up to {VERSION})")]
    Newer {
        /// Its version.
        found: i64,
    },
    /// A conversation.
    #[error("it is a conversation")]
    Conversation,
    /// A page of aizo's own.
    #[error("it is an export of aizo for people to read")]
    Page,
    /// Nothing in it is known.
    #[error("nothing in it is anything that aizo can import")]
    Unknown,
    /// It cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
}
