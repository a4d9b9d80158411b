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
const MAGIC: &[u8; 5] = b"AZTM\x01";

/// The constant that stands beside a task's components, which are of length 1 together.
pub const CONSTANT: f32 = 0.3;

/// Rows of the map: a task's components and the constant.
pub const ROWS: usize = DIMENSIONS + 1;

/// A row as it is stored: what one of its codes is worth, and the codes.
const ROW_BYTES: usize = 4 + DIMENSIONS;

/// Turns the vector of a task: `z = t + M·(t, constant)`, at length 1.
pub fn turn(task: &Vector) -> Vector {
    let parts = task.components();
    let mut turned = parts;
    let inputs = parts.into_iter().chain([CONSTANT]);
    for (input, row) in inputs.zip(BYTES[MAGIC.len()..].chunks_exact(ROW_BYTES)) {
        let (scale, codes) = row
            .split_first_chunk()
            .expect("a row begins with four bytes of scale");
        let scale = f32::from_le_bytes(*scale) * input;
        for (sum, &code) in turned.iter_mut().zip(codes) {
            *sum += scale * f32::from(code.cast_signed());
        }
    }
    Vector::pack(&turned).unwrap_or_else(|| task.clone())
}

/// The file of a map, given its rows.
pub fn to_bytes(rows: &[[f32; DIMENSIONS]; ROWS]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    for row in rows {
        let largest = row
            .iter()
            .fold(f32::MIN_POSITIVE, |most, x| most.max(x.abs()));
        bytes.extend((largest / 127.0).to_le_bytes());
        bytes.extend(row.map(|x| ((x / largest * 127.0).round() as i8).cast_unsigned()));
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
        assert_eq!(BYTES.len(), MAGIC.len() + ROWS * ROW_BYTES);
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
