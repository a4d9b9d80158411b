//! The machine on which this happens: folders, the name by which hosts call this program, and what is recorded.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::reply::{Agent, Agents};
use crate::capture::hook::Caller;
use crate::commands::Context;
use crate::error::{Failure, Kind};
use crate::files::{Found, leads_to, real};
use crate::install::{
    FileRecord, Machine, Part, Piece, Program, Record, Scope, Step, install, pieces,
};

/// Where all this happens.
pub(super) struct Surroundings {
    /// The person's home folder.
    pub(super) home: PathBuf,
    /// aizo's own folder.
    pub(super) own: PathBuf,
    pub(super) scope: Scope,
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Whether a path leads to this program.
pub(super) fn is_this_program(path: &Path) -> bool {
    let this = std::env::current_exe().and_then(|this| this.canonicalize());
    path.canonicalize()
        .is_ok_and(|path| this.is_ok_and(|this| path == this))
}

impl Surroundings {
    pub(super) fn new(project: bool, context: &Context) -> anyhow::Result<Self> {
        let nowhere =
            || Failure::new(Kind::Io, "cannot find the home folder").hint("set HOME, or AIZO_HOME");
        let home = dirs::home_dir().ok_or_else(nowhere)?;
        let own = context.settings.home.clone().ok_or_else(nowhere)?;
        let scope = if project {
            Scope::Project(std::env::current_dir()?)
        } else {
            Scope::User
        };
        Ok(Surroundings {
            own: std::path::absolute(own)?,
            home,
            scope,
        })
    }

    /// The same for somebody else, or for another folder.
    pub(super) fn with(&self, scope: Scope) -> Self {
        Surroundings {
            home: self.home.clone(),
            own: self.own.clone(),
            scope,
        }
    }

    pub(super) fn machine<'m>(&self, variable: &'m dyn Fn(&str) -> Option<String>) -> Machine<'m> {
        Machine {
            home: self.home.clone(),
            variable,
            exists: &is_there,
            windows: cfg!(windows),
        }
    }

    /// How hosts call this program: by its name where that leads here, else by the path under which it was started, which an
    /// upgrade leaves as it is. A project is for others too, who have it elsewhere.
    pub(super) fn program(&self, machine: &Machine<'_>) -> Program {
        let by_name = Program::by_name(machine.windows);
        let found = machine.which("aizo");
        if self.scope != Scope::User || found.is_some_and(|path| is_this_program(&path)) {
            return by_name;
        }
        let started = std::env::args_os()
            .next()
            .map(PathBuf::from)
            .filter(|path| path.components().count() > 1)
            .and_then(|path| std::path::absolute(path).ok())
            .filter(|path| is_this_program(path));
        match started.or_else(|| std::env::current_exe().ok()) {
            Some(path) => Program {
                name: path.to_string_lossy().into_owned(),
                is_path: true,
                ..by_name
            },
            None => by_name,
        }
    }

    /// Makes sure that the paths which are written into settings can be: those are UTF-8, and another path would lead elsewhere.
    ///
    /// # Errors
    /// One cannot be written.
    pub(super) fn must_be_text(&self, program: &Program) -> Result<(), Failure> {
        let project = match &self.scope {
            Scope::User => None,
            Scope::Project(folder) => Some(("the project's folder", folder)),
        };
        let folders = [
            ("the home folder", &self.home),
            ("aizo's own folder", &self.own),
        ];
        for (what, folder) in folders.into_iter().chain(project) {
            if folder.to_str().is_none() {
                return Err(no_text(what));
            }
        }
        // What could not be read in its path has become this.
        if program.name.contains(char::REPLACEMENT_CHARACTER) {
            return Err(no_text("the path of this program"));
        }
        Ok(())
    }

    pub(super) fn record_file(&self) -> PathBuf {
        self.own.join("installed.json")
    }

    /// Where copies of settings are kept as they were.
    pub(super) fn copies(&self) -> PathBuf {
        self.own.join("backups")
    }

    /// What each host has. A file that cannot be read is said, and is no reason to say nothing of the others.
    pub(super) fn list(&self, machine: &Machine<'_>, context: &Context) -> anyhow::Result<Agents> {
        let program = self.program(machine);
        let record = read_record(&self.record_file())?.unwrap_or_default();
        let mut unreadable = BTreeSet::new();
        let agents = Caller::ALL.iter().map(|(host, name)| {
            let pieces = pieces(*host, &self.scope, machine, &program);
            // A part is there when all of its files are.
            let mut has = |part: Part| {
                let files = pieces.iter().filter(|piece| piece.part == part);
                let are_there = files.map(|piece| {
                    self.has(*host, piece, &program, &record)
                        .unwrap_or_else(|failure| {
                            unreadable.insert(failure.message);
                            false
                        })
                });
                are_there.reduce(|all, one| all && one).unwrap_or(false)
            };
            Agent {
                agent: name,
                found: machine.has(*host),
                hooks: has(Part::Hooks),
                mcp: has(Part::Mcp),
                skill: has(Part::Skill),
            }
        });
        let agents = Agents(agents.collect());
        unreadable.into_iter().for_each(|one| context.note(one));
        Ok(agents)
    }

    /// Whether a host has a piece: what a trial finds to be done is not there.
    fn has(
        &self,
        host: Caller,
        piece: &Piece,
        program: &Program,
        record: &Record,
    ) -> Result<bool, Failure> {
        let file = &piece.file;
        let of_others = |known: &FileRecord| !known.agents.is_empty() && !known.serves(host.name());
        if record.file(file).is_some_and(of_others) {
            return Ok(false);
        }
        let (mut step, _) = self.step(host, vec![piece.clone()], program, file, record)?;
        let outcome = install(&mut step).map_err(|fault| fault.in_file(file))?;
        Ok(outcome.is_there())
    }

    pub(super) fn step(
        &self,
        host: Caller,
        pieces: Vec<Piece>,
        program: &Program,
        file: &Path,
        record: &Record,
    ) -> Result<(Step, Found), Failure> {
        let found = Found::at(file)?;
        let step = Step {
            host,
            scope: self.scope.name(),
            path: file.to_path_buf(),
            program: program.clone(),
            pieces,
            bytes: found.bytes.clone(),
            record: record.file(file).cloned(),
            has_records: true,
        };
        Ok((step, found))
    }

    /// Where a file is if a link leads elsewhere. A project may come from anybody, and its links may not lead out of it.
    ///
    /// # Errors
    /// One does.
    pub(super) fn place_of(&self, file: &Path) -> Result<Option<PathBuf>, Failure> {
        let Scope::Project(project) = &self.scope else {
            return Ok(leads_to(file, &self.home));
        };
        let place = leads_to(file, project);
        match &place {
            Some(place) if !place.starts_with(real(project)) => {
                let message = format!(
                    "{} is a link to {}, outside of the project; it was left as it is",
                    file.display(),
                    place.display()
                );
                Err(Failure::new(Kind::Conflict, message)
                    .hint("put a file or folder of the project in the place of the link"))
            }
            _ => Ok(place),
        }
    }
}

pub(super) fn no_text(what: &str) -> Failure {
    let message = format!("{what} is not UTF-8, as settings files must be; nothing was written");
    Failure::new(Kind::Failed, message)
        .hint("give it a name in UTF-8, or write the settings by hand")
}

/// What is recorded; nothing where nobody has recorded anything.
pub(super) fn read_record(file: &Path) -> Result<Option<Record>, Failure> {
    let Some(bytes) = Found::at(file)?.bytes else {
        return Ok(None);
    };
    Record::parse(&bytes).map(Some).map_err(|problem| {
        let message = format!("cannot read {}: {problem}", file.display());
        Failure::new(Kind::Failed, message).hint(
            "it says what aizo has changed; without it, uninstall takes out only what is exactly as aizo writes it",
        )
    })
}
