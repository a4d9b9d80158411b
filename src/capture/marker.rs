//! Takes out what must never be learned: blocks that aizo itself wrote, and what a person marked as private.

use std::ops::Range;

use super::tags;
use crate::export::{BEGIN, END};
use crate::recall::context::OPEN;

/// The element in which a person puts what no memory may keep.
const PRIVATE: &str = "private";

/// The text without aizo's own blocks. A block is recognised when it was quoted, indented, escaped or put into
/// JSON; one that lost its end is cut to the end of the text, one that lost its beginning from the beginning.
pub fn cut(text: &str) -> String {
    without_blocks(text, |_| String::new())
}

/// The same with empty lines in the place of the blocks, so that what is left keeps the numbers of its lines.
pub fn blank(text: &str) -> String {
    without_blocks(text, |block| "\n".repeat(block.matches('\n').count()))
}

fn without_blocks(text: &str, instead: impl Fn(&str) -> String) -> String {
    let name = OPEN.trim_matches(['<', '>']);
    let mut rest = text.to_owned();
    if tags::mentions(text, name) {
        rest = without(&rest, tags::spans(text, name), &instead);
    }
    // A block in a file stands between two comments, which some hosts leave out of what they tell their agents.
    if tags::mentions(&rest, BEGIN) || tags::mentions(&rest, END) {
        rest = without(&rest, tags::comment_spans(&rest, BEGIN, END), &instead);
    }
    rest
}

fn without(text: &str, spans: Vec<Range<usize>>, instead: &impl Fn(&str) -> String) -> String {
    let mut rest = text.to_owned();
    for span in spans.into_iter().rev() {
        let span = with_surroundings(text, span);
        let span = span.start..span.end.min(rest.len());
        let between = instead(&rest[span.clone()]);
        rest.replace_range(span, &between);
    }
    rest
}

/// The text without what stands between `<private>` and `</private>`; to its end where nothing closes.
pub fn cut_private(text: &str) -> String {
    let mut rest = text.to_owned();
    tags::cut_element(&mut rest, PRIVATE);
    rest
}

/// A block together with the JSON reply that it is part of, or with the signs of quoting before it.
fn with_surroundings(text: &str, span: Range<usize>) -> Range<usize> {
    if let Some(start) = start_of_reply(&text[..span.start]) {
        let mut stream =
            serde_json::Deserializer::from_str(&text[start..]).into_iter::<serde::de::IgnoredAny>();
        return match stream.next() {
            Some(Ok(_)) => start..(start + stream.byte_offset()).max(span.end),
            // Cut off or escaped: nobody can tell where it ends.
            _ => start..text.len(),
        };
    }
    let before = &text[..span.start];
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    let quoting = before[line..]
        .chars()
        .all(|c| c.is_whitespace() || matches!(c, '>' | '|' | '*' | '-' | '`'));
    if quoting { line..span.end } else { span }
}

/// Where the reply of `aizo context --json` begins whose member `text` holds the block.
fn start_of_reply(before: &str) -> Option<usize> {
    let unquote = |text: &'_ str| -> Option<usize> {
        let text = text.trim_end().strip_suffix('"')?;
        Some(text.trim_end_matches('\\').len())
    };
    let colon = &before[..unquote(before)?];
    let name = colon.trim_end().strip_suffix(':')?;
    let name = name[..unquote(name)?].strip_suffix("text")?;
    let brace = name.strip_suffix('"')?.trim_end_matches('\\');
    let brace = brace.trim_end_matches(|c: char| c.is_whitespace() || c == '\\' || c == 'n');
    Some(brace.strip_suffix('{')?.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_cut_in_every_form_it_comes_back_in() {
        for (text, rest) in [
            (
                "<aizo-preferences>\nThe user likes x.\n</aizo-preferences>\nUse y.",
                "\nUse y.",
            ),
            (
                "Use y.\n> <aizo-preferences>\n> likes x\n> </aizo-preferences>\nNow.",
                "Use y.\n\nNow.",
            ),
            (
                "Use y. &lt;aizo-preferences&gt;likes x&lt;/aizo-preferences&gt;",
                "Use y. ",
            ),
            (
                "Use y. \\u003caizo-preferences\\u003elikes x\\u003c/aizo-preferences\\u003e!",
                "Use y. !",
            ),
            (
                "Use y.\n    <AIZO-preferences>\n    cut off here",
                "Use y.\n",
            ),
            ("likes x\n</aizo-preferences>\nUse y.", "\nUse y."),
            (
                "a <aizo-preferences>b</aizo-preferences> c <aizo-preferences>d</aizo-preferences> e",
                "a  c  e",
            ),
            (
                "Look: {\n  \"text\": \"<aizo-preferences>\\nx\\n</aizo-preferences>\\n\",\n  \"lines\": [{\"item\": \"x\"}]\n} ok",
                "Look:  ok",
            ),
            (
                "Use y.\n<!-- aizo:begin claude-md gap=1 (x) -->\n<aizo-preferences>\n\n- x\n\n</aizo-preferences>\n<!-- aizo:end -->\nNow.",
                "Use y.\n\nNow.",
            ),
            (
                "Use y.\n> <!-- aizo:begin -->\n> - x\n> <!-- aizo:end -->",
                "Use y.\n",
            ),
            ("Use y. \\u003c!-- aizo:begin --\\u003e x", "Use y. "),
            ("- x\n&lt;!-- aizo:end --&gt; Use y.", " Use y."),
            (
                "The word aizo:begin is a marker.",
                "The word aizo:begin is a marker.",
            ),
            (
                "See aizo-preferences in the docs.",
                "See aizo-preferences in the docs.",
            ),
        ] {
            assert_eq!(cut(text), rest, "{text}");
        }
    }

    #[test]
    fn what_is_left_keeps_its_lines() {
        let text = "- a\n<!-- aizo:begin -->\n- x\n<!-- aizo:end -->\n- b";
        assert_eq!(blank(text), "- a\n\n\n\n- b");
    }

    #[test]
    fn a_block_that_was_composed_is_cut_whole() {
        use crate::recall::context::CLOSE;
        assert_eq!(cut(&format!("{OPEN}\nx\n{CLOSE}\n")), "\n");
        assert_eq!(cut_private("a <private>b"), "a ");
    }
}
