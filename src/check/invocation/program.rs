//! A command of a script: which program it is, and what that does with its words.

use std::ops::Range;

use super::options::{after_options, value_of};
use super::wrapper::{SHELLS, WRAPPERS};
use super::{DEEPEST, Invocation, Reading, Surroundings, around, command_of, joined, name_of};
use crate::check::expand::{Scope, Sets, Value};
use crate::check::shell::{Mark, Simple, Word};

/// Options of `ssh` that take the next word as their value.
const SSH_VALUED: &[&str] = &[
    "-p", "-i", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-b", "-c", "-e", "-m", "-S", "-W", "-w",
    "-B", "-E", "-I", "-O", "-Q",
];

impl Reading {
    /// Reads a command: the name of a program and what it is given.
    pub(super) fn run(
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
}

/// A text as one word of a shell.
pub(super) fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Words as a shell reads them again.
pub(super) fn quoted(words: &[Word]) -> String {
    let words: Vec<String> = words.iter().map(|word| quote(&word.text)).collect();
    words.join(" ")
}

/// The commands that write the file that a word names: `<(…)`.
pub(super) fn file_of(word: &Word) -> Option<Range<usize>> {
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
pub(super) fn is_input(word: &Word) -> bool {
    matches!(
        word.text.as_str(),
        "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"
    )
}
