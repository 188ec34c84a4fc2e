//! Beds that stay, and what was undone, as JSON.

use model::Bed;

use crate::shape::{document, schema};

document! {
    /// JSON document of `bed list` and `bed up`.
    BedsDocument of (beds: &[Bed]) {
        /// Name and version of this shape.
        schema: BedsSchemaName = BedsSchemaName::V1,
        /// The beds; of `bed up`, the new one.
        beds: Vec<Bed> = beds.to_vec(),
    }
}

schema!("wireproof-bed/1": BedsSchemaName, beds_schema of BedsDocument);

document! {
    /// JSON document of `clean`, `bed down` and `router down`.
    UndoneDocument of (undone: &[String]) {
        /// Name and version of this shape.
        schema: UndoneSchemaName = UndoneSchemaName::V1,
        /// Each change that was undone, in words, the last one first.
        undone: Vec<String> = undone.to_vec(),
    }
}

schema!("wireproof-clean/1": UndoneSchemaName, undone_schema of UndoneDocument);
