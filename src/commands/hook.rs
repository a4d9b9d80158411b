//! `aizo hook`: answers a host at the moments that count. Nothing that goes wrong here may stand in the host's way: whatever
//! happens, the host gets a reply that it can read, the exit code is 0 (but for the one host that is denied an action by
//! 2), and the log says what it was.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};

use super::check::{Violation, beginning, look_for_limits};
use super::input::{Patience, is_plain_file, read_patiently};
use super::{Cli, Context, context};
use crate::capture::hook::{Call, Caller, Moment, Output, Planned, Reply};
use crate::check::{Certainty, Input};
use crate::model::{Origin, fold, strip_hidden};
use crate::present;
use crate::recall::context::{Block, Budget, Form};
use crate::redact::redact;
use crate::settings::{AIZO_HOOK, clock};

/// The longest payload that is read.
const LONGEST: u64 = 16 * 1024 * 1024;
/// How long to wait for a host that does not close its end.
const PATIENCE: Patience = Patience {
    part: Duration::from_secs(2),
    whole: Duration::from_secs(8),
};
/// How long a note of what was shown waits for another process: the host waits for us.
const LOCK_PATIENCE: Duration = Duration::from_millis(300);
/// What an agent is told at the start.
const AT_THE_START: Budget = Budget {
    tokens: 800,
    characters: 9_500,
};
/// What it is told with a prompt.
const WITH_A_PROMPT: Budget = Budget {
    tokens: 300,
    characters: 4_000,
};
/// Bytes of a prompt whose meaning is looked at.
const LONGEST_PROMPT: usize = 8 * 1024;
/// This many limits are named in one reply.
const MOST_NAMED: usize = 3;
/// A log of more bytes is put aside.
const LONGEST_LOG: u64 = 256 * 1024;
/// Bytes of a line in it.
const LONGEST_LINE: usize = 4 * 1024;

/// Arguments of `hook`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo hook claude-code < event.json
  aizo hook copilot sessionStart < event.json

Hosts: claude-code, codex, opencode, openclaw, gemini, copilot, cursor, windsurf.

The host sends its event on standard input and gets its answer on standard output: what the user prefers when a
conversation begins, what concerns a prompt and was not told yet, and a refusal where an action breaks a hard limit. When
the agent has finished, what the person typed is learned from, in the background. Whatever goes wrong is written to
~/.aizo/aizo.log, and the host goes on.")]
pub struct Args {
    /// The host that calls
    agent: String,
    /// The event, where what the host sends does not name it
    #[arg(allow_hyphen_values = true)]
    event: Vec<String>,
}

/// What is left to be done once the host has its answer.
#[derive(Default)]
struct Afterwards {
    told: Vec<i64>,
    anew: bool,
    learn: bool,
}

/// Answers the host that calls.
pub fn run(cli: &Cli, args: &Args) -> ExitCode {
    if std::env::var_os(AIZO_HOOK).is_some() {
        return ExitCode::SUCCESS;
    }
    let name = args.agent.clone();
    std::panic::set_hook(Box::new(move |panic| {
        fail(&name, &format!("aizo has a fault: {panic}"));
        std::process::exit(0);
    }));
    match answer(cli, args) {
        Ok(code) => code,
        Err(error) => {
            fail(&args.agent, &format!("{error:#}"));
            ExitCode::SUCCESS
        }
    }
}

fn answer(cli: &Cli, args: &Args) -> anyhow::Result<ExitCode> {
    let caller: Caller = args.agent.parse().map_err(anyhow::Error::msg)?;
    let sent = read_sent()?;
    let event = args.event.first().map(String::as_str);
    let call = Call::read(caller, event, &sent).map_err(anyhow::Error::msg)?;
    let mut context = Context::new(cli)?;
    context.settings.lock_timeout = context.settings.lock_timeout.min(LOCK_PATIENCE);
    let (reply, afterwards) = reply(&call, &context)?;
    let output = reply.to(&call);
    print(&output)?;
    // That nothing is stored is no fault; a pattern that cannot be used is one.
    for note in context.take_notes() {
        if !note.starts_with("nothing ") {
            let now = context.settings.now;
            log(now, &strip_hidden(&format!("hook {}: {note}", args.agent)));
        }
    }
    if let Err(error) = finish(&call, &afterwards, &context) {
        let now = context.settings.now;
        log(
            now,
            &strip_hidden(&format!("hook {}: {error:#}", args.agent)),
        );
    }
    Ok(ExitCode::from(output.code))
}

/// What the host sends, until it closes its end or has said nothing for a while; of what is longer the beginning.
fn read_sent() -> io::Result<String> {
    // A host that does not close its end has said all when its JSON is whole.
    let is_enough = |bytes: &[u8]| {
        (bytes.ends_with(b"}") || bytes.ends_with(b"}\n"))
            && serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
    };
    let sent = read_patiently(LONGEST, PATIENCE, is_enough)?;
    Ok(String::from_utf8_lossy(&sent.bytes).into_owned())
}

fn reply(call: &Call, context: &Context) -> anyhow::Result<(Reply, Afterwards)> {
    Ok(match &call.moment {
        Moment::Start | Moment::Prompt(_) if !call.takes_context() => {
            (Reply::Nothing, Afterwards::default())
        }
        Moment::Start => {
            let block = context::block("", None, AT_THE_START, Form::Prose, context)?;
            told(&block, true)
        }
        Moment::Prompt(prompt) => {
            let task = beginning(prompt, LONGEST_PROMPT);
            let session = session_name(call);
            let told_before = |view: &crate::storage::View<'_>| match &session {
                Some(session) => Ok(view.shown(session)?),
                None => Ok(HashSet::new()),
            };
            let block = context::news(task, told_before, WITH_A_PROMPT, context)?;
            told(&block, false)
        }
        Moment::Tool(planned) => (verdict(planned, context)?, Afterwards::default()),
        Moment::Over => (
            Reply::Nothing,
            Afterwards {
                learn: true,
                ..Afterwards::default()
            },
        ),
        Moment::Other => (Reply::Nothing, Afterwards::default()),
    })
}

fn told(block: &Block, anew: bool) -> (Reply, Afterwards) {
    if block.lines.is_empty() && block.limits_left_out == 0 && block.waiting == 0 {
        let afterwards = Afterwards {
            anew,
            ..Afterwards::default()
        };
        return (Reply::Nothing, afterwards);
    }
    let afterwards = Afterwards {
        told: block.lines.iter().map(|line| line.id).collect(),
        anew,
        learn: false,
    };
    (
        Reply::Context(block.text(Form::Prose).trim_end().to_owned()),
        afterwards,
    )
}

/// What a planned action breaks. The words of a limit stand in many a file that does not break it, so that of an edit only
/// patterns count.
fn verdict(planned: &Planned, context: &Context) -> anyhow::Result<Reply> {
    let (input, words_count) = match planned {
        Planned::Command(command) => (Input::command(command), true),
        Planned::Text(text) => (Input::text(text), true),
        Planned::Edit {
            path,
            text,
            is_patch,
        } => {
            let edit = Input::edit(path.as_deref(), text);
            let is_patch = *is_patch;
            (Input { is_patch, ..edit }, false)
        }
        Planned::Nothing => return Ok(Reply::Nothing),
    };
    let checked = look_for_limits(context, &input)?;
    let broken = |violation: &&Violation| violation.certainty == Certainty::Pattern;
    if checked.violated {
        return Ok(Reply::Deny(sentence(
            checked.violations.iter().filter(broken),
            "This breaks",
        )));
    }
    // A keyword stands in most commands that have to do with it: the words of the item itself ask.
    let may_break = |violation: &&Violation| {
        violation.certainty == Certainty::Words
            && violation.origin == Origin::User
            && (violation.pattern.is_some() || is_about(&violation.item, &violation.matched))
    };
    // A script that is written may be run later.
    let asks = |violation: &&Violation| {
        may_break(violation) && (words_count || violation.pattern.is_some())
    };
    if checked.violations.iter().any(|one| asks(&one)) {
        return Ok(Reply::Ask(sentence(
            checked.violations.iter().filter(asks),
            "This may break",
        )));
    }
    Ok(Reply::Nothing)
}

/// Whether the words that were found are words of the item, and not keywords alone.
fn is_about(item: &str, found: &[String]) -> bool {
    let item = fold(item);
    !found.is_empty() && found.iter().all(|word| item.contains(&fold(word)))
}

/// The limits and the user's own words about them, each limit once.
fn sentence<'v>(violations: impl Iterator<Item = &'v Violation>, breaks: &str) -> String {
    let mut seen = HashSet::new();
    let mut parts: Vec<String> = violations
        .filter(|violation| seen.insert(violation.id))
        .map(|violation| {
            // What was learned keeps the user's own sentence as its reason.
            let words = match (violation.reason.as_str(), violation.source.as_str()) {
                ("", _) => String::new(),
                (said, "analysis") => format!(" The user has said: “{said}”."),
                (reason, _) => format!(" The reason: {reason}."),
            };
            let all = format!(
                "{breaks} a hard limit of the user: {} ({}).{words} Only the user can lift it: {}",
                violation.item,
                violation.why(),
                violation.lift
            );
            // Nothing in it can end a block or colour a terminal.
            strip_hidden(&all).replace('<', "‹").replace('>', "›")
        })
        .collect();
    let more = parts.len().saturating_sub(MOST_NAMED);
    parts.truncate(MOST_NAMED);
    if more > 0 {
        parts.push(format!("And {more} more: aizo check says which."));
    }
    parts.join("\n")
}

/// The conversation's name in the store.
fn session_name(call: &Call) -> Option<String> {
    let session = call.session.as_ref()?;
    Some(format!("{}/{session}", call.caller.name()))
}

fn print(output: &Output) -> io::Result<()> {
    if !output.err.is_empty() {
        present::say(&output.err);
    }
    present::raw(output.out.as_bytes())
}

/// What the host need not wait for.
fn finish(call: &Call, afterwards: &Afterwards, context: &Context) -> anyhow::Result<()> {
    if afterwards.learn {
        learn(call, context)?;
    }
    if (afterwards.anew || !afterwards.told.is_empty())
        && context.has_store()?
        && let Some(session) = session_name(call)
    {
        context.write(|transaction| {
            Ok(transaction.remember_shown(&session, &afterwards.told, afterwards.anew)?)
        })?;
    }
    Ok(())
}

/// Starts a process of its own that learns from what was said and goes on when the host ends. A run that is killed has learned
/// nothing, and the next one reads the same turns.
fn learn(call: &Call, context: &Context) -> anyhow::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .arg("--db")
        .arg(std::path::absolute(&context.settings.db)?)
        .args(["analyze", "--no-llm", "--json"]);
    match (&call.transcript, call.caller) {
        (Some(transcript), _) if is_plain_file(transcript).unwrap_or(false) => {
            command.arg("--").arg(transcript);
        }
        (
            _,
            Caller::OpenCode
            | Caller::OpenClaw
            | Caller::Copilot
            | Caller::Cursor
            | Caller::Codex
            | Caller::Gemini,
        ) => {
            command.args(["--all", "--agent", call.caller.name()]);
        }
        _ => return Ok(()),
    }
    command
        .env(AIZO_HOOK, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    apart(&mut command);
    command.spawn()?;
    Ok(())
}

/// Lets a process go on when the host ends the one that started it.
#[cfg(unix)]
fn apart(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

/// Lets a process go on when the host ends the one that started it.
#[cfg(windows)]
fn apart(command: &mut Command) {
    use std::os::windows::process::CommandExt;
    const DETACHED_PROCESS: u32 = 0x0000_0008;
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
    command.creation_flags(DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP);
}

/// Says in one line what went wrong, and writes it down.
fn fail(agent: &str, message: &str) {
    let line = strip_hidden(&format!("hook {agent}: {message}"));
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    present::say(&format!("aizo {line}"));
    log(clock(), &line);
}

/// Adds a line to the log, where there is a folder for it. Whatever goes wrong with that is nobody's affair.
fn log(now: DateTime<Utc>, message: &str) {
    let Some(home) = home() else {
        return;
    };
    let path = home.join("aizo.log");
    let metadata = std::fs::metadata(&path);
    if metadata.as_ref().is_ok_and(|metadata| !metadata.is_file()) {
        return;
    }
    if metadata.is_ok_and(|metadata| metadata.len() > LONGEST_LOG) {
        let is_kept = std::fs::rename(&path, home.join("aizo.log.1")).is_ok();
        if !is_kept {
            // Better none of it than more and more.
            let _gone_or_not = std::fs::File::create(&path);
        }
    }
    let clean = redact(message).text.replace(['\n', '\r'], " ");
    let line = format!(
        "{} {}\n",
        now.to_rfc3339_opts(SecondsFormat::Secs, true),
        beginning(&clean, LONGEST_LINE)
    );
    let _written_or_not = open_log(&path).and_then(|mut file| file.write_all(line.as_bytes()));
}

fn open_log(path: &Path) -> io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}

/// The folder of the log, if it is there: the settings may be what failed.
fn home() -> Option<PathBuf> {
    let home = std::env::var_os("AIZO_HOME")
        .filter(|home| !home.is_empty())
        .map(PathBuf::from)
        .or_else(|| Some(dirs::home_dir()?.join(".aizo")))?;
    home.is_dir().then_some(home)
}
