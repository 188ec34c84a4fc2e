//! The run beside published or imported figures.

use std::mem::discriminant;

use model::{
    Compared, Match, NotComparable, Reference, ReferenceComparison, Run, Total,
    alike::{distinct, grouped},
    reference::{Difference, NotCompared, ReferenceFigure},
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
        blocks.extend(table(&comparison.rows, t));
    }
    blocks.extend(list(t.get("references-not-compared"), reasons(&comparison.not_compared, t).into_iter()));
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

/// Conditions that differ in every row alike are said once, above the table, which is narrower without them.
fn table(rows: &[Compared], t: &Texts) -> Vec<Block> {
    let of_all = in_every_row(rows);
    let is_alike = rows.iter().all(|row| differing(row).is_empty());
    let has_others = rows.iter().any(|row| !others(row, &of_all).is_empty());
    let range = |it: &Compared| {
        let (low, high) = it.ours.interval.map_or((it.ours.low, it.ours.high), |it| (it.low, it.high));
        show::or_none((it.ours.trials > 1).then_some(()), |()| show::metric_range(it.metric, low, high))
    };
    let table = Columns::new()
        .long(t.get("col-configuration"), |it: &Compared| probes::configuration(&it.spec, t))
        .words(t.get("col-figure"), |it| figure(&it.theirs, t))
        .figures(t.get("col-trials"), |it| it.ours.trials.to_string())
        .figures(t.get("col-ours"), |it| Text::strong(show::metric_value(it.metric, it.ours.median)))
        .figures(t.get("col-ours-range"), range)
        .only_if(rows.iter().any(|it| it.ours.trials > 1))
        .figures(t.get("col-theirs"), |it| show::printed(&it.theirs.value))
        .figures(t.get("col-deviation"), |it| Text::strong(show::deviation(it.deviation_percent)))
        .long(t.get("col-conditions"), |it| conditions(&others(it, &of_all), of_all.is_empty(), t))
        .only_if(has_others)
        .table(t.get("references-caption"), rows);
    let said = is_alike || !of_all.is_empty();
    let said = said.then(|| conditions(&of_all.iter().collect::<Vec<_>>(), is_alike, t));
    let said = said.map(|words| Block::Paragraph(t.with("references-conditions", &[("conditions", &words)]).into()));
    said.into_iter().chain([table]).collect()
}

fn differing(row: &Compared) -> &[Difference] {
    match &row.matches {
        Match::Differs { conditions } => conditions,
        Match::Comparable | Match::NotComparable { .. } => &[],
    }
}

fn in_every_row(rows: &[Compared]) -> Vec<Difference> {
    let Some((first, rest)) = rows.split_first() else { return vec![] };
    let is_everywhere = |it: &&Difference| rest.iter().all(|row| differing(row).contains(it));
    differing(first).iter().filter(is_everywhere).cloned().collect()
}

/// Conditions of a row that differ beside those of all rows.
fn others<'r>(row: &'r Compared, of_all: &[Difference]) -> Vec<&'r Difference> {
    differing(row).iter().filter(|it| !of_all.contains(it)).collect()
}

/// Conditions that differ; where none does, whether all are alike or there are no others.
fn conditions(differing: &[&Difference], is_alike: bool, t: &Texts) -> String {
    match differing {
        [] if is_alike => t.get("conditions-alike"),
        [] => show::NO_FIGURE.to_owned(),
        several => show::in_short(several, t),
    }
}

/// Compared statistic: `RTT/2, mean`.
fn figure(figure: &ReferenceFigure, t: &Texts) -> String {
    let (metric, statistic) = (t.of_value("published", &figure.metric), t.of_value("statistic", &figure.statistic));
    t.with("joined", &[("a", &metric), ("b", &statistic)])
}

/// A line for each reason; those that differ in a size alone share one.
fn reasons(all: &[NotCompared], t: &Texts) -> Vec<String> {
    let is_alike =
        |a: &&NotCompared, b: &&NotCompared| size(&a.why).is_some() && discriminant(&a.why) == discriminant(&b.why);
    grouped(all, is_alike).into_iter().map(|alike| reason(&alike, t)).collect()
}

fn reason(alike: &[&NotCompared], t: &Texts) -> String {
    let count = alike.iter().map(|it| u64::from(it.figures)).total();
    let sizes: Vec<String> = alike.iter().filter_map(|it| size(&it.why)).map(|size| size.to_string()).collect();
    let why = match alike {
        [first, _, ..] => t.of_value_with("why", &first.why, &[("theirs", &sizes.join(&t.get("list-comma")))]),
        _ => alike.iter().map(|it| show::not_comparable(&it.why, t)).collect(),
    };
    t.with("references-reason", &[("count", &count), ("why", &why)])
}

fn size(why: &NotComparable) -> Option<u32> {
    match why {
        NotComparable::FrameSize { theirs } => Some(theirs.0),
        NotComparable::PayloadSize { theirs } => Some(theirs.0),
        _ => None,
    }
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

#[cfg(test)]
mod tests {
    use model::FrameSize;

    use super::*;
    use crate::lang::Lang;

    #[test]
    fn missing_sizes_share_a_line() {
        let of = |theirs| NotCompared { why: NotComparable::FrameSize { theirs: FrameSize(theirs) }, figures: 1 };
        let all = [of(128), NotCompared { why: NotComparable::InsideHost, figures: 2 }, of(256)];
        let lines = reasons(&all, Texts::of(Lang::En));
        assert_eq!(lines[0], "2 of its figures, because the run has no trial with frames of 128, 256 bytes.");
        assert!(
            lines.len() == 2 && lines[1].starts_with("2 of its figures, because the source's packets"),
            "{lines:?}"
        );
    }
}
