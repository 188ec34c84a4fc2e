//! Numbers of figures and tables, in the order in which a page has them.

use crate::texts::Texts;

/// The last number given to each kind.
#[derive(Default)]
pub(super) struct Numbers {
    figures: u32,
    tables: u32,
}

/// One of these numbers.
pub(super) struct Number {
    /// Counts from 1, figures and tables each by themselves.
    pub(super) count: u32,
    /// The number in the reader's language, like `Table 3`.
    pub(super) words: String,
}

impl Numbers {
    pub(super) fn figure(&mut self, t: &Texts) -> Number {
        self.figures += 1;
        Number { count: self.figures, words: t.with("figure-number", &[("number", &self.figures)]) }
    }

    pub(super) fn table(&mut self, t: &Texts) -> Number {
        self.tables += 1;
        Number { count: self.tables, words: t.with("table-number", &[("number", &self.tables)]) }
    }
}
