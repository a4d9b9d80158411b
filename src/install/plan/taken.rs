//! A text without what a host got in it: as it was, else with as little taken out of it as can be.

use super::super::jsonc::{self, Dialect, Found};
use super::super::recipe::{Content, Item, Piece};
use super::super::record::{Change, FileRecord};
use super::super::toml;
use super::own::{Own, check, place};
use crate::files::Fault;

pub(super) struct Taken {
    pub(super) text: String,
    /// Whether nothing is left but what an empty file of its kind holds.
    pub(super) is_empty: bool,
}

/// Takes back what is recorded: change by change, else, where somebody has changed the same places since, entry by entry.
pub(super) fn taken_back(
    own: Own<'_>,
    pieces: &[Piece],
    text: &str,
    record: &FileRecord,
) -> Result<Taken, Fault> {
    check(pieces, text)?;
    if let Some(text) = reversed(own, pieces, text, record) {
        return Ok(Taken {
            is_empty: text.is_empty(),
            text,
        });
    }
    let mut left = text.to_owned();
    let mut is_empty = false;
    for piece in pieces {
        match &piece.content {
            Content::Json(dialect, items) => {
                left = without_entries(own, *dialect, items, left, record)?;
                is_empty = jsonc::is_empty(&left);
            }
            Content::Toml(table) => {
                if record.has_changed(&table.path.join(".")) {
                    left = toml::remove(&left, table)?;
                }
                is_empty = left.trim().is_empty();
            }
            Content::Whole(_) => {}
        }
    }
    // What was left must be what can be read.
    check(pieces, &left)?;
    Ok(Taken {
        text: left,
        is_empty,
    })
}

/// The text as it was before the changes that are recorded; nothing where somebody has changed the same places since. Where a
/// run was ended before it could write, the changes before it hold.
fn reversed(own: Own<'_>, pieces: &[Piece], text: &str, record: &FileRecord) -> Option<String> {
    let is_meant = |change: &&Change| {
        change.agent == own.host.name() && pieces.iter().any(|one| one.part == change.part)
    };
    let exact = |edits: &[Change]| {
        let mut edits = edits.iter().rev().filter(is_meant);
        let exact = edits.try_fold(text.to_owned(), |text, change| change.edit.reverse(&text))?;
        let is_clean = check(pieces, &exact).is_ok()
            && pieces.iter().all(|piece| {
                !has_put_in(own, piece, &exact, record)
                    && keeps_foreign(piece, text, &exact, record)
            });
        is_clean.then_some(exact)
    };
    let earlier = &record.earlier.edits;
    exact(&record.edits)
        .or_else(|| exact(earlier).filter(|_| earlier.iter().any(|one| is_meant(&one))))
}

/// Whether something that aizo put there still stands there.
fn has_put_in(own: Own<'_>, piece: &Piece, text: &str, record: &FileRecord) -> bool {
    any_entry(piece, text, record, |dialect, item| {
        place(item, text, dialect)
            .and_then(|place| jsonc::find(text, dialect, &place, &item.value))
            .is_ok_and(|found| {
                found
                    .iter()
                    .any(|one| own.has_put(record, &item.place, one))
            })
    })
}

/// Whether something that aizo put at a place is still there, whoever has changed it since.
pub(super) fn is_left(own: Own<'_>, pieces: &[Piece], text: &str, record: &FileRecord) -> bool {
    pieces.iter().any(|piece| {
        any_entry(piece, text, record, |dialect, item| {
            if !record.has_changed(&item.place.word()) {
                return false;
            }
            match jsonc::find(text, dialect, &item.place, &item.value) {
                Ok(found) => found.iter().any(|one| {
                    own.calls(&item.place, one) || own.has_put(record, &item.place, one)
                }),
                // Something is in the way, and it may hold what aizo put there.
                Err(_) => own.may_call(&item.place, text),
            }
        })
    })
}

/// Whether something of a piece stands in a text: its table, or an entry of which that is so.
fn any_entry(
    piece: &Piece,
    text: &str,
    record: &FileRecord,
    is_there: impl Fn(Dialect, &Item) -> bool,
) -> bool {
    match &piece.content {
        Content::Whole(_) => false,
        Content::Toml(table) => {
            record.has_changed(&table.path.join("."))
                && toml::find(text, table) != Ok(toml::Found::Nothing)
        }
        Content::Json(dialect, items) => {
            let mut items = items.iter().filter(|item| !item.is_default);
            items.any(|item| is_there(*dialect, item))
        }
    }
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
    own: Own<'_>,
    dialect: Dialect,
    items: &[Item],
    mut text: String,
    record: &FileRecord,
) -> Result<String, Fault> {
    for item in items.iter().filter(|item| !item.is_default) {
        let place = place(item, &text, dialect)?;
        let is_ours = |found: &Found| {
            own.has_put(record, &place, found)
                || record.has_changed(&place.word()) && own.calls(&place, found)
        };
        let may_go = |container: &str| record.has_made(container);
        text = jsonc::remove(&text, dialect, &place, &item.value, &is_ours, &may_go)?;
    }
    for item in items.iter().filter(|item| item.is_default) {
        let bare = jsonc::remove(&text, dialect, &item.place, &item.value, &|_| true, &|_| {
            false
        })?;
        // It goes where nothing else is left.
        if jsonc::is_empty(&bare) && record.has_changed(&item.place.word()) {
            text = bare;
        }
    }
    Ok(text)
}

/// The text without what is exactly as aizo writes it. Of what is empty for it the outermost stays: whose it is, nobody knows.
pub(super) fn without_exact(pieces: &[Piece], text: &str) -> Result<String, Fault> {
    check(pieces, text)?;
    let mut left = text.to_owned();
    for piece in pieces {
        match &piece.content {
            Content::Json(dialect, items) => {
                for item in items.iter().filter(|item| !item.is_default) {
                    let place = place(item, &left, *dialect)?;
                    let may_go = |container: &str| container.contains('.');
                    let is_same = |found: &Found| found.same;
                    left = jsonc::remove(&left, *dialect, &place, &item.value, &is_same, &may_go)?;
                }
            }
            Content::Toml(table) if toml::find(&left, table)? == toml::Found::Same => {
                left = toml::remove(&left, table)?;
            }
            Content::Toml(_) | Content::Whole(_) => {}
        }
    }
    check(pieces, &left)?;
    Ok(left)
}
