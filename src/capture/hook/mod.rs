//! The moments at which a host calls aizo: reads what it sends, and writes an answer in exactly its shape. Pure.
//!
//! A host that sends something unknown gets the empty reply, with which it goes on as if nobody had been asked.

mod payload;
mod planned;
mod reply;
mod scan;
mod tools;

use std::path::PathBuf;
use std::str::FromStr;

pub use reply::{Output, Reply};

/// A host that calls hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Caller {
    /// Claude Code.
    ClaudeCode,
    /// Codex CLI.
    Codex,
    /// OpenCode, through a plugin.
    OpenCode,
    /// OpenClaw, through a plugin.
    OpenClaw,
    /// Gemini CLI.
    Gemini,
    /// Copilot CLI.
    Copilot,
    /// Cursor.
    Cursor,
    /// Windsurf.
    Windsurf,
}

impl Caller {
    /// Every host with the name that `aizo hook` takes.
    pub const ALL: [(Caller, &'static str); 8] = [
        (Caller::ClaudeCode, "claude-code"),
        (Caller::Codex, "codex"),
        (Caller::OpenCode, "opencode"),
        (Caller::OpenClaw, "openclaw"),
        (Caller::Gemini, "gemini"),
        (Caller::Copilot, "copilot"),
        (Caller::Cursor, "cursor"),
        (Caller::Windsurf, "windsurf"),
    ];

    /// The name that `aizo hook` takes.
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(caller, _)| *caller == self)
            .map_or("", |(_, name)| name)
    }
}

impl FromStr for Caller {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .iter()
            .find(|(_, known)| known.eq_ignore_ascii_case(name.trim()))
            .map(|(caller, _)| *caller)
            .ok_or_else(|| {
                let names: Vec<&str> = Self::ALL.iter().map(|(_, name)| *name).collect();
                format!("`{name}` calls no hooks; {} do", names.join(", "))
            })
    }
}

/// A call of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Who calls.
    pub caller: Caller,
    /// The event, as the host spells it.
    pub event: String,
    /// The conversation.
    pub session: Option<String>,
    /// The file in which the host keeps it.
    pub transcript: Option<PathBuf>,
    /// What is happening.
    pub moment: Moment,
}

/// What is happening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moment {
    /// A conversation begins, or goes on after its beginning was cut away.
    Start,
    /// The person has sent something.
    Prompt(String),
    /// The agent is about to do something; nothing where no limit can be about it: reading, searching.
    Tool(Vec<Planned>),
    /// The agent has finished, or the conversation is about to be cut or ends: there is something to learn from.
    Over,
    /// Nothing that aizo has a part in.
    Other,
}

/// What the agent is about to do, as far as it can be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Planned {
    /// A command line.
    Command(String),
    /// New text for a file.
    Edit {
        /// The file.
        path: Option<String>,
        /// What is written into it.
        text: String,
        /// What of it is replaced.
        old: String,
        /// Whether what is written is a patch.
        is_patch: bool,
    },
    /// Text for another program, such as a message that is sent.
    Text(String),
    /// A change of what aizo itself keeps.
    Memory {
        /// The command of aizo that does the same.
        verb: &'static str,
        /// What it is about.
        item: String,
    },
}

impl Call {
    /// Reads what a host has sent. `event` is the event's name where the host's payload does not tell it.
    ///
    /// # Errors
    /// What was sent is no JSON object, and no tool that is about to be used can be made out in it.
    pub fn read(caller: Caller, event: Option<&str>, sent: &str) -> Result<Self, String> {
        payload::read(caller, event, sent)
    }
}
