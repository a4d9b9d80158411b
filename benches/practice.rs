//! The texts that `task_map` learns from: `tests/data/recall/practice` and the tune halves of `everyday` and `apart`,
//! without any task or item that the check and held halves measure with.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use aizo::model::item_key;
use serde_json::Value;

/// Tasks, and the preferences that they call for.
#[derive(Default)]
pub struct Practice {
    /// The preferences.
    pub preferences: Vec<Preference>,
    /// The tasks.
    pub tasks: Vec<Task>,
}

/// A preference.
pub struct Preference {
    /// Its item.
    pub item: String,
    /// Its reason.
    pub reason: String,
    /// Its keywords.
    pub keywords: Vec<String>,
}

/// A task.
pub struct Task {
    /// In the words of a person.
    pub text: String,
    /// The preferences that it calls for, by their places.
    pub called: Vec<usize>,
    /// Whether it is one of those that were made up to call for nothing whatever is stored.
    pub is_idle: bool,
}

/// The sets whose halves are told apart.
const SETS: [&str; 2] = ["everyday", "apart"];

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn lines(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/recall");
    std::fs::read_to_string(path.join(name))
        .expect("the set is in the repository")
        .lines()
        .map(|line| serde_json::from_str(line).expect("every line is JSON"))
        .collect()
}

/// Every task and item that is measured with, folded.
pub fn measured() -> BTreeSet<String> {
    let of = |name: String, field: &'static str| {
        let lines = lines(&name).into_iter();
        lines
            .filter(|line| line["half"] != "tune")
            .map(move |line| item_key(text(&line[field])))
    };
    SETS.into_iter()
        .flat_map(|set| {
            of(format!("{set}/preferences.jsonl"), "item")
                .chain(of(format!("{set}/queries.jsonl"), "task"))
        })
        .collect()
}

/// Everything that is learned from.
pub fn practice() -> Practice {
    let measured = measured();
    let is_new = |value: &Value| !measured.contains(&item_key(text(value)));
    let mut practice = Practice::default();
    for set in SETS {
        let mut places = BTreeMap::new();
        for line in lines(&format!("{set}/preferences.jsonl")) {
            if line["half"] == "tune" && is_new(&line["item"]) {
                places.insert(text(&line["id"]).to_owned(), practice.add(&line));
            }
        }
        for line in lines(&format!("{set}/queries.jsonl")) {
            if line["half"] != "tune" || !is_new(&line["task"]) {
                continue;
            }
            let expects = line["expects"].as_array().expect("a list");
            let called: Vec<usize> = expects
                .iter()
                .filter_map(|id| places.get(text(id)).copied())
                .collect();
            // A task whose preferences are all left out does not call for nothing.
            if !called.is_empty() || expects.is_empty() {
                practice.ask(&line["task"], called, false);
            }
        }
    }
    for line in lines("practice/pairs.jsonl") {
        if is_new(&line["item"]) {
            let place = practice.add(&line);
            let tasks = line["tasks"].as_array().expect("a list");
            for task in tasks.iter().filter(|task| is_new(task)) {
                practice.ask(task, vec![place], false);
            }
        }
    }
    for line in lines("practice/others.jsonl") {
        if is_new(&line["task"]) {
            practice.ask(&line["task"], Vec::new(), true);
        }
    }
    practice
}

impl Practice {
    fn add(&mut self, line: &Value) -> usize {
        let keywords = line["keywords"].as_array();
        self.preferences.push(Preference {
            item: text(&line["item"]).to_owned(),
            reason: text(&line["reason"]).to_owned(),
            keywords: keywords
                .map(|words| words.iter().map(|word| text(word).to_owned()).collect())
                .unwrap_or_default(),
        });
        self.preferences.len() - 1
    }

    fn ask(&mut self, task: &Value, called: Vec<usize>, is_idle: bool) {
        self.tasks.push(Task {
            text: text(task).to_owned(),
            called,
            is_idle,
        });
    }
}
