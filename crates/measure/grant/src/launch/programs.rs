//! Programs that request a grant.

use std::{fs, io, os::fd::AsFd, process};

use kernel::process::parent;
use model::{bypass::Program, plain::one_line};

use crate::handover::credentials;

/// The process at the other end of a connection, as of its connect.
pub(super) fn at_other_end(connection: &impl AsFd) -> io::Result<Program> {
    let process = credentials(connection)?.pid.cast_unsigned();
    let name = fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    Ok(Program { process, name: one_line(name.trim_end()) })
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
