//! Pieces of a text that stay on one line: figures with their units, options of a command, dates.

use std::ops::Range;

const UNITS: [&str; 26] = [
    "%", "B", "GB/s", "GHz", "GT/s", "Gbit/s", "GiB", "KiB", "MB/s", "MHz", "Mbit/s", "MiB", "Mpps", "W", "bit/s",
    "bytes", "cycles", "h", "kbit/s", "kpps", "min", "ms", "ns", "pps", "s", "µs",
];

/// Each piece that stays whole with the text before it, and the rest.
pub(super) fn quantities(words: &str) -> (Vec<(&str, &str)>, &str) {
    let (mut rest, mut pieces) = (words, Vec::new());
    while let Some((before, quantity, after)) = next(rest) {
        pieces.push((before, quantity));
        rest = after;
    }
    (pieces, rest)
}

/// Words with spaces between figures and their units at which no line breaks.
pub(super) fn unbroken(words: &str) -> String {
    let (pieces, rest) = quantities(words);
    let whole = |(before, quantity): (&str, &str)| format!("{before}{}", quantity.replace(' ', "\u{a0}"));
    pieces.into_iter().map(whole).collect::<String>() + rest
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
        let end = unit.find(|c: char| !(c.is_ascii_alphabetic() || "µ%/".contains(c))).unwrap_or(unit.len());
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
        let whole = |words| quantities(words).0.into_iter().map(|(_, quantity)| quantity).collect::<Vec<_>>();
        assert_eq!(whole("about 39.70 Gbit/s, <1 % of 64 bytes"), ["39.70 Gbit/s", "1 %", "64 bytes"]);
        assert_eq!(whole("RFC 2544 says 3 times"), Vec::<&str>::new());
        assert_eq!(whole("遅延は 14.9 µs です"), ["14.9 µs"]);
        assert_eq!(whole("範囲 = 95 %信頼区間、eth 0 s"), ["95 %", "0 s"]);
        assert_eq!(whole("2026-11-21に --set repeats=6 -- と"), ["2026-11-21", "--set"]);
        assert_eq!(quantities("<b 1 s"), (vec![("<b ", "1 s")], ""));
        assert_eq!(unbroken("1 MiB・12 s, 2 streams"), "1\u{a0}MiB・12\u{a0}s, 2 streams");
        assert_eq!(unbroken(""), "");
    }
}
