//! The store against a plain model in memory: random sequences of the commands that write, as real processes, and after each
//! step what `show`, `review` and `history` say is what the model says. A hard limit goes only when somebody took it away.

use std::collections::BTreeMap;

use chrono::{DateTime, Duration, Utc};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;

use super::random::{Random, seed};
use super::{rounds, say};
use crate::common::{Home, Run};
use crate::stores::replays_to_the_same_tables;

/// The items, with the number of the entry that each names: some are spelt in two ways.
const ITEMS: &[(usize, &str)] = &[
    (0, "short answers"),
    (0, "SHORT  Answers"),
    (1, "force-push"),
    (2, "红烧肉"),
    (3, "tabs"),
    (4, "Straße"),
    (4, "STRASSE"),
    (5, "👩‍💻 at night"),
];

const SCORES: &[Option<f64>] = &[
    None,
    Some(0.0),
    Some(1.5),
    Some(1.6),
    Some(4.0),
    Some(6.6),
    Some(10.0),
];

const KEYWORDS: &[&str] = &["", "brief", "food,晚饭"];
const SCENARIOS: &[&str] = &["", "coding", "writing,coding"];

/// The highest score of a hard limit.
const LIMIT: f64 = 1.5;

#[derive(Debug, Clone)]
enum Step {
    Add {
        item: usize,
        reason: u8,
        score: usize,
        keywords: usize,
        scenarios: usize,
        inferred: bool,
    },
    Update {
        item: usize,
        score: usize,
        reason: Option<u8>,
        name: Option<usize>,
    },
    Tag(usize),
    Touch(usize),
    Apply(usize),
    Remove(usize),
    Undo,
    Clear,
    Accept(usize),
    Reject(usize),
    HalfLife(u8),
    Export,
    /// The export that was made last, with what is there left as it is.
    Import,
    Forget(usize),
    Backup,
    Restore,
}

fn step() -> impl Strategy<Value = Step> {
    let item = || 0..ITEMS.len();
    let add = (
        item(),
        0..4_u8,
        0..SCORES.len(),
        0..KEYWORDS.len(),
        0..SCENARIOS.len(),
        prop::bool::weighted(0.3),
    );
    let update = (
        item(),
        0..SCORES.len(),
        prop::option::of(0..4_u8),
        prop::option::weighted(0.2, item()),
    );
    prop_oneof![
        10 => add.prop_map(|(item, reason, score, keywords, scenarios, inferred)| Step::Add {
            item, reason, score, keywords, scenarios, inferred,
        }),
        4 => update.prop_map(|(item, score, reason, name)| Step::Update { item, score, reason, name }),
        1 => item().prop_map(Step::Tag),
        2 => item().prop_map(Step::Touch),
        2 => item().prop_map(Step::Apply),
        2 => item().prop_map(Step::Remove),
        5 => Just(Step::Undo),
        1 => Just(Step::Clear),
        2 => (0..4_usize).prop_map(Step::Accept),
        1 => (0..4_usize).prop_map(Step::Reject),
        1 => (1..90_u8).prop_map(Step::HalfLife),
        1 => Just(Step::Export),
        1 => Just(Step::Import),
        1 => item().prop_map(Step::Forget),
        1 => Just(Step::Backup),
        1 => Just(Step::Restore),
    ]
}

#[derive(Debug, Clone, PartialEq)]
struct Entry {
    item: String,
    reason: String,
    keywords: Vec<String>,
    scenarios: Vec<String>,
    score: f64,
    touched: i64,
    seen: DateTime<Utc>,
    /// Whether the user stands behind it.
    is_users: bool,
}

/// Something that waits for a person.
#[derive(Debug, Clone, PartialEq)]
struct Waiting {
    number: usize,
    item: String,
    reason: String,
    keywords: Vec<String>,
    scenarios: Vec<String>,
    score: f64,
}

/// What a store holds.
#[derive(Debug, Clone, Default, PartialEq)]
struct Profile {
    entries: BTreeMap<usize, Entry>,
    waiting: Vec<Waiting>,
    half_life: f64,
}

/// What an undo takes back.
#[derive(Debug, Clone)]
enum Before {
    This(Profile),
    /// Something was forgotten: nothing goes back behind that.
    Forgotten,
}

#[derive(Debug, Clone, Default)]
struct Model {
    profile: Profile,
    past: Vec<Before>,
    /// A copy of the store, and what was in it.
    copy: Option<(String, Box<Model>)>,
    /// What was exported last.
    exported: Option<(String, Profile)>,
}

fn is_limit(score: f64) -> bool {
    score <= LIMIT
}

/// 0.4 of the old and 0.6 of the new, never beyond either of them.
fn smooth(old: f64, new: f64) -> f64 {
    let mixed = ((0.4 * old + 0.6 * new) * 1e10).round() / 1e10;
    mixed.clamp(old.min(new), old.max(new))
}

fn words(list: &str) -> Vec<String> {
    let words = list.split(',').filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

fn sorted(mut list: Vec<String>) -> Vec<String> {
    list.sort();
    list
}

fn united(have: &[String], more: &[String]) -> Vec<String> {
    let new = more.iter().filter(|word| !have.contains(word));
    have.iter().chain(new).cloned().collect()
}

fn single_spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Profile {
    /// Something is said of an item. Whether anything has changed.
    fn observe(
        &mut self,
        said: Waiting,
        score: Option<f64>,
        is_users: bool,
        now: DateTime<Utc>,
    ) -> bool {
        let limits = score.is_some_and(is_limit);
        let Some(entry) = self.entries.get_mut(&said.number) else {
            if limits && !is_users {
                return self.wait(said);
            }
            let entry = Entry {
                item: said.item,
                reason: said.reason,
                keywords: said.keywords,
                scenarios: sorted(said.scenarios),
                score: score.unwrap_or(9.0),
                touched: 0,
                seen: now,
                is_users,
            };
            self.entries.insert(said.number, entry);
            return true;
        };
        let is_kept = is_limit(entry.score) && !limits;
        if !is_limit(entry.score) && limits && !is_users {
            return self.wait(said);
        }
        let speaks_against = is_kept && score.is_some();
        let is_weaker = entry.is_users && !is_users;
        if !speaks_against && !is_weaker {
            entry.reason = said.reason;
        }
        entry.score = match score {
            _ if is_kept => entry.score,
            None => entry.score,
            Some(score) if limits && !is_limit(entry.score) => score,
            Some(score) => smooth(entry.score, score),
        };
        entry.keywords = united(&entry.keywords, &said.keywords);
        entry.scenarios = sorted(united(&entry.scenarios, &said.scenarios));
        entry.seen = now;
        entry.is_users |= is_users;
        true
    }

    fn wait(&mut self, said: Waiting) -> bool {
        let same = |one: &Waiting| one.number == said.number && one.score == said.score;
        if self.waiting.iter().any(same) {
            return false;
        }
        self.waiting.push(said);
        true
    }

    fn limits(&self) -> Vec<usize> {
        let limits = self
            .entries
            .iter()
            .filter(|(_, entry)| is_limit(entry.score));
        limits.map(|(number, _)| *number).collect()
    }
}

/// A home, its model, and how late it is.
struct Trial {
    home: Home,
    model: Model,
    now: DateTime<Utc>,
    files: usize,
    steps: usize,
}

/// What a step is expected to do.
enum Expected {
    /// It is refused, and nothing is changed.
    Refused,
    /// Nothing is changed.
    Nothing,
    /// It makes this of the profile.
    Changes(Profile),
}

impl Trial {
    fn new() -> Self {
        let home = Home::new();
        home.ok(&["config", "set-half-life", "31"]);
        home.ok(&["undo"]);
        Trial {
            home,
            model: Model {
                profile: Profile {
                    half_life: 30.0,
                    ..Profile::default()
                },
                ..Model::default()
            },
            now: crate::common::NOW.parse().expect("a time"),
            files: 0,
            steps: 0,
        }
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let mut command = self.home.command(arguments);
        command.env("AIZO_NOW", self.now.to_rfc3339());
        Run::of(command.output())
    }

    fn read(&self, arguments: &[&str]) -> Value {
        let run = self.run(arguments);
        assert_eq!(run.code, 0, "{arguments:?}: {run:?}");
        serde_json::from_str(&run.stdout).expect("one value")
    }

    fn history(&self) -> usize {
        let lines = self.read(&["history", "--limit", "100000", "--json"]);
        lines.as_array().expect("a list").len()
    }

    /// What the store says of itself.
    fn told(&self) -> Profile {
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let texts = |value: &Value| -> Vec<String> {
            let list = value.as_array().expect("a list");
            list.iter().map(text).collect()
        };
        let number_of = |item: &str| {
            let key = |text: &str| single_spaced(text).to_lowercase().replace('ß', "ss");
            let found = ITEMS.iter().find(|(_, known)| key(known) == key(item));
            found.unwrap_or_else(|| panic!("nobody said “{item}”")).0
        };
        let mut told = Profile::default();
        for entry in self.read(&["show", "--json"]).as_array().expect("a list") {
            let item = text(&entry["item"]);
            let seen = text(&entry["last_seen"]);
            let number = number_of(&item);
            let score = entry["base_score"].as_f64().expect("a number");
            assert_eq!(entry["hard_limit"], is_limit(score), "{entry}");
            let entry = Entry {
                item,
                reason: text(&entry["reason"]),
                keywords: texts(&entry["keywords"]),
                scenarios: texts(&entry["scenarios"]),
                score,
                touched: entry["touch_count"].as_i64().expect("a number"),
                seen: seen.parse().expect("a time"),
                is_users: entry["origin"] == "user",
            };
            assert!(
                told.entries.insert(number, entry).is_none(),
                "two of one item"
            );
        }
        for one in self.read(&["review", "--json"]).as_array().expect("a list") {
            let item = text(&one["item"]);
            told.waiting.push(Waiting {
                number: number_of(&item),
                item,
                reason: text(&one["reason"]),
                keywords: texts(&one["keywords"]),
                scenarios: texts(&one["scenarios"]),
                score: one["score"].as_f64().expect("a number"),
            });
        }
        let decay = self.read(&["config", "show", "--json"]);
        told.half_life = decay["half_life_days"].as_f64().expect("a number");
        told
    }

    /// Runs a step, and compares.
    fn take(&mut self, step: &Step) {
        self.now += Duration::hours(7);
        self.steps += 1;
        let lines = self.history();
        let limits = self.model.profile.limits();
        match step {
            Step::Backup => {
                let path = self.file("copy", "db");
                if self.run(&["backup", &path]).code == 0 {
                    let mut model = self.model.clone();
                    model.copy = None;
                    self.model.copy = Some((path, Box::new(model)));
                }
                assert_eq!(self.history(), lines, "a copy changes nothing");
                return;
            }
            Step::Export => {
                let path = self.file("export", "jsonl");
                let run = self.run(&["export", &path]);
                assert_eq!(run.code, 0, "{run:?}");
                self.model.exported = Some((path, self.model.profile.clone()));
                assert_eq!(self.history(), lines, "an export changes nothing");
                return;
            }
            Step::Restore => return self.restore(),
            Step::Import => return self.import(&limits),
            Step::Forget(item) => return self.forget(*item, &limits),
            _ => {}
        }
        let (arguments, expected) = self.expect(step);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let run = self.run(&arguments);
        let told = format!("step {}: {step:?}: {arguments:?}: {run:?}", self.steps);
        let grown = self.history() > lines;
        match expected {
            Expected::Refused => {
                assert_eq!(run.code, 1, "{told}");
                assert!(run.stderr.contains("error: "), "{told}");
                assert!(!grown, "{told}");
            }
            Expected::Nothing => {
                assert_eq!(run.code, 0, "{told}");
                assert!(!grown, "{told}");
            }
            Expected::Changes(profile) => {
                assert_eq!(run.code, 0, "{told}");
                assert!(grown, "{told}");
                if matches!(step, Step::Undo) {
                    self.model.past.pop();
                } else {
                    let before = Before::This(self.model.profile.clone());
                    self.model.past.push(before);
                }
                self.model.profile = profile;
            }
        }
        self.compare(&told);
        let may_go = matches!(
            step,
            Step::Update { .. } | Step::Remove(_) | Step::Undo | Step::Clear
        );
        if !may_go {
            self.must_still_be_limits(&limits, &told);
        }
    }

    fn must_still_be_limits(&self, limits: &[usize], told: &str) {
        let now = self.model.profile.limits();
        assert!(limits.iter().all(|number| now.contains(number)), "{told}");
    }

    fn compare(&self, told: &str) {
        let mut says = self.told();
        let mut known = self.model.profile.clone();
        let order = |one: &Waiting| (one.number, one.score.to_bits());
        says.waiting.sort_by_key(order);
        known.waiting.sort_by_key(order);
        assert_eq!(says, known, "{told}");
    }

    fn file(&mut self, name: &str, ending: &str) -> String {
        self.files += 1;
        let name = format!("{name}{}.{ending}", self.files);
        self.home.path().join(name).display().to_string()
    }

    /// The command line of a step, and what comes of it.
    fn expect(&self, step: &Step) -> (Vec<String>, Expected) {
        let own =
            |words: &[&str]| -> Vec<String> { words.iter().map(|&word| word.to_owned()).collect() };
        let mut profile = self.model.profile.clone();
        let spelt = |item: &usize| ITEMS[*item].1;
        let number = |item: &usize| ITEMS[*item].0;
        let or_nothing = |changes: bool, profile| match changes {
            true => Expected::Changes(profile),
            false => Expected::Nothing,
        };
        match step {
            Step::Add {
                item,
                reason,
                score,
                keywords,
                scenarios,
                inferred,
            } => {
                let reason = format!("reason {reason}");
                let score = SCORES[*score];
                let mut arguments = own(&[
                    "add",
                    spelt(item),
                    &reason,
                    "--keywords",
                    KEYWORDS[*keywords],
                    "--scenarios",
                    SCENARIOS[*scenarios],
                    "--source",
                    if *inferred { "analysis" } else { "manual" },
                ]);
                if let Some(score) = score {
                    arguments.extend(own(&["--score", &score.to_string()]));
                }
                let said = Waiting {
                    number: number(item),
                    item: spelt(item).to_owned(),
                    reason,
                    keywords: words(KEYWORDS[*keywords]),
                    scenarios: words(SCENARIOS[*scenarios]),
                    score: score.unwrap_or_default(),
                };
                let changes = profile.observe(said, score, !inferred, self.now);
                (arguments, or_nothing(changes, profile))
            }
            Step::Update {
                item,
                score,
                reason,
                name,
            } => {
                let score = SCORES[*score].unwrap_or(5.0);
                let mut arguments = own(&["update", spelt(item), "--score", &score.to_string()]);
                let reason = reason.map(|reason| format!("reason {reason}"));
                if let Some(reason) = &reason {
                    arguments.extend(own(&["--reason", reason]));
                }
                if let Some(name) = name {
                    arguments.extend(own(&["--new-item", spelt(name)]));
                }
                let Some(mut entry) = profile.entries.remove(&number(item)) else {
                    return (arguments, Expected::Refused);
                };
                let place = name.as_ref().map_or(number(item), number);
                if profile.entries.contains_key(&place) {
                    return (arguments, Expected::Refused);
                }
                entry.score = score;
                if let Some(reason) = reason {
                    entry.reason = reason;
                }
                if let Some(name) = name {
                    entry.item = spelt(name).to_owned();
                }
                profile.entries.insert(place, entry);
                let changes = profile != self.model.profile;
                (arguments, or_nothing(changes, profile))
            }
            Step::Tag(item) => {
                let arguments = own(&["tag", spelt(item), "tagged"]);
                let Some(entry) = profile.entries.get_mut(&number(item)) else {
                    return (arguments, Expected::Refused);
                };
                entry.keywords = united(&entry.keywords, &words("tagged"));
                let changes = profile != self.model.profile;
                (arguments, or_nothing(changes, profile))
            }
            Step::Touch(item) | Step::Apply(item) => {
                let mut arguments = own(&["touch", spelt(item)]);
                let Some(entry) = profile.entries.get_mut(&number(item)) else {
                    return (arguments, Expected::Refused);
                };
                if matches!(step, Step::Apply(_)) {
                    let shown = self.read(&["show", spelt(item), "--json"]);
                    arguments = own(&["apply", &shown["id"].to_string()]);
                }
                let rests = self.now - entry.seen < Duration::hours(12);
                if !rests {
                    entry.seen = self.now;
                    entry.touched += 1;
                }
                (arguments, or_nothing(!rests, profile))
            }
            Step::Remove(item) => {
                let arguments = own(&["remove", spelt(item)]);
                match profile.entries.remove(&number(item)) {
                    None => (arguments, Expected::Refused),
                    Some(_) => (arguments, Expected::Changes(profile)),
                }
            }
            Step::Undo => {
                let expected = match self.model.past.last() {
                    None | Some(Before::Forgotten) => Expected::Refused,
                    Some(Before::This(before)) => Expected::Changes(before.clone()),
                };
                (own(&["undo"]), expected)
            }
            Step::Clear => {
                let changes = !profile.entries.is_empty() || !profile.waiting.is_empty();
                profile.entries.clear();
                profile.waiting.clear();
                (own(&["clear", "--yes"]), or_nothing(changes, profile))
            }
            Step::Accept(place) | Step::Reject(place) => {
                let accepts = matches!(step, Step::Accept(_));
                let verb = if accepts { "accept" } else { "reject" };
                if profile.waiting.is_empty() {
                    return (own(&["review", verb, "1"]), Expected::Refused);
                }
                let said = profile.waiting.remove(place % profile.waiting.len());
                let waiting = self.read(&["review", "--json"]);
                let waiting = waiting.as_array().expect("a list");
                let id = waiting.iter().find(|one| {
                    one["item"] == said.item.as_str() && one["score"].as_f64() == Some(said.score)
                });
                let id = id.map(|one| one["id"].to_string());
                let id = id.unwrap_or_else(|| panic!("{said:?} waits: {waiting:?}"));
                if accepts {
                    let score = Some(said.score);
                    profile.observe(said, score, true, self.now);
                }
                (own(&["review", verb, &id]), Expected::Changes(profile))
            }
            Step::HalfLife(days) => {
                profile.half_life = f64::from(*days);
                let changes = profile != self.model.profile;
                let arguments = own(&["config", "set-half-life", &days.to_string()]);
                (arguments, or_nothing(changes, profile))
            }
            Step::Export | Step::Import | Step::Forget(_) | Step::Backup | Step::Restore => {
                unreachable!("they are taken elsewhere")
            }
        }
    }

    fn restore(&mut self) {
        let Some((path, copy)) = self.model.copy.clone() else {
            return;
        };
        let run = self.run(&["restore", &path, "--yes"]);
        assert_eq!(run.code, 0, "{run:?}");
        let exported = self.model.exported.take();
        self.model = *copy.clone();
        self.model.copy = Some((path, copy));
        self.model.exported = exported;
        self.compare("restore");
    }

    /// What is there stays as it is, and what is not comes back as it was.
    fn import(&mut self, limits: &[usize]) {
        let Some((path, exported)) = self.model.exported.clone() else {
            return;
        };
        let before = self.model.profile.clone();
        let run = self.run(&["import", &path, "--on-conflict", "skip"]);
        let told = format!("import: {run:?}");
        assert_eq!(run.code, 0, "{told}");
        let found = self.told();
        for (number, entry) in &before.entries {
            assert_eq!(found.entries.get(number), Some(entry), "{told}");
        }
        for (number, entry) in &found.entries {
            if !before.entries.contains_key(number) {
                assert_eq!(exported.entries.get(number), Some(entry), "{told}");
            }
        }
        for number in exported.limits() {
            assert!(
                found.entries.contains_key(&number),
                "{told}: a limit comes back"
            );
        }
        if found != before {
            self.model.past.push(Before::This(before));
            self.model.profile = found;
        }
        self.must_still_be_limits(limits, &told);
        // The same file again changes nothing.
        let lines = self.history();
        assert_eq!(
            self.run(&["import", &path, "--on-conflict", "skip"]).code,
            0
        );
        assert_eq!(self.history(), lines, "{told}");
    }

    fn forget(&mut self, item: usize, limits: &[usize]) {
        let (number, item) = ITEMS[item];
        if !self.model.profile.entries.contains_key(&number) {
            return;
        }
        let run = self.run(&["forget", item, "--yes"]);
        let told = format!("forget {item}: {run:?}");
        assert_eq!(run.code, 0, "{told}");
        let found = self.told();
        let mut entries = self.model.profile.entries.clone();
        entries.remove(&number);
        assert_eq!(found.entries, entries, "{told}");
        let waits_still = self.model.profile.waiting.iter();
        let waits_still = waits_still.filter(|one| one.number != number).count();
        assert!(found.waiting.len() >= waits_still, "{told}");
        self.model.profile = found;
        self.model.past.push(Before::Forgotten);
        // What was copied and exported before holds what is gone.
        self.model.copy = None;
        self.model.exported = None;
        let others: Vec<usize> = limits
            .iter()
            .copied()
            .filter(|one| *one != number)
            .collect();
        self.must_still_be_limits(&others, &told);
    }
}

#[test]
fn after_any_sequence_of_commands_the_store_holds_what_the_model_holds() {
    let seed = seed();
    let steps = std::cell::Cell::new(0);
    let mut sequences = 0;
    for round in rounds(6) {
        let mut random = Random::new(seed + round);
        let bytes: Vec<u8> = (0..32).map(|_| random.byte()).collect();
        let config = Config {
            cases: 1,
            failure_persistence: None,
            // Shrinking runs the commands too.
            max_shrink_time: 60_000,
            ..Config::default()
        };
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let mut runner = TestRunner::new_with_rng(config, rng);
        let tried = runner.run(&prop::collection::vec(step(), 18..30), |all| {
            let mut trial = Trial::new();
            for step in &all {
                trial.take(step);
                steps.set(steps.get() + 1);
            }
            super::scene::is_sound(&trial.home.db());
            replays_to_the_same_tables(&trial.home);
            Ok(())
        });
        if let Err(error) = tried {
            panic!("AIZO_BEATING_SEED={}: {error}", seed + round);
        }
        sequences += 1;
    }
    let steps = steps.get();
    say(
        "model",
        &format!("{sequences} sequences of {steps} commands agree (seed {seed})"),
    );
}
