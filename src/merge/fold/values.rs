//! How the values of one entry follow a line that may not have known them.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::super::{union, united_patterns};
use crate::model::{
    Band, Evidence, Op, Origin, Score, Speaker, Stamp, Values, is_shapeless, item_key,
    join_keywords, join_patterns, split_keywords, split_patterns, stable_name,
};
use crate::scoring::smooth;

/// Decimals that count in a score that is worked out backwards.
const DECIMALS: f64 = 1e9;

/// The fields that say what is forbidden where an entry is a hard limit.
pub const FORBIDDING: [&str; 5] = ["item", "keywords", "origin", "pattern", "reason"];

/// Whether a stored score is that of a hard limit; one out of range counts as the nearest in it.
pub(super) fn is_limit(score: f64) -> bool {
    Score::clamped(score).is_hard_limit()
}

pub(super) fn score(values: &Values) -> Option<f64> {
    values.get("base_score").and_then(Value::as_f64)
}

/// Whether values say that something is a hard limit.
pub(super) fn forbids(values: &Values) -> bool {
    score(values).is_some_and(is_limit)
}

pub(super) fn item(values: &Values) -> &str {
    text(values, "item")
}

pub(super) fn rename(values: &mut Values, item: &str) {
    values.insert("item".to_owned(), Value::from(item));
}

pub(super) fn rescore(values: &mut Values, score: f64) {
    values.insert("base_score".to_owned(), Value::from(score));
}

pub(super) fn count(values: &Values) -> i64 {
    values
        .get("touch_count")
        .and_then(Value::as_i64)
        .unwrap_or(0)
}

fn text<'v>(values: &'v Values, field: &str) -> &'v str {
    values
        .get(field)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// The values of a new entry with those that its line does not name: what the columns of its row would be.
pub(super) fn complete(values: Values) -> Values {
    let mut all = object(json!({
        "item": "", "reason": "", "keywords": "", "base_score": 5.0, "source": "manual", "origin": "user",
        "added_at": "", "last_seen": "", "touch_count": 0, "pattern": null, "scenarios": [],
    }));
    all.extend(values);
    let scenarios = sorted(names(all.get("scenarios")));
    all.insert("scenarios".to_owned(), Value::from(scenarios));
    all
}

/// The same of a proposal.
pub(super) fn blank_proposal() -> Values {
    object(json!({
        "item": "", "reason": "", "keywords": "", "scenarios": "", "score": null, "source": "",
        "origin": "import", "proposed_at": "", "why": "", "evidence": "", "pattern": null,
    }))
}

fn object(value: Value) -> Values {
    match value {
        Value::Object(values) => values,
        _ => Values::new(),
    }
}

/// What a limit withstood of a line.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Withstood {
    /// The score that the line wanted.
    pub(super) score: Option<f64>,
    /// What it wanted to change of what is forbidden.
    pub(super) fields: Vec<&'static str>,
}

/// Sets what a line sets, and gives what a limit withstood. Where what stands is what the line saw, it becomes what the line
/// says. Otherwise of texts the last one stands, of lists and counts the difference is applied, and a score that was merged
/// is merged again. Of what a limit forbids nothing goes where the line `lifts` no limit and its device did not know it.
pub(super) fn set(
    values: &mut Values,
    before: &Values,
    after: &Values,
    op: Op,
    lifts: bool,
    is_known: bool,
) -> Withstood {
    let mut withstood = Withstood::default();
    let was_limit = forbids(values);
    if let (Some(now), Some(wanted)) = (score(values), score(after)) {
        match merged(now, score(before), wanted, op, lifts) {
            Ok(score) => rescore(values, score),
            Err(wanted) => withstood.score = Some(wanted),
        }
    }
    let withstands = was_limit && (!is_known || withstood.score.is_some());
    for (field, new) in after {
        let (now, old) = (values.get(field), before.get(field));
        let wanted = match (field.as_str(), now) {
            ("base_score", Some(_)) => continue,
            // An entry does not lose its name.
            ("item", Some(_)) if is_shapeless(new.as_str().unwrap_or_default()) => continue,
            (_, Some(now)) if Some(now) != old => follow(field, now, old, new),
            _ => new.clone(),
        };
        let name = FORBIDDING.into_iter().find(|name| name == field);
        // Who forbids it as well says why.
        let name = name.filter(|name| withstands && !(*name == "reason" && forbids(after)));
        let kept = name.and_then(|name| Some((name, kept(name, now?, &wanted)?)));
        let new = match kept {
            Some((name, kept)) => {
                withstood.fields.push(name);
                kept
            }
            None => wanted,
        };
        values.insert(field.clone(), new);
    }
    if let Some(scenarios) = values.get_mut("scenarios") {
        *scenarios = Value::from(sorted(names(Some(scenarios))));
    }
    withstood.fields.sort_unstable();
    withstood
}

/// What stands of a field that says what is forbidden, where something of it would go with a value that does not count. What
/// is more there counts all the same.
fn kept(field: &str, now: &Value, wanted: &Value) -> Option<Value> {
    goes(field, now, wanted).then(|| match field {
        "keywords" | "pattern" => with_more(field, now, wanted).unwrap_or_else(|| now.clone()),
        _ => now.clone(),
    })
}

/// Whether something of a field that says what is forbidden goes with another value.
pub(super) fn goes(field: &str, now: &Value, new: &Value) -> bool {
    let [have, say] = [now, new].map(|value| value.as_str().unwrap_or_default());
    match field {
        "item" => item_key(have) != item_key(say),
        "origin" => say != Origin::User.name() && have != say,
        "reason" => !have.trim().is_empty() && have != say,
        _ => with_more(field, new, now).is_some(),
    }
}

/// The words or patterns of a field with those of another one beside them; nothing where that has no more.
pub(super) fn with_more(field: &str, have: &Value, more: &Value) -> Option<Value> {
    let columns = [have, more].map(|value| value.as_str().unwrap_or_default());
    if field == "keywords" {
        let [have, more] = columns.map(split_keywords);
        return union(&have, &more).map(|all| Value::from(join_keywords(&all)));
    }
    let [have, more] = columns.map(split_patterns);
    united_patterns(&have, &more)
        .and_then(|all| join_patterns(&all))
        .map(Value::from)
}

/// The score after a line; or what it wanted of a limit that does not give way to it.
fn merged(now: f64, old: Option<f64>, wanted: f64, op: Op, lifts: bool) -> Result<f64, f64> {
    match old {
        _ if is_limit(now) && !is_limit(wanted) && !lifts => Err(wanted),
        // What a merge made a limit of, no smoothing had a part in.
        Some(old) if op == Op::Merge && old != now && is_limit(old) == is_limit(wanted) => {
            let incoming = (wanted - 0.4 * old) / 0.6;
            let incoming = (incoming * DECIMALS).round() / DECIMALS;
            Ok(seen_again(now, in_band_of(wanted, incoming)))
        }
        _ => Ok(wanted),
    }
}

/// A score worked out from others, on the side of the border where it has to be.
fn in_band_of(like: f64, score: f64) -> f64 {
    let (_, border) = Band::Taboo.range();
    if is_limit(like) {
        score.clamp(0.0, border)
    } else {
        score.clamp(border.next_up(), Score::MAX.value())
    }
}

/// The score after the same thing was seen again.
fn seen_again(now: f64, incoming: f64) -> f64 {
    match (is_limit(now), is_limit(incoming)) {
        (true, false) => now,
        (false, true) => incoming,
        _ => smooth(Score::clamped(now), Score::clamped(incoming)).value(),
    }
}

/// A field after a line that saw another value than stands.
fn follow(field: &str, now: &Value, old: Option<&Value>, new: &Value) -> Value {
    let texts =
        |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let (column, seen, set) = (texts(Some(now)), texts(old), texts(Some(new)));
    match field {
        "keywords" => {
            let [now, old, new] = [&column, &seen, &set].map(|column| split_keywords(column));
            let words = difference(now, &old, &new, |word| word.to_lowercase());
            Value::from(join_keywords(&words))
        }
        "pattern" => {
            let [now, old, new] = [&column, &seen, &set].map(|column| split_patterns(column));
            let patterns = difference(now, &old, &new, str::to_owned);
            join_patterns(&patterns).map_or(Value::Null, Value::from)
        }
        "scenarios" => {
            let (old, new) = (names(old), names(Some(new)));
            Value::from(difference(names(Some(now)), &old, &new, str::to_owned))
        }
        "touch_count" => {
            let number = |value: Option<&Value>| value.and_then(Value::as_i64).unwrap_or(0);
            let more = number(Some(new)).saturating_sub(number(old));
            Value::from(number(Some(now)).saturating_add(more))
        }
        "last_seen" => Value::from(later(&column, &set)),
        "added_at" => Value::from(earlier(&column, &set)),
        _ => new.clone(),
    }
}

/// The patterns of a field and of another one.
fn with_patterns(have: &Value, more: &Value) -> Value {
    let lists = [have, more].map(|field| split_patterns(field.as_str().unwrap_or_default()));
    match united_patterns(&lists[0], &lists[1]) {
        None => have.clone(),
        Some(all) => join_patterns(&all).map_or(Value::Null, Value::from),
    }
}

/// A list with what was added to another one and without what was taken from it.
fn difference(
    mut list: Vec<String>,
    old: &[String],
    new: &[String],
    key: fn(&str) -> String,
) -> Vec<String> {
    let keys = |list: &[String]| -> HashSet<String> { list.iter().map(|word| key(word)).collect() };
    let (old, kept) = (keys(old), keys(new));
    list.retain(|word| kept.contains(&key(word)) || !old.contains(&key(word)));
    let mut known = keys(&list);
    for word in new {
        if !old.contains(&key(word)) && known.insert(key(word)) {
            list.push(word.clone());
        }
    }
    list
}

fn names(value: Option<&Value>) -> Vec<String> {
    let list = value.and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect()
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names.dedup();
    names
}

/// The later of two times; one that cannot be read gives way.
fn later<'t>(a: &'t str, b: &'t str) -> &'t str {
    let moment = |text: &str| Stamp(text.to_owned()).moment();
    if moment(b) > moment(a) { b } else { a }
}

fn earlier<'t>(a: &'t str, b: &'t str) -> &'t str {
    let moment = |text: &str| Stamp(text.to_owned()).moment();
    match (moment(a), moment(b)) {
        (Some(a_time), Some(b_time)) if b_time < a_time => b,
        (None, Some(_)) => b,
        _ => a,
    }
}

/// Makes two entries one, as when the second is added while the first is there. A limit among them was in force already,
/// whoever stated it: it keeps what it is checked by, and its reason.
pub(super) fn unite(values: &mut Values, other: &Values, counted: i64) {
    let (now, incoming) = (score(values), score(other));
    let (forbade, forbids_too) = (forbids(values), forbids(other));
    let is_users = |values: &Values| text(values, "origin") == Origin::User.name();
    let is_weaker = is_users(values) && !is_users(other);
    if let (Some(now), Some(incoming)) = (now, incoming)
        && now != incoming
    {
        rescore(values, seen_again(now, incoming));
    }
    let reason = text(other, "reason");
    let has_reason = match (forbade, forbids_too) {
        (true, false) => false,
        // What stood spoke against the limit.
        (false, true) => true,
        _ => !reason.trim().is_empty() && !is_weaker,
    };
    if has_reason {
        values.insert("reason".to_owned(), Value::from(reason));
    }
    let keywords = split_keywords(text(values, "keywords"));
    if let Some(all) = union(&keywords, &split_keywords(text(other, "keywords"))) {
        values.insert("keywords".to_owned(), Value::from(join_keywords(&all)));
    }
    if forbids_too || !is_weaker {
        let [have, more] = [&*values, other].map(|of| of.get("pattern").unwrap_or(&Value::Null));
        let all = with_patterns(have, more);
        values.insert("pattern".to_owned(), all);
    }
    let mut scenarios = names(values.get("scenarios"));
    scenarios.extend(names(other.get("scenarios")));
    values.insert("scenarios".to_owned(), Value::from(sorted(scenarios)));
    if is_users(other) {
        values.insert("origin".to_owned(), Value::from(Origin::User.name()));
    }
    let seen = later(text(values, "last_seen"), text(other, "last_seen")).to_owned();
    let added = earlier(text(values, "added_at"), text(other, "added_at")).to_owned();
    values.insert("last_seen".to_owned(), Value::from(seen));
    values.insert("added_at".to_owned(), Value::from(added));
    values.insert("touch_count".to_owned(), Value::from(counted));
}

/// An entry as an observation of another one, where nothing else is behind it.
pub(super) fn observation(uid: &str, values: &Values) -> Evidence {
    Evidence {
        uid: stable_name(&["united", uid]),
        at: Stamp(text(values, "last_seen").to_owned()),
        quote: text(values, "reason").to_owned(),
        speaker: Speaker::User,
        origin: text(values, "origin").parse().unwrap_or(Origin::Import),
        source: text(values, "source").to_owned(),
        score: score(values),
        agent: None,
        session: None,
        place: None,
        confidence: None,
        cues: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry() -> impl Strategy<Value = Values> {
        let lists = proptest::collection::vec(0..4u8, 0..3);
        let scores = prop_oneof![Just(0.2), Just(0.5), Just(3.0), Just(9.0)];
        let reasons = prop_oneof![Just(""), Just("one"), Just("other")];
        (scores, reasons, any::<bool>(), lists).prop_map(|(score, reason, is_users, patterns)| {
            let patterns: Vec<String> = patterns.iter().map(|one| format!("p{one}")).collect();
            complete(object(json!({
                "item": "force push", "base_score": score, "reason": reason,
                "origin": (if is_users { Origin::User } else { Origin::Agent }).name(),
                "pattern": join_patterns(&patterns),
            })))
        })
    }

    proptest! {
        #[test]
        fn two_entries_that_become_one_keep_what_a_limit_is_checked_by_and_its_reason(
            one in entry(), other in entry()
        ) {
            for (first, second) in [(&one, &other), (&other, &one)] {
                let mut all = first.clone();
                unite(&mut all, second, 0);
                let limits: Vec<&Values> =
                    [first, second].into_iter().filter(|of| forbids(of)).collect();
                prop_assert_eq!(forbids(&all), !limits.is_empty());
                let patterns = split_patterns(text(&all, "pattern"));
                for pattern in limits.iter().flat_map(|of| split_patterns(text(of, "pattern"))) {
                    prop_assert!(patterns.contains(&pattern), "{} is gone", pattern);
                }
                if let [limit] = limits[..] {
                    prop_assert_eq!(text(&all, "reason"), text(limit, "reason"));
                }
            }
        }
    }
}
