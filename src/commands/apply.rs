//! `aizo apply`: marks recalled entries as used.

use super::Context;
use super::asker::Asker;
use super::outcome::Outcomes;
use super::resolve;
use super::touch::refresh;
use crate::model::Op;

/// Arguments of `apply`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  aizo apply 3 7 12

Reports of each id whether it was touched, rests (cooldown: once in 12 hours) or is not found.")]
pub struct Args {
    /// Ids from recall, top or show
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

/// Runs `apply`.
///
/// # Errors
/// None of the entries exists.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Outcomes> {
    mark(&args.ids, &Asker::User, context)
}

/// Marks entries as used.
///
/// # Errors
/// None of the entries exists.
pub(super) fn mark(ids: &[String], asker: &Asker, context: &Context) -> anyhow::Result<Outcomes> {
    context.require_store(ids)?;
    context.write(|transaction| {
        let named = resolve::by_ids(&transaction.view(), ids)?;
        refresh(transaction, &named, Op::Apply, asker.origin())
    })
}
