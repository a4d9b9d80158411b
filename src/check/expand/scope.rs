//! What a script has set at a place: its variables with all that they may hold, and its aliases.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use super::output::Script;
use super::{MOST_VERSIONS, UNREAD, UNREAD_CODE, is_declaration};
use crate::check::budget::Budget;
use crate::check::invocation::command_of;
use crate::check::shell::{Mark, Simple, Word};

/// A text that a variable holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Field {
    pub text: String,
    /// Whether its value is known only when it runs.
    pub is_dynamic: bool,
}

impl Field {
    /// A text that is known.
    pub fn of(text: &str) -> Self {
        Field {
            text: text.to_owned(),
            is_dynamic: false,
        }
    }

    /// The texts of words.
    pub fn all_of(words: &[Word]) -> Vec<Self> {
        let fields = words.iter().map(|word| Field {
            text: word.text.clone(),
            is_dynamic: word.is_dynamic,
        });
        fields.collect()
    }
}

/// What a variable may hold.
#[derive(Debug, Clone)]
pub struct Value {
    /// One text, or the elements of an array; none where only the run tells.
    pub fields: Option<Vec<Field>>,
    /// Whether it holds this for certain.
    pub is_sure: bool,
    /// Whether a program that is started has it too.
    pub is_exported: bool,
}

impl Value {
    /// What is held, and whether that is for certain.
    pub fn new(fields: Vec<Field>, is_sure: bool) -> Self {
        Value {
            fields: Some(fields),
            is_sure,
            is_exported: false,
        }
    }

    fn len(&self) -> usize {
        let fields = self.fields.iter().flatten();
        fields.map(|field| field.text.len() + 1).sum::<usize>() + 1
    }
}

/// All that a variable may hold, as far as that is looked at.
#[derive(Debug, Clone)]
pub struct Values {
    pub kept: Vec<Value>,
    /// Whether these are all.
    pub is_all: bool,
    /// How long they are together.
    length: usize,
}

impl Default for Values {
    fn default() -> Self {
        Values {
            kept: Vec::new(),
            is_all: true,
            length: 0,
        }
    }
}

impl Values {
    fn add(&mut self, value: Value) {
        let mut known = self.kept.iter_mut();
        if let Some(same) = known.find(|kept| kept.fields == value.fields) {
            same.is_sure &= value.is_sure;
            same.is_exported |= value.is_exported;
        } else if self.kept.len() < MOST_VERSIONS {
            self.length += value.len();
            self.kept.push(value);
        } else {
            self.is_all = false;
        }
    }
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
    /// `name[index]=`; none where the index is no number.
    Element(Option<usize>),
}

/// A function that a script defines.
#[derive(Debug, Clone)]
pub struct Function {
    /// What stands between its braces.
    pub body: Rc<str>,
    /// Whether it is this one for certain.
    pub is_sure: bool,
}

/// What is set at a place of a script.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    values: HashMap<String, Values>,
    /// What is set anywhere in the script: functions and loops run what stands above.
    later: HashMap<String, Values>,
    aliases: HashMap<String, String>,
    functions: HashMap<String, Vec<Function>>,
    /// How many functions are looked into for what they write.
    looked_into: usize,
    /// Programs that the script itself gave other names, and whether it did so for certain.
    programs: HashMap<String, (String, bool)>,
    /// How much all of it is to copy.
    size: usize,
}

impl Scope {
    /// Looks at what a script sets below.
    pub fn look_ahead(&mut self, commands: &[Simple]) {
        if !commands.iter().any(uses_variables) {
            return;
        }
        if shifts_in_a_loop(commands) {
            self.shift(0, false);
        }
        for simple in commands {
            if !command_of(&simple.words).first().is_none_or(is_declaration) {
                continue;
            }
            for word in &simple.words {
                if let Some((name, value)) = word.text.split_once('=')
                    && word.marks.is_empty()
                    && word.elements.is_none()
                {
                    self.add_later(name, Value::new(vec![Field::of(value)], false));
                }
            }
        }
    }

    fn add_later(&mut self, name: &str, value: Value) {
        self.size += name.len() + value.len();
        self.later.entry(name.to_owned()).or_default().add(value);
    }

    /// Takes out what a variable may hold.
    pub fn take(&mut self, name: &str) -> Option<Values> {
        let values = self.values.remove(name)?;
        self.size = self.size.saturating_sub(name.len() + values.length);
        Some(values)
    }

    /// Puts in what a variable may hold.
    pub fn put(&mut self, name: &str, values: Values) {
        self.take(name);
        self.size += name.len() + values.length;
        self.values.insert(name.to_owned(), values);
    }

    /// A copy of what a variable may hold, to be put back.
    pub fn get(&self, name: &str) -> Option<Values> {
        self.values.get(name).cloned()
    }

    /// How much a copy of what a variable may hold takes.
    pub fn size_of(&self, name: &str) -> usize {
        self.values.get(name).map_or(0, |values| values.length)
    }

    /// Puts back what a variable held before.
    pub fn restore(&mut self, name: &str, values: Option<Values>) {
        match values {
            Some(values) => self.put(name, values),
            None => drop(self.take(name)),
        }
    }

    /// Sets a variable. Where it may not have come to that, what it held before counts too.
    pub fn set(&mut self, name: &str, value: Value, how: Sets, is_certain: bool) {
        let mut value = value;
        let mut values = self.take(name).unwrap_or_default();
        if how != Sets::Anew
            && let Some(Value {
                fields: Some(before),
                is_sure,
                ..
            }) = values.kept.last()
            && let Some(fields) = &mut value.fields
        {
            value.is_sure &= is_sure;
            *fields = match (how, &before[..], &fields[..]) {
                (Sets::Element(index), before, [field]) => {
                    let index = index.filter(|index| *index <= before.len());
                    value.is_sure &= index.is_some();
                    let index = index.unwrap_or(before.len());
                    let mut all = before.to_vec();
                    all.splice(index..before.len().min(index + 1), [field.clone()]);
                    all
                }
                (Sets::Longer, [first, rest @ ..], [added]) => {
                    let longer = Field {
                        text: format!("{}{}", first.text, added.text),
                        is_dynamic: first.is_dynamic || added.is_dynamic,
                    };
                    [&[longer], rest].concat()
                }
                (_, before, added) => [before, added].concat(),
            };
        }
        if is_certain {
            values = Values {
                is_all: how == Sets::Anew || values.is_all,
                ..Values::default()
            };
        } else if !values.kept.is_empty() {
            value.is_sure = false;
            values
                .kept
                .iter_mut()
                .for_each(|value| value.is_sure = false);
        }
        values.add(value);
        self.put(name, values);
    }

    /// Says that a variable may hold more than what is known.
    pub fn leave_open(&mut self, name: &str) {
        let mut values = self.take(name).unwrap_or_default();
        values.is_all = false;
        self.put(name, values);
    }

    /// What a loop sets one after the other.
    pub fn set_all(&mut self, name: &str, words: &[Word], is_sure: bool) {
        let mut values = Values::default();
        let mut seen = HashSet::new();
        for word in words {
            let is_known = !word.is_dynamic || word.text.contains([UNREAD, UNREAD_CODE]);
            let text = is_known.then_some(word.text.as_str());
            if !values.is_all || !seen.insert(text) {
                continue;
            }
            values.add(Value {
                fields: is_known.then(|| Field::all_of(std::slice::from_ref(word))),
                is_sure,
                is_exported: false,
            });
        }
        self.put(name, values);
    }

    /// What `$1`, `$@` and their like stand for.
    pub fn set_arguments(&mut self, words: &[Word], is_sure: bool, is_certain: bool) {
        let value = Value::new(Field::all_of(words), is_sure);
        self.set("@", value, Sets::Anew, is_certain);
    }

    /// What `$@` stands for, as far as it is known.
    pub fn arguments(&self) -> Vec<Word> {
        let kept = self.values_of("@").map(|values| &values.kept[..]);
        let values = kept.unwrap_or_default().iter();
        let fields = values.flat_map(|value| value.fields.iter().flatten());
        let words = fields.map(|field| Word {
            text: field.text.clone(),
            is_dynamic: field.is_dynamic,
            ..Word::default()
        });
        words.collect()
    }

    /// Takes the first arguments away. In a loop it may be as many as there are.
    pub fn shift(&mut self, count: usize, is_certain: bool) {
        let Some(values) = self.take("@") else {
            return;
        };
        let mut left = Values {
            is_all: values.is_all,
            ..Values::default()
        };
        let mut seen = HashSet::new();
        for value in values.kept {
            let Some(fields) = &value.fields else {
                left.add(value);
                continue;
            };
            let counts = match is_certain {
                true => count..count + 1,
                false => 0..fields.len() + 1,
            };
            for count in counts {
                let rest = fields.get(count..).unwrap_or_default().to_vec();
                let is_sure = value.is_sure && (is_certain || count == 0);
                if seen.insert(rest.clone()) {
                    left.add(Value::new(rest, is_sure));
                }
            }
        }
        self.put("@", left);
    }

    pub fn export(&mut self, name: &str) {
        let values = self.values.get_mut(name).into_iter();
        for value in values.flat_map(|values| &mut values.kept) {
            value.is_exported = true;
        }
    }

    /// A copy; none where it would take more than is left.
    pub fn copy(&self, budget: &Budget) -> Option<Self> {
        budget.spend(self.size).then(|| self.clone())
    }

    /// What a shell that is started has of it; none where that would take more than is left.
    pub fn child(&self, budget: &Budget) -> Option<Self> {
        let mut child = self.copy(budget)?;
        for value in child
            .values
            .values_mut()
            .flat_map(|values| &mut values.kept)
        {
            value.is_sure &= value.is_exported;
        }
        child.aliases.clear();
        let functions = child.functions.values_mut().flatten();
        functions.for_each(|function| function.is_sure = false);
        child.take("@");
        child.take("0");
        Some(child)
    }

    pub fn alias(&self, name: &str) -> Option<&str> {
        self.aliases.get(name).map(String::as_str)
    }

    pub fn set_alias(&mut self, name: &str, value: &str) {
        self.size += name.len() + value.len();
        self.aliases.insert(name.to_owned(), value.to_owned());
    }

    pub fn forget_alias(&mut self, name: &str) {
        self.aliases.remove(name);
    }

    /// Keeps a function. Where it may be defined or not, the ones before count too.
    pub fn define(&mut self, name: &str, function: Function) {
        self.size += name.len();
        let known = self.functions.entry(name.to_owned()).or_default();
        if function.is_sure {
            known.clear();
        } else {
            known.iter_mut().for_each(|one| one.is_sure = false);
        }
        if known.len() < MOST_VERSIONS {
            known.push(function);
        }
    }

    /// Takes out the functions of a name; where one is run, it does not run itself.
    pub fn take_functions(&mut self, name: &str) -> Vec<Function> {
        self.functions.remove(name).unwrap_or_default()
    }

    pub fn put_functions(&mut self, name: &str, functions: Vec<Function>) {
        self.functions.insert(name.to_owned(), functions);
    }

    /// A copy in which a function is run with arguments, and its body; none where there is no such function, or that is too
    /// much to follow.
    pub(super) fn within(
        &self,
        name: &str,
        arguments: &[Word],
        budget: &Budget,
    ) -> Option<(Self, Function)> {
        const DEEPEST: usize = 8;
        let function = self.functions.get(name)?.last()?.clone();
        if self.looked_into == DEEPEST || !budget.spend(function.body.len()) {
            return None;
        }
        let mut inner = self.copy(budget)?;
        inner.looked_into += 1;
        inner.functions.remove(name);
        inner.set_arguments(arguments, true, true);
        Some((inner, function))
    }

    /// The program that was given a name, and whether that is certain.
    pub fn program(&self, name: &str) -> Option<(&str, bool)> {
        let (program, is_sure) = self.programs.get(name)?;
        Some((program, *is_sure))
    }

    pub fn name_program(&mut self, name: &str, program: &str, is_sure: bool) {
        self.size += name.len() + program.len();
        let named = (program.to_owned(), is_sure);
        self.programs.insert(name.to_owned(), named);
    }

    /// Whether a variable is known to hold something.
    pub(super) fn holds_something(&self, name: &str) -> bool {
        let kept = self.values_of(name).map(|values| &values.kept[..]);
        let mut fields = kept
            .unwrap_or_default()
            .iter()
            .flat_map(|value| &value.fields);
        fields.any(|fields| fields.iter().any(|field| !field.text.is_empty()))
    }

    /// The texts that a variable may hold.
    pub fn texts_of(&self, name: &str) -> impl Iterator<Item = String> {
        let kept = self.values_of(name).map(|values| &values.kept[..]);
        let values = kept.unwrap_or_default().iter();
        values
            .filter_map(|value| value.fields.as_ref()?.first())
            .map(|field| field.text.clone())
    }

    /// What splits words, where the script says it.
    pub(super) fn separators(&self) -> Option<String> {
        let values = self.values.get("IFS")?;
        match &values.kept[..] {
            [
                Value {
                    fields: Some(fields),
                    ..
                },
            ] => fields.first().map(|field| field.text.clone()),
            _ => None,
        }
    }

    /// The elements of an array, and whether they can be nothing else.
    pub fn elements(&self, script: &Script<'_>, of: Range<usize>) -> (Vec<Field>, bool) {
        let mut fields = Vec::new();
        let mut is_all = true;
        for simple in script.commands.get(of).unwrap_or_default() {
            if simple.is_data {
                let versions = self.versions(script, &simple.words);
                is_all &= versions.len() == 1 && versions[0].is_whole;
                if let Some(first) = versions.into_iter().next() {
                    fields.extend(Field::all_of(&first.words).into_iter().map(without_key));
                }
            }
        }
        (fields, is_all)
    }

    /// What a variable may hold.
    pub(super) fn values_of(&self, name: &str) -> Option<&Values> {
        self.values.get(name).or_else(|| self.later.get(name))
    }
}

/// The name under which a variable is kept: `$1` and `$#` tell of `$@`.
pub(super) fn holder_of(name: &str) -> &str {
    let is_number = name != "0" && name.bytes().all(|byte| byte.is_ascii_digit());
    if is_number || matches!(name, "*" | "#") {
        "@"
    } else {
        name
    }
}

/// An element of an array without the key that it stands under: `[key]=text`.
fn without_key(field: Field) -> Field {
    match field
        .text
        .strip_prefix('[')
        .and_then(|text| text.split_once("]="))
    {
        Some((_, text)) => Field {
            text: text.to_owned(),
            ..field
        },
        None => field,
    }
}

/// Whether arguments are taken away one after the other.
fn shifts_in_a_loop(commands: &[Simple]) -> bool {
    let mut depth = 0_usize;
    commands.iter().any(|simple| {
        let mut words = simple.words.iter().map(|word| word.text.as_str());
        depth += words
            .clone()
            .filter(|word| matches!(*word, "while" | "until" | "for"))
            .count();
        depth = depth.saturating_sub(usize::from(words.next() == Some("done")));
        let command = command_of(&simple.words).first();
        depth > 0 && command.is_some_and(|word| word.text == "shift")
    })
}

fn uses_variables(simple: &Simple) -> bool {
    let mut marks = simple.words.iter().flat_map(|word| &word.marks);
    marks.any(|(_, mark)| matches!(mark, Mark::Variable(_)))
}
