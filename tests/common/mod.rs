//! A home folder of its own for each test, a fixed clock, an empty environment, and the real binary.

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
        let mut child = self
            .command(arguments)
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
