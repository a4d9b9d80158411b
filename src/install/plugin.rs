//! aizo as a plugin for Claude Code, from the same recipe: a folder that can be published, or added from where it lies.

use serde_json::json;

use super::recipe::{Content, Program, SKILL, joined, pretty};
use crate::capture::hook::Caller;

/// The files of the plugin, by their paths within its folder.
pub fn plugin() -> Vec<(&'static str, String)> {
    // What is published is used on other machines.
    let program = Program::by_name(false);
    let description = "Remembers what the user likes, dislikes, habitually does and must never see, and stops what breaks a hard limit; needs the program aizo";
    let about = json!({
        "name": "aizo",
        "version": env!("CARGO_PKG_VERSION"),
        "description": description,
        "homepage": env!("CARGO_PKG_REPOSITORY"),
        "repository": env!("CARGO_PKG_REPOSITORY"),
        "license": env!("CARGO_PKG_LICENSE"),
        "keywords": ["memory", "preferences"],
    });
    let marketplace = json!({
        "name": "aizo",
        "owner": { "name": "aizo" },
        "plugins": [{ "name": "aizo", "source": "./", "description": description }],
    });
    let servers = json!({ "mcpServers": { "aizo": { "command": program.name, "args": ["mcp"] } } });
    let text = |value| match pretty(&value) {
        Content::Whole(text) => text,
        _ => String::new(),
    };
    vec![
        (".claude-plugin/plugin.json", text(about)),
        (".claude-plugin/marketplace.json", text(marketplace)),
        (
            "hooks/hooks.json",
            text(joined(Caller::ClaudeCode, &program)),
        ),
        (".mcp.json", text(servers)),
        ("skills/aizo-sop/SKILL.md", SKILL.to_owned()),
    ]
}
