//! The three formats on the wire: what a request and its headers are, and where in an answer the model's words are.

use serde_json::{Value, json};

use super::LlmError;
use super::client::Reply;
use super::prompt::{Prompt, most_tokens};
use super::provider::{Format, Provider};

/// The name under which the schema is sent.
const TOOL: &str = "record_preferences";
const ANTHROPIC_VERSION: &str = "2023-06-01";
/// OpenAI's own service has a name of its own for the limit and takes no temperature with some models.
const OPENAI_HOST: &str = "api.openai.com";

/// The JSON schema of an answer.
pub fn schema() -> Value {
    let words = json!({"type": "array", "items": {"type": "string"}});
    json!({
        "type": "object",
        "properties": {
            "preferences": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "turn": {"type": "integer"},
                        "quote": {"type": "string"},
                        "item": {"type": "string"},
                        "score": {"type": "number"},
                        "kind": {"type": "string", "enum": [
                            "always", "never", "like", "dislike", "praise", "complaint",
                            "correction", "habit", "decision", "remember", "imperative",
                        ]},
                        "keywords": words,
                        "scenarios": words,
                    },
                    "required": ["turn", "quote", "item", "score", "kind", "keywords", "scenarios"],
                    "additionalProperties": false,
                },
            },
        },
        "required": ["preferences"],
        "additionalProperties": false,
    })
}

/// How much of the form of an answer a request asks for. What a service refuses is not asked of it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// The schema, as the format has it.
    Schema,
    /// "A JSON object", with the schema beside it, as older servers of the OpenAI format have it.
    Object,
    /// Nothing but the prompt, which describes the form in words; without what else a model may not take.
    Plain,
}

impl Shape {
    /// What is tried when this is refused.
    pub(super) fn next(self, format: Format) -> Option<Shape> {
        match self {
            Shape::Schema if format == Format::OpenAi => Some(Shape::Object),
            Shape::Schema | Shape::Object => Some(Shape::Plain),
            Shape::Plain => None,
        }
    }

    /// Whether a service refuses it. Some servers have a status of their own fault for a field that they do not know.
    pub(super) fn is_refused(self, status: u16, body: &[u8]) -> bool {
        let names_it = || {
            let text = String::from_utf8_lossy(body);
            text.contains("response_format") || text.contains("json_schema")
        };
        self != Shape::Plain
            && (matches!(status, 400 | 422) || (matches!(status, 500 | 501) && names_it()))
    }
}

/// The body of a request.
pub(super) fn request(provider: &Provider, prompt: &Prompt, shape: Shape) -> Value {
    let (system, user) = (&prompt.system, &prompt.user);
    let conversation =
        if provider.format == Format::OpenAi && (provider.loopback || shape == Shape::Plain) {
            // Some servers refuse a system's words or, for models that were taught none, leave them out without saying so.
            json!([{"role": "user", "content": prompt.shown()}])
        } else {
            json!([
                {"role": "system", "content": system},
                {"role": "user", "content": user},
            ])
        };
    let model = &provider.model;
    let most = provider.max_tokens;
    let mut body = match provider.format {
        Format::Anthropic => json!({
            "model": model,
            "max_tokens": most,
            "system": system,
            "messages": [{"role": "user", "content": user}],
        }),
        Format::OpenAi if provider.host == OPENAI_HOST => json!({
            "model": model,
            "max_completion_tokens": most,
            "messages": conversation,
        }),
        Format::OpenAi => json!({
            "model": model,
            "max_tokens": most,
            "messages": conversation,
            "stream": false,
        }),
        Format::Ollama => json!({
            "model": model,
            "messages": conversation,
            "stream": false,
            "options": {
                "temperature": 0,
                "num_predict": most,
                // Its default context is short, and what does not fit is cut off without a word.
                "num_ctx": (most_tokens(system.len() + user.len()) + most as usize).next_multiple_of(1024),
            },
        }),
    };
    if shape == Shape::Plain {
        return body;
    }
    match provider.format {
        Format::Anthropic => {
            body["temperature"] = json!(0);
            body["tools"] = json!([{
                "name": TOOL,
                "description": "Records the lasting preferences found in the turns.",
                "input_schema": schema(),
            }]);
            body["tool_choice"] = json!({"type": "tool", "name": TOOL});
        }
        Format::OpenAi => {
            if provider.host != OPENAI_HOST {
                body["temperature"] = json!(0);
            }
            body["response_format"] = match shape {
                Shape::Object => json!({"type": "json_object", "schema": schema()}),
                _ => json!({
                    "type": "json_schema",
                    "json_schema": {"name": TOOL, "strict": true, "schema": schema()},
                }),
            };
        }
        Format::Ollama => body["format"] = schema(),
    }
    body
}

/// The headers of a request, the key among them.
pub(super) fn headers(provider: &Provider) -> Vec<(&'static str, String)> {
    let mut headers = vec![
        ("content-type", "application/json".to_owned()),
        ("accept", "application/json".to_owned()),
    ];
    if provider.format == Format::Anthropic {
        headers.push(("anthropic-version", ANTHROPIC_VERSION.to_owned()));
    }
    if let Some(key) = &provider.key {
        headers.push(match provider.format {
            Format::Anthropic => ("x-api-key", key.value.clone()),
            Format::OpenAi | Format::Ollama => ("authorization", format!("Bearer {}", key.value)),
        });
    }
    headers
}

/// Finds the model's words in an answer.
pub(super) fn reply(provider: &Provider, body: &[u8]) -> Result<Reply, LlmError> {
    let form = |reason: String| LlmError::Form {
        host: provider.host.clone(),
        format: provider.format.name(),
        reason,
    };
    let body: Value =
        serde_json::from_slice(body).map_err(|error| form(format!("not JSON ({error})")))?;
    let (text, ending) = match provider.format {
        Format::Anthropic => (anthropic_text(&body["content"]), &body["stop_reason"]),
        Format::OpenAi => {
            let choice = &body["choices"][0];
            if choice["message"]["refusal"].is_string() {
                return Err(LlmError::Declined);
            }
            let text = text_of(&choice["message"]["content"]);
            (text, &choice["finish_reason"])
        }
        Format::Ollama => (text_of(&body["message"]["content"]), &body["done_reason"]),
    };
    let ending = ending.as_str().unwrap_or_default();
    if matches!(ending, "refusal" | "content_filter") {
        return Err(LlmError::Declined);
    }
    let cut = matches!(
        ending,
        "max_tokens" | "length" | "model_context_window_exceeded"
    );
    match text {
        Some(text) => Ok(Reply { text, cut }),
        None if cut => Ok(Reply {
            text: String::new(),
            cut,
        }),
        None => Err(form("it holds no text of the model".to_owned())),
    }
}

/// The tool's input where the model called it, else what it wrote.
fn anthropic_text(content: &Value) -> Option<String> {
    let blocks = content.as_array()?;
    let tool = blocks.iter().find(|block| block["type"] == "tool_use");
    match tool {
        Some(tool) => Some(tool["input"].to_string()),
        None => text_of(content),
    }
}

/// A text, or the texts of several parts one after the other.
fn text_of(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts
                .iter()
                .filter_map(|part| part["text"].as_str())
                .collect();
            (!texts.is_empty()).then(|| texts.concat())
        }
        _ => None,
    }
}

/// What a service says about an error: its own message, where it has one.
pub(super) fn complaint(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let Ok(value) = serde_json::from_str::<Value>(&text) else {
        return text.into_owned();
    };
    [
        &value["error"]["message"],
        &value["error"],
        &value["message"],
        &value["detail"],
    ]
    .into_iter()
    .find_map(Value::as_str)
    .map_or_else(|| text.clone().into_owned(), str::to_owned)
}
