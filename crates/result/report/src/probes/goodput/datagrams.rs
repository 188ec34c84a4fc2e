//! Fate of the datagrams of UDP goodput.

use model::{Flow, Protocol, trial::DatagramsReceived};

use super::{group::FlowGroup, names};
use crate::{
    columns::Columns,
    page::{Block, Text},
    show::{self, grouped, or_none},
    texts::Texts,
};

/// Nothing without UDP.
pub(super) fn section(flows: &[FlowGroup<'_>], t: &Texts) -> Option<Block> {
    let udp: Vec<_> = flows.iter().filter(|flow| flow.spec.protocol == Protocol::Udp).collect();
    if udp.is_empty() {
        return None;
    }
    let window =
        udp.iter().flat_map(|flow| &flow.flows).find_map(|(_, flow)| Some(flow.received.datagrams.as_ref()?.window));
    let most = |it: &FlowGroup<'_>| it.most(|link| Some(link.packets_per_second));
    let count = |value: Option<u64>| or_none(value, grouped);
    let table = Columns::new()
        .long(t.get("col-traffic"), |it: &FlowGroup<'_>| names::traffic(it.spec, t))
        .words(t.get("col-direction"), |it| show::way(it.from, it.to))
        .figures("MTU", |it| or_none(it.spec.mtu, |mtu| mtu.0.to_string()))
        .only_if(udp.iter().any(|it| it.spec.mtu.is_some()))
        .figures(t.get("col-datagram"), size)
        .words(t.get("col-batch"), |it| t.of_value("batch", &it.spec.batch))
        .figures(t.get("col-packet-rate"), |it| or_none(it.over(packets_per_second), |it| show::packet_rate(it.median)))
        .figures(t.get("term-frame-rate"), |it| most(it).map_or_else(|| t.get("most-unknown"), show::packet_rate))
        .only_if(udp.iter().any(|it| most(it).is_some()))
        .figures(t.get("col-datagrams-sent"), |it| count(it.sum(|flow| flow.sent.datagrams.as_ref().map(|it| it.sent))))
        .figures(t.get("col-datagrams-received"), |it| arrived(it, |it| it.received))
        .figures(t.get("col-datagrams-lost"), |it| count(it.sum(Flow::lost)))
        .figures(t.get("col-loss"), |it| Text::strong(show::loss(it.loss(), it.is_lossless_loop(), t)))
        .figures(t.get("col-disorder"), |it| {
            let compared = count(it.sum(|flow| flow.received.datagrams.as_ref()?.compared));
            let [duplicated, reordered, corrupt] =
                [arrived(it, |it| it.duplicated), arrived(it, |it| it.reordered), arrived(it, |it| it.corrupt)];
            [duplicated, reordered, corrupt, compared].join(" / ")
        })
        .figures(t.get("col-overflowed"), |it| arrived(it, |it| it.overflowed))
        .table(t.with("datagrams-caption", &[("window", &or_none(window, grouped))]), udp.iter().copied());
    let note = udp.iter().any(|it| it.is_lossless_loop()).then(|| Block::Note(t.get("synchronous-note").into()));
    Some(Block::section(t.get("datagrams-heading"), [table].into_iter().chain(note).collect()))
}

/// Payload of each datagram.
fn size(group: &FlowGroup<'_>) -> String {
    let size = group.flows.iter().find_map(|(_, flow)| Some(flow.sent.datagrams.as_ref()?.payload_size.0));
    or_none(size, |size| size.to_string())
}

/// A count of the receiver over all trials.
fn arrived(group: &FlowGroup<'_>, count: fn(&DatagramsReceived) -> u64) -> String {
    or_none(group.sum(|flow| flow.received.datagrams.as_ref().map(count)), grouped)
}

/// Datagrams a second that arrived in the counted time; `None` over TCP.
pub(super) fn packets_per_second(flow: &Flow) -> Option<f64> {
    let size = flow.sent.datagrams.as_ref()?.payload_size.0;
    (size > 0).then(|| flow.received.mean_bps() / 8.0 / f64::from(size))
}
