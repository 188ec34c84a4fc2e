//! A lab bed, made and taken down.

use model::check::{Check, Finding, Lack, Subject};

/// Whether a lab bed could be made and taken down, and why not.
pub fn lab(made: Result<(), String>) -> Check {
    match made {
        Ok(()) => Check::ok(Subject::LabBed, Finding::LabMade),
        Err(error) => Check::failed(Subject::LabBed, error, Lack::LabBed),
    }
}
