//! What the hosts are answered. A reply that a host cannot take becomes the empty one: one key too many would void it, and
//! what a host does with what it does not know is its own affair.

use serde_json::{Value, json};

use super::{Call, Caller, Moment};

/// What aizo has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Nothing: the host goes on as if nobody had been asked.
    Nothing,
    /// Something for the agent to know.
    Context(String),
    /// The action breaks a limit: it must not happen. With the limit, in the user's words.
    Deny(String),
    /// The action may break a limit: the person should decide.
    Ask(String),
}

/// What is written, and how the process ends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    /// One JSON value, or nothing.
    pub out: String,
    /// What the host reads from standard error.
    pub err: String,
    /// The exit code: 0, but for the one host that is denied an action by 2.
    pub code: u8,
}

impl Reply {
    /// The reply in the caller's shape.
    pub fn to(&self, call: &Call) -> Output {
        if let (Caller::Windsurf, Reply::Deny(reason), Moment::Tool(_)) =
            (call.caller, self, &call.moment)
        {
            return Output {
                err: reason.clone(),
                code: 2,
                ..Output::default()
            };
        }
        let value = match self {
            Reply::Nothing => None,
            Reply::Context(text) => context(call, text),
            Reply::Deny(reason) => deny(call, reason),
            Reply::Ask(reason) => ask(call, reason),
        };
        Output {
            out: value.map_or_else(String::new, |value| value.to_string()),
            ..Output::default()
        }
    }
}

impl Call {
    /// Whether the host takes anything that the agent should know at this moment.
    pub fn takes_context(&self) -> bool {
        match self.caller {
            Caller::Copilot | Caller::Cursor => self.moment == Moment::Start,
            Caller::Windsurf => false,
            _ => true,
        }
    }

    /// Whether the person is asked where aizo wants that: by the host for aizo, or by the host anyway.
    pub fn can_ask(&self) -> bool {
        match self.caller {
            Caller::ClaudeCode | Caller::Gemini | Caller::Copilot | Caller::OpenClaw => true,
            Caller::Codex => is_event(self, "PermissionRequest"),
            Caller::Cursor => !is_event(self, "preToolUse"),
            Caller::OpenCode | Caller::Windsurf => false,
        }
    }
}

fn context(call: &Call, text: &str) -> Option<Value> {
    let is_start = call.moment == Moment::Start;
    match call.caller {
        Caller::ClaudeCode | Caller::Codex | Caller::Gemini => Some(json!({
            "hookSpecificOutput": { "hookEventName": spelled(call), "additionalContext": text }
        })),
        // Both take what is to be known at the start alone.
        Caller::Copilot => is_start.then(|| json!({ "additionalContext": text })),
        Caller::Cursor => is_start.then(|| json!({ "additional_context": text })),
        Caller::OpenCode | Caller::OpenClaw => Some(json!({ "context": text })),
        Caller::Windsurf => None,
    }
}

/// The event as its host's replies spell it.
fn spelled(call: &Call) -> &str {
    [
        "SessionStart",
        "UserPromptSubmit",
        "BeforeAgent",
        "PreToolUse",
        "PermissionRequest",
    ]
    .into_iter()
    .find(|name| is_event(call, name))
    // An action that is about to happen is known by its tool where its event is not named.
    .unwrap_or(if call.event.is_empty() {
        "PreToolUse"
    } else {
        &call.event
    })
}

/// Whether it is this event, however a version spells it.
fn is_event(call: &Call, name: &str) -> bool {
    let plain = |text: &str| -> String {
        let letters = text.chars().filter(char::is_ascii_alphanumeric);
        letters.map(|c| c.to_ascii_lowercase()).collect()
    };
    plain(&call.event) == plain(name)
}

fn deny(call: &Call, reason: &str) -> Option<Value> {
    match call.caller {
        Caller::ClaudeCode | Caller::Codex if is_event(call, "PermissionRequest") => Some(json!({
            "hookSpecificOutput": {
                "hookEventName": "PermissionRequest",
                "decision": { "behavior": "deny", "message": reason }
            }
        })),
        Caller::ClaudeCode | Caller::Codex => Some(permission(call, "deny", reason)),
        Caller::Gemini => Some(json!({ "decision": "deny", "reason": reason })),
        Caller::Copilot => Some(json!({
            "permissionDecision": "deny", "permissionDecisionReason": reason
        })),
        Caller::Cursor => Some(json!({
            "permission": "deny", "user_message": reason, "agent_message": reason
        })),
        Caller::OpenCode | Caller::OpenClaw => Some(json!({ "deny": reason })),
        Caller::Windsurf => None,
    }
}

fn ask(call: &Call, reason: &str) -> Option<Value> {
    match call.caller {
        // The person is asked already.
        Caller::ClaudeCode | Caller::Codex if is_event(call, "PermissionRequest") => None,
        Caller::ClaudeCode => Some(permission(call, "ask", reason)),
        // Cannot ask; what the person reads is all there is.
        Caller::Codex => Some(json!({ "systemMessage": reason })),
        Caller::Gemini => Some(json!({ "decision": "ask", "systemMessage": reason })),
        Caller::Copilot => Some(json!({
            "permissionDecision": "ask", "permissionDecisionReason": reason
        })),
        // Its event for all tools does not ask.
        Caller::Cursor if is_event(call, "preToolUse") => None,
        Caller::Cursor => Some(json!({
            "permission": "ask", "user_message": reason, "agent_message": reason
        })),
        Caller::OpenCode | Caller::OpenClaw => Some(json!({ "ask": reason })),
        Caller::Windsurf => None,
    }
}

fn permission(call: &Call, decision: &str, reason: &str) -> Value {
    json!({
        "hookSpecificOutput": {
            "hookEventName": spelled(call),
            "permissionDecision": decision,
            "permissionDecisionReason": reason
        }
    })
}
