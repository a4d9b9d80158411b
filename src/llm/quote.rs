//! Finds what a model calls a quotation in what was really said: white space, width, case, typographic marks and
//! invisible characters make no difference, words do.

use caseless::Caseless;
use unicode_normalization::UnicodeNormalization;

use crate::model::is_hidden;

/// A text in the form in which it is searched.
pub(super) struct Searchable {
    folded: String,
    /// For each byte of the folded text, where its character begins in the text itself.
    from: Vec<usize>,
    /// The same for where it ends.
    to: Vec<usize>,
}

impl Searchable {
    pub(super) fn new(text: &str) -> Self {
        let mut folded = String::with_capacity(text.len());
        let (mut from, mut to) = (Vec::new(), Vec::new());
        for (at, c) in text.char_indices() {
            let end = at + c.len_utf8();
            let start = folded.len();
            if c.is_whitespace() {
                if !folded.ends_with(' ') {
                    folded.push(' ');
                }
            } else if is_hangul(c) {
                // Its pieces are no words; a syllable is.
                folded.push(c);
            } else if !is_hidden(c) {
                // Decomposed character by character, so that each piece knows where it came from.
                for piece in std::iter::once(c).nfkd().default_case_fold().nfkd() {
                    folded.push(plain_mark(piece));
                }
            }
            for _ in start..folded.len() {
                from.push(at);
                to.push(end);
            }
        }
        Searchable { folded, from, to }
    }

    pub(super) fn folded(&self) -> &str {
        self.folded.trim()
    }

    /// Where in the text a quotation stands, as whole words; bytes from and to.
    pub(super) fn find(&self, quote: &Searchable) -> Option<(usize, usize)> {
        let wanted = quote.folded().trim_matches(|c: char| c == '"' || c == ' ');
        // One letter is found anywhere.
        if wanted.chars().filter(|c| c.is_alphanumeric()).count() < 2 {
            return None;
        }
        self.folded.match_indices(wanted).find_map(|(at, found)| {
            let end = at + found.len();
            let before = self.folded[..at].chars().next_back();
            let after = self.folded[end..].chars().next();
            let whole =
                !joined(before, found.chars().next()) && !joined(found.chars().next_back(), after);
            whole.then(|| (self.from[at], self.to[end - 1]))
        })
    }

    /// Whether two texts have a word, or a character of a script without spaces, in common.
    pub(super) fn shares_a_word_with(&self, other: &Searchable) -> bool {
        let words = words(other.folded());
        self::words(self.folded())
            .iter()
            .any(|word| words.contains(word))
    }
}

fn is_hangul(c: char) -> bool {
    matches!(c as u32, 0xAC00..=0xD7A3)
}

/// Typographic quotation marks and dashes as a keyboard has them.
fn plain_mark(c: char) -> char {
    match c {
        '‘' | '’' | '‛' | '′' | 'ʼ' => '\'',
        '“' | '”' | '„' | '«' | '»' | '「' | '」' | '『' | '』' => '"',
        '‐' | '‑' | '‒' | '–' | '—' | '−' => '-',
        '。' => '.',
        '、' => ',',
        _ => c,
    }
}

/// Whether two neighbours belong to one word: "use tabs" does not stand in "refuse tabs".
fn joined(left: Option<char>, right: Option<char>) -> bool {
    let in_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() && !stands_alone(c));
    in_word(left) && in_word(right)
}

/// Characters of scripts that put no spaces between words.
fn stands_alone(c: char) -> bool {
    matches!(c as u32,
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1100..=0x11FF | 0x1780..=0x17FF | 0x3040..=0x30FF
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

fn words(folded: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for word in folded.split(|c: char| !c.is_alphanumeric() && !is_mark(c)) {
        let mut start = 0;
        for (at, c) in word.char_indices() {
            if stands_alone(c) {
                found.push(&word[start..at]);
                start = at + c.len_utf8();
                found.push(&word[at..start]);
            }
        }
        found.push(&word[start..]);
    }
    found.retain(|word| !word.is_empty());
    found
}

/// Accents that were taken off their letters, and vowel signs.
fn is_mark(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(
        "Please never  use\n tabs!",
        "never use tabs",
        Some("never  use\n tabs")
    )]
    #[case(
        "don’t use “smart” quotes — ever",
        "Don't use \"smart\" quotes - ever",
        Some("don’t use “smart” quotes — ever")
    )]
    #[case("use ＰＮＰＭ，always", "pnpm, always", None)]
    #[case(
        "use ＰＮＰＭ，always",
        "use pnpm,always",
        Some("use ＰＮＰＭ，always")
    )]
    #[case("以后都用中文。别用英文", "都用中文", Some("都用中文"))]
    #[case("以后都用中文。", "\"以后都用中文.\"", Some("以后都用中文。"))]
    #[case("un cafe\u{301} noir", "caf\u{e9} noir", Some("cafe\u{301} noir"))]
    #[case("a\u{200b}b\u{202e}c def", "abc def", Some("a\u{200b}b\u{202e}c def"))]
    #[case("straße ist gut", "STRASSE IST", Some("straße ist"))]
    #[case("I refuse tabs", "use tabs", None)]
    #[case("use tabsize 4", "use tabs", None)]
    #[case("I said no", "I said yes", None)]
    #[case("a b c", "a", None)]
    #[case("abc", "", None)]
    #[case("불필요한 주석은 달지 마", "주석은 달지 마", Some("주석은 달지 마"))]
    #[case("हमेशा हिंदी में लिखो", "हिंदी में", Some("हिंदी में"))]
    fn a_quote_is_found(#[case] text: &str, #[case] quote: &str, #[case] found: Option<&str>) {
        let at = Searchable::new(text).find(&Searchable::new(quote));
        assert_eq!(at.map(|(from, to)| &text[from..to]), found);
    }

    #[rstest]
    #[case("Emojis", "never use emojis here", true)]
    #[case("简洁", "回答要简短", true)]
    #[case("缩进", "use tabs", false)]
    #[case("tab", "tabs", false)]
    #[case("", "tabs", false)]
    #[case("Café", "the cafe\u{301}", true)]
    fn words_in_common(#[case] one: &str, #[case] other: &str, #[case] shared: bool) {
        let (one, other) = (Searchable::new(one), Searchable::new(other));
        assert_eq!(one.shares_a_word_with(&other), shared);
    }
}
