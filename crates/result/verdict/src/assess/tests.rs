use model::{
    Evidence, Measured, Mtu, PathResult, Plan, Source,
    trial::{Leg, PathDevice, Refusal},
};

use super::*;
use crate::tests::{run, trials};

const PLAN: &str = r#"
name = "t"
repeats = 3
[[latency]]
protocol = "udp"
frame_sizes = [64]
[[goodput]]
protocol = "tcp"
duration = "2 s"
"#;

/// A run of three trials of latency and three of goodput, numbered from 1, and the numbers of those of goodput.
fn measured() -> (Run, Vec<u32>) {
    let plan = Plan::parse(PLAN, &[]).unwrap();
    let mut trials = trials(&plan, &vec![Default::default(); 3], &[1.0; 3]);
    trials.iter_mut().zip(1..).for_each(|(trial, number)| trial.number = number);
    let goodput = trials.iter().filter(|trial| matches!(trial.measured, Measured::Goodput { .. }));
    let numbers = goodput.map(|trial| trial.number).collect();
    (run(&plan, &trials), numbers)
}

fn by(place: Place, cpu: usize) -> LimitedBy {
    let evidence = vec![Evidence::Core { cpu, busy: 98.7, softirq: 31.2, steal: 0.0 }];
    LimitedBy { place, endpoint: Some("b".into()), evidence }
}

fn assessments(run: &Run, of: impl Fn(&Trial) -> TrialAssessment) -> Vec<TrialAssessment> {
    run.trials.iter().map(of).collect()
}

#[test]
fn a_place_that_all_trials_name_stands_once_with_the_middle_trials_evidence() {
    let (run, numbers) = measured();
    let all = assessments(&run, |trial| TrialAssessment {
        limited_by: numbers.contains(&trial.number).then(|| by(Place::ReceiverCpu, trial.number as usize)),
        ..TrialAssessment::default()
    });
    let Limits { known, unknown, ways } = limited(&run, &all);
    assert_eq!((known.len(), ways), (1, 2));
    assert_eq!((&known[0].trials, known[0].of), (&numbers, 3));
    assert_eq!(known[0].by, by(Place::ReceiverCpu, numbers[1] as usize));
    assert_eq!(unknown.len(), run.trials.len() - 3);
}

#[test]
fn places_that_differ_stand_with_their_counts_and_what_is_not_known_with_the_others() {
    let (run, numbers) = measured();
    let all = assessments(&run, |trial| {
        let limited_by = match numbers.iter().position(|number| *number == trial.number) {
            Some(0) => by(Place::Window, 0),
            Some(_) => by(Place::ReceiverCpu, 0),
            None => LimitedBy { place: Place::NotKnown, endpoint: None, evidence: vec![] },
        };
        TrialAssessment { limited_by: Some(limited_by), ..TrialAssessment::default() }
    });
    let Limits { known, unknown, .. } = limited(&run, &all);
    let places: Vec<_> = known.iter().map(|row| (row.by.place, row.trials.len())).collect();
    assert_eq!(places, [(Place::ReceiverCpu, 2), (Place::Window, 1)]);
    assert_eq!(unknown.len(), run.trials.len() - 3);
}

/// A run of six trials of a path whose interfaces take 9000 bytes, of which these pass.
fn path(passes: u32) -> Run {
    let plan = "name = \"t\"\nrepeats = 6\n[[path]]\nip = 4\n[[limits]]\nmetric = \"path_mtu\"\nat_least = \"9001\"\n";
    let plan = Plan::parse(plan, &[]).unwrap();
    let device = |host: &str| PathDevice {
        host: host.to_owned(),
        name: "eth0".to_owned(),
        kind: String::new(),
        mtu: Mtu(9000),
        master: None,
        on_path: true,
    };
    let leg = || Leg {
        mtu: Some(Mtu(passes)),
        refusal: Refusal::Silent { last_router: None, routers_answer: None },
        routers: None,
    };
    let result = || PathResult {
        forward: leg(),
        reverse: leg(),
        devices: vec![device("a"), device("b")],
        packets: 30,
        hops: vec![],
    };
    let measured = |spec: ProbeSpec| match spec {
        ProbeSpec::Path(spec) => Measured::Path { spec, result: result() },
        other => panic!("{other}"),
    };
    let steps = procedure::steps(&plan, 1).into_iter();
    let trials: Vec<Trial> = steps.map(|step| model::fixture::trial(measured(step.spec))).collect();
    run(&plan, &trials)
}

#[test]
fn a_path_is_limited_by_its_mtu_which_is_shown_where_it_is_too_small_and_mended_where_a_criterion_fails() {
    for (passes, shown) in [(9000, 0), (1500, 1)] {
        let Assessment { limited, page_one, trials, .. } = assess(&path(passes), &[], &Chosen::None);
        let limit = trials[0].limited_by.as_ref().unwrap();
        assert_eq!(
            (limit.place, &limit.evidence[0]),
            (Place::PathMtu, &Evidence::PathMtu { mtu: 9000, path_mtu: passes })
        );
        assert_eq!((limited.len(), page_one.main_limit.map_or(0, |it| it.of)), (shown, shown));
        assert_eq!(page_one.failed_by, [(Place::PathMtu, None)]);
    }
}

#[test]
fn losses_of_one_place_are_added_up_with_their_counters() {
    let (run, numbers) = measured();
    let delta = |delta| Delta { source: Source::Snmp, of: "Udp".into(), name: "RcvbufErrors".into(), delta };
    let at = |endpoint: &str, packets| LossAt {
        place: Place::ReceiverSocket,
        endpoint: Some(endpoint.into()),
        packets,
        shown_by: vec![delta(packets)],
    };
    let all = assessments(&run, |trial| TrialAssessment {
        losses: if numbers.contains(&trial.number) { vec![at("b", 5), at("a", 1)] } else { vec![] },
        ..TrialAssessment::default()
    });
    let losses = losses(&run, &all);
    assert_eq!(losses.len(), 1);
    assert_eq!(losses[0].1, [at("b", 15), at("a", 3)]);
}

#[test]
fn flows_of_one_trial_are_judged_one_by_one() {
    let (run, numbers) = measured();
    let flow = |from: &str, to: &str, place| FlowAssessment {
        from: from.into(),
        to: to.into(),
        limited_by: Some(by(place, 0)),
        ..FlowAssessment::default()
    };
    let both = || vec![flow("a", "b", Place::SenderCpu), flow("b", "a", Place::ReceiverCpu)];
    let all = assessments(&run, |trial| TrialAssessment {
        flows: if numbers.contains(&trial.number) { both() } else { vec![] },
        ..TrialAssessment::default()
    });
    let known = limited(&run, &all).known;
    let rows: Vec<_> = known.iter().map(|row| (row.way.clone().unwrap().0, row.by.place)).collect();
    assert_eq!(rows, [("a".to_owned(), Place::SenderCpu), ("b".to_owned(), Place::ReceiverCpu)]);
}
