//! Journal lines: what is written for each changed record, and what is read back.

use std::collections::BTreeMap;

use rusqlite::{Row, params};
use serde_json::Value;

use super::{Result, Transaction};
use crate::merge::fold::FORBIDDING;
use crate::merge::forgotten::{Erasure, nameless, texts_of};
use crate::model::{
    Change, Effect, Evidence, JournalLine, LINE_VERSION, Op, Origin, SEEN, Score, Stamp, Subject,
    Values,
};

/// The columns of a line, in the order in which [`read_line`] expects them.
pub(super) const COLUMNS: &str = "seq, version, batch, at, hlc, device, op, kind, uid, origin, \
     values_before, values_after, evidence_added, evidence_removed, undoes, local_id";

/// The values before as they are stored.
fn before_column(before: Option<&Values>, seen: &BTreeMap<String, String>) -> Option<String> {
    let mut values = before?.clone();
    if !seen.is_empty() {
        let seen = seen
            .iter()
            .map(|(device, hlc)| (device.clone(), Value::from(hlc.as_str())));
        values.insert(SEEN.to_owned(), Value::Object(seen.collect()));
    }
    Some(Value::Object(values).to_string())
}

/// Reads a row of [`COLUMNS`]; the inner error says what this version cannot read.
pub(super) fn read_line(
    row: &Row<'_>,
) -> rusqlite::Result<std::result::Result<JournalLine, (i64, String)>> {
    let seq: i64 = row.get(0)?;
    let version: i64 = row.get(1)?;
    if version > LINE_VERSION {
        return Ok(Err((seq, format!("its format {version} is newer"))));
    }
    let texts: [String; 4] = [row.get(6)?, row.get(7)?, row.get(8)?, row.get(9)?];
    let values: [Option<String>; 2] = [row.get(10)?, row.get(11)?];
    let evidence: [String; 2] = [row.get(12)?, row.get(13)?];
    let parsed = (|| -> std::result::Result<_, String> {
        let read = |text: &Option<String>| -> std::result::Result<Option<Values>, String> {
            text.as_deref()
                .map(|text| serde_json::from_str(text).map_err(|error| error.to_string()))
                .transpose()
        };
        let mut before = read(&values[0])?;
        let seen = match before.as_mut().and_then(|values| values.remove(SEEN)) {
            Some(seen) => serde_json::from_value(seen).map_err(|error| error.to_string())?,
            None => BTreeMap::new(),
        };
        let list = |text: &str| -> std::result::Result<Vec<Evidence>, String> {
            serde_json::from_str(text).map_err(|error| error.to_string())
        };
        Ok((
            texts[0].parse::<Op>()?,
            Subject::read(&texts[1], &texts[2])?,
            texts[3].parse::<Origin>()?,
            (before, seen),
            read(&values[1])?,
            list(&evidence[0])?,
            list(&evidence[1])?,
        ))
    })();
    let (op, subject, origin, (before, seen), after, added, removed) = match parsed {
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
        seen,
        local_id: row.get(15)?,
    }))
}

impl Transaction<'_> {
    /// Writes a line as it is, and gives its number: in place of the one that has its number, or as a new one.
    pub(super) fn write_line(&self, line: &JournalLine) -> Result<i64> {
        let list = |evidence: &[Evidence]| {
            serde_json::to_string(evidence).expect("evidence is texts and finite numbers")
        };
        let after = line
            .after
            .clone()
            .map(|after| Value::Object(after).to_string());
        let seq = (line.seq > 0).then_some(line.seq);
        let how = if seq.is_some() { " OR REPLACE" } else { "" };
        self.connection()
            .prepare_cached(&format!(
                "INSERT{how} INTO journal (seq, version, batch, at, hlc, device, op, kind, uid, origin, values_before,
                     values_after, evidence_added, evidence_removed, undoes, local_id)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)"
            ))
            .and_then(|mut statement| {
                statement.insert(params![
                    seq,
                    LINE_VERSION,
                    line.batch,
                    line.at.0,
                    line.hlc,
                    line.device,
                    line.op.name(),
                    line.subject.kind(),
                    line.subject.uid(),
                    line.origin.name(),
                    before_column(line.before.as_ref(), &line.seen),
                    after,
                    list(&line.added),
                    list(&line.removed),
                    line.undoes,
                    line.local_id,
                ])
            })
            .map_err(|error| self.sqlite(error))
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

    /// A line for a record whose values change; only those that differ are written, and the score of a limit that was
    /// confirmed.
    pub(super) fn set(
        op: Op,
        subject: Subject,
        origin: Origin,
        mut before: Values,
        mut after: Values,
    ) -> Self {
        let is_confirmed = |field: &str, value: &Value| {
            let score = value.as_f64().filter(|_| field == "base_score");
            op == Op::Merge && score.is_some_and(|score| Score::clamped(score).is_hard_limit())
        };
        after.retain(|field, value| before.get(field) != Some(value) || is_confirmed(field, value));
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

    /// A line that says that a record is forgotten: as a whole, or only texts of it and the words of observations.
    pub(super) fn forget(subject: Subject, origin: Origin, erasure: Option<&Erasure>) -> Self {
        let names = erasure
            .into_iter()
            .flat_map(|erasure| &erasure.observations);
        Draft {
            after: erasure.map(|erasure| erasure.texts.clone()),
            removed: names.cloned().map(nameless).collect(),
            ..Draft::new(Op::Forget, subject, origin)
        }
    }

    /// Whether it tells what a text was before that its record can lose.
    pub(super) fn tells_what_was(&self) -> bool {
        let before = self.before.iter().flat_map(Values::keys);
        let mut texts = before.filter(|field| texts_of(&self.subject).contains(&field.as_str()));
        texts.next().is_some()
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

    /// Whether this makes something a hard limit, or one gives way to it: it goes, or gets a score out of its band.
    pub(super) fn makes_or_lifts_a_limit(&self) -> bool {
        let is_limit = |values: &Option<Values>| {
            let score = values.as_ref()?.get("base_score")?.as_f64()?;
            Some(Score::clamped(score).is_hard_limit())
        };
        match (is_limit(&self.before), is_limit(&self.after)) {
            (Some(before), Some(after)) => before != after,
            (Some(before), None) => before && self.after.is_none(),
            (None, _) => false,
        }
    }

    /// Whether this changes what would be forbidden if its entry is a hard limit.
    pub(super) fn says_what_is_forbidden(&self) -> bool {
        let is_entry = matches!(self.subject, Subject::Entry(_));
        let before = self.before.as_ref().filter(|_| is_entry);
        before.is_some_and(|before| FORBIDDING.iter().any(|field| before.contains_key(*field)))
    }

    pub(super) fn with_local_id(mut self, id: i64) -> Self {
        self.local_id = Some(id);
        self
    }
}
