//! The log of a store (SQLite's WAL), and places that can have none: it needs memory that processes share through a file, which
//! many network file systems have not. There a store works without, and who reads and who writes wait for each other.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, ffi};

use super::open::first_page;

/// Where it stands in `schema_meta` that the file can have no log in this place.
const NO_LOG: &str = "no_log_at";

/// Whether memory cannot be shared where a file lies.
pub(super) fn is_unshared(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    matches!(
        code,
        Some(ffi::SQLITE_IOERR_SHMMAP | ffi::SQLITE_IOERR_SHMOPEN)
    )
}

/// Who may have a file open.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Company {
    /// Everybody.
    Others,
    /// Nobody else, so that no memory need be shared.
    Nobody,
}

/// Opens the file. A connection that has once tried to share memory goes on trying, and stands in the way of another one.
type Open<'o> = &'o dyn Fn(Company) -> rusqlite::Result<Connection>;

/// Opens a file to write it. Where it has come to a place in which it can have no log, the log is taken away, which is told.
pub(super) fn connect(open: Open<'_>) -> rusqlite::Result<(Connection, bool)> {
    let opened = open(Company::Others).and_then(|connection| {
        first_page(&connection)?;
        Ok(connection)
    });
    match opened {
        Err(error) if is_unshared(&error) => give_up(open).map(|connection| (connection, true)),
        opened => opened.map(|connection| (connection, false)),
    }
}

/// Gives a file its log, where it can have one, and tells whether it was found only now that it cannot.
pub(super) fn keep(
    mut connection: Connection,
    open: Open<'_>,
    real: &Path,
    mut gave_up: bool,
) -> rusqlite::Result<(Connection, bool)> {
    let place = real.to_string_lossy();
    if !gave_up {
        let known: Option<String> = connection
            .query_row(
                "SELECT value FROM schema_meta WHERE key = ?1",
                [NO_LOG],
                |row| row.get(0),
            )
            .optional()?;
        // Somewhere else it is tried again.
        if known.is_some_and(|known| known == place) {
            return Ok((connection, false));
        }
        switch_on(&connection);
        if first_page(&connection).is_err_and(|error| is_unshared(&error)) {
            drop(connection);
            connection = give_up(open)?;
            gave_up = true;
        }
    }
    if gave_up {
        let remember = "INSERT OR REPLACE INTO schema_meta VALUES (?1, ?2)";
        connection.execute(remember, [NO_LOG, &*place])?;
    }
    Ok((connection, gave_up))
}

/// Turns WAL on. When several processes open a new file at once, SQLite tells some of them that the
/// database is locked: another one is doing it, so there is nothing left to do.
fn switch_on(connection: &Connection) {
    let _mode: rusqlite::Result<String> =
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0));
}

/// Turns WAL off, and keeps what the log holds.
fn give_up(open: Open<'_>) -> rusqlite::Result<Connection> {
    let connection = open(Company::Nobody)?;
    for (name, value) in [("journal_mode", "DELETE"), ("locking_mode", "NORMAL")] {
        connection.pragma_update_and_check(None, name, value, |row| row.get::<_, String>(0))?;
    }
    // The lock is let go with the next access.
    first_page(&connection)?;
    Ok(connection)
}
