//! `aizo export`: the profile as a whole, and the profile where hosts of agents look for it by themselves.

mod copies;
mod folder;
mod place;
mod profile;
mod reply;
mod work;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};

use super::context::of_scenario;
use super::entries::{Filter, count, parse_scenario};
use super::{Context, Reply, told};
use crate::error::{Failure, Kind};
use crate::export::{Block, Format, Offer, Origin, compose};
use crate::model::Band;
use crate::recall::{Hit, Request};
use crate::settings;
use folder::Folder;
use place::Place;
use profile::Wanted;
use reply::{Exported, File};
use work::{carry_out, must_be_writable};

/// Up to this many entries are counted, to say how many are left out.
const COUNTED: usize = 50_000;
/// Up to this many lines of a group belong to a kind of task.
const MOST: usize = 400;

/// Arguments of `export`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo export backup.jsonl
  aizo export --redact --format md
  aizo export --format claude-md
  aizo export --format claude-md --into CLAUDE.md
  aizo export --format cursor-rules --into .cursor/rules/aizo.mdc --scenario coding
  aizo export --format memory-md --into MEMORY.md --entries memory
  aizo export --format agents-md --into AGENTS.md --check
  aizo export --remove --into CLAUDE.md

Without a format it is the whole profile that is written, as aizo import brings it back.

For a host's file it writes one block between two marker lines; everything else in the file stays byte for byte. Markers that you put somewhere
yourself (<!-- aizo:begin --> and <!-- aizo:end -->, each on a line) are where the block goes. Hard limits come first, then as
many of the others as the host reads. What is exported can be read by everybody who can read the file.")]
pub struct Args {
    /// The whole profile in this form (jsonl, json, md), or what that file of a host holds of it
    #[arg(long, value_enum)]
    format: Option<Wanted>,
    /// Put the block into this file; without it the block is printed
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
    /// Write nothing, and say whether the file is up to date: exit code 0, or 1 and what differs
    #[arg(long, requires = "into", conflicts_with = "remove")]
    check: bool,
    /// Take the block out again
    #[arg(long, requires = "into")]
    remove: bool,
    /// Of what is no hard limit, only what belongs to this kind of task
    #[arg(long, value_name = "NAME", value_parser = parse_scenario)]
    scenario: Option<String>,
    /// For memory-md: a folder that gets one file for each entry of the index
    #[arg(long, value_name = "DIR", requires = "into")]
    entries: Option<PathBuf>,
    #[command(flatten)]
    profile: profile::Whole,
}

/// What is stored, as far as it may be exported.
struct Profile {
    limits: Vec<Hit>,
    others: Vec<Hit>,
    unseen: Option<usize>,
}

/// Runs `export`.
///
/// # Errors
/// The markers in the file are broken, the file cannot be read or written, and what the store reports.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Reply> {
    let mut into = args.into.as_deref().map(absolute).transpose()?;
    let folder = args.entries.as_deref().map(absolute).transpose()?;
    if let Some(into) = into.take_if(|_| args.remove) {
        return remove(into, folder, context);
    }
    if let Some(form) = args.profile.form(args.format)? {
        if args.into.is_some() || args.scenario.is_some() {
            return Err(Failure::usage("say for which file: --format").into());
        }
        return profile::run(&args.profile, form, context);
    }
    let Some(Wanted::File(format)) = args.format else {
        return Err(Failure::usage("say for which file: --format").into());
    };
    if folder.is_some() && format != Format::MemoryMd {
        return Err(Failure::usage(format!(
            "--entries belongs to an index, and {} is none",
            format.name()
        ))
        .hint("aizo export --format memory-md --into FILE --entries DIR")
        .into());
    }
    let stored = profile(args.scenario.as_deref(), context)?;
    match into {
        Some(into) => write(format, into, folder, stored, args.check, context),
        None => Ok(print(format, stored, context)),
    }
}

/// The whole of what may be exported, in the order of its importance. It is as of the last time that something was seen, so that a
/// file changes when the store does and not because time goes by. Nothing when there is no store.
fn profile(scenario: Option<&str>, context: &Context) -> anyhow::Result<Option<Profile>> {
    let filter = Filter {
        bands: Vec::new(),
        scenario: scenario.map(str::to_owned),
        min_score: None,
    };
    let tagged = filter.request(context);
    context.read(|view| {
        let mut newest: Option<DateTime<Utc>> = None;
        view.each_preference(|entry| newest = newest.max(entry.last_seen.moment()))?;
        let now = context.settings.now;
        let then = newest.map_or(now, |newest| newest.min(now));
        let find =
            |request: Request| -> anyhow::Result<Vec<Hit>> { Ok(view.find(&request, then)?.hits) };
        let mut limits = find(Request {
            bands: vec![Band::Taboo],
            ..Request::default()
        })?;
        let score = |hit: &Hit| hit.preference.base_score.value();
        limits.sort_by(|a, b| score(a).total_cmp(&score(b)));
        let mut others = if tagged.scenario.is_some() {
            of_scenario(&tagged, MOST, find)?
        } else {
            view.standing(MOST, then)?
        };
        let mut seen = HashSet::new();
        others.retain(|hit| !hit.preference.is_hard_limit() && seen.insert(hit.preference.id));
        let offered = limits.len() + others.len();
        let stored = view.count_up_to(COUNTED)?;
        Ok(Profile {
            limits,
            others,
            unseen: stored.map(|stored| stored.saturating_sub(offered)),
        })
    })
}

impl Profile {
    fn offer<'p>(&'p self, folder: Option<&'p str>) -> Offer<'p> {
        Offer {
            limits: &self.limits,
            others: &self.others,
            unseen: self.unseen,
            folder,
        }
    }

    /// The hits behind the lines of a block.
    fn hits<'p>(&'p self, block: &'p Block) -> impl Iterator<Item = &'p Hit> {
        let all = || self.limits.iter().chain(&self.others);
        block
            .ids()
            .filter_map(move |id| all().find(|hit| hit.preference.id == id))
    }
}

const NOTHING: Profile = Profile {
    limits: Vec::new(),
    others: Vec::new(),
    unseen: Some(0),
};

fn print(format: Format, stored: Option<Profile>, context: &Context) -> Reply {
    let block = compose(
        format,
        stored.as_ref().unwrap_or(&NOTHING).offer(None),
        format.room(),
        1,
    );
    say_what_is_missing(&block, stored.is_some(), context);
    let text = if block.is_empty() {
        String::new()
    } else {
        format!("{}{}\n", format.head(), block.text(Origin::ByHand))
    };
    Reply::Answer(Box::new(
        Exported::new(Some(format), None, "printed").with(&block, text),
    ))
}

fn write(
    format: Format,
    into: PathBuf,
    folder: Option<PathBuf>,
    stored: Option<Profile>,
    check: bool,
    context: &Context,
) -> anyhow::Result<Reply> {
    let place = Place::at(into)?;
    let folder = folder.map(|path| Folder::new(path, &place.into));
    let exists = stored.is_some();
    if !exists {
        must_hold_nothing(&place, folder.as_ref(), context)?;
    }
    let stored = stored.unwrap_or(NOTHING);
    let link = folder.as_ref().map(Folder::link);
    let block = place.block(format, stored.offer(link.as_deref()))?;
    say_what_is_missing(&block, exists, context);
    if block.entries() == 0 && !block.is_empty() {
        context.note(format!(
            "{} has no room for a preference beside what else stands in it",
            place.into.display()
        ));
    }
    let into = place.into.clone();
    let mut files = vec![place.with(format, &block)?];
    if let Some(folder) = &folder {
        files.extend(folder.plan(stored.hits(&block), context)?);
    }
    let text = block.text(Origin::ByHand);
    let reply = Exported::new(Some(format), Some(into.clone()), files[0].result());
    let reply = reply.with(&block, text);
    if check {
        return Ok(checked(reply, files, format, &into, context));
    }
    must_be_writable(&files)?;
    let (files, failure) = carry_out(files, context);
    let reply = told(reply.files(files), failure, context)?;
    Ok(Reply::Answer(Box::new(reply)))
}

/// A wrong home or path must not empty the files of the right one.
fn must_hold_nothing(
    place: &Place,
    folder: Option<&Folder>,
    context: &Context,
) -> Result<(), Failure> {
    let (what, options) = if place.managed.is_some() {
        (place.into.display(), "--into FILE")
    } else {
        match folder
            .map(|folder| Ok((folder, folder.holds_ours()?)))
            .transpose()?
        {
            Some((folder, true)) => (folder.path().display(), "--into FILE --entries DIR"),
            _ => return Ok(()),
        }
    };
    let db = context.settings.db.display();
    let message = format!("there is no store at {db}, so {what} was left as it is");
    Err(Failure::new(Kind::NotFound, message).hint(format!(
        "aizo export --remove {options} takes out what was written there"
    )))
}

/// The reply to `--check`.
fn checked(
    reply: Exported,
    files: Vec<File>,
    format: Format,
    into: &Path,
    context: &Context,
) -> Reply {
    if !files.iter().any(File::changes) {
        return Reply::Answer(Box::new(reply.files(files).result("up_to_date")));
    }
    context.note(format!(
        "{} is not up to date: aizo export --format {} --into {} writes it",
        into.display(),
        format.name(),
        crate::model::quoted(&into.display().to_string()),
    ));
    Reply::Difference(Box::new(reply.files(files).result("differs")))
}

fn remove(into: PathBuf, folder: Option<PathBuf>, context: &Context) -> anyhow::Result<Reply> {
    let place = Place::at(into.clone())?;
    if place.managed.is_none() {
        context.note(format!("{} has no block of aizo's", into.display()));
    }
    let mut files = vec![place.without()?];
    if let Some(folder) = folder {
        files.extend(Folder::new(folder, &into).plan(std::iter::empty(), context)?);
    }
    must_be_writable(&files)?;
    let result = if files[0].changes() {
        "removed"
    } else {
        "absent"
    };
    let (files, failure) = carry_out(files, context);
    let failure = failure.or_else(|| copies::drop(&files[0], context).err());
    let reply = Exported::new(None, Some(into), result).files(files);
    let reply = told(reply, failure, context)?;
    Ok(Reply::Answer(Box::new(reply)))
}

fn say_what_is_missing(block: &Block, exists: bool, context: &Context) {
    if block.is_empty() {
        context.note(if exists {
            "nothing is stored"
        } else {
            "nothing is stored yet"
        });
    }
    if block.limits_left_out() > 0 {
        context.note(format!(
            "{} found no place: aizo recall --type taboo",
            count(block.limits_left_out(), "hard limit", "hard limits"),
        ));
    }
}

fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    // `--into=~/FILE` is not expanded by every shell.
    let path = settings::expand(path, dirs::home_dir().as_deref());
    Ok(std::path::absolute(path)?)
}
