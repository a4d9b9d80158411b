//! Plain forms: whole statements that say outright what somebody wants, such as "never use {+}" or "i used to like <+>,
//! now {+}". A statement that is one of them from its first word to its last is far likelier meant as it says, and its
//! things are cut exactly where the form says.
//!
//! The forms are data (`forms/`), one file a language.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::cues::Cue;
use super::language::{Language, by_script};
use super::tokens::{Shape, Token, tokens};
use super::verdict::{Direction, Thing};
use super::{Reading, Said};
use crate::model::Kind;

/// The longest thing of a form: in words, and in Han and kana characters.
const LONGEST_THING: (usize, usize) = (8, 16);

/// What a statement with a plain form says of its thing: the headings of the files.
const HEADINGS: [(&str, Direction, Kind); 12] = [
    ("ban", Direction::Against, Kind::Never),
    ("stop", Direction::Against, Kind::Imperative),
    ("dislike", Direction::Against, Kind::Dislike),
    ("like", Direction::For, Kind::Like),
    ("always", Direction::For, Kind::Always),
    ("habit", Direction::Habit, Kind::Habit),
    ("decision", Direction::For, Kind::Decision),
    ("allow", Direction::For, Kind::Decision),
    ("remember", Direction::For, Kind::Remember),
    ("imperative", Direction::For, Kind::Imperative),
    ("correction", Direction::For, Kind::Correction),
    ("nothing", Direction::For, Kind::Praise),
];

/// Cues within a thing with which nothing is plain: they narrow, imagine, tell, or speak of somebody else.
const CLOUDS_THING: [Cue; 11] = [
    Cue::OneOff,
    Cue::NoNeed,
    Cue::Hypothetical,
    Cue::Whenever,
    Cue::ThirdPerson,
    Cue::AboutWorld,
    Cue::Sarcasm,
    Cue::Quote,
    Cue::Fact,
    Cue::Idiom,
    Cue::Feeling,
];

/// Cues behind a thing with which nothing is plain.
const CLOUDS_REST: [Cue; 4] = [Cue::OneOff, Cue::NoNeed, Cue::Hypothetical, Cue::Sarcasm];

/// A part of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// One of these phrases; the second field says whether it may be missing.
    Words(Phrases, bool),
    /// The words of a thing.
    Thing,
    /// Whatever follows.
    Anything,
    /// Where the thing begins (`true`) or ends.
    Edge(bool),
    /// Where the thing begins or ends that the statement turns away from, or to.
    OtherEdge(bool),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Word {
    Whole(String),
    Beginning(String),
}

impl Word {
    fn fits(&self, token: &Token) -> bool {
        match self {
            Word::Whole(word) => *word == token.folded,
            Word::Beginning(word) => token.folded.starts_with(word.as_str()),
        }
    }
}

/// Phrases, in the order in which they are tried.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Phrases(Vec<Phrase>);

/// One or more words, and the character that the first of them begins with: it tells most phrases from most texts.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Phrase {
    first: char,
    words: Vec<Word>,
}

impl Phrase {
    /// None of no words.
    fn new(words: Vec<Word>) -> Option<Self> {
        let (Word::Whole(word) | Word::Beginning(word)) = words.first()?;
        let first = word.chars().next()?;
        Some(Phrase { first, words })
    }

    fn len(&self) -> usize {
        self.words.len()
    }

    fn fits(&self, tokens: &[Token]) -> bool {
        self.len() <= tokens.len()
            && self
                .words
                .iter()
                .zip(tokens)
                .all(|(word, token)| word.fits(token))
    }
}

impl Phrases {
    /// Those that these tokens begin with.
    fn fitting<'p>(&'p self, tokens: &'p [Token]) -> impl Iterator<Item = &'p Phrase> {
        let first = tokens.first().and_then(|token| token.folded.chars().next());
        self.0
            .iter()
            .filter(move |phrase| Some(phrase.first) == first && phrase.fits(tokens))
    }

    /// How many words the first one has that these tokens begin with.
    fn begins(&self, tokens: &[Token]) -> Option<usize> {
        self.fitting(tokens).next().map(Phrase::len)
    }
}

struct Form {
    parts: Vec<Part>,
    direction: Direction,
    kind: Kind,
    /// Whether it is a request that is put as a question.
    asks: bool,
    /// Whether it says nothing, and only keeps other forms from matching.
    is_nothing: bool,
}

/// The forms of one language, and the words around them.
#[derive(Default)]
struct Forms {
    forms: Vec<Form>,
    /// Words that may stand before a statement.
    lead: Phrases,
    /// Words that may stand behind one.
    tail: Phrases,
    /// Words with which no thing begins.
    not: Phrases,
    /// Words at which a thing ends: what follows says why.
    because: Phrases,
    /// Words behind the thing that take something back.
    but: Phrases,
}

static FORMS: LazyLock<HashMap<Language, Forms>> = LazyLock::new(|| {
    let read = |&language: &Language| (language, Forms::read(&language.forms()));
    Language::ALL.iter().map(read).collect()
});

fn words(phrase: &str) -> Vec<Word> {
    let (bare, is_beginning) = match phrase.strip_suffix('*') {
        Some(bare) => (bare, true),
        None => (phrase, false),
    };
    let mut words: Vec<Word> = tokens(&bare.replace('_', " "))
        .into_iter()
        .map(|token| Word::Whole(token.folded))
        .collect();
    if is_beginning && let Some(Word::Whole(last)) = words.pop() {
        words.push(Word::Beginning(last));
    }
    words
}

fn parts(line: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    for piece in line.split_whitespace() {
        let mut rest = piece;
        if let Some(inner) = rest.strip_prefix('{') {
            parts.push(Part::Edge(true));
            rest = inner;
        } else if let Some(inner) = rest.strip_prefix('<') {
            parts.push(Part::OtherEdge(true));
            rest = inner;
        }
        let closes = rest
            .strip_suffix('}')
            .map(|inner| (inner, Part::Edge(false)));
        let closes = closes.or_else(|| {
            rest.strip_suffix('>')
                .map(|inner| (inner, Part::OtherEdge(false)))
        });
        let (inner, edge) = match closes {
            Some((inner, edge)) => (inner, Some(edge)),
            None => (rest, None),
        };
        match inner {
            "" => {}
            "+" => parts.push(Part::Thing),
            "…" => parts.push(Part::Anything),
            _ => {
                let (bare, may_miss) = match inner.strip_suffix('?') {
                    Some(bare) => (bare, true),
                    None => (inner, false),
                };
                let phrases = bare.split('|').map(words).filter_map(Phrase::new);
                parts.push(Part::Words(Phrases(phrases.collect()), may_miss));
            }
        }
        parts.extend(edge);
    }
    parts
}

impl Forms {
    fn read(text: &str) -> Self {
        let mut all = Forms::default();
        let mut heading = "";
        for line in text.lines().map(str::trim) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(name) = line
                .strip_prefix('[')
                .and_then(|line| line.strip_suffix(']'))
            {
                heading = name;
                continue;
            }
            let list = match heading {
                "lead" => &mut all.lead,
                "tail" => &mut all.tail,
                "not" => &mut all.not,
                "because" => &mut all.because,
                "but" => &mut all.but,
                _ => {
                    let asks = heading.ends_with('?');
                    let bare = heading.trim_end_matches('?');
                    let known = HEADINGS.iter().find(|(name, _, _)| *name == bare);
                    if let Some(&(name, direction, kind)) = known {
                        all.forms.push(Form {
                            parts: parts(line),
                            direction,
                            kind,
                            asks,
                            is_nothing: name == "nothing",
                        });
                    }
                    continue;
                }
            };
            let phrases = line.split_whitespace().map(words);
            list.0.extend(phrases.filter_map(Phrase::new));
        }
        // The longer phrase first: it is the one that is meant.
        for list in [&mut all.lead, &mut all.tail] {
            list.0.sort_by_key(|phrase| std::cmp::Reverse(phrase.len()));
        }
        all
    }
}

/// Where a form has found its things.
#[derive(Clone, Copy, Default)]
struct Found {
    thing: (usize, usize),
    other: Option<(usize, usize)>,
    /// The token after the form's last.
    after: usize,
    /// How many words are the form's own.
    own: usize,
}

/// A statement being matched with a form.
struct Attempt<'a> {
    said: &'a Said,
    forms: &'a Forms,
    /// The token after the last that counts.
    end: usize,
}

impl Attempt<'_> {
    fn matches(&self, parts: &[Part], at: usize, found: Found) -> Option<Found> {
        let Some((part, rest)) = parts.split_first() else {
            return self.may_end(at).then_some(Found { after: at, ..found });
        };
        match part {
            Part::Edge(true) => {
                let thing = (at, at);
                self.matches(rest, at, Found { thing, ..found })
            }
            Part::Edge(false) => {
                let thing = (found.thing.0, at);
                self.matches(rest, at, Found { thing, ..found })
            }
            Part::OtherEdge(begins) => {
                let from = if *begins {
                    at
                } else {
                    found.other.map_or(at, |other| other.0)
                };
                let other = Some((from, at));
                self.matches(rest, at, Found { other, ..found })
            }
            Part::Words(phrases, may_miss) => phrases
                .fitting(&self.said.tokens[at..self.end])
                .find_map(|phrase| {
                    let own = found.own + phrase.len();
                    self.matches(rest, at + phrase.len(), Found { own, ..found })
                })
                .or_else(|| may_miss.then(|| self.matches(rest, at, found)).flatten()),
            Part::Thing => {
                if self.is_no_beginning(at) {
                    return None;
                }
                (at + 1..=self.end)
                    .take_while(|&after| self.may_be_thing(at, after))
                    .find_map(|after| self.matches(rest, after, found))
            }
            Part::Anything => (at..=self.end).find_map(|after| self.matches(rest, after, found)),
        }
    }

    fn is_no_beginning(&self, at: usize) -> bool {
        let rest = &self.said.tokens[at.min(self.end)..self.end];
        self.forms.not.begins(rest).is_some()
    }

    /// Whether these tokens may be a thing, or the beginning of one.
    fn may_be_thing(&self, from: usize, after: usize) -> bool {
        let tokens = &self.said.tokens[from..after];
        let characters = tokens
            .iter()
            .filter(|token| token.shape == Shape::Character);
        let characters = characters.count();
        let words = tokens.iter().filter(|token| token.shape != Shape::Mark);
        let words = words.count() - characters;
        let last = after - 1;
        words <= LONGEST_THING.0
            && characters <= LONGEST_THING.1
            && !is_division(self.said, last)
            && self
                .forms
                .because
                .begins(&self.said.tokens[last..self.end])
                .is_none()
            && self
                .forms
                .but
                .begins(&self.said.tokens[last..self.end])
                .is_none()
    }

    /// Whether a statement may end here: nothing follows, or only why.
    fn may_end(&self, at: usize) -> bool {
        let rest = &self.said.tokens[at..self.end];
        if rest.is_empty() {
            return true;
        }
        let says_why = is_division(self.said, at) || self.forms.because.begins(rest).is_some();
        says_why && (0..rest.len()).all(|from| self.forms.but.begins(&rest[from..]).is_none())
    }
}

/// Whether a token parts what stands before it from what follows: a mark, but no hyphen or dot within a name.
fn is_division(said: &Said, index: usize) -> bool {
    let token = &said.tokens[index];
    let touches = said
        .tokens
        .get(index + 1)
        .is_some_and(|next| next.start == token.end);
    if touches && matches!(token.folded.as_str(), "-" | "." | ":" | "!" | "?") {
        return false;
    }
    matches!(
        token.folded.as_str(),
        "," | ";"
            | ":"
            | "("
            | ")"
            | "—"
            | "–"
            | "-"
            | "."
            | "!"
            | "?"
            | "…"
            | "、"
            | "。"
            | "،"
            | "؛"
            | "।"
    )
}

/// What a plain form says.
#[derive(Debug, Clone, PartialEq)]
pub struct Plain {
    /// Its things, as sure as can be; none where it says nothing.
    pub things: Vec<Thing>,
    /// Whether it is a request that is put as a question.
    pub asks: bool,
    /// How many words of the statement are the form's own, or stand before and behind statements of its language.
    pub known: usize,
}

/// The things of a statement that is one of the plain forms, as sure as can be; `None` where it is none of them. Whether the
/// turn around it takes it back is for the caller to weigh.
pub fn read(reading: &Reading, index: usize) -> Option<Plain> {
    let said = &reading.said[index];
    if said.setting.pasted || !said.quoted.is_empty() || said.tokens.len() > 40 {
        return None;
    }
    // A short text in Latin letters may be taken for another language than it is in.
    let by_words = by_script(&said.text).is_none();
    let others = Language::BY_WORDS.iter().filter(|_| by_words);
    let own = read_in(reading.language, said, 1);
    others
        .filter_map(|&language| read_in(language, said, 2))
        .filter(|plain| own.as_ref().is_none_or(|own| plain.known > own.known))
        .max_by_key(|plain| plain.known)
        .or(own.clone())
}

/// The things of a statement in one language, where at least `least` of its words are known.
fn read_in(language: Language, said: &Said, least: usize) -> Option<Plain> {
    let forms = FORMS.get(&language)?;
    let mut end = said.tokens.len();
    let mut first = 0;
    loop {
        let tokens = &said.tokens[first..end];
        if let Some(length) = forms
            .lead
            .begins(tokens)
            .filter(|&length| length < tokens.len())
        {
            first += length;
        } else if !tokens.is_empty() && is_division(said, first) {
            first += 1;
        } else {
            break;
        }
    }
    let asks = said.tokens[first..]
        .iter()
        .any(|token| matches!(token.folded.as_str(), "?" | "؟"));
    loop {
        let tokens = &said.tokens[first..end];
        let tail = forms.tail.0.iter().find(|phrase| {
            phrase.len() < tokens.len() && phrase.fits(&tokens[tokens.len() - phrase.len()..])
        });
        let ends_in_mark = tokens.last().is_some_and(|last| {
            last.shape == Shape::Mark
                && !matches!(last.folded.as_str(), "\"" | "”" | "」" | "»" | "'" | ")")
        });
        match tail {
            Some(phrase) => end -= phrase.len(),
            None if ends_in_mark => end -= 1,
            None => break,
        }
    }
    if first >= end {
        return None;
    }
    let attempt = Attempt { said, forms, end };
    let (form, found, known) = forms.forms.iter().find_map(|form| {
        let found = attempt.matches(&form.parts, first, Found::default())?;
        let known = first + found.own + said.tokens.len() - end;
        (known >= least).then_some((form, found, known))
    })?;
    // "Call me Grace" names a person and speaks of nobody else.
    let names_somebody = form.kind == Kind::Remember;
    if (asks && !form.asks) || is_clouded(said, found, end) && !names_somebody {
        return None;
    }
    let mut plain = Plain {
        things: Vec::new(),
        asks: form.asks,
        known,
    };
    if form.is_nothing {
        return Some(plain);
    }
    let thing = |span: (usize, usize), direction, kind| Thing {
        span,
        direction,
        kind,
        confidence: 1.0,
        certainty: 1.0,
        sure: true,
        plain: true,
    };
    plain
        .things
        .push(thing(found.thing, form.direction, form.kind));
    plain.things.extend(found.other.map(|span| {
        if form.direction == Direction::Against {
            thing(span, Direction::For, Kind::Like)
        } else {
            let is_ban = said
                .hits
                .iter()
                .any(|hit| hit.cue == Cue::Never && hit.after == span.0);
            let kind = if is_ban {
                Kind::Never
            } else {
                Kind::Correction
            };
            thing(span, Direction::Against, kind)
        }
    }));
    Some(plain)
}

/// Whether something around or within the things takes the plainness away.
fn is_clouded(said: &Said, found: Found, end: usize) -> bool {
    let holds = |(from, after): (usize, usize), cues: &[Cue]| {
        said.hits
            .iter()
            .any(|hit| cues.contains(&hit.cue) && hit.first < after && hit.after > from)
    };
    holds(found.thing, &CLOUDS_THING)
        || found.other.is_some_and(|other| holds(other, &CLOUDS_THING))
        || holds((found.after, end), &CLOUDS_REST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::judged;
    use crate::model::{Turn, TurnKind};
    use serde_json::Value;

    /// What is found in a text: each item, and which way it points.
    fn found(text: &str) -> Vec<(String, String)> {
        let turn = Turn {
            key: "1".to_owned(),
            text: text.to_owned(),
            kind: TurnKind::Typed,
            at: None,
            agent: "text".to_owned(),
            session: "s".to_owned(),
            place: "line 1".to_owned(),
            answer: None,
        };
        let mut found: Vec<(String, String)> = judged(&turn)
            .into_iter()
            .filter(|(thing, _)| thing.sure)
            .map(|(thing, candidate)| (candidate.item, thing.direction.name().to_owned()))
            .collect();
        found.sort();
        found
    }

    #[test]
    fn plain_words_are_understood_in_every_language() {
        let mut wrong = Vec::new();
        for language in Language::ALL {
            let path = format!(
                "{}/tests/data/extract/plain/{}.jsonl",
                env!("CARGO_MANIFEST_DIR"),
                language.code()
            );
            let lines = std::fs::read_to_string(&path).expect("every language has plain sentences");
            for line in lines.lines() {
                let line: Value = serde_json::from_str(line).expect("every line is JSON");
                let text = line["text"].as_str().expect("a text");
                let mut expected: Vec<(String, String)> = line["expects"]
                    .as_array()
                    .expect("a list")
                    .iter()
                    .map(|one| {
                        let field = |name: &str| one[name].as_str().expect("a text").to_owned();
                        (field("about"), field("polarity"))
                    })
                    .collect();
                expected.sort();
                let found = found(text);
                if found != expected {
                    wrong.push(format!("{text}: {found:?}, and not {expected:?}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn every_form_has_a_thing_and_a_known_heading() {
        const LISTS: [&str; 5] = ["lead", "tail", "not", "because", "but"];
        for language in Language::ALL {
            let mut heading = "";
            for line in language.forms().lines().map(str::trim) {
                if line.is_empty() || line.starts_with('#') {
                    continue;
                }
                if let Some(name) = line
                    .strip_prefix('[')
                    .and_then(|line| line.strip_suffix(']'))
                {
                    heading = name;
                    let bare = name.trim_end_matches('?');
                    assert!(
                        LISTS.contains(&name)
                            || HEADINGS.iter().any(|(known, _, _)| *known == bare),
                        "{language:?}: [{name}]"
                    );
                } else if !LISTS.contains(&heading) && heading != "nothing" {
                    let parts = parts(line);
                    let count = |part: &Part| parts.iter().filter(|one| *one == part).count();
                    assert_eq!(
                        (count(&Part::Edge(true)), count(&Part::Edge(false))),
                        (1, 1),
                        "{language:?}: {line}"
                    );
                    assert!(
                        parts
                            .iter()
                            .any(|part| matches!(part, Part::Thing | Part::Words(..))),
                        "{language:?}: {line}"
                    );
                }
            }
        }
    }
}
