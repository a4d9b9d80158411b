//! What becomes of one file: from its bytes and what is recorded of it to its new bytes, and back. Pure.

use std::path::{Path, PathBuf};

use super::jsonc::{self, Dialect, Place};
use super::recipe::{Content, Item, Part, Piece, calls, serves};
use super::record::{Change, FileRecord};
use super::toml;
use crate::capture::hook::Caller;
use crate::files::Fault;
use crate::model::stable_name;

/// One file and what a host gets in it.
pub struct Step {
    /// The host.
    pub host: Caller,
    /// For whom, as the record names it.
    pub scope: String,
    /// The file.
    pub path: PathBuf,
    /// What belongs into the file.
    pub pieces: Vec<Piece>,
    /// The file as it is; nothing where it is not there. Then as it will be.
    pub bytes: Option<Vec<u8>>,
    /// What is recorded of it. Then what will be.
    pub record: Option<FileRecord>,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was made.
    Created,
    /// Something was added, or taken out.
    Changed,
    /// It is as it should be.
    Unchanged,
    /// Something of somebody else's stands there instead, and stays.
    Kept(&'static str),
    /// It was removed.
    Removed,
    /// There is nothing of aizo's.
    Absent,
    /// Something that aizo put there cannot be taken out.
    Left,
}

/// A file that is not aizo's but stands where its file would.
const NOT_OURS: &str = "it is not as aizo wrote it, so it is left as it is";
/// An entry that somebody made by hand.
const BY_HAND: &str = "it has an entry of your own for aizo, which is left as it is";
const WAS_THERE: &str = "it was there before aizo was installed";
const STILL_USED: &str = "another host uses it";

/// Puts into a file what belongs there.
///
/// # Errors
/// The file cannot be read, and in which line.
pub fn install(step: &mut Step) -> Result<Outcome, Fault> {
    let mut record = match step.record.clone() {
        // Who has removed the file has removed what was recorded of it.
        Some(record) if step.bytes.is_some() => record,
        earlier => FileRecord {
            path: step.path.clone(),
            scope: step.scope.clone(),
            existed: step.bytes.is_some(),
            agents: earlier.map(|record| record.agents).unwrap_or_default(),
            ..FileRecord::default()
        },
    };
    let before = step.bytes.clone();
    let mut kept = None;
    for piece in &step.pieces {
        let bytes = step.bytes.take();
        let (after, by_hand) = match &piece.content {
            Content::Whole(content) => whole(content, bytes, &mut record),
            _ => among_others(step.host, piece, bytes, before.is_some(), &mut record)?,
        };
        step.bytes = after;
        kept = kept.or(by_hand);
    }
    if kept == Some(NOT_OURS) {
        return Ok(Outcome::Kept(NOT_OURS));
    }
    let name = step.host.name().to_owned();
    if !record.serves(&name) {
        record.agents.push(name);
    }
    step.record = Some(record);
    Ok(match (before, kept) {
        (None, _) => Outcome::Created,
        (before, _) if before != step.bytes => Outcome::Changed,
        (_, Some(reason)) => Outcome::Kept(reason),
        _ => Outcome::Unchanged,
    })
}

type After = (Option<Vec<u8>>, Option<&'static str>);

fn whole(content: &str, bytes: Option<Vec<u8>>, record: &mut FileRecord) -> After {
    match bytes {
        Some(bytes) if bytes == content.as_bytes() => (Some(bytes), None),
        Some(bytes) if record.whole.as_ref() != Some(&mark(&bytes)) => {
            (Some(bytes), Some(NOT_OURS))
        }
        _ => {
            record.whole = Some(mark(content.as_bytes()));
            (Some(content.as_bytes().to_vec()), None)
        }
    }
}

/// What a file of aizo's is known by in the record.
fn mark(bytes: &[u8]) -> String {
    stable_name(&[&String::from_utf8_lossy(bytes)])
}

fn among_others(
    host: Caller,
    piece: &Piece,
    bytes: Option<Vec<u8>>,
    existed: bool,
    record: &mut FileRecord,
) -> Result<After, Fault> {
    let mut text = decoded(bytes.unwrap_or_default())?;
    let mut state = look(host, piece, &text, record)?;
    let is_own = |change: &Change| change.agent == host.name() && change.part == piece.part;
    if state.contains(&State::Earlier) {
        // What an earlier version wrote makes room for what this one writes.
        let pieces = std::slice::from_ref(piece);
        text = taken_back(host, pieces, &text, Some(record))?.text;
        record.edits.retain(|change| !is_own(change));
        state = look(host, piece, &text, record)?;
    } else if !state.contains(&State::There) && !state.contains(&State::ByHand) {
        // Somebody has taken out what was recorded.
        record.edits.retain(|change| !is_own(change));
    }
    for (index, _) in state
        .iter()
        .enumerate()
        .filter(|(_, state)| **state == State::Missing)
    {
        let (place, edit) = match &piece.content {
            Content::Json(dialect, items) => {
                let item = &items[index];
                let place = place(item, &text, *dialect)?;
                let edit = jsonc::insert(&text, *dialect, &place, &item.value)?;
                (place.word(), edit)
            }
            Content::Toml(table) => (table.path.join("."), toml::insert(&text, table)?),
            Content::Whole(_) => continue,
        };
        text = edit.apply(&text);
        record.edits.push(Change {
            agent: host.name().to_owned(),
            part: piece.part,
            place,
            edit,
        });
    }
    // What was written must be what can be read.
    if look(host, piece, &text, record)?.contains(&State::Missing) {
        return Err(Fault {
            line: 1,
            message: "an entry cannot be added here".to_owned(),
        });
    }
    let by_hand = state.contains(&State::ByHand).then_some(BY_HAND);
    let is_there = existed || !text.is_empty();
    Ok((is_there.then(|| text.into_bytes()), by_hand))
}

/// What a file has in the place of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Missing,
    There,
    /// Something that will do.
    Default,
    /// What aizo wrote once, and would write otherwise now.
    Earlier,
    ByHand,
}

fn look(host: Caller, piece: &Piece, text: &str, record: &FileRecord) -> Result<Vec<State>, Fault> {
    match &piece.content {
        Content::Whole(_) => Ok(Vec::new()),
        Content::Toml(table) => Ok(vec![match toml::find(text, table)? {
            toml::Found::Nothing => State::Missing,
            toml::Found::Same => State::There,
            toml::Found::Other(raw) if record.has_added(&raw) => State::Earlier,
            toml::Found::Other(_) => State::ByHand,
        }]),
        Content::Json(dialect, items) => {
            jsonc::check(text, *dialect)?;
            items
                .iter()
                .map(|item| {
                    let place = place(item, text, *dialect)?;
                    let mut found = jsonc::find(text, *dialect, &place, &item.value)?;
                    if item.place.name.is_none() {
                        found.retain(|one| is_call(one, host));
                    }
                    Ok(if found.is_empty() {
                        State::Missing
                    } else if item.is_default {
                        State::Default
                    } else if found.iter().any(|one| one.same) {
                        State::There
                    } else if found.iter().any(|one| is_added(record, &place, one)) {
                        State::Earlier
                    } else {
                        State::ByHand
                    })
                })
                .collect()
        }
    }
}

/// Whether an entry calls aizo for a host.
fn is_call(found: &jsonc::Found, host: Caller) -> bool {
    found.words.iter().any(|words| calls(words, host))
}

/// Whether aizo has put a value where it stands. A member may have been moved by its host; an entry of one event has stood
/// there before, though aizo has put the same at another.
fn is_added(record: &FileRecord, place: &Place, found: &jsonc::Found) -> bool {
    match place.name {
        Some(_) => record.has_added(&found.raw),
        None => record.has_added_at(&place.word(), &found.raw),
    }
}

/// Where a value belongs in this file.
fn place(item: &Item, text: &str, dialect: Dialect) -> Result<Place, Fault> {
    let mut place = item.place.clone();
    if let Some(deeper) = item.deeper {
        let inner = Place {
            path: place.path.clone(),
            name: Some(deeper.to_owned()),
        };
        let found = jsonc::find(text, dialect, &inner, &serde_json::Value::Null)?;
        if found.iter().any(|one| one.raw.starts_with('{')) {
            place.path.push(deeper.to_owned());
        }
    }
    Ok(place)
}

/// Takes out of a file what was put there.
///
/// # Errors
/// The file cannot be read, and in which line.
pub fn uninstall(step: &mut Step) -> Result<Outcome, Fault> {
    let name = step.host.name();
    let record = step.record.take_if(|record| record.serves(name));
    let Some(bytes) = step.bytes.clone() else {
        return Ok(Outcome::Absent);
    };
    // Recorded for others alone.
    if record.is_none() && step.record.is_some() {
        return Ok(Outcome::Absent);
    }
    let mut left = record.clone();
    if let Some(left) = &mut left {
        left.agents.retain(|agent| agent != name);
        left.edits.retain(|change| change.agent != name);
    }
    // The record stays for as long as it serves somebody.
    step.record = left.filter(|left| !left.agents.is_empty());
    let content = step.pieces.iter().find_map(|piece| match &piece.content {
        Content::Whole(content) => Some(content.as_str()),
        _ => None,
    });
    let ours = match &record {
        Some(record) => record.whole.clone(),
        None => content.map(|content| mark(content.as_bytes())),
    };
    if let Some(ours) = ours {
        if step.record.is_some() {
            return Ok(Outcome::Kept(STILL_USED));
        }
        if mark(&bytes) != ours {
            return Ok(Outcome::Kept(NOT_OURS));
        }
        step.bytes = None;
        return Ok(Outcome::Removed);
    }
    if content.is_some() {
        return Ok(Outcome::Kept(WAS_THERE));
    }
    let before = decoded(bytes)?;
    let pieces = with_recorded(step.host, &step.pieces, &step.path, record.as_ref());
    let taken = taken_back(step.host, &pieces, &before, record.as_ref())?;
    let is_left = |record: &FileRecord| {
        pieces
            .iter()
            .any(|piece| is_left(step.host, piece, &taken.text, record))
    };
    if record.as_ref().is_some_and(is_left) {
        step.record = record;
        step.bytes = Some(taken.text.into_bytes());
        return Ok(Outcome::Left);
    }
    if record.is_some_and(|record| !record.existed) && step.record.is_none() && taken.is_empty {
        step.bytes = None;
        return Ok(Outcome::Removed);
    }
    let changed = taken.text != before;
    step.bytes = Some(taken.text.into_bytes());
    Ok(if changed {
        Outcome::Changed
    } else {
        Outcome::Absent
    })
}

/// What belongs into a file, and what is recorded of it where nothing belongs any more: another file may be meant today.
fn with_recorded(
    host: Caller,
    pieces: &[Piece],
    file: &Path,
    record: Option<&FileRecord>,
) -> Vec<Piece> {
    let mut all = pieces.to_vec();
    let changes = record.map(|record| record.edits.as_slice());
    let changes = changes.unwrap_or_default().iter();
    for change in changes.filter(|change| change.agent == host.name()) {
        let known = all.iter().position(|piece| piece.part == change.part);
        let at = known.unwrap_or(all.len());
        if known.is_none() {
            let content = if file.extension().is_some_and(|ending| ending == "toml") {
                Content::Toml(toml::Table::of_servers(Vec::new()))
            } else if host == Caller::OpenClaw {
                Content::Json(Dialect::Json5, Vec::new())
            } else {
                Content::Json(Dialect::Jsonc, Vec::new())
            };
            all.push(Piece {
                part: change.part,
                file: file.to_path_buf(),
                content,
            });
        }
        if let Content::Json(_, items) = &mut all[at].content
            && !items.iter().any(|item| item.place.word() == change.place)
        {
            items.push(recorded(change));
        }
    }
    all
}

/// What stands at a place of which only the record knows.
fn recorded(change: &Change) -> Item {
    let mut path: Vec<String> = change.place.split('.').map(str::to_owned).collect();
    // Entries are the elements of `hooks.EVENT`; everything else has a name.
    let is_entry = change.part == Part::Hooks && path.len() > 1;
    let name = if is_entry { None } else { path.pop() };
    Item {
        is_default: change.part == Part::Hooks && !is_entry,
        place: Place { path, name },
        value: serde_json::Value::Null,
        deeper: None,
    }
}

/// Whether something that aizo put at a place is still there.
fn is_left(host: Caller, piece: &Piece, text: &str, record: &FileRecord) -> bool {
    let (dialect, items) = match &piece.content {
        Content::Json(dialect, items) => (dialect, items),
        Content::Toml(table) => {
            return record.has_changed(&table.path.join("."))
                && toml::find(text, table) != Ok(toml::Found::Nothing);
        }
        Content::Whole(_) => return false,
    };
    let changed = items
        .iter()
        .filter(|item| !item.is_default && record.has_changed(&item.place.word()));
    changed.into_iter().any(
        |item| match jsonc::find(text, *dialect, &item.place, &item.value) {
            Ok(found) if item.place.name.is_none() => found.iter().any(|one| is_call(one, host)),
            Ok(found) => found.iter().any(is_server),
            // Something is in the way, and it may hold what aizo put there.
            Err(_) if item.place.name.is_none() => calls(text, host),
            Err(_) => text.contains("\"aizo\""),
        },
    )
}

fn is_server(found: &jsonc::Found) -> bool {
    found.words.iter().any(|words| serves(words))
}

struct Taken {
    text: String,
    /// Whether nothing is left but what an empty file of its kind holds.
    is_empty: bool,
}

/// A text without what a host got in it: change by change as recorded, else, where somebody has changed the same places since,
/// entry by entry.
fn taken_back(
    host: Caller,
    pieces: &[Piece],
    text: &str,
    record: Option<&FileRecord>,
) -> Result<Taken, Fault> {
    for piece in pieces {
        check(piece, text)?;
    }
    if let Some(record) = record {
        let exact = record
            .edits
            .iter()
            .rev()
            .filter(|change| {
                change.agent == host.name() && pieces.iter().any(|one| one.part == change.part)
            })
            .try_fold(text.to_owned(), |text, change| change.edit.reverse(&text));
        if let Some(exact) = exact.filter(|exact| {
            pieces.iter().all(|piece| {
                check(piece, exact).is_ok()
                    && !has_ours(host, piece, exact, record)
                    && keeps_foreign(piece, text, exact, record)
            })
        }) {
            return Ok(Taken {
                is_empty: exact.is_empty(),
                text: exact,
            });
        }
    }
    let mut left = text.to_owned();
    let mut is_empty = false;
    for piece in pieces {
        match &piece.content {
            Content::Json(dialect, items) => {
                left = without_entries(host, *dialect, items, left, record)?;
                is_empty = jsonc::is_empty(&left);
            }
            Content::Toml(table) => {
                let is_ours = match record {
                    Some(record) => record.has_changed(&table.path.join(".")),
                    None => toml::find(&left, table)? == toml::Found::Same,
                };
                if is_ours {
                    left = toml::remove(&left, table)?;
                }
                is_empty = left.trim().is_empty();
            }
            Content::Whole(_) => {}
        }
    }
    // What was left must be what can be read.
    for piece in pieces {
        check(piece, &left)?;
    }
    Ok(Taken {
        text: left,
        is_empty,
    })
}

/// Whether something that aizo put there still stands there.
fn has_ours(host: Caller, piece: &Piece, text: &str, record: &FileRecord) -> bool {
    let (dialect, items) = match &piece.content {
        Content::Json(dialect, items) => (dialect, items),
        Content::Toml(table) => {
            return record.has_changed(&table.path.join("."))
                && toml::find(text, table) != Ok(toml::Found::Nothing);
        }
        Content::Whole(_) => return false,
    };
    items.iter().filter(|item| !item.is_default).any(|item| {
        place(item, text, *dialect)
            .and_then(|place| jsonc::find(text, *dialect, &place, &item.value))
            .is_ok_and(|found| {
                found.iter().any(|one| {
                    (item.place.name.is_some() || is_call(one, host))
                        && is_added(record, &item.place, one)
                })
            })
    })
}

/// Whether the events at which aizo has put nothing are as they were: a change that is no longer where it was made might be
/// found in the same words of somebody else's.
fn keeps_foreign(piece: &Piece, before: &str, after: &str, record: &FileRecord) -> bool {
    let Content::Json(dialect, items) = &piece.content else {
        return true;
    };
    let foreign = items
        .iter()
        .filter(|item| item.place.name.is_none() && !record.has_changed(&item.place.word()));
    foreign.into_iter().all(|item| {
        let entries = |text| jsonc::find(text, *dialect, &item.place, &item.value);
        entries(before) == entries(after)
    })
}

fn without_entries(
    host: Caller,
    dialect: Dialect,
    items: &[Item],
    mut text: String,
    record: Option<&FileRecord>,
) -> Result<String, Fault> {
    let may_go = |name: &str| record.is_none_or(|record| record.has_added(&format!("\"{name}\":")));
    for item in items.iter().filter(|item| !item.is_default) {
        let place = place(item, &text, dialect)?;
        let is_ours = |found: &jsonc::Found| match record {
            Some(record) if !record.has_changed(&place.word()) => is_added(record, &place, found),
            _ if item.place.name.is_some() => is_server(found),
            _ => is_call(found, host),
        };
        text = jsonc::remove(&text, dialect, &place, &is_ours, &may_go)?;
    }
    for item in items.iter().filter(|item| item.is_default) {
        let bare = jsonc::remove(&text, dialect, &item.place, &|_| true, &|_| false)?;
        // It goes where nothing else is left.
        if jsonc::is_empty(&bare) && item.place.name.as_deref().is_some_and(may_go) {
            text = bare;
        }
    }
    Ok(text)
}

fn check(piece: &Piece, text: &str) -> Result<(), Fault> {
    match &piece.content {
        Content::Whole(_) => Ok(()),
        Content::Json(dialect, _) => jsonc::check(text, *dialect),
        Content::Toml(_) => toml::check(text),
    }
}

fn decoded(bytes: Vec<u8>) -> Result<String, Fault> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Fault::at(error.as_bytes(), at, "this is not UTF-8")
    })
}
