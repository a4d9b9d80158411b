//! aizo as a plugin for Claude Code, from the same recipe: a folder that can be published, or added from where it lies.

use super::recipe::{Program, SKILL, joined};
use crate::capture::hook::Caller;

const ABOUT: &str = concat!(
    r#"{
  "name": "aizo",
  "version": ""#,
    env!("CARGO_PKG_VERSION"),
    r#"",
  "description": "Remembers what the user likes, dislikes and must never see, and stops what breaks a hard limit; needs the program aizo",
  "repository": ""#,
    env!("CARGO_PKG_REPOSITORY"),
    r#"",
  "license": ""#,
    env!("CARGO_PKG_LICENSE"),
    r#"",
  "keywords": ["memory", "preferences"]
}
"#
);
const MARKETPLACE: &str = r#"{
  "name": "aizo",
  "owner": {
    "name": "aizo"
  },
  "plugins": [
    {
      "name": "aizo",
      "source": "./",
      "description": "Remembers what the user likes, dislikes and must never see"
    }
  ]
}
"#;
const SERVERS: &str = r#"{
  "mcpServers": {
    "aizo": {
      "command": "aizo",
      "args": ["mcp"]
    }
  }
}
"#;

/// The files of the plugin, by their paths within its folder.
pub fn plugin() -> [(&'static str, String); 5] {
    // What is published is used on other machines.
    let program = Program::by_name(false);
    let hooks = joined(Caller::ClaudeCode, &program, "{}");
    [
        (".claude-plugin/plugin.json", ABOUT.to_owned()),
        (".claude-plugin/marketplace.json", MARKETPLACE.to_owned()),
        ("hooks/hooks.json", hooks),
        (".mcp.json", SERVERS.to_owned()),
        ("skills/aizo-sop/SKILL.md", SKILL.to_owned()),
    ]
}
