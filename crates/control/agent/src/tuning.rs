//! Tuning of the machine: makes a plan, keeps it or waits for its confirmation, and undoes it.
//!
//! All changes stand in one ledger for a network namespace. Before a tuning is confirmed, its process holds this ledger: where it dies, the
//! tuning is a dead owner's, and the next cleanup undoes it.

mod errors;
mod hold;
mod message;
mod standing;

use std::{
    io::{Read, Write},
    process::{Command, Stdio},
};

use kernel::{namespace, privilege};
use ledger::Ledger;
use model::{
    Change, Privilege,
    json::Json,
    tuning::{Tuning, TuningOrder, TuningState, Undone},
};

pub use errors::TuningError;
pub use hold::hold;
use message::{Answer, CONFIRM, STATE, UNDO};

/// Beginning of its name in the ledger. No bed has an underscore in its name.
const LEDGER: &str = "tune_";

/// Treatment of changes that somebody else has changed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ForeignChanges {
    /// They stand, and stay recorded.
    Report,
    /// They are undone like the rest.
    Overwrite,
    /// They stand, and their record ends.
    Forget,
}

/// Locks the tuning of this namespace against others, for the time of measurements with it and without it. Nothing is changed yet.
pub(crate) fn claim() -> Result<Made, TuningError> {
    need_root()?;
    if message::ask(STATE)?.is_some() {
        return Err(TuningError::Waits);
    }
    Made::nothing()
}

/// Makes a tuning and keeps it; one that has to be confirmed is held by a process of its own.
pub(crate) fn apply(order: &TuningOrder) -> Result<TuningState, TuningError> {
    need_root()?;
    if message::ask(STATE)?.is_some() {
        return Err(TuningError::Waits);
    }
    if order.confirm_within.is_some() {
        return begin_holding(order);
    }
    let mut made = Made::new(order)?;
    match made.ledger.keep(&made.tuning) {
        Ok(()) => Ok(standing::state(&made.ledger, &made.tuning)),
        Err(error) => Err(TuningError::from(error).and_then(made.ledger.undo_all().err())),
    }
}

/// Starts the process that holds a tuning until it is confirmed. It outlives this one, and an ssh session.
fn begin_holding(order: &TuningOrder) -> Result<TuningState, TuningError> {
    let failed = |error: std::io::Error| TuningError::Holder(error.to_string());
    // The file of a copy is gone by now; it can still be run by this name.
    let mut holder = Command::new("/proc/self/exe");
    holder.args(["tune", "hold"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut holder = holder.spawn().map_err(failed)?;
    let mut said = String::new();
    if let Some(mut input) = holder.stdin.take() {
        input.write_all(order.to_json().as_bytes()).map_err(failed)?;
    }
    if let Some(mut output) = holder.stdout.take() {
        output.read_to_string(&mut said).map_err(failed)?;
    }
    match serde_json::from_str(&said) {
        Ok(Answer::State(state)) => Ok(state),
        Ok(Answer::Failed(why)) => Err(TuningError::Holder(why)),
        Ok(Answer::Undone(_)) | Err(_) => Err(TuningError::Confused),
    }
}

/// The tuning of this namespace; `None` without one.
pub(crate) fn state() -> Result<Option<TuningState>, TuningError> {
    need_root()?;
    match message::ask(STATE)? {
        Some(Answer::State(state)) => Ok(Some(state)),
        Some(Answer::Failed(why)) => Err(TuningError::Holder(why)),
        Some(Answer::Undone(_)) => Err(TuningError::Confused),
        None => Ok(reopened()?.map(|(ledger, tuning)| standing::state(&ledger, &tuning))),
    }
}

/// Keeps a tuning that waits for that.
pub(crate) fn confirm() -> Result<TuningState, TuningError> {
    need_root()?;
    match message::ask(CONFIRM)? {
        Some(Answer::State(state)) => Ok(state),
        Some(Answer::Failed(why)) => Err(TuningError::Holder(why)),
        Some(Answer::Undone(_)) => Err(TuningError::Confused),
        None => Err(TuningError::NothingWaits),
    }
}

/// Undoes the tuning of this namespace.
pub(crate) fn undo(others: ForeignChanges) -> Result<Undone, TuningError> {
    need_root()?;
    match message::ask(UNDO)? {
        Some(Answer::Undone(undone)) => return Ok(undone),
        Some(Answer::Failed(why)) => return Err(TuningError::Holder(why)),
        Some(Answer::State(_)) => return Err(TuningError::Confused),
        None => {}
    }
    let (mut ledger, tuning) = reopened()?.ok_or(TuningError::Nothing)?;
    standing::undo(&mut ledger, &tuning, others)
}

/// Whether the ledger of this owner is a tuning's.
pub(crate) fn is_owner(owner: &str) -> bool {
    owner.starts_with(LEDGER)
}

/// Name of the ledger of this namespace. The machine's own has the same name in each boot, as files may outlast one.
fn owner() -> Result<String, TuningError> {
    Ok(match namespace::is_machines_own() {
        true => format!("{LEDGER}host"),
        false => format!("{LEDGER}{}", namespace::own_identity()?),
    })
}

/// The ledger of a kept or crashed tuning; the latter has no description.
fn reopened() -> Result<Option<(Ledger, Tuning)>, TuningError> {
    let ledger = match Ledger::reopen(ledger::directory(), &owner()?) {
        Err(ledger::Error::Nothing { .. }) => return Ok(None),
        Err(ledger::Error::InUse(_)) => return Err(TuningError::Busy),
        ledger => ledger?,
    };
    if ledger.standing() == 0 {
        return Ok(None);
    }
    let about = ledger.kept_about().cloned().unwrap_or_default();
    // One of another version is undone as it is recorded.
    let tuning = serde_json::from_value(about).unwrap_or_default();
    Ok(Some((ledger, tuning)))
}

fn need_root() -> Result<(), TuningError> {
    match privilege::current() {
        Privilege::Root => Ok(()),
        Privilege::UserNamespace | Privilege::User => Err(TuningError::NoRoot),
    }
}

/// A tuning that has been made. Dropping it leaves the changes to the ledger.
pub(crate) struct Made {
    ledger: Ledger,
    tuning: Tuning,
}

impl Made {
    /// Makes all changes of a plan.
    fn new(order: &TuningOrder) -> Result<Self, TuningError> {
        let mut made = Self::nothing()?;
        made.change(order)?;
        Ok(made)
    }

    /// A tuning without changes, to which no other one can be added.
    fn nothing() -> Result<Self, TuningError> {
        // A crashed tuning's settings would pass for the machine's own.
        ledger::undo_stale(ledger::directory())?;
        let ledger = Ledger::open(ledger::directory(), &owner()?).map_err(|error| match error {
            ledger::Error::NotUndone(_) => TuningError::Stands,
            ledger::Error::InUse(_) => TuningError::Busy,
            error => error.into(),
        })?;
        Ok(Self { ledger, tuning: Tuning::default() })
    }

    /// Makes all changes of a plan; where one fails, those before it are undone.
    fn change(&mut self, order: &TuningOrder) -> Result<(), TuningError> {
        let ledger = &mut self.ledger;
        let plan = &order.plan;
        let files = order.files.iter().cloned().map(Change::from);
        let changes = plan.changes.iter().map(|planned| planned.change.clone()).chain(files);
        for change in changes {
            if let Err(error) = ledger.apply(change) {
                return Err(TuningError::Refused { error: Box::new(error), undoing: ledger.undo_all().err() });
            }
        }
        let made = ledger.states().into_iter().map(|state| state.now.unwrap_or_default()).collect();
        self.tuning = Tuning {
            profile: plan.profile.clone(),
            interfaces: plan.interfaces.clone(),
            changes: plan.changes.clone(),
            made,
        };
        Ok(())
    }

    /// Makes all changes of a plan, to be undone by this process.
    pub(crate) fn make(&mut self, order: &TuningOrder) -> Result<TuningState, TuningError> {
        if self.ledger.standing() > 0 {
            return Err(TuningError::Stands);
        }
        self.change(order)?;
        Ok(standing::state(&self.ledger, &self.tuning))
    }

    /// Undoes the changes.
    pub(crate) fn undo(&mut self, others: ForeignChanges) -> Result<Undone, TuningError> {
        standing::undo(&mut self.ledger, &self.tuning, others)
    }

    /// Undoes the changes as its process ends. Those that somebody else has changed again are kept, as nobody may hear of them now: the
    /// state of the tuning tells of them.
    pub(crate) fn leave(mut self) -> Result<(), TuningError> {
        if self.undo(ForeignChanges::Report)?.left.is_empty() {
            return Ok(());
        }
        Ok(self.ledger.keep(&self.tuning)?)
    }
}
