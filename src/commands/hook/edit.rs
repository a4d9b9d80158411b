//! What an edit of a file breaks that the file did not break before: what also stands in the text that it replaces is not
//! its doing.

use std::ops::Range;

use crate::check::{Certainty, Input};
use crate::commands::check::Checked;

/// So many things that stood there already are looked past, one round each.
const MOST_ROUNDS: usize = 64;
/// And so many bytes are looked at in all rounds together.
const MOST_BYTES: usize = 4 << 20;

/// What is found in an edit, but for what stands in the old text as often. Where that is too much to tell, it is no more than
/// possible.
pub(super) fn new_in(edit: &Input<'_>, old: &str, hold: impl Fn(&Input<'_>) -> Checked) -> Checked {
    let mut checked = hold(edit);
    let mut written = edit.text.to_owned();
    let rounds = (MOST_BYTES / written.len().max(1)).clamp(1, MOST_ROUNDS);
    for _ in 0..rounds {
        let Some(next) = without_old(&checked, &written, edit.is_patch, old) else {
            return checked;
        };
        written = next;
        checked = hold(&Input {
            text: &written,
            ..*edit
        });
    }
    if without_old(&checked, &written, edit.is_patch, old).is_some() {
        checked.violated = false;
        for violation in &mut checked.violations {
            violation.certainty = violation.certainty.max(Certainty::Words);
        }
    }
    checked
}

/// What is written, with blanks in the place of what was found in it and is old; nothing where all that was found is new.
fn without_old(checked: &Checked, written: &str, is_patch: bool, old: &str) -> Option<String> {
    let mut left = written.to_owned();
    let mut is_less = false;
    for violation in &checked.violations {
        let (Some(start), Some(end)) = (violation.start, violation.end) else {
            continue;
        };
        let found = written.get(start..end).unwrap_or_default();
        if found.trim().is_empty() {
            continue;
        }
        let places = places(&left, is_patch, found);
        if !places.is_empty() && places.len() <= old.matches(found).count() {
            left = blanked(&left, &places);
            is_less = true;
        }
    }
    is_less.then_some(left)
}

/// Where something stands in what is written: of a patch, in its added lines.
fn places(written: &str, is_patch: bool, what: &str) -> Vec<Range<usize>> {
    let range = |at: usize| at..at + what.len();
    if !is_patch {
        return written
            .match_indices(what)
            .map(|(at, _)| range(at))
            .collect();
    }
    let mut start = 0;
    let mut found = Vec::new();
    for line in written.split_inclusive('\n') {
        if let Some(added) = line.strip_prefix('+') {
            let there = added.match_indices(what);
            found.extend(there.map(|(at, _)| range(start + 1 + at)));
        }
        start += line.len();
    }
    found
}

/// A text with a blank for each character of these places.
fn blanked(text: &str, places: &[Range<usize>]) -> String {
    let mut blanked = String::with_capacity(text.len());
    let mut at = 0;
    for place in places {
        blanked.push_str(&text[at..place.start]);
        blanked.extend(text[place.clone()].chars().map(|_| ' '));
        at = place.end;
    }
    blanked.push_str(&text[at..]);
    blanked
}
