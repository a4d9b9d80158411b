//! The store as a file: damage, index, journal, clock, copies.

use super::*;

#[test]
fn damage_is_found_and_the_newest_copy_named() {
    let home = profile();
    // A page of an index that a list of everything does not need.
    let page: i64 = {
        let store = rusqlite::Connection::open(home.db()).expect("it opens");
        store
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .expect("it is written back");
        store
            .query_row(
                "SELECT rootpage FROM sqlite_schema WHERE name = 'idx_preference_scenarios_scenario'",
                [],
                |row| row.get(0),
            )
            .expect("there is one")
    };
    let mut bytes = fs::read(home.db()).expect("it reads");
    let at = usize::try_from((page - 1) * 4096).expect("a place");
    bytes[at..at + 4096].fill(0);
    fs::write(home.db(), bytes).expect("it writes");
    let reply = doctor(&home);
    let damage = reply.by("integrity");
    assert!(
        !damage.is_empty() && reply.errors > 0,
        "{:#?}",
        reply.findings
    );
    assert!(damage[0].hint.contains("aizo restore '"), "{damage:?}");
    home.ok(&["restore", "preferences.db.20261130T120000Z.bak", "--yes"]);
    is_gone(&home, "integrity");
    assert_eq!(doctor(&home).errors, 0);
}

#[test]
fn a_store_that_cannot_be_read_is_a_finding_too() {
    let home = profile();
    for ending in ["-wal", "-shm"] {
        let _none_is_fine = fs::remove_file(format!("{}{ending}", home.db().display()));
    }
    fs::write(home.db(), b"this was a store once, and is none any more").expect("it writes");
    let finding = found(&home, "store");
    assert_eq!(finding.level, "error");
    assert!(finding.hint.contains("aizo restore '"), "{finding:?}");
    home.ok(&["restore", "preferences.db.20261130T120000Z.bak", "--yes"]);
    is_gone(&home, "store");
}

#[rstest]
#[case::a_text("UPDATE search SET item = 'something else' WHERE rowid = 2")]
#[case::a_score("UPDATE recall_index SET score = 9 WHERE id = 2")]
#[case::a_row("DELETE FROM recall_index WHERE id = 2")]
#[case::a_vector(
    "UPDATE vectors SET vector = (SELECT vector FROM vectors WHERE id = 1) WHERE id = 2"
)]
#[case::a_limit("INSERT INTO limit_vectors SELECT * FROM vectors WHERE id = 2")]
#[case::a_sketch("UPDATE sketches SET bits = zeroblob(length(bits))")]
#[case::one_too_many("INSERT INTO recall_index VALUES (-7, 5, 0)")]
fn an_index_that_says_something_else_is_made_anew(#[case] sql: &str) {
    let home = profile();
    home.outside(sql);
    is_fixed(
        &home,
        "index",
        "error",
        "the search index holds something else",
    );
    assert_eq!(doctor(&home).errors, 0);
    assert!(
        home.ok(&["recall", "--exact", "meetings"])
            .contains("long meetings")
    );
}

#[test]
fn an_index_of_another_version_is_made_anew() {
    let home = profile();
    home.outside("UPDATE schema_meta SET value = '0-0' WHERE key = 'index_recipe'");
    is_fixed(&home, "index", "note", "not of this version");
}

/// Writes into a store while nobody notes it.
fn unnoticed(home: &Home, sql: &str) {
    let store = rusqlite::Connection::open(home.db()).expect("it opens");
    let triggers: Vec<(String, String)> = store
        .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
        .and_then(|mut statement| {
            statement
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        })
        .expect("they read");
    for (name, _) in &triggers {
        store
            .execute_batch(&format!("DROP TRIGGER {name}"))
            .expect("it goes");
    }
    store.execute_batch(sql).expect("it writes");
    for (_, sql) in &triggers {
        store.execute_batch(sql).expect("it comes back");
    }
}

#[rstest]
#[case::a_score("UPDATE preferences SET base_score = 3 WHERE id = 3")]
#[case::a_limit("UPDATE preferences SET base_score = 0.5 WHERE id = 1")]
#[case::gone("PRAGMA foreign_keys = on; DELETE FROM preferences WHERE id = 2")]
#[case::evidence("DELETE FROM evidence WHERE preference_id = 1")]
#[case::a_tag("INSERT INTO preference_scenarios VALUES (1, 'coding')")]
fn rows_that_are_not_what_the_journal_says_are_taken_into_it(#[case] sql: &str) {
    let home = profile();
    unnoticed(&home, sql);
    let rows = |home: &Home| -> Vec<Value> {
        let mut rows: Vec<Value> = home.json(&["show"]);
        rows.sort_by_key(|row| row["id"].as_i64());
        rows
    };
    let before = rows(&home);
    is_fixed(&home, "journal", "error", "not what the journal says");
    assert_eq!(rows(&home), before, "no entry was changed");
    crate::stores::replays_to_the_same_tables(&home);
}

#[rstest]
#[case::gone("PRAGMA foreign_keys = on; DELETE FROM preferences WHERE item = 'force-push'")]
#[case::raised("UPDATE preferences SET base_score = 9 WHERE item = 'force-push'")]
fn a_hard_limit_that_nobody_has_lifted_is_told_and_never_taken_as_lifted(#[case] sql: &str) {
    let home = profile();
    home.ok(&["add", "force-push", "never", "--score", "0"]);
    unnoticed(&home, sql);
    let before: Vec<Value> = home.json(&["history"]);
    let told = found(&home, "journal");
    assert_eq!(told.level, "error");
    assert!(
        told.what
            .contains("“force-push” is a hard limit in the journal")
    );
    home.run(&["doctor", "--fix"]);
    assert_eq!(found(&home, "journal"), told);
    let after: Vec<Value> = home.json(&["history"]);
    assert_eq!(after, before);
}

#[rstest]
#[case::its_pattern("pattern = NULL")]
#[case::one_of_its_patterns("pattern = '@force-push'")]
#[case::its_keywords("keywords = ''")]
#[case::its_item("item = 'force', item_key = 'force'")]
#[case::its_strength("base_score = 1.4")]
#[case::who_stated_it("origin = 'agent'")]
fn a_hard_limit_that_forbids_less_is_told_and_never_taken_into_the_journal(#[case] set: &str) {
    let home = profile();
    home.ok(&[
        "add",
        "force-push",
        "never",
        "--score",
        "0",
        "--keywords",
        "git",
        "--pattern",
        "@force-push",
        "--pattern",
        "git push -f",
    ]);
    home.ok(&["backup"]);
    unnoticed(
        &home,
        &format!("UPDATE preferences SET {set} WHERE item = 'force-push'"),
    );
    let before: Vec<Value> = home.json(&["history"]);
    let told = found(&home, "journal");
    assert_eq!((told.level.as_str(), told.fixable), ("error", false));
    assert!(
        told.what
            .contains("“force-push” is a hard limit that forbids less"),
        "{}",
        told.what
    );
    assert!(told.hint.starts_with("aizo restore "), "{}", told.hint);
    home.run(&["doctor", "--fix"]);
    assert_eq!(found(&home, "journal"), told);
    let after: Vec<Value> = home.json(&["history"]);
    assert_eq!(after, before);
}

#[test]
fn a_hard_limit_that_forbids_more_is_taken_into_the_journal() {
    let home = profile();
    home.ok(&["add", "force-push", "never", "--score", "1"]);
    unnoticed(
        &home,
        "UPDATE preferences SET pattern = 'git push -f', base_score = 0 WHERE item = 'force-push'",
    );
    is_fixed(&home, "journal", "error", "not what the journal says");
    crate::stores::replays_to_the_same_tables(&home);
}

#[test]
fn a_copy_without_a_byte_is_not_named() {
    let home = profile();
    home.ok(&["add", "force-push", "never", "--score", "0"]);
    home.ok(&["backup"]);
    let folder = home.db().with_file_name("backups");
    let copies = || std::fs::read_dir(&folder).expect("it reads");
    for copy in copies() {
        let path = copy.expect("it reads").path();
        std::fs::write(path, "").expect("it is emptied");
    }
    assert!(copies().count() > 0);
    unnoticed(
        &home,
        "UPDATE preferences SET base_score = 9 WHERE item = 'force-push'",
    );
    let told = found(&home, "journal");
    assert!(
        told.hint.starts_with("there is no sound copy"),
        "{}",
        told.hint
    );
}

#[test]
fn what_another_program_wrote_is_taken_in() {
    let home = profile();
    home.outside("UPDATE preferences SET base_score = 'high', reason = 'another' WHERE id = 1");
    let scores = found(&home, "scores");
    assert_eq!(scores.level, "warning");
    is_gone(&home, "journal");
    is_fixed(&home, "outside", "note", "1 row");
    is_gone(&home, "scores");
    let entry: Value = home.json(&["show", "1"]);
    assert_eq!(
        (&entry["base_score"], &entry["reason"]),
        (&9.0.into(), &"another".into())
    );
    let history: Vec<Value> = home.json(&["history", "1"]);
    assert_eq!(history[0]["op"], "adopt");
}

#[test]
fn a_clock_that_is_behind_is_said() {
    let home = profile().at("2028-01-01T00:00:00Z");
    home.ok(&["add", "from the future", "r"]);
    let home = home.at("2026-12-01T00:00:00Z");
    let finding = found(&home, "clock");
    assert!(finding.what.contains("396 days"), "{finding:?}");
    let times = found(&home, "times");
    assert_eq!(times.hint, "aizo touch 4");
    home.ok(&["touch", "4"]);
    is_gone(&home, "times");
    let home = home.at("2028-01-01T00:00:01Z");
    is_gone(&home, "clock");
}

#[test]
fn a_time_that_cannot_be_read_is_said() {
    let home = profile();
    home.outside("UPDATE preferences SET last_seen = 'yesterday' WHERE id = 2");
    let finding = found(&home, "times");
    assert!(finding.what.contains("cannot be read: id 2"), "{finding:?}");
    home.ok(&["touch", "2"]);
    is_gone(&home, "times");
}

#[test]
fn an_old_copy_and_none_are_said() {
    let home = Home::new();
    home.ok(&["add", "concise code", "asked twice"]);
    assert!(found(&home, "copies").what.starts_with("there is no copy"));
    home.ok(&["backup"]);
    is_gone(&home, "copies");
    let home = home.at("2027-03-01T12:00:00Z");
    assert!(found(&home, "copies").what.contains("91 days old"));
    home.ok(&["backup"]);
    is_gone(&home, "copies");
}

/// Takes the file away, or all that is in it.
fn lose(home: &Home, is_emptied: bool) {
    for ending in ["-wal", "-shm"] {
        let _none_is_fine = fs::remove_file(format!("{}{ending}", home.db().display()));
    }
    match is_emptied {
        true => fs::write(home.db(), "").expect("it writes"),
        false => fs::remove_file(home.db()).expect("it was there"),
    }
}

/// Every way to read or write says on standard error that there was a store, and goes on as it would.
fn is_told_by_all(home: &Home, sign: &str) {
    for (arguments, code) in [
        (&["info"][..], 0),
        (&["show"], 0),
        (&["show", "concise code"], 1),
        (&["recall", "code"], 0),
        (&["context"], 0),
        (&["check", "git push"], 0),
        (&["history"], 0),
        (&["review"], 0),
        (&["add", "tabs", "r"], 0),
    ] {
        let run = home.run(arguments);
        assert_eq!(run.code, code, "{arguments:?}: {run:?}");
        let told = run
            .stderr
            .lines()
            .filter(|line| line.contains("aizo doctor says"));
        let told: Vec<&str> = told.collect();
        assert_eq!(told.len(), 1, "{arguments:?}: {run:?}");
        assert!(told[0].contains(sign), "{arguments:?}: {run:?}");
    }
    // There is a store again.
    let run = home.run(&["show"]);
    assert!(!run.stderr.contains("aizo doctor"), "{run:?}");
    is_gone(home, "store");
}

#[rstest]
#[case::emptied(true)]
#[case::removed(false)]
fn a_store_that_is_lost_beside_its_copies_is_no_fresh_start(#[case] is_emptied: bool) {
    let home = profile();
    lose(&home, is_emptied);
    let finding = found(&home, "store");
    assert_eq!(finding.level, "error");
    assert!(finding.what.contains("1 copy of it is kept"), "{finding:?}");
    let command = finding
        .hint
        .strip_prefix("aizo restore ")
        .expect("a command");
    let run = home.run(&["restore", command.trim_matches('\'')]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
    assert!(home.ok(&["show"]).contains("long meetings"));
    is_gone(&home, "store");
    lose(&home, is_emptied);
    is_told_by_all(&home, "1 copy of it is kept");
}

#[test]
fn a_store_that_is_lost_beside_its_sync_is_no_fresh_start() {
    let home = Home::new();
    home.ok(&["add", "concise code", "asked twice"]);
    let remote = home.path().join("remote.git");
    let made = std::process::Command::new("git")
        .args(["init", "-q", "--bare"])
        .arg(&remote)
        .status();
    assert!(made.is_ok_and(|status| status.success()));
    home.ok(&["sync", "init", remote.to_str().expect("a plain path")]);
    home.ok(&["sync"]);
    lose(&home, false);
    let finding = found(&home, "store");
    assert_eq!(
        (finding.level.as_str(), finding.hint.as_str()),
        ("error", "aizo sync")
    );
    let run = home.run(&["sync"]);
    assert!(!run.stderr.contains("aizo doctor"), "{run:?}");
    assert!(home.ok(&["show"]).contains("concise code"));
    lose(&home, true);
    is_told_by_all(&home, "a sync is set up for it");
}

#[test]
fn hooks_alone_make_no_lost_store_but_of_an_empty_file() {
    let home = Home::new();
    fs::create_dir(home.aizo()).expect("an empty home");
    home.ok(&["install", "claude-code"]);
    assert_eq!(found(&home, "store").level, "note");
    assert_eq!(home.run(&["add", "tabs", "said so"]).stderr, "");
    is_gone(&home, "store");
    lose(&home, true);
    assert_eq!(found(&home, "store").level, "error");
    is_told_by_all(&home, "agents call aizo");
}

#[test]
fn a_store_that_was_cleared_is_not_lost() {
    let home = profile();
    home.ok(&["clear", "--yes"]);
    is_gone(&home, "store");
    let run = home.run(&["show"]);
    assert_eq!(run.stderr, "nothing is stored\n");
}

/// Damages what lies in the middle of a file.
fn damage_the_middle(file: &Path) {
    let mut bytes = fs::read(file).expect("it reads");
    let end = bytes.len();
    bytes[3 * 4096..end].fill(0xA5);
    fs::write(file, bytes).expect("it writes");
}

#[test]
fn the_copy_that_is_named_is_sound_and_one_that_was_asked_for_goes_first() {
    let home = profile();
    let copies = home.aizo().join("backups");
    let asked_for = copies.join("preferences.db.20261130T120000Z.bak");
    let named = |name: &str| copies.join(format!("preferences.db.{name}.bak"));
    fs::copy(&asked_for, named("20261130T130000Z.before-clear")).expect("it copies");
    fs::copy(&asked_for, named("20261130T140000Z")).expect("it copies");
    fs::write(named("20261130T150000Z"), "no store").expect("it writes");
    damage_the_middle(&named("20261130T140000Z"));
    lose(&home, true);
    let hint = |home: &Home| found(home, "store").hint;
    assert!(
        hint(&home).contains("20261130T120000Z.bak"),
        "{}",
        hint(&home)
    );
    damage_the_middle(&asked_for);
    assert!(
        hint(&home).contains("130000Z.before-clear.bak"),
        "{}",
        hint(&home)
    );
    damage_the_middle(&named("20261130T130000Z.before-clear"));
    assert!(!hint(&home).contains("preferences.db"), "{}", hint(&home));
}

#[test]
fn damage_in_the_middle_is_told_once_and_names_the_store() {
    let home = Home::new();
    let many: String = (0..2000)
        .map(|number| format!("{{\"item\":\"entry {number}\",\"reason\":\"because {number}\"}}\n"))
        .collect();
    assert_eq!(
        home.run_with_input(&["add", "--stdin"], many.as_bytes())
            .code,
        0
    );
    home.ok(&["backup"]);
    let root: usize = {
        let store = rusqlite::Connection::open(home.db()).expect("it opens");
        store
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .expect("it is written back");
        store
            .query_row(
                "SELECT max(pageno) FROM dbstat WHERE name = 'preferences' AND pagetype = 'leaf'",
                [],
                |row| row.get::<_, i64>(0),
            )
            .ok()
            .and_then(|page| usize::try_from(page).ok())
            .unwrap_or_default()
    };
    let mut bytes = fs::read(home.db()).expect("it reads");
    let pages = bytes.len() / 4096;
    let damaged = if root > 0 {
        root..root + 1
    } else {
        pages / 4..pages
    };
    for page in damaged {
        bytes[(page - 1) * 4096..page * 4096].fill(0xA5);
    }
    fs::write(home.db(), bytes).expect("it writes");
    for arguments in [&["show"][..], &["show", "--json"]] {
        let run = home.run(arguments);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.stderr.contains("preferences.db is damaged"), "{run:?}");
        assert!(run.stderr.contains("aizo doctor names the copy"), "{run:?}");
        assert!(!run.stderr.contains("standard output"), "{run:?}");
    }
    let reply = doctor(&home);
    let blind = reply
        .findings
        .iter()
        .filter(|one| one.what.starts_with("could not look at"));
    let mut told: Vec<&str> = blind
        .filter_map(|one| Some(one.what.split_once(": ")?.1))
        .collect();
    assert!(!told.is_empty(), "{:#?}", reply.findings);
    let all = told.len();
    told.sort_unstable();
    told.dedup();
    assert_eq!(told.len(), all, "{:#?}", reply.findings);
}
