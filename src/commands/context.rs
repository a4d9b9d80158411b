//! `aizo context`: the block that an agent reads before it works.

use std::collections::HashSet;
use std::io::{self, Read, Write};
use std::time::Duration;

use serde::Serialize;

use super::Context;
use super::entries::{Filter, count, parse_limit, parse_scenario};
use super::input::{End, Patience, read_patiently};
use crate::model::Band;
use crate::present::{self, Answer, Page, to_json};
use crate::recall::context::{Block, Budget, Form, Group, Line, in_turn};
use crate::recall::{Hit, Meaning, Request};
use crate::scoring;
use crate::storage::View;

/// Bytes of a task that count.
pub(super) const LONGEST_TASK: usize = 8 * 1024;
/// How much an agent is told where nobody says anything else.
pub(super) const USUAL_BUDGET: Budget = Budget {
    tokens: 800,
    characters: 9500,
};
/// How long to wait for a task on standard input that nobody may have sent.
const PATIENCE: Duration = Duration::from_secs(1);
/// Up to this many words of a task may all stand in an entry.
const A_FEW_WORDS: usize = 4;
/// Up to this many entries are counted, to say how many are left out.
const COUNTED: usize = 50_000;

/// Arguments of `context`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo context \"write the release notes\" --scenario writing
  aizo context --budget 300 --format markdown
  git diff | aizo context --scenario auto

Hard limits come first and are all there; then what concerns the task and what belongs to the scenario (at most one
entry each for 64 tokens of the budget), and with what room is left the strongest of the rest, likes and dislikes alike.
Without preferences nothing is printed.")]
pub struct Args {
    /// The task; without one, what comes on standard input
    task: Vec<String>,
    /// The kind of task; `auto` picks the one nearest to the task
    #[arg(long, value_name = "NAME", value_parser = parse_scenario)]
    scenario: Option<String>,
    /// At most this many tokens; hard limits are there all the same
    #[arg(long, value_name = "TOKENS", default_value_t = USUAL_BUDGET.tokens, value_parser = parse_limit, allow_negative_numbers = true)]
    budget: usize,
    /// At most this many characters, whatever else
    #[arg(long, value_name = "N", default_value_t = USUAL_BUDGET.characters, value_parser = parse_limit, allow_negative_numbers = true)]
    max_chars: usize,
    /// The form
    #[arg(long, value_enum, default_value_t = Form::Prose)]
    format: Form,
}

impl Args {
    /// Whether the task is typed, so that standard input is not waited for.
    pub(super) fn names_the_task(&self) -> bool {
        !self.task.is_empty() && self.task != ["-"]
    }
}

/// The block and how it came about.
pub struct Reply {
    block: Block,
    form: Form,
    budget: usize,
    scenario: Option<String>,
}

/// The block in JSON.
#[derive(Serialize)]
struct Json<'r> {
    text: String,
    estimated_tokens: usize,
    budget: usize,
    scenario: Option<&'r str>,
    left_out: Option<usize>,
    limits_left_out: usize,
    limits_shortened: bool,
    waiting: usize,
    lines: &'r [Line],
}

/// Runs `context`.
///
/// # Errors
/// What the store reports.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Reply> {
    let budget = Budget {
        tokens: args.budget,
        characters: args.max_chars,
    };
    let task = task(&args.task, context)?;
    for_task(
        &task,
        args.scenario.as_deref(),
        budget,
        args.format,
        context,
    )
}

/// The block for a task, with what there is to say about it.
///
/// # Errors
/// What the store reports.
pub(super) fn for_task(
    task: &str,
    named: Option<&str>,
    budget: Budget,
    form: Form,
    context: &Context,
) -> anyhow::Result<Reply> {
    let scenario = scenario(named, task, context);
    let block = block(task, scenario.clone(), budget, form, context)?;
    if !block.fits() {
        context.note(format!(
            "{} characters hold no block: ask for more, or aizo recall --type taboo",
            budget.characters
        ));
    } else if block.limits_left_out > 0 {
        context.note(format!(
            "{} did not fit into {} characters: aizo recall --type taboo",
            count(block.limits_left_out, "hard limit", "hard limits"),
            budget.characters
        ));
    }
    Ok(Reply {
        block,
        form,
        budget: budget.tokens,
        scenario,
    })
}

/// The block for a task, which may be empty: every hard limit, what concerns the task, what belongs to the scenario, and
/// the strongest of the rest. One read of the store.
///
/// # Errors
/// What the store reports.
pub(crate) fn block(
    task: &str,
    scenario: Option<String>,
    budget: Budget,
    form: Form,
    context: &Context,
) -> anyhow::Result<Block> {
    let filter = Filter {
        bands: Vec::new(),
        scenario,
        min_score: None,
    };
    let tagged = filter.request(context);
    let now = context.settings.now;
    let ordinary = || Band::ALL[1..].to_vec();
    let found = context.read(|view| {
        let find =
            |request: Request| -> anyhow::Result<Vec<Hit>> { Ok(view.find(&request, now)?.hits) };
        let limits = find(Request {
            bands: vec![Band::Taboo],
            ..Request::default()
        })?;
        let mut others = Vec::new();
        if !task.is_empty() {
            let words = task.split_whitespace().count();
            let concerned = Request {
                meaning: if words <= A_FEW_WORDS {
                    Meaning::Also
                } else {
                    Meaning::Only
                },
                ..Request::for_text(task)
            };
            // Limits are all there anyway; those that concern the task say so.
            others.extend(find(Request {
                bands: vec![Band::Taboo],
                ..concerned.clone()
            })?);
            others.extend(find(Request {
                bands: ordinary(),
                limit: Some(budget.most_concerned()),
                ..concerned
            })?);
        }
        if tagged.scenario.is_some() {
            others.extend(of_scenario(&tagged, budget.most_concerned(), find)?);
        }
        others.extend(view.standing(budget.most_lines(), now)?);
        // Said where a session begins, and not with every task.
        let waiting = if task.is_empty() {
            view.count_proposals()?
        } else {
            0
        };
        Ok((limits, others, view.count_up_to(COUNTED)?, waiting))
    })?;
    let (mut limits, others, stored, waiting) =
        found.unwrap_or((Vec::new(), Vec::new(), Some(0), 0));
    if limits.is_empty() && others.is_empty() {
        context.note("nothing is stored yet");
    }
    let mut seen: HashSet<i64> = HashSet::new();
    let mut kept = Vec::new();
    for hit in others {
        if hit.preference.is_hard_limit() {
            if let Some(limit) = limits
                .iter_mut()
                .find(|limit| limit.preference.id == hit.preference.id)
                && limit.found.is_none()
            {
                limit.found = hit.found;
            }
        } else if seen.insert(hit.preference.id) {
            kept.push(hit);
        }
    }
    // Where there is no room for all of them, those that concern the task go first; then the lowest score and the
    // newest, as where lists are cut.
    limits.sort_by(|a, b| {
        let score = |hit: &Hit| hit.preference.base_score.value();
        let concerns = |hit: &Hit| hit.found.is_some();
        concerns(b)
            .cmp(&concerns(a))
            .then_with(|| score(a).total_cmp(&score(b)))
    });
    let unseen = stored.map(|stored| stored.saturating_sub(limits.len() + kept.len()));
    let block = Block::compose(&limits, &kept, unseen, budget, form);
    Ok(block.with_waiting(waiting, budget, form))
}

/// The block for what the person has just asked of an agent that was told of some entries already: what concerns it and is
/// new to the agent, hard limits first. Empty where nothing is. One read of the store.
///
/// # Errors
/// What the store reports.
pub(crate) fn news(
    task: &str,
    told: impl Fn(&View<'_>) -> anyhow::Result<HashSet<i64>>,
    budget: Budget,
    context: &Context,
) -> anyhow::Result<Block> {
    let now = context.settings.now;
    let words = task.split_whitespace().count();
    let concerned = |bands: Vec<Band>, limit| Request {
        bands,
        limit,
        meaning: if words <= A_FEW_WORDS {
            Meaning::Also
        } else {
            Meaning::Only
        },
        ..Request::for_text(task)
    };
    let found = context.read(|view| {
        let told = told(view)?;
        // What was told must not take the place of what was not; and no limit is cut off.
        let new = |bands, limit: Option<usize>| -> anyhow::Result<Vec<Hit>> {
            let limit = limit.map(|limit| limit.saturating_add(told.len()));
            let mut hits = view.find(&concerned(bands, limit), now)?.hits;
            hits.retain(|hit| !told.contains(&hit.preference.id));
            Ok(hits)
        };
        let most = budget.most_concerned();
        let mut others = new(Band::ALL[1..].to_vec(), Some(most))?;
        others.truncate(most);
        Ok((new(vec![Band::Taboo], None)?, others))
    })?;
    let (limits, mut others) = found.unwrap_or_default();
    others.retain(|hit| !hit.preference.is_hard_limit());
    Ok(Block::compose(
        &limits,
        &others,
        Some(0),
        budget,
        Form::Prose,
    ))
}

/// What belongs to the kind of task: the most strongly felt, and some of each group.
pub(super) fn of_scenario(
    tagged: &Request,
    most: usize,
    find: impl Fn(Request) -> anyhow::Result<Vec<Hit>>,
) -> anyhow::Result<Vec<Hit>> {
    let mut hits = Vec::new();
    for (bands, most) in [
        // Weights put the mildest dislikes first, so that more of them are looked at.
        (vec![Band::Aversion], most.saturating_mul(4)),
        (vec![Band::Style, Band::Preference], most),
        (vec![Band::Habit], most),
    ] {
        hits.extend(find(Request {
            bands,
            limit: Some(most),
            ..tagged.clone()
        })?);
    }
    let strength = |hit: &Hit| scoring::strength(hit.preference.base_score, hit.weight.coefficient);
    hits.sort_by(|a, b| strength(b).total_cmp(&strength(a)));
    hits.dedup_by_key(|hit| hit.preference.id);
    let mut hits = in_turn(hits, |hit| Group::of(hit.preference.band()));
    hits.truncate(most);
    Ok(hits)
}

/// The task: what was typed, else what comes on standard input.
fn task(words: &[String], context: &Context) -> io::Result<String> {
    let typed = words.join(" ");
    if !words.is_empty() && typed != "-" {
        return Ok(typed);
    }
    if typed == "-" {
        let mut bytes = Vec::new();
        let most = u64::try_from(LONGEST_TASK).unwrap_or(u64::MAX);
        io::stdin().lock().take(most).read_to_end(&mut bytes)?;
        return Ok(String::from_utf8_lossy(&bytes).trim().to_owned());
    }
    if !present::is_stdin_piped() {
        return Ok(String::new());
    }
    // An agent may leave a pipe open that nothing comes through. What cannot be read is no task.
    let patience = Patience {
        part: PATIENCE,
        whole: PATIENCE,
    };
    let most = u64::try_from(LONGEST_TASK).unwrap_or(u64::MAX);
    let sent = match read_patiently(most, patience, |_| false) {
        Ok(sent) => sent,
        Err(_) => return Ok(String::new()),
    };
    if sent.end == End::Open {
        context.note(if sent.bytes.is_empty() {
            "no task came on standard input within a second: name it, or use `-` to wait for it"
        } else {
            "standard input stayed open: what came within a second is the task"
        });
    }
    Ok(String::from_utf8_lossy(&sent.bytes).trim().to_owned())
}

/// The scenario that was named, or the one nearest to the task.
fn scenario(named: Option<&str>, task: &str, context: &Context) -> Option<String> {
    let named = named?;
    if !named.eq_ignore_ascii_case("auto") {
        return Some(named.to_owned());
    }
    let nearest = context
        .scenarios()
        .nearest(task)
        .map(|scenario| scenario.name.clone());
    match &nearest {
        Some(name) => context.note(format!("scenario: {name}")),
        None => context.note("no scenario is near to the task"),
    }
    nearest
}

impl Reply {
    /// The block as it is printed.
    pub(super) fn block(&self) -> String {
        self.block.text(self.form)
    }
}

impl Answer for Reply {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        if self.form == Form::Json {
            return self.json(page.out());
        }
        page.block(&self.block())
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        to_json(
            &Json {
                text: self.block(),
                estimated_tokens: self.block.estimated_tokens(self.form),
                budget: self.budget,
                scenario: self.scenario.as_deref(),
                left_out: self.block.left_out,
                limits_left_out: self.block.limits_left_out,
                limits_shortened: self.block.limits_shortened,
                waiting: self.block.waiting,
                lines: &self.block.lines,
            },
            out,
        )
    }
}
