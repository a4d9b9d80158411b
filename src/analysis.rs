//! What was heard in conversations, gathered until it is decided about: which turns count, which of their candidates are
//! learned, which wait for a person, and which are left alone. Pure; `capture` tells it what was said, `commands/analyze.rs`
//! asks the store.

use std::collections::{BTreeMap, HashMap, HashSet};

use chrono::{DateTime, Utc};

use crate::merge::{Lesson, Observation, Things};
use crate::model::{Candidate, Evidence, Origin, Score, Speaker, Stamp, Turn, strip_hidden};

/// The most new preferences that one conversation teaches without asking; hard limits are not counted.
pub const MOST_NEW_IN_A_SESSION: usize = 7;
/// The most unsure ones of one conversation that wait for a person.
pub const MOST_UNSURE_IN_A_SESSION: usize = 3;
/// From this confidence on, what was said repeatedly is learned.
const SURE_WHEN_REPEATED: f64 = 0.6;
/// The longest quote that is kept, in characters.
const LONGEST_QUOTE: usize = 300;
/// The longest item that is learned, in characters: what is longer names nothing.
pub const LONGEST_ITEM: usize = 120;

/// A candidate, and the turn that it was found in.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The key of the turn.
    pub turn: String,
    /// The host.
    pub agent: String,
    /// The conversation.
    pub session: String,
    /// File and place in it.
    pub place: String,
    /// When it was said.
    pub said_at: Option<DateTime<Utc>>,
    /// What was found.
    pub candidate: Candidate,
}

impl Finding {
    /// The conversation's name in the store.
    pub fn session_name(&self) -> String {
        session_name(&self.agent, &self.session)
    }

    /// The name of this observation: the same words in the same turn have the same name, in every run.
    pub fn uid(&self) -> String {
        let Candidate { quote, item, .. } = &self.candidate;
        crate::model::stable_name(&[&self.turn, quote, item])
    }

    /// As an observation with its evidence.
    pub fn lesson(&self, now: DateTime<Utc>, waits: Option<&'static str>) -> Lesson {
        let candidate = &self.candidate;
        let said_at = self.said_at.map_or(now, |at| at.min(now));
        let origin = if candidate.explicit {
            Origin::User
        } else {
            Origin::Analysis
        };
        let clean = |text: &str| {
            strip_hidden(text)
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        };
        let quote: String = clean(&candidate.quote)
            .chars()
            .take(LONGEST_QUOTE)
            .collect();
        let evidence = Evidence {
            uid: self.uid(),
            at: Stamp::at(said_at),
            quote: quote.clone(),
            speaker: Speaker::User,
            origin,
            source: "analysis".to_owned(),
            score: Some(candidate.score),
            agent: Some(self.agent.clone()),
            session: Some(self.session.clone()),
            place: Some(self.place.clone()),
            confidence: Some(candidate.confidence),
            cues: (!candidate.cues.is_empty()).then(|| candidate.cues.join(", ")),
        };
        Lesson {
            seen: Observation {
                item: clean(&candidate.item),
                reason: quote,
                keywords: candidate.keywords.clone(),
                scenarios: candidate.scenarios.clone(),
                score: Some(Score::clamped(candidate.score)),
                source: "analysis".to_owned(),
                origin,
                quote: None,
                evidence: None,
            },
            evidence,
            said_at,
            explicit: candidate.explicit,
            waits,
        }
    }
}

/// The name of a conversation in the store.
pub fn session_name(agent: &str, session: &str) -> String {
    format!("{agent}/{session}")
}

/// What one conversation gave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Session {
    /// The keys of its turns.
    pub turns: Vec<String>,
}

/// Everything heard in one run.
#[derive(Debug, Default)]
pub struct Heard {
    /// What was found, in the order in which it was read.
    pub findings: Vec<Finding>,
    /// The conversations.
    pub sessions: BTreeMap<String, Session>,
    /// How many turns were new.
    pub turns: usize,
    known: HashSet<String>,
    by_turn: HashMap<String, Vec<usize>>,
    withdrawn: HashSet<usize>,
}

/// What is to be done with one finding.
#[derive(Debug, Clone, PartialEq)]
pub struct Decided {
    /// The finding.
    pub finding: Finding,
    /// Why it waits, if it does.
    pub waits: Option<&'static str>,
}

impl Heard {
    /// Hears a turn that may have been heard in another file: it counts once. `find` looks for candidates.
    pub fn hear(&mut self, turn: &Turn, file: &str, find: impl FnOnce(&Turn) -> Vec<Candidate>) {
        if !self.known.insert(turn.key.clone()) {
            return;
        }
        self.turns += 1;
        let name = session_name(&turn.agent, &turn.session);
        self.sessions
            .entry(name)
            .or_default()
            .turns
            .push(turn.key.clone());
        for candidate in find(turn) {
            self.add(turn, file, candidate);
        }
    }

    /// Adds a candidate of a turn that was heard.
    pub fn add(&mut self, turn: &Turn, file: &str, candidate: Candidate) {
        if candidate.item.chars().count() > LONGEST_ITEM {
            return;
        }
        self.by_turn
            .entry(turn.key.clone())
            .or_default()
            .push(self.findings.len());
        self.findings.push(Finding {
            turn: turn.key.clone(),
            agent: turn.agent.clone(),
            session: turn.session.clone(),
            place: if file.is_empty() {
                turn.place.clone()
            } else {
                format!("{file}: {}", turn.place)
            },
            said_at: turn.at.as_ref().and_then(Stamp::moment),
            candidate,
        });
    }

    /// Takes back what was found in a turn; a turn with the same key may follow.
    pub fn withdraw(&mut self, key: &str) {
        if let Some(findings) = self.by_turn.remove(key) {
            self.withdrawn.extend(findings);
        }
        if self.known.remove(key) {
            self.turns -= 1;
        }
    }

    /// Decides about what was found, in the order in which it was said. `stored` names what the store holds, `seen_before`
    /// tells of observations that it has ever seen.
    pub fn decide(
        self,
        stored: &Things,
        seen_before: impl Fn(&str) -> bool,
        review_all: bool,
    ) -> Vec<Decided> {
        let withdrawn = self.withdrawn;
        let mut findings: Vec<Finding> = self
            .findings
            .into_iter()
            .enumerate()
            .filter(|(index, _)| !withdrawn.contains(index))
            .map(|(_, finding)| finding)
            .filter(|finding| !seen_before(&finding.uid()))
            .collect();
        raise_repeated(&mut findings);
        findings.sort_by_key(|finding| finding.said_at);
        let mut waits: Vec<Option<&'static str>> = vec![None; findings.len()];
        let mut left_out = vec![false; findings.len()];
        let mut by_session: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, finding) in findings.iter().enumerate() {
            by_session
                .entry(finding.session_name())
                .or_default()
                .push(index);
        }
        for indexes in by_session.values() {
            let mut in_order = indexes.clone();
            let confidence = |index: usize| findings[index].candidate.confidence;
            in_order.sort_by(|&a, &b| confidence(b).total_cmp(&confidence(a)));
            let mut new = Things::default();
            let mut unsure = 0;
            for index in in_order {
                let candidate = &findings[index].candidate;
                let is_limit = Score::clamped(candidate.score).is_hard_limit();
                if !candidate.sure {
                    if unsure < MOST_UNSURE_IN_A_SESSION {
                        waits[index] = Some("not sure that a lasting preference was meant");
                        unsure += 1;
                    } else {
                        left_out[index] = true;
                    }
                } else if review_all {
                    waits[index] = Some("everything was to wait");
                } else if !is_limit
                    && stored.find(&candidate.item).is_none()
                    && new.find(&candidate.item).is_none()
                {
                    if new.len() < MOST_NEW_IN_A_SESSION {
                        new.add(&candidate.item);
                    } else {
                        waits[index] = Some("more than seven new ones in one conversation");
                    }
                }
            }
        }
        findings
            .into_iter()
            .zip(waits)
            .zip(left_out)
            .filter(|(_, left_out)| !left_out)
            .map(|((finding, waits), _)| Decided { finding, waits })
            .collect()
    }
}

/// What was said in several turns is surer than each: the chances of being wrong are multiplied.
fn raise_repeated(findings: &mut [Finding]) {
    let mut things = Things::default();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, finding) in findings.iter().enumerate() {
        match things.find(&finding.candidate.item) {
            Some(group) => groups[group].push(index),
            None => {
                things.add(&finding.candidate.item);
                groups.push(vec![index]);
            }
        }
    }
    for group in groups.iter().filter(|group| group.len() > 1) {
        for against in [true, false] {
            let side: Vec<usize> = group
                .iter()
                .copied()
                .filter(|&index| (findings[index].candidate.score < 4.0) == against)
                .collect();
            let turns: HashSet<&str> = side
                .iter()
                .map(|&index| findings[index].turn.as_str())
                .collect();
            if turns.len() < 2 {
                continue;
            }
            let wrong: f64 = side
                .iter()
                .map(|&index| 1.0 - findings[index].candidate.confidence)
                .product();
            for index in side {
                let candidate = &mut findings[index].candidate;
                candidate.confidence = (((1.0 - wrong).min(0.99)) * 100.0).round() / 100.0;
                candidate.sure |= candidate.confidence >= SURE_WHEN_REPEATED;
                candidate.cues.push("said repeatedly".to_owned());
            }
        }
    }
}
