//! `aizo restore`: puts a copy in the place of the store, says what comes and goes by it, and asks before a hard limit is
//! lost or weakened.

pub(super) mod compare;
mod reply;

use std::path::{Path, PathBuf};

use super::input::is_plain_file;
use super::{Context, Wrapped};
use crate::error::{Failure, Kind};
use crate::model::{Preference, quoted};
use crate::present;
use crate::storage::{Memory, Staged, StorageError, Store, View};
use compare::{Comparison, Limits};
pub use reply::Reply;

/// Arguments of `restore`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo backup --list
  aizo restore preferences.db.20261130T090000Z.before-clear.bak --dry-run
  aizo restore /media/stick/profile.db

The file is checked first, and an older one is brought up to date. What is stored now is kept as a copy, which restore puts back in
turn. What was forgotten here does not come back. Others may go on reading and writing meanwhile. What aizo export has written comes
back with aizo import.")]
pub struct Args {
    /// The copy: a file, or the name of one in the folder of copies
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Say what would come and go, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask when hard limits are lost or weakened by it
    #[arg(long, short)]
    yes: bool,
}

/// What is stored before.
enum Present {
    /// There is no store.
    Nothing,
    /// The store cannot be read, and why.
    Unreadable(String),
    /// The entries, and what was forgotten.
    Stored(Vec<Preference>, Memory),
}

impl Present {
    fn of(context: &Context) -> anyhow::Result<Self> {
        match context.read(|view| Ok((view.preferences()?, Memory::of(view)?))) {
            Ok(Some((entries, memory))) => Ok(Present::Stored(entries, memory)),
            Ok(None) => Ok(Present::Nothing),
            Err(error) => match error.downcast_ref::<StorageError>() {
                Some(fault) if fault.is_damage() => Ok(Present::Unreadable(fault.to_string())),
                _ => Err(error),
            },
        }
    }

    fn entries(&self) -> &[Preference] {
        match self {
            Present::Stored(entries, _) => entries,
            Present::Nothing | Present::Unreadable(_) => &[],
        }
    }
}

/// Runs `restore`.
///
/// # Errors
/// A file that is no sound store, a hard limit that would be lost and nobody said yes, a store that cannot be written.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Reply> {
    let file = find(&args.file, context)?;
    let present = Present::of(context)?;
    let nothing = Memory::default();
    let memory = match &present {
        Present::Stored(_, memory) => memory,
        Present::Nothing | Present::Unreadable(_) => &nothing,
    };
    let staged =
        Staged::from(&file, memory, context.settings.now).map_err(|error| refusal(&file, error))?;
    let coming = staged.view().preferences()?;
    let totals = staged.view().totals()?;
    let comparison = Comparison::of(present.entries(), &coming);
    let mut reply = Reply::new(&file, &staged, totals, &coming, comparison);
    reply.dry_run = args.dry_run;
    if let Present::Unreadable(why) = &present {
        reply.unreadable = Some(why.clone());
    }
    if args.dry_run {
        return Ok(reply);
    }
    if !args.yes {
        confirm(&args.file, &present, &reply.comparison.limits)?;
    }
    let agree = |view: Option<&View<'_>>| -> Result<(), Wrapped> {
        let knows_all = match (view, &present) {
            (None, _) | (_, Present::Unreadable(_)) => true,
            (Some(view), _) => memory.is_of(view)?,
        };
        let is_agreed = args.yes || still_holds(view, &present, &reply.comparison.limits, &coming)?;
        if knows_all && is_agreed {
            return Ok(());
        }
        let failure = Failure::new(
            Kind::Conflict,
            "the store has changed meanwhile, and nothing was restored",
        );
        Err(Wrapped(failure.hint("say it again").into()))
    };
    let restored = staged
        .replace(&context.location(), context.settings.now, agree)
        .map_err(|wrapped| wrapped.0)?;
    if super::sync::is_set_up(context) {
        context.note("what the repository of the sync has comes back with the next aizo sync");
    }
    Ok(reply.after(restored))
}

/// Whether what a person was told of the store is true of it still.
fn still_holds(
    view: Option<&View<'_>>,
    present: &Present,
    told: &Limits,
    coming: &[Preference],
) -> Result<bool, StorageError> {
    match (view, present) {
        (_, Present::Unreadable(_)) => Ok(true),
        (None, _) => Ok(false),
        (Some(view), _) => {
            let limits = Limits::of(&view.preferences()?, coming);
            Ok(limits.are_all_in(told))
        }
    }
}

/// The file, which may be named as it is in the folder of copies.
fn find(file: &Path, context: &Context) -> Result<PathBuf, Failure> {
    let db = &context.settings.db;
    let in_folder = Store::backup_folder(db).join(file);
    let found = [file, &in_folder].into_iter().find(|path| path.exists());
    let Some(found) = found else {
        let message = format!("there is no file {}", file.display());
        return Err(Failure::new(Kind::NotFound, message).hint("aizo backup --list"));
    };
    // A folder is told from a store by who opens it.
    if !found.is_dir() && !is_plain_file(found).unwrap_or(true) {
        let message = format!("{} is no file with an end", file.display());
        return Err(Failure::new(Kind::Io, message).hint("aizo backup --list names the copies"));
    }
    let is_store = found
        .canonicalize()
        .is_ok_and(|path| db.canonicalize().is_ok_and(|db| path == db));
    if is_store {
        let message = format!("{} is the store itself", file.display());
        return Err(Failure::usage(message).hint("aizo backup --list"));
    }
    Ok(found.to_path_buf())
}

/// What keeps a file from being put back.
fn refusal(file: &Path, error: StorageError) -> Failure {
    let (kind, hint) = match &error {
        StorageError::NotADatabase { .. } | StorageError::Foreign { .. } => (
            Kind::NotAStore,
            "what aizo export has written comes back with aizo import; aizo backup --list names the copies",
        ),
        StorageError::Folder { .. } => (Kind::NotAStore, "aizo backup --list names the copies"),
        StorageError::Newer { .. } | StorageError::Journal { .. } => {
            (Kind::Newer, "update aizo: cargo install aizo")
        }
        StorageError::Damaged { .. } | StorageError::Sqlite { .. } => (
            Kind::Damaged,
            "nothing was changed; aizo backup --list names other copies",
        ),
        StorageError::Full { .. } => (
            Kind::DiskFull,
            "make room where temporary files go (TMPDIR); nothing was changed",
        ),
        _ => (Kind::Io, "nothing was changed"),
    };
    let message = format!("cannot restore {}: {error}", file.display());
    Failure::new(kind, message).hint(hint)
}

/// Makes sure that somebody wants hard limits to be lost, or to forbid less.
fn confirm(file: &Path, present: &Present, limits: &Limits) -> anyhow::Result<()> {
    let why = match (present, limits.told()) {
        (Present::Unreadable(why), _) => {
            format!("{why}; which hard limits would be lost cannot be said")
        }
        (_, Some(told)) => told,
        (_, None) => return Ok(()),
    };
    let yes = format!("aizo restore {} --yes", quoted(&file.display().to_string()));
    confirm_loss(why, yes, "Restore it")
}

/// Asks whether something is to happen all the same, or says what to type where nobody can be asked.
pub(super) fn confirm_loss(why: String, yes: String, what: &str) -> anyhow::Result<()> {
    if !present::is_interactive() {
        return Err(Failure::new(Kind::Conflict, why).hint(yes).into());
    }
    if present::confirmed(&format!("{why}\n{what} all the same?"))? {
        Ok(())
    } else {
        Err(Failure::new(Kind::Failed, "nothing was changed").into())
    }
}
