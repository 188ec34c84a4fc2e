//! Ends a system call of another thread.

use std::{io, mem, ptr, sync::Once};

/// Nothing else uses it, and by itself it would end the process: `watch` has to come first.
fn signal() -> libc::c_int {
    libc::SIGRTMIN() + 5
}

/// A thread whose system calls can be ended.
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
            // SAFETY: all zero is a valid `sigaction`; the handler does nothing, and calls are not restarted after it.
            unsafe {
                let mut action: libc::sigaction = mem::zeroed();
                action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as usize;
                libc::sigaction(signal(), &action, ptr::null_mut());
            }
        });
        // SAFETY: a plain system call.
        Self { thread: unsafe { libc::gettid() } }
    }

    /// Ends the system call that the thread is in, if it is in one: it fails with EINTR. Nothing happens where the thread
    /// has ended.
    pub fn interrupt(self) -> io::Result<()> {
        // SAFETY: plain system calls; the handler is in place.
        let answer = unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), self.thread, signal()) };
        if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}
