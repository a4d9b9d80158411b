//! What enters from outside: flags, variables, `.env` files, the clock. Read once, then passed as values.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{DateTime, Datelike, Utc};
use serde::Serialize;

use crate::error::{Failure, Kind};
use crate::present::DEFAULT_PAGER;

/// The folder with the store, `scenarios.yaml` and `.env`; `~/.aizo` when it is not set.
pub const AIZO_HOME: &str = "AIZO_HOME";
/// The store's file.
pub const AIZO_DB_PATH: &str = "AIZO_DB_PATH";
/// `auto`, `always` or `never`.
pub const AIZO_COLOR: &str = "AIZO_COLOR";
/// The program that shows what is longer than the terminal; comes before `PAGER`.
pub const AIZO_PAGER: &str = "AIZO_PAGER";
/// An RFC 3339 time that takes the place of the clock.
pub const AIZO_NOW: &str = "AIZO_NOW";
/// How long a write waits for another process, in milliseconds.
pub const AIZO_LOCK_TIMEOUT_MS: &str = "AIZO_LOCK_TIMEOUT_MS";
/// Set for what a hook starts, so that nothing answers a host from within a hook.
pub const AIZO_HOOK: &str = "AIZO_HOOK";
/// How a model is spoken to: `anthropic`, `openai` or `ollama`; setting it switches the model on.
pub const AIZO_API_FORMAT: &str = "AIZO_API_FORMAT";
/// Where the model is; each format has an address of its own.
pub const AIZO_API_URL: &str = "AIZO_API_URL";
/// The key for it; comes before the vendors' own variables.
pub const AIZO_API_KEY: &str = "AIZO_API_KEY";
/// The model's name.
pub const AIZO_MODEL: &str = "AIZO_MODEL";
/// The most tokens that a model's answer may have.
pub const AIZO_MAX_TOKENS: &str = "AIZO_MAX_TOKENS";
/// Anthropic's own variable for its key.
pub const ANTHROPIC_API_KEY: &str = "ANTHROPIC_API_KEY";
/// OpenAI's own variable for its key.
pub const OPENAI_API_KEY: &str = "OPENAI_API_KEY";

/// What a project's own `./.env` may set. A cloned repository may say where its store is and how things
/// look, never where a conversation is sent.
const FROM_LOCAL_FILE: [&str; 2] = [AIZO_DB_PATH, AIZO_COLOR];
/// Names besides `AIZO_…` that `~/.aizo/.env` may set.
const PROVIDER_KEYS: [&str; 2] = [ANTHROPIC_API_KEY, OPENAI_API_KEY];
/// What says which model is asked, and how.
const PROVIDER: [&str; 7] = [
    AIZO_API_FORMAT,
    AIZO_API_URL,
    AIZO_API_KEY,
    AIZO_MODEL,
    AIZO_MAX_TOKENS,
    ANTHROPIC_API_KEY,
    OPENAI_API_KEY,
];
/// Every variable of aizo's own.
const ALL: [&str; 12] = [
    AIZO_HOME,
    AIZO_DB_PATH,
    AIZO_COLOR,
    AIZO_PAGER,
    AIZO_NOW,
    AIZO_LOCK_TIMEOUT_MS,
    AIZO_HOOK,
    AIZO_API_FORMAT,
    AIZO_API_URL,
    AIZO_API_KEY,
    AIZO_MODEL,
    AIZO_MAX_TOKENS,
];
/// A longer `.env` file is not one.
const LARGEST_ENV_FILE: u64 = 1 << 20;
const DEFAULT_LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// Where a setting came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A flag of this command.
    Flag,
    /// The process environment.
    Environment,
    /// `./.env`.
    LocalFile,
    /// `~/.aizo/.env`.
    HomeFile,
    /// Nobody set it.
    Default,
}

impl Source {
    /// How people are told.
    pub fn describe(self) -> &'static str {
        match self {
            Source::Flag => "flag",
            Source::Environment => "environment",
            Source::LocalFile => "./.env",
            Source::HomeFile => "~/.aizo/.env",
            Source::Default => "default",
        }
    }
}

/// A setting as `info` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// Its variable.
    pub name: String,
    /// Its value; keys are masked.
    pub value: String,
    /// Where it came from.
    pub source: Source,
}

/// A `.env` file that was looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EnvFile {
    /// The file.
    pub path: PathBuf,
    /// `read`, `missing`, or what was wrong with it.
    pub state: String,
    /// The variables taken from it.
    pub taken: Vec<String>,
    /// The variables in it that do not count here.
    #[serde(skip)]
    pub ignored: Vec<String>,
}

/// Whether a variable is one of aizo's own.
pub fn is_setting(name: &str) -> bool {
    ALL.contains(&name)
}

/// When output is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// What a command line says that was not read to its end, else the environment.
    pub fn named_in(words: &[String]) -> Self {
        let after = |(index, word): (usize, &String)| match word.strip_prefix("--color")? {
            "" => words.get(index + 1).cloned(),
            rest => rest.strip_prefix('=').map(str::to_owned),
        };
        let named = words.iter().enumerate().rev().find_map(after);
        named
            .or_else(|| std::env::var(AIZO_COLOR).ok())
            .and_then(|name| <Color as clap::ValueEnum>::from_str(&name, true).ok())
            .unwrap_or_default()
    }
}

/// What the command line says about the settings.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    /// `--db`.
    pub db: Option<PathBuf>,
    /// `--color`.
    pub color: Option<Color>,
    /// `--no-pager`.
    pub no_pager: bool,
    /// Whether `./.env` is left unread, as the doors that speak to an agent do.
    pub without_local_file: bool,
    /// Whether a value that cannot be read is only noted, and the default counts: a hook that says nothing would lift every
    /// limit.
    pub forgiving: bool,
}

/// Everything that a command needs to know about its surroundings.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The store's file.
    pub db: PathBuf,
    /// The folder of `scenarios.yaml` and `.env`; none when no home folder can be found.
    pub home: Option<PathBuf>,
    /// The one reading of the clock.
    pub now: DateTime<Utc>,
    /// When output is coloured.
    pub color: Color,
    /// The program that shows what is longer than the terminal; none where none is wanted.
    pub pager: Option<String>,
    /// How long a write waits for another process.
    pub lock_timeout: Duration,
    /// Every setting and where it came from.
    pub all: Vec<Setting>,
    /// The `.env` files.
    pub files: Vec<EnvFile>,
    /// The columns that `COLUMNS` says the terminal has.
    pub columns: Option<usize>,
    /// The user's editor: `VISUAL`, else `EDITOR`.
    pub editor: Option<String>,
    /// What the user should hear about the settings.
    pub notes: Vec<String>,
    /// What is set about the model.
    pub provider: ProviderValues,
}

/// What is set about the model, from the process environment or `~/.aizo/.env`. A project's `./.env` has no say:
/// it could send what a person said to somebody's server. Keys are among the values, so they are not shown.
#[derive(Clone, Default)]
pub struct ProviderValues(BTreeMap<&'static str, String>);

impl ProviderValues {
    /// The value of one variable.
    pub fn get(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }
}

impl fmt::Debug for ProviderValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Settings {
    /// Reads the surroundings.
    ///
    /// # Errors
    /// A value that cannot be read, and no home folder when no store is named.
    pub fn read(flags: &Flags) -> Result<Self, Failure> {
        let environment = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let path_variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let user_home = dirs::home_dir();
        let home = match path_variable(AIZO_HOME) {
            Some(folder) => Some(expand(Path::new(&folder), user_home.as_deref())),
            None => user_home.as_ref().map(|folder| folder.join(".aizo")),
        };
        let mut reader = Reader {
            environment: &environment,
            local: BTreeMap::new(),
            home: BTreeMap::new(),
            all: Vec::new(),
        };
        let mut files = Vec::new();
        let mut notes = Vec::new();
        if flags.without_local_file {
            let named = read_file(
                &Path::new(".").join(".env"),
                |name| name == AIZO_DB_PATH,
                &mut files,
            );
            for file in &mut files {
                file.ignored.append(&mut file.taken);
            }
            if let Some(path) = named.get(AIZO_DB_PATH) {
                notes.push(format!(
                    "the store {path} that ./.env names is not read here: what an agent is told comes from the user's own"
                ));
            }
        } else {
            let allowed = |name: &str| FROM_LOCAL_FILE.contains(&name);
            reader.local = read_file(&Path::new(".").join(".env"), allowed, &mut files);
        }
        if let Some(home) = &home {
            let allowed = |name: &str| name.starts_with("AIZO_") || PROVIDER_KEYS.contains(&name);
            let file = home.join(".env");
            reader.home = read_file(&file, allowed, &mut files);
            if let Some(file) = files.iter().find(|known| known.path == file)
                && !matches!(file.state.as_str(), "read" | "missing")
            {
                notes.push(format!("{}: {}", file.path.display(), file.state));
            }
        }

        let flag = flags
            .db
            .as_ref()
            .map(|path| path.to_string_lossy().into_owned());
        let named = reader.get(AIZO_DB_PATH, flag);
        let db = match (&named, &home) {
            (Some((path, source)), _) => {
                let path = expand(Path::new(path), user_home.as_deref());
                if *source == Source::LocalFile {
                    notes.push(format!("using the store {} (from ./.env)", path.display()));
                }
                path
            }
            (None, Some(home)) => home.join("preferences.db"),
            (None, None) => {
                return Err(Failure::new(Kind::Io, "cannot find the home folder")
                    .hint("set HOME, or name a store: --db FILE, or AIZO_DB_PATH"));
            }
        };
        let source = named.map_or(Source::Default, |(_, source)| source);
        reader.show(AIZO_DB_PATH, &db.to_string_lossy(), source);

        let forgiving = flags.forgiving;
        let now = match reader.get(AIZO_NOW, None) {
            Some((text, source)) => {
                reader.show(AIZO_NOW, &text, source);
                let bad =
                    || Failure::usage(format!("{AIZO_NOW} is not an RFC 3339 time: `{text}`"));
                or_default(moment(&text).ok_or_else(bad), forgiving, &mut notes)?
                    .unwrap_or_else(Utc::now)
            }
            None => Utc::now(),
        };
        let flag = flags.color.map(|color| format!("{color:?}").to_lowercase());
        let color = match reader.get(AIZO_COLOR, flag) {
            Some((text, source)) => {
                reader.show(AIZO_COLOR, &text, source);
                let color = <Color as clap::ValueEnum>::from_str(&text, true).map_err(|_| {
                    Failure::usage(format!(
                        "{AIZO_COLOR} is auto, always or never, not `{text}`"
                    ))
                });
                or_default(color, forgiving, &mut notes)?.unwrap_or_default()
            }
            None => Color::Auto,
        };
        // Never from `./.env`, which would start what a cloned repository names; and an empty one is one that nobody wants.
        let pager = std::env::var(AIZO_PAGER).ok();
        let pager = pager
            .or_else(|| reader.home.get(AIZO_PAGER).cloned())
            .or_else(|| std::env::var("PAGER").ok())
            .unwrap_or_else(|| DEFAULT_PAGER.to_owned());
        let is_wanted = !flags.no_pager && !matches!(pager.trim(), "" | "cat");
        let lock_timeout = match reader.get(AIZO_LOCK_TIMEOUT_MS, None) {
            Some((text, source)) => {
                reader.show(AIZO_LOCK_TIMEOUT_MS, &text, source);
                let timeout = text.parse().map(patience).map_err(|_| {
                    Failure::usage(format!(
                        "{AIZO_LOCK_TIMEOUT_MS} is a number of milliseconds, not `{text}`"
                    ))
                });
                or_default(timeout, forgiving, &mut notes)?.unwrap_or(DEFAULT_LOCK_TIMEOUT)
            }
            None => DEFAULT_LOCK_TIMEOUT,
        };
        reader.show_the_rest();
        let provider = PROVIDER.iter().filter_map(|name| {
            let of_process = environment(name);
            Some((
                *name,
                of_process.or_else(|| reader.home.get(*name).cloned())?,
            ))
        });
        Ok(Settings {
            provider: ProviderValues(provider.collect()),
            db,
            home,
            now,
            color,
            pager: is_wanted.then_some(pager),
            lock_timeout,
            all: reader.all,
            files,
            columns: environment("COLUMNS").and_then(|text| text.parse().ok()),
            editor: environment("VISUAL").or_else(|| environment("EDITOR")),
            notes,
        })
    }
}

/// A value that was read; none, and a note, where it cannot be and that may be forgiven.
fn or_default<T>(
    value: Result<T, Failure>,
    forgiving: bool,
    notes: &mut Vec<String>,
) -> Result<Option<T>, Failure> {
    match value {
        Ok(value) => Ok(Some(value)),
        Err(failure) if forgiving => {
            notes.push(format!("{failure}; the default counts"));
            Ok(None)
        }
        Err(failure) => Err(failure),
    }
}

/// The time that is set in the process environment, else the clock's: for what goes wrong before the settings are read.
pub fn clock() -> DateTime<Utc> {
    let set = std::env::var(AIZO_NOW).ok();
    set.and_then(|text| moment(&text)).unwrap_or_else(Utc::now)
}

fn moment(text: &str) -> Option<DateTime<Utc>> {
    let moment = DateTime::parse_from_rfc3339(text).ok()?;
    (1..=9998)
        .contains(&moment.year())
        .then(|| moment.with_timezone(&Utc))
}

/// A time to wait; SQLite counts milliseconds in 31 bits.
fn patience(millis: u64) -> Duration {
    Duration::from_millis(millis.min(i32::MAX as u64))
}

/// Looks a variable up where it may be set, nearest first.
struct Reader<'e> {
    environment: &'e dyn Fn(&str) -> Option<String>,
    local: BTreeMap<String, String>,
    home: BTreeMap<String, String>,
    all: Vec<Setting>,
}

impl Reader<'_> {
    fn get(&self, name: &str, flag: Option<String>) -> Option<(String, Source)> {
        let of = |value: Option<String>, source| value.map(|value| (value, source));
        of(flag, Source::Flag)
            .or_else(|| of((self.environment)(name), Source::Environment))
            .or_else(|| of(self.local.get(name).cloned(), Source::LocalFile))
            .or_else(|| of(self.home.get(name).cloned(), Source::HomeFile))
    }

    fn show(&mut self, name: &str, value: &str, source: Source) {
        self.all.push(Setting {
            name: name.to_owned(),
            value: value.to_owned(),
            source,
        });
    }

    /// Shows what else is set for this program, keys masked.
    fn show_the_rest(&mut self) {
        let mut names: Vec<String> = self.home.keys().cloned().collect();
        names.extend(
            std::env::vars_os()
                .filter_map(|(name, _)| name.into_string().ok())
                .filter(|name| name.starts_with("AIZO_") || PROVIDER_KEYS.contains(&name.as_str())),
        );
        names.sort();
        names.dedup();
        for name in names {
            if self.all.iter().any(|setting| setting.name == name) {
                continue;
            }
            if let Some((value, source)) = self.get(&name, None) {
                let secret = ["_KEY", "_TOKEN", "_PASSWORD", "_SECRET"];
                let value = if secret.iter().any(|ending| name.ends_with(ending)) {
                    mask(&value)
                } else {
                    value
                };
                self.show(&name, &value, source);
            }
        }
    }
}

/// Shows that a key is set without showing it.
fn mask(key: &str) -> String {
    let length = key.chars().count();
    if length < 12 {
        return "…".to_owned();
    }
    let tail: String = key.chars().skip(length - 4).collect();
    format!("…{tail}")
}

/// Reads the allowed variables of a `.env` file. A line that cannot be read is named and the others count.
fn read_file(
    path: &Path,
    allowed: impl Fn(&str) -> bool,
    files: &mut Vec<EnvFile>,
) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut ignored = Vec::new();
    let mut state = String::from("missing");
    let metadata = fs::metadata(path);
    if metadata.as_ref().is_ok_and(|data| !data.is_file()) {
        state = String::from("not a file; not read");
    } else if metadata
        .as_ref()
        .is_ok_and(|data| data.len() > LARGEST_ENV_FILE)
    {
        state = String::from("longer than a mebibyte; not read");
    } else if metadata.is_ok() {
        match dotenvy::from_path_iter(path) {
            Ok(lines) => {
                state = String::from("read");
                for line in lines {
                    match line {
                        Ok((name, value)) if allowed(&name) && !value.is_empty() => {
                            found.insert(name, value);
                        }
                        Ok((name, _)) if is_setting(&name) || PROVIDER_KEYS.contains(&&*name) => {
                            ignored.push(name);
                        }
                        Ok(_) => {}
                        // The line itself may hold a key, so it is not shown.
                        Err(dotenvy::Error::LineParse(_, index)) => {
                            state = format!("a line cannot be read (near character {index})");
                        }
                        Err(error) => {
                            state = error.to_string();
                            break;
                        }
                    }
                }
            }
            Err(error) => state = error.to_string(),
        }
    }
    files.push(EnvFile {
        path: path.to_path_buf(),
        state,
        taken: found.keys().cloned().collect(),
        ignored,
    });
    found
}

/// Replaces a leading `~` by the home folder.
pub fn expand(path: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_path_buf(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tilde_is_the_home_folder() {
        let home = Path::new("/home/ada");
        assert_eq!(expand(Path::new("~/x.db"), Some(home)), home.join("x.db"));
        assert_eq!(expand(Path::new("~x"), Some(home)), Path::new("~x"));
        assert_eq!(expand(Path::new("/x"), Some(home)), Path::new("/x"));
    }

    #[test]
    fn every_variable_is_a_setting() {
        let source = include_str!("settings.rs");
        let mut known = 0;
        for line in source.lines() {
            let declared = line.strip_prefix("pub const AIZO_");
            if let Some((name, _)) = declared.and_then(|rest| rest.split_once(':')) {
                assert!(is_setting(&format!("AIZO_{name}")), "{name}");
                known += 1;
            }
        }
        assert_eq!(known, ALL.len());
    }

    #[test]
    fn a_key_shows_its_last_characters_at_most() {
        assert_eq!(mask("sk-0123456789abcdef"), "…cdef");
        assert_eq!(mask("short"), "…");
    }
}
