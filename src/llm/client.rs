//! Sends prompts and receives answers: time limits, retries, and what each status means.

use std::cell::Cell;
use std::time::Duration;

use ureq::Agent;

use super::answer::{Answer, AnswerError, parse_answer};
use super::prompt::Prompt;
use super::provider::{Format, Provider};
use super::wire::Shape;
use super::{LlmError, wire};
use crate::model::strip_hidden;

/// How often a request is made again.
const RETRIES: u32 = 3;
/// The longest answer that is read, in bytes.
const LONGEST_ANSWER: u64 = 4 << 20;
/// How much of a service's own message is told.
const COMPLAINT_CHARS: usize = 200;

/// What a model wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// Its words.
    pub text: String,
    /// Whether they end at the limit and not where the model wanted to end.
    pub cut: bool,
}

/// The answers to several prompts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Extraction {
    /// What they hold together; [`super::check()`] says what of it counts.
    pub answer: Answer,
    /// How many answers were cut off at `AIZO_MAX_TOKENS`; what was complete in them is among the rest.
    pub cut: usize,
}

/// Asks a model once.
///
/// # Errors
/// A service that cannot be reached, refuses, or answers in another form.
pub fn ask(provider: &Provider, prompt: &Prompt) -> Result<Reply, LlmError> {
    Client::new(provider).ask(prompt)
}

/// Asks a model with one prompt after the other, and tells `progress` how many of how many are done. An answer
/// that cannot be read is asked for a second time.
///
/// # Errors
/// The first failure; what the prompts before it gave is dropped with it, so that nothing is half done.
pub fn extract(
    provider: &Provider,
    prompts: &[Prompt],
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Extraction, LlmError> {
    let client = Client::new(provider);
    let mut extraction = Extraction::default();
    progress(0, prompts.len());
    for (index, prompt) in prompts.iter().enumerate() {
        let (answer, cut) = client
            .extract(prompt)
            .map_err(|error| match prompts.len() {
                1 => error,
                of => LlmError::Request {
                    number: index + 1,
                    of,
                    error: Box::new(error),
                },
            })?;
        extraction.answer.preferences.extend(answer.preferences);
        extraction.answer.malformed += answer.malformed;
        extraction.answer.cut |= cut;
        extraction.cut += usize::from(cut);
        progress(index + 1, prompts.len());
    }
    Ok(extraction)
}

/// A status, how long the service asks to wait, and the body.
struct Response {
    status: u16,
    retry_after: Option<Duration>,
    body: Vec<u8>,
}

struct Client<'p> {
    provider: &'p Provider,
    agent: Agent,
    /// What the service has not refused.
    shape: Cell<Shape>,
}

impl<'p> Client<'p> {
    fn new(provider: &'p Provider) -> Self {
        let config = Agent::config_builder()
            .timeout_global(Some(provider.timing.limit))
            .http_status_as_error(false)
            // What a person said goes to the address that they set, and nowhere else.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .https_only(!provider.loopback)
            .user_agent(concat!("aizo/", env!("CARGO_PKG_VERSION")));
        let config = if provider.loopback {
            config.proxy(None)
        } else {
            config
        };
        Client {
            provider,
            agent: config.build().into(),
            shape: Cell::new(Shape::Schema),
        }
    }

    /// One prompt's answer, read; asked for twice at most.
    fn extract(&self, prompt: &Prompt) -> Result<(Answer, bool), LlmError> {
        let mut reason = AnswerError::NoJson;
        for _ in 0..2 {
            let reply = self.ask(prompt)?;
            match parse_answer(&reply.text) {
                Ok(answer) if reply.cut && answer.preferences.is_empty() => {
                    return Err(self.cut());
                }
                Ok(answer) => {
                    let cut = reply.cut || answer.cut;
                    return Ok((answer, cut));
                }
                // The same limit would cut the second answer too.
                Err(_) if reply.cut => return Err(self.cut()),
                Err(error) => reason = error,
            }
        }
        Err(LlmError::Answer {
            model: self.provider.model.clone(),
            reason,
        })
    }

    fn cut(&self) -> LlmError {
        LlmError::Cut {
            max_tokens: self.provider.max_tokens,
        }
    }

    fn ask(&self, prompt: &Prompt) -> Result<Reply, LlmError> {
        let mut response = self.send(prompt)?;
        let format = self.provider.format;
        while self.refuses_the_shape(&response) {
            let Some(shape) = self.shape.get().next(format) else {
                break;
            };
            self.shape.set(shape);
            response = self.send(prompt)?;
        }
        match response.status {
            200..=299 => wire::reply(self.provider, &response.body),
            _ => Err(self.refusal(&response)),
        }
    }

    fn refuses_the_shape(&self, response: &Response) -> bool {
        let shape = self.shape.get();
        shape.is_refused(response.status, &response.body)
    }

    /// Sends a prompt until there is an answer that another attempt would not change.
    fn send(&self, prompt: &Prompt) -> Result<Response, LlmError> {
        let body = wire::request(self.provider, prompt, self.shape.get()).to_string();
        let timing = self.provider.timing;
        let mut attempt = 0;
        loop {
            let result = self.post(body.as_bytes());
            let (again, asked) = match &result {
                Ok(response) => (
                    matches!(response.status, 408 | 429 | 500..=599)
                        && !self.refuses_the_shape(response),
                    response.retry_after,
                ),
                Err(error) => (may_pass(error), None),
            };
            if !again || attempt == RETRIES {
                return result.map_err(|error| self.trouble(&error));
            }
            let usual = timing.back_off * 2_u32.pow(attempt);
            std::thread::sleep(asked.unwrap_or(usual).min(timing.longest_wait));
            attempt += 1;
        }
    }

    fn post(&self, body: &[u8]) -> Result<Response, ureq::Error> {
        let mut request = self.agent.post(&self.provider.endpoint);
        for (name, value) in wire::headers(self.provider) {
            request = request.header(name, value);
        }
        let mut response = request.send(body)?;
        let retry_after = response
            .headers()
            .get("retry-after")
            .and_then(|value| value.to_str().ok()?.trim().parse().ok())
            .map(Duration::from_secs);
        Ok(Response {
            status: response.status().as_u16(),
            retry_after,
            body: response
                .body_mut()
                .with_config()
                .limit(LONGEST_ANSWER)
                .read_to_vec()?,
        })
    }

    fn refusal(&self, response: &Response) -> LlmError {
        let host = self.provider.host.clone();
        let status = response.status;
        match (status, &self.provider.key) {
            (401 | 403, Some(key)) => LlmError::BadKey {
                host,
                variable: key.variable,
                status,
            },
            (401 | 403, None) => LlmError::KeyWanted { host, status },
            (404, _) => LlmError::NotFound {
                host,
                model: self.provider.model.clone(),
                message: self.complaint(&response.body),
            },
            (300..=399, _) => LlmError::Redirect { host, status },
            _ => LlmError::Status {
                host,
                status,
                message: self.complaint(&response.body),
            },
        }
    }

    /// The beginning of what a service says, safe to show: services repeat keys.
    fn complaint(&self, body: &[u8]) -> String {
        let mut text = strip_hidden(&wire::complaint(body));
        if let Some(key) = &self.provider.key {
            text = text.replace(&key.value, "…");
        }
        let text = text.trim();
        match text.char_indices().nth(COMPLAINT_CHARS) {
            _ if text.is_empty() => String::new(),
            Some((end, _)) => format!(": {}…", &text[..end]),
            None => format!(": {text}"),
        }
    }

    fn trouble(&self, error: &ureq::Error) -> LlmError {
        let host = self.provider.host.clone();
        match error {
            ureq::Error::Timeout(_) => LlmError::Timeout {
                host,
                seconds: self.provider.timing.limit.as_secs(),
            },
            ureq::Error::BodyExceedsLimit(_) => LlmError::TooLong {
                host,
                bytes: LONGEST_ANSWER,
            },
            ureq::Error::Io(error)
                if error.kind() == std::io::ErrorKind::ConnectionRefused
                    && self.provider.loopback =>
            {
                let server = match self.provider.format {
                    Format::Ollama => "Ollama",
                    _ => "the server",
                };
                LlmError::Unreachable {
                    host,
                    reason: format!("nothing answers there; is {server} running?"),
                }
            }
            error => LlmError::Unreachable {
                host,
                reason: strip_hidden(&error.to_string()),
            },
        }
    }
}

/// Whether a failure may be gone at the next attempt: no answer in time, or a connection that broke.
fn may_pass(error: &ureq::Error) -> bool {
    use std::io::ErrorKind;
    match error {
        ureq::Error::Timeout(_) | ureq::Error::Protocol(_) => true,
        ureq::Error::Io(error) => matches!(
            error.kind(),
            ErrorKind::ConnectionReset
                | ErrorKind::ConnectionAborted
                | ErrorKind::BrokenPipe
                | ErrorKind::UnexpectedEof
                | ErrorKind::TimedOut
                | ErrorKind::Interrupted
        ),
        _ => false,
    }
}
