//! One line of a device's file: a journal line as JSON, and what of such a text counts as one.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::model::{Evidence, Hlc, JournalLine, LINE_VERSION, Op, Origin, Stamp, Subject, Values};

/// Why a text is no line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// A later version has written it.
    Newer(String),
    /// It is damaged, or was never one.
    Damaged(String),
}

/// What every line of this version begins with; the time follows.
const BEGINNING: &str = "{\"v\":1,\"hlc\":\"";

/// The time of a line, told without reading it.
pub(super) fn time_of(text: &str) -> Option<&str> {
    let (time, _) = text.strip_prefix(BEGINNING)?.split_once('"')?;
    time.parse::<Hlc>().is_ok().then_some(time)
}

/// The time of a line that can be read, here or by a later version.
pub(super) fn time_for_all(device: &str, text: &str) -> Option<String> {
    match read(device, text) {
        Ok(line) => Some(line.hlc),
        Err(Unreadable::Newer(_)) => {
            let fields: Value = serde_json::from_str(text).ok()?;
            let time: Hlc = fields.get("hlc")?.as_str()?.parse().ok()?;
            Some(time.to_string())
        }
        Err(Unreadable::Damaged(_)) => None,
    }
}

/// Writes a line, always with the same fields in the same order.
pub(super) fn write(line: &JournalLine) -> String {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| {
        fields.insert(name.to_owned(), value);
    };
    put("v", LINE_VERSION.into());
    put("hlc", line.hlc.as_str().into());
    put("batch", line.batch.as_str().into());
    put("at", line.at.0.as_str().into());
    put("op", line.op.name().into());
    put("kind", line.subject.kind().into());
    put("uid", line.subject.uid().into());
    put("origin", line.origin.name().into());
    for (name, values) in [("before", &line.before), ("after", &line.after)] {
        if let Some(values) = values {
            put(name, Value::Object(values.clone()));
        }
    }
    for (name, evidence) in [("added", &line.added), ("removed", &line.removed)] {
        if !evidence.is_empty() {
            let list = serde_json::to_value(evidence);
            put(name, list.expect("evidence is texts and finite numbers"));
        }
    }
    if let Some(batch) = &line.undoes {
        put("undoes", batch.as_str().into());
    }
    if !line.seen.is_empty() {
        let seen = line.seen.iter();
        let seen = seen.map(|(device, hlc)| (device.clone(), Value::from(hlc.as_str())));
        put("seen", Value::Object(seen.collect()));
    }
    Value::Object(fields).to_string()
}

/// Reads a line of a device, cleaned.
pub(super) fn read(device: &str, text: &str) -> Result<JournalLine, Unreadable> {
    let damaged = |what: &str| Unreadable::Damaged(what.to_owned());
    let fields = match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) => return Err(damaged("it is no JSON object")),
        Err(error) => return Err(Unreadable::Damaged(error.to_string())),
    };
    match fields.get("v").and_then(Value::as_i64) {
        Some(version) if version > LINE_VERSION => {
            return Err(Unreadable::Newer(format!("its format {version} is newer")));
        }
        Some(LINE_VERSION) => {}
        _ => return Err(damaged("it does not say its format")),
    }
    let text = |name: &str| {
        let text = fields.get(name).and_then(Value::as_str);
        text.ok_or_else(|| Unreadable::Damaged(format!("it has no {name}")))
    };
    let op = text("op")?.parse::<Op>().map_err(Unreadable::Newer)?;
    let subject = Subject::read(text("kind")?, text("uid")?).map_err(Unreadable::Newer)?;
    let line = JournalLine {
        seq: 0,
        batch: text("batch")?.to_owned(),
        at: Stamp(text("at")?.to_owned()),
        hlc: text("hlc")?.to_owned(),
        device: device.to_owned(),
        op,
        subject,
        origin: text("origin")?
            .parse::<Origin>()
            .map_err(Unreadable::Newer)?,
        before: values(&fields, "before")?,
        after: values(&fields, "after")?,
        added: evidence(&fields, "added")?,
        removed: evidence(&fields, "removed")?,
        undoes: match fields.get("undoes") {
            Some(_) => Some(text("undoes")?.to_owned()),
            None => None,
        },
        seen: seen(&fields)?,
        local_id: None,
    };
    line.check().map_err(Unreadable::Damaged)?;
    Ok(line.cleaned())
}

/// Values, with numbers as the columns hold them.
fn values(fields: &Map<String, Value>, name: &str) -> Result<Option<Values>, Unreadable> {
    let Some(value) = fields.get(name) else {
        return Ok(None);
    };
    let Value::Object(values) = value else {
        return Err(Unreadable::Damaged(format!("its {name} is no object")));
    };
    let mut values = values.clone();
    for (field, value) in &mut values {
        if let (true, Some(number)) = (field != "touch_count", value.as_f64()) {
            *value = Value::from(number);
        }
    }
    Ok(Some(values))
}

fn evidence(fields: &Map<String, Value>, name: &str) -> Result<Vec<Evidence>, Unreadable> {
    let Some(value) = fields.get(name) else {
        return Ok(Vec::new());
    };
    serde_json::from_value(value.clone())
        .map_err(|error| Unreadable::Damaged(format!("its {name}: {error}")))
}

fn seen(fields: &Map<String, Value>) -> Result<BTreeMap<String, String>, Unreadable> {
    match fields.get("seen") {
        None => Ok(BTreeMap::new()),
        Some(seen) => serde_json::from_value(seen.clone())
            .map_err(|error| Unreadable::Damaged(format!("what it had seen: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Speaker;
    use rstest::rstest;
    use serde_json::json;

    pub(crate) fn line() -> JournalLine {
        JournalLine {
            seq: 0,
            batch: "b1".into(),
            at: Stamp("2026-11-30T12:00:00+00:00".into()),
            hlc: "0193000000000001".into(),
            device: "d".into(),
            op: Op::Update,
            subject: Subject::Entry("e1".into()),
            origin: Origin::User,
            before: json!({"base_score": 0.1, "pattern": null})
                .as_object()
                .cloned(),
            after: json!({"base_score": 7.8, "pattern": "a\nb"})
                .as_object()
                .cloned(),
            added: vec![Evidence {
                uid: "o1".into(),
                at: Stamp("2026-11-30T12:00:00+00:00".into()),
                quote: "I said “so”".into(),
                speaker: Speaker::User,
                origin: Origin::User,
                source: "manual".into(),
                score: Some(9.0),
                agent: None,
                session: None,
                place: None,
                confidence: None,
                cues: None,
            }],
            removed: Vec::new(),
            undoes: Some("b0".into()),
            seen: BTreeMap::from([("other".to_owned(), "0193000000000000".to_owned())]),
            local_id: None,
        }
    }

    #[test]
    fn a_line_comes_back_as_it_was_written() {
        let text = write(&line());
        insta::assert_snapshot!(text, @r#"{"v":1,"hlc":"0193000000000001","batch":"b1","at":"2026-11-30T12:00:00+00:00","op":"update","kind":"entry","uid":"e1","origin":"user","before":{"base_score":0.1,"pattern":null},"after":{"base_score":7.8,"pattern":"a\nb"},"added":[{"uid":"o1","at":"2026-11-30T12:00:00+00:00","quote":"I said “so”","speaker":"user","origin":"user","source":"manual","score":9.0}],"undoes":"b0","seen":{"other":"0193000000000000"}}"#);
        assert_eq!(read("d", &text), Ok(line()));
        assert_eq!(time_of(&text), Some("0193000000000001"));
    }

    #[rstest]
    #[case::format("v", json!(2))]
    #[case::operation("op", json!("merge-three"))]
    #[case::kind("kind", json!("team"))]
    #[case::origin("origin", json!("robot"))]
    fn what_a_later_version_writes_is_called_newer(#[case] field: &str, #[case] value: Value) {
        assert!(matches!(changed(field, value), Err(Unreadable::Newer(_))));
    }

    #[rstest]
    #[case::no_time("hlc", json!("ffff"))]
    #[case::a_number("hlc", json!(12))]
    #[case::no_moment("at", json!("yesterday"))]
    #[case::no_name("uid", json!(""))]
    #[case::hidden("uid", json!("a\u{202e}b"))]
    #[case::long("batch", json!("b".repeat(200)))]
    #[case::list("before", json!([]))]
    #[case::text("after", json!({"base_score": "9"}))]
    #[case::deep("after", json!({"item": {"a": 1}}))]
    #[case::fraction("after", json!({"touch_count": 1.5}))]
    #[case::mixed("after", json!({"scenarios": ["a", 1]}))]
    #[case::nothing("after", json!({"reason": null}))]
    #[case::evidence("added", json!([{"uid": "o1"}]))]
    #[case::seen("seen", json!({"other": "long ago"}))]
    #[case::reserved("before", json!({"seen": "all"}))]
    #[case::session("kind", json!("session"))]
    fn what_is_no_line_is_refused(#[case] field: &str, #[case] value: Value) {
        assert!(matches!(changed(field, value), Err(Unreadable::Damaged(_))));
    }

    fn changed(field: &str, value: Value) -> Result<JournalLine, Unreadable> {
        let mut fields: Value = serde_json::from_str(&write(&line())).expect("it is JSON");
        fields[field] = value;
        read("d", &fields.to_string())
    }

    #[test]
    fn no_depth_of_brackets_is_too_much() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(matches!(read("d", &deep), Err(Unreadable::Damaged(_))));
        let within = format!("{{\"v\":1,\"before\":{deep}}}");
        assert!(matches!(read("d", &within), Err(Unreadable::Damaged(_))));
    }

    #[test]
    fn an_entry_needs_an_item() {
        let mut line = line();
        line.before = None;
        assert!(matches!(
            read("d", &write(&line)),
            Err(Unreadable::Damaged(_))
        ));
    }
}
