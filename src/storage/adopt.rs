//! Takes what another program wrote into the rows (an older aizo, the `sqlite3` shell) into the journal.
//! Triggers note such rows; the next write of ours comes here first.

use std::collections::BTreeMap;

use rusqlite::params;
use serde_json::Value;

use super::index::Dirty;
use super::journal::Draft;
use super::{Result, Transaction, View};
use crate::merge;
use crate::merge::fold::State;
use crate::model::{Evidence, Op, Origin, Preference, Subject, Values, is_shapeless, item_key};
use crate::scoring::Decay;

/// A higher number is none that ever was given: another program has typed it.
pub(super) const HIGHEST_ID: i64 = i64::MAX / 2;

/// A record as the journal knows it: its values, and the observations behind it.
#[derive(Debug, Default)]
struct Known {
    values: Option<Values>,
    evidence: Vec<Evidence>,
}

impl View<'_> {
    fn has_unreadable_score(&self, id: i64) -> Result<bool> {
        self.sqlite_result(
            self.connection()
                .prepare_cached("SELECT typeof(base_score) NOT IN ('real', 'integer') FROM preferences WHERE id = ?1")
                .and_then(|mut statement| statement.query_row([id], |row| row.get(0))),
        )
    }

    /// Entries whose score another program has written as something that is no number.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn unreadable_scores(&self) -> Result<Vec<i64>> {
        let find = || -> rusqlite::Result<Vec<i64>> {
            self.connection()
                .prepare_cached(
                    "SELECT id FROM preferences WHERE typeof(base_score) NOT IN ('real', 'integer')
                     ORDER BY id",
                )?
                .query_map([], |row| row.get(0))?
                .collect()
        };
        self.sqlite_result(find())
    }
}

impl Transaction<'_> {
    /// Entries whose score could not be read when they were adopted, with the score that they keep.
    pub fn repaired(&self) -> &[Preference] {
        &self.repaired
    }

    /// Adopts every noted row.
    pub(super) fn adopt_outside_changes(&mut self) -> Result<()> {
        let mut noted = self.view().outside_changes()?;
        if !noted.is_empty() && self.view().is_synced()? {
            self.profile = Some(self.view().folded()?);
        }
        for (kind, id, _) in &mut noted {
            if kind == "entry" && *id > HIGHEST_ID {
                *id = self.renumber(*id)?;
            }
        }
        if noted.is_empty() {
            return Ok(());
        }
        let mut entries = Vec::new();
        for (kind, id, uid) in noted {
            match kind.as_str() {
                "entry" => {
                    self.mark(id, Dirty::Texts);
                    entries.push((id, uid));
                }
                "session" => self.adopt_record(Subject::Session(id.to_string()), id)?,
                _ => {
                    // Removed settings are the usual ones.
                    self.run(
                        "INSERT OR IGNORE INTO decay_config (id) VALUES (1)",
                        params![],
                    )?;
                    self.adopt_record(Subject::Decay, 1)?;
                }
            }
        }
        self.adopt_entries(entries)?;
        if self.profile.take().is_some() {
            // What was adopted is read as all devices read it.
            let (difference, _) = self.refold()?;
            self.keep_beside(difference)?;
        }
        Ok(())
    }

    /// Gives a row a number that leaves some for those to come: after the highest number that SQLite has, it would say
    /// that the disk is full.
    fn renumber(&self, id: i64) -> Result<i64> {
        let connection = self.connection();
        let renumber = || -> rusqlite::Result<i64> {
            // What refers to the row follows it.
            connection.pragma_update(None, "defer_foreign_keys", true)?;
            let next: i64 = connection.query_row(
                "SELECT coalesce(max(id), 0) + 1 FROM preferences WHERE id <= ?1",
                [HIGHEST_ID],
                |row| row.get(0),
            )?;
            for sql in [
                "UPDATE preferences SET id = ?2 WHERE id = ?1",
                "UPDATE preference_scenarios SET preference_id = ?2 WHERE preference_id = ?1",
                "UPDATE evidence SET preference_id = ?2 WHERE preference_id = ?1",
            ] {
                connection.execute(sql, [id, next])?;
            }
            connection.execute(
                "UPDATE sqlite_sequence SET seq = ?1 WHERE name = 'preferences' AND seq > ?2",
                [next, HIGHEST_ID],
            )?;
            Ok(next)
        };
        renumber().map_err(|error| self.sqlite(error))
    }

    fn adopt_entries(&mut self, noted: Vec<(i64, Option<String>)>) -> Result<()> {
        let mut present = Vec::new();
        for (id, uid) in noted {
            if let Some(uid) = &uid {
                // Replaced under its own number: it is the entry that it was.
                self.run(
                    "UPDATE preferences SET uid = ?2 WHERE id = ?1 AND uid IS NULL
                         AND NOT EXISTS (SELECT 1 FROM preferences WHERE uid = ?2)",
                    params![id, uid],
                )?;
            }
            self.make_storable(id)?;
            let Some(row) = self.view().entry(id)? else {
                self.remove_orphans(id)?;
                if let Some(uid) = uid {
                    self.adopt_removal(Subject::Entry(uid), id)?;
                }
                continue;
            };
            let row = self.under_another_name(row)?;
            let row = self.with_an_item(row)?;
            // Its keys may be those of another item by now.
            self.run(
                "UPDATE preferences SET item_key = NULL WHERE id = ?1",
                params![id],
            )?;
            present.push(row);
        }
        let mut groups: BTreeMap<String, Vec<Preference>> = BTreeMap::new();
        for row in present {
            groups.entry(item_key(&row.item)).or_default().push(row);
        }
        for (key, group) in &mut groups {
            // Only rows that nobody else touched have a key now, and theirs is right.
            group.extend(self.view().entry_by_key(key)?);
            for row in group.iter().filter(|row| !row.uid.is_empty()) {
                self.adopt_record(Subject::Entry(row.uid.clone()), row.id)?;
            }
        }
        for (key, group) in groups {
            let survivor = self.take_in(Op::Adopt, group)?;
            self.set_key(survivor, &key)?;
        }
        Ok(())
    }

    /// A row under a name of which the journal takes no more is another entry.
    fn under_another_name(&self, row: Preference) -> Result<Preference> {
        let subject = Subject::Entry(row.uid.clone());
        if row.uid.is_empty() || !self.view().is_taken(&subject)? {
            return Ok(row);
        }
        self.run(
            "UPDATE preferences SET uid = NULL WHERE id = ?1",
            params![row.id],
        )?;
        Ok(Preference {
            uid: String::new(),
            ..row
        })
    }

    /// A row that another program has left no item keeps the one that it had.
    fn with_an_item(&self, mut row: Preference) -> Result<Preference> {
        if row.uid.is_empty() || !is_shapeless(&row.item) {
            return Ok(row);
        }
        let known = self.known(&Subject::Entry(row.uid.clone()))?.values;
        let item = known.as_ref().and_then(|values| values.get("item"));
        if let Some(item) = item.and_then(Value::as_str) {
            self.run(
                "UPDATE preferences SET item = ?2 WHERE id = ?1",
                params![row.id, item],
            )?;
            item.clone_into(&mut row.item);
        }
        Ok(row)
    }

    pub(super) fn set_key(&self, id: i64, key: &str) -> Result<()> {
        self.run(
            "UPDATE preferences SET item_key = ?2 WHERE id = ?1",
            params![id, key],
        )
    }

    /// Writes a line for the difference between a row and what the journal knows of it.
    fn adopt_record(&mut self, subject: Subject, id: i64) -> Result<()> {
        let known = self.known(&subject)?;
        let stored = self.values(&subject, id)?;
        if let (Subject::Entry(_), false) = (&subject, stored.is_empty()) {
            self.restore_evidence(id, &known.evidence)?;
        }
        let op = Op::Adopt;
        let origin = Origin::User;
        let draft = match (known.values, stored.is_empty()) {
            (None, true) => return Ok(()),
            (None, false) => Draft::create(op, subject, origin, stored),
            (Some(before), true) => Draft::delete(op, subject, origin, before),
            (Some(before), false) => {
                let draft = Draft::set(op, subject, origin, before, stored);
                if draft.after.as_ref().is_some_and(Values::is_empty) {
                    return Ok(());
                }
                draft
            }
        };
        self.note(draft.with_local_id(id)).map(|_| ())
    }

    /// Brings back observations that went with a row when another program replaced it.
    fn restore_evidence(&self, id: i64, known: &[Evidence]) -> Result<()> {
        let stored = self.view().evidence(id)?;
        for evidence in known {
            if stored.iter().all(|there| there.uid != evidence.uid) {
                self.insert_evidence(id, evidence)?;
            }
        }
        Ok(())
    }

    fn adopt_removal(&mut self, subject: Subject, id: i64) -> Result<()> {
        let known = self.known(&subject)?;
        if let Some(before) = known.values {
            let mut draft =
                Draft::delete(Op::Adopt, subject, Origin::User, before).with_local_id(id);
            draft.removed = known.evidence;
            self.note(draft)?;
        }
        Ok(())
    }

    /// A record as the lines of all devices make it.
    fn known_to_all(state: &State, subject: &Subject) -> Known {
        match subject {
            Subject::Entry(uid) => match state.entries.get(uid) {
                Some(entry) => Known {
                    values: Some(entry.values.clone()),
                    evidence: entry.evidence.values().map(|one| (**one).clone()).collect(),
                },
                None => Known::default(),
            },
            _ => Known {
                values: Some(state.decay.clone()),
                evidence: Vec::new(),
            },
        }
    }

    /// Folds a record's journal lines.
    fn known(&self, subject: &Subject) -> Result<Known> {
        if let (Some(state), false) = (&self.profile, matches!(subject, Subject::Session(_))) {
            return Ok(Self::known_to_all(state, subject));
        }
        let lines = self
            .view()
            .journal_where("kind = ?1 AND uid = ?2", [subject.kind(), subject.uid()])?;
        let mut known = Known {
            // The settings exist from the beginning, without a line.
            values: (*subject == Subject::Decay).then(|| Decay::default().values()),
            evidence: Vec::new(),
        };
        for line in lines {
            known.values = match (known.values.take(), line.after) {
                (Some(mut values), Some(after)) if line.before.is_some() => {
                    values.extend(after);
                    Some(values)
                }
                (_, after) => after,
            };
            known
                .evidence
                .retain(|evidence| !line.removed.iter().any(|gone| gone.uid == evidence.uid));
            known.evidence.extend(line.added);
        }
        // A line of the time before there was this column does not name it.
        if let (Subject::Entry(_), Some(values)) = (subject, &mut known.values) {
            values.entry("pattern").or_insert(serde_json::Value::Null);
        }
        Ok(known)
    }

    /// Takes an analysed session into the journal.
    pub(super) fn take_in_session(&mut self, op: Op, id: i64) -> Result<()> {
        let subject = Subject::Session(id.to_string());
        let values = self.values(&subject, id)?;
        self.note(Draft::create(op, subject, Origin::User, values).with_local_id(id))
            .map(|_| ())
    }

    /// Takes rows that another program wrote, and that are one item, into the journal: the lowest id
    /// stays, the others are united with it in the order in which they were last seen. Gives back the
    /// number of the row that stays.
    pub(super) fn take_in(&mut self, op: Op, mut group: Vec<Preference>) -> Result<i64> {
        group.sort_by_key(|row| row.id);
        let survivor = group[0].id;
        let uid = if group[0].uid.is_empty() {
            let uid = self.new_uid();
            self.name_row(survivor, &uid)?;
            let values = self.entry_values(survivor)?;
            let origin = self
                .view()
                .entry(survivor)?
                .map_or(Origin::User, |row| row.origin);
            self.note(
                Draft::create(op, Subject::Entry(uid.clone()), origin, values)
                    .with_local_id(survivor),
            )?;
            uid
        } else {
            group[0].uid.clone()
        };
        if group.len() > 1 {
            self.mark(survivor, Dirty::Texts);
            let mut evidence = Vec::new();
            for row in &group[1..] {
                evidence.push(self.drop_row(op, row)?);
            }
            let united = merge::unite(&uid, &group, &evidence, || self.new_uid());
            self.apply_stored(&united)?;
        }
        Ok(survivor)
    }

    /// Puts right what a column of a row holds and the journal could not or must not: other types, numbers
    /// without end, bytes that are no text, secrets.
    pub(super) fn make_storable(&mut self, id: i64) -> Result<()> {
        let odd: Option<bool> = self.view().holds_odd_values(id)?;
        let (Some(true), Some(row)) = (odd, self.view().entry(id)?) else {
            return self.clean_row(id);
        };
        if self.view().has_unreadable_score(id)? {
            self.repaired.push(row.clone());
        }
        self.run(
            "UPDATE preferences SET item = ?2, reason = ?3, keywords = ?4, base_score = ?5, source = ?6,
                 added_at = ?7, last_seen = ?8, touch_count = ?9, pattern = ?10 WHERE id = ?1",
            params![
                id,
                row.item,
                row.reason,
                crate::model::join_keywords(&row.keywords),
                row.base_score.value(),
                row.source,
                row.added_at.0,
                row.last_seen.0,
                row.touch_count,
                crate::model::join_patterns(&row.patterns),
            ],
        )?;
        self.run(
            "DELETE FROM preference_scenarios WHERE preference_id = ?1",
            params![id],
        )?;
        for scenario in &row.scenarios {
            self.run(
                "INSERT OR IGNORE INTO preference_scenarios VALUES (?1, ?2)",
                params![id, scenario],
            )?;
        }
        self.clean_row(id)
    }

    /// Removes what a program without foreign keys left behind when it removed a row.
    fn remove_orphans(&self, id: i64) -> Result<()> {
        for table in ["preference_scenarios", "evidence"] {
            let sql = format!("DELETE FROM {table} WHERE preference_id = ?1");
            self.run(&sql, params![id])?;
        }
        Ok(())
    }

    fn run(&self, sql: &str, parameters: impl rusqlite::Params) -> Result<()> {
        self.connection()
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute(parameters))
            .map(|_| ())
            .map_err(|error| self.sqlite(error))
    }
}
