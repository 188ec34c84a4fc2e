//! Data recorded beside a change: the previous state, and the namespaces.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

/// In place of the previous state: it was already as requested, and undoing leaves it.
const SAME: &str = "same";

/// The previous state in a line: a name of the kind's choice, and a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Before {
    before: String,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    value: Value,
}

impl Before {
    /// `None` means that it was already as requested.
    pub(crate) fn write<T: Serialize>(name: &str, state: Option<&T>) -> serde_json::Result<Self> {
        let (name, value) = match state {
            None => (SAME, Value::Null),
            Some(state) => (name, serde_json::to_value(state)?),
        };
        Ok(Self { before: name.to_owned(), value })
    }

    /// The state as a value: `null` where it was as requested.
    pub(crate) fn state(&self) -> Value {
        match &self.value {
            Value::Null if self.before != SAME => Value::from(self.before.as_str()),
            value => value.clone(),
        }
    }

    /// The state recorded under this name.
    pub(crate) fn read<T: DeserializeOwned>(&self, name: &str) -> serde_json::Result<Option<T>> {
        if self.before == SAME {
            return Ok(None);
        }
        if self.before != name {
            let why = format!("the state before is recorded as \"{}\", not as \"{name}\"", self.before);
            return Err(serde::de::Error::custom(why));
        }
        serde_json::from_value(self.value.clone()).map(Some)
    }
}

/// Namespaces of a change, with their identities: another one may get the same name later.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Namespaces(pub(crate) BTreeMap<String, u64>);

impl Namespaces {
    /// The identity recorded for this name.
    pub(crate) fn identity(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T: DeserializeOwned>(text: &str, name: &str) -> serde_json::Result<Option<T>> {
        serde_json::from_str::<Before>(text)?.read(name)
    }

    #[test]
    fn a_state_is_read_under_its_own_name_alone() {
        assert_eq!(read(r#"{"before":"value","value":"1"}"#, "value").expect("a value"), Some("1".to_owned()));
        assert_eq!(read(r#"{"before":"absent"}"#, "absent").expect("no value"), Some(()));
        assert_eq!(read::<String>(r#"{"before":"same"}"#, "value").expect("as it was"), None);
        for (text, name) in [(r#"{"before":"down"}"#, "value"), (r#"{"before":"value","value":[1]}"#, "value")] {
            assert!(read::<String>(text, name).is_err(), "{text}");
        }
    }

    #[test]
    fn a_state_is_written_as_it_is_read() {
        let text = |before: serde_json::Result<Before>| serde_json::to_string(&before.expect("plain")).expect("plain");
        assert_eq!(text(Before::write("absent", Some(&()))), r#"{"before":"absent"}"#);
        assert_eq!(text(Before::write("value", Some(&"1"))), r#"{"before":"value","value":"1"}"#);
        assert_eq!(text(Before::write::<()>("down", None)), r#"{"before":"same"}"#);
    }
}
