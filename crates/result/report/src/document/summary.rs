//! The first page of a report as JSON.

use model::{
    Assessment, FreeFigure, Interval, KeyFigure, Metric, Place, Undecided, Verdict,
    assessment::{MainLimit, Tally},
};

use super::DoubtEntry;
use crate::shape::document;

document! {
    /// The first page of a report: the points that a reader has to know first.
    SummaryEntry of (assessment: &Assessment);
    let page = &assessment.page_one;
    {
        /// Number of criteria by verdict.
        tally: TallyEntry = TallyEntry::of(page.tally),
        /// Reasons for which criteria are undecided, the most frequent first.
        undecided: Vec<UndecidedEntry> =
            page.undecided.iter().map(|(reason, count)| UndecidedEntry::of(reason, *count)).collect(),
        /// Three to five figures, where there are as many.
        key_figures: Vec<KeyFigureEntry> =
            page.key_figures.iter().filter_map(|figure| KeyFigureEntry::of(figure, assessment)).collect(),
        /// The gravest doubt; null without any.
        worst_doubt: Option<DoubtEntry> = page.worst_doubt.as_ref().map(DoubtEntry::of),
        /// The place that limited most configurations; null where no trial has a limit.
        main_limit: Option<MainLimitEntry> = page.main_limit.as_ref().map(MainLimitEntry::of),
    }
}

document! {
    /// Number of criteria by verdict.
    TallyEntry of (tally: Tally) {
        /// Met.
        pass: usize = tally.pass,
        /// Missed.
        fail: usize = tally.fail,
        /// All others.
        undecided: usize = tally.undecided,
    }
}

document! {
    /// A reason for which criteria are undecided.
    UndecidedEntry of (reason: &Undecided, number: usize) {
        /// The reason.
        reason: Undecided = reason.clone(),
        /// Number of criteria.
        count: usize = number,
    }
}

document! {
    /// One of the figures that say most of a run.
    KeyFigureEntry of (figure: &KeyFigure, assessment: &Assessment) -> Option;
    let (outcome, free) = match figure {
        KeyFigure::Judged(index) => (assessment.outcomes.get(*index), None),
        KeyFigure::Free(free) => (None, Some(free)),
    };
    let (configuration, metric) = match (outcome, free) {
        (Some(it), _) => (it.probe.clone(), it.limit.metric),
        (None, Some(FreeFigure { spec, metric, .. })) => (spec.to_string(), *metric),
        (None, None) => return None,
    };
    {
        /// The configuration in words.
        configuration: String = configuration,
        /// The sender, where senders took turns.
        from: Option<String> = free.and_then(|it| it.from.clone()),
        /// The metric.
        metric: Metric = metric,
        /// Median over the trials, in the metric's base unit; null without any trial.
        median: Option<f64> = outcome.map_or_else(|| free.map(|it| it.median), |it| it.median),
        /// Interval of that median, where there are enough trials.
        interval: Option<Interval> = outcome.map_or_else(|| free.and_then(|it| it.interval), |it| it.interval),
        /// Share of the intended load that the sender reached in the trial in which it reached least; absent where it reached it in all.
        #[serde(skip_serializing_if = "Option::is_none")]
        load_reached: Option<f64> = outcome.map_or_else(|| free.and_then(|it| it.load_reached), |it| it.load_reached),
        /// Verdict of its limit; null without a limit.
        verdict: Option<Verdict> = outcome.map(|it| it.verdict),
    }
}

document! {
    /// The place that limited most configurations of a run.
    MainLimitEntry of (limit: &MainLimit) {
        /// The place.
        place: Place = limit.place,
        /// The endpoint it is at; null where it is between the ends.
        endpoint: Option<String> = limit.endpoint.clone(),
        /// Configurations, or ways of them, that it limited.
        count: usize = limit.count,
        /// All configurations and ways.
        of: usize = limit.of,
        /// Other places that limited as many.
        also: Vec<PlaceEntry> = limit.also.iter().map(PlaceEntry::of).collect(),
    }
}

document! {
    /// A place that limited configurations of a run.
    PlaceEntry of (at: &(Place, Option<String>)) {
        /// The place.
        place: Place = at.0,
        /// The endpoint it is at; null where it is between the ends.
        endpoint: Option<String> = at.1.clone(),
    }
}
