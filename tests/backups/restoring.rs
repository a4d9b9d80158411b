//! A copy that is put back: what comes and goes by it, and what keeps it from being put back.

use super::*;

#[test]
fn a_copy_comes_back_and_what_was_there_is_kept() {
    let home = Home::new();
    home.ok(&["add", "stays", "r"]);
    home.ok(&["add", "changes", "r", "--score", "8"]);
    home.ok(&["add", "comes back", "r"]);
    let before = home.rows();
    let file = home.path().join("copy.db");
    let copy = text(&file);
    home.ok(&["backup", copy]);
    home.ok(&["remove", "comes back"]);
    home.ok(&["update", "changes", "--score", "3"]);
    home.ok(&["add", "goes", "r"]);
    let later = home.rows();
    let would = restore(&home, &[copy, "--dry-run"]);
    assert!(would.dry_run && would.copy.is_none());
    assert_eq!(home.rows(), later);
    let done = restore(&home, &[copy]);
    for reply in [&would, &done] {
        assert_eq!(names(&reply.coming), ["comes back"]);
        assert_eq!(names(&reply.going), ["goes"]);
        assert_eq!(names(&reply.changing), ["changes"]);
        assert_eq!(
            (
                reply.changing[0].score_before,
                reply.changing[0].score_after
            ),
            (Some(3.0), Some(8.0))
        );
        assert_eq!((reply.entries, reply.limits_lost.len()), (3, 0));
    }
    assert_eq!(home.rows(), before);
    crate::stores::replays_to_the_same_tables(&home);
    assert!(
        home.ok(&["recall", "--exact", "comes"])
            .contains("comes back")
    );
    // It is taken back by putting back what was there; a name in the folder of copies is enough.
    let kept = done.copy.expect("it was kept");
    let name = kept
        .file_name()
        .and_then(|name| name.to_str())
        .expect("a name");
    restore(&home, &[name]);
    assert_eq!(home.rows(), later);
    crate::stores::replays_to_the_same_tables(&home);
    // A new home has nothing to keep.
    let new = Home::new();
    let done = restore(&new, &[copy]);
    assert_eq!((done.copy, names(&done.coming).len()), (None, 3));
    assert_eq!(new.rows(), before);
    new.ok(&["add", "goes on", "r"]);
    crate::stores::replays_to_the_same_tables(&new);
}

#[test]
fn a_hard_limit_is_not_lost_unless_somebody_says_yes() {
    let home = Home::new();
    home.ok(&["add", "emojis", "r", "--score", "8"]);
    let file = home.path().join("copy.db");
    let copy = text(&file);
    home.ok(&["backup", copy]);
    home.ok(&["add", "emojis", "never", "--score", "0.5"]);
    home.ok(&["add", "force-push", "never", "--score", "1"]);
    home.outside(
        "INSERT INTO preferences (item, reason, base_score, added_at, last_seen)
         VALUES ('written outside', 'never', 0.5, '2026-11-30T00:00:00Z', '2026-11-30T00:00:00Z')",
    );
    let before = home.rows();
    let run = home.run(&["restore", copy, "--json"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run:?}");
    assert!(run.stderr.contains("\"conflict\""), "{run:?}");
    for item in ["emojis", "force-push", "written outside"] {
        assert!(run.stderr.contains(item), "{run:?}");
    }
    assert!(run.stderr.contains("--yes"), "{run:?}");
    assert_eq!(home.rows(), before);
    let would = restore(&home, &[copy, "--dry-run"]);
    assert_eq!(names(&would.limits_lost).len(), 3);
    let said = home.ok(&["restore", copy, "--dry-run"]);
    assert!(
        said.contains("hard limit lost: emojis (0.5 → 8.0)"),
        "{said}"
    );
    let done = restore(&home, &[copy, "--yes"]);
    assert_eq!(done.limits_lost, would.limits_lost);
    assert_eq!(items(&home).len(), 1);
    // A copy that has them as well loses none.
    let kept = done.copy.expect("it was kept");
    assert_eq!(restore(&home, &[text(&kept)]).limits_lost, []);
}

#[test]
fn a_hard_limit_that_would_forbid_less_is_named_too() {
    let home = Home::new();
    home.ok(&[
        "add",
        "emojis",
        "never",
        "--score",
        "0.5",
        "--pattern",
        "@emoji",
    ]);
    let narrow = home.path().join("narrow.db");
    home.ok(&["backup", text(&narrow)]);
    // Under another uid it is the same limit.
    home.ok(&["clear", "--yes"]);
    home.ok(&[
        "add",
        "emojis",
        "never",
        "--score",
        "0.5",
        "--pattern",
        "@emoji",
    ]);
    assert_eq!(restore(&home, &[text(&narrow)]).limits_weakened, []);
    home.ok(&[
        "update",
        "emojis",
        "--pattern",
        "@emoji",
        "--pattern",
        ":smile:",
    ]);
    let run = home.run(&["restore", text(&narrow)]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(
        run.stderr
            .contains("1 hard limit would forbid less, or something else: “emojis”"),
        "{run:?}"
    );
    let done = restore(&home, &[text(&narrow), "--yes"]);
    assert_eq!(
        (names(&done.limits_weakened), done.limits_lost.len()),
        (vec!["emojis"], 0)
    );
}

#[rstest]
#[case("aizo-1.0.0.db", 7, 12)]
#[case("aizo-0.3.0.db", 5, 5)]
#[case("aizo-early.db", 1, 2)]
fn a_copy_of_an_earlier_version_is_brought_up_to_date(
    #[case] name: &str,
    #[case] schema: i64,
    #[case] entries: usize,
) {
    let home = Home::new();
    home.ok(&["add", "now", "r"]);
    let path = stored(name);
    let before = fs::read(&path).expect("it reads");
    let done = restore(&home, &[text(&path)]);
    assert_eq!(done.entries, entries);
    assert!(
        done.brought_from.is_some_and(|from| from <= schema),
        "{done:?}"
    );
    assert_eq!(items(&home).len(), entries);
    crate::stores::replays_to_the_same_tables(&home);
    assert_eq!(fs::read(&path).expect("it reads"), before);
    let beside = path.with_file_name(format!("{name}-wal"));
    assert!(!beside.exists(), "nothing is left beside it");
}

#[test]
fn what_is_no_sound_store_is_refused_and_nothing_is_changed() {
    let home = Home::new();
    for number in 0..50 {
        home.ok(&["add", &format!("entry {number}"), "because"]);
    }
    let write = |name: &str, bytes: &[u8]| text(&home.write(name, bytes)).to_owned();
    let good = home.path().join("good.db");
    home.ok(&["backup", text(&good)]);
    let mut damaged = fs::read(&good).expect("it reads");
    let middle = (damaged.len() / 2) & !4095;
    damaged[middle..middle + 8192].fill(0xAA);
    let newer = home.path().join("newer.db");
    fs::copy(stored("aizo-1.0.0.db"), &newer).expect("it copies");
    rusqlite::Connection::open(&newer)
        .and_then(|store| {
            store.execute_batch("UPDATE schema_meta SET value = '99' WHERE key = 'version'")
        })
        .expect("it writes");
    let whole = fs::read(&good).expect("it reads");
    let export = home.path().join("profile.jsonl");
    home.ok(&["export", text(&export)]);
    let before = home.rows();
    let cases = [
        (write("notes.txt", b"buy milk and bread"), "not_a_store"),
        (text(&export).to_owned(), "not_a_store"),
        (text(&stored("not-aizo.db")).to_owned(), "not_a_store"),
        (text(home.path()).to_owned(), "io"),
        (write("damaged.db", &damaged), "damaged"),
        (write("cut.db", &whole[..whole.len() / 2]), "damaged"),
        (text(&newer).to_owned(), "newer"),
        (text(&home.path().join("none.db")).to_owned(), "not_found"),
        (text(&home.db()).to_owned(), "usage"),
    ];
    for (file, kind) in cases {
        let run = home.run(&["restore", &file, "--yes", "--json"]);
        assert_ne!(run.code, 0, "{run:?}");
        assert_eq!(run.stdout, "", "{run:?}");
        assert!(
            run.stderr.contains(&format!("\"kind\":\"{kind}\"")),
            "{file}: {run:?}"
        );
        assert!(run.stderr.contains(&file), "{run:?}");
    }
    let hint = home.run(&["restore", text(&export)]);
    assert!(hint.stderr.contains("aizo import"), "{hint:?}");
    assert_eq!(home.rows(), before);
    assert_eq!(copies(&home), []);
}

type Harm = fn(&mut Vec<u8>);

#[rstest]
#[case::a_page_of_zeros(|bytes: &mut Vec<u8>| bytes[4096..8192].fill(0))]
#[case::garbage(|bytes: &mut Vec<u8>| bytes[4096..20_480].fill(0xAA))]
#[case::no_header(|bytes: &mut Vec<u8>| bytes[..4096].fill(0))]
#[case::cut(|bytes: &mut Vec<u8>| bytes.truncate(6000))]
#[case::cut_short(|bytes: &mut Vec<u8>| bytes.truncate(60))]
fn a_damaged_store_is_replaced_and_kept(#[case] harm: Harm) {
    let home = Home::new();
    home.ok(&["add", "force-push", "never", "--score", "0.5"]);
    for number in 0..30 {
        home.ok(&["add", &format!("entry {number}"), "because"]);
    }
    let copy = backup(&home, &[]).file;
    let before = home.rows();
    for ending in ["-wal", "-shm"] {
        let _none_is_fine = fs::remove_file(home.aizo().join(format!("preferences.db{ending}")));
    }
    let mut bytes = fs::read(home.db()).expect("it reads");
    harm(&mut bytes);
    fs::write(home.db(), &bytes).expect("it writes");
    assert_eq!(home.run(&["show"]).code, 1);
    // Nobody can tell which limits are in it.
    let run = home.run(&["restore", text(&copy), "--json"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("cannot be said"), "{run:?}");
    assert_eq!(fs::read(home.db()).expect("it reads"), bytes);
    let done = restore(&home, &[text(&copy), "--yes"]);
    assert!(done.unreadable.is_some(), "{done:?}");
    assert_eq!(home.rows(), before);
    is_sound(&home.db());
    let kept = fs::read(done.copy.expect("it was kept")).expect("it reads");
    // But for the mark of the log in the header, it is what it was.
    assert_eq!(kept.get(4096..), bytes.get(4096..));
    home.ok(&["add", "goes on", "r"]);
    crate::stores::replays_to_the_same_tables(&home);
}

#[test]
fn what_a_copy_would_do_by_itself_does_not_come_along() {
    let home = Home::new();
    home.ok(&["add", "force-push", "never", "--score", "0.5"]);
    let file = home.path().join("copy.db");
    home.ok(&["backup", text(&file)]);
    rusqlite::Connection::open(&file)
        .and_then(|store| {
            store.execute_batch(
                "CREATE TRIGGER lift AFTER INSERT ON preferences BEGIN
                     UPDATE preferences SET base_score = 9 WHERE item = 'force-push';
                 END;
                 DROP TRIGGER note_entry_update;
                 CREATE TRIGGER note_entry_update AFTER UPDATE ON preferences BEGIN SELECT 1; END;
                 CREATE VIEW seen AS SELECT * FROM preferences",
            )
        })
        .expect("it writes");
    restore(&home, &[text(&file)]);
    let schema = |store: &Path| -> Vec<String> {
        rusqlite::Connection::open(store)
            .expect("it opens")
            .prepare(
                "SELECT sql FROM sqlite_schema WHERE type IN ('trigger', 'view') ORDER BY name",
            )
            .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect())
            .expect("it reads")
    };
    let new = Home::new();
    new.ok(&["add", "x", "y"]);
    assert_eq!(schema(&home.db()), schema(&new.db()));
    home.ok(&["add", "tabs", "r"]);
    let limits: Vec<Value> = home.json(&["recall", "--type", "taboo"]);
    assert_eq!(limits[0]["base_score"], 0.5);
}

#[test]
fn what_is_no_store_of_aizo_is_not_replaced() {
    let home = Home::new();
    home.ok(&["add", "x", "y"]);
    let copy = backup(&home, &[]).file;
    let other = home.path().join("other.db");
    fs::copy(stored("not-aizo.db"), &other).expect("it copies");
    let before = fs::read(&other).expect("it reads");
    let run = home.run(&["--db", text(&other), "restore", text(&copy), "--yes"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("another program"), "{run:?}");
    assert_eq!(fs::read(&other).expect("it reads"), before);
}

#[test]
fn readers_and_writers_go_on_while_a_copy_is_put_back() {
    const MANY: usize = 60;
    let (home, b) = a_and_b(MANY);
    let a = home.path().join("a.db");
    home.ok(&["backup", text(&a)]);
    let done = AtomicBool::new(false);
    let written = std::thread::scope(|scope| {
        let (home, done) = (&home, &done);
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(move || {
                    let mut seen = BTreeSet::new();
                    while !done.load(Ordering::Relaxed) {
                        seen.insert(which(&items(home), MANY));
                        let found = home.run(&["recall", "entry", "--json"]);
                        assert_eq!(found.code, 0, "{found:?}");
                    }
                    seen
                })
            })
            .collect();
        let writer = scope.spawn(move || {
            let mut many = 0;
            while !done.load(Ordering::Relaxed) {
                let run = home.run(&["add", &format!("written {many}"), "meanwhile"]);
                assert_eq!(run.code, 0, "{run:?}");
                many += 1;
            }
            many
        });
        for round in 0..10 {
            let copy = if round % 2 == 0 { &b } else { &a };
            restore(home, &[text(copy)]);
        }
        done.store(true, Ordering::Relaxed);
        let seen: Vec<_> = readers
            .into_iter()
            .map(|reader| reader.join().expect("no reader panics"))
            .collect();
        assert!(seen.iter().any(|seen| !seen.is_empty()));
        writer.join().expect("the writer does not panic")
    });
    assert!(written > 0);
    assert_eq!(which(&items(&home), MANY), 'a');
    is_sound(&home.db());
    crate::stores::replays_to_the_same_tables(&home);
    home.ok(&["add", "after it", "r"]);
    assert!(items(&home).contains("after it"));
}

#[test]
fn a_restore_that_is_killed_leaves_the_one_or_the_other() {
    const MANY: usize = 400;
    let (home, b) = a_and_b(MANY);
    let a = home.path().join("a.db");
    home.ok(&["backup", text(&a)]);
    let mut ended = BTreeSet::new();
    for round in 0..40u64 {
        let copy = if round % 2 == 0 { &b } else { &a };
        let mut child = home
            .command(&["restore", text(copy), "--yes"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        // A different moment each time, from before the copy is read to after all is done.
        std::thread::sleep(Duration::from_millis(5 * round));
        child.kill().expect("it may be gone already, which is fine");
        child.wait().expect("it ends");
        ended.insert(which(&items(&home), MANY));
        is_sound(&home.db());
    }
    assert_eq!(
        ended,
        BTreeSet::from(['a', 'b']),
        "some were killed before, some after"
    );
    restore(&home, &[text(&b)]);
    assert_eq!(which(&items(&home), MANY), 'b');
    crate::stores::replays_to_the_same_tables(&home);
    home.ok(&["backup"]);
    let folder = home.aizo().join("backups");
    let left = fs::read_dir(&folder)
        .expect("it reads")
        .filter(|entry| {
            let name = entry.as_ref().expect("it reads").file_name();
            name.to_string_lossy().starts_with(".aizo-backup-")
        })
        .count();
    assert_eq!(left, 0);
    // However often it was killed, the last ten copies stay.
    let automatic = copies(&home)
        .into_iter()
        .filter(|copy| copy.occasion.is_some());
    assert!(automatic.count() <= 10);
}

#[test]
fn a_store_that_another_process_holds_is_not_replaced_meanwhile() {
    let (home, b) = a_and_b(3);
    let mut writer = rusqlite::Connection::open(home.db()).expect("the store opens");
    let transaction = writer
        .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
        .expect("the lock is free");
    let run = Run::of(
        home.command(&["restore", text(&b), "--json"])
            .env("AIZO_LOCK_TIMEOUT_MS", "50")
            .output(),
    );
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("\"locked\""), "{run:?}");
    drop(transaction);
    assert_eq!(which(&items(&home), 3), 'a');
    restore(&home, &[text(&b)]);
    assert_eq!(which(&items(&home), 3), 'b');
}

#[cfg(unix)]
#[test]
fn a_store_behind_a_link_is_copied_and_replaced_where_it_is() {
    let home = Home::new();
    let away = home.path().join("away");
    fs::create_dir(&away).expect("a folder");
    fs::create_dir(home.aizo()).expect("a folder");
    let real = away.join("store.db");
    std::os::unix::fs::symlink(&real, home.db()).expect("a link");
    home.ok(&["add", "one", "r"]);
    let copy = backup(&home, &[]).file;
    assert_eq!(copy, away.join("backups/store.db.20261130T120000Z.bak"));
    home.ok(&["add", "two", "r"]);
    restore(&home, &[text(&copy)]);
    assert_eq!(items(&home), BTreeSet::from(["one".to_owned()]));
    assert!(home.db().is_symlink());
    assert_eq!(copies(&home).len(), 2);
}
