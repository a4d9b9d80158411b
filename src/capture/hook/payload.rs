//! What the hosts send. Names of fields differ by host and version, so that each is looked for under all of its names, and
//! what is missing or of another type reads as not there.

use serde_json::{Map, Value};

use super::super::json::with_whole_surrogates;
use super::{Call, Caller, Moment, Planned, scan};

/// Fields of edits that hold what is there already, not what is written.
const OLD_TEXT: [&str; 5] = ["old_string", "old_str", "oldString", "oldText", "old_text"];
/// Tools that write into files, by their names in small letters.
const WRITERS: [&str; 14] = [
    "write",
    "edit",
    "multiedit",
    "notebookedit",
    "create",
    "insert",
    "str_replace",
    "str_replace_editor",
    "str_replace_based_edit_tool",
    "write_file",
    "edit_file",
    "replace",
    "apply_patch",
    "patch",
];
/// Fields that name a file.
pub(super) const PATHS: [&str; 6] = [
    "file_path",
    "filePath",
    "path",
    "filename",
    "notebook_path",
    "target_file",
];
/// Fields that hold a command line.
pub(super) const COMMANDS: [&str; 3] = ["command", "command_line", "cmd"];
/// Fields that hold the arguments of a tool.
pub(super) const ARGUMENTS: [&str; 6] = [
    "tool_input",
    "toolArgs",
    "tool_info",
    "args",
    "input",
    "params",
];

pub(super) fn read(caller: Caller, event: Option<&str>, sent: &str) -> Result<Call, String> {
    let sent = sent.trim().trim_start_matches('\u{feff}');
    let parsed = serde_json::from_str::<Value>(sent).or_else(|error| {
        // Half of a surrogate pair, as a host writes where it cut a text within an emoji.
        let whole = with_whole_surrogates(sent.as_bytes()).ok_or(error)?;
        serde_json::from_slice(&whole)
    });
    match parsed {
        Ok(Value::Object(payload)) => Ok(call(caller, event, &payload)),
        Ok(_) => Err("what the host sent is no JSON object".to_owned()),
        Err(error) => {
            // What is about to be done is looked at, however it was sent.
            let call = call(caller, event, &scan::flat(sent));
            match call.moment {
                Moment::Tool(ref planned) if *planned != Planned::Nothing => Ok(call),
                _ => Err(format!("what the host sent is no JSON: {error}")),
            }
        }
    }
}

fn call(caller: Caller, event: Option<&str>, payload: &Map<String, Value>) -> Call {
    let event = text(
        payload,
        &["hook_event_name", "hookEventName", "agent_action_name"],
    )
    .or(event)
    .unwrap_or_default()
    .to_owned();
    let session = text(
        payload,
        &[
            "session_id",
            "sessionId",
            "sessionID",
            "conversation_id",
            "trajectory_id",
        ],
    )
    .map(str::to_owned);
    let inner = payload.get("tool_info").and_then(Value::as_object);
    let paths = ["transcript_path", "transcriptPath"];
    let transcript = text(payload, &paths)
        .or_else(|| text(inner?, &paths))
        .map(Into::into);
    let moment = moment(caller, &event, payload);
    Call {
        caller,
        event,
        session,
        transcript,
        moment,
    }
}

/// The first of these fields that holds a text.
fn text<'p>(payload: &'p Map<String, Value>, names: &[&str]) -> Option<&'p str> {
    names
        .iter()
        .filter_map(|name| payload.get(*name)?.as_str())
        .find(|text| !text.trim().is_empty())
}

fn moment(caller: Caller, event: &str, payload: &Map<String, Value>) -> Moment {
    // `SessionStart`, `sessionStart` and `session_start` are one event.
    let plain: String = event
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    match plain.as_str() {
        "sessionstart" => Moment::Start,
        "userpromptsubmit"
        | "userpromptsubmitted"
        | "beforeagent"
        | "beforesubmitprompt"
        | "preuserprompt"
        | "prompt" => prompt(payload).map_or(Moment::Other, Moment::Prompt),
        "pretooluse"
        | "permissionrequest"
        | "beforetool"
        | "beforeshellexecution"
        | "beforemcpexecution"
        | "preruncommand"
        | "prewritecode"
        | "premcptooluse"
        | "pretool" => Moment::Tool(planned(caller, &plain, payload)),
        "stop"
        | "agentstop"
        | "sessionend"
        | "precompact"
        | "precompress"
        | "afteragent"
        | "postcascaderesponsewithtranscript" => Moment::Over,
        // Copilot's small payloads do not say which event they are of.
        "" if text(payload, &["toolName", "tool_name"]).is_some()
            && !payload.contains_key("toolResult")
            && !payload.contains_key("tool_result") =>
        {
            Moment::Tool(planned(caller, "pretooluse", payload))
        }
        _ => Moment::Other,
    }
}

fn prompt(payload: &Map<String, Value>) -> Option<String> {
    let inner = payload.get("tool_info").and_then(Value::as_object);
    text(payload, &["prompt", "user_prompt"])
        .or_else(|| text(inner?, &["user_prompt", "prompt"]))
        .map(str::to_owned)
}

/// The arguments of a tool: an object, or one that is written as text.
fn arguments(payload: &Map<String, Value>) -> Map<String, Value> {
    for name in ARGUMENTS {
        match payload.get(name) {
            Some(Value::Object(arguments)) => return arguments.clone(),
            Some(Value::String(text)) => match serde_json::from_str(text) {
                Ok(Value::Object(arguments)) => return arguments,
                Err(_) if text.trim_start().starts_with('{') => {
                    let mut found = scan::flat(text);
                    if let Some(Value::Object(arguments)) = found.remove(ARGUMENTS[0]) {
                        return arguments;
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }
    Map::new()
}

fn planned(caller: Caller, event: &str, payload: &Map<String, Value>) -> Planned {
    let arguments = arguments(payload);
    let tool = text(payload, &["tool_name", "toolName", "tool"]).unwrap_or_default();
    let plain = tool.to_ascii_lowercase();
    let is_mcp = plain.starts_with("mcp_")
        || payload.contains_key("mcp_context")
        || matches!(event, "beforemcpexecution" | "premcptooluse");
    let mut skipped: Vec<&str> = OLD_TEXT.to_vec();
    skipped.extend(PATHS);
    if is_mcp {
        return Planned::Text(strings(&Value::Object(arguments), &skipped));
    }
    // `create` may be sent with a verb that is called `command`, as well as with text.
    let writes = event == "prewritecode" || WRITERS.contains(&plain.as_str());
    // Cursor sends the command of its shell event at the top.
    let command = command(&arguments).or_else(|| command(payload));
    let is_patch = matches!(plain.as_str(), "apply_patch" | "patch");
    let is_in_command = plain == "apply_patch" || writes && caller == Caller::Codex;
    if let Some(text) = command.clone().filter(|_| is_in_command) {
        return Planned::Edit {
            path: None,
            text,
            is_patch: true,
        };
    }
    if writes {
        skipped.extend(COMMANDS);
        let arguments = Value::Object(arguments);
        return Planned::Edit {
            path: path(&arguments),
            text: strings(&arguments, &skipped),
            is_patch,
        };
    }
    command.map_or(Planned::Nothing, Planned::Command)
}

/// The file that is named first, the outer ones before those within.
fn path(value: &Value) -> Option<String> {
    match value {
        Value::Object(members) => text(members, &PATHS)
            .map(str::to_owned)
            .or_else(|| members.values().find_map(path)),
        Value::Array(values) => values.iter().find_map(path),
        _ => None,
    }
}

/// A command line: as it is, or from its words.
fn command(from: &Map<String, Value>) -> Option<String> {
    if let Some(command) = text(from, &COMMANDS) {
        return Some(command.to_owned());
    }
    COMMANDS.iter().find_map(|name| {
        let words = from.get(*name)?.as_array()?;
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        (!words.is_empty()).then(|| line_of(&words))
    })
}

/// Words as a command line.
pub(super) fn line_of(words: &[&str]) -> String {
    let quoted = |word: &&str| {
        if word.contains(char::is_whitespace) {
            format!("'{}'", word.replace('\'', "'\\''"))
        } else {
            (*word).to_owned()
        }
    };
    let words: Vec<String> = words.iter().map(quoted).collect();
    words.join(" ")
}

/// Every text within a value but those of these fields, a line each.
fn strings(value: &Value, skipped: &[&str]) -> String {
    fn gather(value: &Value, skipped: &[&str], found: &mut String) {
        match value {
            Value::String(text) => {
                if !found.is_empty() {
                    found.push('\n');
                }
                found.push_str(text);
            }
            Value::Array(values) => values.iter().for_each(|one| gather(one, skipped, found)),
            Value::Object(members) => members
                .iter()
                .filter(|(name, _)| !skipped.contains(&name.as_str()))
                .for_each(|(_, one)| gather(one, skipped, found)),
            _ => {}
        }
    }
    let mut found = String::new();
    gather(value, skipped, &mut found);
    found
}
