//! The tables as a whole: what differs between them and what the journals of all devices make of the profile is written,
//! and nothing else.

use std::collections::{BTreeMap, HashMap, HashSet};

use rusqlite::{OptionalExtension, params};
use serde_json::Value;

use super::index::Dirty;
use super::{Result, Transaction};
use crate::merge::fold::{Entry, State};
use crate::model::{Evidence, Score, Subject, Values};

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
    /// Whether it is a hard limit as before, and forbids less; looked at only where rows are held against the journal.
    pub is_weaker: bool,
    /// The fields that are others, where it has changed; none where only observations are.
    pub fields: Vec<String>,
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

    /// The names of the records that were not there.
    pub(super) fn added(&self) -> HashSet<&str> {
        let all = self.entries.iter().chain(&self.proposals);
        let added = all.filter(|record| record.how == How::Added);
        added.map(|record| record.uid.as_str()).collect()
    }

    /// The names of the entries that are hard limits now and were none.
    pub(super) fn forbidden(&self) -> HashSet<&str> {
        let all = self.entries.iter();
        let new = all.filter(|entry| !forbids(entry.before) && forbids(entry.after));
        new.map(|entry| entry.uid.as_str()).collect()
    }

    /// Leaves out records.
    pub(super) fn leave_out(&mut self, uids: &HashSet<&str>) {
        for records in [&mut self.entries, &mut self.proposals] {
            records.retain(|record| !uids.contains(record.uid.as_str()));
        }
    }
}

/// An entry as it is stored.
struct Stored {
    id: i64,
    values: Values,
    evidence: Vec<Evidence>,
}

/// The stored entries, sorted by what is to be done with them.
#[derive(Default)]
struct Rows {
    /// Those that are as they should be.
    right: HashSet<String>,
    /// The others.
    others: BTreeMap<String, Stored>,
}

impl Transaction<'_> {
    /// What has followed from the lines of all devices so far, beside the records that were to be changed: it is to be told.
    pub fn take_beside(&mut self) -> Difference {
        std::mem::take(&mut self.beside)
    }

    /// Keeps what was different beside the records of which this transaction has written lines.
    pub(super) fn keep_beside(&mut self, mut difference: Difference) -> Result<()> {
        let aliases = match self.view().is_synced()? {
            true => {
                "UNION SELECT 'entry', survivor FROM entry_aliases
                 WHERE uid IN (SELECT uid FROM journal WHERE batch = ?1)"
            }
            false => "",
        };
        let read = || -> rusqlite::Result<Vec<(String, String)>> {
            self.connection()
                .prepare(&format!(
                    "SELECT kind, uid FROM journal WHERE batch = ?1 {aliases}"
                ))?
                .query_map([&self.batch], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        };
        let named = read().map_err(|error| self.sqlite(error))?;
        difference.leave_out(&named.iter().map(|(_, uid)| uid.as_str()).collect());
        difference.decay &= named.iter().all(|(kind, _)| kind != Subject::Decay.kind());
        self.beside.entries.append(&mut difference.entries);
        self.beside.proposals.append(&mut difference.proposals);
        self.beside.decay |= difference.decay;
        Ok(())
    }

    /// Makes the tables equal to a state.
    ///
    /// # Errors
    /// What SQLite reports.
    pub(super) fn become_equal(&mut self, state: &State) -> Result<Difference> {
        let mut difference = Difference::default();
        let mut rows = self.stored_entries(state)?;
        self.rename_united(&mut rows, state)?;
        self.make_room(&rows, state, &mut difference)?;
        for (uid, entry) in &state.entries {
            if !rows.right.contains(uid) {
                let stored = rows.others.remove(uid);
                difference
                    .entries
                    .push(self.equal_entry(uid, entry, stored)?);
            }
        }
        self.equal_proposals(state, &mut difference)?;
        let decay = differing(&Subject::Decay, &self.view().decay_values()?, &state.decay);
        if !decay.is_empty() {
            self.update(&Subject::Decay, &decay, 1)?;
            difference.decay = true;
        }
        Ok(difference)
    }

    fn stored_entries(&self, state: &State) -> Result<Rows> {
        let (view, kind) = (self.view(), Subject::Entry(String::new()));
        let mut scenarios = view.all_scenarios()?;
        let mut rows = Rows::default();
        view.each_values(&kind, |uid, id, mut values| {
            let names = scenarios.remove(&id).unwrap_or_default();
            values.insert("scenarios".to_owned(), Value::from(names));
            let evidence = view.evidence(id)?;
            let is_right = state.entries.get(&uid).is_some_and(|entry| {
                let is_known =
                    |one: &Evidence| entry.evidence.get(&one.uid).is_some_and(|it| **it == *one);
                evidence.len() == entry.evidence.len()
                    && evidence.iter().all(is_known)
                    && differing(&kind, &values, &entry.values).is_empty()
            });
            if is_right {
                rows.right.insert(uid);
            } else {
                let stored = Stored {
                    id,
                    values,
                    evidence,
                };
                rows.others.insert(uid, stored);
            }
            Ok(())
        })?;
        Ok(rows)
    }

    /// Gives the rows of entries that have become one with others the names of those, where they have no row here: the same
    /// item keeps its number.
    fn rename_united(&self, rows: &mut Rows, state: &State) -> Result<()> {
        let united: Vec<(String, String)> = rows
            .others
            .keys()
            .map(|uid| (uid.clone(), state.resolve(uid).to_owned()))
            .filter(|(uid, name)| uid != name && state.entries.contains_key(name))
            .collect();
        for (uid, name) in united {
            if rows.right.contains(&name) || rows.others.contains_key(&name) {
                continue;
            }
            if let Some(stored) = rows.others.remove(&uid) {
                self.connection()
                    .prepare_cached("UPDATE preferences SET uid = ?2 WHERE id = ?1")
                    .and_then(|mut statement| statement.execute(params![stored.id, name]))
                    .map_err(|error| self.sqlite(error))?;
                rows.others.insert(name, stored);
            }
        }
        Ok(())
    }

    /// Takes away what must not be there, so that nothing stands in the way of what is to come: rows, observations, and
    /// items that their entries no longer have.
    fn make_room(&mut self, rows: &Rows, state: &State, difference: &mut Difference) -> Result<()> {
        for (uid, stored) in &rows.others {
            let Some(entry) = state.entries.get(uid) else {
                self.mark(stored.id, Dirty::Texts);
                self.delete(&Subject::Entry(uid.clone()), stored.id)?;
                difference
                    .entries
                    .push(Differing::gone(uid, &stored.values));
                continue;
            };
            if stored.values.get("item") != entry.values.get("item") {
                self.connection()
                    .prepare_cached(
                        "UPDATE preferences SET item = char(31) || uid, item_key = NULL WHERE id = ?1",
                    )
                    .and_then(|mut statement| statement.execute([stored.id]))
                    .map_err(|error| self.sqlite(error))?;
            }
            for known in &stored.evidence {
                if entry
                    .evidence
                    .get(&known.uid)
                    .is_none_or(|it| **it != *known)
                {
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
        stored: Option<Stored>,
    ) -> Result<Differing> {
        let subject = Subject::Entry(uid.to_owned());
        let Some(stored) = stored else {
            let id = self.insert(&subject, &entry.values, self.free_number_of(&subject)?)?;
            self.mark(id, Dirty::Texts);
            for observed in entry.evidence.values() {
                self.insert_evidence(id, observed)?;
            }
            return Ok(Differing::new(id, uid, None, &entry.values));
        };
        let id = stored.id;
        let differing = differing(&subject, &stored.values, &entry.values);
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
        let stays: HashMap<&str, &Evidence> = stored
            .evidence
            .iter()
            .map(|observed| (observed.uid.as_str(), observed))
            .collect();
        for (name, observed) in &entry.evidence {
            if stays.get(name.as_str()).is_none_or(|it| **it != **observed) {
                self.insert_evidence(id, observed)?;
            }
        }
        let told = Differing::new(id, uid, Some(&stored.values), &entry.values);
        Ok(Differing {
            fields: differing.into_iter().map(|(field, _)| field).collect(),
            ..told
        })
    }

    fn equal_proposals(&mut self, state: &State, difference: &mut Difference) -> Result<()> {
        let mut stored: BTreeMap<String, (i64, Values)> = BTreeMap::new();
        self.view()
            .each_values(&Subject::Proposal(String::new()), |uid, id, values| {
                stored.insert(uid, (id, values));
                Ok(())
            })?;
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
                None => self.insert(&subject, values, self.free_number_of(&subject)?)?,
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
    pub(super) fn free_number_of(&self, subject: &Subject) -> Result<Option<i64>> {
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
    pub(super) fn new(id: i64, uid: &str, before: Option<&Values>, after: &Values) -> Self {
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
            is_weaker: false,
            fields: Vec::new(),
        }
    }

    /// Whether it was a hard limit and is none.
    pub fn loses_a_limit(&self) -> bool {
        forbids(self.before) && !forbids(self.after)
    }

    pub(super) fn gone(uid: &str, before: &Values) -> Self {
        Differing {
            id: None,
            uid: uid.to_owned(),
            item: item(before),
            before: score(before),
            after: None,
            how: How::Removed,
            is_weaker: false,
            fields: Vec::new(),
        }
    }
}

fn forbids(score: Option<f64>) -> bool {
    score.is_some_and(|it| Score::clamped(it).is_hard_limit())
}

pub(super) fn item(values: &Values) -> String {
    let item = values.get("item").and_then(Value::as_str);
    item.unwrap_or_default().to_owned()
}

pub(super) fn score(values: &Values) -> Option<f64> {
    let of_entry = values.get("base_score");
    of_entry.or_else(|| values.get("score"))?.as_f64()
}

/// The columns of a record that are to hold another value than they do.
pub(super) fn differing(subject: &Subject, stored: &Values, wanted: &Values) -> Values {
    let scenarios = matches!(subject, Subject::Entry(_)).then_some("scenarios");
    let columns = subject.columns().iter().copied().chain(scenarios);
    let is_same = |a: &Value, b: Option<&Value>| {
        // Whole numbers are told apart where a floating one has no room for them.
        let whole = || Some(a.as_i64()? == b?.as_i64()?);
        let numbers = || Some(a.as_f64()? == b?.as_f64()?);
        Some(a) == b || whole().or_else(numbers) == Some(true)
    };
    columns
        .filter_map(|column| {
            let value = wanted.get(column)?;
            let differs = !is_same(value, stored.get(column));
            differs.then(|| (column.to_owned(), value.clone()))
        })
        .collect()
}
