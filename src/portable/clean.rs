//! What of a row may enter a store. Rows are cleaned when they are written and when they are read, so that they leave the
//! second store as they left the first.

use super::profile::{Entry, Proposal};
use crate::model::{Evidence, Score, Stamp, TextError, beginning, strip_hidden};

/// The longest label, time or name of a row, in bytes.
const LONGEST_NAME: usize = 64;
/// The most texts in one list of an entry.
const MOST_IN_A_LIST: usize = 1_000;

impl Entry {
    /// The row without hidden characters, with its lists in order. Cleaned twice is cleaned once.
    #[must_use]
    pub fn cleaned(self) -> Self {
        let mut scenarios = words(&self.scenarios);
        scenarios.sort();
        scenarios.dedup();
        let mut evidence: Vec<Evidence> = self.evidence.into_iter().map(observed).collect();
        evidence.sort_by(|a, b| (&a.at.0, &a.uid).cmp(&(&b.at.0, &b.uid)));
        Entry {
            uid: text(&self.uid),
            item: text(&self.item),
            reason: text(&self.reason),
            keywords: words(&self.keywords),
            scenarios,
            source: label(&self.source),
            added_at: stamp(&self.added_at),
            last_seen: stamp(&self.last_seen),
            patterns: lines(&self.patterns),
            evidence,
            ..self
        }
    }

    /// The cleaned row, if it may enter a store whose texts have at most so many bytes.
    ///
    /// # Errors
    /// Why it may not.
    pub fn checked(self, most: usize) -> Result<Self, String> {
        let entry = self.cleaned();
        check_name(&entry.uid)?;
        check_texts(most, &entry.item, &entry.reason, &entry.patterns)?;
        check_words("keyword", most, &entry.keywords)?;
        check_words("scenario", most, &entry.scenarios)?;
        check_score(entry.base_score)?;
        let mut evidence = entry.evidence.iter();
        evidence.try_for_each(|one| check_observed(most, one))?;
        Ok(entry)
    }
}

impl Proposal {
    /// The row without hidden characters. Cleaned twice is cleaned once.
    #[must_use]
    pub fn cleaned(self) -> Self {
        Proposal {
            uid: text(&self.uid),
            item: text(&self.item),
            reason: text(&self.reason),
            keywords: words(&self.keywords),
            scenarios: words(&self.scenarios),
            source: label(&self.source),
            proposed_at: stamp(&self.proposed_at),
            why: text(&self.why),
            patterns: lines(&self.patterns),
            evidence: self.evidence.map(observed),
            ..self
        }
    }

    /// The cleaned row, if it may enter a store whose texts have at most so many bytes.
    ///
    /// # Errors
    /// Why it may not.
    pub fn checked(self, most: usize) -> Result<Self, String> {
        let proposal = self.cleaned();
        check_name(&proposal.uid)?;
        check_texts(most, &proposal.item, &proposal.reason, &proposal.patterns)?;
        check_words("keyword", most, &proposal.keywords)?;
        check_words("scenario", most, &proposal.scenarios)?;
        check_length("why", most, &proposal.why)?;
        if let Some(score) = proposal.score {
            check_score(score)?;
        }
        if let Some(evidence) = &proposal.evidence {
            check_observed(most, evidence)?;
        }
        Ok(proposal)
    }
}

fn text(text: &str) -> String {
    strip_hidden(text).trim().to_owned()
}

fn words(list: &[String]) -> Vec<String> {
    let words = list.iter().flat_map(|words| words.split(','));
    let words = words.map(text);
    words.filter(|word| !word.is_empty()).collect()
}

/// Patterns stand one a line.
fn lines(list: &[String]) -> Vec<String> {
    let lines = list.iter().flat_map(|lines| lines.lines());
    let lines = lines.map(text);
    lines.filter(|line| !line.is_empty()).collect()
}

/// A short label; what is longer is cut.
fn label(label: &str) -> String {
    let label = text(label);
    match beginning(&label, LONGEST_NAME).trim_end() {
        "" => "manual".to_owned(),
        label => label.to_owned(),
    }
}

fn stamp(stamp: &Stamp) -> Stamp {
    let text = strip_hidden(&stamp.0);
    Stamp(beginning(&text, LONGEST_NAME).to_owned())
}

fn observed(evidence: Evidence) -> Evidence {
    let place = |place: Option<String>| place.map(|place| text(&place));
    Evidence {
        uid: text(&evidence.uid),
        at: stamp(&evidence.at),
        quote: text(&evidence.quote),
        source: label(&evidence.source),
        agent: place(evidence.agent),
        session: place(evidence.session),
        place: place(evidence.place),
        cues: place(evidence.cues),
        ..evidence
    }
}

/// A name that aizo gave; one that nobody gave is empty.
fn check_name(uid: &str) -> Result<(), String> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if uid.len() <= LONGEST_NAME && uid.bytes().all(is_name) {
        Ok(())
    } else {
        Err("its uid is no name that aizo gives".to_owned())
    }
}

fn check_texts(most: usize, item: &str, reason: &str, patterns: &[String]) -> Result<(), String> {
    if item.is_empty() {
        return Err(TextError::Empty { field: "item" }.to_string());
    }
    check_length("item", most, item)?;
    check_length("reason", most, reason)?;
    check_words("pattern", most, patterns)
}

fn check_words(field: &'static str, most: usize, words: &[String]) -> Result<(), String> {
    if words.len() > MOST_IN_A_LIST {
        let many = words.len();
        return Err(format!("{many} {field}s; {MOST_IN_A_LIST} is the most"));
    }
    let mut words = words.iter();
    words.try_for_each(|word| check_length(field, most, word))
}

fn check_length(field: &'static str, most: usize, text: &str) -> Result<(), String> {
    let bytes = text.len();
    if bytes <= most {
        return Ok(());
    }
    Err(TextError::TooLong { field, bytes, most }.to_string())
}

fn check_score(score: f64) -> Result<(), String> {
    Score::new(score)
        .map(drop)
        .map_err(|error| error.to_string())
}

fn check_observed(most: usize, evidence: &Evidence) -> Result<(), String> {
    check_name(&evidence.uid)?;
    if evidence.uid.is_empty() {
        return Err("an observation without a uid".to_owned());
    }
    check_length("quote", most, &evidence.quote)?;
    let places = [
        &evidence.agent,
        &evidence.session,
        &evidence.place,
        &evidence.cues,
    ];
    let mut places = places.into_iter().flatten();
    places.try_for_each(|place| check_length("place", most, place))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Origin;

    fn entry() -> Entry {
        Entry {
            uid: " e-1 ".into(),
            item: "ta\u{200b}bs\tand\nspaces ".into(),
            reason: "\u{202e}so".into(),
            keywords: vec!["b, a".into(), " ".into(), "c\u{0}".into()],
            scenarios: vec!["writing,coding".into(), "coding".into()],
            base_score: 7.25,
            source: "x".repeat(100),
            origin: Origin::User,
            added_at: Stamp("yester\u{7}day".into()),
            last_seen: Stamp(String::new()),
            touch_count: -3,
            patterns: vec!["one\n\ntwo".into()],
            evidence: Vec::new(),
        }
    }

    #[test]
    fn a_row_is_cleaned_once_and_for_all() {
        let clean = entry().cleaned();
        assert_eq!(
            (clean.uid.as_str(), clean.item.as_str()),
            ("e-1", "tabs and spaces")
        );
        assert_eq!(clean.reason, "so");
        assert_eq!(clean.keywords, ["b", "a", "c"]);
        assert_eq!(clean.scenarios, ["coding", "writing"]);
        assert_eq!(clean.source.len(), LONGEST_NAME);
        assert_eq!(clean.added_at.0, "yesterday");
        assert_eq!(clean.patterns, ["one", "two"]);
        assert_eq!(clean.clone().cleaned(), clean);
    }

    #[test]
    fn what_no_store_holds_is_refused() {
        let long = "x".repeat(11);
        let wrong: [(Entry, &str); 5] = [
            (
                Entry {
                    item: "\u{200b} ".into(),
                    ..entry()
                },
                "the item is empty",
            ),
            (
                Entry {
                    item: long.clone(),
                    ..entry()
                },
                "the item has 11 bytes; 10 is the most",
            ),
            (
                Entry {
                    keywords: vec![long],
                    item: "tabs".into(),
                    ..entry()
                },
                "the keyword has 11 bytes; 10 is the most",
            ),
            (
                Entry {
                    uid: "../x".into(),
                    ..entry()
                },
                "its uid is no name that aizo gives",
            ),
            (
                Entry {
                    item: "tabs".into(),
                    base_score: 11.0,
                    ..entry()
                },
                "a score is a number from 0 to 10, not 11",
            ),
        ];
        for (entry, why) in wrong {
            assert_eq!(entry.checked(10).map(drop), Err(why.to_owned()));
        }
        assert!(entry().checked(100).is_ok());
    }
}
