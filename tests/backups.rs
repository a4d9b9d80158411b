//! `backup` and `restore`: copies while others write, what is kept by itself, and putting a copy back under readers and writers.

mod restoring;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rstest::rstest;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::common::{Home, Run, stored};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BackedUp {
    result: String,
    file: PathBuf,
    bytes: u64,
    entries: i64,
    changes: i64,
    hint: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Copy {
    file: PathBuf,
    at: String,
    occasion: Option<String>,
    bytes: u64,
    entries: Option<i64>,
    hard_limits: Option<i64>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Restored {
    result: String,
    dry_run: bool,
    file: PathBuf,
    brought_from: Option<i64>,
    entries: usize,
    hard_limits: usize,
    waiting_for_review: i64,
    changes: i64,
    unreadable: Option<String>,
    coming: Vec<Moved>,
    going: Vec<Moved>,
    changing: Vec<Moved>,
    limits_lost: Vec<Moved>,
    limits_weakened: Vec<Moved>,
    stays_forgotten: Vec<Value>,
    copy: Option<PathBuf>,
    hint: Option<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Moved {
    item: String,
    score_before: Option<f64>,
    score_after: Option<f64>,
}

/// A value in exactly its declared form.
fn one<T: Serialize + serde::de::DeserializeOwned>(text: &str) -> T {
    let value: T = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let written = serde_json::to_string_pretty(&value).expect("it was JSON before");
    assert_eq!(format!("{written}\n"), text);
    value
}

fn backup(home: &Home, arguments: &[&str]) -> BackedUp {
    one(&home.ok(&[&["backup", "--json"], arguments].concat()))
}

fn copies(home: &Home) -> Vec<Copy> {
    one(&home.ok(&["backup", "--list", "--json"]))
}

fn restore(home: &Home, arguments: &[&str]) -> Restored {
    one(&home.ok(&[&["restore", "--json"], arguments].concat()))
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

fn items(home: &Home) -> BTreeSet<String> {
    items_of(home, &home.db())
}

fn items_of(home: &Home, store: &Path) -> BTreeSet<String> {
    let entries: Vec<Value> = home.json(&["--db", text(store), "show"]);
    let names = entries.iter().filter_map(|entry| entry["item"].as_str());
    names.map(str::to_owned).collect()
}

fn names(moved: &[Moved]) -> Vec<&str> {
    moved.iter().map(|one| one.item.as_str()).collect()
}

fn is_sound(store: &Path) {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let connection = rusqlite::Connection::open_with_flags(store, flags).expect("it opens");
    let verdict: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("the check runs");
    assert_eq!(verdict, "ok", "{}", store.display());
}

/// Two stores that share nothing: what is stored, and a copy of another one.
fn a_and_b(many: usize) -> (Home, PathBuf) {
    let home = Home::new();
    let add = |letter: &str| {
        let lines: String = (0..many)
            .map(|number| format!("{{\"item\":\"{letter}{number} entry\",\"reason\":\"r\"}}\n"))
            .collect();
        let run = home.run_with_input(&["add", "--stdin"], lines.as_bytes());
        assert_eq!(run.code, 0, "{run:?}");
    };
    add("b");
    let copy = home.path().join("b.db");
    home.ok(&["backup", text(&copy)]);
    home.ok(&["clear", "--yes"]);
    add("a");
    (home, copy)
}

/// Which of the two a home has, all of it and nothing else but what was written meanwhile.
fn which(found: &BTreeSet<String>, many: usize) -> char {
    let count = |letter: char| {
        let is_one = |item: &&String| item.starts_with(letter) && item.ends_with(" entry");
        found.iter().filter(is_one).count()
    };
    match (count('a'), count('b')) {
        (a, 0) if a == many => 'a',
        (0, b) if b == many => 'b',
        mixed => panic!("neither the one nor the other: {mixed:?}"),
    }
}

#[test]
fn a_copy_is_whole_and_for_its_owner_alone() {
    let home = Home::new();
    let run = home.run(&["backup", "--json"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run:?}");
    assert!(run.stderr.contains("\"not_found\""), "{run:?}");
    home.ok(&["add", "concise code", "asked twice"]);
    home.ok(&["add", "force-push", "lost a day", "--score", "0.5"]);
    let copy = backup(&home, &[]);
    let wanted = home
        .aizo()
        .join("backups/preferences.db.20261130T120000Z.bak");
    assert_eq!(copy.file, wanted);
    assert_eq!((copy.entries, copy.changes), (2, 2));
    assert_eq!(
        copy.bytes,
        fs::metadata(&copy.file).expect("it is there").len()
    );
    assert_eq!(items_of(&home, &copy.file), items(&home));
    // It stands alone: any SQLite opens it, and nothing is made beside it.
    is_sound(&copy.file);
    let second = backup(&home, &[]);
    let wanted = home
        .aizo()
        .join("backups/preferences.db.20261130T120000Z-2.bak");
    assert_eq!(second.file, wanted);
    let folder = home.aizo().join("backups");
    assert_eq!(fs::read_dir(&folder).expect("it reads").count(), 2);
    assert_eq!(copies(&home).len(), 2);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| {
            let metadata = fs::metadata(path).expect("it is there");
            metadata.permissions().mode() & 0o777
        };
        assert_eq!((mode(&copy.file), mode(&folder)), (0o600, 0o700));
    }
    let said = home.ok(&["backup"]);
    assert!(said.contains("2 entries, 2 changes"), "{said}");
    assert!(said.contains("aizo restore '"), "{said}");
}

#[test]
fn a_file_of_the_person_is_never_written_over() {
    let home = Home::new();
    home.ok(&["add", "concise code", "asked twice"]);
    let notes = home.write("notes.txt", b"buy milk");
    let run = home.run(&["backup", text(&notes), "--json"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("\"conflict\""), "{run:?}");
    assert_eq!(home.read("notes.txt"), "buy milk");
    let store = text(&home.db()).to_owned();
    assert_eq!(home.run(&["backup", &store]).code, 1);
    // A folder gets a file with a name of its own.
    let folder = home.path().join("stick");
    fs::create_dir(&folder).expect("a folder");
    let copy = backup(&home, &[text(&folder)]);
    assert_eq!(
        copy.file,
        folder.join("preferences.db.20261130T120000Z.bak")
    );
    // One that aizo took by itself may give way.
    home.ok(&["clear", "--yes"]);
    home.ok(&["add", "later", "r"]);
    let own = copies(&home).remove(0);
    assert_eq!(own.occasion.as_deref(), Some("before-clear"));
    backup(&home, &[text(&own.file)]);
    assert_eq!(
        items_of(&home, &own.file),
        BTreeSet::from(["later".to_owned()])
    );
    let run = home.run(&["backup", "no/such/folder/x.db"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("no/such/folder"), "{run:?}");
}

#[test]
fn copies_are_taken_while_others_write() {
    let home = Home::new();
    home.ok(&["add", "first", "one"]);
    let done = AtomicBool::new(false);
    let taken: Vec<(usize, PathBuf)> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..3)
            .map(|writer| {
                let (home, done) = (&home, &done);
                scope.spawn(move || {
                    let mut many = 0;
                    while !done.load(Ordering::Relaxed) {
                        let run = home.run(&["add", &format!("w{writer} {many}"), "meanwhile"]);
                        assert_eq!(run.code, 0, "{run:?}");
                        many += 1;
                    }
                })
            })
            .collect();
        let taken = (0..8)
            .map(|number| {
                let before = items(&home).len();
                let file = home.path().join(format!("copy{number}.db"));
                backup(&home, &[text(&file)]);
                (before, file)
            })
            .collect();
        done.store(true, Ordering::Relaxed);
        writers
            .into_iter()
            .for_each(|writer| writer.join().expect("no writer panics"));
        taken
    });
    let all = items(&home);
    for (before, file) in taken {
        is_sound(&file);
        let held = items_of(&home, &file);
        assert!(
            held.len() >= before,
            "what was there when it began is in it"
        );
        assert!(held.is_subset(&all));
        let (rows, lines): (i64, i64) = rusqlite::Connection::open(&file)
            .expect("it opens")
            .query_row(
                "SELECT (SELECT count(*) FROM preferences), (SELECT count(*) FROM journal)",
                [],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .expect("it reads");
        assert_eq!(rows, lines, "rows and journal are of one moment");
    }
}

/// A file system of its own, where that can be made: it needs root.
#[cfg(target_os = "linux")]
struct Disk(PathBuf);

#[cfg(target_os = "linux")]
impl Disk {
    fn of(home: &Home, options: &str) -> Option<Self> {
        let place = home.path().join("disk");
        fs::create_dir(&place).expect("a folder");
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(&place)
            .output()
            .is_ok_and(|output| output.status.success());
        // A file system of its own needs root: without, there is nothing to try.
        mounted.then_some(Disk(place))
    }
}

#[cfg(target_os = "linux")]
impl Drop for Disk {
    fn drop(&mut self) {
        let _gone = std::process::Command::new("umount").arg(&self.0).output();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named_and_nothing_is_left_on_it() {
    let home = Home::new();
    let lines: String = (0..300)
        .map(|number| {
            format!(
                "{{\"item\":\"entry {number}\",\"reason\":\"{}\"}}\n",
                "x".repeat(900)
            )
        })
        .collect();
    assert_eq!(
        home.run_with_input(&["add", "--stdin"], lines.as_bytes())
            .code,
        0
    );
    let Some(disk) = Disk::of(&home, "size=700k") else {
        return;
    };
    let file = disk.0.join("copy.db");
    let run = home.run(&["backup", text(&file), "--json"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run:?}");
    assert!(run.stderr.contains("\"disk_full\""), "{run:?}");
    assert!(run.stderr.contains(text(&disk.0)), "{run:?}");
    assert_eq!(fs::read_dir(&disk.0).expect("it reads").count(), 0);
    // Without room for a copy nothing is cleared.
    let store = disk.0.join("small.db");
    let small = text(&store);
    home.ok(&["--db", small, "add", "one", "r"]);
    let mut filler = fs::File::create(disk.0.join("filler")).expect("it is made");
    while std::io::Write::write_all(&mut filler, &[0; 4096]).is_ok() {}
    let run = home.run(&["--db", small, "clear", "--yes", "--json"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("\"disk_full\""), "{run:?}");
    assert!(run.stderr.contains("backups"), "{run:?}");
    assert_eq!(items_of(&home, &store).len(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_target_that_may_not_be_written_is_named() {
    let home = Home::new();
    home.ok(&["add", "concise code", "asked twice"]);
    let Some(disk) = Disk::of(&home, "size=1m,ro") else {
        return;
    };
    let file = disk.0.join("copy.db");
    let run = home.run(&["backup", text(&file), "--json"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run:?}");
    assert!(run.stderr.contains("\"read_only\""), "{run:?}");
    assert!(run.stderr.contains(text(&disk.0)), "{run:?}");
}

#[test]
fn of_the_copies_that_nobody_asked_for_the_last_ten_stay() {
    let mut home = Home::new();
    home.ok(&["add", "kept", "r"]);
    let own = backup(&home, &[]).file;
    // What install and an earlier version have left.
    let settings = home.write(".aizo/backups/0f1e.before-install.settings.json", b"{}");
    let earlier = home
        .aizo()
        .join("preferences.db.schema7-20250101T000000Z.bak");
    fs::copy(stored("aizo-1.0.0.db"), &earlier).expect("it copies");
    assert_eq!(
        copies(&home)
            .last()
            .map(|copy| (copy.occasion.as_deref(), copy.file.as_path())),
        Some((Some("schema7"), earlier.as_path()))
    );
    let mut first = None;
    for day in 1..=12 {
        home = home.at(&format!("2026-12-{day:02}T00:00:00Z"));
        home.ok(&["add", &format!("entry {day}"), "r"]);
        let cleared: Value = home.json(&["clear", "--yes"]);
        first.get_or_insert(PathBuf::from(
            cleared["copy"].as_str().expect("a copy was kept"),
        ));
        home.ok(&["undo"]);
    }
    let listed = copies(&home);
    let automatic = listed.iter().filter(|copy| copy.occasion.is_some());
    assert_eq!(automatic.count(), 10);
    assert!(!first.expect("there was one").exists());
    assert!(!earlier.exists(), "it was the oldest of them");
    assert!(own.exists() && settings.exists());
    assert!(listed.iter().any(|copy| copy.file == own));
    // The newest first.
    assert!(listed.is_sorted_by(|a, b| a.at >= b.at));
    let newest = items_of(&home, &listed[0].file);
    assert!(newest.contains("entry 12"), "{newest:?}");
}

#[test]
fn only_the_newest_copy_of_its_occasion_stands_for_another_one() {
    let mut home = Home::new();
    home.ok(&["add", "first", "r"]);
    let before = fs::read(home.db()).expect("it is there");
    let clear = |home: &Home| {
        let cleared: Value = home.json(&["clear", "--yes"]);
        PathBuf::from(cleared["copy"].as_str().expect("a copy was kept"))
    };
    let mut kept = BTreeSet::new();
    for (day, more) in [(1, 0), (2, 40), (3, 0), (4, 0)] {
        home = home.at(&format!("2026-12-{day:02}T00:00:00Z"));
        fs::write(home.db(), &before).expect("it writes");
        for number in 0..more {
            home.ok(&["add", &format!("entry {number}"), &"r".repeat(300)]);
        }
        kept.insert(clear(&home));
    }
    // The last one is the third, which was there.
    let days: Vec<bool> = (1..=4)
        .map(|day| {
            kept.iter()
                .any(|copy| text(copy).contains(&format!("2026120{day}T")))
        })
        .collect();
    assert_eq!(days, [true, true, true, false], "{kept:?}");
}

#[test]
fn the_age_of_a_copy_is_no_matter_of_its_name() {
    let home = Home::new();
    let mut kept = Vec::new();
    for count in 0..10 {
        home.ok(&["add", &format!("entry {count}"), "r"]);
        let cleared: Value = home.json(&["clear", "--yes"]);
        home.ok(&["undo"]);
        let copy = PathBuf::from(cleared["copy"].as_str().expect("a copy was kept"));
        // As if the clock had been wrong.
        let day = count + 1;
        let name = format!("preferences.db.209901{day:02}T000000Z.before-clear.bak");
        let later = copy.with_file_name(name);
        fs::rename(&copy, &later).expect("it is there");
        kept.push(later);
    }
    let newest = home.json::<Value>(&["clear", "--yes"]);
    home.ok(&["undo"]);
    home.json::<Value>(&["clear", "--yes"]);
    assert!(Path::new(newest["copy"].as_str().expect("a copy was kept")).exists());
    let there: Vec<bool> = kept.iter().map(|copy| copy.exists()).collect();
    assert_eq!(there, [&[false; 2][..], &[true; 8]].concat());
}

#[test]
fn what_an_ended_run_has_left_is_cleared_away() {
    let home = Home::new();
    home.ok(&["add", "x", "y"]);
    let left = home.write(".aizo/backups/.aizo-backup-x7f", b"half a copy");
    home.ok(&["backup"]);
    assert!(!left.exists());
}

#[test]
fn the_list_says_what_each_copy_holds_and_which_cannot_be_read() {
    let home = Home::new();
    home.ok(&["add", "concise code", "asked twice"]);
    home.ok(&["add", "force-push", "never", "--score", "0.5"]);
    let copy = backup(&home, &[]).file;
    let home = home.at("2026-12-01T00:00:00Z");
    let cut = backup(&home, &[]).file;
    let bytes = fs::read(&cut).expect("it reads");
    fs::write(&cut, &bytes[..5000]).expect("it writes");
    let listed = copies(&home);
    let told: Vec<_> = listed
        .iter()
        .map(|one| (&one.file, one.entries, one.hard_limits))
        .collect();
    assert_eq!(told, [(&cut, None, None), (&copy, Some(2), Some(1))]);
    let text = home.ok(&["backup", "--list"]);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[1].contains("damaged"), "{text}");
    assert!(lines[2].contains("2 entries, 1 hard limit"), "{text}");
}

#[test]
fn the_way_back_holds_in_every_folder() {
    let home = Home::new();
    home.ok(&["add", "concise code", "asked twice"]);
    let hint = backup(&home, &["before.db"]).hint;
    let file = hint
        .split('\'')
        .nth(1)
        .or_else(|| hint.split(' ').next_back());
    let file = PathBuf::from(file.expect("a file"));
    assert!(file.is_absolute() && file.exists(), "{hint}");
}
