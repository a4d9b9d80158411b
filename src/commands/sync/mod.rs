//! `aizo sync`: the profile of several devices, through a git repository.

mod examine;
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
use crate::model::quoted;
use crate::present::{Answer, Progress};
use crate::storage::Owed;
use crate::sync::{Remote, Repository, shown};
pub(super) use examine::{Trouble, examine, is_set_up};
use reply::Reply;

/// The steps of a pull and of a push, as a bar shows them.
const PULL_STEPS: u64 = 2;
const PUSH_STEPS: u64 = 2;

/// Arguments of `sync`.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  aizo sync init git@github.com:me/aizo.git
  aizo sync
  aizo sync pull --dry-run
  aizo sync import https://example.com/ada/aizo.git --as ada

Without a word it pulls and then pushes. A hard limit gives way only to who knew it, or to a forget elsewhere, which is told;
nothing else that is here is lost by a sync."
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

    /// Whether a repository is named, and with it whoever may write the profile from then on.
    pub(super) fn names_a_repository(&self) -> bool {
        matches!(self.action, Some(Action::Init(_)))
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
    Rebuild(rebuild::Args),
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
        Some(Action::Rebuild(args)) => Box::new(rebuild::run(args, context)?),
        Some(Action::Pull(rehearsal)) => {
            let sync = Sync::open(context, rehearsal.dry_run, PULL_STEPS)?;
            let mut reply = sync.reply("pulled")?;
            reply.pulled = Some(sync.pull()?);
            Box::new(sync.done(reply)?)
        }
        Some(Action::Push(rehearsal)) => {
            let sync = Sync::open(context, rehearsal.dry_run, PUSH_STEPS)?;
            let mut reply = sync.reply("pushed")?;
            sync.push(&mut reply)?;
            Box::new(sync.done(reply)?)
        }
        None => {
            let sync = Sync::open(context, args.rehearsal.dry_run, PULL_STEPS + PUSH_STEPS)?;
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
    fn lock(&self, context: &Context) -> Result<Lock, Failure> {
        let lock = Lock::take(&self.folder.join("lock"))?;
        context.is_syncing.set(true);
        Ok(lock)
    }

    fn try_lock(&self) -> Result<Option<Lock>, Failure> {
        Lock::try_take(&self.folder.join("lock"))
    }

    /// The repository that was named.
    fn remote(&self) -> Result<Remote, Failure> {
        Remote::load(&self.settings())?.ok_or_else(|| {
            Failure::new(Kind::NotFound, "no repository is named for a sync yet")
                .hint("aizo sync init URL")
        })
    }
}

/// Takes away the repository that lies here, with all that it held before; the next sync fetches it anew. It tells whether
/// it is gone: not while a sync runs, which then does the same.
///
/// # Errors
/// What the file system reports.
pub(super) fn drop_checkout(context: &Context) -> Result<bool, Failure> {
    let folder = Place::of(context).repository();
    if !folder.exists() {
        return Ok(true);
    }
    let Some(_lock) = Place::of(context).try_lock()? else {
        return Ok(false);
    };
    match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Failure::new(
            Kind::Io,
            format!("cannot remove {}: {error}", folder.display()),
        )),
        _ => Ok(true),
    }
}

/// Where the server of a sync keeps what was there before, and the command that takes it away: one commit without a past in
/// the place of all.
pub(super) fn history(context: &Context) -> Option<(String, String)> {
    let place = Place::of(context);
    let remote = place.remote().ok()?;
    let git = format!(
        "git --git-dir {}",
        quoted(&place.repository().display().to_string())
    );
    let branch = &remote.branch;
    Some((
        format!("{} ({branch})", shown(&remote.url)),
        format!(
            "aizo sync && {git} push \\\n  --force-with-lease={branch}:refs/remotes/origin/{branch} {} \\\n  \"$({git} \\\n    -c user.name=aizo -c user.email=aizo@localhost \\\n    commit-tree -m aizo 'refs/remotes/origin/{branch}^{{tree}}')\":refs/heads/{branch}",
            quoted(&shown(&remote.url)),
        ),
    ))
}

/// A sync that runs.
struct Sync<'c> {
    context: &'c Context,
    remote: Remote,
    repository: Repository,
    dry_run: bool,
    progress: Progress,
    _lock: Lock,
}

impl<'c> Sync<'c> {
    fn open(context: &'c Context, dry_run: bool, steps: u64) -> anyhow::Result<Self> {
        let place = Place::of(context);
        let remote = place.remote()?;
        let lock = place.lock(context)?;
        let now = context.settings.now;
        Ok(Sync {
            context,
            repository: Repository::open(&place.repository(), &remote, now)?,
            remote,
            dry_run,
            progress: Progress::new(steps, !context.is_quiet()),
            _lock: lock,
        })
    }

    /// Lets nothing lie here of what was forgotten.
    fn shed(&self) -> anyhow::Result<()> {
        let owed = self
            .context
            .read(|view| Ok((view.forgettings()?, view.owed()?)))?;
        let is_owed = owed.filter(|(_, owed)| owed.contains(&Owed::Checkout));
        let (Some((known, _)), false) = (is_owed, self.dry_run) else {
            return Ok(());
        };
        self.repository.shed()?;
        self.context
            .write(|transaction| Ok(transaction.pay(&[Owed::Checkout], known)?))
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
