//! Cells of the CSV, by the name of their column.

use serde::Serialize;
use serde_json::Value;

/// Cells of one row; a column without a cell stays empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cells(Vec<(String, Value)>);

impl Cells {
    /// The row with one more cell. `None` is an empty one.
    pub(crate) fn with(mut self, column: &str, value: impl Serialize) -> Self {
        self.0.push((column.to_owned(), serde_json::to_value(value).unwrap_or_default()));
        self
    }

    /// The row with a cell for each of these fields, whose columns have more before and behind their names.
    pub(crate) fn fields(mut self, of: &impl Serialize, names: &str, (before, behind): (&str, &str)) -> Self {
        let values = serde_json::to_value(of).unwrap_or_default();
        self.0.extend(names.split(' ').map(|name| (format!("{before}{name}{behind}"), values[name].clone())));
        self
    }

    /// The row with the cells of another, which take the place of its own.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Content of a column, as text; the last cell counts.
    pub(crate) fn text(&self, column: &str) -> String {
        match self.0.iter().rfind(|(name, _)| name == column).map(|(_, value)| value) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(words)) => words.clone(),
            Some(value) => value.to_string(),
        }
    }

    /// Names of the columns that have a cell.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }
}
