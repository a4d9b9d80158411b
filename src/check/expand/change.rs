//! What `${name#…}`, `${name/…}` and their like make of the value of a variable.

use super::glob;
use crate::check::budget::Budget;

/// Of a longer text only the run tells.
const LONGEST: usize = 1 << 10;

/// What a sign and what stands behind it make of a text; none where that is not followed.
pub fn changed(text: &str, sign: &str, operand: &str, budget: &Budget) -> Option<String> {
    let is_plain = !operand.contains(['$', '`', '\\', '"', '\'']);
    if !is_plain || text.len().max(operand.len()) > LONGEST {
        return None;
    }
    if !budget.spend(text.len() * (1 + text.len()) * (1 + operand.len())) {
        return None;
    }
    let capital = |make: fn(&str) -> String| {
        let first = text.chars().next().map_or(0, char::len_utf8);
        make(&text[..first]) + &text[first..]
    };
    Some(match (sign, operand) {
        ("#" | "##" | "%" | "%%", pattern) => without(text, sign, pattern).to_owned(),
        ("/" | "//", operand) => replaced(text, operand, sign == "//")?,
        ("^^", "") | ("@", "U") => text.to_uppercase(),
        (",,", "") | ("@", "L") => text.to_lowercase(),
        ("^", "") | ("@", "u") => capital(|first| first.to_uppercase()),
        (",", "") => capital(|first| first.to_lowercase()),
        (":", operand) => {
            let characters: Vec<char> = text.chars().collect();
            part_of(&characters, operand)?.iter().collect()
        }
        _ => return None,
    })
}

/// A text without the beginning or the end that a pattern matches; a sign that stands twice takes the longest.
fn without<'t>(text: &'t str, sign: &str, pattern: &str) -> &'t str {
    let places = || (0..=text.len()).filter(|at| text.is_char_boundary(*at));
    let begins = |at: &usize| glob::matches(pattern, &text[..*at]);
    let ends = |at: &usize| glob::matches(pattern, &text[*at..]);
    let (start, end) = match sign {
        "#" => (places().find(begins), None),
        "##" => (places().rev().find(begins), None),
        "%" => (None, places().rev().find(ends)),
        _ => (None, places().find(ends)),
    };
    &text[start.unwrap_or(0)..end.unwrap_or(text.len())]
}

/// A text with another one in the place of a third: `old/new`.
fn replaced(text: &str, operand: &str, all: bool) -> Option<String> {
    let (old, new) = operand.split_once('/').unwrap_or((operand, ""));
    if old.is_empty() || old.starts_with(['#', '%']) || glob::is_pattern(old) {
        return None;
    }
    let times = if all { usize::MAX } else { 1 };
    Some(text.replacen(old, new, times))
}

/// The part that begins at a number, and has as many as a second one says: `1`, `1:2`, ` -1`.
pub fn part_of<'v, T>(values: &'v [T], operand: &str) -> Option<&'v [T]> {
    let (start, length) = match operand.split_once(':') {
        Some((start, length)) => (start, Some(length)),
        None => (operand, None),
    };
    let place = |text: &str, from: usize| {
        let number: isize = text.trim().parse().ok()?;
        match number {
            ..0 => values.len().checked_add_signed(number),
            _ => from.checked_add_signed(number),
        }
    };
    let start = place(start, 0)?;
    let end = match length {
        Some(length) => place(length, start)?,
        None => values.len(),
    };
    let end = end.min(values.len());
    Some(values.get(start.min(end)..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("xrm", "#", "x", Some("rm"))]
    #[case("a/b/rm", "##", "*/", Some("rm"))]
    #[case("a/b/rm", "#", "*/", Some("b/rm"))]
    #[case("rm.x.y", "%", ".*", Some("rm.x"))]
    #[case("rm.x.y", "%%", ".*", Some("rm"))]
    #[case("rm", "#", "x", Some("rm"))]
    #[case("_f_", "/", "_/-", Some("-f_"))]
    #[case("_f_", "//", "_", Some("f"))]
    #[case("RM", ",,", "", Some("rm"))]
    #[case("rm", "^", "", Some("Rm"))]
    #[case("xrmx", ":", "1:2", Some("rm"))]
    #[case("xrmx", ":", " -3:-1", Some("rm"))]
    #[case("xrm", ":", "1", Some("rm"))]
    #[case("xrm", ":", "9", Some(""))]
    #[case("rm", "#", "$x", None)]
    #[case("rm", "/", "?/x", None)]
    #[case("rm", "@", "Q", None)]
    fn a_value_is_changed(
        #[case] text: &str,
        #[case] sign: &str,
        #[case] operand: &str,
        #[case] wanted: Option<&str>,
    ) {
        let made = changed(text, sign, operand, &Budget::default());
        assert_eq!(made.as_deref(), wanted);
    }
}
