//! A command of a script: which program it is, and what that does with its words.

use std::ops::Range;

use super::options::{after_options, value_of};
use super::runner::{SHELLS, is_interpreter, may_begin};
use super::wrapper::Wrapper;
use super::{DEEPEST, Invocation, Reading, Surroundings, around, command_of, joined, name_of};
use crate::check::build::Build;
use crate::check::expand::{
    Field, Scope, Script, Sets, UNREAD, UNREAD_CODE, Value, is_declaration, printed,
};
use crate::check::sed;
use crate::check::shell::Word;
use crate::model::quoted;

/// Options of `Start-Process` before the program and its words, and those that change nothing.
const START_OPTIONS: &[&str] = &[
    "-filepath",
    "-argumentlist",
    "-args",
    "-wait",
    "-nonewwindow",
];

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
        if at.depth > DEEPEST || at.is_inner() && !self.budget.spend(size_of(words)) {
            return self.unread(place);
        }
        // What is made of a text that is not followed: as a program where it is code, and else only as a value.
        let is_unread = first.text.contains([UNREAD, UNREAD_CODE]);
        if is_unread && (!first.is_dynamic || !at.is_whole) {
            return self.unread(place);
        }
        if is_unread {
            let words = [&[without_sign(first)], arguments].concat();
            return self.run(commands, &words, at, scope);
        }
        let is_open = |word: &Word| !word.is_dynamic && word.text.starts_with(UNREAD);
        let at = &Surroundings {
            is_whole: at.is_whole && !arguments.iter().any(is_open),
            ..*at
        };
        self.alias(&first.text, arguments, &place, at, scope);
        let program = name_of(&first.text);
        let is_function = self.function(&first.text, arguments, &place, at, scope);
        if is_function && !may_begin(&first.text) {
            return self.note(program, arguments, place, at);
        }
        // A function may have been taken back.
        let at = &if is_function { at.unsure() } else { *at };
        if self.by_another_name(commands, words, at, scope) {
            return;
        }
        self.carried(&program, arguments, at, scope);
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
            "crontab" => self.table(at),
            "start-process" | "saps" => {
                let texts = arguments.iter().map(|word| word.text.as_str());
                let texts =
                    texts.filter(|text| !START_OPTIONS.contains(&text.to_lowercase().as_str()));
                let line = texts.collect::<Vec<_>>().join(" ").replace(',', " ");
                self.script(&line, Some(&place), &at.deeper().without_input(), scope);
            }
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
            "alias" | "for" | "select" | "set" | "shift" | "read" | "mapfile" | "readarray" => {
                self.set(&program, arguments, at, scope);
            }
            _ if is_declaration(first) => self.declare(commands, &program, arguments, at, scope),
            "" if at.is_whole => {}
            "" => self.unread(place),
            _ => {
                match program.as_str() {
                    "git" => self.git(commands, arguments, at, scope),
                    "tmux" => self.tmux(commands, arguments, at, scope),
                    "sed" => self.sed(commands, arguments, &place, at, scope),
                    "printf" => self.print_into(arguments, at, scope),
                    "cp" | "dd" | "hash" | "install" | "link" | "ln" | "mv" => {
                        self.name_program(&program, arguments, at, scope);
                    }
                    name if is_interpreter(name) => self.code(commands, arguments, at, scope),
                    _ => self.unknown(commands, &program, arguments, at, scope),
                }
                self.note(program, arguments, place, at);
            }
        }
    }

    /// Notes a program that is run.
    fn note(
        &mut self,
        program: String,
        arguments: &[Word],
        place: Range<usize>,
        at: &Surroundings<'_>,
    ) {
        self.found.push(Invocation {
            program,
            arguments: arguments.iter().map(without_sign).collect(),
            range: place,
            input: at.input.map(|feed| feed.range.clone()),
            is_sure: at.is_sure,
            is_whole: at.is_whole,
        });
    }

    /// A table of times and commands, which are run later.
    fn table(&mut self, at: &Surroundings<'_>) {
        let Some((feed, table)) = at.input.zip(Build::of("crontab")) else {
            return;
        };
        let at = at.deeper().without_input().unsure();
        for line in feed.text.lines() {
            for held in table.commands_in(line) {
                let text = held.text.as_deref().unwrap_or(&line[held.range]);
                self.script(text, Some(&feed.range), &at, &mut Scope::default());
            }
        }
    }

    /// What the script of `sed` runs.
    fn sed(
        &mut self,
        commands: &Script<'_>,
        arguments: &[Word],
        place: &Range<usize>,
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        let run = sed::run_by(arguments);
        for (line, is_sure) in run.lines {
            let at = at.deeper().without_input();
            let at = if is_sure { at } else { at.unsure() };
            self.script(&line, Some(place), &at, scope);
        }
        if let Some(rest) = run.rest {
            self.spoken(commands, &rest, place, at, scope);
        }
        if run.takes_input {
            self.read_input(&at.unsure(), scope);
        }
    }

    /// `printf -v name …`.
    fn print_into(&mut self, arguments: &[Word], at: &Surroundings<'_>, scope: &mut Scope) {
        let (name, format, values) = match arguments {
            [option, name, end, format, values @ ..] if option.text == "-v" && end.text == "--" => {
                (name, format, values)
            }
            [option, name, format, values @ ..] if option.text == "-v" => (name, format, values),
            _ => return,
        };
        let is_known = !arguments.iter().any(|word| word.is_dynamic);
        let Some((text, is_plain)) = printed(&format.text, values, self.budget) else {
            return scope.leave_open(&name.text);
        };
        let field = Field {
            text,
            is_dynamic: !is_known,
        };
        let value = Value::new(vec![field], at.is_sure && is_plain && is_known);
        scope.set(&name.text, value, Sets::Anew, at.is_certain);
        if !at.is_whole {
            scope.leave_open(&name.text);
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
            ("for" | "select", [name]) => {
                let given = scope.arguments();
                scope.set_all(&name.text, &given, false);
            }
            ("set", _) => {
                let mut rest = after_options(arguments, &["-o", "+o"]);
                while let [sign, behind @ ..] = rest
                    && (sign.text == "-" || sign.text.starts_with('+'))
                {
                    rest = after_options(behind, &["-o", "+o"]);
                }
                let clears = arguments.iter().any(|word| word.text == "--");
                if clears || !rest.is_empty() {
                    scope.set_arguments(rest, at.is_sure, at.is_certain);
                }
            }
            ("shift", _) => {
                let count = arguments.first().map_or(Ok(1), |word| word.text.parse());
                scope.shift(count.unwrap_or(1), at.is_certain);
            }
            ("read" | "mapfile" | "readarray", _) => self.take_input(program, arguments, at, scope),
            _ => {}
        }
    }

    /// What `read` and `mapfile` put into variables.
    fn take_input(
        &mut self,
        program: &str,
        arguments: &[Word],
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        const OF_READ: &[&str] = &["-p", "-d", "-n", "-N", "-t", "-u", "-i"];
        const OF_MAPFILE: &[&str] = &["-d", "-n", "-O", "-s", "-u", "-C", "-c"];
        let Some(feed) = at.input else {
            return;
        };
        if !self.budget.spend(feed.text.len()) {
            return self.unread(feed.range.clone());
        }
        let takes_lines = program != "read";
        let is_array = |word: &Word| word.text.starts_with('-') && word.text.contains('a');
        let takes_all = takes_lines || arguments.iter().any(is_array);
        let names = arguments_of(arguments, if takes_lines { OF_MAPFILE } else { OF_READ });
        let text = feed.marked();
        let is_sure = at.is_sure && feed.is_sure && at.is_certain;
        let mut set = |name: &str, fields: Vec<Field>, is_certain: bool| {
            scope.set(name, Value::new(fields, is_sure), Sets::Anew, is_certain);
            if !feed.is_whole {
                scope.leave_open(name);
            }
        };
        if takes_all {
            let parts: Vec<Field> = match takes_lines {
                true => text.lines().map(Field::of).collect(),
                false => text.split_whitespace().map(Field::of).collect(),
            };
            return set(names.last().unwrap_or(&"MAPFILE"), parts, at.is_certain);
        }
        // In a loop it is each line in turn.
        let count = if at.is_certain { 1 } else { usize::MAX };
        for (index, line) in text.trim().lines().take(count).enumerate() {
            let is_certain = at.is_certain && index == 0;
            let parts = parts_of(line, names.len());
            let reply = ["REPLY"];
            let names = if names.is_empty() {
                &reply[..]
            } else {
                &names[..]
            };
            for (name, part) in names.iter().zip(parts) {
                set(name, vec![Field::of(part)], is_certain);
            }
        }
    }
}

/// The words that are no options, wherever they stand.
fn arguments_of<'w>(words: &'w [Word], valued: &[&str]) -> Vec<&'w str> {
    let mut found = Vec::new();
    let mut rest = words;
    while let [first, behind @ ..] = after_options(rest, valued) {
        found.push(first.text.as_str());
        rest = behind;
    }
    found
}

/// The parts of a line for so many variables, of which the last takes the rest.
fn parts_of(line: &str, count: usize) -> Vec<&str> {
    let mut rest = line.trim();
    let mut parts = Vec::new();
    while parts.len() + 1 < count {
        let (first, behind) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        parts.push(first);
        rest = behind.trim_start();
    }
    parts.push(rest);
    parts
}

/// A word as a value: that of another text may be made says nothing of it.
fn without_sign(word: &Word) -> Word {
    Word {
        text: word.text.replace(UNREAD_CODE, ""),
        ..word.clone()
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
