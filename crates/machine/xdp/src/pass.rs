//! A minimal XDP program that passes everything to the kernel.
//!
//! Many cards transmit packets that XDP redirects to them only while they have a program.

use std::os::fd::OwnedFd;

use kernel::link;

use crate::redirect::{
    RedirectError,
    bpf::{self, Instruction},
};

/// The attached program, until this is dropped or the process ends.
pub struct Pass {
    _link: OwnedFd,
}

impl Pass {
    /// Attaches the program to an interface of the caller's network namespace in native mode.
    pub fn attach(interface: &str) -> Result<Self, RedirectError> {
        let index = link::index(interface).map_err(|_| RedirectError::NoInterface(interface.to_owned()))?;
        Ok(Self { _link: bpf::attach_xdp(&program()?, index, interface)? })
    }
}

/// Loads the program.
pub(crate) fn program() -> Result<OwnedFd, RedirectError> {
    const XDP_PASS: i32 = 2;
    bpf::load_xdp(&[Instruction::set(0, XDP_PASS), Instruction::exit()])
}
