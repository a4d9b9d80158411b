//! The hosts of agents: whether what they call is this program, and what went wrong when they called it.

use std::collections::BTreeMap;
use std::fs;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};

use super::finding::{FIX, Finding, Fix};
use crate::commands::Context;
use crate::commands::install::{Standing, State, examine};
use crate::model::quoted;

/// Errors of so many days ago count as new.
const NEW: i64 = 7;
/// So many of them are told.
const MOST_TOLD: usize = 3;
/// What stands in the log behind what was seen.
const SEEN: &str = "doctor: seen";
/// How what is told begins that is no fault: what the host could not ask, and which store was read.
const NO_FAULT: &[&str] = &["nobody was asked", "the store "];

/// Entries that call nothing, or something else, and what is not as aizo wrote it.
pub(super) fn entries(context: &Context) -> Vec<Finding> {
    match examine(context) {
        Ok(found) => found.into_iter().filter_map(finding).collect(),
        Err(error) => {
            let why = "what aizo has put into the settings of agents cannot be told";
            vec![Finding::warning(
                format!("{error:#}"),
                why,
                "aizo install --list",
            )]
        }
    }
}

fn finding(standing: Standing) -> Option<Finding> {
    let Standing {
        agent,
        file,
        project,
        state,
    } = standing;
    let file = file.display();
    let again = match &project {
        None => format!("aizo install {agent}"),
        Some(folder) => {
            let folder = quoted(&folder.display().to_string());
            format!("cd {folder} && aizo install {agent} --project")
        }
    };
    let out = again.replacen("aizo install", "aizo uninstall", 1);
    Some(match state {
        State::Nowhere(program) => Finding::error(
            format!("{file} calls {program}, which is not there"),
            &format!(
                "{agent} is told nothing, and no hard limit is kept there; the entry fails in silence"
            ),
            format!("{again} (or {out}, to be rid of it)"),
        ),
        State::Elsewhere(program) => Finding::warning(
            format!("{file} calls {program}, which is not this aizo"),
            &format!("{agent} may ask another version, which may not know what this one writes"),
            again,
        ),
        State::Outdated => Finding::warning(
            format!("{file} has not what this aizo puts there, or not all of it"),
            &format!("{agent} may not be told everything, and limits may not be kept"),
            format!("{again} --dry-run shows the difference"),
        ),
        // A project that is gone is nobody's trouble.
        State::Gone if project.is_some_and(|folder| !folder.exists()) => return None,
        State::Gone => Finding::note(
            format!("{file} is gone, in which aizo was installed"),
            &format!("{agent} does not call aizo there any more"),
            format!("{again}, or {out} to forget it"),
        ),
        State::Unreadable(message) => Finding::warning(
            message,
            &format!("whether {agent} calls aizo cannot be told"),
            format!("put the file right, then {again}"),
        ),
    })
}

/// What went wrong at hooks of late.
pub(super) fn log(context: &Context) -> Vec<Finding> {
    let Some(home) = &context.settings.home else {
        return Vec::new();
    };
    let now = context.settings.now;
    let mut last: BTreeMap<String, (DateTime<Utc>, usize)> = BTreeMap::new();
    for name in ["aizo.log.1", "aizo.log"] {
        let bytes = fs::read(home.join(name)).unwrap_or_default();
        for (moment, message) in String::from_utf8_lossy(&bytes).lines().filter_map(line) {
            if message == SEEN {
                last.clear();
            } else if now - moment <= TimeDelta::days(NEW) {
                let known = last.entry(message.to_owned()).or_insert((moment, 0));
                *known = (moment, known.1 + 1);
            }
        }
    }
    let mut last: Vec<_> = last.into_iter().collect();
    last.sort_by_key(|(_, (moment, _))| std::cmp::Reverse(*moment));
    let more = last.len().saturating_sub(MOST_TOLD);
    let path = home.join("aizo.log");
    let hint = format!("{} has them all; {FIX} counts them as seen", path.display());
    let fix = || match path.is_file() {
        true => path.clone(),
        false => home.join("aizo.log.1"),
    };
    let why = "nobody is told of it there: the host goes on as if aizo had nothing to say";
    let told = last
        .into_iter()
        .take(MOST_TOLD)
        .map(|(message, (moment, times))| {
            let times = match times {
                1 => String::new(),
                many => format!(", {many} times"),
            };
            let when = moment.format("%Y-%m-%d %H:%M UTC");
            Finding::warning(format!("{message} ({when}{times})"), why, hint.clone())
                .with_fix(Fix::Seen(fix()))
        });
    let mut findings: Vec<Finding> = told.collect();
    if more > 0 {
        let what = format!("{more} more went wrong of late");
        findings.push(Finding::warning(what, why, hint).with_fix(Fix::Seen(fix())));
    }
    findings
}

/// The line of the log before which nothing is new.
pub(super) fn seen(now: DateTime<Utc>) -> String {
    let moment = now.to_rfc3339_opts(SecondsFormat::Secs, true);
    format!("{moment} {SEEN}\n")
}

/// When a line of the log was written, and what it says; nothing where it tells of no fault.
fn line(text: &str) -> Option<(DateTime<Utc>, &str)> {
    let (time, message) = text.split_once(' ')?;
    let moment = DateTime::parse_from_rfc3339(time).ok()?;
    let about = message.split_once(": ").map_or(message, |(_, about)| about);
    let is_fault = !NO_FAULT.iter().any(|start| about.starts_with(start));
    is_fault.then(|| (moment.with_timezone(&Utc), message))
}
