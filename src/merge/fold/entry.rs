//! An entry, who made it, and who forbids the thing.

use std::collections::BTreeMap;

use super::values;
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
