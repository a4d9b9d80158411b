//! Reads records of JSON that may be damaged: what can be put right is put right and told, the rest is told.

use std::borrow::Cow;
use std::fmt::Display;

use memchr::memmem;
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use super::problem::{ProblemKind, Problems};

/// In how many places a whole record is looked for behind a damaged one.
const MOST_TRIES: usize = 100;

/// Hands every record in `bytes` to `with`. Mostly there is one.
pub(crate) fn records<T: DeserializeOwned>(
    bytes: &[u8],
    place: impl Display,
    problems: &mut Problems,
    mut with: impl FnMut(T),
) {
    match serde_json::from_slice(bytes) {
        Ok(record) => with(record),
        Err(_) => repair(bytes, &place, problems, &mut with),
    }
}

/// The first record in `bytes`, where nobody wants to hear what is wrong with it.
pub(super) fn first<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let mut found = None;
    records(bytes, "", &mut Problems::default(), |record| {
        if found.is_none() {
            found = Some(record);
        }
    });
    found
}

/// Whether a line looks like records from end to end: for lines that are not parsed.
pub(super) fn looks_whole(bytes: &[u8]) -> bool {
    bytes.first() == Some(&b'{') && bytes.trim_ascii_end().last() == Some(&b'}')
}

fn repair<T: DeserializeOwned>(
    bytes: &[u8],
    place: &dyn Display,
    problems: &mut Problems,
    with: &mut dyn FnMut(T),
) {
    let bytes = without_prefix(bytes, place, problems);
    if bytes.is_empty() {
        return;
    }
    let mut bytes: Cow<'_, [u8]> = match std::str::from_utf8(bytes) {
        Ok(_) => Cow::Borrowed(bytes),
        Err(_) => {
            problems.met(ProblemKind::BadUtf8, place);
            Cow::Owned(String::from_utf8_lossy(bytes).into_owned().into_bytes())
        }
    };
    if let Some(whole) = with_whole_surrogates(&bytes) {
        problems.met(ProblemKind::LoneSurrogate, place);
        bytes = Cow::Owned(whole);
    }
    let mut found = 0;
    let mut rest: &[u8] = &bytes;
    while !rest.is_empty() {
        let mut stream = serde_json::Deserializer::from_slice(rest).into_iter::<T>();
        match stream.next() {
            None => break,
            Some(Ok(record)) => {
                found += 1;
                if found == 2 {
                    problems.met(ProblemKind::GluedRecords, place);
                }
                with(record);
                rest = &rest[stream.byte_offset()..];
                // Zero bytes may stand between or behind.
                let start = rest.iter().position(|byte| !blank(*byte));
                rest = start.map_or(&[], |start| &rest[start..]);
            }
            Some(Err(error)) => {
                problems.met(kind_of(&error), place);
                // A record that was cut when the next one began: that one may be whole.
                let next = memmem::find_iter(rest, b"{\"")
                    .filter(|&at| at > 0)
                    .take(MOST_TRIES)
                    .find(|&at| ends_the_line(&rest[at..]));
                match next {
                    Some(at) => rest = &rest[at..],
                    None => return,
                }
            }
        }
    }
}

/// Whether what begins here is a record that ends the line: a part of a damaged record has a rest behind it.
fn ends_the_line(bytes: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}

fn kind_of(error: &serde_json::Error) -> ProblemKind {
    match error.classify() {
        Category::Data => ProblemKind::UnknownShape,
        _ => ProblemKind::NotJson,
    }
}

fn blank(byte: u8) -> bool {
    byte == 0 || byte.is_ascii_whitespace()
}

/// What a line holds behind zero bytes, a byte order mark and a number.
fn without_prefix<'a>(bytes: &'a [u8], place: &dyn Display, problems: &mut Problems) -> &'a [u8] {
    let zeros = bytes.contains(&0);
    let trim = |bytes: &'a [u8]| {
        let from = bytes.iter().position(|byte| !blank(*byte));
        let to = bytes.iter().rposition(|byte| !blank(*byte));
        match (from, to) {
            (Some(from), Some(to)) => &bytes[from..=to],
            _ => &[],
        }
    };
    if zeros {
        problems.met(ProblemKind::ZeroBytes, place);
    }
    let mut rest = trim(bytes);
    if let Some(behind) = rest.strip_prefix(b"\xEF\xBB\xBF") {
        problems.met(ProblemKind::ByteOrderMark, place);
        rest = trim(behind);
    }
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits > 0 {
        let behind = trim(&rest[digits..]);
        let behind = [&b"\xE2\x86\x92"[..], b":", b"|"]
            .iter()
            .find_map(|sign| behind.strip_prefix(*sign))
            .map_or(behind, trim);
        if behind.first() == Some(&b'{') {
            problems.met(ProblemKind::NumberedLine, place);
            rest = behind;
        }
    }
    rest
}

/// The text with every half of a surrogate pair replaced; nothing where there is none.
pub(super) fn with_whole_surrogates(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    let (mut at, mut copied) = (0, 0);
    while let Some(slash) = memchr::memchr(b'\\', &bytes[at..]) {
        let escape = at + slash;
        let Some(unit) = unit(&bytes[escape..]) else {
            // Another escape: what it escapes is passed over too, a backslash above all.
            at = (escape + 2).min(bytes.len());
            continue;
        };
        at = escape + 6;
        match unit {
            0xD800..0xDC00
                if self::unit(&bytes[at..]).is_some_and(|low| (0xDC00..0xE000).contains(&low)) =>
            {
                at += 6;
            }
            0xD800..0xE000 => {
                whole.extend_from_slice(&bytes[copied..escape]);
                whole.extend_from_slice(b"\\ufffd");
                copied = at;
            }
            _ => {}
        }
    }
    (copied > 0).then(|| {
        whole.extend_from_slice(&bytes[copied..]);
        whole
    })
}

/// The number of a `\uXXXX` at the beginning.
fn unit(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// The text of a member `name` that stands only once in a record, found without parsing it. Nothing is said where
/// the name stands more often, or holds no plain text.
pub(super) fn member<'a>(record: &'a [u8], quoted_name: &memmem::Finder<'_>) -> Member<'a> {
    let mut places = quoted_name.find_iter(record);
    let Some(at) = places.next() else {
        return Member::Missing;
    };
    if places.next().is_some() {
        return Member::Unclear;
    }
    let rest = record[at + quoted_name.needle().len()..].trim_ascii_start();
    let Some(rest) = rest.strip_prefix(b":").map(<[u8]>::trim_ascii_start) else {
        return Member::Unclear;
    };
    if rest.starts_with(b"null") {
        return Member::Missing;
    }
    let Some(rest) = rest.strip_prefix(b"\"") else {
        return Member::Unclear;
    };
    match memchr::memchr2(b'"', b'\\', rest) {
        Some(end) if rest[end] == b'"' => Member::Text(&rest[..end]),
        _ => Member::Unclear,
    }
}

/// What [`member`] finds.
#[derive(Debug, PartialEq)]
pub(super) enum Member<'a> {
    /// This text.
    Text(&'a [u8]),
    /// No such member, or `null`.
    Missing,
    /// Only parsing can tell.
    Unclear,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn read(bytes: &[u8]) -> (Vec<String>, Vec<ProblemKind>) {
        let mut problems = Problems::default();
        let mut values = Vec::new();
        records(bytes, "line 1", &mut problems, |value: Value| {
            values.push(value.to_string());
        });
        let kinds = problems.into_vec().iter().map(|one| one.kind).collect();
        (values, kinds)
    }

    #[test]
    fn damage_is_put_right_where_it_can_be_and_always_told() {
        use ProblemKind::*;
        let cases: [(&[u8], &[&str], &[ProblemKind]); 11] = [
            (br#"{"a":1}"#, &[r#"{"a":1}"#], &[]),
            (b"\0\0{\"a\":1}\0", &[r#"{"a":1}"#], &[ZeroBytes]),
            (b"\0\0\0", &[], &[ZeroBytes]),
            (b"\xEF\xBB\xBF{}", &["{}"], &[ByteOrderMark]),
            (b"12\t{}", &["{}"], &[NumberedLine]),
            ("  7→{}".as_bytes(), &["{}"], &[NumberedLine]),
            (
                br#"{"a":1}{"b":2}"#,
                &[r#"{"a":1}"#, r#"{"b":2}"#],
                &[GluedRecords],
            ),
            (br#"{"a":"x{"b":2}"#, &[r#"{"b":2}"#], &[NotJson]),
            (
                br#"{"a":"\ud83d no"}"#,
                &["{\"a\":\"\u{fffd} no\"}"],
                &[LoneSurrogate],
            ),
            (b"{\"a\":\"\xff\"}", &["{\"a\":\"\u{fffd}\"}"], &[BadUtf8]),
            (b"so what", &[], &[NotJson]),
        ];
        for (bytes, values, kinds) in cases {
            let (found, problems) = read(bytes);
            let text = String::from_utf8_lossy(bytes).into_owned();
            assert_eq!(found, values, "{text}");
            assert_eq!(problems, kinds, "{text}");
        }
    }

    #[test]
    fn pairs_of_surrogates_and_escaped_backslashes_stay() {
        assert_eq!(with_whole_surrogates(br#"\ud83d\ude00 \\ud83d"#), None);
        assert_eq!(
            with_whole_surrogates(br#"\ude00\ud83d"#).as_deref(),
            Some(&br#"\ufffd\ufffd"#[..])
        );
    }

    #[test]
    fn a_member_is_found_without_parsing_where_that_is_safe() {
        let uuid = memmem::Finder::new(b"\"uuid\"");
        assert_eq!(member(br#"{"uuid" : "u1"}"#, &uuid), Member::Text(b"u1"));
        assert_eq!(member(br#"{"uuid":null}"#, &uuid), Member::Missing);
        assert_eq!(member(br#"{"parentUuid":"x"}"#, &uuid), Member::Missing);
        assert_eq!(
            member(br#"{"uuid":"a","b":{"uuid":"c"}}"#, &uuid),
            Member::Unclear
        );
    }
}
