//! Names of latency configurations.

use model::LatencySpec;

use crate::{
    show::{direction, joined, mode, past_the_kernel, transport},
    texts::Texts,
};

/// Kind of latency traffic, frame size left out: `UDP IPv4, spin, at 10 kpps`.
pub(super) fn traffic(spec: &LatencySpec, t: &Texts) -> String {
    let rate = spec.rate.map(|rate| t.with("at-rate", &[("rate", &rate)]));
    let stamps = spec.stamps.then(|| t.get("stamped"));
    let load = spec.tcp_load.map(|it| t.with("beside-tcp", &[("direction", &direction(it, t))]));
    let first = [transport(spec.protocol, spec.ip), mode(spec.mode, t)];
    joined(first.into_iter().chain(past_the_kernel(spec.stack, t)).chain(rate).chain(stamps).chain(load), t)
}

/// A latency configuration: its traffic and the frame size asked for.
pub(super) fn configuration(spec: &LatencySpec, t: &Texts) -> String {
    joined([traffic(spec, t), format!("{} B", spec.frame_size.0)], t)
}
