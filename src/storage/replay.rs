//! Makes the tables from the journal alone, and writes tables down in a form that can be compared.

use chrono::{DateTime, Utc};

use super::journal::Draft;
use super::{Result, Store, View};

impl Store {
    /// Replays the journal into a new store in memory.
    ///
    /// # Errors
    /// A line that this version cannot read, or that does not fit the ones before it.
    pub fn replayed(&self, now: DateTime<Utc>) -> Result<Store> {
        let mut replica = Store::in_memory(now)?;
        let lines = self.view().journal_where("1", [])?;
        replica.write(now, |transaction| -> Result<()> {
            for line in lines {
                transaction.write_rows(&Draft::again(line))?;
            }
            Ok(())
        })?;
        Ok(replica)
    }
}

impl View<'_> {
    /// Every row that the journal accounts for, as sorted lines of JSON, with names in place of the numbers
    /// that mean nothing outside this file.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn tables(&self) -> Result<Vec<String>> {
        let mut lines = Vec::new();
        for entry in self.preferences()? {
            let values = self.entry_values(entry.id)?;
            lines.push(format!(
                "entry {} {}",
                entry.uid,
                serde_json::Value::Object(values)
            ));
            for evidence in self.evidence(entry.id)? {
                lines.push(format!(
                    "evidence {} {}",
                    entry.uid,
                    serde_json::to_string(&evidence).expect("evidence is texts and finite numbers")
                ));
            }
        }
        for proposal in self.proposals()? {
            lines.push(
                format!("proposal {} {proposal:?}", proposal.uid)
                    .replace(&format!("id: {}, ", proposal.id), ""),
            );
        }
        for id in self.session_ids()? {
            lines.push(format!("session {:?}", self.session_values(id)?));
        }
        lines.push(format!("decay {:?}", self.decay_values()?));
        lines.sort();
        Ok(lines)
    }
}
