//! The tables as a whole: what differs between them and what the journals of all devices make of the profile is written,
//! and nothing else.

use std::collections::{BTreeMap, HashMap, HashSet};

use rusqlite::{OptionalExtension, params};
use serde_json::Value;

use super::index::Dirty;
use super::{Result, Transaction, View};
use crate::merge::fold::{Entry, State};
use crate::model::{Evidence, Subject, Values};

/// What was different.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Difference {
    /// The entries.
    pub entries: Vec<Differing>,
    /// What waits in review.
    pub proposals: Vec<Differing>,
    /// Whether the decay settings were.
    pub decay: bool,
}

/// One record that was different.
#[derive(Debug, Clone, PartialEq)]
pub struct Differing {
    /// Its number in this file; none where it is gone.
    pub id: Option<i64>,
    /// Its name on every device.
    pub uid: String,
    /// Its item.
    pub item: String,
    /// Its score before; none where it had none.
    pub before: Option<f64>,
    /// Its score now.
    pub after: Option<f64>,
    /// What became of it.
    pub how: How,
}

/// What became of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It was not there.
    Added,
    /// Its values or its observations were others.
    Changed,
    /// It is there no more.
    Removed,
}

impl Difference {
    /// Whether the tables were equal.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.proposals.is_empty() && !self.decay
    }
}

/// The records of a kind as they are stored.
type Stored = BTreeMap<String, (i64, Values)>;

impl View<'_> {
    /// The entries that have a name: their numbers and values.
    fn stored_entries(&self) -> Result<Stored> {
        let mut stored = self.all_values(&Subject::Entry(String::new()))?;
        let mut scenarios = self.all_scenarios()?;
        for (id, values) in stored.values_mut() {
            let names = scenarios.remove(id).unwrap_or_default();
            values.insert("scenarios".to_owned(), Value::from(names));
        }
        Ok(stored)
    }

    /// What the tables hold otherwise than the journal. What other programs have written and the next write takes over does
    /// not count.
    ///
    /// # Errors
    /// A line that this version cannot read, and what SQLite reports.
    pub fn against_journal(&self) -> Result<Difference> {
        let state = self.folded()?;
        let mut outside: HashSet<String> = HashSet::new();
        let mut decay = false;
        for (kind, _, uid) in self.outside_changes()? {
            decay |= kind == "decay";
            outside.extend(uid.filter(|_| kind == "entry"));
        }
        let stored = self.stored_entries()?;
        let mut evidence = self.all_evidence()?;
        let mut difference = Difference::default();
        for (uid, (id, values)) in &stored {
            let evidence = evidence.remove(id).unwrap_or_default();
            let known = state.entries.get(uid);
            if !outside.contains(uid) && !known.is_some_and(|known| known.is(values, &evidence)) {
                let known = known.map(|known| &known.values);
                let differing = Differing::new(*id, uid, known, values);
                difference.entries.push(differing);
            }
        }
        for (uid, entry) in &state.entries {
            if !outside.contains(uid) && !stored.contains_key(uid) {
                difference.entries.push(Differing::gone(uid, &entry.values));
            }
        }
        let stored = self.all_values(&Subject::Proposal(String::new()))?;
        for (uid, (id, values)) in &stored {
            let subject = Subject::Proposal(uid.clone());
            let known = state.proposals.get(uid);
            if !known.is_some_and(|known| differing(&subject, values, known).is_empty()) {
                let differing = Differing::new(*id, uid, known, values);
                difference.proposals.push(differing);
            }
        }
        let gone = state.proposals.iter();
        let gone = gone.filter(|(uid, _)| !stored.contains_key(*uid));
        let gone = gone.map(|(uid, values)| Differing::gone(uid, values));
        difference.proposals.extend(gone);
        let values = self.decay_values()?;
        difference.decay = !decay && !differing(&Subject::Decay, &values, &state.decay).is_empty();
        Ok(difference)
    }
}

impl Entry {
    /// Whether a row holds just this.
    fn is(&self, values: &Values, evidence: &[Evidence]) -> bool {
        let subject = Subject::Entry(String::new());
        let mut stored = evidence.iter();
        evidence.len() == self.evidence.len()
            && stored.all(|observed| self.evidence.get(&observed.uid) == Some(observed))
            && differing(&subject, values, &self.values).is_empty()
    }
}

impl Transaction<'_> {
    /// Makes the tables equal to a state.
    ///
    /// # Errors
    /// What SQLite reports.
    pub(super) fn become_equal(&mut self, state: &State) -> Result<Difference> {
        let mut difference = Difference::default();
        let stored = self.view().stored_entries()?;
        let mut evidence = self.view().all_evidence()?;
        self.make_room(&stored, &mut evidence, state, &mut difference)?;
        for (uid, entry) in &state.entries {
            let known = match stored.get(uid) {
                Some((id, values)) => Some((*id, values, evidence.remove(id).unwrap_or_default())),
                None => None,
            };
            difference
                .entries
                .extend(self.equal_entry(uid, entry, known)?);
        }
        self.equal_proposals(state, &mut difference)?;
        let decay = differing(&Subject::Decay, &self.view().decay_values()?, &state.decay);
        if !decay.is_empty() {
            self.update(&Subject::Decay, &decay, 1)?;
            difference.decay = true;
        }
        Ok(difference)
    }

    /// Takes away what must not be there, so that nothing stands in the way of what is to come: rows, observations, and
    /// items that their entries no longer have.
    fn make_room(
        &mut self,
        stored: &Stored,
        evidence: &mut HashMap<i64, Vec<Evidence>>,
        state: &State,
        difference: &mut Difference,
    ) -> Result<()> {
        for (uid, (id, values)) in stored {
            let Some(entry) = state.entries.get(uid) else {
                self.mark(*id, Dirty::Texts);
                self.delete(&Subject::Entry(uid.clone()), *id)?;
                evidence.remove(id);
                difference.entries.push(Differing::gone(uid, values));
                continue;
            };
            if values.get("item") != entry.values.get("item") {
                self.connection()
                    .prepare_cached(
                        "UPDATE preferences SET item = char(31) || uid, item_key = NULL WHERE id = ?1",
                    )
                    .and_then(|mut statement| statement.execute([id]))
                    .map_err(|error| self.sqlite(error))?;
            }
            for known in evidence.get(id).into_iter().flatten() {
                if entry.evidence.get(&known.uid) != Some(known) {
                    self.connection()
                        .prepare_cached("DELETE FROM evidence WHERE uid = ?1")
                        .and_then(|mut statement| statement.execute([&known.uid]))
                        .map_err(|error| self.sqlite(error))?;
                }
            }
        }
        Ok(())
    }

    /// Writes what differs between an entry and its row.
    fn equal_entry(
        &mut self,
        uid: &str,
        entry: &Entry,
        known: Option<(i64, &Values, Vec<Evidence>)>,
    ) -> Result<Option<Differing>> {
        let subject = Subject::Entry(uid.to_owned());
        let Some((id, values, evidence)) = known else {
            let id = self.insert(&subject, &entry.values, self.number_of(&subject)?)?;
            self.mark(id, Dirty::Texts);
            for observed in entry.evidence.values() {
                self.insert_evidence(id, observed)?;
            }
            return Ok(Some(Differing::new(id, uid, None, &entry.values)));
        };
        let differing = differing(&subject, values, &entry.values);
        if !differing.is_empty() {
            self.update(&subject, &differing, id)?;
            let texts = ["item", "reason", "keywords"];
            let has_texts = texts.iter().any(|field| differing.contains_key(*field));
            let dirty = if has_texts {
                Dirty::Texts
            } else {
                Dirty::Weight
            };
            self.mark(id, dirty);
        }
        let stored: HashMap<&str, &Evidence> = evidence
            .iter()
            .map(|observed| (observed.uid.as_str(), observed))
            .collect();
        let mut more = 0;
        for (name, observed) in &entry.evidence {
            if stored.get(name.as_str()) != Some(&observed) {
                self.insert_evidence(id, observed)?;
                more += 1;
            }
        }
        let same = differing.is_empty() && more == 0 && stored.len() == entry.evidence.len();
        Ok((!same).then(|| Differing::new(id, uid, Some(values), &entry.values)))
    }

    fn equal_proposals(&mut self, state: &State, difference: &mut Difference) -> Result<()> {
        let stored = self.view().all_values(&Subject::Proposal(String::new()))?;
        for (uid, (id, values)) in &stored {
            if !state.proposals.contains_key(uid) {
                self.delete(&Subject::Proposal(uid.clone()), *id)?;
                difference.proposals.push(Differing::gone(uid, values));
            }
        }
        for (uid, values) in &state.proposals {
            let subject = Subject::Proposal(uid.clone());
            let known = stored.get(uid);
            let id = match known {
                None => self.insert(&subject, values, self.number_of(&subject)?)?,
                Some((id, stored)) => {
                    let differing = differing(&subject, stored, values);
                    if differing.is_empty() {
                        continue;
                    }
                    self.update(&subject, &differing, *id)?;
                    *id
                }
            };
            let before = known.map(|(_, values)| values);
            difference
                .proposals
                .push(Differing::new(id, uid, before, values));
        }
        Ok(())
    }

    /// The number that a record had in this file, if it still is nobody's.
    fn number_of(&self, subject: &Subject) -> Result<Option<i64>> {
        self.connection()
            .prepare_cached(&format!(
                "SELECT local_id FROM journal WHERE kind = ?1 AND uid = ?2 AND local_id IS NOT NULL
                     AND NOT EXISTS (SELECT 1 FROM {} WHERE id = local_id)
                 ORDER BY seq DESC LIMIT 1",
                subject.table()
            ))
            .and_then(|mut statement| {
                statement
                    .query_row(params![subject.kind(), subject.uid()], |row| row.get(0))
                    .optional()
            })
            .map_err(|error| self.sqlite(error))
    }
}

impl Differing {
    fn new(id: i64, uid: &str, before: Option<&Values>, after: &Values) -> Self {
        Differing {
            id: Some(id),
            uid: uid.to_owned(),
            item: item(after),
            before: before.and_then(score),
            after: score(after),
            how: match before {
                None => How::Added,
                Some(_) => How::Changed,
            },
        }
    }

    fn gone(uid: &str, before: &Values) -> Self {
        Differing {
            id: None,
            uid: uid.to_owned(),
            item: item(before),
            before: score(before),
            after: None,
            how: How::Removed,
        }
    }
}

fn item(values: &Values) -> String {
    let item = values.get("item").and_then(Value::as_str);
    item.unwrap_or_default().to_owned()
}

fn score(values: &Values) -> Option<f64> {
    let of_entry = values.get("base_score");
    of_entry.or_else(|| values.get("score"))?.as_f64()
}

/// The columns of a record that are to hold another value than they do.
fn differing(subject: &Subject, stored: &Values, wanted: &Values) -> Values {
    let scenarios = matches!(subject, Subject::Entry(_)).then_some("scenarios");
    let columns = subject.columns().iter().copied().chain(scenarios);
    let is_same = |a: &Value, b: Option<&Value>| {
        let numbers = || Some(a.as_f64()? == b?.as_f64()?);
        Some(a) == b || numbers() == Some(true)
    };
    columns
        .filter_map(|column| {
            let value = wanted.get(column)?;
            let differs = !is_same(value, stored.get(column));
            differs.then(|| (column.to_owned(), value.clone()))
        })
        .collect()
}
