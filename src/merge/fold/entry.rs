//! An entry, who made it, and who forbids the thing.

use std::collections::BTreeMap;

use serde_json::Value;

use super::values::{self, FORBIDDING, Withstood};
use crate::model::{Evidence, JournalLine, Op, Values};

/// An entry.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Entry {
    /// Its values, all of them.
    pub values: Values,
    /// The observations behind it, by name.
    pub evidence: BTreeMap<String, Box<Evidence>>,
    /// The key of its item, as far as it has one to itself.
    pub(super) key: Option<String>,
    /// The devices that made it a limit and that nobody has answered who knew it, with the times of their last lines that did.
    pub(super) claims: BTreeMap<String, String>,
    /// The lines that made it, or what became one with it.
    pub(super) made: Vec<Made>,
    /// What lines have taken of what it says, in their order.
    pub(super) taken: Vec<Taken>,
    /// Where it became one with another and one of the two was a limit, the score of the other one.
    pub(super) milder: Option<f64>,
}

/// That an entry was made.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Made {
    batch: String,
    /// The device and the time, where it was made a limit.
    claim: Option<(String, String)>,
    /// The batch that has taken it back, where others had made the entry as well.
    taken_back: Option<String>,
}

impl Made {
    pub(super) fn by(line: &JournalLine, values: &Values) -> Self {
        Made {
            batch: line.batch.clone(),
            claim: values::forbids(values).then(|| (line.device.clone(), line.hlc.clone())),
            taken_back: None,
        }
    }
}

/// That a line took something of what an entry says, or put something else in its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Taken {
    pub(super) device: String,
    pub(super) hlc: String,
    pub(super) field: &'static str,
    /// What stood before.
    had: Value,
}

impl Entry {
    pub(super) fn is_limit(&self) -> bool {
        values::forbids(&self.values)
    }

    /// Remembers that a device forbids the thing.
    pub(super) fn forbid(&mut self, device: &str, hlc: &str) {
        let last = self.claims.entry(device.to_owned()).or_default();
        if hlc > last.as_str() {
            hlc.clone_into(last);
        }
    }

    /// Takes back what whoever wrote a line knew of; tells whether nothing else forbids the thing.
    pub(super) fn gives_way(&mut self, line: &JournalLine) -> bool {
        self.claims.retain(|device, hlc| !line.knows(device, hlc));
        self.claims.is_empty()
    }

    /// Sets what a line sets, and gives what a limit withstood.
    pub(super) fn set(&mut self, before: &Values, after: &Values, line: &JournalLine) -> Withstood {
        // What is forgotten goes, whoever knew the limit.
        let forgets = line.op == Op::Forget;
        let mut claims = self.claims.iter();
        let is_known = forgets || claims.all(|(device, hlc)| line.knows(device, hlc));
        let raises = values::score(after).is_some() && !values::forbids(after);
        // What is seen again is never meant to lift a limit.
        let lifts = raises && line.op != Op::Merge && self.gives_way(line);
        let had = FORBIDDING.map(|field| {
            let had = after.get(field).and_then(|_| self.values.get(field));
            had.cloned()
        });
        let withstood = values::set(&mut self.values, before, after, line.op, lifts, is_known);
        for (field, had) in FORBIDDING.into_iter().zip(had) {
            if let (Some(had), Some(now)) = (had, self.values.get(field)) {
                if forgets {
                    self.taken.retain(|taken| taken.field != field);
                } else if values::goes(field, &had, now) {
                    self.taken.push(Taken {
                        device: line.device.clone(),
                        hlc: line.hlc.clone(),
                        field,
                        had,
                    });
                }
            }
        }
        withstood
    }

    /// Brings back what others took before a line that makes this a limit, and its device did not know: it forbids what it
    /// saw. Gives what came back.
    pub(super) fn recover(&mut self, after: &Values, line: &JournalLine) -> Vec<Taken> {
        let mut back = Vec::new();
        for field in FORBIDDING {
            let is_unknown = |taken: &&Taken| !line.knows(&taken.device, &taken.hlc);
            let mut lost = self.taken.iter().rev().filter(|taken| taken.field == field);
            let lost: Vec<&Taken> = match (field, after.get(field)) {
                ("keywords" | "pattern", _) => lost.filter(is_unknown).collect(),
                (_, Some(_)) => continue,
                // What stood when its device looked last.
                (_, None) => lost
                    .by_ref()
                    .take_while(is_unknown)
                    .last()
                    .into_iter()
                    .collect(),
            };
            for taken in lost {
                let Some(now) = self.values.get(field) else {
                    continue;
                };
                let had = match field {
                    // Of a list that it says itself, what it says.
                    "keywords" | "pattern" => {
                        values::with_more(field, now, after.get(field).unwrap_or(&taken.had))
                    }
                    _ => values::goes(field, &taken.had, now).then(|| taken.had.clone()),
                };
                if let Some(had) = had {
                    self.values.insert(field.to_owned(), had);
                    back.push(taken.clone());
                }
            }
        }
        back
    }

    /// Whether a line takes back the making of this entry, and others have made it as well: they still forbid what they
    /// forbade.
    pub(super) fn outlives(&mut self, line: &JournalLine) -> bool {
        let batch = line.undoes.as_ref().filter(|_| line.op == Op::Undo);
        let is_it = |made: &Made| Some(&made.batch) == batch;
        let is_left = |made: &Made| !is_it(made) && made.taken_back.is_none();
        if !self.made.iter().any(is_left) {
            return false;
        }
        let Some(made) = self.made.iter_mut().find(|made| is_it(made)) else {
            return false;
        };
        if made.taken_back.is_none() {
            made.taken_back = Some(line.batch.clone());
            if let Some((device, hlc)) = &made.claim
                && self.claims.get(device) == Some(hlc)
            {
                self.claims.remove(device);
            }
        }
        if let (true, true, Some(score)) = (self.claims.is_empty(), self.is_limit(), self.milder) {
            values::rescore(&mut self.values, score);
        }
        true
    }

    /// Remembers that a line makes this entry, which is there: once more, or again after that was taken back. Who only
    /// brings it back has not made it.
    pub(super) fn make_again(&mut self, line: &JournalLine, values: &Values) {
        let made = Made::by(line, values);
        if line.op == Op::Undo {
            let is_it =
                |made: &&mut Made| made.taken_back.is_some() && made.taken_back == line.undoes;
            if let Some(known) = self.made.iter_mut().find(is_it) {
                (known.taken_back, known.claim) = (None, made.claim);
            }
        } else if !self.made.iter().any(|known| known.batch == made.batch) {
            self.made.push(made);
        }
    }
}
