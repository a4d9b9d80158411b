//! `aizo history`: the journal as people read it.

use std::collections::HashMap;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;

use super::Context;
use super::entries::{count, parse_limit};
use super::resolve;
use crate::error::Failure;
use crate::error::Kind;
use crate::model::{JournalLine, Op, Origin, Score, Subject, Values, item_key};
use crate::present::{Align, Answer, Page, Table, Tone, to_json};
use crate::storage::{Source, View};

/// Arguments of `history`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo history
  aizo history \"concise code\" --json
  aizo history --limit 100
  aizo history --origin agent
  aizo history --session 4f1c2d9a

The number of a change is what `aizo undo` takes.")]
pub struct Args {
    /// The item, in one or several words, or its id; without any, all changes
    item: Vec<String>,
    /// Only what this one is behind: user, agent, analysis, import
    #[arg(long, value_name = "ORIGIN")]
    origin: Option<Origin>,
    /// Only what came of this conversation: its name or the beginning of it, or its number in aizo sessions
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// At most this many changes
    #[arg(short, long, value_name = "N", default_value = "50", value_parser = parse_limit, allow_negative_numbers = true)]
    limit: usize,
}

/// A journal line in JSON.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Line {
    change: i64,
    batch: String,
    at: String,
    op: &'static str,
    kind: &'static str,
    item: Option<String>,
    id: Option<i64>,
    origin: Origin,
    device: String,
    /// Whether that is another device than this one.
    #[serde(skip)]
    elsewhere: bool,
    undone: bool,
    /// The first change of the batch that this one took back.
    undoes: Option<i64>,
    before: Option<Values>,
    after: Option<Values>,
    /// The score that a record had here which another device removed.
    #[serde(skip)]
    score_here: Option<f64>,
    /// The score that an observation came with.
    observed_score: Option<f64>,
}

/// The changes, newest first.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Reply(Vec<Line>);

/// Runs `history`.
///
/// # Errors
/// No such entry, neither now nor earlier.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Reply> {
    let lines = context.read(|view| {
        let subject = if args.item.is_empty() {
            None
        } else {
            Some(subject_of(view, &args.item)?)
        };
        let session = args.session.as_deref();
        let session = session.map(|typed| resolve::conversation(view, typed));
        let session = session.transpose()?;
        let source = Source {
            subject: subject.as_ref(),
            origin: args.origin,
            session: session.as_deref(),
            // One more than is shown tells whether there is more.
            most: Some(args.limit.saturating_add(1)),
        };
        shown(view, view.journal_of(&source)?)
    })?;
    match lines {
        Some(mut lines) => {
            if lines.len() > args.limit {
                lines.truncate(args.limit);
                context.note(format!(
                    "only the newest are shown ({}); --limit N shows more",
                    count(args.limit, "change", "changes")
                ));
            }
            if lines.is_empty() {
                context.note(match (args.origin, &args.session) {
                    (None, None) => "nothing was changed yet",
                    _ => "no change comes from there",
                });
            }
            Ok(Reply(lines))
        }
        None if args.item.is_empty() => {
            context.note("nothing is stored yet");
            Ok(Reply(Vec::new()))
        }
        None => Err(resolve::nothing_stored(&args.item.join(" ")).into()),
    }
}

/// An entry that is there, or one that was.
fn subject_of(view: &View<'_>, words: &[String]) -> anyhow::Result<Subject> {
    match resolve::one(view, words) {
        Ok(entry) => Ok(Subject::Entry(entry.uid)),
        Err(error) => {
            let missing = error
                .downcast_ref::<Failure>()
                .is_some_and(|failure| failure.kind == Kind::NotFound);
            match view.removed_by_key(&item_key(&words.join(" ")))? {
                Some(uid) if missing => Ok(Subject::Entry(uid)),
                _ => Err(error),
            }
        }
    }
}

/// The newest lines, of one record or of all.
pub(super) fn lines_of(
    view: &View<'_>,
    subject: Option<&Subject>,
    most: usize,
) -> anyhow::Result<Vec<Line>> {
    shown(view, view.journal(subject, most)?)
}

/// Lines as people read them.
fn shown(view: &View<'_>, lines: Vec<JournalLine>) -> anyhow::Result<Vec<Line>> {
    let mut shown = Vec::new();
    let undone = view.undone_records()?;
    let here = view.device()?;
    let mut items: HashMap<Subject, Option<String>> = HashMap::new();
    for line in lines {
        let item = match items.get(&line.subject) {
            Some(item) => item.clone(),
            None => {
                let item = view.item_of(&line.subject)?;
                items.insert(line.subject.clone(), item.clone());
                item
            }
        };
        // Another device tells the score that it had there.
        let score_here = match (&line.before, &line.after) {
            (Some(_), None) if line.device != here => score_before(view, &line)?,
            _ => None,
        };
        let undoes = match &line.undoes {
            Some(batch) => view.first_of_batch(batch)?,
            None => None,
        };
        shown.push(Line {
            change: line.seq,
            at: line.at.0,
            op: line.op.name(),
            kind: line.subject.kind(),
            item,
            id: line.local_id,
            origin: line.origin,
            elsewhere: line.device != here,
            device: line.device,
            undone: undone.contains(&(line.batch.clone(), line.subject.uid().to_owned())),
            undoes,
            score_here,
            observed_score: line.added.first().and_then(|evidence| evidence.score),
            before: line.before,
            after: line.after,
            batch: line.batch,
        });
    }
    Ok(shown)
}

/// The score that a record had here before a line came.
fn score_before(view: &View<'_>, line: &JournalLine) -> anyhow::Result<Option<f64>> {
    let lines = view.journal_of(&Source {
        subject: Some(&line.subject),
        ..Source::default()
    })?;
    let score = |line: &JournalLine| line.after.as_ref()?.get("base_score")?.as_f64();
    let earlier = lines.iter().filter(|other| other.seq < line.seq);
    let scored = earlier.filter_map(|other| Some((&other.hlc, score(other)?)));
    let last = scored.max_by(|a, b| a.0.cmp(b.0));
    Ok(last.map(|(_, score)| score))
}

/// What a line did, in words: `score 9.0 → 7.8; keywords a → a, b`.
fn details(line: &Line) -> String {
    let mut parts = Vec::new();
    if let ("keep", Some(score)) = (line.op, line.observed_score) {
        parts.push(format!("score {} was not taken", Score::clamped(score)));
    }
    match (&line.before, &line.after) {
        (None, Some(values)) | (Some(values), None) => {
            let told = values.get("base_score").and_then(Value::as_f64);
            if let Some(score) = line.score_here.or(told) {
                parts.push(format!("score {}", Score::clamped(score)));
            }
            if let Some(why) = values.get("why").and_then(Value::as_str) {
                parts.push(why.to_owned());
            }
        }
        (Some(before), Some(after)) => {
            for (field, value) in after {
                if let ("base_score", Some(score)) = (field.as_str(), value.as_f64()) {
                    let old = before.get(field).and_then(Value::as_f64).unwrap_or(score);
                    let score = Score::clamped(score);
                    parts.push(match Score::clamped(old) {
                        old if old == score => format!("score {score} confirmed"),
                        old => format!("score {old} → {score}"),
                    });
                    continue;
                }
                // These change with everything and say nothing by themselves.
                if matches!(field.as_str(), "last_seen" | "touch_count") {
                    continue;
                }
                let old = before.get(field).map(short).unwrap_or_default();
                parts.push(format!(
                    "{} {old} → {}",
                    field.replace('_', " "),
                    short(value)
                ));
            }
        }
        (None, None) if line.op == Op::Forget.name() => {}
        (None, None) => parts.push("forgotten".to_owned()),
    }
    if let Some(target) = line.undoes {
        parts.insert(0, format!("took back change {target}"));
    }
    if line.elsewhere {
        parts.push(format!("on device {}", short_device(&line.device)));
    }
    if line.undone {
        parts.push("undone".to_owned());
    }
    parts.join("; ")
}

/// A device's name in few characters: the last ones, since the first are the time when it began.
pub(super) fn short_device(device: &str) -> String {
    const MOST: usize = 8;
    let skipped = device.chars().count().saturating_sub(MOST);
    device.chars().skip(skipped).collect()
}

/// A value in few characters.
fn short(value: &Value) -> String {
    const MOST: usize = 40;
    let text = match value {
        Value::Null => "(none)".to_owned(),
        Value::String(text) if text.is_empty() => "(none)".to_owned(),
        // Patterns stand one a line.
        Value::String(text) => text.replace('\n', "  "),
        Value::Array(names) if names.is_empty() => "(none)".to_owned(),
        Value::Array(names) => names
            .iter()
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
            .join(", "),
        other => other.to_string(),
    };
    if text.chars().count() <= MOST {
        return text;
    }
    let cut: String = text.chars().take(MOST - 1).collect();
    format!("{cut}…")
}

/// Writes lines as a table.
pub(super) fn table(lines: &[Line], page: &mut Page<'_>) -> io::Result<()> {
    let mut table = Table::new(&[
        ("CHANGE", Align::Right),
        ("WHEN (UTC)", Align::Short),
        ("WHAT", Align::Short),
        ("ITEM", Align::Left),
        ("HOW", Align::Left),
    ]);
    for line in lines {
        table.row(&[
            line.change.to_string(),
            line.at.get(..16).unwrap_or(&line.at).replace('T', " "),
            line.op.to_owned(),
            line.item.clone().unwrap_or_else(|| line.kind.to_owned()),
            details(line),
        ]);
        if line.undone {
            table.tone(&[0, 1, 2, 3, 4], Tone::Faint);
        }
    }
    page.table(&table)
}

impl Answer for Reply {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        table(&self.0, page)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        to_json(self, out)
    }
}
