//! What aizo puts where, host by host: the events at which the host calls it, the server that it starts, and the skill.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::host::{Machine, Scope};
use super::jsonc::{Dialect, Place};
use super::toml::{Table, quoted};
use crate::capture::hook::Caller;

/// The operating procedure, as it is in the repository.
pub const SKILL: &str = include_str!("../../skills/aizo-sop.md");
/// How a plugin asks aizo.
const ASK: &str = include_str!("glue/ask.js");
const OPENCODE: &str = include_str!("glue/opencode.js");
const OPENCLAW: &str = include_str!("glue/openclaw.js");
/// Seconds after which a host goes on without an answer.
const TIMEOUT: u64 = 10;

/// What an agent's host gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Calls at its events.
    Hooks,
    /// The server with tools.
    Mcp,
    /// The operating procedure.
    Skill,
}

/// Something that belongs into a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// What it is.
    pub part: Part,
    /// The file.
    pub file: PathBuf,
    /// What belongs into it.
    pub content: Content,
}

/// What belongs into a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// This and nothing else: the file is aizo's.
    Whole(String),
    /// Values among those of others.
    Json(Dialect, Vec<Item>),
    /// A table among those of others.
    Toml(Table),
}

/// A value among those of others.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Where it belongs.
    pub place: Place,
    /// The value.
    pub value: Value,
    /// Whether any other value there will do.
    pub is_default: bool,
    /// A member in which the value belongs where there is one: a later version of the host looks there.
    pub deeper: Option<&'static str>,
}

/// How aizo is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its name, where it is found by it, else its path.
    pub name: String,
    /// Whether that is a path.
    pub is_path: bool,
    /// Whether commands are read by Windows.
    pub windows: bool,
}

impl Program {
    /// The one that is found by its name.
    pub fn by_name(windows: bool) -> Self {
        Program {
            name: "aizo".to_owned(),
            is_path: false,
            windows,
        }
    }

    /// The command that a host runs at an event. When aizo is gone it does nothing and ends with 0: a host may take
    /// everything else for a refusal.
    pub fn hook(&self, host: Caller, event: Option<&str>) -> String {
        let event = event.map(|event| format!(" {event}")).unwrap_or_default();
        let call = format!("hook {}{event}", host.name());
        // The one host that is refused an action by an exit code must get it.
        let with_code = host == Caller::Windsurf;
        // Claude Code runs its commands in a POSIX shell everywhere.
        if self.windows && host != Caller::ClaudeCode {
            let is_there = if self.is_path {
                let end = if with_code { "" } else { " || exit 0" };
                format!("if exist \"{0}\" \"{0}\" {call}{end}", self.name)
            } else if with_code {
                format!("where aizo >nul 2>nul || exit 0 & aizo {call}")
            } else {
                format!("where aizo >nul 2>nul && aizo {call} || exit 0")
            };
            return format!("cmd /d /s /c \"{is_there}\"");
        }
        let name = if self.is_path {
            format!("'{}'", self.name.replace('\'', "'\\''"))
        } else {
            self.name.clone()
        };
        if with_code {
            format!("command -v {name} >/dev/null 2>&1 || exit 0; {name} {call}")
        } else {
            format!("command -v {name} >/dev/null 2>&1 && {name} {call} || exit 0")
        }
    }
}

/// Whether the words of a hook entry call aizo for a host.
pub(super) fn calls(words: &str, host: Caller) -> bool {
    let call = format!("hook {}", host.name());
    words.contains("aizo")
        && words
            .match_indices(&call)
            .any(|(at, _)| !words[at + call.len()..].starts_with(|c: char| c.is_alphanumeric()))
}

/// Whether the words of a server's entry start aizo.
pub(super) fn serves(words: &str) -> bool {
    words.contains("aizo") && words.split_whitespace().any(|word| word == "mcp")
}

/// Everything that a host gets.
pub fn pieces(host: Caller, scope: &Scope, machine: &Machine<'_>, program: &Program) -> Vec<Piece> {
    let mut pieces = hooks(host, scope, machine, program);
    pieces.extend(server(host, scope, machine, program));
    pieces.push(Piece {
        part: Part::Skill,
        file: skills(host, scope, machine)
            .join("aizo-sop")
            .join("SKILL.md"),
        content: Content::Whole(SKILL.to_owned()),
    });
    pieces
}

/// The folder in which a host looks for skills.
fn skills(host: Caller, scope: &Scope, machine: &Machine<'_>) -> PathBuf {
    let at = match (host, scope) {
        (Caller::ClaudeCode, Scope::User) => return machine.settings(host).join("skills"),
        (_, Scope::User) => &machine.home,
        (_, Scope::Project(folder)) => folder,
    };
    let folder = if host == Caller::ClaudeCode {
        ".claude"
    } else {
        ".agents"
    };
    at.join(folder).join("skills")
}

/// A host's folder of settings.
fn folder(host: Caller, scope: &Scope, machine: &Machine<'_>) -> PathBuf {
    let project = match scope {
        Scope::User => return machine.settings(host),
        Scope::Project(folder) => folder,
    };
    project.join(match host {
        Caller::ClaudeCode => ".claude",
        Caller::Codex => ".codex",
        Caller::OpenCode => ".opencode",
        Caller::OpenClaw => ".openclaw",
        Caller::Gemini => ".gemini",
        Caller::Copilot => ".github",
        Caller::Cursor => ".cursor",
        Caller::Windsurf => ".windsurf",
    })
}

fn hooks(host: Caller, scope: &Scope, machine: &Machine<'_>, program: &Program) -> Vec<Piece> {
    let folder = folder(host, scope, machine);
    let piece = |file: PathBuf, content: Content| Piece {
        part: Part::Hooks,
        file,
        content,
    };
    let glue = |code: &str| {
        let program = Value::from(program.name.as_str()).to_string();
        let ask = ASK
            .replace("\"AIZO\"", &program)
            .replace("HOST", host.name());
        Content::Whole(format!(
            "// Written by `aizo install {0}`; `aizo uninstall {0}` removes it.\n{ask}{code}",
            host.name()
        ))
    };
    let among_others = || {
        let mut items = entries(host, program);
        if matches!(host, Caller::Cursor) {
            items.insert(0, item(&[], Some("version"), json!(1), true));
        }
        Content::Json(Dialect::Jsonc, items)
    };
    match host {
        Caller::ClaudeCode => vec![piece(folder.join("settings.json"), among_others())],
        Caller::Codex | Caller::Cursor | Caller::Windsurf => {
            vec![piece(folder.join("hooks.json"), among_others())]
        }
        // An extension's hooks do not wait until the person trusts a folder; a project has no extensions.
        Caller::Gemini if *scope == Scope::User => {
            let extension = folder.join("extensions").join("aizo");
            let about = json!({ "name": "aizo", "version": env!("CARGO_PKG_VERSION") });
            vec![
                piece(extension.join("gemini-extension.json"), pretty(&about)),
                piece(
                    extension.join("hooks").join("hooks.json"),
                    pretty(&joined(host, program)),
                ),
            ]
        }
        Caller::Gemini => vec![piece(folder.join("settings.json"), among_others())],
        Caller::Copilot => {
            let mut all = json!({ "version": 1 });
            all["hooks"] = joined(host, program)["hooks"].take();
            vec![piece(folder.join("hooks").join("aizo.json"), pretty(&all))]
        }
        Caller::OpenCode => vec![piece(
            folder.join("plugins").join("aizo.js"),
            glue(OPENCODE),
        )],
        Caller::OpenClaw => {
            let plugin = folder.join("extensions").join("aizo");
            let about = json!({
                "id": "aizo", "name": "aizo", "description": "What the user likes, dislikes and must never see",
                "version": env!("CARGO_PKG_VERSION"),
                "configSchema": { "type": "object", "additionalProperties": false, "properties": {} }
            });
            let package = json!({
                "name": "aizo-openclaw", "version": env!("CARGO_PKG_VERSION"), "private": true,
                "type": "module", "openclaw": { "extensions": ["./index.js"] }
            });
            vec![
                piece(plugin.join("openclaw.plugin.json"), pretty(&about)),
                piece(plugin.join("package.json"), pretty(&package)),
                piece(plugin.join("index.js"), glue(OPENCLAW)),
            ]
        }
    }
}

/// A file that is aizo's alone.
pub(super) fn pretty(value: &Value) -> Content {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    Content::Whole(text)
}

/// All of a host's entries as one object.
pub(super) fn joined(host: Caller, program: &Program) -> Value {
    let mut all = json!({ "hooks": {} });
    for entry in entries(host, program) {
        let event = entry.place.path.last().map_or("", String::as_str);
        all["hooks"][event] = json!([entry.value]);
    }
    all
}

fn item(path: &[&str], name: Option<&str>, value: Value, is_default: bool) -> Item {
    Item {
        place: Place {
            path: path.iter().map(|&name| name.to_owned()).collect(),
            name: name.map(str::to_owned),
        },
        value,
        is_default,
        deeper: None,
    }
}

/// The entries for a host's events, each an element of `hooks.EVENT`.
fn entries(host: Caller, program: &Program) -> Vec<Item> {
    let events: &[&str] = match host {
        Caller::ClaudeCode => &[
            "SessionStart",
            "UserPromptSubmit",
            "PreToolUse",
            "Stop",
            "PreCompact",
            "SessionEnd",
        ],
        Caller::Codex => &[
            "SessionStart",
            "UserPromptSubmit",
            "PreToolUse",
            "PermissionRequest",
            "Stop",
            "PreCompact",
            "SessionEnd",
        ],
        Caller::Gemini => &[
            "SessionStart",
            "BeforeAgent",
            "BeforeTool",
            "AfterAgent",
            "PreCompress",
            "SessionEnd",
        ],
        // What it answers to a prompt is not read.
        Caller::Copilot => &["sessionStart", "preToolUse", "agentStop", "sessionEnd"],
        // Its events for shells and servers would ask about the same actions once more.
        Caller::Cursor => &["sessionStart", "preToolUse", "stop", "sessionEnd"],
        Caller::Windsurf => &[
            "pre_run_command",
            "pre_write_code",
            "pre_mcp_tool_use",
            "post_cascade_response_with_transcript",
        ],
        // Their glue calls.
        Caller::OpenCode | Caller::OpenClaw => &[],
    };
    let entry = |event: &str| {
        // Its small payloads do not say which event they are of.
        let named = (host == Caller::Copilot).then_some(event);
        let command = program.hook(host, named);
        match host {
            Caller::Gemini => json!({ "hooks": [
                { "type": "command", "name": "aizo", "command": command, "timeout": TIMEOUT * 1000 }
            ] }),
            Caller::Copilot => {
                json!({ "type": "command", "command": command, "timeoutSec": TIMEOUT })
            }
            Caller::Cursor | Caller::Windsurf => json!({ "command": command }),
            Caller::Codex if event == "SessionEnd" => {
                json!({ "hooks": [{ "type": "command", "command": command, "timeout": 3 }] })
            }
            _ => {
                json!({ "hooks": [{ "type": "command", "command": command, "timeout": TIMEOUT }] })
            }
        }
    };
    events
        .iter()
        .map(|event| item(&["hooks", event], None, entry(event), false))
        .collect()
}

/// The entry of the server, where the host has a place for it.
fn server(host: Caller, scope: &Scope, machine: &Machine<'_>, program: &Program) -> Option<Piece> {
    let settings = folder(host, scope, machine);
    let name = program.name.as_str();
    let common = json!({ "command": name, "args": ["mcp"] });
    let servers = |file: PathBuf, value: Value| {
        let items = vec![item(&["mcpServers"], Some("aizo"), value, false)];
        (file, Content::Json(Dialect::Jsonc, items))
    };
    let (file, content) = match (host, scope) {
        (Caller::ClaudeCode, Scope::User) => {
            // Beside the folder, but within it where the person has moved it.
            let moved =
                (machine.variable)("CLAUDE_CONFIG_DIR").is_some_and(|path| !path.is_empty());
            let at = if moved { &settings } else { &machine.home };
            let value = json!({ "type": "stdio", "command": name, "args": ["mcp"], "env": {} });
            servers(at.join(".claude.json"), value)
        }
        (Caller::ClaudeCode, Scope::Project(project)) => servers(project.join(".mcp.json"), common),
        (Caller::Codex, _) => (
            settings.join("config.toml"),
            Content::Toml(Table {
                path: ["mcp_servers", "aizo"],
                pairs: vec![("command", quoted(name)), ("args", "[\"mcp\"]".to_owned())],
            }),
        ),
        (Caller::OpenCode, _) => {
            let at = match scope {
                Scope::User => &settings,
                Scope::Project(project) => project,
            };
            (one_of(at, "opencode", machine), opencode(name))
        }
        (Caller::OpenClaw, Scope::User) => (
            settings.join("openclaw.json"),
            Content::Json(
                Dialect::Json5,
                vec![item(&["mcp", "servers"], Some("aizo"), common, false)],
            ),
        ),
        (Caller::Gemini, _) => servers(settings.join("settings.json"), common),
        (Caller::Copilot, Scope::User) => {
            let value =
                json!({ "type": "local", "command": name, "args": ["mcp"], "tools": ["*"] });
            servers(settings.join("mcp-config.json"), value)
        }
        (Caller::Cursor, _) => servers(settings.join("mcp.json"), common),
        (Caller::Windsurf, Scope::User) => servers(settings.join("mcp_config.json"), common),
        (Caller::OpenClaw | Caller::Copilot | Caller::Windsurf, Scope::Project(_)) => return None,
    };
    Some(Piece {
        part: Part::Mcp,
        file,
        content,
    })
}

fn opencode(name: &str) -> Content {
    let value = json!({ "type": "local", "command": [name, "mcp"], "enabled": true });
    let item = Item {
        deeper: Some("servers"),
        ..item(&["mcp"], Some("aizo"), value, false)
    };
    Content::Json(Dialect::Jsonc, vec![item])
}

/// `NAME.jsonc` where it is there, else `NAME.json`.
fn one_of(folder: &Path, name: &str, machine: &Machine<'_>) -> PathBuf {
    let with_comments = folder.join(format!("{name}.jsonc"));
    if (machine.exists)(&with_comments) {
        with_comments
    } else {
        folder.join(format!("{name}.json"))
    }
}
