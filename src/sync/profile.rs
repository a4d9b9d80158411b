//! The profile for people who look at the repository. It follows from the entries alone, so that every device writes the
//! same; nothing reads it.

use std::fmt::Write;

use crate::model::{Preference, item_key, strip_hidden};
use crate::recall::context::Group;

/// Entries of a group that are listed, but for hard limits, which all are.
const MOST: usize = 500;

const GROUPS: [(Group, &str); 4] = [
    (Group::HardLimits, "Hard limits"),
    (Group::Avoid, "Disliked"),
    (Group::Prefer, "Preferred"),
    (Group::Habits, "Habits"),
];

/// Writes the profile: hard limits first, and within a group by item.
pub fn profile(mut entries: Vec<Preference>) -> String {
    entries.sort_by_cached_key(|entry| (item_key(&entry.item), entry.uid.clone()));
    let mut text = String::from(
        "# Preferences\n\nWritten by `aizo sync` for people to read. What is changed in here is overwritten.\n",
    );
    for (group, heading) in GROUPS {
        let of_group: Vec<&Preference> = entries
            .iter()
            .filter(|entry| Group::of(entry.band()) == group)
            .collect();
        if of_group.is_empty() {
            continue;
        }
        let _a_text_takes_all = write!(text, "\n## {heading}\n\n");
        let most = match group {
            Group::HardLimits => of_group.len(),
            _ => MOST,
        };
        for entry in of_group.iter().take(most) {
            text.push_str(&line(entry));
        }
        if of_group.len() > most {
            let _a_text_takes_all = writeln!(text, "- … and {} more", of_group.len() - most);
        }
    }
    text
}

fn line(entry: &Preference) -> String {
    let mut line = format!("- {}", plain(&entry.item));
    if !entry.reason.trim().is_empty() {
        let _a_text_takes_all = write!(line, ": {}", plain(&entry.reason));
    }
    let _a_text_takes_all = write!(line, " ({}", entry.base_score);
    for name in &entry.scenarios {
        let _a_text_takes_all = write!(line, ", {}", plain(name));
    }
    line.push_str(")\n");
    line
}

/// A text in which nothing is Markdown or HTML.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for c in strip_hidden(text).chars() {
        if matches!(
            c,
            '\\' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '!' | '#' | '|' | '~' | '&'
        ) {
            plain.push('\\');
        }
        plain.push(c);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Origin, Score, Stamp};

    fn entry(item: &str, reason: &str, score: f64) -> Preference {
        Preference {
            id: 1,
            uid: item.to_owned(),
            item: item.to_owned(),
            reason: reason.to_owned(),
            keywords: Vec::new(),
            scenarios: vec!["coding".to_owned()],
            base_score: Score::clamped(score),
            source: "manual".to_owned(),
            origin: Origin::User,
            added_at: Stamp("2026-01-01T00:00:00+00:00".to_owned()),
            last_seen: Stamp("2026-01-01T00:00:00+00:00".to_owned()),
            touch_count: 0,
            patterns: Vec::new(),
        }
    }

    #[test]
    fn limits_come_first_and_nothing_is_markup() {
        let text = profile(vec![
            entry("tabs", "", 9.0),
            entry("emojis", "<img src=x>\n# never", 0.5),
            entry("Allergies", "[see](http://x)", 0.0),
            entry("meetings", "long", 2.5),
        ]);
        insta::assert_snapshot!(text, @r"
        # Preferences

        Written by `aizo sync` for people to read. What is changed in here is overwritten.

        ## Hard limits

        - Allergies: \[see\](http://x) (0.0, coding)
        - emojis: \<img src=x\> \# never (0.5, coding)

        ## Disliked

        - meetings: long (2.5, coding)

        ## Preferred

        - tabs (9.0, coding)
        ");
    }
}
