//! The words that a shell makes of `{a,b}`.

use crate::check::budget::Budget;
use crate::check::shell::{Mark, Word};

/// The most words that braces make of one.
const MOST_WORDS: usize = 256;
/// More braces in a word are not followed.
const MOST_BRACES: usize = 64;

/// A piece of a word.
#[derive(Debug, Clone)]
pub enum Piece<'w> {
    Text(&'w str),
    Brace(char),
    Mark(&'w Mark, &'w str),
}

/// The pieces of a word, in order.
pub fn pieces_of(word: &Word) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut at = 0;
    for (start, mark) in &word.marks {
        if *start > at {
            pieces.push(Piece::Text(&word.text[at..*start]));
        }
        let length = match mark {
            Mark::Brace(_) => 1,
            Mark::Variable(variable) => variable.length,
            Mark::Output { .. } => 0,
        };
        at = start + length;
        pieces.push(match mark {
            Mark::Brace(c) => Piece::Brace(*c),
            other => Piece::Mark(other, &word.text[*start..at]),
        });
    }
    if at < word.text.len() {
        pieces.push(Piece::Text(&word.text[at..]));
    }
    pieces
}

/// The words that `{a,b}` makes, and whether these are all.
pub fn braced<'w>(pieces: Vec<Piece<'w>>, budget: &Budget) -> (Vec<Vec<Piece<'w>>>, bool) {
    let is_brace = |piece: &Piece<'_>| matches!(piece, Piece::Brace(_));
    let braces = pieces.iter().filter(|piece| is_brace(piece)).count();
    if braces == 0 {
        return (vec![pieces], true);
    }
    if braces > MOST_BRACES {
        return (vec![pieces], false);
    }
    let mut done = Vec::new();
    let mut waiting = vec![(pieces, 0)];
    let mut is_all = true;
    while let Some((word, from)) = waiting.pop() {
        let Some(choice) = Choice::of(&word, from) else {
            done.push(word);
            continue;
        };
        let more = choice.cuts.len();
        if more == 1 {
            waiting.push((word, choice.open + 1));
            continue;
        }
        if done.len() + waiting.len() + more > MOST_WORDS || !budget.spend(more * word.len()) {
            is_all = false;
            done.push(word);
            continue;
        }
        // In the order in which they are written.
        waiting.extend(choice.words(&word).into_iter().rev());
    }
    (done, is_all)
}

/// A `{a,b}`: where it opens, and where each of its parts ends.
struct Choice {
    open: usize,
    cuts: Vec<usize>,
}

impl Choice {
    /// The first one from a place on; of one that nobody closes the place alone.
    fn of(word: &[Piece<'_>], from: usize) -> Option<Self> {
        let is_open = |piece: &Piece<'_>| matches!(piece, Piece::Brace('{'));
        let open = from + word[from..].iter().position(is_open)?;
        let mut depth = 0;
        let mut cuts = Vec::new();
        for (index, piece) in word.iter().enumerate().skip(open) {
            match piece {
                Piece::Brace('{') => depth += 1,
                Piece::Brace(',') if depth == 1 => cuts.push(index),
                Piece::Brace('}') => {
                    depth -= 1;
                    if depth == 0 {
                        cuts.push(index);
                        return Some(Choice { open, cuts });
                    }
                }
                _ => {}
            }
        }
        Some(Choice {
            open,
            cuts: vec![open],
        })
    }

    /// The words that it makes, and where each of them is to be read on.
    fn words<'w>(&self, word: &[Piece<'w>]) -> Vec<(Vec<Piece<'w>>, usize)> {
        let close = self.cuts.last().copied().unwrap_or(self.open);
        let mut start = self.open + 1;
        let mut made = Vec::new();
        for cut in &self.cuts {
            let parts = [&word[..self.open], &word[start..*cut], &word[close + 1..]];
            made.push((parts.concat(), self.open));
            start = cut + 1;
        }
        made
    }
}
