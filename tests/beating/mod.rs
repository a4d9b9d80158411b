//! A beating for the store: faults of the disk, kills, full disks, damaged files, many processes, and input that was made to
//! hurt. Whatever happens, the old state or the new state is there, and what was said to be done is done.
//!
//! Each part has a short run, which is the default, and a long one. `README.md` says how they are started and what they count.

mod harm;
mod kills;
mod many;
mod model;
mod mutations;
mod parsers;
mod places;
mod random;
mod scene;

#[cfg(target_os = "linux")]
mod faults;
#[cfg(target_os = "linux")]
mod order;
#[cfg(target_os = "linux")]
mod shim;

use std::time::{Duration, Instant};

/// The variable that asks for a long run: of so many minutes a part.
const LONG: &str = "AIZO_BEATING";

/// How long a long run is; none in a short one.
fn minutes() -> Option<u64> {
    let text = std::env::var(LONG).ok()?;
    let minutes = text.parse().ok().filter(|&minutes| minutes > 0);
    Some(minutes.unwrap_or_else(|| panic!("{LONG} is a number of minutes, not `{text}`")))
}

/// So many rounds, or in a long run as many as fit.
fn rounds(short: u64) -> impl Iterator<Item = u64> {
    let end = minutes().map(|minutes| Instant::now() + Duration::from_secs(60 * minutes));
    (0..).take_while(move |&round| match end {
        Some(end) => round < short || Instant::now() < end,
        None => round < short,
    })
}

/// At most so many of them, from the first to the last; in a long run all.
fn chosen<T>(all: Vec<T>, most: usize) -> Vec<T> {
    let many = all.len();
    if minutes().is_some() || many <= most {
        return all;
    }
    let places: Vec<usize> = (0..most)
        .map(|place| place * (many - 1) / (most - 1).max(1))
        .collect();
    let numbered = all.into_iter().enumerate();
    numbered
        .filter(|(place, _)| places.contains(place))
        .map(|(_, one)| one)
        .collect()
}

/// Says what a part has counted.
#[allow(clippy::print_stderr)]
fn say(part: &str, counts: &str) {
    eprintln!("beating: {part}: {counts}");
}
