use model::{
    BitRate, Direction, FrameSize, LimitOutcome, Match, Measured, Metric, Mtu, NotComparable, PayloadSize, Plan,
    Reference, Run, TimeSummary, TransferMethod, TransferResult, TransferSpec, Undecided, Verdict,
    plan::Bound,
    reference::{Condition, Difference, FigureMetric, Statistic},
};

use super::{Chosen, beside_references};
use crate::{
    judge,
    tests::{rtt, run, trials},
};

const REFERENCE: &str = r#"
id = "mine"
title = { en = "A card" }
kind = "tester"
[conditions]
simulated = false
protocol = "udp"
mtu = 1500
[[figures]]
metric = "half_rtt"
statistic = "mean"
value = "2 us"
conditions = { frame_size = 64, stack = "kernel" }
[[figures]]
metric = "half_rtt"
statistic = "mean"
value = "3 us"
conditions = { frame_size = 128 }
[[figures]]
metric = "goodput"
statistic = "mean"
value = "8 Gbit/s"
conditions = { protocol = "tcp", duration = "10 s" }
[[figures]]
metric = "goodput"
statistic = "mean"
value = "9 Gbit/s"
conditions = { protocol = "tcp", duration = "2 s" }
[[figures]]
metric = "packet_rate"
statistic = "reading"
value = "9 Mpps"
tx_and_rx = true
"#;

const PLAN: &str = r#"
name = "t"
repeats = 6
[[latency]]
protocol = "udp"
frame_sizes = [64]
[[goodput]]
protocol = "tcp"
duration = "2 s"
"#;

fn reference() -> Reference {
    Reference::parse(REFERENCE).unwrap()
}

/// Six repeats on hardware, with a mean RTT of 5 µs and 10 Gbit/s.
fn hardware(limits: &str) -> Run {
    let plan = Plan::parse(&format!("{PLAN}{limits}"), &[]).unwrap();
    let trials = trials(&plan, &vec![rtt(5, 100); 6], &[10.0; 6]);
    let mut run = run(&plan, &trials);
    run.bed.simulated = false;
    run
}

fn rows(run: &Run, reference: Reference, chosen: &Chosen) -> Vec<(f64, f64, Match)> {
    let comparisons = beside_references(run, &[reference], chosen);
    let rows = comparisons.into_iter().flat_map(|comparison| comparison.rows);
    rows.map(|row| (row.ours.median, row.deviation_percent, row.matches)).collect()
}

fn differs(condition: Condition, ours: Option<&str>, theirs: &str) -> Match {
    let difference = Difference { condition, ours: ours.map(str::to_owned), theirs: theirs.to_owned() };
    Match::Differs { conditions: vec![difference] }
}

#[test]
fn half_an_rtt_stands_beside_half_of_ours_and_the_figure_that_differs_least_is_taken() {
    let rows = rows(&hardware(""), reference(), &Chosen::Ordinary);
    assert_eq!(rows[0], (2_500.0, 25.0, Match::Comparable));
    assert_eq!(rows[1].0, 10e9);
    assert!((rows[1].1 - 11.111).abs() < 0.001 && rows[1].2 == Match::Comparable, "{:?}", rows[1]);
    assert_eq!(rows.len(), 2);
}

#[test]
fn the_spread_goes_with_the_figure() {
    let comparison = beside_references(&hardware(""), &[reference()], &Chosen::Ordinary).remove(0);
    let row = &comparison.rows[0];
    assert_eq!((row.metric, row.frame_size, row.ours.trials), (Metric::RttMean, Some(FrameSize(64)), 6));
    assert_eq!((row.ours.low, row.ours.high, row.ours.interval.unwrap().low), (2_500.0, 2_500.0, 2_500.0));
    assert_eq!(row.theirs.conditions.mtu.map(|mtu| mtu.0), Some(1500));
}

#[test]
fn what_is_not_compared_says_why() {
    let comparison = beside_references(&hardware(""), &[reference()], &Chosen::Ordinary).remove(0);
    let why: Vec<_> = comparison.not_compared.into_iter().map(|it| (it.why, it.figures)).collect();
    let frame = NotComparable::FrameSize { theirs: FrameSize(128) };
    assert_eq!(why, [(NotComparable::BetterFigure, 1), (frame, 1), (NotComparable::TxAndRx, 1)]);
}

#[test]
fn conditions_that_differ_are_named_with_both_values() {
    let mut run = hardware("");
    run.bed.endpoints[0].mtu = model::Mtu(1400);
    assert_eq!(rows(&run, reference(), &Chosen::Ordinary)[0].2, differs(Condition::Mtu, Some("1400"), "1500"));
    let mut run = hardware("");
    run.bed.wrap = vec!["onload".into()];
    assert_eq!(rows(&run, reference(), &Chosen::Ordinary)[0].2, differs(Condition::Stack, None, "kernel"));
    let mut linked = reference();
    linked.conditions.link_rate = Some(BitRate(10_000_000_000));
    let row = rows(&hardware(""), linked, &Chosen::Ordinary).remove(0);
    assert_eq!(row.2, differs(Condition::LinkRate, None, "10 Gbit/s"));
}

#[test]
fn a_file_stands_beside_one_that_was_moved_by_the_same_program() {
    let mut run = hardware("");
    run.trials.truncate(2);
    for (trial, method) in run.trials.iter_mut().zip([TransferMethod::FtpPut, TransferMethod::Nc]) {
        let spec = TransferSpec::new(method);
        let result = TransferResult {
            mtu: Mtu(1500),
            lacks: vec![],
            commands: [None, None],
            size: 1 << 20,
            arrived: 1 << 20,
            seconds: 1.0,
            verified: Some(true),
            tcp: vec![],
            kernel_tls: None,
            disks: None,
        };
        trial.measured = Measured::Transfer { spec, result: Box::new(result) };
    }
    let figure = |tool| {
        format!(
            "[[figures]]\nmetric = \"transfer\"\nstatistic = \"mean\"\nvalue = \"2 MiB/s\"\nconditions = {{ tool = \"{tool}\" }}\n"
        )
    };
    let head = "id = \"files\"\ntitle = { en = \"Files\" }\nkind = \"somebody\"\n";
    let source = Reference::parse(&format!("{head}{}{}", figure("ftp put"), figure("NFS"))).unwrap();
    assert_eq!(rows(&run, source.clone(), &Chosen::Ordinary), [(8_388_608.0, -50.0, Match::Comparable)]);
    let left_out = beside_references(&run, &[source], &Chosen::Ordinary).remove(0).not_compared;
    assert_eq!(left_out[0].why, NotComparable::Tool { theirs: "NFS".to_owned() });
    assert_eq!((left_out.len(), left_out[0].figures), (1, 1));
}

#[test]
fn a_simulated_run_stands_beside_hardware_only_when_asked() {
    let mut run = hardware("");
    run.bed.simulated = true;
    assert!(beside_references(&run, &[reference()], &Chosen::Ordinary).is_empty());
    assert!(beside_references(&run, &[reference()], &Chosen::None).is_empty());
    let named = Chosen::Named(vec!["mine".to_owned()]);
    for chosen in [Chosen::All, named] {
        let row = rows(&run, reference(), &chosen).remove(0);
        assert_eq!(row.2, differs(Condition::Simulated, Some("simulated"), "hardware"));
    }
    assert!(beside_references(&run, &[reference()], &Chosen::Named(vec!["other".to_owned()])).is_empty());
    let mut same_world = reference();
    same_world.conditions.simulated = Some(true);
    assert_eq!(rows(&run, same_world, &Chosen::All)[0].2, Match::Comparable);
}

#[test]
fn a_reference_without_a_fitting_figure_is_shown_only_when_asked_for() {
    let mut other = reference();
    other.conditions.protocol = None;
    other.figures.retain(|figure| figure.metric == FigureMetric::PacketRate);
    other.figures[0].tx_and_rx = false;
    assert!(beside_references(&hardware(""), &[other.clone()], &Chosen::Ordinary).is_empty());
    let comparison = beside_references(&hardware(""), &[other], &Chosen::All).remove(0);
    assert_eq!(comparison.not_compared[0].why, NotComparable::Metric { theirs: FigureMetric::PacketRate });
}

#[test]
fn a_mean_that_lost_replies_hide_is_not_compared() {
    let mut run = hardware("");
    let Measured::Latency { result, .. } = &mut run.trials[0].measured else { panic!("planned") };
    result.rtt_ns = TimeSummary { mean: None, ..result.rtt_ns.clone() };
    let comparison = beside_references(&run, &[reference()], &Chosen::Ordinary).remove(0);
    assert!(comparison.not_compared.iter().any(|it| it.why == NotComparable::Unknown { statistic: Statistic::Mean }));
}

#[test]
fn a_round_trip_without_a_size_stands_beside_nothing() {
    let mut sizes = reference();
    sizes.figures.truncate(1);
    sizes.figures[0].conditions.frame_size = None;
    let why = |sizes: &Reference| {
        let comparison = beside_references(&hardware(""), std::slice::from_ref(sizes), &Chosen::All).remove(0);
        comparison.not_compared.first().map(|it| it.why.clone())
    };
    assert_eq!(why(&sizes), Some(NotComparable::SizeNotStated));
    sizes.figures[0].conditions.payload_size = Some(PayloadSize(14));
    assert_eq!(why(&sizes), Some(NotComparable::PayloadSize { theirs: PayloadSize(14) }));
    sizes.figures[0].conditions.payload_size = Some(PayloadSize(18));
    assert_eq!(why(&sizes), None);
}

fn judged(run: &Run) -> LimitOutcome {
    judge(run, &[reference()]).remove(0)
}

const NEAR: &str = "[[limits]]\nmetric = \"rtt_mean\"\nreference = \"mine\"\nwithin = \"20 %\"";

#[test]
fn a_limit_from_a_reference_takes_the_figure_of_its_configuration() {
    let outcome = judged(&hardware(NEAR));
    // Twice 2 µs and a fifth.
    assert_eq!((outcome.bound, outcome.verdict), (Some(Bound::AtMost(4_800.0)), Verdict::Fail));
    let against = outcome.against.unwrap();
    assert_eq!((against.reference.as_str(), against.matches), ("mine", Match::Comparable));
    assert_eq!(judged(&hardware(&NEAR.replace("20", "30"))).verdict, Verdict::Pass);
    let rate = judged(&hardware(&NEAR.replace("rtt_mean", "goodput_mean")));
    assert_eq!((rate.bound, rate.verdict), (Some(Bound::AtLeast(7.2e9)), Verdict::Pass));
}

#[test]
fn a_limit_whose_reference_cannot_be_compared_is_not_comparable_and_says_why() {
    let why = |run: &Run| {
        let outcome = judged(run);
        assert_eq!((outcome.verdict, outcome.bound), (Verdict::NotComparable, None));
        match (outcome.against.unwrap().matches, outcome.undecided) {
            (Match::NotComparable { why }, Some(Undecided::NotComparable { because, .. })) if why == because => why,
            other => panic!("{other:?}"),
        }
    };
    let mut unmeasured = hardware(NEAR);
    unmeasured.trials.clear();
    unmeasured.bed.simulated = true;
    let outcome = judged(&unmeasured);
    assert_eq!((outcome.verdict, outcome.undecided), (Verdict::NotRun, Some(Undecided::NotMeasured)));
    let mut simulated = hardware(NEAR);
    simulated.bed.simulated = true;
    assert_eq!(why(&simulated), NotComparable::Simulated);
    assert_eq!(why(&hardware(&NEAR.replace("mine", "other"))), NotComparable::NoReference);
    let statistic = NotComparable::Statistic { theirs: Statistic::Mean };
    assert_eq!(why(&hardware(&NEAR.replace("rtt_mean", "rtt_p50"))), statistic);
}

#[test]
fn what_never_left_a_host_is_no_figure_of_a_network_even_for_a_simulated_bed() {
    let toml = include_str!("../../../../../references/82599-loopback-2020.toml");
    let loopback = Reference::parse(toml).unwrap();
    let limit = NEAR.replace("rtt_mean", "goodput_mean").replace("mine", &loopback.id);
    let mut run = hardware(&limit);
    run.bed.simulated = true;
    let outcome = judge(&run, std::slice::from_ref(&loopback)).remove(0);
    assert_eq!((outcome.verdict, outcome.bound), (Verdict::NotComparable, None));
    // The reason is the bed, and not what is odd about another figure of the source.
    let because = NotComparable::Simulated;
    assert_eq!(outcome.undecided, Some(Undecided::NotComparable { reference: loopback.id.clone(), because }));
    let comparison = beside_references(&run, &[loopback], &Chosen::All).remove(0);
    assert!(comparison.rows.iter().all(|row| !row.theirs.inside_host));
    assert!(comparison.not_compared.iter().any(|it| it.why == NotComparable::InsideHost));
}

#[test]
fn a_reference_that_names_no_offered_load_was_measured_flat_out() {
    let mut paced = hardware("");
    for trial in &mut paced.trials {
        if let Measured::Goodput { spec, .. } = &mut trial.measured {
            spec.rate = Some(BitRate(1_000_000_000));
        }
    }
    let matches = |run: &Run, reference| rows(run, reference, &Chosen::Ordinary).remove(1).2;
    assert_eq!(matches(&paced, reference()), differs(Condition::Offered, Some("1 Gbit/s"), "flat out"));
    let mut same_load = reference();
    same_load.conditions.offered = Some(BitRate(1_000_000_000));
    assert_eq!(matches(&paced, same_load.clone()), Match::Comparable);
    assert_eq!(matches(&hardware(""), same_load), differs(Condition::Offered, Some("flat out"), "1 Gbit/s"));
}

#[test]
fn data_both_ways_is_not_alike_to_what_was_published_of_one_way() {
    for toml in [
        include_str!("../../../../../references/82599-loopback-2020.toml"),
        include_str!("../../../../../references/rx2540-exanic-2015.toml"),
    ] {
        let reference = Reference::parse(toml).unwrap();
        let mut both = hardware("");
        for trial in &mut both.trials {
            if let Measured::Goodput { spec, .. } = &mut trial.measured {
                spec.direction = Direction::Both;
            }
        }
        let comparison = beside_references(&both, &[reference], &Chosen::Ordinary).remove(0);
        for row in comparison.rows.iter().filter(|row| row.theirs.metric == FigureMetric::Goodput) {
            let Match::Differs { conditions } = &row.matches else { panic!("{:?}", row.matches) };
            assert!(conditions.iter().any(|it| it.condition == Condition::Direction), "{conditions:?}");
        }
    }
}

#[test]
fn what_went_one_way_whichever_is_alike_either_way() {
    let toml = include_str!("../../../../../references/82599-loopback-2020.toml");
    let with = |direction| {
        let mut run = hardware("");
        for trial in &mut run.trials {
            if let Measured::Goodput { spec, .. } = &mut trial.measured {
                spec.direction = direction;
            }
        }
        let comparison = beside_references(&run, &[Reference::parse(toml).unwrap()], &Chosen::Ordinary).remove(0);
        let Match::Differs { conditions } = comparison.rows[0].matches.clone() else { panic!("no link rate is known") };
        conditions.into_iter().find(|it| it.condition == Condition::Direction).map(|it| (it.ours, it.theirs))
    };
    assert_eq!((with(Direction::Forward), with(Direction::Reverse)), (None, None));
    assert_eq!(with(Direction::Both), Some((Some("both".to_owned()), "one way".to_owned())));
}
