//! Finds the entries that words on a command line mean.

use std::borrow::Cow;

use crate::error::{Failure, Kind};
use crate::model::{Preference, Subject, item_key};
use crate::redact::redact;
use crate::storage::View;

/// How alike two names must be for one to be suggested for the other; 1 is the same.
const ALIKE: f64 = 0.8;

/// The words of one or more names.
#[derive(Debug, Clone)]
pub(super) struct Named {
    /// What was typed, joined.
    pub typed: String,
    /// The entry; none when there is no such one.
    pub entry: Option<Preference>,
}

/// A number that stands for an id: `12`, or `#12`.
fn id(word: &str) -> Option<i64> {
    word.strip_prefix('#')
        .unwrap_or(word)
        .parse()
        .ok()
        .filter(|&id| id > 0)
}

/// Finds the one entry that the words name: an item of that name, else an id.
///
/// # Errors
/// No such entry; the nearest name is the hint.
pub(super) fn one(view: &View<'_>, words: &[String]) -> anyhow::Result<Preference> {
    let typed = words.join(" ");
    match find(view, &typed)? {
        Some(entry) => Ok(entry),
        None => Err(missing(view, &typed)?.into()),
    }
}

/// Finds the entries with these ids; words that are none are taken as an item.
pub(super) fn by_ids(view: &View<'_>, words: &[String]) -> anyhow::Result<Vec<Named>> {
    let typed = words.join(" ");
    let parts = parts(&typed);
    if !parts.iter().all(|part| id(part).is_some()) {
        return several(view, words);
    }
    let mut found: Vec<Named> = Vec::new();
    for part in parts {
        let entry = match id(part) {
            Some(id) => view.entry(id)?,
            None => None,
        };
        push_new(&mut found, part, entry);
    }
    Ok(found)
}

/// Finds the entries that the words name: one item in several words, or several ids.
pub(super) fn several(view: &View<'_>, words: &[String]) -> anyhow::Result<Vec<Named>> {
    let typed = words.join(" ");
    if let Some(entry) = find(view, &typed)? {
        return Ok(vec![Named {
            typed,
            entry: Some(entry),
        }]);
    }
    let parts = parts(&typed);
    if parts.len() > 1 && parts.iter().all(|part| id(part).is_some()) {
        let mut found: Vec<Named> = Vec::new();
        for part in parts {
            let entry = find(view, part)?;
            push_new(&mut found, part, entry);
        }
        return Ok(found);
    }
    Ok(vec![Named { typed, entry: None }])
}

/// The words of a list of ids.
fn parts(typed: &str) -> Vec<&str> {
    typed
        .split([' ', ','])
        .filter(|part| !part.is_empty())
        .collect()
}

/// Adds a name, unless its entry is there under another one.
fn push_new(found: &mut Vec<Named>, typed: &str, entry: Option<Preference>) {
    let is_new = found.iter().all(|named| match (&named.entry, &entry) {
        (Some(known), Some(entry)) => known.id != entry.id,
        (None, None) => named.typed != typed,
        _ => true,
    });
    if is_new {
        found.push(Named {
            typed: typed.to_owned(),
            entry,
        });
    }
}

fn find(view: &View<'_>, typed: &str) -> anyhow::Result<Option<Preference>> {
    let key = item_key(typed);
    if key.is_empty() {
        return Err(Failure::usage("the item is empty").into());
    }
    if let Some(entry) = view.entry_by_key(&key)? {
        return Ok(Some(entry));
    }
    // A name that held a secret is stored with a mark in it.
    if let Cow::Owned(clean) = redact(typed).text
        && let Some(entry) = view.entry_by_key(&item_key(&clean))?
    {
        return Ok(Some(entry));
    }
    match id(typed.trim()) {
        Some(id) => Ok(view.entry(id)?),
        None => Ok(None),
    }
}

/// The conversation that a word means: its name, the only one that begins so, or its number in `aizo sessions`. What is
/// none of these stays as it was typed.
///
/// # Errors
/// Several conversations that begin so.
pub(super) fn conversation(view: &View<'_>, typed: &str) -> anyhow::Result<String> {
    /// A shorter beginning says too little.
    const SHORTEST: usize = 4;
    let known = view.analysed_sessions()?;
    let begins = |name: &str| {
        let session = name.split_once('/').map_or(name, |(_, session)| session);
        (
            name == typed || session == typed,
            session.starts_with(typed) || name.starts_with(typed),
        )
    };
    if known.iter().any(|one| begins(&one.name).0) {
        return Ok(typed.to_owned());
    }
    let by_number = known.iter().find(|one| typed == one.id.to_string());
    if let Some(one) = by_number {
        return Ok(one.name.clone());
    }
    let mut found = known
        .iter()
        .filter(|one| typed.len() >= SHORTEST && begins(&one.name).1);
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one.name.clone()),
        (Some(one), Some(other)) => Err(Failure::new(
            Kind::Conflict,
            format!("{} and {} both begin with “{typed}”", one.name, other.name),
        )
        .hint("aizo sessions lists the conversations")
        .into()),
        _ => Ok(typed.to_owned()),
    }
}

/// Fails when none of the names is there.
pub(super) fn require_any(view: &View<'_>, named: &[Named]) -> anyhow::Result<()> {
    if named.iter().any(|name| name.entry.is_some()) {
        return Ok(());
    }
    match named {
        [one] => match no_ids_among(&one.typed) {
            Some(words) => Err(Failure::new(
                Kind::NotFound,
                format!("no entry is named “{}”, and {words} no id", one.typed),
            )
            .hint("several entries can only be given as ids: aizo show lists them")
            .into()),
            None => Err(missing(view, &one.typed)?.into()),
        },
        _ => Err(Failure::new(Kind::NotFound, "none of these entries exists")
            .hint("aizo show lists the entries")
            .into()),
    }
}

/// The words that are no ids in what looks like a list of ids: `“abc” is`.
fn no_ids_among(typed: &str) -> Option<String> {
    let parts = parts(typed);
    let others: Vec<String> = parts
        .iter()
        .filter(|part| id(part).is_none())
        .map(|part| format!("“{part}”"))
        .collect();
    let are = if others.len() == 1 { "is" } else { "are" };
    let is_a_list = id(parts.first()?).is_some() && !others.is_empty();
    is_a_list.then(|| format!("{} {are}", others.join(", ")))
}

/// The failure for a name that is not there, with the nearest one that is.
pub(super) fn missing(view: &View<'_>, typed: &str) -> anyhow::Result<Failure> {
    let key = item_key(typed);
    let message = match id(typed.trim()) {
        Some(id) => format!("no entry has the id {id} or that name"),
        None => format!("no entry is named “{typed}”"),
    };
    let failure = Failure::new(Kind::NotFound, message);
    if let Some(uid) = view.removed_by_key(&key)? {
        let lines = view.journal(Some(&Subject::Entry(uid)), 1)?;
        if let Some(line) = lines.first() {
            return Ok(failure.hint(format!(
                "it was removed by change {0}: aizo undo {0}",
                line.seq
            )));
        }
    }
    let mut nearest: Option<(f64, String)> = None;
    view.each_preference(|entry| {
        let other = item_key(&entry.item);
        let alike = if other.contains(&key) || key.contains(&other) {
            ALIKE
        } else {
            strsim::jaro_winkler(&key, &other)
        };
        if alike >= ALIKE && nearest.as_ref().is_none_or(|(best, _)| alike > *best) {
            nearest = Some((alike, entry.item));
        }
    })?;
    Ok(match nearest {
        Some((_, item)) => failure.hint(format!("did you mean “{item}”?")),
        None => failure.hint("aizo show lists the entries"),
    })
}

/// The failure for a store that does not exist yet.
pub(super) fn nothing_stored(typed: &str) -> Failure {
    Failure::new(
        Kind::NotFound,
        format!("no entry is named “{typed}”: nothing is stored yet"),
    )
    .hint("aizo add ITEM REASON stores something")
}
