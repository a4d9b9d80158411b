//! Keeps the search index beside the rows: in the same transaction, for every row that changed.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use chrono::DateTime;
use rusqlite::{Connection, MAIN_DB, OptionalExtension, TransactionBehavior, params};

use super::{Result, StorageError};
use crate::model::{Score, split_keywords};
use crate::recall::meaning::{self, Vector};
use crate::recall::{Folded, entry_vector, sketch};

const TABLES: &str = include_str!("index.sql");

/// The version of what is written here: raised when the folding, the stems, the weights of the texts or the sketches
/// change.
const RECIPE: u32 = 4;

/// Sketches in one block: as many as a page of SQLite's usual size has room for, so that one is found without following
/// a chain of pages.
pub(super) const BLOCK: i64 = 126;

/// The tables and the index of the search index.
const PARTS: i64 = 6;

/// How many triggers note what other programs write.
fn triggers() -> i64 {
    let count = super::migrate::INDEXES.matches("CREATE TRIGGER").count();
    i64::try_from(count).unwrap_or(0)
}

/// Stands between keywords; the tokenizer takes it for a word that nobody types.
const BETWEEN_KEYWORDS: &str = " \u{E000} ";

/// `seen` of an entry whose times cannot be read.
pub(super) const NEVER_SEEN: i64 = i64::MIN;

/// What of a row changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Dirty {
    /// Only its score or its times.
    Weight,
    /// Its texts, or everything.
    Texts,
}

/// Rows whose index is behind.
pub(super) type DirtyRows = BTreeMap<i64, Dirty>;

/// The recipe and the table of vectors, as the store remembers them.
fn recipe() -> String {
    format!("{RECIPE}-{}", meaning::TABLE_HASH)
}

/// Whether the index was written by this recipe, is whole, and follows the rows: other programs drop tables, and
/// with a table its triggers.
pub(super) fn is_current(connection: &Connection) -> rusqlite::Result<bool> {
    let stored: Option<String> = connection
        .prepare_cached("SELECT value FROM schema_meta WHERE key = 'index_recipe'")?
        .query_row([], |row| super::read::text(row, 0))
        .optional()?;
    if stored != Some(recipe()) {
        return Ok(false);
    }
    let parts: i64 = connection
        .prepare_cached(
            "SELECT count(*) FROM sqlite_schema
             WHERE name IN ('search', 'recall_index', 'recall_order', 'vectors', 'limit_vectors', 'sketches')
                OR type = 'trigger' AND substr(name, 1, 5) = 'note_'",
        )?
        .query_row([], |row| row.get(0))?;
    if parts != PARTS + triggers() {
        return Ok(false);
    }
    // The highest numbers differ when rows came without a trigger; noted rows are looked at by themselves.
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM outside_changes)
                 OR (SELECT max(id) FROM preferences) IS (SELECT max(id) FROM recall_index)",
        )?
        .query_row([], |row| row.get(0))
}

/// Makes the index anew where it is not current. As with migrations, it is looked at freely first and again under
/// the lock.
pub(super) fn bring_up_to_date(connection: &mut Connection, path: &Path) -> Result<()> {
    let sqlite = |error| StorageError::from_sqlite(path, error);
    if is_current(connection).map_err(sqlite)? {
        return Ok(());
    }
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(sqlite)?;
    if !is_current(&transaction).map_err(sqlite)? {
        // Rows that came while the triggers were gone are adopted like any other program's.
        transaction
            .execute_batch(super::migrate::INDEXES)
            .and_then(|()| {
                transaction.execute_batch(
                    "INSERT OR IGNORE INTO outside_changes SELECT 'entry', id, uid FROM preferences
                     WHERE uid IS NULL OR item_key IS NULL",
                )
            })
            .and_then(|()| rebuild(&transaction))
            .map_err(sqlite)?;
    }
    transaction.commit().map_err(sqlite)
}

/// Makes the index of all rows anew.
pub(super) fn rebuild(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "DROP TABLE IF EXISTS search; DROP TABLE IF EXISTS recall_index; DROP TABLE IF EXISTS vectors;
         DROP TABLE IF EXISTS limit_vectors; DROP TABLE IF EXISTS sketches;",
    )?;
    connection.execute_batch(TABLES)?;
    // Two parts of a size are one too many.
    connection.execute(
        "INSERT INTO search (search, rank) VALUES ('usermerge', 2)",
        [],
    )?;
    let ids: Vec<i64> = connection
        .prepare("SELECT id FROM preferences")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for id in ids {
        write(connection, id, Dirty::Texts)?;
    }
    // So many rows in one go leave many parts, into each of which every word would be looked up.
    connection.execute("INSERT INTO search (search) VALUES ('optimize')", [])?;
    connection.execute(
        "INSERT OR REPLACE INTO schema_meta VALUES ('index_recipe', ?1)",
        [recipe()],
    )?;
    Ok(())
}

/// Brings the index of some rows up to date.
pub(super) fn refresh(connection: &Connection, rows: &DirtyRows) -> rusqlite::Result<()> {
    for (&id, &dirty) in rows {
        write(connection, id, dirty)?;
    }
    // Nothing was added to the words where only weights changed.
    if rows.values().any(|dirty| *dirty == Dirty::Texts) {
        keep_in_few_parts(connection)?;
    }
    Ok(())
}

/// Merges parts of the word index that have piled up, a few pages at a time: each write adds a part, and each word that
/// is looked up costs a look into every part. FTS5 by itself lets up to sixteen small ones pile up at each level.
fn keep_in_few_parts(connection: &Connection) -> rusqlite::Result<()> {
    const PAGES: i64 = 16;
    connection
        .prepare_cached("INSERT INTO search (search, rank) VALUES ('merge', ?1)")?
        .execute([PAGES])?;
    Ok(())
}

/// The texts of a row and what its weight depends on, as far as they can be read.
struct Source {
    item: String,
    reason: String,
    keywords: Vec<String>,
    score: f64,
    seen: i64,
}

fn source(connection: &Connection, id: i64) -> rusqlite::Result<Option<Source>> {
    let lossy = |row: &rusqlite::Row<'_>, index| super::read::text(row, index);
    connection
        .prepare_cached(
            "SELECT item, reason, keywords, base_score, last_seen, added_at FROM preferences WHERE id = ?1",
        )?
        .query_row([id], |row| {
            Ok(Source {
                item: lossy(row, 0)?,
                reason: lossy(row, 1)?,
                keywords: split_keywords(&lossy(row, 2)?),
                score: Score::clamped(super::read::number(row.get_ref(3)?)).value(),
                seen: seen(&lossy(row, 4)?, &lossy(row, 5)?),
            })
        })
        .optional()
}

/// Microseconds since 1970 of the first of two times that can be read.
fn seen(last_seen: &str, added_at: &str) -> i64 {
    [last_seen, added_at]
        .into_iter()
        .find_map(|text| DateTime::parse_from_rfc3339(text.trim()).ok())
        .map_or(NEVER_SEEN, |moment| moment.timestamp_micros())
}

fn write(connection: &Connection, id: i64, dirty: Dirty) -> rusqlite::Result<()> {
    let Some(source) = source(connection, id)? else {
        for table in ["search WHERE rowid", "recall_index WHERE id"] {
            connection
                .prepare_cached(&format!("DELETE FROM {table} = ?1"))?
                .execute([id])?;
        }
        return write_vector(connection, id, None, false);
    };
    let is_limit = Score::clamped(source.score).is_hard_limit();
    if dirty == Dirty::Weight {
        let known = connection
            .prepare_cached("UPDATE recall_index SET score = ?2, seen = ?3 WHERE id = ?1")?
            .execute(params![id, source.score, source.seen])?;
        if known > 0 {
            return write_limit_vector(connection, id, is_limit);
        }
    }
    let indexed = source.indexed();
    connection
        .prepare_cached("DELETE FROM search WHERE rowid = ?1")?
        .execute([id])?;
    let [item, reason, keywords, stems] = &indexed.texts;
    connection
        .prepare_cached(
            "INSERT INTO search (rowid, item, reason, keywords, stems) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![id, item, reason, keywords, stems])?;
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO recall_index (id, score, seen) VALUES (?1, ?2, ?3)",
        )?
        .execute(params![id, source.score, source.seen])?;
    write_vector(connection, id, indexed.vector.as_ref(), is_limit)
}

/// What the index holds of the texts of a row.
struct Indexed {
    /// Item, reason, keywords and stems.
    texts: [String; 4],
    vector: Option<Vector>,
}

impl Source {
    fn indexed(&self) -> Indexed {
        let [item, reason] = [&self.item, &self.reason].map(|text| Folded::new(text));
        let keywords: Vec<Folded> = self.keywords.iter().map(|text| Folded::new(text)).collect();
        let joined: Vec<String> = keywords
            .iter()
            .map(|text| text.pieces().join(" "))
            .collect();
        let stems: Vec<&str> = [&item, &reason]
            .into_iter()
            .chain(&keywords)
            .flat_map(Folded::stems)
            .collect();
        Indexed {
            texts: [
                item.pieces().join(" "),
                reason.pieces().join(" "),
                joined.join(BETWEEN_KEYWORDS),
                stems.join(" "),
            ],
            vector: entry_vector(&self.item, &self.reason, &self.keywords),
        }
    }
}

/// Puts a vector into every table that has it, and a sketch of it into its block; none takes it out of them.
fn write_vector(
    connection: &Connection,
    id: i64,
    vector: Option<&Vector>,
    is_limit: bool,
) -> rusqlite::Result<()> {
    match vector {
        Some(vector) => connection
            .prepare_cached("INSERT OR REPLACE INTO vectors VALUES (?1, ?2)")?
            .execute(params![id, vector.to_bytes()])?,
        None => connection
            .prepare_cached("DELETE FROM vectors WHERE id = ?1")?
            .execute([id])?,
    };
    write_limit_vector(connection, id, is_limit)?;
    write_sketch(connection, id, vector)
}

/// Keeps the vector of a hard limit, and of nothing else, among those of the limits.
fn write_limit_vector(connection: &Connection, id: i64, is_limit: bool) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM limit_vectors WHERE id = ?1")?
        .execute([id])?;
    if is_limit {
        connection
            .prepare_cached(
                "INSERT INTO limit_vectors SELECT id, vector FROM vectors WHERE id = ?1",
            )?
            .execute([id])?;
    }
    Ok(())
}

/// Puts the sketch of a vector into its place in its block.
fn write_sketch(connection: &Connection, id: i64, vector: Option<&Vector>) -> rusqlite::Result<()> {
    let block = id.div_euclid(BLOCK);
    let place = usize::try_from(id.rem_euclid(BLOCK)).unwrap_or(0) * sketch::BYTES;
    connection
        .prepare_cached("INSERT OR IGNORE INTO sketches VALUES (?1, zeroblob(?2))")?
        .execute(params![block, BLOCK * sketch::BYTES as i64])?;
    let sketch = vector.map_or([0; sketch::BYTES], sketch::sketch);
    connection
        .blob_open(MAIN_DB, "sketches", "bits", block, false)?
        .write_at(&sketch, place)
}

/// The rows of which the index holds something else than they say, and the numbers in it of rows that are gone. What is in
/// `outside` does not count.
pub(super) fn stale(
    connection: &Connection,
    outside: &HashSet<i64>,
) -> rusqlite::Result<BTreeSet<i64>> {
    let ids: Vec<i64> = connection
        .prepare("SELECT id FROM preferences")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut stale = BTreeSet::new();
    for &id in ids.iter().filter(|id| !outside.contains(id)) {
        if let Some(source) = source(connection, id)?
            && !is_indexed(connection, id, &source)?
        {
            stale.insert(id);
        }
    }
    let there: HashSet<i64> = ids.into_iter().collect();
    for sql in [
        "SELECT id FROM recall_index",
        "SELECT id FROM search_docsize",
        "SELECT id FROM vectors",
        "SELECT id FROM limit_vectors",
    ] {
        let mut statement = connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            if !there.contains(&id) && !outside.contains(&id) {
                stale.insert(id);
            }
        }
    }
    Ok(stale)
}

/// Whether the index holds of a row what it says.
fn is_indexed(connection: &Connection, id: i64, source: &Source) -> rusqlite::Result<bool> {
    let indexed = source.indexed();
    let texts: Option<[String; 4]> = connection
        .prepare_cached("SELECT item, reason, keywords, stems FROM search WHERE rowid = ?1")?
        .query_row([id], |row| {
            Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?])
        })
        .optional()?;
    let weight: Option<(f64, i64)> = connection
        .prepare_cached("SELECT score, seen FROM recall_index WHERE id = ?1")?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if texts.as_ref() != Some(&indexed.texts) || weight != Some((source.score, source.seen)) {
        return Ok(false);
    }
    let of_limit = indexed
        .vector
        .as_ref()
        .filter(|_| Score::clamped(source.score).is_hard_limit());
    Ok(
        has_vector(connection, "vectors", id, indexed.vector.as_ref())?
            && has_vector(connection, "limit_vectors", id, of_limit)?
            && has_sketch(connection, id, indexed.vector.as_ref())?,
    )
}

/// Whether a table has this vector of a row, or none.
fn has_vector(
    connection: &Connection,
    table: &str,
    id: i64,
    wanted: Option<&Vector>,
) -> rusqlite::Result<bool> {
    // The last bits may differ between machines.
    const SAME: f32 = 0.99;
    let stored: Option<Vec<u8>> = connection
        .prepare_cached(&format!("SELECT vector FROM {table} WHERE id = ?1"))?
        .query_row([id], |row| row.get(0))
        .optional()?;
    Ok(match (stored, wanted) {
        (None, None) => true,
        (Some(stored), Some(wanted)) => {
            let length = wanted.cosine(wanted);
            Vector::from_bytes(&stored).is_some_and(|it| it.cosine(wanted) > SAME * length)
        }
        _ => false,
    })
}

/// Whether a row's place in the blocks has the sketch of its vector.
fn has_sketch(connection: &Connection, id: i64, wanted: Option<&Vector>) -> rusqlite::Result<bool> {
    // Of its 32 bytes a few may differ between machines.
    const APART: usize = 4;
    let place = id.rem_euclid(BLOCK) * sketch::BYTES as i64;
    let stored: Option<Vec<u8>> = connection
        .prepare_cached("SELECT substr(bits, ?2, ?3) FROM sketches WHERE block = ?1")?
        .query_row(
            params![id.div_euclid(BLOCK), place + 1, sketch::BYTES as i64],
            |row| row.get(0),
        )
        .optional()?;
    let wanted = wanted.map_or([0; sketch::BYTES], sketch::sketch);
    Ok(stored.is_some_and(|stored| {
        let pairs = stored.iter().zip(&wanted);
        stored.len() == wanted.len() && pairs.filter(|(a, b)| a != b).count() <= APART
    }))
}
