//! Puts frames into the kernel's network stack, as if an interface had received them.

use std::os::fd::{AsFd, OwnedFd};

use crate::{calls, pass, redirect::RedirectError};

/// A program that passes what it is run on to the kernel.
pub struct Injector(OwnedFd);

impl Injector {
    /// Loads the program.
    pub fn load() -> Result<Self, RedirectError> {
        pass::program().map(Self)
    }

    /// Gives the kernel a frame without FCS, of at most [`LARGEST_FRAME`](crate::sender::LARGEST_FRAME) bytes.
    ///
    /// The interface is one of the caller's namespace, with an XDP program. `false` if a signal came first.
    pub fn inject(&self, interface: u32, frame: &[u8]) -> Result<bool, RedirectError> {
        let call = |io| RedirectError::Call { call: "bpf(BPF_PROG_RUN)", io };
        calls::run_received(self.0.as_fd(), frame, interface).map_err(call)
    }
}
