//! Which programs a script runs, and with which arguments: behind `sudo`, `env` and their like, in `sh -c '…'`, `eval`,
//! `xargs`, `find -exec` and `ssh`, in a text that is piped into a shell, and by an alias of git.

mod git;
mod options;
mod program;
mod wrapper;

use std::ops::Range;

use super::expand::{self, Feed, Scope, Sets, Value};
use super::shell::{self, Simple, Word};
use crate::model::beginning;
pub use git::GIT_VALUED;
pub use options::after_options;

/// Scripts and wrappers within others are followed so far; what lies deeper is reported as not read.
const DEEPEST: usize = 8;

/// Longer scripts are read in pieces.
const AT_ONCE: usize = 4 << 20;

/// A program that is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// Its name, without a folder; empty where it could not be told what is run.
    pub program: String,
    /// What it is given.
    pub arguments: Vec<Word>,
    /// Where this stands.
    pub range: Range<usize>,
    /// Where a text stands that it reads: a here-document, a here-string, or what is piped into it.
    pub input: Option<Range<usize>>,
    /// Whether it is run for certain, and not only under what may be assumed.
    pub is_sure: bool,
}

impl Invocation {
    /// Whether something is run here that was not followed, such as what is nested too deep.
    pub fn is_unread(&self) -> bool {
        self.program.is_empty()
    }
}

/// Words that may stand before a command.
const RESERVED: &[&str] = &[
    "if", "then", "elif", "else", "do", "while", "until", "!", "{", "coproc",
];

/// Words between which commands may run or not, and often.
const OPENING: &[&str] = &["if", "while", "until", "for", "select", "case", "{"];
const CLOSING: &[&str] = &["fi", "done", "esac", "}"];

/// Every program that a script runs.
pub fn invocations(script: &str) -> Vec<Invocation> {
    let mut reading = Reading {
        found: Vec::new(),
        // Enough for whatever a person writes; what is made to multiply itself is not followed to its end.
        left: script.len().saturating_mul(24) + (64 << 10),
    };
    let mut scope = Scope::default();
    let around = Surroundings {
        depth: 0,
        is_sure: true,
        input: None,
    };
    reading.script(script, None, &around, &mut scope);
    reading.found
}

/// What a command is run in.
#[derive(Clone, Copy)]
struct Surroundings<'f> {
    depth: usize,
    is_sure: bool,
    /// What it reads.
    input: Option<&'f Feed>,
}

impl Surroundings<'_> {
    fn deeper(&self) -> Self {
        Surroundings {
            depth: self.depth + 1,
            ..*self
        }
    }

    fn unsure(&self) -> Self {
        Surroundings {
            is_sure: false,
            ..*self
        }
    }
}

struct Reading {
    found: Vec<Invocation>,
    /// How many more bytes of scripts within scripts are read.
    left: usize,
}

/// The last part of a path, without the ending that Windows gives to programs.
pub fn name_of(word: &Word) -> String {
    let name = word.text.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.to_lowercase();
    name.strip_suffix(".exe").unwrap_or(&name).to_owned()
}

/// The name and the value of an assignment, and how it sets it.
fn assignment(word: &Word) -> Option<(&str, &str, Sets)> {
    let (name, value) = word.text.split_once('=')?;
    let (name, how) = match name.strip_suffix('+') {
        Some(name) if word.elements.is_some() => (name, Sets::More),
        Some(name) => (name, Sets::Longer),
        None => (name, Sets::Anew),
    };
    let is_name = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some((name, value, how))
}

/// Words without the assignments and the words of the shell before a command.
pub fn command_of(words: &[Word]) -> &[Word] {
    let mut words = words;
    loop {
        words = match words {
            [first, _, rest @ ..] if first.text == "function" => rest,
            [first, rest @ ..]
                if assignment(first).is_some() || RESERVED.contains(&first.text.as_str()) =>
            {
                rest
            }
            _ => return words,
        };
    }
}

pub fn joined(words: &[Word]) -> String {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    texts.join(" ")
}

fn around(words: &[Word]) -> Range<usize> {
    let start = words.first().map_or(0, |word| word.range.start);
    start..words.last().map_or(start, |word| word.range.end)
}

/// Words that were made from a text, all with the text's place.
fn words_at(text: &str, place: &Range<usize>) -> Vec<Word> {
    text.split_whitespace()
        .map(|word| Word {
            text: word.to_owned(),
            range: place.clone(),
            ..Word::default()
        })
        .collect()
}

impl Reading {
    /// Notes that something is run that was not followed.
    fn unread(&mut self, place: Range<usize>) {
        if self
            .found
            .last()
            .is_some_and(|last| last.is_unread() && last.range == place)
        {
            return;
        }
        self.found.push(Invocation {
            program: String::new(),
            arguments: Vec::new(),
            range: place,
            input: None,
            is_sure: false,
        });
    }

    /// Reads a script; one that stands in a word of another one has that word's place.
    fn script(
        &mut self,
        script: &str,
        place: Option<&Range<usize>>,
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        let whole = || place.cloned().unwrap_or(0..script.len());
        if at.depth > DEEPEST || script.len() > self.left {
            return self.unread(whole());
        }
        if script.len() > AT_ONCE {
            return self.pieces(script, place, at, scope);
        }
        self.left -= script.len();
        let mut parsed = shell::parse(script);
        if !parsed.is_whole {
            self.unread(whole());
        }
        if let Some(place) = place {
            for simple in &mut parsed.commands {
                simple.range = place.clone();
                for word in simple.words.iter_mut().chain(simple.input.as_deref_mut()) {
                    word.range = place.clone();
                }
            }
        }
        let commands = &parsed.commands;
        scope.look_ahead(commands);
        let mut blocks = 0_usize;
        for (index, simple) in commands.iter().enumerate() {
            if simple.is_data {
                continue;
            }
            let first = simple.words.first().map_or("", |word| word.text.as_str());
            if CLOSING.contains(&first) {
                blocks = blocks.saturating_sub(1);
            }
            let opens = simple
                .words
                .iter()
                .take(3)
                .any(|word| OPENING.contains(&word.text.as_str()));
            if opens {
                blocks += 1;
            }
            let feed = scope.feed_of(commands, index);
            let at = Surroundings {
                input: feed.as_ref().or(at.input),
                ..*at
            };
            let (versions, is_all) = scope.versions(commands, &simple.words);
            if !is_all {
                self.unread(simple.range.clone());
            }
            for (words, is_sure) in versions {
                if simple.is_function {
                    // What stands before `()` is a name.
                    continue;
                }
                let at = Surroundings {
                    is_sure: at.is_sure && is_sure,
                    ..at
                };
                let is_certain = !simple.is_conditional && !simple.is_apart && blocks == 0;
                self.simple(commands, &words, is_certain, &at, scope);
            }
        }
    }

    /// Reads a script of many megabytes piece by piece, so that it never stands in memory as a whole. A cut may go through a
    /// text, so that nothing behind the first is certain.
    fn pieces(
        &mut self,
        script: &str,
        place: Option<&Range<usize>>,
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        self.unread(place.cloned().unwrap_or(0..script.len()));
        let mut start = 0;
        while start < script.len() {
            let piece = beginning(&script[start..], AT_ONCE);
            let is_last = start + piece.len() == script.len();
            let end = piece.rfind('\n').or_else(|| piece.rfind(';'));
            let piece = match end {
                Some(end) if !is_last => &piece[..=end],
                _ => piece,
            };
            let at = if start == 0 { *at } else { at.unsure() };
            let before = self.found.len();
            self.script(piece, place, &at, scope);
            if place.is_none() {
                let shift =
                    |range: &mut Range<usize>| *range = range.start + start..range.end + start;
                for run in &mut self.found[before..] {
                    shift(&mut run.range);
                    run.input.iter_mut().for_each(shift);
                    run.arguments
                        .iter_mut()
                        .for_each(|word| shift(&mut word.range));
                }
            }
            start += piece.len();
        }
    }

    /// Reads a simple command whose words are known as far as they can be; `is_certain` says that it runs whenever its
    /// script does, and once.
    fn simple(
        &mut self,
        commands: &[Simple],
        words: &[Word],
        is_certain: bool,
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        let command = command_of(words);
        let before = &words[..words.len() - command.len()];
        let is_declaration = command.first().is_some_and(expand::is_declaration);
        let is_exported = is_declaration
            && (command[0].text == "export" || command[1..].iter().any(|word| word.text == "-x"));
        let mut set: Vec<(String, Option<Vec<Value>>)> = Vec::new();
        let persists = command.is_empty() || is_declaration;
        let assigning = if is_declaration { command } else { before };
        for word in assigning {
            let Some((name, value, how)) = assignment(word) else {
                if is_exported {
                    scope.export(&word.text);
                }
                continue;
            };
            let fields = match &word.elements {
                Some(elements) => scope.elements(commands, elements.clone()),
                None => vec![value.to_owned()],
            };
            // What holds something unknown is unknown, and yet may have more in it: `"$OTHER -f"`.
            let is_unknown = word.is_dynamic && word.elements.is_none();
            let known: Vec<&str> = value
                .split_whitespace()
                .filter(|word| !word.contains('$'))
                .collect();
            if !persists {
                set.push((name.to_owned(), scope.get(name).map(<[Value]>::to_vec)));
            }
            let value = |fields, is_sure| Value {
                fields,
                is_sure: at.is_sure && is_sure,
                is_exported: is_exported || !persists,
            };
            let is_certain = is_certain || !persists;
            if is_unknown {
                scope.set(name, value(None, true), how, is_certain);
                if !known.is_empty() {
                    scope.set(name, value(Some(vec![known.join(" ")]), false), how, false);
                }
            } else {
                scope.set(name, value(Some(fields), true), how, is_certain);
            }
        }
        if !is_declaration {
            self.run(commands, command, at, scope);
        }
        // What stands before a command is set for it alone.
        for (name, value) in set {
            scope.restore(&name, value);
        }
    }

    /// Words that are joined to a script, as `ssh` and `watch` do.
    fn inner(&mut self, words: &[Word], at: &Surroundings<'_>, scope: &mut Scope) {
        self.script(&joined(words), Some(&around(words)), &at.deeper(), scope);
    }

    /// What a shell reads.
    fn read_input(&mut self, at: &Surroundings<'_>, scope: &mut Scope) {
        self.feed(at.input, at, scope);
    }

    fn feed(&mut self, feed: Option<&Feed>, at: &Surroundings<'_>, scope: &mut Scope) {
        let Some(feed) = feed else {
            return;
        };
        if feed.is_unread {
            self.unread(feed.range.clone());
        }
        let at = Surroundings {
            depth: at.depth + 1,
            is_sure: at.is_sure && feed.is_sure,
            input: None,
        };
        self.script(&feed.text, Some(&feed.range), &at, scope);
    }
}

#[cfg(test)]
mod tests;
