//! Whether a text holds the words of a query: folded, accents aside, stems count, CJK as substrings, every
//! other character as plain text. The index in the store follows the same rules, piece by piece; this is
//! what it is tested against, and what reads the rows that are not indexed yet.

use std::cell::OnceCell;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

use crate::model::fold;

/// Characters that belong to a word when it is typed with them: `C++`, `.NET`, `100%`, `@me`.
const SYMBOLS: &str = "+#%$&@*=<>^~|.\\";
/// Ordinary punctuation around a word, which a person does not mean to search for.
const PUNCTUATION: &str = ",;:!?\"'`()[]{}“”‘’„«»、。，；：！？（）【】「」『』《》…";

/// Words of one query that are looked at: no entry holds as many, and a flood of them must not take long.
const MOST_WORDS: usize = 256;
/// Pieces of one word that are looked at.
const LONGEST_PHRASE: usize = 64;
/// Characters of one word with symbols that are looked at.
const LONGEST_LITERAL: usize = 1_024;

/// A text made ready for matching.
#[derive(Debug, Clone, Default)]
pub struct Folded {
    plain: String,
    pieces: Vec<String>,
    /// The stem of each piece, where it has one; made when first asked for: most texts are found by their pieces, or not
    /// looked into.
    stems: Vec<OnceCell<Option<String>>>,
}

/// One word of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Word {
    /// As it was typed.
    pub typed: String,
    /// Adjacent pieces that must occur; empty for a word of symbols alone.
    pub pieces: Vec<String>,
    /// The stem of the one piece, which may occur in its place.
    pub stem: Option<String>,
    /// What must occur letter for letter, for a word with symbols in it.
    pub literal: Option<String>,
    /// Whether the last piece may be the beginning of a longer one.
    pub prefix: bool,
}

/// The words of a query; all of them must occur.
#[derive(Debug, Clone, Default)]
pub struct Words(Vec<Word>);

impl Folded {
    /// Folds a text and cuts it into pieces.
    pub fn new(text: &str) -> Self {
        let plain = fold_accents(text);
        let pieces = pieces(&plain);
        let stems = vec![OnceCell::new(); pieces.len()];
        Folded {
            plain,
            pieces,
            stems,
        }
    }

    /// The pieces, in order.
    pub fn pieces(&self) -> &[String] {
        &self.pieces
    }

    /// The stems of the pieces that have one.
    pub fn stems(&self) -> impl Iterator<Item = &str> {
        (0..self.pieces.len()).filter_map(|at| self.stem_at(at))
    }

    fn stem_at(&self, at: usize) -> Option<&str> {
        self.stems[at]
            .get_or_init(|| stem(&self.pieces[at]))
            .as_deref()
    }

    /// Whether one of the pieces has this stem.
    fn has_stem(&self, wanted: &str) -> bool {
        let first = wanted.chars().next();
        // Latin and Cyrillic words keep their first letter; others lose articles and the like that are written with them.
        let may_have = |piece: &String| {
            let begins = piece.chars().next();
            begins == first
                || !matches!(
                    begins.map(u32::from),
                    Some(0x61..=0x7A | 0xDF..=0x24F | 0x400..=0x4FF)
                )
        };
        (0..self.pieces.len())
            .any(|at| may_have(&self.pieces[at]) && self.stem_at(at) == Some(wanted))
    }
}

impl Words {
    /// Reads what a person typed. The last word may be the beginning of a longer one.
    pub fn query(text: &str) -> Self {
        let mut words: Vec<Word> = text.split_whitespace().take(MOST_WORDS).map(word).collect();
        if let Some(last) = words.last_mut() {
            last.prefix = true;
        }
        Words(words)
    }

    /// Reads one keyword, which must occur whole: `repo` is not in "report".
    pub fn keyword(text: &str) -> Self {
        let folded = Folded::new(text);
        let plain = folded.plain.trim();
        let literal = plain
            .contains(|c| SYMBOLS.contains(c))
            .then(|| plain.to_owned());
        if folded.pieces.is_empty() && literal.is_none() {
            return Words::default();
        }
        Words(vec![Word {
            typed: text.to_owned(),
            stem: one_stem(&folded.pieces),
            pieces: folded.pieces,
            literal,
            prefix: false,
        }])
    }

    /// One word alone.
    pub fn from_word(word: Word) -> Self {
        Words(vec![word])
    }

    /// The same words, none of them the beginning of a longer one.
    #[must_use]
    pub fn whole(&self) -> Self {
        let mut words = self.clone();
        for word in &mut words.0 {
            word.prefix = false;
        }
        words
    }

    /// The words.
    pub fn words(&self) -> &[Word] {
        &self.0
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the index knows by itself where the words occur: symbols are not in it.
    pub fn are_in_the_index(&self) -> bool {
        self.0.iter().all(|word| word.literal.is_none())
    }

    /// Whether every word occurs in one of the texts.
    pub fn occur_in(&self, texts: &[Folded]) -> bool {
        self.0
            .iter()
            .all(|word| texts.iter().any(|text| word.occurs_in(text)))
    }
}

impl Word {
    /// Whether the word occurs in a text.
    pub fn occurs_in(&self, text: &Folded) -> bool {
        if let Some(literal) = &self.literal {
            return holds_literal(&text.plain, literal, self.prefix);
        }
        if let (Some(stem), false) = (&self.stem, self.prefix) {
            // A text that holds the piece holds its stem.
            return text.has_stem(stem);
        }
        let count = self.pieces.len();
        let by_pieces = text.pieces.windows(count).any(|window| {
            let (last, before) = window.split_last().expect("a window is never empty");
            let (wanted, wanted_before) = self
                .pieces
                .split_last()
                .expect("a word without a literal has pieces");
            before == wanted_before
                && (last == wanted || self.prefix && last.starts_with(wanted.as_str()))
        });
        by_pieces || self.stem.as_ref().is_some_and(|stem| text.has_stem(stem))
    }
}

/// Reads one word of a query.
fn word(typed: &str) -> Word {
    let folded = fold_accents(typed);
    let bare = folded
        .trim_matches(|c| PUNCTUATION.contains(c))
        .trim_end_matches(['.', '。']);
    // A word that is nothing but punctuation is searched for as it stands.
    let bare = if bare.is_empty() {
        folded.as_str()
    } else {
        bare
    };
    let pieces = pieces(bare);
    let symbols = bare
        .chars()
        .enumerate()
        .any(|(at, c)| SYMBOLS.contains(c) && (c != '.' || at == 0));
    // Nothing is left of an accent alone, and nothing is found by it: as a word it would be in every text.
    let bare = if bare.is_empty() { typed } else { bare };
    let literal =
        (symbols || pieces.is_empty()).then(|| bare.chars().take(LONGEST_LITERAL).collect());
    // Nobody types a longer one; a flood of characters must not cost its square.
    let mut pieces = pieces;
    pieces.truncate(LONGEST_PHRASE);
    let shown = typed.trim_matches(|c| PUNCTUATION.contains(c));
    Word {
        typed: if shown.is_empty() { typed } else { shown }.to_owned(),
        stem: one_stem(&pieces),
        pieces,
        literal,
        prefix: false,
    }
}

/// Whether `literal` stands in `text` with no letter or digit directly before it, and, unless it may be
/// a beginning, none directly after it; symbols at its own ends need no such border.
fn holds_literal(text: &str, literal: &str, prefix: bool) -> bool {
    // Making ready to look for a long one takes as long as it is, for each text anew.
    if literal.len() > text.len() {
        return false;
    }
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() && !is_single(c));
    let starts_word = is_word(literal.chars().next());
    let ends_word = is_word(literal.chars().next_back());
    text.match_indices(literal).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + literal.len()..].chars().next();
        !(starts_word && is_word(before)) && (prefix || !(ends_word && is_word(after)))
    })
}

/// Folds case and width, and removes the accents of Latin, Greek and Cyrillic letters. Marks that carry
/// the vowels of other scripts, and the Japanese voicing marks, stay.
pub fn fold_accents(text: &str) -> String {
    let folded = fold(text);
    if folded.is_ascii() {
        return folded;
    }
    folded
        .nfd()
        .filter(|c| !('\u{300}'..='\u{36f}').contains(c))
        .nfc()
        .collect()
}

/// Cuts a folded text into words (UAX #29), those at whatever is no letter, digit or mark, and Han and kana
/// into single characters.
fn pieces(folded: &str) -> Vec<String> {
    let mut found = Vec::new();
    for word in folded.unicode_words() {
        let mut run = String::new();
        for c in word.chars() {
            let single = is_single(c);
            if (single || !is_piece(c)) && !run.is_empty() {
                found.push(std::mem::take(&mut run));
            }
            if single {
                found.push(c.to_string());
            } else if is_piece(c) {
                run.push(c);
            }
        }
        if !run.is_empty() {
            found.push(run);
        }
    }
    found
}

fn is_piece(c: char) -> bool {
    // Letters in frames and circles are letters to Unicode and symbols to the tokenizer of the index.
    let framed = matches!(c as u32, 0x1F150..=0x1F169 | 0x1F170..=0x1F189);
    (c.is_alphanumeric() || is_combining_mark(c)) && !framed
}

/// The stem of a word that is one piece.
fn one_stem(pieces: &[String]) -> Option<String> {
    match pieces {
        [one] => stem(one),
        _ => None,
    }
}

/// The stem of a piece, by its script: Latin as English, Cyrillic as Russian, and so on. None for anything but
/// letters, and for the shortest words.
fn stem(piece: &str) -> Option<String> {
    const SHORTEST: usize = 3;
    // Each is made by itself: so the linker sees which languages are in use, and leaves out the tables of the others.
    let stemmer = match piece.chars().next()? as u32 {
        0x61..=0x7A | 0xDF..=0x24F => Stemmer::create(Algorithm::English),
        0x370..=0x3FF => Stemmer::create(Algorithm::Greek),
        0x400..=0x4FF => Stemmer::create(Algorithm::Russian),
        0x600..=0x6FF => Stemmer::create(Algorithm::Arabic),
        0xB80..=0xBFF => Stemmer::create(Algorithm::Tamil),
        _ => return None,
    };
    if piece.chars().count() < SHORTEST || piece.chars().any(|c| !c.is_alphabetic()) {
        return None;
    }
    Some(stemmer.stem(piece).into_owned())
}

/// Whether a character is written without spaces around words, so that it is a piece by itself.
fn is_single(c: char) -> bool {
    matches!(c as u32,
        0x3005..=0x3007 | 0x3041..=0x30FF | 0x31F0..=0x31FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF
        | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("verb", "verbose comments", true)]
    #[case("verb comments", "verbose comments", false)]
    #[case("comments verb", "verbose comments", true)]
    #[case("ECOLE", "École", true)]
    #[case("ｃｏｄｅ", "concise code", true)]
    #[case("设备", "列出设备名称", true)]
    #[case("备名", "列出设备名称", true)]
    #[case("设名", "列出设备名称", false)]
    #[case("gen", "用gen生成代码", true)]
    #[case("C++", "modern C++ only", true)]
    #[case("C++", "C and Rust", false)]
    #[case(".NET", "avoid .NET here", true)]
    #[case(".NET", "the net is down", false)]
    #[case("100%", "100% kept", true)]
    #[case("100%", "1000 things", false)]
    #[case("%", "1000 things", false)]
    #[case("_", "snake_case", true)]
    #[case("_", "snake case", false)]
    #[case("\"quotes\"", "uses quotes", true)]
    #[case("a OR b", "a b", false)]
    #[case("NOT", "do it", false)]
    #[case("main.", "push to main", true)]
    #[case("next.js", "prefers next.js", true)]
    #[case("force-push", "never force push", true)]
    #[case("대답", "짧은 대답을", true)]
    #[case("コメント", "日本語のコメント", true)]
    #[case("test flaky", "flaky tests", true)]
    #[case("testing flaky", "flaky tests", true)]
    #[case("комментарий", "лишние комментарии", true)]
    #[case("snake case", "snake_case", true)]
    #[case("snake_case", "snake case", true)]
    fn a_query_word_occurs(#[case] query: &str, #[case] text: &str, #[case] found: bool) {
        assert_eq!(Words::query(query).occur_in(&[Folded::new(text)]), found);
    }

    #[rstest]
    #[case("repo", "the report", false)]
    #[case("repo", "a repo.", true)]
    #[case("pull request", "open a pull request", true)]
    #[case("代码", "写代码时", true)]
    #[case("c#", "C# style", true)]
    fn a_keyword_occurs_whole(#[case] keyword: &str, #[case] text: &str, #[case] found: bool) {
        assert_eq!(
            Words::keyword(keyword).occur_in(&[Folded::new(text)]),
            found
        );
    }

    #[test]
    fn every_word_may_stand_in_another_text() {
        let texts = [Folded::new("tabs"), Folded::new("for indentation")];
        assert!(Words::query("tabs indent").occur_in(&texts));
        assert!(!Words::query("tabs spaces").occur_in(&texts));
        assert!(Words::query("  ").is_empty());
    }
}
