//! A write transaction: rows, evidence and journal lines together, or none of them.

use std::collections::BTreeMap;
use std::path::Path;

use chrono::{DateTime, Utc};
use rusqlite::types::{ToSqlOutput, Value as SqlValue};
use rusqlite::{Connection, ToSql, TransactionBehavior, params};
use serde_json::Value;

use super::index::{self, Dirty, DirtyRows};
use super::journal::Draft;
use super::read::{self, View};
use super::secrets::without_secrets;
use super::{Difference, Result, StorageError};
use crate::merge::fold::State;
use crate::merge::forgotten::Forgotten;
use crate::model::{
    Change, Effect, Evidence, Hlc, JournalLine, Op, Origin, Preference, Stamp, Subject, Values,
    item_key,
};

/// A write transaction on a store.
pub struct Transaction<'s> {
    transaction: rusqlite::Transaction<'s>,
    path: &'s Path,
    now: DateTime<Utc>,
    pub(super) device: String,
    /// The greatest time that this store has seen, of whatever device.
    pub(super) hlc: Hlc,
    pub(super) batch: String,
    first_line: Option<i64>,
    /// Rows whose index is brought up to date at the end.
    dirty: DirtyRows,
    /// Up to which time the lines of each other device are here; read when it is needed.
    pub(super) seen: Option<BTreeMap<String, String>>,
    /// What the lines of all devices make of the profile, while changes of other programs are adopted.
    pub(super) profile: Option<State>,
    /// Adopted rows whose score was put right.
    pub(super) repaired: Vec<Preference>,
    /// What was forgotten before; read when it is needed.
    pub(super) forgotten: Option<Forgotten>,
    /// What has followed from the lines of all devices, beside the records that this transaction has changed.
    pub(super) beside: Difference,
}

/// What came of one change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Applied {
    /// The number of its journal line; none when it changed nothing and no line was needed.
    pub line: Option<i64>,
    /// The number of the record in this file.
    pub id: i64,
}

/// A JSON value as a column value.
struct Column<'v>(&'v Value);

impl ToSql for Column<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let value = match self.0 {
            Value::Null => SqlValue::Null,
            Value::Bool(flag) => SqlValue::Integer(i64::from(*flag)),
            Value::Number(number) => match number.as_i64() {
                Some(whole) => SqlValue::Integer(whole),
                None => SqlValue::Real(number.as_f64().unwrap_or(0.0)),
            },
            Value::String(text) => return Ok(ToSqlOutput::from(text.as_str())),
            other => SqlValue::Text(other.to_string()),
        };
        Ok(ToSqlOutput::Owned(value))
    }
}

impl<'s> Transaction<'s> {
    /// Takes the write lock, and adopts what other programs wrote meanwhile.
    pub(super) fn begin(
        connection: &'s mut Connection,
        path: &'s Path,
        now: DateTime<Utc>,
    ) -> Result<Self> {
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|error| StorageError::from_sqlite(path, error))?;
        let mut writer = Transaction::within(transaction, path, now)?;
        writer.restore_number()?;
        writer.adopt_outside_changes()?;
        // What was adopted is a batch of its own and stays when the command is undone.
        writer.batch = new_uid();
        writer.first_line = None;
        Ok(writer)
    }

    /// Continues a transaction that has the write lock.
    pub(super) fn within(
        transaction: rusqlite::Transaction<'s>,
        path: &'s Path,
        now: DateTime<Utc>,
    ) -> Result<Self> {
        let sqlite = |error| StorageError::from_sqlite(path, error);
        let (device, last, seen): (Option<String>, Option<String>, Option<String>) = transaction
            .query_row(
                "SELECT (SELECT value FROM schema_meta WHERE key = 'device'),
                        (SELECT hlc FROM journal ORDER BY seq DESC LIMIT 1),
                        (SELECT value FROM schema_meta WHERE key = 'hlc_seen')",
                [],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
            .map_err(sqlite)?;
        let times = [last, seen].into_iter().flatten();
        let hlc = times.filter_map(|text| text.parse().ok()).max();
        Ok(Transaction {
            transaction,
            path,
            now,
            device: device.unwrap_or_default(),
            hlc: hlc.unwrap_or_default(),
            batch: new_uid(),
            first_line: None,
            dirty: DirtyRows::new(),
            seen: None,
            profile: None,
            repaired: Vec::new(),
            forgotten: None,
            beside: Difference::default(),
        })
    }

    /// Puts the schema's number right where an older program has written its own.
    fn restore_number(&self) -> Result<()> {
        self.transaction
            .prepare_cached(
                "UPDATE schema_meta SET value = ?1 WHERE key = 'version' AND value != ?1",
            )
            .and_then(|mut statement| statement.execute([super::SCHEMA_VERSION.to_string()]))
            .map(|_| ())
            .map_err(|error| self.sqlite(error))
    }

    /// Makes everything permanent: after this it survives a power cut.
    pub(super) fn commit(self) -> Result<()> {
        let path = self.path;
        index::refresh(&self.transaction, &self.dirty)
            .and_then(|()| self.transaction.execute("DELETE FROM outside_changes", []))
            .and_then(|_| self.transaction.commit())
            .map_err(|error| StorageError::from_sqlite(path, error))
    }

    /// What can be read, with the changes made so far.
    pub fn view(&self) -> View<'_> {
        View::of_writer(&self.transaction, self.path)
    }

    /// A new name for a record.
    pub fn new_uid(&self) -> String {
        new_uid()
    }

    /// The one reading of the clock.
    pub fn now(&self) -> DateTime<Utc> {
        self.now
    }

    pub(super) fn path(&self) -> &Path {
        self.path
    }

    /// The number of the first journal line written: what `undo` takes for the whole batch.
    pub fn change_number(&self) -> Option<i64> {
        self.first_line
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.transaction
    }

    pub(super) fn sqlite(&self, error: rusqlite::Error) -> StorageError {
        StorageError::from_sqlite(self.path, error)
    }

    /// Applies one change: puts marks in place of secrets, reads the values before, writes the rows and the
    /// journal line.
    ///
    /// # Errors
    /// Values that may not enter the store, an item that another entry has, what SQLite reports.
    pub fn apply(&mut self, change: &Change) -> Result<Applied> {
        let change = &*without_secrets(change);
        let local_id = match &change.effect {
            Effect::Create(_) => None,
            _ => self.local_id(&change.subject)?,
        };
        let values = match local_id {
            Some(id) => Some(self.values(&change.subject, id)?),
            None => None,
        };
        change.validate(values.as_ref())?;
        self.apply_unmeasured(change, local_id, values)
    }

    /// Applies a change whose texts are in a store already, whatever today's rules for typed ones say of them.
    ///
    /// # Errors
    /// An item that another entry has, what SQLite reports.
    pub fn apply_stored(&mut self, change: &Change) -> Result<Applied> {
        let change = &*without_secrets(change);
        let values = self.stored(&change.subject)?;
        self.apply_unmeasured(change, self.local_id(&change.subject)?, values)
    }

    fn apply_unmeasured(
        &mut self,
        change: &Change,
        local_id: Option<i64>,
        values: Option<Values>,
    ) -> Result<Applied> {
        let mut draft = Draft::of(change, values);
        draft.local_id = local_id;
        if matches!(change.effect, Effect::Create(_)) {
            draft.subject = self.view().free_name(draft.subject)?;
        }
        if let (Effect::Delete, Some(id), Subject::Entry(_)) =
            (&change.effect, local_id, &change.subject)
        {
            draft.removed = self.view().evidence(id)?;
        }
        if draft.after.as_ref().is_some_and(Values::is_empty) && draft.added.is_empty() {
            return Ok(Applied {
                line: None,
                id: local_id.unwrap_or(0),
            });
        }
        self.execute(draft)
    }

    /// Writes the rows and the journal line of a draft.
    pub(super) fn execute(&mut self, mut draft: Draft) -> Result<Applied> {
        self.leave_out_forgotten(&mut draft.added)?;
        let id = self.write_rows(&draft)?;
        if matches!(draft.subject, Subject::Entry(_)) {
            self.mark(id, what_changed(&draft));
        }
        draft.local_id = Some(id);
        let line = self.note(draft)?;
        Ok(Applied {
            line: Some(line),
            id,
        })
    }

    /// Remembers that the index of a row is behind.
    pub(super) fn mark(&mut self, id: i64, dirty: Dirty) {
        let known = self.dirty.entry(id).or_insert(dirty);
        *known = dirty.max(*known);
    }

    /// Writes the journal line of a draft whose rows are in place.
    pub(super) fn note(&mut self, draft: Draft) -> Result<i64> {
        let seen = match self.says_what_was_known(&draft)? {
            true => self.seen()?.clone(),
            false => BTreeMap::new(),
        };
        self.hlc = self.hlc.next(self.now);
        let seq = self.write_line(&JournalLine {
            seq: 0,
            batch: self.batch.clone(),
            at: Stamp::at(self.now),
            hlc: self.hlc.to_string(),
            device: self.device.clone(),
            op: draft.op,
            subject: draft.subject,
            origin: draft.origin,
            before: draft.before,
            after: draft.after,
            added: draft.added,
            removed: draft.removed,
            undoes: draft.undoes,
            seen,
            local_id: draft.local_id,
        })?;
        self.first_line.get_or_insert(seq);
        Ok(seq)
    }

    /// The number of a record in this file.
    fn local_id(&self, subject: &Subject) -> Result<Option<i64>> {
        self.view().local_id(subject)
    }

    /// The values that a record holds now; nothing when there is no such record.
    pub(super) fn stored(&self, subject: &Subject) -> Result<Option<Values>> {
        match self.local_id(subject)? {
            Some(id) => self.values(subject, id).map(Some),
            None => Ok(None),
        }
    }

    /// The values that a record with this number holds.
    pub(super) fn values(&self, subject: &Subject, id: i64) -> Result<Values> {
        match subject {
            Subject::Entry(_) => self.entry_values(id),
            _ => read::row_values(&self.transaction, subject.table(), subject.columns(), id)
                .map_err(|error| self.sqlite(error))
                .map(Option::unwrap_or_default),
        }
    }

    /// The values of an entry, its scenarios among them.
    pub(super) fn entry_values(&self, id: i64) -> Result<Values> {
        read::entry_values(&self.transaction, id)
            .map_err(|error| self.sqlite(error))
            .map(Option::unwrap_or_default)
    }

    /// Writes the rows of a draft and gives back the record's number.
    fn write_rows(&self, draft: &Draft) -> Result<i64> {
        let subject = &draft.subject;
        let id = match (&draft.before, &draft.after) {
            (None, Some(values)) => self.insert(subject, values, draft.local_id)?,
            (before, after) => {
                let id = self
                    .local_id(subject)?
                    .ok_or_else(|| StorageError::Sqlite {
                        path: self.path.to_path_buf(),
                        detail: format!("{subject} is not there any more"),
                    })?;
                match (before, after) {
                    (_, Some(values)) => self.update(subject, values, id)?,
                    (_, None) => self.delete(subject, id)?,
                }
                id
            }
        };
        for evidence in &draft.removed {
            self.transaction
                .execute("DELETE FROM evidence WHERE uid = ?1", [&evidence.uid])
                .map_err(|error| self.sqlite(error))?;
        }
        for evidence in &draft.added {
            self.insert_evidence(id, evidence)?;
        }
        Ok(id)
    }

    pub(super) fn insert(
        &self,
        subject: &Subject,
        values: &Values,
        wanted: Option<i64>,
    ) -> Result<i64> {
        let mut names = vec!["id"];
        let key = self.key_for(subject, values, None)?;
        let id_value = wanted.map_or(Value::Null, Value::from);
        let (uid, key) = (
            Value::from(subject.uid()),
            key.map_or(Value::Null, Value::from),
        );
        let mut columns = vec![Column(&id_value)];
        match subject {
            Subject::Entry(_) => {
                names.extend(["uid", "item_key"]);
                columns.extend([Column(&uid), Column(&key)]);
            }
            Subject::Proposal(_) => {
                names.push("uid");
                columns.push(Column(&uid));
            }
            Subject::Session(_) | Subject::Decay => {}
        }
        for &name in subject.columns() {
            if let Some(value) = values.get(name) {
                names.push(name);
                columns.push(Column(value));
            }
        }
        let marks = vec!["?"; names.len()].join(", ");
        let sql = format!(
            "INSERT INTO {} ({}) VALUES ({marks})",
            subject.table(),
            names.join(", ")
        );
        let id = self
            .transaction
            .prepare_cached(&sql)
            .and_then(|mut statement| statement.insert(rusqlite::params_from_iter(columns)))
            .map_err(|error| self.sqlite(error))?;
        self.set_scenarios(id, values)?;
        Ok(id)
    }

    pub(super) fn update(&self, subject: &Subject, values: &Values, id: i64) -> Result<()> {
        let key = self.key_for(subject, values, Some(id))?.map(Value::from);
        let mut names = Vec::new();
        let mut columns = Vec::new();
        for &name in subject.columns() {
            if let Some(value) = values.get(name) {
                names.push(format!("{name} = ?"));
                columns.push(Column(value));
            }
        }
        if let Some(key) = &key {
            names.push("item_key = ?".to_owned());
            columns.push(Column(key));
        }
        if !names.is_empty() {
            let id = Value::from(id);
            columns.push(Column(&id));
            let sql = format!(
                "UPDATE {} SET {} WHERE id = ?",
                subject.table(),
                names.join(", ")
            );
            self.transaction
                .prepare_cached(&sql)
                .and_then(|mut statement| statement.execute(rusqlite::params_from_iter(columns)))
                .map_err(|error| self.sqlite(error))?;
        }
        self.set_scenarios(id, values)
    }

    pub(super) fn delete(&self, subject: &Subject, id: i64) -> Result<()> {
        if matches!(subject, Subject::Session(_)) {
            self.forget_turns(id)?;
        }
        if matches!(subject, Subject::Entry(_)) {
            // Not left to the cascade, which is off while an older file is brought up to date.
            for table in ["preference_scenarios", "evidence"] {
                self.transaction
                    .execute(
                        &format!("DELETE FROM {table} WHERE preference_id = ?1"),
                        [id],
                    )
                    .map_err(|error| self.sqlite(error))?;
            }
        }
        self.transaction
            .execute(
                &format!("DELETE FROM {} WHERE id = ?1", subject.table()),
                [id],
            )
            .map(|_| ())
            .map_err(|error| self.sqlite(error))
    }

    /// The key of the item among the values, if there is one and no other entry has it.
    fn key_for(
        &self,
        subject: &Subject,
        values: &Values,
        id: Option<i64>,
    ) -> Result<Option<String>> {
        let (Subject::Entry(_), Some(item)) = (subject, values.get("item").and_then(Value::as_str))
        else {
            return Ok(None);
        };
        let key = item_key(item);
        match self.view().entry_by_key(&key)? {
            Some(other) if Some(other.id) != id => Err(StorageError::ItemTaken {
                item: item.to_owned(),
                id: other.id,
                other: other.item,
            }),
            _ => Ok(Some(key)),
        }
    }

    fn set_scenarios(&self, id: i64, values: &Values) -> Result<()> {
        let Some(Value::Array(names)) = values.get("scenarios") else {
            return Ok(());
        };
        let write = || -> rusqlite::Result<()> {
            self.transaction
                .prepare_cached("DELETE FROM preference_scenarios WHERE preference_id = ?1")?
                .execute([id])?;
            let mut insert = self
                .transaction
                .prepare_cached("INSERT OR IGNORE INTO preference_scenarios VALUES (?1, ?2)")?;
            for name in names.iter().filter_map(Value::as_str) {
                insert.execute(params![id, name])?;
            }
            Ok(())
        };
        write().map_err(|error| self.sqlite(error))
    }

    pub(super) fn insert_evidence(&self, id: i64, evidence: &Evidence) -> Result<()> {
        self.transaction
            .prepare_cached(
                "INSERT INTO evidence (uid, preference_id, at, quote, speaker, origin, source, score, agent,
                     session, place, confidence, cues)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            )
            .and_then(|mut statement| {
                statement.execute(params![
                    evidence.uid,
                    id,
                    evidence.at.0,
                    evidence.quote,
                    evidence.speaker.name(),
                    evidence.origin.name(),
                    evidence.source,
                    evidence.score,
                    evidence.agent,
                    evidence.session,
                    evidence.place,
                    evidence.confidence,
                    evidence.cues,
                ])
            })
            .map(|_| ())
            .map_err(|error| self.sqlite(error))
    }

    /// Gives a row of another program its name, and the origin that its source tells.
    pub(super) fn name_row(&self, id: i64, uid: &str) -> Result<()> {
        self.transaction
            .prepare_cached(
                "UPDATE preferences SET uid = ?2,
                     origin = CASE source WHEN 'analysis' THEN 'analysis' ELSE origin END
                 WHERE id = ?1",
            )
            .and_then(|mut statement| statement.execute(params![id, uid]))
            .map(|_| ())
            .map_err(|error| self.sqlite(error))
    }

    /// Removes a row that is one item with another one, and gives back the observations behind it; a line is
    /// written only if the journal knows the row.
    pub(super) fn drop_row(&mut self, op: Op, row: &Preference) -> Result<Vec<Evidence>> {
        self.mark(row.id, Dirty::Texts);
        let evidence = self.view().evidence(row.id)?;
        if row.uid.is_empty() {
            self.delete(&Subject::Entry(String::new()), row.id)?;
        } else {
            let subject = Subject::Entry(row.uid.clone());
            let mut draft = Draft::delete(op, subject, Origin::User, self.entry_values(row.id)?)
                .with_local_id(row.id);
            draft.removed.clone_from(&evidence);
            self.execute(draft)?;
        }
        Ok(evidence)
    }
}

impl Subject {
    /// The table that holds records of this kind.
    pub(super) fn table(&self) -> &'static str {
        match self {
            Subject::Entry(_) => "preferences",
            Subject::Proposal(_) => "proposals",
            Subject::Session(_) => "sessions",
            Subject::Decay => "decay_config",
        }
    }

    /// The columns that a journal line may hold, in their fixed order.
    pub(super) fn columns(&self) -> &'static [&'static str] {
        match self {
            Subject::Entry(_) => &[
                "item",
                "reason",
                "keywords",
                "base_score",
                "source",
                "origin",
                "added_at",
                "last_seen",
                "touch_count",
                "pattern",
            ],
            Subject::Proposal(_) => &[
                "item",
                "reason",
                "keywords",
                "scenarios",
                "score",
                "source",
                "origin",
                "proposed_at",
                "why",
                "evidence",
                "pattern",
            ],
            Subject::Session(_) => &["analyzed_at", "extracted", "content_hash"],
            Subject::Decay => &["half_life_days", "floor"],
        }
    }
}

/// What of an entry a draft changes, as far as the index is concerned.
fn what_changed(draft: &Draft) -> Dirty {
    let texts = ["item", "reason", "keywords"];
    match (&draft.before, &draft.after) {
        (Some(_), Some(after)) if !texts.iter().any(|field| after.contains_key(*field)) => {
            Dirty::Weight
        }
        _ => Dirty::Texts,
    }
}

/// A new name: UUID version 7, which sorts by time.
pub(super) fn new_uid() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}
