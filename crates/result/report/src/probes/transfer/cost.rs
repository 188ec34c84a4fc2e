//! CPU time of a transfer.

use model::{Evidence, LimitedBy, TransferResult, Trial, TrialAssessment};

/// Least time in seconds, where the transfer was shorter: its cores and counters say nothing then.
pub(super) fn too_short(assessed: &TrialAssessment) -> Option<f64> {
    match &assessed.limited_by {
        Some(LimitedBy { evidence, .. }) => evidence.iter().find_map(|it| match it {
            Evidence::TooShort { least, .. } => Some(*least),
            _ => None,
        }),
        None => None,
    }
}

/// Seconds of the cores that an end is pinned to, for each GiB, with all that the kernel does there; `None` where it is not pinned, or the
/// transfer was too short.
pub(super) fn cpu_s_per_gib(
    trial: &Trial,
    assessed: &TrialAssessment,
    end: usize,
    result: &TransferResult,
) -> Option<f64> {
    const GIB: f64 = (1_u64 << 30) as f64;
    if result.bps().is_none() || too_short(assessed).is_some() {
        return None;
    }
    let (counters, cpus) = trial.counters.get(end).zip(trial.cpus.get(end))?;
    let busy: f64 = cpus.iter().map(|cpu| Some(counters.core(*cpu)?.busy)).sum::<Option<f64>>()?;
    (!cpus.is_empty()).then(|| busy / 100.0 * counters.seconds / (result.size as f64 / GIB))
}
