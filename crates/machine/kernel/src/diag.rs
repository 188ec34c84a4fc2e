//! Sockets of all processes, as the kernel tells of them (sock_diag(7)).

use std::io;

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with};

use crate::error::{On, Result};

/// `struct nlmsghdr`.
const HEADER: usize = 16;
/// `struct inet_diag_req_v2`, and where the local port stands in it.
const REQUEST: usize = 56;
const REQUEST_PORT: usize = 8;
/// Places in `struct inet_diag_msg`: the local port, the inode.
const PORT: usize = 4;
const INODE: usize = 68;

/// The UDP sockets of the caller's namespace, of either version, that are bound to a port, or to any: each with its port and its inode.
pub fn udp_sockets(port: Option<u16>) -> Result<Vec<(u16, u64)>> {
    let mut sockets = Vec::new();
    for family in [libc::AF_INET, libc::AF_INET6] {
        dump(family as u8, port, &mut sockets).on("SOCK_DIAG_BY_FAMILY", "UDP sockets")?;
    }
    Ok(sockets)
}

fn dump(family: u8, port: Option<u16>, sockets: &mut Vec<(u16, u64)>) -> io::Result<()> {
    const BY_FAMILY: u16 = 20;
    /// `NLM_F_REQUEST` and `NLM_F_DUMP`.
    const FLAGS: u16 = 0x301;
    let mut bytes = [0; HEADER + REQUEST];
    bytes[..4].copy_from_slice(&((HEADER + REQUEST) as u32).to_ne_bytes());
    bytes[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
    bytes[6..8].copy_from_slice(&FLAGS.to_ne_bytes());
    let request = &mut bytes[HEADER..];
    request[0] = family;
    request[1] = libc::IPPROTO_UDP as u8;
    // In all states.
    request[4..8].fill(0xff);
    request[REQUEST_PORT..REQUEST_PORT + 2].copy_from_slice(&port.unwrap_or(0).to_be_bytes());
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, Some(netlink::SOCK_DIAG))?;
    send(&socket, &bytes, SendFlags::empty())?;
    let mut room = vec![0; 32 << 10];
    loop {
        let (received, _) = recv(&socket, &mut room[..], RecvFlags::empty())?;
        if read(&room[..received], port, sockets)? {
            return Ok(());
        }
    }
}

/// Reads messages; whether the last one was among them.
fn read(mut messages: &[u8], port: Option<u16>, sockets: &mut Vec<(u16, u64)>) -> io::Result<bool> {
    const ERROR: u16 = 2;
    const DONE: u16 = 3;
    while let Some(header) = messages.get(..HEADER) {
        let length = u32::from_ne_bytes([header[0], header[1], header[2], header[3]]) as usize;
        let body = messages.get(HEADER..length).ok_or(io::ErrorKind::InvalidData)?;
        match u16::from_ne_bytes([header[4], header[5]]) {
            DONE => return Ok(true),
            ERROR => {
                let code = body.get(..4).and_then(|code| code.try_into().ok()).map_or(0, i32::from_ne_bytes);
                return Err(io::Error::from_raw_os_error(-code));
            }
            _ => {
                let of = body.get(PORT..PORT + 2).and_then(|port| port.try_into().ok()).map(u16::from_be_bytes);
                let inode = body.get(INODE..INODE + 4).and_then(|inode| inode.try_into().ok()).map(u32::from_ne_bytes);
                let found = of.zip(inode.map(u64::from));
                sockets.extend(found.filter(|(of, _)| *of != 0 && port.is_none_or(|port| port == *of)));
            }
        }
        messages = messages.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use std::{net::UdpSocket, os::unix::fs::MetadataExt};

    use super::*;

    #[test]
    fn a_socket_is_found_by_its_port() {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        let port = socket.local_addr().expect("bound").port();
        let fd = std::os::fd::AsRawFd::as_raw_fd(&socket);
        let inode = std::fs::metadata(format!("/proc/self/fd/{fd}")).expect("open").ino();
        assert_eq!(udp_sockets(Some(port)).expect("readable"), [(port, inode)]);
        assert!(udp_sockets(None).expect("readable").contains(&(port, inode)));
        let socket = UdpSocket::bind("[::]:0").expect("any");
        let port = socket.local_addr().expect("bound").port();
        assert_eq!(udp_sockets(Some(port)).expect("readable").len(), 1);
        drop(socket);
        assert!(udp_sockets(Some(port)).expect("readable").is_empty());
    }
}
