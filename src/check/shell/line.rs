//! The command and the word that are being read.

use std::ops::Range;

use super::{Mark, Simple};

/// What a redirection makes of the next word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    File,
    /// A file that is written to.
    Out,
    HereString,
    HereDocument {
        strip_tabs: bool,
    },
}

/// A here-document whose body comes after the line.
pub(super) struct Waiting {
    pub(super) delimiter: String,
    pub(super) strip_tabs: bool,
    /// Whether nothing in it is replaced.
    pub(super) is_literal: bool,
    /// Its place among the documents.
    pub(super) document: usize,
}

/// A command that is being read.
pub(super) struct Line {
    pub(super) simple: Simple,
    /// Whether commands here run in a shell of their own.
    pub(super) is_apart: bool,
    pub(super) word: Open,
    pub(super) target: Option<Target>,
    /// The here-document that it reads.
    pub(super) document: Option<usize>,
    /// The group in parentheses that ended just before.
    pub(super) group: Option<Range<usize>>,
    /// The command or group that ended last.
    pub(super) last: Range<usize>,
}

impl Line {
    pub(super) fn new(piped_from: Range<usize>, is_apart: bool, first: usize) -> Self {
        Line {
            simple: Simple {
                piped_from,
                is_apart,
                ..Simple::default()
            },
            is_apart,
            word: Open::default(),
            target: None,
            document: None,
            group: None,
            last: first..first,
        }
    }

    /// Takes the command out, and begins the next one.
    pub(super) fn next(&mut self) -> Simple {
        let fresh = Simple {
            is_apart: self.is_apart,
            ..Simple::default()
        };
        std::mem::replace(&mut self.simple, fresh)
    }
}

/// A word that is being read.
#[derive(Default)]
pub(super) struct Open {
    pub(super) text: String,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) has_begun: bool,
    pub(super) is_dynamic: bool,
    pub(super) is_quoted: bool,
    pub(super) marks: Vec<(usize, Mark)>,
    pub(super) elements: Option<Range<usize>>,
}

impl Open {
    pub(super) fn mark(&mut self, mark: Mark) {
        self.marks.push((self.text.len(), mark));
    }

    /// Whether it is `name=` or `name+=` so far.
    pub(super) fn assigns(&self) -> bool {
        let name = self.text.strip_suffix('=').unwrap_or_default();
        let name = name.strip_suffix('+').unwrap_or(name);
        !self.is_quoted
            && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    }

    pub(super) fn push(&mut self, c: char, range: Range<usize>) {
        self.text.push(c);
        self.reach(range);
    }

    pub(super) fn reach(&mut self, range: Range<usize>) {
        if !self.has_begun {
            self.start = range.start;
            self.has_begun = true;
        }
        self.end = range.end;
    }
}
