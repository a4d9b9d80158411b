//! A language model behind a small HTTP server of our own that speaks the three formats, and misbehaves in every way
//! that real ones do.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use aizo::llm::{
    Extraction, Limits, LlmError, Prompt, Provider, Said, Timing, ask, check, extract, prompts,
};
use rstest::rstest;
use serde_json::{Value, json};

use crate::common::Home;

const KEY: &str = "sk-test-0123456789";
const WORDS: &str = r#"{"preferences":[{"turn":1,"quote":"never use tabs","item":"tabs","score":0.5,"kind":"never","keywords":[],"scenarios":[]}]}"#;

/// What the server does with one request.
#[derive(Clone)]
enum Act {
    Reply(u16, String),
    With(u16, &'static str, String),
    Chunked(String),
    /// Says nothing until the client has gone.
    Hang,
    /// Promises more than it sends.
    Cut(String),
    /// Ends the connection without a word.
    Close,
    /// Sends without end.
    Flood,
}

#[derive(Debug, Clone)]
struct Received {
    line: String,
    headers: Vec<(String, String)>,
    body: Value,
}

impl Received {
    fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

struct Server {
    port: u16,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Server {
    /// Does these things with one request after the other.
    fn start(acts: Vec<Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let received = Arc::new(Mutex::new(Vec::new()));
        let list = Arc::clone(&received);
        thread::spawn(move || {
            for act in acts {
                let Ok((stream, _)) = listener.accept() else {
                    return;
                };
                let request = read_request(&stream);
                list.lock().expect("the list").push(request);
                // A client may go away at any time.
                let _gone = perform(stream, &act);
            }
        });
        Server { port, received }
    }

    fn received(&self) -> Vec<Received> {
        self.received.lock().expect("the list").clone()
    }

    fn provider(&self, format: &str) -> Provider {
        self.provider_at(format, &format!("http://127.0.0.1:{}", self.port))
    }

    fn provider_at(&self, format: &str, url: &str) -> Provider {
        let lookup = |name: &str| match name {
            "AIZO_API_FORMAT" => Some(format.to_owned()),
            "AIZO_API_URL" => Some(url.to_owned()),
            "ANTHROPIC_API_KEY" | "OPENAI_API_KEY" => Some(KEY.to_owned()),
            "AIZO_MODEL" => Some("test-model".to_owned()),
            _ => None,
        };
        let mut provider = Provider::from_lookup(lookup)
            .expect("settings")
            .expect("on");
        provider.timing = Timing {
            limit: Duration::from_secs(20),
            back_off: Duration::from_millis(5),
            longest_wait: Duration::from_secs(2),
        };
        provider
    }
}

fn read_request(stream: &TcpStream) -> Received {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).expect("a request line");
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).expect("a header");
        match header.trim_end().split_once(": ") {
            Some((name, value)) => headers.push((name.to_lowercase(), value.to_owned())),
            None => break,
        }
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(0, |(_, value)| value.parse().expect("a length"));
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    Received {
        line: line.trim_end().to_owned(),
        headers,
        body: serde_json::from_slice(&body).expect("a JSON body"),
    }
}

fn perform(mut stream: TcpStream, act: &Act) -> std::io::Result<()> {
    let begin = "content-type: application/json\r\nconnection: close\r\n";
    match act {
        Act::Reply(status, body) => write!(
            stream,
            "HTTP/1.1 {status} Status\r\n{begin}content-length: {}\r\n\r\n{body}",
            body.len()
        ),
        Act::With(status, header, body) => write!(
            stream,
            "HTTP/1.1 {status} Status\r\n{begin}{header}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        ),
        Act::Chunked(body) => {
            write!(
                stream,
                "HTTP/1.1 200 OK\r\n{begin}transfer-encoding: chunked\r\n\r\n"
            )?;
            for piece in body.as_bytes().chunks(7) {
                write!(stream, "{:x}\r\n", piece.len())?;
                stream.write_all(piece)?;
                stream.write_all(b"\r\n")?;
                stream.flush()?;
            }
            stream.write_all(b"0\r\n\r\n")
        }
        Act::Hang => stream.read(&mut [0; 1]).map(|_| ()),
        Act::Cut(body) => write!(
            stream,
            "HTTP/1.1 200 OK\r\n{begin}content-length: 100000\r\n\r\n{body}"
        ),
        Act::Close => Ok(()),
        Act::Flood => {
            write!(stream, "HTTP/1.1 200 OK\r\n{begin}\r\n")?;
            loop {
                stream.write_all(&[b' '; 65536])?;
            }
        }
    }
}

/// An answer in the service's own form.
fn answer(format: &str, words: &str, cut: bool) -> String {
    let body = match format {
        "anthropic" => json!({
            "type": "message",
            "content": [{"type": "text", "text": words}],
            "stop_reason": if cut { "max_tokens" } else { "end_turn" },
        }),
        "openai" => json!({
            "choices": [{
                "message": {"role": "assistant", "content": words, "refusal": null},
                "finish_reason": if cut { "length" } else { "stop" },
            }],
        }),
        _ => json!({
            "message": {"role": "assistant", "content": words},
            "done": true,
            "done_reason": if cut { "length" } else { "stop" },
        }),
    };
    body.to_string()
}

fn turns() -> Vec<Said> {
    vec![Said {
        number: 1,
        text: "never use tabs".to_owned(),
    }]
}

fn prompt() -> Vec<Prompt> {
    prompts(&turns(), &[], Limits::default())
}

/// Asks with the usual prompt, and gives how it ended and what the server got.
fn run(format: &str, acts: Vec<Act>) -> (Result<Extraction, LlmError>, Vec<Received>) {
    let server = Server::start(acts);
    let result = extract(&server.provider(format), &prompt(), &mut |_, _| {});
    if let Err(error) = &result {
        assert!(!format!("{error} {error:?} {:?}", error.hint()).contains(KEY));
    }
    (result, server.received())
}

fn good(format: &str) -> Act {
    Act::Reply(200, answer(format, WORDS, false))
}

#[rstest]
#[case("anthropic")]
#[case("openai")]
#[case("ollama")]
fn each_format_gives_the_models_words(#[case] format: &str) {
    let (result, received) = run(format, vec![good(format)]);
    let extraction = result.expect("an answer");
    let checked = check(&extraction.answer.preferences, &turns(), &[], "test-model");
    assert_eq!(checked.kept.len(), 1);
    assert!(checked.kept[0].1.explicit);
    assert_eq!((received.len(), extraction.cut), (1, 0));
    let (request, prompt) = (&received[0], &prompt()[0]);
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.body["model"], "test-model");
    let user = json!({"role": "user", "content": prompt.user});
    let system = json!({"role": "system", "content": prompt.system});
    match format {
        "anthropic" => {
            assert_eq!(request.line, "POST /v1/messages HTTP/1.1");
            assert_eq!(request.header("x-api-key"), Some(KEY));
            assert_eq!(request.header("anthropic-version"), Some("2023-06-01"));
            assert_eq!(request.header("authorization"), None);
            assert_eq!(request.body["max_tokens"], 8192);
            assert_eq!(request.body["system"], json!(prompt.system));
            assert_eq!(request.body["messages"], json!([user]));
            let tool = &request.body["tools"][0];
            assert_eq!(tool["input_schema"], aizo::llm::schema());
            assert_eq!(
                request.body["tool_choice"],
                json!({"type": "tool", "name": tool["name"]})
            );
        }
        "openai" => {
            assert_eq!(request.line, "POST /v1/chat/completions HTTP/1.1");
            assert_eq!(
                request.header("authorization"),
                Some(&*format!("Bearer {KEY}"))
            );
            assert_eq!(request.header("x-api-key"), None);
            assert_eq!(request.body["max_tokens"], 8192);
            let whole = json!({"role": "user", "content": prompt.shown()});
            assert_eq!(request.body["messages"], json!([whole]));
            let form = &request.body["response_format"];
            assert_eq!(form["type"], "json_schema");
            assert_eq!(form["json_schema"]["schema"], aizo::llm::schema());
        }
        _ => {
            assert_eq!(request.line, "POST /api/chat HTTP/1.1");
            assert_eq!(request.header("authorization"), None);
            assert_eq!(request.body["messages"], json!([system, user]));
            assert_eq!(request.body["format"], aizo::llm::schema());
            assert_eq!(request.body["stream"], false);
            assert_eq!(request.body["options"]["num_predict"], 8192);
            assert!(request.body["options"]["num_ctx"].as_u64() > Some(8192));
        }
    }
}

#[test]
fn a_called_tool_is_an_answer() {
    let input: Value = serde_json::from_str(WORDS).expect("JSON");
    let body = json!({
        "content": [
            {"type": "text", "text": "I will record them."},
            {"type": "tool_use", "id": "t", "name": "record_preferences", "input": input},
        ],
        "stop_reason": "tool_use",
    });
    let (result, _) = run("anthropic", vec![Act::Reply(200, body.to_string())]);
    assert_eq!(result.expect("an answer").answer.preferences.len(), 1);
}

#[rstest]
#[case("anthropic", &["tools", "tool_choice", "temperature"])]
#[case("openai", &["response_format", "temperature"])]
#[case("ollama", &["format"])]
fn a_refused_schema_is_left_out_from_then_on(#[case] format: &str, #[case] gone: &[&str]) {
    let complaint = json!({"error": {"message": "response_format is not supported"}}).to_string();
    let mut acts = vec![Act::Reply(400, complaint.clone())];
    if format == "openai" {
        // The second form that servers know; one that has neither says it is its own fault.
        acts.push(Act::Reply(500, complaint));
    }
    let refused = acts.len();
    let words = format!("Here it is:\n```json\n{WORDS}\n```");
    acts.push(Act::Reply(200, answer(format, &words, false)));
    acts.push(good(format));
    let server = Server::start(acts);
    let twice = [prompt(), prompt()].concat();
    let mut seen = Vec::new();
    let result = extract(&server.provider(format), &twice, &mut |done, of| {
        seen.push((done, of))
    });
    assert_eq!(result.expect("an answer").answer.preferences.len(), 2);
    assert_eq!(seen, [(0, 2), (1, 2), (2, 2)]);
    let received = server.received();
    assert_eq!(received.len(), refused + 2);
    if format == "openai" {
        let form = &received[1].body["response_format"];
        assert_eq!(form["type"], "json_object");
        assert_eq!(form["schema"], aizo::llm::schema());
    }
    for name in gone {
        assert!(received[0].body.get(name).is_some(), "{name}");
        assert!(
            received[refused..]
                .iter()
                .all(|request| request.body.get(name).is_none()),
            "{name}"
        );
    }
}

#[rstest]
#[case("anthropic", 401, "ANTHROPIC_API_KEY")]
#[case("openai", 403, "OPENAI_API_KEY")]
fn a_bad_key_is_named_by_its_variable(
    #[case] format: &str,
    #[case] status: u16,
    #[case] name: &str,
) {
    let body = json!({"error": {"message": format!("Incorrect API key provided: {KEY}")}});
    let (result, received) = run(format, vec![Act::Reply(status, body.to_string())]);
    let error = result.expect_err("a bad key").to_string();
    assert!(
        error.contains(name) && error.contains(&status.to_string()),
        "{error}"
    );
    assert_eq!(received.len(), 1);
}

#[test]
fn a_missing_model_names_the_setting() {
    let body = json!({"error": "model \"test-model\" not found"}).to_string();
    let (result, received) = run("ollama", vec![Act::Reply(404, body)]);
    let error = result.expect_err("no model");
    assert!(error.to_string().contains("test-model"));
    assert!(error.hint().is_some_and(|hint| hint.contains("AIZO_MODEL")));
    assert_eq!(received.len(), 1);
}

#[test]
fn too_many_requests_are_waited_out_as_long_as_the_service_asks() {
    let begin = Instant::now();
    let busy = Act::With(429, "retry-after: 1", "{}".to_owned());
    let (result, received) = run("openai", vec![busy, good("openai")]);
    assert_eq!(result.expect("an answer").answer.preferences.len(), 1);
    assert_eq!(received.len(), 2);
    assert!(begin.elapsed() >= Duration::from_secs(1));
}

#[test]
fn a_wait_has_an_end_whatever_the_service_asks() {
    let server = Server::start(vec![
        Act::With(529, "retry-after: 86400", "{}".to_owned()),
        good("anthropic"),
    ]);
    let mut provider = server.provider("anthropic");
    provider.timing.longest_wait = Duration::from_millis(10);
    assert!(extract(&provider, &prompt(), &mut |_, _| {}).is_ok());
}

#[rstest]
#[case(500)]
#[case(529)]
fn a_service_that_stays_broken_is_asked_four_times(#[case] status: u16) {
    let body = format!("{{\"error\":{{\"message\":\"over\\u001b[31mloaded for {KEY}\"}}}}");
    let (result, received) = run("anthropic", vec![Act::Reply(status, body); 5]);
    let error = result.expect_err("it stays broken").to_string();
    assert!(
        error.contains(&status.to_string()) && error.contains("loaded"),
        "{error}"
    );
    assert!(!error.contains('\u{1b}'));
    assert_eq!(received.len(), 4);
}

#[test]
fn a_service_that_recovers_gives_its_answer() {
    let broken = Act::Reply(503, "<html>busy</html>".to_owned());
    let acts = vec![
        broken,
        Act::Close,
        Act::Cut(WORDS.to_owned()),
        good("openai"),
    ];
    let (result, received) = run("openai", acts);
    assert_eq!(result.expect("an answer").answer.preferences.len(), 1);
    assert_eq!(received.len(), 4);
}

#[test]
fn no_answer_in_time_is_an_error() {
    let server = Server::start(vec![Act::Hang, Act::Hang, Act::Hang, Act::Hang]);
    let mut provider = server.provider("openai");
    provider.timing.limit = Duration::from_millis(100);
    let begin = Instant::now();
    let error = ask(&provider, &prompt()[0]).expect_err("silence");
    assert!(matches!(error, LlmError::Timeout { .. }), "{error:?}");
    assert!(begin.elapsed() < Duration::from_secs(10));
    assert_eq!(server.received().len(), 4);
}

#[test]
fn a_connection_that_always_breaks_is_an_error() {
    let (result, received) = run("ollama", vec![Act::Cut("{".to_owned()); 4]);
    assert!(
        matches!(result, Err(LlmError::Unreachable { .. })),
        "{result:?}"
    );
    assert_eq!(received.len(), 4);
}

#[test]
fn a_server_that_does_not_run_is_said_at_once() {
    let port = {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.local_addr().expect("an address").port()
    };
    let server = Server::start(Vec::new());
    let provider = server.provider_at("ollama", &format!("http://127.0.0.1:{port}"));
    let error = ask(&provider, &prompt()[0]).expect_err("nobody is there");
    assert!(error.to_string().contains("is Ollama running?"), "{error}");
}

#[test]
fn a_chunked_answer_is_put_together() {
    let (result, _) = run("openai", vec![Act::Chunked(answer("openai", WORDS, false))]);
    assert_eq!(result.expect("an answer").answer.preferences.len(), 1);
}

#[rstest]
#[case("anthropic")]
#[case("openai")]
#[case("ollama")]
fn of_a_cut_answer_the_complete_part_is_read_and_the_cut_is_said(#[case] format: &str) {
    let words = format!(
        "{},{{\"turn\":1,\"quo",
        WORDS.strip_suffix("]}").expect("its end")
    );
    let (result, received) = run(format, vec![Act::Reply(200, answer(format, &words, true))]);
    let extraction = result.expect("a part");
    assert_eq!(
        (extraction.answer.preferences.len(), extraction.cut),
        (1, 1)
    );
    assert_eq!(received.len(), 1);
    let (result, _) = run(
        format,
        vec![Act::Reply(200, answer(format, "{\"prefer", true))],
    );
    assert_eq!(result, Err(LlmError::Cut { max_tokens: 8192 }));
}

#[test]
fn an_answer_that_is_no_json_is_asked_for_once_more() {
    let prose = || Act::Reply(200, answer("openai", "I found some preferences.", false));
    let (result, received) = run("openai", vec![prose(), good("openai")]);
    assert_eq!(result.expect("the second").answer.preferences.len(), 1);
    assert_eq!(received.len(), 2);
    let (result, received) = run("openai", vec![prose(), prose()]);
    assert!(matches!(result, Err(LlmError::Answer { .. })), "{result:?}");
    assert_eq!(received.len(), 2);
}

#[test]
fn a_failure_in_a_later_request_leaves_nothing() {
    let server = Server::start(vec![
        good("openai"),
        good("openai"),
        Act::Reply(401, "{}".to_owned()),
    ]);
    let thrice = [prompt(), prompt(), prompt(), prompt()].concat();
    let error =
        extract(&server.provider("openai"), &thrice, &mut |_, _| {}).expect_err("the third");
    assert!(error.to_string().starts_with("request 3 of 4: "), "{error}");
    assert!(error.hint().is_some());
    assert_eq!(server.received().len(), 3);
}

#[test]
fn invented_quotes_do_not_survive() {
    let words = WORDS.replace("never use tabs", "never use spaces");
    let (result, _) = run(
        "openai",
        vec![Act::Reply(200, answer("openai", &words, false))],
    );
    let preferences = result.expect("an answer").answer.preferences;
    let checked = check(&preferences, &turns(), &[], "m");
    assert_eq!((checked.kept.len(), checked.dropped.invented_quote), (0, 1));
}

#[rstest]
#[case(301)]
#[case(302)]
#[case(307)]
#[case(308)]
fn a_redirect_is_not_followed(#[case] status: u16) {
    let other = Server::start(vec![good("openai")]);
    let header: &'static str = format!("location: http://127.0.0.1:{}/v1", other.port).leak();
    let (result, received) = run("openai", vec![Act::With(status, header, String::new())]);
    let error = result.expect_err("a redirect");
    assert!(matches!(error, LlmError::Redirect { .. }), "{error:?}");
    assert_eq!((received.len(), other.received().len()), (1, 0));
}

#[test]
fn an_endless_answer_is_given_up() {
    let (result, received) = run("openai", vec![Act::Flood]);
    assert!(
        matches!(result, Err(LlmError::TooLong { .. })),
        "{result:?}"
    );
    assert_eq!(received.len(), 1);
}

#[rstest]
#[case("anthropic", json!({"content": [], "stop_reason": "refusal"}))]
#[case("openai", json!({"choices": [{"message": {"content": null, "refusal": "no"}, "finish_reason": "stop"}]}))]
#[case("openai", json!({"choices": [{"message": {"content": ""}, "finish_reason": "content_filter"}]}))]
fn a_model_that_declines_is_said(#[case] format: &str, #[case] body: Value) {
    let (result, _) = run(format, vec![Act::Reply(200, body.to_string())]);
    assert_eq!(result, Err(LlmError::Declined));
}

#[rstest]
#[case("<html>a login page</html>")]
#[case("{\"choices\": []}")]
fn another_servers_answer_is_said(#[case] body: &str) {
    let (result, _) = run("openai", vec![Act::Reply(200, body.to_owned())]);
    let error = result.expect_err("no answer");
    assert!(matches!(error, LlmError::Form { .. }), "{error:?}");
    assert!(
        error
            .hint()
            .is_some_and(|hint| hint.contains("AIZO_API_FORMAT"))
    );
}

#[test]
fn a_projects_own_file_says_nothing_about_the_model() {
    let home = Home::new();
    std::fs::write(
        home.path().join(".env"),
        "AIZO_API_FORMAT=openai\nAIZO_API_URL=https://evil.example\nAIZO_API_KEY=sk-project-0123456789\n",
    )
    .expect("a file");
    std::fs::create_dir(home.aizo()).expect("a folder");
    std::fs::write(
        home.aizo().join(".env"),
        "AIZO_API_FORMAT=ollama\nAIZO_MODEL=small\nANTHROPIC_API_KEY=sk-ant-0123456789\n",
    )
    .expect("a file");
    let info: Value = home.json(&["info"]);
    let shown: Vec<(&str, &str, &str)> = info["settings"]
        .as_array()
        .expect("settings")
        .iter()
        .filter_map(|setting| {
            let text = |name: &str| setting[name].as_str();
            Some((text("name")?, text("value")?, text("source")?))
        })
        .filter(|(name, ..)| name.contains("API") || *name == "AIZO_MODEL")
        .collect();
    assert_eq!(
        shown,
        [
            ("AIZO_API_FORMAT", "ollama", "home_file"),
            ("AIZO_MODEL", "small", "home_file"),
            ("ANTHROPIC_API_KEY", "…6789", "home_file"),
        ]
    );
}

/// A real model, as `benches/local_model` sets one up: prints what it gets right and wrong. It is judged by nobody:
/// a small model is often wrong, and what counts is that nothing invented passes.
#[test]
#[ignore = "needs a running model; benches/local_model starts one"]
#[allow(clippy::print_stdout)]
fn a_real_model_reads_labelled_utterances() {
    #[derive(serde::Deserialize)]
    struct Expected {
        about: String,
        polarity: String,
        #[serde(default)]
        optional: bool,
    }
    #[derive(serde::Deserialize)]
    struct Utterance {
        lang: String,
        text: String,
        expects: Vec<Expected>,
    }
    let provider = Provider::required(|name| std::env::var(name).ok()).expect("a model");
    println!("asking {}", provider.describe());
    let data = std::fs::read_to_string("tests/data/llm/utterances.jsonl").expect("the utterances");
    let [
        mut found,
        mut missed,
        mut turned,
        mut extra,
        mut quiet,
        mut failed,
        mut dropped,
    ] = [0; 7];
    for line in data.lines() {
        let utterance: Utterance = serde_json::from_str(line).expect("an utterance");
        let said = [Said {
            number: 1,
            text: utterance.text.clone(),
        }];
        let asked = Instant::now();
        let result = extract(
            &provider,
            &prompts(&said, &[], Limits::default()),
            &mut |_, _| {},
        );
        println!(
            "\n{} {} ({:.1} s)",
            utterance.lang,
            utterance.text,
            asked.elapsed().as_secs_f64()
        );
        let answered = result.is_ok();
        let kept = match result {
            Ok(extraction) => {
                let raw = extraction.answer.preferences;
                let checked = check(&raw, &said, &[], &provider.model);
                dropped += checked.dropped.total() + extraction.answer.malformed;
                if checked.dropped.total() > 0 {
                    println!("  dropped: {:?}", checked.dropped);
                }
                checked.kept
            }
            Err(error) => {
                failed += 1;
                println!("  failed: {error}");
                Vec::new()
            }
        };
        let folded = |text: &str| aizo::model::fold(text);
        let about = |expected: &Expected, item: &str| {
            let (expected, item) = (folded(&expected.about), folded(item));
            expected.contains(&item) || item.contains(&expected)
        };
        for (_, candidate) in &kept {
            let verdict = match utterance
                .expects
                .iter()
                .find(|expected| about(expected, &candidate.item))
            {
                Some(expected) if (expected.polarity == "against") == (candidate.score < 4.5) => {
                    "right"
                }
                Some(_) => {
                    turned += 1;
                    "wrong way round"
                }
                None => {
                    extra += 1;
                    "not a preference"
                }
            };
            println!(
                "  {verdict}: {} {} ({}, explicit: {}) from “{}”",
                candidate.item,
                candidate.score,
                candidate.kind.name(),
                candidate.explicit,
                candidate.quote
            );
        }
        for expected in utterance
            .expects
            .iter()
            .filter(|expected| !expected.optional)
        {
            if kept
                .iter()
                .any(|(_, candidate)| about(expected, &candidate.item))
            {
                found += 1;
            } else {
                missed += 1;
                println!("  missed: {} ({})", expected.about, expected.polarity);
            }
        }
        quiet += usize::from(utterance.expects.is_empty() && kept.is_empty() && answered);
    }
    let silent = data
        .lines()
        .filter(|line| line.contains("\"expects\": []"))
        .count();
    println!(
        "\nfound {found} of {}, {turned} of them the wrong way round; {extra} that are none; \
         nothing said in {quiet} of {silent} that hold nothing; {dropped} elements dropped by the check; \
         {failed} answers of no use",
        found + missed
    );
}
