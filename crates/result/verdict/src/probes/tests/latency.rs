use model::{
    Doubt, EndCounters, Evidence, FrameSize, LatencyResult, LatencySpec, Measured, PacketRate, PayloadSize, Place,
    Plan, ProbeSpec, Source, TimeSummary,
    trial::{Stage, StageName, Variation},
};

use super::{
    super::assess,
    fixture::{A, B, Story, at, run, trial},
};

fn result() -> LatencyResult {
    LatencyResult {
        frame_size: FrameSize(64),
        payload_size: PayloadSize(18),
        tcp_timestamps: false,
        sent: 100_000,
        lost: Some(0),
        late: 0,
        reordered: 0,
        duplicated: 0,
        overflowed: 0,
        rtt_ns: TimeSummary::default(),
        intended_pps: None,
        achieved_pps: 50_000.0,
        pacing: None,
        variation: Variation::default(),
        one_way: None,
        stages: vec![],
        hardware_stamps: false,
        napi: None,
        clock_cost_ns: 20.0,
        histogram: String::new(),
        ..LatencyResult::default()
    }
}

fn spec() -> LatencySpec {
    let plan = Plan::parse("name = \"t\"\n[[latency]]\nprotocol = \"udp\"\nframe_sizes = [64]\n", &[]).unwrap();
    let ProbeSpec::Latency(spec) = plan.specs().remove(0) else { panic!("planned") };
    spec
}

fn ping_pong(result: LatencyResult) -> Story {
    Story { run: run(), trial: trial(Measured::Latency { spec: spec(), result: Box::new(result) }) }
}

fn under_load(result: LatencyResult) -> Story {
    let spec = LatencySpec { rate: Some(PacketRate(50_000)), ..spec() };
    let result = LatencyResult { intended_pps: Some(50_000.0), ..result };
    Story { run: run(), trial: trial(Measured::Latency { spec, result: Box::new(result) }) }
}

#[test]
fn nothing_shows_what_limits_a_ping_pong() {
    let limited = ping_pong(result()).limited_by();
    let core = |cpu| Evidence::Core { cpu, busy: 50.0, softirq: 10.0, steal: 0.0 };
    assert_eq!((limited.place, limited.endpoint, limited.evidence), (Place::NotKnown, None, vec![core(1), core(2)]));
    let mut unread = ping_pong(result());
    unread.trial.counters = [EndCounters::default(), EndCounters::default()];
    assert_eq!(unread.limited_by().evidence, [Evidence::NothingRead]);
}

#[test]
fn ends_on_one_core_wait_for_each_other() {
    let mut story = ping_pong(result()).busy(0, 0.0);
    story.trial.cpus = [vec![1], vec![1]];
    let limited = story.limited_by();
    assert_eq!((limited.place, limited.endpoint.as_deref()), (Place::SenderCpu, Some("a")));
    assert_eq!(limited.evidence, [Evidence::Core { cpu: 1, busy: 99.0, softirq: 0.0, steal: 0.0 }]);
    story.run.bed.endpoints[1].machine = "another".into();
    assert_eq!(story.place().0, Place::NotKnown, "cores of two machines may have one number");
}

#[test]
fn the_longest_stage_is_named() {
    let stage = |stage, p50| Stage { stage, time_ns: TimeSummary { p50: Some(p50), ..TimeSummary::default() } };
    let split = |send, wire, receive| {
        let stages = vec![
            stage(StageName::NearSend, send),
            stage(StageName::WireAndFar, wire),
            stage(StageName::NearReceive, receive),
        ];
        ping_pong(LatencyResult { stages, ..result() })
    };
    assert_eq!(split(9_000, 5_000, 4_000).place(), at(Place::SenderCpu, "a"));
    assert_eq!(split(3_000, 5_000, 9_000).place(), at(Place::ReceiverCpu, "a"));
    let wire = split(3_000, 12_000, 9_000).limited_by();
    assert_eq!((wire.place, wire.endpoint), (Place::NotKnown, None));
    assert_eq!(wire.evidence, [Evidence::LongestStage { stage: StageName::WireAndFar, p50_ns: 12_000 }]);
}

#[test]
fn a_schedule_that_was_kept_is_the_load_asked_for() {
    assert_eq!(under_load(result()).place(), (Place::IntendedLoad, None));
    let mut beside_others = under_load(result());
    beside_others.trial.doubts.push(Doubt::OtherLoad { cpu: 1, percent: 40.0, machine: String::new() });
    assert_eq!(beside_others.place().0, Place::NotKnown, "others used the cores");
    let behind = || under_load(LatencyResult { achieved_pps: 40_000.0, ..result() });
    assert_eq!(behind().place().0, Place::NotKnown);
    assert_eq!(behind().busy(0, 0.0).place(), at(Place::SenderCpu, "a"));
    let late = under_load(LatencyResult { late: 1, ..result() });
    assert_eq!(late.place().0, Place::NotKnown);
}

#[test]
fn one_message_that_a_shaping_queue_held_back_did_not_set_the_pace() {
    let shaped = |overlimits| {
        ping_pong(result()).counted(A, Source::Qdisc, "tbf 1:", "overlimits", overlimits).counted(
            A,
            Source::Qdisc,
            "tbf 1:",
            "packets",
            100_000,
        )
    };
    assert_eq!(shaped(1).place().0, Place::NotKnown);
    assert_eq!(shaped(5_000).place(), at(Place::Qdisc, "a"));
}

#[test]
fn a_full_socket_behind_a_busy_core_is_that_cores() {
    let lossy = || LatencyResult { lost: Some(500), far_overflowed: 500, achieved_pps: 40_000.0, ..result() };
    let idle = under_load(lossy());
    assert_eq!(idle.place(), at(Place::ReceiverSocket, "b"));
    let limited = under_load(lossy()).busy(B, 0.0).limited_by();
    assert_eq!((limited.place, limited.endpoint.as_deref()), (Place::ReceiverCpu, Some("b")));
    let behind = Evidence::Behind { intended: 50_000.0, achieved: 40_000.0 };
    assert!(limited.evidence.contains(&behind), "{limited:?}");
}

#[test]
fn lost_replies_are_looked_for_on_both_ways() {
    let lossy = || ping_pong(LatencyResult { lost: Some(500), overflowed: 100, ..result() });
    let story = lossy().counted(B, Source::Softnet, "cpu 2", "dropped", 300);
    let found: Vec<_> = assess(&story.run, &story.trial)
        .losses
        .into_iter()
        .map(|loss| (loss.place, loss.endpoint, loss.packets))
        .collect();
    assert_eq!(
        found,
        [
            (Place::ReceiverSocket, Some("a".to_owned()), 100),
            (Place::SoftirqCore, Some("b".to_owned()), 300),
            (Place::NotKnown, None, 100),
        ]
    );
    assert_eq!(story.place(), at(Place::SoftirqCore, "b"));
    assert_eq!(lossy().limited_by().evidence, [Evidence::Unseen { packets: 400 }]);
    let seldom = ping_pong(LatencyResult { lost: Some(5), ..result() });
    assert_eq!(seldom.place().0, Place::NotKnown);
}
