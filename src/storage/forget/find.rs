//! What can be forgotten: the records that the journal knows, those that are gone among them, and what else speaks of one.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use super::names::Names;
use crate::merge::Thing;
use crate::merge::forgotten::{Erasure, texts_of};
use crate::model::{Evidence, JournalLine, Score, Subject, Values, item_key, split_keywords};
use crate::storage::{Result, View};

/// What stands in place of a reason that named something forgotten.
const NO_LONGER_NAMED: &str = "speaks against something that was forgotten";

/// The condition that picks all lines of the journal, oldest first.
pub(super) const ALL: &str = "1 ORDER BY seq";

/// An entry or a proposal, and what the journal has of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Its name on every device.
    pub subject: Subject,
    /// Its number in this file; none where it is gone.
    pub id: Option<i64>,
    /// The item that it has or last had.
    pub item: String,
    /// The score that it has or last had.
    pub score: Option<f64>,
    /// How many lines of the journal are about it.
    pub lines: usize,
    /// The observations in them.
    pub observations: BTreeSet<String>,
    /// Where these were said.
    pub places: BTreeSet<String>,
    /// Every item that it ever had.
    pub(super) items: BTreeSet<String>,
    keywords: BTreeSet<String>,
    /// It, and the entries that are one with it.
    pub(super) names: BTreeSet<Subject>,
    last: String,
}

impl Record {
    /// Whether it is a hard limit that is in force.
    pub fn is_hard_limit(&self) -> bool {
        let score = self.score.map(Score::clamped);
        let is_entry = matches!(self.subject, Subject::Entry(_));
        is_entry && self.id.is_some() && score.is_some_and(Score::is_hard_limit)
    }
}

/// A record that stays and speaks of what is to be forgotten.
#[derive(Debug, Clone, PartialEq)]
pub struct Mention {
    /// The record.
    pub subject: Subject,
    /// Its number in this file; none where it is gone.
    pub id: Option<i64>,
    /// The item that it has or last had.
    pub item: String,
    /// The texts of it that are taken out.
    pub erased: BTreeSet<&'static str>,
    /// The observations that lose their words.
    pub observations: BTreeSet<String>,
    /// What still speaks of it then.
    pub left: BTreeSet<&'static str>,
    names: BTreeSet<Subject>,
    /// What its texts are then.
    texts: Values,
}

impl Mention {
    /// Whether something is taken out of it.
    pub fn loses_words(&self) -> bool {
        !self.erased.is_empty() || !self.observations.is_empty()
    }

    /// What is to be taken out of it.
    pub fn erasures(&self) -> impl Iterator<Item = Erasure> {
        let is_any = self.loses_words();
        self.names
            .iter()
            .filter(move |_| is_any)
            .map(|subject| Erasure {
                subject: subject.clone(),
                texts: self.texts.clone(),
                observations: self.observations.iter().cloned().collect(),
            })
    }
}

/// The values of a line, and its observations.
fn values(line: &JournalLine) -> impl Iterator<Item = &Values> {
    line.before.iter().chain(&line.after)
}

fn observations(line: &JournalLine) -> impl Iterator<Item = &Evidence> {
    line.added.iter().chain(&line.removed)
}

fn text<'v>(values: &'v Values, field: &str) -> &'v str {
    let text = values.get(field).and_then(Value::as_str);
    text.unwrap_or_default()
}

impl View<'_> {
    /// The records that the journal has something of: those that are there, and those that are gone.
    ///
    /// # Errors
    /// A line that this version cannot read, and what SQLite reports.
    pub fn records(&self) -> Result<Vec<Record>> {
        let aliases = self.aliases()?;
        let mut records: BTreeMap<(&str, String), Record> = BTreeMap::new();
        self.each_line(ALL, [], |line| {
            if !matches!(line.subject, Subject::Entry(_) | Subject::Proposal(_)) {
                return;
            }
            let own = line.subject.uid();
            let uid = aliases.get(own).map_or(own, String::as_str).to_owned();
            let kind = line.subject.kind();
            let record = records
                .entry((kind, uid.clone()))
                .or_insert_with(|| Record {
                    subject: match &line.subject {
                        Subject::Entry(_) => Subject::Entry(uid),
                        _ => Subject::Proposal(uid),
                    },
                    id: None,
                    item: String::new(),
                    score: None,
                    lines: 0,
                    observations: BTreeSet::new(),
                    places: BTreeSet::new(),
                    items: BTreeSet::new(),
                    keywords: BTreeSet::new(),
                    names: BTreeSet::new(),
                    last: String::new(),
                });
            record.add(&line);
        })?;
        for kind in [
            Subject::Entry(String::new()),
            Subject::Proposal(String::new()),
        ] {
            self.each_values(&kind, |uid, id, values| {
                if let Some(record) = records.get_mut(&(kind.kind(), uid)) {
                    record.id = Some(id);
                    record.take(&values);
                }
                Ok(())
            })?;
        }
        let mut records: Vec<Record> = records.into_values().collect();
        // Of what was forgotten before, only that is left that it was.
        records.retain(|record| !record.items.is_empty());
        Ok(records)
    }

    /// Names of entries that are one with another, and the name under which both stand.
    fn aliases(&self) -> Result<HashMap<String, String>> {
        if !self.is_synced()? {
            return Ok(HashMap::new());
        }
        self.sqlite_result(
            self.connection()
                .prepare("SELECT uid, survivor FROM entry_aliases")
                .and_then(|mut statement| {
                    statement
                        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                        .collect()
                }),
        )
    }

    /// The other records that speak of one of these: what is to be taken out of them, all their quotes with `all_evidence`,
    /// and what is left.
    ///
    /// # Errors
    /// A line that this version cannot read, and what SQLite reports.
    pub fn mentions(&self, records: &[Record], all_evidence: bool) -> Result<Vec<Mention>> {
        let items: Vec<&str> = records.iter().map(|record| record.item.as_str()).collect();
        let all_items = records.iter().flat_map(|record| &record.items);
        let chosen = records.iter().flat_map(|record| &record.names).collect();
        self.speaking(&items, all_items.map(String::as_str), &chosen, all_evidence)
    }

    /// The records that speak of items that no record has.
    ///
    /// # Errors
    /// As [`View::mentions`].
    pub fn mentions_of(&self, items: &[&str], all_evidence: bool) -> Result<Vec<Mention>> {
        self.speaking(items, items.iter().copied(), &BTreeSet::new(), all_evidence)
    }

    fn speaking<'i>(
        &self,
        items: &[&str],
        all_items: impl Iterator<Item = &'i str>,
        chosen: &BTreeSet<&Subject>,
        all_evidence: bool,
    ) -> Result<Vec<Mention>> {
        let things: Vec<Thing> = items.iter().map(|item| Thing::of(item)).collect();
        let speaks =
            |text: &str| !text.is_empty() && things.iter().any(|thing| thing.is_spoken_of_in(text));
        let quoted: Vec<String> = all_items.map(|item| format!("“{item}”")).collect();
        let names = |text: &str| quoted.iter().any(|item| text.contains(item.as_str()));
        let mut found: BTreeMap<Subject, Mention> = BTreeMap::new();
        let aliases = self.aliases()?;
        self.each_line(ALL, [], |line| {
            if chosen.contains(&line.subject) {
                return;
            }
            let mut mention = Mention::of(&line, &aliases);
            for values in values(&line) {
                mention.look(values, all_evidence, &speaks, &names);
            }
            for observed in observations(&line).filter(|observed| speaks(&observed.quote)) {
                match all_evidence {
                    true => drop(mention.observations.insert(observed.uid.clone())),
                    false => drop(mention.left.insert("evidence")),
                }
            }
            if mention.is_any() {
                match found.get_mut(&mention.subject) {
                    Some(known) => known.unite(mention),
                    None => drop(found.insert(mention.subject.clone(), mention)),
                }
            }
        })?;
        let mut found: Vec<Mention> = found.into_values().collect();
        for mention in &mut found {
            mention.id = self.local_id(&mention.subject)?;
            mention.item = self.item_of(&mention.subject)?.unwrap_or_default();
            let now = match (mention.id, &mention.subject) {
                (Some(id), Subject::Entry(_)) => self.entry_values(id)?,
                (Some(id), _) => self.proposal_values(id)?,
                (None, _) => Values::new(),
            };
            mention.settle(&now, |field, value| {
                field == "why" && names(value) || field != "why" && speaks(value)
            });
        }
        found.sort_by_key(|mention| (mention.id.is_none(), mention.id, mention.item.clone()));
        Ok(found)
    }
}

impl Record {
    fn add(&mut self, line: &JournalLine) {
        self.names.insert(line.subject.clone());
        let is_blank = values(line).next().is_none() && observations(line).next().is_none();
        self.lines += usize::from(!is_blank);
        for observed in observations(line) {
            self.observations.insert(observed.uid.clone());
            let places = [&observed.agent, &observed.session, &observed.place];
            let place: Vec<&str> = places.into_iter().flatten().map(String::as_str).collect();
            if !place.is_empty() {
                self.places.insert(place.join(", "));
            }
        }
        let items = values(line).map(|values| text(values, "item"));
        self.items
            .extend(items.filter(|item| !item.is_empty()).map(str::to_owned));
        let keywords = values(line).flat_map(|values| split_keywords(text(values, "keywords")));
        self.keywords.extend(keywords);
        if line.hlc >= self.last
            && let Some(values) = values(line).last()
        {
            self.last.clone_from(&line.hlc);
            self.take(values);
        }
    }

    /// Takes over what it is called and how it is scored, where values say so.
    fn take(&mut self, values: &Values) {
        let item = text(values, "item");
        if !item.is_empty() {
            item.clone_into(&mut self.item);
            self.items.insert(item.to_owned());
        }
        let score = values.get("base_score").or_else(|| values.get("score"));
        self.score = score.and_then(Value::as_f64).or(self.score);
    }

    /// Whether an item of this name was forgotten after all that was said of it.
    pub(super) fn was_forgotten(&self, names: &Names) -> bool {
        let forgotten = names.forgotten_at(&self.item);
        forgotten.is_some_and(|at| self.last.as_str() < at)
    }

    /// Every item and keyword that it ever had.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let words = self.items.iter().chain(&self.keywords);
        words.map(String::as_str)
    }

    /// Whether it has, or last had, this item.
    pub fn is_called(&self, item: &str) -> bool {
        item_key(&self.item) == item_key(item)
    }
}

impl Mention {
    fn of(line: &JournalLine, aliases: &HashMap<String, String>) -> Self {
        let subject = match &line.subject {
            Subject::Entry(uid) => Subject::Entry(aliases.get(uid).unwrap_or(uid).clone()),
            other => other.clone(),
        };
        Mention {
            subject,
            id: None,
            item: String::new(),
            erased: BTreeSet::new(),
            observations: BTreeSet::new(),
            left: BTreeSet::new(),
            names: BTreeSet::from([line.subject.clone()]),
            texts: Values::new(),
        }
    }

    fn look(
        &mut self,
        values: &Values,
        all_evidence: bool,
        speaks: &impl Fn(&str) -> bool,
        names: &impl Fn(&str) -> bool,
    ) {
        for &field in texts_of(&self.subject) {
            let value = text(values, field);
            match field {
                // What aizo itself has written of it.
                "why" if names(value) => drop(self.erased.insert(field)),
                "why" => {}
                _ if !speaks(value) => {}
                _ if all_evidence => drop(self.erased.insert(field)),
                _ => drop(self.left.insert(field)),
            }
        }
        for field in ["item", "keywords", "pattern"] {
            if speaks(text(values, field)) {
                self.left.insert(field);
            }
        }
    }

    fn is_any(&self) -> bool {
        self.loses_words() || !self.left.is_empty()
    }

    fn unite(&mut self, other: Mention) {
        self.erased.extend(other.erased);
        self.observations.extend(other.observations);
        self.left.extend(other.left);
        self.names.extend(other.names);
    }

    /// Finds out what stands in place of what is taken out: what stands there now, where that tells nothing.
    fn settle(&mut self, now: &Values, tells: impl Fn(&str, &str) -> bool) {
        for &field in &self.erased {
            let value = text(now, field);
            let value = match field {
                "why" if tells(field, value) => NO_LONGER_NAMED,
                _ if tells(field, value) => "",
                _ => value,
            };
            self.texts.insert(field.to_owned(), Value::from(value));
        }
    }
}
