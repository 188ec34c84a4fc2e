//! Limits of numbered packets, and the places where they were lost.

use model::{
    Delta, Engine, Evidence, FlowAssessment, LimitedBy, LineRate, LossAt, PacketStream, PacketsResult, Place, Run,
    Source, Stack, Trial, TrialAssessment,
};

use crate::{
    limited::{
        AS_ASKED, LOSS_OF_RATE, Load, Measures, at, between, core, dut,
        end::{Ends, TrafficDirection},
        gap::{self, Counted},
        held_back, loss, unexplained,
    },
    link,
    synchronous::is_stream_synchronous,
};

/// A link that carries this share of its rate in frames is full.
const LINK_FULL: f64 = 0.99;

/// The conclusions of a packets trial.
pub(super) fn assess(run: &Run, trial: &Trial, result: &PacketsResult) -> TrialAssessment {
    TrialAssessment {
        limited_by: limited_by(run, trial, result),
        losses: result.streams.iter().flat_map(|stream| losses(run, trial, stream)).collect(),
        saw_loss: result.streams.iter().any(|stream| stream.lost() > 0),
        flows: result.streams.iter().map(|stream| assess_stream(run, trial, stream)).collect(),
        ..TrialAssessment::default()
    }
}

fn assess_stream(run: &Run, trial: &Trial, stream: &PacketStream) -> FlowAssessment {
    let most = link::line_rate(run, stream.sent.frame_size);
    FlowAssessment {
        from: stream.from.clone(),
        to: stream.to.clone(),
        limited_by: None,
        line_rate: most.map(|packets_per_second| LineRate { packets_per_second, goodput_bps: None }),
        synchronous: is_stream_synchronous(run, trial, stream),
    }
}

/// The way of a stream. An engine sends on all cores of its end.
fn way<'a>(trial: &'a Trial, stream: &'a PacketStream) -> TrafficDirection<'a> {
    Ends { trial, threads: None }.between(&stream.from, &stream.to)
}

/// Places where the frames of one stream were lost. The driver counts frames that the receiver's own program took (XDP) as dropped; these
/// arrived.
fn losses(run: &Run, trial: &Trial, stream: &PacketStream) -> Vec<LossAt> {
    let way = way(trial, stream);
    let between = gap::claims(run, trial, &[way], stream.lost(), Counted::Each);
    let corrupt = corrupt(stream);
    if stream.sent.engine == Engine::Udp {
        let claims = loss::claims(run, way, Stack::Kernel, 0, 1);
        return loss::share_out(stream.lost(), corrupt.into_iter().chain(claims).chain(between));
    }
    let is_tester = |claim: &LossAt| claim.shown_by.iter().any(|delta| delta.name.contains("xdp_drop"));
    let at_ends = loss::on_the_way(run, way, 1).into_iter().filter(|claim| !is_tester(claim));
    loss::share_out(stream.lost(), corrupt.into_iter().chain(at_ends).chain(between))
}

/// Frames that arrived with another content were changed on their way.
fn corrupt(stream: &PacketStream) -> Option<LossAt> {
    let packets = stream.received.corrupt;
    let (of, name) = (stream.sent.stream.clone(), "corrupt".to_owned());
    let counter = Delta { source: Source::Receiver, of, name, delta: packets };
    (packets > 0).then(|| LossAt { place: Place::Path, endpoint: None, packets, shown_by: vec![counter] })
}

/// Limit of the slower way; `None` without a stream, and where the trial was cut off, whose counters were not read again.
fn limited_by(run: &Run, trial: &Trial, result: &PacketsResult) -> Option<LimitedBy> {
    if !trial.is_whole() {
        return None;
    }
    let slower = |a: &&PacketStream, b: &&PacketStream| a.forwarding_pps().total_cmp(&b.forwarding_pps());
    Some(limited_stream(run, trial, result.streams.iter().min_by(slower)?))
}

fn limited_stream(run: &Run, trial: &Trial, stream: &PacketStream) -> LimitedBy {
    let way = way(trial, stream);
    as_asked(trial, stream)
        .or_else(|| dut::own_core_full(run, trial))
        .or_else(|| lost(run, trial, stream, &way))
        .or_else(|| held_back(&way.sender))
        .or_else(|| dut::shaped(trial))
        .or_else(|| link_full(run, stream))
        .or_else(|| dut::core_full(trial))
        .or_else(|| sender_core(stream, &way))
        .unwrap_or_else(|| unexplained(&way, behind(stream).into_iter().collect()))
}

/// The intended load arrived.
fn as_asked(trial: &Trial, stream: &PacketStream) -> Option<LimitedBy> {
    let (intended, achieved) = (stream.sent.intended_pps?, stream.forwarding_pps());
    Load { intended, achieved, lost: lost_share(stream) }.limit(trial, Measures::Rate)
}

/// The place that dropped most.
fn lost(run: &Run, trial: &Trial, stream: &PacketStream, way: &TrafficDirection<'_>) -> Option<LimitedBy> {
    if lost_share(stream) < LOSS_OF_RATE {
        return None;
    }
    let worst = losses(run, trial, stream).into_iter().max_by_key(|loss| loss.packets)?;
    if let Some(limited) = dut::dropped(trial, &worst) {
        return Some(limited);
    }
    let (place, endpoint, mut evidence) = (worst.place, worst.endpoint.clone(), loss::evidence(worst));
    evidence.extend(way.receiver.softirq_core().map(core));
    Some(LimitedBy { place, endpoint, evidence })
}

/// The link carried as many frames as it can.
fn link_full(run: &Run, stream: &PacketStream) -> Option<LimitedBy> {
    let most = link::line_rate(run, stream.sent.frame_size)?;
    let link_bps = f64::from(link::speed_mbps(run)?) * 1e6;
    let full = stream.offered_pps() >= LINK_FULL * most;
    full.then(|| between(Place::LinkRate, vec![Evidence::LinkFull { bps: stream.tx().l1_bps, link_bps }]))
}

/// The sender sent without a pause, and could not send faster.
fn sender_core(stream: &PacketStream, way: &TrafficDirection<'_>) -> Option<LimitedBy> {
    let busy = core(way.sender.busy()?);
    Some(at(Place::SenderCpu, &way.sender, [busy].into_iter().chain(behind(stream)).collect()))
}

/// That the sender sent less than was asked of it.
fn behind(stream: &PacketStream) -> Option<Evidence> {
    let (intended, achieved) = (stream.sent.intended_pps?, stream.offered_pps());
    (achieved < AS_ASKED * intended).then_some(Evidence::Behind { intended, achieved })
}

fn lost_share(stream: &PacketStream) -> f64 {
    stream.lost() as f64 / stream.sent.frames.max(1) as f64
}

#[cfg(test)]
mod tests {
    use model::{
        CoreUse, DUT, Direction, Doubt, EndCounters, Measured, Mtu, Nanos, PacketsSpec, Plan, Stream, fixture,
    };

    use super::*;

    /// Packets of a second from a to b, and their run.
    fn story(intended: Option<f64>, sent: u64, received: u64) -> (Run, Trial) {
        let mut stream = fixture::packet_stream(sent, received);
        stream.sent.intended_pps = intended;
        let spec = PacketsSpec {
            streams: vec![Stream::default()],
            direction: Direction::Forward,
            duration: Nanos::from_secs(1),
            engine: None,
            mtu: None,
            modifier: None,
        };
        let mut trial =
            fixture::trial(Measured::Packets { spec, result: PacketsResult { mtu: Mtu(1500), streams: vec![stream] } });
        trial.cpus = [vec![0], vec![1]];
        let plan = "name = \"t\"\n[[packets]]\nframe_sizes = [64]\nduration = \"1 s\"";
        (fixture::run(Plan::parse(plan, &[]).unwrap()), trial)
    }

    fn place((run, trial): &(Run, Trial)) -> Place {
        super::super::assess(run, trial).limited_by.unwrap().place
    }

    fn dropped(trial: &mut Trial, end: usize, name: &str, delta: u64) {
        let (of, name) = ("eth0".to_owned(), name.to_owned());
        trial.counters[end].deltas.push(Delta { source: Source::Link, of, name, delta });
    }

    #[test]
    fn what_arrives_as_asked_is_limited_by_what_was_asked() {
        assert_eq!(place(&story(Some(1000.0), 1000, 1000)), Place::IntendedLoad);
        assert_eq!(place(&story(Some(1000.0), 500, 500)), Place::NotKnown, "the sender stayed behind");
    }

    #[test]
    fn a_load_beside_other_programs_is_the_limit_only_where_nothing_was_lost() {
        let beside = |received| {
            let mut beside = story(Some(1000.0), 1000, received);
            beside.1.doubts.push(Doubt::OtherLoad { cpu: 1, percent: 40.0, machine: String::new() });
            place(&beside)
        };
        assert_eq!((beside(1000), beside(995)), (Place::IntendedLoad, Place::NotKnown));
        assert_eq!(place(&story(Some(1000.0), 1000, 995)), Place::IntendedLoad, "alone on its cores");
    }

    #[test]
    fn a_sender_without_a_pause_is_the_limit_where_nothing_is_lost() {
        let mut story = story(None, 1000, 1000);
        assert_eq!(place(&story), Place::NotKnown);
        story.1.counters[0].cpu.push(CoreUse { cpu: 0, busy: 100.0, ..CoreUse::default() });
        assert_eq!(place(&story), Place::SenderCpu);
    }

    #[test]
    fn a_queueing_discipline_that_holds_packets_back_is_the_limit() {
        let mut story = story(Some(1000.0), 500, 500);
        let of = |name: &str| Delta { source: Source::Qdisc, of: "tbf 1:".into(), name: name.into(), delta: 500 };
        story.1.counters[0].deltas.extend(["packets", "overlimits"].map(of));
        assert_eq!(place(&story), Place::Qdisc);
    }

    #[test]
    fn frames_with_another_content_were_changed_on_the_path() {
        let mut story = story(Some(1000.0), 1000, 600);
        story.1.measured = match story.1.measured {
            Measured::Packets { spec, mut result } => {
                result.streams[0].received.corrupt = 300;
                Measured::Packets { spec, result }
            }
            _ => panic!("packets"),
        };
        let found = super::super::assess(&story.0, &story.1).losses;
        let packets: Vec<_> = found.iter().map(|loss| (loss.place, loss.packets, loss.shown_by.len())).collect();
        assert_eq!(packets, [(Place::Path, 300, 1), (Place::NotKnown, 100, 0)]);
    }

    #[test]
    fn loss_is_where_a_counter_shows_it() {
        let mut story = story(Some(1000.0), 1000, 600);
        assert_eq!(place(&story), Place::NotKnown);
        dropped(&mut story.1, 0, "tx_dropped", 390);
        assert_eq!(place(&story), Place::PeerRing, "a veth counts there what the ring behind it had no room for");
        let found = super::super::assess(&story.0, &story.1).losses;
        let packets: Vec<_> = found.iter().map(|loss| (loss.place, loss.packets)).collect();
        assert_eq!(packets, [(Place::PeerRing, 390), (Place::NotKnown, 10)]);
    }

    #[test]
    fn a_device_under_test_that_drops_frames_or_has_no_time_is_named() {
        let mut lossy = story(Some(1000.0), 1000, 600);
        let backlog = Delta { source: Source::Softnet, of: "cpu 1".into(), name: "dropped".into(), delta: 400 };
        lossy.1.dut = Some(EndCounters { deltas: vec![backlog], ..EndCounters::default() });
        let found = super::super::assess(&lossy.0, &lossy.1);
        let limited = found.limited_by.unwrap();
        assert_eq!((limited.place, limited.endpoint.as_deref()), (Place::SoftirqCore, Some(DUT)));
        let losses = found.losses;
        assert_eq!((losses.len(), losses[0].endpoint.as_deref(), losses[0].packets), (1, Some(DUT), 400));

        let counted = |source, of: &str, name: &str| Delta { source, of: of.into(), name: name.into(), delta: 1000 };
        let mut busy = story(None, 1000, 1000);
        busy.1.dut = Some(EndCounters {
            cpu: vec![CoreUse { cpu: 1, busy: 100.0, softirq: 99.0, ..CoreUse::default() }],
            deltas: vec![counted(Source::Link, "in", "rx_packets"), counted(Source::Softnet, "cpu 1", "processed")],
            ..EndCounters::default()
        });
        assert_eq!(place(&busy), Place::SoftirqCore);
    }
}
