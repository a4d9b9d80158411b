//! A time as the store keeps it.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// An RFC 3339 time kept as the text that was stored, so that a row another program wrote comes back
/// byte for byte, also when its time cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Stamp(pub String);

impl Stamp {
    /// Writes a moment in the documented form: UTC, as many decimals as it needs.
    pub fn at(moment: DateTime<Utc>) -> Self {
        Stamp(moment.to_rfc3339())
    }

    /// The moment, or nothing when the text is not a time.
    pub fn moment(&self) -> Option<DateTime<Utc>> {
        DateTime::parse_from_rfc3339(self.0.trim())
            .ok()
            .map(|moment| moment.with_timezone(&Utc))
    }
}
