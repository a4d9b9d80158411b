//! What `export` replies, and how it looks.

use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::Value;

use crate::commands::entries::count;
use crate::export::{Block, Format};
use crate::files::{Found, difference, object, path};
use crate::present::{Answer, Page, to_json};

/// A file, as it was found and as it should be.
pub(super) struct File {
    pub(super) path: PathBuf,
    pub(super) found: Found,
    pub(super) after: Option<Vec<u8>>,
    /// A copy of it as it was.
    pub(super) backup: Option<PathBuf>,
}

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
        File {
            path,
            found,
            after,
            backup: None,
        }
    }

    pub(super) fn changes(&self) -> bool {
        self.found.bytes != self.after
    }

    pub(super) fn result(&self) -> &'static str {
        match (&self.found.bytes, &self.after) {
            (None, Some(_)) => "created",
            (Some(_), None) => "removed",
            (before, after) if before != after => "changed",
            _ => "unchanged",
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

    pub(super) fn files(mut self, files: Vec<File>) -> Self {
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
                .try_for_each(|file| page.patch(&file.diff()));
        }
        let name = into.display();
        let has = count(self.entries, "entry", "entries");
        page.line(&match self.result {
            "up_to_date" => format!("{name} is up to date ({has})"),
            "removed" | "absent" => format!("{} {name}", self.result),
            result => format!("{result} {name} ({has})"),
        })?;
        let others = self.files.iter().skip(1).filter(|file| file.changes());
        for file in others {
            page.line(&format!("{} {}", file.result(), file.path.display()))?;
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
