//! Makes `src/recall/table/sketch.map`: learns along which directions sketches tell entries apart for a task.
//!
//!     cargo bench --bench sketch_map                # learns, and says how the result differs from what is shipped
//!     cargo bench --bench sketch_map -- --write     # puts it into its place; then run the bench `prefilter`
//!
//! What it learns from is in `practice.rs`. With Q the second moments of turned tasks and E the covariance of entries, the
//! product of the two varies most along the foremost eigenvectors of √Q·E·√Q; these, taken back to the space of entries
//! and made orthogonal one after the other, are the directions. Raise the recipe in `src/storage/index.rs` with the map.

#![allow(clippy::print_stdout, missing_docs)]

#[allow(dead_code, reason = "which task calls for what is of no matter here")]
mod practice;

use std::path::Path;

use aizo::recall::meaning::{DIMENSIONS, Vector};
use aizo::recall::sketch::{LARGEST, ROWS, Row, to_bytes};
use aizo::recall::{entry_vector, task_map, task_vector};

/// Entries made of an item, the reason of another and the item of a third, beside those that are written.
const MIXED: usize = 8_000;
/// Rounds of Jacobi's method.
const SWEEPS: usize = 12;

type Square = Vec<Vec<f64>>;

/// SplitMix64 (Steele, Lea and Flood, 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        usize::try_from(z % bound as u64).expect("below the bound")
    }
}

fn entries(practice: &practice::Practice) -> Vec<Vector> {
    let all = &practice.preferences;
    let plain = all
        .iter()
        .filter_map(|one| entry_vector(&one.item, &one.reason, &one.keywords));
    let mut chance = Random(1);
    let mixed = (0..MIXED).filter_map(|_| {
        let [item, reason, keyword] = [(); 3].map(|()| &all[chance.below(all.len())]);
        entry_vector(
            &item.item,
            &reason.reason,
            std::slice::from_ref(&keyword.item),
        )
    });
    plain.chain(mixed).collect()
}

/// The mean of the products of every two components.
fn moments(vectors: &[Vector], around: &[f64]) -> Square {
    let mut sums = vec![vec![0.0; DIMENSIONS]; DIMENSIONS];
    for vector in vectors {
        let parts: Vec<f64> = (vector.components().iter().zip(around))
            .map(|(x, middle)| f64::from(*x) - middle)
            .collect();
        for (sums, x) in sums.iter_mut().zip(&parts) {
            for (sum, y) in sums.iter_mut().zip(&parts) {
                *sum += x * y / vectors.len() as f64;
            }
        }
    }
    sums
}

/// Eigenvalues and eigenvectors of a symmetric matrix, the largest first, by Jacobi's method.
fn eigen(mut matrix: Square) -> Vec<(f64, Vec<f64>)> {
    let size = matrix.len();
    let mut vectors = vec![vec![0.0; size]; size];
    for (index, row) in vectors.iter_mut().enumerate() {
        row[index] = 1.0;
    }
    for _ in 0..SWEEPS {
        for p in 0..size {
            for q in p + 1..size {
                if matrix[p][q].abs() < 1e-15 {
                    continue;
                }
                let theta = (matrix[q][q] - matrix[p][p]) / (2.0 * matrix[p][q]);
                let tangent = 1.0_f64.copysign(theta) / (theta.abs() + theta.hypot(1.0));
                let cosine = 1.0 / tangent.hypot(1.0);
                let sine = tangent * cosine;
                for rows in [&mut matrix, &mut vectors] {
                    for row in rows.iter_mut() {
                        let (x, y) = (row[p], row[q]);
                        row[p] = cosine * x - sine * y;
                        row[q] = sine * x + cosine * y;
                    }
                }
                let (above, below) = matrix.split_at_mut(q);
                for (x, y) in above[p].iter_mut().zip(&mut below[0]) {
                    (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
                }
            }
        }
    }
    let mut found: Vec<(f64, Vec<f64>)> = (0..size)
        .map(|index| {
            (
                matrix[index][index],
                vectors.iter().map(|row| row[index]).collect(),
            )
        })
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found
}

fn product(a: &Square, b: &Square) -> Square {
    let mut result = vec![vec![0.0; DIMENSIONS]; DIMENSIONS];
    for (result, a) in result.iter_mut().zip(a) {
        for (x, b) in a.iter().zip(b) {
            for (sum, y) in result.iter_mut().zip(b) {
                *sum += x * y;
            }
        }
    }
    result
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The square root of a symmetric matrix.
fn root(matrix: Square) -> Square {
    let mut result = vec![vec![0.0; DIMENSIONS]; DIMENSIONS];
    for (value, vector) in eigen(matrix) {
        for (row, x) in result.iter_mut().zip(&vector) {
            for (sum, y) in row.iter_mut().zip(&vector) {
                *sum += value.max(0.0).sqrt() * x * y;
            }
        }
    }
    result
}

/// The directions, the foremost first.
fn directions(entries: &Square, tasks: &Square) -> Square {
    let root = root(tasks.clone());
    let middle = product(&product(&root, entries), &root);
    let mut found: Square = Vec::new();
    for (_, vector) in eigen(middle) {
        let mut direction: Vec<f64> = root.iter().map(|row| dot(row, &vector)).collect();
        // Twice, against what rounding leaves over.
        for other in found.iter().chain(&found) {
            let along = dot(&direction, other);
            for (x, y) in direction.iter_mut().zip(other) {
                *x -= along * y;
            }
        }
        let length = dot(&direction, &direction).sqrt();
        found.push(direction.iter().map(|x| x / length).collect());
    }
    let varies = |direction: &Vec<f64>| -> f64 {
        [entries, tasks]
            .map(|moments| {
                moments
                    .iter()
                    .zip(direction)
                    .map(|(row, x)| x * dot(row, direction))
                    .sum::<f64>()
            })
            .iter()
            .product()
    };
    found.sort_by(|a, b| varies(b).total_cmp(&varies(a)));
    found.truncate(ROWS);
    found
}

/// A direction as it is kept, with what entries have along it.
fn row(direction: &[f64], entries: &[Vector]) -> Row {
    let largest = direction.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let unit = largest / f64::from(LARGEST);
    let mut row = Row {
        middle: 0.0,
        spread: 1.0,
        weight: 1.0,
        codes: [0; DIMENSIONS],
    };
    for (code, x) in row.codes.iter_mut().zip(direction) {
        *code = (x / unit).round() as i8;
    }
    let along: Vec<f64> = entries
        .iter()
        .map(|vector| f64::from(row.of(vector)))
        .collect();
    let middle = along.iter().sum::<f64>() / along.len() as f64;
    let spread =
        (along.iter().map(|x| (x - middle).powi(2)).sum::<f64>() / along.len() as f64).sqrt();
    row.middle = middle as f32;
    row.spread = spread as f32;
    row.weight = (spread * unit * unit) as f32;
    row
}

fn main() {
    let practice = practice::practice();
    let entries = entries(&practice);
    let tasks: Vec<Vector> = practice
        .tasks
        .iter()
        .filter_map(|task| task_vector(&task.text))
        .map(|task| task_map::turn(&task))
        .collect();
    println!(
        "learned from {} entries and {} tasks",
        entries.len(),
        tasks.len()
    );
    let mut middle = vec![0.0; DIMENSIONS];
    for vector in &entries {
        for (sum, x) in middle.iter_mut().zip(vector.components()) {
            *sum += f64::from(x) / entries.len() as f64;
        }
    }
    let of_entries = moments(&entries, &middle);
    let of_tasks = moments(&tasks, &[0.0; DIMENSIONS]);
    let rows: Vec<Row> = directions(&of_entries, &of_tasks)
        .iter()
        .map(|direction| row(direction, &entries))
        .collect();
    let bytes = to_bytes(&rows);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/recall/table/sketch.map");
    let shipped = std::fs::read(&path).expect("the shipped map can be read");
    let differing = bytes.iter().zip(&shipped).filter(|(a, b)| a != b).count();
    println!(
        "{differing} of {} bytes differ from what is shipped",
        bytes.len()
    );
    if std::env::args().any(|argument| argument == "--write") {
        std::fs::write(&path, bytes).expect("the map can be written");
    }
}
