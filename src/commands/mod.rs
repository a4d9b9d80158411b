//! The command tree: one file per verb. Here is what they share: the surroundings of a run, and how a
//! command's reply is printed.

mod add;
mod advice;
mod analyze;
mod apply;
mod asker;
mod backup;
mod check;
mod clear;
mod completions;
mod config;
mod context;
mod demo;
mod doctor;
mod entries;
mod export;
mod forget;
mod history;
mod hook;
mod import;
mod info;
mod input;
mod install;
mod keywords;
mod limits;
mod lost;
mod man;
mod mcp;
mod outcome;
mod recall;
mod record;
mod remove;
mod resolve;
mod restore;
mod review;
mod scenarios;
mod sessions;
mod show;
mod sync;
mod tag;
mod top;
mod touch;
mod undo;
mod update;
mod web;
mod why;
mod writing;

use std::cell::{Cell, RefCell};
use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args as _, FromArgMatches as _, Parser, Subcommand};

use crate::error::Failure;
use crate::present::{self, Answer, Style};
use crate::redact::{self, Secret};
use crate::scenarios::Scenarios;
use crate::settings::{Color, Flags, Settings};
use crate::storage::{Listing, Location, StorageError, Store, Transaction, View};

/// A preference memory for AI agents: what a user likes, dislikes, habitually does and must never see
#[derive(Debug, Parser)]
#[command(
    name = "aizo",
    version,
    about = "A preference memory for AI agents: what a user likes, dislikes, habitually does and must never see",
    max_term_width = 100
)]
#[command(
    after_help = "Example:\n  aizo add \"concise code\" \"asked twice for shorter code\"\n  aizo recall code --json"
)]
pub struct Cli {
    /// What every verb knows.
    #[command(flatten)]
    pub global: Global,
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// Options that stand before or behind any verb.
#[derive(Debug, clap::Args)]
pub struct Global {
    /// Use this store (default: ~/.aizo/preferences.db)
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        help_heading = "Global options"
    )]
    pub db: Option<PathBuf>,
    /// Print one JSON value
    #[arg(long, global = true, help_heading = "Global options")]
    pub json: bool,
    /// Colour the text
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        help_heading = "Global options"
    )]
    pub color: Option<Color>,
    /// Print long text as it is, also on a terminal
    #[arg(long, global = true, help_heading = "Global options")]
    pub no_pager: bool,
}

impl Cli {
    /// Reads the command line of this process.
    ///
    /// # Errors
    /// Wrong usage; also what is help or a version.
    pub fn read() -> Result<Self, clap::Error> {
        let words: Vec<OsString> = std::env::args_os().collect();
        Self::read_quickly(&words).map_or_else(|| Self::try_parse_from(words), Ok)
    }

    /// Reads a command line that begins with a verb that agents say, without making ready all the others, which takes as
    /// long as a tenth of a recall. Where it is wrong, or asks for help, it is read again with all of them.
    fn read_quickly(words: &[OsString]) -> Option<Self> {
        fn alone<A: clap::Args>(verb: &'static str) -> clap::Command {
            let aizo = Global::augment_args(clap::Command::new("aizo"));
            aizo.subcommand(A::augment_args(clap::Command::new(verb)))
        }
        let aizo = match words.get(1)?.to_str()? {
            "add" => alone::<add::Args>("add"),
            "apply" => alone::<apply::Args>("apply"),
            "check" => alone::<check::Args>("check"),
            "context" => alone::<context::Args>("context"),
            "hook" => alone::<hook::Args>("hook"),
            "recall" => alone::<recall::Args>("recall"),
            "show" => alone::<show::Args>("show"),
            "top" => alone::<top::Args>("top"),
            "why" => alone::<why::Args>("why"),
            _ => return None,
        };
        let matches = aizo.try_get_matches_from(words).ok()?;
        Self::from_arg_matches(&matches).ok()
    }
}

/// Every verb.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Add a preference, or confirm one that is there
    Add(Later<add::Args>),
    /// Set fields of a preference outright
    Update(Later<update::Args>),
    /// Add, replace or remove keywords of a preference
    Tag(Later<tag::Args>),
    /// Find preferences, strongest first
    #[command(aliases = ["search", "find"])]
    Recall(Later<recall::Args>),
    /// Print what an agent should know before a task
    Context(Later<context::Args>),
    /// Write the whole profile, or what an agent's host reads of it in a file of its own
    Export(Later<export::Args>),
    /// Take over a profile: one that was exported, another store, or what another program knows
    Import(Later<import::Args>),
    /// Say which limits a plan, command, patch or draft breaks
    Check(Later<check::Args>),
    /// Show the strongest preferences
    Top(Later<top::Args>),
    /// Show the whole profile, or one entry with its evidence
    #[command(aliases = ["list", "ls"])]
    Show(Later<show::Args>),
    /// Mark recalled preferences as used
    Apply(Later<apply::Args>),
    /// Reset the decay clock of preferences
    Touch(Later<touch::Args>),
    /// Learn preferences from what was said to agents
    Analyze(Later<analyze::Args>),
    /// Answer an agent's host at one of its events
    Hook(Later<hook::Args>),
    /// Let the agents on this machine call aizo: hooks, MCP server and skill
    Install(Later<install::Args>),
    /// Take aizo out of the agents' settings
    Uninstall(Later<install::Removal>),
    /// Serve an agent's host that speaks the Model Context Protocol
    Mcp(Later<mcp::Args>),
    /// List or forget the conversations that were analysed
    Sessions(Later<sessions::Args>),
    /// Remove preferences (can be undone)
    #[command(aliases = ["rm", "delete"])]
    Remove(Later<remove::Args>),
    /// Remove everything (can be undone)
    Clear(Later<clear::Args>),
    /// Erase preferences for good, with all that was said of them
    Forget(Later<forget::Args>),
    /// List keywords with entry counts
    Keywords(Later<keywords::Args>),
    /// List, write or edit the kinds of task
    Scenarios(Later<scenarios::Args>),
    /// List what was changed, newest first
    History(Later<history::Args>),
    /// Take changes back
    Undo(Later<undo::Args>),
    /// Copy the store, while others write
    Backup(Later<backup::Args>),
    /// Put a copy in the place of the store
    Restore(Later<restore::Args>),
    /// Look for everything that can be wrong, and say what to do
    Doctor(Later<doctor::Args>),
    /// Keep the profile of several devices in step through a git repository
    Sync(Later<sync::Args>),
    /// Show the evidence behind a preference
    Why(Later<why::Args>),
    /// Decide about what waits for a person
    Review(Later<review::Args>),
    /// Show the store, its numbers, and where each setting came from
    Info(Later<info::Args>),
    /// Show or change how fast things fade
    Config(Later<config::Args>),
    /// Look at the profile in a browser on this machine
    Web(Later<web::Args>),
    /// Print a completion script for a shell
    Completions(Later<completions::Args>),
    /// Print the manual page
    Man(Later<man::Args>),
    /// Take a two-minute tour on a throwaway profile
    Demo(Later<demo::Args>),
}

/// Arguments that are described only once the command is called: every start would pay for them.
#[derive(Debug)]
pub struct Later<T>(T);

impl<T: clap::Args> Later<T> {
    /// Adds the arguments. What the list of commands says of this one stays.
    fn describe(command: clap::Command) -> clap::Command {
        let about = command.get_about().cloned().unwrap_or_default();
        T::augment_args(command).about(about).long_about(None)
    }
}

impl<T: clap::Args> clap::Args for Later<T> {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.defer(Self::describe)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        command.defer(Self::describe)
    }
}

impl<T: clap::FromArgMatches> clap::FromArgMatches for Later<T> {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
        T::from_arg_matches(matches).map(Later)
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

/// Answers a host, if that is what the command line asks for: an answer that nothing may keep from being given.
pub fn at_the_door(cli: &Cli) -> Option<std::process::ExitCode> {
    match &cli.command {
        Command::Hook(Later(args)) => Some(hook::run(cli, args)),
        Command::Mcp(_) => Some(mcp::run(cli)),
        _ => None,
    }
}

/// What a command produces.
pub enum Reply {
    /// Something with a text and a JSON form.
    Answer(Box<dyn Answer>),
    /// An answer that a limit is violated, which the exit code says as well.
    Violation(Box<dyn Answer>),
    /// An answer that does not cover everything, and why.
    Incomplete(Box<dyn Answer>, Failure),
    /// An answer that something is not as it should be, which the exit code says as well.
    Difference(Box<dyn Answer>),
    /// A generated script or page, as it is.
    Raw(Vec<u8>),
}

/// The surroundings of one run.
pub struct Context {
    /// Settings and where they came from.
    pub settings: Settings,
    notes: RefCell<Vec<String>>,
    /// The kinds of secrets that were replaced.
    redacted: RefCell<Vec<Secret>>,
    /// The words of what was just forgotten.
    forgotten: RefCell<Vec<String>>,
    /// What was done beside the store after something was forgotten.
    paid: RefCell<Option<forget::Paid>>,
    /// Whether this run has the lock of the sync.
    is_syncing: Cell<bool>,
    quiet: bool,
    /// Whether the process ends with the answer, and touches the store once.
    reads_once: bool,
    /// Whether the command is about the loss of a store, and tells of it in its own way.
    recovers: bool,
}

impl Context {
    /// Reads the surroundings for a command line.
    ///
    /// # Errors
    /// A setting that cannot be read.
    pub fn new(cli: &Cli) -> Result<Self, Failure> {
        let settings = Settings::read(&Flags {
            db: cli.global.db.clone(),
            color: cli.global.color,
            no_pager: cli.global.no_pager,
            // A cloned repository must not be able to swap the user's limits for its own.
            without_local_file: matches!(
                cli.command,
                Command::Context(_)
                    | Command::Export(_)
                    | Command::Import(_)
                    | Command::Backup(_)
                    | Command::Restore(_)
                    | Command::Doctor(_)
                    | Command::Check(_)
                    | Command::Sync(_)
                    | Command::Hook(_)
                    | Command::Mcp(_)
                    | Command::Web(_)
            ),
            forgiving: matches!(cli.command, Command::Hook(_)),
        })?;
        Ok(Context {
            quiet: cli.global.json,
            reads_once: match &cli.command {
                Command::Recall(Later(args)) => !args.touches(),
                Command::Top(_) | Command::Context(_) => true,
                _ => false,
            },
            recovers: matches!(
                cli.command,
                Command::Doctor(_) | Command::Restore(_) | Command::Sync(_)
            ),
            ..Context::with(settings)
        })
    }

    /// Reads the surroundings for one call of many: of an agent's host, or of the page.
    ///
    /// # Errors
    /// A setting that cannot be read.
    pub(crate) fn for_a_call(db: Option<PathBuf>) -> Result<Self, Failure> {
        let settings = Settings::read(&Flags {
            db,
            without_local_file: true,
            ..Flags::default()
        })?;
        Ok(Context::with(settings))
    }

    /// A context with these settings.
    pub(crate) fn with(settings: Settings) -> Self {
        let notes = RefCell::new(settings.notes.clone());
        Context {
            settings,
            notes,
            redacted: RefCell::default(),
            forgotten: RefCell::default(),
            paid: RefCell::default(),
            is_syncing: Cell::default(),
            quiet: false,
            reads_once: false,
            recovers: false,
        }
    }

    /// Whether nobody wants to see how far a command is.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Remembers something for the person, to be said on standard error.
    pub(crate) fn note(&self, text: impl Into<String>) {
        self.notes.borrow_mut().push(text.into());
    }

    /// Takes what is to be said.
    pub fn take_notes(&self) -> Vec<String> {
        let mut notes = self.notes.take();
        let redacted = self.redacted.take();
        if !redacted.is_empty() {
            notes.extend(redact::sentence(redacted));
        }
        notes
    }

    /// A text that was given to be stored, with marks in place of its secrets; what was replaced is said at the
    /// end. It comes before anything else is done with the text: small letters, a line less, or a cut at a comma
    /// would hide what a secret is known by.
    pub(crate) fn without_secrets(&self, text: &str) -> String {
        let redacted = redact::redact(text);
        self.redacted.borrow_mut().extend(redacted.found);
        redacted.text.into_owned()
    }

    fn location(&self) -> Location {
        Location {
            path: self.settings.db.clone(),
            patience: self.settings.lock_timeout,
        }
    }

    /// Reads one state of the store; nothing comes back when there is none yet. `read` may run twice.
    fn read<T>(&self, read: impl Fn(&View<'_>) -> anyhow::Result<T>) -> anyhow::Result<Option<T>> {
        let now = self.settings.now;
        let Some(store) = Store::open_for_reading(&self.location(), now)? else {
            self.note_loss();
            return Ok(None);
        };
        let answer = snapshot(&store, &read);
        if store.confirm() {
            self.note_about(&store);
            if self.reads_once {
                store.leave_open();
            }
            return answer.map(Some);
        }
        // Somebody began to write while the file was read without locks.
        drop(store);
        match Store::open_shared(&self.location(), now)? {
            Some(store) => {
                self.note_about(&store);
                snapshot(&store, &read).map(Some)
            }
            None => Ok(None),
        }
    }

    /// The whole profile, to be loaded as it is written; nothing when there is no store yet.
    fn listing(&self) -> anyhow::Result<Option<Listing>> {
        let now = self.settings.now;
        let Some(store) = Store::open_for_reading(&self.location(), now)? else {
            self.note_loss();
            self.note("nothing is stored yet");
            return Ok(None);
        };
        self.note_about(&store);
        let listing = Listing::of(store, now)?;
        if listing.is_empty() {
            self.note("nothing is stored");
        }
        Ok(Some(listing))
    }

    /// Says how the store was opened, where that is not as usual.
    fn note_about(&self, store: &Store) {
        if let Some(reason) = store.copied_because() {
            self.note(format!("reading a copy: {reason}"));
        }
        if store.has_lost_its_log() {
            self.note(format!(
                "{} lies where processes cannot share memory, as on many network disks: it works without a write-ahead log \
                 there, and who reads and who writes wait for each other",
                store.path().display()
            ));
        }
        if let Some(kept) = store.kept_as() {
            self.note(format!(
                "the store was brought up to date; as it was it is kept as {}",
                kept.display()
            ));
        }
    }

    /// Says that there was a store, where there is none any more.
    fn note_loss(&self) {
        if self.recovers {
            return;
        }
        if let Some(what) = lost::what(self) {
            let note = format!("{what}: aizo doctor says how it comes back");
            if !self.notes.borrow().contains(&note) {
                self.note(note);
            }
        }
    }

    /// The same before a store is made.
    fn note_loss_before_writing(&self) {
        let has_bytes = std::fs::metadata(&self.settings.db).is_ok_and(|file| file.len() > 0);
        if !has_bytes {
            self.note_loss();
        }
    }

    /// Changes the store in one transaction, and does what is owed after something was forgotten.
    fn write<T>(
        &self,
        write: impl FnOnce(&mut Transaction<'_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        self.note_loss_before_writing();
        let mut store = Store::open_for_writing(&self.location(), self.settings.now)?;
        let answer = self.write_to(&mut store, write)?;
        forget::pay(self, &mut store);
        Ok(answer)
    }

    /// Notes something that a power cut may take back, in one transaction and without waiting for the disk.
    fn jot<T>(
        &self,
        write: impl FnOnce(&mut Transaction<'_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        self.note_loss_before_writing();
        let mut store = Store::open_for_writing(&self.location(), self.settings.now)?;
        store.relax()?;
        self.write_to(&mut store, write)
    }

    /// Runs `write` on a copy of the store in memory: what it would do, and nothing is changed.
    fn rehearse<T>(
        &self,
        write: impl FnOnce(&mut Transaction<'_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        self.note_loss_before_writing();
        Store::rehearsal(&self.location(), self.settings.now)?
            .write(self.settings.now, |transaction| {
                write(transaction).map_err(Wrapped)
            })
            .map_err(|wrapped| wrapped.0)
    }

    /// Whether there is a store to change: a command that only alters what exists makes none.
    fn has_store(&self) -> anyhow::Result<bool> {
        let exists = Store::exists(&self.settings.db)?;
        if !exists {
            self.note_loss();
        }
        Ok(exists)
    }

    /// Fails with the name that was typed when there is no store yet.
    fn require_store(&self, words: &[String]) -> anyhow::Result<()> {
        if self.has_store()? {
            Ok(())
        } else {
            Err(resolve::nothing_stored(&words.join(" ")).into())
        }
    }

    /// The file of the kinds of task.
    fn scenarios_path(&self) -> anyhow::Result<PathBuf> {
        let home = self.settings.home.as_ref().ok_or_else(|| {
            Failure::new(crate::error::Kind::Io, "cannot find the home folder")
                .hint("set HOME or AIZO_HOME")
        })?;
        Ok(home.join("scenarios.yaml"))
    }

    /// The kinds of task: from the file, else built in. A file that cannot be read is said, and the
    /// built-in ones stand in, so that nothing else fails because of it.
    fn scenarios(&self) -> Scenarios {
        const MOST_WARNINGS: usize = 5;
        let Ok(path) = self.scenarios_path() else {
            return Scenarios::built_in();
        };
        match Scenarios::load(&path) {
            Ok(scenarios) => {
                for warning in scenarios.warnings.iter().take(MOST_WARNINGS) {
                    self.note(format!("{}: {warning}", path.display()));
                }
                let more = scenarios.warnings.len().saturating_sub(MOST_WARNINGS);
                if more > 0 {
                    self.note(format!("{}: {more} more warnings", path.display()));
                }
                scenarios
            }
            Err(error) => {
                self.note(format!("{error}; using the built-in scenarios"));
                self.note(format!("hint: {}", error.hint()));
                Scenarios::built_in()
            }
        }
    }
}

/// Lets an `anyhow::Error` pass through a transaction, which can fail by itself too.
struct Wrapped(anyhow::Error);

impl From<StorageError> for Wrapped {
    fn from(error: StorageError) -> Self {
        Wrapped(error.into())
    }
}

/// The reply; where something has failed it is given before the error, since the rest was done.
fn told<R: Answer>(reply: R, failure: Option<Failure>, context: &Context) -> anyhow::Result<R> {
    let Some(failure) = failure else {
        return Ok(reply);
    };
    let settings = &context.settings;
    let style = Style::for_stdout(settings.color, settings.columns);
    present::answer(&reply, context.is_quiet(), style)?;
    Err(failure.into())
}

fn snapshot<T>(store: &Store, read: &impl Fn(&View<'_>) -> anyhow::Result<T>) -> anyhow::Result<T> {
    store
        .snapshot(|view| read(view).map_err(Wrapped))
        .map_err(|wrapped| wrapped.0)
}

/// What is wrong with a command line, and what was meant, as far as it can be told.
pub fn wrong_usage(error: &clap::Error) -> Failure {
    let text = error.to_string();
    let mut paragraphs = text.split("\n\n").map(|paragraph| {
        let lines: Vec<&str> = paragraph.lines().map(str::trim).collect();
        lines.join(" ")
    });
    let message = paragraphs.next().unwrap_or_default();
    let hint = paragraphs
        .find_map(|paragraph| Some(paragraph.trim().strip_prefix("tip: ")?.to_owned()))
        .unwrap_or_else(|| "aizo --help, or aizo COMMAND --help".to_owned());
    Failure::usage(message.trim_start_matches("error: ")).hint(hint)
}

/// Runs a command.
///
/// # Errors
/// What the command reports.
pub fn run(command: Command, context: &Context) -> anyhow::Result<Reply> {
    fn answer(reply: impl Answer + 'static) -> Reply {
        Reply::Answer(Box::new(reply))
    }
    Ok(match command {
        Command::Add(Later(args)) => Reply::Answer(add::run(args, context)?),
        Command::Update(Later(args)) => answer(update::run(&args, context)?),
        Command::Analyze(Later(args)) => analyze::run(&args, context)?,
        Command::Sessions(Later(args)) => answer(sessions::run(&args, context)?),
        Command::Tag(Later(args)) => answer(tag::run(&args, context)?),
        Command::Recall(Later(args)) => answer(recall::run(&args, context)?),
        Command::Context(Later(args)) => answer(context::run(&args, context)?),
        Command::Export(Later(args)) => export::run(&args, context)?,
        Command::Import(Later(args)) => answer(import::run(&args, context)?),
        Command::Check(Later(args)) => check::run(&args, context)?,
        // Answered at the door.
        Command::Hook(_) | Command::Mcp(_) => Reply::Raw(Vec::new()),
        Command::Install(Later(args)) => Reply::Answer(install::run(&args, context)?),
        Command::Uninstall(Later(args)) => answer(install::remove(&args, context)?),
        Command::Top(Later(args)) => answer(top::run(&args, context)?),
        Command::Show(Later(args)) => Reply::Answer(show::run(&args, context)?),
        Command::Apply(Later(args)) => answer(apply::run(&args, context)?),
        Command::Touch(Later(args)) => answer(touch::run(&args, context)?),
        Command::Remove(Later(args)) => answer(remove::run(&args, context)?),
        Command::Clear(Later(args)) => answer(clear::run(&args, context)?),
        Command::Forget(Later(args)) => answer(forget::run(&args, context)?),
        Command::Keywords(Later(args)) => answer(keywords::run(&args, context)?),
        Command::Scenarios(Later(args)) => answer(scenarios::run(&args, context)?),
        Command::History(Later(args)) => answer(history::run(&args, context)?),
        Command::Undo(Later(args)) => answer(undo::run(&args, context)?),
        Command::Backup(Later(args)) => Reply::Answer(backup::run(&args, context)?),
        Command::Restore(Later(args)) => answer(restore::run(&args, context)?),
        Command::Doctor(Later(args)) => doctor::run(&args, context)?,
        Command::Sync(Later(args)) => Reply::Answer(sync::run(&args, context)?),
        Command::Why(Later(args)) => answer(why::run(&args, context)?),
        Command::Review(Later(args)) => answer(review::run(&args, context)?),
        Command::Info(Later(args)) => Reply::Answer(info::run(&args, context)?),
        Command::Config(Later(args)) => answer(config::run(&args, context)?),
        Command::Web(Later(args)) => web::run(&args, context)?,
        Command::Completions(Later(args)) => Reply::Raw(completions::run(&args)),
        Command::Man(Later(args)) => Reply::Raw(man::run(&args)?),
        Command::Demo(Later(args)) => answer(demo::run(&args, context)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("recall code --json --limit 3 --db x.db")]
    #[case("recall book a table --related --type taboo,aversion --color never")]
    #[case("add tabs why --score 3 --keywords a,b --pattern @push")]
    #[case("add --stdin --source bot")]
    #[case("context fix the build --budget 200 --format xml")]
    #[case("hook claude-code start --json")]
    #[case("top 5 --no-pager")]
    #[case("show 3")]
    #[case("why dark mode")]
    #[case("apply 1 2 3")]
    #[case("check --command ls --all")]
    #[case("recall -- --strange")]
    fn a_verb_that_is_read_alone_is_read_as_among_all(#[case] line: &str) {
        let words: Vec<OsString> = std::iter::once("aizo")
            .chain(line.split(' '))
            .map(OsString::from)
            .collect();
        let alone = Cli::read_quickly(&words).expect("it is right");
        let among_all = Cli::try_parse_from(&words).expect("it is right");
        assert_eq!(format!("{alone:?}"), format!("{among_all:?}"));
    }

    #[rstest]
    #[case("recall --help")]
    #[case("recall --limit many")]
    #[case("add --stdin --score 3")]
    #[case("--json recall code")]
    #[case("search code")]
    #[case("remove tabs")]
    fn what_is_wrong_asks_for_help_or_is_rare_is_read_among_all(#[case] line: &str) {
        let words: Vec<OsString> = std::iter::once("aizo")
            .chain(line.split(' '))
            .map(OsString::from)
            .collect();
        assert!(Cli::read_quickly(&words).is_none());
    }
}
