use model::{
    Measured, Mtu, PacketRate, PacketsResult, PacketsSpec, Plan, fixture,
    plan::{Method, Section, Step},
    stream::{Rate, Stream},
};

use super::*;
use crate::{Course, planned};

const PLAN: &str = r#"
name = "t"
[[rfc2544]]
rate = "10 kpps..1 Mpps"
frame_sizes = [64, 512]
duration = "1 s"
latency_duration = "2 s"
latency_repeats = 3
latency_loads = ["50 %"]
burst_repeats = 2
"#;

fn plan(more: &str) -> Plan {
    Plan::parse(&format!("{PLAN}{more}"), &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// A device that forwards so many frames a second and holds so many in its buffer, and a sender that reaches so many.
#[derive(Clone, Copy)]
struct Bench {
    forwards: f64,
    holds: f64,
    reaches: f64,
}

const BENCH: Bench = Bench { forwards: 400e3, holds: 1000.0, reaches: 1e9 };

impl Bench {
    fn answer(self, step: &Step) -> Trial {
        let ProbeSpec::Packets(spec) = &step.spec else { panic!("{}", step.spec) };
        let Some(rate) = spec.rate() else { return Self::overloaded(step, spec) };
        let (asked, seconds) = (rate.0 as f64, spec.at_once().duration.as_secs_f64());
        let load = asked.min(self.reaches);
        let sent = (load * seconds).round();
        // A buffer that fills in the trial is no part of the rate.
        let holds = if seconds > 0.5 { 0.0 } else { self.holds };
        let lost = (sent - self.forwards * seconds - holds).max(0.0).round();
        let mut stream = fixture::packet_stream(sent as u64, (sent - lost) as u64);
        (stream.sent.intended_pps, stream.sent.seconds) = (Some(asked), seconds);
        let slow = Doubt::SenderTooSlow { intended: asked, achieved: load };
        let result = PacketsResult { mtu: Mtu(1500), streams: vec![stream] };
        let trial = fixture::trial(Measured::Packets { spec: spec.clone(), result });
        let doubts = if load < 0.99 * asked { vec![slow] } else { vec![] };
        Trial { origin: Some(step.origin()), repeat: step.repeat, duration_s: seconds, doubts, ..trial }
    }

    /// A trial with an overload, without loss.
    fn overloaded(step: &Step, spec: &PacketsSpec) -> Trial {
        let stream = |stream: &Stream| {
            let Rate::Packets(PacketRate(pps)) = stream.load.rate else { panic!("{}", stream.load) };
            let time = stream.load.time.unwrap_or(spec.duration).as_secs_f64();
            let mut counted = fixture::packet_stream((pps as f64 * time) as u64, (pps as f64 * time) as u64);
            (counted.sent.intended_pps, counted.sent.seconds) = (Some(pps as f64), time);
            counted
        };
        let result = PacketsResult { mtu: Mtu(1500), streams: spec.streams.iter().map(stream).collect() };
        let trial = fixture::trial(Measured::Packets { spec: spec.clone(), result });
        Trial { origin: Some(step.origin()), repeat: step.repeat, duration_s: spec.duration.as_secs_f64(), ..trial }
    }

    /// All trials of a plan.
    fn run(self, plan: &Plan) -> Vec<Trial> {
        let mut course = Course::of(plan, 1);
        let mut trials = Vec::new();
        while let Some(step) = course.ask() {
            let trial = self.answer(&step);
            course.took(Some(&trial));
            trials.push(trial);
            assert!(trials.len() < 1000, "it does not end");
        }
        trials
    }
}

/// Results of the only section.
fn results<'t>(plan: &Plan, trials: impl IntoIterator<Item = &'t Trial>) -> Vec<Tested<'t>> {
    let Section { method: Method::Rfc2544(planned), specs, .. } = plan.sections().remove(0) else { panic!("no tests") };
    tested(specs, 1, &planned, trials)
}

#[test]
fn each_size_goes_through_all_tests_and_each_rests_on_the_throughput() {
    let plan = plan("");
    let trials = BENCH.run(&plan);
    let all = results(&plan, &trials);
    assert_eq!(all.len(), 2);
    for tested in &all {
        let result = &tested.goals[0].result;
        let throughput = result.relevant_lower_bound.unwrap();
        assert!(result.irregular.is_none() && (398e3..=400e3).contains(&throughput), "{result:?}");
        assert_eq!(load(tested.at_throughput.unwrap()), Some(throughput));
        assert_eq!(tested.latency.len(), 3);
        assert!(tested.latency.iter().all(|trial| load(trial) == Some(throughput)));
        let [(share, half)] = tested.latency_loads[..] else { panic!("{:?}", tested.latency_loads) };
        assert_eq!((share, load(half)), (0.5, Some((throughput / 2.0).round())));
        assert!(tested.searched.len() > 1);
        assert_eq!((tested.max, tested.is_limited, tested.is_unlimited), (1_000_000, false, false));
    }
    let sizes: Vec<_> =
        trials.iter().filter_map(|trial| Some(trial.measured.probe().selectors().frame_size?.0)).collect();
    assert!(sizes.is_sorted() && sizes.contains(&512), "one size after the other");
}

#[test]
fn the_loss_test_goes_down_by_tenths_until_two_loads_are_without_loss() {
    let plan = plan("tests = [\"loss\"]");
    let trials = BENCH.run(&plan);
    let all = results(&plan, &trials);
    let shares: Vec<f64> = all[0].loss.iter().map(|(share, _)| *share).collect();
    assert_eq!(shares, [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3]);
    assert!(all[0].goals.is_empty() && all[0].latency.is_empty() && all[0].bursts.is_empty());
    let free = Bench { forwards: 1e9, ..BENCH }.run(&plan);
    assert_eq!(results(&plan, &free)[0].loss.len(), 2);
}

#[test]
fn the_longest_burst_is_what_the_buffer_takes_while_frames_are_forwarded() {
    let plan = plan("tests = [\"back-to-back\"]\nlongest_burst = \"400 ms\"");
    let trials = BENCH.run(&plan);
    let all = results(&plan, &trials);
    // At 1 Mpps 600 of 1000 frames wait: 1000 frames are held after 1667.
    let bursts = &all[0].bursts;
    assert!(bursts.len() == 2 && bursts.iter().all(|frames| (1630..=1670).contains(frames)), "{bursts:?}");
    assert_eq!(all[0].burst_trials.iter().map(|trial| lost(trial)).collect::<Vec<_>>(), [Some(0); 2]);
    let unlimited = Bench { forwards: 1e9, ..BENCH }.run(&plan);
    let all = results(&plan, &unlimited);
    assert_eq!((all[0].is_unlimited, all[0].bursts.as_slice(), unlimited.len()), (true, [400_000].as_slice(), 2));
}

#[test]
fn what_the_sender_reaches_is_the_highest_load_of_the_other_tests() {
    let slow = Bench { reaches: 300e3, ..BENCH };
    for more in ["", "tests = [\"loss\"]"] {
        let plan = plan(more);
        let trials = slow.run(&plan);
        for tested in results(&plan, &trials) {
            assert!(tested.is_limited && (297_000..=300_000).contains(&tested.max), "{}", tested.max);
            assert!(tested.loss.len() == 2 || tested.loss.len() == 3, "{:?}", tested.loss.len());
        }
    }
}

#[test]
fn the_tester_alone_searches_and_does_nothing_else() {
    let plan = plan("tests = [\"latency\", \"loss\"]");
    let mut course = Course::of_searches(&plan, 1);
    let mut loads = Vec::new();
    while let Some(step) = course.ask() {
        let trial = Bench { forwards: 1e9, ..BENCH }.answer(&step);
        loads.extend(load(&trial));
        course.took(Some(&trial));
    }
    assert!(loads.len() < 12 && loads.iter().all(|load| *load == 1e6), "{loads:?}");
    let no_search = self::plan("tests = [\"loss\"]");
    assert_eq!(Course::of_searches(&no_search, 1).ask(), None);
}

#[test]
fn a_ramp_comes_before_all_trials_but_bursts_and_overloads() {
    let plan = plan("ramp = \"200 ms\"");
    let trials = BENCH.run(&plan);
    let without = BENCH.run(&self::plan(""));
    let at_once = |trial: &Trial| {
        let ProbeSpec::Packets(spec) = trial.measured.spec() else { panic!("no packets") };
        (spec.at_once(), spec.ramp() == Nanos::default())
    };
    let steps: Vec<_> = trials.iter().map(at_once).collect();
    assert_eq!(
        steps.iter().map(|(spec, _)| spec).collect::<Vec<_>>(),
        without.iter().map(|trial| at_once(trial).0).collect::<Vec<_>>().iter().collect::<Vec<_>>(),
        "the same trials"
    );
    let all = results(&plan, &trials);
    let is_at_once = |trial: &&Trial| at_once(trial).1;
    for tested in &all {
        assert!(tested.burst_trials.iter().all(is_at_once) && tested.recovery.iter().all(is_at_once));
        let rising = tested.searched.iter().chain(&tested.latency).chain(tested.loss.iter().map(|(_, trial)| trial));
        assert!(rising.clone().count() > 10 && !rising.clone().any(&is_at_once));
    }
}

#[test]
fn a_sender_that_slows_down_ends_the_search() {
    let plan = plan("tests = [\"throughput\"]\nsearch = \"mlr\"");
    let mut course = Course::of(&plan, 1);
    let (mut bench, mut trials) = (Bench { reaches: 900e3, ..BENCH }, Vec::new());
    while let Some(step) = course.ask() {
        let trial = bench.answer(&step);
        course.took(Some(&trial));
        trials.push(trial);
        bench.reaches *= 0.97;
    }
    assert_eq!(trials.len(), 30, "both sizes");
    assert!(results(&plan, &trials).iter().all(|tested| tested.is_limited && tested.at_throughput.is_none()));
}

#[test]
fn latency_alone_searches_for_its_load() {
    let plan = plan("tests = [\"latency\"]\nsearch = \"binary\"");
    let trials = BENCH.run(&plan);
    let all = results(&plan, &trials);
    assert!(all.iter().all(|tested| tested.latency.len() == 3 && tested.goals.len() == 1 && tested.loss.is_empty()));
    let nothing = Bench { forwards: 0.0, holds: 0.0, ..BENCH }.run(&plan);
    let all = results(&plan, &nothing);
    assert!(all.iter().all(|tested| tested.latency.is_empty() && tested.at_throughput.is_none()));
}

#[test]
fn an_overload_is_followed_by_half_of_it_and_the_reset_is_at_the_first_size_alone() {
    let plan = plan("tests = [\"recovery\", \"reset\"]\nreset_duration = \"5 s\"");
    let trials = BENCH.run(&plan);
    let all = results(&plan, &trials);
    let throughput = all[0].goals[0].result.relevant_lower_bound.unwrap();
    let named = |trial: &Trial| -> Vec<String> {
        let ProbeSpec::Packets(spec) = trial.measured.spec() else { panic!("no packets") };
        let streams = spec.streams.iter().map(|stream| format!("{} {}", stream.name, stream.load));
        streams.chain([spec.duration.to_string()]).collect()
    };
    let half = PacketRate((throughput * 1.1 / 2.0).round() as u64);
    assert_eq!(
        named(all[0].recovery[0]),
        [format!("steady {half}"), format!("overload {half} for 1 s"), "2 s".to_owned()]
    );
    assert_eq!(all.iter().map(|tested| tested.recovery.len()).collect::<Vec<_>>(), [3, 3]);
    let rate = PacketRate(throughput as u64);
    assert_eq!(named(all[0].reset.unwrap()), [format!("reset {rate}"), "5 s".to_owned()]);
    assert!(all[1].reset.is_none() && all[0].latency.is_empty() && all[0].loss.is_empty());
    let nothing = Bench { forwards: 0.0, holds: 0.0, ..BENCH }.run(&plan);
    assert!(results(&plan, &nothing).iter().all(|tested| tested.recovery.is_empty() && tested.reset.is_none()));
}

#[test]
fn trials_that_fail_end_each_test_and_are_missing_in_the_results() {
    let plan = plan("");
    let mut course = Course::of(&plan, 1);
    let mut asked = 0;
    while course.ask().is_some() {
        course.took(None);
        asked += 1;
        assert!(asked < 200, "it does not end");
    }
    assert_eq!(results(&plan, &[]).len(), 1, "it ended in the first size");
    let trials = BENCH.run(&plan);
    let half = &trials[..trials.len() / 2];
    assert!(results(&plan, half)[0].at_throughput.is_some());
    let without_third: Vec<_> = trials[..2].iter().chain(&trials[3..]).collect();
    assert_eq!(results(&plan, without_third).len(), 2);
}

#[test]
fn a_trial_that_was_made_after_all_others_hides_none_of_them() {
    let plan = plan("");
    let mut course = Course::of(&plan, 1);
    let (mut kept, mut asked) = (Vec::<Trial>::new(), 0);
    while let Some(step) = course.ask() {
        asked += 1;
        let trial = Some(BENCH.answer(&step)).filter(|_| asked != 3);
        course.took(trial.as_ref());
        kept.extend(trial);
    }
    let mut resumed = Course::of(&plan, 1);
    while let Some(step) = resumed.ask() {
        let is_it = |trial: &&Trial| trial.origin == Some(step.origin()) && trial.measured.spec() == step.spec;
        let found = kept.iter().find(is_it).cloned();
        let trial = found.clone().unwrap_or_else(|| BENCH.answer(&step));
        resumed.took(Some(&trial));
        kept.extend(Some(trial).filter(|_| found.is_none()));
    }
    let whole = BENCH.run(&plan);
    assert!(kept.len() > whole.len(), "the second attempt is not asked for any more");
    assert_eq!(results(&plan, &kept), results(&plan, &whole));
}

/// Trials of a plan, of which those fail, or send no frame, whose number `fails`.
fn with_failed_bursts(plan: &Plan, fails: impl Fn(u32) -> bool, is_empty: bool) -> Vec<Trial> {
    let mut course = Course::of(plan, 1);
    let (mut trials, mut number) = (Vec::new(), 0);
    while let Some(step) = course.ask() {
        number += 1;
        let mut trial = BENCH.answer(&step);
        if fails(number)
            && let Measured::Packets { result, .. } = &mut trial.measured
        {
            (result.streams[0].sent.frames, result.streams[0].received.frames) = (0, 0);
        }
        let trial = Some(trial).filter(|_| is_empty || !fails(number));
        course.took(trial.as_ref());
        trials.extend(trial);
        assert!(number < 200, "it does not end");
    }
    trials
}

#[test]
fn a_burst_that_failed_is_no_burst_with_loss() {
    let plan = plan("tests = [\"back-to-back\"]\nlongest_burst = \"400 ms\"");
    let whole = BENCH.run(&plan);
    let expected = results(&plan, &whole)[0].bursts.clone();
    for is_empty in [false, true] {
        let again = with_failed_bursts(&plan, |number| number.is_multiple_of(4), is_empty);
        assert_eq!(results(&plan, &again)[0].bursts, expected, "each is repeated");
        let given_up = with_failed_bursts(&plan, |number| number <= 3, is_empty);
        assert_eq!(results(&plan, &given_up)[0].bursts, expected[1..], "the first search is given up");
    }
}

#[test]
fn a_burst_has_the_frames_that_were_sent() {
    let plan = plan("tests = [\"back-to-back\"]\nlongest_burst = \"400 ms\"");
    let trials = Bench { reaches: 500e3, forwards: 1e9, ..BENCH }.run(&plan);
    let all = results(&plan, &trials);
    assert_eq!((all[0].bursts.as_slice(), all[0].is_unlimited), ([200_000].as_slice(), true));
}

#[test]
fn one_longest_burst_without_loss_does_not_stand_for_the_others() {
    let plan = plan("tests = [\"back-to-back\"]\nlongest_burst = \"400 ms\"");
    let mut course = Course::of(&plan, 1);
    let mut trials = Vec::<Trial>::new();
    let is_longest = |trial: &Trial| trial.duration_s > 0.3;
    while let Some(step) = course.ask() {
        // The first longest burst loses frames, the second one does not.
        let trial = BENCH.answer(&step);
        let free = Bench { forwards: 1e9, ..BENCH }.answer(&step);
        let trial = if trials.iter().any(is_longest) && is_longest(&trial) { free } else { trial };
        course.took(Some(&trial));
        trials.push(trial);
    }
    let all = results(&plan, &trials);
    let [first, second] = all[0].bursts[..] else { panic!("{:?}", all[0].bursts) };
    assert!((1630..=1670).contains(&first) && second == 400_000 && !all[0].is_unlimited, "{first}, {second}");
}

#[test]
fn a_paused_sender_has_reached_what_it_sent() {
    let plan = plan("tests = [\"loss\"]");
    let mut course = Course::of(&plan, 1);
    let mut trials = Vec::new();
    while let Some(step) = course.ask() {
        let mut trial = Bench { reaches: 300e3, ..BENCH }.answer(&step);
        for doubt in &mut trial.doubts {
            if let Doubt::SenderTooSlow { intended, achieved } = *doubt {
                *doubt = Doubt::SenderPaused { intended, achieved };
            }
        }
        course.took(Some(&trial));
        trials.push(trial);
    }
    let all = results(&plan, &trials);
    assert_eq!((all[0].max, all[0].is_limited, all[0].loss.len()), (300_000, true, 2));
}

#[test]
fn a_search_whose_bounds_are_too_far_apart_has_no_throughput() {
    let plan = plan("tests = [\"throughput\", \"latency\"]\nsearch = \"binary\"");
    let mut course = Course::of(&plan, 1);
    let mut trials = Vec::new();
    while let Some(step) = course.ask() {
        // Between the ends all trials fail.
        let is_end = |trial: &Trial| load(trial).is_some_and(|load| load <= 1e4 || load >= 1e6);
        let trial = Some(BENCH.answer(&step)).filter(is_end);
        course.took(trial.as_ref());
        trials.extend(trial);
        assert!(trials.len() < 100, "it does not end");
    }
    let all = results(&plan, &trials);
    let result = &all[0].goals[0].result;
    assert_eq!((result.irregular, result.relevant_lower_bound), (Some(Irregular::TooWide), Some(1e4)));
    assert!(all[0].at_throughput.is_none() && all[0].latency.is_empty());
}

#[test]
fn latency_and_loss_count_only_where_the_sender_reached_the_load() {
    let plan = plan("tests = [\"latency\", \"loss\"]");
    let mut course = Course::of(&plan, 1);
    let (mut trials, mut late, mut loss) = (Vec::new(), 0, 0);
    while let Some(step) = course.ask() {
        let mut trial = BENCH.answer(&step);
        let is_latency = trial.duration_s == 2.0;
        (late, loss) = if is_latency { (late + 1, 0) } else { (late, loss + 1) };
        // The second latency trial is missed, and of the loss test the seventh rung: 0.4, which would be the first without loss.
        let is_missed = if is_latency { late == 2 } else { late == 4 && loss == 7 };
        if is_missed {
            trial.doubts.push(Doubt::SenderTooSlow { intended: 2.0, achieved: 1.0 });
        }
        course.took(Some(&trial));
        trials.push(trial);
    }
    let all = results(&plan, &trials);
    let shares: Vec<f64> = all[0].loss.iter().map(|(share, _)| *share).collect();
    assert_eq!((all[0].latency.len(), shares.len(), shares.last()), (2, 9, Some(&0.2)));
}

#[test]
fn about_as_many_trials_are_planned_as_a_device_takes() {
    let plan = plan("");
    let (planned, measured) = (planned(&plan, 1) as f64, BENCH.run(&plan).len() as f64);
    assert!((planned / measured - 1.0).abs() < 0.5, "{planned} of {measured}");
}
