//! What was wrong with a file and was survived: how often, and where first.

use std::fmt;

use serde::Serialize;

/// A kind of damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// A line or record longer than what is kept in memory; skipped.
    TooLong,
    /// A line or record that is no JSON; skipped.
    NotJson,
    /// A record whose parts have other types than the host writes; skipped.
    UnknownShape,
    /// A last line that ends in the middle; read again when it is complete.
    CutLine,
    /// A compressed file or database that ends in the middle or is damaged; read up to there.
    Damaged,
    /// A block of zero bytes, as a crash leaves it; skipped, what stands around it is read.
    ZeroBytes,
    /// Two records on one line; both read.
    GluedRecords,
    /// A number before the record; skipped.
    NumberedLine,
    /// Half of a surrogate pair; read as U+FFFD.
    LoneSurrogate,
    /// Bytes that are no UTF-8; read as U+FFFD.
    BadUtf8,
    /// A byte order mark at the beginning; skipped.
    ByteOrderMark,
}

impl ProblemKind {
    /// Whether something was not read because of it.
    pub fn loses_records(self) -> bool {
        matches!(
            self,
            Self::TooLong | Self::NotJson | Self::UnknownShape | Self::CutLine | Self::Damaged
        )
    }
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLong => "too long to be read",
            Self::NotJson => "not JSON",
            Self::UnknownShape => "a record of unknown shape",
            Self::CutLine => "the last line is cut",
            Self::Damaged => "damaged",
            Self::ZeroBytes => "zero bytes",
            Self::GluedRecords => "several records on one line",
            Self::NumberedLine => "a number before the record",
            Self::LoneSurrogate => "half of a surrogate pair",
            Self::BadUtf8 => "not UTF-8",
            Self::ByteOrderMark => "a byte order mark",
        })
    }
}

/// A kind of damage in one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// What it is.
    pub kind: ProblemKind,
    /// How often it was met.
    pub count: u64,
    /// Where it was met first: `line 12`, or the host's record id.
    pub first_place: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.first_place, self.kind)?;
        match self.count {
            1 => Ok(()),
            2 => f.write_str(" (and once more)"),
            many => write!(f, " (and {} times more)", many - 1),
        }
    }
}

/// The problems of one file, in the order in which their kinds were met.
#[derive(Debug, Default)]
pub(crate) struct Problems(Vec<Problem>);

impl Problems {
    /// Counts one.
    pub(crate) fn met(&mut self, kind: ProblemKind, place: impl fmt::Display) {
        match self.0.iter_mut().find(|problem| problem.kind == kind) {
            Some(problem) => problem.count += 1,
            None => self.0.push(Problem {
                kind,
                count: 1,
                first_place: place.to_string(),
            }),
        }
    }

    pub(crate) fn into_vec(self) -> Vec<Problem> {
        self.0
    }
}
