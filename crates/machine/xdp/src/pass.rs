//! The least XDP program: all that arrives goes on to the kernel. Many cards send what XDP redirects to them only while they have a program.

use std::os::fd::OwnedFd;

use kernel::link;

use crate::redirect::{
    RedirectError,
    bpf::{self, Instruction},
};

/// The program on an interface, which goes when this is dropped, or when the process ends.
pub struct Pass {
    _link: OwnedFd,
}

impl Pass {
    /// Attaches the program to an interface of the caller's network namespace, in the driver (native mode).
    pub fn attach(interface: &str) -> Result<Self, RedirectError> {
        const XDP_PASS: i32 = 2;
        let index = link::index(interface).map_err(|_| RedirectError::NoInterface(interface.to_owned()))?;
        let program = bpf::load_xdp(&[Instruction::set(0, XDP_PASS), Instruction::exit()])?;
        Ok(Self { _link: bpf::attach_xdp(&program, index, interface)? })
    }
}
