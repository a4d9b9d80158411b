//! Receives lines that other devices wrote: into the journal, and the tables follow; all in one transaction, or
//! nothing. A store that never received any has none of what is made here.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use rusqlite::{OptionalExtension, params};
use serde_json::Value;

use super::forget::Owed;
use super::journal::before_column;
use super::state::Difference;
use super::write::new_uid;
use super::{Result, StorageError, Transaction, View};
use crate::merge::fold::Held;
use crate::merge::forgotten::Forgotten;
use crate::model::{Evidence, JournalLine, LINE_VERSION, Op, Subject};

/// Made when lines are received first.
const TABLES: &str = "
    CREATE UNIQUE INDEX IF NOT EXISTS journal_time ON journal(device, hlc);
    CREATE TABLE IF NOT EXISTS entry_aliases (
        uid      TEXT PRIMARY KEY,
        survivor TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS entry_aliases_survivor ON entry_aliases(survivor);";

/// What came of lines that were received.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Received {
    /// How many lines are new here, by device.
    pub lines: HashMap<String, usize>,
    /// What is different in the tables.
    pub difference: Difference,
    /// What limits withstood, of the lines that are new and of the entries that have changed.
    pub held: Vec<Held>,
    /// The name under which this device goes on, where another one writes under the name that it had.
    pub renamed: Option<String>,
    /// The items that were forgotten, as far as they were known here.
    pub forgotten: BTreeSet<String>,
}

/// Whether there are lines under a name that cannot be read yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum More {
    /// There are none.
    Nothing,
    /// A later version has written some.
    Waits,
}

/// What came of making the tables anew.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rebuilt {
    /// Lines that the journal did not have.
    pub missing: usize,
    /// Lines that it had otherwise.
    pub repaired: usize,
    /// Lines that it has and that were not given.
    pub unpushed: usize,
    /// How many lines are new here, by device.
    pub lines: HashMap<String, usize>,
    /// What was different in the tables.
    pub difference: Difference,
}

impl View<'_> {
    pub(super) fn meta(&self, key: &str) -> Result<Option<String>> {
        self.sqlite_result(
            self.connection()
                .prepare_cached("SELECT value FROM schema_meta WHERE key = ?1")
                .and_then(|mut statement| statement.query_row([key], |row| row.get(0)).optional()),
        )
    }

    /// The name of this device.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn device(&self) -> Result<String> {
        Ok(self.meta("device")?.unwrap_or_default())
    }

    /// Whether lines were ever received.
    pub(super) fn is_synced(&self) -> Result<bool> {
        Ok(self.meta("hlc_seen")?.is_some())
    }

    /// What the last sync has left here about the files of the repository.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn sync_note(&self) -> Result<Option<String>> {
        self.meta("sync_note")
    }

    /// How many lines of each device the journal has, but for those that stay here.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn lines_by_device(&self) -> Result<HashMap<String, usize>> {
        let read = || -> rusqlite::Result<HashMap<String, usize>> {
            self.connection()
                .prepare(
                    "SELECT device, count(*) FROM journal WHERE kind != 'session' GROUP BY device",
                )?
                .query_map([], |row| {
                    let many: i64 = row.get(1)?;
                    Ok((row.get(0)?, usize::try_from(many).unwrap_or_default()))
                })?
                .collect()
        };
        self.sqlite_result(read())
    }

    /// Hands the lines of a device to `each` in their order, but for those that stay here.
    ///
    /// # Errors
    /// A line that this version cannot read, and what SQLite reports.
    pub fn each_line_of(&self, device: &str, each: impl FnMut(JournalLine)) -> Result<()> {
        self.each_line(
            "device = ?1 AND kind != 'session' ORDER BY hlc",
            [device],
            each,
        )
    }

    /// The times of a device's lines that the journal has.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn times_of(&self, device: &str) -> Result<HashSet<String>> {
        let read = || -> rusqlite::Result<HashSet<String>> {
            self.connection()
                .prepare("SELECT hlc FROM journal WHERE device = ?1")?
                .query_map([device], |row| row.get(0))?
                .collect()
        };
        self.sqlite_result(read())
    }

    /// The condition (SQL over the columns of the journal) that a line is about the entry `?2`, also where it goes by
    /// another name there.
    pub(super) fn names(&self) -> Result<&'static str> {
        Ok(if self.is_synced()? {
            "(uid = ?2 OR kind = 'entry' AND uid IN (SELECT uid FROM entry_aliases WHERE survivor = ?2))"
        } else {
            "uid = ?2"
        })
    }

    /// The number of a record in this file, also where it goes by another name by now.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn number_of(&self, subject: &Subject) -> Result<Option<i64>> {
        match (self.local_id(subject)?, self.survivor(subject.uid())?) {
            (None, Some(survivor)) => self.local_id(&Subject::Entry(survivor)),
            (id, _) => Ok(id),
        }
    }

    /// The entry that a name stands for, where it is one with another.
    fn survivor(&self, uid: &str) -> Result<Option<String>> {
        if !self.is_synced()? {
            return Ok(None);
        }
        self.sqlite_result(
            self.connection()
                .prepare_cached("SELECT survivor FROM entry_aliases WHERE uid = ?1")
                .and_then(|mut statement| statement.query_row([uid], |row| row.get(0)).optional()),
        )
    }
}

impl Transaction<'_> {
    /// Receives lines. Those that the journal has are passed over; of this device's own, all that the repository has are
    /// given, or none.
    ///
    /// # Errors
    /// A line in the journal that this version cannot read, and what SQLite reports.
    pub fn receive(&mut self, mut lines: Vec<JournalLine>) -> Result<Received> {
        let is_first = !self.view().is_synced()?;
        self.connection()
            .execute_batch(TABLES)
            .map_err(|error| self.sqlite(error))?;
        let renamed = self.leave_name(&lines, More::Nothing)?;
        lines.sort_by(|a, b| (&a.hlc, &a.device).cmp(&(&b.hlc, &b.device)));
        let last: i64 = self
            .connection()
            .query_row("SELECT coalesce(max(seq), 0) FROM journal", [], |row| {
                row.get(0)
            })
            .map_err(|error| self.sqlite(error))?;
        let mut received = Received {
            renamed,
            ..Received::default()
        };
        let mut forgotten = self.view().forgotten()?;
        lines.iter().for_each(|line| forgotten.add(line));
        received.forgotten = self.names_of_forgotten(&lines)?;
        let mut is_forgetting = false;
        let mut new: HashSet<(String, String)> = HashSet::new();
        let lines = lines.into_iter().map(|line| forgotten.blank(line));
        for mut line in lines.filter(|line| !line.stays_here()) {
            // A number means nothing outside its file.
            line.local_id = None;
            self.hlc = line.hlc.parse().map_or(self.hlc, |seen| self.hlc.max(seen));
            if self.insert_line(&line)? {
                is_forgetting |= line.op == Op::Forget;
                *received.lines.entry(line.device.clone()).or_default() += 1;
                new.insert((line.device, line.hlc));
            }
        }
        self.seen = None;
        self.set_meta("hlc_seen", &self.hlc.to_string())?;
        if new.is_empty() && !is_first {
            return Ok(received);
        }
        if is_forgetting {
            self.blank_lines(&forgotten)?;
            self.owe(&Owed::ALL)?;
        }
        let (mut difference, held) = self.refold()?;
        let late = self.forgotten_before(&difference.added())?;
        if !late.is_empty() {
            received
                .forgotten
                .extend(late.iter().map(|record| record.item.clone()));
            difference
                .entries
                .retain(|entry| late.iter().all(|record| record.subject.uid() != entry.uid));
            self.forget(&late, &[])?;
        }
        self.number_lines_after(last)?;
        let changed: BTreeSet<&str> = difference
            .entries
            .iter()
            .map(|entry| entry.uid.as_str())
            .collect();
        received.held = held
            .into_iter()
            .filter(|held| {
                changed.contains(held.uid.as_str())
                    || new.contains(&(held.device.clone(), held.hlc.clone()))
            })
            .collect();
        received.difference = difference;
        Ok(received)
    }

    /// Receives the whole journal of another store, in its order and with the numbers that its records have there. This one is
    /// empty.
    ///
    /// # Errors
    /// The same line twice, and what SQLite reports.
    pub(super) fn receive_journal(&mut self, lines: &[JournalLine]) -> Result<()> {
        self.connection()
            .execute_batch(TABLES)
            .map_err(|error| self.sqlite(error))?;
        let forgotten = Forgotten::of(lines);
        for line in lines {
            let line = forgotten.blank(line.clone());
            self.hlc = line.hlc.parse().map_or(self.hlc, |seen| self.hlc.max(seen));
            if !self.insert_line(&line)? {
                return Err(StorageError::Journal {
                    path: self.path().to_path_buf(),
                    seq: 0,
                    detail: format!("{} is there twice", line.hlc),
                });
            }
        }
        self.seen = None;
        self.set_meta("hlc_seen", &self.hlc.to_string())?;
        self.refold().map(drop)
    }

    /// Makes the tables anew from lines, which count more than what the journal has of them, and from those of the journal
    /// that are not among them.
    ///
    /// # Errors
    /// As [`Transaction::receive`].
    pub fn rebuild(&mut self, lines: Vec<JournalLine>) -> Result<Rebuilt> {
        self.connection()
            .execute_batch(TABLES)
            .map_err(|error| self.sqlite(error))?;
        let mut rebuilt = Rebuilt::default();
        let lines: Vec<JournalLine> = lines
            .into_iter()
            .filter(|line| !line.stays_here())
            .collect();
        let mut forgotten = self.view().forgotten()?;
        lines.iter().for_each(|line| forgotten.add(line));
        let lines: Vec<JournalLine> = lines
            .into_iter()
            .map(|line| forgotten.blank(line))
            .collect();
        for line in &lines {
            rebuilt.repaired += usize::from(self.repair(line)?);
        }
        let many = lines.len();
        let received = self.receive(lines)?;
        let new: usize = received.lines.values().sum();
        rebuilt.difference = match new {
            // It has not looked at the tables.
            0 => self.refold()?.0,
            _ => received.difference,
        };
        let here: usize = self.view().lines_by_device()?.values().sum();
        rebuilt.missing = new;
        rebuilt.unpushed = here.saturating_sub(many);
        rebuilt.lines = received.lines;
        Ok(rebuilt)
    }

    /// Replaces a line of the journal that says something else than it should; tells whether there was one.
    fn repair(&self, line: &JournalLine) -> Result<bool> {
        let known = self.view().journal_where(
            "device = ?1 AND hlc = ?2",
            [line.device.as_str(), line.hlc.as_str()],
        );
        let is_other = match known {
            Ok(known) => known.into_iter().any(|known| {
                let (seq, local_id) = (line.seq, line.local_id);
                let known = JournalLine {
                    seq,
                    local_id,
                    ..known
                };
                known.cleaned() != *line
            }),
            Err(StorageError::Journal { .. }) => true,
            Err(error) => return Err(error),
        };
        if is_other {
            self.connection()
                .execute(
                    "DELETE FROM journal WHERE device = ?1 AND hlc = ?2",
                    [&line.device, &line.hlc],
                )
                .map_err(|error| self.sqlite(error))?;
            self.insert_line(line)?;
        }
        Ok(is_other)
    }

    /// Makes the tables what the whole journal makes of the profile.
    pub(super) fn refold(&mut self) -> Result<(Difference, Vec<Held>)> {
        let state = self.view().folded()?;
        let difference = self.become_equal(&state)?;
        self.connection()
            .execute("DELETE FROM entry_aliases", [])
            .map_err(|error| self.sqlite(error))?;
        for uid in state.aliases.keys() {
            self.connection()
                .prepare_cached("INSERT INTO entry_aliases VALUES (?1, ?2)")
                .and_then(|mut statement| statement.execute([uid, state.resolve(uid)]))
                .map_err(|error| self.sqlite(error))?;
        }
        Ok((difference, state.held))
    }

    /// Up to which time the lines of each other device are here. Nobody else's are in a store that never received any.
    pub(super) fn seen(&mut self) -> Result<&BTreeMap<String, String>> {
        if self.seen.is_none() {
            let read = || -> rusqlite::Result<BTreeMap<String, String>> {
                self.connection()
                    .prepare(
                        "SELECT device, max(hlc) FROM journal WHERE device != ?1 GROUP BY device",
                    )?
                    .query_map([&self.device], |row| Ok((row.get(0)?, row.get(1)?)))?
                    .collect()
            };
            let seen = if self.view().is_synced()? {
                read().map_err(|error| self.sqlite(error))?
            } else {
                BTreeMap::new()
            };
            self.seen = Some(seen);
        }
        Ok(self.seen.get_or_insert_default())
    }

    /// Remembers what a sync wants to know of the files the next time.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn set_sync_note(&mut self, note: &str) -> Result<()> {
        self.set_meta("sync_note", note)
    }

    pub(super) fn set_meta(&self, key: &str, value: &str) -> Result<()> {
        self.connection()
            .prepare_cached("INSERT OR REPLACE INTO schema_meta VALUES (?1, ?2)")
            .and_then(|mut statement| statement.execute([key, value]))
            .map(drop)
            .map_err(|error| self.sqlite(error))
    }

    /// Goes on under another name where somebody has written lines under this one that are not here: a copy of this store,
    /// or this store before an older copy of it was put back. Lines of ours that nobody else has go along.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn leave_name(&mut self, lines: &[JournalLine], more: More) -> Result<Option<String>> {
        let published: HashSet<(&str, &str, &str)> = lines
            .iter()
            .filter(|line| line.device == self.device)
            .map(name_of)
            .collect();
        if published.is_empty() && more == More::Nothing {
            return Ok(None);
        }
        let own = self
            .view()
            .journal_where("device = ?1", [self.device.as_str()])?;
        let known: HashSet<(&str, &str, &str)> = own.iter().map(name_of).collect();
        if published.is_subset(&known) && more == More::Nothing {
            return Ok(None);
        }
        let name = new_uid();
        let (common, going): (Vec<_>, Vec<_>) = own
            .iter()
            .partition(|line| published.contains(&name_of(line)));
        for line in going {
            // What stays under the old name was known all the same.
            let mut seen = line.seen.clone();
            let known = common.iter().map(|line| &line.hlc);
            if let Some(last) = known.filter(|hlc| **hlc < line.hlc).max() {
                seen.insert(self.device.clone(), last.clone());
            }
            self.connection()
                .prepare_cached("UPDATE journal SET device = ?2, values_before = ?3 WHERE seq = ?1")
                .and_then(|mut statement| {
                    let before = before_column(line.before.as_ref(), &seen);
                    statement.execute(params![line.seq, name, before])
                })
                .map_err(|error| self.sqlite(error))?;
        }
        self.set_meta("device", &name)?;
        self.device.clone_from(&name);
        // What stays under the old name is another device's from now on.
        self.connection()
            .execute_batch(TABLES)
            .map_err(|error| self.sqlite(error))?;
        self.seen = None;
        self.set_meta("hlc_seen", &self.hlc.to_string())?;
        self.refold()?;
        Ok(Some(name))
    }

    /// Writes a line as it is; tells whether it is new.
    pub(super) fn insert_line(&self, line: &JournalLine) -> Result<bool> {
        let after = line
            .after
            .as_ref()
            .map(|values| Value::Object(values.clone()).to_string());
        let list = |evidence: &[Evidence]| {
            serde_json::to_string(evidence).expect("evidence is texts and finite numbers")
        };
        self.connection()
            .prepare_cached(
                "INSERT INTO journal (version, batch, at, hlc, device, op, kind, uid, origin, values_before,
                     values_after, evidence_added, evidence_removed, undoes, local_id)
                 SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15
                 WHERE NOT EXISTS (SELECT 1 FROM journal WHERE device = ?5 AND hlc = ?4)",
            )
            .and_then(|mut statement| {
                statement.execute(params![
                    LINE_VERSION,
                    line.batch,
                    line.at.0,
                    line.hlc,
                    line.device,
                    line.op.name(),
                    line.subject.kind(),
                    line.subject.uid(),
                    line.origin.name(),
                    before_column(line.before.as_ref(), &line.seen),
                    after,
                    list(&line.added),
                    list(&line.removed),
                    line.undoes,
                    line.local_id,
                ])
            })
            .map(|rows| rows > 0)
            .map_err(|error| self.sqlite(error))
    }

    /// Gives the lines after a number the numbers that their records have here.
    fn number_lines_after(&self, seq: i64) -> Result<()> {
        for (kind, table) in [("entry", "preferences"), ("proposal", "proposals")] {
            self.connection()
                .execute(
                    &format!(
                        "UPDATE journal SET local_id = (SELECT id FROM {table} t WHERE t.uid = journal.uid)
                         WHERE seq > ?1 AND kind = ?2"
                    ),
                    params![seq, kind],
                )
                .map_err(|error| self.sqlite(error))?;
        }
        Ok(())
    }
}

/// What a line is known by among those of its device.
fn name_of(line: &JournalLine) -> (&str, &str, &str) {
    (&line.hlc, &line.batch, line.subject.uid())
}
