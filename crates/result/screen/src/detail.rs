//! One interface in full.

use ratatui::{
    style::Style,
    text::{Line, Span},
};
use rates::{Key, Link, Moving, QueueRates};
use report::WatchWords;

use crate::{
    columns::{BITS, PACKETS},
    graph,
    scale::Scale,
    style::{Look, faint, plain, strong},
    table::{NO_FIGURE, history, percent, scales, speed, state},
    text::{left, right, width},
};

/// Rows of a graph: as many as there is room for.
const GRAPH: std::ops::RangeInclusive<usize> = 1..=4;
/// From this width on, what was lost stands in one line.
const ONE_LINE: usize = 76;
/// Cells of a graph: a minute of seconds.
const MINUTE: usize = 60;

/// How one interface is written.
pub(crate) struct Detail<'a> {
    pub(crate) key: &'a Key,
    pub(crate) link: &'a Link,
    pub(crate) words: &'a WatchWords,
    pub(crate) look: Look,
    pub(crate) cells: usize,
}

/// A column of the table of figures: its heading, and its text in each of four rows.
struct Figures {
    heading: String,
    cells: usize,
    rows: [String; 4],
}

impl Detail<'_> {
    /// As many lines as there is room for, the most useful first.
    pub(crate) fn lines(&self, room: usize) -> Vec<Line<'static>> {
        let driver = self.link.driver();
        let queues = self.queues();
        let mut lines = vec![self.title()];
        lines.extend(self.figures());
        lines.extend(self.losses());
        // A blank line, the heading and both ways; the rest is for the queues.
        let for_graphs = room.saturating_sub(lines.len() + 2 + queues.len() + 1) / 2;
        if room >= lines.len() + 2 + 2 * GRAPH.start() {
            lines.push(Line::default());
            lines.extend(self.graphs(for_graphs.clamp(*GRAPH.start(), *GRAPH.end())));
        }
        let (xdp, others) =
            (self.moving(&self.words.xdp, driver.xdp()), self.moving(&self.words.driver, driver.others()));
        for part in [queues, xdp, others] {
            // A heading alone says nothing.
            if !part.is_empty() && room > lines.len() + 2 {
                lines.push(Line::default());
                lines.extend(part);
            }
        }
        lines.truncate(room);
        lines
    }

    fn title(&self) -> Line<'static> {
        let state = self.link.state();
        let speed = state.line_bps.map(speed).unwrap_or_default();
        let stands = self::state(self.link, self.words);
        let said = [
            self.key.namespace.clone(),
            state.kind.clone(),
            stands.clone(),
            if speed == stands { String::new() } else { speed },
            format!("MTU {}", state.mtu),
        ];
        let said: Vec<String> = said.into_iter().filter(|text| !text.is_empty()).collect();
        Line::from(vec![
            Span::styled(format!(" {}", self.key.name), strong()),
            Span::styled(format!("  {}", said.join(" · ")), faint()),
        ])
    }

    /// Received and sent, bits and packets, now and since it is watched.
    fn figures(&self) -> Vec<Line<'static>> {
        let words = self.words;
        let label = self.label();
        let mut columns = vec![self.now(), self.peak(), self.total(), self.mean(), self.line()];
        // Cells that do not fit are left out from the end; the order that is read is another.
        let mut left_cells = self.cells.saturating_sub(1 + label);
        columns.retain(|column| {
            let fits = column.cells > 0 && left_cells > column.cells;
            left_cells -= if fits { 1 + column.cells } else { 0 };
            fits
        });
        let heading =
            columns.iter().map(|column| format!(" {}", right(&column.heading, column.cells))).collect::<String>();
        let mut lines = vec![Line::styled(format!(" {}{heading}", left("", label)), faint())];
        for row in 0..4 {
            let (way, first) = (row / 2, row % 2 == 0);
            let mut spans = vec![Span::styled(
                format!(" {}", left(if first { &words.ways[way] } else { "" }, label)),
                self.look.way(way),
            )];
            spans.extend(columns.iter().map(|column| {
                let style = if column.heading == words.now { plain() } else { faint_unless(first) };
                Span::styled(format!(" {}", right(&column.rows[row], column.cells)), style)
            }));
            lines.push(Line::from(spans));
        }
        lines
    }

    fn now(&self) -> Figures {
        let [bits, packets] = scales(self.link);
        let now = self.link.now();
        self.rates(&self.words.now, |way| now.map(|now| [now[way].bps, now[way].pps]), [bits, packets])
    }

    fn mean(&self) -> Figures {
        let mean = self.link.mean();
        let high = |pick: fn(&rates::DirectionRates) -> f64| mean.iter().flatten().map(pick).fold(0.0, f64::max);
        let scales = [Scale::bits(high(|way| way.bps)), Scale::packets(high(|way| way.pps))];
        self.rates(&self.words.mean, |way| mean.map(|mean| [mean[way].bps, mean[way].pps]), scales)
    }

    fn peak(&self) -> Figures {
        let peaks = self.link.peaks();
        let high = |pick: fn(&rates::Peak) -> f64| peaks.iter().map(pick).fold(0.0, f64::max);
        let scales = [Scale::bits(high(|peak| peak.bps)), Scale::packets(high(|peak| peak.pps))];
        let known = self.link.known().0 > 0;
        self.rates(&self.words.peak, |way| known.then(|| [peaks[way].bps, peaks[way].pps]), scales)
    }

    fn rates(&self, heading: &str, of: impl Fn(usize) -> Option<[f64; 2]>, [bits, packets]: [Scale; 2]) -> Figures {
        let shown = |way: usize| match of(way) {
            Some([bps, pps]) => [bits.field(bps), left(&packets.field(pps), BITS - 2) + "  "],
            None => [(); 2].map(|()| NO_FIGURE.to_owned()),
        };
        let [[a, b], [c, d]] = [shown(0), shown(1)];
        Figures { heading: heading.to_owned(), cells: BITS, rows: [a, b, c, d] }
    }

    fn total(&self) -> Figures {
        let totals = self.link.totals();
        let bytes = |way: usize| Scale::bytes(totals[way].bytes).field(totals[way].bytes as f64);
        let shown = |way: usize| [bytes(way), grouped(totals[way].packets)];
        let [[a, b], [c, d]] = [shown(0), shown(1)];
        Figures { heading: self.words.total.clone(), cells: 16, rows: [a, b, c, d] }
    }

    /// Rate of the line; nothing where there is none.
    fn line(&self) -> Figures {
        let now = self.link.now();
        let shown = |way: usize| now.and_then(|now| now[way].line_percent).map(percent).unwrap_or_default();
        let cells = if self.link.state().line_bps.is_some() { width(&self.words.line).max(8) } else { 0 };
        let rows = [shown(0), String::new(), shown(1), String::new()];
        Figures { heading: self.words.line.clone(), cells, rows }
    }

    fn losses(&self) -> Vec<Line<'static>> {
        let [received, sent] = self.link.totals();
        let kinds =
            [(&self.words.dropped, received.dropped, sent.dropped), (&self.words.errors, received.errors, sent.errors)];
        let one = |(word, received, sent): (&String, u64, u64)| {
            let [rx, tx] = &self.words.ways;
            let style = |count: u64| if count > 0 { self.look.warning() } else { faint() };
            vec![
                Span::styled(format!(" {} ", left(word, self.label())), faint()),
                Span::styled(format!("{rx} {}", grouped(received)), style(received)),
                Span::styled(" · ", faint()),
                Span::styled(format!("{tx} {}", grouped(sent)), style(sent)),
            ]
        };
        let [dropped, errors] = kinds.map(one);
        if self.cells < ONE_LINE {
            return vec![Line::from(dropped), Line::from(errors)];
        }
        let blank = (self.cells / 2).saturating_sub(dropped.iter().map(Span::width).sum());
        vec![Line::from([dropped, vec![Span::raw(" ".repeat(blank))], errors].concat())]
    }

    /// The last minute: both ways to one height, so that they can be compared.
    fn graphs(&self, rows: usize) -> Vec<Line<'static>> {
        let top = self.link.history().highest()[0];
        let label = self.label();
        let cells = self.cells.saturating_sub(label + 3).min(MINUTE);
        let column = self.link.history().columns().next_back().map_or(1.0, |column| column.length.as_secs_f64());
        let seconds = (column.round().max(1.0) as u64).saturating_mul(cells as u64).min(MINUTE as u64);
        let heading = self.words.graph(seconds, &Scale::bits(top).short(top));
        let mut lines = vec![Line::styled(format!(" {} {heading}", left("", label)), faint())];
        for way in 0..2 {
            for (row, blocks) in graph::rows(&history(self.link, way), top, cells, rows).into_iter().enumerate() {
                let word = if row + 1 == rows { self.words.ways[way].as_str() } else { "" };
                let style = self.look.way(way);
                lines
                    .push(Line::from(vec![Span::raw(format!(" {} ", left(word, label))), Span::styled(blocks, style)]));
            }
        }
        lines
    }

    /// Cells of the labels at the left.
    fn label(&self) -> usize {
        let words = [&self.words.ways[0], &self.words.ways[1], &self.words.dropped, &self.words.errors];
        words.map(|word| width(word)).into_iter().max().unwrap_or_default().max(8)
    }

    /// A line for each queue.
    fn queues(&self) -> Vec<Line<'static>> {
        let queues = self.link.driver().queues();
        // A veth counts its one queue only where XDP or GRO makes it poll.
        if queues.len() < 2 && !queues.iter().any(|queue| queue.moved) {
            return Vec::new();
        }
        let highest =
            |pick: fn(&QueueRates) -> [Option<f64>; 2]| queues.iter().flat_map(pick).flatten().fold(0.0, f64::max);
        let (bits, packets) = (Scale::bits(highest(|queue| queue.bps)), Scale::packets(highest(|queue| queue.pps)));
        let label = width(&self.words.queue).max(5);
        let cells = BITS + 1 + PACKETS;
        let mut heading = vec![Span::styled(format!(" {}", left(&self.words.queue, label)), faint())];
        heading.extend(
            (0..2).map(|way| Span::styled(format!("  {}", left(&self.words.ways[way], cells)), self.look.way(way))),
        );
        heading.push(Span::styled(format!("  {}", self.words.dropped), faint()));
        let row = |queue: &QueueRates| {
            let way = |way: usize| {
                let bps = queue.bps[way].map(|bps| bits.field(bps)).unwrap_or_default();
                let pps = queue.pps[way].map(|pps| packets.field(pps)).unwrap_or_default();
                let moves = queue.pps[way].is_some_and(|pps| pps > 0.0);
                Span::styled(format!("  {} {}", left(&bps, BITS), left(&pps, PACKETS)), faint_unless(moves))
            };
            let dropped = queue.dropped.iter().flatten().sum::<u64>();
            let style = if dropped > 0 { self.look.warning() } else { faint() };
            let said = if queue.dropped == [None; 2] { String::new() } else { grouped(dropped) };
            Line::from(vec![
                Span::raw(format!(" {:>label$}", queue.queue)),
                way(0),
                way(1),
                Span::styled(format!("  {said}"), style),
            ])
        };
        [Line::from(heading)].into_iter().chain(queues.iter().map(row)).collect()
    }

    /// Counters that move, with their names.
    fn moving(&self, title: &str, counters: Vec<Moving>) -> Vec<Line<'static>> {
        let name = counters.iter().map(|counter| width(&counter.name)).max().unwrap_or_default();
        let row = |counter: &Moving| {
            let rate = Scale::counts(counter.per_second as u64);
            let text = format!("   {}  {:>8}/s", left(&counter.name, name), rate.tight(counter.per_second));
            let total = format!("  {:>16}", grouped(counter.total));
            let moves = counter.per_second > 0.0;
            Line::from(vec![Span::styled(text, faint_unless(moves)), Span::styled(total, faint())])
        };
        let rows: Vec<Line<'static>> = counters.iter().map(row).collect();
        let heading = (!rows.is_empty()).then(|| Line::styled(format!(" {title}"), faint()));
        heading.into_iter().chain(rows).collect()
    }
}

fn faint_unless(said: bool) -> Style {
    if said { plain() } else { faint() }
}

/// A count with its digits in groups of three.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}
