//! Printed figures of other tools become references, and everything else becomes an error.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use model::{
    BitRate, Bytes, Direction, IpVersion, Nanos, PacketRate, PayloadSize, Protocol, Reference,
    reference::{Conditions, FigureMetric, Measurer, Statistic},
};
use proptest::prelude::*;
use wireproof_import::{Given, ImportError, read};

macro_rules! saved {
    ($name:literal) => {
        include_str!(concat!("files/", $name))
    };
}

const ALL: [&str; 16] = [
    saved!("iperf3-tcp.json"),
    saved!("iperf3-tcp-reverse.json"),
    saved!("iperf3-udp.json"),
    saved!("iperf3-bidir.json"),
    saved!("sockperf-ping-pong.txt"),
    saved!("sockperf-ping-pong-tcp.txt"),
    saved!("sockperf-under-load.txt"),
    saved!("sockperf-full-log.csv"),
    saved!("sockperf-throughput.txt"),
    saved!("netperf-tcp-stream.txt"),
    saved!("netperf-udp-stream.txt"),
    saved!("netperf-tcp-rr.txt"),
    saved!("netperf-omni-rr.txt"),
    saved!("netperf-omni-stream.txt"),
    saved!("qperf.txt"),
    saved!("trex.json"),
];

fn imported(text: &str) -> Reference {
    read(text, &Given::default()).unwrap()
}

/// Each figure with its value in the base unit.
fn figures(reference: &Reference) -> Vec<(FigureMetric, Statistic, f64)> {
    reference.figures.iter().map(|it| (it.metric, it.statistic, it.value.amount())).collect()
}

fn error(text: &str) -> String {
    read(text, &Given::default()).unwrap_err().to_string()
}

#[test]
fn iperf3_gives_what_arrived_and_the_seconds_only_where_it_received() {
    let forward = imported(saved!("iperf3-tcp.json"));
    assert_eq!((forward.id.as_str(), forward.kind), ("iperf3-2026-11-21", Measurer::Tool));
    assert_eq!(figures(&forward), [(FigureMetric::Goodput, Statistic::Mean, 4_309_760_830.0)]);
    let is = &forward.conditions;
    assert_eq!(
        (is.protocol, is.ip, is.direction),
        (Some(Protocol::Tcp), Some(IpVersion::V4), Some(Direction::Forward))
    );
    assert_eq!((is.streams, is.duration, is.window), (Some(1), Some(Nanos::from_secs(3)), None));
    assert_eq!((is.tool.as_deref(), is.mtu.map(|mtu| mtu.0), is.simulated), (Some("iperf 3.12"), Some(1500), None));

    let reverse = imported(saved!("iperf3-tcp-reverse.json"));
    let statistics: Vec<_> = figures(&reverse).iter().map(|(_, statistic, _)| *statistic).collect();
    assert_eq!(statistics, [Statistic::Mean, Statistic::Min, Statistic::Max]);
    assert_eq!((reverse.conditions.direction, reverse.conditions.streams), (Some(Direction::Reverse), Some(2)));
    assert_eq!(reverse.conditions.window, Some(Bytes(262_144)));
}

#[test]
fn a_last_fragment_of_iperf3_is_no_slowest_interval() {
    let mut json: serde_json::Value = serde_json::from_str(saved!("iperf3-tcp-reverse.json")).unwrap();
    let intervals = json["intervals"].as_array_mut().unwrap();
    let mut fragment = intervals[0].clone();
    fragment["sum"]["seconds"] = 0.0004.into();
    fragment["sum"]["bits_per_second"] = 1000.0.into();
    intervals.push(fragment);
    assert_eq!(figures(&imported(&json.to_string())), figures(&imported(saved!("iperf3-tcp-reverse.json"))));
}

#[test]
fn iperf3_over_udp_and_both_ways() {
    let udp = imported(saved!("iperf3-udp.json"));
    assert_eq!(figures(&udp), [(FigureMetric::Goodput, Statistic::Mean, 47_152_168.0)]);
    let is = &udp.conditions;
    assert_eq!((is.payload_size, is.offered), (Some(PayloadSize(1000)), Some(BitRate(50_000_000))));
    let both = imported(saved!("iperf3-bidir.json"));
    assert_eq!(both.conditions.direction, Some(Direction::Both));
    // Rate of the slower way.
    assert_eq!(figures(&both), [(FigureMetric::Goodput, Statistic::Mean, 1_099_614_137.0)]);
}

#[test]
fn sockperf_gives_half_the_rtt_with_its_percentiles() {
    let udp = imported(saved!("sockperf-ping-pong.txt"));
    let half = |statistic, ns| (FigureMetric::HalfRtt, statistic, ns);
    assert_eq!(
        figures(&udp),
        [
            half(Statistic::Mean, 11_339.0),
            half(Statistic::Min, 5_508.0),
            half(Statistic::P50, 7_020.0),
            half(Statistic::P90, 8_527.0),
            half(Statistic::P99, 51_391.0),
            half(Statistic::P999, 1_198_443.0),
            half(Statistic::Max, 15_957_190.0),
        ]
    );
    assert_eq!((udp.conditions.protocol, udp.conditions.rate), (Some(Protocol::Udp), None));
    assert_eq!((udp.conditions.tool.as_deref(), udp.conditions.payload_size), (Some("sockperf 3.7"), None));
    assert_eq!(imported(saved!("sockperf-ping-pong-tcp.txt")).conditions.protocol, Some(Protocol::Tcp));
}

#[test]
fn sockperf_under_load_is_told_from_ping_pong() {
    let log = imported(saved!("sockperf-full-log.csv"));
    assert_eq!((log.conditions.rate, log.conditions.payload_size), (Some(PacketRate(5000)), Some(PayloadSize(18))));
    assert_eq!(figures(&log)[0], (FigureMetric::HalfRtt, Statistic::Mean, 790_906.0));
    assert_eq!(imported(saved!("sockperf-under-load.txt")).conditions.rate, Some(PacketRate(5002)));
    let sent = imported(saved!("sockperf-throughput.txt"));
    assert_eq!(figures(&sent), [(FigureMetric::OfferedLoad, Statistic::Mean, 106_466.0)]);
    assert_eq!(sent.conditions.payload_size, Some(PayloadSize(1400)));
}

#[test]
fn netperf_gives_rates_and_round_trips() {
    let tcp = imported(saved!("netperf-tcp-stream.txt"));
    assert_eq!(figures(&tcp), [(FigureMetric::Goodput, Statistic::Mean, 2_333_040_000.0)]);
    assert_eq!(tcp.conditions.duration, Some(Nanos::from_millis(2010)));
    // Received, not sent, bytes.
    let udp = imported(saved!("netperf-udp-stream.txt"));
    assert_eq!(figures(&udp), [(FigureMetric::Goodput, Statistic::Mean, 849_930_000.0)]);
    assert_eq!(udp.conditions.payload_size, Some(PayloadSize(65_507)));
    let rr = imported(saved!("netperf-tcp-rr.txt"));
    assert_eq!(figures(&rr), [(FigureMetric::Rtt, Statistic::Mean, 34_931.0)]);
    assert_eq!((rr.conditions.payload_size, rr.conditions.ip), (Some(PayloadSize(1)), Some(IpVersion::V4)));
    assert_eq!(imported(saved!("netperf-udp-rr.txt")).conditions.payload_size, Some(PayloadSize(18)));
}

#[test]
fn netperf_omni_lines_are_read_by_their_keys() {
    let rr = imported(saved!("netperf-omni-rr.txt"));
    let micros: Vec<f64> = figures(&rr).iter().map(|(_, _, ns)| ns / 1e3).collect();
    assert_eq!(micros, [11.0, 17.6, 14.0, 17.0, 50.0, 20_901.0]);
    let stream = imported(saved!("netperf-omni-stream.txt"));
    assert_eq!(figures(&stream), [(FigureMetric::Goodput, Statistic::Mean, 3_198_700_000.0)]);
}

#[test]
fn qperf_gives_a_figure_for_each_test() {
    let reference = imported(saved!("qperf.txt"));
    assert_eq!(
        figures(&reference),
        [
            (FigureMetric::Goodput, Statistic::Mean, 4_256_000_000.0),
            (FigureMetric::HalfRtt, Statistic::Mean, 8_480.0),
            (FigureMetric::Goodput, Statistic::Mean, 1_688_000_000.0),
            (FigureMetric::HalfRtt, Statistic::Mean, 11_000.0),
        ]
    );
    assert_eq!(reference.figures[3].conditions.protocol, Some(Protocol::Udp));
    assert_eq!(reference.conditions.tool.as_deref(), Some("qperf 0.4.11"));
}

#[test]
fn trex_gives_each_port_and_way() {
    let reference = imported(saved!("trex.json"));
    assert_eq!(reference.figures.len(), 12);
    assert_eq!(figures(&reference)[0], (FigureMetric::PortRate, Statistic::Reading, 9_999_998_400.0));
    assert_eq!(reference.figures[0].conditions.port.as_deref(), Some("P0 Tx"));
    assert_eq!(figures(&reference)[2], (FigureMetric::PacketRate, Statistic::Reading, 14_880_950.0));
}

#[test]
fn what_is_given_goes_over_what_stands_in_the_file() {
    let conditions = Conditions { simulated: Some(true), streams: Some(4), ..Conditions::default() };
    let given = Given { id: Some("lab-iperf3".to_owned()), conditions };
    let reference = read(saved!("iperf3-tcp.json"), &given).unwrap();
    assert_eq!((reference.id.as_str(), reference.conditions.streams), ("lab-iperf3", Some(4)));
    let bad = Given { id: Some("My run".to_owned()), ..Given::default() };
    assert_eq!(read(saved!("iperf3-tcp.json"), &bad), Err(ImportError::Name("My run".to_owned())));
}

#[test]
fn every_import_is_a_reference_file() {
    for text in ALL {
        let reference = imported(text);
        assert_eq!(Reference::parse(&toml::to_string(&reference).unwrap()), Ok(reference));
    }
}

#[test]
fn what_cannot_be_imported_says_why() {
    assert!(error("").contains("no output that can be imported"));
    assert!(error("{\"a\": 1}").contains("no output that can be imported"));
    let whole = saved!("iperf3-tcp.json");
    assert!(error(&whole[..whole.len() / 2]).contains("may have been cut off"));
    let failed = r#"{"start": {"version": "iperf 3.12"}, "error": "unable to connect to server"}"#;
    assert_eq!(error(failed), "iperf3 reports an error instead of a result: unable to connect to server");
    assert!(error(r#"{"start": {"version": "iperf 3.12"}}"#).contains("has no end.sum_received"));
    let cut = saved!("sockperf-ping-pong.txt").split("avg-latency").next().unwrap();
    assert!(error(cut).contains("has no avg-latency"));
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in ".{0,400}") {
        let _ = read(&text, &Given::default());
    }

    /// Real outputs with a piece cut out and another put in.
    #[test]
    fn no_damage_makes_it_panic(which in 0..ALL.len(), at in 0.0..1.0, len in 0usize..80, other in "[-0-9eE.+a-z=\n ]{0,20}") {
        let text = ALL[which];
        let floor = |index: usize| (0..=index.min(text.len())).rev().find(|index| text.is_char_boundary(*index)).unwrap_or(0);
        let from = floor((text.len() as f64 * at) as usize);
        let to = floor(from + len).max(from);
        let damaged = format!("{}{other}{}", &text[..from], &text[to..]);
        if let Ok(reference) = read(&damaged, &Given::default()) {
            prop_assert!(toml::to_string(&reference).is_ok());
        }
    }
}
