//! Files that belong to other programs: read, compared, and put in the place of what was there at once, for whoever changes
//! something in them.
//!
//! `found` is a file as it was found and writes nothing over what somebody else has written since, `swap` puts a new file in the
//! place of another, `lock` lets one run at a time do so, `claim` tells what is written from what was left, `diff` shows what changes, `stamp` tells that something has. The rest is about texts.

mod claim;
mod diff;
mod found;
mod json;
mod lock;
mod stamp;
mod swap;
mod text;

pub use claim::{claimed, is_left, remove_left};
pub use diff::difference;
pub use found::{Found, leads_to, real};
pub use json::{object, path};
pub use lock::Lock;
pub use stamp::stamp;
pub use swap::{Readers, folders_for, leftovers, missing_folders, replace, sweep};
pub use text::{Fault, MARK, newline};
