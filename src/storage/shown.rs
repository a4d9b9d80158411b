//! Which entries an agent was told of in a conversation. It belongs to this device and stands outside the journal.

use std::collections::HashSet;

use chrono::TimeDelta;
use rusqlite::params;

use super::{Result, Transaction, View};

const TABLE: &str = "
    CREATE TABLE IF NOT EXISTS shown (
        session    TEXT NOT NULL,
        preference INTEGER NOT NULL,
        at         TEXT NOT NULL,
        PRIMARY KEY (session, preference)
    ) WITHOUT ROWID;";

/// What was shown longer ago is let go.
const KEPT_DAYS: i64 = 30;

impl View<'_> {
    /// The ids of the entries that a conversation's agent was told of.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn shown(&self, session: &str) -> Result<HashSet<i64>> {
        let read = || -> rusqlite::Result<HashSet<i64>> {
            let connection = self.connection();
            let exists: bool = connection.query_row(
                "SELECT count(*) FROM sqlite_schema WHERE name = 'shown'",
                [],
                |row| row.get(0),
            )?;
            if !exists {
                return Ok(HashSet::new());
            }
            connection
                .prepare("SELECT preference FROM shown WHERE session = ?1")?
                .query_map([session], |row| row.get(0))?
                .collect()
        };
        self.sqlite_result(read())
    }
}

impl Transaction<'_> {
    /// Remembers of which entries a conversation's agent was told; with `anew` it has forgotten what it was told before.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn remember_shown(&mut self, session: &str, ids: &[i64], anew: bool) -> Result<()> {
        let now = self.now();
        let write = || -> rusqlite::Result<()> {
            let connection = self.connection();
            connection.execute_batch(TABLE)?;
            if anew {
                let long_ago = (now - TimeDelta::days(KEPT_DAYS)).to_rfc3339();
                connection.execute(
                    "DELETE FROM shown WHERE session = ?1 OR at < ?2",
                    [session, &long_ago],
                )?;
            }
            let mut statement =
                connection.prepare("INSERT OR REPLACE INTO shown VALUES (?1, ?2, ?3)")?;
            for id in ids {
                statement.execute(params![session, id, now.to_rfc3339()])?;
            }
            Ok(())
        };
        write().map_err(|error| self.sqlite(error))
    }
}
