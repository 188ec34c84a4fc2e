//! Streams of one configuration over all its trials.

use model::{Direction, FlowAssessment, PacketStream, PacketsSpec, Total, alike::grouped};

use super::names;
use crate::{
    groups::{Group, Spread},
    show,
    texts::Texts,
};

pub(super) type PacketGroup<'a> = Group<'a, PacketsSpec>;

/// One stream of one direction of a packet configuration, over all its trials.
pub(super) struct StreamGroup<'a> {
    pub(super) spec: &'a PacketsSpec,
    pub(super) from: &'a str,
    pub(super) to: &'a str,
    /// Whether the way has to be named: others of the configuration go another one.
    pub(super) one_of_several: bool,
    /// Never empty.
    pub(super) streams: Vec<&'a PacketStream>,
    /// One for each stream.
    pub(super) assessed: Vec<&'a FlowAssessment>,
}

/// Each stream of each direction of each configuration by itself.
pub(super) fn stream_groups<'a>(groups: &[PacketGroup<'a>]) -> Vec<StreamGroup<'a>> {
    groups.iter().flat_map(streams_of).collect()
}

fn streams_of<'a>(group: &PacketGroup<'a>) -> Vec<StreamGroup<'a>> {
    let results = group.trials.iter().zip(&group.assessed);
    let all = results.flat_map(|((_, result), trial)| result.streams.iter().zip(trial.flows.iter()));
    let key = |stream: &'a PacketStream| (&stream.from, &stream.to, &stream.sent.stream);
    let streams = grouped(all, |(a, _), (b, _)| key(a) == key(b));
    let several_ways = streams.iter().any(|all| all[0].0.from != streams[0][0].0.from);
    let one_of_several = group.spec.direction != Direction::Forward || several_ways;
    let stream = |all: Vec<(&'a PacketStream, &'a FlowAssessment)>| {
        let (from, to) = (&all[0].0.from, &all[0].0.to);
        let (streams, assessed) = all.into_iter().unzip();
        StreamGroup { spec: group.spec, from, to, one_of_several, streams, assessed }
    };
    streams.into_iter().map(stream).collect()
}

impl<'a> StreamGroup<'a> {
    /// Frames a second that the link carries at most; `None` where that is not known.
    pub(super) fn line_rate(&self) -> Option<f64> {
        self.assessed[0].line_rate.map(|link| link.packets_per_second)
    }

    /// The first trial's, for properties that all of them share.
    pub(super) fn first(&self) -> &'a PacketStream {
        self.streams[0]
    }

    /// Its traffic, and the way where that has to be named; of several streams which one.
    pub(super) fn title(&self, t: &Texts) -> String {
        show::with_way(self.name(t), self.one_of_several.then_some((self.from, self.to)), t)
    }

    /// Its traffic; of several streams which one.
    pub(super) fn name(&self, t: &Texts) -> String {
        let own = self.spec.streams.iter().filter(|stream| stream.name == self.first().sent.stream);
        let traffic = names::traffic(&PacketsSpec { streams: own.cloned().collect(), ..self.spec.clone() }, t);
        if self.spec.streams.len() == 1 { traffic } else { format!("{}: {traffic}", self.first().sent.stream) }
    }

    /// A figure over all trials.
    pub(super) fn over(&self, figure: impl Fn(&PacketStream) -> f64) -> Option<Spread> {
        Spread::of(&self.streams.iter().map(|stream| figure(stream)).collect::<Vec<_>>())
    }

    /// A count summed over all trials.
    pub(super) fn sum(&self, count: impl Fn(&PacketStream) -> u64) -> u64 {
        self.streams.iter().map(|stream| count(stream)).total()
    }

    /// Frames that never came, as a share of those sent, from 0 to 1; `None` where nothing was sent.
    pub(super) fn loss(&self) -> Option<f64> {
        let sent = self.sum(|stream| if stream.cut_off { 0 } else { stream.sent.frames });
        (sent > 0).then(|| self.sum(PacketStream::lost) as f64 / sent as f64)
    }

    /// The share that was lost in words.
    pub(super) fn loss_words(&self, t: &Texts) -> String {
        show::loss(self.loss(), self.is_lossless_loop(), t)
    }

    /// Whether nothing was lost, and in one of the trials at least the sender's cores did the receiving.
    pub(super) fn is_lossless_loop(&self) -> bool {
        self.loss() == Some(0.0) && self.assessed.iter().any(|assessed| assessed.synchronous)
    }
}
