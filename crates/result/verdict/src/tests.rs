use model::{
    GoodputResult, LatencyResult, LimitOutcome, Measured, Mtu, PayloadSize, Plan, ProbeSpec, RttSummary, Trial,
    Verdict, plan::Step,
};

use super::{figure::value, judge, overall};

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

/// A trial of each step, with the RTT summaries and the goodput (Gbit/s) given in turn.
fn trials(plan: &Plan, rtts: &[RttSummary], goodputs: &[f64]) -> Vec<Trial> {
    let (mut rtts, mut goodputs) = (rtts.iter(), goodputs.iter());
    let measured = |step: &Step| match &step.spec {
        ProbeSpec::Latency(spec) => {
            let result = latency(rtts.next()?.clone());
            Some(Measured::Latency { spec: spec.clone(), result })
        }
        ProbeSpec::Goodput(spec) => {
            Some(Measured::Goodput { spec: spec.clone(), result: goodput(goodputs.next()? * 1e9) })
        }
    };
    plan.steps().iter().filter_map(measured).map(trial).collect()
}

fn trial(measured: Measured) -> Trial {
    Trial {
        number: 1,
        repeat: 1,
        started: "2026-11-21T10:15:00Z".into(),
        duration_s: 1.0,
        endpoint_from: "a".into(),
        endpoint_to: "b".into(),
        cpus: [None, None],
        measured,
        limited_by: None,
        doubts: vec![],
    }
}

/// A sample without a maximum has lost one reply.
fn latency(rtt_ns: RttSummary) -> LatencyResult {
    LatencyResult {
        payload_size: PayloadSize(18),
        tcp_timestamps: false,
        sent: rtt_ns.n,
        lost: u64::from(rtt_ns.max.is_none()),
        late: 0,
        reordered: 0,
        rtt_ns,
        achieved_pps: 1e5,
        clock_cost_ns: 20.0,
        histogram: String::new(),
    }
}

fn goodput(mean_bps: f64) -> GoodputResult {
    GoodputResult {
        mtu: Mtu(1500),
        received_bytes: 1,
        sent_bytes: 1,
        intervals_bps: vec![mean_bps * 1.1, mean_bps * 0.9],
        mean_bps,
        sent_bps: mean_bps,
        retransmits: 0,
        warmup_s: 0.5,
        cpu: vec![],
    }
}

/// Of 1000 round trips, with this median and maximum in microseconds.
fn rtt(p50: u64, max: u64) -> RttSummary {
    let us = |us| Some(us * 1000);
    RttSummary {
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
fn rtt_with_loss(p50: u64) -> RttSummary {
    RttSummary { mean: None, max: None, ..rtt(p50, 0) }
}

fn judge_rtt(limit: &str, rtts: &[RttSummary]) -> LimitOutcome {
    let plan = plan(limit);
    let outcomes = judge(&plan, &trials(&plan, rtts, &[]));
    assert_eq!(outcomes.len(), 1);
    outcomes[0].clone()
}

fn medians(us: [u64; 6]) -> Vec<RttSummary> {
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
    assert_eq!(judge_rtt(P50, &medians([10, 12, 13, 14, 15, 16])).verdict, Verdict::Inconclusive);
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
fn too_few_trials_are_inconclusive_however_clear_they_look() {
    let five = judge_rtt(P50, &medians([1; 6])[..5]);
    assert_eq!((five.verdict, five.trials, five.median), (Verdict::Inconclusive, 5, Some(1_000.0)));
    assert_eq!(five.interval, None);
}

#[test]
fn a_planned_probe_without_trials_is_not_run_and_named() {
    let outcome = judge_rtt(P50, &[]);
    assert_eq!((outcome.verdict, outcome.trials, outcome.median), (Verdict::NotRun, 0, None));
    assert_eq!(outcome.probe, "latency UDP IPv4 spin 64 B");
}

#[test]
fn a_limit_that_matches_nothing_says_what_it_looked_for() {
    let outcome = judge_rtt(&format!("{P50}\nmode = \"block\"\nframe_size = 128"), &medians([1; 6]));
    assert_eq!((outcome.verdict, outcome.probe.as_str()), (Verdict::NotRun, "latency block 128 B"));
    let plan = plan("metric = \"goodput_min\"\nat_least = \"1 Gbit/s\"\nip = 6\nstreams = 8");
    assert_eq!(judge(&plan, &[])[0].probe, "goodput IPv6 8 streams");
}

#[test]
fn a_percentile_the_samples_do_not_support_is_not_run() {
    let limit = "metric = \"rtt_p999\"\nat_most = \"10 us\"";
    assert_eq!(judge_rtt(limit, &medians([1; 6])).verdict, Verdict::NotRun);
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
    plan.limits.push(super::Limit { metric: model::Metric::RttMin, ..plan.limits[0].clone() });
    let mut none = trials(&plan, &vec![RttSummary { n: 1000, ..RttSummary::default() }; 6], &[]);
    for trial in &mut none {
        let Measured::Latency { result, .. } = &mut trial.measured else { continue };
        result.lost = 1000;
    }
    let verdicts: Vec<_> = judge(&plan, &none).iter().map(|outcome| outcome.verdict).collect();
    assert_eq!(verdicts, [Verdict::Fail, Verdict::Fail]);
    assert_eq!(value(model::Metric::RttP50, &none[0]), None);
}

#[test]
fn the_worst_verdict_stands_for_the_run() {
    let outcome = |verdict| LimitOutcome { verdict, ..judge_rtt(P50, &[]) };
    let overall_of = |verdicts: &[Verdict]| overall(&verdicts.iter().copied().map(outcome).collect::<Vec<_>>());
    assert_eq!(overall_of(&[]), None);
    assert_eq!(overall_of(&[Verdict::Pass, Verdict::Pass]), Some(Verdict::Pass));
    assert_eq!(overall_of(&[Verdict::NotRun, Verdict::Pass]), Some(Verdict::NotRun));
    assert_eq!(overall_of(&[Verdict::Inconclusive, Verdict::NotRun]), Some(Verdict::Inconclusive));
    assert_eq!(overall_of(&[Verdict::Pass, Verdict::Fail, Verdict::Inconclusive]), Some(Verdict::Fail));
}
