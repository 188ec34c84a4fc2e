//! Names of goodput configurations.

use model::{Batch, Direction, GoodputSpec, ReceiveMethod, SendMethod, probe::KERNELS_DEFAULT};

use crate::{
    show::{self, direction, joined, past_the_kernel, transport, way},
    texts::Texts,
};

/// Kind of goodput traffic, MTU and direction left out; only what differs from the ordinary is named.
pub(super) fn traffic(spec: &GoodputSpec, t: &Texts) -> String {
    let first = [transport(spec.protocol, spec.ip), t.count("streams", spec.streams.into())];
    let send = (spec.send != SendMethod::Write).then(|| t.of_value("send", &spec.send));
    let receive = (spec.receive == ReceiveMethod::Truncate).then(|| t.get("receive-truncate"));
    let batch = (spec.batch == Batch::Gso).then(|| "GSO".to_owned());
    let datagram = spec.datagram.map(|size| t.with("datagrams-of", &[("size", &size.0)]));
    let rate = spec.rate.map(|rate| t.with("at-rate", &[("rate", &rate)]));
    let window = spec.window.map(|window| t.with("window-of", &[("size", &window)]));
    let shared = t.names.amount(spec).map(|amount| show::short_amount(amount, t));
    let long = shared.or_else(|| spec.long().map(|seconds| format!("{seconds} s")));
    let warmup = t.names.warmup(spec).map(|warmup| show::short_warmup(warmup, t));
    let congestion = spec.congestion.as_ref().map(|name| match name.as_str() {
        KERNELS_DEFAULT => t.get("congestion-default"),
        name => name.to_owned(),
    });
    let choices =
        [past_the_kernel(spec.stack, t), send, receive, congestion, batch, datagram, rate, window, long, warmup];
    joined(first.into_iter().chain(choices.into_iter().flatten()), t)
}

/// A goodput configuration: its traffic, MTU and direction.
pub(super) fn configuration(spec: &GoodputSpec, t: &Texts) -> String {
    let direction = (spec.direction != Direction::Forward).then(|| direction(spec.direction, t));
    let mtu = spec.mtu.map(|mtu| format!("MTU {}", mtu.0));
    joined([traffic(spec, t)].into_iter().chain(mtu).chain(direction), t)
}

/// One direction of a goodput configuration, and whether the other one is measured at the same time; the ordinary one needs no naming.
pub(super) fn flow(spec: &GoodputSpec, ends: Option<(&str, &str)>, t: &Texts) -> String {
    let way = ends.map(|(from, to)| way(from, to));
    let mtu = spec.mtu.map(|mtu| format!("MTU {}", mtu.0));
    let both = (spec.direction == Direction::Both).then(|| direction(spec.direction, t));
    joined([traffic(spec, t)].into_iter().chain(mtu).chain(both).chain(way), t)
}
