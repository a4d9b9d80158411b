//! `aizo doctor`: looks at everything that can be wrong with an installation, and says what to do about it.
//!
//! | file | looks at |
//! |---|---|
//! | `files.rs` | aizo's own folder and files |
//! | `settings.rs` | what is set and where, and the kinds of task |
//! | `store.rs` | the store as a file: damage, index, journal, clock |
//! | `profile.rs` | what is stored: what is said twice or against itself, limits that do not hold |
//! | `copies.rs` | the copies of the store |
//! | `sync.rs` | the repository of the sync |
//! | `hosts.rs` | what agents' hosts call, and their log |
//!
//! A check is a function that gives findings. It changes nothing; what `--fix` does is in `fix.rs`.

mod copies;
mod files;
mod finding;
mod fix;
mod hosts;
mod profile;
mod reply;
mod settings;
mod store;
mod sync;

use super::Context;
use crate::merge::{Pair, pairs};
use crate::model::Preference;
use crate::storage::{StorageError, View};
use finding::{Finding, Level};
pub use reply::Reply;

/// So many entries are named in a sentence.
const MOST_NAMED: usize = 10;

/// Arguments of `doctor`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aizo doctor
  aizo doctor --fix
  aizo doctor --json

Every finding says what is, why it matters and what to do. An error ends it with exit code 1. It changes nothing; --fix takes files
away from other users, makes the search index anew, takes into the journal what other programs have written, removes what was left
unfinished, and counts what went wrong at hooks as seen. It changes no entry and no file of another program.")]
pub struct Args {
    /// Put right what can be without changing an entry
    #[arg(long)]
    fix: bool,
}

impl Args {
    /// Whether something may be put right, and not only looked at.
    pub(super) fn fixes(&self) -> bool {
        self.fix
    }
}

/// What is stored.
struct Profile {
    entries: Vec<Preference>,
    /// Those that are about one thing.
    pairs: Vec<Pair>,
}

/// A check.
struct Check {
    name: &'static str,
    look: Look,
}

/// What a check looks at.
enum Look {
    /// The surroundings of the store.
    Around(fn(&Context) -> Vec<Finding>),
    /// The store.
    Store(fn(&Context, &View<'_>) -> anyhow::Result<Vec<Finding>>),
    /// What is stored.
    Profile(fn(&Context, &Profile) -> Vec<Finding>),
}

/// Every check, in the order in which they look.
const CHECKS: &[Check] = {
    const fn around(name: &'static str, look: fn(&Context) -> Vec<Finding>) -> Check {
        Check {
            name,
            look: Look::Around(look),
        }
    }
    const fn store(
        name: &'static str,
        look: fn(&Context, &View<'_>) -> anyhow::Result<Vec<Finding>>,
    ) -> Check {
        Check {
            name,
            look: Look::Store(look),
        }
    }
    const fn profile(name: &'static str, look: fn(&Context, &Profile) -> Vec<Finding>) -> Check {
        Check {
            name,
            look: Look::Profile(look),
        }
    }
    &[
        around("modes", files::modes),
        around("writable", files::writable),
        around("unfinished", files::unfinished),
        around("env_files", settings::env_files),
        around("unknown_settings", settings::unknown),
        around("fixed_clock", settings::fixed_clock),
        around("other_store", settings::other_store),
        around("scenarios", settings::scenarios),
        around("hosts", hosts::entries),
        around("log", hosts::log),
        store("integrity", store::integrity),
        store("index", store::index),
        store("journal", store::journal),
        store("outside", store::outside),
        store("clock", store::clock),
        store("scores", store::scores),
        store("copies", copies::last),
        store("sync", sync::state),
        store("review", profile::review),
        store("context", profile::oversized),
        profile("times", profile::times),
        profile("limits", profile::limits),
        profile("patterns", profile::patterns),
        profile("duplicates", profile::duplicates),
        profile("contradictions", profile::contradictions),
    ]
};

/// The name under which it stands that the store cannot be read at all.
const STORE: &str = "store";

/// Runs `doctor`.
///
/// # Errors
/// None of what is wrong is one; only what `--fix` could not write.
pub fn run(args: &Args, context: &Context) -> anyhow::Result<super::Reply> {
    let mut findings = look(context);
    let mut fixed = Vec::new();
    if args.fix {
        fixed = fix::all(&findings, context);
        if !fixed.is_empty() {
            findings = look(context);
        }
    }
    let is_wrong = findings.iter().any(|one| one.level == Level::Error);
    let reply = Box::new(Reply::new(findings, fixed, context));
    Ok(match is_wrong {
        true => super::Reply::Difference(reply),
        false => super::Reply::Answer(reply),
    })
}

/// All that is found, what matters most first.
fn look(context: &Context) -> Vec<Finding> {
    let mut findings = around(context);
    findings.extend(within(context));
    findings.sort_by_key(|one| one.level);
    findings
}

fn around(context: &Context) -> Vec<Finding> {
    let found = CHECKS.iter().filter_map(|check| match check.look {
        Look::Around(look) => Some(named_by(check, look(context))),
        _ => None,
    });
    found.flatten().collect()
}

/// What the checks of the store find. One that cannot look says so, and the others go on.
fn within(context: &Context) -> Vec<Finding> {
    let looked = context.read(|view| {
        let (mut findings, mut blind) = (Vec::new(), Vec::new());
        let profile = view.preferences().map(|entries| Profile {
            pairs: pairs(&entries),
            entries,
        });
        for check in CHECKS {
            let found = match (&check.look, &profile) {
                (Look::Around(_), _) => continue,
                (Look::Store(look), _) => look(context, view),
                (Look::Profile(look), Ok(profile)) => Ok(look(context, profile)),
                // It is told once.
                (Look::Profile(_), Err(_)) => continue,
            };
            match found {
                Ok(found) => findings.extend(named_by(check, found)),
                Err(error) => blind.push((check.name, error)),
            }
        }
        findings.extend(not_looked(context, blind));
        if let Err(error) = profile {
            findings.push(unreadable(context, &error.into()));
        }
        Ok(findings)
    });
    match looked {
        Ok(Some(findings)) => findings,
        Ok(None) => {
            context.note("nothing is stored yet");
            let missing = store::missing(context).into_iter();
            missing
                .map(|finding| Finding {
                    check: STORE,
                    ..finding
                })
                .collect()
        }
        Err(error) => vec![unreadable(context, &error)],
    }
}

fn named_by(check: &Check, mut found: Vec<Finding>) -> Vec<Finding> {
    for one in &mut found {
        one.check = check.name;
    }
    found
}

/// What is found where the store cannot be looked at.
fn unreadable(context: &Context, error: &anyhow::Error) -> Finding {
    let why = "agents are told nothing of it, and no limit is kept";
    let mut finding = Finding::error(format!("{error:#}"), why, hint_for(context, error));
    finding.check = STORE;
    finding
}

/// What is found where checks cannot look: one finding for all that fail alike.
fn not_looked(context: &Context, blind: Vec<(&'static str, anyhow::Error)>) -> Vec<Finding> {
    let mut alike: Vec<(Vec<String>, String, anyhow::Error)> = Vec::new();
    for (check, error) in blind {
        let text = format!("{error:#}");
        match alike.iter_mut().find(|(_, known, _)| *known == text) {
            Some((names, ..)) => names.push(check.to_owned()),
            None => alike.push((vec![check.to_owned()], text, error)),
        }
    }
    let finding = |(names, text, error): (Vec<String>, String, anyhow::Error)| {
        let what = format!("could not look at {}: {text}", listed(&names));
        let why = "what is wrong there is not known";
        let mut finding = Finding::error(what, why, hint_for(context, &error));
        finding.check = STORE;
        finding
    };
    alike.into_iter().map(finding).collect()
}

fn hint_for(context: &Context, error: &anyhow::Error) -> String {
    let fault = error.downcast_ref::<StorageError>();
    match fault {
        Some(fault @ StorageError::Journal { .. }) => fault.hint().unwrap_or_default(),
        Some(fault) if fault.is_damage() => store::put_back(context),
        Some(fault) => fault.hint().unwrap_or_default(),
        None => "say it again".to_owned(),
    }
}

/// `a, b and 3 more`.
fn listed(names: &[String]) -> String {
    let some = names[..names.len().min(MOST_NAMED)].join(", ");
    match names.len().saturating_sub(MOST_NAMED) {
        0 => some,
        more => format!("{some} and {more} more"),
    }
}

/// `“tabs” (id 3), “emojis” (id 7)`.
fn named(entries: &[&Preference]) -> String {
    let names: Vec<String> = entries
        .iter()
        .map(|entry| format!("“{}” (id {})", entry.item, entry.id))
        .collect();
    listed(&names)
}

fn named_ids(ids: &[i64]) -> String {
    let names: Vec<String> = ids.iter().map(i64::to_string).collect();
    let id = if names.len() == 1 { "id" } else { "ids" };
    format!("{id} {}", listed(&names))
}
