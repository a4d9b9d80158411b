//! `install --as-plugin`: the plugin for Claude Code in a folder of its own.

use std::path::Path;

use serde_json::Value;

use super::reply::{FAILED, File, Reply};
use crate::capture::hook::Caller;
use crate::commands::{Context, told};
use crate::error::{Failure, Kind};
use crate::files::{Found, difference, leads_to, sweep};
use crate::install::plugin;

/// A file of the plugin that is to be written.
struct Planned {
    file: File,
    found: Found,
    text: String,
}

impl Planned {
    fn changes(&self) -> bool {
        self.found.bytes.as_deref() != Some(self.text.as_bytes())
    }
}

/// Writes the plugin. A folder that holds something else is left alone.
pub(super) fn write(folder: &Path, dry_run: bool, context: &Context) -> anyhow::Result<Reply> {
    let folder = std::path::absolute(folder)?;
    must_be_ours(&folder)?;
    let planned = plugin().into_iter();
    let planned = planned.map(|(name, text)| plan(&folder, name, text));
    let planned: Vec<Planned> = planned.collect::<Result<_, _>>()?;
    let (files, failure) = if dry_run {
        (planned.into_iter().map(|one| one.file).collect(), None)
    } else {
        carry_out(planned)?
    };
    let reply = Reply {
        dry_run,
        scope: folder.display().to_string(),
        files,
    };
    told(reply, failure, context)
}

fn must_be_ours(folder: &Path) -> Result<(), Failure> {
    let about = folder.join(".claude-plugin").join("plugin.json");
    let is_empty = std::fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    let is_ours = Found::at(&about)?.bytes.is_some_and(|bytes| {
        serde_json::from_slice::<Value>(&bytes).is_ok_and(|about| about["name"] == "aizo")
    });
    if is_empty || is_ours {
        return Ok(());
    }
    let message = format!("{} holds something else", folder.display());
    Err(Failure::new(Kind::Conflict, message).hint("name a folder that is empty or not there"))
}

fn plan(folder: &Path, name: &str, text: String) -> Result<Planned, Failure> {
    let path = folder.join(name);
    let found = Found::at(&path)?;
    let result = match &found.bytes {
        None => "created",
        Some(bytes) if bytes == text.as_bytes() => "unchanged",
        Some(_) => "changed",
    };
    let file = File {
        agent: Caller::ClaudeCode.name(),
        parts: Vec::new(),
        result,
        reason: None,
        diff: difference(&path, found.bytes.as_deref(), Some(text.as_bytes())),
        backup: None,
        target: leads_to(&path, folder),
        path,
    };
    Ok(Planned { file, found, text })
}

/// Writes what has changed, once all may be written. After a failure nothing more is.
fn carry_out(planned: Vec<Planned>) -> Result<(Vec<File>, Option<Failure>), Failure> {
    for one in planned.iter().filter(|one| one.changes()) {
        one.found.may_be_written()?;
        one.found.has_room()?;
    }
    let mut files = Vec::new();
    for mut one in planned {
        sweep(&one.found.target);
        let written = if one.changes() {
            one.found.write(Some(one.text.as_bytes()))
        } else {
            Ok(())
        };
        if let Err(failure) = written {
            one.file.result = FAILED;
            one.file.reason = Some(failure.message.clone());
            files.push(one.file);
            return Ok((files, Some(failure)));
        }
        files.push(one.file);
    }
    Ok((files, None))
}
