//! What limited a transfer: what TCP and UDP have in common.

use model::{Evidence, Flow, GoodputResult, GoodputSpec, LimitedBy, Measured, Mtu, Place, Protocol, Run, Trial};

use super::{Way, at, between, busy_core, core, dut, not_known, pcie, tcp, too_large, udp};
use crate::link;

/// A link that carries this share of its rate is full: bursts and the edges of the counted time take the rest.
const LINK_FULL: f64 = 0.95;

/// Bytes that each frame takes on the wire beside its IP packet: preamble, header, FCS and gap (IEEE 802.3).
const FRAME_OVERHEAD: u32 = 8 + 14 + 4 + 12;

/// Bytes of a frame in memory beside its IP packet: preamble, FCS and gap never cross the bus.
pub(super) const IN_MEMORY: u32 = 14;

/// One flow with all that is known of it.
#[derive(Clone, Copy)]
pub(super) struct Case<'a> {
    pub(super) run: &'a Run,
    pub(super) trial: &'a Trial,
    pub(super) spec: &'a GoodputSpec,
    pub(super) flow: &'a Flow,
    pub(super) mtu: Mtu,
    pub(super) way: Way<'a>,
}

/// A rule: its answer, if it finds its evidence.
pub(super) type Rule = fn(&Case<'_>) -> Option<LimitedBy>;

/// What limited the slower flow; `None` without a flow.
pub(super) fn limited_by(run: &Run, trial: &Trial, spec: &GoodputSpec, result: &GoodputResult) -> Option<LimitedBy> {
    let slower = |a: &&Flow, b: &&Flow| a.received.mean_bps().total_cmp(&b.received.mean_bps());
    Some(limited_flow(run, trial, spec, result, result.flows.iter().min_by(slower)?))
}

/// What limited this flow.
pub(super) fn limited_flow(
    run: &Run,
    trial: &Trial,
    spec: &GoodputSpec,
    result: &GoodputResult,
    flow: &Flow,
) -> LimitedBy {
    let case = Case { run, trial, spec, flow, mtu: result.mtu, way: Way::of(trial, flow) };
    let rules: &[Rule] = match spec.protocol {
        Protocol::Udp => &[
            udp::as_asked,
            too_large::path,
            udp::lost,
            shaped,
            shaped_by_dut,
            link_full,
            pcie::full,
            dut_core,
            udp::sender_core,
            udp::sender_socket,
            udp::tester_alone,
        ],
        Protocol::Tcp => &[
            too_large::path,
            shaped,
            shaped_by_dut,
            link_full,
            pcie::full,
            dut_core,
            tcp::waited,
            tcp::asked_window,
            tcp::core_of_an_end,
            tcp::sent_again,
            tcp::reordered,
        ],
    };
    rules.iter().find_map(|rule| rule(&case)).unwrap_or_else(|| not_known(all_cores(&case)))
}

/// Nothing shows what limited the flow; at least it can be seen that the cores did not, or what the load came to.
fn all_cores(case: &Case<'_>) -> Vec<Evidence> {
    let cores = [case.way.sender, case.way.receiver].into_iter().filter_map(|end| end.busiest());
    udp::behind(case).into_iter().chain(cores.map(core)).collect()
}

/// The sender's queueing discipline held packets back.
fn shaped(case: &Case<'_>) -> Option<LimitedBy> {
    let counter = case.way.sender.held_back()?;
    Some(at(Place::Qdisc, &case.way.sender, vec![Evidence::Counter { counter }]))
}

/// The queueing discipline of the device under test did.
fn shaped_by_dut(case: &Case<'_>) -> Option<LimitedBy> {
    dut::shaped(case.trial)
}

/// A core of the device under test forwards no more.
fn dut_core(case: &Case<'_>) -> Option<LimitedBy> {
    dut::core_full(case.trial)
}

/// The link of either end carried what it can, with all flows of the trial that go through it.
fn link_full(case: &Case<'_>) -> Option<LimitedBy> {
    let Measured::Goodput { result, .. } = &case.trial.measured else { return None };
    let through = |goes: fn(&Flow, &Flow) -> bool| -> f64 {
        let flows = result.flows.iter().filter(|flow| goes(flow, case.flow));
        flows.map(|flow| flow.received.mean_bps()).sum()
    };
    let sent = link_share(case, &case.flow.from, through(|a, b| a.from == b.from));
    let received = link_share(case, &case.flow.to, through(|a, b| a.to == b.to));
    let full = [sent, received].into_iter().flatten().filter(|(bps, link_bps)| *bps >= LINK_FULL * link_bps);
    let fullest = full.min_by(|(_, a), (_, b)| a.total_cmp(b));
    fullest.map(|(bps, link_bps)| between(Place::LinkRate, vec![Evidence::LinkFull { bps, link_bps }]))
}

/// What this much payload takes of an end's link in packets like the flow's, and the link's rate, both in bit/s.
fn link_share(case: &Case<'_>, endpoint: &str, payload_bps: f64) -> Option<(f64, f64)> {
    let link_bps = f64::from(link::speed_of(case.run, endpoint)?) * 1e6;
    let (payload, packet) = case.packet_size()?;
    // A payload that does not fit is sent in several packets; then each is full but the last.
    let packets = packet.div_ceil(case.mtu.0.max(1));
    let on_wire = f64::from(packet + packets * FRAME_OVERHEAD) / f64::from(payload.max(1));
    Some((payload_bps * on_wire, link_bps))
}

impl Case<'_> {
    /// Payload of each full packet and its size as an IP packet, as the connection or the datagrams have it.
    pub(super) fn packet_size(&self) -> Option<(u32, u32)> {
        let headers = |tcp_timestamps| {
            model::frame_size::Headers { ip: self.spec.ip, protocol: self.spec.protocol, tcp_timestamps }.bytes()
        };
        match (&self.flow.sent.datagrams, self.flow.sent.tcp.first()) {
            (Some(datagrams), _) => Some((datagrams.payload_size.0, datagrams.payload_size.0 + headers(false))),
            (None, Some(connection)) if connection.mss > 0 => {
                Some((connection.mss, connection.mss + headers(connection.timestamps)))
            }
            _ => None,
        }
    }

    /// A core of the sender's that is busy.
    pub(super) fn sender_core(&self) -> Option<LimitedBy> {
        busy_core(&self.way.sender, Place::SenderCpu)
    }

    /// A core of the receiver's that is busy.
    pub(super) fn receiver_core(&self) -> Option<LimitedBy> {
        busy_core(&self.way.receiver, Place::ReceiverCpu)
    }
}
