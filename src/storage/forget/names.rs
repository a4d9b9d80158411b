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

/// Where the salts are kept: that of this store first, then those of stores that were put in its place.
const SALT: &str = "forgotten_salt";

/// The names of what was forgotten.
#[derive(Debug, Clone, Default)]
pub struct Names {
    salts: Vec<String>,
    known: HashMap<String, When>,
}

/// When something was forgotten.
#[derive(Debug, Clone)]
struct When {
    at: Stamp,
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
            let mut known = self.known(named, name).into_iter();
            known.any(|when| said_at.is_none_or(|said_at| Some(said_at) <= when.at.moment()))
        })
    }

    /// The logical time at which the item of this very name was forgotten last.
    pub(in crate::storage) fn forgotten_at(&self, item: &str) -> Option<&str> {
        let known = self.known(key, item).into_iter();
        known.map(|when| when.hlc.as_str()).max()
    }

    fn known(&self, name: fn(&str, &str) -> String, item: &str) -> Vec<&When> {
        let names = self.salts.iter().map(|salt| name(salt, item));
        names.filter_map(|name| self.known.get(&name)).collect()
    }
}

fn key(salt: &str, item: &str) -> String {
    hidden_name(salt, &["item", &item_key(item)])
}

fn thing(salt: &str, item: &str) -> String {
    named(salt, &Thing::of(item).name())
}

fn named(salt: &str, thing: &str) -> String {
    hidden_name(salt, &["thing", thing])
}

impl View<'_> {
    /// The names of what was forgotten here, or came as forgotten from another device.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn forgotten_names(&self) -> Result<Names> {
        let salts = self.salts()?;
        if salts.is_empty() {
            return Ok(Names::default());
        }
        let read = || -> rusqlite::Result<HashMap<String, When>> {
            self.connection()
                .prepare("SELECT name, at, hlc FROM forgotten")?
                .query_map([], |row| {
                    let when = When {
                        at: Stamp(row.get(1)?),
                        hlc: row.get(2)?,
                    };
                    Ok((row.get(0)?, when))
                })?
                .collect()
        };
        let known = self.sqlite_result(read())?;
        Ok(Names { salts, known })
    }

    fn salts(&self) -> Result<Vec<String>> {
        let salts = self.meta(SALT)?.unwrap_or_default();
        Ok(salts.split_whitespace().map(str::to_owned).collect())
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
        let salt = match self.view().salts()?.into_iter().next() {
            Some(salt) => salt,
            None => {
                let salt = new_uid() + &new_uid();
                self.set_meta(SALT, &salt)?;
                salt
            }
        };
        let when = When {
            at: Stamp::at(at),
            hlc: hlc.to_string(),
        };
        let names = items
            .iter()
            .flat_map(|item| [key(&salt, item), thing(&salt, item)]);
        self.note_names(names.map(|name| (name, &when)))
    }

    /// Remembers what another store knows to be forgotten.
    pub(super) fn take_names(&self, names: &Names) -> Result<()> {
        let mut salts = self.view().salts()?;
        let more = names.salts.iter().filter(|salt| !salts.contains(salt));
        let more: Vec<String> = more.cloned().collect();
        salts.extend(more);
        self.set_meta(SALT, &salts.join(" "))?;
        let known = names.known.iter();
        self.note_names(known.map(|(name, when)| (name.clone(), when)))
    }

    fn note_names<'w>(&self, names: impl Iterator<Item = (String, &'w When)>) -> Result<()> {
        let note = || -> rusqlite::Result<()> {
            self.connection().execute_batch(TABLE)?;
            let mut statement = self.connection().prepare_cached(
                "INSERT INTO forgotten VALUES (?1, ?2, ?3)
                 ON CONFLICT (name) DO UPDATE SET at = max(at, excluded.at), hlc = max(hlc, excluded.hlc)",
            )?;
            for (name, when) in names {
                statement.execute(params![name, when.at.0, when.hlc])?;
            }
            Ok(())
        };
        note().map_err(|error| self.sqlite(error))
    }
}
