//! Published or imported figures that a run is compared with.

mod beside;
mod figure;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::{
    beside::{
        Against, Compared, Condition, Difference, FLAT_OUT, Match, NotComparable, NotCompared, ONE_WAY, OurFigure,
        ReferenceComparison, UNMODIFIED,
    },
    figure::{FigureMetric, ReferenceFigure, Statistic},
};
use crate::toml_text::from_toml;
pub use crate::{probe::Conditions, words::Words};

/// One source with all its figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Short name, as plans and the command line use it: small letters, digits and hyphens.
    pub id: String,
    /// Device or system that was measured.
    pub title: Words,
    /// Place where it can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Words>,
    /// When it was measured or published, as far as it is known ("2015-07-31", "2012").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Measuring organisation, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_by: Option<String>,
    /// Relation of the measuring organisation to the product.
    pub kind: Measurer,
    /// Conditions of all figures that do not say otherwise.
    #[serde(default)]
    pub conditions: Conditions,
    /// Errors in the source and what else a reader has to know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Words>,
    /// The figures.
    pub figures: Vec<ReferenceFigure>,
}

crate::json!(Reference);

/// Relation of the measuring organisation to the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Measurer {
    /// They make it.
    Maker,
    /// They tested it for somebody.
    Tester,
    /// Neither.
    Somebody,
    /// Another tool, whose output was imported.
    Tool,
}

/// A reference that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// Not TOML, an unknown key, a wrong type or unit; the text carries line and column.
    #[error("{0}")]
    Toml(String),
    /// Readable, but it says something that cannot be meant.
    #[error("{place}: {why}")]
    Meaning {
        /// The key or section, with its line where that is known.
        place: String,
        /// The fault and its remedy.
        why: String,
    },
}

/// More figures than any source has.
const MOST_FIGURES: usize = 10_000;
const LONGEST_ID: usize = 64;

impl Reference {
    /// Reads a reference from TOML.
    pub fn parse(toml: &str) -> Result<Self, ReferenceError> {
        let reference: Self = from_toml(toml).map_err(|error| ReferenceError::Toml(error.in_text))?;
        reference.check(toml)?;
        Ok(reference)
    }

    /// Conditions of one of its figures: the figure's own, completed by those of the source.
    pub fn conditions_of(&self, figure: &ReferenceFigure) -> Conditions {
        figure.conditions.clone().or(&self.conditions)
    }

    fn check(&self, toml: &str) -> Result<(), ReferenceError> {
        let meaning = |place: &str, why: String| Err(ReferenceError::Meaning { place: place.to_owned(), why });
        if !is_id(&self.id) {
            let why = format!("\"{}\" is no name; use 1 to {LONGEST_ID} small letters, digits and hyphens", self.id);
            return meaning("id", why);
        }
        if self.figures.is_empty() || self.figures.len() > MOST_FIGURES {
            return meaning("figures", format!("a reference has 1 to {MOST_FIGURES} [[figures]]"));
        }
        for (number, figure) in self.figures.iter().enumerate() {
            figure.check().map_err(|why| ReferenceError::Meaning { place: place(toml, number), why })?;
        }
        Ok(())
    }
}

/// Whether a name can be typed and written anywhere.
pub fn is_id(text: &str) -> bool {
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=LONGEST_ID).contains(&text.len()) && text.chars().all(good)
}

/// Place of a figure in the file.
fn place(toml: &str, number: usize) -> String {
    let heads = toml.lines().enumerate().filter(|(_, line)| line.trim_start().starts_with("[[figures]]"));
    let line = heads.map(|(index, _)| index + 1).nth(number);
    let section = format!("[[figures]] number {}", number + 1);
    line.map_or_else(|| section.clone(), |line| format!("line {line}, {section}"))
}

#[cfg(test)]
mod tests;
