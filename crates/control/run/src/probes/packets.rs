//! Numbered packets.

mod cross_check;

use model::{
    Bed, Direction, Doubt, Endpoint, Engine, Measured, Mtu, Nanos, PacketRate, PacketStream, PacketsReceived,
    PacketsResult, PacketsSent, PacketsSide, PacketsSpec, ProbeSpec, SideFigures, SoFar, Source, Total, Trial,
    alike::distinct,
    frame_size::{ETHERNET_HEADER, FCS, FrameSize, FrameSizeError},
    rfc2544::RESET,
    stream::{BROADCASTS, Load, Rate, Stream, is_counted},
};

use self::cross_check::crossed;
use super::{Assembled, Ends, PairReports, Rules, Sides, doubts::too_slow};
use crate::{
    cross_check::{STRAY_PACKETS, packets_disagree},
    misfit::Misfit,
};

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

    /// Faults of the device under test that the counts of both ends and its own counters show.
    fn doubts_in_run(&self, trial: &Trial, bed: &Bed, before: &[Trial]) -> Vec<Doubt> {
        if bed.dut.is_none() {
            return Vec::new();
        }
        let streams = trial.packet_streams();
        // Flows may overtake each other.
        let is_one_flow = self.streams.iter().all(|stream| stream.flow_count().is_ok_and(|flows| flows == 1));
        let changed = streams.iter().flat_map(|stream| changed(stream, is_one_flow));
        let at_any_load = |trial: &Trial| trial.measured.probe().without_load();
        let alike = before.iter().filter(|other| at_any_load(other) == at_any_load(trial));
        let alike: Vec<&PacketStream> = alike.flat_map(Trial::packet_streams).collect();
        let gone = streams.iter().filter_map(|stream| gone(stream, &alike));
        let every = match &trial.measured {
            Measured::Packets { result, .. } => result.streams.as_slice(),
            _ => &[],
        };
        changed.chain(gone).chain(wrong_ports(trial, &streams, every, bed)).collect()
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
    PacketsSpec { streams, direction: Direction::Forward, duration, engine: Some(engine), mtu: None, modifier: None }
        .into()
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
    let counted = streams.iter().filter(|stream| is_counted(&stream.sent.stream));
    let doubts = not_numbered.chain(counted.flat_map(of_stream)).chain(off_share(&streams)).chain(crossed).collect();
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

/// A trial of which nothing arrived, where packets of the same way did in earlier trials that differ in their load at the most.
fn gone(stream: &PacketStream, earlier: &[&PacketStream]) -> Option<Doubt> {
    let sent = &stream.sent;
    let is_way = |other: &&&PacketStream| (&other.from, &other.to) == (&stream.from, &stream.to);
    let has_come = earlier.iter().filter(is_way).any(|other| other.received.frames > 0);
    let is_long = sent.seconds >= OUTAGE_S && sent.frames as f64 >= IN_OUTAGE && sent.stream != RESET;
    let is_gone = has_come && is_long && stream.received.frames + stream.received.corrupt == 0;
    let (from, to) = (stream.from.clone(), stream.to.clone());
    is_gone.then_some(Doubt::Outage { from, to, seconds: sent.seconds })
}

/// Difference of the number of broadcasts from their share, in broadcasts and as a part of them, that a schedule explains.
const FEW_BROADCASTS: f64 = 2.0;
const OFF_SHARE: f64 = 0.05;

/// Broadcasts that were not sent at their share of the frames beside them. Whether they arrived is no question: routers drop them.
fn off_share(streams: &[PacketStream]) -> Vec<Doubt> {
    let doubt = |broadcasts: &PacketStream| {
        let (name, from) = (broadcasts.sent.stream.strip_prefix(BROADCASTS)?, &broadcasts.from);
        let beside = streams.iter().find(|stream| stream.sent.stream == name && stream.from == *from)?;
        let intended = broadcasts.sent.intended_pps? / beside.sent.intended_pps?;
        let (sent, frames) = (broadcasts.sent.frames as f64, beside.sent.frames as f64);
        let is_off = (sent - frames * intended).abs() > (frames * intended * OFF_SHARE).max(FEW_BROADCASTS);
        is_off.then(|| Doubt::BroadcastShare { from: from.clone(), percent: 100.0 * sent / frames.max(1.0) })
    };
    streams.iter().filter_map(doubt).collect()
}

/// Copies, changed frames and, of one flow, overtaken frames of a stream.
fn changed(stream: &PacketStream, is_one_flow: bool) -> Vec<Doubt> {
    let (ends, received) = (|| (stream.from.clone(), stream.to.clone()), &stream.received);
    let (from, to) = ends();
    let copies = (received.duplicated > 0).then_some(Doubt::Duplicated { from, to, packets: received.duplicated });
    let (from, to) = ends();
    let corrupt = (received.corrupt > 0).then_some(Doubt::Corrupted { from, to, packets: received.corrupt });
    let (from, to) = ends();
    let is_reordered = is_one_flow && received.reordered > 0;
    let reordered = is_reordered.then_some(Doubt::Reordered { from, to, packets: received.reordered });
    copies.into_iter().chain(corrupt).chain(reordered).collect()
}

/// Share of the frames of a way that are missing where a port is looked for, and share of those that it has.
const MISSING: f64 = 0.01;
const AT_PORT: f64 = 0.5;

/// A port for each way, other than the receiver's, that has most of the frames which are missing there. What was sent to the near end by
/// `every` stream, counted or not, is expected at its port.
fn wrong_ports(trial: &Trial, streams: &[&PacketStream], every: &[PacketStream], bed: &Bed) -> Vec<Doubt> {
    let sum = |is_meant: &dyn Fn(&PacketStream) -> bool, count: fn(&PacketStream) -> u64| {
        streams.iter().filter(|stream| is_meant(stream)).map(|stream| count(stream)).total()
    };
    let arrived = |stream: &PacketStream| stream.received.frames + stream.received.corrupt;
    let of_way = |way: &&PacketStream| {
        let is_way = |stream: &PacketStream| (&stream.from, &stream.to) == (&way.from, &way.to);
        let sent = sum(&is_way, |stream| stream.sent.frames);
        let missing = sent.saturating_sub(sum(&is_way, arrived));
        if (missing as f64) < (sent as f64 * MISSING).max(STRAY_PACKETS) {
            return None;
        }
        let own = every.iter().filter(|stream| stream.to == way.from).map(|stream| stream.sent.frames).total();
        let ends = [&trial.endpoint_from, &trial.endpoint_to].into_iter().zip(&trial.counters);
        let near =
            ends.filter(|(end, _)| **end == way.from).map(|(_, counters)| counters.sum(Source::Link, "rx_packets"));
        let back = near.map(|received| (way.from.clone(), received.saturating_sub(own)));
        let is_facing = |interface: &str| bed.endpoints.iter().any(|end| bed::facing(&end.name) == interface);
        let of_device = trial.dut.iter().flat_map(|counters| counters.named(Source::Link, "tx_packets"));
        let of_device = of_device.filter(|sent| bed.makes_its_links() && !is_facing(&sent.of));
        let ports = of_device.map(|sent| (sent.of.clone(), sent.delta)).chain(back);
        let (port, packets) = ports.max_by_key(|(_, packets)| *packets)?;
        let is_there = packets as f64 >= missing as f64 * AT_PORT;
        is_there.then(|| Doubt::WrongPort { from: way.from.clone(), to: way.to.clone(), port, packets })
    };
    distinct(streams.iter().filter_map(of_way))
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
    use model::{Delta, EndCounters, TimeSummary, fixture, trial::Numbers};

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
    fn a_wrong_port_is_the_one_that_has_the_missing_frames() {
        let counters = |of: &str, name: &str, delta: u64| EndCounters {
            deltas: vec![Delta { source: Source::Link, of: of.into(), name: name.into(), delta }],
            ..EndCounters::default()
        };
        let of_ways = |missing: u64, ways: usize, back: u64, elsewhere: u64| {
            let stream = stream(missing, 1);
            let ProbeSpec::Packets(spec) = few_frames(Engine::Live, PacketRate(1), Nanos(1)) else { panic!("packets") };
            let reverse = PacketStream { from: stream.to.clone(), to: stream.from.clone(), ..stream.clone() };
            let (from, streams) = (stream.from.clone(), [stream, reverse].into_iter().take(ways).collect());
            let result = PacketsResult { mtu: Mtu(1500), streams };
            let mut trial = fixture::trial(Measured::Packets { spec: spec.clone(), result });
            trial.endpoint_from = from;
            trial.counters[0] = counters("lab-a", "rx_packets", back);
            trial.dut = Some(counters("to-c", "tx_packets", elsewhere));
            let bed = Bed { dut: Some(model::Dut::default()), ..fixture::lab() };
            spec.doubts_in_run(&trial, &bed, &[])
                .into_iter()
                .map(|doubt| match doubt {
                    Doubt::WrongPort { port, packets, .. } => (port, packets),
                    other => panic!("{other:?}"),
                })
                .collect::<Vec<_>>()
        };
        let found = |missing, back, elsewhere| of_ways(missing, 1, back, elsewhere);
        assert_eq!(found(10_000, 7, 10_003), [("to-c".to_owned(), 10_003)]);
        assert_eq!(found(10_000, 9_990, 0), [("a".to_owned(), 9_990)]);
        assert_eq!(found(10_000, 7, 40), [], "they came out nowhere");
        assert_eq!(found(50, 40, 40), [], "a few of them");
        let sent = stream(10_000, 1).sent.frames;
        assert_eq!(of_ways(10_000, 2, sent, 0), [], "the receiver at that end dropped what it is missing");
    }

    #[test]
    fn a_device_that_copies_or_changes_frames_is_named() {
        let mut stream = stream(10, 1);
        assert_eq!(changed(&stream, true), []);
        (stream.received.duplicated, stream.received.corrupt, stream.received.reordered) = (3, 10, 5);
        assert_eq!(changed(&stream, false).len(), 2, "flows overtake each other");
        let kinds = changed(&stream, true);
        let (from, to) = (stream.from.clone(), stream.to.clone());
        let expected = [
            Doubt::Duplicated { from: from.clone(), to: to.clone(), packets: 3 },
            Doubt::Corrupted { from: from.clone(), to: to.clone(), packets: 10 },
            Doubt::Reordered { from, to, packets: 5 },
        ];
        assert_eq!(kinds, expected);
    }

    #[test]
    fn a_device_that_goes_away_after_trials_in_which_it_forwarded_is_named() {
        let (lost, good) = (stream(10_000, 1), stream(0, 1));
        let seconds = lost.sent.seconds;
        let expected = Doubt::Outage { from: lost.from.clone(), to: lost.to.clone(), seconds };
        assert_eq!(gone(&lost, &[&good]), Some(expected));
        assert_eq!(gone(&lost, &[&lost]), None, "it never forwarded");
        assert_eq!(gone(&good, &[&good]), None);
        let back = PacketStream { from: good.to.clone(), to: good.from.clone(), ..good };
        assert_eq!(gone(&lost, &[&back]), None, "another way");
    }

    #[test]
    fn broadcasts_have_a_share_and_no_loss() {
        let mut beside = stream(0, 1);
        beside.sent.stream = "stream".to_owned();
        let mut broadcasts = fixture::packet_stream(100, 0);
        (broadcasts.sent.stream, broadcasts.sent.intended_pps) = (format!("{BROADCASTS}stream"), Some(100.0));
        assert_eq!(off_share(&[beside.clone(), broadcasts.clone()]), []);
        broadcasts.sent.frames = 90;
        let doubt = Doubt::BroadcastShare { from: beside.from.clone(), percent: 0.9 };
        assert_eq!(off_share(&[beside.clone(), broadcasts.clone()]), [doubt]);
        (beside.sent.frames, broadcasts.sent.frames) = (50, 2);
        assert_eq!(off_share(&[beside.clone(), broadcasts.clone()]), [], "a short burst");
        assert_eq!(PacketsResult { mtu: Mtu(1500), streams: vec![beside, broadcasts] }.counted().count(), 1);
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
