//! Cuts a text into tokens that keep `next.js`, `foo_test.go`, `C++` and `.env` whole, with Han and kana one by one.

use crate::model::fold;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Letters and digits of a script with spaces.
    Word,
    /// A word that only a machine reads: with a dot, an underscore, a slash, digits or humps in it.
    Code,
    /// One Han or kana character.
    Character,
    /// Anything else.
    Mark,
}

/// A token and where it stands in its text, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Its first byte.
    pub start: usize,
    /// The byte after it.
    pub end: usize,
    /// Folded: NFKC, case folded.
    pub folded: String,
    /// What it is.
    pub shape: Shape,
    /// Whether it is written in capitals alone, at least two of them.
    pub capitals: bool,
}

/// Characters that join two parts of a word when letters or digits stand on both sides.
const JOINERS: &str = "'’._-/@&:+#";

/// Whether a character is written without spaces around words.
pub fn is_character(c: char) -> bool {
    matches!(c as u32,
        0x3005..=0x3007 | 0x3041..=0x30FF | 0x31F0..=0x31FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF
        | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

fn is_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    (c.is_alphanumeric() || unicode_normalization::char::is_combining_mark(c)) && !is_character(c)
}

/// Cuts a text.
pub fn tokens(text: &str) -> Vec<Token> {
    let characters: Vec<(usize, char)> = text.char_indices().collect();
    let at = |index: usize| characters.get(index).map(|&(_, c)| c);
    let byte = |index: usize| characters.get(index).map_or(text.len(), |&(byte, _)| byte);
    let mut found = Vec::new();
    let mut index = 0;
    while let Some(c) = at(index) {
        let from = index;
        index += 1;
        if c.is_whitespace() {
            continue;
        }
        // `.env`, `@types` and `#channel` begin with a mark.
        let leads = ".@#/~".contains(c)
            && at(index).is_some_and(is_word)
            && (from == 0 || at(from - 1).is_some_and(char::is_whitespace));
        if is_word(c) || leads {
            while let Some(next) = at(index) {
                let joins = JOINERS.contains(next) && at(index + 1).is_some_and(is_word);
                let ends = "+#".contains(next)
                    && at(index - 1).is_some_and(|c| is_word(c) || "+#".contains(c));
                if !is_word(next) && !joins && !ends {
                    break;
                }
                index += 1;
            }
        }
        let written = &text[byte(from)..byte(index)];
        found.push(Token {
            start: byte(from),
            end: byte(index),
            folded: folded(c, written),
            shape: shape(c, leads, written),
            capitals: written.chars().filter(|c| c.is_uppercase()).count() > 1
                && !written.chars().any(char::is_lowercase),
        });
    }
    found
}

/// A token folded, with one kind of apostrophe. Most Han and kana characters fold to themselves.
fn folded(first: char, written: &str) -> String {
    if matches!(first as u32, 0x3041..=0x3096 | 0x30A1..=0x30FA | 0x4E00..=0x9FFF) {
        return written.to_owned();
    }
    let folded = fold(written);
    if folded.contains('’') {
        return folded.replace('’', "'");
    }
    folded
}

fn shape(first: char, leads: bool, written: &str) -> Shape {
    if is_character(first) {
        Shape::Character
    } else if !is_word(first) && !leads {
        Shape::Mark
    } else if leads
        || written.contains(['.', '_', '/', '@', ':', '+', '#'])
        || written.chars().any(char::is_numeric) && written.chars().any(char::is_alphabetic)
        || written.chars().skip(1).any(char::is_uppercase)
            && written.chars().any(char::is_lowercase)
    {
        Shape::Code
    } else {
        Shape::Word
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[test]
    fn han_and_kana_are_folded_as_everything_is() {
        for c in (0x3041..=0x3096)
            .chain(0x30A1..=0x30FA)
            .chain(0x4E00..=0x9FFF)
        {
            let c = char::from_u32(c).expect("a character").to_string();
            assert_eq!(tokens(&c)[0].folded, fold(&c));
        }
    }

    #[rstest]
    #[case("use next.js, not C++ or .env!", &["use", "next.js", ",", "not", "c++", "or", ".env", "!"])]
    #[case("don’t edit foo_test.go v1.2.3", &["don't", "edit", "foo_test.go", "v1.2.3"])]
    #[case("以后用pnpm。", &["以", "后", "用", "pnpm", "。"])]
    #[case("이모지는 빼줘", &["이모지는", "빼줘"])]
    #[case("नमस्ते दुनिया", &["नमस्ते", "दुनिया"])]
    fn words_stay_whole(#[case] text: &str, #[case] expected: &[&str]) {
        let found = tokens(text);
        let folded: Vec<&str> = found.iter().map(|token| token.folded.as_str()).collect();
        assert_eq!(folded, expected);
        for token in &found {
            assert!(!text[token.start..token.end].trim().is_empty());
        }
    }
}
