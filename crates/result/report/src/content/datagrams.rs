//! What became of the datagrams of UDP goodput.

use model::{Flow, Protocol, trial::DatagramsReceived};

use crate::{
    groups::FlowGroup,
    page::{Block, Column, Text},
    show::{self, grouped, or_none},
    texts::Texts,
};

/// Nothing without UDP.
pub(super) fn section(flows: &[FlowGroup<'_>], t: &Texts) -> Option<Block> {
    let udp: Vec<_> = flows.iter().filter(|flow| flow.spec.protocol == Protocol::Udp).collect();
    if udp.is_empty() {
        return None;
    }
    let columns = vec![
        Column::long(t.get("col-traffic")),
        Column::words(t.get("col-direction")),
        Column::figures(t.get("col-datagram")),
        Column::words(t.get("col-batch")),
        Column::figures(t.get("col-packet-rate")),
        Column::figures(t.get("col-datagrams-sent")),
        Column::figures(t.get("col-datagrams-received")),
        Column::figures(t.get("col-datagrams-lost")),
        Column::figures(t.get("col-loss")),
        Column::figures(t.get("col-disorder")),
        Column::figures(t.get("col-overflowed")),
    ];
    let window =
        udp.iter().flat_map(|flow| &flow.flows).find_map(|(_, flow)| Some(flow.received.datagrams.as_ref()?.window));
    let caption = t.with("datagrams-caption", &[("window", &or_none(window, grouped))]);
    let table = Block::table(caption, columns, udp.iter().map(|flow| row(flow, t)).collect());
    Some(Block::section(t.get("datagrams-heading"), vec![table]))
}

fn row(group: &FlowGroup<'_>, t: &Texts) -> Vec<Text> {
    let count = |value: Option<u64>| or_none(value, grouped);
    let arrived =
        |figure: fn(&DatagramsReceived) -> u64| count(group.sum(|flow| flow.received.datagrams.as_ref().map(figure)));
    let size = group.flows.iter().find_map(|(_, flow)| Some(flow.sent.datagrams.as_ref()?.payload_size.0));
    let disorder = [arrived(|it| it.duplicated), arrived(|it| it.reordered), arrived(|it| it.corrupt)];
    vec![
        show::goodput_traffic(group.spec, t).into(),
        show::way(group.from, group.to).into(),
        or_none(size, |size| size.to_string()).into(),
        show::batch(group.spec.batch, t).into(),
        or_none(group.over(packets_per_second), |it| show::packet_rate(it.median)).into(),
        count(group.sum(|flow| flow.sent.datagrams.as_ref().map(|it| it.sent))).into(),
        arrived(|it| it.received).into(),
        count(group.sum(Flow::lost)).into(),
        Text::strong(or_none(group.loss(), show::percent)),
        disorder.join(" / ").into(),
        arrived(|it| it.overflowed).into(),
    ]
}

/// Datagrams a second that arrived in the counted time.
/// What arrived; `None` over TCP.
pub(super) fn packets_per_second(flow: &Flow) -> Option<f64> {
    let size = flow.sent.datagrams.as_ref()?.payload_size.0;
    (size > 0).then(|| flow.received.mean_bps() / 8.0 / f64::from(size))
}
