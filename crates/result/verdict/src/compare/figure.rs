//! The figures that runs are compared by.

use model::{ComparedFigure, Flow, LatencyResult, Measured, ProbeSpec, Trial};

use crate::figure::{self, Range};

/// Figures of a probe, the most telling first.
pub(super) fn of(spec: &ProbeSpec) -> &'static [ComparedFigure] {
    match spec {
        ProbeSpec::Latency(_) => {
            &[ComparedFigure::RttP50, ComparedFigure::RttP99, ComparedFigure::RttMin, ComparedFigure::Loss]
        }
        ProbeSpec::Goodput(_) => &[ComparedFigure::GoodputMean, ComparedFigure::Loss],
        ProbeSpec::Path(_) => &[ComparedFigure::PathMtu],
    }
}

/// Whether there is something to compare. That nothing was lost in either run goes without saying.
pub(super) fn is_worth_a_row(figure: ComparedFigure, theirs: &[Range], ours: &[Range]) -> bool {
    let all = || theirs.iter().chain(ours);
    if figure == ComparedFigure::Loss { all().any(|range| range.high > 0.0) } else { all().next().is_some() }
}

/// The trial's figure in its base unit, or as much as missing replies leave known of it; `None` where it has none.
pub(super) fn range(figure: ComparedFigure, trial: &Trial) -> Option<Range> {
    match figure.metric() {
        Some(metric) => figure::range(metric, trial),
        None => loss(trial).map(|share| Range { low: share, high: share }),
    }
}

/// Of all that was sent, what never came; `None` over TCP, and where nothing was sent.
fn loss(trial: &Trial) -> Option<f64> {
    let (lost, sent) = match &trial.measured {
        Measured::Latency { result, .. } => lost_replies(result)?,
        Measured::Goodput { result, .. } => lost_datagrams(&result.flows)?,
        Measured::Path { .. } => return None,
    };
    (sent > 0).then(|| lost as f64 / sent as f64)
}

fn lost_replies(result: &LatencyResult) -> Option<(u64, u64)> {
    Some((result.lost?, result.sent))
}

/// Both ways together.
fn lost_datagrams(flows: &[Flow]) -> Option<(u64, u64)> {
    let counts = |flow: &Flow| Some((flow.lost()?, flow.sent.datagrams.as_ref()?.sent));
    flows.iter().map(counts).try_fold((0, 0), |(lost, sent), flow| flow.map(|(l, s)| (lost + l, sent + s)))
}
