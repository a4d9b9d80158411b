//! One line of the journal, of this device or of another.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{
    Evidence, Hlc, MAX_TEXT_BYTES, Op, Origin, Stamp, Subject, Values, beginning, is_hidden,
};

/// The format of the lines that this program writes.
pub const LINE_VERSION: i64 = 1;

/// The longest text of a line but for items, in bytes.
const LONGEST_TEXT: usize = 64 * 1024;

/// The longest name of a record, batch or observation, in bytes.
const LONGEST_NAME: usize = 128;

/// Under which name the values before hold, in a store, what the device knew of others. No record has such a field.
pub(crate) const SEEN: &str = "seen";

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

    /// Whether this may be a line of a journal, whoever wrote it. Texts are not looked at.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), String> {
        let _time: Hlc = self.hlc.parse()?;
        if self.at.moment().is_none() || self.at.0.len() > LONGEST_NAME {
            return Err("it does not say when it was written".to_owned());
        }
        if self.stays_here() {
            return Err("it belongs to its device alone".to_owned());
        }
        check_name(self.subject.uid(), "uid")?;
        check_name(&self.batch, "batch")?;
        self.undoes
            .as_deref()
            .map_or(Ok(()), |batch| check_name(batch, "undoes"))?;
        for evidence in self.added.iter().chain(&self.removed) {
            check_name(&evidence.uid, "observation")?;
        }
        for (device, hlc) in &self.seen {
            check_name(device, SEEN)?;
            let _time: Hlc = hlc.parse()?;
        }
        for values in [&self.before, &self.after].into_iter().flatten() {
            for (field, value) in values {
                if !fits(&self.subject, field, value) {
                    return Err(format!("it has an odd {field}"));
                }
            }
        }
        let is_nameless = |after: &Values| !after.contains_key("item");
        let is_entry = matches!(self.subject, Subject::Entry(_)) && self.op != Op::Forget;
        if is_entry && self.before.is_none() && self.after.as_ref().is_some_and(is_nameless) {
            return Err("it makes an entry without an item".to_owned());
        }
        Ok(())
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

/// Whether a text names a device: 32 hexadecimal digits, so that no path leads anywhere.
pub fn is_device_name(name: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    name.len() == 32 && name.bytes().all(is_digit)
}

/// Whether a text names something, and hides nothing.
fn check_name(text: &str, what: &str) -> Result<(), String> {
    let is_odd = |c: char| is_hidden(c) || c.is_whitespace();
    if text.is_empty() || text.len() > LONGEST_NAME || text.chars().any(is_odd) {
        return Err(format!("its {what} is no name"));
    }
    Ok(())
}

/// Whether a value is of the kind that its column takes. Another program may have written texts for the settings, and the
/// usual ones stand in for those.
fn fits(subject: &Subject, field: &str, value: &Value) -> bool {
    let is_list = || {
        let list = value.as_array();
        list.is_some_and(|list| list.iter().all(Value::is_string))
    };
    match (subject, field) {
        (_, SEEN) => false,
        (Subject::Decay, _) => value.is_number() || value.is_string(),
        (Subject::Entry(_), "base_score") => value.is_number(),
        (Subject::Entry(_), "touch_count") => value.is_i64(),
        (Subject::Entry(_), "scenarios") => is_list(),
        (Subject::Proposal(_), "score") => value.is_number() || value.is_null(),
        (_, "pattern") => value.is_string() || value.is_null(),
        (
            _,
            "item" | "reason" | "keywords" | "scenarios" | "source" | "origin" | "added_at"
            | "last_seen" | "proposed_at" | "why" | "evidence",
        ) => value.is_string(),
        // A column of a later version.
        _ => true,
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
