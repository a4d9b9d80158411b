//! `aizo show`: the whole profile, or one entry with its evidence.

use std::io::{self, Write};

use chrono::TimeDelta;
use serde::Serialize;

use super::Context;
use super::entries::{Entries, Entry};
use super::resolve;
use super::why::{Observed, observations};
use crate::model::Score;
use crate::present::{Answer, ArrayWriter, Page, sparkline, to_json};
use crate::recall::Hit;
use crate::scoring::fade;
use crate::storage::Listing;

/// How many bars show a year; with its label that fits 40 columns.
const MOMENTS: i32 = 10;

/// Arguments of `show`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo show
  aizo show \"concise code\" --json")]
pub struct Args {
    /// The item, in one or several words, or its id; without any, the whole profile
    item: Vec<String>,
}

/// The whole profile, loaded as it is written.
struct All(Option<Listing>);

impl All {
    fn parts(&self) -> impl Iterator<Item = io::Result<Vec<Entry>>> + '_ {
        self.0
            .iter()
            .flat_map(Listing::parts)
            .map(|part| match part {
                Ok(hits) => Ok(hits.into_iter().map(Entry::from).collect()),
                Err(error) => Err(io::Error::other(error)),
            })
    }
}

impl Answer for All {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let mut is_first = true;
        for part in self.parts() {
            Entries::of(part?).table(page, is_first)?;
            is_first = false;
        }
        Ok(())
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        ArrayWriter::new(out).write(self.parts())
    }
}

#[derive(Debug, Serialize)]
struct Single {
    #[serde(flatten)]
    entry: Entry,
    evidence: Vec<Observed>,
    /// What it weighs in the time that comes, from now on.
    #[serde(skip)]
    fade: Vec<f64>,
    #[serde(skip)]
    is_limit: bool,
}

impl Single {
    /// `9.0 ▇▆▅▄ 4.1 in a year`.
    fn fading(&self) -> Option<String> {
        let (now, later) = (self.fade.first()?, self.fade.last()?);
        let bars = sparkline(&self.fade, Score::MAX.value());
        let still = if self.is_limit {
            "; a limit stays in force"
        } else {
            ""
        };
        Some(format!("{now:.1} {bars} {later:.1} in a year{still}"))
    }
}

impl Answer for Single {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.pairs(&self.entry.pairs(self.fading()))?;
        if !self.evidence.is_empty() {
            page.line("")?;
            page.heading("evidence")?;
        }
        observations(&self.evidence, page)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        to_json(self, out)
    }
}

/// Runs `show`.
///
/// # Errors
/// No such entry.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Box<dyn Answer>> {
    if args.item.is_empty() {
        return Ok(Box::new(All(context.listing()?)));
    }
    let now = context.settings.now;
    let single = context.read(|view| {
        let preference = resolve::one(view, &args.item)?;
        let evidence = view.evidence(preference.id)?;
        let decay = view.decay()?;
        let fade = fade(&preference, &decay, now, TimeDelta::days(365), MOMENTS);
        let is_limit = preference.is_hard_limit();
        let hit = Hit::new(preference, None, &decay, now);
        Ok(Single {
            fade,
            is_limit,
            entry: Entry::from(hit),
            evidence: evidence.into_iter().map(Observed::from).collect(),
        })
    })?;
    match single {
        Some(single) => Ok(Box::new(single)),
        None => Err(resolve::nothing_stored(&args.item.join(" ")).into()),
    }
}
