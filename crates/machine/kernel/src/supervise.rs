//! A process that looks after others: it hears of signals by reading, and of every descendant's end.

use std::{
    io,
    mem::{MaybeUninit, size_of},
    os::{
        fd::{AsRawFd, FromRawFd, OwnedFd},
        unix::process::CommandExt,
    },
    process::{Child, Command},
};

use rustix::{
    io::Errno,
    process::{Pid, Signal, WaitOptions, getpgid, getpgrp, getpid, kill_process, set_child_subreaper, wait},
};

use crate::error::{On, Result};

/// What asks a program to end, or for something that it has a handler for, and is to reach those under it.
const ASKING: [libc::c_int; 6] =
    [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGUSR1, libc::SIGUSR2];

/// Signals and ends of children, to be read by one thread.
pub struct Supervisor {
    signals: OwnedFd,
    /// What was blocked before.
    before: libc::sigset_t,
}

/// What a supervisor heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// A signal that asks for something, mostly to end.
    Asked {
        /// Its number.
        signal: i32,
        /// Whether the terminal sent it, to its whole foreground process group.
        from_terminal: bool,
    },
    /// A child ended.
    Ended {
        /// Its number.
        process: u32,
        /// Its exit status, as a shell tells it: 128 and the number of the signal that ended it.
        status: u8,
    },
    /// There are no children any more.
    Alone,
}

impl Supervisor {
    /// From here on signals are told instead of ending this process, and orphans among its descendants become its
    /// children. To be called while there is one thread: those that it starts later do not get the signals either.
    pub fn begin() -> Result<Self> {
        let (mut set, mut before) = (MaybeUninit::<libc::sigset_t>::zeroed(), MaybeUninit::<libc::sigset_t>::zeroed());
        // SAFETY: the set is initialised before it is used, and the calls read and write nothing else.
        let fd = unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            for signal in ASKING.into_iter().chain([libc::SIGCHLD]) {
                libc::sigaddset(set.as_mut_ptr(), signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), before.as_mut_ptr());
            libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC)
        };
        if fd < 0 {
            return Err(io::Error::last_os_error()).on("signalfd", "the signals that end programs");
        }
        set_child_subreaper(Some(getpid())).on("prctl(PR_SET_CHILD_SUBREAPER)", "this process")?;
        // SAFETY: the kernel has just made it, and nobody else knows it.
        let signals = unsafe { OwnedFd::from_raw_fd(fd) };
        // SAFETY: zeros are a set, and so is what the kernel wrote.
        Ok(Self { signals, before: unsafe { before.assume_init() } })
    }

    /// Starts a program, which gets signals as it would without a supervisor.
    pub fn spawn(&self, command: &mut Command) -> io::Result<Child> {
        let before = self.before;
        let unblock = move || {
            // SAFETY: the set is there, and the call may be made between fork and exec (signal-safety(7)).
            match unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut()) } {
                0 => Ok(()),
                error => Err(io::Error::from_raw_os_error(error)),
            }
        };
        // SAFETY: the closure makes one call that is allowed there, and takes no memory.
        unsafe { command.pre_exec(unblock) }.spawn()
    }

    /// Waits for what comes next.
    pub fn next(&self) -> Result<Heard> {
        loop {
            // Before it sleeps: one signal may tell of several children.
            match wait(WaitOptions::NOHANG) {
                Ok(Some((process, status))) => {
                    let code = status.exit_status().or_else(|| status.terminating_signal().map(|signal| 128 + signal));
                    let process = process.as_raw_nonzero().get().cast_unsigned();
                    return Ok(Heard::Ended { process, status: code.unwrap_or_default() as u8 });
                }
                Err(Errno::CHILD) => return Ok(Heard::Alone),
                Ok(None) | Err(Errno::INTR) => {}
                Err(error) => return Err(error).on("wait", "any child"),
            }
            if let Some(asked) = self.read()? {
                return Ok(asked);
            }
        }
    }

    fn read(&self) -> Result<Option<Heard>> {
        let mut info = MaybeUninit::<libc::signalfd_siginfo>::zeroed();
        let size = size_of::<libc::signalfd_siginfo>();
        // SAFETY: the kernel writes no more than the size.
        let read = unsafe { libc::read(self.signals.as_raw_fd(), info.as_mut_ptr().cast(), size) };
        match usize::try_from(read) {
            Err(_) if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => Ok(None),
            Ok(length) if length == size => {
                // SAFETY: zeros are valid, and so is what the kernel wrote.
                let info = unsafe { info.assume_init() };
                let signal = info.ssi_signo as i32;
                let from_terminal = info.ssi_code == libc::SI_KERNEL;
                Ok((signal != libc::SIGCHLD).then_some(Heard::Asked { signal, from_terminal }))
            }
            _ => Err(io::Error::last_os_error()).on("read", "a signalfd"),
        }
    }
}

/// Passes a signal on to a process, unless it is one that the terminal has sent it already. Fine where it is gone.
pub fn pass_on(signal: i32, from_terminal: bool, process: u32) {
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    let has_it = |pid| from_terminal && getpgid(Some(pid)).is_ok_and(|group| group == getpgrp());
    if let (Some(pid), Some(signal)) = (pid.filter(|pid| !has_it(*pid)), Signal::from_named_raw(signal)) {
        let _ = kill_process(pid, signal);
    }
}
