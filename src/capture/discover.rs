//! Where each host keeps its history on this machine.

use std::fs;
use std::path::{Path, PathBuf};

use super::host::Host;

/// What is known about the machine: the home folder, and a way to ask for a variable of the environment.
pub struct Surroundings<'e> {
    /// The person's home folder.
    pub home: Option<PathBuf>,
    /// The value of an environment variable.
    pub variable: &'e dyn Fn(&str) -> Option<String>,
}

/// The history of one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    /// The host.
    pub host: Host,
    /// Its files, and folders of nothing but its files; never empty.
    pub paths: Vec<PathBuf>,
}

/// The histories that are there, in the order of the table of hosts.
pub fn histories(surroundings: &Surroundings<'_>) -> Vec<History> {
    let find = |host| match host {
        Host::ClaudeCode => claude_code(surroundings),
        Host::Codex => codex(surroundings),
        Host::OpenCode => opencode(surroundings),
        Host::OpenClaw => openclaw(surroundings),
        Host::Gemini => gemini(surroundings),
        Host::Copilot => copilot(surroundings),
        Host::Cursor => cursor(surroundings),
        // Exports lie where people put them.
        Host::ChatGpt | Host::ClaudeAi | Host::Text => Vec::new(),
    };
    Host::all()
        .map(|host| History {
            host,
            paths: find(host),
        })
        .filter(|history| !history.paths.is_empty())
        .collect()
}

impl Surroundings<'_> {
    /// The folder that a variable names, else one under the home folder.
    fn folder(&self, variable: &str, under_home: &str) -> Option<PathBuf> {
        self.value(variable)
            .map(PathBuf::from)
            .or_else(|| Some(self.home.as_ref()?.join(under_home)))
    }

    fn value(&self, variable: &str) -> Option<String> {
        (self.variable)(variable).filter(|value| !value.is_empty())
    }
}

fn claude_code(on: &Surroundings<'_>) -> Vec<PathBuf> {
    let Some(folder) = on.folder("CLAUDE_CONFIG_DIR", ".claude") else {
        return Vec::new();
    };
    // What else lies there belongs to subagents and tools.
    each(&folder.join("projects"))
        .iter()
        .flat_map(|project| each(project))
        .filter(|path| ends_with(path, &[".jsonl", ".jsonl.gz", ".jsonl.zst"]))
        .collect()
}

fn codex(on: &Surroundings<'_>) -> Vec<PathBuf> {
    let folder = on.folder("CODEX_HOME", ".codex");
    existing(
        folder
            .iter()
            .flat_map(|folder| ["sessions", "archived_sessions"].map(|name| folder.join(name))),
    )
}

fn opencode(on: &Surroundings<'_>) -> Vec<PathBuf> {
    let data = on.folder("XDG_DATA_HOME", ".local/share");
    let folder = data.map(|data| data.join("opencode")).unwrap_or_default();
    let mut databases: Vec<PathBuf> = match on.value("OPENCODE_DB") {
        Some(path) => {
            let path = PathBuf::from(path);
            existing([if path.is_relative() {
                folder.join(path)
            } else {
                path
            }])
        }
        None => each(&folder)
            .into_iter()
            .filter(|path| name_of(path).starts_with("opencode") && name_of(path).ends_with(".db"))
            .collect(),
    };
    if databases.is_empty() {
        databases = existing([folder.join("storage").join("session")]);
    }
    databases
}

fn openclaw(on: &Surroundings<'_>) -> Vec<PathBuf> {
    let Some(home) = &on.home else {
        return Vec::new();
    };
    let mut paths = Vec::new();
    for agent in each(&home.join(".openclaw").join("agents")) {
        paths.extend(existing([
            agent.join("sessions"),
            agent.join("agent").join("openclaw-agent.sqlite"),
        ]));
    }
    paths.extend(existing([home.join(".pi/agent/sessions")]));
    paths
}

fn gemini(on: &Surroundings<'_>) -> Vec<PathBuf> {
    let folder = on
        .folder("GEMINI_CLI_HOME", "")
        .map(|home| home.join(".gemini").join("tmp"));
    let projects = folder.map(|folder| each(&folder)).unwrap_or_default();
    existing(projects.iter().map(|project| project.join("chats")))
}

fn copilot(on: &Surroundings<'_>) -> Vec<PathBuf> {
    let Some(folder) = on.folder("COPILOT_HOME", ".copilot") else {
        return Vec::new();
    };
    each(&folder.join("session-state"))
        .into_iter()
        .map(|path| {
            if path.is_dir() {
                path.join("events.jsonl")
            } else {
                path
            }
        })
        .filter(|path| ends_with(path, &[".jsonl"]) && path.is_file())
        .collect()
}

fn cursor(on: &Surroundings<'_>) -> Vec<PathBuf> {
    let Some(home) = &on.home else {
        return Vec::new();
    };
    let projects = each(&home.join(".cursor").join("projects"));
    existing(
        projects
            .iter()
            .map(|project| project.join("agent-transcripts")),
    )
}

/// What lies in a folder, in the order of the names.
fn each(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    paths
}

fn existing(paths: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    paths.into_iter().filter(|path| path.exists()).collect()
}

fn name_of(path: &Path) -> &str {
    path.file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default()
}

fn ends_with(path: &Path, endings: &[&str]) -> bool {
    endings.iter().any(|ending| name_of(path).ends_with(ending))
}
