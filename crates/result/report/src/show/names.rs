//! Names of configurations, in the report's language.

use std::fmt::Display;

use model::{
    Amount, Bed, Direction, IpVersion, Limit, Metric, Nanos, ProbeSpec, Protocol, Quantity, Run, Stack, Verdict,
    WaitMode,
};

use super::{grouped, or_none};
use crate::texts::Texts;

/// Words joined as the language joins them.
pub(crate) fn joined(words: impl IntoIterator<Item = String>, t: &Texts) -> String {
    words.into_iter().reduce(|a, b| t.with("joined", &[("a", &a), ("b", &b)])).unwrap_or_default()
}

pub(crate) fn transport(protocol: Protocol, ip: IpVersion) -> String {
    format!("{} {ip}", protocol.name())
}

/// Only what differs from the ordinary is named.
pub(crate) fn past_the_kernel(used: Stack, t: &Texts) -> Option<String> {
    (used == Stack::Bypass).then(|| stack(used, t))
}

/// Network stack.
pub(crate) fn stack(stack: Stack, t: &Texts) -> String {
    t.of_value("stack", &stack)
}

/// How a program waits.
pub(crate) fn mode(mode: WaitMode, t: &Texts) -> String {
    t.of_value("mode", &mode)
}

/// Direction of the data.
pub(crate) fn direction(direction: Direction, t: &Texts) -> String {
    t.of_value("direction", &direction)
}

/// A configuration and the way that it goes, where that is named.
pub(crate) fn with_way(name: String, ends: Option<(&str, &str)>, t: &Texts) -> String {
    joined([name].into_iter().chain(ends.map(|(from, to)| way(from, to))), t)
}

/// A name with what its figure is of, where several ends send to one at the same time, or receive from it: the sum of their goodput, or the
/// slowest one.
pub(crate) fn of_senders(run: &Run, (spec, metric): (&ProbeSpec, Metric), name: String, t: &Texts) -> String {
    let remark = match (metric.quantity(), spec.probe().selectors().direction) {
        _ if run.bed.senders().len() < 2 || !spec.profile().senders_share => None,
        (Quantity::Rate, Some(Direction::Reverse)) => Some(t.get("sum-of-receivers")),
        (Quantity::Rate, Some(Direction::Both)) => Some(t.get("sum-of-slower-way")),
        (Quantity::Rate, _) => Some(t.get("sum-of-senders")),
        (Quantity::PacketRate, Some(Direction::Reverse)) => Some(t.get("slowest-receiver")),
        (Quantity::PacketRate, Some(Direction::Both)) => Some(t.get("slowest-way")),
        (Quantity::PacketRate, _) => Some(t.get("slowest-sender")),
        _ => None,
    };
    joined([name].into_iter().chain(remark), t)
}

/// A direction.
pub(crate) fn way(from: &str, to: &str) -> String {
    format!("{from} → {to}")
}

/// How many round trips count, or for how long.
pub(crate) fn amount(amount: Amount, t: &Texts) -> String {
    match amount {
        Amount::Count(count) => t.with("amount-count", &[("count", &grouped(count))]),
        Amount::Duration(duration) => t.with("amount-duration", &[("duration", &span(duration, t))]),
    }
}

/// The same before the word "counted" of a sentence.
pub(crate) fn counted(amount: Amount, t: &Texts) -> String {
    match amount {
        Amount::Count(count) => t.with("counted-count", &[("count", &grouped(count))]),
        Amount::Duration(duration) => t.with("counted-duration", &[("duration", &span(duration, t))]),
    }
}

/// A length of time, as the language writes it within a sentence.
pub(crate) fn span(time: Nanos, t: &Texts) -> String {
    let seconds = time.as_secs_f64();
    let (key, count) =
        if seconds < 1.0 { ("span-milliseconds", time.0 as f64 / 1e6) } else { ("span-seconds", seconds) };
    t.with(key, &[("count", &count)])
}

/// The same as a part of a name.
pub(crate) fn short_amount(amount: Amount, t: &Texts) -> String {
    match amount {
        Amount::Count(count) => t.with("name-count", &[("count", &grouped(count))]),
        Amount::Duration(duration) => duration.to_string(),
    }
}

/// The warm-up as a part of a name.
pub(crate) fn short_warmup(warmup: Amount, t: &Texts) -> String {
    t.with("name-warmup", &[("amount", &short_amount(warmup, t))])
}

/// A verdict.
pub(crate) fn verdict(verdict: Verdict, t: &Texts) -> String {
    t.of_value("verdict", &verdict)
}

/// A metric.
pub(crate) fn metric(metric: Metric, t: &Texts) -> String {
    t.of_value("metric", &metric)
}

/// A configuration and its figure; alone where it is called like the figure, as a path MTU is.
pub(crate) fn figure_of(name: &str, between: &str, metric: Metric, t: &Texts) -> String {
    let figure = self::metric(metric, t);
    if name.starts_with(&figure) { name.to_owned() } else { format!("{name}{between}{figure}") }
}

/// Kind of a bed in words.
pub(crate) fn bed(bed: &Bed, t: &Texts) -> String {
    let nic = |end: usize| bed.endpoints.get(end).map_or("", |end| end.interface.as_str());
    let values: [(&str, &dyn Display); 3] = [("near", &nic(0)), ("far", &nic(1)), ("count", &bed.endpoints.len())];
    t.with(&format!("bed-{}", bed.layout()), &values)
}

/// Selectors of a limit that matched nothing.
pub(crate) fn looked_for(limit: &Limit, t: &Texts) -> String {
    let load = |loaded: bool| if loaded { t.get("selects-load") } else { t.get("selects-ping-pong") };
    let selectors = [
        limit.protocol.map(|protocol| protocol.name().to_owned()),
        limit.ip.map(|ip| ip.to_string()),
        limit.stack.map(|it| stack(it, t)),
        limit.mode.map(|it| mode(it, t)),
        limit.frame_size.map(|size| format!("{} B", size.0)),
        limit.under_load.map(load),
        limit.streams.map(|streams| t.count("streams", streams.into())),
        limit.direction.map(|it| direction(it, t)),
        limit.mtu.map(|mtu| format!("MTU {}", mtu.0)),
        limit.rate.map(|rate| t.with("at-rate", &[("rate", &rate)])),
    ];
    let selectors = joined(selectors.into_iter().flatten(), t);
    if selectors.is_empty() { super::NO_FIGURE.to_owned() } else { selectors }
}

/// The share of packets that were lost. No loss says nothing where the sender's cores did the receiving.
pub(crate) fn loss(share: Option<f64>, is_lossless_loop: bool, t: &Texts) -> String {
    let loss = or_none(share, super::percent);
    if is_lossless_loop { t.with("loss-synchronous", &[("loss", &loss)]) } else { loss }
}

#[cfg(test)]
mod tests {
    use model::{Plan, fixture};

    use super::*;
    use crate::lang::Lang;

    #[test]
    fn a_figure_of_several_ends_says_which_it_is_of() {
        let mut bed = fixture::lab();
        let second = model::Endpoint { name: "a2".to_owned(), ..bed.endpoints[0].clone() };
        bed.endpoints.insert(1, second);
        let of = |section: &str, metric, lang| {
            let plan = Plan::parse(&format!("name = \"t\"\n{section}"), &[]).unwrap();
            let spec = plan.specs()[0].clone();
            let run = Run { bed: bed.clone(), ..fixture::run(plan) };
            of_senders(&run, (&spec, metric), "x".to_owned(), Texts::of(lang))
        };
        for (direction, goodput, packets, japanese) in [
            ("forward", "x, sum of all senders", "x, slowest sender", "x・全送信側の合計"),
            ("reverse", "x, sum of all receivers", "x, slowest receiver", "x・全受信側の合計"),
            (
                "both",
                "x, sum of all ends, slower direction",
                "x, slowest direction",
                "x・全エンドポイントの合計(遅いほうの方向)",
            ),
        ] {
            let bulk = format!("[[goodput]]\nprotocol = \"tcp\"\nduration = \"1 s\"\ndirection = \"{direction}\"");
            assert_eq!(of(&bulk, Metric::GoodputMean, Lang::En), goodput);
            assert_eq!(of(&bulk, Metric::GoodputMin, Lang::Ja), japanese);
            let frames = format!("[[packets]]\nduration = \"1 s\"\nframe_sizes = [64]\ndirection = \"{direction}\"");
            assert_eq!(of(&frames, Metric::ForwardingRate, Lang::En), packets);
        }
        assert_eq!(of("[[path]]", Metric::PathMtu, Lang::En), "x");
    }

    #[test]
    fn a_configuration_that_is_called_like_its_figure_is_named_once() {
        let [en, ja] = [Lang::En, Lang::Ja].map(Texts::of);
        assert_eq!(figure_of("Path MTU, IPv4", ": ", Metric::PathMtu, en), "Path MTU, IPv4");
        assert_eq!(figure_of("経路MTU・IPv6", ": ", Metric::PathMtu, ja), "経路MTU・IPv6");
        assert_eq!(figure_of("UDP IPv4", ": ", Metric::RttP50, en), "UDP IPv4: RTT p50");
    }
}
