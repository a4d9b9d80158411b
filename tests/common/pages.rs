//! The pages that people read, against the program: what stands in them, and a session that runs their commands.

use std::path::{Path, PathBuf};

/// A fenced block.
pub struct Block {
    pub language: String,
    /// The line of its first fence, counted from 1.
    pub line: usize,
    pub text: String,
    /// Whether nothing but blank lines stands between the block before it and this one.
    pub is_beneath: bool,
}

/// A file of the repository.
pub fn in_repository(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

/// What stands in a file of the repository, with its lines ending as on Unix.
pub fn text_of(file: &str) -> String {
    let path = in_repository(file);
    std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        .replace("\r\n", "\n")
}

/// The fenced blocks of a language.
pub fn blocks(text: &str, language: &str) -> Vec<Block> {
    let mut found = all_blocks(text);
    found.retain(|block| block.language == language);
    found
}

/// All fenced blocks.
pub fn all_blocks(text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut open: Option<Block> = None;
    let mut is_beneath = false;
    for (index, line) in text.lines().enumerate() {
        match (line.trim_start().strip_prefix("```"), open.take()) {
            (Some(name), None) => {
                open = Some(Block {
                    language: name.trim().to_owned(),
                    line: index + 1,
                    text: String::new(),
                    is_beneath,
                });
            }
            (Some(_), Some(block)) => {
                found.push(block);
                is_beneath = true;
            }
            (None, Some(mut block)) => {
                block.text.push_str(line);
                block.text.push('\n');
                open = Some(block);
            }
            (None, None) => is_beneath &= line.trim().is_empty(),
        }
    }
    assert!(open.is_none(), "a fence is not closed");
    found
}

/// The text without its fenced blocks.
pub fn prose(text: &str) -> String {
    let mut inside = false;
    let mut kept = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            inside = !inside;
        } else if !inside {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// The tables, each a list of rows with the head first and without the rule below it.
pub fn tables(text: &str) -> Vec<Vec<Vec<String>>> {
    let mut found = vec![Vec::new()];
    for line in prose(text).lines() {
        let last = found.last_mut().expect("there is always one");
        if let Some(inner) = line.strip_prefix('|') {
            // A `\|` stands for a bar within a cell.
            let inner = inner.trim_end_matches('|').replace("\\|", "\u{0}");
            let cells: Vec<String> = inner
                .split('|')
                .map(|cell| cell.trim().replace('\u{0}', "|"))
                .collect();
            if !cells.iter().all(|cell| cell.starts_with("---")) {
                last.push(cells);
            }
        } else if !last.is_empty() {
            found.push(Vec::new());
        }
    }
    found.retain(|table| !table.is_empty());
    found
}

/// The rows of the table whose head has this cell.
pub fn table(text: &str, head: &str) -> Vec<Vec<String>> {
    tables(text)
        .into_iter()
        .find(|table| table[0].iter().any(|cell| cell == head))
        .unwrap_or_else(|| panic!("no table has the head {head:?}"))
        .split_off(1)
}

/// What stands in backticks.
pub fn codes(text: &str) -> Vec<String> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// A line of a shell script without its comment.
pub fn without_comment(line: &str) -> String {
    let (mut quote, mut before) = (None, ' ');
    for (at, c) in line.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '\'' || c == '"' => quote = Some(c),
            None if c == '#' && before.is_whitespace() => return line[..at].trim_end().to_owned(),
            None => {}
        }
        before = c;
    }
    line.trim_end().to_owned()
}

/// The commands of all shell blocks, comments aside.
pub fn commands(text: &str) -> Vec<String> {
    blocks(text, "sh")
        .iter()
        .flat_map(|block| block.text.lines())
        .map(without_comment)
        .filter(|line| !line.is_empty())
        .collect()
}

/// The numbers in a cell, in their order.
pub fn numbers(cell: &str) -> Vec<f64> {
    cell.split(|c: char| !c.is_ascii_digit() && c != '.')
        .filter_map(|part| part.parse().ok())
        .collect()
}

/// Runs the commands of a page as a person does who types them one after the other, in a shell and a home of their own.
#[cfg(unix)]
pub mod session {
    use std::fmt::Write;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::{Block, all_blocks, without_comment};
    use crate::common::{Home, Run, binary};

    /// What needs the network, a compiler, or minutes; npm/test tries the first two.
    const ELSEWHERE: [&str; 4] = ["npm ", "curl ", "cargo ", "benches/"];
    /// What pages call the home folder.
    const SHOWN_HOME: &str = "/home/ada";

    /// What a shell block printed, on both streams in their order.
    pub struct Printed {
        /// The line of its first fence.
        pub line: usize,
        pub text: String,
        /// What the page shows beneath it.
        pub shown: Option<Block>,
    }

    /// How a page went.
    pub struct Session {
        pub run: Run,
        pub printed: Vec<Printed>,
    }

    /// Whether a line calls what needs more than this machine, be it with a variable before it.
    fn is_elsewhere(line: &str) -> bool {
        let is_variable = |word: &str| word.starts_with("AIZO_") && word.contains('=');
        let called = match line.split_once(' ') {
            Some((word, rest)) if is_variable(word) => rest,
            _ => line,
        };
        ELSEWHERE.iter().any(|name| called.starts_with(name))
    }

    /// A line as it is run. What needs more than this machine is passed over.
    fn runnable(line: &str) -> String {
        let mut run = match line.strip_prefix("cargo run --release -- ") {
            Some(rest) => format!("aizo {rest}"),
            None if is_elsewhere(line) => String::from(":"),
            None => without_comment(line),
        };
        // What a comment says is found must be in the answer.
        let found = line
            .split_once("# finds “")
            .or_else(|| line.split_once("# 找到 “"))
            .and_then(|(_, rest)| rest.split_once('”'));
        if let Some((item, _)) = found {
            write!(run, " | grep -F '{item}'").expect("a text takes all");
        }
        run
    }

    /// A shell script of all blocks, one after the other; block N prints into the file N of the folder `$printed`. It names
    /// the block that it is in when it fails.
    fn script(file: &str, blocks: &[Block]) -> String {
        let mut script = String::from(
            "exec 3>&2\nblock=none\n\
             trap 'code=$?; [ $code -eq 0 ] || echo \"failed in $block: $BASH_COMMAND\" >&3' EXIT\n",
        );
        let shell = blocks.iter().filter(|block| block.language == "sh");
        for (index, block) in shell.enumerate() {
            writeln!(script, "block='{file}, line {}'\n{{\n:", block.line)
                .expect("a text takes all");
            for line in block.text.lines() {
                script.push_str(&runnable(line));
                script.push('\n');
            }
            writeln!(script, "}} >\"$printed/{index}\" 2>&1").expect("a text takes all");
        }
        script.push_str("echo every block ran >&3\n");
        script
    }

    /// Runs the shell blocks of a page, under the clock or at one moment.
    pub fn run(home: &Home, file: &str, text: &str, now: Option<&str>) -> Session {
        let beside = tempfile::tempdir().expect("a temporary folder");
        let programs = beside.path().join("programs");
        let folder = beside.path().join("printed");
        for folder in [&programs, &folder] {
            fs::create_dir(folder).expect("the folder is empty");
        }
        symlink(binary(), programs.join("aizo")).expect("the name is free");
        let mut path = vec![programs];
        path.extend(std::env::split_paths(
            &std::env::var_os("PATH").expect("there is a PATH"),
        ));
        let all = all_blocks(text);
        let script = script(file, &all);
        let output = Command::new("bash")
            .args(["-euo", "pipefail", "-c", &script])
            .current_dir(home.path())
            .env_clear()
            .env("HOME", home.path())
            .env("PATH", std::env::join_paths(path).expect("no colon in it"))
            .envs(now.map(|now| ("AIZO_NOW", now)))
            .env("printed", &folder)
            .output();
        let run = Run::of(output);
        let printed = shown_beneath(all).into_iter().enumerate();
        let printed = printed
            .map_while(|(index, (line, shown))| {
                let bytes = fs::read(folder.join(index.to_string())).ok()?;
                let text = with_shown_home(home, &String::from_utf8_lossy(&bytes));
                Some(Printed { line, text, shown })
            })
            .collect();
        Session { run, printed }
    }

    /// The lines of the shell blocks, each with the output that stands beneath it.
    fn shown_beneath(all: Vec<Block>) -> Vec<(usize, Option<Block>)> {
        let mut found: Vec<(usize, Option<Block>)> = Vec::new();
        let mut follows_shell = false;
        for block in all {
            let is_shell = block.language == "sh";
            if is_shell {
                found.push((block.line, None));
            } else if follows_shell
                && block.is_beneath
                && block.language != "sql"
                && let Some((_, shown)) = found.last_mut()
            {
                *shown = Some(block);
            }
            follows_shell = is_shell;
        }
        found
    }

    fn with_shown_home(home: &Home, text: &str) -> String {
        let given = home.path().display().to_string();
        let real = home.path().canonicalize().expect("it is there");
        text.replace(&real.display().to_string(), SHOWN_HOME)
            .replace(&given, SHOWN_HOME)
    }

    /// Whether a block shows what was printed. A line `…` stands for any lines, one at the end of a line for its rest.
    pub fn shows(shown: &str, printed: &str) -> bool {
        fn fits(shown: &[&str], printed: &[&str]) -> bool {
            match shown.split_first() {
                None => printed.is_empty(),
                Some((&"…", rest)) => {
                    (0..=printed.len()).any(|from| fits(rest, &printed[from..]))
                }
                Some((line, rest)) => printed.split_first().is_some_and(|(first, others)| {
                    let is_same = match line.strip_suffix('…') {
                        Some(beginning) => first.starts_with(beginning),
                        None => line == first,
                    };
                    is_same && fits(rest, others)
                }),
            }
        }
        let shown: Vec<&str> = shown.lines().map(str::trim_end).collect();
        let printed: Vec<&str> = printed.lines().map(str::trim_end).collect();
        fits(&shown, &printed)
    }
}
