//! One figure of one trial, or as much as is known of it.

use model::{
    Flow, LatencyResult, LatencySpec, Measured, Metric, PacketStream, PacketsResult, PathResult, Trial,
    trial::{Leg, Together},
};

/// Where a figure lies, in the metric's base unit. Both ends are the same where it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    /// It is not below this.
    pub(crate) low: f64,
    /// It is not above this; infinite when a reply is missing that it depends on.
    pub(crate) high: f64,
}

/// The trial's figure in the metric's base unit (nanoseconds, bit/s, bytes or a share of 1); `None` where the trial has no such figure or
/// its sample does not support it.
pub(crate) fn value(metric: Metric, trial: &Trial) -> Option<f64> {
    match &trial.measured {
        Measured::Latency { result, .. } => {
            let rtt = &result.rtt_ns;
            let nanos = match metric {
                Metric::RttMean => return rtt.mean,
                Metric::RttMin => rtt.min,
                Metric::RttP50 => rtt.p50,
                Metric::RttP90 => rtt.p90,
                Metric::RttP99 => rtt.p99,
                Metric::RttP999 => rtt.p999,
                Metric::RttMax => rtt.max,
                Metric::GoodputMean
                | Metric::GoodputMin
                | Metric::GoodputMax
                | Metric::PathMtu
                | Metric::ForwardingRate => None,
                Metric::Loss => return loss(trial),
            };
            nanos.map(|nanos| nanos as f64)
        }
        Measured::Goodput { result, .. } => match metric {
            Metric::GoodputMean => slowest(result.ways(&trial.endpoint_to).map(|way| way.mean_bps)),
            Metric::GoodputMin => slowest(result.ways(&trial.endpoint_to).flat_map(|way| way.intervals_bps)),
            Metric::Loss => loss(trial),
            Metric::GoodputMax => slowest(result.ways(&trial.endpoint_to).filter_map(|way| fastest_second(&way))),
            _ => None,
        },
        Measured::Path { result, .. } => (metric == Metric::PathMtu).then(|| both_ways(result)),
        Measured::Packets { result, .. } => match metric {
            Metric::ForwardingRate => slowest(ways(result).into_iter().map(|way| forwarding_pps(result, way))),
            Metric::Loss => loss(trial),
            _ => None,
        },
    }
}

/// Of all that was sent, the share that did not come, or came after the timeout; `None` over TCP, where nothing was sent, and
/// where it is not known.
fn loss(trial: &Trial) -> Option<f64> {
    let (lost, sent) = match &trial.measured {
        Measured::Latency { result, .. } => (result.lost? + result.late, result.sent),
        Measured::Goodput { result, .. } => lost_datagrams(&result.flows)?,
        Measured::Path { .. } => return None,
        Measured::Packets { result, .. } => {
            let sum = |count: fn(&PacketStream) -> u64| result.streams.iter().map(count).sum::<u64>();
            (sum(PacketStream::lost), sum(|stream| stream.sent.frames))
        }
    };
    (sent > 0).then(|| lost as f64 / sent as f64)
}

/// The ends that packets came from.
fn ways(result: &PacketsResult) -> Vec<&str> {
    let mut ways: Vec<&str> = result.streams.iter().map(|stream| stream.from.as_str()).collect();
    ways.dedup();
    ways
}

/// Of all streams that this end sent.
fn forwarding_pps(result: &PacketsResult, from: &str) -> f64 {
    result.streams.iter().filter(|stream| stream.from == from).map(PacketStream::forwarding_pps).sum()
}

/// Both ways together.
fn lost_datagrams(flows: &[Flow]) -> Option<(u64, u64)> {
    let counts = |flow: &Flow| Some((flow.lost()?, flow.sent.datagrams.as_ref()?.sent));
    flows.iter().map(counts).try_fold((0, 0), |(lost, sent), flow| flow.map(|(l, s)| (lost + l, sent + s)))
}

fn fastest_second(way: &Together) -> Option<f64> {
    way.intervals_bps.iter().copied().reduce(f64::max)
}

fn slowest(rates: impl Iterator<Item = f64>) -> Option<f64> {
    rates.reduce(f64::min)
}

/// The largest packet that passes both ways, in bytes; zero where none does.
fn both_ways(result: &PathResult) -> f64 {
    let passes = |leg: &Leg| leg.mtu.map_or(0, |mtu| mtu.0);
    passes(&result.forward).min(passes(&result.reverse)).into()
}

/// The figure, or what missing replies leave known of it; `None` where the sample does not support it.
pub(crate) fn range(metric: Metric, trial: &Trial) -> Option<Range> {
    match (value(metric, trial), &trial.measured) {
        (Some(value), _) => Some(Range { low: value, high: value }),
        (None, Measured::Latency { spec, result }) => {
            Some(Range { low: at_least(metric, spec, result)?, high: f64::INFINITY })
        }
        (None, _) => None,
    }
}

/// What an RTT figure is at least when replies are missing. Each of these took longer than the timeout, so to leave the
/// trial out, or to judge by the replies that came, would flatter.
fn at_least(metric: Metric, spec: &LatencySpec, result: &LatencyResult) -> Option<f64> {
    let (n, missing) = (result.rtt_ns.n, result.missing());
    if missing == 0 {
        return None;
    }
    let timeout = spec.timeout.0 as f64;
    let supports = |per_mille| stats::supports(n, per_mille).then_some(timeout);
    match metric {
        // There is a minimum as soon as one reply came: without it, none did.
        Metric::RttMin | Metric::RttMax => Some(timeout),
        Metric::RttMean => Some(mean_at_least(result, timeout)),
        Metric::RttP50 => supports(500),
        Metric::RttP90 => supports(900),
        Metric::RttP99 => supports(990),
        Metric::RttP999 => supports(999),
        Metric::GoodputMean
        | Metric::GoodputMin
        | Metric::GoodputMax
        | Metric::PathMtu
        | Metric::Loss
        | Metric::ForwardingRate => None,
    }
}

/// The mean if each reply that came had been the fastest and each missing one had only just been late.
fn mean_at_least(result: &LatencyResult, timeout: f64) -> f64 {
    let n = result.rtt_ns.n as f64;
    let missing = result.missing() as f64;
    let fastest = result.rtt_ns.min.unwrap_or(0) as f64;
    ((n - missing) * fastest + missing * timeout) / n
}
