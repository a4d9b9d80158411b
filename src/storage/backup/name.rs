//! What the name of a copy tells: when it was taken, and before what.

use std::ffi::OsStr;

use chrono::{DateTime, NaiveDateTime, Utc};

/// How the name of a copy ends.
const ENDING: &str = ".bak";
/// How a time is written in it.
const TIME: &str = "%Y%m%dT%H%M%SZ";

/// Before what a copy is taken by itself, besides a change of the schema.
const OCCASIONS: [&str; 4] = [
    "before-clear",
    "before-import",
    "before-rebuild",
    "before-restore",
];

/// What the name of a copy tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) at: DateTime<Utc>,
    pub(super) number: u32,
    pub(super) occasion: Option<String>,
}

impl Name {
    /// `preferences.db.20261130T090000Z.before-clear.bak`, with a number after the time where there is one already.
    pub(super) fn written(&self, store: &OsStr) -> String {
        let mut name = format!("{}.{}", store.to_string_lossy(), self.at.format(TIME));
        if self.number > 1 {
            name.push_str(&format!("-{}", self.number));
        }
        if let Some(occasion) = &self.occasion {
            name.push_str(&format!(".{occasion}"));
        }
        name + ENDING
    }

    /// Also of the form `preferences.db.schema7-20261130T090000Z.bak`, in which copies lay beside the store before there was a
    /// folder for them.
    pub(super) fn read(store: &str, name: &str) -> Option<Self> {
        let about = name
            .strip_prefix(store)?
            .strip_prefix('.')?
            .strip_suffix(ENDING)?;
        let (moment, occasion) = match about.split_once('.') {
            Some((moment, occasion)) => (moment, Some(occasion)),
            None if about.starts_with(|c: char| c.is_ascii_digit()) => (about, None),
            None => {
                let end = about.find("Z").unwrap_or(about.len());
                let (occasion, _) = about[..end].rsplit_once('-')?;
                (&about[occasion.len() + 1..], Some(occasion))
            }
        };
        let (time, number) = match moment.split_once('-') {
            Some((time, number)) => (time, number.parse().ok()?),
            None => (moment, 1),
        };
        // With another word it is somebody's own file.
        let is_occasion = |word: &str| {
            let version = word.strip_prefix("schema");
            OCCASIONS.contains(&word)
                || version.is_some_and(|version| version.parse::<u32>().is_ok())
        };
        Some(Name {
            at: NaiveDateTime::parse_from_str(time, TIME).ok()?.and_utc(),
            number,
            occasion: occasion.filter(|word| is_occasion(word)).map(str::to_owned),
        })
        .filter(|name| name.occasion.is_some() == occasion.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const STORE: &str = "preferences.db";

    #[rstest]
    #[case("20261130T090000Z.bak", 1, None)]
    #[case("20261130T090000Z-2.bak", 2, None)]
    #[case("20261130T090000Z.before-clear.bak", 1, Some("before-clear"))]
    #[case("20261130T090000Z-12.schema7.bak", 12, Some("schema7"))]
    fn a_name_tells_when_and_before_what(
        #[case] name: &str,
        #[case] number: u32,
        #[case] occasion: Option<&str>,
    ) {
        let read = Name::read(STORE, &format!("{STORE}.{name}")).expect("it is one");
        let at: DateTime<Utc> = "2026-11-30T09:00:00Z".parse().expect("a time");
        let wanted = Name {
            at,
            number,
            occasion: occasion.map(str::to_owned),
        };
        assert_eq!(read, wanted);
        assert_eq!(read.written(OsStr::new(STORE)), format!("{STORE}.{name}"));
    }

    #[rstest]
    #[case("preferences.db.schema7-20261130T090000Z.bak", Some(("schema7", 1)))]
    #[case("preferences.db.before-import-20261130T090000Z-2.bak", Some(("before-import", 2)))]
    #[case("preferences.db.bak", None)]
    #[case("preferences.db.mine.bak", None)]
    #[case("preferences.db.mine-20261130T090000Z.bak", None)]
    #[case("preferences.db.20261130T090000Z.mine.bak", None)]
    #[case("preferences.db.20261130T090000Z.bak-wal", None)]
    #[case("preferences.db.20261130T090000Z.Mine!.bak", None)]
    #[case("other.db.20261130T090000Z.bak", None)]
    #[case("0f1e.before-install.settings.json", None)]
    fn files_of_others_are_no_copies(#[case] name: &str, #[case] old: Option<(&str, u32)>) {
        let read = Name::read(STORE, name);
        let read = read.as_ref();
        let told = read.and_then(|name| Some((name.occasion.as_deref()?, name.number)));
        assert_eq!(told, old, "{read:?}");
        assert_eq!(read.is_some(), old.is_some());
    }
}
