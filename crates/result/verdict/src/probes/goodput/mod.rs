//! Limits of a transfer: the rules that TCP and UDP have in common.

mod pcie;
mod tcp;
mod too_large;
mod udp;

use model::{
    Batch, Direction, Evidence, Flow, FlowAssessment, GoodputResult, GoodputSpec, LimitedBy, LossAt, Place, Protocol,
    Run, Trial, TrialAssessment,
};

use crate::{
    limited::{
        between, busy_core, core, dut,
        end::{Ends, TrafficDirection},
        gap::{self, Counted},
        held_back, loss, unexplained,
    },
    link,
    synchronous::is_synchronous,
};

/// A link that carries this share of its rate is full: bursts and the edges of the counted time take the rest.
const LINK_FULL: f64 = 0.95;

/// Bytes that each frame takes on the wire beside its IP packet: preamble, header, FCS and gap (IEEE 802.3).
const FRAME_OVERHEAD: u32 = 8 + 14 + 4 + 12;

/// The most datagrams that go through the kernel as one packet: what older kernels take, and so what is handed to all.
const MOST_SEGMENTS: u32 = 64;

/// Bytes of a frame in memory beside its IP packet: preamble, FCS and gap never cross the bus.
const IN_MEMORY: u32 = 14;

/// Share of the seconds without data above which these, and no place on the path, set the mean.
const INTERRUPTED: f64 = 0.05;

/// A second in which a link was down is slower than this share of the fastest one.
const SLOW: f64 = 0.8;

/// One flow with all that is known of it.
#[derive(Clone, Copy)]
struct Case<'a> {
    run: &'a Run,
    trial: &'a Trial,
    spec: &'a GoodputSpec,
    result: &'a GoodputResult,
    flow: &'a Flow,
    way: TrafficDirection<'a>,
}

/// A rule: its answer, if it finds its evidence.
type Rule = fn(&Case<'_>) -> Option<LimitedBy>;

/// The conclusions of a goodput trial. Of several flows, the slowest one sets the limit of the trial.
pub(super) fn assess(run: &Run, trial: &Trial, spec: &GoodputSpec, result: &GoodputResult) -> TrialAssessment {
    let each_way = if spec.direction == Direction::Both { 2 } else { 1 };
    let ends = Ends { trial, threads: Some(each_way * usize::from(spec.streams)) };
    let case = |flow| Case { run, trial, spec, result, flow, way: ends.between(&flow.from, &flow.to) };
    let cases: Vec<Case<'_>> = result.flows.iter().map(case).collect();
    let slower = |a: &&Case<'_>, b: &&Case<'_>| a.flow.received.mean_bps().total_cmp(&b.flow.received.mean_bps());
    TrialAssessment {
        limited_by: cases.iter().min_by(slower).map(limited_by),
        losses: cases.iter().flat_map(losses).collect(),
        saw_loss: result.flows.iter().any(saw_loss),
        flows: cases.iter().map(assess_flow).collect(),
        ..TrialAssessment::default()
    }
}

fn assess_flow(case: &Case<'_>) -> FlowAssessment {
    FlowAssessment {
        from: case.flow.from.clone(),
        to: case.flow.to.clone(),
        limited_by: Some(limited_by(case)),
        line_rate: link::line_rate_of_flow(case.run, case.spec, case.flow),
        synchronous: is_synchronous(case.run, case.trial, &case.flow.from),
    }
}

fn saw_loss(flow: &Flow) -> bool {
    let overflowed = flow.received.datagrams.as_ref().map_or(0, |datagrams| datagrams.overflowed);
    [flow.lost().unwrap_or(0), flow.sent.retransmits(), overflowed].iter().any(|count| *count > 0)
}

/// Places where the datagrams of a flow were lost; nothing over TCP, which sends segments again.
fn losses(case: &Case<'_>) -> Vec<LossAt> {
    let overflowed = case.flow.received.datagrams.as_ref().map_or(0, |datagrams| datagrams.overflowed);
    let per_packet = datagrams_per_packet(case);
    let claims = loss::claims(case.run, case.way, case.spec.stack, overflowed, per_packet);
    let lost = case.flow.lost().unwrap_or_default();
    let counted = if per_packet == 1 { Counted::Each } else { Counted::Large(per_packet) };
    let between = gap::claims(case.run, case.trial, &[case.way], lost, counted);
    loss::share_out(lost, claims.into_iter().chain(between))
}

/// A counter of packets counts a large one, which is cut into datagrams later, as one.
fn datagrams_per_packet(case: &Case<'_>) -> u64 {
    match (&case.flow.sent.datagrams, case.spec.batch) {
        (Some(sent), Batch::Gso) => (65_535 / sent.payload_size.0.max(1)).clamp(1, MOST_SEGMENTS).into(),
        _ => 1,
    }
}

/// Limit of a flow.
fn limited_by(case: &Case<'_>) -> LimitedBy {
    let rules: &[Rule] = match case.spec.protocol {
        Protocol::Udp => &[
            udp::as_asked,
            too_large::path,
            interrupted,
            |case| dut::own_core_full(case.run, case.trial),
            udp::lost,
            |case| held_back(&case.way.sender),
            |case| dut::shaped(case.trial),
            link_full,
            pcie::full,
            |case| dut::core_full(case.trial),
            udp::sender_core,
            udp::sender_socket,
            udp::tester_alone,
        ],
        Protocol::Tcp => &[
            too_large::path,
            interrupted,
            |case| dut::own_core_full(case.run, case.trial),
            |case| held_back(&case.way.sender),
            |case| dut::shaped(case.trial),
            link_full,
            pcie::full,
            |case| dut::core_full(case.trial),
            tcp::acknowledgements,
            tcp::waited,
            tcp::asked_window,
            tcp::core_of_an_end,
            tcp::sent_again,
            tcp::reordered,
            tcp::congestion,
        ],
    };
    rules.iter().find_map(|rule| rule(case)).unwrap_or_else(|| unexplained(&case.way, all_cores(case)))
}

/// Nothing shows what limited the flow; at least it can be seen that the cores did not, or what the load came to.
fn all_cores(case: &Case<'_>) -> Vec<Evidence> {
    let cores = [case.way.sender, case.way.receiver].into_iter().filter_map(|end| end.busiest());
    udp::behind(case).into_iter().chain(cores.map(core)).collect()
}

/// Nothing arrived in so much of the counted time that the mean is that of two states of the path.
fn interrupted(case: &Case<'_>) -> Option<LimitedBy> {
    let seconds = &case.flow.received.intervals_bps;
    let fastest = seconds.iter().copied().fold(0.0, f64::max);
    let slower_than = |bps: f64| seconds.iter().filter(|second| **second <= bps).count();
    let sets_the_mean = |slow: usize| slow > 0 && slow as f64 >= INTERRUPTED * seconds.len() as f64;
    let silent = slower_than(0.0);
    let evidence = Evidence::Silent { seconds: silent as u64, of: seconds.len() as u64 };
    // A link that comes back has no whole second of silence, but TCP takes its time to begin again.
    match loss::link_down(case.way).filter(|_| sets_the_mean(slower_than(SLOW * fastest)) && fastest > 0.0) {
        Some(LossAt { endpoint, shown_by, .. }) => {
            let counters = shown_by.into_iter().map(|counter| Evidence::Counter { counter });
            let evidence = counters.chain((silent > 0).then_some(evidence)).collect();
            Some(LimitedBy { place: Place::Interruption, endpoint, evidence })
        }
        // Where all datagrams arrived, the sender itself was silent; where counters place the loss, it names the cause.
        None if case.flow.lost() == Some(0) || is_placed(&losses(case)) => None,
        None => (silent < seconds.len() && sets_the_mean(silent)).then(|| between(Place::Interruption, vec![evidence])),
    }
}

/// Most of what was lost was lost at a place of an end. Nothing is known of what happens on the path meanwhile.
fn is_placed(losses: &[LossAt]) -> bool {
    let worst = losses.iter().max_by_key(|loss| loss.packets);
    worst.is_some_and(|loss| ![Place::NotKnown, Place::Path, Place::DeviceUnderTest].contains(&loss.place))
}

/// The link of either end was at capacity, with all flows of the trial on it.
fn link_full(case: &Case<'_>) -> Option<LimitedBy> {
    let through = |goes: fn(&Flow, &Flow) -> bool| -> f64 {
        let flows = case.result.flows.iter().filter(|flow| goes(flow, case.flow));
        flows.map(|flow| flow.received.mean_bps()).sum()
    };
    let sent = link_share(case, &case.flow.from, through(|a, b| a.from == b.from));
    let received = link_share(case, &case.flow.to, through(|a, b| a.to == b.to));
    let full = [sent, received].into_iter().flatten().filter(|(bps, link_bps)| *bps >= LINK_FULL * link_bps);
    let fullest = full.min_by(|(_, a), (_, b)| a.total_cmp(b));
    fullest.map(|(bps, link_bps)| between(Place::LinkRate, vec![Evidence::LinkFull { bps, link_bps }]))
}

/// Rate that this much payload takes of an end's link in packets like the flow's, and the link's rate, both in bit/s.
fn link_share(case: &Case<'_>, endpoint: &str, payload_bps: f64) -> Option<(f64, f64)> {
    let link_bps = f64::from(link::speed_of(case.run, endpoint)?) * 1e6;
    let (payload, packet) = case.packet_size()?;
    // A payload that does not fit is sent in several packets; then each is full but the last.
    let packets = packet.div_ceil(case.result.mtu.0.max(1));
    let on_wire = f64::from(packet + packets * FRAME_OVERHEAD) / f64::from(payload.max(1));
    Some((payload_bps * on_wire, link_bps))
}

impl Case<'_> {
    /// Payload of each full packet and its size as an IP packet, as the connection or the datagrams have it.
    fn packet_size(&self) -> Option<(u32, u32)> {
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
    fn sender_core(&self) -> Option<LimitedBy> {
        busy_core(&self.way.sender, Place::SenderCpu)
    }

    /// A core of the receiver's that is busy.
    fn receiver_core(&self) -> Option<LimitedBy> {
        busy_core(&self.way.receiver, Place::ReceiverCpu)
    }
}
