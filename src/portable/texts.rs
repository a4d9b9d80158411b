//! What stands in a row for people and models to read, for a look at whom it speaks to.

use super::piece::Statement;
use super::profile::{Entry, Proposal};
use crate::model::Evidence;
use crate::poison::{suspicion, suspicion_of_places};

impl Entry {
    /// Why it may speak to the model and not of the user: what it says, and what is said to stand behind it.
    pub fn suspicion(&self) -> Option<&'static str> {
        let own = [&self.item, &self.reason, &self.source];
        let lists = [&self.keywords, &self.scenarios, &self.patterns];
        of_all(own, lists, &self.evidence)
    }
}

impl Proposal {
    /// As [`Entry::suspicion`].
    pub fn suspicion(&self) -> Option<&'static str> {
        let own = [&self.item, &self.reason, &self.source];
        let lists = [&self.keywords, &self.scenarios, &self.patterns];
        of_all(own, lists, self.evidence.as_slice())
    }
}

impl Statement {
    /// As [`Entry::suspicion`].
    pub fn suspicion(&self) -> Option<&'static str> {
        let lists = [&self.keywords, &self.scenarios, &self.patterns];
        of_all([&self.item, &self.reason], lists, &[])
    }
}

/// Why observations may.
pub fn suspicion_of_evidence(evidence: &[Evidence]) -> Option<&'static str> {
    of_all([], [], evidence)
}

fn of_all<const N: usize, const M: usize>(
    own: [&String; N],
    lists: [&Vec<String>; M],
    evidence: &[Evidence],
) -> Option<&'static str> {
    let said = evidence.iter().flat_map(|one| [&one.quote, &one.source]);
    let lists = lists.into_iter().flatten();
    let texts: Vec<&str> = own
        .into_iter()
        .chain(lists)
        .chain(said)
        .map(String::as_str)
        .collect();
    let places = evidence
        .iter()
        .flat_map(|one| [&one.agent, &one.session, &one.place, &one.cues]);
    let places: Vec<&str> = places.flatten().map(String::as_str).collect();
    suspicion(&texts.join("\n")).or_else(|| suspicion_of_places(&places.join("\n")))
}
