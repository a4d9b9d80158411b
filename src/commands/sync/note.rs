//! What the last sync saw of the files of the repository, so that only those are read that have changed. It is a shortcut:
//! without it, everything is read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::storage::View;
use crate::sync::Blob;

/// The files by device.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Note(pub(super) BTreeMap<String, Seen>);

/// A file as it was read or written last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Seen {
    /// Its content; empty where it was not read to its end.
    pub(super) oid: String,
    /// The lines of it that are here.
    pub(super) lines: usize,
}

impl Note {
    /// What is remembered; nothing where lines were never exchanged.
    pub(super) fn of(view: &View<'_>) -> anyhow::Result<Option<Self>> {
        let text = view.sync_note()?;
        Ok(text.map(|text| serde_json::from_str(&text).unwrap_or_default()))
    }

    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).expect("names and numbers")
    }

    /// Whether a file is what it was.
    pub(super) fn knows(&self, device: &str, blob: &Blob) -> bool {
        self.0.get(device).is_some_and(|seen| seen.oid == blob.oid)
    }

    /// How many lines of a device's file are here.
    pub(super) fn lines(&self, device: &str) -> usize {
        self.0.get(device).map_or(0, |seen| seen.lines)
    }
}
