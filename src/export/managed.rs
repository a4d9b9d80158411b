//! The block in its file: found by its two markers, put in, renewed and taken out again, with everything else in the file as it
//! was, byte for byte.

use std::ops::Range;

use super::compose::Block;
use super::format::{Format, Room};
use super::{BEGIN, END};
use crate::files::{Fault, MARK, newline};
use crate::model::stable_name;

/// How the block came into its file: what has to be undone when it is taken out. It stands in the marker, since the file
/// may be on another machine by then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The file was made for it.
    NoFile,
    /// The file was there and empty.
    EmptyFile,
    /// So many line ends were put before it.
    After(u8),
    /// Somebody has put the markers there.
    ByHand,
}

impl Origin {
    /// The one that takes most room.
    pub(super) const LONGEST: Origin = Origin::EmptyFile;

    pub(super) fn words(self) -> String {
        match self {
            Origin::NoFile => " was=none".to_owned(),
            Origin::EmptyFile => " was=empty".to_owned(),
            Origin::After(gap) => format!(" gap={gap}"),
            Origin::ByHand => String::new(),
        }
    }

    fn read(marker: &str) -> Self {
        marker
            .split_whitespace()
            .find_map(|word| match word {
                "was=none" => Some(Origin::NoFile),
                "was=empty" => Some(Origin::EmptyFile),
                "gap=0" => Some(Origin::After(0)),
                "gap=1" => Some(Origin::After(1)),
                "gap=2" => Some(Origin::After(2)),
                _ => None,
            })
            .unwrap_or(Origin::ByHand)
    }
}

/// A block that was found in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Managed {
    /// From the beginning of the first marker to the end of the second, without the line end behind it.
    pub range: Range<usize>,
    /// What stands between them.
    pub body: Range<usize>,
    /// How it came there.
    pub origin: Origin,
    /// Whether aizo has written what stands in it, and nobody has changed it since.
    pub is_as_written: bool,
}

/// What the text of a block is known by. It stands in the first marker, so that every machine can tell whether somebody has
/// changed the text; line ends do not count, which a checkout may change.
pub(super) fn sum(body: &str) -> String {
    stable_name(&[&body.replace("\r\n", "\n")]).split_off(24)
}

/// A line without its end, and where it stands.
struct Line<'t> {
    start: usize,
    text: &'t [u8],
    /// Behind its end.
    next: usize,
}

fn lines(bytes: &[u8]) -> Vec<Line<'_>> {
    let mut next = 0;
    let lines = bytes.split_inclusive(|&byte| byte == b'\n').map(|whole| {
        let text = match whole.strip_prefix(MARK.as_bytes()) {
            Some(rest) if next == 0 => rest,
            _ => whole,
        };
        let start = next + whole.len() - text.len();
        next += whole.len();
        Line {
            start,
            text: text.trim_ascii_end(),
            next,
        }
    });
    lines.collect()
}

/// The marker that opens a block.
struct Opened {
    start: usize,
    /// Its line, counted from 1.
    number: usize,
    origin: Origin,
    sum: Option<String>,
    /// Where the text begins.
    body: usize,
}

impl Opened {
    fn of(line: &Line<'_>, number: usize, marker: &str) -> Self {
        let sum = marker
            .split_whitespace()
            .find_map(|word| word.strip_prefix("sum="));
        Opened {
            start: line.start,
            number,
            origin: Origin::read(marker),
            sum: sum.map(str::to_owned),
            body: line.next,
        }
    }

    fn closed(&self, bytes: &[u8], line: &Line<'_>) -> Managed {
        let body = self.body..line.start;
        let text = String::from_utf8_lossy(&bytes[body.clone()]);
        Managed {
            range: self.start..line.start + line.text.len(),
            origin: self.origin,
            is_as_written: self.sum.as_ref().is_some_and(|known| *known == sum(&text)),
            body,
        }
    }
}

/// Finds the block.
///
/// # Errors
/// The markers are not one pair, and in which lines.
pub fn find(bytes: &[u8]) -> Result<Option<Managed>, Fault> {
    if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) || bytes.contains(&0) {
        let message = "this is no text in UTF-8".to_owned();
        return Err(Fault { line: 1, message });
    }
    let fault = |line: usize, message: String| Err(Fault { line, message });
    let lines = lines(bytes);
    let fenced = fenced(&lines);
    let mut open: Option<Opened> = None;
    let mut closed: Option<(usize, Managed)> = None;
    for (index, line) in lines.iter().enumerate().filter(|(at, _)| !fenced[*at]) {
        let number = index + 1;
        let Some((marker, text)) = marker(line.text) else {
            continue;
        };
        if !text.ends_with("-->") {
            return fault(number, format!("the marker {marker} is not closed by -->"));
        }
        match (marker == BEGIN, open.take(), &closed) {
            (true, Some(Opened { number: first, .. }), _) => {
                return fault(
                    number,
                    format!("a second {BEGIN} before the {END} of the one in line {first}"),
                );
            }
            (true, None, Some((first, _))) => {
                return fault(
                    number,
                    format!("a second block; the first begins in line {first}"),
                );
            }
            (true, None, None) => open = Some(Opened::of(line, number, &text)),
            (false, Some(opened), _) => {
                closed = Some((opened.number, opened.closed(bytes, line)));
            }
            (false, None, _) => return fault(number, format!("{END} without {BEGIN} before it")),
        }
    }
    match open {
        Some(Opened { number, .. }) => fault(number, format!("{BEGIN} without {END} after it")),
        None => Ok(closed.map(|(_, managed)| managed)),
    }
}

/// Which lines stand in a fence of code, where a marker is an example. A fence that nobody closes is none: it would hide all
/// that follows.
fn fenced(lines: &[Line<'_>]) -> Vec<bool> {
    let mut fenced = vec![false; lines.len()];
    let mut open: Option<(usize, u8, usize)> = None;
    for (index, line) in lines.iter().enumerate() {
        let Some((sign, length, rest)) = fence(line.text) else {
            continue;
        };
        match open {
            None if sign == b'~' || !rest.contains(&sign) => open = Some((index, sign, length)),
            Some((first, same, least)) if sign == same && length >= least && rest.is_empty() => {
                fenced[first..=index].fill(true);
                open = None;
            }
            _ => {}
        }
    }
    fenced
}

/// The sign of the fence that a line is, how many of it there are, and what stands behind them.
fn fence(line: &[u8]) -> Option<(u8, usize, &[u8])> {
    const DEEPEST: usize = 3;
    const SHORTEST: usize = 3;
    let text = line.trim_ascii_start();
    let sign = *text.first().filter(|sign| b"`~".contains(sign))?;
    let length = text.iter().take_while(|&&byte| byte == sign).count();
    let is_fence = line.len() - text.len() <= DEEPEST && length >= SHORTEST;
    is_fence.then(|| (sign, length, text[length..].trim_ascii()))
}

/// The marker that a line is, and its text. Only at the beginning of a line it is one: quoted or indented it is text.
fn marker(line: &[u8]) -> Option<(&'static str, String)> {
    let text = line.strip_prefix(b"<!--")?.trim_ascii_start();
    [BEGIN, END].into_iter().find_map(|name| {
        let rest = text.strip_prefix(name.as_bytes())?;
        let ends = rest
            .first()
            .is_none_or(|byte| !byte.is_ascii_alphanumeric());
        ends.then(|| (name, String::from_utf8_lossy(rest).into_owned()))
    })
}

/// The file with the block in it: in the place of the one that is there, else at its end.
///
/// # Errors
/// As [`find`].
pub fn put(bytes: Option<&[u8]>, block: &Block, head: &str) -> Result<Vec<u8>, Fault> {
    let old = bytes.unwrap_or_default();
    let found = find(old)?;
    // The block keeps the line ends that it has. Behind a carriage return alone, a line feed would make one line end of both.
    let newline = match &found {
        Some(Managed { range, .. }) => newline(&String::from_utf8_lossy(&old[range.clone()])),
        None if old.ends_with(b"\r") => "\r\n",
        None => newline(&String::from_utf8_lossy(old)),
    };
    let text = |origin| block.text(origin).replace('\n', newline).into_bytes();
    if let Some(Managed { range, origin, .. }) = found {
        return Ok([&old[..range.start], &text(origin), &old[range.end..]].concat());
    }
    if old.is_empty() {
        let origin = if bytes.is_some() {
            Origin::EmptyFile
        } else {
            Origin::NoFile
        };
        return Ok([head.as_bytes(), &text(origin), b"\n"].concat());
    }
    let content = old.strip_prefix(MARK.as_bytes()).unwrap_or(old);
    let gap = if content.is_empty() {
        0
    } else {
        2_u8.saturating_sub(line_ends(content))
    };
    let between = newline.repeat(usize::from(gap));
    let block = text(Origin::After(gap));
    Ok([old, between.as_bytes(), &block, newline.as_bytes()].concat())
}

/// The file without the block, as it was before; nothing where it was made for it. Nothing at all when it has none.
///
/// # Errors
/// As [`find`].
pub fn take_out(bytes: &[u8]) -> Result<Option<Option<Vec<u8>>>, Fault> {
    let Some(Managed { range, origin, .. }) = find(bytes)? else {
        return Ok(None);
    };
    let (mut before, after) = (&bytes[..range.start], &bytes[range.end..]);
    let after = without_first(after).unwrap_or(after);
    if let Origin::After(gap) = origin {
        for _ in 0..gap {
            let Some(shorter) = without_last(before) else {
                break;
            };
            // What somebody has written behind the block stays a paragraph of its own.
            let keeps_apart = without_first(after).is_some() && line_ends(shorter) > 0;
            if !after.is_empty() && !keeps_apart {
                break;
            }
            before = shorter;
        }
    }
    let rest = [before, after].concat();
    let text = String::from_utf8_lossy(&rest).replace("\r\n", "\n");
    let is_ours = Format::ALL.iter().any(|format| format.head() == text);
    Ok(Some(match origin {
        Origin::NoFile if is_ours => None,
        Origin::EmptyFile if is_ours => Some(Vec::new()),
        _ => Some(rest),
    }))
}

/// What stands in the file beside the block.
///
/// # Errors
/// As [`find`].
pub fn rest(bytes: Option<&[u8]>, format: Format) -> Result<Room, Fault> {
    let bytes = bytes.unwrap_or_default();
    let found = find(bytes)?;
    let count = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte == b'\n').count();
    // A new file gets a head, a file with something in it a gap.
    let added = if bytes.is_empty() {
        format.head().as_bytes()
    } else {
        b"\n\n\n"
    };
    let (kept, added) = match found {
        Some(Managed { range, .. }) => (
            [&bytes[..range.start], &bytes[range.end..]].concat(),
            &b""[..],
        ),
        None => (bytes.to_vec(), added),
    };
    Ok(Room {
        lines: count(&kept) + count(added),
        bytes: kept.len() + 2 * added.len(),
    })
}

/// How many line ends the text ends with, two at the most.
fn line_ends(bytes: &[u8]) -> u8 {
    match without_last(bytes) {
        None => 0,
        Some(shorter) if without_last(shorter).is_some() => 2,
        Some(_) => 1,
    }
}

fn without_last(bytes: &[u8]) -> Option<&[u8]> {
    bytes
        .strip_suffix(b"\r\n")
        .or_else(|| bytes.strip_suffix(b"\n"))
}

fn without_first(bytes: &[u8]) -> Option<&[u8]> {
    bytes
        .strip_prefix(b"\r\n")
        .or_else(|| bytes.strip_prefix(b"\n"))
}
