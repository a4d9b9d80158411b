//! What `doctor` replies, and how it looks.

use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::CHECKS;
use super::finding::{Finding, Level};
use super::fix::Fixed;
use crate::commands::Context;
use crate::commands::entries::count;
use crate::present::{Answer, Page, to_json};
use crate::settings::{EnvFile, Setting, Source};

/// What `doctor` replies.
#[derive(Debug, Serialize)]
pub struct Reply {
    store: PathBuf,
    /// The checks, by their names.
    checks: Vec<&'static str>,
    errors: usize,
    warnings: usize,
    notes: usize,
    findings: Vec<Finding>,
    fixed: Vec<Fixed>,
    settings: Vec<Setting>,
    env_files: Vec<EnvFile>,
}

impl Reply {
    pub(super) fn new(findings: Vec<Finding>, fixed: Vec<Fixed>, context: &Context) -> Self {
        let many = |level| findings.iter().filter(|one| one.level == level).count();
        Reply {
            store: context.settings.db.clone(),
            checks: CHECKS.iter().map(|check| check.name).collect(),
            errors: many(Level::Error),
            warnings: many(Level::Warning),
            notes: many(Level::Note),
            findings,
            fixed,
            settings: context.settings.all.clone(),
            env_files: context.settings.files.clone(),
        }
    }

    /// `1 error, 2 warnings, 3 notes`.
    fn sum(&self) -> String {
        let parts = [
            (self.errors, "error", "errors"),
            (self.warnings, "warning", "warnings"),
            (self.notes, "note", "notes"),
        ];
        let parts = parts.into_iter().filter(|(many, ..)| *many > 0);
        let parts: Vec<String> = parts
            .map(|(many, one, more)| count(many, one, more))
            .collect();
        if parts.is_empty() {
            "nothing found".to_owned()
        } else {
            parts.join(", ")
        }
    }
}

impl Answer for Reply {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        for one in &self.fixed {
            page.line(&format!("put right: {}", one.what))?;
        }
        for one in &self.findings {
            page.heading(&format!("{}: {}", one.level.name(), one.what))?;
            page.wrapped(&format!("  {}", one.why))?;
            if !one.hint.is_empty() {
                page.line(&format!("  → {}", one.hint))?;
            }
        }
        for one in self
            .settings
            .iter()
            .filter(|one| one.source != Source::Default)
        {
            page.faint(&format!(
                "{} is {} ({})",
                one.name,
                one.value,
                one.source.describe()
            ))?;
        }
        page.line(&format!(
            "{}: {}, {}",
            self.store.display(),
            count(self.checks.len(), "check", "checks"),
            self.sum()
        ))
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        to_json(self, out)
    }
}
