//! What a sentence, a word of it or a thing named in it shows of how it is meant, as numbers that `weights.bin` weighs.

mod sentence;
mod thing;
mod token;

use super::Said;
use super::tokens::Token;
use super::weights::{Feature, Group, feature};

pub use sentence::of_sentence;
pub use thing::of_thing;
pub use token::of_token;

/// The numbers found so far.
struct Features(Vec<u32>);

impl Features {
    /// Adds a feature of several texts.
    fn add(&mut self, parts: &[&str]) {
        self.0.push(feature(group(parts[0]), parts));
    }

    /// Adds the beginning or end of a word in a language.
    fn add_piece(&mut self, name: &str, characters: &[char], code: &str) {
        self.0.push(
            Feature::new(Group::Word)
                .part(name)
                .characters(characters)
                .part(code)
                .number(),
        );
    }

    /// Adds several words as one text.
    fn add_joined<'t>(&mut self, name: &str, between: &str, words: impl Iterator<Item = &'t str>) {
        self.0.push(
            Feature::new(group(name))
                .part(name)
                .joined(between, words)
                .number(),
        );
    }

    /// All of them, each once, in rising order.
    fn numbers(mut self) -> Vec<u32> {
        self.0.sort_unstable();
        self.0.dedup();
        self.0
    }
}

/// The group of a feature, by its first part.
fn group(name: &str) -> Group {
    match name {
        "w" | "p" | "s" | "c" | "0" | "-1" | "-2" | "+1" | "+2" | "tail" | "side word"
        | "side part word" | "part word" => Group::Word,
        "b" | "t" | "b_" | "f" | "start" | "end" | "comma" | "-1 0" | "0 +1" | "-2 -1"
        | "+1 +2" | "-1 +1" | "side pair" | "thing -1" | "thing -2" | "thing -2 -1"
        | "thing -3 -2 -1" | "thing +1" | "thing +2" | "thing +1 +2" | "thing -1 +1"
        | "thing first" | "thing last" => Group::Sequence,
        "cue" | "first cue" | "starts with" | "ends with" | "cue in capitals" | "no wish"
        | "in cue" | "thing cue" | "thing cue far" | "thing cue part" | "nearest cue" => Group::Cue,
        "cues" | "then" | "before cue" | "after cue" | "part has" | "thing cues"
        | "nearest phrase" => Group::Cues,
        "answer" | "answer and" | "answer, length" | "turn" | "sentence before"
        | "sentence after" | "place" => Group::Around,
        _ => Group::Layout,
    }
}

/// The tokens that the person says in this sentence, and not somebody else whom they quote.
fn own(said: &Said) -> impl Iterator<Item = (usize, &Token)> {
    said.tokens
        .iter()
        .enumerate()
        .filter(|(index, _)| !said.is_quoted(*index))
}

/// A token's word; numbers are all the same.
fn word(token: &Token) -> &str {
    if token.folded.chars().all(|c| c.is_numeric()) {
        "0"
    } else {
        &token.folded
    }
}

/// How many words, roughly.
fn length(words: usize) -> &'static str {
    match words {
        0..=2 => "1-2",
        3..=5 => "3-5",
        6..=9 => "6-9",
        10..=15 => "10-15",
        16..=25 => "16-25",
        _ => "26+",
    }
}

/// Whether a token parts a sentence.
fn is_parting(token: &Token) -> bool {
    matches!(
        token.folded.as_str(),
        "," | "，" | "、" | ":" | "：" | ";" | "；" | "—" | "-" | "–" | "but" | "." | "。"
    )
}

/// The tokens of the part between commas in which a thing stands.
fn part_around(said: &Said, (from, after): (usize, usize)) -> std::ops::Range<usize> {
    let start = said.tokens[..from]
        .iter()
        .rposition(is_parting)
        .map_or(0, |at| at + 1);
    let end = said.tokens[after..]
        .iter()
        .position(is_parting)
        .map_or(said.tokens.len(), |at| after + at);
    start..end
}
