//! The field lists on the page about formats: what the commands print has exactly these fields.

use std::collections::{BTreeMap, BTreeSet};

use aizo::commands::Cli;
use clap::CommandFactory;
use serde_json::Value;

use crate::common::pages::{codes, tables, text_of};
use crate::common::{Chat, Home, write};

const PAGE: &str = "docs/formats.md";
/// Commands that speak otherwise, or do not end.
const OTHERS: [&str; 5] = ["completions", "hook", "man", "mcp", "web"];

/// Fields whose value is one of a few words, all of which are told.
const OF_FEW_WORDS: [&str; 11] = [
    "result",
    "band",
    "match",
    "origin",
    "speaker",
    "kind",
    "group",
    "said",
    "certainty",
    "level",
    "op",
];

/// The fields by their paths, each with the words that the page names for it.
type Fields = BTreeMap<String, Vec<String>>;

/// What the page tells of the fields, by heading; what a row of a table of commands tells, by the command.
struct Told(BTreeMap<String, Fields>);

impl Told {
    fn read() -> Self {
        let mut told: BTreeMap<String, Fields> = BTreeMap::new();
        for part in text_of(PAGE).split("\n### ").skip(1) {
            let (heading, rest) = part.split_once('\n').expect("a heading is a line");
            let section = rest.split("\n## ").next().unwrap_or_default();
            for table in tables(section) {
                for row in &table[1..] {
                    match table[0][0].as_str() {
                        "field" => {
                            let fields = told.entry(heading.to_owned()).or_default();
                            let words = codes(&row[1]);
                            fields.extend(
                                codes(&row[0]).into_iter().map(|path| (path, words.clone())),
                            );
                        }
                        "command" => {
                            for command in codes(&row[0]) {
                                let fields = codes(&row[1]).into_iter();
                                told.insert(
                                    command,
                                    fields.map(|path| (path, Vec::new())).collect(),
                                );
                            }
                        }
                        other => panic!("{heading}: a table of {other}"),
                    }
                }
            }
        }
        Told(told)
    }
}

/// The paths to what stands in a value. What is told of as a whole is not looked into, and what is not there says nothing of
/// the fields in it.
fn paths(value: &Value, at: &str, told: &Fields, found: &mut Fields) {
    let open = told
        .keys()
        .filter_map(|path| path.strip_suffix('…'))
        .find(|beginning| {
            at.len() > beginning.trim_end_matches("[]").len() && at.starts_with(beginning)
        });
    let is_within = |path: &String| {
        path.strip_prefix(at)
            .is_some_and(|rest| rest.starts_with(['.', '[', '…']))
    };
    match value {
        _ if told.contains_key(at) => {
            let words = value.as_str().map(str::to_owned);
            found.entry(at.to_owned()).or_default().extend(words);
        }
        Value::Object(fields) if at.is_empty() || told.keys().any(is_within) => {
            for (name, value) in fields {
                let dot = if at.is_empty() { "" } else { "." };
                paths(value, &format!("{at}{dot}{name}"), told, found);
            }
        }
        Value::Array(list) if told.keys().any(is_within) => {
            for value in list {
                paths(value, &format!("{at}[]"), told, found);
            }
        }
        Value::Null if told.keys().any(is_within) => {}
        _ => {
            let path = open.map_or_else(|| at.to_owned(), |beginning| format!("{beginning}…"));
            found.entry(path).or_default();
        }
    }
}

/// What was run, and the fields that it printed.
#[derive(Default)]
struct Seen {
    fields: BTreeMap<&'static str, Fields>,
    commands: BTreeSet<String>,
}

impl Seen {
    /// Runs a command of a home, and takes down the fields of what it prints under a heading.
    fn see(
        &mut self,
        told: &Told,
        heading: &'static str,
        home: &Home,
        arguments: &[&str],
    ) -> Value {
        let mut all = arguments.to_vec();
        all.push("--json");
        let run = home.run(&all);
        let value: Value = serde_json::from_str(&run.stdout)
            .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {run:?}"));
        self.take(told, heading, &value);
        self.commands.insert(arguments[0].to_owned());
        value
    }

    fn take(&mut self, told: &Told, heading: &'static str, value: &Value) {
        let fields = told
            .0
            .get(heading)
            .unwrap_or_else(|| panic!("{PAGE} tells nothing of {heading}"));
        let found = self.fields.entry(heading).or_default();
        match value {
            Value::Array(list) => list.iter().for_each(|one| paths(one, "", fields, found)),
            one => paths(one, "", fields, found),
        }
    }
}

/// A home with a conversation, what was learned from it, and more.
fn lived_in() -> Home {
    let home = Home::new();
    home.ok(&[
        "add",
        "tabs",
        "because",
        "--score",
        "6",
        "--keywords",
        "indent",
        "--scenarios",
        "coding",
    ]);
    home.ok(&[
        "add",
        "force-push",
        "never",
        "--score",
        "0.5",
        "--pattern",
        "@force-push",
    ]);
    home.ok(&[
        "add", "rm -rf", "never", "--score", "0.5", "--source", "analysis",
    ]);
    Chat::new("one")
        .user("I like green tea.")
        .assistant("ok")
        .user("I like rye bread.")
        .assistant("ok")
        .user("Maybe I prefer coffee, not sure, I guess.")
        .assistant("ok")
        .write(&home, "chat.jsonl");
    home
}

#[test]
fn the_fields_are_those_that_are_told() {
    let told = Told::read();
    let mut seen = Seen::default();
    let home = lived_in();
    let mut see = |heading, arguments: &[&str]| seen.see(&told, heading, &home, arguments);

    see("aizo analyze", &["analyze", "chat.jsonl"]);
    write(
        &home.path().join("opencode.db"),
        &[b"SQLite format 3\0".as_slice(), &[7; 5000]].concat(),
    );
    write(
        &home.path().join("odd.jsonl"),
        format!("{}no json\n", Chat::new("two").user("I like rain.").text()).as_bytes(),
    );
    see("aizo analyze", &["analyze", "odd.jsonl", "opencode.db"]);
    Chat::new("three")
        .user("I like snow.")
        .assistant("ok")
        .write(&home, "snow.jsonl");
    home.ok(&["analyze", "--print-prompt", "snow.jsonl"]);
    write(&home.path().join("answer.json"), b"{\"preferences\": []}");
    see("aizo analyze", &["analyze", "--from-answer", "answer.json"]);
    see("aizo sessions", &["sessions"]);

    see("Entries", &["recall", "tabs"]);
    see("Entries", &["top"]);
    see("Entries", &["show"]);
    see("One entry", &["show", "tabs"]);
    see("aizo why", &["why", "tabs"]);
    see("aizo history", &["history"]);
    see("aizo context", &["context", "make tea"]);
    see("aizo check", &["check", "--command", "git push --force"]);
    see("aizo review", &["review"]);
    see("Writes", &["review", "edit", "1", "--score", "2"]);
    see("Writes", &["review", "accept", "1"]);
    see("Writes", &["review", "reject", "--all"]);
    see("Writes", &["add", "tabs", "again", "--score", "7"]);
    see("Writes", &["update", "tabs", "--score", "5"]);
    see("Writes", &["tag", "tabs", "white"]);
    see("Writes", &["apply", "1"]);
    see("Writes", &["touch", "1"]);
    see("aizo keywords", &["keywords"]);
    see("aizo scenarios", &["scenarios"]);
    see("scenarios path", &["scenarios", "path"]);
    see("scenarios init", &["scenarios", "init"]);
    see("config show", &["config", "show"]);
    see("aizo config", &["config", "set-half-life", "45"]);
    see("aizo info", &["info"]);
    see("info --licenses", &["info", "--licenses"]);

    see("aizo backup", &["backup"]);
    see("backup --list", &["backup", "--list"]);
    let copy = home.path().join("copy.db").display().to_string();
    see("aizo backup", &["backup", &copy]);
    home.ok(&["remove", "force-push"]);
    home.ok(&["add", "new limit", "x", "--score", "0.5"]);
    home.ok(&["update", "tabs", "--score", "9"]);
    see("aizo restore", &["restore", &copy, "--dry-run"]);
    home.ok(&["undo", "--last", "3"]);

    home.ok(&["update", "green tea", "--score", "9.5"]);
    see("aizo undo", &["undo", "--session", "one"]);
    see("aizo undo", &["undo"]);
    see("sessions forget", &["sessions", "forget", "--all"]);

    see(
        "aizo export",
        &["export", "--format", "claude-md", "--into", "CLAUDE.md"],
    );
    see("export FILE", &["export", "profile.jsonl"]);
    home.write(
        "theirs.json",
        "\u{feff}{\"entries\": [{\"item\": \"x\", \"reason\": \"y\", \"base_score\": 8}]}"
            .as_bytes(),
    );
    see("aizo import", &["import", "theirs.json"]);
    see("aizo import", &["import", "profile.jsonl"]);
    see("install --list", &["install", "--list"]);
    see("aizo install", &["install", "claude-code"]);
    see("aizo install", &["uninstall", "claude-code"]);

    home.write(".aizo/.env", b"AIZO_MODEL=m\n");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let open = std::fs::Permissions::from_mode(0o644);
        std::fs::set_permissions(home.path().join(".aizo/.env"), open).expect("it is there");
    }
    home.outside("UPDATE preferences SET pattern = '(' WHERE item = 'force-push'");
    see("aizo doctor", &["doctor"]);
    see("aizo doctor", &["doctor", "--fix"]);
    see("aizo check", &["check", "--command", "git push --force"]);

    home.ok(&["add", "oolong", "a kind of green tea"]);
    see("aizo forget", &["forget", "green tea", "--dry-run"]);
    see("aizo forget", &["forget", "green tea", "--all-evidence"]);
    see("aizo restore", &["restore", &copy, "--dry-run"]);
    see("Writes", &["remove", "tabs"]);
    see("aizo clear", &["clear", "--yes"]);
    see("aizo demo", &["demo"]);

    synced(&told, &mut seen);
    agrees(&told, &seen);
}

/// Two devices and a repository.
fn synced(told: &Told, seen: &mut Seen) {
    let (one, other) = (Home::new(), Home::new());
    let repository = one.path().join("profile.git");
    let made = std::process::Command::new("git")
        .args(["init", "--quiet", "--bare"])
        .arg(&repository)
        .status();
    assert!(made.expect("git is here").success());
    let address = repository.display().to_string();
    one.ok(&["add", "tabs", "because"]);
    seen.see(told, "sync init URL", &one, &["sync", "init", &address]);
    seen.see(told, "aizo sync", &one, &["sync", "push"]);
    other.ok(&["sync", "init", &address]);
    seen.see(told, "aizo sync", &other, &["sync"]);
    seen.see(told, "sync status", &other, &["sync", "status"]);
    seen.see(
        told,
        "sync rebuild",
        &other,
        &["sync", "rebuild", "--dry-run"],
    );
    let third = Home::new();
    seen.see(
        told,
        "sync import URL",
        &third,
        &["sync", "import", &address, "--as", "ada"],
    );
}

/// Every field that was printed is told of, every one that is told of was printed, and every command was run.
fn agrees(told: &Told, seen: &Seen) {
    for (heading, fields) in &told.0 {
        let Some(found) = seen.fields.get(heading.as_str()) else {
            assert_eq!(heading, "scenarios edit", "{heading} was never run");
            continue;
        };
        let more: Vec<&String> = found
            .keys()
            .filter(|path| !fields.contains_key(*path))
            .collect();
        assert!(
            more.is_empty(),
            "{heading}: {PAGE} does not tell of {more:?}"
        );
        let fewer: Vec<&String> = fields
            .keys()
            // What has its fields elsewhere may be an empty list here.
            .filter(|path| !path.ends_with('…') && !found.contains_key(*path))
            .collect();
        assert!(fewer.is_empty(), "{heading}: nothing printed {fewer:?}");
        for (path, printed) in found {
            let name = path.rsplit('.').next().unwrap_or_default();
            let words = fields.get(path).filter(|words| !words.is_empty());
            if let Some(words) = words.filter(|_| OF_FEW_WORDS.contains(&name)) {
                let others: Vec<&String> = printed
                    .iter()
                    .filter(|word| !words.contains(word))
                    .collect();
                assert!(others.is_empty(), "{heading}: {path} was {others:?}");
            }
        }
    }
    let tree = Cli::command();
    for command in tree.get_subcommands().map(clap::Command::get_name) {
        let is_looked_at = seen.commands.contains(command) || OTHERS.contains(&command);
        assert!(is_looked_at || command == "help", "{command} was never run");
    }
}

#[test]
fn a_path_is_found_where_it_is_told() {
    let told: Fields = ["a", "list[].b", "deep.c", "more[]…", "…"]
        .map(|path| (path.to_owned(), Vec::new()))
        .into();
    let found = |value: Value| {
        let mut found = Fields::new();
        paths(&value, "", &told, &mut found);
        found.into_keys().collect::<Vec<_>>()
    };
    assert_eq!(found(serde_json::json!({"a": {"x": 1}})), ["a"]);
    assert_eq!(
        found(serde_json::json!({"list": [{"b": 1}], "deep": {"c": 2}})),
        ["deep.c", "list[].b"]
    );
    assert_eq!(
        found(serde_json::json!({"deep": null, "list": []})),
        Vec::<String>::new()
    );
    assert_eq!(found(serde_json::json!({"more": [{"q": 1}]})), ["more[]…"]);
    assert_eq!(found(serde_json::json!({"list": [{"z": 1}]})), ["…"]);
}
