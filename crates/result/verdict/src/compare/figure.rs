//! The figures that runs are compared by.

use model::{ComparedFigure, ProbeSpec, Trial};

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
        None => figure::loss(trial).map(|share| Range { low: share, high: share }),
    }
}
