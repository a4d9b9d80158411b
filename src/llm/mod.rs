//! Preferences read by a language model: what it is asked, how it is reached over the network, and what of its
//! answer holds against the text.
//!
//! The caller hands in the person's turns, already redacted: nothing here looks for secrets, and nothing but
//! [`Prompt::system`] and [`Prompt::user`] leaves the machine (with the model's name and the key). The way is
//! [`prompts`] → [`extract`] (or [`ask`], or a model of the person's own) → [`parse_answer`] → [`check()`].
//! A model is only ever asked because of `--llm` or `AIZO_API_FORMAT`; the doors for agents never do it.

mod answer;
mod check;
mod client;
mod error;
mod prompt;
mod provider;
mod quote;
mod wire;

pub use answer::{Answer, AnswerError, Raw, parse_answer};
pub use check::{Checked, Dropped, check};
pub use client::{Extraction, Reply, ask, extract};
pub use error::LlmError;
pub use prompt::{CHUNK_TOKENS, Limits, Prompt, Said, estimated_tokens, most_tokens, prompts};
pub use provider::{Format, Provider, Timing};
pub use wire::schema;

/// Where the root certificates come from that a connection is checked against.
pub const ROOTS_NOTICE: &str = "The root certificates of Mozilla's CA Certificate Program, by way of the crate webpki-roots.\n";
/// The licence of that list.
pub const ROOTS_LICENSE: &str = include_str!("roots/LICENSE-CDLA-PERMISSIVE-2.0");
