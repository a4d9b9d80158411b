//! Functions: a part of a script that it runs by a name of its own, with arguments.

use std::collections::HashMap;
use std::ops::Range;

use super::program::quoted_words;
use super::{Reading, Surroundings, command_of, opens_block};
use crate::check::expand::{Function, Scope, openings, tells};
use crate::check::shell::{Simple, Word};

/// A function as a script defines it.
pub(super) struct Defined {
    pub(super) name: String,
    /// Where its body stands in the script.
    pub(super) body: Range<usize>,
    /// The last command of it.
    pub(super) end: usize,
}

/// The functions that commands define, by the command with which each begins.
pub(super) fn functions_in(commands: &[Simple]) -> HashMap<usize, Defined> {
    if !commands.iter().any(may_define) {
        return HashMap::new();
    }
    let mut ends: HashMap<usize, usize> = HashMap::new();
    for (end, opening) in openings(commands) {
        let last = ends.entry(opening).or_default();
        *last = end.max(*last);
    }
    let defined = |index: usize| Defined::at(commands, index, &ends);
    let all = (0..commands.len()).filter(|index| may_define(&commands[*index]));
    all.filter_map(|index| Some((index, defined(index)?)))
        .collect()
}

fn may_define(simple: &Simple) -> bool {
    simple.is_function
        || simple
            .words
            .first()
            .is_some_and(|word| word.text == "function")
}

impl Defined {
    fn at(commands: &[Simple], index: usize, ends: &HashMap<usize, usize>) -> Option<Self> {
        let simple = &commands[index];
        let name = match command_of(&simple.words).first() {
            Some(name) if simple.is_function => name,
            _ => simple.words.get(1)?,
        };
        let name = name.text.clone();
        // `function name {`, or `name() {`.
        let brace = |words: &[Word]| {
            let first = words.first().filter(|word| word.text == "{")?;
            Some(first.range.end)
        };
        let own = simple.words.get(2..).and_then(brace);
        if let Some(start) = own.filter(|_| !simple.is_function) {
            let end = *ends.get(&index)?;
            let body = start..commands[end].words.first()?.range.start;
            return Some(Defined { name, body, end });
        }
        let next = commands.get(index + 1)?;
        if next.depth > simple.depth {
            let inner = commands[index + 1..].iter();
            let count = inner.take_while(|one| one.depth > simple.depth).count();
            let end = index + count;
            let body = next.range.start..commands[end].range.end;
            return Some(Defined { name, body, end });
        }
        if opens_block(next) == 0 {
            return None;
        }
        let end = *ends.get(&(index + 1))?;
        let body = match brace(&next.words) {
            Some(start) => start..commands[end].words.first()?.range.start,
            None => next.range.start..commands[end].range.end,
        };
        Some(Defined { name, body, end })
    }
}

/// Whether a function does something with what it is given.
fn takes_arguments(body: &str) -> bool {
    let signs = body.split('$').skip(1);
    let mut names = signs.map(|rest| rest.trim_start_matches(['{', '!', '#']));
    names.any(|name| name.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '@' | '*')))
        || body.contains("shift")
        || body.contains("for ")
}

impl Reading<'_> {
    /// Reads the function of a name with what it is given; says whether there is one.
    pub(super) fn function(
        &mut self,
        name: &str,
        arguments: &[Word],
        place: &Range<usize>,
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) -> bool {
        /// Calls within calls are followed so far.
        const DEEPEST: usize = 24;
        let functions = scope.take_functions(name);
        if functions.is_empty() {
            return false;
        }
        // With nothing that tells anything it does what it does where it is defined; and with the same again the same.
        let given = arguments
            .iter()
            .any(|word| !word.is_dynamic && tells(&word.text));
        let takes = |function: &Function| takes_arguments(&function.body);
        let takes_any = given && functions.iter().any(takes);
        let call = format!("{name} {}", quoted_words(arguments));
        if !takes_any || !self.called.insert(call) {
            scope.put_functions(name, functions);
            return true;
        }
        if at.calls == DEEPEST {
            self.unread(place.clone());
        }
        let held = scope.take("@");
        for function in functions.iter().filter(|_| at.calls < DEEPEST) {
            let at = Surroundings {
                calls: at.calls + 1,
                is_sure: at.is_sure && function.is_sure,
                is_certain: at.is_certain && function.is_sure,
                ..*at
            };
            scope.set_arguments(arguments, true, true);
            self.script(&function.body, Some(place), &at, scope);
        }
        scope.restore("@", held);
        scope.put_functions(name, functions);
        true
    }
}
