//! `aizo recall`: finds entries by words, type and kind of task.

use super::Context;
use super::entries::{Entries, Filter, list, parse_limit};
use super::touch::refresh_one;
use crate::model::Op;
use crate::recall::{Request, Words};

/// Arguments of `recall`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo recall code --json
  aizo recall --type taboo
  aizo recall --scenario coding --min-score 3 --limit 20 --json

Every word must occur in item, reason or keywords; the last one may be the beginning of a word. Reading
changes nothing: mark what you used with `aizo apply ID…`.")]
pub struct Args {
    /// Words to look for; without any, everything
    query: Vec<String>,
    #[command(flatten)]
    filter: Filter,
    /// At most this many; matching hard limits take their places first
    #[arg(short, long, value_name = "N", value_parser = parse_limit, allow_negative_numbers = true)]
    limit: Option<usize>,
    /// Refresh the decay clock of what is found, at most once in 12 hours
    #[arg(long, conflicts_with = "no_touch")]
    touch: bool,
    /// Does nothing: recall only reads
    #[arg(long)]
    no_touch: bool,
}

/// Runs `recall`.
///
/// # Errors
/// What the store reports. Finding nothing is none.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Entries> {
    if args.no_touch {
        context.note("--no-touch does nothing: recall only reads unless --touch is given");
    }
    let request = Request {
        words: Words::query(&args.query.join(" ")),
        limit: args.limit,
        ..args.filter.request(context)
    };
    let found = list(context, &request)?;
    if args.touch && !found.0.is_empty() {
        context.write(|transaction| {
            for id in found.ids() {
                if let Some(entry) = transaction.view().entry(id)? {
                    refresh_one(transaction, &entry, Op::Touch)?;
                }
            }
            Ok(())
        })?;
    }
    Ok(found)
}
