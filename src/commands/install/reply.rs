//! What `install` and `uninstall` reply, and how it looks.

use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::Value;

use crate::files::{object, path};
use crate::install::Part;
use crate::present::{Align, Answer, Page, Table, to_json};

/// What became of one file.
#[derive(Debug, Clone)]
pub(super) struct File {
    pub(super) agent: &'static str,
    pub(super) parts: Vec<Part>,
    pub(super) path: PathBuf,
    pub(super) result: &'static str,
    /// Why it is so.
    pub(super) reason: Option<String>,
    /// What changes in it.
    pub(super) diff: String,
    /// A copy of it as it was.
    pub(super) backup: Option<PathBuf>,
    /// Where it is if a link leads elsewhere.
    pub(super) target: Option<PathBuf>,
}

impl File {
    /// What changes, to be read: of the skill, which is long and always the same, only that it comes or goes.
    fn difference(&self) -> Option<String> {
        let name = self.path.file_name()?.to_str()?;
        let sign = match self.result {
            "created" => '+',
            "removed" => '-',
            _ => ' ',
        };
        if name != SKILL_FILE || sign == ' ' {
            return (!self.diff.is_empty()).then(|| self.diff.clone());
        }
        // Below the two lines that name the file.
        let lines = self.diff.lines().skip(2);
        let lines = lines.filter(|line| line.starts_with(sign)).count();
        Some(format!("{sign} {name}, {lines} lines\n"))
    }
}

/// What a file comes to for which something went wrong.
pub(super) const FAILED: &str = "failed";

/// The name that hosts give a skill's file.
const SKILL_FILE: &str = "SKILL.md";

/// What `install` and `uninstall` reply.
#[derive(Debug)]
pub struct Reply {
    pub(super) dry_run: bool,
    /// `user`, or the folder that it is for.
    pub(super) scope: String,
    pub(super) files: Vec<File>,
}

/// What `install --list` says of one agent.
#[derive(Debug)]
pub(super) struct Agent {
    pub(super) agent: &'static str,
    pub(super) found: bool,
    pub(super) hooks: bool,
    pub(super) mcp: bool,
    pub(super) skill: bool,
}

/// What `install --list` replies.
#[derive(Debug)]
pub(super) struct Agents(pub(super) Vec<Agent>);

impl Answer for Reply {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let mut table = Table::new(&[
            ("AGENT", Align::Short),
            ("RESULT", Align::Short),
            ("FILE", Align::Left),
        ]);
        for file in &self.files {
            let mut path = file.path.display().to_string();
            if let Some(target) = &file.target {
                path.push_str(&format!(" -> {}", target.display()));
            }
            table.row(&[
                file.agent.to_owned(),
                file.result.to_owned(),
                match &file.reason {
                    Some(reason) => format!("{path} ({reason})"),
                    None => path,
                },
            ]);
        }
        page.table(&table)?;
        if !self.dry_run {
            return Ok(());
        }
        let differences: Vec<String> = self.files.iter().filter_map(File::difference).collect();
        if !differences.is_empty() {
            page.line("")?;
        }
        for difference in differences {
            page.verbatim(difference.as_bytes())?;
        }
        Ok(())
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let files = self.files.iter().map(|file| {
            object([
                ("agent", file.agent.into()),
                ("parts", file.parts.iter().map(|part| part.name()).collect()),
                ("path", path(&file.path)),
                ("result", file.result.into()),
                ("reason", file.reason.clone().into()),
                ("diff", file.diff.as_str().into()),
                ("backup", file.backup.as_deref().map(path).into()),
                ("target", file.target.as_deref().map(path).into()),
            ])
        });
        let all = object([
            ("dry_run", self.dry_run.into()),
            ("scope", self.scope.as_str().into()),
            ("files", files.collect()),
        ]);
        to_json(&all, out)
    }
}

impl Answer for Agents {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let columns = ["AGENT", "FOUND", "HOOKS", "MCP", "SKILL"];
        let mut columns = columns.map(|name| (name, Align::Flag));
        columns[0].1 = Align::Short;
        let mut table = Table::new(&columns);
        let word = |is: bool| if is { "yes" } else { "-" }.to_owned();
        for one in &self.0 {
            table.row(&[
                one.agent.to_owned(),
                word(one.found),
                word(one.hooks),
                word(one.mcp),
                word(one.skill),
            ]);
        }
        page.table(&table)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let agents = self.0.iter().map(|one| {
            object([
                ("agent", one.agent.into()),
                ("found", one.found.into()),
                ("hooks", one.hooks.into()),
                ("mcp", one.mcp.into()),
                ("skill", one.skill.into()),
            ])
        });
        to_json(&agents.collect::<Value>(), out)
    }
}
