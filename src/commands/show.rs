//! `aizo show`: the whole profile, or one entry with its evidence.

use std::io::{self, Write};

use serde::Serialize;

use super::Context;
use super::entries::{Entries, Entry};
use super::resolve;
use super::why::{Observed, observations};
use crate::present::{Answer, ArrayWriter, Page, to_json};
use crate::recall::Hit;
use crate::storage::Listing;

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
}

impl Answer for Single {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.pairs(&self.entry.pairs())?;
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
        let hit = Hit::new(preference, None, &view.decay()?, now);
        Ok(Single {
            entry: Entry::from(hit),
            evidence: evidence.into_iter().map(Observed::from).collect(),
        })
    })?;
    match single {
        Some(single) => Ok(Box::new(single)),
        None => Err(resolve::nothing_stored(&args.item.join(" ")).into()),
    }
}
