//! How to read the report.

use crate::{material::Material, page::Block, probes, texts::Texts};

/// All terms with their meanings, in the order in which they are explained.
const TERMS: [(&str, &str); 15] = [
    ("term-rtt", "term-rtt-meaning"),
    ("term-percentile", "term-percentile-meaning"),
    ("term-half", "term-half-meaning"),
    ("term-load", "term-load-meaning"),
    ("term-gap", "term-gap-meaning"),
    ("term-one-way", "term-one-way-meaning"),
    ("term-variation", "term-variation-meaning"),
    ("term-goodput", "term-goodput-meaning"),
    ("term-loss", "term-loss-meaning"),
    ("term-packets", "term-packets-meaning"),
    ("term-layers", "term-layers-meaning"),
    ("term-path-mtu", "term-path-mtu-meaning"),
    ("term-frame", "term-frame-meaning"),
    ("term-frame-rate", "term-frame-rate-meaning"),
    ("term-mode", "term-mode-meaning"),
];

/// Terms that the run's figures need.
pub(super) fn glossary(material: &Material<'_>, t: &Texts) -> Block {
    let needed: Vec<&str> = probes::ALL.iter().flat_map(|probe| probe.terms(material)).collect();
    let terms = TERMS.into_iter().filter(|(term, _)| needed.contains(term));
    let terms = terms.chain([("term-interval", "term-interval-meaning")]);
    let terms = terms.map(|(term, meaning)| (t.get(term), t.get(meaning).into())).collect();
    Block::section(t.get("glossary-heading"), vec![Block::Terms(terms)])
}
