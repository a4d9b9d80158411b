//! Who asks for a change: the user at the command line, or an agent that may have the user's words. What an agent may not do
//! without them is said here.

use chrono::{DateTime, Utc};

use super::Context;
use crate::error::Failure;
use crate::model::{
    EntryValues, Evidence, Origin, Preference, Speaker, Stamp, TextError, check_text,
};
use crate::poison::suspicion;

/// The label of what an agent asks for.
pub(super) const SOURCE: &str = "mcp";

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Asker {
    /// The user.
    User,
    /// An agent, with the user's own words about it or without any.
    Agent { quote: Option<String> },
}

impl Asker {
    /// An agent, and what it says that the user said.
    ///
    /// # Errors
    /// A quote that may not enter the store.
    pub(super) fn agent(quote: Option<&str>, context: &Context) -> Result<Self, TextError> {
        let quote = quote
            .filter(|quote| !quote.trim().is_empty())
            .map(|quote| check_text("quote", &context.without_secrets(quote)))
            .transpose()?;
        Ok(Asker::Agent { quote })
    }

    /// Who is behind the change.
    pub(super) fn origin(&self) -> Origin {
        match self {
            Asker::User => Origin::User,
            Asker::Agent { .. } => Origin::Agent,
        }
    }

    /// The user's own words.
    pub(super) fn quote(&self) -> Option<&str> {
        match self {
            Asker::User => None,
            Asker::Agent { quote } => quote.as_deref(),
        }
    }

    /// Whether it is an agent that has no word of the user.
    pub(super) fn is_without_words(&self) -> bool {
        matches!(self, Asker::Agent { quote: None })
    }

    /// Fails where an agent without the user's words wants what only the user decides.
    ///
    /// # Errors
    /// What it takes.
    pub(super) fn require_words(&self, what: &str) -> Result<(), Failure> {
        if self.is_without_words() {
            return Err(Failure::usage(format!(
                "{what} takes the user's own words, and nothing was changed"
            ))
            .hint(
                "call again with `quote`: word for word what the user said about it; if they said nothing, ask them",
            ));
        }
        Ok(())
    }

    /// Fails where an agent would write texts that speak to the model and not of the user, whoever said them.
    ///
    /// # Errors
    /// Why it may be so.
    pub(super) fn require_harmless(&self, values: &EntryValues) -> Result<(), Failure> {
        let scenarios = values.scenarios.iter().flatten();
        let texts = [
            &values.item,
            &values.reason,
            &values.keywords,
            &values.source,
        ];
        let patterns = values.pattern.iter().flatten();
        let texts = texts.into_iter().flatten().chain(scenarios).chain(patterns);
        let texts: Vec<&str> = texts.map(String::as_str).collect();
        match (self, suspicion(&texts.join("\n"))) {
            (Asker::Agent { .. }, Some(why)) => {
                Err(Failure::usage(format!("{why}, and nothing was changed"))
                    .hint("if the user means it, they can set it themselves: aizo update"))
            }
            _ => Ok(()),
        }
    }

    /// The user's words as evidence for what becomes of an entry.
    pub(super) fn evidence(
        &self,
        entry: &Preference,
        score: Option<f64>,
        uid: String,
        now: DateTime<Utc>,
    ) -> Option<Evidence> {
        Some(Evidence {
            uid,
            at: Stamp::at(now),
            quote: self.quote()?.to_owned(),
            speaker: Speaker::User,
            origin: self.origin(),
            source: SOURCE.to_owned(),
            score: score.or(Some(entry.base_score.value())),
            agent: None,
            session: None,
            place: None,
            confidence: None,
            cues: None,
        })
    }
}
