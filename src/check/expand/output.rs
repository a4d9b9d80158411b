//! What the commands of a script are known to write, and so what the next ones read.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use super::Scope;
use crate::check::budget::Budget;
use crate::check::invocation::{command_of, joined, name_of, opens_block};
use crate::check::shell::{Simple, Word, unescaped};

/// What a command reads.
#[derive(Debug, Clone)]
pub struct Feed {
    pub text: Rc<str>,
    pub range: Range<usize>,
    /// Whether it is just this text.
    pub is_sure: bool,
    /// Whether the text was made unreadable before, and is made readable on its way.
    pub is_unread: bool,
    /// Whether all of it was followed.
    pub is_whole: bool,
}

/// A script that is being read.
pub struct Script<'b> {
    pub commands: Vec<Simple>,
    pub budget: &'b Budget,
    /// Where the block begins that a command ends: `{` for `}`, `while` for `done`.
    openings: HashMap<usize, usize>,
    /// What commands write. Each is looked at once: what it reads may be as much to follow.
    written: RefCell<HashMap<usize, Option<Feed>>>,
}

impl<'b> Script<'b> {
    /// Makes commands ready.
    pub fn new(commands: Vec<Simple>, budget: &'b Budget) -> Self {
        Script {
            openings: openings(&commands),
            commands,
            budget,
            written: RefCell::default(),
        }
    }
}

/// Where the block begins that each closing word ends.
pub fn openings(commands: &[Simple]) -> HashMap<usize, usize> {
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut found = HashMap::new();
    for (index, simple) in commands.iter().enumerate() {
        while open.last().is_some_and(|(_, depth)| *depth > simple.depth) {
            open.pop();
        }
        if closes_block(simple) {
            let is_here = |(_, depth): &mut (usize, usize)| *depth == simple.depth;
            if let Some((opening, _)) = open.pop_if(is_here) {
                found.insert(index, opening);
            }
        }
        open.extend((0..opens_block(simple)).map(|_| (index, simple.depth)));
    }
    found
}

/// Whether a command is the word that ends a block.
pub fn closes_block(simple: &Simple) -> bool {
    let first = simple.words.first().map_or("", |word| word.text.as_str());
    matches!(first, "fi" | "done" | "esac" | "}")
}

impl Scope {
    /// What a command reads: a here-document, or what is piped into it.
    pub fn feed_of(&self, script: &Script<'_>, index: usize) -> Option<Feed> {
        let simple = &script.commands[index];
        let Some(input) = &simple.input else {
            return self.output(script, simple.piped_from.clone());
        };
        let versions = self.versions(script, std::slice::from_ref(&**input));
        let version = versions.into_iter().next()?;
        Some(Feed {
            text: joined(&version.words).into(),
            range: input.range.clone(),
            is_sure: version.is_sure,
            is_unread: false,
            is_whole: version.is_whole,
        })
    }

    /// What commands write, as far as it is plain to see.
    pub fn output(&self, script: &Script<'_>, of: Range<usize>) -> Option<Feed> {
        let mut of = of;
        // `{ a; b; } | c`: what is piped is all between the braces.
        if let Some(last) = of.end.checked_sub(1)
            && let Some(opening) = script.openings.get(&last)
        {
            of.start = of.start.min(*opening);
        }
        let commands = script.commands.get(of.clone())?;
        let depth = commands.iter().map(|simple| simple.depth).min()?;
        let mut all: Option<Feed> = None;
        for index in of {
            let simple = &script.commands[index];
            if simple.is_data || simple.depth > depth {
                continue;
            }
            if !script.budget.spend(1) {
                return Some(too_much(simple));
            }
            let Some(feed) = self.written_by(script, index) else {
                continue;
            };
            all = Some(match all {
                None => feed,
                Some(before) if !script.budget.spend(before.text.len() + feed.text.len()) => {
                    return Some(Feed {
                        is_whole: false,
                        ..before
                    });
                }
                Some(before) => Feed {
                    text: format!("{}\n{}", before.text, feed.text).into(),
                    range: before.range.start..before.range.end.max(feed.range.end),
                    is_sure: before.is_sure && feed.is_sure,
                    is_unread: before.is_unread || feed.is_unread,
                    is_whole: before.is_whole && feed.is_whole,
                },
            });
        }
        all
    }

    /// What a command writes.
    fn written_by(&self, script: &Script<'_>, index: usize) -> Option<Feed> {
        if let Some(known) = script.written.borrow().get(&index) {
            return known.clone();
        }
        let written = self.write(script, index);
        script.written.borrow_mut().insert(index, written.clone());
        written
    }

    fn write(&self, script: &Script<'_>, index: usize) -> Option<Feed> {
        let simple = &script.commands[index];
        let versions = self.versions(script, &simple.words);
        let is_only = versions.len() == 1;
        let mut all: Option<Feed> = None;
        for version in versions {
            let is_sure = version.is_sure && is_only;
            let (text, is_known) = match said(&version.words, script.budget)? {
                Said::Text(text, is_known) => (text, is_known),
                Said::TooMuch => return Some(too_much(simple)),
                Said::Input { is_same, is_unread } => {
                    let feed = self.feed_of(script, index)?;
                    return Some(Feed {
                        is_sure: feed.is_sure && is_same,
                        is_unread: feed.is_unread || is_unread,
                        ..feed
                    });
                }
            };
            // One line for each value, as a loop writes them.
            let before = all.as_ref().map_or("", |feed| &feed.text);
            if !script.budget.spend(before.len() + text.len()) {
                return Some(too_much(simple));
            }
            let is_whole = all.as_ref().is_none_or(|feed| feed.is_whole) && version.is_whole;
            all = Some(Feed {
                text: match before {
                    "" => text.into(),
                    before => format!("{before}\n{text}").into(),
                },
                range: simple.range.clone(),
                is_sure: is_sure && is_known,
                is_unread: false,
                is_whole,
            });
        }
        all
    }
}

/// What a command writes that is too much to follow.
fn too_much(simple: &Simple) -> Feed {
    Feed {
        text: "".into(),
        range: simple.range.clone(),
        is_sure: false,
        is_unread: false,
        is_whole: false,
    }
}

/// What a program writes, seen from its words.
enum Said {
    /// A text, and whether it is just that.
    Text(String, bool),
    /// What it reads, and whether that comes out as it is, or was unreadable and is made readable.
    Input { is_same: bool, is_unread: bool },
    /// More than may be followed.
    TooMuch,
}

fn said(words: &[Word], budget: &Budget) -> Option<Said> {
    let (name, arguments) = command_of(words).split_first()?;
    let is_known = !arguments.iter().any(|word| word.is_dynamic);
    Some(match name_of(&name.text).as_str() {
        "echo" => {
            let options = arguments.iter().take_while(|word| {
                let flags = word.text.strip_prefix('-');
                flags.is_some_and(|flags| {
                    !flags.is_empty() && flags.bytes().all(|byte| b"neE".contains(&byte))
                })
            });
            let text = joined(&arguments[options.count()..]);
            Said::Text(unescaped(&text), is_known)
        }
        "printf" => {
            let (format, values) = match arguments {
                [first, format, values @ ..] if first.text == "--" => (format, values),
                [format, values @ ..] => (format, values),
                [] => return None,
            };
            match printed(&format.text, values, budget) {
                Some((text, is_plain)) => Said::Text(text, is_known && is_plain),
                None => Said::TooMuch,
            }
        }
        "yes" => Said::Text(joined(arguments), is_known),
        "cat" | "tee" | "pv" => Said::Input {
            is_same: true,
            is_unread: false,
        },
        "base64" | "base32" | "xxd" | "openssl" | "rev" | "tr" | "gunzip" | "zcat" | "gzip"
        | "uudecode" | "sed" | "awk" | "perl" | "python" | "python3" => Said::Input {
            is_same: false,
            is_unread: true,
        },
        "head" | "tail" | "sort" | "uniq" | "grep" | "envsubst" | "cut" | "tac" | "sudo" => {
            Said::Input {
                is_same: false,
                is_unread: false,
            }
        }
        _ => return None,
    })
}

/// What `printf` writes, and whether that is known; none where it is too much.
fn printed(format: &str, values: &[Word], budget: &Budget) -> Option<(String, bool)> {
    let format = unescaped(format);
    let mut text = String::new();
    let mut values = values.iter().peekable();
    let mut is_known = true;
    // The format is written again until no value is left.
    while budget.spend(format.len()) {
        let mut rest = format.as_str();
        let mut takes = false;
        while let Some(at) = rest.find('%') {
            text.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            let kind = rest.chars().next();
            rest = &rest[kind.map_or(0, char::len_utf8)..];
            match kind {
                Some('%') => text.push('%'),
                Some('s' | 'b' | 'q' | 'd') => {
                    takes = true;
                    if let Some(value) = values.next() {
                        text.push_str(&unescaped(&value.text));
                    }
                }
                _ => is_known = false,
            }
        }
        text.push_str(rest);
        if !takes || values.peek().is_none() {
            return Some((text, is_known));
        }
    }
    None
}
