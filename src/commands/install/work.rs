//! One run over the files of several hosts: planned, recorded, copied and written.

use std::path::{Path, PathBuf};

use super::reply::{FAILED, File, Reply};
use super::surroundings::{Surroundings, read_record};
use crate::capture::hook::Caller;
use crate::commands::Context;
use crate::error::{Failure, Kind};
use crate::files::{
    Found, Lock, Readers, difference, folders_for, missing_folders, replace, sweep,
};
use crate::install::{FileRecord, Outcome, Part, Piece, Program, Record, Step, install, uninstall};

/// A file that is to be written.
struct Planned {
    file: File,
    found: Found,
    bytes: Option<Vec<u8>>,
    record: Option<FileRecord>,
    outcome: Outcome,
    /// Nothing of others was in it.
    was_ours_alone: bool,
}

impl Planned {
    fn changes(&self) -> bool {
        self.bytes != self.found.bytes
    }

    /// Whether it serves nobody any more.
    fn is_removal(&self) -> bool {
        let record = self.record.as_ref();
        record.is_none_or(|record| record.agents.is_empty())
    }
}

/// What is done: it decides in which order what is done is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    Install,
    Uninstall,
}

/// Why something could not be done, and at which file.
struct Trouble {
    path: PathBuf,
    failure: Failure,
}

/// One run: what is planned, done and recorded.
pub(super) struct Work<'s> {
    surroundings: &'s Surroundings,
    task: Task,
    program: &'s Program,
    dry_run: bool,
    pub(super) record: Record,
    /// Whether there was a record when the run began.
    has_records: bool,
    /// The folders that are about to be made.
    coming: Vec<PathBuf>,
    pub(super) files: Vec<File>,
    failures: Vec<Failure>,
    served: usize,
    /// Held until all is done.
    lock: Option<Lock>,
}

impl<'s> Work<'s> {
    pub(super) fn begin(
        surroundings: &'s Surroundings,
        task: Task,
        program: &'s Program,
        dry_run: bool,
    ) -> anyhow::Result<Self> {
        let file = surroundings.record_file();
        let lock = if dry_run {
            None
        } else {
            Some(Lock::take(&file.with_extension("lock"))?)
        };
        if !dry_run {
            sweep(&file);
            sweep(&surroundings.own.join("backups").join("new"));
        }
        let record = read_record(&file)?;
        let has_records = record.is_some();
        let mut record = record.unwrap_or_default();
        record
            .folders
            .extend(lock.iter().flat_map(|lock| lock.folders.iter().cloned()));
        Ok(Work {
            record,
            has_records,
            coming: Vec::new(),
            surroundings,
            task,
            program,
            dry_run,
            files: Vec::new(),
            failures: Vec::new(),
            served: 0,
            lock,
        })
    }

    /// Does what is to be done for a host. To install is all or nothing: a file that cannot be read or written keeps the others
    /// as they are.
    pub(super) fn settle(&mut self, host: Caller, files: Vec<(PathBuf, Vec<Piece>)>) {
        let done = self.plan(host, files).and_then(|planned| {
            if self.dry_run {
                self.files.extend(planned.into_iter().map(|one| one.file));
                return Ok(());
            }
            planned.iter().for_each(|one| sweep(&one.found.target));
            self.carry_out(planned)
        });
        let Err(trouble) = done else {
            self.served += 1;
            return;
        };
        self.files.push(File {
            agent: host.name(),
            parts: Vec::new(),
            path: trouble.path,
            result: FAILED,
            reason: Some(trouble.failure.message.clone()),
            diff: String::new(),
            backup: None,
            target: None,
        });
        self.failures.push(trouble.failure);
    }

    fn plan(
        &mut self,
        host: Caller,
        files: Vec<(PathBuf, Vec<Piece>)>,
    ) -> Result<Vec<Planned>, Trouble> {
        let is_recorded = |path: &Path| {
            let known = self.record.file(path);
            known.is_some_and(|known| known.serves(host.name()))
        };
        let has_recorded = files.iter().any(|(path, _)| is_recorded(path));
        let mut planned = Vec::new();
        for (path, pieces) in files {
            // Beside what is recorded of a host it is enough to say what stays.
            let is_beside = self.task == Task::Uninstall && has_recorded && !is_recorded(&path);
            match self.plan_one(host, &path, pieces) {
                Ok(one) if is_beside && one.outcome == Outcome::Absent => {}
                Ok(one) => planned.push(one),
                Err(_) if is_beside => {}
                Err(failure) => return Err(Trouble { path, failure }),
            }
        }
        Ok(planned)
    }

    fn plan_one(&self, host: Caller, path: &Path, pieces: Vec<Piece>) -> Result<Planned, Failure> {
        let target = self.surroundings.place_of(path)?;
        let (mut step, found) =
            self.surroundings
                .step(host, pieces, self.program, path, &self.record)?;
        step.has_records = self.has_records;
        let parts = parts(&step);
        let was_ours_alone = is_ours_alone(&step);
        let plan = match self.task {
            Task::Install => install,
            Task::Uninstall => uninstall,
        };
        let outcome = plan(&mut step).map_err(|fault| {
            fault.in_file(path).hint(
                "put it right first; aizo install can leave out what belongs there: --no-hooks, --no-mcp",
            )
        })?;
        let changes = step.bytes != found.bytes;
        if changes {
            found.may_be_written()?;
            if !self.dry_run {
                found.has_room()?;
            }
        }
        let (result, reason) = described(outcome);
        let file = File {
            agent: host.name(),
            parts,
            result,
            reason: reason.map(str::to_owned),
            diff: difference(path, found.bytes.as_deref(), step.bytes.as_deref()),
            backup: None,
            target,
            path: path.to_path_buf(),
        };
        Ok(Planned {
            file,
            found,
            bytes: step.bytes,
            record: step.record,
            outcome,
            was_ours_alone,
        })
    }

    fn carry_out(&mut self, mut planned: Vec<Planned>) -> Result<(), Trouble> {
        let before = self.record.clone();
        if let Err(trouble) = self.back_up_all(&mut planned) {
            self.forget_copies(&planned, &before);
            return Err(trouble);
        }
        match self.task {
            Task::Install => self.put_in(planned, &before),
            Task::Uninstall => self.take_out(planned),
        }
    }

    fn back_up_all(&mut self, planned: &mut [Planned]) -> Result<(), Trouble> {
        for file in planned {
            if file.changes()
                && let Some(before) = &file.found.bytes
                // What is aizo's alone is nobody's loss.
                && !file.was_ours_alone
            {
                let earlier = self.record.file(&file.file.path);
                let earlier = earlier.and_then(|record| record.backup.clone());
                let earlier = earlier.filter(|copy| copy.is_file());
                file.file.backup =
                    self.back_up(file, before, earlier)
                        .map_err(|failure| Trouble {
                            path: file.file.path.clone(),
                            failure,
                        })?;
            }
        }
        Ok(())
    }

    /// Removes the copies that were made for nothing.
    fn forget_copies(&mut self, planned: &[Planned], before: &Record) {
        for file in planned {
            let is_known = |copy: &PathBuf| {
                before
                    .files
                    .iter()
                    .any(|known| known.backup.as_ref() == Some(copy))
            };
            if let Some(copy) = file.file.backup.as_ref().filter(|copy| !is_known(copy)) {
                let _it_does_no_harm = std::fs::remove_file(copy);
            }
        }
        let folders = std::mem::take(&mut self.record.folders);
        self.record = Record {
            folders,
            ..before.clone()
        };
        // The file as it was is as good.
        let _it_says_too_much = self.save();
    }

    /// Writes the files of a host, or none of them. What is about to be done is recorded first, beside what was: half of it can
    /// be taken back as well.
    fn put_in(&mut self, planned: Vec<Planned>, before: &Record) -> Result<(), Trouble> {
        for file in &planned {
            let earlier = before.file(&file.file.path);
            self.note(file, earlier.filter(|_| file.changes()));
        }
        let changed = planned.iter().filter(|file| file.changes());
        self.coming = changed
            .flat_map(|file| missing_folders(&file.found.target))
            .collect();
        self.record.folders.extend(self.coming.iter().cloned());
        let mut done = Vec::new();
        let mut result = self.save().map_err(|failure| Trouble {
            path: self.surroundings.record_file(),
            failure,
        });
        for file in planned.iter().filter(|file| file.changes()) {
            if result.is_err() {
                break;
            }
            match file.found.write(file.bytes.as_deref()) {
                Ok(()) => done.push(file),
                Err(failure) => {
                    result = Err(Trouble {
                        path: file.file.path.clone(),
                        failure,
                    });
                }
            }
        }
        self.coming.clear();
        let Err(trouble) = result else {
            planned.iter().for_each(|file| self.note(file, None));
            self.files.extend(planned.into_iter().map(|one| one.file));
            let path = self.surroundings.record_file();
            return self.save().map_err(|failure| Trouble { path, failure });
        };
        // What was written is written back; what cannot be is listed, and stays recorded.
        done.retain(|file| {
            let written = Found {
                target: file.found.target.clone(),
                bytes: file.bytes.clone(),
            };
            written.write(file.found.bytes.as_deref()).is_err()
        });
        if done.is_empty() {
            self.forget_copies(&planned, before);
        } else {
            self.files.extend(done.iter().map(|file| file.file.clone()));
        }
        Err(trouble)
    }

    /// Takes out what is in the files of a host. What is recorded of a file is forgotten after it has gone, and not before.
    fn take_out(&mut self, planned: Vec<Planned>) -> Result<(), Trouble> {
        let mut trouble = None;
        for file in planned {
            let path = file.file.path.clone();
            let done = if file.changes() {
                file.found.write(file.bytes.as_deref())
            } else {
                Ok(())
            };
            let done = done.and_then(|()| {
                let is_left = file.outcome == Outcome::Left;
                let dropped = self.drop_copy(&file);
                self.note(&file, None);
                self.files.push(file.file);
                self.save()?;
                dropped?;
                if is_left {
                    let message = format!("{}: {LEFT}", path.display());
                    return Err(Failure::new(Kind::Failed, message));
                }
                Ok(())
            });
            if let Err(failure) = done {
                trouble = trouble.or(Some(Trouble { path, failure }));
            }
        }
        trouble.map_or(Ok(()), Err)
    }

    /// Removes the copy of a file that is again as it was.
    fn drop_copy(&self, file: &Planned) -> Result<(), Failure> {
        let known = self.record.file(&file.file.path);
        let copy = known.and_then(|known| known.backup.as_ref());
        let Some(copy) = copy.filter(|_| file.is_removal() && file.changes()) else {
            return Ok(());
        };
        let copy = Found::at(copy)?;
        if copy.bytes.is_some() && copy.bytes == file.bytes {
            copy.write(None)?;
        }
        Ok(())
    }

    /// Puts into the record what will be of a file, and for as long as it is being written, what was before.
    fn note(&mut self, file: &Planned, earlier: Option<&FileRecord>) {
        self.record
            .files
            .retain(|known| known.path != file.file.path);
        if let Some(record) = file.record.clone() {
            let backup = file.file.backup.clone().or(record.backup.clone());
            let record = FileRecord { backup, ..record };
            self.record.files.push(record.after(earlier));
        }
    }

    /// Keeps a copy of a file as it was before aizo. When it is that again, the copy goes.
    fn back_up(
        &mut self,
        file: &Planned,
        before: &[u8],
        earlier: Option<PathBuf>,
    ) -> Result<Option<PathBuf>, Failure> {
        let is_removal = file.is_removal();
        if let Some(backup) = &earlier
            && is_removal
            && Found::at(backup)?.bytes == file.bytes
        {
            // It goes after the file is that again, and not before.
            return Ok(None);
        }
        // What is aizo's alone needs no copy.
        if file.bytes.is_none() {
            return Ok(None);
        }
        if earlier.is_some() && !is_removal {
            return Ok(earlier);
        }
        let path = &file.file.path;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let place = crate::model::stable_name(&[&path.to_string_lossy()]);
        let when = if is_removal { "uninstall" } else { "install" };
        let backup = self
            .surroundings
            .copies()
            .join(format!("{place}.before-{when}.{name}"));
        self.write_own(&backup, before)?;
        Ok(Some(backup))
    }

    /// Writes a file in aizo's own folder, for the person alone.
    fn write_own(&mut self, file: &Path, bytes: &[u8]) -> Result<(), Failure> {
        self.folders_of_own(file)?;
        replace(file, bytes, Readers::Owner).map_err(|error| {
            let message = format!("cannot write {}: {error}", file.display());
            Failure::new(Kind::Io, message)
        })
    }

    fn folders_of_own(&mut self, file: &Path) -> Result<(), Failure> {
        let made = folders_for(file, Readers::Owner)?;
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
        let (own, coming) = (&self.surroundings.own, &self.coming);
        folders.retain(|folder| {
            (folder == own && !is_empty)
                || coming.contains(folder)
                || std::fs::remove_dir(folder).is_err() && folder.is_dir()
        });
        folders.reverse();
        // The last of them hold the lock.
        if let Some(lock) = self.lock.as_mut().filter(|_| is_empty) {
            lock.folders.clone_from(&folders);
        }
        self.record.folders = folders;
        if is_empty {
            return Ok(());
        }
        let text = self.record.text();
        self.write_own(&file, text.as_bytes())
    }

    /// The reply, and what has failed. Where nothing was done for anybody there is no reply, unless everybody was asked for.
    pub(super) fn finish(
        mut self,
        context: &Context,
        everybody: bool,
    ) -> anyhow::Result<(Reply, Option<Failure>)> {
        let mut failures = std::mem::take(&mut self.failures).into_iter();
        let failure = failures.next();
        let has_done = self.served > 0 || self.files.iter().any(|file| file.result != FAILED);
        for failure in failures {
            context.note(failure.message);
        }
        if let Some(failure) = &failure
            && !has_done
            && !everybody
        {
            return Err(failure.clone().into());
        }
        if failure.is_none() && self.files.iter().all(|file| file.diff.is_empty()) {
            context.note(if self.dry_run {
                "nothing would change"
            } else {
                "nothing to change"
            });
        }
        let copies = self.surroundings.copies();
        let has_changed = self.files.iter().any(|file| !file.diff.is_empty());
        if matches!(self.task, Task::Uninstall)
            && !self.dry_run
            && has_changed
            && holds_settings(&copies)
        {
            context.note(format!(
                "copies of settings as they once were are still in {}",
                copies.display()
            ));
        }
        let reply = Reply {
            dry_run: self.dry_run,
            scope: self.surroundings.scope.name(),
            files: self.files,
        };
        Ok((reply, failure))
    }
}

/// The record stays as well.
const LEFT: &str =
    "something that aizo put there is still there: take it out by hand, then say it again";

/// Whether a folder is there and holds copies of settings; copies of the store lie in it as well.
fn holds_settings(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .any(|name| name.contains(".before-") && !name.ends_with(".bak"))
}

/// Of what something belongs into a file, or is recorded of it.
fn parts(step: &Step) -> Vec<Part> {
    let edits = step.record.iter().flat_map(|record| &record.edits);
    let wanted = step.pieces.iter().map(|piece| piece.part);
    let mut parts = Vec::new();
    for part in wanted.chain(edits.map(|change| change.part)) {
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts
}

/// Whether nothing would be left of a file without aizo.
fn is_ours_alone(step: &Step) -> bool {
    let record = step.record.as_ref();
    record.is_some_and(|record| !record.existed)
        && uninstall(&mut step.clone()) == Ok(Outcome::Removed)
}

fn described(outcome: Outcome) -> (&'static str, Option<&'static str>) {
    match outcome {
        Outcome::Created => ("created", None),
        Outcome::Changed => ("changed", None),
        Outcome::Partly(reason) => ("changed", Some(reason)),
        Outcome::Unchanged => ("unchanged", None),
        Outcome::Kept(reason) => ("kept", Some(reason)),
        Outcome::Removed => ("removed", None),
        Outcome::Absent => ("absent", None),
        Outcome::Left => ("kept", Some(LEFT)),
    }
}
