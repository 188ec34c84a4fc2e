//! Columns of a table, each with the cell that it has in a row.

use std::iter;

use crate::page::{Block, Column, Text};

/// Columns of a table over rows of one kind.
pub(crate) struct Columns<'c, R>(Vec<(Column, Cell<'c, R>)>);

type Cell<'c, R> = Box<dyn Fn(&R) -> Text + 'c>;

impl<'c, R> Columns<'c, R> {
    /// None yet.
    pub(crate) fn new() -> Self {
        Self(vec![])
    }

    /// With a column of short words.
    pub(crate) fn words<T: Into<Text>>(self, head: impl Into<String>, cell: impl Fn(&R) -> T + 'c) -> Self {
        self.with(Column::words(head), cell)
    }

    /// With a column of sentences.
    pub(crate) fn long<T: Into<Text>>(self, head: impl Into<String>, cell: impl Fn(&R) -> T + 'c) -> Self {
        self.with(Column::long(head), cell)
    }

    /// With a column of figures.
    pub(crate) fn figures<T: Into<Text>>(self, head: impl Into<String>, cell: impl Fn(&R) -> T + 'c) -> Self {
        self.with(Column::figures(head), cell)
    }

    fn with<T: Into<Text>>(mut self, column: Column, cell: impl Fn(&R) -> T + 'c) -> Self {
        self.0.push((column, Box::new(move |row| cell(row).into())));
        self
    }

    /// Without the last column, unless it is needed.
    pub(crate) fn only_if(mut self, is_needed: bool) -> Self {
        if !is_needed {
            self.0.pop();
        }
        self
    }

    /// The table.
    pub(crate) fn table<'r>(self, caption: impl Into<String>, rows: impl IntoIterator<Item = &'r R>) -> Block
    where
        R: 'r,
    {
        self.table_and(caption, rows, iter::empty())
    }

    /// The table with more rows of their own.
    pub(crate) fn table_and<'r>(
        self,
        caption: impl Into<String>,
        rows: impl IntoIterator<Item = &'r R>,
        last: impl IntoIterator<Item = Vec<Text>>,
    ) -> Block
    where
        R: 'r,
    {
        let rows = rows.into_iter().map(|row| self.0.iter().map(|(_, cell)| cell(row)).collect()).chain(last).collect();
        Block::table(caption, self.0.into_iter().map(|(column, _)| column).collect(), rows)
    }
}
