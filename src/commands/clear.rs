//! `aizo clear`: removes everything but the settings; the journal keeps it for `undo`.

use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::Context;
use super::entries::count;
use crate::error::{Failure, Kind};
use crate::model::{Change, Op, Origin, Subject};
use crate::present::{self, Answer, Page, to_json};
use crate::storage::View;

/// Arguments of `clear`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  aizo clear --yes

Removes every preference, what waits in review, and the record of analysed sessions. It can be undone: aizo undo.
The store as it was is kept as a copy as well.")]
pub struct Args {
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

/// What `clear` removed.
#[derive(Debug, Serialize)]
pub struct Reply {
    result: &'static str,
    removed: usize,
    hard_limits: usize,
    proposals: usize,
    sessions: usize,
    /// Where the store as it was is kept.
    copy: Option<PathBuf>,
    change: Option<i64>,
    hint: Option<String>,
}

/// Runs `clear`.
///
/// # Errors
/// Nobody said yes.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Reply> {
    let stored = context.read(Counts::of)?;
    let Some(stored) = stored else {
        context.note("nothing is stored yet");
        return Ok(Reply::of(Counts::default(), None, None));
    };
    if stored == Counts::default() {
        context.note("nothing is stored");
        return Ok(Reply::of(stored, None, None));
    }
    if !args.yes {
        confirm(stored)?;
    }
    context.write(|transaction| {
        let now = Counts::of(&transaction.view())?;
        if !args.yes && now != stored {
            return Err(
                Failure::new(Kind::Conflict, "the store has changed since you were asked")
                    .hint("aizo clear")
                    .into(),
            );
        }
        let copy = transaction.keep_copy("before-clear")?;
        let entries = transaction.view().preferences()?;
        let waiting = transaction.view().proposals()?;
        let sessions = transaction.view().session_ids()?;
        let subjects = entries
            .into_iter()
            .map(|entry| Subject::Entry(entry.uid))
            .chain(
                waiting
                    .into_iter()
                    .map(|proposal| Subject::Proposal(proposal.uid)),
            )
            .chain(
                sessions
                    .into_iter()
                    .map(|id| Subject::Session(id.to_string())),
            );
        for subject in subjects {
            transaction.apply(&Change::delete(Op::Clear, subject, Origin::User))?;
        }
        Ok(Reply::of(now, copy, transaction.change_number()))
    })
}

/// What there is to remove.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    entries: usize,
    hard_limits: usize,
    proposals: usize,
    sessions: usize,
}

impl Counts {
    fn of(view: &View<'_>) -> anyhow::Result<Self> {
        let mut counts = Counts::default();
        view.each_preference(|entry| {
            counts.entries += 1;
            counts.hard_limits += usize::from(entry.is_hard_limit());
        })?;
        counts.proposals = view.proposals()?.len();
        counts.sessions = view.session_ids()?.len();
        Ok(counts)
    }

    /// `3 entries (1 hard limit among them), 2 proposals, 4 session records`.
    fn describe(self) -> String {
        let mut parts = vec![format!(
            "{} ({} among them)",
            count(self.entries, "entry", "entries"),
            count(self.hard_limits, "hard limit", "hard limits"),
        )];
        if self.proposals > 0 {
            parts.push(count(self.proposals, "proposal", "proposals"));
        }
        if self.sessions > 0 {
            parts.push(count(self.sessions, "session record", "session records"));
        }
        parts.join(", ")
    }
}

fn confirm(stored: Counts) -> anyhow::Result<()> {
    if !present::is_interactive() {
        return Err(
            Failure::usage("clear removes everything and nobody is there to be asked")
                .hint("aizo clear --yes")
                .into(),
        );
    }
    if present::confirmed(&format!("Remove {}?", stored.describe()))? {
        Ok(())
    } else {
        Err(Failure::new(Kind::Failed, "nothing was removed").into())
    }
}

impl Reply {
    fn of(counts: Counts, copy: Option<PathBuf>, change: Option<i64>) -> Self {
        Reply {
            result: "cleared",
            removed: counts.entries,
            hard_limits: counts.hard_limits,
            proposals: counts.proposals,
            sessions: counts.sessions,
            copy,
            change,
            hint: change.map(|change| format!("to take it back: aizo undo {change}")),
        }
    }

    fn counts(&self) -> Counts {
        Counts {
            entries: self.removed,
            hard_limits: self.hard_limits,
            proposals: self.proposals,
            sessions: self.sessions,
        }
    }
}

impl Answer for Reply {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.line(&format!("cleared: {}", self.counts().describe()))?;
        if let Some(copy) = &self.copy {
            page.line(&format!("  as it was it is kept as {}", copy.display()))?;
        }
        match &self.hint {
            Some(hint) => page.line(&format!("  {hint}")),
            None => Ok(()),
        }
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        to_json(self, out)
    }
}
