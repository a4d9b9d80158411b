//! `aizo add`: stores an observation, or many from standard input.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read};

use serde::Deserialize;
use serde_json::Value;

use super::Context;
use super::advice::{advise, advise_on_patterns};
use super::asker::{Asker, SOURCE};
use super::entries::count;
use super::limits::Limits;
use super::outcome::{Outcome, Outcomes};
use super::record::{prepare, record};
use crate::check::Typed;
use crate::error::Failure;
use crate::merge::Observation;
use crate::model::{Origin, Score, parse_keywords};
use crate::present::Answer;

/// A longer line is no entry: the texts of one have at most some ten thousand bytes.
const LONGEST_LINE: u64 = 1 << 20;

/// Arguments of `add`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo add \"concise code\" \"asked twice for a shorter version\" --keywords brevity,lean
  aizo add \"force-push to main\" \"never do that\" --score 0.5 --pattern @force-push
  aizo add \"console.log in commits\" \"asked twice\" --score 1 --pattern 'console\\.log'
  aizo add --stdin < many.jsonl

A score of 0 to 1.5 makes a hard limit. One JSON object a line for --stdin:
  {\"item\": \"tabs\", \"reason\": \"uses tabs\", \"score\": 5, \"keywords\": [\"indent\"]}")]
pub struct Args {
    /// The thing liked or disliked, in a few words
    #[arg(required_unless_present = "stdin", conflicts_with = "stdin")]
    item: Option<String>,
    /// Why it matters, in a sentence
    #[arg(required_unless_present = "stdin", conflicts_with = "stdin")]
    reason: Option<String>,
    /// From 0 (never) to 10 (always); a new entry without one gets 9.0
    #[arg(short, long, value_name = "0-10", allow_negative_numbers = true)]
    score: Option<Score>,
    /// Further words it is found by, comma-separated
    #[arg(
        long,
        value_name = "A,B",
        default_value = "",
        hide_default_value = true
    )]
    keywords: String,
    /// Kinds of task it belongs to, comma-separated
    #[arg(
        long,
        value_name = "A,B",
        default_value = "",
        hide_default_value = true
    )]
    scenarios: String,
    /// What breaks it for certain: a regular expression, or a detector (@emoji, @em-dash, @force-push, @push, @rm-rf, @secret);
    /// may be repeated, see `aizo check`
    #[arg(long, value_name = "REGEX")]
    pattern: Vec<String>,
    /// A label of where it came from; `analysis` and `import` say that the user did not state it
    #[arg(long, value_name = "LABEL", default_value = "manual")]
    source: String,
    /// Read one JSON object a line from standard input; all are stored, or none
    #[arg(long, conflicts_with_all = ["score", "keywords", "scenarios", "pattern"])]
    stdin: bool,
}

impl Args {
    /// Whether entries come on standard input.
    pub(super) fn reads_standard_input(&self) -> bool {
        self.stdin
    }
}

/// Runs `add`.
///
/// # Errors
/// What may not enter the store; with `--stdin`, the first line that may not.
pub fn run(args: Args, context: &Context) -> anyhow::Result<Box<dyn Answer>> {
    if args.stdin {
        let observations = read_lines(io::stdin().lock(), &args.source, context)?;
        if observations.is_empty() {
            context.note("there is no entry on standard input");
            return Ok(Box::new(Outcomes(Vec::new())));
        }
        let all: Vec<&Observation> = observations.iter().map(|(_, seen)| seen).collect();
        advise(context, &all);
        advise_on_patterns(context, &all);
        let outcomes = context.write(|transaction| {
            let mut limits = Limits::of(&transaction.view())?;
            observations
                .iter()
                .map(|(line, seen)| {
                    record(transaction, &mut limits, seen)
                        .map_err(|error| error.context(format!("line {line}")))
                })
                .collect::<anyhow::Result<Vec<Outcome>>>()
        })?;
        return Ok(Box::new(Outcomes(outcomes)));
    }
    let said = Said {
        item: args.item.unwrap_or_default(),
        reason: args.reason.unwrap_or_default(),
        keywords: args.keywords,
        scenarios: args.scenarios,
        patterns: args.pattern,
        score: args.score,
    };
    let is_word = |text: &str| text.chars().count() > 2 && text.chars().all(char::is_alphanumeric);
    if is_word(&said.item) && is_word(&said.reason) {
        context.note(format!(
            "“{reason}” is the reason; for one item of both words: aizo add \"{item} {reason}\" REASON",
            item = said.item,
            reason = said.reason,
        ));
    }
    Ok(Box::new(store(
        said.by_user(&args.source, context)?,
        context,
    )?))
}

/// Something to be stored, as it was typed.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub item: String,
    pub reason: String,
    pub keywords: String,
    pub scenarios: String,
    pub patterns: Vec<String>,
    pub score: Option<Score>,
}

impl Said {
    /// The observation of a user, or of whom the label names.
    fn by_user(self, source: &str, context: &Context) -> anyhow::Result<Observation> {
        let origin = origin_of(source);
        self.observation(origin, context.without_secrets(source), None, context)
    }

    /// The observation that an agent makes.
    ///
    /// # Errors
    /// A text that may not enter the store, a pattern that cannot be used.
    pub(super) fn by_agent(self, agent: &Asker, context: &Context) -> anyhow::Result<Observation> {
        let quote = agent.quote().map(str::to_owned);
        self.observation(agent.origin(), SOURCE.to_owned(), quote, context)
    }

    fn observation(
        self,
        origin: Origin,
        source: String,
        quote: Option<String>,
        context: &Context,
    ) -> anyhow::Result<Observation> {
        let clean = |text: &str| context.without_secrets(text);
        let typed = Typed::read(self.patterns.iter().map(String::as_str))?;
        super::advice::say_bare(context, &typed);
        Ok(prepare(Observation {
            item: clean(&self.item),
            reason: clean(&self.reason),
            keywords: parse_keywords("keyword", &clean(&self.keywords))?,
            scenarios: parse_keywords("scenario", &clean(&self.scenarios))?,
            patterns: typed.patterns,
            score: self.score,
            origin,
            source,
            quote,
            evidence: None,
        })?)
    }
}

/// Stores one observation.
///
/// # Errors
/// What may not enter the store.
pub(super) fn store(seen: Observation, context: &Context) -> anyhow::Result<Outcome> {
    advise(context, &[&seen]);
    let (outcome, has_pattern) = context.write(|transaction| {
        let mut limits = Limits::of(&transaction.view())?;
        let outcome = record(transaction, &mut limits, &seen)?;
        let stored = outcome.id.map(|id| transaction.view().entry(id));
        let stored = stored.transpose()?.flatten();
        Ok((
            outcome,
            stored.is_some_and(|entry| !entry.patterns.is_empty()),
        ))
    })?;
    if !has_pattern || !seen.patterns.is_empty() {
        advise_on_patterns(context, &[&seen]);
    }
    Ok(outcome)
}

/// The command line speaks for the user, unless the caller itself says that something was inferred or
/// read from elsewhere.
fn origin_of(source: &str) -> Origin {
    match source.trim().to_lowercase().as_str() {
        "analysis" => Origin::Analysis,
        "import" => Origin::Import,
        _ => Origin::User,
    }
}

/// One line of `--stdin`.
#[derive(Debug, Deserialize)]
struct Line {
    item: String,
    #[serde(default)]
    reason: Option<String>,
    #[serde(alias = "base_score")]
    score: Option<f64>,
    #[serde(default)]
    keywords: Option<Words>,
    #[serde(default)]
    scenarios: Option<Words>,
    #[serde(default)]
    pattern: Option<Words>,
    source: Option<String>,
    /// What else is on the line.
    #[serde(flatten)]
    unknown: serde_json::Map<String, Value>,
}

/// Keywords as a list, or as one comma-separated text.
#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "keywords, scenarios and pattern are a list of texts, or one text"
)]
enum Words {
    List(Vec<String>),
    Text(String),
}

fn text_of(words: Option<&Words>) -> String {
    match words {
        None => String::new(),
        Some(Words::List(words)) => words.join(","),
        Some(Words::Text(text)) => text.clone(),
    }
}

fn read_lines(
    mut input: impl BufRead,
    source: &str,
    context: &Context,
) -> anyhow::Result<Vec<(usize, Observation)>> {
    let mut found = Vec::new();
    let mut unknown: BTreeMap<String, usize> = BTreeMap::new();
    for number in 1.. {
        let mut bytes = Vec::new();
        input
            .by_ref()
            .take(LONGEST_LINE + 1)
            .read_until(b'\n', &mut bytes)?;
        if bytes.is_empty() {
            break;
        }
        let at = |error: anyhow::Error| error.context(format!("line {number}"));
        if bytes.len() as u64 > LONGEST_LINE {
            return Err(at(Failure::usage("longer than a mebibyte").into()));
        }
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        let line: Line =
            serde_json::from_slice(bytes).map_err(|error| at(not_an_entry(&error).into()))?;
        for name in line.unknown.keys() {
            *unknown.entry(name.clone()).or_default() += 1;
        }
        found.push((number, observation(line, source, context).map_err(at)?));
    }
    for (name, lines) in unknown {
        context.note(format!(
            "the field `{name}` is not known and was ignored ({})",
            count(lines, "line", "lines")
        ));
    }
    Ok(found)
}

/// Every line is a text of its own, so only the column says where.
fn not_an_entry(error: &serde_json::Error) -> Failure {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    Failure::usage(format!("not an entry: {text} (column {})", error.column()))
}

fn observation(line: Line, source: &str, context: &Context) -> anyhow::Result<Observation> {
    let source = line.source.as_deref().unwrap_or(source);
    let said = Said {
        item: line.item,
        reason: line.reason.unwrap_or_default(),
        keywords: text_of(line.keywords.as_ref()),
        scenarios: text_of(line.scenarios.as_ref()),
        // A comma is part of many patterns, so that a text is one of them.
        patterns: match line.pattern {
            None => Vec::new(),
            Some(Words::List(list)) => list,
            Some(Words::Text(text)) => vec![text],
        },
        score: line.score.map(Score::new).transpose()?,
    };
    said.by_user(source, context)
}
