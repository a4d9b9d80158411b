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

use super::{Location, Result, StorageError, Store, index, log, migrate};
use crate::files;

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

/// A store's file: as it was named, for messages, and with all links followed, which is where SQLite keeps the
/// files beside it.
struct Target<'p> {
    path: &'p Path,
    real: PathBuf,
}

impl<'p> Target<'p> {
    fn new(path: &'p Path) -> Self {
        Target {
            path,
            real: real(path),
        }
    }

    /// The file that SQLite keeps beside the store under this ending.
    fn beside(&self, ending: &str) -> PathBuf {
        beside(&self.real, ending)
    }

    fn sqlite(&self, error: rusqlite::Error) -> StorageError {
        StorageError::from_sqlite(self.path, error)
    }

    fn io(&self, cause: io::Error) -> StorageError {
        StorageError::from_io(self.path, cause)
    }

    /// Fails where the file may not be written, or what SQLite keeps beside it. SQLite would open it for reading instead,
    /// and leave files beside it that its owner may not write.
    fn require_write_access(&self) -> Result<()> {
        let is_refused = |file: &Path| {
            let opened = OpenOptions::new().write(true).open(file);
            opened.is_err_and(|error| {
                matches!(
                    error.kind(),
                    io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
                )
            })
        };
        let path = self.path.to_path_buf();
        if is_refused(&self.real) {
            return Err(StorageError::ReadOnly { path });
        }
        let mut beside = ["-wal", "-shm", "-journal"]
            .map(|ending| self.beside(ending))
            .into_iter();
        match beside.find(|file| is_refused(file)) {
            Some(file) => Err(StorageError::Beside { path, file }),
            None => Ok(()),
        }
    }

    /// Looks at the file before SQLite does. Nothing comes back when it is missing or empty.
    fn header(&self) -> Result<Option<Header>> {
        let path = || self.path.to_path_buf();
        // Opening a pipe would wait for somebody at its other end.
        match fs::metadata(&self.real) {
            Ok(metadata) if metadata.is_dir() => return Err(StorageError::Folder { path: path() }),
            Ok(metadata) if !metadata.is_file() => {
                return Err(StorageError::NotADatabase { path: path() });
            }
            _ => {}
        }
        let io = |cause| StorageError::Io {
            path: path(),
            cause,
        };
        let mut file = match File::open(&self.real) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io(error)),
        };
        let mut bytes = Vec::with_capacity(100);
        file.by_ref()
            .take(100)
            .read_to_end(&mut bytes)
            .map_err(io)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        if bytes.len() < 100 || !bytes.starts_with(b"SQLite format 3\0") {
            return Err(StorageError::NotADatabase { path: path() });
        }
        let id = i32::from_be_bytes([bytes[68], bytes[69], bytes[70], bytes[71]]);
        if id != 0 && id != APPLICATION_ID {
            return Err(StorageError::Foreign {
                path: path(),
                why: format!("its application id is {id}"),
            });
        }
        Ok(Some(Header {
            wal: bytes[18] == 2,
            changes: [bytes[24], bytes[25], bytes[26], bytes[27]],
        }))
    }
}

/// What a file looked like before it was read without locks.
pub(super) struct Fingerprint {
    file: PathBuf,
    modified: Option<SystemTime>,
    length: u64,
}

impl Fingerprint {
    /// Looks at a file; nothing comes back when it changed too recently for its time to tell.
    fn take(file: &Path) -> Option<Self> {
        let metadata = fs::metadata(file).ok()?;
        let modified = metadata.modified().ok();
        let settled = modified
            .and_then(|at| at.elapsed().ok())
            .is_some_and(|age| age > CLOCK_GRAIN);
        settled.then(|| Fingerprint {
            file: file.to_path_buf(),
            modified,
            length: metadata.len(),
        })
    }

    /// Whether nobody has begun to write the file.
    pub(super) fn still_holds(&self) -> bool {
        !beside(&self.file, "-wal").exists()
            && fs::metadata(&self.file)
                .is_ok_and(|now| now.modified().ok() == self.modified && now.len() == self.length)
    }
}

/// What the first hundred bytes of a file tell.
struct Header {
    wal: bool,
    /// SQLite's counter of changes.
    changes: [u8; 4],
}

/// The file behind all links.
pub(super) fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

pub(super) fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Settings that every connection has.
pub(super) fn configure(connection: &Connection, patience: Duration) -> rusqlite::Result<()> {
    connection.busy_timeout(patience)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    // Otherwise a statement is prepared anew whenever a bound value could change its plan: a seventh of a recall.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// Whether there is a file that could be a store.
pub(super) fn exists(path: &Path) -> Result<bool> {
    Ok(Target::new(path).header()?.is_some())
}

/// See [`Store::write_access`].
pub(super) fn write_access(path: &Path) -> Result<()> {
    let target = Target::new(path);
    if !target.real.exists() {
        return Ok(());
    }
    target.require_write_access()?;
    // SQLite makes files beside the store.
    let folder = target.real.parent().unwrap_or(Path::new("."));
    tempfile::tempfile_in(folder)
        .map(drop)
        .map_err(|cause| target.io(cause))
}

/// See [`Store::stamp`]. A change is written to the log beside the file, or to the file itself.
pub(super) fn stamp(path: &Path) -> String {
    let real = real(path);
    let log = beside(&real, "-wal");
    format!("{} {}", files::stamp(&real), files::stamp(&log))
}

/// See [`Store::open_for_writing`].
pub(super) fn for_writing(location: &Location, now: DateTime<Utc>) -> Result<Store> {
    let path = &location.path;
    let mut target = Target::new(path);
    if target.header()?.is_none() {
        create(&target)?;
        target = Target::new(path);
    }
    target.require_write_access()?;
    let sqlite = |error| StorageError::from_sqlite(path, error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = |company| {
        let connection = Connection::open_with_flags(&target.real, flags)?;
        if company == log::Company::Nobody {
            let mode = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
            connection.pragma_update_and_check(None, "locking_mode", "EXCLUSIVE", mode)?;
        }
        configure(&connection, location.patience)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        Ok(connection)
    };
    let (mut connection, gave_up) = log::connect(&open).map_err(sqlite)?;
    if connection.is_readonly("main").map_err(sqlite)? {
        return Err(StorageError::ReadOnly { path: path.clone() });
    }
    let backup = migrate::Backup::Kept(&target.real);
    let kept = migrate::bring_up_to_date(&mut connection, path, now, backup)?;
    index::bring_up_to_date(&mut connection, path)?;
    keep_private(&target.real);
    let (connection, lost_log) =
        log::keep(connection, &open, &target.real, gave_up).map_err(sqlite)?;
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
        kept_as: kept,
        lost_log,
    })
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
fn create(target: &Target<'_>) -> Result<()> {
    let fault = |cause| target.io(cause);
    if let Some(folder) = target
        .path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        && !folder.exists()
    {
        make_private_folder(folder).map_err(fault)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    // Not `create_new`: another process may be making the same store, and an empty file may lie there.
    options
        .truncate(false)
        .open(target.path)
        .map(drop)
        .map_err(fault)
}

/// Makes a folder that only its owner may enter, and sees to it that it survives a power cut. One level
/// only: a home folder that is missing is a mistake to be told, not to be made.
///
/// # Errors
/// What the system reports; that it is there already is no error, since another process may be making it.
pub fn make_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    match builder.create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    sync_folder(folder.parent().unwrap_or(folder));
    Ok(())
}

/// Makes the names in a folder permanent, where the system can do that for a folder.
pub(super) fn sync_folder(folder: &Path) {
    #[cfg(unix)]
    {
        let _not_everywhere = File::open(folder).and_then(|folder| folder.sync_all());
    }
    #[cfg(not(unix))]
    let _ = folder;
}

/// See [`Store::open_for_reading`].
pub(super) fn for_reading(
    location: &Location,
    now: DateTime<Utc>,
    sharing: Sharing,
) -> Result<Option<Store>> {
    let path = &location.path;
    let target = Target::new(path);
    let Some(header) = target.header()? else {
        return Ok(None);
    };
    let quiet = if sharing == Sharing::Quiet && header.wal {
        read_quietly(&target)?
    } else {
        None
    };
    let (connection, fingerprint) = match quiet {
        Some((connection, fingerprint)) => (connection, Some(fingerprint)),
        None if !header.wal && target.beside("-journal").exists() => {
            // A writer of a file without a log was killed: only a writer may put that right.
            return match recover(&target, location, now) {
                // Nobody was: it is still writing, or done by now.
                Err(StorageError::Changed { .. }) => for_reading(location, now, sharing),
                recovered => recovered.map(Some),
            };
        }
        None => connect_with_locks(&target, &header)?,
    };
    match migrate::version_of(&connection, path)? {
        migrate::Version::Empty => Ok(None),
        migrate::Version::Current => Ok(Some(Store {
            connection,
            path: path.clone(),
            fingerprint,
            copied_because: None,
            kept_as: None,
            lost_log: false,
        })),
        migrate::Version::Older(_) => {
            drop(connection);
            let impatient = Location {
                path: path.clone(),
                patience: READER_PATIENCE,
            };
            match for_writing(&impatient, now) {
                Ok(store) => Ok(Some(store)),
                Err(error) if error.is_about_writing() => {
                    read_a_copy(&target, &header, now, &error).map(Some)
                }
                Err(error) => Err(error),
            }
        }
    }
}

/// Opens a WAL file without its log: as immutable, when it has been at rest for a while. Nothing comes back
/// when somebody is about to write it, or when it is not a store of this version: then locks are needed.
fn read_quietly(target: &Target<'_>) -> Result<Option<(Connection, Fingerprint)>> {
    let wal = target.beside("-wal");
    if wal.exists() {
        return Ok(None);
    }
    let mut fingerprint = Fingerprint::take(&target.real);
    if fingerprint.is_none() && target.require_write_access().is_err() {
        // With locks, a reader would leave files beside a store that its owner could not write.
        std::thread::sleep(CLOCK_GRAIN + CLOCK_GRAIN);
        fingerprint = Fingerprint::take(&target.real);
    }
    let Some(fingerprint) = fingerprint else {
        return Ok(None);
    };
    let opened = connect_immutable(target).and_then(|connection| {
        let version = migrate::version_of(&connection, target.path)?;
        Ok((connection, version))
    });
    match opened {
        Ok((connection, migrate::Version::Current)) => Ok(Some((connection, fingerprint))),
        Err(error) if fingerprint.still_holds() => Err(error),
        _ => Ok(None),
    }
}

/// Opens a file read-only with SQLite's own locks, or, where they cannot be made, without: in a read-only folder, and where
/// memory cannot be shared.
fn connect_with_locks(
    target: &Target<'_>,
    header: &Header,
) -> Result<(Connection, Option<Fingerprint>)> {
    match connect_locked(target) {
        Err(StorageError::ReadOnly { .. } | StorageError::Unshared { .. }) if header.wal => {
            let wal = target.beside("-wal");
            if fs::metadata(&wal).map_or(0, |metadata| metadata.len()) > 0 {
                return connect_to_duplicate(target, "-wal").map(|connection| (connection, None));
            }
            let fingerprint = Fingerprint::take(&target.real);
            connect_immutable(target).map(|connection| (connection, fingerprint))
        }
        other => other.map(|connection| (connection, None)),
    }
}

/// Opens a file with SQLite's own locks, and reads a first page, which is when trouble shows.
fn connect_locked(target: &Target<'_>) -> Result<Connection> {
    let open = || -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&target.real, flags)?;
        configure(&connection, READER_PATIENCE)?;
        // The last one to close would write the log back into the file.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        first_page(&connection)?;
        Ok(connection)
    };
    open().map_err(|error| target.sqlite(error))
}

pub(super) fn first_page(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
}

/// Opens a file without locks and without any file beside it.
fn connect_immutable(target: &Target<'_>) -> Result<Connection> {
    let open = || -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(immutable_uri(&target.real), flags)?;
        configure(&connection, READER_PATIENCE)?;
        first_page(&connection)?;
        Ok(connection)
    };
    open().map_err(|error| target.sqlite(error))
}

/// A `file:` address with the characters escaped that would end the path.
pub(super) fn immutable_uri(real: &Path) -> String {
    let path = real.to_string_lossy();
    let path = if cfg!(windows) {
        format!("/{}", path.trim_start_matches(r"\\?\").replace('\\', "/"))
    } else {
        path.into_owned()
    };
    let mut text = String::from("file://");
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

/// Reads an older file that a killed writer has left with its rollback journal: brings it up to date, or, where
/// it may not be written, a copy of it.
fn recover(target: &Target<'_>, location: &Location, now: DateTime<Utc>) -> Result<Store> {
    let impatient = Location {
        path: location.path.clone(),
        patience: READER_PATIENCE,
    };
    match for_writing(&impatient, now) {
        Err(error) if error.is_about_writing() => {
            let mut memory = connect_to_duplicate(target, "-journal")?;
            migrate::bring_up_to_date(&mut memory, target.path, now, migrate::Backup::None)?;
            Ok(Store {
                connection: memory,
                path: target.path.to_path_buf(),
                fingerprint: None,
                copied_because: Some(error.to_string()),
                kept_as: None,
                lost_log: false,
            })
        }
        other => other,
    }
}

/// Reads a file that is only whole with its log (`-wal`, `-journal`), in a folder where no lock can be made: both
/// are copied to where one can.
fn connect_to_duplicate(target: &Target<'_>, log: &str) -> Result<Connection> {
    let io = |cause| StorageError::Io {
        path: target.path.to_path_buf(),
        cause,
    };
    let folder = tempfile::tempdir().map_err(io)?;
    let copy = folder.path().join("store.db");
    let changes = || {
        target
            .header()
            .map(|header| header.map(|header| header.changes))
    };
    let before = changes()?;
    fs::copy(&target.real, &copy).map_err(io)?;
    let copied = fs::copy(target.beside(log), beside(&copy, log));
    let is_gone = match copied {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(io(error)),
        copied => copied.is_err(),
    };
    // Without a log, what was copied may be half of a change, which only the journal of that time tells.
    if log == "-journal" && (is_gone || changes()? != before) {
        return Err(StorageError::Changed {
            path: target.path.to_path_buf(),
        });
    }
    Connection::open(&copy)
        .and_then(|source| copy_to_memory(&source))
        .map_err(|error| target.sqlite(error))
}

pub(super) fn copy_to_memory(source: &Connection) -> rusqlite::Result<Connection> {
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
    target: &Target<'_>,
    header: &Header,
    now: DateTime<Utc>,
    reason: &StorageError,
) -> Result<Store> {
    let (source, _) = connect_with_locks(target, header)?;
    let mut memory = copy_to_memory(&source).map_err(|error| target.sqlite(error))?;
    migrate::bring_up_to_date(&mut memory, target.path, now, migrate::Backup::None)?;
    Ok(Store {
        connection: memory,
        path: target.path.to_path_buf(),
        fingerprint: None,
        copied_because: Some(reason.to_string()),
        kept_as: None,
        lost_log: false,
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
    Ok(Store::of(connection, &path))
}
