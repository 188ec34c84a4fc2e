//! Effect of a tuning: which figures changed beyond the drift, and which of its steps could have done it.

use model::{
    Finding, Plan, ProbeSpec, Protocol, Run,
    comparison::{DifferenceInterval, FigureComparison, RunComparison},
    tuning::{Deviation, Setting, StepEffect, StepOutcome, TunedState, TuningEffect, TuningInspection, TuningPlan},
};

use crate::compare::{compare_run, named};

/// Measurements around a tuning.
pub struct TunedRuns<'a> {
    /// The plan of the tuning.
    pub plan: TuningPlan,
    /// The run before any change.
    pub first: &'a Run,
    /// Runs while one step stood, or all of them (`None`), which is the last; none where there is nothing to change.
    pub states: &'a [(Option<Setting>, Run)],
    /// The run after the undoing.
    pub undone: Option<&'a Run>,
    /// Inspection of the machine.
    pub inspected: TuningInspection,
    /// Changes that somebody else changed again.
    pub left: Vec<Deviation>,
}

/// Draws the conclusions. Many figures are compared at once: the confidence of each interval is so high that all of them cover their
/// differences together with the ordinary confidence (Bonferroni; Dunn, Multiple comparisons among means, JASA 56 (1961)).
pub fn tuning_effect(runs: TunedRuns<'_>) -> TuningEffect {
    let TunedRuns { plan, first, states, undone, inspected, left } = runs;
    let of = |run: &Run, confidence: f64| compare_run(first, run, 0.0, confidence);
    let compared: usize = states.iter().map(|(_, run)| of(run, stats::CONFIDENCE).figures().count()).sum();
    let confidence = confidence_of_each(compared);
    let undone = undone.map(|run| of(run, stats::CONFIDENCE));
    let states: Vec<TunedState> = states
        .iter()
        .map(|(step, run)| TunedState {
            step: step.clone(),
            comparison: beyond_drift(of(run, confidence), undone.as_ref()),
        })
        .collect();
    let planned = plan.steps();
    let related = planned.iter().filter(|(setting, _)| may_matter(setting, &first.plan)).count();
    let steps = planned
        .into_iter()
        .map(|(setting, changes)| {
            let outcome = match may_matter(&setting, &first.plan) {
                true => outcome(&setting, &states, related == 1),
                false => StepOutcome::Unrelated,
            };
            StepEffect { setting, changes, outcome }
        })
        .collect();
    TuningEffect { plan, first: named(first), states, undone, steps, compared, confidence, inspected, left }
}

/// Confidence of each interval of so many that are to hold together.
fn confidence_of_each(compared: usize) -> f64 {
    1.0 - (1.0 - stats::CONFIDENCE) / compared.max(1) as f64
}

/// Trials of each run that always decide each of so many figures compared at once.
pub fn trials_to_compare(figures: usize) -> u32 {
    stats::min_trials_for_shift(confidence_of_each(figures))
}

/// Whether something that the plan measures may depend on a setting. Those of TCP alone say nothing of other probes.
pub fn may_matter(setting: &Setting, plan: &Plan) -> bool {
    let is_of_tcp = matches!(setting, Setting::Sysctl(key) if key.starts_with("net.ipv4.tcp_"));
    !is_of_tcp || plan.specs().iter().any(uses_tcp)
}

fn uses_tcp(spec: &ProbeSpec) -> bool {
    let of_others = spec.profile().measures_mtu || spec.probe().selectors().protocol == Some(Protocol::Udp);
    !of_others || spec.probe().beside_load().is_some()
}

/// The comparison with only those differences that are larger than the drift.
fn beyond_drift(mut comparison: RunComparison, undone: Option<&RunComparison>) -> RunComparison {
    for configuration in &mut comparison.configurations {
        for figure in &mut configuration.figures {
            let drift = undone.and_then(|it| it.figure(&configuration.spec, figure.figure)?.difference);
            if matches!(figure.finding, Finding::Better | Finding::Worse) && !is_beyond(figure, drift) {
                figure.finding = Finding::NotDecidable;
                figure.beyond_tolerance = false;
            }
        }
    }
    comparison
}

/// Whether the whole interval is farther from no difference than the drift. One that is not known could be as large.
fn is_beyond(figure: &FigureComparison, drift: Option<f64>) -> bool {
    let (Some(DifferenceInterval { low, high, .. }), Some(drift)) = (figure.interval, drift) else { return false };
    low.is_some_and(|low| low > drift.abs()) || high.is_some_and(|high| high < -drift.abs())
}

/// Outcome of a step, by the state of this step alone or, without one, by that of all.
fn outcome(setting: &Setting, states: &[TunedState], is_only: bool) -> StepOutcome {
    let alone = states.iter().find(|state| state.step.as_ref() == Some(setting));
    let Some(state) = alone.or(states.last()) else { return StepOutcome::Undecided };
    let any = |wanted: &[Finding]| state.comparison.figures().any(|figure| wanted.contains(&figure.finding));
    if any(&[Finding::Better, Finding::Worse]) {
        if alone.is_some() || is_only { StepOutcome::Mattered } else { StepOutcome::CouldHaveMattered }
    } else if any(&[Finding::NotDecidable]) || state.comparison.figures().next().is_none() {
        StepOutcome::Undecided
    } else {
        StepOutcome::Nothing
    }
}

#[cfg(test)]
mod tests {
    use model::{
        Metric, ProbeSpec,
        change::Sysctl,
        tuning::{PlannedChange, StepOutcome::*},
    };

    use super::*;
    use crate::compare::tests::{LATENCY, TCP, run};

    fn plan(keys: &[&str]) -> TuningPlan {
        let change = |key: &&str| PlannedChange {
            setting: format!("sysctl {key}").parse().unwrap(),
            interface: None,
            before: "1".into(),
            wanted: "2".into(),
            why: "a".into(),
            source: "b".into(),
            can_cut: false,
            change: Sysctl { namespace: String::new(), key: (*key).into(), value: "2".into() }.into(),
        };
        TuningPlan { changes: keys.iter().map(change).collect(), ..TuningPlan::default() }
    }

    /// Six trials around a value.
    fn around(value: f64) -> Vec<f64> {
        (0..6).map(|step| value * (1.0 + f64::from(step) / 1000.0)).collect()
    }

    /// The effect of all steps at once on this section: the value before, tuned and undone.
    fn effect(section: &str, keys: &[&str], [first, tuned, undone]: [f64; 3]) -> TuningEffect {
        let [first, tuned, undone] = [first, tuned, undone].map(|value| run(section, &around(value)));
        let states = [(None, tuned)];
        let (inspected, left) = (TuningInspection::default(), vec![]);
        tuning_effect(TunedRuns {
            plan: plan(keys),
            first: &first,
            states: &states,
            undone: Some(&undone),
            inspected,
            left,
        })
    }

    fn finding(effect: &TuningEffect, metric: Metric) -> Finding {
        effect.states[0].comparison.figures().find(|it| it.figure == metric).unwrap().finding
    }

    fn outcomes(effect: &TuningEffect) -> Vec<StepOutcome> {
        effect.steps.iter().map(|step| step.outcome).collect()
    }

    #[test]
    fn a_difference_counts_only_beyond_the_drift() {
        let of = |tuned, undone| finding(&effect(TCP, &["net.a", "net.b"], [10.0, tuned, undone]), Metric::GoodputMean);
        assert_eq!(of(12.0, 10.0), Finding::Better);
        assert_eq!(of(12.0, 11.5), Finding::Better, "half as far");
        assert_eq!(of(12.0, 12.0), Finding::NotDecidable, "as far without it");
        assert_eq!(of(12.0, 8.0), Finding::NotDecidable, "as far, the other way");
        assert_eq!(of(8.0, 10.1), Finding::Worse);
        assert_eq!(of(10.0, 12.0), Finding::NoDifference);
    }

    #[test]
    fn of_steps_made_together_none_is_named_as_the_one_that_did_it() {
        assert_eq!(outcomes(&effect(TCP, &["net.a", "net.b"], [10.0, 12.0, 10.0])), [CouldHaveMattered; 2]);
        assert_eq!(outcomes(&effect(TCP, &["net.a"], [10.0, 12.0, 10.0])), [Mattered]);
        assert_eq!(outcomes(&effect(TCP, &["net.a", "net.b"], [10.0, 10.0, 10.0])), [Nothing; 2]);
        assert_eq!(outcomes(&effect(TCP, &["net.a", "net.b"], [10.0, 12.0, 12.0])), [Undecided; 2]);
    }

    #[test]
    fn a_setting_of_tcp_has_nothing_to_do_with_udp() {
        let keys = ["net.ipv4.tcp_rmem", "net.core.busy_poll"];
        assert_eq!(outcomes(&effect(LATENCY, &keys, [12.0, 10.0, 12.0])), [Unrelated, Mattered]);
        assert_eq!(outcomes(&effect(TCP, &keys, [10.0, 12.0, 10.0])), [CouldHaveMattered; 2]);
    }

    #[test]
    fn a_step_that_was_made_alone_is_judged_by_that() {
        let plan = plan(&["net.a", "net.b"]);
        let of = |value| run(TCP, &around(value));
        let [a, b] = ["sysctl net.a", "sysctl net.b"].map(|setting| Some(setting.parse().unwrap()));
        let states = [(a, of(12.0)), (b, of(10.0)), (None, of(12.0))];
        let (first, undone) = (of(10.0), of(10.0));
        let (inspected, left) = (TuningInspection::default(), vec![]);
        let effect =
            tuning_effect(TunedRuns { plan, first: &first, states: &states, undone: Some(&undone), inspected, left });
        assert_eq!(outcomes(&effect), [Mattered, Nothing]);
    }

    #[test]
    fn the_more_figures_are_compared_the_surer_each_has_to_be() {
        let effect = effect(TCP, &["net.a"], [10.0, 12.0, 10.0]);
        assert_eq!(effect.compared, effect.states[0].comparison.figures().count());
        assert!((effect.confidence - (1.0 - 0.05 / effect.compared as f64)).abs() < 1e-12);
        let reached = |it: &FigureComparison| it.interval.is_some_and(|it| it.confidence >= effect.confidence);
        assert!(effect.states[0].comparison.figures().all(reached));
        // Four trials, enough for one figure, are too few for one of twenty.
        assert_eq!((trials_to_compare(1), trials_to_compare(20)), (4, 6));
    }

    #[test]
    fn a_figure_that_was_not_measured_again_after_the_undoing_is_not_decided() {
        let specs: Vec<ProbeSpec> = run(TCP, &[1.0]).plan.specs();
        let (first, tuned) = (run(TCP, &around(10.0)), run(TCP, &around(12.0)));
        let undone = run(LATENCY, &around(10.0));
        let (inspected, left, states) = (TuningInspection::default(), vec![], [(None, tuned)]);
        let plan = plan(&["net.a"]);
        let effect =
            tuning_effect(TunedRuns { plan, first: &first, states: &states, undone: Some(&undone), inspected, left });
        assert_eq!(finding(&effect, Metric::GoodputMean), Finding::NotDecidable);
        assert_eq!(effect.undone.unwrap().figure(&specs[0], Metric::GoodputMean), None);
    }
}
