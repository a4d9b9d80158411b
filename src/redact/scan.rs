//! The one pass over a text: at each word, sign and mark that something may begin with, it asks who knows it.

use std::ops::Range;

use super::steps::Steps;
use super::{Found, Scope, account, address, assigned, pem, provider};

/// What a byte is to the pass.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Of no interest.
    Plain,
    /// Part of a word: letters, digits, `_`, `-`.
    Word,
    /// What may stand between a name and its value, or in an address.
    Sign,
    /// The first byte of characters that are such signs in other scripts.
    Lead,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Plain; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        if b.is_ascii_alphanumeric() || b == b'_' || b == b'-' {
            classes[byte] = Class::Word;
        }
        byte += 1;
    }
    classes[b':' as usize] = Class::Sign;
    classes[b'=' as usize] = Class::Sign;
    classes[b'>' as usize] = Class::Sign;
    classes[b'@' as usize] = Class::Sign;
    classes[b'+' as usize] = Class::Sign;
    classes[b'(' as usize] = Class::Sign;
    // Of the characters in `is_sign`.
    classes[0xEF] = Class::Lead;
    classes[0xE6] = Class::Lead;
    classes[0xE4] = Class::Lead;
    classes[0xE7] = Class::Lead;
    classes
};

/// Whether one of the characters of other scripts comes that stand between a name and its value: `：`, `＝`, `是`,
/// `为`, `為`.
fn is_sign(bytes: &[u8]) -> bool {
    matches!(
        bytes,
        [0xEF, 0xBC, 0x9A | 0x9D, ..]
            | [0xE6, 0x98, 0xAF, ..]
            | [0xE4, 0xB8, 0xBA, ..]
            | [0xE7, 0x82, 0xBA, ..]
    )
}

/// The shortest word in which a key of a service is looked for.
const SHORTEST_KEY: usize = 16;

/// Whether a byte is part of a word.
pub(super) fn is_word(byte: u8) -> bool {
    CLASSES[usize::from(byte)] == Class::Word
}

/// Where the word ends that goes on at a place.
pub(super) fn word_end(bytes: &[u8], from: usize) -> usize {
    bytes[from..]
        .iter()
        .position(|&byte| !is_word(byte))
        .map_or(bytes.len(), |length| from + length)
}

/// Whether the letter at a place is that of `\n`, `\r` or `\t`.
pub(super) fn is_escape(bytes: &[u8], at: usize) -> bool {
    matches!(bytes[at], b'n' | b'r' | b't') && at > 0 && bytes[at - 1] == b'\\'
}

/// Finds everything, as long as there are steps; what is found may overlap.
pub(super) fn scan(text: &str, scope: Scope, steps: &Steps<'_>) -> Vec<Found> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() && steps.are_left() {
        match CLASSES[usize::from(bytes[at])] {
            Class::Plain => at += 1,
            // The letter of a line end or tab that is written out is no part of the word behind it.
            Class::Word if is_escape(bytes, at) => at += 1,
            Class::Word => {
                let end = word_end(bytes, at + 1);
                at = word(text, at..end, scope, steps, &mut found);
            }
            Class::Sign => {
                sign(text, at, scope, steps, &mut found);
                at += 1;
            }
            Class::Lead => {
                if is_sign(&bytes[at..]) {
                    found.extend(assigned::at(text, at, at + 3, steps));
                    at += 3;
                } else {
                    at += 1;
                }
            }
        }
    }
    found
}

/// Looks at a word; gives where to go on, which is behind a key that goes on behind the word.
fn word(
    text: &str,
    range: Range<usize>,
    scope: Scope,
    steps: &Steps<'_>,
    found: &mut Vec<Found>,
) -> usize {
    let Range { start, end } = range;
    let bytes = text.as_bytes();
    let word = &bytes[start..end];
    let before = found.len();
    if word.len() >= SHORTEST_KEY {
        provider::in_word(text, start, end, steps, found);
    }
    if bytes.get(end) == Some(&b'.') {
        found.extend(provider::dotted(text, start, end, steps));
    }
    let keys = found[before..].iter().map(|one| one.range.end);
    let behind = keys.max().unwrap_or(end).max(end);
    match word[0] {
        b'0'..=b'9' => {
            found.extend(account::card(text, start));
            found.extend(provider::bot_token(text, start, end));
            if scope == Scope::Quote {
                found.extend(account::phone(text, start));
            }
        }
        b'A'..=b'Z' if word.len() >= 4 && word[2].is_ascii_digit() => {
            found.extend(account::bank_account(text, start, steps));
        }
        b'-' if word.len() >= 2 => found.extend(assigned::option(text, start, end, steps)),
        _ => {}
    }
    // An `n` may stand before it, of a line end that is written out.
    if matches!(word[word.len() - 1], b'N' | b'D') {
        for armour in [b"-----BEGIN".as_slice(), b"-----END"] {
            if word.ends_with(armour) {
                found.extend(pem::block(text, end - armour.len(), end, steps));
            }
        }
    }
    if bytes.get(end) == Some(&b' ') && word.len() <= 6 {
        found.extend(assigned::word(text, start, end, steps));
    }
    behind
}

/// Whether an opening tag ends here that is no more than a name: `<password>`.
fn ends_a_tag(text: &str, at: usize) -> bool {
    const LONGEST: usize = 40;
    let name = text.as_bytes()[..at].iter().rev().take(LONGEST);
    let mut rest = name.skip_while(|byte| is_word(**byte) || matches!(byte, b'.' | b':'));
    rest.next() == Some(&b'<')
}

fn sign(text: &str, at: usize, scope: Scope, steps: &Steps<'_>, found: &mut Vec<Found>) {
    match text.as_bytes()[at] {
        b':' if text[at..].starts_with("://") => {
            found.extend(address::with_password(text, at, steps));
        }
        b':' | b'=' => found.extend(assigned::at(text, at, at + 1, steps)),
        b'>' if ends_a_tag(text, at) => found.extend(assigned::at(text, at, at + 1, steps)),
        b'(' if text[..at].ends_with("define") => found.extend(assigned::defined(text, at, steps)),
        b'@' if scope == Scope::Quote => found.extend(account::email(text, at)),
        b'+' | b'(' if scope == Scope::Quote => found.extend(account::phone(text, at)),
        _ => {}
    }
}
