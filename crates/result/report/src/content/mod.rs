//! Content of a report, a module for each subject. Every form of the report shows the same page.

mod alone;
mod bufferbloat;
mod card_health;
mod closing;
mod comparison;
mod dut;
mod effect;
mod environment;
mod failed;
mod findings;
mod identity;
mod inspection;
mod items;
mod limited;
mod method;
mod opening;
mod raw;
mod references;
mod rfc2544;
mod searches;
mod topology;

pub(crate) use bufferbloat::lines as bufferbloat_lines;
pub(crate) use card_health::{cases as card_cases, lines as card_lines};
pub(crate) use comparison::comparison;
pub(crate) use effect::effect;
pub(crate) use failed::failed_by_hand;
pub(crate) use findings::in_words;
pub use identity::{issued_before, signed_before};
pub(crate) use items::{manual, result};
pub use method::PLAN_FILE;
pub(crate) use rfc2544::terminal_table as rfc2544_table;
pub(crate) use searches::lines as search_lines;

use self::items::Items;
use crate::{
    material::Material,
    page::{Block, Page},
    probes,
    texts::Texts,
};

/// The report of a run, in the order of a test report: subject, conditions, method, results, findings. `docs/reports.md` has the list.
pub(crate) fn page(material: &Material<'_>, t: &Texts) -> Page {
    let Material { run, assessment, files, .. } = *material;
    let mut cover = opening::simulated(run, t);
    cover.extend(card_health::blocks(assessment, t));
    cover.extend(opening::verdict(material, t));
    cover.extend(bufferbloat::blocks(assessment, t));
    cover.extend(opening::key_figures(material, t));
    cover.extend(opening::caveats(material, t));
    let items = Items::of(material, t);
    let mut body = vec![opening::summary(material, t)];
    body.extend(identity::conclusion(run, t));
    body.push(identity::scope(run, t));
    body.push(topology::topology(run, t));
    body.push(environment::environment(run, t));
    body.extend(inspection::inspection(assessment, t));
    body.push(method::method(material, t));
    body.extend(items.section(run, t));
    body.push(results(material, t));
    body.extend(references::references(run, assessment.comparisons.as_deref(), t));
    body.push(findings::findings(material, &items, t));
    body.push(closing::glossary(material, t));
    body.extend(raw::files(files, t));
    Page {
        lang: t.lang,
        title: identity::title(run, t),
        issuer: identity::issuer(run),
        mark: identity::mark(run, t),
        identity: identity::rows(run, t),
        approvals: identity::approvals(run, t),
        paper: identity::paper(run),
        cover,
        front: identity::changes(run, t).into_iter().collect(),
        body,
        statement: t.get("statement"),
        reference: run.id.to_string(),
    }
    .numbered()
}

fn results(material: &Material<'_>, t: &Texts) -> Block {
    let mut blocks = rfc2544::sections(material.assessment, t);
    blocks.extend(searches::section(material.assessment, t));
    blocks.extend(probes::ALL.iter().filter_map(|probe| probe.results(material, t)));
    blocks.extend(limited::limited(material, t));
    blocks.extend(dut::dut(material.run, t));
    blocks.extend(alone::alone(material.run, t));
    Block::section(t.get("results-heading"), blocks)
}
