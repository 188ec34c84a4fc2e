//! Other processes.

use std::{io, time::Duration};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fd::OwnedFd,
    io::Errno,
    process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal},
};

use crate::{
    clock,
    error::{On, Result, invalid},
};

/// How long a process may take to end after SIGTERM, and again after SIGKILL.
const GRACE: Duration = Duration::from_secs(2);

/// Ends a process: asks (SIGTERM), then kills (SIGKILL), and waits until it is gone. Fine where it is gone already.
pub fn end(pid: u32) -> Result<()> {
    match end_gently(pid) {
        Err(error) if error.raw_os_error() != Some(Errno::SRCH.raw_os_error()) => {
            Err(error).on("kill", format_args!("process {pid}"))
        }
        _ => Ok(()),
    }
}

fn end_gently(pid: u32) -> io::Result<()> {
    let number = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or_else(|| invalid("not a process id"))?;
    // A descriptor, and not the number, which another process may get meanwhile.
    let process = pidfd_open(number, PidfdFlags::empty())?;
    for signal in [Signal::TERM, Signal::KILL] {
        pidfd_send_signal(&process, signal)?;
        if is_gone_within(&process, GRACE)? {
            return Ok(());
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "it did not end, not even by SIGKILL"))
}

fn is_gone_within(process: &OwnedFd, time: Duration) -> io::Result<bool> {
    let deadline = clock::now().0 + time.as_nanos() as u64;
    loop {
        let left = Duration::from_nanos(deadline.saturating_sub(clock::now().0));
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        match poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&timeout)) {
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
            Ok(ready) => return Ok(ready > 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::Read,
        process::{Command, Stdio},
    };

    use super::*;

    #[test]
    fn a_willing_and_a_stubborn_process_both_end() {
        for script in ["echo ready; read x", "trap '' TERM; echo ready; read x; read x"] {
            let mut child = Command::new("sh")
                .args(["-c", script])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect("a shell");
            let mut ready = [0; 6];
            child.stdout.as_mut().expect("piped").read_exact(&mut ready).expect("it says so");
            end(child.id()).expect("it ends");
            assert!(child.try_wait().expect("ours").is_some(), "{script}");
            end(child.id()).expect("gone already");
        }
    }
}
