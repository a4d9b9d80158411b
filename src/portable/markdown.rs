//! The profile for a reader: hard limits first, then what is disliked, liked and habitual, strongest first.

use super::profile::Entry;
use crate::model::{Score, join_keywords, stable_name};
use crate::recall::context::{Group, harmless};

/// Stands at the head, so that the file is known again.
pub(super) const MARK: &str = "<!-- aizo profile -->";
/// How the last line begins of a page that is known again as a whole.
const SUM: &str = "\n<!-- aizo profile ";

/// The page with a sum of it at the end.
pub(crate) fn summed(mut page: String) -> String {
    let sum = stable_name(&["page", &page]);
    page.push_str(&format!("{SUM}{sum} -->\n"));
    page
}

/// Whether a text is a page as it was written, with nothing before, in or behind it.
pub(crate) fn is_as_summed(text: &str) -> bool {
    let Some((page, _)) = text.rsplit_once(SUM) else {
        return false;
    };
    page.starts_with(MARK) && summed(page.to_owned()) == text
}

/// The page.
pub fn markdown(entries: &[Entry]) -> String {
    let mut page = format!("{MARK}\n\n# Preferences\n");
    if entries.is_empty() {
        page.push_str("\nNothing is stored.\n");
    }
    for group in Group::ALL {
        let mut of_group: Vec<&Entry> = entries
            .iter()
            .filter(|entry| Group::of(Score::clamped(entry.base_score).band()) == group)
            .collect();
        let weight = |entry: &Entry| {
            // A dislike is the stronger the lower it is.
            let score = entry.base_score;
            if score < 5.0 { 10.0 - score } else { score }
        };
        of_group.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
        if !of_group.is_empty() {
            page.push_str(&format!("\n## {}\n\n", group.heading()));
            of_group
                .iter()
                .for_each(|entry| page.push_str(&line(entry)));
        }
    }
    page
}

fn line(entry: &Entry) -> String {
    let score = Score::clamped(entry.base_score);
    let mut line = format!("- **{}** ({score})", text(&entry.item));
    if !entry.reason.is_empty() {
        line.push_str(&format!(": {}", text(&entry.reason)));
    }
    let lists = [
        ("for", join_keywords(&entry.scenarios)),
        ("also", join_keywords(&entry.keywords)),
    ];
    for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        line.push_str(&format!("  \n  {name}: {}", text(&list)));
    }
    line.push('\n');
    line
}

/// A text that is nothing but text in Markdown.
fn text(text: &str) -> String {
    let text = harmless(text);
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
