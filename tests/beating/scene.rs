//! A home in which every command that writes has something to do, put back to its beginning as often as it is needed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::common::{Chat, Home, Run};

/// A command that writes.
pub struct Deed {
    pub name: &'static str,
    pub arguments: &'static [&'static str],
    pub input: &'static str,
    /// Whether git has a part in it.
    pub syncs: bool,
}

const fn deed(name: &'static str, arguments: &'static [&'static str]) -> Deed {
    Deed {
        name,
        arguments,
        input: "",
        syncs: false,
    }
}

const fn synced(name: &'static str, arguments: &'static [&'static str]) -> Deed {
    Deed {
        syncs: true,
        ..deed(name, arguments)
    }
}

/// Every command that writes.
pub const DEEDS: &[Deed] = &[
    deed("add", &["add", "tabs", "asked twice"]),
    deed(
        "add a limit",
        &["add", "nested tables", "never again", "--score", "0"],
    ),
    deed(
        "add to a limit",
        &["add", "force-push", "once more", "--score", "9"],
    ),
    Deed {
        input: "{\"item\":\"a\",\"reason\":\"r\"}\n{\"item\":\"b\",\"reason\":\"r\"}\n{\"item\":\"c\",\"reason\":\"r\",\"score\":0}\n",
        ..deed("add several", &["add", "--stdin"])
    },
    deed("update", &["update", "short answers", "--score", "3"]),
    deed("tag", &["tag", "short answers", "brief"]),
    deed("touch", &["touch", "short answers"]),
    deed("apply", &["apply", "1"]),
    deed("remove", &["remove", "short answers"]),
    deed("undo", &["undo"]),
    deed("clear", &["clear", "--yes"]),
    deed("review accept", &["review", "accept", "1"]),
    deed("review reject", &["review", "reject", "1"]),
    deed("config", &["config", "set-half-life", "20"]),
    deed("import an export", &["import", "files/profile.jsonl"]),
    deed(
        "import rules",
        &["import", "files/rules.md", "--format", "rules"],
    ),
    deed("forget", &["forget", "short answers", "--yes"]),
    deed("restore", &["restore", "files/copy.db", "--yes"]),
    deed("backup", &["backup"]),
    deed("backup to a file", &["backup", "files/new.db"]),
    deed("doctor", &["doctor", "--fix"]),
    deed("analyze", &["analyze", "files/chat.jsonl"]),
    synced("sync push", &["sync", "push"]),
    synced("sync pull", &["sync", "pull"]),
    synced("sync", &["sync"]),
    synced(
        "forget what was synced",
        &["forget", "short answers", "--yes"],
    ),
];

/// A home and how it was at its beginning.
pub struct Scene {
    pub home: Home,
    beginning: TempDir,
}

impl Scene {
    /// A store with a bit of everything. With `syncs` another device has pushed to a repository what is not here yet.
    pub fn new(syncs: bool) -> Self {
        let home = Home::new();
        fill(&home);
        if syncs {
            let url = home.path().join("server.git").display().to_string();
            git(home.path(), &["init", "--bare", "--quiet", "server.git"]);
            home.ok(&["sync", "init", &url]);
            home.ok(&["sync"]);
            let other = Home::new();
            other.ok(&["sync", "init", &url]);
            other.ok(&["sync"]);
            other.ok(&["add", "of the other device", "said there", "--score", "0.5"]);
            other.ok(&["update", "concise code", "--score", "2"]);
            other.ok(&["sync"]);
            home.ok(&["add", "not pushed yet", "said here"]);
        }
        let beginning = tempfile::tempdir().expect("a temporary folder");
        copy(home.path(), beginning.path());
        Scene { home, beginning }
    }

    /// Makes what is there now the beginning.
    pub fn remember(&self) {
        empty(self.beginning.path());
        copy(self.home.path(), self.beginning.path());
    }

    /// Where the beginning is kept.
    pub fn beginning(&self) -> &Path {
        self.beginning.path()
    }

    /// Puts everything back to its beginning.
    pub fn reset(&self) {
        empty(self.home.path());
        copy(self.beginning.path(), self.home.path());
    }

    /// A command of this home, not yet run.
    pub fn command(&self, deed: &Deed) -> Command {
        self.home.command(deed.arguments)
    }

    pub fn run(&self, deed: &Deed) -> Run {
        self.home
            .feed(&mut self.command(deed), deed.input.as_bytes())
    }

    /// The states before a command and after it.
    pub fn states(&self, deed: &Deed) -> (State, State) {
        self.reset();
        let before = State::of(&self.home.db());
        let run = self.run(deed);
        assert_eq!(run.code, 0, "{}: {run:?}", deed.name);
        (before, State::of(&self.home.db()))
    }
}

fn fill(home: &Home) {
    home.ok(&[
        "add",
        "concise code",
        "asked twice",
        "--scenarios",
        "coding",
    ]);
    home.ok(&["add", "force-push", "lost a day", "--score", "0.5"]);
    home.ok(&[
        "add",
        "红烧肉",
        "每个星期",
        "--score",
        "8",
        "--keywords",
        "food,晚饭",
    ]);
    home.ok(&["add", "gone", "soon", "--score", "4"]);
    home.ok(&["backup", "copy.db"]);
    home.ok(&["export", "profile.jsonl"]);
    fs::create_dir(home.path().join("files")).expect("a folder");
    for name in ["copy.db", "profile.jsonl"] {
        fs::rename(home.path().join(name), home.path().join("files").join(name)).expect("it moves");
    }
    home.write(
        "files/rules.md",
        b"- Never use nested ternaries.\n- Always write tests first.\n- Prefer tabs.\n",
    );
    let chat = Chat::new("s1")
        .user("Never use emojis in code, I hate them.")
        .assistant("Fine.")
        .user("I always prefer short functions.");
    chat.write(home, "files/chat.jsonl");
    home.ok(&["remove", "gone"]);
    // What a killed run has left, for doctor.
    home.write(".aizo/backups/.aizo-backup-left", b"half a copy");
    home.ok(&[
        "add", "beeps", "in a log", "--score", "1", "--source", "analysis",
    ]);
    home.ok(&["add", "short answers", "asked often", "--score", "8"]);
}

/// What a store says, without the names and times that every run makes anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State(BTreeSet<String>);

impl State {
    pub fn of(store: &Path) -> Self {
        Self::read(store).unwrap_or_else(|error| panic!("{}: {error}", store.display()))
    }

    pub fn read(store: &Path) -> rusqlite::Result<Self> {
        let connection = rusqlite::Connection::open(store)?;
        let mut rows = BTreeSet::new();
        for query in [
            "SELECT 'entry', item, reason, keywords, base_score, source, origin, last_seen, touch_count,
                 (SELECT group_concat(scenario) FROM preference_scenarios WHERE preference_id = p.id)
             FROM preferences p",
            "SELECT 'evidence', e.quote, e.at, e.score, p.item FROM evidence e JOIN preferences p ON p.id = e.preference_id",
            "SELECT 'waits', item, reason, score FROM proposals",
            "SELECT 'decay', half_life_days, floor FROM decay_config",
            "SELECT 'session', content_hash FROM sessions",
            // Whether it is the one or the other shows in the journal too.
            "SELECT 'line', op, kind, count(*) FROM journal GROUP BY op, kind",
        ] {
            let mut statement = connection.prepare(query)?;
            let columns = statement.column_count();
            let mut found = statement.query([])?;
            while let Some(row) = found.next()? {
                let cells: Vec<String> = (0..columns)
                    .map(|index| row.get(index).map(shown))
                    .collect::<rusqlite::Result<_>>()?;
                rows.insert(cells.join(" | "));
            }
        }
        Ok(State(rows))
    }

    /// What is in one of two and not in the other, for a message.
    pub fn against(&self, other: &State) -> Vec<String> {
        let less = self.0.difference(&other.0).map(|row| format!("+ {row}"));
        let more = other.0.difference(&self.0).map(|row| format!("- {row}"));
        less.chain(more).collect()
    }
}

fn shown(cell: rusqlite::types::Value) -> String {
    use rusqlite::types::Value;
    match cell {
        Value::Text(text) => text,
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        other => format!("{other:?}"),
    }
}

/// Fails where SQLite finds a store damaged.
pub fn is_sound(store: &Path) {
    let verdict: String = rusqlite::Connection::open(store)
        .and_then(|connection| connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)))
        .unwrap_or_else(|error| error.to_string());
    assert_eq!(verdict, "ok", "{}", store.display());
}

/// What ended runs have left that is neither a store, nor what belongs to one, nor a finished copy.
pub fn leftovers(home: &Home) -> Vec<PathBuf> {
    files(&home.aizo())
        .into_iter()
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(".aizo") || name.starts_with(".tmp") || name.ends_with("-journal")
        })
        .collect()
}

/// All files below a folder.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Removes all that is in a folder.
fn empty(folder: &Path) {
    for entry in fs::read_dir(folder).expect("the folder reads") {
        let path = entry.expect("the entry reads").path();
        if path.is_dir() {
            fs::remove_dir_all(&path).expect("it goes");
        } else {
            fs::remove_file(&path).expect("it goes");
        }
    }
}

/// Copies all that is in a folder into another one.
pub fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("the folder reads") {
        let path = entry.expect("the entry reads").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            fs::create_dir_all(&target).expect("a folder");
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).expect("it copies");
        }
    }
    let mode = fs::metadata(from).expect("it is there").permissions();
    fs::set_permissions(to, mode).expect("the mode is set");
}

pub fn git(folder: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "init.defaultBranch=main"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("git starts");
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
}
