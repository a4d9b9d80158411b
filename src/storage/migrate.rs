//! Brings a store of any earlier version up to the present one, in one transaction.
//!
//! What a file is shows in its columns and not in the number it carries: a start that was killed, or two
//! at once, have left files whose number was behind. Nothing is lost: rows, ids, scenarios, settings and
//! sessions stay, rows that are one item under Unicode folding are united, and the file as it was is kept
//! among its copies.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use super::backup::keep;
use super::journal::Draft;
use super::open::APPLICATION_ID;
use super::{Result, StorageError, Transaction, index};
use crate::model::{Op, Origin, Preference, Subject, item_key};
use crate::scoring::Decay;

/// The schema that this program writes. 1 to 7 were written by aizo 0.x and 1.0.0.
pub const SCHEMA_VERSION: i64 = 8;

const SCHEMA: &str = include_str!("schema.sql");
pub(super) const INDEXES: &str = include_str!("indexes.sql");

/// What a file is, as far as this program is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// No tables: a new store.
    Empty,
    /// A store of an earlier version, or one whose making was cut short.
    Older(i64),
    /// A store of this version.
    Current,
}

/// What happens to the file as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Backup<'p> {
    /// It is kept with the copies of the store, whose file this is.
    Kept(&'p Path),
    /// The store is a copy itself.
    None,
}

/// The tables of a file and their columns.
type Shape = BTreeMap<String, BTreeSet<String>>;

fn shape_of(connection: &Connection) -> rusqlite::Result<Shape> {
    let mut tables = Shape::new();
    let mut statement = connection.prepare(
        "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c
         WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (table, column): (String, String) = (row.get(0)?, row.get(1)?);
        tables
            .entry(table)
            .or_default()
            .insert(column.to_lowercase());
    }
    Ok(tables)
}

fn has(shape: &Shape, table: &str, columns: &[&str]) -> bool {
    shape
        .get(table)
        .is_some_and(|have| columns.iter().all(|column| have.contains(*column)))
}

/// Whether a file has all that this version made, whatever its number says. The application id is written
/// last, in the same transaction.
fn is_complete(shape: &Shape) -> bool {
    has(
        shape,
        "preferences",
        &["uid", "item_key", "origin", "pattern"],
    ) && has(shape, "proposals", &["pattern"])
        && ["journal", "evidence", "outside_changes"]
            .iter()
            .all(|table| shape.contains_key(*table))
}

/// Finds out what a file is.
///
/// # Errors
/// A database of another program, and a store of a later version.
pub(super) fn version_of(connection: &Connection, path: &Path) -> Result<Version> {
    let sqlite = |error| StorageError::from_sqlite(path, error);
    // The usual case takes one query; everything else looks at the columns.
    let id: i32 = connection
        .pragma_query_value(None, "application_id", |row| row.get(0))
        .map_err(sqlite)?;
    if id == APPLICATION_ID && is_whole(connection).map_err(sqlite)? {
        return Ok(Version::Current);
    }
    let shape = shape_of(connection).map_err(sqlite)?;
    if shape.is_empty() {
        return Ok(Version::Empty);
    }
    let foreign = |why: &str| StorageError::Foreign {
        path: path.to_path_buf(),
        why: why.to_owned(),
    };
    if !shape.contains_key("preferences") {
        return Err(foreign("it has tables, but no preferences"));
    }
    if !has(
        &shape,
        "preferences",
        &["id", "item", "reason", "base_score"],
    ) {
        return Err(foreign("its table preferences has other columns"));
    }
    let number = if has(&shape, "schema_meta", &["key", "value"]) {
        number_of(connection).map_err(sqlite)?.unwrap_or(0)
    } else {
        0
    };
    if number > SCHEMA_VERSION {
        return Err(StorageError::Newer {
            path: path.to_path_buf(),
            found: number,
            known: SCHEMA_VERSION,
        });
    }
    // aizo 1.0.0 writes its own number into every file that it opens and leaves the rest alone.
    if id == APPLICATION_ID && is_complete(&shape) {
        return Ok(Version::Current);
    }
    Ok(Version::Older(number))
}

/// Whether a file carries the number of this version, has the columns that came without a new number (so that the
/// version before can still write it), and the list in which triggers note what other programs write: one of them may
/// have dropped it.
fn is_whole(connection: &Connection) -> rusqlite::Result<bool> {
    connection
        .query_row(
            "SELECT value, EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'outside_changes')
                 AND EXISTS (SELECT 1 FROM pragma_table_info('preferences') WHERE name = 'pattern')
                 AND EXISTS (SELECT 1 FROM pragma_table_info('proposals') WHERE name = 'pattern')
             FROM schema_meta WHERE key = 'version'",
            [],
            |row| {
                let number = super::read::text(row, 0)?;
                let has_all: bool = row.get(1)?;
                Ok(has_all && number.trim().parse() == Ok(SCHEMA_VERSION))
            },
        )
        .optional()
        .map(|whole| whole == Some(true))
}

/// The number a file carries; nothing when it is missing or no number.
fn number_of(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    let text: rusqlite::Result<String> = connection.query_row(
        "SELECT value FROM schema_meta WHERE key = 'version'",
        [],
        |row| super::read::text(row, 0),
    );
    match text {
        Ok(text) => Ok(text.trim().parse().ok()),
        Err(rusqlite::Error::QueryReturnedNoRows) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Makes the tables of a new file, or brings an older one up to date.
///
/// The version is read freely first, and again inside `BEGIN IMMEDIATE`: of several processes that open the
/// same file at once, one does the work and the others find it done. Gives back where the file as it was is kept.
///
/// # Errors
/// What [`version_of`] refuses, a lock that does not come free, a file that cannot be written.
pub(super) fn bring_up_to_date(
    connection: &mut Connection,
    path: &Path,
    now: DateTime<Utc>,
    backup: Backup<'_>,
) -> Result<Option<PathBuf>> {
    if version_of(connection, path)? == Version::Current {
        return Ok(None);
    }
    let sqlite = |error| StorageError::from_sqlite(path, error);
    // Off, or dropping a table while it is rebuilt would empty those that refer to it.
    connection
        .pragma_update(None, "foreign_keys", false)
        .map_err(sqlite)?;
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(sqlite)?;
    let mut kept = None;
    let mut list_is_lost = false;
    match version_of(&transaction, path)? {
        Version::Current => return Ok(None),
        Version::Empty => create(&transaction).map_err(sqlite)?,
        Version::Older(number) => {
            if let Backup::Kept(real) = backup {
                kept = Some(keep(path, real, &format!("schema{number}"), now)?);
            }
            let shape = shape_of(&transaction).map_err(sqlite)?;
            list_is_lost = has(&shape, "preferences", &["uid", "item_key"])
                && !shape.contains_key("outside_changes");
            reshape(&transaction).map_err(sqlite)?;
        }
    }
    let mut writer = Transaction::within(transaction, path, now)?;
    if list_is_lost {
        // Any row may have been changed meanwhile.
        writer
            .connection()
            .execute(
                "INSERT OR IGNORE INTO outside_changes SELECT 'entry', id, uid FROM preferences",
                [],
            )
            .map_err(sqlite)?;
        writer.adopt_outside_changes()?;
    }
    adopt_rows(&mut writer)?;
    writer.connection().execute_batch(INDEXES).map_err(sqlite)?;
    index::rebuild(writer.connection()).map_err(sqlite)?;
    writer.commit()?;
    Ok(kept)
}

/// Makes the tables and writes down which device this is and which schema.
fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(SCHEMA)?;
    connection.execute(
        "INSERT OR IGNORE INTO schema_meta VALUES ('device', ?1)",
        [uuid::Uuid::now_v7().simple().to_string()],
    )?;
    connection.execute(
        "INSERT OR REPLACE INTO schema_meta VALUES ('version', ?1)",
        [SCHEMA_VERSION.to_string()],
    )?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)
}

/// Adds to an older file what it lacks.
fn reshape(connection: &Connection) -> rusqlite::Result<()> {
    let shape = shape_of(connection)?;
    let lacks =
        |table: &str, column: &str| shape.get(table).is_some_and(|have| !have.contains(column));
    for (table, column, definition) in [
        ("preferences", "keywords", "TEXT NOT NULL DEFAULT ''"),
        ("preferences", "source", "TEXT NOT NULL DEFAULT 'manual'"),
        ("preferences", "added_at", "TEXT NOT NULL DEFAULT ''"),
        ("preferences", "last_seen", "TEXT NOT NULL DEFAULT ''"),
        ("preferences", "touch_count", "INTEGER NOT NULL DEFAULT 0"),
        ("preferences", "uid", "TEXT"),
        ("preferences", "item_key", "TEXT"),
        ("preferences", "origin", "TEXT NOT NULL DEFAULT 'user'"),
        ("preferences", "pattern", "TEXT DEFAULT NULL"),
        ("proposals", "pattern", "TEXT DEFAULT NULL"),
        ("sessions", "extracted", "INTEGER NOT NULL DEFAULT 0"),
        ("sessions", "content_hash", "TEXT NOT NULL DEFAULT ''"),
    ] {
        if lacks(table, column) {
            connection.execute_batch(&format!(
                "ALTER TABLE {table} ADD COLUMN {column} {definition}"
            ))?;
        }
    }
    if has(&shape, "preferences", &["category"]) {
        category_to_keyword(connection)?;
    }
    create(connection)
}

/// The earliest stores had a required category and were unique by category and item. The category becomes
/// a keyword, and the table is made anew without the column and without its index.
fn category_to_keyword(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "UPDATE preferences SET keywords = CASE
             WHEN trim(category) = '' THEN keywords
             WHEN trim(keywords) = '' THEN lower(trim(category))
             ELSE keywords || ', ' || lower(trim(category)) END;
         ALTER TABLE preferences RENAME TO preferences_with_category;",
    )?;
    connection.execute_batch(SCHEMA)?;
    connection.execute_batch(
        "INSERT INTO preferences (id, item, reason, keywords, base_score, source, added_at, last_seen, touch_count)
             SELECT id, item, reason, keywords, base_score, source, added_at, last_seen, touch_count
             FROM preferences_with_category;
         UPDATE sqlite_sequence SET seq = (SELECT max(seq) FROM sqlite_sequence
             WHERE name IN ('preferences', 'preferences_with_category')) WHERE name = 'preferences';
         DROP TABLE preferences_with_category;",
    )
}

/// Gives every row without one its name and its key, unites those that are one item, and begins the
/// journal with a line for each.
fn adopt_rows(writer: &mut Transaction<'_>) -> Result<()> {
    for row in writer.view().unnamed()? {
        writer.make_storable(row.id)?;
    }
    let rows = writer.view().unnamed()?;
    let mut groups: BTreeMap<String, Vec<Preference>> = BTreeMap::new();
    for row in rows {
        groups.entry(item_key(&row.item)).or_default().push(row);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, group)| group.iter().map(|row| row.id).min());
    for (key, group) in groups {
        let survivor = writer.take_in(Op::Baseline, group)?;
        writer.set_key(survivor, &key)?;
    }
    for session in writer.view().session_ids()? {
        writer.take_in_session(Op::Baseline, session)?;
    }
    let decay = writer.view().decay_values()?;
    let usual = Decay::default().values();
    if decay != usual {
        writer.note(Draft::set(
            Op::Baseline,
            Subject::Decay,
            Origin::User,
            usual,
            decay,
        ))?;
    }
    Ok(())
}
