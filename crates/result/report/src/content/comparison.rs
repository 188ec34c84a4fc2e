//! What a comparison of runs says.

use model::{
    Comparison, Conclusion, Finding, Run, Verdict,
    comparison::{FigureComparison, RunComparison},
};

use super::bars;
use crate::{
    comparison::{conclusion, notes, unshared},
    page::{Block, Column, Item, Page, Span, Text},
    show,
    texts::Texts,
};

/// The page of a comparison. `runs` are those compared, the reference first.
pub(crate) fn comparison(comparison: &Comparison, runs: &[&Run], t: &Texts) -> Page {
    let simulated = runs.iter().any(|run| run.bed.simulated);
    let notice = || Block::Notice { word: t.get("simulated"), text: t.get("simulated-meaning").into() };
    let mut blocks: Vec<Block> = simulated.then(notice).into_iter().collect();
    blocks.push(verdict(comparison, t));
    let on_cover = blocks.len();
    blocks.extend(comparison.runs.iter().map(|run| run_section(run, t)));
    let figures: Vec<_> = bars::figures(runs, t).into_iter().map(Block::Figure).collect();
    if !figures.is_empty() {
        blocks.push(Block::section(t.get("compare-figures-heading"), figures));
    }
    let notes: Vec<Item> = notes(comparison, t).into_iter().map(Item::from).collect();
    if !notes.is_empty() {
        blocks.push(Block::section(t.get("compare-notes-heading"), vec![Block::List(notes)]));
    }
    Page {
        lang: t.lang,
        title: t.get("compare-title"),
        mark: simulated.then(|| t.get("simulated")),
        identity: identity(comparison, t),
        approvals: vec![],
        blocks,
        on_cover,
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
    Block::Verdict { verdict: Some(verdict), word: show::conclusion(comparison.conclusion, t), meaning }
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
        let item = |change: &String| Item { text: Text::code(change.clone()), note: None };
        blocks.push(Block::List(run.changed.iter().map(item).collect()));
    }
    Block::section(t.with("compare-run", &[("run", &run.run.id)]), blocks)
}

fn table(run: &RunComparison, t: &Texts) -> Block {
    let columns = vec![
        Column::long(t.get("col-configuration")),
        Column::words(t.get("col-figure")),
        Column::figures(t.get("col-trials")),
        Column::figures(t.get("compare-label-reference")),
        Column::figures(t.get("col-ours")),
        Column::figures(t.get("compare-col-difference")),
        Column::figures(t.get("compare-col-interval")),
        Column::words(t.get("compare-col-finding")),
    ];
    let rows = run.configurations.iter().flat_map(|configuration| {
        let name = show::configuration(&configuration.spec, t);
        configuration.figures.iter().map(move |figure| row(&name, figure, t)).collect::<Vec<_>>()
    });
    Block::table(t.get("compare-caption"), columns, rows.collect())
}

fn row(name: &str, figure: &FigureComparison, t: &Texts) -> Vec<Text> {
    let ([reference, run], unit) = show::medians(figure);
    vec![
        name.into(),
        show::compared_figure(figure.figure, t).into(),
        format!("{} / {}", figure.reference.trials, figure.run.trials).into(),
        format!("{reference} {unit}").into(),
        format!("{run} {unit}").into(),
        Text::strong(show::difference(figure, t)),
        show::difference_interval(figure, t).into(),
        finding(figure, t),
    ]
}

fn finding(figure: &FigureComparison, t: &Texts) -> Text {
    let words = show::finding(figure.finding, t);
    match figure.finding {
        Finding::Better => Span::Verdict(Verdict::Pass, words).into(),
        Finding::Worse if figure.beyond_tolerance => Span::Verdict(Verdict::Fail, words).into(),
        Finding::Worse => Text::from(words).and(Span::Quiet(format!(" ({})", t.get("compare-tolerated")))),
        Finding::NoDifference => words.into(),
        Finding::NotDecidable => Text::quiet(words),
    }
}
