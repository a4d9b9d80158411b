//! aizo's own folder and files: who may read them, whether they can be written, and what was left in them.

use std::path::{Path, PathBuf};

use super::finding::{FIX, Finding, Fix};
use crate::commands::Context;
use crate::files::leftovers;
use crate::storage::Store;

/// Folders that others can enter, and files that others can read.
#[cfg(unix)]
pub(super) fn modes(context: &Context) -> Vec<Finding> {
    use std::os::unix::fs::PermissionsExt;
    let mut findings = Vec::new();
    for path in own_paths(context) {
        let Ok(metadata) = std::fs::metadata(&path) else {
            continue;
        };
        let target = std::fs::read_link(&path)
            .ok()
            .and_then(|_| path.canonicalize().ok());
        let mode = metadata.permissions().mode() & 0o777;
        if mode & 0o077 == 0 {
            continue;
        }
        let (what, mode) = if metadata.is_dir() {
            (
                format!("{} can be entered by others ({mode:o})", path.display()),
                mode & 0o700,
            )
        } else {
            (
                format!("{} can be read by others ({mode:o})", path.display()),
                mode & 0o700,
            )
        };
        let why = if path.ends_with(".env") {
            "it may hold keys for a language model"
        } else {
            "what is stored is for you alone, and for the agents that you let call aizo"
        };
        let file = target.as_ref().unwrap_or(&path).display().to_string();
        let hint = format!("chmod {mode:o} {}", crate::model::quoted(&file));
        let finding = Finding::warning(what, why, hint);
        findings.push(match target {
            // What a link leads to may be anybody's; that is for the person to judge.
            Some(_) => finding,
            None => finding.with_fix(Fix::Mode(path, mode)),
        });
    }
    findings
}

/// File modes are no matter of this system.
#[cfg(not(unix))]
pub(super) fn modes(_context: &Context) -> Vec<Finding> {
    Vec::new()
}

#[cfg(unix)]
fn own_paths(context: &Context) -> Vec<PathBuf> {
    let db = &context.settings.db;
    let mut paths = Vec::new();
    if let Some(home) = &context.settings.home {
        paths.push(home.clone());
        let names = [
            "backups",
            "sync",
            ".env",
            "installed.json",
            "aizo.log",
            "aizo.log.1",
        ];
        paths.extend(names.iter().map(|name| home.join(name)));
    }
    let beside = |ending: &str| {
        let mut name = db.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    paths.extend(["", "-wal", "-shm", "-journal"].map(beside));
    paths.extend(Store::backups(db).into_iter().map(|copy| copy.path));
    paths
}

/// A store that cannot be written.
pub(super) fn writable(context: &Context) -> Vec<Finding> {
    let Err(error) = Store::write_access(&context.settings.db) else {
        return Vec::new();
    };
    let hint = error.hint().unwrap_or_default();
    let why = "nothing is learned or changed, and what agents report is refused";
    vec![Finding::error(error.to_string(), why, hint)]
}

/// What runs that were ended have left.
pub(super) fn unfinished(context: &Context) -> Vec<Finding> {
    let mut left = Store::unfinished_backups(&context.settings.db);
    if let Some(home) = &context.settings.home {
        left.extend(leftovers(home));
        left.extend(leftovers(&home.join("backups")));
    }
    let why = "a run that was ended has left it; it may hold parts of what is stored";
    let finding = |path: PathBuf| {
        let what = format!("{} is not finished", shown(&path));
        Finding::note(what, why, FIX).with_fix(Fix::Remove(path))
    };
    left.into_iter().map(finding).collect()
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
