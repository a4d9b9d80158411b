//! Journal lines: what is written for each changed record, and what is read back.

use chrono::{DateTime, Utc};
use rusqlite::Row;
use serde_json::{Value, json};

use crate::model::{Change, Effect, Evidence, Op, Origin, Stamp, Subject, Values};
use crate::scoring::Decay;

/// The format of the lines that this program writes.
pub const LINE_VERSION: i64 = 1;

/// One line of the journal.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalLine {
    /// Its number in this file: what people call the change.
    pub seq: i64,
    /// The batch it belongs to; one command is one batch.
    pub batch: String,
    /// When it was written.
    pub at: Stamp,
    /// The hybrid logical time, which orders the lines of all devices.
    pub hlc: String,
    /// The device it was written on.
    pub device: String,
    /// What was done.
    pub op: Op,
    /// To which record.
    pub subject: Subject,
    /// Who is behind it.
    pub origin: Origin,
    /// The values before; none when the record did not exist.
    pub before: Option<Values>,
    /// The values after; none when it exists no more.
    pub after: Option<Values>,
    /// Observations that came with it.
    pub added: Vec<Evidence>,
    /// Observations that went with it.
    pub removed: Vec<Evidence>,
    /// The batch that it takes back.
    pub undoes: Option<String>,
    /// The record's number in this file.
    pub local_id: Option<i64>,
}

/// The columns of a line, in the order in which [`JournalLine::read`] expects them.
pub(super) const COLUMNS: &str = "seq, version, batch, at, hlc, device, op, kind, uid, origin, \
     values_before, values_after, evidence_added, evidence_removed, undoes, local_id";

impl JournalLine {
    /// Reads a row of [`COLUMNS`]; the inner error says what this version cannot read.
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Result<Self, (i64, String)>> {
        let seq: i64 = row.get(0)?;
        let version: i64 = row.get(1)?;
        if version > LINE_VERSION {
            return Ok(Err((seq, format!("its format {version} is newer"))));
        }
        let texts: [String; 4] = [row.get(6)?, row.get(7)?, row.get(8)?, row.get(9)?];
        let values: [Option<String>; 2] = [row.get(10)?, row.get(11)?];
        let evidence: [String; 2] = [row.get(12)?, row.get(13)?];
        let parsed = (|| -> Result<_, String> {
            let read = |text: &Option<String>| -> Result<Option<Values>, String> {
                text.as_deref()
                    .map(|text| serde_json::from_str(text).map_err(|error| error.to_string()))
                    .transpose()
            };
            let list = |text: &str| -> Result<Vec<Evidence>, String> {
                serde_json::from_str(text).map_err(|error| error.to_string())
            };
            Ok((
                texts[0].parse::<Op>()?,
                Subject::read(&texts[1], &texts[2])?,
                texts[3].parse::<Origin>()?,
                read(&values[0])?,
                read(&values[1])?,
                list(&evidence[0])?,
                list(&evidence[1])?,
            ))
        })();
        let (op, subject, origin, before, after, added, removed) = match parsed {
            Ok(parsed) => parsed,
            Err(detail) => return Ok(Err((seq, detail))),
        };
        Ok(Ok(JournalLine {
            seq,
            batch: row.get(2)?,
            at: Stamp(row.get(3)?),
            hlc: row.get(4)?,
            device: row.get(5)?,
            op,
            subject,
            origin,
            before,
            after,
            added,
            removed,
            undoes: row.get(14)?,
            local_id: row.get(15)?,
        }))
    }

    /// The fields that the line changed; none for a record that came or went, which is all of them.
    pub fn fields(&self) -> Option<Vec<&str>> {
        match (&self.before, &self.after) {
            (Some(_), Some(after)) => Some(after.keys().map(String::as_str).collect()),
            _ => None,
        }
    }

    /// When the line was written, where that can be read.
    pub fn moment(&self) -> Option<DateTime<Utc>> {
        self.at.moment()
    }
}

/// A line that is about to be written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Draft {
    pub(super) op: Op,
    pub(super) subject: Subject,
    pub(super) origin: Origin,
    pub(super) before: Option<Values>,
    pub(super) after: Option<Values>,
    pub(super) added: Vec<Evidence>,
    pub(super) removed: Vec<Evidence>,
    pub(super) undoes: Option<String>,
    pub(super) local_id: Option<i64>,
}

impl Draft {
    fn new(op: Op, subject: Subject, origin: Origin) -> Self {
        Draft {
            op,
            subject,
            origin,
            before: None,
            after: None,
            added: Vec::new(),
            removed: Vec::new(),
            undoes: None,
            local_id: None,
        }
    }

    /// A line for a record that begins to exist.
    pub(super) fn create(op: Op, subject: Subject, origin: Origin, values: Values) -> Self {
        Draft {
            after: Some(values),
            ..Draft::new(op, subject, origin)
        }
    }

    /// A line for a record whose values change; only those that differ are written.
    pub(super) fn set(
        op: Op,
        subject: Subject,
        origin: Origin,
        mut before: Values,
        mut after: Values,
    ) -> Self {
        after.retain(|field, value| before.get(field) != Some(value));
        before.retain(|field, _| after.contains_key(field));
        Draft {
            before: Some(before),
            after: Some(after),
            ..Draft::new(op, subject, origin)
        }
    }

    /// A line for a record that exists no more.
    pub(super) fn delete(op: Op, subject: Subject, origin: Origin, values: Values) -> Self {
        Draft {
            before: Some(values),
            ..Draft::new(op, subject, origin)
        }
    }

    /// The line for a change, given the values that the store holds now.
    pub(super) fn of(change: &Change, now: Option<Values>) -> Self {
        let (op, subject, origin) = (change.op, change.subject.clone(), change.origin);
        let mut draft = match &change.effect {
            Effect::Create(values) => Draft::create(op, subject, origin, values.clone()),
            Effect::Set(values) => {
                Draft::set(op, subject, origin, now.unwrap_or_default(), values.clone())
            }
            Effect::Delete => Draft::delete(op, subject, origin, now.unwrap_or_default()),
        };
        draft.added.clone_from(&change.evidence);
        draft
    }

    /// The line that takes another one back.
    pub(super) fn inverse(line: &JournalLine) -> Self {
        Draft {
            op: Op::Undo,
            subject: line.subject.clone(),
            origin: Origin::User,
            before: line.after.clone(),
            after: line.before.clone(),
            added: line.removed.clone(),
            removed: line.added.clone(),
            undoes: Some(line.batch.clone()),
            local_id: line.local_id,
        }
    }

    /// A line as it is, to be written into another store.
    pub(super) fn again(line: JournalLine) -> Self {
        Draft {
            op: line.op,
            subject: line.subject,
            origin: line.origin,
            before: line.before,
            after: line.after,
            added: line.added,
            removed: line.removed,
            undoes: line.undoes,
            local_id: line.local_id,
        }
    }

    pub(super) fn with_local_id(mut self, id: i64) -> Self {
        self.local_id = Some(id);
        self
    }
}

/// The values of the decay settings in a new store.
pub(super) fn default_decay() -> Values {
    let usual = Decay::default();
    let Value::Object(values) =
        json!({"half_life_days": usual.half_life_days, "floor": usual.floor})
    else {
        unreachable!("the literal above is an object")
    };
    values
}
