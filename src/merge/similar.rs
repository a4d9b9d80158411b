//! Whether two items are the same thing said twice. By their words alone: what is close in meaning may be its opposite.

use std::collections::{BTreeSet, HashMap};

use crate::recall::{Folded, Words};

/// Words that make no difference between two items.
const EMPTY_WORDS: &[&str] = &[
    "a", "an", "the", "to", "of", "in", "on", "for", "with", "and", "or", "my", "your", "me",
    "you", "it", "is", "are", "be", "use", "using", "used", "do", "make", "please", "always",
    "never", "any", "all", "some", "so", "that", "this", "的", "了", "用", "使", "把", "请", "都",
    "要", "を", "は", "が", "に", "で", "の", "de", "la", "le", "el", "les", "los", "las", "un",
    "une", "una", "der", "die", "das", "den", "ein", "eine", "het", "een", "il", "lo", "i", "o",
    "os", "as",
];

/// From this share of common words on, two items of several words are one.
pub(super) const ALIKE: f64 = 0.8;

/// What an item says, in stems where there are any.
pub(super) fn content(item: &str) -> BTreeSet<String> {
    let folded = Folded::new(item);
    let words: BTreeSet<String> = folded
        .pieces()
        .iter()
        .filter(|piece| !EMPTY_WORDS.contains(&piece.as_str()))
        .map(|piece| stem(piece))
        .collect();
    if words.is_empty() {
        folded.pieces().iter().cloned().collect()
    } else {
        words
    }
}

fn stem(piece: &str) -> String {
    let folded = Folded::new(piece);
    let first = folded.stems().next();
    first.unwrap_or(piece).to_owned()
}

fn is_same(a: &BTreeSet<String>, b: &BTreeSet<String>) -> bool {
    if a == b {
        return true;
    }
    let shared = a.intersection(b).count() as f64;
    let all = a.union(b).count() as f64;
    shared / all >= ALIKE
}

/// Whether two items name the same thing: the same words in any order and form, or nearly all of many.
pub fn is_same_thing(a: &str, b: &str) -> bool {
    is_same(&content(a), &content(b))
}

/// Whether an item names something: it does not when it is made of words like “this” and “it”.
pub fn names_something(item: &str) -> bool {
    Folded::new(item)
        .pieces()
        .iter()
        .any(|piece| !EMPTY_WORDS.contains(&piece.as_str()))
}

/// What an item is about, to be looked for in other texts.
#[derive(Debug, Clone)]
pub struct Thing {
    content: BTreeSet<String>,
    words: Words,
}

impl Thing {
    /// What an item is about.
    pub fn of(item: &str) -> Self {
        let is_empty = |word: &&str| {
            let pieces = Folded::new(word);
            let mut pieces = pieces.pieces().iter();
            pieces.all(|piece| EMPTY_WORDS.contains(&piece.as_str()))
        };
        let told: Vec<&str> = item
            .split_whitespace()
            .filter(|word| !is_empty(word))
            .collect();
        let text = if told.is_empty() {
            item.to_owned()
        } else {
            told.join(" ")
        };
        Thing {
            content: content(item),
            words: Words::query(&text).whole(),
        }
    }

    /// A name that is the same for the same words in any order and form.
    pub fn name(&self) -> String {
        let words: Vec<&str> = self.content.iter().map(String::as_str).collect();
        words.join(" ")
    }

    /// The names of all things that some of its words name: every choice of a few, every row of many.
    pub fn names_within(item: &str) -> BTreeSet<String> {
        /// Of more words not every choice is looked at.
        const FEW: usize = 8;
        /// No longer row is looked at.
        const LONGEST_ROW: usize = 12;
        let name = |words: BTreeSet<&str>| words.into_iter().collect::<Vec<_>>().join(" ");
        let mut names = BTreeSet::from([Thing::of(item).name()]);
        let words: Vec<String> = content(item).into_iter().collect();
        if words.len() <= FEW {
            for choice in 1..1u32 << words.len() {
                let chosen = (0..words.len()).filter(|at| choice >> at & 1 == 1);
                names.insert(name(chosen.map(|at| words[at].as_str()).collect()));
            }
            return names;
        }
        let folded = Folded::new(item);
        let pieces = folded.pieces().iter();
        let said = pieces.filter(|piece| !EMPTY_WORDS.contains(&piece.as_str()));
        let row: Vec<String> = said.map(|piece| stem(piece)).collect();
        for start in 0..row.len() {
            let longest = (row.len() - start).min(LONGEST_ROW);
            for length in 1..=longest {
                let words = row[start..start + length].iter().map(String::as_str);
                names.insert(name(words.collect()));
            }
        }
        names
    }

    /// Whether a text speaks of it: holds all its words.
    pub fn is_spoken_of_in(&self, text: &str) -> bool {
        self.is_in(&Folded::new(text))
    }

    /// The same of a text that is ready for it.
    pub fn is_in(&self, text: &Folded) -> bool {
        !self.words.is_empty() && self.words.occur_in(std::slice::from_ref(text))
    }

    /// Whether a rule about `rule` holds for it too: it is the same, or names nothing beyond it. "force-push" falls under
    /// "force-push to main".
    pub fn falls_under(&self, rule: &Thing) -> bool {
        self.content.is_subset(&rule.content) || is_same(&self.content, &rule.content)
    }

    /// Whether a text holds one of its words.
    pub fn shares_a_word_with(&self, text: &str) -> bool {
        let text = Folded::new(text);
        self.words.words().iter().any(|word| word.occurs_in(&text))
    }
}

/// Items that can be asked whether one of them is the same thing.
#[derive(Debug, Clone, Default)]
pub struct Things {
    contents: Vec<BTreeSet<String>>,
    by_word: HashMap<String, Vec<usize>>,
}

impl Things {
    /// Adds an item; its number is how many were added before.
    pub fn add(&mut self, item: &str) {
        let words = content(item);
        for word in &words {
            let index = self.contents.len();
            self.by_word.entry(word.clone()).or_default().push(index);
        }
        self.contents.push(words);
    }

    /// The number of the first item that is the same thing.
    pub fn find(&self, item: &str) -> Option<usize> {
        let words = content(item);
        let mut near: Vec<usize> = words
            .iter()
            .filter_map(|word| self.by_word.get(word))
            .flatten()
            .copied()
            .collect();
        near.sort_unstable();
        near.dedup();
        near.into_iter()
            .find(|&index| is_same(&self.contents[index], &words))
    }

    /// How many were added.
    pub fn len(&self) -> usize {
        self.contents.len()
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.contents.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("this", false)]
    #[case("that to me", false)]
    #[case("this font", true)]
    #[case("中文", true)]
    #[case("C", true)]
    fn what_only_points_names_nothing(#[case] item: &str, #[case] names: bool) {
        assert_eq!(names_something(item), names);
    }

    #[rstest]
    #[case(
        "allergic to shellfish",
        "I am ALLERGIC, also to Shellfish.",
        true,
        true
    )]
    #[case("allergic to shellfish", "to be short: shellfishes", false, true)]
    #[case("allergic to shellfish", "to be short", false, false)]
    #[case("emojis in code", "no emoji in my code", true, true)]
    #[case("用中文", "请始终用中文回答", true, true)]
    #[case("用中文", "中午用文字", false, false)]
    #[case("C++", "modern C++ only", true, true)]
    #[case("C++", "a C compiler", false, false)]
    fn a_text_speaks_of_a_thing_by_all_its_words(
        #[case] item: &str,
        #[case] text: &str,
        #[case] all: bool,
        #[case] any: bool,
    ) {
        let thing = Thing::of(item);
        assert_eq!(thing.is_spoken_of_in(text), all);
        assert_eq!(thing.shares_a_word_with(text), any);
    }

    #[rstest]
    #[case("tabs", "tabs in code", true)]
    #[case("dark mode", "the dark editor modes", true)]
    #[case("dark mode", "the mode", false)]
    #[case("中文", "总是用中文回答", true)]
    #[case(
        "dark mode",
        "one two three four five six seven eight nine, mode dark at ten",
        true
    )]
    #[case(
        "ten one",
        "one two three four five six seven eight nine ten eleven twelve thirteen",
        false
    )]
    fn the_names_within_are_those_of_all_that_some_words_name(
        #[case] thing: &str,
        #[case] item: &str,
        #[case] is_within: bool,
    ) {
        let names = Thing::names_within(item);
        assert_eq!(names.contains(&Thing::of(thing).name()), is_within);
    }

    #[test]
    fn a_thing_has_one_name_in_any_order_and_form() {
        let name = |item: &str| Thing::of(item).name();
        assert_eq!(name("use Dark modes!"), name("dark mode"));
        assert_ne!(name("tabs"), name("spaces"));
    }

    #[rstest]
    #[case("use dark mode", "dark mode", true)]
    #[case("Dark Mode!", "dark modes", true)]
    #[case("emojis in commit messages", "emoji in commit messages", true)]
    #[case("回答用中文", "用中文回答", true)]
    #[case("tabs", "spaces", false)]
    #[case("tabs for indentation", "spaces for indentation", false)]
    #[case("emojis", "emojis in commit messages", false)]
    #[case("push to main", "push to production", false)]
    #[case("海鲜过敏", "花生过敏", false)]
    fn items_are_compared_by_their_words(#[case] a: &str, #[case] b: &str, #[case] same: bool) {
        assert_eq!(is_same_thing(a, b), same);
        assert_eq!(is_same_thing(b, a), same);
    }
}
