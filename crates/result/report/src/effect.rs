//! Effect of a tuning as plain text for the terminal.

use std::fmt::Display;

use model::{
    Finding,
    comparison::RunComparison,
    inspection,
    tuning::{StepEffect, StepOutcome, TunedState, TuningEffect},
};

use crate::{
    comparison::figure_lines,
    inspection::{goal, title},
    lang::Lang,
    show,
    texts::Texts,
    tune::{self, unchanged, value},
};

/// Text of `wireproof verify --tune`: each figure before the tuning and with it, the drift, what each step brought, and what was not
/// changed.
pub fn tuning_effect(effect: &TuningEffect, lang: Lang) -> String {
    let configurations = effect.states.iter().flat_map(|state| &state.comparison.configurations);
    let t = &Texts::naming(lang, configurations.map(|configuration| configuration.spec.clone()));
    let mut lines = vec![head(effect, t), t.with("effect-first", &[("run", &show::compared_run(&effect.first, t))])];
    if effect.first.simulated {
        lines.push(format!("[{}] {}", t.get("simulated"), t.get("simulated-meaning")));
    }
    let mut part = |head: String, rest: Vec<String>| {
        lines.extend([String::new(), head]);
        lines.extend(rest);
    };
    for state in &effect.states {
        part(state_head(state, t) + ":", figure_lines(&state.comparison, t));
    }
    if let Some(undone) = &effect.undone {
        part(undone_head(undone, t) + ":", figure_lines(undone, t));
    }
    if !effect.steps.is_empty() {
        part(t.get("effect-steps") + ":", effect.steps.iter().flat_map(|step| step_lines(step, t)).collect());
    }
    for (head, all) in unchanged(&effect.plan, t) {
        part(head, all.into_iter().map(|line| format!("  {line}")).collect());
    }
    part(inspected(effect, t), findings(effect, t).into_iter().map(|line| format!("  {line}")).collect());
    part(tally(effect, t).join("\n"), left(effect, t).into_iter().chain(notes(effect, t)).collect());
    lines.join("\n") + "\n"
}

pub(crate) fn head(effect: &TuningEffect, t: &Texts) -> String {
    match effect.plan.interfaces.as_slice() {
        [] => t.with("effect-head-machine", &[("profile", &effect.plan.profile)]),
        names => t.with("effect-head", &[("profile", &effect.plan.profile), ("interfaces", &names.join(", "))]),
    }
}

pub(crate) fn state_head(state: &TunedState, t: &Texts) -> String {
    let run = &state.comparison.run.id;
    match &state.step {
        Some(step) => t.with("effect-step", &[("step", step), ("run", run)]),
        None => t.with("effect-all", &[("run", run)]),
    }
}

pub(crate) fn undone_head(undone: &RunComparison, t: &Texts) -> String {
    t.with("effect-undone", &[("run", &undone.run.id)])
}

fn step_lines(step: &StepEffect, t: &Texts) -> Vec<String> {
    let mut lines = vec![format!("  {}: {}", step.setting, t.of_value("effect-outcome", &step.outcome))];
    lines.extend(step.changes.iter().map(|change| {
        let arrow = format!("{} → {}", change.before, change.wanted);
        format!("    {}", value(&change.setting, change.interface.as_ref(), &arrow))
    }));
    lines
}

/// How many figures of the state with all steps are better and worse, and why others are not decided; or that there is nothing to change.
pub(crate) fn tally(effect: &TuningEffect, t: &Texts) -> Vec<String> {
    let Some(all) = effect.states.last().map(|state| &state.comparison) else {
        return vec![t.with("effect-nothing", &[("profile", &effect.plan.profile)])];
    };
    let count = |finding| all.figures().filter(|figure| figure.finding == finding).count();
    let open = count(Finding::NotDecidable);
    let mut lines = vec![t.with(
        "effect-tally",
        &[
            ("better", &count(Finding::Better)),
            ("worse", &count(Finding::Worse)),
            ("same", &count(Finding::NoDifference)),
            ("open", &open),
        ],
    )];
    let hidden = all.figures().filter(|it| it.finding == Finding::NotDecidable && it.interval.is_some()).count();
    if hidden > 0 {
        lines.push(t.with("effect-drifted", &[("count", &hidden)]));
    }
    let figures = effect.states.iter().flat_map(|state| state.comparison.figures());
    if let Some(needed) = figures.filter_map(|figure| figure.trials_needed).max() {
        lines.push(t.with("effect-needed", &[("needed", &needed)]));
    }
    lines
}

/// Where the machine stands after the undoing.
pub(crate) fn left(effect: &TuningEffect, t: &Texts) -> Vec<String> {
    if effect.states.is_empty() {
        return vec![];
    }
    if effect.left.is_empty() {
        return vec![t.get("effect-all-undone")];
    }
    tune::left(&effect.left, t).collect()
}

pub(crate) fn inspected(effect: &TuningEffect, t: &Texts) -> String {
    let inspected = &effect.inspected;
    let (count, mended) = (inspected.before.len(), inspected.mended.len());
    t.with("effect-inspected", &[("goal", &goal(inspected.goal, t)), ("count", &count), ("mended", &mended)])
}

fn findings(effect: &TuningEffect, t: &Texts) -> Vec<String> {
    let inspected = &effect.inspected;
    let line = |finding: &inspection::Finding| {
        let object = if finding.object.is_empty() { String::new() } else { format!(" ({})", finding.object) };
        let is_mended = inspected.mended.contains(finding);
        let mended = if is_mended { format!(": {}", t.get("effect-mended")) } else { String::new() };
        format!("{}{object}{mended}", title(finding.check, t))
    };
    inspected.before.iter().map(line).collect()
}

/// How to read it.
pub(crate) fn notes(effect: &TuningEffect, t: &Texts) -> Vec<String> {
    if effect.states.is_empty() {
        return vec![];
    }
    let values: [(&str, &dyn Display); 2] =
        [("figures", &effect.compared), ("confidence", &short_of_certain(effect.confidence))];
    let is_stepwise = effect.states.iter().any(|state| state.step.is_some());
    let related = effect.steps.iter().filter(|step| step.outcome != StepOutcome::Unrelated).count();
    let steps = match related {
        _ if is_stepwise => Some("effect-note-alone"),
        // The state of all steps is the state of the one that could have changed a figure.
        0 | 1 => None,
        _ => Some("effect-note-together"),
    };
    let notes = [t.get("effect-note-drift"), t.with("effect-note-many", &values)];
    notes.into_iter().chain(steps.map(|key| t.get(key))).collect()
}

/// A confidence with two decimals, or as many as set it apart from 100 %.
fn short_of_certain(confidence: f64) -> String {
    let doubt = (1.0 - confidence) * 100.0;
    let decimals = (-doubt.log10()).ceil().clamp(2.0, 9.0) as usize;
    format!("{:.decimals$} %", confidence * 100.0)
}
