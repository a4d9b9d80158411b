//! How much the sketches of vectors lose: of the ten entries nearest to a task, how many are among those that the
//! sketches let through. Run: `cargo bench --bench prefilter`.

#![allow(clippy::print_stdout, missing_docs)]

use std::path::Path;

use aizo::recall::meaning::Vector;
use aizo::recall::sketch::{Sieve, sketch};
use aizo::recall::{entry_vector, task_map, task_vector};
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
        .filter_map(|task| task_vector(task))
        .map(|task| task_map::turn(&task))
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
        let sketches: Vec<u8> = vectors.iter().flat_map(sketch).collect();
        let mut kept = 0;
        for task in &tasks {
            let mut exact: Vec<(f32, i64)> = (0..)
                .zip(&vectors)
                .map(|(index, vector)| (task.cosine(vector), index))
                .collect();
            exact.select_nth_unstable_by(10, |a, b| b.0.total_cmp(&a.0));
            let mut sieve = Sieve::new(task);
            sieve.look(0, &sketches, |_| true);
            let through = sieve.ids();
            kept += exact[..10]
                .iter()
                .filter(|(_, index)| through.binary_search(index).is_ok())
                .count();
        }
        println!(
            "| {size} | {} | {:.4} |",
            Sieve::KEEPS,
            kept as f64 / (tasks.len() * 10) as f64
        );
    }
}
