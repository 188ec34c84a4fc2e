//! A run beside published or imported figures: comparable pairs, and their differences.

mod ours;
mod relation;

use std::collections::BTreeMap;

use model::{
    Compared, Match, Metric, NotComparable, Percent, ProbeSpec, Reference, ReferenceComparison, ReferenceFigure, Run,
    Trial,
    alike::distinct,
    plan::Bound,
    reference::{Against, NotCompared, OurFigure},
};

use self::{
    ours::OurConfiguration,
    relation::{relate, theirs},
};

/// References that a run is put beside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Chosen {
    /// All that have a figure to compare; none for a simulated run, which hardware figures say nothing of.
    #[default]
    Ordinary,
    /// None.
    None,
    /// All, also those that have nothing to compare, and whether simulated or not.
    All,
    /// The named ones, in the same way.
    Named(Vec<String>),
}

/// The run beside each chosen reference, in the order of the references.
pub fn beside_references(run: &Run, references: &[Reference], chosen: &Chosen) -> Vec<ReferenceComparison> {
    let (asked_for, wanted): (bool, Vec<&Reference>) = match chosen {
        Chosen::None => return vec![],
        Chosen::Ordinary if run.bed.simulated => return vec![],
        Chosen::Ordinary => (false, references.iter().collect()),
        Chosen::All => (true, references.iter().collect()),
        Chosen::Named(ids) => (true, references.iter().filter(|reference| ids.contains(&reference.id)).collect()),
    };
    let ours = configurations(run);
    let comparisons = wanted.into_iter().map(|reference| beside(&ours, reference, asked_for));
    comparisons.filter(|comparison| asked_for || !comparison.rows.is_empty()).collect()
}

/// Bound that a reference gives for a configuration, and the relation of the two.
pub(crate) fn bound(
    run: &Run,
    spec: &ProbeSpec,
    metric: Metric,
    (id, within): (&str, Percent),
    references: &[Reference],
) -> (Option<Bound>, Against) {
    let against = |figure, matches| Against { reference: id.to_owned(), figure, matches };
    let Some(reference) = references.iter().find(|reference| reference.id == id) else {
        return (None, against(None, not_comparable(NotComparable::NoReference)));
    };
    let ours = OurConfiguration::of(run, spec);
    let judged = reference.figures.iter().map(|figure| {
        let matches = match relate(&ours, reference, figure, false) {
            Match::NotComparable { why } => Match::NotComparable { why },
            _ if figure.ours() != Some(metric) => not_comparable(NotComparable::Statistic { theirs: figure.statistic }),
            matches => matches,
        };
        (figure, matches)
    });
    let Some((figure, matches)) = judged.min_by_key(|(_, matches)| distance(matches)) else {
        return (None, against(None, not_comparable(NotComparable::NoReference)));
    };
    if matches!(matches, Match::NotComparable { .. }) {
        return (None, against(in_another_world(&ours, metric, reference), matches));
    }
    let bound = metric.no_worse_than(figure.amount() * figure.per_ours(), within);
    (Some(bound), against(Some(theirs(reference, figure)), matches))
}

/// The figure that would be comparable, if hardware and simulation were.
fn in_another_world(ours: &OurConfiguration, metric: Metric, reference: &Reference) -> Option<ReferenceFigure> {
    let of_metric = reference.figures.iter().filter(|figure| figure.ours() == Some(metric));
    let nearest = of_metric.map(|figure| (figure, distance(&relate(ours, reference, figure, true))));
    let (figure, _) =
        nearest.filter(|(_, (conditions, _))| *conditions < usize::MAX).min_by_key(|(_, it)| it.clone())?;
    Some(theirs(reference, figure))
}

/// A measured configuration, and its whole trials.
type Configuration<'a> = (OurConfiguration, Vec<&'a Trial>);

fn configurations(run: &Run) -> Vec<Configuration<'_>> {
    let measured = run.trials.iter().filter(|trial| trial.is_whole()).map(|trial| trial.measured.spec());
    let whole = |spec: &ProbeSpec| {
        run.trials.iter().filter(|trial| trial.measured.spec() == *spec && trial.is_whole()).collect()
    };
    distinct(measured).iter().map(|spec| (OurConfiguration::of(run, spec), whole(spec))).collect()
}

/// Rows by configuration, in each the fitting figure of each kind that differs least.
fn beside(ours: &[Configuration<'_>], reference: &Reference, asked_for: bool) -> ReferenceComparison {
    let mut rows = Vec::new();
    // The nearest miss of each figure, until it has a row.
    let mut missed: Vec<Option<NotComparable>> = vec![Some(NotComparable::NothingMeasured); reference.figures.len()];
    for (ours, trials) in ours {
        let mut best: Vec<(usize, Compared)> = Vec::new();
        for (index, figure) in reference.figures.iter().enumerate() {
            match side_by_side(ours, trials, reference, figure, asked_for) {
                Err(why) => miss(&mut missed[index], why),
                Ok(row) => keep_better(&mut best, (index, row), &mut missed),
            }
        }
        for (index, row) in best {
            missed[index] = None;
            rows.push(row);
        }
    }
    ReferenceComparison { reference: reference.clone(), rows, not_compared: counted(missed.into_iter().flatten()) }
}

fn miss(missed: &mut Option<NotComparable>, why: NotComparable) {
    *missed = missed.take().map(|before| before.min(why));
}

/// Keeps one row of each kind: the one that differs least, and the first of these.
fn keep_better(best: &mut Vec<(usize, Compared)>, new: (usize, Compared), missed: &mut [Option<NotComparable>]) {
    let kind = |row: &Compared| (row.metric, row.theirs.metric);
    let Some(kept) = best.iter_mut().find(|(_, kept)| kind(kept) == kind(&new.1)) else {
        return best.push(new);
    };
    let worse = if distance(&new.1.matches) < distance(&kept.1.matches) { std::mem::replace(kept, new) } else { new };
    miss(&mut missed[worse.0], NotComparable::BetterFigure);
}

fn side_by_side(
    ours: &OurConfiguration,
    trials: &[&Trial],
    reference: &Reference,
    figure: &ReferenceFigure,
    asked_for: bool,
) -> Result<Compared, NotComparable> {
    let matches = match relate(ours, reference, figure, asked_for) {
        Match::NotComparable { why } => return Err(why),
        matches => matches,
    };
    let unknown = NotComparable::Unknown { statistic: figure.statistic };
    let metric = figure.ours().ok_or_else(|| unknown.clone())?;
    let ours_figure = our_figure(trials, metric, figure.per_ours()).ok_or(unknown)?;
    Ok(Compared {
        spec: ours.spec.clone(),
        frame_size: ours.conditions.frame_size,
        metric,
        deviation_percent: (ours_figure.median / figure.amount() - 1.0) * 100.0,
        ours: ours_figure,
        theirs: theirs(reference, figure),
        matches,
    })
}

/// `None` if one of the trials does not have the figure, for the rest would flatter.
fn our_figure(trials: &[&Trial], metric: Metric, per_ours: f64) -> Option<OurFigure> {
    let values: Option<Vec<f64>> = trials.iter().map(|trial| Some(trial.figure(metric)?.known()? / per_ours)).collect();
    let values = values?;
    Some(OurFigure {
        median: stats::median(&values)?,
        low: values.iter().copied().fold(f64::INFINITY, f64::min),
        high: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        trials: u32::try_from(values.len()).unwrap_or(u32::MAX),
        interval: stats::median_interval(&values, stats::CONFIDENCE),
    })
}

/// Each reason once, with the number of figures that it keeps away.
fn counted(reasons: impl Iterator<Item = NotComparable>) -> Vec<NotCompared> {
    let mut counts: BTreeMap<NotComparable, u32> = BTreeMap::new();
    for why in reasons {
        *counts.entry(why).or_default() += 1;
    }
    counts.into_iter().map(|(why, figures)| NotCompared { why, figures }).collect()
}

/// For choosing among figures: the least first.
fn distance(matches: &Match) -> (usize, Option<NotComparable>) {
    match matches {
        Match::Comparable => (0, None),
        Match::Differs { conditions } => (conditions.len(), None),
        Match::NotComparable { why } => (usize::MAX, Some(why.clone())),
    }
}

fn not_comparable(why: NotComparable) -> Match {
    Match::NotComparable { why }
}

#[cfg(test)]
mod tests;
