//! Multicast addresses of a port that were added manually (`ip maddress add`).

use std::{fs, io, os::fd::AsRawFd, os::unix::net::UnixDatagram};

use crate::{
    error::{On, Result},
    link::bytes_of_mac,
};

/// `struct ifreq` of linux/if.h with a `struct sockaddr`.
#[repr(C)]
struct InterfaceRequest {
    name: [u8; 16],
    family: u16,
    address: [u8; 14],
    rest: [u8; 8],
}

/// Manually added addresses of an interface of the calling thread's network namespace, like `33:33:00:00:00:77`.
pub(super) fn entered(interface: &str) -> Result<Vec<String>> {
    let path = "/proc/thread-self/net/dev_mcast";
    let text = fs::read_to_string(path).on("read", path)?;
    Ok(text.lines().filter_map(|line| entered_in(line, interface)).collect())
}

/// A line has the interface's index and name, the number of users, whether it was added manually, and the address.
fn entered_in(line: &str, interface: &str) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, name, _, by_hand, address] = words[..] else { return None };
    let bytes: Vec<&str> = address.as_bytes().chunks(2).filter_map(|pair| std::str::from_utf8(pair).ok()).collect();
    (name == interface && by_hand != "0").then(|| bytes.join(":"))
}

/// Adds an address.
pub(super) fn enter(interface: &str, address: &str) -> io::Result<()> {
    let mut request = InterfaceRequest { name: [0; 16], family: 0, address: [0; 14], rest: [0; 8] };
    let bytes = bytes_of_mac(address);
    if interface.len() > 15 || bytes.len() > 14 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    request.name[..interface.len()].copy_from_slice(interface.as_bytes());
    request.address[..bytes.len()].copy_from_slice(&bytes);
    let socket = UnixDatagram::unbound()?;
    // SAFETY: the request is a whole `struct ifreq`, which the kernel reads; its name ends in a zero.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCADDMULTI as _, &raw mut request) };
    match io::Error::last_os_error() {
        _ if result == 0 => Ok(()),
        error if error.raw_os_error() == Some(libc::EEXIST) => Ok(()),
        error => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_somebody_entered_is_told_from_those_that_programs_listen_to() {
        let of = |line| entered_in(line, "eth1");
        assert_eq!(of("2    eth1            1     1     333300000077").as_deref(), Some("33:33:00:00:00:77"));
        assert_eq!(of("2    eth1            2     0     333300000001"), None);
        assert_eq!(of("3    eth2            1     1     333300000077"), None);
    }
}
