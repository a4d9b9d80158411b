//! Programs that only read or say something: the words of a limit among their arguments are looked for, or spoken of.

use super::invocation::{Invocation, Wrapper, command_of, name_of};
use super::shell::Simple;
use super::{git, sed};

/// Programs that change nothing, whatever they are given.
const READERS: &[&str] = &[
    ":",
    "[",
    "ag",
    "apropos",
    "basename",
    "cat",
    "cd",
    "cmp",
    "column",
    "comm",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "false",
    "fgrep",
    "file",
    "fmt",
    "grep",
    "head",
    "help",
    "hexdump",
    "history",
    "id",
    "info",
    "jq",
    "less",
    "ls",
    "man",
    "md5sum",
    "more",
    "nl",
    "od",
    "printf",
    "ps",
    "pwd",
    "readlink",
    "realpath",
    "rg",
    "sha256sum",
    "stat",
    "tac",
    "tail",
    "test",
    "tr",
    "tree",
    "true",
    "type",
    "uname",
    "wc",
    "whatis",
    "whereis",
    "which",
    "whoami",
    "}",
    "fi",
    "done",
    "esac",
];

/// Commands of git that change nothing.
const GIT_READERS: &[&str] = &[
    "annotate",
    "blame",
    "cat-file",
    "check-ignore",
    "count-objects",
    "describe",
    "diff",
    "diff-tree",
    "for-each-ref",
    "grep",
    "help",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "merge-base",
    "name-rev",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "show-branch",
    "show-ref",
    "status",
    "version",
    "whatchanged",
];

/// Programs that change something, and whose words are names and texts, but no commands.
const PLAIN: &[&str] = &[
    "[[",
    "aizo",
    "case",
    "chmod",
    "chown",
    "cp",
    "curl",
    "exit",
    "gh",
    "glab",
    "hash",
    "install",
    "kill",
    "killall",
    "let",
    "ln",
    "logger",
    "mail",
    "mkdir",
    "mv",
    "notify-send",
    "open",
    "pbcopy",
    "pgrep",
    "pkill",
    "pytest",
    "return",
    "rm",
    "rmdir",
    "say",
    "sd",
    "sed",
    "sleep",
    "sort",
    "touch",
    "unalias",
    "uniq",
    "unlink",
    "unset",
    "wait",
    "wall",
    "wget",
    "write",
    "xclip",
    "xdg-open",
];

/// Whether a program runs nothing that stands among its words.
pub fn is_harmless(program: &str) -> bool {
    READERS.contains(&program) || PLAIN.contains(&program)
}

/// Programs that go through a text with rules.
const AWKS: &[&str] = &["awk", "gawk", "mawk"];

/// Programs that apply a patch.
const PATCHERS: &[&str] = &["apply_patch", "applypatch", "patch"];

/// What a program does with what stands in its words.
#[derive(Debug, PartialEq, Eq)]
pub enum Role {
    /// Whatever it likes.
    Acts,
    /// Looks for it.
    Looks,
    /// Writes its words, as they stand there.
    Says,
    /// Takes it away, and writes this in its place.
    Replaces(String),
    /// Takes away and adds what a patch says that it reads.
    Patches,
}

/// Whether a command may only read: it writes no file, and runs no script that is not seen here.
pub fn may_read(simple: &Simple) -> bool {
    if simple.writes {
        return false;
    }
    let Some((first, arguments)) = command_of(&simple.words).split_first() else {
        return true;
    };
    let name = name_of(&first.text);
    let has = |signs: &[&str]| {
        let mut texts = arguments.iter().map(|word| word.text.as_str());
        texts.any(|text| signs.iter().any(|sign| text.starts_with(sign)))
    };
    match name.as_str() {
        "git" | "sort" | "uniq" | "sed" => true,
        name if AWKS.contains(&name) => true,
        // What it runs is looked at by itself.
        "find" => !has(&["-delete", "-fprint", "-fls"]),
        // What stands behind a wrapper is looked at by itself.
        name => READERS.contains(&name) || Wrapper::named(name).is_some(),
    }
}

/// Whether a command may only look for things, or take them away.
pub fn may_only_look(simple: &Simple) -> bool {
    let patches = || {
        let first = command_of(&simple.words).first();
        first.is_some_and(|first| PATCHERS.contains(&name_of(&first.text).as_str()))
    };
    may_read(simple) || !simple.writes && patches()
}

/// Whether a program only reads.
pub fn only_reads(run: &Invocation) -> bool {
    let has = |sign: &dyn Fn(&str) -> bool| run.arguments.iter().any(|word| sign(&word.text));
    match run.program.as_str() {
        "git" => git::subcommand(run).is_some_and(|(name, arguments)| {
            let writes = |text: &str| {
                text.starts_with("--output")
                    || matches!(text, "--ext-diff" | "-O")
                    || text.starts_with("--open")
            };
            GIT_READERS.contains(&name) && !arguments.iter().any(|word| writes(&word.text))
        }),
        "sort" | "uniq" => !has(&|text| text.starts_with("-o") || text.starts_with("--output")),
        "sed" => has(&|text| text == "-n") && !edits_in_place(run),
        "rg" => !has(&|text| text.starts_with("--pre")),
        // It writes what it reads, and nothing of its own.
        program if AWKS.contains(&program) => !has(&|text| {
            matches!(text, "-f" | "-i" | "-v")
                || text.contains(['"', '>', '|', '@'])
                || text.contains("system")
        }),
        program => READERS.contains(&program),
    }
}

fn edits_in_place(run: &Invocation) -> bool {
    let mut texts = run.arguments.iter().map(|word| word.text.as_str());
    texts.any(|text| text.starts_with("-i") || text.starts_with("--in-place"))
}

/// Whether a program is given an option of one letter.
fn has_option(run: &Invocation, letter: char) -> bool {
    let mut texts = run.arguments.iter().map(|word| word.text.as_str());
    texts.any(|text| text.starts_with('-') && !text.starts_with("--") && text.contains(letter))
}

/// What a program does with what stands in its words.
pub fn role_of(run: &Invocation) -> Role {
    match run.program.as_str() {
        // What they say is there to be read.
        "echo" | "printf" => Role::Says,
        program if PATCHERS.contains(&program) => Role::Patches,
        "git" if matches!(git::subcommand(run), Some(("apply" | "am", _))) => Role::Patches,
        name if name == "sed" || name == "perl" && has_option(run, 'p') => {
            sed::added_by(&run.arguments).map_or(Role::Acts, Role::Replaces)
        }
        "tr" if has_option(run, 'd') => Role::Replaces(String::new()),
        "sd" => {
            let words = run.arguments.iter().map(|word| word.text.as_str());
            let by = words.filter(|text| !text.starts_with('-')).nth(1);
            Role::Replaces(by.unwrap_or_default().to_owned())
        }
        _ if only_reads(run) => Role::Looks,
        _ => Role::Acts,
    }
}

#[cfg(test)]
mod tests {
    use crate::check::matter::{Input, Matter};
    use rstest::rstest;

    #[rstest]
    #[case("git log --grep \"push main\"", true)]
    #[case("grep -rn 'rm -rf' .", true)]
    #[case("cat shellfish.md | grep main 2>&1 >/dev/null", true)]
    #[case("ls -la main && git status; git diff main", true)]
    #[case("git -C x show main", true)]
    #[case("sudo cat x", true)]
    #[case("man rm", true)]
    #[case("git help push", true)]
    #[case("cat x > main", false)]
    #[case("cat x >> main", false)]
    #[case("echo x | tee main", false)]
    #[case("git log --output=main", false)]
    #[case("git push", false)]
    #[case("find . -name '*main*'", true)]
    #[case("find . -name '*main*' -delete", false)]
    #[case("bash deploy-main.sh", false)]
    #[case("./deploy main", false)]
    #[case("ssh host main", false)]
    #[case("python3 -c 'main()'", false)]
    #[case("grep main x; order shellfish", false)]
    #[case("echo x | sh", false)]
    #[case("grep \"$(order shellfish)\" x", false)]
    #[case("git config alias.x main", false)]
    #[case("nice nice nice nice nice nice nice nice nice nice ls", false)]
    fn what_only_reads(#[case] command: &str, #[case] is: bool) {
        assert_eq!(Matter::new(&Input::command(command)).only_reads(), is);
    }
}
