//! Receivers of a run: the archive that keeps it, and the observer that follows it.

use bed::Session;
use model::{Environment, GoodputSecond, Run, RunId, Trial, plan::Step};
use procedure::Remaining;

/// Archive of runs. What a call keeps is safe when it returns.
pub trait Archive {
    /// Why something could not be kept.
    type Error;

    /// Keeps a run that begins.
    fn begin(&mut self, run: &Run) -> Result<(), Self::Error>;
    /// Keeps that a run is resumed.
    fn resume(&mut self, run: &Run) -> Result<(), Self::Error>;
    /// Keeps a trial, in the place of an earlier one with its number.
    fn keep_trial(&mut self, run: &RunId, trial: &Trial) -> Result<(), Self::Error>;
    /// Stores the end of a run whose trials are stored already.
    fn finish(&mut self, run: &Run) -> Result<(), Self::Error>;
    /// Forgets a run without trials.
    fn forget(&mut self, run: &RunId) -> Result<(), Self::Error>;
}

/// Looks on while a run is made.
pub trait Observer {
    /// The bed is ready.
    fn ready(&mut self, session: &Session, environment: &Environment);
    /// A step begins: the number of its trial, and the rest of the plan from there.
    fn step(&mut self, step: &Step, number: u32, remaining: Remaining);
    /// Progress of the step, 0 to 1.
    fn progress(&mut self, fraction: f64);
    /// A whole second of a transfer has passed.
    fn second(&mut self, second: &GoodputSecond);
    /// The run is over, and the bed is being given back.
    fn undoing(&mut self);
}
