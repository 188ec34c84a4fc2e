//! NICs taken from the machine, and returned from their current namespace.

use std::{
    thread,
    time::{Duration, Instant},
};

use kernel::{device, namespace};
use model::{NicState, change::MovedNic};

use super::Kind;
use crate::{failure::Failure, record::Namespaces};

/// A card returns by itself when its namespace ends, after the kernel's cleanup.
const COMES_BACK: Duration = Duration::from_secs(4);

impl Kind for MovedNic {
    type Before = NicState;

    const BEFORE: &'static str = "port";

    fn namespaces(&self) -> Vec<&str> {
        vec![&self.namespace]
    }

    fn read(&self) -> Result<Option<NicState>, Failure> {
        read(&self.interface).map(Some)
    }

    fn make(&self, _: NicState) -> Result<(), Failure> {
        Ok(device::send(&self.interface, &self.namespace)?)
    }

    /// An unplugged card is gone, and so is a virtual NIC whose namespace ended.
    fn undo(&self, before: NicState, recorded: &Namespaces) -> Result<bool, Failure> {
        if namespace::own_identity()? != before.home {
            return Err(Failure::Elsewhere);
        }
        let name = come_home(&self.namespace, &before, recorded)?;
        name.map_or(Ok(false), |name| restore(&name, &before))
    }
}

/// Reads the state of a NIC to take; an error if it could not be fully restored.
pub(super) fn read(interface: &str) -> Result<NicState, Failure> {
    let state = device::read(interface)?;
    let lasting = device::lasting(interface)?;
    if lasting.is_empty() { Ok(state) } else { Err(Failure::Lasting(lasting)) }
}

/// Restores a NIC if it is in this namespace; returns whether it is.
pub(super) fn restore_here(state: &NicState) -> Result<bool, Failure> {
    device::find(&state.identity)?.map_or(Ok(false), |name| restore(&name, state))
}

fn restore(name: &str, state: &NicState) -> Result<bool, Failure> {
    let missing = device::restore(name, state)?;
    if missing.is_empty() { Ok(true) } else { Err(Failure::NotAsBefore(missing)) }
}

/// Name after its return.
fn come_home(namespace: &str, state: &NicState, recorded: &Namespaces) -> kernel::Result<Option<String>> {
    if let Some(name) = device::find(&state.identity)? {
        return Ok(Some(name));
    }
    if !is_there(namespace, recorded)? {
        return wait_for(state);
    }
    match namespace::within(namespace, || device::find(&state.identity))?? {
        Some(name) => device::fetch(namespace, &name)?,
        None => return Ok(None),
    }
    device::find(&state.identity)
}

/// Whether the namespace of the move still exists.
fn is_there(namespace: &str, recorded: &Namespaces) -> kernel::Result<bool> {
    match namespace::identity(namespace) {
        Err(error) if error.says_gone() => Ok(false),
        identity => Ok(identity?.is_some_and(|identity| recorded.identity(namespace) == Some(identity))),
    }
}

/// Virtual NICs end with their namespace, cards do not.
fn wait_for(state: &NicState) -> kernel::Result<Option<String>> {
    let until = Instant::now() + COMES_BACK;
    while !state.identity.bus.is_empty() && Instant::now() < until {
        if let Some(name) = device::find(&state.identity)? {
            return Ok(Some(name));
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok(None)
}
