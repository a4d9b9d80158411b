//! The hard limits in force, to be asked whether something speaks against one of them in other words: "shellfish is fine"
//! against "allergic to shellfish".

use super::record::{speaks_against, without_bans};
use crate::check::Detector;
use crate::merge::{self, Observation, Thing, names_something};
use crate::model::{Origin, Preference, Score};
use crate::recall::Folded;
use crate::storage::View;

/// Hard limits by a number of their own.
#[derive(Default)]
pub(super) struct Limits(Vec<Limit>);

/// A hard limit.
pub(super) struct Limit {
    pub id: i64,
    pub item: String,
    /// What it is about, as it is said.
    rule: Thing,
    /// What it forbids.
    forbidden: Named,
    keywords: Vec<Named>,
    detectors: Vec<Detector>,
}

/// What a text may name: by all its words, or by its letters with other gaps between them.
struct Named {
    thing: Thing,
    letters: String,
}

impl Named {
    fn of(text: &str) -> Self {
        Named {
            thing: Thing::of(text),
            letters: Folded::new(text).pieces().concat(),
        }
    }

    /// A keyword stands as a whole.
    fn is_named_in(&self, text: &Folded) -> bool {
        self.thing.is_in(text) || holds_letters(text.pieces(), &self.letters)
    }
}

/// Whether pieces beside each other have these letters: "shell fish" has those of "shellfish".
fn holds_letters(pieces: &[String], letters: &str) -> bool {
    (0..pieces.len()).any(|start| {
        let mut rest = letters;
        for piece in &pieces[start..] {
            match rest.strip_prefix(piece.as_str()) {
                Some("") => return true,
                Some(more) => rest = more,
                None => return false,
            }
        }
        false
    })
}

impl Limit {
    fn of(id: i64, item: &str, keywords: &[String]) -> Self {
        let thing = merge::thing_of(item).unwrap_or(item);
        let bare = without_bans(thing);
        let forbidden = if names_something(&bare) { &bare } else { thing };
        Limit {
            id,
            item: item.to_owned(),
            rule: Thing::of(item),
            forbidden: Named::of(forbidden),
            keywords: keywords.iter().map(|keyword| Named::of(keyword)).collect(),
            detectors: Detector::named_by(item),
        }
    }

    /// Whether what is said of an item is said of what the limit forbids.
    fn concerns(&self, item: &Folded, thing: &Thing, detectors: &[Detector]) -> bool {
        thing.falls_under(&self.rule)
            || self.forbidden.is_named_in(item)
            || self
                .keywords
                .iter()
                .any(|keyword| keyword.is_named_in(item))
            || self.detectors.iter().any(|named| detectors.contains(named))
    }
}

impl Limits {
    /// All limits of a store.
    pub(super) fn of(view: &View<'_>) -> anyhow::Result<Self> {
        let mut limits = Limits::default();
        for entry in view.hard_limits()? {
            limits.add(entry.id, &entry.item, &entry.keywords, entry.base_score);
        }
        Ok(limits)
    }

    /// Adds an entry, if it is one.
    pub(super) fn add(&mut self, id: i64, item: &str, keywords: &[String], score: Score) {
        if score.is_hard_limit() {
            self.0.retain(|limit| limit.id != id);
            self.0.push(Limit::of(id, item, keywords));
        }
    }

    /// The limit that an observation speaks against under another name; none where what is stored of it already does.
    pub(super) fn loosened_by(
        &self,
        seen: &Observation,
        existing: Option<&Preference>,
    ) -> Option<&Limit> {
        let stands = existing
            .is_some_and(|entry| entry.is_hard_limit() || merge::is_in_favor(entry.base_score));
        if self.0.is_empty() || stands || !seen.is_in_favor(existing) {
            return None;
        }
        // The reason of what is learned is a whole sentence, which may be about more.
        match seen.origin {
            Origin::Agent | Origin::Import => self.against(&seen.item, &seen.reason),
            Origin::User | Origin::Analysis => self.about(&seen.item, "").next(),
        }
    }

    /// The limit that something liked speaks against, by its item or its reason. A reason that says no allows nothing.
    pub(super) fn against(&self, item: &str, reason: &str) -> Option<&Limit> {
        let reason = if speaks_against(reason) { "" } else { reason };
        let reason = Folded::new(reason);
        let allowed = |limit: &&Limit| limit.forbidden.is_named_in(&reason);
        self.about(item, "")
            .next()
            .or_else(|| self.0.iter().find(allowed))
    }

    /// The limits that hold for an item or that a text names between “ and ”.
    pub(super) fn about<'l>(
        &'l self,
        item: &str,
        text: &'l str,
    ) -> impl Iterator<Item = &'l Limit> {
        let (folded, thing) = (Folded::new(item), Thing::of(item));
        let detectors = Detector::named_by(item);
        self.0.iter().filter(move |limit| {
            limit.concerns(&folded, &thing, &detectors)
                || text.contains(&format!("“{}”", limit.item))
        })
    }
}

/// What to do about a limit that stands beside something that speaks against it.
pub(super) fn stays_in_force(id: i64, limit: &str) -> String {
    format!(
        "the hard limit “{limit}” (id {id}) stays in force: aizo update {id} --score 5 lifts it"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn loosened(limit: &str, item: &str, reason: &str, score: Option<f64>) -> bool {
        let mut limits = Limits::default();
        limits.add(
            1,
            limit,
            &["prawns".into(), "甲壳类".into()],
            Score::clamped(0.5),
        );
        let seen = Observation {
            item: item.into(),
            reason: reason.into(),
            keywords: Vec::new(),
            scenarios: Vec::new(),
            patterns: Vec::new(),
            score: score.map(Score::clamped),
            source: "mcp".into(),
            origin: Origin::Agent,
            quote: None,
            evidence: None,
        };
        limits.loosened_by(&seen, None).is_some()
    }

    #[rstest]
    #[case("shellfish", "shellfish is fine", true)]
    #[case("shellfish", "order shellfish", true)]
    #[case("shellfish", "Shellfishes (all kinds)", true)]
    #[case("shellfish", "shell fish", true)]
    #[case("shellfish", "s.h.e.l.l fish please", true)]
    #[case("allergic to shellfish", "shellfish in recipes", true)]
    #[case("never push to main", "push straight to main", true)]
    #[case("no emojis in code", "emojis in code are fine", true)]
    #[case("force-push to main", "force-push", true)]
    #[case("海鲜过敏", "多点海鲜", true)]
    #[case("不要海鲜", "海鲜也可以", true)]
    #[case("shellfish", "grilled prawns", true)]
    #[case("shellfish", "甲壳类也行", true)]
    #[case("shellfish", "fish", false)]
    #[case("push to main", "push to a branch", false)]
    #[case("海鲜过敏", "多点蔬菜", false)]
    fn what_speaks_for_the_forbidden_speaks_against_the_limit(
        #[case] limit: &str,
        #[case] item: &str,
        #[case] speaks: bool,
    ) {
        assert_eq!(loosened(limit, item, "", Some(5.0)), speaks);
        assert_eq!(loosened(limit, item, "", None), speaks, "it would get 9");
        assert!(!loosened(limit, item, "", Some(4.9)), "it is not liked");
    }

    #[test]
    fn a_reason_may_speak_against_a_limit_and_one_that_says_no_does_not() {
        assert!(loosened(
            "shellfish",
            "the menu",
            "the user allows shellfish",
            None
        ));
        assert!(!loosened(
            "shellfish",
            "the menu",
            "never any shellfish",
            None
        ));
    }
}
