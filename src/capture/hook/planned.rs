//! What a tool is about to do, by its name and what it is given. What is not known to only read is looked at, whatever it is
//! called: a command line as one, new text for a file as such, all else as a text.

use serde_json::{Map, Value};

use super::payload::text;
use super::{Caller, Planned, scan, tools};

/// Fields of edits that hold what is there already, not what is written.
const OLD_TEXT: [&str; 5] = ["old_string", "old_str", "oldString", "oldText", "old_text"];
/// Fields of edits that hold what is written.
const NEW_TEXT: [&str; 16] = [
    "content",
    "contents",
    "text",
    "body",
    "file_text",
    "fileText",
    "new_string",
    "new_str",
    "newString",
    "new_text",
    "newText",
    "new_source",
    "insert_text",
    "insertText",
    "code_edit",
    "replacement",
];
/// Fields of edits that hold a patch.
const PATCHES: [&str; 4] = ["patch", "patch_text", "patchText", "diff"];
/// Fields that name a file.
pub(super) const PATHS: [&str; 10] = [
    "file_path",
    "filePath",
    "path",
    "filename",
    "notebook_path",
    "target_file",
    "absolute_path",
    "absolutePath",
    "relative_path",
    "relativePath",
];
/// Fields that hold a command line.
pub(super) const COMMANDS: [&str; 3] = ["command", "command_line", "cmd"];
/// Fields that hold the arguments of a tool.
pub(super) const ARGUMENTS: [&str; 6] = [
    "tool_input",
    "toolArgs",
    "tool_info",
    "args",
    "input",
    "params",
];
/// Where the arguments for a tool of a server stand among others.
const INNER_ARGUMENTS: [&str; 1] = ["mcp_tool_arguments"];

/// What the tool is about to do that a payload names.
pub(super) fn planned(caller: Caller, event: &str, payload: &Map<String, Value>) -> Vec<Planned> {
    let outer = arguments(payload, &ARGUMENTS).unwrap_or_default();
    let name = text(payload, &["tool_name", "toolName", "tool"])
        .or_else(|| text(&outer, &["mcp_tool_name"]))
        .unwrap_or_default();
    let tool = tools::plain(name);
    let is_mcp = tools::is_of_a_server(name)
        || payload.contains_key("mcp_context")
        || matches!(event, "beforemcpexecution" | "premcptooluse");
    let arguments = arguments(&outer, &INNER_ARGUMENTS).unwrap_or(outer);
    if let Some(verb) = tools::own(&tool) {
        let item = text(&arguments, &["item"]).unwrap_or_default().to_owned();
        let is_change = matches!(verb, "update" | "remove");
        return Vec::from_iter(is_change.then_some(Planned::Memory { verb, item }));
    }
    if is_mcp {
        return unknown(arguments);
    }
    // Cursor sends the command of its shell event at the top.
    let command = command(&arguments).or_else(|| command(payload));
    if event == "prewritecode" || tools::writes(&tool) {
        // `create` may be sent with a verb that is called `command`, as well as with text.
        let is_in_command = tool == "applypatch" || caller == Caller::Codex;
        return vec![match command {
            Some(patch) if is_in_command => Planned::patch(patch),
            _ => Planned::edit(&Value::Object(arguments), tools::patches(&tool)),
        }];
    }
    let is_shell = tools::is_shell(&tool)
        || matches!(event, "beforeshellexecution" | "preruncommand")
        || arguments.is_empty();
    if is_shell && command.is_some() || tools::only_reads(&tool) {
        return Vec::from_iter(command.map(Planned::Command));
    }
    unknown(arguments)
}

/// The arguments of a tool, in a field with one of these names: an object, or one that is written as text.
fn arguments(payload: &Map<String, Value>, names: &[&str]) -> Option<Map<String, Value>> {
    names.iter().find_map(|name| match payload.get(*name)? {
        Value::Object(arguments) => Some(arguments.clone()),
        Value::String(text) => match serde_json::from_str(text) {
            Ok(Value::Object(arguments)) => Some(arguments),
            Err(_) if text.trim_start().starts_with('{') => {
                match scan::flat(text).remove(ARGUMENTS[0]) {
                    Some(Value::Object(arguments)) => Some(arguments),
                    _ => None,
                }
            }
            _ => None,
        },
        _ => None,
    })
}

/// What a tool is about to do of which nothing is known but what it is given.
fn unknown(arguments: Map<String, Value>) -> Vec<Planned> {
    let arguments = Value::Object(arguments);
    let mut planned = Vec::new();
    commands(&arguments, &mut planned);
    let is_patch = holds(&arguments, &PATCHES);
    if path(&arguments).is_some() && (is_patch || holds(&arguments, &NEW_TEXT)) {
        planned.push(Planned::edit(&arguments, is_patch));
        return planned;
    }
    let said = new_text(&arguments);
    if !said.trim().is_empty() {
        planned.push(Planned::Text(said));
    }
    planned
}

impl Planned {
    /// New text for a file, from the arguments of a tool.
    fn edit(arguments: &Value, is_patch: bool) -> Self {
        let text = new_text(arguments);
        Planned::Edit {
            path: path(arguments),
            old: match is_patch {
                true => removed(&text),
                false => old_text(arguments),
            },
            text,
            is_patch,
        }
    }

    /// A patch that names its files itself.
    fn patch(text: String) -> Self {
        Planned::Edit {
            path: None,
            old: removed(&text),
            text,
            is_patch: true,
        }
    }
}

/// The lines that a patch, as agents write it, takes away.
fn removed(patch: &str) -> String {
    let mut changes_a_file = false;
    let mut found = Vec::new();
    for line in patch.lines() {
        if line.starts_with("*** Update File: ") {
            changes_a_file = true;
        } else if line.starts_with("*** ") {
            changes_a_file &= line.starts_with("*** Move to: ");
        } else if changes_a_file {
            found.extend(line.strip_prefix('-'));
        }
    }
    found.join("\n")
}

/// The file that is named first, the outer ones before those within.
fn path(value: &Value) -> Option<String> {
    match value {
        Value::Object(members) => text(members, &PATHS)
            .map(str::to_owned)
            .or_else(|| members.values().find_map(path)),
        Value::Array(values) => values.iter().find_map(path),
        _ => None,
    }
}

/// Whether a field with one of these names is there, however deep.
fn holds(value: &Value, names: &[&str]) -> bool {
    match value {
        Value::Object(members) => members
            .iter()
            .any(|(name, value)| names.contains(&name.as_str()) || holds(value, names)),
        Value::Array(values) => values.iter().any(|value| holds(value, names)),
        _ => false,
    }
}

/// A command line: as it is, or from its words.
fn command(from: &Map<String, Value>) -> Option<String> {
    if let Some(command) = text(from, &COMMANDS) {
        return Some(command.to_owned());
    }
    COMMANDS.iter().find_map(|name| {
        let words = from.get(*name)?.as_array()?;
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        (!words.is_empty()).then(|| line_of(&words))
    })
}

/// The command lines within a value, however deep.
fn commands(value: &Value, found: &mut Vec<Planned>) {
    match value {
        Value::Object(members) => {
            found.extend(command(members).map(Planned::Command));
            members.values().for_each(|value| commands(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| commands(value, found)),
        _ => {}
    }
}

/// Words as a command line in which each is what it was.
pub(super) fn line_of(words: &[&str]) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,".contains(c);
    let quoted = |word: &&str| match !word.is_empty() && word.chars().all(is_plain) {
        true => (*word).to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    let words: Vec<String> = words.iter().map(quoted).collect();
    words.join(" ")
}

/// Every text that is written or said, a line each: not what is there already, not the file, not a command line.
fn new_text(value: &Value) -> String {
    let counts = |name: &str| {
        !(OLD_TEXT.contains(&name) || PATHS.contains(&name) || COMMANDS.contains(&name))
    };
    let mut found = Vec::new();
    gather(value, &counts, &mut found);
    found.join("\n")
}

/// Every text that is there already, a line each.
fn old_text(value: &Value) -> String {
    fn look<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
        match value {
            Value::Array(values) => values.iter().for_each(|one| look(one, found)),
            Value::Object(members) => {
                members
                    .iter()
                    .for_each(|(name, one)| match OLD_TEXT.contains(&name.as_str()) {
                        true => gather(one, &|_| true, found),
                        false => look(one, found),
                    })
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    look(value, &mut found);
    found.join("\n")
}

/// Gathers the texts of a value and of the fields within it that count.
fn gather<'v>(value: &'v Value, counts: &dyn Fn(&str) -> bool, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(values) => values.iter().for_each(|one| gather(one, counts, found)),
        Value::Object(members) => members
            .iter()
            .filter(|(name, _)| counts(name))
            .for_each(|(_, one)| gather(one, counts, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(&["git", "push", "--force"], "git push --force")]
    #[case(&["echo", "a;rm", "-rf", "x"], "echo 'a;rm' -rf x")]
    #[case(&["x", "#", "a b"], "x '#' 'a b'")]
    #[case(&["x", "", "it's", "$HOME", "*"], r"x '' 'it'\''s' '$HOME' '*'")]
    #[case(&["FOO=bar", "中文", "a\nb"], "FOO=bar 中文 'a\nb'")]
    fn words_are_a_command_line_in_which_each_is_what_it_was(
        #[case] words: &[&str],
        #[case] line: &str,
    ) {
        assert_eq!(line_of(words), line);
    }

    #[rstest]
    #[case(
        "*** Begin Patch\n*** Update File: a\n@@\n b\n-c\n+d\n*** End Patch\n-e",
        "c"
    )]
    #[case(
        "*** Begin Patch\n*** Update File: a\n*** Move to: b\n-c\n*** End Patch",
        "c"
    )]
    #[case("*** Begin Patch\n*** Add File: a\n-c\n+c\n*** End Patch", "")]
    #[case("-c\n*** Begin Patch\n*** Add File: a\n+c\n*** End Patch", "")]
    fn a_patch_takes_lines_from_files_that_are_there(#[case] patch: &str, #[case] lines: &str) {
        assert_eq!(removed(patch), lines);
    }
}
