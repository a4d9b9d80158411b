//! Scenarios: kinds of task, with the keywords and aliases by which they find entries.
//! Reads `scenarios.yaml` or takes the built-in list; what a bad file costs the run, and where
//! warnings are shown, is left to the caller.

mod built_in;
mod nearest;
mod reading;
#[cfg(test)]
mod tests;

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_saphyr::{Spanned, UserMessageFormatter};

use crate::model::item_key;
use built_in::BUILT_IN;
use reading::{Node, Reading, lower_first, one_line, options};

/// What `aizo scenarios init` writes: the built-in scenarios below an explanation of the format.
pub const TEMPLATE: &str = include_str!("scenarios.yaml");

/// Largest scenarios file that is read, in bytes.
const LARGEST_FILE: u64 = 1024 * 1024;

/// A kind of task with the words that find its entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scenario {
    /// Canonical name, in lower case.
    pub name: String,
    /// One line for people; empty when the file gives none.
    pub description: String,
    /// Words that an entry of this scenario is likely to have: lower case, file order, each once.
    pub keywords: Vec<String>,
    /// Other names of the scenario: lower case, file order, each in one scenario only.
    pub aliases: Vec<String>,
}

/// A part of the file that was left out, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// What was found and what became of it.
    pub message: String,
    /// Line, counted from 1.
    pub line: u64,
    /// Column in characters, counted from 1.
    pub column: u64,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {}, column {}: {}",
            self.line, self.column, self.message
        )
    }
}

/// Where the scenarios in force come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The list that ships with the program.
    BuiltIn,
    /// The user's file, which replaces the built-in list.
    File(PathBuf),
}

/// The scenarios in force, and what was wrong with the file they were read from.
#[derive(Debug, Clone)]
pub struct Scenarios {
    /// All scenarios in the order of the file.
    pub list: Vec<Scenario>,
    /// Where they come from.
    pub source: Source,
    /// What was left out, in the order of the file.
    pub warnings: Vec<Warning>,
}

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, counted from 1.
    pub line: u64,
    /// Column in characters, counted from 1.
    pub column: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// A scenarios file that can't be used at all; [`LoadError::hint`] says what to try.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file can't be opened or read.
    #[error("can't read scenarios from {}: {cause}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The file is too large to be a list of scenarios.
    #[error("can't read scenarios from {}: larger than 1 MiB", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The file is not UTF-8.
    #[error("can't read scenarios from {}, {position}: not UTF-8", path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// The first character that isn't UTF-8.
        position: Position,
    },
    /// The text is not YAML, or asks for more than a list of scenarios could.
    #[error("can't read scenarios from {}{}: {message}", path.display(), after_comma(*position))]
    Yaml {
        /// The file.
        path: PathBuf,
        /// Where the parser stopped.
        position: Option<Position>,
        /// What the parser said.
        message: String,
    },
    /// The text is YAML without a usable `scenarios:` at the top.
    #[error("can't read scenarios from {}, {position}: {problem}", path.display())]
    NoScenarios {
        /// The file.
        path: PathBuf,
        /// The place of the value that should have been a map.
        position: Position,
        /// What is there instead.
        problem: String,
    },
}

impl LoadError {
    /// Says what to try, in one line.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Io { .. } => {
                "make it a file that you may read, or remove it to use the built-in scenarios"
            }
            Self::TooLarge { .. } => "shorten it, or remove it to use the built-in scenarios",
            Self::NotUtf8 { .. } => "save it as UTF-8, or remove it to use the built-in scenarios",
            Self::Yaml { .. } => {
                "correct it there (indent with spaces, put text with special characters in quotes), \
                 or remove it to use the built-in scenarios"
            }
            Self::NoScenarios { .. } => {
                "begin it with `scenarios:` and indent each name below it, or remove it to use the \
                 built-in scenarios"
            }
        }
    }

    fn from_yaml(path: &Path, error: &serde_saphyr::Error) -> Self {
        Self::Yaml {
            path: path.to_owned(),
            position: error.location().map(Position::from),
            message: parser_message(error),
        }
    }
}

/// What the parser has to say, without the place, which [`LoadError`] names first.
fn parser_message(error: &serde_saphyr::Error) -> String {
    use serde_saphyr::Error;
    match error {
        Error::AliasError { error, .. } => parser_message(error),
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => {
            "more values, aliases or levels than a list of scenarios can need".to_owned()
        }
        other => {
            let message = other.render_with_formatter(&UserMessageFormatter);
            let place = other
                .location()
                .map(|location| format!(" at {}", Position::from(location)));
            let message = message
                .strip_suffix(&place.unwrap_or_default())
                .unwrap_or(&message);
            lower_first(&one_line(message))
        }
    }
}

impl Scenarios {
    /// Returns the scenarios that ship with the program.
    pub fn built_in() -> Self {
        let list = BUILT_IN.iter().map(Scenario::from).collect();
        Self {
            list,
            source: Source::BuiltIn,
            warnings: Vec::new(),
        }
    }

    /// Reads the file when it exists, else returns the built-in scenarios; never creates the file.
    pub fn load(path: &Path) -> Result<Self, LoadError> {
        match read(path) {
            Ok(Some(text)) => Self::parse(&text, path),
            Ok(None) => Ok(Self::built_in()),
            Err(error) => Err(error),
        }
    }

    /// Reads scenarios from the text of a file; the path is for messages.
    pub fn parse(text: &str, path: &Path) -> Result<Self, LoadError> {
        let root: Spanned<Node<'_>> = serde_saphyr::from_str_with_options(text, options())
            .map_err(|error| LoadError::from_yaml(path, &error))?;
        let mut reading = Reading {
            text,
            warnings: Vec::new(),
        };
        let list =
            reading
                .scenarios(&root)
                .map_err(|(position, problem)| LoadError::NoScenarios {
                    path: path.to_owned(),
                    position,
                    problem,
                })?;
        let mut warnings = reading.warnings;
        warnings.sort_by_key(|warning| (warning.line, warning.column));
        Ok(Self {
            list,
            source: Source::File(path.to_owned()),
            warnings,
        })
    }

    /// Finds a scenario by its name or one of its aliases, whatever the case.
    pub fn find(&self, name: &str) -> Option<&Scenario> {
        let wanted = item_key(name);
        self.list.iter().find(|scenario| {
            item_key(&scenario.name) == wanted
                || scenario
                    .aliases
                    .iter()
                    .any(|alias| item_key(alias) == wanted)
        })
    }

    /// Finds the name that an unknown one is likely meant to be: one letter is wrong in it, in a long one two. Short names
    /// that differ in a letter are others.
    pub fn looking_like(&self, name: &str) -> Option<&str> {
        const SHORTEST: usize = 4;
        const LONG: usize = 8;
        if self.find(name).is_some() {
            return None;
        }
        let wanted = item_key(name);
        let length = wanted.chars().count();
        let most = if length >= LONG { 2 } else { 1 };
        self.list
            .iter()
            .flat_map(|scenario| std::iter::once(&scenario.name).chain(&scenario.aliases))
            .map(|known| (strsim::osa_distance(&wanted, &item_key(known)), known))
            .filter(|(distance, _)| length >= SHORTEST && *distance <= most)
            .min_by_key(|(distance, _)| *distance)
            .map(|(_, known)| known.as_str())
    }

    /// Lists the folded names under which entries of a scenario may be tagged: its own, then its
    /// aliases. A name that no scenario has stands for itself.
    pub fn names_of(&self, name: &str) -> Vec<String> {
        match self.find(name) {
            Some(scenario) => std::iter::once(&scenario.name)
                .chain(&scenario.aliases)
                .map(|name| item_key(name))
                .collect(),
            None => vec![item_key(name)],
        }
    }
}

/// Returns the text of the file, or nothing when there is no file.
fn read(path: &Path) -> Result<Option<String>, LoadError> {
    let failed = |cause| LoadError::Io {
        path: path.to_owned(),
        cause,
    };
    // Asked before opening, because opening a named pipe would wait for a writer.
    let bytes = match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => Err(io::Error::other("not a file")),
        Ok(_) => File::open(path).and_then(|file| {
            let mut bytes = Vec::new();
            file.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
            Ok(bytes)
        }),
        Err(cause) => Err(cause),
    };
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(failed(cause)),
    };
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(LoadError::TooLarge {
            path: path.to_owned(),
        });
    }
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        LoadError::NotUtf8 {
            path: path.to_owned(),
            position: end_of(&String::from_utf8_lossy(good)),
        }
    })
}

/// The place right after a text.
fn end_of(text: &str) -> Position {
    let last = text.rsplit('\n').next().unwrap_or_default();
    Position {
        line: text.matches('\n').count() as u64 + 1,
        column: last.chars().count() as u64 + 1,
    }
}

fn after_comma(position: Option<Position>) -> String {
    position
        .map(|position| format!(", {position}"))
        .unwrap_or_default()
}
