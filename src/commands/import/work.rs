//! What becomes of each piece of a file in the store. Everything happens in one transaction; before its first change the store
//! is copied.

use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;

use super::reply::{self, Reply, RowResult as Outcome};
use crate::analysis::{Finding, LONGEST_ITEM};
use crate::check::Typed;
use crate::commands::record::{record, speaks_against};
use crate::merge::{
    self, Brought, Incoming, Merge, Observation, OnConflict, bring, names_something,
};
use crate::model::{
    Candidate, Change, Effect, Evidence, Op, Origin, Preference, ProposalValues, Score, Speaker,
    Stamp, Subject, Values, beginning, check_text, item_key, join_keywords, join_patterns,
    stable_name, strip_hidden,
};
use crate::poison::suspicion;
use crate::portable::{
    self, Entry, Format, Found, Heading, Piece, Proposal, Reading, Row, Settings, Statement, Told,
    Trust, Voice,
};
use crate::redact::redact;
use crate::scoring::Decay;
use crate::storage::{Store, Transaction};

/// What a copy of the store is named after.
const OCCASION: &str = "before-import";
/// The score of what speaks against something without a word that weighs it.
const AGAINST: f64 = 2.5;
/// The score of what is forbidden.
const FORBIDDEN: f64 = 0.5;
/// The longest quote that is kept of a text, in characters.
const LONGEST_QUOTE: usize = 300;

/// What is asked for, and what the file is.
#[derive(Debug, Clone)]
pub(super) struct Terms {
    pub format: Format,
    pub trust: Trust,
    pub on_conflict: OnConflict,
    pub review: bool,
    pub accept: bool,
    pub file: String,
}

/// The taking over of one file.
pub(super) struct Work<'w, 't> {
    transaction: &'w mut Transaction<'t>,
    terms: &'w Terms,
    rows: Vec<reply::Row>,
    /// Observations of foreign files that the store has ever seen.
    seen: BTreeSet<String>,
    /// Proposals that wait or were decided.
    known: HashSet<String>,
    /// What waits, by what tells it apart.
    waiting: HashSet<(String, Option<String>)>,
    limits: Vec<String>,
    settings: Option<&'static str>,
    history: Option<&'static str>,
    /// Whether the store had nothing, so that there is nothing to be kept.
    was_empty: bool,
    kept_as: Option<PathBuf>,
}

/// Why something waits that has no other reason.
fn why_of(format: Format) -> &'static str {
    match format {
        Format::Mem0 => "read from memories of mem0",
        Format::McpMemory => "read from the memory of an MCP server",
        Format::Chatgpt => "read from what ChatGPT keeps",
        Format::Rules => "read from a list of rules",
        Format::Entries => "read from a list of entries",
        Format::Aizo | Format::Store => "everything was to wait",
    }
}

const PUBLISHED: &str = "from a profile that somebody has published";
const CHANGED: &str = "it waited in a file that was changed since";
const NOT_STATED: &str = "a hard limit that the user did not state";

/// Something that is to wait.
struct Waiting {
    entry: Preference,
    score: Option<f64>,
    seen: Evidence,
    why: &'static str,
}

impl<'w, 't> Work<'w, 't> {
    pub(super) fn begin(
        transaction: &'w mut Transaction<'t>,
        terms: &'w Terms,
    ) -> anyhow::Result<Self> {
        let view = transaction.view();
        let seen = view.imported_before()?;
        let known = view.known_proposals()?;
        let waiting = view.proposals()?;
        let was_empty = view.is_untouched()?;
        Ok(Work {
            terms,
            rows: Vec::new(),
            seen,
            known,
            waiting: waiting
                .iter()
                .map(|one| waits_as(&one.item, one.score))
                .collect(),
            limits: Vec::new(),
            settings: None,
            history: None,
            was_empty,
            kept_as: None,
            transaction,
        })
    }

    /// Takes over one piece.
    pub(super) fn take(&mut self, found: Found) -> anyhow::Result<()> {
        let line = found.line;
        match found.piece {
            Piece::Row(Row::Entry(entry)) => self.row(line, *entry),
            Piece::Row(Row::Proposal(proposal)) => self.proposal(line, *proposal),
            Piece::Row(Row::Settings(settings)) => self.settings(settings),
            Piece::Row(Row::Change(_)) => Ok(()),
            Piece::Statement(statement) => self.statement(line, statement),
            Piece::Told(told) => self.told(line, told),
            Piece::Other(why) => {
                self.rows.push(reply::Row::left_out(line, None, why));
                Ok(())
            }
            Piece::Bad(why) => {
                self.rows.push(reply::Row::unreadable(line, why));
                Ok(())
            }
        }
    }

    /// What is told in the end.
    pub(super) fn finish(self, reading: &Reading) -> Reply {
        Reply {
            dry_run: false,
            file: self.terms.file.clone(),
            format: reading.format,
            own: matches!(self.terms.trust, Trust::Whole),
            rows: self.rows,
            hard_limits: self.limits,
            settings: self.settings,
            history: self.history,
            problems: reading.problems.clone(),
            kept_as: self.kept_as,
            change: self.transaction.change_number(),
        }
    }

    /// Writes the changes of another journal, where this store has none yet and they fit together.
    pub(super) fn history(&mut self, changes: Vec<portable::Change>) -> anyhow::Result<()> {
        if self.terms.trust != Trust::Whole || self.terms.review {
            self.history = Some("left_out");
            return Ok(());
        }
        if !self.was_empty {
            let last = changes.last();
            let is_known = match last {
                Some(last) => self
                    .transaction
                    .view()
                    .knows_change(&last.device, &last.hlc)?,
                None => true,
            };
            self.history = Some(if is_known { "known" } else { "left_out" });
            return Ok(());
        }
        let holds_secrets = changes.iter().any(|change| {
            let text = serde_json::to_string(change).unwrap_or_default();
            !redact(&text).found.is_empty()
        });
        let fits = Store::in_memory(self.transaction.now())?
            .write(self.transaction.now(), |trial| trial.take_over(&changes))
            .is_ok();
        if holds_secrets || !fits {
            self.history = Some("left_out");
            return Ok(());
        }
        self.transaction.take_over(&changes)?;
        self.known = self.transaction.view().known_proposals()?;
        self.history = Some("taken_over");
        Ok(())
    }

    /// An entry of aizo's own format.
    fn row(&mut self, line: u64, entry: Entry) -> anyhow::Result<()> {
        let entry = match entry.checked() {
            Ok(entry) => entry,
            Err(why) => {
                self.rows.push(reply::Row::unreadable(line, why));
                return Ok(());
            }
        };
        let seen = self.state_seen(&entry);
        if self.terms.trust == Trust::Whole {
            return if self.terms.review {
                self.wait(line, waiting(&entry, seen, why_of(Format::Aizo)))
            } else {
                self.bring(line, entry, seen, true)
            };
        }
        let raw = format!(
            "{}\n{}\n{}",
            entry.item,
            entry.reason,
            entry.keywords.join("\n")
        );
        let entry = Entry {
            origin: self.origin(),
            evidence: Vec::new(),
            ..entry
        };
        let is_published = self.terms.trust == Trust::Published;
        if let Some(why) = suspicion(&raw) {
            return self.wait(line, waiting(&entry, seen, why));
        }
        if self.terms.review || is_published && !self.terms.accept {
            let why = if is_published {
                PUBLISHED
            } else {
                why_of(Format::Aizo)
            };
            return self.wait(line, waiting(&entry, seen, why));
        }
        self.bring(line, usable(entry), seen, self.terms.accept)
    }

    /// Who stands behind what is taken over from a file that says nothing that holds.
    fn origin(&self) -> Origin {
        if self.terms.accept {
            Origin::User
        } else {
            Origin::Import
        }
    }

    /// That an entry stood in a file in this state.
    fn state_seen(&self, entry: &Entry) -> Evidence {
        let origin = match self.terms.trust {
            Trust::Whole => entry.origin,
            _ => Origin::Import,
        };
        Evidence {
            score: Some(entry.base_score),
            origin,
            ..self.observed(entry.state_name(), &entry.reason, Voice::ThePerson, None)
        }
    }

    fn observed(&self, uid: String, quote: &str, voice: Voice, at: Option<Stamp>) -> Evidence {
        let now = self.transaction.now();
        let at = at.and_then(|at| at.moment()).map_or(now, |at| at.min(now));
        Evidence {
            uid,
            at: Stamp::at(at),
            quote: quote.chars().take(LONGEST_QUOTE).collect(),
            speaker: match voice {
                Voice::ThePerson => Speaker::User,
                Voice::AboutThePerson => Speaker::Agent,
            },
            origin: Origin::Import,
            source: self.terms.format.name().to_owned(),
            score: None,
            agent: None,
            session: None,
            place: Some(self.terms.file.clone()),
            confidence: None,
            cues: None,
        }
    }

    /// Takes an entry over: as a new one, or together with the one that is there.
    fn bring(
        &mut self,
        line: u64,
        mut entry: Entry,
        seen: Evidence,
        is_trusted: bool,
    ) -> anyhow::Result<()> {
        let view = self.transaction.view();
        let by_uid = match entry.uid.as_str() {
            "" => None,
            uid => view.entry_by_uid(uid)?,
        };
        let key = item_key(&entry.item);
        let by_key = view.entry_by_key(&key)?;
        let renames = match (&by_uid, &by_key) {
            (Some(own), Some(other)) => own.id == other.id,
            _ => true,
        };
        let existing = by_uid.or(by_key);
        let now = Stamp::at(self.transaction.now());
        for stamp in [&mut entry.added_at, &mut entry.last_seen] {
            if stamp.0.is_empty() {
                stamp.clone_from(&now);
            }
        }
        let Some(existing) = existing else {
            return self.create(line, entry, seen, is_trusted);
        };
        let behind = view.evidence(existing.id)?;
        let known = |uid: &str| behind.iter().any(|one| one.uid == uid);
        let mut evidence = Vec::new();
        for one in std::mem::take(&mut entry.evidence) {
            // What stands behind another entry here stays there.
            if known(&one.uid) || !view.has_evidence(&one.uid)? {
                evidence.push(one);
            }
        }
        let incoming = Incoming {
            entry: entry.preference(),
            evidence,
            is_trusted,
            seen,
        };
        let proposal = proposal_name(&incoming.seen);
        let policy = self.terms.on_conflict;
        let brought = bring(&existing, &behind, &incoming, policy, renames, || {
            proposal.clone()
        });
        let merge = match brought {
            Brought::Unchanged => {
                // The history that came with the file has made it.
                let is_new = self.history == Some("taken_over");
                let outcome = if is_new {
                    Outcome::Added
                } else {
                    Outcome::Unchanged
                };
                if is_new && existing.is_hard_limit() {
                    self.limits.push(existing.item.clone());
                }
                self.rows.push(reply::Row::of(line, outcome, &existing));
                return Ok(());
            }
            Brought::Skipped => {
                self.rows
                    .push(reply::Row::of(line, Outcome::Skipped, &existing));
                return Ok(());
            }
            Brought::Merged(merge) => merge,
        };
        if merge.outcome == merge::Outcome::Pending {
            let why = "would make a hard limit that the user did not state";
            let score = Some(incoming.entry.base_score.value());
            return self.wait(
                line,
                Waiting {
                    entry: incoming.entry,
                    score,
                    seen: incoming.seen,
                    why,
                },
            );
        }
        self.write(line, &existing, *merge)
    }

    fn write(&mut self, line: u64, existing: &Preference, merge: Merge) -> anyhow::Result<()> {
        self.keep_copy()?;
        let applied = self.transaction.restore(&merge.change)?;
        let outcome = match (applied.line, merge.outcome) {
            (None, _) => Outcome::Unchanged,
            (_, merge::Outcome::Kept) => Outcome::Kept,
            (_, merge::Outcome::Limited) => Outcome::Limited,
            (_, merge::Outcome::Replaced) => Outcome::Replaced,
            _ => Outcome::Merged,
        };
        let is_limit = merge.score.is_some_and(Score::is_hard_limit);
        if is_limit && !existing.is_hard_limit() {
            self.limits.push(existing.item.clone());
        }
        self.rows.push(reply::Row {
            score_after: merge.score.map(Score::value),
            ..reply::Row::of(line, outcome, existing)
        });
        Ok(())
    }

    fn create(
        &mut self,
        line: u64,
        entry: Entry,
        seen: Evidence,
        is_trusted: bool,
    ) -> anyhow::Result<()> {
        let stored = entry.preference();
        if stored.is_hard_limit() && !is_trusted {
            let score = Some(entry.base_score);
            let entry = stored;
            return self.wait(
                line,
                Waiting {
                    entry,
                    score,
                    seen,
                    why: NOT_STATED,
                },
            );
        }
        let uid = match entry.uid.as_str() {
            "" => self.transaction.new_uid(),
            uid => uid.to_owned(),
        };
        let mut change = Change::create_entry(Op::Add, uid, entry.origin, &entry.values());
        let mut known = HashSet::new();
        for one in &entry.evidence {
            if known.insert(one.uid.as_str()) && !self.transaction.view().has_evidence(&one.uid)? {
                change.evidence.push(one.clone());
            }
        }
        if self.terms.trust != Trust::Whole {
            self.seen.insert(seen.uid.clone());
            change.evidence.push(seen);
        }
        self.keep_copy()?;
        let applied = self.transaction.restore(&change)?;
        if stored.is_hard_limit() {
            self.limits.push(stored.item.clone());
        }
        let stored = Preference {
            id: applied.id,
            ..stored
        };
        self.rows.push(reply::Row {
            score_before: None,
            ..reply::Row::of(line, Outcome::Added, &stored)
        });
        Ok(())
    }

    /// What waits in a file of aizo's own format.
    fn proposal(&mut self, line: u64, proposal: Proposal) -> anyhow::Result<()> {
        let mut proposal = match proposal.checked() {
            Ok(proposal) => proposal,
            Err(why) => {
                self.rows.push(reply::Row::unreadable(line, why));
                return Ok(());
            }
        };
        if self.terms.trust != Trust::Whole {
            let raw = format!("{}\n{}", proposal.item, proposal.reason);
            proposal.why = suspicion(&raw).unwrap_or(CHANGED).to_owned();
            proposal.origin = Origin::Import;
            let name = stable_name(&["proposal", &item_key(&proposal.item), &proposal.reason]);
            let seen = self.observed(name, &proposal.reason, Voice::ThePerson, None);
            proposal.evidence = Some(seen);
        }
        if proposal.uid.is_empty() {
            proposal.uid = stable_name(&["proposal", &item_key(&proposal.item), &proposal.reason]);
        }
        if proposal.proposed_at.0.is_empty() {
            proposal.proposed_at = Stamp::at(self.transaction.now());
        }
        let is_known = !self.known.insert(proposal.uid.clone());
        let waits = waits_as(&proposal.item, proposal.score);
        // What waits twice in a store of aizo's waits twice here.
        let is_new = match self.terms.trust {
            Trust::Whole => !self.waiting.contains(&waits),
            _ => self.waiting.insert(waits),
        };
        if is_known || !is_new {
            let came_along = self.history == Some("taken_over");
            let outcome = if came_along {
                Outcome::Pending
            } else {
                Outcome::Unchanged
            };
            self.rows
                .push(reply::Row::named(line, outcome, &proposal.item));
            return Ok(());
        }
        let change = Change::propose(proposal.uid.clone(), &proposal.values());
        self.propose(line, &proposal.item, &proposal.why, &change)
    }

    fn propose(&mut self, line: u64, item: &str, why: &str, change: &Change) -> anyhow::Result<()> {
        self.keep_copy()?;
        let applied = self.transaction.apply(change)?;
        self.rows.push(reply::Row {
            proposal: Some(applied.id),
            why: Some(why.to_owned()),
            ..reply::Row::named(line, Outcome::Pending, item)
        });
        Ok(())
    }

    /// Lets something wait, once.
    fn wait(&mut self, line: u64, waiting: Waiting) -> anyhow::Result<()> {
        let Waiting {
            entry,
            score,
            seen,
            why,
        } = waiting;
        let stored = self
            .transaction
            .view()
            .entry_by_key(&item_key(&entry.item))?;
        let is_stored = stored
            .is_some_and(|stored| score.is_none_or(|score| stored.base_score.value() == score));
        let uid = proposal_name(&seen);
        let is_known = !self.seen.insert(seen.uid.clone())
            || !self.known.insert(uid.clone())
            || !self.waiting.insert(waits_as(&entry.item, score));
        if is_known || is_stored {
            self.rows
                .push(reply::Row::named(line, Outcome::Unchanged, &entry.item));
            return Ok(());
        }
        let values = ProposalValues {
            item: entry.item.clone(),
            reason: entry.reason,
            keywords: join_keywords(&entry.keywords),
            scenarios: join_keywords(&entry.scenarios),
            score,
            source: entry.source,
            origin: Origin::Import,
            proposed_at: seen.at.clone(),
            why: why.to_owned(),
            evidence: serde_json::to_string(&seen)?,
            pattern: join_patterns(&entry.patterns),
        };
        self.propose(line, &entry.item, why, &Change::propose(uid, &values))
    }

    /// How fast things fade: as in the file, where nobody has said here how.
    fn settings(&mut self, settings: Settings) -> anyhow::Result<()> {
        let stored = self.transaction.view().decay()?;
        let Ok(wanted) = Decay::new(settings.half_life_days, settings.floor) else {
            return Ok(());
        };
        let is_free = stored == Decay::default() || self.terms.on_conflict == OnConflict::Replace;
        self.settings = Some(if stored == wanted {
            "unchanged"
        } else if self.terms.trust != Trust::Whole || self.terms.review || !is_free {
            "kept"
        } else {
            self.keep_copy()?;
            let mut values = Values::new();
            values.insert("half_life_days".to_owned(), wanted.half_life_days.into());
            values.insert("floor".to_owned(), wanted.floor.into());
            self.transaction.apply(&Change {
                op: Op::Config,
                subject: Subject::Decay,
                origin: Origin::User,
                effect: Effect::Set(values),
                evidence: Vec::new(),
            })?;
            "changed"
        });
        Ok(())
    }

    /// An entry of a foreign list.
    fn statement(&mut self, line: u64, statement: Statement) -> anyhow::Result<()> {
        let raw = format!(
            "{}\n{}\n{}",
            statement.item,
            statement.reason,
            statement.keywords.join("\n")
        );
        let score = statement.score;
        let named = [
            item_key(&statement.item),
            statement.reason.clone(),
            score.map_or_else(String::new, |score| score.to_string()),
            statement.keywords.join(","),
        ];
        let uid = stable_name(&["import", &named[0], &named[1], &named[2], &named[3]]);
        let entry = match self.entry_of(statement) {
            Ok(entry) => entry,
            Err(why) => {
                self.rows.push(reply::Row::unreadable(line, why));
                return Ok(());
            }
        };
        let seen = Evidence {
            score,
            ..self.observed(uid, &entry.reason, Voice::AboutThePerson, None)
        };
        let why = suspicion(&raw).or(self.terms.review.then(|| why_of(Format::Entries)));
        if let Some(why) = why {
            let mut waiting = waiting(&entry, seen, why);
            waiting.score = score;
            return self.wait(line, waiting);
        }
        if self.seen.contains(&seen.uid) {
            self.rows
                .push(reply::Row::named(line, Outcome::Unchanged, &entry.item));
            return Ok(());
        }
        let existing = self
            .transaction
            .view()
            .entry_by_key(&item_key(&entry.item))?;
        let mut entry = entry;
        if let Some(existing) = existing {
            // What a list does not say stays.
            entry.added_at = existing.added_at;
            entry.touch_count = existing.touch_count;
            if score.is_none() {
                entry.base_score = existing.base_score.value();
            }
            if entry.keywords.is_empty() {
                entry.keywords = existing.keywords;
            }
            if entry.scenarios.is_empty() {
                entry.scenarios = existing.scenarios;
            }
            if entry.patterns.is_empty() {
                entry.patterns = existing.patterns;
            }
            if entry.reason.is_empty() {
                entry.reason = existing.reason;
            }
        }
        let key = seen.uid.clone();
        self.bring(line, entry, seen, self.terms.accept)?;
        self.seen.insert(key);
        Ok(())
    }

    fn entry_of(&self, statement: Statement) -> Result<Entry, String> {
        let score = match statement.score {
            Some(score) => Score::new(score).map_err(|error| error.to_string())?,
            None => Score::DEFAULT,
        };
        let now = Stamp::at(self.transaction.now());
        let entry = Entry {
            uid: String::new(),
            item: statement.item,
            reason: statement.reason,
            keywords: statement
                .keywords
                .iter()
                .map(|word| word.to_lowercase())
                .collect(),
            scenarios: statement
                .scenarios
                .iter()
                .map(|name| name.to_lowercase())
                .collect(),
            base_score: score.value(),
            source: "import".to_owned(),
            origin: self.origin(),
            added_at: now.clone(),
            last_seen: now,
            touch_count: 0,
            patterns: statement.patterns,
            evidence: Vec::new(),
        };
        entry.checked().map(usable)
    }

    /// A text.
    fn told(&mut self, line: u64, told: Told) -> anyhow::Result<()> {
        let text = told.text.clone();
        let whole: String = strip_hidden(&text)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        if let Some(why) = suspicion(&text) {
            let item = whole.chars().take(LONGEST_ITEM).collect();
            let (entry, seen) = self.heard(item, &whole, &told);
            return self.wait(
                line,
                Waiting {
                    entry,
                    score: None,
                    seen,
                    why,
                },
            );
        }
        let mut any = false;
        for candidate in portable::candidates(&told) {
            let names = names_something(&candidate.item);
            if candidate.item.chars().count() <= LONGEST_ITEM && names {
                any = true;
                self.candidate(line, &told, candidate)?;
            }
        }
        if any {
            return Ok(());
        }
        if whole.chars().count() > LONGEST_ITEM {
            let why = "nothing in it reads like a preference, and it is too long for an item";
            self.rows
                .push(reply::Row::left_out(line, Some(&whole), why));
            return Ok(());
        }
        let score = match told.under {
            Some(Heading::Never) => Some(FORBIDDEN),
            Some(Heading::Avoid) => Some(AGAINST),
            None => speaks_against(&whole).then_some(AGAINST),
        };
        let item = whole.trim_end_matches(['.', '。', ';', '；']).to_owned();
        let (entry, mut seen) = self.heard(item, &whole, &told);
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
            reason: beginning(whole, crate::model::MAX_TEXT_BYTES).to_owned(),
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
            self.rows
                .push(reply::Row::left_out(line, None, "it says nothing"));
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
                    why,
                },
            );
        }
        if !self.seen.insert(seen.uid.clone()) {
            self.rows
                .push(reply::Row::named(line, Outcome::Unchanged, &entry.item));
            return Ok(());
        }
        let existing = self
            .transaction
            .view()
            .entry_by_key(&item_key(&entry.item))?;
        if let (Some(existing), OnConflict::Skip) = (&existing, self.terms.on_conflict) {
            self.rows
                .push(reply::Row::of(line, Outcome::Skipped, existing));
            return Ok(());
        }
        self.keep_copy()?;
        let recorded = record(
            self.transaction,
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
        self.rows.push(reply::Row::recorded(line, &recorded));
        Ok(())
    }

    /// Copies the store before its first change.
    fn keep_copy(&mut self) -> anyhow::Result<()> {
        if self.kept_as.is_none() && !self.was_empty {
            self.kept_as = self.transaction.keep_copy(OCCASION)?;
        }
        Ok(())
    }
}

fn waiting(entry: &Entry, seen: Evidence, why: &'static str) -> Waiting {
    Waiting {
        score: Some(entry.base_score),
        entry: entry.preference(),
        seen,
        why,
    }
}

/// The entry without patterns that cannot be used.
fn usable(mut entry: Entry) -> Entry {
    let typed = Typed::read(entry.patterns.iter().map(String::as_str));
    entry.patterns = typed.map(|typed| typed.patterns).unwrap_or_default();
    entry
}

/// What names the proposal of an observation.
fn proposal_name(seen: &Evidence) -> String {
    stable_name(&["proposal", &seen.uid])
}

/// What tells two things that wait apart.
fn waits_as(item: &str, score: Option<f64>) -> (String, Option<String>) {
    (item_key(item), score.map(|score| score.to_string()))
}
