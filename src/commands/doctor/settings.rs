//! What is set, and where: what is not taken from where it stands, and what stands nowhere else.

use super::finding::Finding;
use crate::commands::Context;
use crate::scenarios::Scenarios;
use crate::settings::{AIZO_COLOR, AIZO_DB_PATH, AIZO_HOME, AIZO_NOW, EnvFile, Source, is_setting};

/// So many warnings of a file are listed.
const MOST_WARNINGS: usize = 5;

/// `.env` files that cannot be read, and what in them does not count.
pub(super) fn env_files(context: &Context) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &context.settings.files {
        let path = file.path.display();
        if !matches!(file.state.as_str(), "read" | "missing") {
            findings.push(Finding::warning(
                format!("{path}: {}", file.state),
                "what stands there may not count",
                format!("put it right; aizo info shows what counts of {path}"),
            ));
        }
        let own = [AIZO_DB_PATH, AIZO_COLOR];
        let ignored = file.ignored.iter();
        for name in ignored.filter(|name| !own.contains(&name.as_str())) {
            findings.push(Finding::note(
                format!("{name} in {path} does not count"),
                "a project's file may say where its store is and how things look, never where a conversation is sent",
                format!("if you want it, put {name} into ~/.aizo/.env"),
            ));
        }
    }
    findings
}

/// Names that look like settings of aizo and are none.
pub(super) fn unknown(context: &Context) -> Vec<Finding> {
    let named = context.settings.all.iter();
    let odd =
        named.filter(|setting| setting.name.starts_with("AIZO_") && !is_setting(&setting.name));
    let finding = |setting: &crate::settings::Setting| {
        Finding::warning(
            format!(
                "{} ({}) is no setting of aizo",
                setting.name,
                setting.source.describe()
            ),
            "it has no effect; it may be misspelt",
            "the settings are listed in the README, under Configuration",
        )
    };
    odd.map(finding).collect()
}

/// A clock that stands still.
pub(super) fn fixed_clock(context: &Context) -> Vec<Finding> {
    let set = context
        .settings
        .all
        .iter()
        .find(|setting| setting.name == AIZO_NOW);
    let finding = set.map(|setting| {
        Finding::warning(
            format!(
                "the clock stands at {} ({})",
                setting.value,
                setting.source.describe()
            ),
            "nothing fades, and all changes have the same time",
            format!("unset {AIZO_NOW}"),
        )
    });
    finding.into_iter().collect()
}

/// A store that only this shell knows of.
pub(super) fn other_store(context: &Context) -> Vec<Finding> {
    let settings = &context.settings;
    let is_named = |file: &EnvFile| file.ignored.iter().any(|name| name == AIZO_DB_PATH);
    if settings.files.iter().any(is_named) {
        return vec![Finding::note(
            "./.env names another store",
            "what you say in this folder goes there, but for backup, restore, doctor, export, import and sync; and agents do not read it: hook, mcp, check and context",
            "aizo --db FILE doctor looks at it; if it is to hold everywhere, put AIZO_DB_PATH into ~/.aizo/.env",
        )];
    }
    let source = settings
        .all
        .iter()
        .find(|setting| setting.name == AIZO_DB_PATH);
    let source = source.map(|setting| setting.source);
    let is_moved = std::env::var_os(AIZO_HOME).is_some_and(|folder| !folder.is_empty());
    let why = match source {
        Some(Source::Environment) => {
            "an agent that is started elsewhere does not have this variable, and asks another store"
        }
        _ if is_moved => {
            "an agent that is started elsewhere does not have this variable, and asks another store"
        }
        _ => return Vec::new(),
    };
    let named = match source {
        Some(Source::Environment) => AIZO_DB_PATH,
        _ => AIZO_HOME,
    };
    let what = format!("the store is {}, because of {named}", settings.db.display());
    let hint = format!("if it is to hold everywhere, put {AIZO_DB_PATH} into ~/.aizo/.env");
    vec![Finding::note(what, why, hint)]
}

/// What in `scenarios.yaml` does not count.
pub(super) fn scenarios(context: &Context) -> Vec<Finding> {
    let Ok(path) = context.scenarios_path() else {
        return Vec::new();
    };
    let why = "kinds of task, and what belongs to them, are not found by what is left out";
    let scenarios = match Scenarios::load(&path) {
        Ok(scenarios) => scenarios,
        Err(error) => {
            let what = format!("{error}; the built-in scenarios stand in");
            return vec![Finding::warning(what, why, error.hint())];
        }
    };
    let more = scenarios.warnings.len().saturating_sub(MOST_WARNINGS);
    let mut findings: Vec<Finding> = scenarios
        .warnings
        .iter()
        .take(MOST_WARNINGS)
        .map(|warning| {
            let what = format!("{}: {warning}", path.display());
            Finding::warning(what, why, "aizo scenarios edit")
        })
        .collect();
    if more > 0 {
        let what = format!("{}: {more} more warnings", path.display());
        findings.push(Finding::warning(what, why, "aizo scenarios edit"));
    }
    findings
}
