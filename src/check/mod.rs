//! Which limits a plan, a command, a patch or a draft breaks. Pure: it is given the limits and the text.
//!
//! Three ways, and each answer names its own: a pattern that is attached to the entry (a regular expression or a
//! detector) is certain; the entry's words in the text are a reason to ask; and what is merely near in meaning, which
//! storage finds as recall does, may concern it. Only what the user stated and a pattern proves is a violation.
//!
//! Expressions are compiled when a check needs them and match in linear time; nothing is built at the start. What would take
//! more steps than a host waits for is not looked at, which is told, and asks.

mod budget;
mod build;
mod called;
mod condition;
mod dash;
mod detector;
mod emoji;
mod expand;
mod git;
mod invocation;
mod matter;
mod patch;
mod pattern;
mod prose;
mod reading;
mod remove;
mod sed;
mod shell;
mod spelled;
mod statement;
mod words;

use std::collections::HashSet;
use std::ops::Range;

pub use called::{Called, calls_of, calls_only, may_write_to};
pub use detector::Detector;
pub use matter::{Input, Kind};
pub use pattern::{MOST_PATTERNS, Pattern, PatternError, Typed};
pub use words::are_all_of;

use condition::is_conditional;
use detector::{Bounds, Seen};
use matter::Matter;
use words::Texts;

use crate::model::{Origin, Preference, beginning};
use crate::redact;

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
    /// Whether nothing is done with what stands there: it is looked for, taken away, or stands in a comment.
    pub is_idle: bool,
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
            is_idle: false,
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

/// The most steps of all expressions of one check, of which a slow machine does some hundred millions a second: a host waits
/// for eight seconds.
const MOST_WORK: u64 = 1 << 28;

/// Checks a text against entries: hard limits, and whatever else is to be kept to. The detectors come first; an expression
/// for which no step is left is told, and its entry asks.
pub fn check<'l>(
    entries: impl IntoIterator<Item = &'l Preference>,
    input: &Input<'_>,
) -> Findings<'l> {
    let entries: Vec<&Preference> = entries.into_iter().collect();
    let mut check = Check {
        input,
        matter: Matter::new(input),
        found: HashSet::new(),
        all: Findings {
            checked: entries.len(),
            ..Findings::default()
        },
    };
    let expressions: Vec<Sought<'l>> = entries
        .iter()
        .filter(|entry| !entry.patterns.is_empty())
        .flat_map(|entry| check.detect(entry))
        .collect();
    check.seek(expressions);
    check.look_for_words(&entries);
    check.all.sort();
    check.all
}

/// An expression that is to be looked for.
struct Sought<'l> {
    entry: &'l Preference,
    bounds: Bounds,
    text: &'l str,
    pattern: Pattern,
}

/// A check that is going on.
struct Check<'l, 'i> {
    input: &'i Input<'i>,
    matter: Matter<'i>,
    /// The entries that were found.
    found: HashSet<i64>,
    all: Findings<'l>,
}

impl<'l> Check<'l, '_> {
    /// Looks for the detectors of an entry; gives its expressions.
    fn detect(&mut self, entry: &'l Preference) -> Vec<Sought<'l>> {
        let mut expressions = Vec::new();
        let bounds = Bounds::of(&entry.item);
        for text in &entry.patterns {
            match Pattern::parse(text) {
                Ok(pattern) => match pattern.detector() {
                    Some(detector) => {
                        let seen = pattern.find(&self.matter, &bounds);
                        let is_sure = seen.as_ref().is_some_and(|seen| seen.is_sure);
                        self.add(entry, text, &pattern, seen);
                        if !is_sure && !detector.looks_at_all(&self.matter) {
                            self.give_up(entry, text);
                        }
                    }
                    None => expressions.push(Sought {
                        entry,
                        bounds: bounds.clone(),
                        text,
                        pattern,
                    }),
                },
                Err(error) => self.tell(entry, text, error, false),
            }
        }
        expressions
    }

    /// Looks for expressions, those first that take the least.
    fn seek(&mut self, expressions: Vec<Sought<'l>>) {
        let mut left = MOST_WORK;
        let work = |sought: &Sought<'l>| sought.pattern.work(&self.matter);
        let mut expressions: Vec<(u64, Sought<'l>)> = expressions
            .into_iter()
            .map(|sought| (work(&sought), sought))
            .collect();
        expressions.sort_by_key(|(work, _)| *work);
        for (work, sought) in expressions {
            let Sought {
                entry,
                bounds,
                text,
                pattern,
            } = sought;
            if let Some(less) = left.checked_sub(work) {
                left = less;
                let seen = pattern.find(&self.matter, &bounds);
                self.add(entry, text, &pattern, seen);
            } else {
                self.give_up(entry, text);
            }
        }
    }

    /// Tells that a pattern was not looked for in all of the text, so that its entry asks.
    fn give_up(&mut self, entry: &'l Preference, text: &'l str) {
        let error = PatternError::slow(text, self.matter.text.len());
        self.tell(entry, text, error, true);
        self.found.insert(entry.id);
        self.all.findings.push(Finding {
            pattern: Some(text.to_owned()),
            ..Finding::of_words(entry, Vec::new())
        });
    }

    /// Looks for the words of the entries of which no pattern was found.
    fn look_for_words(&mut self, entries: &[&'l Preference]) {
        // What only looks at things does nothing that a word could speak of; and the words of a limit stand in many a file that
        // does not break it.
        if self.matter.kind == Kind::Edit || self.matter.only_reads() {
            return;
        }
        let texts = Texts::new(&self.matter.text);
        for entry in entries {
            if self.found.contains(&entry.id) {
                continue;
            }
            if let Some(words) = texts.words_of(entry) {
                let range = words
                    .first()
                    .and_then(|word| words::place_of(word, &self.matter.text));
                let finding = Finding {
                    found: range.as_ref().map(|range| shown(&self.matter, range)),
                    place: range.map(|range| self.place(&range)),
                    ..Finding::of_words(entry, words.into_iter().map(|word| word.typed).collect())
                };
                self.all.findings.push(finding);
            }
        }
    }

    /// Adds what a pattern has found.
    fn add(&mut self, entry: &'l Preference, text: &str, pattern: &Pattern, seen: Option<Seen>) {
        let Some(seen) = seen else {
            return;
        };
        // Whether a condition holds, or something is excepted, no detector knows.
        let is_open = || pattern.detector().is_some() && is_conditional(&entry.item);
        let denies = seen.is_sure && entry.origin == Origin::User && !is_open();
        let is_in_text = seen.path.is_none();
        self.found.insert(entry.id);
        let finding = Finding {
            certainty: if denies {
                Certainty::Pattern
            } else {
                Certainty::Words
            },
            pattern: Some(text.to_owned()),
            detector: pattern.detector(),
            is_idle: seen.is_idle,
            found: Some(match (seen.shown, &seen.path) {
                (Some(mark), _) => mark.to_owned(),
                (None, Some(path)) => shortened(&redact::redact(path).text),
                (None, None) => shown(&self.matter, &seen.range),
            }),
            place: is_in_text.then(|| self.place(&seen.range)),
            ..Finding::of_words(entry, Vec::new())
        };
        self.all.findings.push(finding);
    }

    /// Tells that a pattern could not be used.
    fn tell(&mut self, entry: &'l Preference, text: &'l str, error: PatternError, is_slow: bool) {
        self.all.unusable.push(Unusable {
            pattern: text,
            id: entry.id,
            item: &entry.item,
            is_slow,
            error,
        });
    }

    fn place(&self, range: &Range<usize>) -> Place {
        place(self.input.text, self.matter.place(range))
    }
}

/// What stands at a place, as it is shown. A secret of which it is a part is not shown in part either.
fn shown(matter: &Matter<'_>, range: &Range<usize>) -> String {
    // A secret is no longer than this, and no more is shown.
    const AROUND: usize = 2_048;
    let text = &*matter.text;
    let near = |at: usize| beginning(text, at).len();
    let range = near(range.start)..near(range.end.min(range.start + AROUND));
    let before = near(range.start.saturating_sub(AROUND));
    let behind = near(range.end + AROUND);
    let mut clean = String::new();
    let mut at = range.start;
    for (secret, kind) in redact::find(&text[before..behind]) {
        let secret = before + secret.start..before + secret.end;
        if secret.end <= range.start || secret.start >= range.end {
            continue;
        }
        clean.push_str(&text[at..secret.start.max(at)]);
        clean.push_str(kind.mark());
        at = secret.end.min(range.end);
    }
    clean.push_str(&text[at..range.end.max(at)]);
    shortened(&redact::redact(&clean).text)
}

fn shortened(text: &str) -> String {
    const LONGEST: usize = 120;
    let mut characters = text.chars();
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
mod tables;
#[cfg(test)]
mod tests;
