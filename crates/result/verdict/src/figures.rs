//! Figures of a run over the trials of each configuration, for a history of runs.

use model::{ConfigurationFigures, ProbeSpec, Range, Run, comparison::MetricFigures};

use crate::compare::{configurations, over_trials};

/// The compared figures of each configuration that was measured, in the order of the first trials.
pub fn figures(run: &Run) -> Vec<ConfigurationFigures> {
    configurations(run).into_iter().map(|spec| configuration(run, spec)).collect()
}

fn configuration(run: &Run, spec: ProbeSpec) -> ConfigurationFigures {
    let trials: Vec<_> = run.trials.iter().filter(|it| it.is_whole() && it.measured.spec() == spec).collect();
    let figures = spec.probe().compared().iter().filter_map(|&figure| {
        let ranges: Vec<Range> = trials.iter().filter_map(|trial| trial.figure(figure)).collect();
        let over_trials = over_trials(&ranges);
        (!ranges.is_empty()).then(|| MetricFigures { figure, unit: figure.quantity().unit().to_owned(), over_trials })
    });
    ConfigurationFigures { configuration: spec.to_string(), figures: figures.collect(), spec }
}
