//! A real Chromium without a window, spoken to in its DevTools protocol over a pipe: nothing to install beside it, no port, and
//! it ends with the test.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// How long anything may take before the test fails: far more than it does.
const PATIENCE: Duration = Duration::from_secs(60);

const NAMES: [&str; 5] = [
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/// A browser with a profile of its own.
pub struct Browser {
    child: Child,
    pipe: ChildStdin,
    messages: Receiver<Value>,
    /// What it told without being asked.
    events: VecDeque<Value>,
    last_id: i64,
    _profile: TempDir,
}

/// A tab of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tab {
    session: String,
}

/// How a tab is set up.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    pub width: u32,
    pub height: u32,
    pub dark: bool,
    pub language: &'static str,
}

impl Default for Look {
    fn default() -> Self {
        Look {
            width: 1280,
            height: 900,
            dark: false,
            language: "en-US",
        }
    }
}

fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    NAMES
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|file| file.is_file())
}

impl Browser {
    /// Starts one; where none is installed, says so and gives nothing.
    pub fn start() -> Option<Self> {
        let Some(program) = program() else {
            // Not `eprintln!`, which a test that passes keeps to itself.
            let note = "note: there is no Chromium here, so the page was not tried in a browser";
            writeln!(std::io::stderr(), "{note}").expect("somebody listens");
            return None;
        };
        let profile = tempfile::tempdir().expect("a temporary folder");
        // The protocol is spoken over the files 3 and 4.
        let mut child = Command::new("sh")
            .args([
                "-c",
                "exec \"$0\" \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null 2>&1",
            ])
            .arg(program)
            .args([
                "--headless=new",
                "--remote-debugging-pipe",
                // The only pages are our own, and what a sandbox needs is not to be had in many a container.
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-extensions",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .env("HOME", profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Chromium starts");
        let mut output = BufReader::new(child.stdout.take().expect("piped"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            loop {
                let mut message = Vec::new();
                match output.read_until(0, &mut message) {
                    Ok(0) | Err(_) => return,
                    Ok(_) => message.pop(),
                };
                let Ok(message) = serde_json::from_slice(&message) else {
                    return;
                };
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Some(Browser {
            pipe: child.stdin.take().expect("piped"),
            child,
            messages,
            events: VecDeque::new(),
            last_id: 0,
            _profile: profile,
        })
    }

    fn call(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let mut message = json!({"id": self.last_id, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        self.pipe
            .write_all(format!("{message}\0").as_bytes())
            .expect("Chromium listens");
        loop {
            let answer = self.hear();
            if answer["id"] == self.last_id {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.events.push_back(answer);
        }
    }

    fn hear(&mut self) -> Value {
        self.messages
            .recv_timeout(PATIENCE)
            .expect("Chromium answers")
    }

    /// Opens a tab that keeps nothing and knows nothing of the others.
    pub fn open(&mut self, address: &str, look: Look) -> Tab {
        let context = self.call(None, "Target.createBrowserContext", json!({}));
        let target = self.call(
            None,
            "Target.createTarget",
            json!({"url": "about:blank", "browserContextId": context["browserContextId"]}),
        );
        let attached = self.call(
            None,
            "Target.attachToTarget",
            json!({"targetId": target["targetId"], "flatten": true}),
        );
        let tab = Tab {
            session: attached["sessionId"].as_str().expect("a name").to_owned(),
        };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            self.tell(&tab, &format!("{domain}.enable"), json!({}));
        }
        let light = if look.dark { "dark" } else { "light" };
        self.tell(
            &tab,
            "Emulation.setDeviceMetricsOverride",
            json!({"width": look.width, "height": look.height, "deviceScaleFactor": 1, "mobile": look.width < 600}),
        );
        self.tell(
            &tab,
            "Emulation.setEmulatedMedia",
            json!({"features": [{"name": "prefers-color-scheme", "value": light}]}),
        );
        self.tell(
            &tab,
            "Emulation.setUserAgentOverride",
            json!({"userAgent": "a test", "acceptLanguage": look.language}),
        );
        self.go(&tab, address);
        tab
    }

    /// Says something to a tab in the protocol.
    pub fn tell(&mut self, tab: &Tab, method: &str, params: Value) -> Value {
        self.call(Some(&tab.session), method, params)
    }

    pub fn go(&mut self, tab: &Tab, address: &str) {
        self.tell(tab, "Page.navigate", json!({"url": address}));
    }

    /// Runs a script in a tab, waits for what it promises, and gives its value.
    pub fn run(&mut self, tab: &Tab, script: &str) -> Value {
        let done = self.tell(
            tab,
            "Runtime.evaluate",
            json!({"expression": script, "awaitPromise": true, "returnByValue": true, "userGesture": true}),
        );
        assert!(
            done["exceptionDetails"].is_null(),
            "{script}: {}",
            done["exceptionDetails"]
        );
        done["result"]["value"].clone()
    }

    /// Waits until a script gives something that is true.
    pub fn wait(&mut self, tab: &Tab, script: &str) -> Value {
        let begun = Instant::now();
        loop {
            // While a page is loaded, what it asks for is not there yet.
            let guarded =
                format!("(() => {{ try {{ return {script} }} catch {{ return null }} }})()");
            let value = self.run(tab, &guarded);
            if !matches!(&value, Value::Null | Value::Bool(false)) && value != 0 && value != "" {
                return value;
            }
            if begun.elapsed() > PATIENCE {
                let page = self.run(tab, "document.body.innerText.slice(0, 3000)");
                panic!("it never became true: {script}\n{page}");
            }
            std::thread::sleep(Duration::from_millis(40));
        }
    }

    /// Clicks on the one element that the selector finds, where it is seen.
    pub fn click(&mut self, tab: &Tab, selector: &str) {
        let at = self.wait(
            tab,
            &format!(
                "(() => {{ const all = document.querySelectorAll({selector:?}); \
                 if (all.length !== 1) throw new Error(all.length); \
                 all[0].scrollIntoView({{block: 'center'}}); const {{x, y, width, height}} = all[0].getBoundingClientRect(); \
                 return width && [x + width / 2, y + height / 2] }})()"
            ),
        );
        for kind in ["mousePressed", "mouseReleased"] {
            self.tell(
                tab,
                "Input.dispatchMouseEvent",
                json!({"type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1}),
            );
        }
    }

    /// Puts a text in the place of what a field holds, as typing does.
    pub fn fill(&mut self, tab: &Tab, selector: &str, text: &str) {
        self.wait(
            tab,
            &format!("(() => {{ const field = document.querySelector({selector:?}); field.focus(); field.select(); return true }})()"),
        );
        if text.is_empty() {
            self.press(tab, "Delete");
        } else {
            self.tell(tab, "Input.insertText", json!({"text": text}));
        }
    }

    /// Presses a key.
    pub fn press(&mut self, tab: &Tab, key: &str) {
        let code = match key {
            "Enter" => 13,
            "Escape" => 27,
            "End" => 35,
            "Home" => 36,
            "ArrowUp" => 38,
            "ArrowDown" => 40,
            "Delete" => 46,
            "Tab" => 9,
            _ => 0,
        };
        let text = match key {
            "Enter" => "\r",
            key if key.len() == 1 => key,
            _ => "",
        };
        let mut down = json!({"type": "keyDown", "key": key, "windowsVirtualKeyCode": code});
        if !text.is_empty() {
            down["text"] = text.into();
        }
        self.tell(tab, "Input.dispatchKeyEvent", down);
        let up = json!({"type": "keyUp", "key": key, "windowsVirtualKeyCode": code});
        self.tell(tab, "Input.dispatchKeyEvent", up);
    }

    /// Everything that went wrong in any tab: errors of scripts, refused loads, broken rules of the page. Forgets it.
    pub fn troubles(&mut self) -> Vec<String> {
        let is_trouble = |event: &Value| match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => event["params"]["type"] != "log",
            Some("Log.entryAdded") => event["params"]["entry"]["level"] == "error",
            _ => false,
        };
        let found = self.events.iter().filter(|event| is_trouble(event));
        let found = found.map(|event| event["params"].to_string()).collect();
        self.events.retain(|event| !is_trouble(event));
        found
    }

    /// The addresses that were asked for, of any tab.
    pub fn addresses(&self) -> Vec<String> {
        let of = |event: &Value| {
            let is_one = event["method"] == "Network.requestWillBeSent";
            is_one.then(|| {
                event["params"]["request"]["url"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned()
            })
        };
        self.events.iter().filter_map(of).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}
