//! Private keys in the armour of `-----BEGIN … PRIVATE KEY-----`: whole, cut off at either end, with real line
//! ends, with `\n` written out, or all on one line.

use super::steps::Steps;
use super::{Found, Secret};
use crate::model::beginning;

const DASHES: &str = "-----";
const NAME: &str = "PRIVATE KEY";
/// A longer name than any that is in use.
const LONGEST_NAME: usize = 64;
/// The longest block looked through for its end.
const LONGEST_BLOCK: usize = 1 << 15;

/// The block whose first or last line begins with this word of dashes.
pub(super) fn block(text: &str, start: usize, end: usize, steps: &Steps<'_>) -> Option<Found> {
    let found = |from: usize, to: usize| Found {
        range: from..to,
        kind: Secret::PrivateKey,
    };
    let word = &text[start..end];
    let tail = beginning(text.get(end..)?, LONGEST_NAME + DASHES.len());
    let line = tail.find(DASHES)?;
    let head_end = end + line + DASHES.len();
    if !text[start..head_end].contains(NAME) {
        return None;
    }
    if word == "-----END" {
        // The beginning is missing: all that belongs to the block stands before.
        let from = body_start(text, start);
        steps.take(start - from)?;
        return (from < start).then(|| found(from, head_end));
    }
    if word != "-----BEGIN" {
        return None;
    }
    let body = beginning(&text[head_end..], LONGEST_BLOCK);
    // What ends the next one is none of this one's.
    let own = body.find("-----BEGIN").unwrap_or(body.len());
    let last = body[..own].find("-----END");
    steps.take(last.unwrap_or(own))?;
    if let Some(last) = last {
        let after = head_end + last + "-----END".len();
        let close = beginning(&text[after..], LONGEST_NAME + DASHES.len())
            .find(DASHES)
            .map_or(after, |length| after + length + DASHES.len());
        return Some(found(start, close));
    }
    // A line that is only spoken of is none.
    let to = body_end(text, head_end);
    (to > head_end).then(|| found(start, to))
}

/// Whether a piece between white space can be part of a block: letters of base 64, or a header line.
fn belongs(piece: &str) -> bool {
    let piece = piece.trim_matches(|c| c == '\\' || c == '"');
    let coded = piece
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b"+/=\\".contains(&b));
    let header = [
        "Proc-Type:",
        "DEK-Info:",
        "4,ENCRYPTED",
        "Version:",
        "Comment:",
    ]
    .contains(&piece)
        || piece.contains("-CBC,");
    header || coded && (piece.len() >= 24 || piece.is_empty())
}

/// Whether a character stands between the pieces of a block, or between a block and what is around it.
fn ends_a_piece(c: char) -> bool {
    c.is_whitespace() || !c.is_ascii() || matches!(c, '"' | '\'' | '`' | '(' | ')' | '<' | '>')
}

/// Where a block without an end ends: at the first piece that is none of it.
fn body_end(text: &str, from: usize) -> usize {
    let mut end = from;
    let mut at = from;
    while at < text.len() {
        let rest = &text[at..];
        let space = rest.len() - rest.trim_start().len();
        let piece_from = at + space;
        let rest = &text[piece_from..];
        let length = rest.find(ends_a_piece).unwrap_or(rest.len());
        let piece = &rest[..length];
        // The last piece may be cut anywhere, and by three dots.
        let last = piece_from + length == text.len();
        let cut = piece.trim_end_matches(['.', '…']);
        let coded = cut
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"+/=\\".contains(&b));
        if piece.is_empty()
            || !(belongs(piece) || coded && (last || cut.len() != piece.len()) && cut.len() >= 4)
        {
            break;
        }
        end = piece_from + length;
        at = end;
    }
    end
}

/// Where a block without a beginning begins.
fn body_start(text: &str, to: usize) -> usize {
    let mut start = to;
    loop {
        let before = text[..start].trim_end();
        let from = before.rfind(ends_a_piece).map_or(0, |at| {
            at + before[at..].chars().next().map_or(1, char::len_utf8)
        });
        let piece = &before[from..];
        let short_end = start == to
            && piece
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"+/=\\".contains(&b));
        if piece.is_empty() || !(belongs(piece) || short_end && piece.len() >= 4) {
            return start;
        }
        start = from;
    }
}
