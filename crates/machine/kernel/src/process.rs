//! Other processes, and our own size.

use std::{fs, io, time::Duration};

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

/// When a process started, in clock ticks since boot; together with the process id it names one process for good.
/// `None` where there is no such process.
pub fn start_time(pid: u32) -> Option<u64> {
    parse_start_time(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Field 22 of proc_pid_stat(5). The second, the name in parentheses, may itself hold spaces and parentheses.
fn parse_start_time(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(22 - 3)?.parse().ok()
}

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

/// The most memory this process has had resident so far, in bytes.
pub fn own_memory_bytes() -> Result<u64> {
    let status = "/proc/self/status";
    let text = fs::read_to_string(status).on("read", status)?;
    parse_peak(&text).ok_or_else(|| invalid("no VmHWM in it")).on("read", status)
}

fn parse_peak(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use std::{
        io::Read,
        process::{Command, Stdio},
    };

    use super::*;

    #[test]
    fn a_name_with_spaces_and_parentheses_does_not_confuse() {
        let stat = "77 (a) b (c) S 1 77 77 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 99 1";
        assert_eq!(parse_start_time(stat), Some(4242));
        assert_eq!(parse_start_time("77 (x"), None);
    }

    #[test]
    fn this_process_has_a_start_and_a_size() {
        assert!(start_time(std::process::id()).is_some_and(|ticks| ticks > 0));
        assert!(own_memory_bytes().expect("readable") > 100_000);
        assert_eq!(start_time(u32::MAX), None);
        assert_eq!(parse_peak("VmPeak:\t 9 kB\nVmHWM:\t    2048 kB\n"), Some(2 << 20));
    }

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
