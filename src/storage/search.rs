//! Finds what answers to a request, without looking at more rows than it must.
//!
//! Three ways, chosen by how much there is:
//! - few candidates (a rare word, a small scenario): their weights are read, and the strongest rows are
//!   loaded and judged;
//! - many candidates, or none to begin with: a walk along the score index. A weight never exceeds its score, so
//!   the walk ends when the next score is below the weakest of the strongest found so far;
//! - no index (another recipe, a file that may not be written): every row is judged.
//!
//! Hard limits weigh next to nothing, so no such walk would reach them: they are always judged one by one. What is close
//! in meaning is found in `related.rs`.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashSet};

use chrono::{DateTime, Utc};
use rusqlite::{OptionalExtension, Statement, params};

use super::index::{self, NEVER_SEEN};
use super::{Result, View};
use crate::model::{Band, Preference, Score, item_key};
use crate::recall::meaning::Vector;
use crate::recall::{Found, Hit, Meaning, Request, Selection, Sort, Verdict, Word, Words, arrange};
use crate::scoring::{self, Decay};

/// So many matches are asked for before it is decided how to go on.
const PROBE: usize = 1_000;
/// Up to this many matches are fetched; beyond, the rows of a walk are judged one by one.
const FETCHED: usize = 30_000;

/// The stored vector of one entry, see [`read_vector`].
pub(super) const VECTOR_OF: &str = "SELECT vector FROM vectors WHERE id = ?1";

/// Score and time of one entry as the index has them.
const INDEXED: &str = "SELECT score, seen FROM recall_index WHERE id = ?1";

/// A place in the order of weights: weight, then newer, then lower id.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    pub(super) weight: f64,
    pub(super) seen: i64,
    pub(super) id: i64,
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

/// Weighs an entry by what the index holds of it.
pub(super) fn place(id: i64, score: f64, seen: i64, decay: &Decay, now: DateTime<Utc>) -> Place {
    const MICROS_PER_DAY: f64 = 86_400_000_000.0;
    let age = if seen == NEVER_SEEN {
        f64::INFINITY
    } else {
        now.timestamp_micros().saturating_sub(seen) as f64 / MICROS_PER_DAY
    };
    Place {
        weight: scoring::weight(Score::clamped(score), decay.coefficient(age)),
        seen,
        id,
    }
}

/// Runs [`VECTOR_OF`] for one entry.
pub(super) fn read_vector(
    statement: &mut Statement<'_>,
    id: i64,
) -> rusqlite::Result<Option<Vector>> {
    let vector = statement
        .query_row([id], |row| {
            Ok(row.get_ref(0)?.as_blob().ok().and_then(Vector::from_bytes))
        })
        .optional()?;
    Ok(vector.flatten())
}

/// What a limited request has to look at.
enum Candidates {
    /// These rows, one by one.
    Few(BTreeSet<i64>),
    /// The rows along the scores that are among these.
    Many(BTreeSet<i64>),
    /// The rows along the scores, judged one by one.
    Unknown,
}

/// A search in progress.
pub(super) struct Search<'v, 'r> {
    pub(super) view: &'v View<'v>,
    pub(super) request: &'r Request,
    decay: Decay,
    now: DateTime<Utc>,
    /// Whether the index is current; all rows are loose where it is not.
    pub(super) indexed: bool,
    /// Rows that are judged by themselves, since their index is behind: those that another program wrote.
    pub(super) loose: BTreeMap<i64, Preference>,
    /// What the index knows and must not be asked about: the numbers of those rows, removed ones among them.
    pub(super) outside_ids: HashSet<i64>,
    /// The hard limits and their vectors, once they are read.
    pub(super) limits: OnceCell<Vec<(i64, Option<Vector>)>>,
    /// Hard limits that only the lowest score keeps out.
    pub(super) hidden: HashSet<i64>,
}

impl View<'_> {
    /// Finds what answers to a request.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn find(&self, request: &Request, now: DateTime<Utc>) -> Result<Selection> {
        let decay = self.decay()?;
        let indexed = self.sqlite_result(index::is_current(self.connection()))?;
        let mut loose = BTreeMap::new();
        let mut outside_ids = HashSet::new();
        if indexed {
            outside_ids.extend(self.outside_entries()?);
            for &id in &outside_ids {
                loose.extend(self.entry(id)?.map(|row| (id, row)));
            }
        } else {
            self.each_preference(|row| {
                loose.insert(row.id, row);
            })?;
        }
        let not_indexed = loose.len();
        let mut search = Search {
            view: self,
            request,
            decay,
            now,
            indexed,
            loose,
            outside_ids,
            limits: OnceCell::new(),
            hidden: HashSet::new(),
        };
        let mut hits = if request.meaning == Meaning::Only {
            Vec::new()
        } else {
            search.exact()?
        };
        if !request.text.trim().is_empty() && request.meaning != Meaning::Off {
            search.add_related(&mut hits)?;
        } else {
            search.add_limits(&mut hits, None)?;
        }
        let hidden = search.hidden.len();
        let any_stored = !hits.is_empty() || self.holds_anything()?;
        Ok(Selection {
            limits_hidden: hidden,
            not_indexed,
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
    pub(super) fn outside_entries(&self) -> Result<Vec<i64>> {
        self.sqlite_result(
            self.connection()
                .prepare_cached("SELECT id FROM outside_changes WHERE kind = 'entry'")
                .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect()),
        )
    }

    /// Ids whose indexed texts answer to an expression, at most `most`.
    pub(super) fn matching(&self, expression: &str, most: usize) -> Result<Vec<i64>> {
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
    pub(super) fn indexed(&self, id: i64) -> Result<Option<(f64, i64)>> {
        self.sqlite_result(
            self.connection()
                .prepare_cached(INDEXED)
                .and_then(|mut statement| {
                    statement
                        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
                        .optional()
                }),
        )
    }

    /// Number, score and time of those of some entries that are indexed.
    fn weights(&self, ids: &BTreeSet<i64>) -> Result<Vec<(i64, f64, i64)>> {
        // So many rows are passed over in the time that one takes to be looked up.
        const PASSED_OVER: i64 = 2;
        let (Some(&first), Some(&last)) = (ids.first(), ids.last()) else {
            return Ok(Vec::new());
        };
        let count = i64::try_from(ids.len()).unwrap_or(i64::MAX);
        if last.saturating_sub(first) > count.saturating_mul(PASSED_OVER) {
            return self.sqlite_result((|| {
                let mut found = Vec::with_capacity(ids.len());
                let mut statement = self.connection().prepare_cached(INDEXED)?;
                for &id in ids {
                    let row = statement.query_row([id], |row| Ok((id, row.get(0)?, row.get(1)?)));
                    found.extend(row.optional()?);
                }
                Ok(found)
            })());
        }
        self.sqlite_result((|| {
            let mut found = Vec::with_capacity(ids.len());
            let mut statement = self.connection().prepare_cached(
                "SELECT id, score, seen FROM recall_index WHERE id BETWEEN ?1 AND ?2 ORDER BY id",
            )?;
            let mut rows = statement.query([first, last])?;
            let mut wanted = ids.iter().copied().peekable();
            while let Some(row) = rows.next()? {
                let id = row.get(0)?;
                while wanted.next_if(|wanted| *wanted < id).is_some() {}
                if wanted.next_if_eq(&id).is_some() {
                    found.push((id, row.get(1)?, row.get(2)?));
                }
            }
            Ok(found)
        })())
    }

    /// The stored vector of an entry.
    pub(super) fn vector(&self, id: i64) -> Result<Option<Vector>> {
        self.sqlite_result(
            self.connection()
                .prepare_cached(VECTOR_OF)
                .and_then(|mut statement| read_vector(&mut statement, id)),
        )
    }

    /// The highest id: near the number of entries, and read at once at any size.
    pub(super) fn highest_id(&self) -> Result<i64> {
        self.sqlite_result(
            self.connection()
                .prepare_cached("SELECT coalesce(max(id), 0) FROM recall_index")
                .and_then(|mut statement| statement.query_row([], |row| row.get(0))),
        )
    }

    /// Ids and vectors of all hard limits in the index, those whose texts have no vector among them.
    pub(super) fn limit_vectors(&self) -> Result<Vec<(i64, Option<Vector>)>> {
        self.sqlite_result(
            self.connection()
                .prepare_cached(
                    "SELECT id, (SELECT vector FROM limit_vectors v WHERE v.id = r.id)
                     FROM recall_index r WHERE score <= ?1",
                )
                .and_then(|mut statement| {
                    statement
                        .query_map([Band::Taboo.range().1], |row| {
                            let vector =
                                row.get_ref(1)?.as_blob().ok().and_then(Vector::from_bytes);
                            Ok((row.get(0)?, vector))
                        })?
                        .collect()
                }),
        )
    }

    /// Ids of all entries whose score can answer, and of the hard limits that the lowest score may hide.
    fn scored(&self, request: &Request) -> Result<Vec<i64>> {
        let (low, high) = request.score_range();
        let hidden = if request.min_score.is_some() {
            Band::Taboo.range().1
        } else {
            -1.0
        };
        self.sqlite_result(
            self.connection()
                .prepare_cached(
                    "SELECT id FROM recall_index WHERE score BETWEEN ?1 AND ?2
                     UNION SELECT id FROM recall_index WHERE score <= ?3",
                )
                .and_then(|mut statement| {
                    statement
                        .query_map(params![low, high, hidden], |row| row.get(0))?
                        .collect()
                }),
        )
    }

    /// Ids of all hard limits in the index.
    pub(super) fn limit_ids(&self) -> Result<Vec<i64>> {
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
    pub(super) fn hit(&self, preference: Preference, found: Option<Found>) -> Hit {
        Hit::new(preference, found, &self.decay, self.now)
    }

    /// The row with this number, as it is now.
    pub(super) fn row(&self, id: i64) -> Result<Option<Preference>> {
        match self.loose.get(&id) {
            Some(row) => Ok(Some(row.clone())),
            None if self.indexed && !self.outside_ids.contains(&id) => self.view.entry(id),
            None => Ok(None),
        }
    }

    /// Judges rows one by one.
    fn judge_all(&mut self, rows: Vec<Preference>) -> Vec<Hit> {
        self.judge_by(rows, Request::judge)
    }

    fn judge_by(
        &mut self,
        rows: Vec<Preference>,
        judge: impl Fn(&Request, &Preference) -> Verdict,
    ) -> Vec<Hit> {
        let mut hits = Vec::new();
        for preference in rows {
            let verdict = judge(self.request, &preference);
            hits.extend(self.judged(preference, verdict));
        }
        hits
    }

    /// Judges the rows that the index does not know.
    fn judge_loose(&mut self) -> Vec<Hit> {
        let verdicts: Vec<(i64, Verdict)> = self
            .loose
            .values()
            .map(|row| (row.id, self.request.judge(row)))
            .filter(|(_, verdict)| *verdict != Verdict::No)
            .collect();
        let mut hits = Vec::with_capacity(verdicts.len());
        for (id, verdict) in verdicts {
            let row = self.loose[&id].clone();
            hits.extend(self.judged(row, verdict));
        }
        hits
    }

    fn judged(&mut self, preference: Preference, verdict: Verdict) -> Option<Hit> {
        match verdict {
            Verdict::No => None,
            Verdict::TooLow => {
                if preference.is_hard_limit() {
                    self.hidden.insert(preference.id);
                }
                None
            }
            Verdict::Yes(found) => Some(self.hit(preference, found)),
        }
    }

    /// Everything that answers by words, kind of task or without any; with a limit, at least what it leaves.
    fn exact(&mut self) -> Result<Vec<Hit>> {
        let mut hits = self.judge_loose();
        if !self.indexed {
            return Ok(hits);
        }
        // Without a limit everything is loaded anyway; an order by relevance cannot end early.
        let keep = match (self.request.limit, self.request.sort) {
            (Some(limit), Sort::Usual | Sort::Weight) => limit,
            _ => return self.all_of_it(hits),
        };
        match self.candidates()? {
            Candidates::Few(ids) => self.strongest_of(ids, keep, &mut hits)?,
            Candidates::Many(ids) => {
                hits.extend(self.limits_by_words()?);
                self.walk(keep, Some(&ids), &mut hits)?;
            }
            Candidates::Unknown => {
                hits.extend(self.limits_by_words()?);
                self.walk(keep, None, &mut hits)?;
            }
        }
        Ok(hits)
    }

    /// Every row that answers.
    fn all_of_it(&mut self, mut hits: Vec<Hit>) -> Result<Vec<Hit>> {
        let narrowed = !self.request.bands.is_empty() || self.request.min_score.is_some();
        let rows = match self.matches(&self.request.words, usize::MAX)? {
            None if narrowed => self.load(&self.view.scored(self.request)?)?,
            None => self.view.preferences()?,
            Some(ids) => self.load(&ids.into_iter().collect::<Vec<_>>())?,
        };
        let ids = &self.outside_ids;
        let rows = rows
            .into_iter()
            .filter(|row| !ids.contains(&row.id))
            .collect();
        hits.extend(self.judge_all(rows));
        Ok(hits)
    }

    fn load(&self, ids: &[i64]) -> Result<Vec<Preference>> {
        let mut rows = Vec::with_capacity(ids.len());
        (self.view).each_entry(ids.iter().copied(), |row| rows.push(row))?;
        Ok(rows)
    }

    /// Loads the strongest of a few rows, and the hard limits among them.
    fn strongest_of(&mut self, ids: BTreeSet<i64>, keep: usize, hits: &mut Vec<Hit>) -> Result<()> {
        let mut places: Vec<(Place, f64)> = (self.view.weights(&ids)?.into_iter())
            .filter(|(id, ..)| !self.outside_ids.contains(id))
            .map(|(id, score, seen)| (self.place(id, score, seen), score))
            .collect();
        places.sort_unstable_by_key(|(place, _)| Reverse(*place));
        // A limit that answers takes its place first, so each leaves one less for the others.
        let (limits, others): (Vec<_>, Vec<_>) = places
            .into_iter()
            .partition(|(_, score)| Score::clamped(*score).is_hard_limit());
        let mut places_left = keep;
        for (place, score) in limits.into_iter().chain(others) {
            if places_left == 0 && !Score::clamped(score).is_hard_limit() {
                break;
            }
            let row = self.view.entry(place.id)?;
            let found = self.judge_by(row.into_iter().collect(), Request::judge_indexed);
            places_left = places_left.saturating_sub(found.len());
            hits.extend(found);
        }
        Ok(())
    }

    /// How a limited request goes on: the cheapest way for what a first look at the index shows.
    fn candidates(&self) -> Result<Candidates> {
        // Whole words first: the beginning of a word makes SQLite merge the lists of all words that begin so,
        // however few are asked for.
        let words = self.request.words.words();
        let whole = self.matches(&self.request.words.whole(), PROBE + 1)?;
        let first = match whole {
            Some(ids) if ids.len() <= PROBE && words.iter().any(|word| word.prefix) => {
                self.matches(&self.request.words, PROBE + 1)?
            }
            other => other,
        };
        let Some(first) = first else {
            return Ok(Candidates::Unknown);
        };
        if first.len() <= PROBE {
            return Ok(Candidates::Few(first));
        }
        // Matches come by number, so how far the first ones reach tells how many there are.
        let highest = self.view.highest_id()?.max(1) as f64;
        let reached = first.last().copied().unwrap_or(1).max(1) as f64;
        let estimate = first.len() as f64 * highest / reached;
        if estimate > FETCHED as f64 {
            return Ok(Candidates::Unknown);
        }
        Ok(match self.matches(&self.request.words, usize::MAX)? {
            Some(all) => Candidates::Many(all),
            None => Candidates::Unknown,
        })
    }

    /// The ids that can answer by words or kind of task, at most about `most`; nothing when all can, or when
    /// no index tells.
    fn matches(&self, words: &Words, most: usize) -> Result<Option<BTreeSet<i64>>> {
        let request = self.request;
        if let Some(expression) = all_of(words) {
            let ids = self.view.matching(&expression, most)?;
            return Ok(Some(ids.into_iter().collect()));
        }
        let (true, Some(scenario)) = (words.is_empty(), &request.scenario) else {
            return Ok(None);
        };
        // A keyword of symbols alone is in no index.
        let Some(expression) = any_of(scenario.keywords()) else {
            return Ok(None);
        };
        let mut ids = BTreeSet::new();
        if !expression.is_empty() {
            ids.extend(self.view.matching(&expression, most)?);
        }
        for tag in self.view.tags()? {
            if scenario.names().contains(&item_key(&tag)) {
                ids.extend(self.view.tagged(&tag, most)?);
            }
        }
        Ok(Some(ids))
    }

    /// The hard limits that answer by words or kind of task.
    fn limits_by_words(&mut self) -> Result<Vec<Hit>> {
        let mut ids = self.view.limit_ids()?;
        ids.retain(|id| !self.outside_ids.contains(id));
        let rows = self.load(&ids)?;
        Ok(self.judge_all(rows))
    }

    fn place(&self, id: i64, score: f64, seen: i64) -> Place {
        place(id, score, seen, &self.decay, self.now)
    }

    /// Walks down the scores until no entry can be stronger than the `keep` strongest found.
    fn walk(
        &mut self,
        keep: usize,
        among: Option<&BTreeSet<i64>>,
        hits: &mut Vec<Hit>,
    ) -> Result<()> {
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
                if self.outside_ids.contains(&id) || among.is_some_and(|ids| !ids.contains(&id)) {
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
}

/// An expression for the index that every word of a list must answer to; nothing where a word is in no index. A
/// piece holds letters, digits and marks alone, so nothing in it is an operator.
pub(super) fn all_of(words: &Words) -> Option<String> {
    if words.is_empty() {
        return None;
    }
    let parts: Option<Vec<String>> = words.words().iter().map(one_word).collect();
    parts.map(|parts| parts.join(" AND "))
}

/// An expression that one keyword of a list is enough for, empty without any; nothing where one is in no index. Each is
/// one word; those of one column stand together, and what several share is looked up once.
fn any_of(keywords: &[Words]) -> Option<String> {
    let mut terms: [BTreeSet<String>; 2] = Default::default();
    for word in keywords.iter().flat_map(Words::words) {
        let (columns, term) = whole_word(word)?;
        terms[usize::from(columns == STEMS)].insert(term);
    }
    let parts: Vec<String> = [TEXTS, STEMS]
        .iter()
        .zip(terms)
        .filter(|(_, terms)| !terms.is_empty())
        .map(|(columns, terms)| {
            let terms: Vec<String> = terms.into_iter().collect();
            format!("{columns} : ({})", terms.join(" OR "))
        })
        .collect();
    Some(parts.join(" OR "))
}

/// The columns of the index that hold the pieces of an entry, and the one that holds their stems.
const TEXTS: &str = "{item reason keywords}";
const STEMS: &str = "stems";

/// Where a whole word is looked up, and as what; nothing where it is in no index. What holds a piece holds its stem, so the
/// stem alone is enough.
fn whole_word(word: &Word) -> Option<(&'static str, String)> {
    if word.pieces.is_empty() {
        return None;
    }
    Some(match &word.stem {
        Some(stem) => (STEMS, format!("\"{stem}\"")),
        None => (TEXTS, format!("\"{}\"", word.pieces.join(" "))),
    })
}

fn one_word(word: &Word) -> Option<String> {
    let (columns, term) = whole_word(word)?;
    let whole = format!("({columns} : {term})");
    if !word.prefix {
        return Some(whole);
    }
    let beginning = format!("{TEXTS} : \"{}\" *", word.pieces.join(" "));
    Some(match &word.stem {
        Some(_) => format!("({beginning} OR {whole})"),
        None => format!("({beginning})"),
    })
}
