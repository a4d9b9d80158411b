//! What becomes of one file: from its bytes and what is recorded of it to its new bytes, and back. Pure.
//!
//! `own` tells what is aizo's in a file from what is not, `taken` is a text without it.

mod own;
mod taken;

use std::path::{Path, PathBuf};

use super::jsonc::{self, Dialect, Place};
use super::recipe::{Content, Item, Part, Piece, Program};
use super::record::{Change, FileRecord};
use super::toml;
use crate::capture::hook::Caller;
use crate::files::Fault;
use crate::model::stable_name;
pub(super) use own::place;
use own::{Own, Seen, State, check};
use taken::{is_left, taken_back, without_exact};

/// One file and what a host gets in it.
#[derive(Debug, Clone)]
pub struct Step {
    /// The host.
    pub host: Caller,
    /// For whom, as the record names it.
    pub scope: String,
    /// The file.
    pub path: PathBuf,
    /// How the host calls aizo.
    pub program: Program,
    /// What belongs into the file; to take it out, in every form in which aizo writes it.
    pub pieces: Vec<Piece>,
    /// The file as it is; nothing where it is not there. Then as it will be.
    pub bytes: Option<Vec<u8>>,
    /// What is recorded of it. Then what will be.
    pub record: Option<FileRecord>,
    /// Whether anything is recorded of any file: then what is not recorded is somebody else's.
    pub has_records: bool,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was made.
    Created,
    /// Something was added, or taken out.
    Changed,
    /// The same, but for something of somebody else's, which stays.
    Partly(&'static str),
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

impl Outcome {
    /// What became of a file that is there still.
    fn of(changes: bool, kept: Option<&'static str>, nothing: Outcome) -> Self {
        match (changes, kept) {
            (true, None) => Outcome::Changed,
            (true, Some(reason)) => Outcome::Partly(reason),
            (false, Some(reason)) => Outcome::Kept(reason),
            (false, None) => nothing,
        }
    }

    /// Whether the host has what belongs there, be it by somebody else's doing.
    pub fn is_there(self) -> bool {
        self == Outcome::Unchanged || self == Outcome::Kept(BY_HAND)
    }
}

/// A file that is not aizo's but stands where its file would.
const NOT_OURS: &str = "it is not as aizo wrote it, so it is left as it is";
/// An entry that somebody made by hand.
const BY_HAND: &str = "it has an entry of your own for aizo, which is left as it is";
/// What looks like aizo's, and nobody knows.
const NOT_RECORDED: &str = "nothing is recorded of what it has for aizo, which is left as it is";
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
            existed: step.bytes.is_some(),
            agents: earlier.map(|record| record.agents).unwrap_or_default(),
            ..nothing_of(step)
        },
    };
    let before = step.bytes.clone();
    let mut kept = None;
    for piece in &step.pieces {
        let bytes = step.bytes.take();
        let own = Own::of(step.host, &step.program);
        let (after, by_hand) = match &piece.content {
            Content::Whole(content) => whole(content, bytes, &mut record),
            _ => among_others(own, piece, bytes, before.is_some(), &mut record)?,
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
    Ok(if before.is_none() {
        Outcome::Created
    } else {
        Outcome::of(before != step.bytes, kept, Outcome::Unchanged)
    })
}

/// A record of a file that says that aizo has put nothing there.
fn nothing_of(step: &Step) -> FileRecord {
    FileRecord {
        path: step.path.clone(),
        scope: step.scope.clone(),
        existed: true,
        ..FileRecord::default()
    }
}

type After = (Option<Vec<u8>>, Option<&'static str>);

fn whole(content: &str, bytes: Option<Vec<u8>>, record: &mut FileRecord) -> After {
    let is_ours = bytes
        .as_ref()
        .is_none_or(|bytes| record.has_written(&mark(bytes)));
    match bytes {
        Some(bytes) if !is_ours && bytes == content.as_bytes() => (Some(bytes), None),
        Some(bytes) if !is_ours => (Some(bytes), Some(NOT_OURS)),
        _ => {
            record.whole = Some(mark(content.as_bytes()));
            record.earlier.wholes.clear();
            (Some(content.as_bytes().to_vec()), None)
        }
    }
}

/// What a file of aizo's is known by in the record.
fn mark(bytes: &[u8]) -> String {
    stable_name(&[&String::from_utf8_lossy(bytes)])
}

fn among_others(
    own: Own<'_>,
    piece: &Piece,
    bytes: Option<Vec<u8>>,
    existed: bool,
    record: &mut FileRecord,
) -> Result<After, Fault> {
    let mut text = decoded(bytes.unwrap_or_default())?;
    let mut state = own.look(piece, &text, record)?;
    let is_others = |change: &Change| change.agent != own.host.name() || change.part != piece.part;
    if state.contains(&State::Earlier) {
        // What an earlier version wrote makes room for what this one writes.
        text = taken_back(own, std::slice::from_ref(piece), &text, record)?.text;
        record.edits.retain(is_others);
        state = own.look(piece, &text, record)?;
    } else if !state.contains(&State::There) && !state.contains(&State::ByHand) {
        // Somebody has taken out what was recorded.
        record.edits.retain(is_others);
    }
    for (index, _) in state
        .iter()
        .enumerate()
        .filter(|(_, state)| **state == State::Missing)
    {
        if let Some((change, after)) = added(own, piece, index, &text)? {
            record.edits.push(change);
            text = after;
        }
    }
    // What was written must be what can be read.
    if own.look(piece, &text, record)?.contains(&State::Missing) {
        return Err(Fault {
            line: 1,
            message: "an entry cannot be added here".to_owned(),
        });
    }
    record.earlier.edits.retain(is_others);
    let by_hand = state.contains(&State::ByHand).then_some(BY_HAND);
    let is_there = existed || !text.is_empty();
    Ok((is_there.then(|| text.into_bytes()), by_hand))
}

/// One value of a piece put into a text: the change, and the text with it.
fn added(
    own: Own<'_>,
    piece: &Piece,
    index: usize,
    text: &str,
) -> Result<Option<(Change, String)>, Fault> {
    let (place, made, edit) = match &piece.content {
        Content::Json(dialect, items) => {
            let item = &items[index];
            let place = place(item, text, *dialect)?;
            let made = jsonc::missing(text, *dialect, &place)?;
            let edit = jsonc::insert(text, *dialect, &place, &item.value)?;
            (place.word(), made, edit)
        }
        Content::Toml(table) => {
            let edit = toml::insert(text, table)?;
            (table.path.join("."), Vec::new(), edit)
        }
        Content::Whole(_) => return Ok(None),
    };
    let after = edit.apply(text);
    let change = Change {
        agent: own.host.name().to_owned(),
        part: piece.part,
        place,
        made,
        edit,
    };
    Ok(Some((change, after)))
}

/// Takes out of a file what was put there: what is recorded of it, or where nothing is recorded of any file, what is exactly as
/// aizo writes it.
///
/// # Errors
/// The file cannot be read, and in which line.
pub fn uninstall(step: &mut Step) -> Result<Outcome, Fault> {
    let name = step.host.name();
    match step.record.take_if(|record| record.serves(name)) {
        Some(record) => take_out_recorded(step, record),
        None => take_out_exact(step),
    }
}

fn take_out_recorded(step: &mut Step, record: FileRecord) -> Result<Outcome, Fault> {
    let name = step.host.name();
    let mut left = record.clone();
    left.agents.retain(|agent| agent != name);
    left.edits.retain(|change| change.agent != name);
    left.earlier.edits.retain(|change| change.agent != name);
    // The record stays for as long as it serves somebody.
    step.record = Some(left).filter(|left| !left.agents.is_empty());
    let Some(bytes) = step.bytes.clone() else {
        return Ok(Outcome::Absent);
    };
    if record.whole.is_some() || whole_contents(&step.pieces).next().is_some() {
        return Ok(take_out_whole(step, &record, &bytes));
    }
    let before = decoded(bytes)?;
    let own = Own::of(step.host, &step.program);
    let pieces = with_recorded(step.host, &step.pieces, &step.path, &record);
    let taken = taken_back(own, &pieces, &before, &record)?;
    let changes = taken.text != before;
    if is_left(own, &pieces, &taken.text, &record) {
        step.record = Some(record);
        step.bytes = Some(taken.text.into_bytes());
        return Ok(Outcome::Left);
    }
    if !record.existed && step.record.is_none() && taken.is_empty {
        step.bytes = None;
        return Ok(Outcome::Removed);
    }
    let seen = if step.record.is_some() {
        Seen::Nothing
    } else {
        own.seen(&step.pieces, &taken.text)
    };
    Ok(leave(step, taken.text, changes, seen, BY_HAND))
}

fn take_out_whole(step: &mut Step, record: &FileRecord, bytes: &[u8]) -> Outcome {
    if record.whole.is_none() {
        let is_same = whole_contents(&step.pieces).any(|content| content.as_bytes() == bytes);
        if step.record.is_none() && is_same {
            step.record = Some(nothing_of(step));
        }
        return Outcome::Kept(WAS_THERE);
    }
    if step.record.is_some() {
        return Outcome::Kept(STILL_USED);
    }
    if !record.has_written(&mark(bytes)) {
        return Outcome::Kept(NOT_OURS);
    }
    step.bytes = None;
    Outcome::Removed
}

fn take_out_exact(step: &mut Step) -> Result<Outcome, Fault> {
    // Recorded for others alone.
    if step
        .record
        .as_ref()
        .is_some_and(|one| !one.agents.is_empty())
    {
        return Ok(Outcome::Absent);
    }
    step.record = None;
    let Some(bytes) = step.bytes.clone() else {
        return Ok(Outcome::Absent);
    };
    if whole_contents(&step.pieces).next().is_some() {
        let is_same = whole_contents(&step.pieces).any(|content| content.as_bytes() == bytes);
        if is_same && !step.has_records {
            step.bytes = None;
            return Ok(Outcome::Removed);
        }
        step.record = is_same.then(|| nothing_of(step));
        return Ok(Outcome::Kept(if is_same { NOT_RECORDED } else { NOT_OURS }));
    }
    let before = decoded(bytes)?;
    let own = Own::of(step.host, &step.program);
    let text = if step.has_records {
        check(&step.pieces, &before)?;
        before.clone()
    } else {
        without_exact(&step.pieces, &before)?
    };
    let changes = text != before;
    let seen = own.seen(&step.pieces, &text);
    Ok(leave(step, text, changes, seen, NOT_RECORDED))
}

/// Leaves a text in the file. What stands in it exactly as aizo writes it is noted as somebody else's: nothing else would tell
/// the next run, and it would be taken out.
fn leave(
    step: &mut Step,
    text: String,
    changes: bool,
    seen: Seen,
    reason: &'static str,
) -> Outcome {
    if seen == Seen::Exact {
        step.record = Some(nothing_of(step));
    }
    step.bytes = Some(text.into_bytes());
    let kept = (seen != Seen::Nothing).then_some(reason);
    Outcome::of(changes, kept, Outcome::Absent)
}

fn whole_contents(pieces: &[Piece]) -> impl Iterator<Item = &str> {
    pieces.iter().filter_map(|piece| match &piece.content {
        Content::Whole(content) => Some(content.as_str()),
        _ => None,
    })
}

/// What belongs into a file, and what is recorded of it where nothing belongs any more: another file may be meant today.
fn with_recorded(host: Caller, pieces: &[Piece], file: &Path, record: &FileRecord) -> Vec<Piece> {
    let mut all = pieces.to_vec();
    let changes = record.edits.iter().chain(&record.earlier.edits);
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

fn decoded(bytes: Vec<u8>) -> Result<String, Fault> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Fault::at(error.as_bytes(), at, "this is not UTF-8")
    })
}
