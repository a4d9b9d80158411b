//! What a check finds: what is, why it matters, what to do, and what can be done about it at once.

use std::path::PathBuf;

use serde::Serialize;

/// How much it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Level {
    /// Something is lost or does not work.
    Error,
    /// Something may be, or does not do what it seems to.
    Warning,
    /// Worth to know.
    Note,
}

impl Level {
    pub(super) fn name(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        }
    }
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Finding {
    pub(super) check: &'static str,
    pub(super) level: Level,
    pub(super) what: String,
    pub(super) why: String,
    /// What to try.
    pub(super) hint: String,
    /// Whether `--fix` does it.
    pub(super) fixable: bool,
    #[serde(skip)]
    pub(super) fix: Option<Fix>,
}

/// What `--fix` does: nothing that an entry says, and no file of another program, is changed by it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fix {
    /// Takes a file or folder away from other users.
    Mode(PathBuf, u32),
    /// Removes a file that a run has left.
    Remove(PathBuf),
    /// Notes in a log that what went wrong so far was seen.
    Seen(PathBuf),
    /// Makes the search index anew.
    Index,
    /// Takes the rows of these entries into the journal as they are, and whatever other programs have written.
    Adopt(Vec<String>),
}

impl Finding {
    fn new(level: Level, what: impl Into<String>, why: &str, hint: impl Into<String>) -> Self {
        Finding {
            check: "",
            level,
            what: what.into(),
            why: why.to_owned(),
            hint: hint.into(),
            fixable: false,
            fix: None,
        }
    }

    pub(super) fn error(what: impl Into<String>, why: &str, hint: impl Into<String>) -> Self {
        Finding::new(Level::Error, what, why, hint)
    }

    pub(super) fn warning(what: impl Into<String>, why: &str, hint: impl Into<String>) -> Self {
        Finding::new(Level::Warning, what, why, hint)
    }

    pub(super) fn note(what: impl Into<String>, why: &str, hint: impl Into<String>) -> Self {
        Finding::new(Level::Note, what, why, hint)
    }

    /// The same with what `--fix` does about it.
    pub(super) fn with_fix(mut self, fix: Fix) -> Self {
        self.fixable = true;
        self.fix = Some(fix);
        self
    }
}

/// How a finding is put right by `--fix`.
pub(super) const FIX: &str = "aizo doctor --fix";
