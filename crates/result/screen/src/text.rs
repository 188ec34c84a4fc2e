//! Text of so many cells, whatever the language.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Cells that a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// The text in a field of so many cells, from the left; what is too long is cut.
pub(crate) fn left(text: &str, cells: usize) -> String {
    let text = cut(text, cells);
    let blank = cells - width(&text);
    text + &" ".repeat(blank)
}

/// The text at the right of a field of so many cells.
pub(crate) fn right(text: &str, cells: usize) -> String {
    let text = cut(text, cells);
    " ".repeat(cells - width(&text)) + &text
}

/// At most so many cells of the text, the last of them an ellipsis where some are missing.
pub(crate) fn cut(text: &str, cells: usize) -> String {
    if width(text) <= cells {
        return text.to_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        if width(&kept) + c.width().unwrap_or(0) >= cells {
            break;
        }
        kept.push(c);
    }
    if cells > 0 { kept + "…" } else { kept }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_their_width_in_cells_also_with_wide_characters() {
        for (text, cells) in [("eth0", 8), ("eth0", 3), ("受信", 6), ("インターフェース", 7), ("受信", 1), ("x", 0)]
        {
            assert_eq!(width(&left(text, cells)), cells, "{text}");
            assert_eq!(width(&right(text, cells)), cells, "{text}");
        }
        assert_eq!((left("受信", 5).as_str(), right("受信", 5).as_str()), ("受信 ", " 受信"));
        assert_eq!(cut("インターフェース", 7), "インタ…");
    }
}
