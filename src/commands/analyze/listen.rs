//! Which files are read, and what is heard in them.

use std::collections::BTreeMap;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

use super::reply::ModelUse;
use super::{Args, built_in, nothing_named};
use crate::analysis::Heard;
use crate::capture::{
    self, CaptureError, Cursor, Event, Host, Note, Reading, Surroundings, histories,
};
use crate::commands::Context;
use crate::error::{Failure, Kind};
use crate::model::{Stamp, Turn};
use crate::present::{self, Progress};
use crate::redact::{Scope, redact_in};

/// What is to be read.
pub(super) struct Wanted {
    /// Files, in the order in which they are read; none for standard input.
    pub files: Option<Vec<(PathBuf, Option<Host>)>>,
    /// The agent whose files these are, where the caller says so.
    pub agent: Option<Host>,
    /// Nothing that was said before counts.
    pub since: Option<DateTime<Utc>>,
    /// Whether files are read that were read before.
    pub again: bool,
}

/// Everything that one run heard, and how the files were.
#[derive(Default)]
pub(super) struct Listened {
    /// The findings.
    pub heard: Heard,
    /// The turns themselves, where a model is to read them; with the name of their file.
    pub turns: Vec<(Turn, String)>,
    /// The numbers of these turns, where they are not in a row.
    pub numbers: Vec<usize>,
    /// How far each file was read.
    pub cursors: Vec<(String, Cursor)>,
    /// Every file that was looked at.
    pub files: Vec<(String, Reading)>,
    /// Files that could not be read, and why.
    pub unreadable: Vec<(String, String)>,
    /// Turns that were said too early for `--since`, and turns that do not tell when they were said.
    pub too_early: usize,
    pub without_time: usize,
    /// How many turns no earlier run has heard, and in which conversations.
    pub new_turns: usize,
    pub sessions: BTreeMap<String, Vec<String>>,
    /// How many findings are about something that was forgotten since.
    pub forgotten: usize,
    /// How a model was used.
    pub model: Option<ModelUse>,
}

impl Wanted {
    /// What the arguments ask for.
    pub(super) fn of(args: &Args, context: &Context) -> anyhow::Result<Self> {
        let agent = args.agent.as_deref().map(parse_agent).transpose()?;
        let since = args
            .since
            .as_deref()
            .map(|text| parse_since(text, context.settings.now))
            .transpose()?;
        let from_stdin =
            args.paths.as_slice() == [PathBuf::from("-")] || args.paths.is_empty() && !args.all;
        let files = if args.all {
            let files = everything(agent)?;
            if files.is_empty() {
                context.note("no agent's history was found on this machine");
            }
            Some(files)
        } else if from_stdin {
            if args.paths.is_empty() && !present::is_stdin_piped() {
                return Err(nothing_named());
            }
            None
        } else {
            let files = capture::files(&args.paths)?;
            Some(files.into_iter().map(|file| (file, agent)).collect())
        };
        Ok(Wanted {
            files,
            agent,
            since,
            again: false,
        })
    }
}

/// The histories of every agent on this machine, or of one.
fn everything(agent: Option<Host>) -> anyhow::Result<Vec<(PathBuf, Option<Host>)>> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let found = histories(&Surroundings {
        home: dirs::home_dir(),
        variable: &variable,
    });
    let mut files = Vec::new();
    for history in found {
        if agent.is_none_or(|agent| agent == history.host) {
            let walked = capture::files(&history.paths)?;
            files.extend(walked.into_iter().map(|file| (file, agent)));
        }
    }
    Ok(files)
}

fn parse_agent(name: &str) -> anyhow::Result<Host> {
    name.parse()
        .map_err(|error: CaptureError| Failure::usage(error.to_string()).into())
}

/// A day, a moment, or a number of days, weeks or hours before now.
fn parse_since(text: &str, now: DateTime<Utc>) -> anyhow::Result<DateTime<Utc>> {
    let text = text.trim();
    if let Ok(day) = text.parse::<NaiveDate>() {
        let midnight = day.and_hms_opt(0, 0, 0).unwrap_or_default();
        return Ok(midnight.and_utc());
    }
    if let Some(moment) = Stamp(text.to_owned()).moment() {
        return Ok(moment);
    }
    let split = text.len() - text.chars().last().map_or(0, char::len_utf8);
    let (number, unit) = text.split_at(split);
    let ago = number.parse::<i64>().ok().and_then(|number| match unit {
        "h" => TimeDelta::try_hours(number),
        "d" => TimeDelta::try_days(number),
        "w" => TimeDelta::try_weeks(number),
        _ => None,
    });
    ago.and_then(|ago| now.checked_sub_signed(ago))
        .ok_or_else(|| {
            Failure::usage(format!("--since takes a day or an age, not `{text}`"))
                .hint("--since 2026-11-02, or --since 30d")
                .into()
        })
}

/// Reads what is wanted. `keep_turns` keeps the turns for a model, and leaves the looking for candidates to it.
pub(super) fn listen(
    wanted: &Wanted,
    keep_turns: bool,
    context: &Context,
) -> anyhow::Result<Listened> {
    let mut listened = Listened::default();
    let Some(files) = &wanted.files else {
        let mut sink = |event| listened.hear(event, "", wanted, keep_turns);
        let mut input = io::stdin().lock();
        if input.fill_buf()?.is_empty() {
            return Err(nothing_named());
        }
        let reading = capture::read_stream(&mut input, wanted.agent, &mut sink)?;
        listened.files.push(("standard input".to_owned(), reading));
        return Ok(listened);
    };
    let cursors = if wanted.again {
        vec![None; files.len()]
    } else {
        known_cursors(files, context)?
    };
    let total = files.iter().map(|(file, _)| size_of(file)).sum();
    let progress = Progress::new(total, !context.is_quiet());
    for ((file, host), cursor) in files.iter().zip(cursors) {
        let name = file.display().to_string();
        let mut left = size_of(file);
        let mut sink = |event| match event {
            Event::Read { bytes } => {
                // What is packed is shorter than what is read.
                let step = bytes.min(left);
                left -= step;
                progress.advance(step);
            }
            event => listened.hear(event, &name, wanted, keep_turns),
        };
        match capture::read_file(file, cursor.as_ref(), *host, &mut sink) {
            Ok(mut reading) => {
                // An earlier look with `--since` has passed turns over: only a whole reading is gone on from. What is no
                // transcript is said each time, and looked at again by a later version that may know it.
                if wanted.since.is_none()
                    && reading.host.is_some()
                    && (wanted.agent.is_none() || reading.turns > 0 || reading.continued)
                    && let Some(cursor) = reading.cursor.take()
                {
                    listened.cursors.push((name.clone(), cursor));
                }
                listened.files.push((name, reading));
            }
            Err(error) => listened.unreadable.push((name, error.to_string())),
        }
        progress.advance(left);
    }
    match listened.unreadable.first() {
        Some((_, message)) if listened.files.is_empty() => {
            Err(Failure::new(Kind::Io, message).into())
        }
        _ => Ok(listened),
    }
}

/// How far these files were read before.
fn known_cursors(
    files: &[(PathBuf, Option<Host>)],
    context: &Context,
) -> anyhow::Result<Vec<Option<Cursor>>> {
    let known = context.read(|view| {
        files
            .iter()
            .map(|(file, _)| Ok(view.cursor(&file.display().to_string())?))
            .collect::<anyhow::Result<Vec<Option<String>>>>()
    })?;
    let known = known.unwrap_or_else(|| vec![None; files.len()]);
    // A cursor of another version reads as none, and the file is read anew.
    Ok(known
        .into_iter()
        .map(|text| text.and_then(|text| serde_json::from_str(&text).ok()))
        .collect())
}

fn size_of(file: &Path) -> u64 {
    std::fs::metadata(file).map_or(0, |metadata| metadata.len())
}

impl Listened {
    fn hear(&mut self, event: Event, file: &str, wanted: &Wanted, keep_turns: bool) {
        match event {
            Event::Read { .. } => {}
            Event::Withdrawn { key } => {
                self.heard.withdraw(&key);
                self.turns.retain(|(turn, _)| turn.key != key);
            }
            Event::Turn(mut turn) => {
                if let Some(since) = wanted.since {
                    match turn.at.as_ref().and_then(Stamp::moment) {
                        Some(at) if at < since => {
                            self.too_early += 1;
                            return;
                        }
                        None => self.without_time += 1,
                        Some(_) => {}
                    }
                }
                // Before anything is looked at: a cut or a fold would hide what a secret is known by.
                turn.text = redact_in(&turn.text, Scope::Quote).text.into_owned();
                if keep_turns {
                    let is_new = self.heard.turns;
                    self.heard.hear(&turn, file, |_| Vec::new());
                    if self.heard.turns > is_new {
                        self.turns.push((turn, file.to_owned()));
                    }
                } else {
                    self.heard.hear(&turn, file, built_in);
                }
            }
        }
    }

    /// The number by which a model knows a turn.
    pub(super) fn number(&self, index: usize) -> usize {
        self.numbers.get(index).copied().unwrap_or(index + 1)
    }

    /// Whether files were read, and none of them is a transcript.
    pub(super) fn nothing_but_others(&self) -> bool {
        !self.files.is_empty()
            && self.unreadable.is_empty()
            && self
                .files
                .iter()
                .all(|(_, reading)| reading.note == Some(Note::NotATranscript))
    }

    /// How many files were as they had been before.
    pub(super) fn unchanged(&self) -> usize {
        let unchanged = |reading: &Reading| reading.note == Some(Note::Unchanged);
        self.files
            .iter()
            .filter(|(_, reading)| unchanged(reading))
            .count()
    }
}
