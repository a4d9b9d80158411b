//! What the hosts send. Names of fields differ by host and version, so that each is looked for under all of its names, and
//! what is missing or of another type reads as not there.

use serde_json::{Map, Value};

use super::super::json::with_whole_surrogates;
use super::planned::planned;
use super::{Call, Caller, Moment, scan};

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
                Moment::Tool(ref planned) if !planned.is_empty() => Ok(call),
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
pub(super) fn text<'p>(payload: &'p Map<String, Value>, names: &[&str]) -> Option<&'p str> {
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
