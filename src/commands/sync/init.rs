//! `aizo sync init`: names the repository, and looks whether it is one.

use std::fs;
use std::io::{self, Write};

use serde::Serialize;

use super::pull::change;
use super::{Place, Rehearsal};
use crate::commands::Context;
use crate::commands::entries::count;
use crate::commands::history::short_device;
use crate::error::{Failure, Kind};
use crate::files::{Readers, folders_for};
use crate::present::{Answer, Page, Progress, to_json};
use crate::storage::More;
use crate::sync::{Remote, Repository, Tree, read, shown};

/// Arguments of `sync init`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The address of a repository, as git takes it; an empty one, or one that another device has pushed to
    url: String,
    /// The branch
    #[arg(long, value_name = "NAME", default_value = "main")]
    branch: String,
    #[command(flatten)]
    rehearsal: Rehearsal,
}

/// What `sync init` replies.
#[derive(Debug, Serialize)]
pub(super) struct Reply {
    result: &'static str,
    dry_run: bool,
    url: String,
    branch: String,
    device: Option<String>,
    devices: usize,
    renamed: Option<String>,
    hint: &'static str,
}

pub(super) fn run(args: &Args, context: &Context) -> anyhow::Result<Reply> {
    let remote = Remote::parse(&args.url, &args.branch)?;
    let dry_run = args.rehearsal.dry_run;
    let progress = Progress::new(1, !context.is_quiet());
    progress.name("fetching");
    let place = Place::of(context);
    let is_named = match Remote::load(&place.settings())? {
        Some(other) if other != remote => return Err(is_another(&other, &place).into()),
        named => named.is_some(),
    };
    if dry_run {
        let folder = tempfile::tempdir()?;
        let repository =
            Repository::open(&folder.path().join("x.git"), &remote, context.settings.now)?;
        let tree = repository.fetch()?;
        return Ok(reply("would_be_set_up", &remote, &tree, true));
    }
    let made = folders_for(&place.settings(), Readers::Owner)?;
    let tried = set_up(context, &place, &remote);
    if tried.is_err() && !is_named {
        // A wrong address leaves nothing behind.
        let _as_far_as_it_goes = fs::remove_dir_all(place.repository());
        for folder in made.iter().rev() {
            let _something_is_in_it = fs::remove_dir(folder);
        }
    }
    let (tree, device, renamed) = tried?;
    let result = if is_named { "unchanged" } else { "set_up" };
    Ok(Reply {
        device: Some(device),
        renamed,
        ..reply(result, &remote, &tree, false)
    })
}

fn reply(result: &'static str, remote: &Remote, tree: &Tree, dry_run: bool) -> Reply {
    Reply {
        result,
        dry_run,
        url: shown(&remote.url),
        branch: remote.branch.clone(),
        device: None,
        devices: tree.devices.len(),
        renamed: None,
        hint: "aizo sync",
    }
}

fn is_another(other: &Remote, place: &Place) -> Failure {
    Failure::new(
        Kind::Conflict,
        format!(
            "this store is synced with {} ({})",
            shown(&other.url),
            other.branch
        ),
    )
    .hint(format!(
        "to name another repository, remove {} first; nothing in the store is lost by that",
        place.folder.display()
    ))
}

/// Fetches, and gives a copied store a name of its own.
fn set_up(
    context: &Context,
    place: &Place,
    remote: &Remote,
) -> anyhow::Result<(Tree, String, Option<String>)> {
    let _lock = place.lock(context)?;
    let now = context.settings.now;
    let repository = Repository::open(&place.repository(), remote, now)?;
    let tree = repository.fetch()?;
    let (device, renamed) = change(context, false, |transaction| {
        let own = transaction.view().device()?;
        let mut renamed = None;
        if let Some(blob) = tree.devices.get(&own) {
            let reading = read(&own, &repository.read(blob)?, &Default::default(), now);
            let more = match reading.has_newer() {
                true => More::Waits,
                false => More::Nothing,
            };
            renamed = transaction.leave_name(&reading.lines, more)?;
        }
        Ok((transaction.view().device()?, renamed))
    })?;
    remote.save(&place.settings())?;
    Ok((tree, device, renamed))
}

impl Answer for Reply {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let known = match self.devices {
            0 => "it is empty".to_owned(),
            many => format!("{} in it", count(many, "device", "devices")),
        };
        page.line(&format!(
            "{}: {} ({}); {known}",
            self.result.replace('_', " "),
            self.url,
            self.branch
        ))?;
        if let Some(name) = &self.renamed {
            page.wrapped(&format!(
                "another store writes as the device that this one was; it is {} from now on",
                short_device(name)
            ))?;
        }
        page.line(&format!("  next: {}", self.hint))
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        to_json(self, out)
    }
}
