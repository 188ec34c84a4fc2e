//! What became of the datagrams of UDP goodput.

use model::{Flow, Measured, Protocol, Run, Trial, trial::DatagramsReceived};
use verdict::{is_synchronous, link_most};

use crate::{
    groups::FlowGroup,
    page::{Block, Column, Text},
    show::{self, grouped, or_none},
    texts::Texts,
};

/// Nothing without UDP.
pub(super) fn section(run: &Run, flows: &[FlowGroup<'_>], t: &Texts) -> Option<Block> {
    let udp: Vec<_> = flows.iter().filter(|flow| flow.spec.protocol == Protocol::Udp).collect();
    if udp.is_empty() {
        return None;
    }
    let most = |group: &FlowGroup<'_>| group.over(|flow| Some(link_most(run, group.spec, flow)?.packets_per_second));
    let most: Vec<Option<f64>> = udp.iter().map(|group| most(group).map(|it| it.median)).collect();
    let knows_most = most.iter().any(Option::is_some);
    let mut columns = vec![
        Column::long(t.get("col-traffic")),
        Column::words(t.get("col-direction")),
        Column::figures(t.get("col-datagram")),
        Column::words(t.get("col-batch")),
        Column::figures(t.get("col-packet-rate")),
    ];
    columns.extend(knows_most.then(|| Column::figures(t.get("term-frame-rate"))));
    columns.extend([
        Column::figures(t.get("col-datagrams-sent")),
        Column::figures(t.get("col-datagrams-received")),
        Column::figures(t.get("col-datagrams-lost")),
        Column::figures(t.get("col-loss")),
        Column::figures(t.get("col-disorder")),
        Column::figures(t.get("col-overflowed")),
    ]);
    let window =
        udp.iter().flat_map(|flow| &flow.flows).find_map(|(_, flow)| Some(flow.received.datagrams.as_ref()?.window));
    let caption = t.with("datagrams-caption", &[("window", &or_none(window, grouped))]);
    let table = Block::table(
        caption,
        columns,
        udp.iter().zip(most).map(|(flow, most)| row(run, flow, knows_most.then_some(most), t)).collect(),
    );
    let note = udp.iter().any(|group| is_loop(run, group)).then(|| Block::Note(t.get("synchronous-note").into()));
    Some(Block::section(t.get("datagrams-heading"), [table].into_iter().chain(note).collect()))
}

/// `most` is what the link carries at most, in its column where there is one.
fn row(run: &Run, group: &FlowGroup<'_>, most: Option<Option<f64>>, t: &Texts) -> Vec<Text> {
    let count = |value: Option<u64>| or_none(value, grouped);
    let arrived =
        |figure: fn(&DatagramsReceived) -> u64| count(group.sum(|flow| flow.received.datagrams.as_ref().map(figure)));
    let size = group.flows.iter().find_map(|(_, flow)| Some(flow.sent.datagrams.as_ref()?.payload_size.0));
    let disorder = [arrived(|it| it.duplicated), arrived(|it| it.reordered), arrived(|it| it.corrupt)];
    let most = most.map(|most| most.map_or_else(|| t.get("most-unknown"), show::packet_rate));
    let before = [
        show::goodput_traffic(group.spec, t).into(),
        show::way(group.from, group.to).into(),
        or_none(size, |size| size.to_string()).into(),
        show::batch(group.spec.batch, t).into(),
        or_none(group.over(packets_per_second), |it| show::packet_rate(it.median)).into(),
    ];
    let behind = [
        count(group.sum(|flow| flow.sent.datagrams.as_ref().map(|it| it.sent))).into(),
        arrived(|it| it.received).into(),
        count(group.sum(Flow::lost)).into(),
        Text::strong(loss(run, group, t)),
        disorder.join(" / ").into(),
        arrived(|it| it.overflowed).into(),
    ];
    before.into_iter().chain(most.map(Text::from)).chain(behind).collect()
}

/// No loss is no claim where the sender itself did the receiving.
fn loss(run: &Run, group: &FlowGroup<'_>, t: &Texts) -> String {
    let loss = or_none(group.loss(), show::percent);
    if is_loop(run, group) { t.with("loss-synchronous", &[("loss", &loss)]) } else { loss }
}

/// Whether nothing was lost, and in one of the trials at least the sender carried its packets to the receiver's socket by
/// itself.
fn is_loop(run: &Run, group: &FlowGroup<'_>) -> bool {
    let of_group = |trial: &&Trial| matches!(&trial.measured, Measured::Goodput { spec, .. } if spec == group.spec);
    group.loss() == Some(0.0) && run.trials.iter().filter(of_group).any(|trial| is_synchronous(run, trial, group.from))
}

/// Datagrams a second that arrived in the counted time.
/// What arrived; `None` over TCP.
pub(super) fn packets_per_second(flow: &Flow) -> Option<f64> {
    let size = flow.sent.datagrams.as_ref()?.payload_size.0;
    (size > 0).then(|| flow.received.mean_bps() / 8.0 / f64::from(size))
}
