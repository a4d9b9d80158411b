//! What becomes of what an agent is about to do: a certain breach of a hard limit is refused, a possible one is for the
//! person to decide.

use std::collections::HashSet;

use super::edit::new_in;
use super::memory;
use crate::capture::hook::{Planned, Reply};
use crate::check::{Certainty, Input, are_all_of, calls_only};
use crate::commands::Context;
use crate::commands::check::{Checked, Violation, hard_limits, hold_against};
use crate::model::{Preference, strip_hidden};

/// This many limits are named in one reply.
const MOST_NAMED: usize = 3;

/// What a planned action breaks. Of one of which the end is not known, no more can be said than that it may.
pub(super) fn verdict(
    planned: &[Planned],
    is_whole: bool,
    context: &Context,
) -> anyhow::Result<Reply> {
    if planned.is_empty() {
        return Ok(Reply::Nothing);
    }
    let limits = hard_limits(context)?;
    if limits.is_empty() {
        return Ok(Reply::Nothing);
    }
    let mut broken = Vec::new();
    let mut doubtful = Vec::new();
    let mut questions = Vec::new();
    for one in planned {
        let (certain, others) = look_at(one, &limits, context);
        broken.extend(certain);
        doubtful.extend(others);
        questions.extend(memory::question(one, context)?);
    }
    if !broken.is_empty() {
        return Ok(Reply::Deny(sentence(&broken, "This breaks")));
    }
    if !doubtful.is_empty() {
        questions.insert(0, sentence(&doubtful, "This may break"));
    }
    if !is_whole {
        questions
            .push("Its end is not known, so that it may break a hard limit of the user.".into());
    }
    Ok(match questions.is_empty() {
        true => Reply::Nothing,
        false => Reply::Ask(questions.join("\n")),
    })
}

/// What an action breaks for certain, and what it may break.
fn look_at(
    planned: &Planned,
    limits: &[Preference],
    context: &Context,
) -> (Vec<Violation>, Vec<Violation>) {
    // The words of a limit stand in many a file that does not break it, so that of an edit only patterns count.
    let (checked, words_count) = match planned {
        // What aizo is asked about a limit does not break it.
        Planned::Command(command) if calls_only("aizo", command) => (Checked::default(), false),
        Planned::Command(command) => (
            hold_against(limits, &Input::command(command), context),
            true,
        ),
        Planned::Text(text) => (hold_against(limits, &Input::message(text), context), true),
        Planned::Edit {
            path,
            text,
            old,
            is_patch,
        } => {
            let edit = Input {
                is_patch: *is_patch,
                ..Input::edit(path.as_deref(), text)
            };
            let hold = |input: &Input<'_>| hold_against(limits, input, context);
            (new_in(&edit, old, hold), false)
        }
        Planned::Memory { .. } => (Checked::default(), false),
    };
    let (certain, others): (Vec<Violation>, Vec<Violation>) = checked
        .violations
        .into_iter()
        .partition(|violation| violation.certainty == Certainty::Pattern);
    let others = others
        .into_iter()
        .filter(|violation| {
            let limit = limits.iter().find(|limit| limit.id == violation.id);
            // Where a pattern tells what breaks a limit, its words tell nothing more.
            let is_told = limit.is_some_and(|limit| !limit.patterns.is_empty());
            asks(violation, words_count && !is_told)
        })
        .collect();
    (certain, others)
}

/// Whether what was found is a reason to ask. A keyword stands in most commands that have to do with it: a pattern asks, and
/// the words of the whole item. Who only looks for something is not held up.
fn asks(violation: &Violation, words_count: bool) -> bool {
    violation.certainty == Certainty::Words
        && !violation.is_idle
        && (violation.pattern.is_some()
            || words_count && are_all_of(&violation.item, &violation.matched))
}

/// The limits and the user's own words about them, each limit once.
fn sentence(violations: &[Violation], breaks: &str) -> String {
    let mut seen = HashSet::new();
    let mut parts: Vec<String> = violations
        .iter()
        .filter(|violation| seen.insert(violation.id))
        .map(|violation| {
            // What was learned keeps the user's own sentence as its reason.
            let words = match (violation.reason.as_str(), violation.source.as_str()) {
                ("", _) => String::new(),
                (said, "analysis") => format!(" The user has said: “{said}”."),
                (reason, _) => format!(" The reason: {reason}."),
            };
            shown(&format!(
                "{breaks} a hard limit of the user: {} ({}).{words} Only the user can lift it: {}",
                violation.item,
                violation.why(),
                violation.lift
            ))
        })
        .collect();
    let more = parts.len().saturating_sub(MOST_NAMED);
    parts.truncate(MOST_NAMED);
    if more > 0 {
        parts.push(format!("And {more} more: aizo check says which."));
    }
    parts.join("\n")
}

/// A sentence in which nothing can end a block or colour a terminal.
pub(super) fn shown(text: &str) -> String {
    strip_hidden(text).replace('<', "‹").replace('>', "›")
}
