use model::{
    Bed, Dut, FlowAssessment, LineRate, Measured, Mtu, PacketRate, PacketsResult, PacketsSpec, Plan, ProbeSpec,
    TimeSummary, fixture,
    stream::{Rate, Stream},
    trial::Numbers,
};
use procedure::Course;

use super::*;

const PLAN: &str = r#"
name = "t"
[[rfc2544]]
rate = "1 Mpps"
frame_sizes = [64, 512]
duration = "1 s"
latency_duration = "2 s"
latency_repeats = 2
latency_loads = ["10 %", "90 %"]
burst_repeats = 2
"#;

/// Forwards 400,000 frames a second, and holds 1,000 in short trials.
fn trial(spec: &ProbeSpec) -> Trial {
    let ProbeSpec::Packets(spec) = spec else { panic!("{spec}") };
    let Some(rate) = spec.rate() else { return overloaded(spec, 0.25) };
    let (load, seconds) = (rate.0 as f64, spec.duration.as_secs_f64());
    let sent = (load * seconds).round();
    let holds = if seconds > 0.5 { 0.0 } else { 1000.0 };
    let lost = (sent - 400e3 * seconds - holds).max(0.0).round();
    let mut stream = fixture::packet_stream(sent as u64, (sent - lost) as u64);
    (stream.sent.intended_pps, stream.sent.seconds, stream.received.seconds) = (Some(load), seconds, Some(seconds));
    stream.received.latency_ns = Some(TimeSummary {
        n: 9,
        min: Some(1_000),
        mean: Some(2_000.0),
        p50: Some(1_900),
        max: Some(9_000),
        ..TimeSummary::default()
    });
    let result = PacketsResult { mtu: Mtu(1500), streams: vec![stream] };
    Trial { duration_s: seconds, ..fixture::trial(Measured::Packets { spec: spec.clone(), result }) }
}

/// An overload from which the device recovers after this time; both streams lose a frame.
fn overloaded(spec: &PacketsSpec, recovers_s: f64) -> Trial {
    let stream = |stream: &Stream| {
        let Rate::Packets(PacketRate(pps)) = stream.load.rate else { panic!("{}", stream.load) };
        let seconds = stream.load.time.unwrap_or(spec.duration).as_secs_f64();
        let sent = (pps as f64 * seconds) as u64;
        let mut counted = fixture::packet_stream(sent, sent - 1);
        counted.sent.stream.clone_from(&stream.name);
        (counted.sent.intended_pps, counted.sent.seconds) = (Some(pps as f64), seconds);
        let after_gap = (pps as f64 * (spec.duration.as_secs_f64() / 2.0 + recovers_s)) as u64;
        counted.received.numbers = Some(Numbers { next: sent, after_gap });
        counted
    };
    let result = PacketsResult { mtu: Mtu(1500), streams: spec.streams.iter().map(stream).collect() };
    let trial = fixture::trial(Measured::Packets { spec: spec.clone(), result });
    Trial { duration_s: spec.duration.as_secs_f64(), ..trial }
}

fn run(more: &str) -> Run {
    let plan = Plan::parse(&format!("{PLAN}{more}"), &[]).unwrap();
    let mut course = Course::of(&plan, 1);
    let mut trials = Vec::new();
    while let Some(step) = course.ask() {
        let trial =
            Trial { origin: Some(step.origin()), number: course.number(), repeat: step.repeat, ..trial(&step.spec) };
        course.took(Some(&trial));
        trials.push(trial);
    }
    Run { trials, ..fixture::run(plan) }
}

fn assessed(run: &Run) -> Vec<Rfc2544> {
    rfc2544(run, &vec![TrialAssessment::default(); run.trials.len()])
}

#[test]
fn each_size_has_the_results_of_all_tests() {
    let all = assessed(&run(""));
    let [Rfc2544 { section, repeat: 1, sizes, .. }] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!((section.as_str(), sizes.len()), ("rfc2544.1", 2));
    let size = &sizes[0];
    let throughput = size.throughput.as_ref().unwrap();
    assert!((398e3..=400e3).contains(&throughput.load_pps), "{throughput:?}");
    let [a, b] = throughput.ports.as_slice() else { panic!("{throughput:?}") };
    assert_eq!((a.tx_l1_bps, a.rx_l1_bps, b.tx_l1_bps), (throughput.load_pps * 672.0, 0.0, 0.0));
    assert_eq!((b.rx_l1_bps, throughput.forwarded_l1_bps), (a.tx_l1_bps, a.tx_l1_bps));
    let [latency] = size.latency.as_slice() else { panic!("{:?}", size.latency) };
    assert_eq!(
        (latency.trials, latency.mean_ns, latency.max_ns, latency.p99_ns),
        (2, Some(2_000.0), Some(9_000), None)
    );
    let shares: Vec<f64> = size.latency_loads.iter().map(|it| it.share).collect();
    assert_eq!((shares, latency.medians_ns.len()), (vec![0.1, 0.9], 2));
    assert!(size.search.as_ref().is_some_and(|search| search.trials.len() > 1));
    let losses: Vec<f64> = size.loss.iter().map(|loss| loss.loss_ratio).collect();
    assert!((losses[0] - 0.6).abs() < 1e-9 && losses.len() == 8 && losses[6..] == [0.0, 0.0], "{losses:?}");
    let bursts = size.back_to_back.unwrap();
    // 1667 frames at 1 Mpps, of which 40 % leave meanwhile.
    assert!((bursts.buffer_s.unwrap() - 1e-3).abs() < 0.03e-3 && !bursts.is_unlimited, "{bursts:?}");
    assert_eq!((bursts.repeats, bursts.deviation_frames), (2, 0.0));
}

#[test]
fn recovery_is_the_time_from_the_drop_to_the_last_lost_frame() {
    let run = run("tests = [\"recovery\"]\nrecovery_repeats = 2");
    let recovery = assessed(&run).remove(0).sizes[0].recovery.unwrap();
    assert!((recovery.mean_s.unwrap() - 0.25).abs() < 1e-4, "{recovery:?}");
    assert_eq!((recovery.trials, recovery.overloaded, recovery.not_recovered, recovery.seconds), (2, 2, 0, 1.0));
    assert!((430e3..=441e3).contains(&recovery.overload_pps) && recovery.after_pps * 2.0 == recovery.overload_pps);
    let ProbeSpec::Packets(spec) = run.trials.last().unwrap().measured.spec() else { panic!("no packets") };
    let never = overloaded(&spec, 0.99);
    let recovery = super::recovery(&[&never]).unwrap();
    assert_eq!((recovery.not_recovered, recovery.mean_s), (1, None));
    let [soon, late] = [overloaded(&spec, -0.5), overloaded(&spec, 0.5)];
    assert_eq!(super::recovery(&[&soon]).unwrap().mean_s, Some(0.0), "the last loss was before the drop");
    assert!((super::recovery(&[&soon, &late]).unwrap().mean_s.unwrap() - 0.25).abs() < 1e-4);
}

#[test]
fn a_throughput_above_what_the_tester_reaches_alone_is_not_vouched_for() {
    let mut run = run("tests = [\"throughput\"]");
    let of = |run: &Run| {
        let size = assessed(run).remove(0).sizes.remove(0);
        (size.tester_pps.is_some(), size.is_vouched)
    };
    assert_eq!(of(&run), (false, None));
    // The same limits without the device: what is lost there may be the tester's.
    run.tester.clone_from(&run.trials);
    assert_eq!(of(&run), (true, Some(false)));
}

#[test]
fn a_reset_is_timed_by_lost_frames_and_by_the_longest_gap() {
    let reset = |next: u64, received: u64| {
        let mut stream = fixture::packet_stream(100_000, received);
        stream.sent.stream = RESET.to_owned();
        (stream.sent.intended_pps, stream.sent.seconds) = (Some(10_000.0), 10.0);
        stream.received.numbers = Some(Numbers { next, after_gap: 0 });
        stream.received.inter_arrival_ns = Some(TimeSummary { max: Some(1_500_000_000), ..TimeSummary::default() });
        let ProbeSpec::Packets(spec) = Plan::parse(PLAN, &[]).unwrap().specs().remove(0) else { panic!("no packets") };
        let result = PacketsResult { mtu: Mtu(1500), streams: vec![stream] };
        super::reset(&fixture::trial(Measured::Packets { spec, result })).unwrap()
    };
    let seen = reset(100_000, 85_000);
    assert_eq!((seen.by_loss_s, seen.by_time_s, seen.is_seen, seen.is_back), (Some(1.5), Some(1.5), true, true));
    assert!(!reset(100_000, 100_000).is_seen);
    assert!(!reset(60_000, 60_000).is_back, "nothing came any more");
}

#[test]
fn what_is_shorter_than_in_the_rfc_is_a_deviation() {
    let deviations = |run: &Run| assessed(run).remove(0).deviations;
    let seconds = Nanos::from_secs;
    assert_eq!(
        deviations(&run("")),
        [
            Deviation::NoDevice,
            Deviation::Simulated,
            Deviation::ShortTrials { duration: seconds(1) },
            Deviation::ShortLossTrials { duration: seconds(1) },
            Deviation::ShortLatencyTrials { duration: seconds(2) },
            Deviation::FewLatencyTrials { trials: 2 },
            Deviation::ManyFramesTimed,
            Deviation::FewBursts { bursts: 2 },
            Deviation::ShortOverloads { duration: seconds(1) },
            Deviation::FewNetworks { networks: 1 },
            Deviation::FewModifiers { missing: Modifier::ALL.to_vec() },
            Deviation::FewSizes { tested: 2, of: 7 },
            Deviation::ShortWaits,
        ]
    );
    let whole = PLAN.lines().take(4).collect::<Vec<_>>().join("\n");
    let plan = Plan::parse(&format!("{whole}\ntests = [\"throughput\"]"), &[]).unwrap();
    let spec = plan.specs().remove(0);
    let origin = Some(model::trial::Origin { procedure: "rfc2544.1".to_owned(), attempt: 1 });
    let bed = Bed { dut: Some(Dut::default()), simulated: false, ..fixture::lab() };
    let run = Run { trials: vec![Trial { origin, ..trial(&spec) }], bed, ..fixture::run(plan) };
    let modifiers = Deviation::FewModifiers { missing: Modifier::ALL.to_vec() };
    assert_eq!(deviations(&run), [Deviation::FewNetworks { networks: 1 }, modifiers, Deviation::ShortWaits]);
}

#[test]
fn each_modifier_has_results_of_its_own() {
    let mut run = run("tests = [\"throughput\"]\nmodifiers = [\"1-filter\", \"broadcast\"]");
    run.bed.dut = Some(Dut::default());
    let tests = assessed(&run).remove(0);
    let modifiers: Vec<_> = tests.sizes.iter().map(|size| (size.modifier, size.throughput.is_some())).collect();
    let each = [None, Some(Modifier::OneFilter), Some(Modifier::Broadcast)].map(|modifier| (modifier, true));
    assert_eq!(modifiers, each.iter().flat_map(|modifier| [*modifier; 2]).collect::<Vec<_>>());
    assert!(
        tests
            .deviations
            .contains(&Deviation::FewModifiers { missing: vec![Modifier::ManyFilters, Modifier::RouteUpdates] })
    );
    let [filters] = tests.filters.as_slice() else { panic!("{:?}", tests.filters) };
    assert!(filters.starts_with("table bridge") && filters.contains("ip saddr 198.18.0.0/15"), "{filters}");
}

#[test]
fn bursts_are_counted_as_they_were_made() {
    let run = run("tests = [\"back-to-back\"]\nlongest_burst = \"100 ms\"");
    // One search of the first size is whole; the second one was stopped.
    let longest: Vec<usize> = (0..run.trials.len()).filter(|at| run.trials[*at].duration_s > 0.09).collect();
    let kept = run.trials[..=longest[1]].to_vec();
    let tests = assessed(&Run { trials: kept, ..run }).remove(0);
    assert!(tests.deviations.contains(&Deviation::FewBursts { bursts: 1 }), "{:?}", tests.deviations);
    assert_eq!(tests.sizes.first().and_then(|size| size.back_to_back).map(|bursts| bursts.repeats), Some(1));
}

#[test]
fn a_buffer_is_known_by_a_throughput_without_loss_below_the_load_of_the_bursts() {
    let buffer = |more: &str| {
        let tests = assessed(&run(more)).remove(0);
        let size = &tests.sizes[0];
        (size.throughput.is_some(), size.back_to_back.and_then(|bursts| bursts.buffer_s).is_some())
    };
    assert_eq!(buffer(""), (true, true));
    let lossy = r#"
[[rfc2544.goal]]
name = "PDR"
final_trial_duration = "1 s"
duration_sum = "1 s"
loss_ratio = "0.5 %"
exceed_ratio = 0
"#;
    assert_eq!(buffer(lossy), (true, false));
    assert_eq!(buffer("longest_burst = \"100 ms\"\ntests = [\"back-to-back\"]"), (false, false));
}

#[test]
fn a_highest_load_below_the_line_is_a_deviation() {
    let run = run("tests = [\"loss\"]");
    let with_line = |packets_per_second: f64| {
        let line_rate = Some(LineRate { packets_per_second, goodput_bps: None });
        let flows = vec![FlowAssessment { line_rate, ..FlowAssessment::default() }];
        let of_trial = TrialAssessment { flows, ..TrialAssessment::default() };
        rfc2544(&run, &vec![of_trial; run.trials.len()]).remove(0).deviations.contains(&Deviation::BelowLine)
    };
    assert_eq!([with_line(1.005e6), with_line(1.02e6)], [false, true]);
}

#[test]
fn a_run_without_such_tests_or_trials_has_no_results() {
    let plan = Plan::parse(PLAN, &[]).unwrap();
    assert_eq!(assessed(&fixture::run(plan)), []);
    let other = Plan::parse("name = \"t\"\n[[path]]", &[]).unwrap();
    assert_eq!(assessed(&fixture::run(other)), []);
}
