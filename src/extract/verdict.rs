//! Decides whether a sentence holds a lasting preference, which way it points, and what kind of statement it is.

use super::cues::Cue;
use super::features;
use super::language::Language;
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

/// What was decided about a sentence.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Which way.
    pub direction: Direction,
    /// What kind of statement.
    pub kind: Kind,
    /// How sure, 0 to 1.
    pub confidence: f64,
    /// Whether it is sure enough to be learned; else a person is asked.
    pub sure: bool,
}

/// From which confidence on something is said.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// From here on a candidate is learned.
    pub learned: f64,
    /// From here on it waits for a person.
    pub asked: f64,
}

impl Thresholds {
    /// As they ship, set on the tune half of `tests/data/extract`: the more examples of a language were learned from, the
    /// more its confidence can be trusted.
    pub fn of(language: Language) -> Self {
        match language {
            Language::English => Thresholds {
                learned: 0.42,
                asked: 0.33,
            },
            Language::Chinese => Thresholds {
                learned: 0.62,
                asked: 0.48,
            },
            _ => Thresholds {
                learned: 0.66,
                asked: 0.52,
            },
        }
    }
}

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

/// Whether a sentence begins with somebody else, who then likes or dislikes something: "my boss hates meetings".
fn is_about_somebody_else(said: &Said) -> bool {
    const FEELINGS: [Cue; 5] = [Cue::Like, Cue::Love, Cue::Prefer, Cue::Dislike, Cue::Hate];
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

/// Judges one sentence; nothing comes back where nothing lasting is meant.
pub fn judge(reading: &Reading, index: usize) -> Option<Verdict> {
    if reading.language == Language::English && is_about_somebody_else(&reading.said[index]) {
        return None;
    }
    let found = features::of_sentence(reading, index);
    let likely = likelihoods(&weights::score(Section::Verdict, &found));
    let confidence = 1.0 - likely[0];
    if confidence < Thresholds::of(reading.language).asked {
        return None;
    }
    let best = (1..likely.len()).max_by(|&a, &b| likely[a].total_cmp(&likely[b]))?;
    let direction = Direction::ALL[best - 1];
    let kinds = likelihoods(&weights::score(Section::Kind, &found));
    let said = &reading.said[index];
    let has = |cue: Cue| said.hits.iter().any(|hit| hit.cue == cue);
    let kind = (0..KINDS.len())
        .filter(|&kind| fits(KINDS[kind], direction))
        // A ban stops an agent: it takes a word that bans.
        .filter(|&kind| KINDS[kind] != Kind::Never || has(Cue::Never))
        .max_by(|&a, &b| kinds[a].total_cmp(&kinds[b]))
        .map_or(Kind::Imperative, |kind| KINDS[kind]);
    Some(Verdict {
        direction,
        kind,
        confidence,
        sure: confidence >= Thresholds::of(reading.language).learned,
    })
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
