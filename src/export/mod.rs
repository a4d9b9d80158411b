//! Writes the profile where hosts of agents look for it by themselves: one marked block in a context file, everything else in
//! the file as it was.
//!
//! `format` says what each host reads and how much of it, `compose` chooses what fits and words it, `managed` puts the block
//! into a file and takes it out again, `entry` is the file about a single preference. Pure: bytes in, bytes out.

mod compose;
mod entry;
mod format;
mod managed;

pub use compose::{Block, Offer, compose};
pub use entry::{file_name, is_ours, looks_like_ours, text as entry_text};
pub use format::{Format, Room};
pub use managed::{Managed, Origin, find, put, rest, take_out};

/// Begins the line that opens a block in a file.
pub const BEGIN: &str = "aizo:begin";
/// Begins the line that closes it.
pub const END: &str = "aizo:end";
