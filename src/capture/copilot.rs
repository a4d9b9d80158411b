//! Copilot CLI: one event per line.

use serde::{Deserialize, Serialize};

use super::json;
use super::lines::Line;
use super::moment::When;
use super::outbox::{Outbox, Said};
use super::shape::{Lenient, Text};
use crate::model::TurnKind;

/// Reads the lines of one file.
#[derive(Serialize, Deserialize, Clone)]
pub(super) struct Reader {
    session: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Record {
    #[serde(rename = "type")]
    kind: Text,
    id: Text,
    timestamp: When,
    data: Lenient<Data>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Data {
    content: Text,
    source: Text,
    session_id: Text,
}

impl Reader {
    pub(super) fn new() -> Self {
        Reader {
            session: String::new(),
        }
    }

    pub(super) fn line(&mut self, line: &Line<'_>, out: &mut Outbox<'_>) {
        let mut records: Vec<Record> = Vec::new();
        json::records(line.bytes, line.place(), &mut out.problems, |record| {
            records.push(record);
        });
        for record in records {
            let Some(data) = record.data.0 else { continue };
            match record.kind.as_str() {
                "session.start" => self.session = data.session_id.0.unwrap_or_default(),
                "assistant.message" => out.answered(data.content.as_str()),
                "user.message" if is_typed(&data) => {
                    out.say(Said {
                        id: record.id.0,
                        text: data.content.0.unwrap_or_default(),
                        kind: TurnKind::Typed,
                        at: record.timestamp.0,
                        session: self.session.clone(),
                        place: line.place(),
                    });
                }
                _ => {}
            }
        }
    }
}

fn is_typed(data: &Data) -> bool {
    let of_a_skill = data.source.as_str().starts_with("skill-")
        || data
            .content
            .as_str()
            .trim_start()
            .starts_with("<skill-context");
    !of_a_skill
}
