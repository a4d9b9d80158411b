//! Which records the words mean: those of an entry by its name or id, those that are gone and had that name, else the entry
//! whose item holds the words.

use crate::commands::resolve;
use crate::error::{Failure, Kind};
use crate::merge::Thing;
use crate::model::Subject;
use crate::storage::{Record, View};

/// What the words mean.
pub(super) enum Choice {
    /// These records, all of them.
    Records(Vec<Record>),
    /// One of several entries.
    Several(Vec<Record>),
}

/// Finds what the words mean.
///
/// # Errors
/// Nothing of that name; entries that only speak of it are named.
pub(super) fn choose(view: &View<'_>, words: &[String]) -> anyhow::Result<Choice> {
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
            None => return by_words(view, all, &typed),
        }
    }
    Ok(Choice::Records(called(all, &items)))
}

/// Everything of these names: the entry, proposals about it, and what is gone.
fn called(mut all: Vec<Record>, items: &[String]) -> Vec<Record> {
    all.retain(|record| items.iter().any(|item| record.is_called(item)));
    all
}

fn by_words(view: &View<'_>, all: Vec<Record>, typed: &str) -> anyhow::Result<Choice> {
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
            true => Ok(Choice::Records(called(all, &[first]))),
            false => Ok(Choice::Several(
                all.into_iter().filter(|record| by_item(&record)).collect(),
            )),
        };
    }
    Err(only_spoken_of(view, &thing, typed)?.into())
}

/// The failure where no item holds the words: who speaks of it otherwise, or what is near.
fn only_spoken_of(view: &View<'_>, thing: &Thing, typed: &str) -> anyhow::Result<Failure> {
    const MOST: usize = 10;
    let mut speaking = Vec::new();
    view.each_preference(|entry| {
        let texts = [entry.reason.as_str(), &entry.keywords.join(", ")].map(str::to_owned);
        if texts.iter().any(|text| thing.is_spoken_of_in(text)) {
            speaking.push(format!("{} “{}”", entry.id, entry.item));
        }
    })?;
    if speaking.is_empty() {
        return resolve::missing(view, typed);
    }
    speaking.truncate(MOST);
    let message = format!(
        "no entry is named “{typed}”, and nothing was forgotten; it is spoken of in {}",
        speaking.join(", ")
    );
    Ok(Failure::new(Kind::NotFound, message).hint("aizo forget ID"))
}
