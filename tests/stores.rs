//! Stores of earlier versions open without losing anything, and files that are no stores are left alone.

use std::fs;

use rstest::rstest;
use serde_json::{Value, json};

use crate::common::{Home, Run, stored};

fn query(home: &Home, sql: &str) -> Vec<String> {
    let connection = rusqlite::Connection::open(home.db()).expect("the store opens");
    let mut statement = connection.prepare(sql).expect("the query is right");
    let columns = statement.column_count();
    let mut found = statement.query([]).expect("the query runs");
    let mut rows = Vec::new();
    while let Some(row) = found.next().expect("the row reads") {
        let cells: Vec<String> = (0..columns)
            .map(|index| {
                let value: rusqlite::types::Value = row.get(index).expect("the cell reads");
                match value {
                    rusqlite::types::Value::Text(text) => text,
                    rusqlite::types::Value::Integer(number) => number.to_string(),
                    rusqlite::types::Value::Real(number) => number.to_string(),
                    other => format!("{other:?}"),
                }
            })
            .collect();
        rows.push(cells.join("|"));
    }
    rows
}

const DOCUMENTED: &str = "SELECT id, item, reason, keywords, base_score, source, added_at, last_seen FROM preferences ORDER BY id";

fn backups(home: &Home) -> Vec<std::path::PathBuf> {
    let mut found: Vec<_> = fs::read_dir(home.aizo().join("backups"))
        .into_iter()
        .flatten()
        .map(|entry| entry.expect("the entry reads").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "bak"))
        .collect();
    found.sort();
    found
}

#[rstest]
#[case("aizo-1.0.0.db")]
#[case("aizo-half-migrated.db")]
fn a_store_of_1_0_0_keeps_every_row_id_scenario_and_setting(#[case] name: &str) {
    let home = Home::with_store(name);
    let before = query(&home, DOCUMENTED);
    let scenarios = query(&home, "SELECT * FROM preference_scenarios ORDER BY 1, 2");
    home.ok(&["show"]);
    assert_eq!(query(&home, DOCUMENTED), before);
    assert_eq!(before.len(), 12);
    assert_eq!(
        query(&home, "SELECT * FROM preference_scenarios ORDER BY 1, 2"),
        scenarios
    );
    let decay: Value = home.json(&["config", "show"]);
    assert_eq!(decay, json!({"half_life_days": 21.0, "floor": 0.2}));
    // Ids that were given once are not given again.
    home.ok(&["add", "something new", "because"]);
    assert_eq!(query(&home, "SELECT max(id) FROM preferences"), ["14"]);
}

#[rstest]
#[case("aizo-1.0.0.db")]
#[case("aizo-0.3.0.db")]
#[case("aizo-half-migrated.db")]
#[case("aizo-early.db")]
fn the_file_as_it_was_is_kept_among_its_copies(#[case] name: &str) {
    let home = Home::with_store(name);
    home.ok(&["show"]);
    home.ok(&["add", "x", "y"]);
    let kept = backups(&home);
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!(pages(&kept[0]), pages(&stored(name)));
}

/// What a file holds, but for what SQLite counts in its header: versions and changes.
fn pages(path: &std::path::Path) -> Vec<u8> {
    let mut bytes = fs::read(path).expect("it reads");
    for counted in [24..28, 40..44, 92..100] {
        bytes[counted].fill(0);
    }
    bytes
}

#[test]
fn a_store_of_0_3_0_unites_what_is_one_item_and_keeps_sessions_and_odd_times() {
    let home = Home::with_store("aizo-0.3.0.db");
    let entries: Vec<Value> = home.json(&["show"]);
    let mut ids: Vec<i64> = entries
        .iter()
        .filter_map(|entry| entry["id"].as_i64())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3, 5, 6]);
    let united: Value = home.json(&["show", "ünïcode item"]);
    // 6.0 was seen before 8.0: 0.4 · 6 + 0.6 · 8.
    assert_eq!(united["id"], 3);
    assert_eq!(united["item"], "Ünïcode Item");
    assert_eq!(united["base_score"], 7.2);
    assert_eq!(united["reason"], "ASCII-only lowering let this in");
    let history: Vec<Value> = home.json(&["history", "ünïcode item"]);
    assert_eq!(history[0]["op"], "merge");
    assert_eq!(united["evidence"][0]["place"], "entry 4 “ünïcode item”");
    assert_eq!(
        query(
            &home,
            "SELECT id, analyzed_at, extracted, content_hash FROM sessions"
        ),
        [
            "1|2026-05-07T15:30:00+00:00|3|9f86d081884c7d65",
            "2|2026-05-08T09:00:00+00:00|0|"
        ]
    );
    let info: Value = home.json(&["info"]);
    assert_eq!(info["future_times"], json!([6]));
    assert_eq!(info["unreadable_times"], json!([5]));
    assert_eq!(
        info["decay"],
        json!({"half_life_days": 14.0, "floor": 0.05})
    );
}

#[test]
fn an_early_category_becomes_a_keyword_and_a_limit_stays_one() {
    let home = Home::with_store("aizo-early.db");
    let entries: Vec<Value> = home.json(&["show"]);
    assert_eq!(entries.len(), 2);
    let dark: Value = home.json(&["show", "1"]);
    assert_eq!(dark["base_score"], 6.5);
    assert_eq!(dark["keywords"], json!(["theme", "style", "ui", "habit"]));
    let limit: Value = home.json(&["show", "3"]);
    assert_eq!(
        (&limit["base_score"], &limit["hard_limit"]),
        (&json!(0.0), &json!(true))
    );
    // The column is gone, so that an entry without a category can be stored.
    home.ok(&["add", "new", "entry"]);
    assert_eq!(query(&home, "SELECT max(id) FROM preferences"), ["4"]);
}

#[test]
fn a_limit_among_rows_that_are_one_item_wins() {
    let home = Home::with_store("aizo-1.0.0.db");
    let connection = rusqlite::Connection::open(home.db()).expect("the store opens");
    connection
        .execute_batch(
            "INSERT INTO preferences (item, reason, base_score, added_at, last_seen) VALUES
             ('écrire en français', 'never in French', 0.5, '2025-01-01T00:00:00Z', '2025-01-01T00:00:00Z')",
        )
        .expect("an old program could store this");
    drop(connection);
    let entry: Value = home.json(&["show", "écrire en français"]);
    assert_eq!(
        (&entry["id"], &entry["base_score"]),
        (&json!(9), &json!(0.5))
    );
}

#[test]
fn what_another_program_writes_is_found_at_once_and_adopted_by_the_next_write() {
    let home = Home::with_store("aizo-1.0.0.db");
    home.ok(&["show"]);
    let connection = rusqlite::Connection::open(home.db()).expect("the store opens");
    // Just what 1.0.0 does: its own number, its own rows.
    connection
        .execute_batch(
            "UPDATE schema_meta SET value = '7' WHERE key = 'version';
             INSERT INTO preferences (item, reason, keywords, base_score, added_at, last_seen)
                 VALUES ('written by 1.0.0', 'elsewhere', 'old', 8.0, '2026-11-29T00:00:00+00:00', '2026-11-29T00:00:00+00:00');
             INSERT INTO preference_scenarios VALUES (14, 'coding');
             UPDATE preferences SET base_score = 3.0 WHERE id = 1;
             DELETE FROM preference_scenarios WHERE preference_id = 12; DELETE FROM preferences WHERE id = 12;
             UPDATE decay_config SET half_life_days = 10;",
        )
        .expect("an old program writes");
    drop(connection);
    assert!(home.ok(&["recall", "written"]).contains("written by 1.0.0"));
    let info: Value = home.json(&["info"]);
    assert_eq!(info["outside_changes"], 4);
    home.ok(&["touch", "14"]);
    assert_eq!(backups(&home).len(), 1, "it is no migration");
    let history: Vec<Value> = home.json(&["history", "--limit", "5"]);
    let adopted: Vec<_> = history
        .iter()
        .filter(|line| line["op"] == "adopt")
        .collect();
    assert_eq!(adopted.len(), 4, "{history:?}");
    let info: Value = home.json(&["info"]);
    assert_eq!(info["outside_changes"], 0);
    replays_to_the_same_tables(&home);
    // What was adopted can be taken back like any other change.
    let removal = adopted
        .iter()
        .find(|line| line["item"] == "tabs")
        .expect("the removal of tabs was adopted");
    assert_eq!(removal["after"], Value::Null);
}

#[test]
fn rows_of_another_program_that_are_one_item_are_united_when_adopted() {
    let home = Home::new();
    home.ok(&["add", "école", "first", "--score", "8"]);
    let connection = rusqlite::Connection::open(home.db()).expect("the store opens");
    connection
        .execute_batch(
            "INSERT INTO preferences (item, reason, base_score, added_at, last_seen)
             VALUES ('ÉCOLE', 'never', 0.5, '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z')",
        )
        .expect("LOWER() does not see that these are one item");
    drop(connection);
    home.ok(&["add", "something", "else"]);
    let entries: Vec<Value> = home.json(&["recall", "école"]);
    assert_eq!(entries.len(), 1);
    assert_eq!(
        (&entries[0]["id"], &entries[0]["base_score"]),
        (&json!(1), &json!(0.5))
    );
    replays_to_the_same_tables(&home);
}

/// Replays the journal of a home's store and compares all tables.
pub fn replays_to_the_same_tables(home: &Home) {
    use aizo::storage::{Location, Store};
    let now = "2026-11-30T12:00:00Z".parse().expect("a time");
    let location = Location {
        path: home.db(),
        patience: std::time::Duration::from_secs(5),
    };
    let store = Store::open_for_reading(&location, now)
        .expect("the store opens")
        .expect("there is one");
    let replica = store.replayed(now).expect("the journal replays");
    let tables = store.view().tables().expect("the tables read");
    assert!(!tables.is_empty());
    assert_eq!(tables, replica.view().tables().expect("the copy reads"));
}

#[rstest]
#[case("aizo-1.0.0.db")]
#[case("aizo-0.3.0.db")]
#[case("aizo-early.db")]
fn the_journal_of_a_migrated_store_replays_to_the_same_tables(#[case] name: &str) {
    let home = Home::with_store(name);
    home.ok(&["show"]);
    replays_to_the_same_tables(&home);
    home.ok(&["update", "1", "--score", "2", "--keywords", "a,b"]);
    home.ok(&["remove", "3"]);
    home.ok(&["undo"]);
    home.ok(&["add", "another", "one", "--scenarios", "coding,writing"]);
    home.ok(&["clear", "--yes"]);
    replays_to_the_same_tables(&home);
    home.ok(&["undo"]);
    replays_to_the_same_tables(&home);
}

fn refused(run: &Run, home: &Home, words: &str) {
    assert_eq!(run.code, 1, "{run:?}");
    assert_eq!(run.stdout, "");
    let mut lines = run.stderr.lines();
    let message = lines.next().unwrap_or_default();
    assert!(message.contains(words), "{run:?}");
    assert!(
        message.contains(&home.db().display().to_string()),
        "{run:?}"
    );
    let hint = lines.next().unwrap_or_default();
    assert!(hint.starts_with("hint: "), "{run:?}");
}

#[test]
fn what_is_no_store_is_refused_by_name_and_left_alone() {
    type Make = fn(&std::path::Path);
    let cases: [(&str, Make); 7] = [
        ("another program", |path| {
            fs::copy(stored("not-aizo.db"), path)
                .map(drop)
                .expect("it copies");
        }),
        ("another program", |path| {
            let connection = rusqlite::Connection::open(path).expect("it opens");
            connection
                .execute_batch("PRAGMA application_id = 7; CREATE TABLE preferences (id, item, reason, base_score)")
                .expect("it writes");
        }),
        ("another program", |path| {
            let connection = rusqlite::Connection::open(path).expect("it opens");
            connection
                .execute_batch("CREATE TABLE t (a)")
                .expect("it writes");
        }),
        ("schema 9", |path| {
            fs::copy(stored("aizo-1.0.0.db"), path)
                .map(drop)
                .expect("it copies");
            let connection = rusqlite::Connection::open(path).expect("it opens");
            connection
                .execute_batch("UPDATE schema_meta SET value = '9'")
                .expect("it writes");
        }),
        ("not a database", |path| {
            fs::write(path, "just text ".repeat(20)).expect("it writes");
        }),
        ("not a database", |path| {
            fs::write(path, "short").expect("it writes");
        }),
        ("folder", |path| fs::create_dir(path).expect("it is made")),
    ];
    for (words, make) in cases {
        let home = Home::new();
        fs::create_dir(home.aizo()).expect("an empty home");
        make(&home.db());
        let before = fs::read(home.db()).ok();
        refused(&home.run(&["show"]), &home, words);
        refused(&home.run(&["add", "a", "b"]), &home, words);
        assert_eq!(fs::read(home.db()).ok(), before, "{words}");
        let files = fs::read_dir(home.aizo()).expect("the folder reads").count();
        assert_eq!(files, 1, "{words}: nothing is left beside it");
    }
}

#[test]
fn an_empty_file_and_one_without_tables_are_new_stores() {
    let home = Home::new();
    fs::create_dir(home.aizo()).expect("an empty home");
    fs::write(home.db(), "").expect("it writes");
    assert_eq!(home.ok(&["recall", "--json"]), "[]\n");
    home.ok(&["add", "a", "b"]);

    let home = Home::new();
    fs::create_dir(home.aizo()).expect("an empty home");
    rusqlite::Connection::open(home.db())
        .and_then(|connection| connection.execute_batch("VACUUM"))
        .expect("an empty database");
    assert_eq!(home.ok(&["recall", "--json"]), "[]\n");
    home.ok(&["add", "a", "b"]);
}

#[test]
fn a_damaged_store_is_named_and_left_alone() {
    let home = Home::new();
    for item in ["one", "two", "three"] {
        home.ok(&["add", item, "because"]);
    }
    let mut bytes = fs::read(home.db()).expect("it reads");
    for byte in &mut bytes[4096..12288] {
        *byte = 0xAA;
    }
    fs::write(home.db(), &bytes).expect("it writes");
    let run = home.run(&["show"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run:?}");
    assert!(
        run.stderr.contains(&home.db().display().to_string()),
        "{run:?}"
    );
    assert_eq!(fs::read(home.db()).expect("it reads"), bytes);
}

#[test]
fn more_entries_than_sqlite_takes_parameters_are_nothing_special() {
    let home = Home::new();
    let mut lines = String::new();
    for number in 0..33_000 {
        lines.push_str(&format!(
            "{{\"item\":\"entry {number}\",\"reason\":\"r\",\"score\":5}}\n"
        ));
    }
    let run = home.run_with_input(&["add", "--stdin", "--json"], lines.as_bytes());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let entries: Vec<Value> = home.json(&["recall", "entry"]);
    assert_eq!(entries.len(), 33_000);
    home.ok(&["clear", "--yes"]);
    home.ok(&["undo"]);
    let info: Value = home.json(&["info"]);
    assert_eq!(info["entries"], 33_000);
}
