//! Copies of context files as they were, in aizo's own folder.

use std::path::{Path, PathBuf};

use super::reply::{File, Kept};
use crate::commands::Context;
use crate::error::{Failure, Kind};
use crate::files::{Found, Readers, folders_for, replace, sweep};
use crate::model::stable_name;

/// Keeps a file as it is before it is written. Of a text of somebody's own that will not be in the file any more, it is said
/// where it is.
pub(super) fn keep(file: &mut File, context: &Context) -> Result<(), Failure> {
    let before = file
        .found
        .bytes
        .as_deref()
        .filter(|_| file.kept != Kept::Nothing);
    let Some(before) = before.filter(|before| !before.is_empty()) else {
        return Ok(());
    };
    let mut copy = first(&file.path, context)?;
    if Found::at(&copy)?.bytes.is_some_and(|known| known != before) {
        copy = further(&file.path, before, context)?;
    }
    folders_for(&copy, Readers::Owner)?;
    sweep(&copy);
    replace(&copy, before, Readers::Owner).map_err(|error| {
        let message = format!("cannot write {}: {error}", copy.display());
        Failure::new(Kind::Io, message)
    })?;
    if file.kept == Kept::OwnText {
        context.note(format!(
            "what stood between the markers of {} is kept in {}",
            file.path.display(),
            copy.display()
        ));
    }
    file.backup = Some(copy);
    Ok(())
}

/// Removes the copy of a file that was not written after all.
pub(super) fn forget(file: &mut File) {
    if let Some(copy) = file.backup.take() {
        let _the_file_is_as_good = std::fs::remove_file(copy);
    }
}

/// Removes the copy of a file that is again as it was.
pub(super) fn drop(file: &File, context: &Context) -> Result<(), Failure> {
    let after = file.after.as_deref().filter(|_| file.changes());
    let Some(after) = after.filter(|_| context.settings.home.is_some()) else {
        return Ok(());
    };
    for copy in [
        first(&file.path, context)?,
        further(&file.path, after, context)?,
    ] {
        let found = Found::at(&copy)?;
        if found.bytes.as_deref() == Some(after) {
            found.write(None)?;
        }
    }
    Ok(())
}

/// Where the first copy of a file goes.
fn first(path: &Path, context: &Context) -> Result<PathBuf, Failure> {
    place(path, "", context)
}

/// Where a copy goes beside one that has other bytes.
fn further(path: &Path, bytes: &[u8], context: &Context) -> Result<PathBuf, Failure> {
    let sum = stable_name(&[&String::from_utf8_lossy(bytes)]);
    place(path, &format!("{sum}."), context)
}

fn place(path: &Path, sum: &str, context: &Context) -> Result<PathBuf, Failure> {
    let home = context.settings.home.as_ref().ok_or_else(|| {
        Failure::new(Kind::Io, "cannot find the home folder").hint("set HOME or AIZO_HOME")
    })?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let place = stable_name(&[&path.to_string_lossy()]);
    let copy = format!("{place}.{sum}before-export.{name}");
    Ok(home.join("backups").join(copy))
}
