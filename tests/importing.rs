//! A profile on its way between stores: what aizo exports comes back as it was, what others wrote waits, and nothing that is
//! broken or hostile in a file does harm.

mod again;
mod conflicts;
mod exports;
mod faults;
mod foreign;
mod own;
mod random;
mod trust;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use proptest::prelude::*;
use rstest::rstest;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::common::{Home, Run, stored};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    line: u64,
    result: String,
    item: Option<String>,
    id: Option<i64>,
    proposal: Option<i64>,
    score_before: Option<f64>,
    score_after: Option<f64>,
    why: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Problem {
    kind: String,
    count: u64,
    first_place: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Imported {
    dry_run: bool,
    file: String,
    format: String,
    own: bool,
    counts: Counts,
    hard_limits: Vec<String>,
    limits_waiting: Vec<String>,
    settings: Option<String>,
    history: Option<String>,
    history_why: Option<String>,
    rows: Vec<Row>,
    problems: Vec<Problem>,
    copy: Option<String>,
    change: Option<i64>,
    hint: Option<String>,
}

impl Imported {
    /// What came of how many, where it came of any.
    fn results(&self) -> BTreeMap<String, usize> {
        let counts = serde_json::to_value(&self.counts).expect("it was JSON before");
        let counts: BTreeMap<String, usize> =
            serde_json::from_value(counts).expect("they are numbers");
        counts.into_iter().filter(|(_, count)| *count > 0).collect()
    }

    fn changes_nothing(&self) -> bool {
        let others = ["unchanged", "left_out", "unreadable"];
        self.change.is_none()
            && self.copy.is_none()
            && self
                .results()
                .keys()
                .all(|name| others.contains(&name.as_str()))
    }
}

fn results(pairs: &[(&str, usize)]) -> BTreeMap<String, usize> {
    pairs
        .iter()
        .map(|(name, count)| ((*name).to_owned(), *count))
        .collect()
}

fn sample(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/import")
        .join(name);
    path.to_str()
        .expect("the checkout has a plain path")
        .to_owned()
}

fn import(home: &Home, arguments: &[&str]) -> Imported {
    home.json(&[&["import"], arguments].concat())
}

/// Writes a file into a home and gives its path.
fn file(home: &Home, name: &str, bytes: impl AsRef<[u8]>) -> String {
    let path = home.path().join(name);
    std::fs::write(&path, bytes).expect("the home can be written");
    path.to_str()
        .expect("temporary folders have plain paths")
        .to_owned()
}

fn waiting(home: &Home) -> Vec<Value> {
    home.json(&["review"])
}

/// What waits: item, score and why.
fn waits(home: &Home) -> Vec<(String, Option<f64>, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    waiting(home)
        .iter()
        .map(|one| (text(&one["item"]), one["score"].as_f64(), text(&one["why"])))
        .collect()
}

fn items(home: &Home) -> Vec<(String, f64, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut all: Vec<_> = home
        .json::<Vec<Value>>(&["show"])
        .iter()
        .map(|one| {
            (
                text(&one["item"]),
                one["base_score"].as_f64().expect("a score"),
                text(&one["origin"]),
            )
        })
        .collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

/// An ordinary entry seen twice, two hard limits, a learned one, something that waits, settings of its own.
fn profile() -> Home {
    let home = Home::new();
    home.ok(&[
        "add",
        "concise code",
        "asked twice",
        "--keywords",
        "brevity,lean",
        "--scenarios",
        "writing,coding",
    ]);
    home.ok(&[
        "add",
        "force-push to main",
        "lost a day to it",
        "--score",
        "0.5",
        "--pattern",
        "@force-push",
        "--pattern",
        "git push -f",
    ]);
    home.ok(&["add", "对海鲜过敏", "每次都查菜单", "--score", "0"]);
    home.ok(&[
        "add",
        "passive voice",
        "rewrote two",
        "--score",
        "2.5",
        "--source",
        "analysis",
    ]);
    home.ok(&[
        "add",
        "emojis",
        "seen in a chat",
        "--score",
        "0.5",
        "--source",
        "analysis",
    ]);
    home.ok(&["config", "set-half-life", "45"]);
    let later = home.at("2026-12-05T08:30:00.25+00:00");
    later.ok(&["add", "concise code", "and once more", "--score", "4"]);
    later.ok(&["touch", "passive voice"]);
    later
}

fn export(home: &Home, arguments: &[&str]) -> String {
    home.ok(&[&["export"], arguments].concat())
}
