//! Makes the tables from the journal alone, and writes tables down in a form that can be compared.

use chrono::{DateTime, Utc};

use super::{Result, Store, View};
use crate::merge::fold::{Fold, State};
use crate::merge::forgotten::Forgotten;
use crate::model::Op;

impl Store {
    /// Replays the journal into a new store in memory. Which conversations were analysed belongs to this device and is
    /// left out: the journal holds it only where it was cleared.
    ///
    /// # Errors
    /// A line that this version cannot read.
    pub fn replayed(&self, now: DateTime<Utc>) -> Result<Store> {
        let state = self.view().folded()?;
        let mut replica = Store::in_memory(now)?;
        replica.write(now, |transaction| {
            transaction.become_equal(&state).map(drop)
        })?;
        Ok(replica)
    }
}

impl View<'_> {
    /// What the journal makes of the profile.
    ///
    /// # Errors
    /// A line that this version cannot read, and what SQLite reports.
    pub fn folded(&self) -> Result<State> {
        let mut fold = Fold::without(self.forgotten()?);
        let clean = self.is_synced()?;
        let mut batch: Option<(String, String)> = None;
        for seq in self.total_order()? {
            self.each_line("seq = ?1", [seq], |line| {
                let own = (line.device.clone(), line.batch.clone());
                if batch.as_ref().is_some_and(|last| *last != own) {
                    fold.settle();
                }
                batch = Some(own);
                fold.line(if clean { line.cleaned() } else { line });
            })?;
        }
        fold.settle();
        Ok(fold.end())
    }

    /// What the journal says was forgotten.
    ///
    /// # Errors
    /// A line that this version cannot read, and what SQLite reports.
    pub fn forgotten(&self) -> Result<Forgotten> {
        let lines = self.journal_where("op = ?1", [Op::Forget.name()])?;
        Ok(Forgotten::of(&lines))
    }

    /// The numbers of the lines in the order in which they are folded: batches by their first line, whole.
    fn total_order(&self) -> Result<Vec<i64>> {
        let read = || -> rusqlite::Result<Vec<i64>> {
            self.connection()
                .prepare(
                    "SELECT seq FROM (
                         SELECT seq, device, hlc, min(hlc) OVER (PARTITION BY device, batch) AS first
                         FROM journal WHERE kind != 'session')
                     ORDER BY first, device, hlc",
                )?
                .query_map([], |row| row.get(0))?
                .collect()
        };
        self.sqlite_result(read())
    }

    /// Every row that the journal accounts for, as sorted lines of JSON, with names in place of the numbers
    /// that mean nothing outside this file.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn tables(&self) -> Result<Vec<String>> {
        let json = serde_json::Value::Object;
        let mut lines = Vec::new();
        for entry in self.preferences()? {
            lines.push(format!(
                "entry {} {}",
                entry.uid,
                json(self.entry_values(entry.id)?)
            ));
            for evidence in self.evidence(entry.id)? {
                let evidence =
                    serde_json::to_string(&evidence).expect("evidence is texts and finite numbers");
                lines.push(format!("evidence {} {evidence}", entry.uid));
            }
        }
        for proposal in self.proposals()? {
            let values = self.proposal_values(proposal.id)?;
            lines.push(format!("proposal {} {}", proposal.uid, json(values)));
        }
        lines.push(format!("decay {}", json(self.decay_values()?)));
        lines.sort();
        Ok(lines)
    }
}
