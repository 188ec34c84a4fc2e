//! Information from an interface's driver (ioctl interface of linux/ethtool.h).

mod rules;
mod settings;
mod stamping;

use std::{ffi::CStr, ffi::c_void, io, mem::offset_of, os::fd::AsRawFd, os::unix::net::UnixDatagram};

use model::change::OffloadKind;

use crate::{
    error::{On, Result, invalid},
    link::check_name,
};

pub use rules::{is_steered, steer, unsteer};
pub use settings::{
    Queues, coalescing, driver_number, is_offload_requested, offload_states, offloads_by_name, prompt, queues,
    set_coalescing, set_driver_number, set_offload_by_name, set_settings, settings,
};
pub use stamping::{set_stamping, stamping, stamps_in_hardware};

const SIOCETHTOOL: u64 = 0x8946;
const GET_DRIVER_INFO: u32 = 0x03;
const GET_SEND_CHECKSUMS: u32 = 0x16;
const SET_SEND_CHECKSUMS: u32 = 0x17;
const GET_STRINGS: u32 = 0x1b;
const GET_STATISTICS: u32 = 0x1d;
const GET_FLAGS: u32 = 0x25;
const SET_FLAGS: u32 = 0x26;
const GET_GRO: u32 = 0x2b;
const SET_GRO: u32 = 0x2c;
const GET_SET_SIZES: u32 = 0x37;

/// `ETH_SS_STATS`: the set of the names of a driver's counters.
const COUNTER_NAMES: u32 = 1;
/// `ETH_GSTRING_LEN`.
const NAME_LENGTH: usize = 32;

/// More counters than any driver has: at most some thousands, with a set for each of hundreds of queues.
///
/// The kernel writes all present counters, whatever number was requested. Unwritten memory is never touched, and costs
/// nothing.
const ROOM: usize = 1 << 16;

/// `None` if the driver does not support the request.
fn if_supported<T>(answer: Result<T>) -> Result<Option<T>> {
    match answer {
        Err(error) if error.errno() == Some(libc::EOPNOTSUPP) => Ok(None),
        answer => answer.map(Some),
    }
}

/// `struct ethtool_drvinfo` of linux/ethtool.h.
#[repr(C)]
struct DriverInfo {
    command: u32,
    driver: [u8; 32],
    version: [u8; 32],
    firmware: [u8; 32],
    bus: [u8; 32],
    /// Expansion ROM, reserved, and five lengths.
    rest: [u8; 32 + 12 + 4 * 5],
}

/// `struct ethtool_sset_info` of linux/ethtool.h, with room for one size.
#[repr(C)]
struct SetSizes {
    command: u32,
    reserved: u32,
    /// A bit per requested set; bits of unsupported sets are cleared.
    sets: u64,
    size: u32,
}

/// `struct ifreq` of linux/if.h, as SIOCETHTOOL reads it.
#[repr(C)]
struct InterfaceRequest {
    name: [u8; 16],
    data: *mut c_void,
    rest: [u8; 24 - size_of::<usize>()],
}

const _: () = assert!(size_of::<DriverInfo>() == 196 && offset_of!(InterfaceRequest, data) == 16);

/// Information about a driver and its card; empty if unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Driver {
    /// Name, like `veth` or `ixgbe`.
    pub name: String,
    /// Version; in-tree drivers have the kernel's.
    pub version: String,
    /// Version of the card's firmware.
    pub firmware: String,
    /// Address of the card on its bus, like `0000:01:00.0`.
    pub bus: String,
}

/// The driver of an interface in the caller's namespace.
pub fn driver(interface: &str) -> Result<Driver> {
    let none = [0; 32];
    let mut info =
        DriverInfo { command: GET_DRIVER_INFO, driver: none, version: none, firmware: none, bus: none, rest: [0; 64] };
    // SAFETY: the kernel writes a `struct ethtool_drvinfo`, which has the size of `DriverInfo`.
    unsafe { ask(interface, "ioctl(ETHTOOL_GDRVINFO)", (&raw mut info).cast()) }?;
    // Some drivers say "N/A" for missing values.
    let said = |bytes: &[u8]| text(bytes).trim_start_matches("N/A").trim().to_owned();
    Ok(Driver {
        name: text(&info.driver),
        version: said(&info.version),
        firmware: said(&info.firmware),
        bus: said(&info.bus),
    })
}

/// A driver's own counters by name, as in `ethtool -S`; empty without any.
pub fn statistics(interface: &str) -> Result<Vec<(String, u64)>> {
    let names = counter_names(interface)?;
    if names.is_empty() {
        return Ok(Vec::new());
    }
    Ok(names.into_iter().zip(counter_values(interface)?).collect())
}

/// Whether an interface of the caller's namespace combines received segments (generic receive offload).
pub fn gro(interface: &str) -> Result<bool> {
    Ok(value(interface, "ioctl(ETHTOOL_GGRO)", [GET_GRO, 0])? != 0)
}

/// Switches generic receive offload. With it, a veth receives by NAPI, including packets from XDP.
pub fn set_gro(interface: &str, on: bool) -> Result<()> {
    value(interface, "ioctl(ETHTOOL_SGRO)", [SET_GRO, on.into()]).map(drop)
}

/// Whether an interface of the caller's namespace takes this work from the kernel.
pub fn offload(interface: &str, offload: OffloadKind) -> Result<bool> {
    match flag(offload) {
        None => Ok(value(interface, "ioctl(ETHTOOL_GTXCSUM)", [GET_SEND_CHECKSUMS, 0])? != 0),
        Some(flag) => Ok(flags(interface)? & flag != 0),
    }
}

/// Gives it this work, or takes it back.
pub fn set_offload(interface: &str, offload: OffloadKind, on: bool) -> Result<()> {
    let Some(flag) = flag(offload) else {
        return value(interface, "ioctl(ETHTOOL_STXCSUM)", [SET_SEND_CHECKSUMS, on.into()]).map(drop);
    };
    let others = flags(interface)? & !flag;
    let flags = if on { others | flag } else { others };
    value(interface, "ioctl(ETHTOOL_SFLAGS)", [SET_FLAGS, flags]).map(drop)
}

fn flags(interface: &str) -> Result<u32> {
    value(interface, "ioctl(ETHTOOL_GFLAGS)", [GET_FLAGS, 0])
}

/// The bit of an offload that has one: `ETH_FLAG_TXVLAN` and `ETH_FLAG_RXVLAN`.
fn flag(offload: OffloadKind) -> Option<u32> {
    match offload {
        OffloadKind::SendChecksums => None,
        OffloadKind::SendVlanTags => Some(1 << 7),
        OffloadKind::ReceiveVlanTags => Some(1 << 8),
    }
}

/// `struct ethtool_value`: a command and a value.
fn value(interface: &str, call: &'static str, mut question: [u32; 2]) -> Result<u32> {
    // SAFETY: the kernel reads and writes a command and a value.
    unsafe { ask(interface, call, question.as_mut_ptr().cast()) }?;
    Ok(question[1])
}

/// Names of a driver's own counters, in order; empty without any. They change with its queues.
pub fn counter_names(interface: &str) -> Result<Vec<String>> {
    match strings(interface, COUNTER_NAMES)? {
        0 => Ok(Vec::new()),
        count => names(interface, COUNTER_NAMES, count),
    }
}

/// Number of strings in a set of the driver.
fn strings(interface: &str, set: u32) -> Result<u32> {
    let mut sizes = SetSizes { command: GET_SET_SIZES, reserved: 0, sets: 1 << set, size: 0 };
    let call = "ioctl(ETHTOOL_GSSET_INFO)";
    // SAFETY: the kernel writes the head of the structure and one size for the requested set.
    unsafe { ask(interface, call, (&raw mut sizes).cast()) }?;
    // Half of the room: counters added between two calls fit in the other half.
    if sizes.size as usize > ROOM / 2 {
        return Err(invalid("the driver has more counters than can be believed")).on(call, shown(interface));
    }
    Ok(if sizes.sets == 0 { 0 } else { sizes.size })
}

fn names(interface: &str, set: u32, count: u32) -> Result<Vec<String>> {
    // `struct ethtool_gstrings`: command, set, count, and the strings.
    let mut answer = vec![0_u8; 12 + ROOM * NAME_LENGTH];
    for (place, head) in answer.chunks_exact_mut(4).zip([GET_STRINGS, set, count]) {
        place.copy_from_slice(&head.to_ne_bytes());
    }
    // SAFETY: there is room for far more strings than the driver has.
    unsafe { ask(interface, "ioctl(ETHTOOL_GSTRINGS)", answer.as_mut_ptr().cast()) }?;
    Ok(answer[12..].chunks_exact(NAME_LENGTH).take(count as usize).map(text).collect())
}

/// Values of a driver's own counters, in the order of the names. An error without any.
pub fn counter_values(interface: &str) -> Result<Vec<u64>> {
    // `struct ethtool_stats`: command, count, and the numbers. Not zeroed, because calls are frequent.
    let mut answer = Vec::with_capacity(1 + ROOM);
    let [a, b, c, d] = GET_STATISTICS.to_ne_bytes();
    answer.push(u64::from_ne_bytes([a, b, c, d, 0, 0, 0, 0]));
    // SAFETY: there is room for far more numbers than the driver has.
    unsafe { ask(interface, "ioctl(ETHTOOL_GSTATS)", answer.as_mut_ptr().cast()) }?;
    // The kernel returns the number written.
    let [_, _, _, _, e, f, g, h] = answer[0].to_ne_bytes();
    let count = (u32::from_ne_bytes([e, f, g, h]) as usize).min(ROOM);
    // SAFETY: it wrote that many numbers after the head, for which there is room.
    unsafe { answer.set_len(1 + count) };
    Ok(answer[1..].to_vec())
}

/// Sends a request to the driver of an interface.
///
/// # Safety
/// `question` begins with an ethtool command and has room for the kernel's whole answer.
pub(crate) unsafe fn ask(interface: &str, call: &'static str, question: *mut c_void) -> Result<()> {
    // SAFETY: promised by the caller.
    unsafe { request(interface, SIOCETHTOOL, call, question) }
}

/// # Safety
/// `question` is valid for the kernel's accesses by this request.
unsafe fn request(interface: &str, request_code: u64, call: &'static str, question: *mut c_void) -> Result<()> {
    check_name(interface)?;
    let mut request = InterfaceRequest { name: [0; 16], data: question, rest: [0; _] };
    request.name[..interface.len()].copy_from_slice(interface.as_bytes());
    // Any socket will do: it only selects the namespace.
    let socket = UnixDatagram::unbound().on("socket", shown(interface))?;
    // SAFETY: the request names an interface and ends in zeros; the caller guarantees the rest.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), request_code as _, &raw mut request) };
    if result < 0 { Err(io::Error::last_os_error()).on(call, shown(interface)) } else { Ok(()) }
}

pub(crate) fn shown(interface: &str) -> String {
    format!("interface {interface}")
}

/// Text up to its NUL, or of full length.
fn text(bytes: &[u8]) -> String {
    let text = CStr::from_bytes_until_nul(bytes).map_or(bytes, CStr::to_bytes);
    String::from_utf8_lossy(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_that_is_not_there_is_named() {
        let error = statistics("wp-none").expect_err("there is none").to_string();
        assert!(error.starts_with("ioctl(ETHTOOL_GSSET_INFO) on interface wp-none: "), "{error}");
    }

    #[test]
    fn text_may_fill_its_place() {
        assert_eq!(text(b"rx_kicks\0\0"), "rx_kicks");
        assert_eq!(text(b"rx_kicks"), "rx_kicks");
    }
}
