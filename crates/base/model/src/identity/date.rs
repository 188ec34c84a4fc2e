//! A day, as documents carry it.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, MapAccess, Visitor, value::MapAccessDeserializer},
};
use toml::value::Datetime;

/// A day of the calendar, written like 2026-11-21. In TOML it may stand with or without quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema)]
#[schemars(with = "String")]
pub struct Date(toml::value::Date);

/// What is no day.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no day; write it like 2026-11-21")]
pub struct DateError(String);

impl FromStr for Date {
    type Err = DateError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || DateError(text.to_owned());
        let parsed: Datetime = text.parse().map_err(|_| error())?;
        match parsed {
            Datetime { date: Some(date), time: None, offset: None } => Ok(Self(date)),
            _ => Err(error()),
        }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.0.year, self.0.month, self.0.day)
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Either)
    }
}

/// Reads both forms.
struct Either;

impl<'de> Visitor<'de> for Either {
    type Value = Date;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a day like 2026-11-21")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Date, E> {
        text.parse().map_err(E::custom)
    }

    /// A day without quotes: toml hands it over as a map of its own.
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Date, A::Error> {
        let datetime = Datetime::deserialize(MapAccessDeserializer::new(map))?;
        datetime.to_string().parse().map_err(de::Error::custom)
    }
}
