//! What a report says, a module for each subject. Every form of the report shows the same page.

mod alone;
mod bars;
mod closing;
mod comparison;
mod cpu;
mod datagrams;
mod dut;
mod environment;
mod goodput;
mod identity;
mod items;
mod latency;
mod limited;
mod method;
mod opening;
mod packets;
mod path;
mod raw;
mod references;
mod schedule;
mod senders;
mod stacks;
mod tcp;
mod topology;

pub(crate) use comparison::comparison;
use model::{ReferenceComparison, Run};

use crate::{
    material::Material,
    page::{Block, Page},
    texts::Texts,
};

/// The report of a run.
pub(crate) fn page(material: &Material<'_>, t: &Texts) -> Page {
    let Material { run, outcomes, comparisons, files } = *material;
    let mut blocks = opening::simulated(run, t);
    blocks.push(opening::verdict(run, outcomes, t));
    blocks.push(items::issues(run, outcomes, t));
    let on_cover = blocks.len();
    blocks.push(opening::summary(run, t));
    blocks.push(opening::doubts(run, t));
    blocks.push(identity::scope(run, t));
    blocks.push(items::items(run, outcomes, t));
    blocks.extend(opening::limits(run, outcomes, t));
    blocks.push(topology::topology(run, t));
    blocks.push(method::method(run, t));
    blocks.push(results(run, comparisons.unwrap_or_default(), t));
    blocks.extend(references::references(run, comparisons, t));
    blocks.push(environment::environment(run, t));
    blocks.push(closing::glossary(run, t));
    blocks.extend(raw::files(files, t));
    Page {
        lang: t.lang,
        title: identity::title(run, t),
        mark: run.bed.simulated.then(|| t.get("simulated")),
        identity: identity::rows(run, t),
        approvals: identity::approvals(run, t),
        blocks,
        on_cover,
        statement: t.get("statement"),
        reference: run.id.to_string(),
    }
    .numbered()
}

fn results(run: &Run, comparisons: &[ReferenceComparison], t: &Texts) -> Block {
    let parts = [
        latency::latency(run, comparisons, t),
        goodput::goodput(run, t),
        packets::packets(run, t),
        path::path(run, t),
        limited::limited(run, t),
        dut::dut(run, t).into_iter().collect(),
        alone::alone(run, t),
    ];
    Block::section(t.get("results-heading"), parts.into_iter().flatten().collect())
}
