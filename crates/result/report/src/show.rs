//! Quantities, names and dates as the report writes them.

use model::{
    GoodputSpec, IpVersion, LatencySpec, Limit, LimitOutcome, Metric, ProbeSpec, Protocol, Run, Verdict, WaitMode,
    plan::Bound,
};

use crate::texts::Texts;

/// What stands where there is no figure.
pub(crate) const NO_FIGURE: &str = "–";

/// Nanoseconds as microseconds, without the unit.
pub(crate) fn micros(ns: f64) -> String {
    let us = ns / 1e3;
    if us < 1000.0 { format!("{us:.2}") } else { grouped(us.round() as u64) }
}

/// Nanoseconds as microseconds, or what stands for none.
pub(crate) fn micros_or_none(ns: Option<f64>) -> String {
    ns.map_or(NO_FIGURE.to_owned(), micros)
}

/// A bit rate in decimal units.
pub(crate) fn rate(bps: f64) -> String {
    let (size, unit) = rate_unit(bps);
    format!("{:.2} {unit}", bps / size)
}

/// Two values of a limit's metric with their unit.
pub(crate) fn metric_range(metric: Metric, low: f64, high: f64) -> String {
    if metric.is_time() { format!("{} – {} µs", micros(low), micros(high)) } else { rate_range(low, high) }
}

/// Two bit rates in the unit of the higher.
pub(crate) fn rate_range(low: f64, high: f64) -> String {
    let (size, unit) = rate_unit(high);
    format!("{:.2} – {:.2} {unit}", low / size, high / size)
}

/// The decimal unit that suits a bit rate, and its size.
pub(crate) fn rate_unit(bps: f64) -> (f64, &'static str) {
    match bps {
        1e9.. => (1e9, "Gbit/s"),
        1e6.. => (1e6, "Mbit/s"),
        1e3.. => (1e3, "kbit/s"),
        _ => (1.0, "bit/s"),
    }
}

/// A value of a limit's metric with its unit.
pub(crate) fn metric_value(metric: Metric, value: f64) -> String {
    if metric.is_time() { format!("{} µs", micros(value)) } else { rate(value) }
}

/// A count with its digits in groups of three.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes of memory in binary units.
pub(crate) fn memory(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

/// An RFC 3339 time as date and time in UTC; as it is if it is none.
pub(crate) fn time(rfc3339: &str) -> String {
    match rfc3339.parse::<jiff::Timestamp>() {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        Err(_) => rfc3339.to_owned(),
    }
}

/// A command line that a shell reads back as these words.
pub(crate) fn command(words: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    let quoted = |word: &String| {
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// Kind of latency traffic, frame size left out: `UDP IPv4, spin`.
pub(crate) fn latency_traffic(spec: &LatencySpec, t: &Texts) -> String {
    traffic_words(spec.protocol, spec.ip, &mode(spec.mode, t), t)
}

/// A latency configuration: its traffic and frame size.
pub(crate) fn latency_configuration(spec: &LatencySpec, t: &Texts) -> String {
    t.with("configuration", &[("traffic", &latency_traffic(spec, t)), ("frame", &spec.frame_size.0)])
}

/// Protocol, IP version and how, joined as the language joins them.
pub(crate) fn traffic_words(protocol: Protocol, ip: IpVersion, how: &str, t: &Texts) -> String {
    t.with("traffic", &[("protocol", &protocol), ("ip", &ip), ("how", &how)])
}

/// How a program waits, in the report's language.
pub(crate) fn mode(mode: WaitMode, t: &Texts) -> String {
    match mode {
        WaitMode::Spin => t.get("mode-spin"),
        WaitMode::Block => t.get("mode-block"),
    }
}

/// Kind of goodput traffic: `TCP IPv4, 2 streams`.
pub(crate) fn goodput_traffic(spec: &GoodputSpec, t: &Texts) -> String {
    traffic_words(spec.protocol, spec.ip, &t.count("streams", spec.streams.into()), t)
}

/// Kind of traffic, frame size left out.
pub(crate) fn traffic(spec: &ProbeSpec, t: &Texts) -> String {
    match spec {
        ProbeSpec::Latency(spec) => latency_traffic(spec, t),
        ProbeSpec::Goodput(spec) => goodput_traffic(spec, t),
    }
}

/// A configuration in words.
pub(crate) fn configuration(spec: &ProbeSpec, t: &Texts) -> String {
    match spec {
        ProbeSpec::Latency(spec) => latency_configuration(spec, t),
        ProbeSpec::Goodput(spec) => goodput_traffic(spec, t),
    }
}

/// A verdict in the report's language.
pub(crate) fn verdict(verdict: Verdict, t: &Texts) -> String {
    match verdict {
        Verdict::Pass => t.get("verdict-pass"),
        Verdict::NotRun => t.get("verdict-not-run"),
        Verdict::Inconclusive => t.get("verdict-inconclusive"),
        Verdict::Fail => t.get("verdict-fail"),
    }
}

/// A metric in the report's language.
pub(crate) fn metric(metric: Metric, t: &Texts) -> String {
    match metric {
        Metric::RttMin => t.get("metric-rtt-min"),
        Metric::RttMean => t.get("metric-rtt-mean"),
        Metric::RttP50 => t.get("metric-rtt-p50"),
        Metric::RttP90 => t.get("metric-rtt-p90"),
        Metric::RttP99 => t.get("metric-rtt-p99"),
        Metric::RttP999 => t.get("metric-rtt-p999"),
        Metric::RttMax => t.get("metric-rtt-max"),
        Metric::GoodputMean => t.get("metric-goodput-mean"),
        Metric::GoodputMin => t.get("metric-goodput-min"),
    }
}

/// A limit's bound in words.
pub(crate) fn limit(limit: &Limit, t: &Texts) -> String {
    let value = |bound: f64| metric_value(limit.metric, bound);
    match limit.bound() {
        Ok(Bound::AtMost(bound)) => t.with("limit-at-most", &[("value", &value(bound))]),
        Ok(Bound::AtLeast(bound)) => t.with("limit-at-least", &[("value", &value(bound))]),
        Err(_) => NO_FIGURE.to_owned(),
    }
}

/// The configuration that an outcome speaks of, in the report's language.
pub(crate) fn outcome_name(run: &Run, outcome: &LimitOutcome, t: &Texts) -> String {
    let spec = run.plan.specs().into_iter().find(|spec| spec.to_string() == outcome.probe);
    spec.map_or_else(|| outcome.probe.clone(), |spec| configuration(&spec, t))
}

/// What all limits say together, as a word and a sentence.
pub(crate) fn overall(outcomes: &[LimitOutcome], t: &Texts) -> (String, String) {
    let Some(overall) = verdict::overall(outcomes) else {
        return (t.get("verdict-none"), t.get("verdict-none-meaning"));
    };
    let meaning = match overall {
        Verdict::Pass => t.get("verdict-pass-meaning"),
        Verdict::NotRun => t.get("verdict-not-run-meaning"),
        Verdict::Inconclusive => t.get("verdict-inconclusive-meaning"),
        Verdict::Fail => t.get("verdict-fail-meaning"),
    };
    (verdict(overall, t), meaning)
}

/// How much of the plan a partial run has.
pub(crate) fn partial(run: &Run, t: &Texts) -> String {
    let meaning = t.with("partial-meaning", &[("done", &run.trials.len()), ("planned", &run.plan.steps().len())]);
    format!("{}: {meaning}", t.get("partial"))
}

/// A time to wait, no finer than a person needs.
pub(crate) fn time_left(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_carry_decimal_units_and_grouped_digits() {
        assert_eq!(micros(12_345.0), "12.35");
        assert_eq!(micros(2_345_678.0), "2,346");
        assert_eq!(rate(24_310_000_000.0), "24.31 Gbit/s");
        assert_eq!(rate(940_100_000.0), "940.10 Mbit/s");
        assert_eq!(rate_range(940_100_000.0, 1_100_000_000.0), "0.94 – 1.10 Gbit/s");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(999), "999");
        assert_eq!(memory(8 << 30), "8.0 GiB");
    }

    #[test]
    fn times_are_shown_in_utc() {
        assert_eq!(time("2026-11-21T19:15:00+09:00"), "2026-11-21 10:15:00 UTC");
        assert_eq!(time("soon"), "soon");
    }

    #[test]
    fn a_shell_reads_the_command_back() {
        let words = ["wireproof", "verify", "--set", "goodput.duration=3 s", "it's"].map(str::to_owned);
        assert_eq!(command(&words), r"wireproof verify --set 'goodput.duration=3 s' 'it'\''s'");
    }
}
