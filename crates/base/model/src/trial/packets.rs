//! Figures of numbered packets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Measured, Measures, Pacing, TimeSummary, Trial,
    times::{fit, pacing, pacing_fits, times},
};
use crate::{
    Total,
    figure::{Figure, Metric},
    frame_size::{AROUND_FRAME, FrameSize},
    plausible::{
        Checked, ENTRIES, STREAMS, Within, arrived, count, counts, each, entries, no_more_bytes, optional_packet,
        packet, rate, seconds, text, within_trial,
    },
    probe::{Engine, PacketsSpec, Probe},
    search::{LoadedTrial, TrialResult},
    stream::{Stream, is_counted},
    units::{Mtu, Nanos},
};

/// Figures of numbered packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PacketsResult {
    /// MTU of the near interface.
    pub mtu: Mtu,
    /// Each stream of each direction, the forward ones first. Never empty.
    pub streams: Vec<PacketStream>,
}

impl Trial {
    /// Streams of numbered packets whose frames count; none for any other probe.
    pub fn packet_streams(&self) -> Vec<&PacketStream> {
        match &self.measured {
            Measured::Packets { result, .. } => result.counted().collect(),
            _ => Vec::new(),
        }
    }

    /// Names its captures without folders.
    pub(crate) fn leave_folders(&mut self) {
        if let Measured::Packets { spec, .. } = &mut self.measured {
            spec.streams.iter_mut().for_each(Stream::leave_folder);
        }
    }
}

/// One stream of packets one way, counted where it left and where it arrived.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PacketStream {
    /// The endpoint that sent.
    pub from: String,
    /// The endpoint that received.
    pub to: String,
    /// Counts of the sender.
    pub sent: PacketsSent,
    /// Counts of the receiver.
    pub received: PacketsReceived,
    /// Whether the trial was cut off: the two sides reported last at different moments, and what is missing is not known to be lost.
    #[serde(default)]
    pub cut_off: bool,
}

/// Counts of one side of a packet probe, an entry for each stream; one of the two is empty with packets one way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PacketsSide {
    /// Counts as a sender.
    pub sent: Vec<PacketsSent>,
    /// Counts as a receiver.
    pub received: Vec<PacketsReceived>,
}

/// Sender's counts of one stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PacketsSent {
    /// Name of the stream.
    pub stream: String,
    /// Sending engine.
    pub engine: Engine,
    /// Why this engine, in English.
    pub engine_why: String,
    /// Size of the frames with FCS as they were sent: the one asked for, or the smallest that carries the number. Of a mix the
    /// mean, rounded.
    pub frame_size: FrameSize,
    /// Flows that they took turns in.
    pub flows: u32,
    /// Frames that the kernel took.
    pub frames: u64,
    /// Their bytes with FCS.
    pub bytes: u64,
    /// From the first frame to the last, in seconds.
    pub seconds: f64,
    /// Frames a second that were asked for; null is flat out.
    pub intended_pps: Option<f64>,
    /// Frames that found the ring full and were not sent.
    pub refused: u64,
    /// Adherence to the schedule; null where it was not measured.
    pub pacing: Option<Pacing>,
    /// Cores that sent.
    pub cpus: Vec<usize>,
}

/// Receiver's counts of one stream, by packet numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PacketsReceived {
    /// Different frames.
    pub frames: u64,
    /// Their bytes with FCS.
    pub bytes: u64,
    /// From the first frame to the last, in seconds; `None` where the receiver does not know.
    #[serde(default, deserialize_with = "super::known_seconds")]
    pub seconds: Option<f64>,
    /// Copies of frames that had come before (RFC 5560).
    pub duplicated: u64,
    /// Frames with a smaller number than one that came before (RFC 4737).
    pub reordered: u64,
    /// Distance back of a number that can still be distinguished from a copy.
    pub window: u64,
    /// Frames that carried something else than was sent.
    pub corrupt: u64,
    /// Frames whose whole payload was compared with what was sent: by a socket all, in a driver one in 64; `None` in runs of before it
    /// was counted.
    #[serde(default)]
    pub compared: Option<u64>,
    /// Frames that came after their time.
    pub late: u64,
    /// Numbers that came; `None` where several cores received a sequence, or in runs of before they were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numbers: Option<Numbers>,
    /// Time from leaving to arriving, in nanoseconds; `None` unless both sides' stamps come from one clock.
    pub latency_ns: Option<TimeSummary>,
    /// Time between two frames as they arrived, in nanoseconds; `None` where it was not measured.
    pub inter_arrival_ns: Option<TimeSummary>,
    /// Frames that each core received.
    pub cpus: Vec<ReceivedOn>,
}

/// Numbers that came of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Numbers {
    /// One more than the highest.
    pub next: u64,
    /// The first one behind the last gap; 0 without a gap.
    pub after_gap: u64,
}

/// Frames that one core received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReceivedOn {
    /// The core.
    pub cpu: usize,
    /// Number of them.
    pub frames: u64,
}

/// Packets of several senders to one end together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AllSenders {
    /// The endpoints that sent.
    pub from: Vec<String>,
    /// The endpoint that received.
    pub to: String,
    /// Frames a second that were sent (offered load).
    pub offered_pps: f64,
    /// Frames a second that arrived (forwarding rate).
    pub forwarding_pps: f64,
    /// Frames sent.
    pub sent: u64,
    /// Different frames that arrived.
    pub received: u64,
    /// Frames sent that never arrived.
    pub lost: u64,
}

impl Measures for PacketsSpec {
    type Result = PacketsResult;

    fn figures(&self, result: &PacketsResult, _far: &str) -> Vec<Figure> {
        let figures =
            [Figure::known(Metric::ForwardingRate, result.slowest_pps()), Figure::known(Metric::Loss, result.loss())];
        let priority = self.priority().map(|name| result.of_priority(name)).unwrap_or_default();
        figures.into_iter().chain(priority).flatten().collect()
    }

    fn check(&self, result: &PacketsResult, seconds: f64) -> Checked {
        optional_packet("spec.mtu", self.mtu.map(|mtu| mtu.0))?;
        optional_packet("spec.frame_size", self.frame_size().map(|size| size.0))?;
        packet("mtu", result.mtu.0)?;
        entries("streams", result.streams.len(), STREAMS)?;
        each("streams", &result.streams, check_stream)?;
        each("streams", &result.streams, |stream| fits(stream, seconds))
    }

    /// The load counts one way.
    fn at_load(&self, result: &PacketsResult) -> Option<LoadedTrial> {
        let from = &result.streams.first()?.from;
        let one_way = result.counted().filter(|stream| stream.from == *from);
        let load = one_way.map(|stream| stream.sent.intended_pps).sum::<Option<f64>>()?;
        let duration_s = Nanos(self.duration.0.saturating_sub(self.ramp().0)).as_secs_f64();
        let trial = TrialResult { load, duration_s, effective_s: duration_s, loss_ratio: result.loss()? };
        Some(LoadedTrial { configuration: self.without_load()?.to_string(), trial })
    }
}

impl PacketsResult {
    /// Streams whose frames count: all but a ramp and broadcasts.
    pub fn counted(&self) -> impl Iterator<Item = &PacketStream> {
        self.streams.iter().filter(|stream| is_counted(&stream.sent.stream))
    }

    /// The forwarding rate of the sender whose streams together have the lowest one.
    fn slowest_pps(&self) -> Option<f64> {
        let mut senders: Vec<&str> = self.streams.iter().map(|stream| stream.from.as_str()).collect();
        senders.dedup();
        let of = |from: &str| {
            self.counted().filter(|stream| stream.from == from).map(PacketStream::forwarding_pps).sum::<f64>()
        };
        senders.into_iter().map(of).reduce(f64::min)
    }

    /// Loss, latency and jitter of the stream of this name; of both directions the worse.
    fn of_priority(&self, name: &str) -> [Option<Figure>; 3] {
        let streams = || self.streams.iter().filter(|stream| stream.sent.stream == name && stream.sent.frames > 0);
        let loss = streams().map(|stream| stream.lost() as f64 / stream.sent.frames as f64).reduce(f64::max);
        let times = || streams().filter_map(|stream| stream.received.latency_ns.as_ref());
        let latency = times().filter_map(|times| times.p99).max().map(|ns| ns as f64);
        let jitter = times().filter_map(|times| Some(times.p99?.saturating_sub(times.min?))).max().map(|ns| ns as f64);
        [
            Figure::known(Metric::PriorityLoss, loss),
            Figure::known(Metric::PriorityLatencyP99, latency),
            Figure::known(Metric::PriorityJitter, jitter),
        ]
    }

    /// Share of all frames that did not come.
    fn loss(&self) -> Option<f64> {
        let sum = |count: fn(&PacketStream) -> u64| self.counted().map(count).total();
        let (lost, sent) = (sum(PacketStream::lost), sum(|stream| stream.sent.frames));
        (sent > 0).then(|| lost as f64 / sent as f64)
    }

    /// Each end with several senders, and their sum; empty with one sender.
    pub fn together(&self) -> Vec<AllSenders> {
        let mut all: Vec<AllSenders> = Vec::new();
        for stream in &self.streams {
            let place = all.iter().position(|together| together.to == stream.to).unwrap_or(all.len());
            if place == all.len() {
                all.push(AllSenders { to: stream.to.clone(), ..AllSenders::default() });
            }
            all[place].add(stream);
        }
        all.retain(|together| together.from.len() > 1);
        all
    }
}

impl AllSenders {
    fn add(&mut self, stream: &PacketStream) {
        if !self.from.contains(&stream.from) {
            self.from.push(stream.from.clone());
        }
        self.offered_pps += stream.offered_pps();
        self.forwarding_pps += stream.forwarding_pps();
        self.sent += stream.sent.frames;
        self.received += stream.received.frames;
        self.lost += stream.lost();
    }
}

impl PacketStream {
    /// Frames that were sent and are known never to have come.
    pub fn lost(&self) -> u64 {
        if self.cut_off { 0 } else { self.sent.frames.saturating_sub(self.received.frames) }
    }

    /// The number behind the last lost one, 0 where none is missing; `None` where the receiver does not know. A frame that others
    /// overtook counts as lost.
    pub fn after_last_lost(&self) -> Option<u64> {
        let (numbers, used) = (self.received.numbers?, self.sent.frames + self.sent.refused);
        Some(if numbers.next < used { used } else { numbers.after_gap })
    }

    /// Numbers that did not come up to the highest one that did; `None` where the receiver does not know.
    pub fn missing(&self) -> Option<u64> {
        Some(self.received.numbers?.next.saturating_sub(self.received.frames))
    }

    /// Frames a second that were really offered (RFC 2285, offered load).
    pub fn offered_pps(&self) -> f64 {
        per_second(self.sent.frames, self.sent.seconds)
    }

    /// Frames a second that arrived while they were offered (RFC 2285, forwarding rate). What is still on the way when the last
    /// frame has left takes its time too.
    pub fn forwarding_pps(&self) -> f64 {
        per_second(self.received.frames, self.seconds())
    }

    /// Load on the wire from the sender, in bit/s.
    pub fn tx(&self) -> BitRates {
        BitRates::of(self.sent.frames, self.sent.bytes, self.sent.seconds)
    }

    /// Rate that arrived, in bit/s.
    pub fn rx(&self) -> BitRates {
        BitRates::of(self.received.frames, self.received.bytes, self.seconds())
    }

    /// The longer of the times in which frames left and arrived: frames that came in a short while at the end, or at the
    /// beginning alone, make no higher rate.
    fn seconds(&self) -> f64 {
        self.received.seconds.map_or(self.sent.seconds, |received| received.max(self.sent.seconds))
    }
}

/// A rate of frames in bit/s, by the counted layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BitRates {
    /// Frame, preamble, start delimiter and gap: load on the line.
    pub l1_bps: f64,
    /// The frame with FCS.
    pub l2_bps: f64,
}

impl BitRates {
    fn of(frames: u64, bytes: u64, seconds: f64) -> Self {
        let bits = |bytes: u64| per_second(bytes, seconds) * 8.0;
        Self { l1_bps: bits(bytes + frames * u64::from(AROUND_FRAME)), l2_bps: bits(bytes) }
    }
}

fn per_second(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}

/// Seconds that packets are waited for which are still on their way.
const DRAIN: f64 = 75.0;

/// Whether the times of a stream fit into a trial of so many seconds.
fn fits(stream: &PacketStream, seconds: f64) -> Checked {
    let (sent, received, lasted) = (&stream.sent, &stream.received, seconds + DRAIN);
    within_trial("sent.seconds", sent.seconds, seconds)?;
    sent.pacing.as_ref().map_or(Ok(()), |pacing| pacing_fits(pacing, seconds)).within("sent.pacing")?;
    within_trial("received.seconds", received.seconds.unwrap_or_default(), lasted)?;
    let gaps = received.inter_arrival_ns.as_ref();
    gaps.map_or(Ok(()), |gaps| fit("received.inter_arrival_ns", gaps, lasted))?;
    rate("offered_pps", stream.offered_pps())?;
    rate("forwarding_pps", stream.forwarding_pps())
}

/// Whether the counts of one side are possible.
pub(super) fn check(side: &PacketsSide) -> Checked {
    each("sent", &side.sent, check_sent)?;
    each("received", &side.received, check_received)
}

fn check_sent(sent: &PacketsSent) -> Checked {
    text("stream", &sent.stream)?;
    text("engine_why", &sent.engine_why)?;
    packet("frame_size", sent.frame_size.0)?;
    count("frames", sent.frames)?;
    count("refused", sent.refused)?;
    no_more_bytes(sent.bytes, sent.frames)?;
    seconds("seconds", sent.seconds)?;
    sent.intended_pps.map_or(Ok(()), |intended| rate("intended_pps", intended))?;
    sent.pacing.as_ref().map_or(Ok(()), pacing).within("pacing")?;
    entries("cpus", sent.cpus.len(), ENTRIES)
}

fn check_received(received: &PacketsReceived) -> Checked {
    counts(&[
        ("frames", received.frames),
        ("duplicated", received.duplicated),
        ("reordered", received.reordered),
        ("window", received.window),
        ("corrupt", received.corrupt),
        ("compared", received.compared.unwrap_or_default()),
        ("late", received.late),
        ("numbers.next", received.numbers.map_or(0, |numbers| numbers.next)),
        ("numbers.after_gap", received.numbers.map_or(0, |numbers| numbers.after_gap)),
    ])?;
    no_more_bytes(received.bytes, received.frames + received.duplicated + received.corrupt + received.late)?;
    received.seconds.map_or(Ok(()), |lasted| seconds("seconds", lasted))?;
    received.latency_ns.as_ref().map_or(Ok(()), |latency| times("latency_ns", latency))?;
    received.inter_arrival_ns.as_ref().map_or(Ok(()), |gaps| times("inter_arrival_ns", gaps))?;
    each("cpus", &received.cpus, |core| count("frames", core.frames))
}

fn check_stream(stream: &PacketStream) -> Checked {
    let way = || format!("{} → {}", stream.from, stream.to);
    let (sent, received) = (&stream.sent, &stream.received);
    check_sent(sent).within("sent").within(way())?;
    check_received(received).within("received").within(way())?;
    // The two sides of a trial that was cut off reported at different moments.
    if stream.cut_off || sent.frames == 0 {
        return Ok(());
    }
    arrived("received.frames", received.frames, "sent.frames", sent.frames).within(way())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Nanos, fixture, probe::Direction};

    fn stream(sent: u64, received: u64, seconds: [f64; 2]) -> PacketStream {
        let mut stream = fixture::packet_stream(sent, received);
        (stream.sent.seconds, stream.received.seconds) = (seconds[0], Some(seconds[1]));
        stream
    }

    #[test]
    fn ten_gigabit_of_smallest_frames_is_7_619_on_layer_two() {
        let line = stream(14_880_952, 14_880_952, [1.0, 1.0]);
        assert!((line.tx().l1_bps - 10e9).abs() < 1e3, "{:?}", line.tx());
        assert!((line.rx().l2_bps - 7.619e9).abs() < 1e6, "{:?}", line.rx());
        assert_eq!((line.lost(), line.offered_pps()), (0, 14_880_952.0));
        let lossy = stream(1000, 900, [1.0, 1.0]);
        assert_eq!(lossy.lost(), 100);
        assert_eq!(PacketStream { cut_off: true, ..lossy }.lost(), 0, "it may still have been on its way");
    }

    #[test]
    fn the_last_lost_frame_is_known_by_its_number() {
        let with = |numbers| {
            let mut stream = stream(1000, 900, [1.0, 1.0]);
            stream.received.numbers = numbers;
            (stream.after_last_lost(), stream.missing())
        };
        let numbers = |next, after_gap| Some(Numbers { next, after_gap });
        assert_eq!(with(numbers(1000, 400)), (Some(400), Some(100)));
        assert_eq!(with(numbers(950, 400)), (Some(1000), Some(50)), "the last ones did not come");
        assert_eq!(with(None), (None, None));
    }

    #[test]
    fn what_several_senders_bring_to_one_end_is_added_up() {
        let from = |from: &str, received| PacketStream { from: from.into(), ..stream(1000, received, [1.0, 1.0]) };
        let result = |streams| PacketsResult { mtu: Mtu(1500), streams };
        assert_eq!(result(vec![from("a", 900), from("a", 1000)]).together(), [], "two streams of one sender");
        let together = result(vec![from("a1", 900), from("a2", 1000)]).together().remove(0);
        assert_eq!((together.from, together.to.as_str()), (vec!["a1".to_owned(), "a2".to_owned()], "b"));
        assert_eq!((together.sent, together.received, together.lost), (2000, 1900, 100));
        assert_eq!((together.offered_pps, together.forwarding_pps), (2000.0, 1900.0));
    }

    #[test]
    fn a_stream_of_higher_priority_has_figures_of_its_own() {
        let named = |name: &str, dscp| Stream { name: name.to_owned(), dscp, ..Stream::default() };
        let spec = |streams: Vec<Stream>| PacketsSpec {
            streams,
            direction: Direction::Forward,
            duration: Nanos::from_secs(1),
            engine: None,
            mtu: None,
            modifier: None,
        };
        let counted = |name: &str, received, p99| {
            let mut counted = stream(1000, received, [1.0, 1.0]);
            counted.sent.stream = name.to_owned();
            counted.received.latency_ns =
                Some(TimeSummary { min: Some(1_000), p99: Some(p99), ..TimeSummary::default() });
            counted
        };
        let streams = vec![counted("voice", 990, 5_000), counted("bulk", 100, 90_000)];
        let result = PacketsResult { mtu: Mtu(1500), streams };
        let prioritised = spec(vec![named("voice", 46), named("bulk", 0)]);
        let figures = prioritised.figures(&result, "b");
        let values: Vec<f64> = figures[2..].iter().map(|figure| figure.value.low).collect();
        assert_eq!((values, prioritised.metrics().len()), (vec![0.01, 5_000.0, 4_000.0], 5));
        let equal = spec(vec![named("voice", 0), named("bulk", 0)]);
        assert_eq!((equal.figures(&result, "b").len(), equal.metrics().len()), (2, 2));
    }

    #[test]
    fn what_came_in_a_short_while_is_no_higher_rate_and_what_came_slowly_is_a_lower_one() {
        assert_eq!(stream(1000, 500, [1.0, 0.5]).forwarding_pps(), 500.0);
        assert_eq!(stream(1000, 1000, [1.0, 2.0]).forwarding_pps(), 500.0);
        assert_eq!(stream(0, 0, [0.0, 0.0]).forwarding_pps(), 0.0);
    }

    #[test]
    fn a_receiver_without_a_time_leaves_that_of_the_sender() {
        let mut unknown = stream(1000, 500, [1.0, 1.0]);
        unknown.received.seconds = None;
        assert_eq!(unknown.forwarding_pps(), 500.0);
        let mut stored = toml::Table::try_from(&unknown.received).unwrap();
        assert_eq!(stored.clone().try_into(), Ok(unknown.received.clone()));
        stored.insert("seconds".to_owned(), 0.0.into());
        assert_eq!(stored.try_into(), Ok(unknown.received), "as it was once stored");
    }

    fn checked(stream: PacketStream) -> Checked {
        each("streams", &[stream], check_stream)
    }

    #[test]
    fn figures_of_both_ends_are_held_against_each_other() {
        assert_eq!(checked(fixture::packet_stream(1_000_000, 1_000_000)), Ok(()));
        let error = checked(fixture::packet_stream(1_000_000, 5_000_000)).unwrap_err().to_string();
        assert!(error.contains("streams 1.a → b.received.frames cannot be"), "{error}");
        assert!(error.contains("5000000 is more than four times sent.frames, 4000000"), "{error}");
        let cut_off = PacketStream { cut_off: true, ..fixture::packet_stream(1_000_000, 5_000_000) };
        assert_eq!(checked(cut_off), Ok(()), "told at different moments");
    }

    #[test]
    fn numbers_at_the_end_of_their_range_are_refused() {
        let refused = |change: fn(&mut PacketStream)| {
            let mut stream = fixture::packet_stream(1000, 1000);
            change(&mut stream);
            checked(stream).unwrap_err().field
        };
        let of = |field: &str| format!("streams 1.a → b.{field}");
        assert_eq!(refused(|it| it.sent.frames = u64::MAX), of("sent.frames"));
        assert_eq!(refused(|it| it.received.duplicated = u64::MAX), of("received.duplicated"));
        assert_eq!(refused(|it| it.sent.bytes = 1 << 40), of("sent.bytes"));
        for seconds in [-1.0, 1e9] {
            let mut stream = fixture::packet_stream(1000, 1000);
            stream.sent.seconds = seconds;
            assert_eq!(checked(stream).unwrap_err().field, of("sent.seconds"), "{seconds}");
        }
        assert_eq!(refused(|it| it.sent.seconds = f64::NAN), of("sent.seconds"));
        assert_eq!(refused(|it| it.sent.intended_pps = Some(f64::INFINITY)), of("sent.intended_pps"));
        assert_eq!(refused(|it| it.sent.stream = "x".repeat(1 << 17)), of("sent.stream"));
    }
}
