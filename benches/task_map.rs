//! Makes `src/recall/table/task.map`: learns from pairs of tasks and preferences how to turn a task's vector towards the
//! preferences that bear on it.
//!
//!     cargo bench --bench task_map                # learns, and says how the result differs from what is shipped
//!     cargo bench --bench task_map -- --write     # puts it into its place; then run the scorecard
//!
//! What it learns from is in `practice.rs`. The loss is a contrastive one over the preferences of other tasks (van den Oord et al.,
//! "Representation Learning with Contrastive Predictive Coding", 2018) plus a logistic one around a fixed cosine, so that
//! a cosine means the same for every task; minimised with Adam (Kingma and Ba, 2015). The random numbers are seeded: the
//! same data give the same map on the same machine.

#![allow(clippy::print_stdout, missing_docs)]

mod practice;

use std::collections::BTreeSet;
use std::path::Path;

use aizo::recall::meaning::DIMENSIONS;
use aizo::recall::{Script, entry_vector, task_map, task_vector};

type Point = [f32; DIMENSIONS];

/// Rounds over all tasks, tasks at a time, and further preferences that each of these is held against.
const ROUNDS: usize = 15;
const BATCH: usize = 128;
const OTHERS: usize = 300;
/// Of the contrastive loss; of Adam; and how strongly the map is kept small.
const TEMPERATURE: f32 = 0.2;
const RATE: f32 = 2e-3;
const DECAY: f32 = 2e-2;
/// The logistic loss: its weight, where it turns and how steeply, and the weight of what must stay below.
const CALIBRATION: f32 = 3.0;
const TURNS_AT: f32 = 0.25;
const WITHIN: f32 = 0.08;
const BELOW: f32 = 3.0;
/// What counts more than once: tasks in another script than the preference, and tasks that call for nothing.
const ACROSS_SCRIPTS: f32 = 1.5;
const IDLE: f32 = 5.0;

/// What is learned from.
#[derive(Default)]
struct Practice {
    tasks: Vec<Point>,
    weights: Vec<f32>,
    preferences: Vec<Point>,
    /// For each task the preferences that it calls for.
    called: Vec<Vec<usize>>,
}

/// The vectors of everything that is learned from.
fn vectors() -> Practice {
    let texts = practice::practice();
    let mut practice = Practice::default();
    for preference in &texts.preferences {
        let vector = entry_vector(&preference.item, &preference.reason, &preference.keywords);
        practice
            .preferences
            .push(vector.map_or([0.0; DIMENSIONS], |vector| vector.components()));
    }
    for task in texts.tasks {
        let Some(vector) = task_vector(&task.text) else {
            continue;
        };
        let script = Script::of(&task.text);
        let is_same = |&place: &usize| {
            let preference = &texts.preferences[place];
            Script::of(&format!("{} {}", preference.item, preference.reason)) == script
        };
        let weight = if task.is_idle {
            IDLE
        } else if task.called.is_empty() || task.called.iter().any(is_same) {
            1.0
        } else {
            ACROSS_SCRIPTS
        };
        practice.tasks.push(vector.components());
        practice.weights.push(weight);
        practice.called.push(task.called);
    }
    practice
}

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

fn dot(a: &Point, b: &Point) -> f32 {
    let mut lanes = [0f32; 8];
    for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        for lane in 0..8 {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    lanes.iter().sum()
}

fn add(sum: &mut Point, times: f32, of: &Point) {
    for (sum, x) in sum.iter_mut().zip(of) {
        *sum += times * x;
    }
}

/// The map, and what Adam remembers of each of its numbers.
struct Learner {
    map: Box<[Point; task_map::ROWS]>,
    mean: Box<[Point; task_map::ROWS]>,
    spread: Box<[Point; task_map::ROWS]>,
    step: i32,
}

impl Learner {
    fn new() -> Self {
        let zero = || Box::new([[0.0; DIMENSIONS]; task_map::ROWS]);
        Learner {
            map: zero(),
            mean: zero(),
            spread: zero(),
            step: 0,
        }
    }

    /// The turned task before it is brought to length 1.
    fn turn(&self, task: &Point) -> Point {
        let mut turned = *task;
        for (row, &input) in self.map.iter().zip(task) {
            add(&mut turned, input, row);
        }
        add(&mut turned, task_map::CONSTANT, &self.map[DIMENSIONS]);
        turned
    }

    /// One step of Adam, its rate falling to nothing at the end.
    fn learn(&mut self, gradient: &[Point; task_map::ROWS], left: f32) {
        self.step += 1;
        let (first, second) = (1.0 - 0.9f32.powi(self.step), 1.0 - 0.999f32.powi(self.step));
        let map = self.map.iter_mut().flatten();
        let mean = self.mean.iter_mut().flatten();
        let spread = self.spread.iter_mut().flatten();
        let gradient = gradient.iter().flatten();
        for (((weight, mean), spread), g) in map.zip(mean).zip(spread).zip(gradient) {
            let g = g + DECAY * *weight;
            *mean = 0.9 * *mean + 0.1 * g;
            *spread = 0.999 * *spread + 0.001 * g * g;
            *weight -= RATE * left * (*mean / first) / ((*spread / second).sqrt() + 1e-8);
        }
    }

    /// What a batch of tasks would have the map be, against these preferences.
    fn gradient(
        &self,
        practice: &Practice,
        batch: &[usize],
        against: &[usize],
    ) -> Box<[Point; task_map::ROWS]> {
        let mut gradient = Box::new([[0.0; DIMENSIONS]; task_map::ROWS]);
        for &index in batch {
            let task = &practice.tasks[index];
            let mut turned = self.turn(task);
            let length = dot(&turned, &turned).sqrt().max(1e-6);
            turned.iter_mut().for_each(|x| *x /= length);
            let cosines: Vec<f32> = against
                .iter()
                .map(|&other| dot(&turned, &practice.preferences[other]))
                .collect();
            let called: Vec<bool> = against
                .iter()
                .map(|other| practice.called[index].contains(other))
                .collect();
            let pulls = pulls(&cosines, &called);
            let scale = practice.weights[index] / batch.len() as f32;
            let mut wanted = [0.0; DIMENSIONS];
            for (&pull, &other) in pulls.iter().zip(against) {
                add(&mut wanted, pull * scale, &practice.preferences[other]);
            }
            // Of a vector at length 1 only what is across it counts.
            let along = dot(&wanted, &turned);
            add(&mut wanted, -along, &turned);
            wanted.iter_mut().for_each(|x| *x /= length);
            for (row, &input) in gradient.iter_mut().zip(task) {
                add(row, input, &wanted);
            }
            add(&mut gradient[DIMENSIONS], task_map::CONSTANT, &wanted);
        }
        gradient
    }
}

/// The derivative of the loss by each cosine.
fn pulls(cosines: &[f32], called: &[bool]) -> Vec<f32> {
    let calls = called.iter().filter(|&&is| is).count() as f32;
    let most = cosines.iter().copied().fold(f32::MIN, f32::max);
    let shares: Vec<f32> = cosines
        .iter()
        .map(|cosine| ((cosine - most) / TEMPERATURE).exp())
        .collect();
    let total: f32 = shares.iter().sum();
    let over: Vec<f32> = cosines
        .iter()
        .map(|cosine| 1.0 / (1.0 + (-(cosine - TURNS_AT) / WITHIN).exp()))
        .collect();
    let over_total: f32 = over
        .iter()
        .zip(called)
        .filter(|(_, is_called)| !**is_called)
        .map(|(over, _)| over)
        .sum::<f32>()
        .max(1e-9);
    (0..cosines.len())
        .map(|k| {
            let wanted = if called[k] { 1.0 / calls } else { 0.0 };
            let contrastive = if calls > 0.0 {
                (shares[k] / total - wanted) / TEMPERATURE
            } else {
                0.0
            };
            let (weight, target) = if called[k] {
                (1.0 / calls, 1.0)
            } else {
                (BELOW * over[k] / over_total, 0.0)
            };
            contrastive + CALIBRATION * weight * (over[k] - target) / WITHIN
        })
        .collect()
}

fn main() {
    let practice = vectors();
    println!(
        "{} tasks, {} preferences",
        practice.tasks.len(),
        practice.preferences.len()
    );
    let mut random = Random(1);
    let mut learner = Learner::new();
    let mut order: Vec<usize> = (0..practice.tasks.len()).collect();
    let steps = ROUNDS * order.len().div_ceil(BATCH);
    let mut step = 0;
    for _ in 0..ROUNDS {
        for last in (1..order.len()).rev() {
            order.swap(last, random.below(last + 1));
        }
        for batch in order.chunks(BATCH) {
            let mut against: BTreeSet<usize> = batch
                .iter()
                .flat_map(|&task| practice.called[task].iter().copied())
                .collect();
            against.extend((0..OTHERS).map(|_| random.below(practice.preferences.len())));
            let against: Vec<usize> = against.into_iter().collect();
            let gradient = learner.gradient(&practice, batch, &against);
            learner.learn(&gradient, 1.0 - step as f32 / steps as f32);
            step += 1;
        }
    }
    let bytes = task_map::to_bytes(&learner.map);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/recall/table/task.map");
    let shipped = std::fs::read(&path).expect("the map is in the repository");
    let differ = bytes.iter().zip(&shipped).filter(|(a, b)| a != b).count();
    println!("{} bytes, {differ} of them not as shipped", bytes.len());
    if std::env::args().any(|word| word == "--write") {
        std::fs::write(&path, bytes).expect("the file can be written");
        println!("written to {}", path.display());
    }
}
