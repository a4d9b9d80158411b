//! The operating procedure for agents against the program: it names only commands and options that exist,
//! its front matter is what skill loaders take, and its seven triggers are there.

use std::path::Path;

use aizo::commands::Cli;
use clap::Parser;
use clap::error::ErrorKind;

const FILE: &str = "skills/aizo-sop.md";
/// What the front matter of a skill may hold.
const KEYS: [&str; 6] = [
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
];

/// The front matter and the body.
fn parts() -> (String, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let text = std::fs::read_to_string(path)
        .expect("the skill is there")
        .replace("\r\n", "\n");
    let rest = text
        .strip_prefix("---\n")
        .expect("it begins with its front matter");
    let (front, body) = rest.split_once("\n---\n").expect("the front matter ends");
    (front.to_owned(), body.to_owned())
}

/// The top-level `key: value` pairs of the front matter; every line must be one.
fn pairs(front: &str) -> Vec<(String, String)> {
    front
        .lines()
        .map(|line| {
            let (key, value) = line
                .split_once(": ")
                .unwrap_or_else(|| panic!("`{line}` is no pair"));
            let bare = match value.strip_prefix('"') {
                Some(rest) => rest.strip_suffix('"').expect("the quote is closed"),
                None => {
                    assert!(
                        !value.contains(": ") && !value.contains(" #"),
                        "{key} needs quotes"
                    );
                    value
                }
            };
            (key.to_owned(), bare.to_owned())
        })
        .collect()
}

/// The pieces of code in a text: lines of fenced shell blocks, with continued ones joined, and code within a line.
fn code(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fence: Option<String> = None;
    let mut continued = String::new();
    for line in text.lines() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix("```") {
            fence = match fence {
                None => Some(name.to_owned()),
                Some(_) => None,
            };
        } else if let Some(language) = &fence {
            if language != "sh" {
                continue;
            }
            match line.strip_suffix('\\') {
                Some(begun) => continued.push_str(begun),
                None if line.ends_with('|') => continued.push_str(line),
                None => found.push(std::mem::take(&mut continued) + line),
            }
        } else {
            found.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    found
}

/// The words of each command in a line of shell, quotes removed.
fn shell_commands(line: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let (mut word, mut quote): (Option<String>, Option<char>) = (None, None);
    for c in line.chars().chain([' ']) {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => word.get_or_insert_default().push(c),
            None if c == '\'' || c == '"' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() || matches!(c, '|' | ';' | '&' | '<' | '>') => {
                let last = commands.last_mut().expect("there is always one");
                last.extend(word.take());
                if !c.is_whitespace() {
                    commands.push(Vec::new());
                }
            }
            None => word.get_or_insert_default().push(c),
        }
    }
    commands.retain(|words: &Vec<String>| !words.is_empty());
    commands
}

/// Every aizo command that a text shows, placeholders in capitals replaced by a number, which is an item, an
/// id, a score and a name of a scenario alike.
fn aizo_commands(text: &str) -> Vec<Vec<String>> {
    code(text)
        .iter()
        .flat_map(|line| shell_commands(line))
        .filter(|words| words[0] == "aizo" && words.len() > 1)
        .map(|words| {
            let placeholder = |word: &String| word.chars().all(|c| c.is_ascii_uppercase());
            words
                .into_iter()
                .map(|word| {
                    if placeholder(&word) {
                        "1".to_owned()
                    } else {
                        word
                    }
                })
                .collect()
        })
        .collect()
}

/// Why a command line is not one of ours. One that only lacks its item or reason is named, not shown.
fn fault(words: &[String]) -> Option<String> {
    match Cli::try_parse_from(words) {
        Ok(_) => None,
        Err(error) if error.kind() == ErrorKind::MissingRequiredArgument => None,
        Err(error) => Some(error.to_string()),
    }
}

#[test]
fn the_skill_names_only_commands_and_options_that_exist() {
    let (_, body) = parts();
    let commands = aizo_commands(&body);
    assert!(commands.len() > 15, "the skill shows its commands");
    for words in commands {
        if let Some(fault) = fault(&words) {
            panic!("{}: {fault}", words.join(" "));
        }
    }
}

#[test]
fn an_option_that_does_not_exist_is_found() {
    let text = "Say `aizo recall X --soft`.\n\n```sh\nprintf '|' \\\n  x | aizo recollect X\naizo top N\n```\n";
    let faults: Vec<bool> = aizo_commands(text)
        .iter()
        .map(|words| fault(words).is_some())
        .collect();
    assert_eq!(faults, [true, true, false]);
}

#[test]
fn the_front_matter_is_what_a_skill_loader_takes() {
    let (front, body) = parts();
    let pairs = pairs(&front);
    let value = |wanted: &str| {
        let mut found = pairs.iter().filter(|(key, _)| key == wanted);
        let (_, value) = found
            .next()
            .unwrap_or_else(|| panic!("{wanted} is missing"));
        assert!(found.next().is_none(), "{wanted} stands twice");
        value.as_str()
    };
    for (key, _) in &pairs {
        assert!(KEYS.contains(&key.as_str()), "{key} is not a known key");
    }
    assert_eq!(value("name"), "aizo-sop");
    assert_eq!(value("license"), env!("CARGO_PKG_LICENSE"));
    let description = value("description");
    assert!((1..=1024).contains(&description.chars().count()));
    assert!(!description.contains(['<', '>', '"', '\\']));
    assert!(body.lines().count() < 500, "the body is too long to load");
}

#[test]
fn the_seven_triggers_are_there_with_their_commands() {
    let (_, body) = parts();
    let sections: Vec<(&str, &str)> = body
        .split("\n## ")
        .filter_map(|section| section.split_once('\n'))
        .filter(|(title, _)| title.starts_with("Trigger "))
        .collect();
    // What each trigger must run, in its order.
    let wanted: [&[&[&str]]; 7] = [
        &[
            &["context"],
            &["top", "20", "--json"],
            &["recall", "--type", "taboo", "--json"],
        ],
        &[&["add", "--score", "2.5"], &["recall"]],
        &[&["add", "--score", "9"]],
        &[&["add", "--score", "0.5"], &["add", "--score", "10"]],
        &[
            &["context", "--scenario", "--format", "xml"],
            &[
                "recall",
                "--scenario",
                "--min-score",
                "3.0",
                "--limit",
                "20",
                "--json",
            ],
            &["recall", "--type", "taboo", "--json"],
            &["apply"],
        ],
        &[&["add", "--stdin", "--source", "analysis"]],
        &[&["apply"], &["touch"]],
    ];
    assert_eq!(sections.len(), wanted.len());
    for (number, ((title, text), wanted)) in sections.iter().zip(wanted).enumerate() {
        assert!(
            title.starts_with(&format!("Trigger {}: ", number + 1)),
            "{title}"
        );
        let shown = aizo_commands(text);
        let mut rest = shown.iter();
        for words in wanted {
            let found = rest.any(|command| {
                let mut left = command[1..].iter();
                words.iter().all(|word| left.any(|have| have == word))
            });
            assert!(found, "{title}: no aizo {}", words.join(" … "));
        }
    }
}

#[test]
fn the_skill_explains_what_add_replies_and_how_a_command_ends() {
    let (_, body) = parts();
    for word in ["added", "merged", "limited", "kept", "pending"] {
        assert!(body.contains(&format!("`{word}`")), "{word}");
    }
    assert!(body.contains("Exit codes: 0 ") && body.contains("; 1 ") && body.contains("; 2 "));
}
