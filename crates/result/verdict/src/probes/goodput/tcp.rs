//! Limits of TCP connections.

use model::{
    Delta, Evidence, LimitedBy, LossAt, Place, Source, Total,
    limited::Wait,
    trial::{TcpSeconds, TcpState},
};

use super::Case;
use crate::limited::{
    at, between, core, dut,
    end::sum,
    gap::{self, Counted},
    loss,
};

/// A connection that could not send for this share of the time in which it had data was held up by what it waited for.
/// Less comes of the ordinary back and forth with a receiver that is about as fast.
const WAITED_PERCENT: f64 = 30.0;

/// Largest distance of window and RTT from the goodput that they make possible: RTT is a running mean, and the kernel gives
/// a part of the buffer to the headers it keeps there.
const WINDOW_MATCHES: f64 = 0.25;

/// Segments that came, and that the receiver's socket had no room for (`nstat`).
const REFUSALS: [&str; 4] = ["TCPBacklogDrop", "TCPRcvQDrop", "TCPZeroWindowDrop", "TCPOFODrop"];

/// Retransmissions that can hold a connection back, as a share of its segments: at 1 in 10 000 a congestion window
/// stays near 120 segments (1.22/√p, Mathis et al. 1997). Below it nothing is said.
const RESENT: f64 = 0.0001;

/// Share of its packets that the receiver's queueing discipline has to hold back to set the pace of acknowledgements: one that
/// is hardly ever full sends bursts of them later, which costs nothing.
const ACKNOWLEDGEMENTS: f64 = 0.1;

/// Excess over the goodput that a congestion control can allow while it is the limit: headers, and rates that are estimates.
const ALLOWED: f64 = 1.3;

/// Segments that bbr sends again for nothing cost no more than themselves: it takes no loss below a twentieth for congestion.
const RESENT_BY_BBR: f64 = 0.05;

/// The receiver's queueing discipline held acknowledgements back, for which the sender waited.
pub(super) fn acknowledgements(case: &Case<'_>) -> Option<LimitedBy> {
    let counter = case.way.receiver.held_back_share(ACKNOWLEDGEMENTS)?;
    Some(at(Place::Qdisc, &case.way.receiver, vec![Evidence::Counter { counter }]))
}

/// A connection waited for something else than its cores.
pub(super) fn waited(case: &Case<'_>) -> Option<LimitedBy> {
    let share = |part: fn(&TcpState) -> u64| {
        let connections = &case.flow.sent.tcp;
        let busy: u64 = connections.iter().map(|connection| connection.busy_us).total();
        100.0 * connections.iter().map(part).total() as f64 / busy.max(1) as f64
    };
    let window = share(|connection| connection.receive_window_limited_us);
    let buffer = share(|connection| connection.send_buffer_limited_us);
    let (waited_for, percent) =
        if window >= buffer { (Wait::ReceiveWindow, window) } else { (Wait::SendBuffer, buffer) };
    (percent >= WAITED_PERCENT).then(|| because_of(case, waited_for, Evidence::Waited { waited_for, percent }))
}

/// A receive window closes because the receiver does not read (then its core tells), or because it is too small for the
/// RTT. A send buffer is too small by itself, unless its size was asked for: then it is the window that was asked for.
fn because_of(case: &Case<'_>, waited_for: Wait, waited: Evidence) -> LimitedBy {
    let (sender, receiver) = (&case.way.sender, &case.way.receiver);
    let evidence = || [waited.clone()].into_iter().chain(window_per_rtt(case)).collect();
    match (waited_for, case.receiver_core()) {
        (Wait::ReceiveWindow, Some(mut busy)) => {
            busy.evidence.push(waited);
            busy
        }
        (Wait::ReceiveWindow, None) => at(Place::Window, receiver, evidence()),
        (Wait::SendBuffer, _) if case.spec.window.is_some() => at(Place::Window, sender, evidence()),
        (Wait::SendBuffer, _) => at(Place::SenderSocket, sender, vec![waited]),
    }
}

/// One window per RTT gives the measured rate.
pub(super) fn asked_window(case: &Case<'_>) -> Option<LimitedBy> {
    Some(between(Place::Window, vec![window_per_rtt(case)?]))
}

/// The window per RTT, where its size was asked for and it comes to the goodput. What is under way is goodput × RTT
/// (Little's law): it fills the window only if that is the limit.
fn window_per_rtt(case: &Case<'_>) -> Option<Evidence> {
    let asked = case.spec.window?.0;
    let granted = [case.flow.sent.buffer, case.flow.received.buffer].into_iter().flatten().map(|bytes| bytes.0);
    let window = granted.min().unwrap_or(asked).min(asked);
    let connections = &case.flow.sent.tcp;
    let per_second = |connection: &TcpState| window as f64 * 8e6 / f64::from(connection.rtt_us.max(1));
    let possible_bps: f64 = connections.iter().map(per_second).sum();
    let rtt_us = connections.iter().map(|connection| connection.rtt_us).max()?;
    let achieved = case.flow.received.mean_bps();
    let matches = (achieved - possible_bps).abs() <= WINDOW_MATCHES * possible_bps;
    matches.then_some(Evidence::WindowPerRtt { window, rtt_us, possible_bps })
}

/// A core has no time left. Where both ends' have none, it is the sender's: a receiver that is slower closes its window,
/// and the rule before this one has seen that it did not. Where both are one core, the sender waits for it.
pub(super) fn core_of_an_end(case: &Case<'_>) -> Option<LimitedBy> {
    let flooded = || {
        let flooded = case.way.receiver.softirq_core()?;
        Some(at(Place::SoftirqCore, &case.way.receiver, vec![core(flooded)]))
    };
    case.sender_core().or_else(|| case.receiver_core()).or_else(flooded)
}

/// Segments were lost and sent again, which keeps the congestion window small. Reordered ones are sent again too, for
/// nothing: the receiver says that it has them twice (DSACK, RFC 2883). Some of that is lost or joined on the way back,
/// so that the rest counts as lost only if it is the larger part.
pub(super) fn sent_again(case: &Case<'_>) -> Option<LimitedBy> {
    let retransmits = case.flow.sent.retransmits();
    let lost = retransmits.saturating_sub(sum(&had_twice(case)));
    if lost == 0 || lost < retransmits / 2 || !holds_back(case, lost)? {
        return None;
    }
    let worst = losses(case, lost).into_iter().max_by_key(|loss| loss.packets)?;
    if let Some(limited) = dut::dropped(case.trial, &worst) {
        return Some(limited);
    }
    Some(LimitedBy { place: worst.place, endpoint: worst.endpoint.clone(), evidence: loss::evidence(worst) })
}

/// Places where this many segments were dropped before they were sent again.
fn losses(case: &Case<'_>, segments: u64) -> Vec<LossAt> {
    let Case { run, trial, way, .. } = *case;
    let refused = way.receiver.moved(Source::Netstat, |delta| REFUSALS.contains(&delta.name.as_str()));
    let socket = loss::claim(Place::ReceiverSocket, way.receiver, sum(&refused), refused);
    let claims = [socket].into_iter().chain(loss::on_the_way(run, way, 1));
    loss::share_out(segments, claims.chain(gap::claims(run, trial, &[way], segments, Counted::Large(1))))
}

/// Segments were sent again that had arrived: they had only been overtaken. That costs something if the congestion control took
/// them for lost and allowed no more, or if much of what was sent was for nothing.
///
/// Over a veth pair, bbr's segments overtake each other: two cores hand them over, the sender's own and the one of its pacing timer.
pub(super) fn reordered(case: &Case<'_>) -> Option<LimitedBy> {
    let twice = had_twice(case);
    let for_nothing = case.flow.sent.retransmits().min(sum(&twice));
    let by_bbr = case.flow.sent.tcp.iter().any(|connection| connection.congestion.starts_with("bbr"));
    let costs = resent(case, for_nothing)? >= RESENT_BY_BBR || !by_bbr && congestion(case).is_some();
    if !costs || !holds_back(case, for_nothing)? {
        return None;
    }
    let queued = case.way.receiver.moved(Source::Netstat, |delta| delta.name == "TCPOFOQueue");
    let counters = twice.into_iter().chain(queued);
    Some(between(Place::Reordering, counters.map(|counter| Evidence::Counter { counter }).collect()))
}

/// Duplicates reported by the receiver (DSACK).
fn had_twice(case: &Case<'_>) -> Vec<Delta> {
    case.way.sender.moved(Source::Netstat, |delta| delta.name == "TCPDSACKRecvSegs")
}

/// Whether so many segments sent again can hold a connection back.
fn holds_back(case: &Case<'_>, sent_again: u64) -> Option<bool> {
    Some(sent_again > 0 && resent(case, sent_again)? >= RESENT)
}

/// So many segments as a share of all that were sent.
fn resent(case: &Case<'_>, segments: u64) -> Option<f64> {
    let all = case.flow.sent.total_bytes as f64 / f64::from(case.packet_size()?.0.max(1));
    Some(segments as f64 / all.max(1.0))
}

/// The congestion control allowed about what was sent, and no more. Nothing that was asked before set that pace: neither end's
/// core, window or buffer, and no loss.
pub(super) fn congestion(case: &Case<'_>) -> Option<LimitedBy> {
    let connections = &case.flow.sent.tcp;
    let allowed_bps: f64 = connections.iter().map(allowed).sum::<Option<f64>>()?;
    let bps = case.flow.received.mean_bps();
    let control = connections.first()?.congestion.clone();
    let evidence = Evidence::CongestionControl { control, allowed_bps, bps };
    (bps > 0.0 && allowed_bps <= ALLOWED * bps).then(|| at(Place::CongestionControl, &case.way.sender, vec![evidence]))
}

/// Rate that the congestion control allowed a connection, in the mean of the seconds; `None` where they were not read.
fn allowed(connection: &TcpState) -> Option<f64> {
    let TcpSeconds { rtt_us, cwnd_segments, pacing_bps, .. } = &connection.seconds;
    let window_per_rtt = |(rtt, segments): (&u32, &u32)| {
        f64::from(*segments) * f64::from(connection.mss) * 8e6 / f64::from((*rtt).max(1))
    };
    let windows = rtt_us.iter().zip(cwnd_segments).map(window_per_rtt);
    let each = windows.zip(pacing_bps).map(|(window, pacing)| window.min(*pacing as f64));
    (!pacing_bps.is_empty()).then(|| each.sum::<f64>() / pacing_bps.len() as f64)
}
