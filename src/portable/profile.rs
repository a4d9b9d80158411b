//! Aizo's own format: a header, a row for each entry, for what waits and for the settings, for each change where they are
//! wanted, and an end with the sum of it all.
//!
//! As lines of JSON each row says its `type`; as one document the rows stand in lists. The rows are the same, and so is the
//! sum: one form can be made of the other. Fields are only ever added, with a new version.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::{
    EntryValues, Evidence, Origin, Preference, ProposalValues, Score, StableName, Stamp, Values,
    item_key, join_keywords, join_patterns, stable_name,
};
use crate::scoring::Decay;

/// What the header calls the format.
pub const FORMAT: &str = "aizo-profile";
/// The version of the format that this program writes.
pub const VERSION: i64 = 1;

/// The first row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// The version of the format.
    pub version: i64,
    /// The aizo that wrote it.
    pub aizo: String,
    /// Whether it was made fit for others to read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
}

impl Header {
    /// The header of what this program writes.
    pub fn new(redacted: bool) -> Self {
        Header {
            format: FORMAT.to_owned(),
            version: VERSION,
            aizo: env!("CARGO_PKG_VERSION").to_owned(),
            redacted,
        }
    }
}

/// An entry with all that stands behind it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Names it on every device.
    #[serde(default)]
    pub uid: String,
    /// The label.
    pub item: String,
    /// Why it matters.
    #[serde(default)]
    pub reason: String,
    /// Further words it is found by.
    #[serde(default)]
    pub keywords: Vec<String>,
    /// Kinds of task, sorted.
    #[serde(default)]
    pub scenarios: Vec<String>,
    /// 0 to 10.
    pub base_score: f64,
    /// The free label of where it came from.
    #[serde(default = "manual")]
    pub source: String,
    /// Who stands behind it.
    #[serde(default = "nobody_we_know")]
    pub origin: Origin,
    /// When it was first stored.
    #[serde(default = "no_time")]
    pub added_at: Stamp,
    /// When it was last confirmed.
    #[serde(default = "no_time")]
    pub last_seen: Stamp,
    /// How often it was applied or touched.
    #[serde(default)]
    pub touch_count: i64,
    /// What breaks it for certain.
    #[serde(default)]
    pub patterns: Vec<String>,
    /// The observations behind it, oldest first.
    #[serde(default)]
    pub evidence: Vec<Evidence>,
}

fn manual() -> String {
    "manual".to_owned()
}

fn nobody_we_know() -> Origin {
    Origin::Import
}

fn no_time() -> Stamp {
    Stamp(String::new())
}

/// What waits for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// Names it on every device.
    #[serde(default)]
    pub uid: String,
    /// The label.
    pub item: String,
    /// Why it matters.
    #[serde(default)]
    pub reason: String,
    /// Further words it would be found by.
    #[serde(default)]
    pub keywords: Vec<String>,
    /// Kinds of task.
    #[serde(default)]
    pub scenarios: Vec<String>,
    /// The score it asks for.
    #[serde(default)]
    pub score: Option<f64>,
    /// The free label of where it came from.
    #[serde(default = "manual")]
    pub source: String,
    /// Who proposes it.
    #[serde(default = "nobody_we_know")]
    pub origin: Origin,
    /// When it was proposed.
    #[serde(default = "no_time")]
    pub proposed_at: Stamp,
    /// Why it waits.
    #[serde(default)]
    pub why: String,
    /// What would break it for certain.
    #[serde(default)]
    pub patterns: Vec<String>,
    /// The observation it rests on.
    #[serde(default)]
    pub evidence: Option<Evidence>,
}

/// How fast things fade.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Days until half of it is gone.
    pub half_life_days: f64,
    /// What never goes.
    pub floor: f64,
}

impl From<Decay> for Settings {
    fn from(decay: Decay) -> Self {
        Settings {
            half_life_days: decay.half_life_days,
            floor: decay.floor,
        }
    }
}

/// A line of the journal, in the form that a sync gives it, and the device whose it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The device it was written on.
    pub device: String,
    /// The line.
    #[serde(flatten)]
    pub line: Values,
}

/// A row between header and end.
#[derive(Debug, Clone, PartialEq)]
pub enum Row {
    /// An entry.
    Entry(Box<Entry>),
    /// What waits.
    Proposal(Box<Proposal>),
    /// The settings.
    Settings(Settings),
    /// A change.
    Change(Box<Change>),
}

/// The last row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// How many entries there are.
    pub entries: usize,
    /// How much waits.
    pub proposals: usize,
    /// How many changes there are.
    pub changes: usize,
    /// What [`Sum`] makes of it.
    pub checksum: String,
}

/// A row as a line of JSON.
#[derive(Debug, Serialize)]
pub struct Line<'r, T> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(flatten)]
    row: &'r T,
}

impl<'r, T> Line<'r, T> {
    /// The line of a row.
    pub fn new(kind: &'static str, row: &'r T) -> Self {
        Line { kind, row }
    }
}

/// The whole as one document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Document {
    /// The header.
    #[serde(flatten)]
    pub header: Header,
    /// The entries.
    pub entries: Vec<Entry>,
    /// What waits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub proposals: Vec<Proposal>,
    /// The settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<Settings>,
    /// The changes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Change>,
    /// The end.
    pub end: End,
}

impl Row {
    /// What a line calls it.
    pub fn kind(&self) -> &'static str {
        match self {
            Row::Entry(_) => "entry",
            Row::Proposal(_) => "proposal",
            Row::Settings(_) => "settings",
            Row::Change(_) => "change",
        }
    }

    /// Reads a row of that kind.
    ///
    /// # Errors
    /// A kind that this version does not know, and values that are none of it.
    pub(super) fn read(kind: &str, mut value: Value) -> Result<Self, String> {
        let fault = |error: serde_json::Error| error.to_string();
        if let Some(fields) = value.as_object_mut() {
            // A change keeps whatever else it has.
            fields.shift_remove("type");
        }
        Ok(match kind {
            "entry" => Row::Entry(serde_json::from_value(value).map_err(fault)?),
            "proposal" => Row::Proposal(serde_json::from_value(value).map_err(fault)?),
            "settings" => Row::Settings(serde_json::from_value(value).map_err(fault)?),
            "change" => Row::Change(serde_json::from_value(value).map_err(fault)?),
            other => return Err(format!("a row of type `{other}` is unknown")),
        })
    }
}

/// Adds rows up, so that a file that was cut, damaged or changed by hand is told from one that is as aizo wrote it. It is no
/// signature: who means to deceive can compute it too.
#[derive(Debug, Clone, Default)]
pub struct Sum {
    name: StableName,
    entries: usize,
    proposals: usize,
    changes: usize,
}

impl Sum {
    /// Adds the header.
    pub fn begin(&mut self, header: &Header) {
        self.add("header", header);
    }

    /// Adds a row.
    pub fn row(&mut self, row: &Row) {
        match row {
            Row::Entry(entry) => {
                self.entries += 1;
                self.add(row.kind(), entry);
            }
            Row::Proposal(proposal) => {
                self.proposals += 1;
                self.add(row.kind(), proposal);
            }
            Row::Settings(settings) => self.add(row.kind(), settings),
            Row::Change(change) => {
                self.changes += 1;
                self.add(row.kind(), change);
            }
        }
    }

    /// The last row.
    pub fn end(&self) -> End {
        End {
            entries: self.entries,
            proposals: self.proposals,
            changes: self.changes,
            checksum: self.name.finish(),
        }
    }

    fn add(&mut self, kind: &str, row: &impl Serialize) {
        self.name.add(kind);
        let text = serde_json::to_string(row).expect("rows are texts and finite numbers");
        self.name.add(&text);
    }
}

impl Entry {
    /// The row of a stored entry. One that another program wrote has no name yet, and gets one that its item gives.
    pub fn of(stored: Preference, evidence: Vec<Evidence>) -> Self {
        let uid = if stored.uid.is_empty() {
            stable_name(&["entry", &item_key(&stored.item)])
        } else {
            stored.uid
        };
        Entry {
            uid,
            item: stored.item,
            reason: stored.reason,
            keywords: stored.keywords,
            scenarios: stored.scenarios,
            base_score: stored.base_score.value(),
            source: stored.source,
            origin: stored.origin,
            added_at: stored.added_at,
            last_seen: stored.last_seen,
            touch_count: stored.touch_count,
            patterns: stored.patterns,
            evidence,
        }
    }

    /// The entry as it would be stored; its observations stay behind.
    pub fn preference(&self) -> Preference {
        Preference {
            id: 0,
            uid: self.uid.clone(),
            item: self.item.clone(),
            reason: self.reason.clone(),
            keywords: self.keywords.clone(),
            scenarios: self.scenarios.clone(),
            base_score: Score::clamped(self.base_score),
            source: self.source.clone(),
            origin: self.origin,
            added_at: self.added_at.clone(),
            last_seen: self.last_seen.clone(),
            touch_count: self.touch_count,
            patterns: self.patterns.clone(),
        }
    }

    /// All values of the entry.
    pub fn values(&self) -> EntryValues {
        EntryValues {
            item: Some(self.item.clone()),
            reason: Some(self.reason.clone()),
            keywords: Some(join_keywords(&self.keywords)),
            scenarios: Some(self.scenarios.clone()),
            base_score: Some(self.base_score),
            source: Some(self.source.clone()),
            origin: Some(self.origin),
            added_at: Some(self.added_at.clone()),
            last_seen: Some(self.last_seen.clone()),
            touch_count: Some(self.touch_count),
            pattern: (!self.patterns.is_empty()).then(|| join_patterns(&self.patterns)),
        }
    }

    /// Names this state of the entry: the same in every file that holds it.
    pub fn state_name(&self) -> String {
        let state = Entry {
            uid: String::new(),
            evidence: Vec::new(),
            ..self.clone()
        };
        let text = serde_json::to_string(&state).expect("rows are texts and finite numbers");
        stable_name(&["imported", &item_key(&self.item), &text])
    }
}

impl Proposal {
    /// All values of the proposal.
    pub fn values(&self) -> ProposalValues {
        let evidence = self.evidence.as_ref().map(|evidence| {
            serde_json::to_string(evidence).expect("evidence is texts and finite numbers")
        });
        ProposalValues {
            item: self.item.clone(),
            reason: self.reason.clone(),
            keywords: join_keywords(&self.keywords),
            scenarios: join_keywords(&self.scenarios),
            score: self.score,
            source: self.source.clone(),
            origin: self.origin,
            proposed_at: self.proposed_at.clone(),
            why: self.why.clone(),
            evidence: evidence.unwrap_or_default(),
            pattern: join_patterns(&self.patterns),
        }
    }
}
