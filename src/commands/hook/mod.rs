//! `aizo hook`: answers a host at the moments that count. Nothing that goes wrong here may stand in the host's way: whatever
//! happens, the host gets a reply that it can read, the exit code is 0 (but for the one host that is denied an action by
//! 2), and the log says what it was.

mod edit;
mod log;
mod memory;
mod verdict;

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::process::{Command, ExitCode, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use super::check::beginning;
use super::input::{End, Patience, is_plain_file, read_patiently};
use super::{Cli, Context, context, lost};
use crate::capture::hook::{Call, Caller, Moment, Output, Reply};
use crate::model::strip_hidden;
use crate::present;
use crate::recall::context::{Block, Budget, Form};
use crate::settings::AIZO_HOOK;
use log::{fail, log};
use verdict::{shown, verdict};

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

/// Arguments of `hook`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo hook claude-code < event.json
  aizo hook copilot sessionStart < event.json

Hosts: claude-code, codex, opencode, openclaw, gemini, copilot, cursor, windsurf.

The host sends its event on standard input and gets its answer on standard output: what the user prefers when a
conversation begins, what concerns a prompt and was not told yet, a refusal where an action breaks a hard limit, and a
question where it may. When the agent has finished, what the person typed is learned from, in the background. Whatever goes
wrong is written to ~/.aizo/aizo.log, and the host goes on.")]
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

/// What a host is answered that asks about an action, if aizo has a fault.
static IF_ALL_FAILS: OnceLock<Output> = OnceLock::new();

/// Answers the host that calls.
pub fn run(cli: &Cli, args: &Args) -> ExitCode {
    if std::env::var_os(AIZO_HOOK).is_some() {
        return ExitCode::SUCCESS;
    }
    let name = args.agent.clone();
    std::panic::set_hook(Box::new(move |panic| {
        fail(&name, &format!("aizo has a fault: {panic}"));
        if let Some(output) = IF_ALL_FAILS.get() {
            let _the_host_may_be_gone = print(output);
        }
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
    let call = Call::read(caller, event, &sent.text).map_err(anyhow::Error::msg)?;
    if matches!(call.moment, Moment::Tool(_)) {
        let question =
            "aizo has a fault and could not tell whether this breaks a hard limit of the user.";
        IF_ALL_FAILS.get_or_init(|| Reply::Ask(question.to_owned()).to(&call));
    }
    let mut context = Context::new(cli)?;
    context.settings.lock_timeout = context.settings.lock_timeout.min(LOCK_PATIENCE);
    let (reply, afterwards) = reply(&call, sent.end == End::Came, &context)?;
    let output = reply.to(&call);
    print(&output)?;
    let mut faults = faults(&call, &reply, &sent, &context);
    if let Err(error) = finish(&call, &afterwards, &context) {
        faults.insert(format!("{error:#}"));
    }
    for fault in faults {
        let line = strip_hidden(&format!("hook {}: {fault}", args.agent));
        log(context.settings.now, &line);
    }
    Ok(ExitCode::from(output.code))
}

/// What went wrong although there is an answer.
fn faults(call: &Call, reply: &Reply, sent: &Sent, context: &Context) -> BTreeSet<String> {
    // That nothing is stored is no fault; a pattern that cannot be used is one.
    let notes = context.take_notes().into_iter();
    let mut faults: BTreeSet<String> = notes.filter(|note| !note.starts_with("nothing ")).collect();
    let length = sent.text.len();
    match sent.end {
        End::Came => {}
        End::Cut => {
            faults.insert(format!(
                "of what the host sent only the first {length} bytes were looked at"
            ));
        }
        End::Open => {
            faults.insert(format!(
                "what the host sent did not end; the {length} bytes that came were looked at"
            ));
        }
    }
    if let Reply::Ask(question) = reply
        && !call.can_ask()
    {
        faults.insert(format!(
            "nobody was asked, since the host cannot ask at this event: {question}"
        ));
    }
    faults
}

/// What a host has sent.
struct Sent {
    text: String,
    end: End,
}

/// What the host sends, until it closes its end or has said nothing for a while; of what is longer the beginning.
fn read_sent() -> io::Result<Sent> {
    // A host that does not close its end has said all when its JSON is whole.
    let is_enough = |bytes: &[u8]| {
        (bytes.ends_with(b"}") || bytes.ends_with(b"}\n"))
            && serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
    };
    let sent = read_patiently(LONGEST, PATIENCE, is_enough)?;
    Ok(Sent {
        text: String::from_utf8_lossy(&sent.bytes).into_owned(),
        end: sent.end,
    })
}

fn reply(call: &Call, is_whole: bool, context: &Context) -> anyhow::Result<(Reply, Afterwards)> {
    Ok(match &call.moment {
        Moment::Start | Moment::Prompt(_) if !call.takes_context() => {
            (Reply::Nothing, Afterwards::default())
        }
        Moment::Start => {
            let block = context::block("", None, AT_THE_START, Form::Prose, context)?;
            let (reply, afterwards) = told(&block, true);
            if matches!(reply, Reply::Nothing)
                && !context.has_store()?
                && let Some(what) = lost::what(context)
            {
                let text = format!(
                    "What the user prefers is not known: {what}. Tell the user; aizo doctor says how it comes back."
                );
                return Ok((Reply::Context(shown(&text)), afterwards));
            }
            (reply, afterwards)
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
        Moment::Tool(planned) => (verdict(planned, is_whole, context)?, Afterwards::default()),
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
        context.jot(|transaction| {
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
