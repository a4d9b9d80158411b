//! Chooses what is recalled: builds the request as a value, weighs what storage brings, and picks what
//! fits, hard limits first.

mod matching;

use std::cmp::Ordering;

use chrono::{DateTime, Utc};

pub use matching::{Folded, Words, fold_accents};

use crate::model::{Band, Preference, Score, fold};
use crate::scoring::{self, Decay, Weight};

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
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
            names: names.iter().map(|name| fold(name)).collect(),
            keywords: keywords
                .iter()
                .map(|keyword| Words::keyword(keyword))
                .filter(|words| !words.is_empty())
                .collect(),
        }
    }

    fn finds(&self, preference: &Preference, texts: &[Folded]) -> bool {
        preference
            .scenarios
            .iter()
            .any(|name| self.names.contains(&fold(name)))
            || self.keywords.iter().any(|words| words.occur_in(texts))
    }
}

/// A preference and what it weighs now.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The entry.
    pub preference: Preference,
    /// Its weight at the time of the request.
    pub weight: Weight,
}

/// What was chosen, and what was not.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// What was chosen, by effective weight, highest first.
    pub hits: Vec<Hit>,
    /// How many entries there are at all.
    pub stored: usize,
    /// How many matched, chosen or not.
    pub matched: usize,
    /// Hard limits that matched and found no place within the limit.
    pub limits_cut: usize,
    /// Hard limits that only the lowest score kept out.
    pub limits_hidden: usize,
}

/// Chooses from the candidates.
pub fn select(
    candidates: impl IntoIterator<Item = Preference>,
    request: &Request,
    decay: &Decay,
    now: DateTime<Utc>,
) -> Selection {
    let mut selection = Selection::default();
    for preference in candidates {
        selection.stored += 1;
        if !matches(&preference, request) {
            continue;
        }
        if request
            .min_score
            .is_some_and(|least| preference.base_score < least)
        {
            selection.limits_hidden += usize::from(preference.is_hard_limit());
            continue;
        }
        let weight = scoring::weigh(&preference, decay, now);
        selection.hits.push(Hit { preference, weight });
    }
    selection.matched = selection.hits.len();
    selection.hits.sort_by(by_weight);
    if let Some(limit) = request.limit {
        selection.limits_cut = cut(&mut selection.hits, limit);
    }
    selection
}

/// Whether an entry answers to the bands, the words and the scenario of a request.
fn matches(preference: &Preference, request: &Request) -> bool {
    let score = preference.base_score;
    if !request.bands.is_empty() && !request.bands.iter().any(|band| band.contains(score)) {
        return false;
    }
    if request.words.is_empty() && request.scenario.is_none() {
        return true;
    }
    let texts = texts_of(preference);
    request.words.occur_in(&texts)
        && request
            .scenario
            .as_ref()
            .is_none_or(|scenario| scenario.finds(preference, &texts))
}

/// The searchable texts of an entry: item, reason, and each keyword by itself.
fn texts_of(preference: &Preference) -> Vec<Folded> {
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
    let seen = |hit: &Hit| hit.preference.last_seen.moment();
    seen(b)
        .cmp(&seen(a))
        .then_with(|| a.preference.id.cmp(&b.preference.id))
}

/// Cuts a sorted list to `limit` rows. Hard limits take their places first, lowest score and then newest
/// first; the rest keep what places are left. Returns how many limits found none.
fn cut(hits: &mut Vec<Hit>, limit: usize) -> usize {
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
    hits.sort_by(by_weight);
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
        }
    }

    fn choose(scores: &[f64], request: &Request) -> Selection {
        let entries = scores.iter().zip(1..).map(|(&score, id)| entry(id, score));
        let now = "2026-11-30T00:00:00Z".parse().expect("a time");
        select(entries, request, &Decay::default(), now)
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
        assert_eq!((selection.matched, selection.limits_cut), (4, 0));
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
