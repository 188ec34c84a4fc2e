//! Identity of a report: author, customer, device, and manual inspections. Read from TOML.

mod date;
mod entry;
mod issuer;
mod photo;
mod standing;
mod ticked;

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use date::{Date, DateError};
pub use issuer::Issuer;
pub use photo::{Photo, PhotoKind};
pub use standing::{Revision, Standard, TestConditions};

use crate::{
    choice::choice,
    toml_text::{from_toml, to_toml},
    verdict::Verdict,
};

/// Identity of a document. Unknown fields stay empty, to be filled in by pen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Identity {
    /// Title of the document.
    pub title: Option<String>,
    /// Number in the maker's system.
    pub document_number: Option<String>,
    /// Revision.
    pub revision: Option<String>,
    /// Date.
    pub date: Option<Date>,
    /// Place of the measurement.
    pub site: Option<String>,
    /// For whom.
    pub customer: Option<String>,
    /// Author.
    pub made_by: Option<Signatory>,
    /// Checked by.
    pub checked_by: Option<Signatory>,
    /// Approved by.
    pub approved_by: Option<Signatory>,
    /// Purpose and scope.
    pub scope: Option<String>,
    /// Conclusion of the author.
    pub conclusion: Option<String>,
    /// Issuer of the document.
    pub issuer: Option<Issuer>,
    /// Classification, like "Confidential".
    pub classification: Option<String>,
    /// Recipients.
    pub distribution: Vec<String>,
    /// Time zone of its times, like Asia/Tokyo.
    pub timezone: Option<String>,
    /// Size of its sheets; A4 where it is not given.
    pub paper: Option<Paper>,
    /// Conditions of the test.
    pub conditions: Option<TestConditions>,
    /// Standards that the test follows.
    #[serde(rename = "standard")]
    pub standards: Vec<Standard>,
    /// Revisions of the document, the first one first.
    #[serde(rename = "change")]
    pub changes: Vec<Revision>,
    /// Deviations from the method.
    pub deviations: Vec<String>,
    /// Description of the device under test.
    #[serde(rename = "device")]
    pub devices: Vec<Device>,
    /// Items inspected by eye or by hand.
    #[serde(rename = "item")]
    pub items: Vec<ManualItem>,
    /// Prices, for price against performance.
    #[serde(rename = "price")]
    pub prices: Vec<Price>,
    /// The photos that items name and the logo, once they are read; not for files that people write.
    #[serde(rename = "photo", skip_serializing_if = "Vec::is_empty")]
    pub photos: Vec<Photo>,
}

crate::json!(Identity);

choice!(
    /// Size of the sheets of a document.
    #[derive(Default)]
    Paper, "a size of paper", {
        /// ISO A4.
        #[default]
        A4 = "a4",
        /// US Letter.
        Letter = "letter",
    }
);

/// A person responsible for the document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Signatory {
    /// Name, as it is to stand there.
    pub name: String,
    /// When.
    #[serde(default)]
    pub date: Option<Date>,
}

/// One thing that was tested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// Kind of device: server, card, cable, switch.
    pub what: String,
    /// Maker and model.
    #[serde(default)]
    pub model: Option<String>,
    /// Serial number.
    #[serde(default)]
    pub serial: Option<String>,
    /// Anything else: firmware, slot, length.
    #[serde(default)]
    pub note: Option<String>,
}

/// One item that a person verified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ManualItem {
    /// Inspected item.
    pub what: String,
    /// Requirement.
    #[serde(default)]
    pub criterion: Option<String>,
    /// Finding.
    #[serde(default)]
    pub result: Option<String>,
    /// Verdict: pass, fail, inconclusive or not-run.
    #[serde(default = "ticked::not_run", deserialize_with = "ticked::verdict")]
    pub verdict: Verdict,
    /// Inspector.
    #[serde(default)]
    pub by: Option<String>,
    /// When.
    #[serde(default)]
    pub date: Option<Date>,
    /// Photos of it: names of files, relative to the file that names them.
    #[serde(default)]
    pub photos: Vec<String>,
}

/// A price.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// An adapter, or the name of a run.
    pub of: String,
    /// Amount.
    pub amount: f64,
    /// Currency, like JPY.
    pub currency: String,
}

/// An identity that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum IdentityError {
    /// Not TOML, an unknown key, a wrong type; the text carries line and column.
    #[error("{0}")]
    Toml(String),
    /// Readable, but it says something that cannot be.
    #[error("{place}: {why}")]
    Meaning {
        /// Where, like `[[item]] number 2`.
        place: String,
        /// The fault and its remedy.
        why: String,
    },
}

/// Longer texts are no line of a form.
const LONGEST_LINE: usize = 200;

impl Identity {
    /// Reads an identity from TOML.
    pub fn parse(toml: &str) -> Result<Self, IdentityError> {
        let identity: Self = from_toml(toml).map_err(|error| IdentityError::Toml(error.in_text))?;
        identity.check()?;
        Ok(identity)
    }

    /// TOML that reads back as this.
    pub fn to_toml(&self) -> String {
        to_toml(self)
    }

    /// This identity, completed by an older one. Photos come with the items that refer to them, and a logo with its name.
    pub fn or(self, older: Self) -> Self {
        let has_logo = |identity: &Self| identity.issuer.as_ref().is_some_and(|issuer| issuer.logo.is_some());
        let (of_items, of_logo) = (!self.items.is_empty(), has_logo(&self));
        let is_newer = |photo: &Photo| if photo.is_logo() { of_logo } else { of_items };
        let newer = self.photos.into_iter().filter(&is_newer);
        let photos = newer.chain(older.photos.into_iter().filter(|photo| !is_newer(photo))).collect();
        Self {
            title: self.title.or(older.title),
            document_number: self.document_number.or(older.document_number),
            revision: self.revision.or(older.revision),
            date: self.date.or(older.date),
            site: self.site.or(older.site),
            customer: self.customer.or(older.customer),
            made_by: self.made_by.or(older.made_by),
            checked_by: self.checked_by.or(older.checked_by),
            approved_by: self.approved_by.or(older.approved_by),
            scope: self.scope.or(older.scope),
            conclusion: self.conclusion.or(older.conclusion),
            issuer: both(self.issuer, older.issuer, Issuer::or),
            classification: self.classification.or(older.classification),
            distribution: or(self.distribution, older.distribution),
            timezone: self.timezone.or(older.timezone),
            paper: self.paper.or(older.paper),
            conditions: both(self.conditions, older.conditions, TestConditions::or),
            standards: or(self.standards, older.standards),
            changes: or(self.changes, older.changes),
            deviations: or(self.deviations, older.deviations),
            devices: or(self.devices, older.devices),
            items: or(self.items, older.items),
            prices: or(self.prices, older.prices),
            photos,
        }
    }

    /// The same with the names of its photos, but without their content.
    pub fn without_photos(&self) -> Self {
        Self { photos: Vec::new(), ..self.clone() }
    }

    /// Whether all that it says can be meant.
    pub fn check(&self) -> Result<(), IdentityError> {
        if !self.photos.is_empty() {
            let why = "photos are files; name them in their [[item]], like photos = [\"card.jpg\"]".to_owned();
            return Err(meaning("[[photo]]", why));
        }
        let lines = [
            ("title", &self.title),
            ("document_number", &self.document_number),
            ("revision", &self.revision),
            ("site", &self.site),
            ("customer", &self.customer),
            ("classification", &self.classification),
            ("timezone", &self.timezone),
        ];
        for (key, line) in lines {
            line.as_deref().map_or(Ok(()), one_line).map_err(|why| meaning(key, why))?;
        }
        for (key, who) in
            [("made_by", &self.made_by), ("checked_by", &self.checked_by), ("approved_by", &self.approved_by)]
        {
            who.as_ref().map_or(Ok(()), |who| one_line(&who.name)).map_err(|why| meaning(key, why))?;
        }
        for (key, words) in [("scope", &self.scope), ("conclusion", &self.conclusion)] {
            words.as_deref().map_or(Ok(()), prose).map_err(|why| meaning(key, why))?;
        }
        for (number, words) in self.deviations.iter().enumerate() {
            prose(words).map_err(|why| meaning(&format!("deviations, number {}", number + 1), why))?;
        }
        self.issuer.as_ref().map_or(Ok(()), Issuer::check)?;
        self.conditions.as_ref().map_or(Ok(()), TestConditions::check)?;
        for (number, recipient) in self.distribution.iter().enumerate() {
            one_line(recipient).map_err(|why| meaning(&format!("distribution, number {}", number + 1), why))?;
        }
        for (number, standard) in self.standards.iter().enumerate() {
            standard.check().map_err(|why| meaning(&format!("[[standard]] number {}", number + 1), why))?;
        }
        for (number, change) in self.changes.iter().enumerate() {
            change.check().map_err(|why| meaning(&format!("[[change]] number {}", number + 1), why))?;
        }
        for (number, item) in self.items.iter().enumerate() {
            item.check().map_err(|why| meaning(&format!("[[item]] number {}", number + 1), why))?;
        }
        for (number, device) in self.devices.iter().enumerate() {
            device.check().map_err(|(key, why)| meaning(&format!("[[device]] number {}: {key}", number + 1), why))?;
        }
        for (number, price) in self.prices.iter().enumerate() {
            price.check().map_err(|why| meaning(&format!("[[price]] number {}", number + 1), why))?;
        }
        Ok(())
    }
}

impl Device {
    /// The key that cannot be meant, and why.
    fn check(&self) -> Result<(), (&'static str, String)> {
        one_line(&self.what).map_err(|why| ("what", why))?;
        for (key, line) in [("model", &self.model), ("serial", &self.serial)] {
            line.as_deref().map_or(Ok(()), one_line).map_err(|why| (key, format!("{why}, or leave it out")))?;
        }
        self.note.as_deref().map_or(Ok(()), prose).map_err(|why| ("note", why))
    }
}

impl ManualItem {
    fn check(&self) -> Result<(), String> {
        one_line(&self.what)?;
        for (key, line) in [("criterion", &self.criterion), ("result", &self.result), ("by", &self.by)] {
            line.as_deref().map_or(Ok(()), one_line).map_err(|why| format!("{key}: {why}, or leave it out"))?;
        }
        Ok(())
    }
}

impl Price {
    fn check(&self) -> Result<(), String> {
        for (key, line) in [("of", &self.of), ("currency", &self.currency)] {
            one_line(line).map_err(|why| format!("{key}: {why}"))?;
        }
        if self.amount.is_finite() && self.amount >= 0.0 {
            return Ok(());
        }
        Err(format!("amount = {} is no price; write a number that is not below 0", self.amount))
    }
}

/// A list that says nothing says nothing against the older one.
fn or<T>(newer: Vec<T>, older: Vec<T>) -> Vec<T> {
    if newer.is_empty() { older } else { newer }
}

/// A table of which each says a part.
fn both<T>(newer: Option<T>, older: Option<T>, or: impl FnOnce(T, T) -> T) -> Option<T> {
    match (newer, older) {
        (Some(newer), Some(older)) => Some(or(newer, older)),
        (newer, older) => newer.or(older),
    }
}

fn meaning(place: &str, why: String) -> IdentityError {
    IdentityError::Meaning { place: place.to_owned(), why }
}

fn one_line(text: &str) -> Result<(), String> {
    if text.trim().is_empty() || text.chars().any(steers) || text.chars().count() > LONGEST_LINE {
        return Err(format!("write one line of 1 to {LONGEST_LINE} characters"));
    }
    Ok(())
}

/// Control characters, and those that turn the direction of writing, so that other words are read than are there.
fn steers(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Sentences: of any length, and on several lines.
fn prose(text: &str) -> Result<(), String> {
    if text.trim().is_empty() || text.chars().any(|c| steers(c) && c != '\n' && c != '\t') {
        return Err("write words without control characters, or leave it out".to_owned());
    }
    Ok(())
}

/// `NAME` or `NAME, DATE`, as on the command line.
impl FromStr for Signatory {
    type Err = DateError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_date = |text: &str| text.trim().starts_with(|c: char| c.is_ascii_digit());
        match text.rsplit_once(',') {
            Some((name, date)) if is_date(date) => {
                Ok(Self { name: name.trim().to_owned(), date: Some(date.trim().parse()?) })
            }
            _ => Ok(Self { name: text.trim().to_owned(), date: None }),
        }
    }
}

impl fmt::Display for Signatory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.date {
            Some(date) => write!(f, "{}, {date}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

#[cfg(test)]
mod tests;
