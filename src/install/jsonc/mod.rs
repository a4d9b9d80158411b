//! JSON settings with comments, trailing commas and any indentation: finds, adds and takes out single values. What is not
//! touched stays byte for byte, since a text is never written anew: a value is put between two bytes of it.

mod layout;

use std::ops::Range;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value;

use super::edit::Edit;
use crate::files::{Fault, MARK, newline};
use layout::{Container, Style, indentation};

/// How much of JSON5 a host reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Comments and trailing commas.
    Jsonc,
    /// Names without quotes, single quotes and the rest as well.
    Json5,
}

/// Where a value has its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The members that lead to the container.
    pub path: Vec<String>,
    /// The name of a member of an object, or nothing for an element of an array.
    pub name: Option<String>,
}

impl Place {
    /// The place in one word, for the record.
    pub fn word(&self) -> String {
        let names: Vec<&str> = self
            .path
            .iter()
            .chain(&self.name)
            .map(String::as_str)
            .collect();
        names.join(".")
    }
}

/// A text and the value in it.
struct Document<'t> {
    text: &'t str,
    /// The length of a byte order mark.
    mark: usize,
    root: Option<ast::Value<'t>>,
}

fn parse(text: &str, dialect: Dialect) -> Result<Document<'_>, Fault> {
    let mark = if text.starts_with(MARK) {
        MARK.len()
    } else {
        0
    };
    let json5 = dialect == Dialect::Json5;
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_missing_commas: false,
        allow_loose_object_property_names: json5,
        allow_single_quoted_strings: json5,
        allow_hexadecimal_numbers: json5,
        allow_unary_plus_numbers: json5,
        allow_bare_decimal_point_numbers: json5,
        allow_non_finite_numbers: json5,
        allow_extended_string_escapes: json5,
    };
    match parse_to_ast(&text[mark..], &CollectOptions::default(), &options) {
        Ok(parsed) => Ok(Document {
            text,
            mark,
            root: parsed.value,
        }),
        Err(error) => Err(Fault::at(
            text.as_bytes(),
            mark + error.range().start,
            error.kind().to_string(),
        )),
    }
}

/// Whether the text can be read.
///
/// # Errors
/// What cannot be read in it, and in which line.
pub fn check(text: &str, dialect: Dialect) -> Result<(), Fault> {
    let document = parse(text, dialect)?;
    match &document.root {
        None | Some(ast::Value::Object(_)) => Ok(()),
        Some(other) => Err(document.fault(other, "an object belongs here")),
    }
}

/// Whether the text holds nothing but an empty object, or nothing at all.
pub fn is_empty(text: &str) -> bool {
    text.trim_start_matches(MARK)
        .chars()
        .filter(|c| !c.is_whitespace())
        .collect::<String>()
        .trim_matches(['{', '}'])
        .is_empty()
}

/// A value that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Its text.
    pub raw: String,
    /// Every string in it, one after the other; of a group of commands, those of each command.
    pub words: Vec<String>,
    /// Whether it is the value that was asked for.
    pub same: bool,
}

/// The value of a member, or the elements of an array, at a place.
///
/// # Errors
/// The text cannot be read, or something else is in the way.
pub fn find(
    text: &str,
    dialect: Dialect,
    place: &Place,
    wanted: &Value,
) -> Result<Vec<Found>, Fault> {
    let document = parse(text, dialect)?;
    let found = |value: &ast::Value<'_>| document.found(value, place, wanted);
    let Reached { node, rest, .. } = document.reach(place)?;
    Ok(match (node, &place.name) {
        (Some(Node::Array(array)), None) if rest.is_empty() => {
            array.elements.iter().map(found).collect()
        }
        (Some(Node::Object(object)), Some(name)) if rest.is_empty() => {
            member(object, name).map(found).into_iter().collect()
        }
        _ => Vec::new(),
    })
}

/// The places of the objects and of the list that lead to a value and are not there.
///
/// # Errors
/// The text cannot be read, or something else is in the way.
pub fn missing(text: &str, dialect: Dialect, place: &Place) -> Result<Vec<String>, Fault> {
    let document = parse(text, dialect)?;
    let there = place.path.len() - document.reach(place)?.rest.len();
    let depths = there + 1..=place.path.len();
    Ok(depths.map(|depth| place.path[..depth].join(".")).collect())
}

/// Puts a value where it belongs: at the end of what is there, in the style of the file.
///
/// # Errors
/// The text cannot be read, or something else is in the way.
pub fn insert(text: &str, dialect: Dialect, place: &Place, value: &Value) -> Result<Edit, Fault> {
    let document = parse(text, dialect)?;
    let reached = document.reach(place)?;
    let style = document.style();
    let Some(node) = reached.node else {
        let mut added = String::new();
        if !text.trim_start_matches(MARK).is_empty() && !text.ends_with('\n') {
            added.push_str(style.newline);
        }
        style.write(&wrapped(&place.path, place, value), "", &mut added);
        added.push_str(style.newline);
        return Ok(Edit {
            at: text.len(),
            removed: String::new(),
            added,
        });
    };
    let (name, value) = match reached.rest {
        [] => (place.name.as_deref(), value.clone()),
        [first, rest @ ..] => (Some(first.as_str()), wrapped(rest, place, value)),
    };
    let container = document.container(node);
    Ok(container.add(text, &style, name, &value))
}

/// The value within the objects that lead to it.
fn wrapped(path: &[String], place: &Place, value: &Value) -> Value {
    let leaf = match &place.name {
        Some(name) => object(name, value.clone()),
        None => Value::Array(vec![value.clone()]),
    };
    path.iter()
        .rev()
        .fold(leaf, |inner, name| object(name, inner))
}

fn object(name: &str, value: Value) -> Value {
    Value::Object([(name.to_owned(), value)].into_iter().collect())
}

/// Takes out every value at a place that `is_ours`, and the containers that are empty for it, where `may_go` lets them go by
/// their places. Of a group of commands that is not the one that is `wanted` only those go that are ours, and the group with
/// the last of them.
///
/// # Errors
/// The text cannot be read.
pub fn remove(
    text: &str,
    dialect: Dialect,
    place: &Place,
    wanted: &Value,
    is_ours: &dyn Fn(&Found) -> bool,
    may_go: &dyn Fn(&str) -> bool,
) -> Result<String, Fault> {
    let mut text = text.to_owned();
    while let Some(shorter) = remove_one(&text, dialect, place, wanted, is_ours, may_go)? {
        text = shorter;
    }
    Ok(text)
}

fn remove_one(
    text: &str,
    dialect: Dialect,
    place: &Place,
    wanted: &Value,
    is_ours: &dyn Fn(&Found) -> bool,
    may_go: &dyn Fn(&str) -> bool,
) -> Result<Option<String>, Fault> {
    let document = parse(text, dialect)?;
    let Ok(reached) = document.reach(place) else {
        return Ok(None);
    };
    let (Some(node), []) = (reached.node, reached.rest) else {
        return Ok(None);
    };
    let ours = |value: &ast::Value<'_>| is_ours(&document.found(value, place, wanted));
    let index = match (node, &place.name) {
        (Node::Array(array), None) => {
            let found = array.elements.iter().enumerate().find_map(|(index, one)| {
                let Some(group) = grouped(one).filter(|_| !same(one, wanted)) else {
                    return ours(one).then_some((index, None));
                };
                let inner = group.elements.iter().position(ours)?;
                Some((index, (group.elements.len() > 1).then_some((group, inner))))
            });
            if let Some((_, Some((group, inner)))) = found {
                let group = document.container(Node::Array(group));
                return Ok(Some(group.without(text, inner)));
            }
            found.map(|(index, _)| index)
        }
        (Node::Object(object), Some(name)) => object
            .properties
            .iter()
            .position(|property| property.name.as_str() == name && ours(&property.value)),
        _ => None,
    };
    let Some(mut index) = index else {
        return Ok(None);
    };
    // A container that would be empty goes with it, and so do those around it.
    let mut chain = reached.chain;
    let mut node = node;
    while document.container(node).children.len() == 1
        && may_go(&place.path[..chain.len()].join("."))
        && let Some((around, at)) = chain.pop()
    {
        (node, index) = (Node::Object(around), at);
    }
    Ok(Some(document.container(node).without(text, index)))
}

/// An object or an array.
#[derive(Clone, Copy)]
enum Node<'d, 't> {
    Object(&'d ast::Object<'t>),
    Array(&'d ast::Array<'t>),
}

/// How far a place is there.
struct Reached<'d, 't, 'p> {
    /// The innermost container that is there; nothing in an empty file.
    node: Option<Node<'d, 't>>,
    /// The objects on the way, and which member leads on.
    chain: Vec<(&'d ast::Object<'t>, usize)>,
    /// The members that are not there.
    rest: &'p [String],
}

impl<'t> Document<'t> {
    fn span(&self, value: &impl Ranged) -> Range<usize> {
        self.mark + value.start()..self.mark + value.end()
    }

    /// A value as it was found at a place where another is wanted.
    fn found(&self, value: &ast::Value<'_>, place: &Place, wanted: &Value) -> Found {
        Found {
            raw: self.text[self.span(value)].to_owned(),
            words: match grouped(value) {
                Some(group) if place.name.is_none() => group.elements.iter().map(words).collect(),
                _ => vec![words(value)],
            },
            same: same(value, wanted),
        }
    }

    fn fault(&self, value: &impl Ranged, message: &str) -> Fault {
        Fault::at(self.text.as_bytes(), self.mark + value.start(), message)
    }

    fn reach<'d, 'p>(&'d self, place: &'p Place) -> Result<Reached<'d, 't, 'p>, Fault> {
        let mut chain = Vec::new();
        let mut rest = place.path.as_slice();
        let mut object = match &self.root {
            None => {
                return Ok(Reached {
                    node: None,
                    chain,
                    rest,
                });
            }
            Some(ast::Value::Object(object)) => object,
            Some(other) => return Err(self.fault(other, "an object belongs here")),
        };
        while let [name, more @ ..] = rest {
            // Where a name stands twice, the last one counts.
            let Some(at) = object
                .properties
                .iter()
                .rposition(|property| property.name.as_str() == name)
            else {
                break;
            };
            chain.push((object, at));
            rest = more;
            match &object.properties[at].value {
                ast::Value::Object(inner) if !more.is_empty() || place.name.is_some() => {
                    object = inner;
                }
                ast::Value::Array(array) if more.is_empty() && place.name.is_none() => {
                    return Ok(Reached {
                        node: Some(Node::Array(array)),
                        chain,
                        rest,
                    });
                }
                other => {
                    let kind = if more.is_empty() && place.name.is_none() {
                        "an array"
                    } else {
                        "an object"
                    };
                    return Err(self.fault(other, &format!("`{name}` is not {kind}")));
                }
            }
        }
        Ok(Reached {
            node: Some(Node::Object(object)),
            chain,
            rest,
        })
    }

    fn container(&self, node: Node<'_, '_>) -> Container {
        let (span, children) = match node {
            Node::Object(object) => (
                self.span(object),
                object.properties.iter().map(|one| self.span(one)).collect(),
            ),
            Node::Array(array) => (
                self.span(array),
                array.elements.iter().map(|one| self.span(one)).collect(),
            ),
        };
        Container {
            open: span.start,
            close: span.end - 1,
            children,
        }
    }

    fn style(&self) -> Style {
        let text = self.text;
        let mut style = Style {
            newline: newline(text),
            unit: "  ".to_owned(),
            one_line: false,
            tight: false,
        };
        if let Some(ast::Value::Object(root)) = &self.root
            && let Some(first) = root.properties.first()
        {
            let span = self.span(root);
            style.one_line = !text[span.clone()].contains('\n');
            let indent = indentation(text, self.span(first).start);
            if !style.one_line && !indent.is_empty() {
                indent.clone_into(&mut style.unit);
            }
            let name = self.span(&first.name);
            style.tight = style.one_line
                && text[name.end..]
                    .strip_prefix(':')
                    .is_some_and(|rest| !rest.starts_with(' '));
        }
        style
    }
}

fn member<'d, 't>(object: &'d ast::Object<'t>, name: &str) -> Option<&'d ast::Value<'t>> {
    let mut members = object.properties.iter().rev();
    let member = members.find(|property| property.name.as_str() == name)?;
    Some(&member.value)
}

/// The commands of a group, where a value is one.
fn grouped<'d, 't>(value: &'d ast::Value<'t>) -> Option<&'d ast::Array<'t>> {
    let ast::Value::Object(group) = value else {
        return None;
    };
    match member(group, "hooks") {
        Some(ast::Value::Array(commands)) if !commands.elements.is_empty() => Some(commands),
        _ => None,
    }
}

fn words(value: &ast::Value<'_>) -> String {
    fn gather(value: &ast::Value<'_>, found: &mut String) {
        match value {
            ast::Value::StringLit(text) => {
                if !found.is_empty() {
                    found.push(' ');
                }
                found.push_str(&text.value);
            }
            ast::Value::Array(array) => array.elements.iter().for_each(|one| gather(one, found)),
            ast::Value::Object(object) => object
                .properties
                .iter()
                .for_each(|one| gather(&one.value, found)),
            _ => {}
        }
    }
    let mut found = String::new();
    gather(value, &mut found);
    found
}

fn same(value: &ast::Value<'_>, wanted: &Value) -> bool {
    match (value, wanted) {
        (ast::Value::StringLit(a), Value::String(b)) => a.value == b.as_str(),
        (ast::Value::NumberLit(a), Value::Number(b)) => a.value == b.to_string(),
        (ast::Value::BooleanLit(a), Value::Bool(b)) => a.value == *b,
        (ast::Value::NullKeyword(_), Value::Null) => true,
        (ast::Value::Array(a), Value::Array(b)) => {
            a.elements.len() == b.len() && a.elements.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (ast::Value::Object(a), Value::Object(b)) => {
            a.properties.len() == b.len()
                && b.iter()
                    .all(|(name, b)| member(a, name).is_some_and(|a| same(a, b)))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn place(path: &[&str], name: Option<&str>) -> Place {
        Place {
            path: path.iter().map(|&name| name.to_owned()).collect(),
            name: name.map(str::to_owned),
        }
    }

    #[test]
    fn a_value_takes_the_style_of_the_file() {
        let server = place(&["s"], Some("x"));
        let element = place(&["h", "e"], None);
        let value = json!({ "c": ["d"] });
        for (place, before, after) in [
            (
                &server,
                "",
                "{\n  \"s\": {\n    \"x\": {\n      \"c\": [\"d\"]\n    }\n  }\n}\n",
            ),
            (&server, r#"{"a":1}"#, r#"{"a":1,"s":{"x":{"c":["d"]}}}"#),
            (
                &server,
                r#"{"s": {}, "a": 1}"#,
                r#"{"s": {"x": {"c": ["d"]}}, "a": 1}"#,
            ),
            (
                &server,
                "{\r\n\t\"s\": {\r\n\t\t\"a\": 1 // one\r\n\t}\r\n}",
                "{\r\n\t\"s\": {\r\n\t\t\"a\": 1, // one\r\n\t\t\"x\": {\r\n\t\t\t\"c\": [\"d\"]\r\n\t\t}\r\n\t}\r\n}",
            ),
            (
                &element,
                "{\n    \"h\": { \"e\": [1, 2,] }\n}",
                "{\n    \"h\": { \"e\": [1, 2, {\"c\": [\"d\"]},] }\n}",
            ),
            (
                &element,
                "{\n \"h\": {\n  // none\n }\n}\n",
                "{\n \"h\": {\n  // none\n  \"e\": [\n   {\n    \"c\": [\"d\"]\n   }\n  ]\n }\n}\n",
            ),
        ] {
            let edit = insert(before, Dialect::Jsonc, place, &value).expect("it can be read");
            assert_eq!(edit.apply(before), after);
            assert_eq!(edit.reverse(after).as_deref(), Some(before));
            let found = find(after, Dialect::Jsonc, place, &value).expect("it can be read");
            assert!(found.iter().any(|one| one.same), "{after}");
        }
    }

    #[test]
    fn a_value_is_taken_out_with_its_comma_and_what_is_empty_for_it() {
        let element = place(&["h", "e"], None);
        let ours = |found: &Found| found.raw == "7";
        for (before, after) in [
            (r#"{"h": {"e": [7]}, "a": 1}"#, r#"{ "a": 1}"#),
            (r#"{"h": {"e": [1, 7]}}"#, r#"{"h": {"e": [1]}}"#),
            (r#"{"h": {"e": [7, 1,]}}"#, r#"{"h": {"e": [ 1,]}}"#),
            (r#"{"h": {"e": [1, 7,]}}"#, r#"{"h": {"e": [1,]}}"#),
            (
                "{\"h\": {\"e\": [\n  1, // one\n  7 // two\n]}}",
                "{\"h\": {\"e\": [\n  1 // one\n // two\n]}}",
            ),
            (r#"{"h": {"e": [7, 7], "k": []}}"#, r#"{"h": { "k": []}}"#),
            (r#"{"h": {"e": [{}]}}"#, r#"{"h": {"e": [{}]}}"#),
        ] {
            let left = remove(
                before,
                Dialect::Jsonc,
                &element,
                &Value::Null,
                &ours,
                &|_| true,
            );
            assert_eq!(left.expect("it can be read"), after);
        }
        let kept = remove(
            r#"{"h": {"e": [ 7 ]}}"#,
            Dialect::Jsonc,
            &element,
            &Value::Null,
            &ours,
            &|_| false,
        );
        assert_eq!(kept.expect("it can be read"), r#"{"h": {"e": []}}"#);
    }

    #[test]
    fn what_only_json5_allows_is_refused_elsewhere() {
        let text = "{a: 'b', c: +1,}";
        assert!(check(text, Dialect::Json5).is_ok());
        assert_eq!(
            check(text, Dialect::Jsonc).map_err(|fault| fault.line),
            Err(1)
        );
        assert!(check("{\n\"a\": 1 /* c */,\n}", Dialect::Jsonc).is_ok());
    }
}
