//! Calls of bpf(2) that aya lacks, or replaces silently.

use std::{
    ffi::CString,
    io,
    os::{
        fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::Path,
};

use kernel::link;

use crate::{Error, Result, error::ETHERNET_MTU};

const LOOKUP: u32 = 1;
const UPDATE: u32 = 2;
const PIN: u32 = 6;
const PROG_RUN: u32 = 10;
const INFO: u32 = 15;
const LINK_CREATE: u32 = 28;
const LINK_UPDATE: u32 = 29;

/// `BPF_MAP_TYPE_ARRAY`.
const ARRAY: u32 = 2;
/// `BPF_XDP` of `enum bpf_attach_type`.
const ATTACH_XDP: u32 = 37;
/// `XDP_FLAGS_SKB_MODE`: generic mode only, on packets as the kernel holds them.
const ON_PACKETS: u32 = 1 << 1;
/// `XDP_FLAGS_DRV_MODE`: native mode only.
const IN_DRIVER: u32 = 1 << 2;
/// `BPF_F_TEST_XDP_LIVE_FRAMES`.
const LIVE_FRAMES: u32 = 1 << 1;
/// `ENOTSUPP`, an errno of the kernel only.
const NOT_SUPPORTED: i32 = 524;

/// `BPF_PROG_TEST_RUN` part of `union bpf_attr`.
#[repr(C)]
#[derive(Default)]
struct Run {
    program: u32,
    result: u32,
    data_size_in: u32,
    data_size_out: u32,
    data_in: u64,
    data_out: u64,
    repeat: u32,
    duration: u32,
    context_size_in: u32,
    context_size_out: u32,
    context_in: u64,
    context_out: u64,
    flags: u32,
    cpu: u32,
    batch_size: u32,
    reserved: u32,
}

/// `struct xdp_md`: the place of a packet that a program is run on.
#[repr(C)]
#[derive(Default)]
struct Context {
    data: u32,
    data_end: u32,
    data_meta: u32,
    interface: u32,
    queue: u32,
    egress: u32,
}

/// `BPF_LINK_CREATE` part of `union bpf_attr`, as far as XDP needs it.
#[repr(C)]
#[derive(Default)]
struct LinkCreate {
    program: u32,
    interface: u32,
    attach_type: u32,
    flags: u32,
}

/// `BPF_LINK_UPDATE` part of `union bpf_attr`.
#[repr(C)]
#[derive(Default)]
struct LinkUpdate {
    link: u32,
    program: u32,
    flags: u32,
    old_program: u32,
}

/// `BPF_OBJ_PIN` part of `union bpf_attr`.
#[repr(C)]
struct Pin {
    path: u64,
    object: u32,
    flags: u32,
}

/// `BPF_MAP_*_ELEM` part of `union bpf_attr`.
#[repr(C)]
#[derive(Default)]
struct Element {
    map: u32,
    reserved: u32,
    key: u64,
    value: u64,
    flags: u64,
}

/// `BPF_OBJ_GET_INFO_BY_FD` part of `union bpf_attr`.
#[repr(C)]
#[derive(Default)]
struct Info {
    object: u32,
    length: u32,
    info: u64,
}

/// The head of `struct bpf_link_info`, as far as XDP needs it.
#[repr(C)]
#[derive(Default)]
struct LinkInfo {
    kind: u32,
    id: u32,
    program: u32,
    pad: u32,
    interface: u32,
    pad_end: u32,
}

/// The head of `struct bpf_map_info`, as far as arrays need it.
#[repr(C)]
#[derive(Default)]
struct MapInfo {
    kind: u32,
    id: u32,
    key_size: u32,
    value_size: u32,
}

/// # Safety
///
/// Pointers in `attributes` are valid for `command`.
unsafe fn call<T>(command: u32, attributes: &mut T) -> io::Result<i32> {
    // SAFETY: the kernel reads no more than the given size of the attributes.
    let answer = unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_mut(attributes), size_of::<T>()) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer as i32) }
}

/// Runs an XDP program on `frame` `repeat` times in the caller's thread; the kernel carries out each verdict.
///
/// Returns whether all runs were made; a signal ends them early.
pub(crate) fn run_live(program: BorrowedFd<'_>, frame: &[u8], repeat: u32, batch: u32) -> io::Result<bool> {
    run(&mut Run { repeat, batch_size: batch, ..live(program, frame) })
}

/// Runs an XDP program on `frame` once, as if the first queue of an interface had received it.
pub(crate) fn run_received(program: BorrowedFd<'_>, frame: &[u8], interface: u32) -> io::Result<bool> {
    let context = Context { data_end: frame.len() as u32, interface, ..Context::default() };
    let (context_size_in, context_in) = (size_of::<Context>() as u32, (&raw const context) as u64);
    run(&mut Run { repeat: 1, context_size_in, context_in, ..live(program, frame) })
}

fn live(program: BorrowedFd<'_>, frame: &[u8]) -> Run {
    Run {
        program: program.as_raw_fd().cast_unsigned(),
        data_size_in: frame.len() as u32,
        data_in: frame.as_ptr() as u64,
        flags: LIVE_FRAMES,
        ..Run::default()
    }
}

fn run(run: &mut Run) -> io::Result<bool> {
    // SAFETY: the kernel reads `data_size_in` bytes at `data_in`, and `context_size_in` at `context_in`.
    match unsafe { call(PROG_RUN, run) } {
        Err(error) if error.raw_os_error() == Some(libc::EINTR) => Ok(false),
        answer => answer.map(|_| true),
    }
}

/// Index of an interface in the caller's namespace.
pub(crate) fn index_of(interface: &str) -> Result<u32> {
    let name = CString::new(interface).unwrap_or_default();
    // SAFETY: the name ends with a zero.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(Error::NoInterface(interface.to_owned())),
        index => Ok(index),
    }
}

/// Attaches an XDP program to the driver of an interface in the caller's namespace, while the descriptor is open. Thus
/// a killed process leaves nothing behind.
pub(crate) fn attach(program: BorrowedFd<'_>, interface: &str) -> Result<OwnedFd> {
    attach_as(program, interface, IN_DRIVER)
}

/// The same in generic mode, which every driver has.
pub(crate) fn attach_generic(program: BorrowedFd<'_>, interface: &str) -> Result<OwnedFd> {
    attach_as(program, interface, ON_PACKETS)
}

fn attach_as(program: BorrowedFd<'_>, interface: &str, flags: u32) -> Result<OwnedFd> {
    let mut link = LinkCreate {
        program: program.as_raw_fd().cast_unsigned(),
        interface: index_of(interface)?,
        attach_type: ATTACH_XDP,
        flags,
    };
    // SAFETY: it contains no pointer.
    let answer = unsafe { call(LINK_CREATE, &mut link) };
    // SAFETY: the kernel returned a new descriptor.
    answer
        .map(|link| unsafe { OwnedFd::from_raw_fd(link) })
        .map_err(|error| refused(error, interface, mtu_of(interface)))
}

/// Puts another program in the place of an attached one, without a packet between them. No effect if the interface no longer exists.
pub(crate) fn replace(link: BorrowedFd<'_>, program: BorrowedFd<'_>) -> io::Result<()> {
    let [link, program] = [link, program].map(|fd| fd.as_raw_fd().cast_unsigned());
    let mut update = LinkUpdate { link, program, ..LinkUpdate::default() };
    // SAFETY: it contains no pointer.
    match unsafe { call(LINK_UPDATE, &mut update) } {
        Err(error) if error.raw_os_error() == Some(libc::ENOLINK) => Ok(()),
        answer => answer.map(drop),
    }
}

/// Keeps a BPF object by a new file of a BPF file system, until the file is removed.
pub(crate) fn pin(object: BorrowedFd<'_>, path: &Path) -> io::Result<()> {
    let name = CString::new(path.as_os_str().as_bytes())?;
    let mut pin = Pin { path: name.as_ptr() as u64, object: object.as_raw_fd().cast_unsigned(), flags: 0 };
    // SAFETY: the path ends with a zero and outlives the call.
    unsafe { call(PIN, &mut pin) }.map(drop)
}

/// The interface's MTU; 0 if it is unreadable.
fn mtu_of(interface: &str) -> u32 {
    let links = link::list().unwrap_or_default();
    links.iter().find(|link| link.name == interface).map_or(0, |link| link.mtu.0)
}

fn refused(error: io::Error, interface: &str, mtu: u32) -> Error {
    let name = interface.to_owned();
    match error.raw_os_error() {
        Some(libc::EBUSY | libc::EEXIST) => Error::Busy(name),
        Some(libc::ENOSPC) => Error::TooFewQueues(name),
        Some(libc::ERANGE) => Error::TooLargeMtu(name),
        Some(libc::EINVAL) if mtu > ETHERNET_MTU => Error::RefusedMtu { interface: name, mtu },
        Some(libc::EOPNOTSUPP | NOT_SUPPORTED) => Error::NoXdp(name),
        Some(libc::EPERM | libc::EACCES) => Error::Denied("attaching to an interface"),
        _ => Error::Call { call: "bpf(BPF_LINK_CREATE)", what: format!("interface {interface}"), io: error },
    }
}

/// Index of the interface of an XDP link; 0 if it is gone.
pub(crate) fn interface_of_link(link: BorrowedFd<'_>) -> io::Result<u32> {
    let mut about = LinkInfo::default();
    let mut info = Info {
        object: link.as_raw_fd().cast_unsigned(),
        length: size_of::<LinkInfo>() as u32,
        info: (&raw mut about) as u64,
    };
    // SAFETY: the kernel writes no more than `length` bytes to `about`.
    unsafe { call(INFO, &mut info) }.map(|_| about.interface)
}

/// Reads the only value of an array, which has this length.
pub(crate) fn read(map: BorrowedFd<'_>, value: &mut [u8]) -> io::Result<()> {
    check(map, value.len())?;
    let key = 0u32;
    let mut element = element(map, &key, value.as_mut_ptr() as u64);
    // SAFETY: the kernel reads a key of four bytes, and writes as many as the value has.
    unsafe { call(LOOKUP, &mut element) }.map(drop)
}

/// Writes the only value of an array, which has this length.
pub(crate) fn write(map: BorrowedFd<'_>, value: &[u8]) -> io::Result<()> {
    check(map, value.len())?;
    let key = 0u32;
    let mut element = element(map, &key, value.as_ptr() as u64);
    // SAFETY: the kernel reads a key of four bytes, and as many as the value has.
    unsafe { call(UPDATE, &mut element) }.map(drop)
}

/// Refuses a map that is no array of values of this length: the kernel would read or write another number of bytes.
fn check(map: BorrowedFd<'_>, length: usize) -> io::Result<()> {
    let mut about = MapInfo::default();
    let mut info = Info {
        object: map.as_raw_fd().cast_unsigned(),
        length: size_of::<MapInfo>() as u32,
        info: (&raw mut about) as u64,
    };
    // SAFETY: the kernel writes no more than `length` bytes to `about`.
    unsafe { call(INFO, &mut info) }?;
    let is_so = (about.kind, about.key_size, about.value_size as usize) == (ARRAY, 4, length);
    is_so.then_some(()).ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))
}

fn element(map: BorrowedFd<'_>, key: &u32, value: u64) -> Element {
    let map = map.as_raw_fd().cast_unsigned();
    Element { map, key: std::ptr::from_ref(key) as u64, value, ..Element::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_that_refuses_a_large_mtu_is_told_which_one_it_takes() {
        let told = |mtu| refused(io::Error::from_raw_os_error(libc::EINVAL), "eth7", mtu).to_string();
        let large = told(9000);
        assert!(
            large.contains("at an MTU of 9000; set it to 1500") && large.contains("ip link set eth7 mtu 1500"),
            "{large}"
        );
        assert!(told(1500).starts_with("bpf(BPF_LINK_CREATE) on interface eth7: "), "not the MTU: {}", told(1500));
    }
}
