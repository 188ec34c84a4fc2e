//! Columns of the table that there is room for.

use report::WatchWords;

use crate::text::width;

/// Cells of a bit rate, a packet rate, a share of the line, and of a state.
pub(crate) const BITS: usize = 13;
pub(crate) const PACKETS: usize = 11;
pub(crate) const LINE: usize = 7;
const STATE: usize = 10;
/// Longest name of an interface.
const NAME: usize = 15;
const COUNT: usize = 7;
const SPARK: std::ops::RangeInclusive<usize> = 10..=60;

/// Columns in cells; none where it is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Columns {
    pub(crate) name: usize,
    pub(crate) link: usize,
    pub(crate) packets: usize,
    pub(crate) line: usize,
    pub(crate) dropped: usize,
    pub(crate) errors: usize,
    pub(crate) spark: usize,
}

impl Columns {
    /// For a terminal of this width: names and bit rates always, then the rest, the most useful first.
    pub(crate) fn fitting(cells: usize, longest_name: usize, words: &WatchWords) -> Self {
        let bits = 2 * (2 + BITS);
        let name = longest_name.clamp(width(&words.interface), NAME).min(cells.saturating_sub(1 + bits));
        let mut columns = Self { name, ..Self::default() };
        let mut left = cells.saturating_sub(1 + name + bits);
        let mut take = |column: &mut usize, wanted: usize, room: usize| {
            if left >= room {
                (*column, left) = (wanted, left - room);
            }
        };
        take(&mut columns.packets, PACKETS, 2 * (1 + PACKETS));
        let count = |label: &str| width(label).max(COUNT);
        take(&mut columns.dropped, count(&words.dropped), 1 + count(&words.dropped));
        take(&mut columns.errors, count(&words.errors), 1 + count(&words.errors));
        let state = [&words.link, &words.up, &words.down, &words.no_carrier, &words.gone];
        let state = state.map(|word| width(word)).into_iter().max().unwrap_or_default().max(STATE);
        take(&mut columns.link, state, 2 + state);
        take(&mut columns.line, LINE, 2 * (1 + LINE));
        let spark = (left / 2).saturating_sub(2);
        if SPARK.contains(&spark) || spark > *SPARK.end() {
            columns.spark = spark.min(*SPARK.end());
        }
        columns
    }

    /// Cells of all that says something of one way.
    pub(crate) fn way(&self) -> usize {
        let more = |column: usize, gap: usize| if column > 0 { gap + column } else { 0 };
        BITS + more(self.packets, 1) + more(self.line, 1) + more(self.spark, 2)
    }
}

#[cfg(test)]
mod tests {
    use report::Lang;

    use super::*;

    #[test]
    fn narrow_terminals_have_bit_rates_and_wide_ones_all() {
        for lang in [Lang::En, Lang::Ja] {
            let words = WatchWords::of(lang);
            let at = |cells| Columns::fitting(cells, 5, &words);
            assert_eq!((at(40).packets, at(40).dropped), (0, 0));
            assert!(at(80).packets > 0 && at(80).errors > 0 && at(80).spark == 0, "{:?}", at(80));
            assert!(at(120).link > 0 && at(120).line > 0, "{:?}", at(120));
            assert!(at(200).spark >= 20, "{:?}", at(200));
            for cells in 35..260 {
                let it = at(cells);
                let more = |column: usize, gap: usize| if column > 0 { gap + column } else { 0 };
                let all =
                    1 + it.name + more(it.link, 2) + 2 * (2 + it.way()) + more(it.dropped, 1) + more(it.errors, 1);
                assert!(all <= cells, "{cells}: {all} {it:?}");
            }
        }
    }
}
