//! What `import` replies, and how it looks.

use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::work::{EARLIER, FORGOTTEN, HELD, REJECTED};
use crate::capture::Problem;
use crate::commands::entries::count;
use crate::commands::outcome::Outcome;
use crate::model::Preference;
use crate::portable::Format;
use crate::present::{Answer, Page, to_json};

/// What became of a piece of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RowResult {
    /// A new entry.
    Added,
    /// Taken for a further observation.
    Merged,
    /// An ordinary entry became a hard limit.
    Limited,
    /// The values of the file stand now.
    Replaced,
    /// A hard limit stays what it is.
    Kept,
    /// It waits in review.
    Pending,
    /// Nothing of it is new.
    Unchanged,
    /// It was to be left as it is.
    Skipped,
    /// It is no preference.
    LeftOut,
    /// It cannot be read.
    Unreadable,
}

impl RowResult {
    const ALL: [(RowResult, &'static str); 10] = [
        (RowResult::Added, "added"),
        (RowResult::Merged, "merged"),
        (RowResult::Limited, "limited"),
        (RowResult::Replaced, "replaced"),
        (RowResult::Kept, "kept"),
        (RowResult::Pending, "pending"),
        (RowResult::Unchanged, "unchanged"),
        (RowResult::Skipped, "skipped"),
        (RowResult::LeftOut, "left out"),
        (RowResult::Unreadable, "unreadable"),
    ];
}

/// A piece of the file, and what became of it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Row {
    pub line: u64,
    pub result: RowResult,
    pub item: Option<String>,
    pub id: Option<i64>,
    pub proposal: Option<i64>,
    pub score_before: Option<f64>,
    pub score_after: Option<f64>,
    /// Why it waits, is left out, stays as it is here, or cannot be read.
    pub why: Option<String>,
}

impl Row {
    pub(super) fn named(line: u64, result: RowResult, item: &str) -> Self {
        Row {
            line,
            result,
            item: Some(item.to_owned()),
            id: None,
            proposal: None,
            score_before: None,
            score_after: None,
            why: None,
        }
    }

    /// The row of an entry whose score stays.
    pub(super) fn of(line: u64, result: RowResult, entry: &Preference) -> Self {
        let score = Some(entry.base_score.value());
        Row {
            id: Some(entry.id),
            score_before: score,
            score_after: score,
            ..Row::named(line, result, &entry.item)
        }
    }

    pub(super) fn recorded(line: u64, recorded: &Outcome) -> Self {
        let result = match recorded.result {
            "added" => RowResult::Added,
            "limited" => RowResult::Limited,
            "kept" => RowResult::Kept,
            "pending" => RowResult::Pending,
            _ => RowResult::Merged,
        };
        Row {
            id: recorded.id,
            proposal: recorded.proposal,
            score_before: recorded.score_before,
            score_after: recorded.score_after,
            ..Row::named(line, result, &recorded.item)
        }
    }

    pub(super) fn left_out(line: u64, text: Option<&str>, why: &str) -> Self {
        Row {
            item: text.map(str::to_owned),
            why: Some(why.to_owned()),
            ..Row::named(line, RowResult::LeftOut, "")
        }
    }

    pub(super) fn unreadable(line: u64, why: String) -> Self {
        Row {
            item: None,
            why: Some(why),
            ..Row::named(line, RowResult::Unreadable, "")
        }
    }

    /// Where it is and what is wrong with it.
    fn fault(&self) -> String {
        let why = self.why.as_deref().unwrap_or_default();
        format!("line {}: {why}", self.line)
    }
}

/// How many pieces came to what.
#[derive(Debug, Clone, Default, Serialize)]
struct Counts {
    added: usize,
    merged: usize,
    limited: usize,
    replaced: usize,
    kept: usize,
    pending: usize,
    unchanged: usize,
    skipped: usize,
    left_out: usize,
    unreadable: usize,
}

impl Counts {
    fn of(&mut self, result: RowResult) -> &mut usize {
        match result {
            RowResult::Added => &mut self.added,
            RowResult::Merged => &mut self.merged,
            RowResult::Limited => &mut self.limited,
            RowResult::Replaced => &mut self.replaced,
            RowResult::Kept => &mut self.kept,
            RowResult::Pending => &mut self.pending,
            RowResult::Unchanged => &mut self.unchanged,
            RowResult::Skipped => &mut self.skipped,
            RowResult::LeftOut => &mut self.left_out,
            RowResult::Unreadable => &mut self.unreadable,
        }
    }
}

/// The pieces of the file. All are counted, and so many are told one by one that no file fills the memory with them.
#[derive(Debug, Default)]
pub(super) struct Rows {
    told: Vec<Row>,
    counts: Counts,
    /// How many stay as they became here since.
    earlier: usize,
    /// How many hard limits would be milder or narrower in the file.
    held: usize,
    /// How many a person has rejected.
    rejected: usize,
    /// How many were forgotten here before and come back.
    forgotten: usize,
}

impl Rows {
    const MOST: usize = 200_000;

    pub(super) fn push(&mut self, row: Row) {
        *self.counts.of(row.result) += 1;
        let why = row.why.as_deref();
        for (told, number) in [
            (EARLIER, &mut self.earlier),
            (HELD, &mut self.held),
            (REJECTED, &mut self.rejected),
            (FORGOTTEN, &mut self.forgotten),
        ] {
            *number += usize::from(why.is_some_and(|why| why.ends_with(told)));
        }
        if self.told.len() < Self::MOST {
            self.told.push(row);
        }
    }

    /// The first fault, where there is nothing but faults.
    pub(super) fn only_faults(&self) -> Option<String> {
        let all = self.number(|_| true);
        let is_all = all > 0 && self.counts.unreadable == all;
        is_all.then(|| self.told.first().map_or_else(String::new, Row::fault))
    }

    fn number(&self, counts: impl Fn(RowResult) -> bool) -> usize {
        let mut all = self.counts.clone();
        let results = RowResult::ALL.iter().map(|(result, _)| *result);
        results
            .filter(|result| counts(*result))
            .map(|result| *all.of(result))
            .sum()
    }
}

/// What `import` replies.
#[derive(Debug)]
pub struct Reply {
    pub(super) dry_run: bool,
    pub(super) file: String,
    pub(super) format: Format,
    /// Whether it is aizo's own and as aizo wrote it.
    pub(super) own: bool,
    pub(super) rows: Rows,
    /// Hard limits that are in force now and were not before.
    pub(super) hard_limits: Vec<String>,
    /// Hard limits that wait for a person.
    pub(super) limits_waiting: Vec<String>,
    pub(super) settings: Option<&'static str>,
    pub(super) history: Option<&'static str>,
    /// Why it is left out.
    pub(super) history_why: Option<&'static str>,
    pub(super) problems: Vec<Problem>,
    pub(super) kept_as: Option<PathBuf>,
    pub(super) change: Option<i64>,
}

#[derive(Serialize)]
struct Json<'r> {
    dry_run: bool,
    file: &'r str,
    format: Format,
    own: bool,
    counts: &'r Counts,
    hard_limits: &'r [String],
    limits_waiting: &'r [String],
    settings: Option<&'static str>,
    history: Option<&'static str>,
    history_why: Option<&'static str>,
    rows: &'r [Row],
    problems: &'r [Problem],
    copy: Option<String>,
    change: Option<i64>,
    hint: Option<String>,
}

impl Reply {
    fn number(&self, wanted: RowResult) -> usize {
        self.rows.number(|result| result == wanted)
    }

    fn hint(&self) -> Option<String> {
        let change = self.change.filter(|_| !self.dry_run)?;
        Some(format!("to take it all back: aizo undo {change}"))
    }

    /// `3 added, 1 pending; prefs.jsonl is an export of aizo`.
    fn summary(&self) -> String {
        let parts: Vec<String> = RowResult::ALL
            .iter()
            .map(|(result, name)| (self.number(*result), name))
            .filter(|(number, _)| *number > 0)
            .map(|(number, name)| format!("{number} {name}"))
            .collect();
        let what = match (parts.is_empty(), self.dry_run) {
            (true, _) => "nothing in it".to_owned(),
            (false, false) => parts.join(", "),
            (false, true) => format!("would be {}", parts.join(", ")),
        };
        format!("{what}; {} is {}", self.file, self.format.describe())
    }
}

/// How the file's state of an entry comes back.
const BACK: &str = "--on-conflict replace takes the file's";

/// As many items, and as many rows that cannot be read, are shown.
const MOST: usize = 20;

/// `tabs; emojis; 3 more`.
fn some_of(items: &[String]) -> String {
    let shown = items[..items.len().min(MOST)].join("; ");
    match items.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown}; {more} more"),
    }
}

impl Reply {
    /// What is in force now, what waits, and what stays as it is.
    fn consequences(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let when = if self.dry_run {
            "would be in force"
        } else {
            "in force now"
        };
        for (when, limits) in [
            (when, &self.hard_limits),
            ("a hard limit only once you accept it", &self.limits_waiting),
        ] {
            if !limits.is_empty() {
                lines.push(format!("{when}: {}", some_of(limits)));
            }
        }
        match self.number(RowResult::Pending) {
            _ if self.dry_run => {}
            0 => {}
            1 => lines.push("1 waits for you: aizo review".to_owned()),
            many => lines.push(format!("{many} wait for you: aizo review")),
        }
        match self.rows.earlier {
            0 => {}
            1 => lines.push(format!("1 has changed here since: {BACK}")),
            many => lines.push(format!("{many} have changed here since: {BACK}")),
        }
        match self.rows.rejected {
            0 => {}
            1 => lines.push("1 was rejected in aizo review and is not proposed again".to_owned()),
            many => lines.push(format!(
                "{many} were rejected in aizo review and are not proposed again"
            )),
        }
        match self.rows.forgotten {
            0 => {}
            1 => lines.push("1 was forgotten here before".to_owned()),
            many => lines.push(format!("{many} were forgotten here before")),
        }
        let left_out = self
            .rows
            .told
            .iter()
            .filter(|row| row.result == RowResult::LeftOut);
        let texts: Vec<String> = left_out.filter_map(|row| row.item.clone()).collect();
        if !texts.is_empty() {
            lines.push(format!("left out, as no preference: {}", some_of(&texts)));
        }
        if self.number(RowResult::Kept) > self.rows.held {
            lines.push(
                "a hard limit stays as it is; to lift it: aizo update ITEM --score N".to_owned(),
            );
        }
        if self.rows.held > 0 {
            lines.push(format!("{HELD}; to change it: aizo update ITEM"));
        }
        if self.settings == Some("kept") {
            lines.push("how fast things fade stays as it is here: aizo config show".to_owned());
        }
        if self.history == Some("taken_over") {
            lines.push("with its history: aizo history".to_owned());
        }
        if let Some(why) = self.history_why {
            lines.push(format!("its history stays behind: {why}"));
        }
        lines
    }

    /// What could not be read, and what was wrong and was survived.
    fn faults(&self) -> Vec<String> {
        let is_fault = |row: &&Row| row.result == RowResult::Unreadable;
        let faults = self.rows.told.iter().filter(is_fault);
        let mut lines: Vec<String> = faults.take(MOST).map(Row::fault).collect();
        let more = self.number(RowResult::Unreadable) - lines.len();
        if more > 0 {
            let more = count(more, "more row", "more rows");
            lines.push(format!("{more} cannot be read: --json names them"));
        }
        lines.extend(self.problems.iter().map(Problem::to_string));
        lines
    }
}

impl Answer for Reply {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.line(&self.summary())?;
        for line in self.consequences() {
            page.wrapped(&line)?;
        }
        for line in self.faults() {
            page.line(&line)?;
        }
        if let Some(kept) = &self.kept_as {
            page.faint(&format!("the store as it was: {}", kept.display()))?;
        }
        match self.hint() {
            Some(hint) => page.line(&hint),
            None => Ok(()),
        }
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let json = Json {
            dry_run: self.dry_run,
            file: &self.file,
            format: self.format,
            own: self.own,
            counts: &self.rows.counts,
            hard_limits: &self.hard_limits,
            limits_waiting: &self.limits_waiting,
            settings: self.settings,
            history: self.history,
            history_why: self.history_why,
            rows: &self.rows.told,
            problems: &self.problems,
            copy: self.kept_as.as_ref().map(|kept| kept.display().to_string()),
            change: self.change.filter(|_| !self.dry_run),
            hint: self.hint(),
        };
        to_json(&json, out)
    }
}
