//! The records of other programs: memories of mem0 and ChatGPT, the graph of MCP's reference memory server, and the list of
//! entries that aizo took before it had a format of its own.

use serde::Deserialize;

use super::piece::{Statement, Told, Voice};
use crate::capture::moment::When;
use crate::capture::shape::{Lenient, Number, Text};

/// A memory as mem0 and ChatGPT hand it out.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Memory {
    memory: Text,
    content: Text,
    text: Text,
    created_at: When,
    create_time: When,
    created_timestamp: When,
    updated_at: When,
}

impl Memory {
    pub(super) fn told(self) -> Option<Told> {
        let text = self
            .memory
            .some()
            .or(self.content.some())
            .or(self.text.some())?;
        let times = [
            self.created_at,
            self.create_time,
            self.created_timestamp,
            self.updated_at,
        ];
        Some(Told {
            at: times.into_iter().find_map(|when| when.0),
            ..Told::new(text, Voice::AboutThePerson)
        })
    }
}

/// What a person told ChatGPT about themselves and about how to answer, as its pages and its exports name it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Instructions {
    about_user_message: Text,
    about_model_message: Text,
    user_profile: Text,
    user_instructions: Text,
    custom_instructions: Lenient<Box<Instructions>>,
    chat_settings: Lenient<Box<Instructions>>,
}

impl Instructions {
    /// Whether one of the members has the name of an instruction.
    pub(super) const NAMES: [&'static str; 6] = [
        "about_user_message",
        "about_model_message",
        "user_profile",
        "user_instructions",
        "custom_instructions",
        "chat_settings",
    ];

    pub(super) fn texts(self) -> Vec<String> {
        let own = [
            self.about_user_message,
            self.about_model_message,
            self.user_profile,
            self.user_instructions,
        ];
        let mut texts: Vec<String> = own.into_iter().filter_map(Text::some).collect();
        for inner in [self.custom_instructions.0, self.chat_settings.0]
            .into_iter()
            .flatten()
        {
            texts.extend(inner.texts());
        }
        texts
    }
}

/// A thing in the graph, or what one thing is to another.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Node {
    name: Text,
    observations: Vec<Text>,
    from: Text,
    to: Text,
    #[serde(rename = "relationType")]
    relation: Text,
}

impl Node {
    /// What the graph says about the person.
    pub(super) fn told(self) -> Vec<Told> {
        let spaced = |name: &Text| name.as_str().replace('_', " ");
        if self.relation.0.is_some() {
            // What a thing is to another one is nobody's preference.
            if !is_the_person(self.from.as_str()) {
                return Vec::new();
            }
            let text = format!("User {} {}", spaced(&self.relation), spaced(&self.to));
            return vec![Told::new(text, Voice::AboutThePerson)];
        }
        let texts = self.observations.into_iter().filter_map(Text::some);
        if is_the_person(self.name.as_str()) {
            texts
                .map(|text| Told::new(text, Voice::AboutThePerson))
                .collect()
        } else {
            let name = spaced(&self.name);
            texts
                .map(|text| Told::new(format!("{name}: {text}"), Voice::AboutThePerson))
                .collect()
        }
    }
}

/// Whether a name in the graph stands for the user.
fn is_the_person(name: &str) -> bool {
    let name = name.trim().to_lowercase().replace(['-', ' '], "_");
    matches!(
        name.as_str(),
        "user"
            | "the_user"
            | "default_user"
            | "current_user"
            | "me"
            | "i"
            | "myself"
            | "用户"
            | "我"
    )
}

/// A list of words, or one text.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a list of texts, or one text")]
enum Words {
    List(Vec<String>),
    Text(String),
}

impl Words {
    fn texts(words: Option<Self>) -> Vec<String> {
        match words {
            None => Vec::new(),
            Some(Words::List(words)) => words,
            Some(Words::Text(text)) => vec![text],
        }
    }
}

/// An entry of the list that aizo 0.3.0 took, and of those that `show --json` and `add --stdin` know.
#[derive(Debug, Deserialize)]
pub(super) struct Listed {
    item: String,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default, alias = "base_score")]
    score: Number,
    #[serde(default)]
    keywords: Option<Words>,
    #[serde(default)]
    scenarios: Option<Words>,
    #[serde(default, alias = "patterns")]
    pattern: Option<Words>,
}

impl From<Listed> for Statement {
    fn from(listed: Listed) -> Self {
        Statement {
            item: listed.item,
            reason: listed.reason.unwrap_or_default(),
            score: listed.score.0,
            keywords: Words::texts(listed.keywords),
            scenarios: Words::texts(listed.scenarios),
            patterns: Words::texts(listed.pattern),
        }
    }
}
