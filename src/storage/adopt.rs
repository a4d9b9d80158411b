//! Takes what another program wrote into the rows (an older aizo, the `sqlite3` shell) into the journal.
//! Triggers note such rows; the next write of ours comes here first.

use std::collections::BTreeMap;

use super::journal::{Draft, default_decay};
use super::{Result, Transaction};
use crate::merge;
use crate::model::{Evidence, Op, Origin, Preference, Subject, Values, item_key};

/// A record as the journal knows it: its values, and the observations behind it.
#[derive(Debug, Default)]
struct Known {
    values: Option<Values>,
    evidence: Vec<Evidence>,
}

impl Transaction<'_> {
    /// Adopts every noted row.
    pub(super) fn adopt_outside_changes(&mut self) -> Result<()> {
        let noted = self.view().outside_changes()?;
        if noted.is_empty() {
            return Ok(());
        }
        let mut entries = Vec::new();
        for (kind, id, uid) in noted {
            match kind.as_str() {
                "entry" => entries.push((id, uid)),
                "session" => self.adopt_record(Subject::Session(id.to_string()), id)?,
                _ => self.adopt_record(Subject::Decay, 1)?,
            }
        }
        self.adopt_entries(entries)
    }

    fn adopt_entries(&mut self, noted: Vec<(i64, Option<String>)>) -> Result<()> {
        // What is gone goes first, so that its item is free for what came.
        let mut present = Vec::new();
        for (id, uid) in noted {
            match self.view().entry(id)? {
                Some(row) => present.push(row),
                None => {
                    self.remove_orphans(id)?;
                    if let Some(uid) = uid {
                        self.adopt_removal(Subject::Entry(uid), id)?;
                    }
                }
            }
        }
        // Then the keys are made right, so that rows that are one item now are found.
        let mut groups: BTreeMap<String, Vec<Preference>> = BTreeMap::new();
        for row in present {
            let key = item_key(&row.item);
            let group = groups.entry(key.clone()).or_default();
            if let Some(other) = self.view().entry_by_key(&key)?
                && group.iter().all(|known| known.id != other.id)
            {
                group.push(other);
            }
            if group.iter().all(|known| known.id != row.id) {
                group.push(row);
            }
        }
        let known: Vec<i64> = groups.values().flatten().map(|row| row.id).collect();
        for id in known {
            self.clear_key(id)?;
        }
        for (key, group) in groups {
            for row in group.iter().filter(|row| !row.uid.is_empty()) {
                self.adopt_record(Subject::Entry(row.uid.clone()), row.id)?;
            }
            self.take_in(Op::Adopt, group.clone())?;
            let survivor = group.iter().map(|row| row.id).min().unwrap_or(0);
            self.set_key(survivor, &key)?;
        }
        Ok(())
    }

    /// Writes a line for the difference between a row and what the journal knows of it.
    fn adopt_record(&mut self, subject: Subject, id: i64) -> Result<()> {
        let known = self.known(&subject)?;
        let stored = self.values(&subject, id)?;
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

    /// Folds a record's journal lines.
    fn known(&self, subject: &Subject) -> Result<Known> {
        let lines = self
            .view()
            .journal_where("kind = ?1 AND uid = ?2", [subject.kind(), subject.uid()])?;
        let mut known = Known {
            // The settings exist from the beginning, without a line.
            values: (*subject == Subject::Decay).then(default_decay),
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
    /// stays, the others are united with it in the order in which they were last seen.
    pub(super) fn take_in(&mut self, op: Op, mut group: Vec<Preference>) -> Result<()> {
        group.sort_by_key(|row| row.id);
        let survivor = &group[0];
        let uid = if survivor.uid.is_empty() {
            let uid = self.new_uid();
            self.name_row(survivor.id, &uid, &item_key(&survivor.item))?;
            let values = self.entry_values(survivor.id)?;
            self.note(
                Draft::create(op, Subject::Entry(uid.clone()), survivor.origin, values)
                    .with_local_id(survivor.id),
            )?;
            uid
        } else {
            survivor.uid.clone()
        };
        if group.len() == 1 {
            return Ok(());
        }
        let united = merge::unite(&uid, &group, || self.new_uid());
        for row in &group[1..] {
            self.drop_row(op, row)?;
        }
        self.apply(&united).map(|_| ())
    }

    fn clear_key(&self, id: i64) -> Result<()> {
        self.connection()
            .execute("UPDATE preferences SET item_key = NULL WHERE id = ?1", [id])
            .map(|_| ())
            .map_err(|error| self.sqlite(error))
    }

    fn set_key(&self, id: i64, key: &str) -> Result<()> {
        self.connection()
            .execute(
                "UPDATE preferences SET item_key = ?2 WHERE id = ?1",
                rusqlite::params![id, key],
            )
            .map(|_| ())
            .map_err(|error| self.sqlite(error))
    }

    /// Removes what a program without foreign keys left behind when it removed a row.
    fn remove_orphans(&self, id: i64) -> Result<()> {
        for table in ["preference_scenarios", "evidence"] {
            self.connection()
                .execute(
                    &format!("DELETE FROM {table} WHERE preference_id = ?1"),
                    [id],
                )
                .map_err(|error| self.sqlite(error))?;
        }
        Ok(())
    }
}
