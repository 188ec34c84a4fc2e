//! The wall clock, as runs and trials name their moments.

use jiff::Timestamp;

/// The present moment (RFC 3339).
pub(crate) fn now() -> String {
    jiff::fmt::temporal::DateTimePrinter::new().precision(Some(0)).timestamp_to_string(&Timestamp::now())
}
