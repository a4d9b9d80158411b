//! Finds em dashes, and the two or three hyphens with spaces around them that stand for one in prose.

use std::ops::Range;

use super::matter::{Kind, Matter, is_in};

/// Em dashes: the sign, its double and triple forms, the small one, and how web pages write it.
const SIGNS: &[&str] = &["—", "⸺", "⸻", "﹘", "&mdash;", "&#8212;", "&#x2014;"];

/// Lines that begin with these are commands, in which `--` ends the options.
const PROGRAMS: &[&str] = &[
    "$", "git", "npm", "npx", "pnpm", "yarn", "bun", "cargo", "go", "docker", "kubectl", "make",
    "grep", "rg", "rm", "mv", "cp", "ls", "cat", "sudo", "xargs", "find", "python", "python3",
    "pip", "uv", "node", "deno", "bash", "sh", "ssh", "env", "exec", "aizo", "select", "insert",
];

/// The first dash in a part of what is checked.
pub fn find(matter: &Matter<'_>, within: Range<usize>) -> Option<Range<usize>> {
    let part = &matter.text[within.clone()];
    let signs = SIGNS.iter().filter_map(|sign| {
        let mut places = part.match_indices(sign).map(|(at, _)| within.start + at);
        let at = places.find(|at| !matter.is_code(*at))?;
        Some(at..at + sign.len())
    });
    signs
        .chain(hyphens(matter, within.clone()))
        .min_by_key(|range| range.start)
}

/// Hyphens that stand for a dash.
fn hyphens(matter: &Matter<'_>, within: Range<usize>) -> Option<Range<usize>> {
    let text = &*matter.text;
    if matter.kind != Kind::Command && !matter.is_prose() {
        return None;
    }
    let hits = text[within.clone()].match_indices(" --");
    let mut line = within.start..within.start;
    let mut is_command_line = false;
    for (at, _) in hits.map(|(at, sign)| (within.start + at, sign)) {
        if at >= line.end {
            let before = text[line.end..at].rfind('\n').map(|end| end + 1);
            let behind = text[at..within.end].find('\n');
            line = line.end + before.unwrap_or(0)..behind.map_or(within.end, |end| at + end);
            is_command_line = is_command(&text[line.clone()]);
        }
        let start = at + 1;
        let is_prose = match matter.kind {
            Kind::Command => is_in(matter.messages(), start),
            Kind::Text | Kind::Edit => !is_command_line && !matter.is_code(start),
        };
        if let Some(end) = dash_end(text, &line, start).filter(|_| is_prose) {
            return Some(start..end);
        }
    }
    None
}

/// Where the hyphens end that begin at a place, if they join two parts of a sentence.
fn dash_end(text: &str, line: &Range<usize>, start: usize) -> Option<usize> {
    let hyphens = text[start..].bytes().take_while(|&byte| byte == b'-');
    let end = start + hyphens.count();
    let before = text[line.start..start].trim_end().chars().next_back()?;
    let after = text[end..].strip_prefix(' ')?.trim_start_matches(' ');
    let joins = (2..=3).contains(&(end - start))
        && (before.is_alphanumeric() || ".,;:!?)\"'”’*_`».。".contains(before))
        && after.starts_with(|c: char| c.is_alphanumeric() || "(\"'“‘*_`«".contains(c));
    joins.then_some(end)
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
        let matter = Matter::new(input);
        find(&matter, 0..matter.text.len()).is_some()
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
