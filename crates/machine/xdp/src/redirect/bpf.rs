//! The few calls of bpf(2) for a program of six instructions.

use std::{
    io, mem,
    os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd},
};

/// A failure to load or attach an XDP program.
#[derive(Debug, thiserror::Error)]
pub enum RedirectError {
    /// Not root.
    #[error("XDP programs need root (CAP_BPF and CAP_NET_ADMIN in the machine's own user namespace)")]
    NotAllowed,
    /// No such interface.
    #[error("there is no interface {0} in this network namespace")]
    NoInterface(String),
    /// Another program is attached.
    #[error(
        "interface {0} has an XDP program of somebody else; \"ip link show {0}\" names it, and \"ip link set {0} xdp off\" \
         takes it away"
    )]
    Busy(String),
    /// The driver rejects the program.
    #[error(
        "the driver of interface {interface} does not take an XDP program ({io}): it has no native XDP, the MTU is too large for \
         it, or there are fewer queues to receive on than its peer has to send on (\"ethtool -L\")"
    )]
    Refused {
        /// The interface.
        interface: String,
        /// The kernel's error. Not a `source`: it is part of the message.
        io: io::Error,
    },
    /// Another error.
    #[error("{call}: {io}")]
    Call {
        /// The command of bpf(2).
        call: &'static str,
        /// The kernel's error. Not a `source`: it is part of the message.
        io: io::Error,
    },
}

/// `struct bpf_insn` of linux/bpf.h.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Instruction {
    code: u8,
    /// Destination in the lower half, source in the upper half.
    registers: u8,
    offset: i16,
    immediate: i32,
}

impl Instruction {
    const fn new(code: u8, to: u8, from: u8, offset: i16, immediate: i32) -> Self {
        Self { code, registers: to | from << 4, offset, immediate }
    }

    /// `to = *(u32 *)(from + offset)`
    pub(crate) const fn load_u32(to: u8, from: u8, offset: i16) -> Self {
        Self::new(0x61, to, from, offset, 0)
    }

    /// `to = map`, in two parts (`BPF_PSEUDO_MAP_FD`).
    pub(crate) const fn load_map(to: u8, map: i32) -> [Self; 2] {
        [Self::new(0x18, to, 1, 0, map), Self::new(0, 0, 0, 0, 0)]
    }

    /// `to = value`
    pub(crate) const fn set(to: u8, value: i32) -> Self {
        Self::new(0xb7, to, 0, 0, value)
    }

    /// Calls a helper; its result is in `r0`.
    pub(crate) const fn call(helper: i32) -> Self {
        Self::new(0x85, 0, 0, 0, helper)
    }

    /// Returns `r0`.
    pub(crate) const fn exit() -> Self {
        Self::new(0x95, 0, 0, 0, 0)
    }
}

/// An `XSKMAP` for `queues` queues.
pub(crate) fn socket_map(queues: u32) -> Result<OwnedFd, RedirectError> {
    const MAP_CREATE: libc::c_long = 0;
    const XSKMAP: u32 = 17;
    /// Start of the attributes of `BPF_MAP_CREATE`.
    #[repr(C)]
    struct Create {
        kind: u32,
        key_size: u32,
        value_size: u32,
        entries: u32,
    }
    let mut create = Create { kind: XSKMAP, key_size: 4, value_size: 4, entries: queues };
    // SAFETY: the kernel reads the four numbers.
    unsafe { bpf_fd(MAP_CREATE, &mut create) }.map_err(|io| or_not_allowed("bpf(BPF_MAP_CREATE)", io))
}

/// Puts a socket into an `XSKMAP`.
pub(crate) fn put_socket(map: &OwnedFd, queue: u32, socket: BorrowedFd<'_>) -> Result<(), RedirectError> {
    const MAP_UPDATE: libc::c_long = 2;
    /// Attributes of `BPF_MAP_UPDATE_ELEM`.
    #[repr(C)]
    struct Update {
        map: u32,
        pad: u32,
        key: u64,
        value: u64,
        flags: u64,
    }
    let value = socket.as_raw_fd();
    let (key, value) = ((&raw const queue) as u64, (&raw const value) as u64);
    let mut update = Update { map: map.as_raw_fd() as u32, pad: 0, key, value, flags: 0 };
    // SAFETY: key and value point to four bytes each, the map's sizes, and outlive the call.
    unsafe { bpf(MAP_UPDATE, &mut update) }.map(drop).map_err(|io| or_not_allowed("bpf(BPF_MAP_UPDATE_ELEM)", io))
}

/// Loads an XDP program for multi-buffer packets.
pub(crate) fn load_xdp(instructions: &[Instruction]) -> Result<OwnedFd, RedirectError> {
    const PROG_LOAD: libc::c_long = 5;
    const XDP: u32 = 6;
    const TAKES_PARTS: u32 = 1 << 5;
    /// Start of the attributes of `BPF_PROG_LOAD`.
    #[repr(C)]
    struct Load {
        kind: u32,
        count: u32,
        instructions: u64,
        license: u64,
        log_level: u32,
        log_size: u32,
        log: u64,
        kernel_version: u32,
        flags: u32,
    }
    let license = c"Dual MIT/GPL";
    let mut load = Load {
        kind: XDP,
        count: instructions.len() as u32,
        instructions: instructions.as_ptr() as u64,
        license: license.as_ptr() as u64,
        log_level: 0,
        log_size: 0,
        log: 0,
        kernel_version: 0,
        flags: TAKES_PARTS,
    };
    // SAFETY: the pointers and the count match instructions and the NUL-terminated licence, which outlive the call.
    unsafe { bpf_fd(PROG_LOAD, &mut load) }.map_err(|io| or_not_allowed("bpf(BPF_PROG_LOAD)", io))
}

/// Attaches a program to an interface in native mode, until its link's descriptor is closed.
pub(crate) fn attach_xdp(program: &OwnedFd, index: u32, interface: &str) -> Result<OwnedFd, RedirectError> {
    const LINK_CREATE: libc::c_long = 28;
    const BPF_XDP: u32 = 37;
    const NATIVE: u32 = 1 << 2;
    /// Start of the attributes of `BPF_LINK_CREATE`.
    #[repr(C)]
    struct Link {
        program: u32,
        interface: u32,
        attach: u32,
        flags: u32,
    }
    let mut link = Link { program: program.as_raw_fd() as u32, interface: index, attach: BPF_XDP, flags: NATIVE };
    // SAFETY: the kernel reads the four numbers.
    unsafe { bpf_fd(LINK_CREATE, &mut link) }.map_err(|io| match io.raw_os_error() {
        Some(libc::EBUSY | libc::EEXIST) => RedirectError::Busy(interface.to_owned()),
        Some(libc::EPERM) => RedirectError::NotAllowed,
        _ => RedirectError::Refused { interface: interface.to_owned(), io },
    })
}

fn or_not_allowed(call: &'static str, io: io::Error) -> RedirectError {
    if io.raw_os_error() == Some(libc::EPERM) { RedirectError::NotAllowed } else { RedirectError::Call { call, io } }
}

/// # Safety
/// As for [`bpf`], for a command that returns a new descriptor.
unsafe fn bpf_fd<T>(command: libc::c_long, attributes: &mut T) -> io::Result<OwnedFd> {
    // SAFETY: the caller promises it.
    let fd = unsafe { bpf(command, attributes) }?;
    // SAFETY: the kernel has just created it, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// # Safety
/// `attributes` starts like `union bpf_attr` for this command, and its pointers are valid.
unsafe fn bpf<T>(command: libc::c_long, attributes: &mut T) -> io::Result<libc::c_long> {
    // SAFETY: the kernel accesses no more than the given size; the caller guarantees the rest.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, &raw mut *attributes, mem::size_of::<T>()) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
