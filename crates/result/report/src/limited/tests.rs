use model::{Source, trial::StageName};

use super::*;
use crate::lang::Lang;

#[path = "../../tests/fixture/mod.rs"]
mod fixture;

fn by(place: Place, cpu: usize) -> LimitedBy {
    let evidence = vec![Evidence::Core { cpu, busy: 98.7, softirq: 31.2, steal: 0.0 }];
    LimitedBy { place, endpoint: Some("b".into()), evidence }
}

/// The trials of the fixture's first goodput configuration, and all that goodput has.
fn goodput_numbers(run: &Run) -> Vec<u32> {
    let first = run.trials.iter().find(|trial| matches!(trial.measured, Measured::Goodput { .. }));
    let spec = first.map(|trial| trial.measured.spec());
    run.trials.iter().filter(|trial| Some(trial.measured.spec()) == spec).map(|trial| trial.number).collect()
}

#[test]
fn a_place_that_all_trials_name_stands_once_with_the_middle_trials_evidence() {
    let run = fixture::run();
    let numbers = goodput_numbers(&run);
    let find = |trial: &Trial, _: Option<&Flow>| {
        numbers.contains(&trial.number).then(|| by(Place::ReceiverCpu, trial.number as usize))
    };
    let (known, others) = limited(&run, find);
    assert_eq!(known.len(), 1);
    assert_eq!((&known[0].trials, known[0].of), (&numbers, 3));
    assert_eq!(known[0].by, by(Place::ReceiverCpu, numbers[1] as usize));
    assert_eq!(others.len(), run.trials.len() - 3);
}

#[test]
fn places_that_differ_stand_with_their_counts_and_what_is_not_known_with_the_others() {
    let run = fixture::run();
    let numbers = goodput_numbers(&run);
    let find = |trial: &Trial, _: Option<&Flow>| match numbers.iter().position(|number| *number == trial.number) {
        Some(0) => Some(by(Place::Window, 0)),
        Some(_) => Some(by(Place::ReceiverCpu, 0)),
        None => Some(LimitedBy { place: Place::NotKnown, endpoint: None, evidence: vec![] }),
    };
    let (known, others) = limited(&run, find);
    let places: Vec<_> = known.iter().map(|row| (row.by.place, row.trials.len())).collect();
    assert_eq!(places, [(Place::ReceiverCpu, 2), (Place::Window, 1)]);
    assert_eq!(others.len(), run.trials.len() - 3);
}

#[test]
fn losses_of_one_place_are_added_up_with_their_counters() {
    let run = fixture::run();
    let numbers = goodput_numbers(&run);
    let delta = |delta| Delta { source: Source::Snmp, of: "Udp".into(), name: "RcvbufErrors".into(), delta };
    let at = |endpoint: &str, packets| LossAt {
        place: Place::ReceiverSocket,
        endpoint: Some(endpoint.into()),
        packets,
        shown_by: vec![delta(packets)],
    };
    let find = |trial: &Trial| if numbers.contains(&trial.number) { vec![at("b", 5), at("a", 1)] } else { vec![] };
    let losses = losses(&run, find);
    assert_eq!(losses.len(), 1);
    assert_eq!(losses[0].1, [at("b", 15), at("a", 3)]);
}

#[test]
fn every_place_evidence_and_culprit_has_words_in_both_languages() {
    let counter = Delta { source: Source::Qdisc, of: "tbf 8001:".into(), name: "overlimits".into(), delta: 120 };
    let evidence = vec![
        Evidence::Core { cpu: 1, busy: 99.0, softirq: 40.0, steal: 0.0 },
        Evidence::Core { cpu: 1, busy: 99.0, softirq: 40.0, steal: 50.0 },
        Evidence::Counter { counter },
        Evidence::Overflow { datagrams: 7 },
        Evidence::BufferFull { times: 3 },
        Evidence::Waited { waited_for: Wait::ReceiveWindow, percent: 91.0 },
        Evidence::Waited { waited_for: Wait::SendBuffer, percent: 92.0 },
        Evidence::WindowPerRtt { window: 65_536, rtt_us: 80, possible_bps: 6.5e9 },
        Evidence::AsAsked { intended: 1e5, achieved: 1e5 },
        Evidence::Behind { intended: 1e5, achieved: 5e4 },
        Evidence::LinkFull { bps: 9.9e8, link_bps: 1e9 },
        Evidence::Unseen { packets: 4 },
        Evidence::PathTooSmall { mtu: 9000, path_mtu: 1500 },
        Evidence::LongestStage { stage: StageName::WireAndFar, p50_ns: 9_000 },
    ];
    let all = LimitedBy { place: Place::Qdisc, endpoint: None, evidence };
    let spec = fixture::run().trials[0].measured.spec();
    let (en, ja) = (Texts::of(Lang::En), Texts::of(Lang::Ja));
    let (english, japanese) = (evidence_words(&all, &spec, en), evidence_words(&all, &spec, ja));
    assert!(!english.contains('⟦') && !japanese.contains('⟦'), "{english} {japanese}");
    assert!(
        english.contains("qdisc tbf 8001: overlimits +120; ") && english.contains("only 50.0 kpps achieved"),
        "{english}"
    );
    for word in Place::WORDS {
        let place: Place = word.parse().unwrap();
        assert_eq!(place_name(place, en).replace('’', "'"), *word, "JSON and English report name one place alike");
        assert!(!place_name(place, ja).contains('⟦'));
    }
    for kind in [
        CulpritKind::OwnInterface,
        CulpritKind::PeerInterface,
        CulpritKind::BridgeMember,
        CulpritKind::MiddleHop,
        CulpritKind::BlackHole,
        CulpritKind::IcmpFiltered,
    ] {
        let it = Culprit { host: Some("b".into()), device: Some("eth1".into()), kind };
        assert_ne!(culprit(&it, en), culprit(&it, ja));
        assert!(!culprit(&it, en).contains('⟦') && !culprit(&it, ja).contains('⟦'));
    }
}
