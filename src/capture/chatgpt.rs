//! An export of ChatGPT: conversations, each a tree of which the branch up to `current_node` counts.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;

use super::moment::When;
use super::outbox::{Outbox, Said};
use super::shape::{Content, Flag, Lenient, Number, Text};
use super::{digest, json};
use crate::model::TurnKind;

#[derive(Deserialize, Default)]
#[serde(default)]
struct Conversation {
    id: Text,
    conversation_id: Text,
    create_time: When,
    current_node: Text,
    mapping: Lenient<HashMap<String, Lenient<Node>>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Node {
    parent: Text,
    message: Lenient<Message>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Message {
    id: Text,
    author: Lenient<Author>,
    create_time: When,
    content: Lenient<Body>,
    weight: Number,
    metadata: Lenient<Metadata>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Author {
    role: Text,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Body {
    content_type: Text,
    parts: Content,
    user_profile: Text,
    user_instructions: Text,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Metadata {
    is_visually_hidden_from_conversation: Flag,
}

/// Reads the conversations of one export.
#[derive(Default)]
pub(super) struct Reader {
    /// The standing instructions that were handed out: every conversation repeats them.
    standing: HashSet<String>,
}

impl Reader {
    pub(super) fn conversation(&mut self, bytes: &[u8], place: &str, out: &mut Outbox<'_>) {
        let mut found: Vec<Conversation> = Vec::new();
        json::records(bytes, place, &mut out.problems, |one| found.push(one));
        for conversation in found {
            self.walk(conversation, out);
        }
    }

    fn walk(&mut self, conversation: Conversation, out: &mut Outbox<'_>) {
        let Some(mut nodes) = conversation.mapping.0 else {
            return;
        };
        out.forget_answer();
        let session = conversation
            .conversation_id
            .some()
            .or(conversation.id.some())
            .unwrap_or_default();
        let leaf = conversation
            .current_node
            .some()
            .filter(|node| nodes.contains_key(node))
            .or_else(|| newest_leaf(&nodes));
        // From the leaf up; a node is taken out when it was visited, so that a circle ends.
        let mut branch = Vec::new();
        let mut next = leaf;
        while let Some((id, node)) = next.and_then(|id| nodes.remove_entry(&id)) {
            let node = node.0.unwrap_or_default();
            next = node.parent.some();
            branch.extend(node.message.0.map(|message| (id, message)));
        }
        for (node, message) in branch.into_iter().rev() {
            self.message(node, message, &session, &conversation.create_time, out);
        }
    }

    fn message(
        &mut self,
        node: String,
        message: Message,
        session: &str,
        begun: &When,
        out: &mut Outbox<'_>,
    ) {
        let role = message.author.0.unwrap_or_default().role;
        let body = message.content.0.unwrap_or_default();
        let at = message.create_time.0.or_else(|| begun.0.clone());
        let id = message.id.some().unwrap_or(node);
        if body.content_type.is("user_editable_context") {
            for text in [body.user_profile, body.user_instructions] {
                let text = in_the_persons_words(text.as_str());
                let key = digest::long(&["standing", text]);
                if !text.is_empty() && self.standing.insert(key.clone()) {
                    out.say(Said {
                        id: Some(key),
                        text: text.to_owned(),
                        kind: TurnKind::Standing,
                        at: at.clone(),
                        session: session.to_owned(),
                        place: id.clone(),
                    });
                }
            }
            return;
        }
        let hidden = message.weight.0 == Some(0.0)
            || message
                .metadata
                .as_ref()
                .is_some_and(|metadata| metadata.is_visually_hidden_from_conversation.0);
        let readable = ["text", "multimodal_text"].contains(&body.content_type.as_str());
        if hidden || !readable {
            return;
        }
        let text = body.parts.joined(&["text"]);
        match role.as_str() {
            "assistant" => out.answered(&text),
            "user" => {
                out.say(Said {
                    id: Some(id.clone()),
                    text,
                    kind: TurnKind::Typed,
                    at,
                    session: session.to_owned(),
                    place: id,
                });
            }
            _ => {}
        }
    }
}

/// The leaf with the newest message, where the export does not say which branch was shown last.
fn newest_leaf(nodes: &HashMap<String, Lenient<Node>>) -> Option<String> {
    let parents: HashSet<&str> = nodes
        .values()
        .filter_map(|node| node.as_ref()?.parent.0.as_deref())
        .collect();
    nodes
        .iter()
        .filter(|(id, _)| !parents.contains(id.as_str()))
        .max_by_key(|(id, node)| {
            let message = node.as_ref().and_then(|node| node.message.as_ref());
            let at = message.and_then(|message| message.create_time.0.as_ref()?.moment());
            (at, id.as_str())
        })
        .map(|(id, _)| id.clone())
}

/// Standing instructions without the sentence that the host puts before them.
fn in_the_persons_words(text: &str) -> &str {
    let text = text.trim();
    let Some((before, rest)) = text.split_once("```") else {
        return text;
    };
    let words = rest
        .strip_suffix("```")
        .or_else(|| Some(rest.rsplit_once("```")?.0));
    match words {
        Some(words) if before.starts_with("The user provided") => words.trim(),
        _ => text,
    }
}
