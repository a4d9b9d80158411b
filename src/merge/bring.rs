//! What becomes of an entry that comes out of another store, where this one has it already: nothing new, the same entry at an
//! earlier or later time, or two that have gone apart.

use std::collections::HashSet;

use super::{
    Merge, Observation, Outcome, is_said, more_patterns, sorted, takes_over_reason, union,
};
use crate::model::{
    Change, EntryValues, Evidence, Op, Origin, Preference, Score, Stamp, item_key, join_keywords,
    join_patterns,
};
use crate::scoring::smooth;

/// What becomes of an entry that is there already with other values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum OnConflict {
    /// Take it for a further observation, as `add` does
    #[default]
    Merge,
    /// Leave what is stored as it is
    Skip,
    /// Take the values of the file
    Replace,
}

/// An entry that comes out of another store.
#[derive(Debug, Clone)]
pub struct Incoming {
    /// Its values.
    pub entry: Preference,
    /// The observations behind it.
    pub evidence: Vec<Evidence>,
    /// Whether its origin holds, so that a limit is in force at once.
    pub is_trusted: bool,
    /// Whether the stored entry once had just these values.
    pub was_so: bool,
    /// Whether its item is free for the stored entry.
    pub renames: bool,
    /// The observation that it is one, for where the two have gone apart.
    pub seen: Evidence,
}

/// What to do with an incoming entry.
#[derive(Debug, Clone, PartialEq)]
pub enum Brought {
    /// Nothing of it is new.
    Unchanged,
    /// It is what the entry was before it became what it is.
    Earlier,
    /// It was to be left as it is.
    Skipped,
    /// It would make a hard limit, and its origin does not hold.
    Waits,
    /// This is to be written.
    Merged(Box<Merge>),
}

/// Decides what becomes of an entry that the store holds already. `behind` are the observations behind the stored one.
pub fn bring(
    existing: &Preference,
    behind: &[Evidence],
    incoming: &Incoming,
    policy: OnConflict,
) -> Brought {
    let names =
        |all: &[Evidence]| -> HashSet<String> { all.iter().map(|one| one.uid.clone()).collect() };
    let (ours, theirs) = (names(behind), names(&incoming.evidence));
    let brings_more = !theirs.is_subset(&ours);
    if !brings_more && !differs(existing, incoming) {
        return Brought::Unchanged;
    }
    let (there, here) = (
        incoming.entry.last_seen.moment(),
        existing.last_seen.moment(),
    );
    let lacks_some = !ours.is_subset(&theirs);
    // A list that knows of no observations says nothing of when it was made.
    let is_before = incoming.is_trusted && lacks_some && there <= here;
    let is_earlier = !brings_more && (incoming.was_so || is_before);
    let is_later =
        incoming.is_trusted && brings_more && !ours.is_empty() && !lacks_some && there >= here;
    let was_seen = ours.contains(&incoming.seen.uid);
    let stays = existing.is_hard_limit()
        && (!incoming.entry.is_hard_limit() || would_weaken(existing, &incoming.entry));
    match policy {
        OnConflict::Skip => return Brought::Skipped,
        OnConflict::Merge if was_seen => return Brought::Unchanged,
        // What this store has seen beyond the file stands.
        OnConflict::Merge if is_earlier => return Brought::Earlier,
        OnConflict::Replace if stays && was_seen => return Brought::Unchanged,
        _ => {}
    }
    let outright = policy == OnConflict::Replace || is_later;
    match decide(existing, incoming, outright) {
        None => Brought::Waits,
        Some(merge) => Brought::Merged(Box::new(with_evidence(merge, incoming, &ours, outright))),
    }
}

/// Whether the values are not the same. An origin that does not hold says nothing.
fn differs(existing: &Preference, incoming: &Incoming) -> bool {
    let bare = |entry: &Preference| Preference {
        id: 0,
        uid: String::new(),
        origin: if incoming.is_trusted {
            entry.origin
        } else {
            Origin::Import
        },
        ..entry.clone()
    };
    bare(existing) != bare(&incoming.entry)
}

/// Whether a hard limit would forbid less, or be another one, if the values of the other stood: no file does that.
pub fn would_weaken(limit: &Preference, other: &Preference) -> bool {
    let lacks = |have: &[String], stored: &[String]| stored.iter().any(|one| !have.contains(one));
    other.base_score > limit.base_score
        || item_key(&other.item) != item_key(&limit.item)
        || lacks(&other.patterns, &limit.patterns)
        || lacks(&other.keywords, &limit.keywords)
        || limit.origin == Origin::User && other.origin != Origin::User
}

/// What is to be written; nothing where it has to wait.
fn decide(existing: &Preference, incoming: &Incoming, outright: bool) -> Option<Merge> {
    let entry = &incoming.entry;
    let (old, new) = (existing.base_score, entry.base_score);
    let (outcome, op, score) = match (old.is_hard_limit(), new.is_hard_limit()) {
        (true, false) => (Outcome::Kept, Op::Keep, old),
        (false, true) if !incoming.is_trusted => return None,
        (false, true) => (Outcome::Limited, Op::Limit, new),
        (true, true) if outright && would_weaken(existing, entry) => {
            let lower = if new < old { new } else { old };
            (Outcome::Kept, Op::Merge, lower)
        }
        // Of two limits the stricter one stands.
        (true, true) if !outright && new > old => (Outcome::Kept, Op::Merge, old),
        (true, true) if !outright => (Outcome::Merged, Op::Merge, new),
        _ if outright => (Outcome::Replaced, Op::Update, new),
        _ => (Outcome::Merged, Op::Merge, smooth(old, new)),
    };
    let values = if outright && outcome != Outcome::Kept {
        all_of(entry, incoming.renames)
    } else {
        united(existing, incoming, outcome, score)
    };
    Some(Merge {
        outcome,
        score: Some(score),
        change: Change::set_entry(op, &existing.uid, entry.origin, &values),
    })
}

fn observation(incoming: &Incoming) -> Observation {
    let entry = &incoming.entry;
    Observation {
        item: entry.item.clone(),
        reason: entry.reason.clone(),
        keywords: entry.keywords.clone(),
        scenarios: entry.scenarios.clone(),
        patterns: entry.patterns.clone(),
        score: Some(entry.base_score),
        source: entry.source.clone(),
        origin: entry.origin,
        quote: None,
        evidence: None,
    }
}

/// The values of the file as they are.
fn all_of(entry: &Preference, renames: bool) -> EntryValues {
    EntryValues {
        item: renames.then(|| entry.item.clone()),
        reason: Some(entry.reason.clone()),
        keywords: Some(join_keywords(&entry.keywords)),
        scenarios: Some(sorted(entry.scenarios.clone())),
        base_score: Some(entry.base_score.value()),
        source: Some(entry.source.clone()),
        origin: Some(entry.origin),
        added_at: Some(entry.added_at.clone()),
        last_seen: Some(entry.last_seen.clone()),
        touch_count: Some(entry.touch_count),
        pattern: Some(join_patterns(&entry.patterns)),
    }
}

/// The two together, by the rules for adding an item again.
fn united(
    existing: &Preference,
    incoming: &Incoming,
    outcome: Outcome,
    score: Score,
) -> EntryValues {
    let (entry, seen) = (&incoming.entry, observation(incoming));
    // What a file says of a limit that is as strict already is no better reason for it.
    let reason_stands = existing.is_hard_limit()
        && entry.base_score >= existing.base_score
        && !existing.reason.is_empty();
    let takes_reason = !reason_stands && takes_over_reason(existing, &seen, outcome);
    EntryValues {
        reason: takes_reason.then(|| entry.reason.clone()),
        keywords: union(&existing.keywords, &entry.keywords).map(|all| join_keywords(&all)),
        scenarios: union(&existing.scenarios, &entry.scenarios).map(sorted),
        base_score: is_said(outcome, existing.base_score, score).then(|| score.value()),
        origin: (entry.origin == Origin::User && existing.origin != Origin::User)
            .then_some(Origin::User),
        last_seen: later(&existing.last_seen, &entry.last_seen),
        touch_count: (entry.touch_count > existing.touch_count).then_some(entry.touch_count),
        pattern: more_patterns(existing, &seen).map(|all| join_patterns(&all)),
        ..EntryValues::default()
    }
}

/// The moment of the second, where it is the later one.
fn later(a: &Stamp, b: &Stamp) -> Option<Stamp> {
    (b.moment() > a.moment()).then(|| b.clone())
}

/// Adds what is new behind the entry; where the two have gone apart and nothing else would tell, that this state of it was seen.
fn with_evidence(
    mut merge: Merge,
    incoming: &Incoming,
    ours: &HashSet<String>,
    outright: bool,
) -> Merge {
    let evidence = &mut merge.change.evidence;
    if incoming.is_trusted {
        let new = incoming.evidence.iter();
        evidence.extend(new.filter(|one| !ours.contains(&one.uid)).cloned());
    }
    let is_told_by_values = outright && merge.outcome != Outcome::Kept;
    if !is_told_by_values {
        evidence.push(incoming.seen.clone());
    }
    merge
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Effect, Speaker};
    use rstest::rstest;

    fn evidence(uid: &str) -> Evidence {
        Evidence {
            uid: uid.to_owned(),
            at: Stamp("2026-01-01T00:00:00+00:00".into()),
            quote: "said so".into(),
            speaker: Speaker::User,
            origin: Origin::User,
            source: "manual".into(),
            score: None,
            agent: None,
            session: None,
            place: None,
            confidence: None,
            cues: None,
        }
    }

    fn entry(score: f64, day: u32) -> Preference {
        Preference {
            id: 7,
            uid: "e".into(),
            item: "emojis".into(),
            reason: "first".into(),
            keywords: vec!["tone".into()],
            scenarios: Vec::new(),
            base_score: Score::clamped(score),
            source: "manual".into(),
            origin: Origin::User,
            added_at: Stamp("2026-01-01T00:00:00+00:00".into()),
            last_seen: Stamp(format!("2026-01-{day:02}T00:00:00+00:00")),
            touch_count: 0,
            patterns: Vec::new(),
        }
    }

    /// Score and day of what is stored and of what comes, the observations behind each.
    fn brought(
        stored: (f64, u32, &str),
        comes: (f64, u32, &str),
        is_trusted: bool,
        policy: OnConflict,
    ) -> Brought {
        let all = |uids: &str| uids.split(' ').map(evidence).collect::<Vec<_>>();
        let incoming = Incoming {
            entry: entry(comes.0, comes.1),
            evidence: all(comes.2),
            is_trusted,
            was_so: false,
            renames: true,
            seen: evidence("seen"),
        };
        bring(
            &entry(stored.0, stored.1),
            &all(stored.2),
            &incoming,
            policy,
        )
    }

    const MERGE: OnConflict = OnConflict::Merge;
    const REPLACE: OnConflict = OnConflict::Replace;

    #[rstest]
    // The same.
    #[case((6.0, 1, "a"), (6.0, 1, "a"), true, MERGE, None)]
    #[case((6.0, 1, "a"), (6.0, 1, "a"), true, REPLACE, None)]
    // The file is an earlier state, or a later one.
    #[case((5.0, 2, "a b"), (6.0, 1, "a"), true, MERGE, None)]
    #[case((6.0, 1, "a"), (5.0, 2, "a b"), true, MERGE, Some((Outcome::Replaced, 5.0)))]
    #[case((5.0, 2, "a b"), (6.0, 1, "a"), true, REPLACE, Some((Outcome::Replaced, 6.0)))]
    // The two have gone apart.
    #[case((6.0, 1, "a"), (9.0, 1, "a"), true, MERGE, Some((Outcome::Merged, 7.8)))]
    #[case((6.0, 1, "a b"), (9.0, 1, "a c"), true, MERGE, Some((Outcome::Merged, 7.8)))]
    #[case((6.0, 1, "a seen"), (9.0, 1, "a"), true, MERGE, None)]
    // Limits.
    #[case((0.5, 1, "a"), (9.0, 2, "a b"), true, MERGE, Some((Outcome::Kept, 0.5)))]
    #[case((0.5, 1, "a"), (9.0, 2, "a b"), true, REPLACE, Some((Outcome::Kept, 0.5)))]
    #[case((0.5, 1, "a"), (1.5, 2, "a b"), true, MERGE, Some((Outcome::Kept, 0.5)))]
    #[case((0.5, 1, "a"), (1.5, 1, "a"), true, REPLACE, Some((Outcome::Kept, 0.5)))]
    #[case((0.1, 1, "a"), (1.5, 1, "c"), true, MERGE, Some((Outcome::Kept, 0.1)))]
    #[case((1.5, 1, "a"), (0.1, 1, "c"), true, MERGE, Some((Outcome::Merged, 0.1)))]
    #[case((1.5, 1, "a"), (0.1, 1, "c"), false, MERGE, Some((Outcome::Merged, 0.1)))]
    #[case((0.5, 1, "a seen"), (1.5, 1, "a"), true, REPLACE, None)]
    #[case((1.5, 1, "a"), (0.5, 1, "a"), true, REPLACE, Some((Outcome::Replaced, 0.5)))]
    #[case((9.0, 1, "a"), (0.5, 1, "c"), true, MERGE, Some((Outcome::Limited, 0.5)))]
    #[case((9.0, 1, "a"), (0.5, 1, "c"), false, MERGE, Some((Outcome::Pending, 0.5)))]
    #[case((9.0, 1, "a"), (0.5, 1, "c"), false, REPLACE, Some((Outcome::Pending, 0.5)))]
    fn what_comes_meets_what_is_stored(
        #[case] stored: (f64, u32, &str),
        #[case] comes: (f64, u32, &str),
        #[case] is_trusted: bool,
        #[case] policy: OnConflict,
        #[case] expected: Option<(Outcome, f64)>,
    ) {
        let found = match brought(stored, comes, is_trusted, policy) {
            Brought::Unchanged | Brought::Earlier => None,
            Brought::Skipped => panic!("nothing was to be skipped"),
            Brought::Waits => Some((Outcome::Pending, comes.0)),
            Brought::Merged(merge) => merge.score.map(|score| (merge.outcome, score.value())),
        };
        assert_eq!(found, expected);
    }

    #[rstest]
    #[case::a_pattern_is_gone(|entry: &mut Preference| entry.patterns = vec!["b".into()])]
    #[case::a_keyword_is_gone(|entry: &mut Preference| entry.keywords = vec!["other".into()])]
    #[case::it_names_something_else(|entry: &mut Preference| entry.item = "titles".into())]
    #[case::nobody_stated_it(|entry: &mut Preference| entry.origin = Origin::Import)]
    fn a_limit_loses_nothing_by_a_file_that_replaces_it(#[case] change: fn(&mut Preference)) {
        let limit = Preference {
            patterns: vec!["a".into()],
            ..entry(0.5, 1)
        };
        let mut incoming = Incoming {
            entry: limit.clone(),
            evidence: vec![evidence("a")],
            is_trusted: true,
            was_so: false,
            renames: true,
            seen: evidence("seen"),
        };
        change(&mut incoming.entry);
        let Brought::Merged(merge) = bring(&limit, &[evidence("a")], &incoming, REPLACE) else {
            panic!("that it was seen is noted");
        };
        assert_eq!(merge.outcome, Outcome::Kept);
        let Effect::Set(values) = merge.change.effect else {
            panic!("an existing entry is set");
        };
        assert!(
            !values.contains_key("item") && !values.contains_key("origin"),
            "{values:?}"
        );
        let patterns = values
            .get("pattern")
            .map_or("a", |text| text.as_str().unwrap_or(""));
        assert!(patterns.lines().any(|pattern| pattern == "a"), "{values:?}");
        let keywords = values
            .get("keywords")
            .map_or("tone", |text| text.as_str().unwrap_or(""));
        assert!(keywords.split(',').any(|word| word == "tone"), "{values:?}");
    }

    #[test]
    fn a_state_that_the_entry_once_had_does_not_come_back_by_itself() {
        let incoming = Incoming {
            entry: entry(8.0, 1),
            evidence: vec![evidence("a")],
            is_trusted: true,
            was_so: true,
            renames: true,
            seen: evidence("seen"),
        };
        let now = (entry(3.0, 1), [evidence("a")]);
        assert_eq!(bring(&now.0, &now.1, &incoming, MERGE), Brought::Earlier);
        let Brought::Merged(merge) = bring(&now.0, &now.1, &incoming, REPLACE) else {
            panic!("it was to be replaced");
        };
        assert_eq!(merge.score.map(Score::value), Some(8.0));
    }

    #[test]
    fn what_is_to_be_skipped_is_left_alone() {
        let found = brought((6.0, 1, "a"), (9.0, 1, "a"), true, OnConflict::Skip);
        assert_eq!(found, Brought::Skipped);
        let same = brought((6.0, 1, "a"), (6.0, 1, "a"), true, OnConflict::Skip);
        assert_eq!(same, Brought::Unchanged);
    }

    #[test]
    fn brought_twice_it_changes_nothing_the_second_time() {
        let Brought::Merged(merge) = brought((6.0, 1, "a"), (9.0, 1, "c"), true, MERGE) else {
            panic!("the two have gone apart");
        };
        let uids: Vec<&str> = merge
            .change
            .evidence
            .iter()
            .map(|one| one.uid.as_str())
            .collect();
        assert_eq!(uids, ["c", "seen"]);
        let Effect::Set(values) = merge.change.effect else {
            panic!("an existing entry is set");
        };
        assert_eq!(values["base_score"], 7.8);
        let again = brought((7.8, 1, "a c seen"), (9.0, 1, "c"), true, MERGE);
        assert_eq!(again, Brought::Unchanged);
        let limit = brought((0.5, 1, "a seen"), (9.0, 1, "a"), true, REPLACE);
        assert_eq!(limit, Brought::Unchanged);
    }
}
