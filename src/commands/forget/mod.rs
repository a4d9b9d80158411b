//! `aizo forget`: erases entries for good, on every device and in every copy that aizo keeps.

mod choose;
mod pay;
mod reply;

use super::Context;
use super::entries::count;
use crate::error::{Failure, Kind};
use crate::model::{Score, quoted};
use crate::present;
use crate::storage::{Mention, Record, View};
use choose::{Choice, choose};
use reply::{Elsewhere, Reply};

pub(super) use pay::{Paid, pay};

/// Arguments of `forget`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo forget \"long meetings\" --dry-run
  aizo forget 3
  aizo forget shellfish --all-evidence

For good: the entry, what was said of it, its history, the index, and aizo's copies of the store. It travels with a sync, and
is not learned again from what was said before. A part of a name is asked about. `aizo remove` is the one that can be undone.")]
pub struct Args {
    /// The item, in one or several words, its id, or words of it
    #[arg(required = true)]
    item: Vec<String>,
    /// Also the words of whatever else speaks of it: quotes behind other entries, and their reasons
    #[arg(long)]
    all_evidence: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Say what would be forgotten, and change nothing
    #[arg(long)]
    dry_run: bool,
}

impl Args {
    /// The words that name the entries.
    pub(super) fn named(&self) -> &[String] {
        &self.item
    }
}

/// What is to be forgotten.
struct Plan {
    records: Vec<Record>,
    mentions: Vec<Mention>,
    /// Words that are no record's name, where they stand in what was said of others.
    said: Option<String>,
    /// Whether what was typed is neither a whole name nor an id.
    is_part: bool,
}

impl Plan {
    /// What the words mean.
    ///
    /// # Errors
    /// The entries that they may mean, where they are several.
    fn of(
        view: &View<'_>,
        words: &[String],
        all_evidence: bool,
    ) -> anyhow::Result<Result<Self, Vec<Record>>> {
        let (records, said, is_part) = match choose(view, words, all_evidence)? {
            Choice::Several(several) => return Ok(Err(several)),
            Choice::Records(records) => (records, None, false),
            Choice::Part(records) => (records, None, true),
            Choice::Said {
                words,
                was_forgotten,
            } => (Vec::new(), Some(words), !was_forgotten),
        };
        Ok(Ok(Plan {
            mentions: match &said {
                Some(words) => view.mentions_of(&[words], all_evidence)?,
                None => view.mentions(&records, all_evidence)?,
            },
            records,
            said,
            is_part,
        }))
    }

    /// The items that are sought elsewhere, each once.
    fn items(&self) -> Vec<&str> {
        let items = self.records.iter().map(|record| record.item.as_str());
        let mut items: Vec<&str> = items.chain(self.said.as_deref()).collect();
        items.sort_unstable();
        items.dedup();
        items
    }

    fn limits(&self) -> Vec<&Record> {
        let limits = self.records.iter();
        limits.filter(|record| record.is_hard_limit()).collect()
    }

    /// The words that the log is searched for.
    fn words(&self) -> Vec<String> {
        let words = self.records.iter().flat_map(Record::words);
        words
            .chain(self.said.as_deref())
            .map(str::to_owned)
            .collect()
    }
}

/// Runs `forget`.
///
/// # Errors
/// Nothing of that name, several things, nobody who said yes, and what the store reports.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Reply> {
    context.require_store(&args.item)?;
    let is_behind = context.read(|view| Ok(view.has_outside_changes()?))?;
    if is_behind == Some(true) && !args.dry_run {
        // What another program wrote is in the journal first, so that it is found there.
        context.write(|_| Ok(()))?;
    }
    let mut words = args.item.clone();
    let plan = loop {
        match context.read(|view| Plan::of(view, &words, args.all_evidence))? {
            None => return Err(super::resolve::nothing_stored(&words.join(" ")).into()),
            Some(Err(several)) => words = vec![one_of(&several)?],
            Some(Ok(plan)) => break plan,
        }
    };
    let elsewhere = Elsewhere::of(&plan, context);
    if args.dry_run {
        return Ok(Reply::rehearsed(&plan, elsewhere, &args.item.join(" ")));
    }
    confirm(&plan, args)?;
    let (plan, change) = context.write(|transaction| {
        let Ok(now) = Plan::of(&transaction.view(), &words, args.all_evidence)? else {
            return Err(has_changed().into());
        };
        if (&now.records, &now.said) != (&plan.records, &plan.said) {
            return Err(has_changed().into());
        }
        let erasures: Vec<_> = now.mentions.iter().flat_map(Mention::erasures).collect();
        transaction.forget(&now.records, &erasures)?;
        context.remember_forgotten(now.words());
        Ok((now, transaction.change_number()))
    })?;
    let paid = context.paid.take().unwrap_or_default();
    Ok(Reply::done(&plan, elsewhere, change, paid))
}

fn has_changed() -> Failure {
    Failure::new(
        Kind::Conflict,
        "the store has changed meanwhile, and nothing was forgotten",
    )
    .hint("say it again")
}

/// Asks which of several entries is meant.
fn one_of(several: &[Record]) -> anyhow::Result<String> {
    const MOST: usize = 20;
    let named = |record: &Record| {
        let id = record.id.map_or_else(String::new, |id| format!("{id} "));
        format!("{id}“{}”", record.item)
    };
    let mut list: Vec<String> = several.iter().take(MOST).map(named).collect();
    if several.len() > MOST {
        list.push(format!("{} more", several.len() - MOST));
    }
    let list = list.join(", ");
    if !present::is_interactive() {
        let message = format!("that may be several entries, and nothing was forgotten: {list}");
        return Err(Failure::usage(message).hint("aizo forget ID").into());
    }
    let answer = present::ask(&format!("Which one? {list}\nIts id: "))?;
    let answer = answer.trim().trim_start_matches('#').to_owned();
    match answer.parse::<i64>() {
        Ok(id) if several.iter().any(|record| record.id == Some(id)) => Ok(answer),
        _ => Err(Failure::new(Kind::Failed, "nothing was forgotten").into()),
    }
}

/// A hard limit, and what has only a part of what was typed, is forgotten only by somebody who was asked.
fn confirm(plan: &Plan, args: &Args) -> anyhow::Result<()> {
    let limits = plan.limits();
    if args.yes || limits.is_empty() && !plan.is_part {
        return Ok(());
    }
    let typed = args.item.join(" ");
    let hint = format!("aizo forget {} --yes", quoted(&typed));
    if plan.is_part {
        let what = format!(
            "“{typed}” is no whole item, and this would go for good: {}",
            reply::told(plan)
        );
        return match present::is_interactive() {
            true => agreed(&format!("{what}.")),
            false => Err(Failure::usage(format!(
                "{what}; nothing was forgotten, as nobody is there to be asked"
            ))
            .hint(hint)
            .into()),
        };
    }
    let named = |record: &&Record| {
        let score = record.score.map_or(Score::MIN, Score::clamped);
        format!("“{}” ({score})", record.item)
    };
    let list: Vec<String> = limits.iter().map(named).collect();
    let list = list.join(", ");
    let what = if limits.len() == 1 {
        "is a hard limit"
    } else {
        "are hard limits"
    };
    if !present::is_interactive() {
        return Err(Failure::usage(format!(
            "{list} {what}, which stops no agent any more once it is forgotten, and nobody is there to be asked"
        ))
        .hint(hint)
        .into());
    }
    let others = match plan.records.len() - limits.len() {
        0 => String::new(),
        more => format!(", and {}", count(more, "other record", "other records")),
    };
    agreed(&format!("{list} {what}. Forget for good{others}?"))
}

/// Asks, and fails where the answer is not yes.
fn agreed(question: &str) -> anyhow::Result<()> {
    if present::confirmed(question)? {
        Ok(())
    } else {
        Err(Failure::new(Kind::Failed, "nothing was forgotten").into())
    }
}

impl Context {
    /// Remembers the words of what was just forgotten, until the log has lost them.
    pub(super) fn remember_forgotten(&self, words: Vec<String>) {
        self.forgotten.borrow_mut().extend(words);
    }
}
