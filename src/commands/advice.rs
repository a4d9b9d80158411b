//! What `add` says of names that may not be what was meant: a kind of task that looks like a known one, and an item that
//! says no where the score says it too.

use super::Context;
use crate::check::{Detector, Typed};
use crate::merge::{Observation, thing_of};
use crate::model::{Band, Origin, Score, quoted};

/// So many items are advised on at once.
const MOST: usize = 3;

/// Says what may not be meant.
pub(super) fn advise(context: &Context, observations: &[&Observation]) {
    let mut names: Vec<&String> = observations
        .iter()
        .flat_map(|seen| &seen.scenarios)
        .collect();
    names.sort();
    names.dedup();
    if !names.is_empty() {
        let scenarios = context.scenarios();
        for name in names {
            if let Some(known) = scenarios.looking_like(name) {
                context.note(format!(
                    "“{name}” is no known scenario: did you mean “{known}”? It is stored as a tag of its own"
                ));
            }
        }
    }
    let says_no_twice = observations.iter().filter_map(|seen| {
        let thing = thing_of(&seen.item)?;
        let is_low = |score: Score| matches!(score.band(), Band::Taboo | Band::Aversion);
        seen.score
            .filter(|score| is_low(*score))
            .map(|_| (&seen.item, thing))
    });
    for (item, thing) in says_no_twice.take(MOST) {
        context.note(format!(
            "“{item}” says no by itself, and its low score says it again: name the thing (“{thing}”) and let the score \
             say it, or give what is liked a high score"
        ));
    }
}

/// Says which detectors were named without an `@`: their names could be meant as words.
pub(super) fn say_bare(context: &Context, typed: &Typed) {
    for detector in &typed.bare {
        let name = detector.name();
        context.note(format!(
            "`{name}` is the detector @{name}; for the word itself: --pattern '\\b{name}\\b'"
        ));
    }
}

/// Says where patterns have no effect, and where there could be one.
pub(super) fn advise_on_patterns(context: &Context, observations: &[&Observation]) {
    let is_limit = |seen: &Observation| seen.score.is_some_and(Score::is_hard_limit);
    for seen in observations.iter().take(MOST) {
        if !seen.patterns.is_empty() && !is_limit(seen) {
            context.note(format!(
                "the pattern of “{}” counts while it is a hard limit (score 0 to 1.5); for dislikes: aizo check --all",
                seen.item
            ));
        }
        if seen.patterns.is_empty() && is_limit(seen) && seen.origin == Origin::User {
            for detector in Detector::named_by(&seen.item) {
                context.note(format!(
                    "to have it checked for certain: aizo update {} --pattern @{}",
                    quoted(&seen.item),
                    detector.name()
                ));
            }
        }
    }
}
