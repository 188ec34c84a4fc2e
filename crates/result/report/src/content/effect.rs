//! Content of the report about the effect of a tuning.

use model::{
    comparison::{FigureComparison, RunComparison},
    probe::ProbeSpec,
    tuning::{PlannedChange, StepEffect, TuningEffect},
};

use super::{comparison::finding, identity::paper, inspection};
use crate::{
    columns::Columns,
    effect::{head, inspected, left, notes, state_head, tally, undone_head},
    material::Material,
    page::{Block, Item, Page, Text},
    probes, show,
    texts::Texts,
    tune::{reason, unchanged},
};

/// The page. `runs` are the first measurement, that with all steps, and that after the undoing.
pub(crate) fn effect(effect: &TuningEffect, runs: &[Material<'_>], t: &Texts) -> Page {
    let simulated = effect.first.simulated;
    let notice = || Block::Notice { word: t.get("simulated"), text: t.get("simulated-meaning").into() };
    let summary = [head(effect, t)].into_iter().chain(tally(effect, t)).chain(left(effect, t));
    let mut cover: Vec<Block> = simulated.then(notice).into_iter().collect();
    cover.push(list(summary.collect()));
    let mut body = Vec::new();
    if !effect.steps.is_empty() {
        body.push(Block::section(t.get("effect-steps"), vec![steps(&effect.steps, t)]));
    }
    for state in &effect.states {
        let table = figures(&state.comparison, effect.undone.as_ref(), t);
        body.push(Block::section(state_head(state, t), vec![table]));
    }
    if let Some(undone) = &effect.undone {
        body.push(Block::section(undone_head(undone, t), vec![figures(undone, None, t)]));
    }
    let drawn: Vec<_> = probes::ALL.iter().flat_map(|probe| probe.side_by_side(runs, t)).map(Block::Figure).collect();
    if !drawn.is_empty() {
        body.push(Block::section(t.get("compare-figures-heading"), drawn));
    }
    let lists = unchanged(&effect.plan, t).into_iter();
    let lists: Vec<Block> = lists.flat_map(|(head, all)| [Block::Paragraph(head.into()), list(all)]).collect();
    if !lists.is_empty() {
        body.push(Block::section(t.get("effect-not-changed"), lists));
    }
    let mut found = vec![Block::Paragraph(inspected(effect, t).into())];
    for (caption, findings) in
        [("effect-caption-found", &effect.inspected.before), ("effect-caption-mended", &effect.inspected.mended)]
    {
        found.extend((!findings.is_empty()).then(|| inspection::table(t.get(caption), findings, t)));
    }
    body.push(Block::section(t.get("inspected-heading"), found));
    let notes = notes(effect, t);
    if !notes.is_empty() {
        body.push(Block::section(t.get("compare-notes-heading"), vec![list(notes)]));
    }
    Page {
        lang: t.lang,
        title: t.get("effect-title"),
        issuer: None,
        mark: simulated.then(|| t.get("simulated")),
        identity: identity(effect, t),
        approvals: vec![],
        paper: runs.first().map(|first| paper(first.run)).unwrap_or_default(),
        cover,
        front: vec![],
        body,
        statement: t.get("statement"),
        reference: effect.first.id.to_string(),
    }
    .numbered()
}

fn list(lines: Vec<String>) -> Block {
    Block::List(lines.into_iter().map(Item::from).collect())
}

fn identity(effect: &TuningEffect, t: &Texts) -> Vec<(String, String)> {
    let states = effect.states.iter().map(|state| &state.comparison.run);
    let runs = [&effect.first].into_iter().chain(states).chain(effect.undone.iter().map(|it| &it.run));
    runs.map(|run| (t.get("label-run"), show::compared_run(run, t))).collect()
}

fn steps(steps: &[StepEffect], t: &Texts) -> Block {
    type Row<'r> = (&'r StepEffect, &'r PlannedChange);
    let rows: Vec<Row<'_>> =
        steps.iter().flat_map(|step| step.changes.iter().map(move |change| (step, change))).collect();
    let setting = |(_, change): &Row<'_>| match &change.interface {
        Some(interface) => format!("{interface} {}", change.setting),
        None => change.setting.to_string(),
    };
    Columns::new()
        .long(t.get("effect-col-setting"), move |row: &Row<'_>| Text::code(setting(row)))
        .words(t.get("effect-col-before"), |(_, change)| Text::code(change.before.clone()))
        .words(t.get("effect-col-tuned"), |(_, change)| Text::code(change.wanted.clone()))
        .long(t.get("effect-col-outcome"), |(step, _)| t.of_value("effect-outcome", &step.outcome))
        .long(t.get("effect-col-why"), |(_, change)| reason(&change.why, &change.source, t))
        .table(t.get("effect-caption-steps"), &rows)
}

/// A row for each figure; with its drift, where the drift is known from another comparison.
fn figures(run: &RunComparison, undone: Option<&RunComparison>, t: &Texts) -> Block {
    type Row<'r> = (&'r ProbeSpec, &'r FigureComparison);
    let rows: Vec<Row<'_>> = run
        .configurations
        .iter()
        .flat_map(|configuration| configuration.figures.iter().map(move |figure| (&configuration.spec, figure)))
        .collect();
    let median = |(_, it): &Row<'_>, side: usize| {
        let (medians, unit) = show::medians(it);
        format!("{} {unit}", medians[side])
    };
    let drift = |(spec, it): &Row<'_>| {
        let drift = undone.and_then(|undone| undone.figure(spec, it.figure));
        drift.map_or_else(|| show::NO_FIGURE.to_owned(), |drift| show::difference(drift, t))
    };
    Columns::new()
        .long(t.get("col-configuration"), |(spec, _): &Row<'_>| probes::configuration(spec, t))
        .words(t.get("col-figure"), |(_, it)| t.of_value("compare", &it.figure))
        .figures(t.get("col-trials"), |(_, it)| format!("{} / {}", it.reference.trials, it.run.trials))
        .figures(t.get("effect-col-before"), move |row| median(row, 0))
        .figures(t.get("col-ours"), move |row| median(row, 1))
        .figures(t.get("compare-col-difference"), |(_, it)| Text::strong(show::difference(it, t)))
        .figures(t.get("effect-col-interval"), |(_, it)| show::difference_interval(it, t))
        .words(t.get("compare-col-finding"), |(_, it)| finding(it, t))
        .figures(t.get("effect-col-drift"), drift)
        .only_if(undone.is_some())
        .table(t.get("effect-caption-figures"), &rows)
}
