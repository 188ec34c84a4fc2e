//! The JSON document of a comparison, `wireproof-compare/1`.

use model::Comparison;
use schemars::JsonSchema;
use serde::Serialize;

/// Runs side by side as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ComparisonDocument {
    /// Name and version of this shape.
    pub schema: ComparisonSchemaName,
    /// The comparison.
    #[serde(flatten)]
    pub comparison: Comparison,
}

/// Name and version of the shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub enum ComparisonSchemaName {
    /// The first version.
    #[serde(rename = "wireproof-compare/1")]
    V1,
}

impl ComparisonDocument {
    /// The document of a comparison.
    pub fn of(comparison: &Comparison) -> Self {
        Self { schema: ComparisonSchemaName::V1, comparison: comparison.clone() }
    }
}

/// The JSON Schema of [`ComparisonDocument`].
pub fn comparison_schema() -> serde_json::Value {
    schemars::schema_for!(ComparisonDocument).to_value()
}
