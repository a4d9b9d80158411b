//! Copies of a store, in the folder `backups` beside it: those that somebody asks for, and those that are taken before
//! something happens to all of it. SQLite copies the pages of one state, while others write; what is copied is looked at
//! before it gets its name.
//!
//! | file | does |
//! |---|---|
//! | `mod.rs` | what is copied when, which copies there are, and which of them go |
//! | `unfinished.rs` | a copy that is being made, and what is left of one that never was |
//! | `place.rs` | where it goes |
//! | `name.rs` | what its name tells |

mod name;
mod place;
mod unfinished;

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OpenFlags};

use super::foreign::Foreign;
use super::open::{self, beside};
use super::{Location, Memory, Result, Staged, StorageError, Store, Totals, Transaction};
use crate::model::Band;
use name::Name;
use place::Place;
use unfinished::unfinished;
pub(super) use unfinished::{Unfinished, must_be_sound, problems, step, sweep, to_the_end};

/// The folder of the copies, beside the store.
const FOLDER: &str = "backups";
/// So many of the copies stay that nobody has asked for.
const MOST_KEPT: usize = 10;

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
    /// How many entries are in it, and how many of them are hard limits; nothing where it cannot be read. What is damaged in the
    /// middle of it may not show here.
    pub fn contents(&self) -> Option<(i64, i64)> {
        let copy = Foreign::open(&self.path).ok()?;
        let sql = "SELECT count(*), count(*) FILTER (WHERE base_score <= ?1) FROM preferences";
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let limit = Band::Taboo.range().1;
        copy.connection().query_row(sql, [limit], row).ok()
    }

    /// Whether all of it can be read, and put back.
    fn is_sound(&self, now: DateTime<Utc>) -> bool {
        self.contents().is_some() && Staged::from(&self.path, &Memory::default(), now).is_ok()
    }

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

impl Store {
    /// The copies of a store, the newest first. A folder that cannot be read has none.
    pub fn backups(path: &Path) -> Vec<Backup> {
        backups(&open::real(path))
    }

    /// The newest copy that can be put back; one that somebody has asked for, where there is one.
    pub fn newest_sound_backup(path: &Path, now: DateTime<Utc>) -> Option<Backup> {
        let mut copies = Store::backups(path);
        copies.sort_by_key(Backup::is_automatic);
        copies.into_iter().find(|copy| copy.is_sound(now))
    }

    /// Where copies of a store are kept.
    pub fn backup_folder(path: &Path) -> PathBuf {
        folder_of(&open::real(path)).join(FOLDER)
    }

    /// What runs that were ended have left of copies.
    pub fn unfinished_backups(path: &Path) -> Vec<PathBuf> {
        folders(&open::real(path))
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
    let newest = backups(real)
        .into_iter()
        .find(|known| known.occasion.as_deref() == Some(occasion))?;
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

/// Where copies of a store are: in the folder for them, and beside it, where they lay before there was one.
pub(super) fn folders(real: &Path) -> [PathBuf; 2] {
    let beside = folder_of(real);
    [beside.join(FOLDER), beside.to_path_buf()]
}

/// The copies of a store, the newest first.
pub(super) fn backups(real: &Path) -> Vec<Backup> {
    let Some(store) = real.file_name() else {
        return Vec::new();
    };
    let entries = folders(real)
        .into_iter()
        .filter_map(|folder| folder.read_dir().ok());
    let mut found: Vec<Backup> = entries
        .flatten()
        .flatten()
        .filter_map(|entry| Backup::found(store, entry.path()))
        .collect();
    found.sort_by_key(|copy| Reverse((copy.at, copy.number)));
    found
}

/// Removes the oldest copies that nobody has asked for, but for those that are spared. That one stays is no reason to fail. How
/// old one is says the file, and not its name, which a wrong clock or anybody may have given; one of the future is of a wrong
/// clock, and goes first.
pub(super) fn drop_old(real: &Path, spared: &[&Path]) {
    let spared: Vec<PathBuf> = spared.iter().map(|path| open::real(path)).collect();
    let now = SystemTime::now();
    let written = |copy: &Backup| {
        let time = fs::metadata(&copy.path).and_then(|metadata| metadata.modified());
        time.ok().filter(|time| *time <= now)
    };
    let mut automatic = backups(real);
    automatic.retain(Backup::is_automatic);
    automatic.sort_by_cached_key(|copy| Reverse((written(copy), copy.at, copy.number)));
    for old in automatic.into_iter().skip(MOST_KEPT) {
        if spared.contains(&open::real(&old.path)) {
            continue;
        }
        for ending in ["", "-wal"] {
            let _stays_as_it_is = fs::remove_file(beside(&old.path, ending));
        }
    }
}
