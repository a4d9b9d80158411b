//! Copies of a store, in the folder `backups` beside it: those that somebody asks for, and those that are taken before
//! something happens to all of it. SQLite copies the pages of one state, while others write; what is copied is looked at
//! before it gets its name.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use chrono::{DateTime, NaiveDateTime, Utc};
use rusqlite::backup::StepResult;
use rusqlite::{Connection, ErrorCode, OpenFlags, ffi};
use tempfile::{NamedTempFile, PersistError};

use super::open::{self, beside, immutable_uri};
use super::{Location, Result, StorageError, Store, Totals, Transaction, View};

/// The folder of the copies, beside the store.
const FOLDER: &str = "backups";
/// How the name of a copy begins that is not yet whole.
const UNFINISHED: &str = ".aizo-backup-";
/// How the name of a copy ends.
const ENDING: &str = ".bak";
/// How a time is written in it.
const TIME: &str = "%Y%m%dT%H%M%SZ";
/// So many of the copies stay that nobody has asked for.
const MOST_KEPT: usize = 10;

/// Before what a copy is taken by itself, besides a change of the schema.
const OCCASIONS: [&str; 4] = [
    "before-clear",
    "before-import",
    "before-rebuild",
    "before-restore",
];

/// The tables that are counted in a store and in its copy.
const COUNTED: [&str; 6] = [
    "preferences",
    "preference_scenarios",
    "evidence",
    "proposals",
    "sessions",
    "journal",
];

/// A copy of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backup {
    /// The file.
    pub path: PathBuf,
    /// When it was taken.
    pub at: DateTime<Utc>,
    /// What was about to happen then; nothing where somebody has asked for the copy.
    pub occasion: Option<String>,
    /// Its length.
    pub bytes: u64,
    /// Which one of that second it is.
    number: u32,
}

impl Backup {
    /// Whether nobody has asked for it.
    pub fn is_automatic(&self) -> bool {
        self.occasion.is_some()
    }

    fn found(store: &OsStr, path: PathBuf) -> Option<Self> {
        let named = Name::read(&store.to_string_lossy(), path.file_name()?.to_str()?)?;
        let metadata = fs::symlink_metadata(&path).ok()?;
        metadata.is_file().then_some(Backup {
            path,
            at: named.at,
            occasion: named.occasion,
            bytes: metadata.len(),
            number: named.number,
        })
    }
}

/// What the name of a copy tells.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Name {
    at: DateTime<Utc>,
    number: u32,
    occasion: Option<String>,
}

impl Name {
    /// `preferences.db.20261130T090000Z.before-clear.bak`, with a number after the time where there is one already.
    fn written(&self, store: &OsStr) -> String {
        let mut name = format!("{}.{}", store.to_string_lossy(), self.at.format(TIME));
        if self.number > 1 {
            name.push_str(&format!("-{}", self.number));
        }
        if let Some(occasion) = &self.occasion {
            name.push_str(&format!(".{occasion}"));
        }
        name + ENDING
    }

    /// Also of the form `preferences.db.schema7-20261130T090000Z.bak`, in which copies lay beside the store before there was a
    /// folder for them.
    fn read(store: &str, name: &str) -> Option<Self> {
        let about = name
            .strip_prefix(store)?
            .strip_prefix('.')?
            .strip_suffix(ENDING)?;
        let (moment, occasion) = match about.split_once('.') {
            Some((moment, occasion)) => (moment, Some(occasion)),
            None if about.starts_with(|c: char| c.is_ascii_digit()) => (about, None),
            None => {
                let end = about.find("Z").unwrap_or(about.len());
                let (occasion, _) = about[..end].rsplit_once('-')?;
                (&about[occasion.len() + 1..], Some(occasion))
            }
        };
        let (time, number) = match moment.split_once('-') {
            Some((time, number)) => (time, number.parse().ok()?),
            None => (moment, 1),
        };
        // With another word it is somebody's own file.
        let is_occasion = |word: &str| {
            let version = word.strip_prefix("schema");
            OCCASIONS.contains(&word)
                || version.is_some_and(|version| version.parse::<u32>().is_ok())
        };
        Some(Name {
            at: NaiveDateTime::parse_from_str(time, TIME).ok()?.and_utc(),
            number,
            occasion: occasion.filter(|word| is_occasion(word)).map(str::to_owned),
        })
        .filter(|name| name.occasion.is_some() == occasion.is_some())
    }
}

impl Store {
    /// The copies of a store, the newest first. A folder that cannot be read has none.
    pub fn backups(path: &Path) -> Vec<Backup> {
        backups(&open::real(path))
    }

    /// Where copies of a store are kept.
    pub fn backup_folder(path: &Path) -> PathBuf {
        folder_of(&open::real(path)).join(FOLDER)
    }

    /// What runs that were ended have left of copies.
    pub fn unfinished_backups(path: &Path) -> Vec<PathBuf> {
        let real = open::real(path);
        let folders = [
            folder_of(&real).to_path_buf(),
            folder_of(&real).join(FOLDER),
        ];
        folders
            .iter()
            .flat_map(|folder| unfinished(folder))
            .collect()
    }

    /// Copies a store, while others write: to a file that is not there yet, or into a folder; without either into the folder
    /// of its copies. What comes back with it was counted in the copy; nothing where there is no store.
    ///
    /// # Errors
    /// A store that cannot be read or is damaged, a file that is there, and what the file system reports.
    pub fn back_up(
        location: &Location,
        to: Option<&Path>,
        now: DateTime<Utc>,
    ) -> Result<Option<(Backup, Totals)>> {
        let real = open::real(&location.path);
        let Some(store) = Store::open_for_reading(location, now)? else {
            return Ok(None);
        };
        let place = Place::asked_for(&real, to, now)?;
        let mut copy = Unfinished::of(&store.connection, store.path(), &place.folder)?;
        if !store.confirm() {
            drop(store);
            let Some(store) = Store::open_shared(location, now)? else {
                return Ok(None);
            };
            copy = Unfinished::of(&store.connection, store.path(), &place.folder)?;
        }
        let totals = copy.must_be_sound(&location.path)?;
        let bytes = copy.length()?;
        let path = place.take(copy)?;
        let copy = Backup {
            path,
            at: now,
            occasion: None,
            bytes,
            number: 1,
        };
        Ok(Some((copy, totals)))
    }
}

impl Transaction<'_> {
    /// Keeps a copy of the store as it was when the transaction began. `occasion` stands in its name. Of the copies that nobody
    /// has asked for the newest ones stay. Nothing comes back for a store in memory.
    ///
    /// # Errors
    /// A copy that cannot be written.
    pub fn keep_copy(&self, occasion: &str) -> Result<Option<PathBuf>> {
        if self.connection().path().is_none_or(str::is_empty) {
            return Ok(None);
        }
        let real = open::real(self.path());
        let kept = keep(self.path(), &real, occasion, self.now())?;
        drop_old(&real, &[&kept]);
        Ok(Some(kept))
    }
}

/// Where a copy goes.
struct Place {
    folder: PathBuf,
    /// The file; none where it is named after the store and the time.
    file: Option<PathBuf>,
    /// Whether the file may be written over.
    may_replace: bool,
    store: PathBuf,
    at: DateTime<Utc>,
    occasion: Option<String>,
}

impl Place {
    fn beside(real: &Path, at: DateTime<Utc>) -> Self {
        Place {
            folder: folder_of(real).join(FOLDER),
            file: None,
            may_replace: false,
            store: real.to_path_buf(),
            at,
            occasion: None,
        }
    }

    /// For a copy that nobody has asked for.
    fn kept(real: &Path, occasion: &str, at: DateTime<Utc>) -> Result<Self> {
        let mut place = Place::beside(real, at);
        place.occasion = Some(occasion.to_owned());
        make_folder(&place.folder)?;
        Ok(place)
    }

    fn asked_for(real: &Path, to: Option<&Path>, at: DateTime<Utc>) -> Result<Self> {
        let mut place = Place::beside(real, at);
        match to {
            None => make_folder(&place.folder)?,
            Some(folder) if folder.is_dir() => place.folder = folder.to_path_buf(),
            Some(file) => {
                place.may_replace = is_automatic(real, file);
                if file.symlink_metadata().is_ok() && !place.may_replace {
                    return Err(StorageError::Exists {
                        path: file.to_path_buf(),
                    });
                }
                place.folder = folder_of(file).to_path_buf();
                place.file = Some(file.to_path_buf());
            }
        }
        Ok(place)
    }

    /// Gives a copy its name; one that is taken already is not taken from what has it.
    fn take(&self, copy: Unfinished) -> Result<PathBuf> {
        let mut number = 1;
        let mut file = copy.file;
        loop {
            let path = self.file.clone().unwrap_or_else(|| self.name(number));
            let named = if self.may_replace {
                file.persist(&path)
            } else {
                file.persist_noclobber(&path)
            };
            let Err(PersistError { error, file: again }) = named else {
                open::sync_folder(&self.folder);
                return Ok(path);
            };
            match (error.kind(), &self.file) {
                (io::ErrorKind::AlreadyExists, None) => {
                    file = again;
                    number += 1;
                }
                (io::ErrorKind::AlreadyExists, Some(_)) => {
                    return Err(StorageError::Exists { path });
                }
                _ => return Err(StorageError::from_io(&path, error)),
            }
        }
    }

    fn name(&self, number: u32) -> PathBuf {
        let name = Name {
            at: self.at,
            number,
            occasion: self.occasion.clone(),
        };
        let store = self.store.file_name().unwrap_or_default();
        self.folder.join(name.written(store))
    }
}

/// Keeps the store as it was, while the write lock is held: a second connection sees what was committed. Reading the file by
/// other means would drop this process's locks on it.
pub(super) fn keep(
    path: &Path,
    real: &Path,
    occasion: &str,
    now: DateTime<Utc>,
) -> Result<PathBuf> {
    let place = Place::kept(real, occasion, now)?;
    // Where copies lay before there was a folder for them.
    sweep(folder_of(real));
    let copy = Unfinished::of(&committed(path, real)?, path, &place.folder)?;
    match twin(&copy, real, occasion) {
        Some(twin) => Ok(twin),
        None => place.take(copy),
    }
}

/// Keeps a file that SQLite cannot read, and its log, as they are.
pub(super) fn keep_file(real: &Path, occasion: &str, now: DateTime<Utc>) -> Result<PathBuf> {
    const LOG: &str = "-wal";
    let place = Place::kept(real, occasion, now)?;
    let copied = |file: &Path| -> Result<Unfinished> {
        let mut copy = Unfinished::empty(&place.folder)?;
        let io = |cause| StorageError::from_io(file, cause);
        let mut from = File::open(file).map_err(io)?;
        io::copy(&mut from, copy.file.as_file_mut()).map_err(io)?;
        copy.file.as_file().sync_all().map_err(io)?;
        Ok(copy)
    };
    let kept = place.take(copied(real)?)?;
    let log = beside(real, LOG);
    if log.exists() {
        copied(&log)?.take_the_place_of(&beside(&kept, LOG))?;
    }
    Ok(kept)
}

/// The store as it was committed, beside a transaction that is open.
pub(super) fn committed(path: &Path, real: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(real, flags).map_err(|error| StorageError::from_sqlite(path, error))
}

/// The newest copy of this occasion, where it holds the same: a run that was ended here has left it.
fn twin(copy: &Unfinished, real: &Path, occasion: &str) -> Option<PathBuf> {
    let copies = backups(real).into_iter();
    let newest = copies
        .filter(|known| known.occasion.as_deref() == Some(occasion))
        .find(|known| copy.length().is_ok_and(|length| length == known.bytes))?;
    let is_same = have_same_bytes(copy.file.path(), &newest.path).unwrap_or(false);
    is_same.then_some(newest.path)
}

fn have_same_bytes(a: &Path, b: &Path) -> io::Result<bool> {
    let [mut a, mut b] = [
        io::BufReader::new(File::open(a)?),
        io::BufReader::new(File::open(b)?),
    ];
    let (mut left, mut right) = ([0; 1 << 13], [0; 1 << 13]);
    loop {
        let read = a.read(&mut left)?;
        if read == 0 {
            return Ok(b.read(&mut right)? == 0);
        }
        b.read_exact(&mut right[..read])?;
        if left[..read] != right[..read] {
            return Ok(false);
        }
    }
}

/// A copy that has no name of its own yet. It is locked, so that nobody takes it for one that was left.
pub(super) struct Unfinished {
    file: NamedTempFile,
}

impl Unfinished {
    fn empty(folder: &Path) -> Result<Self> {
        sweep(folder);
        let mut builder = tempfile::Builder::new();
        builder.prefix(UNFINISHED);
        let file = builder
            .tempfile_in(folder)
            .map_err(|cause| StorageError::from_io(folder, cause))?;
        #[cfg(unix)]
        let _as_far_as_it_goes = file.as_file().try_lock();
        Ok(Unfinished { file })
    }

    /// Copies one state of a store into a folder, and compares what can be counted.
    pub(super) fn of(source: &Connection, store: &Path, folder: &Path) -> Result<Self> {
        let mut copy = Unfinished::empty(folder)?;
        copy.fill(source)
            .map_err(|error| fault(store, copy.file.path(), error))?;
        copy.settle()
            .map_err(|cause| StorageError::from_io(folder, cause))?;
        Ok(copy)
    }

    fn fill(&mut self, source: &Connection) -> rusqlite::Result<()> {
        let state = source.unchecked_transaction()?;
        // A damaged store is copied as it is.
        let before = counts(source).ok();
        {
            let mut target = connect(self.file.path())?;
            let backup = rusqlite::backup::Backup::new(source, &mut target)?;
            to_the_end(&backup)?;
        }
        drop(state);
        let after = self.open().and_then(|copy| counts(&copy));
        match before {
            Some(before) if after.as_ref().ok() != Some(&before) => Err(after
                .err()
                .unwrap_or_else(|| damage("the copy holds something else"))),
            _ => Ok(()),
        }
    }

    /// Makes it a file that stands alone, and sees to it that it is on the disk.
    fn settle(&mut self) -> io::Result<()> {
        // Where the store has a log, the copy says so too, and whoever opens it would make one.
        const VERSIONS: u64 = 18;
        let file = self.file.as_file_mut();
        file.seek(SeekFrom::Start(VERSIONS))?;
        file.write_all(&[1, 1])?;
        file.sync_all()
    }

    /// Opens it without leaving anything beside it.
    fn open(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI;
        Connection::open_with_flags(immutable_uri(self.file.path()), flags)
    }

    fn length(&self) -> Result<u64> {
        let metadata = self.file.as_file().metadata();
        metadata
            .map(|metadata| metadata.len())
            .map_err(|cause| StorageError::from_io(self.file.path(), cause))
    }

    /// Opens it again and looks at all of it.
    fn must_be_sound(&self, store: &Path) -> Result<Totals> {
        let copy = self
            .open()
            .map_err(|error| StorageError::from_sqlite(store, error))?;
        must_be_sound(&copy, store)?;
        View::new(&copy, store).totals()
    }

    /// Puts it in the place of a file.
    pub(super) fn take_the_place_of(self, path: &Path) -> Result<()> {
        self.file
            .persist(path)
            .map_err(|error| StorageError::from_io(path, error.error))?;
        open::sync_folder(folder_of(path));
        Ok(())
    }
}

/// Opens a file that nobody else knows, to be filled. SQLite locks nothing: the file is locked already.
fn connect(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let target = if cfg!(unix) {
        Connection::open_with_flags_and_vfs(file, flags, "unix-none")?
    } else {
        Connection::open_with_flags(file, flags)?
    };
    target.execute_batch(
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF",
    )?;
    Ok(target)
}

/// Runs a copy to its end. A file without a log may be held by somebody who writes.
pub(super) fn to_the_end(backup: &rusqlite::backup::Backup<'_, '_>) -> rusqlite::Result<()> {
    step(backup, -1, Duration::from_secs(10))
}

/// Copies some pages, or with -1 all; without any it takes the lock of the target.
pub(super) fn step(
    backup: &rusqlite::backup::Backup<'_, '_>,
    pages: i32,
    patience: Duration,
) -> rusqlite::Result<()> {
    const PAUSE: Duration = Duration::from_millis(5);
    let begun = Instant::now();
    loop {
        match backup.step(pages)? {
            StepResult::Busy | StepResult::Locked if begun.elapsed() > patience => {
                let busy = ffi::Error::new(ffi::SQLITE_BUSY);
                return Err(rusqlite::Error::SqliteFailure(busy, None));
            }
            StepResult::Busy | StepResult::Locked => std::thread::sleep(PAUSE),
            _ => return Ok(()),
        }
    }
}

/// What `integrity_check` finds, at most so many.
pub(super) fn problems(connection: &Connection, most: usize) -> rusqlite::Result<Vec<String>> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let mut statement = connection.prepare(&format!("PRAGMA integrity_check({most})"))?;
    let found: Vec<String> = statement
        .query_map([], |row| super::read::text(row, 0))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(found.into_iter().filter(|line| line != "ok").collect())
}

/// Fails where SQLite finds a database damaged.
pub(super) fn must_be_sound(connection: &Connection, path: &Path) -> Result<()> {
    let found = problems(connection, 1);
    let found = found.map_err(|error| StorageError::from_sqlite(path, error))?;
    match found.into_iter().next() {
        None => Ok(()),
        Some(detail) => Err(StorageError::Damaged {
            path: path.to_path_buf(),
            detail,
        }),
    }
}

/// How many rows each table has.
fn counts(connection: &Connection) -> rusqlite::Result<Vec<(&'static str, i64)>> {
    let mut counts = Vec::new();
    for table in COUNTED {
        let exists: bool = connection.query_row(
            "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1",
            [table],
            |row| row.get(0),
        )?;
        if exists {
            let sql = format!("SELECT count(*) FROM {table}");
            counts.push((table, connection.query_row(&sql, [], |row| row.get(0))?));
        }
    }
    Ok(counts)
}

fn damage(what: &str) -> rusqlite::Error {
    let corrupt = ffi::Error::new(ffi::SQLITE_CORRUPT);
    rusqlite::Error::SqliteFailure(corrupt, Some(what.to_owned()))
}

/// What went wrong with a copy: writing it, or reading the store.
fn fault(store: &Path, copy: &Path, error: rusqlite::Error) -> StorageError {
    let is_about_writing = matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DiskFull | ErrorCode::ReadOnly | ErrorCode::PermissionDenied)
    );
    let path = if is_about_writing {
        folder_of(copy)
    } else {
        store
    };
    StorageError::from_sqlite(path, error)
}

fn make_folder(folder: &Path) -> Result<()> {
    open::make_private_folder(folder).map_err(|cause| StorageError::from_io(folder, cause))
}

/// The folder of a file.
pub(super) fn folder_of(file: &Path) -> &Path {
    file.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Whether a file is one of the copies of a store that nobody has asked for.
fn is_automatic(real: &Path, file: &Path) -> bool {
    let Ok(file) = fs::canonicalize(file) else {
        return false;
    };
    let mut copies = backups(real).into_iter().filter(Backup::is_automatic);
    copies.any(|copy| open::real(&copy.path) == file)
}

fn backups(real: &Path) -> Vec<Backup> {
    let Some(store) = real.file_name() else {
        return Vec::new();
    };
    let folders = [folder_of(real).join(FOLDER), folder_of(real).to_path_buf()];
    let entries = folders.iter().filter_map(|folder| folder.read_dir().ok());
    let mut found: Vec<Backup> = entries
        .flatten()
        .flatten()
        .filter_map(|entry| Backup::found(store, entry.path()))
        .collect();
    found.sort_by_key(|copy| Reverse((copy.at, copy.number)));
    found
}

/// Removes the oldest copies that nobody has asked for, but for those that are spared. That one stays is no reason to fail.
pub(super) fn drop_old(real: &Path, spared: &[&Path]) {
    let spared: Vec<PathBuf> = spared.iter().map(|path| open::real(path)).collect();
    let automatic = backups(real).into_iter().filter(Backup::is_automatic);
    for old in automatic.skip(MOST_KEPT) {
        if spared.contains(&open::real(&old.path)) {
            continue;
        }
        for ending in ["", "-wal"] {
            let _stays_as_it_is = fs::remove_file(beside(&old.path, ending));
        }
    }
}

/// Copies in a folder that nobody is writing any more.
fn unfinished(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = folder.read_dir() else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(UNFINISHED))
        .map(|entry| entry.path())
        .filter(|path| is_left(path))
        .collect()
}

/// Whether nobody holds a file. Where files are not locked so, one that is written cannot be removed.
fn is_left(file: &Path) -> bool {
    if cfg!(unix) {
        File::open(file).is_ok_and(|file| file.try_lock().is_ok())
    } else {
        file.is_file()
    }
}

/// Removes what runs that were ended have left in a folder.
fn sweep(folder: &Path) {
    for left in unfinished(folder) {
        let _the_next_run_may = fs::remove_file(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const STORE: &str = "preferences.db";

    #[rstest]
    #[case("20261130T090000Z.bak", 1, None)]
    #[case("20261130T090000Z-2.bak", 2, None)]
    #[case("20261130T090000Z.before-clear.bak", 1, Some("before-clear"))]
    #[case("20261130T090000Z-12.schema7.bak", 12, Some("schema7"))]
    fn a_name_tells_when_and_before_what(
        #[case] name: &str,
        #[case] number: u32,
        #[case] occasion: Option<&str>,
    ) {
        let read = Name::read(STORE, &format!("{STORE}.{name}")).expect("it is one");
        let at: DateTime<Utc> = "2026-11-30T09:00:00Z".parse().expect("a time");
        let wanted = Name {
            at,
            number,
            occasion: occasion.map(str::to_owned),
        };
        assert_eq!(read, wanted);
        assert_eq!(read.written(OsStr::new(STORE)), format!("{STORE}.{name}"));
    }

    #[rstest]
    #[case("preferences.db.schema7-20261130T090000Z.bak", Some(("schema7", 1)))]
    #[case("preferences.db.before-import-20261130T090000Z-2.bak", Some(("before-import", 2)))]
    #[case("preferences.db.bak", None)]
    #[case("preferences.db.mine.bak", None)]
    #[case("preferences.db.mine-20261130T090000Z.bak", None)]
    #[case("preferences.db.20261130T090000Z.mine.bak", None)]
    #[case("preferences.db.20261130T090000Z.bak-wal", None)]
    #[case("preferences.db.20261130T090000Z.Mine!.bak", None)]
    #[case("other.db.20261130T090000Z.bak", None)]
    #[case("0f1e.before-install.settings.json", None)]
    fn files_of_others_are_no_copies(#[case] name: &str, #[case] old: Option<(&str, u32)>) {
        let read = Name::read(STORE, name);
        let read = read.as_ref();
        let told = read.and_then(|name| Some((name.occasion.as_deref()?, name.number)));
        assert_eq!(told, old, "{read:?}");
        assert_eq!(read.is_some(), old.is_some());
    }
}
