//! Standards, conditions and revisions that a document is judged by.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Date, IdentityError, meaning, one_line, prose};

/// A standard that the test follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Standard {
    /// Name, with the section where only that is meant: RFC 2544, 26.1.
    pub name: String,
    /// Deviations from it; without any, the test conforms.
    #[serde(default)]
    pub deviations: Vec<String>,
}

/// Conditions of the test that the program cannot read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TestConditions {
    /// Room or rack.
    pub room: Option<String>,
    /// Ambient temperature.
    pub temperature: Option<String>,
    /// Relative humidity.
    pub humidity: Option<String>,
    /// Power profile of the machines, as their firmware names it.
    pub power_profile: Option<String>,
}

/// A revision of the document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Revision {
    /// Name.
    pub revision: String,
    /// Day.
    #[serde(default)]
    pub date: Option<Date>,
    /// Author.
    #[serde(default)]
    pub author: Option<String>,
    /// The change.
    pub change: String,
}

impl Standard {
    pub(super) fn check(&self) -> Result<(), String> {
        one_line(&self.name).map_err(|why| format!("name: {why}"))?;
        self.deviations.iter().try_for_each(|words| prose(words)).map_err(|why| format!("deviations: {why}"))
    }
}

impl TestConditions {
    pub(super) fn or(self, older: Self) -> Self {
        Self {
            room: self.room.or(older.room),
            temperature: self.temperature.or(older.temperature),
            humidity: self.humidity.or(older.humidity),
            power_profile: self.power_profile.or(older.power_profile),
        }
    }

    pub(super) fn check(&self) -> Result<(), IdentityError> {
        for (key, line) in [
            ("room", &self.room),
            ("temperature", &self.temperature),
            ("humidity", &self.humidity),
            ("power_profile", &self.power_profile),
        ] {
            line.as_deref().map_or(Ok(()), one_line).map_err(|why| meaning(&format!("conditions.{key}"), why))?;
        }
        Ok(())
    }
}

impl Revision {
    pub(super) fn check(&self) -> Result<(), String> {
        one_line(&self.revision).map_err(|why| format!("revision: {why}"))?;
        self.author.as_deref().map_or(Ok(()), one_line).map_err(|why| format!("author: {why}, or leave it out"))?;
        prose(&self.change).map_err(|why| format!("change: {why}"))
    }
}
