//! A profile of aizo's own, as lines, as a document and as a store: it comes back as it was.

use super::*;

#[rstest]
#[case::lines(&["--format", "jsonl"], "p.jsonl")]
#[case::document(&["--format", "json"], "p.json")]
fn what_was_exported_comes_back_byte_for_byte(#[case] form: &[&str], #[case] name: &str) {
    let from = profile();
    let exported = export(&from, form);
    assert_eq!(exported, export(&from, form), "an export is the same twice");
    let to = Home::new();
    let path = file(&to, name, &exported);
    let reply = import(&to, &[&path]);
    assert!(reply.own);
    assert_eq!(reply.results(), results(&[("added", 4), ("pending", 1)]));
    assert_eq!(reply.hard_limits, ["force-push to main", "对海鲜过敏"]);
    assert_eq!(reply.settings.as_deref(), Some("changed"));
    assert_eq!(export(&to, form), exported);
    // Limits are in force, with all that stands behind them, and none of them waits.
    assert_eq!(items(&to), items(&from));
    assert_eq!(waits(&to), waits(&from));
    assert_eq!(
        to.run(&["check", "--command", "git push --force origin main"])
            .code,
        3
    );
    let why: Value = to.json(&["why", "concise code"]);
    let before: Value = from.json(&["why", "concise code"]);
    assert_eq!(why["evidence"], before["evidence"]);
}

#[test]
fn both_forms_hold_the_same() {
    let home = profile();
    let lines = file(&home, "p.jsonl", export(&home, &[]));
    let document = file(&home, "p.json", export(&home, &["--format", "json"]));
    let first = Home::new();
    import(&first, &[&lines]);
    let reply = import(&first, &[&document]);
    assert!(reply.own && reply.changes_nothing(), "{reply:?}");
}

#[rstest]
#[case::lines("jsonl")]
#[case::document("json")]
fn the_history_comes_along_where_it_is_asked_for(#[case] format: &str) {
    let from = profile();
    from.ok(&["remove", "passive voice"]);
    from.ok(&["undo"]);
    let form = ["--format", format, "--history"];
    let exported = export(&from, &form);
    let to = Home::new();
    let path = file(&to, "p", &exported);
    let reply = import(&to, &[&path]);
    assert_eq!(reply.history.as_deref(), Some("taken_over"));
    assert_eq!(reply.results(), results(&[("added", 4), ("pending", 1)]));
    assert_eq!(reply.hard_limits.len(), 2);
    assert_eq!(export(&to, &form), exported);
    let again = import(&to, &[&path]);
    assert_eq!(again.history.as_deref(), Some("known"));
    assert!(again.changes_nothing());
    // What was done there can be taken back here by its number, and what is done here comes after it.
    let lines: Vec<Value> = to.json(&["history", "concise code"]);
    let newest = lines[0]["change"].to_string();
    to.ok(&["undo", &newest]);
    let entry: Value = to.json(&["show", "concise code"]);
    assert_eq!(entry["base_score"], 9.0);
    to.ok(&["add", "tabs", "because"]);
    let store = aizo::storage::Store::open_for_reading(
        &aizo::storage::Location {
            path: to.db(),
            patience: std::time::Duration::from_secs(1),
        },
        "2026-12-06T00:00:00Z".parse().expect("a time"),
    );
    let store = store.expect("it opens").expect("it is there");
    let replayed = store.replayed("2026-12-06T00:00:00Z".parse().expect("a time"));
    let replayed = replayed.expect("the journal is whole");
    assert_eq!(
        replayed.view().tables().expect("tables"),
        store.view().tables().expect("tables")
    );
}

#[test]
fn a_store_with_a_history_keeps_its_own() {
    let from = profile();
    let path = file(&from, "p.jsonl", export(&from, &["--history"]));
    let to = Home::new();
    to.ok(&["add", "tabs", "because"]);
    let reply = import(&to, &[&path]);
    assert_eq!(reply.history.as_deref(), Some("left_out"));
    assert_eq!(
        reply.history_why.as_deref(),
        Some("this store has one of its own")
    );
    assert_eq!(reply.counts.added, 4);
    assert_eq!(reply.settings.as_deref(), Some("changed"));
}

#[test]
fn the_same_file_again_changes_nothing() {
    let from = profile();
    let path = file(&from, "p.jsonl", export(&from, &[]));
    let to = Home::new();
    import(&to, &[&path]);
    let (rows, bytes) = (
        to.rows(),
        std::fs::read(to.db()).expect("the store is there"),
    );
    for policy in ["merge", "skip", "replace"] {
        let again = import(&to, &[&path, "--on-conflict", policy]);
        assert!(again.changes_nothing(), "{policy}: {again:?}");
        assert_eq!(again.counts.unchanged, 5);
    }
    assert_eq!(to.rows(), rows);
    assert_eq!(std::fs::read(to.db()).expect("the store is there"), bytes);
    // Into the store that it came from as well.
    assert!(import(&from, &[&path]).changes_nothing());
    // Decided is decided.
    to.ok(&["review", "reject", "--all"]);
    assert!(import(&to, &[&path]).changes_nothing());
    assert_eq!(waits(&to), []);
}

#[test]
fn a_rehearsal_says_the_same_and_changes_nothing() {
    let from = profile();
    let path = file(&from, "p.jsonl", export(&from, &[]));
    let to = Home::new();
    let rehearsed = import(&to, &[&path, "--dry-run"]);
    assert!(!to.aizo().exists());
    assert!(rehearsed.dry_run && rehearsed.change.is_none() && rehearsed.copy.is_none());
    assert_eq!(rehearsed.hard_limits.len(), 2);
    to.ok(&["add", "concise code", "mine", "--score", "8"]);
    let before = to.rows();
    let rehearsed = import(&to, &[&path, "--dry-run"]);
    assert_eq!(to.rows(), before);
    let done = import(&to, &[&path]);
    assert_eq!(rehearsed.rows, done.rows);
    assert_eq!(rehearsed.counts, done.counts);
}

#[test]
fn the_store_is_copied_before_and_the_last_ten_copies_stay() {
    let home = Home::new();
    home.ok(&["add", "spaces", "because"]);
    let text = |count: usize| {
        format!("{{\"item\": \"item {count}\", \"reason\": \"a\", \"base_score\": 8}}\n")
    };
    let mut first = None;
    let mut home = home;
    for count in 0..12 {
        home = home.at(&format!("2026-12-01T00:00:{count:02}Z"));
        let path = file(&home, "p.jsonl", text(count));
        let reply = import(&home, &[&path]);
        first.get_or_insert(reply.copy.expect("a copy was kept"));
    }
    let copies: Vec<PathBuf> = std::fs::read_dir(home.aizo().join("backups"))
        .expect("the folder is there")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().contains(".before-import."))
        .collect();
    assert_eq!(copies.len(), 10);
    assert!(!Path::new(&first.expect("there was one")).exists());
    let newest = copies
        .iter()
        .max()
        .expect("there are ten")
        .to_str()
        .expect("a plain path")
        .to_owned();
    let kept: Vec<Value> = home.json(&["--db", &newest, "show"]);
    assert_eq!(kept.len(), 12);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&newest)
            .expect("it is there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[rstest]
#[case("aizo-1.0.0.db", 12)]
#[case("aizo-0.3.0.db", 5)]
#[case("aizo-early.db", 2)]
#[case("aizo-2.0.0-without-patterns.db", 0)]
fn an_older_store_is_taken_over_and_left_as_it_is(#[case] name: &str, #[case] least: usize) {
    let home = Home::new();
    let path = file(
        &home,
        name,
        std::fs::read(stored(name)).expect("the store is there"),
    );
    let before: Vec<PathBuf> = names(home.path());
    let reply = import(&home, &[&path]);
    assert_eq!(reply.format, "store");
    assert!(reply.counts.added >= least.max(1), "{reply:?}");
    assert_eq!(reply.counts.unreadable, 0);
    assert_eq!(
        std::fs::read(&path).expect("it is there"),
        std::fs::read(stored(name)).expect("it is there")
    );
    let mut after = names(home.path());
    after.retain(|name| !name.ends_with(".aizo"));
    assert_eq!(after, before);
    assert!(import(&home, &[&path]).changes_nothing());
    // It is what opening it would show.
    let opened = Home::with_store(name);
    assert_eq!(items(&home), items(&opened));
    // And it goes round: odd times and texts of another program among them.
    let exported = export(&home, &[]);
    let third = Home::new();
    let path = file(&third, "p.jsonl", &exported);
    assert_eq!(import(&third, &[&path]).counts.unreadable, 0);
    assert_eq!(export(&third, &[]), exported);
}

fn names(folder: &Path) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("a folder")
        .flatten()
        .map(|entry| entry.path())
        .collect();
    names.sort();
    names
}

#[test]
fn a_store_in_use_is_read_with_its_log() {
    let from = profile();
    let to = Home::new();
    let path = from.db();
    let reply = import(&to, &[path.to_str().expect("a plain path")]);
    assert_eq!(reply.results(), results(&[("added", 4), ("pending", 1)]));
    assert_eq!(export(&to, &[]), export(&from, &[]));
    let foreign = to.run(&[
        "import",
        stored("not-aizo.db").to_str().expect("a plain path"),
    ]);
    assert_eq!(foreign.code, 1);
    assert!(
        foreign.stderr.contains("database of another program"),
        "{foreign:?}"
    );
}

#[test]
fn what_another_program_wrote_goes_round_too() {
    let from = profile();
    let long = "x".repeat(20_000);
    from.outside(&format!(
        "INSERT INTO preferences (item, reason, keywords, base_score, source, added_at, last_seen)
         VALUES ('a\u{200b}b\u{202e}c', '{long}', 'k,, l ,\u{feff}m', 0.5, '', '', 'yester\u{7}day'),
                (' two' || char(10) || 'lines ', '', '', 7, 'desk', '2026-12-01', '');
         INSERT INTO preference_scenarios SELECT id, 'b,a' FROM preferences WHERE source = 'desk';
         UPDATE preferences SET pattern = ' one ' || char(10) || char(10) || 'two' WHERE source = 'desk';"
    ));
    for form in [["--format", "jsonl"], ["--format", "json"]] {
        let exported = export(&from, &form);
        let to = Home::new();
        let path = file(&to, "p", &exported);
        let reply = import(&to, &[&path]);
        assert!(reply.own && reply.counts.unreadable == 0, "{reply:#?}");
        assert_eq!(export(&to, &form), exported);
        assert!(items(&to).iter().any(|(item, ..)| item == "abc"));
        assert!(import(&to, &[&path]).changes_nothing());
    }
}

#[test]
fn an_import_that_is_killed_leaves_all_or_nothing() {
    let from = Home::new();
    let lines: String = (0..3_000)
        .map(|number| {
            format!("{{\"item\": \"item {number}\", \"reason\": \"because\", \"score\": 0.5}}\n")
        })
        .collect();
    let run = from.run_with_input(&["add", "--stdin"], lines.as_bytes());
    assert_eq!(run.code, 0);
    let exported = export(&from, &["--history"]);
    for wait in [0, 40, 120, 250, 500, 900, 1_500] {
        let to = Home::new();
        to.ok(&["add", "spaces", "because"]);
        let before = export(&to, &[]);
        let path = file(&to, "p.jsonl", &exported);
        let mut child = to
            .command(&["import", &path])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        std::thread::sleep(Duration::from_millis(wait));
        let _ended = child.kill();
        child.wait().expect("it ends");
        let after = export(&to, &[]);
        let many = items(&to).len();
        assert!(after == before || many == 3_001, "{wait} ms: {many}");
        let reply = import(&to, &[&path]);
        assert_eq!(reply.counts.added + reply.counts.unchanged, 3_000);
        let left: Vec<PathBuf> = names(&to.aizo())
            .into_iter()
            .filter(|name| name.to_string_lossy().contains(".aizo-backup-"))
            .collect();
        assert!(left.is_empty() || reply.copy.is_none(), "{left:?}");
    }
}

#[test]
fn a_profile_may_come_on_standard_input() {
    let exported = export(&profile(), &[]);
    let to = Home::new();
    let run = to.run_with_input(&["import", "-"], exported.as_bytes());
    assert_eq!(run.code, 0, "{run:?}");
    insta::assert_snapshot!(run.stdout, @"
    4 added, 1 pending; standard input is an export of aizo
    in force now: force-push to main; 对海鲜过敏
    1 waits for you: aizo review
    to take it all back: aizo undo 1
    ");
    let piped = Home::new().run_with_input(&["import", "--json"], exported.as_bytes());
    let reply: Imported = serde_json::from_str(&piped.stdout).expect("one value");
    assert_eq!(reply.file, "standard input");
    let run = to.run_with_input(&["import"], b"");
    assert_eq!(run.code, 1);
}
