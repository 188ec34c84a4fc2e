use model::{Evidence, Identity, LimitedBy, Metric, Plan, Reference, TimeSummary};

use super::*;
use crate::{
    Chosen, assess,
    tests::{medians, rtt, run, trials},
};

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

const FAST: [f64; 6] = [9.0, 9.1, 9.2, 9.3, 9.4, 9.5];

/// A run with six trials of latency, of 5 to 10 µs, and of goodput, of 9 to 9.5 Gbit/s, and these limits.
fn measured(limits: &str) -> Run {
    let plan = Plan::parse(&format!("{PLAN}{limits}"), &[]).unwrap();
    run(&plan, &trials(&plan, &medians([5, 6, 7, 8, 9, 10]), &FAST))
}

fn first(run: &Run) -> PageOne {
    assess(run, &[] as &[Reference], &Chosen::None).page_one
}

fn limit(metric: &str, rest: &str) -> String {
    format!("[[limits]]\nmetric = \"{metric}\"\n{rest}\n")
}

/// The metric of each figure, and whether it has a limit.
fn shown(run: &Run) -> Vec<(Metric, bool)> {
    let metric = |it: &KeyFigure| match it {
        KeyFigure::Judged(index) => (assess(run, &[], &Chosen::None).outcomes[*index].limit.metric, true),
        KeyFigure::Free(free) => (free.metric, false),
    };
    first(run).key_figures.iter().map(metric).collect()
}

#[test]
fn verdicts_are_counted_and_each_reason_is_given_once() {
    let nine = "at_most = \"9 us\"";
    let limits = [
        limit("rtt_p50", "at_most = \"10 us\""),
        limit("rtt_p99", nine),
        limit("rtt_p90", nine),
        limit("rtt_p999", nine),
        limit("rtt_p50", "reference = \"nobody\"\nwithin = \"20 %\""),
        limit("goodput_mean", "at_least = \"20 Gbit/s\""),
    ];
    let mut run = measured(&limits.concat());
    run.identity = Some(Identity::parse("[[item]]\nwhat = \"cable labelled\"\n").unwrap());
    let page = first(&run);
    assert_eq!(page.tally, Tally { pass: 1, fail: 1, undecided: 5 });
    assert_eq!(page.tally.all(), 7);
    assert_eq!(page.undecided[0], (Undecided::Straddles, 2));
    assert!(page.undecided.contains(&(Undecided::FewSamples, 1)));
    assert!(page.undecided.contains(&(Undecided::NotChecked, 1)));
    assert_eq!(page.undecided.iter().map(|(_, count)| count).sum::<usize>(), 5);
}

#[test]
fn the_plan_chooses_the_key_figures() {
    let key = |rest: &str| format!("{rest}\nkey = true");
    let limits = [
        limit("rtt_p50", "at_most = \"10 us\""),
        limit("rtt_p90", &key("at_most = \"1 s\"")),
        limit("goodput_min", &key("at_least = \"1 Gbit/s\"")),
        limit("goodput_max", &key("at_least = \"1 Gbit/s\"")),
    ];
    let run = measured(&limits.concat());
    let chosen = [Metric::RttP90, Metric::GoodputMin, Metric::GoodputMax].map(|metric| (metric, true));
    assert_eq!(shown(&run), chosen);
    let run = measured(
        &[limit("rtt_p90", &key("at_most = \"1 s\"")), limit("goodput_min", "at_least = \"1 Gbit/s\"")].concat(),
    );
    assert_eq!(shown(&run)[..2], chosen[..2], "what it did not choose stands there until there are enough");
}

#[test]
fn a_failure_stands_there_beside_the_plans_choice_and_each_chosen_limit_once_before_any_twice() {
    let sizes: Vec<String> = (0..6).map(|step| (64 + step).to_string()).collect();
    let plan = PLAN.replace("[64]", &format!("[{}]", sizes.join(", ")));
    let limits = [
        limit("rtt_p50", "at_most = \"1 s\"\nkey = true"),
        limit("goodput_max", "at_least = \"1 Gbit/s\"\nkey = true"),
        limit("goodput_mean", "at_least = \"20 Gbit/s\""),
    ];
    let plan = Plan::parse(&format!("{plan}{}", limits.concat()), &[]).unwrap();
    // The third size is the slowest.
    let rtts: Vec<TimeSummary> = (0..36).map(|trial| rtt(if trial % 6 == 2 { 30 } else { 10 }, 100)).collect();
    let run = run(&plan, &trials(&plan, &rtts, &FAST));
    let of = |metric| shown(&run).iter().filter(|it| **it == (metric, true)).count();
    let counts = [Metric::RttP50, Metric::GoodputMax, Metric::GoodputMean].map(of);
    assert_eq!((counts, shown(&run).len()), ([3, 1, 1], 5));
    assert!(first(&run).key_figures.contains(&KeyFigure::Judged(2)), "the slowest: {:?}", first(&run).key_figures);
}

#[test]
fn without_a_choice_the_worst_of_each_metric_stands_there_and_the_rest_is_filled_up() {
    let limits = [limit("rtt_p50", "at_most = \"10 us\""), limit("rtt_p50", "at_most = \"1 us\"")];
    let run = measured(&limits.concat());
    assert_eq!(shown(&run), [(Metric::RttP50, true), (Metric::GoodputMean, false)]);
    assert_eq!(first(&run).key_figures[0], KeyFigure::Judged(1), "the one that failed");
    assert_eq!(shown(&measured("")), [(Metric::RttP50, false), (Metric::GoodputMean, false)]);
}

#[test]
fn of_many_failures_five_stand_there_before_all_that_passed() {
    let names = ["rtt_min", "rtt_p50", "rtt_p90", "rtt_p99", "rtt_max", "rtt_mean", "goodput_mean"];
    let bound = |name: &&str| if name.starts_with("rtt") { "at_most = \"1 ns\"" } else { "at_least = \"1 Gbit/s\"" };
    let run = measured(&names.iter().map(|name| limit(name, bound(name))).collect::<String>());
    let metrics = shown(&run);
    assert_eq!(metrics.len(), 5);
    assert!(!metrics.contains(&(Metric::GoodputMean, true)), "{metrics:?}");
}

#[test]
fn the_first_configuration_of_each_kind_stands_for_it() {
    let sizes = PLAN.replace("[64]", "[64, 1518]");
    let plan = Plan::parse(&sizes, &[]).unwrap();
    let rtts: Vec<TimeSummary> = (0..12).map(|trial| rtt(if trial % 2 == 0 { 20 } else { 10 }, 100)).collect();
    let run = run(&plan, &trials(&plan, &rtts, &FAST));
    let KeyFigure::Free(free) = &first(&run).key_figures[0] else { panic!("no limits") };
    assert_eq!((free.median, free.spec.to_string().as_str()), (20_000.0, "latency UDP IPv4 spin 64 B"));
}

#[test]
fn the_best_load_of_a_ladder_stands_for_it() {
    let packets = "[[packets]]\nframe_sizes = [64]\nduration = \"1 s\"\n";
    let plan = format!("name = \"t\"\n{packets}rate = \"1 Mpps..3 Mpps step 1 Mpps\"\n{packets}");
    let specs = Plan::parse(&plan, &[]).unwrap().specs();
    let figure = |(spec, median)| FreeFigure {
        spec,
        from: None,
        metric: Metric::ForwardingRate,
        median,
        interval: None,
        load_reached: None,
    };
    let kind: Vec<FreeFigure> = specs.into_iter().zip([1e6, 2e6, 1.5e6, 9e6]).map(figure).collect();
    assert_eq!(kind.len(), 4);
    assert_eq!(main_figure(kind.clone()).map(|it| it.median), Some(2e6));
    let [one_load, _, _, flat_out] = <[FreeFigure; 4]>::try_from(kind).unwrap();
    assert_eq!(main_figure(vec![one_load, flat_out]).map(|it| it.median), Some(9e6), "one load is no ladder");
}

#[test]
fn a_doubt_about_no_key_figure_counts_for_less() {
    let plan = Plan::parse(&PLAN.replace("[64]", "[64, 1518]"), &[]).unwrap();
    let rtts: Vec<TimeSummary> = (0..12).map(|_| rtt(10, 100)).collect();
    let mut run = run(&plan, &trials(&plan, &rtts, &FAST));
    let is_large = |trial: &&mut Trial| trial.measured.spec().to_string().ends_with("1518 B");
    let large = run.trials.iter_mut().find(is_large).unwrap();
    large.doubts.push(Doubt::BehindSchedule { behind_ns: 9_000, rtt_ns: 10_000 });
    assert!(matches!(first(&run).worst_doubt, Some(Doubt::BehindSchedule { .. })), "there is no other");
    run.doubts.push(Doubt::OtherLoad { cpu: 0, percent: 79.0, machine: String::new() });
    assert!(matches!(first(&run).worst_doubt, Some(Doubt::OtherLoad { .. })), "of the whole run");
    let large = run.trials.iter_mut().find(is_large).unwrap();
    large.doubts.push(Doubt::CountersDisagree { sent: 2, received: 1 });
    assert!(
        matches!(first(&run).worst_doubt, Some(Doubt::CountersDisagree { .. })),
        "the figure may be of another path"
    );
}

#[test]
fn a_figure_whose_sender_missed_its_load_says_so() {
    let mut run = measured(&limit("rtt_p50", "at_most = \"10 us\""));
    let reached = |run: &Run| {
        let assessment = assess(run, &[], &Chosen::None);
        let reached = |it: &KeyFigure| match it {
            KeyFigure::Judged(index) => assessment.outcomes[*index].load_reached,
            KeyFigure::Free(free) => free.load_reached,
        };
        assessment.page_one.key_figures.iter().map(reached).collect::<Vec<_>>()
    };
    assert_eq!(reached(&run), [None, None]);
    // The first trial of latency, and all of goodput.
    let is_goodput = |trial: &Trial| trial.measured.spec().to_string().starts_with("goodput");
    let shares = [0.5, 0.9];
    for (share, trial) in shares.iter().cycle().zip(run.trials.iter_mut().filter(|trial| is_goodput(trial))) {
        trial.doubts.push(Doubt::SenderTooSlow { intended: 10.0, achieved: 10.0 * share });
    }
    run.trials[0].doubts.push(Doubt::SenderPaused { intended: 4.0, achieved: 3.0 });
    assert_eq!(reached(&run), [Some(0.75), Some(0.5)]);
}

#[test]
fn the_gravest_doubt_comes_before_the_most_frequent() {
    let mut run = measured("");
    assert_eq!(first(&run).worst_doubt, None);
    run.doubts.push(Doubt::Unprivileged);
    assert_eq!(first(&run).worst_doubt, Some(Doubt::Unprivileged));
    for trial in &mut run.trials {
        trial.doubts.push(Doubt::Steal { percent: 3.0 });
    }
    assert_eq!(first(&run).worst_doubt, Some(Doubt::Steal { percent: 3.0 }));
    run.trials[2].doubts.push(Doubt::CountersDisagree { sent: 2, received: 1 });
    assert_eq!(first(&run).worst_doubt, Some(Doubt::CountersDisagree { sent: 2, received: 1 }));
}

fn row(frame_size: u32, place: Place, endpoint: &str) -> Limited {
    let plan = Plan::parse(&PLAN.replace("[64]", &format!("[{frame_size}]")), &[]).unwrap();
    let evidence = vec![Evidence::NothingRead];
    let by = LimitedBy { place, endpoint: Some(endpoint.to_owned()), evidence };
    Limited { spec: plan.specs()[0].clone(), way: None, by, trials: vec![1], of: 1 }
}

#[test]
fn one_place_is_named_for_the_whole_run() {
    let place = |rows: &[Limited]| main_limit(rows, 4).map(|it| (it.place, it.endpoint, it.count, it.of));
    let at = |place, count| Some((place, Some("b".to_owned()), count, 4));
    let rows = [row(64, Place::IntendedLoad, "b"), row(128, Place::IntendedLoad, "b"), row(256, Place::Window, "b")];
    assert_eq!(place(&rows), at(Place::Window, 1), "a load that was reached says nothing of the path");
    assert_eq!(place(&rows[..2]), at(Place::IntendedLoad, 2));
    let both = main_limit(&[row(64, Place::Window, "b"), row(128, Place::SenderCpu, "a")], 4).unwrap();
    assert_eq!((both.place, both.count, both.also), (Place::Window, 1, vec![(Place::SenderCpu, Some("a".to_owned()))]));
    let one = main_limit(&rows, 4).unwrap();
    assert_eq!(one.also, [], "a load that was reached is no place to name beside one");
    // The first place of one configuration counts.
    assert_eq!(place(&[row(64, Place::ReceiverCpu, "b"), row(64, Place::Window, "b")]), at(Place::ReceiverCpu, 1));
    assert_eq!(place(&[]), Some((Place::NotKnown, None, 0, 4)));
    assert_eq!(main_limit(&[], 0), None, "a path alone has no limit");
}

#[test]
fn places_to_mend_are_those_of_failed_criteria() {
    let run = measured(&limit("rtt_p50", "at_most = \"1 us\""));
    let outcomes = assess(&run, &[], &Chosen::None).outcomes;
    let of_goodput = Limited { spec: run.plan.specs()[1].clone(), ..row(64, Place::Window, "a") };
    let rows = |place: Place| [row(64, place, "b"), of_goodput.clone()];
    assert_eq!(outcomes[0].verdict, Verdict::Fail);
    assert_eq!(failed_by(&run, &outcomes, &rows(Place::ReceiverCpu)), [(Place::ReceiverCpu, Some("b".to_owned()))]);
    assert_eq!(failed_by(&run, &outcomes, &rows(Place::IntendedLoad)), [], "a load that was reached");
    let passed = LimitOutcome { verdict: Verdict::Pass, ..outcomes[0].clone() };
    assert_eq!(failed_by(&run, &[passed], &rows(Place::ReceiverCpu)), []);
}
