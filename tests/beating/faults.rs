//! Faults under the store: every call that writes, syncs, renames or removes fails once, and whatever command made it ends
//! with the old state or the new one, and says what happened.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::scene::{DEEDS, Deed, Scene, State, files, is_sound, leftovers};
use super::shim::{EIO, ENOSPC, How, Shimmed};
use super::{chosen, minutes, say};
use crate::common::{Home, Run};
use crate::stores::replays_to_the_same_tables;

/// What is counted over all commands.
#[derive(Default)]
struct Counts {
    injected: usize,
    old: usize,
    new: usize,
    /// Nothing that mattered.
    unharmed: usize,
    /// Commands that were done, and said that something failed.
    done_and_failed: BTreeMap<String, usize>,
}

/// A run that ended by itself, and what it must have said.
fn must_be_clear(run: &Run, told: &str, home: &Home) {
    assert!(!run.stderr.contains("panicked"), "{told}: {run:?}");
    assert!(matches!(run.code, 0..=2), "{told}: {run:?}");
    if run.code == 0 {
        return;
    }
    // doctor tells what it found as its answer.
    let lines = run.stderr.lines().chain(run.stdout.lines());
    let error = lines.into_iter().find(|line| line.starts_with("error: "));
    let error = error.unwrap_or_else(|| panic!("{told}: no error is told: {run:?}"));
    let place = home.path().display().to_string();
    assert!(
        error.contains(&place) || error.contains("git"),
        "{told}: it is not said what failed: {run:?}"
    );
}

/// Whatever happened before: the store is whole, holds the one state or the other, can be read and written, and nothing is
/// left behind once somebody has written.
fn must_go_on(home: &Home, states: &(State, State), told: &str) -> bool {
    is_sound(&home.db());
    let found = State::of(&home.db());
    let (before, after) = states;
    assert!(
        found == *before || found == *after,
        "{told}: neither the old state nor the new one\nagainst the old: {:#?}\nagainst the new: {:#?}",
        found.against(before),
        found.against(after)
    );
    let run = home.run(&["backup"]);
    assert_eq!(run.code, 0, "{told}: {run:?}");
    assert_eq!(leftovers(home), [] as [std::path::PathBuf; 0], "{told}");
    for file in files(&home.path().join("files")) {
        if has_ending(&file, "db") {
            is_sound(&file);
        }
    }
    found == *after && before != after
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|one| one == ending)
}

fn inject(scene: &Scene, shimmed: &Shimmed<'_>, deed: &Deed, most: usize, counts: &mut Counts) {
    let states = scene.states(deed);
    scene.reset();
    let run = shimmed.run(scene, deed, 0, How::Error(EIO));
    assert_eq!(run.code, 0, "{}: {run:?}", deed.name);
    let calls = shimmed.calls();
    assert!(!calls.is_empty(), "{}", deed.name);
    let numbered: Vec<(usize, String)> = calls.into_iter().enumerate().collect();
    let ways = [
        How::Error(EIO),
        How::Dead(ENOSPC),
        How::Short(ENOSPC),
        How::Dead(EIO),
    ];
    for (index, (place, call)) in chosen(numbered, most).into_iter().enumerate() {
        // In a short run each place fails in one way, and each way comes about.
        let ways = match minutes() {
            Some(_) => &ways[..],
            None => &ways[index % ways.len()..][..1],
        };
        for &how in ways {
            let told = format!("{}: call {}: {call}: {how:?}", deed.name, place + 1);
            scene.reset();
            let run = shimmed.run(scene, deed, place + 1, how);
            counts.injected += 1;
            must_be_clear(&run, &told, &scene.home);
            let is_new = must_go_on(&scene.home, &states, &told);
            match (run.code, is_new) {
                (0, _) => {
                    assert!(
                        is_new || states.0 == states.1,
                        "{told}: it is said to be done and is not: {run:?}"
                    );
                    counts.unharmed += 1;
                }
                (_, true) => {
                    counts.new += 1;
                    let name = call.split(' ').next().unwrap_or_default();
                    let seen = format!("{} at {name}", deed.name);
                    *counts.done_and_failed.entry(seen).or_default() += 1;
                }
                (_, false) => counts.old += 1,
            }
            if index % 5 == 0 {
                replays_to_the_same_tables(&scene.home);
            }
        }
    }
}

fn inject_all(syncs: bool, most: usize) {
    let Some(shimmed) = Shimmed::new() else {
        return;
    };
    let scene = Scene::new(syncs);
    let mut counts = Counts::default();
    for deed in DEEDS.iter().filter(|deed| deed.syncs == syncs) {
        inject(&scene, &shimmed, deed, most, &mut counts);
    }
    say(
        "faults",
        &format!(
            "{} injected; {} left the old state, {} the new one, {} did no harm; done all the same: {:?}",
            counts.injected, counts.old, counts.new, counts.unharmed, counts.done_and_failed
        ),
    );
    assert!(counts.old > counts.injected / 4, "faults show");
}

#[test]
fn a_fault_of_the_disk_leaves_the_old_state_or_the_new_one_and_is_told() {
    inject_all(false, 6);
}

#[test]
fn a_fault_of_the_disk_during_a_sync_leaves_the_old_state_or_the_new_one_and_is_told() {
    inject_all(true, 5);
}

/// Makes of a home what a power cut leaves: of each file what was synced last, and nothing of what never was.
fn cut_the_power(home: &Home, synced: &Path, before: &BTreeMap<u64, Vec<u8>>) {
    for file in files(&home.aizo()) {
        let number = fs::metadata(&file).expect("it is there").ino();
        let kept = synced.join(number.to_string());
        let bytes = if kept.exists() {
            fs::read(kept).expect("it reads")
        } else {
            before.get(&number).cloned().unwrap_or_default()
        };
        if file.to_string_lossy().ends_with("-shm") {
            fs::remove_file(&file).expect("it goes");
        } else {
            fs::write(&file, bytes).expect("it writes");
        }
    }
}

#[test]
fn what_was_acknowledged_survives_a_power_cut() {
    let Some(shimmed) = Shimmed::new() else {
        return;
    };
    let scene = Scene::new(false);
    let mut cuts = 0;
    for deed in DEEDS.iter().filter(|deed| !deed.syncs) {
        let (_, after) = scene.states(deed);
        scene.reset();
        let before = files(&scene.home.aizo())
            .into_iter()
            .map(|file| {
                let number = fs::metadata(&file).expect("it is there").ino();
                (number, fs::read(&file).expect("it reads"))
            })
            .collect();
        let run = shimmed.run_and_keep(&scene, deed);
        assert_eq!(run.code, 0, "{}: {run:?}", deed.name);
        cut_the_power(&scene.home, &shimmed.synced(), &before);
        cuts += 1;
        is_sound(&scene.home.db());
        let found = State::of(&scene.home.db());
        assert_eq!(found, after, "{}: {:#?}", deed.name, found.against(&after));
        let copies = files(&scene.home.aizo().join("backups"));
        for copy in copies.iter().filter(|copy| has_ending(copy, "bak")) {
            is_sound(copy);
        }
    }
    // The first write of all makes the file.
    let home = Home::new();
    let synced = shimmed.synced();
    let _none_is_fine = fs::remove_dir_all(&synced);
    fs::create_dir(&synced).expect("a folder");
    let mut command = home.command(&["add", "first", "of all", "--score", "0"]);
    shimmed
        .under(&mut command, &home)
        .env("SHIM_SYNCED", &synced);
    assert_eq!(Run::of(command.output()).code, 0);
    cut_the_power(&home, &synced, &BTreeMap::new());
    assert!(home.ok(&["show"]).contains("first"));
    replays_to_the_same_tables(&home);
    say("power", &format!("{} cuts survived", cuts + 1));
}
