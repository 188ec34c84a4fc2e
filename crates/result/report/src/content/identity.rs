//! Identity of the document, its scope, and deviations from the method.

use jiff::tz::TimeZone;
use model::{Date, Device, Identity, Photo, Revision, Run, Signatory, Standard, TestConditions, identity::Paper};

use crate::{
    columns::Columns,
    page::{Block, Issuer, Item, Text},
    show,
    texts::Texts,
};

/// As it was given, or what every such report is.
pub(super) fn title(run: &Run, t: &Texts) -> String {
    run.identity.as_ref().and_then(|identity| identity.title.clone()).unwrap_or_else(|| t.get("title"))
}

/// Issuer, with the logo that was given.
pub(super) fn issuer(run: &Run) -> Option<Issuer> {
    let identity = run.identity.as_ref()?;
    let issuer = identity.issuer.as_ref()?;
    let logo = identity.photos.iter().find(|photo| photo.is_logo());
    Some(Issuer {
        name: issuer.name.clone().unwrap_or_default(),
        address: issuer.address.iter().flat_map(|words| words.trim().lines()).map(str::to_owned).collect(),
        logo: logo.map(|Photo { content, kind, .. }| (content.clone(), *kind)),
    })
}

/// Words for every sheet: whether the bed is simulated, and the classification.
pub(super) fn mark(run: &Run, t: &Texts) -> Option<String> {
    let simulated = run.bed.simulated.then(|| t.get("simulated"));
    let classification = run.identity.as_ref().and_then(|identity| identity.classification.clone());
    simulated.into_iter().chain(classification).reduce(|a, b| format!("{a} · {b}"))
}

/// The cover. Unknown entries are boxes for a pen.
pub(super) fn rows(run: &Run, t: &Texts) -> Vec<(String, String)> {
    let identity = run.identity.clone().unwrap_or_default();
    let distribution = identity.distribution.join(&t.get("list-comma"));
    let mut rows = vec![
        (t.get("label-document-number"), identity.document_number.clone().unwrap_or_default()),
        (t.get("label-revision"), identity.revision.clone().unwrap_or_default()),
        (t.get("label-date"), date(run, t)),
        (t.get("label-customer"), identity.customer.clone().unwrap_or_default()),
        (t.get("label-site"), identity.site.clone().unwrap_or_default()),
    ];
    rows.extend(identity.classification.map(|words| (t.get("label-classification"), words)));
    rows.extend((!distribution.is_empty()).then(|| (t.get("label-distribution"), distribution)));
    rows.extend(measured(run, t));
    rows
}

/// The date of issue; the reader is told where it is before the measurement.
fn date(run: &Run, t: &Texts) -> String {
    let date = run.identity.as_ref().and_then(|identity| identity.date);
    match issued_before(run, &t.zone) {
        Some((date, measured)) => t.with("date-before", &[("date", &date), ("measured", &measured)]),
        None => date.map(|date| date.to_string()).unwrap_or_default(),
    }
}

/// The date of issue and the last day of the measurement, where the document is dated before that.
pub fn issued_before(run: &Run, zone: &TimeZone) -> Option<(Date, String)> {
    let date = run.identity.as_ref()?.date?;
    Some((date, measured_after(run, date, zone)?))
}

/// Signatories with a date before the last day of the measurement, and that day.
pub fn signed_before(run: &Run, zone: &TimeZone) -> Vec<(Signatory, String)> {
    let who = run.identity.iter().flat_map(|it| [&it.made_by, &it.checked_by, &it.approved_by]).flatten();
    who.filter_map(|who| Some((who.clone(), measured_after(run, who.date?, zone)?))).collect()
}

/// The last day of the measurement, where it is after this one.
fn measured_after(run: &Run, date: Date, zone: &TimeZone) -> Option<String> {
    let measured = show::day(run.finished.as_deref().unwrap_or(&run.started), zone)?.to_string();
    // Both are written like 2026-11-21.
    (date.to_string() < measured).then_some(measured)
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

/// Sheets of the document on paper.
pub(super) fn paper(run: &Run) -> Paper {
    run.identity.as_ref().and_then(|identity| identity.paper).unwrap_or_default()
}

/// Identity of the run.
fn measured(run: &Run, t: &Texts) -> Vec<(String, String)> {
    let finished = run.finished.as_deref().map_or_else(|| t.get("not-finished"), |at| show::time(at, t));
    vec![
        (t.get("label-run"), run.id.to_string()),
        (t.get("label-started"), show::time(&run.started, t)),
        (t.get("label-finished"), finished),
        (t.get("label-plan"), run.plan.name.clone()),
        (t.get("label-bed"), show::bed(&run.bed, t)),
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
    blocks.extend(standards(&identity.standards, t));
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

/// Conditions that the program cannot read; nothing where none is told.
pub(super) fn conditions(run: &Run, t: &Texts) -> Option<Block> {
    let TestConditions { room, temperature, humidity, power_profile } = run.identity.as_ref()?.conditions.as_ref()?;
    let rows = [
        (t.get("condition-room"), room),
        (t.get("condition-temperature"), temperature),
        (t.get("condition-humidity"), humidity),
        (t.get("condition-power-profile"), power_profile),
    ];
    let rows = rows.into_iter().map(|(label, value)| (label, Text::from(value.as_deref().unwrap_or_default())));
    Some(Block::facts(t.get("conditions-caption"), rows.collect()))
}

/// Standards that the test follows, each with its deviations.
fn standards(standards: &[Standard], t: &Texts) -> Option<Block> {
    let deviations = |it: &Standard| match it.deviations.as_slice() {
        [] => t.get("no-deviations"),
        several => {
            several.iter().cloned().reduce(|a, b| t.with("sentences", &[("a", &a), ("b", &b)])).unwrap_or_default()
        }
    };
    let table = Columns::new()
        .words(t.get("col-standard"), |it: &Standard| it.name.clone())
        .long(t.get("col-deviations"), deviations)
        .table(t.get("standards-caption"), standards);
    (!standards.is_empty()).then_some(table)
}

/// The revisions of the document; nothing where none is told.
pub(super) fn changes(run: &Run, t: &Texts) -> Option<Block> {
    let changes = run.identity.as_ref().map(|identity| identity.changes.as_slice()).filter(|it| !it.is_empty())?;
    let table = Columns::new()
        .words(t.get("label-revision"), |it: &Revision| it.revision.clone())
        .words(t.get("col-date"), |it| show::or_none(it.date, |date| date.to_string()))
        .words(t.get("col-author"), |it| it.author.clone().unwrap_or_else(|| show::NO_FIGURE.to_owned()))
        .long(t.get("col-change"), |it| it.change.clone())
        .table(t.get("changes-caption"), changes);
    Some(Block::section(t.get("changes-heading"), vec![table]))
}
