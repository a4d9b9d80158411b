//! The sync: whether its repository is there, and whether all that it holds is here.

use chrono::TimeDelta;

use super::finding::Finding;
use crate::commands::Context;
use crate::commands::entries::count;
use crate::commands::history::short_device;
use crate::commands::sync::{Trouble, examine};
use crate::model::Stamp;
use crate::storage::View;

/// What was not pushed for so many days waits for long.
const LONG: i64 = 7;

/// What is wrong with it.
pub(super) fn state(context: &Context, view: &View<'_>) -> anyhow::Result<Vec<Finding>> {
    let troubles = examine(context, view)?.into_iter();
    Ok(troubles
        .filter_map(|trouble| finding(context, trouble))
        .collect())
}

fn finding(context: &Context, trouble: Trouble) -> Option<Finding> {
    let why =
        "what other devices say, limits among it, does not come here, and nothing goes to them";
    Some(match trouble {
        Trouble::Failed { message, hint } => Finding::error(message, why, hint),
        Trouble::RemoteGone(folder) => {
            let what = format!(
                "the repository of the sync, {}, is not there",
                folder.display()
            );
            let hint = "mount or make it again, or name another one: aizo sync init URL";
            Finding::error(what, why, hint)
        }
        Trouble::OtherWriter => {
            let what = "another store writes under the name of this device";
            let why = "this store was copied, or put back from a copy; until the next sync the two are taken for one";
            Finding::warning(what, why, "aizo sync gives this one a name of its own")
        }
        Trouble::Stopped { device, place } => {
            let name = short_device(&device);
            let lines = count(place.waiting, "line waits", "lines wait");
            if place.newer {
                let what = format!("{lines} in the file of device {name}: a later aizo wrote them");
                let why = "what they say, limits among it, does not count here yet";
                Finding::warning(what, why, "update aizo: cargo install aizo")
            } else {
                let what = format!(
                    "the file of device {name} cannot be read from line {} on ({}); {lines}",
                    place.line, place.why
                );
                let why = "what they say, limits among it, does not count here";
                let hint = "aizo sync on that device writes its file again";
                Finding::error(what, why, hint)
            }
        }
        Trouble::Unpushed { lines, since } => {
            let moment = Stamp(since).moment()?;
            if context.settings.now - moment <= TimeDelta::days(LONG) {
                return None;
            }
            let what = format!(
                "{} not pushed since {}",
                match lines {
                    1 => "1 change was".to_owned(),
                    many => format!("{many} changes were"),
                },
                moment.format("%Y-%m-%d")
            );
            Finding::note(what, "other devices do not know of it", "aizo sync")
        }
    })
}
