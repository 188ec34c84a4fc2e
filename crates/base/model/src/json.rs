//! JSON of the values that several crates write and read. serde's code for a type is compiled wherever a generic function of serde meets
//! it; these functions are where that happens once.

use serde::Serialize;
use serde_json::Value;

/// A value as JSON.
pub trait Json: Sized {
    /// Text of one line.
    fn to_json(&self) -> String;

    /// The value of a text.
    ///
    /// # Errors
    /// The text is not JSON of such a value.
    fn from_json(text: &str) -> Result<Self, serde_json::Error>;

    /// The generic value, tables ordered by key.
    fn to_value(&self) -> Value {
        self.to_json().parse().unwrap_or_default()
    }
}

/// The generic value of what is no [`Json`], tables ordered by key. By way of text, for which there is code anyway.
pub fn value_of(value: &impl Serialize) -> Value {
    serde_json::to_string(value).ok().and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// Makes types [`Json`], in the crate that declares them.
#[macro_export]
macro_rules! json {
    ($($type:ty),*) => {
        $(impl $crate::json::Json for $type {
            #[inline(never)]
            fn to_json(&self) -> String {
                serde_json::to_string(self).expect("plain values with text for keys")
            }

            #[inline(never)]
            fn from_json(text: &str) -> Result<Self, serde_json::Error> {
                serde_json::from_str(text)
            }
        })*
    };
}

json!(String);

/// The same JSON over several lines, as `serde_json` writes it for people.
pub fn pretty(line: &str) -> String {
    let (mut text, mut depth, mut quoted, mut escaped) = (String::with_capacity(2 * line.len()), 0, false, false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_empty = || matches!(letters.clone().peek(), Some(']' | '}'));
        match letter {
            _ if quoted => {
                quoted = escaped || letter != '"';
                escaped = letter == '\\' && !escaped;
                text.push(letter);
            }
            '[' | '{' if !is_empty() => {
                depth += 1;
                text.push(letter);
                text += &new_line(depth);
            }
            ']' | '}' if !text.ends_with(['[', '{']) => {
                depth -= 1;
                text += &new_line(depth);
                text.push(letter);
            }
            ',' => text += &format!(",{}", new_line(depth)),
            ':' => text += ": ",
            _ => {
                quoted = letter == '"';
                text.push(letter);
            }
        }
    }
    text
}

fn new_line(depth: usize) -> String {
    format!("\n{}", "  ".repeat(depth))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_for_people_is_that_of_serde() {
        let line = r#"{"a":[],"b":{},"c":[1,{"d":"x: {\"[,\\"}],"e":[[""],[{}]],"f":"]"}"#;
        let value: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(pretty(line), serde_json::to_string_pretty(&value).expect("plain"));
    }
}
