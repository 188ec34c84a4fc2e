//! Offered and received load as figures: bars for each configuration, and the loss over ladders of loads.

use model::{PacketStream, PacketsSpec, alike::grouped, stream::Load};

use super::{
    curves::{self, Curve, Rung},
    group::StreamGroup,
    names,
};
use crate::{
    figure::{self, Bars, Sides},
    page::Figure,
    probes::Spec,
    show,
    texts::Texts,
};

/// Curves where loads form a ladder; bars where something else can be compared.
pub(super) fn figures(streams: &[StreamGroup<'_>], t: &Texts) -> Vec<Figure> {
    let (long, short): (Vec<_>, Vec<_>) = ladders(streams).into_iter().partition(|ladder| ladder.len() > 2);
    let others: Vec<&StreamGroup<'_>> = short.into_iter().flatten().collect();
    let mut all = if streams.len() > 1 && !others.is_empty() { bars(&others, t) } else { vec![] };
    all.extend(curves::figures(&long.iter().map(|ladder| curve(ladder, t)).collect::<Vec<_>>(), t));
    all
}

fn bars(streams: &[&StreamGroup<'_>], t: &Texts) -> Vec<Figure> {
    let rates = |group: &&StreamGroup<'_>| {
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

/// Whether one line of the method says both: one stream at two loads, for one time.
pub(super) fn is_one(a: &PacketsSpec, b: &PacketsSpec) -> bool {
    let has_load = |spec: &PacketsSpec| match spec.streams.as_slice() {
        [stream] => stream.load != Load::default(),
        _ => false,
    };
    has_load(a) && has_load(b) && a.duration == b.duration && a.is_rung_beside(b)
}

/// A line for all loads of a ladder, or one for each of few.
pub(super) fn method(ladder: &[&PacketsSpec], t: &Texts) -> Vec<String> {
    let load = |spec: &PacketsSpec| show::or_none(spec.streams.first(), |stream| stream.load.to_string());
    let [first, _, .., last] = ladder else {
        let item = |spec: &&PacketsSpec| {
            t.with(
                "method-packets-item",
                &[("traffic", &spec.configuration(t)), ("duration", &show::span(spec.duration, t))],
            )
        };
        return ladder.iter().map(item).collect();
    };
    let values: [(&str, &dyn std::fmt::Display); 5] = [
        ("traffic", &names::configuration(&first.at_any_load(), t)),
        ("count", &ladder.len()),
        ("low", &load(first)),
        ("high", &load(last)),
        ("duration", &show::span(first.duration, t)),
    ];
    vec![t.with("method-packets-ladder", &values)]
}

fn name(ladder: &[&StreamGroup<'_>], t: &Texts) -> String {
    let way = ladder[0].one_of_several.then_some((ladder[0].from, ladder[0].to));
    show::with_way(names::without_load(ladder[0].spec, t), way, t)
}

/// The whole ladder in one line: its loads, the most that was forwarded, and the highest load without loss. The curve shows the rest.
pub(super) fn headline(ladder: &[&StreamGroup<'_>], t: &Texts) -> Option<String> {
    let mut rungs: Vec<Rung> = ladder.iter().filter_map(|group| rung(group)).collect();
    rungs.sort_by(|a, b| a.offered_pps.total_cmp(&b.offered_pps));
    let offered = || rungs.iter().map(|rung| rung.offered_pps);
    let most = rungs.iter().map(|rung| rung.forwarded_pps).reduce(f64::max)?;
    let lossless = match rungs.iter().take_while(|rung| rung.lost == 0.0).last() {
        Some(rung) => t.with("ladder-lossless", &[("load", &show::packet_rate(rung.offered_pps))]),
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

fn curve(ladder: &[&StreamGroup<'_>], t: &Texts) -> Curve {
    Curve { name: name(ladder, t), rungs: ladder.iter().filter_map(|group| rung(group)).collect() }
}

fn rung(group: &StreamGroup<'_>) -> Option<Rung> {
    let median = |figure: fn(&PacketStream) -> f64| Some(group.over(figure)?.median);
    Some(Rung {
        engine: group.first().sent.engine,
        offered_pps: median(PacketStream::offered_pps)?,
        forwarded_pps: median(PacketStream::forwarding_pps)?,
        lost: group.loss()?,
    })
}
