//! The last door before anything is written: no text of a change keeps a secret, whoever made the change. Since the
//! journal line is made from the same change as the rows, replay and undo meet marks as well and stay exact.

use std::borrow::Cow;

use rusqlite::params;
use serde_json::Value;

use super::{Result, Transaction};
use crate::model::{
    Change, Effect, Evidence, Origin, Values, join_keywords, join_patterns, split_patterns,
};
use crate::redact::{Scope, redact, redact_in};

/// The change with marks in place of secrets; borrowed when there is none in it.
pub(super) fn without_secrets(change: &Change) -> Cow<'_, Change> {
    let mut clean = Cow::Borrowed(change);
    if let Effect::Create(values) | Effect::Set(values) = &change.effect
        && let Some(values) = clean_values(values)
    {
        let effect = match &change.effect {
            Effect::Create(_) => Effect::Create(values),
            _ => Effect::Set(values),
        };
        clean.to_mut().effect = effect;
    }
    for (index, evidence) in change.evidence.iter().enumerate() {
        if let Some(evidence) = clean_evidence(evidence) {
            clean.to_mut().evidence[index] = evidence;
        }
    }
    clean
}

fn clean_values(values: &Values) -> Option<Values> {
    let mut clean = None;
    for (field, value) in values {
        let value = match (field.as_str(), value) {
            ("evidence", Value::String(text)) => clean_json(text).map(Value::String),
            ("pattern", Value::String(text)) => clean_patterns(text),
            _ => clean_value(value),
        };
        if let Some(value) = value {
            clean
                .get_or_insert_with(|| values.clone())
                .insert(field.clone(), value);
        }
    }
    clean
}

fn clean_value(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => clean_text(text).map(Value::String),
        Value::Array(list) => {
            let clean: Vec<Option<Value>> = list.iter().map(clean_value).collect();
            clean.iter().any(Option::is_some).then(|| {
                let pairs = clean.into_iter().zip(list);
                Value::Array(
                    pairs
                        .map(|(new, old)| new.unwrap_or_else(|| old.clone()))
                        .collect(),
                )
            })
        }
        _ => None,
    }
}

/// A mark within a pattern would make it match other things: a pattern that holds a secret goes.
fn clean_patterns(column: &str) -> Option<Value> {
    let all = split_patterns(column);
    let clean: Vec<String> = all
        .iter()
        .filter(|pattern| clean_text(pattern).is_none())
        .cloned()
        .collect();
    (clean.len() < all.len()).then(|| join_patterns(&clean).map_or(Value::Null, Value::from))
}

/// The observation of a proposal stands there as JSON, whose signs a mark must not take away.
fn clean_json(text: &str) -> Option<String> {
    match serde_json::from_str::<Evidence>(text) {
        Ok(evidence) => {
            let clean = clean_evidence(&evidence)?;
            Some(serde_json::to_string(&clean).expect("evidence is texts and finite numbers"))
        }
        Err(_) => clean_text(text),
    }
}

fn clean_evidence(evidence: &Evidence) -> Option<Evidence> {
    // Words out of a conversation name people more often than those that somebody typed here.
    let from_a_conversation =
        evidence.origin != Origin::User || evidence.session.is_some() || evidence.agent.is_some();
    let scope = if from_a_conversation {
        Scope::Quote
    } else {
        Scope::Any
    };
    let mut clean = evidence.clone();
    if let Cow::Owned(quote) = redact_in(&evidence.quote, scope).text {
        clean.quote = quote;
    }
    if let Some(source) = clean_text(&evidence.source) {
        clean.source = source;
    }
    for field in [
        &mut clean.agent,
        &mut clean.session,
        &mut clean.place,
        &mut clean.cues,
    ] {
        if let Some(text) = field.as_deref().and_then(clean_text) {
            *field = Some(text);
        }
    }
    (clean != *evidence).then_some(clean)
}

fn clean_text(text: &str) -> Option<String> {
    match redact(text).text {
        Cow::Owned(clean) => Some(clean),
        Cow::Borrowed(_) => None,
    }
}

impl Transaction<'_> {
    /// Puts marks in place of the secrets in a row that another program wrote, before the journal learns of
    /// the row. What the page held is overwritten.
    pub(super) fn clean_row(&mut self, id: i64) -> Result<()> {
        let Some(row) = self.view().entry(id)? else {
            return Ok(());
        };
        let keywords = join_keywords(&row.keywords);
        let texts = [&row.item, &row.reason, &keywords, &row.source];
        let clean = texts.map(|text| redact(text).text);
        let scenarios: Vec<Cow<'_, str>> =
            row.scenarios.iter().map(|name| redact(name).text).collect();
        let dirty = |text: &Cow<'_, str>| matches!(text, Cow::Owned(_));
        let pattern = join_patterns(&row.patterns).and_then(|column| clean_patterns(&column));
        if pattern.is_none() && !clean.iter().chain(&scenarios).any(dirty) {
            return Ok(());
        }
        let [item, reason, keywords, source] = clean;
        let sqlite = |error| self.sqlite(error);
        let connection = self.connection();
        connection
            .pragma_update(None, "secure_delete", true)
            .map_err(sqlite)?;
        let taken: bool = connection
            .query_row(
                "SELECT EXISTS (SELECT 1 FROM preferences WHERE LOWER(item) = LOWER(?1) AND id != ?2)",
                params![item, id],
                |row| row.get(0),
            )
            .map_err(sqlite)?;
        // Two secrets leave the same mark; their rows stay two.
        let item = if taken && dirty(&item) {
            Cow::Owned(format!("{item} ({id})"))
        } else {
            item
        };
        connection
            .execute(
                "UPDATE preferences SET item = ?2, reason = ?3, keywords = ?4, source = ?5 WHERE id = ?1",
                params![id, item, reason, keywords, source],
            )
            .map_err(sqlite)?;
        if let Some(pattern) = pattern {
            connection
                .execute(
                    "UPDATE preferences SET pattern = ?2 WHERE id = ?1",
                    params![id, pattern.as_str()],
                )
                .map_err(sqlite)?;
        }
        if scenarios.iter().any(dirty) {
            connection
                .execute(
                    "DELETE FROM preference_scenarios WHERE preference_id = ?1",
                    [id],
                )
                .map_err(sqlite)?;
            for name in &scenarios {
                connection
                    .execute(
                        "INSERT OR IGNORE INTO preference_scenarios VALUES (?1, ?2)",
                        params![id, name],
                    )
                    .map_err(sqlite)?;
            }
        }
        Ok(())
    }
}
