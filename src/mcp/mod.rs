//! The Model Context Protocol over standard input and output: which messages there are, in which revisions, and how a
//! long call keeps nobody else waiting. What is offered, a [`Desk`] says. The only place that knows the protocol's SDK and
//! its runtime; both are started here and nowhere else.

mod pipe;
mod wire;

use std::io;
use std::sync::Arc;

use rmcp::ServiceExt;
use rmcp::model::{
    ClientNotification, ClientRequest, CustomResult, DiscoverResult, ErrorCode, ErrorData,
    Implementation, ProtocolVersion, ServerCapabilities, ServerConfig, ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, Service};
use serde_json::{Map, Value, json};

use crate::present::to_json_line;

/// Calls are worked on one after the other, in the order they came: what is read sees what was written before it.
const MOST_AT_ONCE: usize = 1;
/// The form of every resource.
const JSON: &str = "application/json";

/// A JSON object.
type Object = Map<String, Value>;

/// What a server offers. Every method may take its time: it is called on a thread that nobody waits for.
pub trait Desk: Send + Sync + 'static {
    /// What an agent should know before it calls anything.
    fn instructions(&self) -> &'static str;

    /// The tools, always in the same order.
    fn tools(&self) -> Vec<Tool>;

    /// Calls a tool; none has that name where nothing comes back. A call that fails says so in words that help.
    fn call(&self, tool: &str, arguments: Map<String, Value>) -> Option<Result<Value, String>>;

    /// The resources that can be listed.
    fn resources(&self) -> Vec<Resource>;

    /// What a resource is called that need not be listed, with a `{name}` in it.
    fn template(&self) -> Resource;

    /// Reads a resource as JSON; none has that address where nothing comes back.
    fn read(&self, uri: &str) -> Result<Option<String>, String>;

    /// The prompt.
    fn prompt(&self) -> Prompt;

    /// What the prompt says to an agent.
    fn prompt_text(&self, arguments: Map<String, Value>) -> String;
}

/// A tool.
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// When and how to use it.
    pub description: String,
    /// The JSON schema of its arguments.
    pub input: Map<String, Value>,
    /// The JSON schema of its answer.
    pub output: Map<String, Value>,
    /// What it may do.
    pub hints: Hints,
}

/// What a tool may do. None of them reaches beyond the store.
#[derive(Clone, Copy)]
pub struct Hints {
    /// It changes nothing.
    pub reads_only: bool,
    /// It may take something away.
    pub destroys: bool,
    /// Calling it again with the same arguments changes nothing more.
    pub settles: bool,
}

/// Something that can be read, or how it is addressed.
pub struct Resource {
    /// Its address.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: String,
}

/// A text to begin with. All its arguments may be left out.
pub struct Prompt {
    /// Its name.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it is for.
    pub description: &'static str,
    /// Its arguments and what they mean.
    pub arguments: &'static [(&'static str, &'static str)],
}

/// Answers on standard output what comes on standard input, until either is closed.
///
/// # Errors
/// A runtime that cannot be started.
pub fn serve(desk: Arc<dyn Desk>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .max_blocking_threads(MOST_AT_ONCE)
        .build()?;
    let (pipe, written) = pipe::open();
    runtime.block_on(async {
        // What keeps a conversation from beginning is that the other end has gone.
        if let Ok(conversation) = Server(desk).serve(pipe).await {
            let _how_it_ended = conversation.waiting().await;
        }
    });
    written.wait();
    // Whoever still waits for the store waits for nobody.
    runtime.shutdown_background();
    Ok(())
}

/// A value on one line, in which no character hides.
pub fn line_of(value: &Value) -> String {
    let mut line = Vec::new();
    match to_json_line(value, &mut line) {
        Ok(()) => String::from_utf8_lossy(line.trim_ascii_end()).into_owned(),
        Err(_) => unreachable!("memory takes everything"),
    }
}

/// The server. The SDK opens the conversation, settles the revision, keeps the requests apart and drops the answers of those
/// that are cancelled; what is answered is said here, as the JSON that it is, since the SDK's own types for all that a server
/// could say are a large part of a megabyte.
struct Server(Arc<dyn Desk>);

impl Service<RoleServer> for Server {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        if let ClientRequest::InitializeRequest(asked) = &request {
            let config = self.handshake(&asked.params.protocol_version);
            return Ok(ServerResult::InitializeResult(config));
        }
        let era = Era::of(&request, &context)?;
        match request {
            ClientRequest::DiscoverRequest(_) => {
                let versions = self.supported_protocol_versions().into_owned();
                let found = DiscoverResult::from_server_info(versions, self.get_info());
                Ok(ServerResult::DiscoverResult(found))
            }
            ClientRequest::PingRequest(_) if era.has_ping => Ok(ServerResult::empty(())),
            ClientRequest::CustomRequest(asked) => {
                let params = match asked.params {
                    Some(Value::Object(params)) => params,
                    _ => Object::new(),
                };
                let answer = match listed(self.0.as_ref(), &asked.method) {
                    Some(list) => Ok(list),
                    None => self.work(&context, asked.method, params).await,
                };
                let answer = era.shaped(answer)?;
                Ok(ServerResult::CustomResult(CustomResult(answer)))
            }
            _ => Err(unknown_method()),
        }
    }

    async fn handle_notification(
        &self,
        _notification: ClientNotification,
        _context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .build();
        let aizo = Implementation::new("aizo", env!("CARGO_PKG_VERSION")).with_title("aizo");
        ServerConfig::new(capabilities)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
            .with_server_info(aizo)
            .with_instructions(self.0.instructions())
    }
}

impl Server {
    /// The answer to another handshake. The SDK settles the revision of the first only.
    fn handshake(&self, asked: &ProtocolVersion) -> ServerConfig {
        let config = self.get_info();
        let is_known = asked.has_initialize() && ProtocolVersion::KNOWN_VERSIONS.contains(asked);
        match is_known {
            true => config.with_protocol_version(asked.clone()),
            false => config,
        }
    }

    /// Answers on a thread of its own, unless the request is cancelled before its turn.
    async fn work(
        &self,
        context: &RequestContext<RoleServer>,
        method: String,
        params: Object,
    ) -> Result<Answer, ErrorData> {
        let desk = Arc::clone(&self.0);
        let cancelled = context.ct.clone();
        let done = tokio::task::spawn_blocking(move || {
            (!cancelled.is_cancelled()).then(|| answer(desk.as_ref(), &method, params))
        });
        match done.await {
            Ok(Some(answer)) => answer,
            _ => Err(ErrorData::internal_error("the request was cancelled", None)),
        }
    }
}

/// What differs between the revisions.
struct Era {
    /// Results say that they are complete, and for how long they hold.
    is_newest: bool,
    /// There are pings.
    has_ping: bool,
}

impl Era {
    /// The revision of a request: the one it names, else the one that the handshake settled.
    fn of(
        request: &ClientRequest,
        context: &RequestContext<RoleServer>,
    ) -> Result<Self, ErrorData> {
        let known = ProtocolVersion::KNOWN_VERSIONS;
        let named = context.meta.protocol_version();
        if let Some(version) = named.as_ref().filter(|version| !known.contains(version)) {
            return Err(ErrorData::unsupported_protocol_version(
                version.clone(),
                known,
            ));
        }
        let is_newest = named.is_some_and(|version| !version.has_initialize());
        let has_shaken_hands = context.peer.peer_info().is_some();
        let is_discovery = matches!(request, ClientRequest::DiscoverRequest(_));
        let stands_alone = is_newest || is_discovery || !has_shaken_hands;
        if stands_alone {
            let missing = context
                .meta
                .missing_required_keys(&ProtocolVersion::NO_INITIALIZE);
            if !missing.is_empty() {
                let message = format!("_meta has no {}", missing.join(" and no "));
                return Err(ErrorData::invalid_params(message, None));
            }
        }
        Ok(Era {
            is_newest,
            has_ping: !stands_alone,
        })
    }

    /// An answer, or what kept it from being given, as the revision wants it.
    fn shaped(&self, answer: Result<Answer, ErrorData>) -> Result<Value, ErrorData> {
        let answer = answer.map_err(|mut error| {
            if self.is_newest && error.code == ErrorCode::RESOURCE_NOT_FOUND {
                error.code = ErrorCode::INVALID_PARAMS;
            }
            error
        })?;
        let mut result = answer.result;
        if self.is_newest {
            result.insert("resultType".to_owned(), "complete".into());
            if answer.may_be_kept {
                result.insert("ttlMs".to_owned(), 0.into());
                result.insert("cacheScope".to_owned(), "private".into());
            }
        }
        Ok(result.into())
    }
}

/// An answer as it is in every revision.
struct Answer {
    result: Object,
    /// Whether the newest revision wants to know for how long it holds.
    may_be_kept: bool,
}

impl Answer {
    fn new(result: Value, may_be_kept: bool) -> Self {
        let result = match result {
            Value::Object(result) => result,
            _ => Object::new(),
        };
        Answer {
            result,
            may_be_kept,
        }
    }
}

/// The lists that are always the same.
fn listed(desk: &dyn Desk, method: &str) -> Option<Answer> {
    let result = match method {
        "tools/list" => {
            let tools: Vec<Value> = desk.tools().into_iter().map(shown).collect();
            json!({"tools": tools})
        }
        "resources/templates/list" => {
            let Resource {
                uri,
                name,
                description,
            } = desk.template();
            let template = json!({
                "uriTemplate": uri, "name": name, "description": description, "mimeType": JSON,
            });
            json!({"resourceTemplates": [template]})
        }
        "prompts/list" => {
            let prompt = desk.prompt();
            let arguments: Vec<Value> = prompt
                .arguments
                .iter()
                .map(|(name, description)| {
                    json!({"name": name, "description": description, "required": false})
                })
                .collect();
            let prompt = json!({
                "name": prompt.name, "title": prompt.title, "description": prompt.description,
                "arguments": arguments,
            });
            json!({"prompts": [prompt]})
        }
        _ => return None,
    };
    Some(Answer::new(result, true))
}

fn shown(tool: Tool) -> Value {
    json!({
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input,
        "outputSchema": tool.output,
        "annotations": {
            "readOnlyHint": tool.hints.reads_only,
            "destructiveHint": tool.hints.destroys,
            "idempotentHint": tool.hints.settles,
            "openWorldHint": false,
        },
    })
}

/// Answers what may need the store.
fn answer(desk: &dyn Desk, method: &str, params: Object) -> Result<Answer, ErrorData> {
    match method {
        "tools/call" => {
            let name = text(&params, "name")?;
            let Some(called) = desk.call(&name, arguments(params)?) else {
                let message = format!("there is no tool `{name}`: tools/list names them");
                return Err(ErrorData::invalid_params(message, None));
            };
            let result = match called {
                // The text is what a model reads: nothing in it may hide or turn round.
                Ok(value) => json!({
                    "content": [{"type": "text", "text": line_of(&value)}],
                    "structuredContent": value,
                    "isError": false,
                }),
                Err(message) => {
                    json!({"content": [{"type": "text", "text": message}], "isError": true})
                }
            };
            Ok(Answer::new(result, false))
        }
        "resources/list" => {
            let resources: Vec<Value> = desk
                .resources()
                .into_iter()
                .map(|resource| {
                    json!({
                        "uri": resource.uri, "name": resource.name,
                        "description": resource.description, "mimeType": JSON,
                    })
                })
                .collect();
            Ok(Answer::new(json!({"resources": resources}), true))
        }
        "resources/read" => {
            let uri = text(&params, "uri")?;
            match desk.read(&uri) {
                Ok(Some(text)) => {
                    let contents = json!([{"uri": uri, "mimeType": JSON, "text": text}]);
                    Ok(Answer::new(json!({"contents": contents}), true))
                }
                Ok(None) => {
                    let message = format!("there is no resource {uri}: resources/list names them");
                    Err(ErrorData::resource_not_found(message, None))
                }
                Err(message) => Err(ErrorData::internal_error(message, None)),
            }
        }
        "prompts/get" => {
            let prompt = desk.prompt();
            let name = text(&params, "name")?;
            if name != prompt.name {
                let message = format!("there is no prompt `{name}`: prompts/list names it");
                return Err(ErrorData::invalid_params(message, None));
            }
            let text = desk.prompt_text(arguments(params)?);
            let content = json!({"type": "text", "text": text});
            let result = json!({
                "description": prompt.description,
                "messages": [{"role": "user", "content": content}],
            });
            Ok(Answer::new(result, false))
        }
        _ => Err(unknown_method()),
    }
}

fn unknown_method() -> ErrorData {
    ErrorData::new(
        ErrorCode::METHOD_NOT_FOUND,
        "this server has no such method",
        None,
    )
}

fn text(params: &Object, name: &str) -> Result<String, ErrorData> {
    match params.get(name) {
        Some(Value::String(text)) => Ok(text.clone()),
        _ => {
            let message = format!("{name} is missing, or no text");
            Err(ErrorData::invalid_params(message, None))
        }
    }
}

/// What is called with; none, null and an empty object are the same.
fn arguments(mut params: Object) -> Result<Object, ErrorData> {
    let wrong = || ErrorData::invalid_params("arguments is an object", None);
    match params.remove("arguments") {
        None | Some(Value::Null) => Ok(Object::new()),
        Some(Value::Object(arguments)) => Ok(arguments),
        // Some clients send a text where the schema says object.
        Some(Value::String(text)) if text.trim().is_empty() => Ok(Object::new()),
        Some(Value::String(text)) => serde_json::from_str(&text).map_err(|_| wrong()),
        Some(_) => Err(wrong()),
    }
}
