//! `aizo sync rebuild`: the tables from the files of the repository, and what was different.

use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::Sync;
use super::pull::{change, pulled};
use super::reply::Pulled;
use crate::commands::Context;
use crate::commands::entries::count;
use crate::commands::restore::compare::Limits;
use crate::commands::restore::confirm_loss;
use crate::error::{Failure, Kind};
use crate::model::JournalLine;
use crate::present::{Answer, Page, to_json};
use crate::storage::Transaction;
use crate::sync::read;

/// Arguments of `sync rebuild`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Say what would happen, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask when hard limits are lost or weakened by it
    #[arg(long, short)]
    yes: bool,
}

/// What `sync rebuild` replies.
#[derive(Debug, Serialize)]
pub(super) struct Reply {
    result: &'static str,
    dry_run: bool,
    /// The lines of the files.
    lines: usize,
    /// Of them, those that were not in the journal.
    missing: usize,
    /// Of them, those that the journal had otherwise.
    repaired: usize,
    /// Lines of the journal that no file has yet; they count as well.
    unpushed: usize,
    /// What was different in the tables.
    difference: Pulled,
    /// The store as it was.
    kept: Option<PathBuf>,
}

pub(super) fn run(args: &Args, context: &Context) -> anyhow::Result<Reply> {
    let dry_run = args.dry_run;
    let sync = Sync::open(context, dry_run, 1)?;
    sync.progress.name("making the tables anew");
    let tree = sync.repository.tree()?;
    if tree.devices.is_empty() {
        return Err(Failure::new(Kind::NotFound, "no files were fetched yet")
            .hint("aizo sync pull")
            .into());
    }
    let mut lines: Vec<JournalLine> = Vec::new();
    let mut waiting = Vec::new();
    for (device, blob) in &tree.devices {
        let bytes = sync.repository.read(blob)?;
        let reading = read(device, &bytes, &Default::default(), context.settings.now);
        lines.extend(reading.lines);
        waiting.extend(reading.stopped.map(|place| (device.clone(), place)));
    }
    let many = lines.len();
    let asks = !dry_run && !args.yes;
    let told = match asks {
        true => context.rehearse(|transaction| limits(transaction, lines.clone()))?,
        false => Limits::default(),
    };
    if let Some(why) = told.told() {
        confirm_loss(why, "aizo sync rebuild --yes".to_owned(), "Rebuild it")?;
    }
    let (kept, rebuilt, difference) = change(context, dry_run, |transaction| {
        let kept = transaction.keep_copy("before-rebuild")?;
        let before = transaction.view().preferences()?;
        let mut rebuilt = transaction.rebuild(lines)?;
        let limits = Limits::of(&before, &transaction.view().preferences()?);
        if asks && !limits.are_all_in(&told) {
            let failure =
                Failure::new(Kind::Conflict, "the store has changed since you were asked");
            return Err(failure.hint("say it again").into());
        }
        let received = std::mem::take(&mut rebuilt.received);
        let told = pulled(context, transaction, received, waiting)?;
        Ok((kept, rebuilt, told))
    })?;
    Ok(Reply {
        result: "rebuilt",
        dry_run,
        lines: many,
        missing: rebuilt.missing,
        repaired: rebuilt.repaired,
        unpushed: rebuilt.unpushed,
        difference,
        kept,
    })
}

/// What rebuilding would make of the hard limits.
fn limits(transaction: &mut Transaction<'_>, lines: Vec<JournalLine>) -> anyhow::Result<Limits> {
    let before = transaction.view().preferences()?;
    transaction.rebuild(lines)?;
    Ok(Limits::of(&before, &transaction.view().preferences()?))
}

impl Answer for Reply {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let would = if self.dry_run { "would be " } else { "" };
        page.line(&format!(
            "{would}rebuilt from {} ({} missing here, {} otherwise here, {} not pushed yet)",
            count(self.lines, "line", "lines"),
            self.missing,
            self.repaired,
            self.unpushed
        ))?;
        if self.difference.is_equal() {
            page.line("the tables were right")?;
        }
        self.difference.write(page)?;
        match &self.kept {
            Some(kept) => page.line(&format!(
                "as it was, the store is kept as {}",
                kept.display()
            )),
            None => Ok(()),
        }
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        to_json(self, out)
    }
}
