//! Finds preferences in what a person said, without a language model: splits a turn into sentences, finds cue phrases,
//! decides from them and from what stands around them whether a lasting preference is meant, which way it points and what
//! it is about. Pure and deterministic: the same turn gives the same candidates.
//!
//! The phrases are data (`cues/`), and so is what each weighs (`weights.bin`, learned from examples by
//! `benches/extraction.rs`). Every candidate names the cues that led to it.

pub mod cues;
pub mod features;
pub mod forms;
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
pub use verdict::{Direction, Thing, Thresholds, judge, likelihoods};

/// A sentence, ready to be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Its first byte in the turn.
    pub start: usize,
    /// Its words as they were typed.
    pub text: String,
    /// Its tokens, placed within `text`.
    pub tokens: Vec<Token>,
    /// Its cues that are weighed.
    pub hits: Vec<Hit>,
    /// Its cues that no weighing changes.
    pub asides: Vec<Hit>,
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
            .iter()
            .flat_map(|sentence| {
                let tokens = within(&all, sentence.start, sentence.end);
                let hits = cues::find(language, &tokens);
                statements(&tokens, &hits)
                    .into_iter()
                    .map(|(from, to)| {
                        let start = sentence.start + from;
                        let end = to.map_or(sentence.end, |to| sentence.start + to);
                        (start, end, sentence.setting)
                    })
                    .collect::<Vec<_>>()
            })
            .map(|(start, end, setting)| {
                let tokens = within(&all, start, end);
                let text = text[start..end].to_owned();
                let (hits, asides) = cues::find(language, &tokens)
                    .into_iter()
                    .partition(|hit| hit.cue.is_weighed());
                Said {
                    start,
                    hits,
                    asides,
                    quoted: split::quotations(&text),
                    setting,
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

/// Where the statements of a sentence begin, and where the ones before the last end: "I love tea, I hate coffee" makes two,
/// since both sides of its comma say on their own what is thought of something, and so does "I love tea and I hate coffee".
fn statements(tokens: &[Token], hits: &[Hit]) -> Vec<(usize, Option<usize>)> {
    use cues::Cue;
    const OUTRIGHT: [Cue; 6] = [
        Cue::Like,
        Cue::Love,
        Cue::Prefer,
        Cue::Dislike,
        Cue::Hate,
        Cue::Never,
    ];
    const AND: [&str; 12] = [
        "and", "but", "und", "aber", "et", "mais", "y", "pero", "e", "ma", "en", "maar",
    ];
    const PERSON: [&str; 9] = ["i", "ich", "je", "j", "yo", "io", "eu", "ik", "odio"];
    let word = |at: usize| tokens.get(at).map_or("", |token| token.folded.as_str());
    let is_mark = |at: usize| matches!(word(at), "," | "，" | ";" | "；" | "、");
    let parts = |at: &usize| {
        let joins = AND.contains(&word(*at)) && PERSON.contains(&word(at + 1));
        is_mark(*at) || joins && !at.checked_sub(1).is_some_and(is_mark)
    };
    let says = |from: usize, to: usize| {
        hits.iter()
            .any(|hit| OUTRIGHT.contains(&hit.cue) && hit.first >= from && hit.after <= to)
    };
    let mut found = vec![(0, None)];
    let mut first = 0;
    for comma in (0..tokens.len()).filter(parts) {
        let next = (comma + 1..tokens.len()).find(parts);
        let next = next.unwrap_or(tokens.len());
        if says(first, comma) && says(comma + 1, next) && comma + 1 < tokens.len() {
            if let Some(last) = found.last_mut() {
                last.1 = Some(tokens[comma].start);
            }
            found.push((tokens[comma + 1].start, None));
            first = comma + 1;
        }
    }
    found
}

/// The tokens of a part of a text, placed within it.
fn within(all: &[Token], start: usize, end: usize) -> Vec<Token> {
    let first = all.partition_point(|token| token.start < start);
    all[first..]
        .iter()
        .take_while(|token| token.end <= end)
        .map(|token| Token {
            start: token.start - start,
            end: token.end - start,
            ..token.clone()
        })
        .collect()
}

/// The longest turn that is read, in bytes: what is longer was pasted.
pub const LONGEST_TURN: usize = 20_000;

/// The preferences in a turn.
pub fn candidates(turn: &Turn) -> Vec<Candidate> {
    judged(turn)
        .into_iter()
        .map(|(_, candidate)| candidate)
        .collect()
}

/// The preferences in a turn, each with what was decided about it.
pub fn judged(turn: &Turn) -> Vec<(Thing, Candidate)> {
    if turn.text.len() > LONGEST_TURN {
        return Vec::new();
    }
    let answer = turn.answer.as_ref().map(|answer| answer.start.as_str());
    let reading = Reading::new(&turn.text, answer, None);
    reading
        .said
        .iter()
        .enumerate()
        .flat_map(|(index, said)| {
            let things = judge(&reading, index);
            let is_undecided = verdict::is_undecided(said);
            things.into_iter().filter_map(move |mut thing| {
                thing.sure &= !is_undecided;
                let candidate = item::candidate(said, &thing)?;
                Some((thing, candidate))
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TurnKind;
    use rstest::rstest;

    fn said(text: &str) -> Vec<(String, bool)> {
        let turn = Turn {
            key: "1".to_owned(),
            text: text.to_owned(),
            kind: TurnKind::Typed,
            at: None,
            agent: "text".to_owned(),
            session: "s".to_owned(),
            place: "line 1".to_owned(),
            answer: None,
        };
        let found = candidates(&turn);
        found
            .into_iter()
            .map(|candidate| (candidate.item, candidate.score < 4.0))
            .collect()
    }

    #[rstest]
    #[case("maybe I prefer blue buttons, not sure.", false)]
    #[case("I prefer blue buttons.", true)]
    #[case("也许我更喜欢蓝色按钮，还没想好", false)]
    fn what_is_undecided_is_asked_about(#[case] text: &str, #[case] is_sure: bool) {
        let turn = Turn {
            key: "1".to_owned(),
            text: text.to_owned(),
            kind: TurnKind::Typed,
            at: None,
            agent: "text".to_owned(),
            session: "s".to_owned(),
            place: "line 1".to_owned(),
            answer: None,
        };
        assert_eq!(candidates(&turn).iter().any(|one| one.sure), is_sure);
    }

    #[rstest]
    #[case("I love dark mode, I hate light mode", &[("dark mode", false), ("light mode", true)])]
    #[case("i prefer bullet points, i hate long paragraphs", &[("bullet points", false), ("long paragraphs", true)])]
    #[case("我喜欢深色主题，我讨厌香菜", &[("深色主题", false), ("香菜", true)])]
    #[case("I prefer short functions and I hate long comments.", &[("short functions", false), ("long comments", true)])]
    #[case("I love React and I hate Angular.", &[("React", false), ("Angular", true)])]
    #[case("tabs, not spaces", &[("tabs", false)])]
    #[case("no more 'I hope this email finds you well', it makes me cringe", &[("'I hope this email finds you well'", true)])]
    #[case("never ever use emojis", &[("emojis", true)])]
    #[case("I prefer spaces over tabs.", &[("spaces", false), ("tabs", true)])]
    #[case("I like Python but not Java.", &[("Python", false), ("Java", true)])]
    #[case("Never hesitate to ask me questions.", &[])]
    #[case("I don't mind semicolons.", &[])]
    #[case("我不讨厌 Java", &[])]
    #[case("make sure that you never commit secrets", &[("secrets", true)])]
    #[case("I prefer answers to be short", &[("answers to be short", false)])]
    fn each_thing_has_its_own_direction(#[case] text: &str, #[case] expected: &[(&str, bool)]) {
        let found = said(text);
        let found: Vec<(&str, bool)> = found
            .iter()
            .map(|(item, against)| (item.as_str(), *against))
            .collect();
        assert_eq!(found, expected);
    }
}
