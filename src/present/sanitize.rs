//! Makes stored text harmless for a terminal: old rows and other programs may hold anything.

use crate::model::strip_hidden;

/// A text for one line: line breaks and tabs become spaces, other control, bidirectional and zero-width
/// characters are dropped.
pub fn for_terminal(text: &str) -> String {
    strip_hidden(text)
}

/// A text of several lines; each is made harmless.
pub(super) fn lines_for_terminal(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(for_terminal).collect();
    lines.join("\n")
}
