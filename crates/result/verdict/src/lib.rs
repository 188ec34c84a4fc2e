//! Meaning of trials: PASS, FAIL, INCONCLUSIVE or NOT RUN against limits, the limit of each figure, and runs side by side.
//!
//! This crate is pure, and judges stored trials: an old run is judged by today's rules.

mod assess;
mod bufferbloat;
mod card_health;
mod compare;
mod device_table;
mod figures;
mod inspection;
mod limited;
mod link;
mod page_one;
mod probes;
mod references;
mod rfc2544;
mod searches;
mod synchronous;
mod tuning;

pub use assess::assess;
pub use compare::compare;
pub use device_table::device_table;
pub use figures::figures;
pub use inspection::goal;
use model::{
    Doubt, Identity, Interval, Limit, LimitOutcome, Match, Names, ProbeSpec, Quantity, Range, Reference, Run, Trial,
    Undecided, Verdict,
    alike::distinct,
    plan::{Bound, Criterion},
    reference::Against,
};
pub use page_one::page_one;
pub use probes::path_to;
pub use references::{Chosen, beside_references};
pub use tuning::{TunedRuns, may_matter, trials_to_compare, tuning_effect};

/// Judges each limit of the run's plan for each probe it speaks of, measured or not, in the order of the plan.
/// `references` are those that limits may name.
pub fn judge(run: &Run, references: &[Reference]) -> Vec<LimitOutcome> {
    let (probes, names) = (probes(run), Names::of_run(run));
    run.plan.limits.iter().flat_map(|limit| judge_limit(limit, (&probes, &names), run, references)).collect()
}

/// The worst verdict of the plan's limits and of the items that a person verified: FAIL before INCONCLUSIVE before NOT RUN before
/// NOT COMPARABLE. NOT RUN is said of a run only where nothing was judged; beside other verdicts it is INCONCLUSIVE. `None` without any.
pub fn overall(outcomes: &[LimitOutcome], identity: Option<&Identity>) -> Option<Verdict> {
    let items = identity.into_iter().flat_map(|identity| &identity.items).map(|item| item.verdict);
    let all = || outcomes.iter().map(|outcome| outcome.verdict).chain(items.clone());
    match all().max()? {
        Verdict::NotRun if all().any(|verdict| verdict != Verdict::NotRun) => Some(Verdict::Inconclusive),
        worst => Some(worst),
    }
}

/// Each distinct probe that is planned, or was measured all the same: once for each sender where they take turns.
fn probes(run: &Run) -> Vec<Probe> {
    let specs = run.plan.specs().into_iter().chain(run.trials.iter().map(|trial| trial.measured.spec()));
    distinct(specs).into_iter().flat_map(|spec| of_senders(run, spec)).collect()
}

/// A probe and the index of its sender.
struct Probe {
    spec: ProbeSpec,
    from: Option<String>,
}

fn of_senders(run: &Run, spec: ProbeSpec) -> Vec<Probe> {
    match run.bed.senders() {
        senders @ [_, _, ..] if !spec.profile().senders_share => {
            senders.iter().map(|end| Probe { spec: spec.clone(), from: Some(end.name.clone()) }).collect()
        }
        _ => vec![Probe { spec, from: None }],
    }
}

impl Probe {
    fn is_of(&self, trial: &Trial) -> bool {
        trial.measured.spec() == self.spec && self.from.as_ref().is_none_or(|from| *from == trial.endpoint_from)
    }

    fn name(&self, names: &Names) -> String {
        let from = self.from.as_ref().map(|from| format!("{}{from}", LimitOutcome::FROM));
        names.name(&self.spec) + &from.unwrap_or_default()
    }
}

fn judge_limit(
    limit: &Limit,
    (probes, names): (&[Probe], &Names),
    run: &Run,
    references: &[Reference],
) -> Vec<LimitOutcome> {
    let matched: Vec<_> = probes.iter().filter(|probe| limit.matches(&probe.spec)).collect();
    if matched.is_empty() {
        let bound = limit.criterion().ok().and_then(|criterion| match criterion {
            Criterion::Bound(bound) => Some(bound),
            Criterion::Reference { .. } => None,
        });
        let unmatched = outcome(limit, selected(limit), (bound, None), &[]);
        return vec![LimitOutcome { undecided: Some(Undecided::NotPlanned), ..unmatched }];
    }
    let judge_probe = |probe: &Probe| {
        let trials: Vec<_> = run.trials.iter().filter(|trial| probe.is_of(trial) && trial.is_whole()).collect();
        let ranges: Vec<_> = trials.iter().filter_map(|trial| trial.figure(limit.metric)).collect();
        let mut judged = outcome(limit, probe.name(names), bound(limit, &probe.spec, run, references), &ranges);
        judged.load_reached = load_reached(trials.iter().copied());
        if ranges.is_empty() {
            let why = if trials.is_empty() { not_measured(&probe.spec, run) } else { without_figure(limit) };
            judged.undecided = Some(why);
        }
        judged
    };
    matched.into_iter().map(judge_probe).collect()
}

/// Why a configuration has no trials.
fn not_measured(spec: &ProbeSpec, run: &Run) -> Undecided {
    match procedure::left_out(spec, &run.bed, &run.trials) {
        Some(Doubt::MtuDisproved { mtu, ip, .. }) => Undecided::MtuDisproved { mtu, ip },
        Some(Doubt::NoAddress { ip }) => Undecided::NoAddress { ip },
        _ => Undecided::NotMeasured,
    }
}

/// Why trials lack the figure of a limit.
fn without_figure(limit: &Limit) -> Undecided {
    if limit.metric.is_percentile() { Undecided::FewSamples } else { Undecided::NotMeasured }
}

/// Bound of a limit for a configuration, and its relation to the reference.
fn bound(limit: &Limit, spec: &ProbeSpec, run: &Run, references: &[Reference]) -> (Option<Bound>, Option<Against>) {
    match limit.criterion() {
        Ok(Criterion::Bound(bound)) => (Some(bound), None),
        Ok(Criterion::Reference { id, within }) => {
            let (bound, against) = references::bound(run, spec, limit.metric, (id, within), references);
            (bound, Some(against))
        }
        // A plan is refused when a bound of it cannot be read; one that came by another way has nothing to judge by.
        Err(_) => (None, None),
    }
}

/// Result for the figure's range in each trial. Median and interval are stated only where they are known: a
/// missing reply may leave them open towards the top, and the verdict can be sure all the same.
fn outcome(
    limit: &Limit,
    probe: String,
    (bound, against): (Option<Bound>, Option<Against>),
    ranges: &[Range],
) -> LimitOutcome {
    let interval = interval(ranges);
    let (verdict, undecided) = match limit.metric.quantity() {
        Quantity::Count => decide_count((bound, against.as_ref()), ranges),
        _ => decide((bound, against.as_ref()), ranges, interval),
    };
    LimitOutcome {
        limit: limit.clone(),
        probe,
        bound,
        against,
        trials: u32::try_from(ranges.len()).unwrap_or(u32::MAX),
        median: known_median(ranges),
        interval: interval.filter(|interval| interval.high.is_finite()),
        verdict,
        undecided,
        load_reached: None,
    }
}

/// The least share of its intended load that a sender reached, of the trials in which it missed it.
fn load_reached<'t>(trials: impl Iterator<Item = &'t Trial>) -> Option<f64> {
    let share = |doubt: &Doubt| match doubt {
        Doubt::SenderTooSlow { intended, achieved } | Doubt::SenderPaused { intended, achieved } => {
            Some(achieved / intended)
        }
        _ => None,
    };
    trials.flat_map(|trial| &trial.doubts).filter_map(share).reduce(f64::min)
}

/// The median over trials; `None` where missing replies leave it unknown.
fn known_median(ranges: &[Range]) -> Option<f64> {
    let (lows, highs) = ends(ranges);
    stats::median(&highs).filter(|high| stats::median(&lows) == Some(*high))
}

/// Range of the true median: from the interval of the lower ends to that of the upper ends.
fn interval(ranges: &[Range]) -> Option<Interval> {
    let (lows, highs) = ends(ranges);
    let low = stats::median_interval(&lows, stats::CONFIDENCE)?;
    let high = stats::median_interval(&highs, stats::CONFIDENCE)?;
    Some(Interval { high: high.high, ..low })
}

fn ends(ranges: &[Range]) -> (Vec<f64>, Vec<f64>) {
    ranges.iter().map(|range| (range.low, range.high)).unzip()
}

/// The verdict, and why it is neither PASS nor FAIL. That a bound cannot be had from a reference matters only where there is a figure to
/// hold against it.
fn decide(
    (bound, against): (Option<Bound>, Option<&Against>),
    ranges: &[Range],
    interval: Option<Interval>,
) -> (Verdict, Option<Undecided>) {
    if ranges.is_empty() {
        return (Verdict::NotRun, Some(Undecided::NotMeasured));
    }
    let Some(bound) = bound else { return without_bound(against) };
    let Some(Interval { low, high, .. }) = interval else {
        let trials = u32::try_from(ranges.len()).unwrap_or(u32::MAX);
        let few = Undecided::FewTrials { trials, needed: stats::MIN_TRIALS_FOR_INTERVAL };
        return (Verdict::Inconclusive, Some(few));
    };
    let (right, wrong) = match bound {
        Bound::AtMost(most) => (high <= most, low > most),
        Bound::AtLeast(least) => (low >= least, high < least),
    };
    match (right, wrong) {
        (true, _) => (Verdict::Pass, None),
        (_, true) => (Verdict::Fail, None),
        _ => (Verdict::Inconclusive, Some(Undecided::Straddles)),
    }
}

/// The same for a count. It is no estimate: each trial has to keep the bound, and one is enough.
fn decide_count((bound, against): (Option<Bound>, Option<&Against>), ranges: &[Range]) -> (Verdict, Option<Undecided>) {
    if ranges.is_empty() {
        return (Verdict::NotRun, Some(Undecided::NotMeasured));
    }
    let keeps = |range: &Range| match bound {
        Some(Bound::AtMost(most)) => Some(range.high <= most),
        Some(Bound::AtLeast(least)) => Some(range.low >= least),
        None => None,
    };
    match ranges.iter().map(keeps).collect::<Option<Vec<bool>>>() {
        Some(kept) if kept.iter().all(|kept| *kept) => (Verdict::Pass, None),
        Some(_) => (Verdict::Fail, None),
        None => without_bound(against),
    }
}

fn without_bound(against: Option<&Against>) -> (Verdict, Option<Undecided>) {
    match against {
        Some(Against { reference, matches: Match::NotComparable { why }, .. }) => {
            let (reference, because) = (reference.clone(), why.clone());
            (Verdict::NotComparable, Some(Undecided::NotComparable { reference, because }))
        }
        _ => (Verdict::NotRun, Some(Undecided::NotMeasured)),
    }
}

/// Criteria of a limit, in the words of a probe: for a limit that matched nothing.
fn selected(limit: &Limit) -> String {
    format!("{}{}", limit.metric.given_by(), limit.selectors())
}

#[cfg(test)]
mod tests;
