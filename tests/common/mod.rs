//! A home folder of its own for each test, a fixed clock, an empty environment, and the real binary.

pub mod pages;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// The clock of all tests, where they do not move it.
pub const NOW: &str = "2026-11-30T12:00:00+00:00";

/// A user's surroundings.
pub struct Home {
    folder: TempDir,
    now: String,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Home {
    /// An empty home folder.
    pub fn new() -> Self {
        Home {
            folder: tempfile::tempdir().expect("a temporary folder"),
            now: NOW.to_owned(),
        }
    }

    /// A home folder with a store that an earlier version wrote.
    pub fn with_store(name: &str) -> Self {
        let home = Home::new();
        std::fs::create_dir(home.aizo()).expect("an empty home");
        std::fs::copy(stored(name), home.db()).expect("the store is in tests/data/stores");
        home
    }

    /// Moves the clock.
    pub fn at(mut self, now: &str) -> Self {
        self.now = now.to_owned();
        self
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn aizo(&self) -> PathBuf {
        self.path().join(".aizo")
    }

    pub fn db(&self) -> PathBuf {
        self.aizo().join("preferences.db")
    }

    /// Writes a file of this name below the home folder, and gives its path.
    pub fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path().join(name);
        write(&path, bytes);
        path
    }

    /// What stands in a file below the home folder.
    pub fn read(&self, name: &str) -> String {
        read(&self.path().join(name))
    }

    /// A command in these surroundings, not yet run.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command
            .args(arguments)
            .current_dir(self.path())
            .env_clear()
            .env("HOME", self.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("AIZO_NOW", &self.now)
            .stdin(Stdio::null());
        if cfg!(windows) {
            // The home folder does not come from a variable there.
            command.env("AIZO_HOME", self.aizo());
            // Windows starts no process without it.
            command.env(
                "SystemRoot",
                std::env::var_os("SystemRoot").unwrap_or_default(),
            );
        }
        command
    }

    /// Runs a command.
    pub fn run(&self, arguments: &[&str]) -> Run {
        Run::of(self.command(arguments).output())
    }

    /// Runs a command that must succeed, and gives its standard output.
    pub fn ok(&self, arguments: &[&str]) -> String {
        let run = self.run(arguments);
        assert_eq!(run.code, 0, "aizo {arguments:?}: {run:?}");
        run.stdout
    }

    /// Runs a command with `--json` that must succeed, and reads its one value.
    pub fn json<T: serde::de::DeserializeOwned>(&self, arguments: &[&str]) -> T {
        let mut all = arguments.to_vec();
        all.push("--json");
        let text = self.ok(&all);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {text}"))
    }

    /// Runs a command with something on its standard input.
    pub fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Run {
        self.feed(&mut self.command(arguments), input)
    }

    /// Runs a command of these surroundings with something on its standard input.
    pub fn feed(&self, command: &mut Command, input: &[u8]) -> Run {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut pipe = child.stdin.take().expect("stdin is piped");
        let input = input.to_vec();
        // A program that stops reading early closes the pipe; that is for it to say.
        let writer = std::thread::spawn(move || {
            let _closed_early = pipe.write_all(&input);
        });
        let run = Run::of(child.wait_with_output());
        writer.join().expect("the writer does not panic");
        run
    }

    /// Lets another program write into the store.
    pub fn outside(&self, sql: &str) {
        let connection = rusqlite::Connection::open(self.db()).expect("the store opens");
        connection
            .execute_batch(sql)
            .unwrap_or_else(|error| panic!("{error}: {sql}"));
    }

    /// The rows that a store's tables hold, for comparing byte by byte.
    pub fn rows(&self) -> Vec<String> {
        let connection = rusqlite::Connection::open(self.db()).expect("the store opens");
        let mut rows = Vec::new();
        for query in [
            "SELECT 'preference', * FROM preferences ORDER BY id",
            "SELECT 'scenario', * FROM preference_scenarios ORDER BY 2, 3",
            "SELECT 'evidence', * FROM evidence ORDER BY uid",
            "SELECT 'proposal', * FROM proposals ORDER BY id",
            "SELECT 'session', * FROM sessions ORDER BY id",
            "SELECT 'decay', * FROM decay_config",
        ] {
            let mut statement = connection.prepare(query).expect("the tables are there");
            let columns = statement.column_count();
            let mut found = statement.query([]).expect("the query runs");
            while let Some(row) = found.next().expect("the row reads") {
                let cells: Vec<String> = (0..columns)
                    .map(|index| format!("{:?}", row.get_ref(index).expect("the cell is there")))
                    .collect();
                rows.push(cells.join(" | "));
            }
        }
        rows
    }
}

impl Run {
    pub fn of(output: std::io::Result<Output>) -> Self {
        let output = output.expect("the binary starts");
        Run {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
        }
    }
}

/// Writes a file, and makes the folders that it needs.
pub fn write(path: &Path, bytes: &[u8]) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, bytes).expect("a file");
}

/// What stands in a file.
pub fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The binary under test.
pub fn binary() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_aizo"))
}

/// A store of an earlier version.
pub fn stored(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/stores")
        .join(name)
}

/// A conversation as Claude Code keeps it, made up.
#[derive(Clone)]
pub struct Chat {
    session: String,
    lines: Vec<serde_json::Value>,
}

impl Chat {
    pub fn new(session: &str) -> Self {
        Chat {
            session: session.to_owned(),
            lines: Vec::new(),
        }
    }

    fn record(mut self, mut record: serde_json::Value) -> Self {
        let number = self.lines.len();
        let parent = self.lines.last().map(|line| line["uuid"].clone());
        let defaults = serde_json::json!({
            "uuid": format!("{}-{number}", self.session),
            "parentUuid": parent,
            "isSidechain": false,
            "sessionId": self.session,
            "timestamp": format!("2026-11-02T{:02}:{:02}:00.000Z", 9 + number / 60, number % 60),
        });
        for (name, value) in defaults.as_object().expect("an object") {
            let known = record.get(name).is_some();
            if !known {
                record[name] = value.clone();
            }
        }
        self.lines.push(record);
        self
    }

    /// What a person typed.
    pub fn user(self, text: &str) -> Self {
        self.record(
            serde_json::json!({"type": "user", "message": {"role": "user", "content": text}}),
        )
    }

    /// The same at another time.
    pub fn user_at(self, time: &str, text: &str) -> Self {
        self.record(serde_json::json!({
            "type": "user", "timestamp": time, "message": {"role": "user", "content": text},
        }))
    }

    /// The same instead of what was said after the record `parent`.
    pub fn user_after(self, parent: usize, text: &str) -> Self {
        let parent = self.lines[parent]["uuid"].clone();
        self.record(serde_json::json!({
            "type": "user", "parentUuid": parent, "message": {"role": "user", "content": text},
        }))
    }

    /// What the agent said.
    pub fn assistant(self, text: &str) -> Self {
        self.record(serde_json::json!({
            "type": "assistant",
            "message": {"role": "assistant", "content": [{"type": "text", "text": text}]},
        }))
    }

    /// A tool that the agent called, and what it returned.
    pub fn tool(self, output: &str) -> Self {
        self.record(serde_json::json!({
            "type": "assistant",
            "message": {"role": "assistant", "content": [
                {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": output}},
            ]},
        }))
        .record(serde_json::json!({
            "type": "user",
            "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": output},
            ]},
            "toolUseResult": {"stdout": output},
        }))
    }

    /// A record of another kind.
    pub fn other(self, record: serde_json::Value) -> Self {
        self.record(record)
    }

    pub fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// Writes it to a file of this name in a home, and gives its path.
    pub fn write(&self, home: &Home, name: &str) -> String {
        let path = home.write(name, self.text().as_bytes());
        path.display().to_string()
    }
}
