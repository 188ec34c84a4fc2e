//! One entry of an identity as text: a key and its value.

use super::{DateError, Identity, IdentityError, meaning};
use crate::choice::ChoiceError;

impl Identity {
    /// Keys that have a text for a value. Tables of several entries stand in files.
    pub const KEYS: [&str; 23] = [
        "title",
        "document_number",
        "revision",
        "date",
        "site",
        "customer",
        "made_by",
        "checked_by",
        "approved_by",
        "scope",
        "conclusion",
        "classification",
        "timezone",
        "paper",
        "distribution",
        "deviations",
        "issuer.name",
        "issuer.address",
        "issuer.logo",
        "conditions.room",
        "conditions.temperature",
        "conditions.humidity",
        "conditions.power_profile",
    ];

    /// Sets the value of a key; a list gets one entry more.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), IdentityError> {
        let read = |error: DateError| meaning(key, error.to_string());
        let text = || Some(value.to_owned());
        match key {
            "title" => self.title = text(),
            "document_number" => self.document_number = text(),
            "revision" => self.revision = text(),
            "date" => self.date = Some(value.parse().map_err(read)?),
            "site" => self.site = text(),
            "customer" => self.customer = text(),
            "made_by" => self.made_by = Some(value.parse().map_err(read)?),
            "checked_by" => self.checked_by = Some(value.parse().map_err(read)?),
            "approved_by" => self.approved_by = Some(value.parse().map_err(read)?),
            "scope" => self.scope = text(),
            "conclusion" => self.conclusion = text(),
            "classification" => self.classification = text(),
            "timezone" => self.timezone = text(),
            "paper" => self.paper = Some(value.parse().map_err(|error: ChoiceError| meaning(key, error.to_string()))?),
            "distribution" => self.distribution.extend(text()),
            "deviations" => self.deviations.extend(text()),
            "issuer.name" => self.issuer.get_or_insert_default().name = text(),
            "issuer.address" => self.issuer.get_or_insert_default().address = text(),
            "issuer.logo" => self.issuer.get_or_insert_default().logo = text(),
            "conditions.room" => self.conditions.get_or_insert_default().room = text(),
            "conditions.temperature" => self.conditions.get_or_insert_default().temperature = text(),
            "conditions.humidity" => self.conditions.get_or_insert_default().humidity = text(),
            "conditions.power_profile" => self.conditions.get_or_insert_default().power_profile = text(),
            _ => return Err(meaning(key, "there is no such entry that has a text for a value".to_owned())),
        }
        Ok(())
    }
}
