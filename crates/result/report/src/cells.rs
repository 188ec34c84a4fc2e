//! Cells of the CSV, by the name of their column.

use model::json::value_of;
use serde::Serialize;
use serde_json::Value;

/// Cells of one row; a column without a cell stays empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cells(Vec<(String, Value)>);

impl Cells {
    /// The row with one more cell. `None` is an empty one.
    pub(crate) fn with(mut self, column: &str, value: impl Serialize) -> Self {
        self.0.push((column.to_owned(), value_of(&value)));
        self
    }

    /// The row with a cell for each of these fields, whose columns have more before and behind their names.
    pub(crate) fn fields(mut self, of: &impl Serialize, names: &str, (before, behind): (&str, &str)) -> Self {
        let values = value_of(of);
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
            Some(Value::String(words)) => without_formula(words),
            Some(value) => value.to_string(),
        }
    }

    /// Names of the columns that have a cell.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }
}

/// A spreadsheet computes what begins like a formula; behind an apostrophe it is text. Numbers stay numbers.
pub(crate) fn without_formula(words: &str) -> String {
    let is_formula = words.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) && words.parse::<f64>().is_err();
    if is_formula { format!("'{words}") } else { words.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_a_formula_and_numbers_stay_numbers() {
        let text = |value: Value| Cells::default().with("column", value).text("column");
        for formula in ["=1+1", "+a", "-a", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "-"] {
            assert_eq!(text(formula.into()), format!("'{formula}"));
        }
        for (value, shown) in
            [(Value::from(-1.5), "-1.5"), ("-1.5".into(), "-1.5"), ("a=b".into(), "a=b"), ("".into(), "")]
        {
            assert_eq!(text(value), shown);
        }
    }
}
