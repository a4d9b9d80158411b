//! What can go wrong on the way to a model and back. No message holds a key.

use thiserror::Error;

use super::AnswerError;
use crate::settings::{AIZO_API_FORMAT, AIZO_API_KEY, AIZO_API_URL, AIZO_MAX_TOKENS, AIZO_MODEL};

/// Says why a model was not asked, or why its answer is of no use.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LlmError {
    /// Nothing says which service to ask.
    #[error("no model is set up")]
    NoProvider,
    /// A key is there, and nothing that says whose it is.
    #[error("{variable} is set, but not which service it is for")]
    NoFormat {
        /// What is set.
        variable: &'static str,
    },
    /// The service needs a key.
    #[error("the {format} format needs a key, and none is set")]
    NoKey {
        /// The format's name.
        format: &'static str,
        /// The variables that may hold it.
        variables: String,
    },
    /// A setting that cannot be used.
    #[error("{name} {problem}")]
    Setting {
        /// The variable.
        name: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// The service does not take the key.
    #[error("{host} refused the key from {variable} (HTTP {status})")]
    BadKey {
        /// The service.
        host: String,
        /// Where the key came from.
        variable: &'static str,
        /// 401 or 403.
        status: u16,
    },
    /// The service wants a key and none was sent.
    #[error("{host} wants a key (HTTP {status}), and none is set")]
    KeyWanted {
        /// The service.
        host: String,
        /// 401 or 403.
        status: u16,
    },
    /// The address or the model is not there.
    #[error("{host} knows no model `{model}`, or nothing is at that address (HTTP 404{message})")]
    NotFound {
        /// The service.
        host: String,
        /// The model that was asked for.
        model: String,
        /// What the service says, with a leading colon.
        message: String,
    },
    /// The service points elsewhere; a transcript does not follow.
    #[error("{host} points to another address (HTTP {status}), which is not followed")]
    Redirect {
        /// The service.
        host: String,
        /// The status.
        status: u16,
    },
    /// Any other status.
    #[error("{host} answered with HTTP {status}{message}")]
    Status {
        /// The service.
        host: String,
        /// The status.
        status: u16,
        /// What the service says, with a leading colon.
        message: String,
    },
    /// No answer in time.
    #[error("{host} did not answer within {seconds} seconds")]
    Timeout {
        /// The service.
        host: String,
        /// The limit.
        seconds: u64,
    },
    /// No connection, or one that broke.
    #[error("cannot reach {host}: {reason}")]
    Unreachable {
        /// The service.
        host: String,
        /// What the network says.
        reason: String,
    },
    /// An answer beyond any use.
    #[error("the answer of {host} is longer than {bytes} bytes")]
    TooLong {
        /// The service.
        host: String,
        /// The most that is read.
        bytes: u64,
    },
    /// The answer is not in the form that the service's format has.
    #[error("the answer of {host} is not in the {format} format: {reason}")]
    Form {
        /// The service.
        host: String,
        /// The format's name.
        format: &'static str,
        /// What is missing.
        reason: String,
    },
    /// The model declined.
    #[error("the model declined to answer")]
    Declined,
    /// The answer ended at the limit before anything in it was complete.
    #[error("the answer was cut off at {max_tokens} tokens before anything in it was complete")]
    Cut {
        /// The limit.
        max_tokens: u32,
    },
    /// The model's words are not what was asked for, twice.
    #[error("the model `{model}` gave no usable answer: {reason}")]
    Answer {
        /// The model.
        model: String,
        /// What is wrong with it.
        reason: AnswerError,
    },
    /// One of several requests failed; nothing of the others is kept.
    #[error("request {number} of {of}: {error}")]
    Request {
        /// Which, counted from 1.
        number: usize,
        /// How many.
        of: usize,
        /// What went wrong.
        error: Box<LlmError>,
    },
}

impl LlmError {
    /// What to try, where there is something.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            LlmError::NoProvider => format!(
                "set ANTHROPIC_API_KEY or OPENAI_API_KEY, or {AIZO_API_FORMAT}=ollama for a local model, in the environment or in ~/.aizo/.env; or use --no-llm"
            ),
            LlmError::NoFormat { .. } => {
                format!("set {AIZO_API_FORMAT} to anthropic, openai or ollama")
            }
            LlmError::NoKey { variables, .. } => {
                format!("set {variables} in the environment or in ~/.aizo/.env; or use --no-llm")
            }
            LlmError::BadKey { variable, .. } => format!(
                "check {variable}: aizo info shows where it was read; {AIZO_API_FORMAT} and {AIZO_API_URL} say whose key it must be"
            ),
            LlmError::KeyWanted { .. } => format!("set {AIZO_API_KEY}"),
            LlmError::NotFound { .. } => format!("check {AIZO_MODEL}, then {AIZO_API_URL}"),
            LlmError::Redirect { .. } => format!("set {AIZO_API_URL} to the final address"),
            LlmError::Unreachable { .. } => {
                format!("check the connection and {AIZO_API_URL}; --no-llm works without one")
            }
            LlmError::Timeout { .. } => "try again, or use --no-llm".to_owned(),
            LlmError::Cut { .. } => format!("raise {AIZO_MAX_TOKENS}"),
            LlmError::Form { .. } => format!("check {AIZO_API_FORMAT} and {AIZO_API_URL}"),
            LlmError::Answer { .. } => format!("try another {AIZO_MODEL}, or use --no-llm"),
            LlmError::Request { error, .. } => return error.hint(),
            LlmError::Setting { .. }
            | LlmError::Status { .. }
            | LlmError::TooLong { .. }
            | LlmError::Declined => return None,
        })
    }

    /// Whether the settings are at fault, so that no request was made.
    pub fn is_about_settings(&self) -> bool {
        matches!(
            self,
            LlmError::NoProvider
                | LlmError::NoFormat { .. }
                | LlmError::NoKey { .. }
                | LlmError::Setting { .. }
        )
    }
}
