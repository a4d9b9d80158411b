//! What `export` replies, and how it looks.

use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::Value;

use crate::commands::entries::count;
use crate::export::{Block, Format};
use crate::files::{Found, difference, leads_to, object, path};
use crate::present::{Answer, Page, to_json};

/// A file, as it was found and as it should be.
pub(super) struct File {
    pub(super) path: PathBuf,
    pub(super) found: Found,
    pub(super) after: Option<Vec<u8>>,
    /// Of what a copy is kept when it is written.
    pub(super) kept: Kept,
    /// A copy of it as it was.
    pub(super) backup: Option<PathBuf>,
    /// Where it is if a link leads elsewhere.
    target: Option<PathBuf>,
    pub(super) state: State,
}

/// Of what a copy is kept when a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// Of nothing: all that will not be in it any more is aizo's.
    Nothing,
    /// Of the file before there was a block in it.
    Before,
    /// Of the file with a text of somebody's own where the block will be.
    OwnText,
}

/// What became of a file that should change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// It was written, or will be.
    Done,
    /// It could not be written.
    Failed,
    /// Another could not be written before it.
    Omitted,
}

/// What a file comes to that could not be written, and with it the whole.
const FAILED: &str = "failed";

/// What `export` replies.
pub(super) struct Exported {
    format: Option<Format>,
    into: Option<PathBuf>,
    result: &'static str,
    text: Option<String>,
    entries: usize,
    left_out: Option<usize>,
    limits_left_out: usize,
    files: Vec<File>,
}

impl File {
    pub(super) fn planned(path: PathBuf, found: Found, after: Option<Vec<u8>>) -> Self {
        let folder = std::env::current_dir().unwrap_or_default();
        File {
            target: leads_to(&path, &folder),
            path,
            found,
            after,
            kept: Kept::Nothing,
            backup: None,
            state: State::Done,
        }
    }

    pub(super) fn keeping(self, kept: Kept) -> Self {
        File { kept, ..self }
    }

    pub(super) fn changes(&self) -> bool {
        self.found.bytes != self.after
    }

    pub(super) fn result(&self) -> &'static str {
        match (&self.found.bytes, &self.after) {
            _ if self.state == State::Failed => FAILED,
            (None, Some(_)) => "created",
            (Some(_), None) => "removed",
            (before, after) if before != after => "changed",
            _ => "unchanged",
        }
    }

    /// Its path, and where a link leads.
    fn named(&self) -> String {
        let path = self.path.display();
        match &self.target {
            Some(target) => format!("{path} -> {}", target.display()),
            None => path.to_string(),
        }
    }

    fn diff(&self) -> String {
        difference(
            &self.path,
            self.found.bytes.as_deref(),
            self.after.as_deref(),
        )
    }
}

impl Exported {
    pub(super) fn new(format: Option<Format>, into: Option<PathBuf>, result: &'static str) -> Self {
        Exported {
            format,
            into,
            result,
            text: None,
            entries: 0,
            left_out: None,
            limits_left_out: 0,
            files: Vec::new(),
        }
    }

    pub(super) fn with(mut self, block: &Block, text: String) -> Self {
        self.text = Some(text);
        self.entries = block.entries();
        self.left_out = block.left_out();
        self.limits_left_out = block.limits_left_out();
        self
    }

    pub(super) fn result(mut self, result: &'static str) -> Self {
        self.result = result;
        self
    }

    /// The files, and that all has failed where one has.
    pub(super) fn files(mut self, files: Vec<File>) -> Self {
        if files.iter().any(|file| file.state == State::Failed) {
            self.result = FAILED;
        }
        self.files = files;
        self
    }
}

impl Answer for Exported {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let Some(into) = &self.into else {
            return page.block(self.text.as_deref().unwrap_or_default());
        };
        if self.result == "differs" {
            return self
                .files
                .iter()
                .try_for_each(|file| page.verbatim(file.diff().as_bytes()));
        }
        let (main, others): (Vec<&File>, Vec<&File>) =
            self.files.iter().partition(|file| file.path == *into);
        let name = main
            .first()
            .map_or_else(|| into.display().to_string(), |file| file.named());
        let has = count(self.entries, "entry", "entries");
        page.line(&match self.result {
            "up_to_date" => format!("{name} is up to date ({has})"),
            "removed" if main.iter().any(|file| file.after.is_some()) => {
                format!("removed the block from {name}")
            }
            "removed" | "absent" | FAILED => format!("{} {name}", self.result),
            result => format!("{result} {name} ({has})"),
        })?;
        for file in others.iter().filter(|file| file.changes()) {
            page.line(&format!("{} {}", file.result(), file.named()))?;
        }
        Ok(())
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let files: Value = self
            .files
            .iter()
            .map(|file| {
                object([
                    ("path", path(&file.path)),
                    ("result", file.result().into()),
                    ("diff", file.diff().into()),
                    ("backup", file.backup.as_deref().map(path).into()),
                    ("target", file.target.as_deref().map(path).into()),
                ])
            })
            .collect();
        let all = object([
            ("format", self.format.map(Format::name).into()),
            ("into", self.into.as_deref().map(path).into()),
            ("result", self.result.into()),
            ("text", self.text.as_deref().into()),
            ("entries", self.entries.into()),
            ("left_out", self.left_out.into()),
            ("limits_left_out", self.limits_left_out.into()),
            ("files", files),
        ]);
        to_json(&all, out)
    }
}
