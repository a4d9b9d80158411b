//! Programs as they are run, written plainly, for expressions: who forbids `npm install` means `"npm"  install` too.

use std::ops::Range;

use super::git;
use super::matter::Run;
use super::shell::Word;

/// So many bytes of such programs are written.
const MOST_SPELLED: usize = 256 << 10;

/// A program that is run, written plainly: without quotes, and with one blank between its words.
#[derive(Debug)]
pub struct Spelled {
    /// Its name and its words; of git without the options that stand before its command.
    pub text: String,
    /// How long its name is.
    pub name: usize,
    /// Where it stands.
    pub range: Range<usize>,
    /// Whether it is run, and not only spoken of.
    pub is_sure: bool,
}

impl Spelled {
    fn of(run: &Run) -> Self {
        let invocation = &run.invocation;
        let mut text = invocation.program.clone();
        match git::subcommand(invocation) {
            Some((command, arguments)) => {
                text.push(' ');
                text.push_str(command);
                push_words(&mut text, arguments);
            }
            None => push_words(&mut text, &invocation.arguments),
        }
        Spelled {
            text,
            name: invocation.program.len(),
            range: invocation.range.clone(),
            is_sure: run.is_sure,
        }
    }
}

fn push_words(text: &mut String, words: &[Word]) {
    for word in words {
        text.push(' ');
        text.push_str(&word.text);
    }
}

/// The programs that are run.
pub fn spelled(runs: &[Run]) -> Vec<Spelled> {
    let mut left = MOST_SPELLED;
    let all = runs.iter().map(Spelled::of).take_while(|spelled| {
        left = left.saturating_sub(spelled.text.len());
        left > 0
    });
    all.collect()
}
