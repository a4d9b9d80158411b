//! `aizo install` and `aizo uninstall`: settle aizo in the hosts of agents, and take it out again.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Context;
use crate::capture::hook::Caller;
use crate::error::{Failure, Kind};
use crate::install::{
    Fault, FileRecord, Found, Machine, Outcome, Part, Piece, Program, Record, Scope, Step,
    folders_for, install, object, path, pieces, plugin, replace, unified, uninstall,
};
use crate::present::{Align, Answer, Page, Table, to_json};

/// Arguments of `install`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo install claude-code --dry-run
  aizo install claude-code codex
  aizo install --all --no-mcp
  aizo install --list

Agents: claude-code, codex, opencode, openclaw, gemini, copilot, cursor, windsurf.

Adds to the agent's own settings what lets it call aizo: hooks at its events, the MCP server, and the skill. What others have
written there stays byte for byte, and aizo uninstall gives the files back as they were. Copies are kept in ~/.aizo/backups.")]
pub struct Args {
    /// The agents
    #[arg(value_name = "AGENT")]
    agents: Vec<String>,
    /// Install for every agent that is found on this machine
    #[arg(long, conflicts_with = "agents")]
    all: bool,
    /// Say which agents are found, and what is installed
    #[arg(long, conflicts_with_all = ["agents", "all", "dry_run", "as_plugin"])]
    list: bool,
    /// Show the differences and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Install for this folder alone
    #[arg(long)]
    project: bool,
    /// Leave out the hooks
    #[arg(long)]
    no_hooks: bool,
    /// Leave out the MCP server
    #[arg(long)]
    no_mcp: bool,
    /// Leave out the skill
    #[arg(long)]
    no_skill: bool,
    /// Write a plugin for Claude Code into this folder instead
    #[arg(long, value_name = "DIR", conflicts_with_all = ["agents", "all", "project", "no_hooks", "no_mcp", "no_skill"])]
    as_plugin: Option<PathBuf>,
}

/// Arguments of `uninstall`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo uninstall claude-code --dry-run
  aizo uninstall --all

Takes out of the agents' settings what aizo install put there. The preferences stay.")]
pub struct Removal {
    /// The agents
    #[arg(value_name = "AGENT")]
    agents: Vec<String>,
    /// Uninstall from every agent
    #[arg(long, conflicts_with = "agents")]
    all: bool,
    /// Show the differences and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Uninstall from this folder alone
    #[arg(long)]
    project: bool,
}

/// What became of one file.
#[derive(Debug)]
struct File {
    agent: &'static str,
    parts: Vec<Part>,
    path: PathBuf,
    result: &'static str,
    /// Why it is so.
    reason: Option<&'static str>,
    /// What changes in it.
    diff: String,
    /// A copy of it as it was.
    backup: Option<PathBuf>,
}

/// What `install` and `uninstall` reply.
#[derive(Debug)]
pub struct Reply {
    dry_run: bool,
    /// `user`, or the folder that it is for.
    scope: String,
    files: Vec<File>,
}

/// What `install --list` says of one agent.
#[derive(Debug)]
struct Agent {
    agent: &'static str,
    found: bool,
    hooks: bool,
    mcp: bool,
    skill: bool,
}

/// What `install --list` replies.
#[derive(Debug)]
struct Agents(Vec<Agent>);

/// Runs `install`.
///
/// # Errors
/// No agent is named, or none of them can be served.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Box<dyn Answer>> {
    if let Some(folder) = &args.as_plugin {
        return Ok(Box::new(write_plugin(folder, args.dry_run)?));
    }
    let surroundings = Surroundings::new(args.project, context)?;
    let variable = |name: &str| std::env::var(name).ok();
    let machine = surroundings.machine(&variable);
    if args.list {
        return Ok(Box::new(surroundings.list(&machine)?));
    }
    let mut hosts = named(&args.agents)?;
    if args.all {
        hosts = hosts_of_all(|host| machine.has(host));
        if hosts.is_empty() {
            context.note("no agent is found on this machine");
        }
    } else if hosts.is_empty() {
        return Err(Failure::usage("say for which agents")
            .hint("aizo install --all, or aizo install --list to see which are found")
            .into());
    }
    for host in hosts.iter().filter(|host| !machine.has(**host)) {
        context.note(format!("{} is not found on this machine", host.name()));
    }
    let program = surroundings.program(&machine);
    let left_out = |part: Part| match part {
        Part::Hooks => args.no_hooks,
        Part::Mcp => args.no_mcp,
        Part::Skill => args.no_skill,
    };
    let mut work = Work::begin(&surroundings, args.dry_run)?;
    for host in hosts {
        let mut all = pieces(host, &surroundings.scope, &machine, &program);
        all.retain(|piece| !left_out(piece.part));
        work.settle(host, by_file(all), install);
    }
    let reply = work.finish(context)?;
    let has_new_hooks = |file: &File| {
        file.agent == Caller::Codex.name() && file.parts == [Part::Hooks] && !file.diff.is_empty()
    };
    if !args.dry_run && reply.files.iter().any(has_new_hooks) {
        context.note("codex runs new hooks once you have agreed to them: /hooks");
    }
    Ok(Box::new(reply))
}

/// Runs `uninstall`.
///
/// # Errors
/// No agent is named, or none of them can be served.
pub fn remove(args: &Removal, context: &Context) -> anyhow::Result<Reply> {
    let surroundings = Surroundings::new(args.project, context)?;
    let variable = |name: &str| std::env::var(name).ok();
    let machine = surroundings.machine(&variable);
    let mut hosts = named(&args.agents)?;
    if args.all {
        hosts = hosts_of_all(|_| true);
    } else if hosts.is_empty() {
        return Err(Failure::usage("say from which agents")
            .hint("aizo uninstall --all, or aizo install --list to see where aizo is")
            .into());
    }
    let program = surroundings.program(&machine);
    let mut work = Work::begin(&surroundings, args.dry_run)?;
    for host in hosts {
        let all = by_file(pieces(host, &surroundings.scope, &machine, &program));
        let known = work
            .record
            .files_of(host.name(), &surroundings.scope.name());
        // What is recorded is all there is; without a record, whatever looks like aizo's.
        let files = if known.is_empty() {
            all
        } else {
            let pieces_in = |file: &PathBuf| {
                all.iter()
                    .find(|(path, _)| path == file)
                    .map(|(_, pieces)| pieces.clone())
                    .unwrap_or_default()
            };
            known
                .iter()
                .map(|file| (file.clone(), pieces_in(file)))
                .collect()
        };
        work.settle(host, files, uninstall);
    }
    if args.all {
        work.files.retain(|file| file.result != "absent");
    }
    work.finish(context)
}

fn named(names: &[String]) -> Result<Vec<Caller>, Failure> {
    let mut hosts = Vec::new();
    for name in names {
        let name = match name.as_str() {
            "claude" => "claude-code",
            other => other,
        };
        let host = name.parse::<Caller>().map_err(|_| {
            let names: Vec<&str> = Caller::ALL.iter().map(|(_, name)| *name).collect();
            Failure::usage(format!("`{name}` is no agent that aizo knows"))
                .hint(format!("one of {}", names.join(", ")))
        })?;
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    Ok(hosts)
}

fn hosts_of_all(wanted: impl Fn(Caller) -> bool) -> Vec<Caller> {
    Caller::ALL
        .iter()
        .map(|(host, _)| *host)
        .filter(|host| wanted(*host))
        .collect()
}

/// The pieces of each file, in the order of the first of them.
fn by_file(pieces: Vec<Piece>) -> Vec<(PathBuf, Vec<Piece>)> {
    let mut files: Vec<(PathBuf, Vec<Piece>)> = Vec::new();
    for piece in pieces {
        match files.iter_mut().find(|(file, _)| *file == piece.file) {
            Some((_, all)) => all.push(piece),
            None => files.push((piece.file.clone(), vec![piece])),
        }
    }
    files
}

/// Where all this happens.
struct Surroundings {
    /// The person's home folder.
    home: PathBuf,
    /// aizo's own folder.
    own: PathBuf,
    scope: Scope,
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

impl Surroundings {
    fn new(project: bool, context: &Context) -> anyhow::Result<Self> {
        let nowhere =
            || Failure::new(Kind::Io, "cannot find the home folder").hint("set HOME, or AIZO_HOME");
        let home = dirs::home_dir().ok_or_else(nowhere)?;
        let own = context.settings.home.clone().ok_or_else(nowhere)?;
        let scope = if project {
            Scope::Project(std::env::current_dir()?)
        } else {
            Scope::User
        };
        Ok(Surroundings {
            own: std::path::absolute(own)?,
            home,
            scope,
        })
    }

    fn machine<'m>(&self, variable: &'m dyn Fn(&str) -> Option<String>) -> Machine<'m> {
        Machine {
            home: self.home.clone(),
            variable,
            exists: &is_there,
            windows: cfg!(windows),
        }
    }

    /// How hosts call this program: by its name where that leads here, else by the path under which it was started, which an
    /// upgrade leaves as it is. A project is for others too, who have it elsewhere.
    fn program(&self, machine: &Machine<'_>) -> Program {
        let by_name = Program::by_name(machine.windows);
        let real = |path: &Path| path.canonicalize().ok();
        let this = std::env::current_exe().ok();
        let is_this =
            |path: &Path| real(path).is_some() && real(path) == this.as_deref().and_then(real);
        if self.scope != Scope::User || machine.which("aizo").is_some_and(|path| is_this(&path)) {
            return by_name;
        }
        let started = std::env::args_os()
            .next()
            .map(PathBuf::from)
            .filter(|path| path.components().count() > 1)
            .and_then(|path| std::path::absolute(path).ok())
            .filter(|path| is_this(path));
        match started.or(this) {
            Some(path) => Program {
                name: path.to_string_lossy().into_owned(),
                is_path: true,
                ..by_name
            },
            None => by_name,
        }
    }

    fn record_file(&self) -> PathBuf {
        self.own.join("installed.json")
    }

    fn list(&self, machine: &Machine<'_>) -> anyhow::Result<Agents> {
        let program = self.program(machine);
        let record = read_record(&self.record_file())?;
        let mut agents = Vec::new();
        for (host, name) in Caller::ALL {
            let mut agent = Agent {
                agent: name,
                found: machine.has(host),
                hooks: false,
                mcp: false,
                skill: false,
            };
            for (file, pieces) in by_file(pieces(host, &self.scope, machine, &program)) {
                for piece in pieces {
                    let part = piece.part;
                    let of_others = record.file(&file).is_some_and(|known| !known.serves(name));
                    if of_others {
                        continue;
                    }
                    let mut step = self.step(host, vec![piece], &file, &record)?.0;
                    // What a trial finds to be done is not there.
                    let is_there = matches!(
                        install(&mut step),
                        Ok(Outcome::Unchanged | Outcome::Kept(_))
                    );
                    let place = match part {
                        Part::Hooks => &mut agent.hooks,
                        Part::Mcp => &mut agent.mcp,
                        Part::Skill => &mut agent.skill,
                    };
                    *place = is_there;
                }
            }
            agents.push(agent);
        }
        Ok(Agents(agents))
    }

    fn step(
        &self,
        host: Caller,
        pieces: Vec<Piece>,
        file: &Path,
        record: &Record,
    ) -> Result<(Step, Found), Failure> {
        let found = Found::at(file)?;
        let step = Step {
            host,
            scope: self.scope.name(),
            path: file.to_path_buf(),
            pieces,
            bytes: found.bytes.clone(),
            record: record.file(file).cloned(),
        };
        Ok((step, found))
    }
}

fn read_record(file: &Path) -> Result<Record, Failure> {
    let Some(bytes) = Found::at(file)?.bytes else {
        return Ok(Record::default());
    };
    Record::parse(&bytes).map_err(|problem| {
        let message = format!("cannot read {}: {problem}", file.display());
        Failure::new(Kind::Failed, message).hint(
            "it says what aizo has changed; without it, uninstall goes by what looks like aizo's",
        )
    })
}

/// A file that is to be written.
struct Planned {
    index: usize,
    path: PathBuf,
    found: Found,
    bytes: Option<Vec<u8>>,
    record: Option<FileRecord>,
}

/// One run: what is planned, done and recorded.
struct Work<'s> {
    surroundings: &'s Surroundings,
    dry_run: bool,
    record: Record,
    files: Vec<File>,
    failures: Vec<Failure>,
    served: usize,
}

impl<'s> Work<'s> {
    fn begin(surroundings: &'s Surroundings, dry_run: bool) -> anyhow::Result<Self> {
        Ok(Work {
            record: read_record(&surroundings.record_file())?,
            surroundings,
            dry_run,
            files: Vec::new(),
            failures: Vec::new(),
            served: 0,
        })
    }

    /// Does what is to be done for a host, all of it or nothing: a file that cannot be read keeps the others as they are.
    fn settle(
        &mut self,
        host: Caller,
        files: Vec<(PathBuf, Vec<Piece>)>,
        plan: fn(&mut Step) -> Result<Outcome, Fault>,
    ) {
        let begun = self.files.len();
        match self.plan(host, files, plan).and_then(|planned| {
            if self.dry_run {
                Ok(())
            } else {
                self.carry_out(planned)
            }
        }) {
            Ok(()) => self.served += 1,
            Err(failure) => {
                self.files.truncate(begun);
                self.failures.push(failure);
            }
        }
    }

    fn plan(
        &mut self,
        host: Caller,
        files: Vec<(PathBuf, Vec<Piece>)>,
        plan: fn(&mut Step) -> Result<Outcome, Fault>,
    ) -> Result<Vec<Planned>, Failure> {
        let mut planned = Vec::new();
        for (path, pieces) in files {
            let parts = parts(&pieces);
            let (mut step, found) = self.surroundings.step(host, pieces, &path, &self.record)?;
            let outcome = plan(&mut step).map_err(|fault| {
                let message = format!(
                    "{}, line {}: {}; the file was left as it is",
                    path.display(),
                    fault.line,
                    fault.message
                );
                Failure::new(Kind::Failed, message)
                    .hint("put it right first, or leave out what belongs there: --no-hooks, --no-mcp, --no-skill")
            })?;
            let changes = step.bytes != found.bytes;
            if changes {
                found.may_be_written()?;
            }
            let text = |bytes: &Option<Vec<u8>>| {
                bytes
                    .as_ref()
                    .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
            };
            let (result, reason) = described(outcome);
            self.files.push(File {
                agent: host.name(),
                parts,
                result,
                reason,
                diff: if changes {
                    let (before, after) = (text(&found.bytes), text(&step.bytes));
                    unified(
                        &path.display().to_string(),
                        before.as_deref(),
                        after.as_deref(),
                    )
                } else {
                    String::new()
                },
                backup: None,
                path: path.clone(),
            });
            planned.push(Planned {
                index: self.files.len() - 1,
                path,
                found,
                bytes: step.bytes,
                record: step.record,
            });
        }
        Ok(planned)
    }

    fn carry_out(&mut self, planned: Vec<Planned>) -> Result<(), Failure> {
        for file in &planned {
            if file.bytes != file.found.bytes
                && let Some(before) = &file.found.bytes
            {
                let earlier = self.record.file(&file.path);
                // A file that aizo made is nobody's loss.
                if earlier.is_some_and(|record| !record.existed) {
                    continue;
                }
                let earlier = earlier.and_then(|record| record.backup.clone());
                let backup = self.back_up(file, before, earlier)?;
                self.files[file.index].backup.clone_from(&backup);
            }
        }
        // What is about to be done is recorded first: half of it can be taken back as well.
        for file in &planned {
            self.record.files.retain(|known| known.path != file.path);
            if let Some(mut record) = file.record.clone() {
                if record.backup.is_none() {
                    record.backup.clone_from(&self.files[file.index].backup);
                }
                self.record.files.push(record);
            }
        }
        self.save()?;
        for file in &planned {
            if file.bytes != file.found.bytes {
                let made = file.found.write(file.bytes.as_deref())?;
                self.record.folders.extend(made);
            }
        }
        self.save()
    }

    /// Keeps a copy of a file as it was before aizo. When it is that again, the copy goes.
    fn back_up(
        &mut self,
        file: &Planned,
        before: &[u8],
        earlier: Option<PathBuf>,
    ) -> Result<Option<PathBuf>, Failure> {
        let is_removal = file.record.is_none();
        if let Some(backup) = &earlier
            && is_removal
            && Found::at(backup)?.bytes == file.bytes
        {
            return Found::at(backup)?.write(None).map(|_| None);
        }
        // What is aizo's alone needs no copy.
        if file.bytes.is_none() {
            return Ok(None);
        }
        if earlier.is_some() && !is_removal {
            return Ok(earlier);
        }
        let name = file.path.file_name().unwrap_or_default().to_string_lossy();
        let place = crate::model::stable_name(&[&file.path.to_string_lossy()]);
        let when = if is_removal { "uninstall" } else { "install" };
        let backup = self
            .surroundings
            .own
            .join("backups")
            .join(format!("{place}.before-{when}.{name}"));
        self.write_own(&backup, before)?;
        Ok(Some(backup))
    }

    /// Writes a file in aizo's own folder, for the person alone.
    fn write_own(&mut self, file: &Path, bytes: &[u8]) -> Result<(), Failure> {
        self.folders_of_own(file)?;
        replace(file, bytes).map_err(|error| {
            let message = format!("cannot write {}: {error}", file.display());
            Failure::new(Kind::Io, message)
        })?;
        for_the_person(file, 0o600);
        Ok(())
    }

    fn folders_of_own(&mut self, file: &Path) -> Result<(), Failure> {
        let made = folders_for(file)?;
        made.iter().for_each(|folder| for_the_person(folder, 0o700));
        self.record.folders.extend(made);
        Ok(())
    }

    /// Writes the record; without anything to record it goes, and so does every folder that was made and is empty.
    fn save(&mut self) -> Result<(), Failure> {
        let file = self.surroundings.record_file();
        let is_empty = self.record.files.is_empty();
        if is_empty {
            let found = Found::at(&file)?;
            if found.bytes.is_some() {
                found.write(None)?;
            }
        } else {
            self.folders_of_own(&file)?;
        }
        let mut folders = std::mem::take(&mut self.record.folders);
        folders.sort();
        folders.dedup();
        // The innermost first.
        folders.reverse();
        let own = &self.surroundings.own;
        folders.retain(|folder| {
            (folder == own && !is_empty) || std::fs::remove_dir(folder).is_err() && folder.is_dir()
        });
        folders.reverse();
        self.record.folders = folders;
        if is_empty {
            return Ok(());
        }
        let text = self.record.text();
        self.write_own(&file, text.as_bytes())
    }

    fn finish(self, context: &Context) -> anyhow::Result<Reply> {
        let mut failures = self.failures.into_iter();
        if self.served == 0
            && let Some(first) = failures.next()
        {
            for failure in failures {
                context.note(failure.message);
            }
            return Err(first.into());
        }
        for failure in failures {
            context.note(failure.message);
        }
        if self.files.iter().all(|file| file.diff.is_empty()) {
            context.note(if self.dry_run {
                "nothing would change"
            } else {
                "nothing to change"
            });
        }
        Ok(Reply {
            dry_run: self.dry_run,
            scope: self.surroundings.scope.name(),
            files: self.files,
        })
    }
}

fn parts(pieces: &[Piece]) -> Vec<Part> {
    let mut parts: Vec<Part> = pieces.iter().map(|piece| piece.part).collect();
    parts.dedup();
    parts
}

fn described(outcome: Outcome) -> (&'static str, Option<&'static str>) {
    match outcome {
        Outcome::Created => ("created", None),
        Outcome::Changed => ("changed", None),
        Outcome::Unchanged => ("unchanged", None),
        Outcome::Kept(reason) => ("kept", Some(reason)),
        Outcome::Removed => ("removed", None),
        Outcome::Absent => ("absent", None),
    }
}

/// Writes the plugin. A folder that holds something else is left alone.
fn write_plugin(folder: &Path, dry_run: bool) -> anyhow::Result<Reply> {
    let folder = std::path::absolute(folder)?;
    let about = folder.join(".claude-plugin").join("plugin.json");
    let is_empty = std::fs::read_dir(&folder).map_or(true, |mut entries| entries.next().is_none());
    let is_ours = Found::at(&about)?.bytes.is_some_and(|bytes| {
        serde_json::from_slice::<Value>(&bytes).is_ok_and(|about| about["name"] == "aizo")
    });
    if !is_empty && !is_ours {
        let message = format!("{} holds something else", folder.display());
        return Err(Failure::new(Kind::Conflict, message)
            .hint("name a folder that is empty or not there")
            .into());
    }
    let mut files = Vec::new();
    for (name, text) in plugin() {
        let path = folder.join(name);
        let found = Found::at(&path)?;
        let changes = found.bytes.as_deref() != Some(text.as_bytes());
        let before = found
            .bytes
            .as_ref()
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let result = match (&before, changes) {
            (None, _) => "created",
            (Some(_), true) => "changed",
            (Some(_), false) => "unchanged",
        };
        files.push(File {
            agent: Caller::ClaudeCode.name(),
            parts: Vec::new(),
            result,
            reason: None,
            diff: unified(&path.display().to_string(), before.as_deref(), Some(&text)),
            backup: None,
            path,
        });
        if changes && !dry_run {
            found.write(Some(text.as_bytes()))?;
        }
    }
    Ok(Reply {
        dry_run,
        scope: folder.display().to_string(),
        files,
    })
}

/// Closes a file or folder to everybody else. Where that cannot be done, it is as the others there.
fn for_the_person(path: &Path, mode: u32) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let _as_the_others = std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _the_folder_decides = (path, mode);
}

impl Answer for Reply {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        if self.dry_run {
            // Exactly what patch reads; but a terminal obeys what may stand in a file.
            let is_shown = page.style().width.is_some();
            let harmless = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
            for file in &self.files {
                if is_shown {
                    let shown: String = file.diff.chars().filter(harmless).collect();
                    page.out().write_all(shown.as_bytes())?;
                } else {
                    page.out().write_all(file.diff.as_bytes())?;
                }
            }
            return Ok(());
        }
        let mut table = Table::new(&[
            ("AGENT", Align::Short),
            ("RESULT", Align::Short),
            ("FILE", Align::Left),
        ]);
        for file in &self.files {
            let path = file.path.display().to_string();
            table.row(&[
                file.agent.to_owned(),
                file.result.to_owned(),
                match &file.reason {
                    Some(reason) => format!("{path} ({reason})"),
                    None => path,
                },
            ]);
        }
        page.table(&table)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let files = self.files.iter().map(|file| {
            object([
                ("agent", file.agent.into()),
                ("parts", file.parts.iter().map(|part| part.name()).collect()),
                ("path", path(&file.path)),
                ("result", file.result.into()),
                ("reason", file.reason.into()),
                ("diff", file.diff.as_str().into()),
                ("backup", file.backup.as_deref().map(path).into()),
            ])
        });
        let all = object([
            ("dry_run", self.dry_run.into()),
            ("scope", self.scope.as_str().into()),
            ("files", files.collect()),
        ]);
        to_json(&all, out)
    }
}

impl Answer for Agents {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let columns = ["AGENT", "FOUND", "HOOKS", "MCP", "SKILL"];
        let mut table = Table::new(&columns.map(|name| (name, Align::Short)));
        let word = |is: bool| if is { "yes" } else { "-" }.to_owned();
        for one in &self.0 {
            table.row(&[
                one.agent.to_owned(),
                word(one.found),
                word(one.hooks),
                word(one.mcp),
                word(one.skill),
            ]);
        }
        page.table(&table)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let agents = self.0.iter().map(|one| {
            object([
                ("agent", one.agent.into()),
                ("found", one.found.into()),
                ("hooks", one.hooks.into()),
                ("mcp", one.mcp.into()),
                ("skill", one.skill.into()),
            ])
        });
        to_json(&agents.collect::<Value>(), out)
    }
}
