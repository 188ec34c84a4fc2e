//! A probe with its result, whichever it is.

use std::any::Any;

use super::Sample;
use crate::{
    figure::Figure,
    plausible::Checked,
    probe::{Conditions, Probe, ProbeSpec},
    search::LoadedTrial,
    units::Mtu,
};

/// A probe and the result that it gives.
pub trait Measures: Probe + Clone + Into<ProbeSpec> {
    /// The result.
    type Result: 'static;

    /// Figures of a result: those that its sample supports. `far` is the end at the far side.
    fn figures(&self, result: &Self::Result, far: &str) -> Vec<Figure>;

    /// Whether a result is possible, of a trial of so many seconds.
    fn check(&self, result: &Self::Result, seconds: f64) -> Checked;

    /// The whole sample of times, where it is kept.
    fn sample<'r>(&self, _result: &'r Self::Result) -> Option<Sample<'r>> {
        None
    }

    /// The trial as a search assesses it; `None` where the probe has no load of its own.
    fn at_load(&self, _result: &Self::Result) -> Option<LoadedTrial> {
        None
    }

    /// Largest packet that passed forward and in reverse, where the probe measures that.
    fn passed(&self, _result: &Self::Result) -> Option<[Option<Mtu>; 2]> {
        None
    }

    /// Conditions that the result alone tells.
    fn conditions_met(&self, _result: &Self::Result) -> Conditions {
        Conditions::default()
    }
}

/// The same for any probe.
pub(super) trait Measurement<'a> {
    fn probe(&self) -> &'a dyn Probe;
    fn spec(&self) -> ProbeSpec;
    fn result(&self) -> &'a dyn Any;
    fn figures(&self, far: &str) -> Vec<Figure>;
    fn sample(&self) -> Option<Sample<'a>>;
    fn at_load(&self) -> Option<LoadedTrial>;
    fn passed(&self) -> Option<[Option<Mtu>; 2]>;
    fn conditions(&self) -> Conditions;
    fn check(&self, seconds: f64) -> Checked;
}

impl<'a, S: Measures> Measurement<'a> for (&'a S, &'a S::Result) {
    fn probe(&self) -> &'a dyn Probe {
        self.0
    }

    fn spec(&self) -> ProbeSpec {
        self.0.clone().into()
    }

    fn result(&self) -> &'a dyn Any {
        self.1
    }

    fn figures(&self, far: &str) -> Vec<Figure> {
        self.0.figures(self.1, far)
    }

    fn sample(&self) -> Option<Sample<'a>> {
        self.0.sample(self.1)
    }

    fn at_load(&self) -> Option<LoadedTrial> {
        self.0.at_load(self.1)
    }

    fn passed(&self) -> Option<[Option<Mtu>; 2]> {
        self.0.passed(self.1)
    }

    fn conditions(&self) -> Conditions {
        self.0.conditions_met(self.1).or(&self.0.conditions())
    }

    fn check(&self, seconds: f64) -> Checked {
        self.0.check(self.1, seconds)
    }
}
