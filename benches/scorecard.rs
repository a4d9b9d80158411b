//! The recall scorecard: how often a task finds the preference that a person would want, and how often nothing is
//! said where nothing fits. Run: `cargo bench --bench scorecard` (`-- tune`, `-- check` or `-- held` for one part,
//! `-- everyday` or `-- apart` for one set).
//!
//! The sets in `tests/data/recall` were written without sight of the ranking. The tune parts were learned from, and
//! thresholds were set on the check part.

#![allow(clippy::print_stdout, missing_docs)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use aizo::merge::{Observation, observe};
use aizo::model::{self, Origin, Score};
use aizo::recall::meaning::Vector;
use aizo::recall::{Folded, Holders, Meaning, Query, Request, Word, entry_vector};
use aizo::storage::{Result, StorageError, Store};
use chrono::{DateTime, Utc};
use serde::Deserialize;

#[derive(Debug, Clone, Deserialize)]
struct Preference {
    id: String,
    half: String,
    item: String,
    reason: String,
    keywords: Vec<String>,
    #[serde(default)]
    scenarios: Vec<String>,
    score: f64,
}

#[derive(Debug, Clone, Deserialize)]
struct Task {
    lang: String,
    half: String,
    task: String,
    expects: Vec<String>,
    kind: String,
}

/// How entries are found.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    /// `recall --exact`: every word of the task occurs.
    EveryWord,
    /// By rare words in common, any of them.
    AnyWord,
    /// By closeness in meaning, without a threshold.
    Meaning,
    /// Both together, without a threshold.
    Both,
    /// Both together, from this relevance on.
    From(f64),
    /// `recall` as it ships.
    Shipped,
}

/// Answers counted.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    asked: usize,
    first: usize,
    five: usize,
    reciprocal: f64,
    idle: usize,
    silent: usize,
}

impl Tally {
    fn count(&mut self, expected: &BTreeSet<i64>, found: &[i64]) {
        if expected.is_empty() {
            self.idle += 1;
            self.silent += usize::from(found.is_empty());
            return;
        }
        self.asked += 1;
        if let Some(rank) = found.iter().position(|id| expected.contains(id)) {
            self.first += usize::from(rank == 0);
            self.five += usize::from(rank < 5);
            self.reciprocal += 1.0 / (rank + 1) as f64;
        }
    }

    fn share(part: f64, whole: usize) -> String {
        if whole == 0 {
            "–".to_owned()
        } else {
            format!("{:.2}", part / whole as f64)
        }
    }

    fn cells(&self) -> String {
        format!(
            "{} | {} | {} | {} | {}",
            self.asked + self.idle,
            Self::share(self.first as f64, self.asked),
            Self::share(self.five as f64, self.asked),
            Self::share(self.reciprocal, self.asked),
            Self::share(self.silent as f64, self.idle),
        )
    }
}

fn load<T: serde::de::DeserializeOwned>(set: &str, name: &str) -> Vec<T> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/recall")
        .join(set)
        .join(name);
    std::fs::read_to_string(&path)
        .expect("the set is in the repository")
        .lines()
        .map(|line| serde_json::from_str(line).expect("every line is JSON"))
        .collect()
}

/// A profile: a store in memory, and which of its entries stands for which preference of the set.
struct Profile {
    store: Store,
    ids: BTreeMap<String, i64>,
    entries: Vec<model::Preference>,
    texts: Vec<Vec<Folded>>,
    vectors: Vec<Option<Vector>>,
}

impl Profile {
    fn new(preferences: &[Preference], now: DateTime<Utc>) -> Result<Self> {
        let mut store = Store::in_memory(now)?;
        let ids = store.write(now, |transaction| {
            let mut ids = BTreeMap::new();
            for preference in preferences {
                let seen = Observation {
                    item: preference.item.clone(),
                    reason: preference.reason.clone(),
                    keywords: preference.keywords.clone(),
                    scenarios: preference.scenarios.clone(),
                    patterns: Vec::new(),
                    score: Some(Score::clamped(preference.score)),
                    source: "manual".into(),
                    origin: Origin::User,
                    quote: None,
                    evidence: None,
                };
                let merge = observe(None, &seen, now, || transaction.new_uid());
                ids.insert(preference.id.clone(), transaction.apply(&merge.change)?.id);
            }
            Ok::<_, StorageError>(ids)
        })?;
        let entries = store.view().preferences()?;
        let texts = entries
            .iter()
            .map(|entry| {
                [&entry.item, &entry.reason]
                    .into_iter()
                    .chain(&entry.keywords)
                    .map(|text| Folded::new(text))
                    .collect()
            })
            .collect();
        let vectors = entries
            .iter()
            .map(|entry| entry_vector(&entry.item, &entry.reason, &entry.keywords))
            .collect();
        Ok(Profile {
            store,
            ids,
            entries,
            texts,
            vectors,
        })
    }

    fn find(&self, task: &str, way: Way, now: DateTime<Utc>) -> Result<Vec<i64>> {
        let meaning = match way {
            Way::EveryWord => Meaning::Off,
            Way::Shipped => Meaning::Fallback,
            _ => return Ok(self.rank(task, way)),
        };
        let request = Request {
            meaning,
            ..Request::for_text(task)
        };
        let found = self.store.view().find(&request, now)?;
        Ok(found.hits.iter().map(|hit| hit.preference.id).collect())
    }

    fn holders(&self, word: &Word) -> Holders {
        let holds = |texts: &Vec<Folded>| texts.iter().any(|text| word.occurs_in(text));
        let entries = self.entries.iter().zip(&self.texts);
        Holders::These(
            entries
                .filter(|(_, texts)| holds(texts))
                .map(|(entry, _)| entry.id)
                .collect(),
        )
    }

    fn rank(&self, task: &str, way: Way) -> Vec<i64> {
        let query = Query::new::<StorageError>(task, self.entries.len(), |words| {
            Ok(words.iter().map(|word| self.holders(word)).collect())
        })
        .expect("the closure does not fail");
        let mut ranked: Vec<(f64, i64)> = self
            .entries
            .iter()
            .zip(&self.vectors)
            .map(|(entry, vector)| {
                let relevance = query.relevance(entry.id, vector.as_ref());
                let value = match way {
                    Way::AnyWord => relevance.lexical,
                    Way::Meaning => relevance.meaning,
                    _ => relevance.value,
                };
                (value, entry.id)
            })
            .filter(|(value, _)| match way {
                Way::From(least) => *value >= least,
                _ => *value > 0.0,
            })
            .collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        ranked.into_iter().take(10).map(|(_, id)| id).collect()
    }
}

/// A fixed shuffle: the same profiles each run.
fn shuffled(mut preferences: Vec<Preference>) -> Vec<Preference> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for index in (1..preferences.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let other = usize::try_from(state % (index as u64 + 1)).expect("an index");
        preferences.swap(index, other);
    }
    preferences
}

/// Profiles of about this size that together hold every preference.
fn profiles(preferences: &[Preference], size: usize, now: DateTime<Utc>) -> Result<Vec<Profile>> {
    let whole = (preferences.len() / size).max(1);
    (0..whole)
        .map(|index| {
            let end = if index + 1 == whole {
                preferences.len()
            } else {
                (index + 1) * size
            };
            Profile::new(&preferences[index * size..end], now)
        })
        .collect()
}

/// Asks every profile every task that it can answer, and those that nothing answers.
fn ask(
    profiles: &[Profile],
    tasks: &[Task],
    way: Way,
    now: DateTime<Utc>,
) -> Result<BTreeMap<String, Tally>> {
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for profile in profiles {
        for task in tasks {
            let expected: BTreeSet<i64> = task
                .expects
                .iter()
                .filter_map(|id| profile.ids.get(id).copied())
                .collect();
            if expected.is_empty() && task.kind != "silence" {
                continue;
            }
            let found = profile.find(&task.task, way, now)?;
            let mut groups = vec!["all", task.lang.as_str()];
            if task.kind == "cross" {
                groups.push("across languages");
            }
            for group in groups {
                tallies
                    .entry(group.to_owned())
                    .or_default()
                    .count(&expected, &found);
            }
        }
    }
    Ok(tallies)
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let chosen = |all: &[&'static str]| -> Vec<&'static str> {
        let named: Vec<&str> = all
            .iter()
            .copied()
            .filter(|one| words.iter().any(|word| word == one))
            .collect();
        if named.is_empty() {
            all.to_vec()
        } else {
            named
        }
    };
    let now = "2026-11-30T12:00:00Z".parse().expect("a time");
    for set in chosen(&["everyday", "apart"]) {
        for half in chosen(&["tune", "check", "held"]) {
            let mut preferences: Vec<Preference> = load(set, "preferences.jsonl");
            preferences.retain(|preference| preference.half == half);
            if preferences.is_empty() {
                continue;
            }
            let mut tasks: Vec<Task> = load(set, "queries.jsonl");
            tasks.retain(|task| task.half == half);
            println!("\n### {set}, {half}\n");
            println!("| profile of | found by | tasks | hit@1 | hit@5 | MRR | silence |");
            println!("|---:|---|---:|---:|---:|---:|---:|");
            let preferences = shuffled(preferences);
            for size in [20, 50, 200] {
                let profiles = profiles(&preferences, size, now)?;
                for (name, way) in [
                    ("every word (`--exact`)", Way::EveryWord),
                    ("any word, no threshold", Way::AnyWord),
                    ("meaning, no threshold", Way::Meaning),
                    ("both, no threshold", Way::Both),
                    ("**as shipped**", Way::Shipped),
                ] {
                    for (group, tally) in ask(&profiles, &tasks, way, now)? {
                        if group == "all" {
                            println!("| {size} | {name} | {} |", tally.cells());
                        } else if way == Way::Shipped
                            || way == Way::Both && group == "across languages"
                        {
                            println!("| {size} | {name}: {group} | {} |", tally.cells());
                        }
                    }
                }
                if size == 50 {
                    let mut curve = Vec::new();
                    for least in (4..=18).map(|step| f64::from(step) * 0.02 + 0.02) {
                        let tallies = ask(&profiles, &tasks, Way::From(least), now)?;
                        let all = tallies.get("all").copied().unwrap_or_default();
                        let hit = Tally::share(all.five as f64, all.asked);
                        let silence = Tally::share(all.silent as f64, all.idle);
                        curve.push(format!("{least:.2}: {hit}/{silence}"));
                    }
                    println!(
                        "| {size} | both, from a relevance on: hit@5/silence | | | {} | | |",
                        curve.join(", ")
                    );
                }
            }
        }
    }
    Ok(())
}
