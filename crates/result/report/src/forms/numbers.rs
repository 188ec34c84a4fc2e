//! Numbers of figures and tables in words.

use crate::texts::Texts;

/// Like `Figure 3`.
pub(super) fn figure(number: u32, t: &Texts) -> String {
    t.with("figure-number", &[("number", &number)])
}

/// Like `Table 3`.
pub(super) fn table(number: u32, t: &Texts) -> String {
    t.with("table-number", &[("number", &number)])
}
