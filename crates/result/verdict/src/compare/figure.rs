//! The figures that runs are compared by.

use model::{ComparedFigure, ProbeSpec};

use crate::figure::Range;

/// Figures of a probe, the most telling first.
pub(super) fn of(spec: &ProbeSpec) -> &'static [ComparedFigure] {
    match spec {
        ProbeSpec::Latency(_) => {
            &[ComparedFigure::RttP50, ComparedFigure::RttP99, ComparedFigure::RttMin, ComparedFigure::Loss]
        }
        ProbeSpec::Goodput(_) => &[ComparedFigure::GoodputMean, ComparedFigure::Loss],
        ProbeSpec::Path(_) => &[ComparedFigure::PathMtu],
        ProbeSpec::Packets(_) => &[ComparedFigure::ForwardingRate, ComparedFigure::Loss],
    }
}

/// Whether there is something to compare. That nothing was lost in either run goes without saying.
pub(super) fn is_worth_a_row(figure: ComparedFigure, theirs: &[Range], ours: &[Range]) -> bool {
    let all = || theirs.iter().chain(ours);
    if figure == ComparedFigure::Loss { all().any(|range| range.high > 0.0) } else { all().next().is_some() }
}
