use model::{Delta, Source, limited::Wait, trial::StageName};

use super::*;

#[test]
fn every_place_and_evidence_has_words_in_both_languages() {
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
        Evidence::CongestionControl { control: "bbr".to_owned(), allowed_bps: 9e9, bps: 8e9 },
        Evidence::NothingRead,
        Evidence::Disk { reads: true, disk_bps: 1e9, bps: 9.9e8 },
        Evidence::Disk { reads: false, disk_bps: 1e9, bps: 9.9e8 },
        Evidence::TooShort { seconds: 0.25, least: 1.0 },
        Evidence::Silent { seconds: 2, of: 5 },
        Evidence::AsAsked { intended: 1e5, achieved: 1e5 },
        Evidence::Behind { intended: 1e5, achieved: 5e4 },
        Evidence::LinkFull { bps: 9.9e8, link_bps: 1e9 },
        Evidence::Unseen { packets: 4 },
        Evidence::PathMtu { mtu: 9000, path_mtu: 1500 },
        Evidence::LongestStage { stage: StageName::WireAndFar, p50_ns: 9_000 },
    ];
    let all = LimitedBy { place: Place::Qdisc, endpoint: None, evidence };
    let (en, ja) = (Texts::of(Lang::En), Texts::of(Lang::Ja));
    let (english, japanese) =
        (evidence_words(&all, show::packet_rate, en), evidence_words(&all, show::packet_rate, ja));
    assert!(!english.contains('⟦') && !japanese.contains('⟦'), "{english} {japanese}");
    assert!(
        english.contains("qdisc tbf 8001: overlimits +120; ") && english.contains("only 50.0 kpps achieved"),
        "{english}"
    );
    for word in Place::WORDS {
        let place: Place = word.parse().unwrap();
        assert_eq!(place_at(place, None, en).replace('’', "'"), *word, "JSON and English report name one place alike");
        assert!(!place_at(place, None, ja).contains('⟦'));
    }
}
