//! Where it was measured.

use model::{Endpoint, Run};

use crate::{
    figure,
    page::{Block, Span, Text},
    texts::Texts,
};

pub(super) fn topology(run: &Run, t: &Texts) -> Block {
    let mut blocks = vec![Block::Figure(figure::topology(run, t))];
    blocks.extend(run.bed.endpoints.iter().filter_map(|endpoint| why_these_cores(endpoint, t)));
    Block::section(t.get("topology-heading"), blocks)
}

/// Why is the program's own word on the machine, in English.
fn why_these_cores(endpoint: &Endpoint, t: &Texts) -> Option<Block> {
    let cpus: Vec<String> = endpoint.cpus.iter().map(ToString::to_string).collect();
    let words = t.with("endpoint-cpu-why", &[("name", &endpoint.name), ("cpus", &cpus.join(", "))]);
    let why = || Text::from(format!("{words} ")).and(Span::Code(endpoint.cpus_why.clone()));
    (!endpoint.cpus_why.is_empty()).then(|| Block::Note(why()))
}
