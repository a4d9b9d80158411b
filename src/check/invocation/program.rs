//! A command of a script: which program it is, and what that does with its words.

use std::ops::Range;

use super::options::{after_options, value_of};
use super::runner::{SHELLS, is_interpreter};
use super::wrapper::Wrapper;
use super::{DEEPEST, Invocation, Reading, Surroundings, around, command_of, joined, name_of};
use crate::check::expand::{Scope, Script, Sets, Value};
use crate::check::shell::Word;
use crate::model::quoted;

/// What a word takes besides its text.
const FOR_A_WORD: usize = 8;

impl Reading<'_> {
    /// Reads a command: the name of a program and what it is given.
    pub(super) fn run(
        &mut self,
        commands: &Script<'_>,
        words: &[Word],
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        let words = command_of(words);
        let Some((first, arguments)) = words.split_first() else {
            return;
        };
        let place = around(words);
        let is_inner = at.depth > 0;
        if at.depth > DEEPEST || is_inner && !self.budget.spend(size_of(words)) {
            return self.unread(place);
        }
        self.alias(&first.text, arguments, &place, at, scope);
        let program = name_of(&first.text);
        if let Some(wrapper) = Wrapper::named(&program) {
            return self.wrapped(commands, wrapper, arguments, at, scope);
        }
        match program.as_str() {
            name if SHELLS.contains(&name) => self.shell(commands, arguments, at, scope),
            "cmd" | "powershell" | "pwsh" => self.shell_of_windows(arguments, at, scope),
            "source" | "." => self.source(commands, arguments, at, scope),
            "su" | "runuser" | "script" => {
                self.another_user(commands, &program, arguments, at, scope);
            }
            "eval" => self.script(&joined(arguments), Some(&place), &at.deeper(), scope),
            "trap" => {
                if let Some(text) = after_options(arguments, &[]).first() {
                    self.script(&text.text, Some(&text.range), &at.deeper(), scope);
                }
            }
            "watch" => self.inner(after_options(arguments, &["-n", "--interval"]), at, scope),
            "at" | "batch" => self.read_input(at, scope),
            "wsl" => {
                let valued = ["-d", "-u", "--distribution", "--user", "--cd"];
                let rest = after_options(arguments, &valued);
                self.run(commands, rest, &at.deeper(), scope);
            }
            "direnv" if arguments.first().is_some_and(|word| word.text == "exec") => {
                let rest = arguments.get(2..).unwrap_or_default();
                self.run(commands, rest, &at.deeper(), scope);
            }
            "nix-shell" => {
                if let Some(text) = value_of(arguments, "--run", &["--command"]) {
                    self.script(&text.text, Some(&text.range), &at.deeper(), scope);
                }
            }
            "ssh" => self.ssh(arguments, at, scope),
            "docker" | "podman" | "nerdctl" | "kubectl" | "oc" | "docker-compose" | "lxc"
            | "incus" | "vagrant" | "nsenter" | "machinectl" => {
                self.contained(commands, &program, arguments, at, scope);
            }
            "find" => self.find(commands, arguments, at, scope),
            "fd" | "fdfind" => self.fd(commands, arguments, at, scope),
            "alias" | "for" | "select" | "set" | "read" => {
                self.set(&program, arguments, at, scope);
            }
            "" if at.is_whole => {}
            "" => self.unread(place),
            _ => {
                match program.as_str() {
                    "git" => self.git(commands, arguments, at, scope),
                    "tmux" => self.tmux(commands, arguments, at, scope),
                    name if is_interpreter(name) => self.code(commands, arguments, at, scope),
                    _ => self.unknown(commands, &program, arguments, at, scope),
                }
                self.found.push(Invocation {
                    program,
                    arguments: arguments.to_vec(),
                    range: place,
                    input: at.input.map(|feed| feed.range.clone()),
                    is_sure: at.is_sure,
                    is_whole: at.is_whole,
                });
            }
        }
    }

    /// What an alias makes of a command. Whether a shell replaces it depends on how it was started; and it may be the
    /// program's own name.
    fn alias(
        &mut self,
        name: &str,
        arguments: &[Word],
        place: &Range<usize>,
        at: &Surroundings<'_>,
        scope: &Scope,
    ) {
        let Some(value) = scope.alias(name).filter(|value| !value.is_empty()) else {
            return;
        };
        let script = format!("{value} {}", quoted_words(arguments));
        let Some(mut scope) = scope.copy(self.budget) else {
            return self.unread(place.clone());
        };
        scope.forget_alias(name);
        self.script(&script, Some(place), &at.deeper().unsure(), &mut scope);
    }

    /// A word of the shell that sets something.
    fn set(&mut self, program: &str, arguments: &[Word], at: &Surroundings<'_>, scope: &mut Scope) {
        match (program, arguments) {
            ("alias", _) => {
                for word in arguments {
                    if let Some((name, value)) = word.text.split_once('=') {
                        scope.set_alias(name, value);
                        self.script(value, Some(&word.range), &at.deeper().unsure(), scope);
                    }
                }
            }
            ("for" | "select", [name, keyword, values @ ..]) if keyword.text == "in" => {
                scope.set_all(&name.text, values, at.is_sure);
                if !at.is_whole {
                    scope.leave_open(&name.text);
                }
            }
            ("set", _) => {
                let index = arguments.iter().position(|word| word.text == "--");
                if let Some(index) = index {
                    scope.set_arguments(&arguments[index + 1..], at.is_sure);
                }
            }
            ("read", _) => {
                if let (Some(name), Some(feed)) =
                    (after_options(arguments, &["-p", "-d"]).first(), at.input)
                {
                    if !self.budget.spend(feed.text.len()) {
                        return self.unread(feed.range.clone());
                    }
                    let value = Value {
                        fields: Some(vec![feed.text.trim().to_owned()]),
                        is_sure: false,
                        is_exported: false,
                    };
                    scope.set(&name.text, value, Sets::Anew, false);
                    if !feed.is_whole {
                        scope.leave_open(&name.text);
                    }
                }
            }
            _ => {}
        }
    }
}

/// How much words are to copy.
fn size_of(words: &[Word]) -> usize {
    let sizes = words.iter().map(|word| FOR_A_WORD + word.text.len());
    sizes.sum()
}

/// Words as a shell reads them again.
pub(super) fn quoted_words(words: &[Word]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(&word.text)).collect();
    words.join(" ")
}
