//! Copies of a store in memory: for what is only tried, and of stores that are not ours to touch.

use std::path::Path;

use chrono::{DateTime, Utc};
use rusqlite::Connection;

use super::foreign::Foreign;
use super::restore::take_out_what_runs;
use super::{Location, Result, StorageError, Store, migrate, open};

impl Store {
    /// A copy of a store in memory, for what is only tried; an empty one where there is no store.
    ///
    /// # Errors
    /// As [`Store::open_for_reading`].
    pub fn rehearsal(location: &Location, now: DateTime<Utc>) -> Result<Store> {
        let Some(store) = Store::open_for_reading(location, now)? else {
            return Store::in_memory(now);
        };
        let copy = in_memory(&store.connection, &location.path, now)?;
        if store.confirm() {
            return Ok(copy);
        }
        match Store::open_shared(location, now)? {
            Some(store) => in_memory(&store.connection, &location.path, now),
            None => Store::in_memory(now),
        }
    }

    /// A copy in memory of a store that is not ours to touch: nothing is written, neither to the file nor beside it.
    ///
    /// # Errors
    /// A file that cannot be read, holds something else, or is of a later version.
    pub fn taken_from(path: &Path, now: DateTime<Utc>) -> Result<Store> {
        let file = Foreign::open(path)?;
        let sqlite = |error| StorageError::from_sqlite(path, error);
        let copy = open::copy_to_memory(file.connection()).map_err(sqlite)?;
        // It may be anybody's: nothing in it runs.
        take_out_what_runs(&copy).map_err(sqlite)?;
        brought_up_to_date(copy, path, now)
    }
}

fn in_memory(source: &Connection, path: &Path, now: DateTime<Utc>) -> Result<Store> {
    let copy = open::copy_to_memory(source);
    let copy = copy.map_err(|error| StorageError::from_sqlite(path, error))?;
    brought_up_to_date(copy, path, now)
}

fn brought_up_to_date(
    mut connection: Connection,
    path: &Path,
    now: DateTime<Utc>,
) -> Result<Store> {
    let sqlite = |error| StorageError::from_sqlite(path, error);
    migrate::bring_up_to_date(&mut connection, path, now, migrate::Backup::None)?;
    connection
        .pragma_update(None, "foreign_keys", true)
        .map_err(sqlite)?;
    Ok(Store::of(connection, path))
}
