use model::{
    FrameSize, Modifier, Nanos,
    search::{Goal, GoalResult, Irregular},
};

use super::*;
use crate::{lang::Lang, page::Section};

fn size(frame: u32, throughput: f64) -> TestedSize {
    let port = |port: &str, tx_l1_bps, rx_l1_bps| {
        let (tx_pps, rx_pps) = (tx_l1_bps / 672.0, rx_l1_bps / 672.0);
        PortRates { port: port.to_owned(), tx_pps, rx_pps, tx_l1_bps, rx_l1_bps }
    };
    let result = GoalResult {
        irregular: Some(Irregular::NoUpperBound),
        relevant_lower_bound: Some(throughput),
        relevant_upper_bound: None,
        conditional_throughput: Some(throughput),
        width: None,
    };
    let loss = |share, loss_ratio| TestedLoss { trial: 9, share, offered_pps: share * 1e6, loss_ratio };
    TestedSize {
        frame_size: Some(FrameSize(frame)),
        mix: None,
        modifier: None,
        sent_size: Some(FrameSize(frame.max(70))),
        max_pps: 1e6,
        line_pps: Some(2.0 * throughput),
        dut_cores: Some(4),
        search: None,
        goals: vec![AssessedGoal {
            configuration: None,
            goal: Goal::throughput(Nanos::from_secs(60)),
            loads: vec![],
            result,
        }],
        is_contradictory: frame == 64,
        tester_pps: (frame == 64).then_some(300e3),
        is_vouched: (frame == 64).then_some(false),
        throughput: Some(AtThroughput {
            trial: 7,
            load_pps: throughput,
            forwarded_pps: throughput,
            forwarded_l1_bps: throughput * 672.0,
            frames: 30_000_000,
            lost: 0,
            is_bounded: frame == 64,
            ports: vec![port("a", throughput * 672.0, 0.0), port("b", 0.0, throughput * 672.0)],
        }),
        latency: vec![TestedLatency {
            from: "a".to_owned(),
            to: "b".to_owned(),
            load_pps: throughput,
            trials: 20,
            min_ns: Some(4_000),
            mean_ns: Some(12_340.0),
            medians_ns: vec![10_000.0, 11_000.0, 11_000.0, 12_500.0],
            p50_ns: Some(11_000.0),
            p90_ns: Some(12_000.0),
            p99_ns: None,
            p999_ns: None,
            max_ns: Some(90_000),
        }],
        latency_loads: vec![],
        loss: vec![loss(1.0, 0.6), loss(0.9, 0.5), loss(0.8, 0.0)],
        back_to_back: Some(BackToBack {
            rate_pps: 1e6,
            repeats: 50,
            is_unlimited: frame > 64,
            mean_frames: 1667.2,
            min_frames: 1600,
            max_frames: 1700,
            deviation_frames: 12.34,
            buffer_s: Some(1e-3),
        }),
        recovery: Some(Recovery {
            overload_pps: 440e3,
            after_pps: 220e3,
            seconds: 60.0,
            trials: 3,
            overloaded: 3,
            not_recovered: 1,
            mean_s: Some(0.0123),
            max_s: Some(0.02),
        }),
        reset: (frame == 64).then_some(Reset {
            trial: 31,
            load_pps: throughput,
            is_seen: true,
            is_back: true,
            by_loss_s: Some(0.512),
            by_time_s: Some(0.5),
        }),
    }
}

fn assessment() -> Assessment {
    let deviations = vec![
        Deviation::NoDevice,
        Deviation::ShortTrials { duration: Nanos::from_secs(2) },
        Deviation::LossAllowed { loss_ratio: 0.005, exceed_ratio: 0.5 },
        Deviation::ManyFramesTimed,
        Deviation::FewBursts { bursts: 2 },
        Deviation::BelowLine,
        Deviation::ShortOverloads { duration: Nanos::from_secs(2) },
        Deviation::NoOverload,
        Deviation::ShortWaits,
    ];
    let tests = Rfc2544 {
        section: "rfc2544.1".to_owned(),
        repeat: 1,
        deviations,
        filters: vec![],
        sizes: vec![size(64, 400e3), size(1518, 80e3)],
    };
    let mut tests = tests;
    let at = |share, latency: &TestedLatency| LatencyAtLoad { share, latency: latency.clone() };
    let size = &mut tests.sizes[0];
    size.latency_loads = [0.1, 0.9].map(|share| at(share, &size.latency[0])).to_vec();
    Assessment { rfc2544: vec![tests], ..Assessment::default() }
}

/// All words and figures of the section, one after the other.
fn shown(lang: Lang) -> (String, usize) {
    let mut sections = sections(&assessment(), Texts::of(lang));
    let Block::Section(Section { title, blocks }) = sections.remove(0) else { panic!("no section") };
    let figures = blocks.iter().filter(|block| matches!(block, Block::Figure(_))).count();
    (format!("{title} {blocks:?}"), figures)
}

#[test]
fn each_test_has_its_table_with_the_warning_and_the_deviations_before() {
    let (text, figures) = shown(Lang::En);
    for words in [
        "Tests of RFC 2544",
        "never on a network in production (RFC 6815)",
        "last 2 s instead of 60 s",
        "0.50 % of its frames; trials that lose more may take 50.00 % of the time",
        "64 → 70",
        "400.0 kpps",
        "268.80 Mbit/s",
        "50.00 %",
        "no load is an upper bound",
        "12.34",
        "a → b",
        "1,667",
        "≥ 1,667",
        "a limit would lie above it",
        "engine live: one in 64",
        "2 bursts were searched for",
        "below what the link carries",
        "200 ms",
        "1000",
        "440.0 kpps",
        "90 %",
        "12.50",
        "12.3 ms",
        "512 ms",
        "Overloads last 2 s",
        "a higher one upheld it",
        "INCONCLUSIVE: the tester alone",
        "300.0 kpps",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert_eq!(figures, 3);
    let (japanese, _) = shown(Lang::Ja);
    assert!(!text.contains('⟦') && !japanese.contains('⟦'), "{japanese}");
    assert!(japanese.contains("フレームロス率") && japanese.contains("1,667 以上"), "{japanese}");
}

#[test]
fn a_modifier_tells_tests_apart_and_its_filters_are_shown() {
    let mut assessment = assessment();
    let tests = &mut assessment.rfc2544[0];
    tests.sizes[1].modifier = Some(Modifier::ManyFilters);
    tests.sizes[0].modifier = Some(Modifier::RouteUpdates);
    tests.filters = vec!["table inet wireproof_filters {\n}\n".to_owned()];
    tests.deviations = vec![Deviation::FewModifiers { missing: vec![Modifier::Broadcast] }];
    let t = Texts::of(Lang::En);
    let text = format!("{:?}", sections(&assessment, t));
    for words in [
        "Modifier",
        "25 filters",
        "table inet wireproof_filters",
        "not tested: management queries, 1 % broadcasts",
        "64 routes of the device, to addresses that no test frame has, were deleted or added again each 100 ms",
        "0 of 30,000,000",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(terminal_table(&assessment, t).iter().any(|row| row.contains("1518, 25 filters")));
    assert!(headlines(&assessment, t)[1].starts_with("1518 B frames, 25 filters: throughput"));
}

#[test]
fn the_terminal_has_a_row_for_each_size_and_the_summary_a_line() {
    let t = Texts::of(Lang::En);
    let rows = terminal_table(&assessment(), t);
    assert_eq!(rows.len(), 4, "{rows:?}");
    assert!(rows[2].contains("400.0 kpps") && rows[2].contains("12.34 µs") && rows[2].contains("60.00 %"), "{rows:?}");
    let mut failed = assessment();
    failed.rfc2544[0].sizes[0].loss.remove(0);
    let rows = terminal_table(&failed, t);
    assert!(!rows[2].contains("50.00 %"), "the loss at 90 % is not that at the maximum: {rows:?}");
    let lines = headlines(&assessment(), t);
    assert_eq!(lines[1], "1518 B frames: throughput ≥ 80.0 kpps each way, 53.76 Mbit/s forwarded in all (layer 1).");
    assert_eq!(lines[2], "Reset of the device: 500 ms without forwarding.");
    assert_eq!(terminal_table(&Assessment::default(), t), [""; 0]);
    let mut mixed = assessment();
    let size = &mut mixed.rfc2544[0].sizes[1];
    (size.frame_size, size.mix) = (None, Some(Sizes::Imix));
    assert!(terminal_table(&mixed, t)[3].contains("IMIX"));
    assert!(headlines(&mixed, t)[1].starts_with("IMIX frames: throughput"));
    let figures = |assessment: &Assessment| figures::by_size(&assessment.rfc2544[0].sizes, t).is_some();
    assert_eq!([figures(&assessment()), figures(&mixed)], [true, false], "a mix has no place on the axis of sizes");
}
