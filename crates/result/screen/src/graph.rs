//! Rates over time as rows of blocks.

/// Eighths of a cell.
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Time in which nothing is known.
const GAP: char = '·';

/// So many rows of so many cells, top first; the newest value stands at the right. `top` fills all rows, and what is more than
/// nothing is seen. `None` is time in which nothing is known.
pub(crate) fn rows(values: &[Option<f64>], top: f64, columns: usize, rows: usize) -> Vec<String> {
    let shown = &values[values.len().saturating_sub(columns)..];
    let heights: Vec<Option<usize>> = shown.iter().map(|value| value.map(|value| height(value, top, rows))).collect();
    let blank = " ".repeat(columns - shown.len());
    let row = |row: usize| {
        let below = 8 * (rows - 1 - row);
        let cell = |height: &Option<usize>| match height {
            None if below == 0 => GAP,
            height => EIGHTHS[height.unwrap_or_default().saturating_sub(below).min(8)],
        };
        blank.clone() + &heights.iter().map(cell).collect::<String>()
    };
    (0..rows).map(row).collect()
}

/// In eighths of a row.
fn height(value: f64, top: f64, rows: usize) -> usize {
    if value <= 0.0 || top <= 0.0 {
        return 0;
    }
    ((value / top * 8.0 * rows as f64).round() as usize).clamp(1, (8 * rows).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_fills_all_rows_and_the_least_is_seen() {
        let values = [Some(0.0), Some(0.001), Some(50.0), Some(75.0), Some(100.0), None];
        assert_eq!(rows(&values, 100.0, 8, 2), ["     ▄█ ", "   ▁███·"]);
        assert_eq!(rows(&values, 100.0, 3, 1), ["▆█·"], "the newest are kept");
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        assert_eq!(rows(&[], 0.0, 3, 1), ["   "]);
        assert_eq!(rows(&[Some(0.0)], 0.0, 3, 1), ["   "]);
        assert!(rows(&[Some(1.0)], 1.0, 3, 0).is_empty());
    }
}
