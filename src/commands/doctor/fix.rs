//! What `--fix` does: what is safe, and nothing that an entry says.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;

use serde::Serialize;

use super::finding::{Finding, Fix};
use super::hosts;
use crate::commands::Context;
use crate::files::remove_left;
use crate::storage::Store;

/// Something that was put right.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Fixed {
    pub(super) check: &'static str,
    pub(super) what: String,
}

/// Puts right what can be. What cannot is said, and found again.
pub(super) fn all(findings: &[Finding], context: &Context) -> Vec<Fixed> {
    let mut fixed = Vec::new();
    let mut seen = false;
    let mut adopted: BTreeSet<String> = BTreeSet::new();
    let mut adopting: BTreeSet<&'static str> = BTreeSet::new();
    // A damaged store is no witness of what somebody wrote.
    let is_damaged = findings.iter().any(|finding| finding.check == "integrity");
    for finding in findings {
        let done = match &finding.fix {
            None => continue,
            Some(Fix::Adopt(_)) if is_damaged => continue,
            Some(Fix::Mode(path, mode)) => set_mode(path, *mode),
            Some(Fix::Remove(path)) => remove(path),
            Some(Fix::Seen(_)) if seen => continue,
            Some(Fix::Seen(log)) => {
                seen = true;
                note_as_seen(log, context)
            }
            Some(Fix::Index) => rebuild_index(context),
            Some(Fix::Adopt(uids)) => {
                // One change for all of it.
                adopted.extend(uids.iter().cloned());
                adopting.insert(finding.check);
                continue;
            }
        };
        settle([finding.check], done, context, &mut fixed);
    }
    if !adopting.is_empty() {
        let uids: Vec<String> = adopted.into_iter().collect();
        let done = adopt(&uids, context);
        settle(adopting, done, context, &mut fixed);
    }
    fixed
}

fn settle(
    checks: impl IntoIterator<Item = &'static str>,
    done: anyhow::Result<String>,
    context: &Context,
    fixed: &mut Vec<Fixed>,
) {
    match done {
        Ok(what) => fixed.extend(checks.into_iter().map(|check| Fixed {
            check,
            what: what.clone(),
        })),
        Err(error) => context.note(format!("could not be put right: {error:#}")),
    }
}

/// Changes what lies there, and never what a link leads to, be the link made in this moment.
#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> anyhow::Result<String> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let set = || -> std::io::Result<bool> {
        let lies = fs::symlink_metadata(path)?;
        if !lies.is_file() && !lies.is_dir() {
            return Ok(false);
        }
        let file = fs::File::open(path)?;
        let opened = file.metadata()?;
        let is_same = (lies.dev(), lies.ino()) == (opened.dev(), opened.ino());
        if is_same {
            file.set_permissions(fs::Permissions::from_mode(mode))?;
        }
        Ok(is_same)
    };
    match set() {
        Ok(true) => {}
        Ok(false) => anyhow::bail!("{} is a link; it was left as it is", path.display()),
        Err(error) => anyhow::bail!("cannot change {}: {error}", path.display()),
    }
    Ok(format!("{} is yours alone now ({mode:o})", path.display()))
}

#[cfg(not(unix))]
fn set_mode(path: &Path, _mode: u32) -> anyhow::Result<String> {
    anyhow::bail!("{} has no mode here", path.display())
}

fn remove(path: &Path) -> anyhow::Result<String> {
    remove_left(path)
        .map_err(|error| anyhow::anyhow!("cannot remove {}: {error}", path.display()))?;
    Ok(format!("{} is removed", path.display()))
}

fn note_as_seen(log: &Path, context: &Context) -> anyhow::Result<String> {
    let line = hosts::seen(context.settings.now);
    fs::OpenOptions::new()
        .append(true)
        .open(log)
        .and_then(|mut file| file.write_all(line.as_bytes()))
        .map_err(|error| anyhow::anyhow!("cannot write {}: {error}", log.display()))?;
    Ok("what went wrong at hooks counts as seen".to_owned())
}

fn rebuild_index(context: &Context) -> anyhow::Result<String> {
    let mut store = Store::open_for_writing(&context.location(), context.settings.now)?;
    store.rebuild_index()?;
    Ok("the search index is made anew".to_owned())
}

fn adopt(uids: &[String], context: &Context) -> anyhow::Result<String> {
    context.write(|transaction| Ok(transaction.adopt(uids)?))?;
    Ok("what other programs have written is in the journal".to_owned())
}
