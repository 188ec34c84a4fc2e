//! The kernel's state of the TCP connections.

use std::collections::BTreeSet;

use model::{
    Total,
    trial::{TcpSeconds, TcpState, ZeroCopied},
};

use super::{group::FlowGroup, names};
use crate::{
    columns::Columns,
    page::Block,
    show::{self, NO_FIGURE, grouped},
    texts::Texts,
};

/// A row for each direction: all connections of all its trials, from the lowest to the highest. Nothing without TCP.
pub(super) fn section(flows: &[FlowGroup<'_>], t: &Texts) -> Option<Block> {
    let tcp: Vec<_> = flows.iter().filter(|group| connections(group).next().is_some()).collect();
    if tcp.is_empty() {
        return None;
    }
    let states = traffic(&tcp, t)
        .words(t.get("col-congestion"), congestion)
        .figures(t.get("col-tcp-rtt"), |it| range(it, |it| it.rtt_us.into()))
        .figures(t.get("col-tcp-min-rtt"), |it| range(it, |it| it.min_rtt_us.into()))
        .figures(t.get("col-cwnd"), |it| range(it, |it| it.cwnd_segments.into()))
        .figures(t.get("col-mss"), |it| sizes(it, |it| it.mss))
        .figures(t.get("col-path-mtu"), |it| sizes(it, |it| it.path_mtu.0))
        .figures(t.get("col-waited-window"), |it| range(it, |it| share(it.receive_window_limited_us, it.busy_us)))
        .figures(t.get("col-waited-buffer"), |it| range(it, |it| share(it.send_buffer_limited_us, it.busy_us)))
        .figures(t.get("col-zero-copied"), zero_copies)
        .only_if(tcp.iter().any(|group| zero_copied(group).next().is_some()))
        .table(t.get("tcp-caption"), tcp.iter().copied());
    Some(Block::section(t.get("tcp-heading"), [states].into_iter().chain(seconds(&tcp, t)).collect()))
}

/// Columns that name a direction, and the MTU where the plan sets one.
fn traffic<'c>(flows: &[&FlowGroup<'_>], t: &'c Texts) -> Columns<'c, FlowGroup<'c>> {
    Columns::new()
        .long(t.get("col-traffic"), |it: &FlowGroup<'_>| names::traffic(it.spec, t))
        .words(t.get("col-direction"), |it| show::way(it.from, it.to))
        .figures("MTU", |it| show::or_none(it.spec.mtu, |mtu| mtu.0.to_string()))
        .only_if(flows.iter().any(|it| it.spec.mtu.is_some()))
}

/// The same connections second by second, which a state at the end does not show. Nothing in runs that did not read it.
fn seconds(tcp: &[&FlowGroup<'_>], t: &Texts) -> Option<Block> {
    let read: Vec<_> = tcp.iter().copied().filter(|group| !resent(group).is_empty()).collect();
    let table = traffic(&read, t)
        .figures(t.get("col-tcp-rtt"), |it| range_of_seconds(it, |it| &it.rtt_us))
        .figures(t.get("col-cwnd"), |it| range_of_seconds(it, |it| &it.cwnd_segments))
        .figures(t.get("col-seconds-resending"), |it| {
            let resent = resent(it);
            format!("{} / {}", resent.iter().filter(|segments| **segments > 0).count(), resent.len())
        })
        .figures(t.get("col-seconds-worst"), |it| grouped(resent(it).into_iter().max().unwrap_or_default()))
        .table(t.get("tcp-seconds-caption"), read.iter().copied());
    (!read.is_empty()).then_some(table)
}

fn congestion(group: &FlowGroup<'_>) -> String {
    let controls: BTreeSet<&str> = connections(group).map(|it| it.congestion.as_str()).collect();
    controls.into_iter().collect::<Vec<_>>().join(", ")
}

fn range(group: &FlowGroup<'_>, figure: fn(&TcpState) -> u64) -> String {
    lowest_to_highest(connections(group).map(figure), grouped)
}

fn sizes(group: &FlowGroup<'_>, figure: fn(&TcpState) -> u32) -> String {
    lowest_to_highest(connections(group).map(|it| figure(it).into()), |bytes| bytes.to_string())
}

fn range_of_seconds(group: &FlowGroup<'_>, list: fn(&TcpSeconds) -> &[u32]) -> String {
    lowest_to_highest(connections(group).flat_map(|it| list(&it.seconds)).map(|value| (*value).into()), grouped)
}

/// Segments sent again in each second of each trial, all connections of the trial together.
fn resent(group: &FlowGroup<'_>) -> Vec<u64> {
    group.flows.iter().flat_map(|(_, flow)| resent_by_second(&flow.sent.tcp)).collect()
}

fn resent_by_second(connections: &[TcpState]) -> Vec<u64> {
    let seconds = connections.iter().map(|it| it.seconds.retransmits.len()).min().unwrap_or(0);
    (0..seconds).map(|second| connections.iter().map(|it| it.seconds.retransmits[second]).total()).collect()
}

fn connections<'g>(group: &'g FlowGroup<'_>) -> impl Iterator<Item = &'g TcpState> + Clone {
    group.flows.iter().flat_map(|(_, flow)| &flow.sent.tcp)
}

fn zero_copied(group: &FlowGroup<'_>) -> impl Iterator<Item = ZeroCopied> {
    group.flows.iter().filter_map(|(_, flow)| flow.sent.zero_copied)
}

/// A part of the time with data to send, in whole percent.
fn share(part_us: u64, busy_us: u64) -> u64 {
    part_us.saturating_mul(100).checked_div(busy_us).unwrap_or(0)
}

fn lowest_to_highest(values: impl Iterator<Item = u64> + Clone, show: impl Fn(u64) -> String) -> String {
    match (values.clone().min(), values.max()) {
        (Some(low), Some(high)) if low == high => show(low),
        (Some(low), Some(high)) => format!("{} – {}", show(low), show(high)),
        _ => NO_FIGURE.to_owned(),
    }
}

/// Sends that were really not copied, and those that were after all.
fn zero_copies(group: &FlowGroup<'_>) -> String {
    let all = zero_copied(group)
        .reduce(|a, b| ZeroCopied { zero_copied: a.zero_copied + b.zero_copied, copied: a.copied + b.copied });
    show::or_none(all, |all| format!("{} / {}", grouped(all.zero_copied), grouped(all.copied)))
}
