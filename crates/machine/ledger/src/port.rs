//! Taking a port of the machine, and giving it back wherever it is by then.

use std::{
    thread,
    time::{Duration, Instant},
};

use kernel::{device, namespace};
use model::{Before, PortState};

use crate::{failure::Failure, file::Entry, machine::is_recorded};

/// A card whose namespace ended comes back by itself, once the kernel has taken that apart.
const COMES_BACK: Duration = Duration::from_secs(4);

/// Reads a port that is to be taken, and refuses one that could not be given back whole.
pub(crate) fn before(interface: &str) -> Result<Before, Failure> {
    let state = device::read(interface)?;
    let lasting = device::lasting(interface)?;
    if lasting.is_empty() { Ok(Before::Port(Box::new(state))) } else { Err(Failure::Lasting(lasting)) }
}

/// Gives a port back. Says whether there was one: a card that was pulled out, and a virtual port that ended with its
/// namespace, are gone.
pub(crate) fn give_back(namespace: &str, state: &PortState, entry: &Entry) -> Result<bool, Failure> {
    if namespace::own_identity()? != state.home {
        return Err(Failure::Elsewhere);
    }
    come_home(namespace, state, entry)?.map_or(Ok(false), |name| restore(&name, state))
}

/// Makes a port what it was, if it is here. Says whether it is.
pub(crate) fn put_back(state: &PortState) -> Result<bool, Failure> {
    device::find(&state.identity)?.map_or(Ok(false), |name| restore(&name, state))
}

fn restore(name: &str, state: &PortState) -> Result<bool, Failure> {
    let missing = device::restore(name, state)?;
    if missing.is_empty() { Ok(true) } else { Err(Failure::NotAsBefore(missing)) }
}

/// The name it has once it is here.
fn come_home(namespace: &str, state: &PortState, entry: &Entry) -> kernel::Result<Option<String>> {
    if let Some(name) = device::find(&state.identity)? {
        return Ok(Some(name));
    }
    if !is_there(namespace, entry)? {
        return wait_for(state);
    }
    match namespace::within(namespace, || device::find(&state.identity))?? {
        Some(name) => device::fetch(namespace, &name)?,
        None => return Ok(None),
    }
    device::find(&state.identity)
}

/// Whether the namespace it was moved into still stands.
fn is_there(namespace: &str, entry: &Entry) -> kernel::Result<bool> {
    match namespace::identity(namespace) {
        Err(error) if error.says_gone() => Ok(false),
        identity => Ok(identity?.is_some_and(|identity| is_recorded(identity, namespace, entry))),
    }
}

/// Virtual ports end with their namespace, cards do not.
fn wait_for(state: &PortState) -> kernel::Result<Option<String>> {
    let until = Instant::now() + COMES_BACK;
    while !state.identity.bus.is_empty() && Instant::now() < until {
        if let Some(name) = device::find(&state.identity)? {
            return Ok(Some(name));
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok(None)
}
