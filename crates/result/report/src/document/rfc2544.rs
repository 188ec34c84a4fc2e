//! Recorded trials and the goals of RFC 9971, as JSON.

use model::search::AssessedGoal;

use crate::shape::{document, schema};

document! {
    /// Output of `rfc2544 classify` with `--json`. Loads are in the unit of the trials' file.
    ClassifiedDocument of (goals: &[AssessedGoal]) {
        /// Name and version of this shape.
        schema: ClassifiedSchemaName = ClassifiedSchemaName::V1,
        /// Each goal with the classification of each load and its result, in the order of the goals' file.
        goals: Vec<AssessedGoal> = goals.to_vec(),
    }
}

schema!("wireproof-rfc2544-classify/1": ClassifiedSchemaName, classified_schema of ClassifiedDocument);
