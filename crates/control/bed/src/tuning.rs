//! A machine that is tuned: this one, or another one reached by the user's own ssh.

use std::path::Path;

use model::tuning::{SettingsToRead, TuningOrder, TuningReadings, TuningState, Undone};
use protocol::{Reply, Request};

use crate::{
    error::BedError,
    inspected::{InspectedRef, there},
    machine::Machine,
    wanted::Reach,
};

/// A machine with its agent.
pub struct TunedHost(Machine);

impl TunedHost {
    /// This machine.
    ///
    /// # Errors
    /// Its agent does not start.
    pub fn here(program: &Path) -> Result<Self, BedError> {
        Machine::here(program).map(Self)
    }

    /// Another machine.
    ///
    /// # Errors
    /// It cannot be reached, or its agent does not start.
    pub fn there(host: &InspectedRef, reach: &Reach, program: &Path) -> Result<Self, BedError> {
        there(host, reach, program).map(Self)
    }

    /// Readings that a plan needs.
    ///
    /// # Errors
    /// The machine does not answer.
    pub fn readings(&mut self, asked: SettingsToRead) -> Result<TuningReadings, BedError> {
        match self.0.ask(Request::TuningReadings { asked })? {
            Reply::TuningReadings(readings) => Ok(*readings),
            other => Err(self.0.confused(&other)),
        }
    }

    /// Locks its tuning against others: what is tuned from now on is undone at the latest when this is dropped.
    ///
    /// # Errors
    /// It is tuned already, or another process tunes it.
    pub fn claim(&mut self) -> Result<(), BedError> {
        match self.0.ask(Request::ClaimTuning)? {
            Reply::Done => Ok(()),
            other => Err(self.0.confused(&other)),
        }
    }

    /// Tunes it.
    ///
    /// # Errors
    /// A change is refused; those before it have been undone.
    pub fn tune(&mut self, order: TuningOrder) -> Result<TuningState, BedError> {
        let state = self.state_after(Request::Tune { order: Box::new(order) })?;
        state.ok_or_else(|| self.0.confused(&Reply::Done))
    }

    /// The tuning that stands; `None` without one.
    ///
    /// # Errors
    /// The machine does not answer.
    pub fn state(&mut self) -> Result<Option<TuningState>, BedError> {
        self.state_after(Request::TuningState)
    }

    /// Keeps a tuning that waits for that.
    ///
    /// # Errors
    /// None waits.
    pub fn confirm(&mut self) -> Result<TuningState, BedError> {
        let state = self.state_after(Request::ConfirmTuning)?;
        state.ok_or_else(|| self.0.confused(&Reply::Done))
    }

    /// Undoes the tuning.
    ///
    /// # Errors
    /// There is none, or a change could not be undone.
    pub fn undo(&mut self, force: bool, forget: bool) -> Result<Undone, BedError> {
        match self.0.ask(Request::UndoTuning { force, forget })? {
            Reply::TuningUndone(undone) => Ok(undone),
            other => Err(self.0.confused(&other)),
        }
    }

    fn state_after(&mut self, request: Request) -> Result<Option<TuningState>, BedError> {
        match self.0.ask(request)? {
            Reply::Tuning(state) => Ok(state.map(|state| *state)),
            other => Err(self.0.confused(&other)),
        }
    }
}
