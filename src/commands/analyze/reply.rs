//! How an analysis is told: what was learned, with the person's own words, and what was read.

use std::collections::HashMap;
use std::io::{self, Write};

use serde::Serialize;

use super::listen::Listened;
use super::settle::counted;
use crate::analysis::Finding;
use crate::capture::{Note, Problem};
use crate::commands::entries::count;
use crate::merge::{Lesson, Merge, Outcome};
use crate::model::{Preference, Score};
use crate::present::{Answer, Page, to_json};
use crate::storage::Applied;

/// One thing that was learned, or waits.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Learned {
    result: &'static str,
    id: Option<i64>,
    proposal: Option<i64>,
    item: String,
    /// The item's words in this conversation, where the entry is known by others.
    said_as: Option<String>,
    score: f64,
    score_before: Option<f64>,
    score_after: Option<f64>,
    kind: &'static str,
    quote: String,
    agent: String,
    session: String,
    place: String,
    said_at: String,
    confidence: f64,
    cues: Vec<String>,
    /// Why it waits.
    why: Option<String>,
    change: Option<i64>,
    /// Whether it is a limit that no pattern stands behind.
    #[serde(skip)]
    only_told: bool,
}

impl Learned {
    pub(super) fn of(
        finding: &Finding,
        lesson: &Lesson,
        merge: &Merge,
        entry: Option<&Preference>,
        applied: Option<&Applied>,
    ) -> Self {
        let pending = merge.outcome == Outcome::Pending;
        let item = &lesson.seen.item;
        let known_as = entry.map(|entry| &entry.item).filter(|_| !pending);
        let number = applied.map(|applied| applied.id).filter(|&id| id > 0);
        Learned {
            result: merge.outcome.name(),
            id: if pending {
                entry.map(|entry| entry.id).filter(|&id| id > 0)
            } else {
                number.or_else(|| entry.map(|entry| entry.id).filter(|&id| id > 0))
            },
            proposal: number.filter(|_| pending),
            item: known_as.unwrap_or(item).clone(),
            said_as: known_as
                .filter(|known| *known != item)
                .map(|_| item.clone()),
            score: finding.candidate.score,
            score_before: entry.map(|entry| entry.base_score.value()),
            score_after: merge.score.map(Score::value),
            kind: finding.candidate.kind.name(),
            quote: lesson.evidence.quote.clone(),
            agent: finding.agent.clone(),
            session: finding.session.clone(),
            place: finding.place.clone(),
            said_at: lesson.evidence.at.0.clone(),
            confidence: finding.candidate.confidence,
            cues: finding.candidate.cues.clone(),
            why: pending.then(|| merge.change.why_it_waits()).flatten(),
            change: applied.and_then(|applied| applied.line),
            only_told: merge.score.is_some_and(Score::is_hard_limit)
                && matches!(merge.outcome, Outcome::Added | Outcome::Limited)
                && lesson.seen.patterns.is_empty()
                && entry.is_none_or(|entry| entry.patterns.is_empty()),
        }
    }

    /// Whether it stands in the profile now.
    pub(super) fn is_taken(&self) -> bool {
        self.proposal.is_none() && self.why.is_none()
    }

    /// The entry that it only confirms.
    fn confirmed(&self) -> Option<i64> {
        self.id
            .filter(|_| self.result == "merged" && self.score_before == self.score_after)
    }

    fn line(&self) -> String {
        // What waits would have the band of its own score.
        let after = self.score_after.filter(|_| self.is_taken());
        let band = Score::clamped(after.unwrap_or(self.score)).band();
        let score = match (self.score_before, self.score_after) {
            (Some(before), Some(after)) if before != after && self.is_taken() => {
                format!(
                    "score {} → {}",
                    Score::clamped(before),
                    Score::clamped(after)
                )
            }
            _ => format!("score {}", Score::clamped(self.score)),
        };
        let said_as = match &self.said_as {
            Some(words) => format!(" (said as “{words}”)"),
            None => String::new(),
        };
        format!("{}: {}{said_as}  ({score}, {band})", self.result, self.item)
    }
}

/// How a model was used.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ModelUse {
    pub model: String,
    pub kept: usize,
    pub dropped: usize,
    pub invented_quotes: usize,
}

#[derive(Debug, Serialize)]
struct FileProblem {
    file: String,
    #[serde(flatten)]
    problem: Problem,
}

#[derive(Debug, Serialize)]
struct Unreadable {
    file: String,
    message: String,
}

/// What `analyze` replies.
#[derive(Debug, Serialize)]
pub struct Reply {
    dry_run: bool,
    learned: Vec<Learned>,
    files: usize,
    unchanged: usize,
    not_transcripts: Vec<String>,
    unreadable: Vec<Unreadable>,
    problems: Vec<FileProblem>,
    bytes: u64,
    turns: usize,
    new_turns: usize,
    sessions: usize,
    before_since: usize,
    without_time: usize,
    model: Option<ModelUse>,
}

impl Reply {
    pub(super) fn of(listened: Listened, learned: Vec<Learned>, dry_run: bool) -> Self {
        let not_transcripts = listened
            .files
            .iter()
            .filter(|(_, reading)| reading.note == Some(Note::NotATranscript))
            .map(|(file, _)| file.clone())
            .collect();
        let turns = listened
            .files
            .iter()
            .map(|(_, reading)| reading.turns)
            .sum::<u64>();
        Reply {
            dry_run,
            learned,
            files: listened.files.len() + listened.unreadable.len(),
            unchanged: listened.unchanged(),
            not_transcripts,
            bytes: listened
                .files
                .iter()
                .map(|(_, reading)| reading.bytes)
                .sum(),
            turns: usize::try_from(turns).unwrap_or(usize::MAX),
            new_turns: listened.new_turns,
            sessions: listened.sessions.len(),
            before_since: listened.too_early,
            without_time: listened.without_time,
            problems: listened
                .files
                .into_iter()
                .flat_map(|(file, reading)| {
                    reading
                        .problems
                        .into_iter()
                        .map(move |problem| FileProblem {
                            file: file.clone(),
                            problem,
                        })
                })
                .collect(),
            unreadable: listened
                .unreadable
                .into_iter()
                .map(|(file, message)| Unreadable { file, message })
                .collect(),
            model: listened.model,
        }
    }

    /// `3 learned, 1 waits for you (aizo review); 2 files, 14 new turns in 2 conversations`.
    fn summary(&self) -> String {
        let counts = counted(self.learned.iter().map(|one| one.result));
        let order = ["added", "limited", "replaced", "merged", "kept", "pending"];
        let parts: Vec<String> = order
            .iter()
            .filter_map(|name| counts.get(name).map(|number| format!("{number} {name}")))
            .collect();
        let mut read = vec![count(self.files, "file", "files")];
        if self.unchanged > 0 {
            read.push(format!("{} unchanged", self.unchanged));
        }
        read.push(format!(
            "{} in {}",
            count(self.new_turns, "new turn", "new turns"),
            count(self.sessions, "conversation", "conversations")
        ));
        let what = match (parts.is_empty(), self.dry_run) {
            (true, false) => "nothing learned".to_owned(),
            (true, true) => "nothing would be learned".to_owned(),
            (false, false) => parts.join(", "),
            (false, true) => format!("would be {}", parts.join(", ")),
        };
        format!("{what}; {}", read.join(", "))
    }
}

impl Answer for Reply {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let mut again: HashMap<i64, usize> = HashMap::new();
        for one in &self.learned {
            // A preference that is confirmed over and over is told once.
            if let Some(times) = one.confirmed().and_then(|id| again.get_mut(&id)) {
                *times += 1;
                continue;
            }
            if let Some(id) = one.confirmed() {
                again.insert(id, 1);
            }
            page.line(&one.line())?;
            page.faint(&format!("  “{}”  {} {}", one.quote, one.agent, one.place))?;
            if let Some(why) = &one.why {
                page.line(&format!("  waits: {why}"))?;
            }
        }
        if self.learned.iter().any(|one| one.only_told) {
            let names = self.learned.iter().filter(|one| one.only_told);
            let names: Vec<&str> = names.map(|one| one.item.as_str()).collect();
            page.wrapped_faint(&format!(
                "without a pattern (agents are told, and you are asked where a command says their words; for a refusal: aizo update ITEM --pattern REGEX): {}",
                names.join("; ")
            ))?;
        }
        let more: usize = again.values().map(|times| times - 1).sum();
        if more > 0 {
            let times = count(more, "more time", "more times");
            page.faint(&format!("what was merged was said {times}"))?;
        }
        if !self.learned.is_empty() {
            page.line("")?;
        }
        page.line(&self.summary())?;
        if self.learned.iter().any(|one| !one.is_taken()) && !self.dry_run {
            page.line("what waits: aizo review")?;
        }
        if let Some(change) = self.learned.iter().find_map(|one| one.change) {
            page.line(&format!("to take it all back: aizo undo {change}"))?;
        }
        if let Some(used) = &self.model {
            page.line(&format!(
                "{}: {} kept, {} dropped ({} with words that nobody said)",
                used.model, used.kept, used.dropped, used.invented_quotes
            ))?;
        }
        for file in &self.not_transcripts {
            page.line(&format!("not a transcript: {file}"))?;
        }
        if !self.not_transcripts.is_empty() {
            page.faint("  a chat in plain text says who speaks: `User: …` and `Assistant: …` at the beginning of lines")?;
        }
        for one in &self.problems {
            page.line(&format!("{}: {}", one.file, one.problem))?;
        }
        for one in &self.unreadable {
            page.line(&one.message)?;
        }
        Ok(())
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        to_json(self, out)
    }
}
