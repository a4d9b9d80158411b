//! The machine on which this happens: folders, the name by which hosts call this program, and what is recorded.

use std::path::{Path, PathBuf};

use super::by_file;
use super::reply::{Agent, Agents};
use crate::capture::hook::Caller;
use crate::commands::Context;
use crate::error::{Failure, Kind};
use crate::files::Found;
use crate::install::{
    Machine, Outcome, Part, Piece, Program, Record, Scope, Step, install, pieces,
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
        let real = |path: &Path| path.canonicalize().ok();
        let this = std::env::current_exe().ok();
        let is_this =
            |path: &Path| real(path).is_some() && real(path) == this.as_deref().and_then(real);
        if self.scope != Scope::User || machine.which("aizo").is_some_and(|path| is_this(&path)) {
            return by_name;
        }
        let started = std::env::args_os()
            .next()
            .map(PathBuf::from)
            .filter(|path| path.components().count() > 1)
            .and_then(|path| std::path::absolute(path).ok())
            .filter(|path| is_this(path));
        match started.or(this) {
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

    pub(super) fn list(&self, machine: &Machine<'_>) -> anyhow::Result<Agents> {
        let program = self.program(machine);
        let record = read_record(&self.record_file())?;
        let mut agents = Vec::new();
        for (host, name) in Caller::ALL {
            let mut agent = Agent {
                agent: name,
                found: machine.has(host),
                hooks: false,
                mcp: false,
                skill: false,
            };
            for (file, pieces) in by_file(pieces(host, &self.scope, machine, &program)) {
                for piece in pieces {
                    let part = piece.part;
                    let of_others = record.file(&file).is_some_and(|known| !known.serves(name));
                    if of_others {
                        continue;
                    }
                    let mut step = self.step(host, vec![piece], &file, &record)?.0;
                    // What a trial finds to be done is not there.
                    let is_there = matches!(
                        install(&mut step),
                        Ok(Outcome::Unchanged | Outcome::Kept(_))
                    );
                    let place = match part {
                        Part::Hooks => &mut agent.hooks,
                        Part::Mcp => &mut agent.mcp,
                        Part::Skill => &mut agent.skill,
                    };
                    *place = is_there;
                }
            }
            agents.push(agent);
        }
        Ok(Agents(agents))
    }

    pub(super) fn step(
        &self,
        host: Caller,
        pieces: Vec<Piece>,
        file: &Path,
        record: &Record,
    ) -> Result<(Step, Found), Failure> {
        let found = Found::at(file)?;
        let step = Step {
            host,
            scope: self.scope.name(),
            path: file.to_path_buf(),
            pieces,
            bytes: found.bytes.clone(),
            record: record.file(file).cloned(),
        };
        Ok((step, found))
    }
}

pub(super) fn no_text(what: &str) -> Failure {
    let message = format!("{what} is not UTF-8, as settings files must be; nothing was written");
    Failure::new(Kind::Failed, message)
        .hint("give it a name in UTF-8, or write the settings by hand")
}

pub(super) fn read_record(file: &Path) -> Result<Record, Failure> {
    let Some(bytes) = Found::at(file)?.bytes else {
        return Ok(Record::default());
    };
    Record::parse(&bytes).map_err(|problem| {
        let message = format!("cannot read {}: {problem}", file.display());
        Failure::new(Kind::Failed, message).hint(
            "it says what aizo has changed; without it, uninstall goes by what looks like aizo's",
        )
    })
}
