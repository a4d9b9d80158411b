//! Programs that run what stands behind them: `sudo`, `env`, `xargs` and their like, shells, and what opens a container.

use super::options::{options, split_string, value_of};
use super::program::{file_of, is_input, quoted};
use super::{Reading, Surroundings, around, assignment, name_of, words_at};
use crate::check::expand::{Scope, Value};
use crate::check::shell::{Simple, Word};

/// A program that runs what stands behind it: its name, the options that take a value, the options with which it runs
/// nothing, and the number of words before the command.
pub(super) type Wrapper = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
    usize,
);

pub(super) const WRAPPERS: &[Wrapper] = &[
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
pub(super) const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "ash", "fish"];

/// Options of a shell that take a value.
const SHELL_VALUED: &[&str] = &["-o", "-O", "+o", "+O", "--rcfile", "--init-file"];

/// So many words are tried as the beginning of a command.
const MOST_TRIED: usize = 8;

impl Reading {
    /// A program that runs another one.
    pub(super) fn wrapped(
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
    pub(super) fn shell(
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
    pub(super) fn contained(
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
}
