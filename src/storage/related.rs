//! Finds what is close to a task in meaning: a first look at the signs of all vectors where there are many, then at the
//! nearest vectors and at the entries that share a rare word. And the hard limits that concern a task without being
//! named by its words.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashSet};

use super::index::BLOCK;
use super::search::{Place, Search, all_of};
use super::{Result, StorageError};
use crate::model::{Band, Preference};
use crate::recall::meaning::{SIGN_BYTES, SignScorer, Vector};
use crate::recall::{
    Found, Hit, Holders, Match, Meaning, Query, Relevance, SURE, USUAL_RELATED, Word, Words,
    texts_of,
};

/// Up to this many vectors are compared one by one; beyond, their sketches are compared first.
const FEW_VECTORS: i64 = 20_000;
/// How many vectors the sketches let through.
pub const BY_SKETCH: usize = 4_096;
/// How many of the closest vectors are looked at with their words.
const CLOSEST: usize = 64;
/// Entries that are counted; with more, nothing depends on how many.
const COUNTED: usize = 12_000;
/// The same where bands or a kind of task keep most of them out.
const CLOSEST_OF_A_PART: usize = 1_024;
/// A word in more entries than this says little about any of them.
const RARE: usize = 200;

impl Search<'_, '_> {
    /// Adds relevance to what was found by words, and what was found by meaning alone.
    pub(super) fn add_related(&mut self, hits: &mut Vec<Hit>, indexed: bool) -> Result<()> {
        let stored = self.view.count_up_to(COUNTED)?.unwrap_or(COUNTED);
        let query = if indexed {
            Query::new(&self.request.text, stored, |word| self.holders(word))?
        } else {
            let rows = self.view.preferences()?;
            Query::new(&self.request.text, stored, |word| {
                let ids = holding(word, &rows);
                Ok::<_, StorageError>(if ids.len() > RARE {
                    Holders::TooMany
                } else {
                    Holders::These(ids)
                })
            })?
        };
        let by_words = hits.iter().any(|hit| hit.found.is_some());
        for hit in hits.iter_mut() {
            let relevance = self.relevance(&query, &hit.preference, indexed)?;
            if let Some(found) = &mut hit.found {
                found.relevance = Some(relevance);
            }
        }
        let wanted = match self.request.meaning {
            Meaning::Also | Meaning::Only => true,
            Meaning::Fallback => !by_words,
            Meaning::Off => false,
        };
        if wanted {
            self.add_closest(&query, stored, indexed, hits)?;
        }
        self.add_limits(hits, indexed, Some(&query))
    }

    /// Adds the entries that are related to the task, the most relevant first.
    fn add_closest(
        &mut self,
        query: &Query,
        stored: usize,
        indexed: bool,
        hits: &mut Vec<Hit>,
    ) -> Result<()> {
        let have: HashSet<i64> = hits.iter().map(|hit| hit.preference.id).collect();
        let mut related: Vec<(i64, Relevance)> = if indexed {
            self.closest(query)?
        } else {
            let rows = self.view.preferences()?;
            rows.iter()
                .map(|row| (row.id, query.relevance_of_row(row)))
                .collect()
        };
        related.sort_by(|a, b| b.1.value.total_cmp(&a.1.value));
        // What was found by words, and what a filter keeps out, sets no bar for the others.
        let mut best = None;
        let mut left = self.request.limit.unwrap_or(USUAL_RELATED);
        for (id, relevance) in related {
            if have.contains(&id) {
                continue;
            }
            let bar = query.bar(best.unwrap_or(0.0), stored);
            if relevance.value < bar.across_scripts {
                break;
            }
            let Some(preference) = self.view.entry(id)? else {
                continue;
            };
            if !self.request.may_be_related(&preference)
                || relevance.value < bar.same_script && query.shares_script(&preference)
            {
                continue;
            }
            let is_limit = preference.is_hard_limit();
            if self.request.is_too_low(preference.base_score) {
                if is_limit {
                    self.hidden.insert(id);
                }
                continue;
            }
            best.get_or_insert(relevance.value);
            if !is_limit && left == 0 {
                continue;
            }
            left -= usize::from(!is_limit);
            let found = Found {
                how: Match::Related,
                matched: relevance.words.clone(),
                relevance: Some(relevance),
            };
            hits.push(self.hit(preference, Some(found)));
        }
        Ok(())
    }

    /// The entries that hold a word, as far as that says something about them.
    fn holders(&self, word: &Word) -> Result<Holders> {
        let Some(expression) = all_of(&Words::from_word(word.clone())) else {
            return Ok(Holders::TooMany);
        };
        let mut ids = self.view.matching(&expression, RARE + 1)?;
        ids.retain(|id| !self.outside_ids.contains(id));
        ids.extend(holding(word, &self.outside));
        Ok(if ids.len() > RARE {
            Holders::TooMany
        } else {
            Holders::These(ids)
        })
    }

    fn relevance(
        &self,
        query: &Query,
        preference: &Preference,
        indexed: bool,
    ) -> Result<Relevance> {
        if !indexed || self.outside_ids.contains(&preference.id) {
            return Ok(query.relevance_of_row(preference));
        }
        let vector = self.view.vector(preference.id)?;
        Ok(query.relevance(preference.id, vector.as_ref()))
    }

    /// Adds the hard limits that concern the request without being named by its words.
    pub(super) fn add_limits(
        &mut self,
        hits: &mut Vec<Hit>,
        indexed: bool,
        query: Option<&Query>,
    ) -> Result<()> {
        let request = self.request;
        let by_scenario = request.scenario.is_some() && !request.words.is_empty();
        // A list of everything, or of a kind of task, has them already.
        if query.is_none() && !by_scenario && !request.with_limits {
            return Ok(());
        }
        let have: HashSet<i64> = hits.iter().map(|hit| hit.preference.id).collect();
        let mut limits: Vec<(Preference, Option<Relevance>)> = Vec::new();
        let of_row = |row: &Preference| query.map(|query| query.relevance_of_row(row));
        if indexed {
            for (id, vector) in self.view.limit_vectors()? {
                if self.outside_ids.contains(&id) || have.contains(&id) {
                    continue;
                }
                let relevance = query.map(|query| query.relevance(id, vector.as_ref()));
                // A row is only loaded where it can be of use.
                let concerns = relevance
                    .as_ref()
                    .is_some_and(|relevance| relevance.value >= SURE);
                if (concerns || by_scenario || request.with_limits)
                    && let Some(row) = self.view.entry(id)?
                {
                    limits.push((row, relevance));
                }
            }
            let outside = self.outside.iter().filter(|row| row.is_hard_limit());
            limits.extend(outside.map(|row| (row.clone(), of_row(row))));
        } else {
            let rows = self.view.preferences()?;
            let rows = rows.into_iter().filter(Preference::is_hard_limit);
            limits.extend(rows.map(|row| {
                let relevance = of_row(&row);
                (row, relevance)
            }));
        }
        for (limit, relevance) in limits {
            if have.contains(&limit.id) || !request.has_band(limit.base_score) {
                continue;
            }
            if let Some(found) = request.concerns(&limit, relevance) {
                if request.is_too_low(limit.base_score) {
                    self.hidden.insert(limit.id);
                } else {
                    hits.push(self.hit(limit, Some(found)));
                }
            }
        }
        Ok(())
    }

    /// The entries closest to a task, by meaning and by rare words.
    fn closest(&self, query: &Query) -> Result<Vec<(i64, Relevance)>> {
        let mut ids: BTreeSet<i64> = query.holders().collect();
        if self.request.bands == [Band::Taboo] {
            ids.extend(self.view.limit_ids()?);
        } else if let Some(task) = query.vector() {
            let near = if self.view.highest_id()? <= FEW_VECTORS {
                self.by_vector(task, None)?
            } else {
                let few = self.by_sketch(task)?;
                self.by_vector(task, Some(&few))?
            };
            ids.extend(near);
        }
        let mut found: Vec<(i64, Relevance)> = self
            .outside
            .iter()
            .map(|row| (row.id, query.relevance_of_row(row)))
            .collect();
        for id in ids {
            if !self.outside_ids.contains(&id) {
                let vector = self.view.vector(id)?;
                found.push((id, query.relevance(id, vector.as_ref())));
            }
        }
        Ok(found)
    }

    /// The ids of the closest vectors: of all, or of these.
    fn by_vector(&self, task: &Vector, among: Option<&[i64]>) -> Result<Vec<i64>> {
        let bands = &self.request.bands;
        let all_but_limits = Band::ALL[1..].iter().all(|band| bands.contains(band));
        let narrowed = !bands.is_empty() && !all_but_limits || self.request.scenario.is_some();
        let most = if narrowed { CLOSEST_OF_A_PART } else { CLOSEST };
        let mut closest: BinaryHeap<Reverse<Place>> = BinaryHeap::new();
        let mut offer = |id: i64, vector: &Vector| {
            let weight = f64::from(task.cosine(vector));
            closest.push(Reverse(Place {
                weight,
                seen: 0,
                id,
            }));
            if closest.len() > most {
                closest.pop();
            }
        };
        match among {
            Some(ids) => {
                for &id in ids {
                    if let Some(vector) = self.view.vector(id)? {
                        offer(id, &vector);
                    }
                }
            }
            None => self.view.sqlite_result((|| {
                let connection = self.view.connection();
                let mut statement = connection.prepare_cached("SELECT id, vector FROM vectors")?;
                let mut rows = statement.query([])?;
                while let Some(row) = rows.next()? {
                    if let Some(vector) =
                        row.get_ref(1)?.as_blob().ok().and_then(Vector::from_bytes)
                    {
                        offer(row.get(0)?, &vector);
                    }
                }
                Ok(())
            })())?,
        }
        Ok(closest.into_iter().map(|Reverse(place)| place.id).collect())
    }

    /// The ids whose sketches differ least, found by counting how many there are at each distance.
    fn by_sketch(&self, task: &Vector) -> Result<Vec<i64>> {
        let scorer = SignScorer::new(task);
        let mut by_distance: Vec<Vec<i64>> = vec![Vec::new(); SignScorer::RANKS];
        let mut bound = SignScorer::RANKS - 1;
        let mut within = 0usize;
        self.view.sqlite_result((|| {
            let connection = self.view.connection();
            let mut statement = connection.prepare_cached("SELECT block, bits FROM sketches")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let block: i64 = row.get(0)?;
                let bits = row.get_ref(1)?.as_blob().unwrap_or_default();
                for (place, stored) in (0..).zip(bits.chunks_exact(SIGN_BYTES)) {
                    let distance = scorer.rank(stored);
                    if distance > bound {
                        continue;
                    }
                    by_distance[distance].push(block * BLOCK + place);
                    within += 1;
                    // The farthest ones fall out as soon as enough nearer ones are known.
                    while within - by_distance[bound].len() >= BY_SKETCH {
                        within -= by_distance[bound].len();
                        by_distance[bound] = Vec::new();
                        bound -= 1;
                    }
                }
            }
            Ok(())
        })())?;
        Ok(by_distance.into_iter().take(bound + 1).flatten().collect())
    }
}

/// The rows that hold a word.
fn holding(word: &Word, rows: &[Preference]) -> Vec<i64> {
    rows.iter()
        .filter(|row| texts_of(row).iter().any(|text| word.occurs_in(text)))
        .map(|row| row.id)
        .collect()
}
