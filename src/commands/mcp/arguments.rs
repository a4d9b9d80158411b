//! What a tool is called with. Models send numbers as texts and lists as texts with commas or brackets in them; what is meant
//! is taken.

use serde_json::{Map, Value};

use crate::error::Failure;
use crate::model::Score;

/// The arguments of a call; each is taken once.
pub(super) struct Arguments(Map<String, Value>);

impl Arguments {
    /// The arguments that were sent. One that is null was not.
    pub(super) fn new(mut values: Map<String, Value>) -> Self {
        values.retain(|_, value| !value.is_null());
        Arguments(values)
    }

    /// A text.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, Failure> {
        match self.0.shift_remove(name) {
            None => Ok(None),
            Some(value) => match text_of(&value) {
                Some(text) => Ok(Some(text)),
                None => Err(wrong(name, "a text", &value)),
            },
        }
    }

    /// Takes arguments under the names that the command line has for them.
    pub(super) fn under(&mut self, names: &[(&str, &str)]) {
        for (typed, name) in names {
            if !self.0.contains_key(*name)
                && let Some(value) = self.0.shift_remove(*typed)
            {
                self.0.insert((*name).to_owned(), value);
            }
        }
    }

    /// Refuses what is not one of these: where something is written, a field that was not understood must not be lost.
    pub(super) fn only(&self, names: &[&str]) -> Result<(), Failure> {
        match self.0.keys().find(|name| !names.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => Err(Failure::usage(format!(
                "the argument `{name}` is not known; nothing was written"
            ))
            .hint(format!("the arguments are {}", names.join(", ")))),
        }
    }

    /// The user's own words: nothing but a text is, and none without a letter or a digit, or that only says that there are none.
    pub(super) fn quote(&mut self) -> Result<Option<String>, Failure> {
        const NONE: [&str; 9] = [
            "null",
            "none",
            "nil",
            "n/a",
            "na",
            "undefined",
            "true",
            "false",
            "empty",
        ];
        let quote = match self.0.shift_remove("quote") {
            None => return Ok(None),
            Some(Value::String(quote)) => quote,
            Some(other) => return Err(wrong("quote", "the user's words as a text", &other)),
        };
        let bare = quote.trim().trim_matches(['"', '\'', '“', '”', '.']);
        let says_nothing = !bare.chars().any(char::is_alphanumeric)
            || NONE.contains(&bare.to_lowercase().as_str());
        Ok(Some(quote).filter(|_| !says_nothing))
    }

    /// A text that cannot be left out.
    pub(super) fn needed(&mut self, name: &str) -> Result<String, Failure> {
        match self.text(name)? {
            Some(text) if !text.trim().is_empty() => Ok(text),
            _ => Err(missing(name)),
        }
    }

    /// A list of texts. A text is a list in JSON, or one element.
    pub(super) fn texts(&mut self, name: &str) -> Result<Option<Vec<String>>, Failure> {
        let value = match self.0.shift_remove(name) {
            None => return Ok(None),
            Some(Value::String(text)) => match serde_json::from_str(&text) {
                Ok(list @ Value::Array(_)) => list,
                _ if text.trim().is_empty() => Value::Array(Vec::new()),
                _ => Value::Array(vec![Value::String(text)]),
            },
            Some(list @ Value::Array(_)) => list,
            Some(other) => Value::Array(vec![other]),
        };
        let texts: Option<Vec<String>> = value
            .as_array()
            .and_then(|list| list.iter().map(text_of).collect());
        match texts {
            Some(texts) => Ok(Some(texts)),
            None => Err(wrong(name, "a list of texts", &value)),
        }
    }

    /// A list in one text, its elements between commas.
    pub(super) fn list(&mut self, name: &str) -> Result<Option<String>, Failure> {
        Ok(self.texts(name)?.map(|texts| texts.join(",")))
    }

    /// A score.
    pub(super) fn score(&mut self, name: &str) -> anyhow::Result<Option<Score>> {
        let Some(value) = self.0.shift_remove(name) else {
            return Ok(None);
        };
        let number = match &value {
            Value::String(text) if text.trim().is_empty() => return Ok(None),
            Value::String(text) => text.trim().parse().ok(),
            other => other.as_f64(),
        };
        match number {
            Some(number) => Ok(Some(Score::new(number)?)),
            None => Err(wrong(name, "a number from 0 to 10", &value).into()),
        }
    }

    /// A whole number above 0.
    pub(super) fn count(&mut self, name: &str) -> Result<Option<usize>, Failure> {
        let Some(value) = self.0.shift_remove(name) else {
            return Ok(None);
        };
        let number = match &value {
            Value::String(text) if text.trim().is_empty() => return Ok(None),
            Value::String(text) => text.trim().parse().ok(),
            Value::Number(number) => whole(number),
            _ => None,
        };
        match number.filter(|&number| number > 0) {
            Some(number) => Ok(Some(number)),
            None => Err(wrong(name, "a whole number above 0", &value)),
        }
    }

    /// Yes or no; no where nothing is said.
    pub(super) fn flag(&mut self, name: &str) -> Result<bool, Failure> {
        let Some(value) = self.0.shift_remove(name) else {
            return Ok(false);
        };
        let said = match &value {
            Value::Bool(said) => Some(*said),
            Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
                "true" | "yes" | "1" => Some(true),
                "false" | "no" | "0" | "" => Some(false),
                _ => None,
            },
            Value::Number(number) if number.as_i64() == Some(1) => Some(true),
            Value::Number(number) if number.as_i64() == Some(0) => Some(false),
            _ => None,
        };
        said.ok_or_else(|| wrong(name, "true or false", &value))
    }

    /// Says what was sent and nobody asked for.
    pub(super) fn unknown(&self) -> Vec<String> {
        self.0
            .keys()
            .map(|name| format!("the argument `{name}` is not known and was ignored"))
            .collect()
    }
}

/// The failure for an argument that has to be there.
pub(super) fn missing(name: &str) -> Failure {
    Failure::usage(format!("`{name}` is missing"))
        .hint("call again with it; the schema of the tool says what it means")
}

/// A float without a fraction is a whole number too.
fn whole(number: &serde_json::Number) -> Option<usize> {
    if let Some(number) = number.as_u64() {
        return usize::try_from(number).ok();
    }
    let text = number.to_string();
    text.strip_suffix(".0")?.parse().ok()
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(match whole(number) {
            Some(whole) => whole.to_string(),
            None => number.to_string(),
        }),
        Value::Bool(said) => Some(said.to_string()),
        _ => None,
    }
}

fn wrong(name: &str, expected: &str, found: &Value) -> Failure {
    const LONGEST: usize = 60;
    let mut found = found.to_string();
    if let Some((end, _)) = found.char_indices().nth(LONGEST) {
        found.truncate(end);
        found.push('…');
    }
    Failure::usage(format!("`{name}` is {expected}, not {found}"))
        .hint("call again with that changed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn arguments(values: &Value) -> Arguments {
        Arguments::new(values.as_object().expect("an object").clone())
    }

    fn some(texts: &[&str]) -> Option<Vec<String>> {
        Some(texts.iter().map(|&text| text.to_owned()).collect())
    }

    #[test]
    fn what_is_meant_is_taken() {
        let mut sent = arguments(&json!({
            "item": 12, "keywords": "a, b", "ids": "[3, \"7\"]", "one": 3.0, "score": "2.5", "limit": "5",
            "five": 5.0, "all": "true", "none": null, "nothing": "", "typo": 1,
        }));
        assert_eq!(sent.text("item").ok().flatten().as_deref(), Some("12"));
        assert_eq!(
            sent.list("keywords").ok().flatten().as_deref(),
            Some("a, b")
        );
        assert_eq!(sent.texts("ids").ok().flatten(), some(&["3", "7"]));
        assert_eq!(sent.texts("one").ok().flatten(), some(&["3"]));
        assert_eq!(
            sent.score("score").ok().flatten().map(Score::value),
            Some(2.5)
        );
        assert_eq!(sent.count("limit").ok().flatten(), Some(5));
        assert_eq!(sent.count("five").ok().flatten(), Some(5));
        assert_eq!(sent.flag("all").ok(), Some(true));
        assert_eq!(sent.flag("none").ok(), Some(false));
        assert_eq!(sent.texts("nothing").ok().flatten(), some(&[]));
        assert_eq!(sent.unknown().len(), 1);
    }

    #[test]
    fn only_words_are_a_quote() {
        for (sent, taken) in [
            (json!("never again"), Some(Some("never again"))),
            (json!("不要了"), Some(Some("不要了"))),
            (json!(""), Some(None)),
            (json!("  \u{2800} "), Some(None)),
            (json!("-"), Some(None)),
            (json!("None"), Some(None)),
            (json!("\"n/a\""), Some(None)),
            (json!(false), None),
            (json!(0), None),
            (json!(["yes"]), None),
        ] {
            let mut sent = arguments(&json!({ "quote": sent }));
            assert_eq!(
                sent.quote().ok(),
                taken.map(|quote| quote.map(str::to_owned))
            );
        }
    }

    #[test]
    fn names_of_the_command_line_are_taken_and_others_refused() {
        let mut sent = arguments(&json!({"item": "a", "pattern": "@emoji", "keyword": "b"}));
        sent.under(&[("pattern", "patterns"), ("keyword", "keywords")]);
        assert!(sent.only(&["item", "patterns", "keywords"]).is_ok());
        let refused = sent.only(&["item", "patterns"]).err();
        assert!(refused.is_some_and(|error| error.to_string().contains("`keywords`")));
        assert_eq!(sent.texts("patterns").ok().flatten(), some(&["@emoji"]));
    }

    #[test]
    fn what_cannot_be_meant_is_named() {
        let mut sent = arguments(&json!({
            "item": ["a"], "keywords": [["a"]], "score": "much", "limit": 0, "all": "perhaps", "high": 11,
        }));
        let messages = [
            sent.text("item").err().map(|error| error.to_string()),
            sent.texts("keywords").err().map(|error| error.to_string()),
            sent.score("score").err().map(|error| error.to_string()),
            sent.count("limit").err().map(|error| error.to_string()),
            sent.flag("all").err().map(|error| error.to_string()),
        ];
        for (message, name) in messages
            .iter()
            .zip(["item", "keywords", "score", "limit", "all"])
        {
            let message = message.as_deref().unwrap_or_default();
            assert!(message.contains(&format!("`{name}`")), "{name}: {message}");
        }
        assert!(sent.score("high").is_err());
        assert!(sent.needed("item").is_err());
    }
}
