//! Identity of the document, its scope, and deviations from the method.

use std::fmt::Display;

use model::{Device, Identity, Run, Signatory};

use crate::{
    columns::Columns,
    page::{Block, Item, Text},
    show,
    texts::Texts,
};

/// As it was given, or what every such report is.
pub(super) fn title(run: &Run, t: &Texts) -> String {
    run.identity.as_ref().and_then(|identity| identity.title.clone()).unwrap_or_else(|| t.get("title"))
}

/// The cover. Unknown entries are boxes for a pen.
pub(super) fn rows(run: &Run, t: &Texts) -> Vec<(String, String)> {
    let identity = run.identity.clone().unwrap_or_default();
    let mut rows = vec![
        (t.get("label-document-number"), identity.document_number.clone().unwrap_or_default()),
        (t.get("label-revision"), identity.revision.clone().unwrap_or_default()),
        (t.get("label-date"), identity.date.map(|date| date.to_string()).unwrap_or_default()),
        (t.get("label-customer"), identity.customer.clone().unwrap_or_default()),
        (t.get("label-site"), identity.site.clone().unwrap_or_default()),
    ];
    rows.extend(measured(run, t));
    rows
}

/// Responsible persons. An open entry is a box for a pen or a stamp.
pub(super) fn approvals(run: &Run, t: &Texts) -> Vec<(String, String)> {
    let identity = run.identity.clone().unwrap_or_default();
    let in_box = |who: &Signatory| match &who.date {
        Some(date) => format!("{}\n{date}", who.name),
        None => who.name.clone(),
    };
    let signatory = |who: &Option<Signatory>| who.as_ref().map(in_box).unwrap_or_default();
    vec![
        (t.get("label-approved-by"), signatory(&identity.approved_by)),
        (t.get("label-checked-by"), signatory(&identity.checked_by)),
        (t.get("label-made-by"), signatory(&identity.made_by)),
    ]
}

/// What identifies the run.
fn measured(run: &Run, t: &Texts) -> Vec<(String, String)> {
    let finished = run.finished.as_deref().map_or_else(|| t.get("not-finished"), show::time);
    let nic = |end: usize| run.bed.endpoints.get(end).map_or("", |end| end.interface.as_str());
    let values: [(&str, &dyn Display); 3] = [("near", &nic(0)), ("far", &nic(1)), ("count", &run.bed.endpoints.len())];
    let bed = t.with(&format!("bed-{}", run.bed.layout()), &values);
    vec![
        (t.get("label-run"), run.id.to_string()),
        (t.get("label-started"), show::time(&run.started)),
        (t.get("label-finished"), finished),
        (t.get("label-plan"), run.plan.name.clone()),
        (t.get("label-bed"), bed),
        (t.get("label-program"), run.wireproof.clone()),
    ]
}

/// The author's conclusion, if there is one.
pub(super) fn conclusion(run: &Run, t: &Texts) -> Option<Block> {
    let words = run.identity.as_ref()?.conclusion.as_ref()?;
    Some(Block::section(t.get("conclusion-heading"), paragraphs(words).collect()))
}

/// An empty line begins a new one.
fn paragraphs(words: &str) -> impl Iterator<Item = Block> {
    words.split("\n\n").map(|words| Block::Paragraph(words.trim().into()))
}

/// Subject of the document, claims it does not make, and deviations.
pub(super) fn scope(run: &Run, t: &Texts) -> Block {
    let none = Identity::default();
    let identity = run.identity.as_ref().unwrap_or(&none);
    let mut blocks: Vec<Block> = Vec::new();
    blocks.extend(identity.scope.iter().flat_map(|scope| paragraphs(scope)));
    blocks.push(Block::Paragraph(t.get("scope-results").into()));
    blocks.extend(devices(&identity.devices, t));
    let deviations = if identity.deviations.is_empty() {
        Block::Paragraph(t.get("deviations-none").into())
    } else {
        Block::List(identity.deviations.iter().cloned().map(Item::from).collect())
    };
    blocks.push(Block::section(t.get("deviations-heading"), vec![deviations]));
    Block::section(t.get("scope-heading"), blocks)
}

fn devices(devices: &[Device], t: &Texts) -> Option<Block> {
    let cell = |value: &Option<String>| Text::from(value.as_deref().unwrap_or(show::NO_FIGURE));
    let table = Columns::new()
        .words(t.get("col-device"), |it: &Device| it.what.clone())
        .words(t.get("col-model"), |it| cell(&it.model))
        .words(t.get("col-serial"), |it| cell(&it.serial))
        .long(t.get("col-note"), |it| cell(&it.note))
        .table(t.get("tested-devices-caption"), devices);
    (!devices.is_empty()).then_some(table)
}
