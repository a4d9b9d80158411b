//! `aizo undo`: takes changes back.

use std::collections::HashSet;
use std::io::{self, Write};

use serde::Serialize;

use super::Context;
use super::entries::{count, parse_limit};
use super::outcome::{LIFTED, lifts};
use super::resolve;
use crate::error::{Failure, Kind};
use crate::model::{Score, Values, quoted};
use crate::present::{Answer, Page, to_json};
use crate::storage::Undoing;

/// Arguments of `undo`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo undo
  aizo undo 42
  aizo undo --last 3
  aizo undo --session 4f1c2d9a

Without a number it takes back the newest change that still stands; said again, the one before.
An undo is a change itself: `aizo undo NUMBER` takes it back in turn.")]
pub struct Args {
    /// The number of a change, from aizo history
    #[arg(conflicts_with_all = ["last", "session"], value_parser = parse_change)]
    change: Option<i64>,
    /// Take back this many, newest first
    #[arg(long, value_name = "N", default_value = "1", value_parser = parse_limit, allow_negative_numbers = true)]
    last: usize,
    /// Take back what came of this conversation: its name or the beginning of it, or its number in aizo sessions
    #[arg(long, value_name = "SESSION", conflicts_with = "last")]
    session: Option<String>,
}

fn parse_change(text: &str) -> Result<i64, String> {
    text.strip_prefix('#')
        .unwrap_or(text)
        .parse()
        .ok()
        .filter(|&number| number > 0)
        .ok_or_else(|| format!("a change is a whole number above 0, not `{text}`"))
}

/// One record that was brought back.
#[derive(Debug, Serialize)]
struct Undone {
    change: i64,
    op: &'static str,
    kind: &'static str,
    id: Option<i64>,
    item: Option<String>,
    score_before: Option<f64>,
    score_after: Option<f64>,
}

/// One change that could not be taken back.
#[derive(Debug, Serialize)]
struct Left {
    change: i64,
    op: &'static str,
    kind: &'static str,
    item: Option<String>,
    why: String,
}

/// What `undo` replies.
#[derive(Debug, Serialize)]
pub struct Reply {
    result: &'static str,
    undone: Vec<Undone>,
    left: Vec<Left>,
    change: Option<i64>,
    hint: Option<String>,
}

/// Runs `undo`.
///
/// # Errors
/// Nothing to undo, no such change, a later change in the way.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Reply> {
    if !context.has_store()? {
        return Err(Failure::new(Kind::NotFound, "there is nothing to undo").into());
    }
    context.write(|transaction| {
        let Undoing { done, left } = match (args.change, &args.session) {
            (Some(number), _) => transaction.undo(number)?,
            (None, Some(session)) => {
                let session = &resolve::conversation(&transaction.view(), session)?;
                let undoing = transaction.undo_session(session)?;
                match transaction.change_number() {
                    Some(_) => undoing,
                    None => return Err(nothing_undone(&undoing, session).into()),
                }
            }
            (None, None) => transaction.undo_last(args.last)?,
        };
        let lines = done.iter().map(|one| &one.line);
        let lines = lines.chain(left.iter().map(|one| &one.line));
        let taken: HashSet<&str> = lines.map(|line| line.batch.as_str()).collect();
        if args.change.is_none() && args.session.is_none() && taken.len() < args.last {
            context.note(format!(
                "there were only {}",
                count(taken.len(), "change", "changes")
            ));
        }
        let mut undone = Vec::new();
        for one in done {
            let score = |values: &Option<Values>| {
                values
                    .as_ref()
                    .and_then(|values| values.get("base_score")?.as_f64())
            };
            undone.push(Undone {
                change: one.line.seq,
                op: one.line.op.name(),
                kind: one.line.subject.kind(),
                id: one.id,
                item: transaction.view().item_of(&one.line.subject)?,
                score_before: score(&one.line.after),
                score_after: score(&one.line.before),
            });
        }
        let mut stands = Vec::new();
        for one in left {
            stands.push(Left {
                change: one.line.seq,
                op: one.line.op.name(),
                kind: one.line.subject.kind(),
                item: transaction.view().item_of(&one.line.subject)?,
                why: one.why,
            });
        }
        let change = transaction.change_number();
        Ok(Reply {
            result: "undone",
            undone,
            left: stands,
            change,
            hint: change.map(|change| format!("to take this back: aizo undo {change}")),
        })
    })
}

/// Why nothing of a conversation was taken back.
fn nothing_undone(undoing: &Undoing, session: &str) -> Failure {
    const MOST: usize = 5;
    let whys: Vec<&str> = undoing.left.iter().map(|one| one.why.as_str()).collect();
    match whys.is_empty() {
        true => Failure::new(
            Kind::NotFound,
            format!("nothing stands that came of a conversation “{session}”"),
        )
        .hint("aizo sessions lists the conversations, aizo why ITEM says where something was said"),
        false => Failure::new(
            Kind::Conflict,
            format!(
                "nothing of it can be taken back: {}",
                whys[..whys.len().min(MOST)].join("; ")
            ),
        )
        .hint(format!("aizo history --session {}", quoted(session))),
    }
}

impl Answer for Reply {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        const MOST: usize = 20;
        for one in self.undone.iter().take(MOST) {
            let score = match (one.score_before, one.score_after) {
                (Some(before), Some(after)) => {
                    format!(
                        "  (score {} → {})",
                        Score::clamped(before),
                        Score::clamped(after)
                    )
                }
                (None, Some(after)) => format!("  (score {})", Score::clamped(after)),
                _ => String::new(),
            };
            let item = one.item.as_deref().unwrap_or(one.kind);
            page.line(&format!(
                "undone: {} (change {}): {item}{score}",
                one.op, one.change
            ))?;
            if one.kind == "entry" && lifts(one.score_before, one.score_after) {
                page.line(&format!("  {LIFTED}"))?;
            }
        }
        if self.undone.len() > MOST {
            page.line(&format!(
                "undone: {} more",
                count(self.undone.len() - MOST, "record", "records")
            ))?;
        }
        for one in &self.left {
            let item = one.item.as_deref().unwrap_or(one.kind);
            page.wrapped(&format!(
                "not undone: {} (change {}): {item}: {}",
                one.op, one.change, one.why
            ))?;
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
