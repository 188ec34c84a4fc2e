//! The run beside published or imported figures.

use model::{
    Compared, Reference, ReferenceComparison, Run,
    alike::distinct,
    reference::{NotCompared, ReferenceFigure},
};

use crate::{
    columns::Columns,
    page::{Block, Item, Text},
    probes, show,
    texts::Texts,
};

/// Nothing where no comparison is wanted.
pub(super) fn references(run: &Run, comparisons: Option<&[ReferenceComparison]>, t: &Texts) -> Option<Block> {
    let blocks = match comparisons? {
        [] if run.bed.simulated => vec![Block::Paragraph(t.get("references-simulated").into())],
        [] => vec![Block::Paragraph(t.get("references-none").into())],
        comparisons => comparisons.iter().map(|comparison| beside(comparison, t)).collect(),
    };
    Some(Block::section(t.get("references-heading"), blocks))
}

fn beside(comparison: &ReferenceComparison, t: &Texts) -> Block {
    let reference = &comparison.reference;
    let mut blocks = vec![Block::Paragraph(source(reference, t).into())];
    if !comparison.rows.is_empty() {
        blocks.push(table(&comparison.rows, t));
    }
    blocks.extend(list(t.get("references-not-compared"), comparison.not_compared.iter().map(|it| reason(it, t))));
    blocks.extend(list(t.get("references-notes"), notes(comparison, t)));
    let title = show::words(&reference.title, t);
    Block::section(t.with("references-title", &[("title", &title), ("reference", &reference.id)]), blocks)
}

/// A line and the items below it; nothing without items.
fn list(head: String, items: impl Iterator<Item = String>) -> Vec<Block> {
    let items: Vec<Item> = items.map(Item::from).collect();
    if items.is_empty() { vec![] } else { vec![Block::Paragraph(head.into()), Block::List(items)] }
}

/// Measuring organisation, its relation to the product, date, device, and source.
fn source(reference: &Reference, t: &Texts) -> String {
    let who = reference.measured_by.clone().unwrap_or_else(|| t.get("references-unnamed"));
    let date = reference.date.clone().unwrap_or_else(|| t.get("references-undated"));
    let kind = t.of_value("measurer", &reference.kind);
    let measured = t.with("references-measured", &[("who", &who), ("kind", &kind), ("date", &date)]);
    let is = &reference.conditions;
    let described = [&is.server, &is.cpu, &is.device, &is.bus, &is.link].into_iter().flatten();
    let on = described.map(|words| show::words(words, t).to_owned()).chain(is.os.clone());
    let on: Vec<String> = on.chain(is.link_rate.map(|rate| rate.to_string())).collect();
    let on = (!on.is_empty()).then(|| t.with("references-on", &[("what", &on.join(", "))]));
    let tool = is.tool.as_ref().map(|tool| t.with("references-tool", &[("tool", tool)]));
    let read =
        reference.source.as_ref().map(|source| t.with("references-source", &[("source", &show::words(source, t))]));
    [Some(measured), on, tool, read].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn table(rows: &[Compared], t: &Texts) -> Block {
    let range = |it: &Compared| {
        let (low, high) = it.ours.interval.map_or((it.ours.low, it.ours.high), |it| (it.low, it.high));
        show::or_none((it.ours.trials > 1).then_some(()), |()| show::metric_range(it.metric, low, high))
    };
    Columns::new()
        .long(t.get("col-configuration"), |it: &Compared| probes::configuration(&it.spec, t))
        .words(t.get("col-figure"), |it| figure(&it.theirs, t))
        .figures(t.get("col-trials"), |it| it.ours.trials.to_string())
        .figures(t.get("col-ours"), |it| Text::strong(show::metric_value(it.metric, it.ours.median)))
        .figures(t.get("col-ours-range"), range)
        .figures(t.get("col-theirs"), |it| show::printed(&it.theirs.value))
        .figures(t.get("col-deviation"), |it| Text::strong(show::deviation(it.deviation_percent)))
        .long(t.get("col-conditions"), |it| {
            show::differences(&it.matches, t).unwrap_or_else(|| t.get("conditions-alike"))
        })
        .table(t.get("references-caption"), rows)
}

/// Compared statistic: `RTT/2, mean`.
fn figure(figure: &ReferenceFigure, t: &Texts) -> String {
    let (metric, statistic) = (t.of_value("published", &figure.metric), t.of_value("statistic", &figure.statistic));
    t.with("joined", &[("a", &metric), ("b", &statistic)])
}

fn reason(not_compared: &NotCompared, t: &Texts) -> String {
    let (count, why) = (not_compared.figures, show::not_comparable(&not_compared.why, t));
    t.with("references-reason", &[("count", &count), ("why", &why)])
}

/// Remarks on the source and its figures.
fn notes(comparison: &ReferenceComparison, t: &Texts) -> impl Iterator<Item = String> {
    let of_figures = comparison.rows.iter().filter_map(|row| {
        let note = row.theirs.note.as_ref()?;
        Some(format!("{}: {}", show::printed(&row.theirs.value), show::words(note, t)))
    });
    let of_source = comparison.reference.notes.iter().map(|note| show::words(note, t).to_owned());
    distinct(of_source.chain(of_figures)).into_iter()
}
