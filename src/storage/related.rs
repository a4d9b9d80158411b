//! Finds what is close to a task in meaning: a first look at sketches of all vectors where there are many, then at the
//! nearest vectors and at the entries that share a rare word. And the hard limits that concern a task without being
//! named by its words: there are few of them, so each is looked at.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashSet};

use super::index::BLOCK;
use super::search::{Place, Search, VECTOR_OF, all_of, read_vector};
use super::{Result, StorageError};
use crate::model::{Band, Preference, Score};
use crate::recall::meaning::Vector;
use crate::recall::sketch::Sieve;
use crate::recall::{
    Found, Hit, Holders, Match, Meaning, Query, Relevance, SURE, USUAL_RELATED, Word, Words,
    entry_vector, in_order, texts_of,
};

/// Up to this many vectors are compared one by one; beyond, their sketches are compared first.
const FEW_VECTORS: i64 = 20_000;
/// How many of the closest vectors are looked at with their words.
const CLOSEST: usize = 64;
/// The same where a kind of task keeps most of them out.
const CLOSEST_OF_A_KIND: usize = 1_024;
/// Entries that are counted: with more, the bar is at its highest and a rare word as rare as it need be.
const COUNTED: usize = 12_000;
/// A word in more entries than this says little about any of them.
const RARE: usize = 200;
/// Entries that are looked into for a word with symbols, of which the index knows only the letters.
const LOOKED_INTO: usize = 2_000;

impl Search<'_, '_> {
    /// Adds relevance to what was found by words, and what was found by meaning alone.
    pub(super) fn add_related(&mut self, hits: &mut Vec<Hit>) -> Result<()> {
        let stored = self.view.count_up_to(COUNTED)?.unwrap_or(COUNTED);
        let query = Query::new(&self.request.text, stored, |words| self.holders(words))?;
        let by_words = hits.iter().any(|hit| hit.found.is_some());
        for hit in hits.iter_mut() {
            let vector = self.vector(hit.preference.id)?;
            let relevance = query.relevance(hit.preference.id, vector.as_ref());
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
            self.add_closest(&query, stored, hits)?;
        }
        self.add_limits(hits, Some(&query))
    }

    /// Adds the entries that are related to the task.
    fn add_closest(&mut self, query: &Query, stored: usize, hits: &mut Vec<Hit>) -> Result<()> {
        let request = self.request;
        let have: HashSet<i64> = hits.iter().map(|hit| hit.preference.id).collect();
        let limits = self.limits()?;
        let mut found: Vec<(i64, Relevance)> = limits
            .iter()
            .filter(|(id, _)| !have.contains(id))
            .map(|(id, vector)| (*id, query.relevance(*id, vector.as_ref())))
            .collect();
        if request.bands != [Band::Taboo] {
            let limits = limits.iter().map(|(id, _)| *id);
            let out: HashSet<i64> = have.iter().copied().chain(limits).collect();
            found.extend(self.closest(query, &out)?);
        }
        found.sort_by(|a, b| b.1.value.total_cmp(&a.1.value).then(a.0.cmp(&b.0)));
        // What was found by words, and what a filter keeps out, sets no bar for the others.
        let mut best = None;
        let mut related = Vec::new();
        for (id, relevance) in found {
            let bar = query.bar(best.unwrap_or(0.0), stored);
            if relevance.value < bar.across_scripts {
                break;
            }
            let Some(preference) = self.row(id)? else {
                continue;
            };
            if !request.may_be_related(&preference)
                || relevance.value < bar.same_script && query.shares_script(&preference)
            {
                continue;
            }
            let is_limit = preference.is_hard_limit();
            if request.is_too_low(preference.base_score) {
                if is_limit {
                    self.hidden.insert(id);
                }
                continue;
            }
            best.get_or_insert(relevance.value);
            let found = Found {
                how: Match::Related,
                matched: relevance.words.clone(),
                relevance: Some(relevance),
            };
            let hit = self.hit(preference, Some(found));
            if is_limit {
                hits.push(hit);
            } else {
                related.push(hit);
            }
        }
        // A shorter list is the beginning of a longer one: what it leaves out is the end of the same order.
        related.sort_by(|a, b| in_order(a, b, request.sort));
        related.truncate(request.limit.unwrap_or(USUAL_RELATED));
        hits.extend(related);
        Ok(())
    }

    /// For each word the entries that hold it, as far as that says something about them.
    fn holders(&self, words: &[Word]) -> Result<Vec<Holders>> {
        let loose = self.loose_holders(words);
        let with_index = words.iter().zip(loose).map(|(word, mut ids)| {
            if self.indexed {
                match self.indexed_holders(word)? {
                    Some(more) => ids.extend(more),
                    None => return Ok(Holders::TooMany),
                }
            }
            Ok(if ids.len() > RARE {
                Holders::TooMany
            } else {
                Holders::These(ids)
            })
        });
        with_index.collect()
    }

    /// The rows without an index that hold each word. Their texts are folded once for all words.
    fn loose_holders(&self, words: &[Word]) -> Vec<Vec<i64>> {
        let mut holders = vec![Vec::new(); words.len()];
        if words.is_empty() {
            return holders;
        }
        for row in self.loose.values() {
            let texts = texts_of(row);
            for (word, ids) in words.iter().zip(&mut holders) {
                if texts.iter().any(|text| word.occurs_in(text)) {
                    ids.push(row.id);
                }
            }
        }
        holders
    }

    /// The indexed entries that hold a word; nothing where they are too many to say anything.
    fn indexed_holders(&self, word: &Word) -> Result<Option<Vec<i64>>> {
        let Some(expression) = all_of(&Words::from_word(word.clone())) else {
            return Ok(None);
        };
        let most = if word.literal.is_some() {
            LOOKED_INTO
        } else {
            RARE
        };
        let mut ids = self
            .view
            .matching(&expression, most + 1 + self.outside_ids.len())?;
        ids.retain(|id| !self.outside_ids.contains(id));
        if ids.len() > most {
            return Ok(None);
        }
        if word.literal.is_none() {
            return Ok(Some(ids));
        }
        let mut holding = Vec::new();
        for id in ids {
            if let Some(row) = self.view.entry(id)?
                && texts_of(&row).iter().any(|text| word.occurs_in(text))
            {
                holding.push(id);
            }
        }
        Ok(Some(holding))
    }

    /// The vector of an entry.
    fn vector(&self, id: i64) -> Result<Option<Vector>> {
        match self.loose.get(&id) {
            Some(row) => Ok(vector_of(row)),
            None => self.view.vector(id),
        }
    }

    /// All hard limits and their vectors.
    fn limits(&self) -> Result<&[(i64, Option<Vector>)]> {
        if self.limits.get().is_none() {
            let mut limits = Vec::new();
            if self.indexed {
                limits = self.view.limit_vectors()?;
                limits.retain(|(id, _)| !self.outside_ids.contains(id));
            }
            let loose = self.loose.values().filter(|row| row.is_hard_limit());
            limits.extend(loose.map(|row| (row.id, vector_of(row))));
            // Nobody else can have set it meanwhile.
            let _ = self.limits.set(limits);
        }
        Ok(self.limits.get().map_or(&[], Vec::as_slice))
    }

    /// Adds the hard limits that concern the request without being named by its words.
    pub(super) fn add_limits(&mut self, hits: &mut Vec<Hit>, query: Option<&Query>) -> Result<()> {
        let request = self.request;
        let by_scenario = request.scenario.is_some() && !request.words.is_empty();
        // A list of everything, or of a kind of task, has them already.
        if query.is_none() && !by_scenario && !request.with_limits {
            return Ok(());
        }
        let have: HashSet<i64> = hits.iter().map(|hit| hit.preference.id).collect();
        let mut concerned = Vec::new();
        for (id, vector) in self.limits()? {
            if have.contains(id) {
                continue;
            }
            let relevance = query.map(|query| query.relevance(*id, vector.as_ref()));
            // A row is only loaded where it can be of use.
            let is_sure = relevance
                .as_ref()
                .is_some_and(|relevance| relevance.value >= SURE);
            if (is_sure || by_scenario || request.with_limits)
                && let Some(limit) = self.row(*id)?
                && request.has_band(limit.base_score)
                && let Some(found) = request.concerns(&limit, relevance)
            {
                concerned.push((limit, found));
            }
        }
        for (limit, found) in concerned {
            if request.is_too_low(limit.base_score) {
                self.hidden.insert(limit.id);
            } else {
                hits.push(self.hit(limit, Some(found)));
            }
        }
        Ok(())
    }

    /// The entries closest to a task, by meaning and by rare words, without those that are out.
    fn closest(&self, query: &Query, out: &HashSet<i64>) -> Result<Vec<(i64, Relevance)>> {
        let mut ids: BTreeSet<i64> = query.holders().collect();
        if let Some(task) = query.vector() {
            ids.extend(self.by_vector(task, out)?);
        }
        let mut found = Vec::new();
        for id in ids {
            if !out.contains(&id) {
                let vector = self.vector(id)?;
                found.push((id, query.relevance(id, vector.as_ref())));
            }
        }
        Ok(found)
    }

    /// The ids of the closest vectors, without those that are out or have a score that nobody asked for: what cannot be
    /// in the answer takes no place from what can.
    fn by_vector(&self, task: &Vector, out: &HashSet<i64>) -> Result<Vec<i64>> {
        let request = self.request;
        let mut closest = Closest {
            most: if request.scenario.is_some() {
                CLOSEST_OF_A_KIND
            } else {
                CLOSEST
            },
            heap: BinaryHeap::new(),
        };
        let answers = |score: Score| request.has_band(score) && !request.is_too_low(score);
        for row in self.loose.values() {
            if !out.contains(&row.id)
                && answers(row.base_score)
                && let Some(vector) = vector_of(row)
            {
                closest.offer(row.id, task.cosine(&vector), || Ok(true))?;
            }
        }
        if !self.indexed {
            return Ok(closest.ids());
        }
        let is_out = |id: i64| out.contains(&id) || self.outside_ids.contains(&id);
        let every_score = request.bands.is_empty() && request.min_score.is_none();
        let may = |id: i64| {
            if is_out(id) {
                return Ok(false);
            }
            let score = || Ok::<_, StorageError>(self.view.indexed(id)?.map(|(score, _)| score));
            Ok(every_score || score()?.is_some_and(|score| answers(Score::clamped(score))))
        };
        if self.view.highest_id()? > FEW_VECTORS {
            let ids = self.by_sketch(task, is_out)?;
            // One statement for all of them: there are many.
            let connection = self.view.connection();
            let mut statement = self
                .view
                .sqlite_result(connection.prepare_cached(VECTOR_OF))?;
            for id in ids {
                let vector = self.view.sqlite_result(read_vector(&mut statement, id))?;
                if let Some(vector) = vector {
                    closest.offer(id, task.cosine(&vector), || may(id))?;
                }
            }
            return Ok(closest.ids());
        }
        let connection = self.view.connection();
        let mut statement = self
            .view
            .sqlite_result(connection.prepare_cached("SELECT id, vector FROM vectors"))?;
        let mut rows = self.view.sqlite_result(statement.query([]))?;
        while let Some(row) = self.view.sqlite_result(rows.next())? {
            let id: i64 = self.view.sqlite_result(row.get(0))?;
            let blob = self.view.sqlite_result(row.get_ref(1))?;
            if let Some(vector) = blob.as_blob().ok().and_then(Vector::from_bytes) {
                closest.offer(id, task.cosine(&vector), || may(id))?;
            }
        }
        Ok(closest.ids())
    }

    /// The ids whose sketches are nearest.
    fn by_sketch(&self, task: &Vector, is_out: impl Fn(i64) -> bool) -> Result<Vec<i64>> {
        let mut sieve = Sieve::new(task);
        self.view.sqlite_result((|| {
            let connection = self.view.connection();
            let mut statement = connection.prepare_cached("SELECT block, bits FROM sketches")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let block: i64 = row.get(0)?;
                let bits = row.get_ref(1)?.as_blob().unwrap_or_default();
                sieve.look(block * BLOCK, bits, |id| !is_out(id));
            }
            Ok(())
        })())?;
        Ok(sieve.ids())
    }
}

/// The closest vectors so far.
struct Closest {
    most: usize,
    heap: BinaryHeap<Reverse<Place>>,
}

impl Closest {
    /// Takes a vector that is close enough. Whether it may be in the answer is only asked about those.
    fn offer(&mut self, id: i64, cosine: f32, may: impl FnOnce() -> Result<bool>) -> Result<()> {
        let place = Place {
            weight: f64::from(cosine),
            seen: 0,
            id,
        };
        let is_full = self.heap.len() >= self.most;
        let is_near = || {
            self.heap
                .peek()
                .is_none_or(|Reverse(farthest)| place > *farthest)
        };
        if (!is_full || is_near()) && may()? {
            self.heap.push(Reverse(place));
            if is_full {
                self.heap.pop();
            }
        }
        Ok(())
    }

    fn ids(self) -> Vec<i64> {
        self.heap
            .into_iter()
            .map(|Reverse(place)| place.id)
            .collect()
    }
}

/// The vector of a row that no index knows.
fn vector_of(row: &Preference) -> Option<Vector> {
    entry_vector(&row.item, &row.reason, &row.keywords)
}
