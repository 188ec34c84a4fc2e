//! Findings of checks: a value, what is wanted, how much it matters, and the command that mends it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Check;

/// Key of the values of a finding that root could read.
pub const ROOT: &str = "root";
/// Key of the values of a finding whose command takes effect at the next start.
pub const REBOOT: &str = "reboot";

/// Result of one check on one object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The check; its name is also the key of its title and of its reason among the texts.
    pub check: Check,
    /// The interface, device, core or setting; empty for the machine.
    pub object: String,
    /// Severity.
    pub severity: Severity,
    /// The value that was read.
    pub read: Read,
    /// The value that is wanted, in notation that needs no translation, like `>= 4096`.
    pub wanted: String,
    /// Values in the words of the reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, String>,
    /// Documents that say so.
    pub sources: Vec<Document>,
    /// The command that mends it; null where no command does.
    pub mend: Option<String>,
}

impl Finding {
    /// A finding that is as wanted.
    pub fn of(check: Check, object: &str, read: Read, wanted: impl ToString, sources: &[(&str, &str)]) -> Self {
        let document =
            |(title, section): &(&str, &str)| Document { title: (*title).into(), section: (*section).into() };
        Self {
            check,
            object: object.to_owned(),
            severity: Severity::Ok,
            read,
            wanted: wanted.to_string(),
            values: BTreeMap::new(),
            sources: sources.iter().map(document).collect(),
            mend: None,
        }
    }

    /// The same with this severity and this command, unless it is as wanted.
    #[must_use]
    pub fn unless(self, is_wanted: bool, severity: Severity, mend: Option<String>) -> Self {
        if is_wanted { self } else { Self { severity, mend, ..self } }
    }

    /// The same with a value in the words of its reason.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.values.insert(name.to_owned(), value.to_string());
        self
    }

    /// A check whose reading failed.
    pub fn unknown(check: Check, object: &str, place: &str, why: &str) -> Self {
        let read = Read::of(why, place);
        Self { severity: Severity::Unknown, ..Self::of(check, object, read, "", &[]) }
    }
}

impl Read {
    /// A value with its place.
    pub fn of(value: impl ToString, place: impl Into<String>) -> Self {
        Self { value: value.to_string(), place: place.into() }
    }
}

/// A value, and where it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Read {
    /// The value, as the kernel writes it; the reason where it cannot be read.
    pub value: String,
    /// The file or the command.
    pub place: String,
}

/// A document that gives a reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// Name.
    pub title: String,
    /// The section.
    pub section: String,
}

/// Severity of a finding, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Results are wrong, or there are none.
    Fail,
    /// Results suffer.
    Warn,
    /// It could not be read.
    Unknown,
    /// Worth knowing.
    Info,
    /// As wanted.
    Ok,
}
