//! Makes the tables from the journal alone, and writes tables down in a form that can be compared.

use chrono::{DateTime, Utc};

use super::journal::Draft;
use super::{Result, Store, View};
use crate::model::Subject;

impl Store {
    /// Replays the journal into a new store in memory. Which conversations were analysed belongs to this device and is
    /// left out: the journal holds it only where it was cleared.
    ///
    /// # Errors
    /// A line that this version cannot read, or that does not fit the ones before it.
    pub fn replayed(&self, now: DateTime<Utc>) -> Result<Store> {
        let mut replica = Store::in_memory(now)?;
        let lines = self.view().journal_where("1", [])?;
        replica.write(now, |transaction| -> Result<()> {
            // Lines of another program's changes stand in an order in which two items may be the same for a
            // moment.
            transaction.suspend_uniqueness()?;
            for line in lines {
                if matches!(line.subject, Subject::Session(_)) {
                    continue;
                }
                transaction.replay(Draft::again(line))?;
            }
            transaction.restore_uniqueness()
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
