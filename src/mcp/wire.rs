//! A line of JSON-RPC as a message of the SDK, and the other way round, for what this server speaks and no more: a wrong message
//! is told what is wrong with it, and the readers of everything else stay out of the program.

use std::collections::HashSet;

use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientCapabilities, ClientNotification,
    ClientRequest, CustomRequest, DiscoverRequest, DiscoverRequestParams, ErrorCode, ErrorData,
    GetMeta, Implementation, InitializeRequest, InitializeRequestParams, JsonObject,
    JsonRpcMessage, PingRequest, ProtocolVersion, RequestId, ServerResult,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use serde::Serialize;
use serde_json::{Value, json};

use crate::redact::redact;

/// What became of a line.
pub(super) enum Heard {
    /// A message for the SDK.
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    /// The answer to something that is no message.
    Refused(String),
    /// Nothing that needs an answer.
    Nothing,
}

/// What has been heard so far.
#[derive(Default)]
pub(super) struct State {
    /// The requests that have not been answered.
    unanswered: HashSet<RequestId>,
    /// Those of them that need not be: their ids stay taken, since what works on them may not have noticed.
    cancelled: HashSet<RequestId>,
    /// Whether a request has been made that others can follow: until then, the SDK takes a notification for the end.
    begun: bool,
}

impl State {
    /// Reads a line.
    pub(super) fn hear(&mut self, line: &[u8]) -> Heard {
        if line.trim_ascii().is_empty() {
            return Heard::Nothing;
        }
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        let message = match serde_json::from_slice(line) {
            Ok(Value::Object(message)) => message,
            Ok(Value::Array(_)) => {
                return refused(None, invalid("one message a line: no batches"));
            }
            Ok(_) => return refused(None, invalid("a message is an object")),
            Err(error) => {
                return refused(
                    None,
                    ErrorData::parse_error(format!("not JSON: {error}"), None),
                );
            }
        };
        self.message(message)
    }

    fn message(&mut self, mut message: JsonObject) -> Heard {
        let id = match message.get("id") {
            None => None,
            Some(id) => match request_id(id) {
                Some(id) => Some(id),
                None => return refused(None, invalid("the id is neither a text nor an integer")),
            },
        };
        let Some(method) = message.get("method").and_then(Value::as_str) else {
            // An answer to a question that was never asked.
            if message.contains_key("result") || message.contains_key("error") {
                return Heard::Nothing;
            }
            return refused(id, invalid("there is no method"));
        };
        let method = method.to_owned();
        if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return match id {
                None => Heard::Nothing,
                id => refused(id, invalid("jsonrpc is \"2.0\"")),
            };
        }
        let params = match message.remove("params") {
            None | Some(Value::Null) => JsonObject::new(),
            Some(Value::Object(params)) => params,
            Some(_) if id.is_none() => return Heard::Nothing,
            Some(_) => return refused(id, wrong("params is an object")),
        };
        let Some(id) = id else {
            return self.notification(&method, &params);
        };
        if self.unanswered.contains(&id) {
            // Whoever reads the answers could not tell whose this is, so it goes under no id.
            return refused(
                None,
                invalid(format!("a request with the id {id} is not answered yet")),
            );
        }
        match request(method, params) {
            Ok(request) => {
                self.begun |= begins(&request);
                self.unanswered.insert(id.clone());
                Heard::Message(Box::new(JsonRpcMessage::request(request, id)))
            }
            Err(error) => refused(Some(id), error),
        }
    }

    /// Takes note of a message that goes out.
    pub(super) fn tell(&mut self, message: &TxJsonRpcMessage<RoleServer>) {
        let answered = match message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(told) => told.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        if let Some(id) = answered {
            self.unanswered.remove(id);
            self.cancelled.remove(id);
        }
    }

    /// Whether an answer is still to be given.
    pub(super) fn is_busy(&self) -> bool {
        self.unanswered.len() > self.cancelled.len()
    }

    fn notification(&mut self, method: &str, params: &JsonObject) -> Heard {
        let cancelled = (self.begun && method == "notifications/cancelled")
            .then(|| request_id(params.get("requestId")?))
            .flatten();
        match cancelled {
            None => Heard::Nothing,
            Some(id) => {
                if self.unanswered.contains(&id) {
                    self.cancelled.insert(id.clone());
                }
                let params = CancelledNotificationParam::new(Some(id), None);
                let notification =
                    ClientNotification::CancelledNotification(CancelledNotification::new(params));
                Heard::Message(Box::new(JsonRpcMessage::notification(notification)))
            }
        }
    }
}

/// Whether the SDK lets others follow this request.
fn begins(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => {
            let meta = request.get_meta();
            let newest = &ProtocolVersion::LATEST;
            let version = meta.protocol_version();
            meta.missing_required_keys(newest).is_empty()
                && version.is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
        }
    }
}

fn request(method: String, mut params: JsonObject) -> Result<ClientRequest, ErrorData> {
    let meta = params.remove("_meta");
    let mut request = match method.as_str() {
        "initialize" => {
            let Some(Value::String(version)) = params.remove("protocolVersion") else {
                return Err(wrong("protocolVersion is missing, or no text"));
            };
            let version = ProtocolVersion::KNOWN_VERSIONS
                .iter()
                .find(|known| known.as_str() == version)
                .unwrap_or(&ProtocolVersion::LATEST_WITH_INITIALIZE);
            let client = |field: &str| {
                let client = params
                    .get("clientInfo")
                    .and_then(|client| client.get(field));
                client.and_then(Value::as_str).unwrap_or_default()
            };
            let client = Implementation::new(client("name"), client("version"));
            let params = InitializeRequestParams::new(ClientCapabilities::default(), client)
                .with_protocol_version(version.clone());
            ClientRequest::InitializeRequest(InitializeRequest::new(params))
        }
        "server/discover" => {
            let params = DiscoverRequestParams::default();
            ClientRequest::DiscoverRequest(DiscoverRequest::new(params))
        }
        "ping" => ClientRequest::PingRequest(PingRequest::default()),
        _ => ClientRequest::CustomRequest(CustomRequest::new(method, Some(params.into()))),
    };
    if let Some(Value::Object(meta)) = meta {
        *request.get_meta_mut() = meta.into();
    }
    Ok(request)
}

fn request_id(id: &Value) -> Option<RequestId> {
    match id {
        Value::String(id) => Some(RequestId::String(id.as_str().into())),
        id => id.as_i64().map(RequestId::Number),
    }
}

/// The answer to a line that is too long to be read.
pub(super) fn too_long(most: u64) -> String {
    let message = format!("a message has at most {most} bytes");
    error(None, invalid(message))
}

fn invalid(message: impl Into<String>) -> ErrorData {
    ErrorData::invalid_request(message.into(), None)
}

fn wrong(message: impl Into<String>) -> ErrorData {
    ErrorData::invalid_params(message.into(), None)
}

fn refused(id: Option<RequestId>, data: ErrorData) -> Heard {
    Heard::Refused(error(id, data))
}

/// Writes a message of the SDK on one line.
pub(super) fn written(message: TxJsonRpcMessage<RoleServer>) -> String {
    match message {
        JsonRpcMessage::Response(response) => {
            let result = match response.result {
                ServerResult::InitializeResult(result) => value(&result),
                ServerResult::DiscoverResult(result) => value(&result),
                ServerResult::EmptyResult(_) => Ok(json!({})),
                ServerResult::CustomResult(result) => Ok(result.0),
                _ => Err(ErrorData::internal_error("no such answer", None)),
            };
            match result {
                Ok(result) => {
                    let id = response.id.into_json_value();
                    json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
                }
                Err(data) => error(Some(response.id), data),
            }
        }
        JsonRpcMessage::Error(told) => error(told.id, told.error),
        // This server asks nothing and announces nothing.
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => String::new(),
    }
}

fn value(result: &impl Serialize) -> Result<Value, ErrorData> {
    serde_json::to_value(result).map_err(|_| ErrorData::internal_error("cannot be written", None))
}

fn error(id: Option<RequestId>, data: ErrorData) -> String {
    let ErrorCode(code) = data.code;
    let mut told = json!({"code": code, "message": redact(&data.message).text});
    if let Some(data) = data.data {
        told["data"] = data;
    }
    let mut answer = json!({"jsonrpc": "2.0"});
    if let Some(id) = id {
        answer["id"] = id.into_json_value();
    }
    answer["error"] = told;
    answer.to_string()
}
