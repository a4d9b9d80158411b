//! Whether the words of an entry stand in a text: all that its item says, or one of its keywords. That is a reason to
//! ask, and never proof.

use std::collections::HashSet;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::model::Preference;
use crate::recall::{Folded, Word, Words, says_nothing};

/// Words that only say no: the score says it as well.
const NEGATIONS: &[&str] = &[
    "never", "don't", "don’t", "not", "no", "avoid", "stop", "ever", "any", "doesn't", "without",
];
/// The same in languages without spaces, where they begin the item.
const NEGATING: &[&str] = &["不要", "不能", "不可", "不许", "禁止", "绝不", "别", "不"];

/// Words that say how something is done, and not what: no command has them.
const MANNER: &[&str] = &[
    "directly",
    "straight",
    "again",
    "anymore",
    "please",
    "automatically",
    "blindly",
];
/// Where an item holds and who may lift it, which no command says either.
const CIRCUMSTANCES: &[&str] = &[
    " in this repo",
    " in this repository",
    " in this project",
    " in this codebase",
    " in the repo",
    " in my repo",
    " without asking",
    " without asking me",
    " without asking me first",
    " without asking first",
    " without my permission",
    " without permission",
    " unless i say so",
    " unless i ask",
    " unless i ask for it",
];

/// A text whose words are looked up.
pub struct Texts {
    folded: Folded,
    pieces: HashSet<String>,
    stems: HashSet<String>,
}

impl Texts {
    /// Reads a text.
    pub fn new(text: &str) -> Self {
        let folded = Folded::new(text);
        let pieces: HashSet<String> = folded.pieces().iter().cloned().collect();
        // Each word once: a long text says many of them often.
        let once: Vec<&str> = pieces.iter().map(String::as_str).collect();
        let words = Folded::new(&once.join(" "));
        let stems = words.stems().map(str::to_owned).collect();
        Texts {
            folded,
            pieces,
            stems,
        }
    }

    fn has(&self, word: &Word) -> bool {
        match &word.pieces[..] {
            [one] if word.literal.is_none() => {
                self.pieces.contains(one)
                    || word
                        .stem
                        .as_ref()
                        .is_some_and(|stem| self.stems.contains(stem))
            }
            [first, ..] if word.literal.is_none() && !self.pieces.contains(first) => false,
            _ => word.occurs_in(&self.folded),
        }
    }

    /// The words of an entry that stand in the text: those of its item, where all do, else the first keyword that does.
    pub fn words_of(&self, entry: &Preference) -> Option<Vec<Word>> {
        let item = said(&entry.item);
        if !item.is_empty() && item.iter().all(|word| self.has(word)) {
            return Some(item);
        }
        entry.keywords.iter().find_map(|keyword| {
            let words = Words::keyword(keyword);
            let all = !words.is_empty() && words.words().iter().all(|word| self.has(word));
            all.then(|| words.words().to_vec())
        })
    }
}

/// Whether words that were found are all that an item says, and not those of a keyword.
pub fn are_all_of(item: &str, found: &[String]) -> bool {
    let said = said(item);
    !said.is_empty() && said.iter().map(|word| &word.typed).eq(found)
}

/// What stands before a thing that somebody is allergic to, and behind it.
const ALLERGIC: [&str; 14] = [
    "i'm allergic to",
    "i am allergic to",
    "allergic to",
    "allergy to",
    "allergisch gegen",
    "allergique aux",
    "allergique à",
    "alérgico a",
    "alérgica a",
    "allergico a",
    "allergica a",
    "我对",
    "對",
    "对",
];
const ALLERGY: [&str; 7] = [
    " allergy",
    "allergie",
    "过敏",
    "過敏",
    "アレルギー",
    "알레르기",
    "alerjisi",
];

/// The thing that an item tells an allergy to: a dish names it, and not the allergy.
fn allergen(item: &str) -> &str {
    let bare = item.trim();
    let lower = bare.to_lowercase();
    let is_same = lower.len() == bare.len();
    let behind = ALLERGY.iter().find(|word| lower.ends_with(*word));
    let before = ALLERGIC.iter().find(|word| lower.starts_with(*word));
    let is_han = before.is_some_and(|word| !word.is_ascii() && word.chars().count() < 3);
    match (before, behind) {
        _ if !is_same => item,
        (Some(before), Some(behind)) => bare[before.len()..bare.len() - behind.len()].trim(),
        (Some(before), None) if !is_han => bare[before.len()..].trim(),
        (None, Some(behind)) => bare[..bare.len() - behind.len()].trim_end_matches([' ', '-']),
        _ => item,
    }
}

/// An item without what it says at its end of where it holds, and who may lift it.
fn without_circumstances(item: &str) -> &str {
    let mut item = item.trim_end_matches(['.', '!', ' ']);
    loop {
        let ends = |ending: &&&str| {
            let start = item.len().checked_sub(ending.len());
            start
                .and_then(|start| item.get(start..))
                .is_some_and(|end| end.eq_ignore_ascii_case(ending))
        };
        match CIRCUMSTANCES.iter().find(ends) {
            Some(ending) => item = item[..item.len() - ending.len()].trim_end_matches([',', ' ']),
            None => return item,
        }
    }
}

/// The words of an item that say what it is about.
fn said(item: &str) -> Vec<Word> {
    let item = without_circumstances(allergen(item));
    let item = NEGATING
        .iter()
        .find_map(|negation| item.trim().strip_prefix(negation))
        .unwrap_or(item);
    let is_idle = |typed: &str| NEGATIONS.contains(&typed) || MANNER.contains(&typed);
    Words::query(item)
        .whole()
        .words()
        .iter()
        .filter(|word| {
            let typed = word.typed.to_lowercase();
            !says_nothing(word) && !is_idle(&typed) && !word.pieces.is_empty()
        })
        .cloned()
        .collect()
}

/// Where a word stands first in a text, as far as that is plain to see.
pub fn place_of(word: &Word, text: &str) -> Option<Range<usize>> {
    if let Some(at) = text.find(&word.typed) {
        return Some(at..at + word.typed.len());
    }
    let alone = Words::from_word(word.clone());
    text.unicode_word_indices()
        .find(|(_, one)| alone.occur_in(&[Folded::new(one)]))
        .map(|(at, one)| at..at + one.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::tests::limit;
    use rstest::rstest;

    #[rstest]
    #[case("force-push to main", "", "a force push of main is due", true)]
    #[case("never force-push to main", "", "we forced pushes on main", false)]
    #[case("emojis", "", "add an emoji", true)]
    #[case("long meetings", "", "a meeting that is long", true)]
    #[case("long meetings", "", "a long walk", false)]
    #[case("force-push to main", "git", "git status", true)]
    #[case("repo access", "repo", "the report", false)]
    #[case("不要用表情", "表情", "加一个表情", true)]
    #[case("不要用破折号", "", "我用破折号", true)]
    #[case("C++", "", "in C++ and Rust", true)]
    #[case("never", "", "never", false)]
    #[case(
        "allergic to shellfish",
        "",
        "order a shellfish platter for the team",
        true
    )]
    #[case("peanut allergy", "", "a sauce with peanuts", true)]
    #[case("对花生过敏", "", "来一份花生酱", true)]
    #[case("花生过敏", "", "来一份花生酱", true)]
    #[case("allergic to shellfish", "", "order a salad", false)]
    #[case("对齐代码", "", "代码", false)]
    #[case(
        "push directly to main without asking me",
        "",
        "git push origin main",
        true
    )]
    #[case("push directly to main, ever", "", "git pull origin main", false)]
    #[case("npm install in this repo.", "", "npm install lodash", true)]
    #[case("directly", "", "directly", false)]
    fn the_words_of_an_entry_stand_in_a_text(
        #[case] item: &str,
        #[case] keywords: &str,
        #[case] text: &str,
        #[case] found: bool,
    ) {
        let mut entry = limit(1, item, &[]);
        entry.keywords = crate::model::split_keywords(keywords);
        assert_eq!(Texts::new(text).words_of(&entry).is_some(), found);
    }

    #[rstest]
    #[case("emojis in commit messages", "emoji, commit", "git commit -m x", false)]
    #[case(
        "emojis in commit messages",
        "emoji, commit",
        "an emoji in a commit message",
        true
    )]
    #[case("force-push to main", "main", "git checkout main", false)]
    #[case("allergic to shellfish", "fish", "fish -c ls", false)]
    #[case("allergic to shellfish", "fish", "a shellfish soup", true)]
    #[case("不要用表情", "表情", "加一个表情", false)]
    #[case("不要用表情", "表情", "用表情吧", true)]
    fn the_words_of_an_item_are_told_from_those_of_a_keyword(
        #[case] item: &str,
        #[case] keywords: &str,
        #[case] text: &str,
        #[case] is_item: bool,
    ) {
        let mut entry = limit(1, item, &[]);
        entry.keywords = crate::model::split_keywords(keywords);
        let found = Texts::new(text).words_of(&entry).expect("it is found");
        let found: Vec<String> = found.into_iter().map(|word| word.typed).collect();
        assert_eq!(are_all_of(item, &found), is_item);
    }

    #[test]
    fn a_word_has_a_place() {
        let words = said("emojis");
        assert_eq!(place_of(&words[0], "an Emoji"), Some(3..8));
    }
}
