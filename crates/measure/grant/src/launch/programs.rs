//! Programs that request a grant, or the page of sockets without one.

use std::{fs, os::fd::OwnedFd, process};

use kernel::process::parent;
use model::{
    bypass::{Hindrance, Program, Refusal},
    plain::one_line,
};
use rustix::event::PollFlags;

use crate::{GrantError, handover};

/// Name of a process that is not known by one.
pub(super) const NAMELESS: &str = "a process";

/// One of our programs, which waits for an answer.
pub(super) struct Requester {
    pub(super) program: Program,
    /// Process; readable at its end.
    pub(super) process: OwnedFd,
}

/// The process at the other end of a connection, as of its connect.
///
/// # Errors
/// The reason for giving it nothing: it is none of ours, it has ended, or it no longer waits.
pub(super) fn requester(connection: &OwnedFd) -> Result<Requester, Refusal> {
    let refused = |process, name: &str, why| Refusal { program: Program { process, name: one_line(name) }, why };
    let call = |io| refused(0, NAMELESS, GrantError::Call { call: "getsockopt(SO_PEERCRED)", io }.into());
    let number = handover::credentials(connection).map_err(call)?.pid;
    let process = handover::process(connection, number);
    let number = number.cast_unsigned();
    let name = fs::read_to_string(format!("/proc/{number}/comm")).unwrap_or_default();
    let (name, is_ours) = (name.trim_end(), is_ours(number));
    // While the process is there, its number is no other's: what was read is its own.
    match process.filter(|process| handover::events(process, PollFlags::IN).is_empty()) {
        // One of our children has its number until its status is asked for.
        None => Err(refused(number, if is_ours { name } else { NAMELESS }, Hindrance::Ended)),
        Some(_) if !is_ours => Err(refused(number, name, Hindrance::NotOurs)),
        Some(process) => match handover::complaint(connection) {
            Some(why) => Err(refused(number, name, why)),
            None => Ok(Requester { program: Program { process: number, name: one_line(name) }, process }),
        },
    }
}

/// Whether a process is this one or a descendant of it.
///
/// The name of the launcher's socket is no secret, and a program with a grant can send any packet.
pub(super) fn is_ours(process: u32) -> bool {
    std::iter::successors(Some(process), |pid| parent(*pid)).any(|pid| pid == process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_ours_and_its_parent_is_not() {
        let mut child = process::Command::new("sleep").arg("10").spawn().expect("coreutils");
        let (own, outer) = (process::id(), parent(process::id()).expect("there is one"));
        assert_eq!([own, child.id(), outer, 1].map(is_ours), [true, true, false, false]);
        child.kill().and_then(|()| child.wait()).expect("it can be killed");
        assert!(!is_ours(child.id()));
    }
}
