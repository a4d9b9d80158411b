//! What somebody else has published: read as data, and nothing of it acts by itself.

use std::collections::HashSet;
use std::fs;
use std::io::Read;
use std::path::Path;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::file::{self, Stopped, device_of};
use super::repository::Repository;
use crate::error::{Failure, Kind};
use crate::merge::fold::fold;
use crate::model::{
    JournalLine, Score, Values, item_key, parse_keywords, split_keywords, strip_hidden,
};

/// Longer profiles are not read, be they one file or many.
const LARGEST: u64 = 64 << 20;

/// One thing that somebody has published about themselves.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// The label.
    pub item: String,
    /// Why it matters to them.
    pub reason: String,
    /// Further words.
    pub keywords: Vec<String>,
    /// Kinds of task.
    pub scenarios: Vec<String>,
    /// Their score.
    pub score: Score,
}

/// A profile that was published, and the files of it that could not be read to their end.
pub type Profile = (Vec<Published>, Vec<(String, Stopped)>);

/// Reads what somebody has published in a folder or a file here.
///
/// # Errors
/// There is nothing of that kind.
pub fn published(path: &Path, now: DateTime<Utc>) -> Result<Profile, Failure> {
    if path.is_dir() {
        let folder = path.join("devices");
        let entries = fs::read_dir(&folder).map_err(|error| cannot_read(&folder, &error))?;
        let (mut files, mut left) = (Vec::new(), LARGEST);
        for entry in entries.flatten() {
            let name = format!("devices/{}", entry.file_name().to_string_lossy());
            if let (Some(device), true) = (device_of(&name), entry.path().is_file()) {
                let bytes = read(&entry.path(), left)?;
                left = left.saturating_sub(bytes.len() as u64);
                files.push((device.to_owned(), bytes));
            }
        }
        files.sort();
        return Ok(of_devices(files, now));
    }
    let bytes = read(path, LARGEST)?;
    let text = String::from_utf8_lossy(&bytes);
    let first = text.lines().find(|line| !line.trim().is_empty());
    let is_journal = first
        .and_then(|line| serde_json::from_str::<Value>(line).ok())
        .is_some_and(|line| line.get("hlc").is_some());
    if is_journal {
        return Ok(of_devices(vec![(path.display().to_string(), bytes)], now));
    }
    of_export(&text)
        .map(|all| (all, Vec::new()))
        .ok_or_else(|| {
            let message = format!("{} holds no profile", path.display());
            Failure::new(Kind::NotFound, message).hint(
                "a repository or folder of a sync, what aizo export writes, or entries as aizo show --json prints them",
            )
        })
}

impl Repository {
    /// Reads what somebody has published in this repository.
    ///
    /// # Errors
    /// It cannot be reached, or is no sync.
    pub fn published(&self) -> Result<Profile, Failure> {
        let tree = self.fetch()?;
        let size = tree.devices.values().map(|blob| blob.size);
        if size.fold(0, u64::saturating_add) > LARGEST {
            return Err(too_long("the repository"));
        }
        let mut files = Vec::new();
        for (device, blob) in &tree.devices {
            files.push((device.clone(), self.read(blob)?));
        }
        Ok(of_devices(files, self.now()))
    }
}

fn of_devices(files: Vec<(String, Vec<u8>)>, now: DateTime<Utc>) -> Profile {
    let mut lines: Vec<JournalLine> = Vec::new();
    let mut stopped = Vec::new();
    for (device, bytes) in files {
        let reading = file::read(&device, &bytes, &HashSet::new(), now);
        lines.extend(reading.lines);
        stopped.extend(reading.stopped.map(|place| (device, place)));
    }
    let state = fold(lines);
    let entries = state.entries.values();
    let mut all: Vec<Published> = entries.filter_map(|entry| one(&entry.values)).collect();
    all.sort_by_cached_key(|one| item_key(&one.item));
    (all, stopped)
}

/// Entries as they are printed: a JSON array of them, or one a line.
fn of_export(text: &str) -> Option<Vec<Published>> {
    let values: Vec<Value> = match serde_json::from_str(text) {
        Ok(Value::Array(list)) => list,
        Ok(Value::Object(mut whole)) if whole.get("entries").is_some_and(Value::is_array) => {
            match whole.remove("entries") {
                Some(Value::Array(list)) => list,
                _ => return None,
            }
        }
        _ => {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            let values: Result<Vec<Value>, _> = lines.map(serde_json::from_str).collect();
            values.ok()?
        }
    };
    // In aizo's own format a row says what it is.
    let is_entry = |value: &&Value| value.get("type").is_none_or(|kind| kind == "entry");
    let all: Vec<Published> = values
        .iter()
        .filter(is_entry)
        .filter_map(|value| one(value.as_object()?))
        .collect();
    (!all.is_empty()).then_some(all)
}

fn one(values: &Values) -> Option<Published> {
    let text = |field: &str| {
        let text = values
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default();
        strip_hidden(text).trim().to_owned()
    };
    let list = |field: &'static str| match values.get(field) {
        Some(Value::String(column)) => split_keywords(&strip_hidden(column)),
        Some(Value::Array(names)) => {
            let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            parse_keywords(field, &strip_hidden(&names.join(","))).unwrap_or_default()
        }
        _ => Vec::new(),
    };
    let score = values.get("base_score").or_else(|| values.get("score"))?;
    let item = text("item");
    (!item.is_empty()).then(|| Published {
        item,
        reason: text("reason"),
        keywords: list("keywords"),
        scenarios: list("scenarios"),
        score: Score::clamped(score.as_f64().unwrap_or(f64::NAN)),
    })
}

/// Reads a file of which so many bytes may be left.
fn read(path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    fs::File::open(path)
        .and_then(|file| file.take(most + 1).read_to_end(&mut bytes))
        .map_err(|error| cannot_read(path, &error))?;
    match bytes.len() as u64 > most {
        true => Err(too_long(&path.display().to_string())),
        false => Ok(bytes),
    }
}

fn too_long(what: &str) -> Failure {
    Failure::new(
        Kind::Io,
        format!(
            "{what} is too long for a profile: more than {} MiB",
            LARGEST >> 20
        ),
    )
}

fn cannot_read(path: &Path, error: &std::io::Error) -> Failure {
    let kind = match error.kind() {
        std::io::ErrorKind::NotFound => Kind::NotFound,
        _ => Kind::Io,
    };
    Failure::new(kind, format!("cannot read {}: {error}", path.display()))
}
