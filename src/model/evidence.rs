//! One dated observation behind an entry, and who is behind it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Stamp;

/// Who is behind a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Typed by the user, or the user's own explicit words found in their turn.
    User,
    /// An agent over MCP.
    Agent,
    /// Inferred from a conversation.
    Analysis,
    /// Read from a foreign format.
    Import,
}

impl Origin {
    /// The word used in the store and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Origin::User => "user",
            Origin::Agent => "agent",
            Origin::Analysis => "analysis",
            Origin::Import => "import",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Origin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [
            Origin::User,
            Origin::Agent,
            Origin::Analysis,
            Origin::Import,
        ]
        .into_iter()
        .find(|origin| origin.name() == text)
        .ok_or_else(|| format!("`{text}` is not an origin"))
    }
}

/// Whose words a quote is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    /// The person.
    User,
    /// The agent, or whoever wrote about the person.
    Agent,
}

impl Speaker {
    /// The word used in the store and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Speaker::User => "user",
            Speaker::Agent => "agent",
        }
    }
}

/// One dated observation behind an entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Names the observation on every device.
    pub uid: String,
    /// When it was made.
    pub at: Stamp,
    /// The words, at most 300 characters where they come from a conversation.
    pub quote: String,
    /// Whose words they are.
    pub speaker: Speaker,
    /// Who is behind the statement.
    pub origin: Origin,
    /// The free label that `--source` sets.
    pub source: String,
    /// The score that came in with it, before any smoothing; none when the observation named none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The agent whose conversation it was found in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The session it was found in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// File, line or record id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// How sure the extractor was, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The cues that led to it, comma-separated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cues: Option<String>,
}
