//! What a shell makes of words before it runs them: variables that the same script sets, what `$(…)` writes as far as that
//! is plain to see, `{a,b}`; and what one command pipes into the next.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::invocation::{command_of, joined, name_of};
use super::shell::{Mark, Simple, Word, unescaped};

/// The most versions of one command that are looked at, where variables may hold several values.
const MOST_VERSIONS: usize = 64;
/// The most words that braces make of one.
const MOST_WORDS: usize = 256;
/// More braces in a word are not followed.
const MOST_BRACES: usize = 64;
/// So many commands of a pipe are followed backwards, and outputs within outputs.
const MOST_HOPS: usize = 12;

/// What a variable may hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// One text, or the elements of an array; none where only the run tells.
    pub fields: Option<Vec<String>>,
    /// Whether it holds this for certain.
    pub is_sure: bool,
    /// Whether a program that is started has it too.
    pub is_exported: bool,
}

/// What an assignment does with what a variable held before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sets {
    /// `name=`.
    Anew,
    /// `name+=text`.
    Longer,
    /// `name+=(…)`.
    More,
}

/// What a command reads.
#[derive(Debug, Clone)]
pub struct Feed {
    pub text: String,
    pub range: Range<usize>,
    /// Whether it is just this text.
    pub is_sure: bool,
    /// Whether the text was made unreadable before, and is made readable on its way.
    pub is_unread: bool,
}

/// What is set at a place of a script.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    values: HashMap<String, Vec<Value>>,
    /// What is set anywhere in the script: functions and loops run what stands above.
    later: HashMap<String, Vec<Value>>,
    aliases: HashMap<String, String>,
}

/// A piece of a word.
#[derive(Debug, Clone)]
enum Piece<'w> {
    Text(&'w str),
    Brace(char),
    Mark(&'w Mark, &'w str),
}

/// The words of a command as they may be when it runs, and whether they are that for certain.
pub type Version<'w> = (Cow<'w, [Word]>, bool);

/// Which of its values each variable has in a version of a command.
type Choice<'s> = HashMap<&'s str, &'s Value>;

/// Words as a shell makes them.
struct Fields {
    done: Vec<(String, bool)>,
    open: Option<(String, bool)>,
    is_sure: bool,
}

impl Fields {
    fn push(&mut self, text: &str, is_dynamic: bool) {
        let (open, dynamic) = self.open.get_or_insert_default();
        open.push_str(text);
        *dynamic |= is_dynamic;
    }

    fn end(&mut self) {
        self.done.extend(self.open.take());
    }

    /// A text that is split where there is white space.
    fn split(&mut self, text: &str) {
        if text.starts_with(char::is_whitespace) {
            self.end();
        }
        for (index, part) in text.split_whitespace().enumerate() {
            if index > 0 {
                self.end();
            }
            self.push(part, false);
        }
        if text.ends_with(char::is_whitespace) {
            self.end();
        }
    }
}

impl Scope {
    /// Looks at what a script sets below.
    pub fn look_ahead(&mut self, commands: &[Simple]) {
        let uses_any = commands
            .iter()
            .flat_map(|simple| &simple.words)
            .any(|word| {
                let mut marks = word.marks.iter();
                marks.any(|(_, mark)| matches!(mark, Mark::Variable { .. }))
            });
        if !uses_any {
            return;
        }
        let functions: HashSet<&str> = commands
            .iter()
            .filter_map(|simple| match command_of(&simple.words) {
                [] => simple.words.get(1),
                [name, ..] if simple.is_function => Some(name),
                _ if simple.words[0].text == "function" => simple.words.get(1),
                _ => None,
            })
            .map(|word| word.text.as_str())
            .collect();
        let unsure = |fields: Vec<String>| Value {
            fields: Some(fields),
            is_sure: false,
            is_exported: false,
        };
        for simple in commands {
            let persists = match command_of(&simple.words) {
                [] => true,
                [first, ..] => is_declaration(first),
            };
            for word in simple.words.iter().filter(|_| persists) {
                if let Some((name, value)) = word.text.split_once('=')
                    && word.marks.is_empty()
                    && word.elements.is_none()
                {
                    let values = self.later.entry(name.to_owned()).or_default();
                    values.push(unsure(vec![value.to_owned()]));
                }
            }
            if let [name, arguments @ ..] = command_of(&simple.words)
                && !simple.is_function
                && functions.contains(name.text.as_str())
            {
                let texts = arguments.iter().map(|word| word.text.clone()).collect();
                let values = self.later.entry("@".to_owned()).or_default();
                values.push(unsure(texts));
            }
        }
    }

    /// How much there is to copy.
    pub fn len(&self) -> usize {
        self.values.len() + self.later.len() + self.aliases.len()
    }

    pub fn get(&self, name: &str) -> Option<&[Value]> {
        self.values.get(name).map(Vec::as_slice)
    }

    /// Sets a variable. Where it may not have come to that, what it held before counts too.
    pub fn set(&mut self, name: &str, value: Value, how: Sets, is_certain: bool) {
        let mut value = value;
        let before = self.values.entry(name.to_owned()).or_default();
        if how != Sets::Anew
            && let Some(Value {
                fields: Some(before),
                is_sure,
                ..
            }) = before.last()
            && let Some(fields) = &mut value.fields
        {
            value.is_sure &= is_sure;
            *fields = match (&before[..], &fields[..]) {
                ([first, rest @ ..], [added]) if how == Sets::Longer => {
                    [&[format!("{first}{added}")], rest].concat()
                }
                (before, added) => [before, added].concat(),
            };
        }
        if is_certain {
            before.clear();
        } else if !before.is_empty() {
            value.is_sure = false;
            before.iter_mut().for_each(|value| value.is_sure = false);
        }
        before.push(value);
        if before.len() > MOST_VERSIONS {
            before.remove(0);
        }
    }

    /// What a loop sets one after the other.
    pub fn set_all(&mut self, name: &str, values: &[Word], is_sure: bool) {
        let values = values.iter().map(|word| Value {
            fields: (!word.is_dynamic).then(|| vec![word.text.clone()]),
            is_sure,
            is_exported: false,
        });
        let mut kept: Vec<Value> = Vec::new();
        for value in values {
            if !kept.contains(&value) {
                kept.push(value);
            }
        }
        self.values.insert(name.to_owned(), kept);
    }

    /// What `$1`, `$@` and their like stand for.
    pub fn set_arguments(&mut self, words: &[Word], is_sure: bool) {
        let fields: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
        let value = |fields: Vec<String>| Value {
            fields: Some(fields),
            is_sure,
            is_exported: false,
        };
        for (index, field) in fields.iter().take(9).enumerate() {
            self.set(
                (index + 1).to_string().as_str(),
                value(vec![field.clone()]),
                Sets::Anew,
                true,
            );
        }
        self.set("@", value(fields), Sets::Anew, true);
    }

    pub fn restore(&mut self, name: &str, values: Option<Vec<Value>>) {
        match values {
            Some(values) => self.values.insert(name.to_owned(), values),
            None => self.values.remove(name),
        };
    }

    pub fn export(&mut self, name: &str) {
        for value in self.values.get_mut(name).into_iter().flatten() {
            value.is_exported = true;
        }
    }

    /// What a shell that is started has of it.
    pub fn child(&self) -> Self {
        let mut child = self.clone();
        for value in child.values.values_mut().flatten() {
            value.is_sure &= value.is_exported;
        }
        child.aliases.clear();
        for name in ["@", "1", "2", "3", "4", "5", "6", "7", "8", "9"] {
            child.values.remove(name);
        }
        child
    }

    pub fn alias(&self, name: &str) -> Option<String> {
        self.aliases.get(name).cloned()
    }

    pub fn set_alias(&mut self, name: &str, value: &str) {
        self.aliases.insert(name.to_owned(), value.to_owned());
    }

    pub fn forget_alias(&mut self, name: &str) {
        self.aliases.remove(name);
    }

    /// The elements of an array.
    pub fn elements(&self, commands: &[Simple], of: Range<usize>) -> Vec<String> {
        let mut fields = Vec::new();
        for simple in commands.get(of).unwrap_or_default() {
            if simple.is_data {
                let (versions, _) = self.versions(commands, &simple.words);
                if let Some((words, _)) = versions.into_iter().next() {
                    fields.extend(words.iter().map(|word| word.text.clone()));
                }
            }
        }
        fields
    }

    fn values_of(&self, name: &str) -> &[Value] {
        let name = if name == "*" { "@" } else { name };
        match self.values.get(name).or_else(|| self.later.get(name)) {
            Some(values) => &values[..values.len().min(MOST_VERSIONS)],
            None => &[],
        }
    }

    /// The words of a command as they may be when it runs, each with whether they are that for certain; and whether these
    /// are all.
    pub fn versions<'w>(&self, commands: &[Simple], words: &'w [Word]) -> (Vec<Version<'w>>, bool) {
        self.versions_within(commands, words, MOST_HOPS)
    }

    fn versions_within<'w>(
        &self,
        commands: &[Simple],
        words: &'w [Word],
        hops: usize,
    ) -> (Vec<Version<'w>>, bool) {
        if words.iter().all(|word| word.marks.is_empty()) {
            return (vec![(Cow::Borrowed(words), true)], true);
        }
        let mut names: Vec<&str> = Vec::new();
        for (_, mark) in words.iter().flat_map(|word| &word.marks) {
            if let Mark::Variable { name, .. } = mark
                && !names.contains(&name.as_str())
                && !self.values_of(name).is_empty()
                && names.len() < MOST_BRACES
            {
                names.push(name);
            }
        }
        let counts: Vec<usize> = names
            .iter()
            .map(|name| self.values_of(name).len())
            .collect();
        let all = counts
            .iter()
            .fold(1_usize, |all, count| all.saturating_mul(*count));
        let mut is_all = all <= MOST_VERSIONS;
        let mut versions = Vec::new();
        for version in 0..all.min(MOST_VERSIONS) {
            let mut left = version;
            let mut choice = Choice::new();
            for (name, count) in names.iter().zip(&counts) {
                choice.insert(name, &self.values_of(name)[left % count]);
                left /= count;
            }
            let mut made = Vec::new();
            let mut is_sure = true;
            for word in words {
                let (fields, is_whole) = self.expand(commands, word, &choice, hops);
                is_all &= is_whole;
                is_sure &= fields.is_sure;
                made.extend(fields.done.into_iter().map(|(text, is_dynamic)| Word {
                    text,
                    is_dynamic,
                    range: word.range.clone(),
                    marks: files(word),
                    elements: word.elements.clone(),
                }));
            }
            versions.push((Cow::Owned(made), is_sure));
        }
        (versions, is_all)
    }

    /// The words that a shell makes of one, and whether it was followed to its end.
    fn expand(
        &self,
        commands: &[Simple],
        word: &Word,
        choice: &Choice<'_>,
        hops: usize,
    ) -> (Fields, bool) {
        let mut made = Fields {
            done: Vec::new(),
            open: None,
            is_sure: true,
        };
        if word.marks.is_empty() {
            made.push(&word.text, word.is_dynamic);
            made.end();
            return (made, true);
        }
        let assigns = word.text.split_once('=').is_some_and(|(name, _)| {
            let name = name.trim_end_matches('+');
            !name.is_empty()
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
        let pieces = pieces_of(word);
        let (alternatives, is_whole) = if assigns {
            (vec![pieces], true)
        } else {
            braced(pieces)
        };
        for pieces in alternatives {
            for piece in pieces {
                match piece {
                    Piece::Text(text) => made.push(text, false),
                    Piece::Brace(c) => made.push(c.encode_utf8(&mut [0; 4]), false),
                    Piece::Mark(mark, raw) => {
                        self.put(commands, mark, raw, assigns, choice, hops, &mut made);
                    }
                }
            }
            made.end();
        }
        (made, is_whole)
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "what a word is read with, in one place"
    )]
    fn put(
        &self,
        commands: &[Simple],
        mark: &Mark,
        raw: &str,
        assigns: bool,
        choice: &Choice<'_>,
        hops: usize,
        made: &mut Fields,
    ) {
        match mark {
            Mark::Brace(_) => {}
            Mark::Variable {
                name,
                is_all,
                default,
                is_quoted,
                ..
            } => {
                let is_quoted = *is_quoted || assigns;
                let ifs = [" ".to_owned()];
                let (fields, is_sure): (&[String], bool) =
                    match (choice.get(name.as_str()), default) {
                        (Some(value), _) => match &value.fields {
                            Some(fields) => (fields, value.is_sure),
                            None => return made.push(raw, true),
                        },
                        (None, Some(default)) => (std::slice::from_ref(default), false),
                        (None, None) if name == "IFS" => (&ifs, true),
                        (None, None) => return made.push(raw, true),
                    };
                made.is_sure &= is_sure;
                let fields = if *is_all {
                    fields
                } else {
                    &fields[..fields.len().min(1)]
                };
                for (index, field) in fields.iter().enumerate() {
                    if index > 0 && assigns {
                        made.push(" ", false);
                    } else if index > 0 {
                        made.end();
                    }
                    if is_quoted {
                        made.push(field, false);
                    } else {
                        made.split(field);
                    }
                }
            }
            Mark::Output { is_file: true, .. } => made.push("", true),
            Mark::Output {
                commands: of,
                is_quoted,
                ..
            } => match self.output_within(commands, of.clone(), hops) {
                Some(feed) => {
                    made.is_sure &= feed.is_sure && !feed.is_unread;
                    let text = feed.text.trim_end_matches('\n');
                    if *is_quoted || assigns {
                        made.push(text, false);
                    } else {
                        made.split(text);
                    }
                }
                None => made.push("", true),
            },
        }
    }

    /// What a command reads: a here-document, or what is piped into it.
    pub fn feed_of(&self, commands: &[Simple], index: usize) -> Option<Feed> {
        self.feed_within(commands, index, MOST_HOPS)
    }

    fn feed_within(&self, commands: &[Simple], index: usize, hops: usize) -> Option<Feed> {
        let simple = &commands[index];
        match &simple.input {
            Some(input) => {
                let (versions, _) = self.versions_within(
                    commands,
                    std::slice::from_ref(&**input),
                    hops.checked_sub(1)?,
                );
                let (words, is_sure) = versions.into_iter().next()?;
                Some(Feed {
                    text: joined(&words),
                    range: input.range.clone(),
                    is_sure,
                    is_unread: false,
                })
            }
            None => self.output_within(commands, simple.piped_from.clone(), hops),
        }
    }

    /// What commands write, as far as it is plain to see.
    pub fn output(&self, commands: &[Simple], of: Range<usize>) -> Option<Feed> {
        self.output_within(commands, of, MOST_HOPS)
    }

    fn output_within(&self, commands: &[Simple], of: Range<usize>, hops: usize) -> Option<Feed> {
        let hops = hops.checked_sub(1)?;
        let mut of = of;
        // `{ a; b; } | c`: what is piped is all between the braces.
        if let Some(last) = of.end.checked_sub(1)
            && of.len() == 1
            && commands[last].words[0].text == "}"
        {
            let mut begin = last;
            while begin > 0 && commands[begin].words[0].text != "{" {
                begin -= 1;
            }
            of = begin..last;
        }
        let depth = commands
            .get(of.clone())?
            .iter()
            .map(|simple| simple.depth)
            .min()?;
        let mut all: Option<Feed> = None;
        for index in of {
            let simple = &commands[index];
            if simple.is_data || simple.depth > depth {
                continue;
            }
            let Some(feed) = self.written_by(commands, index, hops) else {
                continue;
            };
            all = Some(match all {
                None => feed,
                Some(mut before) => {
                    before.text.push('\n');
                    before.text.push_str(&feed.text);
                    before.range.end = before.range.end.max(feed.range.end);
                    before.is_sure &= feed.is_sure;
                    before.is_unread |= feed.is_unread;
                    before
                }
            });
        }
        all
    }

    fn written_by(&self, commands: &[Simple], index: usize, hops: usize) -> Option<Feed> {
        let simple = &commands[index];
        let (versions, _) = self.versions_within(commands, &simple.words, hops);
        let is_only = versions.len() == 1;
        let (words, is_sure) = versions.into_iter().next()?;
        let (name, arguments) = command_of(&words).split_first()?;
        let said = |text: String, is_known: bool| {
            let is_dynamic = arguments.iter().any(|word| word.is_dynamic);
            Feed {
                text,
                range: simple.range.clone(),
                is_sure: is_sure && is_only && is_known && !is_dynamic,
                is_unread: false,
            }
        };
        let passed = |is_sure: bool, is_unread: bool| {
            let feed = self.feed_within(commands, index, hops)?;
            Some(Feed {
                is_sure: feed.is_sure && is_sure,
                is_unread: feed.is_unread || is_unread,
                ..feed
            })
        };
        match name_of(name).as_str() {
            "echo" => {
                let options = arguments.iter().take_while(|word| {
                    let flags = word.text.strip_prefix('-');
                    flags.is_some_and(|flags| {
                        !flags.is_empty() && flags.bytes().all(|byte| b"neE".contains(&byte))
                    })
                });
                let text = joined(&arguments[options.count()..]);
                Some(said(unescaped(&text), true))
            }
            "printf" => {
                let (format, values) = match arguments {
                    [first, format, values @ ..] if first.text == "--" => (format, values),
                    [format, values @ ..] => (format, values),
                    [] => return None,
                };
                let (text, is_known) = printed(&format.text, values);
                Some(said(text, is_known))
            }
            "yes" => Some(said(joined(arguments), true)),
            "cat" | "tee" | "pv" => passed(true, false),
            "base64" | "base32" | "xxd" | "openssl" | "rev" | "tr" | "gunzip" | "zcat" | "gzip"
            | "uudecode" | "sed" | "awk" | "perl" | "python" | "python3" => passed(false, true),
            "head" | "tail" | "sort" | "uniq" | "grep" | "envsubst" | "cut" | "tac" | "sudo" => {
                passed(false, false)
            }
            _ => None,
        }
    }
}

/// What `printf` writes, and whether that is known.
fn printed(format: &str, values: &[Word]) -> (String, bool) {
    let format = unescaped(format);
    let mut text = String::new();
    let mut values = values.iter().peekable();
    let mut is_known = true;
    loop {
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
            return (text, is_known);
        }
    }
}

/// Whether a command only says what variables hold.
pub fn is_declaration(name: &Word) -> bool {
    matches!(
        name.text.as_str(),
        "export" | "declare" | "local" | "readonly" | "typeset"
    )
}

/// The marks of files that commands write.
fn files(word: &Word) -> Vec<(usize, Mark)> {
    let is_file = |mark: &Mark| matches!(mark, Mark::Output { is_file: true, .. });
    word.marks
        .iter()
        .filter(|(_, mark)| is_file(mark))
        .cloned()
        .collect()
}

fn pieces_of(word: &Word) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut at = 0;
    for (start, mark) in &word.marks {
        if *start > at {
            pieces.push(Piece::Text(&word.text[at..*start]));
        }
        let length = match mark {
            Mark::Brace(_) => 1,
            Mark::Variable { length, .. } => *length,
            Mark::Output { .. } => 0,
        };
        at = start + length;
        pieces.push(match mark {
            Mark::Brace(c) => Piece::Brace(*c),
            other => Piece::Mark(other, &word.text[*start..at]),
        });
    }
    if at < word.text.len() {
        pieces.push(Piece::Text(&word.text[at..]));
    }
    pieces
}

/// The words that `{a,b}` makes, and whether these are all.
fn braced(pieces: Vec<Piece<'_>>) -> (Vec<Vec<Piece<'_>>>, bool) {
    let is_brace = |piece: &Piece<'_>| matches!(piece, Piece::Brace(_));
    let braces = pieces.iter().filter(|piece| is_brace(piece)).count();
    if braces == 0 {
        return (vec![pieces], true);
    }
    if braces > MOST_BRACES {
        return (vec![pieces], false);
    }
    let mut done = Vec::new();
    let mut waiting = vec![(pieces, 0)];
    let mut is_all = true;
    while let Some((word, from)) = waiting.pop() {
        let open = word[from..]
            .iter()
            .position(|piece| matches!(piece, Piece::Brace('{')));
        let Some(open) = open.map(|open| from + open) else {
            done.push(word);
            continue;
        };
        let mut depth = 0;
        let mut cuts = Vec::new();
        let mut close = None;
        for (index, piece) in word.iter().enumerate().skip(open) {
            match piece {
                Piece::Brace('{') => depth += 1,
                Piece::Brace(',') if depth == 1 => cuts.push(index),
                Piece::Brace('}') => {
                    depth -= 1;
                    if depth == 0 {
                        close = Some(index);
                        break;
                    }
                }
                _ => {}
            }
        }
        match close {
            Some(close) if !cuts.is_empty() => {
                if done.len() + waiting.len() + cuts.len() > MOST_WORDS {
                    is_all = false;
                    done.push(word);
                    continue;
                }
                cuts.push(close);
                let mut made = Vec::new();
                let mut start = open + 1;
                for cut in cuts {
                    let parts = [&word[..open], &word[start..cut], &word[close + 1..]];
                    made.push((parts.concat(), open));
                    start = cut + 1;
                }
                // In the order in which they are written.
                waiting.extend(made.into_iter().rev());
            }
            _ => waiting.push((word, open + 1)),
        }
    }
    (done, is_all)
}
