//! The JSON document of a comparison, `wireproof-compare/1`.

use model::Comparison;

use crate::shape::{document, schema};

document! {
    /// Runs side by side as JSON.
    ComparisonDocument of (comparison: &Comparison) {
        /// Name and version of this shape.
        schema: ComparisonSchemaName = ComparisonSchemaName::V1,
        /// The comparison.
        #[serde(flatten)]
        comparison: Comparison = comparison.clone(),
    }
}

schema!("wireproof-compare/1": ComparisonSchemaName, comparison_schema of ComparisonDocument);
