//! What a command writes to a file.

use super::{Invocation, Reading, Surroundings};
use crate::check::build::Build;
use crate::check::expand::{Scope, Script};
use crate::check::prose::{Medium, is_script, joined_lines, shown_in};
use crate::check::shell::Simple;

impl Reading<'_> {
    /// Reads what a command writes to a file: it may be run later, so that its lines are spoken of.
    pub(super) fn written(
        &mut self,
        commands: &Script<'_>,
        index: usize,
        at: &Surroundings<'_>,
        scope: &Scope,
    ) {
        let Some(feed) = scope.output(commands, index..index + 1) else {
            return;
        };
        let input = commands.commands[index].input.as_deref();
        let is_verbatim = !at.is_inner()
            && input.is_some_and(|input| {
                *input.text == *feed.text && input.text.len() == input.range.len()
            });
        let before = self.found.len();
        let at = Surroundings {
            input: None,
            ..at.deeper().unsure()
        };
        let target = target_of(&commands.commands[index]);
        let medium = target.and_then(Medium::of);
        let is_script = is_script(target, &feed.text);
        let parts = match medium {
            Some(Medium::Prose) => shown_in(&feed.text),
            _ => joined_lines(&feed.text),
        };
        let build = target.and_then(Build::of);
        // What one line sets another one may take.
        let whole = is_script.then(|| 0..feed.text.len());
        let is_run = self.is_run;
        self.is_run &= medium.is_none() || is_script;
        for part in parts.into_iter().chain(whole) {
            let place = if is_verbatim {
                feed.range.start + part.start..feed.range.start + part.end
            } else {
                feed.range.clone()
            };
            let text = &feed.text[part];
            for held in build.iter().flat_map(|build| build.commands_in(text)) {
                let command = held.text.as_deref().unwrap_or(&text[held.range]);
                self.script(command, Some(&place), &at, &mut Scope::default());
            }
            self.script(text, Some(&place), &at, &mut Scope::default());
        }
        self.is_run = is_run;
        // That something cannot be read counts where it is run.
        let spoken = self.found.split_off(before).into_iter();
        let known = spoken.filter(|run| !run.is_unknown());
        self.found.extend(known.map(|run| Invocation {
            is_whole: true,
            ..run
        }));
    }
}

/// The file that a command writes to.
fn target_of(simple: &Simple) -> Option<&str> {
    simple.target.as_deref().or_else(|| {
        let mut words = simple.words.iter().map(|word| word.text.as_str());
        words.by_ref().find(|text| *text == "tee")?;
        words.find(|text| !text.starts_with('-'))
    })
}
