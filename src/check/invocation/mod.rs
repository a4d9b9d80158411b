//! Which programs a script runs, and with which arguments: behind `sudo`, `env` and their like, in `sh -c '…'`, `eval`,
//! `xargs`, `find -exec` and `ssh`, in a text that is piped into a shell, and by an alias of git.

mod carried;
mod function;
mod git;
mod name;
mod options;
mod program;
mod runner;
mod wrapper;
mod written;

use std::collections::HashSet;
use std::ops::Range;

use super::budget::Budget;
use super::expand::{
    self, Feed, Field, Function, Scope, Script, Sets, UNREAD, UNREAD_CODE, Value, Values,
    closes_block,
};
use super::shell::{self, Simple, Word};
use crate::model::beginning;
use function::functions_in;
pub use git::GIT_VALUED;
pub use options::after_options;
pub use runner::is_interpreter;
pub use runner::may_begin;
pub use wrapper::Wrapper;

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
    /// Whether all that it may be given was looked at.
    pub is_whole: bool,
}

impl Invocation {
    /// Whether something is run here that was not followed, such as what is nested too deep.
    pub fn is_unread(&self) -> bool {
        !self.is_whole
    }

    /// Whether it is not known which program this is.
    pub fn is_unknown(&self) -> bool {
        self.program.is_empty() || self.program.contains(['$', '`'])
    }
}

/// Words that may stand before a command.
const RESERVED: &[&str] = &[
    "if", "then", "elif", "else", "do", "while", "until", "!", "{", "coproc",
];

/// Words that begin a block, in which commands may run or not, and often.
const OPENING: &[&str] = &["if", "while", "until", "for", "select", "case", "{"];

/// How many blocks begin with a command.
pub fn opens_block(simple: &Simple) -> usize {
    let command = command_of(&simple.words);
    let before = &simple.words[..simple.words.len() - command.len()];
    let words = before.iter().chain(command.first());
    words
        .filter(|word| OPENING.contains(&word.text.as_str()))
        .count()
}

/// Every program that a script runs. In one that `is_run`, and is no part of a sentence, a command is looked for among the
/// words of a program that is not known too.
pub fn invocations(script: &str, is_run: bool, budget: &Budget) -> Vec<Invocation> {
    let mut reading = Reading {
        found: Vec::new(),
        called: HashSet::new(),
        is_run,
        budget,
    };
    let mut scope = Scope::default();
    let around = Surroundings {
        depth: 0,
        calls: 0,
        is_sure: true,
        is_certain: true,
        is_whole: true,
        input: None,
    };
    reading.script(script, None, &around, &mut scope);
    reading.found
}

/// What a command is run in.
#[derive(Clone, Copy)]
struct Surroundings<'f> {
    depth: usize,
    /// How many functions it is called by.
    calls: usize,
    is_sure: bool,
    /// Whether it runs whenever the script does that sets the same variables, and once.
    is_certain: bool,
    is_whole: bool,
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

    /// Of a shell that has variables of its own.
    fn apart(&self) -> Self {
        Surroundings {
            is_certain: true,
            ..*self
        }
    }

    /// Of what does not read the same.
    fn without_input(&self) -> Surroundings<'static> {
        Surroundings {
            depth: self.depth,
            calls: self.calls,
            is_sure: self.is_sure,
            is_certain: self.is_certain,
            is_whole: self.is_whole,
            input: None,
        }
    }

    /// Whether it is not read where it stands.
    fn is_inner(&self) -> bool {
        self.depth > 0 || self.calls > 0
    }
}

struct Reading<'b> {
    found: Vec<Invocation>,
    /// The functions that were called, with what they were given.
    called: HashSet<String>,
    /// Whether what is read is run, and not only spoken of.
    is_run: bool,
    budget: &'b Budget,
}

/// Whether a command only sets variables.
fn sets_variables(name: &Word) -> bool {
    expand::is_declaration(name)
        || matches!(
            name.text.as_str(),
            "for" | "select" | "set" | "shift" | "read" | "mapfile" | "readarray" | "printf"
        )
}

/// How an assignment counts.
#[derive(Clone, Copy)]
struct Setting {
    /// Whether a program that is started has it too.
    is_exported: bool,
    /// Whether what the variable held before counts no more.
    is_certain: bool,
}

/// The last part of a path, without the ending that Windows gives to programs.
pub fn name_of(text: &str) -> String {
    let name = text.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.to_lowercase();
    name.strip_suffix(".exe").unwrap_or(&name).to_owned()
}

/// The name and the value of an assignment, and how it sets it.
fn assignment(word: &Word) -> Option<(&str, &str, Sets)> {
    let (name, value) = word.text.split_once('=')?;
    let (name, how) = match name.strip_suffix('+') {
        Some(name) if word.elements.is_some() => (name, Sets::More),
        Some(name) => (name, Sets::Longer),
        None => match name.strip_suffix(']').and_then(|name| name.split_once('[')) {
            Some((name, index)) => (name, Sets::Element(index.parse().ok())),
            None => (name, Sets::Anew),
        },
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

/// From the beginning of words to their end. One that is piped in stands before the program that is given it.
pub fn around(words: &[Word]) -> Range<usize> {
    let start = words.iter().map(|word| word.range.start).min();
    let end = words.iter().map(|word| word.range.end).max();
    start.unwrap_or_default()..end.unwrap_or_default()
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

impl Reading<'_> {
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
            is_whole: false,
        });
    }

    /// Reads a script; one that stands in a word of another one has that word's place.
    fn script(
        &mut self,
        text: &str,
        place: Option<&Range<usize>>,
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        let whole = || place.cloned().unwrap_or(0..text.len());
        let is_inner = at.is_inner();
        if at.depth > DEEPEST || is_inner && !self.budget.spend(text.len()) {
            return self.unread(whole());
        }
        if text.len() > AT_ONCE {
            return self.pieces(text, place, at, scope);
        }
        let mut parsed = shell::parse(text);
        if !parsed.is_whole {
            self.unread(whole());
        }
        let functions = functions_in(&parsed.commands);
        if let Some(place) = place {
            for simple in &mut parsed.commands {
                simple.range = place.clone();
                for word in simple.words.iter_mut().chain(simple.input.as_deref_mut()) {
                    word.range = place.clone();
                }
            }
        }
        let commands = Script::new(parsed.commands, self.budget);
        scope.look_ahead(&commands.commands);
        let mut blocks = 0_usize;
        // Arguments that a function whose body is read does not have, each up to its last command.
        let mut held: Vec<(usize, Option<Values>)> = Vec::new();
        for (index, simple) in commands.commands.iter().enumerate() {
            while let Some((_, values)) = held.pop_if(|(end, _)| *end < index) {
                scope.restore("@", values);
            }
            if simple.is_data {
                continue;
            }
            if !is_inner {
                let input = simple.input.as_ref().map_or(0, |input| input.text.len());
                self.budget.begin(simple.range.len() + input);
            }
            blocks = blocks.saturating_sub(usize::from(closes_block(simple)));
            blocks += opens_block(simple);
            // Most shells have one of its own for what is piped into.
            let is_certain = at.is_certain
                && !simple.is_conditional
                && !simple.is_apart
                && simple.piped_from.is_empty();
            if let Some(defined) = functions.get(&index) {
                let body = text.get(defined.body.clone()).unwrap_or_default();
                let function = Function {
                    body: body.into(),
                    is_sure: at.is_sure && is_certain && blocks == opens_block(simple),
                };
                scope.define(&defined.name, function);
                held.push((defined.end, scope.take("@")));
            }
            let at = Surroundings {
                is_certain: is_certain && blocks == 0,
                ..*at
            };
            self.command(&commands, index, &at, scope);
        }
        while let Some((_, values)) = held.pop() {
            scope.restore("@", values);
        }
    }

    /// Reads a command in each of its versions.
    fn command(
        &mut self,
        commands: &Script<'_>,
        index: usize,
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        let simple = &commands.commands[index];
        // What stands before `()` is a name.
        if simple.is_function {
            return;
        }
        let feed = scope.feed_of(commands, index);
        let at = Surroundings {
            input: feed.as_ref().or(at.input),
            ..*at
        };
        let versions = scope.versions(commands, &simple.words);
        // What is sure of a command whatever its variables hold, is sure although nobody knows which.
        let is_open = !versions.iter().any(|version| version.is_sure)
            && command_of(&simple.words)
                .first()
                .is_some_and(|word| !sets_variables(word));
        for (number, version) in versions.into_iter().enumerate() {
            let at = Surroundings {
                is_sure: at.is_sure && version.is_sure,
                is_certain: at.is_certain && number == 0,
                is_whole: at.is_whole && version.is_whole,
                ..at
            };
            self.simple(commands, &version.words, &at, scope);
        }
        if is_open {
            let version = scope.open(commands, &simple.words);
            let at = Surroundings {
                is_sure: at.is_sure && version.is_sure,
                is_certain: false,
                ..at
            };
            self.simple(commands, &version.words, &at, scope);
        }
        for (name, text) in scope.defaults(commands, &simple.words) {
            let value = Value::new(vec![Field::of(&text)], false);
            scope.set(&name, value, Sets::Anew, false);
        }
        let mut first = simple.words.iter().take(3);
        if simple.writes || first.any(|word| word.text == "tee") {
            self.written(commands, index, &at, scope);
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

    /// Reads a simple command whose words are known as far as they can be.
    fn simple(
        &mut self,
        commands: &Script<'_>,
        words: &[Word],
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        let command = command_of(words);
        let before = &words[..words.len() - command.len()];
        let persists = command.is_empty() || expand::is_declaration(&command[0]);
        let setting = Setting {
            is_exported: !persists,
            is_certain: at.is_certain || !persists,
        };
        let mut held: Vec<(String, Option<Values>)> = Vec::new();
        for word in before {
            if let Some((name, _, _)) = assignment(word).filter(|_| !persists) {
                if !self.budget.spend(scope.size_of(name)) {
                    self.unread(word.range.clone());
                    continue;
                }
                held.push((name.to_owned(), scope.get(name)));
            }
            self.assign(commands, word, setting, at, scope);
        }
        self.run(commands, command, at, scope);
        // What stands before a command is set for it alone.
        for (name, values) in held {
            scope.restore(&name, values);
        }
    }

    /// Reads `export`, `declare` and their like.
    fn declare(
        &mut self,
        commands: &Script<'_>,
        name: &str,
        words: &[Word],
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        let has = |option: char| {
            let mut texts = words.iter().map(|word| word.text.as_str());
            texts.any(|text| text.starts_with('-') && text.contains(option))
        };
        let is_exported = name == "export" || has('x');
        let is_reference = name != "export" && has('n');
        let setting = Setting {
            is_exported,
            is_certain: at.is_certain,
        };
        for word in words {
            match assignment(word) {
                // It stands for another variable.
                Some((name, ..)) if is_reference => scope.leave_open(name),
                Some(_) => self.assign(commands, word, setting, at, scope),
                None if is_exported => scope.export(&word.text),
                None => {}
            }
        }
    }

    /// Sets what an assignment says.
    fn assign(
        &mut self,
        commands: &Script<'_>,
        word: &Word,
        setting: Setting,
        at: &Surroundings<'_>,
        scope: &mut Scope,
    ) {
        let Some((name, text, how)) = assignment(word) else {
            return;
        };
        if how != Sets::Anew && !self.budget.spend(scope.size_of(name)) {
            return self.unread(word.range.clone());
        }
        self.carried_by_variable(name, text, &word.range, at, scope);
        let Setting {
            is_exported,
            is_certain,
        } = setting;
        let value = |fields, is_sure| Value {
            fields,
            is_sure: at.is_sure && is_sure,
            is_exported,
        };
        let mut is_all = at.is_whole;
        if let Some(elements) = &word.elements {
            let (fields, is_whole) = scope.elements(commands, elements.clone());
            is_all &= is_whole;
            scope.set(name, value(Some(fields), true), how, is_certain);
        } else if text.contains([UNREAD, UNREAD_CODE]) {
            let field = Field {
                text: text.to_owned(),
                is_dynamic: word.is_dynamic,
            };
            scope.set(name, value(Some(vec![field]), false), how, is_certain);
        } else if word.is_dynamic {
            // What holds something unknown is unknown, and yet may have more in it: `"$OTHER -f"`.
            scope.set(name, value(None, true), how, is_certain);
            let words = text.split_whitespace();
            let known: Vec<&str> = words.filter(|word| !word.contains('$')).collect();
            if !known.is_empty() {
                let known = value(Some(vec![Field::of(&known.join(" "))]), false);
                scope.set(name, known, how, false);
            }
        } else {
            let fields = vec![Field::of(text)];
            scope.set(name, value(Some(fields), true), how, is_certain);
        }
        if !is_all {
            scope.leave_open(name);
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
        if feed.is_unread || !feed.is_whole {
            self.unread(feed.range.clone());
        }
        let at = Surroundings {
            depth: at.depth + 1,
            calls: at.calls,
            is_sure: at.is_sure && feed.is_sure,
            is_certain: at.is_certain,
            is_whole: at.is_whole,
            input: None,
        };
        self.script(&feed.text, Some(&feed.range), &at, scope);
    }
}

#[cfg(test)]
mod tests;
