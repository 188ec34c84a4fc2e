//! netperf's text: the classic tables of streams and of requests and responses, and omni's `KEY=VALUE` lines.

use model::{
    IpVersion, PayloadSize, Protocol, ReferenceFigure,
    reference::{Conditions, FigureMetric, Statistic},
};

use crate::{
    ImportError, Imported,
    figures::{bit_rate, figure, note, seconds, word_after},
};

const TOOL: &str = "netperf";

/// Names by omni of the figures of its sample, in microseconds.
const KEYS: [(&str, Statistic); 6] = [
    ("MIN_LATENCY", Statistic::Min),
    ("MEAN_LATENCY", Statistic::Mean),
    ("P50_LATENCY", Statistic::P50),
    ("P90_LATENCY", Statistic::P90),
    ("P99_LATENCY", Statistic::P99),
    ("MAX_LATENCY", Statistic::Max),
];

/// Quantity measured.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Stream,
    Requests,
}

/// `None` where it is something else.
pub(crate) fn read(text: &str) -> Option<Result<Imported, ImportError>> {
    let head = text.lines().find(|line| line.contains(" TEST ") && line.contains("AF_INET"))?;
    let kind = if head.contains("STREAM TEST") { Kind::Stream } else { Kind::Requests };
    let protocol = head.split_whitespace().find_map(|word| word.to_lowercase().parse::<Protocol>().ok());
    Some(imported(text, kind, protocol, head))
}

fn imported(text: &str, kind: Kind, protocol: Option<Protocol>, head: &str) -> Result<Imported, ImportError> {
    let keyed = text.lines().any(|line| line.starts_with("THROUGHPUT="));
    let (figures, own) = match (keyed, kind) {
        (true, kind) => omni(text, kind)?,
        (false, Kind::Stream) => stream(text, protocol)?,
        (false, Kind::Requests) => requests(text)?,
    };
    let ip = if head.contains("AF_INET6") { IpVersion::V6 } else { IpVersion::V4 };
    let loopback = head.contains(" to localhost") || head.contains(" to 127.") || head.contains(" to ::1 ");
    let of_head = Conditions { protocol, ip: Some(ip), simulated: loopback.then_some(true), ..Conditions::default() };
    let rtt = note(
        "The mean round trip is the time over the number of transactions.",
        "往復遅延時間の平均は、測定時間をトランザクション数で割った値です。",
    );
    Ok(Imported {
        tool: TOOL,
        version: TOOL.to_owned(),
        date: None,
        conditions: own.or(&of_head),
        notes: if kind == Kind::Requests && !keyed { vec![rtt] } else { vec![] },
        figures,
    })
}

type Figures = (Vec<ReferenceFigure>, Conditions);

/// The rows of numbers alone, the first with at least this many.
fn row(text: &str, numbers: usize) -> Option<Vec<f64>> {
    rows(text).into_iter().find(|row| row.len() >= numbers)
}

fn rows(text: &str) -> Vec<Vec<f64>> {
    let numbers = |line: &str| line.split_whitespace().map(|word| word.parse().ok()).collect::<Option<Vec<f64>>>();
    text.lines().filter_map(numbers).filter(|row| !row.is_empty()).collect()
}

fn missing(what: &str) -> ImportError {
    ImportError::Missing { tool: TOOL, what: what.to_owned() }
}

/// Quantity of the last column, in bit/s.
fn unit(text: &str) -> Result<f64, ImportError> {
    let units = [("10^3bits", 1e3), ("10^6bits", 1e6), ("10^9bits", 1e9)];
    units.iter().find(|(unit, _)| text.contains(unit)).map(|(_, size)| *size).ok_or_else(|| missing("rate in bits"))
}

/// TCP has one row; UDP one of what was sent and one of what arrived.
fn stream(text: &str, protocol: Option<Protocol>) -> Result<Figures, ImportError> {
    let rows = rows(text);
    let (sent, size_at, time_at) = match protocol {
        Some(Protocol::Udp) => (rows.iter().find(|row| row.len() >= 6), 1, 2),
        _ => (rows.iter().find(|row| row.len() >= 5), 2, 3),
    };
    let sent = sent.ok_or_else(|| missing("row of results"))?;
    let rate = match protocol {
        Some(Protocol::Udp) => rows.iter().find(|row| row.len() == 4).and_then(|row| row.last()),
        _ => sent.get(4),
    };
    let rate = rate.ok_or_else(|| missing("row of what arrived"))? * unit(text)?;
    let own = Conditions {
        duration: sent.get(time_at).copied().and_then(seconds),
        payload_size: (protocol == Some(Protocol::Udp)).then(|| sent.get(size_at).copied().and_then(size)).flatten(),
        streams: Some(1),
        ..Conditions::default()
    };
    Ok((vec![bit_rate(FigureMetric::Goodput, Statistic::Mean, rate)?], own))
}

fn size(bytes: f64) -> Option<PayloadSize> {
    (0.0..1e9).contains(&bytes).then_some(PayloadSize(bytes as u32))
}

fn requests(text: &str) -> Result<Figures, ImportError> {
    let row = row(text, 6).ok_or_else(|| missing("row of results"))?;
    let [_, _, request, _, elapsed, rate, ..] = row[..] else { return Err(missing("row of results")) };
    let own = Conditions { payload_size: size(request), duration: seconds(elapsed), ..Conditions::default() };
    Ok((vec![mean_round_trip(rate)?], own))
}

fn mean_round_trip(per_second: f64) -> Result<ReferenceFigure, ImportError> {
    if per_second <= 0.0 || !per_second.is_finite() {
        return Err(ImportError::Value { what: "rate of transactions", value: per_second.to_string() });
    }
    figure(FigureMetric::Rtt, Statistic::Mean, &format!("{:.3} us", 1e6 / per_second))
}

fn omni(text: &str, kind: Kind) -> Result<Figures, ImportError> {
    let key = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
        Some(line.trim())
    };
    let number = |name: &str| key(name).and_then(|value| value.parse::<f64>().ok());
    let rate = number("THROUGHPUT").ok_or_else(|| missing("THROUGHPUT"))?;
    let own = Conditions {
        duration: number("ELAPSED_TIME").and_then(seconds),
        payload_size: number("REQUEST_SIZE").filter(|_| kind == Kind::Requests).and_then(size),
        streams: (kind == Kind::Stream).then_some(1),
        ..Conditions::default()
    };
    if kind == Kind::Stream {
        let unit = unit(word_after(text, "THROUGHPUT_UNITS=").unwrap_or_default())?;
        return Ok((vec![bit_rate(FigureMetric::Goodput, Statistic::Mean, rate * unit)?], own));
    }
    let mut figures = Vec::new();
    for (name, statistic) in KEYS {
        if let Some(micros) = key(name) {
            figures.push(figure(FigureMetric::Rtt, statistic, &format!("{micros} us"))?);
        }
    }
    if !figures.iter().any(|figure| figure.statistic == Statistic::Mean) {
        figures.push(mean_round_trip(rate)?);
    }
    Ok((figures, own))
}
