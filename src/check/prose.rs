//! What a text is made of: lines, prose and code, and the parts of it that a shell would run or that name what it could run.

use std::ops::Range;

use crate::model::beginning;

/// What a text is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// For people.
    Prose,
    /// A program's source, or whatever else a program reads.
    Code,
}

impl Medium {
    /// What a file of this name is written in; none where the name does not say it.
    pub fn of(path: &str) -> Option<Self> {
        const PROSE: [&str; 10] = [
            "md", "markdown", "txt", "rst", "adoc", "org", "tex", "html", "htm", "mdx",
        ];
        let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
        let (_, ending) = name.rsplit_once('.')?;
        Some(if PROSE.contains(&ending.to_lowercase().as_str()) {
            Medium::Prose
        } else {
            Medium::Code
        })
    }
}

/// A part of a text that a shell would run, or that names what it could run.
pub struct Script {
    pub range: Range<usize>,
    /// What is run, where it is written in another way there.
    pub text: Option<String>,
    /// Whether it is run, and not only spoken of.
    pub is_run: bool,
}

impl Script {
    /// One that is as it is written.
    pub fn written(range: Range<usize>, is_run: bool) -> Self {
        Script {
            range,
            text: None,
            is_run,
        }
    }
}

/// The lines of a text, without their ends.
pub fn lines(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        start..start + line.trim_end_matches(['\n', '\r']).len()
    })
}

/// A code block: its language, and where its lines are.
struct Fence {
    language: String,
    range: Range<usize>,
}

/// Whether a place is in one of the blocks.
fn is_fenced(blocks: &[Fence], at: usize) -> bool {
    let next = blocks.partition_point(|fence| fence.range.start <= at);
    next > 0 && blocks[next - 1].range.contains(&at)
}

fn fences(text: &str) -> Vec<Fence> {
    let mut found: Vec<Fence> = Vec::new();
    let mut open: Option<(&str, Fence)> = None;
    for line in lines(text) {
        let content = text[line.clone()].trim_start();
        let sign = ["```", "~~~"]
            .into_iter()
            .find(|sign| content.starts_with(sign));
        open = match (open.take(), sign) {
            (Some((with, mut fence)), Some(sign)) if sign == with => {
                fence.range.end = line.start;
                found.push(fence);
                None
            }
            (None, Some(sign)) => {
                let language = content.trim_start_matches(['`', '~']);
                // "```x``` y" is a span.
                (!language.contains('`')).then(|| {
                    let start = (line.end + 1).min(text.len());
                    let fence = Fence {
                        language: language.trim().to_lowercase(),
                        range: start..text.len(),
                    };
                    (sign, fence)
                })
            }
            (open, _) => open,
        };
    }
    found.extend(open.map(|(_, fence)| fence));
    found
}

/// The code spans of a line, without their backticks.
fn spans(line: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(open) = line[at..].find('`').map(|open| at + open) {
        let ticks = line[open..]
            .bytes()
            .take_while(|&byte| byte == b'`')
            .count();
        let start = open + ticks;
        let fence = &line[open..start];
        let Some(length) = line[start..].find(fence) else {
            break;
        };
        found.push(start..start + length);
        at = start + length + ticks;
    }
    found
}

/// Where code stands in a text: blocks and spans, in order.
pub fn code_in(text: &str) -> Vec<Range<usize>> {
    let blocks = fences(text);
    let mut found: Vec<Range<usize>> = blocks.iter().map(|fence| fence.range.clone()).collect();
    for line in lines(text) {
        if !is_fenced(&blocks, line.start) {
            let of_line = spans(&text[line.clone()]).into_iter();
            found.extend(of_line.map(|span| line.start + span.start..line.start + span.end));
        }
    }
    found.sort_by_key(|range| range.start);
    found
}

/// Words of a sentence: a line that begins with a command and holds one of them tells about the command.
const TELLING: &[&str] = &[
    "is", "are", "was", "were", "should", "would", "could", "must", "might", "may", "can",
    "cannot", "can't", "never", "because", "which", "has", "will",
];

/// Words that speak against what follows them in a line.
const AGAINST: &[&str] = &[
    "never",
    "don't",
    "don’t",
    "do not",
    "not ",
    "no ",
    "avoid",
    "instead of",
    "without",
    "rather than",
    "不",
    "别",
    "禁",
    "避免",
    "勿",
    "没",
];

/// How many bytes before a code span are read for such words.
const NEAR: usize = 160;

/// Programs whose arguments are texts: what they say is not run.
const SPEAKERS: &[&str] = &["echo", "printf", "git", "grep", "rg", "cat", "sed", "awk"];

/// The blocks of a text that are written for a shell; of one that shows a prompt the lines behind it.
fn blocks_of_shell(text: &str, blocks: &[Fence]) -> Vec<Range<usize>> {
    const SHELLS: [&str; 8] = [
        "",
        "sh",
        "bash",
        "shell",
        "zsh",
        "console",
        "shell-session",
        "terminal",
    ];
    let mut found = Vec::new();
    for fence in blocks {
        if !SHELLS.contains(&fence.language.as_str()) {
            continue;
        }
        let body = &text[fence.range.clone()];
        let before = found.len();
        let prompted = lines(body).filter(|line| body[line.clone()].starts_with("$ "));
        found.extend(
            prompted.map(|line| fence.range.start + line.start + 2..fence.range.start + line.end),
        );
        if found.len() == before {
            found.push(fence.range.clone());
        }
    }
    found
}

/// Whether a text that begins with a command is a sentence about it.
pub fn tells(text: &str) -> bool {
    text.split_whitespace()
        .any(|word| TELLING.contains(&word.to_lowercase().as_str()))
}

/// What a text has a shell run: lines that are commands, code spans, blocks of shell; and, as spoken of only, commands
/// within sentences.
pub fn scripts_in(text: &str) -> Vec<Script> {
    let blocks = fences(text);
    let of_blocks = blocks_of_shell(text, &blocks).into_iter();
    let mut found: Vec<Script> = of_blocks
        .map(|range| Script::written(range, true))
        .collect();
    for line in lines(text) {
        if is_fenced(&blocks, line.start) {
            continue;
        }
        let content = &text[line.clone()];
        let mut has_span = false;
        for span in spans(content) {
            let from = beginning(content, span.start.saturating_sub(NEAR)).len();
            let before = content[from..span.start].to_lowercase();
            has_span = true;
            let is_run = !AGAINST.iter().any(|word| before.contains(word));
            let range = line.start + span.start..line.start + span.end;
            found.push(Script::written(range, is_run));
        }
        if has_span {
            continue;
        }
        let command = without_bullet(content);
        let start = line.end - command.len();
        found.push(Script::written(start..line.end, !tells(command)));
        let first = command.split_whitespace().next().unwrap_or_default();
        if SPEAKERS.contains(&first) {
            continue;
        }
        for program in ["git ", "rm "] {
            for (at, _) in command.match_indices(program).take(8) {
                let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '/' | '.');
                if at > 0 && !command[..at].ends_with(is_word) {
                    found.push(Script::written(start + at..line.end, false));
                }
            }
        }
    }
    found
}

/// The commands that a file shows which is written for people: blocks of shell, and lines that are commands. A code span and
/// a sentence only name one.
pub fn shown_in(text: &str) -> Vec<Range<usize>> {
    let blocks = fences(text);
    let mut found = blocks_of_shell(text, &blocks);
    for line in lines(text) {
        let content = &text[line.clone()];
        let command = without_bullet(content);
        let is_sign = command.starts_with("```") || command.starts_with("~~~");
        let is_fence = is_sign || is_fenced(&blocks, line.start);
        if !is_fence && spans(content).is_empty() && !tells(command) {
            found.push(line.end - command.len()..line.end);
        }
    }
    found
}

/// The lines of a file that a program reads, those made one that a backslash joins.
pub fn joined_lines(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut goes_on = false;
    for line in lines(text) {
        let is_joined = goes_on;
        goes_on = text[line.clone()].ends_with('\\');
        match found.last_mut() {
            Some(last) if is_joined => last.end = line.end,
            _ => found.push(line),
        }
    }
    found
}

/// Whether a file is a script of a shell, by its name or its first line.
pub fn is_script(path: Option<&str>, text: &str) -> bool {
    const ENDINGS: [&str; 5] = [".sh", ".bash", ".zsh", ".ksh", ".bats"];
    let first = text.lines().next().unwrap_or_default();
    first.starts_with("#!") && first.trim_end().ends_with("sh")
        || path.is_some_and(|path| ENDINGS.iter().any(|ending| path.ends_with(ending)))
}

/// A line without what makes it an item of a list, a quotation, or a line after a prompt.
fn without_bullet(line: &str) -> &str {
    let mut rest = line.trim_start();
    loop {
        let before = rest;
        for sign in ["- ", "* ", "+ ", "> ", "$ ", "[ ] ", "[x] "] {
            rest = rest.strip_prefix(sign).unwrap_or(rest).trim_start();
        }
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 {
            let after = &rest[digits..];
            let after = after
                .strip_prefix(". ")
                .or_else(|| after.strip_prefix(") "));
            rest = after.unwrap_or(rest).trim_start();
        }
        if rest == before {
            return rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("- Never run `git push -f`.\nThen:\n```sh\nrm -rf x\n```\nend", &["rm -rf x\n", "Then:", "end"])]
    #[case("- git push -f\ngit push -f is bad\n```python\nrm\n```", &["git push -f"])]
    fn a_file_for_people_shows_blocks_and_lines(#[case] text: &str, #[case] wanted: &[&str]) {
        let shown = shown_in(text).into_iter().map(|range| &text[range]);
        assert_eq!(shown.collect::<Vec<_>>(), wanted);
    }

    #[rstest]
    #[case("a \\\n b\nc\n", &["a \\\n b", "c"])]
    #[case("a\r\nb \\\r\nc", &["a", "b \\\r\nc"])]
    #[case("a \\", &["a \\"])]
    fn a_backslash_joins_lines(#[case] text: &str, #[case] wanted: &[&str]) {
        let lines = joined_lines(text).into_iter().map(|range| &text[range]);
        assert_eq!(lines.collect::<Vec<_>>(), wanted);
    }
}
