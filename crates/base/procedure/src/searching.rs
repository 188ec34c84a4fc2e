//! Searches of a plan, a configuration after the other: each load follows from the trials at those before.

use std::mem;

use model::{
    Doubt, Nanos, Trial,
    search::{PlannedSearch, SearchMethod},
};

use crate::{
    Configuration, Next, Past, Procedure, Why,
    search::{BinarySearch, MlrSearch, Outcome, Search, TrialInput},
};

/// The searches of a section.
#[derive(Debug)]
pub(crate) struct Searching {
    searched: Vec<Searched>,
    planned: PlannedSearch,
}

/// A configuration at some load, with the proof of its MTU before it where that is changed.
#[derive(Debug)]
struct Searched {
    proofs: Vec<Configuration>,
    configuration: Configuration,
}

impl Searching {
    pub(crate) fn new(configurations: Vec<Configuration>, planned: PlannedSearch) -> Self {
        let (mut searched, mut proofs) = (Vec::new(), Vec::new());
        for configuration in configurations {
            if at(&configuration, planned.max, Nanos::default()).is_some() {
                searched.push(Searched { proofs: mem::take(&mut proofs), configuration });
            } else {
                proofs.push(configuration);
            }
        }
        Self { searched, planned }
    }

    /// A search that has no trial yet; `None` where the plan asks for none that can be made, which its check refuses.
    fn begun(&self) -> Option<Box<dyn Search>> {
        let PlannedSearch { method, goals, min, max } = self.planned.clone();
        match method {
            SearchMethod::Mlr => Some(Box::new(MlrSearch::new(goals, min, max).ok()?)),
            SearchMethod::Binary => Some(Box::new(BinarySearch::new(goals.into_iter().next()?, min, max).ok()?)),
        }
    }

    /// At most so many of the trials that come after this past, if devices forward a load in the middle.
    fn rest(&self, mut past: &[Past], most: usize) -> Vec<Configuration> {
        let mut rest = Vec::new();
        let mut next = || {
            let (this, later) = past.split_first()?;
            past = later;
            Some(this)
        };
        for Searched { proofs, configuration } in &self.searched {
            rest.extend(proofs.iter().filter(|_| next().is_none()).cloned());
            let Some(mut search) = self.begun() else { continue };
            while rest.len() < most
                && let Some(input) = search.ask()
            {
                let outcome = next().map(outcome).unwrap_or_else(|| {
                    rest.extend(at(configuration, input.load, input.duration));
                    self.foreseen(input)
                });
                search.take(outcome);
            }
        }
        rest.truncate(most);
        rest
    }

    fn foreseen(&self, input: TrialInput) -> Outcome {
        let middle = (self.planned.min as f64 * self.planned.max as f64).sqrt();
        Outcome::Loss((1.0 - middle / input.load as f64).max(0.0))
    }
}

impl Procedure for Searching {
    fn next(&self, past: &[Past]) -> Next {
        let next = self.rest(past, 1).pop();
        next.map_or(Next::End(Why::AllAsked), |next| Next::Measure(next, Why::Searched))
    }

    fn expected(&self, past: &[Past]) -> Vec<Configuration> {
        self.rest(past, usize::MAX)
    }
}

/// `None` for the proof of an MTU, which has no load.
fn at(configuration: &Configuration, load: u64, duration: Nanos) -> Option<Configuration> {
    let spec = configuration.spec.probe().with_load(load, duration)?;
    Some(Configuration { spec, senders: configuration.senders.clone() })
}

/// A trial that failed says nothing, as one whose sender was too slow.
fn outcome(past: &Past) -> Outcome {
    let trial = past.trial.as_deref();
    match trial.and_then(Trial::at_load) {
        Some(loaded) => Outcome::Loss(loaded.trial.loss_ratio),
        None => Outcome::Unreached { offered: trial.and_then(offered).unwrap_or_default() },
    }
}

/// Load that a sender reached which was too slow, or was paused.
fn offered(trial: &Trial) -> Option<u64> {
    let achieved = trial.doubts.iter().filter_map(|doubt| match doubt {
        Doubt::SenderTooSlow { achieved, .. } | Doubt::SenderPaused { achieved, .. } => Some(*achieved),
        _ => None,
    });
    achieved.reduce(f64::min).map(|achieved| achieved as u64)
}
