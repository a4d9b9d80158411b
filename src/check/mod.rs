//! Which limits a plan, a command, a patch or a draft breaks. Pure: it is given the limits and the text.
//!
//! Three ways, and each answer names its own: a pattern that is attached to the entry (a regular expression or a
//! detector) is certain; the entry's words in the text are a reason to ask; and what is merely near in meaning, which
//! storage finds as recall does, may concern it. Only what the user stated and a pattern proves is a violation.
//!
//! Expressions are compiled when a check needs them and match in linear time; nothing is built at the start.

mod dash;
mod detector;
mod emoji;
mod git;
mod invocation;
mod matter;
mod pattern;
mod remove;
mod shell;
mod words;

use std::ops::Range;

pub use detector::Detector;
pub use matter::{Input, Kind};
pub use pattern::{MOST_PATTERNS, Pattern, PatternError, Typed};

use detector::Bounds;
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

/// A pattern that another program wrote and that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable<'l> {
    /// The pattern.
    pub pattern: &'l str,
    /// The number of its entry.
    pub id: i64,
    /// The item of its entry.
    pub item: &'l str,
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
                entry,
                certainty: Certainty::MayConcern,
                pattern: None,
                detector: None,
                place: None,
                found: None,
                words: words.to_vec(),
                relevance: Some(relevance),
            });
        }
    }
}

/// Checks a text against entries: hard limits, and whatever else is to be kept to.
pub fn check<'l>(
    entries: impl IntoIterator<Item = &'l Preference>,
    input: &Input<'_>,
) -> Findings<'l> {
    let matter = Matter::new(input);
    let texts = Texts::new(&matter.text);
    let mut all = Findings::default();
    for entry in entries {
        all.checked += 1;
        let before = all.findings.len();
        let bounds = Bounds::of(&entry.item);
        for text in entry.patterns.iter().take(MOST_PATTERNS) {
            let pattern = match Pattern::parse(text) {
                Ok(pattern) => pattern,
                Err(error) => {
                    all.unusable.push(Unusable {
                        pattern: text,
                        id: entry.id,
                        item: &entry.item,
                        error,
                    });
                    continue;
                }
            };
            let Some(seen) = pattern.find(&matter, &bounds) else {
                continue;
            };
            let denies = seen.is_sure && entry.origin == Origin::User;
            all.findings.push(Finding {
                entry,
                certainty: if denies {
                    Certainty::Pattern
                } else {
                    Certainty::Words
                },
                pattern: Some(text.clone()),
                detector: pattern.detector(),
                found: Some(match seen.shown {
                    Some(mark) => mark.to_owned(),
                    None => shown(&matter.text[seen.range.clone()]),
                }),
                place: Some(place(input.text, matter.place(&seen.range))),
                words: Vec::new(),
                relevance: None,
            });
        }
        if all.findings.len() > before {
            continue;
        }
        if let Some(words) = texts.words_of(entry) {
            let range = words
                .first()
                .and_then(|word| words::place_of(word, &matter.text));
            all.findings.push(Finding {
                entry,
                certainty: Certainty::Words,
                pattern: None,
                detector: None,
                found: range.clone().map(|range| shown(&matter.text[range])),
                place: range.map(|range| place(input.text, matter.place(&range))),
                words: words.into_iter().map(|word| word.typed).collect(),
                relevance: None,
            });
        }
    }
    all.findings.sort_by(|a, b| {
        let score = |finding: &Finding<'_>| finding.entry.base_score.value();
        a.certainty
            .cmp(&b.certainty)
            .then_with(|| score(a).total_cmp(&score(b)))
            .then_with(|| a.entry.id.cmp(&b.entry.id))
    });
    all
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
