//! `aizo update`: sets fields of an entry outright.

use super::Context;
use super::asker::Asker;
use super::limits::Limits;
use super::outcome::{LIFTED, Outcome, lifts};
use super::resolve;
use crate::check::Typed;
use crate::error::Failure;
use crate::merge;
use crate::model::{
    Change, EntryValues, Evidence, Op, Origin, Preference, Score, check_text, join_keywords,
    join_patterns, parse_keywords, quoted, split_keywords,
};

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
    #[arg(short, long, value_name = "0-10", allow_negative_numbers = true)]
    score: Option<Score>,
    /// New keywords, comma-separated; none clears them
    #[arg(long, value_name = "A,B", num_args = 0..=1, default_missing_value = "")]
    keywords: Option<String>,
    /// New scenarios, comma-separated; none clears them
    #[arg(long, value_name = "A,B", num_args = 0..=1, default_missing_value = "")]
    scenarios: Option<String>,
    /// New patterns: regular expressions, or detectors (@emoji, @em-dash, @force-push, @push, @rm-rf, @secret); may be
    /// repeated, none clears them
    #[arg(long, value_name = "REGEX", num_args = 0..=1, default_missing_value = "")]
    pattern: Option<Vec<String>>,
}

impl Args {
    /// The words that name the entry.
    pub(super) fn named(&self) -> &[String] {
        &self.item
    }
}

/// Runs `update`.
///
/// # Errors
/// No such entry, nothing to set, a name that another entry has, a value that may not enter the store.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Outcome> {
    let fields = Fields {
        item: args.new_item.clone(),
        reason: args.reason.clone(),
        score: args.score,
        keywords: args.keywords.clone(),
        scenarios: args.scenarios.clone(),
        patterns: args.pattern.clone(),
    };
    let values = fields.values(context)?;
    if values == EntryValues::default() {
        return Err(Failure::usage("nothing to set")
            .hint("give one of --new-item, --reason, --score, --keywords, --scenarios, --pattern")
            .into());
    }
    set(&args.item, &values, &Asker::User, context)
}

/// What is to be set, as it was typed; absent fields stay as they are.
#[derive(Debug, Default)]
pub(super) struct Fields {
    pub item: Option<String>,
    pub reason: Option<String>,
    pub score: Option<Score>,
    pub keywords: Option<String>,
    pub scenarios: Option<String>,
    pub patterns: Option<Vec<String>>,
}

impl Fields {
    /// The values for the store.
    ///
    /// # Errors
    /// A value that may not enter it.
    pub(super) fn values(&self, context: &Context) -> anyhow::Result<EntryValues> {
        let clean = |text: &str| context.without_secrets(text);
        let typed = match &self.patterns {
            Some(patterns) => Some(Typed::read(patterns.iter().map(String::as_str))?),
            None => None,
        };
        if let Some(typed) = &typed {
            super::advice::say_bare(context, typed);
        }
        Ok(EntryValues {
            item: self
                .item
                .as_deref()
                .map(|text| check_text("item", &clean(text)))
                .transpose()?,
            reason: self
                .reason
                .as_deref()
                .map(|text| check_text("reason", &clean(text)))
                .transpose()?,
            base_score: self.score.map(Score::value),
            keywords: match &self.keywords {
                Some(words) => Some(join_keywords(&parse_keywords("keyword", &clean(words))?)),
                None => None,
            },
            scenarios: match &self.scenarios {
                Some(words) => {
                    let mut names = parse_keywords("scenario", &clean(words))?;
                    names.sort();
                    Some(names)
                }
                None => None,
            },
            pattern: typed.map(|typed| join_patterns(&typed.patterns)),
            ..EntryValues::default()
        })
    }
}

/// Sets values of the entry that the words name.
///
/// # Errors
/// No such entry, a name that another entry has; a hard limit that an agent would make or weaken without the user's words.
pub(super) fn set(
    words: &[String],
    values: &EntryValues,
    asker: &Asker,
    context: &Context,
) -> anyhow::Result<Outcome> {
    asker.require_harmless(values)?;
    context.require_store(words)?;
    context.write(|transaction| {
        let entry = resolve::one(&transaction.view(), words)?;
        let before = entry.base_score.value();
        let after = values.base_score.unwrap_or(before);
        if entry.is_hard_limit() && weakens(&entry, values) {
            asker.require_words(&format!("changing the hard limit “{}”", entry.item))?;
        }
        let score = Score::clamped(after);
        if !entry.is_hard_limit() && score.is_hard_limit() {
            asker.require_words(&format!("making “{}” a hard limit", entry.item))?;
        }
        if let Some(item) = new_in_favor(&entry, values)
            && asker.is_without_words()
            && let Some(limit) = Limits::of(&transaction.view())?.against(item, "")
        {
            asker.require_words(&format!(
                "liking what the hard limit “{}” forbids",
                limit.item
            ))?;
        }
        let mut change = Change::set_entry(Op::Update, &entry.uid, asker.origin(), values);
        let uid = transaction.new_uid();
        if let Some(words) = asker.evidence(&entry, values.base_score, uid, transaction.now()) {
            // A call that is repeated says nothing new.
            let is_known =
                |known: &Evidence| (&known.quote, known.score) == (&words.quote, words.score);
            if !transaction.view().evidence(entry.id)?.iter().any(is_known) {
                change = change.with_evidence(words);
            }
        }
        let applied = transaction.apply(&change)?;
        let hint = if applied.line.is_none() {
            Some("it was so already".to_owned())
        } else if let (true, Some(change)) = (
            lifts(Some(before), Some(after)),
            transaction.change_number(),
        ) {
            Some(format!("{LIFTED}; to put it back: aizo undo {change}"))
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
            score_before: Some(before),
            score_after: Some(after),
            change: applied.line,
            hint,
        })
    })
}

/// Whether a hard limit would forbid less afterwards, be found less, or say something else. What makes it stricter does not
/// count: a lower score, and further keywords and scenarios. Patterns do: what an agent adds to the user's limit would refuse on its own.
fn weakens(limit: &Preference, values: &EntryValues) -> bool {
    let differs = |value: &Option<String>, stored: &str| {
        value.as_deref().is_some_and(|value| value != stored)
    };
    let forgets_a_keyword = values.keywords.as_deref().is_some_and(|column| {
        let kept = split_keywords(column);
        !limit.keywords.iter().all(|keyword| kept.contains(keyword))
    });
    let forgets_a_scenario = values.scenarios.as_ref().is_some_and(|names| {
        !limit
            .scenarios
            .iter()
            .all(|scenario| names.contains(scenario))
    });
    let patterns = join_patterns(&limit.patterns);
    differs(&values.item, &limit.item)
        || differs(&values.reason, &limit.reason)
        || values
            .base_score
            .is_some_and(|score| score > limit.base_score.value())
        || values
            .pattern
            .as_ref()
            .is_some_and(|column| *column != patterns)
        || forgets_a_keyword
        || forgets_a_scenario
}

/// The item that is said to be liked only by these values.
fn new_in_favor<'v>(entry: &'v Preference, values: &'v EntryValues) -> Option<&'v str> {
    let before = entry.base_score;
    let after = values.base_score.map_or(before, Score::clamped);
    let is_new = values.item.is_some() || !merge::is_in_favor(before);
    (is_new && merge::is_in_favor(after)).then(|| values.item.as_deref().unwrap_or(&entry.item))
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
