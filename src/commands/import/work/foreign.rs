//! What other programs wrote: lists of entries, which are taken over but for their hard limits, and texts about a person, which
//! wait. What speaks to the model waits whatever is asked for.

use super::waiting::{Waiting, why_of};
use super::{Outcome, Work, reply, usable};
use crate::analysis::{Finding, LONGEST_ITEM};
use crate::commands::record::{record, speaks_against};
use crate::merge::{Observation, OnConflict, names_something};
use crate::model::{
    Candidate, Evidence, MAX_TEXT_BYTES, Origin, Preference, Score, Stamp, beginning, check_text,
    item_key, stable_name, strip_hidden,
};
use crate::poison::suspicion;
use crate::portable::{self, Entry, Format, Heading, Statement, Told, Voice};

/// The score of what speaks against something without a word that weighs it.
const AGAINST: f64 = 2.5;
/// The score of what is forbidden.
const FORBIDDEN: f64 = 0.5;

impl Work<'_, '_> {
    /// An entry of a foreign list.
    pub(super) fn statement(&mut self, line: u64, statement: Statement) -> anyhow::Result<()> {
        let Statement {
            item,
            reason,
            score,
            keywords,
            ..
        } = &statement;
        let score = *score;
        let suspicion = statement.suspicion();
        let score_text = score.map_or_else(String::new, |score| score.to_string());
        let named = [
            "import",
            &item_key(item),
            reason,
            &score_text,
            &keywords.join(","),
        ];
        let uid = stable_name(&named);
        let entry = match self.entry_of(statement) {
            Ok(entry) => entry,
            Err(why) => return self.unreadable(line, why),
        };
        let seen = Evidence {
            score,
            ..self.observed(uid, &entry.reason, Voice::AboutThePerson, None)
        };
        let why = suspicion.or(self.terms.review.then(|| why_of(Format::Entries)));
        if let Some(why) = why {
            let waiting = Waiting::of(&entry, seen, why);
            return self.wait(line, Waiting { score, ..waiting });
        }
        if self.seen.contains(&seen.uid) {
            return self.seen_before(line, &entry.item, &seen);
        }
        let key = item_key(&entry.item);
        let existing = self.transaction.view().entry_by_key(&key)?;
        let entry = match existing {
            Some(existing) => completed(entry, score, existing),
            None => entry,
        };
        let uid = seen.uid.clone();
        self.bring(line, entry, seen, self.terms.accept)?;
        self.seen.insert(uid);
        Ok(())
    }

    fn entry_of(&self, statement: Statement) -> Result<Entry, String> {
        let score = match statement.score {
            Some(score) => Score::new(score).map_err(|error| error.to_string())?,
            None => Score::DEFAULT,
        };
        let now = Stamp::at(self.transaction.now());
        let lowercase = |words: &[String]| words.iter().map(|word| word.to_lowercase()).collect();
        let entry = Entry {
            uid: String::new(),
            item: statement.item,
            reason: statement.reason,
            keywords: lowercase(&statement.keywords),
            scenarios: lowercase(&statement.scenarios),
            base_score: score.value(),
            source: "import".to_owned(),
            origin: self.origin(),
            added_at: now.clone(),
            last_seen: now,
            touch_count: 0,
            patterns: statement.patterns,
            evidence: Vec::new(),
        };
        entry.checked(MAX_TEXT_BYTES).map(usable)
    }

    /// A text.
    pub(super) fn told(&mut self, line: u64, told: Told) -> anyhow::Result<()> {
        let clean = strip_hidden(&told.text);
        let whole = clean.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(why) = suspicion(&told.text) {
            let item = whole.chars().take(LONGEST_ITEM).collect();
            let (entry, seen) = self.heard(item, &whole, &told);
            let score = None;
            return self.wait(
                line,
                Waiting {
                    entry,
                    score,
                    seen,
                    why: why.into(),
                },
            );
        }
        let mut found = portable::candidates(&told);
        found.retain(|one| one.item.chars().count() <= LONGEST_ITEM && names_something(&one.item));
        if told.is_prose {
            found.retain(|one| one.sure);
        }
        if found.is_empty() {
            if told.is_prose && !is_rule(&told, &whole) {
                let text: String = whole.chars().take(LONGEST_ITEM).collect();
                let why = "it is no bullet, and says no rule";
                let row = reply::Row::left_out(line, Some(&text), why);
                self.rows.push(row);
                return Ok(());
            }
            return self.whole(line, &whole, &told);
        }
        found
            .into_iter()
            .try_for_each(|candidate| self.candidate(line, &told, candidate))
    }

    /// A text in which nothing is found: itself, where it is short.
    fn whole(&mut self, line: u64, whole: &str, told: &Told) -> anyhow::Result<()> {
        if whole.chars().count() > LONGEST_ITEM {
            let why = "nothing in it reads like a preference, and it is too long for an item";
            let row = reply::Row::left_out(line, Some(whole), why);
            self.rows.push(row);
            return Ok(());
        }
        let score = match told.under {
            Some(Heading::Never) => Some(FORBIDDEN),
            Some(Heading::Avoid) => Some(AGAINST),
            None => speaks_against(whole).then_some(AGAINST),
        };
        let item = whole.trim_end_matches(['.', '。', ';', '；']).to_owned();
        let (entry, mut seen) = self.heard(item, whole, told);
        seen.score = score;
        self.learn(line, entry, score, seen)
    }

    /// A text as an entry, and as an observation.
    fn heard(&self, item: String, whole: &str, told: &Told) -> (Preference, Evidence) {
        let uid = stable_name(&["import", &item_key(whole), &item_key(&item)]);
        let seen = self.observed(uid, whole, told.voice, told.at.clone());
        let entry = Preference {
            id: 0,
            uid: String::new(),
            item,
            reason: beginning(whole, MAX_TEXT_BYTES).to_owned(),
            keywords: Vec::new(),
            scenarios: Vec::new(),
            base_score: Score::DEFAULT,
            source: self.terms.format.name().to_owned(),
            origin: Origin::Import,
            added_at: seen.at.clone(),
            last_seen: seen.at.clone(),
            touch_count: 0,
            patterns: Vec::new(),
        };
        (entry, seen)
    }

    /// A preference that was found in a text.
    fn candidate(&mut self, line: u64, told: &Told, candidate: Candidate) -> anyhow::Result<()> {
        let confidence = candidate.confidence;
        let finding = Finding {
            turn: String::new(),
            agent: String::new(),
            session: String::new(),
            place: String::new(),
            said_at: None,
            candidate,
        };
        let lesson = finding.lesson(self.transaction.now(), None);
        let (mut entry, mut seen) = self.heard(lesson.seen.item, &lesson.evidence.quote, told);
        entry.keywords = lesson.seen.keywords;
        entry.scenarios = lesson.seen.scenarios;
        entry.patterns = lesson.seen.patterns;
        seen.score = lesson.evidence.score;
        seen.confidence = Some(confidence);
        seen.cues = lesson.evidence.cues;
        self.learn(line, entry, seen.score, seen)
    }

    /// Lets a text wait, or takes it over where the person has said so.
    fn learn(
        &mut self,
        line: u64,
        entry: Preference,
        score: Option<f64>,
        seen: Evidence,
    ) -> anyhow::Result<()> {
        let Ok(item) = check_text("item", &entry.item) else {
            let row = reply::Row::left_out(line, None, "it says nothing");
            self.rows.push(row);
            return Ok(());
        };
        let entry = Preference { item, ..entry };
        if !self.terms.accept {
            let why = why_of(self.terms.format);
            return self.wait(
                line,
                Waiting {
                    entry,
                    score,
                    seen,
                    why: why.into(),
                },
            );
        }
        if !self.seen.insert(seen.uid.clone()) {
            return self.seen_before(line, &entry.item, &seen);
        }
        let key = item_key(&entry.item);
        let existing = self.transaction.view().entry_by_key(&key)?;
        if let (Some(existing), OnConflict::Skip) = (&existing, self.terms.on_conflict) {
            let row = reply::Row::of(line, Outcome::Skipped, existing);
            self.rows.push(row);
            return Ok(());
        }
        self.keep_copy()?;
        self.know_limits()?;
        let recorded = record(
            self.transaction,
            self.in_force.get_or_insert_default(),
            &Observation {
                item: entry.item,
                reason: entry.reason,
                keywords: entry.keywords,
                scenarios: entry.scenarios,
                patterns: entry.patterns,
                score: score.map(Score::clamped),
                source: entry.source,
                origin: Origin::User,
                quote: None,
                evidence: Some(seen),
            },
        )?;
        let is_limit =
            |score: Option<f64>| score.is_some_and(|score| Score::clamped(score).is_hard_limit());
        if is_limit(recorded.score_after) && !is_limit(recorded.score_before) {
            self.limits.push(recorded.item.clone());
        }
        let row = reply::Row::recorded(line, &recorded);
        self.rows.push(row);
        Ok(())
    }
}

/// Whether a paragraph in which nothing is found forbids something all the same.
fn is_rule(told: &Told, whole: &str) -> bool {
    told.under.is_some() || speaks_against(whole)
}

/// An entry of a list with what is stored in the place of what the list does not say.
fn completed(mut entry: Entry, score: Option<f64>, stored: Preference) -> Entry {
    entry.added_at = stored.added_at;
    entry.touch_count = stored.touch_count;
    if score.is_none() {
        entry.base_score = stored.base_score.value();
    }
    if entry.reason.is_empty() {
        entry.reason = stored.reason;
    }
    let lists = [
        (&mut entry.keywords, stored.keywords),
        (&mut entry.scenarios, stored.scenarios),
        (&mut entry.patterns, stored.patterns),
    ];
    for (list, stored) in lists {
        if list.is_empty() {
            *list = stored;
        }
    }
    entry
}
