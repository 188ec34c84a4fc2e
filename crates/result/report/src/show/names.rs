//! Names of what was measured, in the report's language.

use model::{
    Amount, Batch, Direction, GoodputSpec, IpVersion, LatencySpec, Limit, LimitOutcome, Metric, PacketsSpec,
    PathResult, PathSpec, ProbeSpec, Protocol, ReceiveWay, Run, SendWay, Stack, Verdict, WaitMode,
    stream::{Load, Rate, Stream},
    trial::{Leg, StageName},
};

use super::{grouped, or_none};
use crate::{
    groups::{PathGroup, StreamGroup},
    limited::Ends,
    texts::Texts,
    together::TogetherGroup,
};

/// Words joined as the language joins them.
fn joined(words: impl IntoIterator<Item = String>, t: &Texts) -> String {
    words.into_iter().reduce(|a, b| t.with("joined", &[("a", &a), ("b", &b)])).unwrap_or_default()
}

fn transport(protocol: Protocol, ip: IpVersion) -> String {
    format!("{} {ip}", protocol.name())
}

/// Kind of latency traffic, frame size left out: `UDP IPv4, spin, at 10 kpps`.
pub(crate) fn latency_traffic(spec: &LatencySpec, t: &Texts) -> String {
    let rate = spec.rate.map(|rate| t.with("at-rate", &[("rate", &rate)]));
    let stamps = spec.stamps.then(|| t.get("stamped"));
    let first = [transport(spec.protocol, spec.ip), mode(spec.mode, t)];
    joined(first.into_iter().chain(past_the_kernel(spec.stack, t)).chain(rate).chain(stamps), t)
}

/// A latency configuration: its traffic and the frame size asked for.
pub(crate) fn latency_configuration(spec: &LatencySpec, t: &Texts) -> String {
    joined([latency_traffic(spec, t), format!("{} B", spec.frame_size.0)], t)
}

/// Only what differs from the ordinary is named.
fn past_the_kernel(used: Stack, t: &Texts) -> Option<String> {
    (used == Stack::Bypass).then(|| stack(used, t))
}

/// Whose network stack.
pub(crate) fn stack(stack: Stack, t: &Texts) -> String {
    match stack {
        Stack::Kernel => t.get("stack-kernel"),
        Stack::Bypass => t.get("stack-bypass"),
    }
}

/// How a program waits.
pub(crate) fn mode(mode: WaitMode, t: &Texts) -> String {
    match mode {
        WaitMode::Spin => t.get("mode-spin"),
        WaitMode::Block => t.get("mode-block"),
        WaitMode::BusyPoll => t.get("mode-busy-poll"),
    }
}

/// Kind of goodput traffic, MTU and direction left out; only what differs from the ordinary is named.
pub(crate) fn goodput_traffic(spec: &GoodputSpec, t: &Texts) -> String {
    let first = [transport(spec.protocol, spec.ip), t.count("streams", spec.streams.into())];
    let send = match spec.send {
        SendWay::Write => None,
        SendWay::ZeroCopy => Some(t.get("send-zerocopy")),
        SendWay::Sendfile => Some(t.get("send-sendfile")),
    };
    let receive = (spec.receive == ReceiveWay::Truncate).then(|| t.get("receive-truncate"));
    let batch = (spec.batch == Batch::Gso).then(|| "GSO".to_owned());
    let datagram = spec.datagram.map(|size| t.with("datagrams-of", &[("size", &size.0)]));
    let rate = spec.rate.map(|rate| t.with("at-rate", &[("rate", &rate)]));
    let window = spec.window.map(|window| t.with("window-of", &[("size", &window)]));
    let long = spec.long().map(|seconds| format!("{seconds} s"));
    let choices =
        [past_the_kernel(spec.stack, t), send, receive, spec.congestion.clone(), batch, datagram, rate, window, long];
    joined(first.into_iter().chain(choices.into_iter().flatten()), t)
}

/// A goodput configuration: its traffic, MTU and direction.
pub(crate) fn goodput_configuration(spec: &GoodputSpec, t: &Texts) -> String {
    let direction = (spec.direction != Direction::Forward).then(|| direction(spec.direction, t));
    let mtu = spec.mtu.map(|mtu| format!("MTU {}", mtu.0));
    joined([goodput_traffic(spec, t)].into_iter().chain(mtu).chain(direction), t)
}

/// Which way the data goes.
pub(crate) fn direction(direction: Direction, t: &Texts) -> String {
    match direction {
        Direction::Forward => t.get("direction-forward"),
        Direction::Reverse => t.get("direction-reverse"),
        Direction::Both => t.get("direction-both"),
    }
}

/// One direction of a goodput configuration; the ordinary one needs no naming.
pub(crate) fn flow(spec: &GoodputSpec, ends: Option<(&str, &str)>, t: &Texts) -> String {
    let way = ends.map(|(from, to)| way(from, to));
    let mtu = spec.mtu.map(|mtu| format!("MTU {}", mtu.0));
    joined([goodput_traffic(spec, t)].into_iter().chain(mtu).chain(way), t)
}

/// A configuration and the way that it goes, where that is named.
pub(crate) fn with_way(name: String, ends: Option<(&str, &str)>, t: &Texts) -> String {
    joined([name].into_iter().chain(ends.map(|(from, to)| way(from, to))), t)
}

/// Which way something goes.
pub(crate) fn way(from: &str, to: &str) -> String {
    format!("{from} → {to}")
}

/// What passed one way in all trials of a path, in bytes; lowest and highest where they differ.
pub(crate) fn leg_mtu(group: &PathGroup<'_>, leg: impl Fn(&PathResult) -> &Leg) -> String {
    let passed = group.over(|result| leg(result).mtu.map(|mtu| mtu.0.into()));
    or_none(passed, |it| {
        if it.low < it.high { format!("{:.0} – {:.0} B", it.low, it.high) } else { format!("{:.0} B", it.low) }
    })
}

/// A path configuration.
pub(crate) fn path_configuration(spec: &PathSpec, t: &Texts) -> String {
    let mtu = spec.mtu.map(|mtu| format!("MTU {}", mtu.0));
    joined([t.with("path-of", &[("ip", &spec.ip)])].into_iter().chain(mtu), t)
}

/// Streams of one configuration that its name tells of; what the others are stands in the table of streams.
const NAMED_STREAMS: usize = 4;

/// Kind of packet traffic, direction left out: `IPv4, 64 B frames, at 1 Mpps`.
pub(crate) fn packets_traffic(spec: &PacketsSpec, t: &Texts) -> String {
    let named = |stream: &Stream| format!("{}: {}", stream.name, stream_traffic(stream, t));
    let streams = match spec.streams.as_slice() {
        [stream] => stream_traffic(stream, t),
        streams => {
            let left_out = streams.len().saturating_sub(NAMED_STREAMS);
            let more = (left_out > 0).then(|| t.with("packets-more-streams", &[("count", &left_out)]));
            streams.iter().take(NAMED_STREAMS).map(named).chain(more).collect::<Vec<_>>().join(" + ")
        }
    };
    let engine = spec.engine.map(|engine| t.with("engine-is", &[("engine", &engine)]));
    let mtu = spec.mtu.map(|mtu| format!("MTU {}", mtu.0));
    joined([Some(streams), engine, mtu].into_iter().flatten(), t)
}

/// The same without the load: what a ladder of loads has in common.
pub(crate) fn packets_without_load(spec: &PacketsSpec, t: &Texts) -> String {
    let streams = spec.streams.iter().map(|stream| Stream { load: Load::default(), ..stream.clone() }).collect();
    packets_traffic(&PacketsSpec { streams, ..spec.clone() }, t)
}

fn stream_traffic(stream: &Stream, t: &Texts) -> String {
    if let Some(capture) = &stream.replay {
        return replay_traffic(capture, stream.load, t);
    }
    let protocol = (stream.protocol != Protocol::Udp).then(|| stream.protocol.name().to_owned());
    let frames = t.with("packets-of", &[("ip", &stream.ip), ("size", &stream.sizes.words())]);
    let load = (stream.load != Load::default()).then(|| t.with("at-rate", &[("rate", &stream.load)]));
    let flows = stream.flow_count().ok().filter(|flows| *flows > 1);
    let flows = flows.map(|flows| t.with("packet-flows", &[("flows", &grouped(flows.into()))]));
    joined([protocol, Some(frames), load, flows].into_iter().flatten(), t)
}

/// Its capture says what its frames are, and where nothing else is asked for, when they leave.
fn replay_traffic(capture: &str, load: Load, t: &Texts) -> String {
    let file = capture.rsplit('/').next().unwrap_or(capture);
    let load = match load.rate {
        Rate::Captured => Some(t.get("packets-as-captured")),
        _ => (load != Load::default()).then(|| t.with("at-rate", &[("rate", &load)])),
    };
    joined([t.with("packets-replay", &[("file", &file)])].into_iter().chain(load), t)
}

/// A packet configuration: its traffic and direction.
pub(crate) fn packets_configuration(spec: &PacketsSpec, t: &Texts) -> String {
    let direction = (spec.direction != Direction::Forward).then(|| direction(spec.direction, t));
    joined([packets_traffic(spec, t)].into_iter().chain(direction), t)
}

/// The share that was lost. No loss is no claim where the sender itself did the receiving.
pub(crate) fn stream_loss(run: &Run, group: &StreamGroup<'_>, t: &Texts) -> String {
    loss(group.loss(), group.is_lossless_loop(run), t)
}

/// The same of all that sent to one end.
pub(crate) fn together_loss(group: &TogetherGroup<'_>, t: &Texts) -> String {
    loss(group.loss(), group.is_lossless_loop(), t)
}

fn loss(share: Option<f64>, is_lossless_loop: bool, t: &Texts) -> String {
    let loss = or_none(share, super::percent);
    if is_lossless_loop { t.with("loss-synchronous", &[("loss", &loss)]) } else { loss }
}

/// A configuration in words.
pub(crate) fn configuration(spec: &ProbeSpec, t: &Texts) -> String {
    match spec {
        ProbeSpec::Latency(spec) => latency_configuration(spec, t),
        ProbeSpec::Goodput(spec) => goodput_configuration(spec, t),
        ProbeSpec::Path(spec) => path_configuration(spec, t),
        ProbeSpec::Packets(spec) => packets_configuration(spec, t),
    }
}

/// A configuration with how long or often it is measured, by which it may differ from one of the same name.
pub(crate) fn configuration_and_amount(spec: &ProbeSpec, t: &Texts) -> String {
    let amount = match spec {
        ProbeSpec::Latency(spec) => Some(amount(spec.amount, t)),
        ProbeSpec::Goodput(spec) => Some(amount(Amount::Duration(spec.duration), t)),
        ProbeSpec::Packets(spec) => Some(amount(Amount::Duration(spec.duration), t)),
        ProbeSpec::Path(_) => None,
    };
    joined([configuration(spec, t)].into_iter().chain(amount), t)
}

/// How many round trips count, or for how long.
pub(crate) fn amount(amount: Amount, t: &Texts) -> String {
    match amount {
        Amount::Count(count) => t.with("amount-count", &[("count", &grouped(count))]),
        Amount::Duration(duration) => t.with("amount-duration", &[("duration", &duration)]),
    }
}

/// A configuration and what is measured of it, for where nothing else says that.
pub(crate) fn measurement(spec: &ProbeSpec, t: &Texts) -> String {
    let name = configuration(spec, t);
    match spec {
        ProbeSpec::Latency(_) => t.with("measurement-latency", &[("name", &name)]),
        ProbeSpec::Goodput(_) => t.with("measurement-goodput", &[("name", &name)]),
        ProbeSpec::Packets(_) => t.with("measurement-packets", &[("name", &name)]),
        ProbeSpec::Path(_) => name,
    }
}

/// A configuration, and with data both ways one of them.
pub(crate) fn figure(spec: &ProbeSpec, way: Option<&Ends>, t: &Texts) -> String {
    match (spec, way) {
        (ProbeSpec::Goodput(spec), Some((from, to))) => flow(spec, Some((from, to)), t),
        (_, way) => with_way(configuration(spec, t), way.map(|(from, to)| (from.as_str(), to.as_str())), t),
    }
}

/// How datagrams are batched: who made the packets of a packet rate.
pub(crate) fn batch(batch: Batch, t: &Texts) -> String {
    match batch {
        Batch::Mmsg => t.get("batch-mmsg"),
        Batch::Gso => t.get("batch-gso"),
    }
}

/// A part of the round trip.
pub(crate) fn stage(stage: StageName, t: &Texts) -> String {
    match stage {
        StageName::NearSend => t.get("stage-near-send"),
        StageName::WireAndFar => t.get("stage-wire-and-far"),
        StageName::NearReceive => t.get("stage-near-receive"),
    }
}

/// A verdict.
pub(crate) fn verdict(verdict: Verdict, t: &Texts) -> String {
    match verdict {
        Verdict::Pass => t.get("verdict-pass"),
        Verdict::NotRun => t.get("verdict-not-run"),
        Verdict::Inconclusive => t.get("verdict-inconclusive"),
        Verdict::Fail => t.get("verdict-fail"),
    }
}

/// A metric.
pub(crate) fn metric(metric: Metric, t: &Texts) -> String {
    match metric {
        Metric::RttMin => t.get("metric-rtt-min"),
        Metric::RttMean => t.get("metric-rtt-mean"),
        Metric::RttP50 => t.get("metric-rtt-p50"),
        Metric::RttP90 => t.get("metric-rtt-p90"),
        Metric::RttP99 => t.get("metric-rtt-p99"),
        Metric::RttP999 => t.get("metric-rtt-p999"),
        Metric::RttMax => t.get("metric-rtt-max"),
        Metric::GoodputMean => t.get("metric-goodput-mean"),
        Metric::GoodputMin => t.get("metric-goodput-min"),
        Metric::GoodputMax => t.get("metric-goodput-max"),
        Metric::PathMtu => t.get("metric-path-mtu"),
        Metric::Loss => t.get("metric-loss"),
        Metric::ForwardingRate => t.get("metric-forwarding-rate"),
    }
}

/// The configuration that an outcome speaks of, or what its limit looked for and did not find.
pub(crate) fn outcome_name(run: &Run, outcome: &LimitOutcome, t: &Texts) -> String {
    let measured = run.trials.iter().map(|trial| trial.measured.spec());
    let (probe, from) = match outcome.probe.rsplit_once(verdict::FROM) {
        Some((probe, from)) if run.bed.end(from).is_some() => (probe, Some(from)),
        _ => (outcome.probe.as_str(), None),
    };
    let spec = run.plan.specs().into_iter().chain(measured).find(|spec| spec.to_string() == probe);
    let ends = from.zip(run.bed.receiver().map(|end| end.name.as_str()));
    spec.map_or_else(|| looked_for(&outcome.limit, t), |spec| with_way(configuration(&spec, t), ends, t))
}

fn looked_for(limit: &Limit, t: &Texts) -> String {
    let load = |loaded: bool| if loaded { t.get("selects-load") } else { t.get("selects-ping-pong") };
    let selectors = [
        limit.protocol.map(|protocol| protocol.name().to_owned()),
        limit.ip.map(|ip| ip.to_string()),
        limit.stack.map(|it| stack(it, t)),
        limit.mode.map(|it| mode(it, t)),
        limit.frame_size.map(|size| format!("{} B", size.0)),
        limit.under_load.map(load),
        limit.streams.map(|streams| t.count("streams", streams.into())),
        limit.direction.map(|it| direction(it, t)),
        limit.mtu.map(|mtu| format!("MTU {}", mtu.0)),
        limit.rate.map(|rate| t.with("at-rate", &[("rate", &rate)])),
    ];
    let selectors = joined(selectors.into_iter().flatten(), t);
    if selectors.is_empty() { super::NO_FIGURE.to_owned() } else { selectors }
}
