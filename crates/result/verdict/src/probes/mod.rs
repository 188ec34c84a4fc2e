//! The conclusions that are special to a probe: what limited it, and where its packets were lost. Each probe is one module, and this file
//! is the only one of the crate that names them all.

mod goodput;
mod latency;
mod packets;
mod path;
mod transactions;
mod transfer;

use model::{ForwardingSpec, Measured, PathSpec, Run, Trial, TrialAssessment};
pub use path::path_to;

/// The conclusions of one trial.
pub(crate) fn assess(run: &Run, trial: &Trial) -> TrialAssessment {
    let mut assessment = match &trial.measured {
        Measured::Latency { spec, result } => latency::assess(run, trial, spec, result),
        Measured::Goodput { spec, result } => goodput::assess(run, trial, spec, result),
        Measured::Packets { result, .. } => packets::assess(run, trial, result),
        Measured::Path { result, .. } => path::assess(trial, result),
        Measured::Transactions { spec, result } => transactions::assess(trial, spec, result),
        Measured::Transfer { spec, result } => transfer::assess(run, trial, spec, result),
        // Its checks say what is wrong.
        Measured::Forwarding { .. } => TrialAssessment::default(),
    };
    if !trial.is_whole() {
        // The counters were not read a second time.
        assessment.losses.clear();
    }
    assessment
}

/// Whether a place limits the figure, known or not. A path has one where its interfaces are known, and forwarding has its checks.
pub(crate) fn has_limit(measured: &Measured) -> bool {
    measured.of::<PathSpec>().is_none() && measured.of::<ForwardingSpec>().is_none()
}

#[cfg(test)]
pub(crate) mod tests;
