//! What a profile is, as a fold of the journal lines of all devices. Whoever has the same lines has the same profile,
//! in whatever order they came.
//!
//! The lines have one total order: batches by the time of their first line, then by device, and within a batch as they
//! were written. A batch is one transaction of its device, so names are looked at when all of it is applied. A line says
//! what it changed and what it saw before that; where what stands is exactly what it saw, it does what it did on its own
//! device, and otherwise what `values.rs` says. What was forgotten counts as never said ([`Forgotten`]).
//!
//! **A hard limit gives way only to who knew it.** Every line that makes something a limit, or confirms one, is a claim; a
//! score out of the band, or a removal, takes back the claims that its device knew when it wrote the line, and counts where
//! none is left. What takes something of what a limit forbids ([`FORBIDDING`]) counts where its device knew all claims, and
//! what took something before is brought back by a claim that did not know it. Otherwise it is held, and listed in
//! [`State::held`]. What a device knew is in the line
//! ([`JournalLine::knows`]): the values alone would not tell two limits apart that two devices set to the same score.

mod entry;
mod values;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};

use super::forgotten::{Forgotten, texts_of};
use crate::model::{Evidence, JournalLine, Op, Subject, Values, item_key};
use crate::scoring::Decay;
pub use entry::Entry;
use entry::{Made, Taken};
pub use values::FORBIDDING;
use values::Withstood;

/// What lines make of a profile.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// The entries, by name.
    pub entries: BTreeMap<String, Entry>,
    /// What waits in review, by name.
    pub proposals: BTreeMap<String, Values>,
    /// The decay settings.
    pub decay: Values,
    /// Names of entries that are one with another, and the name under which both stand.
    pub aliases: BTreeMap<String, String>,
    /// What did not touch a limit, in the order of the lines.
    pub held: Vec<Held>,
}

impl State {
    /// The name under which an entry stands.
    pub fn resolve<'n>(&'n self, uid: &'n str) -> &'n str {
        let mut name = uid;
        while let Some(other) = self.aliases.get(name) {
            name = other;
        }
        name
    }
}

/// A change that a limit withstood: who made it did not know the limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    /// The entry that is a limit.
    pub uid: String,
    /// The score that it was to have.
    pub wanted: Option<f64>,
    /// What was to change of what it forbids. Where that is nothing, and no score either, it was to go.
    pub fields: Vec<&'static str>,
    /// The device of the line.
    pub device: String,
    /// The time of the line.
    pub hlc: String,
}

/// What is kept of a removed entry, for a line that brings it back.
#[derive(Debug)]
struct Removed {
    entry: Entry,
    /// What those saw who removed it: an undo restores just that.
    seen: Vec<Values>,
}

impl Removed {
    /// Follows a line whose device did not know that it is gone: whoever takes the removal back finds it.
    fn follow(&mut self, before: &Values, after: &Values, line: JournalLine) {
        self.entry.set(before, after, &line);
        for gone in &line.removed {
            self.entry.evidence.remove(&gone.uid);
        }
        for new in line.added {
            self.entry
                .evidence
                .entry(new.uid.clone())
                .or_insert_with(|| Box::new(new));
        }
    }
}

/// The values of a line but for those that can be forgotten on their own: one device may know of that already, where another
/// one does not.
fn without_texts(line: &JournalLine, values: &Values) -> Values {
    let mut values = values.clone();
    values.retain(|field, _| !texts_of(&line.subject).contains(&field.as_str()));
    values
}

/// Folds lines, in whatever order they come. The same line twice counts once.
pub fn fold(mut lines: Vec<JournalLine>) -> State {
    let mut fold = Fold::without(Forgotten::of(&lines));
    lines.sort_by(|a, b| (&a.device, &a.hlc).cmp(&(&b.device, &b.hlc)));
    lines.dedup_by(|a, b| (&a.device, &a.hlc) == (&b.device, &b.hlc));
    let mut batches: BTreeMap<(String, String), Vec<JournalLine>> = BTreeMap::new();
    for line in lines {
        let name = (line.device.clone(), line.batch.clone());
        batches.entry(name).or_default().push(line);
    }
    let mut batches: Vec<Vec<JournalLine>> = batches.into_values().collect();
    batches.sort_by(|a, b| order(a).cmp(&order(b)));
    for batch in batches {
        batch.into_iter().for_each(|line| fold.line(line));
        fold.settle();
    }
    fold.end()
}

fn order(batch: &[JournalLine]) -> Option<(&str, &str)> {
    batch
        .first()
        .map(|line| (line.hlc.as_str(), line.device.as_str()))
}

/// A fold that takes one line after the other, so that not all have to be at hand. They come in their total order.
#[derive(Debug)]
pub struct Fold {
    state: State,
    removed: HashMap<String, Removed>,
    /// Proposals that a person has accepted or rejected.
    decided: HashSet<String>,
    /// Whose a key is.
    keys: HashMap<String, String>,
    /// Whose an observation is.
    observed: HashMap<String, String>,
    forgotten: Forgotten,
    /// Entries that this batch gave an item, and the one that they had before it.
    named: Vec<(String, Option<String>)>,
    /// The same, to look them up.
    is_named: HashSet<String>,
}

impl Default for Fold {
    fn default() -> Self {
        Fold {
            state: State {
                entries: BTreeMap::new(),
                proposals: BTreeMap::new(),
                decay: Decay::default().values(),
                aliases: BTreeMap::new(),
                held: Vec::new(),
            },
            removed: HashMap::new(),
            decided: HashSet::new(),
            keys: HashMap::new(),
            observed: HashMap::new(),
            forgotten: Forgotten::default(),
            named: Vec::new(),
            is_named: HashSet::new(),
        }
    }
}

impl Fold {
    /// A fold that leaves out what was forgotten, whenever it was written.
    pub fn without(forgotten: Forgotten) -> Self {
        Fold {
            forgotten,
            ..Fold::default()
        }
    }

    /// Applies the next line of a batch.
    pub fn line(&mut self, line: JournalLine) {
        let line = self.forgotten.blank(line);
        if self.forgotten.has(&line.subject) {
            return;
        }
        match &line.subject {
            _ if line.op == Op::Forget => self.shorten(line),
            Subject::Entry(uid) => {
                let uid = self.state.resolve(uid).to_owned();
                self.entry(uid, line);
            }
            Subject::Proposal(_) => self.proposal(line),
            Subject::Decay => self.state.decay.extend(line.after.unwrap_or_default()),
            Subject::Session(_) => {}
        }
    }

    /// What the lines make of the profile.
    pub fn end(self) -> State {
        self.state
    }

    fn proposal(&mut self, line: JournalLine) {
        let proposals = &mut self.state.proposals;
        let uid = line.subject.uid();
        match (line.before, line.after) {
            (None, Some(values)) => {
                // Who proposes it again does not know that it was decided; who takes the decision back does.
                if line.op == Op::Undo {
                    self.decided.remove(uid);
                }
                if !self.decided.contains(uid) {
                    let mut all = values::blank_proposal();
                    all.extend(values);
                    proposals.insert(uid.to_owned(), all);
                }
            }
            (Some(_), Some(values)) => {
                if let Some(stored) = proposals.get_mut(uid) {
                    stored.extend(values);
                }
            }
            (_, None) => {
                proposals.remove(uid);
                if matches!(line.op, Op::Accept | Op::Reject) {
                    self.decided.insert(uid.to_owned());
                }
            }
        }
    }

    /// Gives a record the texts that it has after some of its own were forgotten.
    fn shorten(&mut self, mut line: JournalLine) {
        let texts = line.after.take().unwrap_or_default();
        match &line.subject {
            Subject::Entry(uid) => {
                let uid = self.state.resolve(uid).to_owned();
                // The observations that it names stay, without their words.
                line.removed.clear();
                self.set(uid, &Values::new(), &texts, line);
            }
            Subject::Proposal(uid) => {
                if let Some(stored) = self.state.proposals.get_mut(uid) {
                    stored.extend(texts);
                }
            }
            Subject::Session(_) | Subject::Decay => {}
        }
    }

    fn entry(&mut self, uid: String, mut line: JournalLine) {
        match (line.before.take(), line.after.take()) {
            (None, Some(values)) => self.create(uid, values, line),
            (Some(before), Some(after)) => self.set(uid, &before, &after, line),
            (Some(before), None) => self.remove(uid, &before, line),
            (None, None) => {}
        }
    }

    fn create(&mut self, uid: String, values: Values, line: JournalLine) {
        if let Some(entry) = self.state.entries.get_mut(&uid) {
            let counted = values::count(&entry.values).max(values::count(&values));
            if values::forbids(&values) {
                entry.forbid(&line.device, &line.hlc);
            }
            entry.make_again(&line, &values);
            values::unite(&mut entry.values, &values::complete(values), counted);
            self.observe(&uid, line.added);
            return;
        }
        let mut entry = match self.removed.remove(&uid) {
            Some(Removed { mut entry, seen })
                if line.op == Op::Undo && seen.contains(&without_texts(&line, &values)) =>
            {
                // What comes back as a limit is one, also where somebody had lifted it meanwhile.
                if let Some(score) = values::score(&values).filter(|&score| values::is_limit(score))
                {
                    values::rescore(&mut entry.values, score);
                }
                entry
            }
            removed => Entry {
                made: match removed {
                    Some(Removed { entry, .. }) if line.op == Op::Undo => entry.made,
                    _ => vec![Made::by(&line, &values)],
                },
                values: values::complete(values),
                ..Entry::default()
            },
        };
        let added = line.added.into_iter();
        entry
            .evidence
            .extend(added.map(|evidence| (evidence.uid.clone(), Box::new(evidence))));
        self.bring(uid, entry, &line.device, &line.hlc);
    }

    /// Lets an entry be there whose item is looked at when the batch ends.
    fn bring(&mut self, uid: String, entry: Entry, device: &str, hlc: &str) {
        let evidence = entry.evidence.into_values().map(|one| *one).collect();
        let mut entry = Entry {
            values: entry.values,
            made: entry.made,
            taken: entry.taken,
            ..Entry::default()
        };
        if entry.is_limit() {
            entry.forbid(device, hlc);
        }
        self.state.entries.insert(uid.clone(), entry);
        self.observe(&uid, evidence);
        self.is_named.insert(uid.clone());
        self.named.push((uid, None));
    }

    fn set(&mut self, uid: String, before: &Values, after: &Values, line: JournalLine) {
        let forbids = values::forbids(after);
        if !self.state.entries.contains_key(&uid) {
            // Who set it did not know that it is gone, which changes nothing, unless they forbade it.
            match self.removed.remove(&uid) {
                None => return,
                Some(removed) if forbids => {
                    self.bring(uid.clone(), removed.entry, &line.device, &line.hlc);
                }
                Some(mut removed) => {
                    removed.follow(before, after, line);
                    self.removed.insert(uid, removed);
                    return;
                }
            }
        }
        let Some(entry) = self.state.entries.get_mut(&uid) else {
            return;
        };
        let item = values::item(&entry.values).to_owned();
        let withstood = entry.set(before, after, &line);
        let mut back = Vec::new();
        if forbids {
            if !values::forbids(before) {
                back = entry.recover(after, &line);
            }
            entry.forbid(&line.device, &line.hlc);
        }
        let is_renamed = values::item(&entry.values) != item;
        if is_renamed && self.is_named.insert(uid.clone()) {
            // Whoever has the item of a limit meanwhile becomes one with it.
            let comes_back = back.iter().any(|taken| taken.field == "item");
            self.named
                .push((uid.clone(), (!comes_back).then_some(item)));
        }
        if withstood != Withstood::default() {
            let Withstood { score, fields } = withstood;
            self.hold(&uid, score, fields, (&line.device, &line.hlc));
        }
        for Taken {
            device, hlc, field, ..
        } in back
        {
            self.hold(&uid, None, vec![field], (&device, &hlc));
        }
        self.unobserve(&uid, &line.removed);
        self.observe(&uid, line.added);
    }

    fn remove(&mut self, uid: String, before: &Values, line: JournalLine) {
        let before = without_texts(&line, before);
        if let Some(removed) = self.removed.get_mut(&uid) {
            removed.seen.push(before);
            return;
        }
        let Some(entry) = self.state.entries.get_mut(&uid) else {
            return;
        };
        if entry.outlives(&line) {
            // Taken back is what was added there, and not what it has become one with.
            self.unobserve(&uid, &line.removed);
            return;
        }
        let claims = entry.claims.clone();
        if !entry.gives_way(&line) && entry.is_limit() {
            self.hold(&uid, None, Vec::new(), (&line.device, &line.hlc));
            return;
        }
        if let Some(mut entry) = self.state.entries.remove(&uid) {
            // Edits that did not know the limit find it all the same.
            entry.claims = claims;
            let seen = vec![before];
            self.let_go(&uid, &entry);
            self.removed.insert(uid, Removed { entry, seen });
        }
    }

    /// Frees what belongs to an entry alone.
    fn let_go(&mut self, uid: &str, entry: &Entry) {
        if let Some(key) = &entry.key {
            self.keys.remove(key);
        }
        for name in entry.evidence.keys() {
            if self.observed.get(name).is_some_and(|owner| owner == uid) {
                self.observed.remove(name);
            }
        }
    }

    fn hold(
        &mut self,
        uid: &str,
        wanted: Option<f64>,
        fields: Vec<&'static str>,
        (device, hlc): (&str, &str),
    ) {
        self.state.held.push(Held {
            uid: uid.to_owned(),
            wanted,
            fields,
            device: device.to_owned(),
            hlc: hlc.to_owned(),
        });
    }

    /// Adds observations, each to one entry alone: the first that has it.
    fn observe(&mut self, uid: &str, added: Vec<Evidence>) {
        let Some(entry) = self.state.entries.get_mut(uid) else {
            return;
        };
        for evidence in added {
            if !self.observed.contains_key(&evidence.uid) {
                self.observed.insert(evidence.uid.clone(), uid.to_owned());
                entry
                    .evidence
                    .insert(evidence.uid.clone(), Box::new(evidence));
            }
        }
    }

    fn unobserve(&mut self, uid: &str, removed: &[Evidence]) {
        let Some(entry) = self.state.entries.get_mut(uid) else {
            return;
        };
        for evidence in removed {
            if entry.evidence.remove(&evidence.uid).is_some() {
                self.observed.remove(&evidence.uid);
            }
        }
    }

    /// Ends a batch: gives the entries that it named their keys. What was renamed to an item that another one has gets its own
    /// item back; what was made with one becomes one with the other.
    pub fn settle(&mut self) {
        let named = std::mem::take(&mut self.named);
        self.is_named.clear();
        let is_there = |fold: &Fold, uid: &str| fold.state.entries.contains_key(uid);
        // What this batch let go of is free for the others of it.
        for (uid, _) in &named {
            if let Some(entry) = self.state.entries.get_mut(uid)
                && let Some(key) = entry.key.take()
            {
                self.keys.remove(&key);
            }
        }
        let mut renamed: HashMap<&str, &str> = HashMap::new();
        for (uid, item) in &named {
            if let Some(item) = item {
                renamed.insert(uid, item);
            }
        }
        for (uid, _) in named.iter().filter(|(_, item)| item.is_some()) {
            if is_there(self, uid) && self.claim(uid).is_some() {
                self.put_back(uid, &renamed);
            }
        }
        for (uid, _) in named.iter().filter(|(_, item)| item.is_none()) {
            if is_there(self, uid)
                && let Some(other) = self.claim(uid)
            {
                self.unite(uid, &other);
            }
        }
    }

    /// Takes the key of an entry's item for it, or tells whose it is.
    fn claim(&mut self, uid: &str) -> Option<String> {
        let entry = self.state.entries.get_mut(uid)?;
        let key = item_key(values::item(&entry.values));
        match self.keys.get(&key) {
            Some(other) if other != uid => Some(other.clone()),
            _ => {
                entry.key = Some(key.clone());
                self.keys.insert(key, uid.to_owned());
                None
            }
        }
    }

    /// Undoes a renaming of this batch. Whoever has moved to the old item meanwhile goes back in turn.
    fn put_back(&mut self, uid: &str, renamed: &HashMap<&str, &str>) {
        let mut next = Some(uid.to_owned());
        while let Some(uid) = next.take() {
            let (Some(entry), Some(item)) = (
                self.state.entries.get_mut(&uid),
                renamed.get(uid.as_str()).copied(),
            ) else {
                return;
            };
            values::rename(&mut entry.values, item);
            let key = item_key(item);
            entry.key = Some(key.clone());
            next = self.keys.insert(key, uid);
            if let Some(other) = next
                .as_ref()
                .and_then(|uid| self.state.entries.get_mut(uid))
            {
                other.key = None;
            }
        }
    }

    /// Makes an entry one with another that has its item and was there first.
    fn unite(&mut self, uid: &str, with: &str) {
        let Some(entry) = self.state.entries.remove(uid) else {
            return;
        };
        self.let_go(uid, &entry);
        self.state.aliases.insert(uid.to_owned(), with.to_owned());
        if let Some(other) = self.state.entries.get_mut(with) {
            let counted = values::count(&other.values).saturating_add(values::count(&entry.values));
            let [one, two] = [&entry, &*other].map(|of| (of.is_limit(), values::score(&of.values)));
            match (one, two) {
                ((true, _), (false, score)) | ((false, score), (true, _)) => other.milder = score,
                _ => {}
            }
            for (device, hlc) in &entry.claims {
                other.forbid(device, hlc);
            }
            other.made.extend(entry.made);
            let taken = entry.taken.into_iter();
            other
                .taken
                .extend(taken.filter(|taken| taken.field != "item"));
            values::unite(&mut other.values, &entry.values, counted);
            let evidence = entry.evidence.into_values();
            let mut evidence: Vec<Evidence> = evidence.map(|one| *one).collect();
            if evidence.is_empty() {
                evidence.push(values::observation(uid, &entry.values));
            }
            self.observe(with, evidence);
        }
    }
}
