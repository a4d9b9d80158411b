//! `forget`: nothing is left of what was forgotten, in whatever file, on whatever device, and it does not come back.

mod copies;
mod parts;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use rstest::rstest;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{Chat, Home, Run, stored, write};
use crate::stores::replays_to_the_same_tables;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Forgotten {
    result: String,
    dry_run: bool,
    forgotten: Vec<Gone>,
    erased: Vec<Erased>,
    mentioned: Vec<Mentioned>,
    copies: Vec<Copied>,
    log_lines: usize,
    unfinished: Vec<String>,
    elsewhere: Vec<Elsewhere>,
    change: Option<i64>,
    hint: Option<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Gone {
    kind: String,
    id: Option<i64>,
    item: String,
    score: Option<f64>,
    hard_limit: bool,
    changes: usize,
    observations: usize,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Erased {
    kind: String,
    id: Option<i64>,
    item: String,
    texts: Vec<String>,
    quotes: usize,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mentioned {
    kind: String,
    id: Option<i64>,
    item: String,
    texts: Vec<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Copied {
    path: PathBuf,
    result: String,
    reason: Option<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Elsewhere {
    what: String,
    place: String,
    command: Option<String>,
}

fn forget(home: &Home, arguments: &[&str]) -> Forgotten {
    home.json(&[&["forget"], arguments].concat())
}

fn error(run: &Run) -> Value {
    assert_eq!(run.stdout, "", "{run:?}");
    let line = run.stderr.lines().last().expect("an error says something");
    let value: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{run:?}"));
    value["error"].clone()
}

/// The files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(files(&path)),
            path => found.push(path),
        }
    }
    found
}

/// Where one of these words stands below a folder: as they are, in small letters, and inside the objects of git.
fn traces(folder: &Path, words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut look = |name: String, bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).to_lowercase();
        for word in words {
            if text.contains(&word.to_lowercase()) {
                found.push(format!("{word} in {name}"));
            }
        }
    };
    for file in files(folder) {
        let bytes = fs::read(&file).expect("a file reads");
        look(file.display().to_string(), &bytes);
        if file.ends_with("HEAD")
            && file
                .parent()
                .is_some_and(|git| git.join("objects").is_dir())
        {
            let git = file.parent().expect("a repository");
            look(git.display().to_string(), &objects(git));
        }
    }
    found
}

/// All objects of a repository, also those that nothing refers to.
fn objects(repository: &Path) -> Vec<u8> {
    let output = Command::new("git")
        .arg("--git-dir")
        .arg(repository)
        .args(["cat-file", "--batch-all-objects", "--batch"])
        .output()
        .expect("git starts");
    assert!(output.status.success(), "{output:?}");
    output.stdout
}

fn assert_clean(home: &Home, words: &[&str]) {
    assert_eq!(traces(&home.aizo(), words), Vec::<String>::new());
}

/// Words that stand for nothing else, in the forms that an index makes of them: no accents, beginnings, ends.
const WORDS: &[&str] = &[
    "qzxvorn",
    "mjölkwrust",
    "mjolkwrust",
    "mjolk",
    "lkwrus",
    "wqkpfex",
    "bjxndral",
    "plimbqwor",
    "vrrtgemun",
    "贝壳",
];
const ITEM: &str = "Qzxvorn from Mjölkwrust 贝壳";

/// A home that knows a thing from everywhere.
fn full_of_it() -> Home {
    let home = Home::new();
    for number in 0..30 {
        home.ok(&["add", &format!("entry {number}"), "something else"]);
    }
    let keywords = ["--keywords", "plimbqwor, other"];
    home.ok(&[&["add", "Vrrtgemun", "wqkpfex at first"], &keywords[..]].concat());
    home.ok(&[
        "update",
        "Vrrtgemun",
        "--new-item",
        ITEM,
        "--reason",
        "bjxndral since",
    ]);
    home.ok(&["add", ITEM, "wqkpfex again", "--score", "3"]);
    home.ok(&["touch", ITEM]);
    home.ok(&["remove", ITEM]);
    home.ok(&["add", ITEM, "bjxndral", "--score", "8"]);
    home.ok(&[
        "add", ITEM, "bjxndral", "--score", "0.5", "--source", "analysis",
    ]);
    home.ok(&["tag", ITEM, "plimbqwor"]);
    write(
        &home.aizo().join("aizo.log"),
        format!("2026-11-29T09:00:00Z hook codex: asked about {ITEM}\n2026-11-29T09:01:00Z hook codex: no JSON\n").as_bytes(),
    );
    write(
        &home.aizo().join("aizo.log.1"),
        b"2026-11-28T09:00:00Z hook codex: plimbqwor\n",
    );
    // A copy of the store, and the beginning of one.
    home.write("RULES.md", b"- Keep functions short\n");
    home.ok(&["import", "RULES.md"]);
    fs::copy(home.db(), home.aizo().join(".aizo-backup-x1y2z3")).expect("it copies");
    home
}

#[test]
fn nothing_of_it_is_left_in_any_file() {
    let home = full_of_it();
    assert!(traces(&home.aizo(), WORDS).len() > 20);
    let told = forget(&home, &[ITEM]);
    let kinds: Vec<(&str, Option<i64>)> = told
        .forgotten
        .iter()
        .map(|gone| (gone.kind.as_str(), gone.id))
        .collect();
    // The one that is there, the one that was removed, and what waits.
    assert_eq!(kinds.len(), 3, "{kinds:?}");
    assert_eq!(kinds.iter().filter(|kind| kind.0 == "proposal").count(), 1);
    assert_eq!((told.log_lines, told.unfinished.len()), (2, 0));
    let copies: Vec<&str> = told
        .copies
        .iter()
        .map(|copy| copy.result.as_str())
        .collect();
    assert_eq!(copies, ["rewritten"]);
    assert_clean(&home, WORDS);
    assert_eq!(home.read(".aizo/aizo.log").lines().count(), 1);
    replays_to_the_same_tables(&home);
    assert_eq!(home.json::<Vec<Value>>(&["show"]).len(), 30);
    assert_eq!(home.json::<Vec<Value>>(&["review"]).len(), 1);
    // The journal keeps that it was, and nothing else.
    let history: Vec<Value> = home.json(&["history"]);
    let tombstones = history.iter().filter(|line| line["op"] == "forget");
    for line in tombstones {
        assert_eq!(
            (&line["item"], &line["before"], &line["after"]),
            (&Value::Null, &Value::Null, &Value::Null)
        );
    }
    let copy = rusqlite::Connection::open(&told.copies[0].path).expect("the copy opens");
    let many: i64 = copy
        .query_row("SELECT count(*) FROM preferences", [], |row| row.get(0))
        .expect("it counts");
    assert_eq!(many, 30);
}

#[test]
fn words_that_are_in_the_log_of_sqlite_alone_go_too_as_soon_as_nobody_reads_it() {
    let home = Home::new();
    home.ok(&["add", "first", "so that there is a store"]);
    let reader = rusqlite::Connection::open(home.db()).expect("the store opens");
    reader
        .execute_batch("BEGIN; SELECT count(*) FROM preferences;")
        .expect("it reads");
    home.ok(&["add", ITEM, "wqkpfex"]);
    let mut command = home.command(&["forget", ITEM, "--json"]);
    command.env("AIZO_LOCK_TIMEOUT_MS", "200");
    let run = Run::of(command.output());
    let told: Forgotten = serde_json::from_str(&run.stdout).expect("it forgets");
    assert_eq!(told.unfinished.len(), 1, "{told:?}");
    drop(reader);
    home.ok(&["add", "second", "somebody writes again"]);
    assert_clean(&home, WORDS);
}

#[test]
fn what_was_forgotten_can_be_said_again_and_a_bare_undo_does_not_bring_it_back() {
    let home = Home::new();
    home.ok(&["add", "tabs", "first"]);
    home.ok(&["add", "spaces", "other"]);
    let told = forget(&home, &["tabs"]);
    let number = told.change.expect("a change").to_string();
    for arguments in [
        &["undo", "--json"][..],
        &["undo", &number, "--json"],
        &["undo", "1", "--json"],
    ] {
        let failure = error(&home.run(arguments));
        assert_eq!(failure["kind"], "conflict", "{failure}");
        assert!(
            failure["message"]
                .as_str()
                .expect("a text")
                .contains("forgotten"),
            "{failure}"
        );
    }
    home.ok(&["undo", "2"]);
    let added: Value = home.json(&["add", "tabs", "anew"]);
    assert_eq!(added["result"], "added");
    let why: Value = home.json(&["why", "tabs"]);
    assert_eq!(why["evidence"].as_array().map(Vec::len), Some(1));
    replays_to_the_same_tables(&home);
}

#[test]
fn a_rehearsal_says_what_would_be_forgotten_and_changes_nothing() {
    let home = full_of_it();
    let before = traces(&home.aizo(), WORDS);
    let told = forget(&home, &[ITEM, "--dry-run"]);
    assert!(told.dry_run && told.change.is_none());
    assert_eq!(told.forgotten.len(), 3);
    assert_eq!(traces(&home.aizo(), WORDS), before);
}

#[test]
fn a_hard_limit_is_forgotten_only_by_somebody_who_says_so() {
    let home = Home::new();
    home.ok(&["add", "force-push", "lost a day", "--score", "0.5"]);
    let run = home.run(&["forget", "force-push", "--json"]);
    assert_eq!(run.code, 2);
    let failure = error(&run);
    let message = failure["message"].as_str().expect("a text");
    assert!(
        message.contains("“force-push” (0.5) is a hard limit"),
        "{message}"
    );
    assert_eq!(failure["hint"], "aizo forget 'force-push' --yes");
    assert_eq!(home.json::<Vec<Value>>(&["show"]).len(), 1);
    let told = forget(&home, &["force-push", "--yes"]);
    assert!(told.forgotten[0].hard_limit);
    assert_eq!(home.json::<Vec<Value>>(&["show"]).len(), 0);
}

#[rstest]
#[case(&["tabs in"], 2, "1 “tabs in Python”, 2 “tabs in C”")]
#[case(&["shellfish"], 1, "it is spoken of in 3 “restaurants”")]
#[case(&["zebra"], 1, "no entry is named “zebra”")]
#[case(&["1 99"], 1, "no entry has the id 99")]
fn what_is_not_one_thing_is_not_guessed(
    #[case] words: &[&str],
    #[case] code: i32,
    #[case] message: &str,
) {
    let home = Home::new();
    home.ok(&["add", "tabs in Python", "likes"]);
    home.ok(&["add", "tabs in C", "likes"]);
    home.ok(&["add", "restaurants", "no shellfish please"]);
    let run = home.run(&[&["forget", "--json"], words].concat());
    let failure = error(&run);
    assert_eq!(run.code, code, "{failure}");
    assert!(
        failure["message"]
            .as_str()
            .expect("a text")
            .contains(message),
        "{failure}"
    );
    assert_eq!(home.json::<Vec<Value>>(&["show"]).len(), 3);
}

#[test]
fn a_thing_is_found_by_its_words_by_several_ids_and_after_it_was_removed() {
    let home = Home::new();
    for item in ["allergic to qzxvorn", "bjxndral", "tabs", "wqkpfex"] {
        home.ok(&["add", item, "because"]);
    }
    home.ok(&["remove", "wqkpfex"]);
    assert_eq!(
        forget(&home, &["qzxvorn", "--yes"]).forgotten[0].item,
        "allergic to qzxvorn"
    );
    let both = forget(&home, &["2", "3"]);
    assert_eq!(both.forgotten.len(), 2);
    let gone = forget(&home, &["wqkpfex"]);
    assert_eq!(gone.forgotten[0].id, None);
    assert_clean(&home, WORDS);
    let nothing = error(&home.run(&["forget", "wqkpfex", "--json"]));
    assert_eq!(nothing["kind"], "not_found");
}

#[test]
fn a_copy_of_the_time_before_there_was_a_journal_forgets_and_stays_what_it_is() {
    let home = Home::with_store("aizo-1.0.0.db");
    home.ok(&["show"]);
    let words = ["concise code", "asked again for a shorter"];
    assert!(!traces(&home.aizo(), &words).is_empty());
    let told = forget(&home, &["concise code"]);
    let rewritten: Vec<&Copied> = told
        .copies
        .iter()
        .filter(|copy| copy.result == "rewritten")
        .collect();
    assert_eq!(rewritten.len(), 1, "{told:?}");
    assert_clean(&home, &words);
    let rows = |path: &Path| -> Vec<String> {
        let store = rusqlite::Connection::open(path).expect("it opens");
        let version: String = store
            .query_row(
                "SELECT value FROM schema_meta WHERE key = 'version'",
                [],
                |row| row.get(0),
            )
            .expect("it has a version");
        assert_eq!(version, "7");
        let mut statement = store
            .prepare("SELECT item FROM preferences ORDER BY id")
            .expect("it reads");
        let rows = statement.query_map([], |row| row.get(0)).expect("it reads");
        rows.map(|row| row.expect("a row")).collect()
    };
    let mut all = rows(&stored("aizo-1.0.0.db"));
    all.retain(|item| item != "concise code");
    assert_eq!(rows(&rewritten[0].path), all);
}

#[test]
fn a_copy_of_the_time_before_there_was_a_journal_loses_the_reasons_that_speak_of_it() {
    let home = Home::with_store("aizo-1.0.0.db");
    let store = home.aizo().join("preferences.db");
    rusqlite::Connection::open(&store)
        .and_then(|store| {
            store.execute(
                "INSERT INTO preferences (item, reason, keywords, base_score, source, added_at, last_seen, touch_count)
                 VALUES ('Short names', 'goes with concise code', '', 6, 'manual', '2026-01-01T00:00:00+00:00',
                         '2026-01-01T00:00:00+00:00', 0)",
                [],
            )
        })
        .expect("it writes");
    home.ok(&["show"]);
    forget(&home, &["concise code", "--all-evidence"]);
    assert_clean(&home, &["concise code"]);
    let copies = files(&home.aizo().join("backups"));
    let copy = rusqlite::Connection::open(&copies[0]).expect("the copy opens");
    let reason: String = copy
        .query_row(
            "SELECT reason FROM preferences WHERE item = 'Short names'",
            [],
            |row| row.get(0),
        )
        .expect("it is there");
    assert_eq!(reason, "");
}

#[test]
fn a_copy_that_cannot_be_read_is_named_and_left_as_it_is() {
    let home = Home::new();
    home.ok(&["add", "tabs", "first"]);
    let odd = home
        .aizo()
        .join("preferences.db.before-import-20261101T000000Z.bak");
    write(&odd, b"no store");
    let told = forget(&home, &["tabs"]);
    assert_eq!(
        (told.copies[0].result.as_str(), &told.copies[0].path),
        ("failed", &odd)
    );
    assert!(told.copies[0].reason.is_some());
    assert_eq!(fs::read(&odd).expect("it reads"), b"no store");
}

#[test]
fn a_copy_keeps_what_was_said_again_later() {
    let home = Home::new();
    home.ok(&["add", "tabs", "first"]);
    forget(&home, &["tabs"]);
    home.ok(&["add", "tabs", "anew"]);
    home.ok(&["add", "bjxndral", "other"]);
    home.write("RULES.md", b"- Keep functions short\n");
    home.ok(&["import", "RULES.md"]);
    let told = forget(&home, &["bjxndral"]);
    let copy = rusqlite::Connection::open(&told.copies[0].path).expect("the copy opens");
    let reason: String = copy
        .query_row(
            "SELECT reason FROM preferences WHERE item = 'tabs'",
            [],
            |row| row.get(0),
        )
        .expect("it is there");
    assert_eq!(reason, "anew");
    assert_clean(&home, WORDS);
}

// What conversations say

fn chat() -> Chat {
    Chat::new("old")
        .user("I am allergic to qzxvorn, please never suggest it. I hate long meetings.")
}

fn learned(home: &Home, file: &str) -> Vec<String> {
    let reply: Value = home.json(&["analyze", file]);
    let learned = reply["learned"].as_array().expect("a list").iter();
    learned
        .map(|one| one["item"].as_str().expect("a text").to_owned())
        .collect()
}

#[test]
fn it_is_not_learned_again_from_what_was_said_before_and_it_is_from_what_is_said_later() {
    let home = Home::new();
    let old = Chat::new("old")
        .user("Always use dark mode in the editor.")
        .user("Never push to main.")
        .write(&home, "old.jsonl");
    let first = learned(&home, &old);
    let dark = first
        .iter()
        .find(|item| item.contains("dark mode"))
        .expect("it is learned");
    let told = forget(&home, &[dark.as_str(), "--yes"]);
    assert!(
        told.elsewhere
            .iter()
            .any(|one| one.what == "conversation" && one.place.contains("old.jsonl"))
    );
    // Also where the conversation is heard anew, and from other words for the same.
    home.ok(&["sessions", "forget", "--all"]);
    assert_eq!(learned(&home, &old), Vec::<String>::new());
    let other = Chat::new("other")
        .user("Please always use dark modes in the editor!")
        .write(&home, "other.jsonl");
    let run = home.run(&["analyze", &other]);
    assert!(
        run.stderr
            .contains("1 finding left out: that was forgotten"),
        "{run:?}"
    );
    assert_eq!(home.json::<Vec<Value>>(&["show"]).len(), first.len() - 1);
    let undated = home.write(
        "chat.md",
        b"User: Always use dark mode in the editor.\nAssistant: Done.\n",
    );
    assert_eq!(
        learned(&home, &undated.display().to_string()),
        Vec::<String>::new()
    );
    let home = home.at("2026-12-03T09:00:00+00:00");
    let later = Chat::new("later")
        .user_at(
            "2026-12-02T09:00:00.000Z",
            "Always use dark mode in the editor.",
        )
        .write(&home, "later.jsonl");
    assert_eq!(learned(&home, &later).len(), 1);
    replays_to_the_same_tables(&home);
}

#[test]
fn the_quotes_of_other_entries_lose_the_words_where_that_is_wanted() {
    let home = Home::new();
    let file = chat().write(&home, "chat.jsonl");
    let items = learned(&home, &file);
    assert!(items.len() > 1, "{items:?}");
    let item = items
        .iter()
        .find(|item| item.contains("qzxvorn"))
        .expect("it is learned");
    let told = forget(&home, &[item, "--dry-run"]);
    assert!(told.erased.is_empty());
    home.ok(&[
        "add",
        "restaurants",
        "no qzxvorn: I am allergic to it",
        "--keywords",
        "food",
    ]);
    let told = forget(&home, &[item, "--yes", "--all-evidence"]);
    assert!(
        told.erased
            .iter()
            .any(|one| one.item == "restaurants" && one.quotes == 1),
        "{told:?}"
    );
    assert_clean(&home, WORDS);
    let entry: Value = home.json(&["show", "restaurants"]);
    assert_eq!(
        (&entry["reason"], &entry["evidence"][0]["quote"]),
        (&json!(""), &json!(""))
    );
    replays_to_the_same_tables(&home);
}

#[rstest]
#[case("Please never ever use qzxvorn in code")]
#[case("I love qzxvorn with cheese")]
#[case("Always order two qzxvorns")]
fn it_is_not_learned_again_with_more_words_either(#[case] said: &str) {
    let home = Home::new();
    home.ok(&["add", "qzxvorn", "so", "--score", "0.5"]);
    forget(&home, &["qzxvorn", "--yes"]);
    let file = Chat::new("old")
        .user(said)
        .user("Always use tabs")
        .write(&home, "old.jsonl");
    assert_eq!(learned(&home, &file), ["tabs"]);
    assert_clean(&home, &["qzxvorn"]);
}

#[test]
fn what_waits_because_it_speaks_against_it_does_not_name_it_any_more() {
    let home = Home::new();
    home.ok(&["add", "qzxvorn in soup", "never", "--score", "0.5"]);
    let file = Chat::new("c")
        .user("I love qzxvorn in my soup")
        .write(&home, "c.jsonl");
    home.ok(&["analyze", &file]);
    let waiting = |home: &Home| -> Vec<Value> { home.json(&["review"]) };
    let why = waiting(&home)[0]["why"].as_str().map(str::to_owned);
    assert!(why.is_some_and(|why| why.contains("“qzxvorn in soup”")));
    let told = forget(&home, &["qzxvorn in soup", "--yes"]);
    assert_eq!(told.erased[0].texts, ["why"]);
    // It waits under a name of its own, which is told.
    assert_eq!(told.mentioned[0].item, "qzxvorn in my soup");
    assert_eq!(
        waiting(&home)[0]["why"],
        "speaks against something that was forgotten"
    );
    replays_to_the_same_tables(&home);
    forget(&home, &["qzxvorn in my soup"]);
    assert_eq!(waiting(&home).len(), 0);
    assert_clean(&home, WORDS);
}

// What one source wrote

#[test]
fn what_one_conversation_wrote_is_listed_and_taken_back_as_one_change() {
    let home = Home::new();
    home.ok(&["add", "tabs", "mine", "--score", "6"]);
    let bad = Chat::new("bad")
        .user("Always use tabs. Never write tests. I love long meetings.")
        .write(&home, "bad.jsonl");
    let good = Chat::new("good")
        .user("Always use dark mode.")
        .write(&home, "good.jsonl");
    home.ok(&["analyze", &bad, &good]);
    let all: Vec<Value> = home.json(&["show"]);
    let of_bad: Vec<Value> = home.json(&["history", "--session", "bad"]);
    assert!(of_bad.len() >= 3, "{of_bad:?}");
    let by_agent: Vec<Value> = home.json(&["history", "--session", "claude-code/bad"]);
    assert_eq!(by_agent, of_bad);
    // The beginning of its name will do, and so will its number.
    let known: Vec<Value> = home.json(&["sessions"]);
    let number = known.iter().find(|one| one["session"] == "bad");
    let number = number.expect("it was analysed")["id"].to_string();
    for name in ["claude-code/b", number.as_str()] {
        let by_name: Vec<Value> = home.json(&["history", "--session", name]);
        assert_eq!(by_name, of_bad, "{name}");
    }
    let both = error(&home.run(&["history", "--session", "claude-code/", "--json"]));
    assert!(
        both["message"]
            .as_str()
            .is_some_and(|text| text.contains("both begin with")),
        "{both}"
    );
    let inferred: Vec<Value> = home.json(&["history", "--origin", "analysis"]);
    assert!(inferred.iter().all(|line| line["origin"] == "analysis"));
    // One of them was changed by the person since, and one was used.
    let learned: Vec<&Value> = all
        .iter()
        .filter(|entry| entry["source"] == "analysis")
        .collect();
    let changed = learned.iter().find(|entry| {
        entry["item"]
            .as_str()
            .is_some_and(|item| item.contains("meetings"))
    });
    let changed = changed.expect("it is learned")["id"].to_string();
    home.ok(&["update", &changed, "--reason", "I said that myself"]);
    let used = learned.iter().find(|entry| {
        entry["item"]
            .as_str()
            .is_some_and(|item| item.contains("tests"))
    });
    let used = &used.expect("it is learned")["id"];
    home.ok(&["apply", &used.to_string()]);
    let undone: Value = home.json(&["undo", "--session", "bad"]);
    let left = undone["left"].as_array().expect("a list");
    assert_eq!(left.len(), 1, "{undone}");
    assert!(
        left[0]["why"]
            .as_str()
            .expect("a text")
            .contains("touched the same fields"),
        "{undone}"
    );
    let now: Vec<Value> = home.json(&["show"]);
    assert!(now.iter().all(|entry| entry["id"] != *used));
    let tabs: Value = home.json(&["show", "tabs"]);
    assert_eq!(
        (
            &tabs["base_score"],
            tabs["evidence"].as_array().map(Vec::len)
        ),
        (&json!(6.0), Some(1))
    );
    assert!(now.iter().any(|entry| {
        entry["item"]
            .as_str()
            .is_some_and(|item| item.contains("dark mode"))
    }));
    replays_to_the_same_tables(&home);
    // It is a change itself.
    let number = undone["change"].to_string();
    home.ok(&["undo", &number]);
    let again: Vec<Value> = home.json(&["show"]);
    assert_eq!(again.len(), all.len());
    replays_to_the_same_tables(&home);
    let nothing = error(&home.run(&["undo", "--session", "nobody", "--json"]));
    assert_eq!(nothing["kind"], "not_found");
}

// Several devices

struct Server {
    folder: TempDir,
}

impl Server {
    fn new() -> Self {
        let server = Server {
            folder: tempfile::tempdir().expect("a temporary folder"),
        };
        git(
            server.folder.path(),
            &["init", "--bare", "--quiet", "repo.git"],
        );
        server
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("repo.git")
    }

    fn home(&self) -> Home {
        let home = Home::new();
        home.ok(&["sync", "init", &self.path().display().to_string()]);
        home
    }

    /// The files of the branch.
    fn files(&self) -> BTreeMap<String, String> {
        let listed = git(&self.path(), &["ls-tree", "-r", "--name-only", "main"]);
        listed
            .lines()
            .map(|name| {
                (
                    name.to_owned(),
                    git(&self.path(), &["show", &format!("main:{name}")]),
                )
            })
            .collect()
    }
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "init.defaultBranch=main"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("git starts");
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("it is text")
}

fn meet(homes: &[&Home]) {
    for home in homes.iter().chain(homes) {
        home.ok(&["sync"]);
    }
}

#[test]
fn it_is_gone_on_every_device_and_out_of_the_files_and_objects_of_the_sync() {
    let server = Server::new();
    let (a, b, away) = (server.home(), server.home(), server.home());
    a.ok(&["add", ITEM, "wqkpfex", "--keywords", "plimbqwor"]);
    a.ok(&["add", "tabs", "stays"]);
    meet(&[&a, &b, &away]);
    b.ok(&["add", ITEM, "bjxndral", "--score", "3"]);
    b.ok(&["update", ITEM, "--new-item", "Vrrtgemun"]);
    meet(&[&a, &b]);
    write(
        &b.aizo().join("aizo.log"),
        b"2026-11-29T09:00:00Z hook codex: Vrrtgemun\n",
    );
    b.write("RULES.md", b"- Keep functions short\n");
    b.ok(&["import", "RULES.md"]);
    let told = forget(&a, &["Vrrtgemun"]);
    assert_clean(&a, WORDS);
    let history = told
        .elsewhere
        .iter()
        .find(|one| one.what == "history of the sync");
    let command = history
        .and_then(|one| one.command.clone())
        .expect("a command");
    a.ok(&["sync"]);
    assert_clean(&a, WORDS);
    // Of the other device's file too, which has not heard of it yet.
    let tip: String = server.files().into_values().collect();
    assert!(
        WORDS.iter().all(|word| !tip.to_lowercase().contains(word)),
        "{tip}"
    );
    let came: Value = b.json(&["sync"]);
    let forgotten = came["pulled"]["forgotten"].as_array().expect("a list");
    assert!(forgotten.contains(&json!("Vrrtgemun")), "{came}");
    assert_clean(&b, WORDS);
    // Somebody comes back who has edited it meanwhile.
    away.ok(&["update", ITEM, "--reason", "bjxndral of old"]);
    away.ok(&["sync"]);
    assert_clean(&away, WORDS);
    meet(&[&a, &b, &away]);
    for home in [&a, &b, &away] {
        assert_clean(home, WORDS);
        assert_eq!(
            home.json::<Vec<Value>>(&["recall", "--exact", "tabs"])
                .len(),
            1
        );
        assert_eq!(home.json::<Vec<Value>>(&["show"]).len(), 1);
        replays_to_the_same_tables(home);
    }
    // What the server has of it goes with the command that was told.
    assert!(!traces(&server.path(), WORDS).is_empty());
    a.ok(&["sync"]);
    let shell = command.replacen("aizo sync && ", "", 1);
    let run = Command::new("sh")
        .args(["-c", &shell])
        .output()
        .expect("a shell");
    assert!(run.status.success(), "{shell}: {run:?}");
    git(
        &server.path(),
        &["reflog", "expire", "--expire=now", "--all"],
    );
    git(&server.path(), &["gc", "--quiet", "--prune=now"]);
    assert_eq!(traces(&server.path(), WORDS), Vec::<String>::new());
    a.ok(&["add", "spaces", "later"]);
    meet(&[&a, &b, &away]);
    assert_eq!(away.json::<Vec<Value>>(&["show"]).len(), 2);
    // A new device finds nothing of it, and what is said again is heard.
    let fresh = server.home();
    fresh.ok(&["sync"]);
    assert_clean(&fresh, WORDS);
    fresh.ok(&["add", "vrrtgemun", "said anew"]);
    meet(&[&fresh, &a]);
    assert_eq!(
        a.json::<Value>(&["show", "vrrtgemun"])["reason"],
        "said anew"
    );
}

#[test]
fn a_file_that_cannot_be_read_and_a_sync_that_runs_are_told() {
    let server = Server::new();
    let (a, b) = (server.home(), server.home());
    for home in [&a, &b] {
        home.ok(&["add", ITEM, "wqkpfex"]);
        meet(&[&a, &b]);
    }
    a.ok(&["add", "tabs", "other"]);
    let lock = a.aizo().join("sync/lock");
    let lock = fs::OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(lock)
        .expect("it is there");
    lock.lock().expect("it is free");
    let told = forget(&a, &[ITEM]);
    assert!(told.unfinished[0].contains("a sync runs"), "{told:?}");
    drop(lock);
    // Its device alone can take it out.
    let clone = server.folder.path().join("clone");
    git(
        server.folder.path(),
        &["clone", "--quiet", "repo.git", "clone"],
    );
    let name = server
        .files()
        .into_keys()
        .find(|name| name.starts_with("devices/"))
        .expect("a file");
    let mut file = fs::read(clone.join(&name)).expect("it is there");
    file.extend(b"{\"v\":9,\"hlc\":\"ffff000000000000\"}\n");
    fs::write(clone.join(&name), file).expect("it writes");
    for arguments in [
        &[
            "-c",
            "user.name=x",
            "-c",
            "user.email=x",
            "commit",
            "-qam",
            "x",
        ][..],
        &["push", "-q"],
    ] {
        git(&clone, arguments);
    }
    for _ in 0..2 {
        let run = a.run(&["sync"]);
        assert!(run.stderr.contains("forgetting is not finished"), "{run:?}");
    }
    assert_clean(&a, WORDS);
}

#[test]
fn tables_that_are_made_anew_from_the_files_do_not_bring_it_back() {
    let server = Server::new();
    let (a, b) = (server.home(), server.home());
    a.ok(&["add", ITEM, "wqkpfex"]);
    a.ok(&["add", "tabs", "stays"]);
    meet(&[&a, &b]);
    b.ok(&["add", ITEM, "bjxndral"]);
    meet(&[&a, &b]);
    forget(&a, &[ITEM]);
    // The files on the server still have it.
    a.ok(&["sync", "pull"]);
    a.ok(&["sync", "rebuild"]);
    a.ok(&["sync"]);
    assert_clean(&a, WORDS);
    assert_eq!(a.json::<Vec<Value>>(&["show"]).len(), 1);
    replays_to_the_same_tables(&a);
}

// Ended in the midst

/// A home with all that another one has.
fn like(home: &Home) -> Home {
    let copy = Home::new();
    for file in files(&home.aizo()) {
        let name = file
            .strip_prefix(home.path())
            .expect("it is below the home");
        write(
            &copy.path().join(name),
            &fs::read(&file).expect("a file reads"),
        );
    }
    copy
}

#[test]
fn ended_anywhere_it_is_either_all_there_or_the_next_change_finishes_it() {
    const ROUNDS: u32 = 14;
    let server = Server::new();
    let full = full_of_it();
    full.ok(&["sync", "init", &server.path().display().to_string()]);
    full.ok(&["sync"]);
    let began = Instant::now();
    forget(&like(&full), &[ITEM]);
    let takes = began.elapsed();
    let (mut before, mut after) = (0, 0);
    for round in 0..ROUNDS {
        let home = like(&full);
        let mut child = home
            .command(&["forget", ITEM])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        std::thread::sleep(takes * round / (ROUNDS - 2));
        child.kill().expect("it may be gone already, which is fine");
        child.wait().expect("it ends");
        home.ok(&["add", "the next change", "of somebody else"]);
        let entries: Vec<Value> = home.json(&["show"]);
        if entries.iter().any(|entry| entry["item"] == ITEM) {
            before += 1;
            let why: Value = home.json(&["why", ITEM]);
            assert!(!why["evidence"].as_array().expect("a list").is_empty());
            forget(&home, &[ITEM]);
        } else {
            after += 1;
        }
        assert_clean(&home, WORDS);
        replays_to_the_same_tables(&home);
    }
    assert!(before > 0 && after > 0, "{before} before, {after} after");
}
