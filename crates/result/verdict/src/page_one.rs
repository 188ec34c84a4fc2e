//! Conclusions for the first page.

use std::{
    cmp::{Ordering, Reverse},
    collections::BTreeMap,
};

use model::{
    Better, Doubt, FreeFigure, KeyFigure, LimitOutcome, Limited, MainLimit, ManualItem, Names, PageOne, Place,
    Protocol, Run, Tally, Trial, Undecided, Verdict, alike::grouped, probe::Selectors,
};

use crate::{interval, known_median, limited::is_whole_path, load_reached};

/// Fewest and most key figures.
const FEWEST: usize = 3;
pub(crate) const MOST: usize = 5;

/// Draws it from a run, the outcomes of its limits, what limited it, and how many configurations and ways have a limit.
pub fn page_one(run: &Run, outcomes: &[LimitOutcome], limited: &[Limited], ways: usize) -> PageOne {
    let items = || run.identity.iter().flat_map(|identity| &identity.items);
    let key_figures = key_figures(run, outcomes);
    PageOne {
        worst_doubt: worst_doubt(run, outcomes, &key_figures),
        tally: tally(outcomes.iter().map(|it| it.verdict).chain(items().map(|it| it.verdict))),
        undecided: undecided(outcomes, items()),
        key_figures,
        main_limit: main_limit(limited, ways),
        failed_by: failed_by(run, outcomes, limited),
    }
}

fn tally(verdicts: impl Iterator<Item = Verdict>) -> Tally {
    let mut tally = Tally::default();
    for verdict in verdicts {
        match verdict {
            Verdict::Pass => tally.pass += 1,
            Verdict::Fail => tally.fail += 1,
            Verdict::NotComparable | Verdict::NotRun | Verdict::Inconclusive => tally.undecided += 1,
        }
    }
    tally
}

/// Each reason once, the most frequent first.
fn undecided<'a>(outcomes: &'a [LimitOutcome], items: impl Iterator<Item = &'a ManualItem>) -> Vec<(Undecided, usize)> {
    let by_hand = items.filter_map(|item| match item.verdict {
        Verdict::Pass | Verdict::Fail => None,
        Verdict::NotRun => Some(Undecided::NotChecked),
        Verdict::Inconclusive | Verdict::NotComparable => Some(Undecided::LeftOpen),
    });
    let reasons = outcomes.iter().filter_map(|outcome| outcome.undecided.clone()).chain(by_hand);
    let mut reasons: Vec<_> =
        grouped(reasons, |a, b| a == b).into_iter().map(|all| (all[0].clone(), all.len())).collect();
    reasons.sort_by_key(|(_, count)| Reverse(*count));
    reasons
}

/// Failures, and the figures that the plan chose, or else the worst outcome of each figure of each protocol that has a limit. Until there are enough, the
/// first of each kind of traffic that no limit speaks of.
fn key_figures(run: &Run, outcomes: &[LimitOutcome]) -> Vec<KeyFigure> {
    let judged = judged(run, outcomes);
    let most = if judged.is_empty() { MOST } else { FEWEST };
    let free = free_figures(run, outcomes).into_iter().map(KeyFigure::Free);
    let free = free.take(most.saturating_sub(judged.len()));
    judged.into_iter().map(KeyFigure::Judged).chain(free).collect()
}

/// The protocol of each configuration, by its name.
fn protocols(run: &Run) -> BTreeMap<String, Option<Protocol>> {
    let names = Names::of_run(run);
    let specs = crate::probes(run).into_iter().map(|probe| probe.spec);
    specs.map(|spec| (names.name(&spec), spec.probe().selectors().protocol)).collect()
}

/// The worst failure of each figure of a protocol, whatever the plan chose; the worst outcome of each limit that it chose, then the others of these; until
/// there are enough, the worst outcome of each figure that it did not choose. The worst verdict stands first.
fn judged(run: &Run, outcomes: &[LimitOutcome]) -> Vec<usize> {
    let all = || outcomes.iter().enumerate().filter(|(_, outcome)| outcome.median.is_some());
    let chosen = || all().filter(|(_, outcome)| outcome.limit.key);
    let protocols = protocols(run);
    let figure = |it: &LimitOutcome| (it.limit.metric, protocols.get(configuration(it)).copied().flatten());
    let is_of_figure = |a: &LimitOutcome, b: &LimitOutcome| figure(a) == figure(b);
    let failed = worst_of_each(all().filter(|(_, outcome)| outcome.verdict == Verdict::Fail), is_of_figure);
    let main = worst_of_each(chosen(), |a, b| a.limit == b.limit);
    let mut others: Vec<_> = chosen().collect();
    others.sort_by(|(_, a), (_, b)| worse_first(a, b));
    let of_each = worst_of_each(all(), is_of_figure);
    let most_of_each = if main.is_empty() { MOST } else { FEWEST };
    let mut of: Vec<usize> = Vec::new();
    for (rows, most) in [(failed, MOST), (main, MOST), (others, MOST), (of_each, most_of_each)] {
        for (index, _) in rows {
            if of.len() < most && !of.contains(&index) {
                of.push(index);
            }
        }
    }
    of.sort_by_key(|index| (Reverse(outcomes[*index].verdict), *index));
    of
}

type Numbered<'o> = (usize, &'o LimitOutcome);

/// The worst ones first.
fn worst_of_each<'o>(
    outcomes: impl Iterator<Item = Numbered<'o>>,
    alike: impl Fn(&LimitOutcome, &LimitOutcome) -> bool,
) -> Vec<Numbered<'o>> {
    let groups = grouped(outcomes, |(_, a), (_, b)| alike(a, b)).into_iter();
    let mut worst: Vec<_> =
        groups.filter_map(|group| group.into_iter().min_by(|(_, a), (_, b)| worse_first(a, b))).collect();
    worst.sort_by_key(|(_, outcome)| Reverse(outcome.verdict));
    worst
}

/// By verdict, then, of one figure, by the median.
fn worse_first(a: &LimitOutcome, b: &LimitOutcome) -> Ordering {
    let by_median = match a.limit.metric.better() {
        _ if a.limit.metric != b.limit.metric => Ordering::Equal,
        Better::Higher => a.median.partial_cmp(&b.median).unwrap_or(Ordering::Equal),
        Better::Lower => b.median.partial_cmp(&a.median).unwrap_or(Ordering::Equal),
    };
    b.verdict.cmp(&a.verdict).then(by_median)
}

/// One configuration of each probe and protocol that has its main figure. Probes that have a limit are left out.
fn free_figures(run: &Run, outcomes: &[LimitOutcome]) -> Vec<FreeFigure> {
    let all = crate::probes(run).into_iter().filter_map(|probe| free_figure(run, &probe));
    let is_judged = |it: &FreeFigure| outcomes.iter().any(|outcome| outcome.limit.metric == it.metric);
    let kind = |it: &FreeFigure| (it.spec.probe().name(), it.spec.probe().selectors().protocol);
    let kinds = grouped(all.filter(|it| !is_judged(it)), |a, b| kind(a) == kind(b));
    kinds.into_iter().filter_map(main_figure).collect()
}

/// The best load of a ladder. Without a ladder, the first configuration without an intended load, or else the first one.
fn main_figure(kind: Vec<FreeFigure>) -> Option<FreeFigure> {
    let selectors = |it: &FreeFigure| it.spec.probe().selectors();
    let ladder = |it: &FreeFigure| (Selectors { rate: None, ..selectors(it) }, it.from.clone());
    let of_first = ladder(kind.first()?);
    let rungs: Vec<&FreeFigure> =
        kind.iter().filter(|it| selectors(it).rate.is_some() && ladder(it) == of_first).collect();
    if rungs.windows(2).any(|pair| selectors(pair[0]).rate != selectors(pair[1]).rate) {
        let better = |a: &FreeFigure, b: &FreeFigure| match a.metric.better() {
            Better::Higher => b.median > a.median,
            Better::Lower => b.median < a.median,
        };
        return rungs.into_iter().reduce(|a, b| if better(a, b) { b } else { a }).cloned();
    }
    kind.iter().find(|it| selectors(it).rate.is_none()).or(kind.first()).cloned()
}

fn free_figure(run: &Run, probe: &crate::Probe) -> Option<FreeFigure> {
    let metric = *probe.spec.probe().compared().first()?;
    let whole = || run.trials.iter().filter(|trial| probe.is_of(trial) && trial.is_whole());
    let ranges: Vec<_> = whole().filter_map(|trial| trial.figure(metric)).collect();
    let interval = interval(&ranges).filter(|interval| interval.high.is_finite());
    Some(FreeFigure {
        spec: probe.spec.clone(),
        from: probe.from.clone(),
        metric,
        median: known_median(&ranges)?,
        interval,
        load_reached: load_reached(whole()),
    })
}

/// The gravest. One that no trial of a key figure carries counts for a step less; of those that are as grave, the one that most trials
/// carry.
fn worst_doubt(run: &Run, outcomes: &[LimitOutcome], key_figures: &[KeyFigure]) -> Option<Doubt> {
    let names = Names::of_run(run);
    let key_names: Vec<String> = key_figures
        .iter()
        .map(|figure| match figure {
            KeyFigure::Judged(index) => configuration(&outcomes[*index]).to_owned(),
            KeyFigure::Free(figure) => names.name(&figure.spec),
        })
        .collect();
    let carriers = |doubt: &Doubt| -> Vec<&Trial> {
        let same = |it: &Doubt| std::mem::discriminant(it) == std::mem::discriminant(doubt);
        run.trials.iter().filter(|trial| trial.doubts.iter().any(same)).collect()
    };
    let is_key = |trial: &&Trial| key_names.contains(&names.name(&trial.measured.spec()));
    let of_run = run.doubts.iter().map(|doubt| (doubt, true, run.trials.len()));
    let of_trials = run.trials.iter().flat_map(|trial| &trial.doubts);
    let of_trials = of_trials.map(|doubt| {
        let carriers = carriers(doubt);
        (doubt, carriers.iter().any(is_key), carriers.len())
    });
    let weight = |(doubt, is_key, trials): &(&Doubt, bool, usize)| {
        (2 * (gravity(doubt) as usize) + usize::from(*is_key) * 3, *trials)
    };
    of_run.chain(of_trials).min_by_key(|one| Reverse(weight(one))).map(|(doubt, ..)| doubt.clone())
}

/// The configuration of an outcome, by its name.
fn configuration(outcome: &LimitOutcome) -> &str {
    outcome.probe.split(LimitOutcome::FROM).next().unwrap_or_default()
}

/// How much a doubt takes from a figure.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gravity {
    /// The figure holds; something else could have been known.
    Remark,
    /// The figure is less exact than it looks.
    Noise,
    /// The figure is of something else than it says, in part.
    Skewed,
    /// The figure may not be that of the path at all, or is missing.
    Void,
}

fn gravity(doubt: &Doubt) -> Gravity {
    match doubt {
        Doubt::Unprivileged | Doubt::FewTrials { .. } => Gravity::Remark,
        Doubt::OtherLoad { .. }
        | Doubt::Steal { .. }
        | Doubt::NotPinned { .. }
        | Doubt::FrequencyChanged { .. }
        | Doubt::Unsteady { .. }
        | Doubt::SmallBuffer { .. }
        | Doubt::ClockSet { .. }
        | Doubt::FarUnobserved { .. }
        | Doubt::NoSelfTest { .. } => Gravity::Noise,
        Doubt::SharedCore { .. }
        | Doubt::DutSharesCore { .. }
        | Doubt::RepliesMissing { .. }
        | Doubt::NotNumbered { .. }
        | Doubt::BroadcastShare { .. }
        | Doubt::Duplicated { .. }
        | Doubt::Corrupted { .. }
        | Doubt::Reordered { .. }
        | Doubt::SenderTooSlow { .. }
        | Doubt::SenderPaused { .. }
        | Doubt::BehindSchedule { .. }
        | Doubt::MessagesJoined { .. }
        | Doubt::Stalled { .. }
        | Doubt::Outage { .. }
        | Doubt::LinkLost { .. }
        | Doubt::NothingToPoll { .. }
        | Doubt::FarProgram { .. }
        | Doubt::ThroughKernel { .. }
        | Doubt::Unfinished { .. }
        | Doubt::DataEndedEarly
        | Doubt::SpeedsDiffer { .. }
        | Doubt::OtherBuild { .. } => Gravity::Skewed,
        Doubt::CountersDisagree { .. }
        | Doubt::PacketsDisagree { .. }
        | Doubt::NothingArrived { .. }
        | Doubt::WrongPort { .. }
        | Doubt::SettingsChanged { .. }
        | Doubt::PathNotProven { .. }
        | Doubt::MtuDisproved { .. }
        | Doubt::NoAddress { .. }
        | Doubt::NeedsAgent { .. }
        | Doubt::TtlKept { .. }
        | Doubt::EnvironmentChanged { .. }
        | Doubt::Interrupted
        | Doubt::Failed { .. } => Gravity::Void,
    }
}

/// The place that limited most configurations, and those that limited as many. An intended load that was reached counts only where nothing else limited.
fn main_limit(limited: &[Limited], ways: usize) -> Option<MainLimit> {
    let mut places = places(limited.iter().filter(|it| !is_whole_path(&it.by)));
    let order = |rows: &Vec<&Limited>| (rank(rows[0].by.place), Reverse(rows.len()));
    places.sort_by_key(order);
    let at = |rows: &Vec<&Limited>| (rows[0].by.place, rows[0].by.endpoint.clone());
    let none = || MainLimit { place: Place::NotKnown, endpoint: None, count: 0, of: ways, also: vec![] };
    let known = places.first().filter(|rows| rows[0].by.place != Place::NotKnown).map(|first| {
        let (place, endpoint) = at(first);
        let as_many = places.iter().skip(1).take_while(|rows| order(rows) == order(first));
        MainLimit { place, endpoint, count: first.len(), of: ways, also: as_many.map(at).collect() }
    });
    (ways > 0).then(|| known.unwrap_or_else(none))
}

/// The first place of each configuration or way of it, which most of its trials name; by place.
fn places<'l>(limited: impl IntoIterator<Item = &'l Limited>) -> Vec<Vec<&'l Limited>> {
    let of_each = grouped(limited, |a, b| a.spec == b.spec && a.way == b.way);
    let first = of_each.into_iter().filter_map(|rows| rows.into_iter().next());
    grouped(first, |a, b| (a.by.place, &a.by.endpoint) == (b.by.place, &b.by.endpoint))
}

/// A load that was reached as asked for is no place to mend.
fn failed_by(run: &Run, outcomes: &[LimitOutcome], limited: &[Limited]) -> Vec<(Place, Option<String>)> {
    let names = Names::of_run(run);
    let has_failed = |row: &&Limited| {
        let name = names.name(&row.spec);
        outcomes.iter().any(|outcome| outcome.verdict == Verdict::Fail && configuration(outcome) == name)
    };
    let mut places = places(limited.iter().filter(has_failed));
    places.retain(|rows| rank(rows[0].by.place) == 0);
    places.sort_by_key(|rows| Reverse(rows.len()));
    places.into_iter().map(|rows| (rows[0].by.place, rows[0].by.endpoint.clone())).collect()
}

fn rank(place: Place) -> u8 {
    match place {
        Place::IntendedLoad => 1,
        Place::NotKnown => 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
