//! Numbers of figures and tables in words.

use crate::{page::Number, texts::Texts};

/// Like `Figure 3` or `Figure A.3`.
pub(super) fn figure(number: Number, t: &Texts) -> String {
    t.with("figure-number", &[("number", &number)])
}

/// Like `Table 3` or `Table A.3`.
pub(super) fn table(number: Number, t: &Texts) -> String {
    t.with("table-number", &[("number", &number)])
}
