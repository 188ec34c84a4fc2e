//! Trials of one configuration brought together, and figures over them.

use model::{GoodputResult, GoodputSpec, Interval, LatencyResult, LatencySpec, Measured, RttSummary, Run, Trial};

/// All latency trials of one configuration.
pub(crate) struct LatencyGroup<'a> {
    pub(crate) spec: &'a LatencySpec,
    pub(crate) trials: Vec<(&'a Trial, &'a LatencyResult)>,
}

/// All goodput trials of one configuration.
pub(crate) struct GoodputGroup<'a> {
    pub(crate) spec: &'a GoodputSpec,
    pub(crate) trials: Vec<(&'a Trial, &'a GoodputResult)>,
}

/// A figure over several trials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// How many values.
    pub(crate) n: usize,
    /// Of the median; `None` where the trials are too few.
    pub(crate) interval: Option<Interval>,
}

impl Spread {
    /// `None` without values.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        Some(Self {
            median: stats::median(values)?,
            n: values.len(),
            low: values.iter().copied().fold(f64::INFINITY, f64::min),
            high: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            interval: stats::median_interval(values, stats::CONFIDENCE),
        })
    }

    /// Lowest and highest; `None` for a single value, which spreads nowhere.
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
        (self.n > 1).then_some((self.low, self.high))
    }
}

/// The run's latency trials by configuration, in the order they were first measured.
pub(crate) fn latency_groups(run: &Run) -> Vec<LatencyGroup<'_>> {
    let mut groups: Vec<LatencyGroup<'_>> = Vec::new();
    for trial in &run.trials {
        let Measured::Latency { spec, result } = &trial.measured else { continue };
        match groups.iter_mut().find(|group| group.spec == spec) {
            Some(group) => group.trials.push((trial, result)),
            None => groups.push(LatencyGroup { spec, trials: vec![(trial, result)] }),
        }
    }
    groups
}

/// The run's goodput trials by configuration, in the order they were first measured.
pub(crate) fn goodput_groups(run: &Run) -> Vec<GoodputGroup<'_>> {
    let mut groups: Vec<GoodputGroup<'_>> = Vec::new();
    for trial in &run.trials {
        let Measured::Goodput { spec, result } = &trial.measured else { continue };
        match groups.iter_mut().find(|group| group.spec == spec) {
            Some(group) => group.trials.push((trial, result)),
            None => groups.push(GoodputGroup { spec, trials: vec![(trial, result)] }),
        }
    }
    groups
}

impl LatencyGroup<'_> {
    /// A figure of RTT over all trials; `None` if one of them does not have it, for the rest would flatter.
    pub(crate) fn rtt(&self, figure: impl Fn(&RttSummary) -> Option<u64>) -> Option<Spread> {
        let values: Option<Vec<f64>> =
            self.trials.iter().map(|(_, result)| figure(&result.rtt_ns).map(|ns| ns as f64)).collect();
        Spread::of(&values?)
    }

    /// A count summed over all trials.
    pub(crate) fn sum(&self, count: impl Fn(&LatencyResult) -> u64) -> u64 {
        self.trials.iter().map(|(_, result)| count(result)).sum()
    }

    /// Whether two configurations differ in their frame size alone, so that one line joins them.
    pub(crate) fn same_traffic(&self, other: &Self) -> bool {
        let key = |spec: &LatencySpec| (spec.protocol, spec.ip, spec.mode);
        key(self.spec) == key(other.spec)
    }
}

/// Groups that differ in frame size alone, together, each ordered by frame size.
pub(crate) fn by_traffic<'g, 'a>(groups: &'g [LatencyGroup<'a>]) -> Vec<Vec<&'g LatencyGroup<'a>>> {
    let mut traffics: Vec<Vec<&LatencyGroup<'_>>> = Vec::new();
    for group in groups {
        match traffics.iter_mut().find(|traffic| traffic[0].same_traffic(group)) {
            Some(traffic) => traffic.push(group),
            None => traffics.push(vec![group]),
        }
    }
    for traffic in &mut traffics {
        traffic.sort_by_key(|group| group.spec.frame_size);
    }
    traffics
}

impl GoodputGroup<'_> {
    /// A figure over all trials.
    pub(crate) fn over_trials(&self, figure: impl Fn(&GoodputResult) -> f64) -> Option<Spread> {
        Spread::of(&self.trials.iter().map(|(_, result)| figure(result)).collect::<Vec<_>>())
    }

    /// Slowest and fastest second of all trials.
    pub(crate) fn seconds(&self) -> Option<(f64, f64)> {
        let all = || self.trials.iter().flat_map(|(_, result)| result.intervals_bps.iter().copied());
        Some((all().reduce(f64::min)?, all().reduce(f64::max)?))
    }
}
