//! The recall scorecard: how often a task finds the preference that a person would want, and how often nothing is
//! said where nothing fits. Run: `cargo bench --bench scorecard` (add `-- held` or `-- tune` for one half).
//!
//! The set in `tests/data/recall` was written without sight of the ranking. Thresholds and weights were tuned on
//! its tune half alone.

#![allow(clippy::print_stdout, missing_docs)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use aizo::merge::{Observation, observe};
use aizo::model::{Origin, Score};
use aizo::recall::meaning::{Vector, embed};
use aizo::recall::{LEAST, Meaning, Request, entry_vector};
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
struct Query {
    lang: String,
    half: String,
    task: String,
    expects: Vec<String>,
    kind: String,
}

/// Which entries are found, best first.
#[derive(Debug, Clone, Copy)]
enum Way {
    Keywords,
    Meaning,
    Both,
}

/// Answers counted.
#[derive(Debug, Clone, Copy, Default)]
struct Score5 {
    asked: usize,
    first: usize,
    five: usize,
    reciprocal: f64,
    idle: usize,
    silent: usize,
}

impl Score5 {
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

    fn cells(&self) -> String {
        let share = |part: f64, whole: usize| {
            if whole == 0 {
                "–".to_owned()
            } else {
                format!("{:.2}", part / whole as f64)
            }
        };
        format!(
            "{} | {} | {} | {}",
            share(self.first as f64, self.asked),
            share(self.five as f64, self.asked),
            share(self.reciprocal, self.asked),
            share(self.silent as f64, self.idle),
        )
    }
}

fn load<T: serde::de::DeserializeOwned>(name: &str) -> Vec<T> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/recall")
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
    vectors: Vec<(i64, Vector)>,
}

fn profile(preferences: &[Preference], now: DateTime<Utc>) -> Result<Profile> {
    let mut store = Store::in_memory(now)?;
    let ids = store.write(now, |transaction| {
        let mut ids = BTreeMap::new();
        for preference in preferences {
            let seen = Observation {
                item: preference.item.clone(),
                reason: preference.reason.clone(),
                keywords: preference.keywords.clone(),
                scenarios: preference.scenarios.clone(),
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
    let vectors = store
        .view()
        .preferences()?
        .iter()
        .filter_map(|entry| {
            let vector = entry_vector(&entry.item, &entry.reason, &entry.keywords)?;
            Some((entry.id, vector))
        })
        .collect();
    Ok(Profile {
        store,
        ids,
        vectors,
    })
}

fn find(profile: &Profile, task: &str, way: Way, now: DateTime<Utc>) -> Result<Vec<i64>> {
    let meaning = match way {
        Way::Meaning => {
            let Some(task) = embed(task) else {
                return Ok(Vec::new());
            };
            let mut near: Vec<(f32, i64)> = profile
                .vectors
                .iter()
                .map(|(id, vector)| (task.cosine(vector), *id))
                .filter(|(cosine, _)| f64::from(*cosine) >= LEAST)
                .collect();
            near.sort_by(|a, b| b.0.total_cmp(&a.0));
            return Ok(near.into_iter().take(10).map(|(_, id)| id).collect());
        }
        Way::Keywords => Meaning::Off,
        Way::Both => Meaning::Fallback,
    };
    let request = Request {
        meaning,
        ..Request::for_text(task)
    };
    let found = profile.store.view().find(&request, now)?;
    Ok(found.hits.iter().map(|hit| hit.preference.id).collect())
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

fn main() -> Result<()> {
    let half = std::env::args()
        .skip(1)
        .find(|word| word == "held" || word == "tune");
    let halves = half.map_or_else(
        || vec!["tune".to_owned(), "held".to_owned()],
        |one| vec![one],
    );
    let now = "2026-11-30T12:00:00Z".parse().expect("a time");
    for half in halves {
        println!("\n### {half} half\n");
        println!("| profile of | found by | queries | hit@1 | hit@5 | MRR | silence |");
        println!("|---|---|---|---|---|---|---|");
        let preferences: Vec<Preference> = load::<Preference>("preferences.jsonl")
            .into_iter()
            .filter(|preference| preference.half == half)
            .collect();
        let queries: Vec<Query> = load::<Query>("queries.jsonl")
            .into_iter()
            .filter(|query| query.half == half)
            .collect();
        let preferences = shuffled(preferences);
        for size in [20, 50, 200] {
            // The last profile takes what is left, so that every preference is in one.
            let whole = (preferences.len() / size).max(1);
            let profiles: Vec<Profile> = (0..whole)
                .map(|index| {
                    let end = if index + 1 == whole {
                        preferences.len()
                    } else {
                        (index + 1) * size
                    };
                    profile(&preferences[index * size..end], now)
                })
                .collect::<Result<_>>()?;
            for (name, way) in [
                ("keywords", Way::Keywords),
                ("meaning", Way::Meaning),
                ("both", Way::Both),
            ] {
                let mut scores: BTreeMap<String, Score5> = BTreeMap::new();
                for profile in &profiles {
                    for query in &queries {
                        let expected: BTreeSet<i64> = query
                            .expects
                            .iter()
                            .filter_map(|id| profile.ids.get(id).copied())
                            .collect();
                        // What this profile does not hold is not asked of it.
                        if expected.is_empty() && query.kind != "silence" {
                            continue;
                        }
                        let found = find(profile, &query.task, way, now)?;
                        let mut names = vec!["all".to_owned(), query.lang.clone()];
                        if query.kind == "cross" {
                            names.push("across languages".to_owned());
                        }
                        for name in names {
                            scores.entry(name).or_default().count(&expected, &found);
                        }
                    }
                }
                for (group, score) in &scores {
                    if group == "all" || matches!(way, Way::Both) {
                        let label = if group == "all" {
                            String::new()
                        } else {
                            format!(", {group}")
                        };
                        println!(
                            "| {size} | {name}{label} | {} | {} |",
                            score.asked + score.idle,
                            score.cells()
                        );
                    }
                }
            }
        }
    }
    Ok(())
}
