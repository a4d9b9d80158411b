//! Several processes on one store: racing first opens, racing writes, kills, held locks, and reads that leave no trace.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use crate::common::{Home, Run};
use crate::stores::replays_to_the_same_tables;

/// Every command that only reads.
const READS: &[&[&str]] = &[
    &["recall"],
    &["recall", "code", "--json"],
    &["top", "5"],
    &["show"],
    &["show", "1"],
    &["info"],
    &["keywords"],
    &["scenarios"],
    &["history"],
    &["why", "1"],
    &["review"],
    &["config", "show"],
];

fn is_sound(home: &Home) {
    let connection = rusqlite::Connection::open(home.db()).expect("the store opens");
    let verdict: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("the check runs");
    assert_eq!(verdict, "ok");
}

fn stored_items(home: &Home) -> HashSet<String> {
    let entries: Vec<Value> = home.json(&["show"]);
    entries
        .iter()
        .filter_map(|entry| entry["item"].as_str().map(str::to_owned))
        .collect()
}

#[test]
fn sixteen_processes_on_one_new_file_lose_nothing() {
    let home = Home::new();
    std::thread::scope(|scope| {
        for process in 0..16 {
            let home = &home;
            scope.spawn(move || {
                for number in 0..100 {
                    let run = home.run(&["add", &format!("item {process} {number}"), "raced"]);
                    assert_eq!(run.code, 0, "{run:?}");
                }
            });
        }
    });
    assert_eq!(stored_items(&home).len(), 1600);
    is_sound(&home);
    replays_to_the_same_tables(&home);
}

#[test]
fn sixteen_processes_that_add_the_same_item_make_one_entry() {
    let home = Home::new();
    std::thread::scope(|scope| {
        for process in 0..16 {
            let home = &home;
            scope.spawn(move || {
                let run = home.run(&["add", "one item", &format!("reason {process}")]);
                assert_eq!(run.code, 0, "{run:?}");
            });
        }
    });
    let entry: Value = home.json(&["show", "one item"]);
    assert_eq!(entry["evidence"].as_array().map(Vec::len), Some(16));
    is_sound(&home);
    replays_to_the_same_tables(&home);
}

/// Adds from several threads while one of the running processes is killed now and then, and then checks
/// that whatever was acknowledged is there.
fn kill_while_adding(time: Duration, between_kills: Duration) {
    let home = Home::new();
    let end = Instant::now() + time;
    let acknowledged: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4u32)
            .map(|thread| {
                let home = &home;
                scope.spawn(move || {
                    let mut done = Vec::new();
                    let mut number = 0u32;
                    let mut next_kill = Instant::now() + between_kills;
                    while Instant::now() < end {
                        number += 1;
                        let item = format!("item {thread} {number}");
                        let mut child = home
                            .command(&["add", &item, "killed or not", "--json"])
                            .stdout(Stdio::piped())
                            .stderr(Stdio::null())
                            .spawn()
                            .expect("the binary starts");
                        if Instant::now() >= next_kill {
                            // A different moment each time, from before the open to after the commit.
                            std::thread::sleep(Duration::from_micros(u64::from(
                                number * 397 % 9000,
                            )));
                            child.kill().expect("it may be gone already, which is fine");
                            next_kill = Instant::now() + between_kills;
                        }
                        let output = child.wait_with_output().expect("it ends");
                        // Once the answer is out, the entry must be there for ever.
                        if String::from_utf8_lossy(&output.stdout).contains("\"added\"") {
                            done.push(item);
                        }
                    }
                    done
                })
            })
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().expect("no thread panics"))
            .collect()
    });
    let stored = stored_items(&home);
    assert!(
        acknowledged.len() > 20,
        "only {} adds ran",
        acknowledged.len()
    );
    for item in &acknowledged {
        assert!(stored.contains(item), "{item} was acknowledged and is lost");
    }
    is_sound(&home);
    replays_to_the_same_tables(&home);
}

#[test]
fn nothing_acknowledged_is_lost_to_a_kill_each_second_for_thirty_seconds() {
    kill_while_adding(Duration::from_secs(30), Duration::from_secs(1));
}

#[test]
#[ignore = "ten minutes; run with: cargo test -- --ignored ten_minutes"]
fn nothing_acknowledged_is_lost_to_many_kills_in_ten_minutes() {
    kill_while_adding(Duration::from_secs(600), Duration::from_millis(100));
}

/// What a folder and those in it hold: names, bytes, times.
fn traces(folder: &Path) -> Vec<(PathBuf, Vec<u8>, SystemTime)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder reads") {
        let path = entry.expect("the entry reads").path();
        // Locks are taken in memory that is mapped from this file.
        if path.to_string_lossy().ends_with("-shm") {
            continue;
        }
        let data = fs::metadata(&path).expect("it is there");
        let modified = data.modified().expect("the time reads");
        if data.is_dir() {
            found.extend(traces(&path));
            found.push((path, Vec::new(), modified));
        } else {
            let bytes = fs::read(&path).expect("the file reads");
            found.push((path, bytes, modified));
        }
    }
    found.sort();
    found
}

#[test]
fn reading_leaves_the_store_and_the_home_folder_as_they_were() {
    let home = Home::with_store("aizo-1.0.0.db");
    home.ok(&["add", "concise code", "again"]);
    let before = traces(&home.aizo());
    let files = fs::read_dir(home.aizo()).expect("the folder reads").count();
    for read in READS {
        home.ok(read);
    }
    assert_eq!(traces(&home.aizo()), before);
    assert_eq!(
        fs::read_dir(home.aizo()).expect("the folder reads").count(),
        files
    );

    // The store alone, as a copy to another machine leaves it.
    for ending in ["-wal", "-shm"] {
        fs::remove_file(home.aizo().join(format!("preferences.db{ending}"))).expect("it was there");
    }
    std::thread::sleep(Duration::from_millis(60));
    let before = traces(&home.aizo());
    for read in READS {
        home.ok(read);
    }
    assert_eq!(traces(&home.aizo()), before);
}

#[test]
fn reading_in_an_empty_home_makes_nothing() {
    let home = Home::new();
    for read in READS {
        home.run(read);
    }
    home.run(&["remove", "x"]);
    home.run(&["undo"]);
    home.run(&["apply", "1"]);
    assert_eq!(
        fs::read_dir(home.path()).expect("the folder reads").count(),
        0
    );
}

#[test]
fn reading_goes_on_while_another_process_writes() {
    let home = Home::new();
    home.ok(&["add", "concise code", "asked twice"]);
    let mut writer = rusqlite::Connection::open(home.db()).expect("the store opens");
    let transaction = writer
        .transaction_with_behavior(rusqlite::TransactionBehavior::Exclusive)
        .expect("the lock is free");
    transaction
        .execute("UPDATE preferences SET item = 'not committed'", [])
        .expect("it writes");
    for read in READS {
        let begin = Instant::now();
        let run = home.run(read);
        assert_eq!(run.code, 0, "{read:?}: {run:?}");
        assert!(!run.stdout.contains("not committed"));
        // The promise is a second; the lock is never let go, so a reader that waited would not end at all.
        assert!(begin.elapsed() < Duration::from_secs(5), "{read:?} waited");
    }
    let run = Run::of(
        home.command(&["add", "another", "one"])
            .env("AIZO_LOCK_TIMEOUT_MS", "50")
            .output(),
    );
    assert_eq!(run.code, 1);
    assert!(
        run.stderr.contains("is locked by another process"),
        "{run:?}"
    );
    assert!(
        run.stderr.contains(&home.db().display().to_string()),
        "{run:?}"
    );
}

#[test]
fn an_older_store_that_another_process_writes_is_read_as_a_copy() {
    let home = Home::with_store("aizo-1.0.0.db");
    let before = fs::read(home.db()).expect("it reads");
    let mut writer = rusqlite::Connection::open(home.db()).expect("the store opens");
    let transaction = writer
        .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
        .expect("the lock is free");
    let run = home.run(&["recall", "concise code"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("concise code"));
    assert!(run.stderr.contains("reading a copy"), "{run:?}");
    drop(transaction);
    assert_eq!(fs::read(home.db()).expect("it reads"), before);
}

#[test]
fn two_of_each_read_at_once_on_a_store_of_1_0_0_break_nothing() {
    // Each round begins with the old file, so that both processes find something to bring up to date.
    for round in 0..8 {
        let home = Home::with_store("aizo-1.0.0.db");
        std::thread::scope(|scope| {
            for _ in 0..2 {
                for read in READS {
                    let home = &home;
                    scope.spawn(move || {
                        let run = home.run(read);
                        assert_eq!(run.code, 0, "round {round}: {read:?}: {run:?}");
                    });
                }
            }
        });
        assert_eq!(stored_items(&home).len(), 12);
        let copies = fs::read_dir(home.aizo().join("backups"))
            .expect("the folder reads")
            .filter(|entry| {
                entry.as_ref().is_ok_and(|entry| {
                    entry
                        .path()
                        .extension()
                        .is_some_and(|ending| ending == "bak")
                })
            })
            .count();
        assert_eq!(copies, 1);
        is_sound(&home);
    }
}

#[test]
#[ignore = "some minutes; run with: cargo test -- --ignored a_thousand_times"]
fn two_of_each_read_at_once_a_thousand_times_over_break_nothing() {
    let home = Home::with_store("aizo-1.0.0.db");
    std::thread::scope(|scope| {
        for read in READS {
            for _ in 0..2 {
                let home = &home;
                scope.spawn(move || {
                    for _ in 0..1000 {
                        let run = home.run(read);
                        assert_eq!(run.code, 0, "{read:?}: {run:?}");
                    }
                });
            }
        }
    });
    assert_eq!(stored_items(&home).len(), 12);
    is_sound(&home);
}

#[test]
fn readers_never_see_half_a_write() {
    let home = Home::new();
    home.ok(&["add", "first", "one"]);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for round in 0..30 {
                let lines: String = (0..20)
                    .map(|number| format!("{{\"item\":\"r{round} n{number}\",\"reason\":\"x\"}}\n"))
                    .collect();
                let run = home.run_with_input(&["add", "--stdin"], lines.as_bytes());
                assert_eq!(run.code, 0, "{run:?}");
            }
        });
        while !writer.is_finished() {
            let entries: Vec<Value> = home.json(&["show"]);
            assert_eq!(
                entries.len() % 20,
                1,
                "a batch is there as a whole or not at all"
            );
        }
    });
}

/// File modes mean nothing to root, so these run the binary as a user that owns nothing.
#[cfg(unix)]
mod as_another_user {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;

    use super::*;

    const NOBODY: u32 = 65_534;

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the mode is set");
    }

    fn i_am_root() -> bool {
        let probe = tempfile::tempdir().expect("a temporary folder");
        std::os::unix::fs::chown(probe.path(), Some(NOBODY), None).is_ok()
    }

    /// A home whose files can be read by everybody and written by nobody, and a runner for it.
    struct ReadOnly {
        home: Home,
        /// A copy that another user may start, wherever the original lies.
        program: std::path::PathBuf,
        root: bool,
    }

    impl ReadOnly {
        fn new(home: Home) -> Self {
            let program = home.path().join("aizo-copy");
            fs::copy(crate::common::binary(), &program).expect("the binary is copied");
            set_mode(&program, 0o755);
            for entry in fs::read_dir(home.aizo()).expect("the folder reads") {
                set_mode(&entry.expect("the entry reads").path(), 0o444);
            }
            set_mode(&home.aizo(), 0o555);
            set_mode(home.path(), 0o755);
            ReadOnly {
                home,
                program,
                root: i_am_root(),
            }
        }

        fn run(&self, arguments: &[&str]) -> Run {
            let model = self.home.command(arguments);
            let mut command = std::process::Command::new(&self.program);
            command
                .args(arguments)
                .env_clear()
                .current_dir(self.home.path());
            for (name, value) in model.get_envs() {
                if let Some(value) = value {
                    command.env(name, value);
                }
            }
            if self.root {
                command.uid(NOBODY).gid(NOBODY);
            }
            // A process that another test starts while the copy is written holds it open until it is another program.
            for _ in 0..100 {
                match command.output() {
                    Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                        std::thread::sleep(std::time::Duration::from_millis(20));
                    }
                    output => return Run::of(output),
                }
            }
            Run::of(command.output())
        }
    }

    impl Drop for ReadOnly {
        fn drop(&mut self) {
            set_mode(&self.home.aizo(), 0o755);
        }
    }

    fn writes_are_refused(place: &ReadOnly) {
        let before = traces(&place.home.aizo());
        let run = place.run(&["add", "x", "y"]);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run:?}");
        assert!(run.stderr.contains("read-only"), "{run:?}");
        assert!(
            run.stderr.contains(&place.home.db().display().to_string()),
            "{run:?}"
        );
        assert!(run.stderr.contains("hint: "), "{run:?}");
        assert_eq!(traces(&place.home.aizo()), before);
    }

    #[test]
    fn a_read_only_store_is_read_and_not_written() {
        let home = Home::new();
        home.ok(&["add", "concise code", "asked twice"]);
        let place = ReadOnly::new(home);
        let run = place.run(&["recall", "code"]);
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.stdout.contains("concise code"), "{run:?}");
        writes_are_refused(&place);
    }

    #[test]
    fn who_may_not_write_the_file_leaves_nothing_beside_it() {
        let home = Home::new();
        home.ok(&["add", "concise code", "asked twice"]);
        for ending in ["-wal", "-shm"] {
            let _none_is_fine = fs::remove_file(format!("{}{ending}", home.db().display()));
        }
        let place = ReadOnly::new(home);
        set_mode(&place.home.aizo(), 0o777);
        writes_are_refused(&place);
        let before = traces(&place.home.aizo());
        let run = place.run(&["recall", "code"]);
        assert!(run.stdout.contains("concise code"), "{run:?}");
        assert_eq!(traces(&place.home.aizo()), before);
    }

    #[test]
    fn a_file_beside_the_store_that_may_not_be_written_is_named() {
        let home = Home::new();
        home.ok(&["add", "concise code", "asked twice"]);
        let place = ReadOnly::new(home);
        set_mode(&place.home.aizo(), 0o777);
        set_mode(&place.home.db(), 0o666);
        let log = format!("{}-wal", place.home.db().display());
        fs::write(&log, "").expect("it writes");
        set_mode(Path::new(&log), 0o444);
        let run = place.run(&["add", "x", "y"]);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.stderr.contains(&format!("{log} beside it")), "{run:?}");
    }

    #[test]
    fn a_read_only_store_without_its_log_files_is_read() {
        let home = Home::new();
        home.ok(&["add", "concise code", "asked twice"]);
        for ending in ["-wal", "-shm"] {
            fs::remove_file(home.aizo().join(format!("preferences.db{ending}")))
                .expect("it was there");
        }
        let place = ReadOnly::new(home);
        let run = place.run(&["recall", "code"]);
        assert!(run.stdout.contains("concise code"), "{run:?}");
        writes_are_refused(&place);
    }

    #[test]
    fn changes_that_are_only_in_the_log_are_read_in_a_read_only_folder() {
        let home = Home::new();
        home.ok(&["add", "in the file", "x"]);
        // A writer that is still there when the files are copied: its change is in the log alone.
        let connection = rusqlite::Connection::open(home.db()).expect("the store opens");
        connection
            .execute("UPDATE preferences SET item = 'in the log'", [])
            .expect("it writes");
        let copy = Home::new();
        fs::create_dir(copy.aizo()).expect("an empty home");
        for ending in ["", "-wal"] {
            let name = format!("preferences.db{ending}");
            fs::copy(home.aizo().join(&name), copy.aizo().join(&name)).expect("it copies");
        }
        drop(connection);
        let place = ReadOnly::new(copy);
        let run = place.run(&["show"]);
        assert!(run.stdout.contains("in the log"), "{run:?}");
    }

    #[test]
    fn an_older_store_in_a_read_only_folder_is_read_as_a_copy() {
        let place = ReadOnly::new(Home::with_store("aizo-1.0.0.db"));
        let run = place.run(&["recall", "concise code"]);
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.stdout.contains("concise code"), "{run:?}");
        assert!(run.stderr.contains("reading a copy"), "{run:?}");
        writes_are_refused(&place);
    }

    #[test]
    fn doctor_says_that_a_store_cannot_be_written() {
        let home = Home::new();
        home.ok(&["add", "concise code", "asked twice"]);
        let place = ReadOnly::new(home);
        let before = traces(&place.home.aizo());
        let run = place.run(&["doctor", "--json"]);
        let reply: Value = serde_json::from_str(&run.stdout).expect("one value");
        let findings = reply["findings"].as_array().expect("a list");
        let found = findings.iter().find(|one| one["check"] == "writable");
        assert_eq!(
            (run.code, &found.expect("it is found")["level"]),
            (1, &"error".into())
        );
        assert_eq!(traces(&place.home.aizo()), before);
    }

    #[test]
    fn a_new_store_and_its_folder_belong_to_their_owner_alone() {
        let home = Home::new();
        home.ok(&["add", "a", "b"]);
        let mode = |path: &Path| {
            fs::metadata(path)
                .expect("it is there")
                .permissions()
                .mode()
                & 0o777
        };
        assert_eq!(mode(&home.aizo()), 0o700);
        for ending in ["", "-wal", "-shm"] {
            assert_eq!(
                mode(&home.aizo().join(format!("preferences.db{ending}"))),
                0o600
            );
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named_and_changes_nothing() {
    // A file system of its own needs root; elsewhere a limit on file sizes does the same to the writer.
    let home = Home::new();
    home.ok(&["add", "first", "one"]);
    let before = home.rows();
    let line = format!("{{\"item\":\"big\",\"reason\":\"{}\"}}\n", "x".repeat(4000));
    let lines: String = (0..400)
        .map(|n| line.replace("big", &format!("big {n}")))
        .collect();
    let script = format!(
        "ulimit -f 200; trap '' XFSZ; exec {} add --stdin",
        crate::common::binary().display()
    );
    let model = home.command(&[]);
    let mut command = std::process::Command::new("bash");
    command
        .args(["-c", &script])
        .env_clear()
        .current_dir(home.path());
    for (name, value) in model.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("bash starts");
    let mut pipe = child.stdin.take().expect("stdin is piped");
    std::io::Write::write_all(&mut pipe, lines.as_bytes()).expect("it reads all of it");
    drop(pipe);
    let run = Run::of(child.wait_with_output());
    assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run:?}");
    assert!(
        run.stderr.contains(&home.db().display().to_string()),
        "{run:?}"
    );
    assert_eq!(home.rows(), before);
    is_sound(&home);
}
