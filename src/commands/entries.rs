//! Lists of entries: the arguments that `recall` and `top` share, and how entries are shown.

use std::io::{self, Write};

use serde::Serialize;

use super::Context;
use crate::model::{Band, Origin, Score};
use crate::present::{Align, Answer, Page, Table, to_json};
use crate::recall::{Hit, Request, ScenarioFilter, Selection, select};
use crate::scenarios::Source;

/// An entry in JSON: the documented fields, in their documented order, and what was added since.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Entry {
    id: i64,
    item: String,
    reason: String,
    keywords: Vec<String>,
    scenarios: Vec<String>,
    base_score: f64,
    source: String,
    added_at: String,
    last_seen: String,
    touch_count: i64,
    score_exponent: f64,
    decay_coefficient: f64,
    effective_weight: f64,
    band: Band,
    hard_limit: bool,
    origin: Origin,
}

impl From<Hit> for Entry {
    fn from(hit: Hit) -> Self {
        let preference = hit.preference;
        Entry {
            id: preference.id,
            band: preference.band(),
            hard_limit: preference.is_hard_limit(),
            item: preference.item,
            reason: preference.reason,
            keywords: preference.keywords,
            scenarios: preference.scenarios,
            base_score: preference.base_score.value(),
            source: preference.source,
            added_at: preference.added_at.0,
            last_seen: preference.last_seen.0,
            touch_count: preference.touch_count,
            score_exponent: hit.weight.exponent,
            decay_coefficient: hit.weight.coefficient,
            effective_weight: hit.weight.effective,
            origin: preference.origin,
        }
    }
}

impl Entry {
    /// `name: value` pairs for one entry alone.
    pub(super) fn pairs(&self) -> Vec<(&'static str, String)> {
        let mut pairs = vec![
            ("id", self.id.to_string()),
            ("item", self.item.clone()),
            ("reason", self.reason.clone()),
            (
                "score",
                format!("{} ({})", Score::clamped(self.base_score), self.band),
            ),
            (
                "weight",
                format!(
                    "{:.2} = {} × {:.3}^{:.2}",
                    self.effective_weight,
                    Score::clamped(self.base_score),
                    self.decay_coefficient,
                    self.score_exponent
                ),
            ),
        ];
        if !self.keywords.is_empty() {
            pairs.push(("keywords", self.keywords.join(", ")));
        }
        if !self.scenarios.is_empty() {
            pairs.push(("scenarios", self.scenarios.join(", ")));
        }
        pairs.extend([
            (
                "source",
                format!("{} (origin: {})", self.source, self.origin),
            ),
            ("added", self.added_at.clone()),
            ("last seen", self.last_seen.clone()),
            ("used", format!("{} times", self.touch_count)),
        ]);
        pairs
    }
}

/// A list of entries.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(super) struct Entries(pub Vec<Entry>);

impl Entries {
    /// The numbers of the entries.
    pub(super) fn ids(&self) -> Vec<i64> {
        self.0.iter().map(|entry| entry.id).collect()
    }
}

impl Answer for Entries {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let mut table = Table::new(&[
            ("ID", Align::Right),
            ("SCORE", Align::Right),
            ("WEIGHT", Align::Right),
            ("BAND", Align::Short),
            ("ITEM", Align::Left),
            ("REASON", Align::Left),
        ]);
        for entry in &self.0 {
            table.row(&[
                entry.id.to_string(),
                Score::clamped(entry.base_score).to_string(),
                format!("{:.2}", entry.effective_weight),
                entry.band.to_string(),
                entry.item.clone(),
                entry.reason.clone(),
            ]);
        }
        page.table(&table)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        to_json(self, out)
    }
}

/// What narrows a list.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Filter {
    /// Only these types: taboo, aversion, habit, style, preference (comma-separated or repeated)
    #[arg(
        short = 't',
        long = "type",
        visible_alias = "score-band",
        value_name = "TYPE",
        value_delimiter = ','
    )]
    pub bands: Vec<Band>,
    /// Only what belongs to this kind of task: tagged with it, or holding one of its keywords
    #[arg(long, value_name = "NAME")]
    pub scenario: Option<String>,
    /// Only base scores of at least this
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub min_score: Option<Score>,
}

impl Filter {
    /// The request that the filter makes, without words and limit.
    pub(super) fn request(&self, context: &Context) -> Request {
        let scenario = self.scenario.as_ref().map(|name| {
            let scenarios = context.scenarios();
            let names = scenarios.names_of(name);
            match scenarios.find(name) {
                Some(known) => ScenarioFilter::new(&names, &known.keywords),
                None => {
                    let source = match &scenarios.source {
                        Source::BuiltIn => "no built-in scenario".to_owned(),
                        Source::File(path) => format!("no scenario in {}", path.display()),
                    };
                    context.note(format!(
                        "“{name}” is {source}, so it has no keywords: only entries tagged with it are found"
                    ));
                    ScenarioFilter::new(&names, &[])
                }
            }
        });
        Request {
            bands: self.bands.clone(),
            min_score: self.min_score,
            scenario,
            ..Request::default()
        }
    }
}

/// Chooses from the whole store and says what the list itself cannot: whether nothing is stored or nothing
/// matched, and which hard limits it had no room for.
pub(super) fn list(context: &Context, request: &Request) -> anyhow::Result<Entries> {
    let now = context.settings.now;
    let selection = context.read(|view| {
        let decay = view.decay()?;
        Ok(select(view.preferences()?, request, &decay, now))
    })?;
    let Some(selection) = selection else {
        context.note("nothing is stored yet");
        return Ok(Entries(Vec::new()));
    };
    say_what_is_missing(context, request, &selection);
    Ok(Entries(
        selection.hits.into_iter().map(Entry::from).collect(),
    ))
}

fn say_what_is_missing(context: &Context, request: &Request, selection: &Selection) {
    if selection.stored == 0 {
        context.note("nothing is stored");
    } else if selection.matched == 0 {
        context.note(format!(
            "nothing matched ({} stored)",
            count(selection.stored, "entry", "entries")
        ));
    }
    if selection.limits_cut > 0 {
        context.note(format!(
            "{} found no place within the limit of {}: raise --limit, or aizo recall --type taboo",
            count(selection.limits_cut, "hard limit", "hard limits"),
            request.limit.unwrap_or(0),
        ));
    }
    if selection.limits_hidden > 0 {
        context.note(format!(
            "--min-score hides {}: aizo recall --type taboo lists them",
            count(selection.limits_hidden, "hard limit", "hard limits"),
        ));
    }
}

/// `1 entry`, `3 entries`.
pub(super) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Reads the number of rows a list may have.
pub(super) fn parse_limit(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(limit) if limit > 0 => Ok(limit),
        _ => Err(format!("a limit is a whole number above 0, not `{text}`")),
    }
}
