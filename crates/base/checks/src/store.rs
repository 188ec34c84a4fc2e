//! The store.

use model::check::{Check, Finding, Lack, Subject};

/// Whether the store could be opened: its path, or why not.
pub fn store(opened: Result<String, String>) -> Check {
    match opened {
        Ok(path) => Check::ok(Subject::Store, Finding::Store { path }),
        Err(error) => Check::failed(Subject::Store, error, Lack::Store),
    }
}
