//! Holds a model's answer against what was really said. What the text does not bear out is dropped and counted;
//! what contradicts itself loses its authority.
//!
//! | what the model says | what becomes of it |
//! |---|---|
//! | a quote that is in no turn | dropped |
//! | a quote that is in another turn than the one named | the turn is corrected |
//! | a score outside 0 to 10; an item that is empty, too long or made of invisible characters | dropped |
//! | `like` or `praise` with a score below 5, `dislike` or `complaint` with one above 5 | dropped: its polarity is anybody's guess |
//! | `never` with a score above 1.5 | score 0.5, not explicit: a limit that a person must accept |
//! | `always` with a score below 5 | stays, not explicit |
//! | `dislike` or `complaint` with a score in the band of hard limits | score 2: an aversion must not become a ban |
//! | an item without a word in common with the turn, and not among the known ones | stays with low confidence, not explicit |
//! | `always`, `never`, `remember` without any of these | explicit |

use super::answer::Raw;
use super::prompt::Said;
use super::quote::Searchable;
use crate::model::{Candidate, Kind, Score, check_text, item_key, parse_keywords, strip_hidden};

/// A longer item is a sentence and not a label.
const ITEM_CHARS: usize = 200;
/// The longest quotation that is kept.
const QUOTE_CHARS: usize = 300;
const KEYWORDS: usize = 10;
const SCENARIOS: usize = 5;
const WORD_CHARS: usize = 40;
/// The score of an explicit ban.
const BAN: f64 = 0.5;
/// The lowest score of an aversion that is no ban.
const HATE: f64 = 2.0;
const MIDDLE: f64 = 5.0;

const SURE: f64 = 0.8;
const UNSURE: f64 = 0.4;

/// Why elements of an answer do not count, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dropped {
    /// The quote is in no turn.
    pub invented_quote: usize,
    /// The score is no number from 0 to 10.
    pub score: usize,
    /// The item is empty, too long, or holds nothing visible.
    pub item: usize,
    /// Kind and score say opposite things.
    pub contradiction: usize,
    /// The same item of the same turn again; it was merged with the first.
    pub repeated: usize,
}

impl Dropped {
    /// All of them.
    pub fn total(self) -> usize {
        self.invented_quote + self.score + self.item + self.contradiction + self.repeated
    }
}

/// What of an answer counts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Checked {
    /// Candidates, each with the index of its turn in the slice that was handed in.
    pub kept: Vec<(usize, Candidate)>,
    /// What does not count.
    pub dropped: Dropped,
}

/// Holds what a model says against the turns. `known` are the items that the prompt named, whose wording the
/// model may use for other words of the person; `model` is named among the cues.
pub fn check(raw: &[Raw], turns: &[Said], known: &[String], model: &str) -> Checked {
    let searchable: Vec<Searchable> = turns
        .iter()
        .map(|turn| Searchable::new(&turn.text))
        .collect();
    let known: Vec<String> = known.iter().map(|item| item_key(item)).collect();
    let mut checked = Checked::default();
    for raw in raw {
        let quote = Searchable::new(&raw.quote);
        let named = turns.iter().position(|turn| Some(turn.number) == raw.turn);
        let found = named
            .into_iter()
            .chain((0..turns.len()).filter(|index| Some(*index) != named))
            .find_map(|index| Some((index, searchable[index].find(&quote)?)));
        let Some((index, (from, to))) = found else {
            checked.dropped.invented_quote += 1;
            continue;
        };
        if Score::new(raw.score).is_err() {
            checked.dropped.score += 1;
            continue;
        }
        let Some(item) = label(&raw.item) else {
            checked.dropped.item += 1;
            continue;
        };
        let Some(verdict) = verdict(raw.kind, raw.score) else {
            checked.dropped.contradiction += 1;
            continue;
        };
        let own_words = Searchable::new(&item).shares_a_word_with(&searchable[index])
            || known.contains(&item_key(&item));
        let outright = matches!(raw.kind, Kind::Always | Kind::Never | Kind::Remember);
        let mut cues = vec![format!("model {}", strip_hidden(model))];
        if !verdict.consistent {
            cues.push("kind and score disagree".to_owned());
        }
        if !own_words {
            cues.push("not in the person's words".to_owned());
        }
        let sure = verdict.consistent && own_words;
        let candidate = Candidate {
            item,
            quote: shorten(&turns[index].text[from..to]).to_owned(),
            score: verdict.score,
            keywords: words("keyword", &raw.keywords, KEYWORDS),
            scenarios: words("scenario", &raw.scenarios, SCENARIOS),
            confidence: if sure { SURE } else { UNSURE },
            sure,
            kind: raw.kind,
            cues,
            explicit: outright && sure,
            forbids: false,
        };
        add(&mut checked, index, candidate);
    }
    checked
}

struct Verdict {
    score: f64,
    consistent: bool,
}

/// What a score is worth beside its kind; nothing when they are each other's opposite.
fn verdict(kind: Kind, score: f64) -> Option<Verdict> {
    let limit = Score::new(score).is_ok_and(Score::is_hard_limit);
    let (score, consistent) = match kind {
        Kind::Never if !limit => (BAN, false),
        Kind::Always => (score, score >= MIDDLE),
        Kind::Like | Kind::Praise if score < MIDDLE => return None,
        Kind::Dislike | Kind::Complaint if score > MIDDLE => return None,
        Kind::Dislike | Kind::Complaint if limit => (HATE, true),
        _ => (score, true),
    };
    Some(Verdict { score, consistent })
}

fn label(item: &str) -> Option<String> {
    let item = check_text("item", &strip_hidden(item)).ok()?;
    let visible = item.chars().any(char::is_alphanumeric) || !item.is_ascii();
    (visible && item.chars().count() <= ITEM_CHARS).then_some(item)
}

/// The words that may be stored; one that may not is left out without its neighbours.
fn words(field: &'static str, given: &[String], most: usize) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for text in given {
        let parsed = parse_keywords(field, &strip_hidden(text)).unwrap_or_default();
        for word in parsed {
            if word.chars().count() <= WORD_CHARS && !words.contains(&word) {
                words.push(word);
            }
        }
    }
    words.truncate(most);
    words
}

fn shorten(quote: &str) -> &str {
    let end = quote.char_indices().nth(QUOTE_CHARS);
    end.map_or(quote, |(end, _)| &quote[..end])
}

/// Adds a candidate, or merges it with the one of the same turn and item. What another turn says of the same item
/// is an observation of its own.
fn add(checked: &mut Checked, index: usize, candidate: Candidate) {
    let key = item_key(&candidate.item);
    let twin = checked
        .kept
        .iter_mut()
        .find(|(turn, kept)| *turn == index && item_key(&kept.item) == key);
    let Some((_, twin)) = twin else {
        checked.kept.push((index, candidate));
        return;
    };
    checked.dropped.repeated += 1;
    for word in candidate.keywords {
        if !twin.keywords.contains(&word) && twin.keywords.len() < KEYWORDS {
            twin.keywords.push(word);
        }
    }
    for scenario in candidate.scenarios {
        if !twin.scenarios.contains(&scenario) && twin.scenarios.len() < SCENARIOS {
            twin.scenarios.push(scenario);
        }
    }
    // Two scores for one thing in one breath: a person should look at it.
    if (twin.score > MIDDLE) != (candidate.score > MIDDLE) {
        twin.explicit = false;
        twin.confidence = UNSURE;
        twin.cues
            .push("named twice with opposite scores".to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn said(texts: &[&str]) -> Vec<Said> {
        let numbered = texts.iter().enumerate();
        numbered
            .map(|(index, text)| Said {
                number: index + 1,
                text: (*text).to_owned(),
            })
            .collect()
    }

    fn raw(turn: usize, quote: &str, item: &str, kind: Kind, score: f64) -> Raw {
        Raw {
            turn: Some(turn),
            quote: quote.to_owned(),
            item: item.to_owned(),
            score,
            kind,
            keywords: Vec::new(),
            scenarios: Vec::new(),
        }
    }

    fn one(turns: &[Said], raw: Raw) -> Checked {
        check(&[raw], turns, &[], "m")
    }

    #[test]
    fn what_the_text_bears_out_is_kept_with_its_own_words() {
        let turns = said(&["thanks", "Never  use\nemojis in commits, ok?"]);
        let mut raw = raw(
            2,
            "never use emojis in commits",
            "emojis in commits",
            Kind::Never,
            0.5,
        );
        raw.keywords = vec![
            "Emoji, git".to_owned(),
            "emoji".to_owned(),
            "\u{202e}".to_owned(),
        ];
        raw.scenarios = vec!["coding".to_owned()];
        let checked = one(&turns, raw);
        assert_eq!(checked.dropped.total(), 0);
        assert_eq!(
            checked.kept,
            [(
                1,
                Candidate {
                    item: "emojis in commits".to_owned(),
                    quote: "Never  use\nemojis in commits".to_owned(),
                    score: 0.5,
                    keywords: vec!["emoji".to_owned(), "git".to_owned()],
                    scenarios: vec!["coding".to_owned()],
                    confidence: SURE,
                    sure: true,
                    kind: Kind::Never,
                    cues: vec!["model m".to_owned()],
                    explicit: true,
                    forbids: false,
                }
            )]
        );
    }

    #[test]
    fn an_invented_quote_is_dropped_and_a_wrong_number_corrected() {
        let turns = said(&["I love Rust", "我喜欢简洁的回答"]);
        let checked = check(
            &[
                raw(1, "I love Go", "Go", Kind::Like, 9.0),
                raw(1, "我喜欢简洁的回答", "简洁的回答", Kind::Like, 7.5),
                raw(77, "I love Rust", "Rust", Kind::Like, 9.0),
            ],
            &turns,
            &[],
            "m",
        );
        assert_eq!(checked.dropped.invented_quote, 1);
        let turns: Vec<usize> = checked.kept.iter().map(|(index, _)| *index).collect();
        assert_eq!(turns, [1, 0]);
    }

    #[rstest]
    #[case(Kind::Never, 0.5, Some((0.5, true)))]
    #[case(Kind::Never, 1.5, Some((1.5, true)))]
    #[case(Kind::Never, 3.0, Some((0.5, false)))]
    #[case(Kind::Never, 10.0, Some((0.5, false)))]
    #[case(Kind::Always, 9.5, Some((9.5, true)))]
    #[case(Kind::Always, 0.5, Some((0.5, false)))]
    #[case(Kind::Like, 7.5, Some((7.5, false)))]
    #[case(Kind::Like, 2.0, None)]
    #[case(Kind::Praise, 0.0, None)]
    #[case(Kind::Dislike, 8.0, None)]
    #[case(Kind::Complaint, 0.5, Some((2.0, false)))]
    #[case(Kind::Complaint, 2.5, Some((2.5, false)))]
    #[case(Kind::Remember, 9.0, Some((9.0, true)))]
    #[case(Kind::Imperative, 0.5, Some((0.5, false)))]
    fn kind_and_score_are_held_against_each_other(
        #[case] kind: Kind,
        #[case] score: f64,
        #[case] expected: Option<(f64, bool)>,
    ) {
        let checked = one(
            &said(&["about tabs"]),
            raw(1, "about tabs", "tabs", kind, score),
        );
        let found = checked
            .kept
            .first()
            .map(|(_, kept)| (kept.score, kept.explicit));
        assert_eq!(found, expected);
        assert_eq!(
            checked.dropped.contradiction,
            usize::from(expected.is_none())
        );
    }

    #[rstest]
    #[case("tabs", f64::NAN)]
    #[case("tabs", -0.1)]
    #[case("tabs", 10.5)]
    fn a_score_out_of_range_is_dropped(#[case] item: &str, #[case] score: f64) {
        let checked = one(
            &said(&["use tabs"]),
            raw(1, "use tabs", item, Kind::Always, score),
        );
        assert_eq!((checked.kept.len(), checked.dropped.score), (0, 1));
    }

    #[rstest]
    #[case("")]
    #[case(" \u{200b}\u{202e} ")]
    #[case("...")]
    #[case(&"long ".repeat(60))]
    fn an_item_that_is_no_label_is_dropped(#[case] item: &str) {
        let checked = one(
            &said(&["use tabs"]),
            raw(1, "use tabs", item, Kind::Always, 9.0),
        );
        assert_eq!((checked.kept.len(), checked.dropped.item), (0, 1));
    }

    #[test]
    fn an_item_in_other_words_has_no_authority_unless_it_is_known() {
        let turns = said(&["never write long answers"]);
        let given = || raw(1, "never write long answers", "verbosity", Kind::Never, 0.5);
        let unknown = one(&turns, given());
        assert!(!unknown.kept[0].1.explicit && unknown.kept[0].1.confidence < SURE);
        let known = check(&[given()], &turns, &["Verbosity".to_owned()], "m");
        assert!(known.kept[0].1.explicit);
    }

    #[test]
    fn a_repetition_is_merged_within_a_turn_and_kept_across_turns() {
        let turns = said(&["I like tabs, really like tabs", "tabs are great"]);
        let mut second = raw(1, "really like tabs", "Tabs", Kind::Like, 8.0);
        second.keywords = vec!["indent".to_owned()];
        let checked = check(
            &[
                raw(1, "I like tabs", "tabs", Kind::Like, 7.5),
                second,
                raw(2, "tabs are great", "tabs", Kind::Praise, 7.5),
            ],
            &turns,
            &[],
            "m",
        );
        assert_eq!((checked.kept.len(), checked.dropped.repeated), (2, 1));
        assert_eq!(checked.kept[0].1.keywords, ["indent"]);
    }

    #[test]
    fn a_long_quote_is_shortened_between_characters() {
        let text = "永远用中文".repeat(100);
        let checked = one(&said(&[&text]), raw(1, &text, "中文", Kind::Always, 9.5));
        assert_eq!(checked.kept[0].1.quote.chars().count(), QUOTE_CHARS);
    }
}
