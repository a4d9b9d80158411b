//! The nouns of the product. Nothing here knows SQLite, the clock or a file.

mod candidate;
mod change;
mod evidence;
mod hlc;
mod line;
mod name;
mod preference;
mod score;
mod stamp;
mod text;
mod turn;

pub use candidate::{Candidate, Kind};
pub(crate) use change::values_of;
pub use change::{
    Change, ChangeError, Effect, EntryValues, Op, ProposalEdit, ProposalValues, Subject, Values,
};
pub use evidence::{Evidence, Origin, Speaker};
pub use hlc::Hlc;
pub(crate) use line::SEEN;
pub use line::{JournalLine, LINE_VERSION, is_device_name};
pub use name::{StableName, hidden_name, stable_name};
pub use preference::{Preference, Proposal};
pub use score::{Band, Score, ScoreError};
pub use stamp::Stamp;
pub use text::{
    MAX_TEXT_BYTES, TextError, beginning, check_text, fold, is_hidden, is_hidden_in, is_plain,
    is_shapeless, item_key, join_keywords, join_patterns, parse_keywords, quoted, split_keywords,
    split_patterns, split_words, strip_hidden,
};
pub use turn::{Answer, Turn, TurnKind};
