//! How much an entry concerns a task: closeness in topic and common words together.

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

/// What common words can add to a cosine at most, and how soon: `0.4 · b / (b + 10)`.
const LEXICAL_SHARE: f64 = 0.4;
const LEXICAL_HALF: f64 = 10.0;

/// The parameters of BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009).
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// Pieces in an entry of middling length; entries are short, so a constant does.
const AVERAGE_LENGTH: f64 = 16.0;

/// The vector of an entry.
pub fn entry_vector(item: &str, reason: &str, keywords: &[String]) -> Option<Vector> {
    embed_weighted(&[
        (item, ITEM),
        (reason, REASON),
        (&keywords.join(" "), KEYWORDS),
    ])
}

/// A task's text, ready to be compared.
#[derive(Debug, Clone)]
pub struct Query {
    vector: Option<Vector>,
    words: Vec<Weighted>,
}

/// A word of a task.
#[derive(Debug, Clone)]
struct Weighted {
    word: Word,
    /// How many entries hold it.
    frequency: usize,
    /// The inverse document frequency of BM25.
    rarity: f64,
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

impl Query {
    /// Reads a task. `frequency` tells how many of `stored` entries hold a word.
    ///
    /// # Errors
    /// What `frequency` reports.
    pub fn new<E>(
        text: &str,
        stored: usize,
        mut frequency: impl FnMut(&Word) -> Result<usize, E>,
    ) -> Result<Self, E> {
        let mut words: Vec<Weighted> = Vec::new();
        for word in Words::query(text).words() {
            let mut word = word.clone();
            // Only a finished word says something about a task.
            word.prefix = false;
            if word.pieces.is_empty() || words.iter().any(|known| known.word.pieces == word.pieces)
            {
                continue;
            }
            let frequency = frequency(&word)?;
            let found = frequency as f64;
            let rarity = ((stored as f64 - found + 0.5) / (found + 0.5)).ln();
            words.push(Weighted {
                word,
                frequency,
                // Not a number when more entries hold the word than are said to be stored.
                rarity: if rarity > 1e-6 { rarity } else { 1e-6 },
            });
        }
        Ok(Query {
            vector: embed(text),
            words,
        })
    }

    /// The vector of the task; none when it has no letter or digit.
    pub fn vector(&self) -> Option<&Vector> {
        self.vector.as_ref()
    }

    /// The words that some entry holds, and not more than `most` of them.
    pub fn rare_words(&self, most: usize) -> impl Iterator<Item = &Word> {
        self.words
            .iter()
            .filter(move |known| (1..=most).contains(&known.frequency))
            .map(|known| &known.word)
    }

    /// Compares an entry with the task.
    pub fn relevance(&self, entry: &Preference, vector: Option<&Vector>) -> Relevance {
        let meaning = self
            .vector
            .as_ref()
            .zip(vector)
            .map_or(0.0, |(task, entry)| f64::from(task.cosine(entry)).max(0.0));
        let texts = super::texts_of(entry);
        let length: usize = texts.iter().map(|text| text.pieces().len()).sum();
        let norm = K1 * (1.0 - B + B * length as f64 / AVERAGE_LENGTH);
        let mut b = 0.0;
        let mut words = Vec::new();
        for Weighted { word, rarity, .. } in &self.words {
            let count = texts.iter().filter(|text| word.occurs_in(text)).count() as f64;
            if count > 0.0 {
                b += rarity * count * (K1 + 1.0) / (count + norm);
                words.push(word.typed.clone());
            }
        }
        let lexical = LEXICAL_SHARE * b / (b + LEXICAL_HALF);
        Relevance {
            value: (meaning + lexical).min(1.0),
            meaning,
            lexical,
            words,
        }
    }
}

/// Whether an entry is related to a task, given where it ranks among all that may be and how relevant those
/// are: surely, or by standing out.
pub fn is_related(relevance: &Relevance, rank: usize, best: &[f64]) -> bool {
    let _ = (rank, best);
    relevance.value >= LEAST
}

/// Cuts the vector of an entry from its texts: for rows that are not indexed yet.
pub fn vector_of(entry: &Preference) -> Option<Vector> {
    entry_vector(&entry.item, &entry.reason, &entry.keywords)
}
