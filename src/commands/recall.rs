//! `aizo recall`: finds entries by words, type and kind of task.

use super::Context;
use super::entries::{Entries, Filter, count, list, parse_limit};
use super::touch::refresh_one;
use crate::model::{Op, Origin};
use crate::recall::{Meaning, Request, Sort, Words};

/// Arguments of `recall`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo recall code --json
  aizo recall \"book a table for Friday\" --explain
  aizo recall --type taboo
  aizo recall --scenario coding --min-score 3 --limit 20 --json

Every word must occur in item, reason or keywords; the last one may be the beginning of a word.
When nothing holds the words, what is close in meaning is found: name the task, in any words.
Reading changes nothing: mark what you used with `aizo apply ID…`.")]
pub struct Args {
    /// Words to look for; without any, everything
    query: Vec<String>,
    #[command(flatten)]
    filter: Filter,
    /// Also what is close in meaning, beside what holds the words
    #[arg(long, conflicts_with = "exact")]
    related: bool,
    /// Only what holds the words, also when nothing does
    #[arg(long)]
    exact: bool,
    /// Every hard limit, whether it concerns the query or not
    #[arg(long)]
    with_limits: bool,
    /// The order; usually keyword matches by weight, then related ones by relevance
    #[arg(long, value_enum, value_name = "ORDER")]
    sort: Option<Order>,
    /// Say why each entry is there
    #[arg(long)]
    explain: bool,
    /// At most this many; matching hard limits take their places first
    #[arg(short, long, value_name = "N", value_parser = parse_limit, allow_negative_numbers = true)]
    limit: Option<usize>,
    /// Refresh the decay clock of what is found, at most once in 12 hours
    #[arg(long, conflicts_with = "no_touch")]
    touch: bool,
    /// Does nothing: recall only reads
    #[arg(long, hide = true)]
    no_touch: bool,
}

/// How a list is sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Order {
    /// By effective weight
    Weight,
    /// By relevance to the query
    Relevance,
}

impl Args {
    /// Whether what is found is refreshed.
    pub(super) fn touches(&self) -> bool {
        self.touch
    }
}

/// Runs `recall`.
///
/// # Errors
/// What the store reports. Finding nothing is none.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Entries> {
    if args.no_touch {
        context.note("--no-touch does nothing: recall only reads unless --touch is given");
    }
    let how = Request {
        limit: args.limit,
        meaning: match (args.exact, args.related) {
            (true, _) => Meaning::Off,
            (_, true) => Meaning::Also,
            _ => Meaning::Fallback,
        },
        with_limits: args.with_limits,
        sort: match args.sort {
            None => Sort::Usual,
            Some(Order::Weight) => Sort::Weight,
            Some(Order::Relevance) => Sort::Relevance,
        },
        ..args.filter.request(context)
    };
    let found = find(args.query.join(" "), how, context)?;
    if args.touch && !found.ids().is_empty() {
        let (touched, resting, change) = context.write(|transaction| {
            let (mut touched, mut resting) = (0, 0);
            for id in found.ids() {
                if let Some(entry) = transaction.view().entry(id)? {
                    let outcome = refresh_one(transaction, &entry, Op::Touch, Origin::User)?;
                    *(if outcome.change.is_some() {
                        &mut touched
                    } else {
                        &mut resting
                    }) += 1;
                }
            }
            Ok((touched, resting, transaction.change_number()))
        })?;
        let change = change.map_or_else(String::new, |change| format!(" (change {change})"));
        context.note(format!(
            "touched {}{change}, {resting} in cooldown; the list shows them as they were",
            count(touched, "entry", "entries"),
        ));
    }
    Ok(found.explained(args.explain))
}

/// Finds what holds the words of a text, or is close to it, as far as a request lets it through.
///
/// # Errors
/// What the store reports.
pub(super) fn find(text: String, how: Request, context: &Context) -> anyhow::Result<Entries> {
    let request = Request {
        words: Words::query(&text),
        text,
        ..how
    };
    list(context, &request)
}
