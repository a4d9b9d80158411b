//! The resources: the profile, and what belongs to each kind of task.

use serde_json::{Value, json};

use super::tools::value_of;
use crate::commands::Context;
use crate::commands::entries::{Filter, list};
use crate::mcp::{Resource, line_of};
use crate::recall::Request;

const PROFILE: &str = "aizo://profile";
const SCENARIO: &str = "aizo://scenario/";
/// So many entries are told, the strongest; hard limits take their places first.
const MOST_ENTRIES: usize = 500;

/// The profile, and each kind of task.
pub(super) fn all(context: &Context) -> Vec<Resource> {
    let scenarios = context.scenarios().list;
    let scenarios = scenarios.into_iter().map(|scenario| Resource {
        uri: format!("{SCENARIO}{}", encoded(&scenario.name)),
        description: match scenario.description.as_str() {
            "" => "What the user prefers in this kind of task".to_owned(),
            description => format!("What the user prefers in this kind of task: {description}"),
        },
        name: scenario.name,
    });
    std::iter::once(profile()).chain(scenarios).collect()
}

/// The profile.
pub(super) fn profile() -> Resource {
    Resource {
        uri: PROFILE.to_owned(),
        name: "profile".to_owned(),
        description:
            "Everything that is stored about the user, strongest first; where there is no room for all, hard limits stay"
                .to_owned(),
    }
}

/// A kind of task, by its name.
pub(super) fn template() -> Resource {
    Resource {
        uri: format!("{SCENARIO}{{name}}"),
        name: "scenario".to_owned(),
        description: "What the user prefers in a kind of task: what is tagged with it or holds one of its keywords, and every hard limit".to_owned(),
    }
}

/// Reads a resource.
pub(super) fn read(uri: &str, context: &Context) -> anyhow::Result<Option<String>> {
    if uri == PROFILE {
        let everything = Request::default();
        return Ok(Some(entries(json!({}), everything, context)?));
    }
    let Some(name) = uri.strip_prefix(SCENARIO).and_then(decoded) else {
        return Ok(None);
    };
    let name = name.trim();
    if name.is_empty() {
        return Ok(None);
    }
    let known = context.scenarios().find(name).cloned();
    let filter = Filter {
        bands: Vec::new(),
        scenario: Some(name.to_owned()),
        min_score: None,
    };
    let request = filter.request(context);
    if known.is_none() && list(context, &request)?.ids().is_empty() {
        return Ok(None);
    }
    let scenario = known.map_or_else(
        || json!({"name": name, "description": "", "aliases": [], "keywords": []}),
        |known| {
            json!({
                "name": known.name,
                "description": known.description,
                "aliases": known.aliases,
                "keywords": known.keywords,
            })
        },
    );
    let request = Request {
        with_limits: true,
        ..request
    };
    Ok(Some(entries(
        json!({"scenario": scenario}),
        request,
        context,
    )?))
}

/// What a request finds, beside what is known already.
fn entries(mut told: Value, request: Request, context: &Context) -> anyhow::Result<String> {
    let request = Request {
        limit: Some(MOST_ENTRIES + 1),
        ..request
    };
    let mut found = list(context, &request)?;
    if found.ids().len() > MOST_ENTRIES {
        let request = Request {
            limit: Some(MOST_ENTRIES),
            ..request
        };
        found = list(context, &request)?;
        context.note(format!(
            "these are the strongest {MOST_ENTRIES}: aizo show lists all there are"
        ));
    }
    told["entries"] = value_of(&found)?;
    told["notes"] = context.take_notes().into();
    Ok(line_of(&told))
}

/// A name as a part of an address.
fn encoded(name: &str) -> String {
    let mut address = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            address.push(char::from(byte));
        } else {
            address.push_str(&format!("%{byte:02X}"));
        }
    }
    address
}

/// The name that a part of an address stands for.
fn decoded(address: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = address.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                u8::try_from(digit()? * 16 + digit()?).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_comes_back_from_its_address() {
        for name in ["coding", "biz-analyze", "编程", "two words", "a/b%c"] {
            let address = encoded(name);
            assert!(
                address.is_ascii() && !address.contains(['/', ' ']),
                "{address}"
            );
            assert_eq!(decoded(&address).as_deref(), Some(name));
        }
        assert_eq!(decoded("编程").as_deref(), Some("编程"));
        assert_eq!(decoded("%4"), None);
        assert_eq!(decoded("%ff"), None);
    }
}
