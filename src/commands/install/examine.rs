//! Where the settings of hosts call aizo, and whether that leads to this program: for whoever looks after an installation.

use std::path::{Path, PathBuf};

use super::surroundings::{Surroundings, read_record};
use super::{by_file, surroundings};
use crate::capture::hook::Caller;
use crate::commands::Context;
use crate::files::Found;
use crate::install::{Machine, Outcome, Piece, Program, Record, Scope, install, pieces, programs};

/// A file of a host in which something is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::commands) struct Standing {
    pub(in crate::commands) agent: &'static str,
    pub(in crate::commands) file: PathBuf,
    /// The project that it is for, where it is for one alone.
    pub(in crate::commands) project: Option<PathBuf>,
    pub(in crate::commands) state: State,
}

/// What is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::commands) enum State {
    /// It calls a program that is not there.
    Nowhere(String),
    /// It calls another program than this one.
    Elsewhere(String),
    /// What aizo put there is of another version, or partly gone.
    Outdated,
    /// The file is gone.
    Gone,
    /// It cannot be read, and why.
    Unreadable(String),
}

/// Looks at every file of every host, for the person and for the projects that are recorded.
///
/// # Errors
/// The home folder cannot be found, or the record not read.
pub(in crate::commands) fn examine(context: &Context) -> anyhow::Result<Vec<Standing>> {
    let surroundings = Surroundings::new(false, context)?;
    let record = read_record(&surroundings.record_file())?.unwrap_or_default();
    let mut scopes = vec![Scope::User];
    for file in &record.files {
        let scope = match file.scope.as_str() {
            "user" => Scope::User,
            folder => Scope::Project(PathBuf::from(folder)),
        };
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
    let variable = |name: &str| std::env::var(name).ok();
    let mut found = Vec::new();
    for scope in scopes {
        let surroundings = surroundings.with(scope);
        let machine = surroundings.machine(&variable);
        let examination = Examination {
            program: surroundings.program(&machine),
            surroundings: &surroundings,
            machine: &machine,
            record: &record,
        };
        for (host, _) in Caller::ALL {
            found.extend(examination.host(host));
        }
    }
    Ok(found)
}

struct Examination<'e> {
    surroundings: &'e Surroundings,
    machine: &'e Machine<'e>,
    program: Program,
    record: &'e Record,
}

impl Examination<'_> {
    fn host(&self, host: Caller) -> Vec<Standing> {
        let scope = &self.surroundings.scope;
        let mut files = by_file(pieces(host, scope, self.machine, &self.program));
        for file in self.record.files_of(host.name(), &scope.name()) {
            if files.iter().all(|(path, _)| *path != file) {
                files.push((file, Vec::new()));
            }
        }
        let project = match scope {
            Scope::User => None,
            Scope::Project(folder) => Some(folder.clone()),
        };
        let standing = |(file, pieces): (PathBuf, Vec<Piece>)| {
            let states = self.file(host, &file, pieces);
            let project = project.clone();
            states.into_iter().map(move |state| Standing {
                agent: host.name(),
                file: file.clone(),
                project: project.clone(),
                state,
            })
        };
        files.into_iter().flat_map(standing).collect()
    }

    fn file(&self, host: Caller, file: &Path, mut pieces: Vec<Piece>) -> Vec<State> {
        let known = self.record.file(file);
        let known = known.filter(|known| known.serves(host.name()));
        let bytes = match Found::at(file) {
            Ok(found) => found.bytes,
            Err(failure) if known.is_some() => return vec![State::Unreadable(failure.message)],
            // What is no business of aizo's may be as it is.
            Err(_) => return Vec::new(),
        };
        let Some(bytes) = bytes else {
            return known.map(|_| State::Gone).into_iter().collect();
        };
        let text = String::from_utf8_lossy(&bytes);
        let called = programs(host, &pieces, &self.program, &text);
        let mut states: Vec<State> = called.iter().filter_map(|name| self.led(name)).collect();
        let Some(known) = known.filter(|_| states.is_empty() && !pieces.is_empty()) else {
            return states;
        };
        // Parts that were left out are not missed.
        pieces.retain(|piece| {
            let mut edits = known.edits.iter();
            known.whole.is_some() || edits.any(|edit| edit.part == piece.part)
        });
        states.extend(self.trial(host, file, pieces));
        states
    }

    /// What install would find to be done.
    fn trial(&self, host: Caller, file: &Path, pieces: Vec<Piece>) -> Option<State> {
        let step = self
            .surroundings
            .step(host, pieces, &self.program, file, self.record);
        let (mut step, _) = match step {
            Ok(step) => step,
            Err(failure) => return Some(State::Unreadable(failure.message)),
        };
        match install(&mut step) {
            Ok(Outcome::Changed | Outcome::Partly(_)) => Some(State::Outdated),
            Ok(_) => None,
            Err(fault) => Some(State::Unreadable(fault.in_file(file).message)),
        }
    }

    /// Where a program leads that is not this one.
    fn led(&self, name: &str) -> Option<State> {
        let is_path = name.contains(['/', '\\']);
        let path = if is_path {
            let home = Some(self.surroundings.home.as_path());
            Some(crate::settings::expand(Path::new(name), home))
        } else {
            self.machine.which(name)
        };
        match path.and_then(|path| path.canonicalize().ok()) {
            None => Some(State::Nowhere(name.to_owned())),
            Some(path) if surroundings::is_this_program(&path) => None,
            Some(path) => Some(State::Elsewhere(path.display().to_string())),
        }
    }
}
