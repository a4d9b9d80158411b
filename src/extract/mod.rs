//! Finds preferences in what a person said, without a language model: splits a turn into sentences, finds cue phrases,
//! decides from them and from what stands around them whether a lasting preference is meant, which way it points and what
//! it is about. Pure and deterministic: the same turn gives the same candidates.
//!
//! The phrases are data (`cues/`), and so is what each weighs (`weights.bin`, learned from examples by
//! `benches/extraction.rs`). Every candidate names the cues that led to it.

pub mod cues;
pub mod features;
pub mod language;
pub mod split;
pub mod tokens;
pub mod weights;

mod item;
mod verdict;

use crate::model::{Candidate, Turn};
use cues::Hit;
use language::Language;
use split::Setting;
use tokens::{Token, tokens};

pub use item::span;
pub use verdict::{Direction, Thresholds, Verdict, judge};

/// A sentence, ready to be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Its first byte in the turn.
    pub start: usize,
    /// Its words as they were typed.
    pub text: String,
    /// Its tokens, placed within `text`.
    pub tokens: Vec<Token>,
    /// Its cues.
    pub hits: Vec<Hit>,
    /// The byte ranges of `text` that are somebody else's words.
    pub quoted: Vec<(usize, usize)>,
    /// Where it stands.
    pub setting: Setting,
}

impl Said {
    /// Whether a token stands in somebody else's words.
    pub fn is_quoted(&self, token: usize) -> bool {
        let start = self.tokens[token].start;
        self.quoted
            .iter()
            .any(|&(from, to)| (from..to).contains(&start))
    }
}

/// A turn, ready to be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The language it is written in.
    pub language: Language,
    /// Its sentences.
    pub said: Vec<Said>,
    /// Whether code or quotations were left out.
    pub shown: bool,
    /// How the answer before it begins, folded.
    pub answer: Option<String>,
}

impl Reading {
    /// Reads a text in a language, or in the one that it seems to be in.
    pub fn new(text: &str, answer: Option<&str>, language: Option<Language>) -> Self {
        let (sentences, shown) = split::sentences(text);
        let all = tokens(text);
        let language = language.unwrap_or_else(|| Language::of(text, &all));
        let said = sentences
            .into_iter()
            .map(|sentence| {
                let text = text[sentence.start..sentence.end].to_owned();
                let tokens = tokens(&text);
                Said {
                    start: sentence.start,
                    hits: cues::find(language, &tokens),
                    quoted: split::quotations(&text),
                    setting: sentence.setting,
                    tokens,
                    text,
                }
            })
            .collect();
        Reading {
            language,
            said,
            shown,
            answer: answer.map(crate::model::fold),
        }
    }
}

/// The longest turn that is read, in bytes: what is longer was pasted.
pub const LONGEST_TURN: usize = 20_000;

/// The preferences in a turn.
pub fn candidates(turn: &Turn) -> Vec<Candidate> {
    if turn.text.len() > LONGEST_TURN {
        return Vec::new();
    }
    let answer = turn.answer.as_ref().map(|answer| answer.start.as_str());
    let reading = Reading::new(&turn.text, answer, None);
    (0..reading.said.len())
        .filter_map(|index| {
            let verdict = judge(&reading, index)?;
            item::candidate(&reading, index, &verdict)
        })
        .collect()
}
