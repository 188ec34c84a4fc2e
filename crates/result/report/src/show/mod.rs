//! Quantities, names and dates as the report writes them.

mod comparison;
mod host;
mod names;
mod references;

use jiff::{Timestamp, Zoned, civil::Date, tz::TimeZone};
use model::{Assessment, Metric, PageOne, Quantity, Run, Verdict};

pub(crate) use self::comparison::{compared_run, difference, difference_interval, medians};
pub(crate) use self::host::{hypervisor, link_state, reading, reading_or_none, why_these_cores};
pub(crate) use self::names::{
    amount, bed, counted, direction, figure_of, joined, looked_for, loss, metric, mode, of_senders, past_the_kernel,
    short_amount, short_warmup, span, stack, transport, verdict, way, with_way,
};
pub(crate) use self::references::{
    criterion, declared, deviation, in_short, limit, limit_of_several, not_comparable, printed, undecided, words,
};
use crate::texts::Texts;

/// Bytes on the wire beside the frame: preamble, start delimiter (8) and the gap to the next (12).
pub(crate) const WIRE_EXTRA: u32 = 20;

/// Sign for a missing figure.
pub(crate) const NO_FIGURE: &str = "–";

/// Nanoseconds as microseconds, without the unit.
pub(crate) fn micros(ns: f64) -> String {
    let us = ns / 1e3;
    if us < 1000.0 { format!("{us:.2}") } else { grouped(us.round() as u64) }
}

/// Nanoseconds as microseconds, or the sign for a missing figure.
pub(crate) fn micros_or_none(ns: Option<f64>) -> String {
    ns.map_or(NO_FIGURE.to_owned(), micros)
}

/// A time with three digits, from microseconds to seconds.
pub(crate) fn seconds(seconds: f64) -> String {
    let (value, unit) = match seconds {
        0.0 => return "0 s".to_owned(),
        seconds if seconds >= 1.0 => (seconds, "s"),
        seconds if seconds >= 1e-3 => (seconds * 1e3, "ms"),
        seconds => (seconds * 1e6, "µs"),
    };
    let digits = 2_usize.saturating_sub(value.max(1.0).log10() as usize);
    format!("{value:.digits$} {unit}")
}

/// A bit rate in decimal units.
pub(crate) fn rate(bps: f64) -> String {
    let (size, unit) = rate_unit(bps);
    format!("{:.2} {unit}", bps / size)
}

/// Two values of a limit's metric with their unit.
pub(crate) fn metric_range(metric: Metric, low: f64, high: f64) -> String {
    let [from, to] = [low, high].map(|value| metric_value(metric, value));
    if from == to {
        return from;
    }
    match metric.quantity() {
        Quantity::Time => format!("{} – {} µs", micros(low), micros(high)),
        Quantity::Rate => rate_range(low, high),
        Quantity::PacketRate => format!("{} – {}", packet_rate(low), packet_rate(high)),
        Quantity::TransactionRate => format!("{} – {}", transaction_rate(low), transaction_rate(high)),
        Quantity::FileRate => format!("{low:.0} – {high:.0} files/s"),
        Quantity::Size => format!("{low:.0} – {high:.0} B"),
        Quantity::Share => format!("{} – {}", percent(low), percent(high)),
        Quantity::Count => format!("{low:.0} – {high:.0}"),
    }
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
    match metric.quantity() {
        Quantity::Time => format!("{} µs", micros(value)),
        Quantity::Rate => rate(value),
        Quantity::PacketRate => packet_rate(value),
        Quantity::TransactionRate => transaction_rate(value),
        Quantity::FileRate => format!("{value:.0} files/s"),
        Quantity::Size => format!("{value:.0} B"),
        Quantity::Share => percent(value),
        Quantity::Count => format!("{value:.0}"),
    }
}

/// A bound with its unit: as a figure is shown, and with more digits where these would say another bound.
pub(crate) fn bound_value(metric: Metric, value: f64) -> String {
    let rounded = metric_value(metric, value);
    let (size, unit) = match metric.quantity() {
        Quantity::Time => (1e3, "µs"),
        Quantity::Rate => rate_unit(value),
        Quantity::PacketRate => packet_rate_unit(value),
        Quantity::TransactionRate => transaction_rate_unit(value),
        Quantity::Share => (0.01, "%"),
        Quantity::FileRate | Quantity::Size | Quantity::Count => return rounded,
    };
    let exact = value / size;
    let shown = rounded.rsplit_once(' ').and_then(|(number, _)| number.replace(',', "").parse::<f64>().ok());
    if shown.is_some_and(|shown| (shown - exact).abs() <= exact.abs() * 1e-9) {
        return rounded;
    }
    let digits = format!("{exact:.9}");
    format!("{} {unit}", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// Packets a second in decimal units.
pub(crate) fn packet_rate(pps: f64) -> String {
    with_unit(pps, packet_rate_unit(pps))
}

/// Transactions or connections a second in decimal units.
pub(crate) fn transaction_rate(tps: f64) -> String {
    with_unit(tps, transaction_rate_unit(tps))
}

fn with_unit(value: f64, (size, unit): (f64, &str)) -> String {
    let decimals = [(1e6, 2), (1e3, 1)].iter().find(|(of, _)| size >= *of).map_or(0, |(_, decimals)| *decimals);
    format!("{:.decimals$} {unit}", value / size)
}

/// The decimal unit that suits a packet rate, and its size.
pub(crate) fn packet_rate_unit(pps: f64) -> (f64, &'static str) {
    decimal_unit(pps, ["Mpps", "kpps", "pps"])
}

/// The decimal unit that suits a rate of transactions, and its size.
pub(crate) fn transaction_rate_unit(tps: f64) -> (f64, &'static str) {
    decimal_unit(tps, ["Mtps", "ktps", "tps"])
}

fn decimal_unit(value: f64, [mega, kilo, one]: [&'static str; 3]) -> (f64, &'static str) {
    match value {
        1e6.. => (1e6, mega),
        1e3.. => (1e3, kilo),
        _ => (1.0, one),
    }
}

/// A share of 1 in percent, fine enough that a single loss does not round to none.
pub(crate) fn percent(share: f64) -> String {
    match share * 100.0 {
        0.0 => "0 %".to_owned(),
        percent @ 0.01.. => format!("{percent:.2} %"),
        percent @ 0.0001.. => format!("{percent:.4} %"),
        _ => "< 0.0001 %".to_owned(),
    }
}

/// One figure as a multiple of another.
pub(crate) fn ratio(ratio: f64) -> String {
    format!("{ratio:.2}")
}

/// A value or the sign for a missing one.
pub(crate) fn or_none<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| NO_FIGURE.to_owned(), show)
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

/// An RFC 3339 time as date and time in the reader's time zone, which is named; as it is if it is none.
pub(crate) fn time(rfc3339: &str, t: &Texts) -> String {
    let Ok(time) = rfc3339.parse::<Timestamp>() else { return rfc3339.to_owned() };
    let time = time.to_zoned(t.zone.clone());
    format!("{} {}", time.strftime("%Y-%m-%d %H:%M:%S"), zone_of(&time))
}

/// Name of the time zone of a time, and its offset where the name is not UTC.
fn zone_of(time: &Zoned) -> String {
    let (name, offset) = (time.strftime("%Z").to_string(), time.strftime("UTC%:z"));
    match name.as_str() {
        "UTC" => name,
        // Zones without a name of their own have their offset in its place.
        _ if !name.starts_with(|c: char| c.is_ascii_alphabetic()) => offset.to_string(),
        _ => format!("{name} ({offset})"),
    }
}

/// The day of an RFC 3339 time in a time zone; `None` if it is none.
pub(crate) fn day(rfc3339: &str, zone: &TimeZone) -> Option<Date> {
    Some(rfc3339.parse::<Timestamp>().ok()?.to_zoned(zone.clone()).date())
}

/// A command line that a shell reads back as these words.
pub fn command(words: &[String]) -> String {
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

/// Verdict over all limits and all items verified by a person, as a word and as sentences. `None` where neither is there and the health of
/// cards or a grade of the latency under load stands in its place.
pub(crate) fn overall(assessment: &Assessment, t: &Texts) -> Option<(String, String)> {
    let Some(overall) = assessment.verdict else {
        let is_answered = assessment.card.is_some() || !assessment.bufferbloat.is_empty();
        return (!is_answered).then(|| (t.get("verdict-none"), t.get("verdict-none-meaning")));
    };
    let PageOne { tally, undecided, .. } = &assessment.page_one;
    let meaning = match overall {
        Verdict::Pass => t.get("verdict-pass-meaning"),
        Verdict::Fail => t.with("verdict-fail-meaning", &[("count", &tally.fail), ("all", &tally.all())]),
        Verdict::Inconclusive | Verdict::NotRun | Verdict::NotComparable => t.get("verdict-open-meaning"),
    };
    let why = match undecided.as_slice() {
        [] => return Some((verdict(overall, t), meaning)),
        [(why, _)] => self::undecided(why, t),
        several => {
            let reason = |(why, count): &(_, usize)| {
                t.with("undecided-of", &[("count", count), ("why", &self::undecided(why, t))])
            };
            several.iter().map(reason).collect::<Vec<_>>().join(&t.get("list-semicolon"))
        }
    };
    let open = t.with("verdict-undecided", &[("count", &tally.undecided), ("why", &why)]);
    Some((verdict(overall, t), t.with("sentences", &[("a", &meaning), ("b", &open)])))
}

/// How many criteria have which verdict.
pub(crate) fn tally(page_one: &PageOne, t: &Texts) -> String {
    let tally = page_one.tally;
    t.with("tally", &[("pass", &tally.pass), ("fail", &tally.fail), ("undecided", &tally.undecided)])
}

/// How much of the plan a partial run has.
pub(crate) fn partial(run: &Run, t: &Texts) -> String {
    let done = run.trials.iter().filter(|trial| trial.is_whole()).count();
    let (planned, cut_off) = (procedure::planned(&run.plan, run.bed.senders().len()), run.trials.len() - done);
    let key = if cut_off > 0 { "partial-meaning-cut-off" } else { "partial-meaning" };
    let meaning = t.with(key, &[("done", &done), ("planned", &planned), ("cut_off", &cut_off)]);
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
    use crate::lang::Lang;

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
        assert_eq!((packet_rate(812_345.0), packet_rate(1.5e6)), ("812.3 kpps".into(), "1.50 Mpps".into()));
        assert_eq!(metric_value(Metric::PathMtu, 1500.0), "1500 B");
        assert_eq!(metric_range(Metric::Loss, 0.0, 0.001), "0 % – 0.10 %");
    }

    #[test]
    fn a_bound_is_never_rounded_to_another_one() {
        let time = |ns| bound_value(Metric::RttP50, ns);
        assert_eq!(
            [time(1.0), time(7004.0), time(7004.9), time(7000.0)].join("; "),
            "0.001 µs; 7.004 µs; 7.0049 µs; 7.00 µs"
        );
        assert_eq!([bound_value(Metric::Loss, 1e-7), bound_value(Metric::Loss, 0.001)], ["0.00001 %", "0.10 %"]);
        assert_eq!(bound_value(Metric::GoodputMean, 9_414_900_000.0), "9.4149 Gbit/s");
        assert_eq!((bound_value(Metric::Loss, 0.0), time(2.5e9)), ("0 %".into(), "2,500,000 µs".into()));
    }

    #[test]
    fn no_loss_and_little_loss_are_told_apart() {
        let shown = [0.0, 0.012_34, 0.000_012, 1e-9].map(percent);
        assert_eq!(shown, ["0 %", "1.23 %", "0.0012 %", "< 0.0001 %"]);
    }

    #[test]
    fn times_are_shown_in_the_zone_of_the_reader_which_is_named() {
        let shown = |zone: TimeZone, at: &str| {
            let mut t = Texts::naming(Lang::En, []);
            t.zone = zone;
            time(at, &t)
        };
        let tokyo = || TimeZone::posix("JST-9").unwrap();
        assert_eq!(shown(TimeZone::UTC, "2026-11-21T19:15:00+09:00"), "2026-11-21 10:15:00 UTC");
        assert_eq!(shown(tokyo(), "2026-11-21T15:15:00Z"), "2026-11-22 00:15:00 JST (UTC+09:00)");
        let berlin = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        assert_eq!(shown(berlin, "2026-07-21T10:15:00Z"), "2026-07-21 12:15:00 CEST (UTC+02:00)");
        let kathmandu = TimeZone::posix("<+0545>-5:45").unwrap();
        assert_eq!(shown(kathmandu, "2026-11-21T10:15:00Z"), "2026-11-21 16:00:00 UTC+05:45");
        assert_eq!(shown(tokyo(), "soon"), "soon");
        assert_eq!(day("2026-11-21T15:15:00Z", &tokyo()).unwrap().to_string(), "2026-11-22");
    }

    #[test]
    fn a_shell_reads_the_command_back() {
        let words = ["wireproof", "verify", "--set", "goodput.duration=3 s", "it's"].map(str::to_owned);
        assert_eq!(command(&words), r"wireproof verify --set 'goodput.duration=3 s' 'it'\''s'");
    }

    #[test]
    fn packet_rates_have_units_that_suit() {
        assert_eq!([14.88e6, 2.0e5, 90.0].map(packet_rate_unit), [(1e6, "Mpps"), (1e3, "kpps"), (1.0, "pps")]);
    }
}
