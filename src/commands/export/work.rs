//! Writes what was planned, and says what was written.

use super::copies;
use super::reply::{File, State};
use crate::commands::Context;
use crate::error::Failure;
use crate::files::sweep;

/// Before the first file, all may be written.
pub(super) fn must_be_writable(files: &[File]) -> Result<(), Failure> {
    for file in files.iter().filter(|file| file.changes()) {
        file.found.may_be_written()?;
        if file.after.is_some() {
            file.found.has_room()?;
        }
    }
    Ok(())
}

/// Writes what has changed, so that an index never names what is not there: the entries, the file that names them, and away
/// with the others. After a failure nothing more is written, and what was not is left out.
pub(super) fn carry_out(mut files: Vec<File>, context: &Context) -> (Vec<File>, Option<Failure>) {
    let order = |index: usize, file: &File| match (index, &file.after) {
        (0, _) => 1,
        (_, Some(_)) => 0,
        (_, None) => 2,
    };
    let mut failure = None;
    let mut sequence: Vec<usize> = (0..files.len()).collect();
    sequence.sort_by_key(|&index| order(index, &files[index]));
    for index in sequence {
        let file = &mut files[index];
        sweep(&file.found.target);
        if failure.is_none() && file.changes() {
            failure = written(file, context).err();
        } else if file.changes() {
            file.state = State::Omitted;
        }
    }
    files.retain(|file| file.state != State::Omitted);
    (files, failure)
}

fn written(file: &mut File, context: &Context) -> Result<(), Failure> {
    let written =
        copies::keep(file, context).and_then(|()| file.found.write(file.after.as_deref()));
    if written.is_err() {
        copies::forget(file);
        file.state = State::Failed;
    }
    written
}
