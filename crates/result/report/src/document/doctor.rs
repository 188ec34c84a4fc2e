//! Checks of a machine as JSON.

use model::check::{Check, Finding, Lack, Severity, Subject};

use crate::{
    finding::finding_text,
    lack::{lack_costs, lack_remedy},
    lang::Lang,
    shape::{document, schema},
};

document! {
    /// JSON document of `doctor` and `doctor --cabling`.
    DoctorDocument of (checks: &[Check]) {
        /// Name and version of this shape.
        schema: DoctorSchemaName = DoctorSchemaName::V1,
        /// Each check, in the order in which they were made.
        checks: Vec<CheckEntry> = checks.iter().map(CheckEntry::of).collect(),
    }
}

schema!("wireproof-doctor/1": DoctorSchemaName, doctor_schema of DoctorDocument);

document! {
    /// One check.
    CheckEntry of (check: &Check) {
        /// The thing that was looked at.
        check: Subject = check.subject,
        /// How much it matters.
        severity: Severity = check.severity,
        /// The finding: its kind and the values that belong to it.
        finding: Finding = check.read.clone(),
        /// The missing property; null where nothing is missing.
        lack: Option<Lack> = check.lack,
        /// The finding in words.
        read: String = finding_text(&check.read, Lang::En),
        /// Cost of the missing property; null where nothing is missing.
        costs: Option<String> = check.lack.map(|lack| lack_costs(lack, Lang::En)),
        /// Its remedy.
        fix: Option<String> = check.lack.map(|lack| lack_remedy(lack, Lang::En)),
    }
}
