//! Names of packet configurations.

use model::{
    Direction, PacketsSpec, Protocol,
    stream::{Load, Rate, Stream},
};

use crate::{
    show::{direction, grouped, joined},
    texts::Texts,
};

/// Streams that the configuration's name describes; the others stand in the table of streams.
const NAMED_STREAMS: usize = 4;

/// Kind of packet traffic, direction left out: `IPv4, 64 B frames, at 1 Mpps`.
pub(super) fn traffic(spec: &PacketsSpec, t: &Texts) -> String {
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
    let modifier = spec.modifier.map(|modifier| t.of_value("modifier", &modifier));
    joined([Some(streams), engine, mtu, modifier].into_iter().flatten(), t)
}

/// The same without the load: the part that a ladder of loads shares.
pub(super) fn without_load(spec: &PacketsSpec, t: &Texts) -> String {
    traffic(&spec.at_any_load(), t)
}

fn stream_traffic(stream: &Stream, t: &Texts) -> String {
    if let Some(capture) = stream.capture() {
        return replay_traffic(capture, stream.load, t);
    }
    let protocol = (stream.protocol != Protocol::Udp).then(|| stream.protocol.name().to_owned());
    let frames = t.with("packets-of", &[("ip", &stream.ip), ("size", &stream.sizes.words())]);
    let load = (stream.load != Load::default()).then(|| t.with("at-rate", &[("rate", &stream.load)]));
    let flows = stream.flow_count().ok().filter(|flows| *flows > 1);
    let flows = flows.map(|flows| t.with("packet-flows", &[("flows", &grouped(flows.into()))]));
    joined([protocol, Some(frames), load, flows].into_iter().flatten(), t)
}

/// A capture gives its frames and, unless a rate is set, their times.
fn replay_traffic(capture: &str, load: Load, t: &Texts) -> String {
    let load = match load.rate {
        Rate::Captured => Some(t.get("packets-as-captured")),
        _ => (load != Load::default()).then(|| t.with("at-rate", &[("rate", &load)])),
    };
    joined([t.with("packets-replay", &[("file", &capture)])].into_iter().chain(load), t)
}

/// A packet configuration: its traffic and direction.
pub(super) fn configuration(spec: &PacketsSpec, t: &Texts) -> String {
    let direction = (spec.direction != Direction::Forward).then(|| direction(spec.direction, t));
    joined([traffic(spec, t)].into_iter().chain(direction), t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replay_is_named_by_its_capture() {
        let named = |load: &str, lang| {
            let stream = format!("[[packets.stream]]\nreplay = \"/captures/voice.pcapng\"\nload = \"{load}\"");
            let plan =
                model::Plan::parse(&format!("name = \"t\"\n[[packets]]\nduration = \"1 s\"\n{stream}"), &[]).unwrap();
            traffic(plan.specs()[0].of().unwrap(), crate::texts::Texts::of(lang))
        };
        assert_eq!(named("as captured", crate::Lang::En), "replay of voice.pcapng, as captured");
        assert_eq!(named("1 kpps", crate::Lang::En), "replay of voice.pcapng, at 1 kpps");
        assert_eq!(named("flat out", crate::Lang::En), "replay of voice.pcapng");
        assert!(named("as captured", crate::Lang::Ja).starts_with("キャプチャー voice.pcapng の再生"));
    }
}
