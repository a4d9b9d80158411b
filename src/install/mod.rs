//! Settles aizo in the hosts of agents, and takes it out again: which files each host reads, what aizo puts into them, and how.
//!
//! `recipe` says what belongs where, `jsonc` and `toml` make one change to a text, `plan` goes from bytes to bytes, and `record`
//! remembers what was changed, so that it can be taken back byte for byte. Pure: who calls it reads and writes the files.

mod calls;
mod edit;
mod host;
mod jsonc;
mod plan;
mod plugin;
mod recipe;
mod record;
mod toml;

pub use calls::programs;
pub use edit::Edit;
pub use host::{Machine, Scope};
pub use plan::{Outcome, Step, install, uninstall};
pub use plugin::plugin;
pub use recipe::{Content, Part, Piece, Program, SKILL, pieces};
pub use record::{FileRecord, Record};
