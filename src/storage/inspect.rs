//! What shows whether a store is as it should be, and what can be put right without changing what an entry says.

use std::collections::{BTreeSet, HashSet};

use chrono::{DateTime, Utc};
use rusqlite::{OptionalExtension, TransactionBehavior, params};
use serde_json::Value;

use super::state::{differing, item, score};
use super::{Difference, Differing, Result, StorageError, Store, Transaction, View, backup, index};
use crate::merge::fold::State;
use crate::merge::would_weaken;
use crate::model::{
    Evidence, Hlc, Preference, Score, Subject, Values, split_keywords, split_patterns,
};

impl View<'_> {
    /// What SQLite finds damaged, at most so much of it.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn problems(&self, most: usize) -> Result<Vec<String>> {
        self.sqlite_result(backup::problems(self.connection(), most))
    }

    /// Whether the search index was made by this program, and is whole. If not, the next write makes it anew.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn has_index(&self) -> Result<bool> {
        self.sqlite_result(index::is_current(self.connection()))
    }

    /// The rows of which the search index holds something else than they say.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn stale_in_index(&self) -> Result<BTreeSet<i64>> {
        let outside: HashSet<i64> = self.outside_entries()?.into_iter().collect();
        self.sqlite_result(index::stale(self.connection(), &outside))
    }

    /// What the tables hold otherwise than the journal. What other programs have written and the next write takes over does
    /// not count.
    ///
    /// # Errors
    /// A line that this version cannot read, and what SQLite reports.
    pub fn against_journal(&self) -> Result<Difference> {
        let state = self.folded()?;
        let mut outside: HashSet<String> = HashSet::new();
        let mut has_decay = false;
        for (kind, _, uid) in self.outside_changes()? {
            has_decay |= kind == "decay";
            outside.extend(uid.filter(|_| kind == "entry"));
        }
        let mut difference = Difference {
            entries: self.entries_against(&state, &outside)?,
            proposals: self.proposals_against(&state)?,
            decay: false,
        };
        let decay = differing(&Subject::Decay, &self.decay_values()?, &state.decay);
        difference.decay = !has_decay && !decay.is_empty();
        Ok(difference)
    }

    fn entries_against(&self, state: &State, outside: &HashSet<String>) -> Result<Vec<Differing>> {
        let kind = Subject::Entry(String::new());
        let mut scenarios = self.all_scenarios()?;
        let mut seen: HashSet<String> = HashSet::new();
        let mut found = Vec::new();
        self.each_values(&kind, |uid, id, mut values| {
            let names = scenarios.remove(&id).unwrap_or_default();
            values.insert("scenarios".to_owned(), Value::from(names));
            let known = state.entries.get(&uid);
            let is_right = outside.contains(&uid)
                || match known {
                    Some(known) => {
                        let evidence = self.evidence(id)?;
                        let is_known = |one: &Evidence| {
                            known.evidence.get(&one.uid).map(AsRef::as_ref) == Some(one)
                        };
                        evidence.len() == known.evidence.len()
                            && evidence.iter().all(is_known)
                            && differing(&kind, &values, &known.values).is_empty()
                    }
                    None => false,
                };
            if !is_right {
                let known = known.map(|known| &known.values);
                let mut differing = Differing::new(id, &uid, known, &values);
                if let (Some(known), Some(stored)) = (known, self.entry(id)?) {
                    let limit = as_known(&stored, known);
                    differing.is_weaker = limit.is_hard_limit()
                        && stored.is_hard_limit()
                        && would_weaken(&limit, &stored);
                    if differing.is_weaker {
                        differing.item = limit.item;
                    }
                }
                found.push(differing);
            }
            seen.insert(uid);
            Ok(())
        })?;
        let gone = state.entries.iter();
        let gone = gone.filter(|(uid, _)| !outside.contains(*uid) && !seen.contains(*uid));
        found.extend(gone.map(|(uid, entry)| Differing::gone(uid, &entry.values)));
        Ok(found)
    }

    fn proposals_against(&self, state: &State) -> Result<Vec<Differing>> {
        let kind = Subject::Proposal(String::new());
        let mut seen: HashSet<String> = HashSet::new();
        let mut found = Vec::new();
        self.each_values(&kind, |uid, id, values| {
            let known = state.proposals.get(&uid);
            if !known.is_some_and(|known| differing(&kind, &values, known).is_empty()) {
                found.push(Differing::new(id, &uid, known, &values));
            }
            seen.insert(uid);
            Ok(())
        })?;
        let gone = state.proposals.iter();
        let gone = gone.filter(|(uid, _)| !seen.contains(*uid));
        found.extend(gone.map(|(uid, values)| Differing::gone(uid, values)));
        Ok(found)
    }

    /// The latest time that the journal has seen, of whatever device.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn latest_time(&self) -> Result<Option<DateTime<Utc>>> {
        let times: (Option<String>, Option<String>) =
            self.sqlite_result(self.connection().query_row(
                "SELECT (SELECT hlc FROM journal ORDER BY seq DESC LIMIT 1),
                        (SELECT value FROM schema_meta WHERE key = 'hlc_seen')",
                [],
                |row| Ok((row.get(0)?, row.get(1)?)),
            ))?;
        let times = [times.0, times.1].into_iter().flatten();
        let latest = times.filter_map(|text| text.parse::<Hlc>().ok()).max();
        Ok(latest.and_then(Hlc::moment))
    }
}

/// A stored entry with what the journal says that it forbids.
fn as_known(stored: &Preference, known: &Values) -> Preference {
    let text = |field: &str| known.get(field).and_then(Value::as_str);
    let origin = text("origin").and_then(|name| name.parse().ok());
    Preference {
        item: item(known),
        base_score: score(known).map_or(stored.base_score, Score::clamped),
        keywords: split_keywords(text("keywords").unwrap_or_default()),
        patterns: split_patterns(text("pattern").unwrap_or_default()),
        origin: origin.unwrap_or(stored.origin),
        ..stored.clone()
    }
}

impl Store {
    /// Makes the search index anew.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn rebuild_index(&mut self) -> Result<()> {
        let sqlite = |error| StorageError::from_sqlite(&self.path, error);
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(sqlite)?;
        index::rebuild(&transaction)
            .and_then(|()| transaction.commit())
            .map_err(|error| StorageError::from_sqlite(&self.path, error))
    }
}

impl Transaction<'_> {
    /// Takes these entries into the journal as their rows are, though nobody has noted that they were written.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn adopt(&mut self, uids: &[String]) -> Result<()> {
        for uid in uids {
            if let Some(id) = self.number_for(uid)? {
                self.connection()
                    .prepare_cached(
                        "INSERT OR IGNORE INTO outside_changes VALUES ('entry', ?1, ?2)",
                    )
                    .and_then(|mut statement| statement.execute(params![id, uid]))
                    .map_err(|error| self.sqlite(error))?;
            }
        }
        self.adopt_outside_changes()
    }

    /// The number of an entry, or the one that it had, as long as it is nobody's.
    fn number_for(&self, uid: &str) -> Result<Option<i64>> {
        self.connection()
            .prepare_cached(
                "SELECT coalesce(
                     (SELECT id FROM preferences WHERE uid = ?1),
                     (SELECT local_id FROM journal j WHERE kind = 'entry' AND uid = ?1 AND local_id IS NOT NULL
                          AND NOT EXISTS (SELECT 1 FROM preferences p WHERE p.id = j.local_id)
                      ORDER BY seq DESC LIMIT 1))",
            )
            .and_then(|mut statement| statement.query_row([uid], |row| row.get(0)).optional())
            .map(Option::flatten)
            .map_err(|error| self.sqlite(error))
    }
}
