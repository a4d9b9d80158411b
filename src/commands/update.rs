//! `aizo update`: sets fields of an entry outright.

use super::Context;
use super::outcome::Outcome;
use super::resolve;
use crate::check::Typed;
use crate::error::Failure;
use crate::model::{
    Change, EntryValues, Op, Origin, Preference, Score, check_text, join_keywords, join_patterns,
    parse_keywords,
};
use crate::storage::quoted;

/// Arguments of `update`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo update \"concise code\" --score 8
  aizo update concise code --new-item \"short code\" --keywords brevity,lean
  aizo update 3 --scenarios \"\"
  aizo update \"force-push to main\" --pattern @force-push

Sets just what is given, without smoothing; an empty list clears. This is how a hard limit is lifted.")]
pub struct Args {
    /// The item, in one or several words, or its id
    #[arg(required = true)]
    item: Vec<String>,
    /// A new name for it
    #[arg(long, value_name = "ITEM")]
    new_item: Option<String>,
    /// A new reason
    #[arg(long)]
    reason: Option<String>,
    /// A new score, from 0 (never) to 10 (always)
    #[arg(short, long, value_name = "N", allow_negative_numbers = true)]
    score: Option<Score>,
    /// New keywords, comma-separated; none clears them
    #[arg(long, value_name = "A,B", num_args = 0..=1, default_missing_value = "")]
    keywords: Option<String>,
    /// New scenarios, comma-separated; none clears them
    #[arg(long, value_name = "A,B", num_args = 0..=1, default_missing_value = "")]
    scenarios: Option<String>,
    /// New patterns: regular expressions, or detectors (@emoji, @em-dash, @force-push, @rm-rf, @secret); may be
    /// repeated, none clears them
    #[arg(long, value_name = "REGEX", num_args = 0..=1, default_missing_value = "")]
    pattern: Option<Vec<String>>,
}

/// Runs `update`.
///
/// # Errors
/// No such entry, nothing to set, a name that another entry has, a value that may not enter the store.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Outcome> {
    let clean = |text: &str| context.without_secrets(text);
    let typed = match &args.pattern {
        Some(patterns) => Some(Typed::read(patterns.iter().map(String::as_str))?),
        None => None,
    };
    if let Some(typed) = &typed {
        super::advice::say_bare(context, typed);
    }
    let values = EntryValues {
        item: args
            .new_item
            .as_deref()
            .map(|text| check_text("item", &clean(text)))
            .transpose()?,
        reason: args
            .reason
            .as_deref()
            .map(|text| check_text("reason", &clean(text)))
            .transpose()?,
        base_score: args.score.map(Score::value),
        keywords: match &args.keywords {
            Some(words) => Some(join_keywords(&parse_keywords("keyword", &clean(words))?)),
            None => None,
        },
        scenarios: match &args.scenarios {
            Some(words) => {
                let mut names = parse_keywords("scenario", &clean(words))?;
                names.sort();
                Some(names)
            }
            None => None,
        },
        pattern: typed.map(|typed| join_patterns(&typed.patterns)),
        ..EntryValues::default()
    };
    if values == EntryValues::default() {
        return Err(Failure::usage("nothing to set")
            .hint("give one of --new-item, --reason, --score, --keywords, --scenarios, --pattern")
            .into());
    }
    context.require_store(&args.item)?;
    context.write(|transaction| {
        let entry = resolve::one(&transaction.view(), &args.item)?;
        let change = Change::set_entry(Op::Update, &entry.uid, Origin::User, &values);
        let applied = transaction.apply(&change)?;
        let score = args.score.unwrap_or(entry.base_score);
        let hint = if applied.line.is_none() {
            Some("it was so already".to_owned())
        } else if matches!(values.pattern, Some(Some(_))) {
            without_effect(&entry, score)
        } else {
            None
        };
        Ok(Outcome {
            item: values.item.clone().unwrap_or(entry.item),
            id: Some(entry.id),
            proposal: None,
            result: "updated",
            score_before: Some(entry.base_score.value()),
            score_after: Some(score.value()),
            change: applied.line,
            hint,
        })
    })
}

/// Why a pattern of an entry denies nothing, where that is so.
fn without_effect(entry: &Preference, score: Score) -> Option<String> {
    if !score.is_hard_limit() {
        return Some(
            "its pattern counts while it is a hard limit (score 0 to 1.5); for dislikes: aizo check --all"
                .to_owned(),
        );
    }
    (entry.origin != Origin::User).then(|| {
        format!(
            "its pattern only asks, since the user did not state it (origin: {}); to state it: aizo add {} REASON",
            entry.origin,
            quoted(&entry.item)
        )
    })
}
