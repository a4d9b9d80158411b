//! Histories of several devices that do not know of each other for a while, and the law that holds for each of them.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::{Value, json};

use super::{Entry, FORBIDDING, State, fold, values};
use crate::merge::forgotten::{Forgotten, nameless, texts_of};
use crate::merge::{Observation, observe};
use crate::model::{
    Change, Effect, Evidence, Hlc, JournalLine, Op, Origin, Preference, Score, Speaker, Stamp,
    Subject, Values, item_key, split_keywords, split_patterns,
};

/// How many histories are tried where nothing else is asked for; the long run is `AIZO_SYNC_HISTORIES=10000 cargo test
/// --lib any_order_of_delivery_any_partition`.
const HISTORIES: u32 = 300;

const ITEMS: [&str; 5] = ["tabs", "Emojis", "force-push", "ＴＡＢＳ", "long meetings"];
const WORDS: [&str; 4] = ["tone", "git", "Code", "style"];

/// One thing that happens on a device. What it is about follows from the numbers and from what the device knows then.
#[derive(Debug, Clone)]
struct Step {
    device: usize,
    action: u8,
    pick: usize,
    word: usize,
    score: u8,
    other: usize,
    share: usize,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (
        0..5usize,
        0..24u8,
        0..8usize,
        0..6usize,
        0..8u8,
        0..5usize,
        0..=10usize,
    );
    let step = step.prop_map(|(device, action, pick, word, score, other, share)| Step {
        device,
        action,
        pick,
        word,
        score,
        other,
        share,
    });
    proptest::collection::vec(step, 4..40)
}

/// A line before it is written.
struct Draft {
    op: Op,
    subject: Subject,
    before: Option<Values>,
    after: Option<Values>,
    added: Vec<Evidence>,
    removed: Vec<Evidence>,
    undoes: Option<String>,
}

impl Draft {
    /// As in a store, what the device knows of others is in the lines by which a limit comes, goes, or forbids something
    /// else, and in no other.
    fn concerns_a_limit(&self, tables: &Tables) -> bool {
        let (Subject::Entry(uid), Some(before)) = (&self.subject, &self.before) else {
            return false;
        };
        let is_limit = |values: &Values| values::score(values).map(values::is_limit);
        let comes_or_goes = match (is_limit(before), &self.after) {
            (Some(before), Some(after)) => is_limit(after) == Some(!before),
            (before, None) => before == Some(true),
            (None, _) => false,
        };
        let forbids = || values::forbids(&tables.entries[uid].0);
        comes_or_goes
            || FORBIDDING.iter().any(|field| before.contains_key(*field))
                && self.after.is_some()
                && forbids()
    }
}

struct Device {
    name: String,
    skew: TimeDelta,
    hlc: Hlc,
    /// The lines that it knows, by their numbers in the world.
    known: BTreeSet<usize>,
    state: State,
    batches: Vec<Vec<usize>>,
}

/// All devices, and all lines that were ever written.
struct World {
    devices: Vec<Device>,
    lines: Vec<JournalLine>,
    /// What the device of a line knew when it was written.
    knew: Vec<BTreeSet<usize>>,
    steps: i64,
    names: u32,
}

/// What the tables of a store hold.
#[derive(Debug, PartialEq)]
struct Tables {
    entries: BTreeMap<String, (Values, BTreeMap<String, Box<Evidence>>)>,
    proposals: BTreeMap<String, Values>,
    decay: Values,
}

impl Tables {
    fn of(state: &State) -> Self {
        let entries = state.entries.iter();
        Tables {
            entries: entries
                .map(
                    |(
                        uid,
                        Entry {
                            values, evidence, ..
                        },
                    )| { (uid.clone(), (values.clone(), evidence.clone())) },
                )
                .collect(),
            proposals: state.proposals.clone(),
            decay: state.decay.clone(),
        }
    }

    /// Writes the rows of a line as a store does.
    fn write(&mut self, draft: &Draft) {
        match (&draft.subject, &draft.before, &draft.after) {
            (Subject::Entry(uid), None, Some(values)) => {
                let values = values::complete(values.clone());
                self.entries.insert(uid.clone(), (values, BTreeMap::new()));
            }
            (Subject::Entry(uid), _, Some(values)) => {
                let entry = self.entries.get_mut(uid).expect("it is there");
                entry.0.extend(values.clone());
            }
            (Subject::Entry(uid), _, None) => drop(self.entries.remove(uid)),
            (Subject::Proposal(uid), None, Some(values)) => {
                let mut all = values::blank_proposal();
                all.extend(values.clone());
                self.proposals.insert(uid.clone(), all);
            }
            (Subject::Proposal(uid), _, Some(values)) => self
                .proposals
                .get_mut(uid)
                .expect("it is there")
                .extend(values.clone()),
            (Subject::Proposal(uid), _, None) => drop(self.proposals.remove(uid)),
            (Subject::Decay, _, Some(values)) => self.decay.extend(values.clone()),
            _ => {}
        }
        if let Subject::Entry(uid) = &draft.subject
            && let Some((_, evidence)) = self.entries.get_mut(uid)
        {
            for gone in &draft.removed {
                evidence.remove(&gone.uid);
            }
            for new in &draft.added {
                evidence.insert(new.uid.clone(), Box::new(new.clone()));
            }
        }
    }
}

impl World {
    fn new(many: usize, skews: &[i64]) -> Self {
        World {
            devices: (0..many)
                .map(|number| Device {
                    name: format!("device{number}"),
                    skew: TimeDelta::hours(skews[number]),
                    hlc: Hlc::default(),
                    known: BTreeSet::new(),
                    state: fold(Vec::new()),
                    batches: Vec::new(),
                })
                .collect(),
            lines: Vec::new(),
            knew: Vec::new(),
            steps: 0,
            names: 0,
        }
    }

    fn now(&self, device: usize) -> DateTime<Utc> {
        let start: DateTime<Utc> = "2026-11-30T12:00:00Z".parse().expect("a time");
        start + TimeDelta::seconds(self.steps) + self.devices[device].skew
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("name{}", self.names)
    }

    /// Some limits have the same score on several devices, as in life.
    fn score(&self, kind: u8) -> Score {
        Score::clamped(match kind {
            0 => 0.2 + f64::from(self.names) * 0.001,
            1..=2 => 0.5,
            3 => 1.6,
            4 => 3.0,
            5 => 5.0,
            6 => 7.5,
            _ => 9.0,
        })
    }

    fn state_of(&self, known: impl Iterator<Item = usize>) -> State {
        fold(known.map(|number| self.lines[number].clone()).collect())
    }

    /// Writes a batch on a device.
    fn write(&mut self, device: usize, drafts: Vec<Draft>) {
        if drafts.is_empty() {
            return;
        }
        let now = self.now(device);
        let batch = self.name();
        let mut tables = Tables::of(&self.devices[device].state);
        // After these a store folds anew.
        let (mut numbers, mut is_undo) = (Vec::new(), false);
        let mut seen: BTreeMap<String, String> = BTreeMap::new();
        for &number in &self.devices[device].known {
            let line = &self.lines[number];
            if line.device != self.devices[device].name {
                let last = seen.entry(line.device.clone()).or_default();
                *last = line.hlc.clone().max(std::mem::take(last));
            }
        }
        let forgotten = self.forgotten(device);
        for draft in drafts {
            let tells_what_was = |values: &Values| {
                texts_of(&draft.subject)
                    .iter()
                    .any(|text| values.contains_key(*text))
            };
            let is_shortened = forgotten
                .shortened()
                .any(|subject| *subject == draft.subject);
            let says_what_was_known = draft.concerns_a_limit(&tables)
                || is_shortened && draft.before.as_ref().is_some_and(tells_what_was);
            is_undo |= matches!(draft.op, Op::Undo | Op::Forget);
            if !is_undo {
                tables.write(&draft);
            }
            let at = &mut self.devices[device];
            at.hlc = at.hlc.next(now);
            let seen = match says_what_was_known {
                true => seen.clone(),
                false => BTreeMap::new(),
            };
            let line = JournalLine {
                seq: 0,
                batch: batch.clone(),
                at: Stamp::at(now),
                hlc: at.hlc.to_string(),
                device: at.name.clone(),
                op: draft.op,
                subject: draft.subject,
                origin: Origin::User,
                before: draft.before,
                after: draft.after,
                added: draft.added,
                removed: draft.removed,
                undoes: draft.undoes,
                seen,
                local_id: None,
            };
            numbers.push(self.lines.len());
            self.knew.push(at.known.clone());
            at.known.insert(self.lines.len());
            self.lines.push(line);
        }
        let state = self.state_of(self.devices[device].known.iter().copied());
        // What a device writes on what it knows does exactly what it says.
        if !is_undo {
            assert_eq!(Tables::of(&state), tables, "{:#?}", self.lines);
        }
        self.devices[device].state = state;
        self.devices[device].batches.push(numbers);
    }

    fn entry(&self, device: usize, pick: usize) -> Option<(String, Values)> {
        let entries = &self.devices[device].state.entries;
        let (uid, entry) = entries.iter().nth(pick % entries.len().max(1))?;
        Some((uid.clone(), entry.values.clone()))
    }

    fn set(
        &self,
        uid: &str,
        before: Values,
        mut after: Values,
        op: Op,
        added: Vec<Evidence>,
    ) -> Draft {
        // As in a store, a limit that is confirmed says so.
        let is_confirmed = |field: &str, value: &Value| {
            let score = value.as_f64().filter(|_| field == "base_score");
            op == Op::Merge && score.is_some_and(values::is_limit)
        };
        after.retain(|field, value| before.get(field) != Some(value) || is_confirmed(field, value));
        let mut seen = before;
        seen.retain(|field, _| after.contains_key(field));
        Draft {
            op,
            subject: Subject::Entry(uid.to_owned()),
            before: Some(seen),
            after: Some(after),
            added,
            removed: Vec::new(),
            undoes: None,
        }
    }

    fn update(&mut self, device: usize, pick: usize, fields: &Value, op: Op) {
        if let Some((uid, values)) = self.entry(device, pick) {
            let fields = fields.as_object().cloned().expect("an object");
            let draft = self.set(&uid, values, fields, op, Vec::new());
            if draft.after.as_ref().is_some_and(|after| !after.is_empty()) {
                self.write(device, vec![draft]);
            }
        }
    }

    /// `aizo add`: what `merge` makes of it on what the device knows.
    fn add(&mut self, device: usize, step: &Step) {
        let item = ITEMS[step.pick % ITEMS.len()];
        let score = (step.share > 2).then(|| self.score(step.score));
        let seen = Observation {
            item: item.to_owned(),
            reason: format!("reason {}", self.names),
            keywords: vec![WORDS[step.word % WORDS.len()].to_owned()],
            scenarios: vec!["coding".to_owned()],
            patterns: (step.share > 7)
                .then(|| format!("@pattern{}", step.word))
                .into_iter()
                .collect(),
            score,
            source: "manual".to_owned(),
            origin: if step.other == 4 {
                Origin::Agent
            } else {
                Origin::User
            },
            quote: Some("the user's words".to_owned()),
            evidence: None,
        };
        let key = item_key(item);
        let entries = self.devices[device].state.entries.iter();
        let existing = entries
            .map(|(uid, entry)| preference(uid, &entry.values))
            .find(|entry| item_key(&entry.item) == key);
        let now = self.now(device);
        let change = observe(existing.as_ref(), &seen, now, || self.name()).change;
        self.apply(device, change);
    }

    fn apply(&mut self, device: usize, change: Change) {
        let draft = match change.effect {
            Effect::Create(values) => Draft {
                op: change.op,
                subject: change.subject,
                before: None,
                after: Some(values),
                added: change.evidence,
                removed: Vec::new(),
                undoes: None,
            },
            Effect::Set(after) => {
                let uid = change.subject.uid();
                let before = self.devices[device].state.entries[uid].values.clone();
                self.set(uid, before, after, change.op, change.evidence)
            }
            Effect::Delete => unreachable!("an observation removes nothing"),
        };
        self.write(device, vec![draft]);
    }

    /// What a conversation taught: the same observation on every device that reads it.
    fn learn(&mut self, device: usize, step: &Step) {
        let Some((uid, values)) = self.entry(device, step.pick) else {
            return;
        };
        let mut heard = evidence(&format!("heard{}", step.word));
        // As in a store, words that were forgotten are not written again.
        self.forgotten(device).blank_observation(&mut heard);
        let is_known = |entry: &Entry| entry.evidence.contains_key(&heard.uid);
        if !self.devices[device].state.entries.values().any(is_known) {
            let draft = self.set(&uid, values, Values::new(), Op::Keep, vec![heard]);
            self.write(device, vec![draft]);
        }
    }

    fn remove(&mut self, device: usize, picks: &[usize]) {
        let uids: BTreeSet<String> = picks
            .iter()
            .filter_map(|&pick| Some(self.entry(device, pick)?.0))
            .collect();
        let entries = &self.devices[device].state.entries;
        let drafts = uids.into_iter().map(|uid| Draft {
            op: Op::Remove,
            before: Some(entries[&uid].values.clone()),
            after: None,
            added: Vec::new(),
            removed: entries[&uid]
                .evidence
                .values()
                .map(|one| (**one).clone())
                .collect(),
            undoes: None,
            subject: Subject::Entry(uid),
        });
        let drafts = drafts.collect();
        self.write(device, drafts);
    }

    /// Another program swaps the items of two entries.
    fn swap(&mut self, device: usize, first: usize, second: usize) {
        let (Some((a, a_values)), Some((b, b_values))) =
            (self.entry(device, first), self.entry(device, second))
        else {
            return;
        };
        if a == b {
            return;
        }
        let named = |values: &Values| object(json!({"item": values["item"]}));
        let (to_a, to_b) = (named(&b_values), named(&a_values));
        let drafts = vec![
            self.set(&a, a_values, to_a, Op::Adopt, Vec::new()),
            self.set(&b, b_values, to_b, Op::Adopt, Vec::new()),
        ];
        self.write(device, drafts);
    }

    fn rename(&mut self, device: usize, step: &Step) {
        let item = ITEMS[step.word % ITEMS.len()];
        let key = item_key(item);
        let entries = &self.devices[device].state.entries;
        let is_taken = entries
            .values()
            .any(|entry| item_key(values::item(&entry.values)) == key);
        if !is_taken {
            self.update(device, step.pick, &json!({"item": item}), Op::Update);
        }
    }

    /// Takes the newest batches of a device back, as far as a store would.
    fn undo(&mut self, device: usize, pick: usize) {
        let batches = &self.devices[device].batches;
        let Some(batch) = batches.iter().rev().nth(pick % 3).cloned() else {
            return;
        };
        let tables = Tables::of(&self.devices[device].state);
        let forgotten = self.forgotten(device);
        let mut drafts = Vec::new();
        for number in batch.into_iter().rev() {
            let line = &forgotten.blank(self.lines[number].clone());
            if line.op == Op::Forget || forgotten.has(&line.subject) {
                return;
            }
            let stored = match &line.subject {
                Subject::Entry(uid) => tables.entries.get(uid).map(|(values, _)| values),
                Subject::Proposal(uid) => tables.proposals.get(uid),
                _ => Some(&tables.decay),
            };
            let is_same = match (&line.after, stored) {
                (None, None) => true,
                (Some(after), Some(stored)) => after
                    .iter()
                    .all(|(field, value)| stored.get(field) == Some(value)),
                _ => false,
            };
            let wanted = line
                .before
                .as_ref()
                .map(|values| item_key(values::item(values)));
            let is_taken = tables.entries.iter().any(|(uid, (values, _))| {
                uid != line.subject.uid() && wanted == Some(item_key(values::item(values)))
            });
            if !is_same || is_taken {
                return;
            }
            drafts.push(Draft {
                op: Op::Undo,
                subject: line.subject.clone(),
                before: line.after.clone(),
                after: line.before.clone(),
                added: line.removed.clone(),
                removed: line.added.clone(),
                undoes: Some(line.batch.clone()),
            });
        }
        self.write(device, drafts);
    }

    /// `aizo undo --session`: takes back what made an entry, whoever did, and whatever it has become since.
    fn take_back(&mut self, device: usize, step: &Step) {
        let (at, forgotten) = (&self.devices[device], self.forgotten(device));
        let known = at.known.iter().map(|&number| &self.lines[number]);
        let made: Vec<&JournalLine> = known
            .filter(|line| {
                let is_entry = matches!(line.subject, Subject::Entry(_));
                let stands = at
                    .state
                    .entries
                    .contains_key(at.state.resolve(line.subject.uid()));
                let is_made = line.before.is_none() && line.after.is_some() && line.op == Op::Add;
                is_entry && stands && is_made && !forgotten.has(&line.subject)
            })
            .collect();
        let Some(line) = made.get(step.pick % made.len().max(1)) else {
            return;
        };
        let uid = at.state.resolve(line.subject.uid());
        let draft = Draft {
            op: Op::Undo,
            subject: line.subject.clone(),
            before: Some(at.state.entries[uid].values.clone()),
            after: None,
            added: Vec::new(),
            removed: line.added.clone(),
            undoes: Some(line.batch.clone()),
        };
        self.write(device, vec![draft]);
    }

    fn propose(&mut self, device: usize, step: &Step) {
        let score = self.score(step.score).value();
        let item = ITEMS[step.pick % ITEMS.len()];
        // What somebody has published has one name everywhere, and is proposed once.
        let name = match step.other {
            0 => format!("published{}", step.pick),
            _ => self.name(),
        };
        let is_known = self.devices[device].known.iter().any(|&number| {
            let subject = &self.lines[number].subject;
            *subject == Subject::Proposal(name.clone())
        });
        if is_known {
            return;
        }
        let draft = Draft {
            op: Op::Propose,
            subject: Subject::Proposal(name),
            before: None,
            after: Some(object(
                json!({"item": item, "score": score, "why": "heard"}),
            )),
            added: Vec::new(),
            removed: Vec::new(),
            undoes: None,
        };
        self.write(device, vec![draft]);
    }

    fn review(&mut self, device: usize, step: &Step) {
        let proposals = &self.devices[device].state.proposals;
        let picked = proposals.iter().nth(step.pick % proposals.len().max(1));
        let Some((uid, values)) = picked.map(|(uid, values)| (uid.clone(), values.clone())) else {
            return;
        };
        let (op, before, after) = if step.word > 2 {
            let score = self.score(step.score).value();
            let before = object(json!({"score": values["score"]}));
            (Op::Update, before, Some(object(json!({"score": score}))))
        } else {
            (Op::Reject, values, None)
        };
        let draft = Draft {
            op,
            subject: Subject::Proposal(uid),
            before: Some(before),
            after,
            added: Vec::new(),
            removed: Vec::new(),
            undoes: None,
        };
        self.write(device, vec![draft]);
    }

    /// What a device knows to be forgotten.
    fn forgotten(&self, device: usize) -> Forgotten {
        let known = self.devices[device].known.iter();
        Forgotten::of(known.map(|&number| &self.lines[number]))
    }

    /// Forgets an entry under all its names, or a proposal.
    fn forget(&mut self, device: usize, step: &Step) {
        let state = &self.devices[device].state;
        let mut subjects: Vec<Subject> = Vec::new();
        if let Some((uid, _)) = self.entry(device, step.pick) {
            let names = state.aliases.keys().chain([&uid]);
            let its = names.filter(|name| state.resolve(name) == uid);
            subjects.extend(its.cloned().map(Subject::Entry));
        }
        if step.word > 3 {
            subjects.extend(
                state
                    .proposals
                    .keys()
                    .next()
                    .cloned()
                    .map(Subject::Proposal),
            );
        }
        let drafts = subjects.into_iter().map(|subject| Draft {
            op: Op::Forget,
            subject,
            before: None,
            after: None,
            added: Vec::new(),
            removed: Vec::new(),
            undoes: None,
        });
        let drafts = drafts.collect();
        self.write(device, drafts);
    }

    /// Takes the reason out of an entry and the words out of what is behind it.
    fn shorten(&mut self, device: usize, step: &Step) {
        let Some((uid, _)) = self.entry(device, step.pick) else {
            return;
        };
        let evidence = self.devices[device].state.entries[&uid].evidence.keys();
        let draft = Draft {
            op: Op::Forget,
            before: None,
            after: Some(object(json!({"reason": "what is left"}))),
            added: Vec::new(),
            removed: evidence.cloned().map(nameless).collect(),
            undoes: None,
            subject: Subject::Entry(uid),
        };
        self.write(device, vec![draft]);
    }

    /// The journal of a device: without what it knows to be forgotten.
    fn journal(&self, device: usize) -> Vec<JournalLine> {
        let forgotten = self.forgotten(device);
        let known = self.devices[device].known.iter();
        known
            .map(|&number| forgotten.blank(self.lines[number].clone()))
            .collect()
    }

    fn configure(&mut self, device: usize, step: &Step) {
        let half_life = 1.0 + f64::from(step.score);
        let now = &self.devices[device].state.decay["half_life_days"];
        if now.as_f64() != Some(half_life) {
            let draft = Draft {
                op: Op::Config,
                subject: Subject::Decay,
                before: Some(object(json!({"half_life_days": now}))),
                after: Some(object(json!({"half_life_days": half_life}))),
                added: Vec::new(),
                removed: Vec::new(),
                undoes: None,
            };
            self.write(device, vec![draft]);
        }
    }

    /// Brings a part of the file of each device that one device knows to another one: from its beginning, and not always all
    /// of it.
    fn deliver(&mut self, from: usize, to: usize, share: usize) {
        let mut files: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for &number in &self.devices[from].known {
            let device = self.lines[number].device.as_str();
            files.entry(device).or_default().push(number);
        }
        let mut known = self.devices[to].known.clone();
        for (index, file) in files.into_values().enumerate() {
            let many = if (share + index).is_multiple_of(3) {
                file.len() * share / 10
            } else {
                file.len()
            };
            known.extend(&file[..many]);
        }
        let state = self.state_of(known.iter().copied());
        let seen = known.iter().map(|&number| &self.lines[number].hlc).max();
        let device = &mut self.devices[to];
        if let Some(seen) = seen.and_then(|text| text.parse().ok()) {
            device.hlc = device.hlc.max(seen);
        }
        (device.known, device.state) = (known, state);
    }

    fn step(&mut self, step: &Step) {
        self.steps += 1;
        let many = self.devices.len();
        let (device, other) = (step.device % many, step.other % many);
        match step.action {
            0..=3 => self.add(device, step),
            4..=6 => {
                let fields = json!({"base_score": self.score(step.score).value()});
                self.update(device, step.pick, &fields, Op::Update);
            }
            7 if step.share > 5 => {
                let patterns = format!("@pattern{}", step.word % 3);
                let pattern = (step.other > 1).then_some(patterns);
                self.update(
                    device,
                    step.pick,
                    &json!({ "pattern": pattern }),
                    Op::Update,
                );
            }
            7 => {
                let words = [WORDS[step.word % WORDS.len()], "other"].join(", ");
                let fields = json!({"keywords": words, "scenarios": ["writing"], "reason": words});
                self.update(device, step.pick, &fields, Op::Tag);
            }
            8 => {
                let fields =
                    json!({"last_seen": self.now(device).to_rfc3339(), "touch_count": step.score});
                self.update(device, step.pick, &fields, Op::Touch);
            }
            9 => self.rename(device, step),
            10..=11 => self.remove(device, &[step.pick, step.word]),
            12 => self.undo(device, step.pick),
            13 => self.swap(device, step.pick, step.word),
            14 => self.learn(device, step),
            15 if step.word > 3 => self.configure(device, step),
            15 => self.propose(device, step),
            16 => self.review(device, step),
            17 => self.forget(device, step),
            18 => self.shorten(device, step),
            19..=20 => self.take_back(device, step),
            _ => self.deliver(device, other, step.share),
        }
    }
}

fn object(value: Value) -> Values {
    value.as_object().cloned().expect("an object")
}

fn evidence(uid: &str) -> Evidence {
    Evidence {
        uid: uid.to_owned(),
        at: Stamp("2026-11-30T12:00:00+00:00".to_owned()),
        quote: "I said so".to_owned(),
        speaker: Speaker::User,
        origin: Origin::User,
        source: "analysis".to_owned(),
        score: None,
        agent: None,
        session: None,
        place: None,
        confidence: None,
        cues: None,
    }
}

fn preference(uid: &str, stored: &Values) -> Preference {
    let text = |field: &str| stored[field].as_str().unwrap_or_default().to_owned();
    Preference {
        id: 1,
        uid: uid.to_owned(),
        item: text("item"),
        reason: text("reason"),
        keywords: split_keywords(&text("keywords")),
        scenarios: stored["scenarios"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|name| name.as_str().map(str::to_owned))
            .collect(),
        base_score: Score::clamped(stored["base_score"].as_f64().expect("a score")),
        source: text("source"),
        origin: text("origin").parse().expect("an origin"),
        added_at: Stamp(text("added_at")),
        last_seen: Stamp(text("last_seen")),
        touch_count: values::count(stored),
        patterns: split_patterns(&text("pattern")),
    }
}

fn limit_of(values: Option<&Values>) -> Option<f64> {
    values
        .and_then(values::score)
        .filter(|&score| values::is_limit(score))
}

/// Promise 1: a limit is there that nobody has raised or removed who knew it.
fn no_limit_is_lost(world: &World, state: &State) {
    let resolve = |line: &JournalLine| state.resolve(line.subject.uid()).to_owned();
    let entry_lines = || {
        let numbered = world.lines.iter().enumerate();
        numbered.filter(|(_, line)| matches!(line.subject, Subject::Entry(_)))
    };
    // A limit that somebody forgot for good is no more, whoever else knew it.
    let forgotten = Forgotten::of(&world.lines);
    for (number, line) in entry_lines().filter(|(_, line)| !forgotten.has(&line.subject)) {
        let Some(limit) = limit_of(line.after.as_ref()) else {
            continue;
        };
        let uid = resolve(line);
        let is_answered = entry_lines().any(|(other, answer)| {
            let raises = answer.after.as_ref().is_none_or(|after| {
                values::score(after).is_some_and(|score| !values::is_limit(score))
            });
            // Whoever takes back what made the entry once does not lift what made it a limit elsewhere.
            let is_of_another = answer.op == Op::Undo
                && answer.after.is_none()
                && line.before.is_none()
                && line.op != Op::Undo
                && answer.undoes.as_ref() != Some(&line.batch);
            raises
                && !is_of_another
                && world.knew[other].contains(&number)
                && resolve(answer) == uid
        });
        let stands = state.entries.get(&uid);
        assert!(
            is_answered || limit_of(stands.map(|entry| &entry.values)).is_some(),
            "limit {limit} of line {number} is lost: {stands:?}\n{:#?}",
            world.lines
        );
    }
}

/// What a device forbade keeps its patterns and words, as long as nobody changes that who knew it. What became one with another
/// entry is not looked at, and its name is not: two devices may have known it by two.
fn no_limit_forbids_less(world: &World, state: &State) {
    let forgotten = Forgotten::of(&world.lines);
    for (number, line) in world.lines.iter().enumerate() {
        let makes_it =
            |before: &Values| !values::forbids(before) && limit_of(line.after.as_ref()).is_some();
        let is_entry = matches!(line.subject, Subject::Entry(_));
        if !is_entry || forgotten.has(&line.subject) || !line.before.as_ref().is_some_and(makes_it)
        {
            continue;
        }
        let resolve = |line: &JournalLine| state.resolve(line.subject.uid()).to_owned();
        let uid = resolve(line);
        let knows = |other: usize| other > number && world.knew[other].contains(&number);
        let others = world.lines.iter().enumerate();
        let is_answered = others
            .filter(|(other, answer)| {
                let is_same = matches!(answer.subject, Subject::Entry(_)) && resolve(answer) == uid;
                is_same && knows(*other)
            })
            .any(|(_, answer)| {
                answer.after.as_ref().is_none_or(|after| {
                    FORBIDDING.iter().any(|field| after.contains_key(*field))
                        || values::score(after).is_some_and(|score| !values::is_limit(score))
                })
            });
        if is_answered {
            continue;
        }
        let known = world.knew[number].iter().copied().chain([number]);
        let seen = world.state_of(known);
        let seen = &seen.entries[seen.resolve(line.subject.uid())].values;
        let stands = state.entries.get(&uid).map(|entry| &entry.values);
        let stands = stands.expect("it is there");
        let is_united = state.aliases.keys().any(|name| state.resolve(name) == uid);
        if is_united {
            continue;
        }
        for field in ["keywords", "pattern"] {
            assert!(
                !values::goes(field, &seen[field], &stands[field]),
                "{field} of line {number}: {} became {}\n{:#?}",
                seen[field],
                stands[field],
                world.lines
            );
        }
    }
}

/// Whether the journal of a device tells nothing of what was forgotten, and tells all that counts.
fn nothing_forgotten_is_left(world: &World, device: usize, state: &State) {
    let forgotten = Forgotten::of(&world.lines);
    let journal = world.journal(device);
    for line in journal.iter().filter(|line| forgotten.has(&line.subject)) {
        assert_eq!((&line.before, &line.after), (&None, &None));
        assert!(line.added.is_empty());
    }
    let observed = journal
        .iter()
        .flat_map(|line| line.added.iter().chain(&line.removed));
    for evidence in observed.filter(|one| forgotten.observations().contains(&one.uid)) {
        assert_eq!(evidence.quote, "");
    }
    for (number, left) in journal.iter().enumerate() {
        let is_unknown = world.lines.iter().enumerate().any(|(other, said)| {
            let is_about_it = said.op == Op::Forget && said.subject == left.subject;
            is_about_it && other != number && !world.knew[number].contains(&other)
        });
        let was = left.before.as_ref().and_then(|before| before.get("reason"));
        assert!(!is_unknown || was.is_none_or(|reason| reason == ""));
    }
    // Some devices know already what was forgotten when the others hear of it.
    let mixed = journal.iter().zip(&world.lines).enumerate();
    let mixed = mixed.map(|(number, (left, whole))| match number % 2 {
        0 => left.clone(),
        _ => whole.clone(),
    });
    assert_eq!(fold(mixed.collect()), *state);
    assert_eq!(fold(journal), *state);
}

/// Whether names and keys are in order: an item, and an observation, belongs to one entry.
fn is_in_order(state: &State) {
    let mut keys = BTreeSet::new();
    let mut observed = BTreeSet::new();
    for (uid, entry) in &state.entries {
        let key = item_key(values::item(&entry.values));
        assert_eq!(entry.key.as_ref(), Some(&key), "{uid}");
        assert!(keys.insert(key), "two entries are {uid}'s item");
        assert!(!state.aliases.contains_key(uid));
        for name in entry.evidence.keys() {
            assert!(observed.insert(name.clone()), "{name} is of two entries");
        }
    }
}

/// Which histories are tried.
const SEED: u64 = 20_261_130;

fn is_long_run() -> bool {
    std::env::var_os("AIZO_SYNC_HISTORIES").is_some()
}

fn histories() -> u32 {
    std::env::var("AIZO_SYNC_HISTORIES")
        .ok()
        .and_then(|many| many.parse().ok())
        .unwrap_or(HISTORIES)
}

#[test]
fn any_order_of_delivery_any_partition_gives_the_same_tables_on_every_device_loses_no_limit_and_keeps_nothing_forgotten()
 {
    let mut runner = TestRunner::new(Config {
        cases: histories(),
        failure_persistence: None,
        // The same ones each time where nothing else is asked for; the long run looks for others.
        rng_seed: match is_long_run() {
            true => RngSeed::Random,
            false => RngSeed::Fixed(SEED),
        },
        ..Config::default()
    });
    // Some clocks are wrong by hours, some by a year.
    let skew = prop_oneof![
        3 => Just(0i64),
        1 => Just(-8760),
        1 => Just(8760),
        1 => -5..5i64,
    ];
    let history = (3..=5usize, proptest::collection::vec(skew, 5), steps());
    runner
        .run(&history, |(many, skews, steps)| {
            let mut world = World::new(many, &skews);
            for step in &steps {
                world.step(step);
            }
            let all: BTreeSet<usize> = (0..world.lines.len()).collect();
            let last = world.state_of(all.iter().copied());
            // The other way round, and one file after the other.
            assert_eq!(world.state_of(all.iter().rev().copied()), last);
            let (even, odd): (Vec<_>, Vec<_>) = all.iter().partition(|number| **number % 2 == 0);
            assert_eq!(world.state_of(odd.into_iter().chain(even)), last);
            for device in 0..many {
                for from in 0..many {
                    world.deliver(from, device, 10);
                }
                for from in 0..many {
                    world.deliver(from, device, 10);
                }
                assert_eq!(world.devices[device].state, last);
                nothing_forgotten_is_left(&world, device, &last);
            }
            no_limit_is_lost(&world, &last);
            no_limit_forbids_less(&world, &last);
            is_in_order(&last);
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
}
