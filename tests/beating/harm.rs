//! Damaged files and full disks: a store that is cut off, has pages of zeros or flipped bits, a log that is cut off, an index
//! that is gone, a disk without room. Each command gives the right answer or a clear error; no limit is lost silently.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::random::{Random, seed};
use super::scene::{DEEDS, Scene, State, is_sound};
use super::{chosen, minutes, rounds, say};
use crate::common::{Home, Run};

/// Commands that only read, the limits first.
const READS: &[&[&str]] = &[
    &["context"],
    &["show", "--json"],
    &["recall", "force", "--json"],
    &["check", "--command", "git push --force"],
    &["history"],
    &["why", "force-push"],
    &["info"],
    &["review"],
    &["export", "--format", "jsonl"],
    &["doctor"],
    &["keywords"],
    &["top", "3"],
];

const LIMIT: &str = "force-push";

#[derive(Default)]
struct Counts {
    harmed: usize,
    runs: usize,
    right: usize,
    refused: usize,
}

/// A command that met damage has ended by itself, and says what is the matter where it has no answer.
fn must_be_an_answer(run: &Run, arguments: &[&str], told: &str) {
    let told = format!("{told}: {arguments:?}: {run:?}");
    assert!(!run.stderr.contains("panicked"), "{told}");
    assert!((0..=3).contains(&run.code), "{told}");
    if run.code == 1 && run.stdout.is_empty() {
        let is_told = run.stderr.contains("error: ") || run.stderr.contains("{\"error\":");
        assert!(is_told, "{told}");
    }
}

/// Whether a list of entries has the limit, or it is said that something is wrong.
fn must_not_lose_the_limit(home: &Home, told: &str) {
    let run = home.run(&["show", "--json"]);
    if run.code == 0 {
        let entries: Vec<Value> = serde_json::from_str(&run.stdout).expect("a list");
        let limit = entries.iter().find(|entry| entry["item"] == LIMIT);
        let is_told = !run.stderr.trim().is_empty();
        assert!(
            is_told || limit.is_some_and(|entry| entry["hard_limit"] == true),
            "{told}: the limit is gone, and nobody says so: {run:?}"
        );
    }
    // By its words as well: what the index does not know is not nothing.
    let run = home.run(&["recall", LIMIT, "--exact", "--json"]);
    if run.code == 0 {
        assert!(
            run.stdout.contains(LIMIT),
            "{told}: it is not found, and nobody says why: {run:?}"
        );
    }
    let run = home.run(&["context"]);
    if run.code == 0 {
        assert!(
            run.stdout.contains(LIMIT) || !run.stderr.trim().is_empty(),
            "{told}: the limit is not in the context, and nobody says so: {run:?}"
        );
    }
}

/// Lets commands meet a store that `harm` has damaged.
fn beat(home: &Home, told: &str, counts: &mut Counts, random: &mut Random) {
    counts.harmed += 1;
    must_not_lose_the_limit(home, told);
    // Which commands meet it changes from harm to harm; in a long run all do.
    let few = [*random.one_of(READS), *random.one_of(READS)];
    let reads = if minutes().is_some() { READS } else { &few };
    for read in reads {
        let run = home.run(read);
        must_be_an_answer(&run, read, told);
        counts.runs += 1;
        if run.code == 1 && run.stdout.is_empty() {
            counts.refused += 1;
        } else {
            counts.right += 1;
        }
    }
    let deed = random.one_of(&DEEDS[..22]);
    let run = home.feed(&mut home.command(deed.arguments), deed.input.as_bytes());
    must_be_an_answer(&run, deed.arguments, told);
    counts.runs += 1;
    let meant = matches!(deed.name, "restore" | "forget" | "clear" | "undo");
    if !meant {
        must_not_lose_the_limit(home, &format!("{told}: after {}", deed.name));
    }
}

/// A scene whose log is written back, so that all is in the file.
fn at_rest() -> Scene {
    let scene = Scene::new(false);
    checkpoint(&scene.home);
    scene.remember();
    scene
}

fn checkpoint(home: &Home) {
    let connection = rusqlite::Connection::open(home.db()).expect("the store opens");
    connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .expect("the log is written back");
    drop(connection);
    for ending in ["-wal", "-shm"] {
        let _none_is_fine = fs::remove_file(format!("{}{ending}", home.db().display()));
    }
}

fn page_size(bytes: &[u8]) -> usize {
    match u16::from_be_bytes([bytes[16], bytes[17]]) {
        1 => 1 << 16,
        size => usize::from(size),
    }
}

#[test]
fn a_page_of_zeros_is_told_or_does_no_harm() {
    let scene = at_rest();
    let whole = fs::read(scene.home.db()).expect("it reads");
    let size = page_size(&whole);
    let mut random = Random::new(seed());
    let mut counts = Counts::default();
    for page in chosen((0..whole.len() / size).collect(), 16) {
        scene.reset();
        let mut bytes = whole.clone();
        bytes[page * size..(page + 1) * size].fill(0);
        fs::write(scene.home.db(), bytes).expect("it writes");
        beat(
            &scene.home,
            &format!("page {} is zeros", page + 1),
            &mut counts,
            &mut random,
        );
    }
    told("pages of zeros", &counts);
}

fn told(part: &str, counts: &Counts) {
    say(
        part,
        &format!(
            "{} stores harmed; {} commands: {} answered, {} refused",
            counts.harmed, counts.runs, counts.right, counts.refused
        ),
    );
}

#[test]
fn a_store_that_is_cut_off_is_told_or_does_no_harm() {
    let scene = at_rest();
    let whole = fs::read(scene.home.db()).expect("it reads");
    let size = page_size(&whole);
    let mut random = Random::new(seed());
    let mut counts = Counts::default();
    let mut lengths: Vec<usize> = (1..whole.len() / size).map(|page| page * size).collect();
    lengths.extend([1, 99, 100, size / 2, size + 1, whole.len() - 1]);
    lengths.sort_unstable();
    for length in chosen(lengths, 12) {
        scene.reset();
        fs::write(scene.home.db(), &whole[..length]).expect("it writes");
        beat(
            &scene.home,
            &format!("cut off after {length} bytes"),
            &mut counts,
            &mut random,
        );
    }
    told("cut off", &counts);
}

#[test]
fn a_store_of_which_nothing_is_left_is_told_from_a_new_one_by_its_copies() {
    let scene = at_rest();
    scene.home.ok(&["backup"]);
    fs::write(scene.home.db(), "").expect("it writes");
    let run = scene.home.run(&["doctor"]);
    assert!(!run.stderr.contains("panicked"), "{run:?}");
    assert!(
        run.stdout.contains("aizo restore") || run.stdout.contains("backup"),
        "{run:?}"
    );
}

#[test]
fn flipped_bits_are_told_or_do_no_harm() {
    let scene = at_rest();
    let whole = fs::read(scene.home.db()).expect("it reads");
    let seed = seed();
    let mut random = Random::new(seed);
    let mut counts = Counts::default();
    for round in rounds(24) {
        scene.reset();
        let mut bytes = whole.clone();
        for _ in 0..1 + random.below(6) {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
        }
        fs::write(scene.home.db(), bytes).expect("it writes");
        counts.harmed += 1;
        // What a flipped bit says is no worse than what another program may have written: it is answered or refused.
        for _ in 0..3 {
            let read = random.one_of(READS);
            let run = scene.home.run(read);
            must_be_an_answer(&run, read, &format!("seed {seed}, round {round}"));
            counts.runs += 1;
            match run.code {
                1 => counts.refused += 1,
                _ => counts.right += 1,
            }
        }
        let deed = random.one_of(&DEEDS[..22]);
        let run = scene.run(deed);
        must_be_an_answer(&run, deed.arguments, &format!("seed {seed}, round {round}"));
        counts.runs += 1;
    }
    told("flipped bits", &counts);
}

/// A scene in which the last changes are in the log alone, as a killed writer leaves it.
fn with_a_log() -> (Scene, PathBuf, BTreeSet<usize>) {
    let scene = at_rest();
    // Somebody reads, so that nobody writes the log back.
    let reader = rusqlite::Connection::open(scene.home.db()).expect("the store opens");
    reader
        .execute_batch("BEGIN; SELECT count(*) FROM preferences")
        .expect("it reads");
    scene.home.ok(&["add", "in the log", "one", "--score", "0"]);
    scene.home.ok(&["add", "in the log too", "two"]);
    scene.home.ok(&["update", "concise code", "--score", "6"]);
    let log = PathBuf::from(format!("{}-wal", scene.home.db().display()));
    scene.remember();
    drop(reader);
    let _none_is_fine = fs::remove_file(scene.beginning().join(".aizo/preferences.db-shm"));
    let bytes = fs::read(scene.beginning().join(".aizo/preferences.db-wal")).expect("it reads");
    let frame = 24 + page_size(&fs::read(scene.home.db()).expect("it reads"));
    let ends = (0..).map(|number| 32 + number * frame);
    let ends: BTreeSet<usize> = ends.take_while(|&end| end <= bytes.len()).collect();
    assert!(ends.len() > 10, "{}", bytes.len());
    (scene, log, ends)
}

#[test]
fn a_log_that_is_cut_off_or_spoilt_gives_an_earlier_state_and_never_half_of_one() {
    let (scene, log, ends) = with_a_log();
    scene.reset();
    let whole = fs::read(&log).expect("it reads");
    // The states that there have been: each is what the log gives up to some frame.
    let mut states = Vec::new();
    for &end in &ends {
        scene.reset();
        fs::write(&log, &whole[..end]).expect("it writes");
        let state = State::of(&scene.home.db());
        if states.last() != Some(&state) {
            states.push(state);
        }
    }
    assert_eq!(states.len(), 4, "before, and after each of three changes");
    let mut random = Random::new(seed());
    let mut lengths: Vec<usize> = ends.iter().flat_map(|&end| [end, end + 5]).collect();
    lengths.extend([0, 1, 31]);
    let mut counts = Counts::default();
    for length in chosen(lengths, 14) {
        scene.reset();
        let length = length.min(whole.len());
        fs::write(&log, &whole[..length]).expect("it writes");
        beat_log(
            &scene,
            &states,
            &format!("the log has {length} bytes"),
            &mut counts,
        );
    }
    for round in rounds(10) {
        scene.reset();
        let mut bytes = whole.clone();
        let at = random.below(bytes.len());
        bytes[at] ^= 1 << random.below(8);
        if round % 3 == 0 {
            let end = (at + 4096).min(bytes.len());
            bytes[at..end].fill(0);
        }
        fs::write(&log, bytes).expect("it writes");
        beat_log(
            &scene,
            &states,
            &format!("seed {}: the log is spoilt at {at}", seed()),
            &mut counts,
        );
    }
    told("logs", &counts);
}

fn beat_log(scene: &Scene, states: &[State], told: &str, counts: &mut Counts) {
    let home = &scene.home;
    counts.harmed += 1;
    must_not_lose_the_limit(home, told);
    let run = home.run(&["add", "after it", "three"]);
    must_be_an_answer(&run, &["add"], told);
    counts.runs += 1;
    assert_eq!(run.code, 0, "{told}: {run:?}");
    home.ok(&["undo"]);
    is_sound(&home.db());
    // One of the states that there have been, with nothing of another one.
    let found = State::of(&home.db());
    let fits = states.iter().any(|state| {
        let apart = found.against(state);
        apart.iter().all(|row| row[2..].starts_with("line |"))
    });
    assert!(fits, "{told}: {:#?}", found.against(&states[0]));
    counts.right += 1;
}

/// Zeroes the pages of a table or an index.
fn wipe(home: &Home, name: &str) -> usize {
    let connection = rusqlite::Connection::open(home.db()).expect("the store opens");
    let root: u32 = connection
        .query_row(
            "SELECT rootpage FROM sqlite_schema WHERE name = ?1",
            [name],
            |row| row.get(0),
        )
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    drop(connection);
    checkpoint(home);
    let mut bytes = fs::read(home.db()).expect("it reads");
    let size = page_size(&bytes);
    let at = usize::try_from(root - 1).expect("it is small") * size;
    bytes[at..at + size].fill(0);
    fs::write(home.db(), bytes).expect("it writes");
    at
}

#[test]
fn every_table_and_index_may_be_wiped_and_it_is_told_or_does_no_harm() {
    let scene = at_rest();
    let names: Vec<String> = rusqlite::Connection::open(scene.home.db())
        .and_then(|connection| {
            connection
                .prepare("SELECT name FROM sqlite_schema WHERE rootpage > 0 ORDER BY name")?
                .query_map([], |row| row.get(0))?
                .collect()
        })
        .expect("it reads");
    let mut random = Random::new(seed());
    let mut counts = Counts::default();
    for name in names {
        scene.reset();
        wipe(&scene.home, &name);
        beat(
            &scene.home,
            &format!("{name} is wiped"),
            &mut counts,
            &mut random,
        );
    }
    told("tables wiped", &counts);
}

#[cfg(target_os = "linux")]
mod full {
    use std::io::Write as _;
    use std::path::Path;
    use std::process::Command;

    use super::*;
    use crate::stores::replays_to_the_same_tables;

    /// A disk of its own in place of a home's folder; it needs root.
    struct Disk(PathBuf);

    impl Disk {
        fn over(folder: &Path, size: &str) -> Option<Self> {
            let mounted = Command::new("mount")
                .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
                .arg(folder)
                .output()
                .is_ok_and(|output| output.status.success());
            if !mounted {
                say("full disk", "skipped: a disk of its own needs root");
            }
            mounted.then(|| Disk(folder.to_path_buf()))
        }
    }

    impl Drop for Disk {
        fn drop(&mut self) {
            // Another test may have begun a process here that is not yet another program.
            let _gone = Command::new("umount").arg("-l").arg(&self.0).output();
        }
    }

    #[test]
    fn on_a_disk_without_room_every_command_is_done_or_says_so() {
        let scene = Scene::new(false);
        let (mut done, mut refused) = (0, 0);
        for deed in DEEDS.iter().filter(|deed| !deed.syncs) {
            let states = scene.states(deed);
            // From no room at all to nearly enough.
            for room in chosen((0..12).map(|step| step * step * 3).collect(), 4) {
                scene.reset();
                let place = scene.home.path().join("place");
                fs::create_dir(&place).expect("a folder");
                let Some(disk) = Disk::over(&place, "1500k") else {
                    return;
                };
                super::super::scene::copy(&scene.home.aizo(), &place);
                let store = place.join("preferences.db");
                leave(&place, room * 1024);
                let path = store.display().to_string();
                let mut command = scene.home.command(deed.arguments);
                command.args(["--db", &path]);
                let run = scene.home.feed(&mut command, deed.input.as_bytes());
                let told = format!("{} with {room} KiB: {run:?}", deed.name);
                must_be_an_answer(&run, deed.arguments, &told);
                fs::remove_file(place.join("filler")).expect("it goes");
                is_sound(&store);
                let found = State::of(&store);
                if run.code == 0 {
                    assert_eq!(found, states.1, "{told}: {:#?}", found.against(&states.1));
                    done += 1;
                } else {
                    assert!(
                        run.stderr.contains("space") || run.stderr.contains("full"),
                        "{told}"
                    );
                    assert!(
                        found == states.0 || found == states.1,
                        "{told}: {:#?}",
                        found.against(&states.0)
                    );
                    refused += 1;
                }
                scene
                    .home
                    .ok(&["--db", &path, "add", "there is room", "again"]);
                is_sound(&store);
                drop(disk);
            }
        }
        say("full disk", &format!("{done} done, {refused} refused"));
        assert!(refused > 10, "the disk was full");
    }

    /// Fills a disk up to so many bytes.
    fn leave(place: &Path, room: usize) {
        let mut spare = fs::File::create(place.join("spare")).expect("it is made");
        spare.write_all(&vec![1; room]).expect("there is room");
        let mut filler = fs::File::create(place.join("filler")).expect("it is made");
        while filler.write_all(&[1; 4096]).is_ok() {}
        drop(spare);
        fs::remove_file(place.join("spare")).expect("it goes");
    }

    #[test]
    fn under_a_limit_of_file_sizes_every_command_is_done_or_says_so() {
        let scene = Scene::new(false);
        let length = fs::metadata(scene.home.db()).expect("it is there").len();
        let (mut done, mut refused) = (0, 0);
        for deed in DEEDS.iter().filter(|deed| !deed.syncs) {
            let states = scene.states(deed);
            for blocks in chosen(vec![1, 8, 40, length / 1024 - 4, length / 1024 + 8], 3) {
                scene.reset();
                // bash counts in 1,024 bytes.
                let script = format!("ulimit -f {blocks}; trap '' XFSZ; exec \"$@\"");
                let model = scene.command(deed);
                let mut command = Command::new("bash");
                command
                    .args(["-c", &script, "bash"])
                    .arg(model.get_program())
                    .args(model.get_args())
                    .current_dir(scene.home.path())
                    .env_clear();
                for (name, value) in model.get_envs() {
                    if let Some(value) = value {
                        command.env(name, value);
                    }
                }
                let run = scene.home.feed(&mut command, deed.input.as_bytes());
                let told = format!("{} with {blocks} KiB: {run:?}", deed.name);
                must_be_an_answer(&run, deed.arguments, &told);
                is_sound(&scene.home.db());
                let found = State::of(&scene.home.db());
                if run.code == 0 {
                    assert_eq!(found, states.1, "{told}: {:#?}", found.against(&states.1));
                    done += 1;
                } else {
                    assert!(
                        found == states.0 || found == states.1,
                        "{told}: {:#?}",
                        found.against(&states.0)
                    );
                    refused += 1;
                }
            }
            replays_to_the_same_tables(&scene.home);
        }
        say("file sizes", &format!("{done} done, {refused} refused"));
        assert!(refused > 10, "the limit was felt");
    }
}
