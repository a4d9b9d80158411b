//! Which limits a plan, a command, a patch or a draft breaks. Pure: it is given the limits and the text.
//!
//! Three ways, and each answer names its own: a pattern that is attached to the entry (a regular expression or a
//! detector) is certain; the entry's words in the text are a reason to ask; and what is merely near in meaning, which
//! storage finds as recall does, may concern it. Only what the user stated and a pattern proves is a violation.
//!
//! Expressions are compiled when a check needs them and match in linear time; nothing is built at the start.

mod called;
mod dash;
mod detector;
mod emoji;
mod expand;
mod git;
mod invocation;
mod matter;
mod pattern;
mod reading;
mod remove;
mod shell;
mod words;

use std::collections::HashSet;
use std::ops::Range;
use std::time::{Duration, Instant};

pub use called::{Called, calls_of};
pub use detector::Detector;
pub use matter::{Input, Kind};
pub use pattern::{MOST_PATTERNS, Pattern, PatternError, Typed};
pub use words::are_all_of;

use detector::{Bounds, Seen};
use matter::Matter;
use words::Texts;

use crate::model::{Origin, Preference};
use crate::redact::redact;

/// How sure it is that an entry is broken. The names are the `certainty` of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// A pattern of what the user stated matches: it is broken.
    Pattern,
    /// The entry's words stand in the text, or a pattern matches that proves nothing here: ask.
    Words,
    /// It is near in meaning.
    MayConcern,
}

/// Where something stands in the text that was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// In bytes of UTF-8.
    pub range: Range<usize>,
    /// The line, counted from 1.
    pub line: usize,
    /// The character in the line, counted from 1.
    pub column: usize,
}

/// An entry that a text breaks or may break.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding<'l> {
    /// The entry.
    pub entry: &'l Preference,
    /// How sure that is.
    pub certainty: Certainty,
    /// The pattern that matched, as it is stored.
    pub pattern: Option<String>,
    /// The detector that it names.
    pub detector: Option<Detector>,
    /// Where.
    pub place: Option<Place>,
    /// What stands there; shortened, and without secrets.
    pub found: Option<String>,
    /// The words of the entry that stand in the text.
    pub words: Vec<String>,
    /// How much it concerns the text, where it is near in meaning.
    pub relevance: Option<f64>,
}

impl<'l> Finding<'l> {
    /// An entry that asks because of these words.
    fn of_words(entry: &'l Preference, words: Vec<String>) -> Self {
        Finding {
            entry,
            certainty: Certainty::Words,
            pattern: None,
            detector: None,
            place: None,
            found: None,
            words,
            relevance: None,
        }
    }
}

/// A pattern that another program wrote and that cannot be used, or that takes too long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable<'l> {
    /// The pattern.
    pub pattern: &'l str,
    /// The number of its entry.
    pub id: i64,
    /// The item of its entry.
    pub item: &'l str,
    /// Whether it is only too slow for this text.
    pub is_slow: bool,
    /// What is wrong with it.
    pub error: PatternError,
}

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Findings<'l> {
    /// The surest first; of equally sure ones the lowest score.
    pub findings: Vec<Finding<'l>>,
    /// Patterns that could not be used.
    pub unusable: Vec<Unusable<'l>>,
    /// How many entries were looked at.
    pub checked: usize,
}

impl<'l> Findings<'l> {
    /// The surest first; of equally sure ones the lowest score.
    fn sort(&mut self) {
        self.findings.sort_by(|a, b| {
            let score = |finding: &Finding<'_>| finding.entry.base_score.value();
            a.certainty
                .cmp(&b.certainty)
                .then_with(|| score(a).total_cmp(&score(b)))
                .then_with(|| a.entry.id.cmp(&b.entry.id))
        });
    }

    /// Whether something is broken for certain.
    pub fn is_violated(&self) -> bool {
        self.findings
            .iter()
            .any(|finding| finding.certainty == Certainty::Pattern)
    }

    /// Adds an entry that is near in meaning, unless it was found already.
    pub fn add_related(&mut self, entry: &'l Preference, relevance: f64, words: &[String]) {
        if self
            .findings
            .iter()
            .all(|finding| finding.entry.id != entry.id)
        {
            self.findings.push(Finding {
                certainty: Certainty::MayConcern,
                relevance: Some(relevance),
                ..Finding::of_words(entry, words.to_vec())
            });
        }
    }
}

/// How long the expressions of one check may take together.
const PATIENCE: Duration = Duration::from_secs(3);
/// The most steps of one expression, of which a machine does some hundred millions a second.
const MOST_WORK: u64 = 2_000_000_000;

/// Checks a text against entries: hard limits, and whatever else is to be kept to. The detectors come first; an expression
/// for which no time is left is told, and its entry asks.
pub fn check<'l>(
    entries: impl IntoIterator<Item = &'l Preference>,
    input: &Input<'_>,
) -> Findings<'l> {
    let matter = Matter::new(input);
    let texts = Texts::new(&matter.text);
    let mut all = Findings::default();
    let mut found = HashSet::new();
    let mut expressions = Vec::new();
    let entries: Vec<(&Preference, Bounds)> = entries
        .into_iter()
        .map(|entry| (entry, Bounds::of(&entry.item)))
        .collect();
    all.checked = entries.len();
    for (entry, bounds) in &entries {
        for text in &entry.patterns {
            match Pattern::parse(text) {
                Ok(pattern) if pattern.detector().is_some() => {
                    if let Some(seen) = pattern.find(&matter, bounds) {
                        found.insert(entry.id);
                        let finding = finding(entry, text, &pattern, seen, &matter, input);
                        all.findings.push(finding);
                    }
                }
                Ok(pattern) => expressions.push((*entry, bounds, text, pattern)),
                Err(error) => all.unusable.push(Unusable {
                    pattern: text,
                    id: entry.id,
                    item: &entry.item,
                    is_slow: false,
                    error,
                }),
            }
        }
    }
    let begun = Instant::now();
    for (entry, bounds, text, pattern) in expressions {
        let is_slow = pattern
            .work(&matter)
            .is_some_and(|work| work > MOST_WORK || work > 0 && begun.elapsed() > PATIENCE);
        if is_slow {
            found.insert(entry.id);
            all.unusable.push(Unusable {
                pattern: text,
                id: entry.id,
                item: &entry.item,
                is_slow,
                error: PatternError::slow(text, matter.text.len()),
            });
            all.findings.push(Finding {
                pattern: Some(text.clone()),
                ..Finding::of_words(entry, Vec::new())
            });
        } else if let Some(seen) = pattern.find(&matter, bounds) {
            found.insert(entry.id);
            let finding = finding(entry, text, &pattern, seen, &matter, input);
            all.findings.push(finding);
        }
    }
    for (entry, _) in &entries {
        if found.contains(&entry.id) {
            continue;
        }
        if let Some(words) = texts.words_of(entry) {
            // What only looks at things does nothing that a word could speak of.
            if matter.only_reads() {
                break;
            }
            let range = words
                .first()
                .and_then(|word| words::place_of(word, &matter.text));
            all.findings.push(Finding {
                found: range.clone().map(|range| shown(&matter.text[range])),
                place: range.map(|range| place(input.text, matter.place(&range))),
                ..Finding::of_words(entry, words.into_iter().map(|word| word.typed).collect())
            });
        }
    }
    all.sort();
    all
}

/// What a pattern has found.
fn finding<'l>(
    entry: &'l Preference,
    text: &str,
    pattern: &Pattern,
    seen: Seen,
    matter: &Matter<'_>,
    input: &Input<'_>,
) -> Finding<'l> {
    let denies = seen.is_sure && entry.origin == Origin::User;
    let is_in_text = seen.path.is_none();
    Finding {
        certainty: if denies {
            Certainty::Pattern
        } else {
            Certainty::Words
        },
        pattern: Some(text.to_owned()),
        detector: pattern.detector(),
        found: Some(match (seen.shown, &seen.path) {
            (Some(mark), _) => mark.to_owned(),
            (None, Some(path)) => shown(path),
            (None, None) => shown(&matter.text[seen.range.clone()]),
        }),
        place: is_in_text.then(|| place(input.text, matter.place(&seen.range))),
        ..Finding::of_words(entry, Vec::new())
    }
}

/// A match as it is shown.
fn shown(text: &str) -> String {
    const LONGEST: usize = 120;
    let clean = redact(text).text;
    let mut characters = clean.chars();
    let start: String = characters.by_ref().take(LONGEST).collect();
    if characters.next().is_some() {
        start + "…"
    } else {
        start
    }
}

fn place(text: &str, range: Range<usize>) -> Place {
    let before = &text[..range.start];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    Place {
        line: before.bytes().filter(|&byte| byte == b'\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        range,
    }
}

#[cfg(test)]
mod tests;
