//! `aizo info`: the store, its numbers, and where each setting came from.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::Context;
use super::entries::count;
use crate::llm;
use crate::model::Band;
use crate::present::{Answer, Page, to_json};
use crate::recall::meaning;
use crate::scoring::Decay;
use crate::settings::{EnvFile, Setting};
use crate::storage::{SCHEMA_VERSION, Totals};

/// Arguments of `info`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  aizo info --json
  aizo info --licenses")]
pub struct Args {
    /// Print the notices of what is inside the program and not under its own licence
    #[arg(long)]
    licenses: bool,
}

/// The notice of something inside the program.
#[derive(Debug, Serialize)]
struct License {
    name: &'static str,
    license: &'static str,
    notice: &'static str,
    text: &'static str,
}

/// What `info --licenses` replies.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Licenses(Vec<License>);

impl Answer for Licenses {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        for license in &self.0 {
            page.heading(&format!("{} ({})", license.name, license.license))?;
            page.line("")?;
            page.block(license.notice)?;
            page.line("")?;
            page.block(license.text)?;
        }
        Ok(())
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        to_json(self, out)
    }
}

/// What `info` replies.
#[derive(Debug, Serialize)]
pub struct Reply {
    version: &'static str,
    path: PathBuf,
    exists: bool,
    size_bytes: u64,
    schema: i64,
    entries: i64,
    bands: BTreeMap<Band, usize>,
    decay: Decay,
    /// Whether the stored decay settings are out of range, so that the defaults are used.
    decay_repaired: bool,
    evidence: i64,
    changes: i64,
    waiting_for_review: i64,
    sessions: i64,
    /// Rows that another program wrote and that the next write takes into the journal.
    outside_changes: i64,
    /// Entries whose `last_seen` lies in the future; they count as new.
    future_times: Vec<i64>,
    /// Entries with a time that cannot be read.
    unreadable_times: Vec<i64>,
    /// Entries whose score is no number; they count as they last did.
    unreadable_scores: Vec<i64>,
    settings: Vec<Setting>,
    env_files: Vec<EnvFile>,
}

struct Numbers {
    totals: Totals,
    bands: BTreeMap<Band, usize>,
    decay: Decay,
    decay_repaired: bool,
    future: Vec<i64>,
    unreadable: Vec<i64>,
    unreadable_scores: Vec<i64>,
}

/// Runs `info`.
///
/// # Errors
/// A store that cannot be read.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Box<dyn Answer>> {
    if args.licenses {
        return Ok(Box::new(Licenses(vec![
            License {
                name: "recall.azse, the embedding table",
                license: "Apache-2.0",
                notice: meaning::NOTICE,
                text: meaning::LICENSE,
            },
            License {
                name: "webpki-roots, the list of root certificates",
                license: "CDLA-Permissive-2.0",
                notice: llm::ROOTS_NOTICE,
                text: llm::ROOTS_LICENSE,
            },
        ])));
    }
    let now = context.settings.now;
    let numbers = context.read(|view| {
        let mut bands: BTreeMap<Band, usize> = Band::ALL.map(|band| (band, 0)).into();
        let (mut future, mut unreadable) = (Vec::new(), Vec::new());
        view.each_preference(|entry| {
            *bands.entry(entry.band()).or_default() += 1;
            match entry.last_seen.moment() {
                Some(seen) if seen > now => future.push(entry.id),
                Some(_) => {}
                None => unreadable.push(entry.id),
            }
        })?;
        let decay = view.decay()?;
        let stored = view.decay_values()?;
        let same = stored
            .get("half_life_days")
            .and_then(serde_json::Value::as_f64)
            == Some(decay.half_life_days)
            && stored.get("floor").and_then(serde_json::Value::as_f64) == Some(decay.floor);
        Ok(Numbers {
            totals: view.totals()?,
            bands,
            decay,
            decay_repaired: !same,
            future,
            unreadable,
            unreadable_scores: view.unreadable_scores()?,
        })
    })?;
    let exists = numbers.is_some();
    let numbers = numbers.unwrap_or_else(|| Numbers {
        totals: Totals::default(),
        bands: Band::ALL.map(|band| (band, 0)).into(),
        decay: Decay::default(),
        decay_repaired: false,
        future: Vec::new(),
        unreadable: Vec::new(),
        unreadable_scores: Vec::new(),
    });
    let path = context.settings.db.clone();
    Ok(Box::new(Reply {
        version: env!("CARGO_PKG_VERSION"),
        size_bytes: std::fs::metadata(&path).map_or(0, |metadata| metadata.len()),
        path,
        exists,
        schema: SCHEMA_VERSION,
        entries: numbers.totals.entries,
        bands: numbers.bands,
        decay: numbers.decay,
        decay_repaired: numbers.decay_repaired,
        evidence: numbers.totals.evidence,
        changes: numbers.totals.changes,
        waiting_for_review: numbers.totals.proposals,
        sessions: numbers.totals.sessions,
        outside_changes: numbers.totals.outside,
        future_times: numbers.future,
        unreadable_times: numbers.unreadable,
        unreadable_scores: numbers.unreadable_scores,
        settings: context.settings.all.clone(),
        env_files: context.settings.files.clone(),
    }))
}

impl Answer for Reply {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let store = if self.exists {
            format!(
                "{} ({} bytes, schema {})",
                self.path.display(),
                self.size_bytes,
                self.schema
            )
        } else {
            format!(
                "{} (not there yet; the first add makes it)",
                self.path.display()
            )
        };
        let bands: Vec<String> = self
            .bands
            .iter()
            .map(|(band, count)| format!("{band} {count}"))
            .collect();
        let changes = usize::try_from(self.changes).unwrap_or_default();
        let evidence = usize::try_from(self.evidence).unwrap_or_default();
        let mut pairs = vec![
            ("version", self.version.to_owned()),
            ("store", store),
            (
                "entries",
                format!("{} ({})", self.entries, bands.join(", ")),
            ),
            (
                "decay",
                format!(
                    "half-life {} days, floor {}{}",
                    self.decay.half_life_days,
                    self.decay.floor,
                    if self.decay_repaired {
                        " (the stored values are out of range: aizo config set-half-life, set-floor)"
                    } else {
                        ""
                    }
                ),
            ),
            (
                "journal",
                format!(
                    "{}, {}",
                    count(changes, "change", "changes"),
                    count(evidence, "observation", "observations")
                ),
            ),
        ];
        if self.waiting_for_review > 0 {
            pairs.push((
                "review",
                format!("{} waiting: aizo review", self.waiting_for_review),
            ));
        }
        if self.sessions > 0 {
            pairs.push(("sessions", format!("{} analysed", self.sessions)));
        }
        if self.outside_changes > 0 {
            pairs.push((
                "outside",
                format!(
                    "{} rows written by another program; the next change takes them over",
                    self.outside_changes
                ),
            ));
        }
        for (name, what, ids) in [
            ("in the future", "last seen", &self.future_times),
            ("no time", "last seen", &self.unreadable_times),
            ("no score", "score", &self.unreadable_scores),
        ] {
            if !ids.is_empty() {
                let list: Vec<String> = ids.iter().take(10).map(i64::to_string).collect();
                pairs.push((
                    name,
                    format!(
                        "{what} of {}: ids {}",
                        count(ids.len(), "entry", "entries"),
                        list.join(", ")
                    ),
                ));
            }
        }
        for file in &self.env_files {
            pairs.push(("file", format!("{}: {}", file.path.display(), file.state)));
        }
        page.pairs(&pairs)?;
        let settings: Vec<(&str, String)> = self
            .settings
            .iter()
            .map(|setting| {
                let value = format!("{} ({})", setting.value, setting.source.describe());
                (setting.name.as_str(), value)
            })
            .collect();
        page.line("")?;
        page.pairs(&settings)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        to_json(self, out)
    }
}
