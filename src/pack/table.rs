//! The embedding table with its pieces front-coded. Which form the table has before is in `src/recall/table/MODEL.md`;
//! after, `offsets` and `strings` are gone, and in their place stand, as the head tells:
//!
//! | part | form |
//! |---|---|
//! | starts | for every sixteenth piece the u32 where it begins in the texts |
//! | texts | for each piece a byte, how many bytes it begins with as the piece before it (upper four bits) and how many follow (lower four; 15: and as many more as the next byte says); then those that follow |
//!
//! A piece that has a start shares nothing with the one before it.

/// How many pieces have one start. `src/recall/pieces.rs` reads by the same number.
const BLOCK: usize = 16;
/// What four bits can say.
const MOST: usize = 15;
/// Each part begins at a multiple of it.
const ALIGNMENT: usize = 64;
/// The parts begin after the head.
const HEAD: usize = 128;
/// Where the head says the version, how many pieces there are, and where the parts begin.
const VERSION: usize = 4;
const PIECES: usize = 8;
const PARTS: usize = 20;

/// The packed form of a table.
pub fn pack(table: &[u8]) -> Vec<u8> {
    let number = |at: usize| {
        let bytes = table[at..at + 4].try_into().expect("four bytes");
        u32::from_le_bytes(bytes) as usize
    };
    let [scales, costs, offsets, strings, codes] =
        [0, 1, 2, 3, 4].map(|part| number(PARTS + 4 * part));
    let pieces = number(PIECES);
    let piece = |index: usize| {
        let place = |index: usize| strings + number(offsets + 4 * index);
        &table[place(index)..place(index + 1)]
    };
    let (starts, texts) = front_coded((0..pieces).map(piece));
    let mut packed = table[..HEAD].to_vec();
    packed[VERSION] = 2;
    let parts: [&[u8]; 5] = [
        &table[scales..][..2 * pieces],
        &table[costs..][..pieces],
        &starts,
        &texts,
        &table[codes..],
    ];
    for (index, part) in parts.into_iter().enumerate() {
        packed.resize(packed.len().next_multiple_of(ALIGNMENT), 0);
        let begin = (packed.len() as u32).to_le_bytes();
        packed[PARTS + 4 * index..][..4].copy_from_slice(&begin);
        packed.extend(part);
    }
    packed
}

fn front_coded<'t>(pieces: impl Iterator<Item = &'t [u8]>) -> (Vec<u8>, Vec<u8>) {
    let (mut starts, mut texts) = (Vec::new(), Vec::new());
    let mut before: &[u8] = &[];
    for (index, piece) in pieces.enumerate() {
        if index % BLOCK == 0 {
            starts.extend((texts.len() as u32).to_le_bytes());
            before = &[];
        }
        let same = before.iter().zip(piece).take_while(|(a, b)| a == b);
        let shared = same.count().min(MOST);
        let rest = &piece[shared..];
        texts.push((shared << 4 | rest.len().min(MOST)) as u8);
        if let Some(more) = rest.len().checked_sub(MOST) {
            texts.push(u8::try_from(more).expect("pieces are short"));
        }
        texts.extend(rest);
        before = piece;
    }
    (starts, texts)
}
