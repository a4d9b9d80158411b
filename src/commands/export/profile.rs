//! The profile as a whole: in the form that `aizo import` brings back, or for a reader.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::PossibleValue;
use serde_json::Value;

use super::absolute;
use crate::commands::entries::count;
use crate::commands::{Context, Reply};
use crate::error::{Failure, Kind};
use crate::export::Format;
use crate::files::{Readers, folders_for, object, path, replace};
use crate::model::JournalLine;
use crate::portable::{
    self, Change, Document, Entry, Header, Line, Reasons, Row, Sum, is_as_summed, markdown,
    published, summed,
};
use crate::present::{Answer, Page, to_json, to_json_line};
use crate::storage::View;
use crate::sync::append;

/// What is written: the profile as a whole, or what a file of a host holds of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Profile(Form),
    File(Format),
}

/// How the profile is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Lines,
    Document,
    Page,
}

impl Form {
    const ALL: [Form; 3] = [Form::Lines, Form::Document, Form::Page];

    fn name(self) -> &'static str {
        match self {
            Form::Lines => "jsonl",
            Form::Document => "json",
            Form::Page => "md",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Form::Lines => "The whole profile, a row a line: aizo import brings it back",
            Form::Document => "The same as one document",
            Form::Page => "The whole profile for a reader",
        }
    }

    /// The form that a file's name asks for, where it asks for one.
    fn named(file: &Path) -> Option<Self> {
        let ending = file.extension().and_then(|ending| ending.to_str());
        Form::ALL
            .into_iter()
            .find(|form| Some(form.name()) == ending)
    }
}

impl ValueEnum for Wanted {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [Wanted; Form::ALL.len() + Format::ALL.len()] = {
            let mut all = [Wanted::Profile(Form::Lines); Form::ALL.len() + Format::ALL.len()];
            let mut at = 0;
            while at < all.len() {
                all[at] = if at < Form::ALL.len() {
                    Wanted::Profile(Form::ALL[at])
                } else {
                    Wanted::File(Format::ALL[at - Form::ALL.len()])
                };
                at += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Wanted::Profile(form) => Some(PossibleValue::new(form.name()).help(form.help())),
            Wanted::File(format) => format.to_possible_value(),
        }
    }
}

/// Arguments for the profile as a whole.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "The whole profile")]
pub(super) struct Whole {
    /// Write it into this file; `-`, or nothing, prints it
    #[arg(value_name = "FILE", conflicts_with_all = ["into", "check", "remove", "entries", "scenario"])]
    file: Option<PathBuf>,
    /// Fit for others to read: no evidence, no reasons, days for moments, marks for addresses and paths
    #[arg(long, conflicts_with_all = ["into", "remove", "history"])]
    redact: bool,
    /// With --redact: reasons all the same
    #[arg(long, requires = "redact")]
    with_reasons: bool,
    /// With every change ever made, so that a new machine has the history too
    #[arg(long, conflicts_with_all = ["into", "remove"])]
    history: bool,
}

impl Whole {
    /// How the profile is to be written, where that is what is asked for.
    pub(super) fn form(&self, wanted: Option<Wanted>) -> anyhow::Result<Option<Form>> {
        match wanted {
            Some(Wanted::Profile(form)) => Ok(Some(form)),
            None => Ok(Some(
                self.file
                    .as_deref()
                    .and_then(Form::named)
                    .unwrap_or(Form::Lines),
            )),
            Some(Wanted::File(_)) if self.file.is_some() || self.redact || self.history => {
                Err(Failure::usage(
                    "FILE, --redact and --history belong to the whole profile: jsonl, json or md",
                )
                .hint("aizo export --format claude-md --into FILE")
                .into())
            }
            Some(Wanted::File(_)) => Ok(None),
        }
    }
}

/// Writes the profile.
///
/// # Errors
/// A file that holds something else or cannot be written, and what the store reports.
pub(super) fn run(args: &Whole, form: Form, context: &Context) -> anyhow::Result<Reply> {
    if args.history && form == Form::Page {
        return Err(Failure::usage("--history belongs to jsonl and json").into());
    }
    let file = args.file.as_deref().filter(|file| *file != Path::new("-"));
    let file = file.map(absolute).transpose()?;
    let written = match context.read(|view| write(view, args, form))? {
        Some(written) => written,
        None => {
            context.note("nothing is stored yet");
            Written::of(Rows::default(), args, form)?
        }
    };
    if let Some(file) = &file {
        let made = put(file, &written.bytes)?;
        if let Some(folder) = made.last() {
            context.note(format!("made the folder {}", folder.display()));
        }
    }
    Ok(Reply::Answer(Box::new(Exported {
        form,
        file,
        written,
    })))
}

/// The profile, written.
struct Written {
    bytes: Vec<u8>,
    entries: usize,
    hard_limits: usize,
}

/// What there is to write.
#[derive(Default)]
struct Rows(Vec<Row>);

fn write(view: &View<'_>, args: &Whole, form: Form) -> anyhow::Result<Written> {
    let mut rows = Rows::default();
    let stored = view.rows()?;
    stored.into_iter().for_each(|row| rows.take(row, args));
    if args.history {
        rows.0.extend(changes(view)?);
    }
    Ok(Written::of(rows, args, form)?)
}

/// The journals of all devices, as a sync gives them, in the order of their times. Which conversations were analysed belongs to
/// this device.
fn changes(view: &View<'_>) -> anyhow::Result<Vec<Row>> {
    let mut lines = Vec::new();
    for device in view.lines_by_device()?.into_keys() {
        lines.extend(view.lines_of(&device)?);
    }
    lines.sort_by(|a, b| (&a.hlc, &a.device).cmp(&(&b.hlc, &b.device)));
    let change = |line: JournalLine| -> anyhow::Result<Row> {
        let device = line.device.clone();
        let mut text = Vec::new();
        append(&mut text, line);
        let line = serde_json::from_slice(&text)?;
        Ok(Row::Change(Box::new(Change { device, line })))
    };
    lines.into_iter().map(change).collect()
}

impl Rows {
    /// What waits and how fast things fade is nobody else's business.
    fn take(&mut self, row: Row, args: &Whole) {
        let reasons = if args.with_reasons {
            Reasons::Told
        } else {
            Reasons::Kept
        };
        match row {
            Row::Entry(entry) if args.redact => {
                let entry = published(*entry, reasons);
                self.0.push(Row::Entry(Box::new(entry)));
            }
            _ if args.redact => {}
            row => self.0.push(row),
        }
    }

    fn entries(self) -> Vec<Entry> {
        let entry = |row| match row {
            Row::Entry(entry) => Some(*entry),
            _ => None,
        };
        self.0.into_iter().filter_map(entry).collect()
    }
}

impl Written {
    fn of(rows: Rows, args: &Whole, form: Form) -> io::Result<Self> {
        let entries = rows.0.iter().filter_map(|row| match row {
            Row::Entry(entry) => Some(entry.preference()),
            _ => None,
        });
        let limits: Vec<bool> = entries.map(|entry| entry.is_hard_limit()).collect();
        Ok(Written {
            entries: limits.len(),
            hard_limits: limits.into_iter().filter(|&is_limit| is_limit).count(),
            bytes: match form {
                Form::Lines => lines(&rows, args.redact)?,
                Form::Document => document(rows, args.redact)?,
                Form::Page => summed(markdown(&rows.entries())).into_bytes(),
            },
        })
    }
}

fn sum(rows: &Rows, header: &Header) -> Sum {
    let mut sum = Sum::default();
    sum.begin(header);
    rows.0.iter().for_each(|row| sum.row(row));
    sum
}

fn lines(rows: &Rows, redacted: bool) -> io::Result<Vec<u8>> {
    let header = Header::new(redacted);
    let mut bytes = Vec::new();
    to_json_line(&header, &mut bytes)?;
    for row in &rows.0 {
        let kind = row.kind();
        match row {
            Row::Entry(entry) => to_json_line(&Line::new(kind, entry), &mut bytes)?,
            Row::Proposal(proposal) => to_json_line(&Line::new(kind, proposal), &mut bytes)?,
            Row::Settings(settings) => to_json_line(&Line::new(kind, settings), &mut bytes)?,
            Row::Change(change) => to_json_line(&Line::new(kind, change), &mut bytes)?,
        }
    }
    let end = sum(rows, &header).end();
    to_json_line(&Line::new("end", &end), &mut bytes)?;
    Ok(bytes)
}

fn document(rows: Rows, redacted: bool) -> io::Result<Vec<u8>> {
    let header = Header::new(redacted);
    let mut document = Document {
        end: sum(&rows, &header).end(),
        header,
        entries: Vec::new(),
        proposals: Vec::new(),
        settings: None,
        history: Vec::new(),
    };
    for row in rows.0 {
        match row {
            Row::Entry(entry) => document.entries.push(*entry),
            Row::Proposal(proposal) => document.proposals.push(*proposal),
            Row::Settings(settings) => document.settings = Some(settings),
            Row::Change(change) => document.history.push(*change),
        }
    }
    let mut bytes = Vec::new();
    to_json(&document, &mut bytes)?;
    Ok(bytes)
}

/// Whether a file is an export as it was written: the sum at its end tells.
fn is_own(bytes: &[u8]) -> bool {
    /// What a file is shows at its beginning.
    const HEAD: usize = 64 << 10;
    if std::str::from_utf8(bytes).is_ok_and(is_as_summed) {
        return true;
    }
    portable::look(&bytes[..bytes.len().min(HEAD)], None)
        .and_then(|look| portable::read(&mut &*bytes, look, &mut |_| {}))
        .is_ok_and(|reading| reading.is_intact)
}

/// Writes the file, if it is a new one or an earlier export: nothing else is written over. What comes back are the folders that
/// were made for it.
fn put(file: &Path, bytes: &[u8]) -> Result<Vec<PathBuf>, Failure> {
    let failure = |what: &str, error: io::Error| {
        let message = format!("cannot {what} {}: {error}", file.display());
        Failure::new(Kind::Io, message)
    };
    let mut before = Vec::new();
    match File::open(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        opened => {
            let mut opened = opened.map_err(|error| failure("read", error))?;
            if opened.metadata().is_ok_and(|metadata| !metadata.is_file()) {
                let message = format!("{} is not a file", file.display());
                return Err(Failure::new(Kind::Io, message));
            }
            opened
                .read_to_end(&mut before)
                .map_err(|error| failure("read", error))?;
        }
    }
    if !before.is_empty() && !is_own(&before) {
        let message = format!(
            "{} holds something else, or was changed since it was exported, and was left as it is",
            file.display()
        );
        return Err(Failure::new(Kind::Conflict, message)
            .hint("name another file; only what aizo export has written is written over"));
    }
    let made = folders_for(file, Readers::Owner)?;
    // The file behind a link, and not the link.
    let target = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf());
    replace(&target, bytes, Readers::Owner).map_err(|error| failure("write", error))?;
    Ok(made)
}

/// What is replied.
struct Exported {
    form: Form,
    file: Option<PathBuf>,
    written: Written,
}

impl Exported {
    fn text_of(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.written.bytes);
        self.file.is_none().then(|| text.into_owned())
    }
}

impl Answer for Exported {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let Some(file) = &self.file else {
            return page.verbatim(&self.written.bytes);
        };
        // Where the name says something else, or nothing.
        let form = match Form::named(file) == Some(self.form) {
            true => String::new(),
            false => format!(" as {}", self.form.name()),
        };
        page.line(&format!(
            "wrote {}{form} ({}, {} among them)",
            file.display(),
            count(self.written.entries, "entry", "entries"),
            count(self.written.hard_limits, "hard limit", "hard limits"),
        ))
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.form == Form::Document && self.file.is_none() {
            return out.write_all(&self.written.bytes);
        }
        let file: Value = self.file.as_deref().map(path).into();
        let all = object([
            ("format", self.form.name().into()),
            ("file", file),
            (
                "result",
                if self.file.is_some() {
                    "written"
                } else {
                    "printed"
                }
                .into(),
            ),
            ("entries", self.written.entries.into()),
            ("hard_limits", self.written.hard_limits.into()),
            ("text", self.text_of().into()),
        ]);
        to_json(&all, out)
    }
}
