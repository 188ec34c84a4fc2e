//! TOML as people write it. It is read and written by way of JSON, whose code for each type there is anyway; errors name the place in the
//! TOML.

use std::{fmt, ops::Range};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::Value;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use crate::{json::Json, nearest::did_you_mean};

/// A TOML text that cannot be read.
#[derive(Debug)]
pub(crate) struct TomlError {
    /// The fault.
    pub(crate) message: String,
    /// The fault with its line and column.
    pub(crate) in_text: String,
}

/// Reads a value.
pub(crate) fn from_toml<T: Json>(toml: &str) -> Result<T, TomlError> {
    let table = DeTable::parse(toml)
        .map_err(|error| TomlError { message: error.message().to_owned(), in_text: error.to_string() })?;
    let mut json = Lines::default();
    json.table(table.span(), table.get_ref());
    T::from_json(&json.text).map_err(|error| {
        let message = error.to_string();
        let position = format!(" at line {} column {}", error.line(), error.column());
        let message = message.strip_suffix(&position).unwrap_or(&message).to_owned();
        let message = in_plain_words(&message);
        let in_text = in_text(toml, json.place(error.line(), &message), &message);
        TomlError { message, in_text }
    })
}

/// Expected form of a key, as serde names it and as an author knows it.
const EXPECTED: [(&str, &str); 12] = [
    ("a nonzero u16", "a whole number from 1: write it like 6"),
    ("a nonzero u32", "a whole number from 1: write it like 6"),
    ("a nonzero u64", "a whole number from 1: write it like 6"),
    ("u8", "a whole number: write it like 4"),
    ("u16", "a whole number: write it like 1500"),
    ("u32", "a whole number: write it like 1500"),
    ("u64", "a whole number: write it like 1500"),
    ("f64", "a number: write it like 0.5"),
    ("a string", "a text: write it like \"text\""),
    ("a boolean", "true or false"),
    ("a sequence", "a list, in square brackets"),
    ("a map", "a table, which is a section of its own"),
];

/// The message of an error without names of Rust's types.
fn in_plain_words(error: &str) -> String {
    let plain = |line: &str| {
        let known = line.rsplit_once(", expected ").and_then(|(found, expected)| {
            let (name, words) = EXPECTED.iter().find(|(name, _)| *name == expected)?;
            // A number without quotation marks is said again within them, and a value that stands alone within a list.
            let number = found.split('`').nth(1);
            let text = found.split_once("string ").map(|(_, text)| text).filter(|_| found.starts_with("invalid type"));
            let words = match (*name, number.or(text)) {
                ("a string", Some(number)) => format!("a text: write it like \"{number}\""),
                ("a sequence", Some(value)) => format!("a list: write it like [{value}]"),
                _ => (*words).to_owned(),
            };
            Some(format!("{found}, expected {words}"))
        });
        known.unwrap_or_else(|| line.to_owned() + &meant(line))
    };
    error.split('\n').map(plain).collect::<Vec<_>>().join("\n")
}

/// The name that may be meant by one that serde does not know, as a question.
fn meant(error: &str) -> String {
    let is_name = ["unknown field `", "unknown variant `"].iter().any(|start| error.starts_with(start));
    let mut names = error.split('`').skip(1).step_by(2);
    names.next().filter(|_| is_name).map(|wanted| did_you_mean(wanted, names)).unwrap_or_default()
}

/// Writes a value, its keys in the order of its fields.
pub(crate) fn to_toml(value: &impl Json) -> String {
    // Text, numbers, lists and tables, with text for keys: there is nothing that TOML cannot say.
    serde_json::from_str::<Ordered>(&value.to_json())
        .ok()
        .and_then(|tree| toml::to_string(&tree).ok())
        .unwrap_or_default()
}

/// JSON with a line for each key and value, and the place of each in the TOML.
#[derive(Default)]
struct Lines {
    text: String,
    places: Vec<Place>,
}

/// Place of a line.
struct Place {
    span: Range<usize>,
    /// Last value of the table that the line ends.
    last: Option<Range<usize>>,
}

impl Lines {
    fn line(&mut self, span: Range<usize>, last: Option<Range<usize>>) {
        if !self.places.is_empty() {
            self.text.push('\n');
        }
        self.places.push(Place { span, last });
    }

    fn table(&mut self, span: Range<usize>, table: &DeTable<'_>) {
        self.line(span.clone(), None);
        self.text.push('{');
        for (index, (key, value)) in table.iter().enumerate() {
            self.text.push_str(if index == 0 { "" } else { "," });
            self.line(key.span(), None);
            self.text += &format!("{}:", Value::from(key.get_ref().as_ref()));
            self.value(value);
        }
        self.line(span, table.values().next_back().map(Spanned::span));
        self.text.push('}');
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>) {
        if let DeValue::Table(table) = value.get_ref() {
            return self.table(value.span(), table);
        }
        self.line(value.span(), None);
        match value.get_ref() {
            DeValue::Integer(number) => {
                let decimal = i128::from_str_radix(number.as_str(), number.radix()).map(|number| number.to_string());
                self.text += &decimal.unwrap_or_else(|_| Value::from(number.to_string()).to_string());
            }
            DeValue::Float(number) => {
                let finite = number.as_str().parse().ok().and_then(serde_json::Number::from_f64);
                let number = finite.map_or_else(|| Value::from(number.as_str()), Value::from);
                self.text += &number.to_string();
            }
            DeValue::Array(items) => {
                self.text.push('[');
                for (index, item) in items.iter().enumerate() {
                    self.text.push_str(if index == 0 { "" } else { "," });
                    self.value(item);
                }
                self.text.push(']');
            }
            DeValue::Boolean(is_true) => self.text += &is_true.to_string(),
            DeValue::String(text) => self.text += &Value::from(text.as_ref()).to_string(),
            DeValue::Datetime(time) => self.text += &Value::from(time.to_string()).to_string(),
            DeValue::Table(_) => {}
        }
    }

    /// Place of an error that ended in this line. At the end of a table the last value is meant, unless something is missing.
    fn place(&self, line: usize, message: &str) -> Range<usize> {
        let Some(place) = self.places.get(line.saturating_sub(1)) else { return 0..0 };
        let is_missing = message.starts_with("missing field");
        place.last.as_ref().filter(|_| !is_missing).unwrap_or(&place.span).clone()
    }
}

/// The message below the line that it is about, as `toml` shows its own.
fn in_text(toml: &str, span: Range<usize>, message: &str) -> String {
    let before = &toml[..span.start];
    let (number, start) = (before.matches('\n').count(), before.rfind('\n').map_or(0, |at| at + 1));
    let (line, column) = (toml.split('\n').nth(number).unwrap_or_default(), span.start - start);
    let marks = "^".repeat(span.len().min(line.len().saturating_sub(column)).max(1));
    let number = (number + 1).to_string();
    let margin = " ".repeat(number.len());
    let place = format!("TOML parse error at line {number}, column {}", column + 1);
    format!("{place}\n{margin} |\n{number} | {line}\n{margin} | {}{marks}\n{message}\n", " ".repeat(column))
}

/// A JSON value whose tables keep the order of their keys.
enum Ordered {
    Nothing,
    Boolean(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(String),
    List(Vec<Ordered>),
    Table(Vec<(String, Ordered)>),
}

impl Serialize for Ordered {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Nothing => serializer.serialize_none(),
            Self::Boolean(is_true) => serializer.serialize_bool(*is_true),
            Self::Unsigned(number) => serializer.serialize_u64(*number),
            Self::Signed(number) => serializer.serialize_i64(*number),
            Self::Float(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => serializer.collect_seq(items),
            Self::Table(entries) => serializer.collect_map(entries.iter().map(|(key, value)| (key, value))),
        }
    }
}

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AsWritten)
    }
}

struct AsWritten;

impl<'de> Visitor<'de> for AsWritten {
    type Value = Ordered;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Ordered, E> {
        Ok(Ordered::Nothing)
    }

    fn visit_bool<E>(self, is_true: bool) -> Result<Ordered, E> {
        Ok(Ordered::Boolean(is_true))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Ordered, E> {
        Ok(Ordered::Unsigned(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Ordered, E> {
        Ok(Ordered::Signed(number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Ordered, E> {
        Ok(Ordered::Float(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Ordered, E> {
        Ok(Ordered::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Ordered, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Ordered::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Ordered, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = table.next_entry()? {
            entries.push(entry);
        }
        Ok(Ordered::Table(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;

    #[test]
    fn an_error_names_the_line_of_a_value_or_of_the_table_that_lacks_one() {
        let error = |toml: &str| from_toml::<Plan>(toml).map(drop).expect_err("a fault").in_text;
        let last_value = error("name = \"t\"\n[[goodput]]\nprotocol = \"tcp\"\nduration = \"2\"\n");
        assert!(
            last_value
                .starts_with("TOML parse error at line 4, column 12\n  |\n4 | duration = \"2\"\n  |            ^^^\n")
        );
        let missing = error("name = \"t\"\n\n[[goodput]]\nduration = \"2 s\"\n");
        assert!(missing.contains("line 3, column 1") && missing.ends_with("missing field `protocol`\n"), "{missing}");
        let near = error("name = \"t\"\n[[latency]]\nframe_sizes = [64]\ncuont = 3\n");
        assert!(near.contains("unknown field `cuont`") && near.ends_with("; did you mean count?\n"), "{near}");
        let far = error("name = \"t\"\n[[latency]]\nframe_sizes = [64]\nzzz = 3\n");
        assert!(!far.contains("did you mean"), "{far}");
        let syntax = error("name = \n");
        assert!(syntax.contains("line 1, column 8"), "{syntax}");
    }

    #[test]
    fn numbers_of_every_form_are_read() {
        let table = DeTable::parse("a = 0xff\nb = 1_000\nc = -2.5e3\nd = nan\ne = 2026-11-21\nf = [true, \"\\\"\"]")
            .expect("TOML");
        let mut json = Lines::default();
        json.table(table.span(), table.get_ref());
        let value: Value = json.text.parse().expect("JSON");
        let expected = r#"{"a":255,"b":1000,"c":-2500.0,"d":"nan","e":"2026-11-21","f":[true,"\""]}"#;
        assert_eq!(value.to_string(), expected);
    }
}
