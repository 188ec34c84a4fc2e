//! Converts errors of the rooms below for the controller.

use kernel::neighbour::{self, NextHop};
use ledger::UndoErrors;
use probe::ProbeError;
use protocol::{Failure, FailureKind};

use crate::{router::RouterError, tuning::TuningError};

/// Failure of a system call.
pub(crate) fn kernel(error: kernel::Error) -> Failure {
    Failure::new(FailureKind::Kernel, error.object(), &error)
}

/// Failure of a change to the machine.
pub(crate) fn change(error: ledger::Error) -> Failure {
    Failure::new(FailureKind::Change, changed(&error), &error)
}

/// Failure of undoing changes.
pub(crate) fn undo(errors: UndoErrors) -> Failure {
    let objects: Vec<String> = errors.0.iter().map(changed).filter(|object| !object.is_empty()).collect();
    Failure::new(FailureKind::Change, objects.join(", "), &errors)
}

/// Failure of an XDP program that passes everything on.
pub(crate) fn program(error: &xdp::RedirectError) -> Failure {
    Failure::new(FailureKind::Change, "XDP", error)
}

/// Failure of a router.
pub(crate) fn router(error: &RouterError) -> Failure {
    Failure::new(FailureKind::Change, "the XDP router", error)
}

/// Failure of a tuning.
pub(crate) fn tuning(error: &TuningError) -> Failure {
    let kind = match error {
        TuningError::NoRoot => FailureKind::Privilege,
        _ => FailureKind::Change,
    };
    Failure::new(kind, "the tuning", error)
}

/// Failure of a measurement.
pub(crate) fn measurement(error: &ProbeError) -> Failure {
    let kind = match error {
        ProbeError::Cancelled => FailureKind::Cancelled,
        ProbeError::Kernel(_) => FailureKind::Kernel,
        _ => FailureKind::Measurement,
    };
    Failure::new(kind, measured(error), error)
}

/// The same at this interface, with what is known of a peer that nothing came from.
pub(crate) fn measurement_at(interface: &str, error: &ProbeError) -> Failure {
    let failure = measurement(error);
    let Some(peer) = error.silent_peer() else { return failure };
    let hop = neighbour::known(interface, peer.ip()).ok().filter(|_| !peer.ip().is_loopback());
    let advice = match hop {
        Some(NextHop { address, state: None, .. }) => {
            format!(
                "no neighbour entry tells where {address} is (ip neigh show dev {interface}); look at the routes of this end"
            )
        }
        Some(NextHop { address, state: Some(state), mac: None }) => {
            format!(
                "neighbour {address} is {state} on {interface}: nobody there says that it has this address; check the link and the peer's address"
            )
        }
        Some(NextHop { address, state: Some(state), mac: Some(mac) }) => {
            format!(
                "neighbour {address} is {mac} on {interface} ({state}); if this is the peer, check that no packet filter takes the traffic{}",
                sizes(error)
            )
        }
        None => format!("check that no packet filter takes the traffic{}", sizes(error)),
    };
    failure.advised(advice)
}

/// Where another size might pass.
fn sizes(error: &ProbeError) -> &'static str {
    match error {
        ProbeError::NothingPasses { .. } => "",
        _ => ", and with \"wireproof path\" that packets of this size pass",
    }
}

/// Failure of wireproof itself.
pub(crate) fn bug(what: &str, advice: &str) -> Failure {
    Failure::new(FailureKind::Bug, "", what).advised(advice)
}

fn changed(error: &ledger::Error) -> String {
    use ledger::Error::{Before, File, Kernel, Lines, Make, Undo};
    match error {
        Before { change, .. } | Make { change, .. } | Undo { change, .. } => change.clone(),
        File { path, .. } | Lines { path, .. } => path.display().to_string(),
        Kernel(error) => error.object().to_owned(),
        _ => String::new(),
    }
}

fn measured(error: &ProbeError) -> String {
    match error {
        ProbeError::Socket { on: at, .. }
        | ProbeError::PeerClosed { peer: at }
        | ProbeError::NoAnswer { peer: at, .. }
        | ProbeError::NothingPasses { peer: at, .. }
        | ProbeError::SlowDrain { peer: at, .. }
        | ProbeError::NoData { peer: at, .. }
        | ProbeError::StreamsMissing { local: at, .. } => at.to_string(),
        ProbeError::Kernel(error) => error.object().to_owned(),
        ProbeError::Unable { what, .. } => what.clone(),
        ProbeError::FrameSize(_) | ProbeError::Cancelled => String::new(),
    }
}
