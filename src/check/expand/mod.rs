//! What a shell makes of words before it runs them: variables that the same script sets, what `$(…)` writes as far as that
//! is plain to see, `{a,b}`; and what one command pipes into the next.

mod braces;
mod output;
mod scope;

use std::borrow::Cow;
use std::collections::HashMap;

pub use output::{Feed, Script, closes_block, openings};
pub use scope::{Scope, Sets, Value, Values};

use super::shell::{Mark, Word};
use braces::{Piece, braced, pieces_of};

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
        let all = variables.iter().fold(1_usize, |all, (_, values)| {
            all.saturating_mul(values.kept.len())
        });
        is_all &= all <= MOST_VERSIONS;
        let mut versions = Vec::new();
        for version in 0..all.min(MOST_VERSIONS) {
            let mut left = version;
            let mut choice = Choice::new();
            for (name, values) in &variables {
                let count = values.kept.len();
                choice.insert(name, &values.kept[left % count]);
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
            versions.push(self.open_version(script, words));
        }
        versions
    }

    /// The variables of words that hold something, and whether these are all of them.
    fn variables_of<'s>(&'s self, words: &'s [Word]) -> (Vec<(&'s str, &'s Values)>, bool) {
        let mut found: Vec<(&str, &Values)> = Vec::new();
        let mut is_all = true;
        for (_, mark) in words.iter().flat_map(|word| &word.marks) {
            if let Mark::Variable { name, .. } = mark
                && !found.iter().any(|(known, _)| known == name)
                && let Some(values) = self.values_of(name)
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
        (found, is_all)
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

    /// The words without what variables hold, where not all of that was looked at.
    fn open_version<'w>(&self, script: &Script<'_>, words: &'w [Word]) -> Version<'w> {
        let words = match self.version(script, words, Choice::new()) {
            Some(version) => version.words,
            None => Cow::Borrowed(words),
        };
        Version {
            words,
            is_sure: false,
            is_whole: false,
        }
    }
}

/// What words are read with.
struct Expansion<'s> {
    scope: &'s Scope,
    script: &'s Script<'s>,
    choice: Choice<'s>,
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
        for pieces in alternatives {
            for piece in pieces {
                match piece {
                    Piece::Text(text) => self.put_text(text, true, &mut made)?,
                    Piece::Brace(c) => made.push(c.encode_utf8(&mut [0; 4]), false),
                    Piece::Mark(mark, raw) => self.put(mark, raw, assigns, &mut made)?,
                }
            }
            made.end();
        }
        Some(made)
    }

    /// Puts in what stands for a mark.
    fn put(&self, mark: &Mark, raw: &str, assigns: bool, made: &mut Fields) -> Option<()> {
        match mark {
            Mark::Brace(_) => {}
            Mark::Variable {
                name,
                is_all,
                default,
                is_quoted,
                ..
            } => {
                let ifs = [" ".to_owned()];
                let known: Option<(&[String], bool)> =
                    match (self.choice.get(name.as_str()), default) {
                        (Some(value), _) => value
                            .fields
                            .as_ref()
                            .map(|fields| (&fields[..], value.is_sure)),
                        (None, Some(default)) => Some((std::slice::from_ref(default), false)),
                        (None, None) if name == "IFS" => Some((&ifs, true)),
                        (None, None) => None,
                    };
                let Some((fields, is_sure)) = known else {
                    made.push(raw, true);
                    return Some(());
                };
                made.is_sure &= is_sure;
                let count = if *is_all { fields.len() } else { 1 };
                for (index, field) in fields.iter().take(count).enumerate() {
                    if index > 0 && assigns {
                        made.push(" ", false);
                    } else if index > 0 {
                        made.end();
                    }
                    self.put_text(field, *is_quoted || assigns, made)?;
                }
            }
            Mark::Output { is_file: true, .. } => made.push("", true),
            Mark::Output {
                commands,
                is_quoted,
                ..
            } => match self.scope.output(self.script, commands.clone()) {
                Some(feed) => {
                    made.is_sure &= feed.is_sure && !feed.is_unread;
                    made.is_whole &= feed.is_whole;
                    let text = feed.text.trim_end_matches('\n');
                    self.put_text(text, *is_quoted || assigns, made)?;
                }
                None => made.push("", true),
            },
        }
        Some(())
    }

    /// Puts in a text, as one word or split where there is white space.
    fn put_text(&self, text: &str, is_quoted: bool, made: &mut Fields) -> Option<()> {
        if !self.script.budget.spend(FOR_A_WORD + text.len()) {
            return None;
        }
        if is_quoted {
            made.push(text, false);
        } else {
            made.split(text);
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
