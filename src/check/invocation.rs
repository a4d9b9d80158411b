//! Which programs a script runs, and with which arguments: behind `sudo`, `env` and their like, in `sh -c '…'`, `eval`,
//! `xargs`, `find -exec` and `ssh`.

use std::ops::Range;

use super::shell::{self, Simple, Word};

/// Scripts within scripts are followed so far.
const DEEPEST: usize = 8;

/// A program that is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// Its name, without a folder.
    pub program: String,
    /// What it is given.
    pub arguments: Vec<Word>,
    /// Where this stands.
    pub range: Range<usize>,
    /// Where a here-document or here-string stands that it reads.
    pub input: Option<Range<usize>>,
}

/// A program that runs what stands behind it: its name, the options that take a value, and the number of words before
/// the command.
const WRAPPERS: &[(&str, &[&str], usize)] = &[
    (
        "sudo",
        &[
            "-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "-D", "-R", "--user", "--group",
            "--host", "--prompt", "--chdir", "--chroot",
        ],
        0,
    ),
    ("doas", &["-u", "-C"], 0),
    ("env", &["-u", "-C", "--unset", "--chdir"], 0),
    ("command", &[], 0),
    ("builtin", &[], 0),
    ("exec", &["-a"], 0),
    ("nohup", &[], 0),
    ("setsid", &[], 0),
    ("time", &["-f", "-o"], 0),
    ("nice", &["-n", "--adjustment"], 0),
    ("ionice", &["-c", "-n"], 0),
    ("stdbuf", &["-i", "-o", "-e"], 0),
    ("timeout", &["-k", "-s", "--kill-after", "--signal"], 1),
    ("chroot", &["--userspec", "--groups"], 1),
    ("flock", &["-w", "-E"], 1),
    ("busybox", &[], 0),
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
        0,
    ),
    ("parallel", &["-j", "--jobs", "-I", "-a", "-N", "-n"], 0),
];

/// Programs that read a script.
const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "ash", "fish"];

/// Words that may stand before a command.
const RESERVED: &[&str] = &[
    "if", "then", "elif", "else", "do", "while", "until", "!", "{", "coproc",
];

/// Every program that a script runs.
pub fn invocations(script: &str) -> Vec<Invocation> {
    let mut found = Vec::new();
    read(script, None, 0, &mut found);
    found
}

/// Reads a script; one that stands in a word of another one has that word's place.
fn read(script: &str, place: Option<&Range<usize>>, depth: usize, found: &mut Vec<Invocation>) {
    if depth > DEEPEST {
        return;
    }
    for mut simple in shell::parse(script) {
        if let Some(place) = place {
            simple.range = place.clone();
            for word in simple.words.iter_mut().chain(&mut simple.input) {
                word.range = place.clone();
            }
        }
        run(&simple, depth, found);
    }
}

/// The last part of a path, without the ending that Windows gives to programs.
fn name_of(word: &Word) -> String {
    let name = word.text.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.to_lowercase();
    name.strip_suffix(".exe").unwrap_or(&name).to_owned()
}

fn is_assignment(word: &Word) -> bool {
    word.text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

fn joined(words: &[Word]) -> String {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    texts.join(" ")
}

fn around(words: &[Word]) -> Range<usize> {
    let start = words.first().map_or(0, |word| word.range.start);
    start..words.last().map_or(start, |word| word.range.end)
}

fn run(simple: &Simple, depth: usize, found: &mut Vec<Invocation>) {
    let mut words = &simple.words[..];
    while words
        .first()
        .is_some_and(|word| is_assignment(word) || RESERVED.contains(&word.text.as_str()))
    {
        words = &words[1..];
    }
    let Some((first, arguments)) = words.split_first() else {
        return;
    };
    let go_on = |words: &[Word], found: &mut Vec<Invocation>| {
        if depth < DEEPEST && !words.is_empty() {
            let inner = Simple {
                words: words.to_vec(),
                input: simple.input.clone(),
                range: around(words),
            };
            run(&inner, depth + 1, found);
        }
    };
    let script = |text: &str, place: &Range<usize>, found: &mut Vec<Invocation>| {
        read(text, Some(place), depth + 1, found);
    };
    let program = name_of(first);
    if let Some((_, valued, skipped)) = WRAPPERS.iter().find(|(name, ..)| *name == program) {
        if program == "command"
            && arguments
                .first()
                .is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V"))
        {
            return;
        }
        if program == "env"
            && let Some(at) = arguments
                .iter()
                .position(|word| matches!(word.text.as_str(), "-S" | "--split-string"))
        {
            let rest = &arguments[at + 1..];
            return script(&joined(rest), &around(rest), found);
        }
        let mut rest = after_options(arguments, valued);
        for _ in 0..*skipped {
            rest = rest.get(1..).unwrap_or_default();
        }
        if program == "flock" && rest.first().is_some_and(|word| word.text == "-c") {
            let rest = &rest[1..];
            return script(&joined(rest), &around(rest), found);
        }
        return go_on(rest, found);
    }
    match program.as_str() {
        name if SHELLS.contains(&name) => {
            let inline = arguments.iter().position(|word| {
                let flags = word.text.strip_prefix('-');
                flags.is_some_and(|flags| !flags.starts_with('-') && flags.ends_with('c'))
            });
            if let Some(text) = inline.and_then(|at| arguments.get(at + 1)) {
                script(&text.text, &text.range, found);
            } else if let Some(input) = &simple.input {
                script(&input.text, &input.range, found);
            }
        }
        "su" => {
            let at = arguments
                .iter()
                .position(|word| matches!(word.text.as_str(), "-c" | "--command"));
            if let Some(text) = at.and_then(|at| arguments.get(at + 1)) {
                script(&text.text, &text.range, found);
            }
        }
        "eval" => script(&joined(arguments), &around(arguments), found),
        "trap" => {
            if let Some(text) = arguments.first() {
                script(&text.text, &text.range, found);
            }
        }
        "watch" => {
            let rest = after_options(arguments, &["-n", "--interval"]);
            script(&joined(rest), &around(rest), found);
        }
        "ssh" => {
            let valued = [
                "-p", "-i", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-b", "-c", "-e", "-m", "-S",
                "-W", "-w",
            ];
            let rest = after_options(arguments, &valued);
            let rest = rest.get(1..).unwrap_or_default();
            script(&joined(rest), &around(rest), found);
        }
        "find" => {
            let mut rest = arguments;
            while let Some(at) = rest.iter().position(|word| {
                matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir")
            }) {
                rest = &rest[at + 1..];
                let end = rest
                    .iter()
                    .position(|word| matches!(word.text.as_str(), ";" | "+"))
                    .unwrap_or(rest.len());
                go_on(&rest[..end], found);
                rest = &rest[end..];
            }
        }
        "fd" | "fdfind" => {
            let at = arguments.iter().position(|word| {
                matches!(word.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch")
            });
            if let Some(at) = at {
                go_on(&arguments[at + 1..], found);
            }
        }
        _ => found.push(Invocation {
            program,
            arguments: arguments.to_vec(),
            range: first.range.start..around(words).end,
            input: simple.input.as_ref().map(|input| input.range.clone()),
        }),
    }
}

/// What is left behind the options, their values, assignments and `--`.
pub fn after_options<'w>(words: &'w [Word], valued: &[&str]) -> &'w [Word] {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let text = word.text.as_str();
        if text == "--" {
            at += 1;
            break;
        }
        if valued.contains(&text) {
            at += 2;
        } else if text.len() > 1 && text.starts_with('-') || is_assignment(word) {
            at += 1;
        } else {
            break;
        }
    }
    words.get(at..).unwrap_or_default()
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
    #[case("for x in 1 2; do a $x; done", &["for x in 1 2", "a $x", "done"])]
    #[case("f() { a; }", &["f", "a", "}"])]
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

    #[test]
    fn scripts_in_scripts_come_to_an_end() {
        let script = "eval ".repeat(10_000);
        assert!(invocations(&script).is_empty());
        let script = "$(".repeat(10_000);
        invocations(&script);
    }
}
