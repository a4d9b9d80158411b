//! Finds and cuts elements that programs wrap around text: `<name>…</name>`, also where something has escaped them.

use std::ops::Range;

use memchr::memmem;

/// A tag in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Tag {
    range: Range<usize>,
    closing: bool,
}

/// How a `<` may look after HTML, JSON and Markdown have escaped it.
const OPENERS: [&str; 9] = [
    "<", "&lt;", "&amp;lt;", "&#60;", "&#x3c;", "&#x3C;", "\\u003c", "\\u003C", "&LT;",
];
/// The same of `>`.
const CLOSERS: [&str; 9] = [
    ">", "&gt;", "&amp;gt;", "&#62;", "&#x3e;", "&#x3E;", "\\u003e", "\\u003E", "&GT;",
];

/// The next tag of that name, whatever case it is written in, at or after `from`.
fn next_tag(text: &str, name: &str, from: usize) -> Option<Tag> {
    let mut at = from;
    loop {
        let found = at + find_ignoring_case(&text.as_bytes()[at..], name.as_bytes())?;
        let behind = found + name.len();
        if let Some((start, closing)) = opening_of(text, found, from)
            && let Some(end) = end_of(text, behind)
        {
            return Some(Tag {
                range: start..end,
                closing,
            });
        }
        at = behind;
    }
}

fn find_ignoring_case(bytes: &[u8], name: &[u8]) -> Option<usize> {
    if bytes.len() < name.len() {
        return None;
    }
    let first = name[0];
    memchr::memchr2_iter(
        first.to_ascii_lowercase(),
        first.to_ascii_uppercase(),
        bytes,
    )
    .take_while(|at| at + name.len() <= bytes.len())
    .find(|&at| bytes[at..at + name.len()].eq_ignore_ascii_case(name))
}

/// Where the tag begins whose name stands at `name`, and whether it closes an element.
fn opening_of(text: &str, name: usize, from: usize) -> Option<(usize, bool)> {
    let before = text[from..name].trim_end_matches([' ', '\u{200b}', '\u{200d}', '\u{feff}']);
    let (before, closing) = match before.strip_suffix('/') {
        Some(before) => (before.trim_end().trim_end_matches('\\'), true),
        None => (before, false),
    };
    let opener = OPENERS.iter().find(|opener| before.ends_with(**opener))?;
    let before = &before[..before.len() - opener.len()];
    Some((from + before.trim_end_matches('\\').len(), closing))
}

/// Where the tag ends whose name ends at `behind`. Attributes may follow the name; a longer name may not.
fn end_of(text: &str, behind: usize) -> Option<usize> {
    const LONGEST: usize = 200;
    let rest = &text[behind..];
    let mut window = rest.len().min(LONGEST);
    while !rest.is_char_boundary(window) {
        window -= 1;
    }
    let (at, closer) = CLOSERS
        .iter()
        .filter_map(|closer| Some((rest[..window].find(closer)?, closer)))
        .min()?;
    let inside = rest[..at].trim_end_matches(['\\', '/']);
    let fits = inside.is_empty() || inside.starts_with(char::is_whitespace);
    (fits && !inside.contains('<')).then_some(behind + at + closer.len())
}

/// Cuts every element of that name. Nested ones go with the outer one, and one that is not closed reaches to the
/// end of the text.
pub(super) fn cut_element(text: &mut String, name: &str) {
    let mut from = 0;
    while let Some(open) = next_tag(text, name, from) {
        if open.closing {
            // Closes nothing.
            from = open.range.end;
            continue;
        }
        let end = end_of_element(text, name, open.range.end);
        text.replace_range(open.range.start..end, "");
        from = open.range.start;
    }
}

/// The position behind the tag that closes an element whose opening tag ends at `from`.
fn end_of_element(text: &str, name: &str, mut from: usize) -> usize {
    let mut depth = 1;
    while let Some(tag) = next_tag(text, name, from) {
        from = tag.range.end;
        depth = if tag.closing { depth - 1 } else { depth + 1 };
        if depth == 0 {
            return from;
        }
    }
    text.len()
}

/// The ranges of aizo's own blocks: from an opening to the next closing tag, from the beginning where one only
/// closes, to the end where one only opens.
pub(super) fn spans(text: &str, name: &str) -> Vec<Range<usize>> {
    paired(text, |from| next_tag(text, name, from))
}

/// The same between the two comments that aizo puts around its block in a file.
pub(super) fn comment_spans(text: &str, open: &str, close: &str) -> Vec<Range<usize>> {
    paired(text, |from| {
        let opening = next_comment(text, open, from).map(|range| (range, false));
        let closing = next_comment(text, close, from).map(|range| (range, true));
        let (range, closing) = opening
            .into_iter()
            .chain(closing)
            .min_by_key(|(range, _)| range.start)?;
        Some(Tag { range, closing })
    })
}

/// The next comment that begins with that word.
fn next_comment(text: &str, word: &str, from: usize) -> Option<Range<usize>> {
    const LONGEST: usize = 300;
    let mut at = from;
    loop {
        let found = at + find_ignoring_case(&text.as_bytes()[at..], word.as_bytes())?;
        at = found + word.len();
        let before = text[from..found].trim_end().strip_suffix("--");
        let before = before.and_then(|before| before.trim_end_matches('\\').strip_suffix('!'));
        let Some(before) = before.map(|before| before.trim_end_matches('\\')) else {
            continue;
        };
        let Some(opener) = OPENERS.iter().find(|opener| before.ends_with(**opener)) else {
            continue;
        };
        let before = before[..before.len() - opener.len()].trim_end_matches('\\');
        let mut window = text.len().min(at + LONGEST);
        while !text.is_char_boundary(window) {
            window -= 1;
        }
        // One that is not closed ends with its word.
        let end = CLOSERS
            .iter()
            .filter_map(|closer| Some(text[at..window].find(closer)? + closer.len()))
            .min()
            .map_or(at, |length| at + length);
        return Some(from + before.len()..end);
    }
}

fn paired(text: &str, next: impl Fn(usize) -> Option<Tag>) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut open: Option<usize> = None;
    let mut from = 0;
    while let Some(tag) = next(from) {
        from = tag.range.end;
        match (tag.closing, open) {
            (false, None) => open = Some(tag.range.start),
            (false, Some(_)) => {}
            (true, Some(start)) => {
                spans.push(start..from);
                open = None;
            }
            (true, None) if spans.is_empty() => spans.push(0..from),
            // A second end without a beginning: all since the last block.
            (true, None) => {
                if let Some(last) = spans.last_mut() {
                    last.end = from;
                }
            }
        }
    }
    spans.extend(open.map(|start| start..text.len()));
    spans
}

/// Whether a tag of that name can stand in the text at all: the cheap question before the others.
pub(super) fn mentions(text: &str, name: &str) -> bool {
    memmem::find(text.as_bytes(), name.as_bytes()).is_some()
        || find_ignoring_case(text.as_bytes(), name.as_bytes()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_is_cut_whatever_its_spelling() {
        for (text, rest) in [
            ("a <private>b</private> c", "a  c"),
            ("a <PRIVATE >b</ private> c", "a  c"),
            ("a <private>b <private>c</private> d</private> e", "a  e"),
            ("a <private>b", "a "),
            ("a &lt;private&gt;b&lt;/private&gt; c", "a  c"),
            ("a \\<private\\>b\\</private\\> c", "a  c"),
            ("<private class=\"x\">b</private>c", "c"),
            (
                "a private matter, <privately>b</privately>",
                "a private matter, <privately>b</privately>",
            ),
            ("a</private> b", "a</private> b"),
            ("private", "private"),
        ] {
            let mut cut = text.to_owned();
            cut_element(&mut cut, "private");
            assert_eq!(cut, rest, "{text}");
        }
    }
}
