//! Where each host keeps its settings on this machine, and whether it is there.

use std::path::{Path, PathBuf};

use crate::capture::hook::Caller;

/// What is known about the machine.
pub struct Machine<'m> {
    /// The person's home folder.
    pub home: PathBuf,
    /// The value of an environment variable.
    pub variable: &'m dyn Fn(&str) -> Option<String>,
    /// Whether a path is there.
    pub exists: &'m dyn Fn(&Path) -> bool,
    /// Whether commands are written for Windows.
    pub windows: bool,
}

/// For whom aizo is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// For everything that the person does.
    User,
    /// For what is done in this folder.
    Project(PathBuf),
}

impl Scope {
    /// Its name in the record and in replies.
    pub fn name(&self) -> String {
        match self {
            Scope::User => "user".to_owned(),
            Scope::Project(folder) => folder.display().to_string(),
        }
    }
}

impl Machine<'_> {
    /// The folder of a host's settings for the person.
    pub(super) fn settings(&self, host: Caller) -> PathBuf {
        let at_home = |path: &str| self.home.join(path);
        match host {
            Caller::ClaudeCode => self.folder("CLAUDE_CONFIG_DIR", ".claude"),
            Caller::Codex => self.folder("CODEX_HOME", ".codex"),
            Caller::OpenCode => self.folder("XDG_CONFIG_HOME", ".config").join("opencode"),
            Caller::OpenClaw => self.folder("OPENCLAW_STATE_DIR", ".openclaw"),
            Caller::Gemini => self.folder("GEMINI_CLI_HOME", "").join(".gemini"),
            Caller::Copilot => self.folder("COPILOT_HOME", ".copilot"),
            Caller::Cursor => at_home(".cursor"),
            Caller::Windsurf => at_home(".codeium").join("windsurf"),
        }
    }

    /// The folder that a variable names, else one in the home folder.
    fn folder(&self, variable: &str, at_home: &str) -> PathBuf {
        match (self.variable)(variable).filter(|value| !value.is_empty()) {
            Some(folder) => self.home.join(folder),
            None if at_home.is_empty() => self.home.clone(),
            None => self.home.join(at_home),
        }
    }

    /// Whether a host is on this machine: its settings are, or its program can be found.
    pub fn has(&self, host: Caller) -> bool {
        let program = match host {
            Caller::ClaudeCode => "claude",
            other => other.name(),
        };
        (self.exists)(&self.settings(host)) || self.which(program).is_some()
    }

    /// The file that a command's name stands for.
    pub fn which(&self, program: &str) -> Option<PathBuf> {
        let path = (self.variable)("PATH")?;
        std::env::split_paths(&path)
            .filter(|folder| folder.is_absolute())
            .map(|folder| {
                folder.join(if self.windows {
                    format!("{program}.exe")
                } else {
                    program.to_owned()
                })
            })
            .find(|file| (self.exists)(file))
    }
}
