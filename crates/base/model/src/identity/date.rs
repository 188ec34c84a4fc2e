//! A day, as documents carry it.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::value::Datetime;

/// A day of the calendar, written like 2026-11-21. In TOML it may stand with or without quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Written", into = "String")]
#[schemars(with = "String")]
pub struct Date(toml::value::Date);

/// Text that is not a date.
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

/// A day as text; an error names the form of a day.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a day like 2026-11-21")]
enum Written {
    Text(String),
}

impl TryFrom<Written> for Date {
    type Error = DateError;

    fn try_from(Written::Text(text): Written) -> Result<Self, DateError> {
        text.parse()
    }
}

impl From<Date> for String {
    fn from(date: Date) -> Self {
        date.to_string()
    }
}
