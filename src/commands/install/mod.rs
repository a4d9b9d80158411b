//! `aizo install` and `aizo uninstall`: settle aizo in the hosts of agents, and take it out again.

mod examine;
mod folder;
mod reply;
mod surroundings;
mod work;

use std::cell::RefCell;
use std::env::VarError;
use std::path::PathBuf;

use super::{Context, told};
use crate::capture::hook::Caller;
use crate::error::Failure;
use crate::install::{Part, Piece, Program, pieces};
use crate::present::Answer;
pub(super) use examine::{Standing, State, examine};
pub use reply::Reply;
use surroundings::Surroundings;
use work::{Task, Work};

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
    #[command(flatten)]
    which: Which,
    /// Say which agents are found, and what is installed
    #[arg(long, conflicts_with_all = ["agents", "all", "dry_run", "as_plugin"])]
    list: bool,
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
    #[command(flatten)]
    which: Which,
}

/// For which agents, and where.
#[derive(Debug, clap::Args)]
struct Which {
    /// The agents
    #[arg(value_name = "AGENT")]
    agents: Vec<String>,
    /// Every agent: what is found on this machine, or what is installed
    #[arg(long, conflicts_with = "agents")]
    all: bool,
    /// Show the differences and change nothing
    #[arg(long)]
    dry_run: bool,
    /// For this folder alone
    #[arg(long)]
    project: bool,
}

/// Runs `install`.
///
/// # Errors
/// No agent is named, or none of them can be served.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Box<dyn Answer>> {
    if let Some(folder) = &args.as_plugin {
        return Ok(Box::new(folder::write(
            folder,
            args.which.dry_run,
            context,
        )?));
    }
    let surroundings = Surroundings::new(args.which.project, context)?;
    let unreadable = RefCell::new(None);
    let variable = |name: &str| match std::env::var(name) {
        Ok(value) => Some(value),
        Err(VarError::NotPresent) => None,
        Err(VarError::NotUnicode(_)) => {
            // A search path may have anything in it.
            if name != "PATH" {
                unreadable.replace(Some(name.to_owned()));
            }
            None
        }
    };
    let machine = surroundings.machine(&variable);
    if args.list {
        return Ok(Box::new(surroundings.list(&machine, context)?));
    }
    let mut hosts = named(&args.which.agents)?;
    if args.which.all {
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
    if let Some(name) = unreadable.take() {
        return Err(surroundings::no_text(&name).into());
    }
    surroundings.must_be_text(&program)?;
    let left_out = |part: Part| match part {
        Part::Hooks => args.no_hooks,
        Part::Mcp => args.no_mcp,
        Part::Skill => args.no_skill,
    };
    let dry_run = args.which.dry_run;
    let mut work = Work::begin(&surroundings, Task::Install, &program, dry_run)?;
    for host in hosts {
        let mut all = pieces(host, &surroundings.scope, &machine, &program);
        all.retain(|piece| !left_out(piece.part));
        work.settle(host, by_file(all));
    }
    let (reply, failure) = work.finish(context, args.which.all)?;
    let with_new_hooks = || {
        let files = reply.files.iter();
        files.filter(|file| file.parts.contains(&Part::Hooks) && !file.diff.is_empty())
    };
    if !dry_run && with_new_hooks().next().is_some() {
        context.note("a new session calls aizo; one that is open may not");
    }
    if !dry_run && with_new_hooks().any(|file| file.agent == Caller::Codex.name()) {
        context.note("codex runs new hooks once you have agreed to them: /hooks");
    }
    Ok(Box::new(told(reply, failure, context)?))
}

/// Runs `uninstall`.
///
/// # Errors
/// No agent is named, or none of them can be served.
pub fn remove(args: &Removal, context: &Context) -> anyhow::Result<Reply> {
    let surroundings = Surroundings::new(args.which.project, context)?;
    let variable = |name: &str| std::env::var(name).ok();
    let machine = surroundings.machine(&variable);
    let mut hosts = named(&args.which.agents)?;
    if args.which.all {
        hosts = hosts_of_all(|_| true);
    } else if hosts.is_empty() {
        return Err(Failure::usage("say from which agents")
            .hint("aizo uninstall --all, or aizo install --list to see where aizo is")
            .into());
    }
    let program = surroundings.program(&machine);
    let by_name = Program::by_name(machine.windows);
    let mut work = Work::begin(&surroundings, Task::Uninstall, &program, args.which.dry_run)?;
    for host in hosts {
        let scope = &surroundings.scope;
        let mut all = pieces(host, scope, &machine, &program);
        if program != by_name {
            all.extend(pieces(host, scope, &machine, &by_name));
        }
        let mut files = by_file(all);
        // Where aizo was put may be elsewhere than it would be today.
        for file in work.record.files_of(host.name(), &scope.name()) {
            if files.iter().all(|(path, _)| *path != file) {
                files.push((file, Vec::new()));
            }
        }
        work.settle(host, files);
    }
    if args.which.all {
        work.files.retain(|file| file.result != "absent");
    }
    let (reply, failure) = work.finish(context, args.which.all)?;
    told(reply, failure, context)
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
