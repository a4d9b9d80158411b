//! One run over the files of several hosts: planned, recorded, copied and written.

use std::path::{Path, PathBuf};

use super::reply::{File, Reply};
use super::surroundings::{Surroundings, read_record};
use crate::capture::hook::Caller;
use crate::commands::Context;
use crate::error::{Failure, Kind};
use crate::install::{
    Fault, FileRecord, Found, Outcome, Part, Piece, Record, Step, folders_for, replace, unified,
};

/// A file that is to be written.
pub(super) struct Planned {
    index: usize,
    path: PathBuf,
    found: Found,
    bytes: Option<Vec<u8>>,
    pub(super) record: Option<FileRecord>,
}

/// One run: what is planned, done and recorded.
pub(super) struct Work<'s> {
    surroundings: &'s Surroundings,
    dry_run: bool,
    pub(super) record: Record,
    pub(super) files: Vec<File>,
    failures: Vec<Failure>,
    served: usize,
}

impl<'s> Work<'s> {
    pub(super) fn begin(surroundings: &'s Surroundings, dry_run: bool) -> anyhow::Result<Self> {
        Ok(Work {
            record: read_record(&surroundings.record_file())?,
            surroundings,
            dry_run,
            files: Vec::new(),
            failures: Vec::new(),
            served: 0,
        })
    }

    /// Does what is to be done for a host, all of it or nothing: a file that cannot be read keeps the others as they are.
    pub(super) fn settle(
        &mut self,
        host: Caller,
        files: Vec<(PathBuf, Vec<Piece>)>,
        plan: fn(&mut Step) -> Result<Outcome, Fault>,
    ) {
        let begun = self.files.len();
        match self.plan(host, files, plan).and_then(|planned| {
            if self.dry_run {
                Ok(())
            } else {
                self.carry_out(planned)
            }
        }) {
            Ok(()) => self.served += 1,
            Err(failure) => {
                self.files.truncate(begun);
                self.failures.push(failure);
            }
        }
    }

    fn plan(
        &mut self,
        host: Caller,
        files: Vec<(PathBuf, Vec<Piece>)>,
        plan: fn(&mut Step) -> Result<Outcome, Fault>,
    ) -> Result<Vec<Planned>, Failure> {
        let mut planned = Vec::new();
        for (path, pieces) in files {
            let parts = parts(&pieces);
            let (mut step, found) = self.surroundings.step(host, pieces, &path, &self.record)?;
            let outcome = plan(&mut step).map_err(|fault| {
                let message = format!(
                    "{}, line {}: {}; the file was left as it is",
                    path.display(),
                    fault.line,
                    fault.message
                );
                Failure::new(Kind::Failed, message)
                    .hint("put it right first; aizo install can leave out what belongs there: --no-hooks, --no-mcp")
            })?;
            let changes = step.bytes != found.bytes;
            if changes {
                found.may_be_written()?;
            }
            let text = |bytes: &Option<Vec<u8>>| {
                bytes
                    .as_ref()
                    .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
            };
            let (result, reason) = described(outcome);
            self.files.push(File {
                agent: host.name(),
                parts,
                result,
                reason,
                diff: if changes {
                    let (before, after) = (text(&found.bytes), text(&step.bytes));
                    unified(
                        &path.display().to_string(),
                        before.as_deref(),
                        after.as_deref(),
                    )
                } else {
                    String::new()
                },
                backup: None,
                path: path.clone(),
            });
            planned.push(Planned {
                index: self.files.len() - 1,
                path,
                found,
                bytes: step.bytes,
                record: step.record,
            });
        }
        Ok(planned)
    }

    fn carry_out(&mut self, planned: Vec<Planned>) -> Result<(), Failure> {
        for file in &planned {
            if file.bytes != file.found.bytes
                && let Some(before) = &file.found.bytes
            {
                let earlier = self.record.file(&file.path);
                // A file that aizo made is nobody's loss.
                if earlier.is_some_and(|record| !record.existed) {
                    continue;
                }
                let earlier = earlier.and_then(|record| record.backup.clone());
                let backup = self.back_up(file, before, earlier)?;
                self.files[file.index].backup.clone_from(&backup);
            }
        }
        // What is about to be done is recorded first: half of it can be taken back as well.
        for file in &planned {
            self.record.files.retain(|known| known.path != file.path);
            if let Some(mut record) = file.record.clone() {
                if record.backup.is_none() {
                    record.backup.clone_from(&self.files[file.index].backup);
                }
                self.record.files.push(record);
            }
        }
        self.save()?;
        for file in &planned {
            if file.bytes != file.found.bytes {
                let made = file.found.write(file.bytes.as_deref())?;
                self.record.folders.extend(made);
            }
        }
        self.save()
    }

    /// Keeps a copy of a file as it was before aizo. When it is that again, the copy goes.
    fn back_up(
        &mut self,
        file: &Planned,
        before: &[u8],
        earlier: Option<PathBuf>,
    ) -> Result<Option<PathBuf>, Failure> {
        let is_removal = file.record.is_none();
        if let Some(backup) = &earlier
            && is_removal
            && Found::at(backup)?.bytes == file.bytes
        {
            return Found::at(backup)?.write(None).map(|_| None);
        }
        // What is aizo's alone needs no copy.
        if file.bytes.is_none() {
            return Ok(None);
        }
        if earlier.is_some() && !is_removal {
            return Ok(earlier);
        }
        let name = file.path.file_name().unwrap_or_default().to_string_lossy();
        let place = crate::model::stable_name(&[&file.path.to_string_lossy()]);
        let when = if is_removal { "uninstall" } else { "install" };
        let backup = self
            .surroundings
            .own
            .join("backups")
            .join(format!("{place}.before-{when}.{name}"));
        self.write_own(&backup, before)?;
        Ok(Some(backup))
    }

    /// Writes a file in aizo's own folder, for the person alone.
    fn write_own(&mut self, file: &Path, bytes: &[u8]) -> Result<(), Failure> {
        self.folders_of_own(file)?;
        replace(file, bytes).map_err(|error| {
            let message = format!("cannot write {}: {error}", file.display());
            Failure::new(Kind::Io, message)
        })?;
        for_the_person(file, 0o600);
        Ok(())
    }

    fn folders_of_own(&mut self, file: &Path) -> Result<(), Failure> {
        let made = folders_for(file)?;
        made.iter().for_each(|folder| for_the_person(folder, 0o700));
        self.record.folders.extend(made);
        Ok(())
    }

    /// Writes the record; without anything to record it goes, and so does every folder that was made and is empty.
    fn save(&mut self) -> Result<(), Failure> {
        let file = self.surroundings.record_file();
        let is_empty = self.record.files.is_empty();
        if is_empty {
            let found = Found::at(&file)?;
            if found.bytes.is_some() {
                found.write(None)?;
            }
        } else {
            self.folders_of_own(&file)?;
        }
        let mut folders = std::mem::take(&mut self.record.folders);
        folders.sort();
        folders.dedup();
        // The innermost first.
        folders.reverse();
        let own = &self.surroundings.own;
        folders.retain(|folder| {
            (folder == own && !is_empty) || std::fs::remove_dir(folder).is_err() && folder.is_dir()
        });
        folders.reverse();
        self.record.folders = folders;
        if is_empty {
            return Ok(());
        }
        let text = self.record.text();
        self.write_own(&file, text.as_bytes())
    }

    pub(super) fn finish(self, context: &Context) -> anyhow::Result<Reply> {
        let mut failures = self.failures.into_iter();
        if self.served == 0
            && let Some(first) = failures.next()
        {
            for failure in failures {
                context.note(failure.message);
            }
            return Err(first.into());
        }
        for failure in failures {
            context.note(failure.message);
        }
        if self.files.iter().all(|file| file.diff.is_empty()) {
            context.note(if self.dry_run {
                "nothing would change"
            } else {
                "nothing to change"
            });
        }
        Ok(Reply {
            dry_run: self.dry_run,
            scope: self.surroundings.scope.name(),
            files: self.files,
        })
    }
}

/// The record stays as well.
const LEFT: &str =
    "something that aizo put there is still there: take it out by hand, then say it again";

fn parts(pieces: &[Piece]) -> Vec<Part> {
    let mut parts: Vec<Part> = pieces.iter().map(|piece| piece.part).collect();
    parts.dedup();
    parts
}

fn described(outcome: Outcome) -> (&'static str, Option<&'static str>) {
    match outcome {
        Outcome::Created => ("created", None),
        Outcome::Changed => ("changed", None),
        Outcome::Unchanged => ("unchanged", None),
        Outcome::Kept(reason) => ("kept", Some(reason)),
        Outcome::Removed => ("removed", None),
        Outcome::Absent => ("absent", None),
        Outcome::Left => ("kept", Some(LEFT)),
    }
}

/// Closes a file or folder to everybody else. Where that cannot be done, it is as the others there.
fn for_the_person(path: &Path, mode: u32) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let _as_the_others = std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _the_folder_decides = (path, mode);
}
