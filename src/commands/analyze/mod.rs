//! `aizo analyze`: reads what people said to agents and learns the preferences in it.
//!
//! | file | does |
//! |---|---|
//! | `mod.rs` | the arguments, and the way through: read → find → decide → write |
//! | `listen.rs` | which files, and what is heard in them |
//! | `model.rs` | the candidates that a language model finds |
//! | `settle.rs` | what becomes of the findings in the store |
//! | `reply.rs` | how that is told |

mod listen;
mod model;
mod reply;
mod settle;

use std::path::PathBuf;

use super::Context;
use crate::error::{Failure, Kind};
use crate::extract;
use crate::model::{Candidate, Turn};

pub use reply::Reply;

/// Arguments of `analyze`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo analyze ~/.claude/projects --dry-run
  cat chat.md | aizo analyze
  aizo analyze --all
  aizo analyze --print-prompt chat.md | your-model | aizo analyze --from-answer -

Reads Claude Code, Codex, OpenCode, OpenClaw, Gemini CLI, Copilot CLI, Cursor, exports of ChatGPT and Claude.ai, and chats in
plain text or Markdown; also .gz, .zst and .zip. Only what a person typed counts. No model is asked unless --llm or
AIZO_API_FORMAT says so.")]
pub struct Args {
    /// Files and folders; `-` or a pipe for standard input
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Analyse every agent's history found on this machine
    #[arg(long, conflicts_with = "paths")]
    all: bool,
    /// Take the files for this agent's, or with --all only this agent's
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Only what was said since then: 2026-11-02, or 30d
    #[arg(long, value_name = "DATE")]
    since: Option<String>,
    /// Say what would be learned, and change nothing; with a model, print what would be sent
    #[arg(long)]
    dry_run: bool,
    /// Ask a language model: it reads the person's turns, without secrets
    #[arg(long, conflicts_with = "no_llm")]
    llm: bool,
    /// Ask no model, whatever AIZO_API_FORMAT says
    #[arg(long)]
    no_llm: bool,
    /// Let everything wait in review instead of storing it
    #[arg(long)]
    review: bool,
    /// Print what a model would be asked, for a model of your own
    #[arg(long, conflicts_with_all = ["llm", "from_answer", "all"])]
    print_prompt: bool,
    /// Take a model's answer to what --print-prompt printed; `-` for standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["llm", "paths", "all"])]
    from_answer: Option<PathBuf>,
}

impl Args {
    /// No argument at all.
    fn none() -> Self {
        Args {
            paths: Vec::new(),
            all: false,
            agent: None,
            since: None,
            dry_run: false,
            llm: false,
            no_llm: false,
            review: false,
            print_prompt: false,
            from_answer: None,
        }
    }
}

/// Runs `analyze`.
///
/// # Errors
/// Nothing to read, a path that does not exist, a model that cannot be asked, what the store reports.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<super::Reply> {
    if let Some(file) = &args.from_answer {
        let reply = model::from_answer(file, args, context)?;
        return Ok(super::Reply::Answer(Box::new(reply)));
    }
    if args.print_prompt {
        return model::print_prompt(args, context).map(super::Reply::Raw);
    }
    let provider = model::provider(args, context)?;
    let keep_turns = provider.is_some();
    let mut heard = listen::listen(&listen::Wanted::of(args, context)?, keep_turns, context)?;
    if !args.all && heard.nothing_but_others() {
        return Err(no_transcript(&heard));
    }
    if let Some(provider) = &provider {
        if args.dry_run {
            return Ok(super::Reply::Raw(
                model::shown(&heard, context)?.into_bytes(),
            ));
        }
        model::find(provider, &mut heard, context)?;
    }
    let reply = if args.dry_run {
        settle::rehearse(heard, args.review, context)?
    } else {
        settle::write(heard, args.review, context)?
    };
    Ok(super::Reply::Answer(Box::new(reply)))
}

/// What the built-in reader finds in a turn.
fn built_in(turn: &Turn) -> Vec<Candidate> {
    extract::candidates(turn)
}

/// What was named holds no conversation.
fn no_transcript(heard: &listen::Listened) -> anyhow::Error {
    let names: Vec<&str> = heard.files.iter().map(|(file, _)| file.as_str()).collect();
    Failure::new(Kind::Failed, format!("not a transcript: {}", names.join(", ")))
        .hint("a chat in plain text says who speaks: `User: …` and `Assistant: …` at the beginning of lines")
        .into()
}

/// Nothing was named that could be read.
fn nothing_named() -> anyhow::Error {
    Failure::usage("nothing to analyse was named")
        .hint("aizo analyze PATH…, aizo analyze --all, or a chat on standard input")
        .into()
}
