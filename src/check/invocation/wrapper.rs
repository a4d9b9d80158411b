//! Programs that run what stands behind them in the same surroundings: `sudo`, `env`, `xargs` and their like.

use super::options::{options, split_string};
use super::program::quoted_words;
use super::{Invocation, Reading, Surroundings, around, assignment, joined, words_at};
use crate::check::expand::{Field, Hides, Scope, Script, Value, Values};
use crate::check::shell::Word;

/// A program that runs what stands behind it.
pub struct Wrapper {
    name: &'static str,
    /// Its options that take a value.
    valued: &'static [&'static str],
    /// Options with which it runs nothing.
    idle: &'static [&'static str],
    /// How many words stand before the command.
    skipped: usize,
}

impl Wrapper {
    const fn new(name: &'static str) -> Self {
        Wrapper {
            name,
            valued: &[],
            idle: &[],
            skipped: 0,
        }
    }

    const fn valued(self, valued: &'static [&'static str]) -> Self {
        Wrapper { valued, ..self }
    }

    const fn idle(self, idle: &'static [&'static str]) -> Self {
        Wrapper { idle, ..self }
    }

    const fn skipped(self, skipped: usize) -> Self {
        Wrapper { skipped, ..self }
    }

    /// The wrapper of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        WRAPPERS.iter().find(|wrapper| wrapper.name == name)
    }

    /// The command among the words that it is given.
    pub fn behind<'w>(&self, arguments: &'w [Word]) -> &'w [Word] {
        let rest = options(arguments, self.valued).1;
        rest.get(self.skipped..).unwrap_or_default()
    }
}

static WRAPPERS: &[Wrapper] = &[
    Wrapper::new("sudo")
        .valued(&[
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
        ])
        .idle(&[
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
        ]),
    Wrapper::new("doas").valued(&["-u", "-C", "-a"]),
    Wrapper::new("pkexec").valued(&["--user"]),
    Wrapper::new("env")
        .valued(&["-a", "-u", "-C", "--argv0", "--unset", "--chdir"])
        .idle(&["--help", "--version"]),
    Wrapper::new("command").idle(&["-v", "-V"]),
    Wrapper::new("builtin"),
    Wrapper::new("exec").valued(&["-a"]),
    Wrapper::new("nohup"),
    Wrapper::new("setsid"),
    Wrapper::new("unbuffer"),
    Wrapper::new("fakeroot"),
    Wrapper::new("torsocks"),
    Wrapper::new("dbus-run-session").valued(&["--config-file", "--dbus-daemon"]),
    Wrapper::new("xvfb-run").valued(&[
        "-n",
        "-s",
        "-e",
        "-f",
        "-p",
        "-w",
        "--server-num",
        "--server-args",
        "--error-file",
        "--auth-file",
        "--xauth-protocol",
        "--wait",
    ]),
    Wrapper::new("systemd-run").valued(&[
        "-p",
        "-u",
        "-E",
        "-H",
        "-M",
        "--property",
        "--unit",
        "--setenv",
        "--host",
        "--machine",
        "--slice",
        "--description",
        "--uid",
        "--gid",
        "--nice",
        "--service-type",
        "--working-directory",
        "--on-active",
        "--on-boot",
        "--on-startup",
        "--on-unit-active",
        "--on-unit-inactive",
        "--on-calendar",
        "--timer-property",
        "--path-property",
        "--socket-property",
    ]),
    Wrapper::new("caffeinate").valued(&["-t", "-w"]),
    Wrapper::new("winpty"),
    Wrapper::new("time").valued(&["-f", "-o"]),
    Wrapper::new("nice").valued(&["-n", "--adjustment"]),
    Wrapper::new("ionice")
        .valued(&["-c", "-n"])
        .idle(&["-p", "-P", "-u"]),
    Wrapper::new("stdbuf").valued(&["-i", "-o", "-e"]),
    Wrapper::new("strace")
        .valued(&["-o", "-e", "-s", "-u", "-E", "-a"])
        .idle(&["-p"]),
    Wrapper::new("gosu").skipped(1),
    Wrapper::new("taskset").idle(&["-p"]).skipped(1),
    Wrapper::new("chrt").idle(&["-p"]).skipped(1),
    Wrapper::new("timeout")
        .valued(&["-k", "-s", "--kill-after", "--signal"])
        .skipped(1),
    Wrapper::new("chroot")
        .valued(&["--userspec", "--groups"])
        .skipped(1),
    Wrapper::new("flock").valued(&["-w", "-E"]).skipped(1),
    Wrapper::new("busybox"),
    Wrapper::new("toybox"),
    Wrapper::new("coreutils"),
    Wrapper::new("entr"),
    Wrapper::new("xargs").valued(&[
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
    ]),
    Wrapper::new("parallel").valued(&["-j", "--jobs", "-I", "-a", "-N", "-n"]),
];

impl Reading<'_> {
    /// A program that runs another one.
    pub(super) fn wrapped(
        &mut self,
        commands: &Script<'_>,
        wrapper: &Wrapper,
        arguments: &[Word],
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        let (flags, mut rest) = options(arguments, wrapper.valued);
        let has = |names: &[&str]| flags.iter().any(|flag| names.contains(&flag.name.as_str()));
        if wrapper.name == "sudo" && has(&["-e", "--edit"]) {
            self.found.push(Invocation {
                program: "sudoedit".to_owned(),
                arguments: rest.to_vec(),
                range: around(arguments),
                input: None,
                is_sure: at.is_sure,
                is_whole: at.is_whole,
            });
        }
        if has(wrapper.idle) {
            return;
        }
        if wrapper.name == "env" {
            if let Some((text, behind)) = split_string(arguments) {
                let script = format!("{text} {}", quoted_words(behind));
                return self.script(&script, Some(&around(arguments)), &at.deeper(), scope);
            }
            // A hyphen alone empties the surroundings.
            if rest.first().is_some_and(|word| word.text == "-") {
                rest = options(&rest[1..], wrapper.valued).1;
            }
        }
        let before = &arguments[..arguments.len() - rest.len()];
        rest = rest.get(wrapper.skipped..).unwrap_or_default();
        let held = self.set_before(before, at, scope);
        let opens_shell = match wrapper.name {
            "sudo" | "doas" => has(&["-s", "-i", "--shell", "--login"]),
            "systemd-run" => has(&["-S", "--shell"]),
            "chroot" => rest.is_empty(),
            _ => false,
        };
        match wrapper.name {
            _ if opens_shell => self.opened_shell(commands, rest, at, scope),
            "flock" if rest.first().is_some_and(|word| word.text == "-c") => {
                self.inner(&rest[1..], at, scope);
            }
            "entr" if has(&["-s"]) => self.inner(rest, &at.without_input(), scope),
            "entr" => self.run(commands, rest, &at.deeper().without_input(), scope),
            "xargs" => self.xargs(commands, rest, at, scope),
            "parallel" => self.parallel(rest, at, scope),
            _ => self.run(commands, rest, &at.deeper(), scope),
        }
        for (name, values) in held {
            scope.restore(&name, values);
        }
    }

    /// Sets what stands among the options, and gives what was held before.
    fn set_before(
        &mut self,
        words: &[Word],
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) -> Vec<(String, Option<Values>)> {
        let mut held = Vec::new();
        for word in words {
            let Some((name, value, how)) = assignment(word) else {
                continue;
            };
            if !self.budget.spend(scope.size_of(name)) {
                self.unread(word.range.clone());
                continue;
            }
            held.push((name.to_owned(), scope.get(name)));
            self.carried_by_variable(name, value, &word.range, at, scope);
            let value = Value {
                is_exported: true,
                ..Value::new(vec![Field::of(value)], at.is_sure)
            };
            scope.set(name, value, how, true);
        }
        held
    }

    /// A shell that is opened: it runs what stands behind it, or what it reads.
    fn opened_shell(
        &mut self,
        commands: &Script<'_>,
        rest: &[Word],
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        let Some(first) = rest.first() else {
            return self.read_input(at, scope);
        };
        self.run(commands, rest, &at.deeper(), scope);
        // Whether the words of one are told apart depends on the program's version.
        if first.text.contains(char::is_whitespace) {
            self.inner(rest, &at.unsure(), scope);
        }
    }

    /// `xargs`: what is piped in becomes the last arguments, or stands where `{}` does.
    fn xargs(
        &mut self,
        commands: &Script<'_>,
        rest: &[Word],
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        if let Some(feed) = at.input
            && !rest.is_empty()
        {
            let holes = rest.iter().map(|word| word.text.matches("{}").count());
            let times = 1 + holes.sum::<usize>();
            if !self.budget.spend(times.saturating_mul(feed.text.len())) {
                return self.unread(feed.range.clone());
            }
            let added = words_at(&feed.text, &feed.range);
            let text = joined(&added);
            let mut words: Vec<Word> = rest.to_vec();
            for word in &mut words {
                word.text = word.text.replace("{}", &text);
            }
            words.extend(added);
            let is_followed = feed.is_whole && feed.hides != Hides::Anything;
            let at = Surroundings {
                input: None,
                is_whole: at.is_whole && is_followed,
                ..at.deeper().unsure()
            };
            self.run(commands, &words, &at, scope);
        }
        self.run(commands, rest, &at.deeper(), scope);
    }

    /// `parallel`: a line of a shell, in which each of the inputs behind `:::` stands where `{}` does, or at the end. Without
    /// such a line the inputs are the lines.
    fn parallel(&mut self, rest: &[Word], at: &Surroundings<'_>, scope: &mut Scope) {
        let end = rest.iter().position(|word| word.text.starts_with(":::"));
        let (line, inputs) = rest.split_at(end.unwrap_or(rest.len()));
        let inputs = inputs.get(1..).unwrap_or_default();
        if line.is_empty() {
            for word in inputs {
                self.script(&word.text, Some(&word.range), &at.deeper(), scope);
            }
            return self.read_input(at, scope);
        }
        let text = joined(line);
        let place = around(rest);
        let fed = match (inputs, at.input) {
            ([], None) => None,
            ([], Some(feed)) => Some(feed.text.to_string()),
            (inputs, _) => Some(joined(inputs)),
        };
        let at = Surroundings {
            input: None,
            ..at.deeper()
        };
        self.script(&text, Some(&place), &at, scope);
        if let Some(fed) = fed {
            let times = 1 + text.matches("{}").count();
            if !self.budget.spend(times.saturating_mul(fed.len())) {
                return self.unread(place);
            }
            let text = if times > 1 {
                text.replace("{}", &fed)
            } else {
                format!("{text} {fed}")
            };
            self.script(&text, Some(&place), &at.unsure(), scope);
        }
    }
}
