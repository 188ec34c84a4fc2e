use model::{
    CheckOutcome, CheckResult, Flow, ForwardingCheck, ForwardingFault, ForwardingResult, FrameSize, GoodputReceived,
    GoodputResult, GoodputSent, Identity, IpVersion, LatencyResult, LimitOutcome, Measured, Metric, Mtu, PathResult,
    PathSpec, PayloadSize, Plan, ProbeSpec, Range, Run, TimeSummary, Trial, Undecided, Verdict,
    plan::Step,
    trial::{Leg, Refusal, Variation},
};

use super::{overall, probes::tests::fixture};

const PROBES: &str = r#"
name = "t"
repeats = 6
[[latency]]
protocol = "udp"
frame_sizes = [64]
timeout = "1 s"
[[goodput]]
protocol = "tcp"
duration = "2 s"
"#;

/// The plan with one limit.
fn plan(limit: &str) -> Plan {
    Plan::parse(&format!("{PROBES}[[limits]]\n{limit}"), &[]).unwrap()
}

fn judge(plan: &Plan, trials: &[Trial]) -> Vec<LimitOutcome> {
    super::judge(&run(plan, trials), &[])
}

/// A run of the plan on a simulated bed.
pub(crate) fn run(plan: &Plan, trials: &[Trial]) -> Run {
    Run { plan: plan.clone(), trials: trials.to_vec(), ..fixture::run() }
}

/// A trial of each step, with the RTT summaries and the goodput (Gbit/s) given in turn.
pub(crate) fn trials(plan: &Plan, rtts: &[TimeSummary], goodputs: &[f64]) -> Vec<Trial> {
    let (mut rtts, mut goodputs) = (rtts.iter(), goodputs.iter());
    let measured = |step: &Step| match &step.spec {
        ProbeSpec::Latency(spec) => {
            let result = latency(rtts.next()?.clone());
            Some(Measured::Latency { spec: spec.clone(), result: Box::new(result) })
        }
        ProbeSpec::Goodput(spec) => {
            Some(Measured::Goodput { spec: spec.clone(), result: goodput(goodputs.next()? * 1e9) })
        }
        _ => None,
    };
    procedure::steps(plan, 1).iter().filter_map(measured).map(model::fixture::trial).collect()
}

/// A sample without a maximum has lost one reply.
fn latency(rtt_ns: TimeSummary) -> LatencyResult {
    LatencyResult {
        frame_size: FrameSize(64),
        payload_size: PayloadSize(18),
        tcp_timestamps: false,
        sent: rtt_ns.n,
        lost: Some(rtt_ns.max.is_none().into()),
        late: 0,
        reordered: 0,
        duplicated: 0,
        overflowed: 0,
        rtt_ns,
        intended_pps: None,
        achieved_pps: 1e5,
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

fn goodput(mean_bps: f64) -> GoodputResult {
    GoodputResult { mtu: Mtu(1500), flows: vec![flow(mean_bps)] }
}

/// Two seconds, the first a tenth above the mean, the second a tenth below it.
fn flow(mean_bps: f64) -> Flow {
    Flow {
        from: "a".into(),
        to: "b".into(),
        sent: GoodputSent::default(),
        received: GoodputReceived {
            counted_bytes: (mean_bps / 4.0) as u64,
            counted_s: 2.0,
            intervals_bps: vec![mean_bps * 1.1, mean_bps * 0.9],
            ..GoodputReceived::default()
        },
    }
}

/// A result of 1000 round trips, with this median and maximum in microseconds.
pub(crate) fn rtt(p50: u64, max: u64) -> TimeSummary {
    let us = |us| Some(us * 1000);
    TimeSummary {
        n: 1000,
        min: us(1),
        mean: Some(5e3),
        p50: us(p50),
        p90: us(p50),
        p99: us(p50),
        p999: None,
        max: us(max),
    }
}

/// The same with one reply lost.
fn rtt_with_loss(p50: u64) -> TimeSummary {
    TimeSummary { mean: None, max: None, ..rtt(p50, 0) }
}

fn judge_rtt(limit: &str, rtts: &[TimeSummary]) -> LimitOutcome {
    let plan = plan(limit);
    let outcomes = judge(&plan, &trials(&plan, rtts, &[]));
    assert_eq!(outcomes.len(), 1);
    outcomes[0].clone()
}

pub(crate) fn medians(us: [u64; 6]) -> Vec<TimeSummary> {
    us.map(|us| rtt(us, 100)).to_vec()
}

const P50: &str = "metric = \"rtt_p50\"\nat_most = \"10 us\"";

#[test]
fn the_whole_interval_decides() {
    let pass = judge_rtt(P50, &medians([5, 6, 7, 8, 9, 10]));
    assert_eq!((pass.verdict, pass.trials, pass.median), (Verdict::Pass, 6, Some(7_500.0)));
    let interval = pass.interval.unwrap();
    assert_eq!((interval.low, interval.high, interval.confidence), (5_000.0, 10_000.0, 0.96875));
    assert_eq!(pass.probe, "latency UDP IPv4 spin 64 B");
    assert_eq!(judge_rtt(P50, &medians([11, 12, 13, 14, 15, 16])).verdict, Verdict::Fail);
    assert_eq!(judge_rtt(P50, &medians([5, 6, 7, 8, 9, 11])).verdict, Verdict::Inconclusive);
    let straddling = judge_rtt(P50, &medians([10, 12, 13, 14, 15, 16]));
    assert_eq!((straddling.verdict, straddling.undecided), (Verdict::Inconclusive, Some(Undecided::Straddles)));
    assert_eq!(pass.undecided, None);
}

#[test]
fn at_least_looks_the_other_way() {
    let judged = |metric: &str, gigabits: [f64; 6]| {
        let plan = plan(&format!("metric = \"{metric}\"\nat_least = \"9 Gbit/s\""));
        judge(&plan, &trials(&plan, &[], &gigabits))[0].verdict
    };
    assert_eq!(judged("goodput_mean", [9.0, 9.1, 9.2, 9.3, 9.4, 9.5]), Verdict::Pass);
    assert_eq!(judged("goodput_mean", [8.0, 8.1, 8.2, 8.3, 8.4, 8.9]), Verdict::Fail);
    assert_eq!(judged("goodput_mean", [8.0, 9.1, 9.2, 9.3, 9.4, 9.5]), Verdict::Inconclusive);
    // The slowest second is a tenth below the mean.
    assert_eq!(judged("goodput_min", [9.0, 9.1, 9.2, 9.3, 9.4, 9.5]), Verdict::Fail);
}

#[test]
fn with_data_both_ways_the_slower_one_counts() {
    let plan = plan("metric = \"goodput_mean\"\nat_least = \"9 Gbit/s\"");
    let mut trials = trials(&plan, &[], &[9.5]);
    let Measured::Goodput { result, .. } = &mut trials[0].measured else { panic!("planned") };
    result.flows.push(Flow { from: "b".into(), to: "a".into(), ..flow(4e9) });
    assert_eq!(trials[0].figure(Metric::GoodputMean).and_then(Range::known), Some(4e9));
    assert_eq!(trials[0].figure(Metric::GoodputMin).and_then(Range::known), Some(3.6e9));
    assert_eq!(trials[0].figure(Metric::GoodputMax).and_then(Range::known), Some(4.4e9));
    assert_eq!(trials[0].figure(Metric::PathMtu).and_then(Range::known), None);
}

#[test]
fn what_several_senders_bring_to_one_receiver_is_added_up() {
    let plan = plan("metric = \"goodput_mean\"\nat_least = \"9 Gbit/s\"");
    let mut trials = trials(&plan, &[], &[6e9 / 1e9]);
    let Measured::Goodput { result, .. } = &mut trials[0].measured else { panic!("planned") };
    result.flows.push(Flow { from: "a2".into(), ..flow(4e9) });
    assert_eq!(trials[0].figure(Metric::GoodputMean).and_then(Range::known), Some(10e9));
    assert_eq!(trials[0].figure(Metric::GoodputMin).and_then(Range::known), Some(9e9));
}

#[test]
fn a_path_mtu_is_that_of_the_narrower_way_and_zero_where_nothing_passes() {
    let plan =
        Plan::parse("name = \"t\"\nrepeats = 6\n[[path]]\n[[limits]]\nmetric = \"path_mtu\"\nat_least = \"9000\"", &[]);
    let plan = plan.unwrap();
    let ProbeSpec::Path(spec) = plan.specs().remove(0) else { panic!("planned") };
    let leg = |mtu: Option<u32>| Leg { mtu: mtu.map(Mtu), refusal: Refusal::Interface, routers: Some(0) };
    let judged = |forward, reverse| {
        let result =
            PathResult { forward: leg(forward), reverse: leg(reverse), devices: vec![], packets: 30, hops: vec![] };
        let trials = vec![model::fixture::trial(Measured::Path { spec: spec.clone(), result }); 6];
        let outcome = judge(&plan, &trials).remove(0);
        (outcome.verdict, outcome.median)
    };
    assert_eq!(judged(Some(9000), Some(9000)), (Verdict::Pass, Some(9000.0)));
    assert_eq!(judged(Some(9000), Some(1500)), (Verdict::Fail, Some(1500.0)));
    assert_eq!(judged(Some(9000), None), (Verdict::Fail, Some(0.0)));
}

#[test]
fn a_count_is_judged_by_its_worst_trial_and_one_is_enough() {
    let section = "[[forwarding]]\n[[limits]]\nmetric = \"checks_failed\"\nat_most = \"0\"";
    let plan = Plan::parse(&format!("name = \"t\"\nrepeats = 2\n{section}"), &[]).unwrap();
    let ProbeSpec::Forwarding(spec) = plan.specs().remove(0) else { panic!("planned") };
    let trial = |outcome| {
        let check = CheckResult { check: ForwardingCheck::Returned, frames: 9, wrong: 0, outcome };
        let result = ForwardingResult { routed: true, sent: 9, arrived: 9, checks: vec![check] };
        model::fixture::trial(Measured::Forwarding { spec: spec.clone(), result })
    };
    let passed = || trial(CheckOutcome::Passed);
    let failed = trial(CheckOutcome::Failed { fault: ForwardingFault::CameBack { frames: 9 } });
    let judged = |trials: &[Trial]| judge(&plan, trials).remove(0).verdict;
    assert_eq!(judged(&[passed()]), Verdict::Pass);
    assert_eq!(judged(&[passed(), failed]), Verdict::Fail);
    assert_eq!(judged(&[]), Verdict::NotRun);
}

#[test]
fn too_few_trials_are_inconclusive_however_clear_they_look() {
    let five = judge_rtt(P50, &medians([1; 6])[..5]);
    assert_eq!((five.verdict, five.trials, five.median), (Verdict::Inconclusive, 5, Some(1_000.0)));
    assert_eq!((five.interval, five.undecided), (None, Some(Undecided::FewTrials { trials: 5, needed: 6 })));
}

#[test]
fn a_planned_probe_without_trials_is_not_run_and_named() {
    let outcome = judge_rtt(P50, &[]);
    assert_eq!((outcome.verdict, outcome.trials, outcome.median), (Verdict::NotRun, 0, None));
    assert_eq!(outcome.probe, "latency UDP IPv4 spin 64 B");
    assert_eq!(outcome.undecided, Some(Undecided::NotMeasured));
}

/// Kinds of transactions, and a limit on new connections.
fn connecting(kinds: &[&str]) -> Plan {
    let section = |kind: &&str| format!("[[transactions]]\nkind = \"{kind}\"\nconnections = [1]\nduration = \"1 s\"\n");
    let sections: String = kinds.iter().map(section).collect();
    let limit = "[[limits]]\nmetric = \"connection_rate\"\nat_least = \"1 tps\"";
    Plan::parse(&format!("name = \"t\"\n{sections}{limit}"), &[]).unwrap()
}

#[test]
fn connections_that_stay_open_have_no_criterion_of_new_ones() {
    let named = |kinds: &[&str]| -> Vec<_> {
        judge(&connecting(kinds), &[]).into_iter().map(|it| (it.probe, it.undecided)).collect()
    };
    let both = named(&["rr", "crr"]);
    assert!(both.len() == 1 && both[0].0.contains("crr"), "{both:?}");
    assert_eq!(both[0].1, Some(Undecided::NotMeasured));
    assert_eq!(named(&["rr"])[0].1, Some(Undecided::NotPlanned));
}

#[test]
fn a_figure_that_its_trials_cannot_have_is_told_from_a_small_sample() {
    let plan = connecting(&["crr"]);
    let ProbeSpec::Transactions(spec) = plan.specs().remove(0) else { panic!("planned") };
    let kept = Measured::Transactions { spec, result: Box::default() };
    let outcome = judge(&plan, &[model::fixture::trial(kept)]).remove(0);
    assert_eq!((outcome.verdict, outcome.undecided), (Verdict::NotRun, Some(Undecided::NotMeasured)));
}

#[test]
fn trials_that_were_left_out_say_why() {
    let sections = "[[goodput]]\nprotocol = \"tcp\"\nduration = \"2 s\"\nmtus = [9000]\n\
                    [[goodput]]\nprotocol = \"udp\"\nip = 6\nduration = \"2 s\"\n";
    let limit = "[[limits]]\nmetric = \"goodput_mean\"\nat_least = \"9 Gbit/s\"";
    let plan = Plan::parse(&format!("name = \"t\"\n{sections}{limit}"), &[]).unwrap();
    let spec = plan.specs().iter().find_map(|spec| spec.of::<PathSpec>().cloned()).unwrap();
    let leg = || Leg { mtu: Some(Mtu(1500)), refusal: Refusal::Interface, routers: Some(0) };
    let result = PathResult { forward: leg(), reverse: leg(), devices: vec![], packets: 30, hops: vec![] };
    let outcomes = judge(&plan, &[model::fixture::trial(Measured::Path { spec, result })]);
    let why: Vec<_> = outcomes.into_iter().filter_map(|outcome| outcome.undecided).collect();
    let disproved = Undecided::MtuDisproved { mtu: 9000, ip: IpVersion::V4 };
    assert_eq!(why, [disproved, Undecided::NoAddress { ip: IpVersion::V6 }]);
}

#[test]
fn a_limit_that_matches_nothing_says_what_it_looked_for() {
    let outcome = judge_rtt(&format!("{P50}\nmode = \"block\"\nframe_size = 128"), &medians([1; 6]));
    assert_eq!((outcome.verdict, outcome.probe.as_str()), (Verdict::NotRun, "latency block 128 B"));
    assert_eq!(outcome.undecided, Some(Undecided::NotPlanned));
    let plan = plan("metric = \"goodput_min\"\nat_least = \"1 Gbit/s\"\nip = 6\nstreams = 8");
    assert_eq!(judge(&plan, &[])[0].probe, "goodput IPv6 8 streams");
    let outcome = judge_rtt(&format!("{P50}\nunder_load = true"), &[]);
    assert_eq!(outcome.probe, "latency under load");
}

#[test]
fn a_percentile_the_samples_do_not_support_is_not_run() {
    let limit = "metric = \"rtt_p999\"\nat_most = \"10 us\"";
    let unsupported = judge_rtt(limit, &medians([1; 6]));
    assert_eq!((unsupported.verdict, unsupported.undecided), (Verdict::NotRun, Some(Undecided::FewSamples)));
    // Nor does a lost reply make it known: p99.9 of 1000 round trips is nobody's to tell.
    assert_eq!(judge_rtt(limit, &vec![rtt_with_loss(1); 6]).verdict, Verdict::NotRun);
}

#[test]
fn a_lost_reply_is_over_the_timeout_and_fails_a_maximum_below_it() {
    let all_lost = vec![rtt_with_loss(5); 6];
    let max = judge_rtt("metric = \"rtt_max\"\nat_most = \"900 ms\"", &all_lost);
    assert_eq!((max.verdict, max.trials, max.median, max.interval), (Verdict::Fail, 6, None, None));
    // Nobody knows by how much it is over the timeout.
    let above = judge_rtt("metric = \"rtt_max\"\nat_most = \"2 s\"", &all_lost);
    assert_eq!(above.verdict, Verdict::Inconclusive);
    // Lost once in six trials: the median is known, the interval has no upper end.
    let mut once = medians([5; 6]);
    once[2] = rtt_with_loss(5);
    let max = judge_rtt("metric = \"rtt_max\"\nat_most = \"900 ms\"", &once);
    assert_eq!((max.verdict, max.median, max.interval), (Verdict::Inconclusive, Some(100_000.0), None));
    // The median RTT of each trial is not touched.
    assert_eq!(judge_rtt(P50, &all_lost).verdict, Verdict::Pass);
}

#[test]
fn a_mean_counts_the_timeout_for_each_missing_reply() {
    let lost = vec![rtt_with_loss(5); 6];
    // One of 1000 over 1 s, the rest 1 us or more: the mean is 1000.999 us or more.
    assert_eq!(judge_rtt("metric = \"rtt_mean\"\nat_most = \"1000 us\"", &lost).verdict, Verdict::Fail);
    assert_eq!(judge_rtt("metric = \"rtt_mean\"\nat_most = \"1001 us\"", &lost).verdict, Verdict::Inconclusive);
}

#[test]
fn when_no_reply_came_every_supported_figure_is_over_the_timeout() {
    let mut plan = plan(P50);
    plan.limits.push(super::Limit { metric: Metric::RttMin, ..plan.limits[0].clone() });
    let mut none = trials(&plan, &vec![TimeSummary { n: 1000, ..TimeSummary::default() }; 6], &[]);
    for trial in &mut none {
        let Measured::Latency { result, .. } = &mut trial.measured else { continue };
        result.lost = Some(1000);
    }
    let verdicts: Vec<_> = judge(&plan, &none).iter().map(|outcome| outcome.verdict).collect();
    assert_eq!(verdicts, [Verdict::Fail, Verdict::Fail]);
    assert_eq!(none[0].figure(Metric::RttP50).and_then(Range::known), None);
}

#[test]
fn the_worst_verdict_stands_for_the_run() {
    let outcome = |verdict| LimitOutcome { verdict, ..judge_rtt(P50, &[]) };
    let overall_of = |verdicts: &[Verdict]| overall(&verdicts.iter().copied().map(outcome).collect::<Vec<_>>(), None);
    assert_eq!(overall_of(&[]), None);
    assert_eq!(overall_of(&[Verdict::Pass, Verdict::Pass]), Some(Verdict::Pass));
    assert_eq!(overall_of(&[Verdict::NotComparable, Verdict::Pass]), Some(Verdict::NotComparable));
    assert_eq!(overall_of(&[Verdict::NotRun, Verdict::NotComparable, Verdict::Pass]), Some(Verdict::Inconclusive));
    assert_eq!(overall_of(&[Verdict::NotRun, Verdict::NotRun]), Some(Verdict::NotRun));
    assert_eq!(overall_of(&[Verdict::Inconclusive, Verdict::NotRun]), Some(Verdict::Inconclusive));
    assert_eq!(overall_of(&[Verdict::Pass, Verdict::Fail, Verdict::Inconclusive]), Some(Verdict::Fail));
}

#[test]
fn what_a_person_found_counts_like_what_was_measured() {
    let toml = "[[item]]\nwhat = \"card seated\"\nverdict = \"pass\"\n[[item]]\nwhat = \"cable labelled\"\n";
    let identity = Identity::parse(toml).unwrap();
    let pass = LimitOutcome { verdict: Verdict::Pass, ..judge_rtt(P50, &[]) };
    assert_eq!(overall(&[], Some(&identity)), Some(Verdict::Inconclusive), "nobody looked at the cable");
    let failed = Identity::parse(&(toml.to_owned() + "verdict = \"fail\"\n")).unwrap();
    assert_eq!(overall(&[pass], Some(&failed)), Some(Verdict::Fail));
}
