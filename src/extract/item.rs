//! What a sentence is about, and the candidate made of it.

use super::cues::Cue;
use super::tokens::{Shape, Token};
use super::verdict::{Direction, Thing};
use super::weights::{self, Section};
use super::{Reading, Said, features};
use crate::model::{Candidate, Kind};

/// The longest quote that is kept, in characters.
const LONGEST_QUOTE: usize = 300;

/// What is added to each token's score: a word too many is better than one that is missed.
const GENEROUS: f32 = 0.9;

/// The tokens that name the thing: the run whose tokens together belong to it most, and that no other thing has taken.
pub fn span(
    reading: &Reading,
    index: usize,
    direction: Direction,
    taken: &[(usize, usize)],
) -> Option<(usize, usize)> {
    let is_taken = |token| {
        taken
            .iter()
            .any(|&(from, after)| (from..after).contains(&token))
    };
    let said = &reading.said[index];
    let scores: Vec<f32> = (0..said.tokens.len())
        .map(|token| {
            if is_taken(token) {
                return f32::NEG_INFINITY;
            }
            let found = features::of_token(reading, index, token, direction.name());
            weights::score(Section::Span, &found)
                .first()
                .map_or(-1.0, |score| score + GENEROUS)
        })
        .collect();
    let starts = starts(said);
    let mut best = (0.0, 0, 0);
    for (place, &from) in starts.iter().enumerate() {
        let mut sum = 0.0;
        for (last, &begin) in starts.iter().enumerate().skip(place) {
            let end = starts.get(last + 1).copied().unwrap_or(scores.len());
            sum += scores[begin..end].iter().sum::<f32>();
            if sum > best.0 {
                best = (sum, from, end);
            }
        }
    }
    let (mut from, mut after) = (best.1, best.2);
    let is_mark =
        |token: &Token| token.shape == Shape::Mark && !is_opening(token) && !is_closing(token);
    while from < after && is_mark(&said.tokens[from]) {
        from += 1;
    }
    while from < after && is_mark(&said.tokens[after - 1]) {
        after -= 1;
    }
    (from < after).then(|| whole_quotation(&said.tokens, from, after))
}

/// A name that holds one end of a quotation holds the other one too.
fn whole_quotation(tokens: &[Token], mut from: usize, mut after: usize) -> (usize, usize) {
    const QUOTES: [(&str, &str); 6] = [
        ("\"", "\""),
        ("“", "”"),
        ("„", "“"),
        ("«", "»"),
        ("「", "」"),
        ("'", "'"),
    ];
    let find = |range: std::ops::Range<usize>, mark: &str| {
        tokens[range].iter().position(|token| token.folded == mark)
    };
    for (opening, closing) in QUOTES {
        let opened = tokens[from].folded == opening;
        let closed = after - from > 1 && tokens[after - 1].folded == closing;
        if opened && find(from + 1..after, closing).is_none() {
            if let Some(more) = find(after..tokens.len(), closing) {
                after += more + 1;
            }
        } else if closed && find(from..after - 1, opening).is_none() {
            let before = tokens[..from]
                .iter()
                .rposition(|token| token.folded == opening);
            from = before.unwrap_or(from);
        }
    }
    (from, after)
}

/// Where a name may begin: at any word; between characters that are written without spaces only at a cue's edge, at a
/// mark, at a word of another script, and beside the little words that stand between things.
fn starts(said: &Said) -> Vec<usize> {
    const LITTLE: &str = "的了把被给給用在对對就都也我你别別不是要请請会會和跟与與或は が を に で も の と へ や から まで";
    let character = |index: usize| {
        said.tokens
            .get(index)
            .filter(|token| token.shape == Shape::Character)
    };
    let little =
        |index: usize| character(index).is_some_and(|token| LITTLE.contains(&token.folded));
    (0..said.tokens.len())
        .filter(|&index| {
            index == 0
                || character(index).is_none()
                || character(index - 1).is_none()
                || little(index)
                || little(index - 1)
                || said
                    .hits
                    .iter()
                    .any(|hit| hit.cue.is_wish() && (hit.first == index || hit.after == index))
        })
        .collect()
}

fn is_opening(token: &Token) -> bool {
    matches!(
        token.folded.as_str(),
        "\"" | "“" | "„" | "«" | "「" | "『" | "'" | "`" | "<" | "$"
    )
}

fn is_closing(token: &Token) -> bool {
    matches!(
        token.folded.as_str(),
        "\"" | "”" | "“" | "»" | "」" | "』" | "'" | "`" | ">" | "%" | "$"
    )
}

/// The candidate of a thing in a sentence.
pub fn candidate(said: &Said, thing: &Thing) -> Option<Candidate> {
    let (from, after) = thing.span;
    let after = before_comparison(said, thing, from, after);
    let item = without_particle(
        said.text[said.tokens[from].start..said.tokens[after - 1].end]
            .trim_matches(['*', '_', ' ']),
    );
    if !item.chars().any(char::is_alphanumeric) {
        return None;
    }
    Some(Candidate {
        item,
        quote: said.text.chars().take(LONGEST_QUOTE).collect(),
        score: score(said, thing),
        keywords: Vec::new(),
        scenarios: Vec::new(),
        confidence: (thing.confidence * 100.0).round().min(99.0) / 100.0,
        sure: thing.sure,
        kind: thing.kind,
        cues: named(said),
        explicit: is_explicit(said, thing),
        forbids: forbids(said, thing),
    })
}

/// Where a thing ends that is liked better than another: "tabs over spaces" is about tabs, and the reverse of "spaces over
/// tabs".
fn before_comparison(said: &Said, thing: &Thing, from: usize, after: usize) -> usize {
    if thing.direction != Direction::For {
        return after;
    }
    let word = |at: usize| {
        said.tokens
            .get(at)
            .map_or("", |token| token.folded.as_str())
    };
    let prefers = said.hits.iter().any(|hit| hit.cue == Cue::Prefer);
    (from + 1..after)
        .find(|&at| match word(at) {
            "over" => prefers,
            "instead" => word(at + 1) == "of",
            "rather" => word(at + 1) == "than",
            "but" => word(at + 1) == "not",
            "而" => matches!(word(at + 1), "不" | "非"),
            _ => false,
        })
        .unwrap_or(after)
}

/// Takes the particle off the last word of a Korean name.
fn without_particle(name: &str) -> String {
    const PARTICLES: [&str; 14] = [
        "으로", "에서", "에게", "까지", "부터", "은", "는", "이", "가", "을", "를", "도", "만",
        "로",
    ];
    let last = name.split_whitespace().last().unwrap_or_default();
    let hangul = |c: char| ('\u{ac00}'..='\u{d7a3}').contains(&c);
    if last.chars().all(hangul) {
        for particle in PARTICLES {
            if let Some(bare) = last.strip_suffix(particle)
                && bare.chars().count() > 1
            {
                return name[..name.len() - particle.len()].to_owned();
            }
        }
    }
    name.to_owned()
}

/// The score that the words stand for.
fn score(said: &Said, thing: &Thing) -> f64 {
    let has = |cue: Cue| said.hits.iter().any(|hit| hit.cue == cue);
    match (thing.kind, thing.direction) {
        (Kind::Never, _) => 0.5,
        (Kind::Habit, _) | (_, Direction::Habit) => 5.0,
        (Kind::Dislike, _) => {
            if has(Cue::Hate) {
                2.0
            } else {
                3.0
            }
        }
        (Kind::Like, _) => {
            if has(Cue::Love) {
                9.0
            } else if has(Cue::Prefer) {
                8.0
            } else {
                7.5
            }
        }
        (Kind::Praise, _) => 7.5,
        (Kind::Always, _) => 9.5,
        (Kind::Complaint, Direction::Against) => 2.5,
        (Kind::Imperative, Direction::Against) => 2.0,
        (Kind::Correction | Kind::Decision, Direction::Against) => 3.0,
        (Kind::Remember, Direction::Against) => 2.0,
        (Kind::Imperative | Kind::Remember, Direction::For) => 8.5,
        (Kind::Complaint | Kind::Correction | Kind::Decision, Direction::For) => 8.0,
    }
}

/// Whether the person said it outright: with a word that says so, whatever else the sentence does.
fn is_explicit(said: &Said, thing: &Thing) -> bool {
    const FOR: [Cue; 3] = [Cue::Like, Cue::Love, Cue::Prefer];
    const AGAINST: [Cue; 2] = [Cue::Dislike, Cue::Hate];
    const RULES: [Cue; 5] = [
        Cue::Always,
        Cue::FromNowOn,
        Cue::Never,
        Cue::Remember,
        Cue::Decision,
    ];
    let has = |cues: &[Cue]| said.hits.iter().any(|hit| cues.contains(&hit.cue));
    let outright = match thing.direction {
        Direction::For => has(&FOR),
        Direction::Against => has(&AGAINST),
        Direction::Habit => false,
    };
    thing.plain
        || !said.setting.pasted && (outright || has(&RULES) || thing.kind == Kind::Imperative)
}

/// Whether the person forbids the thing, with a word of forbidding before it.
fn forbids(said: &Said, thing: &Thing) -> bool {
    thing.direction == Direction::Against
        && !said.setting.pasted
        && !matches!(thing.kind, Kind::Dislike | Kind::Habit)
        && said
            .hits
            .iter()
            .any(|hit| matches!(hit.cue, Cue::Never | Cue::Dont) && !said.is_quoted(hit.first))
}

/// The cues that led to a candidate: heading and phrase, then what the layout shows.
fn named(said: &Said) -> Vec<String> {
    let mut cues: Vec<String> = said
        .hits
        .iter()
        .filter(|hit| hit.cue.is_wish() && !said.is_quoted(hit.first))
        .map(|hit| {
            let phrase = &said.text[said.tokens[hit.first].start..said.tokens[hit.after - 1].end];
            format!("{}: {phrase}", hit.cue.name())
        })
        .collect();
    if said.text.contains("**") {
        cues.push("bold".to_owned());
    }
    if said.text.contains("!!") || said.text.contains("！！") {
        cues.push("!!".to_owned());
    }
    let words = said
        .tokens
        .iter()
        .filter(|token| token.shape != Shape::Mark)
        .count();
    if words > 1 && said.tokens.iter().filter(|token| token.capitals).count() * 2 > words {
        cues.push("capitals".to_owned());
    }
    cues.dedup();
    cues
}
