//! Trials of one configuration brought together, and figures over them.

use model::{
    Direction, Flow, GoodputResult, GoodputSpec, Interval, LatencyResult, LatencySpec, Measured, PacketStream,
    PacketsResult, PacketsSpec, PathResult, PathSpec, Run, TimeSummary, Trial,
};
use verdict::is_stream_synchronous;

use crate::{show, texts::Texts};

/// All trials of one configuration, and of one sender where several took turns.
pub(crate) struct Group<'a, S, R> {
    pub(crate) spec: &'a S,
    /// From which end to which, where the bed has several senders.
    pub(crate) way: Option<(&'a str, &'a str)>,
    pub(crate) trials: Vec<(&'a Trial, &'a R)>,
}

pub(crate) type LatencyGroup<'a> = Group<'a, LatencySpec, LatencyResult>;
pub(crate) type GoodputGroup<'a> = Group<'a, GoodputSpec, GoodputResult>;
pub(crate) type PacketGroup<'a> = Group<'a, PacketsSpec, PacketsResult>;
pub(crate) type PathGroup<'a> = Group<'a, PathSpec, PathResult>;

/// One direction of a goodput configuration, over all its trials.
pub(crate) struct FlowGroup<'a> {
    pub(crate) spec: &'a GoodputSpec,
    pub(crate) from: &'a str,
    pub(crate) to: &'a str,
    /// Whether the way has to be named: others of the configuration go another one.
    pub(crate) one_of_several: bool,
    pub(crate) flows: Vec<(&'a GoodputResult, &'a Flow)>,
}

/// One stream of one direction of a packet configuration, over all its trials.
pub(crate) struct StreamGroup<'a> {
    pub(crate) spec: &'a PacketsSpec,
    pub(crate) from: &'a str,
    pub(crate) to: &'a str,
    /// Whether the way has to be named: others of the configuration go another one.
    pub(crate) one_of_several: bool,
    /// Never empty.
    pub(crate) streams: Vec<&'a PacketStream>,
    trials: Vec<&'a Trial>,
}

/// A figure over several trials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// How many values.
    pub(crate) n: usize,
    /// Of the median; `None` where the trials are too few.
    pub(crate) interval: Option<Interval>,
}

impl Spread {
    /// `None` without values.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        Some(Self {
            median: stats::median(values)?,
            n: values.len(),
            low: values.iter().copied().fold(f64::INFINITY, f64::min),
            high: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            interval: stats::median_interval(values, stats::CONFIDENCE),
        })
    }

    /// Lowest and highest; `None` for a single value, which spreads nowhere.
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
        (self.n > 1).then_some((self.low, self.high))
    }
}

/// Trials by configuration, in the order they were first measured.
fn group<'a, S: PartialEq, R>(
    run: &'a Run,
    pick: impl Fn(&'a Measured) -> Option<(&'a S, &'a R)>,
) -> Vec<Group<'a, S, R>> {
    let mut groups: Vec<Group<'a, S, R>> = Vec::new();
    for trial in &run.trials {
        let Some((spec, result)) = pick(&trial.measured) else { continue };
        let takes_turns = run.bed.senders().len() > 1 && !trial.measured.spec().senders_share();
        let way = takes_turns.then_some((trial.endpoint_from.as_str(), trial.endpoint_to.as_str()));
        match groups.iter_mut().find(|group| group.spec == spec && group.way == way) {
            Some(group) => group.trials.push((trial, result)),
            None => groups.push(Group { spec, way, trials: vec![(trial, result)] }),
        }
    }
    groups
}

/// The run's latency trials.
pub(crate) fn latency_groups(run: &Run) -> Vec<LatencyGroup<'_>> {
    group(run, |measured| match measured {
        Measured::Latency { spec, result } => Some((spec, &**result)),
        _ => None,
    })
}

/// The run's goodput trials.
pub(crate) fn goodput_groups(run: &Run) -> Vec<GoodputGroup<'_>> {
    group(run, |measured| match measured {
        Measured::Goodput { spec, result } => Some((spec, result)),
        _ => None,
    })
}

/// The run's packet trials.
pub(crate) fn packet_groups(run: &Run) -> Vec<PacketGroup<'_>> {
    group(run, |measured| match measured {
        Measured::Packets { spec, result } => Some((spec, result)),
        _ => None,
    })
}

/// The run's path trials.
pub(crate) fn path_groups(run: &Run) -> Vec<PathGroup<'_>> {
    group(run, |measured| match measured {
        Measured::Path { spec, result } => Some((spec, result)),
        _ => None,
    })
}

impl<S, R> Group<'_, S, R> {
    /// A figure over all trials; `None` if one of them does not have it, for the rest would flatter.
    pub(crate) fn over(&self, figure: impl Fn(&R) -> Option<f64>) -> Option<Spread> {
        let values: Option<Vec<f64>> = self.trials.iter().map(|(_, result)| figure(result)).collect();
        Spread::of(&values?)
    }

    /// A count summed over all trials.
    pub(crate) fn sum(&self, count: impl Fn(&R) -> u64) -> u64 {
        self.trials.iter().map(|(_, result)| count(result)).sum()
    }
}

impl LatencyGroup<'_> {
    /// Kind of traffic, frame size left out.
    pub(crate) fn traffic(&self, t: &Texts) -> String {
        show::with_way(show::latency_traffic(self.spec, t), self.way, t)
    }

    /// Its traffic and the frame size asked for.
    pub(crate) fn name(&self, t: &Texts) -> String {
        show::with_way(show::latency_configuration(self.spec, t), self.way, t)
    }

    /// A figure of RTT over all trials.
    pub(crate) fn rtt(&self, figure: impl Fn(&TimeSummary) -> Option<u64>) -> Option<Spread> {
        self.over(|result| figure(&result.rtt_ns).map(|ns| ns as f64))
    }

    /// The first trial's result, for what is alike in all of them.
    pub(crate) fn first(&self) -> &LatencyResult {
        // A group is made with its first trial.
        self.trials[0].1
    }

    /// Whether two configurations differ in their frame size alone, so that one line joins them.
    fn same_traffic(&self, other: &Self) -> bool {
        let key = |spec: &LatencySpec| (spec.protocol, spec.ip, spec.stack, spec.mode, spec.rate, spec.stamps);
        key(self.spec) == key(other.spec) && self.way == other.way
    }
}

impl PathGroup<'_> {
    /// Its configuration.
    pub(crate) fn name(&self, t: &Texts) -> String {
        show::with_way(show::path_configuration(self.spec, t), self.way, t)
    }
}

/// Groups that differ in frame size alone, together, each ordered by frame size.
pub(crate) fn by_traffic<'g, 'a>(groups: &'g [LatencyGroup<'a>]) -> Vec<Vec<&'g LatencyGroup<'a>>> {
    let mut traffics: Vec<Vec<&LatencyGroup<'_>>> = Vec::new();
    for group in groups {
        match traffics.iter_mut().find(|traffic| traffic[0].same_traffic(group)) {
            Some(traffic) => traffic.push(group),
            None => traffics.push(vec![group]),
        }
    }
    for traffic in &mut traffics {
        traffic.sort_by_key(|group| group.first().frame_size);
    }
    traffics
}

/// Each direction of each configuration by itself.
pub(crate) fn flow_groups<'a>(groups: &[GoodputGroup<'a>]) -> Vec<FlowGroup<'a>> {
    groups.iter().flat_map(flows_of).collect()
}

fn flows_of<'a>(group: &GoodputGroup<'a>) -> Vec<FlowGroup<'a>> {
    let mut directions: Vec<FlowGroup<'a>> = Vec::new();
    for &(_, result) in &group.trials {
        for flow in &result.flows {
            match directions.iter_mut().find(|known| (known.from, known.to) == (&flow.from, &flow.to)) {
                Some(known) => known.flows.push((result, flow)),
                None => {
                    let (from, to) = (&flow.from, &flow.to);
                    let flows = vec![(result, flow)];
                    directions.push(FlowGroup { spec: group.spec, from, to, one_of_several: false, flows });
                }
            }
        }
    }
    let one_of_several = directions.len() > 1 || group.spec.direction != Direction::Forward;
    directions.iter_mut().for_each(|direction| direction.one_of_several = one_of_several);
    directions
}

/// Each stream of each direction of each configuration by itself.
pub(crate) fn stream_groups<'a>(groups: &[PacketGroup<'a>]) -> Vec<StreamGroup<'a>> {
    groups.iter().flat_map(streams_of).collect()
}

fn streams_of<'a>(group: &PacketGroup<'a>) -> Vec<StreamGroup<'a>> {
    let mut all: Vec<StreamGroup<'a>> = Vec::new();
    for (trial, result) in &group.trials {
        for stream in &result.streams {
            let same = |known: &&mut StreamGroup<'_>| {
                (known.from, known.to, &known.first().sent.stream) == (&stream.from, &stream.to, &stream.sent.stream)
            };
            match all.iter_mut().find(same) {
                Some(known) => {
                    known.streams.push(stream);
                    known.trials.push(trial);
                }
                None => {
                    let (from, to) = (&stream.from, &stream.to);
                    let (spec, streams, trials) = (group.spec, vec![stream], vec![*trial]);
                    all.push(StreamGroup { spec, from, to, one_of_several: false, streams, trials });
                }
            }
        }
    }
    let one_of_several = group.spec.direction != Direction::Forward || all.iter().any(|it| it.from != all[0].from);
    all.iter_mut().for_each(|stream| stream.one_of_several = one_of_several);
    all
}

impl<'a> StreamGroup<'a> {
    /// The first trial's, for what is alike in all of them.
    pub(crate) fn first(&self) -> &'a PacketStream {
        self.streams[0]
    }

    /// Its traffic, and the way where that has to be named; of several streams which one.
    pub(crate) fn title(&self, t: &Texts) -> String {
        show::with_way(self.name(t), self.one_of_several.then_some((self.from, self.to)), t)
    }

    /// Its traffic; of several streams which one.
    pub(crate) fn name(&self, t: &Texts) -> String {
        let own = self.spec.streams.iter().filter(|stream| stream.name == self.first().sent.stream);
        let traffic = show::packets_traffic(&PacketsSpec { streams: own.cloned().collect(), ..self.spec.clone() }, t);
        if self.spec.streams.len() == 1 { traffic } else { format!("{}: {traffic}", self.first().sent.stream) }
    }

    /// A figure over all trials.
    pub(crate) fn over(&self, figure: impl Fn(&PacketStream) -> f64) -> Option<Spread> {
        Spread::of(&self.streams.iter().map(|stream| figure(stream)).collect::<Vec<_>>())
    }

    /// A count summed over all trials.
    pub(crate) fn sum(&self, count: impl Fn(&PacketStream) -> u64) -> u64 {
        self.streams.iter().map(|stream| count(stream)).sum()
    }

    /// Frames that never came, as a share of those sent, from 0 to 1; `None` where nothing was sent.
    pub(crate) fn loss(&self) -> Option<f64> {
        let sent = self.sum(|stream| if stream.cut_off { 0 } else { stream.sent.frames });
        (sent > 0).then(|| self.sum(PacketStream::lost) as f64 / sent as f64)
    }

    /// Whether nothing was lost, and in one of the trials at least the sender's cores did the receiving.
    pub(crate) fn is_lossless_loop(&self, run: &Run) -> bool {
        let is_loop = |(trial, stream): (&&Trial, &&PacketStream)| is_stream_synchronous(run, trial, stream);
        self.loss() == Some(0.0) && self.trials.iter().zip(&self.streams).any(is_loop)
    }
}

impl FlowGroup<'_> {
    /// Its traffic, and the way where that has to be named.
    pub(crate) fn name(&self, t: &Texts) -> String {
        show::flow(self.spec, self.one_of_several.then_some((self.from, self.to)), t)
    }

    /// A figure over those trials that have it: the sender's are unknown where a trial was cut off.
    pub(crate) fn over(&self, figure: impl Fn(&Flow) -> Option<f64>) -> Option<Spread> {
        Spread::of(&self.flows.iter().filter_map(|(_, flow)| figure(flow)).collect::<Vec<_>>())
    }

    /// Goodput of whole trials, in bit/s.
    pub(crate) fn mean(&self) -> Option<Spread> {
        self.over(|flow| Some(flow.received.mean_bps()))
    }

    /// Slowest and fastest second of all trials, in bit/s.
    pub(crate) fn seconds(&self) -> Option<(f64, f64)> {
        let all = || self.flows.iter().flat_map(|(_, flow)| flow.received.intervals_bps.iter().copied());
        Some((all().reduce(f64::min)?, all().reduce(f64::max)?))
    }

    /// A count summed over those trials that have it; `None` if none has.
    pub(crate) fn sum(&self, count: impl Fn(&Flow) -> Option<u64>) -> Option<u64> {
        self.flows.iter().filter_map(|(_, flow)| count(flow)).reduce(|a, b| a + b)
    }

    /// Datagrams that never came, as a share of those sent, from 0 to 1; `None` over TCP, or where nothing was sent.
    pub(crate) fn loss(&self) -> Option<f64> {
        let sent = self.sum(|flow| flow.lost().and(flow.sent.datagrams.as_ref()).map(|datagrams| datagrams.sent))?;
        (sent > 0).then_some(self.sum(Flow::lost)? as f64 / sent as f64)
    }
}

/// Whether the sender's figures are there: they are not where a trial was cut off.
pub(crate) fn knows_sender(flow: &Flow) -> bool {
    flow.sent.counted_s > 0.0
}
