//! How to read the report, and what it does not claim.

use maud::{Markup, html};
use model::{Measured, Protocol, Run};

use crate::texts::Texts;

/// Terms that the run's figures need.
pub(super) fn glossary(run: &Run, t: &Texts) -> Markup {
    let any = |holds: fn(&Measured) -> bool| run.trials.iter().any(|trial| holds(&trial.measured));
    let latency = any(|measured| matches!(measured, Measured::Latency { .. }));
    let goodput = any(|measured| matches!(measured, Measured::Goodput { .. }));
    let paced = any(|measured| matches!(measured, Measured::Latency { spec, .. } if spec.rate.is_some()));
    let one_way = any(|measured| matches!(measured, Measured::Latency { result, .. } if result.one_way.is_some()));
    let udp = any(|measured| matches!(measured, Measured::Goodput { spec, .. } if spec.protocol == Protocol::Udp));
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
        ("term-loss", "term-loss-meaning", udp),
        ("term-path-mtu", "term-path-mtu-meaning", path),
        ("term-frame", "term-frame-meaning", latency),
        ("term-mode", "term-mode-meaning", latency),
        ("term-interval", "term-interval-meaning", true),
    ];
    html! {
        section {
            h2 { (t.get("glossary-heading")) }
            dl.glossary {
                @for (term, meaning, _) in terms.into_iter().filter(|(.., needed)| *needed) {
                    dt { (t.get(term)) } dd { (t.get(meaning)) }
                }
            }
        }
    }
}

pub(super) fn statement(t: &Texts) -> Markup {
    html! { footer { p { (t.get("statement")) } } }
}
