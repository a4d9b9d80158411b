//! Another program's database, opened strictly to read: nothing is written beside it, not even SQLite's own files.
//!
//! A database in WAL mode makes SQLite write a `-shm` file even for a reader. So it is read as immutable where no
//! `-wal` file lies beside it, and else from a copy of both in a temporary folder.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

use super::open::{beside, immutable_uri};
use super::{Result, StorageError};

/// An open database of another program.
pub struct Foreign {
    connection: Connection,
    path: PathBuf,
    /// The folder of the copy, where one is read.
    _copy: Option<TempDir>,
}

/// One field of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Field<'r> {
    /// NULL.
    Nothing,
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// Text as it is stored, which need not be UTF-8.
    Text(&'r [u8]),
    /// Bytes.
    Blob(&'r [u8]),
}

impl<'r> Field<'r> {
    /// The bytes of text or blob.
    pub fn bytes(self) -> Option<&'r [u8]> {
        match self {
            Field::Text(bytes) | Field::Blob(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The text, with what is no UTF-8 replaced.
    pub fn text(self) -> Option<String> {
        self.bytes()
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    /// The integer; also of a number that was stored as a float or as text.
    pub fn integer(self) -> Option<i64> {
        match self {
            Field::Integer(number) => Some(number),
            Field::Real(number) => Some(number as i64),
            Field::Text(bytes) => std::str::from_utf8(bytes).ok()?.trim().parse().ok(),
            Field::Nothing | Field::Blob(_) => None,
        }
    }
}

impl Foreign {
    /// Opens a database without touching it or its folder.
    ///
    /// # Errors
    /// A file that cannot be read or copied, or is no database.
    pub fn open(path: &Path) -> Result<Self> {
        let io = |cause| StorageError::Io {
            path: path.to_path_buf(),
            cause,
        };
        let real = fs::canonicalize(path).map_err(io)?;
        let mut magic = Vec::with_capacity(16);
        fs::File::open(&real)
            .and_then(|file| file.take(16).read_to_end(&mut magic))
            .map_err(io)?;
        if magic != b"SQLite format 3\0" {
            return Err(StorageError::NotADatabase {
                path: path.to_path_buf(),
            });
        }
        let open = |file: &Path, immutable| {
            connect(file, immutable).map_err(|error| StorageError::from_sqlite(path, error))
        };
        let has_log = ["-wal", "-journal"].iter().any(|ending| {
            fs::metadata(beside(&real, ending)).is_ok_and(|metadata| metadata.len() > 0)
        });
        let (connection, copy) = if has_log {
            let folder = copy(&real).map_err(io)?;
            (open(&folder.path().join("copy.db"), false)?, Some(folder))
        } else {
            (open(&real, true)?, None)
        };
        Ok(Foreign {
            connection,
            path: path.to_path_buf(),
            _copy: copy,
        })
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The columns of a table or view; none where there is no such table.
    ///
    /// # Errors
    /// Only what SQLite reports.
    pub fn columns(&self, table: &str) -> Result<Vec<String>> {
        let mut columns = Vec::new();
        self.rows("SELECT name FROM pragma_table_info(?1)", &[table], |row| {
            columns.extend(row[0].text())
        })?;
        Ok(columns)
    }

    /// Hands every row of a query to `with`.
    ///
    /// # Errors
    /// Only what SQLite reports.
    pub fn rows(
        &self,
        query: &str,
        parameters: &[&str],
        mut with: impl FnMut(&[Field<'_>]),
    ) -> Result<()> {
        self.run(query, parameters, &mut with)
            .map_err(|error| StorageError::from_sqlite(&self.path, error))
    }

    fn run(
        &self,
        query: &str,
        parameters: &[&str],
        with: &mut dyn FnMut(&[Field<'_>]),
    ) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare(query)?;
        let width = statement.column_count();
        let mut rows = statement.query(rusqlite::params_from_iter(parameters))?;
        while let Some(row) = rows.next()? {
            let fields: Vec<Field<'_>> = (0..width)
                .map(|column| {
                    Ok(match row.get_ref(column)? {
                        ValueRef::Null => Field::Nothing,
                        ValueRef::Integer(number) => Field::Integer(number),
                        ValueRef::Real(number) => Field::Real(number),
                        ValueRef::Text(bytes) => Field::Text(bytes),
                        ValueRef::Blob(bytes) => Field::Blob(bytes),
                    })
                })
                .collect::<rusqlite::Result<_>>()?;
            with(&fields);
        }
        Ok(())
    }
}

fn connect(file: &Path, immutable: bool) -> rusqlite::Result<Connection> {
    let connection = if immutable {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI;
        Connection::open_with_flags(immutable_uri(file), flags)?
    } else {
        // A copy of our own: SQLite may put its log in order.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Connection::open_with_flags(file, flags)?
    };
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// Copies a database with its log. Where its program wrote meanwhile, the two may not belong together: then again.
fn copy(real: &Path) -> io::Result<TempDir> {
    const TRIES: usize = 5;
    let folder = tempfile::tempdir()?;
    let target = folder.path().join("copy.db");
    for _ in 0..TRIES {
        let before = look(real);
        fs::copy(real, &target)?;
        for ending in ["-wal", "-journal"] {
            match fs::copy(beside(real, ending), beside(&target, ending)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        if look(real) == before {
            break;
        }
    }
    Ok(folder)
}

/// Length and time of a database and its log.
fn look(real: &Path) -> Vec<Option<(u64, Option<SystemTime>)>> {
    ["", "-wal", "-journal"]
        .iter()
        .map(|ending| {
            let metadata = fs::metadata(beside(real, ending)).ok()?;
            Some((metadata.len(), metadata.modified().ok()))
        })
        .collect()
}
