use model::{
    LatencyResult, Measured, Nanos, PacketsResult, PacketsSpec, PathResult, Plan, Trial, fixture,
    search::Goal,
    trial::{DatagramsReceived, DatagramsSent, Leg, Refusal},
};
use proptest::prelude::*;

use super::*;
use crate::ladder::Ladder;

const PLAN: &str = r#"
name = "t"
repeats = 2
[[latency]]
protocol = "udp"
frame_sizes = [64, 1518]
[[goodput]]
protocol = "tcp"
duration = "2 s"
"#;

const SEARCH: &str = r#"
name = "t"
repeats = 2
[[packets]]
frame_sizes = [64, 128]
duration = "60 s"
rate = "10 kpps..10 Mpps"
search = "mlr"
mtus = [9000]
"#;

/// Searches of probes that have their rates in bits and in transactions a second.
const RATES: &str = r#"
name = "t"
[[goodput]]
protocol = "udp"
duration = "10 s"
rate = "10 kbit/s..10 Mbit/s"
search = "mlr"
[[transactions]]
kind = "rr"
duration = "10 s"
rate = "10 ktps..10 Mtps"
search = "binary"
"#;

const LADDER: &str = r#"
name = "t"
repeats = 2
[[packets]]
frame_sizes = [64, 128]
duration = "1 s"
rate = "1 Mpps..3 Mpps step 1 Mpps"
mtus = [9000]
"#;

fn plan(toml: &str) -> Plan {
    Plan::parse(toml, &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn shown(plan: &Plan, senders: usize) -> Vec<String> {
    let show = |step: model::plan::Step| {
        format!("{} {} {:?} {}#{}", step.procedure, step.spec, step.senders, step.repeat, step.attempt)
    };
    steps(plan, senders).into_iter().map(show).collect()
}

#[test]
fn repeats_go_round_the_whole_list() {
    assert_eq!(
        shown(&plan(PLAN), 1),
        [
            "latency.1 latency UDP IPv4 spin 64 B 0..1 1#1",
            "latency.1 latency UDP IPv4 spin 1518 B 0..1 1#1",
            "goodput.1 goodput TCP IPv4 1 stream 0..1 1#1",
            "latency.1 latency UDP IPv4 spin 64 B 0..1 2#1",
            "latency.1 latency UDP IPv4 spin 1518 B 0..1 2#1",
            "goodput.1 goodput TCP IPv4 1 stream 0..1 2#1",
        ]
    );
    assert_eq!(planned(&plan(PLAN), 1), 6);
}

#[test]
fn senders_share_what_loads_the_receiver_and_take_turns_in_the_rest() {
    let shown = shown(&plan(&PLAN.replace("repeats = 2", "").replace(", 1518", "")), 2);
    assert_eq!(
        shown,
        [
            "latency.1 latency UDP IPv4 spin 64 B 0..1 1#1",
            "latency.1 latency UDP IPv4 spin 64 B 1..2 1#1",
            "goodput.1 goodput TCP IPv4 1 stream 0..2 1#1",
        ]
    );
}

#[test]
fn a_configuration_that_is_asked_for_again_is_another_attempt() {
    let proofs: Vec<_> = shown(&plan(LADDER), 1).into_iter().filter(|step| step.contains("path")).collect();
    assert_eq!(proofs.len(), 12);
    assert_eq!(proofs[0], "packets.1 path IPv4 MTU 9000 0..1 1#1");
    assert_eq!(proofs[5], "packets.1 path IPv4 MTU 9000 0..1 1#6");
    assert_eq!(proofs[6], "packets.1 path IPv4 MTU 9000 0..1 2#1");
}

#[test]
fn what_is_left_counts_all_repeats_and_shrinks_with_each_trial() {
    let mut course = Course::of(&plan(PLAN), 1);
    for left in (1..=6).rev() {
        let step = course.ask().unwrap();
        assert_eq!((course.ask().unwrap(), course.number()), (step, 7 - left));
        assert_eq!(course.remaining(|_| 2.0), Remaining { trials: left as usize, seconds: 2.0 * f64::from(left) });
        course.took(None);
    }
    assert_eq!((course.ask(), course.remaining(|_| 2.0)), (None, Remaining::default()));
}

/// A rung that loses ends the flight; the flight of the next frame size begins at its first rung.
#[test]
fn each_step_of_a_ladder_knows_its_highest_load() {
    let highest = |toml: &str| -> Vec<Option<String>> {
        let plan = plan(&toml.replace("repeats = 2", "repeats = 1"));
        let measured = steps(&plan, 1).into_iter().filter(|step| step.spec.probe().without_load().is_some());
        measured.map(|step| plan.highest_load(&step).map(|spec| spec.to_string())).collect()
    };
    let of = |size: u32| Some(format!("packets IPv4 {size} B at 3 Mpps MTU 9000"));
    assert_eq!(highest(LADDER), [[of(64), of(64), of(64)], [of(128), of(128), of(128)]].concat());
    assert!(highest(SEARCH).iter().all(Option::is_none), "a search has loads of its own");
    assert!(highest(PLAN).iter().all(Option::is_none));
}

#[test]
fn a_ladder_may_stop_where_a_trial_says_so() {
    let configurations = |toml: &str| -> Vec<Configuration> {
        let specs = plan(toml).specs().into_iter();
        specs.map(|spec| Configuration { spec, senders: 0..1 }).collect()
    };
    let asked = |climbs: fn(&[PastTrial]) -> bool| {
        let ladder: Box<dyn Procedure> = Box::new(Ladder::new(configurations(LADDER), climbs));
        let mut course = Course::new([("packets.1".to_owned(), ladder)], 1);
        let mut asked = Vec::new();
        while let Some(step) = course.ask() {
            course.took(Some(&answer(&step, 1_500_000.0)));
            asked.extend(Some(step.spec.to_string()).filter(|spec| spec.starts_with("packets")));
        }
        asked
    };
    assert_eq!(asked(|_| true).len(), 6);
    let load = |size: u32, load: u32| format!("packets IPv4 {size} B at {load} Mpps MTU 9000");
    let until_loss = asked(|rung| !rung.iter().any(loses));
    assert_eq!(until_loss, [load(64, 1), load(64, 2), load(128, 1), load(128, 2)]);
}

/// The highest rate without loss, by halving: the next rate depends on the trials so far.
#[derive(Debug)]
struct Halving {
    spec: PacketsSpec,
    rounds: usize,
}

impl Procedure for Halving {
    fn next(&self, past: &[PastTrial]) -> Next {
        if past.len() == self.rounds {
            return Next::End(Reason::AllAsked);
        }
        let (mut low, mut high) = (0.0, 8e6);
        for past in past {
            let bound = if loses(past) { &mut high } else { &mut low };
            *bound = rate(&past.configuration.spec);
        }
        let mut spec = self.spec.clone();
        spec.streams[0].load = format!("{} pps", (low + high) / 2.0).parse().unwrap();
        Next::Measure(Configuration { spec: ProbeSpec::Packets(spec), senders: 0..1 }, Reason::Rung)
    }

    fn expected(&self, past: &[PastTrial]) -> Vec<Configuration> {
        let any = Configuration { spec: ProbeSpec::Packets(self.spec.clone()), senders: 0..1 };
        vec![any; self.rounds - past.len()]
    }
}

fn rate(spec: &ProbeSpec) -> f64 {
    match spec {
        ProbeSpec::Packets(spec) => match spec.streams[0].load.rate {
            model::stream::Rate::Packets(rate) => rate.0 as f64,
            _ => f64::INFINITY,
        },
        _ => 0.0,
    }
}

fn loses(past: &PastTrial) -> bool {
    match past.trial.as_deref().map(|trial| &trial.measured) {
        Some(Measured::Packets { result, .. }) => result.streams.iter().any(|stream| stream.lost() > 0),
        _ => false,
    }
}

/// The whole trial of a step, on a path that carries so many packets a second.
fn answer(step: &model::plan::Step, carried: f64) -> Trial {
    let measured = match &step.spec {
        ProbeSpec::Packets(spec) => {
            let asked = Some(rate(&step.spec)).filter(|rate| rate.is_finite());
            let sent = asked.unwrap_or(carried);
            let mut stream = fixture::packet_stream(sent as u64, sent.min(carried) as u64);
            stream.sent.intended_pps = asked;
            let result = PacketsResult { mtu: model::Mtu(1500), streams: vec![stream] };
            Measured::Packets { spec: spec.clone(), result }
        }
        ProbeSpec::Latency(spec) => Measured::Latency { spec: spec.clone(), result: Box::<LatencyResult>::default() },
        ProbeSpec::Goodput(spec) => {
            let flows = spec.rate.map(|rate| flow(rate.0, carried)).into_iter().collect();
            let result = model::GoodputResult { mtu: model::Mtu(1500), flows };
            Measured::Goodput { spec: spec.clone(), result }
        }
        ProbeSpec::Path(spec) => {
            let leg = Leg { mtu: spec.mtu, refusal: Refusal::Largest, routers: None };
            let result = PathResult { forward: leg.clone(), reverse: leg, devices: vec![], packets: 9, hops: vec![] };
            Measured::Path { spec: spec.clone(), result }
        }
        ProbeSpec::Transactions(spec) => {
            let scheduled = spec.rate.map(|rate| rate.0).unwrap_or_default();
            let mut result =
                model::TransactionsResult { completed: scheduled.min(carried as u64), ..Default::default() };
            result.response_ns.n = scheduled;
            Measured::Transactions { spec: spec.clone(), result: Box::new(result) }
        }
        ProbeSpec::Forwarding(_) | ProbeSpec::Transfer(_) => unreachable!("no plan here has it"),
    };
    Trial { origin: Some(step.origin()), repeat: step.repeat, ..fixture::trial(measured) }
}

/// A flow of datagrams, one for each bit/s, of which so many are carried.
fn flow(sent: u64, carried: f64) -> model::Flow {
    let received = DatagramsReceived { received: sent.min(carried as u64), ..Default::default() };
    let sent = DatagramsSent { sent, ..Default::default() };
    model::Flow {
        from: "a".to_owned(),
        to: "b".to_owned(),
        sent: model::GoodputSent { datagrams: Some(sent), ..Default::default() },
        received: model::GoodputReceived { datagrams: Some(received), ..Default::default() },
    }
}

/// All steps of a course in which these trials are stored already, and those that were measured.
fn replayed(mut course: Course, stored: &[Trial], carried: f64) -> (Vec<model::plan::Step>, Vec<Trial>) {
    let senders = fixture::lab().endpoints;
    let (mut asked, mut measured) = (Vec::new(), Vec::new());
    while let Some(step) = course.ask() {
        let known = stored.iter().find(|trial| step.is_of(trial, &senders[..1]));
        let trial = known.cloned().unwrap_or_else(|| answer(&step, carried));
        if known.is_none() {
            measured.push(trial.clone());
        }
        course.took(Some(&trial));
        asked.push(step);
    }
    (asked, measured)
}

/// Course of a plan or of a search.
fn course(kind: usize) -> Course {
    match kind {
        0 => Course::of(&plan(PLAN), 1),
        1 => Course::of(&plan(LADDER), 1),
        2 => Course::of(&plan(SEARCH), 1),
        3 => Course::of(&plan(RATES), 1),
        _ => {
            let ProbeSpec::Packets(spec) = plan(LADDER).specs().remove(1) else { panic!("packets") };
            let halving: Box<dyn Procedure> = Box::new(Halving { spec, rounds: 9 });
            Course::new([("search.1".to_owned(), halving)], 2)
        }
    }
}

proptest! {
    #[test]
    fn any_cut_of_the_trials_replayed_asks_for_the_same_rest(
        kind in 0usize..5, cut in 0usize..30, carried in 0.0..8e6, gap in 0usize..30
    ) {
        let (all, trials) = replayed(course(kind), &[], carried);
        let cut = cut.min(trials.len());
        let (again, measured) = replayed(course(kind), &trials[..cut], carried);
        prop_assert_eq!(&again, &all);
        prop_assert_eq!(&measured, &trials[cut..]);
        // A trial that failed in the middle is measured anew, and no other.
        let gap = gap % trials.len();
        let but_one = [&trials[..gap], &trials[gap + 1..]].concat();
        let (again, measured) = replayed(course(kind), &but_one, carried);
        prop_assert_eq!(&again, &all);
        prop_assert_eq!(measured, vec![trials[gap].clone()]);
    }
}

#[test]
fn a_search_asks_for_what_its_trials_tell() {
    let (asked, _) = replayed(course(4), &[], 3e6);
    let rates: Vec<_> = asked.iter().take(4).map(|step| rate(&step.spec)).collect();
    assert_eq!(rates, [4e6, 2e6, 3e6, 3.5e6]);
    assert_eq!(planned(&plan(LADDER), 1), 24);
}

#[test]
fn a_plan_searches_each_configuration_and_proves_its_mtu_before() {
    for method in ["mlr", "binary"] {
        let plan = plan(&SEARCH.replace("mlr", method));
        let (asked, trials) = replayed(Course::of(&plan, 1), &[], 3e6);
        let proofs = asked.iter().filter(|step| step.spec.to_string().starts_with("path")).count();
        assert_eq!((proofs, asked[0].spec.to_string()), (4, "path IPv4 MTU 9000".to_owned()));
        assert_eq!(asked[1].spec.to_string(), "packets IPv4 64 B at 10 Mpps MTU 9000");
        for (size, repeat) in [(64, 1), (128, 1), (64, 2), (128, 2)] {
            let of = |trial: &&Trial| trial.repeat == repeat;
            let loaded = trials.iter().filter(of).filter_map(Trial::at_load);
            let loaded = loaded.filter(|it| it.configuration == format!("packets IPv4 {size} B MTU 9000"));
            let loaded: Vec<_> = loaded.map(|it| it.trial).collect();
            let result = search::assess(&Goal::throughput(Nanos::from_secs(60)), &loaded).result;
            assert_eq!(result.irregular, None, "{method}: {result:?}");
            let [lower, upper] = [result.relevant_lower_bound, result.relevant_upper_bound].map(Option::unwrap);
            assert!(lower <= 3e6 && upper >= 3e6, "{method}: {result:?}");
        }
        // A device that forwards a load in the middle takes about as many.
        let (planned, measured) = (planned(&plan, 1) as f64, asked.len() as f64);
        assert!((planned / measured - 1.0).abs() < 0.5, "{method}: {planned} of {measured}");
    }
}

#[test]
fn any_probe_with_a_load_is_searched_in_its_own_unit() {
    let plan = plan(RATES);
    let (asked, trials) = replayed(Course::of(&plan, 1), &[], 3e6);
    assert_eq!(asked[0].spec.to_string(), "goodput UDP IPv4 1 stream mmsg at 10 Mbit/s");
    for configuration in ["goodput UDP IPv4 1 stream mmsg", "transactions rr TCP 64/64 B IPv4 block 1 connection"] {
        let loaded = trials.iter().filter_map(Trial::at_load).filter(|it| it.configuration == configuration);
        let loaded: Vec<_> = loaded.map(|it| it.trial).collect();
        let result = search::assess(&Goal::throughput(Nanos::from_secs(10)), &loaded).result;
        assert_eq!(result.irregular, None, "{configuration}: {result:?}");
        let [lower, upper] = [result.relevant_lower_bound, result.relevant_upper_bound].map(Option::unwrap);
        // A connection may have a transaction under way at the end.
        assert!(lower <= 3e6 + 1.0 && upper >= 3e6, "{configuration}: {result:?}");
    }
}

/// A sender that reaches four fifths of any load, in packets a second, of a search in shares of the line.
#[test]
fn a_sender_that_is_too_slow_is_asked_for_less_in_the_unit_of_the_search() {
    let toml = SEARCH.replace("10 kpps..10 Mpps", "100 %").replace("mtus = [9000]", "").replace(", 128", "");
    let mut course = Course::of(&plan(&toml), 1);
    let mut asked = Vec::new();
    for _ in 0..4 {
        let step = course.ask().unwrap();
        let mut trial = answer(&step, 8e6);
        trial.doubts.push(model::Doubt::SenderTooSlow { intended: 10e6, achieved: 8e6 });
        course.took(Some(&trial));
        asked.push(step.spec.to_string());
    }
    assert_eq!(asked, ["100 %", "100 %", "100 %", "80 %"].map(|load| format!("packets IPv4 64 B at {load}")));
}

#[test]
fn a_search_is_foreseen_with_the_longest_that_it_may_become() {
    let plan = plan(&SEARCH.replace("mtus = [9000]", ""));
    let section = plan.sections().remove(0);
    let model::plan::Method::Search(search) = &section.method else { panic!("a search") };
    let ExpectedTrials { expected, longest } = foreseen(search, &section.specs[0]);
    let seconds = |specs: &[ProbeSpec]| specs.iter().map(|spec| spec.profile().expected_s).sum::<f64>();
    assert_eq!(2 * 2 * expected.len(), planned(&plan, 1));
    assert!(seconds(&longest) > seconds(&expected) && longest.len() < 1_000, "{}", longest.len());
    for carried in [1e3, 1e4, 2e5, 3e6, 9.9e6, 2e7] {
        let (asked, _) = replayed(Course::of(&plan, 1), &[], carried);
        let of_one: Vec<_> = asked.into_iter().map(|step| step.spec).collect();
        assert!(seconds(&of_one) <= 4.0 * seconds(&longest) * 1.05, "{carried}");
    }
}

#[test]
fn the_tester_makes_the_searches_alone_and_once() {
    let toml = PLAN.to_owned() + SEARCH.split("repeats = 2").nth(1).unwrap();
    let (asked, _) = replayed(Course::of_searches(&plan(&toml), 1), &[], 3e6);
    assert!(asked.iter().all(|step| (step.procedure.as_str(), step.repeat) == ("packets.1", 1)));
    let (all, _) = replayed(Course::of(&plan(&toml), 1), &[], 3e6);
    let searched = all.iter().filter(|step| step.procedure == "packets.1").count();
    assert_eq!(2 * asked.len(), searched);
}

#[test]
fn a_search_ends_where_no_trial_succeeds() {
    let mut course = Course::of(&plan(SEARCH), 1);
    let mut asked = 0;
    while course.ask().is_some() {
        course.took(None);
        asked += 1;
    }
    assert_eq!((asked, course.remaining(|_| 1.0).trials), (16, 0));
}
