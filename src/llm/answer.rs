//! Reads a model's answer: the JSON that was asked for, whatever stands around it, and what is complete of it
//! where it was cut off.

use serde_json::{Deserializer, Value};
use thiserror::Error;

use crate::model::Kind;

/// Says why an answer cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AnswerError {
    /// No list of preferences anywhere in it.
    #[error("no JSON with a list of preferences in it")]
    NoJson,
    /// A list that is not JSON.
    #[error("its JSON is broken after {complete} preferences: {reason}")]
    Broken {
        /// How many came before.
        complete: usize,
        /// What the parser says.
        reason: String,
    },
    /// Every element lacks a field or has one of the wrong type.
    #[error("none of its {count} preferences has the fields that were asked for")]
    Malformed {
        /// How many.
        count: usize,
    },
}

/// One preference as a model wrote it, not yet held against the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Raw {
    /// The number of its turn; none where the model gave none.
    pub turn: Option<usize>,
    /// What it says the person wrote.
    pub quote: String,
    /// The label.
    pub item: String,
    /// A number, not yet checked.
    pub score: f64,
    /// What kind of statement.
    pub kind: Kind,
    /// Further words.
    pub keywords: Vec<String>,
    /// Kinds of task.
    pub scenarios: Vec<String>,
}

/// What an answer holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// The preferences in it.
    pub preferences: Vec<Raw>,
    /// How many elements lacked a field or had one of the wrong type.
    pub malformed: usize,
    /// Whether it ends before its JSON does; the last element, incomplete, is left out.
    pub cut: bool,
}

/// Reads an answer. Prose, code fences and thoughts around the JSON are passed over; several objects one after
/// the other count together; a bare list is taken, as are trailing commas and numbers written as texts.
///
/// # Errors
/// An answer without such a list, with broken JSON, or with no element that has the right fields.
pub fn parse_answer(text: &str) -> Result<Answer, AnswerError> {
    // What a model thinks aloud may hold drafts of the answer.
    let text = text.rsplit_once("</think>").map_or(text, |(_, rest)| rest);
    let mut answer = Answer::default();
    let mut found = false;
    let mut rest = text;
    while let Some(start) = named_list(rest) {
        found = true;
        rest = read_list(&rest[start..], &mut answer)?;
    }
    if !found {
        match (singles(text), bare_list(text)) {
            (Some((at, elements)), list) if list.is_none_or(|list| at < list) => {
                elements
                    .iter()
                    .for_each(|element| take(element, &mut answer));
            }
            (_, Some(start)) => {
                read_list(&text[start..], &mut answer)?;
            }
            _ => return Err(AnswerError::NoJson),
        }
    }
    if answer.preferences.is_empty() && answer.malformed > 0 {
        return Err(AnswerError::Malformed {
            count: answer.malformed,
        });
    }
    Ok(answer)
}

/// Where the elements of the next `"preferences": [` begin.
fn named_list(text: &str) -> Option<usize> {
    const NAME: &str = "\"preferences\"";
    text.match_indices(NAME).find_map(|(at, _)| {
        let after = text[at + NAME.len()..].trim_start().strip_prefix(':')?;
        let list = after.trim_start().strip_prefix('[')?;
        Some(text.len() - list.len())
    })
}

/// Where the elements of a list of objects, or of an empty list, begin.
fn bare_list(text: &str) -> Option<usize> {
    text.match_indices('[').find_map(|(at, _)| {
        let list = &text[at + 1..];
        list.trim_start().starts_with(['{', ']']).then_some(at + 1)
    })
}

/// Preferences that stand alone, without a list, one after the other; and where the first begins.
fn singles(text: &str) -> Option<(usize, Vec<Value>)> {
    let start = text.find('{')?;
    let values = Deserializer::from_str(&text[start..]).into_iter::<Value>();
    let elements: Vec<Value> = values.map_while(Result::ok).collect();
    let first = elements.first()?;
    first.get("quote").is_some().then_some((start, elements))
}

/// Reads the elements up to the end of the list, and gives what follows it.
fn read_list<'t>(mut rest: &'t str, answer: &mut Answer) -> Result<&'t str, AnswerError> {
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        if let Some(after) = rest.strip_prefix(']') {
            return Ok(after);
        }
        let mut values = Deserializer::from_str(rest).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                rest = &rest[values.byte_offset()..];
                take(&value, answer);
            }
            Some(Err(error)) if !error.is_eof() => {
                return Err(AnswerError::Broken {
                    complete: answer.preferences.len(),
                    reason: error.to_string(),
                });
            }
            Some(Err(_)) | None => {
                answer.cut = true;
                return Ok("");
            }
        }
    }
}

fn take(element: &Value, answer: &mut Answer) {
    match raw(element) {
        Some(raw) => answer.preferences.push(raw),
        None => answer.malformed += 1,
    }
}

fn raw(element: &Value) -> Option<Raw> {
    let text = |name: &str| element.get(name)?.as_str().map(str::to_owned);
    Some(Raw {
        turn: match element.get("turn") {
            None | Some(Value::Null) => None,
            Some(value) => Some(whole(number(value)?)?),
        },
        quote: text("quote")?,
        item: text("item")?,
        score: number(element.get("score")?)?,
        kind: kind(element.get("kind")?.as_str()?)?,
        keywords: words(element.get("keywords"))?,
        scenarios: words(element.get("scenarios"))?,
    })
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
    .filter(|number| number.is_finite())
}

fn whole(number: f64) -> Option<usize> {
    // A turn's number has no more digits than this.
    let fits = number.fract() == 0.0 && (0.0..=1e15).contains(&number);
    fits.then_some(number as usize)
}

fn kind(name: &str) -> Option<Kind> {
    let name = name.trim().to_ascii_lowercase();
    serde_json::from_value(Value::String(name)).ok()
}

/// A list of words, or one text with commas; none is an empty list.
fn words(value: Option<&Value>) -> Option<Vec<String>> {
    match value {
        None | Some(Value::Null) => Some(Vec::new()),
        Some(Value::String(text)) => Some(vec![text.clone()]),
        Some(Value::Array(values)) => values
            .iter()
            .map(|value| value.as_str().map(str::to_owned))
            .collect(),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const ONE: &str = r#"{"turn":1,"quote":"use tabs","item":"tabs","score":9,"kind":"always","keywords":[],"scenarios":[]}"#;

    #[rstest]
    #[case("object", &format!(r#"{{"preferences":[{ONE}]}}"#), 1)]
    #[case("empty", r#"{"preferences": []}"#, 0)]
    #[case("empty bare", "[]", 0)]
    #[case("fence", &format!("Sure!\n```json\n{{\"preferences\" :\n [{ONE}]}}\n```\nAnything else?"), 1)]
    #[case("prose with brackets", &format!("Here [as asked] are your \"preferences\": {{\"preferences\":[{ONE}]}}"), 1)]
    #[case("bare list", &format!("[{ONE},{ONE}]"), 2)]
    #[case("alone", &format!("Answer: {ONE}"), 1)]
    #[case("lines", &format!("{ONE}\n{ONE}\n"), 2)]
    #[case("other name", &format!("{{\"items\":[{ONE}]}}"), 1)]
    #[case("trailing commas", &format!(r#"{{"preferences":[{ONE},],}}"#), 1)]
    #[case("two objects", &format!(r#"{{"preferences":[{ONE}]}} {{"preferences":[{ONE}]}}"#), 2)]
    #[case("thoughts", &format!(r#"<think>{{"preferences":[{ONE},{ONE}]}}</think>{{"preferences":[{ONE}]}}"#), 1)]
    fn an_answer_is_found(#[case] what: &str, #[case] text: &str, #[case] count: usize) {
        let answer = parse_answer(text).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(
            (answer.preferences.len(), answer.malformed),
            (count, 0),
            "{what}"
        );
        assert!(!answer.cut, "{what}");
    }

    #[test]
    fn every_cut_leaves_what_was_complete() {
        let whole = format!(r#"{{"preferences":[{ONE},{ONE}]}}"#);
        let first = whole.find("},{").expect("two elements") + 1;
        for end in r#"{"preferences":["#.len()..whole.len() - 2 {
            let answer =
                parse_answer(&whole[..end]).unwrap_or_else(|error| panic!("{end}: {error}"));
            let complete = usize::from(end >= first) + usize::from(end >= whole.len() - 2);
            assert_eq!(
                (answer.preferences.len(), answer.cut),
                (complete, true),
                "{}",
                &whole[..end]
            );
        }
    }

    #[test]
    fn numbers_may_be_texts_and_words_may_be_one_text() {
        let text = r#"[{"turn":"2","quote":"q","item":"i","score":" 2.5 ","kind":"Never","keywords":"a, b","scenarios":null}]"#;
        let answer = parse_answer(text).expect("an answer");
        assert_eq!(
            answer.preferences[0],
            Raw {
                turn: Some(2),
                quote: "q".to_owned(),
                item: "i".to_owned(),
                score: 2.5,
                kind: Kind::Never,
                keywords: vec!["a, b".to_owned()],
                scenarios: Vec::new(),
            }
        );
    }

    #[rstest]
    #[case(r#""score":"high""#)]
    #[case(r#""score":"NaN""#)]
    #[case(r#""score":null"#)]
    #[case(r#""kind":"rule""#)]
    #[case(r#""item":7"#)]
    #[case(r#""quote":["x"]"#)]
    #[case(r#""turn":1.5"#)]
    #[case(r#""keywords":[1]"#)]
    fn an_element_of_the_wrong_type_is_counted_and_the_others_stay(#[case] wrong: &str) {
        let mut bad: serde_json::Map<String, Value> = serde_json::from_str(ONE).expect("an object");
        bad.extend(
            serde_json::from_str::<serde_json::Map<_, _>>(&format!("{{{wrong}}}")).expect("one"),
        );
        let bad = Value::Object(bad);
        let answer = parse_answer(&format!("[{ONE},{bad},7]")).expect("one is right");
        assert_eq!(
            (answer.preferences.len(), answer.malformed),
            (1, 2),
            "{wrong}"
        );
        assert_eq!(
            parse_answer(&format!("[{bad}]")),
            Err(AnswerError::Malformed { count: 1 }),
            "{wrong}"
        );
    }

    #[rstest]
    #[case("")]
    #[case("I found no preferences.")]
    #[case("{\"error\":\"no\"}")]
    #[case("[1, 2]")]
    #[case("\"preferences\": none")]
    fn what_is_no_answer_is_said(#[case] text: &str) {
        assert_eq!(parse_answer(text), Err(AnswerError::NoJson));
    }

    #[test]
    fn broken_json_is_no_cut() {
        let text = format!(r#"{{"preferences":[{ONE},{{"turn" 1}}]}}"#);
        assert!(matches!(
            parse_answer(&text),
            Err(AnswerError::Broken { complete: 1, .. })
        ));
    }

    #[test]
    fn deep_nesting_ends_in_an_error() {
        let text = format!("[{{\"a\":{}", "[".repeat(100_000));
        assert!(parse_answer(&text).is_err());
    }
}
