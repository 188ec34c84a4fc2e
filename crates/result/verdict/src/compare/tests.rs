use std::sync::atomic::{AtomicU32, Ordering};

use model::{
    Conclusion, Finding, Flow, GoodputReceived, GoodputResult, GoodputSent, LatencyResult, Measured, Metric, Mtu,
    PathResult, Plan, ProbeSpec, Run, RunId, TimeSummary, Trial,
    comparison::FigureComparison,
    environment::{EndpointFacts, HostFacts, InterfaceFacts},
    fixture,
    trial::{DatagramsReceived, DatagramsSent, Leg, Refusal},
};

use super::compare;

pub(crate) const LATENCY: &str = "[[latency]]\nprotocol = \"udp\"\nframe_sizes = [64]\ntimeout = \"1 s\"\n";
pub(crate) const TCP: &str = "[[goodput]]\nprotocol = \"tcp\"\nduration = \"2 s\"\n";
const UDP: &str = "[[goodput]]\nprotocol = \"udp\"\nduration = \"2 s\"\n";
const PATH: &str = "[[path]]\n";

/// A run of one configuration, with a trial for each value: µs, Gbit/s, share lost, or bytes.
pub(crate) fn run(section: &str, values: &[f64]) -> Run {
    let plan = Plan::parse(&format!("name = \"t\"\n{section}"), &[]).unwrap();
    let spec = plan.specs().remove(0);
    let trials = values.iter().zip(1..).map(|(value, number)| trial(number, measured(&spec, *value))).collect();
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let id = RunId(format!("20261121-101500-{:04x}", RUNS.fetch_add(1, Ordering::Relaxed)));
    Run { id, trials, ..fixture::run(plan) }
}

fn trial(number: u32, measured: Measured) -> Trial {
    Trial { number, repeat: number, ..fixture::trial(measured) }
}

fn measured(spec: &ProbeSpec, value: f64) -> Measured {
    match spec.clone() {
        ProbeSpec::Latency(spec) => {
            let rtt = Some((value * 1e3) as u64);
            let rtt_ns = TimeSummary { n: 1000, min: rtt, p50: rtt, p99: rtt, ..TimeSummary::default() };
            let result = LatencyResult { sent: 1000, lost: Some(0), rtt_ns, ..LatencyResult::default() };
            Measured::Latency { spec, result: Box::new(result) }
        }
        ProbeSpec::Goodput(spec) if spec.protocol == model::Protocol::Udp => {
            let sent = DatagramsSent { sent: 1000, ..DatagramsSent::default() };
            let came = DatagramsReceived { received: 1000 - (value * 1e3) as u64, ..DatagramsReceived::default() };
            Measured::Goodput { spec, result: goodput(5e9, Some(sent), Some(came)) }
        }
        ProbeSpec::Goodput(spec) => Measured::Goodput { spec, result: goodput(value * 1e9, None, None) },
        ProbeSpec::Path(spec) => {
            let leg = |mtu| Leg { mtu: Some(Mtu(mtu)), refusal: Refusal::Interface, routers: Some(0) };
            let (forward, reverse) = (leg(value as u32), leg(9000));
            Measured::Path { spec, result: PathResult { forward, reverse, devices: vec![], packets: 30, hops: vec![] } }
        }
        _ => unreachable!("the plan has no other probe"),
    }
}

fn goodput(bps: f64, sent: Option<DatagramsSent>, came: Option<DatagramsReceived>) -> GoodputResult {
    let received =
        GoodputReceived { counted_bytes: (bps / 8.0) as u64, counted_s: 1.0, datagrams: came, ..Default::default() };
    let sent = GoodputSent { datagrams: sent, ..GoodputSent::default() };
    GoodputResult { mtu: Mtu(1500), flows: vec![Flow { from: "a".into(), to: "b".into(), sent, received }] }
}

/// The figure of the only configuration.
fn figure(section: &str, theirs: &[f64], ours: &[f64], figure: Metric, tolerance: f64) -> FigureComparison {
    let comparison = compare(&run(section, theirs), &[run(section, ours)], tolerance);
    comparison.figures().find(|it| it.figure == figure).cloned().unwrap()
}

const TEN: [f64; 5] = [9.8, 9.9, 10.0, 10.1, 10.2];

fn near(value: Option<f64>, wanted: f64) -> bool {
    value.is_some_and(|value| (value - wanted).abs() < 1e-3)
}

#[test]
fn the_direction_of_the_figure_decides() {
    let twice = TEN.map(|value| value * 2.0);
    let rtt = |theirs: &[f64], ours: &[f64]| figure(LATENCY, theirs, ours, Metric::RttP50, 0.0).finding;
    assert_eq!(
        (rtt(&TEN, &twice), rtt(&twice, &TEN), rtt(&TEN, &TEN)),
        (Finding::Worse, Finding::Better, Finding::NoDifference)
    );
    let rate = |theirs: &[f64], ours: &[f64]| figure(TCP, theirs, ours, Metric::GoodputMean, 0.0).finding;
    assert_eq!(
        (rate(&TEN, &twice), rate(&twice, &TEN), rate(&TEN, &TEN)),
        (Finding::Better, Finding::Worse, Finding::NoDifference)
    );
}

#[test]
fn a_difference_is_a_share_of_the_reference_with_its_interval() {
    let twice = TEN.map(|value| value * 2.0);
    let worse = figure(LATENCY, &TEN, &twice, Metric::RttP50, 0.0);
    assert!(near(worse.difference, 1.0), "{worse:?}");
    let interval = worse.interval.unwrap();
    // The third smallest and the third largest of 25 ratios.
    assert!(near(interval.low, 2.0 * 9.9 / 10.2 - 1.0) && near(interval.high, 2.0 * 10.2 / 9.9 - 1.0), "{interval:?}");
    assert_eq!((worse.reference.trials, worse.reference.median, worse.run.median), (5, Some(10_000.0), Some(20_000.0)));
    assert_eq!(worse.trials_needed, None);
}

#[test]
fn too_few_trials_decide_nothing_and_say_how_many_would() {
    let few = figure(LATENCY, &TEN[..3], &[90.0; 3], Metric::RttP50, 0.0);
    assert_eq!((few.finding, few.interval, few.trials_needed), (Finding::NotDecidable, None, Some(4)));
    assert!(near(few.difference, 90.0 / 9.9 - 1.0) && !few.beyond_tolerance);
    assert_eq!(compare(&run(LATENCY, &TEN), &[run(LATENCY, &TEN[..2])], 0.0).conclusion, Conclusion::NotDecidable);
}

#[test]
fn only_what_is_worse_by_more_than_the_tolerance_counts() {
    let tenth_more = TEN.map(|value| value * 1.1);
    let conclusion = |tolerance| compare(&run(LATENCY, &TEN), &[run(LATENCY, &tenth_more)], tolerance).conclusion;
    assert_eq!(
        (conclusion(0.0), conclusion(0.05), conclusion(0.1)),
        (Conclusion::Worse, Conclusion::Worse, Conclusion::NothingWorse)
    );
    let tolerated = figure(LATENCY, &TEN, &tenth_more, Metric::RttP50, 0.1);
    assert_eq!((tolerated.finding, tolerated.beyond_tolerance), (Finding::Worse, false));
}

#[test]
fn missing_replies_leave_a_figure_open_and_may_show_that_it_is_worse_all_the_same() {
    let reference = run(LATENCY, &TEN);
    let mut lossy = run(LATENCY, &TEN);
    for trial in &mut lossy.trials {
        let Measured::Latency { result, .. } = &mut trial.measured else { panic!("planned") };
        // The 990th of 1000 is among those that never came.
        (result.lost, result.rtt_ns.p99) = (Some(20), None);
    }
    let comparison = compare(&reference, &[lossy.clone()], 0.0);
    let of = |wanted| comparison.figures().find(|it| it.figure == wanted).unwrap().clone();
    let p99 = of(Metric::RttP99);
    assert_eq!((p99.finding, p99.difference, p99.run.median), (Finding::Worse, None, None));
    let interval = p99.interval.unwrap();
    assert!(interval.low.unwrap() > 9e4 && interval.high.is_none(), "over a second instead of 10 µs: {interval:?}");
    assert_eq!(of(Metric::RttP50).finding, Finding::NoDifference);
    let loss = of(Metric::Loss);
    assert_eq!((loss.finding, loss.difference), (Finding::Worse, Some(0.02)));
    // The other way round it is better, and nobody can say by how much.
    let back = compare(&lossy, &[reference], 0.0);
    let p99 = back.figures().find(|it| it.figure == Metric::RttP99).unwrap();
    assert_eq!((p99.finding, p99.interval.unwrap().low), (Finding::Better, Some(-1.0)));
}

#[test]
fn loss_is_compared_in_points_and_only_where_something_was_lost() {
    let none = compare(&run(UDP, &[0.0; 4]), &[run(UDP, &[0.0; 4])], 0.0);
    assert!(none.figures().all(|figure| figure.figure != Metric::Loss));
    let more = figure(UDP, &[0.0; 4], &[0.02, 0.021, 0.022, 0.023], Metric::Loss, 0.01);
    assert!(more.finding == Finding::Worse && more.beyond_tolerance && near(more.difference, 0.0215), "{more:?}");
}

#[test]
fn a_tolerance_in_percent_tolerates_no_loss() {
    let lost = figure(UDP, &[0.0; 4], &[0.02; 4], Metric::Loss, 0.05);
    assert_eq!((lost.finding, lost.beyond_tolerance), (Finding::Worse, true));
}

#[test]
fn a_configuration_that_is_gone_leaves_the_comparison_undecided() {
    let both = run(&format!("{LATENCY}{TCP}"), &[]);
    let (mut reference, mut one) = (both.clone(), run(LATENCY, &TEN));
    one.plan = both.plan.clone();
    let trials = |section: &str| run(section, &TEN).trials;
    reference.trials = [trials(LATENCY), trials(TCP)].concat();
    assert_eq!(compare(&reference, &[one.clone()], 0.0).conclusion, Conclusion::NotDecidable);
    assert_eq!(compare(&one, &[reference], 0.0).conclusion, Conclusion::NothingWorse, "more than before is no loss");
}

#[test]
fn a_run_says_nothing_beside_itself() {
    let run = run(LATENCY, &TEN);
    assert_eq!(compare(&run, std::slice::from_ref(&run), 0.0).conclusion, Conclusion::NothingNew);
}

#[test]
fn a_smaller_path_mtu_is_worse_whatever_is_tolerated() {
    let smaller = figure(PATH, &[9000.0; 4], &[1500.0; 4], Metric::PathMtu, 0.99);
    assert_eq!((smaller.finding, smaller.difference, smaller.beyond_tolerance), (Finding::Worse, Some(-7500.0), true));
}

#[test]
fn nothing_that_arrives_is_worse_and_something_instead_of_nothing_better() {
    let nothing = [0.0; 4];
    let lost = figure(TCP, &TEN, &nothing, Metric::GoodputMean, 0.05);
    assert_eq!((lost.finding, lost.difference, lost.beyond_tolerance), (Finding::Worse, Some(-1.0), true));
    let found = figure(TCP, &nothing, &TEN, Metric::GoodputMean, 0.0);
    assert_eq!((found.finding, found.difference), (Finding::Better, None));
    assert_eq!(figure(TCP, &nothing, &nothing, Metric::GoodputMean, 0.0).finding, Finding::NoDifference);
}

#[test]
fn configurations_of_one_run_alone_are_listed() {
    let comparison = compare(&run(LATENCY, &TEN), &[run(TCP, &TEN), run(LATENCY, &TEN)], 0.0);
    let [other, same] = &comparison.runs[..] else { panic!("two runs") };
    assert_eq!((other.only_reference.len(), other.only_run.len(), other.configurations.len()), (1, 1, 0));
    assert_eq!((same.only_reference.len(), same.only_run.len(), same.configurations.len()), (0, 0, 1));
    assert_eq!(comparison.conclusion, Conclusion::NothingInCommon);
}

#[test]
fn what_changed_around_the_figures_is_named_and_what_is_new_each_time_is_not() {
    let place = |run: &mut Run, kernel: &str, mac: &str| {
        let interface = InterfaceFacts {
            mac: mac.into(),
            addresses: vec!["198.18.0.1/24".into(), format!("fe80::{mac}/64")],
            ..InterfaceFacts::default()
        };
        run.before.hosts = vec![HostFacts { kernel: kernel.into(), ..HostFacts::default() }];
        run.before.endpoints = vec![EndpointFacts { interfaces: vec![interface], ..EndpointFacts::default() }];
    };
    let (mut one, mut two) = (run(LATENCY, &TEN), run(LATENCY, &TEN));
    place(&mut one, "6.1", "aa");
    place(&mut two, "6.12", "bb");
    two.wireproof = "wireproof 0.2.0 (b)".into();
    two.plan.name = "other".into();
    two.plan.latency.clear();
    let changed = compare(&one, &[two.clone()], 0.0).runs.remove(0).changed;
    let expected = [
        r#"program: "wireproof 0.1.0 (a)" → "wireproof 0.2.0 (b)""#,
        r#"plan name: "t" → "other""#,
        r#"hosts 1 kernel: "6.1" → "6.12""#,
    ];
    assert_eq!(changed, expected);
    // A card's hardware address says that it is another card.
    (one.bed.simulated, two.bed.simulated) = (false, false);
    assert_eq!(compare(&one, &[two], 0.0).runs.remove(0).changed.len(), 5);
}
