//! The reply of a write: what became of which entry.

use std::io::{self, Write};

use serde::Serialize;

use crate::model::{Preference, Score};
use crate::present::{Answer, Page, to_json};
use crate::redact::redact;

/// What is said of an entry that was a hard limit.
pub(super) const LIFTED: &str = "it is no hard limit any more, and stops no agent";

/// Whether scores tell that a hard limit is none any more, or gone.
pub(super) fn lifts(before: Option<f64>, after: Option<f64>) -> bool {
    let forbids = |score: Option<f64>| score.is_some_and(|it| Score::clamped(it).is_hard_limit());
    forbids(before) && !forbids(after)
}

/// What became of one entry.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Outcome {
    /// `added`, `merged`, `limited`, `kept`, `pending`, `updated`, `touched`, `cooldown`, `removed`, `not_found`.
    pub result: &'static str,
    /// The entry.
    pub id: Option<i64>,
    /// The number in review, for something pending.
    pub proposal: Option<i64>,
    /// Its item, or what was typed.
    pub item: String,
    /// The base score before; none for a new entry.
    pub score_before: Option<f64>,
    /// The base score after; none for one that is gone.
    pub score_after: Option<f64>,
    /// The number that `undo` takes; none when nothing was written.
    pub change: Option<i64>,
    /// What to do or to know.
    pub hint: Option<String>,
}

impl Outcome {
    /// The outcome for an entry whose score stays.
    pub(super) fn unchanged(result: &'static str, entry: &Preference, change: Option<i64>) -> Self {
        let score = Some(entry.base_score.value());
        Outcome {
            result,
            id: Some(entry.id),
            proposal: None,
            item: entry.item.clone(),
            score_before: score,
            score_after: score,
            change,
            hint: None,
        }
    }

    /// The outcome for a name that is not there.
    pub(super) fn not_found(typed: &str) -> Self {
        Outcome {
            result: "not_found",
            id: None,
            proposal: None,
            item: redact(typed).text.into_owned(),
            score_before: None,
            score_after: None,
            change: None,
            hint: None,
        }
    }

    fn line(&self) -> String {
        let score = |value: Option<f64>| value.map(Score::clamped);
        let mut details = Vec::new();
        match (score(self.score_before), score(self.score_after)) {
            (None, Some(after)) => details.push(format!("score {after}, {}", after.band())),
            (Some(before), Some(after)) if before != after => {
                details.push(format!("score {before} → {after}, {}", after.band()));
            }
            (_, Some(same)) => details.push(format!("score {same}, {}", same.band())),
            (Some(before), None) => details.push(format!("had score {before}")),
            (None, None) => {}
        }
        if let Some(id) = self.id {
            details.push(format!("id {id}"));
        }
        if let Some(proposal) = self.proposal {
            details.push(format!("proposal {proposal}"));
        }
        if let Some(change) = self.change {
            details.push(format!("change {change}"));
        }
        let details = if details.is_empty() {
            String::new()
        } else {
            format!("  ({})", details.join(", "))
        };
        format!("{}: {}{details}", self.result.replace('_', " "), self.item)
    }
}

impl Answer for Outcome {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.line(&self.line())?;
        match &self.hint {
            Some(hint) => page.line(&format!("  {hint}")),
            None => Ok(()),
        }
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        to_json(self, out)
    }
}

/// What became of several entries.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(super) struct Outcomes(pub Vec<Outcome>);

impl Answer for Outcomes {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        self.0.iter().try_for_each(|outcome| outcome.text(page))
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        to_json(self, out)
    }
}
