//! How much an entry concerns a task: closeness in topic and common words together.

use std::collections::HashSet;

use super::matching::{Folded, Word, Words};
use super::meaning::{Vector, embed, embed_weighted};
use super::task_map;
use crate::model::Preference;

/// Below this an entry has nothing to do with a task.
pub const LEAST: f64 = 0.20;
/// The same where task and entry are written in different scripts: translations are never as close as the same words.
pub const LEAST_ACROSS_SCRIPTS: f64 = 0.15;
/// From here on it has.
pub const SURE: f64 = 0.27;

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

/// What people say when they name a task by other things, and what it is about: single words of these mean something
/// else, and the table sums words.
const IDIOMS: &[(&str, &str)] = &[
    ("book a table", "restaurant dinner"),
    ("reserve a table", "restaurant dinner"),
    ("get a table", "restaurant dinner"),
    ("eat out", "restaurant dinner"),
    ("grab a bite", "restaurant food"),
    ("order in", "food delivery"),
    ("takeaway", "food delivery"),
    ("takeout", "food delivery"),
    ("potluck", "food dishes"),
    ("cut a release", "software release"),
    ("ship it", "software release deploy"),
    ("push to prod", "deploy production"),
    ("spin up", "create server"),
    ("pull request", "code review"),
    ("open a pr", "code review"),
    ("stand-up", "team meeting"),
    ("standup", "team meeting"),
    ("catch up with", "meeting"),
    ("reach out", "write message"),
    ("ping", "send message"),
    ("cold email", "write email"),
    ("night out", "restaurant bar evening"),
    ("road trip", "travel car"),
    ("city break", "travel weekend hotel"),
    ("work out", "exercise fitness"),
    ("订位", "餐厅 吃饭"),
    ("订座", "餐厅 吃饭"),
    ("下馆子", "餐厅 吃饭"),
    ("点外卖", "食物 外卖 吃饭"),
    ("上线", "发布 部署"),
    ("提个pr", "代码 审查"),
    ("开个会", "会议"),
    ("席を予約", "レストラン 食事"),
    ("자리 예약", "식당 저녁"),
];

/// A task with the plain words of the idioms in it.
fn in_plain_words(text: &str) -> String {
    let lower = text.to_lowercase();
    let mut plain = text.to_owned();
    for (idiom, words) in IDIOMS {
        // A look at the letters is enough for most; the rest is asked whether they are whole words.
        if lower.contains(idiom) && Words::keyword(idiom).occur_in(&[Folded::new(text)]) {
            plain.push(' ');
            plain.push_str(words);
        }
    }
    plain
}

/// Whether a word stands in any sentence.
pub(crate) fn says_nothing(word: &Word) -> bool {
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

/// The vector of a task's text, before it is turned.
pub fn task_vector(text: &str) -> Option<Vector> {
    embed(&in_plain_words(text))
}

/// Words of a task that are looked up; a longer text says the rest by its meaning.
const MOST_WORDS: usize = 64;

/// A task's text, ready to be compared.
#[derive(Debug, Clone)]
pub struct Query {
    vector: Option<Vector>,
    words: Vec<Weighted>,
    script: Script,
}

/// A word of a task.
#[derive(Debug, Clone)]
struct Weighted {
    word: Word,
    /// The entries that hold it.
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
}

/// How an entry compares with a task.
#[derive(Debug, Clone, PartialEq)]
pub struct Relevance {
    /// The sum: 0 to 1.
    pub value: f64,
    /// The cosine of the turned task and the entry.
    pub meaning: f64,
    /// What common words added.
    pub lexical: f64,
    /// Those words.
    pub words: Vec<String>,
}

/// From which relevance on an entry is related.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// Written in the script of the task.
    pub same_script: f64,
    /// Written in another one.
    pub across_scripts: f64,
}

/// What a text is mostly written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Script {
    /// Chinese characters.
    Han,
    /// Japanese.
    Kana,
    /// Korean.
    Hangul,
    /// Any other.
    Other,
}

impl Script {
    /// Any kana or hangul decides, since Han stands among them; Han decides when it has more characters than there are
    /// other words.
    pub fn of(text: &str) -> Self {
        let mut han = 0;
        for c in text.chars() {
            match c as u32 {
                0x3041..=0x30FF => return Script::Kana,
                0x1100..=0x11FF | 0xAC00..=0xD7AF => return Script::Hangul,
                0x3400..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF => han += 1,
                _ => {}
            }
        }
        let words = text
            .split(|c: char| !c.is_ascii_alphabetic())
            .filter(|word| !word.is_empty())
            .count();
        if han > 0 && han >= words {
            Script::Han
        } else {
            Script::Other
        }
    }
}

impl Weighted {
    /// A word that says something: few enough hold it, and some do.
    fn new(word: Word, holders: Holders, stored: usize) -> Option<Self> {
        let Holders::These(ids) = holders else {
            return None;
        };
        let holders: HashSet<i64> = ids.into_iter().collect();
        let found = holders.len() as f64;
        let rarity = ((stored as f64 - found + 0.5) / (found + 0.5)).ln();
        // Not a number when more entries hold the word than are said to be stored.
        (!holders.is_empty() && rarity > 0.0).then_some(Weighted {
            word,
            holders,
            rarity,
        })
    }
}

impl Relevance {
    /// The sum with three decimals: more would only be noise of the last bits.
    pub fn rounded(&self) -> f64 {
        (self.value * 1000.0).round() / 1000.0
    }
}

impl Query {
    /// Reads a task. `holders` tells for each of its words which of `stored` entries hold it.
    ///
    /// # Errors
    /// What `holders` reports.
    pub fn new<E>(
        text: &str,
        stored: usize,
        holders: impl FnOnce(&[Word]) -> Result<Vec<Holders>, E>,
    ) -> Result<Self, E> {
        let mut words: Vec<Word> = Vec::new();
        for word in Words::query(text).words().iter().take(MOST_WORDS) {
            let mut word = word.clone();
            // Only a finished word says something about a task.
            word.prefix = false;
            let is_known = words
                .iter()
                .any(|known| known.pieces == word.pieces && known.literal == word.literal);
            if !word.pieces.is_empty() && !says_nothing(&word) && !is_known {
                words.push(word);
            }
        }
        let holders = holders(&words)?;
        let words = words
            .into_iter()
            .zip(holders)
            .filter_map(|(word, holders)| Weighted::new(word, holders, stored))
            .collect();
        Ok(Query {
            vector: task_vector(text).as_ref().map(task_map::turn),
            words,
            script: Script::of(text),
        })
    }

    /// The vector of the task, turned; none when it has no letter or digit.
    pub fn vector(&self) -> Option<&Vector> {
        self.vector.as_ref()
    }

    /// From which relevance on an entry is related to the task, given the most relevant one and how many are stored.
    ///
    /// Of many entries some are close to any task by chance, so the bar rises with their number, by 0.03 a doubling
    /// beyond 64, up to where an entry is surely related. The table has few pieces for kana and hangul, whose texts are
    /// all close to each other; there it begins higher. And whatever is far behind the best is left out. The figures
    /// were set on the check part of `tests/data/recall/everyday`.
    pub fn bar(&self, best: f64, stored: usize) -> Bar {
        const BEHIND_THE_BEST: f64 = 0.5;
        const FEW: f64 = 64.0;
        const A_DOUBLING: f64 = 0.03;
        const A_WEAK_SCRIPT: f64 = 0.04;
        let doublings = (stored as f64 / FEW).log2().max(0.0);
        let weak = if matches!(self.script, Script::Kana | Script::Hangul) {
            A_WEAK_SCRIPT
        } else {
            0.0
        };
        let bar = |least: f64| {
            (least + A_DOUBLING * doublings + weak)
                .min(SURE)
                .max(BEHIND_THE_BEST * best)
        };
        Bar {
            same_script: bar(LEAST),
            across_scripts: bar(LEAST_ACROSS_SCRIPTS),
        }
    }

    /// Whether an entry is written in the script of the task.
    pub fn shares_script(&self, entry: &Preference) -> bool {
        Script::of(&format!("{} {}", entry.item, entry.reason)) == self.script
    }

    /// The entries that hold one of its words.
    pub fn holders(&self) -> impl Iterator<Item = i64> + '_ {
        self.words
            .iter()
            .flat_map(|known| known.holders.iter().copied())
    }

    /// Compares an entry with the task, given its number and its vector.
    pub fn relevance(&self, id: i64, vector: Option<&Vector>) -> Relevance {
        let meaning = self
            .vector
            .as_ref()
            .zip(vector)
            .map_or(0.0, |(task, entry)| f64::from(task.cosine(entry)).max(0.0));
        let mut b = 0.0;
        let mut typed = Vec::new();
        for known in &self.words {
            if known.holders.contains(&id) {
                b += known.rarity;
                typed.push(known.word.typed.clone());
            }
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
