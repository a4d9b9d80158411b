//! `aizo import`: takes over a profile: aizo's own, with all that stands behind it, and what other programs know of a person.
//!
//! | file | does |
//! |---|---|
//! | `mod.rs` | the arguments, and the way through: look → read → decide → write |
//! | `source.rs` | the file, or what comes on standard input, as often as it is read |
//! | `work` | what becomes of each piece in the store |
//! | `reply.rs` | how that is told |

mod reply;
mod source;
mod work;

use std::path::PathBuf;

use super::Context;
use crate::error::{Failure, Kind};
use crate::merge::OnConflict;
use crate::portable::{self, Format, Found, Layout, Piece, ReadError, Reading, Row, Trust};
use crate::present::Progress;
use crate::storage::{Store, Transaction};

pub use reply::Reply;
use source::Source;
use work::{Terms, Work};

/// Arguments of `import`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo import backup.jsonl
  aizo import CLAUDE.md --dry-run
  aizo import mem0.json && aizo review
  aizo import old.jsonl --on-conflict skip

Reads what aizo export writes, aizo stores, mem0, the graph of MCP's memory server, ChatGPT's memories and custom instructions,
and lists of rules such as CLAUDE.md. What aizo itself exported comes back as it was, hard limits in force. What others wrote waits
in aizo review, and a text that speaks to the model is never taken over by itself. The same file again changes nothing.")]
pub struct Args {
    /// The file; `-` or a pipe for standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Take the file for this, whatever it looks like
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Say what would be taken over, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// What becomes of an entry that is there already with other values
    #[arg(long, value_enum, default_value_t)]
    on_conflict: OnConflict,
    /// Let everything wait in review
    #[arg(long, conflicts_with = "accept")]
    review: bool,
    /// Take over at once what would wait for you, as if you had accepted it; not what speaks to the model
    #[arg(long)]
    accept: bool,
}

impl Args {
    /// Whether what the file says takes the place of what is stored.
    pub(super) fn replaces(&self) -> bool {
        self.on_conflict == OnConflict::Replace
    }
}

/// Runs `import`.
///
/// # Errors
/// A file that cannot be read or holds nothing that aizo can import, what the store reports.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Reply> {
    let source = Source::of(args.file.as_deref())?;
    let look = portable::look(&source.head()?, args.format)
        .map_err(|error| refusal(&source, error, None))?;
    let mut reply = if look.layout == Layout::Database || args.format == Some(Format::Store) {
        from_store(&source, args, context)?
    } else {
        from_text(&source, look, args, context)?
    };
    if reply.change.is_none()
        && let Some(fault) = reply.rows.only_faults()
    {
        return Err(nothing_read(&source, Some(fault)).into());
    }
    reply.dry_run = args.dry_run;
    Ok(reply)
}

/// Takes over what a file of text holds. All of it is read before the store is locked: whether it is as aizo wrote it shows at
/// its end, and nobody waits for a slow disk.
fn from_text(
    source: &Source,
    look: portable::Look,
    args: &Args,
    context: &Context,
) -> anyhow::Result<Reply> {
    let (mut pieces, mut changes, mut first_fault) = (Vec::new(), Vec::new(), None);
    let reading = source
        .open_shown(context)
        .map_err(ReadError::from)
        .and_then(|mut stream| {
            portable::read(&mut stream, look, &mut |found| match found.piece {
                Piece::Row(Row::Change(change)) => changes.push(*change),
                piece => {
                    if let Piece::Bad(why) = &piece {
                        first_fault.get_or_insert(format!("line {}: {why}", found.line));
                    }
                    let line = found.line;
                    pieces.push(Found { line, piece });
                }
            })
        });
    let reading = reading.map_err(|error| refusal(source, error, first_fault))?;
    if reading.trust == Trust::Published && !args.accept {
        context.note("it was made for others to read, so that all of it waits for you");
    }
    if let Trust::Broken(why) = reading.trust {
        let so = if args.accept {
            "it is taken over because you said so"
        } else {
            "its hard limits wait for you"
        };
        context.note(format!(
            "{why}, so that the origins in it do not hold: {so}"
        ));
    }
    let terms = terms(args, &reading, source);
    write(args, context, |transaction| {
        let mut work = Work::begin(transaction, &terms)?;
        if !changes.is_empty() {
            work.history(changes)?;
        }
        let progress = Progress::new(pieces.len() as u64, !context.is_quiet());
        pieces.into_iter().try_for_each(|found| {
            progress.advance(1);
            work.take(found)
        })?;
        Ok(work.finish(&reading))
    })
}

/// Takes over what another store holds, which is read from a copy and stays as it is.
fn from_store(source: &Source, args: &Args, context: &Context) -> anyhow::Result<Reply> {
    let other = Store::taken_from(&source.path(), context.settings.now)?;
    let rows = other.view().rows()?;
    let reading = Reading {
        format: Format::Store,
        trust: Trust::Whole,
        is_intact: true,
        changes: 0,
        checksum: None,
        problems: Vec::new(),
    };
    let terms = terms(args, &reading, source);
    write(args, context, |transaction| {
        let mut work = Work::begin(transaction, &terms)?;
        let progress = Progress::new(rows.len() as u64, !context.is_quiet());
        for (row, line) in rows.into_iter().zip(1..) {
            let piece = Piece::Row(row);
            work.take(Found { line, piece })?;
            progress.advance(1);
        }
        Ok(work.finish(&reading))
    })
}

fn terms(args: &Args, reading: &Reading, source: &Source) -> Terms {
    Terms {
        format: reading.format,
        trust: reading.trust,
        on_conflict: args.on_conflict,
        review: args.review,
        accept: args.accept,
        file: source.name(),
    }
}

/// Runs `change` on the store, or for a rehearsal on a copy of it in memory.
fn write<T>(
    args: &Args,
    context: &Context,
    change: impl FnOnce(&mut Transaction<'_>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    if args.dry_run {
        context.rehearse(change)
    } else {
        context.write(change)
    }
}

fn nothing_read(source: &Source, fault: Option<String>) -> Failure {
    let fault = fault.map(|fault| format!(" ({fault})")).unwrap_or_default();
    Failure::new(
        Kind::Failed,
        format!("nothing in {} could be read{fault}", source.name()),
    )
    .hint("aizo import --help says what can be; --format says what it is")
}

fn refusal(source: &Source, error: ReadError, fault: Option<String>) -> Failure {
    let name = source.name();
    let (kind, hint) = match &error {
        ReadError::Unknown => return nothing_read(source, fault),
        ReadError::Conversation => (
            Kind::Failed,
            format!(
                "aizo analyze {name} learns from conversations; --format rules takes it for a list of rules"
            ),
        ),
        ReadError::Page => (
            Kind::Failed,
            "aizo export FILE.jsonl writes what comes back with aizo import".to_owned(),
        ),
        ReadError::Utf16 => (
            Kind::Failed,
            "save it as UTF-8; aizo export FILE writes UTF-8 itself".to_owned(),
        ),
        ReadError::NotText => (
            Kind::Failed,
            "aizo import --help says what can be imported".to_owned(),
        ),
        ReadError::TooLong { .. } => (
            Kind::Failed,
            "as lines (jsonl) it may be of any length".to_owned(),
        ),
        ReadError::Newer { .. } => (Kind::Newer, "update aizo here first".to_owned()),
        ReadError::Io(_) => (Kind::Io, String::new()),
    };
    let failure = Failure::new(kind, format!("cannot import {name}: {error}"));
    if hint.is_empty() {
        failure
    } else {
        failure.hint(hint)
    }
}
