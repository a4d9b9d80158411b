//! The pieces of the embedding table, in the order of their bytes: what a text is split into. They are front-coded, as
//! `src/pack/table.rs` describes.

use std::cmp::Ordering;

/// How many pieces have one start.
const BLOCK: usize = 16;
/// What four bits can say.
const MOST: usize = 15;
/// No piece has more bytes. A test reads them all.
const LONGEST: usize = 32;

/// All pieces.
pub(super) struct Pieces {
    /// Where every sixteenth one begins in the texts.
    starts: &'static [[u8; 4]],
    texts: &'static [u8],
}

impl Pieces {
    /// So many pieces, whose starts and texts these bytes begin with.
    pub(super) fn new(pieces: usize, starts: &'static [u8], texts: &'static [u8]) -> Self {
        let (starts, _) = starts.as_chunks();
        Pieces {
            starts: &starts[..pieces.div_ceil(BLOCK)],
            texts,
        }
    }

    /// The place of a piece, counted from the first one.
    pub(super) fn find(&self, key: &[u8]) -> Option<usize> {
        let (mut low, mut high) = (0, self.starts.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.block(middle).next()? <= key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let block = low.checked_sub(1)?;
        let mut pieces = self.block(block);
        for place in BLOCK * block..BLOCK * low {
            match pieces.next()?.cmp(key) {
                Ordering::Less => {}
                Ordering::Equal => return Some(place),
                Ordering::Greater => return None,
            }
        }
        None
    }

    fn block(&self, block: usize) -> Walk {
        let start = u32::from_le_bytes(self.starts[block]) as usize;
        Walk {
            rest: &self.texts[start..],
            piece: [0; LONGEST],
        }
    }
}

/// Goes from piece to piece.
struct Walk {
    rest: &'static [u8],
    piece: [u8; LONGEST],
}

impl Walk {
    /// The next piece; none after the last one.
    fn next(&mut self) -> Option<&[u8]> {
        let (&lengths, mut rest) = self.rest.split_first()?;
        let shared = usize::from(lengths >> 4);
        let mut own = usize::from(lengths) & MOST;
        if own == MOST {
            let (&more, after) = rest.split_first()?;
            (own, rest) = (own + usize::from(more), after);
        }
        let (suffix, rest) = rest.split_at_checked(own)?;
        let length = shared + own;
        self.piece.get_mut(shared..length)?.copy_from_slice(suffix);
        self.rest = rest;
        Some(&self.piece[..length])
    }
}
