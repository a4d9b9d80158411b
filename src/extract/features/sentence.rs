//! What a sentence shows: its words, the cues among them, its layout, and what stands around it.

use super::super::cues::{Cue, Hit};
use super::super::split::Setting;
use super::super::tokens::{Shape, Token};
use super::super::weights::{Feature, Group};
use super::super::{Reading, Said};
use super::{Features, length, own, word};

/// A short turn: what stands in it is often all that was to be said.
const SHORT_TURN: usize = 12;

/// The numbers of all features of one sentence of a turn.
pub fn of_sentence(reading: &Reading, index: usize) -> Vec<u32> {
    let said = &reading.said[index];
    let mut found = Features(Vec::new());
    let code = reading.language.code();
    found.add(&["bias"]);
    found.add(&["lang", code]);
    words(said, code, &mut found);
    cues(said, &mut found);
    layout(said, &mut found);
    surroundings(reading, index, &mut found);
    found.numbers()
}

fn words(said: &Said, code: &str, found: &mut Features) {
    let own: Vec<&Token> = own(said).map(|(_, token)| token).collect();
    for token in &own {
        let word = word(token);
        found.add(&["w", word]);
        found.add(&["w", word, code]);
        if token.shape == Shape::Word {
            let characters: Vec<char> = token.folded.chars().collect();
            for size in [3, 4, 5] {
                if characters.len() > size {
                    found.add_piece("p", &characters[..size], code);
                    let tail = &characters[characters.len() - size..];
                    found.add_piece("s", tail, code);
                }
            }
            // Korean endings and Arabic prefixes stand inside what spaces divide.
            if characters.iter().any(|&c| c as u32 >= 0x600) {
                for size in [2, 3] {
                    for window in characters.windows(size) {
                        found.0.push(
                            Feature::new(Group::Word)
                                .part("c")
                                .characters(window)
                                .number(),
                        );
                    }
                }
            }
        }
    }
    for pair in own.windows(2) {
        found.add(&["b", word(pair[0]), word(pair[1])]);
    }
    for three in own.windows(3) {
        found.add(&["t", word(three[0]), word(three[1]), word(three[2])]);
        found.add(&["b_", word(three[0]), word(three[2])]);
    }
    for four in own.windows(4) {
        if four.iter().all(|token| token.shape == Shape::Character) {
            let texts = four.iter().map(|token| token.folded.as_str());
            found.add_joined("f", "", texts);
        }
    }
    let starts: Vec<&str> = own.iter().take(3).map(|token| word(token)).collect();
    for count in 1..=starts.len() {
        let texts = starts[..count].iter().copied();
        found.add_joined("start", " ", texts);
    }
    let ends: Vec<&str> = own.iter().rev().take(3).map(|token| word(token)).collect();
    for count in 1..=ends.len() {
        let texts = ends[..count].iter().copied();
        found.add_joined("end", " ", texts);
    }
    // What stands before and after the first comma is often two different things.
    if let Some(comma) = own
        .iter()
        .position(|token| matches!(token.folded.as_str(), "," | "，" | "、"))
    {
        for token in own.iter().skip(comma + 1).take(2) {
            found.add(&["comma", word(token)]);
        }
    }
}

fn cues(said: &Said, found: &mut Features) {
    let own: Vec<&Hit> = said
        .hits
        .iter()
        .filter(|hit| !said.is_quoted(hit.first))
        .collect();
    let mut kinds: Vec<Cue> = own.iter().map(|hit| hit.cue).collect();
    kinds.sort_unstable();
    kinds.dedup();
    for (index, cue) in kinds.iter().enumerate() {
        found.add(&["cue", cue.name()]);
        for other in &kinds[index + 1..] {
            found.add(&["cues", cue.name(), other.name()]);
        }
    }
    let wishes: Vec<&&Hit> = own.iter().filter(|hit| hit.cue.is_wish()).collect();
    if let Some(first) = own.first() {
        found.add(&["first cue", first.cue.name()]);
        if first.first == 0 {
            found.add(&["starts with", first.cue.name()]);
        }
    }
    if let Some(last) = own.last().filter(|hit| hit.after + 1 >= said.tokens.len()) {
        found.add(&["ends with", last.cue.name()]);
    }
    for pair in own.windows(2) {
        found.add(&["then", pair[0].cue.name(), pair[1].cue.name()]);
    }
    for hit in &wishes {
        let before = hit
            .first
            .checked_sub(1)
            .map_or("^", |at| word(&said.tokens[at]));
        let after = said.tokens.get(hit.after).map_or("$", word);
        found.add(&["before cue", hit.cue.name(), before]);
        found.add(&["after cue", hit.cue.name(), after]);
    }
    if wishes.is_empty() {
        found.add(&["no wish"]);
    }
}

pub(super) fn layout(said: &Said, found: &mut Features) {
    let text = said.text.as_str();
    let last = text
        .trim_end_matches(['*', '_', '"', '”', ')', ' '])
        .chars()
        .last();
    found.add(&[
        "last",
        match last {
            Some('?' | '？' | '؟') => "?",
            Some('!' | '！') => "!",
            Some('.' | '。' | '।') => ".",
            Some(':' | '：') => ":",
            Some('…') => "…",
            _ => "",
        },
    ]);
    for (name, is) in [
        ("!!", text.contains("!!") || text.contains("！！")),
        (
            "?!",
            text.contains("?!") || text.contains("!?") || text.contains("??"),
        ),
        ("bold", text.contains("**")),
        ("ellipsis", text.contains("...") || text.contains('…')),
        ("quotation", text.contains(['"', '“', '「', '«', '„', '『'])),
        ("long quotation", !said.quoted.is_empty()),
        ("code", text.contains('`')),
        (
            "emoji",
            text.chars()
                .any(|c| (0x1F300..=0x1FAFF).contains(&(c as u32))),
        ),
        ("colon", text.contains([':', '：'])),
        ("arrow", text.contains("->") || text.contains('→')),
        (
            "lower start",
            text.chars().next().is_some_and(char::is_lowercase),
        ),
    ] {
        if is {
            found.add(&["layout", name]);
        }
    }
    let words = said
        .tokens
        .iter()
        .filter(|token| token.shape != Shape::Mark)
        .count();
    let capitals = said.tokens.iter().filter(|token| token.capitals).count();
    if capitals > 0 {
        found.add(&[
            "layout",
            if capitals * 2 > words && words > 1 {
                "ALL CAPS"
            } else {
                "a word in capitals"
            },
        ]);
    }
    for hit in &said.hits {
        if said.tokens[hit.first].capitals {
            found.add(&["cue in capitals", hit.cue.name()]);
        }
    }
    found.add(&["length", length(words)]);
    if said.tokens.iter().any(|token| token.shape == Shape::Code) {
        found.add(&["layout", "names code"]);
    }
    let Setting {
        in_list,
        below_colon,
        pasted,
    } = said.setting;
    for (name, is) in [
        ("in list", in_list),
        ("below colon", below_colon),
        ("pasted", pasted),
    ] {
        if is {
            found.add(&["setting", name]);
        }
    }
}

pub(super) fn surroundings(reading: &Reading, index: usize, found: &mut Features) {
    let said = &reading.said[index];
    let count = reading.said.len();
    let place = match (index, count) {
        (_, 1) => "only",
        (0, _) => "first",
        (index, count) if index + 1 == count => "last",
        _ => "middle",
    };
    found.add(&["place", place]);
    if reading.shown {
        found.add(&["turn", "shows code or quotes"]);
    }
    let total: usize = reading.said.iter().map(|one| one.tokens.len()).sum();
    if let Some(answer) = &reading.answer {
        found.add(&["answer"]);
        found.add(&["answer", place]);
        let brief = total <= SHORT_TURN;
        found.add(&["answer", if brief { "short turn" } else { "long turn" }]);
        for hit in &said.hits {
            found.add(&["answer and", hit.cue.name()]);
        }
        found.add(&["answer, length", length(said.tokens.len())]);
        // A word of the answer that comes back is what is talked about.
        let named = own(said)
            .filter(|(_, token)| token.shape != Shape::Mark && token.folded.chars().count() > 2)
            .any(|(_, token)| answer.contains(&token.folded));
        if named {
            found.add(&["answer", "is named"]);
        }
    } else if total <= SHORT_TURN {
        found.add(&["turn", "short"]);
    }
    for (name, other) in [
        ("sentence before", index.checked_sub(1)),
        (
            "sentence after",
            Some(index + 1).filter(|&next| next < count),
        ),
    ] {
        let Some(other) = other.map(|other| &reading.said[other]) else {
            found.add(&[name, "none"]);
            continue;
        };
        for hit in &other.hits {
            found.add(&[name, hit.cue.name()]);
        }
        if let Some(last) = other
            .text
            .chars()
            .last()
            .filter(|c| "?？:：!！".contains(*c))
        {
            found.add(&[name, &last.to_string()]);
        }
        if let Some(first) = other.tokens.first() {
            found.add(&[name, "starts", word(first)]);
        }
        found.add(&[name, "length", length(other.tokens.len())]);
    }
}
