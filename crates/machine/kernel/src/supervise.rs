//! A process that supervises others: it reads signals, and learns of every descendant's end.

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

/// Signals that request something of a program, such as its end, and are passed to supervised programs.
const ASKING: [libc::c_int; 6] =
    [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGUSR1, libc::SIGUSR2];

/// Signals and ends of children, read by one thread.
pub struct Supervisor {
    signals: OwnedFd,
    /// Previously blocked signals.
    before: libc::sigset_t,
}

/// An event of a supervisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SupervisorEvent {
    /// A signal that requests something, mostly an end.
    Asked {
        /// Number.
        signal: i32,
        /// Whether the terminal sent it, to its whole foreground process group.
        from_terminal: bool,
    },
    /// A child ended.
    Ended {
        /// Number.
        process: u32,
        /// Exit status as in a shell: 128 plus the number of a terminating signal.
        status: u8,
    },
    /// No children are left.
    Alone,
}

impl Supervisor {
    /// From now on signals become events, and orphaned descendants become children of this process.
    ///
    /// Call it while there is one thread: later ones do not receive the signals either.
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
        // SAFETY: the kernel has just created it, and nothing else owns it.
        let signals = unsafe { OwnedFd::from_raw_fd(fd) };
        // SAFETY: zeros are a set, and so is the kernel's output.
        Ok(Self { signals, before: unsafe { before.assume_init() } })
    }

    /// Starts a program with the original signal mask.
    pub fn spawn(&self, command: &mut Command) -> io::Result<Child> {
        let before = self.before;
        let unblock = move || {
            // SAFETY: the set exists, and the call is allowed between fork and exec (signal-safety(7)).
            match unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut()) } {
                0 => Ok(()),
                error => Err(io::Error::from_raw_os_error(error)),
            }
        };
        // SAFETY: the closure makes one call that is allowed there, and does not allocate.
        unsafe { command.pre_exec(unblock) }.spawn()
    }

    /// Waits for the next event.
    pub fn next(&self) -> Result<SupervisorEvent> {
        loop {
            // Before it sleeps: one signal may stand for several children.
            match wait(WaitOptions::NOHANG) {
                Ok(Some((process, status))) => {
                    let code = status.exit_status().or_else(|| status.terminating_signal().map(|signal| 128 + signal));
                    let process = process.as_raw_nonzero().get().cast_unsigned();
                    return Ok(SupervisorEvent::Ended { process, status: code.unwrap_or_default() as u8 });
                }
                Err(Errno::CHILD) => return Ok(SupervisorEvent::Alone),
                Ok(None) | Err(Errno::INTR) => {}
                Err(error) => return Err(error).on("wait", "any child"),
            }
            if let Some(asked) = self.read()? {
                return Ok(asked);
            }
        }
    }

    fn read(&self) -> Result<Option<SupervisorEvent>> {
        let mut info = MaybeUninit::<libc::signalfd_siginfo>::zeroed();
        let size = size_of::<libc::signalfd_siginfo>();
        // SAFETY: the kernel writes no more than the size.
        let read = unsafe { libc::read(self.signals.as_raw_fd(), info.as_mut_ptr().cast(), size) };
        match usize::try_from(read) {
            Err(_) if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => Ok(None),
            Ok(length) if length == size => {
                // SAFETY: zeros are valid, and so is the kernel's output.
                let info = unsafe { info.assume_init() };
                let signal = info.ssi_signo as i32;
                let from_terminal = info.ssi_code == libc::SI_KERNEL;
                Ok((signal != libc::SIGCHLD).then_some(SupervisorEvent::Asked { signal, from_terminal }))
            }
            _ => Err(io::Error::last_os_error()).on("read", "a signalfd"),
        }
    }
}

/// Passes a signal to a process, unless the terminal has already sent it. A process already gone is no error.
pub fn pass_on(signal: i32, from_terminal: bool, process: u32) {
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    let has_it = |pid| from_terminal && getpgid(Some(pid)).is_ok_and(|group| group == getpgrp());
    if let (Some(pid), Some(signal)) = (pid.filter(|pid| !has_it(*pid)), Signal::from_named_raw(signal)) {
        let _ = kill_process(pid, signal);
    }
}
