//! What the kernel knew of the TCP connections.

use std::collections::BTreeSet;

use model::trial::{TcpSeconds, TcpState, ZeroCopied};

use crate::{
    groups::FlowGroup,
    page::{Block, Column, Text},
    show::{self, NO_FIGURE, grouped},
    texts::Texts,
};

/// A row for each direction: all connections of all its trials, from the lowest to the highest. Nothing without TCP.
pub(super) fn section(flows: &[FlowGroup<'_>], t: &Texts) -> Option<Block> {
    let tcp: Vec<_> = flows.iter().filter(|group| connections(group).next().is_some()).collect();
    if tcp.is_empty() {
        return None;
    }
    let zero_copy = tcp.iter().any(|group| zero_copied(group).next().is_some());
    let mut columns = vec![
        Column::long(t.get("col-traffic")),
        Column::words(t.get("col-direction")),
        Column::words(t.get("col-congestion")),
        Column::figures(t.get("col-tcp-rtt")),
        Column::figures(t.get("col-tcp-min-rtt")),
        Column::figures(t.get("col-cwnd")),
        Column::figures(t.get("col-mss")),
        Column::figures(t.get("col-path-mtu")),
        Column::figures(t.get("col-connection-retransmits")),
        Column::figures(t.get("col-waited-window")),
        Column::figures(t.get("col-waited-buffer")),
    ];
    columns.extend(zero_copy.then(|| Column::figures(t.get("col-zero-copied"))));
    let rows = tcp.iter().map(|group| row(group, zero_copy, t)).collect();
    let states = Block::table(t.get("tcp-caption"), columns, rows);
    Some(Block::section(t.get("tcp-heading"), [states].into_iter().chain(seconds(&tcp, t)).collect()))
}

/// The same connections second by second: what a state at the end does not show. Nothing where nobody looked, as in runs of
/// before it was read.
fn seconds(tcp: &[&FlowGroup<'_>], t: &Texts) -> Option<Block> {
    let columns = vec![
        Column::long(t.get("col-traffic")),
        Column::words(t.get("col-direction")),
        Column::figures(t.get("col-tcp-rtt")),
        Column::figures(t.get("col-cwnd")),
        Column::figures(t.get("col-seconds-retransmits")),
        Column::figures(t.get("col-seconds-resending")),
        Column::figures(t.get("col-seconds-worst")),
    ];
    let rows: Vec<_> = tcp.iter().filter_map(|group| row_of_seconds(group, t)).collect();
    (!rows.is_empty()).then(|| Block::table(t.get("tcp-seconds-caption"), columns, rows))
}

fn row_of_seconds(group: &FlowGroup<'_>, t: &Texts) -> Option<Vec<Text>> {
    let range = |list: fn(&TcpSeconds) -> &[u32]| {
        lowest_to_highest(connections(group).flat_map(|it| list(&it.seconds)).map(|value| (*value).into()), grouped)
    };
    // Of all connections of a trial together.
    let resent: Vec<u64> = group.flows.iter().flat_map(|(_, flow)| resent_by_second(&flow.sent.tcp)).collect();
    let worst = resent.iter().max()?;
    let resending = resent.iter().filter(|segments| **segments > 0).count();
    let cells = [
        show::goodput_traffic(group.spec, t),
        show::way(group.from, group.to),
        range(|it| &it.rtt_us),
        range(|it| &it.cwnd_segments),
        grouped(resent.iter().sum()),
        format!("{resending} / {}", resent.len()),
        grouped(*worst),
    ];
    Some(cells.into_iter().map(Text::from).collect())
}

fn resent_by_second(connections: &[TcpState]) -> Vec<u64> {
    let seconds = connections.iter().map(|it| it.seconds.retransmits.len()).min().unwrap_or(0);
    (0..seconds).map(|second| connections.iter().map(|it| it.seconds.retransmits[second]).sum()).collect()
}

fn connections<'g>(group: &'g FlowGroup<'_>) -> impl Iterator<Item = &'g TcpState> + Clone {
    group.flows.iter().flat_map(|(_, flow)| &flow.sent.tcp)
}

fn zero_copied(group: &FlowGroup<'_>) -> impl Iterator<Item = ZeroCopied> {
    group.flows.iter().filter_map(|(_, flow)| flow.sent.zero_copied)
}

fn row(group: &FlowGroup<'_>, zero_copy: bool, t: &Texts) -> Vec<Text> {
    let controls: BTreeSet<&str> = connections(group).map(|it| it.congestion.as_str()).collect();
    let range = |figure: fn(&TcpState) -> u64| lowest_to_highest(connections(group).map(figure), grouped);
    let size = |figure: fn(&TcpState) -> u32| {
        lowest_to_highest(connections(group).map(|it| figure(it).into()), |bytes| bytes.to_string())
    };
    let cells = [
        show::goodput_traffic(group.spec, t),
        show::way(group.from, group.to),
        controls.into_iter().collect::<Vec<_>>().join(", "),
        range(|it| it.rtt_us.into()),
        range(|it| it.min_rtt_us.into()),
        range(|it| it.cwnd_segments.into()),
        size(|it| it.mss),
        size(|it| it.path_mtu.0),
        range(|it| it.retransmits),
        range(|it| share(it.receive_window_limited_us, it.busy_us)),
        range(|it| share(it.send_buffer_limited_us, it.busy_us)),
    ];
    cells.into_iter().chain(zero_copy.then(|| zero_copies(group))).map(Text::from).collect()
}

/// A part of the time with data to send, in whole percent.
fn share(part_us: u64, busy_us: u64) -> u64 {
    (100 * part_us).checked_div(busy_us).unwrap_or(0)
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
