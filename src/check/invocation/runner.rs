//! Programs that read a script, or run a command somewhere else: shells, what opens a container or another machine, and
//! whatever else a command stands behind.

use std::ops::Range;

use super::options::{after_options, options, value_of};
use super::wrapper::Wrapper;
use super::{Reading, Surroundings, around, name_of};
use crate::check::expand::{Field, Hides, Scope, Script, Sets, UNREAD, UNREAD_CODE, Value};
use crate::check::shell::{Mark, Word};
use crate::check::{prose, reading};

/// Programs that read a script.
pub(super) const SHELLS: &[&str] = &[
    "sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "csh", "tcsh", "mksh", "lksh", "pdksh",
    "yash", "rbash", "nu", "elvish", "xonsh",
];

/// Options of a shell that take a value.
const SHELL_VALUED: &[&str] = &["-o", "-O", "+o", "+O", "--rcfile", "--init-file"];

/// Options of `ssh` that take the next word as their value.
const SSH_VALUED: &[&str] = &[
    "-p", "-i", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-b", "-c", "-e", "-m", "-S", "-W", "-w",
    "-B", "-E", "-I", "-O", "-Q",
];

/// So many words are tried as the beginning of a command.
const MOST_TRIED: usize = 8;

impl Reading<'_> {
    /// A shell: its script stands behind `-c`, in a file that a command writes, or comes on its standard input.
    pub(super) fn shell(
        &mut self,
        commands: &Script<'_>,
        arguments: &[Word],
        at: &Surroundings<'_>,
        scope: &Scope,
    ) {
        let (flags, mut rest) = options(arguments, SHELL_VALUED);
        let has = |names: &[&str]| flags.iter().any(|flag| names.contains(&flag.name.as_str()));
        // It only looks whether the script can be read.
        if has(&["-n"]) {
            return;
        }
        let Some(mut child) = scope.child(self.budget) else {
            return self.unread(around(arguments));
        };
        let at = &at.apart();
        let attached = flags.iter().find(|flag| flag.name == "--command");
        if let Some(flag) = attached.and_then(|flag| flag.value.clone()) {
            return self.script(&flag.text, Some(&flag.range), &at.deeper(), &mut child);
        }
        if has(&["-c", "--command"]) {
            if rest.first().is_some_and(|word| word.text == "--") {
                rest = &rest[1..];
            }
            if let Some((text, given)) = rest.split_first() {
                let (own, given) = given.split_at(given.len().min(1));
                if !own.is_empty() {
                    let value = Value::new(Field::all_of(own), at.is_sure);
                    child.set("0", value, Sets::Anew, true);
                }
                child.set_arguments(given, at.is_sure, true);
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
                child.set_arguments(rest, at.is_sure, true);
                self.read_input(at, &mut child);
            }
        }
    }

    /// A shell of Windows.
    pub(super) fn shell_of_windows(
        &mut self,
        arguments: &[Word],
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        for (index, word) in arguments.iter().enumerate() {
            let name = word.text.to_lowercase();
            if matches!(name.as_str(), "/c" | "/k" | "//c" | "-c" | "-command") {
                return self.inner(&arguments[index + 1..], at, scope);
            }
            if name == "-ec" || name.len() > 1 && "-encodedcommand".starts_with(&name) {
                return self.unread(around(&arguments[index..]));
            }
        }
        self.read_input(at, scope);
    }

    /// `source`: a file that a command writes, or the standard input.
    pub(super) fn source(
        &mut self,
        commands: &Script<'_>,
        arguments: &[Word],
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        if let Some(of) = arguments.first().and_then(file_of) {
            let feed = scope.output(commands, of);
            self.feed(feed.as_ref(), at, scope);
        } else if arguments.first().is_some_and(is_input) {
            self.read_input(at, scope);
        }
    }

    /// A shell for another user, or one whose output is kept.
    pub(super) fn another_user(
        &mut self,
        commands: &Script<'_>,
        program: &str,
        arguments: &[Word],
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        match value_of(arguments, "-c", &["--command", "--session-command"]) {
            Some(text) => self.script(&text.text, Some(&text.range), &at.deeper(), scope),
            None if program == "runuser" => {
                let rest = after_options(arguments, &["-u", "-g", "-G", "--user"]);
                self.run(commands, rest, &at.deeper(), scope);
            }
            None if program == "su" => self.read_input(at, scope),
            // The command of some versions of `script` stands behind the file.
            None => {
                let rest = after_options(arguments, &["-t", "-T", "-E", "-m", "-o"]);
                let command = rest.get(1..).unwrap_or_default();
                self.run(commands, command, &at.deeper().unsure(), scope);
            }
        }
    }

    /// A command on another machine.
    pub(super) fn ssh(&mut self, arguments: &[Word], at: &Surroundings<'_>, scope: &mut Scope) {
        let rest = after_options(arguments, SSH_VALUED);
        let rest = after_options(rest.get(1..).unwrap_or_default(), SSH_VALUED);
        if rest.is_empty() {
            self.read_input(at, scope);
        } else {
            self.inner(rest, at, scope);
        }
    }

    /// What `find` runs for the files that it finds.
    pub(super) fn find(
        &mut self,
        commands: &Script<'_>,
        arguments: &[Word],
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        let mut rest = arguments;
        while let Some(index) = rest
            .iter()
            .position(|word| matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir"))
        {
            rest = &rest[index + 1..];
            let end = rest
                .iter()
                .position(|word| matches!(word.text.as_str(), ";" | "+"))
                .unwrap_or(rest.len());
            self.run(commands, &rest[..end], &at.deeper(), scope);
            rest = &rest[end..];
        }
    }

    /// What `fd` runs for the files that it finds.
    pub(super) fn fd(
        &mut self,
        commands: &Script<'_>,
        arguments: &[Word],
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        let index = arguments
            .iter()
            .position(|word| matches!(word.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch"));
        if let Some(index) = index {
            self.run(commands, &arguments[index + 1..], &at.deeper(), scope);
        }
    }

    /// What `tmux` types into a shell; it is run where the key for that follows.
    pub(super) fn tmux(
        &mut self,
        commands: &Script<'_>,
        arguments: &[Word],
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        let sends = |word: &Word| matches!(word.text.as_str(), "send-keys" | "send");
        let Some(index) = arguments.iter().position(sends) else {
            return self.unknown(commands, "tmux", arguments, at, scope);
        };
        let keys = after_options(&arguments[index + 1..], &["-t", "-N", "-c"]);
        let ends = |word: &Word| matches!(word.text.as_str(), "Enter" | "C-m" | "KPEnter");
        let typed = keys.split(ends);
        let last = typed.clone().count() - 1;
        for (index, words) in typed.enumerate() {
            let at = if index < last { *at } else { at.unsure() };
            self.inner(words, &at, scope);
        }
    }

    /// A command that is run in a container, or on another machine: where it begins is told by its name, because each
    /// program has options of its own before it.
    pub(super) fn contained(
        &mut self,
        commands: &Script<'_>,
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
        self.entry(commands, rest, at, scope);
        self.tried(commands, rest, at, scope);
    }

    /// The program that a container is begun with. What stands behind the image is given to it; which word that is is not
    /// known here.
    fn entry(
        &mut self,
        commands: &Script<'_>,
        rest: &[Word],
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
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
        let Some((entry, behind)) = entry else {
            return;
        };
        for index in behind..rest.len().min(behind + MOST_TRIED) {
            let words = [std::slice::from_ref(&entry), &rest[index + 1..]].concat();
            self.run(commands, &words, &at.deeper().unsure(), scope);
        }
    }

    /// Reads words from each of them on that may begin a command.
    fn tried(
        &mut self,
        commands: &Script<'_>,
        words: &[Word],
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        let all = words.iter().enumerate();
        let starts = all.filter(|(_, word)| may_begin(&word.text));
        for (tried, (index, word)) in starts.enumerate() {
            if tried == MOST_TRIED {
                return self.unread(around(&words[index..]));
            }
            let is_shell = SHELLS.contains(&name_of(&word.text).as_str());
            let next = words.get(index + 1).map_or("", |word| word.text.as_str());
            let is_plain = is_shell && next.starts_with('-') && next.ends_with('c');
            let at = at.deeper();
            let at = if is_plain { at } else { at.unsure() };
            self.run(commands, &words[index..], &at, scope);
            if is_plain {
                break;
            }
        }
    }

    /// A program that reads code, among its words or on its standard input: what looks like a command in it may be run.
    pub(super) fn code(
        &mut self,
        commands: &Script<'_>,
        arguments: &[Word],
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        if !self.is_run {
            return;
        }
        let input = at.input.map(|feed| (&*feed.text, &feed.range));
        let is_code = arguments.iter().all(|word| word.text == "-");
        if let Some(feed) = at.input
            && is_code
            && feed.hides != Hides::Nothing
        {
            self.unread(feed.range.clone());
        }
        // What stands behind an option for code is some.
        let mut pairs = arguments.windows(2);
        let is_unread = |pair: &[Word]| {
            let option = pair[0].text.strip_prefix('-').unwrap_or_default();
            option.ends_with(['c', 'e', 'r']) && pair[1].text.starts_with([UNREAD, UNREAD_CODE])
        };
        if pairs.any(is_unread) {
            self.unread(around(arguments));
        }
        let given = arguments
            .iter()
            .map(|word| (word.text.as_str(), &word.range));
        for (code, place) in given.chain(input) {
            self.spoken(commands, code, place, at, scope);
        }
    }

    /// Looks for commands in a text that may run them.
    pub(super) fn spoken(
        &mut self,
        commands: &Script<'_>,
        code: &str,
        place: &Range<usize>,
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        if !self.budget.spend(code.len()) {
            return self.unread(place.clone());
        }
        self.tried(commands, &words_of_code(code, place), &at.unsure(), scope);
    }

    /// A program that is not known here may run what stands among its words, or in one of them.
    pub(super) fn unknown(
        &mut self,
        commands: &Script<'_>,
        program: &str,
        arguments: &[Word],
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        if !self.is_run || reading::is_harmless(program) {
            return;
        }
        let at = at.unsure();
        self.tried(commands, arguments, &at, scope);
        let is_script = |text: &&str| {
            let first = text.split_whitespace().next().unwrap_or_default();
            first.len() < text.len() && may_begin(first) && !is_spoken(text)
        };
        for word in arguments {
            // `--exec=line` too.
            let behind = word.text.split_once('=').map(|(_, value)| value);
            let texts = [Some(word.text.as_str()), behind].into_iter().flatten();
            for text in texts.filter(is_script) {
                self.script(text, Some(&word.range), &at.deeper(), scope);
            }
        }
    }
}

/// Programs that read code of a language of their own, in which a command may stand as a text.
const INTERPRETERS: &[&str] = &[
    "awk",
    "bun",
    "deno",
    "ed",
    "elixir",
    "emacs",
    "ex",
    "expect",
    "gawk",
    "gdb",
    "gnuplot",
    "groovy",
    "irb",
    "jshell",
    "julia",
    "lua",
    "m4",
    "make",
    "mawk",
    "mysql",
    "node",
    "nodejs",
    "nvim",
    "osascript",
    "perl",
    "php",
    "psql",
    "pypy",
    "python",
    "r",
    "rscript",
    "ruby",
    "scala",
    "sqlite3",
    "swift",
    "tclsh",
    "ts-node",
    "tsx",
    "vi",
    "view",
    "vim",
];

/// Whether a program reads code, in whatever version: `python3.12`.
pub fn is_interpreter(program: &str) -> bool {
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    INTERPRETERS.contains(&name) || INTERPRETERS.contains(&program)
}

/// Whether a text that begins with the name of a program is none to be run: a sentence about it, or `rm` without anything
/// that it would remove.
fn is_spoken(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let removes_nothing = words.next() == Some("rm") && words.all(|word| word.starts_with('-'));
    removes_nothing || !text.contains([';', '|', '&', '$', '`', '\n']) && prose::tells(text)
}

/// Whether a word of code begins a pattern that is looked for, or ends the name of an argument: `/rm -rf/`, `s/rm -rf//`,
/// `args:`.
fn is_no_program(word: &str) -> bool {
    let before = word.rsplit_once('/').map(|(before, _)| before);
    matches!(before, Some("" | "s" | "m" | "y" | "qr" | "tr"))
        || word.len() > 1 && word.ends_with(':')
}

/// The words of code, whatever quotes and brackets stand around them.
fn words_of_code(code: &str, place: &Range<usize>) -> Vec<Word> {
    let parts = |c: char| {
        c.is_whitespace() || "'\"`()[]{},;|&!".contains(c) || matches!(c, UNREAD | UNREAD_CODE)
    };
    code.split(parts)
        .filter(|word| !word.is_empty() && !is_no_program(word))
        .map(|word| Word {
            text: word.to_owned(),
            range: place.clone(),
            ..Word::default()
        })
        .collect()
}

/// Whether a word may be the name of a program that runs another one, or that a limit may be about.
pub fn may_begin(text: &str) -> bool {
    const LONGEST: usize = 20;
    let name = text.rsplit(['/', '\\']).next().unwrap_or_default();
    if name.len() > LONGEST {
        return false;
    }
    let name = name_of(name);
    SHELLS.contains(&name.as_str())
        || Wrapper::named(&name).is_some()
        || matches!(
            name.as_str(),
            "git" | "rm" | "rd" | "rmdir" | "remove-item" | "find" | "ssh" | "eval"
        )
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
