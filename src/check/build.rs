//! Files whose lines hold commands among other things: a recipe of `make`, `RUN` of an image, the scripts of a package, the
//! steps of a workflow. Told by the name of the file, and read line by line: of an edit only a part is at hand.

use std::ops::Range;

use crate::model::quoted;

/// How the lines of a file hold commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Recipes behind signs of `make` and `just`; values that recipes use.
    Recipes,
    /// Instructions of an image.
    Image,
    /// Texts in quotes, each of which may be a command.
    Texts,
    /// Keys and lists.
    Keys,
    /// `name = value` or `name: value`.
    Values,
    /// Settings of git.
    Settings,
    /// Five fields of time, and a command.
    Table,
}

/// Names of such files: all of it, how it begins, or how it ends.
const FILES: &[(&str, &str, Kind)] = &[
    ("makefile", "", Kind::Recipes),
    ("gnumakefile", "", Kind::Recipes),
    ("", ".mk", Kind::Recipes),
    ("", ".mak", Kind::Recipes),
    ("justfile", "", Kind::Recipes),
    (".justfile", "", Kind::Recipes),
    ("", ".just", Kind::Recipes),
    ("dockerfile", "", Kind::Image),
    ("containerfile", "", Kind::Image),
    ("", ".dockerfile", Kind::Image),
    ("jenkinsfile", "", Kind::Texts),
    ("vagrantfile", "", Kind::Texts),
    ("rakefile", "", Kind::Texts),
    ("", ".gradle", Kind::Texts),
    ("", ".json", Kind::Texts),
    ("", ".jsonc", Kind::Texts),
    ("", ".toml", Kind::Texts),
    ("", ".yml", Kind::Keys),
    ("", ".yaml", Kind::Keys),
    ("procfile", "", Kind::Values),
    ("", ".service", Kind::Values),
    ("tox.ini", "", Kind::Values),
    ("setup.cfg", "", Kind::Values),
    ("", ".gitconfig", Kind::Settings),
    ("gitconfig", "", Kind::Settings),
    (".gitmodules", "", Kind::Settings),
    ("crontab", "", Kind::Table),
];

/// Folders whose files are such.
const FOLDERS: &[(&str, Kind)] = &[(".git/config", Kind::Settings), ("/cron.d/", Kind::Table)];

/// Keys whose value is a command.
const KEYS: &[&str] = &[
    "after_script",
    "args",
    "bash",
    "before_script",
    "cmd",
    "cmds",
    "command",
    "commands",
    "do",
    "entry",
    "entrypoint",
    "exec",
    "inlinescript",
    "post",
    "pre",
    "pwsh",
    "run",
    "script",
    "sh",
    "shell",
    "test",
    "tests",
];

/// Instructions of an image that hold a command.
const INSTRUCTIONS: &[&str] = &[
    "CMD",
    "ENTRYPOINT",
    "HEALTHCHECK",
    "ONBUILD",
    "RUN",
    "SHELL",
];

/// A command in a line.
#[derive(Debug, PartialEq, Eq)]
pub struct Held {
    /// Where it stands in the line.
    pub range: Range<usize>,
    /// What it is, where it is written in another way there.
    pub text: Option<String>,
}

/// How a file of some kind is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Build(Kind);

impl Build {
    /// The kind of file that a path names; none where its lines hold no commands, or nothing else.
    pub fn of(path: &str) -> Option<Self> {
        let lower = path.replace('\\', "/").to_lowercase();
        let name = lower.rsplit('/').next().unwrap_or_default();
        let folder = FOLDERS.iter().find(|(part, _)| lower.contains(part));
        let file = || {
            FILES.iter().find(|(start, end, _)| match end.is_empty() {
                // `Dockerfile.dev`, `Makefile.am`.
                true => {
                    name == *start
                        || name
                            .strip_prefix(start)
                            .is_some_and(|rest| rest.starts_with('.'))
                }
                false => name.ends_with(end),
            })
        };
        let kind = folder
            .map(|(_, kind)| *kind)
            .or_else(|| file().map(|(.., kind)| *kind));
        kind.map(Build)
    }

    /// The commands in a line that it does not begin with.
    pub fn commands_in(self, line: &str) -> Vec<Held> {
        match self.0 {
            Kind::Recipes => recipe(line),
            Kind::Image => instruction(line),
            Kind::Texts => texts_in(line, 0),
            Kind::Keys => key(line),
            Kind::Values => value_of(line, &['=', ':'])
                .map(|at| line_at(line, at))
                .into_iter()
                .collect(),
            Kind::Settings => setting(line),
            Kind::Table => table(line),
        }
    }
}

/// What stands in a line from a place on, as it is written.
fn line_at(line: &str, at: usize) -> Held {
    Held {
        range: at..line.len(),
        text: None,
    }
}

/// A line of a recipe, or the value that a variable of it has.
fn recipe(line: &str) -> Vec<Held> {
    let bare = line.trim_start();
    let command = bare.trim_start_matches(['@', '-', '+']);
    let assigned = value_of(line, &['=']).filter(|_| !line.starts_with(['\t', ' ']));
    let start = assigned.unwrap_or(line.len() - command.len());
    // What `make` puts in, and how it writes a dollar sign.
    let text = line[start..]
        .replace("$(RM)", "rm -f")
        .replace("${RM}", "rm -f")
        .replace("$(shell ", "$(")
        .replace("$$", "$");
    if start == line.len() - bare.len() && text == line[start..] {
        return Vec::new();
    }
    vec![Held {
        range: start..line.len(),
        text: Some(text),
    }]
}

/// What an instruction of an image runs.
fn instruction(line: &str) -> Vec<Held> {
    let mut rest = line.trim_start();
    let mut is_instruction = false;
    while let Some((word, behind)) = rest.split_once([' ', '\t']) {
        let is_one = INSTRUCTIONS
            .iter()
            .any(|name| name.eq_ignore_ascii_case(word));
        let is_option = is_instruction && word.starts_with("--");
        if !(is_one || is_option) {
            break;
        }
        is_instruction = true;
        rest = behind.trim_start();
    }
    let start = line.len() - rest.len();
    match is_instruction {
        true if rest.starts_with('[') => list(line, start),
        true => vec![line_at(line, start)],
        false => Vec::new(),
    }
}

/// The value of a key, or an element of a list.
fn key(line: &str) -> Vec<Held> {
    let mut rest = line.trim_start();
    let mut is_element = false;
    while let Some(behind) = rest.strip_prefix("- ") {
        is_element = true;
        rest = behind.trim_start();
    }
    let place = |rest: &str| line.len() - rest.len();
    let named = rest.split_once(": ").filter(|(name, _)| {
        let name = name.trim_matches(['"', '\'']).to_lowercase();
        KEYS.contains(&name.as_str())
    });
    let value = match named {
        Some((_, value)) => value.trim_start(),
        None if is_element => rest,
        None => return Vec::new(),
    };
    let start = place(value);
    match value.chars().next() {
        Some('[') => list(line, start),
        Some('"' | '\'') => texts_in(line, start),
        _ => vec![line_at(line, start)],
    }
}

/// A list in brackets: the words of one command, or each a command.
fn list(line: &str, start: usize) -> Vec<Held> {
    let mut all = texts_in(line, start);
    let words: Vec<String> = all
        .iter()
        .map(|held| quoted(held.text.as_deref().unwrap_or_default()))
        .collect();
    all.push(Held {
        range: start..line.len(),
        text: Some(words.join(" ")),
    });
    all
}

/// The texts in quotes behind a place.
fn texts_in(line: &str, from: usize) -> Vec<Held> {
    let mut found = Vec::new();
    let mut at = from;
    while let Some(open) = line[at..].find(['"', '\'']).map(|open| at + open) {
        let sign = line[open..].chars().next().unwrap_or('"');
        let Some((text, length)) = unquoted(&line[open + 1..], sign) else {
            at = open + 1;
            continue;
        };
        at = open + 1 + length;
        found.push(Held {
            range: open..at,
            text: Some(text),
        });
    }
    found
}

/// A text up to the quote that ends it, and how long that is with the quote.
fn unquoted(text: &str, sign: char) -> Option<(String, usize)> {
    let mut plain = String::new();
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            c if c == sign => return Some((plain, at + 1)),
            '\\' if sign == '"' => match characters.next()?.1 {
                'n' => plain.push('\n'),
                't' => plain.push('\t'),
                escaped => plain.push(escaped),
            },
            c => plain.push(c),
        }
    }
    None
}

/// Where the value begins that stands behind a name and one of these signs.
fn value_of(line: &str, signs: &[char]) -> Option<usize> {
    let at = line.find(signs)?;
    let name = line[..at].trim_end_matches([':', '+', '?', '!']).trim();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    let value = line[at + 1..].trim_start_matches([' ', '\t', '=', '-', '@']);
    Some(line.len() - value.len())
}

/// What a setting of git makes of its value.
fn setting(line: &str) -> Vec<Held> {
    let Some(start) = value_of(line, &['=']) else {
        return Vec::new();
    };
    let value = line[start..].trim().trim_matches('"');
    let command = value.strip_prefix('!');
    let held = |text: String| Held {
        range: start..line.len(),
        text: Some(text),
    };
    let name = line.split('=').next().unwrap_or_default().trim();
    match command {
        Some(command) => vec![held(command.to_owned())],
        // What a remote is given with a plus, it is given by force.
        None if name == "push" => vec![held(format!("git push origin {}", quoted(value)))],
        None => vec![held(value.to_owned()), held(format!("git {value}"))],
    }
}

/// What stands behind five fields of time.
fn table(line: &str) -> Vec<Held> {
    let mut rest = line.trim_start();
    // `@daily` stands for all of them.
    let fields = if rest.starts_with('@') { 1 } else { 5 };
    for _ in 0..fields {
        match rest.split_once([' ', '\t']) {
            Some((field, behind)) if !field.starts_with('#') => rest = behind.trim_start(),
            _ => return Vec::new(),
        }
    }
    vec![line_at(line, line.len() - rest.len())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("Makefile", "\trm -rf build", &[])]
    #[case("Makefile", "\t@-rm -rf build", &["rm -rf build"])]
    #[case("src/rules.mk", "\t$(RM) -r $$x", &["rm -f -r $x"])]
    #[case("Makefile", "CLEAN := rm -rf", &["rm -rf"])]
    #[case("Makefile", "X = $(shell git push -f)", &["$(git push -f)"])]
    #[case("justfile", "    @git push -f", &["git push -f"])]
    #[case("Dockerfile", "RUN rm -rf /x", &["rm -rf /x"])]
    #[case("Dockerfile.dev", "run --mount=type=cache,target=/x rm -rf /x", &["rm -rf /x"])]
    #[case("Dockerfile", "ONBUILD RUN rm -rf /x", &["rm -rf /x"])]
    #[case("Dockerfile", "CMD [\"rm\", \"-rf\", \"a b\"]", &["rm", "-rf", "a b", "'rm' '-rf' 'a b'"])]
    #[case("Dockerfile", "COPY a b", &[])]
    #[case("package.json", "    \"clean\": \"sh -c \\\"rm -rf x\\\"\",", &["clean", "sh -c \"rm -rf x\""])]
    #[case(".github/workflows/ci.yml", "      - run: git push -f", &["git push -f"])]
    #[case("ci.yaml", "  script: \"rm -rf x\"", &["rm -rf x"])]
    #[case("ci.yaml", "  - rm -rf x", &["rm -rf x"])]
    #[case("ci.yaml", "  name: rm -rf x", &[])]
    #[case("compose.yml", "command: [\"rm\", \"-rf\"]", &["rm", "-rf", "'rm' '-rf'"])]
    #[case("Procfile", "web: rm -rf x", &["rm -rf x"])]
    #[case("a.service", "ExecStart=-rm -rf x", &["rm -rf x"])]
    #[case("pyproject.toml", "clean = 'rm -rf x'", &["rm -rf x"])]
    #[case("/home/a/.gitconfig", "  p = push -f", &["push -f", "git push -f"])]
    #[case("x/.git/config", "  p = !rm -rf x", &["rm -rf x"])]
    #[case("x/.git/config", "  push = +main", &["git push origin '+main'"])]
    #[case("crontab", "0 3 * * * rm -rf x", &["rm -rf x"])]
    #[case("crontab", "@daily rm -rf x", &["rm -rf x"])]
    #[case("crontab", "# a b c d e f", &[])]
    fn a_line_holds_commands(#[case] path: &str, #[case] line: &str, #[case] wanted: &[&str]) {
        let build = Build::of(path).expect("a known file");
        let found = build.commands_in(line).into_iter();
        let found: Vec<String> = found
            .map(|held| held.text.unwrap_or_else(|| line[held.range].to_owned()))
            .collect();
        assert_eq!(found, wanted);
    }

    #[rstest]
    #[case("a.sh")]
    #[case("src/main.rs")]
    #[case("README.md")]
    #[case("makefiles/x.c")]
    fn other_files_are_read_as_they_are(#[case] path: &str) {
        assert_eq!(Build::of(path), None);
    }
}
