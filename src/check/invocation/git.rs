//! What git runs besides itself, and what its aliases and settings make of it.

use std::ops::Range;

use super::options::{Flag, after_options, options, values_of};
use super::program::quoted_words;
use super::{Reading, Surroundings, around};
use crate::check::expand::{Scope, Script};
use crate::check::shell::Word;
use crate::model::quoted;

/// Options of `git` itself that take the next word as their value.
pub const GIT_VALUED: &[&str] = &[
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--super-prefix",
    "--config-env",
    "--attr-source",
];

impl Reading<'_> {
    /// What git runs besides itself, and what an alias makes of it.
    pub(super) fn git(
        &mut self,
        commands: &Script<'_>,
        arguments: &[Word],
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        let (flags, rest) = options(arguments, GIT_VALUED);
        let Some((name, given)) = rest.split_first() else {
            return;
        };
        let place = around(arguments);
        for (key, value) in settings(&flags, scope) {
            if key.strip_prefix("alias.") == Some(name.text.to_lowercase().as_str()) {
                let script = format!("{} {}", alias_script(&value), quoted_words(given));
                self.script(&script, Some(&place), &at.deeper(), scope);
            } else if name.text == "push" || !key.starts_with("remote.") {
                self.git_value(&key, &value, &place, at, scope);
            }
        }
        self.carried(&format!("git {}", name.text), given, at, scope);
        for word in given {
            // A repository that a program stands for.
            if let Some(line) = word.text.strip_prefix("ext::") {
                self.script(line, Some(&word.range), &at.deeper().unsure(), scope);
            }
        }
        match name.text.as_str() {
            "config" => self.git_setting(given, &place, at, scope),
            "remote" if given.iter().any(|word| word.text.starts_with("--mirror")) => {
                let is_fetch = given.iter().any(|word| word.text == "--mirror=fetch");
                if !is_fetch {
                    let at = at.deeper().unsure();
                    self.script("git push --mirror", Some(&place), &at, scope);
                }
            }
            "submodule" => {
                let index = given.iter().position(|word| word.text == "foreach");
                if let Some(index) = index {
                    self.inner(options(&given[index + 1..], &[]).1, at, scope);
                }
            }
            "bisect" if given.first().is_some_and(|word| word.text == "run") => {
                self.run(commands, &given[1..], &at.deeper(), scope);
            }
            "clone" => {
                for setting in values_of(given, &["-c", "--config"]) {
                    if let Some((key, value)) = setting.text.split_once('=') {
                        self.git_value(&key.to_lowercase(), value, &place, at, scope);
                    }
                }
            }
            _ => {}
        }
    }

    /// What a setting of git makes of a later command; it takes effect later, or never.
    fn git_setting(
        &mut self,
        given: &[Word],
        place: &Range<usize>,
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        const VALUED: &[&str] = &[
            "-f",
            "--file",
            "--blob",
            "--type",
            "--value",
            "--comment",
            "--default",
        ];
        let mut rest = after_options(given, VALUED);
        if rest.first().is_some_and(|word| word.text == "set") {
            rest = after_options(&rest[1..], VALUED);
        }
        let [key, value, ..] = rest else {
            return;
        };
        self.git_value(&key.text.to_lowercase(), &value.text, place, at, scope);
    }

    /// What the value of a setting makes of a command that comes to it.
    fn git_value(
        &mut self,
        key: &str,
        value: &str,
        place: &Range<usize>,
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        let script = match key.starts_with("alias.") {
            true => Some(alias_script(value)),
            false => configured(key, value),
        };
        if let Some(script) = script {
            self.script(&script, Some(place), &at.deeper().unsure(), scope);
        }
        self.carried_by_setting(key, value, place, at, scope);
    }
}

/// The settings that are given to git itself, their names in small letters.
fn settings(flags: &[Flag], scope: &Scope) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for flag in flags {
        let Some((key, value)) = flag
            .value
            .as_ref()
            .and_then(|word| word.text.split_once('='))
        else {
            continue;
        };
        let key = key.to_lowercase();
        match flag.name.as_str() {
            "-c" => found.push((key, value.to_owned())),
            // The value stands in a variable.
            "--config-env" => found.extend(scope.texts_of(value).map(|text| (key.clone(), text))),
            _ => {}
        }
    }
    found
}

/// What an alias of git runs.
fn alias_script(value: &str) -> String {
    match value.trim_start().strip_prefix('!') {
        Some(script) => script.to_owned(),
        None => format!("git {value}"),
    }
}

/// The push that a setting of a remote makes of a plain one.
fn configured(key: &str, value: &str) -> Option<String> {
    let setting = key.strip_prefix("remote.")?;
    if setting.ends_with(".push") && value.starts_with('+') {
        Some(format!("git push origin {}", quoted(value)))
    } else if setting.ends_with(".mirror") && value != "false" {
        Some("git push --mirror".to_owned())
    } else {
        None
    }
}
