//! `aizo remove`: removes entries; the journal keeps them for `undo`.

use super::Context;
use super::asker::Asker;
use super::outcome::{LIFTED, Outcome, Outcomes};
use super::resolve;
use crate::model::{Change, EntryValues, Op, Subject};

/// Arguments of `remove`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo remove \"long meetings\"
  aizo remove 3 7

It can be undone: aizo undo")]
pub struct Args {
    /// The item, in one or several words, or ids
    #[arg(required = true)]
    item: Vec<String>,
}

impl Args {
    /// The words that name the entries.
    pub(super) fn named(&self) -> &[String] {
        &self.item
    }
}

/// Runs `remove`.
///
/// # Errors
/// None of the entries exists.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Outcomes> {
    take_away(&args.item, &Asker::User, context)
}

/// Removes the entries that the words name.
///
/// # Errors
/// None of the entries exists; a hard limit that an agent would remove without the user's words.
pub(super) fn take_away(
    words: &[String],
    asker: &Asker,
    context: &Context,
) -> anyhow::Result<Outcomes> {
    context.require_store(words)?;
    context.write(|transaction| {
        let named = resolve::several(&transaction.view(), words)?;
        resolve::require_any(&transaction.view(), &named)?;
        let mut outcomes = Vec::new();
        for name in named {
            let Some(entry) = name.entry else {
                outcomes.push(Outcome::not_found(&name.typed));
                continue;
            };
            if entry.is_hard_limit() {
                let what = format!("removing the hard limit “{}”", entry.item);
                asker.require_words(&what)?;
            }
            let uid = transaction.new_uid();
            if let Some(words) = asker.evidence(&entry, None, uid, transaction.now()) {
                let nothing = EntryValues::default();
                let change = Change::set_entry(Op::Update, &entry.uid, asker.origin(), &nothing);
                transaction.apply(&change.with_evidence(words))?;
            }
            let subject = Subject::Entry(entry.uid.clone());
            let applied =
                transaction.apply(&Change::delete(Op::Remove, subject, asker.origin()))?;
            let mut outcome = Outcome::unchanged("removed", &entry, applied.line);
            outcome.score_after = None;
            outcome.hint = entry.is_hard_limit().then(|| LIFTED.to_owned());
            outcomes.push(outcome);
        }
        // One command is one batch: any of its numbers takes all of it back.
        let removed = outcomes
            .iter()
            .filter(|outcome| outcome.change.is_some())
            .count();
        if let (Some(change), Some(last)) = (transaction.change_number(), outcomes.last_mut()) {
            let what = if removed == 1 { "it" } else { "all of them" };
            let undo = format!("to take {what} back: aizo undo {change}");
            last.hint = Some(match last.hint.take() {
                Some(lifted) => format!("{lifted}; {undo}"),
                None => undo,
            });
        }
        Ok(Outcomes(outcomes))
    })
}
