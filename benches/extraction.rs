//! How well preferences are found in what people say, and the weights with which they are.
//!
//!     cargo bench --bench extraction              # the scorecard: precision, recall, polarity by language
//!     cargo bench --bench extraction -- tune errors   # of the tune half, with what went wrong
//!     cargo bench --bench extraction -- /some/folder errors   # of sets of one's own
//!     cargo bench --bench extraction -- plain errors  # how often the plain forms alone are right, on the practice set
//!     cargo bench --bench extraction -- sweep     # the tune half at every confidence
//!     cargo bench --bench extraction -- learn     # learns src/extract/weights.bin anew, and measures it on the tune half
//!
//! The sets are in `tests/data/extract`. `practice` is learned from; on `tune` thresholds were set and errors looked at; `held` is
//! only measured. The weights are those of logistic regressions over the features of `src/extract/features.rs`.

#![allow(clippy::print_stdout, missing_docs)]

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use aizo::extract::language::{self, Language};
use aizo::extract::tokens::{Shape, tokens};
use aizo::extract::weights::{self, Section};
use aizo::extract::{Direction, Reading, features, judged, likelihoods, span};
use aizo::model::{Answer, Turn, TurnKind, fold};
use serde::Deserialize;

#[derive(Debug, Clone, Deserialize)]
struct Utterance {
    id: String,
    lang: String,
    text: String,
    #[serde(default)]
    before: Option<String>,
    expects: Vec<Expected>,
    #[serde(default)]
    why: String,
}

#[derive(Debug, Clone, Deserialize)]
struct Expected {
    about: String,
    polarity: String,
    kind: String,
    #[serde(default)]
    optional: bool,
}

/// The last row: every language but English and Chinese.
const OTHERS: &str = "all but en and zh";

const KINDS: [&str; 11] = [
    "rule_always",
    "rule_never",
    "like",
    "dislike",
    "praise",
    "complaint",
    "correction",
    "habit",
    "decision",
    "remember",
    "imperative",
];

fn load(half: &str) -> Vec<Utterance> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/extract")
        .join(half);
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the set is in the repository")
        .map(|entry| entry.expect("the folder can be read").path())
        .collect();
    files.sort();
    files
        .iter()
        .flat_map(|file| {
            let text = std::fs::read_to_string(file).expect("the file can be read");
            text.lines()
                .map(|line| {
                    serde_json::from_str(line)
                        .unwrap_or_else(|error| panic!("{file:?}: {error}: {line}"))
                })
                .collect::<Vec<Utterance>>()
        })
        .collect()
}

// --- Learning -------------------------------------------------------------------------------------------------------

struct Sample {
    features: Vec<u32>,
    answer: usize,
}

/// Logistic regression of some answers against each other (of one answer, against its absence: answer 1), its weights held
/// small by half their square over `looseness`. Whole passes with Adam (Kingma and Ba, 2015); the loss has one minimum, so
/// the way to it does not matter. A feature seen fewer than `least` times is not looked at, and one whose weights are all below
/// `nothing` is left out: there are many of them.
fn train(
    samples: &[Sample],
    answers: usize,
    looseness: f32,
    least: usize,
    nothing: f32,
) -> Vec<(u32, Vec<f32>)> {
    const PASSES: i32 = 250;
    let mut seen: BTreeMap<u32, usize> = BTreeMap::new();
    for feature in samples.iter().flat_map(|sample| &sample.features) {
        *seen.entry(*feature).or_default() += 1;
    }
    seen.retain(|_, times| *times >= least);
    let place: HashMap<u32, usize> = seen
        .keys()
        .zip(0..)
        .map(|(feature, at)| (*feature, at))
        .collect();
    let rows: Vec<Vec<usize>> = samples
        .iter()
        .map(|sample| {
            sample
                .features
                .iter()
                .filter_map(|feature| place.get(feature).copied())
                .collect()
        })
        .collect();
    let mut weights = vec![0f32; seen.len() * answers];
    let (mut mean, mut spread) = (weights.clone(), weights.clone());
    for pass in 1..=PASSES {
        let mut gradient: Vec<f32> = weights.iter().map(|weight| weight / looseness).collect();
        for (sample, row) in samples.iter().zip(&rows) {
            let mut scores = vec![0f32; answers];
            for &at in row {
                for (score, weight) in scores.iter_mut().zip(&weights[at * answers..]) {
                    *score += weight;
                }
            }
            let pulls = pulls(&scores, sample.answer);
            for &at in row {
                for (sum, pull) in gradient[at * answers..].iter_mut().zip(&pulls) {
                    *sum += pull;
                }
            }
        }
        // Large steps first, small ones at the end.
        let rate = 0.05 * (1.0 - (pass - 1) as f32 / PASSES as f32);
        let (first, second) = (1.0 - 0.9f32.powi(pass), 1.0 - 0.99f32.powi(pass));
        for at in 0..weights.len() {
            let g = gradient[at];
            mean[at] = 0.9 * mean[at] + 0.1 * g;
            spread[at] = 0.99 * spread[at] + 0.01 * g * g;
            weights[at] -= rate * (mean[at] / first) / ((spread[at] / second).sqrt() + 1e-6);
        }
    }
    seen.keys()
        .zip(weights.chunks_exact(answers))
        .filter(|(_, weights)| weights.iter().any(|weight| weight.abs() > nothing))
        .map(|(feature, weights)| (*feature, weights.to_vec()))
        .collect()
}

/// The derivative of the loss by each score.
fn pulls(scores: &[f32], answer: usize) -> Vec<f32> {
    if let [score] = scores {
        let likely = 1.0 / (1.0 + (-score).exp());
        return vec![likely - if answer == 0 { 1.0 } else { 0.0 }];
    }
    let most = scores.iter().copied().fold(f32::MIN, f32::max);
    let shares: Vec<f32> = scores.iter().map(|score| (score - most).exp()).collect();
    let total: f32 = shares.iter().sum();
    (0..scores.len())
        .map(|one| shares[one] / total - if one == answer { 1.0 } else { 0.0 })
        .collect()
}

/// Where an expected thing stands: the sentence and its first and last token.
fn place(reading: &Reading, about: &str) -> Option<(usize, usize, usize)> {
    for (index, said) in reading.said.iter().enumerate() {
        let Some(at) = said.text.find(about) else {
            continue;
        };
        let end = at + about.len();
        let inside: Vec<usize> = (0..said.tokens.len())
            .filter(|&token| said.tokens[token].start < end && said.tokens[token].end > at)
            .collect();
        if let (Some(&first), Some(&last)) = (inside.first(), inside.last()) {
            return Some((index, first, last + 1));
        }
    }
    None
}

fn learn(utterances: &[Utterance]) -> Vec<u8> {
    let mut languages = Vec::new();
    let mut verdicts = Vec::new();
    let mut kinds = Vec::new();
    let mut spans = Vec::new();
    for one in utterances {
        let known = Language::from_code(&one.lang).expect("a language");
        if let Some(answer) = Language::BY_WORDS.iter().position(|&other| other == known)
            && language::by_script(&one.text).is_none()
        {
            languages.push(Sample {
                features: language::features(&tokens(&one.text)),
                answer,
            });
        }
        let reading = Reading::new(&one.text, one.before.as_deref(), Some(known));
        let places: Vec<(&Expected, (usize, usize, usize))> = one
            .expects
            .iter()
            .filter_map(|expected| Some((expected, place(&reading, &expected.about)?)))
            .collect();
        for index in 0..reading.said.len() {
            let here: Vec<&(&Expected, (usize, usize, usize))> = places
                .iter()
                .filter(|(_, place)| place.0 == index)
                .collect();
            let main = here.iter().find(|(expected, _)| !expected.optional);
            if main.is_none() && !here.is_empty() {
                // Nobody could say whether it should be noted.
                continue;
            }
            let found = features::of_sentence(&reading, index);
            let Some((expected, (_, first, after))) = main else {
                verdicts.push(Sample {
                    features: found,
                    answer: 0,
                });
                continue;
            };
            if let Some(kind) = KINDS.iter().position(|kind| *kind == expected.kind) {
                kinds.push(Sample {
                    features: found.clone(),
                    answer: kind,
                });
            }
            verdicts.push(Sample {
                features: found,
                answer: answer(expected),
            });
            let count = reading.said[index].tokens.len();
            for token in 0..count {
                if reading.said[index].tokens[token].shape == Shape::Mark
                    && !(*first..*after).contains(&token)
                    && count > 1
                    && token + 1 == count
                {
                    continue;
                }
                spans.push(Sample {
                    features: features::of_token(&reading, index, token, &expected.polarity),
                    answer: usize::from(!(*first..*after).contains(&token)),
                });
            }
        }
    }
    println!(
        "{} utterances: {} sentences, {} preferences, {} tokens",
        utterances.len(),
        verdicts.len(),
        kinds.len(),
        spans.len()
    );
    let mut sections = vec![
        train(&languages, Language::BY_WORDS.len(), 0.1, 3, 0.08),
        train(&verdicts, 4, 0.05, 2, 0.055),
        train(&kinds, 11, 0.05, 3, 0.13),
        train(&spans, 1, 0.2, 3, 0.09),
    ];
    // Which things the sentences seem to name is known once it was learned what names one.
    weights::replace(&weights::to_bytes(&sections));
    let things = things(utterances);
    println!("{} things", things.len());
    sections.push(train(&things, 4, 0.05, 3, 0.085));
    for (section, rows) in Section::ALL.iter().zip(&sections) {
        println!("{section:?}: {} weights", rows.len());
    }
    weights::to_bytes(&sections)
}

/// The things of the utterances with what each is: those that a careful reader notes, and what else a sentence seems to name.
fn things(utterances: &[Utterance]) -> Vec<Sample> {
    let mut samples = Vec::new();
    for one in utterances {
        let known = Language::from_code(&one.lang).expect("a language");
        let reading = Reading::new(&one.text, one.before.as_deref(), Some(known));
        let places: Vec<(&Expected, (usize, usize, usize))> = one
            .expects
            .iter()
            .filter_map(|expected| Some((expected, place(&reading, &expected.about)?)))
            .collect();
        for (index, said) in reading.said.iter().enumerate() {
            let mut seen = Vec::new();
            let mut add = |span: (usize, usize), answer: usize| {
                if !seen.contains(&span) {
                    seen.push(span);
                    samples.push(Sample {
                        features: features::of_thing(&reading, index, span),
                        answer,
                    });
                }
            };
            let here = places.iter().filter(|(_, place)| place.0 == index);
            let (noted, doubtful): (Vec<_>, Vec<_>) =
                here.partition(|(expected, _)| !expected.optional);
            for (expected, (_, first, after)) in &noted {
                add((*first, *after), answer(expected));
            }
            if noted.is_empty() && !doubtful.is_empty() {
                continue;
            }
            let found = features::of_sentence(&reading, index);
            let likely = likelihoods(&weights::score(Section::Verdict, &found));
            let likeliest = Direction::ALL
                .into_iter()
                .max_by(|&a, &b| likely[a as usize + 1].total_cmp(&likely[b as usize + 1]));
            for direction in Direction::ALL {
                let mut taken = Vec::new();
                for round in 0..2 {
                    let Some(span) = span(&reading, index, direction, &taken) else {
                        break;
                    };
                    taken.push(span);
                    let text = &said.text[said.tokens[span.0].start..said.tokens[span.1 - 1].end];
                    let mut named = one
                        .expects
                        .iter()
                        .filter(|expected| names(text, &expected.about));
                    match (named.next(), named.next()) {
                        (None, _) if !noted.is_empty() => add(span, 0),
                        (None, _) if round == 0 && likeliest == Some(direction) => add(span, 0),
                        (Some(expected), None) if !expected.optional && !noted.is_empty() => {
                            add(span, answer(expected));
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    samples
}

/// The answer of a thing's weights that is right for what was expected.
fn answer(expected: &Expected) -> usize {
    1 + Direction::ALL
        .iter()
        .position(|direction| direction.name() == expected.polarity)
        .expect("a polarity")
}

// --- Measuring ------------------------------------------------------------------------------------------------------

#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    utterances: usize,
    right: usize,
    wrong: usize,
    missed: usize,
    turned: usize,
    kinds: usize,
    length: usize,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.utterances += other.utterances;
        self.right += other.right;
        self.wrong += other.wrong;
        self.missed += other.missed;
        self.turned += other.turned;
        self.kinds += other.kinds;
        self.length += other.length;
    }

    fn row(&self) -> String {
        let share = |part: usize, whole: usize| {
            if whole == 0 {
                "–".to_owned()
            } else {
                format!("{:.2}", part as f64 / whole as f64)
            }
        };
        format!(
            "{} | {} | {} | {} | {} | {}",
            self.utterances,
            share(self.right, self.right + self.wrong),
            share(self.right, self.right + self.missed),
            share(self.right - self.turned, self.right),
            share(self.kinds, self.right),
            if self.right == 0 {
                "–".to_owned()
            } else {
                format!("{:.1}", self.length as f64 / self.right as f64)
            },
        )
    }
}

/// Whether an item names what was expected: the two share at least half of the words of the shorter one, and among these
/// a word that says something.
fn names(item: &str, about: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        tokens(&fold(text))
            .into_iter()
            .filter(|token| token.shape != Shape::Mark)
            .map(|token| token.folded)
            .collect()
    };
    let (item, about) = (words(item), words(about));
    // An ending more or less makes no other word.
    let same = |a: &str, b: &str| {
        a == b
            || a.chars().count().min(b.chars().count()) > 1
                && (a.starts_with(b) || b.starts_with(a))
    };
    let shared: Vec<&String> = about
        .iter()
        .filter(|word| item.iter().any(|other| same(word, other)))
        .collect();
    // A short word says little, one Han character alone too.
    let says =
        shared.iter().any(|word| word.chars().count() > 2) || shared.len() > 1 || about.len() == 1;
    shared.len() * 2 >= item.len().min(about.len()) && !shared.is_empty() && says
}

fn turn(one: &Utterance) -> Turn {
    Turn {
        key: one.id.clone(),
        text: one.text.clone(),
        kind: TurnKind::Typed,
        at: None,
        agent: "text".into(),
        session: "s".into(),
        place: "line 1".into(),
        answer: one.before.as_ref().map(|text| Answer {
            chars: text.chars().count(),
            start: text.chars().take(Answer::START_CHARS).collect(),
        }),
    }
}

/// What counts as found.
#[derive(Clone, Copy)]
enum Least {
    /// What is learned as shipped.
    Shipped,
    /// What one of the plain forms says.
    Plain,
    /// What is at least so sure, and so sure of its direction.
    At(f64, f64),
}

fn measure(one: &Utterance, least: Least, tell: bool) -> Tally {
    let mut tally = Tally {
        utterances: 1,
        ..Tally::default()
    };
    let judged = judged(&turn(one));
    let found: Vec<_> = judged
        .iter()
        .filter(|(thing, _)| match least {
            Least::At(confidence, certainty) => {
                thing.confidence >= confidence && thing.certainty >= certainty
            }
            Least::Plain => thing.plain,
            Least::Shipped => thing.sure,
        })
        .map(|(_, candidate)| candidate)
        .collect();
    let mut met = vec![false; one.expects.len()];
    for candidate in &found {
        let hit = one
            .expects
            .iter()
            .enumerate()
            .find(|(index, expected)| !met[*index] && names(&candidate.item, &expected.about));
        match hit {
            Some((index, expected)) => {
                met[index] = true;
                if expected.optional {
                    continue;
                }
                tally.right += 1;
                let against = candidate.score < 4.0;
                let turned = against != (expected.polarity == "against");
                tally.turned += usize::from(turned);
                tally.kinds += usize::from(KINDS.iter().any(|kind| {
                    *kind == expected.kind
                        && kind.trim_start_matches("rule_") == candidate.kind.name()
                }));
                tally.length += candidate.item.chars().count();
                if tell && turned {
                    println!(
                        "TURNED {} [{}] {:?} -> {:?} {}",
                        one.id, one.why, one.text, candidate.item, candidate.score
                    );
                }
            }
            None => {
                tally.wrong += 1;
                if tell {
                    println!(
                        "WRONG {} [{}] {:?} -> {:?} {} {} {:?}",
                        one.id,
                        one.why,
                        one.text,
                        candidate.item,
                        candidate.kind.name(),
                        candidate.confidence,
                        candidate.cues
                    );
                }
            }
        }
    }
    for (expected, met) in one.expects.iter().zip(met) {
        if !expected.optional && !met {
            tally.missed += 1;
            if tell && !matches!(least, Least::Plain) {
                println!(
                    "MISSED {} [{}] {:?} -> {:?} found {:?}",
                    one.id,
                    one.why,
                    one.text,
                    expected.about,
                    judged
                        .iter()
                        .map(|(thing, c)| (&c.item, c.confidence, thing.certainty))
                        .collect::<Vec<_>>()
                );
            }
        }
    }
    tally
}

/// What a half gives, by language; the last row is all but English and Chinese together.
fn tallies(utterances: &[Utterance], least: Least, tell: bool) -> Vec<(String, Tally)> {
    let mut by_language: BTreeMap<Language, Tally> = BTreeMap::new();
    let mut others = Tally::default();
    for one in utterances {
        let language = Language::from_code(&one.lang).expect("a language");
        let tally = measure(one, least, tell);
        by_language.entry(language).or_default().add(tally);
        if ![Language::English, Language::Chinese].contains(&language) {
            others.add(tally);
        }
    }
    let mut rows: Vec<(String, Tally)> = by_language
        .into_iter()
        .map(|(language, tally)| (language.code().to_owned(), tally))
        .collect();
    rows.push((OTHERS.to_owned(), others));
    rows
}

fn scorecard(half: &str, least: Least, tell: bool) {
    let rows = tallies(&load(half), least, tell);
    println!("\n### {half}\n");
    println!(
        "| language | utterances | precision | recall | polarity | kind | characters of an item |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for (language, tally) in rows {
        println!("| {language} | {} |", tally.row());
    }
}

/// Precision, recall and polarity of the tune half at every confidence and certainty of the direction.
fn sweep() {
    let utterances = load("tune");
    for confidence in 7..=14 {
        for certainty in [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8] {
            let least = Least::At(f64::from(confidence) * 0.05, certainty);
            let cells: Vec<String> = tallies(&utterances, least, false)
                .into_iter()
                .filter(|(language, _)| ["en", "zh", OTHERS].contains(&language.as_str()))
                .map(|(language, tally)| {
                    let row = tally.row();
                    let cells: Vec<&str> = row.split(" | ").collect();
                    format!("{language} {}/{}/{}", cells[1], cells[2], cells[3])
                })
                .collect();
            println!(
                "{:.2} {certainty:.2}: {}",
                f64::from(confidence) * 0.05,
                cells.join(", ")
            );
        }
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let asked = |word: &str| words.iter().any(|one| one == word);
    if asked("learn") {
        let bytes = learn(&load("practice"));
        println!("{} bytes", bytes.len());
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/extract/weights.bin");
        std::fs::write(path, &bytes).expect("the file can be written");
        weights::replace(&bytes);
        scorecard("tune", Least::Shipped, asked("errors"));
        return;
    }
    if let Some(file) = words.iter().find(|word| word.ends_with(".bin")) {
        weights::replace(&std::fs::read(file).expect("a file of weights"));
    }
    if asked("sweep") {
        sweep();
        return;
    }
    if asked("plain") {
        scorecard("practice", Least::Plain, asked("errors"));
        return;
    }
    let half = if asked("tune") { "tune" } else { "held" };
    let half = words
        .iter()
        .find(|word| word.starts_with('/'))
        .map_or(half, String::as_str);
    scorecard(half, Least::Shipped, asked("errors") && half != "held");
}
