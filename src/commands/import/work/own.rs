//! The rows of aizo's own format and of stores: as they were, where the file is as aizo wrote it; else like anybody's.

use std::collections::HashSet;

use super::history::TAKEN_OVER;
use super::waiting::{FORGOTTEN, Waiting, waits_as, waits_for, why_of};
use super::{Outcome, Work, reply, usable};
use crate::merge::{self, Brought, Incoming, Merge, OnConflict, bring};
use crate::model::{
    Change, Evidence, MAX_TEXT_BYTES, Op, Origin, Preference, Score, Stamp, item_key, stable_name,
};
use crate::poison::is_suspicion;
use crate::portable::{Entry, Format, Proposal, Trust, Voice};

/// The longest text that aizo's own files may hold, in bytes: an earlier version knew no end.
const LONGEST_TEXT: usize = 64 << 10;

pub(in crate::commands::import) const EARLIER: &str = "it is an earlier state of the entry";
pub(in crate::commands::import) const HELD: &str =
    "a hard limit keeps its item, patterns and keywords, and gets no milder by a file";
const PUBLISHED: &str = "from a profile that somebody has published";
const CHANGED: &str = "it waited in a file that was changed since";
const NOT_STATED: &str = "a hard limit that the user did not state";
const NOT_STATED_OF_AN_ENTRY: &str = "would make a hard limit that the user did not state";

impl Work<'_, '_> {
    fn longest_text(&self) -> usize {
        match self.terms.trust {
            Trust::Whole => LONGEST_TEXT,
            _ => MAX_TEXT_BYTES,
        }
    }

    /// An entry of aizo's own format.
    pub(super) fn row(&mut self, line: u64, entry: Entry) -> anyhow::Result<()> {
        let suspicion = entry.suspicion();
        let entry = match entry.checked(self.longest_text()) {
            Ok(entry) => entry,
            Err(why) => return self.unreadable(line, why),
        };
        let seen = self.state_seen(&entry);
        if self.terms.trust == Trust::Whole {
            // A sum that is right says nothing of who has made it.
            let why = suspicion.or(self.terms.review.then(|| why_of(Format::Aizo)));
            return match why {
                Some(why) => self.wait(line, Waiting::of(&entry, seen, why)),
                None => self.bring(line, entry, seen, true),
            };
        }
        let now = Stamp::at(self.transaction.now());
        let or_now = |stamp: Stamp| {
            if stamp.0.is_empty() {
                now.clone()
            } else {
                stamp
            }
        };
        let entry = usable(entry);
        let entry = Entry {
            origin: self.origin(),
            added_at: or_now(entry.added_at),
            last_seen: or_now(entry.last_seen),
            evidence: Vec::new(),
            ..entry
        };
        let is_published = self.terms.trust == Trust::Published && !self.terms.accept;
        let why = suspicion
            .or(is_published.then_some(PUBLISHED))
            .or(self.terms.review.then(|| why_of(Format::Aizo)));
        match why {
            Some(why) => self.wait(line, Waiting::of(&entry, seen, why)),
            None => self.bring(line, entry, seen, self.terms.accept),
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

    /// Takes an entry over: as a new one, or together with the one that is there.
    pub(super) fn bring(
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
        let by_key = view.entry_by_key(&item_key(&entry.item))?;
        let renames = match (&by_uid, &by_key) {
            (Some(own), Some(other)) => own.id == other.id,
            _ => true,
        };
        let existing = by_uid.or(by_key);
        if !is_trusted && let Some(why) = self.speaks_against_a_limit(&entry, existing.as_ref())? {
            return self.wait(line, Waiting::of(&entry, seen, why));
        }
        let view = self.transaction.view();
        let Some(existing) = existing else {
            return self.create(line, entry, seen, is_trusted);
        };
        let replaces = self.terms.on_conflict == OnConflict::Replace;
        if replaces && self.terms.trust != Trust::Whole && says_the_same(&entry, &existing) {
            // Said again it is no news, and when it was said a foreign list does not know.
            entry.added_at = existing.added_at.clone();
            entry.last_seen = existing.last_seen.clone();
            entry.touch_count = existing.touch_count;
        }
        let behind = view.evidence(existing.id)?;
        let mut evidence = Vec::new();
        for one in std::mem::take(&mut entry.evidence) {
            if let Some(known) = behind.iter().find(|known| is_same(known, &one)) {
                evidence.push(known.clone());
            } else if !view.has_evidence(&one.uid)? {
                // What stands behind another entry here stays there.
                evidence.push(one);
            }
        }
        let incoming = Incoming {
            was_so: existing.uid == entry.uid && view.was_once(&entry.uid, &entry.values())?,
            entry: entry.preference(),
            evidence,
            is_trusted,
            renames,
            seen,
        };
        match bring(&existing, &behind, &incoming, self.terms.on_conflict) {
            Brought::Unchanged => {
                self.is_there(line, &existing);
                Ok(())
            }
            Brought::Earlier => {
                self.rows.push(reply::Row {
                    why: Some(EARLIER.to_owned()),
                    ..reply::Row::of(line, Outcome::Unchanged, &existing)
                });
                Ok(())
            }
            Brought::Skipped => {
                let row = reply::Row::of(line, Outcome::Skipped, &existing);
                self.rows.push(row);
                Ok(())
            }
            Brought::Waits => {
                let score = Some(incoming.entry.base_score.value());
                self.wait(
                    line,
                    Waiting {
                        entry: incoming.entry,
                        score,
                        seen: incoming.seen,
                        why: NOT_STATED_OF_AN_ENTRY.into(),
                    },
                )
            }
            Brought::Merged(merge) => {
                let is_held =
                    merge.outcome == merge::Outcome::Kept && incoming.entry.is_hard_limit();
                self.write(line, &existing, *merge, is_held.then(|| HELD.to_owned()))
            }
        }
    }

    /// Why an entry has to wait that is liked, and of which the user has forbidden something.
    fn speaks_against_a_limit(
        &mut self,
        entry: &Entry,
        existing: Option<&Preference>,
    ) -> anyhow::Result<Option<String>> {
        let stays = existing.is_some_and(|existing| {
            self.terms.on_conflict == OnConflict::Skip
                || existing.is_hard_limit()
                || merge::is_in_favor(existing.base_score)
        });
        if stays || !merge::is_in_favor(Score::clamped(entry.base_score)) {
            return Ok(None);
        }
        let limit = self.know_limits()?.against(&entry.item, &entry.reason);
        Ok(limit.map(|limit| merge::against_the_limit(&limit.item, &entry.item)))
    }

    /// Says that an entry is there, of which the history that came with the file may have made it.
    fn is_there(&mut self, line: u64, existing: &Preference) {
        if self.history != Some(TAKEN_OVER) {
            let row = reply::Row::of(line, Outcome::Unchanged, existing);
            self.rows.push(row);
            return;
        }
        if existing.is_hard_limit() {
            self.in_force(existing);
        }
        self.rows.push(reply::Row {
            score_before: None,
            ..reply::Row::of(line, Outcome::Added, existing)
        });
    }

    fn write(
        &mut self,
        line: u64,
        existing: &Preference,
        merge: Merge,
        why: Option<String>,
    ) -> anyhow::Result<()> {
        self.keep_copy()?;
        let applied = self.transaction.apply_stored(&merge.change)?;
        let outcome = match (applied.line, merge.outcome) {
            (None, _) => Outcome::Unchanged,
            (_, merge::Outcome::Kept) => Outcome::Kept,
            (_, merge::Outcome::Limited) => Outcome::Limited,
            (_, merge::Outcome::Replaced) => Outcome::Replaced,
            _ => Outcome::Merged,
        };
        let is_limit = merge.score.is_some_and(Score::is_hard_limit);
        if is_limit && !existing.is_hard_limit() {
            self.in_force(existing);
        }
        self.rows.push(reply::Row {
            score_after: merge.score.map(Score::value),
            why,
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
        let mut stored = entry.preference();
        if stored.is_hard_limit() && !is_trusted {
            return self.wait(line, Waiting::of(&entry, seen, NOT_STATED));
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
        let was_forgotten = self.transaction.view().is_forgotten(&change.subject)?;
        stored.id = self.transaction.apply_stored(&change)?.id;
        if stored.is_hard_limit() {
            self.in_force(&stored);
        }
        self.rows.push(reply::Row {
            score_before: None,
            why: was_forgotten.then(|| FORGOTTEN.to_owned()),
            ..reply::Row::of(line, Outcome::Added, &stored)
        });
        Ok(())
    }

    /// What waits in a file of aizo's own format.
    pub(super) fn proposal(&mut self, line: u64, proposal: Proposal) -> anyhow::Result<()> {
        let suspicion = proposal.suspicion();
        let mut proposal = match proposal.checked(self.longest_text()) {
            Ok(proposal) => proposal,
            Err(why) => return self.unreadable(line, why),
        };
        let name = stable_name(&["proposal", &item_key(&proposal.item), &proposal.reason]);
        if self.terms.trust != Trust::Whole {
            let seen = self.observed(name.clone(), &proposal.reason, Voice::ThePerson, None);
            CHANGED.clone_into(&mut proposal.why);
            proposal.origin = Origin::Import;
            proposal.evidence = Some(seen);
            if proposal.proposed_at.0.is_empty() {
                proposal.proposed_at = Stamp::at(self.transaction.now());
            }
        }
        if let Some(why) = suspicion.filter(|_| !is_suspicion(&proposal.why)) {
            why.clone_into(&mut proposal.why);
        }
        if proposal.uid.is_empty() {
            proposal.uid = name;
        }
        let was_forgotten;
        (proposal.uid, was_forgotten) = self.free_proposal(proposal.uid)?;
        let known = self.known.get(&proposal.uid).copied();
        self.known.entry(proposal.uid.clone()).or_insert(false);
        let waits = waits_as(&proposal.item, proposal.score);
        // What waits twice in a store of aizo's waits twice here.
        let is_new = match self.terms.trust {
            Trust::Whole => !self.waiting.contains(&waits),
            _ => self.waiting.insert(waits),
        };
        if is_new && known.is_none() {
            let change = Change::propose(proposal.uid.clone(), &proposal.values());
            let why = waits_for(&proposal.why, was_forgotten);
            return self.propose(line, &proposal.item, &why, &change);
        }
        if known == Some(true) {
            return self.rejected(line, &proposal.item);
        }
        // The history that came with the file has brought it.
        let came_along = self.history == Some(TAKEN_OVER);
        let outcome = if came_along {
            Outcome::Pending
        } else {
            Outcome::Unchanged
        };
        let row = reply::Row::named(line, outcome, &proposal.item);
        self.rows.push(row);
        Ok(())
    }
}

/// Whether an entry has the values that are stored, but for its times.
fn says_the_same(entry: &Entry, stored: &Preference) -> bool {
    let timeless = |one: Preference| Preference {
        id: 0,
        uid: String::new(),
        origin: Origin::Import,
        added_at: stored.added_at.clone(),
        last_seen: stored.last_seen.clone(),
        touch_count: 0,
        ..one
    };
    timeless(entry.preference()) == timeless(stored.clone())
}

/// Whether two observations are one. A store of an earlier aizo gives them other names each time it is brought up to date.
fn is_same(known: &Evidence, other: &Evidence) -> bool {
    let named = Evidence {
        uid: known.uid.clone(),
        ..other.clone()
    };
    known.uid == other.uid || *known == named
}
