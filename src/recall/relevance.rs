//! How much an entry concerns a task: closeness in topic and common words together.

use std::collections::HashSet;

use super::matching::{Word, Words};
use super::meaning::{Vector, embed, embed_weighted};
use crate::model::Preference;

/// Below this an entry has nothing to do with a task.
pub const LEAST: f64 = 0.20;
/// From here on it has.
pub const SURE: f64 = 0.35;

/// How much each text of an entry counts in its vector.
const ITEM: f32 = 1.0;
const REASON: f32 = 0.5;
const KEYWORDS: f32 = 0.5;

/// What common words can add to a cosine at most, and how soon: `0.3 · b / (b + 10)`.
const LEXICAL_SHARE: f64 = 0.3;
const LEXICAL_HALF: f64 = 10.0;

/// Words that stand in any sentence and say nothing about its topic. In a large store their number tells; in one of
/// twenty entries it does not.
const FUNCTION_WORDS: &[&str] = &[
    "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "but", "by",
    "can", "could", "do", "does", "each", "for", "from", "get", "give", "has", "have", "he",
    "help", "her", "here", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "let",
    "make", "me", "more", "my", "need", "new", "no", "not", "of", "on", "one", "only", "or", "our",
    "out", "over", "please", "put", "she", "should", "so", "some", "than", "that", "the", "their",
    "them", "then", "there", "these", "they", "this", "to", "too", "up", "us", "use", "want",
    "was", "we", "what", "when", "where", "which", "who", "why", "will", "with", "would", "you",
    "your",
];

fn says_nothing(word: &Word) -> bool {
    matches!(&word.pieces[..], [piece] if FUNCTION_WORDS.contains(&piece.as_str()))
}

/// The vector of an entry.
pub fn entry_vector(item: &str, reason: &str, keywords: &[String]) -> Option<Vector> {
    embed_weighted(&[
        (item, ITEM),
        (reason, REASON),
        (&keywords.join(" "), KEYWORDS),
    ])
}

/// Words of a task that are looked up; a longer text says the rest by its meaning.
const MOST_WORDS: usize = 64;

/// A task's text, ready to be compared.
#[derive(Debug, Clone)]
pub struct Query {
    vector: Option<Vector>,
    words: Vec<Weighted>,
    script_is_weak: bool,
}

/// A word of a task.
#[derive(Debug, Clone)]
struct Weighted {
    word: Word,
    /// The indexed entries that hold it.
    holders: HashSet<i64>,
    /// The inverse document frequency of BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework",
    /// 2009). Entries are short and seldom hold a word twice, so neither length nor count is looked at.
    rarity: f64,
}

/// What the index tells of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holders {
    /// These entries hold it.
    These(Vec<i64>),
    /// So many hold it that it says little about any of them.
    TooMany,
    /// There is no index to ask.
    Unknown,
}

/// How an entry compares with a task.
#[derive(Debug, Clone, PartialEq)]
pub struct Relevance {
    /// The sum: 0 to 1.
    pub value: f64,
    /// The cosine of the two texts.
    pub meaning: f64,
    /// What common words added.
    pub lexical: f64,
    /// Those words.
    pub words: Vec<String>,
}

impl Relevance {
    /// The sum with three decimals: more would only be noise of the last bits.
    pub fn rounded(&self) -> f64 {
        (self.value * 1000.0).round() / 1000.0
    }
}

impl Query {
    /// Reads a task. `holders` tells which of `stored` entries hold a word.
    ///
    /// # Errors
    /// What `holders` reports.
    pub fn new<E>(
        text: &str,
        stored: usize,
        mut holders: impl FnMut(&Word) -> Result<Holders, E>,
    ) -> Result<Self, E> {
        let mut words: Vec<Weighted> = Vec::new();
        for word in Words::query(text).words().iter().take(MOST_WORDS) {
            let mut word = word.clone();
            // Only a finished word says something about a task.
            word.prefix = false;
            if word.pieces.is_empty()
                || says_nothing(&word)
                || words.iter().any(|known| known.word.pieces == word.pieces)
            {
                continue;
            }
            let holders = match holders(&word)? {
                Holders::These(ids) if ids.is_empty() => continue,
                Holders::These(ids) => ids.into_iter().collect(),
                Holders::TooMany => continue,
                Holders::Unknown => HashSet::new(),
            };
            let found = holders.len().max(1) as f64;
            let rarity = ((stored as f64 - found + 0.5) / (found + 0.5)).ln();
            words.push(Weighted {
                word,
                holders,
                // Not a number when more entries hold the word than are said to be stored.
                rarity: if rarity > 0.0 { rarity } else { 0.0 },
            });
        }
        Ok(Query {
            vector: embed(text),
            words,
            script_is_weak: text
                .chars()
                .any(|c| matches!(c as u32, 0x3041..=0x30FF | 0x1100..=0x11FF | 0xAC00..=0xD7AF)),
        })
    }

    /// The vector of the task; none when it has no letter or digit.
    pub fn vector(&self) -> Option<&Vector> {
        self.vector.as_ref()
    }

    /// Whether the table knows the script of the task only weakly: it has kana or hangul.
    pub fn script_is_weak(&self) -> bool {
        self.script_is_weak
    }

    /// The indexed entries that hold one of its words.
    pub fn holders(&self) -> impl Iterator<Item = i64> + '_ {
        self.words
            .iter()
            .flat_map(|known| known.holders.iter().copied())
    }

    /// Compares an indexed entry with the task, given its number and its vector.
    pub fn relevance(&self, id: i64, vector: Option<&Vector>) -> Relevance {
        let words = self
            .words
            .iter()
            .filter(|known| known.holders.contains(&id));
        self.sum(vector, words)
    }

    /// Compares an entry with the task that no index knows yet.
    pub fn relevance_of_row(&self, entry: &Preference) -> Relevance {
        let texts = super::texts_of(entry);
        let words = self
            .words
            .iter()
            .filter(|known| texts.iter().any(|text| known.word.occurs_in(text)));
        let vector = entry_vector(&entry.item, &entry.reason, &entry.keywords);
        self.sum(vector.as_ref(), words)
    }

    fn sum<'w>(
        &self,
        vector: Option<&Vector>,
        words: impl Iterator<Item = &'w Weighted>,
    ) -> Relevance {
        let meaning = self
            .vector
            .as_ref()
            .zip(vector)
            .map_or(0.0, |(task, entry)| f64::from(task.cosine(entry)).max(0.0));
        let mut b = 0.0;
        let mut typed = Vec::new();
        for known in words {
            b += known.rarity;
            typed.push(known.word.typed.clone());
        }
        let lexical = LEXICAL_SHARE * b / (b + LEXICAL_HALF);
        Relevance {
            value: (meaning + lexical).min(1.0),
            meaning,
            lexical,
            words: typed,
        }
    }
}

/// Whether an entry is related to a task: relevant enough for the number of entries, and not far behind the most
/// relevant one.
///
/// Of many entries some are close to any task by chance, so the bar rises with their number, by 0.02 a doubling
/// beyond 64, up to where an entry is surely related. The table has few pieces for kana and hangul, whose texts are
/// all close to each other; there it begins higher. The figures were tuned on the tune half of
/// `tests/data/recall`.
pub fn is_related(relevance: f64, best: f64, stored: usize, script_is_weak: bool) -> bool {
    const BEHIND_THE_BEST: f64 = 0.6;
    const FEW: f64 = 64.0;
    const A_DOUBLING: f64 = 0.02;
    const A_WEAK_SCRIPT: f64 = 0.06;
    let doublings = (stored as f64 / FEW).log2().max(0.0);
    let weak = if script_is_weak { A_WEAK_SCRIPT } else { 0.0 };
    let least = (LEAST + A_DOUBLING * doublings + weak).min(SURE);
    relevance >= least && relevance >= BEHIND_THE_BEST * best
}
