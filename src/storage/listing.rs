//! The whole profile by weight, a part at a time, so that a million entries need no more memory than their order.

use std::cmp::Reverse;

use chrono::{DateTime, Utc};

use super::index;
use super::search::{Place, place};
use super::{Result, StorageError, Store, View};
use crate::recall::Hit;
use crate::scoring::Decay;

/// Entries that are loaded at once.
const PART: usize = 1_000;

/// The order of all entries, strongest first, and the store they are loaded from.
pub struct Listing {
    store: Store,
    order: Vec<Place>,
    decay: Decay,
    now: DateTime<Utc>,
}

impl Listing {
    /// Sorts all entries of a store; they are loaded as they are asked for, from the same state of it.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn of(store: Store, now: DateTime<Utc>) -> Result<Self> {
        store.begin_reading()?;
        let decay = store.view().decay()?;
        let mut order = store.view().places(&decay, now)?;
        order.sort_unstable_by_key(|place| Reverse(*place));
        Ok(Listing {
            store,
            order,
            decay,
            now,
        })
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Loads the entries part by part.
    ///
    /// # Errors
    /// What SQLite reports; a file that is read without locks and was written meanwhile.
    pub fn parts(&self) -> impl Iterator<Item = Result<Vec<Hit>>> + '_ {
        self.order.chunks(PART).map(|part| {
            let mut hits = Vec::with_capacity(part.len());
            for place in part {
                if let Some(preference) = self.store.view().entry(place.id)? {
                    hits.push(Hit::new(preference, None, &self.decay, self.now));
                }
            }
            if self.store.confirm() {
                Ok(hits)
            } else {
                Err(StorageError::Changed {
                    path: self.store.path().to_path_buf(),
                })
            }
        })
    }
}

impl View<'_> {
    /// The place of every entry in the order of weights.
    fn places(&self, decay: &Decay, now: DateTime<Utc>) -> Result<Vec<Place>> {
        let connection = self.connection();
        let outside: Vec<i64> = self.outside_entries()?;
        let indexed = self.sqlite_result(index::is_current(connection))?;
        if !indexed || !outside.is_empty() {
            // The index is behind, so the rows themselves are looked at.
            let mut places = Vec::new();
            self.each_preference(|entry| {
                let seen = entry.last_seen.moment().or_else(|| entry.added_at.moment());
                let seen = seen.map_or(index::NEVER_SEEN, |moment| moment.timestamp_micros());
                places.push(place(entry.id, entry.base_score.value(), seen, decay, now));
            })?;
            return Ok(places);
        }
        let read = || -> rusqlite::Result<Vec<Place>> {
            let mut statement = connection.prepare("SELECT id, score, seen FROM recall_index")?;
            let rows = statement.query_map([], |row| {
                Ok(place(row.get(0)?, row.get(1)?, row.get(2)?, decay, now))
            })?;
            rows.collect()
        };
        self.sqlite_result(read())
    }
}
