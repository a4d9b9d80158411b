//! Parts of foreign records, read leniently: a part of another type than expected counts as missing, so that one
//! odd field does not cost the record.

use std::fmt;

use serde::de::{self, DeserializeOwned, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de::Error};

/// A text, or nothing where something else stands.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Text(pub(crate) Option<String>);

impl Text {
    pub(crate) fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    pub(crate) fn is(&self, text: &str) -> bool {
        self.0.as_deref() == Some(text)
    }

    /// The text where it is not empty.
    pub(crate) fn some(self) -> Option<String> {
        self.0.filter(|text| !text.is_empty())
    }
}

/// A mark that is set: `true`, or any value but `false`, `null` and zero.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(crate) struct Flag(pub(crate) bool);

/// A number, also where it is written as text.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(crate) struct Number(pub(crate) Option<f64>);

/// What a message holds: a text, or blocks.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Content(pub(crate) Vec<Block>);

/// A block of a message.
#[derive(Debug, Default, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct Block {
    #[serde(rename = "type")]
    pub(crate) kind: Text,
    pub(crate) text: Text,
}

impl Content {
    /// The texts of the blocks of these kinds; a bare text is of kind `text`, as is a block that names no kind.
    pub(crate) fn texts<'c>(&'c self, kinds: &'c [&'c str]) -> impl Iterator<Item = &'c str> {
        self.0
            .iter()
            .filter(move |block| kinds.contains(&block.kind.0.as_deref().unwrap_or("text")))
            .filter_map(|block| block.text.0.as_deref())
    }

    /// Those texts, a line each.
    pub(crate) fn joined(&self, kinds: &[&str]) -> String {
        self.texts(kinds).collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn has(&self, kind: &str) -> bool {
        self.0.iter().any(|block| block.kind.is(kind))
    }
}

/// What a value may be; what is not asked for is passed over without being kept.
#[derive(Default)]
struct Any {
    text: Option<String>,
    number: Option<f64>,
    truth: bool,
}

struct AnyVisitor;

impl<'de> Visitor<'de> for AnyVisitor {
    type Value = Any;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Any, E> {
        self.visit_string(text.to_owned())
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Any, E> {
        Ok(Any {
            number: text.trim().parse().ok(),
            truth: !text.is_empty(),
            text: Some(text),
        })
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<Any, E> {
        Ok(Any {
            truth,
            ..Any::default()
        })
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Any, E> {
        self.visit_f64(number as f64)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Any, E> {
        self.visit_f64(number as f64)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Any, E> {
        Ok(Any {
            number: Some(number),
            truth: number != 0.0,
            text: None,
        })
    }

    fn visit_unit<E: Error>(self) -> Result<Any, E> {
        Ok(Any::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Any, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Any {
            truth: true,
            ..Any::default()
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Any, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Any {
            truth: true,
            ..Any::default()
        })
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Text(deserializer.deserialize_any(AnyVisitor)?.text))
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Flag(deserializer.deserialize_any(AnyVisitor)?.truth))
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Number(deserializer.deserialize_any(AnyVisitor)?.number))
    }
}

/// Reads a value that may be written as a text or as a number.
pub(crate) fn text_and_number<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<(Text, Number), D::Error> {
    let any = deserializer.deserialize_any(AnyVisitor)?;
    Ok((Text(any.text), Number(any.number)))
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of blocks")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Content, E> {
        Ok(Content(vec![Block {
            kind: Text(None),
            text: Text(Some(text.to_owned())),
        }]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Content, A::Error> {
        let mut blocks = Vec::new();
        while let Some(Lenient(block)) = list.next_element::<Lenient<Block>>()? {
            blocks.extend(block);
        }
        Ok(Content(blocks))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Content, A::Error> {
        let block = Block::deserialize(de::value::MapAccessDeserializer::new(map))?;
        Ok(Content(vec![block]))
    }

    fn visit_unit<E: Error>(self) -> Result<Content, E> {
        Ok(Content::default())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Content, E> {
        Ok(Content::default())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Content, E> {
        Ok(Content::default())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Content, E> {
        Ok(Content::default())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Content, E> {
        Ok(Content::default())
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

/// A part that is an object, or nothing where something else stands. In a list of blocks a bare text counts as
/// nothing for objects, and as a block of text for [`Block`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lenient<T>(pub(crate) Option<T>);

impl<T> Default for Lenient<T> {
    fn default() -> Self {
        Lenient(None)
    }
}

impl<T> Lenient<T> {
    pub(crate) fn as_ref(&self) -> Option<&T> {
        self.0.as_ref()
    }
}

struct LenientVisitor<T>(std::marker::PhantomData<T>);

impl<'de, T: DeserializeOwned + 'static> Visitor<'de> for LenientVisitor<T> {
    type Value = Lenient<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Lenient<T>, A::Error> {
        T::deserialize(de::value::MapAccessDeserializer::new(map)).map(|part| Lenient(Some(part)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Lenient<T>, E> {
        let block: Box<dyn std::any::Any> = Box::new(Block {
            kind: Text(None),
            text: Text(Some(text.to_owned())),
        });
        Ok(Lenient(block.downcast::<T>().ok().map(|block| *block)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Lenient<T>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Lenient(None))
    }

    fn visit_unit<E: Error>(self) -> Result<Lenient<T>, E> {
        Ok(Lenient(None))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Lenient<T>, E> {
        Ok(Lenient(None))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Lenient<T>, E> {
        Ok(Lenient(None))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Lenient<T>, E> {
        Ok(Lenient(None))
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Lenient<T>, E> {
        Ok(Lenient(None))
    }
}

impl<'de, T: DeserializeOwned + 'static> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LenientVisitor(std::marker::PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_another_type_counts_as_missing() {
        let content = |json| {
            serde_json::from_str::<Content>(json)
                .expect("any value is content")
                .joined(&["text"])
        };
        assert_eq!(content(r#""a""#), "a");
        assert_eq!(
            content(
                r#"[{"type":"text","text":"a"},"b",7,{"type":"image","text":"c"},{"text":"d"}]"#
            ),
            "a\nb\nd"
        );
        assert_eq!(content("7") + &content("null") + &content("{}"), "");
        let flag = |json| {
            serde_json::from_str::<Flag>(json)
                .expect("any value is a flag")
                .0
        };
        assert!(flag("true") && flag("[]") && !flag("null") && !flag("false"));
        let number = |json| serde_json::from_str::<Number>(json).expect("any value").0;
        assert_eq!(
            (number("\"7\""), number("1.5"), number("{}")),
            (Some(7.0), Some(1.5), None)
        );
    }
}
