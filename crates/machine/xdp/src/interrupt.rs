//! Interrupts a system call of another thread.

use std::{io, mem, ptr, sync::Once};

/// A signal without another use. Its default action would end the process, so `current` has to come first.
fn signal() -> libc::c_int {
    libc::SIGRTMIN() + 5
}

/// A thread whose system calls can be interrupted.
#[derive(Clone, Copy, Debug)]
pub struct Interruptible {
    thread: libc::pid_t,
}

extern "C" fn nothing(_: libc::c_int) {}

impl Interruptible {
    /// The calling thread.
    pub fn current() -> Self {
        static HANDLER: Once = Once::new();
        HANDLER.call_once(|| {
            // SAFETY: zeros are a valid `sigaction`; the handler does nothing, and calls are not restarted after it.
            unsafe {
                let mut action: libc::sigaction = mem::zeroed();
                action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as usize;
                libc::sigaction(signal(), &action, ptr::null_mut());
            }
        });
        // SAFETY: a plain system call.
        Self { thread: unsafe { libc::gettid() } }
    }

    /// Interrupts the thread's current system call, if any: it fails with EINTR. No effect on an ended thread.
    pub fn interrupt(self) -> io::Result<()> {
        // SAFETY: plain system calls; the handler is in place.
        let answer = unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), self.thread, signal()) };
        if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}
