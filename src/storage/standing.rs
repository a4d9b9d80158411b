//! What holds for every task: the most strongly felt entries, dislikes as much as likes. Hard limits are not among them,
//! since they are all there anyway.
//!
//! As in `search.rs` the walk along the score index ends early: nothing is felt more strongly than at the age of 0.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use chrono::{DateTime, Utc};
use rusqlite::Row;

use super::index::{self, NEVER_SEEN};
use super::search::{Place, place};
use super::{Result, View};
use crate::model::{Preference, Score};
use crate::recall::Hit;
use crate::recall::context::{Group, in_turn};
use crate::scoring::{self, Decay};

/// Which way a walk along the scores goes: towards weaker ones. The middle itself belongs to the way down.
/// One bound on each side, since SQLite would use but one of two and pass over all rows between them.
const DOWN: &str = "SELECT id, score, seen FROM recall_index WHERE score < ?1 AND score >= ?2
     ORDER BY score DESC, seen DESC";
const UP: &str = "SELECT id, score, seen FROM recall_index WHERE score > ?1 AND score < ?2
     ORDER BY score ASC, seen DESC";

/// A search for the strongest entries.
struct Standing<'v> {
    view: &'v View<'v>,
    most: usize,
    decay: Decay,
    now: DateTime<Utc>,
    /// Rows that another program wrote: the index is behind them.
    outside: HashSet<i64>,
}

impl View<'_> {
    /// At most `most` of what holds for every task, the strongest first and some of each group among them.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn standing(&self, most: usize, now: DateTime<Utc>) -> Result<Vec<Hit>> {
        let standing = Standing {
            view: self,
            most,
            decay: self.decay()?,
            now,
            outside: self.outside_entries()?.into_iter().collect(),
        };
        let mut felt = Vec::new();
        if self.sqlite_result(index::is_current(self.connection()))? {
            for group in Group::ORDINARY {
                felt.extend(standing.strongest(group)?.map(|place| (group, place)));
            }
            for &id in &standing.outside {
                felt.extend(self.entry(id)?.and_then(|entry| standing.felt(&entry)));
            }
        } else {
            self.each_preference(|entry| felt.extend(standing.felt(&entry)))?;
        }
        felt.sort_unstable_by_key(|(_, place)| Reverse(*place));
        let mut hits = Vec::new();
        let felt = in_turn(felt, |(group, _)| *group).into_iter().take(most);
        self.each_entry(felt.map(|(_, place)| place.id), |entry| {
            hits.push(Hit::new(entry, None, &standing.decay, now));
        })?;
        Ok(hits)
    }
}

impl Standing<'_> {
    /// The place of a row in the order of strength; none for a hard limit.
    fn felt(&self, entry: &Preference) -> Option<(Group, Place)> {
        let group = Group::of(entry.band());
        let seen = entry.last_seen.moment().or_else(|| entry.added_at.moment());
        let seen = seen.map_or(NEVER_SEEN, |moment| moment.timestamp_micros());
        (group != Group::HardLimits).then(|| (group, self.place(entry.id, entry.base_score, seen)))
    }

    fn place(&self, id: i64, score: Score, seen: i64) -> Place {
        let score = scoring::mirrored(score).value();
        place(id, score, seen, &self.decay, self.now)
    }

    /// The strongest indexed entries of a group.
    fn strongest(&self, group: Group) -> Result<impl Iterator<Item = Place> + use<>> {
        const MIDDLE: f64 = 5.0;
        let mut strongest = BinaryHeap::new();
        self.walk(DOWN, group, (MIDDLE, 11.0), &mut strongest)?;
        self.walk(UP, group, (-1.0, MIDDLE), &mut strongest)?;
        Ok(strongest.into_iter().map(|Reverse(place)| place))
    }

    /// Walks along the scores of a group that lie between two others, from the end towards the middle, until no entry
    /// can be stronger than those found.
    fn walk(
        &self,
        way: &str,
        group: Group,
        (low, high): (f64, f64),
        strongest: &mut BinaryHeap<Reverse<Place>>,
    ) -> Result<()> {
        let (least, most) = group.scores();
        let (low, high) = (low.max(least), high.min(most));
        let (mut from, to) = if way == DOWN {
            (high.next_up(), low)
        } else {
            (low.next_down(), high)
        };
        'scores: loop {
            let connection = self.view.connection();
            let mut statement = self.view.sqlite_result(connection.prepare_cached(way))?;
            let mut rows = self.view.sqlite_result(statement.query([from, to]))?;
            let mut spent = None;
            while let Some(row) = self.view.sqlite_result(rows.next())? {
                let (id, score, seen) = self.view.sqlite_result(index_row(row))?;
                if spent == Some(score) {
                    // The rest of this score is weaker still: go on with the next one.
                    from = score;
                    continue 'scores;
                }
                let exact = Score::clamped(score);
                if self.outside.contains(&id) || Group::of(exact.band()) != group {
                    continue;
                }
                let weakest = strongest.peek().map(|Reverse(place)| *place);
                let weakest = weakest.filter(|_| strongest.len() >= self.most);
                let place = self.place(id, exact, seen);
                if let Some(weakest) = weakest {
                    if scoring::mirrored(exact).value() < weakest.weight {
                        return Ok(());
                    }
                    if place < weakest {
                        spent = Some(score);
                        continue;
                    }
                    strongest.pop();
                }
                strongest.push(Reverse(place));
            }
            return Ok(());
        }
    }
}

fn index_row(row: &Row<'_>) -> rusqlite::Result<(i64, f64, i64)> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
}
