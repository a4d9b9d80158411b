//! Opening a store: what the file is, who may write it, and how to read it without leaving a trace.
//!
//! A store is in WAL mode, and writers leave its `-wal` and `-shm` files in place, so that readers find
//! them and make none. Where they are missing (a file that was copied here), SQLite would make them; such a
//! file is read as immutable instead, and its [`Fingerprint`] tells afterwards whether somebody has begun to
//! write it meanwhile: a writer makes the `-wal` file before anything else.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use chrono::{DateTime, Utc};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, FileControl, OpenFlags};

use super::{Location, Result, StorageError, Store, migrate};

/// "aizo" in ASCII: the `application_id` of a store.
pub(super) const APPLICATION_ID: i32 = 0x6169_7A6F;

/// How long a reader waits for a lock. Readers of a WAL file need none; this is for older files.
const READER_PATIENCE: Duration = Duration::from_millis(300);
/// How fine the file system's clock is at worst: a file changed more recently than this may change again
/// without showing it.
const CLOCK_GRAIN: Duration = Duration::from_millis(50);

/// Whether a reader may do without locks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sharing {
    /// Leave no trace, where that is possible.
    Quiet,
    /// Use SQLite's locks.
    Locked,
}

/// What a file looked like before it was read without locks.
pub(super) struct Fingerprint {
    modified: Option<SystemTime>,
    length: u64,
}

impl Fingerprint {
    /// Looks at the file; nothing comes back when it changed too recently for its time to tell.
    fn take(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        let modified = metadata.modified().ok();
        let settled = modified
            .and_then(|at| at.elapsed().ok())
            .is_some_and(|age| age > CLOCK_GRAIN);
        settled.then_some(Fingerprint {
            modified,
            length: metadata.len(),
        })
    }

    /// Whether nobody has begun to write the file.
    pub(super) fn still_holds(&self, path: &Path) -> bool {
        !beside(path, "-wal").exists()
            && fs::metadata(path)
                .is_ok_and(|now| now.modified().ok() == self.modified && now.len() == self.length)
    }
}

/// What the first hundred bytes of a file tell.
struct Header {
    wal: bool,
}

/// The file that SQLite keeps beside the store under this ending.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Looks at a file before SQLite does. Nothing comes back for a file that is missing or empty.
fn header(path: &Path) -> Result<Option<Header>> {
    let io = |source: io::Error| StorageError::Io {
        path: path.to_path_buf(),
        source,
    };
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        // Windows refuses to open a folder with "permission denied".
        Err(_) if path.is_dir() => {
            return Err(StorageError::Folder {
                path: path.to_path_buf(),
            });
        }
        Err(error) => return Err(io(error)),
    };
    if file.metadata().map_err(io)?.is_dir() {
        return Err(StorageError::Folder {
            path: path.to_path_buf(),
        });
    }
    let mut bytes = Vec::with_capacity(100);
    file.by_ref()
        .take(100)
        .read_to_end(&mut bytes)
        .map_err(io)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    if bytes.len() < 100 || !bytes.starts_with(b"SQLite format 3\0") {
        return Err(StorageError::NotADatabase {
            path: path.to_path_buf(),
        });
    }
    let id = i32::from_be_bytes([bytes[68], bytes[69], bytes[70], bytes[71]]);
    if id != 0 && id != APPLICATION_ID {
        return Err(StorageError::Foreign {
            path: path.to_path_buf(),
            why: format!("its application id is {id}"),
        });
    }
    Ok(Some(Header {
        wal: bytes[18] == 2,
    }))
}

/// Settings that every connection has.
fn configure(connection: &Connection, patience: Duration) -> rusqlite::Result<()> {
    connection.busy_timeout(patience)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.pragma_update(None, "synchronous", "FULL")
}

/// See [`Store::open_for_writing`].
pub(super) fn for_writing(location: &Location, now: DateTime<Utc>) -> Result<Store> {
    let path = &location.path;
    if header(path)?.is_none() {
        create(path)?;
    }
    let sqlite = |error| StorageError::from_sqlite(path, error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(sqlite)?;
    configure(&connection, location.patience).map_err(sqlite)?;
    if connection.is_readonly("main").map_err(sqlite)? {
        return Err(StorageError::ReadOnly { path: path.clone() });
    }
    migrate::bring_up_to_date(&mut connection, path, now, migrate::Backup::Beside)?;
    keep_private(path);
    switch_to_wal(&connection);
    let mut persist = 1;
    connection
        .file_control::<&str>(None, FileControl::PersistWal(&mut persist))
        .map_err(sqlite)?;
    connection
        .pragma_update(None, "journal_size_limit", 0)
        .map_err(sqlite)?;
    connection
        .pragma_update(None, "foreign_keys", true)
        .map_err(sqlite)?;
    Ok(Store {
        connection,
        path: path.clone(),
        fingerprint: None,
        copied_because: None,
    })
}

/// Turns WAL on. When several processes open a new file at once, SQLite tells some of them that the
/// database is locked: another one is doing it, so there is nothing left to do. Where the file system cannot do
/// WAL the store works without.
fn switch_to_wal(connection: &Connection) {
    let _mode: rusqlite::Result<String> =
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0));
}

/// Takes the file away from other users, as earlier versions did not. Where that cannot be done (somebody
/// else's file, a file system without modes) it stays as it is.
fn keep_private(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if let Ok(metadata) = fs::metadata(path)
            && metadata.permissions().mode() & 0o077 != 0
        {
            let _stays_as_it_is = fs::set_permissions(path, fs::Permissions::from_mode(0o600));
        }
    }
    #[cfg(not(unix))]
    let _ = path;
}

/// Makes an empty file that only its owner may read, and the folder for it.
fn create(path: &Path) -> Result<()> {
    let fault = |source: io::Error| match source.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            StorageError::ReadOnly {
                path: path.to_path_buf(),
            }
        }
        io::ErrorKind::StorageFull => StorageError::Full {
            path: path.to_path_buf(),
        },
        _ => StorageError::Io {
            path: path.to_path_buf(),
            source,
        },
    };
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        && !folder.exists()
    {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt;
            builder.mode(0o700);
        }
        builder.create(folder).map_err(fault)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    // Not `create_new`: another process may be making the same store, and an empty file may lie there.
    options.truncate(false).open(path).map_err(fault)?;
    Ok(())
}

/// See [`Store::open_for_reading`].
pub(super) fn for_reading(
    location: &Location,
    now: DateTime<Utc>,
    sharing: Sharing,
) -> Result<Option<Store>> {
    let path = &location.path;
    let Some(header) = header(path)? else {
        return Ok(None);
    };
    let (connection, fingerprint) = connect_for_reading(path, &header, sharing)?;
    let version = migrate::version_of(&connection, path)?;
    if version == migrate::Version::Empty {
        return Ok(None);
    }
    if version == migrate::Version::Current {
        return Ok(Some(Store {
            connection,
            path: path.clone(),
            fingerprint,
            copied_because: None,
        }));
    }
    drop(connection);
    let impatient = Location {
        path: path.clone(),
        patience: READER_PATIENCE,
    };
    match for_writing(&impatient, now) {
        Ok(store) => Ok(Some(store)),
        Err(error) if error.is_about_writing() => read_a_copy(path, &header, now, &error).map(Some),
        Err(error) => Err(error),
    }
}

/// Opens a file read-only, in the way that leaves least behind.
fn connect_for_reading(
    path: &Path,
    header: &Header,
    sharing: Sharing,
) -> Result<(Connection, Option<Fingerprint>)> {
    let (wal, shm) = (beside(path, "-wal"), beside(path, "-shm"));
    let pending = fs::metadata(&wal).map_or(0, |metadata| metadata.len());
    let untouched = header.wal && !(wal.exists() && (pending > 0 || shm.exists()));
    if untouched
        && sharing == Sharing::Quiet
        && let Some(fingerprint) = Fingerprint::take(path)
        && !wal.exists()
    {
        return Ok((connect_immutable(path)?, Some(fingerprint)));
    }
    let first = connect_locked(path);
    match first {
        Err(error) if header.wal && error.is_about_writing() => {
            // Read-only folder without the files that locking needs.
            if pending > 0 {
                connect_to_duplicate(path, &wal).map(|connection| (connection, None))
            } else {
                connect_immutable(path).map(|connection| (connection, None))
            }
        }
        other => other.map(|connection| (connection, None)),
    }
}

/// Opens a file with SQLite's own locks, and reads a first page, which is when trouble shows.
fn connect_locked(path: &Path) -> Result<Connection> {
    let sqlite = |error| StorageError::from_sqlite(path, error);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(sqlite)?;
    configure(&connection, READER_PATIENCE).map_err(sqlite)?;
    // The last one to close would write the log back into the file.
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        .map_err(sqlite)?;
    first_page(&connection).map_err(sqlite)?;
    Ok(connection)
}

fn first_page(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
}

/// Opens a file without locks and without any file beside it.
fn connect_immutable(path: &Path) -> Result<Connection> {
    let sqlite = |error| StorageError::from_sqlite(path, error);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(uri(path), flags).map_err(sqlite)?;
    configure(&connection, READER_PATIENCE).map_err(sqlite)?;
    first_page(&connection).map_err(sqlite)?;
    Ok(connection)
}

/// A `file:` address with the characters escaped that would end the path.
fn uri(path: &Path) -> String {
    let mut text = String::from("file:");
    let path = path.to_string_lossy();
    let path = if cfg!(windows) {
        text.push('/');
        path.replace('\\', "/")
    } else {
        path.into_owned()
    };
    for c in path.chars() {
        match c {
            '%' => text.push_str("%25"),
            '?' => text.push_str("%3f"),
            '#' => text.push_str("%23"),
            c => text.push(c),
        }
    }
    text.push_str("?immutable=1");
    text
}

/// Reads a file whose newest changes are still in its log, in a folder where no lock can be made: both are
/// copied to where one can.
fn connect_to_duplicate(path: &Path, wal: &Path) -> Result<Connection> {
    let io = |source| StorageError::Io {
        path: path.to_path_buf(),
        source,
    };
    let sqlite = |error| StorageError::from_sqlite(path, error);
    let folder = tempfile::tempdir().map_err(io)?;
    let copy = folder.path().join("store.db");
    fs::copy(path, &copy).map_err(io)?;
    fs::copy(wal, beside(&copy, "-wal")).map_err(io)?;
    let source = Connection::open(&copy).map_err(sqlite)?;
    let memory = copy_to_memory(&source).map_err(sqlite)?;
    drop(source);
    Ok(memory)
}

fn copy_to_memory(source: &Connection) -> rusqlite::Result<Connection> {
    let mut memory = Connection::open_in_memory()?;
    {
        let backup = rusqlite::backup::Backup::new(source, &mut memory)?;
        backup.run_to_completion(4096, Duration::from_millis(1), None)?;
    }
    configure(&memory, READER_PATIENCE)?;
    Ok(memory)
}

/// Reads an older file that cannot be brought up to date where it is: a copy in memory is.
fn read_a_copy(
    path: &Path,
    header: &Header,
    now: DateTime<Utc>,
    reason: &StorageError,
) -> Result<Store> {
    let sqlite = |error| StorageError::from_sqlite(path, error);
    let (source, _) = connect_for_reading(path, header, Sharing::Quiet)?;
    let mut memory = copy_to_memory(&source).map_err(sqlite)?;
    migrate::bring_up_to_date(&mut memory, path, now, migrate::Backup::None)?;
    Ok(Store {
        connection: memory,
        path: path.to_path_buf(),
        fingerprint: None,
        copied_because: Some(reason.to_string()),
    })
}

/// See [`Store::in_memory`].
pub(super) fn in_memory(now: DateTime<Utc>) -> Result<Store> {
    let path = PathBuf::from(":memory:");
    let sqlite = |error| StorageError::from_sqlite(&path, error);
    let mut connection = Connection::open_in_memory().map_err(sqlite)?;
    configure(&connection, READER_PATIENCE).map_err(sqlite)?;
    migrate::bring_up_to_date(&mut connection, &path, now, migrate::Backup::None)?;
    connection
        .pragma_update(None, "foreign_keys", true)
        .map_err(sqlite)?;
    Ok(Store {
        connection,
        path,
        fingerprint: None,
        copied_because: None,
    })
}
