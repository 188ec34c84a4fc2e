//! Searches of a plan, a configuration after the other: each load follows from the trials at those before.

use std::mem;

use model::{Doubt, Nanos, ProbeSpec, Trial, search::PlannedSearch};

use crate::{
    Configuration, Next, PastTrial, Procedure, Reason,
    search::{Outcome, TrialInput, begin},
};

/// The searches of a section.
#[derive(Debug)]
pub(crate) struct Searching {
    searched: Vec<Searched>,
    planned: PlannedSearch,
}

/// Trials that the search of one configuration takes, as far as that is known before the first one.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedTrials {
    /// Trials on a device that forwards a load in the middle.
    pub expected: Vec<ProbeSpec>,
    /// Trials on the device that takes the most time, of many with other limits, steady and wavering.
    pub longest: Vec<ProbeSpec>,
}

/// The trials of a search, by simulated devices.
pub fn foreseen(planned: &PlannedSearch, spec: &ProbeSpec) -> ExpectedTrials {
    let specs = |inputs: Vec<TrialInput>| {
        inputs.iter().filter_map(|input| spec.probe().with_load(input.load, input.duration)).collect()
    };
    let seconds = |inputs: &Vec<TrialInput>| inputs.iter().map(|input| input.duration.0).sum::<u64>();
    let searches = limits(planned).flat_map(|limit| [0.0, WAVERING].map(|band| inputs(planned, device(limit, band))));
    let longest = searches.max_by_key(seconds).unwrap_or_default();
    ExpectedTrials { expected: specs(inputs(planned, device(middle(planned), 0.0))), longest: specs(longest) }
}

/// Limits of simulated devices: so many parts between the ends of a search, and one below them.
const PARTS: u32 = 32;

/// Share of its limit within which a wavering device loses in each second trial, and how much.
const WAVERING: f64 = 0.02;

/// More trials tell nothing new of how long a search may last.
const MOST_FORESEEN: usize = 2_000;

/// The ends and the loads between them, in even steps of a ratio, and a load that is below all.
fn limits(planned: &PlannedSearch) -> impl Iterator<Item = f64> {
    let (min, max) = (planned.min as f64, planned.max as f64);
    let between = (0..=PARTS).map(move |part| min * (max / min).powf(f64::from(part) / f64::from(PARTS)));
    [0.0].into_iter().chain(between)
}

fn middle(planned: &PlannedSearch) -> f64 {
    (planned.min as f64 * planned.max as f64).sqrt()
}

/// A device that forwards up to its limit; within a band around that it loses in each second trial.
fn device(limit: f64, band: f64) -> impl FnMut(TrialInput) -> Outcome {
    let mut loses = false;
    move |input| {
        let load = input.load as f64;
        if (load - limit).abs() < band * limit {
            loses = !loses;
            return Outcome::Loss(if loses { WAVERING } else { 0.0 });
        }
        Outcome::Loss((1.0 - limit / load).max(0.0))
    }
}

/// All trials that a search asks a device for.
fn inputs(planned: &PlannedSearch, mut device: impl FnMut(TrialInput) -> Outcome) -> Vec<TrialInput> {
    let (mut inputs, mut search) = (Vec::new(), begin(planned.clone()));
    while inputs.len() < MOST_FORESEEN
        && let Some(search) = &mut search
        && let Some(input) = search.ask()
    {
        inputs.push(input);
        search.take(device(input));
    }
    inputs
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

    /// At most so many of the trials that come after this past, if devices forward a load in the middle.
    fn rest(&self, mut past: &[PastTrial], most: usize) -> Vec<Configuration> {
        let mut rest = Vec::new();
        let mut next = || {
            let (this, later) = past.split_first()?;
            past = later;
            Some(this)
        };
        for Searched { proofs, configuration } in &self.searched {
            rest.extend(proofs.iter().filter(|_| next().is_none()).cloned());
            let Some(mut search) = begin(self.planned.clone()) else { continue };
            let mut foreseen = device(middle(&self.planned), 0.0);
            while rest.len() < most
                && let Some(input) = search.ask()
            {
                let outcome = next().map(|past| outcome(past, input.load)).unwrap_or_else(|| {
                    rest.extend(at(configuration, input.load, input.duration));
                    foreseen(input)
                });
                search.take(outcome);
            }
        }
        rest.truncate(most);
        rest
    }
}

impl Procedure for Searching {
    fn next(&self, past: &[PastTrial]) -> Next {
        let next = self.rest(past, 1).pop();
        next.map_or(Next::End(Reason::AllAsked), |next| Next::Measure(next, Reason::Searched))
    }

    fn expected(&self, past: &[PastTrial]) -> Vec<Configuration> {
        self.rest(past, usize::MAX)
    }
}

/// `None` for the proof of an MTU, which has no load.
fn at(configuration: &Configuration, load: u64, duration: Nanos) -> Option<Configuration> {
    let spec = configuration.spec.probe().with_load(load, duration)?;
    Some(Configuration { spec, senders: configuration.senders.clone() })
}

/// A trial that failed says nothing, as one whose sender was too slow.
fn outcome(past: &PastTrial, load: u64) -> Outcome {
    let trial = past.trial.as_deref();
    match trial.and_then(Trial::at_load) {
        Some(loaded) => Outcome::Loss(loaded.trial.loss_ratio),
        None => Outcome::Unreached { offered: (load as f64 * trial.map_or(0.0, reached)) as u64 },
    }
}

/// Share of its load that a sender reached which was too slow, or was paused; the doubt may count in another unit than the search.
fn reached(trial: &Trial) -> f64 {
    let shares = trial.doubts.iter().filter_map(|doubt| match doubt {
        Doubt::SenderTooSlow { intended, achieved } | Doubt::SenderPaused { intended, achieved, .. }
            if *intended > 0.0 =>
        {
            Some(achieved / intended)
        }
        _ => None,
    });
    shares.reduce(f64::min).unwrap_or_default()
}
