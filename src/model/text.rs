//! What a text must be to enter the store, and how two texts are found to be the same.

use caseless::Caseless;
use thiserror::Error;
use unicode_normalization::UnicodeNormalization;

/// The longest item or reason, in bytes of UTF-8.
pub const MAX_TEXT_BYTES: usize = 4096;

/// Says why a text may not enter the store.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TextError {
    /// Nothing is left after trimming.
    #[error("the {field} is empty")]
    Empty {
        /// Which text: "item", "reason", "keyword".
        field: &'static str,
    },
    /// Longer than it may be.
    #[error("the {field} has {bytes} bytes; {most} is the most")]
    TooLong {
        /// Which text.
        field: &'static str,
        /// Its length.
        bytes: usize,
        /// The longest it may be.
        most: usize,
    },
    /// A control, bidirectional or zero-width character, which could hide or reorder what a person reads.
    #[error("the {field} holds the invisible character U+{code:04X} (character {at}); remove it")]
    Hidden {
        /// Which text.
        field: &'static str,
        /// The character.
        code: u32,
        /// Its place, counted from 1.
        at: usize,
    },
}

/// Trims a text, turns typed line breaks and tabs into spaces, and refuses what must not be stored.
///
/// # Errors
/// An empty or too long text, and one with control, bidirectional or zero-width characters. The two
/// joiners that emoji, Persian and Hindi are written with stay.
pub fn check_text(field: &'static str, text: &str) -> Result<String, TextError> {
    let spaced: String = text
        .chars()
        .map(|c| {
            if matches!(c, '\n' | '\r' | '\t') {
                ' '
            } else {
                c
            }
        })
        .collect();
    let trimmed = spaced.trim();
    if trimmed.len() > MAX_TEXT_BYTES {
        return Err(TextError::TooLong {
            field,
            bytes: trimmed.len(),
            most: MAX_TEXT_BYTES,
        });
    }
    let mut all = trimmed.char_indices().enumerate();
    let hidden = all.find(|&(_, (at, c))| is_hidden_in(trimmed, at, c));
    if hidden.is_none() && is_shapeless(trimmed) {
        return Err(TextError::Empty { field });
    }
    if let Some((index, (_, c))) = hidden {
        return Err(TextError::Hidden {
            field,
            code: c as u32,
            at: index + 1,
        });
    }
    Ok(trimmed.to_owned())
}

/// Removes control, bidirectional and zero-width characters: for text that nobody typed here.
pub fn strip_hidden(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let mut kept = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        if !is_hidden_in(text, at, c) {
            kept.push(c);
        } else if matches!(c, '\n' | '\r' | '\t') {
            kept.push(' ');
        }
    }
    kept
}

/// Whether a text has nothing but what a typewriter has: then nothing in it is hidden. It is quick.
pub fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Control characters, bidirectional marks and overrides, zero-width and tag characters. ZWNJ and
/// ZWJ (U+200C, U+200D) and the variation selectors are part of ordinary writing and not among them.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c as u32,
            0x00AD | 0x061C | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180E | 0x200B | 0x200E | 0x200F
            | 0x2028..=0x202E | 0x2060..=0x206F | 0x3164 | 0xFEFF | 0xFFA0 | 0xFFF9..=0xFFFB
            | 0xE0000..=0xE00FF | 0xE01F0..=0xE0FFF)
}

/// Whether a character of a text is hidden: by itself, or since it joins Latin letters, which nobody sees.
pub fn is_hidden_in(text: &str, at: usize, c: char) -> bool {
    let joins = |c: &char| matches!(c, '\u{200C}' | '\u{200D}');
    let is_latin = |c: Option<char>| c.is_some_and(|c| c.is_alphabetic() && c < '\u{250}');
    is_hidden(c)
        || joins(&c)
            && is_latin(text[..at].chars().rev().find(|c| !joins(c)))
            && is_latin(text[at..].chars().find(|c| !joins(c)))
}

/// Whether a text shows nothing: it is empty, or blanks and characters without a shape of their own are all it has.
pub fn is_shapeless(text: &str) -> bool {
    let is_shapeless = |c: char| {
        let is_joiner_or_selector =
            matches!(c as u32, 0x200C | 0x200D | 0xFE00..=0xFE0F | 0xE0100..=0xE01EF);
        c.is_whitespace() || is_hidden(c) || is_joiner_or_selector
    };
    text.chars().all(is_shapeless)
}

/// The beginning of a text: at most so many bytes, cut between characters.
pub fn beginning(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The words of a command line, as a shell splits them; none where more is asked of a shell than to split: quotes are all
/// that it may hold.
pub fn split_words(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in command.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('\''), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, '$' | '`') | (None, '|' | '&' | ';' | '<' | '>' | '(' | ')') => return None,
            // Folders of Windows have them in their names.
            (_, '\\') if !cfg!(windows) => return None,
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// A text as one word of a shell, also where a person pastes it there.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Folds a text for comparison: NFKC, full Unicode case folding, NFKC again (folding can undo it).
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfkc().default_case_fold().nfkc().collect()
}

/// The key by which an item is unique: folded, with every run of white space made one space.
pub fn item_key(item: &str) -> String {
    let folded = fold(item);
    let words: Vec<&str> = folded.split_whitespace().collect();
    words.join(" ")
}

/// Reads typed keywords or scenarios: split at commas (also the full-width and the ideographic one),
/// trimmed, lower-cased, empties and repetitions dropped, order kept.
///
/// # Errors
/// A keyword that may not enter the store, see [`check_text`].
pub fn parse_keywords(field: &'static str, text: &str) -> Result<Vec<String>, TextError> {
    let mut found: Vec<String> = Vec::new();
    for part in text.split([',', '，', '、', '\n']) {
        if part.trim().is_empty() {
            continue;
        }
        let keyword = check_text(field, part)?.to_lowercase();
        if !found.contains(&keyword) {
            found.push(keyword);
        }
    }
    Ok(found)
}

/// Reads the stored keywords column, which any earlier version may have written.
pub fn split_keywords(column: &str) -> Vec<String> {
    column
        .split(',')
        .map(str::trim)
        .filter(|keyword| !keyword.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Writes the stored keywords column as every earlier version did: comma and space between.
pub fn join_keywords(keywords: &[String]) -> String {
    keywords.join(", ")
}

/// Reads the stored patterns column: one a line, since a comma is part of many of them.
pub fn split_patterns(column: &str) -> Vec<String> {
    column
        .lines()
        .map(str::trim)
        .filter(|pattern| !pattern.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Writes the stored patterns column; nothing where there are none.
pub fn join_patterns(patterns: &[String]) -> Option<String> {
    (!patterns.is_empty()).then(|| patterns.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("Dark  Mode", "dark mode")]
    #[case("ÜNÏCODE Item", "ünïcode item")]
    #[case("ｃｏｄｅ", "code")]
    #[case("Straße", "strasse")]
    #[case(" 简洁　回答 ", "简洁 回答")]
    #[case("e\u{301}", "é")]
    fn items_that_read_the_same_have_one_key(#[case] item: &str, #[case] key: &str) {
        assert_eq!(item_key(item), key);
    }

    #[rstest]
    #[case("a\u{0}b", 0)]
    #[case("a\u{1b}[31m", 0x1b)]
    #[case("a\u{202e}b", 0x202e)]
    #[case("a\u{200b}b", 0x200b)]
    #[case("shell\u{200d}fish", 0x200d)]
    #[case("shell\u{200c}\u{200d}fish", 0x200c)]
    #[case("tag\u{e0041}", 0xe0041)]
    fn hidden_characters_are_refused(#[case] text: &str, #[case] code: u32) {
        assert_eq!(
            check_text("item", text),
            Err(TextError::Hidden {
                field: "item",
                code,
                at: text
                    .chars()
                    .position(|c| c as u32 == code)
                    .expect("it is there")
                    + 1,
            })
        );
        assert!(!strip_hidden(text).contains(char::from_u32(code).expect("a character")));
    }

    #[rstest]
    #[case("  tabs\tand\nlines ", "tabs and lines")]
    #[case("👩‍💻 pairing", "👩‍💻 pairing")]
    #[case("می‌خواهم", "می‌خواهم")]
    #[case("葛\u{e0100}飾", "葛\u{e0100}飾")]
    fn ordinary_writing_stays(#[case] text: &str, #[case] kept: &str) {
        assert_eq!(check_text("item", text).as_deref(), Ok(kept));
    }

    #[rstest]
    #[case("", "''")]
    #[case("two words", "'two words'")]
    #[case("don't; $x", r"'don'\''t; $x'")]
    fn a_quoted_text_is_one_word_of_a_shell(#[case] text: &str, #[case] word: &str) {
        assert_eq!(quoted(text), word);
        let read = shlex::split(word);
        assert_eq!(read, Some(vec![text.to_owned()]));
    }

    #[rstest]
    #[case("less")]
    #[case("less -R  -F")]
    #[case("'/opt/my pager/less' -P\"a 'b' c\"")]
    #[case("sh -c 'tr a b | less'")]
    #[case("x '' \"\"")]
    #[case("  ")]
    fn a_command_is_split_as_a_shell_does(#[case] command: &str) {
        assert_eq!(split_words(command), shlex::split(command), "{command}");
    }

    #[rstest]
    #[case("less; rm x")]
    #[case("less | cat")]
    #[case("less $(touch x)")]
    #[case("\"`touch x`\"")]
    #[case("less > x")]
    #[case("less & y")]
    #[case("$PAGER")]
    #[case("'less")]
    #[cfg_attr(not(windows), case("a\\ b"))]
    fn what_only_a_shell_can_do_is_not_done(#[case] command: &str) {
        assert_eq!(split_words(command), None);
    }

    #[test]
    fn keywords_are_trimmed_lowered_and_unique() {
        assert_eq!(
            parse_keywords("keyword", " Git, push ,,GIT，提交、").as_deref(),
            Ok(["git", "push", "提交"].map(String::from).as_slice())
        );
    }
}
