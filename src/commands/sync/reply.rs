//! What `sync` replies: what came, what went, and what a limit withstood.

use std::collections::HashMap;
use std::io::{self, Write};

use serde::Serialize;

use crate::commands::entries::count;
use crate::commands::history::short_device;
use crate::commands::outcome::{LIFTED, lifts};
use crate::model::Score;
use crate::present::{Answer, Page, to_json};
use crate::storage::{Difference, Differing, How};
use crate::sync::{Remote, Stopped, shown};

/// Records of a kind that a text lists; JSON has all.
const MOST: usize = 20;

/// What `sync`, `sync pull` and `sync push` reply.
#[derive(Debug, Serialize)]
pub(super) struct Reply {
    result: &'static str,
    dry_run: bool,
    url: String,
    branch: String,
    pub(super) device: Option<String>,
    pub(super) pulled: Option<Pulled>,
    pub(super) pushed: Option<Sent>,
}

/// What came.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(super) struct Pulled {
    pub(super) lines: usize,
    pub(super) devices: Vec<Lines>,
    pub(super) entries: Changes,
    pub(super) limits_held: Vec<Held>,
    pub(super) suspected: Vec<Suspected>,
    /// What came and changed nothing: what stands here.
    #[serde(skip)]
    pub(super) overridden: Vec<Overridden>,
    pub(super) proposals: Changes,
    pub(super) decay_changed: bool,
    pub(super) waiting: Vec<Waiting>,
    /// The name under which this device goes on, where it had to take another one.
    pub(super) renamed: Option<String>,
    /// The items that were forgotten, as far as they were known here.
    pub(super) forgotten: Vec<String>,
}

/// The lines that came from one device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Lines {
    device: String,
    lines: usize,
}

/// What became of records.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(super) struct Changes {
    added: Vec<Record>,
    changed: Vec<Record>,
    removed: Vec<Record>,
}

/// One record that is not what it was.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Record {
    id: Option<i64>,
    item: String,
    score_before: Option<f64>,
    score_after: Option<f64>,
    /// What is different, where it is not the score.
    #[serde(skip)]
    fields: Vec<String>,
}

/// A limit that a change did not touch whose device did not know it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Held {
    pub(super) id: i64,
    pub(super) item: String,
    pub(super) score: f64,
    /// The score that it was to have.
    pub(super) wanted: Option<f64>,
    /// What was to change of what it forbids. Where that is nothing, and no score either, it was to go.
    pub(super) fields: Vec<&'static str>,
    pub(super) device: String,
    /// Whether that is this device.
    #[serde(skip)]
    pub(super) here: bool,
}

/// An entry that stays as it was, whatever another device said of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Overridden {
    pub(super) item: String,
    /// The score that it has; none where it is gone.
    pub(super) score: Option<f64>,
    /// The score that it had on the other device.
    pub(super) wanted: Option<f64>,
}

impl Overridden {
    fn line(&self) -> String {
        let score = |score: Option<f64>| score.map(Score::clamped);
        match (score(self.score), score(self.wanted)) {
            (Some(score), Some(wanted)) if wanted != score => format!(
                "stays as it is here: {} ({score}); another device had {wanted}",
                self.item
            ),
            (Some(score), _) => format!("stays as it is here: {} ({score})", self.item),
            (None, _) => format!("stays removed: {}", self.item),
        }
    }
}

/// An entry of which another device says what may not be meant for a profile.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Suspected {
    pub(super) id: i64,
    pub(super) item: String,
    pub(super) why: &'static str,
    #[serde(skip)]
    pub(super) is_limit: bool,
}

/// Lines that cannot be read yet.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Waiting {
    device: String,
    line: usize,
    lines: usize,
    why: String,
    newer: bool,
    /// Whether that is this device.
    #[serde(skip)]
    pub(super) here: bool,
}

/// What went.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(super) struct Sent {
    pub(super) lines: usize,
    pub(super) files: Vec<String>,
    pub(super) commit: Option<String>,
}

impl Reply {
    pub(super) fn new(result: &'static str, dry_run: bool, remote: &Remote) -> Self {
        Reply {
            result,
            dry_run,
            url: shown(&remote.url),
            branch: remote.branch.clone(),
            device: None,
            pulled: None,
            pushed: None,
        }
    }
}

impl Pulled {
    pub(super) fn new(
        own: &str,
        lines: HashMap<String, usize>,
        difference: Difference,
        waiting: Vec<(String, Stopped)>,
    ) -> Self {
        let mut devices: Vec<Lines> = lines
            .into_iter()
            .map(|(device, lines)| Lines { device, lines })
            .collect();
        devices.sort_by(|a, b| a.device.cmp(&b.device));
        Pulled {
            lines: devices.iter().map(|of| of.lines).sum(),
            devices,
            entries: Changes::of(difference.entries),
            limits_held: Vec::new(),
            suspected: Vec::new(),
            overridden: Vec::new(),
            proposals: Changes::of(difference.proposals),
            decay_changed: difference.decay,
            waiting: waiting
                .into_iter()
                .map(|(device, stopped)| Waiting {
                    line: stopped.line,
                    lines: stopped.waiting,
                    why: stopped.why,
                    newer: stopped.newer,
                    here: device == own,
                    device,
                })
                .collect(),
            renamed: None,
            forgotten: Vec::new(),
        }
    }

    /// Adds what came in a second run.
    pub(super) fn add(&mut self, more: Pulled) {
        self.lines += more.lines;
        self.devices.extend(more.devices);
        self.entries.add(more.entries);
        self.limits_held.extend(more.limits_held);
        self.suspected.extend(more.suspected);
        self.overridden.extend(more.overridden);
        self.proposals.add(more.proposals);
        self.decay_changed |= more.decay_changed;
        // The second run has looked at the same files again.
        self.waiting = more.waiting;
        self.renamed = more.renamed.or(self.renamed.take());
        self.forgotten.extend(more.forgotten);
    }

    /// Whether no record is another one than it was.
    pub(super) fn is_equal(&self) -> bool {
        self.entries.is_empty() && self.proposals.is_empty() && !self.decay_changed
    }

    pub(super) fn write(&self, page: &mut Page<'_>) -> io::Result<()> {
        if let Some(name) = &self.renamed {
            page.wrapped(&format!(
                "another store writes as the device that this one was; it is {} from now on",
                short_device(name)
            ))?;
        }
        self.entries.write("", page)?;
        for item in self.forgotten.iter().take(MOST) {
            page.wrapped(&format!("forgotten for good: {item}"))?;
        }
        for held in self.limits_held.iter().take(MOST) {
            let wanted = match (held.wanted, held.fields.as_slice()) {
                (Some(score), _) => format!("wanted {}", Score::clamped(score)),
                (None, []) => "removed it".to_owned(),
                (None, fields) => format!("changed its {}", fields.join(", ")),
            };
            let device = match held.here {
                true => "this device".to_owned(),
                false => format!("device {}", short_device(&held.device)),
            };
            page.wrapped(&format!(
                "held: {} stays a hard limit ({}); {device} {wanted} and did not know the limit",
                held.item,
                Score::clamped(held.score),
            ))?;
        }
        for one in self.overridden.iter().take(MOST) {
            page.wrapped(&one.line())?;
        }
        for one in self.suspected.iter().take(MOST) {
            let advice = match one.is_limit {
                true => format!("aizo update {} takes it out of the hard limit", one.id),
                false => format!("aizo remove {} takes it out", one.id),
            };
            page.wrapped(&format!("look at it: {}: {}; {advice}", one.item, one.why))?;
        }
        if self.suspected.len() > MOST {
            page.line(&format!(
                "look at them: {} more",
                self.suspected.len() - MOST
            ))?;
        }
        self.proposals.write(" in review", page)?;
        if self.decay_changed {
            page.line("changed: how fast things fade (aizo config show)")?;
        }
        for waiting in &self.waiting {
            let (whose, what) = match (waiting.here, waiting.newer) {
                (true, false) => ("this device".to_owned(), "its next push mends it"),
                (_, newer) => (
                    format!("device {}", short_device(&waiting.device)),
                    match newer {
                        true => "update aizo to read it",
                        false => "its own device mends it with its next push",
                    },
                ),
            };
            page.wrapped(&format!(
                "waits: {} of {whose} from line {} on: {}; {what}",
                count(waiting.lines, "line", "lines"),
                waiting.line,
                waiting.why
            ))?;
        }
        Ok(())
    }

    fn headline(&self) -> String {
        match self.devices.len() {
            0 => "nothing new from other devices".to_owned(),
            many => format!(
                "{} from {}",
                count(self.lines, "line", "lines"),
                count(many, "device", "devices")
            ),
        }
    }
}

impl Changes {
    pub(super) fn of(records: Vec<Differing>) -> Self {
        let mut changes = Changes::default();
        for record in records {
            let list = match record.how {
                How::Added => &mut changes.added,
                How::Changed => &mut changes.changed,
                How::Removed => &mut changes.removed,
            };
            list.push(Record {
                id: record.id,
                item: record.item,
                score_before: record.before,
                score_after: record.after,
                fields: record.fields,
            });
        }
        changes
    }

    fn add(&mut self, more: Changes) {
        self.added.extend(more.added);
        self.changed.extend(more.changed);
        self.removed.extend(more.removed);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }

    pub(super) fn write(&self, place: &str, page: &mut Page<'_>) -> io::Result<()> {
        for (what, records) in [
            ("added", &self.added),
            ("changed", &self.changed),
            ("removed", &self.removed),
        ] {
            for record in records.iter().take(MOST) {
                page.wrapped(&format!("{what}{place}: {}", record.describe()))?;
            }
            if records.len() > MOST {
                page.line(&format!("{what}{place}: {} more", records.len() - MOST))?;
            }
        }
        Ok(())
    }
}

impl Record {
    fn describe(&self) -> String {
        let score = |score: Option<f64>| score.map(Score::clamped);
        let score = match (score(self.score_before), score(self.score_after)) {
            (Some(before), Some(after)) if before != after => format!(" ({before} → {after})"),
            (Some(_), Some(score)) => format!(" ({score}: {})", self.what_changed()),
            (_, Some(score)) | (Some(score), None) => format!(" ({score})"),
            (None, None) => String::new(),
        };
        let lifted = match lifts(self.score_before, self.score_after) {
            true => format!("; {LIFTED}"),
            false => String::new(),
        };
        format!("{}{score}{lifted}", self.item)
    }

    /// What has changed beside the score.
    fn what_changed(&self) -> String {
        let mut fields: Vec<&str> = self.fields.iter().map(String::as_str).collect();
        let is_clock = |field: &&str| matches!(*field, "last_seen" | "touch_count");
        let was_used = fields.iter().any(is_clock);
        fields.retain(|field| !is_clock(field) && *field != "base_score");
        match (fields.is_empty(), was_used) {
            (false, _) => fields.join(", "),
            (true, true) => "used".to_owned(),
            (true, false) => "what was said of it".to_owned(),
        }
    }
}

impl Answer for Reply {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let would = if self.dry_run { "would be " } else { "" };
        if let Some(pulled) = &self.pulled {
            page.line(&format!("{would}pulled: {}", pulled.headline()))?;
            pulled.write(page)?;
        }
        if let Some(pushed) = &self.pushed {
            page.line(&match pushed.files.len() {
                0 => "pushed: nothing new here".to_owned(),
                _ => format!(
                    "{would}pushed: {} to {} ({})",
                    count(pushed.lines, "line", "lines"),
                    self.url,
                    self.branch
                ),
            })?;
        }
        Ok(())
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        to_json(self, out)
    }
}
