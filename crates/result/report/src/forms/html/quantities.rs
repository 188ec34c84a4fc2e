//! Pieces of a text that stay on one line: figures with their units, options of a command, dates.

use std::ops::Range;

use maud::{Markup, html};

const UNITS: [&str; 26] = [
    "%", "B", "GB/s", "GHz", "GT/s", "Gbit/s", "GiB", "KiB", "MB/s", "MHz", "Mbit/s", "MiB", "Mpps", "W", "bit/s",
    "bytes", "cycles", "h", "kbit/s", "kpps", "min", "ms", "ns", "pps", "s", "µs",
];

/// Words in which no line breaks between a figure and its unit, nor at a hyphen of an option or a date.
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

/// Text before the next piece that stays whole, that piece, and the rest.
fn next(words: &str) -> Option<(&str, &str, &str)> {
    let first = [quantity(words), option(words), date(words)].into_iter().flatten().min_by_key(|piece| piece.start)?;
    Some((&words[..first.start], &words[first.clone()], &words[first.end..]))
}

fn quantity(words: &str) -> Option<Range<usize>> {
    words.match_indices(' ').find_map(|(space, _)| {
        let (number, unit) = (&words[..space], &words[space + 1..]);
        let start = number.trim_end_matches(|c: char| c.is_ascii_digit() || ".,".contains(c)).len();
        let end = unit.find(|c: char| !(c.is_alphabetic() || "%/".contains(c))).unwrap_or(unit.len());
        let is_quantity = number.ends_with(|c: char| c.is_ascii_digit()) && UNITS.contains(&&unit[..end]);
        is_quantity.then_some(start..space + 1 + end)
    })
}

/// An option of a command, like `--set`.
fn option(words: &str) -> Option<Range<usize>> {
    words.match_indices("--").find_map(|(start, _)| {
        let name = &words[start + 2..];
        let end = name.find(|c: char| !(c.is_ascii_lowercase() || c == '-')).unwrap_or(name.len());
        name.starts_with(|c: char| c.is_ascii_lowercase()).then_some(start..start + 2 + end)
    })
}

/// A date, like `2026-11-21`.
fn date(words: &str) -> Option<Range<usize>> {
    let is_date = |ten: &[u8]| {
        let is_in_place =
            |(at, byte): (usize, &u8)| if at == 4 || at == 7 { *byte == b'-' } else { byte.is_ascii_digit() };
        ten.iter().enumerate().all(is_in_place)
    };
    words.as_bytes().windows(10).position(is_date).map(|start| start..start + 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_with_their_units_options_and_dates_stay_whole_and_nothing_else() {
        let shown = |words| together(words).into_string();
        assert_eq!(
            shown("about 39.70 Gbit/s, <1 % of 64 bytes"),
            "about <span class=\"quantity\">39.70 Gbit/s</span>, &lt;<span class=\"quantity\">1 %</span> of \
             <span class=\"quantity\">64 bytes</span>"
        );
        assert_eq!(shown("RFC 2544 says 3 times"), "RFC 2544 says 3 times");
        assert_eq!(shown("遅延は 14.9 µs です"), "遅延は <span class=\"quantity\">14.9 µs</span> です");
        assert_eq!(shown("eth 0 s"), "eth <span class=\"quantity\">0 s</span>");
        assert_eq!(
            shown("2026-11-21に --set repeats=6 -- と"),
            "<span class=\"quantity\">2026-11-21</span>に <span class=\"quantity\">--set</span> repeats=6 -- と"
        );
        assert_eq!(shown(""), "");
    }
}
