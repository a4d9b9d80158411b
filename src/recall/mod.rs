//! Chooses what is recalled: builds the request as a value, judges and weighs what storage brings, and picks
//! what fits, hard limits first.

pub mod context;
mod matching;
pub mod meaning;
mod pieces;
mod relevance;
pub mod sketch;
pub mod task_map;

use std::cell::OnceCell;
use std::cmp::Ordering;

use chrono::{DateTime, Utc};

pub use matching::{Folded, Word, Words, fold_accents};
pub(crate) use relevance::says_nothing;
pub use relevance::{
    Bar, Holders, LEAST, LEAST_ACROSS_SCRIPTS, Query, Relevance, SURE, Script, entry_vector,
    task_vector,
};

use crate::model::{Band, Preference, Score, item_key};
use crate::scoring::{self, Decay, Weight};

/// How many related entries are given when no limit is named.
pub const USUAL_RELATED: usize = 10;

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The task or the words, as they were typed.
    pub text: String,
    /// Words that must all occur; empty asks for everything.
    pub words: Words,
    /// Bands that add up; empty asks for all.
    pub bands: Vec<Band>,
    /// The lowest base score.
    pub min_score: Option<Score>,
    /// The kind of task.
    pub scenario: Option<ScenarioFilter>,
    /// The most rows.
    pub limit: Option<usize>,
    /// Whether entries are found by meaning too.
    pub meaning: Meaning,
    /// Whether every hard limit counts as concerned.
    pub with_limits: bool,
    /// The order.
    pub sort: Sort,
}

/// Whether entries are found by meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Meaning {
    /// When no entry matches by keywords.
    #[default]
    Fallback,
    /// Also beside keyword matches.
    Also,
    /// By meaning alone: the words of a whole sentence stand in no entry, and looking for all of them takes time.
    Only,
    /// Never.
    Off,
}

/// The order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// Keyword matches by weight, then related ones by relevance.
    #[default]
    Usual,
    /// Everything by weight.
    Weight,
    /// Everything by relevance.
    Relevance,
}

/// How an entry was found. The names are the `match` of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Match {
    /// Every word of the query occurs in it.
    Keyword,
    /// It belongs to the kind of task.
    Scenario,
    /// It is close to the query in meaning.
    Related,
    /// It is a hard limit, and all of them were asked for.
    Limit,
}

/// How an entry was found, and what carried it.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// How.
    pub how: Match,
    /// How much it concerns the query; none where there is no query, or meaning is off.
    pub relevance: Option<Relevance>,
    /// The words, tag or keyword that carried it; empty where only the meaning did.
    pub matched: Vec<String>,
}

/// Finds what belongs to a kind of task: entries tagged with it, and entries that hold one of its keywords.
#[derive(Debug, Clone, Default)]
pub struct ScenarioFilter {
    names: Vec<String>,
    keywords: Vec<Words>,
}

impl ScenarioFilter {
    /// Takes every name the scenario goes by, and its keywords.
    pub fn new(names: &[String], keywords: &[String]) -> Self {
        ScenarioFilter {
            names: names.iter().map(|name| item_key(name)).collect(),
            keywords: keywords
                .iter()
                .map(|keyword| Words::keyword(keyword))
                .filter(|words| !words.is_empty())
                .collect(),
        }
    }

    /// The tag or the keyword by which an entry belongs to the kind of task.
    fn finds(&self, preference: &Preference, texts: &[Folded]) -> Option<String> {
        preference
            .scenarios
            .iter()
            .find(|name| self.names.contains(&item_key(name)))
            .cloned()
            .or_else(|| {
                self.keywords
                    .iter()
                    .find(|words| words.occur_in(texts))
                    .and_then(|words| words.words().first())
                    .map(|word| word.typed.clone())
            })
    }

    /// The folded names that entries may be tagged with.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The keywords.
    pub fn keywords(&self) -> &[Words] {
        &self.keywords
    }
}

/// A preference and what it weighs now.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The entry.
    pub preference: Preference,
    /// Its weight at the time of the request.
    pub weight: Weight,
    /// How it was found; none in a list that asks for everything.
    pub found: Option<Found>,
}

impl Hit {
    /// Weighs an entry.
    pub fn new(
        preference: Preference,
        found: Option<Found>,
        decay: &Decay,
        now: DateTime<Utc>,
    ) -> Self {
        Hit {
            weight: scoring::weigh(&preference, decay, now),
            preference,
            found,
        }
    }
}

/// What was chosen, and what was not.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// What was chosen, in the order of the request.
    pub hits: Vec<Hit>,
    /// Whether anything is stored at all.
    pub any_stored: bool,
    /// Hard limits that concern the request and found no place within the limit.
    pub limits_cut: usize,
    /// Hard limits that only the lowest score kept out.
    pub limits_hidden: usize,
    /// Entries that had to be looked at one by one, since the index does not know them yet.
    pub not_indexed: usize,
}

/// Whether an entry answers to a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It does not.
    No,
    /// Only the lowest score keeps it out.
    TooLow,
    /// It does.
    Yes(Option<Found>),
}

/// Whether an entry belongs to the kind of task of a request.
#[derive(Debug, PartialEq)]
enum Belonging {
    /// None is asked for.
    NotAsked,
    /// By this tag or keyword.
    By(String),
    /// It does not.
    No,
}

impl Request {
    /// A request for words.
    pub fn for_text(text: &str) -> Self {
        Request {
            text: text.to_owned(),
            words: Words::query(text),
            ..Request::default()
        }
    }

    /// Judges an entry by bands, words, kind of task and lowest score; meaning is not looked at.
    pub fn judge(&self, preference: &Preference) -> Verdict {
        self.judge_with(preference, false)
    }

    /// Judges an entry that the index has named: where its word is enough, the texts are not looked into again.
    pub fn judge_indexed(&self, preference: &Preference) -> Verdict {
        self.judge_with(preference, self.words.are_in_the_index())
    }

    fn judge_with(&self, preference: &Preference, words_occur: bool) -> Verdict {
        if !self.has_band(preference.base_score) {
            return Verdict::No;
        }
        let texts = OnceCell::new();
        let texts = || texts.get_or_init(|| texts_of(preference));
        let belonging = self.belonging(preference, texts);
        if belonging == Belonging::No
            || !self.words.is_empty() && !words_occur && !self.words.occur_in(texts())
        {
            return Verdict::No;
        }
        if self.is_too_low(preference.base_score) {
            return Verdict::TooLow;
        }
        let found = |how, matched| Found {
            how,
            relevance: None,
            matched,
        };
        Verdict::Yes(if !self.words.is_empty() {
            let words = self.words.words().iter();
            let typed = words.map(|word| word.typed.clone()).collect();
            Some(found(Match::Keyword, typed))
        } else if let Belonging::By(by) = belonging {
            Some(found(Match::Scenario, vec![by]))
        } else {
            None
        })
    }

    /// Judges an entry by bands and kind of task alone: whether it may be related.
    pub fn may_be_related(&self, preference: &Preference) -> bool {
        let texts = OnceCell::new();
        let texts = || texts.get_or_init(|| texts_of(preference));
        self.has_band(preference.base_score) && self.belonging(preference, texts) != Belonging::No
    }

    fn belonging<'t>(
        &self,
        preference: &Preference,
        texts: impl FnOnce() -> &'t Vec<Folded>,
    ) -> Belonging {
        let Some(scenario) = &self.scenario else {
            return Belonging::NotAsked;
        };
        match scenario.finds(preference, texts()) {
            Some(by) => Belonging::By(by),
            None => Belonging::No,
        }
    }

    /// How a hard limit that the words do not name concerns the request: by meaning, by the kind of task, or because
    /// all of them were asked for.
    pub fn concerns(&self, limit: &Preference, relevance: Option<Relevance>) -> Option<Found> {
        let is_sure = relevance
            .as_ref()
            .is_some_and(|relevance| relevance.value >= SURE);
        let (how, matched) = if is_sure {
            let words = relevance.as_ref().map(|relevance| relevance.words.clone());
            (Match::Related, words.unwrap_or_default())
        } else {
            let texts = OnceCell::new();
            let texts = || texts.get_or_init(|| texts_of(limit));
            match self.belonging(limit, texts) {
                Belonging::By(by) => (Match::Scenario, vec![by]),
                _ if self.with_limits => (Match::Limit, Vec::new()),
                _ => return None,
            }
        };
        Some(Found {
            how,
            relevance,
            matched,
        })
    }

    /// Whether a score is in one of the bands.
    pub fn has_band(&self, score: Score) -> bool {
        self.bands.is_empty() || self.bands.iter().any(|band| band.contains(score))
    }

    /// Whether a score is below the lowest one.
    pub fn is_too_low(&self, score: Score) -> bool {
        self.min_score.is_some_and(|least| score < least)
    }

    /// The range of scores that can answer: everything outside need not be looked at.
    pub fn score_range(&self) -> (f64, f64) {
        let bands = if self.bands.is_empty() {
            &Band::ALL
        } else {
            &self.bands[..]
        };
        let low = bands.iter().map(|band| band.range().0).fold(10.0, f64::min);
        let high = bands.iter().map(|band| band.range().1).fold(0.0, f64::max);
        (low.max(self.min_score.map_or(0.0, Score::value)), high)
    }
}

/// Sorts what was found and cuts it to the limit.
pub fn arrange(mut hits: Vec<Hit>, request: &Request) -> Selection {
    let mut selection = Selection {
        any_stored: !hits.is_empty(),
        ..Selection::default()
    };
    hits.sort_by(|a, b| in_order(a, b, request.sort));
    if let Some(limit) = request.limit {
        selection.limits_cut = cut(&mut hits, limit, request.sort);
    }
    selection.hits = hits;
    selection
}

/// What a related entry is sorted by: its relevance, and a small share of its weight. A hard limit weighs next
/// to nothing and matters no less for it.
fn related_rank(hit: &Hit) -> f64 {
    const SHARE_OF_WEIGHT: f64 = 0.15;
    let share = if hit.preference.is_hard_limit() {
        1.0
    } else {
        hit.weight.effective / Score::MAX.value()
    };
    relevance_of(hit) * (1.0 - SHARE_OF_WEIGHT + SHARE_OF_WEIGHT * share)
}

fn relevance_of(hit: &Hit) -> f64 {
    hit.found
        .as_ref()
        .and_then(|found| found.relevance.as_ref())
        .map_or(0.0, |relevance| relevance.value)
}

/// Keyword matches and plain entries first, then related ones, then limits that were only asked for.
fn group(hit: &Hit) -> u8 {
    match hit.found.as_ref().map(|found| found.how) {
        None | Some(Match::Keyword | Match::Scenario) => 0,
        Some(Match::Related) => 1,
        Some(Match::Limit) => 2,
    }
}

/// The order of what was found.
pub(crate) fn in_order(a: &Hit, b: &Hit, sort: Sort) -> Ordering {
    match sort {
        Sort::Weight => by_weight(a, b),
        Sort::Relevance => relevance_of(b)
            .total_cmp(&relevance_of(a))
            .then_with(|| by_weight(a, b)),
        Sort::Usual => group(a).cmp(&group(b)).then_with(|| {
            if group(a) == 1 {
                related_rank(b)
                    .total_cmp(&related_rank(a))
                    .then_with(|| by_weight(a, b))
            } else {
                by_weight(a, b)
            }
        }),
    }
}

/// The searchable texts of an entry: item, reason, and each keyword by itself.
pub(crate) fn texts_of(preference: &Preference) -> Vec<Folded> {
    [&preference.item, &preference.reason]
        .into_iter()
        .chain(&preference.keywords)
        .map(|text| Folded::new(text))
        .collect()
}

/// The order of every list: effective weight, then the newer one, then the lower id.
fn by_weight(a: &Hit, b: &Hit) -> Ordering {
    b.weight
        .effective
        .total_cmp(&a.weight.effective)
        .then_with(|| newer_first(a, b))
}

fn newer_first(a: &Hit, b: &Hit) -> Ordering {
    let seen = |hit: &Hit| {
        let preference = &hit.preference;
        preference
            .last_seen
            .moment()
            .or_else(|| preference.added_at.moment())
    };
    seen(b)
        .cmp(&seen(a))
        .then_with(|| a.preference.id.cmp(&b.preference.id))
}

/// Cuts a sorted list to `limit` rows. Hard limits take their places first, lowest score and then newest
/// first; the rest keep what places are left. Returns how many limits found none.
fn cut(hits: &mut Vec<Hit>, limit: usize, sort: Sort) -> usize {
    if hits.len() <= limit {
        return 0;
    }
    let (mut limits, mut rest): (Vec<_>, Vec<_>) = std::mem::take(hits)
        .into_iter()
        .partition(|hit| hit.preference.is_hard_limit());
    limits.sort_by(|a, b| {
        a.preference
            .base_score
            .value()
            .total_cmp(&b.preference.base_score.value())
            .then_with(|| newer_first(a, b))
    });
    let without_place = limits.len().saturating_sub(limit);
    limits.truncate(limit);
    rest.truncate(limit - limits.len());
    hits.extend(rest);
    hits.extend(limits);
    hits.sort_by(|a, b| in_order(a, b, sort));
    without_place
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Origin, Stamp};
    use proptest::prelude::*;

    fn entry(id: i64, score: f64) -> Preference {
        Preference {
            id,
            uid: format!("u{id}"),
            item: format!("item {id}"),
            reason: "because".into(),
            keywords: vec![],
            scenarios: vec![],
            base_score: Score::clamped(score),
            source: "manual".into(),
            origin: Origin::User,
            added_at: Stamp("2026-11-01T00:00:00+00:00".into()),
            last_seen: Stamp("2026-11-01T00:00:00+00:00".into()),
            touch_count: 0,
            patterns: Vec::new(),
        }
    }

    fn choose(scores: &[f64], request: &Request) -> Selection {
        let now = "2026-11-30T00:00:00Z".parse().expect("a time");
        let mut hits = Vec::new();
        let mut hidden = 0;
        for (&score, id) in scores.iter().zip(1..) {
            let preference = entry(id, score);
            match request.judge(&preference) {
                Verdict::No => {}
                Verdict::TooLow => hidden += usize::from(preference.is_hard_limit()),
                Verdict::Yes(found) => {
                    hits.push(Hit::new(preference, found, &Decay::default(), now))
                }
            }
        }
        Selection {
            limits_hidden: hidden,
            ..arrange(hits, request)
        }
    }

    fn ids(selection: &Selection) -> Vec<i64> {
        selection.hits.iter().map(|hit| hit.preference.id).collect()
    }

    #[test]
    fn a_limit_takes_the_place_of_the_weakest_of_the_rest() {
        let request = Request {
            limit: Some(3),
            ..Request::default()
        };
        let selection = choose(&[9.0, 8.0, 7.0, 0.5], &request);
        assert_eq!(ids(&selection), [1, 2, 4]);
        assert_eq!(selection.limits_cut, 0);
    }

    #[test]
    fn limits_without_a_place_are_counted_and_the_lowest_stay() {
        let request = Request {
            limit: Some(2),
            ..Request::default()
        };
        let selection = choose(&[1.0, 0.0, 9.0, 0.5], &request);
        assert_eq!(ids(&selection), [4, 2]);
        assert_eq!(selection.limits_cut, 1);
    }

    #[test]
    fn the_lowest_score_hides_limits_and_says_so() {
        let request = Request {
            min_score: Some(Score::clamped(3.0)),
            bands: vec![Band::Taboo, Band::Preference],
            ..Request::default()
        };
        let selection = choose(&[0.5, 9.0, 5.0], &request);
        assert_eq!(ids(&selection), [2]);
        assert_eq!(selection.limits_hidden, 1);
    }

    proptest! {
        #[test]
        fn a_limit_is_never_exceeded_and_never_loses_a_hard_limit(
            scores in proptest::collection::vec(0.0..=10.0f64, 0..40),
            limit in 1usize..20,
        ) {
            let request = Request { limit: Some(limit), ..Request::default() };
            let selection = choose(&scores, &request);
            prop_assert!(selection.hits.len() <= limit);
            let shown = selection.hits.iter().filter(|hit| hit.preference.is_hard_limit()).count();
            let all = scores.iter().filter(|s| Score::clamped(**s).is_hard_limit()).count();
            prop_assert_eq!(shown + selection.limits_cut, all);
            prop_assert!(selection.hits.windows(2).all(|w| w[0].weight.effective >= w[1].weight.effective));
        }
    }
}
