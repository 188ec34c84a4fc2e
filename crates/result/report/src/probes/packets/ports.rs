//! Both ports as a generator shows them: what each sent and received, in bits of layer 1 and layer 2. Each direction stands
//! once.

use model::{PacketStream, Run, trial::BitRates};

use super::group::PacketGroup;
use crate::{
    columns::Columns,
    groups::Spread,
    page::Block,
    probes::Spec,
    show::{self, NO_FIGURE, or_none},
    texts::Texts,
};

/// Direction at a port: sent or received.
#[derive(Clone, Copy)]
enum PortDirection {
    Sent,
    Received,
}

/// One table for each layer, with sums.
pub(super) fn tables(run: &Run, groups: &[PacketGroup<'_>], t: &Texts) -> Vec<Block> {
    let [first, second] = run.bed.endpoints.as_slice() else { return vec![] };
    let ports = [first.name.as_str(), second.name.as_str()];
    vec![
        table(groups, ports, |rates| rates.l1_bps, t.get("packets-ports-l1"), t),
        table(groups, ports, |rates| rates.l2_bps, t.get("packets-ports-l2"), t),
        Block::Note(t.get("packets-ports-note").into()),
    ]
}

fn table(
    groups: &[PacketGroup<'_>],
    ports: [&str; 2],
    layer: fn(BitRates) -> f64,
    caption: String,
    t: &Texts,
) -> Block {
    let columns = Columns::new().long(t.get("col-configuration"), |it: &PacketGroup<'_>| it.spec.configuration(t));
    let columns = ports.into_iter().fold(columns, |columns, port| {
        let head = |key: &str| t.with(key, &[("port", &port)]);
        let has = |deed| groups.iter().any(|it| rate(it, port, deed, layer) != NO_FIGURE);
        columns
            .figures(head("col-port-tx"), move |it: &PacketGroup<'_>| rate(it, port, PortDirection::Sent, layer))
            .only_if(has(PortDirection::Sent))
            .figures(head("col-port-rx"), move |it| rate(it, port, PortDirection::Received, layer))
            .only_if(has(PortDirection::Received))
    });
    let forwarded = |it: &PacketGroup<'_>| or_none(forwarded(it), |it| show::packet_rate(it.median));
    columns.figures(t.get("col-forwarded-sum"), forwarded).table(caption, groups)
}

/// The median over the trials; a dash for a direction without traffic.
fn rate(group: &PacketGroup<'_>, port: &str, deed: PortDirection, layer: fn(BitRates) -> f64) -> String {
    let is_of = |stream: &&PacketStream| match deed {
        PortDirection::Sent => stream.from == port,
        PortDirection::Received => stream.to == port,
    };
    let bits = |stream: &PacketStream| match deed {
        PortDirection::Sent => layer(stream.tx()),
        PortDirection::Received => layer(stream.rx()),
    };
    let values: Vec<f64> = group
        .trials
        .iter()
        .filter(|(_, result)| result.streams.iter().any(|stream| is_of(&stream)))
        .map(|(_, result)| result.streams.iter().filter(is_of).map(bits).sum())
        .collect();
    Spread::of(&values).map_or_else(|| NO_FIGURE.to_owned(), |it| show::rate(it.median))
}

/// Packets a second that arrived, all directions together, each counted once.
fn forwarded(group: &PacketGroup<'_>) -> Option<Spread> {
    group.over(|result| Some(result.streams.iter().map(PacketStream::forwarding_pps).sum()))
}
