//! What was read of which transcript: cursors, the turns that were heard, the conversations. It belongs to this device and
//! stands outside the journal.

use std::collections::{BTreeSet, HashMap, HashSet};

use rusqlite::{OptionalExtension, params};

use super::{Result, Transaction, View};

/// Made when something is analysed first, so that a store that an earlier build wrote gets them too.
const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS transcripts (
        path    TEXT PRIMARY KEY,
        cursor  TEXT NOT NULL,
        read_at TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS heard_turns (
        key     TEXT PRIMARY KEY,
        session TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS heard_turns_session ON heard_turns(session);";

/// A conversation that was analysed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnalysedSession {
    /// Its number in this file.
    pub id: i64,
    /// When it was analysed last.
    pub analyzed_at: String,
    /// How many preferences came of it.
    pub extracted: i64,
    /// Agent and conversation, `claude-code/4f1c…`; a hash in rows of an earlier version.
    pub name: String,
    /// How many of its turns were heard.
    pub turns: i64,
}

/// What was learned from conversations, over all runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaughtBefore {
    /// The names of observations.
    pub observations: BTreeSet<String>,
    /// How many new entries each conversation gave, hard limits not counted.
    pub new_by_session: HashMap<String, usize>,
}

impl View<'_> {
    fn has_analysis(&self) -> Result<bool> {
        self.sqlite_result(self.connection().query_row(
            "SELECT count(*) = 2 FROM sqlite_schema WHERE name IN ('transcripts', 'heard_turns')",
            [],
            |row| row.get(0),
        ))
    }

    /// How far a transcript was read, as it was remembered.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn cursor(&self, path: &str) -> Result<Option<String>> {
        if !self.has_analysis()? {
            return Ok(None);
        }
        self.sqlite_result(
            self.connection()
                .prepare_cached("SELECT cursor FROM transcripts WHERE path = ?1")
                .and_then(|mut statement| statement.query_row([path], |row| row.get(0)).optional()),
        )
    }

    /// Which of these turns were heard before.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn heard<'k>(&self, keys: impl Iterator<Item = &'k str>) -> Result<HashSet<String>> {
        let mut heard = HashSet::new();
        if !self.has_analysis()? {
            return Ok(heard);
        }
        self.sqlite_result((|| {
            let mut statement = self
                .connection()
                .prepare_cached("SELECT EXISTS (SELECT 1 FROM heard_turns WHERE key = ?1)")?;
            for key in keys {
                if statement.query_row([key], |row| row.get::<_, bool>(0))? {
                    heard.insert(key.to_owned());
                }
            }
            Ok(())
        })())?;
        Ok(heard)
    }

    /// The conversations that were analysed, newest first.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn analysed_sessions(&self) -> Result<Vec<AnalysedSession>> {
        let turns = if self.has_analysis()? {
            "(SELECT count(*) FROM heard_turns WHERE session = content_hash)"
        } else {
            "0"
        };
        self.sqlite_result(
            self.connection()
                .prepare(&format!(
                    "SELECT id, analyzed_at, extracted, content_hash, {turns} FROM sessions
                     ORDER BY analyzed_at DESC, id DESC"
                ))
                .and_then(|mut statement| {
                    statement
                        .query_map([], |row| {
                            Ok(AnalysedSession {
                                id: row.get(0)?,
                                analyzed_at: super::read::text(row, 1)?,
                                extracted: row.get(2)?,
                                name: super::read::text(row, 3)?,
                                turns: row.get(4)?,
                            })
                        })?
                        .collect()
                }),
        )
    }

    /// What conversations taught before: the names of all observations that the journal has seen, also of those whose entry was removed and of those that a
    /// person rejected. What was taken back whole, by `clear` or `undo`, counts as never seen.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn taught_before(&self) -> Result<TaughtBefore> {
        self.observed_where("json_extract(e.value, '$.session') IS NOT NULL")
    }

    /// The names of all observations that came from foreign files, whatever became of their entries and proposals. What was taken
    /// back whole counts as never seen.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn imported_before(&self) -> Result<BTreeSet<String>> {
        let observed = self.observed_where("json_extract(e.value, '$.origin') = 'import'")?;
        Ok(observed.observations)
    }

    fn observed_where(&self, condition: &str) -> Result<TaughtBefore> {
        let undone = self.undone_batches()?;
        let read = || -> rusqlite::Result<TaughtBefore> {
            let mut cleared: HashMap<String, i64> = HashMap::new();
            let mut statement = self
                .connection()
                .prepare("SELECT uid, seq, batch FROM journal WHERE op = 'clear'")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                if !undone.contains(&row.get::<_, String>(2)?) {
                    cleared.insert(row.get(0)?, row.get(1)?);
                }
            }
            let mut statement = self.connection().prepare(&format!(
                "SELECT uid, seq, batch, json_extract(e.value, '$.uid'),
                     json_extract(e.value, '$.agent') || '/' || json_extract(e.value, '$.session'),
                     op = 'add' AND json_extract(values_after, '$.base_score') > 1.5
                 FROM journal, json_each(evidence_added) e
                 WHERE {condition}
                 UNION ALL
                 SELECT uid, seq, batch, json_extract(json_extract(values_after, '$.evidence'), '$.uid'),
                     NULL, 0
                 FROM journal
                 WHERE kind = 'proposal' AND json_extract(values_after, '$.evidence') LIKE '{{%'",
            ))?;
            let mut rows = statement.query([])?;
            let mut before = TaughtBefore::default();
            while let Some(row) = rows.next()? {
                let (uid, seq): (String, i64) = (row.get(0)?, row.get(1)?);
                let is_gone = cleared.get(&uid).is_some_and(|&at| at > seq)
                    || undone.contains(&row.get::<_, String>(2)?);
                if let (false, Some(observation)) = (is_gone, row.get(3)?) {
                    before.observations.insert(observation);
                    if let (Some(session), Some(true)) = (row.get(4)?, row.get(5)?) {
                        *before.new_by_session.entry(session).or_default() += 1;
                    }
                }
            }
            Ok(before)
        };
        self.sqlite_result(read())
    }
}

impl Transaction<'_> {
    /// Remembers how far a transcript was read.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn remember_cursor(&mut self, path: &str, cursor: &str) -> Result<()> {
        let now = self.now().to_rfc3339();
        self.connection()
            .execute_batch(TABLES)
            .and_then(|()| {
                self.connection()
                    .prepare_cached("INSERT OR REPLACE INTO transcripts VALUES (?1, ?2, ?3)")
            })
            .and_then(|mut statement| statement.execute(params![path, cursor, now]))
            .map(|_| ())
            .map_err(|error| self.sqlite(error))
    }

    /// Remembers that turns of a conversation were heard, and how many preferences came of it.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn remember_session<'k>(
        &mut self,
        name: &str,
        keys: impl Iterator<Item = &'k str>,
        extracted: usize,
    ) -> Result<()> {
        let now = self.now().to_rfc3339();
        let extracted = i64::try_from(extracted).unwrap_or(i64::MAX);
        let write = || -> rusqlite::Result<()> {
            let connection = self.connection();
            connection.execute_batch(TABLES)?;
            let mut statement =
                connection.prepare_cached("INSERT OR IGNORE INTO heard_turns VALUES (?1, ?2)")?;
            for key in keys {
                statement.execute([key, name])?;
            }
            let known = connection
                .prepare_cached(
                    "UPDATE sessions SET analyzed_at = ?2, extracted = extracted + ?3 WHERE content_hash = ?1",
                )?
                .execute(params![name, now, extracted])?;
            if known == 0 {
                connection
                    .prepare_cached(
                        "INSERT INTO sessions (analyzed_at, extracted, content_hash) VALUES (?2, ?3, ?1)",
                    )?
                    .execute(params![name, now, extracted])?;
            }
            Ok(())
        };
        write().map_err(|error| self.sqlite(error))
    }

    /// Forgets that these conversations were analysed, so that the next run hears them again. How far their files were read is
    /// forgotten with them. Tells how many were known.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn forget_sessions(&mut self, ids: &[i64]) -> Result<usize> {
        let write = || -> rusqlite::Result<usize> {
            let connection = self.connection();
            let mut known = 0;
            for id in ids {
                self.delete_turns(*id)?;
                known += connection
                    .prepare_cached("DELETE FROM sessions WHERE id = ?1")?
                    .execute([id])?;
            }
            Ok(known)
        };
        write().map_err(|error| self.sqlite(error))
    }

    /// Forgets the turns of a conversation, whose record is about to go.
    pub(super) fn forget_turns(&self, id: i64) -> Result<()> {
        self.delete_turns(id).map_err(|error| self.sqlite(error))
    }

    fn delete_turns(&self, id: i64) -> rusqlite::Result<()> {
        let connection = self.connection();
        connection.execute_batch(TABLES)?;
        connection
            .prepare_cached(
                "DELETE FROM heard_turns WHERE session = (SELECT content_hash FROM sessions WHERE id = ?1)",
            )?
            .execute([id])?;
        // Other turns of the same files are known by their keys.
        connection
            .prepare_cached("DELETE FROM transcripts")?
            .execute([])?;
        Ok(())
    }
}
