//! Receives lines that other devices wrote: into the journal, and the tables follow; all in one transaction, or
//! nothing. A store that never received any has none of what is made here.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use rusqlite::{OptionalExtension, params};
use serde_json::Value;

use super::forget::Owed;
use super::journal::Draft;
use super::state::Difference;
use super::write::new_uid;
use super::{Result, StorageError, Transaction, View};
use crate::merge::fold::Held;
use crate::merge::forgotten::Forgotten;
use crate::model::{JournalLine, Op, Origin, Score, Subject, stable_name};

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
    /// What limits withstood, of the lines that are new and of the entries that are limits now and were none.
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
    /// What came of the lines.
    pub received: Received,
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

    /// All lines of a device, in the order of their times.
    ///
    /// # Errors
    /// As [`View::each_line_of`].
    pub fn lines_of(&self, device: &str) -> Result<Vec<JournalLine>> {
        let mut lines = Vec::new();
        self.each_line_of(device, |line| lines.push(line))?;
        Ok(lines)
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

    /// Whether the journal takes no more of a record under its name: it was forgotten, or it is one with another entry.
    pub(super) fn is_taken(&self, subject: &Subject) -> Result<bool> {
        let is_one = matches!(subject, Subject::Entry(uid) if self.survivor(uid)?.is_some());
        Ok(is_one || self.is_forgotten(subject)?)
    }

    /// The name under which something can be made that was to have this one: another, where the journal would take nothing of
    /// it. A proposal always gets the same, so that what became of it is known.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn free_name(&self, subject: Subject) -> Result<Subject> {
        let mut subject = subject;
        while self.is_taken(&subject)? {
            subject = match subject {
                Subject::Entry(_) => Subject::Entry(new_uid()),
                Subject::Proposal(uid) => Subject::Proposal(stable_name(&["again", &uid])),
                other => return Ok(other),
            };
        }
        Ok(subject)
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
        for line in lines.filter(|line| !line.stays_here()) {
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
            let was_here = self.blank_lines(&forgotten)? || !received.forgotten.is_empty();
            // Of what was never here nothing is in the log.
            let owed = Owed::ALL.into_iter();
            let owed = owed.filter(|one| was_here || *one != Owed::Log);
            self.owe(&owed.collect::<Vec<_>>())?;
        }
        let (mut difference, mut held) = self.refold()?;
        let late = self.forgotten_before(&difference, &received.forgotten)?;
        if !late.is_empty() {
            let items = late.iter().map(|record| record.item.clone());
            received.forgotten.extend(items);
            difference.leave_out(&late.iter().map(|record| record.subject.uid()).collect());
            self.forget_by(Origin::Analysis, &late, &[])?;
        }
        self.number_lines_after(last)?;
        let forbidden = difference.forbidden();
        held.retain(|held| {
            forbidden.contains(held.uid.as_str())
                || new.contains(&(held.device.clone(), held.hlc.clone()))
        });
        (received.held, received.difference) = (held, difference);
        Ok(received)
    }

    /// Makes the tables anew from lines, which count more than what the journal has of them, and from those of the journal
    /// that are not among them.
    ///
    /// # Errors
    /// As [`Transaction::receive`].
    pub fn rebuild(&mut self, mut lines: Vec<JournalLine>) -> Result<Rebuilt> {
        self.connection()
            .execute_batch(TABLES)
            .map_err(|error| self.sqlite(error))?;
        let mut rebuilt = Rebuilt::default();
        lines.retain(|line| !line.stays_here());
        // What another store has written under our name is not put in the place of what we have.
        let renamed = self.leave_name(&lines, More::Nothing)?;
        let mut forgotten = self.view().forgotten()?;
        lines.iter().for_each(|line| forgotten.add(line));
        for line in &lines {
            rebuilt.repaired += usize::from(self.repair(line, &forgotten)?);
        }
        if rebuilt.repaired > 0 && self.blank_lines(&forgotten)? {
            self.owe(&Owed::ALL)?;
        }
        let many = lines.len();
        let mut received = self.receive(lines)?;
        rebuilt.missing = received.lines.values().sum();
        if rebuilt.missing == 0 {
            // It has not looked at the tables.
            let (difference, mut held) = self.refold()?;
            let forbidden = difference.forbidden();
            held.retain(|held| forbidden.contains(held.uid.as_str()));
            (received.held, received.difference) = (held, difference);
        }
        let here: usize = self.view().lines_by_device()?.values().sum();
        rebuilt.unpushed = here.saturating_sub(many);
        received.renamed = renamed;
        rebuilt.received = received;
        Ok(rebuilt)
    }

    /// Replaces a line of the journal that says something else than it should; tells whether there was one. It keeps its
    /// number, and that of its record.
    fn repair(&self, line: &JournalLine, forgotten: &Forgotten) -> Result<bool> {
        let place: Option<(i64, Option<i64>)> = self
            .connection()
            .prepare_cached("SELECT seq, local_id FROM journal WHERE device = ?1 AND hlc = ?2")
            .and_then(|mut statement| {
                statement
                    .query_row([&line.device, &line.hlc], |row| {
                        Ok((row.get(0)?, row.get(1)?))
                    })
                    .optional()
            })
            .map_err(|error| self.sqlite(error))?;
        let Some((seq, local_id)) = place else {
            return Ok(false);
        };
        let line = forgotten.blank(JournalLine {
            seq,
            local_id,
            ..line.clone()
        });
        let is_right = match self.view().journal_where("seq = ?1", [seq]) {
            Ok(known) => known
                .into_iter()
                .any(|known| forgotten.blank(known.cleaned()) == line),
            Err(StorageError::Journal { .. }) => false,
            Err(error) => return Err(error),
        };
        if !is_right {
            self.write_line(&line)?;
        }
        Ok(!is_right)
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

    /// Whether the line of a draft says what of other devices was known: a limit comes by it, goes, or forbids something else,
    /// or it tells what a text was before of a record that has lost some.
    pub(super) fn says_what_was_known(&self, draft: &Draft) -> Result<bool> {
        Ok(self.view().is_synced()?
            && (draft.makes_or_lifts_a_limit()
                || draft.says_what_is_forbidden() && self.is_limit(draft)?
                || draft.tells_what_was() && self.view().is_shortened(&draft.subject)?))
    }

    /// Whether the entry of a draft is a hard limit, whose rows are in place.
    fn is_limit(&self, draft: &Draft) -> Result<bool> {
        let stored = self.entry_values(draft.local_id.unwrap_or_default())?;
        let score = stored.get("base_score").and_then(Value::as_f64);
        Ok(score.is_some_and(|score| Score::clamped(score).is_hard_limit()))
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
        let published = lines.iter().filter(|line| line.device == self.device);
        let published: HashSet<[&str; 3]> = published
            .map(|line| [line.hlc.as_str(), &line.batch, line.subject.uid()])
            .collect();
        if published.is_empty() && more == More::Nothing {
            return Ok(None);
        }
        let (common, going): (Vec<_>, Vec<_>) = self
            .names_of_own()?
            .into_iter()
            .partition(|(_, name)| published.contains(&name.each_ref().map(String::as_str)));
        if common.len() == published.len() && more == More::Nothing {
            return Ok(None);
        }
        let name = new_uid();
        let common: BTreeSet<String> = common.into_iter().map(|(_, [hlc, ..])| hlc).collect();
        for (number, [hlc, ..]) in going {
            for mut line in self.view().journal_where("seq = ?1", [number])? {
                // What stays under the old name was known all the same.
                if let Some(last) = common.range(..hlc.clone()).next_back() {
                    line.seen.insert(self.device.clone(), last.clone());
                }
                line.device.clone_from(&name);
                self.write_line(&line)?;
            }
        }
        self.set_meta("device", &name)?;
        self.device.clone_from(&name);
        // What stays under the old name is another device's from now on.
        self.connection()
            .execute_batch(TABLES)
            .map_err(|error| self.sqlite(error))?;
        self.seen = None;
        self.set_meta("hlc_seen", &self.hlc.to_string())?;
        let (difference, _) = self.refold()?;
        self.keep_beside(difference)?;
        Ok(Some(name))
    }

    /// The lines of this device: their numbers, and what they are known by, also where this version cannot read them.
    fn names_of_own(&self) -> Result<Vec<(i64, [String; 3])>> {
        self.connection()
            .prepare("SELECT seq, hlc, batch, uid FROM journal WHERE device = ?1")
            .and_then(|mut statement| {
                statement
                    .query_map([&self.device], |row| {
                        Ok((row.get(0)?, [row.get(1)?, row.get(2)?, row.get(3)?]))
                    })?
                    .collect()
            })
            .map_err(|error| self.sqlite(error))
    }

    /// Writes a line that came from elsewhere, unless it is here; tells whether it is new.
    pub(super) fn insert_line(&self, line: &JournalLine) -> Result<bool> {
        if self.view().knows_change(&line.device, &line.hlc)? {
            return Ok(false);
        }
        // Numbers mean nothing outside their file.
        self.write_line(&JournalLine {
            seq: 0,
            local_id: None,
            ..line.clone()
        })?;
        Ok(true)
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
