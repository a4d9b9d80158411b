//! `aizo clear`: removes everything but the settings; the journal keeps it for `undo`.

use std::io::{self, Write};

use serde::Serialize;

use super::Context;
use super::entries::count;
use crate::error::Failure;
use crate::model::{Change, Op, Origin, Subject};
use crate::present::{self, Answer, Page, to_json};

/// Arguments of `clear`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  aizo clear --yes

Removes every preference, what waits in review, and the record of analysed sessions. It can be undone: aizo undo")]
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
    sessions: usize,
    change: Option<i64>,
    hint: Option<String>,
}

/// Runs `clear`.
///
/// # Errors
/// Nobody said yes.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Reply> {
    let stored = context.read(|view| {
        let all = view.preferences()?;
        let limits = all.iter().filter(|entry| entry.is_hard_limit()).count();
        Ok((
            all.len(),
            limits,
            view.session_ids()?.len(),
            view.proposals()?.len(),
        ))
    })?;
    let Some((entries, limits, sessions, proposals)) = stored else {
        context.note("nothing is stored yet");
        return Ok(Reply::of(0, 0, 0, None));
    };
    if entries + sessions + proposals == 0 {
        context.note("nothing is stored");
        return Ok(Reply::of(0, 0, 0, None));
    }
    if !args.yes {
        confirm(entries, limits)?;
    }
    context.write(|transaction| {
        let all = transaction.view().preferences()?;
        let limits = all.iter().filter(|entry| entry.is_hard_limit()).count();
        let sessions = transaction.view().session_ids()?;
        let entries = all.into_iter().map(|entry| Subject::Entry(entry.uid));
        let waiting = transaction.view().proposals()?;
        let subjects: Vec<Subject> = entries
            .chain(
                waiting
                    .into_iter()
                    .map(|proposal| Subject::Proposal(proposal.uid)),
            )
            .chain(sessions.iter().map(|id| Subject::Session(id.to_string())))
            .collect();
        let removed = subjects
            .iter()
            .filter(|subject| matches!(subject, Subject::Entry(_)))
            .count();
        for subject in subjects {
            transaction.apply(&Change::delete(Op::Clear, subject, Origin::User))?;
        }
        Ok(Reply::of(
            removed,
            limits,
            sessions.len(),
            transaction.change_number(),
        ))
    })
}

fn confirm(entries: usize, limits: usize) -> anyhow::Result<()> {
    if !present::is_interactive() {
        return Err(
            Failure::usage("clear removes everything and nobody is there to be asked")
                .hint("aizo clear --yes")
                .into(),
        );
    }
    let answer = present::ask(&format!(
        "Remove {} ({} among them)? Type yes: ",
        count(entries, "entry", "entries"),
        count(limits, "hard limit", "hard limits"),
    ))?;
    if answer.eq_ignore_ascii_case("yes") || answer.eq_ignore_ascii_case("y") {
        Ok(())
    } else {
        Err(Failure::new(crate::error::Kind::Failed, "nothing was removed").into())
    }
}

impl Reply {
    fn of(removed: usize, hard_limits: usize, sessions: usize, change: Option<i64>) -> Self {
        Reply {
            result: "cleared",
            removed,
            hard_limits,
            sessions,
            change,
            hint: change.map(|change| format!("to take it back: aizo undo {change}")),
        }
    }
}

impl Answer for Reply {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.line(&format!(
            "cleared: {} removed, {} among them",
            count(self.removed, "entry", "entries"),
            count(self.hard_limits, "hard limit", "hard limits"),
        ))?;
        match &self.hint {
            Some(hint) => page.line(&format!("  {hint}")),
            None => Ok(()),
        }
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        to_json(self, out)
    }
}
