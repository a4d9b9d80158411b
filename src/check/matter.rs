//! What is checked, and what of it counts: of a patch only the added lines; which programs it runs or speaks of, and which
//! messages and secrets it holds.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use super::budget::Budget;
use super::build::Build;
use super::git;
use super::invocation::{Invocation, around, command_of, invocations};
use super::patch::Added;
use super::prose::{Medium, Script, code_in, is_script, joined_lines, scripts_in, shown_in};
use super::reading;
use super::shell::{self, Parsed, Simple};
use super::spelled::{Spelled, spelled};
use super::statement::Statements;
use crate::redact::{self, Secret};

/// What kind of thing is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A plan, a message, a draft; where it is a patch, its added lines.
    Text,
    /// A command line or a script that is about to run.
    Command,
    /// Text that is about to be written to a file.
    Edit,
}

/// What is checked.
#[derive(Debug, Clone, Copy)]
pub struct Input<'t> {
    /// Its kind.
    pub kind: Kind,
    /// The text.
    pub text: &'t str,
    /// The file that it is, or would be, in.
    pub path: Option<&'t str>,
    /// Whether what is written is a patch. A text says so itself.
    pub is_patch: bool,
    /// Whether the text is for somebody to read, so that nothing that it shows is run.
    pub is_message: bool,
}

impl<'t> Input<'t> {
    /// A plan, a message, a draft or a patch.
    pub fn text(text: &'t str) -> Self {
        Input {
            kind: Kind::Text,
            text,
            path: None,
            is_patch: false,
            is_message: false,
        }
    }

    /// A message, or whatever else goes to another program.
    pub fn message(text: &'t str) -> Self {
        Input {
            is_message: true,
            ..Input::text(text)
        }
    }

    /// A command line or a script that is about to run.
    pub fn command(text: &'t str) -> Self {
        Input {
            kind: Kind::Command,
            ..Input::text(text)
        }
    }

    /// Text that is about to be written to a file.
    pub fn edit(path: Option<&'t str>, text: &'t str) -> Self {
        Input {
            kind: Kind::Edit,
            path,
            ..Input::text(text)
        }
    }

    /// A patch that is about to be applied.
    pub fn patch(text: &'t str) -> Self {
        Input {
            is_patch: true,
            ..Input::edit(None, text)
        }
    }
}

/// A program that is run, and how sure that is.
#[derive(Debug)]
pub struct Run {
    /// The program.
    pub invocation: Invocation,
    /// Whether it is run, and not only spoken of.
    pub is_sure: bool,
}

/// The secrets of a text.
pub struct Secrets {
    /// Where they are, in order.
    pub found: Vec<(Range<usize>, Secret)>,
    /// Whether all of the text was looked at.
    pub is_whole: bool,
}

/// Where the messages of commits stand.
pub struct Messages {
    /// Of those that are made for certain.
    pub sure: Vec<Range<usize>>,
    /// Of those that may be.
    pub unsure: Vec<Range<usize>>,
}

/// What is checked, made ready.
pub struct Matter<'t> {
    /// What counts of the text.
    pub text: Cow<'t, str>,
    pub kind: Kind,
    pub path: Option<&'t str>,
    /// The files that are written to.
    pub paths: Vec<&'t str>,
    /// Where each part of it begins, here and in the text that was given.
    parts: Vec<(usize, usize)>,
    is_patch: bool,
    is_message: bool,
    budget: Budget,
    code: OnceCell<Vec<Range<usize>>>,
    lower: OnceCell<String>,
    bare: OnceCell<String>,
    parsed: OnceCell<Parsed>,
    spelled: OnceCell<Vec<Spelled>>,
    runs: OnceCell<Vec<Run>>,
    statements: OnceCell<Statements>,
    messages: OnceCell<Vec<Range<usize>>>,
    commit_messages: OnceCell<Messages>,
    secrets: OnceCell<Secrets>,
}

impl<'t> Matter<'t> {
    /// Reads an input.
    pub fn new(input: &Input<'t>) -> Self {
        // A file may hold what looks like a patch, and is written as it is.
        let patch = match input.kind {
            Kind::Command => None,
            Kind::Edit if !input.is_patch => None,
            Kind::Text | Kind::Edit => Added::read(input.text),
        };
        let is_patch = patch.is_some();
        let (text, parts, mut paths) = match patch {
            Some(patch) => (Cow::Owned(patch.text), patch.parts, patch.paths),
            None => (Cow::Borrowed(input.text), vec![(0, 0)], Vec::new()),
        };
        if input.kind == Kind::Edit {
            paths.extend(input.path);
        }
        Matter {
            text,
            kind: input.kind,
            path: input.path,
            paths,
            parts,
            is_patch,
            is_message: input.is_message,
            budget: Budget::default(),
            code: OnceCell::new(),
            lower: OnceCell::new(),
            bare: OnceCell::new(),
            parsed: OnceCell::new(),
            spelled: OnceCell::new(),
            runs: OnceCell::new(),
            statements: OnceCell::new(),
            messages: OnceCell::new(),
            commit_messages: OnceCell::new(),
            secrets: OnceCell::new(),
        }
    }

    /// Where a place in what counts stands in the text that was given.
    pub fn place(&self, range: &Range<usize>) -> Range<usize> {
        let there = |at: usize| {
            let part = self.parts.partition_point(|(here, _)| *here <= at);
            let (here, given) = self.parts[part.saturating_sub(1)];
            given + (at - here)
        };
        let start = there(range.start);
        let end = if range.is_empty() {
            start
        } else {
            there(range.end - 1) + 1
        };
        start..end
    }

    /// The text in small ASCII letters.
    pub fn lower(&self) -> &str {
        self.lower.get_or_init(|| self.text.to_ascii_lowercase())
    }

    /// The text in small ASCII letters, without what may stand within a word of a shell and is no part of it.
    pub fn bare(&self) -> &str {
        self.bare.get_or_init(|| {
            let mut bare = self.text.to_ascii_lowercase();
            bare.retain(|c| !matches!(c, '\'' | '"' | '\\' | '\n' | '\r'));
            bare
        })
    }

    /// Whether the text is written for people: not a program's source.
    pub fn is_prose(&self) -> bool {
        self.kind != Kind::Command
            && self.path.and_then(Medium::of).unwrap_or(Medium::Prose) == Medium::Prose
    }

    /// What is written; none where that is not to be told, or different things are.
    pub fn medium(&self) -> Option<Medium> {
        let mut all = self.paths.iter().copied().chain(self.path).map(Medium::of);
        let first = all.next()??;
        all.all(|one| one == Some(first)).then_some(first)
    }

    /// Where code blocks and code spans are, in order.
    pub fn code(&self) -> &[Range<usize>] {
        self.code.get_or_init(|| match self.kind {
            Kind::Command => Vec::new(),
            Kind::Text | Kind::Edit => code_in(&self.text),
        })
    }

    /// Whether a place is in a code block or a code span.
    pub fn is_code(&self, at: usize) -> bool {
        is_in(self.code(), at)
    }

    /// Its secrets, as far as they were looked for.
    pub fn secrets(&self) -> &Secrets {
        self.secrets.get_or_init(|| {
            let budget = Budget::for_text(self.text.len());
            let (found, is_whole) = redact::find_within(&self.text, &|steps| budget.spend(steps));
            Secrets { found, is_whole }
        })
    }

    fn parsed(&self) -> &Parsed {
        self.parsed.get_or_init(|| shell::parse(&self.text))
    }

    /// The simple commands of a command line.
    fn commands(&self) -> &[Simple] {
        &self.parsed().commands
    }

    /// The programs of a command line as they are run.
    pub fn spelled(&self) -> &[Spelled] {
        self.spelled.get_or_init(|| match self.is_short_command() {
            true => spelled(self.runs()),
            false => Vec::new(),
        })
    }

    /// Whether it is a command line that a person could have written.
    pub fn is_short_command(&self) -> bool {
        const LONGEST: usize = 64 << 10;
        self.kind == Kind::Command && self.text.len() <= LONGEST
    }

    /// What such a command line is made of.
    fn statements(&self) -> Option<&Statements> {
        let read = || Statements::new(&self.text, self.commands(), self.runs());
        self.is_short_command()
            .then(|| self.statements.get_or_init(read))
    }

    /// Whether it is a command that only reads or says something, so that nothing of what it names is done.
    pub fn only_reads(&self) -> bool {
        self.is_short_command()
            && self
                .commands()
                .iter()
                .all(|simple| simple.is_data || reading::may_read(simple))
            && self
                .runs()
                .iter()
                .all(|run| reading::only_reads(&run.invocation))
    }

    /// Whether what stands at a place is written, said or run, and not only looked for or taken away.
    pub fn is_done(&self, range: &Range<usize>) -> bool {
        !self.is_comment(range)
            && self
                .statements()
                .is_none_or(|statements| statements.is_done(&self.text, range))
    }

    /// Whether a place is in a comment of a command line.
    fn is_comment(&self, range: &Range<usize>) -> bool {
        self.is_short_command() && is_in(&self.parsed().comments, range.start)
    }

    /// Whether a place lies in a comment, or in what a program is given: its arguments, or what it reads.
    pub fn is_given(&self, range: &Range<usize>) -> bool {
        let holds = |given: &Range<usize>| given.start <= range.start && range.end <= given.end;
        let runs = self.runs().iter().map(|run| &run.invocation);
        let given =
            runs.flat_map(|run| std::iter::once(around(&run.arguments)).chain(run.input.clone()));
        // What looks for files or programs is no run.
        let finds = self.commands().iter().filter_map(|simple| {
            let (name, arguments) = command_of(&simple.words).split_first()?;
            let looks_up = || {
                arguments
                    .first()
                    .is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V"))
            };
            let looks = name.text == "find" || name.text == "command" && looks_up();
            looks.then(|| around(arguments))
        });
        self.is_comment(range) || given.chain(finds).any(|given| holds(&given))
    }

    /// Every program that is run or spoken of.
    pub fn runs(&self) -> &[Run] {
        self.runs.get_or_init(|| {
            let mut runs = Vec::new();
            for script in self.scripts() {
                let written = &self.text[script.range.clone()];
                let text = script.text.as_deref().unwrap_or(written);
                for mut invocation in invocations(text, script.is_run, &self.budget) {
                    let by = script.range.start;
                    let shift = |range: &mut Range<usize>| {
                        *range = match script.text {
                            Some(_) => script.range.clone(),
                            None => range.start + by..range.end + by,
                        };
                    };
                    shift(&mut invocation.range);
                    invocation.input.iter_mut().for_each(shift);
                    for word in &mut invocation.arguments {
                        shift(&mut word.range);
                    }
                    // That something cannot be read counts where it would be run.
                    if !script.is_run {
                        if invocation.is_unread() && invocation.is_unknown() {
                            continue;
                        }
                        invocation.is_whole = true;
                    }
                    runs.push(Run {
                        is_sure: script.is_run && invocation.is_sure,
                        invocation,
                    });
                }
            }
            runs
        })
    }

    /// Where the messages of commits stand in a command: among the arguments, or in a here-document.
    pub fn commit_messages(&self) -> &Messages {
        let messages = |is_sure: bool| {
            let commits = self.runs().iter().filter(move |run| {
                let name = git::subcommand(&run.invocation).map(|(name, _)| name);
                run.is_sure == is_sure && matches!(name, Some("commit" | "merge"))
            });
            apart(commits.flat_map(|run| {
                let input = run.invocation.input.clone();
                std::iter::once(run.invocation.range.clone()).chain(input)
            }))
        };
        self.commit_messages.get_or_init(|| Messages {
            sure: messages(true),
            unsure: messages(false),
        })
    }

    /// Where the words with spaces in them stand in a command: messages, as far as it has any.
    pub fn messages(&self) -> &[Range<usize>] {
        self.messages.get_or_init(|| {
            let for_people = |simple: &&Simple| {
                simple.target.as_deref().and_then(Medium::of) != Some(Medium::Code)
            };
            let words = self
                .commands()
                .iter()
                .filter(for_people)
                .flat_map(|simple| simple.words.iter().chain(simple.input.as_deref()));
            let messages = words.filter(|word| word.text.contains(char::is_whitespace));
            apart(messages.map(|word| word.range.clone()))
        })
    }

    fn scripts(&self) -> Vec<Script> {
        let whole = |is_run| Script::written(0..self.text.len(), is_run);
        match self.kind {
            Kind::Command => vec![whole(true)],
            Kind::Text if self.is_patch => self.lines_of_code(),
            Kind::Text if is_script(None, &self.text) => vec![whole(!self.is_message)],
            Kind::Text => {
                let mut scripts = scripts_in(&self.text);
                scripts
                    .iter_mut()
                    .for_each(|script| script.is_run &= !self.is_message);
                scripts
            }
            Kind::Edit => self.lines_of_code(),
        }
    }

    /// What is written to a file is not run now.
    fn lines_of_code(&self) -> Vec<Script> {
        let spoken = |range| Script::written(range, false);
        if self.medium() == Some(Medium::Prose) {
            return shown_in(&self.text).into_iter().map(spoken).collect();
        }
        let paths = self.paths.iter().copied().chain(self.path);
        let mut builds: Vec<Build> = paths.filter_map(Build::of).collect();
        builds.dedup();
        let mut scripts = Vec::new();
        for line in joined_lines(&self.text) {
            for build in &builds {
                let held = build.commands_in(&self.text[line.clone()]).into_iter();
                scripts.extend(held.map(|held| Script {
                    range: line.start + held.range.start..line.start + held.range.end,
                    text: held.text,
                    is_run: false,
                }));
            }
            scripts.push(spoken(line));
        }
        // What one line sets another one may take.
        if is_script(self.path, &self.text) {
            scripts.push(spoken(0..self.text.len()));
        }
        scripts
    }
}

/// Ranges in order, those that overlap made one.
fn apart(ranges: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = ranges.collect();
    all.sort_by_key(|range| range.start);
    let mut apart: Vec<Range<usize>> = Vec::new();
    for range in all {
        match apart.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
    }
    apart
}

/// Whether a place is in one of the ranges, which are in order and apart.
pub fn is_in(ranges: &[Range<usize>], at: usize) -> bool {
    let next = ranges.partition_point(|range| range.start <= at);
    next > 0 && ranges[next - 1].contains(&at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn sure(text: &str) -> Vec<String> {
        let matter = Matter::new(&Input::text(text));
        let runs = matter.runs().iter().filter(|run| run.is_sure);
        runs.filter(|run| matches!(run.invocation.program.as_str(), "git" | "rm"))
            .map(|run| matter.text[run.invocation.range.clone()].to_owned())
            .collect()
    }

    #[rstest]
    #[case("git push -f", &["git push -f"])]
    #[case("1. git push -f\n2. done", &["git push -f"])]
    #[case("- [ ] $ rm -rf x", &["rm -rf x"])]
    #[case("First I run `rm -rf x`, then rest.", &["rm -rf x"])]
    #[case("Never run `rm -rf x`.", &[])]
    #[case("不要运行 `rm -rf x`", &[])]
    #[case("rm -rf is dangerous", &[])]
    #[case("I will use rm -rf x", &[])]
    #[case("Plan:\n```sh\nrm -rf x\n```\nend", &["rm -rf x"])]
    #[case("```console\n$ rm -rf x\nrm -rf y\n```", &["rm -rf x"])]
    #[case("```python\nrm -rf x\n```", &[])]
    #[case("#!/bin/sh\ncat <<E\nrm -rf x\nE\nrm -rf y", &["rm -rf y"])]
    #[case("don't worry\nrm -rf x", &["rm -rf x"])]
    fn a_text_runs_what_it_shows_as_commands(#[case] text: &str, #[case] wanted: &[&str]) {
        assert_eq!(sure(text), wanted);
    }

    #[rstest]
    #[case("git push --force")]
    #[case("Run `git push --force` now")]
    #[case("```sh\ngit push --force\n```")]
    #[case("#!/bin/sh\ngit push --force")]
    fn a_message_runs_nothing_and_speaks_of_it(#[case] text: &str) {
        let matter = Matter::new(&Input::message(text));
        let runs = matter.runs();
        assert!(runs.iter().any(|run| run.invocation.program == "git"));
        assert!(runs.iter().all(|run| !run.is_sure));
    }

    #[test]
    fn of_a_patch_the_added_lines_count_and_keep_their_places() {
        let patch = "Say ✨\n\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-old 🎉\n+new\n+more\n same 🚀\n";
        let matter = Matter::new(&Input::text(patch));
        assert_eq!(matter.text, "Say ✨\n\nnew\nmore\n");
        let at = matter.text.find("more").expect("it is there");
        assert_eq!(&patch[matter.place(&(at..at + 4))], "more");
        let at = matter.text.find('✨').expect("it is there");
        assert_eq!(&patch[matter.place(&(at..at + 3))], "✨");
        assert!(matter.runs().iter().all(|run| !run.is_sure));
    }

    #[test]
    fn a_patch_as_agents_write_it_is_one_too() {
        let patch = "*** Begin Patch\n*** Update File: x\n@@\n-old\n+new\n*** End Patch\n";
        for input in [Input::text(patch), Input::patch(patch)] {
            let matter = Matter::new(&input);
            assert_eq!((&*matter.text, &matter.paths[..]), ("new\n", &["x"][..]));
        }
        assert_eq!(Matter::new(&Input::edit(None, patch)).text, patch);
    }

    #[rstest]
    #[case("a\n@@ -1 +1 @@\nb\n✨\n", "a\nb\n✨\n")]
    #[case("@@ - what is this\n✨\n", "@@ - what is this\n✨\n")]
    #[case("@@ -1,2 +1,1 @@\n-old\n same\n-kept\n✨\n", "-kept\n✨\n")]
    #[case(
        "--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-old\n+new\n+++ more\n+beyond\n",
        "new\n++ more\nbeyond\n"
    )]
    #[case("index of it\n@@ -0,0 +1 @@\n+new\n", "index of it\nnew\n")]
    fn only_what_a_hunk_says_of_itself_belongs_to_it(#[case] text: &str, #[case] counts: &str) {
        assert_eq!(Matter::new(&Input::text(text)).text, counts);
        assert_eq!(Matter::new(&Input::edit(None, text)).text, text);
    }

    #[test]
    fn a_patch_names_its_files() {
        let patch = "diff --git a/old.rs b/secrets.env\nsimilarity index 90%\nrename from old.rs\nrename to secrets.env\n\
                     --- a/old.rs\t2026-11-30\n+++ b/secrets.env\n@@ -1 +1 @@\n-a\n+b\n";
        let matter = Matter::new(&Input::text(patch));
        assert_eq!(matter.paths, ["secrets.env", "old.rs"]);
        assert_eq!(matter.text, "b\n");
    }

    #[test]
    fn code_is_told_from_prose() {
        let text = "a `b` c\n```\nd\n```\ne";
        let matter = Matter::new(&Input::text(text));
        let is_code = |what: &str| matter.is_code(text.find(what).expect("it is there"));
        assert!(is_code("b") && is_code("d"));
        assert!(!is_code("a") && !is_code("c") && !is_code("e"));
    }
}
