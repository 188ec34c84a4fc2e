//! How to read the report.

use model::{Measured, Protocol, Run};

use crate::{page::Block, texts::Texts};

/// Terms that the run's figures need.
pub(super) fn glossary(run: &Run, t: &Texts) -> Block {
    let any = |holds: fn(&Measured) -> bool| run.trials.iter().any(|trial| holds(&trial.measured));
    let latency = any(|measured| matches!(measured, Measured::Latency { .. }));
    let goodput = any(|measured| matches!(measured, Measured::Goodput { .. }));
    let paced = any(|measured| matches!(measured, Measured::Latency { spec, .. } if spec.rate.is_some()));
    let one_way = any(|measured| matches!(measured, Measured::Latency { result, .. } if result.one_way.is_some()));
    let udp = any(|measured| matches!(measured, Measured::Goodput { spec, .. } if spec.protocol == Protocol::Udp));
    let packets = any(|measured| matches!(measured, Measured::Packets { .. }));
    let path = any(|measured| matches!(measured, Measured::Path { .. }));
    let terms = [
        ("term-rtt", "term-rtt-meaning", latency),
        ("term-percentile", "term-percentile-meaning", latency),
        ("term-half", "term-half-meaning", latency),
        ("term-load", "term-load-meaning", paced),
        ("term-gap", "term-gap-meaning", paced),
        ("term-one-way", "term-one-way-meaning", one_way),
        ("term-variation", "term-variation-meaning", latency),
        ("term-goodput", "term-goodput-meaning", goodput),
        ("term-loss", "term-loss-meaning", udp || packets),
        ("term-packets", "term-packets-meaning", packets),
        ("term-layers", "term-layers-meaning", packets),
        ("term-path-mtu", "term-path-mtu-meaning", path),
        ("term-frame", "term-frame-meaning", latency || packets),
        ("term-frame-rate", "term-frame-rate-meaning", udp || packets),
        ("term-mode", "term-mode-meaning", latency),
        ("term-interval", "term-interval-meaning", true),
    ];
    let needed = terms.into_iter().filter(|(.., needed)| *needed);
    let terms = needed.map(|(term, meaning, _)| (t.get(term), t.get(meaning).into())).collect();
    Block::section(t.get("glossary-heading"), vec![Block::Terms(terms)])
}
