//! What other programs do to a store: rows written, renamed, replaced and removed behind our back, odd values, and
//! files that lie where one would not look.

use rstest::rstest;
use serde_json::{Value, json};

use crate::common::Home;
use crate::stores::replays_to_the_same_tables;

const WHEN: &str = "'2026-11-01T00:00:00+00:00', '2026-11-01T00:00:00+00:00'";

fn profile() -> Home {
    let home = Home::new();
    home.ok(&["add", "alpha", "first", "--score", "8"]);
    home.ok(&["add", "beta", "second", "--score", "0.5"]);
    home.ok(&["add", "gamma", "third", "--score", "6"]);
    home
}

/// Item and score of every entry, sorted.
fn entries(home: &Home) -> Vec<(String, f64)> {
    let list: Vec<Value> = home.json(&["show"]);
    let mut found: Vec<(String, f64)> = list
        .iter()
        .map(|entry| {
            let item = entry["item"].as_str().expect("an item").to_owned();
            (item, entry["base_score"].as_f64().expect("a score"))
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

fn pairs(list: &[(&str, f64)]) -> Vec<(String, f64)> {
    list.iter()
        .map(|(item, score)| ((*item).to_owned(), *score))
        .collect()
}

#[rstest]
#[case::swapped(
    "UPDATE preferences SET item = 'x' WHERE id = 1; UPDATE preferences SET item = 'alpha' WHERE id = 2;
     UPDATE preferences SET item = 'beta' WHERE id = 1;",
    &[("alpha", 0.5), ("beta", 8.0), ("gamma", 6.0)]
)]
#[case::renamed_and_its_name_taken(
    "UPDATE preferences SET item = 'delta' WHERE id = 1;
     INSERT INTO preferences (item, reason, base_score, added_at, last_seen) VALUES ('alpha', 'new', 3.0, {when});",
    &[("alpha", 3.0), ("beta", 0.5), ("delta", 8.0), ("gamma", 6.0)]
)]
#[case::a_chain_of_names(
    "UPDATE preferences SET item = 'delta' WHERE id = 1; UPDATE preferences SET item = 'alpha' WHERE id = 2;
     UPDATE preferences SET item = 'beta' WHERE id = 3;",
    &[("alpha", 0.5), ("beta", 6.0), ("delta", 8.0)]
)]
#[case::replaced_by_name(
    "INSERT OR REPLACE INTO preferences (item, reason, base_score, added_at, last_seen) VALUES ('ALPHA', 'other', 7.0, {when});",
    &[("ALPHA", 7.0), ("beta", 0.5), ("gamma", 6.0)]
)]
#[case::replaced_by_number(
    "INSERT OR REPLACE INTO preferences (id, item, reason, base_score, added_at, last_seen) VALUES (1, 'other', 'r', 7.0, {when});",
    &[("beta", 0.5), ("gamma", 6.0), ("other", 7.0)]
)]
#[case::replaced_by_an_update(
    "UPDATE OR REPLACE preferences SET item = 'alpha' WHERE id = 3;",
    &[("alpha", 6.0), ("beta", 0.5)]
)]
#[case::removed(
    "DELETE FROM preferences WHERE id = 1;",
    &[("beta", 0.5), ("gamma", 6.0)]
)]
#[case::one_item_in_two_rows(
    "INSERT INTO preferences (item, reason, base_score, added_at, last_seen) VALUES ('ｂｅｔａ', 'love it', 9.0, {when});",
    &[("alpha", 8.0), ("beta", 0.5), ("gamma", 6.0)]
)]
fn what_another_program_does_to_the_rows_is_adopted(
    #[case] sql: &str,
    #[case] expected: &[(&str, f64)],
    #[values(true, false)] foreign_keys: bool,
) {
    let home = profile();
    let sql = sql.replace("{when}", WHEN);
    home.outside(&format!("PRAGMA foreign_keys = {foreign_keys}; {sql}"));
    home.ok(&["add", "ours", "later", "--score", "5"]);
    let mut expected = pairs(expected);
    expected.push(("ours".to_owned(), 5.0));
    expected.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(entries(&home), expected);
    replays_to_the_same_tables(&home);
    // Every item is found by its name, and the next write has nothing left to adopt.
    for (item, _) in &expected {
        home.ok(&["show", item]);
        home.ok(&["recall", "--exact", item]);
    }
    home.ok(&["undo"]);
    replays_to_the_same_tables(&home);
    // A plain undo takes back what was done here, and not what another program did.
    let run = home.run(&["undo"]);
    assert!(
        run.code == 0 || run.stderr.contains("cannot be undone"),
        "{run:?}"
    );
    replays_to_the_same_tables(&home);
}

#[test]
fn a_name_that_another_program_changed_is_found_at_once() {
    let home = profile();
    home.outside("UPDATE preferences SET item = 'delta' WHERE id = 1");
    assert!(home.ok(&["show", "delta"]).contains("delta"));
    assert_eq!(home.run(&["show", "alpha"]).code, 1);
    assert!(home.ok(&["recall", "--exact", "delta"]).contains("delta"));
    let found: Vec<Value> = home.json(&["recall", "--exact", "alpha"]);
    assert_eq!(found, [] as [Value; 0]);
}

#[test]
fn a_limit_that_another_program_wrote_keeps_its_place() {
    let home = profile();
    home.outside(&format!(
        "INSERT INTO preferences (item, reason, base_score, added_at, last_seen) VALUES ('outside', 'never', 1.0, {WHEN})"
    ));
    let found: Vec<Value> = home.json(&["recall", "--limit", "2"]);
    let mut ids: Vec<_> = found
        .iter()
        .filter_map(|entry| entry["id"].as_i64())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, [2, 4]);
}

#[test]
fn uniting_keeps_the_limits_reason_and_every_observation() {
    let home = Home::new();
    home.ok(&["add", "force-push", "lost a day", "--score", "0.5"]);
    home.ok(&["add", "push by force", "one", "--score", "3"]);
    home.ok(&["add", "push by force", "two", "--score", "3"]);
    home.outside("UPDATE preferences SET item = 'Ｆorce-push', last_seen = '2030-01-01T00:00:00Z' WHERE id = 2");
    home.ok(&["add", "x", "y"]);
    let entry: Value = home.json(&["show", "force-push"]);
    assert_eq!(
        (&entry["base_score"], &entry["reason"]),
        (&json!(0.5), &json!("lost a day"))
    );
    let quotes: Vec<_> = entry["evidence"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|evidence| evidence["quote"].as_str().expect("a text"))
        .collect();
    assert_eq!(quotes, ["lost a day", "one", "two"]);
    replays_to_the_same_tables(&home);
}

#[rstest]
#[case("reason = 'two' || char(10) || 'lines'")]
#[case("reason = ''")]
#[case("reason = printf('%.5000c', 'x')")]
#[case("keywords = 'zero' || char(8203) || 'width'")]
#[case("touch_count = 9223372036854775807")]
fn texts_that_today_would_be_refused_are_no_obstacle(#[case] set: &str) {
    // In rows that are one item, where a new line is written for old texts, before and after the journal began.
    let home = Home::with_store("aizo-0.3.0.db");
    if !set.starts_with("touch_count") {
        home.outside(&format!("UPDATE preferences SET {set} WHERE id IN (3, 4)"));
    }
    home.ok(&["show"]);
    replays_to_the_same_tables(&home);

    let home = profile();
    home.outside(&format!("UPDATE preferences SET {set} WHERE id = 1"));
    home.outside(
        "INSERT INTO preferences (item, reason, keywords, base_score, added_at, last_seen, touch_count)
         SELECT 'ａlpha', reason, keywords, 7, added_at, last_seen, touch_count FROM preferences WHERE id = 1",
    );
    home.ok(&["add", "alpha", "again", "--keywords", "new"]);
    home.ok(&["tag", "alpha", "newer"]);
    replays_to_the_same_tables(&home);
}

#[rstest]
#[case("UPDATE preferences SET base_score = 9e999 WHERE id = 1")]
#[case("UPDATE preferences SET base_score = -9e999 WHERE id = 1")]
#[case("UPDATE preferences SET base_score = 'high' WHERE id = 1")]
#[case("UPDATE preferences SET reason = x'ff00fe' WHERE id = 1")]
#[case("UPDATE preferences SET keywords = CAST(x'61ff62' AS TEXT) WHERE id = 1")]
#[case("UPDATE preferences SET touch_count = 'often' WHERE id = 1")]
#[case("INSERT INTO preference_scenarios VALUES (1, x'6162')")]
#[case("UPDATE decay_config SET half_life_days = 9e999, floor = 'none'")]
#[case("DELETE FROM decay_config")]
#[case("UPDATE evidence SET quote = x'ff'")]
fn values_of_another_kind_are_no_obstacle(#[case] sql: &str) {
    let home = profile();
    home.outside(sql);
    for read in [
        &["show"][..],
        &["recall", "alpha"],
        &["why", "1"],
        &["info"],
        &["history"],
        &["keywords"],
        &["scenarios"],
    ] {
        home.ok(read);
    }
    home.ok(&["config", "set-half-life", "20"]);
    home.ok(&["add", "another", "one"]);
    let before = entries(&home);
    home.ok(&["clear", "--yes"]);
    home.ok(&["undo"]);
    assert_eq!(entries(&home), before);
    home.ok(&["remove", "1"]);
    home.ok(&["undo"]);
    assert_eq!(entries(&home), before);
    replays_to_the_same_tables(&home);
}

#[rstest]
#[case("'0,5'")]
#[case("'never'")]
#[case("x'302e35'")]
#[case("''")]
fn a_limit_whose_score_another_program_made_unreadable_stays_a_limit(#[case] score: &str) {
    let home = profile();
    home.outside(&format!(
        "UPDATE preferences SET base_score = {score} WHERE item IN ('alpha', 'beta');
         INSERT INTO preferences (item, reason, base_score, added_at, last_seen) VALUES ('new', 'r', {score}, {WHEN})"
    ));
    let expected = [("alpha", 8.0), ("beta", 0.5), ("gamma", 6.0), ("new", 5.0)];
    // At once, and after it was adopted.
    assert_eq!(entries(&home), pairs(&expected));
    assert!(home.ok(&["context"]).contains("hard limits: beta"));
    let limits: Vec<Value> = home.json(&["recall", "--type", "taboo"]);
    assert_eq!(limits.len(), 1);
    let info: Value = home.json(&["info"]);
    assert_eq!(info["unreadable_scores"], json!([1, 2, 4]));
    assert!(
        home.ok(&["info"])
            .contains("score of 3 entries: ids 1, 2, 4")
    );
    let run = home.run(&["touch", "gamma"]);
    assert_eq!(run.stderr.matches("was no number").count(), 3, "{run:?}");
    assert!(
        run.stderr
            .contains("“beta” (id 2) was no number; it is 0.5 (taboo) now"),
        "{run:?}"
    );
    assert_eq!(entries(&home), pairs(&expected));
    let info: Value = home.json(&["info"]);
    assert_eq!(info["unreadable_scores"], json!([]));
    replays_to_the_same_tables(&home);
}

#[rstest]
fn a_row_with_the_highest_number_of_all_leaves_room_for_more(
    #[values(true, false)] foreign_keys: bool,
) {
    let home = profile();
    home.outside(&format!(
        "PRAGMA foreign_keys = {foreign_keys};
         INSERT INTO preferences (id, item, reason, base_score, added_at, last_seen)
         VALUES (9223372036854775807, 'last', 'r', 1, {WHEN});
         INSERT INTO preference_scenarios VALUES (9223372036854775807, 'coding')"
    ));
    home.ok(&["add", "ours", "later", "--score", "5"]);
    home.ok(&["add", "another", "later", "--score", "5"]);
    let last: Value = home.json(&["show", "last"]);
    assert_eq!(
        (&last["id"], &last["scenarios"]),
        (&json!(4), &json!(["coding"]))
    );
    assert_eq!(home.json::<Value>(&["show", "another"])["id"], 6);
    replays_to_the_same_tables(&home);
    // An entry that is known and was given such a number is the same entry.
    home.outside(&format!(
        "PRAGMA foreign_keys = off; UPDATE preferences SET id = {} WHERE item = 'beta'",
        i64::MAX
    ));
    home.ok(&["add", "one more", "later"]);
    assert!(home.ok(&["context"]).contains("beta"));
    replays_to_the_same_tables(&home);
}

#[test]
fn a_store_without_the_list_of_outside_changes_is_put_right() {
    let home = profile();
    home.outside("DROP TABLE outside_changes");
    let list: Vec<Value> = home.json(&["show"]);
    assert_eq!(list.len(), 3);
    home.ok(&["add", "ours", "later"]);
    // What was written while no trigger could note it.
    home.outside(
        "DROP TABLE outside_changes; DROP TRIGGER note_entry_update;
         UPDATE preferences SET base_score = 1 WHERE item = 'alpha'",
    );
    home.ok(&["add", "more", "later"]);
    let history: Vec<Value> = home.json(&["history", "alpha"]);
    assert_eq!(history[0]["op"], "adopt");
    replays_to_the_same_tables(&home);
}

#[cfg(unix)]
#[test]
fn a_link_to_a_store_shows_what_is_only_in_its_log() {
    let home = profile();
    let link = home.path().join("link.db");
    std::os::unix::fs::symlink(home.db(), &link).expect("a link");
    let link = link.to_str().expect("a path").to_owned();
    // Somebody else has the store open, so that its log is not written back.
    let other = rusqlite::Connection::open(home.db()).expect("the store opens");
    let _: i64 = other
        .query_row("SELECT count(*) FROM preferences", [], |row| row.get(0))
        .expect("it reads");
    home.ok(&["--db", &link, "add", "no rm -rf", "never", "--score", "0"]);
    assert!(
        home.ok(&["--db", &link, "recall", "rm"])
            .contains("no rm -rf")
    );
    assert!(!home.path().join("link.db-wal").exists());
}

#[test]
fn an_older_store_whose_writer_was_killed_is_put_right_and_read() {
    let home = Home::with_store("aizo-1.0.0.db");
    // What a killed writer leaves: pages of an open transaction in the file, and the journal to take them back.
    let mut writer = rusqlite::Connection::open(home.db()).expect("the store opens");
    writer
        .execute_batch("PRAGMA cache_size = 1; BEGIN IMMEDIATE; UPDATE preferences SET reason = reason || hex(randomblob(9000))")
        .expect("it writes");
    let killed = Home::new();
    std::fs::create_dir(killed.aizo()).expect("an empty home");
    for ending in ["", "-journal"] {
        let name = format!("preferences.db{ending}");
        std::fs::copy(home.aizo().join(&name), killed.aizo().join(&name)).expect("it copies");
    }
    drop(writer.transaction());
    let entry: Value = killed.json(&["show", "1"]);
    assert_eq!(entry["reason"], "Asked again for a shorter version");
    killed.ok(&["add", "x", "y"]);
}

#[test]
fn what_a_killed_migration_left_behind_is_cleared_away() {
    let home = Home::with_store("aizo-1.0.0.db");
    std::fs::write(home.aizo().join(".aizo-backup-x7f"), "half a copy").expect("it writes");
    let run = home.run(&["show"]);
    assert!(run.stderr.contains("kept as"), "{run:?}");
    assert!(!home.aizo().join(".aizo-backup-x7f").exists());
}

#[test]
fn undoing_an_undo_never_brings_back_what_a_later_undo_changed() {
    let home = Home::new();
    home.ok(&["add", "x", "r", "--score", "5"]);
    home.ok(&["update", "x", "--score", "9"]);
    home.ok(&["add", "x", "never again", "--score", "0.5"]);
    home.ok(&["undo"]);
    home.ok(&["undo"]);
    let run = home.run(&["undo", "4"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("change 5"), "{run:?}");
    home.ok(&["undo", "5"]);
    home.ok(&["undo", "4"]);
    let entry: Value = home.json(&["show", "x"]);
    assert_eq!(entry["base_score"], 0.5);
    replays_to_the_same_tables(&home);
}

#[test]
fn undoing_an_undo_of_something_that_is_gone_names_what_is_in_the_way() {
    let home = Home::new();
    home.ok(&["add", "x", "r"]);
    home.ok(&["update", "x", "--score", "3"]);
    home.ok(&["undo"]);
    home.ok(&["undo"]);
    let run = home.run(&["undo", "3"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("change 4 (undo)"), "{run:?}");
}

#[test]
fn undo_passes_over_the_rows_that_were_there_when_the_journal_began() {
    let home = Home::with_store("aizo-0.3.0.db");
    home.ok(&["show"]);
    let run = home.run(&["undo"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("there is nothing to undo"), "{run:?}");
    home.ok(&["add", "x", "y"]);
    let run = home.run(&["undo", "--last", "5"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stderr.contains("there were only 1 change"), "{run:?}");
}

#[test]
fn an_accepted_proposal_keeps_the_observation_that_it_rests_on() {
    let home = Home::new();
    home.ok(&[
        "add",
        "beeps",
        "inferred from a log",
        "--score",
        "1",
        "--source",
        "analysis",
    ]);
    let later = home.at("2026-12-24T12:00:00+00:00");
    later.ok(&["review", "accept", "1"]);
    let why: Value = later.json(&["why", "beeps"]);
    assert_eq!(why["entry"]["origin"], "user");
    assert_eq!(why["entry"]["hard_limit"], true);
    let evidence = &why["evidence"][0];
    assert_eq!(
        (&evidence["speaker"], &evidence["origin"]),
        (&json!("agent"), &json!("analysis"))
    );
    assert_eq!(evidence["at"], "2026-11-30T12:00:00+00:00");
    later.ok(&["undo"]);
    let waiting: Vec<Value> = later.json(&["review"]);
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0]["evidence"], *evidence);
}
