//! A store that is not there, or empty, although something beside it tells that there was one: no fresh start. It is looked for
//! only where nothing can be read, and nobody takes it for a store that was cleared.

use super::entries::count;
use super::{Context, sync};
use crate::model::quoted;
use crate::storage::Store;

/// What is missing, and what tells that it was there.
pub(super) fn what(context: &Context) -> Option<String> {
    let db = &context.settings.db;
    let is_there = db.exists();
    let copies = Store::backups(db)
        .iter()
        .filter(|copy| copy.bytes > 0)
        .count();
    let mut signs = Vec::new();
    if copies > 0 {
        let are = if copies == 1 { "is" } else { "are" };
        signs.push(format!(
            "{} of it {are} kept",
            count(copies, "copy", "copies")
        ));
    }
    if sync::is_set_up(context) {
        signs.push("a sync is set up for it".to_owned());
    }
    // Agents may be told to call aizo before anything is stored; but nobody makes an empty file.
    if is_there && is_installed(context) {
        signs.push("agents call aizo".to_owned());
    }
    let is = if is_there { "is empty" } else { "is not there" };
    (!signs.is_empty()).then(|| format!("{} {is}, though {}", db.display(), signs.join(" and ")))
}

/// Whether an agent's host was told to call aizo.
pub(super) fn is_installed(context: &Context) -> bool {
    let home = context.settings.home.as_ref();
    home.is_some_and(|home| home.join("installed.json").exists())
}

/// How the store comes back.
pub(super) fn remedy(context: &Context) -> String {
    match put_back(context) {
        Some(command) => command,
        None if sync::is_set_up(context) => "aizo sync".to_owned(),
        None => "aizo restore FILE, or aizo import FILE of what aizo export has written".to_owned(),
    }
}

/// The command that puts back the newest copy that is sound.
pub(super) fn put_back(context: &Context) -> Option<String> {
    let copy = Store::newest_sound_backup(&context.settings.db, context.settings.now)?;
    let path = copy.path.display().to_string();
    Some(format!("aizo restore {}", quoted(&path)))
}
