//! Lists of rules and memories in plain text: the bullets of `CLAUDE.md`, `AGENTS.md` and Cursor's rules, and memories that were
//! copied from ChatGPT's settings, one a line.

use super::piece::{Heading, Told, Voice};
use crate::capture::{marker, moment};
use crate::model::{Stamp, fold};

/// A text and its line.
pub(super) type Placed = (u64, Told);

/// Whether a text is a list of memories about a person and not one of rules.
pub(super) fn is_about_the_person(text: &str) -> bool {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let about = lines().filter(|line| {
        let bare = without_bullet(line).unwrap_or(line);
        let (at, rest) = without_date(bare);
        at.is_some() || super::heard::is_about_the_person(rest)
    });
    about.count() * 2 > lines().count()
}

/// The rules in a text: its bullets and the paragraphs beside them; each line, where it has no bullets. Code, front matter,
/// headings, tables and what aizo wrote itself are passed over.
pub(super) fn rules(text: &str) -> Vec<Placed> {
    let text = marker::blank(text);
    let mut reader = Reader::default();
    let mut lines = text.lines().zip(1..).peekable();
    if lines
        .peek()
        .is_some_and(|(line, _)| line.trim_end() == "---")
        && text.matches("\n---").count() > 0
    {
        lines.next();
        lines
            .by_ref()
            .take_while(|(line, _)| line.trim_end() != "---")
            .for_each(drop);
    }
    for (line, number) in lines {
        reader.line(line, number);
    }
    reader.finish()
}

/// The memories in a text, a line each.
pub(super) fn memories(text: &str) -> Vec<Placed> {
    let text = marker::blank(text);
    let lines = text.lines().zip(1..).filter_map(|(line, number)| {
        let line = line.trim();
        let is_frame = line.is_empty() || line.starts_with('#') || line.starts_with("```");
        let (at, rest) = without_date(without_bullet(line).unwrap_or(line));
        let told = Told {
            at,
            ..Told::new(plain(rest), Voice::AboutThePerson)
        };
        (!is_frame && !told.text.is_empty()).then_some((number, told))
    });
    lines.collect()
}

#[derive(Default)]
struct Reader {
    bullets: Vec<Placed>,
    /// The lines that are no bullets, and whether each goes on with the one before it.
    lines: Vec<(Placed, bool)>,
    /// Whether the last line may go on in the next.
    is_open: bool,
    in_paragraph: bool,
    fence: Option<String>,
    in_comment: bool,
    under: Option<Heading>,
}

impl Reader {
    fn line(&mut self, line: &str, number: u64) {
        let text = line.trim();
        let goes_on = std::mem::take(&mut self.in_paragraph);
        if let Some(fence) = &self.fence {
            if text.starts_with(fence.as_str()) {
                self.fence = None;
            }
            return;
        }
        if self.in_comment {
            self.in_comment = !text.contains("-->");
            return;
        }
        if text.starts_with("```") || text.starts_with("~~~") {
            self.fence = Some(text[..3].to_owned());
            self.is_open = false;
        } else if text.starts_with("<!--") {
            self.in_comment = !text.contains("-->");
        } else if text.starts_with('#') {
            self.under = heading(text.trim_start_matches('#').trim());
            self.is_open = false;
        } else if text.is_empty()
            || text.starts_with('|')
            || text.chars().all(|c| "-=*_".contains(c))
        {
            self.is_open = false;
        } else if let Some(bullet) = without_bullet(text) {
            self.is_open = !bullet.is_empty();
            if self.is_open {
                self.bullets.push((number, self.told(bullet)));
            }
        } else if self.is_open && line.starts_with([' ', '\t']) {
            if let Some((_, told)) = self.bullets.last_mut() {
                told.text.push(' ');
                told.text.push_str(&plain(text));
            }
        } else {
            self.is_open = false;
            // A line that announces a list says nothing of its own.
            if text.ends_with([':', '：']) {
                self.under = heading(text.trim_end_matches([':', '：']));
            } else if !text.starts_with('@') {
                self.lines.push(((number, self.told(text)), goes_on));
                self.in_paragraph = true;
            }
        }
    }

    fn told(&self, text: &str) -> Told {
        Told {
            under: self.under,
            ..Told::new(without_label(&plain(text)).to_owned(), Voice::ThePerson)
        }
    }

    fn finish(self) -> Vec<Placed> {
        let mut found = self.bullets;
        let are_all = found.is_empty();
        let mut paragraph: Option<usize> = None;
        for ((number, mut told), goes_on) in self.lines {
            match paragraph.filter(|_| goes_on && !are_all) {
                Some(at) => {
                    let (_, before) = &mut found[at];
                    before.text.push(' ');
                    before.text.push_str(&told.text);
                }
                None => {
                    told.is_prose = !are_all;
                    paragraph = Some(found.len());
                    found.push((number, told));
                }
            }
        }
        found.retain(|(_, told)| !told.text.is_empty());
        found.sort_by_key(|(number, _)| *number);
        found
    }
}

/// What a heading says of the things under it, where it speaks against them.
fn heading(text: &str) -> Option<Heading> {
    const AGAINST: [(&str, Heading); 16] = [
        ("never", Heading::Never),
        ("do not", Heading::Never),
        ("don't", Heading::Never),
        ("dont", Heading::Never),
        ("don'ts", Heading::Never),
        ("donts", Heading::Never),
        ("forbidden", Heading::Never),
        ("prohibited", Heading::Never),
        ("not allowed", Heading::Never),
        ("no-gos", Heading::Never),
        ("禁止", Heading::Never),
        ("禁止事項", Heading::Never),
        ("금지", Heading::Never),
        ("不要", Heading::Never),
        ("avoid", Heading::Avoid),
        ("避免", Heading::Avoid),
    ];
    /// "Never do this" still does; a sentence of its own does not.
    const LONGEST_REST: usize = 20;
    let text = fold(text).replace('’', "'");
    let text = text.trim_matches(|c: char| !c.is_alphanumeric());
    let speaks = |words: &str| {
        text.strip_prefix(words).is_some_and(|rest| {
            rest.is_empty() || rest.starts_with([' ', ':', '：']) && rest.len() < LONGEST_REST
        })
    };
    let (_, heading) = AGAINST.iter().find(|(words, _)| speaks(words))?;
    Some(*heading)
}

/// What stands behind the sign of a list.
fn without_bullet(line: &str) -> Option<&str> {
    let signs = ["- ", "* ", "+ ", "• ", "– ", "— ", "・"];
    let rest = signs
        .iter()
        .find_map(|sign| line.strip_prefix(sign))
        .or_else(|| {
            let digits = line.bytes().take_while(u8::is_ascii_digit).count();
            let rest = line[digits..].strip_prefix(['.', ')', '、'])?;
            (1..=3)
                .contains(&digits)
                .then_some(rest)
                .filter(|rest| rest.starts_with(' ') || line[digits..].starts_with('、'))
        })?;
    let rest = rest.trim_start();
    let boxes = ["[ ] ", "[x] ", "[X] "];
    Some(
        boxes
            .iter()
            .find_map(|sign| rest.strip_prefix(sign))
            .unwrap_or(rest)
            .trim(),
    )
}

/// A date in brackets before the text: `[2026-03-01] - likes tea`.
fn without_date(line: &str) -> (Option<Stamp>, &str) {
    let day = |text: &str| {
        moment::of_text(&format!("{} 00:00", text.trim())).or_else(|| moment::of_text(text))
    };
    let split = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    match split.and_then(|(date, rest)| Some((day(date)?, rest))) {
        Some((at, rest)) => (
            Some(at),
            rest.trim_start_matches([' ', '-', '–', '—', ':']).trim(),
        ),
        None => (None, line),
    }
}

/// A text without the word before it that only says how much it matters: "IMPORTANT: never push".
fn without_label(text: &str) -> &str {
    const LABELS: [&str; 12] = [
        "important",
        "very important",
        "note",
        "please note",
        "nb",
        "warning",
        "caution",
        "attention",
        "critical",
        "重要",
        "注意",
        "警告",
    ];
    match text.split_once([':', '：']) {
        Some((label, rest)) if LABELS.contains(&fold(label).trim()) => rest.trim(),
        _ => text,
    }
}

/// The words without the signs of Markdown around them.
fn plain(text: &str) -> String {
    let text = text.replace("**", "").replace("__", "").replace('`', "");
    text.trim().trim_matches('"').trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(found: &[Placed]) -> Vec<(u64, &str, Option<Heading>)> {
        found
            .iter()
            .map(|(line, told)| (*line, told.text.as_str(), told.under))
            .collect()
    }

    #[test]
    fn the_bullets_of_a_context_file_are_its_rules() {
        let text = "---\nglobs: \"*\"\n---\n# Rules\nIntroduction.\n\n- Use **pnpm**\n  and no npm\n* [ ] `snake_case` names\n1. Short answers\n\n```sh\n- not this\n```\n<!-- - nor this -->\n## Never\n- force-push\n\n## Style\n- tabs\n<!-- aizo:begin claude-md -->\n- written by aizo\n<!-- aizo:end -->\n- last";
        let found = rules(text);
        let prose = found.iter().filter(|(_, told)| told.is_prose);
        assert_eq!(prose.map(|(line, _)| *line).collect::<Vec<_>>(), [5]);
        assert_eq!(
            texts(&found),
            [
                (5, "Introduction.", None),
                (7, "Use pnpm and no npm", None),
                (9, "snake_case names", None),
                (10, "Short answers", None),
                (17, "force-push", Some(Heading::Never)),
                (20, "tabs", None),
                (24, "last", None),
            ]
        );
    }

    #[test]
    fn a_file_without_bullets_has_a_rule_a_line() {
        assert_eq!(
            texts(&rules("You write Rust.\n\nNever use unwrap.\nDon't:\n")),
            [(1, "You write Rust.", None), (3, "Never use unwrap.", None)]
        );
    }

    #[test]
    fn memories_have_their_dates() {
        let found = memories("# Memories\n[2026-03-01] - User likes tea\n- Is called Anna\n");
        assert_eq!(
            texts(&found),
            [(2, "User likes tea", None), (3, "Is called Anna", None)]
        );
        assert_eq!(
            found[0].1.at.as_ref().map(|at| at.0.as_str()),
            Some("2026-03-01T00:00:00+00:00")
        );
        assert!(is_about_the_person(
            "User likes tea.\nThe user prefers tabs.\n"
        ));
        assert!(!is_about_the_person("- Use tabs.\n- Never push.\n"));
    }
}
