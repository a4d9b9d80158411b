//! `aizo tag`: adds, replaces or removes keywords of an entry.

use super::Context;
use super::outcome::Outcome;
use super::resolve;
use crate::error::Failure;
use crate::merge::union;
use crate::model::{Change, EntryValues, Op, Origin, join_keywords, parse_keywords};

/// Arguments of `tag`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo tag \"concise code\" brevity lean
  aizo tag 3 --replace short
  aizo tag \"concise code\" --remove lean")]
pub struct Args {
    /// The item, or its id
    item: String,
    /// Keywords, in several words or comma-separated
    keywords: Vec<String>,
    /// Add them to the ones that are there (the default)
    #[arg(long, conflicts_with_all = ["replace", "remove"])]
    add: bool,
    /// Put them in place of the ones that are there; none clears
    #[arg(long, conflicts_with = "remove")]
    replace: bool,
    /// Remove them
    #[arg(long)]
    remove: bool,
}

impl Args {
    /// The word that names the entry.
    pub(super) fn named(&self) -> &str {
        &self.item
    }

    /// Whether keywords go.
    pub(super) fn takes_away(&self) -> bool {
        self.replace || self.remove
    }
}

/// Runs `tag`.
///
/// # Errors
/// No such entry, no keyword, a keyword that may not enter the store.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Outcome> {
    let given = parse_keywords(
        "keyword",
        &context.without_secrets(&args.keywords.join(",")),
    )?;
    if given.is_empty() && !args.replace {
        return Err(Failure::usage("no keyword is given")
            .hint("aizo tag ITEM KEYWORD…, or --replace alone to clear them")
            .into());
    }
    let words = [args.item.clone()];
    context.require_store(&words)?;
    context.write(|transaction| {
        let entry = resolve::one(&transaction.view(), &words).map_err(|error| {
            // The likeliest mistake with a name of several words.
            match error.downcast_ref::<Failure>() {
                Some(failure) if !args.item.contains(' ') => failure
                    .clone()
                    .hint("an item of several words goes in quotes: aizo tag \"ITEM\" KEYWORD…")
                    .into(),
                _ => error,
            }
        })?;
        let keywords = if args.replace {
            given.clone()
        } else if args.remove {
            let mut left = entry.keywords.clone();
            left.retain(|keyword| !given.contains(&keyword.to_lowercase()));
            left
        } else {
            union(&entry.keywords, &given).unwrap_or_else(|| entry.keywords.clone())
        };
        // A list that is the same is left as it is written, whatever its spaces.
        let values = EntryValues {
            keywords: (keywords != entry.keywords).then(|| join_keywords(&keywords)),
            ..EntryValues::default()
        };
        let change = Change::set_entry(Op::Tag, &entry.uid, Origin::User, &values);
        let applied = transaction.apply(&change)?;
        let mut outcome = Outcome::unchanged("updated", &entry, applied.line);
        outcome.hint = Some(if applied.line.is_none() {
            "it was so already".to_owned()
        } else if keywords.is_empty() {
            "no keywords".to_owned()
        } else {
            format!("keywords: {}", keywords.join(", "))
        });
        Ok(outcome)
    })
}
