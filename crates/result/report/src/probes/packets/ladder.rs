//! Offered and received load as figures: bars for each configuration, and the loss over ladders of loads.

use model::{PacketStream, alike::grouped};

use super::{
    group::StreamGroup,
    loss::{self, Losses},
    names,
};
use crate::{
    figure::{self, Bars, Sides},
    page::Figure,
    show,
    texts::Texts,
};

/// Bars where something can be compared, and a curve where loads form a ladder.
pub(super) fn figures(streams: &[StreamGroup<'_>], t: &Texts) -> Vec<Figure> {
    if streams.len() < 2 {
        return vec![];
    }
    let mut all = bars(streams, t);
    all.extend(loss::figure(&losses(streams, t), t));
    all
}

fn bars(streams: &[StreamGroup<'_>], t: &Texts) -> Vec<Figure> {
    let rates = |group: &StreamGroup<'_>| {
        let median = |figure: fn(&PacketStream) -> f64| group.over(figure).map(|it| it.median);
        [median(PacketStream::offered_pps), median(PacketStream::forwarding_pps)]
    };
    let highest = streams.iter().flat_map(|group| rates(group).into_iter().flatten()).fold(0.0, f64::max);
    let (size, unit) = show::packet_rate_unit(highest);
    let bars: Vec<Bars> = streams
        .iter()
        .map(|group| Bars {
            name: group.title(t),
            values: rates(group).map(|rate| rate.map(|pps| pps / size)).to_vec(),
        })
        .collect();
    let sides = Sides {
        title: t.get("figure-ladder"),
        note: t.get("figure-ladder-note"),
        axis: t.with("axis-packet-rate", &[("unit", &unit)]),
        runs: vec![t.get("col-offered-load"), t.get("col-forwarding-rate")],
    };
    figure::side_by_side(sides, &bars, t)
}

/// Configurations that differ in their load alone, together.
pub(super) fn ladders<'s, 'a>(streams: &'s [StreamGroup<'a>]) -> Vec<Vec<&'s StreamGroup<'a>>> {
    let same = |a: &StreamGroup<'_>, b: &StreamGroup<'_>| {
        (a.from, a.to, &a.first().sent.stream) == (b.from, b.to, &b.first().sent.stream)
    };
    grouped(streams, |a, b| same(a, b) && a.spec.is_rung_beside(b.spec))
}

fn name(ladder: &[&StreamGroup<'_>], t: &Texts) -> String {
    let way = ladder[0].one_of_several.then_some((ladder[0].from, ladder[0].to));
    show::with_way(names::without_load(ladder[0].spec, t), way, t)
}

/// The whole ladder in one line: its loads, the most that was forwarded, and the highest load without loss. The curve shows the rest.
pub(super) fn headline(ladder: &[&StreamGroup<'_>], t: &Texts) -> Option<String> {
    let rung = |group: &&StreamGroup<'_>| {
        let median = |figure: fn(&PacketStream) -> f64| Some(group.over(figure)?.median);
        Some((median(PacketStream::offered_pps)?, median(PacketStream::forwarding_pps)?, group.loss()?))
    };
    let mut rungs: Vec<(f64, f64, f64)> = ladder.iter().filter_map(rung).collect();
    rungs.sort_by(|(a, ..), (b, ..)| a.total_cmp(b));
    let offered = || rungs.iter().map(|(offered, ..)| *offered);
    let most = rungs.iter().map(|(_, forwarded, _)| *forwarded).reduce(f64::max)?;
    let lossless = match rungs.iter().take_while(|(.., loss)| *loss == 0.0).last() {
        Some((load, ..)) => t.with("ladder-lossless", &[("load", &show::packet_rate(*load))]),
        None => t.get("ladder-lossy"),
    };
    let is_loop = ladder.iter().any(|group| group.is_lossless_loop());
    let lossless = if is_loop { t.with("loss-synchronous", &[("loss", &lossless)]) } else { lossless };
    let values: [(&str, &dyn std::fmt::Display); 6] = [
        ("traffic", &name(ladder, t)),
        ("count", &rungs.len()),
        ("low", &show::packet_rate(offered().reduce(f64::min)?)),
        ("high", &show::packet_rate(offered().reduce(f64::max)?)),
        ("most", &show::packet_rate(most)),
        ("lossless", &lossless),
    ];
    Some(t.with("headline-ladder", &values))
}

/// The loss over each ladder with three loads at least: of fewer there is no curve.
fn losses(streams: &[StreamGroup<'_>], t: &Texts) -> Vec<Losses> {
    let point = |group: &&StreamGroup<'_>| Some((group.over(PacketStream::offered_pps)?.median, group.loss()?));
    let losses = |ladder: &Vec<&StreamGroup<'_>>| Losses {
        name: name(ladder, t),
        points: ladder.iter().filter_map(point).collect(),
    };
    ladders(streams).iter().filter(|ladder| ladder.len() > 2).map(losses).collect()
}
