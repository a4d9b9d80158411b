//! Which entries an agent was told of in a conversation, and as what. It belongs to this device and stands outside the
//! journal.

use std::collections::HashSet;

use chrono::TimeDelta;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{Result, Transaction, View};
use crate::model::stable_name;

const TABLE: &str = "
    CREATE TABLE IF NOT EXISTS shown (
        session    TEXT NOT NULL,
        preference INTEGER NOT NULL,
        at         TEXT NOT NULL,
        told       TEXT,
        PRIMARY KEY (session, preference)
    ) WITHOUT ROWID;";

/// What was shown longer ago is let go.
const KEPT_DAYS: i64 = 30;

/// Whether the table says as what an entry was told.
fn has_told(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row(
        "SELECT count(*) > 0 FROM pragma_table_info('shown') WHERE name = 'told'",
        [],
        |row| row.get(0),
    )
}

/// What an entry says, as a name that gives nothing of it away.
fn content(row: &Row<'_>, first: usize) -> rusqlite::Result<String> {
    let text = |index| -> rusqlite::Result<String> {
        let value = row.get_ref(index)?;
        let bytes = value.as_bytes_or_null().ok().flatten();
        Ok(String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned())
    };
    let score = match row.get_ref(first + 2)? {
        rusqlite::types::ValueRef::Real(score) => score,
        #[expect(clippy::cast_precision_loss, reason = "a score is small")]
        rusqlite::types::ValueRef::Integer(score) => score as f64,
        _ => 0.0,
    };
    Ok(stable_name(&[
        &text(first)?,
        &text(first + 1)?,
        &score.to_string(),
    ]))
}

impl View<'_> {
    /// The ids of the entries that a conversation's agent was told of, and that are still what it was told.
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
            let told = if has_told(connection)? {
                "shown.told"
            } else {
                "NULL"
            };
            let mut statement = connection.prepare(&format!(
                "SELECT preference, {told}, item, reason, base_score
                 FROM shown JOIN preferences ON preferences.id = preference WHERE session = ?1"
            ))?;
            let mut rows = statement.query([session])?;
            let mut ids = HashSet::new();
            while let Some(row) = rows.next()? {
                let told: Option<String> = row.get(1)?;
                let is_same = match told {
                    Some(told) => told == content(row, 2)?,
                    // It was told before this was kept.
                    None => true,
                };
                if is_same {
                    ids.insert(row.get(0)?);
                }
            }
            Ok(ids)
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
            if !has_told(connection)? {
                connection.execute_batch("ALTER TABLE shown ADD COLUMN told TEXT")?;
            }
            if anew {
                let long_ago = (now - TimeDelta::days(KEPT_DAYS)).to_rfc3339();
                connection.execute(
                    "DELETE FROM shown WHERE session = ?1 OR at < ?2",
                    [session, &long_ago],
                )?;
            }
            let mut statement =
                connection.prepare(
                    "INSERT OR REPLACE INTO shown (session, preference, at, told) VALUES (?1, ?2, ?3, ?4)",
                )?;
            let mut entry = connection
                .prepare("SELECT item, reason, base_score FROM preferences WHERE id = ?1")?;
            for id in ids {
                let told = entry.query_row([id], |row| content(row, 0)).optional()?;
                statement.execute(params![session, id, now.to_rfc3339(), told])?;
            }
            Ok(())
        };
        write().map_err(|error| self.sqlite(error))
    }
}
