//! The changes that another store has seen, where this one has seen none yet.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::Work;
use crate::model::{JournalLine, Subject, Values, is_device_name};
use crate::poison::{is_suspicion, suspicion};
use crate::portable::{Change, Trust, suspicion_of_evidence};
use crate::redact::redact;
use crate::sync;

/// They are here by now.
pub(super) const TAKEN_OVER: &str = "taken_over";
/// They were here before.
const KNOWN: &str = "known";
/// They are not taken over.
const LEFT_OUT: &str = "left_out";

impl Work<'_, '_> {
    /// Takes changes over, as a sync takes those of another device; the tables follow.
    pub(in crate::commands::import) fn history(
        &mut self,
        changes: Vec<Change>,
    ) -> anyhow::Result<()> {
        let taken = self.take_over(changes)?;
        self.history_why = taken.err();
        self.history = Some(taken.unwrap_or(LEFT_OUT));
        if self.history == Some(TAKEN_OVER) {
            self.look_around()?;
        }
        Ok(())
    }

    /// What became of them, or why they are left out.
    fn take_over(
        &mut self,
        changes: Vec<Change>,
    ) -> anyhow::Result<Result<&'static str, &'static str>> {
        if self.terms.trust != Trust::Whole {
            return Ok(Err("the file is not as aizo wrote it"));
        }
        if self.terms.review {
            return Ok(Err("all of the file waits in review"));
        }
        let Some(lines) = self.new_lines(changes)? else {
            return Ok(Err("a change in it cannot be read"));
        };
        if lines.is_empty() {
            return Ok(Ok(KNOWN));
        }
        if !self.was_empty {
            return Ok(Err("this store has one of its own"));
        }
        if lines.iter().any(holds_a_secret) {
            return Ok(Err("something in it looks like a secret"));
        }
        if lines.iter().any(is_suspect) {
            return Ok(Err("something in it speaks to the model"));
        }
        self.transaction.receive(lines)?;
        Ok(Ok(TAKEN_OVER))
    }

    /// The lines that are not here; nothing where one of them is no line.
    fn new_lines(&self, changes: Vec<Change>) -> anyhow::Result<Option<Vec<JournalLine>>> {
        let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        for change in changes {
            let file = files.entry(change.device).or_default();
            serde_json::to_writer(&mut *file, &change.line)?;
            file.push(b'\n');
        }
        let mut lines = Vec::new();
        for (device, file) in files {
            let known = self.transaction.view().times_of(&device)?;
            let reading = sync::read(&device, &file, &known, self.transaction.now());
            if reading.stopped.is_some() || !is_device_name(&device) {
                return Ok(None);
            }
            lines.extend(reading.lines);
        }
        Ok(Some(lines))
    }
}

/// Whether a line would write what speaks to the model, but for what waits and says so.
fn is_suspect(line: &JournalLine) -> bool {
    let says_so = |values: &Values| {
        let why = values.get("why").and_then(Value::as_str);
        why.is_some_and(is_suspicion)
    };
    let waits = matches!(line.subject, Subject::Proposal(_));
    let all = [&line.before, &line.after].into_iter().flatten();
    let mut all = all.filter(|values| !(waits && says_so(values)));
    let in_values = all.any(|values| {
        let texts: Vec<&str> = texts(values).collect();
        suspicion(&texts.join("\n")).is_some()
    });
    in_values || suspicion_of_evidence(&line.added).is_some()
}

fn texts(values: &Values) -> impl Iterator<Item = &str> {
    let lists = values.values().filter_map(Value::as_array).flatten();
    values.values().chain(lists).filter_map(Value::as_str)
}

fn holds_a_secret(line: &JournalLine) -> bool {
    let values = [&line.before, &line.after].into_iter().flatten();
    let texts = values.flat_map(texts);
    let quotes = line.added.iter().map(|evidence| evidence.quote.as_str());
    texts
        .chain(quotes)
        .any(|text| matches!(redact(text).text, Cow::Owned(_)))
}
