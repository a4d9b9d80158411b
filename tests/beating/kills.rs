//! Kills: at every call that changes a file, and at any moment. The old state or the new one is there, nothing is locked, and
//! what was left lying about is cleared away by the next run.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::random::{Random, seed};
use super::scene::{DEEDS, Deed, Scene, State, is_sound, leftovers};
use super::{rounds, say};
use crate::stores::replays_to_the_same_tables;

/// What must hold after a kill; whether the command was done.
fn must_have_survived(scene: &Scene, states: &(State, State), told: &str) -> bool {
    let home = &scene.home;
    is_sound(&home.db());
    let found = State::of(&home.db());
    let (before, after) = states;
    assert!(
        found == *before || found == *after,
        "{told}: neither the old state nor the new one\nagainst the old: {:#?}\nagainst the new: {:#?}",
        found.against(before),
        found.against(after)
    );
    // Nothing is locked, however short the patience.
    let mut next = home.command(&["add", "the next", "of somebody else"]);
    let run = crate::common::Run::of(next.env("AIZO_LOCK_TIMEOUT_MS", "200").output());
    assert_eq!(run.code, 0, "{told}: {run:?}");
    let run = home.run(&["backup"]);
    assert_eq!(run.code, 0, "{told}: {run:?}");
    assert_eq!(leftovers(home), [] as [PathBuf; 0], "{told}");
    replays_to_the_same_tables(home);
    found == *after
}

/// What git has a part in, and was killed halfway, can be said again, and is done then.
fn can_be_said_again(scene: &Scene, deed: &Deed, told: &str) {
    if deed.name.starts_with("sync") {
        let run = scene.run(deed);
        assert_eq!(run.code, 0, "{told}: said again: {run:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_kill_at_any_call_leaves_the_old_state_or_the_new_one() {
    use super::chosen;
    use super::shim::{How, Shimmed};
    let Some(shimmed) = Shimmed::new() else {
        return;
    };
    let mut killed: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for syncs in [false, true] {
        let scene = Scene::new(syncs);
        for deed in DEEDS.iter().filter(|deed| deed.syncs == syncs) {
            let states = scene.states(deed);
            scene.reset();
            let run = shimmed.run(&scene, deed, 0, How::Kill);
            assert_eq!(run.code, 0, "{}: {run:?}", deed.name);
            let calls: Vec<(usize, String)> = shimmed.calls().into_iter().enumerate().collect();
            for (place, call) in chosen(calls, if syncs { 3 } else { 4 }) {
                let is_write = call.starts_with("write") || call.starts_with("pwrite");
                let how = if is_write { How::Torn } else { How::Kill };
                let told = format!("{}: call {}: {call}: {how:?}", deed.name, place + 1);
                scene.reset();
                let run = shimmed.run(&scene, deed, place + 1, how);
                assert_eq!(run.code, -1, "{told}: {run:?}");
                let is_new = must_have_survived(&scene, &states, &told);
                can_be_said_again(&scene, deed, &told);
                let counts = killed.entry(deed.name).or_default();
                counts.0 += 1;
                counts.1 += usize::from(is_new);
            }
        }
    }
    let all: usize = killed.values().map(|counts| counts.0).sum();
    let done: usize = killed.values().map(|counts| counts.1).sum();
    say(
        "kills at calls",
        &format!("{all} survived, {done} of them after it was done"),
    );
}

#[test]
fn a_kill_at_any_moment_leaves_the_old_state_or_the_new_one() {
    let seed = seed();
    let mut random = Random::new(seed);
    let scenes = [Scene::new(false), Scene::new(true)];
    let mut known: BTreeMap<&str, ((State, State), Duration)> = BTreeMap::new();
    let (mut survived, mut done) = (0, 0);
    for round in rounds(52) {
        let deed = match usize::try_from(round) {
            Ok(place) if place < DEEDS.len() => &DEEDS[place],
            _ => random.one_of(DEEDS),
        };
        let scene = &scenes[usize::from(deed.syncs)];
        let (states, takes) = known.entry(deed.name).or_insert_with(|| {
            let begun = Instant::now();
            let states = scene.states(deed);
            (states, begun.elapsed())
        });
        scene.reset();
        let mut child = scene
            .command(deed)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        let mut pipe = child.stdin.take().expect("stdin is piped");
        std::io::Write::write_all(&mut pipe, deed.input.as_bytes()).expect("the pipe has room");
        drop(pipe);
        let share = u32::try_from(random.below(1000)).expect("it is small");
        std::thread::sleep(*takes * share / 1000);
        child.kill().expect("it may be gone already, which is fine");
        let ended = child.wait().expect("it ends");
        let told = format!(
            "seed {seed}, round {round}: {} after {share}/1000",
            deed.name
        );
        let is_new = must_have_survived(scene, states, &told);
        can_be_said_again(scene, deed, &told);
        survived += usize::from(!ended.success());
        done += usize::from(is_new);
    }
    say(
        "kills at moments",
        &format!("{survived} survived, {done} of all were done (seed {seed})"),
    );
}
