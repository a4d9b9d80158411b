//! What a script has set at a place: its variables with all that they may hold, and its aliases.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::output::Script;
use super::{MOST_VERSIONS, is_declaration};
use crate::check::budget::Budget;
use crate::check::invocation::command_of;
use crate::check::shell::{Mark, Simple, Word};

/// What a variable may hold.
#[derive(Debug, Clone)]
pub struct Value {
    /// One text, or the elements of an array; none where only the run tells.
    pub fields: Option<Vec<String>>,
    /// Whether it holds this for certain.
    pub is_sure: bool,
    /// Whether a program that is started has it too.
    pub is_exported: bool,
}

impl Value {
    /// What is not held for certain.
    fn unsure(fields: Vec<String>) -> Self {
        Value {
            fields: Some(fields),
            is_sure: false,
            is_exported: false,
        }
    }

    fn len(&self) -> usize {
        let fields = self.fields.iter().flatten();
        fields.map(|field| field.len() + 1).sum::<usize>() + 1
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
        if self.kept.len() < MOST_VERSIONS {
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
}

/// What is set at a place of a script.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    values: HashMap<String, Values>,
    /// What is set anywhere in the script: functions and loops run what stands above.
    later: HashMap<String, Values>,
    aliases: HashMap<String, String>,
    /// How much all of it is to copy.
    size: usize,
}

impl Scope {
    /// Looks at what a script sets below.
    pub fn look_ahead(&mut self, commands: &[Simple]) {
        if !commands.iter().any(uses_variables) {
            return;
        }
        let functions: HashSet<&str> = commands.iter().filter_map(function_of).collect();
        for simple in commands {
            let command = command_of(&simple.words);
            if command.first().is_none_or(is_declaration) {
                for word in &simple.words {
                    if let Some((name, value)) = word.text.split_once('=')
                        && word.marks.is_empty()
                        && word.elements.is_none()
                    {
                        self.add_later(name, Value::unsure(vec![value.to_owned()]));
                    }
                }
            }
            if let [name, arguments @ ..] = command
                && !simple.is_function
                && functions.contains(name.text.as_str())
            {
                let texts = arguments.iter().map(|word| word.text.clone()).collect();
                self.add_later("@", Value::unsure(texts));
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
            *fields = match (&before[..], &fields[..]) {
                ([first, rest @ ..], [added]) if how == Sets::Longer => {
                    [&[format!("{first}{added}")], rest].concat()
                }
                (before, added) => [before, added].concat(),
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
            let text = (!word.is_dynamic).then_some(word.text.as_str());
            if !values.is_all || !seen.insert(text) {
                continue;
            }
            values.add(Value {
                fields: text.map(|text| vec![text.to_owned()]),
                is_sure,
                is_exported: false,
            });
        }
        self.put(name, values);
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
            let name = (index + 1).to_string();
            self.set(&name, value(vec![field.clone()]), Sets::Anew, true);
        }
        self.set("@", value(fields), Sets::Anew, true);
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
        for name in ["@", "1", "2", "3", "4", "5", "6", "7", "8", "9"] {
            child.take(name);
        }
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

    /// The elements of an array, and whether they can be nothing else.
    pub fn elements(&self, script: &Script<'_>, of: Range<usize>) -> (Vec<String>, bool) {
        let mut fields = Vec::new();
        let mut is_all = true;
        for simple in script.commands.get(of).unwrap_or_default() {
            if simple.is_data {
                let versions = self.versions(script, &simple.words);
                is_all &= versions.len() == 1 && versions[0].is_whole;
                if let Some(first) = versions.into_iter().next() {
                    fields.extend(first.words.iter().map(|word| word.text.clone()));
                }
            }
        }
        (fields, is_all)
    }

    /// What a variable may hold.
    pub(super) fn values_of(&self, name: &str) -> Option<&Values> {
        let name = if name == "*" { "@" } else { name };
        self.values.get(name).or_else(|| self.later.get(name))
    }
}

fn uses_variables(simple: &Simple) -> bool {
    let mut marks = simple.words.iter().flat_map(|word| &word.marks);
    marks.any(|(_, mark)| matches!(mark, Mark::Variable { .. }))
}

/// The name of the function that a command begins.
fn function_of(simple: &Simple) -> Option<&str> {
    let name = match command_of(&simple.words) {
        [] => simple.words.get(1),
        [name, ..] if simple.is_function => Some(name),
        _ if simple.words[0].text == "function" => simple.words.get(1),
        _ => None,
    };
    name.map(|word| word.text.as_str())
}
