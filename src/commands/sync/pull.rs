//! `aizo sync pull`: fetches, and takes over what is new, all of it at once or nothing.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Sync;
use super::note::{Note, Seen};
use super::reply::{self, Pulled};
use crate::commands::Context;
use crate::model::{JournalLine, Subject};
use crate::poison::suspicion;
use crate::redact::find;
use crate::storage::{More, Received, Transaction};
use crate::sync::{Reading, Stopped, Tree, read};

const SECRET: &str = "it holds what looks like a secret";

impl Sync<'_> {
    /// Fetches and takes over.
    pub(super) fn pull(&self) -> anyhow::Result<Pulled> {
        self.progress.name("fetching");
        let tree = self.repository.fetch()?;
        self.progress.advance(1);
        self.progress.name("taking over");
        let pulled = self.take_over(&tree)?;
        self.shed()?;
        self.progress.advance(1);
        Ok(pulled)
    }

    /// Takes over what the files of a tree hold and the journal does not.
    pub(super) fn take_over(&self, tree: &Tree) -> anyhow::Result<Pulled> {
        let note = self.context.read(Note::of)?.flatten();
        let known = note.clone().unwrap_or_default();
        let is_changed = |device: &str| {
            let blob = tree.devices.get(device);
            blob.is_some_and(|blob| !known.knows(device, blob))
        };
        let is_gone = |device: &String| !tree.devices.contains_key(device);
        if note.is_some()
            && !tree.devices.keys().any(|device| is_changed(device))
            && !known.0.keys().any(is_gone)
        {
            return Ok(Pulled::default());
        }
        let mut files = Vec::new();
        for (device, blob) in &tree.devices {
            if is_changed(device) {
                let bytes = match blob.is_too_long() {
                    true => None,
                    false => Some(self.repository.read(blob)?),
                };
                files.push((device.as_str(), blob, bytes));
            }
        }
        change(self.context, self.dry_run, |transaction| {
            let mut note = known.clone();
            note.0.retain(|device, _| tree.devices.contains_key(device));
            let mut lines: Vec<JournalLine> = Vec::new();
            let mut waiting: Vec<(String, Stopped)> = Vec::new();
            let own = transaction.view().device()?;
            let mut renamed = None;
            for (device, blob, bytes) in &files {
                // Of our own file every line counts: whether somebody else has written in it.
                let known = match *device == own {
                    true => Default::default(),
                    false => transaction.view().times_of(device)?,
                };
                let reading = match bytes {
                    Some(bytes) => read(device, bytes, &known, self.context.settings.now),
                    None => Reading::too_long(),
                };
                if *device == own && reading.has_newer() {
                    renamed = transaction.leave_name(&reading.lines, More::Waits)?;
                }
                let seen = Seen {
                    oid: match reading.stopped {
                        None => blob.oid.clone(),
                        Some(_) => String::new(),
                    },
                    lines: reading.many,
                };
                note.0.insert((*device).to_owned(), seen);
                lines.extend(reading.lines);
                waiting.extend(reading.stopped.map(|place| ((*device).to_owned(), place)));
            }
            let mut came = wanted(&lines, &transaction.view().device()?);
            // What was never here is not overridden.
            let view = transaction.view();
            let mut unknown = Vec::new();
            for uid in came.keys() {
                if view.item_of(&Subject::Entry(uid.clone()))?.is_none() {
                    unknown.push(uid.clone());
                }
            }
            came.retain(|uid, _| !unknown.contains(uid));
            let suspected = suspected(&lines, &transaction.view().device()?);
            let mut received = transaction.receive(lines)?;
            let differs = |uid: &str| {
                let mut entries = received.difference.entries.iter();
                entries.any(|entry| entry.uid == uid)
                    || received.held.iter().any(|held| held.uid == uid)
            };
            let mut overridden = Vec::new();
            for (uid, wanted) in came {
                let view = transaction.view();
                let id = view.number_of(&Subject::Entry(uid.clone()))?;
                let entry = match id {
                    Some(id) => view.entry(id)?,
                    None => None,
                };
                if differs(entry.as_ref().map_or(&uid, |entry| &entry.uid)) {
                    continue;
                }
                if let Some(item) = view.item_of(&Subject::Entry(uid))? {
                    overridden.push(reply::Overridden {
                        item,
                        score: entry.map(|entry| entry.base_score.value()),
                        wanted,
                    });
                }
            }
            received.renamed = received.renamed.or(renamed);
            transaction.set_sync_note(&note.text())?;
            let mut pulled = pulled(self.context, transaction, received, waiting)?;
            pulled.overridden = overridden;
            for (uid, why) in suspected {
                if let Some(id) = transaction.view().number_of(&Subject::Entry(uid))?
                    && let Some(entry) = transaction.view().entry(id)?
                {
                    pulled.suspected.push(reply::Suspected {
                        id,
                        is_limit: entry.is_hard_limit(),
                        item: entry.item,
                        why,
                    });
                }
            }
            Ok(pulled)
        })
    }
}

/// Changes the store, or finds out what the change would be.
pub(super) fn change<T>(
    context: &Context,
    dry_run: bool,
    work: impl FnOnce(&mut Transaction<'_>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    match dry_run {
        true => context.rehearse(work),
        false => context.write(work),
    }
}

/// The entries of which another device says something, and the last score that it wants.
fn wanted(lines: &[JournalLine], own: &str) -> BTreeMap<String, Option<f64>> {
    let mut wanted = BTreeMap::new();
    for line in lines.iter().filter(|line| line.device != own) {
        if let Subject::Entry(uid) = &line.subject {
            let score = line
                .after
                .as_ref()
                .and_then(|after| after.get("base_score"));
            let last = wanted.entry(uid.clone()).or_default();
            *last = score.and_then(Value::as_f64).or(*last);
        }
    }
    wanted
}

/// The entries of which another device says what may be meant for the model, or a secret. They stand, as they do there: who may
/// write to the repository may change the profile.
fn suspected(lines: &[JournalLine], own: &str) -> BTreeMap<String, &'static str> {
    let mut suspected = BTreeMap::new();
    for line in lines.iter().filter(|line| line.device != own) {
        let (Subject::Entry(uid), Some(after)) = (&line.subject, &line.after) else {
            continue;
        };
        let texts = ["item", "reason", "keywords"].map(|field| after.get(field));
        let texts = texts.into_iter().flatten().filter_map(Value::as_str);
        let text = texts.collect::<Vec<_>>().join("\n");
        let why = suspicion(&text).or_else(|| (!find(&text).is_empty()).then_some(SECRET));
        if let Some(why) = why {
            suspected.insert(uid.clone(), why);
        }
    }
    suspected
}

/// What came of lines that were received.
pub(super) fn pulled(
    context: &Context,
    transaction: &Transaction<'_>,
    received: Received,
    waiting: Vec<(String, Stopped)>,
) -> anyhow::Result<Pulled> {
    context.remember_forgotten(received.forgotten.iter().cloned().collect());
    let view = transaction.view();
    let here = view.device()?;
    let mut pulled = Pulled::new(&here, received.lines, received.difference, waiting);
    pulled.renamed = received.renamed;
    pulled.forgotten = received.forgotten.into_iter().collect();
    for held in received.held {
        if let Some(id) = view.number_of(&Subject::Entry(held.uid.clone()))?
            && let Some(entry) = view.entry(id)?
            && entry.is_hard_limit()
        {
            pulled.limits_held.push(reply::Held {
                id,
                item: entry.item,
                score: entry.base_score.value(),
                wanted: held.wanted,
                fields: held.fields,
                here: held.device == here,
                device: held.device,
            });
        }
    }
    Ok(pulled)
}
