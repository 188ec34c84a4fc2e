//! `iperf3 -J`.

use model::{
    BitRate, Bytes, Direction, Mtu, PayloadSize, Protocol, ReferenceFigure,
    reference::{Conditions, FigureMetric, Statistic},
};
use serde_json::Value;

use crate::{
    ImportError, Imported,
    figures::{bit_rate, note, of_address, seconds},
};

const TOOL: &str = "iperf3";

/// `None` where it is something else.
pub(crate) fn read(json: &Value) -> Option<Result<Imported, ImportError>> {
    let version = json.pointer("/start/version").and_then(Value::as_str).filter(|it| it.starts_with("iperf"));
    let failed = json.get("error").and_then(Value::as_str).filter(|_| json.get("start").is_some());
    match (version, failed) {
        (_, Some(message)) => Some(Err(ImportError::Failed { tool: TOOL, message: message.to_owned() })),
        (Some(version), None) => Some(imported(version, json)),
        _ => None,
    }
}

fn imported(version: &str, json: &Value) -> Result<Imported, ImportError> {
    let seconds = json.pointer("/start/timestamp/timesecs").and_then(Value::as_i64);
    let date = seconds.and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    let protocol = json.pointer("/start/test_start/protocol").and_then(Value::as_str);
    let received = note("Goodput is what the receiving end counted.", "実効スループットは受信側で計数された値です。");
    Ok(Imported {
        tool: TOOL,
        version: version.chars().filter(|c| !c.is_control()).collect(),
        date: date.map(|date| date.strftime("%Y-%m-%d").to_string()),
        conditions: conditions(json, protocol.and_then(|word| word.to_lowercase().parse().ok())),
        notes: vec![received],
        figures: figures(json)?,
    })
}

fn conditions(json: &Value, protocol: Option<Protocol>) -> Conditions {
    let test = |key: &str| json.pointer(&format!("/start/test_start/{key}")).and_then(Value::as_u64);
    let streams = test("num_streams").and_then(|streams| u16::try_from(streams).ok());
    let direction = match (is_both_ways(json), test("reverse")) {
        (true, _) => Direction::Both,
        (false, Some(1)) => Direction::Reverse,
        _ => Direction::Forward,
    };
    // Each stream offers as much.
    let offered =
        test("target_bitrate").filter(|rate| *rate > 0).map(|rate| rate.saturating_mul(streams.unwrap_or(1).into()));
    let window = json.pointer("/start/sock_bufsize").and_then(Value::as_u64).filter(|size| *size > 0);
    let size = test("blksize").and_then(|size| u32::try_from(size).ok()).map(PayloadSize);
    let peer = json.pointer("/start/connected/0/remote_host").and_then(Value::as_str).unwrap_or_default();
    let own = Conditions {
        protocol,
        direction: Some(direction),
        streams,
        duration: test("duration").and_then(|whole| seconds(whole as f64)),
        window: window.map(Bytes),
        offered: offered.map(BitRate),
        mtu: path_mtu(json),
        payload_size: size.filter(|_| protocol == Some(Protocol::Udp)),
        ..Conditions::default()
    };
    own.or(&of_address(peer))
}

/// The path MTU that the kernel of a sender believed in.
fn path_mtu(json: &Value) -> Option<Mtu> {
    let streams = intervals(json).filter_map(|interval| interval.get("streams")?.as_array()).flatten();
    let mtu = streams.filter_map(|stream| stream.get("pmtu")?.as_u64()).find(|mtu| *mtu > 0)?;
    u32::try_from(mtu).ok().map(Mtu)
}

fn intervals(json: &Value) -> impl Iterator<Item = &Value> {
    json.get("intervals").and_then(Value::as_array).into_iter().flatten()
}

fn is_both_ways(json: &Value) -> bool {
    json.pointer("/end/sum_received_bidir_reverse").is_some()
}

/// The mean, with data both ways that of the slower one; the slowest and the fastest interval where the end that wrote the
/// file received.
fn figures(json: &Value) -> Result<Vec<ReferenceFigure>, ImportError> {
    let rate = |key: &str| json.pointer(&format!("/end/{key}/bits_per_second")).and_then(Value::as_f64);
    let missing = || ImportError::Missing { tool: TOOL, what: "end.sum_received.bits_per_second".to_owned() };
    let forward = rate("sum_received").ok_or_else(missing)?;
    let mean = rate("sum_received_bidir_reverse").map_or(forward, |reverse| forward.min(reverse));
    let mut figures = vec![bit_rate(FigureMetric::Goodput, Statistic::Mean, mean)?];
    let received = |interval: &Value| {
        let sum = interval.get("sum")?;
        let counts = sum.get("sender")?.as_bool() == Some(false) && sum.get("omitted")?.as_bool() == Some(false);
        Some((sum.get("seconds")?.as_f64()?, sum.get("bits_per_second")?.as_f64().filter(|_| counts)?))
    };
    let rates = without_fragment(intervals(json).filter_map(received).collect());
    let ends = [
        (Statistic::Min, rates.iter().copied().reduce(f64::min)),
        (Statistic::Max, rates.iter().copied().reduce(f64::max)),
    ];
    if !is_both_ways(json) {
        for (statistic, rate) in ends {
            figures.extend(rate.map(|rate| bit_rate(FigureMetric::Goodput, statistic, rate)).transpose()?);
        }
    }
    Ok(figures)
}

/// The rates of intervals of (seconds, bit/s). A test that lasts a little longer than its whole intervals ends with a fragment,
/// whose rate says nothing of a second.
fn without_fragment(mut intervals: Vec<(f64, f64)>) -> Vec<f64> {
    if let [whole @ .., (last, _)] = intervals.as_slice()
        && whole.iter().any(|(seconds, _)| *last < seconds / 2.0)
    {
        intervals.pop();
    }
    intervals.into_iter().map(|(_, rate)| rate).collect()
}
