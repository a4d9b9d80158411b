//! Decides whether a sentence holds lasting preferences, which way they point, and what kind of statement they are.

use super::cues::{Cue, Hit};
use super::features;
use super::forms::{self, Plain};
use super::item::span;
use super::language::Language;
use super::tokens::Shape;
use super::weights::{self, Section};
use super::{Reading, Said};
use crate::model::Kind;

/// Which way a preference points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Liked or wanted.
    For,
    /// Disliked or banned.
    Against,
    /// Neither: what the person usually does.
    Habit,
}

impl Direction {
    /// The answers of the verdict's weights, after "nothing".
    pub const ALL: [Direction; 3] = [Direction::For, Direction::Against, Direction::Habit];

    /// The name in data and features.
    pub fn name(self) -> &'static str {
        match self {
            Direction::For => "for",
            Direction::Against => "against",
            Direction::Habit => "habit",
        }
    }
}

/// Every kind, in the order of the answers of the kind's weights.
pub const KINDS: [Kind; 11] = [
    Kind::Always,
    Kind::Never,
    Kind::Like,
    Kind::Dislike,
    Kind::Praise,
    Kind::Complaint,
    Kind::Correction,
    Kind::Habit,
    Kind::Decision,
    Kind::Remember,
    Kind::Imperative,
];

/// A thing that a sentence names, and what was decided about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Thing {
    /// Its first token, and the one after its last.
    pub span: (usize, usize),
    /// Which way.
    pub direction: Direction,
    /// What kind of statement.
    pub kind: Kind,
    /// How sure it is that something lasting is meant, 0 to 1.
    pub confidence: f64,
    /// How sure it is whether it points against the thing or not, 0.5 to 1.
    pub certainty: f64,
    /// Whether both are sure enough to be learned; else a person is asked.
    pub sure: bool,
    /// Whether the statement is one of the plain forms.
    pub plain: bool,
}

/// From which confidence on something is said.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// From here on a candidate is learned.
    pub learned: f64,
    /// From here on it waits for a person.
    pub asked: f64,
    /// How sure it must be which way it points to be learned, 0.5 to 1.
    pub directed: f64,
}

impl Thresholds {
    /// As they ship, set on the tune half of `tests/data/extract`: the more examples of a language were learned from, the
    /// more its confidence can be trusted.
    pub fn of(language: Language) -> Self {
        match language {
            Language::English => Thresholds {
                learned: 0.58,
                asked: 0.4,
                directed: 0.65,
            },
            Language::Chinese => Thresholds {
                learned: 0.62,
                asked: 0.44,
                directed: 0.65,
            },
            _ => Thresholds {
                learned: 0.62,
                asked: 0.46,
                directed: 0.72,
            },
        }
    }
}

/// A sentence that is less likely than this to hold a preference is not looked at further.
const WORTH_A_LOOK: f64 = 0.12;

/// By how much a second thing in a sentence is less likely a preference than what stands around it says, in log odds: the
/// sentence as a whole spoke for the first one.
const SECOND: f64 = 3.5;

/// How much the thing's surroundings say about its direction, beside the whole sentence: 0 to 1.
const NEARBY: f64 = 0.7;

/// By how much a feeling that is said outright is likelier a preference than what was learned says, in log odds: the words
/// leave no other reading, however rare the thing is.
const OUTRIGHT: f64 = 1.5;

/// By how much a statement that is one of the plain forms is likelier a preference than what was learned says, in log odds.
const PLAIN: f64 = 4.0;

/// What is added for each further word that is the form's own, up to so many.
const OWN: f64 = 0.6;
const MOST_OWN: usize = 5;

/// What is added where it is a request put as a question: questions are seldom wishes, but these are.
const ASKED: f64 = 2.0;

/// How likely each answer is.
pub fn likelihoods(scores: &[f32]) -> Vec<f64> {
    let most = scores.iter().copied().fold(f32::MIN, f32::max);
    let shares: Vec<f64> = scores
        .iter()
        .map(|score| f64::from(score - most).exp())
        .collect();
    let total: f64 = shares.iter().sum();
    shares.into_iter().map(|share| share / total).collect()
}

/// Cues that say what somebody thinks of something.
const FEELINGS: [Cue; 5] = [Cue::Like, Cue::Love, Cue::Prefer, Cue::Dislike, Cue::Hate];

/// Whether a sentence begins with somebody else, who then likes or dislikes something: "my boss hates meetings".
fn is_about_somebody_else(said: &Said) -> bool {
    let feeling = said.hits.iter().find(|hit| FEELINGS.contains(&hit.cue));
    let somebody = said
        .hits
        .iter()
        .find(|hit| hit.cue == Cue::ThirdPerson && hit.first == 0);
    match (somebody, feeling) {
        (Some(somebody), Some(feeling)) => {
            let between = &said.tokens[somebody.after.min(feeling.first)..feeling.first];
            between.len() <= 3
                && !between
                    .iter()
                    .any(|token| matches!(token.folded.as_str(), "i" | "," | "and" | "but" | "so"))
        }
        _ => false,
    }
}

/// Whether the person says at the beginning of a sentence what they like or dislike, and nothing in it takes that back: "I hate
/// light mode", 我讨厌香菜.
fn is_outright(said: &Said) -> bool {
    const SAID: [Cue; 12] = [
        Cue::Like,
        Cue::Love,
        Cue::Prefer,
        Cue::Dislike,
        Cue::Hate,
        Cue::Me,
        Cue::Always,
        Cue::Never,
        Cue::Dont,
        Cue::Standing,
        Cue::Please,
        Cue::Remember,
    ];
    let feeling = said.hits.iter().find(|hit| FEELINGS.contains(&hit.cue));
    let begins = feeling.is_some_and(|feeling| {
        feeling.first == 0
            || said
                .hits
                .iter()
                .any(|hit| hit.cue == Cue::Me && hit.first == 0 && feeling.first <= hit.after + 1)
    });
    begins
        && said.hits.iter().all(|hit| SAID.contains(&hit.cue))
        && !said.text.contains(['?', '？', '"', '“', '「'])
        && !said.setting.pasted
}

/// Phrases in which a word of liking, disliking or forbidding says the reverse of itself, or nothing. What a sentence with
/// one of them means is not learned: a ban on "hesitating to ask" would be obeyed.
const TURNED_ROUND: [&str; 22] = [
    "never hesitate to",
    "don't hesitate to",
    "do not hesitate to",
    "i don't mind",
    "i do not mind",
    "i don't dislike",
    "i do not dislike",
    "i don't hate",
    "i do not hate",
    "i no longer hate",
    "i no longer dislike",
    "nothing against",
    "don't like that you never",
    "don't want you to stop",
    "can't live without",
    "cannot live without",
    "hate to bother",
    "couldn't agree more",
    "不讨厌",
    "不討厭",
    "离不开",
    "離不開",
];

/// Phrases by which a person says that they do not know yet: what they say then is asked about, however plain it is.
const UNDECIDED: [&str; 20] = [
    "maybe i ",
    "maybe we ",
    "perhaps i ",
    "not sure",
    "i'm unsure",
    "haven't decided",
    "have not decided",
    "can't decide",
    "cannot decide",
    "on the fence",
    "no idea if i",
    "也许我",
    "也許我",
    "可能我",
    "我可能",
    "不太确定",
    "不確定",
    "不确定",
    "还没想好",
    "還沒想好",
];

/// Whether a person says in a sentence that they do not know yet.
pub fn is_undecided(said: &Said) -> bool {
    let folded = crate::model::fold(&said.text).replace('’', "'");
    UNDECIDED.iter().any(|phrase| folded.contains(phrase))
}

/// Whether a sentence holds a phrase that turns its words round.
fn is_turned_round(said: &Said) -> bool {
    let folded = crate::model::fold(&said.text).replace('’', "'");
    TURNED_ROUND.iter().any(|phrase| folded.contains(phrase))
}

/// Whether a statement is the verb of an order or a word of praise and nothing else: "open", "continue", "great".
fn is_bare(said: &Said) -> bool {
    let words = said
        .tokens
        .iter()
        .filter(|token| token.shape != Shape::Mark);
    words.count() == 1
        && !said.hits.is_empty()
        && said
            .hits
            .iter()
            .all(|hit| matches!(hit.cue, Cue::Task | Cue::Praise | Cue::Thanks))
}

/// The things in one sentence that are preferences; none where nothing lasting is meant. The sentence as a whole and what
/// stands around the thing each say how likely it is, and count alike: the mean of their log odds.
pub fn judge(reading: &Reading, index: usize) -> Vec<Thing> {
    if reading.language == Language::English && is_about_somebody_else(&reading.said[index]) {
        return Vec::new();
    }
    if is_turned_round(&reading.said[index]) || is_bare(&reading.said[index]) {
        return Vec::new();
    }
    let found = features::of_sentence(reading, index);
    let whole = likelihoods(&weights::score(Section::Verdict, &found));
    if let Some(found) = forms::read(reading, index) {
        let things = plain(reading, index, &whole, found);
        if things.iter().all(|thing| thing.sure) {
            return things;
        }
    }
    if 1.0 - whole[0] < WORTH_A_LOOK {
        return Vec::new();
    }
    let mut by_likelihood = Direction::ALL;
    by_likelihood.sort_by(|&a, &b| whole[b as usize + 1].total_cmp(&whole[a as usize + 1]));
    let Some(span) = span(reading, index, by_likelihood[0], &[]) else {
        return Vec::new();
    };
    let thresholds = Thresholds::of(reading.language);
    let near = of_thing(reading, index, span);
    let outright = if is_outright(&reading.said[index]) {
        OUTRIGHT
    } else {
        0.0
    };
    let confidence = likelihood((odds(&whole) + odds(&near)) / 2.0 + outright);
    if confidence < thresholds.asked {
        return Vec::new();
    }
    let thing = |span, confidence: f64, shares: [f64; 3]| {
        let (mut direction, mut certainty) = direction(shares);
        let mut kind = kind(&reading.said[index], &found, span, direction);
        // An allergy is against its thing, in whatever words it is told, and nothing that may be weighed.
        if is_allergy(&reading.said[index]) {
            (direction, certainty, kind) = (Direction::Against, 1.0, Kind::Never);
        }
        Thing {
            span,
            direction,
            kind,
            confidence,
            certainty,
            sure: confidence >= thresholds.learned && certainty >= thresholds.directed,
            plain: false,
        }
    };
    let (by_whole, by_near) = (shares(&whole), shares(&near));
    let both = std::array::from_fn(|one| NEARBY * by_near[one] + (1.0 - NEARBY) * by_whole[one]);
    let mut things = vec![thing(span, confidence, both)];
    // "tabs, not spaces" names two.
    let second = by_likelihood
        .iter()
        .filter_map(|&direction| self::span(reading, index, direction, &[span]))
        .map(|span| (span, of_thing(reading, index, span)))
        .max_by(|(_, a), (_, b)| b[0].total_cmp(&a[0]))
        .map(|(span, near)| thing(span, likelihood(odds(&near) - SECOND), shares(&near)))
        .filter(|second| second.confidence >= thresholds.asked);
    things.extend(second);
    things
}

/// Weighs what a plain form says against the turn that it stands in.
fn plain(reading: &Reading, index: usize, whole: &[f64], found: Plain) -> Vec<Thing> {
    let thresholds = Thresholds::of(reading.language);
    let mut things = found.things;
    // The more of the words are the form's own, the less else the statement can mean.
    let own = found.known.saturating_sub(2).min(MOST_OWN) as f64;
    let plainness = PLAIN + OWN * own + if found.asks { ASKED } else { 0.0 };
    for thing in &mut things {
        let near = of_thing(reading, index, thing.span);
        thing.confidence = likelihood((odds(whole) + odds(&near)) / 2.0 + plainness);
        thing.sure = thing.confidence >= thresholds.learned;
    }
    // The first thing carries the others: "I like <+> but hate {+}".
    if let Some((first, others)) = things.split_first_mut() {
        for other in others {
            other.sure = first.sure;
            other.confidence = other.confidence.max(first.confidence);
        }
    }
    things
}

fn of_thing(reading: &Reading, index: usize, span: (usize, usize)) -> Vec<f64> {
    let found = features::of_thing(reading, index, span);
    likelihoods(&weights::score(Section::Thing, &found))
}

/// The log odds that it is something.
fn odds(likely: &[f64]) -> f64 {
    const LEAST: f64 = 1e-9;
    ((1.0 - likely[0] + LEAST) / (likely[0] + LEAST)).ln()
}

/// What log odds say as a likelihood.
fn likelihood(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}

/// How likely each direction is if it is something.
fn shares(likely: &[f64]) -> [f64; 3] {
    let total: f64 = likely[1..].iter().sum();
    std::array::from_fn(|one| likely[one + 1] / total)
}

/// The likeliest direction, and how sure it is whether that is against or not.
fn direction([likes, against, habit]: [f64; 3]) -> (Direction, f64) {
    if against > 0.5 {
        (Direction::Against, against)
    } else if likes >= habit {
        (Direction::For, 1.0 - against)
    } else {
        (Direction::Habit, 1.0 - against)
    }
}

/// Whether a word that bans stands beside a thing that is spoken against.
fn is_banned(said: &Said, (from, after): (usize, usize), direction: Direction) -> bool {
    let says = |cue: Cue| said.hits.iter().any(|hit| hit.cue == cue);
    direction == Direction::Against
        && !says(Cue::Fact)
        && !says(Cue::Complaint)
        && said.hits.iter().any(|hit| {
            let is_beside = hit.after <= from && from - hit.after <= 3
                || hit.first >= after && hit.first - after <= 2;
            hit.cue == Cue::Never && is_beside && !said.is_quoted(hit.first)
        })
}

/// Whether the person names an allergy, of their own or of somebody who eats with them, and does not deny it.
fn is_allergy(said: &Said) -> bool {
    let allergy = said.asides.iter().find(|hit| hit.cue == Cue::Allergy);
    allergy.is_some_and(|allergy| {
        let denies = |hit: &Hit| {
            matches!(hit.cue, Cue::Not | Cue::NoLonger | Cue::UsedTo)
                && hit.first.abs_diff(allergy.first) <= 4
        };
        !said.hits.iter().chain(&said.asides).any(denies) && !said.text.contains(['?', '？', '؟'])
    })
}

fn kind(said: &Said, found: &[u32], span: (usize, usize), direction: Direction) -> Kind {
    let bans = is_banned(said, span, direction);
    let kinds = likelihoods(&weights::score(Section::Kind, found));
    let has = |cue: Cue| said.hits.iter().any(|hit| hit.cue == cue);
    (0..KINDS.len())
        .filter(|&kind| fits(KINDS[kind], direction))
        // A ban stops an agent: it takes a word that bans, and where one stands beside what is spoken against, it is one.
        .filter(|&kind| KINDS[kind] != Kind::Never || has(Cue::Never))
        .filter(|&kind| !bans || KINDS[kind] == Kind::Never)
        .max_by(|&a, &b| kinds[a].total_cmp(&kinds[b]))
        .map_or(Kind::Imperative, |kind| KINDS[kind])
}

/// Whether a kind of statement can point this way.
fn fits(kind: Kind, direction: Direction) -> bool {
    match kind {
        Kind::Never | Kind::Dislike => direction == Direction::Against,
        Kind::Like | Kind::Praise | Kind::Always => direction == Direction::For,
        Kind::Habit => direction == Direction::Habit,
        _ => direction != Direction::Habit,
    }
}
