//! What of a forgotten item stays in this store: salted hashes of its name, so that it is not learned again from what was
//! said before. They belong to this device; nothing is in them that could be read.

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use rusqlite::params;

use crate::merge::Thing;
use crate::model::{Hlc, Stamp, hidden_name, item_key};
use crate::storage::write::new_uid;
use crate::storage::{Result, Transaction, View};

/// Made when something is forgotten first.
const TABLE: &str = "
    CREATE TABLE IF NOT EXISTS forgotten (
        name TEXT PRIMARY KEY,
        at   TEXT NOT NULL,
        hlc  TEXT NOT NULL
    ) WITHOUT ROWID;";

/// Where the salt is kept.
const SALT: &str = "forgotten_salt";

/// The names of what was forgotten.
#[derive(Debug, Clone, Default)]
pub struct Names {
    salt: String,
    known: HashMap<String, When>,
}

/// When something was forgotten.
#[derive(Debug, Clone)]
struct When {
    at: Option<DateTime<Utc>>,
    hlc: String,
}

impl Names {
    /// Whether nothing was forgotten.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Whether what was said of an item is not to be learned: it names something that was forgotten later. What has no time
    /// may have been said before.
    pub fn keep_out(&self, item: &str, said_at: Option<DateTime<Utc>>) -> bool {
        let within = Thing::names_within(item);
        within.iter().any(|name| {
            let known = self.known.get(&self.named(name));
            known.is_some_and(|when| said_at.is_none_or(|said_at| Some(said_at) <= when.at))
        })
    }

    /// The logical time at which the item of this very name was forgotten last.
    pub(in crate::storage) fn forgotten_at(&self, item: &str) -> Option<&str> {
        let known = self.known.get(&self.key(item))?;
        Some(known.hlc.as_str())
    }

    fn key(&self, item: &str) -> String {
        hidden_name(&self.salt, &["item", &item_key(item)])
    }

    fn thing(&self, item: &str) -> String {
        self.named(&Thing::of(item).name())
    }

    fn named(&self, thing: &str) -> String {
        hidden_name(&self.salt, &["thing", thing])
    }
}

impl View<'_> {
    /// The names of what was forgotten here, or came as forgotten from another device.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn forgotten_names(&self) -> Result<Names> {
        let Some(salt) = self.meta(SALT)? else {
            return Ok(Names::default());
        };
        let read = || -> rusqlite::Result<HashMap<String, When>> {
            self.connection()
                .prepare("SELECT name, at, hlc FROM forgotten")?
                .query_map([], |row| {
                    let when = When {
                        at: Stamp(row.get(1)?).moment(),
                        hlc: row.get(2)?,
                    };
                    Ok((row.get(0)?, when))
                })?
                .collect()
        };
        let known = self.sqlite_result(read())?;
        Ok(Names { salt, known })
    }
}

impl Transaction<'_> {
    /// Remembers that items were forgotten, without remembering them.
    pub(super) fn remember_names(
        &self,
        items: &BTreeSet<String>,
        at: DateTime<Utc>,
        hlc: Hlc,
    ) -> Result<()> {
        if items.is_empty() {
            return Ok(());
        }
        self.connection()
            .execute_batch(TABLE)
            .map_err(|error| self.sqlite(error))?;
        let salt = match self.view().meta(SALT)? {
            Some(salt) => salt,
            None => {
                let salt = new_uid() + &new_uid();
                self.set_meta(SALT, &salt)?;
                salt
            }
        };
        let names = Names {
            salt,
            known: HashMap::new(),
        };
        for item in items {
            for name in [names.key(item), names.thing(item)] {
                self.connection()
                    .prepare_cached(
                        "INSERT INTO forgotten VALUES (?1, ?2, ?3)
                         ON CONFLICT (name) DO UPDATE SET at = max(at, excluded.at), hlc = max(hlc, excluded.hlc)",
                    )
                    .and_then(|mut statement| {
                        statement.execute(params![name, Stamp::at(at).0, hlc.to_string()])
                    })
                    .map_err(|error| self.sqlite(error))?;
            }
        }
        Ok(())
    }
}
