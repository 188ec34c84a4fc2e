//! All interfaces, a line each.

use ratatui::{
    style::Style,
    text::{Line, Span},
};
use rates::{Key, Link};
use report::WatchWords;

use crate::{
    columns::{BITS, Columns, LINE, PACKETS},
    graph,
    scale::Scale,
    style::{Look, faint, plain, strong},
    text::{cut, left, right},
};

/// Text in place of a missing figure.
pub(crate) const NO_FIGURE: &str = "–";

/// How the table is written.
pub(crate) struct Table<'a> {
    pub(crate) columns: Columns,
    pub(crate) words: &'a WatchWords,
    pub(crate) look: Look,
}

impl Table<'_> {
    /// The headings of the columns.
    pub(crate) fn heading(&self) -> Line<'static> {
        let Self { columns, words, look } = self;
        let mut spans = vec![Span::styled(format!(" {}", left(&words.interface, columns.name)), faint())];
        if columns.link > 0 {
            spans.push(Span::styled(format!("  {}", left(&words.link, columns.link)), faint()));
        }
        for (way, word) in words.ways.iter().enumerate() {
            spans.push(Span::styled(format!("  {}", left(word, columns.way())), look.way(way)));
        }
        for (word, column) in [(&words.dropped, columns.dropped), (&words.errors, columns.errors)] {
            if column > 0 {
                spans.push(Span::styled(format!(" {}", right(word, column)), faint()));
            }
        }
        Line::from(spans)
    }

    /// The network namespace of the interfaces below.
    pub(crate) fn namespace(&self, name: &str) -> Line<'static> {
        let name = if name.is_empty() { &self.words.own } else { name };
        Line::styled(format!(" {name}"), faint())
    }

    /// One interface.
    pub(crate) fn row(&self, key: &Key, link: &Link, chosen: bool) -> Line<'static> {
        let Self { columns, words, .. } = self;
        let moves = link.now().is_some_and(|now| now.iter().any(|way| way.pps > 0.0 || way.bps > 0.0));
        let style = if moves { plain() } else { faint() };
        let name = left(&key.name, columns.name);
        let mut spans = match chosen {
            true => vec![Span::styled(format!("▸{name}"), strong())],
            false => vec![Span::styled(format!(" {name}"), style)],
        };
        if columns.link > 0 {
            spans.push(Span::styled(format!("  {}", left(&state(link, words), columns.link)), style));
        }
        let stands = link.is_gone() || !link.state().passes();
        if stands && !moves {
            // Where the link has no column, its state is said in the place of rates.
            let said = if columns.link > 0 { NO_FIGURE.to_owned() } else { state(link, words) };
            spans.push(Span::styled(format!("  {}", left(&said, columns.way())), style));
            spans.push(Span::raw(" ".repeat(2 + columns.way())));
        } else {
            (0..2).for_each(|way| spans.extend(self.way(link, way, style)));
        }
        spans.extend(self.losses(link));
        Line::from(spans)
    }

    fn way(&self, link: &Link, way: usize, style: Style) -> Vec<Span<'static>> {
        let columns = &self.columns;
        let [bits, packets] = scales(link);
        let now = link.now().map(|now| now[way]);
        let field = |scale: &Scale, value: Option<f64>, cells: usize| match value {
            Some(value) => scale.field(value),
            None => left(&format!("     {NO_FIGURE}"), cells),
        };
        let mut spans = vec![Span::styled(format!("  {}", field(&bits, now.map(|now| now.bps), BITS)), style)];
        if columns.packets > 0 {
            spans.push(Span::styled(format!(" {}", field(&packets, now.map(|now| now.pps), PACKETS)), style));
        }
        if columns.line > 0 {
            let percent = now.and_then(|now| now.line_percent).map(percent).unwrap_or_default();
            spans.push(Span::styled(format!(" {}", right(&percent, LINE)), style));
        }
        if columns.spark > 0 {
            let top = link.history().highest()[0];
            let rows = graph::rows(&history(link, way), top, columns.spark, 1);
            spans.push(Span::styled(format!("  {}", rows.concat()), self.look.way(way)));
        }
        spans
    }

    fn losses(&self, link: &Link) -> Vec<Span<'static>> {
        let sum = |count: fn(&rates::DirectionCounts) -> u64| link.totals().iter().map(count).sum::<u64>();
        let counts = [(sum(|way| way.dropped), self.columns.dropped), (sum(|way| way.errors), self.columns.errors)];
        let shown = counts.into_iter().filter(|(_, column)| *column > 0);
        shown
            .map(|(count, column)| {
                let style = if count > 0 { self.look.warning() } else { faint() };
                Span::styled(format!(" {}", right(&Scale::counts(count).tight(count as f64), column)), style)
            })
            .collect()
    }
}

/// Scales of bit/s and packets/s that hold for the whole last minute and both ways: units do not jump.
pub(crate) fn scales(link: &Link) -> [Scale; 2] {
    let now = link.now().into_iter().flatten();
    let [bits, packets] =
        now.fold(link.history().highest(), |[bits, packets], way| [bits.max(way.bps), packets.max(way.pps)]);
    [Scale::bits(bits), Scale::packets(packets)]
}

/// bit/s of one way over the last minute.
pub(crate) fn history(link: &Link, way: usize) -> Vec<Option<f64>> {
    link.history().columns().map(|column| column.rates.map(|rates| rates[way][0])).collect()
}

/// A share of the line.
pub(crate) fn percent(percent: f64) -> String {
    format!("{percent:.1} %")
}

/// How a link stands: its speed where that is known.
pub(crate) fn state(link: &Link, words: &WatchWords) -> String {
    let state = link.state();
    match (link.is_gone(), state.up, state.passes(), state.line_bps) {
        (true, ..) => words.gone.clone(),
        (_, false, ..) => words.down.clone(),
        (_, _, false, _) => words.no_carrier.clone(),
        (.., Some(bps)) => speed(bps),
        _ => words.up.clone(),
    }
}

/// Speed of a line, like `2.5 Gbit/s`.
pub(crate) fn speed(bps: u64) -> String {
    let (size, unit) = if bps >= 1_000_000_000 { (1e9, "Gbit/s") } else { (1e6, "Mbit/s") };
    cut(&format!("{} {unit}", bps as f64 / size), 12)
}
