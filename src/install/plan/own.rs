//! What in a file is aizo's: put there as recorded, exactly what belongs there, or something that calls aizo.

use super::super::jsonc::{self, Dialect, Found, Place};
use super::super::recipe::{Content, Item, Piece, Program};
use super::super::record::FileRecord;
use super::super::toml;
use crate::capture::hook::Caller;
use crate::files::Fault;

/// By what an entry is known: the host that it is for, and the program that it calls.
#[derive(Debug, Clone, Copy)]
pub(super) struct Own<'s> {
    pub(super) host: Caller,
    program: &'s Program,
}

/// What a file has in the place of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Missing,
    There,
    /// Something that will do.
    Default,
    /// What aizo wrote once, and would write otherwise now.
    Earlier,
    ByHand,
}

/// What a text has for aizo, whoever put it there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Seen {
    Nothing,
    /// Something that calls aizo.
    Like,
    /// What aizo writes.
    Exact,
}

impl<'s> Own<'s> {
    pub(super) fn of(host: Caller, program: &'s Program) -> Self {
        Own { host, program }
    }

    /// Whether a value calls aizo as values at its place do.
    pub(super) fn calls(self, place: &Place, found: &Found) -> bool {
        found.words.iter().any(|words| match place.name {
            Some(_) => self.program.serves(words),
            None => self.program.calls(words, self.host),
        })
    }

    /// Whether a text may hold what aizo has put at a place where something else stands now.
    pub(super) fn may_call(self, place: &Place, text: &str) -> bool {
        match &place.name {
            Some(name) => text.contains(&format!("\"{name}\"")),
            None => self.program.calls(text, self.host),
        }
    }

    /// Whether aizo has put a value where it stands. A member may have been moved by its host; an entry of one event has stood
    /// there before, though aizo has put the same at another.
    pub(super) fn has_put(self, record: &FileRecord, place: &Place, found: &Found) -> bool {
        match place.name {
            Some(_) => record.has_added(&found.raw),
            None => {
                let is_call = |words: &String| Program::is_hook(words, self.host);
                found.words.iter().any(is_call) && record.has_added_at(&place.word(), &found.raw)
            }
        }
    }

    /// What a text has in the place of each value of a piece.
    pub(super) fn look(
        self,
        piece: &Piece,
        text: &str,
        record: &FileRecord,
    ) -> Result<Vec<State>, Fault> {
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
                let states = items.iter();
                states
                    .map(|item| self.state(item, *dialect, text, record))
                    .collect()
            }
        }
    }

    fn state(
        self,
        item: &Item,
        dialect: Dialect,
        text: &str,
        record: &FileRecord,
    ) -> Result<State, Fault> {
        let place = place(item, text, dialect)?;
        let mut found = jsonc::find(text, dialect, &place, &item.value)?;
        let has_put = |one: &Found| self.has_put(record, &place, one);
        if place.name.is_none() {
            found.retain(|one| one.same || self.calls(&place, one) || has_put(one));
        }
        Ok(if found.is_empty() {
            State::Missing
        } else if item.is_default {
            State::Default
        } else if found.iter().any(|one| one.same) {
            State::There
        } else if found.iter().any(has_put) {
            State::Earlier
        } else {
            State::ByHand
        })
    }

    /// What a text has for aizo. What cannot be read is for others to report.
    pub(super) fn seen(self, pieces: &[Piece], text: &str) -> Seen {
        let seen = pieces.iter().flat_map(|piece| match &piece.content {
            Content::Whole(_) => Vec::new(),
            Content::Toml(table) => vec![match toml::find(text, table) {
                Ok(toml::Found::Same) => Seen::Exact,
                Ok(toml::Found::Other(_)) => Seen::Like,
                Ok(toml::Found::Nothing) | Err(_) => Seen::Nothing,
            }],
            Content::Json(dialect, items) => {
                let items = items.iter().filter(|item| !item.is_default);
                items
                    .flat_map(|item| self.seen_at(item, *dialect, text))
                    .collect()
            }
        });
        seen.max().unwrap_or(Seen::Nothing)
    }

    fn seen_at(self, item: &Item, dialect: Dialect, text: &str) -> Vec<Seen> {
        let Ok(place) = place(item, text, dialect) else {
            return Vec::new();
        };
        let found = jsonc::find(text, dialect, &place, &item.value).unwrap_or_default();
        let seen = found.iter().map(|one| match one.same {
            true => Seen::Exact,
            // A member with aizo's name is meant for it.
            false if place.name.is_some() || self.calls(&place, one) => Seen::Like,
            false => Seen::Nothing,
        });
        seen.collect()
    }
}

/// Whether a text can be read.
pub(super) fn check(pieces: &[Piece], text: &str) -> Result<(), Fault> {
    pieces.iter().try_for_each(|piece| match &piece.content {
        Content::Whole(_) => Ok(()),
        Content::Json(dialect, _) => jsonc::check(text, *dialect),
        Content::Toml(_) => toml::check(text),
    })
}

/// Where a value belongs in this file.
pub(in super::super) fn place(item: &Item, text: &str, dialect: Dialect) -> Result<Place, Fault> {
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
