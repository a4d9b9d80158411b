//! Forgets for good. A line says that a record is forgotten, and tells nothing of it; the lines before it lose their
//! values, tables and index follow, and what SQLite keeps of deleted rows is overwritten. What cannot be done within the
//! transaction is owed, and stays owed until somebody has done it: `copies.rs` rewrites aizo's own copies of the store,
//! whoever wrote last does the rest.
//!
//! An exception of its own: everywhere else a line of the journal is never altered.

mod copies;
mod find;
mod names;

use std::collections::{BTreeSet, HashMap, HashSet};

use chrono::{DateTime, Utc};
use rusqlite::Connection;

use super::backup::{backups, folders, sweep};
use super::journal::Draft;
use super::{Difference, Result, StorageError, Store, Transaction, View, open};
use crate::merge::forgotten::{Erasure, Forgotten};
use crate::model::{Evidence, JournalLine, Op, Origin, Subject, item_key};

pub(super) use copies::follow_in;
pub use copies::{Memory, Rewritten, StaysForgotten, copy_speaks_of};
pub use find::{Mention, Record};
pub use names::Names;

/// Where it is kept what is owed.
const OWED: &str = "forgetting";
/// Where it is kept that observations have lost their words.
const WORDLESS: &str = "forgotten_words";

/// What has to be done after something was forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owed {
    /// The store's own file and the log beside it are written anew.
    Pages,
    /// aizo's copies of the store forget the same.
    Copies,
    /// The lines of aizo's log that tell of it go.
    Log,
    /// The repository of a sync that lies here is made anew.
    Checkout,
    /// The files of a sync are written anew with the next push.
    Files,
}

impl Owed {
    /// All of it, in the order in which it is done.
    pub const ALL: [Owed; 5] = [
        Owed::Pages,
        Owed::Copies,
        Owed::Log,
        Owed::Checkout,
        Owed::Files,
    ];

    fn name(self) -> &'static str {
        match self {
            Owed::Pages => "pages",
            Owed::Copies => "copies",
            Owed::Log => "log",
            Owed::Checkout => "checkout",
            Owed::Files => "files",
        }
    }
}

impl View<'_> {
    /// What is still to be done after something was forgotten.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn owed(&self) -> Result<BTreeSet<Owed>> {
        let text = self.meta(OWED)?.unwrap_or_default();
        let is_named = |owed: &Owed| text.split(',').any(|name| name == owed.name());
        Ok(Owed::ALL.into_iter().filter(is_named).collect())
    }

    /// The number of the line that says last what was forgotten: whether more was forgotten meanwhile.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn forgettings(&self) -> Result<i64> {
        self.sqlite_result(
            self.connection()
                .prepare_cached("SELECT coalesce(max(seq), 0) FROM journal WHERE op = 'forget'")
                .and_then(|mut statement| statement.query_row([], |row| row.get(0))),
        )
    }

    /// Whether texts of a record were forgotten, here or on another device.
    pub(super) fn is_shortened(&self, subject: &Subject) -> Result<bool> {
        self.sqlite_result(
            self.connection()
                .prepare_cached(
                    "SELECT EXISTS (SELECT 1 FROM journal WHERE kind = ?1 AND uid = ?2 AND op = 'forget')",
                )
                .and_then(|mut statement| {
                    statement.query_row([subject.kind(), subject.uid()], |row| row.get(0))
                }),
        )
    }

    /// Whether a record was forgotten for good.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn is_forgotten(&self, subject: &Subject) -> Result<bool> {
        self.sqlite_result(
            self.connection()
                .prepare_cached(
                    "SELECT EXISTS (SELECT 1 FROM journal
                     WHERE kind = ?1 AND uid = ?2 AND op = 'forget' AND values_after IS NULL)",
                )
                .and_then(|mut statement| {
                    statement.query_row([subject.kind(), subject.uid()], |row| row.get(0))
                }),
        )
    }
}

impl Transaction<'_> {
    /// Forgets records as a whole, and takes texts out of others.
    ///
    /// # Errors
    /// A line that this version cannot read, and what SQLite reports.
    pub fn forget(&mut self, records: &[Record], erasures: &[Erasure]) -> Result<()> {
        self.forget_by(Origin::User, records, erasures)
    }

    /// The same, whoever is behind it.
    pub(super) fn forget_by(
        &mut self,
        origin: Origin,
        records: &[Record],
        erasures: &[Erasure],
    ) -> Result<()> {
        for subject in records.iter().flat_map(|record| &record.names) {
            self.note(Draft::forget(subject.clone(), origin, None))?;
        }
        for erasure in erasures {
            let draft = Draft::forget(erasure.subject.clone(), origin, Some(erasure));
            self.note(draft)?;
        }
        let items = records.iter().flat_map(|record| record.items.clone());
        self.remember_names(&items.collect(), self.now(), self.hlc)?;
        let difference = self.settle_forgetting()?;
        self.keep_beside(difference)?;
        let mut owed = vec![Owed::Pages, Owed::Copies, Owed::Log];
        if self.view().is_synced()? {
            owed.extend([Owed::Checkout, Owed::Files]);
        }
        self.owe(&owed)
    }

    /// Leaves nothing of what the journal says was forgotten: in its lines, and in the tables.
    fn settle_forgetting(&mut self) -> Result<Difference> {
        self.blank_lines(&self.view().forgotten()?)?;
        let difference = match self.view().is_synced()? {
            true => self.refold()?.0,
            false => {
                let state = self.view().folded()?;
                self.become_equal(&state)?
            }
        };
        self.forget_what_was_shown()?;
        Ok(difference)
    }

    /// Remembers what has to be done.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn owe(&self, more: &[Owed]) -> Result<()> {
        let mut owed = self.view().owed()?;
        owed.extend(more);
        self.set_owed(&owed)
    }

    /// Strikes out what was done, unless more was forgotten since that was `known`: whoever did it did not do it for that.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn pay(&mut self, done: &[Owed], known: i64) -> Result<()> {
        if self.view().forgettings()? != known {
            return Ok(());
        }
        let mut owed = self.view().owed()?;
        owed.retain(|one| !done.contains(one));
        self.set_owed(&owed)
    }

    fn set_owed(&self, owed: &BTreeSet<Owed>) -> Result<()> {
        let names: Vec<&str> = owed.iter().map(|one| one.name()).collect();
        if names.is_empty() {
            return self
                .connection()
                .execute("DELETE FROM schema_meta WHERE key = ?1", [OWED])
                .map(drop)
                .map_err(|error| self.sqlite(error));
        }
        self.set_meta(OWED, &names.join(","))
    }

    /// Takes out of the lines of the journal what was forgotten, and tells whether there was anything.
    pub(super) fn blank_lines(&self, forgotten: &Forgotten) -> Result<bool> {
        if forgotten.is_empty() {
            return Ok(false);
        }
        overwrite_what_is_deleted(self.connection()).map_err(|error| self.sqlite(error))?;
        if !forgotten.observations().is_empty() {
            self.set_meta(WORDLESS, "1")?;
        }
        let mut is_any = false;
        for subject in forgotten.records() {
            is_any |= self.blank_record(subject)?;
        }
        for number in self.lines_with_words(forgotten)? {
            for line in self.view().journal_where("seq = ?1", [number])? {
                let left = forgotten.blank(line.clone());
                if left != line {
                    is_any = true;
                    self.write_line(&left)?;
                }
            }
        }
        Ok(is_any)
    }

    /// Takes the words out of observations that have lost them: the same conversation may be read again, here or on another
    /// device.
    pub(super) fn leave_out_forgotten(&mut self, added: &mut [Evidence]) -> Result<()> {
        if added.is_empty() || self.view().meta(WORDLESS)?.is_none() {
            return Ok(());
        }
        if self.forgotten.is_none() {
            self.forgotten = Some(self.view().forgotten()?);
        }
        let forgotten = self.forgotten.get_or_insert_default();
        for observed in added {
            forgotten.blank_observation(observed);
        }
        Ok(())
    }

    /// Takes the values out of the lines of a record, also where this version cannot read them.
    fn blank_record(&self, subject: &Subject) -> Result<bool> {
        self.connection()
            .prepare_cached(
                "UPDATE journal SET values_before = NULL, values_after = NULL, evidence_added = '[]',
                     evidence_removed = CASE op WHEN 'forget' THEN evidence_removed ELSE '[]' END
                 WHERE kind = ?1 AND uid = ?2
                   AND (values_before IS NOT NULL OR values_after IS NOT NULL OR evidence_added != '[]'
                        OR op != 'forget' AND evidence_removed != '[]')",
            )
            .and_then(|mut statement| statement.execute([subject.kind(), subject.uid()]))
            .map(|rows| rows > 0)
            .map_err(|error| self.sqlite(error))
    }

    /// The numbers of the lines that may have a text or an observation which was forgotten, and are not of a record that was.
    fn lines_with_words(&self, forgotten: &Forgotten) -> Result<BTreeSet<i64>> {
        let mut numbers = BTreeSet::new();
        let mut read = || -> rusqlite::Result<()> {
            let mut of_record = self
                .connection()
                .prepare("SELECT seq FROM journal WHERE kind = ?1 AND uid = ?2")?;
            for subject in forgotten.shortened() {
                let rows =
                    of_record.query_map([subject.kind(), subject.uid()], |row| row.get(0))?;
                for number in rows {
                    numbers.insert(number?);
                }
            }
            if forgotten.observations().is_empty() {
                return Ok(());
            }
            let mut observed = self.connection().prepare(
                "SELECT seq, e.value ->> 'uid' FROM journal, json_each(evidence_added) e
                 WHERE evidence_added != '[]'
                 UNION ALL
                 SELECT seq, e.value ->> 'uid' FROM journal, json_each(evidence_removed) e
                 WHERE evidence_removed != '[]'",
            )?;
            let mut rows = observed.query([])?;
            while let Some(row) = rows.next()? {
                let name: String = row.get(1)?;
                if forgotten.observations().contains(&name) {
                    numbers.insert(row.get(0)?);
                }
            }
            Ok(())
        };
        read().map_err(|error| self.sqlite(error))?;
        Ok(numbers)
    }

    /// What an agent was told of entries that are there no more.
    fn forget_what_was_shown(&self) -> Result<()> {
        let connection = self.connection();
        let forget = || -> rusqlite::Result<()> {
            let exists: bool = connection.query_row(
                "SELECT count(*) FROM sqlite_schema WHERE name = 'shown'",
                [],
                |row| row.get(0),
            )?;
            if exists {
                connection.execute(
                    "DELETE FROM shown WHERE preference NOT IN (SELECT id FROM preferences)",
                    [],
                )?;
            }
            Ok(())
        };
        forget().map_err(|error| self.sqlite(error))
    }

    /// Remembers the names of what some lines say was forgotten and the journal does not know yet, as far as it or these
    /// lines tell them, and gives them.
    pub(super) fn names_of_forgotten(&self, lines: &[JournalLine]) -> Result<BTreeSet<String>> {
        let mut items = BTreeSet::new();
        let mut told: HashMap<&Subject, Vec<&JournalLine>> = HashMap::new();
        for line in lines {
            told.entry(&line.subject).or_default().push(line);
        }
        for line in lines {
            if line.op != Op::Forget
                || line.after.is_some()
                || self.view().knows_change(&line.device, &line.hlc)?
            {
                continue;
            }
            let known = self.view().journal_where(
                "kind = ?1 AND uid = ?2",
                [line.subject.kind(), line.subject.uid()],
            )?;
            let with_them = told.get(&line.subject).into_iter().flatten().copied();
            let values = known
                .iter()
                .chain(with_them)
                .flat_map(|line| line.before.iter().chain(&line.after));
            let of_line: BTreeSet<String> = values
                .filter_map(|values| values.get("item")?.as_str())
                .filter(|item| !item.is_empty())
                .map(str::to_owned)
                .collect();
            let at = line.moment().map_or(self.now(), |at| at.min(self.now()));
            self.remember_names(&of_line, at, line.hlc.parse().unwrap_or_default())?;
            items.extend(of_line);
        }
        Ok(items)
    }

    /// What was said of an item before it was forgotten, by who did not know: entries and proposals that came only now, and
    /// proposals about `items`, which were forgotten elsewhere. A hard limit is not among it: it gives way only to who knew it.
    pub(super) fn forgotten_before(
        &self,
        difference: &Difference,
        items: &BTreeSet<String>,
    ) -> Result<Vec<Record>> {
        let names = self.view().forgotten_names()?;
        let uids = difference.added();
        if names.is_empty() || uids.is_empty() && items.is_empty() {
            return Ok(Vec::new());
        }
        let keys: HashSet<String> = items.iter().map(|item| item_key(item)).collect();
        let mut records = self.view().records()?;
        records.retain(|record| {
            let waits = record.id.is_some() && matches!(record.subject, Subject::Proposal(_));
            let is_it = uids.contains(record.subject.uid())
                || waits && keys.contains(&item_key(&record.item));
            is_it && !record.is_hard_limit() && record.was_forgotten(&names)
        });
        Ok(records)
    }
}

/// Lets SQLite overwrite what it deletes on this connection.
fn overwrite_what_is_deleted(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "secure_delete", true)
}

fn write_anew(connection: &Connection) -> rusqlite::Result<bool> {
    overwrite_what_is_deleted(connection)?;
    // Of words that were deleted the index keeps traces until its parts are merged.
    connection.execute("INSERT INTO search (search) VALUES ('optimize')", [])?;
    connection.execute_batch("VACUUM")?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
}

impl Store {
    /// Writes the file anew, so that nothing is left of what was deleted, and empties the log beside it. Tells whether
    /// somebody still reads from that log, so that it stays.
    ///
    /// # Errors
    /// A lock that does not come free, no space, and what SQLite reports.
    pub fn write_anew(&mut self) -> Result<bool> {
        write_anew(&self.connection).map_err(|error| StorageError::from_sqlite(&self.path, error))
    }

    /// Lets every copy of the store that aizo keeps forget what the store has forgotten.
    ///
    /// # Errors
    /// What the store itself reports; what goes wrong with a copy is told with it.
    pub fn rewrite_copies(&self, now: DateTime<Utc>) -> Result<Vec<Rewritten>> {
        let memory = copies::Memory::of(&self.view())?;
        let real = open::real(&self.path);
        folders(&real).iter().for_each(|folder| sweep(folder));
        let copies = backups(&real).into_iter();
        Ok(copies
            .map(|copy| copies::rewrite(copy.path, &memory, now))
            .collect())
    }
}
