//! Content of a report, a module for each subject. Every form of the report shows the same page.

mod alone;
mod bufferbloat;
mod card_health;
mod closing;
mod comparison;
mod dut;
mod environment;
mod findings;
mod identity;
mod items;
mod limited;
mod method;
mod opening;
mod raw;
mod references;
mod topology;

pub(crate) use bufferbloat::lines as bufferbloat_lines;
pub(crate) use card_health::lines as card_lines;
pub(crate) use comparison::comparison;
pub use identity::issued_before;
pub use method::PLAN_FILE;

use self::items::Items;
use crate::{
    material::Material,
    page::{Block, Page},
    probes,
    texts::Texts,
};

/// The report of a run.
pub(crate) fn page(material: &Material<'_>, t: &Texts) -> Page {
    let Material { run, assessment, files, .. } = *material;
    let mut blocks = opening::simulated(run, t);
    blocks.extend(card_health::blocks(assessment, t));
    blocks.extend(opening::verdict(material, t));
    blocks.extend(bufferbloat::blocks(assessment, t));
    blocks.extend(opening::key_figures(material, t));
    blocks.extend(opening::caveats(material, t));
    let on_cover = blocks.len();
    let items = Items::of(material, t);
    blocks.push(findings::findings(material, &items, t));
    blocks.extend(identity::conclusion(run, t));
    blocks.push(opening::summary(material, t));
    blocks.extend(items.section(run, t));
    blocks.push(identity::scope(run, t));
    blocks.extend(identity::changes(run, t));
    blocks.push(topology::topology(run, t));
    blocks.push(method::method(material, t));
    blocks.push(results(material, t));
    blocks.extend(references::references(run, assessment.comparisons.as_deref(), t));
    blocks.push(environment::environment(run, t));
    blocks.push(closing::glossary(material, t));
    blocks.extend(raw::files(files, t));
    Page {
        lang: t.lang,
        title: identity::title(run, t),
        issuer: identity::issuer(run),
        mark: identity::mark(run, t),
        identity: identity::rows(run, t),
        approvals: identity::approvals(run, t),
        paper: identity::paper(run),
        blocks,
        on_cover,
        statement: t.get("statement"),
        reference: run.id.to_string(),
    }
    .numbered()
}

fn results(material: &Material<'_>, t: &Texts) -> Block {
    let mut blocks: Vec<Block> = probes::ALL.iter().filter_map(|probe| probe.results(material, t)).collect();
    blocks.extend(limited::limited(material, t));
    blocks.extend(dut::dut(material.run, t));
    blocks.extend(alone::alone(material.run, t));
    Block::section(t.get("results-heading"), blocks)
}
