//! The cue tables: phrases that say how a sentence is meant, one file a language.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::language::Language;
use super::tokens::{Shape, Token, tokens};

/// What the phrases of one heading say; `cues/README.md` explains each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "each is explained in cues/README.md")]
pub enum Cue {
    Always,
    FromNowOn,
    Never,
    Dont,
    Like,
    Love,
    Prefer,
    Dislike,
    Hate,
    Praise,
    Complaint,
    Correction,
    Habit,
    Decision,
    Remember,
    Me,
    You,
    Please,
    Standing,
    OneOff,
    UsedTo,
    NoLonger,
    NoNeed,
    Whenever,
    Hypothetical,
    Question,
    ThirdPerson,
    AboutWorld,
    Sarcasm,
    Thanks,
    Task,
    Quote,
    Fact,
    Idiom,
    Feeling,
    Allergy,
    Not,
}

impl Cue {
    /// Every heading, by the name it has in the files.
    pub const ALL: [(&'static str, Cue); 37] = [
        ("always", Cue::Always),
        ("from_now_on", Cue::FromNowOn),
        ("never", Cue::Never),
        ("dont", Cue::Dont),
        ("like", Cue::Like),
        ("love", Cue::Love),
        ("prefer", Cue::Prefer),
        ("dislike", Cue::Dislike),
        ("hate", Cue::Hate),
        ("praise", Cue::Praise),
        ("complaint", Cue::Complaint),
        ("correction", Cue::Correction),
        ("habit", Cue::Habit),
        ("decision", Cue::Decision),
        ("remember", Cue::Remember),
        ("me", Cue::Me),
        ("you", Cue::You),
        ("please", Cue::Please),
        ("standing", Cue::Standing),
        ("one_off", Cue::OneOff),
        ("used_to", Cue::UsedTo),
        ("no_longer", Cue::NoLonger),
        ("no_need", Cue::NoNeed),
        ("whenever", Cue::Whenever),
        ("hypothetical", Cue::Hypothetical),
        ("question", Cue::Question),
        ("third_person", Cue::ThirdPerson),
        ("about_world", Cue::AboutWorld),
        ("sarcasm", Cue::Sarcasm),
        ("thanks", Cue::Thanks),
        ("task", Cue::Task),
        ("quote", Cue::Quote),
        ("fact", Cue::Fact),
        ("idiom", Cue::Idiom),
        ("feeling", Cue::Feeling),
        ("allergy", Cue::Allergy),
        ("not", Cue::Not),
    ];

    /// The name it has in the files and in evidence.
    pub fn name(self) -> &'static str {
        Cue::ALL
            .iter()
            .find(|(_, cue)| *cue == self)
            .map_or("", |(name, _)| name)
    }

    /// Whether what it says is one of many things to be weighed; an allergy is not.
    pub fn is_weighed(self) -> bool {
        !matches!(self, Cue::Allergy | Cue::Not)
    }

    /// Whether it speaks for a wish of the person: what is named in evidence.
    pub fn is_wish(self) -> bool {
        self <= Cue::Remember
    }
}

/// A phrase found in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// What it says.
    pub cue: Cue,
    /// Its first token.
    pub first: usize,
    /// The token after it.
    pub after: usize,
}

/// A part of a phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Whole(String),
    Beginning(String),
    /// Any one token.
    Any,
}

/// The phrases of one language, by what their first token begins with.
struct Table {
    by_first: HashMap<String, Vec<(Vec<Part>, Cue)>>,
    by_beginning: Vec<(Vec<Part>, Cue)>,
}

static TABLES: LazyLock<HashMap<Language, Table>> = LazyLock::new(|| {
    Language::ALL
        .iter()
        .map(|&language| (language, Table::read(&language.cues())))
        .collect()
});

impl Table {
    fn read(text: &str) -> Self {
        let mut table = Table {
            by_first: HashMap::new(),
            by_beginning: Vec::new(),
        };
        let mut cue = None;
        for line in text.lines().map(str::trim) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(name) = line
                .strip_prefix('[')
                .and_then(|rest| rest.strip_suffix(']'))
            {
                cue = Cue::ALL
                    .iter()
                    .find(|(known, _)| *known == name)
                    .map(|(_, cue)| *cue);
                continue;
            }
            let Some(cue) = cue else { continue };
            let parts = parts(line);
            match parts.first() {
                Some(Part::Whole(first)) => table
                    .by_first
                    .entry(first.clone())
                    .or_default()
                    .push((parts, cue)),
                Some(_) => table.by_beginning.push((parts, cue)),
                None => {}
            }
        }
        table
    }
}

fn parts(phrase: &str) -> Vec<Part> {
    phrase
        .split_whitespace()
        .flat_map(|word| {
            if word == "*" {
                return vec![Part::Any];
            }
            let (bare, beginning) = match word.strip_suffix('*') {
                Some(bare) => (bare, true),
                None => (word, false),
            };
            let mut parts: Vec<Part> = tokens(bare)
                .into_iter()
                .map(|token| Part::Whole(token.folded))
                .collect();
            if beginning && let Some(Part::Whole(last)) = parts.pop() {
                parts.push(Part::Beginning(last));
            }
            parts
        })
        .collect()
}

fn fits(parts: &[Part], tokens: &[Token]) -> bool {
    parts.len() <= tokens.len()
        && parts.iter().zip(tokens).all(|(part, token)| match part {
            Part::Whole(word) => *word == token.folded,
            Part::Beginning(word) => token.folded.starts_with(word.as_str()),
            Part::Any => token.shape != Shape::Mark,
        })
}

/// The cues of a sentence, in order; of two phrases of one heading at one place the longer.
pub fn find(language: Language, tokens: &[Token]) -> Vec<Hit> {
    let Some(table) = TABLES.get(&language) else {
        return Vec::new();
    };
    let mut found: Vec<Hit> = Vec::new();
    for first in 0..tokens.len() {
        let rest = &tokens[first..];
        let named = table.by_first.get(&rest[0].folded).into_iter().flatten();
        for (parts, cue) in named.chain(&table.by_beginning) {
            if !fits(parts, rest) {
                continue;
            }
            let hit = Hit {
                cue: *cue,
                first,
                after: first + parts.len(),
            };
            let covered = found.iter().any(|known| {
                known.cue == hit.cue && known.first <= first && known.after >= hit.after
            });
            if !covered {
                found.retain(|known| {
                    !(known.cue == hit.cue && known.first >= first && known.after <= hit.after)
                });
                found.push(hit);
            }
        }
    }
    found.sort_by_key(|hit| (hit.first, hit.after, hit.cue));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_heading_is_known_and_every_table_has_the_main_ones() {
        for language in Language::ALL {
            let text = language.cues();
            let mut seen = Vec::new();
            for line in text.lines().map(str::trim) {
                if let Some(name) = line
                    .strip_prefix('[')
                    .and_then(|rest| rest.strip_suffix(']'))
                {
                    assert!(
                        Cue::ALL.iter().any(|(known, _)| *known == name),
                        "{language:?}: [{name}]"
                    );
                    seen.push(name);
                }
            }
            for name in [
                "always", "never", "like", "dislike", "habit", "one_off", "used_to", "no_need",
            ] {
                assert!(seen.contains(&name), "{language:?}: [{name}]");
            }
        }
    }

    #[test]
    fn the_longest_phrase_of_a_heading_counts() {
        let tokens = tokens("never ever use emojis");
        let found = find(Language::English, &tokens);
        let never: Vec<&Hit> = found.iter().filter(|hit| hit.cue == Cue::Never).collect();
        assert_eq!((never.len(), never[0].first, never[0].after), (1, 0, 2));
    }
}
