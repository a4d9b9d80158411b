//! Lists of entries: the arguments that `recall` and `top` share, and how entries are shown.

use std::io::{self, Write};

use serde::Serialize;

use super::Context;
use crate::model::{Band, Origin, Score, Stamp};
use crate::present::{Align, Answer, Page, Table, Tone, to_json};
use crate::recall::{Hit, Match, Relevance, Request, ScenarioFilter, Selection};
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
    /// How it was found; none in a list that asks for everything.
    #[serde(rename = "match")]
    how: Option<Match>,
    /// How much it concerns the query, 0 to 1.
    relevance: Option<f64>,
    /// The words, tag or keyword that carried it.
    matched: Vec<String>,
    /// What breaks it for certain.
    pattern: Vec<String>,
    #[serde(skip)]
    sum: Option<Relevance>,
}

impl From<Hit> for Entry {
    fn from(hit: Hit) -> Self {
        let preference = hit.preference;
        let sum = hit.found.as_ref().and_then(|found| found.relevance.clone());
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
            how: hit.found.as_ref().map(|found| found.how),
            relevance: sum.as_ref().map(Relevance::rounded),
            pattern: preference.patterns,
            matched: hit.found.map(|found| found.matched).unwrap_or_default(),
            sum,
        }
    }
}

impl Entry {
    /// How the entry came into the list: `related: 0.47 = meaning 0.39 + words 0.08 (table)`.
    fn why(&self) -> String {
        let Some(how) = self.how else {
            return String::new();
        };
        let name = match how {
            Match::Keyword => "keyword",
            Match::Scenario => "scenario",
            Match::Related => "related",
            Match::Limit => "limit",
        };
        let carried = if self.matched.is_empty() {
            String::new()
        } else {
            format!(" ({})", self.matched.join(", "))
        };
        match &self.sum {
            Some(sum) => format!(
                "{name}: {:.2} = meaning {:.2} + words {:.2}{carried}",
                sum.value, sum.meaning, sum.lexical
            ),
            None => format!("{name}{carried}"),
        }
    }

    /// `name: value` pairs for one entry alone, with the way it fades where that is known.
    pub(super) fn pairs(&self, fade: Option<String>) -> Vec<(&'static str, String)> {
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
        pairs.extend(fade.map(|fade| ("fade", fade)));
        if !self.keywords.is_empty() {
            pairs.push(("keywords", self.keywords.join(", ")));
        }
        if !self.scenarios.is_empty() {
            pairs.push(("scenarios", self.scenarios.join(", ")));
        }
        for pattern in &self.pattern {
            pairs.push(("pattern", pattern.clone()));
        }
        pairs.extend([
            (
                "source",
                format!("{} (origin: {})", self.source, self.origin),
            ),
            ("added", short_time(&self.added_at)),
            ("last seen", short_time(&self.last_seen)),
            ("used", times(self.touch_count)),
        ]);
        pairs
    }
}

/// A time to the second, as far as it is one.
fn short_time(text: &str) -> String {
    match Stamp(text.to_owned()).moment() {
        Some(moment) => moment.format("%Y-%m-%d %H:%M:%S UTC").to_string(),
        None => text.to_owned(),
    }
}

/// A list of entries.
#[derive(Debug, Default)]
pub(super) struct Entries {
    list: Vec<Entry>,
    /// Whether the text form says why each entry is there.
    explain: bool,
}

impl Entries {
    /// Says in the text form why each entry is there.
    pub(super) fn explained(mut self, explain: bool) -> Self {
        self.explain = explain;
        self
    }

    /// The numbers of the entries.
    pub(super) fn ids(&self) -> Vec<i64> {
        self.list.iter().map(|entry| entry.id).collect()
    }
}

impl Answer for Entries {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        self.table(page, true)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        to_json(&self.list, out)
    }
}

impl Entries {
    /// A part of a longer list.
    pub(super) fn of(list: Vec<Entry>) -> Self {
        Entries {
            list,
            explain: false,
        }
    }

    /// Writes the entries as a table, with its heading or as the continuation of one.
    pub(super) fn table(&self, page: &mut Page<'_>, with_heading: bool) -> io::Result<()> {
        let mut columns = vec![
            ("ID", Align::Right),
            ("SCORE", Align::Right),
            ("WEIGHT", Align::Right),
            ("BAND", Align::Short),
            ("ITEM", Align::Left),
            ("REASON", Align::Left),
        ];
        if self.explain {
            columns.push(("WHY", Align::Left));
        }
        let mut table = Table::new(&columns);
        for entry in &self.list {
            let mut cells = vec![
                entry.id.to_string(),
                Score::clamped(entry.base_score).to_string(),
                format!("{:.2}", entry.effective_weight),
                entry.band.to_string(),
                entry.item.clone(),
                entry.reason.clone(),
            ];
            if self.explain {
                cells.push(entry.why());
            }
            table.row(&cells);
            table.tone(&[2, 6], Tone::Faint);
            table.tone(&[3], entry.band.into());
            if entry.hard_limit {
                table.tone(&[4], Tone::Limit);
            }
        }
        if with_heading {
            page.table(&table)
        } else {
            page.table_continued(&table)
        }
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
    #[arg(long, value_name = "NAME", value_parser = parse_scenario)]
    pub scenario: Option<String>,
    /// Only base scores of at least this
    #[arg(long, value_name = "0-10", allow_negative_numbers = true)]
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
                    let meant = scenarios.looking_like(name);
                    let meant = meant.map_or_else(String::new, |known| {
                        format!("; did you mean “{known}”?")
                    });
                    context.note(format!(
                        "“{name}” is {source}, so it has no keywords: only entries tagged with it are found{meant}"
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

/// Looking at more entries than this one by one takes long enough to be told.
const MANY_TO_LOOK_AT: usize = 500;

/// Chooses from the whole store and says what the list itself cannot: whether nothing is stored or nothing
/// matched, which hard limits it had no room for, and why it took long.
pub(super) fn list(context: &Context, request: &Request) -> anyhow::Result<Entries> {
    let now = context.settings.now;
    let found = context.read(|view| {
        let selection = view.find(request, now)?;
        let is_narrowed =
            request.with_limits || !request.bands.is_empty() || request.min_score.is_some();
        let limits = if selection.hits.is_empty() && !is_narrowed {
            let limits = Request {
                bands: vec![Band::Taboo],
                ..Request::default()
            };
            view.find(&limits, now)?.hits.len()
        } else {
            0
        };
        Ok((selection, limits))
    })?;
    let Some((selection, limits)) = found else {
        context.note("nothing is stored yet");
        return Ok(Entries::default());
    };
    say_what_is_missing(context, request, &selection);
    if limits > 0 {
        let are = if limits == 1 { "is" } else { "are" };
        let them = if limits == 1 { "it" } else { "them" };
        context.note(format!(
            "{} {are} in force: aizo recall --with-limits shows {them}",
            count(limits, "hard limit", "hard limits"),
        ));
    }
    Ok(Entries {
        list: selection.hits.into_iter().map(Entry::from).collect(),
        explain: false,
    })
}

fn say_what_is_missing(context: &Context, request: &Request, selection: &Selection) {
    if !selection.any_stored {
        context.note("nothing is stored");
    } else if selection.hits.is_empty() {
        context.note("nothing matched");
    }
    if selection.limits_cut > 0 {
        context.note(format!(
            "{} found no place among {}: ask for more, or aizo recall --type taboo",
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
    if selection.not_indexed > MANY_TO_LOOK_AT {
        context.note(format!(
            "the index does not know {} yet, so each was looked at; the next write renews it",
            count(selection.not_indexed, "entry", "entries"),
        ));
    }
}

/// `1 entry`, `3 entries`.
pub(super) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// How often an entry was used.
fn times(touches: i64) -> String {
    count(usize::try_from(touches).unwrap_or(0), "time", "times")
}

/// Reads the name of a kind of task.
pub(super) fn parse_scenario(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("a scenario has a name".to_owned()),
        name => Ok(name.to_owned()),
    }
}

/// Reads the number of rows a list may have.
pub(super) fn parse_limit(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(limit) if limit > 0 => Ok(limit),
        _ => Err(format!("a limit is a whole number above 0, not `{text}`")),
    }
}
