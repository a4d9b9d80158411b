//! Programs that only read or say something: the words of a limit among their arguments are looked for, or spoken of.

use super::git;
use super::invocation::{Invocation, command_of, name_of};
use super::shell::Word;

/// Programs that change nothing, whatever they are given.
const READERS: &[&str] = &[
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

/// Programs that run what stands behind them, which is looked at by itself.
const WRAPPERS: &[&str] = &[
    "command", "nice", "nohup", "sudo", "time", "timeout", "xargs",
];

/// Whether a command may only read: it runs no script that is not seen here.
pub fn may_read(words: &[Word]) -> bool {
    let Some((first, arguments)) = command_of(words).split_first() else {
        return true;
    };
    let name = name_of(first);
    let has = |signs: &[&str]| {
        let mut texts = arguments.iter().map(|word| word.text.as_str());
        texts.any(|text| signs.iter().any(|sign| text.starts_with(sign)))
    };
    match name.as_str() {
        "git" | "sort" | "uniq" | "sed" => true,
        "find" => !has(&["-exec", "-ok", "-delete", "-fprint", "-fls"]),
        name => READERS.contains(&name) || WRAPPERS.contains(&name),
    }
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
        "sed" => {
            has(&|text| text == "-n")
                && !has(&|text| text.starts_with("-i") || text.starts_with("--in-place"))
        }
        "rg" => !has(&|text| text.starts_with("--pre")),
        program => READERS.contains(&program),
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
