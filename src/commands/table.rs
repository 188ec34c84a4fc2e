//! Tables on a terminal: columns as wide as their cells.

use std::{array, iter};

use unicode_width::UnicodeWidthStr;

/// Between two columns.
pub(super) const GAP: usize = 2;

/// A head and its rows; one column has figures, which stand to the right.
pub(super) fn table<const N: usize>(head: &[String; N], rows: &[[String; N]], figures: Option<usize>) -> String {
    let widths = widest(head, rows);
    let line_of = |row: &[String; N]| line(&row.iter().map(String::as_str).zip(widths).collect::<Vec<_>>(), figures);
    iter::once(head).chain(rows).map(line_of).collect()
}

/// Width of the widest cell of each column.
pub(super) fn widest<const N: usize>(head: &[String; N], rows: &[[String; N]]) -> [usize; N] {
    let width = |column: usize| iter::once(head).chain(rows).map(|row| row[column].width()).max().unwrap_or_default();
    array::from_fn(width)
}

/// Cells with the widths of their columns.
pub(super) fn line(cells: &[(&str, usize)], figures: Option<usize>) -> String {
    let padded = |(column, (cell, width)): (usize, &(&str, usize))| {
        let pad = " ".repeat(width.saturating_sub(cell.width()));
        if figures == Some(column) { format!("{pad}{cell}") } else { format!("{cell}{pad}") }
    };
    let cells: Vec<String> = cells.iter().enumerate().map(padded).collect();
    cells.join(&" ".repeat(GAP)).trim_end().to_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_though_japanese_letters_are_twice_as_wide() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned);
        let shown = table(&row(["参照値", "値の数", "内容"]), &[row(["a", "22", "b"])], Some(1));
        assert_eq!(shown, "参照値  値の数  内容\na           22  b\n");
    }
}
