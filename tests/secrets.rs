//! Secrets are replaced before anything is written: none is in the bytes of the store, its log, or an output.

use rstest::rstest;
use serde_json::Value;

use crate::common::{Home, Run};
use crate::stores::replays_to_the_same_tables;

const API_KEY: &str = "sk-ant-api03-a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6";
const AWS: &str = "AKIAQ3EGRZ7T2M5XK9WB";
const GITHUB: &str = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
const PASSWORD: &str = "Blue42Sky-hunter";
const PEM: &str =
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----";

/// No piece of a secret is in some bytes, in whatever case.
fn assert_clean(what: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).to_lowercase();
    for secret in [
        API_KEY,
        AWS,
        GITHUB,
        PASSWORD,
        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
    ] {
        assert!(
            !text.contains(&secret.to_lowercase()),
            "{secret} is in {what}"
        );
    }
}

/// No secret is in any file of the home.
fn assert_clean_files(home: &Home) {
    let mut files = 0;
    for file in std::fs::read_dir(home.aizo())
        .expect("the folder is there")
        .flatten()
    {
        let bytes = std::fs::read(file.path()).expect("the file can be read");
        assert_clean(&file.path().display().to_string(), &bytes);
        files += 1;
    }
    assert!(files > 0);
}

fn run(home: &Home, arguments: &[&str]) -> Run {
    let run = home.run(arguments);
    assert_clean(&format!("stdout of {arguments:?}"), run.stdout.as_bytes());
    assert_clean(&format!("stderr of {arguments:?}"), run.stderr.as_bytes());
    run
}

/// Holds the store open, so that the log beside it stays.
fn reader(home: &Home) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(home.db()).expect("the store opens");
    connection
        .execute_batch("BEGIN; SELECT count(*) FROM preferences;")
        .expect("it reads");
    connection
}

#[test]
fn no_secret_reaches_the_store_its_log_or_an_output() {
    let home = Home::new();
    home.ok(&["add", "first", "so that there is a store"]);
    let _reader = reader(&home);
    let keywords = format!("login, {AWS}, password={PASSWORD}");
    let added = run(
        &home,
        &[
            "add",
            &format!("deploy with {API_KEY}"),
            &format!("the wifi password is {PASSWORD}"),
            "--keywords",
            &keywords,
            "--scenarios",
            GITHUB,
            "--source",
            GITHUB,
        ],
    );
    assert_eq!(added.code, 0, "{added:?}");
    assert!(
        added
            .stdout
            .contains("added: deploy with [redacted API key]"),
        "{added:?}"
    );
    assert!(
        added
            .stderr
            .contains("were replaced by marks; aizo stores no secrets"),
        "{added:?}"
    );
    // The same again is the same entry, and found under the name it was given.
    let again: Value = home.json(&["add", &format!("deploy with {API_KEY}"), "again"]);
    assert_eq!(again["result"], "merged");
    let found: Value = home.json(&["show", &format!("deploy with {API_KEY}")]);
    assert_eq!(found["item"], "deploy with [redacted API key]");
    run(
        &home,
        &[
            "update",
            "first",
            "--reason",
            PEM,
            "--new-item",
            &format!("second {AWS}"),
        ],
    );
    run(&home, &["tag", "2", AWS, GITHUB]);
    let lines = format!(
        "{}\n{}\n",
        serde_json::json!({"item": format!("use {AWS}"), "reason": PEM, "keywords": [GITHUB]}),
        serde_json::json!({"item": "url", "reason": format!("postgres://me:{PASSWORD}@db/x"), "source": GITHUB}),
    );
    let stdin = home.run_with_input(&["add", "--stdin"], lines.as_bytes());
    assert_eq!(stdin.code, 0, "{stdin:?}");
    assert_clean("stdout", stdin.stdout.as_bytes());
    assert_clean("stderr", stdin.stderr.as_bytes());
    // What waits for review, with its evidence, and what is accepted from it.
    run(
        &home,
        &[
            "add",
            &format!("never {GITHUB}"),
            &format!("token: {GITHUB}"),
            "--score",
            "0.5",
            "--source",
            "analysis",
        ],
    );
    assert_clean_files(&home);
    run(&home, &["review"]);
    run(&home, &["review", "--json"]);
    run(&home, &["review", "accept", "1"]);
    run(&home, &["remove", "2"]);
    run(&home, &["undo"]);
    for arguments in [
        ["show", "--json"],
        ["history", "--json"],
        ["why", "2"],
        ["recall", "deploy"],
        ["context", "deploy"],
        ["keywords", "--json"],
    ] {
        assert_eq!(run(&home, &arguments).code, 0, "{arguments:?}");
    }
    assert_clean_files(&home);
    replays_to_the_same_tables(&home);
}

#[rstest]
#[case(&["show", API_KEY])]
#[case(&["touch", GITHUB])]
#[case(&["remove", GITHUB, "--json"])]
#[case(&["update", AWS, "--score", "3"])]
#[case(&["add", "a", "b", API_KEY])]
#[case(&["add", "a", "b", API_KEY, "--json"])]
#[case(&["add", "a", "b", "--score", API_KEY])]
#[case(&["add", "a", "b", "--score", API_KEY, "--json"])]
fn a_message_does_not_repeat_a_secret(#[case] arguments: &[&str]) {
    let home = Home::new();
    home.ok(&["add", "first", "so that there is a store"]);
    let run = run(&home, arguments);
    assert_ne!(run.code, 0, "{run:?}");
    assert!(run.stderr.contains("[redacted"), "{run:?}");
}

#[test]
fn a_bad_line_does_not_repeat_a_secret() {
    let line = format!("{{\"item\": \"a\", \"reason\": \"b\", \"score\": \"{API_KEY}\"}}\n");
    let run = Home::new().run_with_input(&["add", "--stdin"], line.as_bytes());
    assert_eq!(run.code, 2, "{run:?}");
    assert_clean("stderr", run.stderr.as_bytes());
}

#[test]
fn a_row_of_another_program_loses_its_secrets_when_it_is_adopted() {
    let home = Home::new();
    home.ok(&["add", "first", "so that there is a store"]);
    let when = "'2026-11-01T00:00:00Z', '2026-11-01T00:00:00Z'";
    for (item, reason) in [(API_KEY, PASSWORD), (&API_KEY.replace('6', "7"), "b")] {
        home.outside(&format!(
            "INSERT INTO preferences (item, reason, base_score, added_at, last_seen)
             VALUES ('{item}', 'password: {reason}', 8.0, {when})"
        ));
    }
    run(&home, &["add", "ours", "later"]);
    let entries: Vec<Value> = home.json(&["show"]);
    let mut items: Vec<&str> = entries
        .iter()
        .filter_map(|entry| entry["item"].as_str())
        .collect();
    items.sort_unstable();
    // Two secrets leave the same mark, and stay two entries.
    assert_eq!(
        items,
        [
            "[redacted API key]",
            "[redacted API key] (3)",
            "first",
            "ours"
        ]
    );
    assert_clean_files(&home);
    replays_to_the_same_tables(&home);
    home.ok(&["undo"]);
    replays_to_the_same_tables(&home);
}

#[test]
fn a_look_alike_is_stored_as_it_is_and_nothing_is_said() {
    let home = Home::new();
    let reason = "since 0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c; password: required";
    let run = home.run(&["add", "risk-based sk-learn", reason]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let entry: Value = home.json(&["show", "1"]);
    assert_eq!(entry["reason"], reason);
}
