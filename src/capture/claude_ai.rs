//! An export of Claude.ai: conversations, each a list of messages.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;

use super::json;
use super::moment::When;
use super::outbox::{Outbox, Said};
use super::shape::{Content, Lenient, Text};
use crate::model::TurnKind;

#[derive(Deserialize, Default)]
#[serde(default)]
struct Conversation {
    uuid: Text,
    current_leaf_message_uuid: Text,
    chat_messages: Vec<Lenient<Message>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Message {
    uuid: Text,
    parent_message_uuid: Text,
    sender: Text,
    text: Text,
    content: Content,
    created_at: When,
}

/// Reads one conversation.
pub(super) fn conversation(bytes: &[u8], place: &str, out: &mut Outbox<'_>) {
    let mut found: Vec<Conversation> = Vec::new();
    json::records(bytes, place, &mut out.problems, |one| found.push(one));
    for conversation in found {
        out.forget_answer();
        let session = conversation.uuid.0.unwrap_or_default();
        let messages: Vec<Message> = conversation
            .chat_messages
            .into_iter()
            .filter_map(|message| message.0)
            .collect();
        let shown = branch(&messages, conversation.current_leaf_message_uuid.as_str());
        let shown: Option<HashSet<String>> =
            shown.map(|ids| ids.into_iter().map(str::to_owned).collect());
        for message in messages {
            let edited_away = shown
                .as_ref()
                .is_some_and(|shown| !shown.contains(message.uuid.as_str()));
            if !edited_away {
                read(message, &session, out);
            }
        }
    }
}

/// The messages from the first to that leaf; nothing where the export does not tell.
fn branch<'m>(messages: &'m [Message], leaf: &'m str) -> Option<HashSet<&'m str>> {
    let parents: HashMap<&str, &str> = messages
        .iter()
        .map(|message| (message.uuid.as_str(), message.parent_message_uuid.as_str()))
        .collect();
    let mut shown = HashSet::new();
    let mut next = leaf;
    while let Some(parent) = parents.get(next) {
        if !shown.insert(next) {
            break;
        }
        next = parent;
    }
    // A leaf alone is a list without parents.
    (shown.len() > 1).then_some(shown)
}

fn read(message: Message, session: &str, out: &mut Outbox<'_>) {
    let mut text = message.content.joined(&["text"]);
    if text.trim().is_empty() {
        text = message.text.0.unwrap_or_default();
    }
    match message.sender.as_str() {
        "assistant" => out.answered(&text),
        "human" => {
            let id = message.uuid.some();
            out.say(Said {
                place: id.clone().unwrap_or_default(),
                id,
                text,
                kind: TurnKind::Typed,
                at: message.created_at.0,
                session: session.to_owned(),
            });
        }
        _ => {}
    }
}
