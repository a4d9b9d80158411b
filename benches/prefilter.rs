//! How much the sketches of vectors lose: of the ten entries nearest to a task, how many are among those that the
//! sketches let through. Run: `cargo bench --bench prefilter`.

#![allow(clippy::print_stdout, missing_docs)]

use std::path::Path;

use aizo::recall::entry_vector;
use aizo::recall::meaning::{SIGN_BYTES, SignScorer, Vector, embed};
use aizo::storage::BY_SKETCH;
use serde_json::Value;

const TASKS: usize = 200;

fn texts(name: &str, field: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/recall/apart")
        .join(name);
    std::fs::read_to_string(path)
        .expect("the set is in the repository")
        .lines()
        .filter_map(|line| {
            let value: Value = serde_json::from_str(line).expect("every line is JSON");
            Some(value[field].as_str()?.to_owned())
        })
        .collect()
}

fn main() {
    let items = texts("preferences.jsonl", "item");
    let reasons = texts("preferences.jsonl", "reason");
    let tasks: Vec<Vector> = texts("queries.jsonl", "task")
        .iter()
        .filter_map(|task| embed(task))
        .take(TASKS)
        .collect();
    println!("| entries | let through | recall@10 |");
    println!("|---:|---:|---:|");
    for size in [25_000, 100_000, 1_000_000] {
        // Every pair of an item and the reason of another one: as many different texts as are needed.
        let vectors: Vec<Vector> = (0..size)
            .filter_map(|index| {
                let item = &items[index % items.len()];
                let reason = &reasons[(index / items.len()) % reasons.len()];
                let twist = &items[(index * 7 + index / 1000) % items.len()];
                entry_vector(item, reason, std::slice::from_ref(twist))
            })
            .collect();
        let sketches: Vec<[u8; SIGN_BYTES]> = vectors.iter().map(Vector::signs).collect();
        let mut kept = 0;
        for task in &tasks {
            let mut exact: Vec<(f32, usize)> = vectors
                .iter()
                .enumerate()
                .map(|(index, vector)| (task.cosine(vector), index))
                .collect();
            exact.select_nth_unstable_by(10, |a, b| b.0.total_cmp(&a.0));
            let scorer = SignScorer::new(task);
            let mut near: Vec<(usize, usize)> = sketches
                .iter()
                .enumerate()
                .map(|(index, stored)| (scorer.rank(stored), index))
                .collect();
            near.select_nth_unstable(BY_SKETCH);
            let through: std::collections::HashSet<usize> =
                near[..BY_SKETCH].iter().map(|(_, index)| *index).collect();
            kept += exact[..10]
                .iter()
                .filter(|(_, index)| through.contains(index))
                .count();
        }
        println!(
            "| {size} | {BY_SKETCH} | {:.4} |",
            kept as f64 / (tasks.len() * 10) as f64
        );
    }
}
