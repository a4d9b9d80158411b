//! A profile that others may read: no observations, no reasons unless they are asked for, no moments but days, no names that
//! could be followed, and marks in place of addresses, numbers and paths. What an item itself tells stays: that is for the person to
//! look over.

use std::sync::LazyLock;

use regex_lite::Regex;

use super::profile::Entry;
use crate::model::{Stamp, item_key, stable_name};
use crate::redact::{Scope, redact_in};

/// Whether reasons are published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reasons {
    /// They may tell of people, so that they stay behind.
    Kept,
    /// The person has asked for them.
    Told,
}

/// The entry as others may read it.
pub fn published(entry: Entry, reasons: Reasons) -> Entry {
    let item = masked(&entry.item);
    Entry {
        uid: stable_name(&["published", &item_key(&item)]),
        item,
        reason: match reasons {
            Reasons::Told => masked(&entry.reason),
            Reasons::Kept => String::new(),
        },
        keywords: entry.keywords.iter().map(|word| masked(word)).collect(),
        scenarios: entry.scenarios.iter().map(|name| masked(name)).collect(),
        // The label is the person's own and may hold anything.
        source: entry.origin.name().to_owned(),
        added_at: day(&entry.added_at),
        last_seen: day(&entry.last_seen),
        touch_count: 0,
        // A mark within a pattern would make it match other things.
        patterns: entry
            .patterns
            .into_iter()
            .filter(|pattern| masked(pattern) == *pattern)
            .collect(),
        evidence: Vec::new(),
        ..entry
    }
}

/// The day of a moment; nothing of one that cannot be read.
fn day(stamp: &Stamp) -> Stamp {
    let midnight = stamp
        .moment()
        .and_then(|moment| moment.date_naive().and_hms_opt(0, 0, 0));
    midnight.map_or_else(|| Stamp(String::new()), |at| Stamp::at(at.and_utc()))
}

const ADDRESS: &str = "[redacted address]";
const PATH: &str = "[redacted path]";

/// Addresses and paths; each stands behind something that is no part of it.
static PLACES: LazyLock<[(Regex, &str); 3]> = LazyLock::new(|| {
    let form = |text: &str| Regex::new(text).expect("the forms are tested");
    [
        (form(r#"\b[A-Za-z][A-Za-z0-9+.-]*://[^\s<>"'`]+"#), ADDRESS),
        (
            form(r#"(^|[\s"'`(=:,])((?:~|\.{1,2})?/[^\s"'`()<>,;:]*[\w-]|~[\w-]*/?)"#),
            PATH,
        ),
        (
            form(r#"(^|[\s"'`(=,])((?:[A-Za-z]:\\|\\\\)[^\s"'`()<>,;]+)"#),
            PATH,
        ),
    ]
});

/// A text with marks in place of secrets, mail addresses, phone numbers, addresses and paths.
fn masked(text: &str) -> String {
    let mut text = redact_in(text, Scope::Quote).text.into_owned();
    for (form, mark) in PLACES.iter() {
        let replaced = form.replace_all(&text, |found: &regex_lite::Captures<'_>| {
            let before = found.get(1).map_or("", |before| before.as_str());
            format!("{before}{mark}")
        });
        text = replaced.into_owned();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("mail to anna@example.com first", "mail to [redacted e-mail] first")]
    #[case("call +49 30 901820 twice", "call [redacted phone number] twice")]
    #[case("never touch /home/anna/taxes", "never touch [redacted path]")]
    #[case("notes in ~/diary.md, always", "notes in [redacted path], always")]
    #[case(r"keep C:\Users\Anna\x out", "keep [redacted path] out")]
    #[case("see https://intranet.example/a?b=c", "see [redacted address]")]
    #[case("file:///home/anna", "[redacted address]")]
    #[case("../sibling is fine", "[redacted path] is fine")]
    #[case("and/or, yes/no, 24/7, TCP/IP", "and/or, yes/no, 24/7, TCP/IP")]
    #[case("a / b", "a / b")]
    #[case("tabs: 4", "tabs: 4")]
    #[case("// comments", "// comments")]
    #[case("不要用破折号", "不要用破折号")]
    fn what_concerns_nobody_else_is_masked(#[case] text: &str, #[case] shown: &str) {
        assert_eq!(masked(text), shown);
        assert_eq!(masked(shown), shown);
    }
}
