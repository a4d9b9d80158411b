//! Which programs a script runs, and with which arguments: behind `sudo`, `env` and their like, in `sh -c '…'`, `eval`,
//! `xargs`, `find -exec` and `ssh`, in a text that is piped into a shell, and by an alias of git.

use std::ops::Range;

use super::expand::{self, Feed, Scope, Sets, Value};
use super::shell::{self, Mark, Simple, Word};
use crate::model::beginning;

/// Scripts and wrappers within others are followed so far; what lies deeper is reported as not read.
const DEEPEST: usize = 8;

/// Longer scripts are read in pieces.
const AT_ONCE: usize = 4 << 20;

/// A program that is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// Its name, without a folder; empty where it could not be told what is run.
    pub program: String,
    /// What it is given.
    pub arguments: Vec<Word>,
    /// Where this stands.
    pub range: Range<usize>,
    /// Where a text stands that it reads: a here-document, a here-string, or what is piped into it.
    pub input: Option<Range<usize>>,
    /// Whether it is run for certain, and not only under what may be assumed.
    pub is_sure: bool,
}

impl Invocation {
    /// Whether something is run here that was not followed, such as what is nested too deep.
    pub fn is_unread(&self) -> bool {
        self.program.is_empty()
    }
}

/// A program that runs what stands behind it: its name, the options that take a value, the options with which it runs
/// nothing, and the number of words before the command.
type Wrapper = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
    usize,
);

const WRAPPERS: &[Wrapper] = &[
    (
        "sudo",
        &[
            "-u",
            "-g",
            "-h",
            "-p",
            "-C",
            "-r",
            "-t",
            "-T",
            "-U",
            "-D",
            "-R",
            "-a",
            "-c",
            "--user",
            "--group",
            "--host",
            "--prompt",
            "--chdir",
            "--chroot",
            "--other-user",
            "--close-from",
            "--command-timeout",
            "--role",
            "--type",
        ],
        &[
            "-l",
            "-e",
            "-v",
            "-V",
            "-K",
            "--list",
            "--edit",
            "--validate",
            "--version",
            "--help",
            "--remove-timestamp",
        ],
        0,
    ),
    ("doas", &["-u", "-C", "-a"], &[], 0),
    (
        "env",
        &["-u", "-C", "--unset", "--chdir"],
        &["--help", "--version"],
        0,
    ),
    ("command", &[], &["-v", "-V"], 0),
    ("builtin", &[], &[], 0),
    ("exec", &["-a"], &[], 0),
    ("nohup", &[], &[], 0),
    ("setsid", &[], &[], 0),
    ("unbuffer", &[], &[], 0),
    ("caffeinate", &["-t", "-w"], &[], 0),
    ("winpty", &[], &[], 0),
    ("time", &["-f", "-o"], &[], 0),
    ("nice", &["-n", "--adjustment"], &[], 0),
    ("ionice", &["-c", "-n"], &["-p", "-P", "-u"], 0),
    ("stdbuf", &["-i", "-o", "-e"], &[], 0),
    ("strace", &["-o", "-e", "-s", "-u", "-E", "-a"], &["-p"], 0),
    ("gosu", &[], &[], 1),
    ("taskset", &[], &["-p"], 1),
    ("chrt", &[], &["-p"], 1),
    ("timeout", &["-k", "-s", "--kill-after", "--signal"], &[], 1),
    ("chroot", &["--userspec", "--groups"], &[], 1),
    ("flock", &["-w", "-E"], &[], 1),
    ("busybox", &[], &[], 0),
    (
        "xargs",
        &[
            "-I",
            "-n",
            "-P",
            "-L",
            "-d",
            "-E",
            "-s",
            "-a",
            "--replace",
            "--max-args",
            "--max-procs",
            "--max-lines",
            "--delimiter",
            "--arg-file",
            "--max-chars",
        ],
        &[],
        0,
    ),
    (
        "parallel",
        &["-j", "--jobs", "-I", "-a", "-N", "-n"],
        &[],
        0,
    ),
];

/// Programs that read a script.
const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "ash", "fish"];

/// Options of a shell that take a value.
const SHELL_VALUED: &[&str] = &["-o", "-O", "+o", "+O", "--rcfile", "--init-file"];

/// Words that may stand before a command.
const RESERVED: &[&str] = &[
    "if", "then", "elif", "else", "do", "while", "until", "!", "{", "coproc",
];

/// Words between which commands may run or not, and often.
const OPENING: &[&str] = &["if", "while", "until", "for", "select", "case", "{"];
const CLOSING: &[&str] = &["fi", "done", "esac", "}"];

/// Options of `git` itself that take the next word as their value.
pub const GIT_VALUED: &[&str] = &[
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--super-prefix",
    "--config-env",
    "--attr-source",
];

/// Every program that a script runs.
pub fn invocations(script: &str) -> Vec<Invocation> {
    let mut reading = Reading {
        found: Vec::new(),
        // Enough for whatever a person writes; what is made to multiply itself is not followed to its end.
        left: script.len().saturating_mul(24) + (64 << 10),
    };
    let mut scope = Scope::default();
    let around = Surroundings {
        depth: 0,
        is_sure: true,
        input: None,
    };
    reading.script(script, None, &around, &mut scope);
    reading.found
}

/// What a command is run in.
#[derive(Clone, Copy)]
struct Surroundings<'f> {
    depth: usize,
    is_sure: bool,
    /// What it reads.
    input: Option<&'f Feed>,
}

impl Surroundings<'_> {
    fn deeper(&self) -> Self {
        Surroundings {
            depth: self.depth + 1,
            ..*self
        }
    }

    fn unsure(&self) -> Self {
        Surroundings {
            is_sure: false,
            ..*self
        }
    }
}

struct Reading {
    found: Vec<Invocation>,
    /// How many more bytes of scripts within scripts are read.
    left: usize,
}

/// The last part of a path, without the ending that Windows gives to programs.
pub fn name_of(word: &Word) -> String {
    let name = word.text.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.to_lowercase();
    name.strip_suffix(".exe").unwrap_or(&name).to_owned()
}

/// The name and the value of an assignment, and how it sets it.
fn assignment(word: &Word) -> Option<(&str, &str, Sets)> {
    let (name, value) = word.text.split_once('=')?;
    let (name, how) = match name.strip_suffix('+') {
        Some(name) if word.elements.is_some() => (name, Sets::More),
        Some(name) => (name, Sets::Longer),
        None => (name, Sets::Anew),
    };
    let is_name = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some((name, value, how))
}

/// Words without the assignments and the words of the shell before a command.
pub fn command_of(words: &[Word]) -> &[Word] {
    let mut words = words;
    loop {
        words = match words {
            [first, _, rest @ ..] if first.text == "function" => rest,
            [first, rest @ ..]
                if assignment(first).is_some() || RESERVED.contains(&first.text.as_str()) =>
            {
                rest
            }
            _ => return words,
        };
    }
}

pub fn joined(words: &[Word]) -> String {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    texts.join(" ")
}

fn around(words: &[Word]) -> Range<usize> {
    let start = words.first().map_or(0, |word| word.range.start);
    start..words.last().map_or(start, |word| word.range.end)
}

/// Words that were made from a text, all with the text's place.
fn words_at(text: &str, place: &Range<usize>) -> Vec<Word> {
    text.split_whitespace()
        .map(|word| Word {
            text: word.to_owned(),
            range: place.clone(),
            ..Word::default()
        })
        .collect()
}

impl Reading {
    /// Notes that something is run that was not followed.
    fn unread(&mut self, place: Range<usize>) {
        if self
            .found
            .last()
            .is_some_and(|last| last.is_unread() && last.range == place)
        {
            return;
        }
        self.found.push(Invocation {
            program: String::new(),
            arguments: Vec::new(),
            range: place,
            input: None,
            is_sure: false,
        });
    }

    /// Reads a script; one that stands in a word of another one has that word's place.
    fn script(
        &mut self,
        script: &str,
        place: Option<&Range<usize>>,
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        let whole = || place.cloned().unwrap_or(0..script.len());
        if at.depth > DEEPEST || script.len() > self.left {
            return self.unread(whole());
        }
        if script.len() > AT_ONCE {
            return self.pieces(script, place, at, scope);
        }
        self.left -= script.len();
        let mut parsed = shell::parse(script);
        if !parsed.is_whole {
            self.unread(whole());
        }
        if let Some(place) = place {
            for simple in &mut parsed.commands {
                simple.range = place.clone();
                for word in simple.words.iter_mut().chain(simple.input.as_deref_mut()) {
                    word.range = place.clone();
                }
            }
        }
        let commands = &parsed.commands;
        scope.look_ahead(commands);
        let mut blocks = 0_usize;
        for (index, simple) in commands.iter().enumerate() {
            if simple.is_data {
                continue;
            }
            let first = simple.words.first().map_or("", |word| word.text.as_str());
            if CLOSING.contains(&first) {
                blocks = blocks.saturating_sub(1);
            }
            let opens = simple
                .words
                .iter()
                .take(3)
                .any(|word| OPENING.contains(&word.text.as_str()));
            if opens {
                blocks += 1;
            }
            let feed = scope.feed_of(commands, index);
            let at = Surroundings {
                input: feed.as_ref().or(at.input),
                ..*at
            };
            let (versions, is_all) = scope.versions(commands, &simple.words);
            if !is_all {
                self.unread(simple.range.clone());
            }
            for (words, is_sure) in versions {
                if simple.is_function {
                    // What stands before `()` is a name.
                    continue;
                }
                let at = Surroundings {
                    is_sure: at.is_sure && is_sure,
                    ..at
                };
                let is_certain = !simple.is_conditional && !simple.is_apart && blocks == 0;
                self.simple(commands, &words, is_certain, &at, scope);
            }
        }
    }

    /// Reads a script of many megabytes piece by piece, so that it never stands in memory as a whole. A cut may go through a
    /// text, so that nothing behind the first is certain.
    fn pieces(
        &mut self,
        script: &str,
        place: Option<&Range<usize>>,
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        self.unread(place.cloned().unwrap_or(0..script.len()));
        let mut start = 0;
        while start < script.len() {
            let piece = beginning(&script[start..], AT_ONCE);
            let is_last = start + piece.len() == script.len();
            let end = piece.rfind('\n').or_else(|| piece.rfind(';'));
            let piece = match end {
                Some(end) if !is_last => &piece[..=end],
                _ => piece,
            };
            let at = if start == 0 { *at } else { at.unsure() };
            let before = self.found.len();
            self.script(piece, place, &at, scope);
            if place.is_none() {
                let shift =
                    |range: &mut Range<usize>| *range = range.start + start..range.end + start;
                for run in &mut self.found[before..] {
                    shift(&mut run.range);
                    run.input.iter_mut().for_each(shift);
                    run.arguments
                        .iter_mut()
                        .for_each(|word| shift(&mut word.range));
                }
            }
            start += piece.len();
        }
    }

    /// Reads a simple command whose words are known as far as they can be; `is_certain` says that it runs whenever its
    /// script does, and once.
    fn simple(
        &mut self,
        commands: &[Simple],
        words: &[Word],
        is_certain: bool,
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        let command = command_of(words);
        let before = &words[..words.len() - command.len()];
        let is_declaration = command.first().is_some_and(expand::is_declaration);
        let is_exported = is_declaration
            && (command[0].text == "export" || command[1..].iter().any(|word| word.text == "-x"));
        let mut set: Vec<(String, Option<Vec<Value>>)> = Vec::new();
        let persists = command.is_empty() || is_declaration;
        let assigning = if is_declaration { command } else { before };
        for word in assigning {
            let Some((name, value, how)) = assignment(word) else {
                if is_exported {
                    scope.export(&word.text);
                }
                continue;
            };
            let fields = match &word.elements {
                Some(elements) => scope.elements(commands, elements.clone()),
                None => vec![value.to_owned()],
            };
            // What holds something unknown is unknown, and yet may have more in it: `"$OTHER -f"`.
            let is_unknown = word.is_dynamic && word.elements.is_none();
            let known: Vec<&str> = value
                .split_whitespace()
                .filter(|word| !word.contains('$'))
                .collect();
            if !persists {
                set.push((name.to_owned(), scope.get(name).map(<[Value]>::to_vec)));
            }
            let value = |fields, is_sure| Value {
                fields,
                is_sure: at.is_sure && is_sure,
                is_exported: is_exported || !persists,
            };
            let is_certain = is_certain || !persists;
            if is_unknown {
                scope.set(name, value(None, true), how, is_certain);
                if !known.is_empty() {
                    scope.set(name, value(Some(vec![known.join(" ")]), false), how, false);
                }
            } else {
                scope.set(name, value(Some(fields), true), how, is_certain);
            }
        }
        if !is_declaration {
            self.run(commands, command, at, scope);
        }
        // What stands before a command is set for it alone.
        for (name, value) in set {
            scope.restore(&name, value);
        }
    }

    /// Reads a command: the name of a program and what it is given.
    fn run(
        &mut self,
        commands: &[Simple],
        words: &[Word],
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        let words = command_of(words);
        let Some((first, arguments)) = words.split_first() else {
            return;
        };
        let place = around(words);
        if at.depth > DEEPEST {
            return self.unread(place);
        }
        if let Some(value) = scope.alias(&first.text).filter(|value| !value.is_empty()) {
            // Whether a shell replaces it depends on how it was started; and it may be the program's own name.
            let script = format!("{value} {}", quoted(arguments));
            let mut scope = scope.clone();
            scope.forget_alias(&first.text);
            self.script(&script, Some(&place), &at.deeper().unsure(), &mut scope);
        }
        let program = name_of(first);
        if let Some(wrapper) = WRAPPERS.iter().find(|(name, ..)| *name == program) {
            return self.wrapped(commands, wrapper, arguments, at, scope);
        }
        match program.as_str() {
            name if SHELLS.contains(&name) => self.shell(commands, arguments, at, scope),
            "cmd" | "powershell" | "pwsh" => {
                let is_script = |word: &Word| {
                    matches!(
                        word.text.to_lowercase().as_str(),
                        "/c" | "/k" | "-c" | "-command"
                    )
                };
                if let Some(index) = arguments.iter().position(is_script) {
                    self.inner(&arguments[index + 1..], at, scope);
                } else {
                    self.read_input(at, scope);
                }
            }
            "source" | "." => {
                if let Some(feed) = arguments.first().and_then(file_of) {
                    let feed = scope.output(commands, feed);
                    self.feed(feed.as_ref(), at, scope);
                } else if arguments.first().is_some_and(is_input) {
                    self.read_input(at, scope);
                }
            }
            "su" | "runuser" | "script" => {
                match value_of(arguments, "-c", &["--command", "--session-command"]) {
                    Some(text) => self.script(&text.text, Some(&text.range), &at.deeper(), scope),
                    None if program == "runuser" => {
                        let rest = after_options(arguments, &["-u", "-g", "-G", "--user"]);
                        self.run(commands, rest, &at.deeper(), scope);
                    }
                    None if program == "su" => self.read_input(at, scope),
                    None => {}
                }
            }
            "eval" => self.script(&joined(arguments), Some(&place), &at.deeper(), scope),
            "trap" => {
                if let Some(text) = after_options(arguments, &[]).first() {
                    self.script(&text.text, Some(&text.range), &at.deeper(), scope);
                }
            }
            "watch" => self.inner(after_options(arguments, &["-n", "--interval"]), at, scope),
            "wsl" => {
                let valued = ["-d", "-u", "--distribution", "--user", "--cd"];
                let rest = after_options(arguments, &valued);
                self.run(commands, rest, &at.deeper(), scope);
            }
            "nix-shell" => {
                if let Some(text) = value_of(arguments, "--run", &["--command"]) {
                    self.script(&text.text, Some(&text.range), &at.deeper(), scope);
                }
            }
            "ssh" => {
                let rest = after_options(arguments, SSH_VALUED);
                let rest = after_options(rest.get(1..).unwrap_or_default(), SSH_VALUED);
                if rest.is_empty() {
                    self.read_input(at, scope);
                } else {
                    self.inner(rest, at, scope);
                }
            }
            "docker" | "podman" | "nerdctl" | "kubectl" | "oc" | "docker-compose" | "lxc"
            | "incus" | "vagrant" | "nsenter" | "machinectl" => {
                self.contained(commands, &program, arguments, at, scope);
            }
            "find" => {
                let mut rest = arguments;
                while let Some(index) = rest.iter().position(|word| {
                    matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir")
                }) {
                    rest = &rest[index + 1..];
                    let end = rest
                        .iter()
                        .position(|word| matches!(word.text.as_str(), ";" | "+"))
                        .unwrap_or(rest.len());
                    self.run(commands, &rest[..end], &at.deeper(), scope);
                    rest = &rest[end..];
                }
            }
            "fd" | "fdfind" => {
                let index = arguments.iter().position(|word| {
                    matches!(word.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch")
                });
                if let Some(index) = index {
                    self.run(commands, &arguments[index + 1..], &at.deeper(), scope);
                }
            }
            "alias" => {
                for word in arguments {
                    if let Some((name, value)) = word.text.split_once('=') {
                        scope.set_alias(name, value);
                        self.script(value, Some(&word.range), &at.deeper().unsure(), scope);
                    }
                }
            }
            "for" | "select" => {
                if let [name, keyword, values @ ..] = arguments
                    && keyword.text == "in"
                {
                    scope.set_all(&name.text, values, at.is_sure);
                }
            }
            "set" => {
                let index = arguments.iter().position(|word| word.text == "--");
                if let Some(index) = index {
                    scope.set_arguments(&arguments[index + 1..], at.is_sure);
                }
            }
            "read" => {
                if let (Some(name), Some(feed)) =
                    (after_options(arguments, &["-p", "-d"]).first(), at.input)
                {
                    let value = Value {
                        fields: Some(vec![feed.text.trim().to_owned()]),
                        is_sure: false,
                        is_exported: false,
                    };
                    scope.set(&name.text, value, Sets::Anew, false);
                }
            }
            "" => {}
            _ => {
                if program == "git" {
                    self.git(commands, arguments, at, scope);
                }
                self.found.push(Invocation {
                    program,
                    arguments: arguments.to_vec(),
                    range: place,
                    input: at.input.map(|feed| feed.range.clone()),
                    is_sure: at.is_sure,
                });
            }
        }
    }

    /// Words that are joined to a script, as `ssh` and `watch` do.
    fn inner(&mut self, words: &[Word], at: &Surroundings<'_>, scope: &mut Scope) {
        self.script(&joined(words), Some(&around(words)), &at.deeper(), scope);
    }

    /// What a shell reads.
    fn read_input(&mut self, at: &Surroundings<'_>, scope: &mut Scope) {
        self.feed(at.input, at, scope);
    }

    fn feed(&mut self, feed: Option<&Feed>, at: &Surroundings<'_>, scope: &mut Scope) {
        let Some(feed) = feed else {
            return;
        };
        if feed.is_unread {
            self.unread(feed.range.clone());
        }
        let at = Surroundings {
            depth: at.depth + 1,
            is_sure: at.is_sure && feed.is_sure,
            input: None,
        };
        self.script(&feed.text, Some(&feed.range), &at, scope);
    }

    fn wrapped(
        &mut self,
        commands: &[Simple],
        (program, valued, idle, skipped): &Wrapper,
        arguments: &[Word],
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        let (flags, mut rest) = options(arguments, valued);
        if flags.iter().any(|flag| idle.contains(&flag.name.as_str())) {
            return;
        }
        if *program == "env"
            && let Some((text, behind)) = split_string(arguments)
        {
            let script = format!("{text} {}", quoted(behind));
            return self.script(&script, Some(&around(arguments)), &at.deeper(), scope);
        }
        let before = &arguments[..arguments.len() - rest.len()];
        rest = rest.get(*skipped..).unwrap_or_default();
        if *program == "flock" && rest.first().is_some_and(|word| word.text == "-c") {
            return self.inner(&rest[1..], at, scope);
        }
        let mut set: Vec<(String, Option<Vec<Value>>)> = Vec::new();
        for (name, value, how) in before.iter().filter_map(assignment) {
            let value = Value {
                fields: Some(vec![value.to_owned()]),
                is_sure: at.is_sure,
                is_exported: true,
            };
            set.push((name.to_owned(), scope.get(name).map(<[Value]>::to_vec)));
            scope.set(name, value, how, true);
        }
        if matches!(*program, "xargs" | "parallel")
            && let Some(feed) = at.input
            && !rest.is_empty()
        {
            // What is piped in becomes the last arguments, or stands where `{}` does.
            let added = words_at(&feed.text, &feed.range);
            let text = added
                .iter()
                .map(|word| word.text.as_str())
                .collect::<Vec<_>>()
                .join(" ");
            let mut words: Vec<Word> = rest.to_vec();
            for word in &mut words {
                word.text = word.text.replace("{}", &text);
            }
            words.extend(added);
            let at = Surroundings {
                input: None,
                ..at.deeper().unsure()
            };
            self.run(commands, &words, &at, scope);
        }
        self.run(commands, rest, &at.deeper(), scope);
        for (name, value) in set {
            scope.restore(&name, value);
        }
    }

    /// A shell: its script stands behind `-c`, in a file that a command writes, or comes on its standard input.
    fn shell(
        &mut self,
        commands: &[Simple],
        arguments: &[Word],
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        let (flags, mut rest) = options(arguments, SHELL_VALUED);
        let has = |names: &[&str]| flags.iter().any(|flag| names.contains(&flag.name.as_str()));
        // It only looks whether the script can be read.
        if has(&["-n"]) {
            return;
        }
        self.left = self.left.saturating_sub(16 * scope.len());
        let mut child = scope.child();
        let attached = flags.iter().find(|flag| flag.name == "--command");
        if let Some(flag) = attached.and_then(|flag| flag.value.clone()) {
            return self.script(&flag.text, Some(&flag.range), &at.deeper(), &mut child);
        }
        if has(&["-c", "--command"]) {
            if rest.first().is_some_and(|word| word.text == "--") {
                rest = &rest[1..];
            }
            if let Some((text, given)) = rest.split_first() {
                child.set_arguments(given.get(1..).unwrap_or_default(), at.is_sure);
                self.script(&text.text, Some(&text.range), &at.deeper(), &mut child);
            }
            return;
        }
        match rest.first() {
            Some(word) if !has(&["-s"]) => {
                if let Some(of) = file_of(word) {
                    let feed = scope.output(commands, of);
                    self.feed(feed.as_ref(), at, &mut child);
                } else if is_input(word) {
                    self.read_input(at, &mut child);
                }
            }
            _ => {
                child.set_arguments(rest, at.is_sure);
                self.read_input(at, &mut child);
            }
        }
    }

    /// A command that is run in a container, or on another machine: where it begins is told by its name, because each
    /// program has options of its own before it.
    fn contained(
        &mut self,
        commands: &[Simple],
        program: &str,
        arguments: &[Word],
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        if program == "vagrant" {
            if let Some(text) = value_of(arguments, "-c", &["--command"]) {
                self.script(&text.text, Some(&text.range), &at.deeper(), scope);
            }
            return;
        }
        let rest = match program {
            "nsenter" => arguments,
            _ => {
                let runs = |word: &Word| {
                    matches!(
                        word.text.as_str(),
                        "exec" | "run" | "shell" | "debug" | "create"
                    )
                };
                let Some(index) = arguments.iter().position(runs) else {
                    return;
                };
                &arguments[index + 1..]
            }
        };
        if matches!(program, "kubectl" | "oc" | "lxc" | "incus")
            && let Some(index) = rest.iter().position(|word| word.text == "--")
        {
            return self.run(commands, &rest[index + 1..], &at.deeper(), scope);
        }
        let entry = rest.iter().enumerate().find_map(|(index, word)| {
            let value = word.text.strip_prefix("--entrypoint")?;
            match value.strip_prefix('=') {
                Some(value) => Some((
                    Word {
                        text: value.to_owned(),
                        ..word.clone()
                    },
                    index + 1,
                )),
                None => Some((rest.get(index + 1)?.clone(), index + 2)),
            }
        });
        if let Some((entry, behind)) = entry {
            // What stands behind the image is given to it; which word that is is not known here.
            for index in behind..rest.len().min(behind + MOST_TRIED) {
                let words = [std::slice::from_ref(&entry), &rest[index + 1..]].concat();
                self.run(commands, &words, &at.deeper().unsure(), scope);
            }
        }
        let begins = |word: &Word| {
            let name = name_of(word);
            SHELLS.contains(&name.as_str())
                || WRAPPERS.iter().any(|(wrapper, ..)| *wrapper == name)
                || matches!(name.as_str(), "git" | "rm" | "find" | "ssh" | "eval")
        };
        let starts = rest.iter().enumerate().filter(|(_, word)| begins(word));
        for (index, word) in starts.take(MOST_TRIED) {
            let is_shell = SHELLS.contains(&name_of(word).as_str());
            let next = rest.get(index + 1).map_or("", |word| word.text.as_str());
            let is_plain = is_shell && next.starts_with('-') && next.ends_with('c');
            let at = at.deeper();
            let at = if is_plain { at } else { at.unsure() };
            self.run(commands, &rest[index..], &at, scope);
            if is_plain {
                break;
            }
        }
    }

    /// What git runs besides itself, and what an alias makes of it.
    fn git(
        &mut self,
        commands: &[Simple],
        arguments: &[Word],
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        let (flags, rest) = options(arguments, GIT_VALUED);
        let Some((name, given)) = rest.split_first() else {
            return;
        };
        let place = around(arguments);
        for flag in flags.iter().filter(|flag| flag.name == "-c") {
            let Some((key, value)) = flag
                .value
                .as_ref()
                .and_then(|word| word.text.split_once('='))
            else {
                continue;
            };
            let lower = key.to_lowercase();
            if lower.strip_prefix("alias.") == Some(name.text.to_lowercase().as_str()) {
                let script = format!("{} {}", alias_script(value), quoted(given));
                self.script(&script, Some(&place), &at.deeper(), scope);
            } else if name.text == "push"
                && let Some(script) = configured(&lower, value)
            {
                self.script(&script, Some(&place), &at.deeper().unsure(), scope);
            }
        }
        match name.text.as_str() {
            // What is set now takes effect later, or never.
            "config" => {
                let valued = [
                    "-f",
                    "--file",
                    "--blob",
                    "--type",
                    "--value",
                    "--comment",
                    "--default",
                ];
                let (_, mut rest) = options(given, &valued);
                if rest.first().is_some_and(|word| word.text == "set") {
                    rest = options(&rest[1..], &valued).1;
                }
                let [key, value, ..] = rest else {
                    return;
                };
                let lower = key.text.to_lowercase();
                let script = if lower.starts_with("alias.") {
                    Some(alias_script(&value.text))
                } else {
                    configured(&lower, &value.text)
                };
                if let Some(script) = script {
                    self.script(&script, Some(&place), &at.deeper().unsure(), scope);
                }
            }
            "remote" if given.iter().any(|word| word.text.starts_with("--mirror")) => {
                let is_fetch = given.iter().any(|word| word.text == "--mirror=fetch");
                if !is_fetch {
                    let at = at.deeper().unsure();
                    self.script("git push --mirror", Some(&place), &at, scope);
                }
            }
            "submodule" => {
                let index = given.iter().position(|word| word.text == "foreach");
                if let Some(index) = index {
                    self.inner(options(&given[index + 1..], &[]).1, at, scope);
                }
            }
            "bisect" if given.first().is_some_and(|word| word.text == "run") => {
                self.run(commands, &given[1..], &at.deeper(), scope);
            }
            "rebase" => {
                if let Some(text) = value_of(given, "-x", &["--exec"]) {
                    self.script(&text.text, Some(&text.range), &at.deeper(), scope);
                }
            }
            _ => {}
        }
    }
}

/// So many words are tried as the beginning of a command.
const MOST_TRIED: usize = 8;

const SSH_VALUED: &[&str] = &[
    "-p", "-i", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-b", "-c", "-e", "-m", "-S", "-W", "-w",
    "-B", "-E", "-I", "-O", "-Q",
];

/// What an alias of git runs.
fn alias_script(value: &str) -> String {
    match value.trim_start().strip_prefix('!') {
        Some(script) => script.to_owned(),
        None => format!("git {value}"),
    }
}

/// The push that a setting of a remote makes of a plain one.
fn configured(key: &str, value: &str) -> Option<String> {
    let setting = key.strip_prefix("remote.")?;
    if setting.ends_with(".push") && value.starts_with('+') {
        Some(format!("git push origin {}", quote(value)))
    } else if setting.ends_with(".mirror") && value != "false" {
        Some("git push --mirror".to_owned())
    } else {
        None
    }
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Words as a shell reads them again.
fn quoted(words: &[Word]) -> String {
    let words: Vec<String> = words.iter().map(|word| quote(&word.text)).collect();
    words.join(" ")
}

/// The commands that write the file that a word names: `<(…)`.
fn file_of(word: &Word) -> Option<Range<usize>> {
    word.marks.iter().find_map(|(_, mark)| match mark {
        Mark::Output {
            commands,
            is_file: true,
            ..
        } => Some(commands.clone()),
        _ => None,
    })
}

/// Whether a word names the standard input.
fn is_input(word: &Word) -> bool {
    matches!(
        word.text.as_str(),
        "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"
    )
}

/// An option, and what it is given.
struct Flag {
    /// With its hyphens; of several letters in one word each by itself.
    name: String,
    value: Option<Word>,
}

/// The options at the beginning of a program's words, and what is left behind them, their values, assignments and `--`.
fn options<'w>(words: &'w [Word], valued: &[&str]) -> (Vec<Flag>, &'w [Word]) {
    let mut flags = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let text = word.text.as_str();
        at += 1;
        if text == "--" {
            break;
        }
        if assignment(word).is_some() {
            continue;
        }
        let is_option = text.len() > 1 && text.starts_with('-');
        if !is_option && !valued.contains(&text) {
            at -= 1;
            break;
        }
        if valued.contains(&text) {
            flags.push(Flag {
                name: text.to_owned(),
                value: words.get(at).cloned(),
            });
            at += 1;
        } else if text.starts_with("--") {
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (text, None),
            };
            flags.push(Flag {
                name: name.to_owned(),
                value: value.map(|value| Word {
                    text: value.to_owned(),
                    ..word.clone()
                }),
            });
        } else {
            for (index, letter) in text.char_indices().skip(1) {
                let name = format!("-{letter}");
                let behind = &text[index + letter.len_utf8()..];
                if !valued.contains(&name.as_str()) {
                    flags.push(Flag { name, value: None });
                    continue;
                }
                let value = if behind.is_empty() {
                    at += 1;
                    words.get(at - 1).cloned()
                } else {
                    Some(Word {
                        text: behind.to_owned(),
                        ..word.clone()
                    })
                };
                flags.push(Flag { name, value });
                break;
            }
        }
    }
    (flags, words.get(at..).unwrap_or_default())
}

/// What is left behind the options, their values, assignments and `--`.
pub fn after_options<'w>(words: &'w [Word], valued: &[&str]) -> &'w [Word] {
    options(words, valued).1
}

/// The value of an option, wherever it stands.
fn value_of(words: &[Word], short: &str, long: &[&str]) -> Option<Word> {
    let mut valued = long.to_vec();
    valued.push(short);
    let mut rest = words;
    loop {
        let (flags, behind) = options(rest, &valued);
        let mut flags = flags.into_iter();
        if let Some(flag) = flags.find(|flag| valued.contains(&flag.name.as_str())) {
            return flag.value;
        }
        rest = behind.get(1..)?;
    }
}

/// What `env -S` splits to words, and what stands behind it.
fn split_string(words: &[Word]) -> Option<(String, &[Word])> {
    const VALUED: &[&str] = &["-u", "-C", "--unset", "--chdir", "-S", "--split-string"];
    let mut rest = words;
    // One option at a time: what is split stands in place of the option.
    while let Some(word) = rest.first() {
        let is_option = word.text.len() > 1 && word.text.starts_with('-') && word.text != "--";
        if !is_option && assignment(word).is_none() {
            return None;
        }
        let one = options(&rest[..1], VALUED).0;
        let splits = |flag: &&Flag| matches!(flag.name.as_str(), "-S" | "--split-string");
        let takes_next = one
            .last()
            .is_some_and(|flag| flag.value.is_none() && VALUED.contains(&flag.name.as_str()));
        let behind = rest.get(1 + usize::from(takes_next)..).unwrap_or_default();
        if let Some(flag) = one.iter().find(splits) {
            let text = match &flag.value {
                Some(value) => value.text.clone(),
                None => rest.get(1)?.text.clone(),
            };
            return Some((text, behind));
        }
        rest = behind;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn run_by(script: &str) -> Vec<String> {
        invocations(script)
            .into_iter()
            .map(|found| {
                format!("{} {}", found.program, joined(&found.arguments))
                    .trim()
                    .to_owned()
            })
            .collect()
    }

    #[rstest]
    #[case("A=1 B='x y' /usr/bin/git push", &["git push"])]
    #[case("sudo -u bob -E rm x", &["rm x"])]
    #[case("sudo -- rm x", &["rm x"])]
    #[case("env -u A B=1 rm x", &["rm x"])]
    #[case("env -S 'rm x'", &["rm x"])]
    #[case("timeout -k 5 10 rm x", &["rm x"])]
    #[case("nohup nice -n 5 rm x", &["rm x"])]
    #[case("sh -c 'a; b c'", &["a", "b c"])]
    #[case("bash -lc \"cd x && a\"", &["cd x", "a"])]
    #[case("bash script.sh", &[])]
    #[case("bash <<EOF\na b\nEOF", &["a b"])]
    #[case("bash <<< 'a b'", &["a b"])]
    #[case("cat <<EOF\na b\nEOF", &["cat"])]
    #[case("eval 'a b'", &["a b"])]
    #[case("ls | xargs -0 -I {} rm {}", &["ls", "rm {}"])]
    #[case("find . -name x -exec rm {} \\; -exec a +", &["rm {}", "a"])]
    #[case("fd -x rm", &["rm"])]
    #[case("ssh -p 22 host 'a b'", &["a b"])]
    #[case("if a; then b; else c; fi", &["a", "b", "c", "fi"])]
    #[case("for x in 1 2; do a $x; done", &["a 1", "a 2", "done"])]
    #[case("f() { a $x; }", &["a $x", "}"])]
    #[case("command -v rm", &[])]
    #[case("command rm x", &["rm x"])]
    #[case("echo 'rm x'", &["echo rm x"])]
    #[case("C:\\\\bin\\\\git.exe push", &["git push"])]
    fn what_is_run_is_found(#[case] script: &str, #[case] wanted: &[&str]) {
        assert_eq!(run_by(script), wanted);
    }

    #[test]
    fn an_inner_script_has_the_place_of_its_word() {
        let script = "sh -c 'git push'";
        let found = invocations(script);
        assert_eq!(&script[found[0].range.clone()], "'git push'");
    }

    fn seen(script: &str) -> Option<bool> {
        use super::super::git::{Branches, is_force_push};
        use super::super::remove::is_rm_rf;
        invocations(script)
            .iter()
            .filter(|run| {
                run.is_unread() || is_rm_rf(run) || is_force_push(run, &Branches::default())
            })
            .map(|run| run.is_sure)
            .max()
    }

    #[rstest]
    #[case::variables("X=\"push --force\"; git $X")]
    #[case::variables("F=-rf; rm $F x")]
    #[case::variables("F=-rf && rm ${F} x")]
    #[case::variables("export F='-r -f'\nrm $F x")]
    #[case::variables("declare -r F=-rf; rm $F x")]
    #[case::variables("R=rm; $R -rf x")]
    #[case::variables("A=pu B=sh; git $A$B -f")]
    #[case::variables("A=-r; A+=f; rm $A x")]
    #[case::variables("a=(push -f); git \"${a[@]}\"")]
    #[case::variables("a=(push); a+=(-f); git ${a[*]}")]
    #[case::variables("set -- -rf x; rm \"$@\"")]
    #[case::variables("set -- -rf; rm $1 x")]
    #[case::variables("for f in -r -rf; do rm $f x; done")]
    #[case::variables("X='git push -f'; eval \"$X\"")]
    #[case::variables("X='git push -f'; eval $X")]
    #[case::variables("X='rm -rf x' sh -c '$X'")]
    #[case::variables("env X=-rf sh -c 'rm $X y'")]
    #[case::variables("export X=-rf; bash -c 'rm $X y'")]
    #[case::variables("rm${IFS}-rf${IFS}x")]
    #[case::variables("X=$(echo push -f); git $X")]
    #[case::variables("F=-f; F=-rf; rm $F x")]
    #[case::variables("sh -c 'rm \"$@\"' _ -rf x")]
    #[case::variables("B=$(git branch --show-current); git push -f origin $B")]
    #[case::outputs("git $(echo push -f)")]
    #[case::outputs("$(printf 'rm -%s' rf) x")]
    #[case::outputs("`echo git` push -f")]
    #[case::git("git -c alias.p='push -f' p")]
    #[case::git("git -c alias.p='!git push -f' p")]
    #[case::git("git -c alias.p=push p -f")]
    #[case::git("git submodule foreach 'git push -f'")]
    #[case::git("git rebase -x 'git push -f' main")]
    #[case::git("git rebase --exec='git push -f' main")]
    #[case::git("git bisect run rm -rf x")]
    #[case::braces("rm -{r,f} x")]
    #[case::braces("git push {-f,origin,main}")]
    #[case::braces("{rm,-rf,x}")]
    #[case::braces("rm -{r,{f,v}} x")]
    #[case::quotes("g\"\"it push -f")]
    #[case::quotes("git pu'sh' -\"f\"")]
    #[case::quotes("r\\m -rf x")]
    #[case::quotes("$'\\x72m' $'-\\162f' x")]
    #[case::quotes("$'\\u0072m' -rf $'it\\'s'")]
    #[case::quotes("$\"rm\" -rf x")]
    #[case::quotes("git pu\\\nsh -f")]
    #[case::quotes("r\\\r\nm -rf x")]
    #[case::quotes("git \"pu\\\nsh\" -f")]
    #[case::piped("echo 'git push -f' | sh")]
    #[case::piped("echo git push -f | sudo bash -s")]
    #[case::piped("printf 'rm -rf x' | bash")]
    #[case::piped("printf '%s\\n' 'cd x' 'rm -rf x' | bash")]
    #[case::piped("printf 'rm %s x' -rf | sh -")]
    #[case::piped("echo 'rm -rf x' | tee log | sh")]
    #[case::piped("(echo 'rm -rf x'; echo y) | sh")]
    #[case::piped("{ echo x; echo 'rm -rf x'; } | sh")]
    #[case::piped("echo 'rm -rf x' |\n sh")]
    #[case::piped("echo 'rm -rf x' |& sh")]
    #[case::piped("cat <<EOF | sh\nrm -rf x\nEOF")]
    #[case::piped("sh <<EOF\nrm -rf x\nEOF")]
    #[case::piped("sudo -u me bash -s <<'EOF'\nrm -rf x\nEOF")]
    #[case::piped("bash <<< 'rm -rf x'")]
    #[case::piped("X='rm -rf x'; bash <<< \"$X\"")]
    #[case::piped("bash /dev/stdin <<< 'rm -rf x'")]
    #[case::piped("bash <(echo 'rm -rf x')")]
    #[case::piped("sh < <(echo 'rm -rf x')")]
    #[case::piped("source <(echo 'rm -rf x')")]
    #[case::piped(". /dev/stdin <<< 'rm -rf x'")]
    #[case::piped("ssh host <<EOF\nrm -rf x\nEOF")]
    #[case::piped("echo 'git push -f' | ssh host")]
    #[case::piped("ssh host bash -s <<EOF\nrm -rf x\nEOF")]
    #[case::elsewhere("docker exec web sh -c 'rm -rf x'")]
    #[case::elsewhere("docker run --rm -v a:b -w /x image bash -lc 'git push -f'")]
    #[case::elsewhere("docker compose exec -T web sh -c 'rm -rf x'")]
    #[case::elsewhere("kubectl exec -it pod -c web -- rm -rf x")]
    #[case::elsewhere("kubectl -n a exec pod -- sh -c 'rm -rf x'")]
    #[case::elsewhere("ssh host 'git push -f'")]
    #[case::elsewhere("ssh -vp 22 me@host -t 'cd x; git push -f'")]
    #[case::elsewhere("vagrant ssh -c 'rm -rf x'")]
    #[case::elsewhere("cmd /c \"git push -f\"")]
    #[case::elsewhere("powershell -Command \"Remove-Item -Recurse -Force x\"")]
    #[case::wrapped("sudo -nu root rm -rf x")]
    #[case::wrapped("sudo -Eu me git push -f")]
    #[case::wrapped("sudo -uroot rm -rf x")]
    #[case::wrapped("env -S 'git push -f'")]
    #[case::wrapped("env -S'git push -f'")]
    #[case::wrapped("env -iS 'git push' -f")]
    #[case::wrapped("env -u A --split-string='git push -f'")]
    #[case::wrapped("su - me -c 'git push -f'")]
    #[case::wrapped("su -lc 'git push -f' me")]
    #[case::wrapped("bash -euo pipefail -c 'rm -rf x'")]
    #[case::wrapped("bash -ce 'rm -rf x'")]
    #[case::functions("function f { rm -rf x; }; f")]
    #[case::functions("function f() { rm -rf x; }; f")]
    #[case::functions("f() { git push -f; }")]
    fn what_is_run_for_certain(#[case] script: &str) {
        assert_eq!(seen(script), Some(true), "{:?}", invocations(script));
    }

    #[rstest]
    #[case("alias p='git push -f'; p")]
    #[case("alias g=git; g push -f")]
    #[case("alias g=git p='g push'\np -f")]
    #[case("git config alias.x 'push -f'")]
    #[case("git config --global alias.x '!git push -f'")]
    #[case("git config set alias.x 'push -f'")]
    #[case("git config remote.origin.push +main")]
    #[case("git config --add remote.origin.push +refs/heads/main:refs/heads/main")]
    #[case("git -c remote.origin.push=+main push")]
    #[case("git remote add --mirror=push backup url")]
    #[case("F=-f; if x; then F=-rf; fi; rm $F y")]
    #[case("F=-f; x && F=-rf; rm $F y")]
    #[case("f() { rm \"$@\"; }; f -rf x")]
    #[case("f() { rm $F x; }; F=-rf; f")]
    #[case("rm ${F:--rf} x")]
    #[case("X=-rf; bash -c 'rm $X y'")]
    #[case("echo '-rf x' | xargs rm")]
    #[case("echo push -f | xargs git")]
    #[case("echo -f | xargs -I{} git push {}")]
    #[case("echo cm0gLXJmIHgK | base64 -d | sh")]
    #[case("echo 'xrm -rf y' | sed s/x// | sh")]
    #[case("echo 'rm -rf y' | head -1 | sh")]
    #[case("X=\"$Y push -f\"; git $X")]
    #[case("docker run --entrypoint rm image -rf x")]
    #[case("docker exec web rm -rf x")]
    #[case("F=-rf; sh <<EOF\nrm $F x\nEOF")]
    #[case("read F <<< '-rf'; rm $F x")]
    #[case("nice nice nice nice nice nice nice nice nice nice rm -rf x")]
    fn what_may_be_run_asks(#[case] script: &str) {
        assert_eq!(seen(script), Some(false), "{:?}", invocations(script));
    }

    #[rstest]
    #[case("X='push --force'; git log $Y")]
    #[case("F=-rf; F=; rm $F x")]
    #[case("(F=-rf); rm -i x")]
    #[case("F=-rf ls; rm $F x")]
    #[case("echo 'git push -f' | cat")]
    #[case("echo 'git push -f' | git commit -F -")]
    #[case("echo 'git push -f' || sh")]
    #[case("echo 'git push -f'; sh")]
    #[case("cat <<EOF\nrm -rf x\nEOF\nsh")]
    #[case("cat script | sh")]
    #[case("curl -s host | sh")]
    #[case("env A=1 ls -S 'rm -rf x'")]
    #[case("git config --get alias.x")]
    #[case("git config alias.st 'status -s'")]
    #[case("git config remote.origin.push main")]
    #[case("alias ll='ls -l'; ll -rf")]
    #[case("docker rm -f x")]
    #[case("docker run --rm -f image ls -r")]
    #[case("kubectl exec pod -- ls -rf")]
    #[case("echo {rm,-rf,x}")]
    #[case("for f in a b c; do rm -f \"$f\"; done")]
    #[case("rm -f {a,b}/{r,f}")]
    #[case("find . -name '*.o' | xargs rm -f")]
    #[case("nice timeout 5 sudo -n env A=1 nohup ls")]
    fn what_is_not_run_does_not_ask(#[case] script: &str) {
        assert_eq!(seen(script), None, "{:?}", invocations(script));
    }

    #[test]
    fn a_script_of_many_megabytes_is_read_in_pieces() {
        let line = "true aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n";
        let script = format!("rm -rf x\n{}rm -rf y", line.repeat(70_000));
        let found = invocations(&script);
        let removing = found.iter().filter(|run| run.program == "rm");
        let places: Vec<(&str, bool)> = removing
            .map(|run| (&script[run.range.clone()], run.is_sure))
            .collect();
        assert_eq!(places, [("rm -rf x", true), ("rm -rf y", false)]);
        assert!(found.iter().any(Invocation::is_unread));
    }

    #[test]
    fn scripts_in_scripts_come_to_an_end_and_what_was_not_read_is_told() {
        let deep = format!("{}x{}", "$(".repeat(30), ")".repeat(30));
        let many = format!(
            "a=({}); for i in ${{a[@]}}; do rm $i$i$i$i; done",
            "x y ".repeat(100)
        );
        for script in [
            "eval ".repeat(10_000),
            "$(".repeat(10_000),
            "nice ".repeat(10_000),
            deep,
            format!("rm -{}", "{a,b}".repeat(40)),
        ] {
            let found = invocations(&script);
            assert!(found.iter().any(Invocation::is_unread), "{}", &script[..20]);
        }
        invocations(&many);
        invocations(&"X=1; $X ".repeat(5_000));
        invocations(&"echo x | ".repeat(5_000));
        invocations(&format!("{}sh", "echo x | cat | ".repeat(5_000)));
    }
}
