//! What comes, goes and changes when one profile takes the place of another. Pure.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::commands::entries::count;
use crate::merge::would_weaken;
use crate::model::{Preference, item_key};

/// So many limits are named in a question or an error.
const MOST_NAMED: usize = 20;

/// An entry that comes, goes or changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Moved {
    pub(super) item: String,
    /// Its score now; none where it is not there.
    pub(super) score_before: Option<f64>,
    /// Its score then; none where it will be gone.
    pub(super) score_after: Option<f64>,
}

/// Two profiles side by side.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(super) struct Comparison {
    pub(super) coming: Vec<Moved>,
    pub(super) going: Vec<Moved>,
    pub(super) changing: Vec<Moved>,
    #[serde(flatten)]
    pub(super) limits: Limits,
}

/// What becomes of hard limits.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(in crate::commands) struct Limits {
    /// Those that are none any more.
    #[serde(rename = "limits_lost")]
    pub(super) lost: Vec<Moved>,
    /// Those that are still some, and forbid less or something else.
    #[serde(rename = "limits_weakened")]
    pub(super) weakened: Vec<Moved>,
}

/// Where an entry is in the other profile: under its name, else under its item.
struct Others<'p> {
    by_uid: HashMap<&'p str, &'p Preference>,
    by_key: HashMap<String, &'p Preference>,
}

impl<'p> Others<'p> {
    fn of(entries: &'p [Preference]) -> Self {
        let named = entries.iter().filter(|entry| !entry.uid.is_empty());
        Others {
            by_uid: named.map(|entry| (entry.uid.as_str(), entry)).collect(),
            by_key: entries
                .iter()
                .map(|entry| (item_key(&entry.item), entry))
                .collect(),
        }
    }

    fn find(&self, entry: &Preference) -> Option<&'p Preference> {
        let by_uid = self.by_uid.get(entry.uid.as_str()).copied();
        by_uid.or_else(|| self.by_item(entry))
    }

    fn by_item(&self, entry: &Preference) -> Option<&'p Preference> {
        self.by_key.get(&item_key(&entry.item)).copied()
    }

    /// The hard limits that may forbid what this one forbids: the entry of its name, and that of its item.
    fn limits_like(&self, limit: &Preference) -> impl Iterator<Item = &'p Preference> {
        let found = [self.find(limit), self.by_item(limit)];
        found
            .into_iter()
            .flatten()
            .filter(|entry| entry.is_hard_limit())
    }
}

impl Comparison {
    /// Compares what is there with what comes.
    pub(super) fn of(present: &[Preference], coming: &[Preference]) -> Self {
        let others = Others::of(coming);
        let mut comparison = Comparison {
            limits: Limits::of(present, coming),
            ..Comparison::default()
        };
        let mut known: HashSet<i64> = HashSet::new();
        for entry in present {
            match others.find(entry) {
                None => comparison.going.push(Moved::of(Some(entry), None)),
                Some(other) => {
                    known.insert(other.id);
                    if is_changed(entry, other) {
                        let moved = Moved::of(Some(entry), Some(other));
                        comparison.changing.push(moved);
                    }
                }
            }
        }
        let new = coming.iter().filter(|entry| !known.contains(&entry.id));
        comparison.coming = new.map(|entry| Moved::of(None, Some(entry))).collect();
        comparison
    }
}

impl Limits {
    /// Compares the hard limits that are there with those that come.
    pub(in crate::commands) fn of(present: &[Preference], coming: &[Preference]) -> Self {
        let others = Others::of(coming);
        let mut limits = Limits::default();
        for limit in present.iter().filter(|entry| entry.is_hard_limit()) {
            let mut like = others.limits_like(limit).peekable();
            let moved = |after| Moved::of(Some(limit), after);
            if like.peek().is_none() {
                limits.lost.push(moved(others.find(limit)));
            } else if like.all(|other| would_weaken(limit, other)) {
                limits
                    .weakened
                    .push(moved(others.limits_like(limit).next()));
            }
        }
        limits
    }

    /// What would become of them; none where nothing would.
    pub(in crate::commands) fn told(&self) -> Option<String> {
        let told = [
            ("would be lost", &self.lost),
            ("would forbid less, or something else", &self.weakened),
        ];
        let told = told.into_iter().filter(|(_, limits)| !limits.is_empty());
        let told: Vec<String> = told
            .map(|(what, limits)| {
                let many = count(limits.len(), "hard limit", "hard limits");
                format!("{many} {what}: {}", named(limits))
            })
            .collect();
        (!told.is_empty()).then(|| told.join("; "))
    }

    /// Whether nothing is lost and nothing weakened that is not among the others.
    pub(in crate::commands) fn are_all_in(&self, told: &Self) -> bool {
        let all_in = |these: &[Moved], those: &[Moved]| these.iter().all(|one| those.contains(one));
        all_in(&self.lost, &told.lost) && all_in(&self.weakened, &told.weakened)
    }
}

impl Moved {
    fn of(before: Option<&Preference>, after: Option<&Preference>) -> Self {
        let score = |entry: &Preference| entry.base_score.value();
        let named = before.or(after);
        Moved {
            item: named.map(|entry| entry.item.clone()).unwrap_or_default(),
            score_before: before.map(score),
            score_after: after.map(score),
        }
    }
}

/// `“tabs”, “emojis” and 3 more`.
fn named(limits: &[Moved]) -> String {
    let mut names: Vec<String> = limits
        .iter()
        .take(MOST_NAMED)
        .map(|limit| format!("“{}”", limit.item))
        .collect();
    let more = limits.len().saturating_sub(MOST_NAMED);
    if more > 0 {
        names.push(format!("and {more} more"));
    }
    names.join(", ")
}

/// Whether an entry says something else; when it was last seen does not count.
fn is_changed(before: &Preference, after: &Preference) -> bool {
    let content = |entry: &Preference| Preference {
        id: 0,
        uid: String::new(),
        added_at: after.added_at.clone(),
        last_seen: after.last_seen.clone(),
        touch_count: 0,
        ..entry.clone()
    };
    content(before) != content(after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Origin, Score, Stamp};

    fn entry(id: i64, uid: &str, item: &str, score: f64) -> Preference {
        Preference {
            id,
            uid: uid.into(),
            item: item.into(),
            reason: "r".into(),
            keywords: Vec::new(),
            scenarios: Vec::new(),
            base_score: Score::clamped(score),
            source: "manual".into(),
            origin: Origin::User,
            added_at: Stamp("2026-01-01T00:00:00+00:00".into()),
            last_seen: Stamp("2026-01-01T00:00:00+00:00".into()),
            touch_count: 0,
            patterns: Vec::new(),
        }
    }

    fn items(moved: &[Moved]) -> Vec<&str> {
        moved.iter().map(|moved| moved.item.as_str()).collect()
    }

    #[test]
    fn entries_are_known_by_name_and_else_by_item() {
        let present = [
            entry(1, "a", "tabs", 9.0),
            entry(2, "b", "emojis", 0.5),
            entry(3, "", "Written by hand", 6.0),
            entry(4, "d", "force-push", 1.0),
            entry(5, "e", "seen", 7.0),
        ];
        let mut seen = entry(5, "e", "seen", 7.0);
        seen.touch_count = 3;
        seen.last_seen = Stamp("2025-01-01T00:00:00+00:00".into());
        let coming = [
            entry(1, "a", "tabs everywhere", 9.0),
            entry(2, "b", "emojis", 5.0),
            entry(3, "c", "written by hand", 6.0),
            seen,
            entry(9, "n", "new", 8.0),
        ];
        let comparison = Comparison::of(&present, &coming);
        assert_eq!(items(&comparison.coming), ["new"]);
        assert_eq!(items(&comparison.going), ["force-push"]);
        assert_eq!(
            items(&comparison.changing),
            ["tabs", "emojis", "Written by hand"]
        );
        assert_eq!(items(&comparison.limits.lost), ["emojis", "force-push"]);
        assert_eq!(comparison.limits.lost[0].score_after, Some(5.0));
        assert_eq!(Comparison::of(&present, &present), Comparison::default());
    }

    #[test]
    fn a_limit_under_another_name_is_not_lost() {
        let present = [entry(1, "a", "emojis", 0.5)];
        let coming = [
            entry(1, "a", "emojis in code", 4.0),
            entry(2, "b", "Emojis", 1.0),
        ];
        let limits = Limits::of(&present, &coming);
        assert_eq!(limits.lost, []);
        assert_eq!(items(&limits.weakened), ["emojis"]);
        let same = [entry(7, "another uid", "Emojis", 0.5)];
        assert_eq!(Limits::of(&present, &same), Limits::default());
    }

    #[test]
    fn a_limit_that_forbids_less_or_something_else_is_named() {
        let limit = Preference {
            patterns: vec!["a".into(), "b".into()],
            ..entry(1, "e", "emojis", 0.5)
        };
        let becomes = |change: fn(&mut Preference)| {
            let mut coming = limit.clone();
            change(&mut coming);
            let limits = Limits::of(std::slice::from_ref(&limit), &[coming]);
            (limits.lost.len(), limits.weakened.len())
        };
        assert_eq!(becomes(|_| {}), (0, 0));
        assert_eq!(becomes(|entry| entry.patterns.truncate(1)), (0, 1));
        assert_eq!(becomes(|entry| entry.patterns.push("c".into())), (0, 0));
        assert_eq!(
            becomes(|entry| entry.item = "emojis in titles".into()),
            (0, 1)
        );
        assert_eq!(
            becomes(|entry| entry.base_score = Score::clamped(1.5)),
            (0, 1)
        );
        assert_eq!(
            becomes(|entry| entry.base_score = Score::clamped(5.0)),
            (1, 0)
        );
    }
}
