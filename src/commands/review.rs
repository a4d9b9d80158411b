//! `aizo review`: what waits for a person, and their decision.

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde::Serialize;

use super::Context;
use super::outcome::{Outcome, Outcomes};
use super::record::record;
use super::why::Observed;
use crate::error::{Failure, Kind};
use crate::merge::Observation;
use crate::model::{Change, Op, Origin, Proposal, Score, Subject};
use crate::present::{Align, Answer, Page, Table, to_json};
use crate::storage::Transaction;

/// Arguments of `review`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo review
  aizo review accept 2
  aizo review reject 3 4")]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List what waits (the default)
    List,
    /// Take it over as if the user had stated it
    Accept {
        /// Numbers from the list
        #[arg(required = true, value_name = "ID", value_parser = parse_id)]
        ids: Vec<i64>,
    },
    /// Drop it
    Reject {
        /// Numbers from the list
        #[arg(required = true, value_name = "ID", value_parser = parse_id)]
        ids: Vec<i64>,
    },
}

fn parse_id(text: &str) -> Result<i64, String> {
    text.parse()
        .map_err(|_| format!("a number from aizo review, not `{text}`"))
}

/// What waits, in JSON.
#[derive(Debug, Serialize)]
pub struct Waiting {
    id: i64,
    item: String,
    reason: String,
    keywords: Vec<String>,
    scenarios: Vec<String>,
    score: Option<f64>,
    source: String,
    origin: Origin,
    proposed_at: String,
    why: String,
    evidence: Option<Observed>,
}

impl From<Proposal> for Waiting {
    fn from(proposal: Proposal) -> Self {
        Waiting {
            id: proposal.id,
            item: proposal.item,
            reason: proposal.reason,
            keywords: proposal.keywords,
            scenarios: proposal.scenarios,
            score: proposal.score,
            source: proposal.source,
            origin: proposal.origin,
            proposed_at: proposal.proposed_at.0,
            why: proposal.why,
            evidence: proposal.evidence.map(Observed::from),
        }
    }
}

/// What `review` replies.
pub enum Reply {
    /// The list.
    List(Vec<Waiting>),
    /// What became of those that were decided.
    Decided(Box<dyn Answer>),
}

/// Runs `review`.
///
/// # Errors
/// None of the numbers is in the list.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Reply> {
    let (ids, op) = match &args.action {
        None | Some(Action::List) => {
            let waiting = context
                .read(|view| Ok(view.proposals()?))?
                .unwrap_or_default();
            if waiting.is_empty() {
                context.note("nothing waits for review");
            }
            return Ok(Reply::List(
                waiting.into_iter().map(Waiting::from).collect(),
            ));
        }
        Some(Action::Accept { ids }) => (ids, Op::Accept),
        Some(Action::Reject { ids }) => (ids, Op::Reject),
    };
    let none = || {
        Failure::new(Kind::NotFound, "none of these waits for review")
            .hint("aizo review lists what does")
    };
    if !context.has_store()? {
        return Err(none().into());
    }
    context.write(|transaction| {
        let waiting = transaction.view().proposals()?;
        if ids
            .iter()
            .all(|id| waiting.iter().all(|proposal| proposal.id != *id))
        {
            return Err(none().into());
        }
        let mut outcomes = Vec::new();
        let mut decided = BTreeSet::new();
        for id in ids.iter().filter(|&&id| decided.insert(id)) {
            outcomes.push(match waiting.iter().find(|proposal| proposal.id == *id) {
                Some(proposal) => decide(transaction, proposal, op)?,
                None => Outcome::not_found(&id.to_string()),
            });
        }
        Ok(Reply::Decided(Box::new(Outcomes(outcomes))))
    })
}

fn decide(
    transaction: &mut Transaction<'_>,
    proposal: &Proposal,
    op: Op,
) -> anyhow::Result<Outcome> {
    let subject = Subject::Proposal(proposal.uid.clone());
    let applied = transaction.apply(&Change::delete(op, subject, Origin::User))?;
    if op == Op::Reject {
        return Ok(Outcome {
            result: "rejected",
            id: None,
            proposal: Some(proposal.id),
            item: proposal.item.clone(),
            score_before: None,
            score_after: None,
            change: applied.line,
            hint: None,
        });
    }
    // A person has said yes, so the entry counts as stated by the user; the observation stays what it was.
    record(
        transaction,
        &Observation {
            item: proposal.item.clone(),
            reason: proposal.reason.clone(),
            keywords: proposal.keywords.clone(),
            scenarios: proposal.scenarios.clone(),
            score: proposal.score.map(Score::clamped),
            source: proposal.source.clone(),
            origin: Origin::User,
            quote: None,
            evidence: proposal.evidence.clone(),
        },
    )
}

impl Answer for Reply {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let waiting = match self {
            Reply::Decided(answer) => return answer.text(page),
            Reply::List(waiting) => waiting,
        };
        let mut table = Table::new(&[
            ("ID", Align::Right),
            ("SCORE", Align::Right),
            ("FROM", Align::Short),
            ("ITEM", Align::Left),
            ("REASON", Align::Left),
            ("WHY IT WAITS", Align::Left),
        ]);
        for proposal in waiting {
            table.row(&[
                proposal.id.to_string(),
                proposal
                    .score
                    .map_or_else(String::new, |score| Score::clamped(score).to_string()),
                proposal.origin.to_string(),
                proposal.item.clone(),
                proposal.reason.clone(),
                proposal.why.clone(),
            ]);
        }
        page.table(&table)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Reply::Decided(answer) => answer.json(out),
            Reply::List(waiting) => to_json(waiting, out),
        }
    }
}
