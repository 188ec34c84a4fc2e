//! What became of the datagrams of UDP goodput.

use maud::{Markup, html};
use model::{Flow, Protocol, trial::DatagramsReceived};

use super::table::{self, figures, words};
use crate::{
    groups::FlowGroup,
    show::{self, grouped, or_none},
    texts::Texts,
};

/// Nothing without UDP.
pub(super) fn table(flows: &[FlowGroup<'_>], t: &Texts) -> Markup {
    let udp: Vec<_> = flows.iter().filter(|flow| flow.spec.protocol == Protocol::Udp).collect();
    if udp.is_empty() {
        return html! {};
    }
    let head = html! {
        (words(&t.get("col-traffic")))
        (words(&t.get("col-direction")))
        (figures(&t.get("col-datagram")))
        (words(&t.get("col-batch")))
        (figures(&t.get("col-packet-rate")))
        (figures(&t.get("col-datagrams-sent")))
        (figures(&t.get("col-datagrams-received")))
        (figures(&t.get("col-datagrams-lost")))
        (figures(&t.get("col-loss")))
        (figures(&t.get("col-disorder")))
        (figures(&t.get("col-overflowed")))
    };
    let rows = html! { @for flow in &udp { (row(flow, t)) } };
    let window =
        udp.iter().flat_map(|flow| &flow.flows).find_map(|(_, flow)| Some(flow.received.datagrams.as_ref()?.window));
    let caption = t.with("datagrams-caption", &[("window", &or_none(window, grouped))]);
    html! {
        h4 { (t.get("datagrams-heading")) }
        (table::table(&caption, &head, &rows))
    }
}

fn row(group: &FlowGroup<'_>, t: &Texts) -> Markup {
    let count = |value: Option<u64>| or_none(value, grouped);
    let arrived =
        |figure: fn(&DatagramsReceived) -> u64| count(group.sum(|flow| flow.received.datagrams.as_ref().map(figure)));
    let size = group.flows.iter().find_map(|(_, flow)| Some(flow.sent.datagrams.as_ref()?.payload_size.0));
    let disorder = [arrived(|it| it.duplicated), arrived(|it| it.reordered), arrived(|it| it.corrupt)];
    html! {
        tr {
            th.long scope="row" { (show::goodput_traffic(group.spec, t)) }
            td { (show::way(group.from, group.to)) }
            td.n { (or_none(size, |size| size.to_string())) }
            td { (show::batch(group.spec.batch, t)) }
            td.n { (or_none(group.over(packets_per_second), |it| show::packet_rate(it.median))) }
            td.n { (count(group.sum(|flow| flow.sent.datagrams.as_ref().map(|it| it.sent)))) }
            td.n { (arrived(|it| it.received)) }
            td.n { (count(group.sum(Flow::lost))) }
            td.n { strong { (or_none(group.loss(), show::percent)) } }
            td.n { (disorder.join(" / ")) }
            td.n { (arrived(|it| it.overflowed)) }
        }
    }
}

/// Datagrams a second that arrived in the counted time.
fn packets_per_second(flow: &Flow) -> Option<f64> {
    let size = flow.sent.datagrams.as_ref()?.payload_size.0;
    (size > 0).then(|| flow.received.mean_bps() / 8.0 / f64::from(size))
}
