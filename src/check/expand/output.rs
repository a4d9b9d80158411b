//! What the commands of a script are known to write, and so what the next ones read.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use super::follow::{edited, translated};
use super::{Function, Scope, UNREAD, UNREAD_CODE};
use crate::check::budget::Budget;
use crate::check::invocation::{Wrapper, command_of, is_interpreter, joined, name_of, opens_block};
use crate::check::shell::{Simple, Word, parse, unescaped};

/// What a command reads.
#[derive(Debug, Clone)]
pub struct Feed {
    pub text: Rc<str>,
    pub range: Range<usize>,
    /// Whether it is just this text.
    pub is_sure: bool,
    /// Whether a program makes another text of it that is not followed, such as what was made unreadable before.
    pub is_unread: bool,
    /// Whether it is made of what stands in the script alone.
    pub is_known: bool,
    pub hides: Hides,
    /// Whether all of it was followed.
    pub is_whole: bool,
}

/// What a text may be that is not seen here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hides {
    Nothing,
    /// Where it is run, anything.
    Code,
    Anything,
}

impl Feed {
    /// The text without the end of its last line, behind a sign where it hides something.
    pub fn marked(&self) -> String {
        let text = self.text.trim_end_matches('\n');
        match self.hides {
            Hides::Nothing => text.to_owned(),
            Hides::Code => format!("{UNREAD_CODE}{text}"),
            Hides::Anything => format!("{UNREAD}{text}"),
        }
    }
}

/// A script that is being read.
pub struct Script<'b> {
    pub commands: Vec<Simple>,
    pub budget: &'b Budget,
    /// Where the block begins that a command ends: `{` for `}`, `while` for `done`.
    openings: HashMap<usize, usize>,
    /// The end of the block whose input each command reads that has none itself.
    readers: HashMap<usize, usize>,
    /// What commands write. Each is looked at once: what it reads may be as much to follow.
    written: RefCell<HashMap<usize, Option<Feed>>>,
}

impl<'b> Script<'b> {
    /// Makes commands ready.
    pub fn new(commands: Vec<Simple>, budget: &'b Budget) -> Self {
        let openings = openings(&commands);
        Script {
            readers: readers(&commands, &openings, budget),
            openings,
            commands,
            budget,
            written: RefCell::default(),
        }
    }
}

/// The end of the block whose input each command reads: `while read x; do …; done < file`.
fn readers(
    commands: &[Simple],
    openings: &HashMap<usize, usize>,
    budget: &Budget,
) -> HashMap<usize, usize> {
    let mut found = HashMap::new();
    let has_input = |(end, _): &(&usize, &usize)| commands[**end].input.is_some();
    let mut blocks: Vec<(&usize, &usize)> = openings.iter().filter(has_input).collect();
    // The outer ones first.
    blocks.sort_by_key(|(_, opening)| **opening);
    for (end, opening) in blocks {
        if !budget.spend(end - opening) {
            break;
        }
        // What writes the input does not read it.
        let marks = commands[*end].input.iter().flat_map(|input| &input.marks);
        let writers: Vec<Range<usize>> = marks.filter_map(|(_, mark)| mark.commands()).collect();
        let reads = |index: &usize| {
            commands[*index].input.is_none() && !writers.iter().any(|of| of.contains(index))
        };
        found.extend((*opening..*end).filter(reads).map(|index| (index, *end)));
    }
    found
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
        let of_block = || {
            let end = script.readers.get(&index)?;
            script.commands[*end].input.as_ref()
        };
        let own = simple.input.as_ref();
        let is_piped = !simple.piped_from.is_empty();
        let Some(input) = own.or_else(|| of_block().filter(|_| !is_piped)) else {
            return self.output(script, simple.piped_from.clone());
        };
        let versions = self.versions(script, std::slice::from_ref(&**input));
        let version = versions.into_iter().next()?;
        Some(Feed {
            text: joined(&version.words).into(),
            range: input.range.clone(),
            is_sure: version.is_sure,
            is_unread: false,
            is_known: !version.words.iter().any(|word| word.is_dynamic),
            hides: Hides::Nothing,
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
                    is_known: before.is_known && feed.is_known,
                    hides: before.hides.max(feed.hides),
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
        // Until that is known, nothing: what it reads may come back to it.
        script.written.borrow_mut().insert(index, None);
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
            if let [name, arguments @ ..] = command_of(&version.words)
                && let Some((scope, function)) = self.within(&name.text, arguments, script.budget)
            {
                return Some(Feed {
                    range: simple.range.clone(),
                    ..scope.output_of(&function, script.budget)?
                });
            }
            let (text, is_known) = match said(&version.words, script.budget)? {
                Said::Text(text, is_known) => (text, is_known),
                Said::TooMuch => return Some(too_much(simple)),
                Said::Input(made) => {
                    let feed = self.feed_of(script, index)?;
                    return Some(made_of(feed, made, &version.words, script.budget));
                }
                Said::OfCode => {
                    let feed = self.feed_of(script, index);
                    return Some(Feed {
                        is_sure: false,
                        is_unread: true,
                        hides: Hides::Code,
                        ..feed.unwrap_or_else(|| nothing(simple))
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
                is_known: is_known && all.as_ref().is_none_or(|feed| feed.is_known),
                hides: Hides::Nothing,
                is_whole,
            });
        }
        all
    }

    /// What the commands of a function write.
    fn output_of(mut self, function: &Function, budget: &Budget) -> Option<Feed> {
        let commands = parse(&function.body).commands;
        self.look_ahead(&commands);
        let inner = Script::new(commands, budget);
        let feed = self.output(&inner, 0..inner.commands.len())?;
        Some(Feed {
            is_sure: feed.is_sure && function.is_sure,
            ..feed
        })
    }
}

/// What a command writes that is too much to follow.
fn too_much(simple: &Simple) -> Feed {
    Feed {
        is_whole: false,
        ..nothing(simple)
    }
}

/// What a command writes of which nothing is known.
fn nothing(simple: &Simple) -> Feed {
    Feed {
        text: "".into(),
        range: simple.range.clone(),
        is_sure: false,
        is_unread: false,
        is_known: false,
        hides: Hides::Nothing,
        is_whole: true,
    }
}

/// What a program makes of what it reads.
fn made_of(feed: Feed, made: Made, words: &[Word], budget: &Budget) -> Feed {
    let other = |feed: Feed| Feed {
        is_sure: false,
        is_unread: true,
        // What comes from elsewhere is that of whoever sends it.
        hides: match feed.is_known {
            true => feed.hides.max(Hides::Code),
            false => feed.hides,
        },
        ..feed
    };
    let followed = |made: Option<String>, feed: Feed| match made {
        Some(text) => Feed {
            text: text.into(),
            ..feed
        },
        None => other(feed),
    };
    let arguments = unwrapped(words).get(1..).unwrap_or_default();
    match made {
        Made::Same => feed,
        Made::Part => Feed {
            is_sure: false,
            ..feed
        },
        Made::Readable => Feed {
            hides: Hides::Anything,
            ..other(feed)
        },
        Made::Translated | Made::Edited if feed.is_unread || !budget.spend(feed.text.len()) => {
            other(feed)
        }
        Made::Translated => followed(translated(&feed.text, arguments), feed),
        Made::Edited => followed(edited(&feed.text, arguments), feed),
        Made::Other => other(feed),
    }
}

/// What a program writes, seen from its words.
enum Said {
    /// A text, and whether it is just that.
    Text(String, bool),
    /// What it makes of what it reads.
    Input(Made),
    /// What the code says that it is given.
    OfCode,
    /// More than may be followed.
    TooMuch,
}

/// What a program makes of a text.
enum Made {
    Same,
    /// Some of its lines, or all in another order.
    Part,
    /// Something readable of what was made unreadable.
    Readable,
    /// What `tr` makes of it.
    Translated,
    /// What `sed` makes of it.
    Edited,
    Other,
}

/// Programs that make something readable again.
const DECODERS: &[&str] = &[
    "base32", "base64", "basenc", "brotli", "bunzip2", "bzcat", "bzip2", "gpg", "gunzip", "gzip",
    "lzma", "openssl", "rev", "unxz", "uudecode", "xxd", "xz", "xzcat", "zcat", "zstd", "zstdcat",
];

/// Commands that write nothing of what they read.
const SILENT: &[&str] = &[
    ":",
    "[",
    "[[",
    "cd",
    "chmod",
    "cp",
    "declare",
    "done",
    "esac",
    "exit",
    "export",
    "fi",
    "kill",
    "local",
    "mapfile",
    "mkdir",
    "mv",
    "popd",
    "pushd",
    "read",
    "readarray",
    "return",
    "rm",
    "set",
    "shift",
    "sleep",
    "test",
    "touch",
    "true",
    "unset",
    "wait",
    "}",
];

fn said(words: &[Word], budget: &Budget) -> Option<Said> {
    let (name, arguments) = unwrapped(words).split_first()?;
    let is_known = !arguments.iter().any(|word| word.is_dynamic);
    let has = |signs: &[&str]| {
        let mut texts = arguments.iter().map(|word| word.text.as_str());
        texts.any(|text| signs.iter().any(|sign| text.starts_with(sign)))
    };
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
        // Where a program is.
        "which" if is_known => Said::Text(joined(arguments), true),
        "command" | "type" if has(&["-v", "-p", "-P"]) => {
            is_known.then(|| Said::Text(joined(&arguments[1..]), true))?
        }
        "basename" if is_known => Said::Text(name_of(&arguments.first()?.text), true),
        "readlink" | "realpath" if is_known => Said::Text(arguments.last()?.text.clone(), false),
        "cat" | "tee" | "pv" => Said::Input(Made::Same),
        "head" | "tail" if !has(&["-c", "--bytes"]) => Said::Input(Made::Part),
        "grep" if !has(&["-o", "--only-matching"]) => Said::Input(Made::Part),
        "sort" | "uniq" | "envsubst" | "tac" => Said::Input(Made::Part),
        "tr" => Said::Input(Made::Translated),
        "sed" => Said::Input(Made::Edited),
        name if SILENT.contains(&name) => return None,
        name if DECODERS.contains(&name) => Said::Input(Made::Readable),
        name if is_interpreter(name) && has(&["-c", "-e", "-r", "BEGIN"]) => Said::OfCode,
        _ => Said::Input(Made::Other),
    })
}

/// A command without the programs that only run it.
fn unwrapped(words: &[Word]) -> &[Word] {
    const MOST: usize = 8;
    let mut command = command_of(words);
    for _ in 0..MOST {
        let Some((name, arguments)) = command.split_first() else {
            break;
        };
        let asks = arguments.first().is_some_and(|word| word.text == "-v");
        match Wrapper::named(&name_of(&name.text)) {
            Some(wrapper) if !asks => command = command_of(wrapper.behind(arguments)),
            _ => break,
        }
    }
    command
}

/// What `printf` writes, and whether that is known; none where it is too much.
pub fn printed(format: &str, values: &[Word], budget: &Budget) -> Option<(String, bool)> {
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
