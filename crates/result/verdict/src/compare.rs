//! Runs side by side: for each configuration in common, whether a figure is better or worse, as far as the trials show.

mod place;

use model::{
    Better, Comparison, Conclusion, Finding, Interval, Metric, Names, ProbeSpec, Range, Run, Trial,
    alike::distinct,
    comparison::{
        ComparedRun, ConfigurationComparison, DifferenceInterval, DifferenceKind, FigureComparison, RunComparison,
        TrialFigures,
    },
};

use crate::{interval, known_median};

/// Compares each of `runs` with the reference. `tolerance` says how much worse a figure may be, as a share of 1.
pub fn compare(reference: &Run, runs: &[Run], tolerance: f64) -> Comparison {
    let runs: Vec<_> = runs.iter().map(|run| compare_run(reference, run, tolerance, stats::CONFIDENCE)).collect();
    let conclusion = runs.iter().map(|run| conclusion(reference, run)).max().unwrap_or(Conclusion::NothingInCommon);
    Comparison { reference: named(reference), tolerance, conclusion, runs }
}

/// Compares one run. Of many figures that are compared at once, each needs more confidence than one alone.
pub(crate) fn compare_run(reference: &Run, run: &Run, tolerance: f64, confidence: f64) -> RunComparison {
    let (theirs, ours) = (configurations(reference), configurations(run));
    let (common, only_reference): (Vec<_>, Vec<_>) = theirs.into_iter().partition(|spec| ours.contains(spec));
    let only_run = ours.into_iter().filter(|spec| !common.contains(spec)).collect();
    let names = Names::of(common.iter().cloned());
    let configuration = |spec: ProbeSpec| ConfigurationComparison {
        configuration: names.name(&spec),
        figures: compare_figures(reference, run, &spec, (tolerance, confidence)),
        spec,
    };
    let configurations = common.into_iter().map(configuration).collect();
    RunComparison { run: named(run), changed: place::changed(reference, run), configurations, only_reference, only_run }
}

pub(crate) fn named(run: &Run) -> ComparedRun {
    ComparedRun {
        id: run.id.clone(),
        started: run.started.clone(),
        plan: run.plan.name.clone(),
        bed: run.bed.name.clone(),
        simulated: run.bed.simulated,
        partial: run.partial,
    }
}

/// Each distinct configuration that was measured, in the order it was first.
pub(crate) fn configurations(run: &Run) -> Vec<ProbeSpec> {
    distinct(run.trials.iter().filter(|trial| trial.is_whole()).map(|trial| trial.measured.spec()))
}

fn compare_figures(reference: &Run, run: &Run, spec: &ProbeSpec, demands: (f64, f64)) -> Vec<FigureComparison> {
    let of_spec = |run: &'_ Run| -> Vec<Trial> {
        run.trials.iter().filter(|trial| trial.is_whole() && trial.measured.spec() == *spec).cloned().collect()
    };
    let (theirs, ours) = (of_spec(reference), of_spec(run));
    let figures = spec.probe().compared().iter().filter_map(|&metric| {
        let ranges = |trials: &[Trial]| trials.iter().filter_map(|it| it.figure(metric)).collect::<Vec<_>>();
        let (theirs, ours) = (ranges(&theirs), ranges(&ours));
        is_worth_a_row(metric, &theirs, &ours).then(|| compare_figure(metric, &theirs, &ours, demands))
    });
    figures.collect()
}

/// Whether there is something to compare. That nothing was lost in either run goes without saying.
fn is_worth_a_row(metric: Metric, theirs: &[Range], ours: &[Range]) -> bool {
    let mut all = theirs.iter().chain(ours);
    if metric == Metric::Loss { all.any(|range| range.high > 0.0) } else { all.next().is_some() }
}

fn compare_figure(
    metric: Metric,
    theirs: &[Range],
    ours: &[Range],
    (tolerance, confidence): (f64, f64),
) -> FigureComparison {
    let kind = DifferenceKind::of(metric);
    let interval = difference_interval(kind, theirs, ours, confidence);
    let more_is_better = metric.better() == Better::Higher;
    let least_worse = interval.map(|it| if more_is_better { -it.high } else { it.low });
    let least_better = interval.map(|it| if more_is_better { it.low } else { -it.high });
    let finding = match (least_worse, least_better) {
        (None, _) | (_, None) => Finding::NotDecidable,
        (Some(worse), _) if worse > 0.0 => Finding::Worse,
        (_, Some(better)) if better > 0.0 => Finding::Better,
        _ => Finding::NoDifference,
    };
    FigureComparison {
        figure: metric,
        reference: over_trials(theirs),
        run: over_trials(ours),
        difference: difference(kind, theirs, ours),
        interval: interval.map(|it| DifferenceInterval {
            low: finite(it.low),
            high: finite(it.high),
            confidence: it.confidence,
        }),
        finding,
        beyond_tolerance: least_worse.is_some_and(|worse| worse > tolerated(kind, tolerance)),
        trials_needed: interval.is_none().then(|| stats::min_trials_for_shift(confidence)),
    }
}

/// Difference that counts for nothing. A tolerance in percent of the reference says nothing of bytes, nor of points of loss.
fn tolerated(kind: DifferenceKind, tolerance: f64) -> f64 {
    if kind == DifferenceKind::Share { tolerance } else { 0.0 }
}

pub(crate) fn over_trials(ranges: &[Range]) -> TrialFigures {
    TrialFigures {
        trials: u32::try_from(ranges.len()).unwrap_or(u32::MAX),
        median: known_median(ranges),
        interval: interval(ranges).filter(|it| it.low.is_finite() && it.high.is_finite()),
    }
}

/// `None` where it depends on missing replies, or is without bounds.
fn difference(kind: DifferenceKind, theirs: &[Range], ours: &[Range]) -> Option<f64> {
    let scale = Scale(kind);
    let least = stats::shift(&scale.highs(theirs), &scale.lows(ours))?;
    let most = stats::shift(&scale.lows(theirs), &scale.highs(ours))?;
    finite(scale.stated(least)).filter(|_| least == most)
}

/// From the least that the difference can be to the most: where replies are missing, a figure is anywhere in its range.
fn difference_interval(kind: DifferenceKind, theirs: &[Range], ours: &[Range], confidence: f64) -> Option<Interval> {
    let scale = Scale(kind);
    let of = |theirs: &[f64], ours: &[f64]| stats::shift_interval(theirs, ours, confidence);
    let Interval { low, confidence, .. } = of(&scale.highs(theirs), &scale.lows(ours))?;
    let Interval { high, .. } = of(&scale.lows(theirs), &scale.highs(ours))?;
    Some(Interval { low: scale.stated(low), high: scale.stated(high), confidence })
}

/// Subtrahend: a difference of logarithms is a ratio.
struct Scale(DifferenceKind);

impl Scale {
    fn lows(&self, ranges: &[Range]) -> Vec<f64> {
        ranges.iter().map(|range| self.place(range.low)).collect()
    }

    fn highs(&self, ranges: &[Range]) -> Vec<f64> {
        ranges.iter().map(|range| self.place(range.high)).collect()
    }

    fn place(&self, value: f64) -> f64 {
        if self.0 == DifferenceKind::Share { value.ln() } else { value }
    }

    fn stated(&self, difference: f64) -> f64 {
        if self.0 == DifferenceKind::Share { difference.exp_m1() } else { difference }
    }
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

fn conclusion(reference: &Run, run: &RunComparison) -> Conclusion {
    let any = |is: fn(&FigureComparison) -> bool| run.figures().any(is);
    if run.run.id == reference.id {
        Conclusion::NothingNew
    } else if run.configurations.is_empty() {
        Conclusion::NothingInCommon
    } else if any(|figure| figure.beyond_tolerance) {
        Conclusion::Worse
    } else if !run.only_reference.is_empty() || any(|figure| figure.finding == Finding::NotDecidable) {
        Conclusion::NotDecidable
    } else {
        Conclusion::NothingWorse
    }
}

#[cfg(test)]
pub(crate) mod tests;
