//! Network cards as JSON.

use model::Cards;
use schemars::JsonSchema;
use serde::Serialize;

/// What `inspect` prints with `--json`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CardsDocument {
    /// Name and version of this shape.
    pub schema: CardsSchemaName,
    /// The cards.
    #[serde(flatten)]
    pub cards: Cards,
}

/// Name and version of the shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub enum CardsSchemaName {
    /// The first version.
    #[serde(rename = "wireproof-inspect/1")]
    V1,
}

impl CardsDocument {
    /// The document of a machine's cards.
    pub fn of(cards: Cards) -> Self {
        Self { schema: CardsSchemaName::V1, cards }
    }
}

/// The JSON Schema of [`CardsDocument`].
pub fn cards_schema() -> serde_json::Value {
    schemars::schema_for!(CardsDocument).to_value()
}
