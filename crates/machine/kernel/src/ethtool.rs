//! What a driver says of its interface (ioctl interface of linux/ethtool.h).

use std::{ffi::CStr, io, mem::offset_of, os::fd::AsRawFd, os::unix::net::UnixDatagram};

use crate::{
    error::{On, Result},
    link::check_name,
};

const SIOCETHTOOL: u64 = 0x8946;
const GET_DRIVER_INFO: u32 = 3;

/// `struct ethtool_drvinfo` of linux/ethtool.h.
#[repr(C)]
struct DriverInfo {
    command: u32,
    driver: [u8; 32],
    /// Version, firmware, bus, expansion ROM, reserved, and the five lengths.
    rest: [u8; 32 * 4 + 12 + 4 * 5],
}

/// `struct ifreq` of linux/if.h, as SIOCETHTOOL reads it.
#[repr(C)]
struct InterfaceRequest {
    name: [u8; 16],
    data: *mut DriverInfo,
    rest: [u8; 24 - size_of::<usize>()],
}

const _: () = assert!(size_of::<DriverInfo>() == 196 && offset_of!(InterfaceRequest, data) == 16);

/// Name of the driver of an interface in the caller's namespace, like `veth` or `ixgbe`.
pub fn driver(interface: &str) -> Result<String> {
    let what = format_args!("interface {interface}");
    check_name(interface)?;
    let mut info = DriverInfo { command: GET_DRIVER_INFO, driver: [0; 32], rest: [0; 160] };
    let mut request = InterfaceRequest { name: [0; 16], data: &raw mut info, rest: [0; _] };
    request.name[..interface.len()].copy_from_slice(interface.as_bytes());
    // Any socket will do: it stands for the namespace.
    let socket = UnixDatagram::unbound().on("socket", what)?;
    // SAFETY: the request names an interface, ends in zeros, and points to a `DriverInfo` as long as the kernel's, which
    // outlives the call.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL as _, &raw mut request) };
    if result < 0 {
        return Err(io::Error::last_os_error()).on("ioctl(ETHTOOL_GDRVINFO)", what);
    }
    let driver = CStr::from_bytes_until_nul(&info.driver).unwrap_or_default();
    Ok(driver.to_string_lossy().into_owned())
}
