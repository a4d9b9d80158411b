//! `aizo review`: what waits for a person, and their decision.

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde::Serialize;

use super::Context;
use super::entries::count;
use super::limits::{Limits, stays_in_force};
use super::outcome::{Outcome, Outcomes};
use super::record::record;
use super::why::Observed;
use crate::error::{Failure, Kind};
use crate::merge::Observation;
use crate::model::{
    Band, Change, EntryValues, Op, Origin, Preference, Proposal, ProposalEdit, Score, Stamp,
    Subject, check_text, item_key, join_keywords, parse_keywords,
};
use crate::poison::is_suspicion;
use crate::present::{Align, Answer, Page, Table, to_json};
use crate::storage::Transaction;

/// Arguments of `review`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo review
  aizo review accept 2
  aizo review edit 3 --score 2.5 --item \"emojis in code\"
  aizo review reject 3 4
  aizo review reject --all")]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

impl Args {
    /// Whether something is decided or changed, and not only listed.
    pub(super) fn decides(&self) -> bool {
        !matches!(self.action, None | Some(Action::List))
    }
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List what waits (the default)
    List,
    /// Take it over as if the user had stated it
    Accept(Which),
    /// Drop it
    Reject(Which),
    /// Change what waits, before it is accepted
    Edit(Edit),
}

/// What a decision is about.
#[derive(Debug, clap::Args)]
struct Which {
    /// Numbers from the list
    #[arg(value_name = "ID", required_unless_present = "all", value_parser = parse_id)]
    ids: Vec<i64>,
    /// Everything that waits
    #[arg(long, conflicts_with = "ids")]
    all: bool,
}

/// What is changed; what is not named stays.
#[derive(Debug, clap::Args)]
struct Edit {
    /// A number from the list
    #[arg(value_name = "ID", value_parser = parse_id)]
    id: i64,
    /// Another item
    #[arg(long)]
    item: Option<String>,
    /// Another reason
    #[arg(long)]
    reason: Option<String>,
    /// Another score, from 0 (never) to 10 (always)
    #[arg(short, long, value_name = "0-10", allow_negative_numbers = true)]
    score: Option<Score>,
    /// Other keywords, comma-separated; none clears them
    #[arg(long, value_name = "A,B", num_args = 0..=1, default_missing_value = "")]
    keywords: Option<String>,
    /// Other scenarios, comma-separated; none clears them
    #[arg(long, value_name = "A,B", num_args = 0..=1, default_missing_value = "")]
    scenarios: Option<String>,
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
    pattern: Vec<String>,
}

impl Waiting {
    /// The observation, where it was made in a conversation.
    fn found(&self) -> Option<&Observed> {
        let observed = self.evidence.as_ref()?;
        (observed.is_of_a_conversation() && !observed.quote().is_empty()).then_some(observed)
    }

    /// The reason, where it is not the very quote that is shown below.
    fn reason_beside_the_quote(&self) -> &str {
        match self.found() {
            Some(observed) if observed.quote() == self.reason => "",
            _ => &self.reason,
        }
    }
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
            pattern: proposal.patterns,
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
/// None of the numbers is in the list, nothing to change, a value that may not enter the store.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Reply> {
    let (which, op) = match &args.action {
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
        Some(Action::Accept(which)) => (which, Op::Accept),
        Some(Action::Reject(which)) => (which, Op::Reject),
        Some(Action::Edit(edited)) => {
            let outcome = edit(edited, context)?;
            return Ok(Reply::Decided(Box::new(outcome)));
        }
    };
    if !context.has_store()? {
        return match which.all {
            true => Ok(nothing_waits(context)),
            false => Err(no_such_number().into()),
        };
    }
    context.write(|transaction| {
        let waiting = transaction.view().proposals()?;
        let mut ids = match which.all {
            true => waiting.iter().map(|proposal| proposal.id).collect(),
            false => which.ids.clone(),
        };
        if which.all && op == Op::Accept {
            let asks = one_by_one(transaction, &waiting, context)?;
            ids.retain(|id| !asks.contains(id));
            if ids.is_empty() && !asks.is_empty() {
                return Ok(Reply::Decided(Box::new(Outcomes(Vec::new()))));
            }
        }
        if which.all && ids.is_empty() {
            return Ok(nothing_waits(context));
        }
        if ids
            .iter()
            .all(|id| waiting.iter().all(|proposal| proposal.id != *id))
        {
            return Err(no_such_number().into());
        }
        let mut decided = BTreeSet::new();
        ids.retain(|id| decided.insert(*id));
        let mut outcomes = Vec::new();
        for id in ids {
            outcomes.push(match waiting.iter().find(|proposal| proposal.id == id) {
                Some(proposal) => decide(transaction, proposal, op)?,
                None => Outcome::not_found(&id.to_string()),
            });
        }
        Ok(Reply::Decided(Box::new(Outcomes(outcomes))))
    })
}

/// What is accepted by its number alone: what would lift a hard limit, and what may speak to the model.
fn one_by_one(
    transaction: &Transaction<'_>,
    waiting: &[Proposal],
    context: &Context,
) -> anyhow::Result<Vec<i64>> {
    let mut lifting = Vec::new();
    let mut suspected = Vec::new();
    for proposal in waiting {
        if lifted_by(transaction, proposal)?.is_some() {
            lifting.push(proposal.id);
        } else if is_suspicion(&proposal.why) {
            suspected.push(proposal.id);
        }
    }
    let say = |ids: &[i64], one: &str, many: &str| {
        if let Some(first) = ids.first() {
            let what = count(ids.len(), one, many);
            context.note(format!("{what}: aizo review accept {first}"));
        }
    };
    say(
        &lifting,
        "that would lift a hard limit waits",
        "that would lift hard limits wait",
    );
    say(
        &suspected,
        "that may speak to the model waits",
        "that may speak to the model wait",
    );
    lifting.extend(suspected);
    Ok(lifting)
}

fn no_such_number() -> Failure {
    Failure::new(Kind::NotFound, "none of these waits for review")
        .hint("aizo review lists what does")
}

fn nothing_waits(context: &Context) -> Reply {
    context.note("nothing waits for review");
    Reply::Decided(Box::new(Outcomes(Vec::new())))
}

/// Changes what waits. The observation that it rests on stays what it was.
fn edit(edited: &Edit, context: &Context) -> anyhow::Result<Outcome> {
    let clean = |text: &str| context.without_secrets(text);
    let text = |field: &'static str, text: &Option<String>| {
        let text = text.as_deref();
        text.map(|text| check_text(field, &clean(text))).transpose()
    };
    let list = |field: &'static str, words: &Option<String>| {
        let words = words.as_deref();
        words
            .map(|words| parse_keywords(field, &clean(words)))
            .transpose()
    };
    let scenarios = list("scenario", &edited.scenarios)?.map(|mut names| {
        names.sort();
        names
    });
    let values = ProposalEdit {
        item: text("item", &edited.item)?,
        reason: text("reason", &edited.reason)?,
        score: edited.score.map(Score::value),
        keywords: list("keyword", &edited.keywords)?.map(|words| join_keywords(&words)),
        scenarios: scenarios.map(|names| join_keywords(&names)),
    };
    if values == ProposalEdit::default() {
        return Err(Failure::usage("nothing to change")
            .hint("give one of --item, --reason, --score, --keywords, --scenarios")
            .into());
    }
    if !context.has_store()? {
        return Err(no_such_number().into());
    }
    context.write(|transaction| {
        let waiting = transaction.view().proposals()?;
        let proposal = waiting
            .into_iter()
            .find(|proposal| proposal.id == edited.id)
            .ok_or_else(no_such_number)?;
        let change = Change::edit_proposal(proposal.uid, Origin::User, &values);
        let applied = transaction.apply(&change)?;
        Ok(Outcome {
            result: "updated",
            id: None,
            proposal: Some(proposal.id),
            item: values.item.clone().unwrap_or(proposal.item),
            score_before: proposal.score,
            score_after: values.score.or(proposal.score),
            change: applied.line,
            hint: Some(match applied.line {
                Some(_) => format!("it still waits: aizo review accept {}", proposal.id),
                None => "it was so already".to_owned(),
            }),
        })
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
    let mut accepted = match lift(transaction, proposal)? {
        Some(lifted) => lifted,
        None => take_over(transaction, proposal)?,
    };
    if let Some(score) = proposal.score.map(Score::clamped)
        && score.band() != Band::Aversion
        && !score.is_hard_limit()
    {
        let hints = accepted.hint.into_iter();
        let mut hints: Vec<String> = hints.chain(limits_beside(transaction, proposal)?).collect();
        hints.dedup();
        accepted.hint = (!hints.is_empty()).then(|| hints.join("; "));
    }
    Ok(accepted)
}

/// Stores what waited. A person has said yes, so the entry counts as stated by the user; the observation stays what it was.
fn take_over(transaction: &mut Transaction<'_>, proposal: &Proposal) -> anyhow::Result<Outcome> {
    let mut limits = Limits::of(&transaction.view())?;
    record(
        transaction,
        &mut limits,
        &Observation {
            item: proposal.item.clone(),
            reason: proposal.reason.clone(),
            keywords: proposal.keywords.clone(),
            scenarios: proposal.scenarios.clone(),
            patterns: proposal.patterns.clone(),
            score: proposal.score.map(Score::clamped),
            source: proposal.source.clone(),
            origin: Origin::User,
            quote: None,
            evidence: proposal.evidence.clone(),
        },
    )
}

/// What to do about the hard limits that speak of the same thing under other names: they stay in force until they are
/// lifted. That something waited for speaking against one is said by why it waited.
fn limits_beside(
    transaction: &Transaction<'_>,
    proposal: &Proposal,
) -> anyhow::Result<Vec<String>> {
    let limits = Limits::of(&transaction.view())?;
    let beside = limits.about(&proposal.item, &proposal.why);
    Ok(beside
        .map(|limit| stays_in_force(limit.id, &limit.item))
        .collect())
}

/// The hard limit of the same name that a proposal speaks against, and the score that it would have.
fn lifted_by(
    transaction: &Transaction<'_>,
    proposal: &Proposal,
) -> anyhow::Result<Option<(Preference, Score)>> {
    let entry = transaction.view().entry_by_key(&item_key(&proposal.item))?;
    let score = proposal.score.map(Score::clamped);
    let found = entry.zip(score);
    Ok(found.filter(|(entry, score)| entry.base_score.is_hard_limit() && !score.is_hard_limit()))
}

/// Lifts the hard limit of the same name that a proposal speaks against: the person has just decided so. Added again, the
/// limit would stay what it is.
fn lift(transaction: &mut Transaction<'_>, proposal: &Proposal) -> anyhow::Result<Option<Outcome>> {
    let Some((entry, score)) = lifted_by(transaction, proposal)? else {
        return Ok(None);
    };
    let values = EntryValues {
        base_score: Some(score.value()),
        reason: (!proposal.reason.is_empty()).then(|| proposal.reason.clone()),
        last_seen: Some(Stamp::at(transaction.now())),
        ..EntryValues::default()
    };
    let mut change = Change::set_entry(Op::Update, &entry.uid, Origin::User, &values);
    if let Some(evidence) = &proposal.evidence {
        change = change.with_evidence(evidence.clone());
    }
    let applied = transaction.apply(&change)?;
    Ok(Some(Outcome {
        result: "updated",
        id: Some(entry.id),
        proposal: None,
        item: entry.item,
        score_before: Some(entry.base_score.value()),
        score_after: Some(score.value()),
        change: applied.line,
        hint: Some("it is no hard limit any more".to_owned()),
    }))
}

impl Answer for Reply {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let waiting = match self {
            Reply::Decided(answer) => return answer.text(page),
            Reply::List(waiting) => waiting,
        };
        let has_reasons = waiting
            .iter()
            .any(|proposal| !proposal.reason_beside_the_quote().is_empty());
        let mut columns = vec![
            ("ID", Align::Right),
            ("SCORE", Align::Right),
            ("FROM", Align::Short),
            ("ITEM", Align::Left),
        ];
        columns.extend(has_reasons.then_some(("REASON", Align::Left)));
        columns.push(("WHY IT WAITS", Align::Left));
        let mut table = Table::new(&columns);
        for proposal in waiting {
            let mut row = vec![
                proposal.id.to_string(),
                proposal
                    .score
                    .map_or_else(String::new, |score| Score::clamped(score).to_string()),
                proposal.origin.to_string(),
                proposal.item.clone(),
            ];
            row.extend(has_reasons.then(|| proposal.reason_beside_the_quote().to_owned()));
            row.push(proposal.why.clone());
            table.row(&row);
            if let Some(score) = proposal.score {
                table.tone(&[1], Score::clamped(score).band().into());
            }
        }
        page.table(&table)?;
        for proposal in waiting {
            if let Some(found) = proposal.found() {
                page.line("")?;
                page.wrapped(&format!("{}: “{}”", proposal.id, found.quote()))?;
                page.wrapped_faint(&format!("  {}", found.said_where()))?;
            }
        }
        if let Some(first) = waiting.first() {
            page.line("")?;
            page.wrapped_faint(&format!(
                "to take one over: aizo review accept {0}; to drop it: aizo review reject {0}; to change it first: aizo review edit {0}",
                first.id
            ))?;
        }
        Ok(())
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Reply::Decided(answer) => answer.json(out),
            Reply::List(waiting) => to_json(waiting, out),
        }
    }
}
