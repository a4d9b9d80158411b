//! `aizo touch`: resets the decay clock; and what it shares with `apply` and `recall --touch`.

use chrono::TimeDelta;

use super::Context;
use super::outcome::{Outcome, Outcomes};
use super::resolve::{self, Named};
use crate::model::{Change, EntryValues, Op, Origin, Preference, Stamp};
use crate::storage::Transaction;

/// How long an entry rests before it can be touched again.
const COOLDOWN: TimeDelta = TimeDelta::hours(12);

/// Arguments of `touch`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo touch \"concise code\"
  aizo touch 3 7

An entry is refreshed at most once in 12 hours.")]
pub struct Args {
    /// The item, in one or several words, or ids
    #[arg(required = true)]
    item: Vec<String>,
}

/// Runs `touch`.
///
/// # Errors
/// None of the entries exists.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Outcomes> {
    context.require_store(&args.item)?;
    context.write(|transaction| {
        let named = resolve::several(&transaction.view(), &args.item)?;
        refresh(transaction, &named, Op::Touch, Origin::User)
    })
}

/// Refreshes entries that are not resting, and says of each what became of it.
///
/// # Errors
/// None of the entries exists.
pub(super) fn refresh(
    transaction: &mut Transaction<'_>,
    named: &[Named],
    op: Op,
    origin: Origin,
) -> anyhow::Result<Outcomes> {
    resolve::require_any(&transaction.view(), named)?;
    let mut outcomes = Vec::new();
    for name in named {
        outcomes.push(match &name.entry {
            None => Outcome::not_found(&name.typed),
            Some(entry) => refresh_one(transaction, entry, op, origin)?,
        });
    }
    Ok(Outcomes(outcomes))
}

/// Refreshes one entry that is not resting.
pub(super) fn refresh_one(
    transaction: &mut Transaction<'_>,
    entry: &Preference,
    op: Op,
    origin: Origin,
) -> anyhow::Result<Outcome> {
    let now = transaction.now();
    // A time in the future, or one that cannot be read, is put right by a touch.
    let rests = entry
        .last_seen
        .moment()
        .is_some_and(|seen| seen <= now && now - seen < COOLDOWN);
    if rests {
        let mut outcome = Outcome::unchanged("cooldown", entry, None);
        outcome.hint = Some("it was seen less than 12 hours ago".to_owned());
        return Ok(outcome);
    }
    let values = EntryValues {
        last_seen: Some(Stamp::at(now)),
        touch_count: Some(entry.touch_count.saturating_add(1)),
        ..EntryValues::default()
    };
    let change = Change::set_entry(op, &entry.uid, origin, &values);
    let applied = transaction.apply(&change)?;
    Ok(Outcome::unchanged("touched", entry, applied.line))
}
