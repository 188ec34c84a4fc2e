//! The configuration that an outcome of a limit is of.

use model::{LimitOutcome, Run};

use crate::{probes, show, texts::Texts};

/// The configuration in words, or the limit's criteria if nothing matched.
pub(crate) fn name(run: &Run, outcome: &LimitOutcome, t: &Texts) -> String {
    let measured = run.trials.iter().map(|trial| trial.measured.spec());
    let (probe, from) = match outcome.probe.rsplit_once(LimitOutcome::FROM) {
        Some((probe, from)) if run.bed.end(from).is_some() => (probe, Some(from)),
        _ => (outcome.probe.as_str(), None),
    };
    let spec = run.plan.specs().into_iter().chain(measured).find(|spec| t.names.name(spec) == probe);
    let ends = from.zip(run.bed.receiver().map(|end| end.name.as_str()));
    let named = |spec| {
        show::of_senders(
            run,
            (&spec, outcome.limit.metric),
            show::with_way(probes::configuration(&spec, t), ends, t),
            t,
        )
    };
    spec.map_or_else(|| show::looked_for(&outcome.limit, t), named)
}

/// Whether two outcomes are undecided, and for one reason; then one line says what there is to say of both.
pub(crate) fn alike(a: &LimitOutcome, b: &LimitOutcome) -> bool {
    a.undecided.is_some() && (a.verdict, &a.undecided) == (b.verdict, &b.undecided)
}
