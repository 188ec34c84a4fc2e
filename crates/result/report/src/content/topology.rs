//! Where it was measured.

use model::{Endpoint, Run};

use crate::{
    figure,
    page::{Block, Span, Text},
    show,
    texts::Texts,
};

pub(super) fn topology(run: &Run, t: &Texts) -> Block {
    let mut blocks = vec![Block::Figure(figure::topology(run, t))];
    blocks.extend(run.bed.endpoints.iter().filter_map(|endpoint| why_these_cores(endpoint, t)));
    Block::section(t.get("topology-heading"), blocks)
}

fn why_these_cores(endpoint: &Endpoint, t: &Texts) -> Option<Block> {
    let cpus: Vec<String> = endpoint.cpus.iter().map(ToString::to_string).collect();
    let words = t.with("endpoint-cpu-why", &[("name", &endpoint.name), ("cpus", &cpus.join(", "))]);
    let said = |words: String| Span::Plain(words);
    let unknown = || Span::Code(endpoint.cpus_why.clone());
    let why = || {
        let why = show::why_these_cores(&endpoint.cpus_why, t).map_or_else(unknown, said);
        Text::from(format!("{words} ")).and(why)
    };
    (!endpoint.cpus_why.is_empty()).then(|| Block::Note(why()))
}
