//! The hosts whose conversations can be read: the names that `--agent` takes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::CaptureError;

/// A program that keeps conversations, or a form in which people keep them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Host {
    /// Claude Code.
    ClaudeCode,
    /// Codex CLI.
    Codex,
    /// OpenCode.
    #[serde(rename = "opencode")]
    OpenCode,
    /// OpenClaw, and pi, whose format it shares.
    #[serde(rename = "openclaw")]
    OpenClaw,
    /// Gemini CLI.
    Gemini,
    /// Copilot CLI.
    Copilot,
    /// Cursor.
    Cursor,
    /// An export of ChatGPT.
    #[serde(rename = "chatgpt")]
    ChatGpt,
    /// An export of Claude.ai.
    ClaudeAi,
    /// A conversation kept as plain text or Markdown.
    Text,
}

/// Every host with its name and what else it answers to.
const TABLE: [(Host, &str, &[&str]); 10] = [
    (Host::ClaudeCode, "claude-code", &["claude"]),
    (Host::Codex, "codex", &[]),
    (Host::OpenCode, "opencode", &[]),
    (Host::OpenClaw, "openclaw", &["pi"]),
    (Host::Gemini, "gemini", &["gemini-cli"]),
    (Host::Copilot, "copilot", &["copilot-cli"]),
    (Host::Cursor, "cursor", &[]),
    (Host::ChatGpt, "chatgpt", &[]),
    (Host::ClaudeAi, "claude-ai", &["claude.ai"]),
    (Host::Text, "text", &["markdown", "plain"]),
];

impl Host {
    /// All hosts, in the order of the table.
    pub fn all() -> impl Iterator<Item = Host> {
        TABLE.iter().map(|(host, ..)| *host)
    }

    /// The name that `--agent` takes and that turns carry.
    pub fn name(self) -> &'static str {
        TABLE
            .iter()
            .find(|(host, ..)| *host == self)
            .map_or("text", |(_, name, _)| name)
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Host {
    type Err = CaptureError;

    fn from_str(name: &str) -> Result<Self, CaptureError> {
        let wanted = name.trim().to_lowercase();
        TABLE
            .iter()
            .find(|(_, name, others)| *name == wanted || others.contains(&wanted.as_str()))
            .map(|(host, ..)| *host)
            .ok_or_else(|| CaptureError::UnknownAgent {
                name: name.to_owned(),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_answers_to_its_name_in_every_spelling_of_it() {
        for host in Host::all() {
            assert_eq!(host.name().parse::<Host>().ok(), Some(host));
            let json = serde_json::to_string(&host).expect("a name");
            assert_eq!(json, format!("\"{}\"", host.name()));
        }
        assert_eq!("pi".parse::<Host>().ok(), Some(Host::OpenClaw));
        assert!("word".parse::<Host>().is_err());
    }
}
