//! `aizo web` as a whole process: what a browser, another site, another program and a broken client may send to it.

#[cfg(unix)]
mod browser;
#[cfg(unix)]
mod page;
mod requests;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::Home;

/// How long an answer may take before the test fails: far more than any takes.
const PATIENCE: Duration = Duration::from_secs(90);
/// What a request says in its head: a name, and its value, or that it is left out.
type Headers<'h> = &'h [(&'h str, Option<&'h str>)];

/// Something that only the store holds.
const SECRET: &str = "midnight walks";

/// A running server.
struct Web {
    child: Child,
    url: String,
    port: u16,
    key: String,
}

impl Web {
    fn new(home: &Home, options: &[&str]) -> Self {
        let mut words = vec!["web", "--port", "0", "--no-open", "--json"];
        words.extend(options);
        let mut child = home
            .command(&words)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("stdout is piped"))
            .read_line(&mut line)
            .expect("it says where it is");
        Web::at(child, &line)
    }

    /// The server that has said this of where it is.
    fn at(child: Child, line: &str) -> Self {
        let place: Value = serde_json::from_str(line).expect("one value");
        let url = place["url"].as_str().expect("an address").to_owned();
        let (address, key) = url.split_once("/#").expect("a key");
        let port = address
            .strip_prefix("http://127.0.0.1:")
            .and_then(|port| port.parse().ok())
            .expect("a port of this machine");
        let key = key.to_owned();
        Web {
            child,
            url,
            port,
            key,
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
        stream
    }

    /// Sends bytes as they are, and reads until the other side ends.
    fn send(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // A server that refuses early need not take everything.
        let _refused = stream.write_all(bytes);
        Answer::of(&mut stream)
    }

    /// A request of the page, with other headers in the place of the usual ones.
    fn request(
        &self,
        method: &str,
        path: &str,
        other: &[(&str, Option<&str>)],
        body: &str,
    ) -> Answer {
        let mut headers = vec![
            ("Host", format!("127.0.0.1:{}", self.port)),
            ("Authorization", format!("Bearer {}", self.key)),
            ("Content-Length", body.len().to_string()),
        ];
        for (name, value) in other {
            headers.retain(|(known, _)| known != name);
            headers.extend(value.map(|value| (*name, value.to_owned())));
        }
        let mut text = format!("{method} {path} HTTP/1.1\r\n");
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        self.send(format!("{text}\r\n{body}").as_bytes())
    }

    fn look(&self) -> Value {
        self.request("GET", "/api/look", &[], "").value()
    }

    fn ask(&self, words: &[&str]) -> Answer {
        self.request("POST", "/api/ask", &[], &json!(words).to_string())
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// What came back.
#[derive(Debug, PartialEq)]
struct Answer {
    /// 0 where nothing came.
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn of(stream: &mut TcpStream) -> Self {
        let mut bytes = Vec::new();
        let _cut_off = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_default();
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|digits| digits.parse().ok());
        Answer {
            status: status.unwrap_or(0),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    fn value(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    fn kind(&self) -> Value {
        self.value()["error"]["kind"].clone()
    }
}

/// A home with an entry of each kind, and something that waits.
fn home() -> Home {
    let early = Home::new().at("2026-06-01T08:00:00+00:00");
    for (item, reason, score, scenario) in [
        ("force-push to main", "lost a day to it", "0.5", "coding"),
        ("long meetings", "complained about them", "2.5", "planning"),
        ("tabs, four wide", "in every file", "5", "coding"),
        ("plain words", "struck out long ones", "9", "writing"),
        (SECRET, "for the quiet", "8", ""),
    ] {
        early.ok(&[
            "add",
            "--score",
            score,
            "--scenarios",
            scenario,
            "--",
            item,
            reason,
        ]);
    }
    let later = early.at("2026-10-01T08:00:00+00:00");
    later.ok(&["touch", "plain words"]);
    later.ok(&["add", "plain words", "said so again", "--score", "8"]);
    later.ok(&[
        "add",
        "deploys on Friday",
        "broke twice",
        "--score",
        "1",
        "--source",
        "analysis",
    ]);
    later.at(crate::common::NOW)
}

#[test]
fn the_address_is_printed_and_the_page_needs_no_key() {
    let home = home();
    let mut child = home
        .command(&["web", "--port", "0", "--no-open"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let address = lines.next().expect("a line").expect("text");
    let mut said = BufReader::new(child.stderr.take().expect("piped")).lines();
    let said = said.next().expect("a line").expect("text");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let (place, key) = address.split_once("/#").expect("a key");
    assert!(place.starts_with("http://127.0.0.1:"), "{address}");
    assert!(key.len() == 32 && key.bytes().all(|byte| byte.is_ascii_hexdigit()));
    assert!(said.starts_with("the page only reads"), "{said}");

    let web = Web::new(&home, &[]);
    assert_ne!(web.key, key, "each start has its own");
    let page = web.request("GET", "/", &[("Authorization", None)], "");
    assert_eq!(page.status, 200);
    assert!(page.body.starts_with("<!doctype html>"));
    assert!(!page.body.contains(SECRET) && !page.body.contains(&web.key));
    assert!(
        page.head
            .contains("Content-Security-Policy: default-src 'none';")
    );
    let head = web.request("HEAD", "/", &[], "");
    assert_eq!((head.head, head.body.as_str()), (page.head, ""));
    for (path, kind) in [
        ("/style.css", "text/css"),
        ("/main.js", "text/javascript"),
        ("/icon.svg", "image/svg+xml"),
    ] {
        let file = web.request("GET", path, &[], "");
        assert_eq!(file.status, 200, "{path}");
        assert!(
            file.head.contains(&format!("Content-Type: {kind}")),
            "{path}"
        );
    }
}

/// A server that has started a browser: what it was started with, and what the server says.
#[cfg(target_os = "linux")]
fn with_a_browser(home: &Home) -> (Web, String, std::process::ChildStderr) {
    use std::os::unix::fs::PermissionsExt;
    let browser = home.write(
        "bin/xdg-open",
        b"#!/bin/sh\nprintf %s \"$1\" > \"$0.new\"\nmv \"$0.new\" \"$0.opened\"\n",
    );
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).expect("it is set");
    let folder = browser.parent().expect("it has a folder").display();
    let path = std::env::var("PATH").expect("it is set");
    let mut child = home
        .command(&["web", "--port", "0", "--json"])
        .env("PATH", format!("{folder}:{path}"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("stdout is piped"))
        .read_line(&mut line)
        .expect("it says where it is");
    let stderr = child.stderr.take().expect("stderr is piped");
    let web = Web::at(child, &line);
    let started = Instant::now();
    loop {
        let opened = std::fs::read_to_string(browser.with_file_name("xdg-open.opened"));
        if let Ok(opened) = opened {
            return (web, opened, stderr);
        }
        assert!(started.elapsed() < PATIENCE, "no browser was started");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The browser's command line is for everybody to see: what stands there opens the page once.
#[cfg(target_os = "linux")]
#[test]
fn what_the_browser_is_started_with_opens_the_page_once() {
    let home = home();
    let (web, opened, mut stderr) = with_a_browser(&home);
    assert!(!opened.contains(&web.key), "{opened}");
    let (_, ticket) = opened.split_once("/#").expect("a ticket");
    let enter = |ticket: &str| {
        let bearer = format!("Bearer {ticket}");
        web.request(
            "POST",
            "/api/enter",
            &[("Authorization", Some(&bearer))],
            "[]",
        )
    };
    assert_eq!(enter("once-0").status, 401);
    // It is no key.
    let bearer = format!("Bearer {ticket}");
    let asked = web.request("GET", "/api/look", &[("Authorization", Some(&bearer))], "");
    assert_eq!(asked.status, 401);
    assert_eq!(enter(ticket).value(), json!({"key": web.key}));
    assert!(web.look()["stamp"].is_string());
    // Who shows it again may be somebody else, and so may have been who showed it first.
    assert_eq!(enter(ticket).status, 0);
    let mut said = String::new();
    stderr.read_to_string(&mut said).expect("it has ended");
    assert!(said.contains("opened twice"), "{said}");
}

#[test]
fn only_this_machine_can_connect() {
    let home = Home::new();
    let web = Web::new(&home, &[]);
    // All of 127.0.0.0/8 is this machine, and the address that it has on its network is too.
    if cfg!(target_os = "linux") {
        assert!(TcpStream::connect(("127.0.0.2", web.port)).is_err());
    }
    assert!(TcpStream::connect(("::1", web.port)).is_err());
}

#[test]
fn without_write_nothing_is_changed() {
    let home = home();
    let before = home.rows();
    let web = Web::new(&home, &[]);
    assert_eq!(web.look()["writes"], false);
    for words in [
        &["add", "--score", "9", "--", "new", "because"][..],
        &["update", "--score=9", "--", "force-push to main"],
        &["tag", "plain words", "a"],
        &["touch", "long meetings"],
        &["recall", "--touch", "words"],
        &["remove", "--", "force-push to main"],
        &["undo"],
        &["review", "accept", "1"],
        &["review", "reject", "--all"],
        &["review", "edit", "1", "--score=5"],
    ] {
        let answer = web.ask(words);
        assert_eq!(
            (answer.status, answer.kind()),
            (403, json!("read_only")),
            "{words:?}"
        );
    }
    assert_eq!(home.rows(), before);
}

#[test]
fn each_answer_is_what_the_command_prints() {
    let home = home();
    let web = Web::new(&home, &[]);
    for words in [
        &["show"][..],
        &["top", "20000"],
        &["why", "plain words"],
        &["recall", "--scenario=coding"],
        &["recall", "--related", "--limit=40", "write the report"],
        &[
            "context",
            "--budget=100",
            "--format=json",
            "--scenario=auto",
            "--",
            "write the report",
        ],
        &["context", "--format=json", "--", ""],
        &["history", "--limit=3"],
        &["review"],
        &["scenarios"],
        &["config", "show"],
        &["sync", "status"],
        &["keywords"],
    ] {
        let answer = web.ask(words);
        assert_eq!(answer.status, 200, "{words:?}: {answer:?}");
        let mut command = vec!["--json"];
        command.extend(words);
        let printed: Value = serde_json::from_str(&home.ok(&command)).expect("one value");
        let value = answer.value();
        assert_eq!(value["answer"], printed, "{words:?}");
        assert_eq!(value["now"], crate::common::NOW, "{words:?}");
        assert!(value["notes"].is_array(), "{words:?}");
        assert!(answer.head.contains("Content-Type: application/json\r\n"));
    }
    let notes = web.ask(&["history", "--limit=1"]).value()["notes"].clone();
    assert_eq!(
        notes[0],
        "only the newest are shown (1 change); --limit N shows more"
    );
    assert_eq!(web.ask(&["info"]).value()["answer"]["entries"], 5);
}

#[test]
fn with_write_a_change_is_made_told_and_taken_back() {
    let home = home();
    let web = Web::new(&home, &["--write"]);
    assert_eq!(web.look()["writes"], true);
    let before: Value = home.json(&["show"]);
    let outcome = web
        .ask(&[
            "update",
            "--score=3",
            "--reason=-5% a day",
            "--",
            "plain words",
        ])
        .value();
    assert_eq!(outcome["answer"]["result"], "updated");
    let entry: Value = home.json(&["show", "plain words"]);
    assert_eq!(
        (&entry["base_score"], &entry["reason"]),
        (&json!(3.0), &json!("-5% a day"))
    );
    let undone = web
        .ask(&["undo", &outcome["answer"]["change"].to_string()])
        .value();
    assert_eq!(undone["answer"]["result"], "undone");
    assert_eq!(home.json::<Value>(&["show"]), before);
    let accepted = web.ask(&["review", "accept", "1"]).value();
    assert_eq!(accepted["answer"][0]["result"], "added");
    assert_eq!(web.ask(&["review", "accept", "1"]).status, 404);
    let wrong = web.ask(&["update", "--score=11", "--", "plain words"]);
    assert_eq!((wrong.status, wrong.kind()), (400, json!("usage")));
    // Two changes of one field: the earlier one cannot be taken back alone.
    let first = web
        .ask(&["update", "--score=4", "--", "plain words"])
        .value();
    web.ask(&["update", "--score=5", "--", "plain words"]);
    let refused = web.ask(&["undo", &first["answer"]["change"].to_string()]);
    assert_eq!((refused.status, refused.kind()), (409, json!("conflict")));
    // A secret that was typed is not stored, and that is said.
    let secret = web
        .ask(&["add", "--", "deploy key", "password: hunter2hunter2"])
        .value();
    assert!(secret["notes"].to_string().contains("password"), "{secret}");
    assert!(!home.ok(&["show", "deploy key"]).contains("hunter2"));
}

#[test]
fn the_stamp_changes_with_the_store_and_with_nothing_else() {
    let home = Home::new();
    let web = Web::new(&home, &["--write"]);
    let mut seen = vec![web.look()["stamp"].clone()];
    home.ok(&["add", "plain words", "because"]);
    seen.push(web.look()["stamp"].clone());
    web.ask(&["update", "--score=8", "--", "plain words"]);
    seen.push(web.look()["stamp"].clone());
    home.outside("UPDATE preferences SET base_score = 7");
    seen.push(web.look()["stamp"].clone());
    home.write(
        ".aizo/scenarios.yaml",
        b"scenarios:\n  garden:\n    keywords: [soil]\n",
    );
    seen.push(web.look()["stamp"].clone());
    std::fs::remove_file(home.db()).expect("it is there");
    seen.push(web.look()["stamp"].clone());
    for (index, stamp) in seen.iter().enumerate() {
        assert!(!seen[..index].contains(stamp), "{index}: {seen:?}");
    }
    home.ok(&["add", "plain words", "because"]);
    let before = web.look();
    for words in [
        &["show"][..],
        &["history"],
        &["context", "--", "words"],
        &["info"],
    ] {
        assert_eq!(web.ask(words).status, 200);
    }
    assert_eq!(web.look(), before, "reading changes nothing");
}

#[test]
fn a_port_that_is_taken_is_said() {
    let home = Home::new();
    let web = Web::new(&home, &[]);
    let port = web.port.to_string();
    let second = home.run(&["web", "--no-open", "--json", "--port", &port]);
    assert_eq!((second.code, second.stdout.as_str()), (1, ""));
    let error: Value =
        serde_json::from_str(second.stderr.lines().last().expect("a line")).expect("JSON");
    assert_eq!(error["error"]["kind"], "io");
    assert!(
        error["error"]["hint"]
            .as_str()
            .is_some_and(|hint| hint.contains("--port 0"))
    );
}

#[test]
fn a_project_cannot_swap_the_store_and_a_flag_can() {
    let home = home();
    home.write("other.env", b"");
    home.write(".env", b"AIZO_DB_PATH=other.db\n");
    let web = Web::new(&home, &[]);
    assert!(web.ask(&["show"]).body.contains(SECRET));
    drop(web);
    let other = home.path().join("other.db");
    let other = other.to_str().expect("a plain path");
    home.ok(&["--db", other, "add", "an entry of the other", "because"]);
    let web = Web::new(&home, &["--db", other]);
    let shown = web.ask(&["show"]);
    assert!(!shown.body.contains(SECRET) && shown.body.contains("an entry of the other"));
}

#[test]
fn a_store_that_cannot_be_read_is_said_and_not_taken_for_an_empty_one() {
    let home = home();
    let web = Web::new(&home, &[]);
    std::fs::write(home.db(), b"no store at all").expect("it can be written");
    let answer = web.ask(&["show"]);
    assert_eq!((answer.status, answer.kind()), (500, json!("not_a_store")));
}
