//! Values of other tools as figures of a reference.

use std::net::IpAddr;

use model::{
    BitRate, IpVersion, ReferenceFigure,
    reference::{Conditions, FigureMetric, Statistic, Words},
};

use crate::ImportError;

/// A figure without conditions of its own. `value` carries its unit.
pub(crate) fn figure(metric: FigureMetric, statistic: Statistic, value: &str) -> Result<ReferenceFigure, ImportError> {
    let wrong = |_| ImportError::Value { what: metric.word(), value: value.to_owned() };
    let value = value.parse().map_err(wrong)?;
    Ok(ReferenceFigure {
        metric,
        statistic,
        value,
        tx_and_rx: false,
        inside_host: false,
        conditions: Conditions::default(),
        note: None,
    })
}

/// A bit rate, to the bit.
pub(crate) fn bit_rate(metric: FigureMetric, statistic: Statistic, bps: f64) -> Result<ReferenceFigure, ImportError> {
    figure(metric, statistic, &BitRate(whole(bps, metric)?).to_string())
}

/// A packet rate, to the packet.
pub(crate) fn packet_rate(
    metric: FigureMetric,
    statistic: Statistic,
    pps: f64,
) -> Result<ReferenceFigure, ImportError> {
    figure(metric, statistic, &format!("{} pps", whole(pps, metric)?))
}

fn whole(rate: f64, metric: FigureMetric) -> Result<u64, ImportError> {
    // Past 2^53 a float no longer counts single units, and no rate is that high.
    if (0.0..9.0e15).contains(&rate) {
        Ok(rate.round() as u64)
    } else {
        Err(ImportError::Value { what: metric.word(), value: rate.to_string() })
    }
}

/// Conditions that addresses tell: the IP version, and that nothing left the machine.
pub(crate) fn of_address(text: &str) -> Conditions {
    let Ok(address) = text.parse::<IpAddr>() else { return Conditions::default() };
    Conditions {
        ip: Some(IpVersion::of(address)),
        simulated: address.is_loopback().then_some(true),
        ..Conditions::default()
    }
}

/// A remark in both languages.
pub(crate) fn note(en: &str, ja: &str) -> Words {
    Words { en: en.to_owned(), ja: Some(ja.to_owned()) }
}

/// The number after this mark.
pub(crate) fn number_after(text: &str, mark: &str) -> Option<f64> {
    word_after(text, mark)?.parse().ok()
}

/// The number or word after this mark, up to a blank, bracket or semicolon.
pub(crate) fn word_after<'a>(text: &'a str, mark: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(mark)?;
    let rest = rest.trim_start_matches([' ', '=', '\t']);
    let end = rest.find(|c: char| c.is_whitespace() || ";,()[]".contains(c)).unwrap_or(rest.len());
    Some(&rest[..end])
}

/// Seconds as a time, where it can be one.
pub(crate) fn seconds(text: f64) -> Option<model::Nanos> {
    (0.0..1e9).contains(&text).then(|| model::Nanos((text * 1e9).round() as u64))
}
