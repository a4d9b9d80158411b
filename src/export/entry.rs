//! The file about a single preference, to which an index points.

use super::compose::{between_markers, plain};
use super::managed::{Origin, find, take_out};
use crate::model::{Band, Origin as Source, Preference};
use crate::recall::context::{CLOSE, OPEN};

/// What the names of the files begin with.
const PREFIX: &str = "aizo-";
/// What they end with.
const SUFFIX: &str = ".md";
/// Letters of the item in the name.
const LONGEST_NAME: usize = 40;

/// The name of the file about an entry.
pub fn file_name(preference: &Preference) -> String {
    let item = plain(&preference.item).to_lowercase();
    let words: Vec<&str> = item
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let name: String = words.join("-").chars().take(LONGEST_NAME).collect();
    let name = name.trim_end_matches('-');
    let dash = if name.is_empty() { "" } else { "-" };
    format!("{PREFIX}{}{dash}{name}{SUFFIX}", preference.id)
}

/// Whether a file of this name may be one of these.
pub fn looks_like_ours(name: &str) -> bool {
    name.strip_prefix(PREFIX)
        .and_then(|rest| rest.strip_suffix(SUFFIX))
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether a file holds what aizo wrote, as it wrote it, and nothing else.
pub fn is_ours(bytes: &[u8]) -> bool {
    let is_as_written = find(bytes).is_ok_and(|found| found.is_some_and(|one| one.is_as_written));
    is_as_written && take_out(bytes) == Ok(Some(None))
}

/// What stands in the file about an entry.
pub fn text(preference: &Preference) -> String {
    let mut text = format!("{OPEN}\n\n# {}\n", plain(&preference.item));
    let kind = match preference.band() {
        Band::Taboo => "A hard limit of the user",
        Band::Aversion => "An aversion of the user",
        Band::Habit => "A habit of the user",
        Band::Style => "A matter of style to the user",
        Band::Preference => "A preference of the user",
    };
    let from = match preference.origin {
        Source::User => "from the user's own words",
        Source::Agent => "noted by an agent",
        Source::Analysis => "inferred from conversations",
        Source::Import => "imported",
    };
    text.push_str(&format!(
        "\n{kind}: {} on a scale from 0 (never) to 10 (always), {from}.\n",
        preference.base_score
    ));
    let list = |names: &[String]| {
        let names: Vec<String> = names.iter().map(|name| plain(name)).collect();
        names.join(", ")
    };
    for (name, value) in [
        ("Reason", plain(&preference.reason)),
        ("Kinds of task", list(&preference.scenarios)),
        ("Keywords", list(&preference.keywords)),
    ] {
        if !value.is_empty() {
            text.push_str(&format!("\n{name}: {value}\n"));
        }
    }
    text.push_str(&format!(
        "\n`aizo why {}` shows the evidence.\n\n{CLOSE}\n",
        preference.id,
    ));
    let remark = "once you change it, it stays as it is";
    between_markers("entry", Origin::NoFile, remark, &text) + "\n"
}
