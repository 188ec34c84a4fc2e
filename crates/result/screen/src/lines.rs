//! Live rates line by line, and what there was in all.

use rates::{DirectionCounts, Key, Link, Watch};
use report::WatchWords;

use crate::{
    detail::grouped,
    scale::{Scale, duration},
    table::{NO_FIGURE, percent, scales, state},
    text::{left, right, width},
};

/// A line for each interface that has rates or has gone, each beginning with the time.
pub fn lines(watch: &Watch, words: &WatchWords, time: &str) -> String {
    let name = watch.links().map(|(key, _)| width(&path(key))).max().unwrap_or_default();
    let line = |(key, link): (&Key, &Link)| format!("{time}  {}  {}\n", left(&path(key), name), said(link, words));
    watch.links().map(line).collect()
}

fn said(link: &Link, words: &WatchWords) -> String {
    let Some(now) = link.now() else {
        return if link.is_gone() || !link.state().passes() { state(link, words) } else { NO_FIGURE.to_owned() };
    };
    let [bits, packets] = scales(link);
    let mut said = String::new();
    for (way, rates) in ["rx", "tx"].into_iter().zip(now) {
        said += &format!("{way} {} {}  ", bits.field(rates.bps), packets.field(rates.pps));
        said += &rates.line_percent.map_or_else(String::new, |line| right(&percent(line), 7) + "  ");
    }
    let sum = |count: fn(&DirectionCounts) -> u64| grouped(link.totals().iter().map(count).sum());
    said += &format!("{} {}  {} {}", words.dropped, sum(|way| way.dropped), words.errors, sum(|way| way.errors));
    said
}

/// Traffic of each interface, how fast on average and at most.
pub fn summary(watch: &Watch, words: &WatchWords) -> String {
    let busy = |link: &Link| link.totals().iter().any(|way| *way != DirectionCounts::default());
    let mut text: String =
        watch.links().filter(|(_, link)| busy(link)).map(|(key, link)| one(key, link, words) + "\n").collect();
    let idle: Vec<String> = watch.links().filter(|(_, link)| !busy(link)).map(|(key, _)| path(key)).collect();
    if !idle.is_empty() {
        text += &format!("{}\n", words.idle(&shortened(&idle)));
    }
    text + &words.watched(&duration(watch.elapsed().0 / 1_000_000_000)) + "\n"
}

/// Names, as many as can be read.
fn shortened(names: &[String]) -> String {
    const MOST: usize = 8;
    let more = if names.len() > MOST { format!(", … ({})", names.len()) } else { String::new() };
    names[..names.len().min(MOST)].join(", ") + &more
}

fn one(key: &Key, link: &Link, words: &WatchWords) -> String {
    let (totals, peaks, mean) = (link.totals(), link.peaks(), link.mean().unwrap_or_default());
    let rates = |bps: f64, pps: f64| format!("{}, {}", Scale::bits(bps).short(bps), Scale::packets(pps).short(pps));
    let rows: [(&str, [String; 2]); 6] = [
        ("", words.ways.clone()),
        (&words.total, [0, 1].map(|way: usize| Scale::bytes(totals[way].bytes).short(totals[way].bytes as f64))),
        (&words.packets, [0, 1].map(|way: usize| grouped(totals[way].packets))),
        (&words.mean, [0, 1].map(|way: usize| rates(mean[way].bps, mean[way].pps))),
        (&words.peak, [0, 1].map(|way: usize| rates(peaks[way].bps, peaks[way].pps))),
        (&words.line, [0, 1].map(|way: usize| peaks[way].line_percent.map(percent).unwrap_or_default())),
    ];
    let losses: [(&str, [u64; 2]); 2] = [
        (&words.dropped, [0, 1].map(|way: usize| totals[way].dropped)),
        (&words.errors, [0, 1].map(|way: usize| totals[way].errors)),
    ];
    let losses = losses.map(|(label, counts)| (label, counts.map(grouped)));
    let rows: Vec<_> =
        rows.into_iter().chain(losses).filter(|(_, ways)| ways.iter().any(|way| !way.is_empty())).collect();
    let label = rows.iter().map(|(label, _)| width(label)).max().unwrap_or_default();
    let cells = rows.iter().flat_map(|(_, ways)| ways.iter().map(|way| width(way))).max().unwrap_or_default();
    let line = |(label_text, [rx, tx]): &(&str, [String; 2])| {
        format!("  {}  {}  {}\n", left(label_text, label), right(rx, cells), right(tx, cells))
    };
    format!("{}\n{}", path(key), rows.iter().map(line).collect::<String>())
}

/// The interface, with its namespace where that is not the own one.
fn path(key: &Key) -> String {
    if key.namespace.is_empty() { key.name.clone() } else { format!("{}/{}", key.namespace, key.name) }
}
