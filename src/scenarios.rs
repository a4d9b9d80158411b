//! Scenarios: kinds of task, with the keywords and aliases by which they find entries.
//! Reads `scenarios.yaml` or takes the built-in list; what a bad file costs the run, and where
//! warnings are shown, is left to the caller.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Location, Options, Spanned, UserMessageFormatter};
use unicode_normalization::UnicodeNormalization;

/// What `aizo scenarios init` writes: the built-in scenarios below an explanation of the format.
pub const TEMPLATE: &str = include_str!("scenarios.yaml");

/// Largest scenarios file that is read, in bytes.
const LARGEST_FILE: u64 = 1024 * 1024;

/// Longest single text that is kept, in bytes: a longer one is a mistake, and its copies through
/// YAML aliases would be a flood.
const LONGEST_TEXT: usize = 4096;

/// Longest piece of the file that a message repeats, in characters.
const LONGEST_QUOTE: usize = 60;

/// What people put between words. A word can't contain one: entries list keywords and scenarios
/// with commas between them.
const COMMAS: [char; 3] = [',', '，', '、'];

/// The fields of a scenario, for messages.
const FIELDS: &str = "description, keywords, aliases";

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
        let wanted = fold(name);
        self.list.iter().find(|scenario| {
            fold(&scenario.name) == wanted
                || scenario.aliases.iter().any(|alias| fold(alias) == wanted)
        })
    }

    /// Lists the folded names under which entries of a scenario may be tagged: its own, then its
    /// aliases. A name that no scenario has stands for itself.
    pub fn names_of(&self, name: &str) -> Vec<String> {
        match self.find(name) {
            Some(scenario) => std::iter::once(&scenario.name)
                .chain(&scenario.aliases)
                .map(|name| fold(name))
                .collect(),
            None => vec![fold(name)],
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

/// Parser settings: repeated keys arrive with their places; a text made to grow is refused early.
fn options() -> Options {
    serde_saphyr::options! {
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        strict_booleans: true,
        emit_comments: false,
        with_snippet: false,
        // A list of words may be shared by alias, but its copies stay within a large plain file.
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 10_000,
            max_replay_stack_depth: 16,
        },
        budget: serde_saphyr::budget! {
            max_depth: 32,
            max_merge_keys: 1_000,
            max_recorded_anchor_bytes: 64 * 1024,
        },
    }
}

/// A YAML node of any kind; a derived type would refuse a whole file for one wrong field.
enum Node<'a> {
    /// `null`, `~` or nothing.
    Null,
    Text(Cow<'a, str>),
    /// A number or a boolean, as the parser understood it.
    Value(String),
    TooLong,
    List(Vec<Spanned<Node<'a>>>),
    Map(Vec<(Spanned<Node<'a>>, Spanned<Node<'a>>)>),
}

impl Node<'_> {
    fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Text(_) | Self::TooLong => "text",
            Self::Value(_) => "a number or a boolean",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
        }
    }
}

impl<'de> Deserialize<'de> for Node<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any YAML value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Node::Null)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(if text.len() > LONGEST_TEXT {
            Node::TooLong
        } else {
            Node::Text(Cow::Borrowed(text))
        })
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(if text.len() > LONGEST_TEXT {
            Node::TooLong
        } else {
            Node::Text(Cow::Owned(text.to_owned()))
        })
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Node::Value(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Node::Value(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Node::Value(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Node::Value(value.to_string()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Node::Map(map))
    }
}

impl From<Location> for Position {
    fn from(location: Location) -> Self {
        Self {
            line: location.line(),
            column: location.column(),
        }
    }
}

/// A scenario whose aliases are not yet known to be its own.
struct Draft {
    scenario: Scenario,
    aliases: Vec<(String, Position)>,
}

/// The text being read, for the spelling of numbers, and what was left out so far.
struct Reading<'a> {
    text: &'a str,
    warnings: Vec<Warning>,
}

impl Reading<'_> {
    fn warn(&mut self, Position { line, column }: Position, message: String) {
        self.warnings.push(Warning {
            message,
            line,
            column,
        });
    }

    fn scenarios(&mut self, root: &Spanned<Node<'_>>) -> Result<Vec<Scenario>, (Position, String)> {
        let fields = match &root.value {
            Node::Map(fields) => fields,
            Node::Null => return Err((place(root), "empty, without `scenarios:`".to_owned())),
            other => {
                return Err((
                    place(root),
                    format!("{} instead of a map with `scenarios:`", other.kind()),
                ));
            }
        };
        let mut found = None;
        for (key, value) in fields {
            match self.scalar(key, "field").as_deref() {
                Some("scenarios") if found.is_none() => found = Some(value),
                Some("scenarios") => self.warn(
                    place(key),
                    "`scenarios` for the second time, left out".to_owned(),
                ),
                Some(other) => {
                    self.warn(
                        place(key),
                        format!(
                            "unknown field {}, left out (known: scenarios)",
                            quote(other)
                        ),
                    );
                }
                None => {}
            }
        }
        let value = found.ok_or_else(|| (place(root), "no `scenarios:` at the top".to_owned()))?;
        let Node::Map(entries) = &value.value else {
            return Err((
                place(value),
                format!("`scenarios` is {}, not a map of names", value.value.kind()),
            ));
        };
        Ok(self.named_once(entries))
    }

    /// Reads the scenarios, then gives every alias to one of them; names take precedence, wherever
    /// they stand in the file.
    fn named_once(&mut self, entries: &[(Spanned<Node<'_>>, Spanned<Node<'_>>)]) -> Vec<Scenario> {
        let mut owners = HashMap::new();
        let mut drafts: Vec<Draft> = Vec::new();
        for (key, value) in entries {
            let Some(name) = self.name(key) else { continue };
            let folded = fold(&name);
            if owners.contains_key(&folded) {
                self.warn(
                    place(key),
                    format!("scenario {} for the second time, left out", quote(&name)),
                );
                continue;
            }
            if let Some(draft) = self.scenario(name, value) {
                owners.insert(folded, drafts.len());
                drafts.push(draft);
            }
        }
        let names: Vec<String> = drafts
            .iter()
            .map(|draft| draft.scenario.name.clone())
            .collect();
        let mut list = Vec::with_capacity(drafts.len());
        for (index, draft) in drafts.into_iter().enumerate() {
            let Draft {
                mut scenario,
                aliases,
            } = draft;
            for (alias, position) in aliases {
                match owners.get(&fold(&alias)) {
                    None => {
                        owners.insert(fold(&alias), index);
                        scenario.aliases.push(alias);
                    }
                    Some(&owner) if owner == index => {}
                    Some(&owner) => self.warn(
                        position,
                        format!(
                            "alias {} of scenario {} is already a name of scenario {}, left out",
                            quote(&alias),
                            quote(&scenario.name),
                            quote(&names[owner])
                        ),
                    ),
                }
            }
            list.push(scenario);
        }
        list
    }

    fn name(&mut self, key: &Spanned<Node<'_>>) -> Option<String> {
        let name = self.scalar(key, "scenario name")?.to_lowercase();
        let problem = match name.as_str() {
            "" => "scenario without a name, left out".to_owned(),
            // Nobody could ask for this one.
            name if name.contains(COMMAS) => {
                format!("scenario name {} has a comma in it, left out", quote(name))
            }
            _ => return Some(name),
        };
        self.warn(place(key), problem);
        None
    }

    fn scenario(&mut self, name: String, value: &Spanned<Node<'_>>) -> Option<Draft> {
        let fields = match &value.value {
            Node::Map(fields) => fields.as_slice(),
            // A bare `name:` still names a scenario that entries can be tagged with.
            Node::Null => &[],
            other => {
                let found = other.kind();
                self.warn(
                    place(value),
                    format!(
                        "scenario {} is {found}, not a map with {FIELDS}; left out",
                        quote(&name)
                    ),
                );
                return None;
            }
        };
        let (mut description, mut keywords, mut aliases) = (None, None, None);
        for (key, value) in fields {
            let Some(field) = self.scalar(key, "field") else {
                continue;
            };
            match field.as_str() {
                "description" if description.is_none() => {
                    description = Some(self.description(value, &name));
                }
                "keywords" if keywords.is_none() => {
                    keywords = Some(self.words(value, "keyword", &name));
                }
                "aliases" if aliases.is_none() => {
                    aliases = Some(self.words(value, "alias", &name));
                }
                "description" | "keywords" | "aliases" => {
                    let problem = "for the second time, left out";
                    let message = format!("`{field}` of scenario {} {problem}", quote(&name));
                    self.warn(place(key), message);
                }
                _ => {
                    let (field, name) = (quote(&field), quote(&name));
                    let known = format!("left out (known: {FIELDS})");
                    let message = format!("unknown field {field} in scenario {name}, {known}");
                    self.warn(place(key), message);
                }
            }
        }
        let mut seen = HashSet::new();
        let keywords = keywords
            .unwrap_or_default()
            .into_iter()
            .filter(|(word, _)| seen.insert(fold(word)))
            .map(|(word, _)| word)
            .collect();
        let scenario = Scenario {
            name,
            description: description.unwrap_or_default(),
            keywords,
            aliases: Vec::new(),
        };
        Some(Draft {
            scenario,
            aliases: aliases.unwrap_or_default(),
        })
    }

    fn description(&mut self, value: &Spanned<Node<'_>>, name: &str) -> String {
        match &value.value {
            Node::Null => String::new(),
            _ => self
                .scalar(value, &format!("description of scenario {}", quote(name)))
                .unwrap_or_default(),
        }
    }

    /// Reads a list of keywords or aliases, in lower case, each with its place.
    fn words(
        &mut self,
        value: &Spanned<Node<'_>>,
        what: &str,
        name: &str,
    ) -> Vec<(String, Position)> {
        let items = match &value.value {
            Node::List(items) => items,
            Node::Null => return Vec::new(),
            other => {
                let found = other.kind();
                let message = format!(
                    "{what} list of scenario {} is {found}, not a list such as [one, two]; left out",
                    quote(name)
                );
                self.warn(place(value), message);
                return Vec::new();
            }
        };
        let mut words = Vec::with_capacity(items.len());
        for item in items {
            let Some(text) = self.scalar(item, &format!("{what} of scenario {}", quote(name)))
            else {
                continue;
            };
            let position = place(item);
            if text.contains(COMMAS) {
                // `- code, test` is one text in YAML, and so is [代码，测试] with Chinese commas.
                self.warn(
                    position,
                    format!(
                        "{what} {} has a comma in it, taken as several",
                        quote(&text)
                    ),
                );
            }
            let parts = text
                .split(COMMAS)
                .map(str::trim)
                .filter(|part| !part.is_empty());
            words.extend(parts.map(|part| (part.to_lowercase(), position)));
        }
        words
    }

    /// Returns a text, number or boolean as the file spells it, on one line; anything else is a
    /// warning.
    fn scalar(&mut self, node: &Spanned<Node<'_>>, what: &str) -> Option<String> {
        match &node.value {
            Node::Text(text) => Some(one_line(text)),
            Node::Value(value) => Some(one_line(self.spelling(node).unwrap_or(value))),
            Node::Null => Some(one_line(
                self.spelling(node)
                    .filter(|&text| text != "~")
                    .unwrap_or_default(),
            )),
            Node::TooLong => {
                self.warn(
                    place(node),
                    format!("{what} is longer than {LONGEST_TEXT} bytes, left out"),
                );
                None
            }
            Node::List(_) | Node::Map(_) => {
                let found = node.value.kind();
                self.warn(
                    place(node),
                    format!("{what} is {found}, not text; left out"),
                );
                None
            }
        }
    }

    /// The characters of a plain value in the file: the parser would turn `1.10` into 1.1.
    fn spelling(&self, node: &Spanned<Node<'_>>) -> Option<&str> {
        let span = node.defined.span();
        let start = usize::try_from(span.byte_offset()?).ok()?;
        let length = usize::try_from(span.byte_len()?).ok()?;
        let text = self.text.get(start..start.checked_add(length)?)?;
        (!text.starts_with(['"', '\'', '|', '>'])).then_some(text)
    }
}

fn place(node: &Spanned<Node<'_>>) -> Position {
    Position::from(node.referenced)
}

/// The form in which names are compared: case, width and spacing make no difference.
fn fold(text: &str) -> String {
    let text = one_line(text);
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    // Folding can leave a text that is not normalised, and the reverse.
    caseless::default_case_fold_str(&text.nfkc().collect::<String>())
        .nfkc()
        .collect()
}

/// Trims a text and makes every run of white space one space.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Puts a text from the file into a message.
fn quote(text: &str) -> String {
    match text.char_indices().nth(LONGEST_QUOTE) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}

fn lower_first(text: &str) -> String {
    let mut rest = text.chars();
    match (rest.next(), rest.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().chain(rest).collect()
        }
        _ => text.to_owned(),
    }
}

fn after_comma(position: Option<Position>) -> String {
    position
        .map(|position| format!(", {position}"))
        .unwrap_or_default()
}

/// A row of the built-in list; its words stand in one text, with commas between them.
struct BuiltIn {
    name: &'static str,
    description: &'static str,
    keywords: &'static str,
    aliases: &'static str,
}

impl From<&BuiltIn> for Scenario {
    fn from(row: &BuiltIn) -> Self {
        let words = |text: &str| text.split(", ").map(str::to_owned).collect();
        Self {
            name: row.name.to_owned(),
            description: row.description.to_owned(),
            keywords: words(row.keywords),
            aliases: words(row.aliases),
        }
    }
}

/// The scenarios of [`TEMPLATE`] once more: parsing that text takes half a millisecond, which every
/// recall would pay. A test keeps the two the same.
const BUILT_IN: &[BuiltIn] = &[
    BuiltIn {
        name: "coding",
        description: "Writing, changing, testing and debugging code, and the tools around it",
        keywords: "code, coding, function, variable, refactor, debug, compile, lint, \
            test, commit, git, repo, dependency, \
            代码, 编程, 函数, 变量, 重构, 调试, 编译, 测试, 提交, 仓库, 依赖, 注释",
        aliases: "code, dev, development, programming, software, 编程, 代码, 开发, 写代码, 程序",
    },
    BuiltIn {
        name: "writing",
        description: "Documents, articles and other prose, from the outline to punctuation",
        keywords: "writing, prose, document, readme, article, essay, blog, paragraph, \
            heading, grammar, punctuation, markdown, \
            写作, 文档, 文章, 博客, 段落, 标题, 标点, 措辞, 文风, 排版, 草稿",
        aliases: "write, docs, documentation, prose, 写作, 文档, 写文章, 文案",
    },
    BuiltIn {
        name: "communication",
        description: "Replies, mail, chat and meetings: their tone, length and language",
        keywords: "communication, reply, email, chat, meeting, slack, tone, greeting, \
            polite, concise, apology, emoji, conversation, \
            沟通, 回复, 邮件, 聊天, 会议, 语气, 问候, 礼貌, 简洁, 道歉, 表情, 寒暄",
        aliases: "chat, email, mail, messaging, meeting, social, 沟通, 交流, 聊天, 邮件, 会议",
    },
    BuiltIn {
        name: "design",
        description: "How things look and feel, such as layout, colour, type, icons and interaction",
        keywords: "design, layout, color, colour, palette, font, typography, spacing, icon, button, \
            animation, theme, figma, ui, ux, \
            设计, 布局, 配色, 颜色, 字体, 间距, 图标, 按钮, 动画, 界面, 交互, 深色",
        aliases: "ui, ux, visual, graphics, 设计, 界面, 视觉, 交互",
    },
    BuiltIn {
        name: "review",
        description: "Reading the work of others and judging it, be it code, a text or a plan",
        keywords: "review, reviewer, feedback, approve, reject, nitpick, critique, diff, \
            pr, merge, audit, proofread, checklist, \
            评审, 审查, 审阅, 审核, 反馈, 批准, 驳回, 合并, 校对, 挑刺, 复核, 检查清单",
        aliases: "code-review, code review, pr, critique, audit, 评审, 审查, 审阅, 审核, 代码审查",
    },
    BuiltIn {
        name: "research",
        description: "Finding out, with papers, citations, evidence, experiments and comparisons",
        keywords: "research, citation, cite, paper, literature, evidence, survey, hypothesis, \
            experiment, methodology, dataset, statistic, bibliography, \
            研究, 调研, 论文, 文献, 引用, 出处, 证据, 综述, 课题, 实验, 统计, 考证",
        aliases: "study, investigation, academic, literature, 研究, 调研, 学术, 论文, 查资料",
    },
    BuiltIn {
        name: "business",
        description: "Products, requirements, markets, numbers and plans",
        keywords: "business, product, requirement, prd, roadmap, stakeholder, strategy, metric, kpi, \
            revenue, pricing, customer, competitor, budget, market, \
            业务, 商业, 产品, 需求, 路线图, 战略, 指标, 营收, 定价, 客户, 竞品, 预算, 市场",
        aliases: "biz, biz-analyze, product, pm, commercial, strategy, 业务, 商业, 产品, 商务",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn parse(text: &str) -> Scenarios {
        Scenarios::parse(text, Path::new("s.yaml")).expect("a readable file")
    }

    fn refused(text: &str) -> String {
        let error = Scenarios::parse(text, Path::new("s.yaml")).expect_err("an unreadable file");
        assert!(!error.hint().is_empty());
        error.to_string()
    }

    fn warnings(scenarios: &Scenarios) -> Vec<String> {
        scenarios.warnings.iter().map(Warning::to_string).collect()
    }

    /// A file with one scenario, whose keywords are the given YAML value.
    fn keywords(value: &str) -> Scenarios {
        parse(&format!("scenarios:\n  coding:\n    keywords: {value}\n"))
    }

    #[test]
    fn the_template_says_the_same_as_the_built_in_table() {
        let template = parse(TEMPLATE);
        assert_eq!(template.list, Scenarios::built_in().list);
        assert_eq!(warnings(&template), [""; 0]);
        assert_eq!(template.source, Source::File(PathBuf::from("s.yaml")));
    }

    #[test]
    fn built_in_scenarios_serve_english_and_chinese() {
        let built_in = Scenarios::built_in();
        assert_eq!(built_in.source, Source::BuiltIn);
        let names: Vec<&str> = built_in
            .list
            .iter()
            .map(|scenario| scenario.name.as_str())
            .collect();
        let expected = [
            "coding",
            "writing",
            "communication",
            "design",
            "review",
            "research",
            "business",
        ];
        assert_eq!(names, expected);
        for scenario in &built_in.list {
            assert!(!scenario.description.is_empty(), "{}", scenario.name);
            let english = scenario.keywords.iter().filter(|word| word.is_ascii());
            assert!(english.count() >= 10, "{}", scenario.name);
            let chinese = scenario.keywords.iter().filter(|word| !word.is_ascii());
            assert!(chinese.clone().count() >= 10, "{}", scenario.name);
            // Chinese words match anywhere: a single character would match nearly everything.
            for word in chinese {
                assert!(word.chars().count() >= 2, "{word}");
            }
        }
    }

    #[rstest]
    #[case("coding", "coding")]
    #[case("  Coding ", "coding")]
    #[case("CODE", "coding")]
    #[case("ｄｅｖ", "coding")]
    #[case("编程", "coding")]
    #[case("docs", "writing")]
    #[case("写作", "writing")]
    #[case("Email", "communication")]
    #[case("沟通", "communication")]
    #[case("UI", "design")]
    #[case("code  review", "review")]
    #[case("评审", "review")]
    #[case("调研", "research")]
    #[case("biz-analyze", "business")] // the name in the file that 1.0.0 wrote
    fn a_scenario_is_found_by_name_and_alias(#[case] name: &str, #[case] found: &str) {
        let built_in = Scenarios::built_in();
        assert_eq!(
            built_in.find(name).map(|scenario| scenario.name.as_str()),
            Some(found)
        );
    }

    #[test]
    fn a_scenario_is_not_found_by_a_part_of_its_name_or_a_keyword() {
        for name in ["", " ", "cod", "coding2", "refactor", "函数", "编"] {
            assert_eq!(Scenarios::built_in().find(name), None, "{name}");
        }
    }

    #[test]
    fn names_are_compared_with_full_case_folding() {
        let scenarios = parse("scenarios: {Straße: {aliases: [ΌΣΟΣ, İş]}}");
        assert_eq!(scenarios.list[0].name, "straße");
        for name in ["STRASSE", "strasse", "straße", "όσος", "όσοσ", "i\u{307}ş"] {
            assert!(scenarios.find(name).is_some(), "{name}");
        }
        assert_eq!(
            scenarios.names_of("STRASSE"),
            ["strasse", "όσοσ", "i\u{307}ş"]
        );
    }

    #[test]
    fn entries_tagged_with_an_alias_are_found_by_the_name_and_the_reverse() {
        let scenarios = parse("scenarios: {coding: {aliases: [Dev, 编程]}, writing: }");
        for name in ["coding", "DEV", "编程"] {
            assert_eq!(
                scenarios.names_of(name),
                ["coding", "dev", "编程"],
                "{name}"
            );
        }
        assert_eq!(scenarios.names_of("writing"), ["writing"]);
        assert_eq!(scenarios.names_of(" Gardening "), ["gardening"]);
    }

    #[test]
    fn words_are_trimmed_lowered_and_kept_once_in_order() {
        let text = "scenarios:\n  ' Coding ':\n    description: |\n      Code\n      and tests\n    \
                    keywords: [' Rust ', TEST, rust, '', 函数, 'ＲＵＳＴ', Über]\n    \
                    aliases: [Dev, ' ', dev, CODING, 代码]\n";
        let scenarios = parse(text);
        let expected = Scenario {
            name: "coding".into(),
            description: "Code and tests".into(),
            keywords: ["rust", "test", "函数", "über"].map(String::from).to_vec(),
            aliases: ["dev", "代码"].map(String::from).to_vec(),
        };
        assert_eq!(scenarios.list, [expected]);
        assert_eq!(warnings(&scenarios), [""; 0]);
    }

    #[rstest]
    #[case("[2024, 1.10, 007, 0x1F, -3]", &["2024", "1.10", "007", "0x1f", "-3"])]
    #[case("[true, No, on, null]", &["true", "no", "on", "null"])]
    #[case("['2024', \"yes\"]", &["2024", "yes"])]
    #[case("[.nan, 1e999, 1_000]", &[".nan", "1e999", "1_000"])]
    #[case("[!!int \"5\", !!str 6]", &["5", "6"])]
    #[case("\n      - 2024\n      -\n      - ~\n      - 测试", &["2024", "测试"])]
    #[case("[a, &n 2024, *n, 1.50]", &["a", "2024", "1.50"])]
    #[case("", &[])]
    #[case("[]", &[])]
    fn a_number_or_boolean_is_taken_as_it_is_spelled(#[case] value: &str, #[case] words: &[&str]) {
        let scenarios = keywords(value);
        assert_eq!(scenarios.list[0].keywords, words);
        assert_eq!(warnings(&scenarios), [""; 0]);
    }

    #[rstest]
    #[case("[code, [a], test]", &["code", "test"], "line 3, column 22: keyword of scenario `coding` is a list, not text; left out")]
    #[case("[code, {a: b}]", &["code"], "line 3, column 22: keyword of scenario `coding` is a map, not text; left out")]
    #[case("code", &[], "line 3, column 15: keyword list of scenario `coding` is text, not a list such as [one, two]; left out")]
    #[case("[代码，函数, test]", &["代码", "函数", "test"], "line 3, column 16: keyword `代码，函数` has a comma in it, taken as several")]
    #[case("['测试', [a]]", &["测试"], "line 3, column 22: keyword of scenario `coding` is a list, not text; left out")]
    fn a_bad_keyword_is_a_warning(
        #[case] value: &str,
        #[case] words: &[&str],
        #[case] warning: &str,
    ) {
        let scenarios = keywords(value);
        assert_eq!(scenarios.list[0].keywords, words);
        assert_eq!(warnings(&scenarios), [warning]);
    }

    #[rstest]
    #[case("version: 2\nscenarios: {}\n", &[], &["line 1, column 1: unknown field `version`, left out (known: scenarios)"])]
    #[case("scenarios: {a: }\nscenarios: {b: }\n", &["a"], &["line 2, column 1: `scenarios` for the second time, left out"])]
    #[case("scenarios:\n  a:\n    keyword: [x]\n    aliases: [y]\n", &["a"],
        &["line 3, column 5: unknown field `keyword` in scenario `a`, left out (known: description, keywords, aliases)"])]
    #[case("scenarios:\n  a: 5\n  b: [x]\n  编程:\n", &["编程"],
        &["line 2, column 6: scenario `a` is a number or a boolean, not a map with description, keywords, aliases; left out",
          "line 3, column 6: scenario `b` is a list, not a map with description, keywords, aliases; left out"])]
    #[case("scenarios:\n  '': {}\n  ? [x]\n  : {}\n  a,b: {}\n  2024: {}\n", &["2024"],
        &["line 2, column 3: scenario without a name, left out",
          "line 3, column 5: scenario name is a list, not text; left out",
          "line 5, column 3: scenario name `a,b` has a comma in it, left out"])]
    #[case("scenarios:\n  代码: {}\n  Code: {}\n  代码: {keywords: [x]}\n  CODE: {}\n", &["代码", "code"],
        &["line 4, column 3: scenario `代码` for the second time, left out",
          "line 5, column 3: scenario `code` for the second time, left out"])]
    #[case("scenarios:\n  a:\n    aliases: [b, x]\n  b:\n    aliases: [X, y]\n", &["a", "b"],
        &["line 3, column 15: alias `b` of scenario `a` is already a name of scenario `b`, left out",
          "line 5, column 15: alias `x` of scenario `b` is already a name of scenario `a`, left out"])]
    #[case("scenarios:\n  a:\n    description: [x]\n    aliases: y\n", &["a"],
        &["line 3, column 18: description of scenario `a` is a list, not text; left out",
          "line 4, column 14: alias list of scenario `a` is text, not a list such as [one, two]; left out"])]
    #[case("scenarios:\n  a:\n    keywords: [x]\n    keywords: [y]\n", &["a"],
        &["line 4, column 5: `keywords` of scenario `a` for the second time, left out"])]
    fn a_bad_part_is_a_warning_and_the_rest_works(
        #[case] text: &str,
        #[case] names: &[&str],
        #[case] expected: &[&str],
    ) {
        let scenarios = parse(text);
        let found: Vec<&str> = scenarios
            .list
            .iter()
            .map(|scenario| scenario.name.as_str())
            .collect();
        assert_eq!(found, names);
        assert_eq!(warnings(&scenarios), expected);
    }

    #[rstest]
    #[case(
        "",
        "can't read scenarios from s.yaml, line 1, column 1: empty, without `scenarios:`"
    )]
    #[case(
        "coding: {}\n",
        "can't read scenarios from s.yaml, line 1, column 1: no `scenarios:` at the top"
    )]
    #[case(
        "- coding\n",
        "can't read scenarios from s.yaml, line 1, column 1: a list instead of a map with `scenarios:`"
    )]
    #[case(
        "scenarios:\n  - coding\n",
        "can't read scenarios from s.yaml, line 2, column 3: `scenarios` is a list, not a map of names"
    )]
    #[case(
        "scenarios: 编程\n",
        "can't read scenarios from s.yaml, line 1, column 12: `scenarios` is text, not a map of names"
    )]
    #[case(
        "scenarios:\n\ta: {}\n",
        "can't read scenarios from s.yaml, line 2, column 2: tabs disallowed within this context (block indentation)"
    )]
    #[case(
        "scenarios:\n  编程: [代码\n",
        "can't read scenarios from s.yaml, line 2, column 7: unclosed bracket '['"
    )]
    #[case(
        "scenarios: {}\n---\nscenarios: {}\n",
        "can't read scenarios from s.yaml, line 3, column 1: only single YAML document expected but multiple found"
    )]
    #[case(
        "scenarios: &a {b: *a}\n",
        "can't read scenarios from s.yaml, line 1, column 19: recursive reference not allowed here"
    )]
    fn a_file_that_says_no_scenarios_is_refused_with_its_place(
        #[case] text: &str,
        #[case] message: &str,
    ) {
        assert_eq!(refused(text), message);
    }

    #[test]
    fn yaml_aliases_share_words_but_do_not_flood() {
        let shared = "scenarios:\n  a: &a\n    keywords: &k [x, 测试]\n  b:\n    keywords: *k\n  c:\n    <<: *a\n    description: d\n";
        let scenarios = parse(shared);
        assert!(
            scenarios
                .list
                .iter()
                .all(|scenario| scenario.keywords == ["x", "测试"])
        );
        assert_eq!(warnings(&scenarios), [""; 0]);

        let mut laughs = String::from("l0: &l0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
        for level in 1..12 {
            let copies = vec![format!("*l{}", level - 1); 9].join(", ");
            laughs.push_str(&format!("l{level}: &l{level} [{copies}]\n"));
        }
        laughs.push_str("scenarios: {}\n");
        let flood = "more values, aliases or levels than a list of scenarios can need";
        let deep = format!("scenarios: {}{}", "[".repeat(40), "]".repeat(40));
        for text in [laughs, deep, "- ".repeat(1000)] {
            let message = refused(&text);
            assert!(
                message.starts_with("can't read scenarios from s.yaml, line "),
                "{message}"
            );
            assert!(message.ends_with(flood), "{message}");
        }
    }

    #[test]
    fn a_text_without_end_is_left_out_and_a_message_stays_short() {
        let long = "长".repeat(2000);
        let scenarios = keywords(&format!("[{long}, test]"));
        assert_eq!(scenarios.list[0].keywords, ["test"]);
        let expected =
            "line 3, column 16: keyword of scenario `coding` is longer than 4096 bytes, left out";
        assert_eq!(warnings(&scenarios), [expected]);

        let scenarios = parse(&format!("scenarios:\n  {}: 5\n", "长".repeat(1000)));
        assert!(scenarios.warnings[0].message.chars().count() < 200);
    }

    #[test]
    fn a_windows_file_reads_as_any_other() {
        let scenarios = parse(
            "\u{feff}scenarios:\r\n  Coding:\r\n    keywords:\r\n      - 2024\r\n      - 代码\r\n",
        );
        assert_eq!(scenarios.list[0].keywords, ["2024", "代码"]);
        assert_eq!(warnings(&scenarios), [""; 0]);
    }

    #[test]
    fn the_file_that_1_0_0_wrote_still_reads() {
        let text = "scenarios:\n  coding:\n    description: \"Coding, debugging\"\n    keywords:\n      - codex\n      \
                    - tnpm\n\n  biz-analyze:\n    description: \"PRD\"\n    keywords:\n      - user-journey\n";
        let scenarios = parse(text);
        assert_eq!(warnings(&scenarios), [""; 0]);
        assert_eq!(
            scenarios
                .find("Biz-Analyze")
                .map(|found| found.keywords.len()),
            Some(1)
        );
    }

    #[test]
    fn a_file_replaces_the_built_in_scenarios_and_no_file_is_made() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("scenarios.yaml");
        let without = Scenarios::load(&path).expect("no file is no error");
        assert_eq!(without.source, Source::BuiltIn);
        assert!(!path.exists());

        fs::write(&path, "scenarios: {园艺: {keywords: [玫瑰]}}").expect("written");
        let with = Scenarios::load(&path).expect("a file");
        assert_eq!(with.source, Source::File(path));
        assert_eq!(with.list.len(), 1);
        assert_eq!(with.find("coding"), None);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_refused_by_path() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("scenarios.yaml");
        let load = || Scenarios::load(&path).expect_err("refused").to_string();
        let from = format!("can't read scenarios from {}", path.display());

        fs::write(&path, b"scenarios:\n  \xe7\xbc\x96\xff: {}\n").expect("written");
        assert_eq!(load(), format!("{from}, line 2, column 4: not UTF-8"));

        let mut large = b"scenarios: {}\n#".to_vec();
        large.resize(1024 * 1024, b' ');
        fs::write(&path, &large).expect("written");
        Scenarios::load(&path).expect("1 MiB is allowed");
        large.push(0xff);
        fs::write(&path, &large).expect("written");
        assert_eq!(load(), format!("{from}: larger than 1 MiB"));

        fs::remove_file(&path).expect("removed");
        fs::create_dir(&path).expect("made");
        assert_eq!(load(), format!("{from}: not a file"));
    }
}
