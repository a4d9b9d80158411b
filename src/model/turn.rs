//! One thing that a person said to an agent, with what is needed of the answer before it.

use super::Stamp;

/// How the words of a turn came about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnKind {
    /// Typed into the conversation.
    Typed,
    /// Standing instructions that the person wrote into the host's settings.
    Standing,
    /// An option that the person chose when the agent asked.
    Choice {
        /// What the agent asked.
        question: String,
    },
}

/// The agent's message that a turn replies to: enough to see that a short "no" follows a long answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// Its length in characters.
    pub chars: usize,
    /// How it begins, at most [`Answer::START_CHARS`] characters. Never a source of preferences.
    pub start: String,
}

impl Answer {
    /// The most that is kept of an answer's beginning, in characters.
    pub const START_CHARS: usize = 300;
}

/// One thing that a person said in a conversation with an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Names the turn in every file it appears in: the host's own id, else a hash of role, time and text.
    pub key: String,
    /// What the person typed, with all that the host added cut away.
    pub text: String,
    /// How the words came about.
    pub kind: TurnKind,
    /// When it was said; none where the format does not tell.
    pub at: Option<Stamp>,
    /// The host, by the name that `--agent` takes.
    pub agent: String,
    /// The host's id of the conversation, else a name made from the file.
    pub session: String,
    /// Where in its file: `line 12`, or the host's record id.
    pub place: String,
    /// What the agent had said before it.
    pub answer: Option<Answer>,
}
