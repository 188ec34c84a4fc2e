//! How to read the report.

use crate::{material::Material, page::Block, probes, texts::Texts};

/// Terms that several probes share, in the order in which they are explained. Those of one probe follow.
const TERMS: &str = "term-rtt term-percentile term-half term-load term-gap term-one-way term-variation term-goodput \
    term-loss term-packets term-layers term-path-mtu term-frame term-frame-rate term-mode";

/// Terms that the run's figures need.
pub(super) fn glossary(material: &Material<'_>, t: &Texts) -> Block {
    let needed: Vec<&str> = probes::ALL.iter().flat_map(|probe| probe.terms(material)).collect();
    let shared = TERMS.split(' ').filter(|term| needed.contains(term));
    let own = needed.iter().copied().filter(|term| !TERMS.split(' ').any(|shared| shared == *term));
    let terms = shared.chain(own).chain(["term-interval"]);
    let terms = terms.map(|term| (t.get(term), t.get(&format!("{term}-meaning")).into())).collect();
    Block::section(t.get("glossary-heading"), vec![Block::Terms(terms)])
}
