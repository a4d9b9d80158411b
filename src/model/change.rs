//! The only thing that alters the store, as a value.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    Evidence, Origin, Score, Stamp, TextError, check_text, split_keywords, split_patterns,
};

/// Named column values, as a journal line holds them.
pub type Values = Map<String, Value>;

/// What was done. The names are written to the journal and never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// A new entry.
    Add,
    /// An existing entry was seen again; scores were smoothed.
    Merge,
    /// An ordinary entry became a hard limit.
    Limit,
    /// A hard limit was confronted with an ordinary score and stayed.
    Keep,
    /// Fields were set outright.
    Update,
    /// Keywords were set.
    Tag,
    /// The decay clock was reset.
    Touch,
    /// An entry was used.
    Apply,
    /// An entry was removed.
    Remove,
    /// Everything was removed.
    Clear,
    /// Something waits for a person.
    Propose,
    /// A person said yes.
    Accept,
    /// A person said no.
    Reject,
    /// A setting was changed.
    Config,
    /// A batch was taken back.
    Undo,
    /// A row was found when the journal began.
    Baseline,
    /// A row was found that another program wrote.
    Adopt,
    /// A record is forgotten for good, on every device; its lines have no values any more.
    Forget,
}

impl Op {
    const ALL: [(Op, &'static str); 18] = [
        (Op::Add, "add"),
        (Op::Merge, "merge"),
        (Op::Limit, "limit"),
        (Op::Keep, "keep"),
        (Op::Update, "update"),
        (Op::Tag, "tag"),
        (Op::Touch, "touch"),
        (Op::Apply, "apply"),
        (Op::Remove, "remove"),
        (Op::Clear, "clear"),
        (Op::Propose, "propose"),
        (Op::Accept, "accept"),
        (Op::Reject, "reject"),
        (Op::Config, "config"),
        (Op::Undo, "undo"),
        (Op::Baseline, "baseline"),
        (Op::Adopt, "adopt"),
        (Op::Forget, "forget"),
    ];

    /// The word in the journal.
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(op, _)| *op == self)
            .map_or("unknown", |(_, name)| name)
    }
}

impl FromStr for Op {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .iter()
            .find(|(_, name)| *name == text)
            .map(|(op, _)| *op)
            .ok_or_else(|| format!("`{text}` is not an operation of this version"))
    }
}

/// Which record a change is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// A preference, by uid.
    Entry(String),
    /// A proposal in review, by uid.
    Proposal(String),
    /// A record of an analysed session, by its number.
    Session(String),
    /// The decay settings, of which there is one row.
    Decay,
}

impl Subject {
    /// The word in the journal.
    pub fn kind(&self) -> &'static str {
        match self {
            Subject::Entry(_) => "entry",
            Subject::Proposal(_) => "proposal",
            Subject::Session(_) => "session",
            Subject::Decay => "decay",
        }
    }

    /// The name within its kind.
    pub fn uid(&self) -> &str {
        match self {
            Subject::Entry(uid) | Subject::Proposal(uid) | Subject::Session(uid) => uid,
            Subject::Decay => "1",
        }
    }

    /// Reads what a journal line holds.
    ///
    /// # Errors
    /// A kind that this version does not know.
    pub fn read(kind: &str, uid: &str) -> Result<Self, String> {
        match kind {
            "entry" => Ok(Subject::Entry(uid.to_owned())),
            "proposal" => Ok(Subject::Proposal(uid.to_owned())),
            "session" => Ok(Subject::Session(uid.to_owned())),
            "decay" => Ok(Subject::Decay),
            _ => Err(format!("`{kind}` is not a kind of record of this version")),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind(), self.uid())
    }
}

/// What becomes of the record.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// It begins to exist with these values.
    Create(Values),
    /// These of its values are set; the others stay.
    Set(Values),
    /// It exists no more.
    Delete,
}

/// One change to one record. Storage adds the values before, and the time, and writes it down.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// What was done.
    pub op: Op,
    /// To which record.
    pub subject: Subject,
    /// Who is behind it.
    pub origin: Origin,
    /// What becomes of the record.
    pub effect: Effect,
    /// Observations that come with it; only entries have any.
    pub evidence: Vec<Evidence>,
}

/// The values of an entry; absent ones are not touched.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EntryValues {
    /// The label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// Why it matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The keywords column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keywords: Option<String>,
    /// The scenarios, sorted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenarios: Option<Vec<String>>,
    /// The base score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_score: Option<f64>,
    /// The free label of where it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Who stands behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// When it was first stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added_at: Option<Stamp>,
    /// When it was last confirmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<Stamp>,
    /// How often it was applied or touched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub touch_count: Option<i64>,
    /// The patterns column; the inner none empties it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Option<String>>,
}

/// The values of a proposal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProposalValues {
    /// The label of the entry it is about.
    pub item: String,
    /// Why it matters.
    pub reason: String,
    /// The keywords column.
    pub keywords: String,
    /// The scenarios, comma-separated.
    pub scenarios: String,
    /// The score it asks for.
    pub score: Option<f64>,
    /// The free label of where it came from.
    pub source: String,
    /// Who proposes it.
    pub origin: Origin,
    /// When it was proposed.
    pub proposed_at: Stamp,
    /// Why it waits.
    pub why: String,
    /// The observation, as JSON; empty when there is none.
    pub evidence: String,
    /// The patterns column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

/// The values of a proposal that a person may change; absent ones are not touched.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ProposalEdit {
    /// The label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// Why it matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The keywords column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keywords: Option<String>,
    /// The scenarios, sorted, comma-separated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenarios: Option<String>,
    /// The score it asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

/// Turns a struct of values into what a journal line holds.
pub(crate) fn values_of<T: Serialize>(values: &T) -> Values {
    match serde_json::to_value(values) {
        Ok(Value::Object(map)) => map,
        _ => unreachable!("a struct of texts and numbers is always a JSON object"),
    }
}

impl Change {
    /// A change that creates an entry.
    pub fn create_entry(op: Op, uid: String, origin: Origin, values: &EntryValues) -> Self {
        Change {
            op,
            subject: Subject::Entry(uid),
            origin,
            effect: Effect::Create(values_of(values)),
            evidence: Vec::new(),
        }
    }

    /// A change that sets some of an entry's values.
    pub fn set_entry(op: Op, uid: &str, origin: Origin, values: &EntryValues) -> Self {
        Change {
            op,
            subject: Subject::Entry(uid.to_owned()),
            origin,
            effect: Effect::Set(values_of(values)),
            evidence: Vec::new(),
        }
    }

    /// A change that ends a record.
    pub fn delete(op: Op, subject: Subject, origin: Origin) -> Self {
        Change {
            op,
            subject,
            origin,
            effect: Effect::Delete,
            evidence: Vec::new(),
        }
    }

    /// A change that puts something into review.
    pub fn propose(uid: String, values: &ProposalValues) -> Self {
        Change {
            op: Op::Propose,
            subject: Subject::Proposal(uid),
            origin: values.origin,
            effect: Effect::Create(values_of(values)),
            evidence: Vec::new(),
        }
    }

    /// A change of what waits in review.
    pub fn edit_proposal(uid: String, origin: Origin, values: &ProposalEdit) -> Self {
        Change {
            op: Op::Update,
            subject: Subject::Proposal(uid),
            origin,
            effect: Effect::Set(values_of(values)),
            evidence: Vec::new(),
        }
    }

    /// Why a proposal waits; none for any other change.
    pub fn why_it_waits(&self) -> Option<String> {
        match (&self.subject, &self.effect) {
            (Subject::Proposal(_), Effect::Create(values)) => {
                values.get("why")?.as_str().map(str::to_owned)
            }
            _ => None,
        }
    }

    /// Adds an observation to the change.
    #[must_use]
    pub fn with_evidence(mut self, evidence: Evidence) -> Self {
        self.evidence.push(evidence);
        self
    }

    /// Checks the new values of a change before its line is written, since a line is for ever. What was
    /// there `before` is not measured by today's rules.
    ///
    /// # Errors
    /// A text or score that may not enter the store.
    pub fn validate(&self, before: Option<&Values>) -> Result<(), ChangeError> {
        if !matches!(self.subject, Subject::Entry(_)) {
            return Ok(());
        }
        let text_before = |field: &str| before.and_then(|values| values.get(field)?.as_str());
        let (Effect::Create(values) | Effect::Set(values)) = &self.effect else {
            return Ok(());
        };
        for field in ["item", "reason"] {
            if let Some(text) = values.get(field).and_then(Value::as_str)
                && text_before(field) != Some(text)
                && check_text(field, text)? != text
            {
                return Err(ChangeError::NotTrimmed { field });
            }
        }
        if let Some(column) = values.get("keywords").and_then(Value::as_str) {
            let known = split_keywords(text_before("keywords").unwrap_or_default());
            for keyword in split_keywords(column) {
                if !known.contains(&keyword) {
                    check_text("keyword", &keyword)?;
                }
            }
        }
        if let Some(column) = values.get("pattern").and_then(Value::as_str) {
            let known = split_patterns(text_before("pattern").unwrap_or_default());
            for pattern in split_patterns(column) {
                if !known.contains(&pattern) {
                    check_text("pattern", &pattern)?;
                }
            }
        }
        if let Some(score) = values.get("base_score").and_then(Value::as_f64) {
            Score::new(score)?;
        }
        Ok(())
    }
}

/// Says why a change may not be written.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ChangeError {
    /// A text that may not enter the store.
    #[error(transparent)]
    Text(#[from] TextError),
    /// A number that is not a score.
    #[error(transparent)]
    Score(#[from] super::ScoreError),
    /// A text that did not pass [`check_text`] on its way.
    #[error("the {field} was not prepared for the store")]
    NotTrimmed {
        /// Which text.
        field: &'static str,
    },
}
