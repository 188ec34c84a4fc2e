//! Numbered packets at a rate, counted by number where they arrive.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Amount, Conditions, Direction, IpVersion, Probe, ProbeSpec, Profile, Protocol, Selectors};
use crate::{
    choice::choice,
    figure::Metric,
    frame_size::FrameSize,
    modifier::Modifier,
    stream::{BROADCASTS, Load, Mac, RAMP, Rate, Sizes, Stream, Values},
    units::{Mtu, Nanos, PacketRate},
};

choice!(
    /// Engine that generates and sends the packets.
    Engine, "an engine", {
        /// A BPF program writes frames that the kernel redirects to the interface (`BPF_PROG_RUN`, live frames).
        Live = "live",
        /// `AF_XDP`: a ring of frames that the driver, or the kernel for it, sends.
        Xsk = "xsk",
        /// `AF_PACKET`: frames handed to the kernel, past its queueing disciplines.
        AfPacket = "af_packet",
        /// UDP sockets: needs no privilege.
        Udp = "udp",
        /// The kernel's own generator, where it is there.
        Pktgen = "pktgen",
    }
);

/// Numbered packets one way or both, at one offered load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PacketsSpec {
    /// Streams that each sender sends at the same time. Never empty; all of one IP version.
    pub streams: Vec<Stream>,
    /// Direction.
    pub direction: Direction,
    /// Duration of sending. Nothing is left out of it.
    pub duration: Nanos,
    /// Sending engine; `None` is the one that fits best.
    pub engine: Option<Engine>,
    /// MTU that both ends are set to; `None` leaves the bed's own.
    pub mtu: Option<Mtu>,
    /// Condition of RFC 2544, section 11, under which they are sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modifier: Option<Modifier>,
}

impl PacketsSpec {
    /// IP version of its packets.
    pub fn ip(&self) -> IpVersion {
        let numbered = self.streams.iter().find(|stream| stream.replay.is_none());
        numbered.map_or(IpVersion::V4, |stream| stream.ip)
    }

    /// Whether packets go from the first end to the second.
    pub fn sends_forward(&self) -> bool {
        self.direction != Direction::Reverse
    }

    /// Whether packets go from the second end to the first.
    pub fn sends_back(&self) -> bool {
        self.direction != Direction::Forward
    }

    /// The stream beside which there is none but a ramp.
    fn only(&self) -> Option<&Stream> {
        let mut counted = self.streams.iter().filter(|stream| stream.name != RAMP);
        counted.next().filter(|_| counted.next().is_none())
    }

    /// Size of its frames, where all have one.
    pub fn frame_size(&self) -> Option<FrameSize> {
        match self.only()? {
            Stream { sizes: Sizes::List(sizes), replay: None, .. } if sizes.len() == 1 => sizes.first().copied(),
            _ => None,
        }
    }

    /// Packets a second that are asked for each way, where it is one stream that says so.
    pub fn rate(&self) -> Option<PacketRate> {
        match self.only()?.load.rate {
            Rate::Packets(rate) => Some(rate),
            _ => None,
        }
    }

    /// Time in which the load rises before its frames count.
    pub fn ramp(&self) -> Nanos {
        let ramp = self.streams.iter().find(|stream| stream.name == RAMP);
        ramp.and_then(|stream| stream.load.time).unwrap_or_default()
    }

    /// The same without a ramp.
    pub fn at_once(&self) -> Self {
        let counted = self.streams.iter().filter(|stream| stream.name != RAMP);
        let streams = counted.map(|stream| Stream { load: Load { after: None, ..stream.load }, ..stream.clone() });
        Self {
            streams: streams.collect(),
            duration: Nanos(self.duration.0.saturating_sub(self.ramp().0)),
            ..self.clone()
        }
    }

    /// Name of the stream with the highest code point, where it is one and others have lower ones.
    pub fn priority(&self) -> Option<&str> {
        let highest = self.streams.iter().max_by_key(|stream| stream.dscp)?;
        let is_alone = self.streams.iter().filter(|stream| stream.dscp == highest.dscp).count() == 1;
        (is_alone && self.streams.len() > 1).then_some(highest.name.as_str())
    }

    /// The same without its loads.
    pub fn at_any_load(&self) -> Self {
        let streams = self.streams.iter().map(|stream| Stream { load: Load::default(), ..stream.clone() });
        Self { streams: streams.collect(), ..self.clone() }
    }

    /// The streams that are really sent: broadcasts beside each one, where they are asked for.
    pub fn as_sent(&self) -> Self {
        let asked = self.streams.iter().filter(|_| self.modifier == Some(Modifier::Broadcast));
        let broadcasts = asked.filter_map(broadcasts_beside);
        Self { streams: self.streams.iter().cloned().chain(broadcasts).collect(), ..self.clone() }
    }

    /// Whether it differs from this one in the load alone: rungs of one ladder.
    pub fn is_rung_beside(&self, other: &Self) -> bool {
        self.at_any_load() == other.at_any_load()
    }
}

/// Test frames for each broadcast frame (RFC 2544, section 11.1).
const FOR_EACH_BROADCAST: u64 = 100;

/// Broadcast frames at a hundredth of a stream's load: like its frames, to the hardware broadcast address, in one flow. No router forwards
/// such a packet (RFC 1812, section 5.3.4). `None` for a stream whose load is no amount.
fn broadcasts_beside(stream: &Stream) -> Option<Stream> {
    let rate = stream.load.rate;
    let amount = (rate.amount()? as f64 / FOR_EACH_BROADCAST as f64).round().max(1.0) as u64;
    Some(Stream {
        name: format!("{BROADCASTS}{}", stream.name),
        destination_mac: Some(Values::One(Mac::BROADCAST)),
        load: Load { rate: rate.with_amount(amount), ..stream.load },
        networks: None,
        flows: None,
        source_port: None,
        destination_port: None,
        ..stream.clone()
    })
}

impl fmt::Display for PacketsSpec {
    /// Only what differs from the ordinary is named.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_only = self.only().is_some();
        for (index, stream) in self.streams.iter().filter(|stream| !is_only || stream.name != RAMP).enumerate() {
            if index > 0 {
                f.write_str(" + ")?;
            }
            if !is_only {
                write!(f, "{}: ", stream.name)?;
            }
            show_stream(stream, f)?;
        }
        if self.direction != Direction::Forward {
            write!(f, " {}", self.direction)?;
        }
        if let Some(engine) = self.engine {
            write!(f, " {engine}")?;
        }
        self.mtu.map_or(Ok(()), |mtu| write!(f, " MTU {}", mtu.0))?;
        self.modifier.map_or(Ok(()), |modifier| write!(f, " with {modifier}"))
    }
}

fn show_stream(stream: &Stream, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if let Some(capture) = stream.capture() {
        let at = if stream.load.rate == Rate::Captured { "" } else { "at " };
        return write!(f, "replay of {capture} {at}{}", stream.load);
    }
    if stream.protocol != Protocol::Udp {
        write!(f, "{} ", stream.protocol.name())?;
    }
    write!(f, "{} {}", stream.ip, stream.sizes.words())?;
    if stream.load != Load::default() {
        write!(f, " at {}", stream.load)?;
    }
    match stream.flow_count() {
        Ok(1) | Err(_) => Ok(()),
        Ok(flows) => write!(f, " {flows} flows"),
    }
}

/// Figures with a stream of a higher priority; without one, the first two.
const PRIORITISED: &[Metric] =
    &[Metric::ForwardingRate, Metric::Loss, Metric::PriorityLoss, Metric::PriorityLatencyP99, Metric::PriorityJitter];

/// Expected duration of getting ready and draining, in seconds.
const AROUND: f64 = 0.3;

impl Probe for PacketsSpec {
    fn name(&self) -> &'static str {
        "packets"
    }

    fn profile(&self) -> Profile {
        let ordinary = Profile::ordinary(self.ip(), self.duration.as_secs_f64() + AROUND);
        let filters = self.modifier.and_then(Modifier::filters);
        let route_updates = self.modifier == Some(Modifier::RouteUpdates);
        Profile { mtu: self.mtu, filters, route_updates, senders_share: true, ..ordinary }
    }

    fn metrics(&self) -> &'static [Metric] {
        let metrics = PRIORITISED;
        if self.priority().is_some() { metrics } else { &metrics[..2] }
    }

    fn compared(&self) -> &'static [Metric] {
        self.metrics()
    }

    fn selectors(&self) -> Selectors {
        Selectors {
            ip: Some(self.ip()),
            frame_size: self.frame_size(),
            direction: Some(self.direction),
            mtu: self.mtu,
            rate: self.rate(),
            ..Selectors::default()
        }
    }

    fn amount(&self) -> Option<Amount> {
        Some(Amount::Duration(self.duration))
    }

    fn warmup(&self) -> Option<Amount> {
        None
    }

    /// The load is in the unit that it has now (see [`Rate::amount`]). A ramp comes before the duration.
    fn with_load(&self, load: u64, duration: Nanos) -> Option<ProbeSpec> {
        let duration = Nanos(duration.0.saturating_add(self.ramp().0));
        let load = |stream: &Stream| Load { rate: stream.load.rate.with_amount(load), ..stream.load };
        let streams = self.streams.iter().map(|stream| Stream { load: load(stream), ..stream.clone() });
        Some(Self { streams: streams.collect(), duration, ..self.clone() }.into())
    }

    fn without_load(&self) -> Option<ProbeSpec> {
        Some(Self { duration: Nanos::default(), ..self.at_once().at_any_load() }.into())
    }

    fn conditions(&self) -> Conditions {
        Conditions {
            protocol: Some(Protocol::Udp),
            frame_size: self.frame_size(),
            rate: self.rate(),
            direction: Some(self.direction),
            duration: Some(self.duration),
            modifier: self.modifier,
            ..Conditions::default()
        }
    }
}

impl From<PacketsSpec> for ProbeSpec {
    fn from(spec: PacketsSpec) -> Self {
        Self::Packets(spec)
    }
}
