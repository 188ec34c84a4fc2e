//! Sockets of all processes, as listed by the kernel (sock_diag(7)).

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with};

use crate::route_queries::attributes;

/// `struct nlmsghdr`.
const HEADER: usize = 16;
/// `struct inet_diag_req_v2`, and the offset of the local port in it.
const REQUEST: usize = 56;
const REQUEST_PORT: usize = 8;
/// `struct inet_diag_msg`, and offsets in it.
const MESSAGE: usize = 72;
const FAMILY: usize = 0;
const PORT: usize = 4;
const PEER_PORT: usize = 6;
const ADDRESS: usize = 8;
const PEER_ADDRESS: usize = 24;
const DEVICE: usize = 40;
const INODE: usize = 68;

/// A UDP socket that is bound to a port. IPv4-mapped addresses of IPv6 sockets are given as IPv4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Inode number of its file.
    pub inode: u64,
    /// Whether it is an IPv6 socket.
    pub v6: bool,
    /// Whether it receives IPv6 only; valid for unconnected sockets.
    pub v6_only: bool,
    /// Local address; `None` is any.
    pub address: Option<IpAddr>,
    /// Local port.
    pub port: u16,
    /// Peer address.
    pub peer: Option<SocketAddr>,
    /// The interface of `SO_BINDTODEVICE`.
    pub device: Option<u32>,
}

/// Buffer for an answer, as large as the kernel's largest.
pub type Room = [u8; 32 << 10];

/// Lists UDP sockets of the caller's namespace on a port, or on any: IPv4 sockets, then IPv6. It does not allocate.
///
/// On each port, they are in the kernel's lookup order: the latest bound first, but IPv6 sockets with `SO_REUSEPORT`
/// last, the oldest first. The kernel walks all sockets, whatever the port.
///
/// # Errors
/// The kernel's error; the list may be incomplete then.
pub fn udp_sockets(port: Option<u16>, room: &mut Room, mut each: impl FnMut(&Bound)) -> io::Result<()> {
    [libc::AF_INET, libc::AF_INET6].into_iter().try_for_each(|family| dump(family as u8, port, room, &mut each))
}

fn dump(family: u8, port: Option<u16>, room: &mut Room, each: &mut impl FnMut(&Bound)) -> io::Result<()> {
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
    // All states.
    request[4..8].fill(0xff);
    request[REQUEST_PORT..REQUEST_PORT + 2].copy_from_slice(&port.unwrap_or(0).to_be_bytes());
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, Some(netlink::SOCK_DIAG))?;
    send(&socket, &bytes, SendFlags::empty())?;
    loop {
        let (received, _) = recv(&socket, &mut room[..], RecvFlags::empty())?;
        if read(&room[..received], port, each)? {
            return Ok(());
        }
    }
}

/// Reads messages; returns whether the last one was among them.
fn read(mut messages: &[u8], port: Option<u16>, each: &mut impl FnMut(&Bound)) -> io::Result<bool> {
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
                let wanted = |bound: &Bound| bound.port != 0 && port.is_none_or(|port| port == bound.port);
                bound(body).filter(wanted).iter().for_each(&mut *each);
            }
        }
        messages = messages.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(false)
}

fn bound(body: &[u8]) -> Option<Bound> {
    const V6_ONLY: u16 = 11;
    let (message, rest) = body.split_at_checked(MESSAGE)?;
    let number = |at: usize| Some(u32::from_ne_bytes(message.get(at..at + 4)?.try_into().ok()?));
    let port = |at: usize| Some(u16::from_be_bytes(message.get(at..at + 2)?.try_into().ok()?));
    let v6 = i32::from(message[FAMILY]) == libc::AF_INET6;
    let address = |at: usize| -> Option<IpAddr> {
        let bytes: [u8; 16] = message.get(at..at + 16)?.try_into().ok()?;
        let [a, b, c, d, ..] = bytes;
        let address = if v6 { Ipv6Addr::from(bytes).to_canonical() } else { Ipv4Addr::from([a, b, c, d]).into() };
        Some(address).filter(|address| !address.is_unspecified())
    };
    let v6_only = attributes(rest).any(|(kind, value)| kind == V6_ONLY && value != [0]);
    Some(Bound {
        inode: number(INODE)?.into(),
        v6,
        v6_only,
        address: address(ADDRESS),
        port: port(PORT)?,
        peer: address(PEER_ADDRESS).zip(port(PEER_PORT)).map(SocketAddr::from),
        device: number(DEVICE).filter(|device| *device != 0),
    })
}

#[cfg(test)]
mod tests {
    use std::{net::UdpSocket, os::unix::fs::MetadataExt};

    use super::*;

    fn told(port: Option<u16>) -> Vec<Bound> {
        let mut all = Vec::new();
        udp_sockets(port, &mut [0; size_of::<Room>()], |bound| all.push(*bound)).expect("readable");
        all
    }

    #[test]
    fn a_socket_is_found_by_its_port() {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        let port = socket.local_addr().expect("bound").port();
        let fd = std::os::fd::AsRawFd::as_raw_fd(&socket);
        let inode = std::fs::metadata(format!("/proc/self/fd/{fd}")).expect("open").ino();
        let address = Some([127, 0, 0, 1].into());
        let bound = Bound { inode, v6: false, v6_only: false, address, port, peer: None, device: None };
        assert_eq!(told(Some(port)), [bound]);
        assert!(told(None).contains(&bound));
        socket.connect("127.0.0.1:9").expect("loopback");
        let peer = Some("127.0.0.1:9".parse().expect("an address"));
        assert_eq!(told(Some(port)), [Bound { peer, ..bound }]);
        let socket = UdpSocket::bind("[::ffff:127.0.0.1]:0").expect("loopback");
        let port = socket.local_addr().expect("bound").port();
        let [seen] = told(Some(port))[..] else { panic!("it is there") };
        assert_eq!((seen.address, seen.v6, seen.v6_only, seen.peer), (address, true, false, None));
        let socket = UdpSocket::bind("[::]:0").expect("any");
        let port = socket.local_addr().expect("bound").port();
        let [seen] = told(Some(port))[..] else { panic!("it is there") };
        assert_eq!((seen.address, seen.v6, seen.v6_only, seen.peer), (None, true, false, None));
        assert_eq!(told(Some(port)).len(), 1);
        drop(socket);
        assert!(told(Some(port)).is_empty());
    }

    #[test]
    fn sockets_of_a_port_are_told_the_last_one_first() {
        let bind = |port: u16| {
            let socket =
                socket_with(AddressFamily::INET6, SocketType::DGRAM, SocketFlags::CLOEXEC, None).expect("IPv6");
            rustix::net::sockopt::set_socket_reuseaddr(&socket, true).expect("settable");
            rustix::net::sockopt::set_ipv6_v6only(&socket, true).expect("settable");
            rustix::net::bind(&socket, &SocketAddr::from((Ipv6Addr::UNSPECIFIED, port))).expect("it may be shared");
            UdpSocket::from(socket)
        };
        let first = bind(0);
        let port = first.local_addr().expect("bound").port();
        let all = [first, bind(port), bind(port)];
        let inodes = all.each_ref().map(|socket| {
            let fd = std::os::fd::AsRawFd::as_raw_fd(socket);
            std::fs::metadata(format!("/proc/self/fd/{fd}")).expect("open").ino()
        });
        let seen = told(Some(port));
        assert!(seen.iter().map(|bound| bound.inode).eq(inodes.into_iter().rev()));
        assert!(seen.iter().all(|bound| bound.v6_only));
    }
}
