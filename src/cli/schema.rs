//! Names of the JSON documents.

use ::report::SHAPES;
use clap::builder::{PossibleValue, PossibleValuesParser};

/// All of them together.
const ALL: &str = "all";

/// A document, or all of them.
pub(super) fn parser() -> PossibleValuesParser {
    let names = SHAPES.map(|shape| PossibleValue::new(shape.name).help(shape.of));
    names.into_iter().chain([PossibleValue::new(ALL).help("All of them, as an object by name")]).into()
}
