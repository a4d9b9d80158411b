//! The way out of a reader: makes a turn of what a person said, with all cut away that must never be learned, and
//! counts.

use std::collections::HashSet;

use super::host::Host;
use super::problem::Problems;
use super::{Event, digest, marker};
use crate::model::{Answer, Stamp, Turn, TurnKind};
use crate::redact::{Scope, redact_in};

/// The most that is kept of an agent's message until it is known whether a person replies to it, in bytes.
const LONGEST_ANSWER: usize = 64 << 10;

/// How often it is told how far the reading is, in bytes.
const OFTEN: u64 = 1 << 20;

/// How far a secret may reach, in characters; a private key is known by its beginning.
const LONGEST_SECRET: usize = 2048;

/// What a person said, as a reader found it.
#[derive(Debug)]
pub(super) struct Said {
    /// The host's own id of the turn.
    pub(super) id: Option<String>,
    pub(super) text: String,
    pub(super) kind: TurnKind,
    pub(super) at: Option<Stamp>,
    pub(super) session: String,
    pub(super) place: String,
}

/// The agent's last message: kept as it came, and parsed only when a person replies.
#[derive(Debug, Default)]
enum LastAnswer {
    #[default]
    None,
    Raw {
        record: Vec<u8>,
        text: fn(&[u8]) -> Option<String>,
    },
    Known(Answer),
}

/// Where readers put what they find.
pub(super) struct Outbox<'s> {
    pub(super) host: Host,
    pub(super) problems: Problems,
    /// A name for conversations that have none, made from the file.
    pub(super) fallback_session: String,
    pub(super) turns: u64,
    pub(super) withdrawn: u64,
    /// How far the reading was when it was told last.
    told: u64,
    sessions: HashSet<u64>,
    answer: LastAnswer,
    sink: &'s mut dyn FnMut(Event),
}

impl<'s> Outbox<'s> {
    pub(super) fn new(
        host: Host,
        fallback_session: String,
        sink: &'s mut dyn FnMut(Event),
    ) -> Self {
        Outbox {
            host,
            problems: Problems::default(),
            fallback_session,
            turns: 0,
            withdrawn: 0,
            told: 0,
            sessions: HashSet::new(),
            answer: LastAnswer::None,
            sink,
        }
    }

    /// How many conversations had turns.
    pub(super) fn sessions(&self) -> u64 {
        self.sessions.len() as u64
    }

    /// Hands out a turn and returns its key; nothing where nothing is left to hand out.
    pub(super) fn say(&mut self, said: Said) -> Option<String> {
        let answer = self.last_answer();
        self.say_after(said, answer)
    }

    /// The same of a turn that replied to an earlier message of the agent.
    pub(super) fn say_after(&mut self, said: Said, answer: Option<Answer>) -> Option<String> {
        let text = clean(&said.text);
        if text.is_empty() {
            return None;
        }
        let session = if said.session.is_empty() {
            self.fallback_session.clone()
        } else {
            said.session
        };
        let key = said.id.filter(|id| !id.is_empty()).unwrap_or_else(|| {
            // What no host tells apart is the same turn, in whatever file it stands: but where there is no time,
            // two conversations may hold the same words.
            let at = said.at.as_ref().map_or(session.as_str(), |at| &at.0);
            digest::long(&["user", at, &text])
        });
        self.sessions.insert(digest::short(session.as_bytes()));
        self.turns += 1;
        (self.sink)(Event::Turn(Turn {
            key: key.clone(),
            text,
            kind: said.kind,
            at: said.at,
            agent: self.host.name().to_owned(),
            session,
            place: said.place,
            answer,
        }));
        Some(key)
    }

    /// Tells now and then how far the reading is.
    pub(super) fn is_at(&mut self, position: u64) {
        let bytes = position.saturating_sub(self.told);
        if bytes >= OFTEN {
            self.told = position;
            (self.sink)(Event::Read { bytes });
        }
    }

    /// Takes back a turn that was handed out.
    pub(super) fn withdraw(&mut self, key: String) {
        self.withdrawn += 1;
        (self.sink)(Event::Withdrawn { key });
    }

    /// Remembers the agent's message for the turn that may follow.
    pub(super) fn answered(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.answer = LastAnswer::Known(answer(text));
        }
    }

    /// The same of a record that is parsed by `text` only when a turn follows.
    pub(super) fn answered_by(&mut self, record: &[u8], text: fn(&[u8]) -> Option<String>) {
        if record.len() > LONGEST_ANSWER {
            if let Some(text) = text(record) {
                self.answered(&text);
            }
            return;
        }
        if let LastAnswer::Raw {
            record: kept,
            text: reader,
        } = &mut self.answer
        {
            kept.clear();
            kept.extend_from_slice(record);
            *reader = text;
        } else {
            self.answer = LastAnswer::Raw {
                record: record.to_vec(),
                text,
            };
        }
    }

    /// Takes up the agent's message where the last reading stopped.
    pub(super) fn set_answer(&mut self, answer: Option<Answer>) {
        self.answer = answer.map_or(LastAnswer::None, LastAnswer::Known);
    }

    /// Forgets the agent's message: another conversation begins.
    pub(super) fn forget_answer(&mut self) {
        self.answer = LastAnswer::None;
    }

    /// What the agent said last.
    pub(super) fn last_answer(&mut self) -> Option<Answer> {
        if let LastAnswer::Raw { record, text } = &self.answer {
            self.answer = match text(record) {
                Some(text) if !text.trim().is_empty() => LastAnswer::Known(answer(&text)),
                _ => LastAnswer::None,
            };
        }
        match &self.answer {
            LastAnswer::Known(answer) => Some(answer.clone()),
            _ => None,
        }
    }
}

/// What is kept of an agent's message: without secrets, since the place to go on from remembers it.
fn answer(text: &str) -> Answer {
    let text = marker::cut(&marker::cut_private(text));
    let text = text.trim();
    // Longer than what is kept, so that no secret is cut before it is known.
    let beginning: String = text
        .chars()
        .take(Answer::START_CHARS + LONGEST_SECRET)
        .collect();
    Answer {
        chars: text.chars().count(),
        start: redact_in(&beginning, Scope::Quote)
            .text
            .chars()
            .take(Answer::START_CHARS)
            .collect(),
    }
}

/// A person's words without aizo's own blocks and without what is private.
pub(super) fn clean(text: &str) -> String {
    let text = marker::cut(&marker::cut_private(text));
    text.trim_matches(|c: char| c.is_whitespace() || c == '\0' || c == '\u{feff}')
        .to_owned()
}
