//! One line of the journal, of this device or of another.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{Evidence, MAX_TEXT_BYTES, Op, Origin, Stamp, Subject, Values, beginning, is_hidden};

/// The format of the lines that this program writes.
pub const LINE_VERSION: i64 = 1;

/// The longest text of a line but for items, in bytes.
const LONGEST_TEXT: usize = 64 * 1024;

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
    /// Up to which time the device knew the lines of each other device, where a limit gives way to the line.
    pub seen: BTreeMap<String, String>,
    /// The record's number in this file.
    pub local_id: Option<i64>,
}

impl JournalLine {
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

    /// Whether whoever wrote this line knew a line of that device and time: those of the own device, and what had come from
    /// others.
    pub fn knows(&self, device: &str, hlc: &str) -> bool {
        let known = if device == self.device {
            Some(&self.hlc)
        } else {
            self.seen.get(device)
        };
        known.is_some_and(|last| last.as_str() >= hlc)
    }

    /// Whether the line belongs to its device alone: which conversations were analysed there.
    pub fn stays_here(&self) -> bool {
        matches!(self.subject, Subject::Session(_))
    }

    /// The line as all devices read it: without hidden characters, and with no text of any length. What another program
    /// wrote into a store is in its journal as it was.
    #[must_use]
    pub fn cleaned(mut self) -> Self {
        for values in [&mut self.before, &mut self.after].into_iter().flatten() {
            for (field, value) in values.iter_mut() {
                clean_value(field, value);
            }
        }
        for evidence in self.added.iter_mut().chain(&mut self.removed) {
            let texts = [
                Some(&mut evidence.quote),
                Some(&mut evidence.source),
                evidence.agent.as_mut(),
                evidence.session.as_mut(),
                evidence.place.as_mut(),
                evidence.cues.as_mut(),
            ];
            texts
                .into_iter()
                .flatten()
                .for_each(|text| clean_text(text, LONGEST_TEXT, false));
        }
        self
    }
}

fn clean_value(field: &str, value: &mut Value) {
    let most = match field {
        "item" => MAX_TEXT_BYTES,
        _ => LONGEST_TEXT,
    };
    match value {
        // One pattern a line.
        Value::String(text) => clean_text(text, most, field == "pattern"),
        Value::Array(list) => list.iter_mut().for_each(|one| clean_value(field, one)),
        _ => {}
    }
}

fn clean_text(text: &mut String, most: usize, with_lines: bool) {
    let is_line_end = |c: char| matches!(c, '\n' | '\r' | '\t');
    let stays = |c: char| with_lines && c == '\n' || !is_hidden(c);
    if !text.chars().all(stays) {
        *text = text
            .chars()
            .map(|c| if is_line_end(c) && !stays(c) { ' ' } else { c })
            .filter(|&c| stays(c))
            .collect();
    }
    let end = beginning(text, most).len();
    text.truncate(end);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn line(after: &Value) -> JournalLine {
        JournalLine {
            seq: 1,
            batch: "b".into(),
            at: Stamp("2026-11-30T12:00:00+00:00".into()),
            hlc: format!("{:016x}", 1),
            device: "d".into(),
            op: Op::Add,
            subject: Subject::Entry("e".into()),
            origin: Origin::User,
            before: None,
            after: after.as_object().cloned(),
            added: Vec::new(),
            removed: Vec::new(),
            undoes: None,
            seen: BTreeMap::new(),
            local_id: None,
        }
    }

    #[test]
    fn a_line_is_read_without_what_hides_and_what_has_no_end() {
        let raw = json!({
            "item": "a\u{202e}b\tc",
            "reason": "x".repeat(LONGEST_TEXT + 1),
            "pattern": "one\ntwo\u{0}",
            "scenarios": ["co\u{200b}ding"],
            "base_score": 5.0,
        });
        let clean = line(&raw).cleaned();
        let values = clean.after.as_ref().expect("it has values");
        assert_eq!(values["item"], "ab c");
        assert_eq!(values["reason"].as_str().map(str::len), Some(LONGEST_TEXT));
        assert_eq!(values["pattern"], "one\ntwo");
        assert_eq!(values["scenarios"], json!(["coding"]));
        assert_eq!(values["base_score"], 5.0);
        assert_eq!(clean.clone().cleaned(), clean);
    }

    #[test]
    fn ordinary_writing_is_read_as_it_is() {
        let raw = json!({"item": "👩‍💻 葛\u{e0100}飾 می‌خواهم", "reason": "so"});
        assert_eq!(line(&raw).cleaned(), line(&raw));
    }
}
