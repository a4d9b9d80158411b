//! How a run ends: every error is sorted by kind once, and the kind gives the exit code.

use std::fmt;

use serde::Serialize;

use crate::capture::CaptureError;
use crate::check::PatternError;
use crate::llm::LlmError;
use crate::model::{ChangeError, ScoreError, TextError};
use crate::redact::redact;
use crate::scenarios::LoadError;
use crate::scoring::DecayError;
use crate::storage::StorageError;

/// What kind of error it is. The names are the `kind` of the JSON form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Wrong words on the command line, or a value that is refused.
    Usage,
    /// No entry, change or proposal has that name.
    NotFound,
    /// Another entry or a later change stands in the way.
    Conflict,
    /// The path holds something that is no store.
    NotAStore,
    /// The store is of a later version.
    Newer,
    /// Another process holds the store.
    Locked,
    /// The store cannot be written.
    ReadOnly,
    /// No space is left.
    DiskFull,
    /// The store is damaged.
    Damaged,
    /// The scenarios file cannot be read.
    Scenarios,
    /// A file, folder or stream fails.
    Io,
    /// A language model cannot be reached, refuses, or gives no usable answer.
    Model,
    /// Git is missing, or the repository of a sync cannot be reached, refuses, or holds something else.
    Sync,
    /// Anything else.
    Failed,
}

impl Kind {
    /// The exit code: 2 for wrong usage, 1 for everything else.
    pub fn exit_code(self) -> u8 {
        if self == Kind::Usage { 2 } else { 1 }
    }
}

/// The exit code of a check that found a violated limit: no error, and nothing that failed.
pub const VIOLATED: u8 = 3;

/// The exit code of a check that found a file not up to date: an answer too, with the code that `diff` has for it.
pub const DIFFERS: u8 = 1;

/// An error that a command reports itself.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// What kind it is.
    pub kind: Kind,
    /// What happened to what.
    pub message: String,
    /// What to try.
    pub hint: Option<String>,
}

impl Failure {
    /// A failure of this kind.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Failure {
            kind,
            message: message.into(),
            hint: None,
        }
    }

    /// Wrong usage.
    pub fn usage(message: impl Into<String>) -> Self {
        Failure::new(Kind::Usage, message)
    }

    /// Adds what to try.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// An error as it is told.
#[derive(Debug, Serialize)]
pub struct Report {
    /// What kind it is.
    pub kind: Kind,
    /// What happened to what.
    pub message: String,
    /// What to try.
    pub hint: Option<String>,
}

#[derive(Serialize)]
struct Wrapped<'r> {
    error: &'r Report,
}

impl Report {
    /// Sorts an error.
    pub fn of(error: &anyhow::Error) -> Self {
        let mut kind = Kind::Failed;
        let mut hint = None;
        for cause in error.chain() {
            if let Some((found, tip)) = sort(cause) {
                (kind, hint) = (found, tip);
                break;
            }
        }
        // What was typed is repeated in many messages, and may hold a secret.
        let clean = |text: String| redact(&text).text.into_owned();
        Report {
            kind,
            message: clean(format!("{error:#}")),
            hint: hint.map(clean),
        }
    }

    /// The JSON form.
    pub fn wrapped(&self) -> impl Serialize + '_ {
        Wrapped { error: self }
    }
}

impl fmt::Display for Report {
    /// The text form: the message, and the hint on its own line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

fn sort(cause: &(dyn std::error::Error + 'static)) -> Option<(Kind, Option<String>)> {
    if let Some(failure) = cause.downcast_ref::<Failure>() {
        return Some((failure.kind, failure.hint.clone()));
    }
    if let Some(error) = cause.downcast_ref::<StorageError>() {
        return Some((kind_of(error), error.hint()));
    }
    if let Some(error) = cause.downcast_ref::<PatternError>() {
        return Some((Kind::Usage, Some(error.hint.clone())));
    }
    if cause.is::<TextError>()
        || cause.is::<ScoreError>()
        || cause.is::<DecayError>()
        || cause.is::<ChangeError>()
    {
        return Some((Kind::Usage, None));
    }
    if let Some(error) = cause.downcast_ref::<CaptureError>() {
        return Some(match error {
            CaptureError::Missing { .. } => (Kind::NotFound, None),
            CaptureError::UnknownAgent { .. } => (Kind::Usage, None),
            CaptureError::Database(error) => (kind_of(error), error.hint()),
            CaptureError::Unreadable { .. } | CaptureError::Stream { .. } => (Kind::Io, None),
        });
    }
    if let Some(error) = cause.downcast_ref::<LoadError>() {
        return Some((Kind::Scenarios, Some(error.hint().to_owned())));
    }
    if let Some(error) = cause.downcast_ref::<LlmError>() {
        let kind = if error.is_about_settings() {
            Kind::Usage
        } else {
            Kind::Model
        };
        return Some((kind, error.hint()));
    }
    if cause.is::<std::io::Error>() {
        return Some((Kind::Io, None));
    }
    None
}

fn kind_of(error: &StorageError) -> Kind {
    match error {
        StorageError::Folder { .. }
        | StorageError::NotADatabase { .. }
        | StorageError::Foreign { .. } => Kind::NotAStore,
        StorageError::Newer { .. } | StorageError::Journal { .. } => Kind::Newer,
        StorageError::Locked { .. } | StorageError::Changed { .. } => Kind::Locked,
        StorageError::ReadOnly { .. } | StorageError::Beside { .. } => Kind::ReadOnly,
        StorageError::Full { .. } => Kind::DiskFull,
        StorageError::Damaged { .. } => Kind::Damaged,
        StorageError::Io { .. } | StorageError::Unshared { .. } => Kind::Io,
        StorageError::Sqlite { .. } => Kind::Failed,
        StorageError::Change(_) => Kind::Usage,
        StorageError::ItemTaken { .. }
        | StorageError::Exists { .. }
        | StorageError::CannotUndo { .. }
        | StorageError::InTheWay { .. }
        | StorageError::LaterChange { .. } => Kind::Conflict,
        StorageError::NoChange { .. } | StorageError::NothingToUndo => Kind::NotFound,
    }
}
