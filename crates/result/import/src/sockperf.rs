//! sockperf's text, and the file of its `--full-log`, which begins with the same figures.

use model::{
    PacketRate, PayloadSize, Protocol, ReferenceFigure,
    reference::{Conditions, FigureMetric, Statistic, Words},
};

use crate::{
    ImportError, Imported,
    figures::{figure, note, number_after, of_address, packet_rate, seconds, word_after},
};

const TOOL: &str = "sockperf";

/// sockperf's mark of each figure of its sample.
const PLACES: [(&str, Statistic); 6] = [
    ("<MIN> observation", Statistic::Min),
    ("percentile 50.000", Statistic::P50),
    ("percentile 90.000", Statistic::P90),
    ("percentile 99.000", Statistic::P99),
    ("percentile 99.900", Statistic::P999),
    ("<MAX> observation", Statistic::Max),
];

/// `None` where it is something else.
pub(crate) fn read(text: &str) -> Option<Result<Imported, ImportError>> {
    if !text.contains("sockperf:") {
        return None;
    }
    // The log's rows, one for each message, are not needed.
    let (head, _) = text.split_once("packet, txTime").unwrap_or((text, ""));
    Some(imported(&without_colours(head)))
}

fn imported(text: &str) -> Result<Imported, ImportError> {
    let number = word_after(text, "== version #").map(|version| version.trim_end_matches("-no.git"));
    let figures = if text.contains("Message Rate is") { offered(text)? } else { times(text)? };
    Ok(Imported {
        tool: TOOL,
        version: number.map_or_else(|| TOOL.to_owned(), |number| format!("{TOOL} {number}")),
        date: None,
        conditions: conditions(text),
        notes: notes(text),
        figures,
    })
}

/// Without the escape sequences of a terminal.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| plain + part.split_once('m').map_or(part, |(_, rest)| rest))
}

fn conditions(text: &str) -> Conditions {
    let option = |name: &str| number_after(text, name);
    // After a throughput test the text also advises on a size that was not used.
    let size =
        option("using msg-size=").or_else(|| option("--msg-size=")).filter(|size| (0.0..65_536.0).contains(size));
    let protocol = match text {
        text if text.contains("# UDP") => Some(Protocol::Udp),
        text if text.contains("# TCP") => Some(Protocol::Tcp),
        _ => None,
    };
    let own = Conditions {
        protocol,
        payload_size: size.map(|size| PayloadSize(size as u32)),
        duration: number_after(text, "[Total Run] RunTime").and_then(seconds),
        rate: option("--mps=")
            .or_else(|| rate_of_counts(text))
            .filter(|rate| (1.0..1e12).contains(rate))
            .map(|rate| PacketRate(rate.round() as u64)),
        ..Conditions::default()
    };
    own.or(&of_address(word_after(text, "IP =").unwrap_or_default()))
}

/// Under load with few replies the text shows the rate by its counts alone; ping-pong has one reply to each message.
fn rate_of_counts(text: &str) -> Option<f64> {
    let (_, total) = text.split_once("[Total Run]")?;
    let sent = number_after(total, "SentMessages")?;
    let received = number_after(total, "ReceivedMessages")?;
    let seconds = number_after(total, "RunTime")?;
    (seconds > 0.0 && sent > received * 1.5).then(|| sent / seconds)
}

/// RTT, or the half of it that sockperf calls latency.
fn times(text: &str) -> Result<Vec<ReferenceFigure>, ImportError> {
    let (metric, mean) = match (word_after(text, "avg-latency="), word_after(text, "avg-rtt=")) {
        (Some(mean), _) => (FigureMetric::HalfRtt, mean),
        (None, Some(mean)) => (FigureMetric::Rtt, mean),
        (None, None) => return Err(ImportError::Missing { tool: TOOL, what: "avg-latency or avg-rtt".to_owned() }),
    };
    let mut figures = vec![figure(metric, Statistic::Mean, &format!("{mean} us"))?];
    for (mark, statistic) in PLACES {
        if let Some(value) = word_after(text, mark) {
            figures.push(figure(metric, statistic, &format!("{value} us"))?);
        }
    }
    Ok(figures)
}

/// Messages of the client; sockperf does not count what arrived.
fn offered(text: &str) -> Result<Vec<ReferenceFigure>, ImportError> {
    let missing = || ImportError::Missing { tool: TOOL, what: "Message Rate".to_owned() };
    let rate = number_after(text, "Message Rate is").ok_or_else(missing)?;
    Ok(vec![packet_rate(FigureMetric::OfferedLoad, Statistic::Mean, rate)?])
}

fn notes(text: &str) -> Vec<Words> {
    let throughput = note(
        "sockperf counts what was sent, not what arrived; its MBps and Mbps are binary (2^20).",
        "sockperf は到着ではなく送信を計数します。MBps と Mbps は2進(2^20)単位です。",
    );
    let half = note("What sockperf calls latency is RTT/2.", "sockperf の latency は RTT÷2 です。");
    if text.contains("Message Rate is") { vec![throughput] } else { vec![half] }
}
