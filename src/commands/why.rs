//! `aizo why`: the evidence behind an entry, and how its score came about.

use std::io::{self, Write};

use serde::Serialize;

use super::Context;
use super::entries::Entry;
use super::history::{Line, lines_of};
use super::resolve;
use crate::model::{Evidence, Origin, Score, Speaker, Subject};
use crate::present::{Answer, Page, to_json};
use crate::recall::Hit;

/// Arguments of `why`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  aizo why \"concise code\"")]
pub struct Args {
    /// The item, in one or several words, or its id
    #[arg(required = true)]
    item: Vec<String>,
}

/// An observation in JSON.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Observed {
    at: String,
    quote: String,
    speaker: Speaker,
    origin: Origin,
    source: String,
    score: Option<f64>,
    agent: Option<String>,
    session: Option<String>,
    place: Option<String>,
    confidence: Option<f64>,
    cues: Option<String>,
}

impl From<Evidence> for Observed {
    fn from(evidence: Evidence) -> Self {
        Observed {
            at: evidence.at.0,
            quote: evidence.quote,
            speaker: evidence.speaker,
            origin: evidence.origin,
            source: evidence.source,
            score: evidence.score,
            agent: evidence.agent,
            session: evidence.session,
            place: evidence.place,
            confidence: evidence.confidence,
            cues: evidence.cues,
        }
    }
}

impl Observed {
    /// The words.
    pub(super) fn quote(&self) -> &str {
        &self.quote
    }

    /// Whether somebody said it to an agent, so that there is a place where it stands.
    pub(super) fn is_of_a_conversation(&self) -> bool {
        self.agent.is_some() || self.session.is_some() || self.place.is_some()
    }

    /// `2026-11-02 09:00, claude-code, 4f1c…, chat.jsonl:12, confidence 0.84`.
    pub(super) fn said_where(&self) -> String {
        let when = self.at.get(..16).unwrap_or(&self.at).replace('T', " ");
        let places = [&self.agent, &self.session, &self.place];
        let confidence = self.confidence.map(|sure| format!("confidence {sure:.2}"));
        std::iter::once(when)
            .chain(places.into_iter().flatten().cloned())
            .chain(confidence)
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// What `why` replies.
#[derive(Debug, Serialize)]
pub struct Reply {
    entry: Entry,
    evidence: Vec<Observed>,
    history: Vec<Line>,
}

/// Runs `why`.
///
/// # Errors
/// No such entry.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<Reply> {
    explain(&args.item, context)
}

/// Explains the entry that the words name.
///
/// # Errors
/// No such entry.
pub(super) fn explain(words: &[String], context: &Context) -> anyhow::Result<Reply> {
    let now = context.settings.now;
    let reply = context.read(|view| {
        let preference = resolve::one(view, words)?;
        let evidence = view.evidence(preference.id)?;
        let subject = Subject::Entry(preference.uid.clone());
        let history = lines_of(view, Some(&subject), usize::MAX)?;
        let hit = Hit::new(preference, None, &view.decay()?, now);
        Ok(Reply {
            entry: Entry::from(hit),
            evidence: evidence.into_iter().map(Observed::from).collect(),
            history,
        })
    })?;
    reply.ok_or_else(|| resolve::nothing_stored(&words.join(" ")).into())
}

/// Writes observations, one a paragraph.
pub(super) fn observations(evidence: &[Observed], page: &mut Page<'_>) -> io::Result<()> {
    for observed in evidence {
        page.wrapped(&match observed.quote.as_str() {
            "" => "(confirmed without a word)".to_owned(),
            quote => format!("“{quote}”"),
        })?;
        let when = observed
            .at
            .get(..16)
            .unwrap_or(&observed.at)
            .replace('T', " ");
        let score = match observed.score {
            Some(score) => format!(", score {}", Score::clamped(score)),
            None => String::new(),
        };
        page.wrapped_faint(&format!(
            "  {when}{score}, from the {} (source: {}, origin: {})",
            match observed.speaker {
                Speaker::User => "user",
                Speaker::Agent => "agent",
            },
            observed.source,
            observed.origin,
        ))?;
        let found: Vec<&str> = [&observed.agent, &observed.session, &observed.place]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect();
        if !found.is_empty() {
            page.wrapped_faint(&format!("  found in {}", found.join(", ")))?;
        }
        if let Some(confidence) = observed.confidence {
            let cues = observed.cues.as_deref().unwrap_or_default();
            let by = if cues.is_empty() {
                String::new()
            } else {
                format!(", by its words ({cues})")
            };
            page.wrapped_faint(&format!("  understood with confidence {confidence:.2}{by}"))?;
        }
    }
    Ok(())
}

impl Answer for Reply {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.pairs(&self.entry.pairs(None))?;
        page.line("")?;
        page.heading("evidence")?;
        if self.evidence.is_empty() {
            page.line("none: the entry was there before aizo kept evidence")?;
        }
        observations(&self.evidence, page)?;
        page.line("")?;
        page.heading("history")?;
        super::history::table(&self.history, page)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        to_json(self, out)
    }
}
