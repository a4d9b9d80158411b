//! The profile on its way between stores: aizo's own format, which comes back as it left, and what else `aizo import` reads.
//! Pure: bytes and streams in, rows out.
//!
//! | file | does |
//! |---|---|
//! | `profile.rs` | the rows of aizo's own format, and the sum that tells whether somebody has changed them |
//! | `publish.rs` | the same without what concerns nobody else |
//! | `markdown.rs` | the same for a reader |
//! | `clean.rs` | what of a row may enter a store |
//! | `texts.rs` | whether a row speaks to the model |
//! | `format.rs` | what a file is, by its beginning |
//! | `piece.rs` | what stands in a file, and how the file was |
//! | `read.rs` | reads it |
//! | `json.rs` | takes a document apart without reading all of it, and tells the lines |
//! | `foreign.rs` | the records of other programs |
//! | `rules.rs` | lists of rules and memories in plain text |
//! | `heard.rs` | what a sentence about the user says |

mod clean;
mod foreign;
mod format;
mod heard;
mod json;
mod markdown;
mod piece;
mod profile;
mod publish;
mod read;
mod rules;
mod texts;

pub use format::{Format, Layout, Look, look};
pub use heard::candidates;
pub use markdown::markdown;
pub(crate) use markdown::{is_as_summed, summed};
pub use piece::{Found, Heading, Piece, ReadError, Reading, Statement, Told, Trust, Voice};
pub use profile::{
    Change, Document, End, Entry, FORMAT, Header, Line, Proposal, Row, Settings, Sum, VERSION,
};
pub use publish::{Reasons, published};
pub use read::read;
pub use texts::suspicion_of_evidence;
