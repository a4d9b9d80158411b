//! What was forgotten for good: which records, and which texts of others, and what that leaves of a line of the journal. It
//! follows from the lines that say so, so that it is the same on every device that has them.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::Value;

use crate::model::{Evidence, JournalLine, Op, Origin, Speaker, Stamp, Subject, Values};

/// The texts that a record can lose and still stay.
pub fn texts_of(subject: &Subject) -> &'static [&'static str] {
    match subject {
        Subject::Entry(_) => &["reason"],
        Subject::Proposal(_) => &["reason", "why", "evidence"],
        Subject::Session(_) | Subject::Decay => &[],
    }
}

/// When a text was forgotten, and on which devices.
type Times = BTreeSet<(String, String)>;

/// What some lines say was forgotten.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Forgotten {
    records: HashSet<Subject>,
    /// The texts of records that stay, each with the times of the lines that say so, and their devices: before the last one
    /// its values are gone.
    texts: HashMap<Subject, HashMap<&'static str, Times>>,
    /// Observations whose words are gone, by name.
    observations: HashSet<String>,
}

/// What is to be taken out of a record that stays.
#[derive(Debug, Clone, PartialEq)]
pub struct Erasure {
    /// The record.
    pub subject: Subject,
    /// The texts whose values so far are taken out of its lines, and what stands there from now on.
    pub texts: Values,
    /// The observations whose words are taken out of all lines.
    pub observations: Vec<String>,
}

impl Forgotten {
    /// What these lines say was forgotten.
    pub fn of<'l>(lines: impl IntoIterator<Item = &'l JournalLine>) -> Self {
        let mut forgotten = Forgotten::default();
        lines.into_iter().for_each(|line| forgotten.add(line));
        forgotten
    }

    /// Adds what a line says was forgotten; nothing where it says something else. Only entries and proposals can be.
    pub fn add(&mut self, line: &JournalLine) {
        if line.op != Op::Forget
            || !matches!(line.subject, Subject::Entry(_) | Subject::Proposal(_))
        {
            return;
        }
        let names = line.removed.iter().map(|gone| gone.uid.clone());
        self.observations.extend(names);
        let Some(texts) = &line.after else {
            self.records.insert(line.subject.clone());
            return;
        };
        let known = self.texts.entry(line.subject.clone()).or_default();
        for field in texts_of(&line.subject) {
            if texts.contains_key(*field) {
                let said = known.entry(*field).or_default();
                said.insert((line.hlc.clone(), line.device.clone()));
            }
        }
    }

    /// Whether nothing was.
    pub fn is_empty(&self) -> bool {
        *self == Forgotten::default()
    }

    /// Whether a record was forgotten as a whole.
    pub fn has(&self, subject: &Subject) -> bool {
        self.records.contains(subject)
    }

    /// The records that were forgotten as a whole.
    pub fn records(&self) -> impl Iterator<Item = &Subject> {
        self.records.iter()
    }

    /// The observations whose words are gone.
    pub fn observations(&self) -> &HashSet<String> {
        &self.observations
    }

    /// The records that stay and have lost a text.
    pub fn shortened(&self) -> impl Iterator<Item = &Subject> {
        self.texts.keys()
    }

    /// A line as it is left.
    #[must_use]
    pub fn blank(&self, mut line: JournalLine) -> JournalLine {
        if line.op == Op::Forget {
            line = tombstone(line);
        }
        if self.has(&line.subject) {
            if line.op != Op::Forget {
                line.removed.clear();
            }
            (line.before, line.after) = (None, None);
            line.added.clear();
            line.seen.clear();
            return line;
        }
        for (field, said) in self.texts.get(&line.subject).into_iter().flatten() {
            let is_before = said.last().is_some_and(|(until, _)| line.hlc < *until);
            if is_before {
                take_out(&mut line, field);
            } else if !said.iter().all(|(hlc, device)| line.knows(device, hlc)) {
                take_out_what_was(&mut line, field);
            }
        }
        for evidence in line.added.iter_mut().chain(&mut line.removed) {
            self.blank_observation(evidence);
        }
        line
    }

    /// Takes the words out of an observation that has lost them.
    pub fn blank_observation(&self, evidence: &mut Evidence) {
        if self.observations.contains(&evidence.uid) {
            evidence.quote.clear();
        }
    }
}

/// A line that says what was forgotten, with nothing in it that could tell of it.
fn tombstone(mut line: JournalLine) -> JournalLine {
    line.before = None;
    line.added.clear();
    line.seen.clear();
    let known = texts_of(&line.subject);
    if let Some(texts) = &mut line.after {
        texts.retain(|field, _| known.contains(&field.as_str()));
    }
    let names = line.removed.into_iter();
    line.removed = names.map(|gone| nameless(gone.uid)).collect();
    line
}

/// An observation of which nothing is told but its name.
pub fn nameless(uid: String) -> Evidence {
    Evidence {
        uid,
        at: Stamp(String::new()),
        quote: String::new(),
        speaker: Speaker::User,
        origin: Origin::User,
        source: String::new(),
        score: None,
        agent: None,
        session: None,
        place: None,
        confidence: None,
        cues: None,
    }
}

/// Takes a text out of a line. A record that came or went keeps the field, empty: its row has the column.
fn take_out(line: &mut JournalLine, field: &str) {
    match (&mut line.before, &mut line.after) {
        (Some(before), Some(after)) => {
            before.shift_remove(field);
            after.shift_remove(field);
        }
        (None, Some(after)) if line.op == Op::Forget => drop(after.shift_remove(field)),
        (Some(values), None) | (None, Some(values)) => {
            if let Some(value) = values.get_mut(field) {
                *value = Value::from("");
            }
        }
        (None, None) => {}
    }
}

/// Takes out of a line what it says that a text was before: its device did not know that it was forgotten. What is said anew
/// stays.
fn take_out_what_was(line: &mut JournalLine, field: &str) {
    let after = line.after.as_mut().filter(|_| line.op == Op::Undo);
    for values in line.before.as_mut().into_iter().chain(after) {
        if let Some(value) = values.get_mut(field) {
            *value = Value::from("");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeMap;

    fn line(number: u64, op: Op, before: &Value, after: &Value) -> JournalLine {
        JournalLine {
            seq: 0,
            batch: format!("b{number}"),
            at: Stamp("2026-11-30T12:00:00+00:00".into()),
            hlc: format!("{number:016x}"),
            device: "d".into(),
            op,
            subject: Subject::Entry("e".into()),
            origin: Origin::User,
            before: before.as_object().cloned(),
            after: after.as_object().cloned(),
            added: vec![Evidence {
                quote: "said so".into(),
                ..nameless("o".into())
            }],
            removed: Vec::new(),
            undoes: None,
            seen: BTreeMap::from([("other".to_owned(), format!("{:016x}", 1))]),
            local_id: None,
        }
    }

    fn forget(number: u64, after: &Value, observations: &[&str]) -> JournalLine {
        let names = observations.iter().map(|uid| nameless((*uid).to_owned()));
        JournalLine {
            added: Vec::new(),
            removed: names.collect(),
            seen: BTreeMap::new(),
            ..line(number, Op::Forget, &Value::Null, after)
        }
    }

    fn values(after: &JournalLine) -> Value {
        json!([after.before, after.after])
    }

    #[test]
    fn of_a_record_that_was_forgotten_nothing_is_left_whenever_it_was_written() {
        let forgotten = Forgotten::of([&forget(5, &Value::Null, &[])]);
        for number in [1, 9] {
            let left = forgotten.blank(line(
                number,
                Op::Add,
                &Value::Null,
                &json!({"item": "secret"}),
            ));
            assert_eq!(values(&left), json!([null, null]));
            assert!(left.added.is_empty() && left.seen.is_empty());
            assert_eq!(forgotten.blank(left.clone()), left);
        }
    }

    #[test]
    fn a_text_goes_out_of_the_lines_before_and_the_rest_stays() {
        let forgotten = Forgotten::of([&forget(5, &json!({"reason": "short"}), &["o"])]);
        let made = line(
            1,
            Op::Add,
            &Value::Null,
            &json!({"item": "x", "reason": "secret"}),
        );
        let left = forgotten.blank(made);
        assert_eq!(values(&left), json!([null, {"item": "x", "reason": ""}]));
        assert_eq!(left.added[0].quote, "");
        let set = line(
            2,
            Op::Update,
            &json!({"reason": "secret", "base_score": 1.0}),
            &json!({"reason": "secret too", "base_score": 2.0}),
        );
        assert_eq!(
            values(&forgotten.blank(set)),
            json!([{"base_score": 1.0}, {"base_score": 2.0}])
        );
        let later = line(
            9,
            Op::Update,
            &json!({"reason": ""}),
            &json!({"reason": "new"}),
        );
        assert_eq!(values(&forgotten.blank(later.clone())), values(&later));
    }

    #[test]
    fn a_later_line_of_who_did_not_know_loses_what_it_saw_before() {
        let elsewhere = JournalLine {
            device: "elsewhere".into(),
            ..forget(5, &json!({"reason": "short"}), &[])
        };
        let forgotten = Forgotten::of([&elsewhere]);
        let (old, new) = (json!({"reason": "secret"}), json!({"reason": "new"}));
        let set = line(9, Op::Update, &old, &new);
        let left = forgotten.blank(set.clone());
        assert_eq!(values(&left), json!([{"reason": ""}, {"reason": "new"}]));
        assert_eq!(forgotten.blank(left.clone()), left);
        let back = line(9, Op::Undo, &new, &old);
        assert_eq!(
            values(&forgotten.blank(back)),
            json!([{"reason": ""}, {"reason": ""}])
        );
        let knew = JournalLine {
            seen: BTreeMap::from([("elsewhere".to_owned(), elsewhere.hlc)]),
            ..set
        };
        assert_eq!(forgotten.blank(knew.clone()), knew);
    }

    #[test]
    fn what_says_that_something_was_forgotten_tells_nothing_of_it() {
        let mut told = forget(5, &json!({"reason": "short", "item": "secret"}), &["o"]);
        told.before = json!({"item": "secret"}).as_object().cloned();
        told.removed[0].quote = "secret".to_owned();
        let left = Forgotten::default().blank(told);
        assert_eq!(values(&left), json!([null, {"reason": "short"}]));
        assert_eq!(left.removed, [nameless("o".into())]);
        // What it leaves of a record is gone as well where that is forgotten later.
        let all = Forgotten::of([&left, &forget(7, &Value::Null, &[])]);
        let left = all.blank(left);
        assert_eq!(values(&left), json!([null, null]));
        assert_eq!(left.removed, [nameless("o".into())]);
    }

    #[test]
    fn only_entries_and_proposals_can_be_forgotten() {
        let settings = JournalLine {
            subject: Subject::Decay,
            ..forget(5, &Value::Null, &[])
        };
        assert!(Forgotten::of([&settings]).is_empty());
    }
}
