//! The copies of the store: whether there are any, and of when the last one is.

use chrono::TimeDelta;

use super::finding::Finding;
use crate::commands::Context;
use crate::commands::entries::count;
use crate::storage::{Store, View};

/// A copy of so many days ago is old.
const OLD: i64 = 30;

/// A last copy that is old, and none at all.
pub(super) fn last(context: &Context, view: &View<'_>) -> anyhow::Result<Vec<Finding>> {
    if view.totals()?.entries == 0 {
        return Ok(Vec::new());
    }
    let copies = Store::backups(&context.settings.db);
    // One that is empty was never one.
    let last = copies.iter().find(|copy| copy.bytes > 0);
    let what = match last {
        None => "there is no copy of the store here".to_owned(),
        Some(copy) => {
            let age = context.settings.now - copy.at;
            if age <= TimeDelta::days(OLD) {
                return Ok(Vec::new());
            }
            let days = usize::try_from(age.num_days()).unwrap_or_default();
            format!(
                "the last copy of the store is {} old",
                count(days, "day", "days")
            )
        }
    };
    let why =
        "what is damaged or lost with this disk comes back from a copy, a sync or an export only";
    Ok(vec![Finding::note(
        what,
        why,
        "aizo backup, or aizo backup FILE on another disk",
    )])
}
