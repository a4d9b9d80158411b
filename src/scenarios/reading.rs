//! Reads the parsed YAML of a scenarios file: what is wrong with a part of it is a warning with its place, and
//! the rest counts.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Location, Options, Spanned};

use super::{Position, Scenario, Warning};
use crate::model::item_key;

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

/// Parser settings: repeated keys arrive with their places; a text made to grow is refused early.
pub(super) fn options() -> Options {
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
pub(super) enum Node<'a> {
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
pub(super) struct Reading<'a> {
    pub(super) text: &'a str,
    pub(super) warnings: Vec<Warning>,
}

impl Reading<'_> {
    fn warn(&mut self, Position { line, column }: Position, message: String) {
        self.warnings.push(Warning {
            message,
            line,
            column,
        });
    }

    pub(super) fn scenarios(
        &mut self,
        root: &Spanned<Node<'_>>,
    ) -> Result<Vec<Scenario>, (Position, String)> {
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
            let folded = item_key(&name);
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
                match owners.get(&item_key(&alias)) {
                    None => {
                        owners.insert(item_key(&alias), index);
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
            .filter(|(word, _)| seen.insert(item_key(word)))
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

/// Trims a text and makes every run of white space one space.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Puts a text from the file into a message.
fn quote(text: &str) -> String {
    match text.char_indices().nth(LONGEST_QUOTE) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}

pub(super) fn lower_first(text: &str) -> String {
    let mut rest = text.chars();
    match (rest.next(), rest.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().chain(rest).collect()
        }
        _ => text.to_owned(),
    }
}
