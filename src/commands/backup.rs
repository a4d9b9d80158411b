//! `aizo backup`: a copy of the store, while others write; and the list of those that there are.

use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::Context;
use super::entries::count;
use crate::error::{Failure, Kind};
use crate::model::quoted;
use crate::present::{Align, Answer, Page, Table, to_json};
use crate::storage::{Backup, Store};

/// Arguments of `backup`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo backup
  aizo backup /media/stick/profile.db
  aizo backup --list

Without a file the copy goes into the folder `backups` beside the store, with the time in its name. A file that is there is not
written over. aizo takes copies by itself before it clears, imports, restores or rebuilds, and before it brings an older store up to
date; of those the last ten stay.")]
pub struct Args {
    /// The file, or a folder for it
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// List the copies that there are
    #[arg(long, conflicts_with = "file")]
    list: bool,
}

/// Runs `backup`.
///
/// # Errors
/// Nothing is stored yet, a store that is damaged, a file that is there or cannot be written.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Box<dyn Answer>> {
    let settings = &context.settings;
    if args.list {
        let copies = Store::backups(&settings.db);
        if copies.is_empty() {
            context.note("there are no copies yet");
        }
        return Ok(Box::new(Copies(copies.into_iter().map(Row::of).collect())));
    }
    let taken = Store::back_up(&context.location(), args.file.as_deref(), settings.now)?;
    let Some((copy, totals)) = taken else {
        return Err(Failure::new(
            Kind::NotFound,
            "nothing is stored yet, so there is nothing to copy",
        )
        .into());
    };
    Ok(Box::new(Reply {
        result: "backed_up",
        hint: hint(&copy),
        entries: totals.entries,
        changes: totals.changes,
        bytes: copy.bytes,
        file: copy.path,
    }))
}

/// How a copy is put back.
fn hint(copy: &Backup) -> String {
    let path = std::path::absolute(&copy.path).unwrap_or_else(|_| copy.path.clone());
    let path = path.display().to_string();
    format!("to put it back: aizo restore {}", quoted(&path))
}

/// What `backup` replies.
#[derive(Debug, Serialize)]
struct Reply {
    result: &'static str,
    file: PathBuf,
    bytes: u64,
    /// What was found in the copy when it was opened again.
    entries: i64,
    changes: i64,
    hint: String,
}

impl Answer for Reply {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let entries = usize::try_from(self.entries).unwrap_or_default();
        let changes = usize::try_from(self.changes).unwrap_or_default();
        page.line(&format!(
            "copied to {} ({}, {}; {})",
            self.file.display(),
            count(entries, "entry", "entries"),
            count(changes, "change", "changes"),
            size(self.bytes)
        ))?;
        page.line(&format!("  {}", self.hint))
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        to_json(self, out)
    }
}

/// A copy in the list.
#[derive(Debug, Serialize)]
struct Row {
    file: PathBuf,
    at: String,
    /// What was about to happen; none where somebody has asked for the copy.
    occasion: Option<String>,
    bytes: u64,
    /// What is in it; none where it cannot be read.
    entries: Option<i64>,
    hard_limits: Option<i64>,
}

impl Row {
    fn of(copy: Backup) -> Self {
        let contents = copy.contents();
        Row {
            entries: contents.map(|(entries, _)| entries),
            hard_limits: contents.map(|(_, limits)| limits),
            file: copy.path,
            at: copy.at.to_rfc3339(),
            occasion: copy.occasion,
            bytes: copy.bytes,
        }
    }

    /// `13 entries, 2 hard limits`.
    fn holds(&self) -> String {
        let (Some(entries), Some(limits)) = (self.entries, self.hard_limits) else {
            return "damaged".to_owned();
        };
        let number = |many: i64| usize::try_from(many).unwrap_or_default();
        let entries = count(number(entries), "entry", "entries");
        match number(limits) {
            0 => entries,
            many => format!("{entries}, {}", count(many, "hard limit", "hard limits")),
        }
    }
}

/// The copies of the store, the newest first.
#[derive(Debug, Serialize)]
#[serde(transparent)]
struct Copies(Vec<Row>);

impl Answer for Copies {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let mut table = Table::new(&[
            ("TAKEN", Align::Short),
            ("OCCASION", Align::Short),
            ("HOLDS", Align::Short),
            ("SIZE", Align::Right),
            ("FILE", Align::Left),
        ]);
        for copy in &self.0 {
            table.row(&[
                copy.at.clone(),
                copy.occasion.as_deref().unwrap_or("asked for").to_owned(),
                copy.holds(),
                size(copy.bytes),
                copy.file.display().to_string(),
            ]);
        }
        page.table(&table)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        to_json(self, out)
    }
}

/// A length as people read it.
fn size(bytes: u64) -> String {
    const MEBIBYTE: u64 = 1 << 20;
    if bytes < MEBIBYTE {
        format!("{} KiB", bytes.div_ceil(1 << 10))
    } else {
        format!("{} MiB", bytes.div_ceil(MEBIBYTE))
    }
}
