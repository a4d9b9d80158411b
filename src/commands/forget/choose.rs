//! Which records the words mean: those of an entry by its name or id, those that are gone and had that name, else the entry
//! whose item holds the words. Words that no item holds can stand in what was said of others.

use crate::commands::resolve;
use crate::error::{Failure, Kind};
use crate::merge::Thing;
use crate::model::{Subject, quoted};
use crate::storage::{Mention, Record, View};

/// What the words mean.
pub(super) enum Choice {
    /// These records, all of them: they have this name, or this id.
    Records(Vec<Record>),
    /// The records of the only name that holds these words.
    Part(Vec<Record>),
    /// One of several entries.
    Several(Vec<Record>),
    /// No record, but what is said of others.
    Said {
        /// The words.
        words: String,
        /// Whether something of that name was forgotten.
        was_forgotten: bool,
    },
}

/// Finds what the words mean; with `all_evidence` also where they stand in what was said of other entries alone.
///
/// # Errors
/// Nothing of that name; entries that only speak of it are named.
pub(super) fn choose(
    view: &View<'_>,
    words: &[String],
    all_evidence: bool,
) -> anyhow::Result<Choice> {
    let typed = words.join(" ");
    let named = resolve::several(view, words)?;
    let all = view.records()?;
    let mut items: Vec<String> = Vec::new();
    for name in &named {
        match &name.entry {
            Some(entry) => items.push(entry.item.clone()),
            // What is gone has a name, and no id any more.
            None if all.iter().any(|record| record.is_called(&name.typed)) => {
                items.push(name.typed.clone());
            }
            None if named.len() > 1 => {
                let message = format!(
                    "no entry has the id {}, and nothing was forgotten",
                    name.typed
                );
                return Err(Failure::new(Kind::NotFound, message)
                    .hint("aizo show lists the entries")
                    .into());
            }
            None => return by_words(view, all, &typed, all_evidence),
        }
    }
    Ok(Choice::Records(called(all, &items)))
}

/// Everything of these names: the entry, proposals about it, and what is gone.
fn called(mut all: Vec<Record>, items: &[String]) -> Vec<Record> {
    all.retain(|record| items.iter().any(|item| record.is_called(item)));
    all
}

fn by_words(
    view: &View<'_>,
    all: Vec<Record>,
    typed: &str,
    all_evidence: bool,
) -> anyhow::Result<Choice> {
    let was_forgotten = view.forgotten_names()?.keep_out(typed, None);
    let said = || Choice::Said {
        words: typed.to_owned(),
        was_forgotten,
    };
    let is_erasable = |speaking: &[Mention]| speaking.iter().any(Mention::loses_words);
    // The whole name of what is gone, and no part of another one.
    if all_evidence && was_forgotten && is_erasable(&view.mentions_of(&[typed], true)?) {
        return Ok(said());
    }
    let thing = Thing::of(typed);
    let by_item = |record: &&Record| thing.is_spoken_of_in(&record.item);
    let is_entry =
        |record: &&Record| record.id.is_some() && matches!(record.subject, Subject::Entry(_));
    let found: Vec<Record> = all
        .iter()
        .filter(is_entry)
        .filter(by_item)
        .cloned()
        .collect();
    let mut found = match found.is_empty() {
        false => found,
        true => all.iter().filter(by_item).cloned().collect(),
    };
    if let Some(first) = found.first().map(|record| record.item.clone()) {
        found.retain(|record| !record.is_called(&first));
        return match found.is_empty() {
            true => Ok(Choice::Part(called(all, &[first]))),
            false => Ok(Choice::Several(
                all.into_iter().filter(|record| by_item(&record)).collect(),
            )),
        };
    }
    let speaking = view.mentions_of(&[typed], true)?;
    match is_erasable(&speaking) {
        true if all_evidence => Ok(said()),
        can_be_erased => Err(only_spoken_of(view, &speaking, typed, can_be_erased)?.into()),
    }
}

/// The failure where no item holds the words: who speaks of it otherwise, or what is near.
fn only_spoken_of(
    view: &View<'_>,
    speaking: &[Mention],
    typed: &str,
    can_be_erased: bool,
) -> anyhow::Result<Failure> {
    const MOST: usize = 10;
    let named = speaking.iter().map(|one| match one.id {
        Some(id) => format!("{id} “{}”", one.item),
        None => "the history".to_owned(),
    });
    let mut named: Vec<String> = named.collect();
    named.dedup();
    if named.is_empty() {
        return resolve::missing(view, typed);
    }
    named.truncate(MOST);
    let message = format!(
        "no entry is named “{typed}”, and nothing was forgotten; it is spoken of in {}",
        named.join(", ")
    );
    let hint = match can_be_erased {
        true => format!("aizo forget {} --all-evidence", quoted(typed)),
        false => "aizo forget ID".to_owned(),
    };
    Ok(Failure::new(Kind::NotFound, message).hint(hint))
}
