//! Recorded trials and the goals of RFC 9971, and tables over runs, as JSON.

use model::{
    device_table::{DeviceRow, DeviceTable},
    search::AssessedGoal,
};

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

document! {
    /// Output of `rfc2544 table`, and of `rfc2544 --dut-cpus N,N`, with `--json`.
    DeviceTableDocument of (table: &DeviceTable) {
        /// Name and version of this shape.
        schema: DeviceTableSchemaName = DeviceTableSchemaName::V1,
        /// A row for each frame size of each run.
        rows: Vec<DeviceRow> = table.rows.clone(),
        /// Whether the rows are of several machines.
        has_several_machines: bool = table.has_several_machines,
    }
}

schema!("wireproof-rfc2544-table/1": DeviceTableSchemaName, device_table_schema of DeviceTableDocument);
