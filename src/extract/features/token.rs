//! What a word of a sentence shows of whether it belongs to the thing that the sentence is about.

use super::super::tokens::{Shape, Token};
use super::super::{Reading, Said};
use super::{Features, is_parting, length, part_around, word};

/// The numbers of the features of one token, for whether it belongs to the thing that the sentence is about.
pub fn of_token(reading: &Reading, index: usize, token: usize, verdict: &str) -> Vec<u32> {
    let said = &reading.said[index];
    let mut found = Features(Vec::new());
    let code = reading.language.code();
    let at = |place: isize| -> &str {
        token
            .checked_add_signed(place)
            .and_then(|place| said.tokens.get(place))
            .map_or("^", word)
    };
    found.add(&["bias", verdict]);
    for (name, place) in [("0", 0), ("-1", -1), ("-2", -2), ("+1", 1), ("+2", 2)] {
        found.add(&[name, at(place)]);
        found.add(&[name, at(place), verdict]);
        found.add(&[name, at(place), code]);
    }
    found.add(&["-1 0", at(-1), at(0)]);
    found.add(&["0 +1", at(0), at(1)]);
    found.add(&["-2 -1", at(-2), at(-1)]);
    found.add(&["+1 +2", at(1), at(2)]);
    found.add(&["-1 +1", at(-1), at(1)]);
    let this = &said.tokens[token];
    found.add(&["shape", shape(this), verdict]);
    for (name, place) in [("shape -1", token.wrapping_sub(1)), ("shape +1", token + 1)] {
        found.add(&[name, said.tokens.get(place).map_or("^", shape)]);
    }
    if this.shape == Shape::Word {
        let characters: Vec<char> = this.folded.chars().collect();
        for size in [2, 3, 4] {
            if characters.len() > size {
                let tail = &characters[characters.len() - size..];
                found.add_piece("tail", tail, code);
            }
        }
    }
    cues_around(said, token, verdict, &mut found);
    let words = said.tokens.len();
    found.add(&["place", &(token * 5 / words.max(1)).to_string(), verdict]);
    found.add(&["first", if token == 0 { "yes" } else { "no" }, code]);
    found.add(&["last", if token + 1 == words { "yes" } else { "no" }, code]);
    found.add(&["length", length(words)]);
    if said.is_quoted(token) {
        found.add(&["quoted"]);
    }
    // Which part between commas it stands in, and whether that part has a cue.
    let commas = said.tokens[..token]
        .iter()
        .filter(|token| is_parting(token))
        .count();
    found.add(&["part", &commas.min(3).to_string(), verdict]);
    let part = part_around(said, (token, token));
    for hit in said
        .hits
        .iter()
        .filter(|hit| part.contains(&hit.first) && hit.after <= part.end)
    {
        found.add(&["part has", hit.cue.name(), verdict]);
    }
    found.numbers()
}

fn cues_around(said: &Said, token: usize, verdict: &str, found: &mut Features) {
    for hit in &said.hits {
        let name = hit.cue.name();
        if (hit.first..hit.after).contains(&token) {
            found.add(&["in cue", name, verdict]);
            found.add(&["in cue", name]);
        } else if hit.after <= token {
            let far = (token - hit.after).min(4).to_string();
            found.add(&["after cue", name, &far]);
            found.add(&["after cue", name, verdict]);
        } else {
            let far = (hit.first - token - 1).min(4).to_string();
            found.add(&["before cue", name, &far]);
            found.add(&["before cue", name, verdict]);
        }
    }
}

fn shape(token: &Token) -> &'static str {
    match token.shape {
        Shape::Word if token.capitals => "CAPS",
        Shape::Word => "word",
        Shape::Code => "code",
        Shape::Character => "character",
        Shape::Mark => "mark",
    }
}
