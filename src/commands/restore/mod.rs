//! `aizo restore`: puts a copy in the place of the store, says what comes and goes by it, and asks before a hard limit is
//! lost or weakened.

mod compare;
mod reply;

use std::path::{Path, PathBuf};

use super::entries::count;
use super::input::is_plain_file;
use super::{Context, Wrapped};
use crate::error::{Failure, Kind};
use crate::model::{Preference, quoted};
use crate::present;
use crate::storage::{Staged, StorageError, Store, View};
use compare::{Comparison, Limits, Moved};
pub use reply::Reply;

/// So many limits are named in a question or an error.
const MOST_NAMED: usize = 20;

/// Arguments of `restore`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo backup --list
  aizo restore preferences.db.20261130T090000Z.before-clear.bak --dry-run
  aizo restore /media/stick/profile.db

The file is checked first, and an older one is brought up to date. What is stored now is kept as a copy, which restore puts back in
turn. Others may go on reading and writing meanwhile. What aizo export has written comes back with aizo import.")]
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
    /// The entries.
    Entries(Vec<Preference>),
}

impl Present {
    fn of(context: &Context) -> anyhow::Result<Self> {
        match context.read(|view| Ok(view.preferences()?)) {
            Ok(Some(entries)) => Ok(Present::Entries(entries)),
            Ok(None) => Ok(Present::Nothing),
            Err(error) => match error.downcast_ref::<StorageError>() {
                Some(fault) if fault.is_damage() => Ok(Present::Unreadable(fault.to_string())),
                _ => Err(error),
            },
        }
    }

    fn entries(&self) -> &[Preference] {
        match self {
            Present::Entries(entries) => entries,
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
    let staged =
        Staged::from(&file, context.settings.now).map_err(|error| refusal(&file, error))?;
    let coming = staged.view().preferences()?;
    let totals = staged.view().totals()?;
    let present = Present::of(context)?;
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
        if args.yes || still_holds(view, &present, &reply.comparison.limits, &coming)? {
            return Ok(());
        }
        let failure = Failure::new(Kind::Conflict, "the store has changed since you were asked");
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
    let told = [
        ("would be lost", &limits.lost),
        ("would forbid less, or something else", &limits.weakened),
    ];
    let told = told.into_iter().filter(|(_, limits)| !limits.is_empty());
    let told: Vec<String> = told
        .map(|(what, limits)| {
            let many = count(limits.len(), "hard limit", "hard limits");
            format!("{many} {what}: {}", named(limits))
        })
        .collect();
    let why = match present {
        Present::Unreadable(why) => {
            format!("{why}; which hard limits would be lost cannot be said")
        }
        _ if told.is_empty() => return Ok(()),
        _ => told.join("; "),
    };
    let yes = format!("aizo restore {} --yes", quoted(&file.display().to_string()));
    if !present::is_interactive() {
        return Err(Failure::new(Kind::Conflict, why).hint(yes).into());
    }
    let answer = present::ask(&format!("{why}\nRestore it all the same? Type yes: "))?;
    if answer.eq_ignore_ascii_case("yes") || answer.eq_ignore_ascii_case("y") {
        Ok(())
    } else {
        Err(Failure::new(Kind::Failed, "nothing was restored").into())
    }
}

/// `“tabs”, “emojis” and 3 more`.
fn named(limits: &[Moved]) -> String {
    let mut names: Vec<String> = limits
        .iter()
        .take(MOST_NAMED)
        .map(|limit| format!("“{}”", limit.item))
        .collect();
    let more = limits.len().saturating_sub(MOST_NAMED);
    if more > 0 {
        names.push(format!("and {more} more"));
    }
    names.join(", ")
}
