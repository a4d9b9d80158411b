//! The profile of several devices, through a git repository that all of them can reach.
//!
//! ```text
//! aizo-sync.json            the format
//! devices/DEVICE.jsonl      the journal of one device, a line of JSON for each line of it
//! PROFILE.md                the profile for people to read
//! .gitattributes            what git is to do with these, where people merge by hand
//! ```
//!
//! Each file is made from a journal and is written by one device (but for what was forgotten, which any device takes out of
//! all of them), so nothing is ever merged: a push stands on what the
//! repository holds, or is made anew on it. The repository lies here without a working tree; no hook, filter or link of it
//! does anything. What comes from it is data: `line.rs` says what counts as a line, and `merge::fold` what it does.

mod file;
mod git;
mod import;
mod line;
mod profile;
mod remote;
mod repository;

pub use file::{Reading, Stopped, append, file_name, mend, read, without};
pub use import::{Profile, Published, published};
pub use profile::profile;
pub use remote::{Remote, shown};
pub use repository::{Blob, FORMAT_FILE, PROFILE_FILE, Pushed, Repository, Tree, standing_files};
