//! Which programs the file of a host calls where it means aizo: what is written there may be of another day, or of another
//! hand, and lead nowhere. Pure.

use serde_json::Value;

use super::jsonc;
use super::recipe::{Content, Part, Piece, Program};
use super::toml;
use crate::capture::hook::Caller;

/// The line of a plugin that names the program.
const OF_PLUGIN: &str = "const PROGRAM = ";

/// The programs that a text calls for a host, each once. What cannot be read calls none.
pub fn programs(host: Caller, pieces: &[Piece], program: &Program, text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for piece in pieces {
        for one in named(host, piece, program, text) {
            if !found.contains(&one) {
                found.push(one);
            }
        }
    }
    found
}

fn named(host: Caller, piece: &Piece, program: &Program, text: &str) -> Vec<String> {
    match &piece.content {
        Content::Whole(_) if piece.part == Part::Hooks => of_own_file(host, program, text),
        Content::Whole(_) => Vec::new(),
        Content::Toml(table) => match toml::find(text, table) {
            Ok(toml::Found::Same) => vec![program.name.clone()],
            Ok(toml::Found::Other(raw)) => command_of_toml(&raw).into_iter().collect(),
            Ok(toml::Found::Nothing) | Err(_) => Vec::new(),
        },
        Content::Json(dialect, items) => {
            let items = items.iter().filter(|item| !item.is_default);
            let found = items.flat_map(|item| {
                let places = super::plan::place(item, text, *dialect);
                let found =
                    places.and_then(|place| jsonc::find(text, *dialect, &place, &Value::Null));
                found.unwrap_or_default()
            });
            found
                .flat_map(|one| match piece.part {
                    Part::Mcp => command_of_server(&one.raw).into_iter().collect(),
                    _ => of_hooks(host, program, &strings(&one.raw)),
                })
                .collect()
        }
    }
}

/// The program of a file that is aizo's alone: a plugin, or entries in JSON.
fn of_own_file(host: Caller, program: &Program, text: &str) -> Vec<String> {
    let mut lines = text.lines();
    let line = lines.find_map(|line| line.strip_prefix(OF_PLUGIN));
    match line {
        Some(line) => serde_json::from_str(line.trim_end_matches(';'))
            .into_iter()
            .collect(),
        None => of_hooks(host, program, &strings(text)),
    }
}

/// The program of a server: `command` is its name, or a list that begins with it.
fn command_of_server(raw: &str) -> Option<String> {
    let server: Value = serde_json::from_str(raw).ok()?;
    let command = &server["command"];
    let name = command.as_str().or_else(|| command.get(0)?.as_str());
    name.map(str::to_owned)
}

fn command_of_toml(raw: &str) -> Option<String> {
    raw.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        let value = value.trim();
        let is_command = key.trim().trim_matches('"') == "command";
        let literal = || Some(value.strip_prefix('\'')?.strip_suffix('\'')?.to_owned());
        let text = || serde_json::from_str(value).ok();
        is_command.then(|| text().or_else(literal)).flatten()
    })
}

/// All strings of a value.
fn strings(raw: &str) -> Vec<String> {
    fn gather(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::String(text) => found.push(text.clone()),
            Value::Array(list) => list.iter().for_each(|one| gather(one, found)),
            Value::Object(members) => members.values().for_each(|one| gather(one, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    if let Ok(value) = serde_json::from_str(raw) {
        gather(&value, &mut found);
    }
    found
}

/// The word before `hook HOST` in each command.
fn of_hooks(host: Caller, program: &Program, commands: &[String]) -> Vec<String> {
    let call = format!("hook {}", host.name());
    let calls = commands
        .iter()
        .filter(|words| Program::is_hook(words, host));
    calls
        .filter_map(|words| last_word(&words[..words.rfind(&call)?], program.windows))
        .collect()
}

/// The last word of a command line, as a shell reads it.
fn last_word(text: &str, windows: bool) -> Option<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    let mut signs = text.chars();
    while let Some(sign) = signs.next() {
        let word = words.last_mut()?;
        match (quote, sign) {
            (Some(open), _) if open == sign => quote = None,
            (None, '"' | '\'') => quote = Some(sign),
            (None | Some('"'), '\\') if !windows => word.extend(signs.next()),
            (None, ' ' | '\t' | ';' | '&' | '|' | '(') => words.push(String::new()),
            _ => word.push(sign),
        }
    }
    words.into_iter().rfind(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::super::host::{Machine, Scope};
    use super::super::recipe::pieces;
    use super::*;
    use rstest::rstest;

    fn machine() -> Machine<'static> {
        Machine {
            home: PathBuf::from("/home/ada"),
            variable: &|_| None,
            exists: &|_: &Path| false,
            windows: false,
        }
    }

    #[rstest]
    #[case("aizo")]
    #[case("/opt/it's here/aizo")]
    #[case("/opt/a \"b\" $c/aizo")]
    fn what_install_writes_names_its_program(#[case] name: &str) {
        let program = Program {
            name: name.to_owned(),
            is_path: name != "aizo",
            windows: false,
        };
        for (host, _) in Caller::ALL {
            for piece in pieces(host, &Scope::User, &machine(), &program) {
                let text = match &piece.content {
                    Content::Whole(text) => text.clone(),
                    Content::Toml(table) => {
                        toml::insert("", table).expect("an empty file").apply("")
                    }
                    Content::Json(dialect, items) => {
                        items.iter().fold(String::new(), |text, item| {
                            let edit = jsonc::insert(&text, *dialect, &item.place, &item.value);
                            edit.expect("it can be read").apply(&text)
                        })
                    }
                };
                let found = programs(host, std::slice::from_ref(&piece), &program, &text);
                let is_about = |file: &str| piece.file.ends_with(file);
                let has_none = piece.part == Part::Skill
                    || is_about("openclaw.plugin.json")
                    || is_about("package.json")
                    || is_about("gemini-extension.json");
                if has_none {
                    assert!(found.is_empty(), "{host:?}: {:?}", piece.file);
                } else {
                    assert_eq!(found, [name], "{host:?}: {:?}", piece.file);
                }
            }
        }
    }

    #[rstest]
    #[case("aizo hook codex", &["aizo"])]
    #[case("/usr/local/bin/aizo hook codex", &["/usr/local/bin/aizo"])]
    #[case("cd / && ~/bin/aizo hook codex", &["~/bin/aizo"])]
    #[case("echo hi", &[])]
    fn what_a_person_writes_names_its_program(#[case] command: &str, #[case] wanted: &[&str]) {
        let text = serde_json::json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}});
        let by_name = Program::by_name(false);
        let mut all = pieces(Caller::Codex, &Scope::User, &machine(), &by_name);
        all.retain(|piece| piece.part == Part::Hooks);
        assert_eq!(
            programs(Caller::Codex, &all, &by_name, &text.to_string()),
            wanted
        );
    }

    #[test]
    fn a_server_in_another_table_is_read_too() {
        for (raw, wanted) in [
            (
                "[mcp_servers.aizo]\ncommand = \"/old/aizo\"\nargs = [\"mcp\"]\n",
                "/old/aizo",
            ),
            ("[mcp_servers.aizo]\ncommand = '/old/aizo'\n", "/old/aizo"),
        ] {
            assert_eq!(command_of_toml(raw).as_deref(), Some(wanted));
        }
        assert_eq!(
            command_of_server("{\"command\": [\"/o/aizo\", \"mcp\"]}").as_deref(),
            Some("/o/aizo")
        );
        assert_eq!(command_of_server("{\"url\": \"x\"}"), None);
    }
}
