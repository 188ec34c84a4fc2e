//! What the kernel knew of the TCP connections.

use std::collections::BTreeSet;

use maud::{Markup, html};
use model::trial::{TcpState, ZeroCopied};

use super::table::{self, figures, words};
use crate::{
    groups::FlowGroup,
    show::{self, NO_FIGURE, grouped},
    texts::Texts,
};

/// A row for each direction: all connections of all its trials, from the lowest to the highest. Nothing without TCP.
pub(super) fn table(flows: &[FlowGroup<'_>], t: &Texts) -> Markup {
    let tcp: Vec<_> = flows.iter().filter(|group| connections(group).next().is_some()).collect();
    if tcp.is_empty() {
        return html! {};
    }
    let zero_copy = tcp.iter().any(|group| zero_copied(group).next().is_some());
    let head = html! {
        (words(&t.get("col-traffic")))
        (words(&t.get("col-direction")))
        (words(&t.get("col-congestion")))
        (figures(&t.get("col-tcp-rtt")))
        (figures(&t.get("col-tcp-min-rtt")))
        (figures(&t.get("col-cwnd")))
        (figures(&t.get("col-mss")))
        (figures(&t.get("col-path-mtu")))
        (figures(&t.get("col-connection-retransmits")))
        (figures(&t.get("col-waited-window")))
        (figures(&t.get("col-waited-buffer")))
        @if zero_copy { (figures(&t.get("col-zero-copied"))) }
    };
    let rows = html! { @for group in &tcp { (row(group, zero_copy, t)) } };
    html! {
        h4 { (t.get("tcp-heading")) }
        (table::table(&t.get("tcp-caption"), &head, &rows))
    }
}

fn connections<'g>(group: &'g FlowGroup<'_>) -> impl Iterator<Item = &'g TcpState> + Clone {
    group.flows.iter().flat_map(|(_, flow)| &flow.sent.tcp)
}

fn zero_copied(group: &FlowGroup<'_>) -> impl Iterator<Item = ZeroCopied> {
    group.flows.iter().filter_map(|(_, flow)| flow.sent.zero_copied)
}

fn row(group: &FlowGroup<'_>, zero_copy: bool, t: &Texts) -> Markup {
    let controls: BTreeSet<&str> = connections(group).map(|it| it.congestion.as_str()).collect();
    let range = |figure: fn(&TcpState) -> u64| lowest_to_highest(connections(group).map(figure), grouped);
    let size = |figure: fn(&TcpState) -> u32| {
        lowest_to_highest(connections(group).map(|it| figure(it).into()), |bytes| bytes.to_string())
    };
    html! {
        tr {
            th.long scope="row" { (show::goodput_traffic(group.spec, t)) }
            td { (show::way(group.from, group.to)) }
            td { (controls.into_iter().collect::<Vec<_>>().join(", ")) }
            td.n { (range(|it| it.rtt_us.into())) }
            td.n { (range(|it| it.min_rtt_us.into())) }
            td.n { (range(|it| it.cwnd_segments.into())) }
            td.n { (size(|it| it.mss)) }
            td.n { (size(|it| it.path_mtu.0)) }
            td.n { (range(|it| it.retransmits)) }
            td.n { (range(|it| share(it.receive_window_limited_us, it.busy_us))) }
            td.n { (range(|it| share(it.send_buffer_limited_us, it.busy_us))) }
            @if zero_copy { td.n { (zero_copies(group)) } }
        }
    }
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
