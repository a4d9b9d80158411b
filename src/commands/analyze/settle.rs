//! What becomes of the findings in the store: in one transaction, or, for a rehearsal, in none.

use std::collections::{BTreeMap, HashMap, HashSet};

use chrono::{DateTime, Utc};

use super::listen::Listened;
use super::reply::{Learned, Reply};
use crate::analysis::{Decided, Finding};
use crate::commands::Context;
use crate::commands::entries::count;
use crate::commands::limits::Limits;
use crate::commands::record::prepare;
use crate::merge::{self, Lesson, Merge, Outcome, Things};
use crate::model::{Preference, Score, Stamp, item_key};
use crate::recall::{Folded, Words};
use crate::scenarios::Scenarios;
use crate::storage::{Transaction, View};

/// What the store holds, as far as it matters for what is learned.
struct Stored {
    things: Things,
    ids: Vec<i64>,
    limits: Limits,
}

impl Stored {
    fn of(view: &View<'_>) -> anyhow::Result<Self> {
        let mut stored = Stored {
            things: Things::default(),
            ids: Vec::new(),
            limits: Limits::default(),
        };
        view.each_preference(|entry| {
            stored.add(entry.id, &entry.item, &entry.keywords, entry.base_score);
        })?;
        Ok(stored)
    }

    fn add(&mut self, id: i64, item: &str, keywords: &[String], score: Score) {
        self.things.add(item);
        self.ids.push(id);
        self.limits.add(id, item, keywords, score);
    }

    /// The entry that a lesson is about: the hard limit that it would loosen, else the one of its name, else of its words.
    fn entry(&self, view: &View<'_>, lesson: &Lesson) -> anyhow::Result<Option<Preference>> {
        let item = &lesson.seen.item;
        let mut entry = view.entry_by_key(&item_key(item))?;
        if entry.is_none()
            && let Some(index) = self.things.find(item)
        {
            entry = view.entry(self.ids[index])?;
        }
        match self.limits.loosened_by(&lesson.seen, entry.as_ref()) {
            Some(limit) => Ok(view.entry(limit.id)?),
            None => Ok(entry),
        }
    }
}

/// The kinds of task whose keywords stand in a text.
struct Kinds(Vec<(String, Vec<Words>)>);

impl Kinds {
    fn of(scenarios: &Scenarios) -> Self {
        Kinds(
            scenarios
                .list
                .iter()
                .map(|scenario| {
                    let words = scenario.keywords.iter().map(|word| Words::keyword(word));
                    let words = words.filter(|words| !words.is_empty()).collect();
                    (scenario.name.clone(), words)
                })
                .collect(),
        )
    }

    fn in_text(&self, text: &str) -> Vec<String> {
        let texts = [Folded::new(text)];
        self.0
            .iter()
            .filter(|(_, words)| words.iter().any(|word| word.occur_in(&texts)))
            .map(|(name, _)| name.clone())
            .collect()
    }
}

/// Decides about everything that was heard and is new to this store.
fn decide(
    view: &View<'_>,
    listened: &mut Listened,
    review_all: bool,
    stored: &Stored,
) -> anyhow::Result<Vec<Decided>> {
    let heard = std::mem::take(&mut listened.heard);
    let keys = heard.sessions.values().flat_map(|session| &session.turns);
    let mut before = view.heard(keys.map(String::as_str))?;
    before.retain(|key| !heard.is_another(key));
    listened.new_turns = heard.turns - before.len().min(heard.turns);
    listened.sessions = heard
        .sessions
        .iter()
        .map(|(name, session)| {
            let new = session.turns.iter().filter(|key| !before.contains(*key));
            (name.clone(), new.cloned().collect::<Vec<_>>())
        })
        .filter(|(_, new)| !new.is_empty())
        .collect();
    let mut heard = heard;
    heard
        .findings
        .retain(|finding| !before.contains(&finding.turn));
    let (ever, kept_out) = if heard.findings.is_empty() {
        Default::default()
    } else {
        (view.taught_before()?, kept_out(view, &heard.findings)?)
    };
    listened.forgotten = kept_out.len();
    Ok(heard.decide(
        &stored.things,
        |uid| ever.observations.contains(uid) || kept_out.contains(uid),
        |session| ever.new_by_session.get(session).copied().unwrap_or(0),
        review_all,
    ))
}

/// The observations about something that was forgotten after they were made.
fn kept_out(view: &View<'_>, findings: &[Finding]) -> anyhow::Result<HashSet<String>> {
    let names = view.forgotten_names()?;
    if names.is_empty() {
        return Ok(HashSet::new());
    }
    let kept_out = |finding: &&Finding| names.keep_out(&finding.candidate.item, finding.said_at);
    Ok(findings.iter().filter(kept_out).map(Finding::uid).collect())
}

/// Says how much is not learned because it was forgotten.
fn say_what_is_kept_out(listened: &Listened, context: &Context) {
    if listened.forgotten > 0 {
        let many = count(listened.forgotten, "finding", "findings");
        context.note(format!(
            "{many} left out: that was forgotten, and was said before; aizo add stores it again"
        ));
    }
}

fn lesson_of(decided: &Decided, kinds: &Kinds, now: DateTime<Utc>) -> Option<Lesson> {
    let mut lesson = decided.finding.lesson(now, decided.waits);
    let scenarios = &mut lesson.seen.scenarios;
    scenarios.extend(kinds.in_text(&decided.finding.candidate.quote));
    scenarios.sort();
    scenarios.dedup();
    lesson.seen = prepare(lesson.seen).ok()?;
    Some(lesson)
}

/// Says what would be learned, and changes nothing.
pub(super) fn rehearse(
    mut listened: Listened,
    review_all: bool,
    context: &Context,
) -> anyhow::Result<Reply> {
    let kinds = Kinds::of(&context.scenarios());
    let now = context.settings.now;
    let cell = std::cell::RefCell::new(&mut listened);
    let rehearsed = context.read(|view| {
        let mut listened = cell.borrow_mut();
        let stored = Stored::of(view)?;
        let decided = decide(view, &mut listened, review_all, &stored)?;
        let mut rehearsal = Rehearsal::default();
        for waiting in view.proposals()? {
            rehearsal
                .waiting
                .insert(waits_as(&waiting.item, waiting.score));
        }
        for one in &decided {
            if let Some(lesson) = lesson_of(one, &kinds, now) {
                let entry = stored.entry(view, &lesson)?;
                let spoken = spoken_of(view, entry.as_ref())?;
                rehearsal.take(&one.finding, &lesson, entry, spoken);
            }
        }
        Ok(rehearsal.learned)
    })?;
    let learned = match rehearsed {
        Some(learned) => learned,
        None => without_store(&mut listened, review_all, &kinds, now),
    };
    say_what_is_kept_out(&listened, context);
    Ok(Reply::of(listened, learned, true))
}

/// The same where there is no store yet.
fn without_store(
    listened: &mut Listened,
    review_all: bool,
    kinds: &Kinds,
    now: DateTime<Utc>,
) -> Vec<Learned> {
    let heard = std::mem::take(&mut listened.heard);
    listened.new_turns = heard.turns;
    listened.sessions = heard
        .sessions
        .iter()
        .filter(|(_, session)| !session.turns.is_empty())
        .map(|(name, session)| (name.clone(), session.turns.clone()))
        .collect();
    let mut rehearsal = Rehearsal::default();
    for one in heard.decide(&Things::default(), |_| false, |_| 0, review_all) {
        if let Some(lesson) = lesson_of(&one, kinds, now) {
            rehearsal.take(&one.finding, &lesson, None, None);
        }
    }
    rehearsal.learned
}

/// What the store would hold: a lesson may be about an entry that an earlier one has made or changed.
#[derive(Default)]
struct Rehearsal {
    things: Things,
    /// Its limits, by their places in `entries`.
    limits: Limits,
    entries: Vec<(Preference, DateTime<Utc>)>,
    waiting: HashSet<(String, Option<String>)>,
    learned: Vec<Learned>,
}

impl Rehearsal {
    fn take(
        &mut self,
        finding: &Finding,
        lesson: &Lesson,
        stored: Option<Preference>,
        spoken: Option<DateTime<Utc>>,
    ) {
        let item = &lesson.seen.item;
        let changed = match &stored {
            Some(entry) => self
                .entries
                .iter()
                .position(|(known, _)| known.id == entry.id),
            None => self.things.find(item),
        };
        let known = changed.map(|index| &self.entries[index].0);
        let loosened = self
            .limits
            .loosened_by(&lesson.seen, known.or(stored.as_ref()));
        let changed = loosened
            .and_then(|limit| usize::try_from(limit.id).ok())
            .or(changed);
        let (entry, spoken) = match changed {
            Some(index) => {
                let (entry, spoken) = &self.entries[index];
                (Some(entry.clone()), Some(*spoken))
            }
            None => (stored, spoken),
        };
        let merge = merge::learn(entry.as_ref(), spoken, lesson, String::new);
        if merge.outcome == Outcome::Pending
            && !self
                .waiting
                .insert(waits_as(item, lesson.seen.score.map(Score::value)))
        {
            return;
        }
        self.learned
            .push(Learned::of(finding, lesson, &merge, entry.as_ref(), None));
        if merge.outcome == Outcome::Pending {
            return;
        }
        let score = merge
            .score
            .or(lesson.seen.score)
            .unwrap_or(Score::clamped(5.0));
        let stamp = Stamp::at(lesson.said_at);
        let after = match entry {
            Some(entry) => Preference {
                base_score: score,
                ..entry
            },
            None => Preference {
                id: 0,
                uid: String::new(),
                item: item.clone(),
                reason: lesson.seen.reason.clone(),
                keywords: lesson.seen.keywords.clone(),
                scenarios: Vec::new(),
                base_score: score,
                source: lesson.seen.source.clone(),
                origin: lesson.seen.origin,
                added_at: stamp.clone(),
                last_seen: stamp,
                touch_count: 0,
                patterns: Vec::new(),
            },
        };
        let spoken = spoken.map_or(lesson.said_at, |before| before.max(lesson.said_at));
        match changed {
            Some(index) => {
                if !self.entries[index].0.is_hard_limit() {
                    self.limits
                        .add(place(index), &after.item, &after.keywords, score);
                }
                self.entries[index] = (after, spoken);
            }
            None => {
                self.things.add(item);
                self.limits.add(
                    place(self.entries.len()),
                    &after.item,
                    &after.keywords,
                    score,
                );
                self.entries.push((after, spoken));
            }
        }
    }
}

/// The number of a limit in a rehearsal.
fn place(index: usize) -> i64 {
    i64::try_from(index).unwrap_or(i64::MAX)
}

/// What tells two things that wait apart.
fn waits_as(item: &str, score: Option<f64>) -> (String, Option<String>) {
    (item_key(item), score.map(|score| score.to_string()))
}

/// Writes what was learned, how far each file was read, and which conversations were heard.
pub(super) fn write(
    mut listened: Listened,
    review_all: bool,
    context: &Context,
) -> anyhow::Result<Reply> {
    let kinds = Kinds::of(&context.scenarios());
    if listened.heard.turns == 0 && listened.cursors.is_empty() {
        return Ok(Reply::of(listened, Vec::new(), false));
    }
    let learned = context.write(|transaction| {
        let now = transaction.now();
        let mut stored = Stored::of(&transaction.view())?;
        let decided = decide(&transaction.view(), &mut listened, review_all, &stored)?;
        let mut learned = Vec::new();
        let mut by_session: BTreeMap<String, usize> = BTreeMap::new();
        for one in &decided {
            let Some(lesson) = lesson_of(one, &kinds, now) else {
                continue;
            };
            if let Some(taught) = teach(transaction, &mut stored, &one.finding, &lesson)? {
                if taught.is_taken() {
                    *by_session.entry(one.finding.session_name()).or_default() += 1;
                }
                learned.push(taught);
            }
        }
        for (name, keys) in &listened.sessions {
            let extracted = by_session.get(name).copied().unwrap_or(0);
            transaction.remember_session(name, keys.iter().map(String::as_str), extracted)?;
        }
        for (path, cursor) in &listened.cursors {
            transaction.remember_cursor(path, &serde_json::to_string(cursor)?)?;
        }
        Ok(learned)
    })?;
    say_what_is_kept_out(&listened, context);
    Ok(Reply::of(listened, learned, false))
}

/// Writes one lesson; nothing comes back where the same thing waits already.
fn teach(
    transaction: &mut Transaction<'_>,
    stored: &mut Stored,
    finding: &Finding,
    lesson: &Lesson,
) -> anyhow::Result<Option<Learned>> {
    let item = &lesson.seen.item;
    let entry = stored.entry(&transaction.view(), lesson)?;
    let spoken = spoken_of(&transaction.view(), entry.as_ref())?;
    let merge: Merge = merge::learn(entry.as_ref(), spoken, lesson, || transaction.new_uid());
    if merge.outcome == Outcome::Pending {
        let this = waits_as(item, lesson.seen.score.map(Score::value));
        let waits = transaction
            .view()
            .proposals()?
            .iter()
            .any(|waiting| waits_as(&waiting.item, waiting.score) == this);
        if waits {
            return Ok(None);
        }
    }
    let applied = transaction.apply(&merge.change)?;
    match (&entry, merge.score) {
        (None, score) if merge.outcome == Outcome::Added => {
            let score = score.or(lesson.seen.score).unwrap_or(Score::DEFAULT);
            stored.add(applied.id, item, &lesson.seen.keywords, score);
        }
        (Some(entry), Some(score)) if !entry.is_hard_limit() => {
            stored
                .limits
                .add(entry.id, &entry.item, &entry.keywords, score);
        }
        _ => {}
    }
    Ok(Some(Learned::of(
        finding,
        lesson,
        &merge,
        entry.as_ref(),
        Some(&applied),
    )))
}

/// When somebody last spoke about an entry: its newest observation, else when it was last confirmed.
fn spoken_of(view: &View<'_>, entry: Option<&Preference>) -> anyhow::Result<Option<DateTime<Utc>>> {
    let Some(entry) = entry else { return Ok(None) };
    let newest = view
        .evidence(entry.id)?
        .iter()
        .filter_map(|evidence| evidence.at.moment())
        .max();
    Ok(newest.or_else(|| entry.last_seen.moment()))
}

/// Counts by name.
pub(super) fn counted<'n>(names: impl Iterator<Item = &'n str>) -> HashMap<&'n str, usize> {
    let mut counts = HashMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    counts
}
