//! What `forget` replies: what is gone, what still speaks of it, and what is not aizo's to change.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::Plan;
use super::pay::Paid;
use crate::commands::entries::count;
use crate::commands::{Context, sync};
use crate::merge::Thing;
use crate::model::quoted;
use crate::present::{Answer, Page, to_json};
use crate::storage::{Mention, Record, Rewritten, copy_speaks_of};

/// Records of a kind that a text lists; JSON has all.
const MOST: usize = 20;
/// What is said of a copy in which other entries speak of what it has forgotten.
const STILL_SPEAKS: &str = "other entries in it still speak of it";
/// Longer files are not looked into.
const LONGEST: u64 = 4 << 20;

/// What `forget` replies.
#[derive(Debug, Serialize)]
pub struct Reply {
    result: &'static str,
    dry_run: bool,
    forgotten: Vec<Gone>,
    /// Records that stay and have lost words.
    erased: Vec<Erased>,
    /// Records that stay and still speak of it.
    mentioned: Vec<Mentioned>,
    copies: Vec<Copied>,
    log_lines: usize,
    /// What could not be done yet.
    unfinished: Vec<String>,
    elsewhere: Vec<Elsewhere>,
    change: Option<i64>,
    hint: Option<String>,
}

/// A record that is forgotten.
#[derive(Debug, Serialize)]
struct Gone {
    kind: &'static str,
    id: Option<i64>,
    item: String,
    score: Option<f64>,
    hard_limit: bool,
    changes: usize,
    observations: usize,
}

#[derive(Debug, Serialize)]
struct Erased {
    kind: &'static str,
    id: Option<i64>,
    item: String,
    texts: BTreeSet<&'static str>,
    quotes: usize,
}

#[derive(Debug, Serialize)]
struct Mentioned {
    kind: &'static str,
    id: Option<i64>,
    item: String,
    texts: BTreeSet<&'static str>,
}

/// A copy of the store.
#[derive(Debug, Serialize)]
struct Copied {
    path: PathBuf,
    result: &'static str,
    reason: Option<String>,
}

/// Something that holds it and is not aizo's to change.
#[derive(Debug, Serialize)]
pub(super) struct Elsewhere {
    what: &'static str,
    place: String,
    /// What removes it there.
    command: Option<String>,
}

impl Elsewhere {
    /// What aizo knows of.
    pub(super) fn of(plan: &Plan, context: &Context) -> Vec<Self> {
        let records = plan.records.iter();
        let places: BTreeSet<&String> = records.flat_map(|record| &record.places).collect();
        let said = places.into_iter().map(|place| Elsewhere {
            what: "conversation",
            place: place.clone(),
            command: None,
        });
        let mut all: Vec<Elsewhere> = said.collect();
        all.extend(
            kept_files(&plan.items(), context)
                .into_iter()
                .map(|path| Elsewhere {
                    what: "copy of a file of yours",
                    place: path.display().to_string(),
                    command: None,
                }),
        );
        all.extend(sync::history(context).map(|(place, command)| Elsewhere {
            what: "history of the sync",
            place,
            command: Some(command),
        }));
        all
    }

    fn line(&self) -> String {
        match &self.command {
            Some(_) => format!("{}: {}; it goes with:", self.what, self.place),
            None => format!("{}: {}", self.what, self.place),
        }
    }
}

/// Copies of other files that aizo keeps, as they were before it wrote into them.
fn kept_files(items: &[&str], context: &Context) -> Vec<PathBuf> {
    let things: Vec<Thing> = items.iter().map(|item| Thing::of(item)).collect();
    let folder = context
        .settings
        .home
        .as_ref()
        .map(|home| home.join("backups"));
    let entries = folder.and_then(|folder| folder.read_dir().ok());
    let mut found: Vec<PathBuf> = entries
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| {
            let metadata = entry.metadata();
            metadata.is_ok_and(|metadata| metadata.is_file() && metadata.len() <= LONGEST)
        })
        .map(|entry| entry.path())
        .filter(|path| {
            let bytes = std::fs::read(path).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes);
            let is_text = !bytes.contains(&0);
            is_text
                && text
                    .lines()
                    .any(|line| things.iter().any(|thing| thing.is_spoken_of_in(line)))
        })
        .collect();
    found.sort();
    found
}

impl Reply {
    fn of(plan: &Plan, elsewhere: Vec<Elsewhere>) -> Self {
        let mentions = &plan.mentions;
        Reply {
            result: "forgotten",
            dry_run: false,
            forgotten: plan.records.iter().map(Gone::of).collect(),
            erased: erased(plan),
            mentioned: mentions
                .iter()
                .filter(|mention| !mention.left.is_empty())
                .map(Mentioned::of)
                .collect(),
            copies: Vec::new(),
            log_lines: 0,
            unfinished: Vec::new(),
            elsewhere,
            change: None,
            hint: None,
        }
    }

    /// What would be done, and what takes the rest out where it is still spoken of.
    pub(super) fn rehearsed(plan: &Plan, elsewhere: Vec<Elsewhere>, typed: &str) -> Self {
        let hints = rest(plan, &[typed]);
        Reply {
            dry_run: true,
            hint: (!hints.is_empty()).then(|| hints.join("; ")),
            ..Reply::of(plan, elsewhere)
        }
    }

    /// What was done, in the store and beside it.
    pub(super) fn done(
        plan: &Plan,
        elsewhere: Vec<Elsewhere>,
        change: Option<i64>,
        paid: Paid,
    ) -> Self {
        let items = plan.items();
        let copies = paid.copies.into_iter().map(|copy| Copied::of(copy, &items));
        let mut hints = rest(plan, &items);
        hints.push(
            "files that you wrote yourself (aizo export, aizo backup FILE) are not known to aizo: write or remove them anew"
                .to_owned(),
        );
        Reply {
            copies: copies.collect(),
            log_lines: paid.log_lines,
            unfinished: paid.owed,
            change,
            hint: Some(hints.join("; ")),
            ..Reply::of(plan, elsewhere)
        }
    }
}

/// The commands that take out what still speaks of it.
fn rest(plan: &Plan, typed: &[&str]) -> Vec<String> {
    const MOST: usize = 3;
    let of_others = ["item", "keywords", "pattern"];
    let has = |of_others_too: bool| {
        plan.mentions.iter().filter(move |mention| {
            let mut texts = mention.left.iter();
            texts.any(|text| of_others.contains(text) == of_others_too)
        })
    };
    let mut hints = Vec::new();
    if has(false).next().is_some() {
        let commands = typed.iter().take(MOST);
        let commands: Vec<String> = commands
            .map(|item| format!("aizo forget {} --all-evidence", quoted(item)))
            .collect();
        hints.push(format!(
            "what was said of others goes with: {}",
            commands.join(", ")
        ));
    }
    let others: Vec<String> = has(true)
        .take(MOST)
        .map(|mention| match (mention.subject.kind(), mention.id) {
            ("entry", Some(id)) => format!("aizo forget {id}"),
            _ => format!("aizo forget {}", quoted(&mention.item)),
        })
        .collect();
    if !others.is_empty() {
        hints.push(format!(
            "an item, keywords and a pattern go only with what has them: {}",
            others.join(", ")
        ));
    }
    hints
}

fn erased(plan: &Plan) -> Vec<Erased> {
    let mentions = plan.mentions.iter();
    mentions
        .filter(|mention| mention.loses_words())
        .map(Erased::of)
        .collect()
}

/// What would go, in one line.
pub(super) fn told(plan: &Plan) -> String {
    let gone = plan.records.iter().map(|record| Gone::of(record).line());
    let mut lines: Vec<String> = gone.collect();
    let erased = erased(plan);
    lines.extend(erased.iter().map(|one| format!("words in {}", one.line())));
    let more = lines.len().saturating_sub(MOST);
    lines.truncate(MOST);
    if more > 0 {
        lines.push(format!("{more} more"));
    }
    lines.join(", ").replace("  (", " (")
}

impl Copied {
    fn of(copy: Rewritten, items: &[&str]) -> Self {
        let speaks = || match copy_speaks_of(&copy.path, items) {
            Ok(false) => None,
            _ => Some(STILL_SPEAKS.to_owned()),
        };
        let (result, reason) = match (copy.is_changed, copy.failed) {
            (_, Some(why)) => ("failed", Some(why)),
            (true, None) => ("rewritten", speaks()),
            (false, None) => ("unchanged", None),
        };
        Copied {
            path: copy.path,
            result,
            reason,
        }
    }
}

impl Gone {
    fn of(record: &Record) -> Self {
        Gone {
            kind: record.subject.kind(),
            id: record.id,
            item: record.item.clone(),
            score: record.score,
            hard_limit: record.is_hard_limit(),
            changes: record.lines,
            observations: record.observations.len(),
        }
    }

    fn line(&self) -> String {
        let place = match (self.kind, self.id) {
            ("entry", Some(id)) => format!("id {id}"),
            ("entry", None) => "removed earlier".to_owned(),
            (_, Some(id)) => format!("proposal {id}"),
            (_, None) => "proposal that was decided".to_owned(),
        };
        let limit = if self.hard_limit {
            ", a hard limit"
        } else {
            ""
        };
        format!(
            "{}  ({place}{limit}, {}, {})",
            self.item,
            count(self.changes, "change", "changes"),
            count(self.observations, "observation", "observations"),
        )
    }
}

impl Erased {
    fn of(mention: &Mention) -> Self {
        Erased {
            kind: mention.subject.kind(),
            id: mention.id,
            item: mention.item.clone(),
            texts: mention.erased.clone(),
            quotes: mention.observations.len(),
        }
    }

    fn line(&self) -> String {
        let mut texts: Vec<String> = self.texts.iter().map(|text| (*text).to_owned()).collect();
        if self.quotes > 0 {
            texts.push(count(self.quotes, "quote", "quotes"));
        }
        named(&self.item, self.kind, self.id, &texts.join(", "))
    }
}

impl Mentioned {
    fn of(mention: &Mention) -> Self {
        Mentioned {
            kind: mention.subject.kind(),
            id: mention.id,
            item: mention.item.clone(),
            texts: mention.left.clone(),
        }
    }

    fn line(&self) -> String {
        let texts: Vec<&str> = self.texts.iter().copied().collect();
        named(&self.item, self.kind, self.id, &texts.join(", "))
    }
}

fn named(item: &str, kind: &str, id: Option<i64>, texts: &str) -> String {
    match (kind, id) {
        ("entry", Some(id)) => format!("{item}  (id {id}: {texts})"),
        (_, Some(id)) => format!("{item}  (proposal {id}: {texts})"),
        (_, None) => format!("{item}  (in the history: {texts})"),
    }
}

/// Writes lines under a word, and how many more there are.
fn list(page: &mut Page<'_>, what: &str, lines: &[String]) -> io::Result<()> {
    for line in lines.iter().take(MOST) {
        page.wrapped(&format!("{what}: {line}"))?;
    }
    match lines.len().saturating_sub(MOST) {
        0 => Ok(()),
        more => page.line(&format!("{what}: {more} more")),
    }
}

impl Answer for Reply {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let would = if self.dry_run { "would be " } else { "" };
        let lines = |lines: &mut dyn Iterator<Item = String>| lines.collect::<Vec<_>>();
        let gone = lines(&mut self.forgotten.iter().map(Gone::line));
        list(page, &format!("{would}forgotten"), &gone)?;
        let erased = lines(&mut self.erased.iter().map(Erased::line));
        list(page, &format!("{would}erased in"), &erased)?;
        let mentioned = lines(&mut self.mentioned.iter().map(Mentioned::line));
        list(page, "still spoken of in", &mentioned)?;
        let changed = self.copies.iter().filter(|copy| copy.result != "unchanged");
        let copies = lines(&mut changed.map(|copy| match &copy.reason {
            Some(why) if copy.result == "failed" => {
                format!("{} may still hold it: {why}", copy.path.display())
            }
            Some(why) => format!("{} has forgotten it; {why}", copy.path.display()),
            None => format!("{} holds it no more", copy.path.display()),
        }));
        list(page, "copy", &copies)?;
        if self.log_lines > 0 {
            page.line(&format!(
                "log: {} removed",
                count(self.log_lines, "line", "lines")
            ))?;
        }
        list(page, "not yet", &self.unfinished)?;
        let elsewhere = lines(&mut self.elsewhere.iter().map(Elsewhere::line));
        list(page, "not aizo's to change", &elsewhere)?;
        for command in self.elsewhere.iter().filter_map(|one| one.command.as_ref()) {
            command
                .lines()
                .try_for_each(|line| page.line(&format!("  {line}")))?;
        }
        match &self.hint {
            Some(hint) => page.wrapped_faint(&format!("  {hint}")),
            None => Ok(()),
        }
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        to_json(self, out)
    }
}
