//! The learned weights: what each feature of a sentence says for each answer. Made by `benches/extraction.rs`.
//!
//! The file: `AZXW`, a version, then a zlib stream (RFC 1950). In it, for each section: the number of answers (u8), the
//! number of features (u32), what a code is worth for each answer (f32), the features in rising order, each as its distance
//! from the one before (7 bits a byte, the lowest first), and for each of them a code for each answer (i8). Little endian.

use std::io::{Read, Write};
use std::sync::OnceLock;

static BYTES: &[u8] = include_bytes!("weights.bin");
const MAGIC: &[u8; 5] = b"AZXW\x03";

/// What the weights decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// The language of a turn.
    Language,
    /// Whether a sentence holds a preference, and which way it points.
    Verdict,
    /// What kind of statement it is.
    Kind,
    /// Whether a token belongs to the thing that is liked or not.
    Span,
    /// Whether a thing that a sentence names is a preference, and which way it points.
    Thing,
}

impl Section {
    /// All of them, as they follow each other in the file.
    pub const ALL: [Section; 5] = [
        Section::Language,
        Section::Verdict,
        Section::Kind,
        Section::Span,
        Section::Thing,
    ];
}

struct Table {
    /// The features in rising order.
    features: Vec<u32>,
    /// Where a feature stands, plus one, at the place that its number asks for or after it: twice as many places as
    /// features, a power of two.
    places: Vec<u32>,
    scales: Vec<f32>,
    codes: Vec<i8>,
}

impl Table {
    fn new(features: Vec<u32>, scales: Vec<f32>, codes: Vec<i8>) -> Self {
        let mut places = vec![0; (features.len() * 2).next_power_of_two().max(2)];
        let mask = places.len() - 1;
        for (row, feature) in (1u32..).zip(&features) {
            let mut place = home(*feature) & mask;
            while places[place] != 0 {
                place = (place + 1) & mask;
            }
            places[place] = row;
        }
        Table {
            features,
            places,
            scales,
            codes,
        }
    }

    fn row(&self, feature: u32) -> Option<usize> {
        let mask = self.places.len() - 1;
        let mut place = home(feature) & mask;
        loop {
            let row = (self.places[place] as usize).checked_sub(1)?;
            if self.features[row] == feature {
                return Some(row);
            }
            place = (place + 1) & mask;
        }
    }
}

/// The place that a feature asks for: its upper bits tell only its group, and its lower ones are mixed well.
fn home(feature: u32) -> usize {
    (feature ^ (feature >> 15)) as usize
}

static TABLES: [OnceLock<Table>; Section::ALL.len()] =
    [const { OnceLock::new() }; Section::ALL.len()];

/// What a feature tells of. Its number begins with it, so that groups can be weighed differently when they are learned from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// A word, or the beginning or end of one.
    Word,
    /// Several words or characters beside each other.
    Sequence,
    /// A cue.
    Cue,
    /// A cue together with another one or with the words beside it.
    Cues,
    /// Layout and length.
    Layout,
    /// What stands around the sentence.
    Around,
}

impl Group {
    /// The group of a feature.
    pub fn of(feature: u32) -> usize {
        (feature >> 29) as usize
    }
}

/// Makes the number of a feature from its group and its parts (FNV-1a, Fowler, Noll and Vo).
#[derive(Debug, Clone, Copy)]
pub struct Feature {
    group: Group,
    hash: u32,
}

impl Feature {
    /// Begins a feature of a group.
    pub fn new(group: Group) -> Self {
        Feature {
            group,
            hash: 0x811c_9dc5,
        }
    }

    fn byte(&mut self, byte: u8) {
        self.hash = (self.hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }

    /// Adds a part.
    #[must_use]
    pub fn part(mut self, part: &str) -> Self {
        part.bytes().for_each(|byte| self.byte(byte));
        self.byte(0x1f);
        self
    }

    /// Adds a part that is not a text of its own.
    #[must_use]
    pub fn characters(mut self, part: &[char]) -> Self {
        let mut bytes = [0; 4];
        for c in part {
            c.encode_utf8(&mut bytes)
                .bytes()
                .for_each(|byte| self.byte(byte));
        }
        self.byte(0x1f);
        self
    }

    /// Adds several texts as one part, with something between them.
    #[must_use]
    pub fn joined<'t>(mut self, between: &str, texts: impl Iterator<Item = &'t str>) -> Self {
        for (index, text) in texts.enumerate() {
            if index > 0 {
                between.bytes().for_each(|byte| self.byte(byte));
            }
            text.bytes().for_each(|byte| self.byte(byte));
        }
        self.byte(0x1f);
        self
    }

    /// The number.
    pub fn number(self) -> u32 {
        (self.hash & 0x1fff_ffff) | (self.group as u32) << 29
    }
}

/// The number of a feature of several texts.
pub fn feature(group: Group, parts: &[&str]) -> u32 {
    parts
        .iter()
        .fold(Feature::new(group), |feature, part| feature.part(part))
        .number()
}

/// Puts other weights in the place of those that ship, for a program that learns them: of the sections that the file has and
/// that no score was asked of yet.
pub fn replace(bytes: &[u8]) {
    for (slot, table) in TABLES.iter().zip(read(bytes)) {
        let _ = slot.set(table);
    }
}

fn table(section: Section) -> &'static Table {
    let slot = &TABLES[section as usize];
    if slot.get().is_none() {
        replace(BYTES);
    }
    slot.get()
        .expect("the weights in the program have every section, which a test reads")
}

/// The sum of what the features say, for each answer.
pub fn score(section: Section, features: &[u32]) -> Vec<f32> {
    let table = table(section);
    let answers = table.scales.len();
    let mut sums = vec![0i32; answers];
    for feature in features {
        if let Some(row) = table.row(*feature) {
            let codes = &table.codes[row * answers..(row + 1) * answers];
            for (sum, &code) in sums.iter_mut().zip(codes) {
                *sum += i32::from(code);
            }
        }
    }
    sums.iter()
        .zip(&table.scales)
        .map(|(&sum, scale)| sum as f32 * scale)
        .collect()
}

fn read(bytes: &[u8]) -> Vec<Table> {
    let packed = bytes.strip_prefix(MAGIC).unwrap_or_default();
    let mut unpacked = Vec::new();
    flate2::read::ZlibDecoder::new(packed)
        .read_to_end(&mut unpacked)
        .expect("the weights are in the program, and a test reads them");
    let rest = &mut unpacked.as_slice();
    let mut tables = Vec::new();
    while !rest.is_empty() {
        let answers = usize::from(take(rest, 1)[0]);
        let count = u32_at(take(rest, 4)) as usize;
        let scales = take(rest, 4 * answers)
            .chunks_exact(4)
            .map(|four| f32::from_bits(u32_at(four)))
            .collect();
        let mut features = Vec::with_capacity(count);
        let mut last = 0u32;
        for _ in 0..count {
            let (mut distance, mut shift) = (0u32, 0);
            loop {
                let byte = take(rest, 1)[0];
                distance |= u32::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    break;
                }
            }
            last = last.wrapping_add(distance);
            features.push(last);
        }
        let codes = take(rest, count * answers);
        let codes = codes.iter().map(|code| code.cast_signed()).collect();
        tables.push(Table::new(features, scales, codes));
    }
    tables
}

/// Takes bytes from the front; the file holds as many as it says, which a test reads.
fn take<'b>(rest: &mut &'b [u8], count: usize) -> &'b [u8] {
    let (taken, left) = rest.split_at(count);
    *rest = left;
    taken
}

fn u32_at(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes.try_into().unwrap_or_default())
}

/// The file of weights: for each section the weights of each feature, in any order.
pub fn to_bytes(sections: &[Vec<(u32, Vec<f32>)>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for section in sections {
        let mut rows = section.clone();
        rows.sort_by_key(|(feature, _)| *feature);
        let answers = rows.first().map_or(1, |(_, weights)| weights.len());
        bytes.push(u8::try_from(answers).unwrap_or(u8::MAX));
        bytes.extend(u32::try_from(rows.len()).unwrap_or(u32::MAX).to_le_bytes());
        let scales: Vec<f32> = (0..answers)
            .map(|answer| {
                rows.iter().fold(f32::MIN_POSITIVE, |most, (_, weights)| {
                    most.max(weights[answer].abs())
                }) / 127.0
            })
            .collect();
        scales
            .iter()
            .for_each(|scale| bytes.extend(scale.to_le_bytes()));
        let mut last = 0;
        for (feature, _) in &rows {
            let mut distance = feature - last;
            last = *feature;
            while distance >= 0x80 {
                bytes.push((distance & 0x7f) as u8 | 0x80);
                distance >>= 7;
            }
            bytes.push(distance as u8);
        }
        for (_, weights) in &rows {
            let codes = weights.iter().zip(&scales);
            bytes.extend(
                codes.map(|(weight, scale)| ((weight / scale).round() as i8).cast_unsigned()),
            );
        }
    }
    let mut packed = flate2::write::ZlibEncoder::new(MAGIC.to_vec(), flate2::Compression::best());
    packed
        .write_all(&bytes)
        .and_then(|()| packed.finish())
        .expect("memory can be written")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_are_whole() {
        let tables = read(BYTES);
        let answers: Vec<usize> = tables.iter().map(|table| table.scales.len()).collect();
        assert_eq!(answers, [10, 4, 11, 1, 4]);
        for table in &tables {
            assert!(table.features.len() > 1000);
            assert!(table.features.is_sorted());
            assert_eq!(table.codes.len(), table.features.len() * table.scales.len());
        }
    }

    #[test]
    fn weights_survive_the_file() {
        let sections = vec![
            vec![(7, vec![1.0, -2.0]), (900_000, vec![0.5, 0.0])],
            vec![(1, vec![3.0])],
            vec![(2, vec![3.0])],
            vec![(3, vec![3.0])],
            vec![(4, vec![3.0])],
        ];
        let tables = read(&to_bytes(&sections));
        assert_eq!(tables[0].features, [7, 900_000]);
        assert_eq!(tables[0].codes, [127, -127, 64, 0]);
    }
}
