//! qperf's text: a section for each test, `key = value unit` in each.

use model::{
    PayloadSize, Protocol, ReferenceFigure,
    reference::{Conditions, FigureMetric, Statistic},
};

use crate::{
    ImportError, Imported,
    figures::{bit_rate, figure, note, seconds},
};

const TOOL: &str = "qperf";

/// Tests that say something of UDP and TCP.
const TESTS: [(&str, Protocol); 4] =
    [("tcp_bw", Protocol::Tcp), ("udp_bw", Protocol::Udp), ("tcp_lat", Protocol::Tcp), ("udp_lat", Protocol::Udp)];

/// One section.
struct Section<'a> {
    test: &'a str,
    values: Vec<(&'a str, &'a str)>,
}

impl<'a> Section<'a> {
    fn value(&self, key: &str) -> Option<&'a str> {
        self.values.iter().find(|(name, _)| *name == key).map(|(_, value)| *value)
    }

    fn number(&self, key: &str) -> Option<(f64, &'a str)> {
        let (number, unit) = self.value(key)?.split_once(' ')?;
        Some((number.parse().ok()?, unit.trim()))
    }
}

/// `None` where it is something else.
pub(crate) fn read(text: &str) -> Option<Result<Imported, ImportError>> {
    let sections = sections(text);
    let known = |section: &Section<'_>| TESTS.iter().find(|(name, _)| *name == section.test).map(|(_, it)| *it);
    sections.iter().find(|section| known(section).is_some())?;
    Some(imported(&sections, known))
}

fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    for line in text.lines() {
        if let Some(test) = line.strip_suffix(':').filter(|test| !test.contains(' ')) {
            sections.push(Section { test, values: vec![] });
        } else if let (Some(section), Some((key, value))) = (sections.last_mut(), line.split_once('=')) {
            section.values.push((key.trim(), value.trim()));
        }
    }
    sections
}

fn imported(
    sections: &[Section<'_>],
    known: impl Fn(&Section<'_>) -> Option<Protocol>,
) -> Result<Imported, ImportError> {
    let version = sections.iter().find_map(|section| section.value("loc_qperf"));
    let mut figures = Vec::new();
    for section in sections {
        if let Some(protocol) = known(section) {
            figures.push(of_section(section, protocol)?);
        }
    }
    Ok(Imported {
        tool: TOOL,
        version: version.map_or_else(|| TOOL.to_owned(), |version| format!("{TOOL} {version}")),
        date: None,
        conditions: Conditions::default(),
        notes: vec![note(
            "What qperf calls latency is RTT/2; its MB are 10^6 bytes.",
            "qperf の latency は RTT÷2、MB は 10^6 バイトです。",
        )],
        figures,
    })
}

fn of_section(section: &Section<'_>, protocol: Protocol) -> Result<ReferenceFigure, ImportError> {
    let missing = |what: &str| ImportError::Missing { tool: TOOL, what: format!("{what} under {}", section.test) };
    let is_latency = section.test.ends_with("lat");
    let size = section.number("msg_size").and_then(|(size, unit)| bytes(size, unit));
    let own = Conditions {
        protocol: Some(protocol),
        duration: section.number("time").filter(|(_, unit)| *unit == "sec").and_then(|(number, _)| seconds(number)),
        payload_size: size.filter(|_| is_latency || protocol == Protocol::Udp),
        streams: (!is_latency).then_some(1),
        ..Conditions::default()
    };
    let figure = if is_latency {
        let value = section.value("latency").ok_or_else(|| missing("latency"))?;
        figure(FigureMetric::HalfRtt, Statistic::Mean, &value.replace("sec", "s"))?
    } else {
        // Received figures, where both are known.
        let rate = section.number("recv_bw").or_else(|| section.number("bw")).ok_or_else(|| missing("bw"))?;
        bit_rate(FigureMetric::Goodput, Statistic::Mean, bits(rate).ok_or_else(|| missing("bw in a known unit"))?)?
    };
    Ok(ReferenceFigure { conditions: own, ..figure })
}

fn bits((rate, unit): (f64, &str)) -> Option<f64> {
    let units = [
        ("bytes/sec", 8.0),
        ("KB/sec", 8e3),
        ("MB/sec", 8e6),
        ("GB/sec", 8e9),
        ("bits/sec", 1.0),
        ("Kb/sec", 1e3),
        ("Mb/sec", 1e6),
        ("Gb/sec", 1e9),
    ];
    units.iter().find(|(name, _)| *name == unit).map(|(_, size)| rate * size)
}

fn bytes(size: f64, unit: &str) -> Option<PayloadSize> {
    let units = [("bytes", 1.0), ("KiB", 1024.0), ("MiB", 1_048_576.0)];
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    let size = size * factor;
    (0.0..1e9).contains(&size).then_some(PayloadSize(size as u32))
}
