//! What can be made out of a payload that is no JSON as a reader takes it: cut off, nested too deep, or with a number that
//! is too large. Its texts stand there all the same, and what an agent is about to do is among them.

use serde_json::{Map, Value};

use super::super::json::with_whole_surrogates;
use super::planned::{ARGUMENTS, COMMANDS, PATHS, line_of};

/// Members that say something about the call, and nothing that is written or run.
const ABOUT: [&str; 16] = [
    "session_id",
    "sessionId",
    "sessionID",
    "conversation_id",
    "trajectory_id",
    "hook_event_name",
    "hookEventName",
    "agent_action_name",
    "tool_name",
    "toolName",
    "tool",
    "tool_use_id",
    "transcript_path",
    "transcriptPath",
    "cwd",
    "permission_mode",
];

/// A text, and the member in which it stands.
struct Found {
    name: String,
    text: String,
    /// Whether it is one more of a list.
    is_next: bool,
}

/// The texts of a payload by the names of their members, as if no object were in another; the arguments of the tool stand
/// in an object of their own too.
pub(super) fn flat(sent: &str) -> Map<String, Value> {
    let mut found = Vec::new();
    texts(sent, true, &mut found);
    let mut payload = Map::new();
    let mut arguments: Map<String, Value> = Map::new();
    for name in COMMANDS {
        if let Some(command) = command(&found, name) {
            arguments.insert(name.to_owned(), Value::String(command));
        }
    }
    for Found { name, text, .. } in found {
        if ABOUT.contains(&name.as_str()) {
            payload.entry(name).or_insert_with(|| Value::String(text));
        } else if !COMMANDS.contains(&name.as_str()) {
            payload
                .entry(name.clone())
                .or_insert_with(|| Value::String(text.clone()));
            match arguments.get_mut(&name) {
                Some(Value::Array(all)) => all.push(Value::String(text)),
                Some(Value::String(first)) => {
                    let all = [std::mem::take(first), text].map(Value::String);
                    arguments.insert(name, Value::Array(all.to_vec()));
                }
                _ => {
                    arguments.insert(name, Value::String(text));
                }
            }
        }
    }
    // A path alone is read as text; that there are several does not make it another.
    for path in PATHS {
        if let Some(Value::Array(all)) = arguments.get(path) {
            let first = all[0].clone();
            arguments.insert(path.to_owned(), first);
        }
    }
    for name in ARGUMENTS {
        payload.remove(name);
    }
    payload.insert(ARGUMENTS[0].to_owned(), Value::Object(arguments));
    payload
}

/// The command lines of one name: the words of a list are one, others a line each.
fn command(found: &[Found], name: &str) -> Option<String> {
    let mut lines: Vec<Vec<&str>> = Vec::new();
    for one in found.iter().filter(|one| one.name == name) {
        match lines.last_mut() {
            Some(line) if one.is_next => line.push(&one.text),
            _ => lines.push(vec![&one.text]),
        }
    }
    let lines: Vec<String> = lines
        .into_iter()
        .map(|words| match words[..] {
            [one] => one.to_owned(),
            _ => line_of(&words),
        })
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn texts(sent: &str, is_outer: bool, found: &mut Vec<Found>) {
    let mut name = String::new();
    let mut rest = sent;
    // Whether a text stands before in the same list.
    let mut is_next = false;
    while let Some(at) = rest.find('"') {
        is_next &= !rest[..at].contains('{');
        let inner = &rest[at + 1..];
        let mut is_escaped = false;
        let end = inner.bytes().position(|byte| {
            let is_end = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            is_end
        });
        let text = unescaped(&inner[..end.unwrap_or(inner.len())]);
        rest = end.map_or("", |end| &inner[end + 1..]);
        let behind = rest.trim_start();
        if let Some(value) = behind.strip_prefix(':') {
            name = text;
            rest = value;
            is_next = false;
            continue;
        }
        // The arguments themselves may be written as a text.
        if is_outer && ARGUMENTS.contains(&name.as_str()) && text.trim_start().starts_with('{') {
            texts(&text, false, found);
            continue;
        }
        found.push(Found {
            name: name.clone(),
            text,
            is_next,
        });
        is_next = true;
    }
}

/// The text of a JSON string, as far as it can be read.
fn unescaped(inner: &str) -> String {
    // Where it was cut off, the last escape may be cut too.
    for cut in 0..=6 {
        let Some(end) = inner.len().checked_sub(cut) else {
            break;
        };
        let Some(whole) = inner.get(..end) else {
            continue;
        };
        let quoted = format!("\"{whole}\"");
        if let Ok(text) = serde_json::from_str::<String>(&quoted) {
            return text;
        }
        if let Some(text) = with_whole_surrogates(quoted.as_bytes())
            .and_then(|bytes| serde_json::from_slice::<String>(&bytes).ok())
        {
            return text;
        }
    }
    inner
        .replace("\\n", "\n")
        .replace("\\\"", "\"")
        .replace("\\\\", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case(
        r#"{"tool_name":"Bash","tool_input":{"command":"a \"b\"\n"}}"#,
        json!({"tool_name": "Bash", "tool_input": {"command": "a \"b\"\n"}})
    )]
    #[case(
        r#"{"tool_input":{"n":1e999,"command":["git","push","a b"],"x":[["y"]]}}"#,
        json!({"tool_input": {"command": "git push 'a b'", "x": "y"}, "x": "y"})
    )]
    #[case(
        r#"{"toolName":"edit","toolArgs":"{\"path\":\"p\",\"new_str\":\"t"#,
        json!({"toolName": "edit", "path": "p", "new_str": "t", "tool_input": {"path": "p", "new_str": "t"}})
    )]
    #[case(
        r#"{"tool_input":{"edits":[{"new_string":"a"},{"new_string":"b\u00"#,
        json!({"new_string": "a", "tool_input": {"new_string": ["a", "b"]}})
    )]
    #[case(r#"{"a":{"command":"x"},"b":{"command":"y"}}"#, json!({"tool_input": {"command": "x\ny"}}))]
    #[case("no json", json!({"tool_input": {}}))]
    fn the_texts_are_found_whatever_is_around_them(#[case] sent: &str, #[case] wanted: Value) {
        assert_eq!(Value::Object(flat(sent)), wanted);
    }
}
