//! Figures that stay on one line with their units.

use maud::{Markup, html};

const UNITS: [&str; 26] = [
    "%", "B", "GB/s", "GHz", "GT/s", "Gbit/s", "GiB", "KiB", "MB/s", "MHz", "Mbit/s", "MiB", "Mpps", "W", "bit/s",
    "bytes", "cycles", "h", "kbit/s", "kpps", "min", "ms", "ns", "pps", "s", "µs",
];

/// Words in which a line breaks at no space between a figure and its unit.
pub(super) fn together(words: &str) -> Markup {
    let (mut rest, mut pieces) = (words, Vec::new());
    while let Some((before, quantity, after)) = next(rest) {
        pieces.push((before, quantity));
        rest = after;
    }
    html! {
        @for (before, quantity) in pieces { (before) span.quantity { (quantity) } }
        (rest)
    }
}

/// Text before the next quantity, the quantity, and the rest.
fn next(words: &str) -> Option<(&str, &str, &str)> {
    words.match_indices(' ').find_map(|(space, _)| {
        let (number, unit) = (&words[..space], &words[space + 1..]);
        let start = number.trim_end_matches(|c: char| c.is_ascii_digit() || ".,".contains(c)).len();
        let end = unit.find(|c: char| !(c.is_alphabetic() || "%/".contains(c))).unwrap_or(unit.len());
        let is_quantity = number.ends_with(|c: char| c.is_ascii_digit()) && UNITS.contains(&&unit[..end]);
        let end = space + 1 + end;
        is_quantity.then(|| (&words[..start], &words[start..end], &words[end..]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_kept_with_their_units_and_nothing_else() {
        let shown = |words| together(words).into_string();
        assert_eq!(
            shown("about 39.70 Gbit/s, <1 % of 64 bytes"),
            "about <span class=\"quantity\">39.70 Gbit/s</span>, &lt;<span class=\"quantity\">1 %</span> of \
             <span class=\"quantity\">64 bytes</span>"
        );
        assert_eq!(shown("RFC 2544 says 3 times"), "RFC 2544 says 3 times");
        assert_eq!(shown("遅延は 14.9 µs です"), "遅延は <span class=\"quantity\">14.9 µs</span> です");
        assert_eq!(shown("eth 0 s"), "eth <span class=\"quantity\">0 s</span>");
        assert_eq!(shown(""), "");
    }
}
