//! Turns a task towards the preferences that bear on it.
//!
//! The table of `meaning.rs` knows how close two texts are in topic; a task and the preference that it calls for are
//! often not ("book a flight", "window seat"). A linear map, learned from pairs of tasks and preferences, moves the
//! task's vector to where such preferences are, and away from everything where none is called for, so that a cosine
//! says more of whether anything fits. Entries keep their vectors. `benches/task_map.rs` makes the map.

use super::meaning::{DIMENSIONS, Vector};

/// The map: for each component of a task, and for a constant, what it adds to every component of the result.
static BYTES: &[u8] = include_bytes!("table/task.map");

/// Its first bytes: a name and a version.
const MAGIC: &[u8; 5] = b"AZTM\x02";

/// The constant that stands beside a task's components, which are of length 1 together.
pub const CONSTANT: f32 = 0.3;

/// Rows of the map: a task's components and the constant.
pub const ROWS: usize = DIMENSIONS + 1;

/// What one code of each column is worth: the part of the map before its codes.
const WORTHS: usize = 4 * DIMENSIONS;

/// What is added to a code, so that it is stored as no less than zero.
const ZERO: i32 = 128;

/// Turns the vector of a task: `z = t + M·(t, constant)`, at length 1.
pub fn turn(task: &Vector) -> Vector {
    let (worths, rows) = BYTES[MAGIC.len()..].split_at(WORTHS);
    let (worths, _) = worths.as_chunks::<4>();
    let (rows, _) = rows.as_chunks::<DIMENSIONS>();
    let (codes, worth_of_task) = task.codes();
    let (mut above, mut below) = (Sums::default(), Sums::default());
    for (&code, row) in codes.iter().zip(rows) {
        let sums = if code < 0 { &mut below } else { &mut above };
        sums.add(code.unsigned_abs(), row);
    }
    let surplus = ZERO * codes.iter().map(|&code| i32::from(code)).sum::<i32>();
    let constants = &rows[DIMENSIONS];
    let mut turned = task.components();
    for (column, part) in turned.iter_mut().enumerate() {
        let sum = above
            .of(column)
            .wrapping_sub(below.of(column))
            .cast_signed()
            - surplus;
        let constant = i32::from(constants[column]) - ZERO;
        *part += f32::from_le_bytes(worths[column])
            * (sum as f32 * worth_of_task + constant as f32 * CONSTANT);
    }
    Vector::pack(&turned).unwrap_or_else(|| task.clone())
}

/// The sums of all columns. One number holds those of two columns, and one multiplication does four: a multiplication for
/// each, in numbers with a fraction, is a tenth of a recall.
struct Sums([[u64; 4]; DIMENSIONS / 8]);

impl Default for Sums {
    fn default() -> Self {
        Sums([[0; 4]; DIMENSIONS / 8])
    }
}

impl Sums {
    /// Every second byte, and every second two bytes.
    const BYTES: u64 = 0x00FF_00FF_00FF_00FF;
    const PAIRS: u64 = 0x0000_FFFF_0000_FFFF;

    /// Adds a row, so many times: at most 128 times, so that a product has 16 bits, and a sum of 256 rows 32.
    fn add(&mut self, times: u8, row: &[u8; DIMENSIONS]) {
        let times = u64::from(times);
        let (words, _) = row.as_chunks::<8>();
        for (sums, word) in self.0.iter_mut().zip(words) {
            let word = u64::from_le_bytes(*word);
            let even = (word & Self::BYTES) * times;
            let odd = (word >> 8 & Self::BYTES) * times;
            sums[0] += even & Self::PAIRS;
            sums[1] += odd & Self::PAIRS;
            sums[2] += even >> 16 & Self::PAIRS;
            sums[3] += odd >> 16 & Self::PAIRS;
        }
    }

    /// The sum of a column.
    fn of(&self, column: usize) -> u32 {
        let pair = self.0[column / 8][column % 4];
        (pair >> (column % 8 / 4 * 32)) as u32
    }
}

/// The file of a map, given its rows.
pub fn to_bytes(rows: &[[f32; DIMENSIONS]; ROWS]) -> Vec<u8> {
    let mut largest = [f32::MIN_POSITIVE; DIMENSIONS];
    for row in rows {
        for (most, x) in largest.iter_mut().zip(row) {
            *most = most.max(x.abs());
        }
    }
    let mut bytes = MAGIC.to_vec();
    bytes.extend(largest.iter().flat_map(|most| (most / 127.0).to_le_bytes()));
    for row in rows {
        let codes = row.iter().zip(&largest);
        bytes.extend(codes.map(|(x, most)| ((x / most * 127.0).round() as i32 + ZERO) as u8));
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::meaning::embed;

    #[test]
    fn the_map_is_whole() {
        assert!(BYTES.starts_with(MAGIC));
        assert_eq!(BYTES.len(), MAGIC.len() + WORTHS + ROWS * DIMENSIONS);
    }

    #[test]
    fn sums_are_those_of_each_column_by_itself() {
        let codes = std::array::from_fn::<_, DIMENSIONS, _>(|i| (i * 37 % 251) as i8);
        let row = |i: usize| std::array::from_fn::<u8, DIMENSIONS, _>(|j| (i * 7 + j * 13) as u8);
        let mut sums = Sums::default();
        for (i, code) in codes.iter().enumerate() {
            sums.add(code.unsigned_abs(), &row(i));
        }
        for column in 0..DIMENSIONS {
            let terms = codes
                .iter()
                .enumerate()
                .map(|(i, code)| u32::from(code.unsigned_abs()) * u32::from(row(i)[column]));
            assert_eq!(sums.of(column), terms.sum::<u32>(), "column {column}");
        }
        let mut most = Sums::default();
        for _ in 0..DIMENSIONS {
            most.add(128, &[255; DIMENSIONS]);
        }
        assert_eq!(most.of(0), 256 * 128 * 255);
        assert_eq!(most.of(DIMENSIONS - 1), 256 * 128 * 255);
    }

    #[test]
    fn a_task_comes_nearer_to_what_it_calls_for_than_idle_ones_by_far() {
        const MARGIN: f32 = 0.08;
        let vector = |text: &str| embed(text).expect("the text has words");
        for (task, preference) in [
            ("book a flight to Lisbon", "window seat"),
            ("plan dinner for six", "allergic to shellfish"),
            ("订周二去上海的机票", "window seat"),
        ] {
            let (task, preference) = (vector(task), vector(preference));
            let called = turn(&task).cosine(&preference);
            assert!(called > task.cosine(&preference));
            for idle in [
                "what is the capital of Peru",
                "solve this integral",
                "秘鲁的首都是哪里",
            ] {
                let idle = turn(&vector(idle)).cosine(&preference);
                assert!(called > idle + MARGIN, "{called} and {idle}");
            }
        }
    }
}
