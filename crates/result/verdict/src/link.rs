//! The link between the ends of a bed.

use model::{
    BitRate, Flow, GoodputSpec, LineRate, PayloadSize, Run,
    environment::InterfaceFacts,
    frame_size::{FrameSize, Headers},
};

/// Speed of the slower end's interface, where its driver knows one.
pub(crate) fn speed_mbps(run: &Run) -> Option<u32> {
    run.bed.endpoints.iter().filter_map(|end| speed_of(run, &end.name)).min()
}

/// Speed of the interface of one end, where its driver knows one.
pub(crate) fn speed_of(run: &Run, endpoint: &str) -> Option<u32> {
    interface(run, endpoint)?.speed_mbps.copied()
}

/// Interface of one end, as it was before the first trial.
pub(crate) fn interface<'a>(run: &'a Run, endpoint: &str) -> Option<&'a InterfaceFacts> {
    let end = run.bed.end(endpoint)?;
    let facts = run.before.endpoints.iter().find(|facts| facts.endpoint == end.name)?;
    facts.interfaces.iter().find(|interface| interface.name == end.interface)
}

/// The most packets of full size that the link carries for a flow.
pub(crate) fn line_rate_of_flow(run: &Run, spec: &GoodputSpec, flow: &Flow) -> Option<LineRate> {
    let (payload, frame) = packet(spec, flow)?;
    let packets_per_second = line_rate(run, frame)?;
    Some(LineRate { packets_per_second, goodput_bps: Some(packets_per_second * f64::from(payload.0) * 8.0) })
}

/// The most frames of this size that the link carries one way, per second; `None` where its rate is not known. A simulated bed has
/// none.
pub(crate) fn line_rate(run: &Run, size: FrameSize) -> Option<f64> {
    let link = (!run.bed.simulated).then(|| speed_mbps(run)).flatten()?;
    Some(size.most_per_second(BitRate(u64::from(link) * 1_000_000)))
}

/// Payload of each full packet and the frame that it makes, as the connection or the datagrams have it.
fn packet(spec: &GoodputSpec, flow: &Flow) -> Option<(PayloadSize, FrameSize)> {
    let headers = |tcp_timestamps| Headers { ip: spec.ip, protocol: spec.protocol, tcp_timestamps };
    let (payload, headers) = match (&flow.sent.datagrams, flow.sent.tcp.first()) {
        (Some(datagrams), _) => (datagrams.payload_size, headers(false)),
        (None, Some(connection)) => (PayloadSize(connection.mss), headers(connection.timestamps)),
        (None, None) => return None,
    };
    (payload.0 > 0).then(|| (payload, headers.frame_with(payload)))
}
