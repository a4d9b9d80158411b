//! Finds em dashes, and the two or three hyphens with spaces around them that stand for one in prose.

use std::ops::Range;

use super::matter::{Kind, Matter};

/// Em dashes: the sign, its double and triple forms, the small one, and how web pages write it.
const SIGNS: &[&str] = &["—", "⸺", "⸻", "﹘", "&mdash;", "&#8212;", "&#x2014;"];

/// Lines that begin with these are commands, in which `--` ends the options.
const PROGRAMS: &[&str] = &[
    "$", "git", "npm", "npx", "pnpm", "yarn", "bun", "cargo", "go", "docker", "kubectl", "make",
    "grep", "rg", "rm", "mv", "cp", "ls", "cat", "sudo", "xargs", "find", "python", "python3",
    "pip", "uv", "node", "deno", "bash", "sh", "ssh", "env", "exec", "aizo", "select", "insert",
];

/// The first dash from a place on.
pub fn find(matter: &Matter<'_>, from: usize) -> Option<Range<usize>> {
    let text = &*matter.text;
    let sign = SIGNS
        .iter()
        .flat_map(|sign| text.match_indices(sign))
        .filter(|(at, _)| *at >= from && !matter.is_code(*at))
        .min_by_key(|(at, _)| *at)
        .map(|(at, sign)| at..at + sign.len());
    let hyphens = hyphens(matter, from);
    [sign, hyphens]
        .into_iter()
        .flatten()
        .min_by_key(|range| range.start)
}

/// Hyphens that stand for a dash.
fn hyphens(matter: &Matter<'_>, from: usize) -> Option<Range<usize>> {
    let text = &*matter.text;
    if !text.contains(" --") {
        return None;
    }
    let messages = match matter.kind {
        Kind::Command => Some(matter.messages()),
        Kind::Text | Kind::Edit if !matter.is_prose() => return None,
        Kind::Text | Kind::Edit => None,
    };
    text.match_indices(" --").find_map(|(at, _)| {
        let start = at + 1;
        let end = start
            + text[start..]
                .bytes()
                .take_while(|&byte| byte == b'-')
                .count();
        let line_start = text[..at].rfind('\n').map_or(0, |line| line + 1);
        let before = &text[line_start..at];
        let after = text[end..].strip_prefix(' ')?;
        let joins = (2..=3).contains(&(end - start))
            && before
                .trim_end()
                .ends_with(|c: char| c.is_alphanumeric() || ".,;:!?)\"'”’*_`».。".contains(c))
            && after
                .trim_start_matches(' ')
                .starts_with(|c: char| c.is_alphanumeric() || "(\"'“‘*_`«".contains(c));
        let is_prose = match &messages {
            Some(messages) => messages.iter().any(|range| range.contains(&start)),
            None => !matter.is_code(start) && !is_command(before),
        };
        (joins && is_prose && start >= from).then_some(start..end)
    })
}

fn is_command(line: &str) -> bool {
    let first = line
        .trim_start_matches([' ', '\t', '-', '*', '>'])
        .split_whitespace()
        .next()
        .unwrap_or_default();
    PROGRAMS.contains(&first.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::matter::Input;
    use rstest::rstest;

    fn found(input: &Input<'_>) -> bool {
        find(&Matter::new(input), 0).is_some()
    }

    #[rstest]
    #[case("It works—mostly.")]
    #[case("It works — mostly.")]
    #[case("It works -- mostly.")]
    #[case("It works --- mostly.")]
    #[case("\"Yes\" -- he said")]
    #[case("他来了——又走了")]
    #[case("Он пришёл — и ушёл")]
    #[case("a &mdash; b")]
    #[case("see `x` -- it is there")]
    fn a_dash_is_found(#[case] text: &str) {
        assert!(found(&Input::text(text)), "in a text");
        assert!(found(&Input::edit(Some("docs/a.md"), text)), "in a file");
    }

    #[rstest]
    #[case("a well-known thing")]
    #[case("pages 3–5, 2024–2026")]
    #[case("cargo test -- --ignored")]
    #[case("git checkout -- file")]
    #[case("$ npm run build -- prod")]
    #[case("use `a -- b` here")]
    #[case("```\na -- b — c\n```")]
    #[case("| a | b |\n|---|---|")]
    #[case("---\ntitle: x\n---")]
    #[case("-- a comment in SQL")]
    #[case("--option value --other value")]
    #[case("text --flag more")]
    #[case("i-- ; --j")]
    #[case("日本語のー長音")]
    #[case("横線――これ")]
    #[case("a − b")]
    fn what_looks_like_one_is_not(#[case] text: &str) {
        assert!(!found(&Input::text(text)));
    }

    #[rstest]
    #[case("git commit -m 'fast -- and small'", true)]
    #[case("git commit -m 'fast — and small'", true)]
    #[case("git checkout main -- file", false)]
    #[case("cargo run -- add x", false)]
    fn in_a_command_only_messages_are_prose(#[case] command: &str, #[case] is_found: bool) {
        assert_eq!(found(&Input::command(command)), is_found);
    }

    #[test]
    fn two_hyphens_in_a_program_are_none() {
        assert!(!found(&Input::edit(Some("a.lua"), "x = 1 -- one")));
        assert!(found(&Input::edit(Some("a.lua"), "x = 1 -- one — two")));
    }
}
