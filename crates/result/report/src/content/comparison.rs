//! Content of a comparison of runs.

use model::{
    Comparison, Conclusion, Finding, Verdict,
    comparison::{FigureComparison, RunComparison},
};

use super::identity::paper;
use crate::{
    changes::grouped,
    columns::Columns,
    comparison::{conclusion, notes, unshared},
    material::Material,
    page::{Block, Item, Page, Span, Text},
    probes, show,
    texts::Texts,
};

/// The page of a comparison. `runs` are those compared, the reference first.
pub(crate) fn comparison(comparison: &Comparison, runs: &[Material<'_>], t: &Texts) -> Page {
    let simulated = runs.iter().any(|one| one.run.bed.simulated);
    let notice = || Block::Notice { word: t.get("simulated"), text: t.get("simulated-meaning").into() };
    let cover = simulated.then(notice).into_iter().chain([verdict(comparison, t)]).collect();
    let mut body: Vec<Block> = comparison.runs.iter().map(|run| run_section(run, t)).collect();
    let figures: Vec<_> = probes::ALL.iter().flat_map(|probe| probe.side_by_side(runs, t)).map(Block::Figure).collect();
    if !figures.is_empty() {
        body.push(Block::section(t.get("compare-figures-heading"), figures));
    }
    let notes: Vec<Item> = notes(comparison, t).into_iter().map(Item::from).collect();
    if !notes.is_empty() {
        body.push(Block::section(t.get("compare-notes-heading"), vec![Block::List(notes)]));
    }
    Page {
        lang: t.lang,
        title: t.get("compare-title"),
        issuer: None,
        mark: simulated.then(|| t.get("simulated")),
        identity: identity(comparison, t),
        approvals: vec![],
        paper: runs.first().map(|reference| paper(reference.run)).unwrap_or_default(),
        cover,
        front: vec![],
        body,
        statement: t.get("statement"),
        reference: comparison.reference.id.to_string(),
    }
    .numbered()
}

fn identity(comparison: &Comparison, t: &Texts) -> Vec<(String, String)> {
    let reference = (t.get("compare-label-reference"), show::compared_run(&comparison.reference, t));
    let runs = comparison.runs.iter().map(|it| (t.get("label-run"), show::compared_run(&it.run, t)));
    std::iter::once(reference).chain(runs).collect()
}

/// In the colour of the verdict that it comes to.
fn verdict(comparison: &Comparison, t: &Texts) -> Block {
    let verdict = match comparison.conclusion {
        Conclusion::NothingWorse => Verdict::Pass,
        Conclusion::NotDecidable | Conclusion::NothingNew | Conclusion::NothingInCommon => Verdict::Inconclusive,
        Conclusion::Worse => Verdict::Fail,
    };
    let meaning = conclusion(comparison, t).into_iter().map(Text::from).collect();
    Block::Verdict { verdict: Some(verdict), word: t.of_value("conclusion", &comparison.conclusion), meaning }
}

fn run_section(run: &RunComparison, t: &Texts) -> Block {
    let mut blocks = Vec::new();
    if !run.configurations.is_empty() {
        blocks.push(table(run, t));
    }
    let unshared: Vec<Item> = unshared(run, t).into_iter().map(Item::from).collect();
    blocks.extend((!unshared.is_empty()).then_some(Block::List(unshared)));
    if run.changed.is_empty() {
        blocks.push(Block::Paragraph(t.get("compare-changed-none").into()));
    } else {
        blocks.push(Block::Paragraph(t.get("compare-changed").into()));
        blocks.push(Block::List(grouped(&run.changed, None, t).into_iter().map(Item::from).collect()));
    }
    Block::section(t.with("compare-run", &[("run", &run.run.id)]), blocks)
}

fn table(run: &RunComparison, t: &Texts) -> Block {
    type Row<'r> = (String, &'r FigureComparison);
    let mut rows: Vec<Row<'_>> = Vec::new();
    for configuration in &run.configurations {
        let name = probes::configuration(&configuration.spec, t);
        rows.extend(configuration.figures.iter().map(|figure| (name.clone(), figure)));
    }
    let median = |(_, it): &Row<'_>, side: usize| {
        let (medians, unit) = show::medians(it);
        format!("{} {unit}", medians[side])
    };
    Columns::new()
        .long(t.get("col-configuration"), |(name, _): &Row<'_>| name.clone())
        .words(t.get("col-figure"), |(_, it)| t.of_value("compare", &it.figure))
        .figures(t.get("col-trials"), |(_, it)| format!("{} / {}", it.reference.trials, it.run.trials))
        .figures(t.get("compare-label-reference"), |it| median(it, 0))
        .figures(t.get("col-ours"), |it| median(it, 1))
        .figures(t.get("compare-col-difference"), |(_, it)| Text::strong(show::difference(it, t)))
        .figures(t.get("compare-col-interval"), |(_, it)| show::difference_interval(it, t))
        .words(t.get("compare-col-finding"), |(_, it)| finding(it, t))
        .table(t.get("compare-caption"), &rows)
}

pub(super) fn finding(figure: &FigureComparison, t: &Texts) -> Text {
    let words = t.of_value("finding", &figure.finding);
    match figure.finding {
        Finding::Better => Span::Verdict(Verdict::Pass, words).into(),
        Finding::Worse if figure.beyond_tolerance => Span::Verdict(Verdict::Fail, words).into(),
        Finding::Worse => Text::from(words).and(Span::Quiet(format!(" ({})", t.get("compare-tolerated")))),
        Finding::NoDifference => words.into(),
        Finding::NotDecidable => Text::quiet(words),
    }
}
