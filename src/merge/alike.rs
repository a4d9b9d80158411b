//! Entries that are one thing said twice, or that say the opposite of each other, among all that are stored.

use std::collections::{BTreeSet, HashMap};

use super::learn::{Side, side};
use super::similar::{ALIKE, content};
use crate::model::Preference;

/// How an item begins that says no by itself. Longer ones first.
const NEGATIONS: &[&str] = &[
    "does not ",
    "doesn't ",
    "doesn’t ",
    "do not ",
    "don't ",
    "don’t ",
    "never ",
    "not ",
    "no ",
    "不要",
    "不能",
    "不可",
    "不喜欢",
    "不想",
    "不",
    "别",
    "禁止",
    "讨厌",
    "拒绝",
];

/// So many items are compared word by word at most.
const MOST_COMPARED: usize = 5_000_000;

/// How two entries about one thing stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// They say the same.
    Twice,
    /// One speaks for it, the other against it.
    Opposite,
}

/// Two entries about one thing, by their places in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// The one that comes first.
    pub first: usize,
    /// The other one.
    pub second: usize,
    /// How they stand to each other.
    pub relation: Relation,
}

/// What is left of an item that says no.
pub fn thing_of(item: &str) -> Option<&str> {
    NEGATIONS.iter().find_map(|negation| {
        let start = item.get(..negation.len())?;
        let thing = item[negation.len()..].trim();
        (start.eq_ignore_ascii_case(negation) && !thing.is_empty()).then_some(thing)
    })
}

/// Pairs of entries about one thing, whether their items name it or say no to it. Where far too many are near each other,
/// not all are found.
pub fn pairs(entries: &[Preference]) -> Vec<Pair> {
    let contents: Vec<BTreeSet<String>> = entries
        .iter()
        .map(|entry| content(thing_of(&entry.item).unwrap_or(&entry.item)))
        .collect();
    let mut pairs: Vec<Pair> = near(&contents)
        .into_iter()
        .map(|(first, second)| Pair {
            first,
            second,
            relation: relation(&entries[first], &entries[second]),
        })
        .collect();
    pairs.sort_by_key(|pair| (pair.first, pair.second));
    pairs
}

fn relation(a: &Preference, b: &Preference) -> Relation {
    match (stance(a), stance(b)) {
        (Side::For, Side::Against) | (Side::Against, Side::For) => Relation::Opposite,
        _ => Relation::Twice,
    }
}

/// On which side of its thing an entry is. One that says no is against it, whether its score says so again or not.
fn stance(entry: &Preference) -> Side {
    match thing_of(&entry.item) {
        Some(_) => Side::Against,
        None => side(entry.base_score),
    }
}

/// Pairs that share enough words. What shares so many shares one of its rarest, so that only those are looked up.
fn near(contents: &[BTreeSet<String>]) -> Vec<(usize, usize)> {
    let mut frequency: HashMap<&str, usize> = HashMap::new();
    for word in contents.iter().flatten() {
        *frequency.entry(word).or_default() += 1;
    }
    let mut pairs = Vec::new();
    let mut known: HashMap<&BTreeSet<String>, usize> = HashMap::new();
    let mut by_word: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut compared = 0;
    for (index, words) in contents.iter().enumerate() {
        if words.is_empty() {
            continue;
        }
        if let Some(&first) = known.get(words) {
            pairs.push((first, index));
            continue;
        }
        known.insert(words, index);
        let mut candidates: Vec<usize> = Vec::new();
        for word in rarest(words, &frequency) {
            let others = by_word.entry(word).or_default();
            candidates.extend(others.iter());
            others.push(index);
        }
        candidates.sort_unstable();
        candidates.dedup();
        compared += candidates.len();
        if compared > MOST_COMPARED {
            break;
        }
        let is_near = |other: &usize| {
            let shared = contents[*other].intersection(words).count();
            let all = contents[*other].len() + words.len() - shared;
            shared as f64 / all as f64 >= ALIKE
        };
        let found = candidates.into_iter().filter(is_near);
        pairs.extend(found.map(|other| (other, index)));
    }
    pairs
}

/// The words of which another item must share one to share enough of all.
fn rarest<'w>(words: &'w BTreeSet<String>, frequency: &HashMap<&str, usize>) -> Vec<&'w str> {
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    words.sort_by_key(|word| (frequency.get(word).copied(), *word));
    let shared = (words.len() as f64 * ALIKE).ceil() as usize;
    words.truncate(words.len() - shared + 1);
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::is_same_thing;
    use crate::model::{Origin, Score, Stamp};
    use rstest::rstest;

    fn entry(item: &str, score: f64) -> Preference {
        Preference {
            id: 1,
            uid: String::new(),
            item: item.into(),
            reason: String::new(),
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

    #[rstest]
    #[case(("use dark mode", 9.0), ("dark mode", 8.0), Some(Relation::Twice))]
    #[case(("tabs", 9.0), ("Tab!", 1.0), Some(Relation::Opposite))]
    #[case(("tabs", 9.0), ("no tabs", 9.0), Some(Relation::Opposite))]
    #[case(("tabs", 9.0), ("don't use tabs", 0.5), Some(Relation::Opposite))]
    #[case(("tabs", 1.0), ("no tabs", 0.5), Some(Relation::Twice))]
    #[case(("吃香菜", 8.0), ("不吃香菜", 1.0), Some(Relation::Opposite))]
    #[case(("tabs", 5.0), ("tabs please", 1.0), Some(Relation::Twice))]
    #[case(("emojis", 9.0), ("emojis in commit messages", 0.5), None)]
    #[case(("tabs", 9.0), ("spaces", 1.0), None)]
    fn two_entries_are_about_one_thing(
        #[case] a: (&str, f64),
        #[case] b: (&str, f64),
        #[case] wanted: Option<Relation>,
    ) {
        let entries = [entry(a.0, a.1), entry(b.0, b.1)];
        let found = pairs(&entries);
        assert_eq!(found.first().map(|pair| pair.relation), wanted, "{found:?}");
    }

    #[test]
    fn none_is_missed_that_a_comparison_of_all_with_all_finds() {
        let words = ["tea", "milk", "sugar", "cups", "table", "lemon", "spoon"];
        let entries: Vec<Preference> = (1u32..128)
            .map(|bits| {
                let chosen = (0..7).filter(|bit| bits >> bit & 1 == 1);
                let item: Vec<&str> = chosen.map(|bit| words[bit]).collect();
                entry(&item.join(" "), 8.0)
            })
            .collect();
        let mut wanted = Vec::new();
        for (first, a) in entries.iter().enumerate() {
            for (second, b) in entries.iter().enumerate().skip(first + 1) {
                if is_same_thing(&a.item, &b.item) {
                    wanted.push((first, second));
                }
            }
        }
        let found: Vec<(usize, usize)> = pairs(&entries)
            .iter()
            .map(|pair| (pair.first, pair.second))
            .collect();
        assert!(!wanted.is_empty());
        assert_eq!(found, wanted);
    }

    #[rstest]
    #[case("no emojis", Some("emojis"))]
    #[case("Doesn't eat cilantro", Some("eat cilantro"))]
    #[case("不吃香菜", Some("吃香菜"))]
    #[case("不要表情", Some("表情"))]
    #[case("notebooks", None)]
    #[case("no", None)]
    #[case("Norwegian", None)]
    #[case("香菜", None)]
    fn a_negated_item_leaves_the_thing(#[case] item: &str, #[case] thing: Option<&str>) {
        assert_eq!(thing_of(item), thing);
    }
}
