//! Sketches of vectors: 32 bytes each, which tell what may be near a task without a look at the vectors themselves.
//!
//! Tasks, once they are turned, all point into a small part of the space, so most of what tells entries apart for them
//! lies along few directions. A sketch says where a vector stands along those: in sixteenths along the foremost, in
//! quarters along the others. `benches/sketch_map.rs` learns the directions.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::meaning::{DIMENSIONS, Vector};

/// The directions, the foremost first.
static MAP: &[u8] = include_bytes!("table/sketch.map");

/// Its first bytes: a name and a version.
const MAGIC: &[u8; 5] = b"AZSK\x01";

/// Directions that get four bits of a sketch, and all of them: the others get two.
const FINE: usize = 16;
/// All directions.
pub const ROWS: usize = 112;
/// Bytes of a sketch.
pub const BYTES: usize = (FINE * 4 + (ROWS - FINE) * 2) / 8;

/// A direction as it is stored: three numbers, and half a byte for each component.
const ROW_BYTES: usize = 12 + DIMENSIONS / 2;
/// What half a byte stands for is a code from -7 to 7.
const ZERO: i8 = 8;
/// The largest of these codes.
pub const LARGEST: i8 = 7;

/// The steps of the two scales, in standard deviations: those that lose least of a normal distribution (Max,
/// "Quantizing for minimum distortion", 1960).
const FINE_STEP: f32 = 0.335;
const COARSE_STEP: f32 = 0.996;

/// A direction.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What vectors have along it on average.
    pub middle: f32,
    /// How far they are from there.
    pub spread: f32,
    /// What the product of two vectors along it counts for.
    pub weight: f32,
    /// The components, from -[`LARGEST`] to [`LARGEST`].
    pub codes: [i8; DIMENSIONS],
}

impl Row {
    fn read(bytes: &[u8]) -> Self {
        let number = |at: usize| {
            let mut four = [0; 4];
            four.copy_from_slice(&bytes[at..at + 4]);
            f32::from_le_bytes(four)
        };
        let mut codes = [0; DIMENSIONS];
        for (two, &byte) in codes.chunks_exact_mut(2).zip(&bytes[12..]) {
            two[0] = (byte & 15).cast_signed() - ZERO;
            two[1] = (byte >> 4).cast_signed() - ZERO;
        }
        Row {
            middle: number(0),
            spread: number(4),
            weight: number(8),
            codes,
        }
    }

    /// What a vector has along the direction.
    pub fn of(&self, vector: &Vector) -> f32 {
        vector.along(&self.codes)
    }
}

/// Where a direction stands in a sketch.
#[derive(Clone, Copy)]
struct Place {
    byte: usize,
    shift: usize,
    steps: u8,
    step: f32,
}

impl Place {
    fn of(row: usize) -> Self {
        let (bit, steps, step) = if row < FINE {
            (row * 4, 16, FINE_STEP)
        } else {
            (FINE * 4 + (row - FINE) * 2, 4, COARSE_STEP)
        };
        Place {
            byte: bit / 8,
            shift: bit % 8,
            steps,
            step,
        }
    }

    /// The step on which a number of standard deviations stands.
    fn step_of(self, deviations: f32) -> u8 {
        let half = f32::from(self.steps / 2);
        let step = (deviations / self.step + half).floor();
        step.clamp(0.0, f32::from(self.steps - 1)) as u8
    }

    /// The middle of a step.
    fn middle_of(self, step: u8) -> f32 {
        (f32::from(step) + 0.5 - f32::from(self.steps / 2)) * self.step
    }
}

fn rows() -> impl Iterator<Item = (Place, Row)> {
    let rows = MAP[MAGIC.len()..].chunks_exact(ROW_BYTES);
    rows.enumerate()
        .map(|(index, bytes)| (Place::of(index), Row::read(bytes)))
}

/// The sketch of a vector: never zero, which stands for none.
pub fn sketch(vector: &Vector) -> [u8; BYTES] {
    let mut sketch = [0; BYTES];
    for (place, row) in rows() {
        let step = place.step_of((row.of(vector) - row.middle) / row.spread);
        sketch[place.byte] |= step << place.shift;
    }
    if sketch == [0; BYTES] {
        sketch[0] = 1;
    }
    sketch
}

/// The file of a map, given its directions.
pub fn to_bytes(rows: &[Row]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    for row in rows {
        for number in [row.middle, row.spread, row.weight] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(row.codes.chunks_exact(2).map(|two| {
            let [low, high] = [two[0], two[1]].map(|code| (code + ZERO).cast_unsigned());
            low | high << 4
        }));
    }
    bytes
}

/// Looks through sketches for the vectors nearest to a task: by a table for each byte of them, which holds what the
/// task's product with it is.
pub struct Sieve {
    tables: Box<[[i16; 256]; BYTES]>,
    /// Below this nothing comes through any more.
    bound: i32,
    nearest: BinaryHeap<Reverse<(i32, Reverse<i64>)>>,
}

impl Sieve {
    /// How many are let through.
    pub const KEEPS: usize = 1_024;

    /// Prepares to look for what is near to a vector.
    pub fn new(task: &Vector) -> Self {
        let mut products = [[0f32; 256]; BYTES];
        for (place, row) in rows() {
            let along = row.of(task) * row.weight;
            for (byte, product) in (0..=u8::MAX).zip(&mut products[place.byte]) {
                let step = byte >> place.shift & (place.steps - 1);
                *product += along * place.middle_of(step);
            }
        }
        let largest = products
            .as_flattened()
            .iter()
            .fold(f32::MIN_POSITIVE, |most, x| most.max(x.abs()));
        let scale = f32::from(i16::MAX) / largest;
        Sieve {
            tables: Box::new(products.map(|table| table.map(|x| (x * scale) as i16))),
            bound: i32::MIN,
            nearest: BinaryHeap::with_capacity(Self::KEEPS + 1),
        }
    }

    /// Looks at sketches that follow one another, the first of them of this number. Whether an entry is wanted at all is
    /// only asked when it is near.
    pub fn look(&mut self, first: i64, sketches: &[u8], is_wanted: impl Fn(i64) -> bool) {
        let (sketches, _) = sketches.as_chunks::<BYTES>();
        for (id, sketch) in (first..).zip(sketches) {
            let product = self.product(sketch);
            if product < self.bound || *sketch == [0; BYTES] || !is_wanted(id) {
                continue;
            }
            self.nearest.push(Reverse((product, Reverse(id))));
            if self.nearest.len() > Self::KEEPS {
                self.nearest.pop();
            }
            if self.nearest.len() == Self::KEEPS
                && let Some(Reverse((farthest, _))) = self.nearest.peek()
            {
                self.bound = *farthest;
            }
        }
    }

    #[inline]
    fn product(&self, sketch: &[u8; BYTES]) -> i32 {
        let (tables, _) = self.tables.as_chunks::<4>();
        let (bytes, _) = sketch.as_chunks::<4>();
        // Four sums, so that none waits for another.
        let mut sums = [0i32; 4];
        for ([a, b, c, d], [w, x, y, z]) in tables.iter().zip(bytes) {
            sums[0] += i32::from(a[usize::from(*w)]);
            sums[1] += i32::from(b[usize::from(*x)]);
            sums[2] += i32::from(c[usize::from(*y)]);
            sums[3] += i32::from(d[usize::from(*z)]);
        }
        sums.iter().sum()
    }

    /// The numbers of those that came through, lowest first: the order in which their vectors are stored.
    pub fn ids(self) -> Vec<i64> {
        let mut ids: Vec<i64> = self
            .nearest
            .into_iter()
            .map(|Reverse((_, Reverse(id)))| id)
            .collect();
        ids.sort_unstable();
        ids
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::meaning::embed;

    fn vector(text: &str) -> Vector {
        embed(text).expect("the text has words")
    }

    #[test]
    fn the_map_is_whole_and_is_written_as_it_is_read() {
        assert!(MAP.starts_with(MAGIC));
        let rows: Vec<Row> = rows().map(|(_, row)| row).collect();
        assert_eq!(rows.len(), ROWS);
        assert!(rows.iter().all(|row| row.spread > 0.0));
        assert_eq!(to_bytes(&rows), MAP);
    }

    #[test]
    fn what_is_nearest_comes_through_in_any_order() {
        const FLOOD: i64 = 5_000;
        let task = vector("refactor this function");
        let near = ["short functions", "small methods", "clean code"];
        let mut sketches: Vec<(i64, [u8; BYTES])> = (0..FLOOD)
            .map(|id| {
                (
                    id,
                    sketch(&vector(&format!("train number {id} to the sea"))),
                )
            })
            .collect();
        sketches.extend(
            (FLOOD..)
                .zip(near)
                .map(|(id, text)| (id, sketch(&vector(text)))),
        );
        let let_through = |sketches: &[(i64, [u8; BYTES])]| {
            let mut sieve = Sieve::new(&task);
            for (id, sketch) in sketches {
                sieve.look(*id, sketch, |_| true);
            }
            sieve.ids()
        };
        let ids = let_through(&sketches);
        assert_eq!(ids.len(), Sieve::KEEPS);
        assert_eq!(
            ids[Sieve::KEEPS - near.len()..],
            [FLOOD, FLOOD + 1, FLOOD + 2]
        );
        sketches.reverse();
        assert_eq!(let_through(&sketches), ids);
    }

    #[test]
    fn neither_an_empty_place_nor_an_unwanted_entry_comes_through() {
        let mut sieve = Sieve::new(&vector("refactor this function"));
        let mut block = vec![0; 3 * BYTES];
        block[BYTES..2 * BYTES].copy_from_slice(&sketch(&vector("short functions")));
        block[2 * BYTES..].copy_from_slice(&sketch(&vector("window seat")));
        sieve.look(-1, &block, |id| id != 1);
        assert_eq!(sieve.ids(), [0]);
    }
}
