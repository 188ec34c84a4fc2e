//! Numbered packets.

mod cross_check;

use model::{
    Direction, Doubt, Endpoint, Engine, Measured, Mtu, Nanos, PacketRate, PacketStream, PacketsReceived, PacketsResult,
    PacketsSent, PacketsSide, PacketsSpec, ProbeSpec, SideFigures, SoFar, Total,
    frame_size::{ETHERNET_HEADER, FCS, FrameSize, FrameSizeError},
    rfc2544::RESET,
    stream::{Load, Rate, Stream},
};

use self::cross_check::crossed;
use super::{Assembled, Ends, PairReports, Rules, Sides, doubts::too_slow};
use crate::{cross_check::packets_disagree, misfit::Misfit};

impl Rules for PacketsSpec {
    fn fit(&self, probe: String, mtu: Mtu) -> Result<(), Misfit> {
        let largest = FrameSize(mtu.0 + ETHERNET_HEADER + FCS);
        let too_large = |stream: &Stream| {
            // The MTU does not include a VLAN tag.
            let tags = 4 * stream.vlans.len() as u32;
            stream.sizes.cycle(largest).into_iter().find(|size| size.0 > largest.0 + tags)
        };
        match self.streams.iter().find_map(too_large) {
            Some(size) => {
                let error = FrameSizeError::TooLarge { frame: size.0, mtu: mtu.0, largest: largest.0 };
                Err(Misfit::FrameSize { probe, error })
            }
            None => Ok(()),
        }
    }

    fn assemble(&self, ends: &Ends<'_>, sides: Vec<Sides>) -> Option<Assembled> {
        let side = |figures| match figures {
            SideFigures::Packets(side) => Some(*side),
            _ => None,
        };
        let sides = sides.into_iter().map(|(near, far)| Some((side(near)?, side(far)?)));
        assembled(self, ends, streams(self, ends, sides.collect::<Option<_>>()?))
    }

    /// From the last messages of both sides. They are of different moments, so missing packets need not be lost.
    fn so_far(&self, ends: &Ends<'_>, reports: &[PairReports]) -> Option<Assembled> {
        let side = |so_far: &Option<SoFar>| match so_far {
            Some(SoFar::Packets(side)) => Some((**side).clone()),
            _ => None,
        };
        let sides = reports.iter().map(|PairReports { latest: [near, far], .. }| Some((side(near)?, side(far)?)));
        let mut streams = streams(self, ends, sides.collect::<Option<_>>()?);
        streams.iter_mut().for_each(|stream| stream.cut_off = true);
        assembled(self, ends, streams).filter(|assembled| assembled.seconds > 0.0)
    }
}

/// A few frames one way by this engine.
pub(crate) fn few_frames(engine: Engine, rate: PacketRate, duration: Nanos) -> ProbeSpec {
    let load = Load { rate: Rate::Packets(rate), ..Load::default() };
    let streams = vec![Stream { load, ..Stream::default() }];
    PacketsSpec { streams, direction: Direction::Forward, duration, engine: Some(engine), mtu: None }.into()
}

/// Frames that left the near side, and different ones that came to the far side; `None` for figures of another probe.
pub(crate) fn counted_frames(sides: Sides) -> Option<(u64, u64)> {
    let (SideFigures::Packets(near), SideFigures::Packets(far)) = sides else { return None };
    let sent = near.sent.iter().map(|stream| stream.frames).total();
    Some((sent, far.received.iter().map(|stream| stream.frames).total()))
}

/// Each stream of each sender and direction, the forward ones first, with the counts of sender and receiver.
fn streams(spec: &PacketsSpec, ends: &Ends<'_>, sides: Vec<(PacketsSide, PacketsSide)>) -> Vec<PacketStream> {
    let to = ends.receiver;
    let one_way = |from: &Endpoint, to: &Endpoint, sent: Vec<PacketsSent>, received: Vec<PacketsReceived>| {
        let (from, to) = (from.name.clone(), to.name.clone());
        let stream =
            move |(sent, received)| PacketStream { from: from.clone(), to: to.clone(), sent, received, cut_off: false };
        sent.into_iter().zip(received).map(stream).collect::<Vec<_>>()
    };
    let (mut forward, mut back) = (Vec::new(), Vec::new());
    for (from, (near, far)) in ends.senders.iter().zip(sides) {
        if spec.sends_forward() {
            forward.extend(one_way(from, to, near.sent, far.received));
        }
        if spec.sends_back() {
            back.extend(one_way(to, from, far.sent, near.received));
        }
    }
    [forward, back].concat()
}

/// `None` without a stream.
fn assembled(spec: &PacketsSpec, ends: &Ends<'_>, streams: Vec<PacketStream>) -> Option<Assembled> {
    let seconds = streams.iter().map(|stream| stream.sent.seconds).reduce(f64::max)?;
    let replays = spec.streams.iter().filter(|stream| stream.replay.is_some());
    let not_numbered = replays.map(|stream| Doubt::NotNumbered { stream: stream.name.clone() });
    let crossed = crossed(&streams, ends.counted()).into_iter().map(packets_disagree);
    let doubts = not_numbered.chain(streams.iter().flat_map(of_stream)).chain(crossed).collect();
    let result = PacketsResult { mtu: spec.mtu.or(ends.mtu())?, streams };
    Some(Assembled { measured: Measured::Packets { spec: spec.clone(), result }, seconds, doubts })
}

/// Seconds without a packet that make an outage, and such packets that would have come in that time at least.
const OUTAGE_S: f64 = 0.02;
const IN_OUTAGE: f64 = 20.0;

/// The longest time without a packet, where as many packets are missing as would have come then. A reset of the device is no doubt.
fn outage(stream: &PacketStream) -> Option<Doubt> {
    let longest = stream.received.inter_arrival_ns.as_ref()?.max? as f64 / 1e9;
    let expected = longest * stream.sent.intended_pps?;
    let is_outage = longest >= OUTAGE_S && expected >= IN_OUTAGE && stream.missing()? as f64 > expected / 2.0;
    let (from, to) = (stream.from.clone(), stream.to.clone());
    (is_outage && stream.sent.stream != RESET).then_some(Doubt::Outage { from, to, seconds: longest })
}

/// Packets that a sender did not send are never loss.
fn of_stream(stream: &PacketStream) -> Vec<Doubt> {
    let (sent, received) = (&stream.sent, &stream.received);
    let nothing = (sent.frames > 0 && received.frames + received.corrupt == 0).then(|| Doubt::NothingArrived {
        from: stream.from.clone(),
        to: stream.to.clone(),
        packets: sent.frames,
        engine: sent.engine,
    });
    let slow = sent.intended_pps.and_then(|intended| too_slow(intended, stream.offered_pps()));
    nothing.into_iter().chain(slow).chain(outage(stream)).collect()
}

#[cfg(test)]
mod tests {
    use model::{TimeSummary, fixture, trial::Numbers};

    use super::*;

    /// A second at 10 kpps of which so many did not come, with this longest time between two.
    fn stream(missing: u64, longest_ms: u64) -> PacketStream {
        let mut stream = fixture::packet_stream(10_000, 10_000 - missing);
        stream.sent.intended_pps = Some(10_000.0);
        stream.received.numbers = Some(Numbers { next: 10_000, after_gap: 0 });
        let longest = Some(longest_ms * 1_000_000);
        stream.received.inter_arrival_ns = Some(TimeSummary { max: longest, ..TimeSummary::default() });
        stream
    }

    #[test]
    fn an_outage_is_told_from_a_pause_and_from_loss_all_the_time() {
        let is_outage = |stream: PacketStream| of_stream(&stream).iter().any(|it| matches!(it, Doubt::Outage { .. }));
        assert!(is_outage(stream(3_000, 300)));
        assert!(!is_outage(stream(0, 300)), "nothing is missing: the sender or the machine paused");
        assert!(!is_outage(stream(3_000, 3)), "every third frame");
        let mut reset = stream(3_000, 300);
        reset.sent.stream = RESET.to_owned();
        assert!(!is_outage(reset));
    }
}
