//! Which model is asked, where, and with which key. What is set is handed in as values.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use ureq::http::Uri;

use super::LlmError;
use crate::settings::{
    AIZO_API_FORMAT, AIZO_API_KEY, AIZO_API_URL, AIZO_MAX_TOKENS, AIZO_MODEL, ANTHROPIC_API_KEY,
    OPENAI_API_KEY,
};

const DEFAULT_MAX_TOKENS: u32 = 8192;
/// What tells a key of Anthropic from others.
const ANTHROPIC_KEY_START: &str = "sk-ant-";

/// How requests and answers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's chat completions, which many other services and local servers speak too.
    OpenAi,
    /// Ollama's chat.
    Ollama,
}

impl Format {
    /// The name that `AIZO_API_FORMAT` takes.
    pub fn name(self) -> &'static str {
        match self {
            Format::Anthropic => "anthropic",
            Format::OpenAi => "openai",
            Format::Ollama => "ollama",
        }
    }

    fn parse(text: &str) -> Result<Self, LlmError> {
        match text.trim().to_ascii_lowercase().as_str() {
            "anthropic" => Ok(Format::Anthropic),
            "openai" => Ok(Format::OpenAi),
            "ollama" => Ok(Format::Ollama),
            _ => Err(LlmError::Setting {
                name: AIZO_API_FORMAT,
                problem: format!("is anthropic, openai or ollama, not `{}`", text.trim()),
            }),
        }
    }

    fn default_url(self) -> &'static str {
        match self {
            Format::Anthropic => "https://api.anthropic.com",
            Format::OpenAi => "https://api.openai.com/v1",
            Format::Ollama => "http://localhost:11434",
        }
    }

    fn default_model(self) -> &'static str {
        match self {
            Format::Anthropic => "claude-haiku-4-5",
            Format::OpenAi => "gpt-4.1-mini",
            Format::Ollama => "gemma3:4b",
        }
    }

    /// The variable that holds a key of this vendor.
    fn own_key(self) -> Option<&'static str> {
        match self {
            Format::Anthropic => Some(ANTHROPIC_API_KEY),
            Format::OpenAi => Some(OPENAI_API_KEY),
            Format::Ollama => None,
        }
    }
}

/// How long is waited, and for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// The limit of one request, from the connection to the last byte.
    pub limit: Duration,
    /// The wait before the first retry; it doubles with each.
    pub back_off: Duration,
    /// The longest wait, whatever the service asks for.
    pub longest_wait: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Timing {
            limit: Duration::from_secs(120),
            back_off: Duration::from_secs(1),
            longest_wait: Duration::from_secs(30),
        }
    }
}

/// A key and where it came from. It is never shown.
#[derive(Clone)]
pub(super) struct Key {
    pub(super) value: String,
    pub(super) variable: &'static str,
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key(from {})", self.variable)
    }
}

/// A model and how it is reached.
#[derive(Debug, Clone)]
pub struct Provider {
    /// How requests and answers are written.
    pub format: Format,
    /// The model's name.
    pub model: String,
    /// The most tokens that an answer may have.
    pub max_tokens: u32,
    /// How long is waited.
    pub timing: Timing,
    pub(super) endpoint: String,
    pub(super) host: String,
    pub(super) loopback: bool,
    pub(super) key: Option<Key>,
}

impl Provider {
    /// The provider that `AIZO_API_FORMAT` switches on; none when it is not set. A key alone switches nothing
    /// on: many people have one in their environment for other programs.
    ///
    /// # Errors
    /// A setting that cannot be used, and [`LlmError::NoKey`], on which the built-in reader can take over.
    pub fn from_lookup(
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Provider>, LlmError> {
        match set(&lookup, AIZO_API_FORMAT) {
            Some(format) => Provider::of(Format::parse(&format)?, &lookup).map(Some),
            None => Ok(None),
        }
    }

    /// The provider for `--llm`: as [`Provider::from_lookup`], and where no format is set the vendor's key that
    /// is there decides, Anthropic's first.
    ///
    /// # Errors
    /// What is missing, with what to set.
    pub fn required(lookup: impl Fn(&str) -> Option<String>) -> Result<Provider, LlmError> {
        if let Some(provider) = Provider::from_lookup(&lookup)? {
            return Ok(provider);
        }
        if set(&lookup, AIZO_API_URL).is_some() {
            return Err(LlmError::NoFormat {
                variable: AIZO_API_URL,
            });
        }
        let format = match set(&lookup, AIZO_API_KEY) {
            Some(key) if key.starts_with(ANTHROPIC_KEY_START) => Format::Anthropic,
            // A key must not travel to another vendor on a guess.
            Some(_) => {
                return Err(LlmError::NoFormat {
                    variable: AIZO_API_KEY,
                });
            }
            None if set(&lookup, ANTHROPIC_API_KEY).is_some() => Format::Anthropic,
            None if set(&lookup, OPENAI_API_KEY).is_some() => Format::OpenAi,
            None => return Err(LlmError::NoProvider),
        };
        Provider::of(format, &lookup)
    }

    fn of(format: Format, lookup: &dyn Fn(&str) -> Option<String>) -> Result<Provider, LlmError> {
        let url = set(lookup, AIZO_API_URL).unwrap_or_else(|| format.default_url().to_owned());
        let Address {
            endpoint,
            host,
            loopback,
        } = address(format, &url)?;
        let key = [Some(AIZO_API_KEY), format.own_key()]
            .into_iter()
            .flatten()
            .find_map(|variable| set(lookup, variable).map(|value| Key { value, variable }));
        if let Some(key) = &key
            && !key.value.bytes().all(|byte| byte.is_ascii_graphic())
        {
            return Err(LlmError::Setting {
                name: key.variable,
                problem: "holds a space or another character that no key has".to_owned(),
            });
        }
        // A server on this machine speaks the OpenAI format without a key, as Ollama does.
        if key.is_none() && format != Format::Ollama && !loopback {
            let own = format.own_key().unwrap_or(AIZO_API_KEY);
            return Err(LlmError::NoKey {
                format: format.name(),
                variables: format!("{AIZO_API_KEY} or {own}"),
            });
        }
        let max_tokens = match set(lookup, AIZO_MAX_TOKENS) {
            Some(text) => text
                .parse()
                .ok()
                .filter(|tokens| (1..=1_000_000).contains(tokens))
                .ok_or_else(|| LlmError::Setting {
                    name: AIZO_MAX_TOKENS,
                    problem: format!("is a number of tokens from 1 to 1000000, not `{text}`"),
                })?,
            None => DEFAULT_MAX_TOKENS,
        };
        Ok(Provider {
            format,
            model: set(lookup, AIZO_MODEL).unwrap_or_else(|| format.default_model().to_owned()),
            max_tokens,
            timing: Timing::default(),
            endpoint,
            host,
            loopback,
            key,
        })
    }

    /// Who gets the text, for saying it before it is sent: `claude-haiku-4-5 at api.anthropic.com`.
    pub fn describe(&self) -> String {
        format!("{} at {}", self.model, self.host)
    }

    /// Whether the text stays on this machine, as far as the address says.
    pub fn is_local(&self) -> bool {
        self.loopback
    }

    /// The address that requests go to.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }
}

/// A value that is there and not blank.
fn set(lookup: &dyn Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    let value = lookup(name)?.trim().to_owned();
    (!value.is_empty()).then_some(value)
}

struct Address {
    endpoint: String,
    host: String,
    loopback: bool,
}

/// Completes an address: with or without a slash, a version or the whole path at its end.
fn address(format: Format, url: &str) -> Result<Address, LlmError> {
    let refuse = |problem: &str| {
        Err(LlmError::Setting {
            name: AIZO_API_URL,
            problem: problem.to_owned(),
        })
    };
    let Ok(uri) = url.parse::<Uri>() else {
        return refuse("is not an address such as https://api.example.com/v1");
    };
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return refuse("must begin with https:// (or http:// for a server on this machine)");
    };
    if authority.as_str().contains('@') {
        return refuse("must not hold a user name or password; the key goes into AIZO_API_KEY");
    }
    if uri.query().is_some() {
        return refuse("must not hold a query (`?`)");
    }
    let name = authority
        .host()
        .trim_start_matches('[')
        .trim_end_matches(']');
    let loopback = name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    match scheme {
        "https" => {}
        "http" if loopback => {}
        "http" => {
            return refuse(&format!(
                "must begin with https://: what you said would travel to {name} readable by anyone on the way"
            ));
        }
        _ => return refuse("must begin with https://"),
    }
    let path = uri.path().trim_end_matches('/');
    let without = |endings: &[&str]| {
        endings.iter().fold(path, |path, ending| {
            path.strip_suffix(ending)
                .unwrap_or(path)
                .trim_end_matches('/')
        })
    };
    let path = match format {
        Format::Anthropic => format!("{}/v1/messages", without(&["/messages", "/v1"])),
        Format::OpenAi => match without(&["/chat/completions"]) {
            "" => "/v1/chat/completions".to_owned(),
            base => format!("{base}/chat/completions"),
        },
        Format::Ollama => format!("{}/api/chat", without(&["/chat", "/api", "/v1"])),
    };
    Ok(Address {
        endpoint: format!("{scheme}://{authority}{path}"),
        host: authority.as_str().to_owned(),
        loopback,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn values(pairs: &'static [(&'static str, &'static str)]) -> impl Fn(&str) -> Option<String> {
        move |name| {
            let found = pairs.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        }
    }

    #[rstest]
    #[case("anthropic", "https://x.example", "https://x.example/v1/messages")]
    #[case("anthropic", "https://x.example/v1/", "https://x.example/v1/messages")]
    #[case(
        "anthropic",
        "https://x.example/p/v1/messages",
        "https://x.example/p/v1/messages"
    )]
    #[case(
        "openai",
        "http://127.0.0.1:8000",
        "http://127.0.0.1:8000/v1/chat/completions"
    )]
    #[case(
        "openai",
        "http://[::1]:8000/v1",
        "http://[::1]:8000/v1/chat/completions"
    )]
    #[case(
        "openai",
        "https://x.example/v1beta/openai/",
        "https://x.example/v1beta/openai/chat/completions"
    )]
    #[case(
        "openai",
        "https://x.example/v1/chat/completions",
        "https://x.example/v1/chat/completions"
    )]
    #[case("ollama", "http://localhost:11434/", "http://localhost:11434/api/chat")]
    #[case(
        "ollama",
        "http://localhost:11434/v1",
        "http://localhost:11434/api/chat"
    )]
    #[case("ollama", "http://LOCALHOST:1/api/chat", "http://LOCALHOST:1/api/chat")]
    fn an_address_is_completed(#[case] format: &str, #[case] url: &str, #[case] endpoint: &str) {
        let format = Format::parse(format).expect("a format");
        assert_eq!(address(format, url).expect("an address").endpoint, endpoint);
    }

    #[rstest]
    #[case("http://example.com", "https://")]
    #[case("http://127.0.0.1.example.com", "https://")]
    #[case("http://localhost.example.com", "https://")]
    #[case("http://192.168.1.5:11434", "https://")]
    #[case("https://me:secret@example.com", "user name")]
    #[case("http://localhost@example.com", "user name")]
    #[case("ftp://example.com", "https://")]
    #[case("localhost:11434", "https://")]
    #[case("https://example.com/v1?key=1", "query")]
    #[case("nonsense here", "address")]
    fn an_address_is_refused(#[case] url: &str, #[case] reason: &str) {
        let Err(error) = address(Format::OpenAi, url) else {
            panic!("{url} is taken");
        };
        assert!(error.to_string().contains(reason), "{url}: {error}");
        assert!(!error.to_string().contains("secret"));
    }

    #[test]
    fn a_key_alone_switches_nothing_on() {
        let lookup = values(&[
            ("ANTHROPIC_API_KEY", "sk-ant-1"),
            ("OPENAI_API_KEY", "sk-2"),
        ]);
        assert!(Provider::from_lookup(&lookup).expect("fine").is_none());
        let provider = Provider::required(&lookup).expect("a key decides");
        assert_eq!(provider.describe(), "claude-haiku-4-5 at api.anthropic.com");
        assert_eq!(provider.max_tokens, 8192);
        let provider = Provider::required(values(&[("OPENAI_API_KEY", "sk-2")])).expect("a key");
        assert_eq!(
            provider.endpoint(),
            "https://api.openai.com/v1/chat/completions"
        );
    }

    #[rstest]
    #[case(&[], "ANTHROPIC_API_KEY")]
    #[case(&[("AIZO_API_KEY", "gsk-1")], "AIZO_API_FORMAT")]
    #[case(&[("AIZO_API_URL", "https://x.example"), ("OPENAI_API_KEY", "k")], "AIZO_API_FORMAT")]
    #[case(&[("AIZO_API_FORMAT", "anthropic")], "AIZO_API_KEY or ANTHROPIC_API_KEY")]
    #[case(&[("AIZO_API_FORMAT", "openai"), ("ANTHROPIC_API_KEY", "k")], "OPENAI_API_KEY")]
    fn what_is_missing_is_named(
        #[case] pairs: &'static [(&'static str, &'static str)],
        #[case] named: &str,
    ) {
        let error = Provider::required(values(pairs)).expect_err("something is missing");
        assert!(
            error.hint().unwrap_or_default().contains(named),
            "{error:?}"
        );
        assert!(error.is_about_settings());
    }

    #[test]
    fn aizos_own_key_comes_first_and_is_never_shown() {
        let lookup = values(&[
            ("AIZO_API_FORMAT", " OpenAI "),
            ("AIZO_API_KEY", "first-secret"),
            ("OPENAI_API_KEY", "second-secret"),
            ("AIZO_MODEL", "m"),
            ("AIZO_MAX_TOKENS", "512"),
        ]);
        let provider = Provider::from_lookup(lookup).expect("fine").expect("on");
        let key = provider.key.as_ref().expect("a key");
        assert_eq!(
            (key.value.as_str(), key.variable),
            ("first-secret", AIZO_API_KEY)
        );
        assert_eq!((provider.model.as_str(), provider.max_tokens), ("m", 512));
        assert!(!format!("{provider:?}").contains("secret"));
    }

    #[test]
    fn a_model_on_this_machine_needs_no_key() {
        let ollama = Provider::from_lookup(values(&[("AIZO_API_FORMAT", "ollama")]));
        assert!(ollama.expect("fine").expect("on").is_local());
        let local = values(&[
            ("AIZO_API_FORMAT", "openai"),
            ("AIZO_API_URL", "http://localhost:8000"),
        ]);
        assert!(
            Provider::from_lookup(local)
                .expect("fine")
                .expect("on")
                .is_local()
        );
    }

    #[test]
    fn a_key_with_a_line_end_inside_is_refused_without_showing_it() {
        let lookup = values(&[
            ("AIZO_API_FORMAT", "openai"),
            ("OPENAI_API_KEY", "sk-1\r\nX-Evil: 1"),
        ]);
        let error = Provider::from_lookup(lookup).expect_err("not a key");
        assert!(error.to_string().starts_with("OPENAI_API_KEY holds"));
        assert!(!format!("{error:?}").contains("Evil"));
    }
}
