//! Many processes on one store, which read and write whatever comes: nothing that was acknowledged is lost, nobody sees half a
//! change, and nobody hears of anything worse than a lock.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::random::{Random, seed};
use super::scene::is_sound;
use super::{minutes, say};
use crate::common::{Home, Run};
use crate::stores::replays_to_the_same_tables;

const MANY: usize = 64;

const READS: &[&[&str]] = &[
    &["show", "--json"],
    &["recall", "code", "--json"],
    &["context"],
    &["top", "3", "--json"],
    &["history", "--json"],
    &["why", "the limit"],
    &["check", "--command", "git status"],
];

/// What one process after the other has done, on its own entries.
struct Worker {
    number: usize,
    random: Random,
    /// Its entries, and the score of each as it was acknowledged last; none where it was removed.
    scores: BTreeMap<String, Option<f64>>,
}

impl Worker {
    /// A write, and what it leaves of one entry.
    fn next(&mut self) -> (Vec<String>, String, Option<f64>) {
        let item = format!("item {} {}", self.number, self.random.below(4));
        let number = u8::try_from(self.random.below(8)).expect("it is small");
        let score = 2.0 + f64::from(number);
        let known = self.scores.get(&item).copied().flatten();
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        match (known, self.random.below(3)) {
            (None, _) => (
                words(&["add", &item, "because", "--score", &score.to_string()]),
                item,
                Some(score),
            ),
            (Some(_), 0) => (words(&["remove", &item]), item, None),
            (Some(_), _) => (
                words(&["update", &item, "--score", &score.to_string()]),
                item,
                Some(score),
            ),
        }
    }
}

fn must_be_fine_or_locked(run: &Run, what: &str) -> bool {
    if run.code == 0 {
        return true;
    }
    assert_eq!(run.code, 1, "{what}: {run:?}");
    assert!(
        run.stderr.contains("is locked by another process"),
        "{what}: {run:?}"
    );
    false
}

#[test]
fn many_processes_at_once_lose_nothing_and_hear_of_nothing_but_locks() {
    let time = minutes().map_or(Duration::from_secs(4), |minutes| {
        Duration::from_secs(60 * minutes)
    });
    let home = Home::new();
    home.ok(&["add", "the limit", "of all", "--score", "0"]);
    let end = Instant::now() + time;
    let [reads, writes, locked] = [(); 3].map(|()| AtomicUsize::new(0));
    let seed = seed();
    let workers: Vec<Worker> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..MANY)
            .map(|number| {
                let (home, reads, writes, locked) = (&home, &reads, &writes, &locked);
                scope.spawn(move || {
                    let mut worker = Worker {
                        number,
                        random: Random::new(seed + u64::try_from(number).expect("it is small")),
                        scores: BTreeMap::new(),
                    };
                    let mut is_first = true;
                    while is_first || Instant::now() < end {
                        is_first = false;
                        let read = worker.random.one_of(READS);
                        let run = home.run(read);
                        must_be_fine_or_locked(&run, read[0]);
                        if *read == READS[0] {
                            // A limit that was there is there for everybody.
                            let all: Vec<Value> =
                                serde_json::from_str(&run.stdout).expect("a list");
                            assert!(all.iter().any(|one| one["item"] == "the limit"), "{run:?}");
                        }
                        reads.fetch_add(1, Ordering::Relaxed);
                        let (arguments, item, score) = worker.next();
                        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
                        if must_be_fine_or_locked(&home.run(&words), &arguments.join(" ")) {
                            worker.scores.insert(item, score);
                            writes.fetch_add(1, Ordering::Relaxed);
                        } else {
                            locked.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                    worker
                })
            })
            .collect();
        let ended = threads
            .into_iter()
            .map(|thread| thread.join().expect("no thread panics"));
        ended.collect()
    });
    is_sound(&home.db());
    let entries: Vec<Value> = home.json(&["show"]);
    let stored: BTreeMap<&str, Option<f64>> = entries
        .iter()
        .filter_map(|entry| Some((entry["item"].as_str()?, entry["base_score"].as_f64())))
        .collect();
    for worker in &workers {
        for (item, score) in &worker.scores {
            let found = stored.get(item.as_str()).copied().flatten();
            assert_eq!(found, *score, "{item} (seed {seed})");
        }
    }
    replays_to_the_same_tables(&home);
    let [reads, writes, locked] = [reads, writes, locked].map(AtomicUsize::into_inner);
    say(
        "many",
        &format!(
            "{MANY} at once: {reads} reads, {writes} writes, {locked} told of a lock (seed {seed})"
        ),
    );
    assert!(writes >= MANY, "most writes get their turn");
}
