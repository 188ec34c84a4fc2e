//! Trials of one configuration brought together, and figures over them.

use model::{Interval, Metric, Total, Trial, TrialAssessment, trial::Measures};

use crate::{material::Material, page::Block, show, texts::Texts};

/// All trials of one configuration, and of one sender where several took turns.
pub(crate) struct Group<'a, S: Measures> {
    pub(crate) spec: &'a S,
    /// From which end to which, where the bed has several senders.
    pub(crate) way: Option<(&'a str, &'a str)>,
    pub(crate) trials: Vec<(&'a Trial, &'a S::Result)>,
    /// One for each trial.
    pub(crate) assessed: Vec<&'a TrialAssessment>,
}

/// A figure over several trials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// How many values.
    pub(crate) n: usize,
    /// Interval of the median; `None` where the trials are too few.
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

    /// The range in words, or that there was one trial alone.
    pub(crate) fn words(&self, show: impl Fn(f64) -> String, t: &Texts) -> String {
        match self.range().map(|(low, high)| (show(low), show(high))) {
            Some((low, high)) if low == high => t.get("headline-no-spread"),
            Some((low, high)) => t.with("headline-spread", &[("low", &low), ("high", &high)]),
            None => t.get("headline-one-trial"),
        }
    }

    /// Whether the interval of the median goes from the lowest to the highest value, as it does where they are few.
    fn is_all_interval(&self) -> bool {
        self.interval.is_some_and(|interval| (interval.low, interval.high) == (self.low, self.high))
    }

    /// Lowest and highest; `None` for a single value, which spreads nowhere.
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
        (self.n > 1).then_some((self.low, self.high))
    }
}

/// Remarks beside medians.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ranges {
    /// No interval is known.
    Alone,
    /// Ranges, and intervals within them.
    Intervals,
    /// Each range is the interval too.
    Same,
}

impl Ranges {
    pub(crate) fn of(spreads: impl IntoIterator<Item = Spread>) -> Self {
        let spreads: Vec<Spread> = spreads.into_iter().collect();
        match spreads.iter().filter(|it| it.interval.is_some()).count() {
            0 => Self::Alone,
            _ if spreads.iter().all(Spread::is_all_interval) => Self::Same,
            _ => Self::Intervals,
        }
    }

    /// Head of the column of ranges, which says it where each is the interval too.
    pub(crate) fn head(self, range: &str, t: &Texts) -> String {
        let range = t.get(range);
        if self == Self::Same { t.with("range-is-interval", &[("range", &range)]) } else { range }
    }
}

/// A note with the median of a metric that takes the slower way of each trial: the figure of the first page and of limits, which no table
/// of single ways has. Nothing without groups.
pub(crate) fn slower_way<'g, 'a: 'g, S: Measures + 'g>(
    both_ways: impl Iterator<Item = (String, &'g Group<'a, S>)>,
    metric: Metric,
    t: &Texts,
) -> Option<Block> {
    let one = |(traffic, group): (String, &Group<'a, S>)| {
        let values = group.trials.iter().filter_map(|(trial, _)| trial.figure(metric)?.known());
        let spread = Spread::of(&values.collect::<Vec<_>>())?;
        let value = |value: f64| show::metric_value(metric, value);
        let (median, range) = (value(spread.median), spread.words(value, t));
        Some(t.with("slower-way", &[("traffic", &traffic), ("median", &median), ("spread", &range)]))
    };
    let all = both_ways.filter_map(one).reduce(|a, b| a + &t.get("list-semicolon") + &b)?;
    Some(Block::Note(t.with("slower-ways", &[("all", &all)]).into()))
}

/// Trials by configuration, in the order they were first measured.
pub(crate) fn groups<'a, S: Measures + PartialEq>(material: &Material<'a>) -> Vec<Group<'a, S>> {
    let mut groups: Vec<Group<'a, S>> = Vec::new();
    for (trial, assessed) in material.trials() {
        let Some((spec, result)) = trial.measured.of::<S>() else { continue };
        let takes_turns = material.run.bed.senders().len() > 1 && !trial.measured.probe().profile().senders_share;
        let way = takes_turns.then_some((trial.endpoint_from.as_str(), trial.endpoint_to.as_str()));
        match groups.iter_mut().find(|group| group.spec == spec && group.way == way) {
            Some(group) => {
                group.trials.push((trial, result));
                group.assessed.push(assessed);
            }
            None => groups.push(Group { spec, way, trials: vec![(trial, result)], assessed: vec![assessed] }),
        }
    }
    groups
}

impl<S: Measures> Group<'_, S> {
    /// A figure over all trials; `None` if one of them does not have it, for the rest would flatter.
    pub(crate) fn over(&self, figure: impl Fn(&S::Result) -> Option<f64>) -> Option<Spread> {
        let values: Option<Vec<f64>> = self.trials.iter().map(|(_, result)| figure(result)).collect();
        Spread::of(&values?)
    }

    /// A count summed over all trials.
    pub(crate) fn sum(&self, count: impl Fn(&S::Result) -> u64) -> u64 {
        self.trials.iter().map(|(_, result)| count(result)).total()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(n: u32) -> Spread {
        Spread::of(&(0..n).map(f64::from).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn a_range_within_one_shown_value_is_none() {
        let words = |values: &[f64]| {
            Spread::of(values).unwrap().words(|value| format!("{value:.1}"), Texts::of(crate::lang::Lang::En))
        };
        assert_eq!(words(&[1.01, 1.02]), "the same in all trials");
        assert_eq!([words(&[1.0, 2.0]), words(&[1.0])], ["trials from 1.0 to 2.0", "one trial"]);
    }

    #[test]
    fn a_range_that_is_the_interval_is_said_once() {
        assert_eq!(Ranges::of([spread(3), spread(5)]), Ranges::Alone);
        assert_eq!(Ranges::of([spread(6), spread(6)]), Ranges::Same);
        assert_eq!(Ranges::of([spread(6), spread(20)]), Ranges::Intervals);
        assert_eq!(Ranges::of([spread(6), spread(3)]), Ranges::Intervals, "one range is no interval");
    }
}
