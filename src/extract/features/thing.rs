//! What stands around a thing that a sentence names: whether it is a preference, and which way it points.

use super::super::cues::Hit;
use super::super::tokens::Shape;
use super::super::{Reading, Said};
use super::sentence::{layout, surroundings};
use super::{Features, length, own, part_around, word};

/// Where a word stands, seen from the thing.
fn side(token: usize, (from, after): (usize, usize)) -> &'static str {
    if token < from {
        "before"
    } else if token < after {
        "in"
    } else {
        "behind"
    }
}

/// The numbers of the features of one thing in a sentence, its first token and the one after its last.
pub fn of_thing(reading: &Reading, index: usize, span: (usize, usize)) -> Vec<u32> {
    let said = &reading.said[index];
    let mut found = Features(Vec::new());
    found.add(&["thing"]);
    found.add(&["thing lang", reading.language.code()]);
    let part = part_around(said, span);
    words(said, reading.language.code(), span, &part, &mut found);
    neighbours(said, reading.language.code(), span, &mut found);
    cues(said, span, &part, &mut found);
    layout(said, &mut found);
    surroundings(reading, index, &mut found);
    found.numbers()
}

fn in_part(near: bool) -> &'static str {
    if near { "same part" } else { "other part" }
}

fn words(
    said: &Said,
    code: &str,
    span: (usize, usize),
    part: &std::ops::Range<usize>,
    found: &mut Features,
) {
    for (at, token) in own(said) {
        if token.shape == Shape::Mark && !matches!(token.folded.as_str(), "?" | "!") {
            continue;
        }
        let this = word(token);
        let side = side(at, span);
        let near = in_part(part.contains(&at));
        found.add(&["side word", side, this]);
        found.add(&["side part word", side, near, this]);
        if side != "in" {
            found.add(&["part word", near, this]);
        }
        if token.shape == Shape::Word && token.folded.chars().count() > 4 {
            let start: Vec<char> = token.folded.chars().take(4).collect();
            found.add_piece(side, &start, code);
        }
    }
}

fn neighbours(said: &Said, code: &str, (from, after): (usize, usize), found: &mut Features) {
    let at = |place: Option<usize>| {
        place
            .and_then(|place| said.tokens.get(place))
            .map_or("^", word)
    };
    let before = |distance: usize| at(from.checked_sub(distance));
    let behind = |distance: usize| at(Some(after + distance - 1));
    for first in 0..said.tokens.len().saturating_sub(1) {
        let side = if first + 1 == from {
            "into"
        } else if first + 1 == after {
            "out of"
        } else {
            side(first, (from, after))
        };
        found.add(&["side pair", side, at(Some(first)), at(Some(first + 1))]);
    }
    found.add(&["thing -1", before(1)]);
    found.add(&["thing -1", before(1), code]);
    found.add(&["thing -2", before(2)]);
    found.add(&["thing -2 -1", before(2), before(1)]);
    found.add(&["thing -3 -2 -1", before(3), before(2), before(1)]);
    found.add(&["thing +1", behind(1)]);
    found.add(&["thing +2", behind(2)]);
    found.add(&["thing +1 +2", behind(1), behind(2)]);
    found.add(&["thing -1 +1", before(1), behind(1)]);
    found.add(&["thing first", at(Some(from))]);
    found.add(&["thing last", at(Some(after - 1))]);
    found.add(&["thing length", length(after - from)]);
}

fn cues(
    said: &Said,
    (from, after): (usize, usize),
    part: &std::ops::Range<usize>,
    found: &mut Features,
) {
    let own = |hit: &&Hit| !said.is_quoted(hit.first);
    for hit in said.hits.iter().filter(own) {
        let (side, far) = if hit.after <= from {
            ("before", from - hit.after)
        } else if hit.first >= after {
            ("behind", hit.first - after)
        } else {
            ("in", 0)
        };
        let far = match far {
            0 => "at it",
            1 => "one between",
            2..=3 => "near",
            _ => "far",
        };
        let name = hit.cue.name();
        let near = part.contains(&hit.first) && hit.after <= part.end;
        found.add(&["thing cue", name, side]);
        found.add(&["thing cue far", name, side, far]);
        found.add(&["thing cue part", name, side, in_part(near)]);
        for other in said.hits.iter().filter(|other| other.first > hit.first) {
            found.add(&["thing cues", name, other.cue.name(), side]);
        }
    }
    let nearest = said.hits.iter().filter(own).rfind(|hit| hit.after <= from);
    found.add(&["nearest cue", nearest.map_or("none", |hit| hit.cue.name())]);
    if let Some(hit) = nearest {
        let phrase = said.tokens[hit.first..hit.after].iter().map(word);
        found.add_joined("nearest phrase", " ", phrase);
    }
}
