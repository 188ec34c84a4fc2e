//! Notation of a part of a stream: as words, the same on the command line, in TOML and in JSON.

use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};

/// Words as TOML and JSON may hold them: text, a number, or a list of these, which stands for the text with commas between.
pub(crate) struct Words;

impl<'de> Visitor<'de> for Words {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text, a number, or a list of these")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<String, A::Error> {
        let mut parts: Vec<String> = Vec::new();
        while let Some(Part(part)) = list.next_element()? {
            parts.push(part);
        }
        Ok(parts.join(", "))
    }
}

/// One element of a list.
struct Part(String);

impl<'de> serde::Deserialize<'de> for Part {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Words).map(Self)
    }
}

/// Serde for types with `FromStr` and `Display`: written as text, read from text, a number, or a list of these.
macro_rules! as_words {
    ($type:ident $(<$part:ident: $bound:path>)?) => {
        impl$(<$part: $bound>)? serde::Serialize for $type$(<$part>)? {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de$(, $part: $bound)?> serde::Deserialize<'de> for $type$(<$part>)? {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let words = deserializer.deserialize_any($crate::stream::words::Words)?;
                words.parse().map_err(serde::de::Error::custom)
            }
        }

        impl$(<$part: $bound>)? schemars::JsonSchema for $type$(<$part>)? {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string" })
            }
        }
    };
}

pub(crate) use as_words;

/// A number in words: `what` names it, `possible` gives its range.
pub(super) fn number<T: std::str::FromStr>(text: &str, what: &'static str, possible: &str) -> Result<T, WordsError> {
    text.trim().parse().map_err(|_| WordsError(format!("\"{text}\" is not {what}: use {possible}")))
}

/// Meaningless words; the text gives the fault and the possible values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WordsError(pub(super) String);

/// The words before `key`, and the one after it: "1..9 step 2" by "step" is ("1..9", Some("2")).
pub(super) fn keyed<'a>(text: &'a str, key: &str) -> (&'a str, Option<&'a str>) {
    match text.split_once(&format!(" {key} ")) {
        Some((before, after)) => (before.trim(), Some(after.trim())),
        None => (text.trim(), None),
    }
}
