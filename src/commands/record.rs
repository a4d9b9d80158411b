//! Records one observation in a transaction: asks the store what is there, lets `merge` decide, writes it.

use super::limits::{Limits, stays_in_force};
use super::outcome::Outcome;
use crate::check::MOST_PATTERNS;
use crate::error::Failure;
use crate::merge::{self, Observation};
use crate::model::{
    Band, Origin, Preference, Score, TextError, check_text, fold, item_key, quoted,
};
use crate::poison::is_suspicion;
use crate::storage::Transaction;

/// The longest label that `--source` takes, in bytes.
const LONGEST_SOURCE: usize = 64;

/// Checks the texts of an observation, and prepares them for the store.
///
/// # Errors
/// A text that may not enter the store.
pub(super) fn prepare(mut seen: Observation) -> Result<Observation, TextError> {
    seen.item = check_text("item", &seen.item)?;
    if !seen.reason.trim().is_empty() {
        seen.reason = check_text("reason", &seen.reason)?;
    } else {
        seen.reason.clear();
    }
    seen.source = check_text("source", &seen.source)?;
    if seen.source.len() > LONGEST_SOURCE {
        return Err(TextError::TooLong {
            field: "source",
            bytes: seen.source.len(),
            most: LONGEST_SOURCE,
        });
    }
    Ok(seen)
}

/// Records a prepared observation. What speaks against one of the limits in force waits, unless the user says it.
///
/// # Errors
/// A new item without a reason, more patterns than an entry may have, and what the store reports.
pub(super) fn record(
    transaction: &mut Transaction<'_>,
    limits: &mut Limits,
    seen: &Observation,
) -> anyhow::Result<Outcome> {
    let key = item_key(&seen.item);
    let existing = transaction.view().entry_by_key(&key)?;
    if existing.is_none() && seen.reason.is_empty() {
        return Err(TextError::Empty { field: "reason" }.into());
    }
    // An agent that has no word of the user does not make a limit milder, not by a little either.
    let is_milder = seen.origin == Origin::Agent
        && seen.quote.is_none()
        && existing.as_ref().is_some_and(|entry| {
            entry.is_hard_limit() && seen.score.is_some_and(|score| score > entry.base_score)
        });
    let without_score;
    let seen = if is_milder {
        without_score = Observation {
            score: None,
            ..seen.clone()
        };
        &without_score
    } else {
        seen
    };
    if let Some(entry) = &existing {
        require_room(entry, seen)?;
    }
    let loosened = limits.loosened_by(seen, existing.as_ref());
    let new_uid = || transaction.new_uid();
    let merge = match loosened {
        Some(limit) if !seen.speaks_for_the_user() => {
            let why = merge::against_the_limit(&limit.item, &seen.item);
            merge::put_off(existing.as_ref(), seen, &why, transaction.now(), new_uid)
        }
        _ => merge::observe(existing.as_ref(), seen, transaction.now(), new_uid),
    };
    let score_before = existing.as_ref().map(|entry| entry.base_score.value());
    let existing_id = existing.as_ref().map(|entry| entry.id);
    let item = existing.map_or_else(|| seen.item.clone(), |entry| entry.item);
    let mut outcome = Outcome {
        result: merge.outcome.name(),
        id: existing_id,
        proposal: None,
        score_before,
        score_after: merge.score.map(Score::value),
        change: None,
        hint: hint(merge.outcome, &item).or_else(|| match merge.outcome {
            merge::Outcome::Added | merge::Outcome::Merged => doubt(seen, score_before, &item)
                .or_else(|| loosened.map(|limit| stays_in_force(limit.id, &limit.item))),
            _ => None,
        }),
        item,
    };
    if merge.outcome == merge::Outcome::Pending {
        let waiting = transaction
            .view()
            .proposals()?
            .into_iter()
            .find(|proposal| {
                item_key(&proposal.item) == key && proposal.score == seen.score.map(Score::value)
            });
        if let Some(proposal) = waiting {
            outcome.proposal = Some(proposal.id);
            outcome.hint = Some("it waits already, and nothing was added: aizo review".to_owned());
            return Ok(outcome);
        }
        let why = merge.change.why_it_waits();
        if let Some(why) = why.filter(|why| is_suspicion(why) || loosened.is_some()) {
            outcome.hint = Some(format!("{why}: it waits for a person: aizo review"));
        }
        let applied = transaction.apply(&merge.change)?;
        outcome.proposal = Some(applied.id);
        outcome.change = applied.line;
        return Ok(outcome);
    }
    let applied = transaction.apply(&merge.change)?;
    outcome.id = Some(applied.id);
    outcome.change = applied.line;
    if let Some(score) = merge.score.filter(|score| score.is_hard_limit())
        && let Some(entry) = transaction.view().entry(applied.id)?
    {
        limits.add(entry.id, &entry.item, &entry.keywords, score);
    }
    Ok(outcome)
}

/// Fails where an entry would get more patterns than it may have.
fn require_room(entry: &Preference, seen: &Observation) -> Result<(), Failure> {
    let most = MOST_PATTERNS;
    match merge::more_patterns(entry, seen) {
        Some(all) if all.len() > most => Err(Failure::usage(format!(
            "“{}” would have {} patterns; {most} is the most that an entry has, and nothing was changed",
            entry.item,
            all.len()
        ))
        .hint(format!(
            "join some by | and set all of them: aizo update {} --pattern 'A|B' --pattern C",
            quoted(&entry.item)
        ))),
        _ => Ok(()),
    }
}

fn hint(outcome: merge::Outcome, item: &str) -> Option<String> {
    match outcome {
        merge::Outcome::Kept => Some(format!(
            "a hard limit stays as it is; to lift it: aizo update {} --score N",
            quoted(item)
        )),
        merge::Outcome::Pending => Some("it waits for a person: aizo review".to_owned()),
        _ => None,
    }
}

/// Words that mostly come with a ban or a dislike. They only lead to a hint.
const AGAINST: &[&str] = &[
    "never",
    "don't",
    "dont",
    "do not",
    "hate",
    "hates",
    "avoid",
    "allergic",
    "dislike",
    "dislikes",
    "no more",
    "stop",
    "不要",
    "别",
    "不喜欢",
    "讨厌",
    "禁止",
    "过敏",
    "绝不",
    "嫌い",
    "やめて",
    "アレルギー",
    "싫",
    "금지",
    "알레르기",
];

/// What a person may have meant otherwise: a ban without a score, or a change of mind that was averaged.
fn doubt(seen: &Observation, score_before: Option<f64>, item: &str) -> Option<String> {
    let liked = |score: f64| score >= Band::Style.range().0;
    let disliked = |score: f64| score <= Band::Aversion.range().1;
    if let (Some(before), Some(now)) = (score_before, seen.score.map(Score::value))
        && (liked(before) && disliked(now) || disliked(before) && liked(now))
    {
        return Some(format!(
            "the scores were averaged; for a change of mind: aizo update {} --score {now}",
            quoted(item)
        ));
    }
    let against = speaks_against(&format!("{} {}", seen.item, seen.reason));
    (seen.score.is_none() && score_before.is_none() && against).then(|| {
        format!(
            "stored as something liked; for a ban: aizo update {0} --score 0.5, for a dislike: aizo update {0} --score 2.5",
            quoted(item)
        )
    })
}

/// Whether a text has a word that mostly comes with a ban or a dislike.
pub(super) fn speaks_against(text: &str) -> bool {
    let text = fold(text);
    AGAINST.iter().any(|word| place_of(word, &text).is_some())
}

/// A folded text without the words that mostly come with a ban or a dislike.
pub(super) fn without_bans(text: &str) -> String {
    let mut text = fold(text);
    for word in AGAINST {
        while let Some(at) = place_of(word, &text) {
            text.replace_range(at..at + word.len(), " ");
        }
    }
    text
}

/// Where a word stands in a folded text.
fn place_of(word: &str, text: &str) -> Option<usize> {
    let letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let mut places = text.match_indices(word).map(|(at, _)| at);
    places.find(|&at| {
        !word.is_ascii()
            || !letter(text[..at].chars().next_back())
                && !letter(text[at + word.len()..].chars().next())
    })
}
