//! `aizo check`: which limits a plan, a command, a patch or a draft breaks.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::Context;
use super::entries::count;
use super::input::is_plain_file;
use crate::check::{self, Certainty, Finding, Findings, Input};
use crate::error::{Failure, Kind};
pub(crate) use crate::model::beginning;
use crate::model::{Band, Origin, Preference, Score, quoted};
use crate::present::{self, Answer, Page, to_json};
use crate::recall::{Hit, Match, Meaning, Relevance, Request};

use super::Reply;

/// More than this is not checked, and not in part either: an answer about half a text would pass for one about all.
pub(super) const LONGEST: u64 = 8 * 1024 * 1024;
/// Bytes of a text whose meaning is looked at.
const LONGEST_TASK: usize = 8 * 1024;

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo check --command \"git push --force origin main\"
  git diff --staged | aizo check
  aizo check --file draft.md --all
  aizo check '1. run the tests  2. clean up by `rm -rf build`' --json

Three ways, each named in the answer: a pattern of the entry matches (violated); the words of its
item or one of its keywords are in the text (asks); it is near in meaning, or what matches is only
looked for (may concern). Only a pattern of something that the user stated is certain. Exit code 0:
nothing certain; 3: a violation; 1: nothing certain, and the pattern of an entry that is named could
not be looked for.

Patterns are attached by `aizo add` and `aizo update --pattern`: a regular expression (^ and $ are
the ends of a line, (?i) takes small and large letters alike), or one of the detectors:
  @emoji       pictures, flags and keycaps; not ©, arrows or digits
  @em-dash     — and, in prose, hyphens with spaces around them
  @force-push  git push with force to what the item names, or to @force-push:main,release/*
  @push        git push to the branches that the item names, or to main and master
  @rm-rf       rm with recursion and force
  @secret      keys, tokens, passwords, private keys")]
pub struct Args {
    /// The plan or draft; `-` or none for what comes on standard input. Of a patch the added lines count
    #[arg(conflicts_with_all = ["command", "file"])]
    text: Vec<OsString>,
    /// A command line or script that is about to run; `-` for standard input
    #[arg(
        long,
        value_name = "CMD",
        conflicts_with = "file",
        allow_hyphen_values = true
    )]
    command: Option<OsString>,
    /// A file
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Dislikes too (below 4), not only hard limits
    #[arg(long)]
    all: bool,
}

/// An entry that a text breaks or may break, as it is told.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Violation {
    pub id: i64,
    pub item: String,
    pub reason: String,
    pub keywords: Vec<String>,
    pub scenarios: Vec<String>,
    pub base_score: f64,
    pub source: String,
    pub band: Band,
    pub hard_limit: bool,
    pub origin: Origin,
    /// How sure that is.
    pub certainty: Certainty,
    /// The detector that matched.
    pub detector: Option<&'static str>,
    /// The pattern that matched, as it is stored.
    pub pattern: Option<String>,
    /// What stands there.
    #[serde(rename = "match")]
    pub found: Option<String>,
    /// Where it begins, in bytes of UTF-8.
    pub start: Option<usize>,
    /// Where it ends.
    pub end: Option<usize>,
    /// The line, from 1.
    pub line: Option<usize>,
    /// The character in the line, from 1.
    pub column: Option<usize>,
    /// Whether nothing is done with what stands there.
    #[serde(skip)]
    pub is_idle: bool,
    /// The words of the entry that stand in the text.
    pub matched: Vec<String>,
    /// How much it concerns the text, 0 to 1.
    pub relevance: Option<f64>,
    /// The command that lifts it.
    pub lift: String,
}

/// A pattern that cannot be used.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Unusable {
    pub id: i64,
    pub item: String,
    pub pattern: String,
    pub error: String,
}

/// What a check found.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Checked {
    /// Whether something is broken for certain.
    pub violated: bool,
    /// How many entries were looked at.
    pub checked: usize,
    /// What is or may be broken, the surest first.
    pub violations: Vec<Violation>,
    /// Patterns that could not be used.
    pub unusable_patterns: Vec<Unusable>,
}

impl Violation {
    fn of(finding: &Finding<'_>) -> Self {
        let entry = finding.entry.clone();
        let place = finding.place.as_ref();
        Violation {
            id: entry.id,
            band: entry.band(),
            hard_limit: entry.is_hard_limit(),
            lift: format!("aizo update {} --score N", quoted(&entry.item)),
            item: entry.item,
            reason: entry.reason,
            keywords: entry.keywords,
            scenarios: entry.scenarios,
            base_score: entry.base_score.value(),
            source: entry.source,
            origin: entry.origin,
            certainty: finding.certainty,
            detector: finding.detector.map(check::Detector::name),
            pattern: finding.pattern.clone(),
            found: finding.found.clone(),
            start: place.map(|place| place.range.start),
            end: place.map(|place| place.range.end),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            is_idle: finding.is_idle,
            matched: finding.words.clone(),
            relevance: finding.relevance,
        }
    }

    /// What led to it: `@force-push: “git push -f” (line 1, column 4)`.
    pub(crate) fn why(&self) -> String {
        let by = match (&self.pattern, self.relevance) {
            (Some(pattern), _) => pattern.clone(),
            (None, Some(relevance)) => format!("relevance {relevance:.2}"),
            (None, None) => format!("its words: {}", self.matched.join(", ")),
        };
        match (&self.found, self.line, self.column) {
            (Some(found), Some(line), Some(column)) => {
                format!("{by}: “{found}” (line {line}, column {column})")
            }
            (Some(found), ..) => format!("{by}: the file “{found}”"),
            _ if self.pattern.is_some() => {
                format!("{by}: not looked for in all of it, that takes too long")
            }
            _ => by,
        }
    }
}

impl From<&Findings<'_>> for Checked {
    fn from(findings: &Findings<'_>) -> Self {
        Checked {
            violated: findings.is_violated(),
            checked: findings.checked,
            violations: findings.findings.iter().map(Violation::of).collect(),
            unusable_patterns: findings
                .unusable
                .iter()
                .map(|unusable| Unusable {
                    id: unusable.id,
                    item: unusable.item.to_owned(),
                    pattern: unusable.pattern.to_owned(),
                    error: unusable.error.message.clone(),
                })
                .collect(),
        }
    }
}

/// Checks an input against the hard limits of the store, and with `all` against what is disliked too. One read of the
/// store; what cannot be used of it is noted.
///
/// # Errors
/// What the store reports: where it cannot be read, nothing is said about the limits.
pub(crate) fn look(context: &Context, input: &Input<'_>, all: bool) -> anyhow::Result<Checked> {
    let bands: &[Band] = match all {
        true => &[Band::Taboo, Band::Aversion],
        false => &[Band::Taboo],
    };
    let task = beginning(input.text, LONGEST_TASK);
    let (entries, related) = read(context, bands, Some(task))?;
    let mut findings = check::check(&entries, input);
    for hit in related {
        let Some(found) = hit.found.filter(|found| found.how == Match::Related) else {
            continue;
        };
        if let (Some(relevance), Some(entry)) = (
            found.relevance.as_ref().map(Relevance::rounded),
            entries.iter().find(|entry| entry.id == hit.preference.id),
        ) {
            findings.add_related(entry, relevance, &found.matched);
        }
    }
    note_unusable(&findings, context);
    Ok(Checked::from(&findings))
}

/// The hard limits of the store.
///
/// # Errors
/// What the store reports: where it cannot be read, nothing is said about the limits.
pub(crate) fn hard_limits(context: &Context) -> anyhow::Result<Vec<Preference>> {
    let (limits, _) = read(context, &[Band::Taboo], None)?;
    Ok(limits)
}

/// Checks an input against limits by their patterns and words alone; what cannot be used of them is noted.
pub(crate) fn hold_against(limits: &[Preference], input: &Input<'_>, context: &Context) -> Checked {
    let findings = check::check(limits, input);
    note_unusable(&findings, context);
    Checked::from(&findings)
}

/// The entries of these bands that speak against something, and those that are near in meaning to a task.
fn read(
    context: &Context,
    bands: &[Band],
    task: Option<&str>,
) -> anyhow::Result<(Vec<Preference>, Vec<Hit>)> {
    let now = context.settings.now;
    let read = context.read(|view| {
        let entries = view.find(
            &Request {
                bands: bands.to_vec(),
                ..Request::default()
            },
            now,
        )?;
        let Some(task) = task else {
            return Ok((entries, Vec::new()));
        };
        let related = view.find(
            &Request {
                bands: bands.to_vec(),
                meaning: Meaning::Only,
                ..Request::for_text(task)
            },
            now,
        )?;
        Ok((entries, related.hits))
    })?;
    let Some((entries, related)) = read else {
        context.note("nothing is stored yet");
        return Ok((Vec::new(), Vec::new()));
    };
    if !entries.any_stored {
        context.note("nothing is stored");
    }
    // The highest score of a dislike is the lowest of a habit too, and no reason to stand in the way.
    let entries = entries
        .hits
        .into_iter()
        .map(|hit| hit.preference)
        .filter(|entry| matches!(entry.band(), Band::Taboo | Band::Aversion))
        .collect();
    Ok((entries, related))
}

/// Says which patterns were not looked for.
fn note_unusable(findings: &Findings<'_>, context: &Context) {
    for unusable in &findings.unusable {
        if unusable.is_slow {
            context.note(format!(
                "a pattern of “{}” (id {}) was not checked: {}",
                unusable.item, unusable.id, unusable.error
            ));
            continue;
        }
        context.note(format!(
            "a pattern of “{}” (id {}) cannot be used, so that its words alone are looked for: {}",
            unusable.item, unusable.id, unusable.error
        ));
        context.note(format!(
            "hint: aizo update {} --pattern REGEX",
            quoted(unusable.item)
        ));
    }
}

/// Runs `check`.
///
/// # Errors
/// Nothing to check, a file that cannot be read, what the store reports. A violation is none.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Reply> {
    // What is no text is checked as far as it is one: an error might pass for "nothing found".
    let typed: Vec<Cow<'_, str>> = args
        .text
        .iter()
        .map(|word| word.to_string_lossy())
        .collect();
    let typed = typed.join(" ");
    let file = args.file.as_ref().map(|file| file.to_string_lossy());
    let from_stdin = match &args.command {
        Some(command) => command == "-",
        None => args.file.is_none() && (typed == "-" || args.text.is_empty()),
    };
    let text = if from_stdin {
        if args.text.is_empty() && args.command.is_none() && !present::is_stdin_piped() {
            return Err(Failure::usage("there is nothing to check")
                .hint(
                    "name a text, --command CMD or --file FILE, or send it: git diff | aizo check",
                )
                .into());
        }
        read_all(io::stdin().lock(), "standard input")?
    } else if let (Some(path), Some(file)) = (&args.file, &file) {
        let cannot = |error: io::Error| {
            Failure::new(Kind::Io, format!("cannot read {file}: {error}"))
                .hint("nothing was checked; name a file that can be read")
        };
        // A pipe or a device may have no end.
        if !is_plain_file(path).map_err(cannot)? {
            let no_file =
                Failure::new(Kind::Io, format!("cannot read {file}: it is no plain file"));
            return Err(no_file
                .hint("nothing was checked; what a program writes is sent: git diff | aizo check")
                .into());
        }
        read_all(std::fs::File::open(path).map_err(cannot)?, file)?
    } else {
        let command = args.command.as_ref();
        command.map_or(typed, |command| command.to_string_lossy().into_owned())
    };
    if text.trim().is_empty() {
        context.note("the text is empty");
    }
    if let [word] = &args.text[..]
        && !from_stdin
        && is_plain_file(Path::new(word)).unwrap_or(false)
    {
        let name = quoted(&word.to_string_lossy());
        context.note(format!(
            "{name} is a file, of which the name alone was checked"
        ));
        context.note(format!("hint: aizo check --file {name}"));
    }
    let input = match (&args.command, &args.file) {
        (Some(_), _) => Input::command(&text),
        (None, _) => Input {
            path: file.as_deref(),
            ..Input::text(&text)
        },
    };
    let checked = look(context, &input, args.all)?;
    let violated = checked.violated;
    let missing = not_checked(&checked);
    let answer = Box::new(checked);
    Ok(match missing {
        _ if violated => Reply::Violation(answer),
        Some(failure) => Reply::Incomplete(answer, failure),
        None => Reply::Answer(answer),
    })
}

/// What to say where a pattern could not be used: an answer without it might pass for one about all.
fn not_checked(checked: &Checked) -> Option<Failure> {
    let mut names: Vec<String> = Vec::new();
    for unusable in &checked.unusable_patterns {
        let name = format!("“{}” (id {})", unusable.item, unusable.id);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let message = format!("not checked for certain: {}", names.join(", "));
    let failure = Failure::new(Kind::Failed, message).hint(
        "what was found is on standard output; check the text in parts, or give the entry another \
         pattern: aizo update ITEM --pattern REGEX",
    );
    (!names.is_empty()).then_some(failure)
}

fn read_all(from: impl Read, name: &str) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    from.take(LONGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| {
            Failure::new(Kind::Io, format!("cannot read {name}: {error}"))
                .hint("nothing was checked")
        })?;
    if bytes.len() as u64 > LONGEST {
        return Err(Failure::new(
            Kind::Io,
            format!(
                "{name} holds more than {} MiB; nothing was checked",
                LONGEST >> 20
            ),
        )
        .hint("check it in parts")
        .into());
    }
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

impl Answer for Checked {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        if self.violations.is_empty() {
            return page.line(&format!(
                "nothing found ({} checked)",
                count(self.checked, "entry", "entries")
            ));
        }
        for violation in &self.violations {
            let how = match violation.certainty {
                Certainty::Pattern => "violated",
                // Nobody is asked about it: a hook says nothing.
                Certainty::Words if violation.is_idle => "may concern",
                Certainty::Words => "asks",
                Certainty::MayConcern => "may concern",
            };
            page.wrapped(&format!(
                "{how}: {}  ({} {}, id {})",
                violation.item,
                if violation.hard_limit {
                    "hard limit"
                } else {
                    "dislike"
                },
                Score::clamped(violation.base_score),
                violation.id
            ))?;
            page.wrapped(&format!("  {}", violation.why()))?;
            if !violation.reason.is_empty() {
                page.wrapped_faint(&format!("  reason: {}", violation.reason))?;
            }
            if violation.certainty == Certainty::Pattern {
                page.wrapped_faint(&format!("  to lift it: {}", violation.lift))?;
            }
        }
        Ok(())
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        to_json(self, out)
    }
}
