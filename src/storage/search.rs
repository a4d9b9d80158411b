//! Finds what answers to a request, without looking at more rows than it must.
//!
//! Three ways, chosen by how much there is:
//! - few candidates (a rare word, a small scenario): their weights are read, and the strongest rows are
//!   loaded and judged;
//! - many candidates, or none to begin with: a walk along the score index. A weight never exceeds its score, so
//!   the walk ends when the next score is below the weakest of the strongest found so far;
//! - no index (another recipe, a file that may not be written): every row is judged.
//!
//! Hard limits weigh next to nothing, so no such walk would reach them: they are always judged one by one.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashSet};

use chrono::{DateTime, Utc};
use rusqlite::{OptionalExtension, params};

use super::index::{self, BLOCK, NEVER_SEEN};
use super::{Result, View};
use crate::model::{Band, Preference, Score, item_key};
use crate::recall::meaning::{Sketch, Vector};
use crate::recall::{
    Found, Hit, Match, Meaning, Query, Relevance, Request, Selection, Sort, USUAL_RELATED, Verdict,
    Word, Words, arrange, is_related, vector_of,
};
use crate::scoring::{self, Decay};

/// Up to this many candidates are weighed one by one; beyond, the walk along the scores is shorter.
const FEW: usize = 3_000;
/// Up to this many vectors are compared one by one; beyond, their sketches are compared first.
const FEW_VECTORS: i64 = 20_000;
/// How many vectors the sketches let through.
const BY_SKETCH: usize = 4_096;
/// How many of the closest vectors are looked at with their words.
const CLOSEST: usize = 200;
/// A word in more entries than this says little about any of them.
const RARE: usize = 200;

/// A place in the order of weights: weight, then newer, then lower id.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Place {
    weight: f64,
    seen: i64,
    id: i64,
}

impl Eq for Place {}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.weight
            .total_cmp(&other.weight)
            .then_with(|| self.seen.cmp(&other.seen))
            .then_with(|| other.id.cmp(&self.id))
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// A search in progress.
struct Search<'v, 'r> {
    view: &'v View<'v>,
    request: &'r Request,
    decay: Decay,
    now: DateTime<Utc>,
    /// Rows that another program wrote: their index is behind, so they are judged by themselves.
    outside: Vec<Preference>,
    outside_ids: HashSet<i64>,
    hidden: usize,
}

impl View<'_> {
    /// Finds what answers to a request.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn find(&self, request: &Request, now: DateTime<Utc>) -> Result<Selection> {
        let decay = self.decay()?;
        let indexed = self.sqlite_result(index::is_current(self.connection()))?;
        let outside_ids = self.outside_entries()?;
        let mut outside = Vec::new();
        for &id in &outside_ids {
            outside.extend(self.entry(id)?);
        }
        let mut search = Search {
            view: self,
            request,
            decay,
            now,
            outside,
            outside_ids: outside_ids.into_iter().collect(),
            hidden: 0,
        };
        let mut hits = if indexed {
            search.exact()?
        } else {
            search.judge_all(self.preferences()?)
        };
        if !request.text.trim().is_empty() && request.meaning != Meaning::Off {
            search.add_related(&mut hits, indexed)?;
        } else {
            search.add_limits(&mut hits, indexed, None)?;
        }
        let hidden = search.hidden;
        let any_stored = !hits.is_empty() || self.holds_anything()?;
        Ok(Selection {
            limits_hidden: hidden,
            any_stored,
            ..arrange(hits, request)
        })
    }

    /// Whether there is any entry.
    fn holds_anything(&self) -> Result<bool> {
        self.sqlite_result(
            self.connection()
                .prepare_cached("SELECT EXISTS (SELECT 1 FROM preferences)")
                .and_then(|mut statement| statement.query_row([], |row| row.get(0))),
        )
    }

    /// Entries that another program wrote.
    fn outside_entries(&self) -> Result<Vec<i64>> {
        self.sqlite_result(
            self.connection()
                .prepare_cached("SELECT id FROM outside_changes WHERE kind = 'entry'")
                .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect()),
        )
    }

    /// Ids whose indexed texts answer to an expression, at most `most`.
    fn matching(&self, expression: &str, most: usize) -> Result<Vec<i64>> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.sqlite_result(
            self.connection()
                .prepare_cached("SELECT rowid FROM search WHERE search MATCH ?1 LIMIT ?2")
                .and_then(|mut statement| {
                    statement
                        .query_map(params![expression, most], |row| row.get(0))?
                        .collect()
                }),
        )
    }

    /// Score and time of an indexed entry.
    fn indexed(&self, id: i64) -> Result<Option<(f64, i64)>> {
        self.sqlite_result(
            self.connection()
                .prepare_cached("SELECT score, seen FROM recall_index WHERE id = ?1")
                .and_then(|mut statement| {
                    statement
                        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
                        .optional()
                }),
        )
    }

    /// The stored vector of an entry.
    fn vector(&self, id: i64) -> Result<Option<Vector>> {
        self.sqlite_result(
            self.connection()
                .prepare_cached("SELECT vector FROM recall_index WHERE id = ?1")
                .and_then(|mut statement| {
                    statement
                        .query_row([id], |row| {
                            Ok(row.get_ref(0)?.as_blob().ok().and_then(Vector::from_bytes))
                        })
                        .optional()
                }),
        )
        .map(Option::flatten)
    }

    /// The highest id: near the number of entries, and read at once at any size.
    fn highest_id(&self) -> Result<i64> {
        self.sqlite_result(
            self.connection()
                .prepare_cached("SELECT coalesce(max(id), 0) FROM recall_index")
                .and_then(|mut statement| statement.query_row([], |row| row.get(0))),
        )
    }

    /// Ids of all hard limits in the index.
    fn limit_ids(&self) -> Result<Vec<i64>> {
        self.sqlite_result(
            self.connection()
                .prepare_cached("SELECT id FROM recall_index WHERE score <= ?1")
                .and_then(|mut statement| {
                    statement
                        .query_map([Band::Taboo.range().1], |row| row.get(0))?
                        .collect()
                }),
        )
    }
}

impl Search<'_, '_> {
    fn hit(&self, preference: Preference, found: Option<Found>) -> Hit {
        Hit::new(preference, found, &self.decay, self.now)
    }

    /// Judges rows one by one.
    fn judge_all(&mut self, rows: Vec<Preference>) -> Vec<Hit> {
        let mut hits = Vec::new();
        for preference in rows {
            match self.request.judge(&preference) {
                Verdict::No => {}
                Verdict::TooLow => self.hidden += usize::from(preference.is_hard_limit()),
                Verdict::Yes(found) => hits.push(self.hit(preference, found)),
            }
        }
        hits
    }

    /// Everything that answers by words, kind of task or without any; with a limit, at least what it leaves.
    fn exact(&mut self) -> Result<Vec<Hit>> {
        // Without a limit everything is loaded anyway; an order by relevance cannot end early.
        let keep = match (self.request.limit, self.request.sort) {
            (Some(limit), Sort::Usual | Sort::Weight) => limit,
            _ => usize::MAX,
        };
        let candidates = self.candidates(if keep == usize::MAX { usize::MAX } else { FEW })?;
        let outside = std::mem::take(&mut self.outside);
        let mut hits = self.judge_all(outside.clone());
        self.outside = outside;
        match candidates {
            None if keep == usize::MAX => {
                let ids = &self.outside_ids;
                let rows = self.view.preferences()?;
                let rows = rows
                    .into_iter()
                    .filter(|row| !ids.contains(&row.id))
                    .collect();
                hits.extend(self.judge_all(rows));
            }
            None => {
                hits.extend(self.limits_by_words()?);
                self.walk(keep, &mut hits)?;
            }
            Some(ids) => {
                let mut places = Vec::new();
                for id in ids {
                    if self.outside_ids.contains(&id) {
                        continue;
                    }
                    if let Some((score, seen)) = self.view.indexed(id)? {
                        places.push((self.place(id, score, seen), score));
                    }
                }
                places.sort_unstable_by_key(|(place, _)| Reverse(*place));
                let mut ordinary = 0;
                for (place, score) in places {
                    let is_limit = Score::clamped(score).is_hard_limit();
                    if !is_limit && ordinary >= keep {
                        continue;
                    }
                    let row = self.view.entry(place.id)?;
                    let found = self.judge_all(row.into_iter().collect());
                    ordinary += usize::from(!is_limit) * found.len();
                    hits.extend(found);
                }
            }
        }
        Ok(hits)
    }

    /// The ids that can answer; nothing when there are more than `most`, or when all can.
    fn candidates(&self, most: usize) -> Result<Option<BTreeSet<i64>>> {
        let request = self.request;
        let probe = most.saturating_add(1);
        let mut ids = BTreeSet::new();
        if let Some(expression) = all_of(&request.words) {
            ids.extend(self.view.matching(&expression, probe)?);
        } else if let (true, Some(scenario)) = (request.words.is_empty(), &request.scenario) {
            let keywords: Option<Vec<String>> = scenario.keywords().iter().map(all_of).collect();
            // A keyword of symbols alone is in no index.
            let Some(keywords) = keywords else {
                return Ok(None);
            };
            if !keywords.is_empty() {
                let expression = format!("({})", keywords.join(") OR ("));
                ids.extend(self.view.matching(&expression, probe)?);
            }
            for (tag, tagged) in self.view.tagged(probe)? {
                if scenario.names().contains(&item_key(&tag)) {
                    ids.extend(tagged);
                }
            }
        } else {
            return Ok(None);
        }
        Ok((ids.len() <= most).then_some(ids))
    }

    /// The hard limits that answer by words or kind of task.
    fn limits_by_words(&mut self) -> Result<Vec<Hit>> {
        let mut rows = Vec::new();
        for id in self.view.limit_ids()? {
            if !self.outside_ids.contains(&id) {
                rows.extend(self.view.entry(id)?);
            }
        }
        Ok(self.judge_all(rows))
    }

    fn place(&self, id: i64, score: f64, seen: i64) -> Place {
        Place {
            weight: scoring::weight(
                Score::clamped(score),
                self.decay.coefficient(self.age(seen)),
            ),
            seen,
            id,
        }
    }

    fn age(&self, seen: i64) -> f64 {
        const MICROS_PER_DAY: f64 = 86_400_000_000.0;
        if seen == NEVER_SEEN {
            f64::INFINITY
        } else {
            ((self.now.timestamp_micros().saturating_sub(seen)) as f64 / MICROS_PER_DAY).max(0.0)
        }
    }

    /// Walks down the scores until no entry can be stronger than the `keep` strongest found.
    fn walk(&mut self, keep: usize, hits: &mut Vec<Hit>) -> Result<()> {
        let (low, high) = self.request.score_range();
        // Hard limits have been judged already.
        let low = low.max(Band::Taboo.range().1);
        let mut strongest: BinaryHeap<Reverse<Place>> = BinaryHeap::new();
        let mut found: Vec<(i64, Hit)> = Vec::new();
        let mut below = f64::INFINITY;
        'scores: loop {
            let connection = self.view.connection();
            let mut statement = self.view.sqlite_result(connection.prepare_cached(
                "SELECT id, score, seen FROM recall_index WHERE score < ?1 AND score <= ?2
                 ORDER BY score DESC, seen DESC",
            ))?;
            let mut rows = self
                .view
                .sqlite_result(statement.query(params![below, high]))?;
            let mut spent: Option<f64> = None;
            while let Some(row) = self.view.sqlite_result(rows.next())? {
                let read = || -> rusqlite::Result<_> {
                    Ok((
                        row.get::<_, i64>(0)?,
                        row.get::<_, f64>(1)?,
                        row.get::<_, i64>(2)?,
                    ))
                };
                let (id, score, seen) = self.view.sqlite_result(read())?;
                if spent == Some(score) {
                    // The rest of this score is weaker still: go on with the next one.
                    below = score;
                    continue 'scores;
                }
                if score < low || Score::clamped(score).is_hard_limit() {
                    break 'scores;
                }
                let weakest = (strongest.len() >= keep)
                    .then(|| strongest.peek().map(|Reverse(place)| *place))
                    .flatten();
                if weakest.is_some_and(|weakest| score < weakest.weight) {
                    break 'scores;
                }
                if self.outside_ids.contains(&id) {
                    continue;
                }
                let place = self.place(id, score, seen);
                if weakest.is_some_and(|weakest| place < weakest) {
                    spent = Some(score);
                    continue;
                }
                let Some(preference) = self.view.entry(id)? else {
                    continue;
                };
                if let Verdict::Yes(how) = self.request.judge(&preference) {
                    found.push((id, self.hit(preference, how)));
                    strongest.push(Reverse(place));
                    if strongest.len() > keep {
                        strongest.pop();
                    }
                }
            }
            break;
        }
        let kept: HashSet<i64> = strongest.iter().map(|Reverse(place)| place.id).collect();
        hits.extend(
            found
                .into_iter()
                .filter(|(id, _)| kept.contains(id))
                .map(|(_, hit)| hit),
        );
        Ok(())
    }

    /// Adds relevance to what was found by words, and what was found by meaning alone.
    fn add_related(&mut self, hits: &mut Vec<Hit>, indexed: bool) -> Result<()> {
        let stored = usize::try_from(self.view.highest_id()?).unwrap_or(usize::MAX);
        let query = Query::new(&self.request.text, stored, |word| -> Result<usize> {
            if !indexed {
                return Ok(0);
            }
            match all_of(&Words::from_word(word.clone())) {
                Some(expression) => Ok(self.view.matching(&expression, RARE + 1)?.len()),
                None => Ok(0),
            }
        })?;
        let by_words = hits.iter().any(|hit| hit.found.is_some());
        for hit in hits.iter_mut() {
            let relevance = self.relevance(&query, &hit.preference)?;
            if let Some(found) = &mut hit.found {
                found.relevance = Some(relevance);
            }
        }
        let wanted = match self.request.meaning {
            Meaning::Also => true,
            Meaning::Fallback => !by_words,
            Meaning::Off => false,
        };
        if wanted {
            let have: HashSet<i64> = hits.iter().map(|hit| hit.preference.id).collect();
            let mut related = Vec::new();
            for preference in self.closest(&query, indexed)? {
                if have.contains(&preference.id) || !self.request.may_be_related(&preference) {
                    continue;
                }
                let relevance = self.relevance(&query, &preference)?;
                related.push((preference, relevance));
            }
            related.sort_by(|a, b| b.1.value.total_cmp(&a.1.value));
            let best: Vec<f64> = related
                .iter()
                .map(|(_, relevance)| relevance.value)
                .collect();
            let mut ordinary = 0;
            for (rank, (preference, relevance)) in related.into_iter().enumerate() {
                let is_limit = preference.is_hard_limit();
                if !is_related(&relevance, rank, &best)
                    || (!is_limit && ordinary >= self.most_related())
                {
                    continue;
                }
                ordinary += usize::from(!is_limit);
                let found = Found {
                    how: Match::Related,
                    matched: relevance.words.clone(),
                    relevance: Some(relevance),
                };
                hits.push(self.hit(preference, Some(found)));
            }
        }
        self.add_limits(hits, indexed, Some(&query))
    }

    fn most_related(&self) -> usize {
        self.request.limit.unwrap_or(USUAL_RELATED)
    }

    fn relevance(&self, query: &Query, preference: &Preference) -> Result<Relevance> {
        let vector = if self.outside_ids.contains(&preference.id) {
            vector_of(preference)
        } else {
            match self.view.vector(preference.id) {
                Ok(Some(vector)) => Some(vector),
                _ => vector_of(preference),
            }
        };
        Ok(query.relevance(preference, vector.as_ref()))
    }

    /// Adds the hard limits that concern the request without being named by its words.
    fn add_limits(
        &mut self,
        hits: &mut Vec<Hit>,
        indexed: bool,
        query: Option<&Query>,
    ) -> Result<()> {
        let request = self.request;
        // A list of everything has them already.
        if request.words.is_empty() && request.scenario.is_none() && !request.with_limits {
            return Ok(());
        }
        let have: HashSet<i64> = hits.iter().map(|hit| hit.preference.id).collect();
        let mut limits: Vec<Preference> = Vec::new();
        if indexed {
            for id in self.view.limit_ids()? {
                if !self.outside_ids.contains(&id) && !have.contains(&id) {
                    limits.extend(self.view.entry(id)?);
                }
            }
            limits.extend(
                self.outside
                    .iter()
                    .filter(|row| row.is_hard_limit())
                    .cloned(),
            );
        } else {
            let rows = self.view.preferences()?;
            limits.extend(rows.into_iter().filter(Preference::is_hard_limit));
        }
        for limit in limits {
            if have.contains(&limit.id)
                || !request.has_band(limit.base_score)
                || request.is_too_low(limit.base_score)
            {
                continue;
            }
            let relevance = match query {
                Some(query) => Some(self.relevance(query, &limit)?),
                None => None,
            };
            if let Some(found) = request.concerns(&limit, relevance) {
                hits.push(self.hit(limit, Some(found)));
            }
        }
        Ok(())
    }

    /// The entries closest to a task, by meaning and by rare words.
    fn closest(&self, query: &Query, indexed: bool) -> Result<Vec<Preference>> {
        if !indexed {
            return self.view.preferences();
        }
        let mut ids: BTreeSet<i64> = BTreeSet::new();
        if let Some(task) = query.vector() {
            let near = if self.view.highest_id()? <= FEW_VECTORS {
                self.by_vector(task, None)?
            } else {
                let few = self.by_sketch(task)?;
                self.by_vector(task, Some(&few))?
            };
            ids.extend(near);
        }
        for word in query.rare_words(RARE) {
            if let Some(expression) = all_of(&Words::from_word(word.clone())) {
                ids.extend(self.view.matching(&expression, RARE)?);
            }
        }
        let mut rows: Vec<Preference> = self.outside.clone();
        for id in ids {
            if !self.outside_ids.contains(&id) {
                rows.extend(self.view.entry(id)?);
            }
        }
        Ok(rows)
    }

    /// The ids of the closest vectors: of all, or of these.
    fn by_vector(&self, task: &Vector, among: Option<&[i64]>) -> Result<Vec<i64>> {
        let mut closest: BinaryHeap<Reverse<Place>> = BinaryHeap::new();
        let mut offer = |id: i64, vector: &Vector| {
            let weight = f64::from(task.cosine(vector));
            closest.push(Reverse(Place {
                weight,
                seen: 0,
                id,
            }));
            if closest.len() > CLOSEST {
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
                let mut statement =
                    connection.prepare_cached("SELECT id, vector FROM recall_index")?;
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
        let sketch = task.sketch();
        let mut by_distance: Vec<Vec<i64>> = vec![Vec::new(); Sketch::BYTES * 8 + 1];
        let mut bound = Sketch::BYTES * 8;
        let mut within = 0usize;
        self.view.sqlite_result((|| {
            let connection = self.view.connection();
            let mut statement = connection.prepare_cached("SELECT block, bits FROM sketches")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let block: i64 = row.get(0)?;
                let bits = row.get_ref(1)?.as_blob().unwrap_or_default();
                for (place, stored) in (0..).zip(bits.chunks_exact(Sketch::BYTES)) {
                    let distance = sketch.distance(stored) as usize;
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

/// An expression for the index that every word of a list must answer to; nothing where a word is in no index. A
/// piece holds letters, digits and marks alone, so nothing in it is an operator.
fn all_of(words: &Words) -> Option<String> {
    if words.is_empty() {
        return None;
    }
    let parts: Option<Vec<String>> = words.words().iter().map(one_word).collect();
    parts.map(|parts| parts.join(" AND "))
}

fn one_word(word: &Word) -> Option<String> {
    if word.pieces.is_empty() {
        return None;
    }
    let prefix = if word.prefix { " *" } else { "" };
    let phrase = format!(
        "{{item reason keywords}} : \"{}\"{prefix}",
        word.pieces.join(" ")
    );
    Some(match &word.stem {
        Some(stem) => format!("({phrase} OR stems : \"{stem}\")"),
        None => format!("({phrase})"),
    })
}
