//! Tables of a terminal.

use unicode_width::UnicodeWidthStr;

/// Columns of a terminal.
pub(crate) const WIDTH: usize = 80;

/// One line of a table: its cells, and what limited the figures where that is known.
pub(crate) struct Row<const N: usize>(pub(crate) [String; N], pub(crate) Vec<String>);

/// An empty line, the head, and the rows; nothing without rows.
///
/// The first column stands to the left, the rest to the right, each as wide as its widest cell. A name that leaves no room
/// for the figures stands on a line of its own above them, and what limited them on one below where it does not fit.
pub(crate) fn table<const N: usize>(head: [String; N], rows: Vec<Row<N>>) -> Vec<String> {
    if rows.is_empty() {
        return vec![];
    }
    let cells = || std::iter::once(&head).chain(rows.iter().map(|Row(cells, _)| cells));
    let widest = |column: usize| cells().map(|row| row[column].width()).max().unwrap_or_default();
    let mut widths: [usize; N] = std::array::from_fn(widest);
    let figures: usize = widths[1..].iter().map(|width| width + 2).sum();
    let room = WIDTH.saturating_sub(2 + figures);
    let fitting = cells().map(|row| row[0].width()).filter(|width| *width <= room).max();
    widths[0] = fitting.unwrap_or(room);
    let mut lines = vec![String::new()];
    lines.extend(row_lines(&head, &[], &widths));
    for Row(cells, limit) in &rows {
        lines.extend(row_lines(cells, limit, &widths));
    }
    lines
}

fn row_lines<const N: usize>(cells: &[String; N], limits: &[String], widths: &[usize; N]) -> Vec<String> {
    let pad = |width: usize, text: &str| " ".repeat(width.saturating_sub(text.width()));
    let mut lines = Vec::new();
    let mut line = format!("  {}{}", cells[0], pad(widths[0], &cells[0]));
    if cells[0].width() > widths[0] {
        lines.push(line);
        line = " ".repeat(2 + widths[0]);
    }
    for (cell, width) in cells.iter().zip(widths).skip(1) {
        line += &format!("  {}{cell}", pad(*width, cell));
    }
    line.truncate(line.trim_end().len());
    match limits {
        [limit] if line.width() + 2 + limit.width() <= WIDTH => lines.push(format!("{line}  {limit}")),
        limits => {
            lines.push(line);
            lines.extend(limits.iter().map(|limit| format!("    {limit}")));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, figure: &str, limit: Option<&str>) -> Row<2> {
        Row([name.into(), figure.into()], limit.map(str::to_owned).into_iter().collect())
    }

    #[test]
    fn columns_line_up_though_japanese_letters_are_twice_as_wide() {
        let lines = table(["通信".into(), "p50".into()], vec![row("UDP", "9", None)]);
        assert_eq!(lines, ["", "  通信  p50", "  UDP     9"]);
    }

    #[test]
    fn what_does_not_fit_has_a_line_of_its_own() {
        let (long, place) = ("n".repeat(76), "p".repeat(70));
        let rows =
            vec![row("TCP", "9", Some("limited by qdisc")), row(&long, "8", None), row("UDP", "7", Some(&place))];
        let lines = table(["x".into(), "p50".into()], rows);
        let expected = [
            "".to_owned(),
            "  x    p50".into(),
            "  TCP    9  limited by qdisc".into(),
            format!("  {long}"),
            "         8".into(),
            "  UDP    7".into(),
            format!("    {place}"),
        ];
        assert_eq!(lines, expected);
    }
}
