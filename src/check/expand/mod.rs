//! What a shell makes of words before it runs them: variables that the same script sets, what `$(…)` writes as far as that
//! is plain to see, `{a,b}`; and what one command pipes into the next.

mod braces;
mod change;
mod follow;
mod glob;
mod output;
mod scope;

use std::borrow::Cow;
use std::collections::HashMap;

pub use glob::{is_pattern, matches};
pub use output::{Feed, Hides, Script, closes_block, openings, printed};
pub use scope::{Field, Function, Scope, Sets, Value, Values};

use super::invocation::may_begin;
use super::shell::{Change, Elements, Mark, Variable, Word};
use braces::{Piece, braced, pieces_of};
use change::{changed, part_of};

/// Stands before a text that a program makes readable, so that it may be any. No text holds this sign.
pub const UNREAD: char = '\u{FDD0}';
/// Stands before a text of which a program makes another one: where it is run, it may be any.
pub const UNREAD_CODE: char = '\u{FDD1}';

/// The most versions of one command that are looked at, where variables may hold several values.
const MOST_VERSIONS: usize = 64;
/// More variables of one command are not followed.
const MOST_VARIABLES: usize = 64;
/// What a word takes besides its text.
const FOR_A_WORD: usize = 8;

/// The words of a command as they may be when it runs.
#[derive(Debug)]
pub struct Version<'w> {
    pub words: Cow<'w, [Word]>,
    /// Whether they are that for certain.
    pub is_sure: bool,
    /// Whether nothing was left out of them.
    pub is_whole: bool,
}

/// Which of its values each variable has in a version of a command.
type Choice<'s> = HashMap<&'s str, &'s Value>;

/// Words as a shell makes them.
struct Fields {
    done: Vec<(String, bool)>,
    open: Option<(String, bool)>,
    is_sure: bool,
    is_whole: bool,
}

impl Fields {
    fn new() -> Self {
        Fields {
            done: Vec::new(),
            open: None,
            is_sure: true,
            is_whole: true,
        }
    }

    fn push(&mut self, text: &str, is_dynamic: bool) {
        let (open, dynamic) = self.open.get_or_insert_default();
        open.push_str(text);
        *dynamic |= is_dynamic;
    }

    fn has_begun(&self) -> bool {
        self.open.as_ref().is_some_and(|(open, _)| !open.is_empty())
    }

    fn end(&mut self) {
        self.done.extend(self.open.take());
    }

    /// A text that is split where such signs are.
    fn split(&mut self, text: &str, is_dynamic: bool, separates: impl Fn(char) -> bool + Copy) {
        if text.starts_with(separates) {
            self.end();
        }
        let parts = text.split(separates).filter(|part| !part.is_empty());
        for (index, part) in parts.enumerate() {
            if index > 0 {
                self.end();
            }
            self.push(part, is_dynamic);
        }
        if text.ends_with(separates) {
            self.end();
        }
    }
}

impl Scope {
    /// The words of a command as they may be when it runs. Where these are not all, the last version leaves open what
    /// variables hold.
    pub fn versions<'w>(&self, script: &Script<'_>, words: &'w [Word]) -> Vec<Version<'w>> {
        if words.iter().all(|word| word.marks.is_empty()) {
            return vec![Version {
                words: Cow::Borrowed(words),
                is_sure: true,
                is_whole: true,
            }];
        }
        let (variables, mut is_all) = self.variables_of(words);
        let mut variables: Vec<(&str, Vec<&Value>)> = variables
            .into_iter()
            .map(|(name, values)| (name, values.kept.iter().collect()))
            .collect();
        let count = |variables: &[(&str, Vec<&Value>)]| {
            let counts = variables.iter().map(|(_, values)| values.len());
            counts.fold(1_usize, usize::saturating_mul)
        };
        if count(&variables) > MOST_VERSIONS {
            variables
                .iter_mut()
                .for_each(|(_, values)| values.retain(tells_first()));
        }
        let all = count(&variables);
        is_all &= all <= MOST_VERSIONS;
        let mut versions = Vec::new();
        for version in 0..all.min(MOST_VERSIONS) {
            let mut left = version;
            let mut choice = Choice::new();
            for (name, values) in &variables {
                let count = values.len();
                choice.insert(name, values[left % count]);
                left /= count;
            }
            match self.version(script, words, choice) {
                Some(made) => versions.push(made),
                None => {
                    is_all = false;
                    break;
                }
            }
        }
        if !is_all {
            versions.push(self.open_version(script, words, false));
        }
        versions
    }

    /// The words without what variables hold: what is sure of them is so whatever that is.
    pub fn open<'w>(&self, script: &Script<'_>, words: &'w [Word]) -> Version<'w> {
        self.open_version(script, words, true)
    }

    /// The variables of words that hold something, and whether these are all of them.
    fn variables_of<'s>(&'s self, words: &'s [Word]) -> (Vec<(&'s str, &'s Values)>, bool) {
        let mut found: Vec<(&str, &Values)> = Vec::new();
        let mut is_all = true;
        let mut waiting: Vec<&Word> = words.iter().rev().collect();
        while let Some(word) = waiting.pop() {
            for (_, mark) in &word.marks {
                let Mark::Variable(variable) = mark else {
                    continue;
                };
                let inner = variable.change.as_deref().and_then(Change::word);
                waiting.extend(inner);
                let name = scope::holder_of(&variable.name);
                if let Some(values) = self.values_of(name)
                    && !found.iter().any(|(known, _)| *known == name)
                {
                    is_all &= values.is_all;
                    if found.len() == MOST_VARIABLES {
                        return (found, false);
                    }
                    if !values.kept.is_empty() {
                        found.push((name, values));
                    }
                }
            }
        }
        (found, is_all)
    }

    /// What the words of a command set that holds nothing: `${name:=word}`.
    pub fn defaults(&self, script: &Script<'_>, words: &[Word]) -> Vec<(String, String)> {
        let marks = words.iter().flat_map(|word| &word.marks);
        let set = marks.filter_map(|(_, mark)| match mark {
            Mark::Variable(Variable { name, change, .. }) => match change.as_deref()? {
                Change::Default { word, sets: true } => Some((name, word)),
                _ => None,
            },
            _ => None,
        });
        let empty = set.filter(|(name, _)| !self.holds_something(name));
        let texts = empty.map(|(name, word)| {
            let versions = self.versions(script, std::slice::from_ref(word));
            let texts = versions.first().map(|version| version.words.iter());
            let texts: Vec<&str> = texts
                .into_iter()
                .flatten()
                .map(|word| &*word.text)
                .collect();
            (name.clone(), texts.join(" "))
        });
        texts.collect()
    }

    /// The words with one value for each variable; none where that is too much to follow.
    fn version(
        &self,
        script: &Script<'_>,
        words: &[Word],
        choice: Choice<'_>,
    ) -> Option<Version<'static>> {
        let expansion = Expansion {
            scope: self,
            script,
            choice,
            separators: self.separators(),
        };
        let mut made = Vec::new();
        let mut is_sure = true;
        let mut is_whole = true;
        for word in words {
            if !script.budget.spend(FOR_A_WORD + word.text.len()) {
                return None;
            }
            let fields = expansion.fields(word)?;
            is_sure &= fields.is_sure;
            is_whole &= fields.is_whole;
            made.extend(fields.done.into_iter().map(|(text, is_dynamic)| Word {
                text,
                is_dynamic,
                range: word.range.clone(),
                marks: Vec::new(),
                elements: word.elements.clone(),
            }));
            if let Some(last) = made.last_mut() {
                last.marks.extend(files(word));
            }
        }
        Some(Version {
            words: Cow::Owned(made),
            is_sure,
            is_whole,
        })
    }

    /// The words without what variables hold, and whether nothing is lost by that.
    fn open_version<'w>(
        &self,
        script: &Script<'_>,
        words: &'w [Word],
        is_enough: bool,
    ) -> Version<'w> {
        match self.version(script, words, Choice::new()) {
            Some(version) => Version {
                is_sure: is_enough && version.is_sure,
                is_whole: is_enough && version.is_whole,
                ..version
            },
            None => Version {
                words: Cow::Borrowed(words),
                is_sure: false,
                is_whole: false,
            },
        }
    }
}

/// Of many values keeps those that may make another command of words, and one that stands for all others.
fn tells_first() -> impl FnMut(&&Value) -> bool {
    let (mut has_plain, mut has_unknown) = (false, false);
    move |value| match &value.fields {
        Some(fields) if fields.iter().any(|field| tells(&field.text)) => true,
        Some(_) => !std::mem::replace(&mut has_plain, true),
        None => !std::mem::replace(&mut has_unknown, true),
    }
}

/// Whether a text may be a program, an option, or a part of one.
pub fn tells(text: &str) -> bool {
    const LONGEST_PART: usize = 3;
    let mut words = text.split_whitespace();
    words.clone().any(word_tells) || text.len() <= LONGEST_PART && words.next().is_some()
}

fn word_tells(word: &str) -> bool {
    const OPTIONS: [&str; 3] = ["force", "mirror", "recursive"];
    let is_option = match (word.strip_prefix("--"), word.strip_prefix('-')) {
        (Some(name), _) => OPTIONS
            .iter()
            .any(|option| option.starts_with(name) || name.starts_with(option)),
        (None, Some(flags)) => {
            flags.is_empty() || flags.contains(['c', 'e', 'f', 'i', 'o', 'r', 's', 'x', 'I', 'R'])
        }
        (None, None) => word.starts_with(['+', UNREAD, UNREAD_CODE]),
    };
    is_option || word.contains("push") || may_begin(word)
}

/// What words are read with.
struct Expansion<'s> {
    scope: &'s Scope,
    script: &'s Script<'s>,
    choice: Choice<'s>,
    /// What splits words besides white space, or in its place.
    separators: Option<String>,
}

/// What a variable holds in a version of a command.
struct Held<'s> {
    fields: Cow<'s, [Field]>,
    is_sure: bool,
    is_whole: bool,
}

/// How a word is made.
#[derive(Clone, Copy)]
struct Manner {
    /// Whether it is assigned to a variable.
    assigns: bool,
    is_quoted: bool,
}

impl Manner {
    fn quoted(self, is_quoted: bool) -> Self {
        Manner {
            is_quoted: self.is_quoted || is_quoted,
            ..self
        }
    }

    /// Whether what is put in stays one word.
    fn is_one(self) -> bool {
        self.assigns || self.is_quoted
    }
}

impl Held<'_> {
    fn is_nothing(&self) -> bool {
        self.fields
            .iter()
            .all(|field| field.text.is_empty() && !field.is_dynamic)
    }
}

impl Expansion<'_> {
    /// The words that a shell makes of one; none where that is too much to follow.
    fn fields(&self, word: &Word) -> Option<Fields> {
        let mut made = Fields::new();
        if word.marks.is_empty() {
            made.push(&word.text, word.is_dynamic);
            made.end();
            return Some(made);
        }
        let assigns = is_assignment(&word.text);
        let pieces = pieces_of(word);
        let (alternatives, is_all) = if assigns {
            (vec![pieces], true)
        } else {
            braced(pieces, self.script.budget)
        };
        made.is_whole = is_all;
        let manner = Manner {
            assigns,
            is_quoted: false,
        };
        let plain = manner.quoted(true);
        for pieces in alternatives {
            for piece in pieces {
                match piece {
                    Piece::Text(text) => self.put_text(text, false, plain, &mut made)?,
                    Piece::Brace(c) => made.push(c.encode_utf8(&mut [0; 4]), false),
                    Piece::Mark(mark, raw) => self.put(mark, raw, manner, &mut made)?,
                }
            }
            made.end();
        }
        Some(made)
    }

    /// Puts in what stands for a mark.
    fn put(&self, mark: &Mark, raw: &str, manner: Manner, made: &mut Fields) -> Option<()> {
        match mark {
            Mark::Brace(_) => {}
            Mark::Variable(variable) => self.put_variable(variable, raw, manner, made)?,
            Mark::Output { is_file: true, .. } => made.push("", true),
            Mark::Output {
                commands,
                is_quoted,
                ..
            } => match self.scope.output(self.script, commands.clone()) {
                Some(feed) => self.put_output(&feed, manner.quoted(*is_quoted), made)?,
                None => made.push("", true),
            },
        }
        Some(())
    }

    /// Puts in what commands write.
    fn put_output(&self, feed: &Feed, manner: Manner, made: &mut Fields) -> Option<()> {
        made.is_sure &= feed.is_sure && !feed.is_unread;
        made.is_whole &= feed.is_whole;
        let is_dynamic = feed.hides != Hides::Nothing && !feed.is_known;
        self.put_text(&feed.marked(), is_dynamic, manner, made)
    }

    /// Puts in what a variable stands for.
    fn put_variable(
        &self,
        variable: &Variable,
        raw: &str,
        manner: Manner,
        made: &mut Fields,
    ) -> Option<()> {
        let held = self.held(variable);
        let manner = manner.quoted(variable.is_quoted);
        match (variable.change.as_deref(), held) {
            (Some(Change::Default { word, .. }), held)
                if held.as_ref().is_none_or(Held::is_nothing) =>
            {
                made.is_sure &= held.is_some_and(|held| held.is_sure);
                self.put_word(word, manner, made)
            }
            (Some(Change::Instead(_)), Some(held)) if held.is_nothing() => Some(()),
            (Some(Change::Instead(word)), held) => {
                made.is_sure &= held.is_some_and(|held| held.is_sure);
                self.put_word(word, manner, made)
            }
            (_, None) => {
                made.push(raw, true);
                Some(())
            }
            (Some(Change::Sign(sign, operand)), Some(held)) => {
                let held = self.changed(held, variable, sign, operand);
                self.put_fields(&held, variable.elements, manner, made)
            }
            (_, Some(held)) => self.put_fields(&held, variable.elements, manner, made),
        }
    }

    /// Puts in what stands behind a sign in `${…}`.
    fn put_word(&self, word: &Word, manner: Manner, made: &mut Fields) -> Option<()> {
        if manner.is_one() {
            made.push("", false);
        }
        for piece in pieces_of(word) {
            match piece {
                Piece::Text(text) => self.put_text(text, false, manner, made)?,
                Piece::Brace(c) => made.push(c.encode_utf8(&mut [0; 4]), false),
                Piece::Mark(mark, raw) => self.put(mark, raw, manner, made)?,
            }
        }
        Some(())
    }

    fn put_fields(
        &self,
        held: &Held<'_>,
        elements: Elements,
        manner: Manner,
        made: &mut Fields,
    ) -> Option<()> {
        made.is_sure &= held.is_sure;
        made.is_whole &= held.is_whole;
        if manner.is_one() && elements != Elements::All {
            made.push("", false);
        }
        for (index, field) in held.fields.iter().enumerate() {
            if index > 0 && manner.assigns {
                made.push(" ", false);
            } else if index > 0 {
                made.end();
            }
            self.put_text(&field.text, field.is_dynamic, manner, made)?;
        }
        Some(())
    }

    /// What a variable holds; none where only the run tells.
    fn held(&self, variable: &Variable) -> Option<Held<'_>> {
        let held = self.fields_of(&variable.name, variable.elements)?;
        if !variable.is_name {
            return Some(held);
        }
        let [name] = &*held.fields else {
            return None;
        };
        let values = self.scope.values_of(scope::holder_of(&name.text))?;
        let value = values.kept.last()?;
        Some(Held {
            fields: Cow::Borrowed(value.fields.as_deref()?),
            is_sure: held.is_sure && value.is_sure && values.kept.len() == 1,
            is_whole: values.is_all,
        })
    }

    fn fields_of(&self, name: &str, elements: Elements) -> Option<Held<'_>> {
        let Some(value) = self.choice.get(scope::holder_of(name)) else {
            // What a shell begins with.
            let space = vec![Field::of(" ")];
            return (name == "IFS").then_some(Held {
                fields: Cow::Owned(space),
                is_sure: true,
                is_whole: true,
            });
        };
        let fields = value.fields.as_deref()?;
        let one = |index: usize| fields.get(index..index + 1).unwrap_or_default();
        let number: Option<usize> = name.parse().ok().filter(|number| *number > 0);
        let fields = match (number, elements) {
            (Some(number), _) => Cow::Borrowed(one(number - 1)),
            _ if name == "#" => Cow::Owned(vec![Field::of(&fields.len().to_string())]),
            (None, Elements::One(index)) => Cow::Borrowed(one(index)),
            (None, Elements::All | Elements::Any) => Cow::Borrowed(fields),
        };
        Some(Held {
            fields,
            is_sure: value.is_sure && elements != Elements::Any,
            is_whole: true,
        })
    }

    /// What a sign makes of what a variable holds. What is not followed may be what it was.
    fn changed<'h>(
        &self,
        held: Held<'h>,
        variable: &Variable,
        sign: &str,
        operand: &str,
    ) -> Held<'h> {
        if variable.elements == Elements::All && sign == ":" {
            let mut fields = held.fields.to_vec();
            if matches!(variable.name.as_str(), "@" | "*") {
                // Arguments are counted from 1; 0 is the name of the program.
                fields.insert(0, Field::default());
            }
            return match part_of(&fields, operand) {
                Some(part) => Held {
                    fields: Cow::Owned(part.to_vec()),
                    ..held
                },
                None => Held {
                    is_sure: false,
                    ..held
                },
            };
        }
        let mut is_sure = held.is_sure;
        let fields = held.fields.iter().map(|field| {
            let made = (!field.is_dynamic).then(|| {
                changed(&field.text, sign, operand, self.script.budget).map(|text| Field::of(&text))
            });
            is_sure &= matches!(made, Some(Some(_)));
            made.flatten().unwrap_or_else(|| field.clone())
        });
        let fields = fields.collect();
        Held {
            fields: Cow::Owned(fields),
            is_sure,
            is_whole: held.is_whole,
        }
    }

    /// Puts in a text, as one word or split where there is white space.
    fn put_text(
        &self,
        text: &str,
        is_dynamic: bool,
        manner: Manner,
        made: &mut Fields,
    ) -> Option<()> {
        if !self.script.budget.spend(FOR_A_WORD + text.len()) {
            return None;
        }
        // What stands behind the beginning of a word, and stays there, makes no other word of it.
        let is_inner = manner.is_one() && made.has_begun();
        if text.starts_with(UNREAD) && !is_inner {
            made.is_whole = false;
        }
        match &self.separators {
            _ if manner.is_one() => made.push(text, is_dynamic),
            Some(signs) => made.split(text, is_dynamic, |c| signs.contains(c)),
            None => made.split(text, is_dynamic, char::is_whitespace),
        }
        Some(())
    }
}

fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        let name = name.trim_end_matches('+');
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
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
