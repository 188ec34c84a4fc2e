//! The result of reading one thing: its value, that there is none, or why it cannot be read.

use std::{borrow::Cow, marker::PhantomData};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The result of reading one thing. In JSON a known value is the value itself, an absent one `null` or missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written<T>", into = "Written<T>", bound(serialize = "T: Clone + Serialize"))]
pub enum Reading<T> {
    /// The value.
    Known(T),
    /// There is none.
    #[default]
    Absent,
    /// There may be one.
    Unreadable {
        /// The file or the question that failed.
        path: String,
        /// Why, in the words of the system.
        why: String,
    },
}

impl<T> Reading<T> {
    /// The value, where it is known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            _ => None,
        }
    }

    /// The value, where it is known.
    pub fn into_known(self) -> Option<T> {
        match self {
            Self::Known(value) => Some(value),
            _ => None,
        }
    }

    /// The value, or nothing at all.
    pub fn or_default(self) -> T
    where
        T: Default,
    {
        self.into_known().unwrap_or_default()
    }

    /// Another value, made from this one.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Reading<U> {
        self.and_then(|value| Some(f(value)))
    }

    /// Another value, which is absent where this one does not have it.
    pub fn and_then<U>(self, f: impl FnOnce(T) -> Option<U>) -> Reading<U> {
        self.then(|value| f(value).map_or(Reading::Absent, Reading::Known))
    }

    /// Another reading, made from this value.
    pub fn then<U>(self, f: impl FnOnce(T) -> Reading<U>) -> Reading<U> {
        match self {
            Self::Known(value) => f(value),
            Self::Absent => Reading::Absent,
            Self::Unreadable { path, why } => Reading::Unreadable { path, why },
        }
    }

    /// A reading of the value where it stands.
    pub fn as_ref(&self) -> Reading<&T> {
        match self {
            Self::Known(value) => Reading::Known(value),
            Self::Absent => Reading::Absent,
            Self::Unreadable { path, why } => Reading::Unreadable { path: path.clone(), why: why.clone() },
        }
    }

    /// The value as a column or a sum takes it; nothing where it is not known.
    pub fn copied(&self) -> Option<T>
    where
        T: Copy,
    {
        self.known().copied()
    }

    /// This one, or another where it is absent.
    pub fn or(self, other: impl FnOnce() -> Self) -> Self {
        if matches!(self, Self::Absent) { other() } else { self }
    }
}

/// All values that there are; unreadable as soon as one is.
impl<T, C: Default + Extend<T>> FromIterator<Reading<T>> for Reading<C> {
    fn from_iter<I: IntoIterator<Item = Reading<T>>>(readings: I) -> Self {
        let mut all = C::default();
        for reading in readings {
            match reading {
                Reading::Known(value) => all.extend([value]),
                Reading::Absent => {}
                Reading::Unreadable { path, why } => return Self::Unreadable { path, why },
            }
        }
        Self::Known(all)
    }
}

impl<T> From<T> for Reading<T> {
    fn from(value: T) -> Self {
        Self::Known(value)
    }
}

impl Reading<String> {
    /// This text, which is absent where it is empty.
    pub fn filled(self) -> Self {
        self.and_then(|text| (!text.is_empty()).then_some(text))
    }
}

impl From<&str> for Reading<String> {
    fn from(value: &str) -> Self {
        Self::Known(value.to_owned())
    }
}

/// A reading as it is written.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Written<T> {
    Unreadable {
        /// The file or the question that failed.
        unreadable: String,
        /// Why, in the words of the system.
        why: String,
    },
    Read(Option<T>),
}

impl<T> From<Written<T>> for Reading<T> {
    fn from(written: Written<T>) -> Self {
        match written {
            Written::Unreadable { unreadable, why } => Self::Unreadable { path: unreadable, why },
            Written::Read(value) => value.map_or(Self::Absent, Self::Known),
        }
    }
}

impl<T> From<Reading<T>> for Written<T> {
    fn from(reading: Reading<T>) -> Self {
        match reading {
            Reading::Known(value) => Self::Read(Some(value)),
            Reading::Absent => Self::Read(None),
            Reading::Unreadable { path, why } => Self::Unreadable { unreadable: path, why },
        }
    }
}

impl<T: JsonSchema> JsonSchema for Reading<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("Reading_of_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Written::<T>::json_schema(generator)
    }
}

/// Writes an absent value as an empty one (`""`, 0), as fields do that were plain values once. For serde's `with`.
pub struct OrEmpty<T>(PhantomData<T>);

impl<T: Clone + Default + PartialEq> OrEmpty<T> {
    /// Writes a reading.
    ///
    /// # Errors
    /// As the serializer has them.
    pub fn serialize<S: Serializer>(reading: &Reading<T>, serializer: S) -> Result<S::Ok, S::Error>
    where
        T: Serialize,
    {
        match reading {
            Reading::Absent => T::default().serialize(serializer),
            reading => reading.serialize(serializer),
        }
    }

    /// Reads one.
    ///
    /// # Errors
    /// As the deserializer has them.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Reading<T>, D::Error>
    where
        T: Deserialize<'de>,
    {
        let reading = Reading::deserialize(deserializer)?;
        Ok(reading.and_then(|value| (value != T::default()).then_some(value)))
    }
}

impl<T: JsonSchema> JsonSchema for OrEmpty<T> {
    fn schema_name() -> Cow<'static, str> {
        Reading::<T>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Reading::<T>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    struct Facts {
        #[serde(with = "OrEmpty::<String>")]
        governor: Reading<String>,
        #[serde(with = "OrEmpty::<u64>")]
        memory: Reading<u64>,
        lanes: Reading<u32>,
    }

    /// Written and read back, in a form that describes itself.
    fn written(facts: &Facts) -> String {
        let text = toml::to_string(facts).expect("plain values");
        assert_eq!(&toml::from_str::<Facts>(&text).expect("as written"), facts, "{text}");
        text
    }

    #[test]
    fn a_known_value_is_written_as_itself_and_an_absent_one_as_nothing() {
        let known = Facts { governor: "performance".into(), memory: Reading::Known(7), lanes: Reading::Known(4) };
        assert_eq!(written(&known), "governor = \"performance\"\nmemory = 7\nlanes = 4\n");
        assert_eq!(written(&Facts::default()), "governor = \"\"\nmemory = 0\n");
        assert_eq!(toml::from_str::<Facts>("").expect("all is missing"), Facts::default());
    }

    #[test]
    fn an_unreadable_value_says_what_failed_and_why() {
        let unreadable = |path: &str| Reading::Unreadable { path: path.into(), why: "Permission denied".into() };
        let facts = Facts { governor: unreadable("/sys/x"), lanes: Reading::Absent, ..Facts::default() };
        assert!(written(&facts).contains("[governor]\nunreadable = \"/sys/x\"\nwhy = \"Permission denied\"\n"));
        assert_eq!(
            unreadable("/x").map(|value| value.len()),
            Reading::<usize>::Unreadable { path: "/x".into(), why: "Permission denied".into() }
        );
        let all = |readings: Vec<Reading<u32>>| readings.into_iter().collect::<Reading<Vec<u32>>>();
        assert_eq!(all(vec![Reading::Known(1), Reading::Absent, Reading::Known(2)]), Reading::Known(vec![1, 2]));
        let refused = Reading::Unreadable { path: "/x".into(), why: "no".into() };
        assert!(matches!(all(vec![Reading::Known(1), refused]), Reading::Unreadable { .. }));
        assert_eq!(Reading::Known(4).and_then(|_| None::<u32>).or(|| Reading::Known(5)), Reading::Known(5));
    }
}
