//! How close two texts are in topic: a static embedding table, a lookup and a sum. The format, the
//! splitting and the provenance of the table are described in `table/MODEL.md`.
//!
//! It knows topics and not polarity: "likes X" and "hates X" are close. It serves recall and nothing else.

use std::sync::LazyLock;

use super::pieces::Pieces;

/// The embedded table, packed by `src/pack/table.rs`.
static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/recall.table"));

/// What the table's licence asks to be shown.
pub const NOTICE: &str = include_str!("table/NOTICE");

/// The licence of the table.
pub const LICENSE: &str = include_str!("table/LICENSE-APACHE");

/// The first eight hexadecimal digits of the table's SHA-256: vectors made with another table are made anew.
pub const TABLE_HASH: &str = "d5c86eb0";

/// Components of a vector.
pub const DIMENSIONS: usize = 256;

/// What a character costs that no piece covers.
const UNKNOWN: u32 = 160;

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::new(BYTES));

/// Where the parts of the table begin.
struct Table {
    bytes: &'static [u8],
    pieces: Pieces,
    longest: usize,
    unit: f32,
    levels: [f32; 4],
    scales: usize,
    costs: usize,
    codes: usize,
}

/// A text as a point of length 1: 256 signed bytes and what one of them is worth.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector {
    scale: f32,
    codes: [i8; DIMENSIONS],
}

impl Vector {
    /// The number of bytes that [`Vector::to_bytes`] gives.
    pub const BYTES: usize = 4 + DIMENSIONS;

    /// Packs components of any length; nothing comes back when they are all zero.
    pub(super) fn pack(components: &[f32; DIMENSIONS]) -> Option<Self> {
        let length = components.iter().map(|x| x * x).sum::<f32>().sqrt();
        if length < 1e-6 {
            return None;
        }
        let largest = components.iter().fold(0f32, |most, x| most.max(x.abs()));
        let mut codes = [0i8; DIMENSIONS];
        for (code, x) in codes.iter_mut().zip(components) {
            *code = (x / largest * 127.0).round() as i8;
        }
        Some(Vector {
            scale: largest / length / 127.0,
            codes,
        })
    }

    /// The components, as far as they are kept.
    pub fn components(&self) -> [f32; DIMENSIONS] {
        self.codes.map(|code| f32::from(code) * self.scale)
    }

    /// The cosine of the angle between two texts: 1 for the same direction, near 0 for unrelated ones.
    pub fn cosine(&self, other: &Vector) -> f32 {
        dot(&self.codes, &other.codes) as f32 * self.scale * other.scale
    }

    /// The stored form.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::BYTES);
        bytes.extend(self.scale.to_le_bytes());
        bytes.extend(self.codes.iter().map(|code| code.cast_unsigned()));
        bytes
    }

    /// Reads the stored form; nothing comes back for anything else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (scale, rest) = bytes.split_first_chunk::<4>()?;
        let rest: &[u8; DIMENSIONS] = rest.try_into().ok()?;
        Some(Vector {
            scale: f32::from_le_bytes(*scale),
            codes: rest.map(u8::cast_signed),
        })
    }

    /// The signed bytes, and what one of them is worth.
    pub(super) fn codes(&self) -> (&[i8; DIMENSIONS], f32) {
        (&self.codes, self.scale)
    }

    /// What the vector has along a direction that is given by codes.
    pub(super) fn along(&self, codes: &[i8; DIMENSIONS]) -> f32 {
        dot(&self.codes, codes) as f32 * self.scale
    }
}

/// The vector of a text; none when it has no letter or digit.
pub fn embed(text: &str) -> Option<Vector> {
    embed_weighted(&[(text, 1.0)])
}

/// The vector of several texts together, each with its weight and each of length 1 before it is weighted.
pub fn embed_weighted(texts: &[(&str, f32)]) -> Option<Vector> {
    let mut sum = [0f32; DIMENSIONS];
    for (text, weight) in texts {
        let mut one = [0f32; DIMENSIONS];
        for piece in TABLE.split_text(text) {
            TABLE.add(piece, &mut one);
        }
        let length = one.iter().map(|x| x * x).sum::<f32>().sqrt();
        if length > 1e-6 {
            for (total, x) in sum.iter_mut().zip(one) {
                *total += weight * x / length;
            }
        }
    }
    Vector::pack(&sum)
}

#[inline]
fn dot(a: &[i8; DIMENSIONS], b: &[i8; DIMENSIONS]) -> i32 {
    a.iter()
        .zip(b)
        .map(|(&x, &y)| i32::from(i16::from(x) * i16::from(y)))
        .sum()
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut four = [0; 4];
    four.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(four)
}

fn is_cjk(c: char) -> bool {
    matches!(c as u32, 0x3400..=0x9FFF | 0x3040..=0x30FF | 0xF900..=0xFAFF | 0x3005 | 0x20000..=0x3FFFF)
}

fn fold(c: char) -> char {
    match c as u32 {
        wide @ 0xFF01..=0xFF5E => char::from_u32(wide - 0xFEE0).unwrap_or(c),
        0x3000 => ' ',
        0x2018 | 0x2019 | 0x60 | 0xB4 => '\'',
        _ => c,
    }
}

impl Table {
    /// Reads the head of the table. It is part of the program, and a test reads it whole, so its form is certain.
    fn new(bytes: &'static [u8]) -> Self {
        let mut levels = [0f32; 4];
        for (index, level) in levels.iter_mut().enumerate() {
            *level = f32::from_bits(u32_at(bytes, 64 + 4 * index));
        }
        let number = |at: usize| u32_at(bytes, at) as usize;
        let [scales, costs, starts, texts, codes] = [20, 24, 28, 32, 36].map(number);
        Table {
            bytes,
            pieces: Pieces::new(number(8), &bytes[starts..], &bytes[texts..codes]),
            longest: number(12),
            unit: f32::from_bits(u32_at(bytes, 16)),
            levels,
            scales,
            costs,
            codes,
        }
    }

    /// Adds a piece's vector to a sum.
    fn add(&self, piece: usize, sum: &mut [f32; DIMENSIONS]) {
        const PER_BYTE: usize = 4;
        let stride = DIMENSIONS / PER_BYTE;
        let at = self.scales + 2 * piece;
        let scale = f32::from(u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]])) * self.unit;
        let row = &self.bytes[self.codes + piece * stride..][..stride];
        for (components, byte) in sum.chunks_exact_mut(PER_BYTE).zip(row) {
            for (position, component) in components.iter_mut().enumerate() {
                *component += scale * self.levels[usize::from(byte >> (2 * position) & 3)];
            }
        }
    }

    fn split_text(&self, text: &str) -> Vec<usize> {
        let mut found = Vec::new();
        let mut run = String::new();
        let mut run_is_cjk = false;
        let mut characters = text
            .chars()
            .map(fold)
            .flat_map(char::to_lowercase)
            .peekable();
        while let Some(c) = characters.next() {
            let in_word = !run.is_empty() && !run_is_cjk;
            if c == '\'' && in_word && characters.peek().is_some_and(|next| next.is_alphanumeric())
            {
                continue;
            }
            let is_word = c.is_alphanumeric();
            if !run.is_empty() && (!is_word || is_cjk(c) != run_is_cjk) {
                self.split_run(&run, !run_is_cjk, &mut found);
                run.clear();
            }
            if is_word {
                if run.is_empty() {
                    run_is_cjk = is_cjk(c);
                    if !run_is_cjk {
                        run.push(' ');
                    }
                }
                run.push(c);
            }
        }
        if !run.is_empty() {
            self.split_run(&run, !run_is_cjk, &mut found);
        }
        found
    }

    /// Splits a run at the least cost. A run of a spaced script begins with a space, and is one piece
    /// where the table has it whole.
    fn split_run(&self, run: &str, spaced: bool, found: &mut Vec<usize>) {
        if spaced && let Some(whole) = self.pieces.find(run.as_bytes()) {
            found.push(whole);
            return;
        }
        let lead = usize::from(spaced);
        let mut starts: Vec<usize> = run.char_indices().map(|(at, _)| at).skip(lead).collect();
        starts.push(run.len());
        let count = starts.len() - 1;
        // The cheapest way to each place: its cost, where its last step began, and the piece of that step.
        let mut best: Vec<(u32, usize, Option<usize>)> = vec![(u32::MAX, 0, None); count + 1];
        best[0].0 = 0;
        for from in 0..count {
            let so_far = best[from].0;
            if so_far + UNKNOWN < best[from + 1].0 {
                best[from + 1] = (so_far + UNKNOWN, from, None);
            }
            let begin = if from == 0 { 0 } else { starts[from] };
            for to in from + 1..=count.min(from + self.longest) {
                if let Some(piece) = self.pieces.find(&run.as_bytes()[begin..starts[to]]) {
                    let cost = so_far + u32::from(self.bytes[self.costs + piece]);
                    if cost < best[to].0 {
                        best[to] = (cost, from, Some(piece));
                    }
                }
            }
        }
        let first = found.len();
        let mut place = count;
        while place > 0 {
            let (_, from, piece) = best[place];
            found.extend(piece);
            place = from;
        }
        found[first..].reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const TEXTS: [&str; 10] = [
        "concise code — always asks for shorter implementations",
        "Refactor this function, it's getting too verbose!",
        "I don't eat mushrooms.",
        "find a restaurant for dinner tonight",
        "不喜欢吃辣，海鲜过敏",
        "推荐一家餐厅",
        "PostgreSQL over MySQL; no ORMs",
        "ＦＵＬＬ　ｗｉｄｔｈ naïve café 2024",
        "日本語のテスト",
        "zzqxv🙂",
    ];

    #[rstest]
    #[case(0, &[5418, 4996, 1296, 2028, 10100, 22863, 12528])]
    #[case(1, &[20769, 25451, 10440, 13465, 10816, 25741, 27155])]
    #[case(2, &[12300, 7814, 8169, 16444])]
    #[case(3, &[9772, 470, 21232, 10100, 7382, 25737])]
    #[case(4, &[35392, 40556, 39929, 55610, 48915, 58147, 55687])]
    #[case(5, &[45714, 34951, 57793])]
    #[case(6, &[19258, 17806, 16509, 16923, 17685, 32371])]
    #[case(7, &[10427, 27906, 16539, 32953, 3849, 338])]
    #[case(8, &[46581, 34180, 34642])]
    #[case(9, &[28357, 33154, 32160, 33101, 32937])]
    fn the_test_vectors_split_as_documented(#[case] text: usize, #[case] pieces: &[usize]) {
        assert_eq!(TABLE.split_text(TEXTS[text]), pieces);
    }

    #[rstest]
    #[case(0, 1, 0.140)]
    #[case(2, 4, 0.405)]
    #[case(3, 5, 0.548)]
    #[case(4, 5, 0.162)]
    #[case(2, 3, 0.346)]
    #[case(6, 2, 0.141)]
    #[case(9, 1, 0.028)]
    fn the_cosines_are_as_documented(#[case] a: usize, #[case] b: usize, #[case] cosine: f32) {
        let vector = |text: usize| embed(TEXTS[text]).expect("the text has words");
        assert!((vector(a).cosine(&vector(b)) - cosine).abs() < 0.01);
    }

    #[test]
    fn the_table_is_the_documented_one() {
        use sha2::Digest;
        let source = include_bytes!("table/recall.azse");
        let hash = sha2::Sha256::digest(source);
        let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(hex.starts_with(TABLE_HASH));
        assert_eq!(&source[..6], b"AZSE\x01\x02");
        assert_eq!(u16::from_le_bytes([source[6], source[7]]), 256);
        // Packed, it has the same pieces at the same places, with the same values.
        let number = |at: usize| u32_at(source, at) as usize;
        let [scales, costs, offsets, strings, codes] = [20, 24, 28, 32, 36].map(number);
        let pieces = number(8);
        for place in 0..pieces {
            let begin = strings + number(offsets + 4 * place);
            let end = strings + number(offsets + 4 * place + 4);
            assert_eq!(TABLE.pieces.find(&source[begin..end]), Some(place));
        }
        let part = |bytes: &'static [u8], at: usize, length: usize| &bytes[at..at + length];
        for (before, after, length) in [
            (scales, TABLE.scales, 2 * pieces),
            (costs, TABLE.costs, pieces),
            (codes, TABLE.codes, source.len() - codes),
        ] {
            assert_eq!(part(source, before, length), part(BYTES, after, length));
        }
        for absent in [
            "",
            " ",
            "\u{0}",
            " thex",
            "\u{10ffff}",
            " qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq",
        ] {
            assert_eq!(TABLE.pieces.find(absent.as_bytes()), None, "{absent}");
        }
    }

    #[test]
    fn a_vector_survives_storage() {
        let vector = embed("book a table for Friday").expect("it has words");
        let back = Vector::from_bytes(&vector.to_bytes()).expect("it is a vector");
        assert_eq!(back, vector);
        assert!((vector.cosine(&back) - 1.0).abs() < 0.02);
        assert_eq!(embed("…!?"), None);
        assert_eq!(Vector::from_bytes(&[1, 2, 3]), None);
    }
}
