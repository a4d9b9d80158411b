//! What can be read from a store, as model types.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::Value;

use super::journal::{COLUMNS, read_line};
use super::{Result, StorageError};
use crate::model::{
    Evidence, JournalLine, Origin, Preference, Proposal, Score, Speaker, Stamp, Subject, Values,
    item_key, split_keywords, split_patterns,
};
use crate::scoring::Decay;

/// A reading view of a store, or of a transaction on it.
pub struct View<'c> {
    connection: &'c Connection,
    path: &'c Path,
    /// Whether every row has its key: in a write transaction, after adoption.
    keys_are_right: bool,
}

/// How often a keyword or scenario is used.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct KeywordCount {
    /// The keyword.
    pub keyword: String,
    /// How many entries have it.
    pub entries: usize,
}

/// The condition that a line came of the conversation `?4`: an observation of it came with the line, or waits in it.
const OF_SESSION: &str = "op != 'undo' AND (
     evidence_added != '[]' AND EXISTS (
         SELECT 1 FROM json_each(evidence_added) e
         WHERE ?4 IN (e.value ->> 'session', (e.value ->> 'agent') || '/' || (e.value ->> 'session')))
     OR kind = 'proposal' AND (values_after ->> 'evidence') LIKE '{%' AND ?4 IN (
         (values_after ->> 'evidence') ->> 'session',
         ((values_after ->> 'evidence') ->> 'agent') || '/' || ((values_after ->> 'evidence') ->> 'session')))";

/// Which lines of the journal are wanted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Source<'s> {
    /// Those about this record.
    pub subject: Option<&'s Subject>,
    /// Those that this one is behind.
    pub origin: Option<Origin>,
    /// Those that came of this conversation: its name, with or without that of its agent.
    pub session: Option<&'s str>,
    /// At most so many.
    pub most: Option<usize>,
}

/// Numbers about a store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Stored preferences.
    pub entries: i64,
    /// Journal lines.
    pub changes: i64,
    /// Recorded observations.
    pub evidence: i64,
    /// What waits in review.
    pub proposals: i64,
    /// Analysed sessions.
    pub sessions: i64,
    /// Rows of another program that the next write adopts.
    pub outside: i64,
}

/// Separates scenario names in one column of a result; no name holds it.
const UNIT_SEPARATOR: char = '\u{1f}';

/// The columns of a preference, in the order in which [`preference`] expects them.
/// A score that is no number is the last one that the journal knows: a hard limit stays one, whatever another program
/// writes over it.
const PREFERENCE: &str = "p.id, p.uid, p.item, p.reason, p.keywords,
     CASE WHEN typeof(p.base_score) IN ('real', 'integer') THEN p.base_score
          ELSE coalesce((SELECT j.values_after ->> 'base_score' FROM journal j WHERE j.kind = 'entry'
                         AND j.uid = p.uid AND j.values_after ->> 'base_score' IS NOT NULL
                         ORDER BY j.hlc DESC LIMIT 1), p.base_score) END, p.source, p.origin, p.added_at, \
     p.last_seen, p.touch_count, (SELECT group_concat(scenario, char(31)) FROM preference_scenarios s \
     WHERE s.preference_id = p.id), p.pattern";

impl<'c> View<'c> {
    pub(super) fn new(connection: &'c Connection, path: &'c Path) -> Self {
        View {
            connection,
            path,
            keys_are_right: false,
        }
    }

    /// A view for a transaction that has adopted what others wrote.
    pub(super) fn of_writer(connection: &'c Connection, path: &'c Path) -> Self {
        View {
            keys_are_right: true,
            ..View::new(connection, path)
        }
    }

    fn sqlite(&self, error: rusqlite::Error) -> StorageError {
        StorageError::from_sqlite(self.path, error)
    }

    pub(super) fn sqlite_result<T>(&self, result: rusqlite::Result<T>) -> Result<T> {
        result.map_err(|error| self.sqlite(error))
    }

    pub(super) fn connection(&self) -> &Connection {
        self.connection
    }

    /// Hands every preference to `each`, in no particular order.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn each_preference(&self, mut each: impl FnMut(Preference)) -> Result<()> {
        let mut read = || -> rusqlite::Result<()> {
            let mut statement = self
                .connection
                .prepare_cached(&format!("SELECT {PREFERENCE} FROM preferences p"))?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                each(preference(row)?);
            }
            Ok(())
        };
        read().map_err(|error| self.sqlite(error))
    }

    /// Every preference, in no particular order.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn preferences(&self) -> Result<Vec<Preference>> {
        let mut all = Vec::new();
        self.each_preference(|preference| all.push(preference))?;
        Ok(all)
    }

    /// The preference with this number.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn entry(&self, id: i64) -> Result<Option<Preference>> {
        self.one("p.id = ?1", id)
    }

    /// Hands the preferences with these numbers to `each`, in the order of the numbers; those that are gone are passed over.
    pub(super) fn each_entry(
        &self,
        ids: impl IntoIterator<Item = i64>,
        mut each: impl FnMut(Preference),
    ) -> Result<()> {
        let read = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare_cached(&format!(
                "SELECT {PREFERENCE} FROM preferences p WHERE p.id = ?1"
            ))?;
            for id in ids {
                if let Some(entry) = statement.query_row([id], preference).optional()? {
                    each(entry);
                }
            }
            Ok(())
        };
        self.sqlite_result(read())
    }

    /// Every hard limit, in no particular order.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn hard_limits(&self) -> Result<Vec<Preference>> {
        let mut limits = Vec::new();
        let mut take = |entry: Preference| {
            if entry.is_hard_limit() {
                limits.push(entry);
            }
        };
        if self.sqlite_result(super::index::is_current(self.connection))? {
            // One after the other: for all at once SQLite walks through every row.
            let mut ids = self.limit_ids()?;
            ids.extend(self.outside_entries()?);
            ids.sort_unstable();
            ids.dedup();
            self.each_entry(ids, &mut take)?;
        } else {
            self.each_preference(&mut take)?;
        }
        limits.sort_by_key(|limit| limit.id);
        Ok(limits)
    }

    /// The preference whose item has this key, see [`item_key`].
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn entry_by_key(&self, key: &str) -> Result<Option<Preference>> {
        let by_key = self.one("p.item_key = ?1", key)?;
        if self.keys_are_right {
            return Ok(by_key);
        }
        // Rows that another program wrote have no key, or an old one, until the next write.
        let noted = self.many(
            "p.item_key IS NULL OR p.id IN (SELECT id FROM outside_changes WHERE kind = 'entry')",
            [],
        )?;
        Ok(by_key
            .into_iter()
            .chain(noted)
            .find(|row| item_key(&row.item) == key))
    }

    /// Rows that another program wrote and that have no name or key yet.
    pub(super) fn unnamed(&self) -> Result<Vec<Preference>> {
        self.many("p.uid IS NULL OR p.item_key IS NULL", [])
    }

    fn one(&self, condition: &str, parameter: impl rusqlite::ToSql) -> Result<Option<Preference>> {
        let mut found = self.many(condition, params![parameter])?;
        Ok(found.pop())
    }

    fn many(&self, condition: &str, parameters: impl rusqlite::Params) -> Result<Vec<Preference>> {
        self.connection
            .prepare_cached(&format!(
                "SELECT {PREFERENCE} FROM preferences p WHERE {condition} ORDER BY p.id"
            ))
            .and_then(|mut statement| statement.query_map(parameters, preference)?.collect())
            .map_err(|error| self.sqlite(error))
    }

    /// The decay settings; the defaults stand in for ones that are out of range.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn decay(&self) -> Result<Decay> {
        let values = self.decay_values()?;
        let number = |name: &str| values.get(name).and_then(Value::as_f64);
        Ok(number("half_life_days")
            .zip(number("floor"))
            .and_then(|(half_life, floor)| Decay::new(half_life, floor).ok())
            .unwrap_or_default())
    }

    /// The decay settings as they are stored.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn decay_values(&self) -> Result<Values> {
        let values = row_values(
            self.connection,
            Subject::Decay.table(),
            Subject::Decay.columns(),
            1,
        )
        .map_err(|error| self.sqlite(error))?;
        Ok(values.unwrap_or_else(|| Decay::default().values()))
    }

    /// The observations behind an entry, oldest first.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn evidence(&self, id: i64) -> Result<Vec<Evidence>> {
        self.connection
            .prepare_cached(&format!(
                "SELECT {EVIDENCE} FROM evidence WHERE preference_id = ?1 ORDER BY at, uid"
            ))
            .and_then(|mut statement| statement.query_map([id], observation)?.collect())
            .map_err(|error| self.sqlite(error))
    }

    /// The observations behind all entries, by the entries' numbers.
    pub(super) fn all_evidence(&self) -> Result<HashMap<i64, Vec<Evidence>>> {
        let mut all: HashMap<i64, Vec<Evidence>> = HashMap::new();
        let mut read = || -> rusqlite::Result<()> {
            let mut statement = self
                .connection
                .prepare(&format!("SELECT {EVIDENCE}, preference_id FROM evidence"))?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                all.entry(row.get(12)?).or_default().push(observation(row)?);
            }
            Ok(())
        };
        self.sqlite_result(read())?;
        Ok(all)
    }

    /// Hands the records of a kind that have a name to `each`: name, number, and values exactly as they are stored.
    pub(super) fn each_values(
        &self,
        kind: &Subject,
        mut each: impl FnMut(String, i64, Values) -> Result<()>,
    ) -> Result<()> {
        let columns = kind.columns();
        let mut statement = self.sqlite_result(self.connection.prepare(&format!(
            "SELECT {}, id, uid FROM {} WHERE uid IS NOT NULL",
            columns.join(", "),
            kind.table()
        )))?;
        let mut rows = self.sqlite_result(statement.query([]))?;
        let read = |row: &Row<'_>| -> rusqlite::Result<_> {
            let (id, uid) = (row.get(columns.len())?, text(row, columns.len() + 1)?);
            Ok((uid, id, named_columns(row, columns)?))
        };
        while let Some(row) = self.sqlite_result(rows.next())? {
            let (uid, id, values) = self.sqlite_result(read(row))?;
            each(uid, id, values)?;
        }
        Ok(())
    }

    /// The scenarios of all entries that have any, sorted.
    pub(super) fn all_scenarios(&self) -> Result<HashMap<i64, Vec<String>>> {
        let mut all: HashMap<i64, Vec<String>> = HashMap::new();
        let mut read = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare(
                "SELECT preference_id, scenario FROM preference_scenarios ORDER BY preference_id, scenario",
            )?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                all.entry(row.get(0)?).or_default().push(text(row, 1)?);
            }
            Ok(())
        };
        self.sqlite_result(read())?;
        Ok(all)
    }

    /// The number of a record in this file.
    pub(super) fn local_id(&self, subject: &Subject) -> Result<Option<i64>> {
        let sql = match subject {
            Subject::Entry(_) => "SELECT id FROM preferences WHERE uid = ?1",
            Subject::Proposal(_) => "SELECT id FROM proposals WHERE uid = ?1",
            Subject::Session(_) => "SELECT id FROM sessions WHERE id = ?1",
            Subject::Decay => "SELECT id FROM decay_config WHERE id = ?1",
        };
        self.sqlite_result(
            self.connection
                .prepare_cached(sql)
                .and_then(|mut statement| {
                    statement
                        .query_row([subject.uid()], |row| row.get(0))
                        .optional()
                }),
        )
    }

    /// Whether the journal knows a record, be it there or not.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn has_line(&self, subject: &Subject) -> Result<bool> {
        self.sqlite_result(
            self.connection
                .prepare_cached(
                    "SELECT EXISTS (SELECT 1 FROM journal WHERE kind = ?1 AND uid = ?2)",
                )
                .and_then(|mut statement| {
                    statement.query_row([subject.kind(), subject.uid()], |row| row.get(0))
                }),
        )
    }

    /// How much waits in review.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn count_proposals(&self) -> Result<usize> {
        let count = self
            .connection
            .prepare_cached("SELECT count(*) FROM proposals")
            .and_then(|mut statement| statement.query_row([], |row| row.get::<_, i64>(0)))
            .map_err(|error| self.sqlite(error))?;
        Ok(usize::try_from(count).unwrap_or_default())
    }

    /// What waits in review, oldest first.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn proposals(&self) -> Result<Vec<Proposal>> {
        self.connection
            .prepare_cached(
                "SELECT id, uid, item, reason, keywords, scenarios, score, source, origin, proposed_at, why, evidence,
                     pattern
                 FROM proposals ORDER BY id",
            )
            .and_then(|mut statement| {
                statement
                    .query_map([], |row| {
                        let (keywords, scenarios) = (text(row, 4)?, text(row, 5)?);
                        let (origin, evidence) = (text(row, 8)?, text(row, 11)?);
                        Ok(Proposal {
                            id: row.get(0)?,
                            uid: row.get(1)?,
                            item: text(row, 2)?,
                            reason: text(row, 3)?,
                            keywords: split_keywords(&keywords),
                            scenarios: split_keywords(&scenarios),
                            score: row.get(6)?,
                            source: text(row, 7)?,
                            origin: origin.parse().unwrap_or(Origin::Import),
                            proposed_at: Stamp(text(row, 9)?),
                            why: text(row, 10)?,
                            evidence: serde_json::from_str(&evidence).ok(),
                            patterns: split_patterns(&text(row, 12)?),
                        })
                    })?
                    .collect()
            })
            .map_err(|error| self.sqlite(error))
    }

    /// Numbers about the store.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn totals(&self) -> Result<Totals> {
        self.connection
            .query_row(
                "SELECT (SELECT count(*) FROM preferences), (SELECT count(*) FROM journal),
                        (SELECT count(*) FROM evidence), (SELECT count(*) FROM proposals),
                        (SELECT count(*) FROM sessions), (SELECT count(*) FROM outside_changes)",
                [],
                |row| {
                    Ok(Totals {
                        entries: row.get(0)?,
                        changes: row.get(1)?,
                        evidence: row.get(2)?,
                        proposals: row.get(3)?,
                        sessions: row.get(4)?,
                        outside: row.get(5)?,
                    })
                },
            )
            .map_err(|error| self.sqlite(error))
    }

    /// How many entries there are; nothing when there are more than `most`.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn count_up_to(&self, most: usize) -> Result<Option<usize>> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let count: i64 = self.sqlite_result(
            self.connection
                // Where the numbers tell that there are few, an index is counted as a whole, which is quicker by far.
                .prepare_cached(
                    "SELECT CASE WHEN (SELECT max(id) FROM preferences) < ?1
                         THEN (SELECT count(*) FROM preferences)
                         ELSE (SELECT count(*) FROM (SELECT 1 FROM preferences LIMIT ?1)) END",
                )
                .and_then(|mut statement| {
                    statement.query_row([most.saturating_add(1)], |row| row.get(0))
                }),
        )?;
        Ok((count <= most).then_some(usize::try_from(count).unwrap_or(usize::MAX)))
    }

    /// Every keyword with the number of entries that have it, in alphabetical order.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn keyword_counts(&self) -> Result<Vec<KeywordCount>> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let mut read = || -> rusqlite::Result<()> {
            let mut statement = self
                .connection
                .prepare_cached("SELECT keywords FROM preferences WHERE keywords != ''")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let mut keywords: Vec<String> = split_keywords(&text(row, 0)?)
                    .iter()
                    .map(|keyword| keyword.to_lowercase())
                    .collect();
                keywords.sort();
                keywords.dedup();
                for keyword in keywords {
                    *counts.entry(keyword).or_default() += 1;
                }
            }
            Ok(())
        };
        read().map_err(|error| self.sqlite(error))?;
        Ok(counts
            .into_iter()
            .map(|(keyword, entries)| KeywordCount { keyword, entries })
            .collect())
    }

    /// Every scenario that entries are tagged with, and the ids of those entries.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn scenario_tags(&self) -> Result<BTreeMap<String, Vec<i64>>> {
        let mut tags: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        let mut read = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare_cached(
                "SELECT s.scenario, s.preference_id FROM preference_scenarios s
                 JOIN preferences p ON p.id = s.preference_id ORDER BY 1, 2",
            )?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                tags.entry(text(row, 0)?).or_default().push(row.get(1)?);
            }
            Ok(())
        };
        read().map_err(|error| self.sqlite(error))?;
        Ok(tags)
    }

    /// Whether a row holds what the journal cannot; nothing when there is no such row.
    pub(super) fn holds_odd_values(&self, id: i64) -> Result<Option<bool>> {
        let entry = Subject::Entry(String::new());
        let columns = entry.columns();
        let odd = self
            .connection
            .prepare_cached(&format!(
                "SELECT {}, (SELECT count(*) FROM preference_scenarios
                             WHERE preference_id = ?1 AND typeof(scenario) != 'text')
                 FROM preferences WHERE id = ?1",
                columns.join(", ")
            ))
            .and_then(|mut statement| {
                statement
                    .query_row([id], |row| {
                        let mut odd = row.get::<_, i64>(columns.len())? > 0;
                        for (index, &column) in columns.iter().enumerate() {
                            odd |= match (column, row.get_ref(index)?) {
                                ("base_score", ValueRef::Real(number)) => !number.is_finite(),
                                ("touch_count", ValueRef::Integer(_)) => false,
                                ("pattern", ValueRef::Null) => false,
                                ("base_score" | "touch_count", _) => true,
                                (_, ValueRef::Text(bytes)) => std::str::from_utf8(bytes).is_err(),
                                _ => true,
                            };
                        }
                        Ok(odd)
                    })
                    .optional()
            });
        self.sqlite_result(odd)
    }

    /// The values of an entry exactly as they are stored, its scenarios among them.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn entry_values(&self, id: i64) -> Result<Values> {
        entry_values(self.connection, id)
            .map_err(|error| self.sqlite(error))
            .map(Option::unwrap_or_default)
    }

    pub(super) fn proposal_values(&self, id: i64) -> Result<Values> {
        let proposal = Subject::Proposal(String::new());
        row_values(self.connection, proposal.table(), proposal.columns(), id)
            .map_err(|error| self.sqlite(error))
            .map(Option::unwrap_or_default)
    }

    /// Every scenario that entries are tagged with, read by leaps along the index: tags are few, whatever the
    /// number of entries.
    pub(super) fn tags(&self) -> Result<Vec<String>> {
        self.sqlite_result(
            self.connection
                .prepare_cached(
                    "WITH RECURSIVE tag(name) AS (
                         SELECT min(scenario) FROM preference_scenarios
                         UNION ALL
                         SELECT (SELECT min(scenario) FROM preference_scenarios WHERE scenario > name)
                         FROM tag WHERE name IS NOT NULL)
                     SELECT name FROM tag WHERE name IS NOT NULL",
                )
                .and_then(|mut statement| statement.query_map([], |row| text(row, 0))?.collect()),
        )
    }

    /// At most `most` of the entries that are tagged with a scenario, as it is spelt there.
    pub(super) fn tagged(&self, tag: &str, most: usize) -> Result<Vec<i64>> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.sqlite_result(
            self.connection
                .prepare_cached(
                    "SELECT preference_id FROM preference_scenarios WHERE scenario = ?1 LIMIT ?2",
                )
                .and_then(|mut statement| {
                    statement
                        .query_map(params![tag, most], |row| row.get(0))?
                        .collect()
                }),
        )
    }

    /// The numbers of all analysed sessions.
    pub fn session_ids(&self) -> Result<Vec<i64>> {
        self.connection
            .prepare("SELECT id FROM sessions ORDER BY id")
            .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect())
            .map_err(|error| self.sqlite(error))
    }

    /// Journal lines, oldest first: all, or those that `condition` (SQL over the columns) picks.
    pub(super) fn journal_where(
        &self,
        condition: &str,
        parameters: impl rusqlite::Params,
    ) -> Result<Vec<JournalLine>> {
        let mut lines = Vec::new();
        self.each_line(&format!("{condition} ORDER BY seq"), parameters, |line| {
            lines.push(line);
        })?;
        Ok(lines)
    }

    /// Hands the journal lines that `condition` picks and orders to `each`.
    pub(super) fn each_line(
        &self,
        condition: &str,
        parameters: impl rusqlite::Params,
        mut each: impl FnMut(JournalLine),
    ) -> Result<()> {
        let sql = format!("SELECT {COLUMNS} FROM journal WHERE {condition}");
        let mut statement = self.sqlite_result(self.connection.prepare_cached(&sql))?;
        let mut rows = self.sqlite_result(statement.query(parameters))?;
        while let Some(row) = self.sqlite_result(rows.next())? {
            let line = self.sqlite_result(read_line(row))?;
            each(line.map_err(|(seq, detail)| StorageError::Journal {
                path: self.path.to_path_buf(),
                seq,
                detail,
            })?);
        }
        Ok(())
    }

    /// The newest journal lines, newest first: of one record, or of all.
    ///
    /// # Errors
    /// A line that this version cannot read, and what SQLite reports.
    pub fn journal(&self, subject: Option<&Subject>, most: usize) -> Result<Vec<JournalLine>> {
        self.journal_of(&Source {
            subject,
            most: Some(most),
            ..Source::default()
        })
    }

    /// The newest journal lines that come from somewhere, newest first.
    ///
    /// # Errors
    /// A line that this version cannot read, and what SQLite reports.
    pub fn journal_of(&self, source: &Source<'_>) -> Result<Vec<JournalLine>> {
        let record = match source.subject {
            Some(_) => &format!("kind = ?1 AND {}", self.names()?),
            None => "?1 IS NULL AND ?2 IS NULL",
        };
        let session = match source.session {
            Some(_) => OF_SESSION,
            None => "?4 IS NULL",
        };
        let most = source
            .most
            .map_or(i64::MAX, |most| i64::try_from(most).unwrap_or(i64::MAX));
        let mut lines = self.journal_where(
            &format!(
                "seq IN (SELECT seq FROM journal WHERE {record} AND (?3 IS NULL OR origin = ?3) AND {session}
                         ORDER BY seq DESC LIMIT ?5)"
            ),
            params![
                source.subject.map(Subject::kind),
                source.subject.map(Subject::uid),
                source.origin.map(Origin::name),
                source.session,
                most
            ],
        )?;
        lines.reverse();
        Ok(lines)
    }

    /// The number of the first line of a batch.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn first_of_batch(&self, batch: &str) -> Result<Option<i64>> {
        self.connection
            .prepare_cached("SELECT min(seq) FROM journal WHERE batch = ?1")
            .and_then(|mut statement| statement.query_row([batch], |row| row.get(0)))
            .map_err(|error| self.sqlite(error))
    }

    /// The item that an entry has or last had.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn item_of(&self, subject: &Subject) -> Result<Option<String>> {
        self.connection
            .prepare_cached(
                "SELECT coalesce(
                     (SELECT item FROM preferences WHERE uid = ?2),
                     (SELECT coalesce(values_after ->> 'item', values_before ->> 'item') FROM journal
                      WHERE kind = ?1 AND uid = ?2
                        AND coalesce(values_after ->> 'item', values_before ->> 'item') IS NOT NULL
                      ORDER BY seq DESC LIMIT 1))",
            )
            .and_then(|mut statement| {
                statement.query_row([subject.kind(), subject.uid()], |row| {
                    Ok(match row.get_ref(0)? {
                        ValueRef::Null => None,
                        _ => Some(text(row, 0)?),
                    })
                })
            })
            .map_err(|error| self.sqlite(error))
    }

    /// The name of the newest entry that exists no more and whose item had this key.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn removed_by_key(&self, key: &str) -> Result<Option<String>> {
        let find = || -> rusqlite::Result<Option<String>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT uid, values_before ->> 'item' FROM journal j
                 WHERE kind = 'entry' AND values_after IS NULL
                   AND NOT EXISTS (SELECT 1 FROM preferences p WHERE p.uid = j.uid)
                 ORDER BY seq DESC",
            )?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                if item_key(&text(row, 1)?) == key {
                    return row.get(0).map(Some);
                }
            }
            Ok(None)
        };
        self.sqlite_result(find())
    }

    /// Whether another program has changed what the journal does not know yet; the next write takes it in.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn has_outside_changes(&self) -> Result<bool> {
        self.sqlite_result(
            self.connection
                .prepare_cached("SELECT EXISTS (SELECT 1 FROM outside_changes)")
                .and_then(|mut statement| statement.query_row([], |row| row.get(0))),
        )
    }

    /// What another program changed and the journal does not know yet: kind, number, name.
    pub(super) fn outside_changes(&self) -> Result<Vec<(String, i64, Option<String>)>> {
        self.connection
            .prepare("SELECT kind, id, uid FROM outside_changes ORDER BY kind, id")
            .and_then(|mut statement| {
                statement
                    .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
                    .collect()
            })
            .map_err(|error| self.sqlite(error))
    }
}

/// Reads a row of [`PREFERENCE`]; whatever another program put there becomes something valid.
fn preference(row: &Row<'_>) -> rusqlite::Result<Preference> {
    let origin = text(row, 7)?;
    let mut scenarios: Vec<String> = text(row, 11)?
        .split(UNIT_SEPARATOR)
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    scenarios.sort();
    Ok(Preference {
        id: row.get(0)?,
        uid: text(row, 1)?,
        item: text(row, 2)?,
        reason: text(row, 3)?,
        keywords: split_keywords(&text(row, 4)?),
        scenarios,
        base_score: Score::clamped(number(row.get_ref(5)?)),
        source: text(row, 6)?,
        origin: origin.parse().unwrap_or(Origin::Import),
        added_at: Stamp(text(row, 8)?),
        last_seen: Stamp(text(row, 9)?),
        touch_count: match row.get_ref(10)? {
            ValueRef::Integer(count) => count,
            _ => 0,
        },
        patterns: split_patterns(&text(row, 12)?),
    })
}

/// The columns of an observation, in the order in which [`observation`] expects them.
const EVIDENCE: &str =
    "uid, at, quote, speaker, origin, source, score, agent, session, place, confidence, cues";

fn observation(row: &Row<'_>) -> rusqlite::Result<Evidence> {
    let speaker = text(row, 3)?;
    let origin = text(row, 4)?;
    Ok(Evidence {
        uid: row.get(0)?,
        at: Stamp(text(row, 1)?),
        quote: text(row, 2)?,
        speaker: if speaker == Speaker::User.name() {
            Speaker::User
        } else {
            Speaker::Agent
        },
        origin: origin.parse().unwrap_or(Origin::Import),
        source: text(row, 5)?,
        score: row.get(6)?,
        agent: row.get(7)?,
        session: row.get(8)?,
        place: row.get(9)?,
        confidence: row.get(10)?,
        cues: row.get(11)?,
    })
}

/// A column as text, whatever type it has.
pub(super) fn text(row: &Row<'_>, index: usize) -> rusqlite::Result<String> {
    Ok(match row.get_ref(index)? {
        ValueRef::Null => String::new(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            String::from_utf8_lossy(bytes).into_owned()
        }
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
    })
}

/// A column as a number; what is none becomes NaN.
pub(super) fn number(value: ValueRef<'_>) -> f64 {
    match value {
        ValueRef::Integer(number) => number as f64,
        ValueRef::Real(number) => number,
        ValueRef::Text(bytes) => std::str::from_utf8(bytes)
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or(f64::NAN),
        _ => f64::NAN,
    }
}

/// The named columns of a row as JSON values, exactly as they are stored.
pub(super) fn row_values(
    connection: &Connection,
    table: &str,
    columns: &[&str],
    id: i64,
) -> rusqlite::Result<Option<Values>> {
    connection
        .prepare_cached(&format!(
            "SELECT {} FROM {table} WHERE id = ?1",
            columns.join(", ")
        ))?
        .query_row([id], |row| named_columns(row, columns))
        .optional()
}

/// The first columns of a row as JSON values.
fn named_columns(row: &Row<'_>, columns: &[&str]) -> rusqlite::Result<Values> {
    let mut values = Values::new();
    for (index, &column) in columns.iter().enumerate() {
        let value = match row.get_ref(index)? {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => Value::from(number),
            // JSON has no number without end.
            ValueRef::Real(number) => Value::from(number.clamp(f64::MIN, f64::MAX)),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                Value::from(String::from_utf8_lossy(bytes).into_owned())
            }
        };
        values.insert(column.to_owned(), value);
    }
    Ok(values)
}

/// The values of an entry, its scenarios among them.
pub(super) fn entry_values(connection: &Connection, id: i64) -> rusqlite::Result<Option<Values>> {
    let entry = Subject::Entry(String::new());
    let Some(mut values) = row_values(connection, entry.table(), entry.columns(), id)? else {
        return Ok(None);
    };
    let scenarios: Vec<String> = connection
        .prepare_cached(
            "SELECT scenario FROM preference_scenarios WHERE preference_id = ?1 ORDER BY scenario",
        )?
        .query_map([id], |row| text(row, 0))?
        .collect::<rusqlite::Result<_>>()?;
    values.insert("scenarios".to_owned(), Value::from(scenarios));
    Ok(Some(values))
}
