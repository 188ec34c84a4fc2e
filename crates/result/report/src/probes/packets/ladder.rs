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
    all.extend(loss::figure(&ladders(streams, t), t));
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

/// Configurations that differ in their load alone, three of them at least: of fewer there is no curve.
fn ladders(streams: &[StreamGroup<'_>], t: &Texts) -> Vec<Losses> {
    let same = |a: &StreamGroup<'_>, b: &StreamGroup<'_>| {
        (a.from, a.to, &a.first().sent.stream) == (b.from, b.to, &b.first().sent.stream)
    };
    let ladders = grouped(streams, |a, b| same(a, b) && a.spec.is_rung_beside(b.spec));
    let point = |group: &&StreamGroup<'_>| Some((group.over(PacketStream::offered_pps)?.median, group.loss()?));
    let losses = |ladder: &Vec<&StreamGroup<'_>>| Losses {
        name: show::with_way(
            names::without_load(ladder[0].spec, t),
            ladder[0].one_of_several.then_some((ladder[0].from, ladder[0].to)),
            t,
        ),
        points: ladder.iter().filter_map(point).collect(),
    };
    ladders.iter().filter(|ladder| ladder.len() > 2).map(losses).collect()
}
