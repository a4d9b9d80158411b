//! `aizo sync`: the profile of several devices, through a git repository.

mod import;
mod init;
mod note;
mod pull;
mod push;
mod rebuild;
mod reply;
mod status;

use std::path::PathBuf;

use super::Context;
use crate::error::{Failure, Kind};
use crate::files::Lock;
use crate::present::Answer;
use crate::sync::{Remote, Repository};
use reply::Reply;

/// Arguments of `sync`.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  aizo sync init git@github.com:me/aizo.git
  aizo sync
  aizo sync pull --dry-run
  aizo sync import https://example.com/ada/aizo.git --as ada

Without a word it pulls and then pushes. A hard limit gives way only to who knew it; nothing that is here is lost by a sync."
)]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    rehearsal: Rehearsal,
}

impl Args {
    /// Whether only what is known without the network is shown.
    pub(super) fn asks_for_status(&self) -> bool {
        matches!(self.action, Some(Action::Status))
    }
}

/// Whether anything is changed.
#[derive(Debug, Clone, Copy, clap::Args)]
struct Rehearsal {
    /// Say what would happen, and change nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Name the repository that this store is synced with
    Init(init::Args),
    /// Take over what other devices have pushed
    Pull(Rehearsal),
    /// Give the changes of this device to the others
    Push(Rehearsal),
    /// Show the repository, the devices and what waits; without the network
    Status,
    /// Make the tables anew from the files of the repository as they were fetched last
    Rebuild(Rehearsal),
    /// Put what somebody else has published into review
    Import(import::Args),
}

/// Runs `sync`.
///
/// # Errors
/// Git is missing, the repository cannot be reached, and what the store reports.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Box<dyn Answer>> {
    Ok(match &args.action {
        Some(Action::Init(args)) => Box::new(init::run(args, context)?),
        Some(Action::Import(args)) => Box::new(import::run(args, context)?),
        Some(Action::Status) => Box::new(status::run(context)?),
        Some(Action::Rebuild(rehearsal)) => Box::new(rebuild::run(rehearsal.dry_run, context)?),
        Some(Action::Pull(rehearsal)) => {
            let sync = Sync::open(context, rehearsal.dry_run)?;
            let mut reply = sync.reply("pulled")?;
            reply.pulled = Some(sync.pull()?);
            Box::new(sync.done(reply)?)
        }
        Some(Action::Push(rehearsal)) => {
            let sync = Sync::open(context, rehearsal.dry_run)?;
            let mut reply = sync.reply("pushed")?;
            sync.push(&mut reply)?;
            Box::new(sync.done(reply)?)
        }
        None => {
            let sync = Sync::open(context, args.rehearsal.dry_run)?;
            let mut reply = sync.reply("synced")?;
            reply.pulled = Some(sync.pull()?);
            sync.push(&mut reply)?;
            Box::new(sync.done(reply)?)
        }
    })
}

/// Where the files of a sync lie: beside the store that is synced.
struct Place {
    folder: PathBuf,
}

impl Place {
    fn of(context: &Context) -> Self {
        let db = &context.settings.db;
        let home = context.settings.home.as_ref();
        let folder = match home {
            Some(home) if *db == home.join("preferences.db") => home.join("sync"),
            _ => {
                let mut name = db.as_os_str().to_owned();
                name.push(".sync");
                PathBuf::from(name)
            }
        };
        Place { folder }
    }

    fn settings(&self) -> PathBuf {
        self.folder.join("sync.json")
    }

    fn repository(&self) -> PathBuf {
        self.folder.join("repository.git")
    }

    /// One sync at a time.
    fn lock(&self) -> Result<Lock, Failure> {
        Lock::take(&self.folder.join("lock"))
    }

    /// The repository that was named.
    fn remote(&self) -> Result<Remote, Failure> {
        Remote::load(&self.settings())?.ok_or_else(|| {
            Failure::new(Kind::NotFound, "no repository is named for a sync yet")
                .hint("aizo sync init URL")
        })
    }
}

/// A sync that runs.
struct Sync<'c> {
    context: &'c Context,
    remote: Remote,
    repository: Repository,
    dry_run: bool,
    _lock: Lock,
}

impl<'c> Sync<'c> {
    fn open(context: &'c Context, dry_run: bool) -> anyhow::Result<Self> {
        let place = Place::of(context);
        let remote = place.remote()?;
        let lock = place.lock()?;
        let now = context.settings.now;
        Ok(Sync {
            context,
            repository: Repository::open(&place.repository(), &remote, now)?,
            remote,
            dry_run,
            _lock: lock,
        })
    }

    fn device(&self) -> anyhow::Result<Option<String>> {
        self.context.read(|view| Ok(view.device()?))
    }

    fn reply(&self, result: &'static str) -> anyhow::Result<Reply> {
        Ok(Reply::new(result, self.dry_run, &self.remote))
    }

    fn done(&self, mut reply: Reply) -> anyhow::Result<Reply> {
        reply.device = self.device()?;
        Ok(reply)
    }
}
