//! What aizo puts where, host by host: the events at which the host calls it, the server that it starts, and the skill.

use std::path::PathBuf;

use serde_json::Value;

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

/// What an agent's host gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Calls at its events.
    Hooks,
    /// The server with tools.
    Mcp,
    /// The operating procedure.
    Skill,
}

impl Part {
    /// Its name in the record and in replies.
    pub fn name(self) -> &'static str {
        match self {
            Part::Hooks => "hooks",
            Part::Mcp => "mcp",
            Part::Skill => "skill",
        }
    }
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

    /// Whether the words of a hook entry call aizo for a host.
    pub(super) fn calls(&self, words: &str, host: Caller) -> bool {
        self.is_named_in(words) && Program::is_hook(words, host)
    }

    /// Whether the words of a server's entry start aizo.
    pub(super) fn serves(&self, words: &str) -> bool {
        self.is_named_in(words) && words.split_whitespace().any(|word| word == "mcp")
    }

    /// Whether words ask some program what aizo is asked for a host.
    pub(super) fn is_hook(words: &str, host: Caller) -> bool {
        let call = format!("hook {}", host.name());
        words
            .match_indices(&call)
            .any(|(at, _)| !words[at + call.len()..].starts_with(|c: char| c.is_alphanumeric()))
    }

    /// Whether words name aizo, or the file of this program where somebody has called it otherwise.
    fn is_named_in(&self, words: &str) -> bool {
        let is_border =
            |c: Option<char>| c.is_none_or(|c| c.is_whitespace() || "/\\'\"".contains(c));
        let name = self.name.rsplit(['/', '\\']).next().unwrap_or_default();
        words.contains("aizo")
            || words.match_indices(name).any(|(at, _)| {
                is_border(words[..at].chars().next_back())
                    && is_border(words[at + name.len()..].chars().next())
            })
    }
}

/// A row of the recipe: what belongs into one file of a host.
struct Row {
    host: Caller,
    /// For whom: the person, a project, or both where the file has the same name in both folders.
    scopes: &'static [Kind],
    /// The file: below `~` the home folder, below `.` the project, else the host's own folder of settings in either.
    file: &'static str,
    part: Part,
    body: Body,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    User,
    Project,
}

/// What belongs into a file. `CALL` stands for the command at an event, `AIZO` for the program, both in quotes.
#[derive(Clone, Copy)]
enum Body {
    /// An entry for each event, among those of others.
    Entries,
    /// The same in a file of its own, with what stands before them.
    OwnEntries(&'static str),
    /// A file of its own.
    Own(&'static str),
    /// A program for the host, after the part that asks aizo.
    Glue(&'static str),
    /// The server, as a member of the object to which these names lead.
    Server(Dialect, &'static [&'static str], &'static str),
    /// The server in TOML.
    Toml,
}

const BOTH: &[Kind] = &[Kind::User, Kind::Project];
const USER: &[Kind] = &[Kind::User];
const PROJECT: &[Kind] = &[Kind::Project];
const SERVER: &str = r#"{"command":AIZO,"args":["mcp"]}"#;
const SERVERS: &[&str] = &["mcpServers"];

/// Which file a host reads for what.
const TABLE: &[Row] = {
    use Body::{Entries, Glue, Own, OwnEntries, Server, Toml};
    use Caller::{ClaudeCode, Codex, Copilot, Cursor, Gemini, OpenClaw, OpenCode, Windsurf};
    use Dialect::{Json5, Jsonc};
    use Part::{Hooks, Mcp, Skill};
    const fn row(
        host: Caller,
        scopes: &'static [Kind],
        file: &'static str,
        part: Part,
        body: Body,
    ) -> Row {
        Row {
            host,
            scopes,
            file,
            part,
            body,
        }
    }
    const SHARED: &str = "~/.agents/skills/aizo-sop/SKILL.md";
    const OF_PROJECT: &str = "./.agents/skills/aizo-sop/SKILL.md";
    const STDIO: &str = r#"{"type":"stdio","command":AIZO,"args":["mcp"],"env":{}}"#;
    const LOCAL: &str = r#"{"type":"local","command":AIZO,"args":["mcp"],"tools":["*"]}"#;
    const ONE_LIST: &str = r#"{"type":"local","command":[AIZO,"mcp"],"enabled":true}"#;
    const IN_MCP: &[&str] = &["mcp"];
    &[
        row(ClaudeCode, BOTH, "settings.json", Hooks, Entries),
        row(
            ClaudeCode,
            USER,
            CLAUDE_SERVERS,
            Mcp,
            Server(Jsonc, SERVERS, STDIO),
        ),
        row(
            ClaudeCode,
            PROJECT,
            "./.mcp.json",
            Mcp,
            Server(Jsonc, SERVERS, SERVER),
        ),
        row(
            ClaudeCode,
            BOTH,
            "skills/aizo-sop/SKILL.md",
            Skill,
            Own(SKILL),
        ),
        row(Codex, BOTH, "hooks.json", Hooks, Entries),
        row(Codex, BOTH, "config.toml", Mcp, Toml),
        row(Codex, USER, SHARED, Skill, Own(SKILL)),
        row(Codex, PROJECT, OF_PROJECT, Skill, Own(SKILL)),
        row(OpenCode, BOTH, "plugins/aizo.js", Hooks, Glue(OPENCODE)),
        row(
            OpenCode,
            USER,
            "opencode.json",
            Mcp,
            Server(Jsonc, IN_MCP, ONE_LIST),
        ),
        row(
            OpenCode,
            PROJECT,
            "./opencode.json",
            Mcp,
            Server(Jsonc, IN_MCP, ONE_LIST),
        ),
        row(OpenCode, USER, SHARED, Skill, Own(SKILL)),
        row(OpenCode, PROJECT, OF_PROJECT, Skill, Own(SKILL)),
        row(
            OpenClaw,
            BOTH,
            "extensions/aizo/openclaw.plugin.json",
            Hooks,
            Own(OPENCLAW_ABOUT),
        ),
        row(
            OpenClaw,
            BOTH,
            "extensions/aizo/package.json",
            Hooks,
            Own(OPENCLAW_PACKAGE),
        ),
        row(
            OpenClaw,
            BOTH,
            "extensions/aizo/index.js",
            Hooks,
            Glue(OPENCLAW),
        ),
        row(
            OpenClaw,
            USER,
            "openclaw.json",
            Mcp,
            Server(Json5, &["mcp", "servers"], SERVER),
        ),
        row(OpenClaw, USER, SHARED, Skill, Own(SKILL)),
        row(OpenClaw, PROJECT, OF_PROJECT, Skill, Own(SKILL)),
        // An extension's hooks do not wait until the person trusts a folder; a project has no extensions.
        row(
            Gemini,
            USER,
            "extensions/aizo/gemini-extension.json",
            Hooks,
            Own(GEMINI_ABOUT),
        ),
        row(
            Gemini,
            USER,
            "extensions/aizo/hooks/hooks.json",
            Hooks,
            OwnEntries("{}"),
        ),
        row(Gemini, PROJECT, "settings.json", Hooks, Entries),
        row(
            Gemini,
            BOTH,
            "settings.json",
            Mcp,
            Server(Jsonc, SERVERS, SERVER),
        ),
        row(Gemini, USER, SHARED, Skill, Own(SKILL)),
        row(Gemini, PROJECT, OF_PROJECT, Skill, Own(SKILL)),
        row(
            Copilot,
            BOTH,
            "hooks/aizo.json",
            Hooks,
            OwnEntries(r#"{"version":1}"#),
        ),
        row(
            Copilot,
            USER,
            "mcp-config.json",
            Mcp,
            Server(Jsonc, SERVERS, LOCAL),
        ),
        row(Copilot, USER, SHARED, Skill, Own(SKILL)),
        row(Copilot, PROJECT, OF_PROJECT, Skill, Own(SKILL)),
        row(Cursor, BOTH, "hooks.json", Hooks, Entries),
        row(
            Cursor,
            BOTH,
            "mcp.json",
            Mcp,
            Server(Jsonc, SERVERS, SERVER),
        ),
        row(Cursor, USER, SHARED, Skill, Own(SKILL)),
        row(Cursor, PROJECT, OF_PROJECT, Skill, Own(SKILL)),
        row(Windsurf, BOTH, "hooks.json", Hooks, Entries),
        row(
            Windsurf,
            USER,
            "mcp_config.json",
            Mcp,
            Server(Jsonc, SERVERS, SERVER),
        ),
        row(Windsurf, USER, SHARED, Skill, Own(SKILL)),
        row(Windsurf, PROJECT, OF_PROJECT, Skill, Own(SKILL)),
    ]
};

/// Beside the folder of settings, but within it where the person has moved it.
const CLAUDE_SERVERS: &str = ".claude.json";

/// The events at which each host calls, and the entry for one of them.
fn events(host: Caller) -> (&'static [&'static str], &'static str) {
    const GROUP: &str = r#"{"hooks":[{"type":"command","command":CALL,"timeout":10}]}"#;
    match host {
        Caller::ClaudeCode => (
            &[
                "SessionStart",
                "UserPromptSubmit",
                "PreToolUse",
                "Stop",
                "PreCompact",
                "SessionEnd",
            ],
            GROUP,
        ),
        Caller::Codex => (
            &[
                "SessionStart",
                "UserPromptSubmit",
                "PreToolUse",
                "PermissionRequest",
                "Stop",
                "PreCompact",
                "SessionEnd",
            ],
            GROUP,
        ),
        // It counts milliseconds.
        Caller::Gemini => (
            &[
                "SessionStart",
                "BeforeAgent",
                "BeforeTool",
                "AfterAgent",
                "PreCompress",
                "SessionEnd",
            ],
            r#"{"hooks":[{"type":"command","name":"aizo","command":CALL,"timeout":10000}]}"#,
        ),
        // What is answered to a prompt is not read.
        Caller::Copilot => (
            &["sessionStart", "preToolUse", "agentStop", "sessionEnd"],
            r#"{"type":"command","command":CALL,"timeoutSec":10}"#,
        ),
        // Its events for shells and servers would ask about the same actions once more.
        Caller::Cursor => (
            &["sessionStart", "preToolUse", "stop", "sessionEnd"],
            r#"{"command":CALL}"#,
        ),
        Caller::Windsurf => (
            &[
                "pre_run_command",
                "pre_write_code",
                "pre_mcp_tool_use",
                "post_cascade_response_with_transcript",
            ],
            r#"{"command":CALL}"#,
        ),
        // Their plugins call.
        Caller::OpenCode | Caller::OpenClaw => (&[], ""),
    }
}

/// Everything that a host gets.
pub fn pieces(host: Caller, scope: &Scope, machine: &Machine<'_>, program: &Program) -> Vec<Piece> {
    let kind = match scope {
        Scope::User => Kind::User,
        Scope::Project(_) => Kind::Project,
    };
    TABLE
        .iter()
        .filter(|row| row.host == host && row.scopes.contains(&kind))
        .map(|row| Piece {
            part: row.part,
            file: file(row, scope, machine),
            content: content(row, program),
        })
        .collect()
}

fn file(row: &Row, scope: &Scope, machine: &Machine<'_>) -> PathBuf {
    let (folder, name) = match (row.file.split_once('/'), scope) {
        (Some(("~", name)), _) => (machine.home.clone(), name),
        (Some((".", name)), Scope::Project(project)) => (project.clone(), name),
        (_, Scope::Project(project)) => (project.join(of_project(row.host)), row.file),
        (_, Scope::User) => {
            let moved =
                (machine.variable)("CLAUDE_CONFIG_DIR").is_some_and(|path| !path.is_empty());
            let folder = if row.file == CLAUDE_SERVERS && !moved {
                machine.home.clone()
            } else {
                machine.settings(row.host)
            };
            (folder, row.file)
        }
    };
    let mut path = folder;
    path.extend(name.split('/'));
    // OpenCode reads a form with comments as well.
    let with_comments = path.with_extension("jsonc");
    if row.host == Caller::OpenCode && row.part == Part::Mcp && (machine.exists)(&with_comments) {
        return with_comments;
    }
    path
}

/// A host's folder of settings in a project.
fn of_project(host: Caller) -> &'static str {
    match host {
        Caller::ClaudeCode => ".claude",
        Caller::Codex => ".codex",
        Caller::OpenCode => ".opencode",
        Caller::OpenClaw => ".openclaw",
        Caller::Gemini => ".gemini",
        Caller::Copilot => ".github",
        Caller::Cursor => ".cursor",
        Caller::Windsurf => ".windsurf",
    }
}

fn content(row: &Row, program: &Program) -> Content {
    match row.body {
        Body::Own(text) => Content::Whole(text.to_owned()),
        Body::OwnEntries(before) => Content::Whole(joined(row.host, program, before)),
        Body::Glue(code) => {
            let name = row.host.name();
            // The host first: a path may hold any word.
            let ask = ASK
                .replace("HOST", name)
                .replace("\"AIZO\"", &in_quotes(&program.name));
            Content::Whole(format!(
                "// Written by `aizo install {name}`; `aizo uninstall {name}` removes it.\n{ask}{code}"
            ))
        }
        Body::Toml => Content::Toml(Table::of_servers(vec![
            ("command", quoted(&program.name)),
            ("args", "[\"mcp\"]".to_owned()),
        ])),
        Body::Server(dialect, path, template) => {
            let value = filled(template, "AIZO", &program.name);
            let mut server = item(path, Some("aizo"), value);
            server.deeper = (row.host == Caller::OpenCode).then_some("servers");
            Content::Json(dialect, vec![server])
        }
        Body::Entries => {
            let mut items = entries(row.host, program);
            if row.host == Caller::Cursor {
                let mut version = item(&[], Some("version"), 1.into());
                version.is_default = true;
                items.insert(0, version);
            }
            Content::Json(Dialect::Jsonc, items)
        }
    }
}

fn in_quotes(text: &str) -> String {
    Value::from(text).to_string()
}

/// A template as a value, with a text in the place of a word.
fn filled(template: &str, word: &str, text: &str) -> Value {
    serde_json::from_str(&template.replace(word, &in_quotes(text))).unwrap_or_default()
}

fn item(path: &[&str], name: Option<&str>, value: Value) -> Item {
    Item {
        place: Place {
            path: path.iter().map(|&name| name.to_owned()).collect(),
            name: name.map(str::to_owned),
        },
        value,
        is_default: false,
        deeper: None,
    }
}

/// The entries for a host's events, each an element of `hooks.EVENT`.
fn entries(host: Caller, program: &Program) -> Vec<Item> {
    let (events, template) = events(host);
    events
        .iter()
        .map(|event| {
            // Its small payloads do not say which event they are of.
            let named = (host == Caller::Copilot).then_some(*event);
            let mut template = template.to_owned();
            // Codex grants its last event three seconds.
            if host == Caller::Codex && *event == "SessionEnd" {
                template = template.replace(":10}", ":3}");
            }
            let value = filled(&template, "CALL", &program.hook(host, named));
            item(&["hooks", event], None, value)
        })
        .collect()
}

/// All of a host's entries as a file of their own, after what stands before them.
pub(super) fn joined(host: Caller, program: &Program, before: &str) -> String {
    let mut all: Value = serde_json::from_str(before).unwrap_or_default();
    for entry in entries(host, program) {
        let event = entry.place.path.last().map_or("", String::as_str);
        all["hooks"][event] = Value::Array(vec![entry.value]);
    }
    format!("{all:#}\n")
}

const GEMINI_ABOUT: &str = concat!(
    "{\n  \"name\": \"aizo\",\n  \"version\": \"",
    env!("CARGO_PKG_VERSION"),
    "\"\n}\n"
);
const OPENCLAW_ABOUT: &str = concat!(
    r#"{
  "id": "aizo",
  "name": "aizo",
  "description": "What the user likes, dislikes and must never see",
  "version": ""#,
    env!("CARGO_PKG_VERSION"),
    r#"",
  "configSchema": {
    "type": "object",
    "additionalProperties": false,
    "properties": {}
  }
}
"#
);
const OPENCLAW_PACKAGE: &str = concat!(
    r#"{
  "name": "aizo-openclaw",
  "version": ""#,
    env!("CARGO_PKG_VERSION"),
    r#"",
  "private": true,
  "type": "module",
  "openclaw": {
    "extensions": ["./index.js"]
  }
}
"#
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_guarded_in_the_shell_that_reads_it() {
        let named = |windows| Program::by_name(windows);
        let with_path = |windows, path: &str| Program {
            name: path.to_owned(),
            is_path: true,
            windows,
        };
        for (program, host, event, command) in [
            (
                named(false),
                Caller::Codex,
                None,
                "command -v aizo >/dev/null 2>&1 && aizo hook codex || exit 0",
            ),
            (
                with_path(false, "/it's here/aizo"),
                Caller::Windsurf,
                None,
                r"command -v '/it'\''s here/aizo' >/dev/null 2>&1 || exit 0; '/it'\''s here/aizo' hook windsurf",
            ),
            (
                named(true),
                Caller::ClaudeCode,
                None,
                "command -v aizo >/dev/null 2>&1 && aizo hook claude-code || exit 0",
            ),
            (
                named(true),
                Caller::Copilot,
                Some("preToolUse"),
                r#"cmd /d /s /c "where aizo >nul 2>nul && aizo hook copilot preToolUse || exit 0""#,
            ),
            (
                with_path(true, r"C:\my programs\aizo.exe"),
                Caller::Cursor,
                None,
                r#"cmd /d /s /c "if exist "C:\my programs\aizo.exe" "C:\my programs\aizo.exe" hook cursor || exit 0""#,
            ),
        ] {
            assert_eq!(program.hook(host, event), command);
            assert!(program.calls(command, host), "{command}");
        }
        let memory = with_path(false, "/opt/my tools/memory");
        for (program, words, is_call) in [
            (&named(false), "aizo hook codexx", false),
            (&named(false), "echo hook codex", false),
            (&memory, "'/opt/my tools/memory' hook codex", true),
            (&memory, "/somewhere/else/memory hook codex", true),
            (&memory, "/opt/aizo hook codex", true),
            (&memory, "/opt/memory2 hook codex", false),
            (&named(false), "/opt/memory hook codex", false),
        ] {
            assert_eq!(program.calls(words, Caller::Codex), is_call, "{words}");
        }
    }

    #[test]
    fn a_path_may_hold_any_word_of_a_template() {
        let machine = Machine {
            home: "/home/ada".into(),
            variable: &|_| None,
            exists: &|_| false,
            windows: false,
        };
        let path = "/home/LOCALHOST/CALL/\"AIZO\"/HOST/aizo";
        let program = Program {
            name: path.to_owned(),
            is_path: true,
            windows: false,
        };
        for (host, _) in Caller::ALL {
            for piece in pieces(host, &Scope::User, &machine, &program) {
                let text = match piece.content {
                    Content::Whole(text) => text,
                    Content::Json(_, items) => {
                        items.iter().map(|one| one.value.to_string()).collect()
                    }
                    Content::Toml(table) => format!("{:?}", table.pairs),
                };
                let has_path = text.contains("/home/LOCAL");
                assert_eq!(text.contains("/home/LOCALHOST/CALL/"), has_path, "{text}");
            }
        }
    }
}
