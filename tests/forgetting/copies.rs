//! Copies of the store, aizo's own and those of the person: what was forgotten stays so in them, and when one is put back.

use super::*;

/// A copy of the store outside of aizo's folder.
fn copied(home: &Home) -> String {
    let copy = home.path().join("old.db").display().to_string();
    home.ok(&["backup", &copy]);
    copy
}

fn stays(reply: &Value) -> Vec<(&str, bool)> {
    let all = reply["stays_forgotten"].as_array().expect("a list").iter();
    all.map(|one| {
        (
            one["item"].as_str().expect("a text"),
            one["hard_limit"].as_bool().expect("yes or no"),
        )
    })
    .collect()
}

/// The only one of the copies.
fn only(home: &Home) -> PathBuf {
    let copies = files(&home.aizo().join("backups"));
    assert_eq!(copies.len(), 1, "{copies:?}");
    copies.into_iter().next().expect("there is one")
}

#[test]
fn what_was_forgotten_stays_so_when_a_copy_is_put_back() {
    let home = Home::new();
    home.ok(&["add", ITEM, "wqkpfex", "--score", "0"]);
    home.ok(&["add", "tabs", "stays"]);
    home.ok(&["add", "spaces", "not Qzxvorn from Mjölkwrust 贝壳"]);
    let copy = copied(&home);
    forget(&home, &[ITEM, "--yes", "--all-evidence"]);
    let later = home.rows();
    let would: Value = home.json(&["restore", &copy, "--dry-run"]);
    assert_eq!(home.rows(), later);
    let text = home.ok(&["restore", &copy, "--dry-run"]);
    assert!(
        text.contains(&format!("stays forgotten: {ITEM} (a hard limit)")),
        "{text}"
    );
    let done: Value = home.json(&["restore", &copy]);
    for reply in [&would, &done] {
        assert_eq!(stays(reply), [(ITEM, true)]);
        assert_eq!(
            (&reply["entries"], &reply["coming"]),
            (&json!(2), &json!([]))
        );
    }
    assert_clean(&home, WORDS);
    assert_eq!(home.json::<Vec<Value>>(&["show"]).len(), 2);
    replays_to_the_same_tables(&home);
    home.ok(&["add", ITEM, "said anew"]);
    assert_eq!(home.json::<Vec<Value>>(&["show"]).len(), 3);
}

#[test]
fn it_is_not_learned_again_from_a_copy_that_is_put_back_nor_what_was_forgotten_there() {
    let told = |text: &str| Chat::new("old").user(text);
    let said = told("Always use dark mode in the editor. Please always write short functions.");
    let (other, home) = (Home::new(), Home::new());
    let mut items = Vec::new();
    for (home, word) in [(&other, "dark"), (&home, "short")] {
        let file = said.clone().write(home, "old.jsonl");
        let learned = learned(home, &file);
        assert_eq!(learned.len(), 2, "{learned:?}");
        items = learned;
        let item = items.iter().find(|item| item.contains(word));
        forget(home, &[item.expect("it is learned")]);
        home.ok(&["sessions", "forget", "--all"]);
    }
    // Of a store with a salt of its own.
    let copy = copied(&other);
    let done: Value = home.json(&["restore", &copy]);
    assert_eq!(stays(&done).len(), 1, "{items:?}: {done}");
    let again = said.write(&home, "again.jsonl");
    assert_eq!(learned(&home, &again), Vec::<String>::new());
    assert_eq!(home.json::<Vec<Value>>(&["show"]), Vec::<Value>::new());
    replays_to_the_same_tables(&home);
}

#[test]
fn a_copy_of_the_time_before_there_was_a_journal_does_not_bring_it_back() {
    let home = Home::with_store("aizo-1.0.0.db");
    forget(&home, &["concise code"]);
    let many = home.json::<Vec<Value>>(&["show"]).len();
    let old = stored("aizo-1.0.0.db").display().to_string();
    let done: Value = home.json(&["restore", &old]);
    assert_eq!(stays(&done), [("concise code", false)]);
    assert_clean(&home, &["concise code", "asked again for a shorter"]);
    assert_eq!(home.json::<Vec<Value>>(&["show"]).len(), many);
    replays_to_the_same_tables(&home);
}

#[test]
fn a_forgetting_that_was_not_pushed_yet_outlives_an_older_copy() {
    let server = Server::new();
    let (a, b) = (server.home(), server.home());
    a.ok(&["add", ITEM, "wqkpfex"]);
    meet(&[&a, &b]);
    let copy = copied(&a);
    a.ok(&["add", "tabs", "later"]);
    a.ok(&["sync"]);
    forget(&a, &[ITEM]);
    a.ok(&["restore", &copy]);
    assert_clean(&a, WORDS);
    meet(&[&a, &b]);
    for home in [&a, &b] {
        assert_clean(home, WORDS);
        assert_eq!(home.json::<Vec<Value>>(&["show"]).len(), 1);
        replays_to_the_same_tables(home);
    }
    let tip: String = server.files().into_values().collect();
    assert!(
        WORDS.iter().all(|word| !tip.to_lowercase().contains(word)),
        "{tip}"
    );
}

#[test]
fn who_puts_an_older_copy_back_knows_no_more_of_others_than_what_is_in_it() {
    let server = Server::new();
    let (a, b) = (server.home(), server.home());
    a.ok(&["add", ITEM, "wqkpfex"]);
    a.ok(&["add", "shellfish", "a rash", "--score", "4"]);
    meet(&[&a, &b]);
    let copy = copied(&a);
    b.ok(&["update", "shellfish", "--score", "0"]);
    forget(&b, &[ITEM]);
    meet(&[&b, &a]);
    let done: Value = a.json(&["restore", &copy, "--yes"]);
    assert_eq!(stays(&done), [(ITEM, false)]);
    a.ok(&["update", "shellfish", "--score", "6"]);
    meet(&[&a, &b]);
    for home in [&a, &b] {
        let limit: Value = home.json(&["show", "shellfish"]);
        assert_eq!(limit["base_score"], json!(0.0), "{limit}");
        assert_clean(home, WORDS);
        replays_to_the_same_tables(home);
    }
}

#[test]
fn a_copy_that_cannot_be_rewritten_is_told_until_the_next_change_has_done_it() {
    let home = Home::new();
    home.ok(&["add", ITEM, "wqkpfex"]);
    home.ok(&["backup"]);
    let copy = only(&home);
    // Where its log would be.
    let in_the_way = PathBuf::from(format!("{}-wal", copy.display()));
    fs::create_dir(&in_the_way).expect("it is made");
    let told = forget(&home, &[ITEM]);
    assert_eq!(told.copies[0].result, "failed");
    let reason = told.copies[0].reason.as_deref().unwrap_or_default();
    assert!(reason.ends_with("the next change tries again"), "{reason}");
    let run = home.run(&["add", "tabs", "first"]);
    assert!(
        run.stderr.contains("may still hold what was forgotten"),
        "{run:?}"
    );
    fs::remove_dir(&in_the_way).expect("it goes");
    let run = home.run(&["add", "spaces", "second"]);
    assert!(run.stderr.contains("1 of aizo's copies"), "{run:?}");
    assert_clean(&home, WORDS);
    let run = home.run(&["add", "more", "third"]);
    assert!(!run.stderr.contains("forgotten"), "{run:?}");
}

#[test]
fn what_is_no_store_is_told_once() {
    let home = Home::new();
    home.ok(&["add", "tabs", "first"]);
    home.write(
        ".aizo/backups/preferences.db.20261101T000000Z.bak",
        b"no store",
    );
    let told = forget(&home, &["tabs"]);
    assert_eq!(told.copies[0].result, "failed");
    let run = home.run(&["add", "spaces", "second"]);
    assert!(!run.stderr.contains("forgotten"), "{run:?}");
}

#[test]
fn a_file_with_a_name_that_aizo_gives_to_none_is_somebodys_own() {
    let home = Home::new();
    home.ok(&["add", ITEM, "wqkpfex"]);
    let mine = home.aizo().join("preferences.db.mine.bak");
    fs::copy(home.db(), &mine).expect("it copies");
    let bytes = fs::read(&mine).expect("it reads");
    let told = forget(&home, &[ITEM]);
    assert_eq!(told.copies, []);
    assert!(
        fs::read(&mine).expect("it reads") == bytes,
        "it was changed"
    );
}

#[test]
fn the_log_of_who_never_had_it_stays_and_where_all_of_it_goes_that_is_told() {
    const LOG: &[u8] = b"2026-11-29T09:00:00Z hook codex: no JSON\n";
    let server = Server::new();
    let (a, c) = (server.home(), server.home());
    a.ok(&["add", ITEM, "wqkpfex"]);
    a.ok(&["sync"]);
    forget(&a, &[ITEM]);
    a.ok(&["sync"]);
    let log = c.write(".aizo/aizo.log", LOG);
    c.ok(&["sync"]);
    c.ok(&["add", "tabs", "first"]);
    assert_eq!(fs::read(&log).expect("it is there"), LOG);
    // As a run that was ended has left it: nobody knows the words any more.
    rusqlite::Connection::open(c.db())
        .and_then(|store| {
            store.execute(
                "INSERT OR REPLACE INTO schema_meta VALUES ('forgetting', 'log')",
                [],
            )
        })
        .expect("it writes");
    let run = c.run(&["add", "spaces", "second"]);
    assert!(run.stderr.contains("aizo's log was removed"), "{run:?}");
    assert!(!log.exists());
}
